//! Branches, hints, barriers and special registers.

use super::super::a32::control as a32;
use super::super::a32::word::{ALL, FIXED, INSIDE, UNDEFINED, Word, name};
use super::super::a32::{C, CPSR, GE, LR, N, Q, SPSR, V, Z};
use super::{Block, data, general};
use crate::decode::code::{Class, Flow, Instruction, Out, Reg, Role};

const CONDITIONS: [&str; 15] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"];

/// It may not come back: such an instruction must be the last of its block.
pub fn leaves(it: &Instruction) -> bool {
    !matches!(it.flow, Flow::Next | Flow::Stop)
}

/// A branch so far from the program counter.
pub fn branch(word: &mut Word, by: i64) {
    let target = word.pc().wrapping_add_signed(by) & ALL;
    word.set_class(Class::Branch);
    let is_conditional = !word.condition().is_empty();
    word.set_flow(Flow::Branch { target, is_conditional });
    word.text("b", &format!("{target:#x}"));
}

/// `bkpt`; with the number of semihosting (Arm's Semihosting 2.0, 2023Q3) a call to a debugger or
/// emulator, which comes back.
pub fn breakpoint(word: &mut Word) {
    word.set_class(Class::System);
    match word.field(0, 8) {
        0xab => word.call_system(),
        _ => word.set_flow(Flow::Stop),
    }
    word.text("bkpt", &format!("#{}", word.field(0, 8)));
}

pub fn stop(word: &mut Word, number: u32) {
    word.set_class(Class::System);
    word.set_flow(Flow::Stop);
    word.text("udf", &format!("#{number}"));
}

/// The words of 16 bits that begin with 0xbf.
pub fn hint_or_block(word: &mut Word, block: Block) -> Result<(), &'static str> {
    let (first, mask) = (word.field(4, 4), word.field(0, 4));
    if mask == 0 {
        hint(word, first);
        return Ok(());
    }
    let letters = 3 - mask.trailing_zeros();
    if block.is_open() {
        return Err(INSIDE);
    }
    // `always` has no opposite.
    if first == 15 || first == 14 && mask.count_ones() > 1 {
        return Err("unpredictable: the condition of the block is none");
    }
    let then = |nth: u32| if mask >> (3 - nth) & 1 == first & 1 { 't' } else { 'e' };
    let mnemonic: String = "it".chars().chain((0..letters).map(then)).collect();
    word.set_class(Class::Nop);
    word.text(&mnemonic, CONDITIONS[first as usize]);
    Ok(())
}

fn hint(word: &mut Word, number: u32) {
    let names = ["nop", "yield", "wfe", "wfi", "sev"];
    word.set_class(if number == 0 { Class::Nop } else { Class::System });
    match names.get(number as usize) {
        Some(name) => word.text(name, ""),
        None => word.text("hint", &format!("#{number}")),
    }
}

/// The words of 32 bits with a 1 in the highest bit of the second half.
pub fn branch_or_system(word: &mut Word, block: Block) -> Result<(), &'static str> {
    match (word.bit(14), word.bit(12)) {
        (false, false) if word.field(23, 3) != 7 => {
            let places = [(26, 20), (11, 19), (13, 18)];
            let high: u32 = places.iter().map(|&(from, to)| word.field(from, 1) << to).sum();
            let offset = high | word.field(16, 6) << 12 | word.field(0, 11) << 1;
            word.set_suffix(".w");
            branch(word, i64::from((offset << 11) as i32 >> 11));
            Ok(())
        }
        (false, false) => system(word, block),
        (false, true) => {
            let by = long_offset(word);
            word.set_suffix(".w");
            branch(word, by);
            Ok(())
        }
        (true, is_same_state) => {
            if !is_same_state && word.bit(0) {
                return Err("from a later architecture: loops of ARMv8.1-M");
            }
            let by = long_offset(word);
            if !is_same_state {
                word.align_pc();
            }
            let target = word.pc().wrapping_add_signed(by) & ALL;
            word.set_class(Class::Call);
            word.set_flow(Flow::Call { target: Some(target) });
            word.write(LR, Out::Link);
            word.text(if is_same_state { "bl" } else { "blx" }, &format!("{target:#x}"));
            Ok(())
        }
    }
}

/// The 25 bits of a long branch: two of them stand as what they are not if the sign is 0.
fn long_offset(word: &Word) -> i64 {
    let sign = word.field(26, 1);
    let (high, low) = (word.field(13, 1) ^ sign ^ 1, word.field(11, 1) ^ sign ^ 1);
    let offset =
        sign << 24 | high << 23 | low << 22 | word.field(16, 10) << 12 | word.field(0, 11) << 1;
    i64::from((offset << 7) as i32 >> 7)
}

