//! Loads and stores: single, half words and doubles, lists, exclusive.

use super::data::{shift_by_constant, shift_name};
use super::word::{ALL, FIXED, NO_PC, TWICE, UNDEFINED, Word, name};
use super::{C, CPSR, FP, GE, LR, N, PC, Q, SP, SPSR, V, Z};
use crate::decode::code::{Access, Class, Flow, IndexForm, Op, Out, Reg, Role, Shift, Value};

/// How an address is formed, and what becomes of the base.
pub struct Address {
    pub text: String,
    pub access: Access,
    /// The base that changes.
    pub written_back: Option<Reg>,
    pub is_slow: bool,
}

/// The offset of an address.
pub enum Offset {
    Constant(i64),
    Register { reg: Reg, shift: Option<(Shift, u8)>, is_subtracted: bool },
}

/// Bits 24, 23 and 21 say where the offset goes; reads base and index.
pub fn address(
    word: &mut Word,
    offset: &Offset,
    width: u8,
    is_store: bool,
) -> Result<Address, &'static str> {
    let is_pre = word.bit(24);
    let writes_back = !is_pre || word.bit(21);
    let base = word.reg_or_pc(16);
    if base.is_none() && writes_back {
        return Err(NO_PC);
    }
    if let Some(base) = base {
        word.read(base, Role::Base);
    }
    if let Offset::Constant(by) = offset
        && writes_back
    {
        word.moves_base(*by);
    }
    let mut is_slow = false;
    let (offset_text, disp, index, index_form) = match offset {
        Offset::Constant(0) if word.bit(23) => (String::new(), 0, None, IndexForm::Whole),
        Offset::Constant(0) => ("#-0".to_owned(), 0, None, IndexForm::Whole),
        Offset::Constant(by) => (format!("#{by}"), *by, None, IndexForm::Whole),
        Offset::Register { reg, shift, is_subtracted } => {
            if writes_back && base == Some(*reg) {
                return Err(TWICE);
            }
            word.read(*reg, Role::Index);
            is_slow = *is_subtracted || !matches!(shift, Some((Shift::Left, 0 | 2)));
            let sign = if *is_subtracted { "-" } else { "" };
            let shift_text = match shift {
                Some((Shift::Left, 0)) => String::new(),
                Some((shift, by)) => format!(", {} #{by}", shift_name(*shift)),
                None => ", rrx".to_owned(),
            };
            // A shift other than to the left makes an address of a form that accesses do not have.
            let (by, form) = match shift {
                Some((Shift::Left, by)) if *is_subtracted => (*by, IndexForm::Negative),
                Some((Shift::Left, by)) => (*by, IndexForm::Whole),
                _ => (0, IndexForm::Other),
            };
            (format!("{sign}{}{shift_text}", name(reg.0.into())), 0, Some((*reg, by)), form)
        }
    };
    let base_name = name(word.field(16, 4));
    let text = match (is_pre, offset_text.is_empty()) {
        // After the access an offset of nothing is written out.
        (false, true) => format!("[{base_name}], #0"),
        (false, false) => format!("[{base_name}], {offset_text}"),
        (true, true) if word.bit(21) => format!("[{base_name}, #0]!"),
        (true, true) => format!("[{base_name}]"),
        (true, false) => {
            format!("[{base_name}, {offset_text}]{}", if word.bit(21) { "!" } else { "" })
        }
    };
    // After the access the base changes: the access itself is at the base.
    let (disp, index, index_form) =
        if is_pre { (disp, index, index_form) } else { (0, None, IndexForm::Whole) };
    let disp =
        if base.is_none() { (word.pc() as i64).wrapping_add(disp) & ALL as i64 } else { disp };
    let access = Access { is_store, base, index, index_form, disp, width };
    Ok(Address { text, access, written_back: if writes_back { base } else { None }, is_slow })
}

fn store_class(is_slow: bool) -> Class {
    if is_slow { Class::StoreSlow } else { Class::Store }
}

