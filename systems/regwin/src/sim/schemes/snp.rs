//! `snp`: windows are shared, with one reserved window that moves above the thread that runs.

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
pub struct SnpCosts {
    sharing: SharingCosts,
    /// The next thread is resident, and the window above it is free; one of several of a
    /// thread; a thread's last.
    resident: Clear,
    /// It is not resident, and its place is the reserved window, or the free one that was found.
    absent: Cost,
    /// With `lru`, the window at its place: it may be taken.
    newest: Clear,
    allocate: Allocate,
}

impl SnpCosts {
    pub fn new(allocate: Allocate, blocks: Blocks) -> SnpCosts {
        let taken = clear(blocks, "resume")
            .map(|clear| plus(clear, blocks.sum(&["resident", "above_taken"])));
        let (absent, newest) = if blocks.has("newest_free") {
            (blocks.sum(&["allocate_done"]), clear(blocks, "newest"))
        } else {
            (blocks.sum(&["absent_free", "take_reserve"]), [[0; 2]; 3])
        };
        let mut sharing = SharingCosts::new(blocks);
        if blocks.has("allocate") {
            sharing.search.near = blocks.sum(&["allocate_near"]);
        }
        SnpCosts {
            sharing,
            resident: [blocks.sum(&["resident", "above_free"]), taken[1], taken[2]],
            absent,
            newest,
            allocate,
        }
    }
}

impl Costs for SnpCosts {
    fn rules(&self, n: u32) -> Box<dyn Rules> {
        let allocation = Allocation::new(self.allocate, 1);
        Box::new(Snp {
            sharing: Sharing::new(n, 0, allocation, self.sharing.clone()),
            costs: self.clone(),
        })
    }

    fn worst_switch(&self, n: u32, machine: usize) -> (u64, u64) {
        let enters = plus(self.absent, largest(&self.newest));
        (self.sharing.worst_switch(n, largest(&self.resident), enters)[machine], 0)
    }
}

#[derive(Debug)]
struct Snp {
    sharing: Sharing,
    costs: SnpCosts,
}

impl Snp {
    /// The reserved window moves above the thread that is resumed.
    fn resume(&mut self, windows: &mut Windows, next: Thread, place: Place, sum: &mut Sum) {
        windows.floats.resume(next);
        let ring = &mut self.sharing.ring;
        ring.cwp = place.top;
        ring.bottom = place.bottom;
        ring.reserved = ring.above(place.top);
        let how = self.sharing.clear(windows, self.sharing.ring.reserved, None, sum);
        sum.add(self.costs.resident[how]);
    }

    /// A thread without windows gets the reserved window of the suspended one, or one
    /// where the allocation says.
    fn enter(&mut self, windows: &mut Windows, next: Thread, sum: &mut Sum) {
        let sharing = &mut self.sharing;
        let from = sharing.allocation.find_place(&sharing.ring, &sharing.costs.search, sum);
        sum.add(self.costs.absent);
        let window = sharing.ring.above(from);
        if self.costs.allocate == Allocate::Lru {
            let how = sharing.clear(windows, window, Some(next), sum);
            sum.add(self.costs.newest[how]);
        } else {
            sharing.ring.set_owner(window, Some(next));
        }
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

impl Rules for Snp {
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
