//! Arithmetic, shifts, multiplication, division, and the special registers.

use super::{
    ALL, ASR, C, N, PSR, PSR_BITS, SparcWord, TBR, V, WIM, Y, Z, mask_of, name, reg, value,
    writes_flags,
};
use crate::decode::code::{
    Class, Extends, Instruction, Op, Operation, Out, Reg, Role, Shift, Undecodable, Value,
};

impl SparcWord {
    pub(super) fn arithmetic(&self) -> Result<Instruction, Undecodable> {
        let op3 = self.op3();
        let is_special = matches!(op3, 0x28..=0x2b | 0x30..=0x33);
        if !is_special && !self.is_immediate() && self.word >> 5 & 0xff != 0 {
            return self.refuse("bits 12 to 5 must be 0");
        }
        match op3 {
            0x0a | 0x0b | 0x1a | 0x1b => Ok(self.multiply()),
            0x0e | 0x0f | 0x1e | 0x1f => Ok(self.divide()),
            0x00..=0x1f => self.logic_or_sum(),
            0x20..=0x23 => Ok(self.tagged()),
            0x24 => Ok(self.multiply_step()),
            0x25..=0x27 => self.shift(),
            0x28..=0x2b => self.read_special(),
            0x30..=0x33 => self.write_special(),
            0x3e | 0x3f => Ok(self.multiply_accumulate()),
            _ => self.refuse("the operation is reserved"),
        }
    }

    fn operation(&self, op: Op, a: Value, b: Value) -> Operation {
        Operation { op, width: 32, extends: Extends::Zero, result: reg(self.rd()), a, b }
    }

    /// `it` with the two operands read and the result written.
    fn binary(&self, it: Instruction, bits: u64, role: Role) -> Instruction {
        let it = it.reads(reg(self.rs1()), bits, role);
        self.reads_operand(it, ALL, role).writes(reg(self.rd()), ALL, Out::Result)
    }

    fn three(&self, mnemonic: &str) -> String {
        format!("{mnemonic} {}, {}, {}", name(self.rs1()), self.operand_text(), name(self.rd()))
    }

    /// The operations that come with and without flags.
    fn logic_or_sum(&self) -> Result<Instruction, Undecodable> {
        let (rd, rs1) = (self.rd(), self.rs1());
        let is_flags = self.op3() & 0x10 != 0;
        let (a, b) = (value(rs1), self.operand());
        let constant = match b {
            Value::Const(it) => Some(it),
            Value::Reg(_) | Value::Shifted(..) | Value::Extended(..) => None,
        };
        let mask = mask_of(constant.unwrap_or(u64::MAX) as i64);
        let (mnemonic, op, bits, with_carry) = match self.op3() & 0xf {
            0x0 => ("add", Some(Op::Add), ALL, false),
            0x1 => ("and", Some(Op::And), mask, false),
            0x2 => ("or", Some(Op::Or), constant.map_or(ALL, |constant| ALL & !constant), false),
            0x3 => ("xor", Some(Op::Xor), ALL, false),
            0x4 => ("sub", Some(Op::Sub), ALL, false),
            0x5 => {
                ("andn", Some(Op::AndNot), constant.map_or(ALL, |constant| ALL & !constant), false)
            }
            0x6 => ("orn", Some(Op::OrNot), constant.map_or(ALL, mask_of_orn), false),
            0x7 => ("xnor", None, ALL, false),
            0x8 => ("addx", None, ALL, true),
            0xc => ("subx", None, ALL, true),
            _ => return self.refuse("the operation is reserved"),
        };
        let is_move = mnemonic == "or" && rs1 == 0 && !is_flags;
        let text = match mnemonic {
            "or" if is_flags && rd == 0 && b == Value::Const(0) && !self.is_immediate() => {
                format!("tst {}", name(rs1))
            }
            _ if is_move => format!("mov {}, {}", self.operand_text(), name(rd)),
            "sub" if is_flags && rd == 0 => format!("cmp {}, {}", name(rs1), self.operand_text()),
            _ => self.three(&format!("{mnemonic}{}", if is_flags { "cc" } else { "" })),
        };
        let class = if is_move && constant.is_some() { Class::Constant } else { Class::Alu };
        let it = self.binary(self.plain(class, text), bits, Role::Source);
        let it = if with_carry { it.reads(C, 1, Role::Condition) } else { it };
        let it = if is_flags { writes_flags(it) } else { it };
        let operation = match (op, rd, constant) {
            (Some(Op::Sub), 0, _) if is_flags => Some(self.operation(Op::Compare, a, b)),
            (Some(Op::And), 0, _) if is_flags => Some(self.operation(Op::Test, a, b)),
            (Some(Op::Or), ..) if rs1 == 0 && !is_flags => {
                Some(self.operation(Op::Move, b, Value::Const(0)))
            }
            (Some(op), ..) => Some(self.operation(op, a, b)),
            // Exclusive nor with a constant is exclusive or with its complement.
            (None, _, Some(0)) if mnemonic == "xnor" => {
                Some(self.operation(Op::Not, a, Value::Const(0)))
            }
            (None, _, Some(it)) if mnemonic == "xnor" => {
                Some(self.operation(Op::Xor, a, Value::Const(!it)))
            }
            (None, ..) => None,
        };
        Ok(match operation {
            Some(operation) => it.computes(operation),
            None => it,
        })
    }

