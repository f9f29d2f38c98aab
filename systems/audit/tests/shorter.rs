//! What is said to do with fewer instructions: the code is run with and without each change, on
//! random registers, under QEMU.

use crate::support::assembler;
use crate::support::windows;

use std::collections::BTreeMap;

use assembler::assembled;
use audit::decode::Isa;
use audit::needed::Subject;
use audit::needed::shorter::{Shortening, changes};
use audit::program::Program;
use audit::program::content::Content;
use audit::program::function::Function;
use windows::{Harness, Window, differing, harness, window};

/// All changes of a function, as windows that can be run.
fn windows(harness: &Harness, function: &Function) -> Vec<Window> {
    let subject = Subject::of(function);
    let all = changes(&subject, Vec::new());
    all.iter().filter_map(|change| window(harness, function, change)).collect()
}

/// What types say of the result counts, and where nobody says it, what the code made for whom.
#[test]
fn a_second_result_is_not_needless() {
    let of = |text: &str, has_one_result: Option<bool>| {
        let function = assembled(Isa::A64, text);
        replacements(&Subject { has_one_result, ..Subject::of(&function) })
    };
    let masked = "mvn w1, w1\nand w0, w0, w1\nret\n";
    assert_eq!(of(masked, None), ["bic w0, w0, w1, if x1 is no result"]);
    assert_eq!(of(masked, Some(true)), ["bic w0, w0, w1"]);
    assert!(of(masked, Some(false)).is_empty());
    for known in [None, Some(true), Some(false)] {
        assert!(of("mov x0, x2\nmov x1, #3\nret\n", known).is_empty());
        assert!(of("mov x0, x2\nmov x1, x3\nret\n", known).is_empty());
    }
}

/// A number that is there already is made, not masked out of another register.
#[test]
fn a_copied_constant_is_a_constant() {
    for (isa, text, one) in [
        (Isa::T32, "movs.w r3, #0\nmov r1, r3\nstr.w r1, [r0]\nbx lr\n", "mov.w r1, #0"),
        (Isa::A64, "mov w3, #7\nmov w2, w3\nstr w2, [x0]\nret\n", "mov x2, #7"),
    ] {
        assert_eq!(said(isa, text), [one], "{text}");
    }
}

/// The replacement for each change, or `none`.
fn said(isa: Isa, text: &str) -> Vec<String> {
    replacements(&Subject::of(&assembled(isa, text)))
}

fn replacements(subject: &Subject<'_>) -> Vec<String> {
    let text = |change: &Shortening| {
        let text = change.replacement.as_ref().map_or("none", |(_, it)| &it.text).to_owned();
        change.provided.iter().fold(text, |text, it| format!("{text}, {it}"))
    };
    changes(subject, Vec::new()).iter().map(text).collect()
}

#[test]
fn every_window_of_a_library_does_the_same() {
    // A part of them; all with `MEANWHILE_LONG`.
    let step = if std::env::var_os("MEANWHILE_LONG").is_some() { 1 } else { 7 };
    for (isa, library) in [
        (Isa::A64, "/usr/aarch64-linux-gnu/lib/libc.a"),
        (Isa::A32, "/usr/arm-linux-gnueabi/lib/libc.a"),
    ] {
        let harness = harness(isa);
        let bytes = std::fs::read(library).unwrap_or_else(|error| panic!("{library}: {error}"));
        let (programs, _) = Program::parse_all(library, &Content::from(bytes)).expect("a library");
        let mut all = BTreeMap::new();
        for program in programs.iter().step_by(step) {
            for symbol in &program.symbols {
                let Ok(decoded) = program.decode_without_lines(symbol) else { continue };
                for window in windows(&harness, &decoded.function) {
                    let own = window.said.split_once(": ").expect("a name").1.to_owned();
                    all.entry(own).or_insert(window);
                }
            }
        }
        let all: Vec<Window> = all.into_values().collect();
        assert!(all.len() > 10, "{} windows", all.len());
        assert_eq!(differing(&harness, &all), None);
    }
}

