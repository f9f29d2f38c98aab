//! The cycle to show to the user when steps need each other in a circle.
//!
//! 1. Remove every step that can be ordered from the front or from the back, until there are none:
//!    what stays lies on cycles or on paths between them.
//! 2. Every step that stays has a successor that stays, so a walk along them must come back
//!    to a step it has seen: a first cycle, perhaps a long one.
//! 3. From some of the steps that stay, search breadth first for a shorter way back. A short
//!    cycle reads better, but the shortest of all would cost a search from every step, so
//!    only [`N_STARTS`] on the first cycle and [`N_STARTS`] others are tried.

use std::collections::VecDeque;

use super::{DepGraph, Step};

/// From how many steps a way back is searched.
const N_STARTS: usize = 16;

impl DepGraph {
    /// A cycle `[a, b, c]` with the edges a to b, b to c, c to a; `None` if there is none. It
    /// starts at its smallest step and is the shortest of those through the first steps tried.
    pub fn find_cycle(&self) -> Option<Vec<Step>> {
        let stays = self.steps_between_cycles();
        let first_stay = (0..self.n_steps()).find(|&step| stays[step as usize])?;
        let mut cycle = self.walk_until_seen(first_stay, &stays);
        let on_cycle = cycle.iter().copied().take(N_STARTS);
        let others = (0..self.n_steps()).filter(|&step| stays[step as usize]).take(N_STARTS);
        let starts: Vec<Step> = on_cycle.chain(others).collect();
        for start in starts {
            if let Some(shorter) = self.way_back(start, &stays, cycle.len() - 1) {
                cycle = shorter;
            }
        }
        let first =
            cycle.iter().enumerate().min_by_key(|(_, step)| **step).map_or(0, |(idx, _)| idx);
        cycle.rotate_left(first);
        Some(cycle)
    }

    /// True for the steps that cannot be ordered from either end.
    fn steps_between_cycles(&self) -> Vec<bool> {
        let n_steps = self.n_steps();
        let mut stays = vec![true; n_steps as usize];
        let n_in = self.in_degrees();
        let n_out: Vec<u32> = (0..n_steps).map(|step| count(self.successors(step))).collect();
        for (mut n_left, forward) in [(n_in, true), (n_out, false)] {
            let mut free: Vec<Step> =
                (0..n_steps).filter(|&step| n_left[step as usize] == 0).collect();
            while let Some(step) = free.pop() {
                stays[step as usize] = false;
                let edges = if forward { self.successors(step) } else { self.predecessors(step) };
                for other in edges {
                    let n_left = &mut n_left[*other as usize];
                    *n_left -= 1;
                    if *n_left == 0 {
                        free.push(*other);
                    }
                }
            }
        }
        stays
    }

    /// The cycle that following the first staying successor from `start` runs into.
    fn walk_until_seen(&self, start: Step, stays: &[bool]) -> Vec<Step> {
        let mut place_of = vec![usize::MAX; stays.len()];
        let mut walk: Vec<Step> = Vec::new();
        let mut step = start;
        while place_of[step as usize] == usize::MAX {
            place_of[step as usize] = walk.len();
            walk.push(step);
            let next = self.successors(step).iter().find(|other| stays[**other as usize]);
            step = *next.expect("a step that stays has a successor that stays");
        }
        walk.split_off(place_of[step as usize])
    }

    /// The shortest cycle through `start` of at most `n_steps_max` steps.
    fn way_back(&self, start: Step, stays: &[bool], n_steps_max: usize) -> Option<Vec<Step>> {
        let mut came_from: Vec<Step> = vec![Step::MAX; stays.len()];
        let mut queue = VecDeque::from([(start, 1)]);
        while let Some((step, n_steps)) = queue.pop_front() {
            if n_steps > n_steps_max {
                break;
            }
            for other in self.successors(step).iter().filter(|other| stays[**other as usize]) {
                if *other == start {
                    return Some(trace(start, step, &came_from));
                }
                let before = &mut came_from[*other as usize];
                if *before == Step::MAX {
                    *before = step;
                    queue.push_back((*other, n_steps + 1));
                }
            }
        }
        None
    }
}

/// The way from `start` to `last`, read backwards from `last`.
fn trace(start: Step, last: Step, came_from: &[Step]) -> Vec<Step> {
    let mut cycle = vec![last];
    let mut step = last;
    while step != start {
        step = came_from[step as usize];
        cycle.push(step);
    }
    cycle.reverse();
    cycle
}

fn count(edges: &[Step]) -> u32 {
    u32::try_from(edges.len()).expect("the builder counts edges in 32 bits")
}

#[cfg(test)]
mod tests {
    use crate::depgraph::DependenceBuilder;

    fn check(n_steps: u32, edges: &[(u32, u32)], cycle: Option<&[u32]>) {
        let mut builder = DependenceBuilder::new(n_steps);
        for &(from, to) in edges {
            builder.edge(from, to);
        }
        assert_eq!(builder.build().find_cycle().as_deref(), cycle);
    }

    #[test]
    fn no_cycle() {
        check(0, &[], None);
        check(4, &[(0, 1), (1, 2), (0, 2), (3, 2)], None);
    }

    #[test]
    fn a_step_that_needs_itself() {
        check(3, &[(0, 1), (1, 1), (1, 2)], Some(&[1]));
    }

    #[test]
    fn the_shorter_of_two() {
        check(7, &[(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 4), (3, 4), (5, 6)], Some(&[4, 5]));
    }

    #[test]
    fn it_starts_at_its_smallest_step() {
        check(5, &[(4, 2), (2, 3), (3, 4), (0, 4), (3, 1)], Some(&[2, 3, 4]));
    }

    #[test]
    fn steps_between_cycles_are_not_the_cycle() {
        // 0 -> 1 -> 0, then 2 and 3 lie between, then 4 -> 5 -> 6 -> 4.
        check(7, &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 4)], Some(&[0, 1]));
    }

    #[test]
    fn a_long_way_to_a_cycle() {
        // 0 and 1 in a circle, a long chain from there, two steps in a circle at its end.
        let n_steps = 300_000;
        let mut builder = DependenceBuilder::new(n_steps);
        for step in 0..n_steps - 1 {
            builder.edge(step, step + 1);
        }
        builder.edge(n_steps - 1, n_steps - 2);
        builder.edge(1, 0);
        assert_eq!(builder.build().find_cycle(), Some(vec![n_steps - 2, n_steps - 1]));
    }

    #[test]
    fn one_long_cycle() {
        let n_steps = 300_000;
        let mut builder = DependenceBuilder::new(n_steps);
        for step in 0..n_steps {
            builder.edge(step, (step + 1) % n_steps);
        }
        let cycle = builder.build().find_cycle().expect("the ring is a cycle");
        assert_eq!(cycle, (0..n_steps).collect::<Vec<u32>>());
    }
}