fn system(word: &mut Word, block: Block) -> Result<(), &'static str> {
    match word.field(20, 7) {
        0x38 | 0x39 => status_write(word),
        0x3a => {
            if word.field(16, 4) != 15 || word.field(11, 3) != 0 {
                return Err(FIXED);
            }
            if word.field(8, 3) != 0 {
                return processor_state(word, block);
            }
            let number = word.field(0, 8);
            if number >= 0xf0 {
                word.set_class(Class::System);
                word.text("dbg", &format!("#{}", number & 15));
                return Ok(());
            }
            if number == 20 {
                word.set_class(Class::System);
                word.text("csdb", "");
                return Ok(());
            }
            if number == 15 {
                word.set_class(Class::Nop);
                word.text("bti", "");
                return Ok(());
            }
            if matches!(number, 13 | 29 | 45) {
                return Err("from a later architecture: pointer authentication");
            }
            word.set_suffix(".w");
            hint(word, number);
            Ok(())
        }
        0x3b => barrier(word, block),
        0x3c if word.field(0, 12) == 0xf00 => {
            let rm = word.field(16, 4);
            jump_through(word, rm, block)
        }
        0x3c => Err(FIXED),
        0x3d => data::exception_return(word),
        0x3e | 0x3f => status_read(word),
        0x78 if word.field(2, 18) == 0x3_e000 && word.field(0, 2) != 0 => {
            word.set_class(Class::System);
            word.call_system();
            let level = word.field(0, 2);
            word.text(&format!("dcps{level}"), "");
            Ok(())
        }
        0x7e if word.bit(13) => Err(UNDEFINED),
        0x7e if block.is_open() => Err(INSIDE),
        0x7e => {
            let number = word.field(16, 4) << 12 | word.field(0, 12);
            a32::upwards(word, "hvc", number);
            Ok(())
        }
        0x7f if word.bit(13) => {
            word.set_suffix(".w");
            let number = word.field(16, 4) << 12 | word.field(0, 12);
            stop(word, number);
            Ok(())
        }
        0x7f if word.field(0, 12) != 0 => Err(FIXED),
        0x7f => {
            let number = word.field(16, 4);
            a32::upwards(word, "smc", number);
            Ok(())
        }
        _ => Err(UNDEFINED),
    }
}

/// `bxj`: Jazelle is trivial in all cores here, so it goes on in this state.
fn jump_through(word: &mut Word, rm: u32, block: Block) -> Result<(), &'static str> {
    if matches!(rm, 13 | 15) || block.goes_on() {
        return Err("unpredictable: the register cannot stand here, or the block goes on");
    }
    let reg = Reg(rm as u8);
    word.read(reg, Role::Target);
    word.set_class(if reg == LR { Class::Return } else { Class::Jump });
    word.set_flow(if reg == LR { Flow::Return } else { Flow::Jump });
    word.text("bxj", name(rm));
    Ok(())
}

/// `cps` of the A and R profiles.
fn processor_state(word: &mut Word, block: Block) -> Result<(), &'static str> {
    if block.is_open() {
        return Err(INSIDE);
    }
    let (kind, sets_mode, mode) = (word.field(9, 2), word.bit(8), word.field(0, 5));
    let letters: String = [(7, 'a'), (6, 'i'), (5, 'f')]
        .iter()
        .filter(|(bit, _)| word.bit(*bit))
        .map(|(_, it)| it)
        .collect();
    let is_empty = letters.is_empty();
    if kind == 1
        || kind == 0 && (!sets_mode || !is_empty)
        || kind != 0 && is_empty
        || !sets_mode && mode != 0
    {
        return Err(FIXED);
    }
    word.set_class(Class::System);
    word.read(CPSR, Role::Source);
    word.write(CPSR, Out::Result);
    if sets_mode {
        word.change_mode();
    }
    let mnemonic = ["cps", "", "cpsie", "cpsid"][kind as usize];
    let has_mode = kind != 0 && sets_mode;
    if kind != 0 && !has_mode {
        word.set_suffix(".w");
    }
    let operands = match (kind, sets_mode) {
        (0, _) => format!("#{mode}"),
        (_, true) => format!("{letters}, #{mode}"),
        (_, false) => letters,
    };
    word.text(mnemonic, &operands);
    Ok(())
}

fn barrier(word: &mut Word, block: Block) -> Result<(), &'static str> {
    if word.field(16, 4) != 15 || word.field(8, 6) != 0xf {
        return Err(FIXED);
    }
    if block.is_open() {
        return Err(INSIDE);
    }
    match word.field(0, 8) {
        0x2f => a32::clear_monitor(word),
        _ => return a32::barrier(word),
    }
    Ok(())
}

