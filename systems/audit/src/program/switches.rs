//! Where jumps lead: by a table, of which the [slice](crate::program::slice) of their target gives
//! each row, or in Thumb as far as no other instruction reaches.
//!
//! ```text
//! cmp r3, #3                   bl __gnu_thumb1_case_uqi    ARMv6-M has no `tbb`: libgcc jumps by r0
//! bhi default
//! tbb [pc, r3]
//! .byte 2, 9, 2, 14            .byte 2, 9, 2, 14           halfwords from here
//! ```
//!
//! A table is read or it is not: where a row leads elsewhere than to an instruction of the function,
//! nothing is known of the jump.

use std::collections::{BTreeMap, BTreeSet};

use crate::decode::Isa;
use crate::decode::code::{Flow, Instruction, Op, Read, Reg, Role};
use crate::program::addresses::jump_offset;
use crate::program::memory::Memory;
use crate::program::sections::{Code, Mark, Symbol};
use crate::program::slice::{Cases, Slice, Unknown, Ways};

/// Tables are read so often, with what was read before.
const ROUNDS_MAX: usize = 4;

/// A row of a table: of so many bytes.
#[derive(Clone, Copy)]
pub(super) struct Row {
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

/// The table behind a call of libgcc: where it begins, and its rows.
pub(super) type Behind = (u64, Row);

fn behind(call: &Instruction, callee: &str) -> Option<Behind> {
    let row = row(callee)?;
    let end = call.address + u64::from(call.length);
    Some((end.next_multiple_of(row.bytes.max(2) as u64), row))
}

/// Reads the tables; calls of libgcc become jumps. Where each leads, by its address.
pub(super) fn read_tables(
    code: &Code,
    memory: &Memory,
    isa: Isa,
    instructions: &mut [Instruction],
    (callees, relocated): (&BTreeMap<u64, String>, &BTreeSet<u64>),
) -> Cases {
    let of_libgcc = |instruction: &Instruction| match instruction.flow {
        Flow::Call { .. } => behind(instruction, callees.get(&instruction.address)?),
        _ => None,
    };
    let is_jump = |instruction: &Instruction| {
        instruction.flow == Flow::Jump && !callees.contains_key(&instruction.address)
    };
    let jumps: Vec<(usize, Option<Behind>)> = instructions
        .iter()
        .enumerate()
        .map(|(idx, instruction)| (idx, is_jump(instruction), of_libgcc(instruction)))
        .filter_map(|(idx, is_jump, behind)| (is_jump || behind.is_some()).then_some((idx, behind)))
        .collect();
    if jumps.is_empty() {
        return Cases::new();
    }
    let mut linked = instructions.to_vec();
    jumps.iter().for_each(|(idx, _)| linked[*idx].flow = Flow::Jump);
    linked.iter_mut().for_each(|instruction| link(instruction, memory, isa, relocated));
    let places: BTreeSet<u64> = linked.iter().map(|instruction| instruction.address).collect();
    let is_place = |to: u64| places.contains(&to);
    // A case of one table may stand before the jump by another: what was taken for the only way there
    // is none then.
    let (mut cases, mut is_settled) = (Cases::new(), false);
    for _ in 0..ROUNDS_MAX {
        let ways = Ways::of(isa, &linked, memory, &cases);
        let read = |(idx, behind): &(usize, Option<Behind>)| {
            let leads_to = leads_to(&ways, *idx, *behind, Some(code), is_place)?;
            Some((linked[*idx].address, leads_to.into_iter().collect()))
        };
        let next: Cases = jumps.iter().filter_map(read).collect();
        is_settled = next == cases;
        if is_settled {
            break;
        }
        cases = next;
    }
    if !is_settled {
        cases.clear();
    }
    for (idx, _) in jumps.iter().filter(|(_, behind)| behind.is_some()) {
        let call = &mut instructions[*idx];
        if cases.contains_key(&call.address) {
            call.flow = Flow::Jump;
            call.reads.push(Read { reg: Reg(0), bits: u64::MAX, role: Role::Index });
        }
    }
    cases
}

/// Takes the numbers of an instruction of an object file from what a linker would write.
fn link(instruction: &mut Instruction, memory: &Memory, isa: Isa, relocated: &BTreeSet<u64>) {
    let here = instruction.address..instruction.address + u64::from(instruction.length).max(1);
    if relocated.range(here).next().is_none() {
        return;
    }
    let bytes = memory.bytes(instruction.address).unwrap_or_default();
    if let Ok(linked) = isa.decode(instruction.address, bytes) {
        (instruction.operation, instruction.accesses) = (linked.operation, linked.accesses);
    }
}

/// Where a computed jump leads, if its table is understood: places alone.
pub(super) fn leads_to(
    ways: &Ways<'_>,
    jump: usize,
    behind: Option<Behind>,
    marked: Option<&Code>,
    is_place: impl Fn(u64) -> bool,
) -> Option<BTreeSet<u64>> {
    // SPARC has delay slots.
    if ways.isa == Isa::Sparc {
        return None;
    }
    let table = ByTable { slice: Slice::before(ways, jump), jump: &ways.code[jump], behind };
    let index = table.target(ways, None)?.err()?;
    let target = |number: u64| table.target(ways, Some((index, number)))?.ok();
    if let Some(limit) = table.slice.limit(index) {
        let all: Option<BTreeSet<u64>> =
            (0..=limit).map(|number| target(number).filter(|to| is_place(*to))).collect();
        if all.is_some() || table.slice.is_compared(index) {
            return all;
        }
    }
    // As many rows as stand before the first place that one of them leads to.
    let code = marked?;
    let (begin, n_bytes) = table.row(Some((index, 0)))?;
    if code.mark(begin) != Some(Mark::Data) {
        return None;
    }
    let mut end = code.next_mark(begin).unwrap_or(code.end()).min(code.end());
    let mut all = BTreeSet::new();
    for number in 0.. {
        let (at, _) = table.row(Some((index, number)))?;
        if at != begin + number * n_bytes || at + n_bytes > end {
            break;
        }
        let to = target(number)?;
        // A byte may fill the table up.
        let is_filler = n_bytes == 1 && at + 1 == end;
        if !is_place(to) && !is_filler {
            return None;
        }
        all.extend(Some(to).filter(|to| is_place(*to)));
        end = if to > at { end.min(to) } else { end };
    }
    Some(all).filter(|all| !all.is_empty())
}

/// A jump whose target follows from an index.
struct ByTable<'a> {
    slice: Slice<'a>,
    jump: &'a Instruction,
    behind: Option<Behind>,
}

