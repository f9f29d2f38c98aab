//! `meanwhile audit diff BEFORE AFTER`: two audits side by side: what went, what came.

use std::path::PathBuf;

use audit::audit::Audit;
use audit::finding::Finding;
use report::{Cell, Kind, Table, Tone};
use serde_json::{Value, json};

use super::options::How;
use super::show::audited;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile audit diff`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file as it was.
    before: PathBuf,
    /// The file as it is.
    after: PathBuf,
    /// The function; needed if a file has several.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let [before, after] = [&args.before, &args.after].map(|path| {
        let loaded = args.how.load_file(path)?;
        loaded.warnings.iter().for_each(|it| out.warning(it));
        audited(&loaded, &args.how, args.function.as_deref(), None)
    });
    let (before, after) = (before?, after?);
    let went = only_in(&before, &after);
    let came = only_in(&after, &before);
    out.text(&table(&before, &after).terminal(None));
    for (word, audit, findings) in [("went", &before, &went), ("came", &after, &came)] {
        for finding in findings {
            out.line(&format!("{word}: {}", line(audit, finding)));
        }
    }
    if went.is_empty() && came.is_empty() {
        out.line("no finding went or came");
    }
    let numbers = |audit: &Audit| audit.timed.as_ref().map(|it| json!(it.cycles));
    let list = |audit: &Audit, findings: &[&Finding]| -> Vec<Value> {
        let of = |it: &&Finding| json!({"kind": it.kind, "who": it.who, "for": it.why, "cycles": it.cycles, "line": audit.frame(it.idx, None).map(|it| it.line)});
        findings.iter().map(of).collect()
    };
    out.object(&json!({
        "ok": true,
        "function": after.function.name,
        "cpu": after.cpu,
        "kind": "model",
        "before": numbers(&before),
        "after": numbers(&after),
        "went": list(&before, &went),
        "came": list(&after, &came),
    }));
    Ok(())
}

fn table(before: &Audit, after: &Audit) -> Table {
    let title = format!("{} on {}", after.function.name, after.cpu);
    let mut table = Table::new(title, &["", "before", "after", "change"]).kind(Kind::Model);
    let mut push = |name: &str, of: &dyn Fn(&Audit) -> Option<u32>| {
        let (Some(old), Some(new)) = (of(before), of(after)) else { return };
        let change = i64::from(new) - i64::from(old);
        let tone = match change {
            ..0 => Tone::Good,
            0 => Tone::Faint,
            1.. => Tone::Bad,
        };
        table.push(vec![Cell::words(name), Cell::number(old), Cell::number(new), Cell::number(format!("{change:+}")).tone(tone)]);
    };
    let cycles = |audit: &Audit| audit.timed.as_ref().map(|it| it.cycles);
    push("instructions", &|it| u32::try_from(it.function.instructions.len()).ok());
    push("on the hot path", &|it| u32::try_from(it.trace.places.len()).ok());
    push("cycles to issue", &|it| Some(cycles(it)?.issue_cycles));
    push("cycles waiting", &|it| Some(cycles(it)?.stall_cycles));
    push("cycles", &|it| Some(cycles(it)?.total_cycles));
    push("lower bound", &|it| Some(cycles(it)?.lower_bound.total));
    push("findings", &|it| u32::try_from(it.findings.len()).ok());
    table
}

/// The findings of one audit that the other has not; equal are those of one kind that say the same of the same instruction.
fn only_in<'a>(one: &'a Audit, other: &Audit) -> Vec<&'a Finding> {
    let mut left: Vec<(&Finding, bool)> = other.findings.iter().map(|it| (it, false)).collect();
    let mut found = Vec::new();
    for finding in &one.findings {
        let same =
            |it: &&mut (&Finding, bool)| !it.1 && it.0.kind == finding.kind && it.0.who == finding.who && it.0.cycles == finding.cycles;
        match left.iter_mut().find(same) {
            Some(it) => it.1 = true,
            None => found.push(finding),
        }
    }
    found
}

fn line(audit: &Audit, finding: &Finding) -> String {
    let place = match audit.frame(finding.idx, None) {
        Some(frame) => format!("{}:{}", frame.file.rsplit('/').next().unwrap_or_default(), frame.line),
        None => format!("{:#x}", audit.function.instructions[finding.idx].address),
    };
    let unit = if finding.cycles == 1 { "cycle" } else { "cycles" };
    format!("{place}: {} {}, {} {unit}: {}", finding.kind.name(), finding.who, finding.cycles, finding.why)
}
