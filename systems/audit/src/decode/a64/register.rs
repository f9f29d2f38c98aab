//! Arithmetic on registers: logic, sums, conditional selection, multiplication, division, shifts,
//! bit order.

use super::{
    A64Word, ALL, C, CONDITIONS, EXTENSIONS, N, SHIFTS, V, Z, bits_of_shifted, low_bits, name,
    name_sp, reads_condition, reg, reg_sp, value, writes_flags,
};
use crate::decode::code::{
    Class, Extension, Instruction, Op, Out, Reg, Role, Shift, Undecodable, Value,
};

impl A64Word {
    pub(super) fn register_group(&self) -> Result<Instruction, Undecodable> {
        match (self.bit(28), self.field(24, 21)) {
            (false, 0..8) => self.logic(),
            (false, it) if it & 1 == 0 => self.sum_shifted(),
            (false, _) => self.sum_extended(),
            (true, 0) => self.sum_with_carry(),
            (true, 2) => self.conditional_compare(),
            (true, 4) => self.conditional_select(),
            (true, 6) if self.bit(30) => self.one_source(),
            (true, 6) => self.two_sources(),
            (true, 8..) => self.three_sources(),
            _ => self.refuse("the operation is reserved"),
        }
    }

    /// `rm`, shifted by a constant: its text, its bits that matter, its role, and as a value.
    fn shifted(&self) -> (String, u64, Role, Value, Class) {
        let (rm, amount) = (self.rm(), self.field(15, 10));
        let (mnemonic, shift) = SHIFTS[self.field(23, 22) as usize];
        let text = name(rm, self.is_64());
        if amount == 0 && shift == Shift::Left {
            return (text, self.all(), Role::Source, value(rm), Class::Alu);
        }
        let bits = bits_of_shifted(self.width(), shift, amount);
        let value = reg(rm).map_or(Value::Const(0), |it| Value::Shifted(it, shift, amount as u8));
        (format!("{text}, {mnemonic} #{amount}"), bits, Role::Shifted, value, Class::AluShiftImm)
    }

    fn logic(&self) -> Result<Instruction, Undecodable> {
        if !self.is_64() && self.bit(15) {
            return self.refuse("the shift is reserved");
        }
        let (rd, rn, is_64) = (self.rd(), self.rn(), self.is_64());
        let (operand, bits, role, b, class) = self.shifted();
        let is_plain = class == Class::Alu;
        let is_flags = self.field(30, 29) == 3;
        let (mnemonic, op) = match (self.field(30, 29), self.bit(21)) {
            (0, false) => ("and", Some(Op::And)),
            (0, true) => ("bic", Some(Op::AndNot)),
            (1, false) => ("orr", Some(Op::Or)),
            (1, true) => ("orn", Some(Op::OrNot)),
            (2, false) => ("eor", Some(Op::Xor)),
            (2, true) => ("eon", None),
            (_, false) => ("ands", Some(Op::And)),
            (_, true) => ("bics", Some(Op::AndNot)),
        };
        let (d, n) = (name(rd, is_64), name(rn, is_64));
        let text = match mnemonic {
            "orr" if rn == 31 && is_plain => format!("mov {d}, {operand}"),
            "orn" if rn == 31 => format!("mvn {d}, {operand}"),
            "ands" if rd == 31 => format!("tst {n}, {operand}"),
            _ => format!("{mnemonic} {d}, {n}, {operand}"),
        };
        let it = self.plain(class, text).reads(reg(rn), self.all(), Role::Source).reads(
            reg(self.rm()),
            bits,
            role,
        );
        let it = it.writes(reg(rd), ALL, Out::Result);
        let it = if is_flags { writes_flags(it) } else { it };
        let operation = match (mnemonic, op) {
            ("orr", _) if rn == 31 => Some((Op::Move, b, Value::Const(0))),
            ("orn", _) if rn == 31 => Some((Op::Not, b, Value::Const(0))),
            ("ands", _) if rd == 31 => Some((Op::Test, value(rn), b)),
            (_, Some(op)) => Some((op, value(rn), b)),
            (_, None) => None,
        };
        Ok(match operation {
            Some((op, a, b)) => it.computes(self.operation(op, reg(rd), a, b)),
            None => it,
        })
    }

