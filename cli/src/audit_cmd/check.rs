//! `meanwhile audit check`: functions against their budgets, for continuous integration.

use std::path::{Path, PathBuf};

use audit::audit::Audit;
use audit::budget::{self, Cause, Checked, Entry, Limit};
use audit::program::toolchain::{self, Input};
use report::{Cell, Kind, Table, Tone};
use serde_json::{Value, json};

use super::options::How;
use super::show::audited;
use crate::output::{Failure, Output, check_writable, write_file};

/// More causes of one function are not printed; the files have all.
const CAUSES_MAX: usize = 10;

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

/// Runs the command.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    for path in args.junit.iter().chain(&args.sarif) {
        check_writable(path)?;
    }
    let text = std::fs::read_to_string(&args.budget)
        .map_err(|error| Failure::user(format!("cannot read `{}`: {error}", args.budget.display()), None))?;
    let entries = budget::parse(&args.budget, &text).map_err(Failure::User)?;
    let mut all = Vec::new();
    for entry in entries {
        let now = audit_of(&entry, &entry.file, out)?;
        let before = match &entry.limit {
            Limit::File(path) => Some(audit_of(&entry, path, out)?),
            Limit::Cycles(_) => None,
        };
        let mut checked = Checked::new(entry, &now, before.as_ref()).map_err(|error| Failure::User(vec![error]))?;
        checked.causes.iter_mut().for_each(seen_from_here);
        all.push(checked);
    }
    if let Some(path) = &args.junit {
        write_file(path, budget::junit(&args.budget.display().to_string(), &all))?;
    }
    if let Some(path) = &args.sarif {
        write_file(path, format!("{:#}\n", budget::sarif(&args.budget, &all)))?;
    }
    out.line(&table(&args.budget, &all).terminal(None));
    for it in all.iter().filter(|it| !it.is_kept()) {
        out.line(&format!("over budget: {}", it.said()));
        for cause in it.causes.iter().take(CAUSES_MAX) {
            out.line(&format!("  {}", cause.line()));
        }
        if it.causes.len() > CAUSES_MAX {
            out.line(&format!("  and {} more", it.causes.len() - CAUSES_MAX));
        }
    }
    let is_kept = all.iter().all(Checked::is_kept);
    out.object(&json!({"ok": is_kept, "functions": all.iter().map(Checked::to_json).collect::<Vec<Value>>()}));
    if is_kept { Ok(()) } else { Err(Failure::Reported) }
}

/// Compiled programs name their sources from the root of the machine that compiled them; a code host knows those below this folder.
fn seen_from_here(cause: &mut Cause) {
    let Some((file, _)) = &mut cause.place else { return };
    let below = std::env::current_dir().ok().and_then(|here| Some(Path::new(file.as_str()).strip_prefix(here).ok()?.display().to_string()));
    if let Some(below) = below {
        *file = below;
    }
}

/// The function of `entry` as it is in `file`.
fn audit_of(entry: &Entry, file: &Path, out: &mut Output) -> Result<Audit, Failure> {
    let how = How {
        cpu: entry.cpu.clone(),
        cc: entry.cc.clone(),
        cflags: entry.cflags.clone(),
        // The other file of a comparison may be compiled already.
        compile_commands: entry.compile_commands.clone().filter(|_| toolchain::input(file) != Input::Elf),
        pivot: None,
        cold: entry.cold.clone(),
        branch_cost: None,
        flash_wait: entry.flash_wait,
        limit: None,
    };
    let loaded = how.load_file(file)?;
    loaded.warnings.iter().for_each(|it| out.warning(it));
    audited(&loaded, &how, Some(&entry.function), None)
}

fn table(budget: &Path, all: &[Checked]) -> Table {
    let mut table = Table::new(budget.display().to_string(), &["function", "cpu", "cycles", "allowed", "verdict"]).kind(Kind::Model);
    for it in all {
        let (verdict, tone) = if it.is_kept() { ("kept", Tone::Good) } else { ("over", Tone::Bad) };
        table.push(vec![
            Cell::words(&it.entry.function),
            Cell::words(&it.cpu),
            Cell::number(it.cycles),
            Cell::number(it.allowed),
            Cell::words(verdict).tone(tone),
        ]);
    }
    table
}
