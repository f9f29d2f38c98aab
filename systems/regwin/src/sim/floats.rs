//! Floating point, switched lazily: for whom the unit is on, and what the trap of its first use
//! costs.
//!
//! The steps are those of `fpu.S` and of `DROP_FPU` in `window.h`. A thread with windows has its
//! own state register, and in it whether the unit is on; a thread that is loaded from memory finds
//! the unit off.

use super::cost::Sum;
use super::cost::{Blocks, Cost, plus};
use super::event::Thread;

/// What it costs; nothing, in images without.
#[derive(Debug, Clone, Copy, Default)]
pub struct FloatCosts {
    /// Turning it off when a thread is loaded.
    drop: Cost,
    /// The trap, if the registers are the thread's; no thread's; another's.
    traps: [Cost; 3],
}

impl FloatCosts {
    pub fn new(blocks: Blocks) -> FloatCosts {
        if !blocks.has("fpu_disabled") {
            return FloatCosts::default();
        }
        let begins = plus(blocks.trap("vector_fpu"), blocks.sum(&["fpu_disabled", "fpu_kept"]));
        let loads = plus(begins, blocks.sum(&["fpu_other", "fpu_load"]));
        FloatCosts {
            drop: blocks.drop(),
            traps: [begins, loads, plus(loads, blocks.sum(&["fpu_store"]))],
        }
    }
}

#[derive(Debug, Default)]
pub struct Floats {
    pub costs: FloatCosts,
    /// It is on for the running thread.
    pub is_on: bool,
    /// Of each suspended thread with windows: it is on.
    on: Vec<bool>,
}

impl Floats {
    fn of(&mut self, thread: Thread) -> &mut bool {
        if thread >= self.on.len() {
            self.on.resize(thread + 1, false);
        }
        &mut self.on[thread]
    }

    /// The running thread is suspended, its windows stay.
    pub fn leave(&mut self, old: Thread) {
        *self.of(old) = self.is_on;
    }

    /// A thread with windows runs.
    pub fn resume(&mut self, next: Thread) {
        self.is_on = *self.of(next);
    }

    /// A thread without windows is loaded.
    pub fn load(&mut self, sum: &mut Sum) {
        if std::mem::take(&mut self.is_on) {
            sum.add(self.costs.drop);
        }
    }

    /// Either of the two.
    pub fn next(&mut self, next: Thread, has_windows: bool, sum: &mut Sum) {
        if has_windows {
            self.resume(next);
        } else {
            self.load(sum);
        }
    }

    /// The running thread uses it while it is off; `owner` has the registers. What the trap costs.
    pub fn trap(&mut self, running: Thread, owner: Option<Thread>) -> Cost {
        self.is_on = true;
        match owner {
            None => self.costs.traps[1],
            Some(owner) if owner == running => self.costs.traps[0],
            Some(owner) => {
                *self.of(owner) = false;
                self.costs.traps[2]
            }
        }
    }
}
