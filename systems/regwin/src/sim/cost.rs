//! What the blocks of handlers and switches cost: read from the image, by the symbols that name them.

use machine::in_order::Core;

use crate::code::{self, Code};
use crate::image::Recipe;
use crate::names::{Allocate, Scheme};
use crate::sparc;

/// Cycles on the two machines.
pub type Cost = [u64; 2];

/// The pieces that paths through handlers and switches are made of.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    /// Window overflow, not shared.
    pub overflow: Cost,
    /// Window underflow, not shared.
    pub underflow: Cost,
    /// Overflow into a free window.
    pub overflow_free: Cost,
    /// Overflow into the thread's own oldest.
    pub overflow_own: Cost,
    /// Overflow into another thread's lowest, of several; its last.
    pub overflow_other: [Cost; 2],
    /// Underflow, in place, by what the restore adds.
    pub underflow_in_place: [Cost; Adds::N_FORMS],
    /// The flush trap without the windows that it stores, and each of them.
    pub flush: Cost,
    /// See [`Costs::flush`].
    pub flush_window: Cost,
    /// A switch up to the decision about the next thread.
    pub block: Cost,
    /// A switch that stores all windows, up to that decision, without the windows, and each of them.
    pub block_flush: Cost,
    /// See above.
    pub flush_next: Cost,
    /// The end of a thread up to there.
    pub leave: Cost,
    /// For each window that a switch stores.
    pub block_window: Cost,
    /// Between two of them.
    pub block_again: Cost,
    /// The next thread's windows are there (or are loaded, if windows are not shared).
    pub resident: Cost,
    /// They are there, and the window above is taken: by one of several windows, by a last one.
    pub resident_taken: [Cost; 2],
    /// They are not there; without what follows.
    pub absent: Cost,
    /// The first window above the suspended thread: free, one of several, a last one.
    pub newest: [Cost; 3],
    /// The one above that.
    pub reserve: [Cost; 3],
    /// The newest frame is loaded.
    pub load: Cost,
    /// After the end of a thread: the next is resident; or not.
    pub left: [Cost; 2],
    /// The search for a place.
    pub allocate: AllocateCosts,
    /// What only the adaptive scheme has.
    pub adaptive: AdaptiveCosts,
}

/// The pieces of the search for a place; the labels of `allocate.h`.
#[derive(Debug, Clone, Default)]
pub struct AllocateCosts {
    /// Before the first window.
    pub begin: Cost,
    /// A window, and the thread that has its lowest above it.
    pub next: Cost,
    /// See above.
    pub owner: Cost,
    /// What is free.
    pub pairs: Cost,
    /// Near the suspended thread, `snp` only; not there.
    pub near: Cost,
    /// See above.
    pub elsewhere: Cost,
    /// Nothing is free.
    pub full: Cost,
    /// A window is not the place, or is.
    pub bit: Cost,
    /// See above.
    pub bit_again: Cost,
    /// See above.
    pub found: Cost,
    /// A window, the thread that has its lowest above it, the oldest so far, and at the end.
    pub lru_next: Cost,
    /// See above.
    pub lru_owner: Cost,
    /// See above.
    pub lru_older: Cost,
    /// See above.
    pub lru_place: Cost,
    /// Where the place is: the window to go to; around the end; going there.
    pub place: Cost,
    /// See above.
    pub around: Cost,
    /// See above.
    pub go: Cost,
}

impl AllocateCosts {
    fn new(recipe: &Recipe, sum: &dyn Fn(&[&str]) -> Cost) -> AllocateCosts {
        let mut costs = AllocateCosts {
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
            ..AllocateCosts::default()
        };
        if recipe.scheme == Scheme::Snp {
            costs.near = sum(&["allocate_near"]);
        }
        if recipe.allocate == Allocate::Lru {
            costs.lru_next = sum(&["lru_next", "lru_on"]);
            costs.lru_owner = sum(&["lru_owner"]);
            costs.lru_older = sum(&["lru_older"]);
            costs.lru_place = sum(&["lru_place"]);
        }
        costs
    }

