//! The loops of a function, and the path that one round of each takes.
//!
//! ```text
//! 1: ldr x3, [x0], #8     the head: the branch below leads back to it
//!    cbz x3, 2f           leaves the loop: not on the path of a round
//!    add x2, x2, x3
//!    subs x1, x1, #1
//!    b.ne 1b
//! ```
//!
//! A loop is an edge back to a head that every way to the edge passes, and all that reaches the edge without passing the
//! head (a natural loop); what is entered in two places is none. The path of a round stays in the loop, avoids what is cold, and goes straight on where both is possible; an
//! inner loop is passed once.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::DiGraph;
use petgraph::visit::DfsPostOrder;

use crate::decode::code::{Delay, Flow};
use crate::facts::liveness::Liveness;
use crate::facts::trace::{End, Guide, Trace, step};
use crate::program::function::Function;

/// A loop, as places in the function's instructions.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Where a round begins.
    pub head: usize,
    /// All that belongs to it.
    pub body: BTreeSet<usize>,
    /// The path of one round.
    pub round: Trace,
    /// Loops around it.
    pub depth: usize,
    /// Another loop lies on its path, which the path passes once.
    pub has_inner: bool,
    /// Rounds each time that it is entered, if that was recorded.
    pub rounds: Option<f64>,
}

/// All loops that are not cold, by their heads.
pub fn loops(function: &Function, guide: &Guide) -> Vec<Loop> {
    let n = function.instructions.len();
    let edges = edges(function);
    let mut before = vec![Vec::new(); n];
    edges.iter().for_each(|(from, to)| before[*to].push(*from));
    let flow = DiGraph::<(), (), usize>::from_edges(&edges);
    if flow.node_count() == 0 {
        return Vec::new();
    }
    let dominators = simple_fast(&flow, 0.into());
    // An edge back is one that leads to an earlier place of every walk in depth.
    let mut order = vec![0; n];
    let mut walk = DfsPostOrder::new(&flow, 0.into());
    for nth in 1.. {
        let Some(place) = walk.next(&flow) else { break };
        order[place.index()] = nth;
    }
    // The bodies of loops with one head are one loop.
    let mut bodies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut backs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(from, head) in &edges {
        let is_back =
            order[from] <= order[head] && dominators.dominators(from.into()).is_some_and(|mut all| all.any(|it| it.index() == head));
        if is_back && !guide.is_cold(from) {
            backs.entry(head).or_default().push(from);
            bodies.entry(head).or_default().extend(natural(&before, head, from));
        }
    }
    let liveness = Liveness::of(function);
    let mut loops = Vec::new();
    for (&head, body) in &bodies {
        let around = bodies.iter().filter(|(other, it)| **other != head && it.contains(&head) && it.is_superset(body));
        let Some(round) = round(function, &liveness, head, body, guide) else { continue };
        let has_inner =
            bodies.iter().any(|(other, it)| *other != head && body.contains(other) && body.is_superset(it) && round.places.contains(other));
        loops.push(Loop { head, body: body.clone(), round, depth: around.count(), has_inner, rounds: guide.rounds(head, &backs[&head]) });
    }
    loops
}

/// The path from the head back to it, if one way leads there.
fn round(function: &Function, liveness: &Liveness, head: usize, body: &BTreeSet<usize>, guide: &Guide) -> Option<Trace> {
    let mut is_seen = BTreeSet::new();
    let mut places = Vec::new();
    let mut idx = head;
    loop {
        if !body.contains(&idx) || !is_seen.insert(idx) {
            return None;
        }
        places.push(idx);
        let is_open = |it: usize| body.contains(&it) && !is_seen.contains(&it);
        // The way back to the head is taken where nothing else is left, and what is cold where the loop has nothing else.
        let (next, slot) = step(function, idx, |there, behind| match (is_open(there), is_open(behind)) {
            (true, true) => guide.is_taken(idx, there, behind, is_open),
            (true, false) => !(behind == head && guide.is_cold(there)),
            (false, true) => there == head && guide.is_cold(behind),
            (false, false) => there == head,
        });
        places.extend(slot);
        match next {
            Some(next) if next == head => return Some(Trace::through(function, liveness, places, Some(head), End::Loop)),
            Some(next) => idx = next,
            None => return None,
        }
    }
}

/// All that reaches `from` without passing `head`, and both.
fn natural(before: &[Vec<usize>], head: usize, from: usize) -> BTreeSet<usize> {
    let mut body = BTreeSet::from([head]);
    let mut open = vec![from];
    while let Some(idx) = open.pop() {
        if body.insert(idx) {
            open.extend(&before[idx]);
        }
    }
    body
}

/// From where to where control may go, as places; a delay slot belongs to its branch.
fn edges(function: &Function) -> Vec<(usize, usize)> {
    let n = function.instructions.len();
    let mut edges = Vec::new();
    for (idx, instruction) in function.instructions.iter().enumerate() {
        if idx > 0 && function.instructions[idx - 1].delay != Delay::None {
            continue;
        }
        let has_slot = instruction.delay != Delay::None && idx + 1 < n;
        let behind = idx + 1 + usize::from(has_slot);
        let goes_on = match instruction.flow {
            Flow::Next | Flow::Call { .. } => true,
            Flow::Branch { is_conditional, .. } => is_conditional,
            Flow::Return | Flow::Resume | Flow::Jump | Flow::LastCall | Flow::Stop => instruction.is_guarded,
        };
        let follow = goes_on.then_some(behind).into_iter().chain(function.target(idx)).chain(has_slot.then_some(idx + 1));
        edges.extend(follow.filter(|it| *it < n).map(|to| (idx, to)));
    }
    edges
}
