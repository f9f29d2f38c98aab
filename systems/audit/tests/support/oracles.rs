//! Door: two independent disassemblers, llvm-mc and capstone, and texts of three origins in one form.

use std::process::Command;
use std::time::Duration;

use audit::decode::Isa;

/// What llvm-mc makes of each instruction; `None` where it refuses.
pub fn llvm(isa: Isa, instructions: &[Vec<u8>]) -> Vec<Option<String>> {
    let (triple, features) = match isa {
        Isa::A32 => ("armv6k", "+v6k,+trustzone,+vfp2"),
        Isa::Sparc => ("sparc", "+hasleoncasa,+hasumacsmac"),
        Isa::Riscv32 => ("riscv32", "+m,+a,+f,+d,+c,+zba,+zbb,+zbs,+zicond"),
        Isa::Riscv64 => ("riscv64", "+m,+a,+f,+d,+c,+zba,+zbb,+zbs,+zicond"),
        Isa::A64 => ("aarch64", "+crc,+lse,+el3,+aes,+sha2,+rdm,+dotprod"),
        Isa::X86 => ("x86_64", ""),
    };
    // One instruction a line; brackets keep llvm-mc from going on at an odd place behind a refusal.
    let line = |bytes: &Vec<u8>| format!("[{}]\n", bytes.iter().map(|it| format!("{it:#04x} ")).collect::<String>());
    let input: String = instructions.iter().map(line).collect();
    let mut command = Command::new("llvm-mc-19");
    command.args(["--disassemble", "--triple", triple]);
    if !features.is_empty() {
        command.args(["--mattr", features]);
    }
    // A refusal is no failure of the tool.
    let ran = measure::tool::run(&mut command, input.as_bytes(), Duration::from_secs(120)).unwrap_or_else(|error| panic!("{error}"));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let mut is_refused = vec![false; instructions.len()];
    for line in said.lines().filter(|line| line.contains("invalid instruction encoding")) {
        let number = line.split(':').nth(1).and_then(|it| it.parse::<usize>().ok());
        is_refused[number.unwrap_or_else(|| panic!("a warning without a line: {line}")) - 1] = true;
    }
    let text = ran.text();
    let mut texts = text.lines().map(str::trim).filter(|it| !it.is_empty() && *it != ".text");
    let all: Vec<Option<String>> =
        is_refused.iter().map(|&it| if it { None } else { Some(texts.next().expect("one text an instruction").to_owned()) }).collect();
    assert_eq!(texts.next(), None, "llvm-mc wrote more texts than it read instructions");
    all
}

/// What capstone makes of each instruction; `None` where it refuses.
#[allow(dead_code)]
pub fn capstone(isa: Isa, instructions: &[Vec<u8>]) -> Vec<Option<String>> {
    use capstone::prelude::*;
    let engine = match isa {
        Isa::A32 => Capstone::new().arm().mode(arch::arm::ArchMode::Arm).build(),
        Isa::Sparc => Capstone::new().sparc().mode(arch::sparc::ArchMode::Default).build(),
        Isa::Riscv32 => Capstone::new()
            .riscv()
            .mode(arch::riscv::ArchMode::RiscV32)
            .extra_mode([arch::riscv::ArchExtraMode::RiscVC].into_iter())
            .build(),
        Isa::Riscv64 => Capstone::new()
            .riscv()
            .mode(arch::riscv::ArchMode::RiscV64)
            .extra_mode([arch::riscv::ArchExtraMode::RiscVC].into_iter())
            .build(),
        Isa::A64 => Capstone::new().arm64().mode(arch::arm64::ArchMode::Arm).build(),
        Isa::X86 => Capstone::new().x86().mode(arch::x86::ArchMode::Mode64).build(),
    };
    let engine = engine.expect("capstone is built with every instruction set");
    let decode = |bytes: &Vec<u8>| {
        let found = engine.disasm_count(bytes, 0, 1).expect("capstone answers");
        let it = found.iter().next().filter(|it| it.len() == bytes.len())?;
        Some(format!("{} {}", it.mnemonic().unwrap_or(""), it.op_str().unwrap_or("")))
    };
    instructions.iter().map(decode).collect()
}

/// The words and numbers of a text, without comments and without what assemblers write differently:
/// spaces, `#` and `$` before numbers, and their base.
pub fn tokens(text: &str) -> Vec<String> {
    let text = text.split("//").next().unwrap_or("").split(" @").next().unwrap_or("").to_lowercase();
    let mut found: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|it: char| !(it.is_alphanumeric() || "._%".contains(it))).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(c.len_utf8()));
        rest = after;
        match number(word) {
            Some(value) => {
                // A sign belongs to the number unless something stands before it.
                let is_negative = found.last().is_some_and(|it| it == "-");
                if is_negative {
                    found.pop();
                }
                found.push(if is_negative { value.wrapping_neg() } else { value }.to_string());
            }
            None if word.trim().is_empty() || ["#", "$", "+"].contains(&word) => {}
            // SPARC's stack and frame pointers have two names.
            None => found.push(word.replace("%sp", "%o6").replace("%fp", "%i6")),
        }
    }
    found
}

fn number(word: &str) -> Option<i64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|it| it as i64),
        None => word.parse::<u64>().ok().map(|it| it as i64),
    }
}
