//! One operation in place of several.

use std::collections::BTreeSet;

use super::{Shortening, StraightRun};
use crate::decode::Isa;
use crate::decode::code::{Extends, Extension, Op, Operation, Reg, Relation, Shift, Value};
use crate::decode::encode::{encode, encode_branch};
use crate::facts::bits::low;

/// At most so many instructions go with the last one.
const MOST: usize = 3;

/// What computes the result of `idx`, or takes its branch, without those before it that nothing else
/// needs.
pub fn shorter(piece: &mut StraightRun<'_>, idx: usize) -> Option<Shortening> {
    let operation = piece.subject.at(idx).operation?;
    let is_branch = matches!(operation.op, Op::BranchIf(_));
    let flags =
        piece.subject.at(idx).writes.iter().filter(|write| Some(write.reg) != operation.result);
    let has_flags = flags.clone().any(|write| piece.bits.demanded(idx, write.reg) != 0);
    if has_flags || !is_branch && operation.result.is_none_or(|reg| piece.is_stack(reg)) {
        return None;
    }
    let mut sets = Vec::from_iter(producers(piece, idx));
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    sets.iter().find_map(|set| {
        let removed: Vec<usize> = set.iter().copied().chain([idx]).collect();
        if is_branch {
            return branched(piece, idx, &operation, removed);
        }
        let none = Shortening::new(removed.clone(), None);
        if piece.is_proved(&none, idx) {
            return Some(none);
        }
        computed(piece, idx, &operation, removed)
    })
}

/// Sets of instructions before `idx` whose results it alone needs, with those of the same set.
fn producers(piece: &StraightRun<'_>, idx: usize) -> BTreeSet<BTreeSet<usize>> {
    let from = piece.reaches(idx);
    let mut sets: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
    let mut open = vec![BTreeSet::new()];
    while let Some(set) = open.pop() {
        let users = set.iter().copied().chain([idx]);
        let read: BTreeSet<(usize, Reg)> = users
            .flat_map(|at| piece.subject.at(at).reads.iter().map(move |read| (at, read.reg)))
            .collect();
        for (at, reg) in read {
            let Some(producer) = producer(piece, from, at, reg) else { continue };
            let mut larger = set.clone();
            if !larger.insert(producer) || larger.len() > MOST {
                continue;
            }
            if is_alone(piece, producer, reg, &larger, idx) && sets.insert(larger.clone()) {
                open.push(larger);
            }
        }
    }
    sets
}

/// The instruction that wrote a register last before `at`, if it does nothing else.
fn producer(piece: &StraightRun<'_>, from: usize, at: usize, reg: Reg) -> Option<usize> {
    let writes = |at: &usize| piece.subject.at(*at).writes.iter().any(|write| write.reg == reg);
    let producer = (from..at).rev().find(writes)?;
    let it = piece.subject.at(producer);
    let has_flags = it
        .writes
        .iter()
        .any(|write| write.reg != reg && piece.bits.demanded(producer, write.reg) != 0);
    let is_plain = it.operation.is_some_and(|operation| operation.result == Some(reg))
        && it.accesses.is_empty()
        && !it.is_guarded()
        && !has_flags
        && !piece.is_stack(reg);
    is_plain.then_some(producer)
}

/// Nothing reads `reg` after `producer` but those of the set and `last`.
fn is_alone(
    piece: &StraightRun<'_>,
    producer: usize,
    reg: Reg,
    set: &BTreeSet<usize>,
    last: usize,
) -> bool {
    for at in producer + 1..=last {
        let it = piece.subject.at(at);
        let is_inside = at == last || set.contains(&at);
        if !is_inside && it.reads.iter().any(|read| read.reg == reg) {
            return false;
        }
        if it.writes.iter().any(|write| write.reg == reg) {
            return is_inside;
        }
    }
    piece.bits.demanded(last, reg) == 0
}

/// Registers that the code reads that goes.
fn sources(piece: &StraightRun<'_>, removed: &[usize]) -> Vec<Reg> {
    let read = removed.iter().flat_map(|at| &piece.subject.at(*at).reads).map(|read| read.reg);
    let read: BTreeSet<Reg> = read.filter(|reg| !piece.subject.is_flag(*reg)).collect();
    read.into_iter().collect()
}