/// Random code of few registers, whose changes are as many as compilers leave few.
fn random(isa: Isa, rng: &mut fastrand::Rng) -> String {
    let reg = |rng: &mut fastrand::Rng| rng.u32(1..5);
    let mut text = String::new();
    for _ in 0..rng.usize(3..9) {
        let (d, n, m) = (reg(rng), reg(rng), reg(rng));
        let by = [1, 3, 4, 7, 8, 12, 16, 24, 31][rng.usize(..9)];
        let mask = [1, 3, 15, 0xff, 0xf0, 0x80][rng.usize(..6)];
        let line = match isa {
            Isa::Riscv64 => {
                let (d, n, m) = (d + 11, n + 11, m + 11);
                let op = ["add", "sub", "xor", "or", "and", "sltu", "addw", "subw", "mul"]
                    [rng.usize(..9)];
                let shift = ["slli", "srli", "srai", "slliw", "srliw", "sraiw"][rng.usize(..6)];
                let simple = ["sext.w", "not", "seqz", "mv"][rng.usize(..4)];
                let by = if rng.u8(..3) == 0 && !shift.ends_with('w') { 32 } else { by };
                match rng.u32(..8) {
                    0..3 => format!("{op} x{d}, x{n}, x{m}"),
                    3..5 => format!("{shift} x{d}, x{n}, {by}"),
                    5 => format!("andi x{d}, x{n}, {mask}"),
                    6 => format!("addi x{d}, x{n}, {}", mask - 128),
                    _ => format!("{simple} x{d}, x{n}"),
                }
            }
            Isa::A64 => {
                let r = if rng.bool() { "x" } else { "w" };
                let op = ["add", "sub", "eor", "orr", "and", "bic", "mul", "subs"][rng.usize(..8)];
                let shift = ["lsl", "lsr", "asr", "ror"][rng.usize(..4)];
                let extend = ["uxtb", "sxtb", "uxth", "sxth", "mvn", "mov"][rng.usize(..6)];
                match rng.u32(..9) {
                    0..3 => format!("{op} {r}{d}, {r}{n}, {r}{m}"),
                    3 => format!("add {r}{d}, {r}{n}, {r}{m}, lsl #{by}"),
                    4..6 => format!("{shift} {r}{d}, {r}{n}, #{by}"),
                    6 => format!("and {r}{d}, {r}{n}, #{mask:#x}"),
                    7 => format!("{extend} w{d}, w{n}"),
                    _ => format!("sxtw x{d}, w{n}"),
                }
            }
            _ => {
                let op = ["add", "sub", "eor", "orr", "and", "bic", "mul", "rsb", "subs"]
                    [rng.usize(..9)];
                let shift = ["lsl", "lsr", "asr"][rng.usize(..3)];
                let extend = ["uxtb", "sxtb", "uxth", "sxth", "mvn"][rng.usize(..5)];
                match rng.u32(..8) {
                    0..4 => format!("{op} r{d}, r{n}, r{m}"),
                    4..6 => format!("{shift} r{d}, r{n}, #{by}"),
                    6 => format!("and r{d}, r{n}, #{mask}"),
                    _ => format!("{extend} r{d}, r{n}"),
                }
            }
        };
        text += &line;
        text.push('\n');
    }
    text + match isa {
        Isa::Riscv64 => "mv a0, a2\nret\n",
        Isa::A64 => "mov x0, x1\nret\n",
        _ => "mov r0, r1\nbx lr\n",
    }
}

/// A change that is wrong is found to be.
#[test]
fn a_window_with_another_change_differs() {
    let harness = harness(Isa::A64);
    let of = |code: &str| windows(&harness, &assembled(Isa::A64, code)).pop().expect("it has one");
    let mut own = of("mul x9, x2, x3\nadd x0, x0, x9\nret\n");
    assert_eq!(differing(&harness, std::slice::from_ref(&own)), None);
    own.without = of("mul x9, x2, x3\nsub x0, x0, x9\nret\n").without;
    assert!(differing(&harness, std::slice::from_ref(&own)).is_some());
    // One bit of the result.
    let mut field = of("lsr w0, w0, #4\nand w0, w0, #15\nret\n");
    field.without = of("lsr w0, w0, #4\nand w0, w0, #31\nret\n").without;
    assert!(differing(&harness, &[field]).is_some());
}

