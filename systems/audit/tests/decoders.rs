//! All decoders beside llvm-mc and capstone: random words, and the code of real compilers.

use crate::support::invariants;
use crate::support::oracles;
use crate::support::rules;
use crate::support::words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use audit::decode::code::{Flow, Instruction};
use audit::decode::{Isa, Linear};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use oracles::tokens;

/// Where the words are said to stand; offsets are then told from addresses.
pub const ADDRESS: u64 = 0x1_0000;

/// The sets whose decoders are our own.
const OURS: [Isa; 6] = [Isa::A32, Isa::T32, Isa::A64, Isa::Riscv32, Isa::Riscv64, Isa::Sparc];

/// How many random words of a set; `MEANWHILE_LONG` asks for fifty times as many.
fn n_words() -> usize {
    if std::env::var_os("MEANWHILE_LONG").is_some() { 1_000_000 } else { 20_000 }
}

/// One disagreement: the word, ours, theirs.
pub struct Difference {
    pub isa: Isa,
    /// The word as a number.
    pub word: u64,
    /// Our instruction, or why we refuse.
    pub ours: Result<Instruction, String>,
    /// Their text; `None` if they refuse.
    pub theirs: Option<String>,
}

impl Difference {
    fn line(&self) -> String {
        let ours = match &self.ours {
            Ok(it) => it.text.clone(),
            Err(why) => format!("({why})"),
        };
        format!(
            "{:08x}  ours: {ours}  theirs: {}",
            self.word,
            self.theirs.as_deref().unwrap_or("(refused)")
        )
    }
}

/// True if the texts say the same; an address of ours is an offset of theirs.
fn agree(isa: Isa, ours: &Instruction, theirs: &str, is_capstone: bool) -> bool {
    let (a, b) = (tokens(&ours.text), tokens(theirs));
    let (a, b) = if matches!(isa, Isa::A32 | Isa::T32) {
        (with_numbers(a), with_numbers(b))
    } else {
        (a, b)
    };
    let number = |text: &str| text.parse::<i64>().ok();
    // A32 counts offsets from the word after the next, Thumb from the next, and llvm-mc shows the
    // plain offset.
    let ahead = match isa {
        Isa::A32 => 8,
        Isa::T32 => 4,
        _ => 0,
    };
    let from = match (isa, is_capstone) {
        (Isa::T32, true) => 0,
        (_, true) => ADDRESS as u32,
        (_, false) => ADDRESS as u32 + ahead,
    };
    // A register of 32 bits may be shown with its sign or without; addresses are cut to the width
    // of one.
    let is_word =
        |number: i64| i64::from(number as i32) == number || i64::from(number as u32) == number;
    let same_number = |a: i64, b: i64| {
        a as u32 == b as u32 && is_word(a) && is_word(b) || a.wrapping_sub(b) as u32 == from
    };
    let same = |a: &str, b: &str| {
        a == b || matches!((number(a), number(b)), (Some(a), Some(b)) if same_number(a, b))
    };
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b))
}

/// Some registers of A32 have a second name.
fn with_numbers(tokens: Vec<String>) -> Vec<String> {
    let names = [("sb", "r9"), ("sl", "r10"), ("fp", "r11"), ("ip", "r12")];
    let number = |text: String| {
        names
            .iter()
            .find(|(name, _)| *name == text)
            .map_or(text, |(_, number)| (*number).to_owned())
    };
    tokens.into_iter().map(number).collect()
}

