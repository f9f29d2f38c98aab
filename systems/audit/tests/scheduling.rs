//! Orders of traces: against brute force, against their bounds, and by doing what they say.

use std::collections::{BTreeMap, BTreeSet};

use audit::decode::Isa;
use audit::decode::code::{Flow, Instruction, Op, Shift, Value};
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::{Function, SourceFrame};
use audit::timing::bound::{Job, bound_cycles, bounds, cycles, distance, job, makespan};
use audit::timing::depend::{Crossing, Edge, Licence, Why, dependences};
use audit::timing::explain::explain;
use audit::timing::licence::{Effort, Step, crossings, sinkings, smallest};
use audit::timing::pipe::{Need, Pipe};
use audit::timing::search::{NODES_MAX, search};
use audit::timing::stalls::{causes, time};
use audit::timing::time_path;
use fastrand::Rng;
use machine::UnitSet;
use machine::in_order::Core;

const CORES: [&str; 4] = ["arm1136jf-s", "cortex-a53", "sifive-u74", "leon3"];

fn core(name: &str) -> Core {
    Core::bundled(name).expect("it is bundled")
}

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

/// The parts of straight code over a few registers and two pointers that may point to the same.
fn straight_code(rng: &mut Rng, n: usize) -> Vec<u32> {
    (0..n)
        .map(|_| {
            let (rd, rn, rm) = (rng.u32(0..5), rng.u32(0..5), rng.u32(0..5));
            let base = 8 + rng.u32(0..2);
            match rng.u32(0..8) {
                0 => 0xe080_0000 | rn << 16 | rd << 12 | rm,
                1 => 0xe040_0000 | rn << 16 | rd << 12 | 1 << 7 | rm,
                2 => 0xe200_00ff | rn << 16 | rd << 12,
                3 => 0xe3a0_0000 | rd << 12 | rng.u32(0..256),
                4 | 5 => 0xe590_0000 | base << 16 | rd << 12 | (4 * rng.u32(0..3)),
                6 => 0xe580_0000 | base << 16 | rd << 12 | (4 * rng.u32(0..3)),
                _ => 0xe220_0055 | rn << 16 | rd << 12,
            }
        })
        .collect()
}

/// The same under conditions, with comparisons in it, some of them under conditions themselves.
fn guarded_code(rng: &mut Rng, n: usize) -> Vec<u32> {
    let word = |rng: &mut Rng| {
        if rng.u32(0..6) == 0 {
            0xe350_0000 | rng.u32(0..5) << 16 | rng.u32(0..2)
        } else {
            straight_code(rng, 1)[0]
        }
    };
    let guard =
        |rng: &mut Rng| [14, 14, 14, 0, 0, 1, 1, 2, 3, 8, 9, 10, 11, 12, 13][rng.usize(0..15)];
    (0..n).map(|_| word(rng) & 0x0fff_ffff | guard(rng) << 28).collect()
}

fn function(words: &[u32]) -> Function {
    function_of(Isa::A32, words)
}

fn function_of(isa: Isa, words: &[u32]) -> Function {
    let decode = |(idx, word): (usize, &u32)| {
        isa.decode(4 * idx as u64, &word.to_le_bytes()).expect("the words are instructions")
    };
    let instructions: Vec<_> = words.iter().enumerate().map(decode).collect();
    let frames = vec![Vec::new(); instructions.len()];
    let (callees, constants) = Default::default();
    Function {
        name: "random".to_owned(),
        isa,
        instructions,
        frames,
        callees,
        is_cold: false,
        constants,
        tables: Default::default(),
        cases: Default::default(),
        arguments: Default::default(),
        addresses: Default::default(),
    }
}

/// Registers, flags (N, Z, C and V, from the highest bit on) and memory, by number and address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    regs: [u32; 16],
    flags: u8,
    memory: BTreeMap<u32, u32>,
}

