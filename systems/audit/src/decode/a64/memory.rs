//! Loads and stores.

use super::vector::shape;
use super::{A64Word, ALL, EXTENSIONS, MONITOR, low_bits, name, name_sp, reg, reg_sp, vector_reg};
use crate::decode::code::{
    Access, Class, Extends, IndexForm, Instruction, Op, Operation, Out, Reg, Role, Undecodable,
    Value,
};

/// What one load or store moves.
#[derive(Clone, Copy)]
struct Transfer {
    is_store: bool,
    is_vector: bool,
    is_signed: bool,
    width: u8,
    /// The result fills 64 bits.
    is_64: bool,
}

/// How an address is formed and what becomes of the base.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Offset,
    Before,
    After,
}

impl A64Word {
    pub(super) fn memory_group(&self) -> Result<Instruction, Undecodable> {
        match (self.field(29, 28), self.bit(26), self.field(24, 23)) {
            (0, true, _) => self.vector_structures(),
            (0, false, 0 | 1) => self.exclusive(),
            (1, _, 0 | 1) => self.literal(),
            (1, false, _) if self.field(31, 30) == 3 && self.bit(21) => self.tags_in_memory(),
            (1, false, 2 | 3) if !self.bit(21) && self.field(11, 10) == 0 => {
                self.ordered_with_offset()
            }
            (1, false, 2 | 3) if !self.bit(21) && self.field(11, 10) == 2 => {
                self.ordered_and_moved()
            }
            (2, ..) => self.pair(),
            (3, _, 0 | 1) => self.single(),
            (3, ..) => self.single_unsigned(),
            _ => self.refuse("the access is reserved or of a later version"),
        }
    }

    fn exclusive(&self) -> Result<Instruction, Undecodable> {
        let (size, rt, rt2, rn, rs) =
            (self.field(31, 30), self.rd(), self.field(14, 10), self.rn(), self.rm());
        let (is_load, is_pair_or_plain, is_ordered) = (self.bit(22), self.bit(21), self.bit(15));
        let is_64 = size == 3;
        let suffix = ["b", "h", "", ""][size as usize];
        let width = 1_u8 << size;
        let base = name_sp(rn, true);
        let address = |instruction: Instruction| instruction.reads(reg_sp(rn), ALL, Role::Base);
        let bits = low_bits(u32::from(width) * 8);
        let (t, s) = (name(rt, is_64), name(rs, false));
        if self.bit(23) && is_pair_or_plain {
            // Compare and swap, of version 8.1.
            if rt2 != 31 {
                return self.refuse("fields that must be ones are not");
            }
            let order =
                ["", "l", "a", "al"][(self.field(22, 22) << 1 | self.field(15, 15)) as usize];
            let it = address(self.plain(
                Class::Atomic,
                format!("cas{order}{suffix} {}, {t}, [{base}]", name(rs, is_64)),
            ));
            let it = it.reads(reg(rs), bits, Role::Source).reads(reg(rt), bits, Role::Data).writes(
                reg(rs),
                ALL,
                Out::Result,
            );
            return Ok(it.loads(reg_sp(rn), 0, width).stores(reg_sp(rn), 0, width));
        }
        if self.bit(23) {
            // Ordered, not exclusive.
            if !is_ordered {
                return self.ordered_in_region();
            }
            if rs != 31 || rt2 != 31 {
                return self.refuse("fields that must be ones are not");
            }
            return Ok(if is_load {
                let it = address(self.plain(Class::Load, format!("ldar{suffix} {t}, [{base}]")))
                    .writes(reg(rt), ALL, Out::Result);
                it.loads(reg_sp(rn), 0, width).computes(self.loaded(rt, is_64, false))
            } else {
                let it = address(self.plain(Class::Store, format!("stlr{suffix} {t}, [{base}]")));
                it.reads(reg(rt), bits, Role::Data).stores(reg_sp(rn), 0, width)
            });
        }
        if is_pair_or_plain && size < 2 {
            return self.compare_and_swap_pair();
        }
        let order = match (is_ordered, is_load) {
            (true, true) => "a",
            (true, false) => "l",
            (false, _) => "",
        };
        let (pair, t2) = if is_pair_or_plain {
            ("p", format!(", {}", name(rt2, is_64)))
        } else {
            ("r", String::new())
        };
        if !is_pair_or_plain && rt2 != 31 || is_load && rs != 31 {
            return self.refuse("fields that must be ones are not");
        }
        if is_load {
            if is_pair_or_plain && rt == rt2 {
                return self.refuse("loading a register twice is unpredictable");
            }
            let class = if is_pair_or_plain { Class::LoadDouble } else { Class::Load };
            let it =
                address(self.plain(class, format!("ld{order}x{pair}{suffix} {t}{t2}, [{base}]")))
                    .writes(MONITOR, 1, Out::Flag);
            return Ok(if is_pair_or_plain {
                let it = it.writes(reg(rt), ALL, Out::Nth(0)).writes(reg(rt2), ALL, Out::Nth(1));
                it.loads(reg_sp(rn), 0, width).loads(reg_sp(rn), width.into(), width)
            } else {
                it.writes(reg(rt), ALL, Out::Result)
                    .loads(reg_sp(rn), 0, width)
                    .computes(self.loaded(rt, is_64, false))
            });
        }
        let clashes = rs == rt || rs == rn && rn != 31 || is_pair_or_plain && rs == rt2;
        if clashes {
            return self.refuse(
                "a status in a register that is also stored or addressed by is unpredictable",
            );
        }
        let text = format!("st{order}x{pair}{suffix} {s}, {t}{t2}, [{base}]");
        let it = address(self.plain(Class::Atomic, text)).reads(MONITOR, 1, Role::Condition).reads(
            reg(rt),
            bits,
            Role::Data,
        );
        let it = it.writes(reg(rs), ALL, Out::Result).writes(MONITOR, 1, Out::Flag).stores(
            reg_sp(rn),
            0,
            width,
        );
        Ok(if is_pair_or_plain {
            it.reads(reg(rt2), bits, Role::Data).stores(reg_sp(rn), width.into(), width)
        } else {
            it
        })
    }

