//! Branches, calls, jumps, traps, and the instructions that open and close register windows.

use super::{
    ALL, C, CWP_BITS, FCC, N, PSR, PSR_BITS, SparcWord, V, Z, name, reg, rotates, sign_extend,
};
use crate::decode::code::{
    Class, Delay, Extends, Flow, Instruction, Op, Operation, Out, Reg, Role, Undecodable, Value,
};

/// The conditions of integer branches and traps: name, and the flags that decide.
const CONDITIONS: [(&str, &[Option<Reg>]); 16] = [
    ("n", &[]),
    ("e", &[Z]),
    ("le", &[N, Z, V]),
    ("l", &[N, V]),
    ("leu", &[Z, C]),
    ("cs", &[C]),
    ("neg", &[N]),
    ("vs", &[V]),
    ("a", &[]),
    ("ne", &[Z]),
    ("g", &[N, Z, V]),
    ("ge", &[N, V]),
    ("gu", &[Z, C]),
    ("cc", &[C]),
    ("pos", &[N]),
    ("vc", &[V]),
];

/// The conditions of floating-point branches.
const FLOAT_CONDITIONS: [&str; 16] =
    ["n", "ne", "lg", "ul", "l", "ug", "g", "u", "a", "e", "ue", "ge", "uge", "le", "ule", "o"];

impl SparcWord {
    pub(super) fn branch_or_sethi(&self) -> Result<Instruction, Undecodable> {
        match self.word >> 22 & 7 {
            0 if self.rd() != 0 => self.refuse("the field of the result must be 0"),
            0 => Ok(self
                .plain(Class::System, format!("unimp {}", self.word & 0x3f_ffff))
                .flows(Flow::Stop)),
            4 => Ok(self.sethi()),
            2 => {
                let (suffix, flags) = CONDITIONS[(self.word >> 25 & 15) as usize];
                let it = self.branch(&format!("b{suffix}"));
                Ok(flags.iter().fold(it, |it, &flag| it.reads(flag, 1, Role::Condition)))
            }
            6 => {
                let cond = (self.word >> 25 & 15) as usize;
                let it = self.branch(&format!("fb{}", FLOAT_CONDITIONS[cond]));
                Ok(if cond & 7 == 0 { it } else { it.reads(FCC, 3, Role::Condition) })
            }
            7 => self.refuse("there is no coprocessor"),
            _ => self.refuse("the format is reserved"),
        }
    }

    fn sethi(&self) -> Instruction {
        let (rd, high) = (self.rd(), self.word & 0x3f_ffff);
        if rd == 0 && high == 0 {
            return self.plain(Class::Nop, "nop".to_owned());
        }
        let result = Value::Const(u64::from(high) << 10);
        self.plain(Class::Constant, format!("sethi {high:#x}, {}", name(rd)))
            .writes(reg(rd), ALL, Out::Result)
            .computes(Operation {
                op: Op::Move,
                width: 32,
                extends: Extends::Zero,
                result: reg(rd),
                a: result,
                b: Value::Const(0),
            })
    }

    /// A branch without its condition's reads. Annulled, `bn` skips its delay slot and
    /// `ba` goes without it.
    fn branch(&self, mnemonic: &str) -> Instruction {
        let offset = sign_extend(u64::from(self.word & 0x3f_ffff) << 2, 24);
        let target = self.address.wrapping_add_signed(offset) & ALL;
        let is_annulled = self.word >> 29 & 1 != 0;
        let mut it = self.plain(
            Class::Branch,
            format!("{mnemonic}{} {target:#x}", if is_annulled { ",a" } else { "" }),
        );
        let cond = self.word >> 25 & 15;
        it.flow = match (cond, is_annulled) {
            (0, false) => Flow::Next,
            (0, true) => {
                Flow::Branch { target: self.address.wrapping_add(8) & ALL, is_conditional: false }
            }
            _ => Flow::Branch { target, is_conditional: cond != 8 },
        };
        it.delay = match (cond, is_annulled) {
            (0, _) => Delay::None,
            (_, true) => Delay::Annulled,
            (_, false) => Delay::Slot,
        };
        it
    }

    pub(super) fn call(&self) -> Instruction {
        let target = self.address.wrapping_add(u64::from(self.word & 0x3fff_ffff) << 2) & ALL;
        let mut it = self.plain(Class::Call, format!("call {target:#x}")).writes(
            Some(Reg(15)),
            ALL,
            Out::Link,
        );
        it.flow = Flow::Call { target: Some(target) };
        it.delay = Delay::Slot;
        it
    }

