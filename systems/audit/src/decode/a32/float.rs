//! VFPv2, coprocessors 10 and 11: registers exactly, values not at all.
//!
//! Source: Arm Architecture Reference Manual, DDI 0406C, chapter A7.5. A double register is the two
//! single ones that it is made of. Short vectors are not followed: the procedure call standard
//! keeps FPSCR's LEN at 0. Exceptions add up in FPSCR in any order, so nothing waits for them; an
//! instruction that reads FPSCR is a barrier.

use super::float_register::{Float, read, write};
use super::word::{FIXED, NO_PC, TWICE, UNDEFINED, Word, name};
use super::{C, FPFLAGS, FPSCR, N, V, Z};
use crate::decode::code::{Access, Class, IndexForm, Out, Reg, Role};

const RESERVED: &str = "undefined: the floating-point operation is reserved";

/// A word of coprocessor 10 or 11 with a condition.
pub fn float(word: &mut Word) -> Result<(), &'static str> {
    word.set_class(Class::Float);
    let is_double = word.bit(8);
    match (word.field(24, 4), word.field(21, 3)) {
        (14, _) if word.bit(4) => one_register(word, is_double),
        (14, _) => arithmetic(word, is_double),
        (12, 2) => two_registers(word, is_double),
        (12, 0) => Err(UNDEFINED),
        _ if word.bit(24) && !word.bit(21) => one_transfer(word, is_double),
        _ => transfers(word, is_double),
    }
}

fn arithmetic(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let (d, m) = (Float::at(word, 12, 22, is_double), Float::at(word, 0, 5, is_double));
    let kind = if is_double { ".f64" } else { ".f32" };
    let op = word.field(23, 1) << 3 | word.field(20, 2) << 1 | word.field(6, 1);
    if op == 15 {
        return extension(word, is_double);
    }
    let n = Float::at(word, 16, 7, is_double);
    let names = ["vmla", "vmls", "vnmls", "vnmla", "vmul", "vnmul", "vadd", "vsub", "vdiv"];
    let Some(mnemonic) = names.get(op as usize) else {
        return Err(
            "from a later architecture: fused products and constants came with VFPv3 and VFPv4",
        );
    };
    read(word, n, Role::Source);
    read(word, m, Role::Source);
    if op < 4 {
        read(word, d, Role::Addend);
    }
    word.read(FPSCR, Role::Source);
    write(word, d, Out::Result);
    word.typed_text(mnemonic, kind, &format!("{}, {}, {}", d.text(), n.text(), m.text()));
    Ok(())
}

/// The operations with one source, which the field of the other one names.
fn extension(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let own = if is_double { ".f64" } else { ".f32" };
    let (is_top, op) = (word.bit(7), word.field(16, 4));
    let d = |word: &Word, is_double| Float::at(word, 12, 22, is_double);
    let m = |word: &Word, is_double| Float::at(word, 0, 5, is_double);
    let (d, m, mnemonic, kind) = match (op, is_top) {
        (0, false) => (d(word, is_double), m(word, is_double), "vmov", own.to_owned()),
        (0, true) => (d(word, is_double), m(word, is_double), "vabs", own.to_owned()),
        (1, false) => (d(word, is_double), m(word, is_double), "vneg", own.to_owned()),
        (1, true) => (d(word, is_double), m(word, is_double), "vsqrt", own.to_owned()),
        (4 | 5, _) => return compare(word, is_double),
        (7, true) => {
            let to = if is_double { ".f32" } else { ".f64" };
            (d(word, !is_double), m(word, is_double), "vcvt", format!("{to}{own}"))
        }
        (8, _) => (
            d(word, is_double),
            m(word, false),
            "vcvt",
            format!("{own}.{}", if is_top { "s32" } else { "u32" }),
        ),
        (12 | 13, _) => {
            let to = if op == 13 { ".s32" } else { ".u32" };
            (
                d(word, false),
                m(word, is_double),
                if is_top { "vcvt" } else { "vcvtr" },
                format!("{to}{own}"),
            )
        }
        (2 | 3 | 6 | 10 | 11 | 14 | 15, _) => {
            return Err(
                "from a later architecture: halves, fixed point and ways of rounding came with VFPv3 and later",
            );
        }
        _ => return Err(RESERVED),
    };
    read(word, m, Role::Source);
    // Copies and signs look at no mode.
    if op != 0 && (op, is_top) != (1, false) {
        word.read(FPSCR, Role::Source);
    }
    write(word, d, Out::Result);
    word.typed_text(mnemonic, &kind, &format!("{}, {}", d.text(), m.text()));
    Ok(())
}

fn compare(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let is_zero = word.bit(16);
    let d = Float::at(word, 12, 22, is_double);
    read(word, d, Role::Source);
    let other = if is_zero {
        if word.field(0, 4) != 0 || word.bit(5) {
            return Err(FIXED);
        }
        "#0".to_owned()
    } else {
        let m = Float::at(word, 0, 5, is_double);
        read(word, m, Role::Source);
        m.text()
    };
    word.read(FPSCR, Role::Source);
    word.write(FPFLAGS, Out::Flag);
    let kind = if is_double { ".f64" } else { ".f32" };
    word.typed_text(
        if word.bit(7) { "vcmpe" } else { "vcmp" },
        kind,
        &format!("{}, {other}", d.text()),
    );
    Ok(())
}

