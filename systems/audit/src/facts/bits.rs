//! Which bits of each register are known, and which bits of each result can change anything.
//!
//! ```text
//! ldrb r0, [r1]        known: bits 8 to 31 of r0 are zero
//! uxtb r0, r0          so this changes nothing (known bits)
//! add  r0, r0, #1
//! uxtb r0, r0          demanded: only bits 0 to 7 are stored, so neither does this
//! strb r0, [r2]
//! ```
//!
//! Both run over the whole function until nothing changes: known bits forward from nothing
//! known, demanded bits backward from what the procedure call standard promises to the caller.
//!
//! Source: Budiu, Sakr, Walker and Goldstein, "BitValue inference", Euro-Par 2000.

use crate::decode::code::{
    Class, Delay, Extends, Flow, Instruction, Op, Operation, Out, Reg, Shift, Value,
};
use crate::decode::{Conventions, Isa};
use crate::facts::cases::{entries, has_hidden_ways};
use crate::facts::frame::successors;
use crate::facts::landings::landings;
use crate::program::function::Function;

/// What is known of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Bits that are zero.
    pub zeros: u64,
    /// Bits that are one.
    pub ones: u64,
    /// So many bits at the top are equal, at least one.
    pub n_signs: u8,
    pub writer: Writer,
}

/// The last writer of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// None in this function.
    Caller,
    /// The instruction at this place.
    At(usize),
    Several,
}

/// Both analyses of one function.
#[derive(Debug)]
pub struct Bits {
    bits: u8,
    /// Before each instruction, by register; `None` where no path leads.
    known: Vec<Option<Vec<Known>>>,
    /// After each instruction, by register.
    demanded: Vec<Vec<u64>>,
    /// Loads are there for their faults, too: what fixes them up may look at nothing else.
    probes: bool,
}

/// Why an operation is not needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Its operand has these bits already.
    Known,
    /// The bits that it changes are not read.
    Demanded,
    /// The one or the other, bit by bit.
    Both,
}

/// The low `n` bits.
pub fn low(n: u8) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

impl Known {
    fn nothing(writer: Writer) -> Known {
        Known { zeros: 0, ones: 0, n_signs: 1, writer }
    }

    fn constant(value: u64, bits: u8) -> Known {
        let value = value & low(bits);
        Known { zeros: !value & low(bits), ones: value, n_signs: 1, writer: Writer::Several }
            .with_signs(bits)
    }

    /// The number of equal bits at the top, at least what zeros and ones show.
    fn with_signs(mut self, bits: u8) -> Known {
        let top =
            |mask: u64| (mask << (64 - u32::from(bits))).leading_ones().min(bits.into()) as u8;
        self.n_signs = self.n_signs.max(top(self.zeros)).max(top(self.ones)).max(1);
        self
    }

    fn either(self, other: Known) -> Known {
        Known {
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            n_signs: self.n_signs.min(other.n_signs),
            writer: if self.writer == other.writer { self.writer } else { Writer::Several },
        }
    }
}

impl Bits {
    pub fn of(function: &Function) -> Bits {
        Bits::returning(function, function.isa.conventions())
    }

    /// The same if the caller reads the first result alone, as of most functions it does.
    pub fn with_one_result(function: &Function) -> Bits {
        let own = function.isa.conventions();
        Bits::returning(function, &Conventions { results: &own.results[..1], ..*own })
    }

    fn returning(function: &Function, conventions: &Conventions) -> Bits {
        let probes = has_hidden_ways(function);
        let (known, demanded) =
            (forward(function, conventions), backward(function, conventions, probes));
        Bits { bits: conventions.bits, known, demanded, probes }
    }

    /// What is known of `reg` before instruction `idx`.
    pub fn before(&self, idx: usize, reg: Reg) -> Known {
        let known =
            self.known[idx].as_ref().and_then(|known| known.get(usize::from(reg.0)).copied());
        known.unwrap_or_else(|| Known::nothing(Writer::Several))
    }

    /// True if some path leads to instruction `idx`.
    pub fn is_reached(&self, idx: usize) -> bool {
        self.known[idx].is_some()
    }

    /// Which bits of `reg` can change anything after instruction `idx`.
    pub fn demanded(&self, idx: usize, reg: Reg) -> u64 {
        self.demanded[idx].get(usize::from(reg.0)).copied().unwrap_or(u64::MAX)
    }