/// `ldr`, `str`, `ldrb`, `strb`, and the forms that act as user mode.
pub fn single(word: &mut Word) -> Result<(), &'static str> {
    let sign = if word.bit(23) { 1 } else { -1 };
    let offset = if word.bit(25) {
        let shift = shift_by_constant(word);
        if shift.is_none() {
            word.read_flag(C);
        }
        Offset::Register { reg: word.reg(0)?, shift, is_subtracted: !word.bit(23) }
    } else {
        Offset::Constant(sign * i64::from(word.field(0, 12)))
    };
    let (is_load, is_byte) = (word.bit(20), word.bit(22));
    let is_user = !word.bit(24) && word.bit(21);
    let address = address(word, &offset, if is_byte { 1 } else { 4 }, !is_load)?;
    let register = word.field(12, 4);
    let same_as_base = address.written_back.is_some() && word.field(16, 4) == register;
    if register == PC && (is_byte || is_user || !is_load) {
        return Err(NO_PC);
    }
    if same_as_base {
        return Err(TWICE);
    }
    let mnemonic = format!(
        "{}{}{}",
        if is_load { "ldr" } else { "str" },
        if is_byte { "b" } else { "" },
        if is_user { "t" } else { "" }
    );
    transfer(word, address, is_load, false);
    if register == PC {
        let is_pop = word.field(16, 4) == u32::from(SP.0) && !word.bit(24);
        word.set_flow(if is_pop { Flow::Return } else { Flow::Jump });
    }
    let operands = format!("{}, {}", name(register), take_text(word));
    word.text(&mnemonic, &operands);
    Ok(())
}

/// The text of an address waits here while the rest is done.
fn take_text(word: &mut Word) -> String {
    word.take_address_text()
}

/// Reads or writes the register of a single transfer.
pub fn transfer(word: &mut Word, address: Address, is_load: bool, is_signed: bool) {
    let width = address.access.width;
    let register = word.reg_or_pc(12);
    if is_load {
        word.set_class(if address.is_slow { Class::LoadSlow } else { Class::Load });
        if let Some(reg) = register {
            word.write(reg, Out::Nth(0));
            word.computes(Op::Load { is_signed }, Some(reg), Value::Const(0), Value::Const(0));
        }
    } else {
        word.set_class(store_class(address.is_slow));
        if let Some(reg) = register {
            word.read_bits(reg, Role::Data, if width == 4 { ALL } else { (1 << (8 * width)) - 1 });
        }
    }
    if let Some(base) = address.written_back {
        word.write(base, Out::BaseUpdate);
    }
    word.access(address.access);
    word.keep_address_text(address.text);
}

/// `ldrh`, `strh`, `ldrsb`, `ldrsh`, `ldrd`, `strd`.
pub fn extra(word: &mut Word) -> Result<(), &'static str> {
    let sign = if word.bit(23) { 1 } else { -1 };
    let offset = if word.bit(22) {
        Offset::Constant(sign * i64::from(word.field(8, 4) << 4 | word.field(0, 4)))
    } else {
        if word.field(8, 4) != 0 {
            return Err(FIXED);
        }
        Offset::Register {
            reg: word.reg(0)?,
            shift: Some((Shift::Left, 0)),
            is_subtracted: !word.bit(23),
        }
    };
    let is_user = !word.bit(24) && word.bit(21);
    let kind = word.field(5, 2);
    let is_double = !word.bit(20) && kind >= 2;
    let is_load = word.bit(20) || kind == 2;
    let (mnemonic, width) = match (is_double, is_load, kind) {
        (true, true, _) => ("ldrd", 8),
        (true, false, _) => ("strd", 8),
        (false, true, 1) => ("ldrh", 2),
        (false, true, 2) => ("ldrsb", 1),
        (false, true, _) => ("ldrsh", 2),
        (false, false, _) => ("strh", 2),
    };
    let address = address(word, &offset, width, !is_load)?;
    let first = word.reg(12)?;
    let written_back = address.written_back;
    if written_back == Some(first) {
        return Err(TWICE);
    }
    if is_double && is_user {
        return Err("unpredictable: there is no double access as user mode");
    }
    if is_double {
        return double(word, address, first, mnemonic);
    }
    transfer(word, address, is_load, kind >= 2);
    let operands = format!("{}, {}", name(first.0.into()), take_text(word));
    word.text(&format!("{mnemonic}{}", if is_user { "t" } else { "" }), &operands);
    Ok(())
}