    /// Mnemonic and operation of a sum, and its two short forms: without a result, and from zero.
    fn sum_names(&self) -> (&'static str, &'static str, &'static str, Op) {
        match self.field(30, 29) {
            0 => ("add", "", "", Op::Add),
            1 => ("adds", "cmn", "", Op::Add),
            2 => ("sub", "", "neg", Op::Sub),
            _ => ("subs", "cmp", "negs", Op::Sub),
        }
    }

    fn sum_shifted(&self) -> Result<Instruction, Undecodable> {
        if self.field(23, 22) == 3 || !self.is_64() && self.bit(15) {
            return self.refuse("the shift is reserved");
        }
        let (rd, rn, is_64, is_flags) = (self.rd(), self.rn(), self.is_64(), self.bit(29));
        let (operand, bits, role, b, class) = self.shifted();
        let (mnemonic, compare, negate, op) = self.sum_names();
        let (d, n) = (name(rd, is_64), name(rn, is_64));
        let text = match (rd, rn) {
            (31, _) if !compare.is_empty() => format!("{compare} {n}, {operand}"),
            (_, 31) if !negate.is_empty() => format!("{negate} {d}, {operand}"),
            _ => format!("{mnemonic} {d}, {n}, {operand}"),
        };
        let it = self.plain(class, text).reads(reg(rn), self.all(), Role::Source).reads(
            reg(self.rm()),
            bits,
            role,
        );
        let it = it.writes(reg(rd), ALL, Out::Result);
        let it = if is_flags { writes_flags(it) } else { it };
        let op = compared(op, is_flags && rd == 31);
        Ok(it.computes(self.operation(op, reg(rd), value(rn), b)))
    }

