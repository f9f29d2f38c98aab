//! What the pieces of the adaptive scheme cost; the labels of its assembly.

use super::Adaptive;
use crate::sim::cost::{Adds, Blocks, Cost, plus};
use crate::sim::schemes::{Costs, Rules};

/// What the loss of a window says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Sharing does not pay.
    Poor,
    /// It does, but this thread did not come back to its windows.
    Useless,
    Useful,
}

/// The pieces that paths through the scheme's traps and switches are made of.
#[derive(Debug, Clone)]
pub struct AdaptiveCosts {
    /// Overflow of a thread that is alone.
    pub lone_overflow: Cost,
    /// Underflow of a thread that is alone.
    pub lone_underflow: Cost,
    /// Flush trap of a thread that is alone, without the windows that it stores.
    pub lone_flush: Cost,
    /// Each window that it stores.
    pub lone_flush_window: Cost,
    /// Overflow into a free window.
    pub overflow_free: Cost,
    /// Overflow into the thread's own oldest window: it is alone; if sharing paid, and if not.
    pub overflow_own: [Cost; 2],
    /// Overflow into another thread's lowest window, one of several or its last, by [`Loss`].
    pub overflow_other: [[Cost; 3]; 2],
    /// Underflow, in place, by what the restore adds.
    pub underflow: [Cost; Adds::N_FORMS],
    /// Flush trap while windows are shared, without the windows that it stores.
    pub flush: Cost,
    /// Each window that it stores.
    pub flush_window: Cost,
    /// The first block of a switch that stores all windows.
    pub block_flush: Cost,
    /// Windows are shared: does that pay?
    pub flush_shared: Cost,
    /// It does not: the account falls no further.
    pub flush_least: Cost,
    /// A switch that leaves windows, to a thread that has windows.
    pub resident: Cost,
    /// A switch of a lone thread in a pause, up to the store.
    pub lone_pause: Cost,
    /// A switch to a thread without windows, up to the question whether the old one is alone.
    pub absent: Cost,
    /// It is: are its windows counted?
    pub lone_look: Cost,
    /// They are, and stored; without the windows.
    pub lone_sample: Cost,
    /// Each window that is counted.
    pub sample_next: Cost,
    /// Between two of them.
    pub sample_again: Cost,
    /// They are not: is there room?
    pub lone_room: Cost,
    /// There is room: the lone thread's windows stay, without what each costs.
    pub lone_leave: Cost,
    /// Each window on the way down to the lowest.
    pub lone_down: Cost,
    /// There is no room, up to the store.
    pub lone_narrow: Cost,
    /// A lone thread's windows are stored, without the windows.
    pub lone_flush_switch: Cost,
    /// Each of its windows.
    pub block_next: Cost,
    /// Between two of them.
    pub block_again: Cost,
    /// A thread is loaded and alone.
    pub lone_load: Cost,
    /// Windows are shared: is the old thread refused?
    pub shared_absent: Cost,
    pub shared_refused: Cost,
    /// It is not: does sharing pay?
    pub shared_look: Cost,
    /// It does: is there room in what the thread has?
    pub shared_room: Cost,
    /// It does not: do others have windows?
    pub shared_poor: Cost,
    pub shared_others: Cost,
    /// A window is looked at.
    pub look_next: Cost,
    /// It lies around the end.
    pub look_around: Cost,
    pub look_free: Cost,
    /// A thread is in the way.
    pub look_neighbour: Cost,
    /// It is not the old one.
    pub neighbour_other: Cost,
    /// It has run since the last look: how far away is its newest window?
    pub neighbour_fresh: Cost,
    pub neighbour_around: Cost,
    pub neighbour_above: Cost,
    /// Not far: is it spared?
    pub neighbour_near: Cost,
    /// It keeps its windows.
    pub neighbour_spared: Cost,
    /// It does not: does sharing pay?
    pub neighbour_stale: Cost,
    /// It does: up to which window?
    pub neighbour_shrinks: Cost,
    pub neighbour_end: Cost,
    pub neighbour_goes: Cost,
    /// Each of its windows that is stored.
    pub evict_next: Cost,
    /// Each but its newest.
    pub evict_on: Cost,
    /// It keeps some of its windows.
    pub evict_more: Cost,
    pub evict_last: Cost,
    /// What that says, by [`Loss`].
    pub evict_counts: [Cost; 3],
    /// Sharing still pays: does it keep some?
    pub neighbour_gone: Cost,
    /// Is there room now?
    pub neighbour_again: Cost,
    /// Sharing does not pay after that.
    pub neighbour_last: Cost,
    /// There is room: the old thread's windows stay.
    pub shared_leave: Cost,
    /// The next thread is loaded above the old one.
    pub enter: Cost,
    /// Windows are shared, the old thread's are stored; without the windows.
    pub shared_flush: Cost,
    /// Each of its windows.
    pub flush_next: Cost,
    /// Between two of them.
    pub flush_again: Cost,
    /// Sharing has paid by then.
    pub shared_rich: Cost,
    /// It has not: are they what it would store where nothing is shared?
    pub shared_counts: Cost,
    /// They are what it would store.
    pub shared_gains: Cost,
    /// The place of the old thread is free.
    pub inherit: Cost,
    /// Its lowest window is the last one of the ring.
    pub inherit_around: Cost,
    /// The next thread has windows.
    pub inherit_resident: Cost,
    /// No other thread has: the next one is alone; if sharing paid, and if not.
    pub inherit_alone: [Cost; 2],
    /// Others have: the next one is loaded into that place.
    pub inherit_shared: Cost,
    /// The end of a thread.
    pub leave: Cost,
    pub leave_shared: Cost,
}