    /// The longest search with `n` windows.
    fn worst(&self, n: u64, machine: usize) -> u64 {
        let of = |cost: Cost| cost[machine];
        let look = of(self.begin) + n * (of(self.next) + of(self.owner)) + of(self.pairs) + of(self.elsewhere);
        let free = n * (of(self.bit) + of(self.bit_again)) + of(self.found);
        let full = of(self.full) + n * (of(self.lru_next) + of(self.lru_owner) + of(self.lru_older)) + of(self.lru_place);
        look + free.max(full) + of(self.place) + of(self.around) + of(self.go)
    }
}

impl Costs {
    /// The costs of an image.
    pub fn new(code: &Code, recipe: &Recipe, machines: [&Core; 2]) -> Costs {
        let scheme = recipe.scheme;
        let both = |f: &dyn Fn(&Core) -> u64| machines.map(f);
        let sum = |names: &[&str]| both(&|core| names.iter().map(|name| code.block_cycles(name, core)).sum());
        let plus = |a: Cost, b: Cost| [a[0] + b[0], a[1] + b[1]];
        let taken = |name: &str| {
            both(&|core| code.cycles(code.address(name)..code.address(name) + 16, core) + u64::from(core.trap_cycles.unwrap_or(0)))
        };
        let mut costs = Costs::default();
        let (overflow, underflow) = (taken("vector_overflow"), taken("vector_underflow"));
        costs.flush = plus(taken("vector_flush"), sum(&["flush_trap", "flush_trap_next", "flush_trap_stored"]));
        costs.flush_window = sum(&["flush_trap_next", "flush_trap_window"]);
        match scheme {
            Scheme::Ns => {
                costs.overflow = plus(overflow, sum(&["overflow"]));
                costs.underflow = plus(underflow, sum(&["underflow"]));
                costs.block = sum(&["thr_block_leave"]);
                costs.block_window = sum(&["block_next"]);
                costs.block_again = sum(&["block_again"]);
                costs.leave = sum(&["thr_leave"]);
                costs.resident = sum(&["take_next", "thr_to"]);
                return costs;
            }
            Scheme::Flat => {
                costs.block = sum(&["thr_block_leave"]);
                costs.leave = sum(&["thr_leave"]);
                costs.resident = sum(&["take_next", "thr_to"]);
                return costs;
            }
            Scheme::Snp | Scheme::Sp | Scheme::Adaptive => {}
        }
        costs.overflow_free = plus(overflow, sum(&["overflow", "overflow_free"]));
        let entry = |name: &str| both(&|core| code.cycles(code.address(name)..code.address(name) + 8, core));
        let (read, written) = (entry("registers_read"), entry("registers_written"));
        let forms: [Adds; Adds::N_FORMS] = std::array::from_fn(|it| Adds::from_form(it as u8).expect("a number below that of forms"));
        costs.overflow_own = plus(overflow, sum(&["overflow", "overflow_taken", "overflow_own"]));
        if scheme == Scheme::Adaptive {
            costs.underflow_in_place = forms.map(|form| {
                let mut cost = plus(underflow, sum(&["underflow"]));
                if form == Adds::NOTHING {
                    return plus(cost, sum(&["underflow_goes", "underflow_plain"]));
                }
                let mut add = |it: Cost| cost = plus(cost, it);
                add(sum(&["underflow_adds"]));
                match (form.has_register(), form.has_first()) {
                    (false, false) => add(sum(&["underflow_constant"])),
                    (true, false) => {
                        add(sum(&["underflow_registers", "underflow_second", "underflow_one", "underflow_moved"]));
                        add(read);
                    }
                    (false, true) => {
                        add(sum(&["underflow_registers", "underflow_first", "underflow_both", "underflow_added"]));
                        add(read);
                    }
                    (true, true) => {
                        let blocks = ["underflow_registers", "underflow_second", "underflow_one", "underflow_both", "underflow_added"];
                        add(sum(&blocks));
                        add(plus(read, read));
                    }
                }
                let end = if form.goes_elsewhere() {
                    plus(sum(&["underflow_elsewhere", "underflow_written"]), written)
                } else {
                    sum(&["underflow_result"])
                };
                plus(plus(cost, sum(&["underflow_sum"])), end)
            });
            costs.adaptive = AdaptiveCosts::new(&sum, &taken);
            return costs;
        }
        costs.overflow_other = ["overflow_other_more", "overflow_other_last"]
            .map(|end| plus(overflow, sum(&["overflow", "overflow_taken", "overflow_other", end, "overflow_other_stored"])));
        let plain = plus(underflow, sum(&["underflow", "underflow_plain"]));
        let adds = plus(
            plus(underflow, sum(&["underflow", "underflow_adds", "underflow_first", "underflow_sum", "underflow_added"])),
            plus(read, written),
        );
        let (constant, register) = (plus(adds, sum(&["underflow_immediate"])), plus(plus(adds, read), sum(&["underflow_register"])));
        costs.underflow_in_place = forms.map(|form| match form {
            Adds::NOTHING => plain,
            _ if form.has_register() => register,
            _ => constant,
        });
        costs.block = sum(&["thr_block_leave", "thr_to"]);
        costs.leave = sum(&["thr_leave", "left", "thr_to_left"]);
        costs.block_flush = sum(&["thr_block_flush", "left", "thr_to_left"]);
        costs.flush_next = sum(&["flush_next"]);
        if recipe.allocate != Allocate::Simple {
            costs.allocate = AllocateCosts::new(recipe, &sum);
        }
        costs.load = sum(&["load"]);
        costs.left = [sum(&["left_resident"]), sum(&["left_absent"])];
        let three = |name: &str| {
            let stored =
                |end: &str| sum(&[&format!("{name}_taken"), &format!("{name}_{end}"), &format!("{name}_stored"), &format!("{name}_clear")]);
            [sum(&[&format!("{name}_free"), &format!("{name}_clear")]), stored("more"), stored("last")]
        };
        costs.reserve = three("reserve");
        if scheme == Scheme::Sp {
            costs.resident = sum(&["resident"]);
            costs.absent = sum(&["absent_free"]);
            costs.newest = three("newest");
        } else {
            costs.resident = sum(&["resident", "above_free"]);
            let [_, more, last] = three("resume");
            costs.resident_taken = [more, last].map(|it| plus(it, sum(&["resident", "above_taken"])));
            if recipe.allocate == Allocate::Lru {
                costs.absent = sum(&["allocate_done"]);
                costs.newest = three("newest");
            } else {
                costs.absent = sum(&["absent_free", "take_reserve"]);
            }
        }
        costs
    }
}

