//! `meanwhile audit diff BEFORE AFTER`: two audits side by side: what went, what came.

use std::cmp::Ordering;
use std::path::PathBuf;

use audit::audit::Audit;
use audit::finding::Finding;
use audit::proof::{change, loops};
use audit::timing::steady::Steady;
use report::{Cell, Kind, Table, Tone};
use serde_json::{Value, json};

use super::options::Reading;
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
    how: Reading,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let [before, after] = [&args.before, &args.after].map(|path| {
        let loaded = args.how.load_file(path, args.function.as_deref())?;
        loaded.warnings.iter().for_each(|warning| out.warning(warning));
        audited(&loaded, &args.how, args.function.as_deref(), None, &[])
    });
    let (before, after) = (before?, after?);
    let went = only_in(&before, &after);
    let came = only_in(&after, &before);
    let rounds = loops(&before, &after);
    let faster = change(&before, &after);
    out.text(&table(&before, &after, rounds.as_deref().unwrap_or_default()).terminal(None));
    if let Some(said) = verdict(faster, rounds.as_deref(), &before, &after) {
        out.line(&said);
    }
    for (word, audit, findings) in [("went", &before, &went), ("came", &after, &came)] {
        for finding in findings {
            out.line(&format!("{word}: {}", line(audit, finding)));
        }
    }
    if went.is_empty() && came.is_empty() {
        out.line("no finding went or came");
    }
    let numbers = |audit: &Audit| audit.timed.as_ref().map(|timed| json!(timed.cycles));
    let list = |audit: &Audit, findings: &[&Finding]| -> Vec<Value> {
        let of = |finding: &&Finding| json!({"kind": finding.kind, "instruction": finding.instruction, "for": finding.why, "cycles": audit.timed.as_ref().map(|_| finding.cycles), "line": audit.frame(finding.idx, None).map(|frame| frame.line)});
        findings.iter().map(of).collect()
    };
    out.object(&json!({
        "ok": true,
        "function": after.function.name,
        "cpu": after.cpu,
        "kind": "model",
        "before": numbers(&before),
        "after": numbers(&after),
        "loops": rounds.as_ref().map(|round| round.iter().map(|(old, new)| json!({"before": old.cycles, "after": new.cycles})).collect::<Vec<_>>()),
        "faster": match faster {
            Some(Ordering::Less) => json!(true),
            Some(_) => json!(false),
            None => Value::Null,
        },
        "went": list(&before, &went),
        "came": list(&after, &came),
    }));
    Ok(())
}

/// Whether it became faster, in a sentence.
fn verdict(
    faster: Option<Ordering>,
    rounds: Option<&[(&Steady, &Steady)]>,
    before: &Audit,
    after: &Audit,
) -> Option<String> {
    let of_rounds = rounds.is_some_and(|round| !round.is_empty());
    let by =
        if of_rounds { ", by the rounds of its loops; the path passes each loop once" } else { "" };
    Some(match faster {
        Some(Ordering::Less) => format!("it became faster{by}"),
        Some(Ordering::Greater) => format!("it became slower{by}"),
        Some(Ordering::Equal) => format!("it takes as long as before{by}"),
        None if of_rounds => {
            "some loops became faster, others slower; the path passes each loop once".to_owned()
        }
        None => {
            let n = |audit: &Audit| audit.timed.as_ref().map(|timed| timed.loops.len());
            let (old, new) = (n(before)?, n(after)?);
            let why = if old == new {
                "they are nested otherwise than before".to_owned()
            } else {
                format!("there were {old}, and are {new}")
            };
            format!("loops are not compared: {why}; audit each of the two to see its rounds")
        }
    })
}

fn table(before: &Audit, after: &Audit, rounds: &[(&Steady, &Steady)]) -> Table {
    let title = format!("{} on {}", after.function.name, after.cpu);
    let mut table = Table::new(title, &["what", "before", "after", "change"]).kind(Kind::Model);
    let mut push = |name: &str, of: &dyn Fn(&Audit) -> Option<u32>| {
        let (Some(old), Some(new)) = (of(before), of(after)) else { return };
        let change = i64::from(new) - i64::from(old);
        let tone = match change {
            ..0 => Tone::Good,
            0 => Tone::Faint,
            1.. => Tone::Bad,
        };
        table.push(vec![
            Cell::words(name),
            Cell::number(old),
            Cell::number(new),
            Cell::number(format!("{change:+}")).tone(tone),
        ]);
    };
    let cycles = |audit: &Audit| audit.timed.as_ref().map(|timed| timed.cycles);
    push("instructions", &|audit| u32::try_from(audit.function.instructions.len()).ok());
    push("on the hot path", &|audit| u32::try_from(audit.trace.places.len()).ok());
    push("cycles to issue", &|audit| Some(cycles(audit)?.issue_cycles));
    push("cycles waiting", &|audit| Some(cycles(audit)?.stall_cycles));
    push("cycles", &|audit| Some(cycles(audit)?.total_cycles));
    push("lower bound", &|audit| Some(cycles(audit)?.lower_bound.total));
    push("findings", &|audit| u32::try_from(audit.findings.len()).ok());
    let bound = |audit: &Audit| audit.limits.as_ref().map(|limits| limits.path.cycles());
    let bounds = bound(before).zip(bound(after));
    let bounds = bounds.map(|(old, new)| ("cycles at least".to_owned(), old, new));
    let rounds = rounds.iter().enumerate().map(|(nth, (old, new))| {
        (format!("cycles a round, loop {}", nth + 1), old.cycles, new.cycles)
    });
    for (name, old, new) in bounds.into_iter().chain(rounds) {
        // As shown: a hundredth is no change.
        let [old, new] = [old, new].map(|found| (found * 100.0).round() / 100.0);
        let change = new - old;
        let tone = match change.total_cmp(&0.0) {
            Ordering::Less => Tone::Good,
            Ordering::Equal => Tone::Faint,
            Ordering::Greater => Tone::Bad,
        };
        let change = if change == 0.0 {
            "+0".to_owned()
        } else {
            format!("{:+}", (change * 100.0).round() / 100.0)
        };
        table.push(vec![
            Cell::words(name),
            Cell::number(old),
            Cell::number(new),
            Cell::number(change).tone(tone),
        ]);
    }
    table
}

/// The findings of one audit that the other has not; equal are those of one kind that say the same
/// of the same instruction.
fn only_in<'a>(one: &'a Audit, other: &Audit) -> Vec<&'a Finding> {
    let mut left: Vec<(&Finding, bool)> =
        other.findings.iter().map(|finding| (finding, false)).collect();
    let mut found = Vec::new();
    for finding in &one.findings {
        let same = |pair: &&mut (&Finding, bool)| {
            !pair.1
                && pair.0.kind == finding.kind
                && pair.0.instruction == finding.instruction
                && pair.0.cycles == finding.cycles
        };
        match left.iter_mut().find(same) {
            Some(it) => it.1 = true,
            None => found.push(finding),
        }
    }
    found
}

fn line(audit: &Audit, finding: &Finding) -> String {
    let place = match audit.frame(finding.idx, None) {
        Some(frame) => {
            format!("{}:{}", frame.file.rsplit('/').next().unwrap_or_default(), frame.line)
        }
        None => format!("{:#x}", audit.function.instructions[finding.idx].address),
    };
    let cost = audit.cost(finding);
    format!("{place}: {} {}, {cost}: {}", finding.kind.name(), finding.instruction, finding.why)
}
