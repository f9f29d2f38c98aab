//! Bounds of how long interrupts are masked: from each call of `irq_lock` on all ways to the return
//! of the `irq_unlock` that belongs to it, through calls and back into callers.
//!
//! ```text
//! irq_lock ---> irq_unlock                                 a section that ends itself
//! irq_lock ---> switch | ---> irq_unlock                   another thread ends it: two parts, whose longest add up
//! ```
//!
//! Calls count the depth: the section is over when there have been as many calls of `irq_unlock` as
//! of `irq_lock`. What it takes is a linear program as for the other routines, but a loop is
//! bounded each time it is entered (`THR_LOOP`), not once in all.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use machine::in_order::Core;
use microlp::{ComparisonOp, Error, OptimizationDirection, Problem, SolveOutcome, Variable};
use rustc_hash::FxHashMap;

use super::{Bound, OUTSIDE, PathStep, Routine, State, word_at};
use crate::code::{Code, VECTOR_BYTES};
use crate::qemu::Watch;
use crate::sparc::{self, Control};

/// A part of the code during which interrupts are masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The function in which it begins.
    pub function: String,
    /// The call of `irq_lock`, or the instruction after the switch to the thread
    /// that is masked meanwhile.
    pub address: u32,
    /// It begins when a thread runs again, or for the first time.
    pub after_switch: bool,
    /// For each number of windows, if it has bounds.
    pub ways: Vec<Ways>,
    /// Why it has none.
    pub unbounded: Vec<String>,
}

/// The two ways in which a section ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ways {
    pub to_unlock: Option<Bound>,
    /// Another thread runs; the switch is in it.
    pub to_switch: Option<Bound>,
}

impl Ways {
    /// Whichever way it ends; `None` if every way ends the machine.
    pub fn any(&self) -> Option<Bound> {
        let both = self.to_unlock.into_iter().chain(self.to_switch);
        both.reduce(|one, other| Bound {
            least: one.least.min(other.least),
            most: one.most.max(other.most),
        })
    }
}

/// How often a loop repeats at most each time it is entered, given by the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    pub address: u32,
    pub most: u32,
}

/// More ways than this are not followed.
const MOST_PLACES: usize = 200_000;

/// All sections of an image; none without interrupts. `routines` are the bounds of its switches and
/// traps for the same windows.
///
/// Errors: a given loop is none of any section: its place.
pub fn sections(
    code: &Code,
    core: &Core,
    routines: &[(Routine, Vec<Bound>)],
    given: &[Given],
) -> Result<Vec<Section>, Given> {
    let Some(image) = MaskedImage::of(code, core, routines, given) else { return Ok(Vec::new()) };
    let (found, headers) = image.all();
    match given.iter().find(|it| !headers.contains(&it.address)) {
        Some(unknown) => Err(*unknown),
        None => Ok(found),
    }
}

/// How a run is watched for the longest time that a section takes in it: until it is unmasked,
/// until a thread is switched to, or until the interrupt comes that waited.
pub fn watch(code: &Code, core: &Core, section: &Section) -> Watch {
    let image = MaskedImage::of(code, core, &[], &[]).expect("it has sections");
    let starts = if section.after_switch {
        image.resumed().remove(&section.address).unwrap_or_default()
    } else {
        image.locked(section.address)
    };
    let explored = image.explore(starts.into_iter().collect());
    let tables = ["trap_table", "trap_table_lone"].iter().filter_map(|word| code.try_address(word));
    let vectors =
        tables.flat_map(|table| (0x11..0x20).map(move |kind| table + kind * VECTOR_BYTES));
    let ends =
        explored.unlocked_at.iter().copied().chain(image.switches.iter().copied()).chain(vectors);
    Watch { begins: vec![section.address], ends: ends.collect(), words: None }
}

/// Before an instruction: as elsewhere, and how many calls of `irq_unlock` are due.
type Place = (State, u32);

/// How a way ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MaskedEnd {
    Unlock,
    Switch,
}

/// Traps that an instruction may take, with bounds of their own.
const TRAPS: [&str; 3] = ["window overflow", "window underflow", "flush (ta 3)"];

