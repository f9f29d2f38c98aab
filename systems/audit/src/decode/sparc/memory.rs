//! Loads and stores.

use super::{ALL, F0, FCC, FSR, SparcWord, name, reg};
use crate::decode::code::{
    Access, Class, Extends, IndexForm, Instruction, Op, Operation, Out, Reg, Role, Undecodable,
    Value,
};

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessKind {
    Load { is_signed: bool },
    Store,
    Swap,
    CompareAndSwap,
}

impl SparcWord {
    pub(super) fn memory(&self) -> Result<Instruction, Undecodable> {
        let op3 = self.op3();
        let load = |is_signed| AccessKind::Load { is_signed };
        let is_alternate = matches!(op3, 0x10..=0x1f | 0x3c);
        let (mnemonic, kind, width) =
            match op3 & !(if (0x10..0x20).contains(&op3) { 0x10 } else { 0 }) {
                0x00 => ("ld", load(false), 4),
                0x01 => ("ldub", load(false), 1),
                0x02 => ("lduh", load(false), 2),
                0x03 => ("ldd", load(false), 8),
                0x04 => ("st", AccessKind::Store, 4),
                0x05 => ("stb", AccessKind::Store, 1),
                0x06 => ("sth", AccessKind::Store, 2),
                0x07 => ("std", AccessKind::Store, 8),
                0x09 => ("ldsb", load(true), 1),
                0x0a => ("ldsh", load(true), 2),
                0x0d => ("ldstub", AccessKind::Swap, 1),
                0x0f => ("swap", AccessKind::Swap, 4),
                0x3c => ("cas", AccessKind::CompareAndSwap, 4),
                0x20..=0x27 => return self.float_memory(),
                0x30..=0x37 => return self.refuse("there is no coprocessor"),
                _ => return self.refuse("the access is reserved"),
            };
        if is_alternate && self.is_immediate() {
            return self.refuse("an alternate space is not combined with an immediate");
        }
        if !is_alternate && !self.is_immediate() && self.word >> 5 & 0xff != 0 {
            return self.refuse("bits 12 to 5 must be 0");
        }
        if width == 8 && self.rd() & 1 != 0 {
            return self.refuse("the pair begins at an odd register");
        }
        let (suffix, space) = if is_alternate {
            ("a", format!(" {}", self.word >> 5 & 0xff))
        } else {
            ("", String::new())
        };
        // Compare and swap has its address in one register, and the operand in the other.
        let place = if kind == AccessKind::CompareAndSwap {
            name(self.rs1()).to_owned()
        } else {
            self.sum_text()
        };
        let (place, rd) = (format!("[{place}]{space}"), name(self.rd()));
        let text = match kind {
            AccessKind::Store => format!("{mnemonic}{suffix} {rd}, {place}"),
            AccessKind::CompareAndSwap => {
                format!("{mnemonic}{suffix} {place}, {}, {rd}", name(self.rs2()))
            }
            AccessKind::Load { .. } | AccessKind::Swap => {
                format!("{mnemonic}{suffix} {place}, {rd}")
            }
        };
        Ok(self.access(text, kind, width, is_alternate))
    }

    fn access(&self, text: String, kind: AccessKind, width: u8, is_alternate: bool) -> Instruction {
        let (rd, rs1) = (self.rd(), self.rs1());
        let class = match (kind, width) {
            (AccessKind::Load { .. }, 8) => Class::LoadDouble,
            (AccessKind::Load { .. }, _) => Class::Load,
            (AccessKind::Store, 8) => Class::StoreDouble,
            (AccessKind::Store, _) => Class::Store,
            (AccessKind::Swap | AccessKind::CompareAndSwap, _) => Class::Atomic,
        };
        let it = self.reads_address(self.plain(class, text), kind == AccessKind::CompareAndSwap);
        let bits = if width >= 4 { ALL } else { (1 << (u32::from(width) * 8)) - 1 };
        let place = |is_store| self.place(is_store, width, kind == AccessKind::CompareAndSwap);
        match kind {
            AccessKind::Load { .. } if width == 8 => it
                .writes(reg(rd), ALL, Out::Nth(0))
                .writes(reg(rd + 1), ALL, Out::Nth(1))
                .accesses(place(false)),
            AccessKind::Load { is_signed } => {
                let it = it.writes(reg(rd), ALL, Out::Result).accesses(place(false));
                let zero = Value::Const(0);
                let operation = Operation {
                    op: Op::Load { is_signed },
                    width: 32,
                    extends: Extends::Zero,
                    result: reg(rd),
                    a: zero,
                    b: zero,
                };
                // What another address space holds need not be memory.
                if is_alternate { it } else { it.computes(operation) }
            }
            AccessKind::Store if width == 8 => it
                .reads(reg(rd), ALL, Role::Data)
                .reads(reg(rd + 1), ALL, Role::Data)
                .accesses(place(true)),
            AccessKind::Store => it.reads(reg(rd), bits, Role::Data).accesses(place(true)),
            AccessKind::Swap => {
                // `ldstub` stores ones, whatever the register held.
                let it = if width == 4 { it.reads(reg(rd), ALL, Role::Data) } else { it };
                it.writes(reg(rd), ALL, Out::Result).accesses(place(false)).accesses(place(true))
            }
            AccessKind::CompareAndSwap => {
                let it =
                    it.reads(reg(self.rs2()), ALL, Role::Source).reads(reg(rd), ALL, Role::Data);
                let it = it.writes(reg(rd), ALL, Out::Result);
                debug_assert_eq!(reg(rs1).is_some(), rs1 != 0, "the zero register is none");
                it.accesses(place(false)).accesses(place(true))
            }
        }
    }

