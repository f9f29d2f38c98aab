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
//! inner loop is passed once. A computed jump, as of a `switch`, makes a path of each of its cases: these are the places in the
//! function that nothing else leads to, by the last such jump before them, or the first of all. A case that the code before it runs into, or that a branch
//! leads to as well, is not told from other code.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::DiGraph;
use petgraph::visit::DfsPostOrder;

use crate::decode::code::{Class, Delay, Flow};
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
    /// Where the computed jumps on this path lead in this round, in its order: one entry a jump.
    pub cases: Vec<usize>,
    /// There may be more cases, and this is the last of those that were looked at.
    pub has_more_cases: bool,
    /// Loops around it.
    pub depth: usize,
    /// Another loop lies on its path, which the path passes once.
    pub has_inner: bool,
    /// Rounds each time that it is entered, if that was recorded.
    pub rounds: Option<f64>,
}

/// So many rounds of one loop are told apart by their cases.
pub const CASES_MAX: usize = 32;
/// So many ways through one loop are tried: cases of jumps behind jumps multiply.
const WALKS_MAX: usize = 1000;

/// All loops that are not cold, by their heads; one with computed jumps comes once a case.
pub fn loops(function: &Function, guide: &Guide) -> Vec<Loop> {
    let n = function.instructions.len();
    let cases = cases(function);
    let edges = edges(function, &cases);
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
        let depth = around.count();
        let inside = Inside { function, liveness: &liveness, head, body, guide, cases: &cases };
        let (rounds, is_cut) = inside.rounds();
        let last = rounds.len().saturating_sub(1);
        for (nth, (round, cases)) in rounds.into_iter().enumerate() {
            let has_inner = bodies
                .iter()
                .any(|(other, it)| *other != head && body.contains(other) && body.is_superset(it) && round.places.contains(other));
            let rounds = guide.rounds(head, &backs[&head]);
            let has_more_cases = is_cut && nth == last;
            loops.push(Loop { head, body: body.clone(), round, cases, has_more_cases, depth, has_inner, rounds });
        }
    }
    loops
}

/// One loop, and what its rounds are found by.
struct Inside<'a> {
    function: &'a Function,
    liveness: &'a Liveness,
    head: usize,
    body: &'a BTreeSet<usize>,
    guide: &'a Guide<'a>,
    cases: &'a Cases,
}

/// Where a walk through a round ended.
enum Walked {
    /// At the head again.
    Round(Trace),
    /// At a computed jump of which no case was chosen yet.
    Jump(usize),
    /// Out of the loop, or where it has been.
    Nowhere,
}

impl Inside<'_> {
    /// The rounds there are, each with the cases that it takes, and whether there may be more.
    fn rounds(&self) -> (Vec<(Trace, Vec<usize>)>, bool) {
        let mut rounds = Vec::new();
        let mut open = vec![Vec::new()];
        let mut n_walks = 0;
        while let Some(chosen) = open.pop() {
            n_walks += 1;
            if n_walks > WALKS_MAX || rounds.len() == CASES_MAX {
                return (rounds, true);
            }
            match self.walk(&chosen) {
                Walked::Round(round) => rounds.push((round, chosen.iter().map(|(_, case)| *case).collect())),
                Walked::Jump(jump) => {
                    let cases = self.cases[&jump].iter().rev().filter(|it| self.body.contains(it) && !self.guide.is_cold(**it));
                    open.extend(cases.map(|case| [chosen.clone(), vec![(jump, *case)]].concat()));
                }
                Walked::Nowhere => {}
            }
        }
        (rounds, false)
    }

    /// The path from the head back to it, if one way leads there; computed jumps lead where was `chosen`.
    fn walk(&self, chosen: &[(usize, usize)]) -> Walked {
        let Inside { function, head, body, guide, .. } = *self;
        let mut is_seen = BTreeSet::new();
        let mut places = Vec::new();
        let mut idx = head;
        loop {
            if !body.contains(&idx) || !is_seen.insert(idx) {
                return Walked::Nowhere;
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
            let next = match chosen.iter().find(|(jump, _)| *jump == idx) {
                Some((_, case)) => Some(*case),
                None if self.cases.contains_key(&idx) => return Walked::Jump(idx),
                None => next,
            };
            match next {
                Some(next) if next == head => {
                    return Walked::Round(Trace::through(function, self.liveness, places, Some(head), End::Loop));
                }
                Some(next) => idx = next,
                None => return Walked::Nowhere,
            }
        }
    }
}

/// Where each computed jump may lead, by its place.
type Cases = BTreeMap<usize, Vec<usize>>;

/// The cases of the computed jumps: places that nothing else leads to, by the last such jump before them, or the first of all. A
/// jump that may not be done has what is behind it as a case, too.
fn cases(function: &Function) -> Cases {
    let n = function.instructions.len();
    let mut is_led_to = vec![false; n + 2];
    is_led_to[0] = true;
    for idx in 0..n {
        let (behind, goes_on) = behind(function, idx);
        is_led_to[behind] |= goes_on;
        if let Some(to) = function.target(idx) {
            is_led_to[to] = true;
        }
        if behind == idx + 2 {
            is_led_to[idx + 1] = true;
        }
    }
    let is_filler = |it: usize| function.instructions[it].class == Class::Nop;
    let is_computed = |it: &usize| {
        let instruction = &function.instructions[*it];
        instruction.flow == Flow::Jump && !function.callees.contains_key(&instruction.address)
    };
    let mut cases = Cases::new();
    let Some(mut jump) = (0..n).find(is_computed) else { return cases };
    for idx in 0..n {
        // What fills the space before aligned code is no case.
        let first = (idx..n).find(|it| !is_filler(*it) || is_led_to[*it]);
        let is_code = first.is_some_and(|it| it == idx || !is_led_to[it]);
        if !is_led_to[idx] && is_code {
            cases.entry(jump).or_default().push(idx);
        }
        if is_computed(&idx) {
            jump = idx;
        }
    }
    for (jump, cases) in &mut cases {
        let (behind, goes_on) = behind(function, *jump);
        if goes_on && behind < n {
            cases.push(behind);
        }
    }
    cases
}

/// The place behind an instruction and its delay slot, and whether control may come there from it.
fn behind(function: &Function, idx: usize) -> (usize, bool) {
    let instruction = &function.instructions[idx];
    let has_slot = instruction.delay != Delay::None && idx + 1 < function.instructions.len();
    let goes_on = match instruction.flow {
        Flow::Next | Flow::Call { .. } => true,
        Flow::Branch { is_conditional, .. } => is_conditional,
        Flow::Return | Flow::Resume | Flow::Jump | Flow::LastCall | Flow::Stop => instruction.is_guarded,
    };
    (idx + 1 + usize::from(has_slot), goes_on)
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
fn edges(function: &Function, cases: &Cases) -> Vec<(usize, usize)> {
    let n = function.instructions.len();
    let mut edges = Vec::new();
    for idx in 0..n {
        if idx > 0 && function.instructions[idx - 1].delay != Delay::None {
            continue;
        }
        let (behind, goes_on) = behind(function, idx);
        let has_slot = behind == idx + 2;
        let follow = goes_on.then_some(behind).into_iter().chain(function.target(idx)).chain(has_slot.then_some(idx + 1));
        let follow = follow.chain(cases.get(&idx).into_iter().flatten().copied());
        edges.extend(follow.filter(|it| *it < n).map(|to| (idx, to)));
    }
    edges
}