/// What is known of an image before its sections are looked at.
struct MaskedImage<'a> {
    code: &'a Code,
    core: &'a Core,
    given: &'a [Given],
    lock: u32,
    unlock: u32,
    switches: Vec<u32>,
    /// By the function called: the calls.
    calls: BTreeMap<u32, Vec<u32>>,
    /// The longest of each of `TRAPS`, by windows; then a first use of floating
    /// point, and a switch.
    traps: Vec<[u64; 3]>,
    float: Vec<u64>,
    switch: Vec<Bound>,
}

/// Instructions that follow each other on every way.
#[derive(Debug, Default)]
struct MaskedBlock {
    address: u32,
    cycles: u64,
    traps: [u32; 3],
    /// Of which sums it is a part, with what factor: bodies less the most of entries.
    marks: Vec<(usize, f64)>,
    next: Vec<usize>,
    end: Option<MaskedEnd>,
}

/// The ways of a section; block 0 comes before all its beginnings.
#[derive(Debug, Default)]
struct Explored {
    blocks: Vec<MaskedBlock>,
    unlocked_at: BTreeSet<u32>,
    /// Where threads go on that are suspended in it.
    resumes: BTreeSet<Place>,
    has_floats: bool,
    unbounded: BTreeSet<String>,
}

impl<'a> MaskedImage<'a> {
    fn of(
        code: &'a Code,
        core: &'a Core,
        routines: &[(Routine, Vec<Bound>)],
        given: &'a [Given],
    ) -> Option<MaskedImage<'a>> {
        let (lock, unlock) = (code.try_address("irq_lock")?, code.try_address("irq_unlock")?);
        let switches = vec![code.switch("leave"), code.switch("flush"), code.address("thr_leave")];
        let mut calls: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (idx, word) in code.words.iter().enumerate() {
            let pc = code.address_of(idx);
            if let Control::Call { target } = sparc::control(*word, pc) {
                calls.entry(target).or_default().push(pc);
            }
        }
        let n_windows = routines.first().map_or(0, |routine| routine.1.len());
        let longest = |is: &dyn Fn(&str) -> bool, idx: usize| {
            let all =
                routines.iter().filter(|routine| is(routine.0.name)).map(|routine| routine.1[idx]);
            all.reduce(|one, other| Bound {
                least: one.least.min(other.least),
                most: one.most.max(other.most),
            })
            .unwrap_or_default()
        };
        let traps = (0..n_windows)
            .map(|idx| TRAPS.map(|name| longest(&|it| it == name, idx).most))
            .collect();
        let float = (0..n_windows)
            .map(|idx| longest(&|it| it == "floating point, first use", idx).most)
            .collect();
        let switch =
            (0..n_windows).map(|idx| longest(&|text| text.starts_with("switch"), idx)).collect();
        Some(MaskedImage { code, core, given, lock, unlock, switches, calls, traps, float, switch })
    }

    /// All sections, and where their loops begin.
    fn all(&self) -> (Vec<Section>, HashSet<u32>) {
        let mut headers = HashSet::new();
        let mut found = Vec::new();
        let sites = self.calls.get(&self.lock).cloned().unwrap_or_default();
        let locked = sites.into_iter().map(|site| (site, false, self.locked(site)));
        let resumed = self.resumed().into_iter().map(|(address, starts)| (address, true, starts));
        for (address, after_switch, starts) in locked.chain(resumed) {
            let explored = self.explore(starts.into_iter().collect());
            headers.extend(
                nest(&explored.blocks).iter().map(|found| explored.blocks[found.header].address),
            );
            let mut unbounded: Vec<String> = explored.unbounded.iter().cloned().collect();
            let mut ways = Vec::new();
            for idx in 0..self.switch.len() {
                match explored.ways(self, idx) {
                    Ok(it) if unbounded.is_empty() => ways.push(it),
                    Ok(_) => {}
                    Err(loops) => {
                        unbounded.extend(loops);
                        break;
                    }
                }
            }
            let function = self.code.function(address).1;
            found.push(Section {
                function,
                address,
                after_switch,
                ways: if unbounded.is_empty() { ways } else { Vec::new() },
                unbounded,
            });
        }
        for at in self
            .taken(self.lock)
            .into_iter()
            .filter(|found| self.code.function(*found).1 != "interrupt")
        {
            let function = self.code.function(at).1;
            let why = format!(
                "the address of irq_lock is taken at {}: what calls it is not known",
                self.shown(at)
            );
            found.push(Section {
                function,
                address: at,
                after_switch: false,
                ways: Vec::new(),
                unbounded: vec![why],
            });
        }
        (found, headers)
    }

    fn locked(&self, site: u32) -> BTreeSet<Place> {
        BTreeSet::from([((site, site + 4, true, Vec::new()), 0)])
    }

    /// Where threads go on, interrupts masked: by the address, with all that may be open then.
    fn resumed(&self) -> BTreeMap<u32, BTreeSet<Place>> {
        let mut all: BTreeMap<u32, BTreeSet<Place>> = BTreeMap::new();
        if let Some(entry) = self.code.try_address("thr_entry") {
            all.entry(entry).or_default().insert(((entry, entry + 4, true, Vec::new()), 1));
        }
        let sites = self.calls.get(&self.lock).into_iter().flatten();
        let mut new: Vec<Place> = sites
            .flat_map(|site| self.explore(self.locked(*site).into_iter().collect()).resumes)
            .collect();
        while let Some(place) = new.pop() {
            if all.entry(place.0.0).or_default().insert(place.clone()) {
                new.extend(self.explore(vec![place]).resumes);
            }
        }
        all
    }

    fn explore(&self, starts: Vec<Place>) -> Explored {
        let mut found = Explored { blocks: vec![MaskedBlock::default()], ..Explored::default() };
        let mut numbers: FxHashMap<Place, usize> = FxHashMap::default();
        let mut sums: FxHashMap<(Vec<u32>, u32), usize> = FxHashMap::default();
        let mut left: Vec<(Place, usize)> = Vec::new();
        let mut number =
            |place: Place, blocks: &mut Vec<MaskedBlock>, left: &mut Vec<(Place, usize)>| {
                *numbers.entry(place).or_insert_with_key(|place| {
                    blocks.push(MaskedBlock { address: place.0.0, ..MaskedBlock::default() });
                    left.push((place.clone(), blocks.len() - 1));
                    blocks.len() - 1
                })
            };
        for start in starts {
            let first = number(start, &mut found.blocks, &mut left);
            found.blocks[0].next.push(first);
        }
        while let Some((place, idx)) = left.pop() {
            let ((pc, _, traps, returns), depth) = &place;
            if *pc == OUTSIDE {
                found.blocks[idx].end = Some(MaskedEnd::Unlock);
                continue;
            }
            if self.switches.contains(pc) {
                found.blocks[idx].end = Some(MaskedEnd::Switch);
                // A thread that has ended does not go on.
                if Some(*pc) != self.code.try_address("thr_leave") {
                    match returns.split_last() {
                        Some((back, rest)) => {
                            found.resumes.insert(((*back, back + 4, true, rest.to_vec()), *depth));
                        }
                        None => {
                            found.unbounded.insert(format!(
                                "which thread goes on behind the switch at {} is not known",
                                self.shown(*pc)
                            ));
                        }
                    }
                }
                continue;
            }
            if found.blocks.len() > MOST_PLACES {
                found.unbounded.insert(format!("there are more than {MOST_PLACES} ways"));
                break;
            }
            if *depth == 0
                && *pc != self.lock
                && sparc::control(word_at(self.code, *pc).unwrap_or(0), *pc) == Control::Return
            {
                found.unlocked_at.extend(returns.last());
            }
            let word = match word_at(self.code, *pc) {
                Ok(word) => word,
                Err(error) => {
                    found.unbounded.insert(error.0);
                    continue;
                }
            };
            let (cycles, next) = match self.step(&place, word) {
                Ok(step) => step,
                Err(why) => {
                    found.unbounded.insert(why);
                    continue;
                }
            };
            if sparc::is_trap_return(word) {
                found.unlocked_at.insert(*pc);
            }
            found.has_floats |= sparc::is_float(word);
            let may_trap = |flag: bool| u32::from(flag && *traps);
            let traps = [
                may_trap(sparc::is_save(word)),
                may_trap(sparc::is_restore(word)),
                may_trap(is_flush(word)),
            ];
            for mark in self.code.marks.iter().filter(|mark| mark.address == *pc) {
                let n_sums = sums.len();
                let sum = *sums.entry((returns.clone(), mark.id)).or_insert(n_sums);
                found.blocks[idx].marks.push((sum, mark.most.map_or(1.0, |most| -f64::from(most))));
            }
            let next =
                next.into_iter().map(|it| number(it, &mut found.blocks, &mut left)).collect();
            let block = &mut found.blocks[idx];
            (block.cycles, block.traps, block.next) = (cycles, traps, next);
        }
        found.joined()
    }

    /// Cycles of an instruction, and what comes after it.
    fn step(&self, place: &Place, word: u32) -> Result<(u64, Vec<Place>), String> {
        let (state, depth) = place;
        let (pc, npc, traps, returns) = state;
        let plain = |state: &State| {
            let step = PathStep::of(self.code, self.core, state, word).map_err(|error| error.0)?;
            Ok((
                step.cycles,
                step.next.into_iter().map(|found| (found, *depth)).collect::<Vec<Place>>(),
            ))
        };
        let cycles = crate::code::cycles(word, self.core);
        // A function that returns a structure comes back one word later.
        let past = if is_structure_return(word) { 4 } else { 0 };
        match sparc::control(word, *pc) {
            Control::Call { target } => {
                let delay = word_at(self.code, *npc).map_err(|error| error.0)?;
                if sparc::is_restore(delay) || writes_o7(delay) {
                    return Err(format!(
                        "the call at {} does not come back: the flags of regwin.mk forbid that",
                        self.shown(*pc)
                    ));
                }
                if returns.contains(&(pc + 8)) {
                    return Err(format!(
                        "{} calls itself again, by the call at {}",
                        self.code.function(*pc).1,
                        self.shown(*pc)
                    ));
                }
                let depth =
                    depth + u32::from(target == self.lock) - u32::from(target == self.unlock);
                let (cycles, next) = plain(state)?;
                Ok((cycles, next.into_iter().map(|pair| (pair.0, depth)).collect()))
            }
            control if control == Control::Return || past > 0 => {
                if *depth == 0 {
                    return Ok((cycles, vec![((*npc, OUTSIDE, *traps, Vec::new()), 0)]));
                }
                if let Some((back, rest)) = returns.split_last() {
                    return Ok((
                        cycles,
                        vec![((*npc, back + past, *traps, rest.to_vec()), *depth)],
                    ));
                }
                let (start, name) = self.code.function(*pc);
                if let Some(at) = self.taken(start).first() {
                    let at = self.shown(*at);
                    return Err(format!(
                        "{name} returns with interrupts masked, and its address is taken at {at}: its callers are not known"
                    ));
                }
                let calls = self.calls.get(&start).map(Vec::as_slice).unwrap_or_default();
                if calls.is_empty() {
                    return Err(format!(
                        "{name} returns with interrupts masked, and nothing calls it: its callers are not known"
                    ));
                }
                Ok((
                    cycles,
                    calls
                        .iter()
                        .map(|call| ((*npc, call + 8 + past, *traps, Vec::new()), *depth))
                        .collect(),
                ))
            }
            Control::Jump if word_at(self.code, *npc).is_ok_and(sparc::is_trap_return) => {
                plain(state)
            }
            Control::Jump | Control::Table => {
                let what = if word >> 25 & 31 == 15 { "call" } else { "jump" };
                Err(format!("where the computed {what} at {} goes is not known", self.shown(*pc)))
            }
            Control::Trap if is_flush(word) => {
                Ok((cycles, vec![((*npc, npc.wrapping_add(4), *traps, returns.clone()), *depth)]))
            }
            Control::Trap => Err(format!("what the trap at {} does is not known", self.shown(*pc))),
            _ => plain(state),
        }
    }

    /// Where the address of a function is made or kept: in code, or in the data
    /// (the function itself then).
    fn taken(&self, function: u32) -> Vec<u32> {
        let mut at: Vec<u32> =
            self.code.data.contains(&function).then_some(function).into_iter().collect();
        let words = &self.code.words;
        for (idx, word) in words.iter().enumerate().filter(|pair| {
            *pair.1 >> 30 == 0 && *pair.1 >> 22 & 7 == 4 && *pair.1 << 10 == function & !1023
        }) {
            let register = word >> 25 & 31;
            // `add`, `or` or `jmpl` of the register and the low bits.
            let adds = |number: &u32| {
                let makes = *number >> 30 == 2 && matches!(*number >> 19 & 63, 0x00 | 0x02 | 0x38);
                makes
                    && *number >> 14 & 31 == register
                    && *number >> 13 & 1 == 1
                    && *number & 0x1fff == function & 1023
            };
            // Also where the low bits are none: what makes the address does not know that before it
            // is linked. The high bits alone are those of all that lies in the same kilobyte, such
            // as a table.
            if words[idx..words.len().min(idx + 64)].iter().any(adds) {
                at.push(self.code.address_of(idx));
            }
        }
        at
    }

    fn shown(&self, at: u32) -> String {
        format!("{} ({at:#x})", self.code.place(at))
    }
}

