//! Advanced SIMD (NEON): operations on registers, of ARMv7 and, of ARMv8, rounding, AES and SHA;
//! registers exactly, values not at all.
//!
//! Source: Arm Architecture Reference Manual, DDI 0406C, A7.4, and DDI 0487, F4.1. Their tables are
//! in `vector_rows.rs`. Thumb's words have the same fields.

use super::float_register::{Float, constant_text, read, write};
use super::vector_rows::ElementKind::{self, Float as F, Integer, Plain, Polynomial, Sign, Signed};
use super::vector_rows::VectorForm::{Adds, Narrow, Turned};
use super::vector_rows::{
    BY_ELEMENT, DIFFERENT, MISC, NARROWING, SAME, SAME_FLOAT, SET, SHIFTS, Shape, VectorRow, find,
};
use super::word::{INSIDE, UNDEFINED, Word, name};
use super::{D16, FPSCR, S0};
use crate::decode::code::{Class, Out, Reg, Role};

/// Why halves are refused.
const HALVES: &str = "from a later architecture: arithmetic on halves";

/// A register of two or four words.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Vector {
    /// The number of its first double register.
    number: u32,
    is_quad: bool,
}

impl Vector {
    /// The register whose four bits stand from bit `low` on, and the fifth at `other`.
    fn at(word: &Word, low: u32, other: u32, is_quad: bool) -> Result<Vector, &'static str> {
        let number = word.field(other, 1) << 4 | word.field(low, 4);
        if is_quad && number & 1 == 1 {
            Err("undefined: a pair begins at an odd register")
        } else {
            Ok(Vector { number, is_quad })
        }
    }

    fn text(self) -> String {
        if self.is_quad { format!("q{}", self.number / 2) } else { format!("d{}", self.number) }
    }

    fn doubles(self) -> impl Iterator<Item = Float> {
        (self.number..self.number + 1 + u32::from(self.is_quad)).map(Float::double)
    }
}

fn read_vector(word: &mut Word, it: Vector, role: Role) {
    it.doubles().for_each(|double| read(word, double, role));
}

fn write_vector(word: &mut Word, it: Vector) {
    it.doubles().for_each(|double| write(word, double, Out::Result));
}

/// Reads only some of its bytes, the lowest first. Of a register without single ones no part
/// is told from another.
fn read_bytes(word: &mut Word, it: Vector, role: Role, is_read: impl Fn(u32) -> bool) {
    for (nth, double) in it.doubles().enumerate() {
        for half in 0..2 {
            let bytes = (0..4).filter(|at| is_read(nth as u32 * 8 + half * 4 + at));
            let bits = bytes.fold(0, |bits, at| bits | 0xff << (8 * at));
            match double.half(half) {
                Some(reg) => word.read_bits(reg, role, bits),
                None if bits != 0 => read(word, double, role),
                None => {}
            }
        }
    }
}

/// The register that has bits `from` to `from + n` of double register `d`, and which of
/// its bits they are.
pub(super) fn part(d: u32, from: u32, n: u32) -> (Reg, u64) {
    let bits = (1_u64 << n) - 1;
    match d {
        0..16 => (Reg((S0 + 2 * d + from / 32) as u8), bits << (from % 32)),
        _ => (Reg((D16 + d - 16) as u8), 0xffff_ffff),
    }
}

/// Puts something into some bits of a double register; the others stay.
pub(super) fn write_part(word: &mut Word, d: u32, from: u32, n: u32, out: Out) {
    let (reg, bits) = part(d, from, n);
    if d >= 16 {
        word.read(reg, Role::Addend);
    }
    word.write_bits(reg, out, bits);
}

fn kind(kind: ElementKind, is_unsigned: bool, bits: u32) -> String {
    match kind {
        Sign if is_unsigned => format!(".u{bits}"),
        Sign | Signed => format!(".s{bits}"),
        Integer => format!(".i{bits}"),
        Plain => format!(".{bits}"),
        Polynomial => format!(".p{bits}"),
        F => format!(".f{bits}"),
    }
}

