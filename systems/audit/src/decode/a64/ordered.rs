//! Loads and stores that others see in order, besides those of version 8.0: `ldapr` and its
//! relatives, and those of limited regions.
//!
//! Source: DDI 0487, C6.2 (FEAT_LRCPC, FEAT_LRCPC2, FEAT_LRCPC3, FEAT_LOR).

use super::memory::{Mode, address_text, updates_base};
use super::{A64Word, ALL, low_bits, name, name_sp, reg, reg_sp};
use crate::decode::code::{Class, Instruction, Out, Role, Undecodable};

/// Which access, by its size and what is done.
struct MovedBytes {
    mnemonic: String,
    is_store: bool,
    is_signed: bool,
    is_64: bool,
    width: u8,
}

impl A64Word {
    /// `ldapr`: after it no later access is seen earlier, but older stores of this core may be.
    pub(super) fn acquire(&self) -> Result<Instruction, Undecodable> {
        let size = self.field(31, 30);
        if self.rm() != 31 {
            return self.refuse("fields that must be ones are not");
        }
        let mnemonic = format!("ldapr{}", ["b", "h", "", ""][size as usize]);
        let moved = MovedBytes {
            mnemonic,
            is_store: false,
            is_signed: false,
            is_64: size == 3,
            width: 1 << size,
        };
        Ok(self.ordered(&moved, 0, Mode::Offset))
    }

    /// The same with an offset, and the store that fits.
    pub(super) fn ordered_with_offset(&self) -> Result<Instruction, Undecodable> {
        let (size, opc) = (self.field(31, 30), self.field(23, 22));
        let (is_signed, is_64) = match (size, opc) {
            (_, 0 | 1) => (false, size == 3),
            (0..=2, 2) => (true, true),
            (0 | 1, 3) => (true, false),
            _ => return self.refuse("the access is reserved"),
        };
        let is_store = opc == 0;
        let letter = ["b", "h", if is_signed { "w" } else { "" }, ""][size as usize];
        let sign = if is_signed { "s" } else { "" };
        let mnemonic = format!("{}ur{sign}{letter}", if is_store { "stl" } else { "ldap" });
        let moved = MovedBytes { mnemonic, is_store, is_signed, is_64, width: 1 << size };
        Ok(self.ordered(&moved, self.signed(20, 12), Mode::Offset))
    }

    /// Of version 8.9: one register with its base moved, or two.
    pub(super) fn ordered_and_moved(&self) -> Result<Instruction, Undecodable> {
        let (size, is_load, rt, rt2, rn) =
            (self.field(31, 30), self.bit(22), self.rd(), self.rm(), self.rn());
        let is_64 = size == 3;
        let width = 4 << (size & 1);
        if size < 2 {
            return self.refuse("the access is reserved or of a later version");
        }
        match (self.bit(23), self.field(15, 12)) {
            (true, 0) if rt2 == 0 => {
                if rn == rt && rn != 31 {
                    return self.refuse("an updated base that is also moved is unpredictable");
                }
                let (mnemonic, mode) =
                    if is_load { ("ldapr", Mode::After) } else { ("stlr", Mode::Before) };
                let disp = if is_load { i64::from(width) } else { -i64::from(width) };
                let moved = MovedBytes {
                    mnemonic: mnemonic.to_owned(),
                    is_store: !is_load,
                    is_signed: false,
                    is_64,
                    width,
                };
                Ok(updates_base(self.ordered(&moved, disp, mode), rn, mode, disp))
            }
            (false, form @ 0..=1) => {
                if is_load && rt == rt2 || form == 0 && rn != 31 && (rn == rt || rn == rt2) {
                    return self.refuse("loading a register twice, or an updated base that is also moved, is unpredictable");
                }
                let by = i64::from(width) * if is_load { 2 } else { -2 };
                let mode = match (form, is_load) {
                    (0, true) => Mode::After,
                    (0, false) => Mode::Before,
                    _ => Mode::Offset,
                };
                let text = address_text(rn, if mode == Mode::Offset { 0 } else { by }, mode);
                let mnemonic = if is_load { "ldiapp" } else { "stilp" };
                let class = if is_load { Class::LoadDouble } else { Class::StoreDouble };
                let text = format!("{mnemonic} {}, {}, {text}", name(rt, is_64), name(rt2, is_64));
                let it = self.plain(class, text).reads(reg_sp(rn), ALL, Role::Base);
                let (at, bits) =
                    (if mode == Mode::Before { by } else { 0 }, low_bits(u32::from(width) * 8));
                let it = match is_load {
                    true => it.writes(reg(rt), ALL, Out::Nth(0)).writes(reg(rt2), ALL, Out::Nth(1)),
                    false => it.reads(reg(rt), bits, Role::Data).reads(reg(rt2), bits, Role::Data),
                };
                let it = match is_load {
                    true => it.loads(reg_sp(rn), at, width).loads(
                        reg_sp(rn),
                        at + i64::from(width),
                        width,
                    ),
                    false => it.stores(reg_sp(rn), at, width).stores(
                        reg_sp(rn),
                        at + i64::from(width),
                        width,
                    ),
                };
                Ok(updates_base(it, rn, mode, by))
            }
            _ => self.refuse("the access is reserved or of a later version"),
        }
    }

    /// Ordered in a region only.
    pub(super) fn ordered_in_region(&self) -> Result<Instruction, Undecodable> {
        let (size, is_load) = (self.field(31, 30), self.bit(22));
        if self.rm() != 31 || self.field(14, 10) != 31 {
            return self.refuse("fields that must be ones are not");
        }
        let mnemonic = format!(
            "{}{}",
            if is_load { "ldlar" } else { "stllr" },
            ["b", "h", "", ""][size as usize]
        );
        let moved = MovedBytes {
            mnemonic,
            is_store: !is_load,
            is_signed: false,
            is_64: size == 3,
            width: 1 << size,
        };
        Ok(self.ordered(&moved, 0, Mode::Offset))
    }

    fn ordered(&self, moved: &MovedBytes, disp: i64, mode: Mode) -> Instruction {
        let (rt, rn) = (self.rd(), self.rn());
        let address = if disp == 0 {
            format!("[{}]", name_sp(rn, true))
        } else {
            address_text(rn, disp, mode)
        };
        let class = if moved.is_store { Class::Store } else { Class::Load };
        let it =
            self.plain(class, format!("{} {}, {address}", moved.mnemonic, name(rt, moved.is_64)));
        let it = it.reads(reg_sp(rn), ALL, Role::Base);
        let at = if mode == Mode::After { 0 } else { disp };
        match moved.is_store {
            true => it.reads(reg(rt), low_bits(u32::from(moved.width) * 8), Role::Data).stores(
                reg_sp(rn),
                at,
                moved.width,
            ),
            false => {
                let it = it.writes(reg(rt), ALL, Out::Result).loads(reg_sp(rn), at, moved.width);
                it.computes(self.loaded(rt, moved.is_64, moved.is_signed))
            }
        }
    }
}
