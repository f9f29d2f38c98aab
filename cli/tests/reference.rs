//! The pages of docs/reference are those of the command line's definition. `UPDATE_EXPECT=1 cargo
//! test -p meanwhile --test cli reference::` writes them.

use clap::{Arg, ArgAction, Command};
use expect_test::expect_file;

/// A page for each system, and one for what is of none.
fn page(names: &[&str], title: &str) -> String {
    let mut command = meanwhile::command_line();
    command.build();
    let mut text = format!(
        "# {title}\n\nMade from the program's own definition of its command line, as `--help` is. \
         Every command takes\n`--json`, and `--help`, which are left out below.\n"
    );
    for name in names {
        let below = command.find_subcommand(name).expect("it is a command");
        section(below, &format!("meanwhile {name}"), &mut text);
    }
    text
}

/// A command that does something, and those below it.
fn section(command: &Command, words: &str, text: &mut String) {
    let below: Vec<&Command> = command
        .get_subcommands()
        .filter(|below| below.get_name() != "help" && !below.is_hide_set())
        .collect();
    if below.is_empty() || command.get_positionals().next().is_some() {
        *text += &format!("\n## {words}\n\n{}.\n", about(command));
        let usage = command.clone().render_usage().to_string();
        *text += &format!("\n```\n{}\n```\n", usage.trim_start_matches("Usage: "));
        let rows: Vec<String> =
            command.get_arguments().filter(|arg| is_own(arg)).map(row).collect();
        if !rows.is_empty() {
            *text += "\n| | values | default | meaning |\n|---|---|---|---|\n";
            *text += &rows.concat();
        }
        if let Some(more) = command.get_after_long_help() {
            *text += &format!("\n```\n{}\n```\n", more.to_string().trim_end());
        }
    }
    for command in below {
        section(command, &format!("{words} {}", command.get_name()), text);
    }
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    about.unwrap_or_default().trim_end_matches('.').to_owned()
}

fn is_own(arg: &Arg) -> bool {
    !arg.is_hide_set() && !["json", "help", "version"].contains(&arg.get_id().as_str())
}

/// A row: how it is written, what it takes, what counts without it, and what it does.
fn row(arg: &Arg) -> String {
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let value = arg.get_value_names().unwrap_or_default().first().map(ToString::to_string);
    let value = value.filter(|_| takes).unwrap_or_default();
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long} {value}"),
        (Some(short), None) => format!("-{short} {value}"),
        (None, Some(long)) => format!("--{long} {value}"),
        (None, None) => value,
    };
    let values: Vec<String> = if takes && !arg.is_hide_possible_values_set() {
        let shown = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
        shown.map(|value| format!("`{}`", value.get_name())).collect()
    } else {
        Vec::new()
    };
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    // What cannot be said as a value is said in words.
    let in_brackets = help.split_once("[default: ").filter(|_| !help.contains('\n'));
    let (meaning, in_words) = match in_brackets.and_then(|(before, rest)| {
        rest.split_once(']')
            .map(|(default, after)| (format!("{}{after}", before.trim_end()), default))
    }) {
        Some(found) => found,
        None => (help.clone(), ""),
    };
    let given: Vec<_> = arg.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    let default = if given.is_empty() || !takes || given[0].is_empty() {
        in_words.to_owned()
    } else {
        format!("`{}`", given.join(","))
    };
    format!(
        "| `{}` | {} | {} | {} |\n",
        cell(name.trim_end()),
        values.join(" "),
        cell(&default),
        cell(meaning.trim_end().trim_end_matches('.'))
    )
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(str::trim).collect();
    lines.join("<br>").replace('|', "\\|")
}

#[test]
fn pages_are_those_of_the_command_line() {
    for system in ["audit", "cipher", "cosched", "overlap", "regwin"] {
        let text = page(&[system], &format!("meanwhile {system}: commands and options"));
        expect_file![format!("../../docs/reference/{system}.md")].assert_eq(&text);
    }
    let others = page(
        &["doctor", "demo", "lsp", "page", "man", "completions"],
        "Other commands of meanwhile",
    );
    expect_file!["../../docs/reference/others.md"].assert_eq(&others);
}

/// A command that nobody sees on a page would be missed.
#[test]
fn every_command_is_on_a_page() {
    let mut command = meanwhile::command_line();
    command.build();
    let of_none = ["help", "doctor", "demo", "lsp", "page", "man", "completions"];
    let systems: Vec<&str> = command
        .get_subcommands()
        .map(Command::get_name)
        .filter(|name| !of_none.contains(name))
        .collect();
    assert_eq!(systems.len(), 5, "{systems:?}");
}
