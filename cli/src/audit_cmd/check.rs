//! `meanwhile audit check`: functions against their budgets, for continuous integration.

use std::path::{Path, PathBuf};

use audit::audit::Audit;
use audit::budget::{self, BudgetCause, Checked, Entry, Limit, NotJudged, Verdict};
use audit::program::toolchain::{self, Input};
use report::{Cell, Kind, Table, Tone};
use serde_json::{Value, json};

use super::options::Reading;
use super::show::audited;
use crate::output::{Failure, Output, check_writable, write_file};

/// More causes of one function are not printed; the files have all.
const CAUSES_MAX: usize = 10;

/// The exit code if a function could not be compared with its limit, whatever became of the others.
const NOT_JUDGED: u8 = 3;

/// Arguments of `meanwhile audit check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file of limits.
    #[arg(long, value_name = "FILE")]
    budget: PathBuf,
    /// Write the results as JUnit XML, too.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the results as SARIF, too.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    for path in args.junit.iter().chain(&args.sarif) {
        check_writable(path)?;
    }
    let text = std::fs::read_to_string(&args.budget).map_err(|error| {
        Failure::user(format!("cannot read `{}`: {error}", args.budget.display()), None)
    })?;
    let entries = budget::parse(&args.budget, &text).map_err(Failure::User)?;
    // What cannot be judged hides nothing of the others.
    let all: Vec<Verdict> =
        entries.into_iter().map(|entry| verdict(entry, out)).collect::<Result<_, _>>()?;
    if let Some(path) = &args.junit {
        write_file(path, budget::junit(&args.budget.display().to_string(), &all))?;
    }
    if let Some(path) = &args.sarif {
        write_file(path, format!("{:#}\n", budget::sarif(&args.budget, &all)))?;
    }
    out.line(&table(&args.budget, &all).terminal(None));
    for it in &all {
        match it {
            Verdict::Judged(it) if it.is_kept() => {}
            Verdict::Judged(it) => over(it, out),
            Verdict::NotJudged(it) => {
                out.line(&format!("not judged: {}", it.said));
                it.help.iter().for_each(|help| out.line(&format!("  help: {help}")));
            }
        }
    }
    let is_kept =
        |verdict: &Verdict| matches!(verdict, Verdict::Judged(verdict) if verdict.is_kept());
    let is_judged = |verdict: &Verdict| matches!(verdict, Verdict::Judged(_));
    out.object(&json!({"ok": all.iter().all(is_kept), "functions": all.iter().map(Verdict::to_json).collect::<Vec<Value>>()}));
    match (all.iter().all(is_judged), all.iter().all(is_kept)) {
        (false, _) => Err(Failure::Exit(NOT_JUDGED)),
        (true, false) => Err(Failure::Reported),
        (true, true) => Ok(()),
    }
}

fn over(it: &Checked, out: &mut Output) {
    out.line(&format!("over budget: {}", it.said()));
    for cause in it.causes.iter().take(CAUSES_MAX) {
        out.line(&format!("  {}", cause.line()));
    }
    if it.causes.len() > CAUSES_MAX {
        out.line(&format!("  and {} more", it.causes.len() - CAUSES_MAX));
    }
}

/// The verdict of one function; fails only where an interrupt ends all.
fn verdict(entry: Entry, out: &mut Output) -> Result<Verdict, Failure> {
    let (said, help) = match checked(&entry, out) {
        Ok(mut checked) => {
            checked.causes.iter_mut().for_each(seen_from_here);
            return Ok(Verdict::Judged(checked));
        }
        Err(Failure::User(all)) => all
            .into_iter()
            .next()
            .map_or_else(Default::default, |diagnostic| (diagnostic.message, diagnostic.help)),
        Err(Failure::Environment { ran, said, help }) => (format!("`{ran}`: {said}"), help),
        Err(other) => return Err(other),
    };
    Ok(Verdict::NotJudged(NotJudged { entry, said, help }))
}

fn checked(entry: &Entry, out: &mut Output) -> Result<Checked, Failure> {
    let now = audit_of(entry, &entry.file, out)?;
    let before = match &entry.limit {
        Limit::File(path) => Some(audit_of(entry, path, out)?),
        Limit::Cycles(_) => None,
    };
    let n_open = now.function.tables.n_open();
    if n_open > 0 {
        out.warning(&format!(
            "`{}` has {n_open} places of which it is not known what stands there when the kernel runs: its cycles are those of the file there",
            entry.function
        ));
    }
    Checked::new(entry.clone(), &now, before.as_ref()).map_err(|error| Failure::User(vec![error]))
}

/// Compiled programs name their sources from the root of the machine that compiled them; a code
/// host knows those below this folder.
fn seen_from_here(cause: &mut BudgetCause) {
    let Some((file, _)) = &mut cause.place else { return };
    let below = std::env::current_dir().ok().and_then(|here| {
        Some(Path::new(file.as_str()).strip_prefix(here).ok()?.display().to_string())
    });
    if let Some(below) = below {
        *file = below;
    }
}

/// The function of `entry` as it is in `file`.
fn audit_of(entry: &Entry, file: &Path, out: &mut Output) -> Result<Audit, Failure> {
    let how = Reading {
        cpu: entry.cpu.clone(),
        cc: entry.cc.clone(),
        cflags: entry.cflags.clone(),
        // The other file of a comparison may be compiled already.
        compile_commands: entry
            .compile_commands
            .clone()
            .filter(|_| toolchain::input(file) != Input::Elf),
        pivot: None,
        avoid: entry.avoid.clone(),
        branch_cost: None,
        flash_wait: entry.flash_wait,
        boot: entry.boot.clone(),
        limit: None,
    };
    let loaded = how.load_file(file, Some(&entry.function))?;
    loaded.warnings.iter().for_each(|warning| out.warning(warning));
    audited(&loaded, &how, Some(&entry.function), None, &[])
}

fn table(budget: &Path, all: &[Verdict]) -> Table {
    let mut table = Table::new(
        budget.display().to_string(),
        &["function", "cpu", "cycles", "allowed", "verdict"],
    )
    .kind(Kind::Model);
    for it in all {
        let (verdict, tone) = match it {
            Verdict::Judged(it) if it.is_kept() => ("kept", Tone::Good),
            Verdict::Judged(_) => ("over", Tone::Bad),
            Verdict::NotJudged(_) => ("not judged", Tone::Bad),
        };
        let number = |of: fn(&Checked) -> u32| match it {
            Verdict::Judged(it) => Cell::number(of(it)),
            Verdict::NotJudged(_) => Cell::words("?"),
        };
        table.push(vec![
            Cell::words(&it.entry().function),
            Cell::words(it.cpu()),
            number(|it| it.cycles),
            number(|checked| checked.allowed),
            Cell::words(verdict).tone(tone),
        ]);
    }
    table
}
