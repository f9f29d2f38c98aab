//! `meanwhile cipher check`: everything that is wrong with a program, in one run.

use serde_json::json;

use super::constant_time;
use super::options::{Which, shown};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    constant_time: constant_time::ConstantTime,
}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let subject = args.which.load_quietly()?;
    if args.constant_time.wanted() {
        return constant_time::run(&args.constant_time, &subject, out);
    }
    for warning in &subject.warnings {
        out.warning(&shown(warning));
    }
    let slicings: Vec<&str> = subject.slicings(None).iter().map(|s| s.letter()).collect();
    if slicings.is_empty() {
        // The first slicing that the compiler would try says why.
        let refused = subject.compile(&cipher::pipeline::Options::default()).err();
        return Err(Failure::User(refused.expect("no slicing works, so this one does not")));
    }
    out.line(&format!("{}: ok, entry `{}`, slicings {}", args.which.subject, subject.entry, slicings.join(" ")));
    let warnings: Vec<_> = subject.warnings.iter().map(report::Diagnostic::to_json).collect();
    out.object(&json!({"ok": true, "errors": [], "warnings": warnings, "entry": subject.entry, "slicings": slicings}));
    Ok(())
}
