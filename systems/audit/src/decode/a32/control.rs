//! Branches, status registers, coprocessors, and the words without a condition.

use super::multiply::{half_words, saturation};
use super::word::{ALL, FIXED, NO_PC, UNDEFINED, Word, name};
use super::{C, COPROCESSOR, CPSR, GE, LR, N, Q, SPSR, V, Z};
use crate::decode::code::{Access, Class, Flow, IndexForm, Out, Reg, Role};

pub fn branch(word: &mut Word) -> Result<(), &'static str> {
    let is_call = word.bit(24);
    let target = branch_target(word, 0);
    if is_call {
        word.set_class(Class::Call);
        word.set_flow(Flow::Call { target: Some(target) });
        word.write(LR, Out::Link);
    } else {
        word.set_class(Class::Branch);
        let is_conditional = !word.condition().is_empty();
        word.set_flow(Flow::Branch { target, is_conditional });
    }
    word.text(if is_call { "bl" } else { "b" }, &format!("{target:#x}"));
    Ok(())
}

fn branch_target(word: &Word, half: u64) -> u64 {
    // The highest of 24 bits is the sign.
    let words = i64::from((word.field(0, 24) << 8) as i32 >> 8);
    word.pc().wrapping_add_signed(words * 4).wrapping_add(half) & ALL
}

/// The words between comparisons without S: status, `bx`, `clz`,
/// saturating addition, half-word products.
pub fn miscellaneous(word: &mut Word) -> Result<(), &'static str> {
    if word.bit(25) {
        return match word.field(21, 2) {
            0b01 | 0b11 if word.bit(22) || word.field(16, 4) != 0 => status_write(word),
            0b01 => hint(word),
            op => {
                let (rd, value) = (word.reg(12)?, word.field(16, 4) << 12 | word.field(0, 12));
                super::data::half(word, rd, value, op == 0b10);
                Ok(())
            }
        };
    }
    if word.bit(7) {
        return half_words(word);
    }
    match (word.field(4, 3), word.field(21, 2)) {
        (0, 0 | 2) => status_read(word),
        (0, _) => status_write(word),
        (1, 1) => exchange(word, false),
        (1, 3) => count_zeros(word),
        // Jazelle is trivial in all cores here: it goes on in this state.
        (2, 1) => exchange_as(word, false, "bxj"),
        (3, 1) => exchange(word, true),
        (5, _) => saturating(word),
        (4, 0..3) => checksum(word),
        (6, 3) if word.field(0, 20) == 0x6e => {
            exception_return(word);
            Ok(())
        }
        (7, 1) => breakpoint(word),
        (7, _) => call_upwards(word),
        _ => Err(UNDEFINED),
    }
}

fn status_read(word: &mut Word) -> Result<(), &'static str> {
    if word.bit(9) && word.field(0, 8) == 0 && word.field(10, 2) == 0 {
        let rd = word.reg(12)?;
        return banked(
            word,
            rd,
            u32::from(word.bit(22)),
            word.field(8, 1) << 4 | word.field(16, 4),
            true,
        );
    }
    if word.field(0, 12) != 0 || word.field(16, 4) != 15 {
        return Err(FIXED);
    }
    let rd = word.reg(12)?;
    let is_saved = word.bit(22);
    word.set_class(Class::System);
    if is_saved {
        word.read(SPSR, Role::Source);
    } else {
        word.read(CPSR, Role::Source);
        for flag in [N, Z, C, V, Q, GE[0], GE[1], GE[2], GE[3]] {
            word.read_flag(flag);
        }
    }
    word.write(rd, Out::Result);
    word.text("mrs", &format!("{}, {}", name(rd.0.into()), if is_saved { "spsr" } else { "apsr" }));
    Ok(())
}

