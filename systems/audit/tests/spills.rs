//! Spills counted in machine code are those that the compiler says it made.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use audit::decode::Isa;
use audit::facts::spills::{Spills, spills};
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use measure::tool;

const LIMIT: Duration = Duration::from_secs(60);

/// C that needs more registers than there are, from a seed: sums, a loop, calls, an array that
/// is passed on, vectors.
fn program(seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = String::from(
        "#include <stdint.h>\nextern void seen(uint64_t *);\nextern uint64_t far(uint64_t, uint32_t);\n",
    );
    for function in 0..6 {
        let n_values = random.usize(4..48);
        text += &format!(
            "uint64_t f{function}(const uint64_t *in, uint64_t *out, uint32_t n, uint64_t k) {{\n uint64_t kept[{}];\n",
            n_values
        );
        for value in 0..n_values {
            text +=
                &format!(" uint64_t v{value} = in[{}] * {}u;\n", random.u32(0..64), random.u32(..));
        }
        text += " for (uint32_t i = 0; i < n; i++) {\n";
        for _ in 0..2 * n_values {
            let (a, b, c) =
                (random.usize(..n_values), random.usize(..n_values), random.usize(..n_values));
            let operator = random.choice(["^", "&", "+", "|", "-"]).expect("there are some");
            text +=
                &format!("  v{a} = (v{b} {operator} v{c}) + (v{a} >> {});\n", random.u32(1..63));
            if random.u32(..12) == 0 {
                text += &format!("  v{b} += far(v{c}, i);\n");
            }
        }
        text += " }\n";
        for value in 0..n_values {
            text += &format!(" kept[{value}] = v{value}; out[{value}] ^= v{value} + k;\n");
        }
        if random.bool() {
            text += " seen(kept);\n";
        }
        text += &format!(" return kept[k % {n_values}] ^ v0;\n}}\n");
    }
    text
}

