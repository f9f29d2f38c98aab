//! A machine file from measured chains: the model is asked which figures make it take as long.
//!
//! Issue, units and pairs come first, from chains in which nothing waits: kind of work after kind of
//! work gets the row, of a few dozen, under which the model is nearest to what was measured. Then the
//! [latencies](super::latencies). Both are done again with what the other found.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use machine::UnitSet;
use machine::in_order::{Class, Core, Pairing, Work};

use super::forms::ChainSet;
use super::latencies::{self, ChainWait};
use super::results::Measured;
use super::round::Round;

/// Waits are looked for up to so many cycles.
const WAIT_MAX: u32 = 100;
/// A chain is explained if the model is so near, in cycles a step.
pub const NEAR: f64 = 0.26;
/// All are, in cycles a step and chain.
const EXACT: f64 = 1e-4;
/// Units of a core at most, with those that are added.
const UNITS_MAX: usize = 16;

/// One chain beside the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Residual {
    pub chain: String,
    /// Cycles of a step.
    pub measured: f64,
    pub model: f64,
}

impl Residual {
    pub fn distance(&self) -> f64 {
        (self.measured - self.model).abs()
    }

    /// The model takes as long.
    pub fn is_near(&self) -> bool {
        self.distance() <= NEAR.max(self.measured * 0.03)
    }
}

/// All that a fit asks.
pub struct Fit<'a> {
    rounds: Vec<&'a Round>,
    measured: Vec<f64>,
    nearest: &'a Core,
}