    /// True if nothing that instruction `idx` writes can change anything.
    pub fn is_dead(&self, function: &Function, idx: usize) -> bool {
        let instruction = &function.instructions[idx];
        let is_probe = self.probes && !instruction.accesses.is_empty();
        !has_effect(instruction, function.isa.conventions())
            && !is_probe
            && instruction
                .writes
                .iter()
                .all(|write| self.demanded(idx, write.reg) & write.bits == 0)
    }

    /// If the result of instruction `idx` is its first operand in all bits that matter, why.
    /// A copy is no such thing: it has no operation to save, unless it clears what is above it.
    pub fn is_copy(&self, function: &Function, idx: usize) -> Option<Proof> {
        let instruction = &function.instructions[idx];
        let operation = instruction.operation?;
        let result = operation.result?;
        let Value::Reg(source) = operation.a else { return None };
        let has_flags = instruction
            .writes
            .iter()
            .any(|write| write.reg != result && self.demanded(idx, write.reg) != 0);
        if has_flags || instruction.is_guarded() || !self.is_reached(idx) {
            return None;
        }
        let demanded = self.demanded(idx, result) & low(self.bits);
        let source = self.before(idx, source);
        // Bits that the operation may change.
        let changed = match (operation.op, operation.b) {
            (Op::And, Value::Const(mask)) => !mask & !source.zeros,
            (Op::AndNot, Value::Const(mask)) => mask & !source.zeros,
            (Op::Or, Value::Const(mask)) => mask & !source.ones,
            (Op::ZeroExtend { bits }, _) | (Op::Field { low: 0, bits, is_signed: false }, _) => {
                !low(bits) & !source.zeros
            }
            (Op::SignExtend { bits }, _) | (Op::Field { low: 0, bits, is_signed: true }, _) => {
                if source.n_signs > self.bits - bits {
                    0
                } else {
                    !low(bits)
                }
            }
            (Op::Move, _) if operation.width < self.bits => 0,
            _ => return None,
        };
        let touched = match (operation.op, operation.b) {
            (Op::And, Value::Const(mask)) => !mask,
            (Op::AndNot | Op::Or, Value::Const(mask)) => mask,
            (Op::ZeroExtend { bits } | Op::SignExtend { bits } | Op::Field { bits, .. }, _) => {
                !low(bits)
            }
            (Op::Move, _) => 0,
            _ => return None,
        };
        // A narrow operation also clears or fills what is above it.
        let above = low(self.bits) & !low(operation.width);
        let (changed, touched) = match operation.extends {
            Extends::Zero => (changed | above & !source.zeros, touched | above),
            Extends::Sign if above & demanded != 0 => return None,
            Extends::Sign => (changed, touched),
        };
        if changed & demanded != 0 || demanded == 0 {
            return None;
        }
        let changed_known = changed & low(self.bits) == 0;
        Some(match (touched & demanded == 0, changed_known) {
            (true, _) => Proof::Demanded,
            (false, true) => Proof::Known,
            (false, false) => Proof::Both,
        })
    }
}

/// What an instruction does besides writing registers.
fn has_effect(instruction: &Instruction, conventions: &Conventions) -> bool {
    // What reads and writes no register is there for what it reads: a hint to the memory, say.
    let is_hint = !instruction.reads.is_empty()
        && instruction.writes.iter().all(|write| Some(write.reg) == conventions.zero);
    let is_plain_load = matches!(
        instruction.class,
        Class::Load | Class::LoadSlow | Class::LoadDouble | Class::LoadMultiple
    );
    is_hint
        || !matches!(instruction.flow, Flow::Next)
        || instruction.accesses.iter().any(|access| access.is_store)
        || matches!(instruction.class, Class::System | Class::Window | Class::Float)
        || instruction.orders_others()
        || instruction.class.is_part_of_float()
        || !instruction.accesses.is_empty() && !is_plain_load
}

