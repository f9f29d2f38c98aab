//! The loops of an audit: cycles a round in the steady state, and what they rest on.
//!
//! ```text
//! loop at product.s:4 (0x0): 7 cycles a round of 4 instructions [model cortex-a53]
//!   bound 4: 3.5 to issue, 2 for mac, 4 by the chain `mul x2, x2, x3`
//!   `mul x2, x2, x3` waits 2 cycles for x3 from `ldr x3, [x0], #8` (line 4), a factor here, needed 1
//!     cycle late: 2 cycles
//! ```

use report::number::count;
use serde_json::{Value, json};

use crate::audit::Audit;
use crate::facts::cases::Computed;
use crate::timing::steady::Steady;
use crate::timing::words::disputed;
use crate::views::coded;

/// Cycles with at most two decimals.
pub fn cycles(it: f64) -> String {
    let text = format!("{it:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn instruction(audit: &Audit, it: &Steady, at: usize) -> String {
    format!("`{}`", audit.text(it.round.places[at]))
}

/// A place in the function: its line and address.
pub(super) fn place(audit: &Audit, idx: usize) -> String {
    let address = audit.function.instructions[idx].address;
    match audit.frame(idx, None) {
        Some(frame) => format!(
            "{}:{} ({address:#x})",
            frame.file.rsplit('/').next().unwrap_or_default(),
            frame.line
        ),
        None => format!("{address:#x}"),
    }
}

/// One loop in sentences: the first is its head.
fn sentences(audit: &Audit, it: &Steady) -> Vec<String> {
    /// So many waits are shown.
    const WAITS_MAX: usize = 8;
    /// Longer chains are named by their ends.
    const CHAIN_MAX: usize = 4;
    let inner = if it.has_inner { ", the inner loop passed once" } else { "" };
    let rounds = it.rounds.map_or(String::new(), |it| format!(", {it:.1} rounds each time"));
    let nested = if it.depth > 0 {
        format!(", inside {}", count(it.depth, "other loop"))
    } else {
        String::new()
    };
    let case = it.case.map_or(String::new(), |it| format!(", by the case at {}", place(audit, it)));
    let mut lines = vec![format!(
        "loop at {}{case}: {} cycles a round of {}{rounds}{inner}{nested} [model {}]",
        place(audit, it.round.places[0]),
        cycles(it.cycles),
        count(it.round.places.len(), "instruction"),
        audit.cpu
    )];
    let bound = &it.bound;
    let mut parts = vec![format!("{} to issue", cycles(bound.issue))];
    if bound.units > 0.0 {
        parts.push(format!("{} for {}", cycles(bound.units), bound.busiest.join(", ")));
    }
    if bound.recurrence > 0.0 {
        let shown: Vec<String> = bound.chain.iter().map(|at| instruction(audit, it, *at)).collect();
        let chain = match &shown[..] {
            [first, .., last] if shown.len() > CHAIN_MAX => {
                format!("{first}, {} more, {last}", shown.len() - 2)
            }
            all => all.join(", "),
        };
        parts.push(format!("{} by the chain {chain}", cycles(bound.recurrence)));
    }
    lines.push(format!("bound {}: {}", cycles(bound.total), parts.join(", ")));
    for wait in it.waits.iter().take(WAITS_MAX) {
        lines.push(format!(
            "{} waits {} for {}",
            instruction(audit, it, wait.at),
            count(wait.cycles as usize, "cycle"),
            wait.why
        ));
    }
    if let Some(more) = it.waits.get(WAITS_MAX..).filter(|wait| !wait.is_empty()) {
        let cycles: u32 = more.iter().map(|found| found.cycles).sum();
        lines.push(format!("{} more wait {} in all", more.len(), count(cycles as usize, "cycle")));
    }
    if it.has_more_cases {
        lines.push("there may be more cases, which are not timed".to_owned());
    }
    lines.extend(disputed(&it.disputed).map(|disputed| format!("disputed: {disputed}")));
    lines
}

/// All loops as paragraphs of sentences.
pub fn paragraphs(audit: &Audit) -> Vec<Vec<String>> {
    let Some(timed) = &audit.timed else { return Vec::new() };
    let n_several = Computed::of(&audit.function).n_several();
    let several = (n_several > 0).then(|| {
        vec![format!(
            "which of {n_several} computed jumps leads where is not known, as in threaded code: loops through them are not timed"
        )]
    });
    timed.loops.iter().map(|found| sentences(audit, found)).chain(several).collect()
}

/// The same for the page.
pub fn html(audit: &Audit) -> String {
    let all = paragraphs(audit);
    if all.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section class=\"loops\" aria-label=\"Loops\">\n<h2>loops, in the steady state</h2>\n",
    );
    for lines in all {
        html += &format!("<p>{}</p>\n<ul>\n", coded(&lines[0]));
        html += &lines[1..]
            .iter()
            .map(|line| format!("<li>{}</li>\n", coded(line)))
            .collect::<String>();
        html += "</ul>\n";
    }
    html + "</section>\n"
}

/// All loops with keys that stay; none of a machine that has no cycles.
pub fn json(audit: &Audit) -> Value {
    let Some(timed) = &audit.timed else { return Value::Null };
    let one = |steady: &Steady| {
        let address = |at: usize| audit.function.instructions[steady.round.places[at]].address;
        let frame = audit.frame(steady.round.places[0], None);
        let waits = steady.waits.iter().map(
            |wait| json!({"address": address(wait.at), "cycles": wait.cycles, "for": wait.why}),
        );
        json!({
            "address": address(0),
            "file": frame.map(|frame| &frame.file),
            "line": frame.map(|frame| frame.line),
            "case": steady.case.map(|case| audit.function.instructions[case].address),
            "has_more_cases": steady.has_more_cases,
            "depth": steady.depth,
            "has_inner": steady.has_inner,
            "instructions": steady.round.places.len(),
            "rounds": steady.rounds,
            "cycles": steady.cycles,
            "bound": {
                "total": steady.bound.total,
                "issue": steady.bound.issue,
                "units": steady.bound.units,
                "busiest": steady.bound.busiest,
                "recurrence": steady.bound.recurrence,
                "chain": steady.bound.chain.iter().map(|at| address(*at)).collect::<Vec<u64>>(),
            },
            "waits": waits.collect::<Vec<Value>>(),
            "disputed": steady.disputed,
        })
    };
    timed.loops.iter().map(one).collect()
}
