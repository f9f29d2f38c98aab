//! The order of the steps of a block: the best of several starting orders, improved by a local
//! search.
//!
//! An order decides two things that pull apart. Steps that use the same values should stand
//! together, so that few values are alive at once and none is spilled; steps that depend on each
//! other should stand apart, so that the core does not wait for results. Neither can be read from
//! the dependences alone: how much is spilled is known when registers are allocated, and how long
//! the core waits when it is known what was spilled. So orders are tried. Each is walked by the
//! [allocator](super::allocate), the model of the core listens to the walk, and the cycles and the
//! traffic to memory are what the order costs ([`Judge::cost`]). Registers come out of the walk as
//! well: order and allocation are one decision, not two.
//!
//! 1. **Where to start.** That of the text, depth-first ones, and those of `forward` and `turns`. A
//!    depth-first order takes the outputs one by one, next the one that needs the fewest further
//!    steps, and puts everything it needs in front of it. Steps of one table stay together: as soon
//!    as one output of an S-box is needed, the whole S-box is computed. In AES that gives the
//!    S-boxes of a column, then its MixColumns. `forward` goes from the inputs instead, to what
//!    uses the newest values, and `turns` takes several batches of blocks by turns. Which kind is
//!    better depends on the cipher and the core, so all are priced.
//! 2. **How to go on.** [`search`] moves pieces of the best one to other places, as far as
//!    dependences let them, and keeps a move that costs no more. Moves that cost the same are kept
//!    because they are how it leaves a plateau.
//! 3. **Loops.** Which carried values have registers from iteration to iteration depends on the
//!    order, and the order on them; each is chosen with the other fixed, twice.
//! 4. **Long blocks.** Pricing an order takes a walk through the whole block. Above [`LONG`] steps
//!    it is searched [part by part](super::parts), each as a block that begins with what registers
//!    hold there.
//!
//! The search has a fixed seed and a fixed number of walks: the same source gives the same code on
//! every machine, and twice the effort takes twice the time.

use super::Plan;
use super::allocate::{Allocator, Header, ends};
use super::forward::forward;
use super::parts;
use super::search::{Cost, Judge, OF_BATCHES, Planner, SHORT, graph, search};
use super::sink::Count;
use super::steps::{Block, NONE};
use super::turns;
use crate::passes::schedule_depth::depth_first;

/// The most orders that it tries for a block.
const WALKS_MAX: u64 = 20_000;
/// A block of more steps is searched part by part.
const LONG: usize = 4_000;
/// Orders tried for each part, for every million steps of the effort.
const PART_WALKS: u64 = 40;

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