fn forward(function: &Function, conventions: &Conventions) -> Vec<Option<Vec<Known>>> {
    let n = function.instructions.len();
    let mut before: Vec<Option<Vec<Known>>> = vec![None; n];
    if n == 0 {
        return before;
    }
    let mut entry = vec![Known::nothing(Writer::Caller); conventions.names.len()];
    zero_register(&mut entry, conventions);
    before[0] = Some(entry);
    let mut open = vec![0];
    for idx in entries(function).iter().enumerate().filter(|pair| *pair.1).map(|pair| pair.0) {
        let mut unknown = vec![Known::nothing(Writer::Several); conventions.names.len()];
        zero_register(&mut unknown, conventions);
        before[idx] = Some(unknown);
        open.push(idx);
    }
    while let Some(idx) = open.pop() {
        let Some(mut state) = before[idx].clone() else { continue };
        step(&mut state, function, idx, conventions);
        for to in ways(function, idx) {
            let changed = match &mut before[to] {
                Some(known) => {
                    let mut changed = false;
                    for (known, new) in known.iter_mut().zip(&state) {
                        let both = known.either(*new);
                        changed |= both != *known;
                        *known = both;
                    }
                    changed
                }
                unknown => {
                    *unknown = Some(state.clone());
                    true
                }
            };
            if changed {
                open.push(to);
            }
        }
    }
    before
}

fn zero_register(state: &mut [Known], conventions: &Conventions) {
    if let Some(zero) = conventions.zero.and_then(|zero| state.get_mut(usize::from(zero.0))) {
        *zero = Known::constant(0, conventions.bits);
    }
}

fn step(state: &mut [Known], function: &Function, idx: usize, conventions: &Conventions) {
    let instruction = &function.instructions[idx];
    let result = instruction.operation.and_then(|operation| {
        Some((operation.result?, evaluate(&operation, instruction, state, conventions.bits)))
    });
    for write in &instruction.writes {
        let Some(place) = state.get(usize::from(write.reg.0)) else { continue };
        let mut new = Known::nothing(Writer::At(idx));
        if let Some((_, known)) = result
            .filter(|(reg, _)| *reg == write.reg && matches!(write.out, Out::Result | Out::Nth(0)))
        {
            new = Known { writer: Writer::At(idx), ..known };
        }
        if instruction.is_guarded() {
            new = Known { writer: Writer::Several, ..new.either(*place) };
        }
        state[usize::from(write.reg.0)] = new;
    }
    if matches!(instruction.flow, Flow::Call { .. }) {
        for reg in conventions.scratch.iter().chain(conventions.flags) {
            if let Some(place) = state.get_mut(usize::from(reg.0)) {
                *place = Known::nothing(Writer::At(idx));
            }
        }
    }
    // A window changes what every name means; what is written over may do anything.
    if instruction.class == Class::Window || function.is_opaque(idx) {
        state.fill(Known::nothing(Writer::Several));
    }
    zero_register(state, conventions);
}

/// Where control may go, as places. A branch with a delay slot is taken to go on, and the
/// instruction in the slot to go to the target too.
fn ways(function: &Function, idx: usize) -> Vec<usize> {
    let mut ways = successors(function, idx);
    if let Some(before) =
        idx.checked_sub(1).filter(|&number| function.instructions[number].delay != Delay::None)
    {
        ways.extend(function.target(before));
    }
    ways
}

