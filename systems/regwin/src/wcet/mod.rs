//! Bounds of what the runtime does with windows: the longest and the shortest way from the entry of
//! a switch, trap or interrupt to its end, over all paths of a linked image.
//!
//! Measuring gives the longest time that was seen. A user who must prove that a deadline holds
//! needs one that cannot be exceeded, of the image that flies. So the words of the image are
//! walked:
//!
//! 1. **Entries and ends.** The runtime's symbols and its trap table say where a switch, a window
//!    trap or an interrupt begins, and each has its own end: a return, the call of the handler, the
//!    first instruction with traps on ([`routines`]).
//! 2. **The graph.** From the entry all ways are followed, instruction by instruction. A state is
//!    where it is, what comes next (the delay slot), whether traps are on, and where open calls
//!    return, so that a call in two places is not one way in and two out. A jump whose target is
//!    not known is an error, and so is a loop without a bound. Chains become one block with the sum
//!    of their cycles.
//! 3. **The longest way.** How often each edge is taken is a variable. What flows into a block
//!    flows out; one unit enters at the top and leaves at an end; a loop's body is executed at most
//!    as often as its source says (`RUNS_AT_MOST`, by the number of windows). The most, and the
//!    least, of the sum of cycles under these is a linear program (implicit path enumeration; Li
//!    and Malik, 1995). Times that are not whole numbers are allowed, which can only make the most
//!    larger: never below the longest path.
//! 4. **Traps on the way.** A `save` or `restore` while traps are on may itself overflow or
//!    underflow: the bound of that trap, known by then, is added to it.
//!
//! The same walk of the image, watched in a run ([`watch`]), says how near the longest time seen
//! comes. How long interrupts stay masked is [`masked`]'s question.

pub mod masked;

use std::collections::{BTreeMap, HashSet};

use machine::in_order::Core;
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome};
use rustc_hash::FxHashMap;

use crate::code::{self, BadImage, Code, VECTOR_BYTES};
use crate::qemu::Watch;
use crate::sparc;

/// A routine whose cycles are bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Routine {
    /// What happens, in words.
    pub name: &'static str,
    /// While one thread has all windows (adaptive).
    pub alone: bool,
    /// With traps off from its entry to its end.
    pub has_traps_off: bool,
    start: u32,
    end: End,
    is_vector: bool,
}

/// Where a routine ends, besides at its return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Return,
    At(u32),
    /// As soon as traps are on.
    TrapsOn,
}

/// Cycles of a routine: never below, never above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bound {
    pub least: u64,
    pub most: u64,
}

/// Symbols without which an image is none of the runtime.
const NEEDED: [&str; 4] = ["trap_table", "thr_leave", "bad_trap", "window_last"];
const TRAPS: [(&str, u32); 4] = [
    ("window overflow", 5),
    ("window underflow", 6),
    ("flush (ta 3)", 0x83),
    ("floating point, first use", 4),
];
const LEVEL_1: u32 = 0x11;

/// The routines of an image.
///
/// Errors: a symbol of the runtime is missing.
pub fn routines(code: &Code) -> Result<Vec<Routine>, BadImage> {
    if let Some(name) = NEEDED.iter().find(|it| code.try_address(it).is_none()) {
        return Err(BadImage(format!("no symbol {name}")));
    }
    let mut all = Vec::new();
    let mut add = |name, alone, has_traps_off, start, end, is_vector| {
        all.push(Routine { name, alone, has_traps_off, start, end, is_vector });
    };
    let (leave, flush) = (code.switch("leave"), code.switch("flush"));
    add(
        if leave == flush { "switch" } else { "switch, windows stay" },
        false,
        false,
        leave,
        End::Return,
        false,
    );
    if leave != flush {
        add("switch, windows stored", false, false, flush, End::Return, false);
    }
    add("switch at a thread's end", false, false, code.address("thr_leave"), End::Return, false);
    for (table, alone) in [("trap_table_lone", true), ("trap_table", false)] {
        let Some(table) = code.try_address(table) else { continue };
        for (name, kind) in TRAPS {
            if kind != 4 || code.try_address("fpu_disabled").is_some() {
                add(name, alone, true, table + kind * VECTOR_BYTES, End::Return, true);
            }
        }
        if let Some(handler) = code.try_address("irq_dispatch") {
            let start = table + LEVEL_1 * VECTOR_BYTES;
            add("interrupt, to its handler", alone, false, start, End::At(handler), true);
            add("interrupt, until traps are on", alone, true, start, End::TrapsOn, true);
        }
    }
    if let Some(ends) = code.try_address("interrupt_ends") {
        add("interrupt, its return", false, true, ends, End::Return, false);
    }
    Ok(all)
}

