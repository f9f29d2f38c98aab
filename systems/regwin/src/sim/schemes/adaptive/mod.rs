//! `adaptive`: a thread is alone in the windows or shares them; a switch leaves windows or stores
//! them.
//!
//! Leaving windows in the registers saves a thread the stores and loads of a switch, if it comes
//! back before another thread takes them. If not, it has gained nothing, and the others had fewer
//! windows meanwhile. Which of the two it will be depends on calls and switches still to come, so
//! `adaptive` bets and keeps accounts, in counters that cost a switch a few instructions:
//!
//! - **Alone.** One thread owns all windows, as under `ns`: its overflows look for nobody, and they
//!   cost what they cost without threads. All begins so. At a switch to a thread without windows it
//!   stores its windows, or leaves them there and sharing begins.
//! - **Shared.** Several threads have windows; a reserved one separates each from the next, as
//!   under `sp`. It ends when the running thread has overflowed all the way round and meets its
//!   own.
//!
//! What is counted, from the cheapest lesson to the dearest:
//!
//! 1. **A neighbour is spared once.** A switch that needs room looks at the three windows above. A
//!    thread whose lowest window is there gives up what lies up to the fourth. One that would keep
//!    hardly any (none further away than [`NEAR`]) is left all of them if it has not been looked at
//!    since it was suspended (`fresh`), and the old thread stores its own instead. So a thread that
//!    comes back soon keeps them. Each [`SPARED`]th is not spared.
//! 2. **A thread that loses windows is refused.** At the next switches its windows are stored and
//!    not left: once, three times, and so on (`patience`, doubled each time it happens), up to
//!    [`REFUSALS_RICH`] while sharing pays and [`REFUSALS_MAX`] else. One that had come back to
//!    them at least once (`useful`) starts again from nothing.
//! 3. **Sharing has an account**, in cycles: what its switches would have cost without it, less
//!    what they cost. What a switch to a thread would have cost is known of each thread (`gain`):
//!    the mean of the windows that it stored at the switches before which it had one window, as it
//!    has after each without sharing. Below [`CREDIT_POOR`] sharing does not pay: no room is found
//!    any more, neighbours go one by one, and the next overflow all round ends it.
//! 4. **After an end in poverty there is a pause**, each four times as long as the last, up to
//!    [`PAUSE_MAX`] switches; then [`SAMPLES`] switches at which windows are counted, then a trial
//!    with [`CREDIT_TRIAL`]. So a program for which sharing never pays does what `ns` does, and
//!    phases that change are noticed. After an end that is not one in poverty the last pause is
//!    repeated; there is none once a switch that stored found the account above [`CREDIT_RICH`].
//!
//! The steps are those of `switch_adaptive.S` and `overflow_adaptive.S`, and so are all costs; what
//! runs under QEMU and what runs here must count the same.

mod costs;

pub use costs::AdaptiveCosts;
use costs::Loss;

use super::Rules;
use super::ring::{Place, Ring};
use crate::sim::cost::Sum;
use crate::sim::cost::{Adds, Cost};
use crate::sim::event::Thread;
use crate::sim::windows::Windows;

/// Most switches in a row at which a thread is refused, and while sharing pays, as in `adaptive.h`.
const REFUSALS_MAX: u32 = 63;
const REFUSALS_RICH: u32 = 3;
/// The account of sharing is at most -1. From here on it has paid.
const CREDIT_RICH: i32 = -2000;
/// Below this sharing does not pay.
const CREDIT_POOR: i32 = -4000;
/// The account after an end in poverty: what a trial begins with.
const CREDIT_TRIAL: i32 = -3600;
const CREDIT_LEAST: i32 = -4096;
/// What a thread gains for each window that it would store, load and trap for.
const GAIN: i32 = 80;
/// What a thread is thought to gain before it is known.
const GAIN_FIRST: i32 = 160;
/// A switch that stores the old thread's windows costs so much more than without sharing.
const COST_STORED: i32 = 72;
/// A window that an overflow takes from its thread.
const COST_LOST: i32 = 144;
/// The windows that a switch takes from a thread.
const COST_EVICTED: i32 = 224;
const PAUSE_MAX: u32 = 4095;
/// The last so many switches before a trial count the windows.
const SAMPLES: u32 = 3;
/// A neighbour without windows further away than this is spared.
const NEAR: u32 = 6;
/// Each so many neighbours that have run since the last look, one is not spared.
const SPARED: u32 = 64;

