//! What `snp` and `sp` do alike: traps, suspending a thread, and a place that is left.

use super::allocate::{Allocation, SearchCosts};
use super::ring::{Place, Ring};
use crate::sim::cost::Sum;
use crate::sim::cost::{Adds, Blocks, Cost, larger, plus, times};
use crate::sim::event::Thread;
use crate::sim::windows::Windows;

#[derive(Debug, Clone)]
pub struct SharingCosts {
    /// Overflow into a free window.
    overflow_free: Cost,
    /// Overflow into the thread's own oldest window.
    overflow_own: Cost,
    /// Overflow into another thread's lowest window: one of several; its last.
    overflow_other: [Cost; 2],
    /// Underflow, in place, by what the restore adds.
    underflow: [Cost; Adds::N_FORMS],
    /// The flush trap, without the windows that it stores.
    flush: Cost,
    /// Each window that the flush trap stores.
    flush_window: Cost,
    /// A switch that leaves windows, up to the decision about the next thread.
    pub block: Cost,
    /// A switch that stores all windows, up to that decision, without the windows.
    block_flush: Cost,
    /// Each window that such a switch stores.
    block_window: Cost,
    /// The end of a thread, up to that decision.
    leave: Cost,
    /// After a switch that leaves no window: the next thread is resident.
    left_resident: Cost,
    /// It is not, and takes the place that is free.
    left_absent: Cost,
    /// The newest frame is loaded.
    load: Cost,
    /// The window above a thread becomes its reserved one.
    reserve: Clear,
    /// The search for a place.
    pub search: SearchCosts,
}

/// A window that is wanted: it is free; one of several of a thread, which is
/// stored; a thread's last.
pub type Clear = [Cost; 3];

/// The macro `CLEAR_ABOVE` under this name.
pub fn clear(blocks: Blocks, name: &str) -> Clear {
    let label = |part: &str| format!("{name}_{part}");
    let sum = |parts: &[&str]| {
        parts.iter().fold([0; 2], |sum, part| plus(sum, blocks.sum(&[&label(part)])))
    };
    [
        sum(&["free", "clear"]),
        sum(&["taken", "more", "stored", "clear"]),
        sum(&["taken", "last", "stored", "clear"]),
    ]
}

/// The largest of several costs.
pub fn largest(costs: &[Cost]) -> Cost {
    costs.iter().copied().fold([0; 2], larger)
}

impl SharingCosts {
    pub fn new(blocks: Blocks) -> SharingCosts {
        let overflow = plus(blocks.trap("vector_overflow"), blocks.sum(&["overflow"]));
        let taken = plus(overflow, blocks.sum(&["overflow_taken"]));
        let other =
            |end| plus(taken, blocks.sum(&["overflow_other", end, "overflow_other_stored"]));
        let underflow = plus(blocks.trap("vector_underflow"), blocks.sum(&["underflow"]));
        let (read, written) =
            (blocks.register("registers_read"), blocks.register("registers_written"));
        let plain = plus(underflow, blocks.sum(&["underflow_plain"]));
        let adds = plus(
            underflow,
            blocks.sum(&["underflow_adds", "underflow_first", "underflow_sum", "underflow_added"]),
        );
        let constant = plus(plus(adds, plus(read, written)), blocks.sum(&["underflow_immediate"]));
        let register =
            plus(plus(adds, plus(read, written)), plus(read, blocks.sum(&["underflow_register"])));
        SharingCosts {
            overflow_free: plus(overflow, blocks.sum(&["overflow_free"])),
            overflow_own: plus(taken, blocks.sum(&["overflow_own"])),
            overflow_other: ["overflow_other_more", "overflow_other_last"].map(other),
            underflow: Adds::each(|form| match form {
                Adds::NOTHING => plain,
                _ if form.has_register() => register,
                _ => constant,
            }),
            flush: plus(
                blocks.trap("vector_flush"),
                blocks.sum(&["flush_trap", "flush_trap_next", "flush_trap_stored"]),
            ),
            flush_window: blocks.sum(&["flush_trap_next", "flush_trap_window"]),
            block: plus(blocks.switch("leave"), blocks.sum(&["thr_to"])),
            block_flush: plus(blocks.switch("flush"), blocks.sum(&["left", "thr_to_left"])),
            block_window: blocks.sum(&["flush_next"]),
            leave: blocks.sum(&["thr_leave", "left", "thr_to_left"]),
            left_resident: blocks.sum(&["left_resident"]),
            left_absent: blocks.sum(&["left_absent"]),
            load: blocks.sum(&["load"]),
            reserve: clear(blocks, "reserve"),
            search: SearchCosts::new(blocks),
        }
    }

    /// The longest switch with `n` windows. A resident thread is resumed at most so long; one that
    /// is not, is at its place after at most so long.
    pub fn worst_switch(&self, n: u32, resumes: Cost, enters: Cost) -> Cost {
        let n = u64::from(n);
        let enters =
            plus(plus(self.search.worst(n), enters), plus(largest(&self.reserve), self.load));
        let ends = larger(plus(self.left_absent, self.load), plus(self.left_resident, resumes));
        let blocks = plus(self.block, larger(enters, resumes));
        let flushes = plus(plus(self.block_flush, times(n - 1, self.block_window)), ends);
        largest(&[blocks, flushes, plus(self.leave, ends)])
    }
}

