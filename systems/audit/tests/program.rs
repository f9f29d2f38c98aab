//! ELF files as compilers write them, and as they should not be.

use std::path::Path;

use audit::audit::{Options, audit};
use audit::decode::Isa;
use audit::decode::code::Flow;
use audit::facts::trace::End;
use audit::finding::Kind;
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use machine::in_order::Core;

const SOURCE: &str = "\
struct s { int a, b; };
extern void slow(void);
static inline int tag(struct s *p)
{
    return p->a & 3;
}
__attribute__((noinline)) int fast(struct s *p, int *q)
{
    if (__builtin_expect(tag(p) == 1, 0)) {
        slow();
        return 0;
    }
    return p->b + q[1] + 0x12345678;
}
int calls_it(struct s *p, int *q) { return fast(p, q) + 1; }
";

fn compiled_with(text: &str, name: &str, isa: Isa, cpu: &str, flags: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a scratch file");
    let build = Build {
        cc: None,
        flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        folder: None,
    };
    toolchain::compile(&path, isa, cpu, &build).unwrap_or_else(|error| panic!("{error}"))
}

fn parsed(bytes: &[u8]) -> Program {
    Program::parse("fast.o", bytes).unwrap_or_else(|error| panic!("{error}"))
}

const FLAGS: &[&str] = &["-O2"];
const TARGETS: [(Isa, &str); 6] = [
    (Isa::A32, "arm1136jf-s"),
    (Isa::T32, "cortex-m0plus"),
    (Isa::T32, "cortex-m4"),
    (Isa::Sparc, "leon3"),
    (Isa::Riscv64, "sifive-u74"),
    (Isa::X86, "x86-64"),
];

#[test]
fn functions_calls_and_inline_stacks() {
    for (isa, cpu) in TARGETS {
        let program = parsed(&compiled_with(SOURCE, "fast.c", isa, cpu, FLAGS));
        assert_eq!(program.isa, isa);
        let symbol = program.symbol("fast").unwrap_or_else(|error| panic!("{error}"));
        let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
        assert!(decoded.undecodable.is_empty(), "{cpu}: {:?}", decoded.undecodable);
        let callees: Vec<&str> = decoded.function.callees.values().map(String::as_str).collect();
        assert!(callees.contains(&"slow"), "{cpu}: {callees:?}");
        let inlined = decoded
            .function
            .frames
            .iter()
            .find(|frame| frame.len() == 2)
            .unwrap_or_else(|| panic!("{cpu}: nothing was inlined"));
        assert_eq!((inlined[0].function.as_str(), inlined[0].line), ("tag", 5), "{cpu}");
        assert_eq!((inlined[1].function.as_str(), inlined[1].line), ("fast", 9), "{cpu}");
        assert!(inlined[0].file.ends_with("fast.c"), "{cpu}: {}", inlined[0].file);
        // A branch inside the function is one, although the linker would write its target.
        let n_inside = (0..decoded.function.instructions.len())
            .filter(|&idx| decoded.function.target(idx).is_some())
            .count();
        assert!(n_inside > 0, "{cpu}: no branch");
    }
}

#[test]
fn sections_of_their_own_do_not_overlap() {
    let flags = [FLAGS, &["-ffunction-sections"]].concat();
    let program = parsed(&compiled_with(SOURCE, "fast.c", Isa::A32, "arm1136jf-s", &flags));
    let [a, b] = ["fast", "calls_it"]
        .map(|name| program.symbol(name).unwrap_or_else(|error| panic!("{error}")).clone());
    assert!(a.address + a.size <= b.address || b.address + b.size <= a.address, "{a:?} {b:?}");
    for (symbol, line) in [(&a, 9), (&b, 15)] {
        let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
        let lines: Vec<u32> =
            decoded.function.frames.iter().filter_map(|frame| Some(frame.last()?.line)).collect();
        assert!(lines.contains(&line), "{}: {lines:?}", symbol.name);
    }
    let decoded = program.decode(&b).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        decoded.function.callees.values().any(|callee| callee == "fast"),
        "{:?}",
        decoded.function.callees
    );
}