/// What is known of a thread beside its windows.
#[derive(Debug, Clone, Copy)]
struct Past {
    /// At so many switches its windows are not left.
    refusals: u32,
    /// What it was refused last.
    patience: u32,
    /// What storing, loading and trapping for its windows costs on the average
    /// where nothing is shared, in cycles.
    gain: i32,
    /// It was suspended with its windows since it was loaded.
    left: bool,
    /// It was suspended with its windows since they were left for a thread without windows.
    useful: bool,
    /// No thread looked for room at its windows since it was suspended.
    fresh: bool,
}

impl Past {
    const NONE: Past = Past {
        refusals: 0,
        patience: 0,
        gain: GAIN_FIRST,
        left: false,
        useful: false,
        fresh: false,
    };
}

#[derive(Debug)]
struct Adaptive {
    ring: Ring,
    costs: AdaptiveCosts,
    /// The running thread is alone: it has all windows.
    alone: bool,
    /// So many times more a thread that is alone leaves no windows.
    pause: u32,
    /// After that so many switches count windows.
    n_samples: u32,
    /// How long the last pause was; 0 if sharing paid since.
    paused: u32,
    /// How long the last trial waited for a thread with room above it.
    narrow: u32,
    /// Suspended threads with windows.
    n_others: u32,
    /// What sharing has brought.
    credit: i32,
    /// Neighbours that were left their windows, modulo [`SPARED`].
    n_spared: u32,
    pasts: Vec<Past>,
}

impl Adaptive {
    /// The boot thread, alone.
    fn new(n: u32, costs: AdaptiveCosts) -> Adaptive {
        Adaptive {
            ring: Ring::new(n),
            costs,
            alone: true,
            pause: 0,
            n_samples: 0,
            paused: 0,
            narrow: 0,
            n_others: 0,
            credit: CREDIT_TRIAL,
            n_spared: 0,
            pasts: Vec::new(),
        }
    }

    /// Sharing does not pay.
    fn is_poor(&self) -> bool {
        self.credit < CREDIT_POOR
    }

    /// A switch to this thread, which has windows.
    fn pays(&mut self, next: Thread) {
        self.credit = (self.credit + self.past(next).gain).min(-1);
    }

    /// Of this thread a switch stored so many windows where nothing was shared.
    fn sample(&mut self, thread: Thread, n_stored: u32) {
        let past = self.past(thread);
        past.gain += (GAIN * n_stored as i32 - past.gain) >> 2;
    }

    fn past(&mut self, thread: Thread) -> &mut Past {
        if thread >= self.pasts.len() {
            self.pasts.resize(thread + 1, Past::NONE);
        }
        &mut self.pasts[thread]
    }

    /// Into the reserved window, which is the current one now.
    fn overflow(&mut self, windows: &mut Windows) {
        let reserved = self.ring.above(self.ring.cwp);
        self.ring.reserved = reserved;
        if self.alone {
            self.ring.bottom = self.ring.above(reserved);
            return windows.overflow(1, self.costs.lone_overflow);
        }
        match self.ring.owner(reserved) {
            None => windows.overflow(0, self.costs.overflow_free),
            Some(owner) if Some(owner) == windows.running => {
                self.ring.set_owner(reserved, None);
                self.ring.bottom = self.ring.above(reserved);
                let poor = self.end_sharing();
                self.past(owner).left = false;
                self.n_others = 0;
                windows.overflow(1, self.costs.overflow_own[usize::from(poor)]);
            }
            Some(owner) => {
                let loss = self.lost(owner);
                let last = self.ring.store_lowest(owner, None);
                if last {
                    self.is_gone(owner);
                }
                windows.overflow(1, self.costs.overflow_other[usize::from(last)][loss as usize]);
            }
        }
    }

    /// A suspended thread has no window any more.
    fn is_gone(&mut self, thread: Thread) {
        self.n_others -= 1;
        self.past(thread).left = false;
    }

    /// A thread lost a window.
    fn lost(&mut self, thread: Thread) -> Loss {
        let is_rich = !self.is_poor();
        self.credit = if is_rich { self.credit - COST_LOST } else { CREDIT_LEAST };
        let past = self.past(thread);
        let loss = match (is_rich, past.useful) {
            (false, _) => Loss::Poor,
            (true, false) => Loss::Useless,
            (true, true) => Loss::Useful,
        };
        if loss == Loss::Useful {
            past.patience = 0;
        } else {
            let most = if loss == Loss::Poor { REFUSALS_MAX } else { REFUSALS_RICH };
            past.patience = (2 * past.patience + 1) & most;
            past.refusals = past.patience;
        }
        loss
    }

