//! What tables say of a kernel's code: where a fault goes on, which words are others once it runs.
//! And code that nothing but data leads to.

use audit::audit::{Audit, Options, audit};
use audit::decode::Isa;
use audit::finding::Kind;
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use audit::views::text::{Sources, View, text};
use machine::in_order::Core;

/// The audit of `f`: of the object file, or linked.
fn audited(isa: Isa, cpu: &str, code: &str, is_linked: bool) -> Audit {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [source, object, linked] = ["f.s", "f.o", "f.elf"].map(|word| folder.path().join(word));
    std::fs::write(&source, format!(".text\n.global f\n.type f, %function\nf:\n{code}\n"))
        .expect("a scratch file");
    let mut bytes = toolchain::compile(&source, isa, cpu, &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    if is_linked {
        std::fs::write(&object, &bytes).expect("a scratch file");
        let mut command = std::process::Command::new("ld.lld-19");
        command.args(["-e", "f", "-Ttext=0x10000"]).arg("-o").arg(&linked).arg(&object);
        assert!(command.status().expect("it runs").success(), "{code}");
        bytes = std::fs::read(&linked).expect("what was linked");
    }
    let program = Program::parse("f.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
    let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
    let core = Core::bundled(cpu);
    assert!(core.is_some() || isa == Isa::X86, "{cpu} is bundled");
    let options =
        Options { avoid: Vec::new(), through: Vec::new(), effort: Effort::Search, recorded: None };
    audit(&program, symbol, cpu, core.as_ref(), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The instructions whose results nobody is said to read.
fn dead(audit: &Audit) -> Vec<String> {
    let all = audit.findings.iter().filter(|finding| finding.kind == Kind::DeadValue);
    all.map(|found| audit.function.instructions[found.idx].text.clone()).collect()
}

fn said(audit: &Audit) -> String {
    text(audit, &Sources::default(), &View::default())
}

/// A loop that stores for a user, and says how many bytes it could not store.
const STORES: &str = "add x5, x0, x2\n mov x15, x1\n1: ldr x3, [x1], #8\n9: sttr x3, [x0]\n add x0, x0, #8\n subs x2, x2, #8\n b.ne 1b\n \
                      mov x0, #0\n ret\n";

#[test]
fn what_fixes_a_fault_up_reads_what_the_code_before_left() {
    let fixup = "fix: ldrb w3, [x15]\n sub x0, x5, x0\n ret\n.size f, .-f\n";
    let rows = ".section __ex_table, \"a\"\n.long 9b - ., fix - .\n.short 1, 0\n";
    for is_linked in [false, true] {
        let with = audited(Isa::A64, "cortex-a53", &format!("{STORES}{fixup}{rows}"), is_linked);
        assert_eq!(dead(&with), Vec::<String>::new(), "{is_linked}");
        // The order that is looked for keeps what the fixup reads before the store, too.
        assert!(
            with.timed.is_some_and(|timed| timed.trace.exits.len() == 2),
            "{is_linked}: the store is a way out"
        );
    }
    let without = audited(Isa::A64, "cortex-a53", &format!("{STORES}.size f, .-f\n"), false);
    assert_eq!(dead(&without), ["add x5, x0, x2", "mov x15, x1"]);
}

/// The same of riscv and x86-64, with rows of their own.
#[test]
fn fixups_of_other_kernels_are_read() {
    let row = ".section __ex_table, \"a\"\n.long 9b - ., fix - .\n";
    let cases = [
        (
            Isa::Riscv64,
            "sifive-u74",
            "add a5, a0, a2\n1: ld a3, 0(a1)\n9: sd a3, 0(a0)\n addi a0, a0, 8\n addi a2, a2, -8\n \
             bnez a2, 1b\n li a0, 0\n ret\n",
            "fix: sub a0, a5, a0\n ret\n.size f, .-f\n",
            ".short 4, 0\n",
            "add a5, a0, a2",
        ),
        (
            Isa::X86,
            "x86-64",
            "lea (%rdi,%rdx), %r8\n1: mov (%rsi), %rax\n9: mov %rax, (%rdi)\n add $8, %rdi\n \
             sub $8, %rdx\n jne 1b\n xor %eax, %eax\n ret\n",
            "fix: mov %r8, %rax\n sub %rdi, %rax\n ret\n.size f, .-f\n",
            ".long 3\n",
            "lea (%rdi,%rdx), %r8",
        ),
    ];
    for (isa, cpu, code, fixup, rest, value) in cases {
        for is_linked in [false, true] {
            let table = format!("{row}{rest}");
            let with = audited(isa, cpu, &format!("{code}{fixup}{table}"), is_linked);
            assert_eq!(dead(&with), Vec::<String>::new(), "{cpu} {is_linked}");
            assert_eq!(with.function.tables.fixups.len(), 1, "{cpu} {is_linked}");
        }
        let without = audited(isa, cpu, &format!("{code}.size f, .-f\n"), false);
        let dead = dead(&without);
        assert!(
            dead.len() == 1 && without.function.instructions[0].text == dead[0],
            "{value}: {dead:?}"
        );
    }
    // Before version 5.16 a row of riscv had two pointers.
    let (isa, cpu, code, fixup, ..) = cases[0];
    let table = ".section __ex_table, \"a\"\n.balign 8\n.quad 9b, fix\n";
    for is_linked in [false, true] {
        let with = audited(isa, cpu, &format!("{code}{fixup}{table}"), is_linked);
        assert_eq!(with.function.tables.fixups.len(), 1, "{is_linked}");
    }
}

/// What stands in place of an alternative of x86-64 is not known.
#[test]
fn alternatives_of_x86_are_open() {
    // The words of a feature were two bytes and then four, with one length each.
    for feature in [".long 0x12", ".word 0x12"] {
        let code = format!(
            "mov %rsi, %rcx\n661: jmp no\n662: mov (%rdi), %rax\n add %rcx, %rax\n ret\n\
             no: xor %eax, %eax\n ret\n.size f, .-f\n.section .altinstructions, \"a\"\n\
             .long 661b - ., 663f - .\n{feature}\n.byte 662b - 661b, 664f - 663f\n\
             .section .altinstr_replacement, \"ax\"\n663: nop\n664:\n"
        );
        for is_linked in [false, true] {
            let audit = audited(Isa::X86, "x86-64", &code, is_linked);
            let tables = &audit.function.tables;
            assert_eq!((tables.counts().alternatives, tables.n_open()), (1, 1), "{feature}");
            assert_eq!(dead(&audit), Vec::<String>::new(), "{feature} {is_linked}");
            assert!(audit.findings.iter().all(|found| found.ways.is_empty()), "{feature}");
        }
    }
}

#[test]
fn a_fixup_elsewhere_may_read_everything() {
    let code = "mov r3, r1\n9: ldr r0, [r0]\n mov r3, #0\n bx lr\n.size f, .-f\n";
    let fixup = ".section .fixup, \"ax\"\nfix: mov r0, r3\n b f + 12\n";
    let rows = ".section __ex_table, \"a\"\n.long 9b, fix\n";
    let with = audited(Isa::A32, "arm1136jf-s", &format!("{code}{fixup}{rows}"), false);
    assert!(!dead(&with).contains(&"mov r3, r1".to_owned()), "{:?}", dead(&with));
    let without = audited(Isa::A32, "arm1136jf-s", code, false);
    assert_eq!(dead(&without), ["mov r3, r1", "mov r3, #0"]);
}

#[test]
fn code_that_only_data_leads_to_may_follow_every_instruction() {
    // As a landing pad, or a label in a table of the program's own.
    let code = |behind: &str| format!("li a5, 7\n lw a0, 0(a0)\n ret\n{behind}.size f, .-f\n");
    let pad = "pad: mv a0, a5\n ret\n";
    let table = ".section .rodata\n.word pad\n.text\n";
    let with = audited(Isa::Riscv32, "rocket", &format!("{}{table}", code(pad)), false);
    assert_eq!(dead(&with), Vec::<String>::new());
    assert_eq!(dead(&audited(Isa::Riscv32, "rocket", &code(""), false)), ["li a5, 7"]);
    // What fills up is no code.
    assert_eq!(dead(&audited(Isa::Riscv32, "rocket", &code("nop\n nop\n"), false)), ["li a5, 7"]);
}

/// A branch that is none on a processor with some feature.
const ALTERNATIVE: &str = "mov x9, x1\n661: b no\n662: ldr w0, [x0]\n add w0, w0, w9\n ret\nno: mov w0, #0\n ret\n.size f, .-f\n\
                           .section .altinstructions, \"a\"\n.word 661b - ., 663f - .\n.hword 7\n.byte 4, 4\n.text\n663: nop\n";

#[test]
fn an_alternative_is_no_part_of_what_is_concluded() {
    for is_linked in [false, true] {
        let audit = audited(Isa::A64, "cortex-a53", ALTERNATIVE, is_linked);
        assert_eq!(audit.function.tables.counts().alternatives, 1);
        // x9 is read only where the branch is none.
        assert_eq!(dead(&audit), Vec::<String>::new(), "{is_linked}");
        let said = said(&audit);
        assert!(
            said.contains(
                "not known: what becomes of 1 of them; nothing is concluded across these"
            ),
            "{said}"
        );
        assert!(
            audit
                .findings
                .iter()
                .all(|finding| finding.ways.is_empty() && !audit.function.is_patched(finding.idx)),
            "{:?}",
            audit.findings
        );
    }
}

#[test]
fn a_jump_label_leads_where_its_key_says() {
    // The target is in the code with a branch to it as well, and without.
    for way in ["", "cbz x2, on\n "] {
        let code = format!(
            "{way}mov x9, x1\n1: nop\n mov w9, #3\n add w0, w0, w9\n ret\non: add w0, w0, w9\n ret\n.size f, .-f\n\
             .section __jump_table, \"aw\"\n.long 1b - ., on - .\n.quad 0\n"
        );
        for is_linked in [false, true] {
            let audit = audited(Isa::A64, "cortex-a55", &code, is_linked);
            assert_eq!(audit.function.tables.counts().jump_labels, 1);
            assert_eq!(dead(&audit), Vec::<String>::new(), "{way}{is_linked}");
            assert!(
                said(&audit).contains("1 jump label: as after the kernel started"),
                "{}",
                said(&audit)
            );
        }
        let plain = code.split(".section").next().expect("it has a beginning");
        // Without the table the value is written over, unless nothing else leads to `on`.
        let expected: &[&str] = if way.is_empty() { &[] } else { &["mov x9, x1"] };
        assert_eq!(dead(&audited(Isa::A64, "cortex-a55", plain, false)), expected, "{way}");
    }
}

#[test]
fn alternatives_of_riscv_are_read_too() {
    let code = "886: fence\n887: lw a0, 0(a0)\n ret\n.size f, .-f\n\
                .section .alternative, \"a\"\n.word 886b - ., 888f - .\n.half 0, 4\n.word 3\n.section .alternatives, \"ax\"\n888: nop\n";
    let audit = audited(Isa::Riscv64, "sifive-u74", code, false);
    assert_eq!(audit.function.tables.counts().alternatives, 1);
    assert!(audit.function.is_patched(0) && !audit.function.is_patched(1));
}

#[test]
fn a_table_whose_rows_are_not_known_is_said() {
    let code = "mov x0, #0\n ret\n.size f, .-f\n.section .altinstructions, \"a\"\n.zero 22\n";
    let audit = audited(Isa::A64, "cortex-a53", code, true);
    assert!(
        said(&audit).contains("`.altinstructions` has rows of a layout that is not known"),
        "{}",
        said(&audit)
    );
    // An empty one says nothing.
    let code = "mov x0, #0\n ret\n.size f, .-f\n.section .altinstructions, \"a\"\n";
    assert!(!said(&audited(Isa::A64, "cortex-a53", code, true)).contains("layout"));
}
