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
//!    thread that has not been looked at since it was suspended (`fresh`) is left its windows, and
//!    the old thread stores its own instead; the second time the neighbour goes. So a thread that
//!    comes back soon keeps them. Each [`SPARED`]th is not spared.
//! 2. **A thread that loses windows is refused.** At the next switches its windows are stored and
//!    not left: once, three times, and so on (`patience`, doubled each time it happens), up to
//!    [`REFUSALS_RICH`] while sharing pays and [`REFUSALS_MAX`] else. One that had come back to
//!    them at least once (`useful`) starts again from nothing.
//! 3. **Sharing has a credit.** A switch to a thread that still has its windows earns
//!    [`CREDIT_GAIN`]; a window that somebody lost costs what is known to be its price (`loss`, by
//!    how many windows the thread had that began to share). Below [`CREDIT_POOR`] sharing does not
//!    pay: no room is found any more, neighbours go one by one, and the next overflow all round
//!    ends it.
//! 4. **After an end in poverty there is a pause**, each four times as long as the last, up to
//!    [`PAUSE_MAX`] switches, then a trial with [`CREDIT_TRIAL`]. So a program for which sharing
//!    never pays does what `ns` does, and phases that change are noticed.
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
/// What a switch to a thread with windows adds to the credit of sharing, which is at most -1.
const CREDIT_GAIN: i32 = 24;
/// Below this sharing does not pay.
const CREDIT_POOR: i32 = -1024;
/// The credit of the first thread that shares after a pause.
const CREDIT_TRIAL: i32 = CREDIT_POOR + 4 * CREDIT_GAIN;
const CREDIT_LEAST: i32 = CREDIT_POOR - CREDIT_GAIN;
const PAUSE_MAX: u32 = 1023;
/// Each so many neighbours that have run since the last look, one is not spared.
const SPARED: u32 = 64;

/// What is known of a thread beside its windows.
#[derive(Debug, Clone, Copy, Default)]
struct Past {
    /// At so many switches its windows are not left.
    refusals: u32,
    /// What it was refused last.
    patience: u32,
    /// It was suspended with its windows since they were left for a thread without windows.
    useful: bool,
    /// No thread looked for room at its windows since it was suspended.
    fresh: bool,
}

#[derive(Debug)]
struct Adaptive {
    ring: Ring,
    costs: AdaptiveCosts,
    /// The running thread is alone: it has all windows.
    alone: bool,
    /// What the running thread is refused, if it is alone.
    lone_refusals: u32,
    /// Suspended threads with windows.
    n_others: u32,
    /// What sharing has brought.
    credit: i32,
    /// What a lost window takes from that.
    loss: i32,
    /// Neighbours that were left their windows, modulo [`SPARED`].
    n_spared: u32,
    /// So many times more a thread that is alone leaves no windows.
    pause: u32,
    /// How often that was after sharing ended last.
    paused: u32,
    pasts: Vec<Past>,
}

impl Adaptive {
    /// The boot thread, alone.
    fn new(n: u32, costs: AdaptiveCosts) -> Adaptive {
        Adaptive {
            ring: Ring::new(n),
            costs,
            alone: true,
            lone_refusals: 0,
            n_others: 0,
            credit: CREDIT_TRIAL,
            loss: 0,
            n_spared: 0,
            pause: 0,
            paused: 0,
            pasts: Vec::new(),
        }
    }

    /// Sharing does not pay.
    fn is_poor(&self) -> bool {
        self.credit < CREDIT_POOR
    }

    /// A switch to a thread with windows.
    fn pays(&mut self) {
        self.credit = (self.credit + CREDIT_GAIN).min(-1);
    }