    /// The running thread is alone again. True if sharing did not pay: the pause is four times as
    /// long as the last, and a trial follows it; else it is as long as the last.
    fn end_sharing(&mut self) -> bool {
        let poor = self.is_poor();
        self.alone = true;
        if poor {
            self.paused = (4 * self.paused + 3) & PAUSE_MAX;
            self.credit = CREDIT_TRIAL;
        }
        self.n_samples = self.paused & SAMPLES;
        self.pause = self.paused - self.n_samples;
        poor
    }

    fn leave_or_store(&mut self, old: Thread, next: Thread, sum: &mut Sum) {
        if next == old {
            // Only a broken trace says so.
            return;
        }
        if self.alone && self.pause > 0 {
            self.pause -= 1;
            sum.add(self.costs.lone_pause);
            self.lone_flush(sum);
            return;
        }
        if !self.alone {
            // The instruction that counts a pause counts here, too.
            self.credit -= 1;
        }
        if let Some(place) = self.ring.place(next) {
            self.leave_windows(old, self.ring.reserved, true);
            self.pays(next);
            self.resume(place);
            sum.add(self.costs.resident);
            return;
        }
        sum.add(self.costs.absent);
        if self.alone {
            sum.add(self.costs.lone_look);
            if self.n_samples > 0 {
                self.n_samples -= 1;
                self.sample(old, self.ring.n_own());
                sum.add(self.costs.lone_sample);
                self.stores_own(sum, self.costs.sample_next, self.costs.sample_again);
                self.lone_load(sum);
                return;
            }
            sum.add(self.costs.lone_room);
            if self.ring.distance(self.ring.cwp, self.ring.reserved) > 3 {
                let n_own = self.ring.n_own();
                sum.add(self.costs.lone_leave);
                sum.add_times(self.costs.lone_down, n_own);
                self.narrow = 0;
                self.sample(old, n_own);
                self.ring.set_owner(self.ring.bottom, Some(old));
                self.alone = false;
                self.n_others = 1;
                self.leave_windows(old, self.ring.above(self.ring.cwp), false);
                self.enter(next, sum);
            } else {
                self.narrow = (2 * self.narrow + 1) & REFUSALS_MAX;
                self.pause = self.narrow;
                sum.add(self.costs.lone_narrow);
                self.lone_flush(sum);
            }
            return;
        }
        sum.add(self.costs.shared_absent);
        let past = self.past(old);
        if past.refusals > 0 {
            past.refusals -= 1;
            sum.add(self.costs.shared_refused);
            self.shared_flush(old, next, sum);
        } else if self.finds_room(old, sum) {
            sum.add(self.costs.shared_leave);
            self.n_others += 1;
            self.leave_windows(old, self.ring.above(self.ring.cwp), false);
            self.enter(next, sum);
        } else {
            self.shared_flush(old, next, sum);
        }
    }

    /// Looks for room above the running thread; a neighbour that was looked at before goes. If
    /// sharing does not pay there is none, and the nearest thread counts as a neighbour.
    fn finds_room(&mut self, old: Thread, sum: &mut Sum) -> bool {
        sum.add(self.costs.shared_look);
        let poor = self.is_poor();
        if poor {
            sum.add(self.costs.shared_poor);
            if self.n_others == 0 {
                return false;
            }
            sum.add(self.costs.shared_others);
        }
        loop {
            if !poor {
                sum.add(self.costs.shared_room);
                if self.ring.distance(self.ring.cwp, self.ring.reserved) > 3 {
                    return true;
                }
            }
            let mut window = self.ring.cwp;
            let mut neighbour = None;
            for _ in 0..if poor { self.ring.n } else { 3 } {
                sum.add(self.costs.look_next);
                if window == 0 {
                    sum.add(self.costs.look_around);
                }
                window = self.ring.above(window);
                if let Some(owner) = self.ring.owner(self.ring.above(window)) {
                    neighbour = Some(owner);
                    break;
                }
                sum.add(self.costs.look_free);
            }
            let Some(owner) = neighbour else { return true };
            sum.add(self.costs.look_neighbour);
            if owner == old {
                return false;
            }
            sum.add(self.costs.neighbour_other);
            let place = self.ring.place(owner).expect("an owner has windows");
            if self.past(owner).fresh {
                sum.add(self.costs.neighbour_fresh);
                if place.top > self.ring.cwp {
                    sum.add(self.costs.neighbour_around);
                }
                sum.add(self.costs.neighbour_above);
                if self.ring.distance(self.ring.cwp, place.top) <= NEAR {
                    sum.add(self.costs.neighbour_near);
                    self.n_spared = (self.n_spared + 1) % SPARED;
                    if self.n_spared > 0 {
                        self.past(owner).fresh = false;
                        sum.add(self.costs.neighbour_spared);
                        return false;
                    }
                }
            }
            sum.add(self.costs.neighbour_stale);
            if !poor {
                sum.add(self.costs.neighbour_shrinks);
                if self.ring.cwp < 4 {
                    sum.add(self.costs.neighbour_end);
                }
            }
            sum.add(self.costs.neighbour_goes);
            let keeps = self.evict(owner, place, poor, sum);
            let loss = self.lost(owner);
            self.credit -= COST_EVICTED - COST_LOST;
            sum.add(self.costs.evict_counts[loss as usize]);
            if self.is_poor() {
                sum.add(self.costs.neighbour_last);
                return false;
            }
            sum.add(self.costs.neighbour_gone);
            if keeps {
                return true;
            }
            sum.add(self.costs.neighbour_again);
        }
    }

