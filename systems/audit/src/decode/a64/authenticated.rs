//! Pointers with a signature in their upper bits: made, checked, taken off, and followed.
//!
//! Source: DDI 0487, C6.2 (FEAT_PAuth of version 8.3). The keys are system registers. That a check
//! fails no word shows.

use super::memory::{Mode, address_text, updates_base};
use super::{A64Word, ALL, SYSTEM, name, name_sp, reg, reg_sp, writes_flags};
use crate::decode::code::{Class, Flow, Instruction, Out, Reg, Role, Undecodable};

const LINK: Option<Reg> = Some(Reg(30));

impl A64Word {
    /// A pointer signed or checked in its register, with what another register holds or with zero.
    pub(super) fn signature(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode) = (self.rd(), self.rn(), self.field(15, 10));
        if !self.is_64() || opcode > 17 || opcode > 7 && rn != 31 {
            return self.refuse("the operation is of a later version");
        }
        let d = name(rd, true);
        let key = ["ia", "ib", "da", "db"][(opcode & 3) as usize];
        let mnemonic = if opcode & 4 == 0 { "pac" } else { "aut" };
        let text = match opcode {
            0..=7 => format!("{mnemonic}{key} {d}, {}", name_sp(rn, true)),
            8..=15 => format!("{mnemonic}{}z{} {d}", &key[..1], &key[1..]),
            16 => format!("xpaci {d}"),
            _ => format!("xpacd {d}"),
        };
        let it = self.plain(Class::Alu, text).reads(reg(rd), ALL, Role::Source);
        let it = if opcode < 8 { it.reads(reg_sp(rn), ALL, Role::Source) } else { it };
        let it = if opcode < 16 { it.reads(SYSTEM, ALL, Role::Source) } else { it };
        Ok(it.writes(reg(rd), ALL, Out::Result))
    }

    pub(super) fn generic_signature(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm) = (self.rd(), self.rn(), self.rm());
        if !self.is_64() {
            return self.refuse("the operation is reserved or of a later version");
        }
        let it = self.plain(
            Class::Alu,
            format!("pacga {}, {}, {}", name(rd, true), name(rn, true), name_sp(rm, true)),
        );
        let it = it.reads(reg(rn), ALL, Role::Source).reads(reg_sp(rm), ALL, Role::Source).reads(
            SYSTEM,
            ALL,
            Role::Source,
        );
        Ok(it.writes(reg(rd), 0xffff_ffff << 32, Out::Result))
    }

    /// Branches that check where they go.
    pub(super) fn authenticated_branch(&self) -> Result<Instruction, Undecodable> {
        let (rn, rm, key) = (self.rn(), self.rd(), if self.bit(10) { "b" } else { "a" });
        let is_with_zero = !self.bit(24);
        if self.rm() != 31 || self.field(15, 11) != 1 || is_with_zero && rm != 31 {
            return self.refuse("the branch is of a later version");
        }
        let operands = if is_with_zero {
            format!("z {}", name(rn, true))
        } else {
            format!(" {}, {}", name(rn, true), name_sp(rm, true))
        };
        let checked = |instruction: Instruction| {
            let instruction =
                instruction.reads(reg(rn), ALL, Role::Target).reads(SYSTEM, ALL, Role::Source);
            if is_with_zero {
                instruction
            } else {
                instruction.reads(reg_sp(rm), ALL, Role::Source)
            }
        };
        let stack = Some(super::CONVENTIONS.stack_pointer);
        Ok(match self.field(23, 21) {
            0 => checked(self.plain(Class::Jump, format!("bra{key}{operands}"))).flows(Flow::Jump),
            1 => {
                let it = checked(self.plain(Class::Jump, format!("blra{key}{operands}")));
                it.writes(LINK, ALL, Out::Link).flows(Flow::Call { target: None })
            }
            2 if is_with_zero && rn == 31 => {
                let it =
                    self.plain(Class::Return, format!("reta{key}")).reads(LINK, ALL, Role::Target);
                it.reads(stack, ALL, Role::Source)
                    .reads(SYSTEM, ALL, Role::Source)
                    .flows(Flow::Return)
            }
            4 if is_with_zero && rn == 31 => {
                let it = self.plain(Class::Return, format!("ereta{key}")).reads(
                    SYSTEM,
                    ALL,
                    Role::Target,
                );
                writes_flags(it.reads(stack, ALL, Role::Source).writes(SYSTEM, ALL, Out::Result))
                    .flows(Flow::Resume)
            }
            _ => return self.refuse("the branch is reserved"),
        })
    }

    /// A load by a pointer that is checked first.
    pub(super) fn authenticated_load(&self) -> Result<Instruction, Undecodable> {
        let (rt, rn, is_before) = (self.rd(), self.rn(), self.bit(11));
        if self.field(31, 30) != 3 || self.bit(26) {
            return self.refuse("the access is of a later version");
        }
        if is_before && rn != 31 && rn == rt {
            return self.refuse("an updated base that is also moved is unpredictable");
        }
        let disp = (i64::from(self.bit(22)) * -512 + i64::from(self.field(20, 12))) * 8;
        let mode = if is_before { Mode::Before } else { Mode::Offset };
        let text = format!(
            "ldra{} {}, {}",
            if self.bit(23) { "b" } else { "a" },
            name(rt, true),
            address_text(rn, disp, mode)
        );
        let it = self.plain(Class::Load, text).reads(reg_sp(rn), ALL, Role::Base).reads(
            SYSTEM,
            ALL,
            Role::Source,
        );
        let it = it
            .writes(reg(rt), ALL, Out::Result)
            .loads(reg_sp(rn), disp, 8)
            .computes(self.loaded(rt, true, false));
        // The base that is written back is the address alone, without its signature.
        Ok(if mode == Mode::Before { updates_base(it, rn, mode, disp) } else { it })
    }
}