/// Moves between a core register and a single one, half of a double one, or a status register.
fn one_register(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let (is_read, op) = (word.bit(20), word.field(21, 3));
    if word.field(0, 4) != 0 {
        return Err(FIXED);
    }
    // Halves of a double register are of VFP, what is smaller, and all elements at once, of NEON.
    if is_double && (op > 1 || word.field(5, 2) != 0) {
        return super::vector::element(word);
    }
    if word.field(5, 2) != 0 {
        return Err(FIXED);
    }
    if op == 7 && !is_double {
        return status(word, is_read);
    }
    let rt = word.reg(12)?;
    let core = name(rt.0.into());
    let (reg, place, kind) = match (is_double, op) {
        (false, 0) => {
            let it = Float::at(word, 16, 7, false);
            (it.words().next(), it.text(), "")
        }
        (true, 0 | 1) => {
            let it = Float::at(word, 16, 7, true);
            // Of a register without single ones the other half stays.
            if it.is_whole() && !is_read {
                read(word, it, Role::Addend);
            }
            (
                it.words().nth(op as usize).or(it.words().next()),
                format!("{}[{op}]", it.text()),
                ".32",
            )
        }
        _ => return Err(RESERVED),
    };
    let reg = reg.expect("a register has words");
    if is_read {
        word.read(reg, Role::Source);
        word.write(rt, Out::Result);
        word.typed_text("vmov", kind, &format!("{core}, {place}"));
    } else {
        word.read(rt, Role::Source);
        word.write(reg, Out::Result);
        word.typed_text("vmov", kind, &format!("{place}, {core}"));
    }
    Ok(())
}

fn status(word: &mut Word, is_read: bool) -> Result<(), &'static str> {
    if word.bit(7) {
        return Err(FIXED);
    }
    let number = word.field(16, 4);
    let system = match (number, is_read) {
        (0, _) => "fpsid",
        (1, _) => "fpscr",
        (6, true) => "mvfr1",
        (7, true) => "mvfr0",
        (8, _) => "fpexc",
        (9, _) => "fpinst",
        (10, _) => "fpinst2",
        _ => return Err(RESERVED),
    };
    if number == 1 && is_read && word.field(12, 4) == 15 {
        word.read(FPFLAGS, Role::Condition);
        word.write_flags(&[N, Z, C, V]);
        word.text("vmrs", "APSR_nzcv, fpscr");
        return Ok(());
    }
    word.set_class(Class::System);
    let rt = word.reg(12)?;
    let core = name(rt.0.into());
    word.read(FPSCR, Role::Source);
    word.read(FPFLAGS, Role::Source);
    if is_read {
        word.write(rt, Out::Result);
        word.text("vmrs", &format!("{core}, {system}"));
    } else {
        word.read(rt, Role::Source);
        word.write(FPSCR, Out::Result);
        word.write(FPFLAGS, Out::Flag);
        word.text("vmsr", &format!("{system}, {core}"));
    }
    Ok(())
}

/// Moves between two core registers and two single ones or a double one.
fn two_registers(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    if word.field(6, 2) != 0 || !word.bit(4) {
        return Err(UNDEFINED);
    }
    let (first, second) = (word.reg(12)?, word.reg(16)?);
    let m = Float::at(word, 0, 5, is_double);
    let (words, place): (Vec<Reg>, String) = if is_double {
        (m.words().chain(m.words()).take(2).collect(), m.text())
    } else {
        if m.number == 31 {
            return Err("unpredictable: there is no register behind s31");
        }
        let next = Float { number: m.number + 1, ..m };
        (m.words().chain(next.words()).collect(), format!("{}, {}", m.text(), next.text()))
    };
    let core = format!("{}, {}", name(first.0.into()), name(second.0.into()));
    let is_read = word.bit(20);
    if is_read && first == second {
        return Err(TWICE);
    }
    for (nth, (reg, single)) in [first, second].into_iter().zip(words).enumerate() {
        let (from, to) = if is_read { (single, reg) } else { (reg, single) };
        word.read(from, Role::Source);
        if is_read || nth == 0 || !m.is_whole() {
            word.write(to, Out::Result);
        }
    }
    word.text(
        "vmov",
        &if is_read { format!("{core}, {place}") } else { format!("{place}, {core}") },
    );
    Ok(())
}

fn one_transfer(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let d = Float::at(word, 12, 22, is_double);
    let (is_load, is_up) = (word.bit(20), word.bit(23));
    let by = i64::from(word.field(0, 8)) * 4 * if is_up { 1 } else { -1 };
    let base = word.reg_or_pc(16);
    if let Some(base) = base {
        word.read(base, Role::Base);
    }
    let disp = if base.is_none() { word.pc() as i64 + by } else { by };
    let width = if is_double { 8 } else { 4 };
    word.access(Access {
        is_store: !is_load,
        base,
        index: None,
        index_form: IndexForm::Whole,
        disp,
        width,
    });
    if is_load {
        write(word, d, Out::Result);
    } else {
        read(word, d, Role::Data);
    }
    let base = name(word.field(16, 4));
    let address = match (by, is_up) {
        (0, true) => format!("[{base}]"),
        (0, false) => format!("[{base}, #-0]"),
        _ => format!("[{base}, #{by}]"),
    };
    word.text(if is_load { "vldr" } else { "vstr" }, &format!("{}, {address}", d.text()));
    Ok(())
}