    /// Of version 8.1: two registers are compared and swapped with memory.
    fn compare_and_swap_pair(&self) -> Result<Instruction, Undecodable> {
        let (rt, rt2, rn, rs, is_64) =
            (self.rd(), self.field(14, 10), self.rn(), self.rm(), self.bit(30));
        if rt2 != 31 || rs & 1 != 0 || rt & 1 != 0 {
            return self.refuse("the pair begins at an odd register");
        }
        let order = ["", "l", "a", "al"][(self.field(22, 22) << 1 | self.field(15, 15)) as usize];
        let (width, bits) = if is_64 { (8, ALL) } else { (4, low_bits(32)) };
        let names = [rs, rs + 1, rt, rt + 1].map(|found| name(found, is_64)).join(", ");
        let it = self
            .plain(Class::Atomic, format!("casp{order} {names}, [{}]", name_sp(rn, true)))
            .reads(reg_sp(rn), ALL, Role::Base);
        let it = it.reads(reg(rs), bits, Role::Source).reads(reg(rs + 1), bits, Role::Source);
        let it = it.reads(reg(rt), bits, Role::Data).reads(reg(rt + 1), bits, Role::Data);
        let it = it.writes(reg(rs), ALL, Out::Nth(0)).writes(reg(rs + 1), ALL, Out::Nth(1));
        let it = it.loads(reg_sp(rn), 0, width).loads(reg_sp(rn), width.into(), width);
        Ok(it.stores(reg_sp(rn), 0, width).stores(reg_sp(rn), width.into(), width))
    }

    /// What a load of one register computes.
    pub(super) fn loaded(&self, rt: u32, is_64: bool, is_signed: bool) -> Operation {
        let zero = Value::Const(0);
        let width = if is_64 { 64 } else { 32 };
        Operation {
            op: Op::Load { is_signed },
            width,
            extends: Extends::Zero,
            result: reg(rt),
            a: zero,
            b: zero,
        }
    }