/// Bounds of all routines of an image, for each of these numbers of windows.
///
/// Errors: the image is none of the runtime, or its control flow cannot be followed: where.
pub fn bounds(
    code: &Code,
    core: &Core,
    windows: &[u32],
) -> Result<Vec<(Routine, Vec<Bound>)>, BadImage> {
    let all = routines(code)?;
    let mut done: Vec<(Routine, Vec<Bound>)> = Vec::new();
    for routine in all {
        let graph = Graph::of(code, core, &routine)?.joined();
        // A save or restore of an interrupt that is on its way may trap like any other.
        let trap = |name: &str, idx: usize| {
            let it = done.iter().find(|(it, _)| it.name == name && it.alone == routine.alone);
            it.map_or(0, |(_, bounds)| bounds[idx].most)
        };
        let of = |(idx, windows): (usize, &u32)| {
            graph.bound(*windows, [trap("window overflow", idx), trap("window underflow", idx)])
        };
        let bounds = windows.iter().enumerate().map(of).collect::<Result<_, _>>()?;
        done.push((routine, bounds));
    }
    Ok(done)
}

/// How a run is watched for the longest time that a routine takes in it.
///
/// Errors: as for [`bounds`].
pub fn watch(code: &Code, core: &Core, routine: &Routine) -> Result<Watch, BadImage> {
    let is_interrupt = routine.is_vector && routine.end != End::Return;
    let levels = (1..14).map(|idx| routine.start + idx * VECTOR_BYTES).take(if is_interrupt {
        13
    } else {
        0
    });
    let begins: Vec<u32> = std::iter::once(routine.start).chain(levels).collect();
    if let End::At(end) = routine.end {
        return Ok(Watch { begins, ends: vec![end], words: None });
    }
    let mut words: HashSet<u32> = Graph::of(code, core, routine)?.addresses.into_iter().collect();
    for table in
        ["registers_read", "registers_written"].iter().filter_map(|word| code.try_address(word))
    {
        words.extend((table..table + 256).step_by(4));
    }
    if is_interrupt {
        words.extend(
            begins
                .iter()
                .flat_map(|begin| (0..VECTOR_BYTES).step_by(4).map(move |word| begin + word)),
        );
    }
    let ends = routines(code)?
        .into_iter()
        .map(|routine| routine.start)
        .filter(|start| !begins.contains(start))
        .collect();
    Ok(Watch { begins, ends, words: Some(words) })
}

/// Before an instruction: its address, the next one's, whether traps are on, and
/// where open calls return.
type State = (u32, u32, bool, Vec<u32>);

const OUTSIDE: u32 = u32::MAX;

/// Instructions that follow each other on every way.
#[derive(Debug, Default)]
struct Block {
    cycles: u64,
    /// Saves and restores that may trap.
    traps: [u32; 2],
    /// Loop bounds of it, as positions in the image's list.
    loops: Vec<usize>,
    next: Vec<usize>,
    ends: bool,
}

/// Variables with their factors.
type Sum = Vec<(microlp::Variable, f64)>;

/// The control flow of a routine; block 0 is its entry.
#[derive(Debug)]
struct Graph<'a> {
    blocks: Vec<Block>,
    /// Of each block's first instruction.
    addresses: Vec<u32>,
    code: &'a Code,
}