fn is_flush(word: u32) -> bool {
    word == 0x91d0_2003
}

fn is_structure_return(word: u32) -> bool {
    word & !(31 << 14) == 0x81c0_200c && matches!(word >> 14 & 31, 15 | 31)
}

fn writes_o7(word: u32) -> bool {
    word >> 30 == 2 && word >> 25 & 31 == 15
}

impl Explored {
    /// The same with chains of blocks made one.
    fn joined(mut self) -> Explored {
        let mut n_before = vec![0; self.blocks.len()];
        n_before[0] = 2;
        for next in self.blocks.iter().flat_map(|block| &block.next) {
            n_before[*next] += 1;
        }
        for idx in 1..self.blocks.len() {
            while let [next] = self.blocks[idx].next[..] {
                if n_before[next] != 1 || next == idx || n_before[idx] == 0 {
                    break;
                }
                let behind = std::mem::take(&mut self.blocks[next]);
                n_before[next] = 0;
                let block = &mut self.blocks[idx];
                block.cycles += behind.cycles;
                block.traps = [0, 1, 2].map(|number| block.traps[number] + behind.traps[number]);
                block.marks.extend(behind.marks);
                block.next = behind.next;
                block.end = behind.end;
            }
        }
        self
    }

    /// Bounds with the windows of this position; the loops that have no bound, if there are any.
    fn ways(&self, image: &MaskedImage<'_>, idx: usize) -> Result<Ways, Vec<String>> {
        let longest = |block: &MaskedBlock| {
            block.cycles
                + (0..3)
                    .map(|number| u64::from(block.traps[number]) * image.traps[idx][number])
                    .sum::<u64>()
        };
        let mut ways = Ways::default();
        for end in [MaskedEnd::Unlock, MaskedEnd::Switch] {
            if self.blocks.iter().all(|block| block.end != Some(end)) {
                continue;
            }
            let solve = |to, cycles: &dyn Fn(&MaskedBlock) -> u64| {
                let mut flow = Flow::new(self, to, cycles);
                flow.ends_at(self, end);
                flow.give(self, image.given);
                match flow.problem.solve() {
                    Ok(SolveOutcome::Solution(solution)) => Ok(Some(solution.objective())),
                    Ok(SolveOutcome::Interrupted(_)) => panic!("no limit of time is set"),
                    Err(Error::Infeasible) => Ok(None),
                    Err(Error::Unbounded) => Err(self.endless(image)),
                    Err(error) => Err(vec![format!("the longest way was not found: {error}")]),
                }
            };
            let (Some(most), Some(least)) = (
                solve(OptimizationDirection::Maximize, &longest)?,
                solve(OptimizationDirection::Minimize, &|it| it.cycles)?,
            ) else {
                continue;
            };
            // Sums of whole cycles: what is lost in floating point is far below the tolerance.
            let (mut least, mut most) =
                ((least - 1e-4).ceil() as u64, (most + 1e-4).floor() as u64);
            most += if self.has_floats { image.float[idx] } else { 0 };
            if end == MaskedEnd::Switch {
                (least, most) = (least + image.switch[idx].least, most + image.switch[idx].most);
            }
            let way = Some(Bound { least, most });
            *if end == MaskedEnd::Unlock { &mut ways.to_unlock } else { &mut ways.to_switch } = way;
        }
        Ok(ways)
    }

