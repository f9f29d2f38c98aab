//! Puts what each output needs just in front of it, with tables kept whole: an order for bitsliced
//! rounds.
//!
//! ```text
//! s0, s1, s2, s3 = sbox(...)            s0, s1, s2, s3 = sbox(...)
//! s4, s5, s6, s7 = sbox(...)            y0 = s0 ^ s3
//! y0 = s0 ^ s3                  --->    y1 = s1 ^ s2
//! y1 = s1 ^ s2                          s4, s5, s6, s7 = sbox(...)
//! y4 = s4 ^ s7                          y4 = s4 ^ s7
//! ```
//!
//! The outputs are taken one by one, next the one that needs the fewest further steps, and
//! everything that it needs is put in front of it. Steps of one table stay together: as soon as one
//! output of an S-box is needed, the whole S-box is computed. In AES that gives the S-boxes of a
//! column, then its MixColumns. Of four such orders and that of the text the one that spills least
//! is taken.
//!
//! Needs:   calls inlined; a level that has some, or a loop inside, stays as it is.
//! Keeps:   the set of equations and all dependences.
//! Costs:   equations times the outputs that need them, of 256 at a time.
//! Source:  ours; the assembly back end begins with the same orders. Trials by hand:
//! docs/explain/cipher-backend.md.

use std::collections::BTreeSet;

use crate::ir::{Node, Stmt, VarId};
use crate::target::Target;

use super::estimate::spills;
use super::list::deps;
use super::order::{apply, each_level};

/// Outputs among which the next one is chosen.
const CANDIDATES: usize = 256;

/// Reorders every level of the node.
pub fn schedule_depth(node: &mut Node, target: &Target) {
    each_level(node, |node, stmts, live_out| level(node, stmts, live_out, target));
}

fn level(node: &Node, stmts: Vec<Stmt>, live_out: &BTreeSet<VarId>, target: &Target) -> Vec<Stmt> {
    let places: Option<Vec<Option<u32>>> = stmts
        .iter()
        .map(|stmt| if let Stmt::Eq(eq) = stmt { Some(Some(eq.loc.start)) } else { None })
        .collect();
    let Some(places) = places else { return stmts };
    let graph = DependenceGraph::new(deps(node, &stmts).needs, &places);
    let cost = |stmts: &[Stmt]| spills(node, stmts, live_out, target.n_registers);
    let ordered = depth_first(&graph).map(|order| apply(stmts.clone(), &order));
    let best = ordered.into_iter().min_by_key(|it| cost(it)).expect("there are four");
    if cost(&best) < cost(&stmts) { best } else { stmts }
}

/// The dependences of steps, and which steps stay together.
pub struct DependenceGraph {
    /// Steps that each step needs.
    pub needs: Vec<Vec<u32>>,
    /// Steps that need each step.
    pub users: Vec<Vec<u32>>,
    /// The cluster of each step: the steps that it stays together with.
    pub cluster: Vec<u32>,
    /// The steps of each cluster.
    pub members: Vec<Vec<u32>>,
}

impl DependenceGraph {
    /// The graph of steps, given what each needs, and its place in the source if it may
    /// stay together with others.
    pub fn new(needs: Vec<Vec<u32>>, places: &[Option<u32>]) -> DependenceGraph {
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); needs.len()];
        for (at, own) in needs.iter().enumerate() {
            own.iter().for_each(|from| users[*from as usize].push(at as u32));
        }
        let (cluster, members) = clusters(places, &needs);
        DependenceGraph { needs, users, cluster, members }
    }
}

