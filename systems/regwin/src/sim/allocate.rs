//! Where a thread without windows goes; the steps are those of `allocate.h`.

use super::windows::{Sum, Thread, Windows};
use crate::names::{Allocate, Scheme};

impl Windows {
    /// A thread is suspended with its windows.
    pub(super) fn stamp(&mut self, thread: Thread) {
        if thread >= self.stamps.len() {
            self.stamps.resize(thread + 1, 0);
        }
        self.clock += 1;
        self.stamps[thread] = self.clock;
    }

    /// The window from which the place above is taken.
    pub(super) fn find_place(&mut self, sum: &mut Sum) -> u32 {
        if self.allocate == Allocate::Simple {
            return self.cwp;
        }
        let costs = self.costs.allocate.clone();
        let mut is_taken = vec![false; self.n as usize];
        sum.add(costs.begin);
        for window in (0..self.n).rev() {
            sum.add(costs.next);
            let Some(owner) = self.owner[window as usize] else { continue };
            sum.add(costs.owner);
            let place = self.places[owner].expect("an owner has windows");
            let mut own = place.bottom;
            while own != place.top {
                is_taken[own as usize] = true;
                own = self.above(own);
            }
            is_taken[place.top as usize] = true;
            is_taken[self.above(place.top) as usize] = true;
        }
        sum.add(costs.pairs);
        let fits = |window: u32| !is_taken[window as usize] && !is_taken[self.above(window) as usize];
        // The place is so many windows above the window gone to.
        let n_above = if self.scheme == Scheme::Sp { 2 } else { 1 };
        let near = self.above(self.above(self.cwp));
        if fits(near) {
            if self.scheme == Scheme::Sp {
                return self.cwp;
            }
            sum.add(costs.near);
            return self.above(self.cwp);
        }
        sum.add(costs.elsewhere);
        let from = if let Some(window) = (0..self.n).find(|it| fits(*it)) {
            for _ in 0..window {
                sum.add(costs.bit);
                sum.add(costs.bit_again);
            }
            sum.add(costs.bit);
            sum.add(costs.found);
            window + n_above
        } else {
            sum.add(costs.full);
            if self.allocate == Allocate::Search {
                return self.cwp;
            }
            self.below_oldest(sum) + n_above - 1
        };
        sum.add(costs.place);
        if from >= self.n {
            sum.add(costs.around);
        }
        sum.add(costs.go);
        from % self.n
    }

    /// The window below the lowest one of the thread that has not run for longest.
    fn below_oldest(&self, sum: &mut Sum) -> u32 {
        let costs = &self.costs.allocate;
        let mut oldest: Option<(u32, u32)> = None;
        for window in (0..self.n).rev() {
            sum.add(costs.lru_next);
            let Some(owner) = self.owner[self.above(window) as usize] else { continue };
            sum.add(costs.lru_owner);
            let stamp = self.stamps[owner];
            if oldest.is_none_or(|it| stamp < it.0) {
                sum.add(costs.lru_older);
                oldest = Some((stamp, window));
            }
        }
        sum.add(costs.lru_place);
        oldest.expect("the suspended thread has windows").1
    }
}
