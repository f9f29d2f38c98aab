//! The one instruction that computes an operation, where a set has one: the words that may be it are
//! written down here, and decoding says whether they are.
//!
//! Sources: those of the decoders.

use super::Isa;
use crate::decode::code::{Extension, Flow, Instruction, Op, Operation, Relation, Shift, Value};

/// The instruction that computes this and changes nothing else, at this address.
pub fn encode(isa: Isa, address: u64, operation: &Operation) -> Option<Instruction> {
    let is_it = |found: &Instruction| {
        found.operation.as_ref() == Some(operation)
            && found.writes.len() == 1
            && !found.is_guarded()
    };
    words(isa, operation).into_iter().find_map(|word| decoded(isa, address, word).filter(is_it))
}

/// The branch to the same place as `branch` that is taken by another comparison.
pub fn encode_branch(isa: Isa, branch: &Instruction, operation: &Operation) -> Option<Instruction> {
    let Flow::Branch { target, .. } = branch.flow else { return None };
    let offset = target.wrapping_sub(branch.address) as i64;
    let register = |value: Value| match value {
        Value::Reg(reg) => Some(u32::from(reg.0)),
        Value::Const(0) if isa != Isa::A64 => Some(0),
        _ => None,
    };
    let Op::BranchIf(relation) = operation.op else { return None };
    let word = match (isa, operation.b) {
        (Isa::A64, Value::Const(mask)) => {
            let rt = register(operation.a)?;
            let is_not = u32::from(relation == Relation::NotClear) << 24;
            if mask.is_power_of_two() {
                let bit = mask.trailing_zeros();
                (-0x8000..0x8000).contains(&offset).then_some(())?;
                let at = (offset >> 2) as u32 & 0x3fff;
                0x3600_0000 | is_not | bit >> 5 << 31 | (bit & 31) << 19 | at << 5 | rt
            } else {
                (-0x10_0000..0x10_0000).contains(&offset).then_some(())?;
                let is_64 = u32::from(operation.width == 64) << 31;
                0x3400_0000 | is_64 | is_not | ((offset >> 2) as u32 & 0x7_ffff) << 5 | rt
            }
        }
        (Isa::Riscv32 | Isa::Riscv64, b) => {
            (-0x1000..0x1000).contains(&offset).then_some(())?;
            let funct3 = match relation {
                Relation::Equal => 0,
                Relation::Different => 1,
                Relation::Less { is_signed: true } => 4,
                Relation::NotLess { is_signed: true } => 5,
                Relation::Less { is_signed: false } => 6,
                Relation::NotLess { is_signed: false } => 7,
                Relation::Clear | Relation::NotClear => return None,
            };
            let (rs1, rs2, at) = (register(operation.a)?, register(b)?, offset as u32);
            let (low, high) = (at >> 1 & 15, at >> 5 & 63);
            let (sign, middle) = (at >> 12 & 1, at >> 11 & 1);
            let offset = sign << 31 | high << 25 | low << 8 | middle << 7;
            0x63 | funct3 << 12 | rs1 << 15 | rs2 << 20 | offset
        }
        _ => return None,
    };
    let found = decoded(isa, branch.address, word)?;
    (found.operation.as_ref() == Some(operation) && found.flow == branch.flow).then_some(found)
}

/// The instruction of this word.
pub fn decoded(isa: Isa, address: u64, word: u32) -> Option<Instruction> {
    let bytes = match isa {
        Isa::T32 if word >> 16 != 0 => (word.rotate_left(16)).to_le_bytes(),
        Isa::Sparc => word.to_be_bytes(),
        _ => word.to_le_bytes(),
    };
    isa.decode(address, &bytes).ok()
}

/// An operation with its registers as numbers.
struct Fields {
    op: Op,
    /// Its width, and the same as the highest bit of A64's words.
    width: u32,
    sf: u32,
    rd: u32,
    rn: u32,
    /// The second operand: a register with its shift, or a constant.
    rm: u32,
    shift: u32,
    by: u32,
    constant: Option<u64>,
    is_shifted: bool,
    extension: Option<Extension>,
}