fn status_write(word: &mut Word) -> Result<(), &'static str> {
    let mask = word.field(16, 4);
    if !word.bit(25)
        && word.bit(9)
        && word.field(12, 4) == 15
        && word.field(4, 4) == 0
        && word.field(10, 2) == 0
    {
        let rn = word.reg(0)?;
        return banked(word, rn, u32::from(word.bit(22)), word.field(8, 1) << 4 | mask, false);
    }
    if word.field(12, 4) != 15 || mask == 0 {
        return Err(FIXED);
    }
    let is_saved = word.bit(22);
    let letters: String = [(8, 'f'), (4, 's'), (2, 'x'), (1, 'c')]
        .iter()
        .filter(|(bit, _)| mask & bit != 0)
        .map(|(_, it)| it)
        .collect();
    word.set_class(Class::System);
    let operand = if word.bit(25) {
        let value = word.field(0, 8).rotate_right(word.field(8, 4) * 2);
        let smallest = (0..16).map(|idx| idx * 2).find(|&it| value.rotate_left(it) <= 0xff);
        if smallest == Some(word.field(8, 4) * 2) {
            format!("#{value}")
        } else {
            format!("#{}, #{}", word.field(0, 8), word.field(8, 4) * 2)
        }
    } else {
        if word.field(4, 8) != 0 {
            return Err(FIXED);
        }
        let rm = word.reg(0)?;
        let bytes = [0xff, 0xff00, 0xff_0000, 0xff00_0000];
        let bits = (0..4).filter(|idx| mask >> idx & 1 == 1).map(|idx| bytes[idx]).sum();
        word.read_bits(rm, Role::Source, bits);
        name(rm.0.into()).to_owned()
    };
    if is_saved {
        // The fields that are not named stay.
        word.read(SPSR, Role::Source);
        word.write(SPSR, Out::Result);
        word.text("msr", &format!("SPSR_{letters}, {operand}"));
        return Ok(());
    }
    if mask & 8 != 0 {
        word.write_flags(&[N, Z, C, V, Q]);
    }
    if mask & 4 != 0 {
        word.write_flags(&GE);
    }
    if mask & 3 != 0 {
        word.read(CPSR, Role::Source);
        word.write(CPSR, Out::Result);
    }
    if mask & 1 != 0 {
        word.change_mode();
    }
    let name = match mask {
        8 => "APSR_nzcvq".to_owned(),
        4 => "APSR_g".to_owned(),
        12 => "APSR_nzcvqg".to_owned(),
        _ => format!("CPSR_{letters}"),
    };
    word.text("msr", &format!("{name}, {operand}"));
    Ok(())
}

/// A register of another mode (the Virtualization Extensions): what the other mode has is in
/// none of the names.
pub fn banked(
    word: &mut Word,
    reg: Reg,
    is_saved: u32,
    number: u32,
    is_read: bool,
) -> Result<(), &'static str> {
    const MODES: [&str; 16] = [
        "lr_irq", "sp_irq", "lr_svc", "sp_svc", "lr_abt", "sp_abt", "lr_und", "sp_und", "", "", "",
        "", "lr_mon", "sp_mon", "elr_hyp", "sp_hyp",
    ];
    const GENERAL: [&str; 7] = ["r8", "r9", "r10", "r11", "r12", "sp", "lr"];
    let general =
        |nth: u32, mode: &str| GENERAL.get(nth as usize).map(|general| format!("{general}_{mode}"));
    let other = match (is_saved, number) {
        (0, 0..8) => general(number, "usr"),
        (0, 8..16) => general(number - 8, "fiq"),
        (0, _) => {
            Some(MODES[number as usize - 16].to_owned()).filter(|recorded| !recorded.is_empty())
        }
        (_, 14) => Some("SPSR_fiq".to_owned()),
        (_, 16 | 18 | 20 | 22 | 28 | 30) => Some(format!(
            "SPSR_{}",
            ["irq", "svc", "abt", "und", "", "", "mon", "hyp"][(number as usize - 16) / 2]
        )),
        _ => None,
    };
    let other = other.ok_or("unpredictable: there is no register of this number")?;
    word.set_class(Class::System);
    word.read(CPSR, Role::Source);
    if is_read {
        word.write(reg, Out::Result);
        word.text("mrs", &format!("{}, {other}", name(reg.0.into())));
    } else {
        word.read(reg, Role::Source);
        word.write(CPSR, Out::Result);
        word.text("msr", &format!("{other}, {}", name(reg.0.into())));
    }
    Ok(())
}