fn evaluate(operation: &Operation, instruction: &Instruction, state: &[Known], bits: u8) -> Known {
    let value = |value: Value| operand(value, state, operation.width);
    let (a, b) = (value(operation.a), value(operation.b));
    let width = operation.width;
    let all = low(width);
    let of = |zeros: u64, ones: u64, n_signs: u8| {
        Known { zeros: zeros & all, ones: ones & all, n_signs, writer: Writer::Several }
            .with_signs(width)
    };
    let either_signs = a.n_signs.min(b.n_signs);
    let narrow = match (operation.op, operation.b) {
        (Op::Move, _) => of(a.zeros, a.ones, a.n_signs),
        (Op::Not, _) => of(a.ones, a.zeros, a.n_signs),
        (Op::And, _) => of(a.zeros | b.zeros, a.ones & b.ones, either_signs),
        (Op::AndNot, _) => of(a.zeros | b.ones, a.ones & b.zeros, either_signs),
        (Op::Or, _) => of(a.zeros & b.zeros, a.ones | b.ones, either_signs),
        (Op::OrNot, _) => of(a.zeros & b.ones, a.ones | b.zeros, either_signs),
        (Op::Xor, _) => of(
            a.zeros & b.zeros | a.ones & b.ones,
            a.zeros & b.ones | a.ones & b.zeros,
            either_signs,
        ),
        (Op::Add, _) => {
            let (zeros, ones) = sum(a, b, all);
            of(zeros, ones, 1)
        }
        (Op::Shift(shift), Value::Const(by)) => shifted(a, shift, (by & 63) as u8, width),
        (Op::ZeroExtend { bits }, _) => of(a.zeros | !low(bits), a.ones & low(bits), 1),
        (Op::SignExtend { bits }, _) => sign_extended(a, bits, width),
        (Op::Field { low: from, bits, is_signed: false }, _) => {
            of(a.zeros >> from | !low(bits), a.ones >> from & low(bits), 1)
        }
        (Op::Field { bits, is_signed: true, .. }, _) => of(0, 0, width - bits + 1),
        (Op::Load { is_signed }, _) => {
            let loaded = instruction
                .accesses
                .first()
                .map_or(width, |access| (access.width.saturating_mul(8)).min(width));
            if is_signed { of(0, 0, width - loaded + 1) } else { of(!low(loaded), 0, 1) }
        }
        (Op::SetLess { .. }, _) => of(!1, 0, 1),
        (
            Op::Sub
            | Op::ReverseSub
            | Op::Shift(_)
            | Op::Compare
            | Op::CompareLoaded
            | Op::CompareNegative
            | Op::Test
            | Op::TestEqual
            | Op::Multiply { .. }
            | Op::BranchIf(_),
            _,
        ) => of(0, 0, 1),
    };
    if width >= bits {
        return narrow;
    }
    match operation.extends {
        Extends::Zero => {
            Known { zeros: narrow.zeros | !all & low(bits), n_signs: 1, ..narrow }.with_signs(bits)
        }
        Extends::Sign => {
            let above = !all & low(bits);
            let top = 1 << (width - 1);
            let zeros = narrow.zeros | if narrow.zeros & top != 0 { above } else { 0 };
            let ones = narrow.ones | if narrow.ones & top != 0 { above } else { 0 };
            Known { zeros, ones, n_signs: narrow.n_signs + (bits - width), ..narrow }
        }
    }
}

/// An operand, cut to the width of its operation.
fn operand(value: Value, state: &[Known], width: u8) -> Known {
    let reg = |reg: Reg| {
        let known = state
            .get(usize::from(reg.0))
            .copied()
            .unwrap_or_else(|| Known::nothing(Writer::Several));
        let cut = Known { zeros: known.zeros & low(width), ones: known.ones & low(width), ..known };
        // Equal bits at the top of the register say nothing about the top of its low part unless
        // they reach into it.
        let above =
            (64 - (known.zeros | known.ones | low(width)).leading_zeros() as u8).max(width) - width;
        Known { n_signs: known.n_signs.saturating_sub(above).max(1), ..cut }.with_signs(width)
    };
    match value {
        Value::Reg(it) => reg(it),
        Value::Const(it) => Known::constant(it, width),
        Value::Shifted(it, shift, by) => shifted(reg(it), shift, by, width),
        Value::Extended(it, of, by) => {
            let low = reg(it);
            let extended = if of.is_signed {
                sign_extended(low, of.bits, width)
            } else {
                let (zeros, ones) =
                    (low.zeros | !self::low(of.bits), low.ones & self::low(of.bits));
                let zeros = zeros & self::low(width);
                Known { zeros, ones, n_signs: 1, ..low }.with_signs(width)
            };
            shifted(extended, Shift::Left, by, width)
        }
    }
}

/// Bits of a sum: the largest and the smallest that the operands allow differ in no carry
/// where both are known.
fn sum(a: Known, b: Known, all: u64) -> (u64, u64) {
    let most = (!a.zeros & all).wrapping_add(!b.zeros & all);
    let least = a.ones.wrapping_add(b.ones);
    let carries_most = most ^ !a.zeros ^ !b.zeros;
    let carries_least = least ^ a.ones ^ b.ones;
    let known = (a.zeros | a.ones) & (b.zeros | b.ones) & !(carries_most ^ carries_least) & all;
    (!least & known, least & known)
}