/// Does one instruction of [`straight_code`] by its operation and its accesses.
fn step(state: &mut State, instruction: &Instruction) {
    let regs = state.regs;
    if !instruction.guard.is_none_or(|guard| guard.holds(state.flags)) {
        return;
    }
    let value = |value: Value| match value {
        Value::Reg(reg) => regs[reg.0 as usize],
        Value::Const(value) => value as u32,
        Value::Shifted(reg, Shift::Left, by) => regs[reg.0 as usize] << by,
        Value::Shifted(..) | Value::Extended(..) => panic!("no such operand is made here"),
    };
    if let [access] = instruction.accesses.as_slice() {
        let base = regs[access.base.expect("accesses here have a base").0 as usize];
        let address = base.wrapping_add(access.disp as u32);
        if access.is_store {
            let data = instruction
                .reads
                .iter()
                .find(|read| read.role == audit::decode::code::Role::Data)
                .expect("a store has data");
            state.memory.insert(address, regs[data.reg.0 as usize]);
            return;
        }
        let loaded = state.memory.get(&address).copied().unwrap_or(address ^ 0x5555);
        state.regs[instruction.writes[0].reg.0 as usize] = loaded;
        return;
    }
    let operation = instruction.operation.expect("all others are followed");
    let (a, b) = (value(operation.a), value(operation.b));
    let result = match operation.op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::And => a & b,
        Op::Xor => a ^ b,
        Op::Move => a,
        Op::Compare => {
            let (difference, borrows) = a.overflowing_sub(b);
            let overflows = (a as i32).overflowing_sub(b as i32).1;
            let flags = [overflows, !borrows, difference == 0, (difference as i32) < 0];
            state.flags = flags.iter().rev().fold(0, |all, flag| all << 1 | u8::from(*flag));
            return;
        }
        other => panic!("{other:?} is not made here"),
    };
    state.regs[operation.result.expect("each has a result").0 as usize] = result;
}

/// In any order that keeps the edges the function does what it does as it is written.
fn check_any_order(function: &Function, rng: &mut Rng, seed: u64) {
    let trace = hot_trace(&Guide::of(function));
    let edges = dependences(
        function,
        &StackFrame::of(function),
        &trace,
        &core("arm1136jf-s"),
        Licence::default(),
    );
    let n = function.instructions.len();
    let mut order: Vec<u32> = Vec::new();
    while order.len() < n {
        let open = (0..n as u32).filter(|idx| !order.contains(idx));
        let may_come: Vec<u32> = open
            .filter(|open| edges.iter().all(|edge| edge.to != *open || order.contains(&edge.from)))
            .collect();
        order.push(may_come[rng.usize(0..may_come.len())]);
    }
    // The two pointers point to the same, to neighbours, or far apart.
    for apart in [0, 4, 1024] {
        let mut state = State {
            regs: std::array::from_fn(|_| rng.u32(..)),
            flags: rng.u8(0..16),
            memory: BTreeMap::new(),
        };
        state.regs[8] = 0x1000;
        state.regs[9] = 0x1000 + apart;
        // Small numbers, so that comparisons find all there is to find.
        state.regs[..5].iter_mut().for_each(|reg| *reg %= 3);
        let (mut written, mut reordered) = (state.clone(), state);
        for instruction in &function.instructions {
            step(&mut written, instruction);
        }
        for at in &order {
            step(&mut reordered, &function.instructions[*at as usize]);
        }
        assert_eq!(written, reordered, "seed {seed}, order {order:?}");
    }
}

#[test]
fn any_order_that_keeps_the_edges_computes_the_same() {
    for seed in 0..500 {
        let mut rng = Rng::with_seed(seed);
        let function = function(&straight_code(&mut rng, 12));
        check_any_order(&function, &mut rng, seed);
    }
}

#[test]
fn any_order_of_guarded_code_computes_the_same() {
    for seed in 0..3000 {
        let mut rng = Rng::with_seed(seed);
        let function = function(&guarded_code(&mut rng, 12));
        check_any_order(&function, &mut rng, seed);
    }
}

/// Whether the last of these words follows the one before, by any edge.
fn follows(words: &[u32]) -> bool {
    let function = function(words);
    let trace = hot_trace(&Guide::of(&function));
    let edges = dependences(
        &function,
        &StackFrame::of(&function),
        &trace,
        &core("arm1136jf-s"),
        Licence::default(),
    );
    let last = words.len() as u32 - 1;
    edges.iter().any(|edge| (edge.from, edge.to) == (last - 1, last))
}

