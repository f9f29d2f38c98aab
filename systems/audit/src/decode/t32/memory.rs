//! Loads and stores of 32 bits: single, pairs, lists, exclusive, tables of branches.

use super::super::a32::memory::{self, Offset};
use super::super::a32::word::{ALL, FIXED, NO_PC, TWICE, UNDEFINED, Word, name};
use super::super::a32::{COPROCESSOR, PC, SP, control};
use super::{NO_SP, general};
use crate::decode::code::{Access, Class, Flow, IndexForm, Out, Reg, Role, Shift};

/// A transfer of one register; the fields of the address are A32's already. An index makes
/// it a slow one.
pub fn transfer(
    word: &mut Word,
    mnemonic: &str,
    width: u8,
    is_load: bool,
    is_signed: bool,
    offset: &Offset,
) -> Result<(), &'static str> {
    let mut address = memory::address(word, offset, width, !is_load)?;
    address.is_slow = address.access.index.is_some();
    let rt = name(word.field(12, 4));
    memory::transfer(word, address, is_load, is_signed);
    let text = word.take_address_text();
    word.text(mnemonic, &format!("{rt}, {text}"));
    Ok(())
}

/// A load from beside the code.
pub fn beside_code(
    word: &mut Word,
    rt: u32,
    by: i64,
    width: u8,
    is_signed: bool,
    mnemonic: &str,
) -> Result<(), &'static str> {
    word.align_pc();
    word.become_a32(1 << 24 | u32::from(by >= 0) << 23 | 15 << 16 | rt << 12);
    transfer(word, mnemonic, width, true, is_signed, &Offset::Constant(by))?;
    word.text(mnemonic, &format!("{}, [pc, #{by}]", name(rt)));
    Ok(())
}

/// Bytes, halves and words.
pub fn single(word: &mut Word) -> Result<(), &'static str> {
    let (rn, rt) = (word.field(16, 4), word.field(12, 4));
    let (is_load, is_signed, size) = (word.bit(20), word.bit(24), word.field(21, 2));
    let width = 1u8 << size;
    if size == 3 || is_signed && (size == 2 || !is_load) || rn == PC && !is_load {
        return Err(UNDEFINED);
    }
    if is_load && rt == PC && size != 2 {
        return preload(word);
    }
    let letters = format!(
        "{}{}{}",
        if is_load { "ldr" } else { "str" },
        if is_signed { "s" } else { "" },
        ["b", "h", ""][size as usize]
    );
    // Only whole words go to the stack pointer or the program counter.
    if size != 2 {
        general(word, &[12])?;
    } else if rt == PC && !is_load {
        return Err(NO_PC);
    }
    if rn == PC {
        word.set_suffix(".w");
        let by = i64::from(word.field(0, 12)) * if word.bit(23) { 1 } else { -1 };
        let is_minus_zero = by == 0 && !word.bit(23);
        beside_code(word, rt, by, width, is_signed, &letters)?;
        if is_minus_zero {
            word.text(&letters, &format!("{}, [pc, #-0]", name(rt)));
        }
        return jump(word, rt, false);
    }
    let (puw, offset) = if word.bit(23) {
        word.set_suffix(".w");
        (6, Offset::Constant(word.field(0, 12).into()))
    } else if word.bit(11) {
        let puw = word.field(8, 3);
        let by = i64::from(word.field(0, 8));
        (puw, Offset::Constant(if puw & 2 != 0 { by } else { -by }))
    } else {
        if word.field(6, 5) != 0 {
            return Err(UNDEFINED);
        }
        general(word, &[0])?;
        word.set_suffix(".w");
        let reg = Reg(word.field(0, 4) as u8);
        (
            6,
            Offset::Register {
                reg,
                shift: Some((Shift::Left, word.field(4, 2) as u8)),
                is_subtracted: false,
            },
        )
    };
    let is_unprivileged = !word.bit(23) && word.bit(11) && puw == 6;
    if puw & 5 == 0 {
        return Err(UNDEFINED);
    }
    let writes_back = puw & 4 == 0 || puw & 1 == 1;
    if writes_back && rn == rt {
        return Err(TWICE);
    }
    if is_unprivileged {
        general(word, &[12])?;
    }
    let is_pop = rn == 13 && puw == 3;
    let letters = if is_unprivileged { letters + "t" } else { letters };
    word.become_a32(
        (puw >> 2) << 24 | (puw >> 1 & 1) << 23 | (puw & 1) << 21 | rn << 16 | rt << 12,
    );
    transfer(word, &letters, width, is_load, is_signed, &offset)?;
    jump(word, rt, is_pop)
}

