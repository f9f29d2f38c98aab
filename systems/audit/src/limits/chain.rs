//! The longest chain of results on a path, and the longest that leads from a value to the same
//! value an iteration later.
//!
//! ```text
//! 1: vfmadd231sd (%rdi), %xmm1, %xmm0      xmm0 comes from the xmm0 of the iteration before:
//!    add $8, %rdi                          4 cycles an iteration; rdi from rdi: 1
//!    cmp %rsi, %rdi
//!    jne 1b
//! ```
//!
//! A result waits for those that it is made of, bit by bit as the decoder says, and for nothing
//! else: registers are renamed and branches predicted. A load waits for a store only where the two
//! addresses are one register's value and a constant each, and no store came between that could
//! have written there.
//!
//! Of a loop, many iterations are put one after the other. Any way in them from a result to the
//! same result `n` iterations later is a cycle of the dependences, and its cycles by `n` are a
//! bound whatever the rest does; the one that the last result waits for is the longest.

use std::collections::BTreeMap;

use crate::decode::Isa;
use crate::decode::code::{Access, Class, Flow, IndexForm, Instruction, Op, Out, Reg, Role, Value};
use crate::limits::work::{Waits, Work};

/// Iterations that are put one after the other, and instructions altogether.
const ITERATIONS: usize = 96;
const INSTRUCTIONS_MAX: usize = 40_000;

/// The longest chain, and how many cycles it takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chain {
    /// Cycles of the path; of a loop, of an iteration.
    pub cycles: f64,
    /// The instructions on it, as places in the path, in the order in which they are done.
    pub places: Vec<usize>,
    /// Iterations that it takes to come back to where it began; 0 on a path.
    pub iterations: u32,
}

/// A result: of an instruction of the path, and when it is there.
#[derive(Debug, Clone, Copy)]
struct Made {
    place: usize,
    iteration: usize,
    /// What of the instruction it is: the result, a moved base, what it stores.
    kind: MadeKind,
    ready: u32,
    /// What it waits for last.
    from: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MadeKind {
    Result,
    Base,
    Stored,
}

/// An address as the value of registers that nobody has changed since, and a distance.
type Address = (Option<(usize, i64)>, Option<(usize, i64, u8)>);

struct Walk<'a> {
    path: &'a [&'a Instruction],
    works: &'a [Work],
    isa: Isa,
    forwarding_cycles: u32,
    made: Vec<Made>,
    /// By register, the results that its bits are from.
    holds: BTreeMap<Reg, Vec<(u64, usize)>>,
    /// By register, a value that has a number, and how far from it.
    values: BTreeMap<Reg, (usize, i64)>,
    n_values: usize,
    /// What was stored, where, and how many bytes, the last at the end.
    stored: Vec<(Address, i64, i64, usize)>,
}

/// The longest chain of a path from its beginning to its end.
pub(super) fn of_path(isa: Isa, path: &[&Instruction], works: &[Work], forwarding: u32) -> Chain {
    let mut walk = Walk::new(isa, path, works, forwarding);
    walk.iteration(0);
    let Some(last) = walk.last() else { return Chain::default() };
    let mut places: Vec<usize> = walk.back(last).iter().map(|it| walk.made[*it].place).collect();
    places.dedup();
    Chain { cycles: f64::from(walk.made[last].ready), places, iterations: 0 }
}

/// The longest chain of an iteration from a value to the same value of a later one.
pub(super) fn of_loop(isa: Isa, path: &[&Instruction], works: &[Work], forwarding: u32) -> Chain {
    let iterations = (INSTRUCTIONS_MAX / path.len().max(1)).clamp(4, ITERATIONS);
    let mut walk = Walk::new(isa, path, works, forwarding);
    (0..iterations).for_each(|iteration| walk.iteration(iteration));
    let Some(last) = walk.last() else { return Chain::default() };
    let way = walk.back(last);
    let mut longest = Chain::default();
    let mut seen: BTreeMap<(usize, u8), usize> = BTreeMap::new();
    for (at, idx) in way.iter().enumerate() {
        let it = walk.made[*idx];
        let Some(before) = seen.insert((it.place, it.kind as u8), at) else { continue };
        let earlier = walk.made[way[before]];
        let n = it.iteration - earlier.iteration;
        if n == 0 {
            continue;
        }
        let cycles = f64::from(it.ready - earlier.ready) / n as f64;
        if cycles > longest.cycles {
            let mut places: Vec<usize> =
                way[before + 1..=at].iter().map(|made| walk.made[*made].place).collect();
            places.dedup();
            longest = Chain { cycles, places, iterations: n as u32 };
        }
    }
    longest
}

