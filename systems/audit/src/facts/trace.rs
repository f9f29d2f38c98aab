//! The hot trace of a function: the one path that is meant to be fast, through its side exits.
//!
//! ```text
//!         cmp r3, #1
//!         beq slow      a side exit: `slow` ends in a call that does not come back
//!         ldr r3, [ip]
//! ```
//!
//! An edge is cold if everything behind it is: it ends in a trap, in a call or jump to a function
//! that does not return, or at what the user wants avoided. Between two edges that are not cold, the
//! way is taken that is [predicted](crate::facts::predicted). A loop is
//! passed once, also one whose test stands before its body and is the first to be reached: the path
//! goes from the test through the body, and on after the loop.

use std::cmp::{Ordering, Reverse};

use crate::decode::code::{Delay, Flow};
use crate::facts::cases::entries;
use crate::facts::frame::successors;
use crate::facts::landings::behind;
use crate::facts::liveness::{Liveness, RegSet, elsewhere};
use crate::facts::nests::Nests;
use crate::facts::predicted::{is_failure, taken_share};
use crate::facts::recorded::Counts;
use crate::facts::steered::{SourceLine, Waypoint};
use crate::program::function::Function;
use crate::program::names::{is_called, shown};

/// Functions that do not return, or only when something went wrong. A name of the compiler's
/// own making may carry a suffix such as `.cold` or `.part.0`.
const COLD: [&str; 19] = [
    "abort",
    "exit",
    "_exit",
    "__assert_fail",
    "__assert",
    "__assert_func",
    "__stack_chk_fail",
    "panic",
    "__builtin_trap",
    "_Unwind_Resume",
    "__cxa_throw",
    "__ubsan_handle_builtin_unreachable",
    "__chk_fail",
    "__fortify_fail",
    "longjmp",
    "siglongjmp",
    "__bug",
    "BUG",
    "halt",
];

/// A way that is gone less often than this is seldom gone. What stands straight on by its place
/// alone makes no other way so.
const SELDOM: f64 = 0.3;

/// A path, as places in the function's instructions in the order in which they are done.
#[derive(Debug, Clone)]
pub struct Trace {
    pub places: Vec<usize>,
    /// Where control may leave the path, in its order.
    pub exits: Vec<Exit>,
    pub end: End,
}

/// A conditional branch on the path, a jump by a table, or an instruction that may fault where the
/// fault goes on elsewhere.
#[derive(Debug, Clone)]
pub struct Exit {
    /// The branch, as a place in [`Trace::places`].
    pub at: usize,
    /// The branch is taken on the path; leaving it means going straight on.
    pub is_taken: bool,
    /// What the code at the exit may read.
    pub live: RegSet,
}

impl Exit {
    /// Where a conditional branch at this place goes if it leaves the path; none of another exit.
    pub fn leads_to(&self, function: &Function, place: usize) -> Option<usize> {
        match function.instructions[place].flow {
            Flow::Branch { .. } if self.is_taken => Some(behind(function, place).0),
            _ => function.target(place),
        }
    }
}

/// Why a trace ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Return,
    /// It jumps to another function, or to a place that is not known.
    Jump,
    /// It does not come back: all paths are cold.
    Stop,
    /// The path comes to a place where it has been, or to the end of the code.
    Loop,
}