/// A load of the program counter goes elsewhere.
fn jump(word: &mut Word, rt: u32, is_pop: bool) -> Result<(), &'static str> {
    if rt == PC {
        word.set_flow(if is_pop { Flow::Return } else { Flow::Jump });
    }
    Ok(())
}

/// `pld`, `pldw`, `pli`: a wish, not an access.
fn preload(word: &mut Word) -> Result<(), &'static str> {
    let mnemonic = match (word.bit(24), word.field(21, 2)) {
        (false, 0) => "pld",
        (false, _) => "pldw",
        (true, 0) => "pli",
        (true, _) => return Err("undefined: a hint to memory that nobody has named"),
    };
    let rn = word.field(16, 4);
    word.set_class(Class::Load);
    if rn == PC {
        if mnemonic == "pldw" {
            return Err("undefined: a hint to memory that nobody has named");
        }
        let sign = if word.bit(23) { "" } else { "-" };
        word.text(mnemonic, &format!("[pc, #{sign}{}]", word.field(0, 12)));
        return Ok(());
    }
    word.read(Reg(rn as u8), Role::Base);
    let base = name(rn);
    let text = if word.bit(23) {
        let by = word.field(0, 12);
        if by == 0 { format!("[{base}]") } else { format!("[{base}, #{by}]") }
    } else if word.field(8, 4) == 12 {
        format!("[{base}, #-{}]", word.field(0, 8))
    } else if word.field(6, 6) == 0 {
        general(word, &[0])?;
        let (rm, by) = (word.field(0, 4), word.field(4, 2));
        word.read(Reg(rm as u8), Role::Index);
        let shift = if by == 0 { String::new() } else { format!(", lsl #{by}") };
        format!("[{base}, {}{shift}]", name(rm))
    } else {
        return Err("unpredictable: a hint to memory changes no base");
    };
    word.text(mnemonic, &text);
    Ok(())
}

/// `ldm`, `stm`, `push`, `pop`, and `srs` and `rfe` of the A and R profiles.
pub fn multiple(word: &mut Word) -> Result<(), &'static str> {
    let (rn, list, is_load, writes_back) =
        (word.field(16, 4), word.field(0, 16), word.bit(20), word.bit(21));
    let is_down = match word.field(23, 2) {
        1 => false,
        2 => true,
        op => {
            let mode = if op == 0 { 1 << 24 } else { 1 << 23 };
            let bits = u32::from(writes_back) << 21 | rn << 16 | mode;
            let (fixed, new) = match is_load {
                false => (list & !31 == 0xc000, 0xf840_0500 | list & 31),
                true => (list == 0xc000, 0xf810_0a00),
            };
            if !fixed {
                return Err(FIXED);
            }
            word.become_a32(new | bits);
            return control::exception_state(word);
        }
    };
    if list >> 13 & 1 == 1 {
        return Err(NO_SP);
    }
    if list.count_ones() < 2 || list >> 14 == 3 {
        return Err(
            "unpredictable: the list has one register, or both the link and the program counter",
        );
    }
    if writes_back && list >> rn & 1 == 1 {
        return Err(TWICE);
    }
    let is_stack = rn == 13 && writes_back;
    if !is_down || is_stack && !is_load {
        word.set_suffix(".w");
    }
    let mode = if is_down { 1 << 24 } else { 1 << 23 };
    word.become_a32(
        0x0800_0000
            | mode
            | u32::from(writes_back) << 21
            | u32::from(is_load) << 20
            | rn << 16
            | list,
    );
    memory::multiple(word)
}