fn shifted(a: Known, shift: Shift, by: u8, width: u8) -> Known {
    let all = low(width);
    let by = u32::from(by);
    let is_out = by >= u32::from(width);
    let known = |zeros: u64, ones: u64, n_signs: u8| {
        Known {
            zeros: zeros & all,
            ones: ones & all,
            n_signs: n_signs.clamp(1, width),
            writer: a.writer,
        }
        .with_signs(width)
    };
    match shift {
        _ if by == 0 => a,
        Shift::Left if is_out => known(all, 0, 1),
        Shift::Left => {
            known(a.zeros << by | low(by as u8), a.ones << by, a.n_signs.saturating_sub(by as u8))
        }
        Shift::Right if is_out => known(all, 0, 1),
        Shift::Right => known(a.zeros >> by | !(all >> by), a.ones >> by, 1),
        Shift::RightSigned => {
            let by = by.min(u32::from(width) - 1);
            let filled = all & !(all >> by);
            let top = 1 << (width - 1);
            let zeros = a.zeros >> by | if a.zeros & top != 0 { filled } else { 0 };
            let ones = a.ones >> by | if a.ones & top != 0 { filled } else { 0 };
            known(zeros, ones, a.n_signs.saturating_add(by as u8))
        }
        Shift::Rotate => {
            let by = by % u32::from(width);
            let turned = |mask: u64| {
                if by == 0 { mask } else { mask >> by | mask << (u32::from(width) - by) }
            };
            known(turned(a.zeros), turned(a.ones), 1)
        }
    }
}

fn sign_extended(a: Known, bits: u8, width: u8) -> Known {
    let above = low(width) & !low(bits);
    let top = 1 << (bits - 1);
    let zeros = a.zeros & low(bits) | if a.zeros & top != 0 { above } else { 0 };
    let ones = a.ones & low(bits) | if a.ones & top != 0 { above } else { 0 };
    Known { zeros, ones, n_signs: (width - bits + 1).max(a.n_signs), writer: a.writer }
        .with_signs(width)
}

fn backward(function: &Function, conventions: &Conventions, probes: bool) -> Vec<Vec<u64>> {
    let n = function.instructions.len();
    let n_regs = conventions.names.len();
    let mut after: Vec<Vec<u64>> = vec![vec![0; n_regs]; n];
    let mut comes_from: Vec<Vec<usize>> = vec![Vec::new(); n];
    for idx in 0..n {
        for to in ways(function, idx) {
            comes_from[to].push(idx);
        }
    }
    for (idx, demanded) in after.iter_mut().enumerate() {
        leaves(function, idx, conventions, demanded);
        // An interrupt or a signal may come after any instruction, and finds its stack by this
        // register.
        demanded[usize::from(conventions.stack_pointer.0)] = low(conventions.bits);
    }
    let before = |after: &[Vec<u64>], idx: usize| {
        let mut demanded = after[idx].clone();
        needs(&mut demanded, &function.instructions[idx], conventions, probes);
        if function.is_opaque(idx) || function.instructions[idx].sets_trap_handler() {
            demanded.fill(u64::MAX);
        }
        demanded
    };
    let landings = landings(function);
    loop {
        let mut open: Vec<usize> = (0..n).collect();
        while let Some(idx) = open.pop() {
            let demanded = before(&after, idx);
            open.extend(
                comes_from[idx].iter().copied().filter(|from| add(&mut after[*from], &demanded)),
            );
        }
        // What is demanded at a landing is demanded everywhere.
        let mut changed = false;
        for demanded in landings.iter().map(|landing| before(&after, *landing)).collect::<Vec<_>>()
        {
            after.iter_mut().for_each(|it| changed |= add(it, &demanded));
        }
        if !changed {
            return after;
        }
    }
}

/// Adds to what is demanded; says whether that changed anything.
fn add(demanded: &mut [u64], more: &[u64]) -> bool {
    let mut changed = false;
    for (known, new) in demanded.iter_mut().zip(more) {
        changed |= *new & !*known != 0;
        *known |= new;
    }
    changed
}

