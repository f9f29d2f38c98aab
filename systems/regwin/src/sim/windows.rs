//! What all schemes have: which thread runs, what its traps and switches were, what they cost.
//!
//! Where the windows of a thread are is the scheme's: see `schemes`.

use super::cost::{Cost, Sum};
use super::event::Thread;
use super::floats::Floats;
use super::spans::Spans;
use crate::counts::{Counts, Cycles};

/// The windows of one machine, as far as they are counted.
#[derive(Debug)]
pub struct Windows {
    pub(super) running: Option<Thread>,
    overflows: u64,
    underflows: u64,
    finished: u64,
    spilled: u64,
    restored: u64,
    traps: Cost,
    spans: Spans,
    frozen: Option<Box<Counts>>,
    /// The thread that has the floating point unit.
    pub(super) floats: Floats,
    pub(super) fragments: Option<Fragments>,
}

/// External fragmentation: windows of suspended threads that are stored although
/// enough are free elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fragments {
    /// Windows of suspended threads stored to make room.
    pub stored: u64,
    /// Of these, while as many free windows as were needed lay elsewhere.
    pub while_free: u64,
}

impl Windows {
    pub fn new() -> Windows {
        Windows {
            running: None,
            overflows: 0,
            underflows: 0,
            finished: 0,
            spilled: 0,
            restored: 0,
            traps: [0; 2],
            spans: Spans::new(),
            frozen: None,
            floats: Floats::default(),
            fragments: None,
        }
    }

    /// A trap that moves no window, or what all of them do.
    pub(super) fn trap(&mut self, cost: Cost) {
        self.traps = [self.traps[0] + cost[0], self.traps[1] + cost[1]];
    }

    /// An overflow that stores so many windows.
    pub(super) fn overflow(&mut self, n_spilled: u32, cost: Cost) {
        self.overflows += 1;
        self.spilled += u64::from(n_spilled);
        self.trap(cost);
    }

    /// An underflow; its handler loads a window.
    pub(super) fn underflow(&mut self, cost: Cost) {
        self.underflows += 1;
        self.restored += 1;
        self.trap(cost);
    }

    /// An underflow whose handler also finishes the restore.
    pub(super) fn underflow_in_place(&mut self, cost: Cost) {
        self.finished += 1;
        self.underflow(cost);
    }

    /// A flush trap: what it costs, and what each window that it stores costs beside that.
    pub(super) fn flush(&mut self, n_spilled: u32, cost: Cost, each: Cost) {
        self.spilled += u64::from(n_spilled);
        self.trap(cost);
        self.trap(each.map(|each| each * u64::from(n_spilled)));
    }

    /// A switch is done: this thread runs.
    #[inline]
    pub(super) fn switched(&mut self, next: Thread, sum: &Sum) {
        self.running = Some(next);
        self.spilled += u64::from(sum.spilled);
        self.restored += u64::from(sum.restored);
        self.spans.count(sum.spilled, sum.restored, sum.cost);
    }

    /// Counts nothing from here on.
    pub fn freeze(&mut self) {
        self.frozen = Some(Box::new(self.counts()));
    }

    /// Restores that a handler finished: the thread does not execute them.
    pub fn n_finished(&self) -> u64 {
        self.finished
    }

    /// What was counted; the application's part is left open.
    pub fn counts(&self) -> Counts {
        if let Some(frozen) = &self.frozen {
            return (**frozen).clone();
        }
        let spans = self.spans.sorted();
        let switches = |machine: usize| {
            spans.iter().map(|span| u64::from(span.cycles[machine]) * span.times).sum()
        };
        let cycles = |machine: usize| Cycles {
            application: 0,
            traps: self.traps[machine],
            switches: switches(machine),
        };
        Counts {
            overflows: self.overflows,
            underflows: self.underflows,
            spilled: self.spilled,
            restored: self.restored,
            cycles: [cycles(0), cycles(1)],
            spans,
            ..Counts::default()
        }
    }
}
