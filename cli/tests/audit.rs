//! `meanwhile audit` on the command line: its forms, its keys, and what it says about bad input.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::audited;
use audited::{audit, ok, refused, text};

const SOURCE: &str = "\
struct tcb { unsigned state, cap; };
extern int slow(void);
static inline unsigned tag(struct tcb *it)
{
    return it->state & 3;
}
int fast(struct tcb *ep, struct tcb *caller)
{
    if (__builtin_expect(tag(ep) == 1, 0))
        return slow();
    if (__builtin_expect(caller->cap == 0, 0))
        return slow();
    return ep->cap;
}
int other(int x) { return x + 1; }
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("fast.c"), SOURCE).expect("a scratch file");
    folder
}

const FAST: [&str; 5] = ["fast.c", "--function", "fast", "--cpu", "arm1136jf-s"];

#[test]
fn source_and_assembly_side_by_side() {
    let folder = folder();
    let shown = ok(folder.path(), &FAST);
    assert!(shown.contains("cycles [model arm1136jf-s]"), "{shown}");
    assert!(
        shown.lines().any(
            |line| line.contains("tag: return it->state & 3;") && line.contains("ldr r3, [r0]")
        ),
        "{shown}"
    );
    assert!(shown.contains("waits for r3 from `ldr r3, [r0]` (line 5)"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
}

#[test]
fn a_pivot_shows_the_lines_of_one_function() {
    let folder = folder();
    let shown = ok(folder.path(), &[&FAST[..], &["--pivot", "fast"]].concat());
    assert!(
        !shown.contains("tag: return")
            && shown.contains("    9 if (__builtin_expect(tag(ep) == 1, 0))"),
        "{shown}"
    );
    let said = refused(folder.path(), &[&FAST[..], &["--pivot", "tags"]].concat(), 1);
    assert!(
        said.contains("no instruction of `fast` comes from `tags`")
            && said.contains("did you mean `tag`?"),
        "{said}"
    );
}

#[test]
fn json_has_the_keys_that_were_promised() {
    let folder = folder();
    for args in [&["--json"][..], &["--format", "json"]] {
        let answer: Value = serde_json::from_str(&ok(folder.path(), &[&FAST[..], args].concat()))
            .expect("the answer is JSON");
        for key in [
            "function",
            "cpu",
            "instructions",
            "issue_cycles",
            "stall_cycles",
            "total_cycles",
            "lower_bound",
            "findings",
        ] {
            assert!(!answer[key].is_null(), "{key}: {answer}");
        }
        for key in ["total", "issue", "in_block", "side_exit", "inherent"] {
            assert!(answer["lower_bound"][key].is_u64(), "{key}: {answer}");
        }
        let finding = &answer["findings"][0];
        let keys: Vec<&str> = finding
            .as_object()
            .expect("a finding is an object")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            keys,
            [
                "address",
                "kind",
                "instruction",
                "for",
                "cycles",
                "fill",
                "file",
                "line",
                "inline_stack",
                "disputed",
                "prevents",
                "ways",
                "tried",
                "edit"
            ]
        );
        assert_eq!(finding["inline_stack"][0]["function"], "tag");
        assert_eq!(
            (answer["kind"].as_str(), finding["file"].as_str()),
            (Some("model"), Some("fast.c"))
        );
    }
}

#[test]
fn other_compilers_flags_and_branch_costs() {
    let folder = folder();
    let cycles = |args: &[&str]| {
        let answer: Value =
            serde_json::from_str(&ok(folder.path(), &[&FAST[..], &["--json"], args].concat()))
                .expect("the answer is JSON");
        answer["total_cycles"].as_u64().expect("the core is in order")
    };
    let usual = cycles(&[]);
    assert_eq!(cycles(&["--branch-cost", "1"]), usual);
    assert!(cycles(&["--branch-cost", "0"]) < usual);
    assert_eq!(cycles(&["--flash-wait", "0"]), usual);
    assert!(cycles(&["--flash-wait", "3"]) > usual);
    assert!(cycles(&["--cflags", "-O0"]) > usual);
    assert!(cycles(&["--cc", "clang-19", "--cflags=-O2 -ffreestanding"]) > 0);
}

#[test]
fn plain_assembly_and_every_core() {
    let folder = folder();
    for (cpu, loop_text) in [
        ("arm1136jf-s", "loop: ldr r1, [r0]\n add r2, r2, r1\n bx lr\n"),
        ("leon3", "loop: ld [%o0], %o1\n add %o1, %o2, %o2\n retl\n nop\n"),
        ("erc32", "loop: ld [%o0], %o1\n add %o1, %o2, %o2\n retl\n nop\n"),
        ("cortex-a53", "loop: ldr w1, [x0]\n add w2, w2, w1\n ret\n"),
        ("cortex-a55", "loop: ldr w1, [x0]\n add w2, w2, w1\n ret\n"),
        ("rocket", "loop: lw a1, 0(a0)\n add a2, a2, a1\n ret\n"),
        ("sifive-u74", "loop: lw a1, 0(a0)\n add a2, a2, a1\n ret\n"),
        ("x86-64", "loop: mov (%rdi), %eax\n add %eax, %edx\n ret\n"),
    ] {
        fs::write(folder.path().join("loop.s"), format!(".text\n.global loop\n{loop_text}"))
            .expect("a scratch file");
        let shown = ok(folder.path(), &["loop.s", "--cpu", cpu]);
        assert!(shown.starts_with(&format!("loop on {cpu}: ")), "{cpu}: {shown}");
        let says_cycles = shown.contains(&format!("[model {cpu}]"));
        assert_eq!(says_cycles, cpu != "x86-64", "{shown}");
        if cpu == "x86-64" {
            let first = shown.lines().next().unwrap_or_default();
            assert!(first.contains("no cycles: this machine reorders instructions"), "{shown}");
        }
    }
    let said = refused(folder.path(), &["loop.s"], 1);
    assert!(said.contains("for which machine is `loop.s` to be compiled?"), "{said}");
}

#[test]
fn all_functions_and_the_list_of_machines() {
    let folder = folder();
    let shown = ok(folder.path(), &["fast.c", "--cpu", "arm1136jf-s", "--all-functions"]);
    assert!(shown.contains(" fast ") && shown.contains(" other "), "{shown}");
    let one =
        ok(folder.path(), &["fast.c", "--cpu", "arm1136jf-s", "--all-functions", "--limit", "1"]);
    assert!(
        one.contains(" fast ") && !one.contains(" other ") && one.contains("1 more functions"),
        "{one}"
    );
    let said = refused(folder.path(), &["fast.c", "--cpu", "x86-64", "--all-functions"], 1);
    assert!(said.contains("`x86-64` reorders instructions"), "{said}");
    let cpus = ok(folder.path(), &["cpus"]);
    assert!(cpus.contains("arm1136jf-s") && cpus.contains("DDI 0301H"), "{cpus}");
}

#[test]
fn c_for_every_core_of_thumb() {
    let folder = folder();
    for cpu in [
        "cortex-m0plus",
        "cortex-m3",
        "cortex-m4",
        "cortex-m7",
        "cortex-m33",
        "cortex-a7",
        "cortex-a8",
        "cortex-r5",
    ] {
        let said = ok(folder.path(), &["fast.c", "--function", "fast", "--cpu", cpu, "--json"]);
        let answer: Value = serde_json::from_str(&said).expect("the answer is JSON");
        assert!(answer["total_cycles"].as_u64() > Some(5), "{cpu}: {answer}");
    }
    let arm = ok(
        folder.path(),
        &["fast.c", "--function", "fast", "--cpu", "cortex-a7", "--cflags", "-O2 -marm"],
    );
    assert!(arm.contains("cortex-a7") && !arm.contains("cbz"), "{arm}");
    // Out of order: what is needed is said, and no cycles.
    let answer: Value = serde_json::from_str(&ok(
        folder.path(),
        &["fast.c", "--function", "fast", "--cpu", "cortex-a9", "--json"],
    ))
    .expect("the answer is JSON");
    assert!(answer["total_cycles"].is_null(), "{answer}");
}

#[test]
fn what_went_and_what_came() {
    let folder = folder();
    let edited = SOURCE
        .replace(
            "    if (__builtin_expect(tag(ep)",
            "    unsigned cap = *(volatile unsigned *)&caller->cap;\n    if (__builtin_expect(tag(ep)",
        )
        .replace("caller->cap == 0, 0", "cap == 0, 0");
    fs::write(folder.path().join("after.c"), edited).expect("a scratch file");
    let args = ["diff", "fast.c", "after.c", "--function", "fast", "--cpu", "arm1136jf-s"];
    let shown = ok(folder.path(), &args);
    assert!(
        shown.contains("cycles waiting")
            && shown.lines().any(|line| line.starts_with("went: fast.c:11: stall")),
        "{shown}"
    );
    let answer: Value =
        serde_json::from_str(&ok(folder.path(), &[&args[..], &["--json"]].concat()))
            .expect("the answer is JSON");
    assert!(
        answer["after"]["total_cycles"].as_u64() < answer["before"]["total_cycles"].as_u64(),
        "{answer}"
    );
    let same = ok(
        folder.path(),
        &["diff", "fast.c", "fast.c", "--function", "fast", "--cpu", "arm1136jf-s"],
    );
    assert!(same.contains("no finding went or came"), "{same}");
}

#[test]
fn mistakes_are_named() {
    let folder = folder();
    let said = |args: &[&str]| refused(folder.path(), args, 1);
    assert!(
        said(&["fast.c", "--cpu", "arm1136jf-s"])
            .contains("choose one with --function: fast, other; or --all-functions")
    );
    assert!(
        said(&["fast.c", "--cpu", "arm1136jf-s", "--function", "fats"])
            .contains("did you mean `fast`?")
    );
    assert!(said(&["fast.c", "--cpu", "arm1136"]).contains("there is no machine `arm1136`"));
    let said_of_a73 = said(&["fast.c", "--cpu", "cortex-a73"]);
    assert!(
        said_of_a73.contains("of that family there are cortex-a7, ")
            && !said_of_a73.contains("did you mean"),
        "{said_of_a73}"
    );
    assert!(
        ok(folder.path(), &["fast.c", "--cpu", "Cortex-A53", "--function", "fast"])
            .contains("cortex-a53")
    );
    assert!(said(&["nothing.o"]).contains("there is no file `nothing.o`"));
    assert!(said(&["."]).contains("`.` is a folder"));
    assert!(said(&[]).contains("required"));
    assert!(said(&["fast.c", "--branch-cost", "101"]).contains("0..=100"));
    fs::copy(env!("CARGO_BIN_EXE_meanwhile"), folder.path().join("program"))
        .expect("a scratch file");
    assert!(
        said(&["program", "--cpu", "leon3"]).contains("holds x86-64 code, but `leon3` runs sparc")
    );
    fs::write(folder.path().join("text"), "no program").expect("a scratch file");
    assert!(said(&["text"]).contains("`text` is not an ELF file"));
    for (name, bytes) in
        [("ir.ll", &b"define i32 @f() { ret i32 0 }\n"[..]), ("ir.o", b"BC\xc0\xde\x35\x14")]
    {
        fs::write(folder.path().join(name), bytes).expect("a scratch file");
        assert!(said(&[name]).contains(&format!("`{name}` is LLVM IR, not machine code")));
    }
    let records = ":0200000000BF3F\n:02000200704745\n:00000001FF\n";
    fs::write(folder.path().join("f.hex"), records).expect("a scratch file");
    assert!(said(&["f.hex"]).contains("for which machine is the code in `f.hex`?"));
    let at_0 = ok(folder.path(), &["f.hex", "--cpu", "cortex-m4", "--function", "0x2"]);
    assert!(at_0.contains("0x0 on cortex-m4"), "{at_0}");
    let outside = said(&["f.hex", "--cpu", "cortex-m4", "--function", "0x400"]);
    assert!(outside.contains("has no function `0x400`"), "{outside}");
    fs::write(folder.path().join("f.hex"), records.replace("4745", "4746"))
        .expect("a scratch file");
    assert!(said(&["f.hex", "--cpu", "cortex-m4"]).contains("[f.hex:2:1]"));
    assert!(said(&["fast.c@0x8000", "--cpu", "cortex-m4"]).contains("`fast.c` is no machine code"));
    let placed = said(&["program@0x8000", "--cpu", "zen4"]);
    assert!(placed.contains("`program` says itself where its bytes lie"), "{placed}");
    fs::write(folder.path().join("f.bin"), [0x00, 0xbf, 0x70, 0x47]).expect("a scratch file");
    assert!(said(&["f.bin", "--cpu", "cortex-m4"]).contains("say where they lie: FILE@0xADDRESS"));
    let raw = ok(folder.path(), &["f.bin@0x8000", "--cpu", "cortex-m4"]);
    assert!(raw.contains("0x8000 on cortex-m4"), "{raw}");
    fs::write(folder.path().join("cut"), b"\x7fELF\x01\x01\x01").expect("a scratch file");
    assert!(said(&["cut"]).contains("`cut` is a damaged ELF file"));
}

#[test]
fn a_compiler_that_fails_is_quoted() {
    let folder = folder();
    fs::write(folder.path().join("wrong.c"), "int f(void) { return x; }\n")
        .expect("a scratch file");
    let said = refused(folder.path(), &["wrong.c", "--cpu", "arm1136jf-s"], 1);
    assert!(
        said.contains("undeclared")
            && said.contains("wrong.c:1:22")
            && said.contains("int f(void)"),
        "{said}"
    );
    // gcc counts what a terminal shows of tabs, clang counts bytes; the message names the
    // character.
    fs::write(folder.path().join("tabs.c"), "int f(int y)\n{\n\ty++;\treturn missing;\n}\n")
        .expect("a scratch file");
    for compiler in [&[][..], &["--cc", "clang-19"]] {
        let args = [&["tabs.c", "--cpu", "cortex-a53"], compiler].concat();
        let said = refused(folder.path(), &args, 1);
        assert!(said.contains("tabs.c:3:14"), "{compiler:?}: {said}");
    }
    let said =
        refused(folder.path(), &["fast.c", "--cpu", "arm1136jf-s", "--cc", "no-such-compiler"], 2);
    // The doctor installs only tools of ours.
    assert!(
        said.contains("there is no program `no-such-compiler` in the folders of PATH")
            && !said.contains("doctor"),
        "{said}"
    );
    let said = refused(folder.path(), &["fast.c", "--cpu", "arm1136jf-s", "--cc", "./bin/gcc"], 2);
    assert!(said.contains("there is no program `./bin/gcc`"), "{said}");
}

/// What Clang and gcc call differently: the default for these machines is Clang.
#[test]
fn gcc_is_asked_for_the_machine_in_its_own_words() {
    let folder = folder();
    fs::write(folder.path().join("f.c"), "int f(int x) { return 3 * x; }\n")
        .expect("a scratch file");
    for (compiler, cpu) in
        [("riscv64-linux-gnu-gcc", "rocket"), ("riscv64-linux-gnu-gcc", "sifive-u74")]
    {
        if testkit::has("gcc for RISC-V", &[compiler]) {
            let text = ok(folder.path(), &["f.c", "--cpu", cpu, "--cc", compiler]);
            assert!(text.contains(&format!("f on {cpu}")), "{text}");
        }
    }
}

#[test]
fn code_without_lines_says_so() {
    let folder = folder();
    let shown = ok(folder.path(), &[&FAST[..], &["--cflags", "-O2 -g0"]].concat());
    assert!(shown.contains("no source lines: the file has no line information"), "{shown}");
}

/// The ciphers' machine code against the comments of the compiler that made it.
#[test]
fn spills_of_ciphers_are_those_that_clang_says() {
    let folder = folder();
    let name = "rectangle-80";
    let run = |program: &str, args: &[&str]| {
        let ran =
            Command::new(program).args(args).current_dir(folder.path()).output().expect("it runs");
        assert!(
            ran.status.success(),
            "{program} {args:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    };
    run(
        env!("CARGO_BIN_EXE_meanwhile"),
        &["cipher", "compile", name, "--slicing", "b", "-o", "cipher.c"],
    );
    run("clang-19", &["-std=gnu11", "-w", "-O3", "-S", "cipher.c", "-o", "cipher.s"]);
    run("clang-19", &["-std=gnu11", "-w", "-O3", "-c", "cipher.c", "-o", "cipher.o"]);
    let assembly = fs::read_to_string(folder.path().join("cipher.s")).expect("clang wrote it");
    let stores = assembly.lines().filter(|line| line.contains("Spill")).count() as u64;
    let reloads =
        assembly.lines().filter(|line| line.contains("Reload") && !line.contains("Spill")).count()
            as u64;
    let answer: Value =
        serde_json::from_str(&ok(folder.path(), &["cipher.o", "--spills", "--json"]))
            .expect("the answer is JSON");
    let found = |key: &str| answer["total"][key].as_u64().expect("it counts");
    assert!(
        stores > 100 && found("stores").abs_diff(stores) * 20 <= stores,
        "{name}: {answer}, clang says {stores}"
    );
    assert!(
        reloads > 100 && found("reloads").abs_diff(reloads) * 20 <= reloads,
        "{name}: {answer}, clang says {reloads}"
    );
}

/// A loop, and the same with its loads moved a round ahead, which costs a path that passes it once.
fn pipelined() -> (String, String) {
    let body = |n: u32| format!(" mul v{n}.4s, v{n}.4s, v7.4s\n add v{n}.4s, v{n}.4s, v6.4s\n");
    let before = format!(
        ".global k\nk:\n1: ldr q0, [x1], #16\n{} str q0, [x0], #16\n subs x2, x2, #1\n b.ne 1b\n ret\n",
        body(0)
    );
    let ahead = " ldr q0, [x1], #16\n mul v0.4s, v0.4s, v7.4s\n";
    let round = " add v1.4s, v0.4s, v6.4s\n ldr q0, [x1], #16\n subs x2, x2, #1\n str q1, [x0], #16\n mul v0.4s, v0.4s, v7.4s\n b.ne 1b\n";
    let after = format!(
        ".global k\n.global _k\nk:\n_k:\n{ahead}1:{round} add v1.4s, v0.4s, v6.4s\n str q1, [x0], #16\n ret\n"
    );
    (before, after)
}

#[test]
fn loops_decide_what_is_faster() {
    let folder = folder();
    let (before, after) = pipelined();
    fs::write(folder.path().join("before.s"), before).expect("a scratch file");
    fs::write(folder.path().join("after.s"), after).expect("a scratch file");
    let diff = |old, new| {
        let args = ["diff", old, new, "--cpu", "cortex-a55"];
        let json: Value =
            serde_json::from_str(&ok(folder.path(), &[&args[..], &["--json"]].concat()))
                .expect("JSON");
        (json, ok(folder.path(), &args))
    };
    let (json, said) = diff("before.s", "after.s");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{json}"));
    assert!(number(&json["loops"][0]["after"]) < number(&json["loops"][0]["before"]), "{json}");
    assert!(
        number(&json["after"]["total_cycles"]) > number(&json["before"]["total_cycles"]),
        "the path alone says the opposite: {json}"
    );
    assert_eq!(json["faster"], true, "{json}");
    assert!(
        said.contains("it became faster, by the rounds of its loops")
            && said.contains("cycles a round, loop 1"),
        "{said}"
    );
    let (json, said) = diff("after.s", "before.s");
    assert_eq!(json["faster"], false, "{json}");
    assert!(said.contains("it became slower, by the rounds of its loops"), "{said}");
    // Without loops the path decides.
    fs::write(folder.path().join("short.s"), ".global k\nk: ldr x0, [x1]\n add x0, x0, #1\n ret\n")
        .expect("a scratch file");
    fs::write(folder.path().join("shorter.s"), ".global k\nk: ldr x0, [x1]\n ret\n")
        .expect("a scratch file");
    assert_eq!(diff("short.s", "shorter.s").0["faster"], true);
    assert!(
        diff("before.s", "short.s").1.contains("loops are not compared: there were 1, and are 0")
    );
}

/// A core that `audit cpus` lists with two instruction sets takes files of both, and compiles for
/// the one that flags name.
#[test]
fn a_core_runs_all_its_instruction_sets() {
    let folder = folder();
    fs::write(folder.path().join("m.c"), "int f(int a, int b) { return a * b + a / b; }\n")
        .expect("a scratch file");
    for cpu in ["rocket", "sifive-u74"] {
        for (march, set) in [("rv32imac", "rv32"), ("rv64gc", "rv64")] {
            let flags = format!("-O2 -march={march}");
            let said =
                ok(folder.path(), &["m.c", "--function", "f", "--cpu", cpu, "--cflags", &flags]);
            assert!(
                said.contains(&format!("RISC instruction set: holds ({set})")),
                "{cpu}, {march}: {said}"
            );
        }
        // Without flags: with multiplication and division, not calls of library routines.
        let said = ok(folder.path(), &["m.c", "--function", "f", "--cpu", cpu]);
        assert!(
            said.contains("mul") && said.contains("div") && !said.contains("call"),
            "{cpu}: {said}"
        );
    }
    let compiled = Command::new("clang-19")
        .args([
            "--target=riscv32-linux-gnu",
            "-march=rv32imac",
            "-mabi=ilp32",
            "-ffreestanding",
            "-O2",
            "-c",
            "m.c",
            "-o",
            "m32.o",
        ])
        .current_dir(folder.path())
        .status();
    assert!(compiled.expect("clang-19 runs").success());
    assert!(
        ok(folder.path(), &["m32.o", "--function", "f", "--cpu", "rocket"])
            .starts_with("f on rocket: 4 instructions")
    );
    let said = refused(folder.path(), &["m32.o", "--function", "f", "--cpu", "cortex-a53"], 1);
    assert!(
        said.contains("holds rv32 code, but `cortex-a53` runs a64")
            && said.contains("--cpu rocket fits"),
        "{said}"
    );
}

#[test]
fn words_that_are_not_decoded_are_counted_at_the_top() {
    let folder = folder();
    let code = ".text\n.globl f\n.type f, @function\nf:\nli a2, 1\n.insn 4, 0x02f5000b\nret\n.size f, .-f\n";
    fs::write(folder.path().join("x.s"), code).expect("a scratch file");
    let said = ok(folder.path(), &["x.s", "--cpu", "sifive-u74"]);
    assert!(said.starts_with("1 word not decoded: nothing is concluded across it\n"), "{said}");
    assert!(said.contains(".4byte 0x02f5000b") && said.contains("2 instructions"), "{said}");
    assert!(!said.contains("dead"), "{said}");
    let answer: Value =
        serde_json::from_str(&ok(folder.path(), &["x.s", "--cpu", "sifive-u74", "--json"]))
            .expect("JSON");
    assert_eq!(answer["undecodable"].as_array().map(Vec::len), Some(1), "{answer}");
}

/// A budget for `fast` of fast.c, with what it allows.
fn budget(folder: &Path, limit: &str) -> &'static str {
    let text = format!(
        "[[function]]\nname = \"fast\"\nfile = \"fast.c\"\ncpu = \"arm1136jf-s\"\n{limit}\n"
    );
    fs::write(folder.join("budget.toml"), text).expect("a scratch file");
    "budget.toml"
}

#[test]
fn a_budget_is_a_gate() {
    let folder = folder();
    let kept = budget(folder.path(), "cycles = 1000");
    assert!(ok(folder.path(), &["check", "--budget", kept]).contains("kept"));

    // A return alone waits for memory with the program.
    let waits = budget(folder.path(), "cycles = 1000\nflash_wait = 200\ncflags = \"-O0\"");
    let limit = text(&audit(folder.path(), &["check", "--budget", waits, "--json"]));
    let waits: Value = serde_json::from_str(&limit).expect("the answer is JSON");
    assert!(waits["functions"][0]["cycles"].as_u64() > Some(200), "{waits}");

    let over = budget(folder.path(), "cycles = 3");
    let ran = audit(
        folder.path(),
        &["check", "--budget", over, "--junit", "out.xml", "--sarif", "out.sarif"],
    );
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = text(&ran);
    assert!(said.contains("over budget: `fast` takes") && said.contains("3 are allowed"), "{said}");
    assert!(said.contains("fast.c:"), "{said}");
    let xml = fs::read_to_string(folder.path().join("out.xml")).expect("the file was asked for");
    assert!(xml.contains("failures=\"1\"") && xml.contains("<failure message="), "{xml}");
    let sarif: Value = serde_json::from_str(
        &fs::read_to_string(folder.path().join("out.sarif")).expect("asked for"),
    )
    .expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    assert_eq!(results[0]["ruleId"], "over-budget");
    assert!(
        results
            .iter()
            .any(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
                == "fast.c"),
        "{sarif}"
    );
}

#[test]
fn places_in_compiled_programs_are_said_from_this_folder() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("src")).expect("a scratch folder");
    fs::write(folder.path().join("src/fast.c"), SOURCE).expect("a scratch file");
    // Compiled here or in a folder of its own: the program names its source from the root in either
    // case.
    for (from, source) in
        [(folder.path().to_owned(), "src/fast.c"), (folder.path().join("src"), "fast.c")]
    {
        let source = from.join(source);
        let args = ["-O2", "-g", "-marm", "-mcpu=arm1136jf-s", "-c", "-o"];
        let mut gcc = Command::new("arm-linux-gnueabi-gcc");
        let compiled = gcc
            .args(args)
            .arg(folder.path().join("fast.o"))
            .arg(&source)
            .current_dir(&from)
            .status()
            .expect("gcc runs");
        assert!(compiled.success());
        fs::write(
            folder.path().join("o.toml"),
            "[[function]]\nname = \"fast\"\nfile = \"fast.o\"\ncpu = \"arm1136jf-s\"\ncycles = 3\n",
        )
        .expect("a scratch file");
        let ran = audit(folder.path(), &["check", "--budget", "o.toml", "--sarif", "o.sarif"]);
        assert!(text(&ran).contains("  src/fast.c:"), "{}", text(&ran));
        let sarif: Value = serde_json::from_str(
            &fs::read_to_string(folder.path().join("o.sarif")).expect("asked for"),
        )
        .expect("JSON");
        let results = sarif["runs"][0]["results"].as_array().expect("a list");
        let uris: Vec<&Value> = results
            .iter()
            .map(|result| &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
            .collect();
        assert!(uris.contains(&&Value::from("src/fast.c")), "{uris:?}");
    }
}

#[test]
fn a_budget_may_be_what_another_file_takes() {
    let folder = folder();
    let slower = SOURCE.replace("it->state & 3", "it->state * it->cap * it->state & 3");
    fs::write(folder.path().join("old.c"), &slower).expect("a scratch file");
    let it = budget(folder.path(), "not_worse_than = \"old.c\"");
    ok(folder.path(), &["check", "--budget", it]);
    fs::write(folder.path().join("old.c"), SOURCE).expect("a scratch file");
    ok(folder.path(), &["check", "--budget", it]);
    fs::write(folder.path().join("fast.c"), &slower).expect("a scratch file");
    let ran = audit(folder.path(), &["check", "--budget", it]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran).contains(" in old.c"), "{}", text(&ran));
}

