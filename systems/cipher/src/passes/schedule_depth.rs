//! Puts what each output needs just in front of it, with tables kept whole: an order for bitsliced rounds.
//!
//! ```text
//! s0, s1, s2, s3 = sbox(...)            s0, s1, s2, s3 = sbox(...)
//! s4, s5, s6, s7 = sbox(...)            y0 = s0 ^ s3
//! y0 = s0 ^ s3                  --->    y1 = s1 ^ s2
//! y1 = s1 ^ s2                          s4, s5, s6, s7 = sbox(...)
//! y4 = s4 ^ s7                          y4 = s4 ^ s7
//! ```
//!
//! The outputs are taken one by one, next the one that needs the fewest further steps, and everything that it needs is put in front
//! of it. Steps of one table stay together: as soon as one output of an S-box is needed, the whole S-box is computed. In AES that gives
//! the S-boxes of a column, then its MixColumns. Of four such orders and that of the text the one that spills least is taken.
//!
//! Needs:   calls inlined; a level that has some, or a loop inside, stays as it is.
//! Keeps:   the set of equations and all dependences.
//! Costs:   equations times the outputs compared, 256 at most.
//! Source:  ours; the assembly back end begins with the same orders. Trials by hand: docs/explain/cipher-backend.md.

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
    let places: Option<Vec<Option<u32>>> =
        stmts.iter().map(|stmt| if let Stmt::Eq(eq) = stmt { Some(Some(eq.loc.start)) } else { None }).collect();
    let Some(places) = places else { return stmts };
    let graph = Graph::new(deps(node, &stmts).needs, &places);
    let cost = |stmts: &[Stmt]| spills(node, stmts, live_out, target.n_registers);
    let ordered = WAYS.map(|way| apply(stmts.clone(), &depth_first(&graph, way)));
    let best = ordered.into_iter().min_by_key(|it| cost(it)).expect("there are four");
    if cost(&best) < cost(&stmts) { best } else { stmts }
}

/// The dependences of steps, and which steps stay together.
pub struct Graph {
    /// Steps that each step needs.
    pub needs: Vec<Vec<u32>>,
    /// Steps that need each step.
    pub users: Vec<Vec<u32>>,
    /// The cluster of each step: the steps that it stays together with.
    pub cluster: Vec<u32>,
    /// The steps of each cluster.
    pub members: Vec<Vec<u32>>,
}

impl Graph {
    /// The graph of steps, given what each needs, and its place in the source if it may stay together with others.
    pub fn new(needs: Vec<Vec<u32>>, places: &[Option<u32>]) -> Graph {
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); needs.len()];
        for (at, own) in needs.iter().enumerate() {
            own.iter().for_each(|from| users[*from as usize].push(at as u32));
        }
        let (cluster, members) = clusters(places, &needs);
        Graph { needs, users, cluster, members }
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

/// Which depth-first order.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// Operands from the last to the first.
    is_reversed: bool,
    /// Step by step, tables not kept together.
    is_single: bool,
}

/// All of them.
pub const WAYS: [Way; 4] = [
    Way { is_reversed: false, is_single: false },
    Way { is_reversed: true, is_single: false },
    Way { is_reversed: false, is_single: true },
    Way { is_reversed: true, is_single: true },
];

/// Puts what each output needs in front of it; the next output is the one that needs fewest further steps.
pub fn depth_first(graph: &Graph, way: Way) -> Vec<u32> {
    let n = graph.needs.len();
    let mut is_done = vec![false; n];
    let mut order = Vec::with_capacity(n);
    let mut left: Vec<u32> = (0..n as u32).filter(|at| graph.users[*at as usize].is_empty()).collect();
    let mut mark = vec![0u32; n];
    let mut round = 0;
    while !left.is_empty() {
        let mut best = (usize::MAX, 0);
        for (k, root) in left.iter().enumerate().take(CANDIDATES) {
            round += 1;
            let size = remaining(graph, *root, &is_done, (&mut mark, round), best.0);
            if size < best.0 {
                best = (size, k);
            }
        }
        let root = left.remove(best.1);
        visit(graph, root, way, &mut is_done, &mut order);
    }
    order
}

/// Steps that an output still needs, counted up to `most`.
fn remaining(graph: &Graph, root: u32, is_done: &[bool], (mark, round): (&mut [u32], u32), most: usize) -> usize {
    let mut stack = vec![root];
    let mut n = 0;
    mark[root as usize] = round;
    while let Some(at) = stack.pop() {
        n += 1;
        if n >= most {
            return n;
        }
        for from in &graph.needs[at as usize] {
            if !is_done[*from as usize] && mark[*from as usize] != round {
                mark[*from as usize] = round;
                stack.push(*from);
            }
        }
    }
    n
}

fn visit(graph: &Graph, root: u32, Way { is_reversed, is_single }: Way, is_done: &mut [bool], order: &mut Vec<u32>) {
    // Members of the cluster of a step, and what they need from outside.
    let group = |at: u32| if is_single { vec![at] } else { graph.members[graph.cluster[at as usize] as usize].clone() };
    let mut stack: Vec<(u32, bool)> = vec![(root, false)];
    while let Some((at, is_ready)) = stack.pop() {
        if is_done[at as usize] {
            continue;
        }
        let members = group(at);
        if is_ready {
            for member in members {
                if !std::mem::replace(&mut is_done[member as usize], true) {
                    order.push(member);
                }
            }
            continue;
        }
        stack.push((at, true));
        let own = |it: u32| if is_single { it == at } else { graph.cluster[it as usize] == graph.cluster[at as usize] };
        let mut outside: Vec<u32> = Vec::new();
        for member in &members {
            for from in &graph.needs[*member as usize] {
                if !is_done[*from as usize] && !own(*from) && !outside.contains(from) {
                    outside.push(*from);
                }
            }
        }
        if !is_reversed {
            outside.reverse();
        }
        stack.extend(outside.into_iter().map(|it| (it, false)));
    }
}