/// What kind of work an operation is, by its name.
fn class(name: &str, is_float: bool) -> Class {
    let starts = |them: &[&str]| them.iter().any(|word| name.starts_with(word));
    match name {
        _ if is_float && starts(&["vmul", "vml", "vfm", "vrecps", "vrsqrts"]) => Class::FloatMul,
        _ if is_float || starts(&["vrecpe", "vrsqrte", "vcvt", "vrint"]) => Class::Float,
        "vand" | "vbic" | "vorr" | "vorn" | "veor" | "vbsl" | "vbit" | "vbif" | "vmvn" => {
            Class::VectorLogic
        }
        "vadd" | "vsub" | "vneg" | "vpadd" => Class::Vector,
        _ if starts(&["vzip", "vuzp", "vtrn", "vext", "vtb", "vrev", "vdup", "vswp"]) => {
            Class::VectorPermute
        }
        _ if starts(&["vmul", "vml", "vqdmul", "vqdml", "vqrdm"]) => Class::VectorMul,
        _ if starts(&["vaba", "vpadal", "vsra", "vrsra", "vrsh", "vq", "vraddhn", "vrsubhn"]) => {
            Class::VectorLong
        }
        _ => Class::VectorShift,
    }
}

/// What every operation has: its work, and that those which round or saturate read how.
fn begin(word: &mut Word, name: &str, kind: ElementKind) {
    word.set_class(class(name, kind == F));
    let is_bits = matches!(name, "vabs" | "vneg") || name.starts_with("vmov");
    if kind == F && !is_bits || name.starts_with("vq") {
        word.read(FPSCR, Role::Source);
    }
}

/// Words that must not stand in a block of `it`.
fn alone(word: &Word) -> Result<(), &'static str> {
    if word.condition().is_empty() { Ok(()) } else { Err(INSIDE) }
}

/// An operation on registers: bits 23 to 0 as in A32, and `U` at bit 24.
pub fn vector(word: &mut Word) -> Result<(), &'static str> {
    match (word.bit(23), word.bit(4), word.field(20, 2)) {
        (false, ..) => same(word),
        (true, true, _) if word.field(19, 3) == 0 && !word.bit(7) => constant(word),
        (true, true, _) => shift(word),
        (true, false, 3) if !word.bit(24) => extract(word),
        (true, false, 3) => match word.field(10, 2) {
            0 | 1 => one_source(word),
            2 => table(word),
            _ if word.field(7, 3) == 0 => duplicate(word),
            _ => Err(UNDEFINED),
        },
        (true, false, _) if word.bit(6) => by_element(word),
        (true, false, _) => different(word),
    }
}

fn three(word: &Word, quads: [bool; 3]) -> Result<[Vector; 3], &'static str> {
    Ok([
        Vector::at(word, 12, 22, quads[0])?,
        Vector::at(word, 16, 7, quads[1])?,
        Vector::at(word, 0, 5, quads[2])?,
    ])
}

fn same(word: &mut Word) -> Result<(), &'static str> {
    let (is_unsigned, size, is_quad) = (word.bit(24), word.field(20, 2), word.bit(6));
    let code = word.field(8, 4) << 1 | word.field(4, 1);
    if code == 3 {
        return bitwise(word);
    }
    if code == 0x18 {
        return hash_three(word);
    }
    let is_float = code > 0x17;
    let (row, size) = if is_float {
        (find(SAME_FLOAT, code << 1 | size >> 1, is_unsigned)?, 2 - (size & 1))
    } else {
        (find(SAME, code, is_unsigned)?, size)
    };
    if is_float && size == 1 {
        return Err(HALVES);
    }
    if row.sizes >> size & 1 == 0 || row.form == Narrow && is_quad {
        return Err(UNDEFINED);
    }
    if row.name.ends_with("nm") {
        alone(word)?;
    }
    let [d, n, m] = three(word, [is_quad; 3])?;
    begin(word, row.name, row.kind);
    read_vector(word, n, Role::Source);
    read_vector(word, m, Role::Source);
    if row.form == Adds {
        read_vector(word, d, Role::Addend);
    }
    write_vector(word, d);
    let (first, second) = if row.form == Turned { (m, n) } else { (n, m) };
    let operands = format!("{}, {}, {}", d.text(), first.text(), second.text());
    word.typed_text(row.name, &kind(row.kind, is_unsigned, 8 << size), &operands);
    Ok(())
}

