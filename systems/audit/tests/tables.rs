//! Jumps by tables, as compilers make them of `switch`, lead where the source says and where the
//! program goes when it runs: in object files and in linked ones, with symbols and without.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use audit::audit::{Options, audit};
use audit::code_file::CodeFile;
use audit::cpus;
use audit::decode::code::Flow;
use audit::facts::loops::loops;
use audit::facts::trace::{End, Guide, hot_trace};
use audit::finding::Kind;
use audit::program::Program;
use audit::program::boot::BootWords;
use audit::program::content::Content;
use audit::program::function::Function;
use audit::timing::licence::Effort;

/// Each case has a line of its own, but for two that share one.
const SOURCE: &str = "
int g(int), h(int);
int choose(int x, int n)
{
    switch (x) {
    case 1: n = g(n); break;
    case 2: n = h(n + 3); break;
    case 3:
    case 9: n = g(n * 5) + 1; break;
    case 4: n = h(n) ^ 5; break;
    case 5: n = g(n + 1) + h(n); break;
    case 7: n = g(n) * 11; break;
    case 8: n = h(n - 3) * 3; break;
    default: n = g(g(n)); break;
    }
    return n * 2;
}
int around(const unsigned char *p, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        switch (p[i]) {
        case 0: sum += g(i); break;
        case 1: sum ^= h(9); break;
        case 2: sum *= g(sum); break;
        case 3: sum = g(sum); break;
        case 4: sum -= h(i); break;
        case 5: sum = sum << 2 | i; break;
        case 6: sum = h(sum) - g(3); break;
        case 7: sum += h(5) ^ i; break;
        }
    return sum;
}
int masked(unsigned x, int n)
{
    switch (x & 7) {
    case 0: n = g(n) + 3; break;
    case 1: n = h(n) * 7; break;
    case 2: n = g(n * 9); break;
    case 3: n = h(n) - 5; break;
    case 4: n = g(n + 8); break;
    case 5: n = h(n) ^ 77; break;
    case 6: n = g(n) << 3; break;
    case 7: n = h(n * 7); break;
    }
    return n + 1;
}
int many(int x, int n)
{
    switch (x) {
    case 30: n = g(n); break;
    case 31: n = h(n + 3); break;
    case 32: n = g(n * 5) + 1; break;
    case 33: n = h(n) ^ 5; break;
    case 34: n = g(n + 1) + h(n); break;
    case 35: n = g(n) * 11; break;
    case 36: n = h(n - 3) * 3; break;
    case 37: n = g(g(n)); break;
    case 38: n = h(h(n)) - 9; break;
    case 39: n = g(n) + 3; break;
    case 40: n = h(n) * 7; break;
    case 41: n = g(n * 9); break;
    case 42: n = h(n) - 5; break;
    case 43: n = g(n + 8); break;
    case 44: n = h(n) ^ 77; break;
    case 45: n = g(n) << 3; break;
    case 46: n = h(n * 7); break;
    }
    return n + 1;
}
";

/// Its functions, with the lines of their cases; of these one that is compared alone may be in no
/// table, and a `default` in it.
const FUNCTIONS: [(&str, std::ops::RangeInclusive<u32>); 4] =
    [("choose", 6..=14), ("around", 23..=30), ("masked", 37..=44), ("many", 51..=67)];

