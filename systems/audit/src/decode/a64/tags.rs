//! Memory tags: four bits of an address that must be those of the memory it leads to.
//!
//! Source: DDI 0487, C6.2 (the Memory Tagging Extension of version 8.5). The tag of an address is
//! its bits 59 to 56.

use super::memory::{Mode, address_text, updates_base};
use super::{A64Word, ALL, SYSTEM, name, name_sp, reg, reg_sp, writes_flags};
use crate::decode::code::{Access, Class, IndexForm, Instruction, Out, Role, Undecodable};

/// The tag of an address.
const TAG: u64 = 0xf << 56;
/// What stands below it.
const ADDRESS: u64 = (1 << 56) - 1;

impl A64Word {
    /// A sum with a constant, and another tag.
    pub(super) fn tagged_sum(&self) -> Result<Instruction, Undecodable> {
        if !self.bit(31) || self.bit(29) || self.bit(22) {
            return self.refuse("the operation is reserved or of a later version");
        }
        if self.field(15, 14) != 0 {
            return self.refuse("bits that must be zero are not, which is unpredictable");
        }
        let (rd, rn, by, tag) = (self.rd(), self.rn(), self.field(21, 16) * 16, self.field(13, 10));
        let mnemonic = if self.bit(30) { "subg" } else { "addg" };
        let it = self.plain(
            Class::Alu,
            format!("{mnemonic} {}, {}, #{by}, #{tag}", name_sp(rd, true), name_sp(rn, true)),
        );
        // Which tags are left out, a system register says.
        Ok(it.reads(reg_sp(rn), ALL, Role::Source).reads(SYSTEM, ALL, Role::Source).writes(
            reg_sp(rd),
            ALL,
            Out::Result,
        ))
    }

    /// Tags of two registers: a random one, a set of them, the distance of two addresses.
    pub(super) fn tagged_two_sources(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm) = (self.rd(), self.rn(), self.rm());
        let n = name_sp(rn, true);
        match (self.bit(31), self.bit(29), self.field(15, 10)) {
            (true, is_flags, 0) => {
                let m = name_sp(rm, true);
                let text = format!(
                    "{} {}, {n}, {m}",
                    if is_flags { "subps" } else { "subp" },
                    name(rd, true)
                );
                let it = self
                    .plain(Class::Alu, text)
                    .reads(reg_sp(rn), ADDRESS, Role::Source)
                    .reads(reg_sp(rm), ADDRESS, Role::Source);
                let it = it.writes(reg(rd), ALL, Out::Result);
                Ok(if is_flags { writes_flags(it) } else { it })
            }
            (true, false, 4) => {
                let m = if rm == 31 { String::new() } else { format!(", {}", name(rm, true)) };
                let it = self
                    .plain(Class::Alu, format!("irg {}, {n}{m}", name_sp(rd, true)))
                    .reads(reg_sp(rn), ALL, Role::Source);
                let it = it.reads(reg(rm), 0xffff, Role::Source).reads(SYSTEM, ALL, Role::Source);
                Ok(it.writes(reg_sp(rd), ALL, Out::Result).writes(SYSTEM, ALL, Out::Flag))
            }
            (true, false, 5) => {
                let it = self
                    .plain(Class::Alu, format!("gmi {}, {n}, {}", name(rd, true), name(rm, true)));
                Ok(it
                    .reads(reg_sp(rn), TAG, Role::Source)
                    .reads(reg(rm), ALL, Role::Source)
                    .writes(reg(rd), ALL, Out::Result))
            }
            _ => self.refuse("the operation is reserved or of a later version"),
        }
    }

    /// All tags of a block, whose size a system register says.
    fn tags_of_block(&self, op: u32) -> Result<Instruction, Undecodable> {
        let (rt, rn) = (self.rd(), self.rn());
        if self.field(20, 12) != 0 {
            return self.refuse("the access is reserved");
        }
        let mnemonic = ["stzgm", "", "stgm", "ldgm"][op as usize];
        let it = self.plain(
            Class::System,
            format!("{mnemonic} {}, [{}]", name(rt, true), name_sp(rn, true)),
        );
        let it = it.reads(reg_sp(rn), ALL, Role::Base).reads(SYSTEM, ALL, Role::Source);
        // More than the width of an access can say: anywhere.
        let access = Access {
            is_store: op != 3,
            base: None,
            index: reg(rn).map(|reg| (reg, 0)),
            index_form: IndexForm::Other,
            disp: 0,
            width: 128,
        };
        let it = it.accesses(access);
        Ok(if op == 3 {
            it.writes(reg(rt), ALL, Out::Result)
        } else {
            it.reads(reg(rt), ALL, Role::Data)
        })
    }

    /// Tags of memory stored, with zeros for the memory or without, and loaded.
    pub(super) fn tags_in_memory(&self) -> Result<Instruction, Undecodable> {
        let (rt, rn, op) = (self.rd(), self.rn(), self.field(23, 22));
        let disp = self.signed(20, 12) * 16;
        let mode = match self.field(11, 10) {
            1 => Mode::After,
            2 => Mode::Offset,
            3 => Mode::Before,
            _ if op == 1 => {
                let it = self.plain(
                    Class::Load,
                    format!("ldg {}, {}", name(rt, true), address_text(rn, disp, Mode::Offset)),
                );
                let it = it.reads(reg_sp(rn), ALL, Role::Base).writes(reg(rt), TAG, Out::Result);
                return Ok(it.loads(reg_sp(rn), disp, 16));
            }
            _ => return self.tags_of_block(op),
        };
        let (mnemonic, width) =
            [("stg", 16), ("stzg", 16), ("st2g", 32), ("stz2g", 32)][op as usize];
        let it = self.plain(
            Class::Store,
            format!("{mnemonic} {}, {}", name_sp(rt, true), address_text(rn, disp, mode)),
        );
        let it = it.reads(reg_sp(rn), ALL, Role::Base).reads(reg_sp(rt), TAG, Role::Data);
        let at = if mode == Mode::After { 0 } else { disp };
        Ok(updates_base(it.stores(reg_sp(rn), at, width), rn, mode, disp))
    }
}
