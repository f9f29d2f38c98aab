//! `meanwhile`: arguments in, text and exit code out. A library, because the laboratory reads the
//! same options and shows the same tables.

pub mod audit_cmd;
pub mod cipher_cmd;
pub mod cosched_cmd;
mod demo;
pub mod doctor;
mod examples;
mod knobs;
mod lsp;
mod manual;
pub mod moved;
pub mod overlap_cmd;
mod page;
pub mod regwin_cmd;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use terminal::{choice, output};

use output::{Failure, Output};

/// Finds where a program waits, and fills the wait with other work.
#[derive(Debug, Parser)]
#[command(name = "meanwhile", version, arg_required_else_help = true)]
struct Cli {
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// One subcommand for each system, and what they share.
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Explain every instruction and stall of a fast path.
    Audit(audit_cmd::Args),
    /// Compile Usuba ciphers to sliced C, run them and test them.
    Cipher(cipher_cmd::Args),
    /// Compile MPI programs so that they do other work while a message is under way.
    Overlap(overlap_cmd::Args),
    /// Run threads that share register windows on a SPARC machine, and count what it costs.
    Regwin(regwin_cmd::Args),
    /// Choose which programs run together, by the memory bandwidth that they ask for.
    Cosched(cosched_cmd::Args),
    /// Serve an editor: Usuba as one types, cycles above the functions and loops of C and assembly.
    ///
    /// It speaks the Language Server Protocol on standard input and output. C, C++ and assembly are
    /// audited if --cpu names a machine, or --object a built file.
    Lsp(lsp::Args),
    /// Show which external tools each system needs and which are there.
    Doctor(doctor::Args),
    /// Try a system on an input that the program holds.
    Demo(demo::Args),
    /// Write a page to mail of what commands printed under --json.
    Page(page::Args),
    /// Write manual pages, one a command.
    Man(manual::Args),
    /// Print what makes a shell complete command lines.
    Completions(manual::CompletionsArgs),
}

/// The definition of the command line, from which help, manual pages, completions and
/// docs/reference come.
pub fn command_line() -> clap::Command {
    examples::shown(Cli::command())
}

/// The program: reads the process's arguments, runs the command, and gives its exit code.
pub fn main() -> ExitCode {
    let given = command_line().try_get_matches();
    let cli = match given.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(refused) => return output::usage(&refused, moved::now(std::env::args_os().skip(1))),
    };
    let mut out = Output::new(cli.json).with_tools(doctor::lists);
    let manages = matches!(&cli.command, Command::Cosched(args) if args.manages());
    if !manages && let Err(error) = measure::interrupt::install(output::restore_terminal) {
        return out.finish(Err(Failure::environment("handle signals", error)));
    }
    let ended = dispatch(cli.command, &mut out);
    out.finish(ended)
}

fn dispatch(command: Command, out: &mut Output) -> Result<(), Failure> {
    match command {
        Command::Audit(args) => audit_cmd::run(args, out),
        Command::Cipher(args) => cipher_cmd::run(args, out),
        Command::Overlap(args) => overlap_cmd::run(args, out),
        Command::Regwin(args) => regwin_cmd::run(args, out),
        Command::Cosched(args) => cosched_cmd::run(args, out),
        Command::Lsp(args) => lsp::run(args, out),
        Command::Doctor(args) => doctor::run(args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Page(args) => page::run(&args, out),
        Command::Man(args) => manual::run(&args, Cli::command(), out),
        Command::Completions(args) => manual::completions(&args, Cli::command(), out),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    /// The values that an option takes are listed from the code; a list by hand beside it says
    /// something else one day.
    #[test]
    fn help_lists_the_values_of_an_option_once() {
        fn twice(command: &clap::Command, path: &str, found: &mut Vec<String>) {
            for argument in command.get_arguments() {
                let values: Vec<String> = argument
                    .get_possible_values()
                    .iter()
                    .filter(|value| !value.is_hide_set())
                    .map(|value| value.get_name().to_owned())
                    .collect();
                let help = argument
                    .get_long_help()
                    .or(argument.get_help())
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let words: Vec<&str> = help
                    .split(|letter: char| !(letter.is_alphanumeric() || "-_".contains(letter)))
                    .collect();
                // Two of them side by side, as `a, b` or `a or b`, are a list; a sentence about one
                // is none.
                let is_list = words.windows(3).any(|three| {
                    let is_value = |word: &str| values.iter().any(|value| value == word);
                    is_value(three[0])
                        && (three[1].is_empty() || ["or", "and"].contains(&three[1]))
                        && is_value(three[2])
                });
                if is_list && !argument.is_hide_possible_values_set() {
                    found.push(format!("{path} {}: {help}", argument.get_id()));
                }
            }
            for below in command.get_subcommands() {
                twice(below, &format!("{path} {}", below.get_name()), found);
            }
        }
        let mut found = Vec::new();
        twice(&super::Cli::command(), "meanwhile", &mut found);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    /// Names of groups, of options and of values are checked for every command, also for those
    /// that no test runs.
    #[test]
    fn the_command_line_holds_together() {
        super::Cli::command().debug_assert();
    }
}