    /// A neighbour's windows up to the fourth above this one are stored, or all. True if others
    /// of its windows are left.
    fn evict(&mut self, owner: Thread, place: Place, all: bool, sum: &mut Sum) -> bool {
        let n_all = self.ring.distance(place.bottom, place.top) + 1;
        let n_near = 5 - self.ring.distance(self.ring.cwp, place.bottom).min(4);
        let keeps = !all && n_near < n_all;
        let n_stored = if keeps { n_near } else { n_all };
        sum.spilled += n_stored;
        sum.add_times(self.costs.evict_next, n_stored);
        for _ in 0..n_stored {
            self.ring.store_lowest(owner, None);
        }
        if keeps {
            sum.add_times(self.costs.evict_on, n_stored);
            sum.add(self.costs.evict_more);
        } else {
            sum.add_times(self.costs.evict_on, n_stored - 1);
            sum.add(self.costs.evict_last);
            self.is_gone(owner);
        }
        keeps
    }

    fn leave_windows(&mut self, old: Thread, reserved: u32, useful: bool) {
        self.ring.suspend(old, reserved);
        let past = self.past(old);
        past.useful = useful;
        past.fresh = true;
        past.left = true;
    }

    fn resume(&mut self, place: Place) {
        (self.ring.cwp, self.ring.bottom, self.ring.reserved) =
            (place.top, place.bottom, place.reserved);
    }

    /// Above the reserved window of the suspended thread, with a window for a call.
    fn enter(&mut self, next: Thread, sum: &mut Sum) {
        self.ring.cwp = self.ring.above(self.ring.above(self.ring.cwp));
        self.ring.bottom = self.ring.cwp;
        self.ring.reserved = self.ring.above(self.ring.above(self.ring.cwp));
        self.ring.set_owner(self.ring.bottom, Some(next));
        sum.restored += 1;
        sum.add(self.costs.enter);
    }

    fn stores_own(&mut self, sum: &mut Sum, window: Cost, again: Cost) {
        let n_own = self.ring.n_own();
        sum.add_times(window, n_own);
        sum.add_times(again, n_own - 1);
        sum.spilled += n_own;
        self.ring.cwp = self.ring.bottom;
    }

    fn lone_flush(&mut self, sum: &mut Sum) {
        sum.add(self.costs.lone_flush_switch);
        self.stores_own(sum, self.costs.block_next, self.costs.block_again);
        self.lone_load(sum);
    }

    fn lone_load(&mut self, sum: &mut Sum) {
        sum.restored += 1;
        sum.add(self.costs.lone_load);
        self.ring.cwp = self.ring.bottom;
        self.ring.reserved = self.ring.below(self.ring.bottom);
    }

    fn shared_flush(&mut self, old: Thread, next: Thread, sum: &mut Sum) {
        let n_own = self.ring.n_own();
        sum.add(self.costs.shared_flush);
        self.stores_own(sum, self.costs.flush_next, self.costs.flush_again);
        self.credit -= COST_STORED;
        debug_assert!(self.credit > 4 * CREDIT_LEAST, "the account has a floor");
        let left = std::mem::take(&mut self.past(old).left);
        if self.credit > CREDIT_RICH {
            self.paused = 0;
            sum.add(self.costs.shared_rich);
        } else {
            sum.add(self.costs.shared_counts);
            if !left {
                self.sample(old, n_own);
                sum.add(self.costs.shared_gains);
            }
        }
        self.inherit(next, sum);
    }