impl AdaptiveCosts {
    pub fn new(blocks: Blocks) -> AdaptiveCosts {
        let sum = |labels: &[&str]| blocks.sum(labels);
        let lost = |name: &str| {
            let rich = format!("{name}_rich");
            let rich = |end: &str| sum(&[&rich, &format!("{name}_{end}")]);
            [sum(&[&format!("{name}_poor")]), rich("useless"), rich("useful")]
        };
        let overflow = plus(blocks.trap("vector_overflow"), sum(&["overflow"]));
        let taken = plus(overflow, sum(&["overflow_taken"]));
        let other = |end: &str| {
            let blocks = sum(&["overflow_other", "overflow_lost", end, "overflow_stored"]);
            lost("overflow").map(|lost| plus(lost, plus(taken, blocks)))
        };
        let alone = |name: &str| {
            let pause = sum(&[&format!("{name}_pause")]);
            [pause, plus(pause, sum(&[&format!("{name}_unpaid")]))]
        };
        let evicted = sum(&["evict_counts", "evict_lost"]);
        let leave = blocks.switch("leave");
        AdaptiveCosts {
            lone_overflow: plus(blocks.trap("vector_overflow_lone"), sum(&["lone_overflow"])),
            lone_underflow: plus(blocks.trap("vector_underflow_lone"), sum(&["lone_underflow"])),
            lone_flush: plus(
                blocks.trap("vector_flush_lone"),
                sum(&["lone_flush_trap", "lone_flush_trap_next", "lone_flush_trap_stored"]),
            ),
            lone_flush_window: sum(&["lone_flush_trap_next", "lone_flush_trap_window"]),
            overflow_free: plus(overflow, sum(&["overflow_free"])),
            overflow_own: alone("own")
                .map(|alone| plus(alone, plus(taken, sum(&["overflow_own"])))),
            overflow_other: ["overflow_more", "overflow_last"].map(other),
            underflow: Adds::each(|form| underflow(blocks, form)),
            flush: plus(
                blocks.trap("vector_flush"),
                sum(&["flush_trap", "flush_trap_next", "flush_trap_stored"]),
            ),
            flush_window: sum(&["flush_trap_next", "flush_trap_window"]),
            block_flush: blocks.switch("flush"),
            flush_shared: sum(&["flush_shared"]),
            flush_least: sum(&["flush_least"]),
            resident: plus(
                leave,
                sum(&["block_decides", "resident_stores", "resident", "thr_to_left"]),
            ),
            lone_pause: leave,
            absent: plus(leave, sum(&["block_decides", "absent"])),
            lone_look: sum(&["lone_look"]),
            lone_sample: sum(&["lone_sample", "sample_gains"]),
            sample_next: sum(&["sample_next"]),
            sample_again: sum(&["sample_again"]),
            lone_room: sum(&["lone_room"]),
            lone_leave: sum(&["lone_leave", "lone_owns"]),
            lone_down: sum(&["lone_down"]),
            lone_narrow: sum(&["lone_narrow"]),
            lone_flush_switch: sum(&["lone_flush"]),
            block_next: sum(&["block_next"]),
            block_again: sum(&["block_again"]),
            lone_load: sum(&["lone_load", "thr_to"]),
            shared_absent: sum(&["shared_absent"]),
            shared_refused: sum(&["shared_refused"]),
            shared_look: sum(&["shared_look"]),
            shared_room: sum(&["shared_room"]),
            shared_poor: sum(&["shared_poor"]),
            shared_others: sum(&["shared_others"]),
            look_next: sum(&["look_next", "look_on"]),
            look_around: sum(&["look_around"]),
            look_free: sum(&["look_free"]),
            look_neighbour: sum(&["look_neighbour"]),
            neighbour_other: sum(&["neighbour_other"]),
            neighbour_fresh: sum(&["neighbour_fresh"]),
            neighbour_around: sum(&["neighbour_around"]),
            neighbour_above: sum(&["neighbour_above"]),
            neighbour_near: sum(&["neighbour_near"]),
            neighbour_spared: sum(&["neighbour_spared"]),
            neighbour_stale: sum(&["neighbour_stale"]),
            neighbour_shrinks: sum(&["neighbour_shrinks"]),
            neighbour_end: sum(&["neighbour_end"]),
            neighbour_goes: sum(&["neighbour_goes"]),
            neighbour_gone: sum(&["neighbour_gone"]),
            neighbour_again: sum(&["neighbour_again"]),
            neighbour_last: sum(&["neighbour_last"]),
            evict_next: sum(&["evict_next"]),
            evict_on: sum(&["evict_on"]),
            evict_more: sum(&["evict_more"]),
            evict_last: sum(&["evict_last"]),
            evict_counts: lost("evict").map(|lost| plus(lost, evicted)),
            shared_leave: sum(&["shared_leave"]),
            enter: sum(&["enter", "thr_to_absent"]),
            shared_flush: sum(&["shared_flush", "shared_stored"]),
            shared_rich: sum(&["shared_rich"]),
            shared_counts: sum(&["shared_counts"]),
            shared_gains: sum(&["shared_gains"]),
            flush_next: sum(&["flush_next"]),
            flush_again: sum(&["flush_again"]),
            inherit: sum(&["inherit", "inherit_below"]),
            inherit_around: sum(&["inherit_around"]),
            inherit_resident: sum(&["inherit_gone", "inherit_resident", "resident", "thr_to_left"]),
            inherit_alone: alone("alone")
                .map(|alone| plus(alone, sum(&["inherit_absent", "inherit_alone"]))),
            inherit_shared: sum(&["inherit_absent", "inherit_shared", "thr_to_inherit"]),
            leave: sum(&["thr_leave"]),
            leave_shared: sum(&["leave_shared"]),
        }
    }
}