#[test]
fn what_is_cold_is_named_as_its_source_has_it() {
    let folder = folder();
    let folder = folder.path();
    let text = "f:\ncbz w0, 1f\nmov w0, #3\nbl _ZN4ring4failEi\n1: ret\n";
    fs::write(folder.join("cold.s"), format!(".globl f\n.type f, %function\n{text}.size f, .-f\n"))
        .expect("a scratch file");
    let hot = |cold: &[&str]| {
        let answer = ok(folder, &[&["cold.s", "--cpu", "cortex-a53", "--json"], cold].concat());
        serde_json::from_str::<Value>(&answer).expect("JSON")["hot_instructions"].as_u64()
    };
    assert_eq!((hot(&[]), hot(&["--avoid", "ring::file"])), (Some(4), Some(4)));
    for name in ["_ZN4ring4failEi", "ring::fail(int)", "ring::fail", "fail"] {
        assert_eq!(hot(&["--avoid", name]), Some(2), "{name}");
    }
}

/// Addresses of symbols that lie at the beginning of a page, as linkers leave them.
#[test]
fn an_address_is_no_constant_that_was_split() {
    let folder = folder();
    let folder = folder.path();
    let findings = |name: &str, text: &str, cpu: &str| -> Vec<String> {
        fs::write(folder.join(name), text).expect("a scratch file");
        let answer: Value =
            serde_json::from_str(&ok(folder, &[name, "--cpu", cpu, "--json"])).expect("JSON");
        let kinds = answer["findings"].as_array().expect("a list").iter();
        kinds
            .filter_map(|kind| kind["kind"].as_str().map(str::to_owned))
            .filter(|map| map == "split-immediate")
            .collect()
    };
    let address = ".globl f\n.type f, %function\nf: adrp x1, f\nadd x1, x1, #0\nldr x0, [x1, #16]\nret\n.size f, .-f\n";
    assert!(findings("adrp.s", address, "cortex-a53").is_empty());
    let address = ".globl f\n.type f, @function\nf: auipc a1, 4\naddi a1, a1, 12\nld a0, 16(a1)\nret\n.size f, .-f\n";
    assert!(findings("auipc.s", address, "rocket").is_empty());
    // A constant is one.
    let constant = ".globl f\n.type f, @function\nf: lui a1, 4\naddi a1, a1, 12\nand a0, a0, a1\nret\n.size f, .-f\n";
    assert_eq!(findings("lui.s", constant, "rocket").len(), 1);
}

