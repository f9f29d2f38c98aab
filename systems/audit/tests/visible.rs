//! What other code can see is not called unneeded: registers before a return from an exception, a
//! call into the system, a jump to an unknown place, a word that is not decoded.

use std::collections::BTreeMap;

use audit::decode::Isa;
use audit::decode::code::{Flow, Instruction};
use audit::finding::Kind;
use audit::needed::{Subject, needed};
use audit::program::function::Function;
use audit::program::toolchain::{self, Build};
use audit::program::{Decoded, Program};

/// Instructions as bytes in the order of memory, as a function.
fn function(isa: Isa, code: &[&str]) -> Function {
    let mut instructions: Vec<Instruction> = Vec::new();
    let mut address = 0;
    for text in code {
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
        let byte = |pair: &[u8]| {
            u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("a byte")
        };
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        let one = isa.decode(address, &bytes).unwrap_or_else(|word| isa.unknown(&word, &bytes));
        assert_eq!(usize::from(one.length), bytes.len(), "{text}: {}", one.text);
        address += u64::from(one.length);
        instructions.push(one);
    }
    let frames = vec![Vec::new(); instructions.len()];
    Function {
        name: "f".into(),
        isa,
        instructions,
        frames,
        callees: BTreeMap::new(),
        is_cold: false,
        constants: Default::default(),
        tables: Default::default(),
        cases: Default::default(),
        arguments: Default::default(),
        addresses: Default::default(),
    }
}

/// What is found, as place and kind.
fn found(function: &Function) -> Vec<(usize, Kind)> {
    let is_hot = vec![true; function.instructions.len()];
    let subject = Subject { is_hot, ..Subject::of(function) };
    needed(&subject).into_iter().map(|found| (found.idx, found.kind)).collect()
}

fn assert_nothing(isa: Isa, code: &[&str]) {
    let function = function(isa, code);
    let texts: Vec<&str> =
        function.instructions.iter().map(|instruction| instruction.text.as_str()).collect();
    assert_eq!(found(&function), [], "{texts:?}");
}

/// With a plain return in place of the last instruction the same restores are needless:
/// the cases can fail.
fn assert_only_for_others(isa: Isa, code: &[&str], plain: &[&str], dead: &[usize]) {
    assert_nothing(isa, code);
    let kept = [&code[..code.len() - 1], plain].concat();
    let found: Vec<usize> = found(&function(isa, &kept))
        .into_iter()
        .filter(|pair| pair.1 == Kind::DeadValue)
        .map(|pair| pair.0)
        .collect();
    assert_eq!(found, dead, "{kept:?}");
}

#[test]
fn an_exception_returns_to_code_that_sees_every_register() {
    // ld a2, 88(t0); ld a3, 96(t0); ld t0, 40(t0); sret | ret
    let restore = ["03b68205", "83b60206", "83b28202", "73002010"];
    assert_only_for_others(Isa::Riscv64, &restore, &["67800000"], &[0, 1, 2]);
    // lw a2, 44(t0); mret
    assert_only_for_others(Isa::Riscv32, &["03a6c205", "73002030"], &["67800000"], &[0]);
    // ldp x2, x3, [sp, #16]; mov x8, #64; eret
    assert_only_for_others(Isa::A64, &["e20f41a9", "080880d2", "e0039fd6"], &["c0035fd6"], &[0, 1]);
    // ldm r0, {r2, r3}; movs pc, lr
    assert_only_for_others(Isa::A32, &["0c0090e8", "0ef0b0e1"], &["1eff2fe1"], &[0]);
    // mov r2, #1; subs pc, lr, #4, and mov r3, #7; rfeia sp!, and mov r2, #1; ldm sp, {r0, r1, r3,
    // pc}^
    assert_only_for_others(Isa::A32, &["0120a0e3", "04f05ee2"], &["1eff2fe1"], &[0]);
    assert_only_for_others(Isa::A32, &["0730a0e3", "000abdf8"], &["1eff2fe1"], &[0]);
    assert_nothing(Isa::A32, &["0120a0e3", "0b80dde8"]);
    // movs r2, #1; subs pc, lr, #4, and movs r2, #1; rfeia sp!
    assert_only_for_others(Isa::T32, &["0122", "def3048f"], &["7047"], &[0]);
    assert_only_for_others(Isa::T32, &["0122", "bde900c0"], &["7047"], &[0]);
    // ld [%g1 + 8], %g2; ld [%g1 + 12], %o4; jmp %l1; rett %l2
    assert_nothing(Isa::Sparc, &["c4006008", "d800600c", "81c44000", "81cc8000"]);
    // movq 16(%rdi), %r10; movq 24(%rdi), %rdx; iretq, and sysretq
    assert_nothing(Isa::X86, &["4c8b5710", "488b5718", "48cf"]);
    assert_nothing(Isa::X86, &["4c8b5710", "488b5718", "480f07"]);
}