#[test]
fn of_two_conditions_that_exclude_each_other_one_is_done() {
    const CMP: u32 = 0xe352_0000; // cmp r2, #0
    const MOVNE: u32 = 0x13a0_3000; // movne r3, #0
    // movne r3, #0: ldreq r3, [r3, r2, lsl #2], and moveq r3, #1, which only writes it, and addeq
    // r1, r3, r1, which only reads it.
    assert!(!follows(&[CMP, MOVNE, 0x0793_3102]));
    assert!(!follows(&[CMP, MOVNE, 0x03a0_3001]));
    assert!(!follows(&[CMP, MOVNE, 0x0083_1001]));
    // `hi` implies `ne`, and excludes `eq` and `ls`: addhi r3, r3, #1; moveq r3, #0, and movls r3,
    // #0
    assert!(follows(&[CMP, MOVNE, 0x8283_3001]));
    assert!(!follows(&[CMP, 0x8283_3001, 0x03a0_3000]));
    assert!(!follows(&[CMP, 0x8283_3001, 0x93a0_3000]));
    // Stores to one place: strne r1, [r0]; ldreq r1, [r0], and ldrne r4, [r0]
    assert!(!follows(&[CMP, 0x1580_1000, 0x0590_1000]));
    assert!(follows(&[CMP, 0x1580_1000, 0x1590_4000]));
    // Other flags: movne r3, #0; cmpne r1, #0; addeq r1, r3, r1 may both be done; and a read
    // without a condition is done in any case.
    let function = function(&[CMP, MOVNE, 0x1351_0000, 0x0083_1001]);
    let trace = hot_trace(&Guide::of(&function));
    let edges = dependences(
        &function,
        &StackFrame::of(&function),
        &trace,
        &core("arm1136jf-s"),
        Licence::default(),
    );
    assert!(edges.iter().any(|edge| (edge.from, edge.to) == (1, 3)));
    assert!(follows(&[CMP, MOVNE, 0xe083_1001]));
}

/// Straight code with tests and side exits in it, all to one place at its end.
fn code_with_exits(rng: &mut Rng, n: usize) -> Vec<u32> {
    let mut words = Vec::new();
    while words.len() < n {
        if rng.u32(0..4) == 0 {
            words.push(0xe350_0000 | rng.u32(0..5) << 16);
            words.push(0x0a00_0000);
        } else {
            words.extend(straight_code(rng, 1));
        }
    }
    let end = words.len() as u32;
    for (idx, word) in words.iter_mut().enumerate().filter(|(_, it)| **it == 0x0a00_0000) {
        *word |= end.wrapping_sub(idx as u32 + 2) & 0x00ff_ffff;
    }
    words.extend([0xe3a0_0000, 0xe12f_ff1e]);
    words
}

#[test]
fn more_licence_is_never_slower() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let function = function(&code_with_exits(&mut rng, 14));
        let audit =
            time_path(&function, &core("arm1136jf-s"), &Guide::of(&function), Effort::Search)
                .expect("it has instructions");
        let totals: Vec<u32> =
            audit.reached.iter().map(|found| found.timing.total_cycles).collect();
        assert_eq!(audit.reached.iter().map(|found| found.step).collect::<Vec<_>>(), Step::ALL);
        assert!(totals.is_sorted_by(|a, b| a >= b), "seed {seed}: {totals:?}");
        let cycles = &audit.cycles;
        let bound = cycles.lower_bound;
        assert_eq!(cycles.total_cycles, cycles.issue_cycles + cycles.stall_cycles, "seed {seed}");
        assert_eq!(
            cycles.total_cycles,
            bound.issue + bound.in_block + bound.side_exit + bound.inherent,
            "seed {seed}"
        );
        assert_eq!(bound.total, bound.issue + bound.inherent, "seed {seed}");
        assert!(
            bound.total <= cycles.best_cycles && cycles.best_cycles <= cycles.total_cycles,
            "seed {seed}"
        );
        // A quick answer says no more than the long one.
        let quick =
            time_path(&function, &core("arm1136jf-s"), &Guide::of(&function), Effort::Bounds)
                .expect("it has instructions");
        assert!(quick.cycles.lower_bound.total <= bound.total, "seed {seed}");
    }
}

#[test]
fn stores_stay_between_their_exits() {
    let full = Licence { renames: true, crosses: Crossing::Promised, reorders_memory: true };
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let function = function(&code_with_exits(&mut rng, 20));
        let trace = hot_trace(&Guide::of(&function));
        let edges =
            dependences(&function, &StackFrame::of(&function), &trace, &core("arm1136jf-s"), full);
        let needs = Need::of_trace(&function, &trace, &core("arm1136jf-s"));
        let found = search(&needs, &edges, &core("arm1136jf-s"), 2000);
        let place = |at: usize| found.order.iter().position(|it| *it as usize == at);
        for store in (0..trace.places.len()).filter(|at| {
            function.instructions[trace.places[*at]].accesses.iter().any(|access| access.is_store)
        }) {
            for exit in &trace.exits {
                assert_eq!(place(store) < place(exit.at), store < exit.at, "seed {seed}");
            }
        }
        let is_branch = |at: &usize| function.instructions[trace.places[*at]].flow != Flow::Next;
        let branches: Vec<usize> =
            found.order.iter().map(|found| *found as usize).filter(is_branch).collect();
        assert!(branches.is_sorted(), "seed {seed}");
    }
}