/// The special registers of the M profile by number; those of the secure state have 128 more.
fn special(number: u32) -> Option<&'static str> {
    Some(match number {
        0 => "apsr",
        1 => "iapsr",
        2 => "eapsr",
        3 => "xpsr",
        5 => "ipsr",
        6 => "epsr",
        7 => "iepsr",
        8 => "msp",
        9 => "psp",
        10 => "msplim",
        11 => "psplim",
        16 => "primask",
        17 => "basepri",
        18 => "basepri_max",
        19 => "faultmask",
        20 => "control",
        136 => "msp_ns",
        137 => "psp_ns",
        138 => "msplim_ns",
        139 => "psplim_ns",
        144 => "primask_ns",
        145 => "basepri_ns",
        147 => "faultmask_ns",
        148 => "control_ns",
        152 => "sp_ns",
        _ => return None,
    })
}

fn status_read(word: &mut Word) -> Result<(), &'static str> {
    if word.field(12, 4) != 8 {
        return Err(FIXED);
    }
    general(word, &[8])?;
    if word.field(5, 3) == 1 && word.field(0, 4) == 0 {
        let rd = Reg(word.field(8, 4) as u8);
        return a32::banked(
            word,
            rd,
            word.field(20, 1),
            word.field(4, 1) << 4 | word.field(16, 4),
            true,
        );
    }
    let (rd, number) = (Reg(word.field(8, 4) as u8), word.field(0, 8));
    if word.field(16, 4) != 15 || number != 0 && word.bit(20) {
        return Err("unpredictable, or of the Virtualization Extensions: registers of other modes");
    }
    word.set_class(Class::System);
    word.write(rd, Out::Result);
    let name_of = if word.bit(20) {
        word.read(SPSR, Role::Source);
        "spsr"
    } else {
        word.read(CPSR, Role::Source);
        special(number).ok_or("unpredictable: there is no special register of this number")?
    };
    // The first four are views of the status with its flags.
    if !word.bit(20) && number < 4 {
        for flag in [N, Z, C, V, Q, GE[0], GE[1], GE[2], GE[3]] {
            word.read_flag(flag);
        }
    }
    word.text("mrs", &format!("{}, {name_of}", name(rd.0.into())));
    Ok(())
}

fn status_write(word: &mut Word) -> Result<(), &'static str> {
    if word.field(12, 4) != 8 {
        return Err(FIXED);
    }
    general(word, &[16])?;
    if word.field(5, 3) == 1 && word.field(0, 4) == 0 {
        let rn = Reg(word.field(16, 4) as u8);
        return a32::banked(
            word,
            rn,
            word.field(20, 1),
            word.field(4, 1) << 4 | word.field(8, 4),
            false,
        );
    }
    let (rn, number, mask) = (Reg(word.field(16, 4) as u8), word.field(0, 8), word.field(8, 4));
    word.set_class(Class::System);
    word.read(rn, Role::Source);
    let from = name(rn.0.into());
    if word.bit(20) {
        if number != 0 || mask == 0 {
            return Err(if number == 0 {
                FIXED
            } else {
                "unpredictable, or of the Virtualization Extensions: registers of other modes"
            });
        }
        word.read(SPSR, Role::Source);
        word.write(SPSR, Out::Result);
        word.text("msr", &format!("SPSR_{}, {from}", letters(mask)));
        return Ok(());
    }
    if mask == 0 || number != 0 && mask & 3 != 0 || number >= 4 && mask != 8 {
        return Err(FIXED);
    }
    let name_of =
        special(number).ok_or("unpredictable: there is no special register of this number")?;
    if number < 4 {
        if mask & 8 != 0 {
            word.write_flags(&[N, Z, C, V, Q]);
        }
        if mask & 4 != 0 {
            word.write_flags(&GE);
        }
    }
    // Masks, stack pointers and modes: who has what is in none of the names.
    if number >= 4 || mask & 3 != 0 {
        word.read(CPSR, Role::Source);
        word.write(CPSR, Out::Result);
    }
    if number >= 8 && !matches!(number & 0x7f, 16..=19) || mask & 1 != 0 {
        word.change_mode();
    }
    let suffix = match mask {
        8 => "_nzcvq",
        4 => "_g",
        _ => "_nzcvqg",
    };
    let text = match (number, mask & 3) {
        (0, 1..) => format!("CPSR_{}", letters(mask)),
        (0..4, _) => format!("{name_of}{suffix}"),
        _ => name_of.to_owned(),
    };
    word.text("msr", &format!("{text}, {from}"));
    Ok(())
}

fn letters(mask: u32) -> String {
    [(8, 'f'), (4, 's'), (2, 'x'), (1, 'c')]
        .iter()
        .filter(|(bit, _)| mask & bit != 0)
        .map(|(_, it)| it)
        .collect()
}