#[test]
fn constants_between_instructions_are_none() {
    let program = parsed(&compiled_with(SOURCE, "fast.c", Isa::A32, "arm1136jf-s", FLAGS));
    let symbol = program.symbol("fast").unwrap_or_else(|error| panic!("{error}"));
    let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
    let words: Vec<u64> =
        decoded.function.instructions.iter().map(|instruction| instruction.word).collect();
    assert!(!words.contains(&0x1234_5678) && (words.len() as u64) * 4 < symbol.size, "{words:x?}");
}

#[test]
fn without_debug_information_this_is_said() {
    let program =
        parsed(&compiled_with(SOURCE, "fast.c", Isa::A32, "arm1136jf-s", &["-O2", "-g0"]));
    let symbol = program.symbol("fast").unwrap_or_else(|error| panic!("{error}"));
    let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
    assert!(decoded.function.frames.iter().all(Vec::is_empty));
    assert_eq!(
        program.lines.missing,
        Some("the file has no line information; compile with -g to get it")
    );
}

#[test]
fn plain_assembly_needs_no_symbols_of_functions() {
    let labelled = ".global loop\nloop: subs r0, r0, #1\n bne loop\n bx lr\n";
    let program = parsed(&compiled_with(labelled, "loop.s", Isa::A32, "arm1136jf-s", &[]));
    let decoded =
        program.decode(program.symbol("loop").expect("it is labelled")).expect("it is A32");
    assert_eq!(decoded.function.instructions.len(), 3);
    assert_eq!(decoded.function.target(1), Some(0));
    let bare =
        parsed(&compiled_with("add r0, r0, #1\nbx lr\n", "bare.s", Isa::A32, "arm1136jf-s", &[]));
    assert_eq!(
        bare.symbols.iter().map(|symbol| symbol.name.as_str()).collect::<Vec<_>>(),
        [".text"]
    );
}

#[test]
fn a_word_that_is_no_instruction_is_left_out_and_named() {
    let text = ".type f, %function\n.global f\nf: mov r0, #1\n .inst 0xe7f000f0\n .inst 0xf7ffffff\n bx lr\n.size f, .-f\n";
    let program = parsed(&compiled_with(text, "word.s", Isa::A32, "arm1136jf-s", &[]));
    let decoded = program.decode(program.symbol("f").expect("it is named")).expect("it is A32");
    assert_eq!(decoded.undecodable.last().map(|undecodable| undecodable.word), Some(0xf7ff_ffff));
    assert!(decoded.function.instructions.len() >= 2);
}

#[test]
fn unknown_functions_are_refused_with_a_guess() {
    let program = parsed(&compiled_with(SOURCE, "fast.c", Isa::A32, "arm1136jf-s", FLAGS));
    let refused = program.symbol("fats").expect_err("there is none");
    assert_eq!(
        (refused.message.as_str(), refused.help.as_deref()),
        ("`fast.o` has no function `fats`", Some("did you mean `fast`?"))
    );
    let refused = program.symbol("something_else").expect_err("there is none");
    assert_eq!(refused.help.as_deref(), Some("it has `fast`, `calls_it`"));
}

#[test]
fn what_is_no_program_is_refused() {
    let message = |bytes: &[u8]| Program::parse("x", bytes).expect_err("it is no program").message;
    assert_eq!(message(b"int main(void);"), "`x` is not an ELF file");
    assert_eq!(message(b""), "`x` is not an ELF file");
    assert!(message(b"\x7fELF").starts_with("`x` is a damaged ELF file"));
    let mips = {
        let mut bytes = compiled_with(SOURCE, "fast.c", Isa::A32, "arm1136jf-s", FLAGS);
        bytes[18] = 8;
        bytes
    };
    assert_eq!(
        message(&mips),
        "`x` holds code for Mips; read are Arm, AArch64, SPARC, RISC-V and x86-64"
    );
}

/// Everything that a damaged file may be asked; it may refuse, but it must answer.
fn ask(bytes: &[u8]) {
    let Ok(program) = Program::parse("damaged", bytes) else { return };
    for symbol in program.symbols.iter().take(50) {
        if let Ok(decoded) = program.decode(symbol) {
            audit::facts::spills::spills(&decoded.function);
        }
    }
}