    fn sum_extended(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm, is_64, is_flags) =
            (self.rd(), self.rn(), self.rm(), self.is_64(), self.bit(29));
        let (option, amount) = (self.field(15, 13), self.field(12, 10));
        if self.field(23, 22) != 0 || amount > 4 {
            return self.refuse("the extension is reserved");
        }
        let (mnemonic, compare, _, op) = self.sum_names();
        let is_whole = option & 3 == 3;
        // Beside the stack pointer, the extension that changes nothing is a plain shift.
        let is_stack = rn == 31 || !is_flags && rd == 31;
        let is_plain = is_stack && option == if is_64 { 3 } else { 2 };
        let m = name(rm, is_64 && is_whole);
        let operand = match (is_plain, amount) {
            (true, 0) => m,
            (true, _) => format!("{m}, lsl #{amount}"),
            (false, 0) => format!("{m}, {}", EXTENSIONS[option as usize]),
            (false, _) => format!("{m}, {} #{amount}", EXTENSIONS[option as usize]),
        };
        let (target, n) =
            (if is_flags { name(rd, is_64) } else { name_sp(rd, is_64) }, name_sp(rn, is_64));
        let text = match rd {
            31 if is_flags => format!("{compare} {n}, {operand}"),
            _ => format!("{mnemonic} {target}, {n}, {operand}"),
        };
        let result = if is_flags { reg(rd) } else { reg_sp(rd) };
        // What is shifted out at the top does not matter either.
        let bits = low_bits(8 << (option & 3)) & self.all() & (self.all() >> amount);
        let is_alu = amount == 0 && (is_whole || !is_64 && option & 3 == 2);
        let class = if is_alu { Class::Alu } else { Class::AluShiftImm };
        let role = if is_alu { Role::Source } else { Role::Shifted };
        let it = self.plain(class, text).reads(reg_sp(rn), self.all(), Role::Source).reads(
            reg(rm),
            bits,
            role,
        );
        let it = it.writes(result, ALL, Out::Result);
        let it = if is_flags { writes_flags(it) } else { it };
        let is_identity = is_whole || !is_64 && option & 3 == 2;
        let b = match (reg(rm), amount) {
            (Some(it), _) if !is_identity => {
                let of = Extension { bits: 8 << (option & 3), is_signed: option & 4 != 0 };
                Value::Extended(it, of, amount as u8)
            }
            (None, _) => Value::Const(0),
            (Some(it), 0) => Value::Reg(it),
            (Some(it), _) => Value::Shifted(it, Shift::Left, amount as u8),
        };
        let op = compared(op, is_flags && rd == 31);
        Ok(it.computes(self.operation(op, result, Value::Reg(Reg(rn as u8)), b)))
    }

    /// Flags made of the bits of a register. Of version 8.4.
    fn moved_flags(&self) -> Result<Instruction, Undecodable> {
        let (rn, mask) = (self.rn(), self.field(3, 0));
        let it =
            match (self.field(31, 29), self.field(20, 15), self.field(14, 10), self.field(4, 0)) {
                (1, 0, 2, 13) => self
                    .plain(Class::Alu, format!("setf8 {}", name(rn, false)))
                    .reads(reg(rn), 0x1ff, Role::Source),
                (1, 0, 18, 13) => self
                    .plain(Class::Alu, format!("setf16 {}", name(rn, false)))
                    .reads(reg(rn), 0x1_ffff, Role::Source),
                (5, by, 1, 0..16) => {
                    let bits = 0xf_u64.rotate_left(by);
                    self.plain(Class::Alu, format!("rmif {}, #{by}, #{mask}", name(rn, true)))
                        .reads(reg(rn), bits, Role::Source)
                }
                _ => return self.refuse("the operation is of a later version"),
            };
        // Of four flags `setf8` leaves the carry, `rmif` those that its mask has not.
        let is_written =
            |nth: u32| if self.field(31, 29) == 5 { mask >> (3 - nth) & 1 == 1 } else { nth != 2 };
        let flags = [N, Z, C, V].into_iter().zip(0..).filter(|(_, nth)| is_written(*nth));
        Ok(flags.fold(it, |it, (flag, _)| it.writes(flag, 1, Out::Flag)))
    }

    fn sum_with_carry(&self) -> Result<Instruction, Undecodable> {
        if self.field(15, 10) != 0 && self.field(30, 29) == 1 {
            return self.moved_flags();
        }
        if self.field(15, 10) != 0 {
            return self.refuse("the operation is of a later version");
        }
        let (rd, rn, rm, is_64) = (self.rd(), self.rn(), self.rm(), self.is_64());
        let mnemonic = ["adc", "adcs", "sbc", "sbcs"][self.field(30, 29) as usize];
        let text = match (mnemonic, rn) {
            ("sbc", 31) => format!("ngc {}, {}", name(rd, is_64), name(rm, is_64)),
            ("sbcs", 31) => format!("ngcs {}, {}", name(rd, is_64), name(rm, is_64)),
            _ => {
                format!("{mnemonic} {}, {}, {}", name(rd, is_64), name(rn, is_64), name(rm, is_64))
            }
        };
        let it = self.plain(Class::Alu, text).reads(reg(rn), self.all(), Role::Source).reads(
            reg(rm),
            self.all(),
            Role::Source,
        );
        let it = it.reads(C, 1, Role::Condition).writes(reg(rd), ALL, Out::Result);
        Ok(if self.bit(29) { writes_flags(it) } else { it })
    }

    fn conditional_compare(&self) -> Result<Instruction, Undecodable> {
        if !self.bit(29) || self.bit(10) || self.bit(4) {
            return self.refuse("the conditional comparison is reserved");
        }
        let (rn, rm, cond) = (self.rn(), self.rm(), self.field(15, 12));
        let (is_64, is_immediate) = (self.is_64(), self.bit(11));
        let operand = if is_immediate { format!("#{rm}") } else { name(rm, is_64) };
        let mnemonic = if self.bit(30) { "ccmp" } else { "ccmn" };
        let text = format!(
            "{mnemonic} {}, {operand}, #{}, {}",
            name(rn, is_64),
            self.field(3, 0),
            CONDITIONS[cond as usize]
        );
        let it = self.plain(Class::Alu, text).reads(reg(rn), self.all(), Role::Source);
        let it = if is_immediate { it } else { it.reads(reg(rm), self.all(), Role::Source) };
        Ok(writes_flags(reads_condition(it, cond)))
    }

    fn conditional_select(&self) -> Result<Instruction, Undecodable> {
        if self.bit(29) || self.bit(11) {
            return self.refuse("the selection is reserved");
        }
        let (rd, rn, rm, is_64, cond) =
            (self.rd(), self.rn(), self.rm(), self.is_64(), self.field(15, 12));
        let mnemonic = match (self.bit(30), self.bit(10)) {
            (false, false) => "csel",
            (false, true) => "csinc",
            (true, false) => "csinv",
            (true, true) => "csneg",
        };
        let (d, n, m) = (name(rd, is_64), name(rn, is_64), name(rm, is_64));
        // The short forms name the opposite condition, which always and never do not have.
        let (same, opposite) = (CONDITIONS[cond as usize], CONDITIONS[(cond ^ 1) as usize]);
        let is_short = rn == rm && cond < 14;
        let text = match mnemonic {
            "csinc" if is_short && rn == 31 => format!("cset {d}, {opposite}"),
            "csinv" if is_short && rn == 31 => format!("csetm {d}, {opposite}"),
            "csinc" if is_short => format!("cinc {d}, {n}, {opposite}"),
            "csinv" if is_short => format!("cinv {d}, {n}, {opposite}"),
            "csneg" if is_short => format!("cneg {d}, {n}, {opposite}"),
            _ => format!("{mnemonic} {d}, {n}, {m}, {same}"),
        };
        let it = self.plain(Class::Alu, text).reads(reg(rn), self.all(), Role::Source).reads(
            reg(rm),
            self.all(),
            Role::Source,
        );
        Ok(reads_condition(it, cond).writes(reg(rd), ALL, Out::Result))
    }

    fn one_source(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, is_64) = (self.rd(), self.rn(), self.is_64());
        if !self.bit(29) && self.rm() == 1 {
            return self.signature();
        }
        if self.bit(29) || self.rm() != 0 {
            return self.refuse("the operation is of a later version");
        }
        let mnemonic = match (self.field(15, 10), is_64) {
            (0, _) => "rbit",
            (1, _) => "rev16",
            (2, false) | (3, true) => "rev",
            (2, true) => "rev32",
            (4, _) => "clz",
            (5, _) => "cls",
            _ => return self.refuse("the operation is reserved"),
        };
        let class = if mnemonic.starts_with('c') { Class::Alu } else { Class::Extend };
        let it = self.plain(class, format!("{mnemonic} {}, {}", name(rd, is_64), name(rn, is_64)));
        Ok(it.reads(reg(rn), self.all(), Role::Source).writes(reg(rd), ALL, Out::Result))
    }

    fn two_sources(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm, is_64) = (self.rd(), self.rn(), self.rm(), self.is_64());
        if self.bit(29) || matches!(self.field(15, 10), 0 | 4 | 5) {
            return self.tagged_two_sources();
        }
        let (d, n, m) = (name(rd, is_64), name(rn, is_64), name(rm, is_64));
        let opcode = self.field(15, 10);
        match opcode {
            2 | 3 => {
                let mnemonic = if opcode == 2 { "udiv" } else { "sdiv" };
                let it = self.plain(Class::Div, format!("{mnemonic} {d}, {n}, {m}")).reads(
                    reg(rn),
                    self.all(),
                    Role::Factor,
                );
                Ok(it.reads(reg(rm), self.all(), Role::Factor).writes(reg(rd), ALL, Out::Result))
            }
            8..12 => {
                let (mnemonic, shift) = SHIFTS[(opcode - 8) as usize];
                let it = self.plain(Class::Shift, format!("{mnemonic} {d}, {n}, {m}")).reads(
                    reg(rn),
                    self.all(),
                    Role::Source,
                );
                let it = it.reads(reg(rm), u64::from(self.width()) - 1, Role::Amount).writes(
                    reg(rd),
                    ALL,
                    Out::Result,
                );
                Ok(it.computes(self.operation(Op::Shift(shift), reg(rd), value(rn), value(rm))))
            }
            16..24 => {
                let size = opcode & 3;
                if (size == 3) != is_64 {
                    return self.refuse("the checksum is reserved");
                }
                let mnemonic = format!(
                    "crc32{}{}",
                    if opcode & 4 != 0 { "c" } else { "" },
                    ["b", "h", "w", "x"][size as usize]
                );
                let text = format!("{mnemonic} {}, {}, {m}", name(rd, false), name(rn, false));
                let it = self.plain(Class::Mul, text).reads(reg(rn), low_bits(32), Role::Source);
                Ok(it.reads(reg(rm), low_bits(8 << size), Role::Source).writes(
                    reg(rd),
                    ALL,
                    Out::Result,
                ))
            }
            12 => self.generic_signature(),
            _ => self.refuse("the operation is reserved or of a later version"),
        }
    }

    fn three_sources(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm, ra, is_64) =
            (self.rd(), self.rn(), self.rm(), self.field(14, 10), self.is_64());
        let is_sub = self.bit(15);
        // Mnemonic, short form without an addend, whether the factors are half as wide.
        let (mnemonic, short, is_long) = match (self.field(30, 29), self.field(23, 21), is_sub) {
            (0, 0, false) => ("madd", "mul", false),
            (0, 0, true) => ("msub", "mneg", false),
            (0, 1, false) if is_64 => ("smaddl", "smull", true),
            (0, 1, true) if is_64 => ("smsubl", "smnegl", true),
            (0, 5, false) if is_64 => ("umaddl", "umull", true),
            (0, 5, true) if is_64 => ("umsubl", "umnegl", true),
            (0, 2 | 6, false) if is_64 => {
                // The field of the addend should be ones, and is ignored.
                let mnemonic = if self.bit(23) { "umulh" } else { "smulh" };
                let it = self.plain(
                    Class::MulHigh,
                    format!(
                        "{mnemonic} {}, {}, {}",
                        name(rd, true),
                        name(rn, true),
                        name(rm, true)
                    ),
                );
                let it = it.reads(reg(rn), ALL, Role::Factor).reads(reg(rm), ALL, Role::Factor);
                return Ok(it.writes(reg(rd), ALL, Out::High));
            }
            _ => return self.refuse("the multiplication is reserved"),
        };
        let (d, n, m) = (name(rd, is_64), name(rn, is_64 && !is_long), name(rm, is_64 && !is_long));
        let text = if ra == 31 {
            format!("{short} {d}, {n}, {m}")
        } else {
            format!("{mnemonic} {d}, {n}, {m}, {}", name(ra, is_64))
        };
        let bits = if is_long { low_bits(32) } else { self.all() };
        let class = match (is_long, is_64) {
            (true, _) => Class::MulLong,
            (false, false) => Class::Mul,
            (false, true) if ra == 31 && !is_sub => Class::MulWide,
            (false, true) => Class::MulAddWide,
        };
        let it = self.plain(class, text);
        let it = it.reads(reg(rn), bits, Role::Factor).reads(reg(rm), bits, Role::Factor);
        let it = it.reads(reg(ra), self.all(), Role::Addend).writes(reg(rd), ALL, Out::Result);
        if is_long {
            return Ok(it);
        }
        let op = Op::Multiply { addend: value(ra), is_negated: is_sub };
        Ok(it.computes(self.operation(op, reg(rd), value(rn), value(rm))))
    }
}

/// The comparison that a sum without a result is.
fn compared(op: Op, is_compare: bool) -> Op {
    match op {
        Op::Sub if is_compare => Op::Compare,
        Op::Add if is_compare => Op::CompareNegative,
        op => op,
    }
}
