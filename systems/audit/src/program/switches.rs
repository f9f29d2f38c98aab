//! Jumps of Thumb: through a table behind them, or as far as no other reaches.
//!
//! ```text
//! tbb [pc, r3]                 bl __gnu_thumb1_case_uqi    ARMv6-M has no `tbb`: libgcc jumps by r0
//! .byte 2, 9, 2, 14            .byte 2, 9, 2, 14           halfwords from here
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::decode::Isa;
use crate::decode::code::{Flow, Instruction, Read, Reg, Role};
use crate::program::sections::{Code, Mark, Symbol};

/// A row of a table: of so many bytes.
#[derive(Clone, Copy)]
struct Row {
    bytes: usize,
    is_signed: bool,
    /// What it counts, in bytes.
    unit: i64,
}

/// The row of the function of libgcc that jumps by a table behind its call (`arm/lib1funcs.S`).
fn row(callee: &str) -> Option<Row> {
    let (bytes, is_signed, unit) = match callee.strip_prefix("__gnu_thumb1_case_")? {
        "uqi" => (1, false, 2),
        "sqi" => (1, true, 2),
        "uhi" => (2, false, 2),
        "shi" => (2, true, 2),
        "si" => (4, true, 1),
        _ => return None,
    };
    Some(Row { bytes, is_signed, unit })
}

/// Where the table of `tbb` or `tbh` begins that lies behind it, and its row.
fn behind(jump: &Instruction) -> Option<(u64, Row)> {
    let ([access], Flow::Jump) = (&jump.accesses[..], jump.flow) else { return None };
    let begin = u64::try_from(access.disp).ok()?;
    let is_of_it = access.base.is_none() && access.index.is_some() && access.width <= 2;
    let row = Row { bytes: access.width.into(), is_signed: false, unit: 2 };
    (is_of_it && begin == jump.address + 4).then_some((begin, row))
}

/// Reads the tables; calls of libgcc become jumps. Where each leads, by its address.
pub(super) fn read_tables(
    code: &Code,
    instructions: &mut [Instruction],
    callees: &BTreeMap<u64, String>,
) -> BTreeMap<u64, Vec<u64>> {
    let places: BTreeSet<u64> =
        instructions.iter().map(|instruction| instruction.address).collect();
    let mut cases = BTreeMap::new();
    for instruction in instructions {
        let is_call = matches!(instruction.flow, Flow::Call { .. });
        let of_call = || {
            let row = row(callees.get(&instruction.address)?)?;
            let end = instruction.address + u64::from(instruction.length);
            Some((end.next_multiple_of(row.bytes.max(2) as u64), row))
        };
        let table = if is_call { of_call() } else { behind(instruction) };
        let Some((begin, row)) = table else { continue };
        if code.mark(begin) != Some(Mark::Data) {
            continue;
        }
        let leads_to = targets(code, begin, row, &places);
        if leads_to.is_empty() {
            continue;
        }
        if is_call {
            instruction.flow = Flow::Jump;
            instruction.reads.push(Read { reg: Reg(0), bits: u64::MAX, role: Role::Index });
        }
        cases.insert(instruction.address, leads_to);
    }
    cases
}

/// Where the rows lead: as many as stand before the first place that one of them leads to.
fn targets(code: &Code, begin: u64, row: Row, places: &BTreeSet<u64>) -> Vec<u64> {
    let mut end = code.next_mark(begin).unwrap_or(code.end()).min(code.end());
    let (mut all, mut at) = (BTreeSet::new(), begin);
    while at + row.bytes as u64 <= end {
        let from = (at - code.base) as usize;
        let bytes = &code.bytes[from..from + row.bytes];
        let number = bytes.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let above = 64 - 8 * row.bytes as u32;
        let number = if row.is_signed { (number << above) as i64 >> above } else { number as i64 };
        let target = begin.wrapping_add_signed(number * row.unit);
        if places.contains(&target) {
            all.insert(target);
            if target > at {
                end = end.min(target);
            }
        }
        at += row.bytes as u64;
    }
    all.into_iter().collect()
}

/// ARMv6-M has no long branch but `bl`: compilers jump with it inside a function, whose own way
/// back is on the stack then. Code that returns through the link may as well call a part of itself,
/// and a part that keeps the link is called.
pub(super) fn far_jumps(symbol: &Symbol, instructions: &mut [Instruction]) {
    let link = symbol.isa.conventions().link;
    let reads_link =
        |instruction: &Instruction| instruction.reads.iter().any(|read| Some(read.reg) == link);
    let through_link =
        |instruction: &Instruction| instruction.flow == Flow::Return && reads_link(instruction);
    if symbol.isa != Isa::T32 || instructions.iter().any(through_link) {
        return;
    }
    let inside = symbol.address + 1..symbol.address + symbol.size;
    let target = |instruction: &Instruction| match instruction.flow {
        Flow::Call { target: Some(target) } => {
            Some(target).filter(|target| inside.contains(target))
        }
        _ => None,
    };
    let keeps_link = |target: u64| {
        let begin = instructions.partition_point(|instruction| instruction.address < target);
        let mut part = instructions[begin..].iter();
        let last = part.position(|instruction| instruction.flow != Flow::Next);
        let end = last.map_or(instructions.len(), |last| begin + last);
        instructions[begin..end].iter().any(reads_link)
    };
    let jumps: Vec<(usize, u64)> = instructions
        .iter()
        .enumerate()
        .filter_map(|(idx, instruction)| Some((idx, target(instruction)?)))
        .filter(|(_, target)| !keeps_link(*target))
        .collect();
    for (idx, target) in jumps {
        let is_conditional = instructions[idx].is_guarded();
        instructions[idx].flow = Flow::Branch { target, is_conditional };
    }
}