    /// The loops that can go on for ever, as far as is known.
    fn endless(&self, image: &MaskedImage<'_>) -> Vec<String> {
        let mut all = BTreeSet::new();
        for a_loop in nest(&self.blocks) {
            let mut flow = Flow::inside(self, &a_loop);
            flow.give(self, image.given);
            if let Ok(SolveOutcome::Solution(solution)) = flow.problem.solve()
                && solution.objective() > 1e-6
            {
                let at = image.shown(self.blocks[a_loop.header].address);
                all.insert(format!(
                    "the loop at {at} has no bound: THR_LOOP of regwin.h gives it one, or --loop"
                ));
            }
        }
        assert!(!all.is_empty(), "what has no longest way has a loop without a bound");
        all.into_iter().collect()
    }
}

/// A linear program of how often each edge is taken.
struct Flow {
    problem: Problem,
    /// From, to and how often.
    edges: Vec<(usize, usize, Variable)>,
    ends: Vec<(usize, Variable)>,
    inside: Option<HashSet<usize>>,
}

impl Flow {
    /// Of all ways from the entry.
    fn new(
        explored: &Explored,
        to: OptimizationDirection,
        cycles: &dyn Fn(&MaskedBlock) -> u64,
    ) -> Flow {
        let mut flow =
            Flow { problem: Problem::new(to), edges: Vec::new(), ends: Vec::new(), inside: None };
        for (idx, block) in explored.blocks.iter().enumerate() {
            for next in &block.next {
                let edge = flow.problem.add_var(cycles(block) as f64, (0.0, f64::INFINITY));
                flow.edges.push((idx, *next, edge));
            }
            if block.end.is_some() {
                flow.ends
                    .push((idx, flow.problem.add_var(cycles(block) as f64, (0.0, f64::INFINITY))));
            }
        }
        flow
    }

