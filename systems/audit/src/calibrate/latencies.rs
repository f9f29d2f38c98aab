//! Latencies from chains: of each it is known from which to which number of cycles a result takes to
//! an operand, and that number is a sum, when the result is there and how early the operand is needed.
//!
//! ```text
//! load > load.base   3 cycles     latency(load) + early(load.base) = 3
//! load > store.data  0 or 1       latency(load) + early(store.data) <= 1
//! ```
//!
//! Sums of two become differences of two with the sign of one turned, and such a system is solved one
//! bound after the other: each that the former allow is kept. Last come the figures of the nearest
//! core, which hold where no chain says otherwise.

use std::collections::BTreeMap;

use machine::in_order::{Class, Core, Out, Role, Work};

use super::round::Dependence;

/// The cycles of a chain from a result to an operand: from the first to the second number.
#[derive(Debug, Clone, Copy)]
pub struct ChainWait {
    pub link: Dependence,
    pub least: u32,
    pub most: u32,
}

/// An unknown. Operands count against the sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unknown {
    Out(Class, Out),
    /// As an address, of a register that was written as a whole.
    Address(Class),
    /// The written-back base as the next base.
    BaseReuse(Class),
    /// From work that the file names for forwarding, or from other work.
    Operand(Class, Role, bool),
}

/// `a - b <= most`.
#[derive(Debug, Clone, Copy)]
struct AtMost {
    a: usize,
    b: usize,
    most: i32,
}

/// Bounds that hold together, and values that they allow.
#[derive(Debug, Clone, Default)]
struct System {
    unknowns: BTreeMap<Unknown, usize>,
    values: Vec<i32>,
    bounds: Vec<AtMost>,
}

impl System {
    fn unknown(&mut self, unknown: Unknown) -> usize {
        let next = self.values.len();
        let idx = *self.unknowns.entry(unknown).or_insert(next);
        if idx == next {
            self.values.push(0);
        }
        idx
    }

    /// Adds bounds; none of them if they contradict those before.
    fn add(&mut self, bounds: &[AtMost]) -> bool {
        let (values, n) = (self.values.clone(), self.bounds.len());
        for bound in bounds {
            self.bounds.push(*bound);
            if !self.settle(*bound) {
                self.values = values;
                self.bounds.truncate(n);
                return false;
            }
        }
        true
    }

    /// Lowers what a new bound lowers; false if that comes back to where it began.
    fn settle(&mut self, new: AtMost) -> bool {
        let mut open = vec![new];
        while let Some(AtMost { a, b, most }) = open.pop() {
            if self.values[a] <= self.values[b] + most {
                continue;
            }
            if a == new.b {
                return false;
            }
            self.values[a] = self.values[b] + most;
            open.extend(self.bounds.iter().filter(|bound| bound.b == a));
        }
        true
    }
}

/// Fits the latencies of `core` to these waits; those that contradict others are left out.
pub fn fit(core: &mut Core, waits: &[ChainWait]) {
    let mut classes: Vec<Class> = waits.iter().map(|wait| wait.link.writer).collect();
    classes.sort_unstable();
    classes.dedup();
    let mut best: Option<(System, usize, Vec<Class>)> = None;
    for start in [core.forwarding.clone(), Vec::new()] {
        let found = forwarded(core, waits, &classes, start);
        if best.as_ref().is_none_or(|best| found.1 < best.1) {
            best = Some(found);
        }
    }
    let (system, _, mut forwarding) = best.expect("there is a list to start from");
    forwarding.sort_unstable();
    core.forwarding = forwarding;
    write(core, &system);
}

/// Whose results come later to some operands than those of others: the list that leaves the fewest
/// waits out, from `start` by one kind of work after the other.
fn forwarded(
    core: &Core,
    waits: &[ChainWait],
    classes: &[Class],
    start: Vec<Class>,
) -> (System, usize, Vec<Class>) {
    let (system, n_left_out) = solve(core, waits, &start);
    let mut best = (system, n_left_out, start);
    loop {
        let before = best.1;
        for class in classes {
            if best.1 == 0 {
                return best;
            }
            let mut other = best.2.clone();
            match other.iter().position(|other| other == class) {
                Some(at) => drop(other.remove(at)),
                None => other.push(*class),
            }
            let (system, n_left_out) = solve(core, waits, &other);
            if n_left_out < best.1 {
                best = (system, n_left_out, other);
            }
        }
        if best.1 == before {
            return best;
        }
    }
}

