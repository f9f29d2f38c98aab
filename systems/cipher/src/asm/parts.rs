//! Searches a long block part by part, so that pricing an order does not take a walk through the
//! whole block.
//!
//! A part is searched as a block of its own. It begins with what the allocator holds at that point,
//! ends with a tail that does not move, and knows when later steps need its values. What registers
//! hold after the tail is left to the next part.

use super::allocate::{Allocator, Edge, Header};
use super::search::{Judge, graph, search};
use super::sink::Count;
use super::steps::{Block, Memory, NONE, Step, StepKind, Value, ValueOrigin};

/// Steps of a part that may move.
const LENGTH: usize = 1200;
/// Steps after them that stay in place.
const TAIL: usize = 150;

/// Searches each part of a block that carries nothing in registers, for the planner of the whole
/// and with its weights.
pub fn search_parts(block: &Block, of_whole: &Judge, order: &mut [u32], n_walks: u64) {
    let (planner, buffer) = (of_whole.planner, of_whole.buffer);
    let n = order.len();
    let mut start = 0;
    let header: Header = vec![None; block.carried.len()];
    let mut whole = Allocator::new(block, planner.constants, planner.registers);
    while start + 8 < n {
        let end = (start + LENGTH).min(n);
        whole.run_steps(order, start, &header, buffer, &mut Count::default());
        let (part, edge) = cut(block, order, (start, (end + TAIL).min(n)), &whole, buffer);
        let mut judge = Judge {
            planner,
            allocator: Allocator::part(&part, planner.constants, planner.registers, edge),
            model: planner.model.clone(),
            buffer: None,
            is_short_loop: false,
            relief: of_whole.relief,
        };
        let mut own: Vec<u32> = (0..part.steps.len() as u32).collect();
        let mut cost = judge.cost(&own, &Vec::new());
        let graph = graph(&part);
        search(
            &graph,
            &mut judge,
            &Vec::new(),
            (&mut own, &mut cost),
            (start as u64, n_walks, end - start),
        );
        let old: Vec<u32> = order[start..end].to_vec();
        for (at, from) in own[..end - start].iter().enumerate() {
            order[start + at] = old[*from as usize];
        }
        start += LENGTH * 5 / 6;
    }
}

/// The steps between two places of an order as a block of their own.
fn cut(
    block: &Block,
    order: &[u32],
    (start, end): (usize, usize),
    whole: &Allocator,
    buffer: Option<u32>,
) -> (Block, Edge) {
    let mut part = Block::default();
    let mut edge = Edge::default();
    let mut number = vec![NONE; block.origins.len()];
    let mut stores = vec![NONE; block.steps.len()];
    for (at, idx) in order[start..end].iter().enumerate() {
        let step = &block.steps[*idx as usize];
        stores[*idx as usize] = at as u32;
        let kind = match step.kind {
            StepKind::Keep(k) => {
                let address = buffer.expect("carried values in memory have buffers") + 1;
                StepKind::Store(Memory { address, offset: block.carried[k as usize].offset })
            }
            kind => kind,
        };
        let mut name = |value: Value, origin: ValueOrigin| {
            if number[value as usize] == NONE {
                number[value as usize] = part.origins.len() as u32;
                part.origins.push(origin);
                let (register, home) = whole.whereabouts(value);
                let is_new =
                    matches!(origin, ValueOrigin::Step) && register.is_none() && home.is_none();
                if !is_new {
                    edge.held.push((number[value as usize], register, home));
                }
            }
            number[value as usize]
        };
        let args = step.args.iter().map(|arg| name(*arg, block.origins[*arg as usize])).collect();
        let dst = if step.dst == NONE { NONE } else { name(step.dst, ValueOrigin::Step) };
        part.steps.push(Step { kind, lane: step.lane, dst, args, place: step.place });
    }
    for origin in &mut part.origins {
        if let ValueOrigin::Carried(_) = origin {
            *origin = ValueOrigin::Step;
        }
    }
    for (value, step) in &block.after {
        if number[*value as usize] != NONE && stores[*step as usize] != NONE {
            part.after.push((number[*value as usize], stores[*step as usize]));
        }
    }
    // The other values in registers, and when they are needed.
    for (at, idx) in order[end..].iter().enumerate().rev() {
        for arg in &block.steps[*idx as usize].args {
            let own = number[*arg as usize];
            let (register, home) = whole.whereabouts(*arg);
            let own = if own == NONE && register.is_some() {
                number[*arg as usize] = part.origins.len() as u32;
                part.origins.push(ValueOrigin::Step);
                edge.held.push((number[*arg as usize], register, home));
                number[*arg as usize]
            } else {
                own
            };
            if own != NONE {
                edge.later.push((own, (end - start + at) as u32));
            }
        }
    }
    (part, edge)
}