/// Pairs, exclusive accesses, ordered ones, tables of branches.
pub fn dual_or_exclusive(word: &mut Word) -> Result<(), &'static str> {
    if word.bit(24) || word.bit(21) {
        return dual(word);
    }
    let (is_up, is_load, op) = (word.bit(23), word.bit(20), word.field(4, 4));
    match (is_up, is_load, op) {
        (false, false, _) if word.field(12, 4) == 15 && word.field(0, 6) == 0 => test_target(word),
        (false, is_load, _) => exclusive(word, is_load, "", 4, word.field(0, 8) * 4),
        (true, true, 0 | 1) => table(word, op == 1),
        (true, is_load, 4 | 5) => {
            exclusive(word, is_load, ["b", "h"][(op & 1) as usize], 1 << (op & 1), 0)
        }
        (true, is_load, 7) => exclusive(word, is_load, "d", 8, 0),
        (true, is_load, 8..=10) => ordered(word, is_load, op & 3),
        (true, is_load, 12..=14) => {
            let (letter, width) = [("exb", 1), ("exh", 2), ("ex", 4)][(op & 3) as usize];
            exclusive(word, is_load, letter, width, 0)
        }
        (true, is_load, 15) => exclusive(word, is_load, "exd", 8, 0),
        _ => Err(UNDEFINED),
    }
}

fn dual(word: &mut Word) -> Result<(), &'static str> {
    if word.all() == 0xe97f_e97f {
        // ARMv8-M: a gate into the secure state, elsewhere nothing.
        word.set_class(Class::System);
        word.text("sg", "");
        return Ok(());
    }
    let (first, second, rn) = (word.field(12, 4), word.field(8, 4), word.field(16, 4));
    let (is_load, writes_back) = (word.bit(20), word.bit(21) || !word.bit(24));
    general(word, &[12, 8])?;
    if is_load && first == second || writes_back && (rn == first || rn == second) {
        return Err(TWICE);
    }
    if rn == PC && (writes_back || !is_load) {
        return Err(NO_PC);
    }
    word.align_pc();
    let by = i64::from(word.field(0, 8)) * 4 * if word.bit(23) { 1 } else { -1 };
    let address = memory::address(word, &Offset::Constant(by), 8, !is_load)?;
    for (nth, reg) in [first, second].into_iter().enumerate() {
        let reg = Reg(reg as u8);
        if is_load { word.write(reg, Out::Nth(nth as u8)) } else { word.read(reg, Role::Data) }
    }
    word.set_class(if is_load { Class::LoadDouble } else { Class::StoreDouble });
    if let Some(base) = address.written_back {
        word.write(base, Out::BaseUpdate);
    }
    word.access(address.access);
    word.text(
        if is_load { "ldrd" } else { "strd" },
        &format!("{}, {}, {}", name(first), name(second), address.text),
    );
    Ok(())
}

fn at(base: Reg, is_store: bool, disp: i64, width: u8) -> Access {
    Access { is_store, base: Some(base), index: None, index_form: IndexForm::Whole, disp, width }
}

/// The names of acquire and release begin with `ld` and `st` alone.
fn exclusive(
    word: &mut Word,
    is_load: bool,
    kind: &str,
    width: u8,
    by: u32,
) -> Result<(), &'static str> {
    let is_ordered = kind.starts_with("ex");
    let is_plain_word = kind.is_empty();
    let base = word.reg(16)?;
    let has_status = !is_load;
    let status_low = if is_plain_word { 8 } else { 0 };
    let is_double = width == 8;
    general(word, &[12])?;
    if is_double {
        general(word, &[8])?;
    }
    // The fields that are not used are ones.
    let unused: &[u32] = match (is_plain_word, is_double, has_status) {
        (true, _, true) | (false, true, true) => &[],
        (true, _, false) => &[8],
        (false, true, false) => &[0],
        (false, false, true) => &[8],
        (false, false, false) => &[8, 0],
    };
    if unused.iter().any(|&low| word.field(low, 4) != 15) {
        return Err(FIXED);
    }
    let (first, second) = (Reg(word.field(12, 4) as u8), Reg(word.field(8, 4) as u8));
    word.set_class(Class::Atomic);
    word.read(base, Role::Base);
    word.access(at(base, !is_load, by.into(), width));
    let place = name(base.0.into());
    let address = if by == 0 { format!("[{place}]") } else { format!("[{place}, #{by}]") };
    let data = if is_double {
        format!("{}, {}", name(first.0.into()), name(second.0.into()))
    } else {
        name(first.0.into()).to_owned()
    };
    let names = match (is_load, is_ordered) {
        (true, false) => "ldrex",
        (false, false) => "strex",
        (true, true) => "lda",
        (false, true) => "stl",
    };
    let mnemonic = format!("{names}{kind}");
    if is_load {
        if is_double && first == second {
            return Err(TWICE);
        }
        word.write(first, Out::Nth(0));
        if is_double {
            word.write(second, Out::Nth(1));
        }
        word.text(&mnemonic, &format!("{data}, {address}"));
        return Ok(());
    }
    general(word, &[status_low])?;
    let status = Reg(word.field(status_low, 4) as u8);
    if status == base || status == first || is_double && status == second {
        return Err(TWICE);
    }
    word.read_bits(first, Role::Data, if width >= 4 { ALL } else { (1 << (8 * width)) - 1 });
    if is_double {
        word.read(second, Role::Data);
    }
    word.write(status, Out::Result);
    word.text(&mnemonic, &format!("{}, {data}, {address}", name(status.0.into())));
    Ok(())
}