impl<'a> Fit<'a> {
    /// The chains that were measured.
    pub fn new(rounds: &'a [Round], measured: &Measured, nearest: &'a Core) -> Fit<'a> {
        let (rounds, measured) =
            rounds.iter().filter_map(|round| Some((round, *measured.get(&round.name)?))).unzip();
        Fit { rounds, measured, nearest }
    }

    /// The core, with the kinds of work that chains show.
    pub fn core(&self, set: &ChainSet) -> Core {
        let mut core = self.nearest.clone();
        core.issue_width = self.width();
        let all: Vec<usize> = (0..self.rounds.len()).collect();
        let mut best = (f64::INFINITY, core.clone());
        for knows_waits in [false, true, true] {
            self.work(&mut core, knows_waits);
            self.pairs(&mut core, set);
            let waits = self.waits(&core);
            latencies::fit(&mut core, &waits);
            let distance = self.distance(&core, &all, f64::INFINITY);
            if distance + 1e-6 < best.0 {
                best = (distance, core.clone());
            }
            // There is nothing left to explain.
            if knows_waits && best.0 < EXACT * all.len() as f64 {
                break;
            }
        }
        let mut core = best.1;
        self.inherit(&mut core);
        core
    }

    /// Instructions that start in a cycle, by the fastest chain.
    fn width(&self) -> u32 {
        let rates = self.rounds.iter().zip(&self.measured);
        let most =
            rates.map(|(round, cycles)| round.n_instructions() as f64 / cycles).fold(1.0, f64::max);
        (most - 0.1).ceil() as u32
    }

    /// Kinds of work that a chain has for what it is about, the first that is measured first.
    pub fn classes(&self) -> Vec<Class> {
        let mut found = vec![Class::Branch, Class::Alu, Class::Nop];
        for class in self.rounds.iter().flat_map(|round| &round.classes) {
            if !found.contains(class) {
                found.push(*class);
            }
        }
        found.retain(|class| self.rounds.iter().any(|round| round.classes.contains(class)));
        found
    }

    /// All rows but their latencies; chains in which something waits are
    /// asked once it is known how long.
    fn work(&self, core: &mut Core, knows_waits: bool) {
        let classes = self.classes();
        for sweep in 0..3 {
            let before = core.clone();
            for (nth, class) in classes.iter().enumerate() {
                let known = if sweep == 0 { &classes[..=nth.max(2)] } else { &classes[..] };
                let is_asked = |at: &usize| {
                    let round = self.rounds[*at];
                    (knows_waits || round.link.is_none())
                        && round.classes.contains(class)
                        && round.classes.iter().all(|other| known.contains(other))
                };
                let asked: Vec<usize> = (0..self.rounds.len()).filter(is_asked).collect();
                self.row(core, *class, &asked, knows_waits);
            }
            if before == *core {
                break;
            }
        }
    }

    /// The nearest row for a kind of work; the one that it has if none is nearer.
    fn row(&self, core: &mut Core, class: Class, asked: &[usize], is_plain: bool) {
        let has = |what: &str| {
            let named = asked.iter().filter(move |at| self.rounds[**at].name.contains(what));
            named.count() > 0
        };
        // What a load of the program counter takes besides is no matter of its other figures.
        let is_plain_load = |at: &&usize| !self.rounds[**at].name.contains(LOADS_PC);
        let plain: Vec<usize> = asked.iter().filter(is_plain_load).copied().collect();
        let usual = self.units_by_nearest(core, class);
        let choose = |core: &Core, tried: Vec<Core>, asked: &[usize]| {
            let cost = |core: &Core, most: f64| {
                let odd = if is_plain { oddness(core.work(class), usual) } else { 0.0 };
                odd + self.distance(core, asked, most - odd)
            };
            let mut best = (cost(core, f64::INFINITY), core.clone());
            for core in tried {
                let cost = cost(&core, best.0);
                if cost + 1e-6 < best.0 {
                    best = (cost, core);
                }
            }
            best.1
        };
        let times = self.times(core.work(class), class, &plain);
        let mut now = choose(core, self.places(core, class, &times), &plain);
        if is_list(class) {
            now = choose(&now, lists(&now, class, &times), &plain);
        }
        if has(".base") {
            let base = with(&now, class, 0..=1, |work, places| work.base_slots = places);
            now = choose(&now, base, &plain);
        }
        if has(LOADS_PC) && is_list(class) {
            let jump = |work: &mut Work, cycles: u32| work.jump_cycles = cycles.checked_sub(1);
            now = choose(&now, with(&now, class, 0..=7, jump), asked);
        }
        *core = now;
    }

    /// Units that a kind of work has where no chain says otherwise: those of the first with the same
    /// ones in the nearest core, as returns run where branches do.
    fn units_by_nearest(&self, core: &Core, class: Class) -> UnitSet {
        let units = |class: Class| self.nearest.work(class).units;
        let first = self.classes().into_iter().find(|other| units(*other) == units(class));
        first.filter(|first| *first != class).map_or(units(class), |first| core.work(first).units)
    }

    /// How far the model is from these chains, in cycles a step; it stops at `most`.
    fn distance(&self, core: &Core, asked: &[usize], most: f64) -> f64 {
        let mut sum = 0.0;
        for at in asked {
            let round = self.rounds[*at];
            sum += (round.cycles(core) - self.measured[*at]).abs() / round.n_steps as f64;
            if sum >= most {
                break;
            }
        }
        sum
    }

    /// How long one may hold the issue stage, or a unit, or what a branch leads to.
    fn times(&self, now: &Work, class: Class, asked: &[usize]) -> Vec<Times> {
        let mut times = vec![Times { issue: 1, unit: 1, taken: None }, Times::of(now)];
        for at in asked.iter().filter(|at| !self.rounds[**at].name.contains('+')) {
            let round = self.rounds[*at];
            let n = round.count(class).max(1) as f64;
            let cycles = (self.measured[*at] / n).round().max(1.0) as u32;
            let first = if cycles <= SHORT { 1 } else { cycles - 1 };
            for it in first..=cycles + 1 {
                times.push(Times { issue: 1, unit: it, taken: None });
                times.push(Times { issue: it, unit: 1, taken: None });
                if matches!(class, Class::Branch | Class::Call) {
                    times.push(Times { issue: 1, unit: 1, taken: Some(it) });
                }
            }
        }
        times.sort_unstable();
        times.dedup();
        times
    }

    /// Which unit it may take, beside what, and how long.
    fn places(&self, core: &Core, class: Class, times: &[Times]) -> Vec<Core> {
        let now = core.work(class);
        let mut holds = vec![now.holds, self.nearest.work(class).holds, None];
        holds.dedup();
        let mut found = Vec::new();
        for (units, core) in self.units(core, class) {
            let slots = 1..=core.issue_width.min(2);
            let all = slots.flat_map(|slots| holds.iter().map(move |holds| (slots, *holds)));
            for (slots, holds) in all {
                let row = |it: &Times| Work { units, slots, holds, ..it.work(now) };
                // A choice of units lasts a cycle.
                let rows = times.iter().map(row).filter(|row| {
                    units.count() < 2 || row.unit_cycles < 2 && row.registers_a_cycle.is_none()
                });
                found.extend(rows.map(|row| set(&core, class, row)));
            }
        }
        found
    }

    /// The sets of units that others take, none, and one of its own; with the core that has it.
    fn units(&self, core: &Core, class: Class) -> Vec<(UnitSet, Core)> {
        let nearest = self.nearest.work(class).units;
        let mut sets = vec![core.work(class).units, nearest, self.units_by_nearest(core, class)];
        sets.push(UnitSet::default());
        let others = self.classes();
        sets.extend(others.iter().map(|other| core.work(*other).units));
        let used = sets.iter().fold(0, |all, set| all | set.0);
        sets.extend(
            (0..core.units.len()).map(|unit| UnitSet(1 << unit)).filter(|set| set.0 & used != 0),
        );
        let mut found: Vec<(UnitSet, Core)> = Vec::new();
        for set in sets {
            if !found.iter().any(|(it, _)| *it == set) {
                found.push((set, core.clone()));
            }
        }
        let own = core.units.iter().position(|unit| unit == class.name());
        if own.is_none() && core.units.len() < UNITS_MAX {
            let mut with = core.clone();
            with.units.push(class.name().to_owned());
            found.push((UnitSet(1 << core.units.len()), with));
        }
        found
    }

    /// What starts in a cycle only as its first.
    fn pairs(&self, core: &mut Core, set: &ChainSet) {
        let at = |name: &str| self.rounds.iter().position(|round| round.name == name);
        let is_wide = |at: &usize| self.rounds[*at].name.contains("wide-immediate");
        let wide: Vec<usize> = (0..self.rounds.len()).filter(is_wide).collect();
        let first: Vec<(&str, usize)> = set
            .firsts
            .iter()
            .filter_map(|form| Some((form.name, at(&format!("alu+{}", form.name))?)))
            .collect();
        if core.issue_width < 2 || wide.is_empty() && first.is_empty() {
            core.pairing = None;
            return;
        }
        let pairing = |first_only: Vec<String>, wide_immediates_shift| Pairing {
            first_only,
            wide_immediates_shift,
            source: SOURCE.to_owned(),
        };
        let distance = |pairing: Option<Pairing>, asked: &[usize]| {
            let mut tried = core.clone();
            tried.pairing = pairing;
            self.distance(&tried, asked, f64::INFINITY)
        };
        let shifts = distance(Some(pairing(Vec::new(), true)), &wide) + 1e-6
            < distance(Some(pairing(Vec::new(), false)), &wide);
        let first_only: Vec<String> = first
            .into_iter()
            .filter(|(name, at)| {
                let with = Some(pairing(vec![(*name).to_owned()], shifts));
                distance(with, &[*at]) + 1e-6 < distance(None, &[*at])
            })
            .map(|(name, _)| name.to_owned())
            .collect();
        core.pairing = (shifts || !first_only.is_empty()).then(|| pairing(first_only, shifts));
    }

    /// Cycles from results to what waits for them.
    fn waits(&self, core: &Core) -> Vec<ChainWait> {
        let all = self.rounds.iter().zip(&self.measured);
        all.filter_map(|(round, measured)| {
            let link = round.link?;
            let limit = NEAR * round.n_steps as f64;
            let mut best: Option<(f64, u32, u32)> = None;
            for (cycles, model) in (0..).zip(round.by_wait(core, WAIT_MAX)) {
                let distance = (model - measured).abs();
                match &mut best {
                    Some((least, _, most)) if (distance - *least).abs() < 1e-6 => *most = cycles,
                    Some((least, ..)) if distance > *least => {}
                    _ => best = Some((distance, cycles, cycles)),
                }
                if model > measured + limit {
                    break;
                }
            }
            let (_, least, most) = best.filter(|(distance, ..)| *distance <= limit)?;
            Some(ChainWait { link, least, most })
        })
        .collect()
    }

    /// Kinds of work that no chain has are as one that had the same row before.
    fn inherit(&self, core: &mut Core) {
        for (class, like) in self.likenesses() {
            core.set_work(class, core.work(like).clone());
        }
    }

    /// Kinds of work that no chain has, with one that is measured and had the same row.
    pub fn likenesses(&self) -> BTreeMap<Class, Class> {
        let measured = self.classes();
        let unmeasured = Class::ALL.into_iter().filter(|class| !measured.contains(class));
        let like = |class: Class| {
            let same = |other: &&Class| self.nearest.work(**other) == self.nearest.work(class);
            Some((class, *measured.iter().find(same)?))
        };
        unmeasured.filter_map(like).collect()
    }

    /// The chains that have this kind of work.
    pub fn chains_of(&self, class: Class) -> impl Iterator<Item = &str> {
        let has = self.rounds.iter().filter(move |round| round.classes.contains(&class));
        has.map(|round| round.name.as_str())
    }

    /// Every chain beside the model.
    pub fn residuals(&self, core: &Core) -> Vec<Residual> {
        let all = self.rounds.iter().zip(&self.measured);
        all.map(|(round, measured)| Residual {
            chain: round.name.clone(),
            measured: measured / round.n_steps as f64,
            model: round.cycles(core) / round.n_steps as f64,
        })
        .collect()
    }
}

