//! `sp`: windows are shared, and each thread has a private reserved window above its newest.

use super::allocate::Allocation;
use super::ring::Place;
use super::sharing::{Clear, Sharing, SharingCosts, clear, largest};
use super::{Costs, Rules};
use crate::names::Allocate;
use crate::sim::cost::Sum;
use crate::sim::cost::{Adds, Blocks, Cost, plus};
use crate::sim::event::Thread;
use crate::sim::windows::Windows;

#[derive(Debug, Clone)]
pub struct SpCosts {
    sharing: SharingCosts,
    /// The next thread is resident: mask and state are loaded.
    resident: Cost,
    absent: Cost,
    /// The window at its place.
    newest: Clear,
    allocate: Allocate,
}

impl SpCosts {
    pub fn new(allocate: Allocate, blocks: Blocks) -> SpCosts {
        SpCosts {
            sharing: SharingCosts::new(blocks),
            resident: blocks.sum(&["resident"]),
            absent: blocks.sum(&["absent_free"]),
            newest: clear(blocks, "newest"),
            allocate,
        }
    }
}

impl Costs for SpCosts {
    fn rules(&self, n: u32) -> Box<dyn Rules> {
        let allocation = Allocation::new(self.allocate, 2);
        Box::new(Sp {
            sharing: Sharing::new(n, 1, allocation, self.sharing.clone()),
            costs: self.clone(),
        })
    }

    fn worst_switch(&self, n: u32, machine: usize) -> (u64, u64) {
        let enters = plus(self.absent, largest(&self.newest));
        (self.sharing.worst_switch(n, self.resident, enters)[machine], 0)
    }
}

#[derive(Debug)]
struct Sp {
    sharing: Sharing,
    costs: SpCosts,
}

impl Sp {
    fn resume(&mut self, windows: &mut Windows, next: Thread, place: Place, sum: &mut Sum) {
        windows.floats.resume(next);
        let ring = &mut self.sharing.ring;
        ring.cwp = place.top;
        ring.bottom = place.bottom;
        ring.reserved = ring.above(place.top);
        sum.add(self.costs.resident);
    }

    /// A thread without windows gets one above the reserved window of the suspended one, or
    /// where the allocation says.
    fn enter(&mut self, windows: &mut Windows, next: Thread, sum: &mut Sum) {
        let sharing = &mut self.sharing;
        let from = sharing.allocation.find_place(&sharing.ring, &sharing.costs.search, sum);
        sum.add(self.costs.absent);
        let window = sharing.ring.above(sharing.ring.above(from));
        let how = sharing.clear(windows, window, Some(next), sum);
        sum.add(self.costs.newest[how]);
        sharing.load(windows, window, sum);
    }

    fn give_up(&mut self, windows: &mut Windows, next: Thread, mut sum: Sum) {
        if let Some(place) = self.sharing.give_up(windows, next, &mut sum) {
            self.resume(windows, next, place, &mut sum);
        }
        self.sharing.ring.set_place(next, None);
        windows.switched(next, &sum);
    }
}

impl Rules for Sp {
    #[inline]
    fn save(&mut self, windows: &mut Windows) -> bool {
        self.sharing.save(windows)
    }

    #[inline]
    fn restore(&mut self, windows: &mut Windows, adds: Adds) -> bool {
        self.sharing.restore(windows, adds)
    }

    fn flush(&mut self, windows: &mut Windows) {
        self.sharing.flush(windows);
    }

    fn block(&mut self, windows: &mut Windows, next: Thread) {
        let mut sum = Sum::of(self.sharing.costs.block);
        match self.sharing.suspend(windows, next) {
            Some(place) => self.resume(windows, next, place, &mut sum),
            None => self.enter(windows, next, &mut sum),
        }
        self.sharing.ring.set_place(next, None);
        windows.switched(next, &sum);
    }

    fn block_flush(&mut self, windows: &mut Windows, next: Thread) {
        let sum = self.sharing.flush_switch();
        self.give_up(windows, next, sum);
    }

    fn leave(&mut self, windows: &mut Windows, next: Thread) {
        let sum = self.sharing.leave();
        self.give_up(windows, next, sum);
    }

    fn is_resident(&self, thread: Thread) -> bool {
        self.sharing.ring.place(thread).is_some()
    }
}
