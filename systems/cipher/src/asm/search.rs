//! A local search for an order of the steps of a block, and what an order costs.
//!
//! The search moves pieces of the order elsewhere and keeps a move that costs no more; the
//! allocator's count of loads, stores and copies is exact. It is deterministic, and ends after a
//! fixed number of steps.

use fastrand::Rng;

use super::allocate::{Allocator, Header, Registers};
use super::model::Model;
use super::steps::{Block, NONE};
use crate::passes::schedule_depth::DependenceGraph;

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
pub const SHORT: usize = 600;

/// The relief of a block of several batches: while one waits for memory there is work of another,
/// and what loads and stores take of the units the model counts. With a weight of a quarter
/// ChaCha20 on AVX2 keeps its batches one after the other, 0.73 cycles a byte instead of 0.60.
pub const OF_BATCHES: u32 = 8;

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

/// The dependences of a block.
pub fn graph(block: &Block) -> DependenceGraph {
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
    DependenceGraph::new(needs, &places)
}

/// Moves pieces of the first `n` steps and keeps the moves that cost no more.
pub fn search(
    graph: &DependenceGraph,
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
    graph: &DependenceGraph,
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
