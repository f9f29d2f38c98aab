//! `--verify`: suggested edits applied to a copy, compiled and audited again; only those that help are called verified.

use audit::audit::Options;
use audit::audit::{Audit, audit};
use audit::edit::{Trial, trials};
use audit::finding::{Edit, Kind};
use audit::program::Program;
use audit::program::toolchain::{self, Input};
use audit::timing::licence::Effort;

use super::options::{How, Loaded};
use crate::output::Failure;

/// No more compilations than this.
const TRIALS_MAX: usize = 40;

/// Tries the edits of all findings; those that help replace what was suggested.
pub fn verify(loaded: &Loaded, how: &How, audited: &mut Audit) -> Result<(), Failure> {
    if toolchain::input(&loaded.path) != Input::C {
        let help = "an edit can be tried only where the compiler starts from the source";
        return Err(Failure::user(format!("--verify needs a C file, and `{}` is none", loaded.path.display()), Some(help)));
    }
    let bytes = toolchain::read(&loaded.path).map_err(Failure::tool)?;
    let source = String::from_utf8_lossy(&bytes).into_owned();
    let shown = loaded.path.display().to_string();
    let file = shown.strip_prefix("./").unwrap_or(&shown);
    for trial in trials(audited, &source, file).into_iter().take(TRIALS_MAX) {
        if audited.findings[trial.finding].edit.as_ref().is_some_and(|it| it.is_verified) {
            continue;
        }
        if helps(loaded, how, audited, &trial) {
            audited.findings[trial.finding].edit = Some(Edit { text: trial.text, is_verified: true });
        }
    }
    Ok(())
}

/// The changed source compiles, its path is shorter, and less of this kind is found.
fn helps(loaded: &Loaded, how: &How, before: &Audit, trial: &Trial) -> bool {
    let program = toolchain::compile_changed(&loaded.path, &trial.source, before.function.isa, &loaded.cpu, &loaded.build);
    let Some(program) = program.ok().and_then(|bytes| Program::parse("the changed copy", &bytes).ok()) else { return false };
    let options = Options { cold: how.cold.clone(), effort: Effort::Bounds, recorded: None };
    let core = how.core(&loaded.cpu);
    let symbol = program.symbol(&before.function.name);
    let Ok(after) = symbol.and_then(|it| audit(&program, it, &loaded.cpu, core.as_ref(), &options)) else { return false };
    let cycles = |audit: &Audit| audit.timed.as_ref().map(|it| it.cycles.total_cycles);
    let kind = before.findings[trial.finding].kind;
    less(cycles(&after), cycles(before)) && lost(&after, kind) < lost(before, kind)
}

fn less(after: Option<u32>, before: Option<u32>) -> bool {
    matches!((after, before), (Some(after), Some(before)) if after < before)
}

/// Cycles lost to findings of a kind.
fn lost(audit: &Audit, kind: Kind) -> u32 {
    audit.findings.iter().filter(|it| it.kind == kind).map(|it| it.cycles).sum()
}
