//! Where a thread without windows goes; the steps are those of `allocate.h`.

use super::ring::Ring;
use crate::names::Allocate;
use crate::sim::cost::Sum;
use crate::sim::cost::{Blocks, Cost, larger, plus, times};
use crate::sim::event::Thread;

/// The search for a place; the labels of `allocate.h`. Without one everything is 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchCosts {
    /// Before the first window.
    begin: Cost,
    /// Each window is looked at.
    next: Cost,
    /// A thread has its lowest window above it: its windows are taken.
    owner: Cost,
    /// Which windows are free.
    pairs: Cost,
    /// The place near the suspended thread is free, `snp` only: it goes there itself.
    pub near: Cost,
    elsewhere: Cost,
    /// No place is free.
    full: Cost,
    /// A bit of the free places is looked at.
    bit: Cost,
    /// It is not set.
    bit_again: Cost,
    found: Cost,
    /// `lru`: each window is looked at.
    lru_next: Cost,
    /// `lru`: a thread has its lowest window above it.
    lru_owner: Cost,
    /// `lru`: it was suspended before all those looked at so far.
    lru_older: Cost,
    /// `lru`: the place of the oldest.
    lru_place: Cost,
    /// The window to go to.
    place: Cost,
    /// It lies around the end.
    around: Cost,
    go: Cost,
}

impl SearchCosts {
    pub fn new(blocks: Blocks) -> SearchCosts {
        let sum = |labels: &[&str]| blocks.sum(labels);
        if !blocks.has("allocate") {
            return SearchCosts::default();
        }
        let mut costs = SearchCosts {
            begin: sum(&["allocate"]),
            next: sum(&["allocate_next", "allocate_on"]),
            owner: sum(&["allocate_owner"]),
            pairs: sum(&["allocate_pairs"]),
            elsewhere: sum(&["allocate_elsewhere"]),
            full: sum(&["allocate_full"]),
            bit: sum(&["allocate_bit"]),
            bit_again: sum(&["allocate_bit_again"]),
            found: sum(&["allocate_found"]),
            place: sum(&["allocate_place"]),
            around: sum(&["allocate_around"]),
            go: sum(&["allocate_go"]),
            ..SearchCosts::default()
        };
        if blocks.has("lru_next") {
            costs.lru_next = sum(&["lru_next", "lru_on"]);
            costs.lru_owner = sum(&["lru_owner"]);
            costs.lru_older = sum(&["lru_older"]);
            costs.lru_place = sum(&["lru_place"]);
        }
        costs
    }

    /// The longest search with `n` windows.
    pub fn worst(&self, n: u64) -> Cost {
        let add = |costs: &[Cost]| costs.iter().copied().fold([0; 2], plus);
        let look =
            add(&[self.begin, times(n, plus(self.next, self.owner)), self.pairs, self.elsewhere]);
        let free = plus(times(n, plus(self.bit, self.bit_again)), self.found);
        let full = add(&[
            self.full,
            times(n, add(&[self.lru_next, self.lru_owner, self.lru_older])),
            self.lru_place,
        ]);
        add(&[look, larger(free, full), self.place, self.around, self.go])
    }
}

/// How places are found, and what is known for it.
#[derive(Debug)]
pub struct Allocation {
    how: Allocate,
    /// The place is so many windows above the window gone to.
    n_above: u32,
    /// `lru`: switches so far, and at which each thread was suspended.
    clock: u32,
    stamps: Vec<u32>,
}

impl Allocation {
    pub fn new(how: Allocate, n_above: u32) -> Allocation {
        Allocation { how, n_above, clock: 0, stamps: Vec::new() }
    }

    /// A thread is suspended with its windows.
    pub fn stamp(&mut self, thread: Thread) {
        if thread >= self.stamps.len() {
            self.stamps.resize(thread + 1, 0);
        }
        self.clock += 1;
        self.stamps[thread] = self.clock;
    }

    /// The window from which the place above is taken.
    pub fn find_place(&self, ring: &Ring, costs: &SearchCosts, sum: &mut Sum) -> u32 {
        if self.how == Allocate::Simple {
            return ring.cwp;
        }
        let mut is_taken = vec![false; ring.n as usize];
        sum.add(costs.begin);
        for window in (0..ring.n).rev() {
            sum.add(costs.next);
            let Some(owner) = ring.owner(window) else { continue };
            sum.add(costs.owner);
            let place = ring.place(owner).expect("an owner has windows");
            let mut own = place.bottom;
            while own != place.top {
                is_taken[own as usize] = true;
                own = ring.above(own);
            }
            is_taken[place.top as usize] = true;
            is_taken[ring.above(place.top) as usize] = true;
        }
        sum.add(costs.pairs);
        let fits =
            |window: u32| !is_taken[window as usize] && !is_taken[ring.above(window) as usize];
        let near = ring.above(ring.above(ring.cwp));
        if fits(near) {
            sum.add(costs.near);
            // The rest of the switch goes up from there.
            return if self.n_above == 2 { ring.cwp } else { ring.above(ring.cwp) };
        }
        sum.add(costs.elsewhere);
        let from = if let Some(window) = (0..ring.n).find(|idx| fits(*idx)) {
            sum.add_times(plus(costs.bit, costs.bit_again), window);
            sum.add(costs.bit);
            sum.add(costs.found);
            window + self.n_above
        } else {
            sum.add(costs.full);
            if self.how == Allocate::Search {
                return ring.cwp;
            }
            self.below_oldest(ring, costs, sum) + self.n_above - 1
        };
        sum.add(costs.place);
        if from >= ring.n {
            sum.add(costs.around);
        }
        sum.add(costs.go);
        from % ring.n
    }

    /// The window below the lowest one of the thread that has not run for longest.
    fn below_oldest(&self, ring: &Ring, costs: &SearchCosts, sum: &mut Sum) -> u32 {
        let mut oldest: Option<(u32, u32)> = None;
        for window in (0..ring.n).rev() {
            sum.add(costs.lru_next);
            let Some(owner) = ring.owner(ring.above(window)) else { continue };
            sum.add(costs.lru_owner);
            let stamp = self.stamps[owner];
            if oldest.is_none_or(|oldest| stamp < oldest.0) {
                sum.add(costs.lru_older);
                oldest = Some((stamp, window));
            }
        }
        sum.add(costs.lru_place);
        oldest.expect("the suspended thread has windows").1
    }
}
