//! The order of the steps of a block: several first orders, the best of them made better by a local search.
//!
//! First orders are the text's, and depth-first ones: from each output in turn, the one that needs fewest further steps, everything
//! that it needs is put in front of it. Steps of one table stay together as one: an S-box that one of its outputs asks for is
//! worked out whole. In AES that gives the S-boxes of a column, then its MixColumns.
//!
//! The search moves pieces of the order to other places and keeps what the allocator finds no worse: its count of loads, stores
//! and copies is exact. It is deterministic, and ends after so many steps walked.

use fastrand::Rng;

use super::Plan;
use super::allocate::{Allocator, Count, Header, Registers, ends};
use super::forward::forward;
use super::model::Model;
use super::parts;
use super::steps::{Block, NONE};

/// How long the search goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Effort {
    /// Steps of the walks that it may take, in millions.
    pub millions: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { millions: 10 }
    }
}

/// The longest piece that the search moves.
const PIECE_MAX: usize = 48;
/// Most orders that it tries for a block.
const WALKS_MAX: u64 = 20_000;
/// Steps from which on a block is searched part after part, and orders of each part for a million of the budget.
const LONG: usize = 4_000;
const PART_WALKS: u64 = 40;
/// The farthest that it moves one.
const FAR: usize = 400;
/// Outputs among which the next one is chosen.
const CANDIDATES: usize = 256;

/// What blocks are planned for.
pub struct Planner<'a> {
    /// Of the function.
    pub constants: &'a [[u64; 2]],
    /// Of the target.
    pub registers: Registers,
    /// The core, fresh.
    pub model: Model,
    /// How long to search.
    pub effort: Effort,
}

/// A block with what carried values have for registers, and the costs of orders.
pub struct Judge<'a> {
    /// For whom.
    pub planner: &'a Planner<'a>,
    /// Walks through the block.
    pub allocator: Allocator<'a>,
    /// The core.
    pub model: Model,
    /// The address of the read buffer.
    pub buffer: Option<u32>,
    /// The block is the body of a loop, and so short that two iterations run at once.
    pub is_short_loop: bool,
}

/// Loop bodies up to which the next iteration is looked at.
const SHORT: usize = 600;

/// What an order costs: 8 for a cycle of the model, and what loads and stores weigh beside.
pub type Cost = u32;

impl Judge<'_> {
    /// What an order costs.
    pub fn cost(&mut self, order: &[u32], header: &Header) -> Cost {
        8 * self.cycles(order, header) + self.model.count.cost()
    }

    /// Cycles of the model for one walk through the block; its model keeps what it counted.
    pub fn cycles(&mut self, order: &[u32], header: &Header) -> u32 {
        self.model.reset();
        self.allocator.run(order, header, self.buffer, &mut self.model);
        // Of one iteration: what follows is for the time alone.
        let (count, mut cycles) = (self.model.count, self.model.end());
        if self.is_short_loop {
            for _ in 0..2 {
                self.model.next_iteration();
                self.allocator.run(order, header, self.buffer, &mut self.model);
            }
            cycles = (self.model.end() - cycles) / 2;
        }
        self.model.count = count;
        cycles
    }
}

/// The best plan found.
pub fn plan<'a>(block: &'a Block, planner: &Planner, buffer: Option<u32>) -> Plan<'a> {
    let graph = Graph::new(block);
    let text: Vec<u32> = (0..block.steps.len() as u32).collect();
    let mut judge = Judge {
        planner,
        allocator: Allocator::new(block, planner.constants, planner.registers),
        model: planner.model.clone(),
        buffer,
        is_short_loop: !block.carried.is_empty() && block.steps.len() <= SHORT,
    };
    let mut best: Option<(Vec<u32>, Header, Cost)> = None;
    let mut of_text = 0;
    let mut orders = vec![text];
    for way in 0..4 {
        orders.push(depth_first(&graph, way & 1 == 1, way & 2 == 2));
    }
    for near in [planner.registers.n / 2, planner.registers.n, 2 * planner.registers.n, 4 * planner.registers.n] {
        orders.push(forward(&graph, near));
    }
    for (k, order) in orders.into_iter().enumerate() {
        let (header, cost) = header(block, &mut judge, &order);
        if k == 0 {
            of_text = judge.cycles(&order, &header);
        }
        if best.as_ref().is_none_or(|it| cost < it.2) {
            best = Some((order, header, cost));
        }
    }
    let (mut order, mut carried, mut cost) = best.expect("there is the order of the text");
    let cycles = [of_text, judge.cycles(&order, &carried)];
    // What is carried follows the order, and the other way round.
    for round in 0..2 {
        let n_walks = (u64::from(planner.effort.millions) * 500_000 / order.len().max(1) as u64).min(WALKS_MAX);
        if order.len() > LONG && carried.iter().all(Option::is_none) {
            let mut other = order.clone();
            parts::search_parts(block, planner, buffer, &mut other, u64::from(planner.effort.millions) * PART_WALKS);
            let now = judge.cost(&other, &carried);
            if now < cost {
                (order, cost) = (other, now);
            }
        } else {
            let n = order.len();
            search(&graph, &mut judge, &carried, (&mut order, &mut cost), (round, n_walks, n));
        }
        let (again, other) = header(block, &mut judge, &order);
        if other < cost {
            (carried, cost) = (again, other);
        }
    }
    let mut count = Count::default();
    judge.allocator.run(&order, &carried, buffer, &mut count);
    Plan { block, order, header: carried, buffer, count, cycles }
}

