//! What the blocks of handlers and switches cost: read from the image, by the symbols that name them.

use machine::in_order::Core;

use crate::code::{self, Code};
use crate::names::Scheme;
use crate::sparc;

/// Cycles on the two machines.
pub type Cost = [u64; 2];

/// The pieces that paths through handlers and switches are made of.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    /// Window overflow, not shared.
    pub overflow: Cost,
    /// Window underflow, not shared.
    pub underflow: Cost,
    /// Overflow into a free window.
    pub overflow_free: Cost,
    /// Overflow into the thread's own oldest.
    pub overflow_own: Cost,
    /// Overflow into another thread's lowest, of several; its last.
    pub overflow_other: [Cost; 2],
    /// Underflow, in place, by what the restore adds.
    pub underflow_in_place: [Cost; 3],
    /// The flush trap without the windows that it stores, and each of them.
    pub flush: Cost,
    /// See [`Costs::flush`].
    pub flush_window: Cost,
    /// A switch up to the decision about the next thread.
    pub block: Cost,
    /// The end of a thread up to there.
    pub leave: Cost,
    /// For each window that a switch stores.
    pub block_window: Cost,
    /// Between two of them.
    pub block_again: Cost,
    /// The next thread's windows are there (or are loaded, if windows are not shared).
    pub resident: Cost,
    /// They are there, and the window above is taken: by one of several windows, by a last one.
    pub resident_taken: [Cost; 2],
    /// They are not there; without what follows.
    pub absent: Cost,
    /// The first window above the suspended thread: free, one of several, a last one.
    pub newest: [Cost; 3],
    /// The one above that.
    pub reserve: [Cost; 3],
    /// The newest frame is loaded.
    pub load: Cost,
    /// After the end of a thread: the next is resident; or not.
    pub left: [Cost; 2],
}

impl Costs {
    /// The costs of an image.
    pub fn new(code: &Code, scheme: Scheme, machines: [&Core; 2]) -> Costs {
        let both = |f: &dyn Fn(&Core) -> u64| machines.map(f);
        let sum = |names: &[&str]| both(&|core| names.iter().map(|name| code.block_cycles(name, core)).sum());
        let plus = |a: Cost, b: Cost| [a[0] + b[0], a[1] + b[1]];
        let taken = |name: &str| {
            both(&|core| code.cycles(code.address(name)..code.address(name) + 16, core) + u64::from(core.trap_cycles.unwrap_or(0)))
        };
        let mut costs = Costs::default();
        let (overflow, underflow) = (taken("vector_overflow"), taken("vector_underflow"));
        costs.flush = plus(taken("vector_flush"), sum(&["flush_trap", "flush_trap_next", "flush_trap_stored"]));
        costs.flush_window = sum(&["flush_trap_next", "flush_trap_window"]);
        match scheme {
            Scheme::Ns => {
                costs.overflow = plus(overflow, sum(&["overflow"]));
                costs.underflow = plus(underflow, sum(&["underflow"]));
                costs.block = sum(&["thr_block"]);
                costs.block_window = sum(&["block_next"]);
                costs.block_again = sum(&["block_again"]);
                costs.leave = sum(&["thr_leave"]);
                costs.resident = sum(&["take_next", "thr_to"]);
                return costs;
            }
            Scheme::Flat => {
                costs.block = sum(&["thr_block"]);
                costs.leave = sum(&["thr_leave"]);
                costs.resident = sum(&["take_next", "thr_to"]);
                return costs;
            }
            Scheme::Snp | Scheme::Sp => {}
        }
        costs.overflow_free = plus(overflow, sum(&["overflow", "overflow_free"]));
        costs.overflow_own = plus(overflow, sum(&["overflow", "overflow_taken", "overflow_own"]));
        costs.overflow_other = ["overflow_other_more", "overflow_other_last"]
            .map(|end| plus(overflow, sum(&["overflow", "overflow_taken", "overflow_other", end, "overflow_other_stored"])));
        let plain = plus(underflow, sum(&["underflow", "underflow_plain"]));
        let entry = |name: &str| both(&|core| code.cycles(code.address(name)..code.address(name) + 8, core));
        let (read, written) = (entry("registers_read"), entry("registers_written"));
        let adds = plus(
            plus(underflow, sum(&["underflow", "underflow_adds", "underflow_first", "underflow_sum", "underflow_added"])),
            plus(read, written),
        );
        costs.underflow_in_place = [plain, plus(adds, sum(&["underflow_immediate"])), plus(plus(adds, read), sum(&["underflow_register"]))];
        costs.block = sum(&["thr_block", "thr_to"]);
        costs.leave = sum(&["thr_leave", "left", "thr_to_left"]);
        costs.load = sum(&["load"]);
        costs.left = [sum(&["left_resident"]), sum(&["left_absent"])];
        let three = |name: &str| {
            let stored =
                |end: &str| sum(&[&format!("{name}_taken"), &format!("{name}_{end}"), &format!("{name}_stored"), &format!("{name}_clear")]);
            [sum(&[&format!("{name}_free"), &format!("{name}_clear")]), stored("more"), stored("last")]
        };
        costs.reserve = three("reserve");
        if scheme == Scheme::Sp {
            costs.resident = sum(&["resident"]);
            costs.absent = sum(&["absent"]);
            costs.newest = three("newest");
        } else {
            costs.resident = sum(&["resident", "above_free"]);
            let [_, more, last] = three("resume");
            costs.resident_taken = [more, last].map(|it| plus(it, sum(&["resident", "above_taken"])));
            costs.absent = sum(&["absent", "take_reserve"]);
        }
        costs
    }
}

