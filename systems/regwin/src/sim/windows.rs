//! Windows as positions: what each scheme's traps and switches do to them, step by step as the assembly does it.

use super::adaptive::State;
use super::cost::{Adds, Cost, Costs};
use super::spans::Spans;
use crate::counts::{Counts, Cycles};
use crate::names::{Allocate, Scheme};

/// A thread by number; the boot thread has none, it leaves before anything is counted.
pub type Thread = usize;

/// Where the windows of a suspended thread are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub top: u32,
    pub bottom: u32,
    /// Windows above the newest one up to here are the thread's for calls.
    pub reserved: u32,
}

/// The windows of one machine.
#[derive(Debug)]
pub struct Windows {
    pub(super) scheme: Scheme,
    pub(super) allocate: Allocate,
    pub(super) n: u32,
    pub(super) costs: Costs,
    /// Of each suspended thread that has resident windows.
    pub(super) places: Vec<Option<Place>>,
    /// By window: the thread whose lowest resident window it is.
    pub(super) owner: Vec<Option<Thread>>,
    pub(super) running: Option<Thread>,
    /// Current window, reserved window, lowest window of the running thread.
    pub(super) cwp: u32,
    pub(super) reserved: u32,
    pub(super) bottom: u32,
    /// Windows of the running thread, where they are not shared.
    n_used: u32,
    pub(super) overflows: u64,
    pub(super) underflows: u64,
    pub(super) finished: u64,
    pub(super) spilled: u64,
    pub(super) restored: u64,
    traps: Cost,
    spans: Spans,
    pub(super) adaptive: State,
    /// Allocation `lru`: switches so far, and at which each thread was suspended.
    pub(super) clock: u32,
    pub(super) stamps: Vec<u32>,
    /// What the running thread is refused, if it is alone.
    pub(super) lone_refusals: u32,
    frozen: Option<Box<Counts>>,
    /// Counted if wanted.
    pub(super) fragments: Option<Fragments>,
}

/// External fragmentation: windows of suspended threads that are stored although enough are free elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fragments {
    /// Windows of suspended threads stored to make room.
    pub stored: u64,
    /// Of these, while as many free windows as were needed lay elsewhere.
    pub while_free: u64,
}

/// A switch in the making.
#[derive(Default)]
pub(super) struct Sum {
    pub spilled: u32,
    pub restored: u32,
    cost: Cost,
}

impl Sum {
    pub fn add(&mut self, cost: Cost) {
        self.cost = [self.cost[0] + cost[0], self.cost[1] + cost[1]];
    }

    /// So many times.
    pub fn add_times(&mut self, cost: Cost, times: u32) {
        self.add(cost.map(|it| it * u64::from(times)));
    }
}

impl Windows {
    /// All windows free.
    pub fn new(scheme: Scheme, allocate: Allocate, n: u32, costs: Costs) -> Windows {
        Windows {
            scheme,
            allocate,
            n,
            costs,
            places: Vec::new(),
            owner: vec![None; n as usize],
            running: None,
            cwp: 0,
            reserved: n - 1,
            bottom: 0,
            n_used: 1,
            overflows: 0,
            underflows: 0,
            finished: 0,
            spilled: 0,
            restored: 0,
            traps: [0; 2],
            spans: Spans::new(),
            adaptive: State::new(),
            clock: 0,
            stamps: Vec::new(),
            lone_refusals: 0,
            frozen: None,
            fragments: None,
        }
    }

    /// A window of a suspended thread is about to be stored; `n_needed` free ones would do, beside `n_claimed` that the
    /// running thread has.
    fn count_fragment(&mut self, n_claimed: u32, n_needed: u32) {
        if self.fragments.is_none() {
            return;
        }
        let reserved = u32::from(self.scheme != Scheme::Snp);
        let n_taken: u32 = self.places.iter().flatten().map(|it| self.distance(it.bottom, it.top) + 1 + reserved).sum();
        let fragments = self.fragments.get_or_insert_default();
        fragments.stored += 1;
        fragments.while_free += u64::from(n_taken + n_claimed + n_needed <= self.n);
    }

    /// Counts nothing from here on.
    pub fn freeze(&mut self) {
        self.frozen = Some(Box::new(self.counts()));
    }

    /// Restores that a handler finished: nobody executes them.
    pub fn n_finished(&self) -> u64 {
        self.finished
    }

    pub(super) fn above(&self, window: u32) -> u32 {
        if window == 0 { self.n - 1 } else { window - 1 }
    }

    pub(super) fn below(&self, window: u32) -> u32 {
        if window + 1 == self.n { 0 } else { window + 1 }
    }

    /// Windows from `window` up to `to`.
    pub(super) fn distance(&self, window: u32, to: u32) -> u32 {
        if window >= to { window - to } else { window + self.n - to }
    }

    pub(super) fn trap(&mut self, cost: Cost) {
        self.traps = [self.traps[0] + cost[0], self.traps[1] + cost[1]];
    }

