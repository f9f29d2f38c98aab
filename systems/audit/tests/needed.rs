//! What is called needless can go: random functions with and without it do the same under qemu-arm.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use audit::decode::Isa;
use audit::facts::bits::Bits;
use audit::finding::Kind;
use audit::needed::{Subject, needed};
use audit::program::function::Function;
use measure::tool;

const LIMIT: Duration = Duration::from_secs(120);
const N_FUNCTIONS: usize = 400;
const NOP: u32 = 0xe1a0_0000;
const RETURN: u32 = 0xe12f_ff1e;
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

fn function(words: &[u32]) -> Function {
    let decoded = words.iter().enumerate().map(|(idx, word)| Isa::A32.decode(4 * idx as u64, &word.to_le_bytes()));
    let instructions: Vec<_> = decoded.map(|it| it.unwrap_or_else(|error| panic!("{error}"))).collect();
    let frames = vec![Vec::new(); instructions.len()];
    Function {
        name: "f".into(),
        isa: Isa::A32,
        instructions,
        frames,
        callees: BTreeMap::new(),
        is_cold: false,
        constants: Default::default(),
    }
}

/// The words without what the finding calls needless; none if it claims no such thing.
fn without(words: &[u32], function: &Function, kind: Kind, idx: usize) -> Option<Vec<u32>> {
    let mut changed = words.to_vec();
    let instruction = &function.instructions[idx];
    match kind {
        Kind::RedundantExtension => {
            let operation = instruction.operation.expect("what extends has an operation");
            let audit::decode::code::Value::Reg(source) = operation.a else { panic!("it has a source") };
            let result = operation.result.expect("it has a result");
            changed[idx] = 0xe1a0_0000 | u32::from(result.0) << 12 | u32::from(source.0);
        }
        Kind::DeadValue => changed[idx] = NOP,
        // The comparison goes, the instruction before it that writes its operand sets the flags.
        Kind::FlagIdiom if words[idx] & 0x0ff0_0fff == 0x0350_0000 => {
            let reg = words[idx] >> 16 & 15;
            let writer = (0..idx).rev().find(|&it| function.instructions[it].writes.iter().any(|write| u32::from(write.reg.0) == reg))?;
            changed[writer] |= 1 << 20;
            changed[idx] = NOP;
        }
        _ => return None,
    }
    Some(changed)
}

fn assembly(pairs: &[(Vec<u32>, Vec<u32>)]) -> String {
    let mut text = String::from(".text\n.arm\n");
    for (idx, (with, without)) in pairs.iter().enumerate() {
        for (name, words) in [("with", with), ("without", without)] {
            let list: Vec<String> = words.iter().map(|it| format!("{it:#x}")).collect();
            writeln!(text, "{name}{idx}: .word {}", list.join(", ")).expect("a string grows");
        }
    }
    for name in ["with", "without"] {
        let list: Vec<String> = (0..pairs.len()).map(|idx| format!("{name}{idx}")).collect();
        writeln!(text, ".data\n.global {name}\n{name}: .word {}", list.join(", ")).expect("a string grows");
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

#[test]
fn what_is_called_needless_can_go() {
    let mut pairs: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    let mut names = Vec::new();
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for seed in 0..N_FUNCTIONS as u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        // mov ip, r2; then the body; then one of the values is returned.
        let mut words = vec![0xe1a0_c002];
        for _ in 0..random.usize(4..20) {
            words.push(instruction(&mut random));
            // A mask compared with zero, and somebody who asks.
            if random.u8(..5) == 0 {
                let rd = VALUES[random.usize(..3)];
                let condition = [0x0000_0000, 0x4000_0000, 0x5000_0000, 0x8000_0000][random.usize(..4)];
                let asks = condition | 0x03a0_0000 | VALUES[random.usize(..3)] << 12 | 9;
                words.extend([0xe200_0000 | VALUES[random.usize(..3)] << 16 | rd << 12 | 0x33, 0xe350_0000 | rd << 16, asks]);
            }
        }
        words.extend([0xe1a0_0000 | VALUES[random.usize(..3)], RETURN]);
        // Flags hold nothing at first, so a condition before the first comparison means nothing.
        words.insert(1, 0xe352_0005);
        let function = function(&words);
        let subject = Subject { bits: Bits::of(&function), is_hot: vec![true; words.len()], callees: BTreeMap::new(), function: &function };
        for finding in needed(&subject) {
            if let Some(changed) = without(&words, &function, finding.kind, finding.idx) {
                *counts.entry(finding.kind).or_default() += 1;
                names.push(format!("seed {seed}: {} at {}: {}", finding.who, finding.idx, finding.why));
                pairs.push((words.clone(), changed));
            }
        }
    }
    for kind in [Kind::RedundantExtension, Kind::DeadValue, Kind::FlagIdiom] {
        assert!(counts.get(&kind).is_some_and(|n| *n >= 10), "{counts:?}");
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("pairs.s"), assembly(&pairs)).expect("a scratch file");
    std::fs::write(path("harness.c"), HARNESS).expect("a scratch file");
    let mut compile = Command::new("arm-linux-gnueabi-gcc");
    compile.current_dir(folder.path()).args(["-marm", "-mcpu=arm1136jf-s", "-O1", "-static", "-o", "pairs", "harness.c", "pairs.s"]);
    compile.arg(format!("-DN={}", pairs.len()));
    tool::run(&mut compile, &[], LIMIT).and_then(tool::Ran::ok).unwrap_or_else(|error| panic!("{error}"));
    let ran = tool::run(Command::new("qemu-arm").arg(path("pairs")), &[], LIMIT).and_then(tool::Ran::ok);
    let text = ran.unwrap_or_else(|error| panic!("{error}")).text();
    let wrong: Vec<&String> = text.lines().filter_map(|line| names.get(line.parse::<usize>().ok()?)).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), pairs.len());
}
