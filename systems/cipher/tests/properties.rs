//! Every pass keeps the meaning: random programs and the bundled ciphers, interpreted and compiled.

use crate::support;

use std::collections::BTreeMap;

use cipher::elaborate::check;
use cipher::interp::interface;
use cipher::library::primitives;
use cipher::options::Slicing;
use cipher::pipeline::slicings;
use cipher::syntax::load_text;
use support::agree::{agrees, all_options, caught, compiled_agrees, interpret, random_args};
use support::generator::{self, ENTRY};
use support::shrink::shrink;

/// Random programs in a run of the tests.
const N_PROGRAMS: u64 = 300;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The first line of a failure without its numbers, so that shrinking keeps to one failure.
fn kind(failure: &str) -> String {
    let guilty = failure
        .split("guilty: ")
        .nth(1)
        .and_then(|g| g.lines().next())
        .unwrap_or_else(|| failure.lines().next().unwrap_or(""));
    guilty.chars().filter(char::is_ascii_alphabetic).take(40).collect()
}

#[test]
fn random_programs_keep_their_meaning() {
    std::panic::set_hook(Box::new(|_| {}));
    let first = setting("CIPHER_SEED", 1);
    let n = setting("CIPHER_PROGRAMS", N_PROGRAMS);
    let mut coverage: BTreeMap<&str, u64> = BTreeMap::new();
    let mut per_slicing: BTreeMap<&str, u64> = BTreeMap::new();
    let mut failures = Vec::new();
    let word = |seed: u64| Some([8, 16, 32, 64][seed as usize % 4]);
    for seed in first..first + n {
        let made = generator::program(seed);
        made.coverage.iter().for_each(|(name, n)| *coverage.entry(name).or_default() += n);
        match agrees(&made.text, ENTRY, word(seed), 4, seed) {
            Ok(done) => {
                done.slicings.iter().for_each(|s| *per_slicing.entry(s.letter()).or_default() += 1)
            }
            Err(what) => {
                let fails = |text: &str| {
                    agrees(text, ENTRY, word(seed), 4, seed)
                        .is_err_and(|other| kind(&other) == kind(&what))
                };
                let small = shrink(&made.text, 2000, &fails);
                let what = agrees(&small, ENTRY, word(seed), 4, seed).err().unwrap_or(what);
                failures.push(format!("seed {seed}: {what}\n\nsmallest program:\n{small}\n"));
                if failures.len() >= setting("CIPHER_FAILURES", 3) as usize {
                    break;
                }
            }
        }
    }
    let _ = std::panic::take_hook();
    let lines: Vec<String> = coverage.iter().map(|(name, n)| format!("{n:>8}  {name}")).collect();
    let text = format!(
        "productions in {n} programs:\n{}\nprograms in each slicing: {per_slicing:?}",
        lines.join("\n")
    );
    report_coverage(&text);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    if n >= N_PROGRAMS {
        assert!(coverage.len() >= 59, "the generator lost a production:\n{text}");
        assert!(
            ["b", "v", "h"].iter().all(|s| per_slicing.get(s).is_some_and(|n| *n > 20)),
            "{text}"
        );
    }
}

#[expect(clippy::print_stdout, reason = "seen with --nocapture")]
fn report_coverage(text: &str) {
    println!("{text}");
}

#[test]
fn the_same_seed_gives_the_same_program() {
    assert_eq!(generator::program(7).text, generator::program(7).text);
    assert_ne!(generator::program(7).text, generator::program(8).text);
}

