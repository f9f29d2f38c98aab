//! Instructions of Zicsr, and the names of control and status registers.

use super::{CSR, RiscvWord, name, reg};
use crate::decode::code::{Class, Flow, Instruction, Out, Role, Undecodable};

/// Registers that have a name; the others are written as numbers. Source: volume II,
/// tables 2.2 to 2.6.
const NAMES: &[(u32, &str)] = &[
    (0x001, "fflags"),
    (0x002, "frm"),
    (0x003, "fcsr"),
    (0x100, "sstatus"),
    (0x104, "sie"),
    (0x105, "stvec"),
    (0x106, "scounteren"),
    (0x10a, "senvcfg"),
    (0x140, "sscratch"),
    (0x141, "sepc"),
    (0x142, "scause"),
    (0x143, "stval"),
    (0x144, "sip"),
    (0x180, "satp"),
    (0x300, "mstatus"),
    (0x301, "misa"),
    (0x302, "medeleg"),
    (0x303, "mideleg"),
    (0x304, "mie"),
    (0x305, "mtvec"),
    (0x306, "mcounteren"),
    (0x30a, "menvcfg"),
    (0x320, "mcountinhibit"),
    (0x340, "mscratch"),
    (0x341, "mepc"),
    (0x342, "mcause"),
    (0x343, "mtval"),
    (0x344, "mip"),
    (0x7a0, "tselect"),
    (0x7a1, "tdata1"),
    (0x7a2, "tdata2"),
    (0x7a3, "tdata3"),
    (0x7b0, "dcsr"),
    (0x7b1, "dpc"),
    (0xb00, "mcycle"),
    (0xb02, "minstret"),
    (0xc00, "cycle"),
    (0xc01, "time"),
    (0xc02, "instret"),
    (0xf11, "mvendorid"),
    (0xf12, "marchid"),
    (0xf13, "mimpid"),
    (0xf14, "mhartid"),
    (0xf15, "mconfigptr"),
];

/// Counters of RV32 have upper halves.
const NAMES_32: &[(u32, &str)] = &[
    (0x310, "mstatush"),
    (0xb80, "mcycleh"),
    (0xb82, "minstreth"),
    (0xc80, "cycleh"),
    (0xc81, "timeh"),
    (0xc82, "instreth"),
];

fn csr_name(number: u32, is_64: bool) -> String {
    let named = |names: &[(u32, &str)]| {
        names.iter().find(|name| name.0 == number).map(|name| name.1.to_owned())
    };
    named(NAMES)
        .or_else(|| if is_64 { None } else { named(NAMES_32) })
        .unwrap_or_else(|| format!("{number:#x}"))
}

/// Reads and writes of one control and status register.
pub(super) fn decode(word: &RiscvWord) -> Result<Instruction, Undecodable> {
    let (rd, rs1, number) = (word.rd(), word.rs1(), word.word >> 20);
    let is_immediate = word.funct3() & 4 != 0;
    let mnemonic = ["", "csrrw", "csrrs", "csrrc"][(word.funct3() & 3) as usize];
    if mnemonic.is_empty() {
        return word.refuse("the system instruction is reserved");
    }
    if word.word == 0xc000_1073 {
        // A write to a read-only counter is illegal, and is how compilers stop where nothing should
        // come.
        return Ok(word.plain(Class::System, "unimp".to_owned()).flows(Flow::Stop));
    }
    let csr = csr_name(number, word.is_64);
    let d = name(rd);
    // The field of rs1 holds a number of five bits in the immediate forms.
    let source = if is_immediate { rs1.to_string() } else { name(rs1).to_owned() };
    let short = ["", "csrw", "csrs", "csrc"][(word.funct3() & 3) as usize];
    let i = if is_immediate { "i" } else { "" };
    let short_float = match csr.as_str() {
        "fcsr" if !is_immediate => "csr",
        "frm" => "rm",
        "fflags" => "flags",
        _ => "",
    };
    let text = match (mnemonic, is_immediate, rd, rs1) {
        // The names that floating point has for its own.
        ("csrrs", false, _, 0) if !short_float.is_empty() => format!("fr{short_float} {d}"),
        ("csrrw", _, 0, _) if !short_float.is_empty() => format!("fs{short_float}{i} {source}"),
        ("csrrw", ..) if !short_float.is_empty() => format!("fs{short_float}{i} {d}, {source}"),
        ("csrrs", false, _, 0) => match csr.as_str() {
            "cycle" | "time" | "instret" | "cycleh" | "timeh" | "instreth" => {
                format!("rd{csr} {d}")
            }
            _ => format!("csrr {d}, {csr}"),
        },
        (_, _, 0, _) => format!("{short}{i} {csr}, {source}"),
        _ => format!("{mnemonic}{i} {d}, {csr}, {source}"),
    };
    let is_swap = mnemonic == "csrrw";
    let is_read = !is_swap || rd != 0;
    let is_write = is_swap || rs1 != 0;
    let all = word.all();
    let mut it = word.plain(Class::System, text);
    if !is_immediate {
        it = it.reads(reg(rs1), all, Role::Source);
    }
    it = it.reads(CSR, if is_read { all } else { 0 }, Role::Source);
    it = it.writes(CSR, if is_write { all } else { 0 }, Out::Result);
    Ok(it.writes(reg(rd), all, Out::Result))
}
