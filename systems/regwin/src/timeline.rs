//! A run of an image over time, as Perfetto and chrome://tracing read it: JSON of the Trace Event
//! Format.
//!
//! ```text
//! {"ph":"X","tid":2,"name":"runs","ts":1044,"dur":812}   a thread ran for 812 cycles
//! {"ph":"i","tid":2,"name":"overflow","ts":1100}         and overflowed in between
//! ```
//!
//! The format counts in microseconds: one stands for one cycle.

use serde_json::{Value, json};

/// More moments are not kept.
pub const MOMENTS_MAX: usize = 1 << 20;

/// Something that happened in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Cycles of each machine until then.
    pub cycles: [u64; 2],
    pub what: Happening,
}

/// What a moment is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    /// This thread runs from now on, by its place among the names.
    Runs(usize),
    /// A trap in the thread that runs, with where.
    Trap { kind: &'static str, pc: u32 },
    /// The run is over.
    End,
}

/// A run as one text; `function` names the one with code at an address.
pub fn json(
    image: &str,
    moments: &[Moment],
    names: &[String],
    machine: usize,
    function: impl Fn(u32) -> String,
) -> String {
    let start = moments.first().map_or(0, |moment| moment.cycles[machine]);
    let mut events = vec![json!({
        "ph": "M", "pid": 1, "name": "process_name", "args": {"name": image}
    })];
    for (idx, name) in names.iter().enumerate() {
        events.push(json!({
            "ph": "M", "pid": 1, "tid": idx, "name": "thread_name", "args": {"name": name}
        }));
    }
    // The thread that runs, and since when.
    let mut running: Option<(usize, u64)> = None;
    let mut n_traps = 0_u64;
    for Moment { cycles, what } in moments {
        let now = cycles[machine] - start;
        let next = match what {
            Happening::Trap { kind, pc } => {
                let tid = running.map_or(0, |(thread, _)| thread);
                n_traps += 1;
                events.push(json!({
                    "ph": "i", "pid": 1, "tid": tid, "s": "t", "name": kind, "ts": now,
                    "args": {"function": function(*pc), "pc": format!("{pc:#x}")}
                }));
                events.push(json!({
                    "ph": "C", "pid": 1, "name": "traps", "ts": now, "args": {"traps": n_traps}
                }));
                continue;
            }
            Happening::Runs(thread) => Some((*thread, now)),
            Happening::End => None,
        };
        if let Some((thread, since)) = running {
            events.push(json!({
                "ph": "X", "pid": 1, "tid": thread, "name": "runs", "ts": since, "dur": now - since
            }));
        }
        running = next;
    }
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    format!("{{\"traceEvents\": [\n{}\n]}}\n", lines.join(",\n"))
}