fn ordered(word: &mut Word, is_load: bool, size: u32) -> Result<(), &'static str> {
    if word.field(8, 4) != 15 || word.field(0, 4) != 15 {
        return Err(FIXED);
    }
    let base = word.reg(16)?;
    general(word, &[12])?;
    let (rt, width) = (Reg(word.field(12, 4) as u8), 1u8 << size);
    word.set_class(Class::Atomic);
    word.read(base, Role::Base);
    word.access(at(base, !is_load, 0, width));
    if is_load {
        word.write(rt, Out::Nth(0));
    } else {
        word.read_bits(rt, Role::Data, if width == 4 { ALL } else { (1 << (8 * width)) - 1 });
    }
    let mnemonic =
        format!("{}{}", if is_load { "lda" } else { "stl" }, ["b", "h", ""][size as usize]);
    word.text(&mnemonic, &format!("{}, [{}]", name(rt.0.into()), name(base.0.into())));
    Ok(())
}

/// `tbb` and `tbh`: how far on, a table says.
fn table(word: &mut Word, is_half: bool) -> Result<(), &'static str> {
    if word.field(8, 8) != 0xf0 {
        return Err(FIXED);
    }
    general(word, &[0])?;
    let (rn, index) = (word.field(16, 4), Reg(word.field(0, 4) as u8));
    if rn == 13 {
        return Err(NO_SP);
    }
    let base = word.reg_or_pc(16);
    if let Some(base) = base {
        word.read(base, Role::Base);
    }
    word.read(index, Role::Index);
    let disp = if base.is_none() { word.pc() as i64 } else { 0 };
    let width = if is_half { 2 } else { 1 };
    let shift = u8::from(is_half);
    word.access(Access {
        is_store: false,
        base,
        index: Some((index, shift)),
        index_form: IndexForm::Whole,
        disp,
        width,
    });
    // A load first, then the jump.
    word.set_class(Class::LoadSlow);
    word.set_flow(Flow::Jump);
    let lsl = if is_half { ", lsl #1" } else { "" };
    word.text(
        if is_half { "tbh" } else { "tbb" },
        &format!("[{}, {}{lsl}]", name(rn), name(index.0.into())),
    );
    Ok(())
}

/// `tt` and its relatives of ARMv8-M: what the memory protection says of an address.
fn test_target(word: &mut Word) -> Result<(), &'static str> {
    general(word, &[8])?;
    let (rd, rn) = (Reg(word.field(8, 4) as u8), word.reg(16)?);
    if rn == SP {
        return Err(NO_SP);
    }
    word.set_class(Class::System);
    word.read(rn, Role::Source);
    word.read(COPROCESSOR, Role::Source);
    word.write(rd, Out::Result);
    let mnemonic = ["tt", "ttt", "tta", "ttat"][word.field(6, 2) as usize];
    word.text(mnemonic, &format!("{}, {}", name(rd.0.into()), name(rn.0.into())));
    Ok(())
}
