//! How early each step can start, how long it keeps the end waiting, and the longest chain.

use std::cmp::Reverse;

use crate::{DepGraph, Edge, Step};

/// The longest chain of latencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriticalPath {
    /// Cycles from the start of the first step of the chain to the start of the last.
    pub length_cycles: u64,
    /// The chain; of equally long ones, the one whose steps were written first.
    pub steps: Vec<Step>,
}

impl DepGraph {
    /// Earliest start of each step in cycles, when nothing but latencies holds it back;
    /// `None` if there is a cycle.
    pub fn earliest_starts(&self) -> Option<Vec<u64>> {
        let mut start_cycles = vec![0u64; self.n_steps() as usize];
        for step in self.topological_order_stable()? {
            let starts = self.predecessors(step).iter();
            let ready = starts.map(|edge| start_cycles[edge.step as usize] + u64::from(edge.latency_cycles)).max();
            start_cycles[step as usize] = ready.unwrap_or(0);
        }
        Some(start_cycles)
    }

    /// Cycles from the start of each step to the start of the last step that waits for it:
    /// the priority of a list scheduler. `None` if there is a cycle.
    pub fn heights(&self) -> Option<Vec<u64>> {
        let mut height_cycles = vec![0u64; self.n_steps() as usize];
        for &step in self.topological_order_stable()?.iter().rev() {
            let below = self.successors(step).iter();
            let height = below.map(|edge| height_cycles[edge.step as usize] + u64::from(edge.latency_cycles)).max();
            height_cycles[step as usize] = height.unwrap_or(0);
        }
        Some(height_cycles)
    }

    /// Number of steps on the longest chain that ends at each step, itself included;
    /// `None` if there is a cycle.
    pub fn depths(&self) -> Option<Vec<u32>> {
        let mut depths = vec![1u32; self.n_steps() as usize];
        for step in self.topological_order_stable()? {
            let before = self.predecessors(step).iter().map(|edge| depths[edge.step as usize]).max();
            depths[step as usize] = before.unwrap_or(0) + 1;
        }
        Some(depths)
    }

    /// The longest chain of latencies; `None` if there is a cycle. Without steps it is empty.
    pub fn critical_path(&self) -> Option<CriticalPath> {
        let height_cycles = self.heights()?;
        let height_of = |step: Step| height_cycles[step as usize];
        let mut steps = Vec::new();
        let mut next = (0..self.n_steps()).max_by_key(|&step| (height_of(step), Reverse(step)));
        let length_cycles = next.map_or(0, height_of);
        while let Some(step) = next {
            steps.push(step);
            let on_path = |edge: &&Edge| height_of(edge.step) + u64::from(edge.latency_cycles) == height_of(step);
            next = self.successors(step).iter().filter(on_path).map(|edge| edge.step).min();
        }
        Some(CriticalPath { length_cycles, steps })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Builder, CriticalPath, DepGraph};

    fn graph(n_steps: u32, edges: &[(u32, u32, u32)]) -> DepGraph {
        let mut builder = Builder::new(n_steps);
        for &(from, to, latency_cycles) in edges {
            builder.edge(from, to, latency_cycles);
        }
        builder.build()
    }

    #[test]
    fn the_slower_of_two_chains() {
        // 0 -2-> 1 -1-> 3 and 0 -1-> 2 -4-> 3
        let graph = graph(4, &[(0, 1, 2), (1, 3, 1), (0, 2, 1), (2, 3, 4)]);
        assert_eq!(graph.earliest_starts(), Some(vec![0, 2, 1, 5]));
        assert_eq!(graph.heights(), Some(vec![5, 1, 4, 0]));
        assert_eq!(graph.depths(), Some(vec![1, 2, 2, 3]));
        assert_eq!(graph.critical_path(), Some(CriticalPath { length_cycles: 5, steps: vec![0, 2, 3] }));
    }

    #[test]
    fn of_equal_chains_the_first_written() {
        let graph = graph(4, &[(0, 2, 1), (0, 1, 1), (1, 3, 1), (2, 3, 1)]);
        assert_eq!(graph.critical_path().map(|it| it.steps), Some(vec![0, 1, 3]));
    }

    #[test]
    fn a_chain_without_latency_is_still_followed() {
        let graph = graph(3, &[(2, 0, 0), (0, 1, 0)]);
        assert_eq!(graph.critical_path().map(|it| it.length_cycles), Some(0));
    }

    #[test]
    fn nothing_and_cycles() {
        assert_eq!(graph(0, &[]).critical_path(), Some(CriticalPath { length_cycles: 0, steps: vec![] }));
        assert_eq!(graph(2, &[(0, 1, 1), (1, 0, 1)]).critical_path(), None);
    }
}