    fn literal(&self) -> Result<Instruction, Undecodable> {
        if self.bit(24) {
            return self.refuse("the access is of a later version");
        }
        let (rt, target) = (self.rd(), self.target(self.signed(23, 5)));
        let (opc, is_vector) = (self.field(31, 30), self.bit(26));
        if is_vector {
            if opc == 3 {
                return self.refuse("the access is reserved");
            }
            let text = format!("ldr {}{rt}, {target:#x}", ["s", "d", "q"][opc as usize]);
            let mut it =
                self.plain(Class::FloatLoad, text).writes(vector_reg(rt), ALL, Out::Result);
            it.is_quad = opc == 2;
            return Ok(it.loads(None, target as i64, 4 << opc));
        }
        if opc == 3 {
            return Ok(self.plain(Class::System, format!("prfm {}, {target:#x}", prefetch(rt))));
        }
        let (mnemonic, is_64, width, is_signed) =
            [("ldr", false, 4, false), ("ldr", true, 8, false), ("ldrsw", true, 4, true)]
                [opc as usize];
        let it = self
            .plain(Class::Load, format!("{mnemonic} {}, {target:#x}", name(rt, is_64)))
            .writes(reg(rt), ALL, Out::Result);
        Ok(it.loads(None, target as i64, width).computes(self.loaded(rt, is_64, is_signed)))
    }

    fn pair(&self) -> Result<Instruction, Undecodable> {
        let (rt, rt2, rn) = (self.rd(), self.field(14, 10), self.rn());
        let (opc, is_vector, is_load) = (self.field(31, 30), self.bit(26), self.bit(22));
        let (mode, is_hint) = match self.field(24, 23) {
            0 => (Mode::Offset, true),
            1 => (Mode::After, false),
            2 => (Mode::Offset, false),
            _ => (Mode::Before, false),
        };
        let (is_64, width, is_signed) = match (opc, is_vector) {
            (3, _) => return self.refuse("the pair is reserved"),
            (_, true) => (true, 4_u8 << opc, false),
            (0, false) => (false, 4, false),
            (1, false) if is_load && !is_hint => (true, 4, true),
            (1, false) if !is_load && !is_hint => return Ok(self.tagged_pair(mode)),
            (1, false) => return self.refuse("the pair is reserved or of a later version"),
            (_, false) => (true, 8, false),
        };
        if is_load && rt == rt2 {
            return self.refuse("loading a register twice is unpredictable");
        }
        if mode != Mode::Offset && !is_vector && rn != 31 && (rn == rt || rn == rt2) {
            return self.refuse("an updated base that is also moved is unpredictable");
        }
        let disp = self.signed(21, 15) * i64::from(width);
        let n = |rt: u32| {
            if is_vector {
                format!("{}{rt}", ["s", "d", "q"][opc as usize])
            } else {
                name(rt, is_64)
            }
        };
        let mnemonic = format!(
            "{}{}{}",
            if is_load { "ld" } else { "st" },
            if is_hint { "np" } else { "p" },
            if is_signed { "sw" } else { "" }
        );
        let text = format!("{mnemonic} {}, {}, {}", n(rt), n(rt2), address_text(rn, disp, mode));
        let class = match (is_vector, is_load) {
            (true, true) => Class::FloatLoad,
            (true, false) => Class::FloatStore,
            (false, true) => Class::LoadDouble,
            (false, false) => Class::StoreDouble,
        };
        let mut it = self.plain(class, text).reads(reg_sp(rn), ALL, Role::Base);
        it.is_quad = is_vector && width > 4;
        let register = |n: u32| if is_vector { vector_reg(n) } else { reg(n) };
        let bits = if is_vector { ALL } else { low_bits(u32::from(width) * 8) };
        let it = match is_load {
            true => {
                it.writes(register(rt), ALL, Out::Nth(0)).writes(register(rt2), ALL, Out::Nth(1))
            }
            false => {
                it.reads(register(rt), bits, Role::Data).reads(register(rt2), bits, Role::Data)
            }
        };
        let at = if mode == Mode::After { 0 } else { disp };
        let access = |disp| Access {
            is_store: !is_load,
            base: reg_sp(rn),
            index: None,
            index_form: IndexForm::Whole,
            disp,
            width,
        };
        Ok(updates_base(
            it.accesses(access(at)).accesses(access(at + i64::from(width))),
            rn,
            mode,
            disp,
        ))
    }