fn bitwise(word: &mut Word) -> Result<(), &'static str> {
    let [d, n, m] = three(word, [word.bit(6); 3])?;
    let nth = word.field(24, 1) << 2 | word.field(20, 2);
    let mnemonic = ["vand", "vbic", "vorr", "vorn", "veor", "vbsl", "vbit", "vbif"][nth as usize];
    word.set_class(Class::VectorLogic);
    read_vector(word, n, Role::Source);
    read_vector(word, m, Role::Source);
    if nth > 4 {
        read_vector(word, d, Role::Addend);
    }
    write_vector(word, d);
    word.text(mnemonic, &format!("{}, {}, {}", d.text(), n.text(), m.text()));
    Ok(())
}

fn different(word: &mut Word) -> Result<(), &'static str> {
    let (is_unsigned, size, code) = (word.bit(24), word.field(20, 2), word.field(8, 4));
    let all = DIFFERENT.iter();
    let fits = |row: &VectorRow| {
        row.code == code && row.is_unsigned.is_none_or(|found| found == is_unsigned)
    };
    let (shape, row) = all.clone().find(|(_, row)| fits(row)).ok_or(UNDEFINED)?;
    if row.sizes >> size & 1 == 0 {
        return Err(UNDEFINED);
    }
    let [d, n, m] = three(
        word,
        [*shape != Shape::High, matches!(shape, Shape::Wide | Shape::High), *shape == Shape::High],
    )?;
    let bits = match (shape, row.kind, size) {
        (Shape::High, ..) => 16 << size,
        // Whole polynomials came with ARMv8.
        (_, Polynomial, 2) => {
            alone(word)?;
            64
        }
        _ => 8 << size,
    };
    begin(word, row.name, row.kind);
    read_vector(word, n, Role::Source);
    read_vector(word, m, Role::Source);
    if row.form == Adds {
        read_vector(word, d, Role::Addend);
    }
    write_vector(word, d);
    word.typed_text(
        row.name,
        &kind(row.kind, is_unsigned, bits),
        &format!("{}, {}, {}", d.text(), n.text(), m.text()),
    );
    Ok(())
}

fn by_element(word: &mut Word) -> Result<(), &'static str> {
    let (is_unsigned, size, code) = (word.bit(24), word.field(20, 2), word.field(8, 4));
    let fits = |row: &VectorRow| {
        row.code == code && row.is_unsigned.is_none_or(|found| found == is_unsigned)
    };
    let (shape, row) = BY_ELEMENT.iter().find(|(_, row)| fits(row)).ok_or(UNDEFINED)?;
    if row.kind == F && size == 1 {
        return Err(HALVES);
    }
    if row.sizes >> size & 1 == 0 {
        return Err(UNDEFINED);
    }
    // Within one shape `U` says how long the registers are.
    let (is_wide, is_quad) =
        if *shape == Shape::Same { (is_unsigned, is_unsigned) } else { (true, false) };
    let d = Vector::at(word, 12, 22, is_wide)?;
    let n = Vector::at(word, 16, 7, is_quad)?;
    let (m, index) = match size {
        1 => (word.field(0, 3), word.field(5, 1) << 1 | word.field(3, 1)),
        _ => (word.field(0, 4), word.field(5, 1)),
    };
    let bits = 8 << size;
    begin(word, row.name, row.kind);
    read_vector(word, n, Role::Source);
    let (reg, part) = part(m, index * bits, bits);
    word.read_bits(reg, Role::Source, part);
    if row.form == Adds {
        read_vector(word, d, Role::Addend);
    }
    write_vector(word, d);
    word.typed_text(
        row.name,
        &kind(row.kind, is_unsigned, bits),
        &format!("{}, {}, d{m}[{index}]", d.text(), n.text()),
    );
    Ok(())
}