impl Fields {
    fn of(isa: Isa, operation: &Operation) -> Option<Fields> {
        let zero = if isa == Isa::A64 { 31 } else { 0 };
        let has_zero = matches!(isa, Isa::A64 | Isa::Riscv32 | Isa::Riscv64);
        let rn = match operation.a {
            Value::Reg(reg) => u32::from(reg.0),
            Value::Const(0) if has_zero => zero,
            Value::Const(_) | Value::Shifted(..) | Value::Extended(..) => return None,
        };
        let (rm, shift, by, constant) = match operation.b {
            Value::Reg(reg) => (u32::from(reg.0), Shift::Left, 0, None),
            Value::Shifted(reg, shift, by) => (u32::from(reg.0), shift, u32::from(by), None),
            Value::Extended(reg, _, by) => (u32::from(reg.0), Shift::Left, u32::from(by), None),
            Value::Const(it) => (zero, Shift::Left, 0, Some(it)),
        };
        let shift = [Shift::Left, Shift::Right, Shift::RightSigned, Shift::Rotate]
            .iter()
            .position(|other| *other == shift)? as u32;
        let width = u32::from(operation.width);
        let is_shifted = matches!(operation.b, Value::Shifted(..));
        let rd = u32::from(operation.result?.0);
        let sf = u32::from(width == 64) << 31;
        let extension = match operation.b {
            Value::Extended(_, extension, _) => Some(extension),
            _ => None,
        };
        let op = operation.op;
        Some(Fields { op, width, sf, rd, rn, rm, shift, by, constant, is_shifted, extension })
    }
}

/// Words that may compute an operation.
fn words(isa: Isa, operation: &Operation) -> Vec<u32> {
    if let (Op::Move, Value::Const(value), Some(to)) = (operation.op, operation.a, operation.result)
    {
        return constant(isa, value, operation.width, to.0.into()).into_iter().collect();
    }
    let Some(fields) = Fields::of(isa, operation) else { return Vec::new() };
    let word = match isa {
        Isa::A64 => a64(&fields),
        Isa::A32 => a32(&fields),
        Isa::T32 => t32(&fields),
        Isa::Riscv32 => riscv(&fields),
        // Of RV64, a narrower width is a form of its own.
        Isa::Riscv64 => riscv(&fields).map(|word| if fields.width == 32 { word | 8 } else { word }),
        Isa::Sparc | Isa::X86 => None,
    };
    word.into_iter().collect()
}

/// A small constant in a register.
fn constant(isa: Isa, value: u64, width: u8, rd: u32) -> Option<u32> {
    let small = |end: u64| (value < end).then_some(value as u32);
    match isa {
        Isa::A64 => Some(u32::from(width == 64) << 31 | 0x5280_0000 | small(0x1_0000)? << 5 | rd),
        Isa::A32 => Some(0xe3a0_0000 | rd << 12 | small(0x100)?),
        Isa::T32 => Some(0xf04f_0000 | rd << 8 | small(0x100)?),
        Isa::Riscv32 | Isa::Riscv64 | Isa::Sparc | Isa::X86 => None,
    }
}

fn number(value: Value) -> u32 {
    match value {
        Value::Reg(reg) => u32::from(reg.0),
        Value::Const(_) | Value::Shifted(..) | Value::Extended(..) => 31,
    }
}