    /// True if the thread is suspended and has resident windows.
    pub fn is_resident(&self, thread: Thread) -> bool {
        self.places.get(thread).is_some_and(Option::is_some)
    }

    /// The running thread executes `save`. True if it trapped.
    #[inline]
    pub fn save(&mut self) -> bool {
        match self.scheme {
            Scheme::Flat => false,
            Scheme::Ns => {
                if self.n_used + 1 < self.n {
                    self.n_used += 1;
                    return false;
                }
                self.overflows += 1;
                self.spilled += 1;
                self.trap(self.costs.overflow);
                true
            }
            Scheme::Adaptive => {
                self.cwp = self.above(self.cwp);
                let traps = self.cwp == self.reserved;
                if traps {
                    self.adaptive_overflow();
                }
                traps
            }
            Scheme::Snp | Scheme::Sp => {
                let next = self.above(self.cwp);
                self.cwp = next;
                if next != self.reserved {
                    return false;
                }
                self.overflows += 1;
                self.reserved = self.above(next);
                let cost = match self.owner[self.reserved as usize] {
                    None => self.costs.overflow_free,
                    Some(owner) if Some(owner) == self.running => {
                        self.owner[self.reserved as usize] = None;
                        self.bottom = self.above(self.reserved);
                        self.owner[self.bottom as usize] = Some(owner);
                        self.spilled += 1;
                        self.costs.overflow_own
                    }
                    Some(owner) => {
                        self.spilled += 1;
                        self.count_fragment(self.distance(self.bottom, self.cwp) + 1, 1);
                        let last = self.store_lowest(owner, None);
                        self.costs.overflow_other[usize::from(last)]
                    }
                };
                self.trap(cost);
                true
            }
        }
    }

    /// The running thread executes a `restore`. True if a handler finished it.
    #[inline]
    pub fn restore(&mut self, adds: Adds) -> bool {
        match self.scheme {
            Scheme::Flat => false,
            Scheme::Ns => {
                if self.n_used > 1 {
                    self.n_used -= 1;
                    return false;
                }
                self.underflows += 1;
                self.restored += 1;
                self.trap(self.costs.underflow);
                false
            }
            Scheme::Adaptive if self.cwp == self.bottom => self.adaptive_underflow(self.costs.underflow_in_place[adds.form()]),
            Scheme::Snp | Scheme::Sp | Scheme::Adaptive => {
                if self.cwp != self.bottom {
                    self.cwp = self.below(self.cwp);
                    return false;
                }
                self.underflows += 1;
                self.restored += 1;
                self.finished += 1;
                self.trap(self.costs.underflow_in_place[adds.form()]);
                true
            }
        }
    }

    /// The running thread stores all its windows but the current one.
    pub fn flush(&mut self) {
        let n_stored = match self.scheme {
            Scheme::Flat => return,
            Scheme::Ns => std::mem::replace(&mut self.n_used, 1) - 1,
            Scheme::Adaptive => {
                let n_stored = self.distance(self.bottom, self.cwp);
                self.spilled += u64::from(n_stored);
                return self.adaptive_flushed(n_stored);
            }
            Scheme::Snp | Scheme::Sp => {
                let n_stored = self.distance(self.bottom, self.cwp);
                self.owner[self.bottom as usize] = None;
                self.bottom = self.cwp;
                self.owner[self.bottom as usize] = self.running;
                n_stored
            }
        };
        self.spilled += u64::from(n_stored);
        self.trap(self.costs.flush);
        for _ in 0..n_stored {
            self.trap(self.costs.flush_window);
        }
    }

    /// Stores the lowest window of a suspended thread; its window is `to`'s then. True if it was the last.
    pub(super) fn store_lowest(&mut self, thread: Thread, to: Option<Thread>) -> bool {
        let place = self.places[thread].expect("an owner has windows");
        self.owner[place.bottom as usize] = to;
        if place.bottom == place.top {
            self.places[thread] = None;
            return true;
        }
        let bottom = self.above(place.bottom);
        self.places[thread] = Some(Place { bottom, ..place });
        self.owner[bottom as usize] = Some(thread);
        false
    }

    /// Makes `window` free for `to`: 0 it was, 1 one of several windows was stored, 2 the last of a thread. A new frame
    /// (`to`) needs a reserved window too.
    fn clear(&mut self, window: u32, to: Option<Thread>, sum: &mut Sum) -> usize {
        let Some(owner) = self.owner[window as usize] else {
            self.owner[window as usize] = to;
            return 0;
        };
        sum.spilled += 1;
        self.count_fragment(u32::from(to.is_none()), 1 + u32::from(to.is_some()));
        1 + usize::from(self.store_lowest(owner, to))
    }

