//! The search and its bounds, on problems out of nothing.

use std::collections::BTreeSet;

use audit::timing::bound::{Job, bound_cycles, bounds, cycles, distance, job, makespan};
use audit::timing::depend::{Edge, Why};
use audit::timing::pipe::{Need, Pipe};
use audit::timing::search::{NODES_MAX, search};
use audit::timing::stalls::{causes, time};
use fastrand::Rng;
use machine::UnitSet;
use machine::in_order::Core;

use super::core;

const CORES: [&str; 4] = ["arm1136jf-s", "cortex-a53", "sifive-u74", "leon3"];

/// A problem out of nothing: needs and edges that lead forwards.
fn problem(rng: &mut Rng, core: &Core, n: usize) -> (Vec<Need>, Vec<Edge>) {
    let n_units = core.units.len() as u32;
    let needs = (0..n)
        .map(|_| {
            let issue_cycles = [0, 1, 1, 1, 1, 1, 2, 3][rng.usize(0..8)];
            let units =
                if rng.bool() { UnitSet(rng.u32(1..1 << n_units)) } else { UnitSet::default() };
            // As in machine files: what may take any of several units takes it for one cycle.
            let unit_cycles = if units.0.is_power_of_two() { rng.u32(1..4) } else { 1 };
            Need {
                is_taken: issue_cycles > 0 && rng.u32(0..8) == 0,
                issue_cycles,
                slots: if issue_cycles == 0 { 0 } else { rng.u32(1..=core.issue_width) },
                units,
                unit_cycles,
                holds: (rng.u32(0..8) == 0)
                    .then(|| (UnitSet(1 << rng.u32(0..n_units)), rng.u32(1..4))),
                is_first: core.pairing.is_some() && issue_cycles > 0 && rng.u8(..4) == 0,
            }
        })
        .collect();
    let mut edges = Vec::new();
    for to in 1..n {
        for from in 0..to {
            if rng.u32(0..4) == 0 {
                edges.push(Edge {
                    from: from as u32,
                    to: to as u32,
                    cycles: rng.u32(0..5),
                    why: Why::Memory,
                });
            }
        }
    }
    edges.sort_by_key(|edge| (edge.to, edge.from));
    (needs, edges)
}

/// The fewest cycles of all orders.
fn brute_force(needs: &[Need], edges: &[Edge], core: &Core) -> u32 {
    fn extend(
        needs: &[Need],
        edges: &[Edge],
        pipe: &Pipe,
        starts: &mut Vec<Option<u32>>,
        best: &mut u32,
    ) {
        if starts.iter().all(Option::is_some) {
            *best = (*best).min(pipe.passed());
            return;
        }
        for at in 0..needs.len() {
            let own = edges.iter().filter(|edge| edge.to as usize == at);
            let ready: Option<Vec<u32>> =
                own.map(|own| Some(starts[own.from as usize]? + own.cycles)).collect();
            let (None, Some(ready)) = (starts[at], ready) else { continue };
            let mut after = pipe.clone();
            let start = after.start(&needs[at], ready.into_iter().max().unwrap_or(0));
            after.take(&needs[at], start);
            starts[at] = Some(start);
            extend(needs, edges, &after, starts, best);
            starts[at] = None;
        }
    }
    let mut best = u32::MAX;
    extend(needs, edges, &Pipe::new(core), &mut vec![None; needs.len()], &mut best);
    best
}

#[test]
fn the_search_finds_what_brute_force_finds() {
    for seed in 0..2000 {
        let mut rng = Rng::with_seed(seed);
        let core = core(CORES[rng.usize(0..CORES.len())]);
        let n = rng.usize(1..=7);
        let (needs, edges) = problem(&mut rng, &core, n);
        let best = brute_force(&needs, &edges, &core);
        let found = search(&needs, &edges, &core, NODES_MAX);
        assert_eq!(
            (found.total_cycles, found.bound_cycles),
            (best, best),
            "seed {seed} on {}",
            core.name
        );
        assert!(bounds(&needs, &edges, &core).total_cycles <= best, "seed {seed} on {}", core.name);
    }
}

/// The shortest time for all jobs: of those with such heads and such tails no two run at once.
fn shortest(jobs: &[Job]) -> i64 {
    let both = jobs.iter().flat_map(|first| jobs.iter().map(|second| (first.head, second.tail)));
    let through = both.map(|(head, tail)| {
        let slots: Vec<i64> = jobs
            .iter()
            .filter(|job| job.head >= head && job.tail >= tail)
            .map(|job| job.slots)
            .collect();
        if slots.is_empty() { 0 } else { head + tail + slots.iter().sum::<i64>() }
    });
    through.max().unwrap_or(0).max(0)
}