impl Costs {
    /// The longest switch looks at each neighbour, stores all windows of all of them, and then its own thread's.
    fn worst_adaptive(&self, n: u64, machine: usize) -> (u64, u64) {
        let costs = &self.adaptive;
        let of = |cost: Cost| cost[machine];
        let window =
            of(costs.evict_next).max(of(costs.flush_next) + of(costs.flush_again)).max(of(costs.block_next) + of(costs.block_again));
        let look = |n: u64| n * (of(costs.look_next) + of(costs.look_free)) + of(costs.look_around);
        let neighbour = of(costs.look_neighbour) + of(costs.neighbour_other) + costs.neighbour_stale.map(of).into_iter().max().unwrap_or(0);
        // A neighbour has a window and a reserved one.
        let n_neighbours = (n - 1) / 2;
        let pays = n_neighbours * (of(costs.shared_room) + look(3) + neighbour) + of(costs.shared_room) + look(3);
        let poor = of(costs.shared_poor) + of(costs.shared_others) + look(n) + neighbour;
        let looks = of(costs.shared_look) + pays.max(poor) + of(costs.neighbour_last);
        let flush =
            of(costs.shared_refused).max(of(costs.neighbour_fresh)) + of(costs.shared_flush) + of(costs.inherit) + of(costs.inherit_around);
        let alone = costs.inherit_alone.map(of).into_iter().max().unwrap_or(0) + of(costs.lone_load);
        let ends = alone.max(of(costs.inherit_shared)).max(of(costs.inherit_resident));
        let enters = of(costs.shared_leave).max(of(costs.lone_leave) + (n - 1) * of(costs.lone_down)) + of(costs.enter);
        let lone = of(costs.lone_look)
            + of(costs.lone_pause).max(of(costs.lone_room))
            + of(costs.lone_narrow)
            + of(costs.lone_flush_switch)
            + of(costs.lone_load);
        let begins = of(costs.block_flush) + of(costs.absent) + of(costs.shared_absent) + of(costs.leave) + of(costs.leave_shared);
        (begins + looks + (n - 1) * window + (flush + ends).max(enters).max(lone), (n - 2) * of(costs.lone_underflow))
    }