/// The registers that a function of A32 gives back: its result, the second half of it, and one
/// that is the caller's.
const GIVEN_BACK: [usize; 3] = [0, 1, 4];

/// Where registers may have other names, an order is one of a program if each value has a
/// register of its own, but for those that somebody outside wants in theirs: arguments, results,
/// what is the caller's.
#[test]
fn any_order_with_other_registers_gives_back_the_same() {
    let licence = Licence { renames: true, ..Licence::default() };
    for seed in 0..1000 {
        let mut rng = Rng::with_seed(seed);
        let n = 10;
        let words = [straight_code(&mut rng, n), vec![0xe12f_ff1e]].concat();
        let function = function(&words);
        let trace = hot_trace(&Guide::of(&function));
        let edges = dependences(
            &function,
            &StackFrame::of(&function),
            &trace,
            &core("arm1136jf-s"),
            licence,
        );
        let mut order: Vec<u32> = Vec::new();
        while order.len() < n {
            let open = (0..n as u32).filter(|idx| !order.contains(idx));
            let may_come: Vec<u32> = open
                .filter(|open| {
                    edges.iter().all(|edge| edge.to != *open || order.contains(&edge.from))
                })
                .collect();
            order.push(may_come[rng.usize(0..may_come.len())]);
        }
        let mut state =
            State { regs: std::array::from_fn(|_| rng.u32(..)), flags: 0, memory: BTreeMap::new() };
        (state.regs[8], state.regs[9]) = (0x1000, 0x2000);
        let mut written = state.clone();
        function.instructions[..n].iter().for_each(|instruction| step(&mut written, instruction));
        let result = |at: usize| {
            function.instructions[at].writes.first().map(|write| usize::from(write.reg.0))
        };
        let writer =
            |before: usize, reg: usize| (0..before).rev().find(|at| result(*at) == Some(reg));
        let reads = |at: usize, reg: usize| {
            function.instructions[at].reads.iter().any(|read| usize::from(read.reg.0) == reg)
        };
        // What somebody reads here is no second half.
        let is_result = |reg: usize| {
            reg != 1 || !writer(n, 1).is_some_and(|at| (at + 1..n).any(|idx| reads(idx, 1)))
        };
        let given_back =
            GIVEN_BACK.into_iter().filter(|found| is_result(*found)).collect::<Vec<_>>();
        let is_given_back =
            |at: usize, reg: usize| given_back.contains(&reg) && writer(n, reg) == Some(at);
        let mut values: BTreeMap<usize, u32> = BTreeMap::new();
        for at in order.iter().map(|found| *found as usize) {
            let mut own = state.clone();
            for read in &function.instructions[at].reads {
                let reg = usize::from(read.reg.0);
                if let Some(value) = writer(at, reg)
                    .filter(|writer| !is_given_back(*writer, reg))
                    .map(|writer| values[&writer])
                {
                    own.regs[reg] = value;
                }
            }
            step(&mut own, &function.instructions[at]);
            state.memory = own.memory;
            match result(at) {
                Some(reg) if is_given_back(at, reg) => state.regs[reg] = own.regs[reg],
                Some(reg) => drop(values.insert(at, own.regs[reg])),
                None => {}
            }
        }
        given_back.iter().for_each(|idx| {
            assert_eq!(state.regs[*idx], written.regs[*idx], "seed {seed}, order {order:?}")
        });
        assert_eq!(state.memory, written.memory, "seed {seed}, order {order:?}");
    }
}

/// Whether instruction `to` stays after instruction `from` whatever a compiler, and
/// a programmer, may do.
fn stays_behind(isa: Isa, words: &[u32], from: u32, to: u32) -> bool {
    let function = function_of(isa, words);
    let trace = hot_trace(&Guide::of(&function));
    let full = Licence { renames: true, crosses: Crossing::Promised, reorders_memory: true };
    let name = match isa {
        Isa::A32 => "arm1136jf-s",
        Isa::A64 => "cortex-a53",
        _ => "sifive-u74",
    };
    let edges = dependences(&function, &StackFrame::of(&function), &trace, &core(name), full);
    let mut behind = BTreeSet::from([from]);
    for edge in &edges {
        if behind.contains(&edge.from) {
            behind.insert(edge.to);
        }
    }
    behind.contains(&to)
}

