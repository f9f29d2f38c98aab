//! Any bytes as a recording of what ran, beside a function of any code: it is read or not, never
//! with a panic, and what it says of each instruction, branch and loop holds together.
//!
//! The first byte is the instruction set and how long the code is, eight are where the program was
//! loaded, then comes the code, then the recording. `@` followed by a byte stands for the address
//! of one of the instructions, so that recordings meet the code.

#![no_main]

use std::fmt::Write;

use audit::decode::{Isa, Linear};
use audit::facts::loops::loops;
use audit::facts::recorded::{Counts, Recorded};
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::{Function, SourceFrame};
use libfuzzer_sys::fuzz_target;

const ISAS: [Isa; 6] = [Isa::A32, Isa::T32, Isa::A64, Isa::Riscv32, Isa::Riscv64, Isa::Sparc];
const START: u64 = 0x1_0000;

/// The code as a function, each instruction on a line of its own of `a/ring.c`.
fn function(isa: Isa, code: &[u8]) -> Function {
    let mut linear = Linear::new(isa);
    let mut instructions = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let Ok(it) = linear.decode(START + at as u64, &code[at..]) else { break };
        at += usize::from(it.length);
        instructions.push(it);
    }
    let frame = |line: usize| vec![SourceFrame { function: "f".to_owned(), file: "a/ring.c".to_owned(), line: line as u32 }];
    let frames = (1..=instructions.len()).map(frame).collect();
    Function { name: "f".to_owned(), isa, instructions, frames, callees: Default::default(), is_cold: false, tables: Default::default(), constants: Default::default(), cases: Default::default(), arguments: Default::default() }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let Some((base, bytes)) = bytes.split_first_chunk() else { return };
    let (isa, length) = (ISAS[usize::from(*first) % ISAS.len()], usize::from(*first) / ISAS.len() * 2);
    let Some((code, text)) = bytes.split_at_checked(length) else { return };
    let (function, base) = (function(isa, code), u64::from_le_bytes(*base));

    let mut recorded = Recorded::new(base);
    for line in String::from_utf8_lossy(text).lines() {
        let mut pieces = line.split('@');
        let mut whole = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let mut rest = piece.chars();
            let nth = rest.next().map_or(0, |rest| rest as usize) % function.instructions.len().max(1);
            let address = function.instructions.get(nth).map_or(START, |instruction| instruction.address).wrapping_add(base);
            write!(whole, "{address:x}{}", rest.as_str()).expect("strings take any text");
        }
        recorded.line(&whole);
    }
    recorded.finish();
    assert!(!recorded.what().is_empty());
    assert!(recorded.range().is_none_or(|(low, high)| low <= high));

    let counts = Counts::of(&function, &recorded);
    if let Some(counts) = &counts {
        for idx in 0..function.instructions.len() {
            let _ = counts.runs(idx);
            assert!(counts.ways(&function, idx).is_none_or(|(taken, not)| taken > 0 || not > 0));
        }
    }
    let guide = Guide::new(&function, &[], counts.as_ref());
    assert!(hot_trace(&guide).places.iter().all(|place| *place < function.instructions.len()));
    for it in loops(&function, &guide) {
        assert!(it.round.places.first() == Some(&it.head) && it.rounds.is_none_or(|round| round >= 1.0));
    }
});