impl Trace {
    /// The path through these places; after the last one control goes on at `next`.
    pub fn through(
        function: &Function,
        liveness: &Liveness,
        places: Vec<usize>,
        next: Option<usize>,
        end: End,
    ) -> Trace {
        let n = function.instructions.len();
        let mut exits = Vec::new();
        for (at, &idx) in places.iter().enumerate() {
            let instruction = &function.instructions[idx];
            let has_slot = instruction.delay != Delay::None && idx + 1 < n;
            let behind = idx + 1 + usize::from(has_slot);
            let slot_is_done = has_slot && places.get(at + 1) == Some(&(idx + 1));
            let follows = places.get(at + 1 + usize::from(slot_is_done)).copied().or(next);
            match instruction.flow {
                Flow::Branch { is_conditional: true, .. } => {
                    let there = function.target(idx);
                    let is_taken = follows.is_some_and(|follow| follow != behind);
                    let leaves_to = if is_taken { Some(behind) } else { there };
                    let live = leaves_to
                        .filter(|to| *to < n)
                        .map_or_else(|| elsewhere(function, idx), |to| *liveness.before(to));
                    exits.push(Exit { at, is_taken, live });
                }
                Flow::Jump if follows.is_some() && function.cases_of(idx).is_some() => {
                    let mut ways = function.cases_of(idx).unwrap_or_default();
                    ways.extend(Some(behind).filter(|to| instruction.is_guarded() && *to < n));
                    exits.push(Exit { at, is_taken: true, live: liveness.before_any(&ways) });
                }
                Flow::Return | Flow::Resume | Flow::Jump | Flow::LastCall
                    if instruction.is_guarded() =>
                {
                    exits.push(Exit { at, is_taken: false, live: RegSet::ALL });
                }
                _ => {
                    let Some(there) = function.fixup(idx) else { continue };
                    exits.push(Exit {
                        at,
                        is_taken: false,
                        live: there.map_or(RegSet::ALL, |to| *liveness.before(to)),
                    });
                }
            }
        }
        Trace { places, exits, end }
    }
}

/// For each instruction of a trace, how often before it the path goes on where no instruction leads:
/// from the end of a loop's body to what comes after the loop, without the test between them.
pub(crate) fn seams(function: &Function, trace: &Trace) -> Vec<u32> {
    let places = &trace.places;
    // Where a computed jump leads, tables say.
    let leads = |from: usize, to: usize| {
        function.instructions[from].flow == Flow::Jump || successors(function, from).contains(&to)
    };
    let is_seam = |at: usize| {
        let is_slot = at > 1 && function.instructions[places[at - 2]].delay != Delay::None;
        !(leads(places[at - 1], places[at]) || is_slot && leads(places[at - 2], places[at]))
    };
    let mut n_seams = 0;
    let count = |at: usize| {
        n_seams += u32::from(at > 0 && is_seam(at));
        n_seams
    };
    (0..places.len()).map(count).collect()
}

/// Where control goes from instruction `idx` on a path, as `choose` says of a conditional branch:
/// it gets where the branch leads, if that is in the function, and the place after, and says
/// whether it is taken. None if the path ends. The second is the instruction in the delay slot,
/// if it is done.
pub(crate) fn step(
    function: &Function,
    idx: usize,
    choose: impl Fn(usize, usize) -> bool,
) -> (Option<usize>, Option<usize>) {
    let instruction = &function.instructions[idx];
    let has_slot = instruction.delay != Delay::None && idx + 1 < function.instructions.len();
    let behind = idx + 1 + usize::from(has_slot);
    let next = match instruction.flow {
        Flow::Next | Flow::Call { .. } => Some(behind),
        Flow::Branch { is_conditional: false, .. } => function.target(idx),
        Flow::Branch { is_conditional: true, .. } => match function.target(idx) {
            Some(there) if choose(there, behind) => Some(there),
            _ => Some(behind),
        },
        Flow::Return | Flow::Resume | Flow::Jump | Flow::LastCall if instruction.is_guarded() => {
            Some(behind)
        }
        Flow::Return | Flow::Resume | Flow::Jump | Flow::LastCall | Flow::Stop => None,
    };
    // A slot that is annulled is done only if a conditional branch is taken.
    let is_conditional = matches!(instruction.flow, Flow::Branch { is_conditional: true, .. });
    let is_done = instruction.delay == Delay::Slot
        || instruction.delay == Delay::Annulled && is_conditional && next != Some(behind);
    (next, (has_slot && is_done).then_some(idx + 1))
}

