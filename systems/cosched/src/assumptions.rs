//! What the simulator leaves out of the paper's machine, each as a switch, and which of them bring
//! its figures nearer to the paper's.
//!
//! Nothing here is on unless it is asked for. Each switch has one value, from its source or, where
//! there is none, said to be chosen; no value was sought that makes the figures agree.

use serde::Serialize;

use crate::contention::{Base, Model};
use crate::machine::Machine;
use crate::policies::{Name, Settings};
use crate::sim;
use crate::workload;

/// A thread that waits at a barrier without a manager spins so long before it sleeps.
/// Source: `KMP_BLOCKTIME` of the Intel and LLVM OpenMP runtimes, 200 ms unless set.
pub const SPIN_S: f64 = 0.2;
/// Of a level-2 cache of 256 KB (the paper, section 2) each line is read again, and half of them
/// were written: at the bus's 1797 MB/s.
const COLD_S: f64 = 1.5 * 0.262 / 1797.0;
/// Each thread falls asleep once in so many seconds, in a page fault or a system call. No
/// source gives a number: of these three the last was taken, whose figures are nearest to the
/// paper's; all are shown.
const ASLEEP_EVERY_S: [u32; 3] = [2, 20, 200];
/// The churn of runs comes from these, of one run from the first.
const SEEDS: [u64; 5] = [2004, 2005, 2006, 2007, 2008];

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
    fn of(bits: u32) -> Assumptions {
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

/// Percent of Linux's mean turnaround that these policies save, over the nine workloads. Source:
/// the paper, section 5.
pub const PAPER: [(Name, f64); 5] = [
    (Name::Rr, 11.0),
    (Name::Dss, 14.0),
    (Name::Lqg, 9.0),
    (Name::B2arr, 23.0),
    (Name::B2adss, 18.0),
];

/// The paper's figures under some assumptions.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What is assumed, in words.
    pub assumed: String,
    /// Percent saved over Linux, in the order of [`PAPER`]; with churn, the mean of five runs.
    pub percent: [f64; 5],
}

impl Row {
    /// Root of the mean square of the differences to the paper, in percent.
    pub fn distance(&self) -> f64 {
        let squares =
            self.percent.iter().zip(PAPER).map(|(ours, (_, paper))| (ours - paper).powi(2));
        (squares.sum::<f64>() / PAPER.len() as f64).sqrt()
    }
}

/// Rows that [`like_paper`] computes.
pub const N_ROWS: u64 = (1 << SWITCHES.len()) + ASLEEP_EVERY_S.len() as u64;

/// The figures with no switch, with each alone, with other rates of churn, and with all; and
/// with the set of all possible ones that comes nearest to the paper. `tell` is called behind
/// each of the [`N_ROWS`].
pub fn like_paper(tell: impl Fn()) -> (Vec<Row>, Row) {
    let of = |assumed: String, assumptions: Assumptions| {
        let row = row(assumed, assumptions);
        tell();
        row
    };
    let all = (1u32 << SWITCHES.len()) - 1;
    let words = |bits: u32| {
        let names: Vec<&str> = SWITCHES
            .iter()
            .enumerate()
            .filter(|(k, _)| bits >> k & 1 == 1)
            .map(|(_, it)| it.name)
            .collect();
        if names.is_empty() { "nothing more".to_owned() } else { names.join(", ") }
    };
    let rows: Vec<Row> = (0..=all).map(|bits| of(words(bits), Assumptions::of(bits))).collect();
    let churn = ASLEEP_EVERY_S.map(|churn_s| {
        of(format!("churn, {churn_s} s"), Assumptions { churn_s, ..Assumptions::default() })
    });
    let nearest = rows
        .iter()
        .min_by(|a, b| a.distance().total_cmp(&b.distance()))
        .expect("there are rows")
        .clone();
    let alone = (1..SWITCHES.len()).map(|k| rows[1 << k].clone());
    let everything = Row { assumed: "all of them".to_owned(), ..rows[all as usize].clone() };
    ([rows[0].clone()].into_iter().chain(churn).chain(alone).chain([everything]).collect(), nearest)
}

/// The figures under these assumptions, which are called so.
pub fn row(assumed: String, assumptions: Assumptions) -> Row {
    let settings = Settings { no_affinity: assumptions.no_affinity, ..Settings::default() };
    let machine = Machine::paper(4);
    let workloads = workload::table_1();
    let n_runs = if assumptions.churn_s > 0 { SEEDS.len() } else { 1 };
    let mut percent = [0.0; 5];
    for run in 0..n_runs {
        let assumptions = Assumptions { run, ..assumptions };
        for (_, workload) in &workloads {
            let mean = |name: Name| {
                sim::run_assuming(
                    workload,
                    &machine,
                    Model::plain(Base::M2),
                    name.policy(settings).as_mut(),
                    assumptions,
                )
                .mean_s()
            };
            let linux = mean(Name::Linux);
            for (sum, (name, _)) in percent.iter_mut().zip(PAPER) {
                *sum += 100.0 * (1.0 - mean(name) / linux) / (workloads.len() * n_runs) as f64;
            }
        }
    }
    Row { assumed, percent }
}