/// `hlt`, and calls into the hypervisor or the secure monitor, which come back.
fn call_upwards(word: &mut Word) -> Result<(), &'static str> {
    let (kind, number) = (word.field(21, 2), word.field(8, 12) << 4 | word.field(0, 4));
    if kind != 3 && !word.condition().is_empty() || kind == 3 && word.field(8, 12) != 0 {
        return Err("unpredictable: it has no condition, or bits that must be zero are not");
    }
    upwards(word, ["hlt", "", "hvc", "smc"][kind as usize], number);
    Ok(())
}

/// Numbers of `hlt` that call a debugger or emulator, in A32 and in Thumb: semihosting.
const SEMIHOSTING: [u32; 2] = [0xf000, 0x3c];

/// One of these; of Thumb, too.
pub fn upwards(word: &mut Word, mnemonic: &str, number: u32) {
    word.set_class(Class::System);
    if mnemonic == "hlt" && !SEMIHOSTING.contains(&number) {
        word.set_flow(Flow::Stop);
    } else {
        word.call_system();
    }
    word.text(mnemonic, &format!("#{number}"));
}

/// `eret`: back from the hypervisor.
fn exception_return(word: &mut Word) {
    word.set_class(Class::Return);
    word.read(SPSR, Role::Source);
    word.write(CPSR, Out::Result);
    word.write_flags(&[N, Z, C, V, Q, GE[0], GE[1], GE[2], GE[3]]);
    word.set_flow(Flow::Resume);
    word.text("eret", "");
}

/// `crc32` and its relatives, of ARMv8.
fn checksum(word: &mut Word) -> Result<(), &'static str> {
    if word.field(8, 4) & !2 != 0 || !word.condition().is_empty() {
        return Err(FIXED);
    }
    let (rd, rn, rm, size) = (word.reg(12)?, word.reg(16)?, word.reg(0)?, word.field(21, 2));
    word.set_class(Class::Mul);
    word.read(rn, Role::Source);
    word.read_bits(rm, Role::Source, if size == 2 { ALL } else { (1 << (8 << size)) - 1 });
    word.write(rd, Out::Result);
    let mnemonic =
        format!("crc32{}{}", if word.bit(9) { "c" } else { "" }, ["b", "h", "w"][size as usize]);
    word.text(&mnemonic, &[rd, rn, rm].map(|pair| name(pair.0.into())).join(", "));
    Ok(())
}

/// `nop`, `yield`, `wfe`, `wfi`, `sev`, and those that were nothing when they were new.
fn hint(word: &mut Word) -> Result<(), &'static str> {
    if word.field(8, 8) != 0xf0 {
        return Err(FIXED);
    }
    let number = word.field(0, 8);
    let names = ["nop", "yield", "wfe", "wfi", "sev"];
    word.set_class(if number == 0 { Class::Nop } else { Class::System });
    match (names.get(number as usize), number) {
        (Some(name), _) => word.text(name, ""),
        (None, 20) => word.text("csdb", ""),
        (None, 0xf0..) => word.text("dbg", &format!("#{}", number & 15)),
        (None, _) => word.text("hint", &format!("#{number}")),
    }
    Ok(())
}

fn exchange(word: &mut Word, is_call: bool) -> Result<(), &'static str> {
    exchange_as(word, is_call, if is_call { "blx" } else { "bx" })
}

fn exchange_as(word: &mut Word, is_call: bool, mnemonic: &str) -> Result<(), &'static str> {
    if word.field(8, 12) != 0xfff {
        return Err(FIXED);
    }
    jump_to(word, is_call, mnemonic)
}