#[test]
fn loads_that_keep_a_unit_busy_are_one_finding_and_a_bound() {
    let folder = folder();
    let folder = folder.path();
    let pairs: String = (0..8)
        .map(|nth| format!("ldp x{}, x{}, [x0, #{}]\n", 2 * nth + 1, 2 * nth + 2, 16 * nth))
        .collect();
    fs::write(
        folder.join("pairs.s"),
        format!(".globl f\n.type f, %function\nf:\n{pairs}eret\n.size f, .-f\n"),
    )
    .expect("a scratch file");
    let text = ok(folder, &["pairs.s", "--cpu", "cortex-a53"]);
    assert_eq!(text.matches(": stall ldp").count(), 1, "{text}");
    assert!(
        text.contains("and 6 more like it, to `ldp x15, x16, [x0, #112]`: 7 cycles in all"),
        "{text}"
    );
    let answer: Value =
        serde_json::from_str(&ok(folder, &["pairs.s", "--cpu", "cortex-a53", "--json"]))
            .expect("JSON");
    // All registers live on after the return from an exception. Eight pairs of two cycles each on
    // the one unit: the last starts in cycle 14 and lets go of the path in 15.
    assert!(answer["lower_bound"]["total"].as_u64() >= Some(15), "{answer}");
    assert_eq!(answer["findings"].as_array().map(Vec::len), Some(7), "{answer}");
}

