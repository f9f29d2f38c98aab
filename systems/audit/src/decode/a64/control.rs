//! Branches, calls, returns, and exceptions.

use super::{A64Word, ALL, CONDITIONS, SYSTEM, name, reads_condition, reg, value};
use crate::decode::code::{
    Class, Flow, Instruction, Op, Operation, Out, Reg, Relation, Role, Undecodable, Value,
};

const LINK: Option<Reg> = Some(Reg(30));

impl A64Word {
    pub(super) fn control_group(&self) -> Result<Instruction, Undecodable> {
        match self.field(31, 25) {
            0b000_1010 | 0b000_1011 => {
                let target = self.target(self.signed(25, 0));
                Ok(self
                    .plain(Class::Branch, format!("b {target:#x}"))
                    .flows(Flow::Branch { target, is_conditional: false }))
            }
            0b100_1010 | 0b100_1011 => {
                let target = self.target(self.signed(25, 0));
                let it =
                    self.plain(Class::Call, format!("bl {target:#x}")).writes(LINK, ALL, Out::Link);
                Ok(it.flows(Flow::Call { target: Some(target) }))
            }
            0b010_1010 => self.conditional_branch(),
            0b001_1010 | 0b101_1010 => Ok(self.compare_and_branch()),
            0b001_1011 | 0b101_1011 => Ok(self.test_and_branch()),
            0b110_1010 if !self.bit(24) => self.exception(),
            0b110_1010 if self.field(24, 22) == 4 => self.system(),
            0b110_1011 => self.register_branch(),
            _ => self.refuse("the branch is reserved"),
        }
    }

    fn conditional_branch(&self) -> Result<Instruction, Undecodable> {
        if self.bit(24) || self.bit(4) {
            return self.refuse("the branch is of a later version");
        }
        let cond = self.field(3, 0);
        let target = self.target(self.signed(23, 5));
        let it = self.plain(Class::Branch, format!("b.{} {target:#x}", CONDITIONS[cond as usize]));
        Ok(reads_condition(it, cond).flows(Flow::Branch { target, is_conditional: cond < 14 }))
    }

    fn compare_and_branch(&self) -> Instruction {
        let (rt, target) = (self.rd(), self.target(self.signed(23, 5)));
        let mnemonic = if self.bit(24) { "cbnz" } else { "cbz" };
        let it = self
            .plain(Class::Branch, format!("{mnemonic} {}, {target:#x}", name(rt, self.is_64())));
        it.reads(reg(rt), self.all(), Role::Condition)
            .flows(Flow::Branch { target, is_conditional: true })
            .computes(self.operation(self.tested(), None, value(rt), Value::Const(self.all())))
    }

    /// What `cbz` and `tbz`, or with this bit `cbnz` and `tbnz`, are taken by.
    fn tested(&self) -> Op {
        Op::BranchIf(if self.bit(24) { Relation::NotClear } else { Relation::Clear })
    }

    fn test_and_branch(&self) -> Instruction {
        let (rt, target) = (self.rd(), self.target(self.signed(18, 5)));
        let bit = self.field(31, 31) << 5 | self.field(23, 19);
        let mnemonic = if self.bit(24) { "tbnz" } else { "tbz" };
        let it = self.plain(
            Class::Branch,
            format!("{mnemonic} {}, #{bit}, {target:#x}", name(rt, bit > 31)),
        );
        let tested = Value::Const(1 << bit);
        it.reads(reg(rt), 1 << bit, Role::Condition)
            .flows(Flow::Branch { target, is_conditional: true })
            .computes(Operation {
                width: 64,
                ..self.operation(self.tested(), None, value(rt), tested)
            })
    }

    fn register_branch(&self) -> Result<Instruction, Undecodable> {
        let rn = self.rn();
        if self.bit(24) || self.bit(11) {
            return self.authenticated_branch();
        }
        if self.field(20, 16) != 31 || self.field(15, 10) != 0 || self.field(4, 0) != 0 {
            return self.refuse("the branch is of a later version");
        }
        let target = |instruction: Instruction| instruction.reads(reg(rn), ALL, Role::Target);
        let trap = |text: &str, class| {
            let it = self.plain(class, text.to_owned()).reads(SYSTEM, ALL, Role::Target).writes(
                SYSTEM,
                ALL,
                Out::Result,
            );
            super::writes_flags(it).flows(Flow::Resume)
        };
        Ok(match self.field(24, 21) {
            0 => {
                target(self.plain(Class::Jump, format!("br {}", name(rn, true)))).flows(Flow::Jump)
            }
            1 => {
                let it = target(self.plain(Class::Jump, format!("blr {}", name(rn, true))));
                it.writes(LINK, ALL, Out::Link).flows(Flow::Call { target: None })
            }
            2 => {
                let text =
                    if rn == 30 { "ret".to_owned() } else { format!("ret {}", name(rn, true)) };
                // To another register than the link goes what is no function of the standard's.
                target(self.plain(Class::Return, text)).flows(if rn == 30 {
                    Flow::Return
                } else {
                    Flow::Jump
                })
            }
            4 if rn == 31 => trap("eret", Class::Return),
            5 if rn == 31 => trap("drps", Class::Return),
            _ => return self.refuse("the branch is reserved"),
        })
    }

    /// Calls into the system come back, and what they do there no word shows.
    fn exception(&self) -> Result<Instruction, Undecodable> {
        let number = self.field(20, 5);
        if self.field(4, 2) != 0 {
            return self.refuse("the exception is reserved");
        }
        let (mnemonic, flow) = match (self.field(23, 21), self.field(1, 0)) {
            (0, 1) => ("svc", Flow::Next),
            (0, 2) => ("hvc", Flow::Next),
            (0, 3) => ("smc", Flow::Next),
            (1, 0) => ("brk", Flow::Stop),
            // A call of a debugger or emulator: semihosting.
            (2, 0) if number == 0xf000 => ("hlt", Flow::Next),
            (2, 0) => ("hlt", Flow::Stop),
            (5, level @ 1..) => {
                let text = if number == 0 {
                    format!("dcps{level}")
                } else {
                    format!("dcps{level} #{number:#x}")
                };
                return Ok(self.plain(Class::System, text).calls_system(&super::CONVENTIONS));
            }
            _ => return self.refuse("the exception is reserved"),
        };
        let it = self.plain(Class::System, format!("{mnemonic} #{number:#x}")).flows(flow);
        Ok(if flow == Flow::Next { it.calls_system(&super::CONVENTIONS) } else { it })
    }
}