fn branched(
    piece: &mut StraightRun<'_>,
    idx: usize,
    operation: &Operation,
    removed: Vec<usize>,
) -> Option<Shortening> {
    let Op::BranchIf(relation) = operation.op else { return None };
    let isa = piece.subject.function.isa;
    let branch = piece.subject.at(idx);
    let regs = sources(piece, &removed);
    let mut all = Vec::new();
    for &a in &regs {
        let own = |relation: Relation, b: Value| Operation {
            op: Op::BranchIf(relation),
            width: if isa == Isa::Riscv32 { 32 } else { 64 },
            a: Value::Reg(a),
            b,
            ..*operation
        };
        if isa == Isa::A64 {
            all.extend((0..64).map(|bit| own(relation, Value::Const(1 << bit))));
            let opposite =
                if relation == Relation::Clear { Relation::NotClear } else { Relation::Clear };
            all.extend((0..64).map(|bit| own(opposite, Value::Const(1 << bit))));
            for (width, mask) in [(32, low(32)), (64, u64::MAX)] {
                all.push(Operation { width, ..own(relation, Value::Const(mask)) });
            }
            continue;
        }
        let relations = [
            Relation::Equal,
            Relation::Different,
            Relation::Less { is_signed: true },
            Relation::NotLess { is_signed: true },
            Relation::Less { is_signed: false },
            Relation::NotLess { is_signed: false },
        ];
        for relation in relations {
            all.push(own(relation, Value::Const(0)));
            all.extend(regs.iter().filter(|b| **b != a).map(|b| own(relation, Value::Reg(*b))));
        }
    }
    all.into_iter().find_map(|operation| {
        let replacement = encode_branch(isa, branch, &operation)?;
        let change = Shortening::new(removed.clone(), Some((idx, replacement)));
        piece.is_proved(&change, idx).then_some(change)
    })
}

fn computed(
    piece: &mut StraightRun<'_>,
    idx: usize,
    operation: &Operation,
    removed: Vec<usize>,
) -> Option<Shortening> {
    let isa = piece.subject.function.isa;
    let (address, result) = (piece.subject.at(idx).address, operation.result?);
    let demanded = piece.bits.demanded(idx, result) & low(isa.conventions().bits);
    let regs = sources(piece, &removed);
    let samples: Vec<Sample> =
        (0..2).map(|seed| Sample::of(piece, &removed, &regs, seed)).collect();
    operations(piece, &removed, &regs).into_iter().find_map(|op| {
        let op = Operation { result: Some(result), ..op };
        let fits = samples.iter().all(|sample| {
            op.value(|reg| sample.before(reg))
                .is_some_and(|value| (value ^ sample.result) & demanded == 0)
        });
        let replacement = fits.then(|| encode(isa, address, &op))??;
        let provided = Vec::from_iter(provision(piece, &replacement.text));
        let change =
            Shortening { provided, ..Shortening::new(removed.clone(), Some((idx, replacement))) };
        piece.is_proved(&change, idx).then_some(change)
    })
}

/// An extension of the set that the function does not use otherwise.
fn provision(piece: &StraightRun<'_>, text: &str) -> Option<String> {
    let mnemonic = text.split(' ').next().unwrap_or_default();
    let of = |mnemonic: &str| match mnemonic {
        "sh1add" | "sh2add" | "sh3add" | "add.uw" | "zext.w" => Some("where the core has Zba"),
        "andn" | "orn" | "sext.b" | "sext.h" | "zext.h" => Some("where the core has Zbb"),
        _ => None,
    };
    let needs = of(mnemonic)?;
    let is_used = piece
        .subject
        .function
        .instructions
        .iter()
        .any(|found| of(found.text.split(' ').next().unwrap_or_default()) == Some(needs));
    (!is_used).then(|| needs.to_owned())
}

/// The code that goes, run once.
struct Sample {
    before: Vec<(Reg, u64)>,
    result: u64,
}

impl Sample {
    fn of(piece: &mut StraightRun<'_>, removed: &[usize], regs: &[Reg], seed: u64) -> Sample {
        let state = piece.before(removed[0]).clone();
        let before: Vec<(Reg, u64)> =
            regs.iter().map(|reg| (*reg, piece.meaning.sample(&state, *reg, seed))).collect();
        let mut now = Sample { before: before.clone(), result: 0 };
        for at in removed {
            let Some(operation) = piece.subject.at(*at).operation else { continue };
            let value = operation.value(|reg| now.before(reg)).unwrap_or_default();
            let Some(result) = operation.result else { continue };
            now.before.retain(|(reg, _)| *reg != result);
            now.before.push((result, value));
            now.result = value;
        }
        Sample { before, result: now.result }
    }

    fn before(&self, reg: Reg) -> u64 {
        self.before.iter().find(|(other, _)| *other == reg).map_or(0, |(_, value)| *value)
    }
}

/// Numbers that may stand in an instruction in place of several.
struct Numbers {
    /// Those in the code, and those that two of them make.
    constants: BTreeSet<u64>,
    /// By how much the code shifts, and how many bits it keeps.
    own: BTreeSet<u8>,
    /// The same, with sums and differences of two of them.
    amounts: BTreeSet<u8>,
}

