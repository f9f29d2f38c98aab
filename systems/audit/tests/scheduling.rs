//! Orders of traces: against brute force, against their bounds, and by doing what they say.

use std::collections::{BTreeMap, BTreeSet};

use audit::decode::Isa;
use audit::decode::code::{Flow, Instruction, Op, Shift, Value};
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::Function;
use audit::timing::bound::{Job, bound_cycles, bounds, cycles, distance, job, makespan};
use audit::timing::depend::{Crossing, Edge, Licence, Why, dependences};
use audit::timing::licence::{Effort, Step};
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
            let units = if rng.bool() { UnitSet(rng.u32(1..1 << n_units)) } else { UnitSet::default() };
            // As in machine files: what may take any of several units takes it for one cycle.
            let unit_cycles = if units.0.is_power_of_two() { rng.u32(1..4) } else { 1 };
            Need {
                is_taken: issue_cycles > 0 && rng.u32(0..8) == 0,
                issue_cycles,
                slots: if issue_cycles == 0 { 0 } else { rng.u32(1..=core.issue_width) },
                units,
                unit_cycles,
                holds: (rng.u32(0..8) == 0).then(|| (UnitSet(1 << rng.u32(0..n_units)), rng.u32(1..4))),
            }
        })
        .collect();
    let mut edges = Vec::new();
    for to in 1..n {
        for from in 0..to {
            if rng.u32(0..4) == 0 {
                edges.push(Edge { from: from as u32, to: to as u32, cycles: rng.u32(0..5), why: Why::Memory });
            }
        }
    }
    edges.sort_by_key(|it| (it.to, it.from));
    (needs, edges)
}