fn a64(of: &Fields) -> Option<u32> {
    let (rd, rn, rm, width) = (of.rd, of.rn, of.rm, of.width);
    let bit_field = |is_signed: bool, immr: u32, imms: u32| {
        let n = of.sf >> 31 << 22;
        let opc = if is_signed { 0 } else { 2 << 29 };
        of.sf | opc | 0x1300_0000 | n | immr << 16 | imms << 10 | rn << 5 | rd
    };
    if let Some(value) = of.constant {
        return match of.op {
            Op::Move => Some(of.sf | 0x2a00_03e0 | rn << 16 | rd),
            Op::Not => Some(of.sf | 0x2a20_03e0 | rn << 16 | rd),
            Op::ZeroExtend { bits } => Some(bit_field(false, 0, u32::from(bits) - 1)),
            Op::SignExtend { bits } => Some(bit_field(true, 0, u32::from(bits) - 1)),
            Op::Field { low, bits, is_signed } => {
                Some(bit_field(is_signed, low.into(), u32::from(low) + u32::from(bits) - 1))
            }
            Op::Shift(shift) => {
                let by = u32::try_from(value).ok().filter(|by| *by < width)?;
                match shift {
                    Shift::Left => Some(bit_field(false, (width - by) % width, width - 1 - by)),
                    Shift::Right => Some(bit_field(false, by, width - 1)),
                    Shift::RightSigned => Some(bit_field(true, by, width - 1)),
                    Shift::Rotate => Some(
                        of.sf
                            | of.sf >> 31 << 22
                            | 0x1380_0000
                            | rn << 16
                            | by << 10
                            | rn << 5
                            | rd,
                    ),
                }
            }
            Op::Add | Op::Sub => {
                let minus = if of.op == Op::Sub { 1 << 30 } else { 0 };
                let (imm, high) = match value {
                    0..0x1000 => (value as u32, 0),
                    _ if value & 0xfff == 0 && value < 0x100_0000 => {
                        ((value >> 12) as u32, 1 << 22)
                    }
                    _ => return None,
                };
                Some(of.sf | minus | 0x1100_0000 | high | imm << 10 | rn << 5 | rd)
            }
            Op::And | Op::Or | Op::Xor => {
                let opc = [Op::And, Op::Or, Op::Xor].iter().position(|op| *op == of.op)? as u32;
                let mask = logical(value, width)?;
                Some(of.sf | opc << 29 | 0x1200_0000 | mask << 10 | rn << 5 | rd)
            }
            _ => None,
        };
    }
    if let Some(extension) = of.extension {
        let minus = if of.op == Op::Sub { 1 << 30 } else { 0 };
        let option = (u32::from(extension.is_signed) << 2)
            | (u32::from(extension.bits).trailing_zeros() - 3);
        let fields = rm << 16 | option << 13 | of.by << 10 | rn << 5 | rd;
        return Some(of.sf | minus | 0x0b20_0000 | fields);
    }
    let shifted = of.shift << 22 | rm << 16 | of.by << 10 | rn << 5 | rd;
    let (opc, n) = match of.op {
        Op::Add => return Some(of.sf | 0x0b00_0000 | shifted),
        Op::Sub => return Some(of.sf | 0x4b00_0000 | shifted),
        Op::Multiply { addend, is_negated } if !of.is_shifted => {
            let minus = u32::from(is_negated) << 15;
            return Some(
                of.sf | 0x1b00_0000 | rm << 16 | minus | number(addend) << 10 | rn << 5 | rd,
            );
        }
        Op::And => (0, 0),
        Op::AndNot => (0, 1),
        Op::Or => (1, 0),
        Op::OrNot => (1, 1),
        Op::Xor => (2, 0),
        _ => return None,
    };
    Some(of.sf | opc << 29 | 0x0a00_0000 | n << 21 | shifted)
}

/// N, immr and imms of a mask: a run of ones, rotated, repeated.
fn logical(value: u64, width: u32) -> Option<u32> {
    let all = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let value = value & all;
    let size = [2, 4, 8, 16, 32, 64].into_iter().find(|size| {
        *size <= width
            && (0..width).step_by(*size as usize).all(|at| {
                let low = if *size == 64 { u64::MAX } else { (1 << size) - 1 };
                value >> at & low == value & low
            })
    })?;
    let low = if size == 64 { u64::MAX } else { (1 << size) - 1 };
    let pattern = value & low;
    let n_ones = pattern.count_ones();
    if n_ones == 0 || n_ones == size {
        return None;
    }
    let run = (1_u64 << n_ones) - 1;
    let turned = |by: u32| if by == 0 { run } else { (run >> by | run << (size - by)) & low };
    let immr = (0..size).find(|by| turned(*by) == pattern)?;
    let imms = !(2 * size - 1) & 0x3f | (n_ones - 1);
    Some(u32::from(size == 64) << 12 | immr << 6 | imms)
}