#[test]
fn no_damage_panics() {
    for (isa, cpu) in TARGETS {
        let whole = compiled_with(SOURCE, "fast.c", isa, cpu, FLAGS);
        for length in (0..whole.len()).step_by(17) {
            ask(&whole[..length]);
        }
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..random.usize(1..20) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            ask(&bytes);
        }
    }
}

#[test]
fn a_compiler_that_fails_is_shown() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("wrong.c");
    std::fs::write(&path, "int f(void) { return x; }\n").expect("a scratch file");
    let error = toolchain::compile(&path, Isa::A32, "arm1136jf-s", &Build::default())
        .expect_err("x is not declared");
    assert!(
        error.ran.starts_with("arm-linux-gnueabi-gcc -marm -mcpu=arm1136jf-s -g -O2 -c "),
        "{}",
        error.ran
    );
    assert!(error.said.contains("undeclared"), "{}", error.said);
    let missing =
        Build { cc: Some("no-such-compiler --target=arm".into()), flags: Vec::new(), folder: None };
    let error = toolchain::compile(&path, Isa::A32, "arm1136jf-s", &missing)
        .expect_err("there is no such compiler");
    assert!(error.ran.starts_with("no-such-compiler --target=arm"), "{}", error.ran);
}

#[test]
fn a_changed_copy_finds_the_headers_beside_the_file() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("uses.c");
    std::fs::write(folder.path().join("own.h"), "#define N 3\n").expect("a scratch file");
    std::fs::write(&path, "#include \"own.h\"\nint f(void) { return N; }\n")
        .expect("a scratch file");
    let changed = "#include \"own.h\"\nint g(void) { return N + 1; }\n";
    let bytes = toolchain::compile_changed(
        Path::new(&path),
        changed,
        Isa::A32,
        "arm1136jf-s",
        &Build::default(),
        toolchain::LIMIT,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    assert!(parsed(&bytes).symbol("g").is_ok());
}

#[test]
fn a_compiler_that_hangs_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("uses.c");
    std::fs::write(&path, "int f(void) { return 3; }\n").expect("a scratch file");
    let compiler = folder.path().join("hangs");
    std::fs::write(&compiler, "#!/bin/sh\nexec sleep 100\n").expect("a scratch file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&compiler, mode).expect("it is ours");
    let build = Build { cc: Some(compiler.display().to_string()), ..Build::default() };
    let limit = std::time::Duration::from_millis(200);
    let made = toolchain::compile_changed(
        &path,
        "int f(void) { return 4; }\n",
        Isa::A32,
        "arm1136jf-s",
        &build,
        limit,
    );
    let said = made.expect_err("it does not end").to_string();
    assert!(said.contains("hangs") && said.contains("still running"), "{said}");
}