#[test]
fn heads_and_tails_are_what_their_definition_says() {
    for seed in 0..300 {
        let mut rng = Rng::with_seed(seed);
        let core = core(CORES[rng.usize(0..CORES.len())]);
        let n = rng.usize(1..=24);
        let (needs, edges) = problem(&mut rng, &core, n);
        let mut apart = vec![vec![None; n]; n];
        for (from, longest) in apart.iter_mut().enumerate() {
            longest[from] = Some(0);
            for edge in &edges {
                let through = longest[edge.from as usize]
                    .map(|longest| longest + distance(edge, &needs, &core));
                longest[edge.to as usize] = longest[edge.to as usize].max(through);
            }
        }
        let found = bounds(&needs, &edges, &core);
        let mut heads: Vec<u32> = Vec::new();
        for at in 0..n {
            let chain = edges.iter().filter(|edge| edge.to as usize == at).map(|edge| {
                // The chain of plain latencies, without what the slots add.
                let plain = (0..at).filter_map(|from| {
                    Some(apart[from][edge.from as usize]? + distance(edge, &needs, &core))
                });
                plain.max().unwrap_or(0)
            });
            let before: Vec<Job> = (0..at)
                .filter_map(|idx| Some(job(&needs[idx], &core, heads[idx], apart[idx][at]?)))
                .collect();
            assert_eq!(makespan(&before), shortest(&before), "seed {seed} on {}", core.name);
            heads.push(chain.max().unwrap_or(0).max(cycles(shortest(&before), &core)));
        }
        let mut tails: Vec<u32> = vec![0; n];
        for at in (0..n).rev() {
            let chain = (at..n)
                .filter_map(|to| Some(apart[at][to]? + needs[to].issue_cycles))
                .max()
                .unwrap_or(0);
            let behind = (at + 1..n)
                .filter_map(|to| Some(job(&needs[to], &core, apart[at][to]?, tails[to])));
            let jobs: Vec<Job> =
                behind.chain([job(&needs[at], &core, 0, needs[at].issue_cycles)]).collect();
            tails[at] = chain.max(cycles(shortest(&jobs), &core));
        }
        assert_eq!((found.heads, found.tails), (heads, tails), "seed {seed} on {}", core.name);
        let order: Vec<u32> = (0..n as u32).collect();
        let written = time(&needs, &edges, &order, &core).total_cycles;
        assert_eq!(
            bound_cycles(&needs, &edges, &core, written),
            found.total_cycles,
            "seed {seed} on {}",
            core.name
        );
    }
}

#[test]
fn longer_orders_lie_above_their_bounds_and_keep_all_edges() {
    for seed in 0..100 {
        let mut rng = Rng::with_seed(seed);
        let core = core(CORES[rng.usize(0..CORES.len())]);
        let n = rng.usize(20..90);
        let (needs, edges) = problem(&mut rng, &core, n);
        let found = search(&needs, &edges, &core, 500);
        let timing = time(&needs, &edges, &found.order, &core);
        assert!(found.bound_cycles <= found.total_cycles, "seed {seed}");
        assert_eq!(timing.total_cycles, found.total_cycles, "seed {seed}");
        let mut sorted = found.order.clone();
        sorted.sort_unstable();
        assert!(
            sorted.into_iter().eq(0..needs.len() as u32),
            "seed {seed}: the order is no permutation"
        );
        let place = |at: u32| found.order.iter().position(|it| *it == at);
        for edge in &edges {
            assert!(place(edge.from) < place(edge.to), "seed {seed}: {edge:?}");
            assert!(
                timing.starts[edge.from as usize] + edge.cycles <= timing.starts[edge.to as usize],
                "seed {seed}: {edge:?}"
            );
        }
    }
}

#[test]
fn stalls_and_causes_add_up() {
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let core = core(CORES[rng.usize(0..CORES.len())]);
        let (needs, edges) = problem(&mut rng, &core, 30);
        let order: Vec<u32> = (0..30).collect();
        let timing = time(&needs, &edges, &order, &core);
        // What is no stall is a cycle in which an instruction starts or holds the issue stage.
        let stalls: u32 = timing.stall_cycles.iter().sum();
        let held = needs
            .iter()
            .zip(&timing.starts)
            .flat_map(|(need, start)| *start..start + need.issue_cycles);
        let busy = held.collect::<BTreeSet<u32>>().len() as u32;
        // A branch that folds may be the last, and wait where nothing follows.
        let idle_end = timing.total_cycles - stalls - busy;
        assert!(idle_end == 0, "seed {seed}: {timing:?} {needs:?}");
        for (at, stall) in timing.stall_cycles.iter().enumerate().filter(|(_, stall)| **stall > 0) {
            let causes = causes(&needs, &edges, &timing, &core, at);
            // Each cause alone explains a part, and the longest of them, or a unit after it, the
            // whole.
            assert!(
                !causes.is_empty() && causes.iter().all(|cause| cause.cycles <= *stall),
                "seed {seed}: {at} {stall} {causes:?}"
            );
        }
    }
}
