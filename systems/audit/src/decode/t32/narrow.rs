//! The words of 16 bits.

use super::super::a32::data::{Second, compute, shift_name};
use super::super::a32::word::{FIXED, INSIDE, NO_PC, UNDEFINED, Word, name};
use super::super::a32::{CPSR, N, PC, Z, control, media, memory};
use super::Block;
use crate::decode::code::{Class, Flow, Out, Reg, Role, Shift};

/// Decodes one of them. Outside a block most arithmetic sets flags.
pub fn narrow(word: &mut Word, block: Block) -> Result<(), &'static str> {
    let sets_flags = !block.is_open();
    match word.field(10, 6) {
        0..=5 => shift(word, sets_flags),
        6 | 7 => add_or_subtract(word, sets_flags),
        8..=15 => with_byte(word, sets_flags),
        16 => two_registers(word, sets_flags),
        17 => high_registers(word),
        18 | 19 => {
            let (rt, by) = (word.field(8, 3), word.field(0, 8) * 4);
            super::memory::beside_code(word, rt, by.into(), 4, false, "ldr")
        }
        20..=23 => with_index(word),
        24..=39 => with_offset(word),
        40 | 41 => {
            let (rd, by) = (word.field(8, 3), word.field(0, 8) * 4);
            super::data::address(word, rd, by.into());
            Ok(())
        }
        42 | 43 => {
            let (rd, by) = (word.field(8, 3), word.field(0, 8) * 4);
            immediate(word, 4, rd, 13, by, false);
            word.text("add", &format!("{}, sp, #{by}", name(rd)));
            Ok(())
        }
        44..=47 => miscellaneous(word, block),
        48..=51 => list(word),
        52..=55 => branch_or_call(word),
        _ => {
            let by = i64::from((word.field(0, 11) << 21) as i32 >> 20);
            super::control::branch(word, by);
            Ok(())
        }
    }
}

/// The letter of what sets flags.
fn s(sets_flags: bool) -> &'static str {
    if sets_flags { "s" } else { "" }
}

/// An operation with an immediate that no shifter makes.
fn immediate(word: &mut Word, opcode: u32, rd: u32, rn: u32, value: u32, sets_flags: bool) {
    word.become_a32(rn << 16 | rd << 12);
    compute(
        word,
        opcode,
        &Second::Immediate { value, text: format!("#{value}"), carries: false },
        sets_flags,
    );
}

fn shift(word: &mut Word, sets_flags: bool) -> Result<(), &'static str> {
    let (rd, rm, by) = (word.field(0, 3), word.field(3, 3), word.field(6, 5));
    let shift = [Shift::Left, Shift::Right, Shift::RightSigned][word.field(11, 2) as usize];
    let second = match (shift, by) {
        // In a block there is another form of a plain move.
        (Shift::Left, 0) if !sets_flags => return Err(INSIDE),
        (Shift::Left, 0) => Second::Plain,
        (shift, 0) => Second::Shifted(shift, 32),
        (shift, by) => Second::Shifted(shift, by as u8),
    };
    word.become_a32(rd << 12 | rm);
    compute(word, 13, &second, sets_flags);
    Ok(())
}

fn add_or_subtract(word: &mut Word, sets_flags: bool) -> Result<(), &'static str> {
    let (rd, rn, third) = (word.field(0, 3), word.field(3, 3), word.field(6, 3));
    let opcode = if word.bit(9) { 2 } else { 4 };
    if word.bit(10) {
        immediate(word, opcode, rd, rn, third, sets_flags);
    } else {
        word.become_a32(rn << 16 | rd << 12 | third);
        compute(word, opcode, &Second::Plain, sets_flags);
    }
    Ok(())
}