/// What is demanded after an instruction that leaves the function.
fn leaves(function: &Function, idx: usize, conventions: &Conventions, demanded: &mut [u64]) {
    let instruction = &function.instructions[idx];
    let faults_elsewhere =
        |idx: usize| idx < function.instructions.len() && function.fixup(idx) == Some(None);
    // An instruction that faults has written nothing: what is demanded behind it is demanded before
    // it.
    if faults_elsewhere(idx) || faults_elsewhere(idx + 1) {
        demanded.fill(low(conventions.bits));
    }
    // Behind a delay slot stands what its branch does.
    let leaving = match idx.checked_sub(1).map(|number| &function.instructions[number]) {
        Some(before)
            if before.delay != Delay::None && !matches!(before.flow, Flow::Call { .. }) =>
        {
            before
        }
        _ => instruction,
    };
    let out_of_function =
        |idx: usize| matches!(leaving.flow, Flow::Branch { .. }) && function.target(idx).is_none();
    let place = if std::ptr::eq(leaving, instruction) { idx } else { idx - 1 };
    let last = idx + 1 == function.instructions.len();
    if function.cases_of(place).is_some() {
        return;
    }
    // Arm's run-time helpers return remainders in r2 and r3, and comparisons in the flags.
    let is_helper = function.name.starts_with("__aeabi_");
    if matches!(leaving.flow, Flow::Return) && function.isa != Isa::Sparc && !is_helper {
        let kept = [conventions.results, conventions.saved, &[conventions.stack_pointer]].concat();
        let kept = kept
            .iter()
            .chain(conventions.reserved.iter().map(|(reg, _)| reg))
            .chain(&conventions.link);
        kept.for_each(|reg| demanded[usize::from(reg.0)] = low(conventions.bits));
        conventions.unlisted().for_each(|reg| demanded[usize::from(reg.0)] = u64::MAX);
    } else if last
        || out_of_function(place)
        || matches!(
            leaving.flow,
            Flow::Jump | Flow::Stop | Flow::Return | Flow::Resume | Flow::LastCall
        )
    {
        demanded.fill(low(conventions.bits));
        if matches!(leaving.flow, Flow::Return) && !is_helper {
            conventions.flags.iter().for_each(|flag| demanded[usize::from(flag.0)] = 0);
        }
    }
}

/// From what is demanded after an instruction to what is before it.
fn needs(demanded: &mut [u64], instruction: &Instruction, conventions: &Conventions, probes: bool) {
    if instruction.class == Class::Window {
        let flags: Vec<(usize, u64)> = conventions
            .flags
            .iter()
            .map(|flag| usize::from(flag.0))
            .map(|at| (at, demanded[at]))
            .collect();
        demanded.fill(low(conventions.bits));
        flags.into_iter().for_each(|(at, bits)| demanded[at] = bits);
        return;
    }
    let result = instruction.operation.and_then(|operation| operation.result);
    let of_result = result.map_or(0, |result| demanded[usize::from(result.0)]);
    let others = instruction
        .writes
        .iter()
        .filter(|write| Some(write.reg) != result)
        .any(|write| demanded[usize::from(write.reg.0)] & write.bits != 0);
    if matches!(instruction.flow, Flow::Call { .. }) {
        let scratch = if instruction.flow.ends_scratch() { conventions.scratch } else { &[] };
        for reg in scratch.iter().chain(conventions.flags) {
            demanded[usize::from(reg.0)] = 0;
        }
        for reg in conventions.arguments.iter().chain([&conventions.stack_pointer]) {
            demanded[usize::from(reg.0)] = low(conventions.bits);
        }
        conventions.unlisted().for_each(|reg| demanded[usize::from(reg.0)] = u64::MAX);
    }
    if !instruction.is_guarded() {
        for write in &instruction.writes {
            demanded[usize::from(write.reg.0)] &= !write.bits;
        }
    }
    let is_probe = probes && !instruction.accesses.is_empty();
    let is_used = has_effect(instruction, conventions) || is_probe || others || of_result != 0;
    if !is_used {
        return;
    }
    let narrow = instruction.operation.filter(|operation| {
        !others
            && !has_effect(instruction, conventions)
            && operation.result.is_some()
            && instruction.accesses.is_empty()
    });
    for read in &instruction.reads {
        let mut bits = read.bits & low(conventions.bits);
        if let Some(operation) = narrow.filter(|_| !conventions.flags.contains(&read.reg)) {
            bits &= operand_demand(&operation, read.reg, of_result, conventions.bits);
        }
        demanded[usize::from(read.reg.0)] |= bits;
    }
}