fn shift(word: &mut Word) -> Result<(), &'static str> {
    let (is_unsigned, is_quad, code, amount) =
        (word.bit(24), word.bit(6), word.field(8, 4), word.field(16, 6));
    let size =
        if word.bit(7) { 3 } else { amount.checked_ilog2().ok_or(UNDEFINED)?.wrapping_sub(3) };
    let bits = 8 << size;
    // To the right by what is left to twice the width, of double words to their width.
    let right = if size == 3 { 64 - amount } else { 2 * bits - amount };
    let left = if size == 3 { amount } else { amount - bits };
    if code < 8 {
        let row = find(SHIFTS, code, is_unsigned)?;
        let (d, m) = (Vector::at(word, 12, 22, is_quad)?, Vector::at(word, 0, 5, is_quad)?);
        begin(word, row.name, row.kind);
        read_vector(word, m, Role::Source);
        if row.form == Adds {
            read_vector(word, d, Role::Addend);
        }
        write_vector(word, d);
        let by = if code < 5 { right } else { left };
        word.typed_text(
            row.name,
            &kind(row.kind, is_unsigned, bits),
            &format!("{}, {}, #{by}", d.text(), m.text()),
        );
        return Ok(());
    }
    if size == 3 {
        return Err(UNDEFINED);
    }
    match code {
        8 | 9 => {
            let row = find(NARROWING, code << 1 | u32::from(is_quad), is_unsigned)?;
            let (d, m) = (Vector::at(word, 12, 22, false)?, Vector::at(word, 0, 5, true)?);
            begin(word, row.name, row.kind);
            read_vector(word, m, Role::Source);
            write_vector(word, d);
            word.typed_text(
                row.name,
                &kind(row.kind, is_unsigned, 2 * bits),
                &format!("{}, {}, #{right}", d.text(), m.text()),
            );
        }
        10 if !is_quad => {
            let (d, m) = (Vector::at(word, 12, 22, true)?, Vector::at(word, 0, 5, false)?);
            word.set_class(Class::VectorShift);
            read_vector(word, m, Role::Source);
            write_vector(word, d);
            let types = kind(Sign, is_unsigned, bits);
            match left {
                0 => word.typed_text("vmovl", &types, &format!("{}, {}", d.text(), m.text())),
                _ => word.typed_text(
                    "vshll",
                    &types,
                    &format!("{}, {}, #{left}", d.text(), m.text()),
                ),
            }
        }
        // Between numbers with a fixed point and floating ones.
        14 | 15 if amount >= 32 => {
            let (d, m) = (Vector::at(word, 12, 22, is_quad)?, Vector::at(word, 0, 5, is_quad)?);
            begin(word, "vcvt", F);
            read_vector(word, m, Role::Source);
            write_vector(word, d);
            let fixed = kind(Sign, is_unsigned, 32);
            let types = if code == 15 { format!("{fixed}.f32") } else { format!(".f32{fixed}") };
            word.typed_text("vcvt", &types, &format!("{}, {}, #{right}", d.text(), m.text()));
        }
        12..=15 if amount >= 16 => return Err(HALVES),
        _ => return Err(UNDEFINED),
    }
    Ok(())
}

fn constant(word: &mut Word) -> Result<(), &'static str> {
    let (mode, is_inverted, is_quad) = (word.field(8, 4), word.bit(5), word.bit(6));
    let byte = word.field(24, 1) << 7 | word.field(16, 3) << 4 | word.field(0, 4);
    let d = Vector::at(word, 12, 22, is_quad)?;
    let pick = |a: &'static str, b: &'static str| if is_inverted { b } else { a };
    let changes = mode < 12 && mode & 1 == 1;
    let (mnemonic, types, value) = match mode {
        0..8 => (
            pick(["vmov", "vorr"][(mode & 1) as usize], ["vmvn", "vbic"][(mode & 1) as usize]),
            ".i32",
            byte << (8 * (mode >> 1)),
        ),
        8..12 => (
            pick(["vmov", "vorr"][(mode & 1) as usize], ["vmvn", "vbic"][(mode & 1) as usize]),
            ".i16",
            byte << (8 * (mode >> 1 & 1)),
        ),
        12 => (pick("vmov", "vmvn"), ".i32", byte << 8 | 0xff),
        13 => (pick("vmov", "vmvn"), ".i32", byte << 16 | 0xffff),
        14 if !is_inverted => ("vmov", ".i8", byte),
        14 => ("vmov", ".i64", 0),
        _ if is_inverted => return Err(UNDEFINED),
        _ => ("vmov", ".f32", 0),
    };
    word.set_class(if changes { Class::VectorLogic } else { Class::VectorShift });
    if changes {
        read_vector(word, d, Role::Addend);
    }
    write_vector(word, d);
    let value = match types {
        ".i64" => {
            let bytes = (0..8)
                .filter(|idx| byte >> idx & 1 == 1)
                .fold(0_u64, |all, it| all | 0xff << (8 * it));
            format!("{bytes:#x}")
        }
        ".f32" => constant_text(byte),
        _ => format!("{value:#x}"),
    };
    word.typed_text(mnemonic, types, &format!("{}, #{value}", d.text()));
    Ok(())
}

