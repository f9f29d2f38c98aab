//! The adaptive scheme's rules: alone in the registers or sharing them, leaving windows or storing them.
//!
//! The steps are those of `switch_adaptive.S` and `overflow_adaptive.S`.

use super::cost::{AdaptiveCosts, Cost, Loss};
use super::windows::{Place, Sum, Thread, Windows};

/// Most switches in a row at which a thread is refused, and while sharing pays, as in `window.h`.
const REFUSALS_MAX: u32 = 63;
const REFUSALS_RICH: u32 = 3;
/// The credit of sharing: a switch to a thread with windows adds one, a lost window takes one.
const CREDIT_MAX: u32 = 30;
/// From here on sharing pays.
const CREDIT_RICH: u32 = 2;
/// The longest pause.
const PAUSE_MAX: u32 = 1023;

/// What is known of a thread beside its windows.
#[derive(Debug, Clone, Copy, Default)]
struct Past {
    /// At so many switches its windows are not left.
    refusals: u32,
    /// What it was refused last.
    patience: u32,
    /// It was suspended with its windows since they were left for a thread without windows.
    useful: bool,
    /// Nobody looked for room at its windows since it was suspended.
    fresh: bool,
}

/// What the scheme knows.
#[derive(Debug)]
pub struct State {
    /// The running thread is alone: it has all windows.
    alone: bool,
    /// Suspended threads with windows.
    n_others: u32,
    /// What sharing has brought.
    credit: u32,
    /// So many times more nobody who is alone leaves windows.
    pause: u32,
    /// How often that was after sharing ended last.
    paused: u32,
    pasts: Vec<Past>,
}

impl State {
    /// The boot thread, alone.
    pub fn new() -> State {
        State { alone: true, n_others: 0, credit: 0, pause: 0, paused: 0, pasts: Vec::new() }
    }

    /// Sharing does not pay.
    fn is_poor(&self) -> bool {
        self.credit < CREDIT_RICH
    }
}

impl Windows {
    fn past(&mut self, thread: Thread) -> &mut Past {
        let pasts = &mut self.adaptive.pasts;
        if thread >= pasts.len() {
            pasts.resize(thread + 1, Past::default());
        }
        &mut pasts[thread]
    }

    fn cost(&self) -> &AdaptiveCosts {
        &self.costs.adaptive
    }

    /// An overflow into the reserved window, which is the current one now.
    pub(super) fn adaptive_overflow(&mut self) {
        self.overflows += 1;
        let reserved = self.above(self.cwp);
        self.reserved = reserved;
        if self.adaptive.alone {
            self.bottom = self.above(reserved);
            self.spilled += 1;
            return self.trap(self.cost().lone_overflow);
        }
        match self.owner[reserved as usize] {
            None => self.trap(self.costs.overflow_free),
            Some(owner) if Some(owner) == self.running => {
                self.owner[reserved as usize] = None;
                self.bottom = self.above(reserved);
                let poor = self.alone();
                self.adaptive.n_others = 0;
                self.spilled += 1;
                // Nothing is refused to a thread that comes to be alone like this.
                self.lone_refusals = 0;
                self.trap(self.cost().overflow_own[usize::from(poor)]);
            }
            Some(owner) => {
                self.spilled += 1;
                let loss = self.lost(owner);
                let last = self.store_lowest(owner, None);
                self.adaptive.n_others -= u32::from(last);
                self.trap(self.cost().overflow_other[usize::from(last)][loss as usize]);
            }
        }
    }

    /// An underflow. True if the handler finished the restore.
    pub(super) fn adaptive_underflow(&mut self, in_place: Cost) -> bool {
        self.underflows += 1;
        self.restored += 1;
        if self.adaptive.alone {
            self.cwp = self.below(self.cwp);
            self.bottom = self.cwp;
            self.reserved = self.below(self.bottom);
            self.trap(self.cost().lone_underflow);
            return false;
        }
        self.finished += 1;
        self.trap(in_place);
        true
    }

    /// The running thread has stored all its windows but the current one.
    pub(super) fn adaptive_flushed(&mut self, n_stored: u32) {
        if self.adaptive.alone {
            self.bottom = self.cwp;
            self.reserved = self.below(self.bottom);
            self.trap(self.cost().lone_flush);
            for _ in 0..n_stored {
                self.trap(self.cost().lone_flush_window);
            }
        } else {
            self.owner[self.bottom as usize] = None;
            self.bottom = self.cwp;
            self.owner[self.bottom as usize] = self.running;
            self.trap(self.costs.flush);
            for _ in 0..n_stored {
                self.trap(self.costs.flush_window);
            }
        }
    }