/// `mov`, `cmp`, `add` and `sub` with eight bits.
fn with_byte(word: &mut Word, sets_flags: bool) -> Result<(), &'static str> {
    let (rd, value) = (word.field(8, 3), word.field(0, 8));
    let (opcode, mnemonic) =
        [(13, "mov"), (10, "cmp"), (4, "add"), (2, "sub")][word.field(11, 2) as usize];
    let (to, from) = if opcode == 13 { (rd, 0) } else { (rd, rd) };
    let is_comparison = opcode == 10;
    immediate(
        word,
        opcode,
        if is_comparison { 0 } else { to },
        from,
        value,
        sets_flags || is_comparison,
    );
    let s = if is_comparison { "" } else { s(sets_flags) };
    word.text(&format!("{mnemonic}{s}"), &format!("{}, #{value}", name(rd)));
    Ok(())
}

/// Sixteen operations on two low registers, the first of which is the result, too.
fn two_registers(word: &mut Word, sets_flags: bool) -> Result<(), &'static str> {
    let (rd, rm, op) = (word.field(0, 3), word.field(3, 3), word.field(6, 4));
    let operands = format!("{}, {}", name(rd), name(rm));
    let by_register = |kind: Shift| Second::ByRegister(kind, Reg(rm as u8));
    let shift = match op {
        2 => Some(Shift::Left),
        3 => Some(Shift::Right),
        4 => Some(Shift::RightSigned),
        7 => Some(Shift::Rotate),
        _ => None,
    };
    if let Some(shift) = shift {
        word.become_a32(rd << 12 | rd);
        compute(word, 13, &by_register(shift), sets_flags);
        word.text(&format!("{}{}", shift_name(shift), s(sets_flags)), &operands);
        return Ok(());
    }
    match op {
        9 => {
            immediate(word, 3, rd, rm, 0, sets_flags);
            return Ok(());
        }
        13 => {
            let (d, m) = (Reg(rd as u8), Reg(rm as u8));
            word.set_class(if sets_flags { Class::MulFlags } else { Class::Mul });
            word.read(m, Role::Factor);
            word.read(d, Role::Factor);
            word.write(d, Out::Result);
            if sets_flags {
                word.write_flags(&[N, Z]);
            }
            word.text(
                &format!("mul{}", s(sets_flags)),
                &format!("{}, {}, {}", name(rd), name(rm), name(rd)),
            );
            return Ok(());
        }
        _ => {}
    }
    let (opcode, mnemonic) = match op {
        0 => (0, "and"),
        1 => (1, "eor"),
        5 => (5, "adc"),
        6 => (6, "sbc"),
        8 => (8, "tst"),
        10 => (10, "cmp"),
        11 => (11, "cmn"),
        12 => (12, "orr"),
        14 => (14, "bic"),
        _ => (15, "mvn"),
    };
    let is_comparison = (8..12).contains(&opcode);
    word.become_a32(
        if opcode == 15 { 0 } else { rd << 16 } | if is_comparison { 0 } else { rd << 12 } | rm,
    );
    compute(word, opcode, &Second::Plain, sets_flags || is_comparison);
    word.text(&format!("{mnemonic}{}", if is_comparison { "" } else { s(sets_flags) }), &operands);
    Ok(())
}

/// `add`, `cmp` and `mov` of any registers, and jumps through one.
fn high_registers(word: &mut Word) -> Result<(), &'static str> {
    let (rd, rm) = (word.field(7, 1) << 3 | word.field(0, 3), word.field(3, 4));
    let operands = format!("{}, {}", name(rd), name(rm));
    match word.field(8, 2) {
        0 => {
            if rd == PC && rm == PC {
                return Err(NO_PC);
            }
            word.become_a32(rd << 16 | rd << 12 | rm);
            compute(word, 4, &Second::Plain, false);
            word.text(
                "add",
                &if rm == 13 { format!("{}, sp, {}", name(rd), name(rd)) } else { operands },
            );
        }
        1 => {
            if rd == PC || rm == PC {
                return Err(NO_PC);
            }
            if rd < 8 && rm < 8 {
                return Err("unpredictable: two low registers have a form of their own");
            }
            word.become_a32(rd << 16 | rm);
            compute(word, 10, &Second::Plain, true);
            word.text("cmp", &operands);
        }
        2 => {
            word.become_a32(rd << 12 | rm);
            compute(word, 13, &Second::Plain, false);
        }
        _ => {
            let (is_call, is_other_state) = (word.bit(7), word.bit(2));
            if word.field(0, 2) != 0 {
                return Err(FIXED);
            }
            let mnemonic = match (is_call, is_other_state) {
                (false, false) => "bx",
                (false, true) => "bxns",
                (true, false) => "blx",
                (true, true) => "blxns",
            };
            word.become_a32(rm);
            control::jump_to(word, is_call, mnemonic)?;
            // To code that must not, but can, see what is in any register.
            if is_other_state && is_call {
                word.call_system();
            } else if is_other_state {
                word.set_flow(Flow::Resume);
            }
        }
    }
    Ok(())
}

