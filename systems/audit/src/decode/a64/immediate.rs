//! Arithmetic with constants: sums, masks, moves, bit fields, addresses relative to the
//! instruction.

use super::{A64Word, ALL, low_bits, name, name_sp, reg, reg_sp, sign_extend, value, writes_flags};
use crate::decode::code::{
    Class, Extends, Instruction, Op, Operation, Out, Reg, Role, Shift, Undecodable, Value,
};

impl A64Word {
    pub(super) fn immediate_group(&self) -> Result<Instruction, Undecodable> {
        match self.field(25, 23) {
            0 | 1 => Ok(self.relative_address()),
            2 => Ok(self.sum_with_constant()),
            3 => self.tagged_sum(),
            4 => self.mask(),
            5 => self.move_wide(),
            6 => self.bit_field(),
            7 => self.extract(),
            _ => self.refuse("the operation is of a later version"),
        }
    }

    fn relative_address(&self) -> Instruction {
        let offset = sign_extend(u64::from(self.field(23, 5) << 2 | self.field(30, 29)), 21);
        let (mnemonic, result) = match self.bit(31) {
            false => ("adr", self.address.wrapping_add_signed(offset)),
            true => ("adrp", (self.address & !0xfff).wrapping_add_signed(offset << 12)),
        };
        let rd = self.rd();
        let zero = Value::Const(0);
        let it = self
            .plain(Class::Constant, format!("{mnemonic} {}, {result:#x}", name(rd, true)))
            .writes(reg(rd), ALL, Out::Result);
        it.computes(Operation {
            op: Op::Move,
            width: 64,
            extends: Extends::Zero,
            result: reg(rd),
            a: Value::Const(result),
            b: zero,
        })
    }

    fn sum_with_constant(&self) -> Instruction {
        let (rd, rn, is_64) = (self.rd(), self.rn(), self.is_64());
        let (is_sub, is_flags, is_high) = (self.bit(30), self.bit(29), self.bit(22));
        let imm = self.field(21, 10);
        let shown = if is_high { format!("#{imm}, lsl #12") } else { format!("#{imm}") };
        let constant = Value::Const(u64::from(imm) << if is_high { 12 } else { 0 });
        let mnemonic = match (is_sub, is_flags) {
            (false, false) => "add",
            (false, true) => "adds",
            (true, false) => "sub",
            (true, true) => "subs",
        };
        let source = name_sp(rn, is_64);
        let is_move = !is_sub && !is_flags && imm == 0 && !is_high && (rd == 31 || rn == 31);
        let text = match rd {
            31 if is_flags => format!("{} {source}, {shown}", if is_sub { "cmp" } else { "cmn" }),
            _ if is_move => format!("mov {}, {source}", name_sp(rd, is_64)),
            _ if is_flags => format!("{mnemonic} {}, {source}, {shown}", name(rd, is_64)),
            _ => format!("{mnemonic} {}, {source}, {shown}", name_sp(rd, is_64)),
        };
        let result = if is_flags { reg(rd) } else { reg_sp(rd) };
        let op = match (is_sub, result) {
            (true, None) => Op::Compare,
            (false, None) => Op::CompareNegative,
            (true, _) => Op::Sub,
            (false, _) if is_move => Op::Move,
            (false, _) => Op::Add,
        };
        let it = self.plain(Class::Alu, text).reads(reg_sp(rn), self.all(), Role::Source).writes(
            result,
            ALL,
            Out::Result,
        );
        let it = if is_flags { writes_flags(it) } else { it };
        it.computes(self.operation(op, result, Value::Reg(Reg(rn as u8)), constant))
    }

