//! Each function of a file in few numbers, the worst first.

use std::cmp::Reverse;

use machine::in_order::Core;
use report::{Cell, Diagnostic, Kind, Table};
use serde_json::{Value, json};

use crate::audit::{Options, Summary, summary};
use crate::program::Program;
use crate::program::find::{Found, member_of};
use crate::program::names::shown;

/// The functions, and why others have no row.
#[derive(Debug, Default)]
pub struct Ranking<'a> {
    pub rows: Vec<(&'a Program, Summary)>,
    pub refused: Vec<Diagnostic>,
}

/// Times all `found`; those that lose most cycles come first.
pub fn ranking<'a>(found: Vec<Found<'a>>, core: &Core, options: &Options) -> Ranking<'a> {
    let mut ranking = Ranking::default();
    for (program, symbol) in found {
        match summary(program, symbol, core, options) {
            Ok(found) => ranking.rows.extend(found.map(|found| (program, found))),
            Err(error) => ranking.refused.push(error),
        }
    }
    ranking.rows.sort_by_key(|(_, it)| {
        (Reverse(it.lost_cycles()), Reverse(it.cycles.stall_cycles), it.address)
    });
    ranking
}

/// These rows as a table; with their runs if those were recorded.
pub fn table(rows: &[(&Program, Summary)], cpu: &str, is_recorded: bool) -> Table {
    let mut columns =
        vec!["function", "instructions", "hot", "cycles", "waiting", "lower bound", "above it"];
    if is_recorded {
        columns.extend(["runs", "lost in all"]);
    }
    let note = format!("cycles of the hot path on {cpu}; the bound is the polynomial one");
    let mut table =
        Table::new("All functions, the worst first", &columns).kind(Kind::Model).note(note);
    for (program, it) in rows {
        let mut cells = vec![
            Cell::words(cut(shown_in(program, &it.name))),
            Cell::number(it.n_instructions),
            Cell::number(it.cycles.instructions),
            Cell::number(it.cycles.total_cycles),
            Cell::number(it.cycles.stall_cycles),
            Cell::number(it.cycles.lower_bound.total),
            Cell::number(it.cycles.total_cycles - it.cycles.lower_bound.total),
        ];
        if let Some(runs) = it.runs {
            cells.extend([Cell::number(runs), Cell::number(it.lost_cycles())]);
        }
        table.push(cells);
    }
    table
}

/// These rows as objects, with keys that stay.
pub fn objects(rows: &[(&Program, Summary)]) -> Vec<Value> {
    let object = |(program, it): &(&Program, Summary)| {
        json!({
            "function": it.name,
            "file": program.name,
            "address": it.address,
            "instructions": it.n_instructions,
            "undecodable": it.n_undecodable,
            "patched": it.n_patched,
            "open": it.n_open,
            "hot_instructions": it.cycles.instructions,
            "issue_cycles": it.cycles.issue_cycles,
            "stall_cycles": it.cycles.stall_cycles,
            "total_cycles": it.cycles.total_cycles,
            "lower_bound": it.cycles.lower_bound,
            "runs": it.runs,
            "lost_cycles": it.lost_cycles(),
        })
    };
    rows.iter().map(object).collect()
}

/// Names of templates may have a thousand letters: the table has their beginning, JSON all of them.
fn cut(name: String) -> String {
    const LETTERS_MAX: usize = 72;
    match name.char_indices().nth(LETTERS_MAX) {
        Some((at, _)) => format!("{}..", &name[..at]),
        None => name,
    }
}

/// The name of a function, with the member of the archive that it is of.
pub fn shown_in(program: &Program, name: &str) -> String {
    match member_of(program) {
        Some(member) => format!("{} ({member})", shown(name)),
        None => shown(name),
    }
}