impl Costs {
    /// The most cycles that one switch can take with `n` windows, and the most that the underflows which
    /// it causes take later (of these, those that load windows it has stored of its own thread).
    pub fn worst_switch(&self, scheme: Scheme, n: u32, machine: usize) -> (u64, u64) {
        let most = |costs: &[Cost]| costs.iter().map(|it| it[machine]).max().unwrap_or(0);
        let of = |cost: Cost| cost[machine];
        let n = u64::from(n);
        match scheme {
            Scheme::Flat => (of(self.block) + of(self.resident), 0),
            Scheme::Ns => {
                let stores = (n - 1) * of(self.block_window) + (n - 2) * of(self.block_again);
                (of(self.block) + stores + of(self.resident), (n - 2) * of(self.underflow))
            }
            Scheme::Snp | Scheme::Sp => {
                let enters = of(self.absent) + most(&self.newest) + most(&self.reserve) + of(self.load);
                let resumes = of(self.resident).max(most(&self.resident_taken));
                let blocks = of(self.block) + enters.max(resumes);
                let leaves = of(self.leave) + (of(self.left[1]) + of(self.load)).max(of(self.left[0]) + resumes);
                (blocks.max(leaves), 0)
            }
        }
    }
}

/// What a restore adds: nothing, an immediate, a register. The in-place underflow handler does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adds {
    /// Its target is `%g0`.
    Nothing,
    /// An immediate.
    Immediate,
    /// A register.
    Register,
}

impl Adds {
    /// What this restore adds.
    pub fn of(word: u32) -> Adds {
        match (word >> 25 & 31, word >> 13 & 1) {
            (0, _) => Adds::Nothing,
            (_, 1) => Adds::Immediate,
            _ => Adds::Register,
        }
    }
}

/// Cycles of a word on the two machines.
pub fn of_word(word: u32, machines: [&Core; 2]) -> [u32; 2] {
    machines.map(|core| code::cycles(word, core) as u32)
}

/// Cycles of a `save`: what a trapped one does not cost.
pub fn of_save(machines: [&Core; 2]) -> Cost {
    machines.map(|core| u64::from(core.work(sparc::class(0x9de3_bfa0)).issue_cycles))
}