    /// Two registers stored, and the tag of the address for their memory.
    fn tagged_pair(&self, mode: Mode) -> Instruction {
        let (rt, rt2, rn) = (self.rd(), self.field(14, 10), self.rn());
        let disp = self.signed(21, 15) * 16;
        let text = format!(
            "stgp {}, {}, {}",
            name(rt, true),
            name(rt2, true),
            address_text(rn, disp, mode)
        );
        let it = self.plain(Class::StoreDouble, text).reads(reg_sp(rn), ALL, Role::Base);
        let it = it.reads(reg(rt), ALL, Role::Data).reads(reg(rt2), ALL, Role::Data);
        let at = if mode == Mode::After { 0 } else { disp };
        updates_base(it.stores(reg_sp(rn), at, 8).stores(reg_sp(rn), at + 8, 8), rn, mode, disp)
    }

    /// What size and operation of a single load or store say; `None` for a prefetch.
    fn transfer(&self) -> Result<Option<Transfer>, Undecodable> {
        let (size, opc, is_vector) = (self.field(31, 30), self.field(23, 22), self.bit(26));
        let width = 1_u8 << size;
        if is_vector {
            let width = match (opc & 2, size) {
                (0, _) => width,
                (_, 0) => 16,
                _ => return self.refuse("the access is reserved"),
            };
            return Ok(Some(Transfer {
                is_store: opc & 1 == 0,
                is_vector,
                is_signed: false,
                width,
                is_64: true,
            }));
        }
        match (size, opc) {
            (_, 0) => Ok(Some(Transfer {
                is_store: true,
                is_vector,
                is_signed: false,
                width,
                is_64: size == 3,
            })),
            (_, 1) => Ok(Some(Transfer {
                is_store: false,
                is_vector,
                is_signed: false,
                width,
                is_64: size == 3,
            })),
            (3, 2) => Ok(None),
            (0..=2, 2) => Ok(Some(Transfer {
                is_store: false,
                is_vector,
                is_signed: true,
                width,
                is_64: true,
            })),
            (0 | 1, _) => Ok(Some(Transfer {
                is_store: false,
                is_vector,
                is_signed: true,
                width,
                is_64: false,
            })),
            _ => self.refuse("the access is reserved"),
        }
    }

    fn single(&self) -> Result<Instruction, Undecodable> {
        match (self.bit(21), self.field(11, 10)) {
            (false, 0) => self.with_offset("ur", self.signed(20, 12), Mode::Offset),
            (false, 1) => self.with_offset("r", self.signed(20, 12), Mode::After),
            (false, 2) if self.bit(26) => self.refuse("the access is reserved"),
            (false, 2) => self.with_offset("tr", self.signed(20, 12), Mode::Offset),
            (false, _) => self.with_offset("r", self.signed(20, 12), Mode::Before),
            (true, 2) => self.with_index(),
            (true, 0) if !self.bit(26) && self.field(23, 22) == 2 && self.field(15, 12) == 12 => {
                self.acquire()
            }
            (true, 0) if !self.bit(26) => self.atomic(),
            (true, 1 | 3) => self.authenticated_load(),
            (true, _) => self.refuse("the access is of a later version"),
        }
    }

    fn single_unsigned(&self) -> Result<Instruction, Undecodable> {
        let width = self.transfer()?.map_or(8, |transfer| transfer.width);
        self.with_offset("r", i64::from(self.field(21, 10)) * i64::from(width), Mode::Offset)
    }