impl ByTable<'_> {
    /// The address of the row for this index, and its bytes, where the jump itself reads it.
    fn row(&self, index: Option<(Unknown, u64)>) -> Option<(u64, u64)> {
        if let Some((begin, row)) = self.behind {
            let number = self.slice.register(0, Reg(0), index).ok()?;
            return Some((begin + number * row.bytes as u64, row.bytes as u64));
        }
        let [access] = &self.jump.accesses[..] else { return None };
        Some((self.slice.address(0, access, index)?.ok()?, access.width.into()))
    }

    /// Where the jump leads for this index; without one what would have to be known.
    fn target(
        &self,
        ways: &Ways<'_>,
        index: Option<(Unknown, u64)>,
    ) -> Option<Result<u64, Unknown>> {
        ways.begin_row();
        let number = |address: u64, n_bytes: u64| ways.memory.number(address, n_bytes as u8);
        let target = if let Some((begin, row)) = self.behind {
            if let Err(unknown) = self.slice.register(0, Reg(0), index) {
                return Some(Err(unknown));
            }
            let number = number(self.row(index)?.0, row.bytes as u64)?;
            let above = 64 - 8 * row.bytes as u32;
            let number =
                if row.is_signed { (number << above) as i64 >> above } else { number as i64 };
            begin.wrapping_add_signed(number * row.unit)
        } else if let [access] = &self.jump.accesses[..] {
            if let Err(unknown) = self.slice.address(0, access, index)? {
                return Some(Err(unknown));
            }
            let (at, n_bytes) = self.row(index)?;
            match n_bytes {
                // `tbb` and `tbh` count halfwords.
                1 | 2 => self.jump.address + 4 + 2 * number(at, n_bytes)?,
                _ => number(at, n_bytes)?,
            }
        } else if let Some(made) =
            self.jump.operation.filter(|made| !matches!(made.op, Op::Load { .. }))
        {
            match self.slice.operation(0, made, index)? {
                Ok(target) => target,
                unknown => return Some(unknown),
            }
        } else {
            let read = self.jump.reads.iter().find(|read| read.role == Role::Target)?;
            match self.slice.register(0, read.reg, index) {
                Ok(target) => target.wrapping_add_signed(jump_offset(ways.isa, self.jump)),
                unknown => return Some(unknown),
            }
        };
        // The lowest bit names the set, or is cut.
        let of_code =
            if matches!(ways.isa, Isa::T32 | Isa::Riscv32 | Isa::Riscv64) { !1 } else { !0 };
        Some(Ok(self.slice.cut(target) & of_code))
    }
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
