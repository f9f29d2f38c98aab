//! What managed programs stand on: groups, processors, links, a source of what they move.

use std::path::PathBuf;
use std::time::Duration;

use super::across::WallClock;
use super::canary::Canary;
use super::group::Hierarchy;
use super::heartbeat::Lines;
use super::idle;
use super::slurm;
use super::source::Source;
use super::topology::Topology;
use crate::machine::{Capacity, Machine};
use crate::policies::Settings;

/// How a program waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Waiting {
    /// In the idle class, and only where turns pay.
    #[default]
    Soft,
    Frozen,
}

impl Waiting {
    pub const ALL: [Waiting; 2] = [Waiting::Soft, Waiting::Frozen];

    /// As on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Waiting::Soft => "soft",
            Waiting::Frozen => "frozen",
        }
    }
}

/// The machine and the settings that programs are managed with.
#[derive(Debug)]
pub struct Host {
    /// Where groups are made.
    pub hierarchy: Hierarchy,
    /// Processors that programs may have.
    pub cpus: Vec<usize>,
    pub topology: Topology,
    pub waiting: Waiting,
    /// How programs are put into the idle class; or why none can be.
    pub idle: Result<idle::Kind, String>,
    /// How long a program may be in the idle class without a turn.
    pub longest_wait: Duration,
    /// Whether other nodes begin their quanta when this one does.
    pub wall_clock: WallClock,
    /// MB/s that a link carries, where the user said so.
    pub said_mbps: Option<f64>,
    /// MB/s that the programs together may move where there is nothing to choose, if asked for.
    pub at_most_mbps: Option<f64>,
    /// Where the traffic is known from.
    pub source: Source,
    /// The library that lets OpenMP programs follow their processors.
    pub preload: Option<PathBuf>,
    /// A folder for the programs' pages.
    pub pages: PathBuf,
    /// Reads memory for a moment to see what the others leave of the link.
    pub canary: Canary,
    pub n_programs: u64,
    pub settings: Settings,
    /// How many files a program may open, if this process may open more.
    pub files_before: Option<u64>,
    /// Somebody may ask what programs move: this is a daemon.
    pub is_asked: bool,
    /// Where it is noted what steps of Slurm moved, for those who place the next ones.
    pub history: Option<slurm::History>,
    /// Where the supervisors hear that the manager works.
    pub lines: Lines,
}

impl Host {
    /// A number for a program.
    pub(super) fn number(&mut self) -> u64 {
        self.n_programs += 1;
        self.n_programs
    }

    /// What programs move decides something, or somebody may ask for it. Else nobody is looked at,
    /// since looks delay programs.
    pub(super) fn wants_rates(&self) -> bool {
        self.is_asked || self.at_most_mbps.is_some() || self.capacity_mbps().is_some()
    }

    /// MB/s that a link carries: as the user said, else as measured, if two readers fill it.
    pub fn capacity_mbps(&self) -> Option<f64> {
        let seen = || self.topology.seeing().and_then(|readers| readers.capacity_mbps());
        self.said_mbps.or_else(seen)
    }

    /// These processors and the links as policies see them.
    pub(super) fn machine(&self, cpus: &[usize]) -> Machine {
        let readers =
            self.topology.shared().or(self.topology.pairs.first()).map(|pair| pair.readers);
        let seen_mbps = readers
            .map_or(f64::MAX, |found| found.alone_mbps.max(found.beside_mbps + found.reader_mbps));
        let mbps = self.said_mbps.unwrap_or(seen_mbps);
        let n_links = self.topology.links.len().max(1);
        Machine {
            link_of: self.topology.link_of(cpus),
            links: vec![Capacity::bus(mbps); n_links],
            cache_mb: 0.0,
        }
    }
}