/// Which way is the hot one.
#[derive(Debug)]
pub struct Guide<'a> {
    function: &'a Function,
    avoid: &'a [String],
    is_cold: Vec<bool>,
    counts: Option<&'a Counts>,
    through: Vec<Waypoint>,
}

impl<'a> Guide<'a> {
    /// By a recording, if there is one, and where that says nothing by what is cold and by what is
    /// predicted. What is to be avoided are functions or lines.
    pub fn new(
        function: &'a Function,
        avoid: &'a [String],
        counts: Option<&'a Counts>,
    ) -> Guide<'a> {
        let is_cold = cold_places(function, avoid);
        Guide { function, avoid, is_cold, counts, through: Vec::new() }
    }

    /// The same, and the path passes these lines where it can.
    pub fn through(self, lines: &[SourceLine]) -> Guide<'a> {
        let through = lines.iter().map(|line| Waypoint::of(self.function, line)).collect();
        Guide { through, ..self }
    }

    /// How much of the lines that are still to be passed can be, from this place on.
    fn n_ahead(&self, passed: &[bool], from: usize) -> usize {
        let open = self.through.iter().zip(passed).filter(|(_, is_passed)| !**is_passed);
        open.map(|(waypoint, _)| waypoint.n_ahead(self.function, from)).sum()
    }

    /// Does the hot way take the branch at `idx`, which leads `there`, or go on `behind` it? One
    /// that is not open is not gone.
    pub(crate) fn is_taken(
        &self,
        idx: usize,
        there: usize,
        behind: usize,
        is_open: impl Fn(usize) -> bool,
    ) -> bool {
        if !is_open(there) {
            return false;
        }
        match self.counts.and_then(|count| count.ways(self.function, idx)) {
            Some((taken, not)) if taken != not => taken > not || !is_open(behind),
            _ if self.is_cold(behind) != self.is_cold(there) => self.is_cold(behind),
            _ => taken_share(self.function, idx, there) > 0.5,
        }
    }

    /// The share of its runs in which a branch of the path is predicted to go the path's way; none
    /// where one of the ways is cold, or leaves a loop, which the path passes once.
    pub(crate) fn predicted_share(&self, nests: &Nests, idx: usize, is_taken: bool) -> Option<f64> {
        let there = self.function.target(idx)?;
        let (behind, _) = behind(self.function, idx);
        if self.is_cold(behind) || self.is_cold(there) {
            return None;
        }
        if there <= idx || nests.left(idx, there) != nests.left(idx, behind) {
            return None;
        }
        let share = taken_share(self.function, idx, there);
        Some(if is_taken { share } else { 1.0 - share })
    }

    /// The case that the hot way takes of these of a computed jump, of which `ahead` says how much of
    /// what is to be passed each leads to: by a recording, else the first one that is not cold and
    /// is none of a failure.
    pub(crate) fn case(
        &self,
        cases: impl Iterator<Item = usize>,
        ahead: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        let runs = |case: usize| self.counts.map_or(0, |counts| counts.runs(case));
        let rank = |case: &usize| {
            (ahead(*case), runs(*case), !is_failure(self.function, *case), Reverse(*case))
        };
        cases.filter(|case| !self.is_cold(*case)).max_by_key(rank)
    }

    /// The test that a loop is entered at leads into its body, which is still to be passed;
    /// straight on is out of the loop.
    fn stays(
        &self,
        nests: &Nests,
        idx: usize,
        there: usize,
        behind: usize,
        is_open: impl Fn(usize) -> bool,
    ) -> bool {
        let is_recorded = self.counts.is_some_and(|count| count.ways(self.function, idx).is_some());
        let leaves =
            |to: usize| if to < self.is_cold.len() { nests.left(idx, to) } else { usize::MAX };
        !is_recorded && is_open(there) && !self.is_cold(there) && leaves(there) < leaves(behind)
    }

    /// How many rounds a loop with this head and these edges back has each time that it is entered.
    pub(crate) fn rounds(&self, head: usize, backs: &[usize]) -> Option<f64> {
        let counts = self.counts?;
        let back = |from: &usize| match counts.ways(self.function, *from) {
            Some((taken, not)) => {
                Some(if self.function.target(*from) == Some(head) { taken } else { not })
            }
            None => Some(counts.runs(*from)),
        };
        let again = backs.iter().map(back).sum::<Option<u64>>()?;
        let runs = counts.runs(head);
        (runs > again).then(|| runs as f64 / (runs - again) as f64)
    }

    /// For each instruction: control comes there only by ways that a recording, a sign or the
    /// user says are seldom gone; that code lies aside is not enough.
    pub(crate) fn seldom(&self, trace: &Trace) -> Vec<bool> {
        let n = self.function.instructions.len();
        if !self.through.is_empty() {
            let mut is_seldom = vec![true; n];
            trace.places.iter().for_each(|idx| is_seldom[*idx] = false);
            return is_seldom;
        }
        let nests = Nests::of(self.function);
        let mut is_seldom = vec![true; n];
        let mut open = vec![0];
        open.extend(
            entries(self.function).iter().enumerate().filter(|pair| *pair.1).map(|pair| pair.0),
        );
        while let Some(idx) = open.pop() {
            if idx >= n || self.is_cold(idx) || !std::mem::replace(&mut is_seldom[idx], false) {
                continue;
            }
            let there = self.function.target(idx);
            let share = |is_taken: bool| match self
                .counts
                .and_then(|counts| counts.ways(self.function, idx))
            {
                Some((taken, not)) => {
                    Some(if is_taken { taken } else { not } as f64 / (taken + not) as f64)
                }
                None => self.predicted_share(&nests, idx, is_taken),
            };
            let is_test = matches!(
                self.function.instructions[idx].flow,
                Flow::Branch { is_conditional: true, .. }
            );
            let ways = successors(self.function, idx).into_iter().filter(|to| {
                !is_test || share(Some(*to) == there).is_none_or(|share| share >= SELDOM)
            });
            open.extend(ways);
        }
        is_seldom
    }

    pub(crate) fn counts(&self) -> Option<&'a Counts> {
        self.counts
    }

    /// What is known of a function without a recording.
    pub fn of(function: &'a Function) -> Guide<'a> {
        Guide::new(function, &[], None)
    }

    /// All that can follow the instruction at `idx` is cold.
    pub(crate) fn is_cold(&self, idx: usize) -> bool {
        self.is_cold.get(idx).copied().unwrap_or(true)
    }
}