/// The chains of loads of the program counter.
const LOADS_PC: &str = "return-list";
/// Times up to so many cycles are all tried.
const SHORT: u32 = 10;
/// Where fitted pairs come from.
const SOURCE: &str = "calibrated: chains of two";

/// How long a kind of work holds what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Times {
    issue: u32,
    unit: u32,
    taken: Option<u32>,
}

impl Times {
    fn of(work: &Work) -> Times {
        Times { issue: work.issue_cycles, unit: work.unit_cycles, taken: work.taken_cycles }
    }

    fn work(&self, now: &Work) -> Work {
        Work {
            issue_cycles: self.issue,
            unit_cycles: self.unit,
            taken_cycles: self.taken,
            ..now.clone()
        }
    }
}

/// Of two rows that explain as much, the plainer one counts, and the usual units.
fn oddness(work: &Work, usual: UnitSet) -> f64 {
    let odd = [work.slots > 1, work.base_slots > 0, work.issue_cycles > 1, work.holds.is_some()];
    let n_odd = odd.into_iter().filter(|is_odd| *is_odd).count() as f64;
    n_odd * 1e-3 + if work.units == usual { 0.0 } else { 5e-4 }
}

fn is_list(class: Class) -> bool {
    use Class::{LoadDouble, LoadMultiple, StoreDouble, StoreMultiple};
    matches!(class, LoadDouble | LoadMultiple | StoreDouble | StoreMultiple)
}

/// By how many registers are loaded or stored.
fn lists(core: &Core, class: Class, times: &[Times]) -> Vec<Core> {
    let now = core.work(class);
    let mut found = Vec::new();
    for (register_cycles, registers_a_cycle) in [(0, None), (1, None), (0, Some(1)), (0, Some(2))] {
        if now.units.count() > 1 && registers_a_cycle.is_some() {
            continue;
        }
        for slots in 1..=core.issue_width.min(2) {
            let row =
                |it: &Times| Work { register_cycles, registers_a_cycle, slots, ..it.work(now) };
            found.extend(times.iter().map(|times| set(core, class, row(times))));
        }
    }
    found
}

/// The same core with another figure for a kind of work, each of `all`.
fn with(
    core: &Core,
    class: Class,
    all: RangeInclusive<u32>,
    change: impl Fn(&mut Work, u32),
) -> Vec<Core> {
    let each = all.map(|figure| {
        let mut work = core.work(class).clone();
        change(&mut work, figure);
        set(core, class, work)
    });
    each.collect()
}

fn set(core: &Core, class: Class, work: Work) -> Core {
    let mut core = core.clone();
    core.set_work(class, work);
    core
}