/// Compares on `instructions` with both; what no rule explains is listed, at most three of
/// each of their mnemonics.
fn compare(isa: Isa, origin: &str, instructions: &[Vec<u8>]) {
    let llvm = oracles::llvm(isa, instructions);
    let capstone = oracles::capstone(isa, instructions);
    let mut explained: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unexplained: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((bytes, llvm), capstone) in instructions.iter().zip(llvm).zip(capstone) {
        let (block, bytes) =
            if isa == Isa::T32 { oracles::parted(bytes) } else { (&[][..], &bytes[..]) };
        let mut linear = Linear::new(isa);
        if !block.is_empty() {
            linear.decode(ADDRESS - 2, block).expect("it is an `it`");
        }
        let ours = linear.decode(ADDRESS, bytes).map_err(|error| error.why);
        let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        // The first half of a long word of Thumb stands above.
        let word = if isa == Isa::T32 && bytes.len() == 4 {
            word >> 16 | (word & 0xffff) << 16
        } else {
            word
        };
        let word = if isa == Isa::Sparc { u64::from((word as u32).swap_bytes()) } else { word };
        let is_refused_by_llvm = llvm.is_none();
        for (theirs, is_capstone) in [(llvm, false), (capstone, true)] {
            let is_same = match (&ours, &theirs) {
                (Ok(ours), Some(theirs)) => agree(isa, ours, theirs, is_capstone),
                (Err(_), None) => true,
                _ => false,
            };
            if is_same {
                continue;
            }
            let difference = Difference { isa, word, ours: ours.clone(), theirs };
            let rule = match is_capstone {
                false => rules::explain(&difference),
                true => rules::explain_capstone(&difference, is_refused_by_llvm),
            };
            match rule {
                Some(rule) => *explained.entry(rule).or_default() += 1,
                None => {
                    let key = difference
                        .theirs
                        .as_deref()
                        .or(difference.ours.as_ref().ok().map(|our| our.text.as_str()))
                        .unwrap_or("");
                    let key = key.split_whitespace().next().unwrap_or("").to_owned();
                    unexplained.entry(key).or_default().push(difference.line());
                }
            }
        }
    }
    let n_unexplained: usize = unexplained.values().map(Vec::len).sum();
    let shown: Vec<String> =
        unexplained.values().flat_map(|it| it.iter().take(3).cloned()).take(80).collect();
    assert_eq!(
        n_unexplained,
        0,
        "{} {origin}; explained: {explained:?}; not explained:\n{}",
        isa.name(),
        shown.join("\n")
    );
}

fn random_words(isa: Isa, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let instructions: Vec<Vec<u8>> = (0..n_words()).map(|_| words::random(isa, &mut rng)).collect();
    compare(isa, &format!("random words, seed {seed}"), &instructions);
}

#[test]
fn rv32_random_words() {
    random_words(Isa::Riscv32, 1);
}

#[test]
fn rv64_random_words() {
    random_words(Isa::Riscv64, 2);
}

#[test]
fn sparc_random_words() {
    random_words(Isa::Sparc, 3);
}

#[test]
fn a64_random_words() {
    random_words(Isa::A64, 4);
}

#[test]
fn a32_random_words() {
    random_words(Isa::A32, 5);
}

/// Words of one kind alone; `part_of` says what of a text is one of them, and so many different
/// ones are among them.
fn random_kind(
    isa: Isa,
    seed: u64,
    n_kinds: usize,
    word: impl Fn(&mut fastrand::Rng) -> u32,
    part_of: fn(&str) -> Option<&str>,
) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let in_memory = |word: u32| {
        (if isa == Isa::T32 { word.rotate_left(16) } else { word }).to_le_bytes().to_vec()
    };
    let instructions: Vec<Vec<u8>> =
        (0..2 * n_words()).map(|_| in_memory(word(&mut rng))).collect();
    let kind = |it: &Vec<u8>| part_of(&isa.decode(ADDRESS, it).ok()?.text).map(str::to_owned);
    let kinds: BTreeSet<String> = instructions.iter().filter_map(kind).collect();
    assert!(kinds.len() >= n_kinds, "seed {seed}, {} operations: {kinds:?}", kinds.len());
    compare(isa, &format!("words of one kind, seed {seed}"), &instructions);
}

#[test]
fn a32_random_vectors() {
    random_kind(Isa::A32, 10, 115, words::vector_a32, |it| it.split(['.', ' ']).next());
}

#[test]
fn t32_random_vectors() {
    random_kind(Isa::T32, 11, 115, words::vector_t32, |it| it.split(['.', ' ']).next());
}

#[test]
fn a64_random_tags_and_scalable_vectors() {
    random_kind(Isa::A64, 13, 45, words::later_a64, |it| it.split(' ').next());
}

#[test]
fn a64_random_halves() {
    random_kind(Isa::A64, 12, 65, words::half_a64, |text| {
        let (name, operands) = text.split_once(' ')?;
        let is_half = name.starts_with('f') || name.ends_with("cvtf");
        let first = operands.split(", ").next()?;
        (is_half
            && (operands.contains(" h")
                || first.starts_with('h')
                || first.ends_with("4h")
                || first.ends_with("8h")))
        .then_some(name)
    });
}