impl<'a> Walk<'a> {
    fn new(
        isa: Isa,
        path: &'a [&'a Instruction],
        works: &'a [Work],
        forwarding_cycles: u32,
    ) -> Walk<'a> {
        Walk {
            path,
            works,
            isa,
            forwarding_cycles,
            made: Vec::new(),
            holds: BTreeMap::new(),
            values: BTreeMap::new(),
            n_values: 0,
            stored: Vec::new(),
        }
    }

    fn last(&self) -> Option<usize> {
        (0..self.made.len()).rev().max_by_key(|idx| self.made[*idx].ready)
    }

    /// What this result waits for, itself at the end.
    fn back(&self, from: usize) -> Vec<usize> {
        let mut way: Vec<usize> =
            std::iter::successors(Some(from), |idx| self.made[*idx].from).collect();
        way.reverse();
        way
    }

    fn iteration(&mut self, iteration: usize) {
        for place in 0..self.path.len() {
            self.step(place, iteration);
        }
    }

    fn step(&mut self, place: usize, iteration: usize) {
        let (it, work) = (self.path[place], &self.works[place]);
        if it.reaches_all_memory() || it.is_unknown() {
            self.stored.clear();
        }
        // When the result, the moved base, and what is stored are there, and by what.
        let (mut result, mut base, mut data) = ((0, None), (0, None), (0, None));
        let later = |to: &mut (u32, Option<usize>), ready: u32, from: Option<usize>| {
            if ready > to.0 || to.1.is_none() {
                *to = (ready, from);
            }
        };
        // What a store surely made may be there before the address: some cores rename memory.
        let forwarded = self.forwarded(it);
        let has_load = it.accesses.iter().any(|access| !access.is_store) && forwarded.is_none();
        let is_base = |role: Role| matches!(role, Role::Base | Role::Index);
        for read in &it.reads {
            let is_waited = match work.waits {
                Waits::Everything => true,
                Waits::Flags => read.role == Role::Condition,
                Waits::Nothing => false,
            };
            if !is_waited || Some(read.reg) == self.isa.conventions().zero {
                continue;
            }
            let load = if has_load && is_base(read.role) { work.load_cycles } else { 0 };
            for (bits, from) in self.holds.get(&read.reg).into_iter().flatten() {
                if bits & read.bits == 0 {
                    continue;
                }
                let ready = self.made[*from].ready;
                let latency = match work.kept {
                    Some((reg, cycles)) if reg == read.reg => cycles,
                    _ => self.latency(place, read.role, *from),
                };
                if !is_base(read.role) || forwarded.is_none() {
                    later(&mut result, ready + load + latency, Some(*from));
                }
                if is_base(read.role) {
                    later(&mut base, ready + self.base_cycles(), Some(*from));
                }
                if !is_base(read.role) || self.isa == Isa::X86 && has_load {
                    let made = if self.isa == Isa::X86 { load + latency } else { 0 };
                    later(&mut data, ready + made, Some(*from));
                }
            }
        }
        // Without operands that are made here it still takes its time.
        let load = if forwarded.is_none() { work.load_cycles } else { 0 };
        later(&mut result, work.latency_cycles + load, None);
        if let Some(from) = forwarded {
            let ready = self.made[from].ready + self.forwarding_cycles;
            let after = if self.isa == Isa::X86 { work.latency_cycles } else { 0 };
            later(&mut result, ready + after, Some(from));
            later(&mut data, ready + after, Some(from));
        }
        let mut add = |kind: MadeKind, (ready, from): (u32, Option<usize>)| {
            self.made.push(Made { place, iteration, kind, ready, from });
            self.made.len() - 1
        };
        let has_result = it.writes.iter().any(|write| write.out != Out::BaseUpdate);
        let has_base = it.writes.iter().any(|write| write.out == Out::BaseUpdate);
        let has_store = it.accesses.iter().any(|access| access.is_store);
        let as_result =
            if has_result || !has_store { Some(add(MadeKind::Result, result)) } else { None };
        let as_base = has_base.then(|| add(MadeKind::Base, base));
        let as_stored = has_store.then(|| add(MadeKind::Stored, data));
        self.store(it, as_stored);
        for write in &it.writes {
            let made = if write.out == Out::BaseUpdate { as_base } else { as_result };
            let holds = self.holds.entry(write.reg).or_default();
            holds.iter_mut().for_each(|held| held.0 &= !write.bits);
            holds.retain(|held| held.0 != 0);
            holds.extend(made.map(|made| (write.bits, made)));
        }
        self.count(it);
        let is_system = it.is_unknown() || it.class == Class::System;
        if is_system || matches!(it.flow, Flow::Call { .. } | Flow::LastCall) {
            self.forget(is_system);
        }
    }

    /// What a callee returns waits for whatever the callee likes; what it keeps is kept. Behind the
    /// system, and a word that is not decoded, nothing is.
    fn forget(&mut self, all: bool) {
        let conventions = self.isa.conventions();
        let is_kept =
            |reg: &Reg| conventions.saved.contains(reg) || *reg == conventions.stack_pointer;
        self.holds.retain(|reg, _| !all && is_kept(reg));
        self.values.retain(|reg, _| !all && is_kept(reg));
    }

    /// From the result `from` to that of the instruction at `place`.
    fn latency(&self, place: usize, role: Role, from: usize) -> u32 {
        let work = &self.works[place];
        let writer = &self.works[self.made[from].place];
        let has_addend = self.path[place].reads.iter().any(|read| read.role == Role::Addend);
        match work.accumulate_cycles.filter(|_| writer.is_addend_early) {
            Some(cycles) if role == Role::Addend || !has_addend => cycles,
            _ => work.latency_cycles,
        }
    }

    /// A base is moved where the stack pointer of x86-64 is: before instructions start.
    fn base_cycles(&self) -> u32 {
        u32::from(self.isa != Isa::X86)
    }

    /// Gives the registers that were written new values, or the same with a distance.
    fn count(&mut self, it: &Instruction) {
        let moved = |base: Reg| {
            let of_base = it.base_moves.filter(|_| {
                it.writes.iter().any(|write| write.reg == base && write.out == Out::BaseUpdate)
            });
            of_base.map(|by| (base, by))
        };
        let sum =
            it.operation.as_ref().filter(|operation| operation.width == 64).and_then(|operation| {
                match (operation.op, operation.a, operation.b) {
                    (Op::Add, Value::Reg(from), Value::Const(by)) => Some((from, by.cast_signed())),
                    (Op::Sub, Value::Reg(from), Value::Const(by)) => {
                        Some((from, by.cast_signed().wrapping_neg()))
                    }
                    (Op::Move, Value::Reg(from), _) => Some((from, 0)),
                    _ => None,
                }
            });
        let result = it.operation.as_ref().and_then(|operation| operation.result);
        let values: Vec<(Reg, Option<(usize, i64)>)> = it
            .writes
            .iter()
            .map(|write| {
                let from = moved(write.reg).or(sum.filter(|_| result == Some(write.reg)));
                let value = from.map(|(from, by)| {
                    let (value, distance) = self.value(from);
                    (value, distance.wrapping_add(by))
                });
                (write.reg, value)
            })
            .collect();
        for (reg, value) in values {
            let value = value.unwrap_or_else(|| self.fresh());
            self.values.insert(reg, value);
        }
    }

    fn fresh(&mut self) -> (usize, i64) {
        self.n_values += 1;
        (self.n_values, 0)
    }

    fn value(&mut self, reg: Reg) -> (usize, i64) {
        if let Some(value) = self.values.get(&reg) {
            return *value;
        }
        let value = self.fresh();
        self.values.insert(reg, value);
        value
    }

    /// Where an access goes, its distance from there apart; none if the text does not say.
    fn address(&mut self, access: &Access) -> Option<(Address, i64)> {
        if access.index_form == IndexForm::Other {
            return None;
        }
        let mut disp = access.disp;
        let base = access.base.map(|reg| {
            let (value, distance) = self.value(reg);
            disp = disp.wrapping_add(distance);
            (value, 0)
        });
        let index = match access.index {
            Some(_) if access.index_form != IndexForm::Whole => return None,
            Some((reg, shift)) => {
                let (value, distance) = self.value(reg);
                Some((value, distance, shift))
            }
            None => None,
        };
        Some(((base, index), disp))
    }

    /// The store that surely made what a load of `it` loads.
    fn forwarded(&mut self, it: &Instruction) -> Option<usize> {
        let loads: Vec<Access> =
            it.accesses.iter().filter(|access| !access.is_store).copied().collect();
        let [load] = &loads[..] else { return None };
        if it.class == Class::Atomic {
            return None;
        }
        let (address, disp) = self.address(load)?;
        let end = disp + i64::from(load.width);
        for (other, from, until, made) in self.stored.iter().rev() {
            if *other != address {
                return None;
            }
            if *from <= disp && end <= *until {
                return Some(*made);
            }
            if *from < end && disp < *until {
                return None;
            }
        }
        None
    }

    fn store(&mut self, it: &Instruction, made: Option<usize>) {
        /// Older ones are forgotten.
        const STORED_MAX: usize = 64;
        let Some(made) = made else { return };
        for access in it.accesses.iter().filter(|access| access.is_store) {
            match self.address(access) {
                // One that may fail has perhaps stored nothing.
                Some((address, disp)) if it.class != Class::Atomic => {
                    self.stored.push((address, disp, disp + i64::from(access.width), made));
                }
                _ => self.stored.clear(),
            }
        }
        if self.stored.len() > STORED_MAX {
            self.stored.remove(0);
        }
    }
}
