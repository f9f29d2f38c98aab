//! Door: `meanwhile demo`: each system on an input that the program holds, in a folder that goes
//! away, by the command lines that do the same with a user's own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use measure::tool;
use serde_json::{Value, json};

use crate::output::{Failure, Output, write_file};

/// Arguments of `meanwhile demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The system to try; without one, what there is to try.
    #[arg(value_name = "SYSTEM", value_parser = systems())]
    system: Option<String>,
}

/// What a system shows.
struct Demo {
    system: &'static str,
    shows: &'static str,
    /// Inputs: name and contents.
    files: &'static [(&'static str, &'static [u8])],
    /// Arguments of this program, run in turn where the files lie.
    commands: &'static [&'static [&'static str]],
    /// The last of them for the reader's own input.
    own: &'static str,
}

/// In the order of the README.
const DEMOS: [Demo; 5] = [
    Demo {
        system: "audit",
        shows: "every instruction and stall of an Internet checksum on a Cortex-A53, beside a lower bound",
        files: &[
            ("checksum.c", include_bytes!("../examples/demo/checksum.c")),
            ("checksum.o", include_bytes!("../examples/demo/checksum.o")),
        ],
        commands: &[&["audit", "checksum.o", "--cpu", "cortex-a53"]],
        own: "meanwhile audit YOUR.o --function NAME --cpu CORE",
    },
    Demo {
        system: "cipher",
        shows: "the block cipher LEA checked and compiled from Usuba to sliced C for AVX2",
        files: &[
            ("lea.ua", include_bytes!("../examples/lea/lea.ua")),
            ("lea.layout.toml", include_bytes!("../examples/lea/lea.layout.toml")),
        ],
        commands: &[
            &["cipher", "check", "lea.ua"],
            &["cipher", "compile", "lea.ua", "--slicing", "v", "--arch", "avx2", "-o", "lea.c"],
        ],
        own: "meanwhile cipher compile YOUR.ua --arch avx2 -o your.c",
    },
    Demo {
        system: "overlap",
        shows: "a halo exchange whose wait moves behind the work that does not need it (needs clang and an MPI)",
        files: &[("halo.c", include_bytes!("../examples/mpi/halo.c"))],
        commands: &[
            &["overlap", "cc", "--", "-O3", "-g", "-c", "halo.c", "-o", "halo.o"],
            &["overlap", "explain", "."],
        ],
        own: "meanwhile overlap install PREFIX; PREFIX/bin/meanwhile-mpicc -O3 -c YOUR.c",
    },
    Demo {
        system: "regwin",
        shows: "two threads that share register windows, counted by a simulator (needs a SPARC compiler)",
        files: &[("pipe.txt", include_bytes!("../examples/regwin/pipe.txt"))],
        commands: &[&["regwin", "scenario", "pipe.txt", "--on", "sim", "--scheme", "adaptive"]],
        own: "meanwhile regwin scenario YOUR.txt --scheme adaptive",
    },
    Demo {
        system: "cosched",
        shows: "programs that share a memory bus, chosen in pairs that fit, in a simulator",
        files: &[],
        commands: &[&["cosched", "sim", "b2", "--policy", "pairing,linux"]],
        own: "meanwhile cosched probe; meanwhile cosched run -- YOUR PROGRAM ::: ANOTHER",
    },
];

/// Building the plugin of overlap for the first time takes longest.
const LIMIT: Duration = Duration::from_secs(600);

fn systems() -> PossibleValuesParser {
    PossibleValuesParser::new(DEMOS.map(|demo| demo.system))
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let Some(name) = &args.system else {
        list(out);
        return Ok(());
    };
    let demo = DEMOS.iter().find(|demo| demo.system == name).expect("clap knows these names");
    let folder = measure::scratch::folder()
        .map_err(|error| Failure::environment("make a temporary folder", error))?;
    for (name, bytes) in demo.files {
        write_file(&folder.path().join(name), bytes)?;
    }
    out.line(&format!("{}: {}", demo.system, demo.shows));
    let mut answers = Vec::new();
    for arguments in demo.commands {
        let line = format!("meanwhile {}", arguments.join(" "));
        out.line(&format!("\n$ {line}"));
        let (said, text, answer) = ran(arguments, folder.path(), out.is_json())?;
        out.text(&text);
        out.errors(&said);
        answers.push(json!({"command": line, "answer": answer}));
    }
    out.line(&format!("\nwith your own: {}", demo.own));
    out.object(&json!({
        "ok": true, "system": demo.system, "shows": demo.shows, "commands": answers,
        "own": demo.own,
    }));
    Ok(())
}

fn list(out: &mut Output) {
    for demo in &DEMOS {
        out.line(&format!("meanwhile demo {:<8} {}", demo.system, demo.shows));
    }
    let demos: Vec<Value> = DEMOS
        .iter()
        .map(|demo| json!({"system": demo.system, "shows": demo.shows, "own": demo.own}))
        .collect();
    out.object(&json!({"ok": true, "demos": demos}));
}

/// Runs this program in the folder: what it said on standard error and printed, and
/// with `--json` its object.
fn ran(
    arguments: &[&str],
    folder: &Path,
    is_json: bool,
) -> Result<(Vec<u8>, String, Value), Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::environment("find this program's file", error))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    if is_json {
        command.arg("--json");
    }
    let ran = tool::run(&mut command, b"", LIMIT).map_err(Failure::tool)?;
    let ran = ran.ok().map_err(Failure::tool)?;
    let text = ran.text();
    let answer =
        if is_json { serde_json::from_str(&text).unwrap_or(Value::Null) } else { Value::Null };
    Ok((ran.stderr, text, answer))
}