fn double(
    word: &mut Word,
    address: Address,
    first: Reg,
    mnemonic: &str,
) -> Result<(), &'static str> {
    let second = Reg(first.0 + 1);
    if first.0 & 1 == 1 {
        return Err(UNDEFINED);
    }
    if u32::from(second.0) == PC {
        return Err(NO_PC);
    }
    let is_load = mnemonic == "ldrd";
    let index_is_loaded =
        is_load && matches!(address.access.index, Some((reg, _)) if reg == first || reg == second);
    if address.written_back == Some(second) || index_is_loaded {
        return Err(TWICE);
    }
    for (nth, reg) in [first, second].into_iter().enumerate() {
        if is_load { word.write(reg, Out::Nth(nth as u8)) } else { word.read(reg, Role::Data) }
    }
    word.set_class(if is_load { Class::LoadDouble } else { Class::StoreDouble });
    if let Some(base) = address.written_back {
        word.write(base, Out::BaseUpdate);
    }
    word.access(address.access);
    word.text(
        mnemonic,
        &format!("{}, {}, {}", name(first.0.into()), name(second.0.into()), address.text),
    );
    Ok(())
}

/// `ldm`, `stm`, `push`, `pop`.
pub fn multiple(word: &mut Word) -> Result<(), &'static str> {
    let base = word.reg(16)?;
    let list = word.field(0, 16);
    let (is_load, writes_back, is_user) = (word.bit(20), word.bit(21), word.bit(22));
    let (is_before, is_up) = (word.bit(24), word.bit(23));
    if list == 0 {
        return Err("unpredictable: the list of registers is empty");
    }
    let has_pc = list >> PC & 1 == 1;
    let base_in_list = list >> base.0 & 1 == 1;
    if writes_back && is_user && !(is_load && has_pc) {
        return Err(FIXED);
    }
    if writes_back && base_in_list && (is_load || list & ((1 << base.0) - 1) != 0) {
        return Err(TWICE);
    }
    if has_pc && !is_load {
        return Err("unpredictable: which program counter is stored, the architecture leaves open");
    }
    let n = i64::from(list.count_ones());
    let start = match (is_up, is_before) {
        (true, false) => 0,
        (true, true) => 4,
        (false, false) => 4 - 4 * n,
        (false, true) => -4 * n,
    };
    word.set_class(if is_load { Class::LoadMultiple } else { Class::StoreMultiple });
    word.read(base, Role::Base);
    let regs: Vec<Reg> = (0..16u8).filter(|idx| list >> idx & 1 == 1).map(Reg).collect();
    for (nth, &reg) in regs.iter().enumerate() {
        let disp = start + 4 * nth as i64;
        word.access(Access {
            is_store: !is_load,
            base: Some(base),
            index: None,
            index_form: IndexForm::Whole,
            disp,
            width: 4,
        });
        // Without the program counter `^` means the user's registers: the stack pointer and the
        // link of this mode stay.
        let is_banked = is_user && !has_pc && (reg == SP || reg == LR);
        if u32::from(reg.0) == PC || is_banked {
            continue;
        }
        if is_load { word.write(reg, Out::Nth(nth as u8)) } else { word.read(reg, Role::Data) }
    }
    if writes_back {
        word.write(base, Out::BaseUpdate);
        word.moves_base(if is_up { 4 * n } else { -4 * n });
    }
    if has_pc {
        let is_frame = base == SP || base == FP;
        word.set_flow(match is_frame {
            _ if is_user => Flow::Resume,
            true => Flow::Return,
            false => Flow::Jump,
        });
    }
    if is_user {
        // Other modes' registers, or the whole status: not looked into.
        word.read(if has_pc { SPSR } else { CPSR }, Role::Source);
        if has_pc {
            word.write(CPSR, Out::Result);
            word.write_flags(&[N, Z, C, V, Q, GE[0], GE[1], GE[2], GE[3]]);
        }
    }
    let names: Vec<&str> = regs.iter().map(|reg| name(reg.0.into())).collect();
    let list = format!("{{{}}}{}", names.join(", "), if is_user { " ^" } else { "" });
    let is_stack = base == SP && writes_back && !is_user && regs.len() > 1;
    match (is_load, is_up, is_before) {
        (true, true, false) if is_stack => word.text("pop", &list),
        (false, false, true) if is_stack => word.text("push", &list),
        _ => {
            let mode = match (is_up, is_before) {
                (true, false) => "",
                (true, true) => "ib",
                (false, false) => "da",
                (false, true) => "db",
            };
            let bang = if writes_back { "!" } else { "" };
            let mnemonic = if is_load { "ldm" } else { "stm" };
            word.text(
                &format!("{mnemonic}{mode}"),
                &format!("{}{bang}, {list}", name(base.0.into())),
            );
        }
    }
    Ok(())
}