#[test]
fn every_window_of_random_code_does_the_same() {
    let n = if std::env::var_os("MEANWHILE_LONG").is_some() { 3000 } else { 300 };
    for isa in [Isa::A64, Isa::A32, Isa::T32, Isa::Riscv64] {
        let harness = harness(isa);
        // Where the processor has the multiplication that subtracts, and the fields.
        let mut rng = fastrand::Rng::with_seed(5);
        let texts: Vec<String> = (0..n).map(|_| random(isa, &mut rng)).collect();
        // One run of the assembler for all: each function ends at its return.
        let whole = assembled(isa, &texts.concat());
        let mut rest = &whole.instructions[..];
        let mut all = Vec::new();
        for text in &texts {
            let (own, after) = rest.split_at(text.lines().count());
            rest = after;
            let frames = vec![Vec::new(); own.len()];
            let function = Function { instructions: own.to_vec(), frames, ..whole.clone() };
            all.extend(windows(&harness, &function));
        }
        assert!(all.len() > n / 4, "{}: {} windows of {n} functions", isa.name(), all.len());
        assert_eq!(differing(&harness, &all), None);
    }
}

/// What is said of code that returns at its end.
fn of(isa: Isa, code: &[&str]) -> Vec<String> {
    let end = match isa {
        Isa::A32 | Isa::T32 => "bx lr",
        _ => "ret",
    };
    said(isa, &format!("{}\n{end}\n", code.join("\n")))
}

#[test]
fn what_one_instruction_does_on_a64() {
    let of = |code: &[&str]| of(Isa::A64, code);
    assert_eq!(of(&["lsr w0, w0, #4", "and w0, w0, #15"]), ["ubfx x0, x0, #4, #4"]);
    assert_eq!(of(&["mvn w9, w1", "and w0, w0, w9"]), ["bic w0, w0, w1"]);
    assert_eq!(of(&["and w9, w1, #255", "add w0, w0, w9"]), ["add w0, w0, w1, uxtb"]);
    assert_eq!(of(&["mul x9, x2, x3", "add x0, x0, x9"]), ["madd x0, x2, x3, x0"]);
    assert_eq!(of(&["mul x9, x2, x3", "sub x0, x0, x9"]), ["msub x0, x2, x3, x0"]);
    assert_eq!(of(&["lsl x9, x1, #3", "add x0, x0, x9"]), ["add x0, x0, x1, lsl #3"]);
    assert_eq!(
        of(&["ldr x9, [x0]", "ldr x10, [x0, #8]", "add x0, x9, x10"]),
        ["ldp x9, x10, [x0]"]
    );
    assert_eq!(of(&["str x3, [x0]", "str x2, [x0, #8]"]), ["stp x3, x2, [x0]"]);
    assert_eq!(of(&["ldr x9, [x8]", "add x8, x8, #8", "add x0, x8, x9"]), ["ldr x9, [x8], #8"]);
    assert_eq!(of(&["add x8, x8, #8", "ldr x9, [x8]", "add x0, x8, x9"]), ["ldr x9, [x8, #8]!"]);
    assert_eq!(of(&["mov w9, #0", "str w9, [x1]"]), ["str wzr, [x1]"]);
    assert_eq!(of(&["mov x9, x1", "mov x1, x9", "add x0, x1, x9"])[0], "none");
    // What one more reader, another bit, or what stands between forbids.
    assert_eq!(of(&["lsr w0, w0, #4", "and w0, w0, #14"]), [""; 0]);
    assert_eq!(of(&["mvn w9, w1", "and w0, w0, w9", "add w0, w0, w9"]), [""; 0]);
    assert_eq!(of(&["and w9, w1, #127", "add w0, w0, w9"]), [""; 0]);
    assert_eq!(of(&["mul x9, x2, x3", "sub x0, x9, x0"]), [""; 0]);
    assert_eq!(of(&["ldr x9, [x0]", "ldr x10, [x0, #16]", "add x0, x9, x10"]), [""; 0]);
    assert_eq!(
        of(&["ldr x9, [x0]", "str x9, [x2]", "ldr x10, [x0, #8]", "add x0, x9, x10"]),
        [""; 0]
    );
    assert_eq!(of(&["ldr x0, [x0]", "ldr x9, [x0, #8]", "add x0, x9, x0"]), [""; 0]);
    assert_eq!(of(&["ldr x9, [x8]", "add x8, x8, #800", "add x0, x8, x9"]), [""; 0]);
    assert_eq!(of(&["mov w9, #0", "str w9, [x1]", "mov w0, w9"]), [""; 0]);
    // The register that a caller may read besides.
    assert_eq!(
        of(&["mul x1, x2, x3", "add x0, x0, x1"]),
        ["madd x0, x2, x3, x0, if x1 is no result"]
    );
}

