//! Zba, Zbb, Zbs and Zicond: addresses, bits, single bits and conditional zeros.
//!
//! Source: RISC-V Bit-Manipulation ISA-extensions, version 1.0.0, and RISC-V Integer Conditional
//! Operations, version 1.0.0.

use super::{RiscvWord, constant, low_bits, name, reg, value};
use crate::decode::code::{Class, Extension, Instruction, Op, Out, Role, Shift, Value};

impl RiscvWord {
    /// Of registers: opcode 0x33, and with `is_word` 0x3b; none if it is not of these extensions.
    pub(super) fn extended(&self, is_word: bool) -> Option<Instruction> {
        let (f3, f7) = (self.funct3(), self.funct7());
        let (d, s, t) = (name(self.rd()), name(self.rs1()), name(self.rs2()));
        let zext_h = (0x04, 4, 0) == (f7, f3, self.rs2()) && is_word == self.is_64;
        if zext_h {
            return Some(self.extends(format!("zext.h {d}, {s}"), 16, Op::ZeroExtend { bits: 16 }));
        }
        if is_word && (f7, f3, self.rs2()) == (0x04, 0, 0) {
            return Some(self.extends(format!("zext.w {d}, {s}"), 32, Op::ZeroExtend { bits: 32 }));
        }
        let mnemonic = match (is_word, f7, f3) {
            (false, 0x10, 2) => "sh1add",
            (false, 0x10, 4) => "sh2add",
            (false, 0x10, 6) => "sh3add",
            (true, 0x10, 2) => "sh1add.uw",
            (true, 0x10, 4) => "sh2add.uw",
            (true, 0x10, 6) => "sh3add.uw",
            (true, 0x04, 0) => "add.uw",
            (false, 0x20, 7) => "andn",
            (false, 0x20, 6) => "orn",
            (false, 0x20, 4) => "xnor",
            (false, 0x05, 4) => "min",
            (false, 0x05, 5) => "minu",
            (false, 0x05, 6) => "max",
            (false, 0x05, 7) => "maxu",
            (false, 0x30, 1) => "rol",
            (false, 0x30, 5) => "ror",
            (true, 0x30, 1) => "rolw",
            (true, 0x30, 5) => "rorw",
            (false, 0x24, 1) => "bclr",
            (false, 0x24, 5) => "bext",
            (false, 0x34, 1) => "binv",
            (false, 0x14, 1) => "bset",
            (false, 0x07, 5) => "czero.eqz",
            (false, 0x07, 7) => "czero.nez",
            _ => return None,
        };
        let is_amount = matches!(f7, 0x30 | 0x24 | 0x34 | 0x14);
        // The last letters say that the first operand is a number of 32 bits.
        let is_half = mnemonic.ends_with("uw") && mnemonic != "maxu" || is_word && f7 == 0x30;
        let first = if is_half { low_bits(32) } else { self.all() };
        let (role, second) = match is_amount {
            true => (Role::Amount, if is_word { 31 } else { u64::from(self.xlen()) - 1 }),
            false => (Role::Source, self.all()),
        };
        let class = if f7 == 0x30 { Class::Shift } else { Class::Alu };
        let it = self.plain(class, format!("{mnemonic} {d}, {s}, {t}"));
        let it =
            it.reads(reg(self.rs1()), first, Role::Source).reads(reg(self.rs2()), second, role);
        let it = it.writes(reg(self.rd()), self.all(), Out::Result);
        let (first, second) = (value(self.rs1()), value(self.rs2()));
        let shifted = |by| {
            reg(self.rs1()).map_or(Value::Const(0), |reg| Value::Shifted(reg, Shift::Left, by))
        };
        let half = |by| {
            let of = Extension { bits: 32, is_signed: false };
            reg(self.rs1()).map_or(Value::Const(0), |reg| Value::Extended(reg, of, by))
        };
        let (op, a, b) = match mnemonic {
            "add.uw" => (Op::Add, second, half(0)),
            "sh1add.uw" => (Op::Add, second, half(1)),
            "sh2add.uw" => (Op::Add, second, half(2)),
            "sh3add.uw" => (Op::Add, second, half(3)),
            "sh1add" => (Op::Add, second, shifted(1)),
            "sh2add" => (Op::Add, second, shifted(2)),
            "sh3add" => (Op::Add, second, shifted(3)),
            "andn" => (Op::AndNot, first, second),
            "orn" => (Op::OrNot, first, second),
            _ => return Some(it),
        };
        Some(it.computes(self.operation(op, false, a, b)))
    }