/// `vldm`, `vstm`, their names for the stack, and the forms of version 5 that move one word more.
fn transfers(word: &mut Word, is_double: bool) -> Result<(), &'static str> {
    let (is_down, is_load, writes_back) = (word.bit(24), word.bit(20), word.bit(21));
    if is_down == word.bit(23) {
        return Err(UNDEFINED);
    }
    let base = match word.reg_or_pc(16) {
        Some(base) => base,
        None => return Err(NO_PC),
    };
    let n_words = word.field(0, 8);
    let first = Float::at(word, 12, 22, is_double);
    let (n, width) = if is_double { (n_words / 2, 8_u8) } else { (n_words, 4) };
    if n == 0 || first.number + n > 32 || is_double && n > 16 {
        return Err("unpredictable: the list is empty or goes beyond the last register");
    }
    let is_odd = is_double && n_words & 1 == 1;
    // The form of version 5 knows no later registers.
    if is_odd && first.number + n > 16 {
        return Err("unpredictable: the list goes beyond d15");
    }
    let start = if is_down { -4 * i64::from(n_words) } else { 0 };
    word.read(base, Role::Base);
    if writes_back {
        word.write(base, Out::BaseUpdate);
        word.moves_base(4 * i64::from(n_words) * if is_down { -1 } else { 1 });
    }
    let mut names = Vec::new();
    for nth in 0..n {
        let it = Float { number: first.number + nth, is_double };
        names.push(it.text());
        if is_load {
            write(word, it, Out::Nth(nth as u8));
        } else {
            read(word, it, Role::Data);
        }
        let disp = start + i64::from(nth) * i64::from(width);
        word.access(Access {
            is_store: !is_load,
            base: Some(base),
            index: None,
            index_form: IndexForm::Whole,
            disp,
            width,
        });
    }
    let list = format!("{{{}}}", names.join(", "));
    let mnemonic = match (is_odd, is_load, is_down) {
        (true, true, false) => "fldmiax",
        (true, true, true) => "fldmdbx",
        (true, false, false) => "fstmiax",
        (true, false, true) => "fstmdbx",
        (false, true, false) if base == super::SP && writes_back => {
            word.text("vpop", &list);
            return Ok(());
        }
        (false, false, true) if base == super::SP && writes_back => {
            word.text("vpush", &list);
            return Ok(());
        }
        (false, true, false) => "vldmia",
        (false, true, true) => "vldmdb",
        (false, false, false) => "vstmia",
        (false, false, true) => "vstmdb",
    };
    let bang = if writes_back { "!" } else { "" };
    word.text(mnemonic, &format!("{}{bang}, {list}", name(base.0.into())));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::word::ALL;
    use super::*;
    use crate::decode::Isa;

    #[test]
    fn a_double_register_is_two_single_ones() {
        let decode =
            |bits: u32| Isa::A32.decode(0, &bits.to_le_bytes()).expect("it is of version 2");
        let (load, copy) = (decode(0xed90_1b00), decode(0xeeb0_0a61)); // vldr d1, [r0]; vmov.f32 s0, s3
        let written: Vec<Reg> = load.writes.iter().map(|write| write.reg).collect();
        assert_eq!(
            written.iter().map(|found| Isa::A32.register_name(*found)).collect::<Vec<_>>(),
            ["s2", "s3"]
        );
        assert_eq!(copy.reads.iter().filter(|read| written.contains(&read.reg)).count(), 1);
        assert!(copy.reads.iter().all(|read| read.bits == ALL && read.role == Role::Source));
    }

    #[test]
    fn later_double_registers_have_no_single_ones() {
        let regs = |bits: u32| {
            let it = Isa::A32.decode(0, &bits.to_le_bytes()).expect("it is of version 3");
            let names = |them: Vec<Reg>| {
                them.iter().map(|found| Isa::A32.register_name(*found)).collect::<Vec<_>>()
            };
            (
                names(it.reads.iter().map(|read| read.reg).collect()),
                names(it.writes.iter().map(|write| write.reg).collect()),
            )
        };
        assert_eq!(regs(0xee71_0ba2), (vec!["d17", "d18", "fpscr"], vec!["d16"])); // vadd.f64 d16, d17, d18
        assert_eq!(regs(0xee20_0b90), (vec!["d16", "r0"], vec!["d16"])); // vmov.32 d16[1], r0
        assert_eq!(regs(0xec51_0b30), (vec!["d16"], vec!["r0", "r1"])); // vmov r0, r1, d16
        assert_eq!(regs(0xec41_0b30), (vec!["r0", "r1"], vec!["d16"])); // vmov d16, r0, r1
    }
}