fn extract(word: &mut Word) -> Result<(), &'static str> {
    let (is_quad, at) = (word.bit(6), word.field(8, 4));
    let n_bytes = if is_quad { 16 } else { 8 };
    if at >= n_bytes {
        return Err(UNDEFINED);
    }
    let [d, n, m] = three(word, [is_quad; 3])?;
    word.set_class(Class::VectorPermute);
    read_bytes(word, n, Role::Source, |it| it >= at);
    read_bytes(word, m, Role::Source, |it| it < at);
    write_vector(word, d);
    word.typed_text("vext", ".8", &format!("{}, {}, {}, #{at}", d.text(), n.text(), m.text()));
    Ok(())
}

fn table(word: &mut Word) -> Result<(), &'static str> {
    let [d, n, m] = three(word, [false; 3])?;
    let n_registers = 1 + word.field(8, 2);
    if n.number + n_registers > 32 {
        return Err("unpredictable: the list goes beyond the last register");
    }
    let list: Vec<Float> = (n.number..n.number + n_registers).map(Float::double).collect();
    word.set_class(Class::VectorPermute);
    list.iter().for_each(|it| read(word, *it, Role::Source));
    read_vector(word, m, Role::Source);
    if word.bit(6) {
        read_vector(word, d, Role::Addend);
    }
    write_vector(word, d);
    let list: Vec<String> = list.iter().map(|found| found.text()).collect();
    word.typed_text(
        if word.bit(6) { "vtbx" } else { "vtbl" },
        ".8",
        &format!("{}, {{{}}}, {}", d.text(), list.join(", "), m.text()),
    );
    Ok(())
}

fn duplicate(word: &mut Word) -> Result<(), &'static str> {
    let which = word.field(16, 4);
    let size = which.trailing_zeros();
    if which & 7 == 0 {
        return Err(UNDEFINED);
    }
    let (bits, index) = (8 << size, which >> (size + 1));
    let d = Vector::at(word, 12, 22, word.bit(6))?;
    let m = word.field(5, 1) << 4 | word.field(0, 4);
    let (reg, part) = part(m, index * bits, bits);
    word.set_class(Class::VectorPermute);
    word.read_bits(reg, Role::Source, part);
    write_vector(word, d);
    word.typed_text("vdup", &format!(".{bits}"), &format!("{}, d{m}[{index}]", d.text()));
    Ok(())
}

fn one_source(word: &mut Word) -> Result<(), &'static str> {
    let (code, size, is_quad) =
        (word.field(16, 2) << 4 | word.field(7, 4), word.field(18, 2), word.bit(6));
    let bits = 8 << size;
    match code {
        0x06 | 0x07 | 0x15 | 0x27 => return crypto_two(word, code, size),
        0x20..=0x23 => return exchange(word, code, size),
        0x24..=0x26 => return other_width(word, code, size),
        0x2c | 0x2e => return halves(word, code == 0x2e, size),
        0x30..=0x37 | 0x3c..=0x3f => return convert(word, code, size),
        _ => {}
    }
    // `U` is clear in none of them: those that tell signs have a bit of their own.
    let row = MISC.iter().find(|it| it.code == code).ok_or(UNDEFINED)?;
    let is_half = row.kind == F && size == 1;
    if is_half {
        return Err(HALVES);
    }
    if row.sizes >> size & 1 == 0 {
        return Err(UNDEFINED);
    }
    if row.name.starts_with("vrint") {
        alone(word)?;
    }
    let (name, zero) = row
        .name
        .split_once(' ')
        .map_or((row.name, String::new()), |(name, zero)| (name, format!(", {zero}")));
    let (d, m) = (Vector::at(word, 12, 22, is_quad)?, Vector::at(word, 0, 5, is_quad)?);
    begin(word, name, row.kind);
    read_vector(word, m, Role::Source);
    if row.form == Adds {
        read_vector(word, d, Role::Addend);
    }
    write_vector(word, d);
    let operands = format!("{}, {}{zero}", d.text(), m.text());
    if name == "vmvn" {
        word.text(name, &operands);
    } else {
        word.typed_text(name, &kind(row.kind, row.is_unsigned == SET, bits), &operands);
    }
    Ok(())
}