/// The fewest cycles of all orders.
fn brute_force(needs: &[Need], edges: &[Edge], core: &Core) -> u32 {
    fn extend(needs: &[Need], edges: &[Edge], pipe: &Pipe, starts: &mut Vec<Option<u32>>, best: &mut u32) {
        if starts.iter().all(Option::is_some) {
            *best = (*best).min(pipe.passed());
            return;
        }
        for at in 0..needs.len() {
            let own = edges.iter().filter(|it| it.to as usize == at);
            let ready: Option<Vec<u32>> = own.map(|it| Some(starts[it.from as usize]? + it.cycles)).collect();
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
        assert_eq!((found.total_cycles, found.bound_cycles), (best, best), "seed {seed} on {}", core.name);
        assert!(bounds(&needs, &edges, &core).total_cycles <= best, "seed {seed} on {}", core.name);
    }
}

/// The shortest time for all jobs: of those with such heads and such tails no two run at once.
fn shortest(jobs: &[Job]) -> i64 {
    let both = jobs.iter().flat_map(|first| jobs.iter().map(|second| (first.head, second.tail)));
    let through = both.map(|(head, tail)| {
        let slots: Vec<i64> = jobs.iter().filter(|it| it.head >= head && it.tail >= tail).map(|it| it.slots).collect();
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
                let through = longest[edge.from as usize].map(|it| it + distance(edge, &needs, &core));
                longest[edge.to as usize] = longest[edge.to as usize].max(through);
            }
        }
        let found = bounds(&needs, &edges, &core);
        let mut heads: Vec<u32> = Vec::new();
        for at in 0..n {
            let chain = edges.iter().filter(|it| it.to as usize == at).map(|edge| {
                // The chain of plain latencies, without what the slots add.
                let plain = (0..at).filter_map(|from| Some(apart[from][edge.from as usize]? + distance(edge, &needs, &core)));
                plain.max().unwrap_or(0)
            });
            let before: Vec<Job> = (0..at).filter_map(|it| Some(job(&needs[it], &core, heads[it], apart[it][at]?))).collect();
            assert_eq!(makespan(&before), shortest(&before), "seed {seed} on {}", core.name);
            heads.push(chain.max().unwrap_or(0).max(cycles(shortest(&before), &core)));
        }
        let mut tails: Vec<u32> = vec![0; n];
        for at in (0..n).rev() {
            let chain = (at..n).filter_map(|to| Some(apart[at][to]? + needs[to].issue_cycles)).max().unwrap_or(0);
            let behind = (at + 1..n).filter_map(|to| Some(job(&needs[to], &core, apart[at][to]?, tails[to])));
            let jobs: Vec<Job> = behind.chain([job(&needs[at], &core, 0, needs[at].issue_cycles)]).collect();
            tails[at] = chain.max(cycles(shortest(&jobs), &core));
        }
        assert_eq!((found.heads, found.tails), (heads, tails), "seed {seed} on {}", core.name);
        let order: Vec<u32> = (0..n as u32).collect();
        let written = time(&needs, &edges, &order, &core).total_cycles;
        assert_eq!(bound_cycles(&needs, &edges, &core, written), found.total_cycles, "seed {seed} on {}", core.name);
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
        assert!(sorted.into_iter().eq(0..needs.len() as u32), "seed {seed}: the order is no permutation");
        let place = |at: u32| found.order.iter().position(|it| *it == at);
        for edge in &edges {
            assert!(place(edge.from) < place(edge.to), "seed {seed}: {edge:?}");
            assert!(timing.starts[edge.from as usize] + edge.cycles <= timing.starts[edge.to as usize], "seed {seed}: {edge:?}");
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
        let held = needs.iter().zip(&timing.starts).flat_map(|(need, start)| *start..start + need.issue_cycles);
        let busy = held.collect::<BTreeSet<u32>>().len() as u32;
        // A branch that folds may be the last, and wait where nothing follows.
        let idle_end = timing.total_cycles - stalls - busy;
        assert!(idle_end == 0, "seed {seed}: {timing:?} {needs:?}");
        for (at, stall) in timing.stall_cycles.iter().enumerate().filter(|(_, stall)| **stall > 0) {
            let causes = causes(&needs, &edges, &timing, &core, at);
            // Each cause alone explains a part, and the longest of them, or a unit behind it, the whole.
            assert!(!causes.is_empty() && causes.iter().all(|it| it.cycles <= *stall), "seed {seed}: {at} {stall} {causes:?}");
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
    let word =
        |rng: &mut Rng| if rng.u32(0..6) == 0 { 0xe350_0000 | rng.u32(0..5) << 16 | rng.u32(0..2) } else { straight_code(rng, 1)[0] };
    let guard = |rng: &mut Rng| [14, 14, 14, 0, 0, 1, 1, 2, 3, 8, 9, 10, 11, 12, 13][rng.usize(0..15)];
    (0..n).map(|_| word(rng) & 0x0fff_ffff | guard(rng) << 28).collect()
}

fn function(words: &[u32]) -> Function {
    let instructions: Vec<_> = words
        .iter()
        .enumerate()
        .map(|(idx, word)| Isa::A32.decode(4 * idx as u64, &word.to_le_bytes()).expect("the words are instructions"))
        .collect();
    let frames = vec![Vec::new(); instructions.len()];
    Function {
        name: "random".to_owned(),
        isa: Isa::A32,
        instructions,
        frames,
        callees: Default::default(),
        is_cold: false,
        constants: Default::default(),
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
    if !instruction.guard.is_none_or(|it| it.holds(state.flags)) {
        return;
    }
    let value = |value: Value| match value {
        Value::Reg(reg) => regs[reg.0 as usize],
        Value::Const(value) => value as u32,
        Value::Shifted(reg, Shift::Left, by) => regs[reg.0 as usize] << by,
        Value::Shifted(..) => panic!("no such shift is made here"),
    };
    if let [access] = instruction.accesses.as_slice() {
        let base = regs[access.base.expect("accesses here have a base").0 as usize];
        let address = base.wrapping_add(access.disp as u32);
        if access.is_store {
            let data = instruction.reads.iter().find(|it| it.role == audit::decode::code::Role::Data).expect("a store has data");
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
    let edges = dependences(function, &StackFrame::of(function), &trace, &core("arm1136jf-s"), Licence::default());
    let n = function.instructions.len();
    let mut order: Vec<u32> = Vec::new();
    while order.len() < n {
        let open = (0..n as u32).filter(|it| !order.contains(it));
        let may_come: Vec<u32> = open.filter(|it| edges.iter().all(|edge| edge.to != *it || order.contains(&edge.from))).collect();
        order.push(may_come[rng.usize(0..may_come.len())]);
    }
    // The two pointers point to the same, to neighbours, or far apart.
    for apart in [0, 4, 1024] {
        let mut state = State { regs: std::array::from_fn(|_| rng.u32(..)), flags: rng.u8(0..16), memory: BTreeMap::new() };
        state.regs[8] = 0x1000;
        state.regs[9] = 0x1000 + apart;
        // Small numbers, so that comparisons find all there is to find.
        state.regs[..5].iter_mut().for_each(|it| *it %= 3);
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
    let edges = dependences(&function, &StackFrame::of(&function), &trace, &core("arm1136jf-s"), Licence::default());
    let last = words.len() as u32 - 1;
    edges.iter().any(|it| (it.from, it.to) == (last - 1, last))
}

#[test]
fn of_two_conditions_that_exclude_each_other_one_is_done() {
    const CMP: u32 = 0xe352_0000; // cmp r2, #0
    const MOVNE: u32 = 0x13a0_3000; // movne r3, #0
    // movne r3, #0: ldreq r3, [r3, r2, lsl #2], and moveq r3, #1, which only writes it, and addeq r1, r3, r1, which only reads it.
    assert!(!follows(&[CMP, MOVNE, 0x0793_3102]));
    assert!(!follows(&[CMP, MOVNE, 0x03a0_3001]));
    assert!(!follows(&[CMP, MOVNE, 0x0083_1001]));
    // `hi` implies `ne`, and excludes `eq` and `ls`: addhi r3, r3, #1; moveq r3, #0, and movls r3, #0
    assert!(follows(&[CMP, MOVNE, 0x8283_3001]));
    assert!(!follows(&[CMP, 0x8283_3001, 0x03a0_3000]));
    assert!(!follows(&[CMP, 0x8283_3001, 0x93a0_3000]));
    // Stores to one place: strne r1, [r0]; ldreq r1, [r0], and ldrne r4, [r0]
    assert!(!follows(&[CMP, 0x1580_1000, 0x0590_1000]));
    assert!(follows(&[CMP, 0x1580_1000, 0x1590_4000]));
    // Other flags: movne r3, #0; cmpne r1, #0; addeq r1, r3, r1 may both be done; and a read without a condition is done in any case.
    let function = function(&[CMP, MOVNE, 0x1351_0000, 0x0083_1001]);
    let trace = hot_trace(&Guide::of(&function));
    let edges = dependences(&function, &StackFrame::of(&function), &trace, &core("arm1136jf-s"), Licence::default());
    assert!(edges.iter().any(|it| (it.from, it.to) == (1, 3)));
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
        let audit = time_path(&function, &core("arm1136jf-s"), &Guide::of(&function), Effort::Search).expect("it has instructions");
        let totals: Vec<u32> = audit.reached.iter().map(|it| it.timing.total_cycles).collect();
        assert_eq!(audit.reached.iter().map(|it| it.step).collect::<Vec<_>>(), Step::ALL);
        assert!(totals.is_sorted_by(|a, b| a >= b), "seed {seed}: {totals:?}");
        let cycles = &audit.cycles;
        let bound = cycles.lower_bound;
        assert_eq!(cycles.total_cycles, cycles.issue_cycles + cycles.stall_cycles, "seed {seed}");
        assert_eq!(cycles.total_cycles, bound.issue + bound.in_block + bound.side_exit + bound.inherent, "seed {seed}");
        assert_eq!(bound.total, bound.issue + bound.inherent, "seed {seed}");
        assert!(bound.total <= cycles.best_cycles && cycles.best_cycles <= cycles.total_cycles, "seed {seed}");
        // A quick answer says no more than the long one.
        let quick = time_path(&function, &core("arm1136jf-s"), &Guide::of(&function), Effort::Bounds).expect("it has instructions");
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
        let edges = dependences(&function, &StackFrame::of(&function), &trace, &core("arm1136jf-s"), full);
        let needs = Need::of_trace(&function, &trace, &core("arm1136jf-s"));
        let found = search(&needs, &edges, &core("arm1136jf-s"), 2000);
        let place = |at: usize| found.order.iter().position(|it| *it as usize == at);
        for store in (0..trace.places.len()).filter(|at| function.instructions[trace.places[*at]].accesses.iter().any(|it| it.is_store)) {
            for exit in &trace.exits {
                assert_eq!(place(store) < place(exit.at), store < exit.at, "seed {seed}");
            }
        }
        let is_branch = |at: &usize| function.instructions[trace.places[*at]].flow != Flow::Next;
        let branches: Vec<usize> = found.order.iter().map(|it| *it as usize).filter(is_branch).collect();
        assert!(branches.is_sorted(), "seed {seed}");
    }
}