/// Compilers with their flags, and whether they make a table of each.
const COMPILERS: [(&[&str], bool); 24] = [
    (&["aarch64-linux-gnu-gcc"], false),
    (&["aarch64-linux-gnu-gcc", "-fPIC"], false),
    (&["clang-19", "--target=aarch64-none-elf"], false),
    (&["clang-19", "--target=aarch64-none-elf", "-mcmodel=tiny"], false),
    (&["clang-19", "--target=aarch64-none-elf", "-fPIC"], false),
    (&["arm-linux-gnueabi-gcc", "-marm"], true),
    (&["arm-linux-gnueabi-gcc", "-marm", "-fPIC"], true),
    (&["clang-19", "--target=armv7a-none-eabi", "-marm"], true),
    (&["clang-19", "--target=armv5te-none-eabi", "-marm"], true),
    (&["arm-linux-gnueabihf-gcc", "-mthumb"], true),
    (&["clang-19", "--target=thumbv7em-none-eabi"], true),
    (&["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"], true),
    (&["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"], true),
    (&["clang-19", "--target=thumbv6m-none-eabi"], true),
    (&["riscv64-linux-gnu-gcc"], true),
    (&["riscv64-unknown-elf-gcc", "-mcmodel=medany"], true),
    (&["riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"], true),
    (&["clang-19", "--target=riscv32-none-elf", "-march=rv32imac"], true),
    (&["clang-19", "--target=riscv64-none-elf", "-march=rv64gc", "-mcmodel=medany"], true),
    (&["clang-19", "--target=riscv64-none-elf", "-march=rv64gc", "-fPIC"], true),
    (&["gcc"], true),
    (&["gcc", "-fPIC"], true),
    (&["clang-19", "--target=x86_64-linux-gnu"], true),
    (&["clang-19", "--target=x86_64-linux-gnu", "-fPIC"], true),
];

