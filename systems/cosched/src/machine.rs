//! Processors and the links between them and the memory.

use serde::Serialize;

/// What a link carries at most, in MB/s (10^6 bytes).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Capacity {
    pub read_mbps: f64,
    pub write_mbps: f64,
    /// Reads and writes together.
    pub mixed_mbps: f64,
}

/// The bus of the paper: 1797 MB/s, 28.1 transactions of 64 bytes a microsecond.
/// Source: Antonopoulos, Nikolopoulos and Papatheodorou, section 2 (four Xeon MP at 1.4 GHz).
pub const PAPER_MBPS: f64 = 1797.0;

impl Capacity {
    /// One number for all traffic, as a front-side bus has.
    pub fn bus(mbps: f64) -> Capacity {
        Capacity { read_mbps: mbps, write_mbps: mbps, mixed_mbps: mbps }
    }
}

/// Processors that share links.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// The link of each processor.
    pub link_of: Vec<usize>,
    pub links: Vec<Capacity>,
    /// Last-level cache of each link in MB; 0: not modelled.
    pub cache_mb: f64,
}

impl Machine {
    /// `n_cpus` processors, spread evenly over `n_links` equal links, neighbours on one link.
    ///
    /// Panics: if there are no processors, or fewer than links.
    pub fn even(n_cpus: usize, n_links: usize, link: Capacity) -> Machine {
        assert!(n_links > 0 && n_links <= n_cpus, "{n_cpus} processors on {n_links} links");
        Machine {
            link_of: (0..n_cpus).map(|cpu| cpu * n_links / n_cpus).collect(),
            links: vec![link; n_links],
            cache_mb: 0.0,
        }
    }

    /// The paper's machine with so many processors on its one bus.
    pub fn paper(n_cpus: usize) -> Machine {
        Machine::even(n_cpus, 1, Capacity::bus(PAPER_MBPS))
    }

    pub fn n_cpus(&self) -> usize {
        self.link_of.len()
    }

    /// What all links carry together.
    pub fn mixed_mbps(&self) -> f64 {
        self.links.iter().map(|link| link.mixed_mbps).sum()
    }

    /// The processors in the order in which bandwidth-oblivious policies fill them:
    /// the links in turn.
    pub fn spread(&self) -> Vec<usize> {
        let mut rank = vec![0; self.links.len()];
        let mut places: Vec<(usize, usize, usize)> = Vec::new();
        for (cpu, &link) in self.link_of.iter().enumerate() {
            places.push((rank[link], link, cpu));
            rank[link] += 1;
        }
        places.sort_unstable();
        places.into_iter().map(|place| place.2).collect()
    }
}