/// A jump or a call to where the register in the lowest four bits says.
pub fn jump_to(word: &mut Word, is_call: bool, mnemonic: &str) -> Result<(), &'static str> {
    let target = match (word.reg_or_pc(0), is_call) {
        (Some(reg), _) => Some(reg),
        (None, true) => return Err(NO_PC),
        (None, false) => None,
    };
    if let Some(reg) = target {
        word.read(reg, Role::Target);
    }
    let text = name(word.field(0, 4));
    if is_call {
        word.set_class(Class::Call);
        word.set_flow(Flow::Call { target: None });
        word.write(LR, Out::Link);
    } else if target == Some(LR) {
        word.set_class(Class::Return);
        word.set_flow(Flow::Return);
    } else {
        word.set_class(Class::Jump);
        word.set_flow(Flow::Jump);
    }
    word.text(mnemonic, text);
    Ok(())
}

fn count_zeros(word: &mut Word) -> Result<(), &'static str> {
    if word.field(16, 4) != 15 || word.field(8, 4) != 15 {
        return Err(FIXED);
    }
    let (rd, rm) = (word.reg(12)?, word.reg(0)?);
    word.set_class(Class::Alu);
    word.read(rm, Role::Source);
    word.write(rd, Out::Result);
    word.text("clz", &format!("{}, {}", name(rd.0.into()), name(rm.0.into())));
    Ok(())
}

/// `qadd` and its three relatives.
pub fn saturating(word: &mut Word) -> Result<(), &'static str> {
    if word.field(8, 4) != 0 {
        return Err(FIXED);
    }
    let (rd, rn, rm) = (word.reg(12)?, word.reg(16)?, word.reg(0)?);
    word.set_class(Class::Alu);
    word.read(rm, Role::Source);
    word.read(rn, Role::Source);
    word.write(rd, Out::Result);
    saturation(word);
    let mnemonic = ["qadd", "qsub", "qdadd", "qdsub"][word.field(21, 2) as usize];
    word.text(mnemonic, &[rd, rm, rn].map(|pair| name(pair.0.into())).join(", "));
    Ok(())
}

fn breakpoint(word: &mut Word) -> Result<(), &'static str> {
    if !word.condition().is_empty() {
        return Err("unpredictable: a breakpoint has no condition");
    }
    word.set_class(Class::System);
    word.set_flow(Flow::Stop);
    word.text("bkpt", &format!("#{}", word.field(8, 12) << 4 | word.field(0, 4)));
    Ok(())
}

/// `svc`, and everything that coprocessors do but floating point.
pub fn coprocessor(word: &mut Word) -> Result<(), &'static str> {
    if word.field(24, 4) == 15 {
        word.set_class(Class::System);
        word.call_system();
        word.text("svc", &format!("#{}", word.field(0, 24)));
        return Ok(());
    }
    coprocessor_work(word, "")
}