    /// `jmpl`, `rett`, traps, `flush`, `save` and `restore`.
    pub(super) fn control(&self) -> Result<Instruction, Undecodable> {
        if !self.is_immediate() && self.word >> 5 & 0xff != 0 {
            return self.refuse("bits 12 to 5 must be 0");
        }
        let (rd, rs1) = (self.rd(), self.rs1());
        match self.op3() {
            0x38 => Ok(self.jump()),
            0x39 if rd != 0 => self.refuse("the field of the result must be 0"),
            0x39 => {
                let mut it = self
                    .plain(Class::Return, format!("rett {}", self.sum_text()))
                    .flows(Flow::Resume);
                it.delay = Delay::Slot;
                let it =
                    self.reads_operand(it.reads(reg(rs1), ALL, Role::Target), ALL, Role::Target);
                // Beside the window, traps are allowed again and the former mode comes back.
                let it = rotates(it, false, 0);
                Ok(it.reads(PSR, PSR_BITS & !CWP_BITS, Role::Source).writes(PSR, 0xa0, Out::Result))
            }
            0x3a => self.trap(),
            0x3b if rd != 0 => self.refuse("the field of the result must be 0"),
            0x3b => {
                let it = self.plain(Class::System, format!("flush {}", self.sum_text())).reads(
                    reg(rs1),
                    ALL,
                    Role::Base,
                );
                Ok(self.reads_operand(it, ALL, Role::Index))
            }
            op3 => {
                let is_save = op3 == 0x3c;
                let mnemonic = if is_save { "save" } else { "restore" };
                let is_bare = self.word & 0x3e07_ffff == 0;
                let text = match is_bare {
                    true => mnemonic.to_owned(),
                    false => {
                        format!("{mnemonic} {}, {}, {}", name(rs1), self.operand_text(), name(rd))
                    }
                };
                let it = self.plain(Class::Window, text).reads(reg(rs1), ALL, Role::Source);
                let it =
                    self.reads_operand(it, ALL, Role::Source).writes(reg(rd), ALL, Out::Result);
                Ok(rotates(it, is_save, rd))
            }
        }
    }

    fn jump(&self) -> Instruction {
        let (rd, rs1) = (self.rd(), self.rs1());
        // Behind the call and its delay slot; behind a word more where the caller expects a
        // structure.
        let is_return = rd == 0
            && matches!(rs1, 15 | 31)
            && self.is_immediate()
            && matches!(self.immediate(), 8 | 12);
        let text = match (rd, rs1, self.immediate()) {
            (0, 31, 8) if is_return => "ret".to_owned(),
            (0, 15, 8) if is_return => "retl".to_owned(),
            (0, ..) => format!("jmp {}", self.sum_text()),
            (15, ..) => format!("call {}", self.sum_text()),
            _ => format!("jmpl {}, {}", self.sum_text(), name(rd)),
        };
        let (class, flow) = match rd {
            _ if is_return => (Class::Return, Flow::Return),
            15 => (Class::Jump, Flow::Call { target: None }),
            _ => (Class::Jump, Flow::Jump),
        };
        let mut it = self
            .plain(class, text)
            .reads(reg(rs1), ALL, Role::Target)
            .writes(reg(rd), ALL, Out::Link)
            .flows(flow);
        it.delay = Delay::Slot;
        self.reads_operand(it, ALL, Role::Target)
    }

    fn trap(&self) -> Result<Instruction, Undecodable> {
        if self.rd() >= 16 || self.is_immediate() && self.word >> 7 & 0x3f != 0 {
            return self.refuse("fields that must be 0 are not");
        }
        let (suffix, flags) = CONDITIONS[(self.rd() & 15) as usize];
        // The number of the trap is the low seven bits of the sum.
        let it = self.plain(Class::System, format!("t{suffix} {}", self.trap_text()));
        let bits = if suffix == "n" { 0 } else { 0x7f };
        let it = flags.iter().fold(it, |it, &flag| it.reads(flag, 1, Role::Condition)).reads(
            reg(self.rs1()),
            bits,
            Role::Target,
        );
        let it = self.reads_operand(it, bits, Role::Target);
        Ok(if suffix == "n" { it } else { it.calls_system(&super::CONVENTIONS) })
    }

    fn trap_text(&self) -> String {
        match (self.rs1(), self.is_immediate()) {
            (0, true) => (self.word & 0x7f).to_string(),
            (rs1, true) => format!("{} + {}", name(rs1), self.word & 0x7f),
            (0, false) => name(self.rs2()).to_owned(),
            (rs1, false) => format!("{} + {}", name(rs1), name(self.rs2())),
        }
    }
}
