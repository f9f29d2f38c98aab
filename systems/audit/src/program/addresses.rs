//! Operations whose numbers a linker writes or wrote: addresses are no constants of the source, so
//! they are not looked at as such; and where jumps go whose target takes two instructions.
//!
//! ```text
//! lui  a5, %hi(object)         adrp x0, object              sethi %hi(object), %g1
//! addi a5, a5, %lo(object)     ldr  x1, [x0, :lo12:object]  or %g1, %lo(object), %g1
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use object::elf;

use crate::decode::Isa;
use crate::decode::code::{Class, Flow, IndexForm, Instruction, Op, Role, Value};

/// Between the two halves of an address stand no more instructions than these.
const APART_MAX: usize = 32;

/// Takes from an instruction of an object file what the linker has still to write into it.
pub fn forget_relocated(instruction: &mut Instruction, relocated: &BTreeSet<u64>, isa: Isa) {
    let here = instruction.address..instruction.address + u64::from(instruction.length).max(1);
    if instruction.flow != Flow::Next || relocated.range(here).next().is_none() {
        return;
    }
    instruction.operation = None;
    // Where the addend stands beside the code, the offset in the word is zero, whatever the object.
    if matches!(isa, Isa::A64 | Isa::Sparc | Isa::X86) {
        for access in &mut instruction.accesses {
            if let Some(base) = access.base.filter(|_| access.index.is_none()) {
                (access.index, access.index_form) = (Some((base, 0)), IndexForm::Other);
            }
        }
    }
}

/// In a linked file: a constant in two halves that is an address in one of its sections.
pub fn forget_linked(instructions: &mut [Instruction], sections: &[Range<u64>], isa: Isa) {
    let is_address = |value: u64| sections.iter().any(|section| section.contains(&value));
    for idx in 1..instructions.len() {
        let second = &instructions[idx];
        let (reg, low) =
            match second.operation.map(|operation| (operation.op, operation.a, operation.b)) {
                Some((Op::Add | Op::Or, Value::Reg(reg), Value::Const(low))) => (reg, low),
                None if upper_half(isa, second).is_some() => (second.writes[0].reg, 0),
                _ => continue,
            };
        let writer = (idx.saturating_sub(APART_MAX)..idx)
            .rev()
            .find(|idx| instructions[*idx].writes.iter().any(|write| write.reg == reg));
        let Some(writer) = writer else { continue };
        let first = instructions[writer]
            .operation
            .filter(|operation| operation.op == Op::Move && operation.result == Some(reg));
        let Some(Value::Const(first)) = first.map(|found| found.a) else { continue };
        let upper = upper_half(isa, second);
        let value =
            upper.map_or(first.wrapping_add(low), |upper| u64::from(upper) << 16 | first & 0xffff);
        if is_address(value) {
            // Of `movw` and `movt` it is the first whose number is known.
            let known = if upper.is_some() { writer } else { idx };
            instructions[known].operation = None;
        }
    }
}

/// Follows RISC-V's pairs that reach further than one instruction, `auipc t1, ..; jr ..(t1)`, as a
/// linker wrote them or would, who is asked by the address of the second: a call gets its target, a
/// jump into the function itself is a branch, and of one that leaves it the target is in the
/// answer, by its address.
pub fn follow_pairs(
    function: Range<u64>,
    instructions: &mut [Instruction],
    isa: Isa,
    linked: impl Fn(u64) -> Option<u64>,
) -> BTreeMap<u64, u64> {
    let mut leaving = BTreeMap::new();
    for idx in 1..instructions.len() {
        let written = || far_target(isa, &instructions[idx - 1], &instructions[idx]);
        let Some(to) = linked(instructions[idx].address).or_else(written) else { continue };
        let second = &mut instructions[idx];
        match second.flow {
            Flow::Call { target: None } => second.flow = Flow::Call { target: Some(to) },
            Flow::Jump if function.contains(&to) => {
                second.flow = Flow::Branch { target: to, is_conditional: false }
            }
            Flow::Jump => {
                leaving.insert(second.address, to);
            }
            Flow::Next
            | Flow::Branch { .. }
            | Flow::Call { .. }
            | Flow::LastCall
            | Flow::Return
            | Flow::Resume
            | Flow::Stop => {}
        }
    }
    leaving
}

/// Where the second of two instructions goes if the first makes the upper part of its target.
fn far_target(isa: Isa, first: &Instruction, second: &Instruction) -> Option<u64> {
    let bits = match isa {
        Isa::Riscv32 => u64::from(u32::MAX),
        Isa::Riscv64 => u64::MAX,
        Isa::A32 | Isa::T32 | Isa::A64 | Isa::Sparc | Isa::X86 => return None,
    };
    let through = second.reads.iter().find(|read| read.role == Role::Target)?.reg;
    let upper = first
        .operation
        .filter(|operation| operation.op == Op::Move && operation.result == Some(through))?;
    let Value::Const(upper) = upper.a else { return None };
    Some(upper.wrapping_add_signed(jump_offset(isa, second)) & bits & !1)
}