#[derive(Debug)]
pub struct Sharing {
    pub ring: Ring,
    pub costs: SharingCosts,
    pub allocation: Allocation,
    /// Reserved windows that a suspended thread keeps.
    n_reserved: u32,
}

impl Sharing {
    pub fn new(n: u32, n_reserved: u32, allocation: Allocation, costs: SharingCosts) -> Sharing {
        Sharing { ring: Ring::new(n), costs, allocation, n_reserved }
    }

    #[inline]
    pub fn save(&mut self, windows: &mut Windows) -> bool {
        let next = self.ring.above(self.ring.cwp);
        self.ring.cwp = next;
        if next != self.ring.reserved {
            return false;
        }
        self.overflow(windows);
        true
    }

    fn overflow(&mut self, windows: &mut Windows) {
        let ring = &mut self.ring;
        ring.reserved = ring.above(ring.cwp);
        match ring.owner(ring.reserved) {
            None => windows.overflow(0, self.costs.overflow_free),
            Some(owner) if Some(owner) == windows.running => {
                ring.set_owner(ring.reserved, None);
                ring.bottom = ring.above(ring.reserved);
                ring.set_owner(ring.bottom, Some(owner));
                windows.overflow(1, self.costs.overflow_own);
            }
            Some(owner) => {
                self.count_fragment(windows, self.ring.n_own(), 1);
                let last = self.ring.store_lowest(owner, None);
                windows.overflow(1, self.costs.overflow_other[usize::from(last)]);
            }
        }
    }

    #[inline]
    pub fn restore(&mut self, windows: &mut Windows, adds: Adds) -> bool {
        if self.ring.cwp != self.ring.bottom {
            self.ring.cwp = self.ring.below(self.ring.cwp);
            return false;
        }
        windows.underflow_in_place(self.costs.underflow[adds.form()]);
        true
    }

    pub fn flush(&mut self, windows: &mut Windows) {
        let n_stored = self.ring.flush(windows.running);
        windows.flush(n_stored, self.costs.flush, self.costs.flush_window);
    }

    /// The running thread is suspended, its windows stay. Where those of the next thread are,
    /// if it has any.
    #[inline]
    pub fn suspend(&mut self, windows: &mut Windows, next: Thread) -> Option<Place> {
        let old = windows.running.expect("a thread blocks");
        windows.floats.leave(old);
        self.allocation.stamp(old);
        self.ring.suspend(old, self.ring.above(self.ring.cwp));
        self.ring.place(next)
    }

    /// The running thread stores all its windows; the switch so far.
    pub fn flush_switch(&self) -> Sum {
        let mut sum = Sum { spilled: self.ring.n_own(), ..Sum::of(self.costs.block_flush) };
        sum.add_times(self.costs.block_window, self.ring.n_own());
        sum
    }

    /// The running thread ends; the switch so far.
    pub fn leave(&self) -> Sum {
        Sum::of(self.costs.leave)
    }

    /// The windows of the running thread are given up; the next takes their place, unless it has
    /// windows: they are here.
    pub fn give_up(&mut self, windows: &mut Windows, next: Thread, sum: &mut Sum) -> Option<Place> {
        let ring = &mut self.ring;
        ring.set_owner(ring.bottom, None);
        if let Some(place) = ring.place(next) {
            sum.add(self.costs.left_resident);
            return Some(place);
        }
        sum.add(self.costs.left_absent);
        sum.add(self.costs.load);
        windows.floats.load(sum);
        sum.restored += 1;
        ring.set_owner(ring.bottom, Some(next));
        ring.cwp = ring.bottom;
        ring.reserved = ring.above(ring.bottom);
        None
    }

    /// The newest frame of a thread is loaded into this window, and the one above
    /// becomes its reserved window.
    pub fn load(&mut self, windows: &mut Windows, window: u32, sum: &mut Sum) {
        self.ring.reserved = self.ring.above(window);
        let how = self.clear(windows, self.ring.reserved, None, sum);
        sum.add(self.costs.reserve[how]);
        sum.add(self.costs.load);
        windows.floats.load(sum);
        sum.restored += 1;
        self.ring.cwp = window;
        self.ring.bottom = window;
    }

    /// Makes `window` free for `to`: 0 it was, 1 one of several windows was stored, 2 the last of a
    /// thread. A new frame (`to`) needs a reserved window too.
    pub fn clear(
        &mut self,
        windows: &mut Windows,
        window: u32,
        to: Option<Thread>,
        sum: &mut Sum,
    ) -> usize {
        let Some(owner) = self.ring.owner(window) else {
            self.ring.set_owner(window, to);
            return 0;
        };
        sum.spilled += 1;
        self.count_fragment(windows, u32::from(to.is_none()), 1 + u32::from(to.is_some()));
        1 + usize::from(self.ring.store_lowest(owner, to))
    }

    /// A window of a suspended thread is about to be stored; `n_needed` free ones would do, beside
    /// `n_claimed` that the running thread has.
    fn count_fragment(&self, windows: &mut Windows, n_claimed: u32, n_needed: u32) {
        let Some(fragments) = &mut windows.fragments else { return };
        let ring = &self.ring;
        let n_taken: u32 = ring
            .places()
            .map(|place| ring.distance(place.bottom, place.top) + 1 + self.n_reserved)
            .sum();
        fragments.stored += 1;
        fragments.while_free += u64::from(n_taken + n_claimed + n_needed <= ring.n);
    }
}