    /// Sums that set the overflow flag, or trap, if an operand has tag bits.
    fn tagged(&self) -> Instruction {
        let mnemonic = ["taddcc", "tsubcc", "taddcctv", "tsubcctv"][(self.op3() & 3) as usize];
        writes_flags(self.binary(self.plain(Class::Alu, self.three(mnemonic)), ALL, Role::Source))
    }

    fn multiply(&self) -> Instruction {
        let (is_flags, is_signed) = (self.op3() & 0x10 != 0, self.op3() & 1 != 0);
        let mnemonic =
            format!("{}mul{}", if is_signed { "s" } else { "u" }, if is_flags { "cc" } else { "" });
        let class = if is_flags { Class::MulLongFlags } else { Class::MulLong };
        let it = self.binary(self.plain(class, self.three(&mnemonic)), ALL, Role::Factor).writes(
            Y,
            ALL,
            Out::High,
        );
        if is_flags { writes_flags(it) } else { it }
    }

    fn divide(&self) -> Instruction {
        let (is_flags, is_signed) = (self.op3() & 0x10 != 0, self.op3() & 1 != 0);
        let mnemonic =
            format!("{}div{}", if is_signed { "s" } else { "u" }, if is_flags { "cc" } else { "" });
        let it = self
            .binary(self.plain(Class::Div, self.three(&mnemonic)), ALL, Role::Factor)
            .reads(Y, ALL, Role::Factor);
        if is_flags { writes_flags(it) } else { it }
    }

    /// One step of a multiplication: `%y` and the first operand move right by one.
    fn multiply_step(&self) -> Instruction {
        let it = self.binary(self.plain(Class::Alu, self.three("mulscc")), ALL, Role::Source);
        let it = it.reads(Y, ALL, Role::Source).reads(N, 1, Role::Condition).reads(
            V,
            1,
            Role::Condition,
        );
        writes_flags(it.writes(Y, ALL, Out::High))
    }

    /// LEON3: the low half words are multiplied and added to `%asr18` and the low byte of `%y`.
    fn multiply_accumulate(&self) -> Instruction {
        let mnemonic = if self.op3() & 1 != 0 { "smac" } else { "umac" };
        let it = self.plain(Class::MulHalf, self.three(mnemonic)).reads(
            reg(self.rs1()),
            0xffff,
            Role::Factor,
        );
        let it =
            self.reads_operand(it, 0xffff, Role::Factor).writes(reg(self.rd()), ALL, Out::Result);
        let it = it.reads(Y, 0xff, Role::Addend).reads(ASR, ALL, Role::Addend);
        it.writes(Y, ALL, Out::High).writes(ASR, ALL, Out::Result)
    }

