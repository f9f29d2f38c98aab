//! Every register of every window keeps its pattern through random switches, interrupts, traps,
//! long jumps and floating point.

use crate::support;

use regwin::Scheme;
use support::{Build, SCHEMES};

const PROGRAM: &str = include_str!("integrity/program.c");

/// What the program counted: wrong registers, traps, interrupts, long jumps.
fn counted(build: Build, seed: u64, n_actions: u64, more: &str) -> [u64; 4] {
    let program = format!("#define SEED {seed}u\n#define ACTIONS {n_actions}\n{more}{PROGRAM}");
    let text = support::printed(build, &program);
    let (line, rest) =
        text.split_once('\n').unwrap_or_else(|| panic!("seed {seed}, {build:?}: {text}"));
    assert_eq!(rest, "regwin: done\n", "seed {seed}, {build:?}: {text}");
    let numbers: Vec<u64> = line.split(' ').filter_map(|part| part.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("seed {seed}, {build:?}: {text}"))
}

/// 20,000 random actions of each kind of build; a million with `MEANWHILE_LONG`, each window count.
#[test]
fn registers_keep_their_patterns() {
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    let options: [&[&str]; 3] = [
        &["preempt", "fpu"],
        &["preempt", "fpu", "priorities"],
        &["preempt", "fpu", "working-set", "priorities", "unchecked"],
    ];
    let (n_actions, n_windows): (u64, &[u32]) = if is_long {
        (1_000_000, &[4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 17, 24, 31, 32])
    } else {
        (20_000, &[4, 5, 8, 13, 32])
    };
    let mut seed = 1;
    for scheme in SCHEMES {
        for windows in n_windows {
            seed += 1;
            let build = Build {
                options: options[seed as usize % 3],
                clang: seed % 2 == 0,
                windows: *windows,
                ..Build::of(scheme)
            };
            let [wrong, traps, interrupts, jumps] = counted(build, seed, n_actions, "");
            assert_eq!(wrong, 0, "seed {seed}, {build:?}: wrong registers");
            let least = n_actions / 100;
            assert!(
                traps > least && interrupts > least && jumps > 10,
                "seed {seed}, {build:?}: {traps} {interrupts} {jumps}"
            );
        }
    }
}

/// A register that a trap damages now and then is seen.
#[test]
fn a_damaged_register_is_seen() {
    for scheme in [Scheme::Ns, Scheme::Adaptive] {
        let build = Build { options: &["preempt", "fpu"], ..Build::of(scheme) };
        let [wrong, traps, ..] = counted(build, 5, 5000, "#define BREAKS\n");
        assert!(
            wrong > 0 && wrong <= traps / 64 + 1,
            "{scheme:?}: {wrong} wrong registers after {traps} traps"
        );
    }
}
