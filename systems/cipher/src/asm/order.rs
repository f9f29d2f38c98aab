//! The order of the steps of a block: the best of several starting orders, improved by a local
//! search.
//!
//! The starting orders are that of the text, depth-first ones, and those of `forward` and `turns`.
//! A depth-first order takes the outputs one by one, next the one that needs the fewest further
//! steps, and puts everything it needs in front of it. Steps of one table stay together: as soon as
//! one output of an S-box is needed, the whole S-box is computed. In AES that gives the S-boxes of
//! a column, then its MixColumns.
//!
//! The search moves pieces of the order elsewhere and keeps a move that costs no more; the
//! allocator's count of loads, stores and copies is exact. It is deterministic, and ends after a
//! fixed number of steps.

use fastrand::Rng;

use super::Plan;
use super::allocate::{Allocator, Count, Header, Registers, ends};
use super::forward::forward;
use super::model::Model;
use super::parts;
use super::steps::{Block, NONE};
use super::turns;
use crate::passes::schedule_depth::{Graph, depth_first};

/// How long the search runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Effort {
    /// Steps that it may walk through, in millions.
    pub millions: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { millions: 10 }
    }
}

/// The longest piece that the search moves.
const PIECE_MAX: usize = 48;
/// The most orders that it tries for a block.
const WALKS_MAX: u64 = 20_000;
/// A block of more steps is searched part by part.
const LONG: usize = 4_000;
/// Orders tried for each part, for every million steps of the effort.
const PART_WALKS: u64 = 40;
/// The farthest that it moves a piece, in steps.
const FAR: usize = 400;

/// What blocks are planned for.
pub struct Planner<'a> {
    /// The constants of the function.
    pub constants: &'a [[u64; 2]],
    /// The registers of the target.
    pub registers: Registers,
    pub model: Model,
    /// Batches of blocks that the function works on.
    pub n_batches: u32,
    /// How long to search.
    pub effort: Effort,
}

/// Prices the orders of one block.
pub struct Judge<'a> {
    /// Constants, registers, core and effort.
    pub planner: &'a Planner<'a>,
    /// Walks through the block.
    pub allocator: Allocator<'a>,
    pub model: Model,
    /// The address of the buffer that the loop reads.
    pub buffer: Option<u32>,
    /// The block is the body of a loop, short enough that iterations overlap.
    pub is_short_loop: bool,
    /// The weight of loads and stores is divided by this.
    pub relief: u32,
}

/// Loop bodies of up to this many steps are priced together with the next iterations.
const SHORT: usize = 600;

/// The relief of a block of several batches: while one waits for memory there is work of another,
/// and what loads and stores take of the units the model counts. With a weight of a quarter
/// ChaCha20 on AVX2 keeps its batches one after the other, 0.73 cycles a byte instead of 0.60.
const OF_BATCHES: u32 = 8;

/// What an order costs: 8 for a cycle of the model, plus the weight of its loads and stores.
pub type Cost = u32;

impl Judge<'_> {
    /// What an order costs.
    pub fn cost(&mut self, order: &[u32], header: &Header) -> Cost {
        8 * self.cycles(order, header) + self.model.count.cost() / self.relief
    }

    /// Model: cycles for one run of the block. `model.count` is left as it is for one iteration.
    pub fn cycles(&mut self, order: &[u32], header: &Header) -> u32 {
        self.model.reset();
        self.allocator.run(order, header, self.buffer, &mut self.model);
        // Loads and stores are those of one iteration; the iterations below are run for their time
        // only.
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
    let graph = graph(block);
    let text: Vec<u32> = (0..block.steps.len() as u32).collect();
    let batches = turns::batches(&graph, planner.n_batches);
    let mut judge = Judge {
        planner,
        allocator: Allocator::new(block, planner.constants, planner.registers),
        model: planner.model.clone(),
        buffer,
        is_short_loop: !block.carried.is_empty() && block.steps.len() <= SHORT,
        relief: if batches.is_empty() { 1 } else { OF_BATCHES },
    };
    let mut best: Option<(Vec<u32>, Header, Cost)> = None;
    let mut of_text = 0;
    let mut orders = vec![text];
    orders.extend(depth_first(&graph));
    for near in [
        planner.registers.n / 2,
        planner.registers.n,
        2 * planner.registers.n,
        4 * planner.registers.n,
    ] {
        orders.push(forward(&graph, near));
    }
    orders.extend(turns::orders(&batches));
    for (k, order) in orders.into_iter().enumerate() {
        let (header, cost) = header(block, &mut judge, &order);
        if k == 0 {
            of_text = judge.cycles(&order, &header);
        }
        if best.as_ref().is_none_or(|best| cost < best.2) {
            best = Some((order, header, cost));
        }
    }
    let (mut order, mut carried, mut cost) = best.expect("there is the order of the text");
    let cycles = [of_text, judge.cycles(&order, &carried)];
    // The registers of carried values depend on the order, and the order on them.
    for round in 0..2 {
        let n_walks = (u64::from(planner.effort.millions) * 500_000 / order.len().max(1) as u64)
            .min(WALKS_MAX);
        if order.len() > LONG && carried.iter().all(Option::is_none) {
            let mut other = order.clone();
            parts::search_parts(
                block,
                &judge,
                &mut other,
                u64::from(planner.effort.millions) * PART_WALKS,
            );
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

/// The dependences of a block.
pub fn graph(block: &Block) -> Graph {
    let makers = block.makers();
    let mut needs: Vec<Vec<u32>> = vec![Vec::new(); block.steps.len()];
    for (at, step) in block.steps.iter().enumerate() {
        for arg in &step.args {
            let maker = makers[*arg as usize];
            if maker != u32::MAX {
                needs[at].push(maker);
            }
            needs[at]
                .extend(block.after.iter().filter(|(value, _)| value == arg).map(|pair| pair.1));
        }
        needs[at].sort_unstable();
        needs[at].dedup();
    }
    // Steps that only store belong to no table.
    let places: Vec<Option<u32>> =
        block.steps.iter().map(|step| (step.dst != NONE).then_some(step.place)).collect();
    Graph::new(needs, &places)
}

/// Moves pieces of the first `n` steps and keeps the moves that cost no more.
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
        let Some(to) = reach(graph, &order[..n], &mut mark, (from, length), far, rng.bool()) else {
            continue;
        };
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

/// The new place of a piece that moves as far as dependences allow, up to `far` steps.
fn reach(
    graph: &Graph,
    order: &[u32],
    mark: &mut [u32],
    (from, length): (usize, usize),
    far: usize,
    is_later: bool,
) -> Option<usize> {
    let piece = &order[from..from + length];
    piece.iter().for_each(|it| mark[*it as usize] = 1);
    let mut moved = 0;
    while moved < far {
        let is_free = if is_later {
            let next = order.get(from + length + moved);
            next.is_some_and(|next| {
                graph.needs[*next as usize].iter().all(|need| mark[*need as usize] == 0)
            })
        } else {
            let next = (from > moved).then(|| order[from - 1 - moved]);
            next.is_some_and(|next| {
                graph.users[next as usize].iter().all(|user| mark[*user as usize] == 0)
            })
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

/// Which carried values get registers in this order.
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