#[test]
fn words_beside_the_code_are_known_unless_a_linker_writes_them() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("pool.s");
    let text = ".syntax unified\n.global f\n.type f,%function\nf: ldr r0, 1f\n ldr r1, 2f\n ldr r2, 3f\n bx lr\n\
                1: .word 0xff\n2: .word elsewhere\n3: .word 0x12345678\n.size f,.-f\n";
    std::fs::write(&path, text).expect("a scratch file");
    let bytes = toolchain::compile(&path, Isa::A32, "arm1136jf-s", &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let program = Program::parse("pool.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
    let function = program
        .decode(program.symbol("f").expect("it is there"))
        .unwrap_or_else(|error| panic!("{error}"))
        .function;
    let start = function.instructions[0].address;
    let known: Vec<(u64, u32)> =
        function.constants.iter().map(|(at, value)| (at - start, *value)).collect();
    assert_eq!(known, [(0, 0xff), (8, 0x1234_5678)]);
}

#[test]
fn words_written_as_data_that_code_runs_into_are_instructions_not_known() {
    let between = |isa, cpu, first: &str, last: &str| {
        let text = format!(
            ".text\n.global f\n.type f, %function\nf: {first}\n .word 0x0200a057\n {last}\n.size f, .-f\n"
        );
        let program = parsed(&compiled_with(&text, "words.s", isa, cpu, &[]));
        let symbol = program.symbol("f").expect("it is there");
        let decoded = program.decode(symbol).expect("it is code");
        (decoded.undecodable.len(), decoded.function.instructions.len())
    };
    assert_eq!(between(Isa::A64, "cortex-a53", "mov x1, x2", "ret"), (1, 3));
    assert_eq!(between(Isa::Riscv64, "sifive-u74", "mv a2, a3", "ret"), (1, 3));
    // Behind a jump it is data.
    assert_eq!(between(Isa::A64, "cortex-a53", "b 1f", "1: ret"), (0, 2));
    assert_eq!(between(Isa::Riscv64, "sifive-u74", "j 1f", "1: ret"), (0, 2));
}

#[test]
fn what_aligns_a_literal_pool_behind_a_jump_does_not_run_into_it() {
    let n_undecodable = |isa, cpu, code: &str| {
        let text = format!(".text\n.global f\n.type f, %function\nf: {code}\n.size f, .-f\n");
        let program = parsed(&compiled_with(&text, "pool.s", isa, cpu, &[]));
        let decoded =
            program.decode(program.symbol("f").expect("it is there")).expect("it is code");
        decoded.undecodable.len()
    };
    let thumb = |code: &str| n_undecodable(Isa::T32, "cortex-m4", code);
    assert_eq!(
        thumb("ldr r0, 2f\n add r0, r0, r0\n b 3f\n .p2align 2\n 2: .word 0x0200a057\n 3: bx lr"),
        0
    );
    assert_eq!(
        n_undecodable(
            Isa::T32,
            "cortex-m0plus",
            "ldr r0, 2f\n add r0, r0, r0\n b 3f\n .p2align 2\n 2: .word 0x0200a057\n 3: bx lr"
        ),
        0
    );
    assert_eq!(
        n_undecodable(
            Isa::A64,
            "cortex-a53",
            "ldr x0, 2f\n ret\n nop\n 2: .xword 0x0200a057\n nop\n ret"
        ),
        0
    );
    // These are run.
    assert_eq!(thumb("cbz r0, 1f\n b 3f\n 1: nop\n .word 0x0200a057\n 3: bx lr"), 2);
    assert_eq!(n_undecodable(Isa::A64, "cortex-a53", "nop\n .word 0x0200a057\n ret"), 1);
}

#[test]
fn an_object_whose_code_is_made_when_it_is_linked_says_so() {
    let bytes = compiled_with(
        "int f(int a) { return a + 1; }\n",
        "later.c",
        Isa::T32,
        "cortex-m4",
        &["-O2", "-flto"],
    );
    let refused = Program::parse("later.o", &bytes).expect_err("it has no code");
    let said = format!("{refused:?}");
    assert!(said.contains("-ffat-lto-objects"), "{said}");
}

/// A naked function is what its assembly says: nobody is told to inline it, while its neighbour of
/// the same size is one to inline.
#[test]
fn naked_functions_are_not_to_be_inlined() {
    let returns = |isa| match isa {
        Isa::A32 | Isa::T32 => ("add r0, r0, #1", "bx lr"),
        Isa::A64 => ("add w0, w0, #1", "ret"),
        _ => ("addi a0, a0, 1", "ret"),
    };
    let cases = [
        (Isa::T32, "cortex-m4", None),
        (Isa::A32, "arm1136jf-s", None),
        (Isa::Riscv64, "sifive-u74", None),
        (Isa::Riscv32, "rocket", None),
        (Isa::T32, "cortex-m4", Some("clang-19")),
    ];
    for (isa, cpu, cc) in cases {
        let (step, back) = returns(isa);
        let text = format!(
            "__attribute__((naked, noinline)) int raw(int a)\n{{\n    __asm__ volatile(\"{step}\\n {back}\");\n}}\n\
             __attribute__((noinline)) int plain(int a)\n{{\n    __asm__ volatile(\"\" : \"+r\"(a));\n    return a + 1;\n}}\n\
             int f(int a)\n{{\n    return raw(a) + 2 * plain(a);\n}}\n"
        );
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("naked.c");
        std::fs::write(&path, &text).expect("a scratch file");
        let build = Build {
            cc: cc.map(str::to_owned),
            flags: FLAGS.iter().map(|&flag| flag.to_owned()).collect(),
            folder: None,
        };
        let bytes =
            toolchain::compile(&path, isa, cpu, &build).unwrap_or_else(|error| panic!("{error}"));
        let program = parsed(&bytes);
        let core = Core::bundled(cpu).expect("it is bundled");
        let options = Options {
            avoid: Vec::new(),
            through: Vec::new(),
            effort: Effort::Bounds,
            recorded: None,
        };
        let audited =
            audit(&program, program.symbol("f").expect("it is there"), cpu, Some(&core), &options)
                .expect("it fits");
        let calls: Vec<&str> = audited
            .findings
            .iter()
            .filter(|finding| finding.kind == Kind::Call)
            .map(|finding| finding.why.as_str())
            .collect();
        assert!(calls.len() == 1 && calls[0].starts_with("`plain` has"), "{cpu} {cc:?}: {calls:?}");
    }
}

/// What the report says of each instruction of `f`, and how its path ends if `far` is cold: in the
/// object file, or linked with `far` at this address.
fn told(isa: Isa, cpu: &str, code: &str, far_at: Option<&str>) -> (Vec<String>, End) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [source, object, linked] = ["f.s", "f.o", "f.elf"].map(|word| folder.path().join(word));
    let back = if matches!(isa, Isa::A32 | Isa::T32) { "bx lr" } else { "ret" };
    let far = format!(
        "\n.section .far,\"ax\"\n.global far\n.type far, %function\nfar: {back}\n.size far, .-far"
    );
    let far = if far_at.is_some() { &*far } else { "" };
    let text = format!(".text\n.global f\n.type f, %function\nf: {code}\n.size f, .-f{far}\n");
    std::fs::write(&source, text).expect("a scratch file");
    let mut bytes = toolchain::compile(&source, isa, cpu, &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    if let Some(far_at) = far_at {
        std::fs::write(&object, &bytes).expect("a scratch file");
        // In segments of their own: in one the file would have all that lies between.
        let script = folder.path().join("f.ld");
        let text = format!(
            "PHDRS {{ near PT_LOAD; far PT_LOAD; }}\n\
             SECTIONS {{ .text 0x10000 : {{ *(.text) }} :near\n .far {far_at} : {{ *(.far) }} :far }}\n"
        );
        std::fs::write(&script, text).expect("a scratch file");
        let mut command = std::process::Command::new("ld.lld-19");
        command
            .args(["-e", "f", "--no-relax", "-T"])
            .arg(&script)
            .arg("-o")
            .arg(&linked)
            .arg(&object);
        assert!(command.status().expect("it runs").success(), "{code}");
        bytes = std::fs::read(&linked).expect("what was linked");
    }
    let program = parsed(&bytes);
    let options = Options {
        avoid: vec!["far".to_owned()],
        through: Vec::new(),
        effort: Effort::Bounds,
        recorded: None,
    };
    let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
    let audit =
        audit(&program, symbol, cpu, None, &options).unwrap_or_else(|error| panic!("{error}"));
    ((0..audit.function.instructions.len()).map(|idx| audit.text(idx)).collect(), audit.trace.end)
}

#[test]
fn calls_and_jumps_that_take_two_instructions_name_whom_they_reach() {
    // A linker has still to write the target, or wrote it: far above the function, or below it.
    for (isa, cpu, linked_at) in
        [(Isa::Riscv64, "sifive-u74", "0x7ffff000"), (Isa::Riscv32, "rocket", "0x1000")]
    {
        for far_at in [None, Some(linked_at)] {
            let (lines, end) = told(isa, cpu, "beqz a0, 1f\n tail far\n1: ret", far_at);
            assert!(lines.contains(&"jr far".to_owned()), "{cpu} {far_at:?}: {lines:?}");
            assert_eq!(end, End::Return, "{cpu} {far_at:?}: the way to what is cold is cold");
            let (lines, _) =
                told(isa, cpu, "addi sp, sp, -16\n call far\n addi sp, sp, 16\n ret", far_at);
            assert!(lines.contains(&"jalr far".to_owned()), "{cpu} {far_at:?}: {lines:?}");
        }
        // What lies after a function's first instruction has not its name.
        let behind = "beqz a0, 1f\n2: auipc t1, %pcrel_hi(far + 2)\n jr %pcrel_lo(2b)(t1)\n1: ret";
        let (lines, end) = told(isa, cpu, behind, Some(linked_at));
        assert!(
            lines.iter().all(|line| !line.contains("far")) && end == End::Jump,
            "{cpu}: {lines:?}"
        );
    }
}

/// Arm's long calls: through a word beside the code, or through two halves; from an
/// object file and linked.
#[test]
fn calls_and_jumps_through_a_register_name_whom_they_reach() {
    let [word, halves] = ["ldr r3, =far", "movw r3, #:lower16:far\n movt r3, #:upper16:far"];
    for (isa, cpu) in [(Isa::A32, "cortex-a7"), (Isa::T32, "cortex-m4")] {
        for far_at in [None, Some("0x7fff000")] {
            for loads in [word, halves] {
                let call = format!(
                    "push {{r4, lr}}\n {loads}\n mov r4, r0\n blx r3\n pop {{r4, pc}}\n.pool"
                );
                let (lines, _) = told(isa, cpu, &call, far_at);
                assert!(
                    lines.contains(&"blx far".to_owned()),
                    "{cpu} {far_at:?} {loads}: {lines:?}"
                );
                let jump = format!("cmp r0, #0\n beq 1f\n {loads}\n bx r3\n1: bx lr\n.pool");
                let (lines, end) = told(isa, cpu, &jump, far_at);
                assert!(
                    lines.contains(&"bx far".to_owned()),
                    "{cpu} {far_at:?} {loads}: {lines:?}"
                );
                assert_eq!(
                    end,
                    End::Return,
                    "{cpu} {far_at:?} {loads}: the way to what is cold is cold"
                );
                // Which of two is called is not known where ways meet, nor where the load is done
                // or not.
                let either = format!(
                    "push {{r4, lr}}\n mov r3, r1\n cmp r0, #0\n beq 1f\n {loads}\n1: blx r3\n pop {{r4, pc}}\n.pool"
                );
                let (lines, _) = told(isa, cpu, &either, far_at);
                assert!(
                    lines.contains(&"blx r3".to_owned()),
                    "{cpu} {far_at:?} {loads}: {lines:?}"
                );
                let guarded = ".syntax unified\n push {r4, lr}\n mov r3, r1\n cmp r0, #0\n it ne\n ldrne r3, =far\n blx r3\n pop {r4, pc}\n.pool";
                let (lines, _) = told(isa, cpu, guarded, far_at);
                assert!(lines.contains(&"blx r3".to_owned()), "{cpu} {far_at:?}: {lines:?}");
                // What lies after a function's beginning has not its name.
                let behind = call.replace("far", "far + 4");
                let (lines, _) = told(isa, cpu, &behind, far_at);
                assert!(
                    lines.contains(&"blx r3".to_owned()),
                    "{cpu} {far_at:?} {loads}: {lines:?}"
                );
            }
        }
    }
}

#[test]
fn a_jump_of_two_instructions_into_its_own_function_is_a_branch() {
    for (isa, cpu) in [(Isa::Riscv64, "sifive-u74"), (Isa::Riscv32, "rocket")] {
        let bytes = compiled_with(
            ".global f\nf: beqz a0, 1f\n jump 1f, t1\n mv a0, a1\n1: ret\n",
            "f.s",
            isa,
            cpu,
            &[],
        );
        // Without a linker it is none: the pair has a relocation, which names the label.
        let program = parsed(&bytes);
        let decoded = program
            .decode(program.symbol("f").expect("it is there"))
            .unwrap_or_else(|error| panic!("{error}"));
        let jump = decoded
            .function
            .instructions
            .iter()
            .find(|instruction| instruction.text.starts_with("jr"))
            .expect("it is there");
        assert!(matches!(jump.flow, Flow::Branch { is_conditional: false, .. }), "{cpu}: {jump:?}");
        // What another register holds is not known.
        let bytes =
            compiled_with(".global f\nf: auipc t1, 0\n jr 8(t2)\n ret\n", "f.s", isa, cpu, &[]);
        let program = parsed(&bytes);
        let decoded = program
            .decode(program.symbol("f").expect("it is there"))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(decoded.function.instructions[1].flow, Flow::Jump, "{cpu}");
    }
}