#[test]
fn a_result_is_not_there_while_the_argument_is_read() {
    // ld a5, 8(a0); sd a5, 0(a1); li a0, 0; ret, and with li a4, 0, which nobody wants there
    let rv64 = |write: u32| {
        stays_behind(Isa::Riscv64, &[0x0085_3783, 0x00f5_b023, write, 0x0000_8067], 0, 2)
    };
    assert!(rv64(0x0000_0513) && !rv64(0x0000_0713));
    // ldr x5, [x0, #8]; str x5, [x1]; mov x0, #0; ret, and with mov x4, #0
    let a64 =
        |write: u32| stays_behind(Isa::A64, &[0xf940_0405, 0xf900_0025, write, 0xd65f_03c0], 0, 2);
    assert!(a64(0xd280_0000) && !a64(0xd280_0004));
    // ldr r5, [r0, #8]; str r5, [r1]; mov r0, #0; bx lr, and with mov r3, #0
    let a32 =
        |write: u32| stays_behind(Isa::A32, &[0xe590_5008, 0xe581_5000, write, 0xe12f_ff1e], 0, 2);
    assert!(a32(0xe3a0_0000) && !a32(0xe3a0_3000));
    // The argument's register was given to another value in between, which may have any: mov r0, #7
    // and its reader.
    let words = [0xe590_5008, 0xe581_5000, 0xe3a0_0007, 0xe581_0004, 0xe3a0_0000, 0xe12f_ff1e];
    assert!(stays_behind(Isa::A32, &words, 0, 4) && !stays_behind(Isa::A32, &words, 3, 4));
}

#[test]
fn an_argument_of_a_call_is_not_there_while_the_own_one_is_read() {
    // ld a5, 8(a0); sd a5, 0(a2); mv a0, a1; jal elsewhere; ret, and with mv a3, a1, which is read:
    // it may be anything
    let rv64 = |copy: u32, next: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0x0085_3783, 0x00f6_3023, copy, next, 0x1000_00ef, 0x0000_8067],
            0,
            2,
        )
    };
    assert!(rv64(0x0005_8513, 0x0000_0013));
    assert!(!rv64(0x0005_8693, 0x00d6_3423)); // sd a3, 8(a2)
    // The third argument: ldr r5, [r2]; str r5, [r3]; mov r2, r1; bl elsewhere; bx lr
    assert!(stays_behind(
        Isa::A32,
        &[0xe592_5000, 0xe583_5000, 0xe1a0_2001, 0xeb00_0100, 0xe12f_ff1e],
        0,
        2
    ));
    // A jump in place of a call: ldr x5, [x0]; str x5, [x3]; mov x0, x1; b elsewhere
    assert!(stays_behind(Isa::A64, &[0xf940_0005, 0xf900_0065, 0xaa01_03e0, 0x1400_0100], 0, 2));
}

#[test]
fn a_result_is_not_there_where_a_way_out_wants_the_argument() {
    // ld a5, 0(a0); beqz a5, 4; li a0, 0; ret; 4: ld a0, 16(a0); ret, and with li a4, 0
    let rv64 = |write: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0x0005_3783, 0x0007_8663, write, 0x0000_8067, 0x0105_3503, 0x0000_8067],
            1,
            2,
        )
    };
    assert!(rv64(0x0000_0513) && !rv64(0x0000_0713));
    // ldr r3, [r0]; cmp r3, #0; beq 5; mov r0, #0; bx lr; 5: ldr r0, [r0, #16]; bx lr, and with mov
    // r2, #0
    let a32 = |write: u32| {
        stays_behind(
            Isa::A32,
            &[0xe590_3000, 0xe353_0000, 0x0a00_0001, write, 0xe12f_ff1e, 0xe590_0010, 0xe12f_ff1e],
            2,
            3,
        )
    };
    assert!(a32(0xe3a0_0000) && !a32(0xe3a0_2000));
}

#[test]
fn what_is_the_callers_comes_back_behind_the_last_reader() {
    // sd s0, 8(sp); mv s0, a0; sd s0, 0(a1); ld s0, 8(sp); ret, and with ld t0, 8(sp)
    let rv64 = |load: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0x0081_3423, 0x0005_0413, 0x0085_b023, load, 0x0000_8067],
            2,
            3,
        )
    };
    assert!(rv64(0x0081_3403) && !rv64(0x0081_3283));
    // str x19, [sp, #8]; mov x19, x0; str x19, [x1]; ldr x19, [sp, #8]; ret
    assert!(stays_behind(
        Isa::A64,
        &[0xf900_07f3, 0xaa00_03f3, 0xf900_0033, 0xf940_07f3, 0xd65f_03c0],
        2,
        3
    ));
    // Whoever was interrupted gets every register back: ldr x2, [x2]; str x2, [x3]; ldr x2, [x1];
    // eret
    assert!(stays_behind(Isa::A64, &[0xf940_0042, 0xf900_0062, 0xf940_0022, 0xd69f_03e0], 0, 2));
    assert!(!stays_behind(Isa::A64, &[0xf940_0042, 0xf900_0062, 0xf940_0022, 0xd65f_03c0], 0, 2));
}