    fn transfer_text(&self, it: &Transfer, infix: &str) -> String {
        let rt = self.rd();
        if it.is_vector {
            let letter = ["b", "h", "s", "d", "q"][it.width.trailing_zeros() as usize];
            return format!("{}{infix} {letter}{rt}", if it.is_store { "st" } else { "ld" });
        }
        let infix_signed = if it.is_signed { "s" } else { "" };
        let letter = match it.width {
            1 => "b",
            2 => "h",
            4 if it.is_signed => "w",
            _ => "",
        };
        format!(
            "{}{infix}{infix_signed}{letter} {}",
            if it.is_store { "st" } else { "ld" },
            name(rt, it.is_64)
        )
    }

    fn with_offset(&self, infix: &str, disp: i64, mode: Mode) -> Result<Instruction, Undecodable> {
        let (rt, rn) = (self.rd(), self.rn());
        let Some(transfer) = self.transfer()? else {
            let mnemonic = match (infix, mode) {
                ("r", Mode::Offset) => "prfm",
                ("ur", _) => "prfum",
                _ => return self.refuse("the prefetch is reserved"),
            };
            let text = format!("{mnemonic} {}, {}", prefetch(rt), address_text(rn, disp, mode));
            return Ok(self.plain(Class::System, text).reads(reg_sp(rn), ALL, Role::Base));
        };
        if mode != Mode::Offset && !transfer.is_vector && rn != 31 && rn == rt {
            return self.refuse("an updated base that is also moved is unpredictable");
        }
        let text =
            format!("{}, {}", self.transfer_text(&transfer, infix), address_text(rn, disp, mode));
        let (by, disp) = (disp, if mode == Mode::After { 0 } else { disp });
        let access = Access {
            is_store: transfer.is_store,
            base: reg_sp(rn),
            index: None,
            index_form: IndexForm::Whole,
            disp,
            width: transfer.width,
        };
        let it = self.plain(transfer_class(&transfer), text).reads(reg_sp(rn), ALL, Role::Base);
        Ok(updates_base(self.moves(it, &transfer).accesses(access), rn, mode, by))
    }

    fn with_index(&self) -> Result<Instruction, Undecodable> {
        let (rt, rn, rm, option) = (self.rd(), self.rn(), self.rm(), self.field(15, 13));
        if option & 2 == 0 {
            return self.refuse("the index is reserved");
        }
        let transfer = self.transfer()?;
        let width = transfer.map_or(8, |transfer| transfer.width);
        let amount = if self.bit(12) { width.trailing_zeros() } else { 0 };
        let shift = match (option, self.bit(12)) {
            (3, false) => String::new(),
            (3, true) => format!(", lsl #{amount}"),
            (_, false) => format!(", {}", EXTENSIONS[option as usize]),
            (_, true) => format!(", {} #{amount}", EXTENSIONS[option as usize]),
        };
        let address = format!("[{}, {}{shift}]", name_sp(rn, true), name(rm, option & 1 != 0));
        // What is shifted out of the address does not matter.
        let bits = if option & 1 != 0 { ALL >> amount } else { low_bits(32) };
        let reads = |instruction: Instruction| {
            instruction.reads(reg_sp(rn), ALL, Role::Base).reads(reg(rm), bits, Role::Index)
        };
        let Some(transfer) = transfer else {
            return Ok(reads(
                self.plain(Class::System, format!("prfm {}, {address}", prefetch(rt))),
            ));
        };
        let index_form = match option {
            2 => IndexForm::Word,
            6 => IndexForm::SignedWord,
            _ => IndexForm::Whole,
        };
        let index = reg(rm).map(|reg| (reg, amount as u8));
        let index_form = if index.is_some() { index_form } else { IndexForm::Whole };
        let access = Access {
            is_store: transfer.is_store,
            base: reg_sp(rn),
            index,
            index_form,
            disp: 0,
            width: transfer.width,
        };
        let text = format!("{}, {address}", self.transfer_text(&transfer, "r"));
        // With an index an address takes some cores longer.
        let class = match transfer_class(&transfer) {
            Class::Load => Class::LoadSlow,
            Class::Store => Class::StoreSlow,
            class => class,
        };
        let it = reads(self.plain(class, text));
        Ok(self.moves(it, &transfer).accesses(access))
    }

