//! Orders that keep all edges, done one instruction after the other: they compute the same.

use std::collections::BTreeMap;

use audit::decode::code::{Instruction, Op, Shift, Value};
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::Function;
use audit::timing::depend::{Licence, dependences};
use fastrand::Rng;

use super::{core, function, straight_code};

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