impl<'a> Graph<'a> {
    fn of(code: &'a Code, core: &Core, routine: &Routine) -> Result<Graph<'a>, BadImage> {
        let start: State = (routine.start, routine.start + 4, !routine.is_vector, Vec::new());
        let mut numbers: FxHashMap<State, usize> = FxHashMap::from_iter([(start.clone(), 0)]);
        let mut blocks: Vec<Block> = Vec::new();
        let mut left = vec![start];
        let mut addresses = Vec::new();
        while let Some(state) = left.pop() {
            let idx = numbers[&state];
            if blocks.len() <= idx {
                blocks.resize_with(idx + 1, Block::default);
                addresses.resize(idx + 1, 0);
            }
            addresses[idx] = state.0;
            let is_over = match routine.end {
                End::Return => false,
                End::At(at) => state.0 == at,
                End::TrapsOn => state.2,
            };
            if state.0 == OUTSIDE || is_over {
                blocks[idx].ends = true;
                continue;
            }
            let word = word_at(code, state.0)?;
            let step = PathStep::of(code, core, &state, word)?;
            let block = &mut blocks[idx];
            block.cycles = step.cycles;
            if idx == 0 && routine.is_vector {
                block.cycles += u64::from(core.trap_cycles.unwrap_or(0));
            }
            let may_trap = state.2 && matches!(routine.end, End::At(_));
            block.traps = [sparc::is_save(word), sparc::is_restore(word)]
                .map(|found| u32::from(found && may_trap));
            block.loops =
                (0..code.loops.len()).filter(|idx| code.loops[*idx].address == state.0).collect();
            for next in step.next {
                let number = numbers.len();
                let number = *numbers.entry(next.clone()).or_insert_with(|| {
                    left.push(next);
                    number
                });
                blocks[idx].next.push(number);
            }
            blocks.resize_with(numbers.len(), Block::default);
            addresses.resize(numbers.len(), 0);
        }
        let graph = Graph { blocks, addresses, code };
        if let Some(at) = graph.endless().map(|endless| graph.addresses[endless]) {
            let place = code.place(at);
            return Err(BadImage(format!(
                "the loop at {place} ({at:#x}) has no bound: RUNS_AT_MOST of window.h gives it one"
            )));
        }
        Ok(graph)
    }

    /// A block of a cycle in which no block has a bound.
    fn endless(&self) -> Option<usize> {
        // Depth first; 1: on the way, 2: done.
        let mut seen = vec![0u8; self.blocks.len()];
        let mut way = vec![(0, 0)];
        while let Some((idx, at)) = way.pop() {
            seen[idx] = 1;
            let block = &self.blocks[idx];
            let nexts: &[usize] = if block.loops.is_empty() { &block.next } else { &[] };
            match nexts.get(at) {
                Some(next) => {
                    way.push((idx, at + 1));
                    match seen[*next] {
                        0 => way.push((*next, 0)),
                        1 => return Some(*next),
                        _ => {}
                    }
                }
                None => seen[idx] = 2,
            }
            // What lies after a bounded block begins a search of its own.
            if way.is_empty() {
                let is_new = |number: &&usize| seen[**number] == 0;
                let behind = self
                    .blocks
                    .iter()
                    .filter(|block| !block.loops.is_empty())
                    .flat_map(|block| &block.next)
                    .find(is_new);
                way.extend(behind.map(|behind| (*behind, 0)));
            }
        }
        None
    }

    /// The same with chains of blocks made one.
    fn joined(mut self) -> Graph<'a> {
        let mut n_before = vec![0; self.blocks.len()];
        n_before[0] = 1;
        for next in self.blocks.iter().flat_map(|block| &block.next) {
            n_before[*next] += 1;
        }
        let is_joined = |blocks: &[Block], idx: usize| {
            blocks[idx].next.len() == 1 && n_before[blocks[idx].next[0]] == 1
        };
        let reached: Vec<usize> = (0..self.blocks.len()).filter(|idx| n_before[*idx] > 0).collect();
        for idx in reached {
            while is_joined(&self.blocks, idx) && self.blocks[idx].next[0] != idx {
                let behind = self.blocks[idx].next[0];
                let next = std::mem::take(&mut self.blocks[behind]);
                let block = &mut self.blocks[idx];
                block.cycles += next.cycles;
                block.traps = [0, 1].map(|number| block.traps[number] + next.traps[number]);
                block.loops.extend(next.loops);
                block.next = next.next;
                block.ends = next.ends;
            }
        }
        self
    }

    /// The most and the least cycles from the entry to an end, with so many windows, a trapping
    /// save and restore at most so long.
    fn bound(&self, windows: u32, trap: [u64; 2]) -> Result<Bound, BadImage> {
        let longest = |block: &Block| {
            block.cycles + u64::from(block.traps[0]) * trap[0] + u64::from(block.traps[1]) * trap[1]
        };
        let most = self.solve(windows, OptimizationDirection::Maximize, &longest)?;
        let least = self.solve(windows, OptimizationDirection::Minimize, &|it| it.cycles)?;
        // Sums of whole cycles: what is lost in floating point is far below the tolerance.
        Ok(Bound { least: (least - 1e-4).ceil() as u64, most: (most + 1e-4).floor() as u64 })
    }

