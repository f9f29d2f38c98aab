//! M: products, quotients and remainders.

use super::{RiscvWord, low_bits, name, reg, value};
use crate::decode::code::{Class, Instruction, Op, Out, Role, Undecodable, Value};

impl RiscvWord {
    pub(super) fn multiply(&self, is_word: bool) -> Result<Instruction, Undecodable> {
        let (rd, rs1, rs2) = (self.rd(), self.rs1(), self.rs2());
        let mnemonic = ["mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"]
            [self.funct3() as usize];
        let (class, out) = match self.funct3() {
            0 => (Class::Mul, Out::Result),
            1..=3 if is_word => return self.refuse("the operation is reserved"),
            1..=3 => (Class::MulLong, Out::High),
            _ => (Class::Div, Out::Result),
        };
        let bits = if is_word { low_bits(32) } else { self.all() };
        let suffix = if is_word { "w" } else { "" };
        let it = self
            .plain(class, format!("{mnemonic}{suffix} {}, {}, {}", name(rd), name(rs1), name(rs2)))
            .reads(reg(rs1), bits, Role::Factor)
            .reads(reg(rs2), bits, Role::Factor)
            .writes(reg(rd), self.all(), out);
        if self.funct3() != 0 {
            return Ok(it);
        }
        let op = Op::Multiply { addend: Value::Const(0), is_negated: false };
        Ok(it.computes(self.operation(op, is_word, value(rs1), value(rs2))))
    }
}
