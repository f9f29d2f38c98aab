//! No edit is named unless it was proved; a finding ends with its cause and with what can be tried,
//! and no cause is given that is not one.

use std::collections::BTreeSet;

use audit::audit::{Audit, Options, audit};
use audit::decode::Isa;
use audit::finding::{Finding, Kind, Moot, Way};
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use audit::views::text::Sources;
use audit::volatile::{count_devices, count_volatile};
use machine::in_order::Core;

/// The audit of assembly whose lines (`.loc 1 N`) are those of this source, in a file of this name.
fn audited_as(file: &str, isa: Isa, cpu: &str, code: &str, source: &str) -> Audit {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("f.s");
    let text = format!(
        ".file 1 \"{file}\"\n.text\n.global f\n.type f, %function\nf:\n{code}\n.size f, .-f\n"
    );
    std::fs::write(&path, text).expect("a scratch file");
    let build = Build { flags: vec!["-g0".to_owned()], ..Build::default() };
    let bytes =
        toolchain::compile(&path, isa, cpu, &build).unwrap_or_else(|error| panic!("{error}"));
    let program = Program::parse("f.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
    let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
    let core = Core::bundled(cpu).expect("it is bundled");
    let options = Options {
        avoid: vec!["slow".to_owned()],
        through: Vec::new(),
        effort: Effort::Search,
        recorded: None,
    };
    let mut audit = audit(&program, symbol, cpu, Some(&core), &options)
        .unwrap_or_else(|error| panic!("{error}"));
    let name = audit
        .function
        .frames
        .iter()
        .flatten()
        .next()
        .map(|frame| frame.file.clone())
        .expect("it has lines");
    assert!(name.ends_with(file), "{name}");
    let names = BTreeSet::from(["device".to_owned()]);
    let sources = Sources::from([(name, source.lines().map(str::to_owned).collect())]);
    count_volatile(&mut audit, &names, &sources);
    assert!(audit.findings.iter().all(|found| found.edit.is_none() && found.tried == 0));
    audit
}

fn audited(isa: Isa, cpu: &str, code: &str, source: &str) -> Audit {
    audited_as("f.c", isa, cpu, code, source)
}

/// The only finding of a kind.
fn only(audit: &Audit, kind: Kind) -> &Finding {
    let all: Vec<&Finding> = audit.findings.iter().filter(|finding| finding.kind == kind).collect();
    assert_eq!(all.len(), 1, "{:?}", audit.findings);
    all[0]
}

/// What can be tried for the only finding of a kind.
fn ways(isa: Isa, cpu: &str, code: &str, kind: Kind) -> Vec<Way> {
    only(&audited(isa, cpu, code, ""), kind).ways.clone()
}

const TWICE: &str = ".loc 1 2\n ldr r1, [r0, #4]\n add r2, r2, r1\n .loc 1 3\n ldr r3, [r0, #4]\n add r0, r2, r3\n bx lr";

#[test]
fn a_finding_names_what_can_be_tried_for_it() {
    let code = ".loc 1 2\n ldrb r3, [r0]\n .loc 1 3\n and r0, r3, #255\n .loc 1 4\n bx lr";
    let mask = ways(Isa::A32, "arm1136jf-s", code, Kind::RedundantExtension);
    assert_eq!(mask, [Way::Wider]);
    let twice = ways(Isa::A32, "arm1136jf-s", TWICE, Kind::ComputedTwice);
    assert_eq!(twice, [Way::LocalCopy, Way::Restrict]);
}

/// Each access to such an object stays: nobody can act on what is found there.
#[test]
fn accesses_that_are_volatile_are_counted() {
    let with = |line: &str| {
        let source = format!("f\n x += p->n;\n {line}\n}}\n");
        let audit = audited(Isa::A32, "arm1136jf-s", TWICE, &source);
        let n = audit.findings.iter().filter(|it| it.kind == Kind::ComputedTwice).count();
        (n, audit.moot.get(&Moot::Volatile).copied())
    };
    assert_eq!(with("return x + p->n;"), (1, None));
    // The wait before it goes with it, which it would have filled.
    assert_eq!(with("return x + p->device;"), (0, Some(2)));
    assert_eq!(with("return x + *(volatile int *)p;"), (0, Some(2)));
}

/// What a program reads at a number at which it has nothing is a device's.
#[test]
fn accesses_to_addresses_outside_the_program_are_counted() {
    let code = ".loc 1 2\n movw r0, #0x1000\n movt r0, #0x4002\n ldr r1, [r0, #4]\n .loc 1 3\n ldr r2, [r0, #4]\n add r0, r1, r2\n bx lr";
    let with = |has: fn(u64) -> bool| {
        let mut audit = audited(Isa::T32, "cortex-m4", code, "f\n set();\n reset();\n}\n");
        count_devices(&mut audit, has);
        let n = audit.findings.iter().filter(|found| found.kind == Kind::ComputedTwice).count();
        (n, audit.moot.get(&Moot::Device).copied())
    };
    assert_eq!(with(|address| address == 0x4002_1004), (1, None));
    assert_eq!(with(|_| false), (0, Some(1)));
    // Whose address a pointer brings, nobody knows.
    let mut audit = audited(Isa::A32, "arm1136jf-s", TWICE, "");
    count_devices(&mut audit, |_| false);
    only(&audit, Kind::ComputedTwice);
}

/// What makes the address of a device that is read for nothing is needed as the load is.
#[test]
fn what_only_a_volatile_access_reads_is_counted_with_it() {
    let code = ".loc 1 2\n mov r3, #0x4000\n .loc 1 3\n ldr r3, [r3]\n mov r0, #0\n bx lr";
    let with = |line: &str| {
        let source = format!("f\n p = PORT;\n {line}\n}}\n");
        let audit = audited(Isa::A32, "arm1136jf-s", code, &source);
        audit.findings.iter().filter(|found| found.kind == Kind::DeadValue).count()
    };
    assert_eq!((with("(void)p->n;"), with("(void)p->device;")), (2, 0));
}

/// A compiler leaves what a statement of assembly holds as it is.
#[test]
fn what_asm_holds_is_counted() {
    let code = ".loc 1 2\n udiv r3, r3, r2\n .loc 1 3\n mov r0, #0\n bx lr";
    let with = |line: &str| {
        let audit = audited(Isa::T32, "cortex-m4", code, &format!("f\n {line}\n return 0;\n"));
        (audit.findings.len(), audit.moot.get(&Moot::Asm).copied())
    };
    assert_eq!(with("__asm__ volatile(\"udiv %0, %0, %1\" : \"+r\"(x) : \"r\"(y));"), (0, Some(1)));
    assert_eq!(with("x /= y;").1, None);
}

/// It passes no other one, so it fills no wait; what is no access may.
#[test]
fn an_access_that_is_volatile_fills_no_wait() {
    let fill = |line: &str| {
        let code = ".loc 1 2\n ldr r3, [r0]\n add r3, r3, #1\n add r2, r2, #3\n .loc 1 3\n ldr r1, [r0, #4]\n .loc 1 4\n str r3, [r5]\n str r2, [r6]\n str r1, [r7]\n bx lr";
        let source = format!("f\n x = p->n;\n {line}\n}}\n");
        let audit = audited(Isa::A32, "arm1136jf-s", code, &source);
        let stall = audit.findings.iter().find(|found| found.kind == Kind::Stall && found.idx == 1);
        stall.expect("it waits").fill.clone().unwrap_or_default()
    };
    let plain = fill("y = p->m;");
    assert!(plain.contains("`ldr r1, [r0, #4]` (line 3)"), "{plain}");
    let device = fill("y = p->device;");
    assert!(!device.contains("ldr r1") && device.contains("add r2"), "{device}");
}

/// Where an access that is `volatile` would have to go above a test, nobody can act.
#[test]
fn a_volatile_load_above_a_test_is_counted() {
    let code = ".loc 1 2\n ldr r3, [r0]\n cmp r3, #0\n beq 1f\n .loc 1 4\n ldr r2, [r1]\n add r2, r2, #1\n str r2, [r1]\n bx lr\n1: mov r0, #0\n bx lr";
    let with = |line: &str| {
        let source = format!("f\n if (p->n)\n\n {line}\n}}\n");
        let audit = audited(Isa::A32, "arm1136jf-s", code, &source);
        audit.findings.iter().any(|found| found.kind == Kind::Stall && found.idx == 1)
    };
    assert!(with("q->n++;"));
    assert!(!with("*(volatile int *)q += 1;"));
}

/// Where the registers of the caller lie, no pointer leads, though the frame's address is known.
#[test]
fn what_is_kept_for_the_caller_is_nothing_that_a_store_writes() {
    let said = |back: &str| {
        let code = format!(
            ".fpu fpv5-d16\n.loc 1 2\n push {{r4, lr}}\n vpush {{d8}}\n sub sp, #8\n mov r4, r0\n mov r0, sp\n bl g\n ldr r4, [r4]\n .loc 1 3\n strb r0, [r4, #8]\n add sp, #8\n {back}\n pop {{r4, pc}}"
        );
        let audit = audited(Isa::T32, "cortex-m7", &code, "");
        let all = audit.findings.iter().filter_map(|found| found.prevents.clone());
        all.collect::<Vec<String>>().join("\n")
    };
    let kept = said("vpop {d8}");
    assert!(!kept.is_empty() && !kept.contains("may read what"), "{kept}");
}

/// An address that lies beside the code is no load that a line of the source could do earlier.
#[test]
fn a_constant_beside_the_code_is_not_tried_earlier() {
    let stall = |load: &str| {
        let code = format!(
            ".loc 1 2\n ldr r3, [r0]\n cmp r3, #0\n beq 1f\n .loc 1 3\n {load}\n add r2, r2, #1\n str r2, [r0]\n bx lr\n1: mov r0, #0\n bx lr\n .p2align 2\n2: .word 0x12345678"
        );
        let audit = audited(Isa::A32, "arm1136jf-s", &code, "");
        let stall = audit.findings.iter().find(|found| found.kind == Kind::Stall && found.idx == 1);
        stall.expect("it waits").clone()
    };
    assert_eq!(stall("ldr r2, [r1]").ways, [Way::Earlier]);
    let literal = stall("ldr r2, 2f");
    assert!(literal.prevents.is_some_and(|why| why.contains("would do no harm above it")));
    assert_eq!(literal.ways, []);
}

/// What goes above a branch that reads the register which it writes goes there in another one.
#[test]
fn a_move_that_needs_another_register_says_so() {
    let prevents = |reg: &str| {
        let code = format!(
            ".loc 1 2\n ldr r3, [r0]\n cmp r3, #0\n beq 1f\n .loc 1 3\n mov {reg}, #7\n str {reg}, [r1]\n bx lr\n1: str r3, [r1]\n bx lr"
        );
        let audit = audited(Isa::A32, "arm1136jf-s", &code, "");
        let stall = audit.findings.iter().find(|found| found.kind == Kind::Stall && found.idx == 1);
        stall.expect("it waits").prevents.clone().unwrap_or_default()
    };
    let said = prevents("r2");
    assert!(said.contains("(line 2), though it would do no harm above it"), "{said}");
    let said = prevents("r3");
    assert!(said.contains("though in another register it would do no harm above it"), "{said}");
}

/// What fills a wait by going below a test is named with the test.
#[test]
fn what_goes_below_a_test_is_named() {
    let code = ".loc 1 2\n add r3, r2, #9\n .loc 1 3\n cmp r1, #0\n bne 1f\n .loc 1 4\n ldr r12, [r0]\n add r12, r12, r3\n str r12, [r0]\n .loc 1 5\n bx lr\n1: mov r0, #0\n bx lr";
    let audit = audited(Isa::A32, "arm1136jf-s", code, "");
    let waits = |found: &&Finding| found.kind == Kind::Stall && found.idx == 4;
    let stall = audit.findings.iter().find(waits).expect("it waits");
    assert_eq!(stall.fill.as_deref(), Some("`add r3, r2, #9` (line 2)"), "{stall:?}");
    let why = "`add r3, r2, #9` (line 2) stays above `bne ";
    assert!(stall.prevents.as_ref().is_some_and(|said| said.starts_with(why)), "{stall:?}");
}

/// What would have to go before a place that another way leads to is named with that place.
#[test]
fn what_goes_before_another_way_in_is_named() {
    let code = ".loc 1 2\n cbz r3, 1f\n movs r2, #0\n str r2, [r3]\n .loc 1 3\n1: ldr r1, [sp, #4]\n ldrb r1, [r1]\n .loc 1 4\n str r1, [r0]\n bx lr";
    let audit = audited(Isa::T32, "cortex-m33", code, "");
    let waits = |found: &&Finding| found.kind == Kind::Stall && found.idx == 4;
    let why = audit.findings.iter().find(waits).and_then(|found| found.prevents.clone());
    let why = why.expect("it waits for its address");
    assert!(!why.contains("side exit"), "{why}");
}

/// A jump fills a wait behind it where the compiler copies what it leads to.
#[test]
fn a_jump_that_would_fill_a_wait_is_named() {
    let code = ".loc 1 2\n stp x29, x30, [sp, #-16]!\n bl g\n .loc 1 3\n cbz w0, 1f\n bl h\n .loc 1 4\n b 2f\n1: mov w0, #7\n str w0, [x1]\n .loc 1 5\n2: ldp x29, x30, [sp], #16\n ret";
    let audit = audited(Isa::A64, "cortex-a53", code, "");
    let waits = |found: &&Finding| found.kind == Kind::Stall && found.instruction.contains("ret");
    let stall = audit.findings.iter().find(waits).expect("it waits for its address");
    let why = stall.prevents.clone().unwrap_or_default();
    assert!(why.starts_with("`b 0x") && why.contains("(line 4) leads here: "), "{stall:?}");
}

#[test]
fn a_frame_pointer_that_the_flags_ask_for_is_counted() {
    let code = ".loc 1 2\n stp x29, x30, [sp, #-16]!\n mov x29, sp\n bl g\n .loc 1 3\n ldp x29, x30, [sp], #16\n ret";
    let audit = audited(Isa::A64, "cortex-a53", code, "");
    assert_eq!(audit.moot.get(&Moot::FramePointer), Some(&1));
    assert!(audit.findings.iter().all(|it| it.kind != Kind::DeadValue), "{:?}", audit.findings);
}

#[test]
fn a_load_that_may_rise_above_a_test_is_tried_earlier() {
    // The first load's wait would be filled by the one after the test.
    let code = ".loc 1 2\n ldr r3, [r0]\n cmp r3, #0\n beq 1f\n .loc 1 4\n ldr r2, [r1]\n add r2, r2, #1\n str r2, [r1]\n bx lr\n1: mov r0, #0\n bx lr";
    let audit = audited(Isa::A32, "arm1136jf-s", code, "");
    let stall = audit.findings.iter().find(|it| it.kind == Kind::Stall && it.idx == 1);
    let stall = stall.expect("it waits");
    assert_eq!(stall.ways, [Way::Earlier]);
    assert!(stall.prevents.as_ref().is_some_and(|why| why.contains("vouches")), "{stall:?}");
}

#[test]
fn no_cause_asks_whether_the_address_of_an_object_is_good() {
    let code = |base: &str| {
        format!(
            ".loc 1 2\n {base}\n ldrb w0, [x1]\n cbz w0, 1f\n .loc 1 3\n ldrb w2, [x1, #1]\n cmp w2, #3\n b.eq 1f\n mov w0, #2\n strb w0, [x3]\n\
             1: ret\n.data\nmode: .byte 0, 0\n.text"
        )
    };
    let causes = |base: &str| {
        let audit =
            audited(Isa::A64, "cortex-a53", &code(base), "f\n if (mode)\n if (state == 3)\n");
        let all = audit
            .findings
            .iter()
            .filter(|finding| finding.kind == Kind::Stall)
            .filter_map(|finding| finding.prevents.clone());
        all.collect::<Vec<String>>().join("\n")
    };
    // A named object, and one that a pointer leads to.
    let object = causes("adrp x1, mode\n add x1, x1, :lo12:mode");
    assert!(!object.contains("address is good") && !object.contains("vouches"), "{object}");
    let index = causes("add x1, x4, x5");
    assert!(!index.contains("unless the object is `volatile`"), "{index}");
}

#[test]
fn a_load_stays_behind_the_test_that_ends_its_loop() {
    let code = ".loc 1 2\n1: ldr r3, [r0], #4\n cmp r3, #0\n beq 2f\n .loc 1 3\n ldr r2, [r1]\n add r1, r1, #4\n add r2, r2, r3\n str r2, [r4], #4\n b 1b\n2: bx lr";
    let audit = audited(Isa::A32, "arm1136jf-s", code, "f\n while (p->n)\n q->m += p->n;\n}\n");
    let said: Vec<String> =
        audit.findings.iter().filter_map(|finding| finding.prevents.clone()).collect();
    assert!(said.iter().any(|set| set.contains("which ends the loop")), "{said:?}");
    assert!(audit.findings.iter().all(|finding| finding.ways.is_empty()), "{:?}", audit.findings);
}

#[test]
fn what_aligns_code_is_nothing_to_compute_earlier() {
    let code = ".loc 1 2\n ldr w2, [x2]\n cmp w2, #2\n b.lt 1f\n nop\n nop\n mov w8, #0\n .loc 1 3\n add w0, w2, w8\n ret\n1: mov w0, #0\n ret";
    let audit = audited(Isa::A64, "cortex-a55", code, "f\n if (n < 2)\n x = n;\n");
    let all = audit
        .findings
        .iter()
        .flat_map(|finding| [finding.prevents.clone(), finding.fill.clone()])
        .flatten();
    let said: Vec<String> = all.collect();
    assert!(!said.is_empty() && said.iter().all(|set| !set.contains("`nop`")), "{said:?}");
}

#[test]
fn a_slot_by_another_frame_pointer_is_no_load_of_the_source() {
    let code = |base: &str| {
        format!(
            ".loc 1 2\n push {{r7, lr}}\n sub sp, sp, #16\n {base}\n bl g\n ldr r1, [r7, #4]\n add r2, r1, r0\n ldr r3, [r7, #4]\n add r0, r3, r2\n\
             add sp, sp, #16\n pop {{r7, pc}}"
        )
    };
    let twice = |base: &str| {
        let audit = audited(Isa::T32, "cortex-m4", &code(base), "f\n x = a + b;\n");
        audit.findings.iter().filter(|finding| finding.kind == Kind::ComputedTwice).count()
    };
    assert_eq!((twice("add r7, sp, #0"), twice("mov r7, r2")), (0, 1));
}

/// A compiler makes several loops of one; nobody can call one of them unlikely.
#[test]
fn a_second_form_of_a_line_is_not_called_unlikely() {
    let code = |line: u32| {
        format!(
            ".loc 1 2\n cbnz w1, 1f\n .loc 1 {line}\n mov w0, #1\n str w0, [x2]\n bl slow\n .loc 1 2\n1: add w0, w0, #1\n .loc 1 3\n ret"
        )
    };
    let ways = |line: u32| ways(Isa::A64, "cortex-a53", &code(line), Kind::TakenBranch);
    assert!(ways(4).contains(&Way::Likely), "the other way is a line of its own");
    assert!(ways(2).is_empty());
}

/// The checks of Rust get no attributes of C, and their names as Rust has them.
#[test]
fn rust_gets_no_edits_of_c() {
    let panics = "_ZN4core9panicking18panic_bounds_check17h0123456789abcdefE";
    let code = format!(
        ".loc 1 2\n push {{r4, lr}}\n cmp r0, r1\n bhs 1f\n ldr r0, [r2, r0, lsl #2]\n pop {{r4, pc}}\n1: bl {panics}\n udf #0"
    );
    let audit = audited_as("f.rs", Isa::A32, "arm1136jf-s", &code, "f\n a[i]\n");
    let spill = only(&audit, Kind::Spill);
    assert!(
        spill.why.contains("`core::panicking::panic_bounds_check`") && !spill.why.contains("_ZN"),
        "{}",
        spill.why
    );
    assert!(audit.findings.iter().all(|finding| finding.ways.is_empty()), "{:?}", audit.findings);
}
