//! Why a way is the best of those that were measured, in words: what each other choice costs.

use crate::options::{Emit, Recipe};

use super::Tuned;

/// A choice: its name, and what a way chose.
type Part = (&'static str, fn(&Recipe) -> String);

const PARTS: [Part; 7] = [
    ("slicing", |it| it.slicing.letter().into()),
    ("back end", |it| if it.emit == Emit::Asm { "assembly".into() } else { it.cc.name().into() }),
    ("batches at once", |it| serde_json::json!(it.interleave).to_string()),
    ("-X unroll", |it| format!("{:?}", it.unroll).to_lowercase()),
    ("-X inline", |it| format!("{:?}", it.inline).to_lowercase()),
    ("--schedule", |it| it.schedule.name().into()),
    ("flag", |it| it.opt.into()),
];

/// A line for each choice of which another was measured: how much longer the best
/// with that one takes.
pub fn why(tuned: &Tuned) -> Vec<String> {
    let Some(best) = tuned.tried.first() else { return Vec::new() };
    let mut lines = Vec::new();
    for (name, part) in PARTS {
        let own = part(&best.way);
        let mut others: Vec<(String, f64)> = Vec::new();
        // The fastest come first.
        for it in &tuned.tried {
            let value = part(&it.way);
            if value != own && others.iter().all(|other| other.0 != value) {
                others.push((value, it.cycles_per_byte / best.cycles_per_byte));
            }
        }
        if !others.is_empty() {
            let others: Vec<String> = others
                .iter()
                .map(|(value, times)| format!("{value} takes {times:.2} of its time"))
                .collect();
            lines.push(format!("{name} {own}: the best with {}", others.join(", with ")));
        }
    }
    lines
}