    /// Of a register and a number: opcode 0x13, and with `is_word` 0x1b.
    pub(super) fn extended_immediate(&self, is_word: bool) -> Option<Instruction> {
        let (f3, imm) = (self.funct3(), self.word >> 20);
        let (d, s) = (name(self.rd()), name(self.rs1()));
        let n_bits = if is_word { 32 } else { u32::from(self.xlen()) };
        let unary = match (f3, imm, is_word) {
            (1, 0x600, _) => "clz",
            (1, 0x601, _) => "ctz",
            (1, 0x602, _) => "cpop",
            (1, 0x604, false) => {
                return Some(self.extends(
                    format!("sext.b {d}, {s}"),
                    8,
                    Op::SignExtend { bits: 8 },
                ));
            }
            (1, 0x605, false) => {
                return Some(self.extends(
                    format!("sext.h {d}, {s}"),
                    16,
                    Op::SignExtend { bits: 16 },
                ));
            }
            (5, 0x287, false) => "orc.b",
            (5, 0x6b8, false) if self.is_64 => "rev8",
            (5, 0x698, false) if !self.is_64 => "rev8",
            _ => "",
        };
        if !unary.is_empty() {
            let w = if is_word { "w" } else { "" };
            let class = if unary == "rev8" { Class::Extend } else { Class::Alu };
            let it = self.plain(class, format!("{unary}{w} {d}, {s}")).reads(
                reg(self.rs1()),
                low_bits(n_bits),
                Role::Source,
            );
            return Some(it.writes(reg(self.rd()), self.all(), Out::Result));
        }
        // A sixth bit of the amount is for RV64 only; `slli.uw` has one, too.
        let amount = if self.is_64 { imm & 63 } else { imm & 31 };
        let above = if self.is_64 { imm >> 6 << 1 } else { imm >> 5 };
        let (mnemonic, class, bits) = match (f3, above, is_word) {
            (5, 0x30, false) => ("rori", Class::Shift, self.all()),
            (5, 0x30, true) if amount < 32 => ("roriw", Class::Shift, low_bits(32)),
            (1, 0x04, true) => ("slli.uw", Class::Shift, low_bits(32)),
            (1, 0x24, false) => ("bclri", Class::Alu, self.all() & !(1 << amount)),
            (5, 0x24, false) => ("bexti", Class::Alu, 1 << amount),
            (1, 0x34, false) => ("binvi", Class::Alu, self.all()),
            (1, 0x14, false) => ("bseti", Class::Alu, self.all() & !(1 << amount)),
            _ => return None,
        };
        let it = self.plain(class, format!("{mnemonic} {d}, {s}, {amount}")).reads(
            reg(self.rs1()),
            bits,
            Role::Source,
        );
        Some(it.writes(reg(self.rd()), self.all(), Out::Result))
    }

    /// A register of which only the low `n` bits count.
    fn extends(&self, text: String, n: u32, op: Op) -> Instruction {
        let it = self.plain(Class::Extend, text).reads(reg(self.rs1()), low_bits(n), Role::Source);
        let it = it.writes(reg(self.rd()), self.all(), Out::Result);
        let source: Value = value(self.rs1());
        it.computes(self.operation(op, false, source, constant(0)))
    }
}
