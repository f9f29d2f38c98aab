//! Scalable vectors: what copies memory with them: whole vectors loaded and stored under a
//! predicate, loops over them, their length.
//!
//! Source: DDI 0487, C4.1.40. Other operations on scalable vectors are refused. A scalable register
//! is the vector register of its number, of which [`ALL`] bits stand for all that it has.

use super::{A64Word, ALL, P0, low_bits, name, name_sp, reg, reg_sp, vector_reg, writes_flags};
use crate::decode::code::{Access, Class, IndexForm, Instruction, Out, Reg, Role, Undecodable};

const REFUSED: &str = "most of scalable vectors is not decoded";
const LETTERS: [char; 4] = ['b', 'h', 's', 'd'];
/// Elements in memory and in the register, and whether they are signed, by `dtype`.
const LOADS: [(&str, usize); 16] = [
    ("ld1b", 0),
    ("ld1b", 1),
    ("ld1b", 2),
    ("ld1b", 3),
    ("ld1sw", 3),
    ("ld1h", 1),
    ("ld1h", 2),
    ("ld1h", 3),
    ("ld1sh", 3),
    ("ld1sh", 2),
    ("ld1w", 2),
    ("ld1w", 3),
    ("ld1sb", 3),
    ("ld1sb", 2),
    ("ld1sb", 1),
    ("ld1d", 3),
];

fn predicate(n: u32) -> Option<Reg> {
    Some(Reg((P0 + n) as u8))
}

/// The name of a number of elements; none if it is shown by number.
fn pattern(n: u32) -> String {
    match n {
        0 => "pow2".to_owned(),
        1..=8 => format!("vl{n}"),
        9..=13 => format!("vl{}", 16 << (n - 9)),
        29 => "mul4".to_owned(),
        30 => "mul3".to_owned(),
        31 => "all".to_owned(),
        _ => format!("#{n}"),
    }
}

impl A64Word {
    pub(super) fn scalable_group(&self) -> Result<Instruction, Undecodable> {
        let word = self.word;
        match () {
            () if word & 0xfe10_e000 == 0xa400_a000 => self.scalable_access(false, true),
            () if word & 0xfe00_e000 == 0xa400_4000 => self.scalable_access(false, false),
            () if word & 0xfe10_e000 == 0xe400_e000 => self.scalable_access(true, true),
            () if word & 0xfe00_e000 == 0xe400_4000 => self.scalable_access(true, false),
            () if word & 0xff20_e400 == 0x2520_0400 => Ok(self.predicate_while()),
            () if word & 0xff3e_fc10 == 0x2518_e000 => Ok(self.predicate_of_pattern()),
            () if word & 0xff30_f800 == 0x0430_e000 || word & 0xff30_fc00 == 0x0420_e000 => {
                Ok(self.count_elements())
            }
            () if word & 0xff3f_fc00 == 0x0520_3800 => Ok(self.copies_of_register()),
            () if word & 0xffa0_f800 == 0x0420_5000 => Ok(self.sum_with_length()),
            () if word & 0xffff_f800 == 0x04bf_5000 => Ok(self.length_of_vector()),
            () => self.refuse(REFUSED),
        }
    }

    /// `ld1` and `st1` of one register, under a predicate.
    fn scalable_access(
        &self,
        is_store: bool,
        is_immediate: bool,
    ) -> Result<Instruction, Undecodable> {
        let (rt, rn, rm, pg) = (self.rd(), self.rn(), self.rm(), self.field(12, 10));
        let (mnemonic, size) = if is_store {
            let (memory, element) = (self.field(24, 23) as usize, self.field(22, 21) as usize);
            if element < memory {
                return self.refuse(REFUSED);
            }
            (["st1b", "st1h", "st1w", "st1d"][memory], element)
        } else {
            LOADS[self.field(24, 21) as usize]
        };
        let shift = ["b", "h", "w", "d"]
            .iter()
            .position(|word| mnemonic.ends_with(word))
            .unwrap_or_default();
        if !is_immediate && rm == 31 {
            return self.refuse(REFUSED);
        }
        let base = name_sp(rn, true);
        let address = match (is_immediate, self.signed(19, 16), shift) {
            (true, 0, _) => format!("[{base}]"),
            (true, by, _) => format!("[{base}, #{by}, mul vl]"),
            (false, _, 0) => format!("[{base}, {}]", name(rm, true)),
            (false, ..) => format!("[{base}, {}, lsl #{shift}]", name(rm, true)),
        };
        let zeroing = if is_store { "" } else { "/z" };
        let text = format!("{mnemonic} {{ z{rt}.{} }}, p{pg}{zeroing}, {address}", LETTERS[size]);
        let class = if is_store { Class::FloatStore } else { Class::FloatLoad };
        let mut it = self.plain(class, text).reads(reg_sp(rn), ALL, Role::Base).reads(
            predicate(pg),
            ALL,
            Role::Condition,
        );
        it.is_quad = true;
        if !is_immediate {
            it = it.reads(reg(rm), ALL >> shift, Role::Index);
        }
        it = if is_store {
            it.reads(vector_reg(rt), ALL, Role::Data)
        } else {
            it.writes(vector_reg(rt), ALL, Out::Result)
        };
        // How far the register reaches, the core decides: somewhere around the base, at most 256
        // bytes on.
        let index = Some((Reg(rn as u8), 0));
        Ok(it.accesses(Access {
            is_store,
            base: None,
            index,
            index_form: IndexForm::Other,
            disp: 0,
            width: 255,
        }))
    }