    fn shift(&self) -> Result<Instruction, Undecodable> {
        let (mnemonic, shift) =
            [("sll", Shift::Left), ("srl", Shift::Right), ("sra", Shift::RightSigned)]
                [(self.op3() - 0x25) as usize];
        if self.is_immediate() && self.word >> 5 & 0xff != 0 {
            return self.refuse("bits 12 to 5 must be 0");
        }
        let amount = self.word & 31;
        let bits = match (self.is_immediate(), shift) {
            (false, _) => ALL,
            (true, Shift::Left) => ALL >> amount,
            (true, _) => ALL & (ALL << amount),
        };
        let (b, operand) = match self.is_immediate() {
            true => (Value::Const(amount.into()), amount.to_string()),
            false => (value(self.rs2()), name(self.rs2()).to_owned()),
        };
        let text = format!("{mnemonic} {}, {operand}, {}", name(self.rs1()), name(self.rd()));
        let it = self.plain(Class::Shift, text).reads(reg(self.rs1()), bits, Role::Source);
        let it = self.reads_operand(it, 31, Role::Amount).writes(reg(self.rd()), ALL, Out::Result);
        Ok(it.computes(self.operation(Op::Shift(shift), value(self.rs1()), b)))
    }

    fn read_special(&self) -> Result<Instruction, Undecodable> {
        let (rd, rs1) = (self.rd(), self.rs1());
        if self.word & 0x3fff != 0 || self.op3() != 0x28 && rs1 != 0 {
            return self.refuse("fields that must be 0 are not");
        }
        let (from, bits, source) = match (self.op3(), rs1) {
            (0x28, 0) => (Y, ALL, "%y".to_owned()),
            (0x28, 15) if rd == 0 => return Ok(self.plain(Class::System, "stbar".to_owned())),
            (0x28, _) => (ASR, ALL, format!("%asr{rs1}")),
            (0x29, _) => (PSR, PSR_BITS, "%psr".to_owned()),
            (0x2a, _) => (WIM, ALL, "%wim".to_owned()),
            _ => (TBR, ALL, "%tbr".to_owned()),
        };
        let it = self.plain(Class::System, format!("rd {source}, {}", name(rd))).reads(
            from,
            bits,
            Role::Source,
        );
        let flags: &[Option<Reg>] = if from == PSR { &[N, Z, V, C] } else { &[] };
        let it = flags.iter().fold(it, |it, &flag| it.reads(flag, 1, Role::Source));
        Ok(it.writes(reg(rd), ALL, Out::Result))
    }

    /// What is written is the exclusive or of the two operands.
    fn write_special(&self) -> Result<Instruction, Undecodable> {
        let (rd, rs1) = (self.rd(), self.rs1());
        if self.op3() != 0x30 && rd != 0 || !self.is_immediate() && self.word >> 5 & 0xff != 0 {
            return self.refuse("fields that must be 0 are not");
        }
        let (to, target) = match (self.op3(), rd) {
            (0x30, 0) => (Y, "%y".to_owned()),
            (0x30, _) => (ASR, format!("%asr{rd}")),
            (0x31, _) => (PSR, "%psr".to_owned()),
            (0x32, _) => (WIM, "%wim".to_owned()),
            _ => (TBR, "%tbr".to_owned()),
        };
        let text = format!("wr {}, {}, {target}", name(rs1), self.operand_text());
        let it = self.plain(Class::System, text).reads(reg(rs1), ALL, Role::Source);
        let it = self.reads_operand(it, ALL, Role::Source);
        Ok(if to == PSR {
            writes_flags(it.writes(PSR, PSR_BITS, Out::Result))
        } else {
            it.writes(to, ALL, Out::Result)
        })
    }
}

/// Of `a | !constant`, the bits of `a` that can change something.
fn mask_of_orn(constant: u64) -> u64 {
    constant & ALL
}