/// A word of a coprocessor; the names of those without a condition end with `two`.
pub fn coprocessor_work(word: &mut Word, two: &str) -> Result<(), &'static str> {
    let number = word.field(8, 4);
    if matches!(number, 10 | 11) {
        return Err("from a later architecture: vectors and floating point without condition");
    }
    word.set_class(Class::System);
    word.read(COPROCESSOR, Role::Source);
    word.write(COPROCESSOR, Out::Result);
    let is_load = word.bit(20);
    let (crn, crm, crd) = (word.field(16, 4), word.field(0, 4), word.field(12, 4));
    if word.field(24, 4) == 14 {
        let op2 = word.field(5, 3);
        if !word.bit(4) {
            let op1 = word.field(20, 4);
            word.text(
                &format!("cdp{two}"),
                &format!("p{number}, #{op1}, c{crd}, c{crn}, c{crm}, #{op2}"),
            );
            return Ok(());
        }
        let op1 = word.field(21, 3);
        match word.reg_or_pc(12) {
            Some(reg) if is_load => word.write(reg, Out::Result),
            Some(reg) => word.read(reg, Role::Data),
            // The flags come from the coprocessor.
            None if is_load => word.write_flags(&[N, Z, C, V]),
            None => return Err(NO_PC),
        }
        let rt = if crd == 15 { "apsr_nzcv" } else { name(crd) };
        let mnemonic = if is_load { "mrc" } else { "mcr" };
        word.text(
            &format!("{mnemonic}{two}"),
            &format!("p{number}, #{op1}, {rt}, c{crn}, c{crm}, #{op2}"),
        );
        return Ok(());
    }
    if word.field(21, 4) == 2 {
        let (first, second) = (word.reg(12)?, word.reg(16)?);
        for (nth, reg) in [first, second].into_iter().enumerate() {
            if is_load {
                word.write(reg, if nth == 0 { Out::Result } else { Out::High })
            } else {
                word.read(reg, Role::Data)
            }
        }
        if is_load && first == second {
            return Err(super::word::TWICE);
        }
        let mnemonic = if is_load { "mrrc" } else { "mcrr" };
        let operands = format!(
            "p{number}, #{}, {}, {}, c{crm}",
            word.field(4, 4),
            name(first.0.into()),
            name(second.0.into())
        );
        word.text(&format!("{mnemonic}{two}"), &operands);
        return Ok(());
    }
    coprocessor_transfer(word, two, number)
}

fn coprocessor_transfer(word: &mut Word, two: &str, number: u32) -> Result<(), &'static str> {
    let (is_pre, is_up, writes_back) = (word.bit(24), word.bit(23), word.bit(21));
    if !is_pre && !is_up && !writes_back {
        return Err(UNDEFINED);
    }
    let is_load = word.bit(20);
    let base = word.reg_or_pc(16);
    let changes = writes_back;
    if base.is_none() && changes {
        return Err(NO_PC);
    }
    let by = i64::from(word.field(0, 8)) * 4 * if is_up { 1 } else { -1 };
    if let Some(base) = base {
        word.read(base, Role::Base);
        if changes {
            word.write(base, Out::BaseUpdate);
        }
    }
    let disp = if is_pre { by } else { 0 };
    let disp = if base.is_none() { word.pc() as i64 + disp } else { disp };
    // How much is moved, the coprocessor decides: the most there is.
    word.access(Access {
        is_store: !is_load,
        base,
        index: None,
        index_form: IndexForm::Whole,
        disp,
        width: 128,
    });
    let minus_zero = if by == 0 && !is_up { "#-0".to_owned() } else { format!("#{by}") };
    let base_name = name(word.field(16, 4));
    let address = match (is_pre, writes_back) {
        (true, false) if by == 0 && is_up => format!("[{base_name}]"),
        (true, false) => format!("[{base_name}, {minus_zero}]"),
        (true, true) => format!("[{base_name}, {minus_zero}]!"),
        (false, true) => format!("[{base_name}], {minus_zero}"),
        (false, false) => format!("[{base_name}], {{{}}}", word.field(0, 8)),
    };
    let long = if word.bit(22) { "l" } else { "" };
    let mnemonic = if is_load { "ldc" } else { "stc" };
    word.text(
        &format!("{mnemonic}{two}{long}"),
        &format!("p{number}, c{}, {address}", word.field(12, 4)),
    );
    Ok(())
}