    fn mask(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, is_64) = (self.rd(), self.rn(), self.is_64());
        let Some(mask) =
            bit_mask(self.field(22, 22), self.field(15, 10), self.field(21, 16), self.width())
        else {
            return self.refuse("the mask is reserved");
        };
        let opc = self.field(30, 29);
        let is_flags = opc == 3;
        let (mnemonic, op) =
            [("and", Op::And), ("orr", Op::Or), ("eor", Op::Xor), ("ands", Op::And)][opc as usize];
        let is_move = opc == 1 && rn == 31 && !is_move_wide(mask, self.width());
        let target = if is_flags { name(rd, is_64) } else { name_sp(rd, is_64) };
        let text = match rd {
            31 if is_flags => format!("tst {}, #{mask:#x}", name(rn, is_64)),
            _ if is_move => format!("mov {target}, #{}", shown_constant(mask, self.width())),
            _ => format!("{mnemonic} {target}, {}, #{mask:#x}", name(rn, is_64)),
        };
        let bits = match op {
            Op::And => mask,
            Op::Or => self.all() & !mask,
            _ => self.all(),
        };
        let result = if is_flags { reg(rd) } else { reg_sp(rd) };
        let class = if is_move { Class::Constant } else { Class::Alu };
        let it = self.plain(class, text).reads(reg(rn), bits, Role::Source).writes(
            result,
            ALL,
            Out::Result,
        );
        let it = if is_flags { writes_flags(it) } else { it };
        let op = if is_flags && rd == 31 { Op::Test } else { op };
        Ok(it.computes(self.operation(op, result, value(rn), Value::Const(mask))))
    }

    fn move_wide(&self) -> Result<Instruction, Undecodable> {
        let (rd, is_64, hw, imm) = (self.rd(), self.is_64(), self.field(22, 21), self.field(20, 5));
        if !is_64 && hw > 1 {
            return self.refuse("the shift is reserved");
        }
        let at = 16 * hw;
        let placed = u64::from(imm) << at;
        let plain = |mnemonic: &str| match at {
            0 => format!("{mnemonic} {}, #{imm}", name(rd, is_64)),
            _ => format!("{mnemonic} {}, #{imm}, lsl #{at}", name(rd, is_64)),
        };
        // The usual text is `mov` wherever an assembler would choose this form for it.
        let is_odd_zero = imm == 0 && hw != 0;
        let (text, result) = match self.field(30, 29) {
            0 => {
                let result = !placed & self.all();
                let is_plain = is_odd_zero || !is_64 && imm == 0xffff;
                let text = if is_plain {
                    plain("movn")
                } else {
                    format!("mov {}, #{}", name(rd, is_64), shown_constant(result, self.width()))
                };
                (text, result)
            }
            2 => {
                let text = if is_odd_zero {
                    plain("movz")
                } else {
                    format!("mov {}, #{}", name(rd, is_64), shown_constant(placed, self.width()))
                };
                (text, placed)
            }
            3 => {
                // Only these 16 bits change, and in the short form the upper half of the register.
                let bits = 0xffff << at | if is_64 { 0 } else { !low_bits(32) };
                return Ok(self.plain(Class::Constant, plain("movk")).writes(
                    reg(rd),
                    bits,
                    Out::Result,
                ));
            }
            _ => return self.refuse("the move is reserved"),
        };
        let it = self.plain(Class::Constant, text).writes(reg(rd), ALL, Out::Result);
        Ok(it.computes(self.operation(Op::Move, reg(rd), Value::Const(result), Value::Const(0))))
    }

    fn bit_field(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, is_64, width) = (self.rd(), self.rn(), self.is_64(), self.width());
        let (immr, imms) = (self.field(21, 16), self.field(15, 10));
        if self.bit(22) != is_64 || !is_64 && (immr > 31 || imms > 31) || self.field(30, 29) == 3 {
            return self.refuse("the bit field is reserved");
        }
        let (is_signed, is_insert) = (self.field(30, 29) == 0, self.field(30, 29) == 1);
        // Either bits immr to imms go down to 0, or bits 0 to imms go up.
        let goes_down = imms >= immr;
        let (low, n_bits, at) =
            if goes_down { (immr, imms - immr + 1, 0) } else { (0, imms + 1, width - immr) };
        let bits = low_bits(n_bits) << low;
        let (d, n) = (name(rd, is_64), name(rn, is_64));
        if is_insert {
            let text = if goes_down {
                format!("bfxil {d}, {n}, #{low}, #{n_bits}")
            } else {
                format!("bfi {d}, {n}, #{at}, #{n_bits}")
            };
            let written = low_bits(n_bits) << at | if is_64 { 0 } else { !low_bits(32) };
            return Ok(self.plain(Class::Extend, text).reads(reg(rn), bits, Role::Source).writes(
                reg(rd),
                written,
                Out::Result,
            ));
        }
        let is_top = goes_down && imms == width - 1;
        let short = name(rn, false);
        let (class, text, op) = match (is_signed, immr, imms) {
            (true, ..) if is_top => (
                Class::Extend,
                format!("asr {d}, {n}, #{immr}"),
                Some(Op::Shift(Shift::RightSigned)),
            ),
            (false, ..) if is_top => {
                (Class::Extend, format!("lsr {d}, {n}, #{immr}"), Some(Op::Shift(Shift::Right)))
            }
            (false, ..) if imms + 1 == immr => {
                (Class::Extend, format!("lsl {d}, {n}, #{at}"), Some(Op::Shift(Shift::Left)))
            }
            (true, 0, 7 | 15 | 31) => {
                let letter = ["b", "h", "", "w"][(imms / 8) as usize];
                (
                    Class::Extend,
                    format!("sxt{letter} {d}, {short}"),
                    Some(Op::SignExtend { bits: imms as u8 + 1 }),
                )
            }
            (false, 0, 7 | 15) if !is_64 => {
                let letter = if imms == 7 { "b" } else { "h" };
                (
                    Class::Extend,
                    format!("uxt{letter} {d}, {short}"),
                    Some(Op::ZeroExtend { bits: imms as u8 + 1 }),
                )
            }
            _ if goes_down => {
                let letter = if is_signed { "s" } else { "u" };
                let op = Op::Field { low: low as u8, bits: n_bits as u8, is_signed };
                (Class::Extend, format!("{letter}bfx {d}, {n}, #{low}, #{n_bits}"), Some(op))
            }
            _ => (
                Class::Extend,
                format!("{}bfiz {d}, {n}, #{at}, #{n_bits}", if is_signed { "s" } else { "u" }),
                None,
            ),
        };
        let amount = match op {
            Some(Op::Shift(Shift::Left)) => at,
            Some(Op::Shift(_)) => immr,
            _ => 0,
        };
        let it = self.plain(class, text).reads(reg(rn), bits, Role::Source).writes(
            reg(rd),
            ALL,
            Out::Result,
        );
        Ok(match op {
            Some(op) => {
                it.computes(self.operation(op, reg(rd), value(rn), Value::Const(amount.into())))
            }
            None => it,
        })
    }

    fn extract(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm, is_64, lsb) =
            (self.rd(), self.rn(), self.rm(), self.is_64(), self.field(15, 10));
        if self.bit(22) != is_64 || self.field(30, 29) != 0 || self.bit(21) || lsb >= self.width() {
            return self.refuse("the extraction is reserved");
        }
        let (d, n, m) = (name(rd, is_64), name(rn, is_64), name(rm, is_64));
        if rn == rm {
            let it = self.plain(Class::Extend, format!("ror {d}, {n}, #{lsb}")).reads(
                reg(rn),
                self.all(),
                Role::Source,
            );
            let operation = self.operation(
                Op::Shift(Shift::Rotate),
                reg(rd),
                value(rn),
                Value::Const(lsb.into()),
            );
            return Ok(it.writes(reg(rd), ALL, Out::Result).computes(operation));
        }
        Ok(self
            .plain(Class::Extend, format!("extr {d}, {n}, {m}, #{lsb}"))
            .reads(reg(rn), low_bits(lsb), Role::Source)
            .reads(reg(rm), self.all() & (ALL << lsb), Role::Source)
            .writes(reg(rd), ALL, Out::Result))
    }
}

