//! `meanwhile audit FILE --all-functions`: each function in few numbers, the worst first.

use std::cmp::Reverse;

use audit::audit::{Options, Summary, summary};
use audit::facts::recorded::Recorded;
use audit::program::Program;
use audit::program::find::{Found, find, member_of};
use audit::program::names::shown;
use audit::timing::licence::Effort;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use super::options::{Loaded, Reading};
use crate::output::{Failure, Output};

pub fn run(
    loaded: &Loaded,
    how: &Reading,
    function: Option<&str>,
    recorded: Option<Recorded>,
    out: &mut Output,
) -> Result<(), Failure> {
    let Some(core) = how.core(&loaded.cpu) else {
        let help = "--spills counts what was spilled; --function shows one function without cycles";
        return Err(Failure::user(
            format!("`{}` reorders instructions: no model here says when one waits", loaded.cpu),
            Some(help),
        ));
    };
    let is_recorded = recorded.is_some();
    let options =
        Options { avoid: how.avoid.clone(), through: Vec::new(), effort: Effort::Bounds, recorded };
    let mut rows: Vec<(&Program, Summary)> = Vec::new();
    let mut refused = Vec::new();
    for (program, symbol) in chosen(loaded, function)? {
        match summary(program, symbol, &core, &options) {
            Ok(found) => rows.extend(found.map(|found| (program, found))),
            Err(error) => refused.push(error.message),
        }
    }
    rows.sort_by_key(|(_, it)| {
        (Reverse(it.lost_cycles()), Reverse(it.cycles.stall_cycles), it.address)
    });
    let n_all = rows.len();
    let listed = &rows[..how.limit.unwrap_or(n_all).min(n_all)];
    if listed.is_empty() && is_recorded {
        return Err(Failure::user(
            "no function ran in the recording",
            Some("a program that was moved when it was loaded needs --path FILE@ADDRESS"),
        ));
    }
    let mut columns =
        vec!["function", "instructions", "hot", "cycles", "waiting", "lower bound", "above it"];
    if is_recorded {
        columns.extend(["runs", "lost in all"]);
    }
    let note = format!("cycles of the hot path on {}; the bound is the polynomial one", loaded.cpu);
    let mut table =
        Table::new("All functions, the worst first", &columns).kind(Kind::Model).note(note);
    for (program, it) in listed {
        let mut cells = vec![
            Cell::words(cut(shown_in(program, &it.name))),
            Cell::number(it.n_instructions),
            Cell::number(it.cycles.instructions),
            Cell::number(it.cycles.total_cycles),
            Cell::number(it.cycles.stall_cycles),
            Cell::number(it.cycles.lower_bound.total),
            Cell::number(above(it)),
        ];
        if let Some(runs) = it.runs {
            cells.extend([Cell::number(runs), Cell::number(it.lost_cycles())]);
        }
        table.push(cells);
    }
    out.text(&table.terminal(None));
    if listed.len() < n_all {
        out.line(&format!("{} more functions; --limit shows more", n_all - listed.len()));
    }
    let n_patched = listed.iter().filter(|(_, it)| it.n_patched > 0).count();
    if n_patched > 0 {
        out.line(&format!(
            "{n_patched} of these functions are written over in places when the kernel starts: their cycles are those before"
        ));
    }
    for message in refused.iter().take(5) {
        out.warning(message);
    }
    if refused.len() > 5 {
        out.warning(&format!("{} more functions could not be read", refused.len() - 5));
    }
    let functions: Vec<Value> = listed
        .iter()
        .map(|(program, it)| {
            json!({
                "function": it.name,
                "file": program.name,
                "address": it.address,
                "instructions": it.n_instructions,
                "undecodable": it.n_undecodable,
                "patched": it.n_patched,
                "hot_instructions": it.cycles.instructions,
                "issue_cycles": it.cycles.issue_cycles,
                "stall_cycles": it.cycles.stall_cycles,
                "total_cycles": it.cycles.total_cycles,
                "lower_bound": it.cycles.lower_bound,
                "runs": it.runs,
                "lost_cycles": it.lost_cycles(),
            })
        })
        .collect();
    out.object(&json!({"ok": true, "file": loaded.name, "cpu": loaded.cpu, "kind": "model", "functions": functions, "refused": refused}));
    Ok(())
}

/// Names of templates may have a thousand letters: the table has their beginning, JSON all of them.
fn cut(name: String) -> String {
    const LETTERS_MAX: usize = 72;
    match name.char_indices().nth(LETTERS_MAX) {
        Some((at, _)) => format!("{}..", &name[..at]),
        None => name,
    }
}

fn above(it: &Summary) -> u32 {
    it.cycles.total_cycles - it.cycles.lower_bound.total
}

/// The functions that were named, or all.
pub fn chosen<'a>(loaded: &'a Loaded, function: Option<&str>) -> Result<Vec<Found<'a>>, Failure> {
    match function {
        Some(name) => find(&loaded.programs, name).map_err(|error| Failure::User(vec![error])),
        None => Ok(loaded
            .programs
            .iter()
            .flat_map(|program| program.symbols.iter().map(move |symbol| (program, symbol)))
            .collect()),
    }
}

/// The name of a function, with the member of the archive that it is of.
pub fn shown_in(program: &Program, name: &str) -> String {
    match member_of(program) {
        Some(member) => format!("{} ({member})", shown(name)),
        None => shown(name),
    }
}