    /// The next thread takes the place of the one that goes, if it has no windows.
    fn inherit(&mut self, next: Thread, sum: &mut Sum) {
        self.ring.cwp = self.ring.bottom;
        sum.add(self.costs.inherit);
        if self.ring.bottom + 1 == self.ring.n {
            sum.add(self.costs.inherit_around);
        }
        if let Some(place) = self.ring.place(next) {
            self.ring.set_owner(self.ring.bottom, None);
            self.n_others -= 1;
            self.pays(next);
            self.resume(place);
            sum.add(self.costs.inherit_resident);
        } else if self.n_others == 0 {
            self.ring.set_owner(self.ring.bottom, None);
            let poor = self.end_sharing();
            sum.add(self.costs.inherit_alone[usize::from(poor)]);
            self.lone_load(sum);
        } else {
            self.ring.set_owner(self.ring.bottom, Some(next));
            sum.restored += 1;
            sum.add(self.costs.inherit_shared);
        }
    }
}

impl Rules for Adaptive {
    #[inline]
    fn save(&mut self, windows: &mut Windows) -> bool {
        self.ring.cwp = self.ring.above(self.ring.cwp);
        let traps = self.ring.cwp == self.ring.reserved;
        if traps {
            self.overflow(windows);
        }
        traps
    }

    #[inline]
    fn restore(&mut self, windows: &mut Windows, adds: Adds) -> bool {
        if self.ring.cwp != self.ring.bottom {
            self.ring.cwp = self.ring.below(self.ring.cwp);
            return false;
        }
        if self.alone {
            self.ring.cwp = self.ring.below(self.ring.cwp);
            self.ring.bottom = self.ring.cwp;
            self.ring.reserved = self.ring.below(self.ring.bottom);
            windows.underflow(self.costs.lone_underflow);
            return false;
        }
        windows.underflow_in_place(self.costs.underflow[adds.form()]);
        true
    }

    fn flush(&mut self, windows: &mut Windows) {
        if self.alone {
            let n_stored = self.ring.n_own() - 1;
            self.ring.bottom = self.ring.cwp;
            self.ring.reserved = self.ring.below(self.ring.bottom);
            windows.flush(n_stored, self.costs.lone_flush, self.costs.lone_flush_window);
        } else {
            let n_stored = self.ring.flush(windows.running);
            windows.flush(n_stored, self.costs.flush, self.costs.flush_window);
        }
    }

    fn block(&mut self, windows: &mut Windows, next: Thread) {
        let mut sum = Sum::default();
        let old = windows.running.expect("a thread blocks");
        let has_windows = self.ring.place(next).is_some();
        // Only a broken trace has a thread follow itself.
        if next != old {
            self.leave_or_store(old, next, &mut sum);
        }
        if self.ring.place(old).is_some() {
            windows.floats.leave(old);
        }
        windows.floats.next(next, has_windows, &mut sum);
        self.ring.set_place(next, None);
        windows.switched(next, &sum);
    }

    fn block_flush(&mut self, windows: &mut Windows, next: Thread) {
        let mut sum = Sum::default();
        windows.floats.next(next, self.ring.place(next).is_some(), &mut sum);
        if windows.running != Some(next) {
            sum.add(self.costs.block_flush);
            if self.alone {
                self.lone_flush(&mut sum);
            } else {
                sum.add(self.costs.flush_shared);
                if self.is_poor() {
                    self.credit = CREDIT_LEAST;
                    sum.add(self.costs.flush_least);
                }
                let old = windows.running.expect("a thread blocks");
                self.shared_flush(old, next, &mut sum);
            }
        }
        self.ring.set_place(next, None);
        windows.switched(next, &sum);
    }

    fn leave(&mut self, windows: &mut Windows, next: Thread) {
        let mut sum = Sum::of(self.costs.leave);
        // Whoever begins in its record begins anew.
        if let Some(ended) = windows.running {
            let past = self.past(ended);
            (past.gain, past.left) = (GAIN_FIRST, false);
        }
        windows.floats.next(next, self.ring.place(next).is_some(), &mut sum);
        if self.alone {
            self.lone_load(&mut sum);
        } else {
            sum.add(self.costs.leave_shared);
            self.inherit(next, &mut sum);
        }
        self.ring.set_place(next, None);
        windows.switched(next, &sum);
    }

    fn is_resident(&self, thread: Thread) -> bool {
        self.ring.place(thread).is_some()
    }
}