/// The system of all waits, and how many of them are left out.
fn solve(core: &Core, waits: &[ChainWait], forwarding: &[Class]) -> (System, usize) {
    let mut system = System::default();
    let exact = waits.iter().filter(|wait| wait.least > 0);
    let n_left_out = exact
        .chain(waits.iter().filter(|wait| wait.least == 0))
        .filter(|wait| {
            let (out, operand) = unknowns(&wait.link, forwarding);
            let (a, b) = (system.unknown(out), system.unknown(operand));
            let most = AtMost { a, b, most: wait.most.cast_signed() };
            let least = AtMost { a: b, b: a, most: -wait.least.cast_signed() };
            !system.add(&[most, least][..if wait.least > 0 { 2 } else { 1 }])
        })
        .count();
    let all: Vec<Unknown> = system.unknowns.keys().copied().collect();
    for unknown in &all {
        // What is forwarded comes later, never earlier.
        if let Unknown::Operand(class, role, true) = unknown {
            let late = system.unknown(*unknown);
            let early = system.unknown(Unknown::Operand(*class, *role, false));
            system.add(&[AtMost { a: early, b: late, most: 0 }]);
        }
        // One number for two, where that does.
        if let Unknown::Address(class) = unknown {
            same(&mut system, *unknown, Unknown::Out(*class, Out::Result));
        }
        if let Unknown::BaseReuse(class) = unknown {
            same(&mut system, *unknown, Unknown::Out(*class, Out::BaseUpdate));
        }
    }
    let origin = system.values.len();
    system.values.push(0);
    // The first says where cycles are counted from.
    let alu = Unknown::Out(Class::Alu, Out::Result);
    let others =
        system.unknowns.keys().copied().filter(|unknown| *unknown != alu).collect::<Vec<_>>();
    for unknown in [alu].into_iter().chain(others) {
        let a = system.unknown(unknown);
        let value = nearest(core, unknown);
        system
            .add(&[AtMost { a, b: origin, most: value }, AtMost { a: origin, b: a, most: -value }]);
    }
    let zero = system.values[origin];
    system.values.iter_mut().for_each(|value| *value -= zero);
    (system, n_left_out)
}

fn same(system: &mut System, one: Unknown, other: Unknown) {
    let (a, b) = (system.unknown(one), system.unknown(other));
    system.add(&[AtMost { a, b, most: 0 }, AtMost { a: b, b: a, most: 0 }]);
}

fn unknowns(link: &Dependence, forwarding: &[Class]) -> (Unknown, Unknown) {
    let is_address = matches!(link.role, Role::Base | Role::Index) && link.is_whole;
    let out = match (link.out, link.role) {
        (Out::BaseUpdate, Role::Base) => Unknown::BaseReuse(link.writer),
        (Out::Result, _) if is_address => Unknown::Address(link.writer),
        (out, _) => Unknown::Out(link.writer, out),
    };
    (out, Unknown::Operand(link.reader, link.role, forwarding.contains(&link.writer)))
}

/// What the file says now.
fn nearest(core: &Core, unknown: Unknown) -> i32 {
    match unknown {
        Unknown::Out(class, out) => core.work(class).latency(out).cast_signed(),
        Unknown::Address(class) => {
            core.work(class).latency_as(Out::Result, Role::Base, true).cast_signed()
        }
        Unknown::BaseReuse(class) => {
            core.work(class).latency_as(Out::BaseUpdate, Role::Base, true).cast_signed()
        }
        Unknown::Operand(class, role, is_forwarded) => {
            let of = |them: &[(Role, i32)]| {
                them.iter().find(|(it, _)| *it == role).map_or(0, |(_, cycles)| *cycles)
            };
            let work = core.work(class);
            -(of(&work.early) - if is_forwarded { of(&work.forwarded) } else { 0 })
        }
    }
}

