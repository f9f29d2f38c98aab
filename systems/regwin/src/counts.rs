//! What a run comes to: events, and cycles by routine.

use machine::in_order::Core;

use crate::code::{self, Code};
use crate::qemu::{Raw, Span};
use crate::sparc;

/// Cycles of one machine, by routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cycles {
    /// Threads, streams and the ready queue.
    pub application: u64,
    /// Window traps: taking them and their handlers.
    pub traps: u64,
    pub switches: u64,
}

impl Cycles {
    pub fn total(&self) -> u64 {
        self.application + self.traps + self.switches
    }
}

/// Everything that is counted in one run, from the first switch to the last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Switches to each thread.
    pub switches: Vec<(String, u64)>,
    /// `save` instructions of the application.
    pub saves: u64,
    /// `restore` instructions of the application, those that a handler finished included.
    pub restores: u64,
    pub overflows: u64,
    pub underflows: u64,
    /// Windows stored, by traps and switches.
    pub spilled: u64,
    /// Windows loaded, by traps and switches.
    pub restored: u64,
    /// Cycles on each of the two machines.
    pub cycles: [Cycles; 2],
    pub spans: Vec<Span>,
}

impl Counts {
    /// Switches to all threads.
    pub fn n_switches(&self) -> u64 {
        self.switches.iter().map(|switch| switch.1).sum()
    }

    /// Window traps a `save` or `restore`.
    pub fn trap_probability(&self) -> f64 {
        (self.overflows + self.underflows) as f64 / (self.saves + self.restores).max(1) as f64
    }

    /// Cycles of a switch on the average, on one of the machines.
    pub fn mean_switch_cycles(&self, machine: usize) -> f64 {
        let n: u64 = self.spans.iter().map(|span| span.times).sum();
        self.cycles[machine].switches as f64 / n.max(1) as f64
    }

    /// Cycles of the longest switch, on one of the machines.
    pub fn worst_switch_cycles(&self, machine: usize) -> u32 {
        self.spans.iter().map(|span| span.cycles[machine]).max().unwrap_or(0)
    }
}

/// Cycles of the application's first instruction of floating point. It is the one that traps: the
/// programs have one place for them.
fn first_float(code: &Code, core: &Core) -> u64 {
    let application = code
        .words
        .iter()
        .enumerate()
        .filter(|(idx, _)| code.application.contains(&code.address_of(*idx)));
    let first = application.map(|application| *application.1).find(|it| sparc::is_float(*it));
    first.map_or(0, |found| code::cycles(found, core))
}

/// The counts of a run under the plugin; `threads` are the names in the order of the image's table.
pub fn counts(code: &Code, raw: &Raw, threads: &[String], machines: [&Core; 2]) -> Counts {
    let mut counts = Counts::default();
    // The adaptive scheme has a second trap table, for a thread that is alone.
    let vector = |name: &str| [Some(code.address(name)), code.try_address(&format!("{name}_lone"))];
    let [overflow_vector, underflow_vector, flush_vector] =
        ["vector_overflow", "vector_underflow", "vector_flush"].map(vector);
    let fpu_vectors = ["vector_fpu", "vector_fpu_lone"].map(|word| code.try_address(word));
    let (mut n_flushes, mut n_lone_underflows, mut n_floats) = (0, 0, 0);
    for &(at, times) in &raw.words {
        let word = code.words[((at - code.base) / 4) as usize];
        let is = |vector: [Option<u32>; 2]| vector.contains(&Some(at));
        counts.overflows += if is(overflow_vector) { times } else { 0 };
        counts.underflows += if is(underflow_vector) { times } else { 0 };
        n_lone_underflows += if underflow_vector[1] == Some(at) { times } else { 0 };
        n_flushes += if is(flush_vector) { times } else { 0 };
        n_floats += if is(fpu_vectors) { times } else { 0 };
        if code.application.contains(&at) {
            counts.saves += if sparc::is_save(word) { times } else { 0 };
            counts.restores += if sparc::is_restore(word) { times } else { 0 };
        }
        let vectors = [overflow_vector, underflow_vector, flush_vector, fpu_vectors];
        let in_vector =
            vectors.iter().flatten().flatten().any(|vector| (*vector..*vector + 16).contains(&at));
        let in_runtime = code.traps.contains(&at) || code.switches.contains(&at);
        if in_runtime {
            counts.spilled += if sparc::stores_window(word) { times } else { 0 };
            counts.restored += if sparc::loads_window(word) { times } else { 0 };
        }
        for (cycles, core) in counts.cycles.iter_mut().zip(machines) {
            let cost = times * code::cycles(word, core);
            if code.application.contains(&at) {
                cycles.application += cost;
            } else if code.switches.contains(&at) {
                cycles.switches += cost;
            } else if code.traps.contains(&at) || in_vector {
                cycles.traps += cost;
            }
        }
    }
    // A trapped instruction is counted when it traps. A save is executed again, so is the restore
    // of a handler that loads the window where it was; the in-place handler finishes the restore
    // itself.
    let repeats_restore = code.try_address("underflow_plain").is_none();
    counts.saves -= counts.overflows;
    counts.restores -= if repeats_restore { counts.underflows } else { n_lone_underflows };
    for (cycles, core) in counts.cycles.iter_mut().zip(machines) {
        // Not finished means not paid for; taking the trap is.
        cycles.application -= counts.overflows + counts.underflows;
        if n_floats > 0 {
            cycles.application -= n_floats * first_float(code, core);
        }
        cycles.traps += (counts.overflows + counts.underflows + n_flushes + n_floats)
            * u64::from(core.trap_cycles.unwrap_or(0));
    }
    let (table, bytes) = code.symbols["threads"];
    let each = code.symbols["thr_idle"].1;
    counts.switches = threads.iter().map(|name| (name.clone(), 0)).collect();
    for &(at, times) in &raw.loads {
        if (table..table + bytes).contains(&at)
            && let Some(it) = counts.switches.get_mut(((at - table) / each) as usize)
        {
            it.1 += times;
        }
    }
    counts.spans = raw.spans.concat();
    counts.spans.sort_unstable();
    counts
}