    /// The most cycles that one switch can take with `n` windows, and the most that the underflows which
    /// it causes take later (of these, those that load windows it has stored of its own thread).
    pub fn worst_switch(&self, recipe: &Recipe, n: u32, machine: usize) -> (u64, u64) {
        let most = |costs: &[Cost]| costs.iter().map(|it| it[machine]).max().unwrap_or(0);
        let of = |cost: Cost| cost[machine];
        let n = u64::from(n);
        match recipe.scheme {
            Scheme::Flat => (of(self.block) + of(self.resident), 0),
            Scheme::Ns => {
                let stores = (n - 1) * of(self.block_window) + (n - 2) * of(self.block_again);
                (of(self.block) + stores + of(self.resident), (n - 2) * of(self.underflow))
            }
            Scheme::Adaptive => self.worst_adaptive(n, machine),
            Scheme::Snp | Scheme::Sp => {
                let search = if recipe.allocate == Allocate::Simple { 0 } else { self.allocate.worst(n, machine) };
                let enters = search + of(self.absent) + most(&self.newest) + most(&self.reserve) + of(self.load);
                let resumes = of(self.resident).max(most(&self.resident_taken));
                let blocks = of(self.block) + enters.max(resumes);
                let leaves = of(self.leave) + (of(self.left[1]) + of(self.load)).max(of(self.left[0]) + resumes);
                let ends = (of(self.left[1]) + of(self.load)).max(of(self.left[0]) + resumes);
                let flushes = of(self.block_flush) + (n - 1) * of(self.flush_next) + ends;
                (blocks.max(leaves).max(flushes), 0)
            }
        }
    }
}

/// What a restore adds, as far as the in-place underflow handlers go different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adds(u8);

impl Adds {
    /// Forms there are.
    pub const N_FORMS: usize = 9;
    /// Its target is `%g0`.
    pub const NOTHING: Adds = Adds(0);

    /// What this restore adds.
    pub fn of(word: u32) -> Adds {
        let (to, first, constant) = (word >> 25 & 31, word >> 14 & 31, word >> 13 & 1);
        if to == 0 { Adds::NOTHING } else { Adds(1 + u8::from(constant == 0) + 2 * u8::from(first != 0) + 4 * u8::from(to != 8)) }
    }

    /// Its number, below [`Adds::N_FORMS`].
    pub fn form(self) -> usize {
        usize::from(self.0)
    }

    /// The form of this number.
    pub fn from_form(form: u8) -> Option<Adds> {
        (usize::from(form) < Adds::N_FORMS).then_some(Adds(form))
    }

    /// The second operand is a register.
    fn has_register(self) -> bool {
        self.0 > 0 && (self.0 - 1) & 1 == 1
    }