/// The blocks of an underflow in place: short ways for what compilers write, and
/// the tables of registers.
fn underflow(blocks: Blocks, form: Adds) -> Cost {
    let begins = plus(blocks.trap("vector_underflow"), blocks.sum(&["underflow"]));
    if form == Adds::NOTHING {
        return plus(begins, blocks.sum(&["underflow_goes", "underflow_plain"]));
    }
    let read = blocks.register("registers_read");
    let operands = match (form.has_register(), form.has_first()) {
        (false, false) => blocks.sum(&["underflow_constant"]),
        (true, false) => plus(
            read,
            blocks.sum(&[
                "underflow_registers",
                "underflow_second",
                "underflow_one",
                "underflow_moved",
            ]),
        ),
        (false, true) => plus(
            read,
            blocks.sum(&[
                "underflow_registers",
                "underflow_first",
                "underflow_both",
                "underflow_added",
            ]),
        ),
        (true, true) => {
            let labels = [
                "underflow_registers",
                "underflow_second",
                "underflow_one",
                "underflow_both",
                "underflow_added",
            ];
            plus(plus(read, read), blocks.sum(&labels))
        }
    };
    let ends = if form.goes_elsewhere() {
        plus(
            blocks.register("registers_written"),
            blocks.sum(&["underflow_elsewhere", "underflow_written"]),
        )
    } else {
        blocks.sum(&["underflow_result"])
    };
    plus(plus(begins, operands), plus(blocks.sum(&["underflow_adds", "underflow_sum"]), ends))
}