/// `all`, which the compiler makes of the source, linked or not.
fn compiled(folder: &Path, command: &[&str], flags: &[&str], source: &str) {
    std::fs::write(folder.join("f.c"), source).expect("a scratch file");
    let mut usual = vec!["-g", "-ffreestanding", "f.c", "-o", "all"];
    // libgcc has the helpers of ARMv6-M.
    if command[0] == "arm-none-eabi-gcc" && flags.contains(&"-nostdlib") {
        usual.push("-lgcc");
    }
    // The places of two cases stay two, each with its own line.
    if command[0].starts_with("clang") {
        usual.extend(["-mllvm", "-enable-tail-merge=false"]);
    }
    let ran = Command::new(command[0])
        .current_dir(folder)
        // What the command says of it comes behind, and counts.
        .arg("-fno-pie")
        .args(&command[1..])
        .args(flags)
        .args(usual)
        .output()
        .expect("it runs");
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// What links it, with addresses for what it calls.
const LINKED: [&str; 5] =
    ["-nostdlib", "-static", "-Wl,-e,choose", "-Wl,--defsym,g=choose", "-Wl,--defsym,h=choose"];

fn program(folder: &Path) -> Program {
    let bytes = std::fs::read(folder.join("all")).expect("what was made");
    Program::parse("all", &bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn function(program: &Program, name: &str) -> Function {
    let symbol = program.symbol(name).unwrap_or_else(|error| panic!("{error}"));
    program.decode(symbol).unwrap_or_else(|error| panic!("{error}")).function
}

fn jumps(function: &Function) -> Vec<usize> {
    let all = function.instructions.iter().enumerate();
    all.filter(|(_, instruction)| instruction.flow == Flow::Jump).map(|(idx, _)| idx).collect()
}

/// The lines of the places where a jump leads; of a branch there, where that leads. A constant that
/// is made there has no line.
fn lines(function: &Function, jump: usize) -> Option<BTreeSet<u32>> {
    let line = |case: usize| {
        let is_branch =
            matches!(function.instructions[case].flow, Flow::Branch { is_conditional: false, .. });
        let to = function.target(case).filter(|_| is_branch).unwrap_or(case);
        function.frames[to..].iter().take(3).flatten().map(|frame| frame.line).next()
    };
    Some(function.cases_of(jump)?.into_iter().filter_map(line).collect())
}

/// Every table of the program leads where the source says, and paths and loops go through it.
fn check(program: &Program, has_all: bool, said: &str) {
    for (name, expected) in FUNCTIONS {
        let function = function(program, name);
        let jumps = jumps(&function);
        assert!(jumps.len() == 1 || !has_all && name != "many", "{said} {name}: no table");
        for jump in &jumps {
            let lines =
                lines(&function, *jump).unwrap_or_else(|| panic!("{said} {name}: not read"));
            let cases = expected.clone().filter(|line| *line != 8);
            let missing: Vec<u32> = cases.filter(|line| !lines.contains(line)).collect();
            let other: Vec<&u32> = lines.iter().filter(|line| !expected.contains(line)).collect();
            assert!(missing.len() <= 1 && other.len() <= 1, "{said} {name}: {lines:?}");
            let guide = Guide::of(&function);
            assert_eq!(hot_trace(&guide).end, End::Return, "{said} {name}");
            let rounds = loops(&function, &guide);
            let n_rounds = rounds.iter().filter(|round| round.case.is_some()).count();
            assert!(name != "around" || n_rounds >= 8, "{said}: {n_rounds} rounds");
        }
    }
}

#[test]
fn tables_of_object_files_lead_where_the_source_says() {
    for (command, has_all) in COMPILERS {
        for level in ["-Os", "-O2"] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            compiled(folder.path(), command, &["-c", level], SOURCE);
            check(&program(folder.path()), has_all, &format!("{command:?} {level}"));
        }
    }
}

#[test]
fn so_do_tables_of_linked_programs() {
    for (command, has_all) in COMPILERS {
        let own: &[&str] =
            if command[0] == "clang-19" { &["-fuse-ld=lld-19", "-O2"] } else { &["-O2"] };
        let folder = tempfile::tempdir().expect("a scratch folder");
        let flags = [&LINKED[..], own].concat();
        compiled(folder.path(), command, &flags, SOURCE);
        check(&program(folder.path()), has_all, &format!("{command:?} linked"));
    }
}

/// Without symbols the rows of a table lead on, and what is behind a function is no part of it.
#[test]
fn functions_without_symbols_have_their_cases() {
    let cpus = ["cortex-a53", "cortex-a53", "cortex-a7", "cortex-m4", "sifive-u74", "sifive-u74"];
    for (nth, cpu) in [0, 2, 7, 9, 14, 18].into_iter().zip(cpus) {
        let (command, _) = COMPILERS[nth];
        let own: &[&str] =
            if command[0] == "clang-19" { &["-fuse-ld=lld-19", "-O2"] } else { &["-O2"] };
        let folder = tempfile::tempdir().expect("a scratch folder");
        compiled(folder.path(), command, &[&LINKED[..], own].concat(), SOURCE);
        let named = program(folder.path());
        let symbol = named.symbol("many").expect("it is one");
        let many = function(&named, "many");
        let mut strip = Command::new("llvm-objcopy-19");
        strip.args(["--strip-all", "-R.eh_frame", "-R.ARM.exidx", "all", "bare"]);
        assert!(strip.current_dir(folder.path()).status().expect("it runs").success());
        let bytes = std::fs::read(folder.path().join("bare")).expect("what was stripped");
        let content = Content::from(bytes).with(None, Some(symbol.address));
        let wanted = cpus::named(cpu).unwrap_or_else(|error| panic!("{error}"));
        let file = CodeFile::read("bare", &content, Some(wanted), &BootWords::default());
        let bare = &file.unwrap_or_else(|error| panic!("{command:?}: {error}")).programs[0];
        let found = bare.symbols.iter().find(|found| found.address == symbol.address);
        let found = bare.decode(found.expect("it was asked for")).expect("it has code").function;
        assert_eq!(found.cases, many.cases, "{command:?}");
        assert_eq!(found.instructions.len(), many.instructions.len(), "{command:?}");
    }
}

/// Each function is called with every number up to 50; then a trap ends it.
const STARTS: &str = "
volatile int out;
void start(void)
{
    static const unsigned char all[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    for (int x = 0; x < 50; x++)
        out = choose(x, out) ^ around(all, 10 + (out & 0)) ^ masked(x, out) ^ many(x, out);
    __builtin_trap();
}
int g(int x) { return x + 1; }
int h(int x) { return x * 3; }
";

/// Where a program really goes from its tables, one instruction a line, is where they lead as read.
#[test]
fn programs_go_where_their_tables_lead() {
    for (nth, qemu) in [
        (0, "qemu-aarch64"),
        (2, "qemu-aarch64"),
        (5, "qemu-arm"),
        (7, "qemu-arm"),
        (9, "qemu-arm"),
        (14, "qemu-riscv64"),
        (16, "qemu-riscv32"),
        (18, "qemu-riscv64"),
        (20, "qemu-x86_64"),
        (21, "qemu-x86_64"),
        (22, "qemu-x86_64"),
        (23, "qemu-x86_64"),
    ] {
        let (command, _) = COMPILERS[nth];
        let own: &[&str] =
            if command[0] == "clang-19" { &["-fuse-ld=lld-19", "-O2"] } else { &["-O2"] };
        let folder = tempfile::tempdir().expect("a scratch folder");
        let flags = [own, &["-nostdlib", "-static", "-fno-inline", "-Wl,-e,start"]].concat();
        compiled(folder.path(), command, &flags, &format!("{SOURCE}{STARTS}"));
        let mut run = Command::new(qemu);
        run.args(["-singlestep", "-d", "exec,nochain", "-D", "log", "./all"]);
        run.current_dir(folder.path()).output().expect("it runs");
        let log = std::fs::read_to_string(folder.path().join("log")).expect("it is written");
        // Trace 0: 0x7f6c08000100 [0000000000000000/0000000000400120/00000000/ff000201]
        let address = |line: &str| u64::from_str_radix(line.split('/').nth(1)?, 16).ok();
        let went: Vec<u64> = log.lines().filter_map(address).collect();
        let program = program(folder.path());
        for (name, _) in FUNCTIONS {
            let function = function(&program, name);
            for (jump, cases) in &function.cases {
                let from = went.windows(2).filter(|pair| pair[0] == *jump).map(|pair| pair[1]);
                let mut from: BTreeSet<u64> = from.collect();
                // `addls pc, ..` goes on behind it, too.
                let place = function.at(*jump).expect("it is in the function");
                if function.instructions[place].is_guarded() {
                    from.remove(&(jump + 4));
                }
                let cases: BTreeSet<u64> = cases.iter().copied().collect();
                assert_eq!(from, cases, "{command:?} {name}");
            }
            assert!(!function.cases.is_empty() || nth < 5, "{command:?} {name}");
        }
    }
}

/// The object file that a compiler makes of assembly.
fn assembled(folder: &Path, target: &str, text: &str) -> Function {
    std::fs::write(folder.join("f.s"), text).expect("a scratch file");
    let mut make = Command::new("clang-19");
    make.args([&format!("--target={target}"), "-c", "f.s", "-o", "all"]);
    assert!(make.current_dir(folder).status().expect("it runs").success(), "{text}");
    function(&program(folder), "f")
}

/// A jump by a table of four rows, the third of which leads to `row`; all of the index are compared
/// with the last, or not.
fn by_table(target: &str, row: &str, compare: bool) -> String {
    let (test, jump, align) = match &target[..5] {
        "aarch" => (
            "cmp w0, #3\nb.hi 9f",
            format!(
                "adrp x1, t\nadd x1, x1, :lo12:t\nldrb w1, [x1, w0, uxtw]\nadr x2, c0\n\
                 add x2, x2, w1, sxtb #2\nbr x2\n.section .rodata\n\
                 t: .byte 0, (c1 - c0) / 4, ({row} - c0) / 4, (c1 - c0) / 4\n.text"
            ),
            2,
        ),
        "riscv" => (
            "li a4, 3\nbgtu a0, a4, 9f",
            format!(
                "lla a5, t\nslli a0, a0, 2\nadd a0, a0, a5\nlw a0, 0(a0)\nadd a0, a0, a5\njr a0\n\
                 .section .rodata\n.p2align 2\nt: .word c0 - t, c1 - t, {row} - t, c1 - t\n.text"
            ),
            1,
        ),
        "armv7" => (
            "cmp r0, #3\nbhi 9f",
            format!("adr r1, t\nldr pc, [r1, r0, lsl #2]\nt: .word c0, c1, {row}, c1"),
            2,
        ),
        _ => (
            "cmp r0, #3\nbhi 9f",
            format!(
                "tbb [pc, r0]\nt: .byte (c0 - t) / 2, (c1 - t) / 2, ({row} - t) / 2, (c1 - t) / 2"
            ),
            1,
        ),
    };
    let [set, nop, back] = match &target[..5] {
        "aarch" => ["", "nop", "ret"],
        "riscv" => [".option norelax", "nop", "ret"],
        "armv7" => [".syntax unified\n.arm", "nop", "bx lr"],
        _ => [".syntax unified\n.thumb", "nop", "bx lr"],
    };
    let test = if compare { test } else { "" };
    format!(
        "{set}\n.text\n.globl f\n.type f, %function\nf: {test}\n{jump}\n.p2align {align}\n\
         c0: {nop}\n{back}\nc1: {nop}\n9: {back}\n.size f, . - f\n\
         .type other, %function\nother: {nop}\n{back}\n.size other, . - other\n"
    )
}

const TARGETS: [&str; 5] = [
    "aarch64-none-elf",
    "riscv64-none-elf",
    "riscv32-none-elf",
    "armv7a-none-eabi",
    "thumbv7em-none-eabi",
];

#[test]
fn a_table_with_a_row_out_of_the_function_is_not_believed() {
    for target in TARGETS {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let cases = |row: &str| {
            let function = assembled(folder.path(), target, &by_table(target, row, true));
            function.cases.values().next().map(Vec::len)
        };
        assert_eq!(cases("c1"), Some(2), "{target}");
        assert_eq!(cases("other"), None, "{target}");
        // Into the middle of an instruction, where a row can say so.
        if target.starts_with("riscv") {
            assert_eq!(cases("c0 + 1 - t + t"), Some(2), "{target}: the lowest bit is cut");
        }
        if target.starts_with("armv7") {
            assert_eq!(cases("c0 + 2"), None, "{target}");
        }
    }
}

/// A mask that is only done on a condition bounds nothing.
#[test]
fn a_mask_that_may_not_be_done_is_none() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let n_cases = |mask: &str| {
        // One that lies behind its jump ends where a row leads, whatever bounds the index.
        let elsewhere = "movw r1, #:lower16:t\nmovt r1, #:upper16:t\nldr pc, [r1, r0, lsl #2]\n\
                         .section .rodata\n.p2align 2\nt: .word c0, c1, c1, c1\n.text";
        let behind = "adr r1, t\nldr pc, [r1, r0, lsl #2]\nt: .word c0, c1, c1, c1";
        let text = by_table("armv7a-none-eabi", "c1", false);
        assert!(text.contains(behind), "{text}");
        let text = text.replace(behind, elsewhere).replace("f: ", &format!("f: {mask}\n"));
        let function = assembled(folder.path(), "armv7a-none-eabi", &text);
        function.cases.values().next().map(Vec::len)
    };
    for mask in ["and{} r0, r0, #3", "ubfx{} r0, r0, #0, #2"] {
        assert_eq!(n_cases(&mask.replace("{}", "")), Some(2), "{mask}");
        let guarded = format!("cmp r1, #0\n{}", mask.replace("{}", "ne"));
        assert_eq!(n_cases(&guarded), None, "{guarded}");
    }
}

/// Where nothing bounds the index, a table that lies elsewhere may have any number of rows.
#[test]
fn a_table_elsewhere_is_not_read_without_a_comparison() {
    for target in &TARGETS[..3] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let function = assembled(folder.path(), target, &by_table(target, "c1", false));
        assert!(function.cases.is_empty(), "{target}");
    }
}

/// A loop begins where the function does: in the first round the table's address is the caller's.
#[test]
fn what_the_last_round_leaves_is_not_there_in_the_first() {
    let body = "cmp w0, #1\nb.hi 9f\nldrb w2, [x1, w0, uxtw]\nadr x3, c0\n\
        add x3, x3, w2, sxtb #2\nbr x3\nc0: nop\nc1: adrp x1, t\nadd x1, x1, :lo12:t\n\
        sub w0, w0, #1\nb head\n9: ret\n.section .rodata\nt: .byte 0, (c1 - c0) / 4\n";
    let folder = tempfile::tempdir().expect("a scratch folder");
    let text =
        |begin: &str| format!(".text\n.type f, %function\n{begin}{body}.text\n.size f, . - f\n");
    let cases = |begin: &str| {
        let function = assembled(folder.path(), "aarch64-none-elf", &text(begin));
        function.cases.values().next().map(Vec::len)
    };
    assert_eq!(cases("f: head: "), None);
    // Made before the loop, and again in it.
    let made = "adrp x1, t\nadd x1, x1, :lo12:t\n";
    assert_eq!(cases(&format!("f: {made}head: ")), Some(2));
}

/// A case that the one before it falls into is entered by the jump, too: what the one before has
/// computed and loaded is not there.
#[test]
fn what_one_case_has_is_not_there_in_the_next() {
    let said = |target: &str, cpu: &str, first: &str, second: &str| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let text = by_table(target, "c1", true);
        let text = ["ret", "bx lr"].iter().fold(text, |text, back| {
            text.replacen(&format!("c0: nop\n{back}\n"), &format!("c0: {first}\n"), 1)
        });
        let text = text.replacen("c1: nop", &format!("c1: {second}"), 1);
        let function = assembled(folder.path(), target, &text);
        assert_eq!(function.cases.values().next().map(Vec::len), Some(2), "{text}");
        let program = program(folder.path());
        let options = Options {
            avoid: Vec::new(),
            through: Vec::new(),
            effort: Effort::Bounds,
            recorded: None,
        };
        let symbol = program.symbol("f").expect("it is one");
        let audit = audit(&program, symbol, cpu, None, &options).expect("it is read");
        audit.findings.into_iter().map(|finding| finding.kind).collect::<Vec<Kind>>()
    };
    let [a64, m4] = [("aarch64-none-elf", "cortex-a53"), ("thumbv7em-none-eabi", "cortex-m4")];
    for ((target, cpu), first, second) in [
        (a64, "add x5, x6, x7", "add x4, x6, x7\nstp x4, x5, [x8]"),
        (m4, "add.w r3, r1, r2", "add.w r0, r1, r2\nstrd r0, r3, [r12]"),
        (a64, "ldr x5, [x8]", "ldr x6, [x8]\nstp x5, x6, [x9]"),
        (m4, "ldr r3, [r1]", "ldr r2, [r1]\nstrd r2, r3, [r12]"),
    ] {
        let kinds = said(target, cpu, first, second);
        let is_false = |kind: &Kind| matches!(kind, Kind::ComputedTwice | Kind::FewerInstructions);
        assert!(!kinds.iter().any(is_false), "{target}: {first}: {kinds:?}");
    }
}