#[test]
fn t32_random_words() {
    // The long tests look at ten million of them.
    let n_rounds = if n_words() > 20_000 { 10 } else { 1 };
    (0..n_rounds).for_each(|n| random_words(Isa::T32, 6 + n));
}

/// Long words begin with 0xe800 and above.
fn short_words() -> impl Iterator<Item = u16> {
    0..0xe800
}

#[test]
fn t32_every_short_word() {
    let instructions: Vec<Vec<u8>> =
        short_words().map(|short_word| short_word.to_le_bytes().to_vec()).collect();
    compare(Isa::T32, "every short word", &instructions);
}

#[test]
fn t32_words_in_blocks() {
    let seed = 8;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut one = || {
        // Of `it` or `itt`, the first.
        let block = [rng.u8(0..14) << 4 | rng.u8(0..2) << 2 | 8, 0xbf];
        let block = if block[0] & 4 == 0 || block[0] >> 4 & 1 == 0 {
            block
        } else {
            [block[0] & 0xf0 | 8, 0xbf]
        };
        [block.to_vec(), words::random(Isa::T32, &mut rng)].concat()
    };
    let instructions: Vec<Vec<u8>> = (0..n_words() / 2).map(|_| one()).collect();
    compare(Isa::T32, &format!("words in blocks, seed {seed}"), &instructions);
}

