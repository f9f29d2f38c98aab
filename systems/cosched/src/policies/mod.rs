//! Which programs run in the next quantum. One policy a file; a policy sees what was measured and
//! decides, and does nothing else.

mod b2adss;
mod b2arr;
mod dss;
mod linux;
mod linux_now;
mod lqg;
mod pairing;
mod parts;
mod qwg;
mod rr;

use serde::Serialize;

use crate::machine::Machine;

/// A program as a policy sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProgramView {
    /// Threads it asks for; its own are `first..first + n_threads` of all threads.
    pub n_threads: usize,
    pub first: usize,
    /// It has begun and not ended.
    pub is_active: bool,
    /// Its team follows the processors it is given.
    pub is_malleable: bool,
}

/// A thread as a policy sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadView {
    pub program: usize,
    /// Its traffic in MB/s while it last ran, in one quantum; 0 if it never did.
    pub latest_mbps: f64,
    /// The same for some quanta before, the newest last.
    pub window_mbps: Vec<f64>,
    /// How much of its traffic are writes, 0 to 1; 0 where that is not known, as in real runs.
    pub write_share: f64,
    /// How far those beside it slow it down, where that was measured: by freezing
    /// them, in real runs.
    pub slowdown: Option<f64>,
    /// It could run now: its program is active, and under Linux it does not sleep.
    pub is_ready: bool,
    /// It ran in the quantum that ends.
    pub was_running: bool,
}

impl ThreadView {
    /// A thread of this program of which nothing is known yet, and which cannot run.
    pub fn new(program: usize) -> ThreadView {
        ThreadView {
            program,
            latest_mbps: 0.0,
            window_mbps: Vec::new(),
            write_share: 0.0,
            slowdown: None,
            is_ready: false,
            was_running: false,
        }
    }
}

/// All that a policy knows.
#[derive(Debug, Clone, Serialize)]
pub struct View<'a> {
    /// The processors and their links.
    pub machine: &'a Machine,
    /// The programs in the order in which they were given.
    pub programs: &'a [ProgramView],
    pub threads: &'a [ThreadView],
}

impl View<'_> {
    /// The programs that have begun and not ended.
    pub fn active(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.programs.len()).filter(|idx| self.programs[*idx].is_active)
    }

    /// The threads that could run.
    pub fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.threads.len()).filter(|idx| self.threads[*idx].is_ready)
    }
}

/// For each processor its thread.
pub type Placement = Vec<Option<usize>>;

/// A way to choose.
pub trait Policy {
    /// Milliseconds until it is asked again.
    fn quantum_ms(&self) -> f64 {
        QUANTUM_MS
    }

    /// The threads of the next quantum, none twice, all ready.
    fn decide(&mut self, view: &View<'_>) -> Placement;

    /// Quanta that the measurements behind the last decision were old already.
    fn age_quanta(&self) -> u32 {
        0
    }

    /// It is a manager: programs know their processors, and a thread that was taken off one in
    /// mid-region is resumed in place of a sibling.
    fn is_manager(&self) -> bool {
        true
    }
}

/// The quantum of the paper.
pub const QUANTUM_MS: f64 = 100.0;

/// How the bandwidth-aware half of a policy is cut.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum ShareOf {
    /// This share of the processors goes by the conventional policy, rounded up, at least one.
    Processors(f64),
    /// Threads go by the conventional policy until they take this share of the
    /// bandwidth, at least one.
    Bandwidth(f64),
}

/// The numbers that the paper chose by experiment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Settings {
    /// What B2ARR leaves to round robin.
    pub share: ShareOf,
    /// Quanta of an epoch of B2ADSS.
    pub epoch: usize,
    /// Quanta over which QWG averages.
    pub window: usize,
    /// Share of the quanta that PAIRING leaves to round robin, 0 to 1.
    pub round_robin: f64,
    /// PAIRING lets programs end one after another even where the links are no bottleneck.
    pub finishes_first: bool,
    /// LINUX chooses without its bonus for the same processor.
    pub no_affinity: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            share: ShareOf::Processors(0.5),
            epoch: 2,
            window: 5,
            round_robin: 0.0,
            finishes_first: false,
            no_affinity: false,
        }
    }
}

/// One row a policy: its name in our source and on the command line, and how a fresh one is made.
/// The order is that of tables.
macro_rules! policies {
    ($($(#[$about:meta])* $name:ident $text:literal: $make:expr;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Name {
            $($(#[$about])* #[serde(rename = $text)] $name,)*
        }

        impl Name {
            pub const ALL: &[Name] = &[$(Name::$name),*];

            /// As on the command line.
            pub fn text(self) -> &'static str {
                match self {
                    $(Name::$name => $text,)*
                }
            }

            pub fn policy(self, settings: Settings) -> Box<dyn Policy> {
                match self {
                    $(Name::$name => { let make: fn(Settings) -> Box<dyn Policy> = $make; make(settings) })*
                }
            }
        }
    };
}

policies! {
    Linux "linux": |it| Box::new(linux::Linux::new(it.no_affinity));
    /// A fair scheduler, as Linux has now.
    LinuxNow "linux-now": |_| Box::new(linux_now::LinuxNow::default());
    Rr "rr": |_| Box::new(rr::Rr::default());
    Dss "dss": |_| Box::new(dss::Dss::default());
    Lqg "lqg": |_| Box::new(lqg::new());
    Qwg "qwg": |it| Box::new(qwg::new(it.window));
    /// Bus bandwidth-aware round robin.
    B2arr "b2arr": |it| Box::new(b2arr::B2arr::new(it.share));
    /// Bus bandwidth-aware dynamic space sharing.
    B2adss "b2adss": |it| Box::new(b2adss::B2adss::new(it.epoch));
    Pairing "pairing": |it| Box::new(pairing::Pairing::new(it.round_robin, it.finishes_first));
}

impl Name {
    /// The policy of this name.
    pub fn from_text(text: &str) -> Option<Name> {
        Name::ALL.iter().copied().find(|it| it.text() == text)
    }
}
