//! What is called needless can go: random functions with and without it do the same under qemu-arm.

use crate::support::made::of_instructions;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use audit::decode::code::Value;
use audit::decode::{Isa, Linear};
use audit::finding::Kind;
use audit::needed::{Subject, needed};
use audit::program::function::Function;
use measure::tool;

const LIMIT: Duration = Duration::from_secs(120);
const N_FUNCTIONS: usize = 400;
const NOP: u32 = 0xe1a0_0000;
const RETURN: u32 = 0xe12f_ff1e;
/// Of Thumb words below 0x10000 are short; of long ones the first half stands above.
const THUMB_NOP: u32 = 0xbf00;
const THUMB_RETURN: u32 = 0x4770;
/// r0 and r1 point to what is read and written; these hold values.
const VALUES: [u32; 3] = [2, 3, 12];

/// A random instruction on the three registers; conditions only where flags were set.
fn instruction(random: &mut fastrand::Rng) -> u32 {
    let mut reg = |n: u32| VALUES[random.usize(..VALUES.len())] << n;
    let (rd, rn, rm) = (reg(12), reg(16), reg(0));
    let flags = u32::from(random.u8(..6) == 0) << 20;
    let masks = [1u32, 3, 7, 15, 0x7f, 0xff, 0xe3f, 0xf03, 0x80];
    let mask = masks[random.usize(..masks.len())];
    let data = |op: u32| 0xe200_0000 | op << 21 | flags | rn | rd | mask;
    match random.u32(..22) {
        0 => 0xe6ef_0070 | rd | rm,
        1 => 0xe6af_0070 | rd | rm,
        2 => 0xe6ff_0070 | rd | rm,
        3 => 0xe6bf_0070 | rd | rm,
        4..7 => data(0),
        7 => data(14),
        8 => data(12),
        9 => 0xe080_0000 | flags | rn | rd | rm,
        10 => data(4),
        11 => 0xe1a0_0000 | flags | rd | random.u32(1..32) << 7 | random.u32(..3) << 5 | rm,
        12 => 0xe1e0_0000 | rd | rm,
        13 => 0xe5d0_0000 | rd | random.u32(..32),
        14 => 0xe1d0_00d0 | rd | random.u32(..16),
        15 => 0xe1d0_00b0 | rd | random.u32(..8) << 1,
        16 => 0xe590_0000 | rd | random.u32(..8) << 2,
        17 => 0xe5c1_0000 | rd | random.u32(..32),
        18 => 0xe581_0000 | rd | random.u32(..8) << 2,
        19 => 0xe350_0000 | rn | (mask * u32::from(random.bool())),
        // moveq, movmi, movne with a register.
        20 => [0x01a0_0000, 0x41a0_0000, 0x11a0_0000][random.usize(..3)] | rd | rm,
        _ => 0xe3a0_0000 | rd | mask,
    }
}

/// The same for Thumb: long and short words, some of them guarded.
fn thumb(random: &mut fastrand::Rng) -> Vec<u32> {
    let mut value = || VALUES[random.usize(..VALUES.len())];
    let (rd, rn, rm) = (value(), value(), value());
    let (low_d, low_m) = (rd & 3, rm & 3);
    let (low_d, low_m) = (if low_d < 2 { 2 } else { low_d }, if low_m < 2 { 3 } else { low_m });
    let flags = u32::from(random.u8(..6) == 0) << 20;
    let mask = [1u32, 3, 7, 15, 0x7f, 0xff, 0x80][random.usize(..7)];
    let (low, width) = (random.u32(..24), random.u32(1..9));
    let place = |low: u32| (low >> 2) << 12 | (low & 3) << 6;
    let move_any = 0x4600 | (rd >> 3) << 7 | rm << 3 | rd & 7;
    vec![match random.u32(..28) {
        0 => 0xfa5f_f080 | rd << 8 | rm,
        1 => 0xfa4f_f080 | rd << 8 | rm,
        2 => 0xfa1f_f080 | rd << 8 | rm,
        3 => 0xfa0f_f080 | rd << 8 | rm,
        4..7 => 0xf000_0000 | flags | rn << 16 | rd << 8 | mask,
        7 => 0xf020_0000 | flags | rn << 16 | rd << 8 | mask,
        8 => 0xf040_0000 | flags | rn << 16 | rd << 8 | mask,
        9 => 0xeb00_0000 | flags | rn << 16 | rd << 8 | rm,
        10 => 0xf100_0000 | flags | rn << 16 | rd << 8 | mask,
        11 => 0xea4f_0000 | flags | place(random.u32(1..32)) | rd << 8 | random.u32(..3) << 4 | rm,
        12 => 0xea6f_0000 | rd << 8 | rm,
        13 => 0xf3c0_0000 | rn << 16 | place(low) | rd << 8 | (width - 1),
        14 => 0xf340_0000 | rn << 16 | place(low) | rd << 8 | (width - 1),
        15 => 0xf360_0000 | rn << 16 | place(low) | rd << 8 | (low + width - 1),
        16 => 0xf36f_0000 | place(low) | rd << 8 | (low + width - 1),
        17 => 0xf240_0000 | random.u32(..16) << 16 | rd << 8 | mask,
        18 => 0xf2c0_0000 | random.u32(..16) << 16 | rd << 8 | mask,
        19 => 0xf890_0000 | rd << 12 | random.u32(..32),
        20 => 0xf990_0000 | rd << 12 | random.u32(..16),
        21 => 0xf8b0_0000 | rd << 12 | random.u32(..8) << 1,
        22 => 0xf8d0_0000 | rd << 12 | random.u32(..8) << 2,
        23 => 0xf881_0000 | rd << 12 | random.u32(..32),
        24 => 0xf8c1_0000 | rd << 12 | random.u32(..8) << 2,
        25 => return vec![[0xbf08, 0xbf48, 0xbf18][random.usize(..3)], move_any],
        26 => {
            [0xb2c0 | low_m << 3 | low_d, 0x4000 | low_m << 3 | low_d, 0x0080 | low_m << 3 | low_d]
                [random.usize(..3)]
        }
        _ => 0x2000 | low_d << 8 | mask,
    }]
}