#[test]
fn a_register_is_kept_for_the_caller_before_it_is_used() {
    // addi sp, sp, -32; sd s1, 8(sp); mv s1, a0; add a0, a0, s1; ld s1, 8(sp); addi sp, sp, 32;
    // ret, and with mv t1, a0
    let rv64 = |copy: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0xfe01_0113, 0x0091_3423, copy, 0x0095_0533, 0x0081_3483, 0x0201_0113, 0x0000_8067],
            1,
            2,
        )
    };
    assert!(rv64(0x0005_0493) && !rv64(0x0005_0313));
    // stp x19, x20, [sp, #-16]!; mov x20, x1; str x20, [x0]; mov x20, x2; ldp x19, x20, [sp], #16;
    // ret: the second is as free as any.
    let words = [0xa9bf_53f3, 0xaa01_03f4, 0xf900_0014, 0xaa02_03f4, 0xa8c1_53f3, 0xd65f_03c0];
    assert!(stays_behind(Isa::A64, &words, 0, 1) && !stays_behind(Isa::A64, &words, 2, 3));
}

#[test]
fn a_base_that_is_written_back_is_so_far_from_where_it_was() {
    let a32 = |load: u32| {
        // mov r3, r0; ldr r1, [r3], #32; str r1, [r3, #12]; ldr r2, [r0, #..]
        let function = function(&[0xe1a0_3000, 0xe493_1020, 0xe583_100c, load]);
        let trace = hot_trace(&Guide::of(&function));
        let edges = dependences(
            &function,
            &StackFrame::of(&function),
            &trace,
            &core("arm1136jf-s"),
            Licence::default(),
        );
        edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (2, 3, Why::Memory))
    };
    assert!(!a32(0xe590_201c) && a32(0xe590_202c));
    // mov x3, x0; ldp x1, x2, [x3, #32]!; str x1, [x3, #8]; ldr x4, [x0, #40], and #32; the same
    // with stp x1, x2, [x3], #-16, and #-8
    let a64 = |moves: u32, load: u32| {
        stays_behind_in_memory(&[0xaa00_03e3, moves, 0xf900_0461, load], 2, 3)
    };
    assert!(a64(0xa9c2_0861, 0xf940_1404) && !a64(0xa9c2_0861, 0xf940_1004));
    assert!(a64(0xa8bf_0861, 0xf85f_8004) && !a64(0xa8bf_0861, 0xf940_0004));
}

/// Whether the later access of A64 is kept after the earlier because it may be to the same bytes.
fn stays_behind_in_memory(words: &[u32], from: u32, to: u32) -> bool {
    let function = function_of(Isa::A64, words);
    let trace = hot_trace(&Guide::of(&function));
    let edges = dependences(
        &function,
        &StackFrame::of(&function),
        &trace,
        &core("cortex-a53"),
        Licence::default(),
    );
    edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (from, to, Why::Memory))
}

/// Loads, each with who waits for it, and either stores or tests between.
fn waiting_code(rng: &mut Rng) -> Vec<u32> {
    let mut words = Vec::new();
    let has_tests = rng.bool();
    for nth in 1..=5 {
        let base = 8 + rng.u32(0..2);
        words.extend([
            0xe590_0000 | base << 16 | nth << 12 | (4 * nth),
            0xe280_0001 | nth << 16 | nth << 12,
        ]);
        match (rng.bool(), has_tests) {
            (true, true) => words.extend([0xe350_0000 | nth << 16, 0x0a00_0000]),
            (true, false) => words.push(0xe580_0000 | (17 - base) << 16 | nth << 12),
            (false, _) => {}
        }
    }
    let end = words.len() as u32;
    for (idx, word) in words.iter_mut().enumerate().filter(|(_, it)| **it == 0x0a00_0000) {
        *word |= end.wrapping_sub(idx as u32 + 2) & 0x00ff_ffff;
    }
    words.extend([0xe3a0_0000, 0xe12f_ff1e]);
    words
}