/// The bits of A32 that say `[rn, offset]`, and the transferred register.
fn plain_address(rn: u32, rt: u32) -> u32 {
    1 << 24 | 1 << 23 | rn << 16 | rt << 12
}

fn with_index(word: &mut Word) -> Result<(), &'static str> {
    let (rt, rn, rm) = (word.field(0, 3), word.field(3, 3), word.field(6, 3));
    let (mnemonic, width, is_load, is_signed) = [
        ("str", 4, false, false),
        ("strh", 2, false, false),
        ("strb", 1, false, false),
        ("ldrsb", 1, true, true),
        ("ldr", 4, true, false),
        ("ldrh", 2, true, false),
        ("ldrb", 1, true, false),
        ("ldrsh", 2, true, true),
    ][word.field(9, 3) as usize];
    word.become_a32(plain_address(rn, rt));
    let offset = memory::Offset::Register {
        reg: Reg(rm as u8),
        shift: Some((Shift::Left, 0)),
        is_subtracted: false,
    };
    super::memory::transfer(word, mnemonic, width, is_load, is_signed, &offset)
}

fn with_offset(word: &mut Word) -> Result<(), &'static str> {
    let is_load = word.bit(11);
    let (rt, rn, five) = (word.field(0, 3), word.field(3, 3), word.field(6, 5));
    let (rt, rn, by, width) = match word.field(12, 4) {
        6 => (rt, rn, five * 4, 4),
        7 => (rt, rn, five, 1),
        8 => (rt, rn, five * 2, 2),
        _ => (word.field(8, 3), 13, word.field(0, 8) * 4, 4),
    };
    let mnemonic = match (is_load, width) {
        (true, 4) => "ldr",
        (true, 1) => "ldrb",
        (true, _) => "ldrh",
        (false, 4) => "str",
        (false, 1) => "strb",
        (false, _) => "strh",
    };
    word.become_a32(plain_address(rn, rt));
    super::memory::transfer(
        word,
        mnemonic,
        width,
        is_load,
        false,
        &memory::Offset::Constant(by.into()),
    )
}

fn list(word: &mut Word) -> Result<(), &'static str> {
    let (is_load, rn, list) = (word.bit(11), word.field(8, 3), word.field(0, 8));
    let writes_back = !is_load || list >> rn & 1 == 0;
    word.become_a32(
        0x0880_0000 | u32::from(writes_back) << 21 | u32::from(is_load) << 20 | rn << 16 | list,
    );
    memory::multiple(word)
}