#[test]
fn a_call_into_the_system_reads_what_its_own_standard_says() {
    // li a7, 64; ecall; ret
    assert_nothing(Isa::Riscv64, &["93080004", "73000000", "67800000"]);
    // mov x8, #64; svc #0; ret
    assert_nothing(Isa::A64, &["080880d2", "010000d4", "c0035fd6"]);
    // mov r7, #4; svc #0; bx lr
    assert_nothing(Isa::A32, &["0470a0e3", "000000ef", "1eff2fe1"]);
    // movs r7, #4; svc #0; bx lr
    assert_nothing(Isa::T32, &["0427", "00df", "7047"]);
    // mov 4, %g1; ta 16; retl; nop
    assert_nothing(Isa::Sparc, &["82102004", "91d02010", "81c3e008", "01000000"]);
    // movl $60, %eax; movl $1, %r10d; syscall; retq, and int $0x80
    assert_nothing(Isa::X86, &["b83c000000", "41ba01000000", "0f05", "c3"]);
    assert_nothing(Isa::X86, &["b83c000000", "41ba01000000", "cd80", "c3"]);
}

#[test]
fn a_call_into_the_system_may_change_what_was_known() {
    // li a0, 0; ecall; andi a0, a0, 255; ret
    assert_nothing(Isa::Riscv64, &["13050000", "73000000", "1375f50f", "67800000"]);
    // mov w0, #0; svc #0; and w0, w0, #0xff; ret
    assert_nothing(Isa::A64, &["00008052", "010000d4", "001c0012", "c0035fd6"]);
}

#[test]
fn a_jump_through_a_register_may_go_to_code_that_reads_all() {
    // li a2, 1; jr t0: as the routines that save registers are left
    assert_only_for_others(Isa::Riscv64, &["13061000", "67800200"], &["67800000"], &[0]);
    // mov x2, #1; br x16, and ret x17
    assert_only_for_others(Isa::A64, &["220080d2", "00021fd6"], &["c0035fd6"], &[0]);
    assert_only_for_others(Isa::A64, &["220080d2", "20025fd6"], &["c0035fd6"], &[0]);
    // mov r2, #1; bx r3
    assert_only_for_others(Isa::A32, &["0120a0e3", "13ff2fe1"], &["1eff2fe1"], &[0]);
    // movs r2, #1; bx r3
    assert_only_for_others(Isa::T32, &["0122", "1847"], &["7047"], &[0]);
}

#[test]
fn the_other_state_of_security_sees_what_is_in_any_register() {
    // movs r2, #1; bxns lr, and mov r7, r4; blxns r4; bx lr: what hides secrets
    assert_only_for_others(Isa::T32, &["0122", "7447"], &["7047"], &[0]);
    assert_nothing(Isa::T32, &["2746", "a447", "7047"]);
}

#[test]
fn another_mode_has_another_stack_pointer() {
    // mov sp, r0; msr psp, r1; mov sp, r2; bx lr, and msr control, r1 between
    assert_nothing(Isa::T32, &["8546", "81f30988", "9546", "7047"]);
    assert_nothing(Isa::T32, &["8546", "81f31488", "9546", "7047"]);
    // mov sp, r0; cps #31; mov sp, r1; bx lr, and msr CPSR_c, r2 between
    assert_nothing(Isa::A32, &["00d0a0e1", "1f0002f1", "01d0a0e1", "1eff2fe1"]);
    assert_nothing(Isa::A32, &["00d0a0e1", "02f021e1", "01d0a0e1", "1eff2fe1"]);
    // mov sp, x0; msr spsel, #0; mov sp, x1; ret
    assert_nothing(Isa::A64, &["1f000091", "bf4000d5", "3f000091", "c0035fd6"]);
}

