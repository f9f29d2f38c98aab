//! Threads put on links one by one, with what is left of each.

use super::super::{Placement, View};

/// Processors and bandwidth that are left on each link.
#[derive(Debug)]
pub(in crate::policies) struct Links {
    pub placement: Placement,
    free: Vec<Vec<usize>>,
    left_mbps: Vec<f64>,
    turn: usize,
}

impl Links {
    pub fn of(view: &View<'_>) -> Links {
        let mut free = vec![Vec::new(); view.machine.links.len()];
        for cpu in (0..view.machine.n_cpus()).rev() {
            free[view.machine.link_of[cpu]].push(cpu);
        }
        let left_mbps = view.machine.links.iter().map(|link| link.mixed_mbps).collect();
        Links { placement: vec![None; view.machine.n_cpus()], free, left_mbps, turn: 0 }
    }

    /// The link with the most bandwidth for each free processor, and that bandwidth.
    pub fn most_left(&self) -> Option<(usize, f64)> {
        let each = |link: usize| self.left_mbps[link] / self.free[link].len() as f64;
        let open = (0..self.free.len()).filter(|&idx| !self.free[idx].is_empty());
        open.map(|open| (open, each(open))).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    /// A thread on a link that has a free processor.
    pub fn put(&mut self, link: usize, thread: usize, mbps: f64) {
        let cpu = self.free[link].pop().expect("the link has a free processor");
        self.placement[cpu] = Some(thread);
        self.left_mbps[link] -= mbps;
    }

    /// A thread on the next link in turn.
    pub fn put_in_turn(&mut self, thread: usize, mbps: f64) {
        while self.free[self.turn % self.free.len()].is_empty() {
            self.turn += 1;
        }
        self.put(self.turn % self.free.len(), thread, mbps);
        self.turn += 1;
    }
}