    /// As many elements as a loop has left.
    fn predicate_while(&self) -> Instruction {
        let (rn, rm, size, is_64) =
            (self.rn(), self.rm(), self.field(23, 22) as usize, self.bit(12));
        let mnemonic = match (self.bit(11), self.bit(4)) {
            (false, false) => "whilelt",
            (false, true) => "whilele",
            (true, false) => "whilelo",
            (true, true) => "whilels",
        };
        let pd = self.field(3, 0);
        let text =
            format!("{mnemonic} p{pd}.{}, {}, {}", LETTERS[size], name(rn, is_64), name(rm, is_64));
        let bits = low_bits(if is_64 { 64 } else { 32 });
        let it = self.plain(Class::Float, text).reads(reg(rn), bits, Role::Source).reads(
            reg(rm),
            bits,
            Role::Source,
        );
        writes_flags(it.writes(predicate(pd), ALL, Out::Result))
    }

    fn predicate_of_pattern(&self) -> Instruction {
        let (pd, size, which, is_flags) =
            (self.field(3, 0), self.field(23, 22) as usize, self.field(9, 5), self.bit(16));
        let shown = if which == 31 { String::new() } else { format!(", {}", pattern(which)) };
        let text =
            format!("ptrue{} p{pd}.{}{shown}", if is_flags { "s" } else { "" }, LETTERS[size]);
        let it = self.plain(Class::Float, text).writes(predicate(pd), ALL, Out::Result);
        if is_flags { writes_flags(it) } else { it }
    }

    /// `cntb` and its relatives, and sums with them.
    fn count_elements(&self) -> Instruction {
        let (rd, size, which, times) =
            (self.rd(), self.field(23, 22) as usize, self.field(9, 5), self.field(19, 16) + 1);
        let is_sum = self.bit(20);
        let mnemonic = match (is_sum, self.bit(10)) {
            (false, _) => "cnt",
            (true, false) => "inc",
            (true, true) => "dec",
        };
        let operands = match (which, times) {
            (31, 1) => String::new(),
            (_, 1) => format!(", {}", pattern(which)),
            _ => format!(", {}, mul #{times}", pattern(which)),
        };
        let letter = ['b', 'h', 'w', 'd'][size];
        let it = self
            .plain(Class::Alu, format!("{mnemonic}{letter} {}{operands}", name(rd, true)))
            .writes(reg(rd), ALL, Out::Result);
        if is_sum { it.reads(reg(rd), ALL, Role::Source) } else { it }
    }

    fn copies_of_register(&self) -> Instruction {
        let (rd, rn, size) = (self.rd(), self.rn(), self.field(23, 22));
        let text = format!("mov z{rd}.{}, {}", LETTERS[size as usize], name_sp(rn, size == 3));
        let it =
            self.plain(Class::FloatMove, text).reads(reg_sp(rn), low_bits(8 << size), Role::Source);
        it.writes(vector_reg(rd), ALL, Out::Result)
    }

    /// A sum with a multiple of the length of a vector or a predicate.
    fn sum_with_length(&self) -> Instruction {
        let (rd, rn, by) = (self.rd(), self.rm(), self.signed(10, 5));
        let mnemonic = if self.bit(22) { "addpl" } else { "addvl" };
        let it = self.plain(
            Class::Alu,
            format!("{mnemonic} {}, {}, #{by}", name_sp(rd, true), name_sp(rn, true)),
        );
        it.reads(reg_sp(rn), ALL, Role::Source).writes(reg_sp(rd), ALL, Out::Result)
    }

    fn length_of_vector(&self) -> Instruction {
        let (rd, by) = (self.rd(), self.signed(10, 5));
        self.plain(Class::Alu, format!("rdvl {}, #{by}", name(rd, true))).writes(
            reg(rd),
            ALL,
            Out::Result,
        )
    }
}