impl Costs for AdaptiveCosts {
    fn rules(&self, n: u32) -> Box<dyn Rules> {
        Box::new(Adaptive::new(n, self.clone()))
    }

    /// The longest switch looks at each neighbour, stores all windows of all of them, and
    /// then its own thread's.
    fn worst_switch(&self, n: u32, machine: usize) -> (u64, u64) {
        let of = |cost: Cost| cost[machine];
        let n = u64::from(n);
        let window = (of(self.evict_next) + of(self.evict_on))
            .max(of(self.flush_next) + of(self.flush_again))
            .max(of(self.sample_next) + of(self.sample_again));
        let look = |n: u64| n * (of(self.look_next) + of(self.look_free)) + of(self.look_around);
        let neighbour = of(self.look_neighbour)
            + of(self.neighbour_other)
            + of(self.neighbour_fresh)
            + of(self.neighbour_around)
            + of(self.neighbour_above)
            + of(self.neighbour_near)
            + of(self.neighbour_stale)
            + of(self.neighbour_shrinks)
            + of(self.neighbour_end)
            + of(self.neighbour_goes)
            + of(self.evict_last).max(of(self.evict_more))
            + self.evict_counts.map(of).into_iter().max().unwrap_or(0)
            + of(self.neighbour_gone)
            + of(self.neighbour_again);
        // A neighbour has a window and a reserved one, and goes if its lowest is one of the three
        // above.
        let n_neighbours = 3.min((n - 1) / 2);
        let pays = n_neighbours * (of(self.shared_room) + look(3) + neighbour)
            + of(self.shared_room)
            + look(3);
        let poor = of(self.shared_poor) + of(self.shared_others) + look(n) + neighbour;
        let looks = of(self.shared_look) + pays.max(poor) + of(self.neighbour_last);
        let flush = of(self.shared_refused).max(of(self.neighbour_spared))
            + of(self.shared_flush)
            + of(self.shared_rich).max(of(self.shared_counts) + of(self.shared_gains))
            + of(self.inherit)
            + of(self.inherit_around);
        let alone = self.inherit_alone.map(of).into_iter().max().unwrap_or(0) + of(self.lone_load);
        let ends = alone.max(of(self.inherit_shared)).max(of(self.inherit_resident));
        let enters = of(self.shared_leave).max(of(self.lone_leave) + (n - 1) * of(self.lone_down))
            + of(self.enter);
        let lone = of(self.lone_look)
            + of(self.lone_sample)
                .max(of(self.lone_room) + of(self.lone_narrow) + of(self.lone_flush_switch))
            + of(self.lone_load);
        let begins = of(self.block_flush)
            + of(self.absent)
            + of(self.shared_absent)
            + of(self.leave)
            + of(self.leave_shared);
        (
            begins + looks + (n - 1) * window + (flush + ends).max(enters).max(lone),
            (n - 2) * of(self.lone_underflow),
        )
    }
}