    /// A thread lost a window.
    fn lost(&mut self, thread: Thread) -> Loss {
        let is_rich = !self.adaptive.is_poor();
        self.adaptive.credit = self.adaptive.credit.saturating_sub(if is_rich { 1 } else { CREDIT_MAX });
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

    /// The running thread is alone again. True if sharing did not pay: there is a pause, each time twice as long.
    fn alone(&mut self) -> bool {
        let state = &mut self.adaptive;
        let poor = state.is_poor();
        state.alone = true;
        state.paused = if poor { (2 * state.paused + 1) & PAUSE_MAX } else { 0 };
        state.pause = state.paused;
        poor
    }

    fn n_own(&self) -> u32 {
        self.distance(self.bottom, self.cwp) + 1
    }

    pub(super) fn adaptive_block(&mut self, next: Thread, sum: &mut Sum) {
        let old = self.running.expect("a thread blocks");
        if next == old {
            // Only a broken trace says so.
            return;
        }
        if self.adaptive.alone && self.lone_refusals > 0 {
            self.past(old).refusals = self.lone_refusals - 1;
            sum.add(self.cost().lone_refused);
            self.lone_flush(next, sum);
            return;
        }
        if let Some(place) = self.places.get(next).copied().flatten() {
            self.leave_windows(old, self.reserved, true);
            self.adaptive.credit = (self.adaptive.credit + 1).min(CREDIT_MAX);
            self.adaptive_resume(place);
            sum.add(self.cost().resident);
            return;
        }
        sum.add(self.cost().absent);
        if self.adaptive.alone {
            sum.add(self.cost().lone_look);
            let pauses = self.adaptive.pause > 0;
            if pauses {
                self.adaptive.pause -= 1;
                sum.add(self.cost().lone_pause);
            } else {
                sum.add(self.cost().lone_room);
            }
            if !pauses && self.distance(self.cwp, self.reserved) > 3 {
                sum.add(self.cost().lone_leave);
                sum.add_times(self.cost().lone_down, self.n_own());
                self.owner[self.bottom as usize] = Some(old);
                self.adaptive.alone = false;
                self.adaptive.n_others = 1;
                self.leave_windows(old, self.above(self.cwp), false);
                self.adaptive_enter(next, sum);
            } else {
                let past = self.past(old);
                past.patience = (2 * past.patience + 1).min(REFUSALS_MAX);
                past.refusals = past.patience;
                sum.add(self.cost().lone_narrow);
                self.lone_flush(next, sum);
            }
            return;
        }
        sum.add(self.cost().shared_absent);
        let past = self.past(old);
        if past.refusals > 0 {
            past.refusals -= 1;
            sum.add(self.cost().shared_refused);
            self.shared_flush(next, sum);
        } else if self.finds_room(sum) {
            sum.add(self.cost().shared_leave);
            self.adaptive.n_others += 1;
            self.leave_windows(old, self.above(self.cwp), false);
            self.adaptive_enter(next, sum);
        } else {
            self.shared_flush(next, sum);
        }
    }

    pub(super) fn adaptive_block_flush(&mut self, next: Thread, sum: &mut Sum) {
        if self.running == Some(next) {
            return;
        }
        sum.add(self.cost().block_flush);
        if self.adaptive.alone {
            self.lone_flush(next, sum);
        } else {
            self.shared_flush(next, sum);
        }
    }

    /// Looks for room above the running thread; a neighbour that was looked at before goes. If sharing does not pay
    /// there is none, and the nearest thread counts as a neighbour.
    fn finds_room(&mut self, sum: &mut Sum) -> bool {
        sum.add(self.cost().shared_look);
        let poor = self.adaptive.is_poor();
        if poor {
            sum.add(self.cost().shared_poor);
            if self.adaptive.n_others == 0 {
                return false;
            }
            sum.add(self.cost().shared_others);
        }
        loop {
            if !poor {
                sum.add(self.cost().shared_room);
                if self.distance(self.cwp, self.reserved) > 3 {
                    return true;
                }
            }
            let mut window = self.cwp;
            let mut neighbour = None;
            for _ in 0..if poor { self.n } else { 3 } {
                sum.add(self.cost().look_next);
                if window == 0 {
                    sum.add(self.cost().look_around);
                }
                window = self.above(window);
                if let Some(owner) = self.owner[self.above(window) as usize] {
                    neighbour = Some(owner);
                    break;
                }
                sum.add(self.cost().look_free);
            }
            let Some(owner) = neighbour else { return true };
            sum.add(self.cost().look_neighbour);
            if Some(owner) == self.running {
                return false;
            }
            sum.add(self.cost().neighbour_other);
            if std::mem::take(&mut self.past(owner).fresh) {
                sum.add(self.cost().neighbour_fresh);
                return false;
            }
            let place = self.places[owner].expect("an owner has windows");
            let n_stored = self.distance(place.bottom, place.top) + 1;
            self.owner[place.bottom as usize] = None;
            self.places[owner] = None;
            self.adaptive.n_others -= 1;
            sum.spilled += n_stored;
            let loss = self.lost(owner);
            sum.add(self.cost().neighbour_stale[loss as usize]);
            sum.add_times(self.cost().evict_next, n_stored);
            if self.adaptive.is_poor() {
                sum.add(self.cost().neighbour_last);
                return false;
            }
        }
    }

    fn leave_windows(&mut self, old: Thread, reserved: u32, useful: bool) {
        self.set_place(old, Some(Place { top: self.cwp, bottom: self.bottom, reserved }));
        let past = self.past(old);
        past.useful = useful;
        past.fresh = true;
    }

    fn adaptive_resume(&mut self, place: Place) {
        (self.cwp, self.bottom, self.reserved) = (place.top, place.bottom, place.reserved);
    }

    /// Above the reserved window of the suspended thread, with a window for a call.
    fn adaptive_enter(&mut self, next: Thread, sum: &mut Sum) {
        self.cwp = self.above(self.above(self.cwp));
        self.bottom = self.cwp;
        self.reserved = self.above(self.above(self.cwp));
        self.owner[self.bottom as usize] = Some(next);
        sum.restored += 1;
        sum.add(self.cost().enter);
    }

    fn stores_own(&mut self, sum: &mut Sum, window: Cost, again: Cost) {
        let n_own = self.n_own();
        sum.add_times(window, n_own);
        sum.add_times(again, n_own - 1);
        sum.spilled += n_own;
        self.cwp = self.bottom;
    }

    fn lone_flush(&mut self, next: Thread, sum: &mut Sum) {
        sum.add(self.cost().lone_flush_switch);
        self.stores_own(sum, self.cost().block_next, self.cost().block_again);
        self.lone_load(next, sum);
    }

    fn lone_load(&mut self, next: Thread, sum: &mut Sum) {
        sum.restored += 1;
        sum.add(self.cost().lone_load);
        self.cwp = self.bottom;
        self.reserved = self.below(self.bottom);
        self.lone_refusals = self.past(next).refusals;
    }

    fn shared_flush(&mut self, next: Thread, sum: &mut Sum) {
        sum.add(self.cost().shared_flush);
        self.stores_own(sum, self.cost().flush_next, self.cost().flush_again);
        self.inherit(next, sum);
    }

    /// The next thread takes the place of the one that goes, if it has no windows.
    fn inherit(&mut self, next: Thread, sum: &mut Sum) {
        self.cwp = self.bottom;
        sum.add(self.cost().inherit);
        if self.bottom + 1 == self.n {
            sum.add(self.cost().inherit_around);
        }
        if let Some(place) = self.places.get(next).copied().flatten() {
            self.owner[self.bottom as usize] = None;
            self.adaptive.n_others -= 1;
            self.adaptive.credit = (self.adaptive.credit + 1).min(CREDIT_MAX);
            self.adaptive_resume(place);
            sum.add(self.cost().inherit_resident);
        } else if self.adaptive.n_others == 0 {
            self.owner[self.bottom as usize] = None;
            let poor = self.alone();
            sum.add(self.cost().inherit_alone[usize::from(poor)]);
            self.lone_load(next, sum);
        } else {
            self.owner[self.bottom as usize] = Some(next);
            sum.restored += 1;
            sum.add(self.cost().inherit_shared);
        }
    }

    pub(super) fn adaptive_leave(&mut self, next: Thread, sum: &mut Sum) {
        sum.add(self.cost().leave);
        if self.adaptive.alone {
            self.lone_load(next, sum);
        } else {
            sum.add(self.cost().leave_shared);
            self.inherit(next, sum);
        }
    }
}
