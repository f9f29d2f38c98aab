//! x86-64, through iced-x86: enough to say where instructions come from and whether they are
//! needed. Its machines are out of order, so no model here says when an instruction waits.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, InstructionInfoFactory,
    Mnemonic, OpAccess, OpKind, Register, RflagsBits,
};

use super::Conventions;
use super::build::{ALL, low_bits, refused};
use crate::decode::code::{
    Access, Class, Extends, Flow, IndexForm, Instruction, Op, Operation, Out, Reg, Role, Shift,
    Undecodable, Value,
};

const RAX: Reg = Reg(0);
const RSP: Reg = Reg(4);
const RBP: Reg = Reg(5);
/// Carry, parity, auxiliary carry, zero, sign, overflow, direction.
const FLAGS: [Reg; 7] = [Reg(16), Reg(17), Reg(18), Reg(19), Reg(20), Reg(21), Reg(22)];
const FLAG_BITS: [u32; 7] = [
    RflagsBits::CF,
    RflagsBits::PF,
    RflagsBits::AF,
    RflagsBits::ZF,
    RflagsBits::SF,
    RflagsBits::OF,
    RflagsBits::DF,
];
const VECTORS: u8 = 23;
const MASKS: u8 = 55;

/// What the registers are for, by the System V procedure call standard.
pub const CONVENTIONS: Conventions = Conventions {
    names: &[
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
        "r13", "r14", "r15", "CF", "PF", "AF", "ZF", "SF", "OF", "DF", "v0", "v1", "v2", "v3",
        "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
        "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
        "v31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
    ],
    bits: 64,
    stack_pointer: RSP,
    frame_pointer: Some(RBP),
    link: None,
    zero: None,
    arguments: &[Reg(7), Reg(6), Reg(2), Reg(1), Reg(8), Reg(9)],
    results: &[RAX, Reg(2)],
    saved: &[Reg(3), RSP, RBP, Reg(12), Reg(13), Reg(14), Reg(15)],
    scratch: &[RAX, Reg(1), Reg(2), Reg(6), Reg(7), Reg(8), Reg(9), Reg(10), Reg(11)],
    reserved: &[(RSP, "stack pointer"), (RBP, "frame pointer")],
    flags: &FLAGS,
};

/// The instruction at the beginning of `bytes`.
pub fn decode(address: u64, bytes: &[u8]) -> Result<Instruction, Undecodable> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let found = decoder.decode();
    let word = bytes.iter().take(8).rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    if found.is_invalid() {
        return refused(address, word, "no instruction of x86-64, or cut off");
    }
    let length = found.len() as u8;
    let word = word & low_bits(8 * u32::from(length));
    let mut made = Instruction::new(address, length, word, class(&found), text(&found));
    let mut facts = InstructionInfoFactory::new();
    let info = facts.info(&found);
    let in_address = |register: Register| {
        info.used_memory().iter().any(|access| {
            access.base().full_register() == register || access.index().full_register() == register
        })
    };
    for used in info.used_registers() {
        let Some((reg, bits)) = register(used.register()) else { continue };
        let role = if in_address(used.register().full_register()) {
            Role::Base
        } else if found.flow_control() == FlowControl::IndirectBranch {
            Role::Target
        } else {
            Role::Source
        };
        if is_read(used.access()) {
            made = made.reads(Some(reg), bits, role);
        }
        if is_written(used.access()) {
            let is_base = reg == RSP
                && matches!(
                    found.mnemonic(),
                    Mnemonic::Push | Mnemonic::Pop | Mnemonic::Call | Mnemonic::Ret
                );
            // A write of the low 32 bits of a general register clears the others.
            let bits = if reg.0 < 16 && bits == low_bits(32) { ALL } else { bits };
            made =
                made.writes(Some(reg), bits, if is_base { Out::BaseUpdate } else { Out::Result });
        }
    }
    for (flag, bit) in FLAGS.into_iter().zip(FLAG_BITS) {
        if found.rflags_read() & bit != 0 {
            made = made.reads(Some(flag), 1, Role::Condition);
        }
        if found.rflags_modified() & bit != 0 {
            made = made.writes(Some(flag), 1, Out::Flag);
        }
    }
    for used in info.used_memory() {
        let base = register(used.base()).map(|register| register.0);
        let index =
            register(used.index()).map(|(reg, _)| (reg, used.scale().trailing_zeros() as u8));
        // Thread-local and string accesses are none of ours, but they are accesses.
        let is_plain = !matches!(used.segment(), Register::FS | Register::GS)
            && (used.base() != Register::None || index.is_some());
        let index_form = if is_plain { IndexForm::Whole } else { IndexForm::Other };
        let width = used.memory_size().size().min(255) as u8;
        let access = Access {
            is_store: false,
            base,
            index,
            index_form,
            disp: used.displacement() as i64,
            width,
        };
        if is_read(used.access()) {
            made = made.accesses(access);
        }
        if is_written(used.access()) {
            made = made.accesses(Access { is_store: true, ..access });
        }
    }
    made.flow = flow(&found);
    made.operation = operation(&found);
    Ok(if calls_system(&found) { made.calls_system(&CONVENTIONS) } else { made })
}

