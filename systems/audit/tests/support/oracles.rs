//! Door: two independent disassemblers, llvm-mc and capstone, and texts of three origins in one
//! form.

use std::process::Command;
use std::time::Duration;

use audit::decode::Isa;

/// What llvm-mc makes of each instruction; `None` where it refuses. Of Thumb with an `it` before
/// it, the second is meant.
pub fn llvm(isa: Isa, instructions: &[Vec<u8>]) -> Vec<Option<String>> {
    let (triple, features) = match isa {
        Isa::A32 => {
            // What orders memory and changes the system's state is of later versions, too, which
            // have not all of the older.
            let of_7 = disassembled(
                "armv7a",
                "+trustzone,+virtualization,+fp-armv8,-neon,+hwdiv-arm,+mp,+acquire-release,+sb,+crc",
                instructions,
            );
            let of_8 = disassembled(
                "armv8.1a",
                "+trustzone,+virtualization,+fp-armv8,-neon,+sb",
                instructions,
            );
            let all = of_7.into_iter().zip(of_8).map(|(of_7, of_8)| of_7.or(of_8)).collect();
            return with_vectors(isa, all, "armv8a", instructions);
        }
        Isa::T32 => {
            // Of the two profiles either may know it.
            let of_m = disassembled("thumbv8m.main-none-eabi", "+dsp,+fp-armv8d16", instructions);
            let features = "+fp-armv8,+hwdiv,+mp,+acquire-release,+trustzone,+virtualization,+sb";
            let of_a = disassembled("thumbv7r-none-eabi", features, instructions);
            let of_8 = disassembled(
                "thumbv8.1a-none-eabi",
                "+fp-armv8,-neon,+trustzone,+virtualization,+sb,-crc",
                instructions,
            );
            let all = of_m
                .into_iter()
                .zip(of_a)
                .zip(of_8)
                .map(|((of_m, of_a), of_8)| of_m.or(of_a).or(of_8))
                .collect();
            return with_vectors(isa, all, "thumbv8a", instructions);
        }
        Isa::Sparc => ("sparc", "+hasleoncasa,+hasumacsmac"),
        Isa::Riscv32 => {
            ("riscv32", "+m,+a,+f,+d,+c,+zba,+zbb,+zbs,+zicond,+svinval,+zicbom,+zicboz,+zawrs,+h")
        }
        Isa::Riscv64 => {
            ("riscv64", "+m,+a,+f,+d,+c,+zba,+zbb,+zbs,+zicond,+svinval,+zicbom,+zicboz,+zawrs,+h")
        }
        Isa::A64 => (
            "aarch64",
            "+crc,+lse,+el3,+aes,+sha2,+rdm,+dotprod,+fullfp16,+mte,+sve,+pauth,+rcpc,+rcpc-immo,+rcpc3,+lor,+flagm,+altnzcv,+sb,+ssbs,+pan,+uaops,+dit,+wfxt,+xs,+nmi,+rand",
        ),
        Isa::X86 => ("x86_64", ""),
    };
    disassembled(triple, features, instructions)
}

/// The word is one of vectors, or between them and core registers.
pub fn is_vector(isa: Isa, bytes: &[u8]) -> bool {
    let (_, bytes) = if isa == Isa::T32 { parted(bytes) } else { (&[][..], bytes) };
    let Ok(bytes) = <[u8; 4]>::try_from(bytes) else { return false };
    let word = u32::from_le_bytes(bytes);
    let word = if isa == Isa::T32 { word.rotate_left(16) } else { word };
    let is_move =
        word >> 24 & 15 == 14 && word >> 4 & 0xf1 == 0xb1 && (isa == Isa::A32 || word >> 28 == 14);
    let is_operation = if isa == Isa::A32 { word >> 25 == 0x79 } else { word >> 24 & 0xef == 0xef };
    is_move
        || is_operation
        || word >> 24 == if isa == Isa::A32 { 0xf4 } else { 0xf9 } && word >> 20 & 1 == 0
}

