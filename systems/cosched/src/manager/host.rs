//! What managed programs stand on: groups, processors, links, a source of what they move.

use std::path::PathBuf;

use super::canary::Canary;
use super::group::Hierarchy;
use super::heartbeat::Lines;
use super::slurm;
use super::source::Source;
use super::topology::Topology;
use crate::machine::{Capacity, Machine};
use crate::policies::Settings;

/// The machine and the settings that programs are managed with.
#[derive(Debug)]
pub struct Host {
    /// Where groups are made.
    pub hierarchy: Hierarchy,
    /// Processors that programs may have.
    pub cpus: Vec<usize>,
    pub topology: Topology,
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

    /// The processors and links as policies see them.
    pub(super) fn machine(&self) -> Machine {
        let readers =
            self.topology.shared().or(self.topology.pairs.first()).map(|pair| pair.readers);
        let mbps = readers
            .map_or(f64::MAX, |found| found.alone_mbps.max(found.beside_mbps + found.reader_mbps));
        let n_links = self.topology.links.len().max(1);
        Machine {
            link_of: self.topology.link_of(&self.cpus),
            links: vec![Capacity::bus(mbps); n_links],
            cache_mb: 0.0,
        }
    }
}
