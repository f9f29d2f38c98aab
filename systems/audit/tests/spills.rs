//! Spills counted in machine code are those that the compiler says it made.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use audit::program::Program;
use audit::spills::{Spills, spills};
use measure::tool;

const LIMIT: Duration = Duration::from_secs(60);

/// C that needs more registers than there are, from a seed: sums, a loop, calls, an array that is
/// passed on, vectors.
fn program(seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = String::from("#include <stdint.h>\nextern void seen(uint64_t *);\nextern uint64_t far(uint64_t, uint32_t);\n");
    for function in 0..6 {
        let n_values = random.usize(4..48);
        text +=
            &format!("uint64_t f{function}(const uint64_t *in, uint64_t *out, uint32_t n, uint64_t k) {{\n uint64_t kept[{}];\n", n_values);
        for value in 0..n_values {
            text += &format!(" uint64_t v{value} = in[{}] * {}u;\n", random.u32(0..64), random.u32(..));
        }
        text += " for (uint32_t i = 0; i < n; i++) {\n";
        for _ in 0..2 * n_values {
            let (a, b, c) = (random.usize(..n_values), random.usize(..n_values), random.usize(..n_values));
            let operator = random.choice(["^", "&", "+", "|", "-"]).expect("there are some");
            text += &format!("  v{a} = (v{b} {operator} v{c}) + (v{a} >> {});\n", random.u32(1..63));
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
    tool::run(&mut command, &[], LIMIT).and_then(tool::Ran::ok).unwrap_or_else(|error| panic!("{error}"));
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
            let text = std::fs::read_to_string(folder.path().join("program.s")).expect("clang wrote it");
            let said_stores = text.lines().filter(|line| line.contains("Spill")).count();
            let said_reloads = text.lines().filter(|line| line.contains("Reload") && !line.contains("Spill")).count();
            let bytes = std::fs::read(folder.path().join("program.o")).expect("clang wrote it");
            let program = Program::parse("program.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
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
    assert!(n_stores > 500 && n_reloads > 500, "the programs need more registers: {n_stores} stores, {n_reloads} reloads");
}