fn text(found: &iced_x86::Instruction) -> String {
    let mut text = String::new();
    let mut formatter = GasFormatter::new();
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_branch_leading_zeros(false);
    formatter.format(found, &mut text);
    text
}

fn is_read(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn is_written(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

/// A register as a place in the table, and which of its bits the name stands for.
fn register(register: Register) -> Option<(Reg, u64)> {
    let full = register.full_register();
    if full.is_gpr64() {
        let bits = match register.size() {
            1 if matches!(register, Register::AH | Register::BH | Register::CH | Register::DH) => {
                0xff00
            }
            size => low_bits(8 * size as u32),
        };
        return Some((Reg(full.number() as u8), bits));
    }
    if full.is_vector_register() {
        return Some((Reg(VECTORS + full.number() as u8), ALL));
    }
    full.is_k().then(|| (Reg(MASKS + full.number() as u8), ALL))
}

fn class(found: &iced_x86::Instruction) -> Class {
    if calls_system(found) {
        return Class::System;
    }
    match found.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => return Class::Call,
        FlowControl::Return => return Class::Return,
        FlowControl::IndirectBranch => return Class::Jump,
        FlowControl::UnconditionalBranch
        | FlowControl::ConditionalBranch
        | FlowControl::XbeginXabortXend => return Class::Branch,
        FlowControl::Interrupt | FlowControl::Exception => return Class::System,
        FlowControl::Next => {}
    }
    let is_vector = (0..found.op_count()).any(|idx| {
        found.op_kind(idx) == OpKind::Register
            && (found.op_register(idx).is_vector_register() || found.op_register(idx).is_k())
    });
    if is_vector {
        return Class::Float;
    }
    match found.mnemonic() {
        Mnemonic::Nop | Mnemonic::Endbr64 => Class::Nop,
        Mnemonic::Push | Mnemonic::Pushfq => Class::Store,
        Mnemonic::Pop | Mnemonic::Popfq => Class::Load,
        Mnemonic::Mov if found.op0_kind() == OpKind::Memory => Class::Store,
        Mnemonic::Mov if found.op1_kind() == OpKind::Memory => Class::Load,
        Mnemonic::Mov if found.op1_kind() != OpKind::Register => Class::Constant,
        Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd
            if found.op1_kind() == OpKind::Memory =>
        {
            Class::Load
        }
        Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd | Mnemonic::Cdqe | Mnemonic::Bswap => {
            Class::Extend
        }
        Mnemonic::Shl | Mnemonic::Shr | Mnemonic::Sar | Mnemonic::Rol | Mnemonic::Ror => {
            Class::Shift
        }
        Mnemonic::Mul | Mnemonic::Imul if found.op_count() == 1 => Class::MulLong,
        Mnemonic::Imul => Class::Mul,
        Mnemonic::Div | Mnemonic::Idiv => Class::Div,
        _ => Class::Alu,
    }
}

/// Into the system and back.
fn calls_system(found: &iced_x86::Instruction) -> bool {
    matches!(
        found.mnemonic(),
        Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int | Mnemonic::Int1 | Mnemonic::Vmcall
    )
}

fn flow(found: &iced_x86::Instruction) -> Flow {
    if calls_system(found) {
        return Flow::Next;
    }
    match found.flow_control() {
        FlowControl::Next => Flow::Next,
        FlowControl::UnconditionalBranch => {
            Flow::Branch { target: found.near_branch_target(), is_conditional: false }
        }
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
            Flow::Branch { target: found.near_branch_target(), is_conditional: true }
        }
        FlowControl::IndirectBranch => Flow::Jump,
        FlowControl::Call => Flow::Call { target: Some(found.near_branch_target()) },
        FlowControl::IndirectCall => Flow::Call { target: None },
        FlowControl::Return if matches!(found.mnemonic(), Mnemonic::Ret | Mnemonic::Retf) => {
            Flow::Return
        }
        FlowControl::Return => Flow::Resume,
        // A system call comes back; a trap of the compiler's own making does not.
        FlowControl::Interrupt => Flow::Next,
        FlowControl::Exception => Flow::Stop,
    }
}