#[test]
fn what_a_branch_asks_by_itself() {
    let a64 = |code: &str| said(Isa::A64, code);
    let end = "mov w0, #3\nret\n";
    assert_eq!(a64(&format!("and w9, w0, #4\ncbz w9, 12\n{end}ret\n")), ["tbz w0, #2, 0x10"]);
    assert_eq!(a64(&format!("and w9, w0, #6\ncbz w9, 12\n{end}ret\n")), [""; 0]);
    assert_eq!(
        a64(&format!("subs w9, w0, #1\ncmp w9, #0\nb.eq 12\n{end}mov w0, w9\nret\n")),
        ["none"]
    );
    assert_eq!(
        a64(&format!("subs w9, w0, #1\ncmp w9, #0\nb.gt 12\n{end}mov w0, w9\nret\n")),
        [""; 0]
    );
    assert_eq!(a64(&format!("cmp w0, w1\nb.eq 16\ncmp w0, w1\nb.lt 12\n{end}ret\n")), ["none"]);
    let riscv = |code: &str| said(Isa::Riscv64, code);
    let end = "li a0, 1\nret\nli a0, 2\nret\n";
    assert_eq!(
        riscv(&format!("xor a2, a0, a1\nseqz a2, a2\nbnez a2, 12\n{end}")),
        ["beq a0, a1, 0x14"]
    );
    assert_eq!(
        riscv(&format!("slt a2, a0, a1\nxori a2, a2, 1\nbnez a2, 12\n{end}")),
        ["bge a0, a1, 0x14"]
    );
    assert_eq!(
        riscv(&format!("add a2, a0, a1\nseqz a2, a2\nbnez a2, 12\n{end}")),
        ["beqz a2, 0x14"]
    );
}

#[test]
fn what_one_instruction_does_elsewhere() {
    let riscv = |code: &[&str]| of(Isa::Riscv64, code);
    assert_eq!(
        riscv(&["slli a2, a1, 3", "add a0, a0, a2"]),
        ["sh3add a0, a1, a0, where the core has Zba"]
    );
    assert_eq!(
        riscv(&["lbu a2, 0(a1)", "slli a2, a2, 32", "srli a2, a2, 32", "add a0, a0, a2"]),
        ["none"]
    );
    assert_eq!(riscv(&["add a2, a0, a1", "sext.w a0, a2"]), ["addw a0, a0, a1"]);
    assert_eq!(
        riscv(&["lw a2, 0(a1)", "slli a2, a2, 32", "srli a2, a2, 32", "add a0, a0, a2"]).len(),
        1
    );
    assert_eq!(riscv(&["lw a2, 0(a1)", "andi a2, a2, 15", "add a0, a0, a2"]), [""; 0]);
    let a32 = |code: &[&str]| of(Isa::A32, code);
    assert_eq!(a32(&["mul r3, r1, r2", "add r0, r0, r3"]), ["mla r0, r1, r2, r0"]);
    assert_eq!(a32(&["ldr r2, [r3]", "add r3, r3, #4", "add r0, r2, r3"]), ["ldr r2, [r3], #4"]);
    assert_eq!(a32(&["lsl r3, r1, #2", "add r0, r0, r3"]), ["add r0, r0, r1, lsl #2"]);
    let t32 = |code: &[&str]| of(Isa::T32, code);
    assert_eq!(
        t32(&["ldr.w r2, [r3]", "ldr.w r1, [r3, #4]", "adds r0, r1, r2"])[0],
        "ldrd r2, r1, [r3], if the address is a multiple of 4"
    );
    // Narrow words alone: of any core, but the base is gone.
    let narrow = ["ldr r1, [r3]", "ldr r2, [r3, #4]", "movs r3, #0", "adds r0, r1, r2"];
    assert_eq!(t32(&narrow), ["ldm r3!, {r1, r2}, if the address is a multiple of 4"]);
    for (at, twin) in [
        (2, "adds r1, r1, r3"),  // the base is read
        (1, "ldr r2, [r3, #8]"), // not beside it
        (0, "ldrh r1, [r3]"),    // half of it
        (0, "ldr r1, [r3, #8]"), // the higher one in the lower register
        (0, "ldr r3, [r3]"),     // another base for the second
    ] {
        let mut code = narrow;
        code[at] = twin;
        assert_eq!(t32(&code), [""; 0], "{twin}");
    }
    assert_eq!(t32(&["uxtb.w r3, r1", "add.w r0, r0, r3"]), ["uxtab r0, r0, r1"]);
    // An address that is counted from the code is no number.
    assert_eq!(a32(&["add r3, pc, #4", "mov r0, r3"]), [""; 0]);
}