fn a32(of: &Fields) -> Option<u32> {
    let (rd, rn, rm) = (of.rd, of.rn, of.rm);
    let always = 0xe000_0000;
    let opcode = |op: Op| {
        let all = [Op::And, Op::Xor, Op::Sub, Op::ReverseSub, Op::Add];
        all.iter().position(|other| *other == op).map(|at| at as u32).or(match op {
            Op::Or => Some(12),
            Op::AndNot => Some(14),
            _ => None,
        })
    };
    if let Some(value) = of.constant {
        let extend = |word: u32| Some(always | word | rd << 12 | rn);
        return match of.op {
            Op::Move => Some(always | 0x01a0_0000 | rd << 12 | rn),
            Op::Not => Some(always | 0x01e0_0000 | rd << 12 | rn),
            Op::ZeroExtend { bits: 8 } => extend(0x06ef_0070),
            Op::ZeroExtend { bits: 16 } => extend(0x06ff_0070),
            Op::SignExtend { bits: 8 } => extend(0x06af_0070),
            Op::SignExtend { bits: 16 } => extend(0x06bf_0070),
            Op::Field { low, bits, is_signed } => {
                let word = if is_signed { 0x07a0_0050 } else { 0x07e0_0050 };
                Some(
                    always
                        | word
                        | (u32::from(bits) - 1) << 16
                        | rd << 12
                        | u32::from(low) << 7
                        | rn,
                )
            }
            Op::Shift(shift) => {
                let by = u32::try_from(value).ok().filter(|by| (1..32).contains(by))?;
                let kind = [Shift::Left, Shift::Right, Shift::RightSigned, Shift::Rotate];
                let kind = kind.iter().position(|other| *other == shift)? as u32;
                Some(always | 0x01a0_0000 | rd << 12 | by << 7 | kind << 5 | rn)
            }
            op => {
                let value = value as u32;
                let turn = (0..16).find(|turn| value.rotate_left(2 * turn) <= 0xff)?;
                let imm = turn << 8 | value.rotate_left(2 * turn);
                Some(always | 0x0200_0000 | opcode(op)? << 21 | rn << 16 | rd << 12 | imm)
            }
        };
    }
    if let Some(extension) = of.extension {
        let word = match (extension.is_signed, extension.bits) {
            (false, 8) => 0x06e0_0070,
            (false, 16) => 0x06f0_0070,
            (true, 8) => 0x06a0_0070,
            (true, 16) => 0x06b0_0070,
            _ => return None,
        };
        return (of.by == 0).then_some(always | word | rn << 16 | rd << 12 | rm);
    }
    match of.op {
        Op::Multiply { addend, is_negated } if !of.is_shifted => {
            let factors = rd << 16 | rm << 8 | rn | 0x90;
            match addend {
                Value::Const(0) => Some(always | factors),
                addend => {
                    let word = if is_negated { 0x0060_0000 } else { 0x0020_0000 };
                    Some(always | word | factors | number(addend) << 12)
                }
            }
        }
        op => {
            Some(always | opcode(op)? << 21 | rn << 16 | rd << 12 | of.by << 7 | of.shift << 5 | rm)
        }
    }
}

fn t32(of: &Fields) -> Option<u32> {
    let (rd, rn, rm) = (of.rd, of.rn, of.rm);
    let split = |by: u32| by >> 2 << 12 | (by & 3) << 6;
    let opcode = |op: Op| {
        [(Op::And, 0), (Op::AndNot, 1), (Op::Or, 2), (Op::OrNot, 3), (Op::Xor, 4), (Op::Add, 8)]
            .into_iter()
            .chain([(Op::Sub, 13), (Op::ReverseSub, 14)])
            .find(|(other, _)| *other == op)
            .map(|(_, number)| number << 21)
    };
    if let Some(value) = of.constant {
        let extend = |word: u32| Some(word | rd << 8 | rn);
        return match of.op {
            Op::Move => Some(0x4600 | (rd >> 3) << 7 | rn << 3 | rd & 7),
            Op::Not => Some(0xea6f_0000 | rd << 8 | rn),
            Op::ZeroExtend { bits: 8 } => extend(0xfa5f_f080),
            Op::ZeroExtend { bits: 16 } => extend(0xfa1f_f080),
            Op::SignExtend { bits: 8 } => extend(0xfa4f_f080),
            Op::SignExtend { bits: 16 } => extend(0xfa0f_f080),
            Op::Field { low, bits, is_signed } => {
                let word = if is_signed { 0xf340_0000 } else { 0xf3c0_0000 };
                Some(word | rn << 16 | split(low.into()) | rd << 8 | (u32::from(bits) - 1))
            }
            Op::Shift(shift) => {
                let by = u32::try_from(value).ok().filter(|by| (1..32).contains(by))?;
                let kind = [Shift::Left, Shift::Right, Shift::RightSigned, Shift::Rotate];
                let kind = kind.iter().position(|other| *other == shift)? as u32;
                Some(0xea4f_0000 | split(by) | rd << 8 | kind << 4 | rn)
            }
            Op::Add | Op::Sub if value < 0x1000 => {
                let word = if of.op == Op::Add { 0xf200_0000 } else { 0xf2a0_0000 };
                let imm = value as u32;
                Some(
                    word | (imm >> 11) << 26
                        | rn << 16
                        | (imm >> 8 & 7) << 12
                        | rd << 8
                        | imm & 0xff,
                )
            }
            op if value < 0x100 => {
                Some(0xf000_0000 | opcode(op)? | rn << 16 | rd << 8 | value as u32)
            }
            _ => None,
        };
    }
    if let Some(extension) = of.extension {
        let word = match (extension.is_signed, extension.bits) {
            (false, 8) => 0xfa50_f080,
            (false, 16) => 0xfa10_f080,
            (true, 8) => 0xfa40_f080,
            (true, 16) => 0xfa00_f080,
            _ => return None,
        };
        return (of.by == 0).then_some(word | rn << 16 | rd << 8 | rm);
    }
    match of.op {
        Op::Multiply { addend, is_negated } if !of.is_shifted => {
            let ra = if addend == Value::Const(0) { 15 } else { number(addend) };
            Some(0xfb00_0000 | rn << 16 | ra << 12 | rd << 8 | u32::from(is_negated) << 4 | rm)
        }
        op => {
            Some(0xea00_0000 | opcode(op)? | rn << 16 | split(of.by) | rd << 8 | of.shift << 4 | rm)
        }
    }
}