/// Clusters: connected steps of one place in the source that follow each other in the text.
fn clusters(places: &[Option<u32>], needs: &[Vec<u32>]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let n = places.len();
    let mut parent: Vec<u32> = (0..n as u32).collect();
    fn root(parent: &mut [u32], mut at: u32) -> u32 {
        while parent[at as usize] != at {
            parent[at as usize] = parent[parent[at as usize] as usize];
            at = parent[at as usize];
        }
        at
    }
    let mut start = 0;
    for (at, own) in needs.iter().enumerate() {
        if places[at] != places[start] || places[at].is_none() {
            start = at;
        }
        for from in own.iter().filter(|from| **from as usize >= start && places[at].is_some()) {
            let (a, b) = (root(&mut parent, *from), root(&mut parent, at as u32));
            parent[b as usize] = a;
        }
    }
    let mut members: Vec<Vec<u32>> = Vec::new();
    let mut cluster = vec![u32::MAX; n];
    let mut of_root = vec![u32::MAX; n];
    for at in 0..n as u32 {
        let top = root(&mut parent, at) as usize;
        if of_root[top] == u32::MAX {
            of_root[top] = members.len() as u32;
            members.push(Vec::new());
        }
        cluster[at as usize] = of_root[top];
        members[of_root[top] as usize].push(at);
    }
    (cluster, members)
}

#[derive(Debug, Clone, Copy)]
struct DepthWay {
    /// Operands from the last to the first.
    is_reversed: bool,
    /// Step by step, tables not kept together.
    is_single: bool,
}

const WAYS: [DepthWay; 4] = [
    DepthWay { is_reversed: false, is_single: false },
    DepthWay { is_reversed: true, is_single: false },
    DepthWay { is_reversed: false, is_single: true },
    DepthWay { is_reversed: true, is_single: true },
];

/// Four orders that put what each output needs in front of it; the next output is the one that
/// needs fewest further steps.
pub fn depth_first(graph: &DependenceGraph) -> [Vec<u32>; 4] {
    let begin = DepthWalk::new(graph);
    WAYS.map(|way| begin.clone().order(way))
}

/// An order that is being made.
#[derive(Clone)]
struct DepthWalk<'a> {
    graph: &'a DependenceGraph,
    /// The outputs among which the next one is chosen, each with its number in `needed_by` and
    /// `n_needed`.
    near: Vec<(u32, usize)>,
    /// The outputs after them, the next one last.
    far: Vec<u32>,
    /// The outputs in `near` that need each step, a bit each.
    needed_by: Vec<[u64; CANDIDATES / 64]>,
    /// The steps that each output in `near` needs and that are not in the order.
    n_needed: [u32; CANDIDATES],
    is_done: Vec<bool>,
    order: Vec<u32>,
}

impl<'a> DepthWalk<'a> {
    fn new(graph: &'a DependenceGraph) -> DepthWalk<'a> {
        let n = graph.needs.len();
        let far: Vec<u32> =
            (0..n as u32).rev().filter(|at| graph.users[*at as usize].is_empty()).collect();
        let needed_by = vec![[0; CANDIDATES / 64]; n];
        let (is_done, order) = (vec![false; n], Vec::with_capacity(n));
        let mut walk = DepthWalk {
            graph,
            near: Vec::new(),
            far,
            needed_by,
            n_needed: [0; CANDIDATES],
            is_done,
            order,
        };
        (0..CANDIDATES).for_each(|number| walk.come_near(number));
        walk
    }

    /// Takes the next output from afar, if there is one, and counts what it needs.
    fn come_near(&mut self, number: usize) {
        let Some(root) = self.far.pop() else { return };
        self.near.push((root, number));
        let (word, bit) = (number / 64, 1 << (number % 64));
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            let bits = &mut self.needed_by[at as usize][word];
            if !self.is_done[at as usize] && *bits & bit == 0 {
                *bits |= bit;
                self.n_needed[number] += 1;
                stack.extend(&self.graph.needs[at as usize]);
            }
        }
    }