/// Who needs whom.
pub struct Graph {
    /// Steps that each step needs.
    pub needs: Vec<Vec<u32>>,
    /// Steps that need each step.
    pub users: Vec<Vec<u32>>,
    /// The steps that each step goes together with.
    pub cluster: Vec<u32>,
    /// Of each of these clusters.
    pub members: Vec<Vec<u32>>,
}

impl Graph {
    /// Of a block.
    pub fn new(block: &Block) -> Graph {
        let makers = block.makers();
        let n = block.steps.len();
        let mut needs: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (at, step) in block.steps.iter().enumerate() {
            for arg in &step.args {
                let maker = makers[*arg as usize];
                if maker != u32::MAX {
                    needs[at].push(maker);
                }
                needs[at].extend(block.after.iter().filter(|(value, _)| value == arg).map(|it| it.1));
            }
            needs[at].sort_unstable();
            needs[at].dedup();
        }
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (at, own) in needs.iter().enumerate() {
            own.iter().for_each(|from| users[*from as usize].push(at as u32));
        }
        let (cluster, members) = clusters(block, &needs);
        Graph { needs, users, cluster, members }
    }
}

/// Connected steps of one place in the source that follow each other in the text.
fn clusters(block: &Block, needs: &[Vec<u32>]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let n = block.steps.len();
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
        if block.steps[at].place != block.steps[start].place || block.steps[at].dst == NONE {
            start = at;
        }
        for from in own.iter().filter(|from| **from as usize >= start && block.steps[at].dst != NONE) {
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

/// Puts what each output needs in front of it; operands in the order of the text, or the other way round, and whole clusters or
/// single steps.
fn depth_first(graph: &Graph, is_reversed: bool, is_single: bool) -> Vec<u32> {
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
        visit(graph, root, (is_reversed, is_single), &mut is_done, &mut order);
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

fn visit(graph: &Graph, root: u32, (is_reversed, is_single): (bool, bool), is_done: &mut [bool], order: &mut Vec<u32>) {
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

/// Moves pieces of the first `n` steps while that costs no more.
pub fn search(
    graph: &Graph,
    judge: &mut Judge,
    header: &Header,
    (order, cost): (&mut Vec<u32>, &mut Cost),
    (seed, n_walks, n): (u64, u64, usize),
) {
    if n < 4 {
        return;
    }
    let mut rng = Rng::with_seed(1 + seed);
    let mut mark = vec![0u32; order.len()];
    let mut other = order.clone();
    for _ in 0..n_walks {
        let length = if rng.bool() { 1 } else { 1 + rng.usize(..PIECE_MAX.min(n / 2)) };
        let from = rng.usize(..=n - length);
        let far = 1 + rng.usize(..FAR.min(n));
        let Some(to) = reach(graph, &order[..n], &mut mark, (from, length), far, rng.bool()) else { continue };
        other.clone_from(order);
        if to > from {
            other[from..to + length].rotate_left(length)
        } else {
            other[to..from + length].rotate_right(length)
        };
        let now = judge.cost(&other, header);
        if now <= *cost {
            std::mem::swap(order, &mut other);
            *cost = now;
        }
    }
}

/// How far a piece can move, up to `far` steps, so that nothing comes before what it needs; its new place.
fn reach(graph: &Graph, order: &[u32], mark: &mut [u32], (from, length): (usize, usize), far: usize, is_later: bool) -> Option<usize> {
    let piece = &order[from..from + length];
    piece.iter().for_each(|it| mark[*it as usize] = 1);
    let mut moved = 0;
    while moved < far {
        let is_free = if is_later {
            let next = order.get(from + length + moved);
            next.is_some_and(|next| graph.needs[*next as usize].iter().all(|it| mark[*it as usize] == 0))
        } else {
            let next = (from > moved).then(|| order[from - 1 - moved]);
            next.is_some_and(|next| graph.users[next as usize].iter().all(|it| mark[*it as usize] == 0))
        };
        if !is_free {
            break;
        }
        moved += 1;
    }
    piece.iter().for_each(|it| mark[*it as usize] = 0);
    match (moved, is_later) {
        (0, _) => None,
        (_, true) => Some(from + moved),
        (_, false) => Some(from - moved),
    }
}

/// Which carried values have registers, for this order.
fn header(block: &Block, judge: &mut Judge, order: &[u32]) -> (Header, Cost) {
    let n = block.carried.len();
    let none: Header = vec![None; n];
    let cost = judge.cost(order, &none);
    let mut best = (none, cost);
    if n == 0 {
        return best;
    }
    let mut place = vec![u32::MAX; block.origins.len()];
    let mut made = vec![0; block.origins.len()];
    for (at, idx) in order.iter().enumerate().rev() {
        let step = &block.steps[*idx as usize];
        step.args.iter().for_each(|arg| place[*arg as usize] = at as u32);
        if step.dst != NONE {
            made[step.dst as usize] = at as u32;
        }
    }
    // The shorter the time from the end of one iteration to the first use in the next, the better.
    let span = |k: &usize| {
        let it = block.carried[*k];
        place[it.from as usize].saturating_add(order.len() as u32 - made[it.next as usize])
    };
    let mut ranked: Vec<usize> = (0..n).collect();
    ranked.sort_by_key(span);
    let registers = judge.planner.registers;
    for k in 1..=n.min(registers.n - 1) {
        let mut header: Header = vec![None; n];
        ranked[..k].iter().enumerate().for_each(|(r, c)| header[*c] = Some(r as u8));
        for _ in 0..3 {
            let cost = judge.cost(order, &header);
            if cost < best.1 {
                best = (header.clone(), cost);
            }
            header = ends(block, judge.planner.constants, registers, order, &header, judge.buffer);
        }
    }
    best
}
