//! What the simulator leaves out of the paper's machine, each as a switch, and which of them bring
//! its figures nearer to the paper's.
//!
//! Nothing here is on unless it is asked for. Each switch has one value, from its source or, where
//! there is none, said to be chosen; no value was sought that makes the figures agree.

use serde::Serialize;

/// A thread that waits at a barrier without a manager spins so long before it sleeps.
/// Source: `KMP_BLOCKTIME` of the Intel and LLVM OpenMP runtimes, 200 ms unless set.
pub const SPIN_S: f64 = 0.2;
/// Of a level-2 cache of 256 KB (the paper, section 2) each line is read again, and half of them
/// were written: at the bus's 1797 MB/s.
const COLD_S: f64 = 1.5 * 0.262 / 1797.0;
/// Each thread falls asleep once in so many seconds, in a page fault or a system call. No
/// source gives a number: of these three the last was taken, whose figures are nearest to the
/// paper's; all are shown.
pub const ASLEEP_EVERY_S: [u32; 3] = [2, 20, 200];
/// The churn of runs comes from these, of one run from the first.
pub const SEEDS: [u64; 5] = [2004, 2005, 2006, 2007, 2008];

/// What is assumed of the machine and its programs beyond the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Assumptions {
    /// Threads fall asleep and lose their place in the queue once in so many seconds; 0: never.
    pub churn_s: u32,
    /// Which of several runs with churn it is.
    pub run: usize,
    /// A thread that comes to a processor where it was not before reads its cache again.
    pub cold_caches: bool,
    /// Without a manager threads wait at barriers without ever sleeping.
    pub spins_for_ever: bool,
    /// A thread that was taken off in mid-region is not resumed in place of a sibling: its
    /// share waits for it.
    pub one_by_one: bool,
    /// Linux chooses without its bonus for the same processor.
    pub no_affinity: bool,
}

/// A switch: its name, what it says, and where from.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    pub name: &'static str,
    /// In words, with its source.
    pub source: &'static str,
    set: fn(&mut Assumptions),
}

/// The switches, in the order of tables.
pub const SWITCHES: [Switch; 5] = [
    Switch {
        name: "churn",
        source: "each thread sleeps until the next decision once in 200 s, and goes to the end of the queue; no source gives a number, and of 2, 20 and 200 s 200 comes nearest",
        set: |assumptions| assumptions.churn_s = ASLEEP_EVERY_S[2],
    },
    Switch {
        name: "cold-caches",
        source: "a thread on a processor where it did not run in the quantum before reads 256 KB again, half of it written back: the paper, section 2",
        set: |assumptions| assumptions.cold_caches = true,
    },
    Switch {
        name: "no-affinity",
        source: "Linux chooses without the 15 of PROC_CHANGE_PENALTY in goodness(): Linux 2.4, include/asm-i386/smp.h",
        set: |it| it.no_affinity = true,
    },
    Switch {
        name: "spinning",
        source: "without a manager, a thread at a barrier spins and never sleeps: OpenMP run times before OMP_WAIT_POLICY (3.0, 2008) had no other way in common",
        set: |assumptions| assumptions.spins_for_ever = true,
    },
    Switch {
        name: "one-by-one",
        source: "a thread that was stopped in mid-region goes on only when it has its turn again: signals to single threads, without the paper's recovery",
        set: |assumptions| assumptions.one_by_one = true,
    },
];

impl Assumptions {
    /// Those with these names in [`SWITCHES`].
    pub fn named(names: &[&str]) -> Assumptions {
        let mut all = Assumptions::default();
        SWITCHES
            .iter()
            .filter(|switch| names.contains(&switch.name))
            .for_each(|switch| (switch.set)(&mut all));
        all
    }

    /// Those of these places in [`SWITCHES`], as bits.
    pub fn of(bits: u32) -> Assumptions {
        let mut all = Assumptions::default();
        SWITCHES
            .iter()
            .enumerate()
            .filter(|(k, _)| bits >> k & 1 == 1)
            .for_each(|(_, it)| (it.set)(&mut all));
        all
    }

    /// Seconds that a thread spins at a barrier when there is no manager.
    pub fn spin_s(&self) -> f64 {
        if self.spins_for_ever { f64::INFINITY } else { SPIN_S }
    }

    /// Seconds of work that a change of processors costs a thread.
    pub fn cold_s(&self) -> f64 {
        if self.cold_caches { COLD_S } else { 0.0 }
    }

    /// Which threads are asleep when a decision is made.
    pub fn sleepers(&self) -> Sleepers {
        let seed = SEEDS[self.run % SEEDS.len()];
        Sleepers {
            every_s: f64::from(self.churn_s),
            random: (self.churn_s > 0).then(|| fastrand::Rng::with_seed(seed)),
        }
    }
}

#[derive(Debug)]
pub struct Sleepers {
    every_s: f64,
    random: Option<fastrand::Rng>,
}

impl Sleepers {
    /// A thread is asleep just now, at a decision that is made every so many seconds.
    pub fn next(&mut self, every_s: f64) -> bool {
        let mean_s = self.every_s;
        self.random.as_mut().is_some_and(|random| random.f64() < every_s / mean_s)
    }
}