    /// The first operand is not `%g0`.
    fn has_first(self) -> bool {
        self.0 > 0 && (self.0 - 1) & 2 == 2
    }

    /// The target is not the first out register.
    fn goes_elsewhere(self) -> bool {
        self.0 > 0 && (self.0 - 1) & 4 == 4
    }
}

/// What the loss of a window says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Sharing does not pay.
    Poor,
    /// It does, but this thread did not come back to its windows.
    Useless,
    /// It did.
    Useful,
}

/// The pieces of the adaptive scheme's switches; the labels of `switch_adaptive.S`.
#[derive(Debug, Clone, Default)]
pub struct AdaptiveCosts {
    /// Overflow and underflow of a thread that is alone, and its flush trap.
    pub lone_overflow: Cost,
    /// See above.
    pub lone_underflow: Cost,
    /// See above.
    pub lone_flush: Cost,
    /// See above.
    pub lone_flush_window: Cost,
    /// An overflow into the thread's own oldest window: it is alone; if sharing paid, and if not.
    pub overflow_own: [Cost; 2],
    /// An overflow takes one of several windows of a thread, or its last, by [`Loss`].
    pub overflow_other: [[Cost; 3]; 2],
    /// A switch that stores all windows; what follows apart.
    pub block_flush: Cost,
    /// From here: switches. Both threads have windows.
    pub resident: Cost,
    /// Alone and refused; what follows apart.
    pub lone_refused: Cost,
    /// The next thread has no windows.
    pub absent: Cost,
    /// Alone.
    pub lone_look: Cost,
    /// There is a pause.
    pub lone_pause: Cost,
    /// Is there room?
    pub lone_room: Cost,
    /// There is.
    pub lone_leave: Cost,
    /// For each window.
    pub lone_down: Cost,
    /// There is none; what follows apart.
    pub lone_narrow: Cost,
    /// Alone, windows are stored.
    pub lone_flush_switch: Cost,
    /// For each window, and between two.
    pub block_next: Cost,
    /// See above.
    pub block_again: Cost,
    /// A thread is loaded and alone.
    pub lone_load: Cost,
    /// Shared: is the old thread refused?
    pub shared_absent: Cost,
    /// It is.
    pub shared_refused: Cost,
    /// Does sharing pay?
    pub shared_look: Cost,
    /// It does: is there room?
    pub shared_room: Cost,
    /// It does not.
    pub shared_poor: Cost,
    /// And others have windows.
    pub shared_others: Cost,
    /// A window is looked at; that means around the end; it is free.
    pub look_next: Cost,
    /// See above.
    pub look_around: Cost,
    /// See above.
    pub look_free: Cost,
    /// A thread is in the way.
    pub look_neighbour: Cost,
    /// It is another one.
    pub neighbour_other: Cost,
    /// It has run since the last look.
    pub neighbour_fresh: Cost,
    /// It has not: its windows go, by [`Loss`].
    pub neighbour_stale: [Cost; 3],
    /// For each of its windows.
    pub evict_next: Cost,
    /// Sharing does not pay.
    pub neighbour_last: Cost,
    /// There is room.
    pub shared_leave: Cost,
    /// The next thread is loaded above the old one.
    pub enter: Cost,
    /// Shared, windows are stored.
    pub shared_flush: Cost,
    /// For each window, and between two.
    pub flush_next: Cost,
    /// See above.
    pub flush_again: Cost,
    /// The place of the old thread is free; its lowest window is the last one.
    pub inherit: Cost,
    /// See above.
    pub inherit_around: Cost,
    /// The next thread has windows; is alone, if sharing paid, and if not; gets that place.
    pub inherit_resident: Cost,
    /// See above.
    pub inherit_alone: [Cost; 2],
    /// See above.
    pub inherit_shared: Cost,
    /// The end of a thread; while windows are shared.
    pub leave: Cost,
    /// See above.
    pub leave_shared: Cost,
}