fn exchange(word: &mut Word, code: u32, size: u32) -> Result<(), &'static str> {
    let is_quad = word.bit(6);
    let mnemonic = ["vswp", "vtrn", "vuzp", "vzip"][(code & 3) as usize];
    let is_there = match mnemonic {
        "vswp" => size == 0,
        "vtrn" => size < 3,
        _ => size < 2 + u32::from(is_quad),
    };
    if !is_there || size == 3 {
        return Err(UNDEFINED);
    }
    let (d, m) = (Vector::at(word, 12, 22, is_quad)?, Vector::at(word, 0, 5, is_quad)?);
    if d == m {
        return Err("unpredictable: what the two registers would hold is unknown");
    }
    word.set_class(Class::VectorPermute);
    read_vector(word, d, Role::Source);
    read_vector(word, m, Role::Source);
    write_vector(word, d);
    write_vector(word, m);
    let operands = format!("{}, {}", d.text(), m.text());
    if mnemonic == "vswp" {
        word.text(mnemonic, &operands)
    } else {
        word.typed_text(mnemonic, &format!(".{}", 8 << size), &operands)
    }
    Ok(())
}

/// Narrower results, and `vshll` by the whole width.
fn other_width(word: &mut Word, code: u32, size: u32) -> Result<(), &'static str> {
    if size == 3 {
        return Err(UNDEFINED);
    }
    let is_second = word.bit(6);
    let (mnemonic, types) = match (code, is_second) {
        (0x24, false) => ("vmovn", kind(Integer, false, 16 << size)),
        (0x24, true) => ("vqmovun", kind(Signed, false, 16 << size)),
        (0x25, is_unsigned) => ("vqmovn", kind(Sign, is_unsigned, 16 << size)),
        (_, false) => ("vshll", kind(Integer, false, 8 << size)),
        _ => return Err(UNDEFINED),
    };
    let is_long = mnemonic == "vshll";
    let (d, m) = (Vector::at(word, 12, 22, is_long)?, Vector::at(word, 0, 5, !is_long)?);
    begin(word, mnemonic, Integer);
    read_vector(word, m, Role::Source);
    write_vector(word, d);
    let by = if is_long { format!(", #{}", 8 << size) } else { String::new() };
    word.typed_text(mnemonic, &types, &format!("{}, {}{by}", d.text(), m.text()));
    Ok(())
}

/// Between halves and words.
fn halves(word: &mut Word, is_to_words: bool, size: u32) -> Result<(), &'static str> {
    if size != 1 || word.bit(6) {
        return Err(UNDEFINED);
    }
    let (d, m) = (Vector::at(word, 12, 22, is_to_words)?, Vector::at(word, 0, 5, !is_to_words)?);
    begin(word, "vcvt", F);
    read_vector(word, m, Role::Source);
    write_vector(word, d);
    word.typed_text(
        "vcvt",
        if is_to_words { ".f32.f16" } else { ".f16.f32" },
        &format!("{}, {}", d.text(), m.text()),
    );
    Ok(())
}

/// Between integers and floating point.
fn convert(word: &mut Word, code: u32, size: u32) -> Result<(), &'static str> {
    if size == 1 {
        return Err(HALVES);
    }
    if size != 2 {
        return Err(UNDEFINED);
    }
    let is_quad = word.bit(6);
    let (d, m) = (Vector::at(word, 12, 22, is_quad)?, Vector::at(word, 0, 5, is_quad)?);
    let way = if code < 0x38 { ["a", "n", "p", "m"][(code >> 1 & 3) as usize] } else { "" };
    if !way.is_empty() {
        alone(word)?;
    }
    begin(word, "vcvt", F);
    read_vector(word, m, Role::Source);
    write_vector(word, d);
    let integer = kind(Sign, code & 1 == 1, 32);
    let types = if (0x3c..0x3e).contains(&code) {
        format!(".f32{integer}")
    } else {
        format!("{integer}.f32")
    };
    word.typed_text(&format!("vcvt{way}"), &types, &format!("{}, {}", d.text(), m.text()));
    Ok(())
}