    /// What can go round in a loop through its first block, each edge once at most.
    fn inside(explored: &Explored, a_loop: &MaskedLoop) -> Flow {
        let problem = Problem::new(OptimizationDirection::Maximize);
        let inside = Some(a_loop.blocks.clone());
        let mut flow = Flow { problem, edges: Vec::new(), ends: Vec::new(), inside };
        let mut blocks: Vec<usize> = a_loop.blocks.iter().copied().collect();
        blocks.sort_unstable();
        for idx in blocks {
            for next in
                explored.blocks[idx].next.iter().filter(|block| a_loop.blocks.contains(block))
            {
                let gain = if *next == a_loop.header { 1.0 } else { 0.0 };
                flow.edges.push((idx, *next, flow.problem.add_var(gain, (0.0, 1.0))));
            }
        }
        flow.balance(explored, None);
        flow
    }

    fn ends_at(&mut self, explored: &Explored, end: MaskedEnd) {
        self.balance(explored, Some(end));
    }

    /// What flows in flows out, bodies run as often as their entries allow.
    fn balance(&mut self, explored: &Explored, end: Option<MaskedEnd>) {
        let mut sums: BTreeMap<usize, Vec<(Variable, f64)>> = BTreeMap::new();
        for (from, to, edge) in self.edges.iter().filter(|edge| edge.0 != edge.1) {
            sums.entry(*from).or_default().push((*edge, 1.0));
            sums.entry(*to).or_default().push((*edge, -1.0));
        }
        for (idx, edge) in &self.ends {
            sums.entry(*idx).or_default().push((*edge, 1.0));
            if explored.blocks[*idx].end != end {
                self.problem.add_constraint([(*edge, 1.0)].as_slice(), ComparisonOp::Eq, 0.0);
            }
        }
        for (idx, sum) in &sums {
            let from_outside = if *idx == 0 && self.inside.is_none() { 1.0 } else { 0.0 };
            self.problem.add_constraint(sum.as_slice(), ComparisonOp::Eq, from_outside);
        }
        let ends = self.ends.iter().map(|end| (end.0, end.1));
        let all: Vec<(usize, Variable)> =
            self.edges.iter().map(|edge| (edge.0, edge.2)).chain(ends).collect();
        let mut bodies: BTreeMap<usize, Vec<(Variable, f64)>> = BTreeMap::new();
        for (from, edge) in all {
            let mut factors: BTreeMap<usize, f64> = BTreeMap::new();
            for (sum, factor) in &explored.blocks[from].marks {
                *factors.entry(*sum).or_default() += factor;
            }
            for (sum, factor) in factors {
                bodies.entry(sum).or_default().push((edge, factor));
            }
        }
        for sum in bodies.values() {
            self.problem.add_constraint(sum.as_slice(), ComparisonOp::Le, 0.0);
        }
    }