impl AdaptiveCosts {
    fn new(sum: &dyn Fn(&[&str]) -> Cost, taken: &dyn Fn(&str) -> Cost) -> AdaptiveCosts {
        let plus = |a: Cost, b: Cost| [a[0] + b[0], a[1] + b[1]];
        let lost = |name: &str| {
            let rich = format!("{name}_rich");
            let rich = |end: &str| sum(&[&rich, &format!("{name}_{end}")]);
            [sum(&[&format!("{name}_poor")]), rich("useless"), rich("useful")]
        };
        let other = |end: &str| {
            let blocks = sum(&["overflow", "overflow_taken", "overflow_other", "overflow_lost", end, "overflow_stored"]);
            lost("overflow").map(|it| plus(it, plus(taken("vector_overflow"), blocks)))
        };
        let alone = |name: &str| ["paid", "unpaid"].map(|it| sum(&[&format!("{name}_{it}"), &format!("{name}_pause")]));
        let stale = sum(&["neighbour_stale", "evict_last", "evict_lost"]);
        AdaptiveCosts {
            lone_overflow: plus(taken("vector_overflow_lone"), sum(&["lone_overflow"])),
            lone_underflow: plus(taken("vector_underflow_lone"), sum(&["lone_underflow"])),
            lone_flush: plus(taken("vector_flush_lone"), sum(&["lone_flush_trap", "lone_flush_trap_next", "lone_flush_trap_stored"])),
            lone_flush_window: sum(&["lone_flush_trap_next", "lone_flush_trap_window"]),
            overflow_own: alone("own")
                .map(|it| plus(it, plus(taken("vector_overflow"), sum(&["overflow", "overflow_taken", "overflow_own"])))),
            overflow_other: ["overflow_more", "overflow_last"].map(other),
            block_flush: sum(&["thr_block_flush"]),
            resident: sum(&["thr_block_leave", "block_decides", "resident_stores", "resident", "thr_to_left"]),
            lone_refused: sum(&["thr_block_leave", "lone_refused"]),
            absent: sum(&["thr_block_leave", "block_decides", "absent"]),
            lone_look: sum(&["lone_look"]),
            lone_pause: sum(&["lone_pause"]),
            lone_room: sum(&["lone_room"]),
            lone_leave: sum(&["lone_leave", "lone_owns"]),
            lone_down: sum(&["lone_down"]),
            lone_narrow: sum(&["lone_narrow", "lone_refused"]),
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
            neighbour_last: sum(&["neighbour_last"]),
            neighbour_stale: lost("evict").map(|it| plus(it, stale)),
            evict_next: sum(&["evict_next"]),
            shared_leave: sum(&["shared_leave"]),
            enter: sum(&["enter", "thr_to_absent"]),
            shared_flush: sum(&["shared_flush"]),
            flush_next: sum(&["flush_next"]),
            flush_again: sum(&["flush_again"]),
            inherit: sum(&["inherit", "inherit_below"]),
            inherit_around: sum(&["inherit_around"]),
            inherit_resident: sum(&["inherit_gone", "inherit_resident", "resident", "thr_to_left"]),
            inherit_alone: alone("alone").map(|it| plus(it, sum(&["inherit_absent", "inherit_alone"]))),
            inherit_shared: sum(&["inherit_absent", "inherit_shared", "thr_to_inherit"]),
            leave: sum(&["thr_leave"]),
            leave_shared: sum(&["leave_shared"]),
        }
    }
}

/// Cycles of a word on the two machines.
pub fn of_word(word: u32, machines: [&Core; 2]) -> [u32; 2] {
    machines.map(|core| code::cycles(word, core) as u32)
}

/// Cycles of a `save`: what a trapped one does not cost.
pub fn of_save(machines: [&Core; 2]) -> Cost {
    machines.map(|core| u64::from(core.work(sparc::class(0x9de3_bfa0)).issue_cycles))
}
