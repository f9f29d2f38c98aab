//! Door: `meanwhile man` and `meanwhile completions`: what is installed beside the program, made
//! from its command line.

use std::path::PathBuf;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use report::number::count;
use serde_json::json;

use crate::examples;
use crate::output::{Failure, Output, write_file};

/// Arguments of `meanwhile man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder that receives meanwhile.1, meanwhile-audit.1 and so on.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Arguments of `meanwhile completions`.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Which shell.
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

pub fn run(args: &Args, command: Command, out: &mut Output) -> Result<(), Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, "", &mut pages);
    std::fs::create_dir_all(&args.folder)
        .map_err(|error| Failure::environment(format!("make {}", args.folder.display()), error))?;
    for (name, text) in &pages {
        write_file(&args.folder.join(name), text)?;
    }
    out.line(&format!("{} in {}", count(pages.len(), "page"), args.folder.display()));
    let names: Vec<&str> = pages.iter().map(|page| page.0.as_str()).collect();
    out.object(&json!({"ok": true, "folder": args.folder.display().to_string(), "files": names}));
    Ok(())
}

/// The pages of a command and of those below it: file name and text.
fn collect(command: &Command, words: &str, pages: &mut Vec<(String, String)>) {
    let page = Man::new(command.clone());
    let mut bytes = Vec::new();
    page.render(&mut bytes).expect("memory takes what is written");
    let text = String::from_utf8(bytes).expect("a page is made of texts");
    pages.push((page.get_filename(), text + &examples::manual(words)));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        let name = below.get_name();
        let inner = if words.is_empty() { name.to_owned() } else { format!("{words} {name}") };
        collect(below, &inner, pages);
    }
}

pub fn completions(
    args: &CompletionsArgs,
    mut command: Command,
    out: &mut Output,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut command, "meanwhile", &mut bytes);
    let script = String::from_utf8(bytes).expect("a script is made of texts");
    out.text(&script);
    out.object(&json!({"ok": true, "shell": args.shell.to_string(), "script": script}));
    Ok(())
}