/// What a jump through a register adds to it.
pub fn jump_offset(isa: Isa, jump: &Instruction) -> i64 {
    // That of `jalr` stands in its upper twelve bits; a compressed one has none.
    let is_jalr = matches!(isa, Isa::Riscv32 | Isa::Riscv64) && jump.length == 4;
    if is_jalr { i64::from(jump.word as u32 as i32 >> 20) } else { 0 }
}

/// Arm's calls and jumps through a register, each with what last wrote it: a load, or the second
/// half of `movw` and `movt`. Only where that is done whenever the jump is reached: nothing between
/// them jumps, is jumped to, or writes the register.
pub fn register_jumps(instructions: &[Instruction], isa: Isa) -> Vec<(usize, usize)> {
    if !matches!(isa, Isa::A32 | Isa::T32) {
        return Vec::new();
    }
    let entered: BTreeSet<u64> = instructions
        .iter()
        .filter_map(|instruction| match instruction.flow {
            Flow::Branch { target, .. } => Some(target),
            _ => None,
        })
        .collect();
    let writer_of = |jump: usize| {
        let through = instructions[jump].reads.iter().find(|read| read.role == Role::Target)?.reg;
        let mut below = jump;
        for idx in (jump.saturating_sub(APART_MAX)..jump).rev() {
            if entered.contains(&instructions[below].address)
                || instructions[idx].flow != Flow::Next
            {
                return None;
            }
            if instructions[idx].writes.iter().any(|write| write.reg == through) {
                return instructions[idx].guard.is_none().then_some(idx);
            }
            below = idx;
        }
        None
    };
    let jumps = (0..instructions.len())
        .filter(|idx| matches!(instructions[*idx].flow, Flow::Call { target: None } | Flow::Jump));
    jumps.filter_map(|jump| Some((jump, writer_of(jump)?))).collect()
}

/// The number that `movw` and, at `second`, `movt` put together, where no linker has
/// still to write it.
pub fn pair_of_halves(instructions: &[Instruction], second: usize, isa: Isa) -> Option<u64> {
    let upper = upper_half(isa, &instructions[second])?;
    let reg = instructions[second].writes[0].reg;
    let first = instructions[..second]
        .iter()
        .rev()
        .take(APART_MAX)
        .find(|instruction| instruction.writes.iter().any(|write| write.reg == reg))?;
    match first
        .operation
        .filter(|operation| {
            operation.op == Op::Move && operation.result == Some(reg) && first.guard.is_none()
        })?
        .a
    {
        Value::Const(low) => Some(u64::from(upper) << 16 | low & 0xffff),
        _ => None,
    }
}

/// The number that `movt` of Arm's writes into the upper half of a register, spread over its word
/// (A8.8.106 of DDI 0406C).
pub fn upper_half(isa: Isa, instruction: &Instruction) -> Option<u16> {
    let is_arm = matches!(isa, Isa::A32 | Isa::T32)
        && instruction.class == Class::Constant
        && instruction.operation.is_none();
    if !is_arm || !matches!(instruction.writes[..], [write] if write.bits == 0xffff_0000) {
        return None;
    }
    Some(half(isa, instruction.word as u32))
}

/// The number in the word of a `movw` or `movt`; of Thumb's the first half of
/// the word stands above.
pub fn half(isa: Isa, word: u32) -> u16 {
    let low = if isa == Isa::A32 {
        word & 0xfff
    } else {
        (word >> 26 & 1) << 11 | (word >> 12 & 7) << 8 | word & 0xff
    };
    ((word >> 16 & 15) << 12 | low) as u16
}

/// The word of a `movw` or `movt` with the half of an address that a linker would write into it, if
/// the relocation asks for one; what is there before is added.
pub fn with_half(isa: Isa, r_type: u32, word: u32, to: u64) -> Option<u32> {
    let (set, is_upper) = match r_type {
        elf::R_ARM_MOVW_ABS_NC => (Isa::A32, false),
        elf::R_ARM_MOVT_ABS => (Isa::A32, true),
        elf::R_ARM_THM_MOVW_ABS_NC => (Isa::T32, false),
        elf::R_ARM_THM_MOVT_ABS => (Isa::T32, true),
        _ => return None,
    };
    if !matches!(isa, Isa::A32 | Isa::T32) {
        return None;
    }
    let word = if set == Isa::T32 { word.rotate_left(16) } else { word };
    let sum = to.wrapping_add_signed(i64::from(half(set, word) as i16)) as u32;
    let number = if is_upper { sum >> 16 } else { sum & 0xffff };
    let (low, high) = (number & 0xfff, number >> 12);
    Some(match set {
        Isa::A32 => word & !0x000f_0fff | high << 16 | low,
        _ => {
            let spread = high << 16 | (low >> 11) << 26 | (low >> 8 & 7) << 12 | low & 0xff;
            (word & !0x040f_70ff | spread).rotate_left(16)
        }
    })
}
