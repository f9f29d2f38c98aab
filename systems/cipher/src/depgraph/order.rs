//! The topological order that is nearest to the order of the source.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{DepGraph, Step};

impl DepGraph {
    /// All steps, each after the steps it needs; among the steps that are ready the one
    /// written first goes first, so an order that is already right stays as it is.
    /// `None` if there is a cycle, which [`DepGraph::find_cycle`] then shows.
    ///
    /// Costs: (steps + edges) times the logarithm of the steps that are ready at once.
    pub fn topological_order_stable(&self) -> Option<Vec<Step>> {
        let mut n_missing = self.in_degrees();
        let mut order = Vec::with_capacity(n_missing.len());
        let mut ready: BinaryHeap<Reverse<Step>> = (0..self.n_steps())
            .filter(|&step| n_missing[step as usize] == 0)
            .map(Reverse)
            .collect();
        while let Some(Reverse(step)) = ready.pop() {
            order.push(step);
            for other in self.successors(step) {
                let n_missing = &mut n_missing[*other as usize];
                *n_missing -= 1;
                if *n_missing == 0 {
                    ready.push(Reverse(*other));
                }
            }
        }
        (order.len() == n_missing.len()).then_some(order)
    }
}

#[cfg(test)]
mod tests {
    use crate::depgraph::{DepGraph, DependenceBuilder};

    fn graph(n_steps: u32, edges: &[(u32, u32)]) -> DepGraph {
        let mut builder = DependenceBuilder::new(n_steps);
        for &(from, to) in edges {
            builder.edge(from, to);
        }
        builder.build()
    }

    #[test]
    fn source_order_stays_when_it_is_right() {
        let order = graph(5, &[(0, 3), (1, 3), (3, 4)]).topological_order_stable();
        assert_eq!(order, Some(vec![0, 1, 2, 3, 4]));
    }

    #[test]
    fn a_step_waits_for_what_it_needs_and_no_longer() {
        let order = graph(5, &[(4, 0), (3, 1)]).topological_order_stable();
        assert_eq!(order, Some(vec![2, 3, 1, 4, 0]));
    }

    #[test]
    fn edges_may_repeat() {
        assert_eq!(graph(2, &[(1, 0), (1, 0)]).topological_order_stable(), Some(vec![1, 0]));
    }

    #[test]
    fn no_steps() {
        assert_eq!(graph(0, &[]).topological_order_stable(), Some(vec![]));
    }

    #[test]
    fn a_cycle_has_no_order() {
        assert_eq!(graph(3, &[(0, 1), (1, 0)]).topological_order_stable(), None);
        assert_eq!(graph(1, &[(0, 0)]).topological_order_stable(), None);
    }

    #[test]
    fn half_a_million_steps() {
        let n_steps = 500_000;
        let mut random = fastrand::Rng::with_seed(7);
        let mut builder = DependenceBuilder::new(n_steps);
        for step in 1..n_steps {
            for _ in 0..3 {
                builder.edge(random.u32(0..step), step);
            }
        }
        let graph = builder.build();
        let order = graph.topological_order_stable().expect("edges only go forward");
        assert_eq!(order, (0..n_steps).collect::<Vec<u32>>());
        assert_eq!(graph.find_cycle(), None);
    }
}