/// The hot trace from the function's first instruction on.
pub fn hot_trace(guide: &Guide) -> Trace {
    let function = guide.function;
    let n = function.instructions.len();
    let nests = Nests::of(function);
    let mut is_seen = vec![false; n];
    let mut places = Vec::new();
    // Ways out of loops that the path did not take, each with the branch.
    let mut ways_out: Vec<(usize, usize)> = Vec::new();
    let (mut idx, mut end, mut goes_on) = (0, End::Loop, None);
    let mut passed = vec![false; guide.through.len()];
    while idx < n && !is_seen[idx] {
        is_seen[idx] = true;
        places.push(idx);
        for (is_passed, waypoint) in passed.iter_mut().zip(&guide.through) {
            *is_passed |= waypoint.is_there[idx];
        }
        // A way back into the path is a loop's: the path goes on after the loop.
        let is_open = |number: usize| number < n && !is_seen[number];
        let ahead = |to: usize| if is_open(to) { guide.n_ahead(&passed, to) } else { 0 };
        let (next, slot) =
            step(function, idx, |there, behind| match ahead(there).cmp(&ahead(behind)) {
                Ordering::Greater => true,
                Ordering::Less => false,
                Ordering::Equal => {
                    guide.is_taken(idx, there, behind, is_open)
                        || guide.stays(&nests, idx, there, behind, is_open)
                }
            });
        let cases = function.cases_of(idx).into_iter().flatten();
        let next = guide.case(cases.filter(|case| is_open(*case)), ahead).or(next);
        if let Some(slot) = slot {
            is_seen[slot] = true;
            places.push(slot);
        }
        goes_on = next;
        let Some(next) = next else {
            end = match function.instructions[idx].flow {
                Flow::Return | Flow::Resume => End::Return,
                Flow::Stop | Flow::LastCall => End::Stop,
                Flow::Branch { .. } | Flow::Jump | Flow::Next | Flow::Call { .. } => End::Jump,
            };
            break;
        };
        if ends_here(function, idx, guide.avoid) {
            end = End::Stop;
            break;
        }
        let is_test =
            matches!(function.instructions[idx].flow, Flow::Branch { is_conditional: true, .. });
        let others = [function.target(idx), Some(behind(function, idx).0)]
            .into_iter()
            .flatten()
            .filter(|_| is_test);
        ways_out.extend(
            others
                .filter(|other| *other != next && *other < n && nests.left(idx, *other) > 0)
                .map(|other| (idx, other)),
        );
        idx = next;
        if next < n && is_seen[next] {
            // The loop's own test let nobody out yet.
            let is_its = |(from, to): &&(usize, usize)| {
                nests.left(next, *from) == 0 && nests.left(next, *to) > 0
            };
            let out = ways_out
                .iter()
                .find(|pair| is_its(pair) && !is_seen[pair.1] && !guide.is_cold(pair.1));
            idx = out.map_or(next, |out| out.1);
        }
    }
    Trace::through(function, &Liveness::of(function), places, goes_on, end)
}