    fn solve(
        &self,
        windows: u32,
        to: OptimizationDirection,
        cycles: &dyn Fn(&Block) -> u64,
    ) -> Result<f64, BadImage> {
        let mut problem = Problem::new(to);
        let mut flow: Vec<Sum> = vec![Vec::new(); self.blocks.len()];
        // By group, or alone; with the bound.
        let mut loops: BTreeMap<(u32, usize), (i32, Sum)> = BTreeMap::new();
        for (idx, block) in self.blocks.iter().enumerate() {
            // An end leads outside.
            for to in block.next.iter().copied().map(Some).chain(block.ends.then_some(None)) {
                let edge = problem.add_var(cycles(block) as f64, (0.0, f64::INFINITY));
                if to != Some(idx) {
                    flow[idx].push((edge, 1.0));
                    if let Some(to) = to {
                        flow[to].push((edge, -1.0));
                    }
                }
                for it in &block.loops {
                    let (group, most) =
                        (self.code.loops[*it].group, self.code.loops[*it].most(windows));
                    let key = (group, if group == 0 { *it } else { 0 });
                    loops.entry(key).or_insert((most, Vec::new())).1.push((edge, 1.0));
                }
            }
        }
        for (idx, sum) in flow.iter().enumerate().filter(|pair| !pair.1.is_empty()) {
            problem.add_constraint(
                sum.as_slice(),
                ComparisonOp::Eq,
                if idx == 0 { 1.0 } else { 0.0 },
            );
        }
        for (most, sum) in loops.values() {
            problem.add_constraint(sum.as_slice(), ComparisonOp::Le, f64::from(*most));
        }
        match problem.solve() {
            Ok(SolveOutcome::Solution(solution)) => Ok(solution.objective()),
            Ok(SolveOutcome::Interrupted(_)) => panic!("no limit of time is set"),
            Err(error) => {
                Err(BadImage(format!("{windows} windows: no way from an entry to an end: {error}")))
            }
        }
    }
}

/// What an instruction does to the control flow.
struct PathStep {
    cycles: u64,
    next: Vec<State>,
}

impl PathStep {
    fn of(code: &Code, core: &Core, state: &State, word: u32) -> Result<PathStep, BadImage> {
        let (pc, npc, traps, returns) = state;
        let to = |pc: u32, npc: u32| (pc, npc, *traps, returns.clone());
        let mut cycles = code::cycles(word, core);
        let next = match sparc::control(word, *pc) {
            sparc::Control::Branch { target, is_always, annuls } => {
                let past = if annuls {
                    to(npc.wrapping_add(4), npc.wrapping_add(8))
                } else {
                    to(*npc, npc.wrapping_add(4))
                };
                let taken =
                    if is_always && annuls { to(target, target + 4) } else { to(*npc, target) };
                if is_always { vec![taken] } else { vec![taken, past] }
            }
            sparc::Control::Never { annuls } if annuls => {
                vec![to(npc.wrapping_add(4), npc.wrapping_add(8))]
            }
            sparc::Control::Call { target } => {
                let mut returns = returns.clone();
                returns.push(pc + 8);
                vec![(*npc, target, *traps, returns)]
            }
            sparc::Control::Return => {
                let mut returns = returns.clone();
                let back = returns.pop().unwrap_or(OUTSIDE);
                vec![(*npc, back, *traps, returns)]
            }
            sparc::Control::Jump if sparc::is_trap_return(word_at(code, *npc)?) => {
                vec![to(*npc, OUTSIDE)]
            }
            // Into a table of two words for each register, which come back after the delay slot.
            sparc::Control::Table => {
                cycles += table_cycles(code, core).ok_or_else(|| {
                    BadImage(format!("a jump through a register at {}", code.place(*pc)))
                })?;
                vec![to(*npc, npc.wrapping_add(4))]
            }
            sparc::Control::Jump | sparc::Control::Trap => {
                return Err(BadImage(format!(
                    "where the instruction at {} ({pc:#x}) goes is not known",
                    code.place(*pc)
                )));
            }
            sparc::Control::TrapReturn => vec![to(OUTSIDE, OUTSIDE)],
            sparc::Control::SwitchTraps => {
                vec![(*npc, npc.wrapping_add(4), !traps, returns.clone())]
            }
            sparc::Control::Never { .. } | sparc::Control::Next => {
                vec![to(*npc, npc.wrapping_add(4))]
            }
        };
        // What ends the machine has no bound and needs none.
        let faults =
            ["stack_overflow", "bad_trap", "machine_stop"].map(|word| code.try_address(word));
        let is_fault = |at: u32| faults.contains(&Some(at));
        let next = next.into_iter().filter(|pair| !is_fault(pair.0) && !is_fault(pair.1)).collect();
        Ok(PathStep { cycles, next })
    }
}

fn word_at(code: &Code, at: u32) -> Result<u32, BadImage> {
    let idx = at.checked_sub(code.base).map(|number| number as usize / 4);
    let word = idx.and_then(|idx| code.words.get(idx));
    word.copied()
        .ok_or_else(|| BadImage(format!("a way leads to {at:#x}, which is outside the code")))
}

/// The dearest entry of the tables of registers; `None` if the image has none.
fn table_cycles(code: &Code, core: &Core) -> Option<u64> {
    let tables =
        ["registers_read", "registers_written"].iter().filter_map(|word| code.try_address(word));
    let entries = tables.flat_map(|table| (0..32).map(move |entry| table + 8 * entry));
    entries.map(|entry| code.cycles(entry..entry + 8, core)).max()
}