/// `swp`, `ldrex`, `strex` and their widths, and the ordered ones.
pub fn exclusive(word: &mut Word) -> Result<(), &'static str> {
    let base = word.reg(16)?;
    let base_name = name(base.0.into());
    word.set_class(Class::Atomic);
    word.read(base, Role::Base);
    let access = |is_store, width| Access {
        is_store,
        base: Some(base),
        index: None,
        index_form: IndexForm::Whole,
        disp: 0,
        width,
    };
    if !word.bit(23) {
        if word.field(20, 2) != 0 || word.field(8, 4) != 0 {
            return Err(UNDEFINED);
        }
        let (rd, rm) = (word.reg(12)?, word.reg(0)?);
        if base == rd || base == rm {
            return Err(TWICE);
        }
        let is_byte = word.bit(22);
        let width = if is_byte { 1 } else { 4 };
        word.read_bits(rm, Role::Data, if is_byte { 0xff } else { ALL });
        word.write(rd, Out::Nth(0));
        word.access(access(false, width));
        word.access(access(true, width));
        let operands = format!("{}, {}, [{base_name}]", name(rd.0.into()), name(rm.0.into()));
        word.text(if is_byte { "swpb" } else { "swp" }, &operands);
        return Ok(());
    }
    // Of ARMv8 are those that others see in order, exclusive or not.
    let (is_ordered, is_exclusive) = match word.field(8, 4) {
        15 => (false, true),
        14 => (true, true),
        12 => (true, false),
        _ => return Err(FIXED),
    };
    let (suffix, width) = [("", 4), ("d", 8), ("b", 1), ("h", 2)][word.field(21, 2) as usize];
    let is_load = word.bit(20);
    let low = if is_load { 12 } else { 0 };
    if is_load && word.field(0, 4) != 15
        || !is_exclusive && (suffix == "d" || !is_load && word.field(12, 4) != 15)
    {
        return Err(FIXED);
    }
    let first = word.reg(low)?;
    let second = Reg(first.0 + 1);
    let is_double = suffix == "d";
    if is_double && (first.0 & 1 == 1 || u32::from(second.0) == PC) {
        return Err("unpredictable: a pair of registers begins at an even one below lr");
    }
    let data = if is_double {
        format!("{}, {}", name(first.0.into()), name(second.0.into()))
    } else {
        name(first.0.into()).to_owned()
    };
    word.access(access(!is_load, width));
    // The monitor that an exclusive access asks is part of the status that nobody looks into.
    if is_load {
        word.write(first, Out::Nth(0));
        if is_double {
            word.write(second, Out::Nth(1));
        }
        let mnemonic = if is_ordered { "lda" } else { "ldr" };
        word.text(
            &format!("{mnemonic}{}{suffix}", if is_exclusive { "ex" } else { "" }),
            &format!("{data}, [{base_name}]"),
        );
        return Ok(());
    }
    if !is_exclusive {
        word.read_bits(first, Role::Data, if width >= 4 { ALL } else { (1 << (8 * width)) - 1 });
        word.text(&format!("stl{suffix}"), &format!("{data}, [{base_name}]"));
        return Ok(());
    }
    let status = word.reg(12)?;
    if status == base || status == first || is_double && status == second {
        return Err(TWICE);
    }
    word.read_bits(first, Role::Data, if width >= 4 { ALL } else { (1 << (8 * width)) - 1 });
    if is_double {
        word.read(second, Role::Data);
    }
    word.write(status, Out::Result);
    let mnemonic = if is_ordered { "stl" } else { "str" };
    word.text(
        &format!("{mnemonic}ex{suffix}"),
        &format!("{}, {data}, [{base_name}]", name(status.0.into())),
    );
    Ok(())
}
