//! What VFPv3 to VFPv5 have besides version 2: fused products, constants, fixed point, halves,
//! rounding, choices.
//!
//! Source: Arm Architecture Reference Manuals, DDI 0406C, A7.5, and DDI 0553, C2.4.

use super::float as version_2;
use super::float_register::{Float, constant_text, read, write};
use super::word::{FIXED, INSIDE, UNDEFINED, Word};
use super::{FPSCR, N, V, Z};
use crate::decode::code::{Class, Out, Role};

/// A word of coprocessor 10 or 11 with a condition.
pub fn float(word: &mut Word) -> Result<(), &'static str> {
    let is_double = word.bit(8);
    if word.field(24, 4) != 14 || word.bit(4) {
        return version_2::float(word);
    }
    match (word.bit(23), word.field(20, 2), word.bit(6)) {
        (true, 1 | 2, _) => fused(word, is_double),
        (true, 3, false) => constant(word, is_double),
        (true, 3, true) => extension(word, is_double),
        _ => version_2::float(word),
    }
}

fn kind(is_double: bool) -> &'static str {
    if is_double { ".f64" } else { ".f32" }
}

fn three(word: &Word, is_double: bool) -> [Float; 3] {
    [
        Float::at(word, 12, 22, is_double),
        Float::at(word, 16, 7, is_double),
        Float::at(word, 0, 5, is_double),
    ]
}

fn fused(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let [d, n, m] = three(word, is_double);
    let mnemonic = match (word.field(20, 2), word.bit(6)) {
        (2, false) => "vfma",
        (2, true) => "vfms",
        (_, false) => "vfnms",
        (_, true) => "vfnma",
    };
    word.set_class(Class::Float);
    read(word, n, Role::Source);
    read(word, m, Role::Source);
    read(word, d, Role::Addend);
    word.read(FPSCR, Role::Source);
    write(word, d, Out::Result);
    word.typed_text(
        mnemonic,
        kind(is_double),
        &format!("{}, {}, {}", d.text(), n.text(), m.text()),
    );
    Ok(())
}

fn constant(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    if word.bit(7) || word.bit(5) {
        return Err(FIXED);
    }
    let d = Float::at(word, 12, 22, is_double);
    let byte = word.field(16, 4) << 4 | word.field(0, 4);
    word.set_class(Class::Float);
    write(word, d, Out::Result);
    word.typed_text("vmov", kind(is_double), &format!("{}, #{}", d.text(), constant_text(byte)));
    Ok(())
}

fn extension(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let (op, is_top) = (word.field(16, 4), word.bit(7));
    let own = kind(is_double);
    let (mnemonic, types) = match (op, is_top) {
        (2, top) => (if top { "vcvtt" } else { "vcvtb" }, format!("{own}.f16")),
        (3, top) => (if top { "vcvtt" } else { "vcvtb" }, format!(".f16{own}")),
        (6, false) => ("vrintr", own.to_owned()),
        (6, true) => ("vrintz", own.to_owned()),
        (7, false) => ("vrintx", own.to_owned()),
        (10 | 11 | 14 | 15, _) => return fixed_point(word, is_double),
        _ => return version_2::float(word),
    };
    // A half is half of a single register.
    let d = Float::at(word, 12, 22, is_double && op != 3);
    let m = Float::at(word, 0, 5, is_double && op != 2);
    word.set_class(Class::Float);
    read(word, m, Role::Source);
    word.read(FPSCR, Role::Source);
    // Only half of the register changes.
    if op == 3 {
        read(word, d, Role::Addend);
    }
    write(word, d, Out::Result);
    word.typed_text(mnemonic, &types, &format!("{}, {}", d.text(), m.text()));
    Ok(())
}

fn fixed_point(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let (is_to_fixed, is_unsigned, is_word) = (word.bit(18), word.bit(16), word.bit(7));
    let size = if is_word { 32 } else { 16 };
    let cut = word.field(0, 4) << 1 | word.field(5, 1);
    if cut > size {
        return Err("unpredictable: more bits behind the point than there are");
    }
    let d = Float::at(word, 12, 22, is_double);
    let fixed = format!(".{}{size}", if is_unsigned { "u" } else { "s" });
    let own = kind(is_double);
    word.set_class(Class::Float);
    read(word, d, Role::Source);
    word.read(FPSCR, Role::Source);
    write(word, d, Out::Result);
    let types = if is_to_fixed { format!("{fixed}{own}") } else { format!("{own}{fixed}") };
    word.typed_text("vcvt", &types, &format!("{0}, {0}, #{1}", d.text(), size - cut));
    Ok(())
}

/// Version 5: what has no condition.
pub fn unconditional(word: &mut Word) -> Result<(), &'static str> {
    if word.field(24, 4) != 14 || word.bit(4) {
        return Err("from a later architecture: vectors, NEON or MVE");
    }
    // They must not stand in a block, where the text would have a condition.
    if !word.condition().is_empty() {
        return Err(INSIDE);
    }
    let is_double = word.bit(8);
    word.set_class(Class::Float);
    let types = kind(is_double);
    if !word.bit(23) {
        if word.bit(6) {
            return Err(UNDEFINED);
        }
        let [d, n, m] = three(word, is_double);
        let (mnemonic, flags): (_, &[_]) = [
            ("vseleq", &[Z][..]),
            ("vselvs", &[V][..]),
            ("vselge", &[N, V][..]),
            ("vselgt", &[Z, N, V][..]),
        ][word.field(20, 2) as usize];
        read(word, n, Role::Source);
        read(word, m, Role::Source);
        for &flag in flags {
            word.read_flag(flag);
        }
        write(word, d, Out::Result);
        word.typed_text(mnemonic, types, &format!("{}, {}, {}", d.text(), n.text(), m.text()));
        return Ok(());
    }
    let op = word.field(16, 4);
    match (word.field(20, 2), word.bit(6)) {
        (0, _) => {
            let [d, n, m] = three(word, is_double);
            read(word, n, Role::Source);
            read(word, m, Role::Source);
            word.read(FPSCR, Role::Source);
            write(word, d, Out::Result);
            let mnemonic = if word.bit(6) { "vminnm" } else { "vmaxnm" };
            word.typed_text(mnemonic, types, &format!("{}, {}, {}", d.text(), n.text(), m.text()));
        }
        (3, true) if op >= 8 => {
            let is_conversion = op >= 12;
            if !is_conversion && word.bit(7) {
                return Err(UNDEFINED);
            }
            let d = Float::at(word, 12, 22, is_double && !is_conversion);
            let m = Float::at(word, 0, 5, is_double);
            read(word, m, Role::Source);
            word.read(FPSCR, Role::Source);
            write(word, d, Out::Result);
            let way = ["a", "n", "p", "m"][(op & 3) as usize];
            let to = if word.bit(7) { ".s32" } else { ".u32" };
            let (mnemonic, types) = if is_conversion {
                (format!("vcvt{way}"), format!("{to}{types}"))
            } else {
                (format!("vrint{way}"), types.to_owned())
            };
            word.typed_text(&mnemonic, &types, &format!("{}, {}", d.text(), m.text()));
        }
        _ => return Err(UNDEFINED),
    }
    Ok(())
}