/// A wait is explained by what fills it: in the faster order the load or instruction that is named
/// stands between what is waited for and who waits, or is one of the two. Another that moved, for
/// another wait, is not named.
#[test]
fn who_is_blamed_for_a_wait_fills_it() {
    let core = core("arm1136jf-s");
    let (mut n_exits, mut n_stores) = (0, 0);
    for seed in 0..120 {
        let mut rng = Rng::with_seed(seed);
        let mut function = function(&waiting_code(&mut rng));
        // Each instruction has a line of its own, so that it is known by it.
        let frame = |line| SourceFrame { function: "f".to_owned(), file: "f.s".to_owned(), line };
        function.frames =
            (0..function.instructions.len()).map(|idx| vec![frame(idx as u32)]).collect();
        let timed = time_path(&function, &core, &Guide::of(&function), Effort::Search)
            .expect("it has instructions");
        for finding in explain(&function, &core, &timed) {
            let at = timed
                .trace
                .places
                .iter()
                .position(|place| *place == finding.idx)
                .expect("it waits on the path");
            let prevents = finding.prevents.expect("something is said of each");
            let lines: Vec<usize> = prevents
                .split("(line ")
                .skip(1)
                .map(|part| part[..part.find(')').expect("it ends")].parse().expect("a number"))
                .collect();
            let is_store =
                prevents.contains("may read what") || prevents.contains("does not read what");
            let named = match lines[..] {
                [load, .., store] if is_store => vec![load, store],
                [mover, ..]
                    if prevents.contains("stays below")
                        || prevents.contains("stays above")
                        || prevents.contains("stays behind")
                        || prevents.contains("may not go above") =>
                {
                    vec![mover]
                }
                _ if prevents.starts_with("nothing by itself") => Vec::new(),
                _ => continue,
            };
            let (idx, _) =
                smallest(&timed.reached, &timed.timing, at).expect("a licence shortens it");
            let order = &timed.reached[idx].found.order;
            let place = |at: usize| {
                order.iter().position(|it| *it as usize == at).expect("orders are whole")
            };
            let of_line = |line: usize| {
                timed
                    .trace
                    .places
                    .iter()
                    .position(|place| *place == line)
                    .expect("it is on the path")
            };
            let (from, to) = (place(timed.causes[at][0].producer as usize), place(at));
            let is_between =
                |line: &usize| (from.min(to)..=from.max(to)).contains(&place(of_line(*line)));
            if named.is_empty() {
                // Nobody who crosses an exit fills this one, and nothing is advised.
                let (rises, sinks) =
                    (crossings(order, &timed.trace), sinkings(order, &timed.trace));
                let crosses = rises
                    .iter()
                    .chain(&sinks)
                    .any(|(it, _)| is_between(&timed.trace.places[*it as usize]));
                assert!(
                    !crosses && finding.ways.is_empty(),
                    "seed {seed}: {}: {prevents}",
                    finding.instruction
                );
                continue;
            }
            assert!(
                named.iter().any(is_between),
                "seed {seed}: {}: {prevents}",
                finding.instruction
            );
            *(if is_store { &mut n_stores } else { &mut n_exits }) += 1;
        }
    }
    assert!(n_exits > 20 && n_stores > 5, "too few to tell anything: {n_exits}, {n_stores}");
}

#[test]
fn the_way_back_is_kept_before_the_next_call_is_made_ready() {
    // addi sp, sp, -16; sd ra, 8(sp); auipc ra, 0; jalr ra; ld ra, 8(sp); addi sp, sp, 16; ret, and
    // with auipc t1
    let rv64 = |auipc: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0xff01_0113, 0x0011_3423, auipc, 0x0000_80e7, 0x0081_3083, 0x0101_0113, 0x0000_8067],
            1,
            2,
        )
    };
    assert!(rv64(0x0000_0097));
    // str x30, [sp, #-16]!; mov x30, x1; str x30, [x0]; ldr x30, [sp], #16; ret, and with x9
    let a64 = |mov: u32| {
        stays_behind(Isa::A64, &[0xf81f_0ffe, mov, 0xf900_001e, 0xf841_07fe, 0xd65f_03c0], 0, 1)
    };
    assert!(a64(0xaa01_03fe) && !a64(0xaa01_03e9));
}