/// A constant as a signed number of its width.
fn shown_constant(value: u64, width: u32) -> String {
    super::super::build::number(sign_extend(value, width))
}

/// The mask that N, imms and immr stand for: a run of ones, rotated, repeated. DDI 0487,
/// `DecodeBitMasks`.
fn bit_mask(n: u32, imms: u32, immr: u32, width: u32) -> Option<u64> {
    if width == 32 && n == 1 {
        return None;
    }
    let pattern = n << 6 | !imms & 0x3f;
    let size_log2 = 31_u32.checked_sub(pattern.leading_zeros()).filter(|&number| number >= 1)?;
    let size = 1 << size_log2;
    let (n_ones, rotation) = ((imms & (size - 1)) + 1, immr & (size - 1));
    if n_ones == size {
        return None;
    }
    let run = low_bits(n_ones);
    let rotated = if rotation == 0 {
        run
    } else {
        (run >> rotation | run << (size - rotation)) & low_bits(size)
    };
    let mut mask = 0;
    for at in (0..width).step_by(size as usize) {
        mask |= rotated << at;
    }
    Some(mask)
}

/// True if one `movz` or `movn` makes the constant, which assemblers prefer.
fn is_move_wide(value: u64, width: u32) -> bool {
    let fits = |value: u64| (0..width).step_by(16).any(|at| value & !(0xffff << at) == 0);
    fits(value) || fits(!value & low_bits(width))
}