/// AES and SHA with one source.
fn crypto_two(word: &mut Word, code: u32, size: u32) -> Result<(), &'static str> {
    let is_second = word.bit(6);
    // Its name, whether it adds, and the size that it has.
    let (mnemonic, types, adds, own) = match (code, is_second) {
        (0x06, false) => ("aese", ".8", true, 0),
        (0x06, true) => ("aesd", ".8", true, 0),
        (0x07, false) => ("aesmc", ".8", false, 0),
        (0x07, true) => ("aesimc", ".8", false, 0),
        (0x15, true) => ("sha1h", ".32", false, 2),
        (0x27, false) => ("sha1su1", ".32", true, 2),
        (0x27, true) => ("sha256su0", ".32", true, 2),
        _ => return Err(UNDEFINED),
    };
    if size != own {
        return Err(UNDEFINED);
    }
    alone(word)?;
    let (d, m) = (Vector::at(word, 12, 22, true)?, Vector::at(word, 0, 5, true)?);
    word.set_class(Class::VectorShift);
    // Of `sha1h` one word counts.
    read_bytes(word, m, Role::Source, |count| mnemonic != "sha1h" || count < 4);
    if adds {
        read_vector(word, d, Role::Addend);
    }
    write_vector(word, d);
    word.typed_text(mnemonic, types, &format!("{}, {}", d.text(), m.text()));
    Ok(())
}

/// SHA with three registers.
fn hash_three(word: &mut Word) -> Result<(), &'static str> {
    let mnemonic = match (word.bit(24), word.field(20, 2)) {
        (false, it) => ["sha1c", "sha1p", "sha1m", "sha1su0"][it as usize],
        (true, it @ 0..=2) => ["sha256h", "sha256h2", "sha256su1"][it as usize],
        _ => return Err(UNDEFINED),
    };
    if !word.bit(6) {
        return Err(UNDEFINED);
    }
    alone(word)?;
    let [d, n, m] = three(word, [true; 3])?;
    word.set_class(Class::VectorShift);
    let is_word = matches!(mnemonic, "sha1c" | "sha1p" | "sha1m");
    read_bytes(word, n, Role::Source, |it| !is_word || it < 4);
    read_vector(word, m, Role::Source);
    read_vector(word, d, Role::Addend);
    write_vector(word, d);
    word.typed_text(mnemonic, ".32", &format!("{}, {}, {}", d.text(), n.text(), m.text()));
    Ok(())
}

/// Moves between a core register and an element, or all of them, of coprocessor 11.
pub fn element(word: &mut Word) -> Result<(), &'static str> {
    let (is_read, op1, op2) = (word.bit(20), word.field(21, 2), word.field(5, 2));
    let rt = word.reg(12)?;
    let core = name(rt.0.into());
    let d = word.field(7, 1) << 4 | word.field(16, 4);
    word.set_class(Class::FloatMove);
    if word.bit(23) && !is_read {
        let size = match (word.bit(22), op2) {
            (false, 0) => 2,
            (false, 1) => 1,
            (true, 0) => 0,
            _ => return Err(UNDEFINED),
        };
        let to = Vector::at(word, 16, 7, op1 & 1 == 1)?;
        word.read_bits(rt, Role::Source, (1 << (8 << size)) - 1);
        write_vector(word, to);
        word.typed_text("vdup", &format!(".{}", 8 << size), &format!("{}, {core}", to.text()));
        return Ok(());
    }
    let high = op1 & 1;
    let (bits, index) = match (op1 >> 1, op2) {
        (1, _) => (8, high << 2 | op2),
        (_, 1 | 3) => (16, high << 1 | op2 >> 1),
        (_, 0) => (32, high),
        _ => return Err(UNDEFINED),
    };
    if is_read {
        if bits == 32 && word.bit(23) {
            return Err(UNDEFINED);
        }
        let (reg, part) = part(d, index * bits, bits);
        word.read_bits(reg, Role::Source, part);
        word.write(rt, Out::Result);
        let types = if bits == 32 { ".32".to_owned() } else { kind(Sign, word.bit(23), bits) };
        word.typed_text("vmov", &types, &format!("{core}, d{d}[{index}]"));
    } else {
        word.read_bits(rt, Role::Source, (1_u64 << bits) - 1);
        write_part(word, d, index * bits, bits, Out::Result);
        word.typed_text("vmov", &format!(".{bits}"), &format!("d{d}[{index}], {core}"));
    }
    Ok(())
}