    fn order(mut self, way: DepthWay) -> Vec<u32> {
        while !self.near.is_empty() {
            // An output that came with its table needs no step more, and is as near as one that
            // needs a step of its own.
            let next = (0..self.near.len())
                .min_by_key(|&k| self.n_needed[self.near[k].1].max(1))
                .expect("there is one");
            let (root, number) = self.near.remove(next);
            let n_before = self.order.len();
            visit(self.graph, root, way, &mut self.is_done, &mut self.order);
            for &at in &self.order[n_before..] {
                for (word, bits) in self.needed_by[at as usize].into_iter().enumerate() {
                    let mut bits = bits;
                    while bits != 0 {
                        self.n_needed[64 * word + bits.trailing_zeros() as usize] -= 1;
                        bits &= bits - 1;
                    }
                }
            }
            self.come_near(number);
        }
        self.order
    }
}

fn visit(
    graph: &DependenceGraph,
    root: u32,
    DepthWay { is_reversed, is_single }: DepthWay,
    is_done: &mut [bool],
    order: &mut Vec<u32>,
) {
    let mut stack: Vec<(u32, bool)> = vec![(root, false)];
    let mut outside: Vec<u32> = Vec::new();
    while let Some((at, is_ready)) = stack.pop() {
        if is_done[at as usize] {
            continue;
        }
        // Members of the cluster of a step, and what they need from outside.
        let own = [at];
        let members =
            if is_single { &own[..] } else { &graph.members[graph.cluster[at as usize] as usize] };
        if is_ready {
            for &member in members {
                if !std::mem::replace(&mut is_done[member as usize], true) {
                    order.push(member);
                }
            }
            continue;
        }
        stack.push((at, true));
        let is_member = |number: u32| {
            if is_single {
                number == at
            } else {
                graph.cluster[number as usize] == graph.cluster[at as usize]
            }
        };
        outside.clear();
        for from in members.iter().flat_map(|member| &graph.needs[*member as usize]) {
            if !is_done[*from as usize] && !is_member(*from) && !outside.contains(from) {
                outside.push(*from);
            }
        }
        if !is_reversed {
            outside.reverse();
        }
        stack.extend(outside.iter().map(|found| (*found, false)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by counting anew what each output needs, each time.
    fn counted_anew(graph: &DependenceGraph, way: DepthWay) -> Vec<u32> {
        let n = graph.needs.len();
        let (mut is_done, mut order) = (vec![false; n], Vec::new());
        let mut left: Vec<u32> =
            (0..n as u32).filter(|at| graph.users[*at as usize].is_empty()).collect();
        while !left.is_empty() {
            let needed = |root: u32| {
                let (mut met, mut stack) = (BTreeSet::from([root]), vec![root]);
                while let Some(at) = stack.pop() {
                    stack.extend(
                        graph.needs[at as usize]
                            .iter()
                            .filter(|need| !is_done[**need as usize] && met.insert(**need)),
                    );
                }
                met.len()
            };
            let next = (0..left.len().min(CANDIDATES))
                .min_by_key(|&k| needed(left[k]))
                .expect("there is one");
            visit(graph, left.remove(next), way, &mut is_done, &mut order);
        }
        order
    }

    /// Also where more outputs are left than are compared, and where some come with
    /// the tables of others.
    #[test]
    fn the_next_output_is_one_that_needs_fewest_steps() {
        for seed in 0..2 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let n = 1600u32;
            let needs: Vec<Vec<u32>> = (0..n)
                .map(|at| {
                    let near =
                        BTreeSet::from([(); 2].map(|()| rng.u32(at.saturating_sub(400)..=at)));
                    near.into_iter().filter(|found| *found < at).collect()
                })
                .collect();
            let places: Vec<Option<u32>> =
                (0..n).map(|at| (at % 7 > 0).then_some(at / 5)).collect();
            let graph = DependenceGraph::new(needs, &places);
            let n_outputs = graph.users.iter().filter(|user| user.is_empty()).count();
            assert!(n_outputs > CANDIDATES, "seed {seed}: {n_outputs} outputs are all compared");
            assert_eq!(
                depth_first(&graph),
                WAYS.map(|way| counted_anew(&graph, way)),
                "seed {seed}"
            );
        }
    }
}
