//! `ns`: windows are not shared; a switch stores all of the old thread's and loads one of the next
//! thread's.

use super::{Costs, Rules};
use crate::sim::cost::Sum;
use crate::sim::cost::{Adds, Blocks, Cost, plus};
use crate::sim::event::Thread;
use crate::sim::windows::Windows;

#[derive(Debug, Clone, Copy)]
pub struct NsCosts {
    /// The oldest window is stored.
    overflow: Cost,
    /// A window is loaded.
    underflow: Cost,
    /// The flush trap, without the windows that it stores.
    flush: Cost,
    /// Each window that the flush trap stores.
    flush_window: Cost,
    /// A switch before its first window.
    block: Cost,
    /// Each window that a switch stores.
    block_window: Cost,
    /// Between two of them.
    block_again: Cost,
    /// The end of a thread.
    leave: Cost,
    /// The next thread is loaded.
    load: Cost,
}

impl NsCosts {
    pub fn new(blocks: Blocks) -> NsCosts {
        NsCosts {
            overflow: plus(blocks.trap("vector_overflow"), blocks.sum(&["overflow"])),
            underflow: plus(blocks.trap("vector_underflow"), blocks.sum(&["underflow"])),
            flush: plus(
                blocks.trap("vector_flush"),
                blocks.sum(&["flush_trap", "flush_trap_next", "flush_trap_stored"]),
            ),
            flush_window: blocks.sum(&["flush_trap_next", "flush_trap_window"]),
            block: blocks.switch("leave"),
            block_window: blocks.sum(&["block_next"]),
            block_again: blocks.sum(&["block_again"]),
            leave: blocks.sum(&["thr_leave"]),
            load: blocks.sum(&["take_next", "thr_to"]),
        }
    }
}

impl Costs for NsCosts {
    fn rules(&self, n: u32) -> Box<dyn Rules> {
        Box::new(Ns { n, n_used: 1, costs: *self })
    }

    /// The old thread has all windows but the reserved one.
    fn worst_switch(&self, n: u32, machine: usize) -> (u64, u64) {
        let of = |cost: Cost| cost[machine];
        let n = u64::from(n);
        let stores = (n - 1) * of(self.block_window) + (n - 2) * of(self.block_again);
        (of(self.block) + stores + of(self.load), (n - 2) * of(self.underflow))
    }
}

#[derive(Debug)]
struct Ns {
    n: u32,
    /// Windows of the running thread.
    n_used: u32,
    costs: NsCosts,
}

impl Rules for Ns {
    #[inline]
    fn save(&mut self, windows: &mut Windows) -> bool {
        if self.n_used + 1 < self.n {
            self.n_used += 1;
            return false;
        }
        windows.overflow(1, self.costs.overflow);
        true
    }

    #[inline]
    fn restore(&mut self, windows: &mut Windows, _adds: Adds) -> bool {
        if self.n_used > 1 {
            self.n_used -= 1;
        } else {
            windows.underflow(self.costs.underflow);
        }
        false
    }

    fn flush(&mut self, windows: &mut Windows) {
        windows.flush(self.n_used - 1, self.costs.flush, self.costs.flush_window);
        self.n_used = 1;
    }

    fn block(&mut self, windows: &mut Windows, next: Thread) {
        let mut sum = Sum { spilled: self.n_used, restored: 1, ..Sum::of(self.costs.block) };
        sum.add_times(self.costs.block_window, self.n_used);
        sum.add_times(self.costs.block_again, self.n_used - 1);
        sum.add(self.costs.load);
        windows.floats.load(&mut sum);
        self.n_used = 1;
        windows.switched(next, &sum);
    }

    fn block_flush(&mut self, windows: &mut Windows, next: Thread) {
        self.block(windows, next);
    }

    fn leave(&mut self, windows: &mut Windows, next: Thread) {
        let mut sum = Sum { restored: 1, ..Sum::of(self.costs.leave) };
        sum.add(self.costs.load);
        windows.floats.load(&mut sum);
        self.n_used = 1;
        windows.switched(next, &sum);
    }

    fn is_resident(&self, _thread: Thread) -> bool {
        false
    }
}