#[test]
fn bundled_ciphers_keep_their_meaning() {
    let mut rng = fastrand::Rng::with_seed(1);
    for primitive in primitives() {
        let program =
            load_text(&primitive.file, primitive.text(), &[]).expect("bundled files are right");
        for entry in primitive.schedule.as_deref().into_iter().chain([&*primitive.entry]) {
            let (ports, _) =
                interface(&program, entry, None).expect("bundled nodes have fixed sizes");
            let cases: Vec<_> = (0..2)
                .map(|_| {
                    interpret(&program, entry, None, &random_args(&ports, &mut rng))
                        .expect("it runs")
                })
                .collect();
            let legal = slicings(&program, &[entry], None);
            assert!(!legal.is_empty(), "{} has no slicing", primitive.name);
            for slicing in legal {
                let all = all_options(slicing, None);
                for _ in 0..2 {
                    let options = &all[rng.usize(0..all.len())];
                    compiled_agrees(&program, entry, options, &cases)
                        .unwrap_or_else(|what| panic!("{} {entry}: {what}", primitive.name));
                }
            }
        }
    }
}

#[test]
fn mutated_programs_never_panic() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut rng = fastrand::Rng::with_seed(setting("CIPHER_SEED", 1));
    let mut accepted = 0;
    let mut failures = Vec::new();
    for seed in 0..setting("CIPHER_PROGRAMS", N_PROGRAMS) {
        let text = generator::program(seed).text;
        for _ in 0..5 {
            let mutated = mutate(&text, &mut rng);
            let outcome = caught(|| {
                let Ok(program) = load_text("mutated.ua", &mutated, &[]) else { return Ok(false) };
                Ok(check(&program).is_ok())
            });
            match outcome {
                Ok(fine) => accepted += u64::from(fine),
                Err(panic) => {
                    let fails = |text: &str| {
                        caught(|| {
                            if let Ok(program) = load_text("mutated.ua", text, &[]) {
                                let _ = check(&program);
                            }
                            Ok(())
                        })
                        .is_err()
                    };
                    failures.push(format!("{panic}\n{}", shrink(&mutated, 1000, &fails)));
                }
            }
        }
        if failures.len() > 3 {
            break;
        }
    }
    let _ = std::panic::take_hook();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        accepted > 0 || setting("CIPHER_PROGRAMS", N_PROGRAMS) < N_PROGRAMS,
        "some mutations leave a program right"
    );
}

/// Swaps, drops, doubles or replaces a few tokens.
fn mutate(text: &str, rng: &mut fastrand::Rng) -> String {
    const WORDS: [&str; 40] = [
        "node",
        "returns",
        "vars",
        "let",
        "tel",
        "perm",
        "table",
        "forall",
        "in",
        "Shuffle",
        "Bitmask",
        "Pack",
        "const",
        "nat",
        "_unroll",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":=",
        "=",
        "^",
        "+",
        "<<<",
        ">>",
        ">>!",
        "..",
        ",",
        ";",
        ":",
        "0",
        "1",
        "63",
        "0xffffffffffffffffff",
        "u8x4",
        "b0",
        "v3[0]",
        "~",
    ];
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        let glue = tokens.last().and_then(|t| t.chars().last()).is_some_and(|l| {
            (l.is_alphanumeric() || l == '\'' || l == '_')
                && (c.is_alphanumeric() || c == '\'' || c == '_')
        });
        match tokens.last_mut() {
            Some(last) if glue => last.push(c),
            _ => tokens.push(c.into()),
        }
    }
    for _ in 0..rng.usize(1..4) {
        let (a, b) = (rng.usize(0..tokens.len()), rng.usize(0..tokens.len()));
        match rng.u32(0..5) {
            0 => tokens.swap(a, b),
            1 => {
                tokens.remove(a);
            }
            2 => {
                let copy = tokens[a].clone();
                tokens.insert(b, copy);
            }
            3 => tokens[a] = tokens[b].clone(),
            _ => tokens[a] = format!(" {} ", WORDS[rng.usize(0..WORDS.len())]),
        }
    }
    tokens.concat()
}

#[test]
fn slicings_of_a_program_of_bits() {
    let program = load_text("bits.ua", "node f(x:b2) returns (y:b2) let y = x <<< 1 tel", &[])
        .expect("right");
    assert_eq!(slicings(&program, &["f"], None), [Slicing::Bit]);
}