/// The instruction at `idx` calls a function that does not return.
fn ends_here(function: &Function, idx: usize, cold: &[String]) -> bool {
    let instruction = &function.instructions[idx];
    matches!(instruction.flow, Flow::Call { .. })
        && function
            .callees
            .get(&instruction.address)
            .is_some_and(|callee| is_cold_name(callee, cold))
}

fn is_cold_name(name: &str, cold: &[String]) -> bool {
    let plain = name.split('.').next().unwrap_or(name);
    let is_split_off = name.contains(".cold") || name.contains(".unlikely");
    is_split_off
        || COLD.contains(&plain)
        || cold.iter().any(|it| it == name || it == plain || is_called(&shown(name), it))
}

/// For each instruction: all that can follow it is cold.
fn cold_places(function: &Function, cold: &[String]) -> Vec<bool> {
    let n = function.instructions.len();
    let lines: Vec<SourceLine> = cold.iter().filter_map(|name| SourceLine::parse(name)).collect();
    let is_avoided = |idx: usize| lines.iter().any(|line| line.has(function, idx));
    // A place is warm if some way from it returns or leaves for a place that is not cold.
    let mut is_warm = vec![false; n];
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for idx in (0..n).rev() {
            if is_warm[idx] || is_avoided(idx) {
                continue;
            }
            let instruction = &function.instructions[idx];
            let at = |to: usize| is_warm.get(to).copied().unwrap_or(false);
            let behind = at(idx + 1 + usize::from(instruction.delay != Delay::None));
            let calls_cold = function
                .callees
                .get(&instruction.address)
                .is_some_and(|callee| is_cold_name(callee, cold));
            let warm = match instruction.flow {
                Flow::Next => behind,
                Flow::Call { .. } => behind && !calls_cold,
                Flow::Branch { is_conditional, .. } => {
                    let there = match function.target(idx) {
                        Some(to) => is_warm[to],
                        None => !calls_cold,
                    };
                    there || is_conditional && behind
                }
                Flow::Return | Flow::Resume => true,
                Flow::Jump => match function.cases_of(idx) {
                    Some(cases) => cases.iter().any(|case| is_warm[*case]),
                    None => !calls_cold,
                },
                Flow::Stop | Flow::LastCall => instruction.is_guarded() && behind,
            };
            is_warm[idx] = warm;
            is_changed |= warm;
        }
    }
    is_warm.iter().map(|found| !found).collect()
}