    /// `it`, reading or writing the register that is moved.
    fn moves(&self, mut it: Instruction, transfer: &Transfer) -> Instruction {
        let rt = self.rd();
        it.is_quad = transfer.is_vector && transfer.width == 16;
        let register = if transfer.is_vector { vector_reg(rt) } else { reg(rt) };
        let bits = if transfer.is_vector { ALL } else { low_bits(u32::from(transfer.width) * 8) };
        if transfer.is_store {
            return it.reads(register, bits, Role::Data);
        }
        let it = it.writes(register, ALL, Out::Result);
        if transfer.is_vector {
            it
        } else {
            it.computes(self.loaded(rt, transfer.is_64, transfer.is_signed))
        }
    }

    /// Memory is changed by an operation, and its former value is loaded. Of version 8.1.
    fn atomic(&self) -> Result<Instruction, Undecodable> {
        let (size, rt, rn, rs) = (self.field(31, 30), self.rd(), self.rn(), self.rm());
        let is_64 = size == 3;
        let suffix = ["b", "h", "", ""][size as usize];
        let order = ["", "l", "a", "al"][self.field(23, 22) as usize];
        let width = 1_u8 << size;
        let mnemonic = match (self.bit(15), self.field(14, 12)) {
            (false, it) => {
                ["add", "clr", "eor", "set", "smax", "smin", "umax", "umin"][it as usize]
            }
            (true, 0) => "",
            _ => return self.refuse("the access is of a later version"),
        };
        let (s, t, base) = (name(rs, is_64), name(rt, is_64), name_sp(rn, true));
        let text = match mnemonic {
            "" => format!("swp{order}{suffix} {s}, {t}, [{base}]"),
            _ if rt == 31 && !self.bit(23) => format!("st{mnemonic}{order}{suffix} {s}, [{base}]"),
            _ => format!("ld{mnemonic}{order}{suffix} {s}, {t}, [{base}]"),
        };
        let it = self.plain(Class::Atomic, text).reads(reg_sp(rn), ALL, Role::Base);
        let it = it.reads(reg(rs), low_bits(u32::from(width) * 8), Role::Data).writes(
            reg(rt),
            ALL,
            Out::Result,
        );
        Ok(it.loads(reg_sp(rn), 0, width).stores(reg_sp(rn), 0, width))
    }