/// What is computed, for moves, extensions, comparisons and logic on whole registers.
fn operation(found: &iced_x86::Instruction) -> Option<Operation> {
    if found.mnemonic() == Mnemonic::Cmp && found.op0_kind() == OpKind::Memory {
        let b = Value::Const(found.try_immediate(1).ok()?);
        let width = (8 * found.memory_size().size()).min(64) as u8;
        let (a, extends) = (Value::Const(0), Extends::Zero);
        return Some(Operation { op: Op::CompareLoaded, width, extends, result: None, a, b });
    }
    if found.op0_kind() != OpKind::Register {
        return None;
    }
    let (result, bits) = register(found.op0_register())?;
    let compares = found.mnemonic() == Mnemonic::Cmp;
    // Narrower results keep the bits above, which no operation here says.
    let width = match bits {
        ALL => 64,
        it if it == low_bits(32) => 32,
        // Of a byte with a number: the other may be the second byte of its register.
        it if it == low_bits(8) && compares && found.op1_kind() != OpKind::Register => 8,
        _ => return None,
    };
    if result.0 >= 16 {
        return None;
    }
    let value = |idx: u32| match found.op_kind(idx) {
        OpKind::Register => register(found.op_register(idx))
            .filter(|(reg, _)| reg.0 < 16)
            .map(|(reg, _)| Value::Reg(reg)),
        OpKind::Memory | OpKind::NearBranch64 => None,
        _ => found.try_immediate(idx).ok().map(Value::Const),
    };
    let is_load = found.op_count() == 2 && found.op1_kind() == OpKind::Memory;
    // Of a general register; a vector has more bits than are counted here.
    let source_bits =
        if is_load { 0 } else { (8 * found.op_register(1).size()).min(u8::MAX.into()) as u8 };
    let own = Value::Reg(result);
    let (op, a, b) = match found.mnemonic() {
        Mnemonic::Mov | Mnemonic::Movzx if is_load => {
            (Op::Load { is_signed: false }, Value::Const(0), Value::Const(0))
        }
        Mnemonic::Movsx | Mnemonic::Movsxd if is_load => {
            (Op::Load { is_signed: true }, Value::Const(0), Value::Const(0))
        }
        Mnemonic::Mov => (Op::Move, value(1)?, Value::Const(0)),
        Mnemonic::Lea
            if found.memory_index() == Register::None && found.memory_base().is_gpr64() =>
        {
            (
                Op::Add,
                Value::Reg(register(found.memory_base())?.0),
                Value::Const(found.memory_displacement64()),
            )
        }
        Mnemonic::Lea if found.is_ip_rel_memory_operand() => {
            (Op::Move, Value::Const(found.ip_rel_memory_address()), Value::Const(0))
        }
        Mnemonic::Lea => return None,
        Mnemonic::Movzx | Mnemonic::Movsx
            if matches!(
                found.op1_register(),
                Register::AH | Register::BH | Register::CH | Register::DH
            ) =>
        {
            return None;
        }
        Mnemonic::Movzx => (Op::ZeroExtend { bits: source_bits }, value(1)?, Value::Const(0)),
        Mnemonic::Movsx | Mnemonic::Movsxd => {
            (Op::SignExtend { bits: source_bits }, value(1)?, Value::Const(0))
        }
        Mnemonic::Cmp => (Op::Compare, own, value(1)?),
        Mnemonic::And => (Op::And, own, value(1)?),
        Mnemonic::Or => (Op::Or, own, value(1)?),
        Mnemonic::Xor => (Op::Xor, own, value(1)?),
        Mnemonic::Add => (Op::Add, own, value(1)?),
        Mnemonic::Sub => (Op::Sub, own, value(1)?),
        Mnemonic::Shl if found.op1_kind() == OpKind::Immediate8 => {
            (Op::Shift(Shift::Left), own, value(1)?)
        }
        Mnemonic::Shr if found.op1_kind() == OpKind::Immediate8 => {
            (Op::Shift(Shift::Right), own, value(1)?)
        }
        Mnemonic::Sar if found.op1_kind() == OpKind::Immediate8 => {
            (Op::Shift(Shift::RightSigned), own, value(1)?)
        }
        _ => return None,
    };
    let result = Some(result).filter(|_| !compares);
    Some(Operation { op, width, extends: Extends::Zero, result, a, b })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8]) -> Instruction {
        decode(0x1000, bytes).expect("it is an instruction")
    }

    fn names(made: &Instruction) -> (Vec<&str>, Vec<&str>) {
        let name = |reg: Reg| CONVENTIONS.names[reg.0 as usize];
        (
            made.reads.iter().map(|read| name(read.reg)).collect(),
            made.writes.iter().map(|write| name(write.reg)).collect(),
        )
    }

    #[test]
    fn a_load_and_an_addition() {
        let made = one(&[0x03, 0x44, 0x8c, 0x10]); // add 0x10(%rsp,%rcx,4), %eax
        assert_eq!(
            names(&made),
            (vec!["rax", "rsp", "rcx"], vec!["rax", "CF", "PF", "AF", "ZF", "SF", "OF"])
        );
        let access = made.accesses[0];
        assert_eq!(
            (access.base, access.index, access.disp, access.width),
            (Some(RSP), Some((Reg(1), 2)), 16, 4)
        );
        assert_eq!(made.writes[0].bits, ALL, "the upper half is cleared");
    }

    #[test]
    fn branches_and_calls() {
        assert_eq!(one(&[0x74, 0x02]).flow, Flow::Branch { target: 0x1004, is_conditional: true });
        assert_eq!(one(&[0xe8, 0, 0, 0, 0]).flow, Flow::Call { target: Some(0x1005) });
        assert_eq!(one(&[0xc3]).flow, Flow::Return);
        assert_eq!(one(&[0x0f, 0x0b]).flow, Flow::Stop);
    }

    #[test]
    fn what_leads_to_a_case_says_what_it_computes() {
        let operation = |bytes: &[u8]| one(bytes).operation.map(|made| (made.op, made.a, made.b));
        let compare = |value| Some((Op::Compare, Value::Reg(Reg(7)), Value::Const(value)));
        assert_eq!(operation(&[0x83, 0xff, 0x07]), compare(7)); // cmp $0x7, %edi
        assert_eq!(operation(&[0x40, 0x80, 0xff, 0x07]), compare(7)); // cmp $0x7, %dil
        // cmpb $0x7, (%rdi)
        let loaded = (Op::CompareLoaded, Value::Const(0), Value::Const(7));
        assert_eq!(operation(&[0x80, 0x3f, 0x07]), Some(loaded));
        // cmp %ah, %al has the second byte of the same register.
        assert_eq!(operation(&[0x38, 0xe0]), None);
        // lea 0x10(%rip), %rdx
        let address = Some((Op::Move, Value::Const(0x1017), Value::Const(0)));
        assert_eq!(operation(&[0x48, 0x8d, 0x15, 0x10, 0, 0, 0]), address);
        let made = one(&[0xff, 0x24, 0xfd, 0x10, 0, 0, 0]); // jmp *0x10(, %rdi, 8)
        let access = made.accesses[0];
        assert_eq!((access.base, access.index, access.disp), (None, Some((Reg(7), 3)), 0x10));
        assert_eq!((access.index_form, made.reads[0].role), (IndexForm::Whole, Role::Base));
        assert_eq!(one(&[0xff, 0xe0]).reads[0].role, Role::Target); // jmp *%rax
    }

    #[test]
    fn an_extension_says_what_it_does() {
        let made = one(&[0x0f, 0xb6, 0xc1]); // movzbl %cl, %eax
        assert_eq!(made.operation.map(|operation| operation.op), Some(Op::ZeroExtend { bits: 8 }));
        assert_eq!((made.class, made.reads[0].bits), (Class::Extend, 0xff));
    }

    #[test]
    fn a_mask_of_a_whole_vector_is_no_operation() {
        let made = one(&[0xc5, 0xfd, 0xd7, 0xc0]); // vpmovmskb %ymm0, %eax
        assert_eq!((made.operation, made.text.as_str()), (None, "vpmovmskb %ymm0, %eax"));
    }

    #[test]
    fn cut_off_and_reserved_bytes_are_refused() {
        assert!(decode(0, &[]).is_err());
        assert!(decode(0, &[0x48]).is_err());
        assert!(decode(0, &[0x06]).is_err());
    }

    #[test]
    fn no_bytes_panic() {
        let mut random = fastrand::Rng::with_seed(20);
        for _ in 0..200_000 {
            let bytes: [u8; 15] = std::array::from_fn(|_| random.u8(..));
            if let Ok(made) = decode(random.u64(..), &bytes) {
                assert!(made.length > 0 && !made.text.is_empty(), "{bytes:02x?}");
            }
        }
    }
}