fn miscellaneous(word: &mut Word, block: Block) -> Result<(), &'static str> {
    let (rd, rm) = (word.field(0, 3), word.field(3, 3));
    match word.field(8, 4) {
        0 => {
            let (is_subtraction, by) = (word.bit(7), word.field(0, 7) * 4);
            immediate(word, if is_subtraction { 2 } else { 4 }, 13, 13, by, false);
            word.text(if is_subtraction { "sub" } else { "add" }, &format!("sp, #{by}"));
            Ok(())
        }
        1 | 3 | 9 | 11 => {
            if block.is_open() {
                return Err(INSIDE);
            }
            let by = word.field(9, 1) << 6 | word.field(3, 5) << 1;
            let target = word.pc().wrapping_add(by.into()) & 0xffff_ffff;
            word.set_class(Class::Branch);
            word.set_flow(Flow::Branch { target, is_conditional: true });
            word.read(Reg(rd as u8), Role::Condition);
            word.text(
                if word.bit(11) { "cbnz" } else { "cbz" },
                &format!("{}, {target:#x}", name(rd)),
            );
            Ok(())
        }
        2 => {
            let kind =
                [0x06bf_0070, 0x06af_0070, 0x06ff_0070, 0x06ef_0070][word.field(6, 2) as usize];
            word.become_a32(kind | rd << 12 | rm);
            media::media(word)
        }
        4 | 5 => {
            let list = word.field(8, 1) << 14 | word.field(0, 8);
            stack_list(word, 0x092d_0000 | list, "push")
        }
        12 | 13 => {
            let list = word.field(8, 1) << 15 | word.field(0, 8);
            stack_list(word, 0x08bd_0000 | list, "pop")
        }
        6 => status(word, block),
        10 if word.field(6, 2) == 2 => {
            control::upwards(word, "hlt", word.field(0, 6));
            Ok(())
        }
        10 => {
            let Some(kind) = [Some(0x06bf_0f30), Some(0x06bf_0fb0), None, Some(0x06ff_0fb0)]
                [word.field(6, 2) as usize]
            else {
                return Err(UNDEFINED);
            };
            word.become_a32(kind | rd << 12 | rm);
            media::media(word)
        }
        14 => {
            super::control::breakpoint(word);
            Ok(())
        }
        15 => super::control::hint_or_block(word, block),
        _ => Err(UNDEFINED),
    }
}

/// The texts of A32 for one register are others.
fn stack_list(word: &mut Word, bits: u32, mnemonic: &str) -> Result<(), &'static str> {
    word.become_a32(bits);
    memory::multiple(word)?;
    let names: Vec<&str> = (0..16).filter(|idx| bits >> idx & 1 == 1).map(name).collect();
    word.text(mnemonic, &format!("{{{}}}", names.join(", ")));
    Ok(())
}

/// `setend`, `setpan` and `cps`.
fn status(word: &mut Word, block: Block) -> Result<(), &'static str> {
    if block.is_open() {
        return Err(INSIDE);
    }
    let letters: String = [(2, 'a'), (1, 'i'), (0, 'f')]
        .iter()
        .filter(|(bit, _)| word.bit(*bit))
        .map(|(_, it)| it)
        .collect();
    let mnemonic = match word.field(4, 4) {
        5 if word.field(0, 3) == 0 => {
            word.text("setend", if word.bit(3) { "be" } else { "le" });
            ""
        }
        1 if word.field(0, 3) == 0 => {
            control::privileged_access(word, word.field(3, 1));
            return Ok(());
        }
        0 | 1 => return Err(FIXED),
        6 => "cpsie",
        7 => "cpsid",
        _ => return Err(UNDEFINED),
    };
    if !mnemonic.is_empty() {
        if word.bit(3) || letters.is_empty() {
            return Err(FIXED);
        }
        word.text(mnemonic, &letters);
    }
    word.set_class(Class::System);
    word.read(CPSR, Role::Source);
    word.write(CPSR, Out::Result);
    Ok(())
}

fn branch_or_call(word: &mut Word) -> Result<(), &'static str> {
    match word.field(8, 4) {
        14 => {
            super::control::stop(word, word.field(0, 8));
            Ok(())
        }
        15 => {
            word.set_class(Class::System);
            word.call_system();
            word.text("svc", &format!("#{}", word.field(0, 8)));
            Ok(())
        }
        _ => {
            let by = i64::from((word.field(0, 8) << 24) as i32 >> 23);
            super::control::branch(word, by);
            Ok(())
        }
    }
}
