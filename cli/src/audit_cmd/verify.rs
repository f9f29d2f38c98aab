//! `--verify`: suggested edits applied to a copy, compiled and audited again: which of them help,
//! as patches, and how many do not.

use audit::audit::Options;
use audit::audit::{Audit, audit};
use audit::edit::{Trial, trials};
use audit::finding::{Edit, Kind};
use audit::program::Program;
use audit::program::toolchain::{self, Input};
use audit::timing::licence::Effort;

use super::options::{Loaded, Reading};
use crate::output::{Failure, Output};

/// No more compilations than this.
const TRIALS_MAX: usize = 120;

/// Tries the edits of all findings; those that help replace what was suggested.
pub fn verify(
    loaded: &Loaded,
    how: &Reading,
    audited: &mut Audit,
    out: &mut Output,
) -> Result<(), Failure> {
    if toolchain::input(&loaded.path) != Input::C {
        let help = "an edit can be tried only where the compiler starts from the source";
        return Err(Failure::user(
            format!("--verify needs a C file, and `{}` is none", loaded.path.display()),
            Some(help),
        ));
    }
    let bytes = toolchain::read(&loaded.path).map_err(Failure::tool)?;
    let source = String::from_utf8_lossy(&bytes).into_owned();
    let shown = loaded.path.display().to_string();
    let file = shown.strip_prefix("./").unwrap_or(&shown);
    let trials = trials(audited, &source, file);
    let n_all = trials.len();
    for trial in trials.into_iter().take(TRIALS_MAX) {
        if audited.findings[trial.finding].edit.as_ref().is_some_and(|edit| edit.patch.is_some()) {
            continue;
        }
        let Some(helps) = helps(loaded, how, audited, &trial) else { continue };
        let edit = audited.findings[trial.finding]
            .edit
            .get_or_insert_with(|| Edit::unverified(trial.text.clone()));
        edit.tried += 1;
        if helps {
            edit.patch = Some(trial.patch(&source, file));
            edit.text = trial.text;
        }
    }
    if n_all > TRIALS_MAX {
        out.warning(&format!("{} of {n_all} changes were not tried", n_all - TRIALS_MAX));
    }
    Ok(())
}

/// The path of the changed source is shorter, and less of this kind is found or as much gained;
/// none if it does not compile.
fn helps(loaded: &Loaded, how: &Reading, before: &Audit, trial: &Trial) -> Option<bool> {
    let mut build = loaded.build.clone();
    if build.flags.is_empty() && !trial.flags.is_empty() {
        build.flags.push("-O2".to_owned());
    }
    build.flags.extend(trial.flags.iter().map(|flag| (*flag).to_owned()));
    let program = toolchain::compile_changed(
        &loaded.path,
        &trial.source,
        before.function.isa,
        &loaded.cpu,
        &build,
    );
    let program = program.ok().and_then(|bytes| Program::parse("the changed copy", &bytes).ok())?;
    let options = Options { cold: how.cold.clone(), effort: Effort::Bounds, recorded: None };
    let core = how.core(&loaded.cpu);
    let symbol = program.symbol(&before.function.name);
    let after = symbol
        .and_then(|symbol| audit(&program, symbol, &loaded.cpu, core.as_ref(), &options))
        .ok()?;
    let cycles = |audit: &Audit| -> Option<u32> {
        audit.timed.as_ref().map(|timed| timed.cycles.total_cycles)
    };
    let found = &before.findings[trial.finding];
    let kind = found.kind;
    // What a callee takes is in no cycle of its caller, unless it is part of it.
    let callee = before
        .function
        .callees
        .get(&before.function.instructions[found.idx].address)
        .filter(|_| kind == Kind::Call);
    let callee = callee.and_then(|name| {
        loaded.programs.iter().find_map(|program| Some((program, program.only(name)?)))
    });
    let apart = callee.and_then(|(program, symbol)| {
        audit(program, symbol, &loaded.cpu, core.as_ref(), &options).ok()
    });
    let before_cycles =
        cycles(before).map(|cycle| cycle + apart.as_ref().and_then(cycles).unwrap_or(0));
    let gained =
        before_cycles.zip(cycles(&after)).map_or(0, |(before, after)| before.saturating_sub(after));
    // Other code may wait more and take less, as vectors do: then what the finding costs is gained
    // at least.
    Some(gained > 0 && (lost(&after, kind) < lost(before, kind) || gained >= found.cycles.max(1)))
}

/// Cycles lost to findings of a kind.
fn lost(audit: &Audit, kind: Kind) -> u32 {
    audit.findings.iter().filter(|finding| finding.kind == kind).map(|finding| finding.cycles).sum()
}