#[test]
fn a_core_with_one_row_for_vectors_says_so() {
    let folder = folder();
    let folder = folder.path();
    let code = ".globl f\n.type f, %function\nf: add v0.4s, v0.4s, v1.4s\nmul v0.4s, v0.4s, v1.4s\nadd x0, x0, x1\nret\n.size f, .-f\n";
    fs::write(folder.join("v.s"), code).expect("a scratch file");
    let said = |cpu: &str| ok(folder, &["v.s", "--cpu", cpu]);
    assert!(
        said("cortex-a53")
            .contains("2 instructions of floating point or vectors: cortex-a53 has one row"),
        "{}",
        said("cortex-a53")
    );
    assert!(!said("cortex-a55").contains("one row"), "{}", said("cortex-a55"));
}

#[test]
fn a_cold_function_that_there_is_none_of_is_said() {
    let folder = folder();
    let folder = folder.path();
    let warned = |cold: &str| {
        let ran = audit(folder, &[&FAST[..], &["--avoid", cold]].concat());
        assert_eq!(ran.status.code(), Some(0));
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    // One that is called and one that is here are known.
    assert_eq!(warned("slow") + &warned("other"), "");
    assert!(
        warned("slwo").contains("--avoid slwo: no function of this name is there or is called"),
        "{}",
        warned("slwo")
    );
    let budget = "[[function]]\nname = \"fast\"\nfile = \"fast.c\"\ncpu = \"arm1136jf-s\"\ncycles = 1000\ncold = [\"slwo\"]\n";
    fs::write(folder.join("budget.toml"), budget).expect("a scratch file");
    let ran = audit(folder, &["check", "--budget", "budget.toml"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && said.contains("slwo"), "{said}");
}

/// `--boot none` asks for the code as it is in the file, so nothing else can be said of a start.
#[test]
fn a_start_that_is_none_has_no_features() {
    let folder = folder();
    for words in [["none", "26=on"], ["LSE=off", "none"]] {
        let boot = words.map(|word| ["--boot", word]).concat();
        let said = refused(folder.path(), &[&FAST[..], &boot].concat(), 1);
        assert!(said.contains("`--boot none` stands beside other words"), "{words:?}: {said}");
    }
    for (boot, said) in [
        ("[\"none\"]", "kept"),
        ("[\"none\", \"LSE=off\"]", "`--boot none` stands beside other words"),
        ("[\"dmesg.txt\"]", "dmesg.txt`: no such file"),
        ("[\"fast.c\"]", "`fast.c` has no line `CPU features: detected: ...`"),
    ] {
        let file = budget(folder.path(), &format!("cycles = 1000\nboot = {boot}"));
        let ran = audit(folder.path(), &["check", "--budget", file]);
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(text.contains(said), "{boot}: {text}");
        assert_eq!(ran.status.code(), Some(if said == "kept" { 0 } else { 3 }), "{boot}");
    }
}