/// `texts`, and those of vectors as `triple` has them.
fn with_vectors(
    isa: Isa,
    mut texts: Vec<Option<String>>,
    triple: &str,
    instructions: &[Vec<u8>],
) -> Vec<Option<String>> {
    let places: Vec<usize> =
        (0..texts.len()).filter(|&idx| is_vector(isa, &instructions[idx])).collect();
    let words: Vec<Vec<u8>> = places.iter().map(|&place| instructions[place].clone()).collect();
    for (at, text) in places.into_iter().zip(disassembled(triple, "+neon,+aes,+sha2", &words)) {
        texts[at] = text;
    }
    texts
}

/// The `it` before a word of Thumb, and the word.
pub fn parted(bytes: &[u8]) -> (&[u8], &[u8]) {
    let has_block = bytes.len() > 2 && bytes[1] == 0xbf && bytes[0] & 15 != 0;
    bytes.split_at(if has_block { 2 } else { 0 })
}

fn disassembled(triple: &str, features: &str, instructions: &[Vec<u8>]) -> Vec<Option<String>> {
    // One instruction a line; brackets keep llvm-mc from going on at an odd place after a refusal.
    let line = |bytes: &[u8]| {
        format!("[{}]\n", bytes.iter().map(|byte| format!("{byte:#04x} ")).collect::<String>())
    };
    let is_thumb = triple.starts_with("thumb");
    // Which lines are asked for: blocks of Thumb are begun before, and ended after them.
    let (mut input, mut is_asked) = (String::new(), Vec::new());
    for bytes in instructions {
        let (block, word) = if is_thumb { parted(bytes) } else { (&[][..], &bytes[..]) };
        let opens = is_thumb && word.len() == 2 && word[1] == 0xbf;
        let nops = if opens || !block.is_empty() { 4 } else { 0 };
        let lines = (!block.is_empty()).then_some((block, false)).into_iter().chain([(word, true)]);
        for (bytes, is_wanted) in lines.chain(std::iter::repeat_n((&[0x00, 0xbf][..], false), nops))
        {
            input += &line(bytes);
            is_asked.push(is_wanted);
        }
    }
    let mut command = Command::new("llvm-mc-19");
    command.args(["--disassemble", "--triple", triple]);
    if !features.is_empty() {
        command.args(["--mattr", features]);
    }
    // A refusal is no failure of the tool.
    let ran = measure::tool::run(&mut command, input.as_bytes(), Duration::from_secs(120))
        .unwrap_or_else(|error| panic!("{error}"));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let mut is_refused = vec![false; is_asked.len()];
    for line in said.lines().filter(|line| line.contains("invalid instruction encoding")) {
        let number = line.split(':').nth(1).and_then(|part| part.parse::<usize>().ok());
        is_refused[number.unwrap_or_else(|| panic!("a warning without a line: {line}")) - 1] = true;
    }
    let text = ran.text();
    let mut texts = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != ".text");
    let all: Vec<Option<String>> = is_refused
        .iter()
        .map(|&found| {
            if found {
                None
            } else {
                Some(texts.next().expect("one text an instruction").to_owned())
            }
        })
        .collect();
    assert_eq!(texts.next(), None, "llvm-mc wrote more texts than it read instructions");
    all.into_iter().zip(is_asked).filter(|(_, is_asked)| *is_asked).map(|(text, _)| text).collect()
}

/// What llvm-mc makes of each text of Thumb; `None` where it refuses.
pub fn assembled(texts: &[String]) -> Vec<Option<Vec<u8>>> {
    let of_m = encodings("thumbv8m.main-none-eabi", "+dsp,+fp-armv8d16", texts);
    let of_a = encodings("thumbv7r-none-eabi", "+fp-armv8,+hwdiv,+mp,+acquire-release", texts);
    let of_vectors = encodings("thumbv8a-none-eabi", "+neon,+aes,+sha2", texts);
    of_m.into_iter()
        .zip(of_a)
        .zip(of_vectors)
        .map(|((of_m, of_a), of_vectors)| of_m.or(of_a).or(of_vectors))
        .collect()
}