    /// Loads and stores of whole structures, and of single lanes of them.
    fn vector_structures(&self) -> Result<Instruction, Undecodable> {
        let (rt, rn, rm) = (self.rd(), self.rn(), self.rm());
        let (is_load, is_updated, is_single) = (self.bit(22), self.bit(23), self.bit(24));
        if self.bit(31) || !is_updated && rm != 0 || !is_single && self.bit(21) {
            return self.refuse("the structure is reserved");
        }
        let (n_registers, n_bytes, mnemonic, shape, lane) = if is_single {
            let n = 1 + (self.field(13, 13) << 1 | self.field(21, 21));
            let scale = self.field(15, 14);
            let size = self.field(11, 10);
            let lane = match scale {
                0 => 0,
                1 if size & 1 == 0 => 1,
                2 if size & 3 == 0 => 2,
                2 if size & 3 == 1 && !self.bit(12) => 3,
                3 if is_load && !self.bit(12) => size,
                _ => return self.refuse("the lane is reserved"),
            };
            let mnemonic = format!("{}{n}", if is_load { "ld" } else { "st" });
            let index = (self.field(30, 30) << 3 | self.field(12, 12) << 2 | size) >> lane;
            if scale == 3 {
                (
                    n,
                    n << lane,
                    format!("{mnemonic}r"),
                    shape(lane, self.bit(30)).to_owned(),
                    String::new(),
                )
            } else {
                (
                    n,
                    n << lane,
                    mnemonic,
                    ["b", "h", "s", "d"][lane as usize].to_owned(),
                    format!("[{index}]"),
                )
            }
        } else {
            let (n, is_interleaved) = match self.field(15, 12) {
                0 => (4, true),
                2 => (4, false),
                4 => (3, true),
                6 => (3, false),
                7 => (1, false),
                8 => (2, true),
                10 => (2, false),
                _ => return self.refuse("the structure is reserved"),
            };
            if is_interleaved && self.field(11, 10) == 3 && !self.bit(30) {
                return self.refuse("the structure is reserved");
            }
            let mnemonic = format!(
                "{}{}",
                if is_load { "ld" } else { "st" },
                if is_interleaved { n } else { 1 }
            );
            let shape = shape(self.field(11, 10), self.bit(30)).to_owned();
            (n, n * if self.bit(30) { 16 } else { 8 }, mnemonic, shape, String::new())
        };
        let list: Vec<String> =
            (0..n_registers).map(|n| format!("v{}.{shape}", (rt + n) & 31)).collect();
        let update = match (is_updated, rm) {
            (false, _) => String::new(),
            (true, 31) => format!(", #{n_bytes}"),
            (true, _) => format!(", {}", name(rm, true)),
        };
        let text =
            format!("{mnemonic} {{ {} }}{lane}, [{}]{update}", list.join(", "), name_sp(rn, true));
        let class = if is_load { Class::FloatLoad } else { Class::FloatStore };
        let mut it = self.plain(class, text).reads(reg_sp(rn), ALL, Role::Base);
        it.is_quad = n_bytes > 8;
        if is_updated {
            // Register 31 stands for the number of bytes.
            it = it.reads(reg(rm), ALL, Role::Index).writes(reg_sp(rn), ALL, Out::BaseUpdate);
        }
        for n in 0..n_registers {
            let register = vector_reg((rt + n) & 31);
            // A lane is put into what the register held; one that goes to all lanes is not.
            it = if is_load { it.writes(register, ALL, Out::Nth(n as u8)) } else { it };
            it = if !is_load || is_single && !mnemonic.ends_with('r') {
                it.reads(register, ALL, Role::Data)
            } else {
                it
            };
        }
        let access = Access {
            is_store: !is_load,
            base: reg_sp(rn),
            index: None,
            index_form: IndexForm::Whole,
            disp: 0,
            width: n_bytes as u8,
        };
        Ok(it.accesses(access))
    }
}

fn transfer_class(it: &Transfer) -> Class {
    match (it.is_vector, it.is_store) {
        (true, true) => Class::FloatStore,
        (true, false) => Class::FloatLoad,
        (false, true) => Class::Store,
        (false, false) => Class::Load,
    }
}

pub(super) fn address_text(rn: u32, disp: i64, mode: Mode) -> String {
    let base = name_sp(rn, true);
    match (mode, disp) {
        (Mode::Offset, 0) => format!("[{base}]"),
        (Mode::Offset, _) => format!("[{base}, #{disp}]"),
        (Mode::Before, _) => format!("[{base}, #{disp}]!"),
        (Mode::After, _) => format!("[{base}], #{disp}"),
    }
}

/// Its base is written back so far from where it was, unless the mode leaves it alone.
pub(super) fn updates_base(mut it: Instruction, rn: u32, mode: Mode, by: i64) -> Instruction {
    if mode == Mode::Offset {
        return it;
    }
    it.base_moves = Some(by);
    it.writes(Some(Reg(rn as u8)), ALL, Out::BaseUpdate)
}

/// What is fetched ahead, into which cache, and for how long.
fn prefetch(n: u32) -> String {
    let kind = ["pld", "pli", "pst", ""][(n >> 3) as usize];
    let level = ["l1", "l2", "l3", ""][(n >> 1 & 3) as usize];
    if kind.is_empty() || level.is_empty() {
        return format!("#{n}");
    }
    format!("{kind}{level}{}", if n & 1 == 0 { "keep" } else { "strm" })
}