    /// `it`, reading the registers of the address.
    fn reads_address(&self, it: Instruction, is_base_only: bool) -> Instruction {
        let it = it.reads(reg(self.rs1()), ALL, Role::Base);
        if is_base_only { it } else { self.reads_operand(it, ALL, Role::Index) }
    }

    fn place(&self, is_store: bool, width: u8, is_base_only: bool) -> Access {
        let (base, rs2) = (
            reg(self.rs1()),
            if self.is_immediate() || is_base_only { None } else { reg(self.rs2()) },
        );
        let disp = if self.is_immediate() && !is_base_only { self.immediate() } else { 0 };
        // Without a base the index is one.
        let (base, index) = if base.is_some() { (base, rs2) } else { (rs2, None) };
        Access {
            is_store,
            base,
            index: index.map(|index| (index, 0)),
            index_form: IndexForm::Whole,
            disp,
            width,
        }
    }

    fn float_memory(&self) -> Result<Instruction, Undecodable> {
        if !self.is_immediate() && self.word >> 5 & 0xff != 0 {
            return self.refuse("bits 12 to 5 must be 0");
        }
        let rd = self.rd();
        let float = |n: u32| Some(Reg((F0 + n) as u8));
        let (is_double, is_store) = (self.op3() & 3 == 3, self.op3() & 4 != 0);
        let width = if is_double { 8 } else { 4 };
        let place = format!("[{}]", self.sum_text());
        match self.op3() & 3 {
            0 | 3 => {
                if is_double && rd & 1 != 0 {
                    return self.refuse("the pair begins at an odd register");
                }
                let text = match (is_double, is_store) {
                    (false, false) => format!("ld {place}, %f{rd}"),
                    (true, false) => format!("ldd {place}, %f{rd}"),
                    (false, true) => format!("st %f{rd}, {place}"),
                    (true, true) => format!("std %f{rd}, {place}"),
                };
                let mut it = self
                    .reads_address(self.plain(Class::Float, text), false)
                    .accesses(self.place(is_store, width, false));
                for n in rd..rd + if is_double { 2 } else { 1 } {
                    it = match (is_store, is_double) {
                        (true, _) => it.reads(float(n), ALL, Role::Data),
                        (false, true) => it.writes(float(n), ALL, Out::Nth((n - rd) as u8)),
                        (false, false) => it.writes(float(n), ALL, Out::Result),
                    };
                }
                Ok(it)
            }
            1 if rd != 0 => self.refuse("the field of the register must be 0"),
            1 => {
                let text = if is_store {
                    format!("st %fsr, {place}")
                } else {
                    format!("ld {place}, %fsr")
                };
                let it = self
                    .reads_address(self.plain(Class::Float, text), false)
                    .accesses(self.place(is_store, 4, false));
                // The version and the queue's state are read-only.
                Ok(if is_store {
                    it.reads(FSR, ALL & !0xc00, Role::Data).reads(FCC, 3, Role::Data)
                } else {
                    it.writes(FSR, ALL & !0xc00, Out::Result).writes(FCC, 3, Out::Flag)
                })
            }
            _ if is_store && rd == 0 => {
                let it = self
                    .reads_address(self.plain(Class::System, format!("std %fq, {place}")), false)
                    .reads(FSR, ALL & !0xc00, Role::Source);
                Ok(it.writes(FSR, ALL & !0xc00, Out::Result).accesses(self.place(true, 8, false)))
            }
            _ => self.refuse("the access is reserved"),
        }
    }
}