fn encodings(triple: &str, features: &str, texts: &[String]) -> Vec<Option<Vec<u8>>> {
    let mut command = Command::new("llvm-mc-19");
    command.args(["--show-encoding", "--triple", triple, "--mattr", features]);
    let input: String = texts.iter().map(|text| format!("{text}\n")).collect();
    let ran = measure::tool::run(&mut command, input.as_bytes(), Duration::from_secs(120))
        .unwrap_or_else(|error| panic!("{error}"));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let mut is_refused = vec![false; texts.len()];
    for line in said.lines().filter(|line| line.contains(": error: ")) {
        let number = line.split(':').nth(1).and_then(|part| part.parse::<usize>().ok());
        is_refused[number.unwrap_or_else(|| panic!("an error without a line: {line}")) - 1] = true;
    }
    let text = ran.text();
    let bytes = |text: &str| {
        text.split(',')
            .map(|byte| u8::from_str_radix(byte.trim().trim_start_matches("0x"), 16).ok())
            .collect()
    };
    let mut encodings =
        text.lines().filter_map(|line| line.split("encoding: [").nth(1)?.split(']').next());
    let all = is_refused
        .iter()
        .map(
            |&found| {
                if found { None } else { bytes(encodings.next().expect("one encoding a text")) }
            },
        )
        .collect();
    assert_eq!(encodings.next(), None, "llvm-mc wrote more encodings than it read texts");
    all
}

/// What capstone makes of each instruction; `None` where it refuses.
pub fn capstone(isa: Isa, instructions: &[Vec<u8>]) -> Vec<Option<String>> {
    use capstone::prelude::*;
    let engine = match isa {
        Isa::A32 => Capstone::new().arm().mode(arch::arm::ArchMode::Arm).build(),
        Isa::T32 => {
            let builder = || Capstone::new().arm().mode(arch::arm::ArchMode::Thumb);
            // Of the two profiles either may know it.
            let of_m = builder()
                .extra_mode(
                    [arch::arm::ArchExtraMode::MClass, arch::arm::ArchExtraMode::V8].into_iter(),
                )
                .build();
            let engines = [of_m, builder().build()]
                .map(|parser| parser.expect("capstone is built with every instruction set"));
            let decode = |bytes: &Vec<u8>| {
                let (block, word) = parted(bytes);
                let nth = usize::from(!block.is_empty());
                engines.iter().find_map(|engine| {
                    let found = engine
                        .disasm_count(bytes, 0x1_0000 - block.len() as u64, nth + 1)
                        .expect("capstone answers");
                    let it = found.get(nth).filter(|found| found.len() == word.len())?;
                    Some(format!("{} {}", it.mnemonic().unwrap_or(""), it.op_str().unwrap_or("")))
                })
            };
            return instructions.iter().map(decode).collect();
        }
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
        let it = found.iter().next().filter(|var| var.len() == bytes.len())?;
        Some(format!("{} {}", it.mnemonic().unwrap_or(""), it.op_str().unwrap_or("")))
    };
    instructions.iter().map(decode).collect()
}

/// The words and numbers of a text, without comments and without what assemblers write differently:
/// spaces, `#` and `$` before numbers, and their base.
pub fn tokens(text: &str) -> Vec<String> {
    let text =
        text.split("//").next().unwrap_or("").split(" @").next().unwrap_or("").to_lowercase();
    let mut found: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let end = rest
            .find(|letter: char| !(letter.is_alphanumeric() || "._%".contains(letter)))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(c.len_utf8()));
        rest = after;
        match number(word) {
            Some(value) => {
                // A sign belongs to the number unless something stands before it.
                let is_negative = found.last().is_some_and(|found| found == "-");
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
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|bits| bits as i64),
        None => word.parse::<u64>().ok().map(|number| number as i64),
    }
}