fn riscv(of: &Fields) -> Option<u32> {
    let (rd, rn, rm) = (of.rd, of.rn, of.rm);
    let immediate = |funct3: u32, imm: u32| imm << 20 | rn << 15 | funct3 << 12 | rd << 7 | 0x13;
    if let Some(value) = of.constant {
        let small = (-2048..2048).contains(&(value as i64)).then_some(value as u32 & 0xfff);
        return match of.op {
            Op::Move => Some(immediate(0, 0)),
            Op::Not => Some(immediate(4, 0xfff)),
            Op::Add => Some(immediate(0, small?)),
            Op::Xor => Some(immediate(4, small?)),
            Op::Or => Some(immediate(6, small?)),
            Op::And => Some(immediate(7, small?)),
            Op::ZeroExtend { bits: 8 } => Some(immediate(7, 255)),
            Op::SignExtend { bits: 32 } => Some(immediate(0, 0) | 8),
            Op::Shift(shift) => {
                let by = u32::try_from(value).ok().filter(|by| *by < of.width)?;
                let (funct3, above) = match shift {
                    Shift::Left => (1, 0),
                    Shift::Right => (5, 0),
                    Shift::RightSigned => (5, 0x400),
                    Shift::Rotate => return None,
                };
                Some(immediate(funct3, above | by))
            }
            _ => None,
        };
    }
    let register = |funct7: u32, funct3: u32| {
        funct7 << 25 | rm << 20 | rn << 15 | funct3 << 12 | rd << 7 | 0x33
    };
    if of.extension.is_some() {
        let funct7 = if of.by == 0 { 4 } else { 0x10 };
        let fields = rn << 20 | rm << 15 | (2 * of.by) << 12 | rd << 7;
        return (of.by < 4).then_some(funct7 << 25 | fields | 0x3b);
    }
    if of.is_shifted {
        // `sh1add` to `sh3add`: the first register is the one that is shifted.
        let is_near = of.op == Op::Add && of.shift == 0 && (1..4).contains(&of.by);
        let funct3 = 2 * of.by;
        return is_near.then_some(0x10 << 25 | rn << 20 | rm << 15 | funct3 << 12 | rd << 7 | 0x33);
    }
    match of.op {
        Op::Add => Some(register(0, 0)),
        Op::Sub => Some(register(0x20, 0)),
        Op::Xor => Some(register(0, 4)),
        Op::Or => Some(register(0, 6)),
        Op::And => Some(register(0, 7)),
        Op::SetLess { is_signed } => Some(register(0, if is_signed { 2 } else { 3 })),
        Op::AndNot => Some(register(0x20, 7)),
        Op::OrNot => Some(register(0x20, 6)),
        _ => None,
    }
}