    /// The running thread is suspended, its windows stay (or are stored, where they are not shared).
    pub fn block(&mut self, next: Thread) {
        let mut sum = Sum { cost: self.costs.block, ..Sum::default() };
        match self.scheme {
            Scheme::Flat => {
                sum.spilled = 1;
                sum.restored = 1;
                sum.add(self.costs.resident);
            }
            Scheme::Ns => {
                sum.add_times(self.costs.block_window, self.n_used);
                sum.add_times(self.costs.block_again, self.n_used - 1);
                sum.spilled = self.n_used;
                sum.restored = 1;
                sum.add(self.costs.resident);
                self.n_used = 1;
            }
            Scheme::Adaptive => self.adaptive_block(next, &mut sum),
            Scheme::Snp | Scheme::Sp => {
                let old = self.running.expect("a thread blocks");
                self.stamp(old);
                self.set_place(old, Some(Place { top: self.cwp, bottom: self.bottom, reserved: self.above(self.cwp) }));
                if let Some(place) = self.places.get(next).copied().flatten() {
                    self.resume(place, &mut sum);
                } else {
                    self.enter_above(next, &mut sum);
                }
            }
        }
        self.finish(next, &sum);
    }

    /// The running thread is suspended, and none of its windows stays.
    pub fn block_flush(&mut self, next: Thread) {
        match self.scheme {
            Scheme::Flat | Scheme::Ns => self.block(next),
            Scheme::Adaptive => {
                let mut sum = Sum::default();
                self.adaptive_block_flush(next, &mut sum);
                self.finish(next, &sum);
            }
            Scheme::Snp | Scheme::Sp => {
                let mut sum = Sum { cost: self.costs.block_flush, ..Sum::default() };
                sum.spilled = self.distance(self.bottom, self.cwp) + 1;
                sum.add_times(self.costs.flush_next, sum.spilled);
                self.go_to_left(next, &mut sum);
                self.finish(next, &sum);
            }
        }
    }

    /// The windows of the running thread are given up; the next takes their place, unless it has windows.
    fn go_to_left(&mut self, next: Thread, sum: &mut Sum) {
        self.owner[self.bottom as usize] = None;
        if let Some(place) = self.places.get(next).copied().flatten() {
            sum.add(self.costs.left[0]);
            self.resume(place, sum);
        } else {
            sum.add(self.costs.left[1]);
            sum.add(self.costs.load);
            sum.restored += 1;
            self.owner[self.bottom as usize] = Some(next);
            self.cwp = self.bottom;
            self.reserved = self.above(self.bottom);
        }
    }

    /// The running thread has ended; the next runs.
    pub fn leave(&mut self, next: Thread) {
        let mut sum = Sum { cost: self.costs.leave, ..Sum::default() };
        match self.scheme {
            Scheme::Flat | Scheme::Ns => {
                sum.restored = 1;
                sum.add(self.costs.resident);
                self.n_used = 1;
            }
            Scheme::Adaptive => self.adaptive_leave(next, &mut sum),
            Scheme::Snp | Scheme::Sp => self.go_to_left(next, &mut sum),
        }
        self.finish(next, &sum);
    }

    fn resume(&mut self, place: Place, sum: &mut Sum) {
        self.cwp = place.top;
        self.bottom = place.bottom;
        self.reserved = self.above(place.top);
        if self.scheme == Scheme::Snp && self.owner[self.reserved as usize].is_some() {
            let how = self.clear(self.reserved, None, sum);
            sum.add(self.costs.resident_taken[how - 1]);
        } else {
            sum.add(self.costs.resident);
        }
    }

    /// A thread without windows gets one above those of the suspended thread, or where the allocation says.
    fn enter_above(&mut self, next: Thread, sum: &mut Sum) {
        let from = self.find_place(sum);
        sum.add(self.costs.absent);
        let above = self.above(from);
        let window = if self.scheme == Scheme::Sp { self.above(above) } else { above };
        if self.scheme == Scheme::Sp || self.allocate == Allocate::Lru {
            let how = self.clear(window, Some(next), sum);
            sum.add(self.costs.newest[how]);
        } else {
            self.owner[window as usize] = Some(next);
        }
        self.reserved = self.above(window);
        let how = self.clear(self.reserved, None, sum);
        sum.add(self.costs.reserve[how]);
        sum.add(self.costs.load);
        sum.restored += 1;
        self.cwp = window;
        self.bottom = window;
    }

    pub(super) fn set_place(&mut self, thread: Thread, place: Option<Place>) {
        match self.places.get_mut(thread) {
            Some(it) => *it = place,
            None => {
                self.places.resize(thread + 1, None);
                self.places[thread] = place;
            }
        }
    }

    fn finish(&mut self, next: Thread, sum: &Sum) {
        self.set_place(next, None);
        self.running = Some(next);
        self.spilled += u64::from(sum.spilled);
        self.restored += u64::from(sum.restored);
        self.spans.count(sum.spilled, sum.restored, sum.cost);
    }

    /// What was counted; the application's part is left open.
    pub fn counts(&self) -> Counts {
        if let Some(frozen) = &self.frozen {
            return (**frozen).clone();
        }
        let spans = self.spans.sorted();
        let switches = |machine: usize| spans.iter().map(|it| u64::from(it.cycles[machine]) * it.times).sum();
        let cycles = |machine: usize| Cycles { application: 0, traps: self.traps[machine], switches: switches(machine) };
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
