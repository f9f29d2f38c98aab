//! Each function of a file in few numbers, the worst first.

use std::cmp::Reverse;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

use machine::in_order::Core;
use report::{Cell, Diagnostic, Kind, Table};
use serde_json::{Value, json};

use crate::audit::{Options, Summary, decoded_for, summary};
use crate::program::find::{Found, member_of};
use crate::program::names::shown;
use crate::program::{Decoded, Program};

/// The functions, and why others have no row.
#[derive(Debug, Default)]
pub struct Ranking<'a> {
    pub rows: Vec<(&'a Program, Summary)>,
    pub refused: Vec<Diagnostic>,
}

/// Decoded functions that wait to be timed at most: nothing is kept that is not printed.
const WAITING_MAX: usize = 8;

/// Times all `found`; those that lose most cycles come first. One thread decodes, since debug
/// information is read once, and all processors time what it decoded.
pub fn ranking<'a>(found: &[Found<'a>], core: &Core, options: &Options) -> Ranking<'a> {
    let n_workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    let decoded = found.iter().map(|(program, symbol)| decoded_for(program, symbol, options));
    // Programs read on while they are asked, which is not for several threads.
    let files: Vec<(&str, u64)> =
        found.iter().map(|(program, symbol)| (program.name.as_str(), symbol.address)).collect();
    let time = |nth: usize, decoded: Result<Decoded, Diagnostic>| {
        let (file, address) = files[nth];
        (nth, decoded.and_then(|decoded| summary(file, address, &decoded, core, options)))
    };
    if n_workers == 1 {
        let timed = decoded.enumerate().map(|(nth, decoded)| time(nth, decoded));
        return ranked(found, timed.collect());
    }
    type Waiting = (usize, Result<Decoded, Diagnostic>);
    let (sender, receiver) = sync_channel::<Waiting>(WAITING_MAX);
    let work = |receiver: Arc<Mutex<Receiver<Waiting>>>| {
        let mut timed = Vec::new();
        loop {
            let next = receiver.lock().expect("no worker panics with the lock").recv();
            let Ok((nth, decoded)) = next else { return timed };
            timed.push(time(nth, decoded));
        }
    };
    let mut timed = std::thread::scope(|scope| {
        let receiver = Arc::new(Mutex::new(receiver));
        let mine = || Arc::clone(&receiver);
        let spawn = |receiver| scope.spawn(move || work(receiver));
        let workers: Vec<_> = (0..n_workers).map(|_| spawn(mine())).collect();
        // It is gone when no worker is left, which a panic does, and `join` reports.
        drop(receiver);
        for next in decoded.enumerate() {
            if sender.send(next).is_err() {
                break;
            }
        }
        drop(sender);
        let joined = workers.into_iter().map(|worker| worker.join());
        let each = joined.map(|timed| timed.unwrap_or_else(|panic| resume_unwind(panic)));
        each.flatten().collect::<Vec<_>>()
    });
    timed.sort_unstable_by_key(|(nth, _)| *nth);
    ranked(found, timed)
}

type NumberedSummary = (usize, Result<Option<Summary>, Diagnostic>);

fn ranked<'a>(found: &[Found<'a>], timed: Vec<NumberedSummary>) -> Ranking<'a> {
    let mut ranking = Ranking::default();
    for (nth, timed) in timed {
        match timed {
            Ok(timed) => ranking.rows.extend(timed.map(|timed| (found[nth].0, timed))),
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