#[test]
fn t32_texts_assemble_to_what_they_say() {
    let seed = 9;
    let mut rng = fastrand::Rng::with_seed(seed);
    let words = (0..n_words()).map(|_| words::random(Isa::T32, &mut rng));
    let decoded = words.filter_map(|word| Isa::T32.decode(ADDRESS, &word).ok());
    // Our branches go to addresses, those of the assembler to labels; and an `it` would guard what
    // follows.
    let is_alone = |instruction: &Instruction| {
        matches!(instruction.flow, Flow::Next | Flow::Return | Flow::Jump)
            && !instruction.text.starts_with("it")
    };
    let texts: Vec<String> = decoded.filter(is_alone).map(|decoded| decoded.text).collect();
    let made = oracles::assembled(&texts);
    let mut wrong = Vec::new();
    for (text, bytes) in texts.iter().zip(made) {
        let again = bytes.map(|byte| Isa::T32.decode(ADDRESS, &byte).map(|decode| decode.text));
        match again {
            Some(Ok(again)) if again == *text => {}
            _ => wrong.push(format!("{text}: {again:?}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "seed {seed}, {} of {}:\n{}",
        wrong.len(),
        texts.len(),
        wrong[..wrong.len().min(60)].join("\n")
    );
}

/// The instructions that a compiler makes of a file of `support`, without the data
/// that stands between them.
fn compiled(isa: Isa, compiler: &str, arguments: &[&str], sample: &str) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = folder.path().join("sample.o");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support").join(sample);
    let mut command = Command::new(compiler);
    command.args(arguments).args(["-ffreestanding", "-c", "-o"]).arg(&path).arg(source);
    measure::tool::run(&mut command, b"", Duration::from_secs(60))
        .and_then(measure::tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
    code(isa, &std::fs::read(&path).expect("the compiler wrote its output"))
}

/// The instructions of an object file, without the data that stands between them.
fn code(isa: Isa, bytes: &[u8]) -> Vec<Vec<u8>> {
    let file = object::File::parse(bytes).expect("it is ELF");
    file.sections()
        .filter(|section| section.kind() == SectionKind::Text)
        .flat_map(|code| section(isa, &file, &code))
        .collect()
}

fn section(isa: Isa, file: &object::File<'_>, text: &object::Section<'_, '_>) -> Vec<Vec<u8>> {
    let code = text.data().expect("the code is in the file");
    // Arm's mapping symbols say where data begins and ends.
    let symbols = file.symbols().filter(|symbol| symbol.section_index() == Some(text.index()));
    let mut marks: Vec<(u64, bool)> = symbols
        .filter_map(|symbol| {
            symbol
                .name()
                .ok()?
                .strip_prefix('$')
                .map(|kind| (symbol.address(), kind.starts_with('d')))
        })
        .collect();
    marks.sort_unstable();
    let mut instructions = Vec::new();
    let mut block = 0u8;
    let mut at = 0;
    while at < code.len() {
        let is_data = marks.iter().rfind(|mark| mark.0 <= at as u64).is_some_and(|mark| mark.1);
        let is_short = match isa {
            Isa::Riscv32 | Isa::Riscv64 => code[at] & 3 != 3,
            Isa::T32 => is_data || code[at + 1] < 0xe8,
            _ => false,
        };
        let length = if is_short { 2 } else { 4 };
        if !is_data {
            let word = &code[at..at + length];
            // A guarded instruction of Thumb is looked at after an `it` of its own.
            let guard = if block == 0 { Vec::new() } else { vec![block & 0xf0 | 8, 0xbf] };
            instructions.push([&guard, word].concat());
            block = match word {
                [low, 0xbf] if isa == Isa::T32 && low & 15 != 0 => *low,
                _ if block & 7 == 0 => 0,
                _ => block & 0xe0 | block << 1 & 0x1f,
            };
        }
        at += length;
    }
    instructions
}

/// Compilers make no word that we refuse, and of none another instruction.
fn compiler_output(isa: Isa, compiler: &str, arguments: &[&str]) {
    output_of(isa, compiler, arguments, "sample.c", &["-O0", "-O1", "-O2", "-Os"]);
}

fn output_of(isa: Isa, compiler: &str, arguments: &[&str], sample: &str, levels: &[&str]) {
    for level in levels {
        let arguments = [arguments, &[level]].concat();
        let instructions = compiled(isa, compiler, &arguments, sample);
        assert!(instructions.len() > 100, "{} instructions", instructions.len());
        for bytes in &instructions {
            let (_, word) =
                if isa == Isa::T32 { oracles::parted(bytes) } else { (&[][..], &bytes[..]) };
            if let Err(error) = isa.decode(ADDRESS, word) {
                panic!("{compiler} {arguments:?}: {error}");
            }
        }
        compare(isa, &format!("{compiler} {arguments:?}"), &instructions);
    }
}

#[test]
fn a32_compiler_output() {
    compiler_output(Isa::A32, "clang-19", &["--target=armv6k-none-eabi"]);
    compiler_output(Isa::A32, "arm-linux-gnueabi-gcc", &["-marm", "-march=armv6k"]);
    compiler_output(
        Isa::A32,
        "arm-none-eabi-gcc",
        &["-marm", "-mcpu=cortex-r5", "-mfloat-abi=hard", "-mfpu=vfpv3-d16"],
    );
}

#[test]
fn t32_compiler_output() {
    compiler_output(Isa::T32, "clang-19", &["--target=thumbv7m-none-eabi"]);
    compiler_output(Isa::T32, "arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m0plus"]);
    compiler_output(
        Isa::T32,
        "arm-none-eabi-gcc",
        &["-mthumb", "-mcpu=cortex-m7", "-mfloat-abi=hard"],
    );
}

#[test]
fn a64_compiler_output() {
    compiler_output(Isa::A64, "clang-19", &["--target=aarch64-none-elf"]);
    compiler_output(
        Isa::A64,
        "clang-19",
        &["--target=aarch64-none-elf", "-march=armv8.1-a", "-mgeneral-regs-only"],
    );
    compiler_output(Isa::A64, "aarch64-linux-gnu-gcc", &["-mgeneral-regs-only"]);
}

#[test]
fn vectors_of_compilers() {
    let levels = &["-O0", "-O2", "-O3"];
    let a32 = ["-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mfloat-abi=softfp", "-ffast-math"];
    let clang_a32 =
        ["--target=armv7a-linux-gnueabi", "-mfpu=neon-vfpv4", "-mfloat-abi=softfp", "-ffast-math"];
    for (isa, mode) in [(Isa::A32, "-marm"), (Isa::T32, "-mthumb")] {
        output_of(isa, "arm-linux-gnueabi-gcc", &[&a32[..], &[mode]].concat(), "vectors.c", levels);
        output_of(isa, "clang-19", &[&clang_a32[..], &[mode]].concat(), "vectors.c", levels);
    }
    output_of(
        Isa::A64,
        "aarch64-linux-gnu-gcc",
        &["-march=armv8.2-a+fp16", "-DHALVES", "-ffast-math"],
        "vectors.c",
        levels,
    );
    output_of(
        Isa::A64,
        "clang-19",
        &["--target=aarch64-none-elf", "-march=armv8.2-a+fp16", "-DHALVES", "-ffast-math"],
        "vectors.c",
        levels,
    );
}

#[test]
fn riscv_compiler_output() {
    compiler_output(Isa::Riscv32, "clang-19", &["--target=riscv32-unknown-elf", "-march=rv32imac"]);
    compiler_output(Isa::Riscv64, "clang-19", &["--target=riscv64-unknown-elf", "-march=rv64imac"]);
    compiler_output(
        Isa::Riscv32,
        "clang-19",
        &["--target=riscv32-unknown-elf", "-march=rv32gc_zba_zbb_zbs_zicond"],
    );
    compiler_output(
        Isa::Riscv64,
        "clang-19",
        &["--target=riscv64-unknown-elf", "-march=rv64gc_zba_zbb_zbs_zicond"],
    );
}

#[test]
fn sparc_compiler_output() {
    compiler_output(Isa::Sparc, "clang-19", &["--target=sparc-none-elf", "-mcpu=leon3"]);
    compiler_output(Isa::Sparc, "sparc64-linux-gnu-gcc", &["-m32", "-mcpu=leon3"]);
}

/// All that Debian's static libraries hold is decoded as llvm-mc does, but for
/// what later versions added.
#[test]
fn static_libraries() {
    if std::env::var_os("MEANWHILE_LONG").is_none() {
        return;
    }
    let thumb = |text: &str| format!("/usr/lib/arm-none-eabi/newlib/thumb/{text}");
    let libraries = [
        (
            Isa::A64,
            vec![
                "/usr/aarch64-linux-gnu/lib/libc.a".to_owned(),
                "/usr/aarch64-linux-gnu/lib/libm.a".to_owned(),
            ],
        ),
        (
            Isa::A32,
            vec![
                "/usr/arm-linux-gnueabi/lib/libc.a".to_owned(),
                "/usr/arm-linux-gnueabi/lib/libm.a".to_owned(),
            ],
        ),
        (
            Isa::T32,
            ["v7-m/nofp/libc.a", "v7-m/nofp/libm.a", "v6-m/nofp/libc.a", "v6-m/nofp/libm.a"]
                .map(thumb)
                .to_vec(),
        ),
    ];
    for (isa, paths) in libraries {
        let mut words: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for path in paths {
            let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let archive = ArchiveFile::parse(&*bytes).expect("it is an archive");
            for member in archive.members() {
                let data = member
                    .expect("its members are there")
                    .data(&*bytes)
                    .expect("with their bytes")
                    .to_vec();
                code(isa, &data).into_iter().for_each(|it| *words.entry(it).or_default() += 1);
            }
        }
        let n: u64 = words.values().sum();
        let is_refused = |byte: &[u8]| {
            let (block, bytes) =
                if isa == Isa::T32 { oracles::parted(byte) } else { (&[][..], byte) };
            let mut linear = Linear::new(isa);
            if !block.is_empty() {
                linear.decode(ADDRESS - 2, block).expect("it is an `it`");
            }
            linear.decode(ADDRESS, bytes).is_err()
        };
        let n_refused: u64 = words.iter().filter(|(it, _)| is_refused(it)).map(|(_, n)| n).sum();
        assert!(
            n > 10_000 && n_refused == 0,
            "{}: {n_refused} of {n} words are not decoded",
            isa.name()
        );
        let unique: Vec<Vec<u8>> = words.into_keys().collect();
        compare(
            isa,
            &format!("static libraries, {n} words of which {n_refused} are not decoded"),
            &unique,
        );
    }
}

#[test]
fn what_decoders_say_holds_together() {
    let mut rng = fastrand::Rng::with_seed(7);
    for isa in OURS {
        for _ in 0..n_words() {
            invariants::check(isa, ADDRESS, &words::random(isa, &mut rng));
        }
    }
}

#[test]
fn code_that_ends_is_refused() {
    for isa in OURS {
        for n in 0..4 {
            let bytes = &[0xff; 4][..n];
            assert!(
                isa.decode(ADDRESS, bytes).is_err(),
                "{} takes {n} bytes for an instruction",
                isa.name()
            );
        }
    }
}