    /// Bounds that were given: the first block of a loop once more than it repeats, each time that
    /// the loop is entered.
    fn give(&mut self, explored: &Explored, given: &[Given]) {
        if given.is_empty() {
            return;
        }
        for a_loop in nest(&explored.blocks) {
            let Some(it) =
                given.iter().find(|it| it.address == explored.blocks[a_loop.header].address)
            else {
                continue;
            };
            let mut sum: Vec<(Variable, f64)> = Vec::new();
            for (from, to, edge) in &self.edges {
                let (enters, runs) = (
                    a_loop.blocks.contains(to) && !a_loop.blocks.contains(from),
                    *to == a_loop.header,
                );
                let factor =
                    f64::from(u8::from(runs)) - if enters { f64::from(it.most) + 1.0 } else { 0.0 };
                if factor != 0.0 {
                    sum.push((*edge, factor));
                }
            }
            self.problem.add_constraint(sum.as_slice(), ComparisonOp::Le, 0.0);
        }
    }
}

/// A loop: the block that it is entered by, and all blocks.
struct MaskedLoop {
    header: usize,
    blocks: HashSet<usize>,
}

/// All loops, outer ones before those inside: what can reach itself, and then once more without
/// going through its first block.
fn nest(blocks: &[MaskedBlock]) -> Vec<MaskedLoop> {
    let mut all = Vec::new();
    let mut left: Vec<(Vec<usize>, Option<usize>)> = vec![((0..blocks.len()).collect(), None)];
    while let Some((among, without)) = left.pop() {
        let inside: HashSet<usize> =
            among.iter().copied().filter(|found| Some(*found) != without).collect();
        for component in components(blocks, &among, &inside) {
            let members: HashSet<usize> = component.iter().copied().collect();
            let is_loop = component.len() > 1 || blocks[component[0]].next.contains(&component[0]);
            if !is_loop {
                continue;
            }
            let outside = blocks.iter().enumerate().filter(|pair| !members.contains(&pair.0));
            let entered =
                outside.flat_map(|outside| &outside.1.next).filter(|word| members.contains(word));
            let header = *entered.min().expect("a loop is entered somewhere");
            left.push((component, Some(header)));
            all.push(MaskedLoop { header, blocks: members });
        }
    }
    all
}