fn numbers(piece: &StraightRun<'_>, removed: &[usize]) -> Numbers {
    let bits = piece.subject.function.isa.conventions().bits;
    let (mut constants, mut own) = (BTreeSet::new(), BTreeSet::new());
    for operation in removed.iter().filter_map(|at| piece.subject.at(*at).operation) {
        for value in [operation.a, operation.b] {
            match value {
                Value::Const(it) => {
                    constants.insert(it);
                    own.extend([it.count_ones() as u8, it.trailing_zeros() as u8]);
                    own.extend(u8::try_from(it));
                }
                Value::Shifted(_, _, by) | Value::Extended(_, _, by) => {
                    own.insert(by);
                }
                Value::Reg(_) => {}
            }
        }
        match operation.op {
            Op::ZeroExtend { bits } | Op::SignExtend { bits } => own.extend([bits]),
            Op::Field { low, bits, .. } => own.extend([low, bits, low + bits]),
            _ => {}
        }
    }
    let two = |make: fn(u64, u64) -> u64, all: &BTreeSet<u64>| -> Vec<u64> {
        all.iter().flat_map(|a| all.iter().map(|b| make(*a, *b)).collect::<Vec<_>>()).collect()
    };
    let sums: Vec<u64> = [u64::wrapping_add, u64::wrapping_sub, |a, b| a & b, |a, b| a | b]
        .into_iter()
        .flat_map(|make| two(make, &constants))
        .collect();
    constants.extend(sums);
    own.retain(|by| *by <= bits);
    let mut amounts: BTreeSet<u8> = own.iter().copied().chain([8, 16, 32, bits]).collect();
    let twice: Vec<u8> = amounts
        .iter()
        .flat_map(|a| amounts.iter().flat_map(move |b| [a + b, a.abs_diff(*b)]))
        .filter(|by| *by <= bits)
        .collect();
    amounts.extend(twice);
    Numbers { constants, own, amounts }
}

/// The operations that may do it, the plainest first.
fn operations(piece: &StraightRun<'_>, removed: &[usize], regs: &[Reg]) -> Vec<Operation> {
    let isa = piece.subject.function.isa;
    let Numbers { constants, own, amounts } = numbers(piece, removed);
    let has_product = removed.iter().any(|at| {
        matches!(
            piece.subject.at(*at).operation.map(|operation| operation.op),
            Some(Op::Multiply { .. })
        )
    });
    let widths: &[(u8, Extends)] = match isa {
        Isa::A64 => &[(64, Extends::Zero), (32, Extends::Zero)],
        Isa::Riscv64 => &[(64, Extends::Zero), (32, Extends::Sign)],
        _ => &[(32, Extends::Zero)],
    };
    let shifts = [Shift::Left, Shift::Right, Shift::RightSigned, Shift::Rotate];
    let mut all = Vec::new();
    for &(width, extends) in widths {
        let mut push = |op: Op, a: Value, b: Value| {
            all.push(Operation { op, width, extends, result: None, a, b });
        };
        let none = Value::Const(0);
        constants.iter().for_each(|number| push(Op::Move, Value::Const(*number), none));
        for &reg in regs {
            let a = Value::Reg(reg);
            push(Op::Move, a, none);
            push(Op::Not, a, none);
            for bits in [8, 16, 32].into_iter().filter(|bits| *bits < width) {
                push(Op::ZeroExtend { bits }, a, none);
                push(Op::SignExtend { bits }, a, none);
            }
            for shift in shifts {
                let by = amounts.iter().filter(|by| **by > 0 && **by < width);
                by.for_each(|by| push(Op::Shift(shift), a, Value::Const((*by).into())));
            }
            for &number in &constants {
                for op in [Op::And, Op::Or, Op::Xor, Op::Add, Op::Sub] {
                    push(op, a, Value::Const(number & low(width)));
                    push(op, a, Value::Const(number));
                }
            }
            for &low in amounts.iter().filter(|low| **low < width) {
                for &bits in amounts.iter().filter(|bits| **bits > 0 && low + **bits <= width) {
                    for is_signed in [false, true] {
                        push(Op::Field { low, bits, is_signed }, a, none);
                    }
                }
            }
        }
        for (&first, &second) in regs.iter().flat_map(|a| regs.iter().map(move |b| (a, b))) {
            let (a, b) = (Value::Reg(first), Value::Reg(second));
            let both =
                [Op::And, Op::Or, Op::Xor, Op::AndNot, Op::OrNot, Op::Add, Op::Sub, Op::ReverseSub];
            both.into_iter().for_each(|op| push(op, a, b));
            let by = own.iter().filter(|by| **by > 0 && **by < width);
            for (&by, shift) in by.flat_map(|by| shifts.map(|shift| (by, shift))) {
                both.into_iter().for_each(|op| push(op, a, Value::Shifted(second, shift, by)));
            }
            let extensions = [8, 16, 32].into_iter().filter(|bits| *bits < width);
            for (bits, is_signed) in extensions.flat_map(|bits| [(bits, false), (bits, true)]) {
                for &by in own.iter().filter(|by| **by < 5).chain([&0]) {
                    let b = Value::Extended(second, Extension { bits, is_signed }, by);
                    [Op::Add, Op::Sub].into_iter().for_each(|op| push(op, a, b));
                }
            }
            for &third in regs.iter().filter(|_| has_product) {
                for is_negated in [false, true] {
                    push(Op::Multiply { addend: Value::Reg(third), is_negated }, a, b);
                }
            }
        }
    }
    all
}