/// The second jump is reached from a case, of which only the table tells, and from the case before
/// it: the lower of two comparisons stands on one of the ways alone.
#[test]
fn a_comparison_before_a_case_bounds_nothing_behind_it() {
    let text = ".text\n.type f, %function\nf: cmp w0, #1\nb.hi 9f\nadrp x1, t\n\
        add x1, x1, :lo12:t\nldrb w2, [x1, w0, uxtw]\nadr x3, c0\nadd x3, x3, w2, sxtb #2\n\
        br x3\nc0: cmp w4, #1\nb.hi 9f\nc1: cmp w4, #3\nb.hi 9f\nadrp x1, u\n\
        add x1, x1, :lo12:u\nldrb w2, [x1, w4, uxtw]\nadr x3, d0\nadd x3, x3, w2, sxtb #2\n\
        br x3\nd0: nop\nret\nd1: nop\nret\nd2: nop\nret\nd3: nop\n9: ret\n\
        .size f, . - f\n.section .rodata\nt: .byte 0, (c1 - c0) / 4\n\
        u: .byte 0, (d1 - d0) / 4, (d2 - d0) / 4, (d3 - d0) / 4\n";
    let folder = tempfile::tempdir().expect("a scratch folder");
    let function = assembled(folder.path(), "aarch64-none-elf", text);
    assert_eq!(function.cases.values().map(Vec::len).collect::<Vec<_>>(), [2, 4]);
}