fn function(isa: Isa, words: &[u32]) -> Function {
    let (mut linear, mut instructions) = (Linear::new(isa), Vec::new());
    let mut address = 0;
    for word in words {
        let bytes = match isa {
            Isa::T32 if *word < 0x1_0000 => (*word as u16).to_le_bytes().to_vec(),
            Isa::T32 => word.rotate_left(16).to_le_bytes().to_vec(),
            _ => word.to_le_bytes().to_vec(),
        };
        instructions.push(linear.decode(address, &bytes).unwrap_or_else(|error| panic!("{error}")));
        address += bytes.len() as u64;
    }
    of_instructions(isa, instructions)
}

/// The words without what the finding calls needless; none if it claims no such thing.
fn without(words: &[u32], function: &Function, kind: Kind, idx: usize) -> Option<Vec<u32>> {
    let mut changed = words.to_vec();
    let instruction = &function.instructions[idx];
    match kind {
        Kind::RedundantExtension => {
            let operation = instruction.operation.expect("what extends has an operation");
            let Value::Reg(source) = operation.a else { panic!("it has a source") };
            let result = operation.result.expect("it has a result");
            let (result, source) = (u32::from(result.0), u32::from(source.0));
            changed[idx] = match function.isa {
                // A load that extends, or a short shift, is no plain move.
                Isa::T32 => 0x4600 | (result >> 3) << 7 | source << 3 | result & 7,
                _ => 0xe1a0_0000 | result << 12 | source,
            };
        }
        Kind::DeadValue => changed[idx] = if function.isa == Isa::T32 { THUMB_NOP } else { NOP },
        Kind::FlagIdiom if function.isa == Isa::T32 => {
            let reg = instruction.operation.and_then(|operation| {
                if let Value::Reg(reg) = operation.a { Some(reg) } else { None }
            })?;
            let writer = (0..idx).rev().find(|&idx| {
                function.instructions[idx].writes.iter().any(|write| write.reg == reg)
            })?;
            // Long words have a bit for it, a short move another word.
            let is_long_form = words[writer] > 0xffff
                && matches!(words[writer] >> 25, 0x78 | 0x75)
                && words[writer] & 0x8000 == 0;
            if !is_long_form {
                return None;
            }
            changed[writer] |= 1 << 20;
            changed[idx] = THUMB_NOP;
        }
        // The comparison goes, the instruction before it that writes its operand sets the flags.
        Kind::FlagIdiom if words[idx] & 0x0ff0_0fff == 0x0350_0000 => {
            let reg = words[idx] >> 16 & 15;
            let writer = (0..idx).rev().find(|&idx| {
                function.instructions[idx].writes.iter().any(|write| u32::from(write.reg.0) == reg)
            })?;
            changed[writer] |= 1 << 20;
            changed[idx] = NOP;
        }
        _ => return None,
    }
    Some(changed)
}

fn assembly(isa: Isa, pairs: &[(Vec<u32>, Vec<u32>)]) -> String {
    let mut text = String::from(".text\n.arm\n");
    for (idx, (with, without)) in pairs.iter().enumerate() {
        for (name, words) in [("with", with), ("without", without)] {
            let list: Vec<String> = match isa {
                Isa::T32 => words
                    .iter()
                    .flat_map(|word| [*word >> 16, *word & 0xffff])
                    .filter(|found| *found != 0)
                    .map(|found| format!("{found:#x}"))
                    .collect(),
                _ => words.iter().map(|word| format!("{word:#x}")).collect(),
            };
            let (head, directive) =
                if isa == Isa::T32 { (".thumb\n.thumb_func\n", ".short") } else { ("", ".word") };
            writeln!(text, "{head}{name}{idx}: {directive} {}", list.join(", "))
                .expect("a string grows");
        }
    }
    for name in ["with", "without"] {
        let list: Vec<String> = (0..pairs.len()).map(|idx| format!("{name}{idx}")).collect();
        writeln!(text, ".data\n.global {name}\n{name}: .word {}", list.join(", "))
            .expect("a string grows");
    }
    text + ".section .note.GNU-stack, \"\", %progbits\n"
}