/// Writes the solution into the rows; all move by as much as keeps every latency above zero.
fn write(core: &mut Core, system: &System) {
    let value = |unknown: Unknown| {
        // Returns are predicted: where one goes is needed when it is of a jump.
        let like = match unknown {
            Unknown::Operand(Class::Return, role, is_forwarded) => {
                Unknown::Operand(Class::Jump, role, is_forwarded)
            }
            other => other,
        };
        let idx = system.unknowns.get(&unknown).or_else(|| system.unknowns.get(&like))?;
        Some(system.values[*idx])
    };
    let outs = system.unknowns.iter().filter(|(it, _)| !matches!(it, Unknown::Operand(..)));
    let least = outs.map(|(_, idx)| system.values[*idx]).min().unwrap_or(0);
    let shift = (-least).max(0);
    let up = |cycles: i32| (cycles + shift).max(0).cast_unsigned();
    for class in Class::ALL {
        let old = core.work(class).clone();
        let mut work = old.clone();
        let out = |out: Out| value(Unknown::Out(class, out));
        let old_latency = |out: Out| old.latency(out).cast_signed();
        let first = out(Out::Result).or(out(Out::Nth(0)));
        work.latency_cycles = up(first.unwrap_or(old_latency(Out::Result)));
        let unless_same = |found: Option<i32>, before: Option<u32>| {
            let cycles = up(found.or(before.map(u32::cast_signed))?);
            Some(cycles).filter(|cycles| *cycles != work.latency_cycles)
        };
        work.high_cycles = unless_same(out(Out::High), old.high_cycles);
        work.flags_cycles = unless_same(out(Out::Flag), old.flags_cycles);
        work.address_cycles = unless_same(value(Unknown::Address(class)), old.address_cycles);
        work.base_cycles =
            unless_same(out(Out::BaseUpdate).or(value(Unknown::BaseReuse(class))), old.base_cycles);
        let base = work.base_cycles.unwrap_or(work.latency_cycles);
        work.base_reuse_cycles = value(Unknown::BaseReuse(class))
            .or(old.base_reuse_cycles.map(u32::cast_signed))
            .map(up)
            .filter(|cycles| *cycles != base);
        let n_loaded =
            (0..8).rev().find(|nth| out(Out::Nth(*nth)).is_some()).map_or(0, |nth| nth + 1);
        if n_loaded > 0 {
            let nth = |nth: u8| up(out(Out::Nth(nth)).unwrap_or(old_latency(Out::Nth(nth))));
            work.loaded_cycles = (0..n_loaded).map(nth).collect();
        } else {
            work.loaded_cycles.iter_mut().for_each(|cycles| *cycles = up(cycles.cast_signed()));
        }
        if work.loaded_cycles.iter().all(|cycles| *cycles == work.latency_cycles) {
            work.loaded_cycles.clear();
        }
        operands(&mut work, &old, class, shift, value);
        core.set_work(class, work);
    }
}

fn operands(
    work: &mut Work,
    old: &Work,
    class: Class,
    shift: i32,
    value: impl Fn(Unknown) -> Option<i32>,
) {
    let of = |them: &[(Role, i32)], role: Role| {
        them.iter().find(|(it, _)| *it == role).map_or(0, |(_, cycles)| *cycles)
    };
    work.early.clear();
    work.forwarded.clear();
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Carried) {
        let was = of(&old.early, role);
        let plain = value(Unknown::Operand(class, role, false));
        let forwarded = value(Unknown::Operand(class, role, true));
        let early = match (plain, forwarded) {
            (Some(plain), _) => -plain,
            (None, Some(forwarded)) => -forwarded,
            (None, None) => was,
        };
        let later = match (plain, forwarded) {
            (_, Some(forwarded)) => early + forwarded,
            _ => of(&old.forwarded, role),
        };
        if early - shift != 0 {
            work.early.push((role, early - shift));
        }
        if later > 0 {
            work.forwarded.push((role, later));
        }
    }
}