/// The words whose highest four bits are ones.
pub fn unconditional(word: &mut Word) -> Result<(), &'static str> {
    let all = word.all();
    match all >> 24 & 15 {
        0x0 if all >> 16 & 0xf1ff == 0xf101 => endianness(word),
        0x1 if all & 0x0ff1_0020 == 0x0100_0000 => processor_state(word),
        0x1 if all & 0xffff_fdff == 0xf110_0000 => {
            privileged_access(word, word.field(9, 1));
            Ok(())
        }
        0x1 if all & 0xffff_fdff == 0xf101_0000 => endianness(word),
        0x4..=0x7 if all & 0x0d30_f000 == 0x0510_f000 || all & 0x0d70_f000 == 0x0450_f000 => {
            preload(word)
        }
        0x2 | 0x3 => super::vector::vector(word),
        0x4 if !word.bit(20) => super::vector_memory::structures(word),
        0x5 if all == 0xf57f_f01f => {
            clear_monitor(word);
            Ok(())
        }
        0x5 if all & 0xffff_ff80 == 0xf57f_f000 => barrier(word),
        0x8 | 0x9 => exception_state(word),
        0xa | 0xb => {
            let target = branch_target(word, u64::from(word.bit(24)) * 2);
            word.set_class(Class::Call);
            word.set_flow(Flow::Call { target: Some(target) });
            word.write(LR, Out::Link);
            word.text("blx", &format!("{target:#x}"));
            Ok(())
        }
        0xe if matches!(word.field(8, 4), 10 | 11) => super::later_float::unconditional(word),
        0xc..=0xe => coprocessor_work(word, "2"),
        _ => Err(UNDEFINED),
    }
}

fn endianness(word: &mut Word) -> Result<(), &'static str> {
    if word.all() & 0xffff_fdff != 0xf101_0000 {
        return Err(FIXED);
    }
    word.set_class(Class::System);
    word.read(CPSR, Role::Source);
    word.write(CPSR, Out::Result);
    word.text("setend", if word.bit(9) { "be" } else { "le" });
    Ok(())
}

fn processor_state(word: &mut Word) -> Result<(), &'static str> {
    let (kind, sets_mode) = (word.field(18, 2), word.bit(17));
    let flags: String = [(8, 'a'), (7, 'i'), (6, 'f')]
        .iter()
        .filter(|(bit, _)| word.bit(*bit))
        .map(|(_, it)| it)
        .collect();
    let mode = word.field(0, 5);
    let is_empty = flags.is_empty();
    if word.field(9, 7) != 0
        || word.bit(5)
        || kind == 1
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
    match (kind, sets_mode) {
        (0, _) => word.text("cps", &format!("#{mode}")),
        (kind, true) => {
            word.text(if kind == 2 { "cpsie" } else { "cpsid" }, &format!("{flags}, #{mode}"))
        }
        (kind, false) => word.text(if kind == 2 { "cpsie" } else { "cpsid" }, &flags),
    }
    Ok(())
}

pub fn privileged_access(word: &mut Word, value: u32) {
    word.set_class(Class::System);
    word.read(CPSR, Role::Source);
    word.write(CPSR, Out::Result);
    word.text("setpan", &format!("#{value}"));
}

pub fn clear_monitor(word: &mut Word) {
    word.set_class(Class::System);
    word.read(CPSR, Role::Source);
    word.write(CPSR, Out::Result);
    word.text("clrex", "");
}

/// `dsb`, `dmb`, `isb`; the fields are those of Thumb, too.
pub fn barrier(word: &mut Word) -> Result<(), &'static str> {
    let option = word.field(0, 4);
    let names = [
        "", "", "oshst", "osh", "", "", "nshst", "nsh", "", "ishld", "ishst", "ish", "", "ld",
        "st", "sy",
    ];
    let name = match names[option as usize] {
        "" => format!("#{option}"),
        name => name.to_owned(),
    };
    word.set_class(Class::System);
    word.read(CPSR, Role::Source);
    word.write(CPSR, Out::Result);
    match word.field(4, 4) {
        4 if option == 0 => word.text("ssbb", ""),
        4 if option == 4 => word.text("pssbb", ""),
        4 => word.text("dsb", &name),
        5 => word.text("dmb", &name),
        7 if option == 0 => word.text("sb", ""),
        6 => word.text("isb", &if option == 15 { name } else { format!("#{option}") }),
        _ => return Err(UNDEFINED),
    }
    Ok(())
}