const HARNESS: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef uint32_t run(const void *, void *, uint32_t, uint32_t);
extern run *with[], *without[];
static uint64_t state = 9;
static uint32_t number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint32_t it = state >> 32;
    /* Small numbers, bytes of ones and all else. */
    return (it & 3) == 0 ? it >> 28 : (it & 3) == 1 ? -(it >> 30) : (uint32_t)(state >> 20);
}
int main(void)
{
    for (int f = 0; f < N; f++)
        for (int round = 0; round < 200; round++) {
            uint32_t in[16], a[16], b[16], x = number(), y = number();
            for (int i = 0; i < 16; i++) {
                in[i] = number();
                a[i] = b[i] = number();
            }
            uint32_t p = with[f](in, a, x, y), q = without[f](in, b, x, y);
            if (p != q || memcmp(a, b, sizeof a)) {
                printf("%d\n", f);
                break;
            }
        }
    return 0;
}
"#;

/// A mask compared with zero, and somebody who asks.
fn asked(isa: Isa, random: &mut fastrand::Rng) -> Vec<u32> {
    let mut value = || VALUES[random.usize(..3)];
    let (rd, rn, to) = (value(), value(), value());
    let condition = [0u32, 4, 5, 8][random.usize(..4)];
    match isa {
        Isa::T32 => {
            let to = if to > 7 { 2 } else { to };
            vec![
                0xf000_0033 | rn << 16 | rd << 8,
                0xf1b0_0f00 | rd << 16,
                0xbf08 | condition << 4,
                0x2009 | to << 8,
            ]
        }
        _ => vec![
            0xe200_0033 | rn << 16 | rd << 12,
            0xe350_0000 | rd << 16,
            condition << 28 | 0x03a0_0009 | to << 12,
        ],
    }
}

/// A random function that returns one of the values.
fn random_function(isa: Isa, seed: u64) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    // Flags hold nothing at first, so a condition before the first comparison means nothing.
    let mut words =
        if isa == Isa::T32 { vec![0x4694, 0x2a05] } else { vec![0xe1a0_c002, 0xe352_0005] };
    for _ in 0..random.usize(4..20) {
        words.extend(if isa == Isa::T32 {
            thumb(&mut random)
        } else {
            vec![instruction(&mut random)]
        });
        if random.u8(..5) == 0 {
            words.extend(asked(isa, &mut random));
        }
    }
    let value = VALUES[random.usize(..3)];
    words.extend(if isa == Isa::T32 {
        [0x4600 | value << 3, THUMB_RETURN]
    } else {
        [0xe1a0_0000 | value, RETURN]
    });
    words
}

fn check(isa: Isa, machine: &[&str]) {
    let mut pairs: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    let mut names = Vec::new();
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for seed in 0..N_FUNCTIONS as u64 {
        let words = random_function(isa, seed);
        let function = function(isa, &words);
        let subject = Subject::of(&function);
        for finding in needed(&subject) {
            if let Some(changed) = without(&words, &function, finding.kind, finding.idx) {
                *counts.entry(finding.kind).or_default() += 1;
                names.push(format!(
                    "seed {seed}: {} at {}: {}",
                    finding.instruction, finding.idx, finding.why
                ));
                pairs.push((words.clone(), changed));
            }
        }
    }
    for kind in [Kind::RedundantExtension, Kind::DeadValue, Kind::FlagIdiom] {
        assert!(counts.get(&kind).is_some_and(|n| *n >= 10), "{counts:?}");
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("pairs.s"), assembly(isa, &pairs)).expect("a scratch file");
    std::fs::write(path("harness.c"), HARNESS).expect("a scratch file");
    let mut compile = Command::new("arm-linux-gnueabi-gcc");
    compile.current_dir(folder.path()).args(machine).args([
        "-O1",
        "-static",
        "-o",
        "pairs",
        "harness.c",
        "pairs.s",
    ]);
    compile.arg(format!("-DN={}", pairs.len()));
    tool::run(&mut compile, &[], LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
    let ran =
        tool::run(Command::new("qemu-arm").arg(path("pairs")), &[], LIMIT).and_then(tool::Ran::ok);
    let text = ran.unwrap_or_else(|error| panic!("{error}")).text();
    let wrong: Vec<&String> =
        text.lines().filter_map(|line| names.get(line.parse::<usize>().ok()?)).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), pairs.len());
}

#[test]
fn what_is_called_needless_can_go() {
    check(Isa::A32, &["-marm", "-mcpu=arm1136jf-s"]);
}

#[test]
fn what_is_called_needless_in_thumb_can_go() {
    check(Isa::T32, &["-marm", "-mcpu=cortex-a7"]);
}