/// Which bits of `reg` an operation needs for the demanded bits of its result.
fn operand_demand(operation: &Operation, reg: Reg, of_result: u64, bits: u8) -> u64 {
    let width = operation.width;
    let all = low(width);
    let mut wanted = of_result & all;
    if operation.extends == Extends::Sign && of_result & low(bits) & !all != 0 {
        wanted |= 1 << (width - 1);
    }
    let constant = match operation.b {
        Value::Const(it) => Some(it),
        Value::Reg(_) | Value::Shifted(..) | Value::Extended(..) => None,
    };
    // Carries come from below.
    let below = if wanted == 0 { 0 } else { low(64 - wanted.leading_zeros() as u8) };
    let (a, b) = match operation.op {
        Op::Move | Op::Not | Op::Xor => (wanted, wanted),
        Op::And => (wanted & constant.unwrap_or(all), wanted),
        Op::AndNot => (wanted & !constant.unwrap_or(0), wanted),
        Op::Or => (wanted & !constant.unwrap_or(0), wanted),
        Op::OrNot => (wanted & constant.unwrap_or(all), wanted),
        Op::Add | Op::Sub | Op::ReverseSub | Op::Multiply { .. } => (below, below),
        Op::Shift(shift) => match constant {
            Some(by) => (unshifted(wanted, shift, (by & 63) as u8, width), 0),
            None => (all, all),
        },
        Op::ZeroExtend { bits } => (wanted & low(bits), 0),
        Op::SignExtend { bits } => {
            (wanted & low(bits) | if wanted & !low(bits) != 0 { 1 << (bits - 1) } else { 0 }, 0)
        }
        Op::Field { low: from, bits, is_signed } => {
            let sign = if is_signed && wanted & !low(bits) != 0 { 1 << (bits - 1) } else { 0 };
            ((wanted & low(bits) | sign) << from, 0)
        }
        Op::Load { .. }
        | Op::Compare
        | Op::CompareLoaded
        | Op::CompareNegative
        | Op::Test
        | Op::TestEqual
        | Op::SetLess { .. }
        | Op::BranchIf(_) => (all, all),
    };
    let through = |value: Value, wanted: u64| match value {
        Value::Reg(it) if it == reg => wanted,
        Value::Shifted(it, shift, by) if it == reg => unshifted(wanted, shift, by, width),
        Value::Extended(it, of, by) if it == reg => {
            let wanted = unshifted(wanted, Shift::Left, by, width);
            let is_sign = of.is_signed && wanted & !low(of.bits) != 0;
            wanted & low(of.bits) | if is_sign { 1 << (of.bits - 1) } else { 0 }
        }
        Value::Reg(_) | Value::Shifted(..) | Value::Extended(..) | Value::Const(_) => 0,
    };
    let addend = match operation.op {
        Op::Multiply { addend, .. } => addend,
        _ => Value::Const(0),
    };
    let named = [operation.a, operation.b, addend]
        .iter()
        .any(|it| matches!(it, Value::Reg(r) | Value::Shifted(r, ..) | Value::Extended(r, ..) if *r == reg));
    // A register that the operation does not name is read for something else.
    if named {
        through(operation.a, a) | through(operation.b, b) | through(addend, below)
    } else {
        u64::MAX
    }
}

/// Which bits of an operand become the wanted bits of its shifted value.
fn unshifted(wanted: u64, shift: Shift, by: u8, width: u8) -> u64 {
    let all = low(width);
    let by = u32::from(by);
    if by == 0 {
        return wanted & all;
    }
    let is_out = by >= u32::from(width);
    match shift {
        Shift::Left => {
            if is_out {
                0
            } else {
                wanted >> by
            }
        }
        Shift::Right => {
            if is_out {
                0
            } else {
                wanted << by & all
            }
        }
        Shift::RightSigned => {
            let by = by.min(u32::from(width) - 1);
            let sign = if wanted & all & !(all >> by) != 0 { 1 << (width - 1) } else { 0 };
            wanted << by & all | sign
        }
        Shift::Rotate => {
            let by = by % u32::from(width);
            if by == 0 {
                wanted & all
            } else {
                (wanted << by | (wanted & all) >> (u32::from(width) - by)) & all
            }
        }
    }
}