#[test]
fn a_second_result_is_one_if_nobody_reads_it_before() {
    // ldr r3, [r1]; str r3, [r2]; mov r1, #7; bx lr: a pair may be returned. With add r0, r1, #1 it
    // is a value like any.
    assert!(stays_behind(Isa::A32, &[0xe591_3000, 0xe582_3000, 0xe3a0_1007, 0xe12f_ff1e], 0, 2));
    assert!(!stays_behind(
        Isa::A32,
        &[0xe591_3000, 0xe582_3000, 0xe3a0_1007, 0xe281_0001, 0xe12f_ff1e],
        0,
        2
    ));
    // ld a5, 0(a1); sd a5, 0(a2); li a1, 7; ret, and with addi a0, a1, 1
    assert!(stays_behind(
        Isa::Riscv64,
        &[0x0005_b783, 0x00f6_3023, 0x0070_0593, 0x0000_8067],
        0,
        2
    ));
    assert!(!stays_behind(
        Isa::Riscv64,
        &[0x0005_b783, 0x00f6_3023, 0x0070_0593, 0x0015_8513, 0x0000_8067],
        0,
        2
    ));
}

#[test]
fn a_load_through_a_copy_goes_above_a_test_if_the_pointer_was_followed() {
    // mov x4, x0; ldr x5, [x0]; cbz x5, 6; ldr x6, [x4, #8]; add x0, x6, x6; ret; 6: ret
    let stays = |copy: u32| {
        let words =
            [copy, 0xf940_0005, 0xb400_0085, 0xf940_0486, 0x8b06_00c0, 0xd65f_03c0, 0xd65f_03c0];
        let function = function_of(Isa::A64, &words);
        let trace = hot_trace(&Guide::of(&function));
        let licence = Licence { renames: true, crosses: Crossing::Proved, reorders_memory: false };
        let edges = dependences(
            &function,
            &StackFrame::of(&function),
            &trace,
            &core("cortex-a53"),
            licence,
        );
        edges.iter().any(|edge| (edge.from, edge.to) == (2, 3))
    };
    assert!(!stays(0xaa00_03e4));
    // add x4, x0, #0 is the same, orr x4, x2, x0 is another.
    assert!(!stays(0x9100_0004) && stays(0xaa00_0044));
}

#[test]
fn no_object_of_the_linker_lies_in_the_frame() {
    let follows = |isa: Isa, words: &[u32]| {
        let function = function_of(isa, words);
        let trace = hot_trace(&Guide::of(&function));
        let name = if isa == Isa::A32 { "arm1136jf-s" } else { "sifive-u74" };
        let edges = dependences(
            &function,
            &StackFrame::of(&function),
            &trace,
            &core(name),
            Licence::default(),
        );
        let last = words.len() as u32 - 1;
        edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (last - 1, last, Why::Memory))
    };
    // addi sp, sp, -32; addi a0, sp, 8: its address is known. auipc a5, 0; sd a1, 8(sp); ld a4,
    // 0(a5), and with ld a5, 0(a2) for auipc
    let rv64 = |base: u32| {
        follows(Isa::Riscv64, &[0xfe01_0113, 0x0081_0513, base, 0x00b1_3423, 0x0007_b703])
    };
    assert!(!rv64(0x0000_0797) && rv64(0x0006_3783));
    // sub sp, sp, #32; add r0, sp, #8; ldr r5, [pc, #4], a word of the code; str r1, [sp, #8]; ldr
    // r4, [r5], and with ldr r5, [r2]
    let a32 =
        |base: u32| follows(Isa::A32, &[0xe24d_d020, 0xe28d_0008, base, 0xe58d_1008, 0xe595_4000]);
    assert!(!a32(0xe59f_5004) && a32(0xe592_5000));
}

/// Whoever is called on the way that a test leads aside finds the frames by it.
#[test]
fn a_frame_pointer_is_made_above_the_ways_that_call() {
    // stp x29, x30, [sp, #-32]!; the other; cbz x1, 12; ldr x2, [x0]; ret; bl; ret
    let stays = |word: u32| {
        let words = [0xa9be_7bfd, word, 0xb400_0061, 0xf940_0002, 0xd65f_03c0, 0x9400_0100];
        let function = function_of(Isa::A64, &[&words[..], &[0xd65f_03c0]].concat());
        let trace = hot_trace(&Guide::of(&function));
        let licence = Step::PastStore.licence();
        let core = core("cortex-a55");
        let edges = dependences(&function, &StackFrame::of(&function), &trace, &core, licence);
        edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (1, 2, Why::Control))
    };
    assert!(stays(0x9100_03fd)); // mov x29, sp
    assert!(stays(0x9100_43fd)); // add x29, sp, #16
    assert!(!stays(0xaa03_03e9)); // mov x9, x3
}