fn clang(folder: &Path, flags: &[&str], made: &str) {
    let mut command = Command::new("clang-19");
    command.current_dir(folder).args(["-O3", "-w", "program.c", "-o", made]).args(flags);
    tool::run(&mut command, &[], LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn clang_comments_the_same_stores_and_loads() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (mut n_stores, mut n_reloads) = (0, 0);
    for seed in 0..5 {
        std::fs::write(folder.path().join("program.c"), program(seed)).expect("a scratch file");
        for machine in [&["-march=x86-64-v3"][..], &["-march=x86-64", "-fno-omit-frame-pointer"]] {
            clang(folder.path(), &[machine, &["-S"]].concat(), "program.s");
            clang(folder.path(), &[machine, &["-c"]].concat(), "program.o");
            let text =
                std::fs::read_to_string(folder.path().join("program.s")).expect("clang wrote it");
            let said_stores = text.lines().filter(|line| line.contains("Spill")).count();
            let said_reloads = text
                .lines()
                .filter(|line| line.contains("Reload") && !line.contains("Spill"))
                .count();
            let bytes = std::fs::read(folder.path().join("program.o")).expect("clang wrote it");
            let program =
                Program::parse("program.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
            let mut found = Spills::default();
            for symbol in &program.symbols {
                let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
                assert!(decoded.undecodable.is_empty(), "seed {seed}");
                found += spills(&decoded.function);
            }
            let near = |ours: usize, said: usize| ours.abs_diff(said) * 20 <= said;
            assert!(
                near(found.stores, said_stores) && near(found.reloads, said_reloads),
                "seed {seed} {machine:?}: {found:?}, clang says {said_stores} and {said_reloads}"
            );
            n_stores += said_stores;
            n_reloads += said_reloads;
        }
    }
    assert!(
        n_stores > 500 && n_reloads > 500,
        "the programs need more registers: {n_stores} stores, {n_reloads} reloads"
    );
}

/// The functions of an assembly file: name, stores and reloads.
fn counted(isa: Isa, cpu: &str, text: &str) -> Vec<(String, usize, usize)> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("code.s");
    std::fs::write(&path, text).expect("a scratch file");
    let bytes = toolchain::compile(&path, isa, cpu, &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let program = Program::parse("code.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
    let count = |symbol| {
        let found =
            spills(&program.decode(symbol).unwrap_or_else(|error| panic!("{error}")).function);
        (symbol.name.clone(), found.stores, found.reloads)
    };
    program.symbols.iter().map(count).collect()
}

fn arm(body: &str) -> (usize, usize) {
    let text = format!(".syntax unified\n.global f\n.type f,%function\nf:\n{body}\n.size f,.-f\n");
    let [(_, stores, reloads)] = counted(Isa::A32, "arm1136jf-s", &text)[..] else {
        panic!("one function: {text}")
    };
    (stores, reloads)
}

/// A frame of 16 bytes, in which a cold call stands between the store and the reloads: the
/// join comes from there.
fn around_a_cold_call(store: &str, reloads: &str) -> (usize, usize) {
    arm(&format!(
        "push {{r4, lr}}\n sub sp, sp, #16\n {store}\n cmp r0, #0\n beq 2f\n 1: {reloads}\n add r0, r2, r3\n add sp, sp, #16\n \
         pop {{r4, pc}}\n 2: bl restore\n b 1b"
    ))
}

#[test]
fn what_one_instruction_stores_two_may_load() {
    assert_eq!(
        around_a_cold_call("strd r2, r3, [sp, #8]", "ldr r2, [sp, #8]\n ldr r3, [sp, #12]"),
        (1, 2)
    );
    assert_eq!(
        around_a_cold_call("str r2, [sp, #8]\n str r3, [sp, #12]", "ldrd r2, r3, [sp, #8]"),
        (2, 1)
    );
    assert_eq!(around_a_cold_call("stm sp, {r2, r3}", "ldr r2, [sp]\n ldr r3, [sp, #4]"), (1, 2));
    assert_eq!(around_a_cold_call("strd r2, r3, [sp, #8]", "ldrd r2, r3, [sp, #8]"), (1, 1));
    // Half of it: the other word is not stored.
    assert_eq!(around_a_cold_call("str r2, [sp, #8]", "ldrd r2, r3, [sp, #8]"), (1, 1));
    // A word across both, and one beside.
    assert_eq!(
        around_a_cold_call("strd r2, r3, [sp, #8]", "ldr r2, [sp, #10]\n ldr r3, [sp, #4]"),
        (0, 0)
    );
    let a64 = ".global f\n.type f,%function\nf: stp x29, x30, [sp, #-48]!\n stp x2, x3, [sp, #16]\n cbz x0, 2f\n 1: ldr x2, [sp, #16]\n \
               ldr x3, [sp, #24]\n add x0, x2, x3\n ldp x29, x30, [sp], #48\n ret\n 2: bl restore\n b 1b\n.size f,.-f\n";
    assert_eq!(counted(Isa::A64, "cortex-a53", a64), [("f".to_owned(), 1, 2)]);
}

/// Behind a call that never returns stands the next block, which it does not lead to; nothing but
/// the frame says so.
fn behind_a_last_call(callee: &str, early: &str) -> (usize, usize) {
    let (before, behind) =
        if early.is_empty() { ("", "cmp r0, #0\n beq 3f") } else { ("cmp r0, #0\n beq 3f", "") };
    arm(&format!(
        "{before}\n push {{r4, lr}}\n sub sp, sp, #8\n {behind}\n str r3, [sp, #4]\n tst r1, #1\n bne 2f\n 1: ldr r2, [sp, #4]\n \
         ldr r3, [sp, #4]\n add r0, r2, r3\n add sp, sp, #8\n pop {{r4, pc}}\n 3: bl {callee}\n 2: bl restore\n b 1b"
    ))
}

#[test]
fn a_call_that_never_returns_leads_nowhere() {
    // Called before the frame was made: what stands after it has one.
    assert_eq!(behind_a_last_call("slowpath", "early"), (1, 2));
    // Called with the frame: its name says it.
    assert_eq!(behind_a_last_call("abort", ""), (1, 2));
    // Neither: it may come back, and then nothing was stored.
    assert_eq!(behind_a_last_call("slowpath", ""), (0, 0));
    // Pushed arguments are another frame, too.
    let pushed = "push {r4, lr}\n sub sp, sp, #8\n str r3, [sp]\n cmp r0, #0\n beq 3f\n tst r1, #1\n bne 2f\n 1: ldr r0, [sp]\n \
                  add sp, sp, #8\n pop {r4, pc}\n 3: push {r1, r2}\n bl fails\n 2: bl restore\n b 1b";
    assert_eq!(arm(pushed), (1, 1));
}