/// `pld`, `pldw`, `pli`: a wish, not an access.
fn preload(word: &mut Word) -> Result<(), &'static str> {
    let mnemonic = match (word.bit(24), word.bit(22)) {
        (false, _) => "pli",
        (true, true) => "pld",
        (true, false) => "pldw",
    };
    word.set_class(Class::Load);
    let sign = if word.bit(23) { "" } else { "-" };
    if let Some(base) = word.reg_or_pc(16) {
        word.read(base, Role::Base);
    }
    let base = name(word.field(16, 4));
    if word.bit(25) {
        if word.bit(4) {
            return Err(UNDEFINED);
        }
        let index = word.reg(0)?;
        word.read(index, Role::Index);
        let shift = match super::data::shift_by_constant(word) {
            Some((crate::decode::code::Shift::Left, 0)) => String::new(),
            Some((shift, by)) => format!(", {} #{by}", super::data::shift_name(shift)),
            None => {
                word.read_flag(C);
                ", rrx".to_owned()
            }
        };
        word.text(mnemonic, &format!("[{base}, {sign}{}{shift}]", name(index.0.into())));
    } else if word.field(0, 12) == 0 && sign.is_empty() {
        word.text(mnemonic, &format!("[{base}]"));
    } else {
        word.text(mnemonic, &format!("[{base}, #{sign}{}]", word.field(0, 12)));
    }
    Ok(())
}

pub fn exception_state(word: &mut Word) -> Result<(), &'static str> {
    let mode = ["da", "ia", "db", "ib"][(word.field(23, 2)) as usize];
    let bang = if word.bit(21) { "!" } else { "" };
    let start = match word.field(23, 2) {
        0 => -4,
        1 => 0,
        2 => -8,
        _ => 4,
    };
    word.set_class(Class::System);
    match (word.bit(22), word.bit(20)) {
        (true, false) => {
            if word.field(16, 4) != 13 || word.field(5, 11) != 0x28 {
                return Err(FIXED);
            }
            // The stack pointer of the mode that is named, so no register of this mode.
            word.read(CPSR, Role::Source);
            word.read(SPSR, Role::Data);
            word.read(LR, Role::Data);
            word.access(Access {
                is_store: true,
                base: None,
                index: None,
                index_form: IndexForm::Whole,
                disp: 0,
                width: 8,
            });
            word.text(&format!("srs{mode}"), &format!("sp{bang}, #{}", word.field(0, 5)));
        }
        (false, true) => {
            if word.field(0, 16) != 0x0a00 {
                return Err(FIXED);
            }
            let base = word.reg(16)?;
            word.read(base, Role::Base);
            if word.bit(21) {
                word.write(base, Out::BaseUpdate);
            }
            word.write(CPSR, Out::Result);
            word.write_flags(&[N, Z, C, V, Q, GE[0], GE[1], GE[2], GE[3]]);
            word.access(Access {
                is_store: false,
                base: Some(base),
                index: None,
                index_form: IndexForm::Whole,
                disp: start,
                width: 8,
            });
            word.set_flow(Flow::Resume);
            word.text(&format!("rfe{mode}"), &format!("{}{bang}", name(base.0.into())));
        }
        _ => return Err(UNDEFINED),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::decode::Isa;
    use crate::decode::code::{Flow, Op, Value};

    #[test]
    fn branches_count_from_two_words_on() {
        let it = Isa::A32.decode(0x1000, &0x1aff_fffeu32.to_le_bytes()).expect("it is a branch");
        assert_eq!(
            (it.text.as_str(), it.flow),
            ("bne 0x1000", Flow::Branch { target: 0x1000, is_conditional: true })
        );
        assert!(it.is_guarded());
    }

    #[test]
    fn the_program_counter_is_a_constant() {
        let it = Isa::A32.decode(0x1000, &0xe28f_0010u32.to_le_bytes()).expect("it is an addition");
        assert!(it.reads.is_empty());
        let operation = it.operation.expect("an addition is followed");
        assert_eq!(
            (operation.op, operation.a, operation.b),
            (Op::Add, Value::Const(0x1008), Value::Const(0x10))
        );
    }
}