    fn past(&mut self, thread: Thread) -> &mut Past {
        if thread >= self.pasts.len() {
            self.pasts.resize(thread + 1, Past::default());
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
                self.n_others = 0;
                // Nothing is refused to a thread that comes to be alone like this.
                self.lone_refusals = 0;
                windows.overflow(1, self.costs.overflow_own[usize::from(poor)]);
            }
            Some(owner) => {
                let loss = self.lost(owner);
                let last = self.ring.store_lowest(owner, None);
                self.n_others -= u32::from(last);
                windows.overflow(1, self.costs.overflow_other[usize::from(last)][loss as usize]);
            }
        }
    }

    /// A thread lost a window.
    fn lost(&mut self, thread: Thread) -> Loss {
        let is_rich = !self.is_poor();
        self.credit = if is_rich { self.credit - self.loss } else { CREDIT_LEAST };
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

    /// The running thread is alone again. True if sharing did not pay: there is a pause, each
    /// time four times as long, and a trial after it.
    fn end_sharing(&mut self) -> bool {
        let poor = self.is_poor();
        self.alone = true;
        self.paused = if poor { (4 * self.paused + 3) & PAUSE_MAX } else { 0 };
        if poor {
            self.credit = CREDIT_TRIAL;
        }
        self.pause = self.paused;
        poor
    }

    fn leave_or_store(&mut self, old: Thread, next: Thread, sum: &mut Sum) {
        if next == old {
            // Only a broken trace says so.
            return;
        }
        if self.alone && self.lone_refusals > 0 {
            self.past(old).refusals = self.lone_refusals - 1;
            sum.add(self.costs.lone_refused);
            self.lone_flush(next, sum);
            return;
        }
        if let Some(place) = self.ring.place(next) {
            self.leave_windows(old, self.ring.reserved, true);
            self.pays();
            self.resume(place);
            sum.add(self.costs.resident);
            return;
        }
        sum.add(self.costs.absent);
        if self.alone {
            sum.add(self.costs.lone_look);
            let pauses = self.pause > 0;
            if pauses {
                self.pause -= 1;
                sum.add(self.costs.lone_pause);
            } else {
                sum.add(self.costs.lone_room);
            }
            if !pauses && self.ring.distance(self.ring.cwp, self.ring.reserved) > 3 {
                let n_own = self.ring.n_own();
                sum.add(self.costs.lone_leave);
                sum.add_times(self.costs.lone_down, n_own);
                self.loss = loss_of(n_own);
                self.ring.set_owner(self.ring.bottom, Some(old));
                self.alone = false;
                self.n_others = 1;
                self.leave_windows(old, self.ring.above(self.ring.cwp), false);
                self.enter(next, sum);
            } else {
                let past = self.past(old);
                past.patience = (2 * past.patience + 1).min(REFUSALS_MAX);
                past.refusals = past.patience;
                sum.add(self.costs.lone_narrow);
                self.lone_flush(next, sum);
            }
            return;
        }
        sum.add(self.costs.shared_absent);
        let past = self.past(old);
        if past.refusals > 0 {
            past.refusals -= 1;
            sum.add(self.costs.shared_refused);
            self.shared_flush(next, sum);
        } else if self.finds_room(old, sum) {
            sum.add(self.costs.shared_leave);
            self.n_others += 1;
            self.leave_windows(old, self.ring.above(self.ring.cwp), false);
            self.enter(next, sum);
        } else {
            self.shared_flush(next, sum);
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
            if std::mem::take(&mut self.past(owner).fresh) {
                sum.add(self.costs.neighbour_fresh);
                self.n_spared = (self.n_spared + 1) % SPARED;
                if self.n_spared > 0 {
                    sum.add(self.costs.neighbour_spared);
                    return false;
                }
            }
            let place = self.ring.place(owner).expect("an owner has windows");
            let n_stored = self.ring.distance(place.bottom, place.top) + 1;
            self.ring.set_owner(place.bottom, None);
            self.ring.set_place(owner, None);
            self.n_others -= 1;
            sum.spilled += n_stored;
            let loss = self.lost(owner);
            sum.add(self.costs.neighbour_stale[loss as usize]);
            sum.add_times(self.costs.evict_next, n_stored);
            if self.is_poor() {
                sum.add(self.costs.neighbour_last);
                return false;
            }
        }
    }

    fn leave_windows(&mut self, old: Thread, reserved: u32, useful: bool) {
        self.ring.suspend(old, reserved);
        let past = self.past(old);
        past.useful = useful;
        past.fresh = true;
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

    fn lone_flush(&mut self, next: Thread, sum: &mut Sum) {
        sum.add(self.costs.lone_flush_switch);
        self.stores_own(sum, self.costs.block_next, self.costs.block_again);
        self.lone_load(next, sum);
    }

    fn lone_load(&mut self, next: Thread, sum: &mut Sum) {
        sum.restored += 1;
        sum.add(self.costs.lone_load);
        self.ring.cwp = self.ring.bottom;
        self.ring.reserved = self.ring.below(self.ring.bottom);
        self.lone_refusals = self.past(next).refusals;
    }

    fn shared_flush(&mut self, next: Thread, sum: &mut Sum) {
        sum.add(self.costs.shared_flush);
        self.stores_own(sum, self.costs.flush_next, self.costs.flush_again);
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
            self.pays();
            self.resume(place);
            sum.add(self.costs.inherit_resident);
        } else if self.n_others == 0 {
            self.ring.set_owner(self.ring.bottom, None);
            let poor = self.end_sharing();
            sum.add(self.costs.inherit_alone[usize::from(poor)]);
            self.lone_load(next, sum);
        } else {
            self.ring.set_owner(self.ring.bottom, Some(next));
            sum.restored += 1;
            sum.add(self.costs.inherit_shared);
        }
    }
}

/// What a lost window takes from the credit, where the thread that began to share had so many. To
/// store, load and trap for `n` windows costs some `2n - 1` times a fourth of what the two traps
/// for a lost one do.
fn loss_of(n: u32) -> i32 {
    (2 * 4 * CREDIT_GAIN / (2 * n as i32 - 1) + 1) / 2
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
                self.lone_flush(next, &mut sum);
            } else {
                self.shared_flush(next, &mut sum);
            }
        }
        self.ring.set_place(next, None);
        windows.switched(next, &sum);
    }

    fn leave(&mut self, windows: &mut Windows, next: Thread) {
        let mut sum = Sum::of(self.costs.leave);
        windows.floats.next(next, self.ring.place(next).is_some(), &mut sum);
        if self.alone {
            self.lone_load(next, &mut sum);
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