/// `^` without the program counter means the user's registers, so the stack pointer of this mode is
/// there at once.
#[test]
fn user_registers_are_not_those_of_this_mode() {
    let names = |text: &str| {
        let function = function(Isa::A32, &[text]);
        let writes =
            function.instructions[0].writes.iter().map(|write| Isa::A32.register_name(write.reg));
        writes.collect::<Vec<_>>()
    };
    assert_eq!(names("0060dde8"), [""; 0], "ldm sp, {{sp, lr}}^");
    assert_eq!(names("0360dde8"), ["r0", "r1"], "ldm sp, {{r0, r1, sp, lr}}^");
    let stored = function(Isa::A32, &["0060cde8"]).instructions.remove(0);
    let reads: Vec<&str> =
        stored.reads.iter().map(|read| Isa::A32.register_name(read.reg)).collect();
    assert_eq!(reads, ["sp", "cpsr"], "{}: the base, and no lr", stored.text);
}

fn assembled(text: &str, isa: Isa, cpu: &str) -> Decoded {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("code.s");
    std::fs::write(&path, text).expect("a scratch file");
    let bytes = toolchain::compile(&path, isa, cpu, &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let program = Program::parse("code.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
    program
        .decode(program.symbol("f").unwrap_or_else(|error| panic!("{error}")))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn texts(decoded: &Decoded) -> Vec<&str> {
    decoded.function.instructions.iter().map(|instruction| instruction.text.as_str()).collect()
}

#[test]
fn a_word_that_is_not_decoded_has_the_length_that_its_bits_say() {
    // The second halves of these words would be instructions of their own: `addi t0, t0, 29` is one
    // of them.
    let code = ".text\n.globl f\n.type f, @function\nf:\n.insn 4, 0x02f5007b\n.insn 4, 0x02f5000b\nli a0, 1\nnop\nret\n.size f, .-f\n";
    let decoded = assembled(code, Isa::Riscv64, "sifive-u74");
    assert_eq!(
        texts(&decoded),
        [".4byte 0x02f5007b", ".4byte 0x02f5000b", "li a0, 1", "nop", "ret"]
    );
    assert_eq!(decoded.undecodable.len(), 2);
    // Six bytes and eight: the code goes on after them.
    let longer = function(Isa::Riscv64, &["1f1085028502", "3f00850285028502", "67800000"]);
    let texts: Vec<&str> =
        longer.instructions.iter().map(|instruction| instruction.text.as_str()).collect();
    assert_eq!(texts, [".insn 0x02850285101f", ".insn 0x028502850285003f", "ret"]);
}

#[test]
fn nothing_is_concluded_across_a_word_that_is_not_decoded() {
    // li a2, 1; li a0, 0; (a custom instruction); andi a0, a0, 255; ret
    let code = ["13061000", "13050000", "0b00f502", "1375f50f", "67800000"];
    assert_nothing(Isa::Riscv64, &code);
    let without = function(Isa::Riscv64, &[&code[..2], &code[3..]].concat());
    assert_eq!(
        found(&without),
        [(0, Kind::DeadValue), (2, Kind::RedundantExtension)],
        "without it both are seen"
    );
    // mov x2, #1; mov w0, #0; (reserved); and w0, w0, #0xff; ret
    let code = ["220080d2", "00008052", "00000000", "001c0012", "c0035fd6"];
    assert_nothing(Isa::A64, &code);
    // mov r2, #1; (undefined); bx lr
    assert_nothing(Isa::A32, &["0120a0e3", "f00060e7", "1eff2fe1"]);
    // sub sp, sp, #8; str r3, [sp, #4]; (undefined); add sp, sp, #8; bx lr
    assert_nothing(Isa::A32, &["08d04de2", "04308de5", "f00060e7", "08d08de2", "1eff2fe1"]);
}

const LEAVES: &str = "\
struct queue { int state, count; };
__attribute__((noreturn, noinline)) void leave(struct queue *q);
int step(struct queue *q, int n)
{
    if (n > 3) {
        q->state = 2;
        leave(q);
    }
    q->count = n;
    return q->state;
}
";

#[test]
fn a_path_ends_at_a_call_that_dwarf_says_never_returns() {
    for (isa, cpu, text) in [
        (Isa::A32, "arm1136jf-s", LEAVES.to_owned()),
        (Isa::A64, "cortex-a53", LEAVES.replace("n > 3", "!n")),
        (Isa::Riscv64, "sifive-u74", LEAVES.replace("q->count = n;", "")),
    ] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("leaves.c");
        std::fs::write(&path, &text).expect("a scratch file");
        let bytes = toolchain::compile(&path, isa, cpu, &Build::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let program = Program::parse("leaves.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
        let decoded = program
            .decode(program.symbol("step").expect("it is there"))
            .unwrap_or_else(|error| panic!("{error}"));
        let function = decoded.function;
        let last = function
            .instructions
            .iter()
            .position(|instruction| instruction.flow == Flow::LastCall)
            .unwrap_or_else(|| panic!("{cpu}: no last call"));
        assert_eq!(
            function.callees.get(&function.instructions[last].address).map(String::as_str),
            Some("leave")
        );
        let trace = audit::facts::trace::hot_trace(&audit::facts::trace::Guide::of(&function));
        assert!(!trace.places.contains(&last), "{cpu}: the way to it is the cold one");
        assert_eq!(trace.end, audit::facts::trace::End::Return, "{cpu}");
    }
}

const BY_HAND: &str = "\
#if defined(__riscv)
__attribute__((naked)) void resume(void) { __asm__ volatile(\"lw a2, 44(t0)\\n lw a3, 48(t0)\\n lw t0, 20(t0)\\n sret\"); }
int call(int n, int *second)
{
    register int a0 __asm__(\"a0\") = n;
    register int a1 __asm__(\"a1\") = 7;
    register int a7 __asm__(\"a7\") = 64;
    __asm__ volatile(\"ecall\" : \"+r\"(a0), \"+r\"(a1) : \"r\"(a7) : \"memory\");
    *second = a1;
    return (unsigned char)a0;
}
#else
__attribute__((naked)) void resume(void) { __asm__ volatile(\"ldr r2, [r1, #8]\\n ldr r3, [r1, #12]\\n movs pc, lr\"); }
int call(int n, int *second)
{
    register int r0 __asm__(\"r0\") = n;
    register int r1 __asm__(\"r1\") = 7;
    register int r7 __asm__(\"r7\") = 4;
    __asm__ volatile(\"svc #0\" : \"+r\"(r0), \"+r\"(r1) : \"r\"(r7) : \"memory\");
    *second = r1;
    return (unsigned char)r0;
}
#endif
";

/// Naked functions, and inline assembly with several outputs.
#[test]
fn assembly_inside_c_is_left_alone() {
    for (isa, cpu) in
        [(Isa::Riscv64, "sifive-u74"), (Isa::Riscv32, "rocket"), (Isa::A32, "arm1136jf-s")]
    {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("by_hand.c");
        std::fs::write(&path, BY_HAND).expect("a scratch file");
        let bytes = toolchain::compile(&path, isa, cpu, &Build::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let program = Program::parse("by_hand.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
        for name in ["resume", "call"] {
            let decoded = program
                .decode(program.symbol(name).expect("it is there"))
                .unwrap_or_else(|error| panic!("{error}"));
            let kinds: Vec<Kind> =
                found(&decoded.function).into_iter().map(|pair| pair.1).collect();
            let wrong = [Kind::DeadValue, Kind::RedundantExtension, Kind::DeadStore];
            assert!(
                !kinds.iter().any(|word| wrong.contains(word)),
                "{cpu}, {name}: {kinds:?} in {:?}",
                texts(&decoded)
            );
        }
    }
}

#[test]
fn registers_of_floating_point_are_results_arguments_and_saved_ones_too() {
    for isa in [Isa::Riscv64, Isa::Riscv32] {
        // fld fa0, 8(a0); ret
        assert_nothing(isa, &["07358500", "67800000"]);
        // flw fs0, 4(a0); ret, as at the end of a function that used it
        assert_nothing(isa, &["07244500", "67800000"]);
        // fld fa1, 8(a0); jal f: an argument. Then fld fa1, 8(a0); fld fa1, 8(a0); ret: the first
        // is dead.
        assert_nothing(isa, &["87358500", "eff0dfff", "67800000"]);
        let twice = function(isa, &["87358500", "87358500", "67800000"]);
        assert!(found(&twice).contains(&(0, Kind::DeadValue)), "{:?}", found(&twice));
    }
}

#[test]
fn a_callee_in_the_same_file_may_leave_registers_alone_that_a_convention_gives_it() {
    // add x12, x12, #1; bl to the function that begins after it; cmp x12, x19: gcc keeps values so
    // (-fipa-ra).
    let kept = function(Isa::A64, &["8c050091", "02000094", "9f0113eb", "e0079f1a", "c0035fd6"]);
    assert_eq!(found(&kept), []);
    // addi t3, t3, 1; jal f; add a0, a0, t3; ret
    assert_nothing(Isa::Riscv64, &["050e", "ef004000", "7295", "67800000"]);
    // mov r12, r1; bl f; add r0, r0, r12; bx lr
    assert_nothing(Isa::A32, &["01c0a0e1", "000000eb", "0c0080e0", "1eff2fe1"]);
    // Whom the linker knows may change them: the sum is lost.
    let mut other = kept.clone();
    other.instructions[1].flow = Flow::Call { target: None };
    assert!(found(&other).contains(&(0, Kind::DeadValue)));
}

#[test]
fn who_goes_on_with_another_stack_sees_every_register() {
    let n_dead = |isa, cpu, code: &str| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("switch.s");
        std::fs::write(
            &path,
            format!(".text\n.global f\n.type f, %function\nf: {code}\n.size f, .-f\n"),
        )
        .expect("a scratch file");
        let bytes = toolchain::compile(&path, isa, cpu, &Build::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let program = Program::parse("switch.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
        let decoded = program
            .decode(program.symbol("f").expect("it is there"))
            .unwrap_or_else(|error| panic!("{error}"));
        found(&decoded.function).into_iter().filter(|pair| pair.1 == Kind::DeadValue).count()
    };
    let threads = [
        (
            Isa::Riscv64,
            "sifive-u74",
            "ld sp, 0(a1)\n ld a2, 16(sp)\n ld t0, 24(sp)\n ld ra, 0(sp)\n addi sp, sp, 32\n ret",
        ),
        (Isa::Riscv32, "rocket", "lw a4, 4(a0)\n mv sp, a4\n lw a2, 16(sp)\n lw ra, 0(sp)\n ret"),
        (
            Isa::A64,
            "cortex-a53",
            "ldr x1, [x0]\n mov sp, x1\n ldp x2, x3, [sp], #16\n ldr x30, [sp], #16\n ret",
        ),
        (
            Isa::Riscv64,
            "sifive-u74",
            "lla sp, f\n ld sp, 0(sp)\n ld sp, 0(sp)\n ld a2, 16(sp)\n ld ra, 0(sp)\n ret",
        ),
        (Isa::A32, "arm1136jf-s", "ldr sp, [r0]\n pop {r1, r2, r3, pc}"),
        (Isa::A32, "arm1136jf-s", "ldr r4, [r0]\n add sp, r4, #8\n ldr r2, [sp]\n bx lr"),
    ];
    for (isa, cpu, code) in threads {
        assert_eq!(n_dead(isa, cpu, code), 0, "{code}");
    }
    // A frame of variable size, and one whose end the frame has, are no other stack.
    assert_eq!(
        n_dead(
            Isa::A64,
            "cortex-a53",
            "mov x5, sp\n sub sp, sp, x0\n mov sp, x5\n ldr x2, [x1]\n ret"
        ),
        1
    );
    assert_eq!(n_dead(Isa::A32, "arm1136jf-s", "ldr r2, [r1]\n ldm r11, {r4, r5, r11, sp, pc}"), 1);
}

/// The findings of a function `f` in assembly, in the object file or linked at 64 KiB.
fn kinds(isa: Isa, cpu: &str, code: &str, linker: Option<&str>) -> Vec<Kind> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (source, object, linked) =
        (folder.path().join("f.s"), folder.path().join("f.o"), folder.path().join("f.elf"));
    let text = format!(
        ".text\n.global f\n.type f, %function\nf: {code}\n.size f, .-f\n.data\nx: .word 1, 2, 3, 4\ny: .word 5\n"
    );
    std::fs::write(&source, text).expect("a scratch file");
    let mut bytes = toolchain::compile(&source, isa, cpu, &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    if let Some(linker) = linker {
        std::fs::write(&object, &bytes).expect("a scratch file");
        let mut command = std::process::Command::new(linker);
        command
            .args(["-e", "f", "-Ttext=0x10000", "-Tdata=0x20010", "-o"])
            .arg(&linked)
            .arg(&object);
        assert!(command.status().expect("it runs").success(), "{linker} {code}");
        bytes = std::fs::read(&linked).expect("what was linked");
    }
    let program = Program::parse("f", &bytes).unwrap_or_else(|error| panic!("{error}"));
    let decoded = program
        .decode(program.symbol("f").expect("it is there"))
        .unwrap_or_else(|error| panic!("{error}"));
    found(&decoded.function).into_iter().map(|pair| pair.1).collect()
}

#[test]
fn addresses_are_no_constants_of_the_source() {
    let cases = [
        (
            Isa::Riscv64,
            "sifive-u74",
            "riscv64-unknown-elf-ld",
            "lui a0, %hi(y)\n addi a0, a0, %lo(y)\n ret",
        ),
        (
            Isa::A64,
            "cortex-a53",
            "aarch64-linux-gnu-ld",
            "adrp x1, x\n add x1, x1, :lo12:x\n add x0, x1, #16\n ret",
        ),
        (
            Isa::T32,
            "cortex-m4",
            "arm-none-eabi-ld",
            "movw r0, #:lower16:y\n movt r0, #:upper16:y\n bx lr",
        ),
    ];
    for (isa, cpu, linker, code) in cases {
        assert_eq!(kinds(isa, cpu, code, None), [], "{code}");
        assert_eq!(kinds(isa, cpu, code, Some(linker)), [], "{code}, linked");
    }
    let leon = "sethi %hi(y), %o0\n retl\n or %o0, %lo(y), %o0";
    assert_eq!(kinds(Isa::Sparc, "leon3", leon, None), [], "{leon}");
    // Numbers that are no addresses there take two instructions as before.
    let number = [Kind::SplitImmediate];
    assert_eq!(
        kinds(
            Isa::Riscv64,
            "sifive-u74",
            "lui a0, 0x12345\n addi a0, a0, 0x67\n ret",
            Some("riscv64-unknown-elf-ld")
        ),
        number
    );
    assert_eq!(
        kinds(
            Isa::T32,
            "cortex-m4",
            "movw r0, #0x5678\n movt r0, #0x1234\n bx lr",
            Some("arm-none-eabi-ld")
        ),
        number
    );
}

#[test]
fn what_a_linker_still_writes_tells_objects_apart() {
    // The offsets are 0 in the file, and 0 and 8 in the program.
    let stores = "adrp x1, x\n str x0, [x1, :lo12:x]\n str x2, [x1, :lo12:x+8]\n ret";
    assert_eq!(kinds(Isa::A64, "cortex-a53", stores, None), []);
    let loads =
        "adrp x1, x\n ldr x0, [x1, :lo12:x]\n ldr x2, [x1, :lo12:x+8]\n add x0, x0, x2\n ret";
    assert_eq!(kinds(Isa::A64, "cortex-a53", loads, None), []);
    let sums = "sethi %hi(x), %o1\n ld [%o1 + %lo(x)], %o0\n ld [%o1 + %lo(x+4)], %o2\n retl\n add %o0, %o2, %o0";
    assert_eq!(kinds(Isa::Sparc, "leon3", sums, None), []);
    // The same place is the same.
    let again = "ldr x0, [x1, #8]\n ldr x2, [x1, #8]\n add x0, x0, x2\n ret";
    assert_eq!(kinds(Isa::A64, "cortex-a53", again, None), [Kind::ComputedTwice]);
}

#[test]
fn half_of_a_register_is_another_value() {
    // mov w2, w1; add x3, x2, #1; add x4, x1, #1; add x0, x3, x4
    assert_nothing(Isa::A64, &["e203012a", "43040091", "24040091", "6000048b", "c0035fd6"]);
    // mov x2, x1 in its place: the sum is there.
    let whole = function(Isa::A64, &["e20301aa", "43040091", "24040091", "6000048b", "c0035fd6"]);
    assert_eq!(found(&whole), [(1, Kind::FewerInstructions), (2, Kind::ComputedTwice)]);
}

/// A `switch` whose cases fall into each other, by a table.
const FALLS: &str = "\
 .loc 1 1
 cmp w1, #2
 b.hi 9f
 adr x3, 7f
 add x2, x3, w1, sxtb #2
 br x2
7: .loc 1 2
 and w0, w0, #0xff
 str w0, [x6]
 ldr w5, [x4]
 add w1, w5, w0
8: .loc 1 3
 and w0, w0, #0xff
 ldr w6, [x4]
 add w0, w0, w6
 add w0, w0, w1
 ret
9: .loc 1 4
 and w0, w0, #0xff
 str w0, [x6]
 .loc 1 3
 b 8b
";

#[test]
fn a_table_may_lead_to_a_case_that_the_one_before_falls_into() {
    let decoded = kinds(Isa::A64, "cortex-a53", &format!("\n .file 1 \"f.c\"\n{FALLS}"), None);
    // The sum of the second case can mask by itself, but needs the mask.
    assert_eq!(decoded, [Kind::FewerInstructions], "mask and load of the second case are needed");
    // Without the jump through the table they are not.
    let direct = FALLS.replace(" br x2\n", " nop\n");
    let decoded = kinds(Isa::A64, "cortex-a53", &format!("\n .file 1 \"f.c\"\n{direct}"), None);
    assert!(decoded.contains(&Kind::RedundantExtension), "{decoded:?}");
}

#[test]
fn registers_saved_before_a_switch_are_read_in_its_cases() {
    let save = "addi sp, sp, -16\n sd s0, 8(sp)\n jr a5\n 1: ld s0, 8(sp)\n addi sp, sp, 16\n ret\n 2: ld s0, 8(sp)\n addi sp, sp, 16\n ret";
    assert_eq!(kinds(Isa::Riscv64, "sifive-u74", save, None), []);
    let kept = "stp x19, x20, [sp, #-16]!\n br x5\n 1: ldp x19, x20, [sp], #16\n ret";
    assert_eq!(kinds(Isa::A64, "cortex-a53", kept, None), []);
}

#[test]
fn what_a_hint_to_the_memory_reads_is_read() {
    for (isa, cpu, code) in [
        (Isa::A32, "arm1136jf-s", ".arch armv7-a\n ldr r3, [r0]\n pld [r3, #64]\n bx lr"),
        (Isa::T32, "cortex-m4", "ldr r3, [r0]\n movs r2, #0\n pld [r3, r2]\n bx lr"),
        (Isa::A64, "cortex-a53", "ldr x3, [x0]\n prfm pldl1keep, [x3, #64]\n ret"),
        // `prefetch.r 32(a5)` of Zicbop, as those who know only the base set read it.
        (Isa::Riscv64, "sifive-u74", "ld a5, 0(a0)\n ori x0, a5, 33\n ret"),
    ] {
        assert_eq!(kinds(isa, cpu, code, None), [], "{code}");
    }
    // What nobody reads is dead beside it.
    assert_eq!(
        kinds(Isa::T32, "cortex-m4", "ldr r3, [r0]\n ldr r2, [r0]\n pld [r3]\n bx lr", None),
        [Kind::DeadValue]
    );
}

#[test]
fn a_jump_that_a_branch_skips_because_it_does_not_reach_says_so() {
    let whys = |isa, cpu, code: &str| {
        let decoded = assembled(&format!(".global f\nf: {code}\n"), isa, cpu);
        let function = decoded.function;
        let is_hot = vec![true; function.instructions.len()];
        let subject = Subject { is_hot, ..Subject::of(&function) };
        let jumps = needed(&subject).into_iter().filter(|found| found.kind == Kind::Jump);
        jumps.map(|jump| jump.why).collect::<Vec<String>>()
    };
    let far = |n: usize| {
        format!(
            "bne a0, a1, 1f\n j 2f\n1: addi a0, a0, 1\n .rept {n}\n addi a0, a0, 3\n .endr\n2: ret"
        )
    };
    let said = whys(Isa::Riscv64, "sifive-u74", &far(2100));
    assert!(
        said.len() == 1
            && said[0].contains("`bne a0, a1, 0x")
            && said[0].contains("does not reach its target"),
        "{said:?}"
    );
    let near = whys(Isa::Riscv64, "sifive-u74", &far(10));
    assert_eq!(near, ["its target could stand here instead"]);
    let bit = |n: usize| {
        format!(
            "tbnz x0, #3, 1f\n b 2f\n1: add x0, x0, #1\n .rept {n}\n add x0, x0, #1\n .endr\n2: ret"
        )
    };
    assert!(whys(Isa::A64, "cortex-a53", &bit(8300))[0].contains("does not reach its target"));
    assert_eq!(whys(Isa::A64, "cortex-a53", &bit(8000)), ["its target could stand here instead"]);
}

#[test]
fn where_a_structure_is_returned_is_an_argument() {
    // mov x8, x1; bl elsewhere; ret, and with x9
    let of = |copy: &str| found(&function(Isa::A64, &[copy, "00040094", "c0035fd6"]));
    assert_eq!(of("e80301aa"), []);
    assert_eq!(of("e90301aa"), [(0, Kind::DeadValue)]);
    // add x8, sp, #16 in front of a jump to another function, and mov x19, x8, from which it is made
    // again
    assert_nothing(Isa::A64, &["e8430091", "00040014"]);
    assert_nothing(Isa::A64, &["f30308aa", "68220091", "00040014"]);
}

fn named_f(isa: Isa, body: &str) -> Function {
    let text = format!("\t.text\n\t.global f\n\t.type f, %function\nf:\n{body}\n\t.size f, .-f\n");
    assembled(&text, isa, if isa == Isa::A64 { "cortex-a53" } else { "rocket" }).function
}

/// What another core writes between two loads, and reads between two stores, counts.
#[test]
fn what_orders_accesses_keeps_those_on_both_sides() {
    let loads = |load: &str, between: &str, again: &str| format!("{load}\n{between}\n{again}\nret");
    let a64 = |between: &str| {
        let twice = loads("ldr x2, [x0]", between, "ldr x4, [x0]\nadd x0, x2, x4");
        let stores = loads("str x2, [x0]", between, "str x3, [x0]");
        [twice, stores].map(|text| found(&named_f(Isa::A64, &text)))
    };
    for between in ["ldar w5, [x1]", "dmb ish", "dsb sy"] {
        assert_eq!(a64(between), [const { Vec::new() }; 2], "{between}");
    }
    let released = a64("stlr w5, [x1]");
    assert_eq!(released[1], [], "it is released");
    let harmless = a64("nop");
    assert_eq!(harmless.map(|found| found.len()), [1, 1], "nothing is between");
    // Nothing reads what is loaded, and the load orders others.
    for load in ["ldar w5, [x1]", "ldaxr w5, [x1]", "ldaxrb w5, [x1]"] {
        assert_eq!(found(&named_f(Isa::A64, &format!("{load}\nldr x0, [x0]\nret"))), [], "{load}");
    }
    let riscv = |between: &str| {
        found(&named_f(
            Isa::Riscv64,
            &loads("ld a2, 0(a0)", between, "ld a4, 0(a0)\nadd a0, a2, a4"),
        ))
    };
    for between in ["fence r, rw", "fence rw, rw", "lr.w.aq a5, (a1)"] {
        assert_eq!(riscv(between), [], "{between}");
    }
    assert_eq!(riscv("nop").len(), 1);
}