/// Strongly connected components of some blocks (Tarjan 1972), without recursion.
fn components(blocks: &[MaskedBlock], among: &[usize], inside: &HashSet<usize>) -> Vec<Vec<usize>> {
    let mut order: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
    let mut on_stack: HashSet<usize> = HashSet::new();
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    for root in among.iter().filter(|word| inside.contains(word)) {
        if order.contains_key(root) {
            continue;
        }
        let mut way = vec![(*root, 0)];
        while let Some((idx, at)) = way.pop() {
            if at == 0 {
                order.insert(idx, (order.len(), order.len()));
                stack.push(idx);
                on_stack.insert(idx);
            }
            if let Some(next) = blocks[idx].next.get(at) {
                way.push((idx, at + 1));
                if !inside.contains(next) {
                } else if !order.contains_key(next) {
                    way.push((*next, 0));
                } else if on_stack.contains(next) {
                    let low = order[next].0.min(order[&idx].1);
                    order.get_mut(&idx).expect("it was seen").1 = low;
                }
                continue;
            }
            let (number, low) = order[&idx];
            if let Some((above, _)) = way.last() {
                let above = order.get_mut(above).expect("it was seen");
                above.1 = above.1.min(low);
            }
            if low == number {
                let from = stack.iter().rposition(|it| *it == idx).expect("it is on the stack");
                let component: Vec<usize> = stack.split_off(from);
                on_stack.retain(|on_stack| !component.contains(on_stack));
                found.push(component);
            }
        }
    }
    found
}
