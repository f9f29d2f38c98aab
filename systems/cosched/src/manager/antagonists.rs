//! Door: which program slows which, without a counter and without a program that counts: what a
//! program reads, writes and waits for in a second of its processor time falls when something takes
//! its caches or its link. Each time that a neighbour begins or ends to compute is a trial.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::time::{Duration, Instant};

use measure::stats;

use super::probes;
use super::program::{Antagonist, Program};
use super::rights;
use super::roster::Roster;

/// Between two looks, and with how many programs they come at the end of every quantum.
const EVERY: Duration = Duration::from_secs(1);
const FEW: usize = 8;
/// With more programs nothing is looked for: it would cost too much.
const MOST: usize = 64;
/// Programs of more processes are not looked at.
const PROCESSES: usize = 16;
/// Looks that are remembered, and neighbours that are suspected of a program: those that took the
/// most. One program a second is judged.
const WINDOWS: usize = 600;
const SUSPECTS: usize = 8;
/// A program that took less of a processor meanwhile has shown nothing.
const COMPUTES: f64 = 0.05;
/// A neighbour that never took as much of a processor is not suspected.
const SUSPECTED: f64 = 0.2;
/// Of what it takes at its most: it computes, and it does not.
const ON: f64 = 0.6;
const OFF: f64 = 0.1;
/// Times with and without a neighbour that are compared at least.
const TRIALS: usize = 5;
/// A neighbour is named if it slows by so much, as sure as this, however many are suspected.
const SLOWDOWN: f64 = 1.05;
const SURE: f64 = 0.95;

/// What a program did: bytes and calls of reads and writes, and waits of its first thread.
type Work = [u64; 3];

/// One look at a program.
#[derive(Debug, Clone, PartialEq)]
struct Account {
    pids: Vec<i32>,
    cpu_s: f64,
    work: Work,
}

/// What all did between two looks.
#[derive(Debug, Clone, Default)]
struct Window {
    /// Processors that each took.
    took: BTreeMap<u64, f64>,
    /// What each did in a second of its processor time, if it was there all the time.
    did: BTreeMap<u64, [f64; 3]>,
}

/// What was seen of late.
#[derive(Debug, Default)]
pub(super) struct Antagonists {
    looked: Option<(Instant, BTreeMap<u64, Account>)>,
    windows: VecDeque<Window>,
    judged: Option<(Instant, u64)>,
    found: BTreeMap<u64, Vec<Antagonist>>,
}

impl Antagonists {
    /// At the end of a quantum; `is_turn`: it gave some programs a turn and others none.
    pub(super) fn look(&mut self, roster: &Roster, is_turn: bool) {
        let n = roster.n_active();
        let every = if is_turn && n <= FEW { Duration::ZERO } else { EVERY };
        if self.looked.as_ref().is_some_and(|(at, _)| at.elapsed() < every) {
            return;
        }
        if !(2..=MOST).contains(&n) {
            *self = Antagonists::default();
            return;
        }
        let looks: BTreeMap<u64, Account> =
            roster.active().filter_map(|it| Some((it.id, look(it)?))).collect();
        let now = Instant::now();
        if let Some((at, before)) = self.looked.replace((now, looks)) {
            let after = &self.looked.as_ref().expect("it was just set").1;
            self.windows.push_back(window(&before, after, (now - at).as_secs_f64()));
            if self.windows.len() > WINDOWS {
                self.windows.pop_front();
            }
        }
        if self.judged.is_none_or(|(at, _)| at.elapsed() >= EVERY) {
            let names: BTreeMap<u64, String> =
                roster.active().map(|it| (it.id, it.name.clone())).collect();
            self.judge_next(now, &names);
        }
    }

    /// Those that slow this program, as was found last, the surest first.
    pub(super) fn of(&self, id: u64) -> Vec<Antagonist> {
        self.found.get(&id).cloned().unwrap_or_default()
    }

    /// Judges the program after the one that was judged last.
    fn judge_next(&mut self, now: Instant, names: &BTreeMap<u64, String>) {
        let after = self.judged.map_or(0, |(_, id)| id + 1);
        let next = names.range(after..).next().or_else(|| names.iter().next());
        let Some(id) = next.map(|(id, _)| *id) else { return };
        self.judged = Some((now, id));
        let found = self.slowing(id, names);
        self.found.insert(id, found);
        let is_there = |id: &u64| names.contains_key(id);
        self.found.retain(|id, _| is_there(id));
        for all in self.found.values_mut() {
            all.retain(|it| is_there(&it.id));
        }
    }

    /// Who slows this program, the surest first; `names` are those of all programs.
    fn slowing(&self, id: u64, names: &BTreeMap<u64, String>) -> Vec<Antagonist> {
        let most = |other: &u64| (*other, self.most(*other));
        let mut suspects: Vec<(u64, f64)> = names
            .keys()
            .filter(|other| **other != id)
            .map(most)
            .filter(|(_, most)| *most >= SUSPECTED)
            .collect();
        suspects.sort_by(|one, other| other.1.total_cmp(&one.1));
        suspects.truncate(SUSPECTS);
        let n_tests = 3 * suspects.len();
        let mut found: Vec<Antagonist> = suspects
            .iter()
            .filter_map(|(other, most)| {
                let (work, p) = (0..3)
                    .filter_map(|work| self.trials(id, (*other, *most), work))
                    .map(|(with, without)| {
                        let p = stats::rank_sum_p(&with, &without);
                        ((with, without), p)
                    })
                    .min_by(|one, other| one.1.total_cmp(&other.1))?;
                let (with, without) = work;
                Some(Antagonist {
                    id: *other,
                    name: names[other].clone(),
                    slowdown: stats::median(&without) / stats::median(&with),
                    confidence: (1.0 - p * n_tests as f64).max(0.0),
                    n_with: with.len(),
                    n_without: without.len(),
                })
            })
            .filter(|it| it.confidence >= SURE && it.slowdown >= SLOWDOWN)
            .collect();
        found.sort_by(|one, other| other.confidence.total_cmp(&one.confidence));
        found
    }

    /// Processors that a program takes at its most, but for a few looks.
    fn most(&self, id: u64) -> f64 {
        let took: Vec<f64> =
            self.windows.iter().filter_map(|window| window.took.get(&id).copied()).collect();
        if took.is_empty() { 0.0 } else { stats::quantile(&took, 0.9) }
    }

    /// What a program did of one kind of work in each time beside `other` and in each without; none
    /// if they are too few, or it does no such work.
    fn trials(
        &self,
        id: u64,
        (other, most): (u64, f64),
        work: usize,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut times: Vec<(bool, Vec<f64>)> = Vec::new();
        for window in &self.windows {
            let Some(did) = window.did.get(&id).map(|did| did[work]) else { continue };
            let took = window.took.get(&other).copied().unwrap_or(0.0);
            let is_on = match took / most {
                share if share >= ON => true,
                share if share <= OFF => false,
                _ => continue,
            };
            match times.last_mut().filter(|time| time.0 == is_on) {
                Some(time) => time.1.push(did),
                None => times.push((is_on, vec![did])),
            }
        }
        let of = |is_on: bool| -> Vec<f64> {
            let own = times.iter().filter(|time| time.0 == is_on);
            own.map(|time| stats::median(&time.1)).collect()
        };
        let (with, without) = (of(true), of(false));
        let is_enough = with.len() >= TRIALS && without.len() >= TRIALS;
        (is_enough && with.iter().chain(&without).all(|did| *did > 0.0)).then_some((with, without))
    }
}

/// Changes from one look to the next, `passed` seconds later.
fn window(before: &BTreeMap<u64, Account>, after: &BTreeMap<u64, Account>, passed: f64) -> Window {
    let mut found = Window::default();
    for (id, now) in after {
        let Some(then) = before.get(id).filter(|then| then.pids == now.pids) else { continue };
        let cpu_s = now.cpu_s - then.cpu_s;
        found.took.insert(*id, cpu_s / passed);
        if cpu_s > COMPUTES * passed {
            let did = |work: usize| now.work[work].saturating_sub(then.work[work]) as f64 / cpu_s;
            found.did.insert(*id, std::array::from_fn(did));
        }
    }
    found
}

/// None if a process of it ended meanwhile or says nothing to us, or they are many.
fn look(program: &Program) -> Option<Account> {
    let pids: Vec<i32> = program.group.members().ok()?.iter().map(|member| member.pid).collect();
    if pids.len() > PROCESSES {
        return None;
    }
    let mut work = [0; 3];
    for pid in &pids {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let did = counts(&rights::read_process(*pid, "io").ok()?, &status)?;
        work.iter_mut().zip(did).for_each(|(sum, did)| *sum += did);
    }
    let cpu_s = probes::ran_by(pids.iter().copied()).as_secs_f64();
    Some(Account { pids, cpu_s, work })
}

/// Source: proc_pid_io(5), proc_pid_status(5).
fn counts(io: &str, status: &str) -> Option<Work> {
    let number = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse::<u64>().ok()
    };
    let sum = |one: &str, other: &str| Some(number(io, one)? + number(io, other)?);
    let waits = number(status, "voluntary_ctxt_switches:")?;
    Some([sum("rchar:", "wchar:")?, sum("syscr:", "syscw:")?, waits])
}

#[cfg(test)]
mod tests {
    use super::*;

    const VICTIM: u64 = 1;
    const STREAM: u64 = 2;
    const BURNER: u64 = 3;

    fn names() -> BTreeMap<u64, String> {
        [(VICTIM, "victim"), (STREAM, "stream"), (BURNER, "burner")]
            .map(|(id, name)| (id, name.to_owned()))
            .into()
    }

    /// Seconds in which the neighbours compute or not; the victim does `rate` of the middle kind.
    fn seen(seconds: impl Iterator<Item = (bool, bool, f64)>) -> Antagonists {
        let mut all = Antagonists::default();
        let mut looks: BTreeMap<u64, Account> = [VICTIM, STREAM, BURNER]
            .map(|id| (id, Account { pids: vec![id as i32], cpu_s: 0.0, work: [0; 3] }))
            .into();
        for (streams, burns, rate) in seconds {
            let before = looks.clone();
            for (id, took) in [
                (VICTIM, 0.5),
                (STREAM, f64::from(u8::from(streams))),
                (BURNER, f64::from(u8::from(burns))),
            ] {
                let look = looks.get_mut(&id).expect("it is there");
                look.cpu_s += took;
                look.work[1] += if id == VICTIM { (rate * took) as u64 } else { 0 };
            }
            all.windows.push_back(window(&before, &looks, 1.0));
        }
        all
    }

    /// A generator of numbers 0 to 1, the same every time.
    fn noise() -> impl FnMut() -> f64 {
        let mut state = 7_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        }
    }

    #[test]
    fn the_one_that_slows_is_named_and_the_other_is_not() {
        let mut random = noise();
        let all = seen((0..200).map(|second| {
            let (streams, burns) = (second / 5 % 2 == 0, second / 7 % 2 == 0);
            (streams, burns, (if streams { 1000.0 } else { 1250.0 }) * (0.95 + 0.1 * random()))
        }));
        let found = all.slowing(VICTIM, &names());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].id, found[0].name.as_str()), (STREAM, "stream"));
        assert!((1.2..1.3).contains(&found[0].slowdown) && found[0].confidence > 0.99, "{found:?}");
        assert_eq!((found[0].n_with, found[0].n_without), (20, 20));
        assert!(all.slowing(STREAM, &names()).is_empty(), "it does nothing that can be seen");
    }

    #[test]
    fn chance_is_not_a_neighbour() {
        let mut random = noise();
        let mut n_named = 0;
        for _ in 0..100 {
            let all = seen((0..100).map(|second| {
                (second / 5 % 2 == 0, second / 7 % 2 == 0, 1000.0 * (0.5 + random()))
            }));
            n_named += all.slowing(VICTIM, &names()).len();
        }
        assert!(n_named <= 5, "{n_named} of 200 pairs");
    }

    #[test]
    fn one_change_is_no_proof() {
        // It came once, and stayed: the program may have begun something else then.
        let all = seen(
            (0..200).map(|second| (second > 99, false, if second > 99 { 500.0 } else { 1000.0 })),
        );
        assert!(all.slowing(VICTIM, &names()).is_empty());
        let five = seen((0..100).map(|second| {
            let streams = second / 10 % 2 == 0;
            (streams, false, if streams { 500.0 } else { 1000.0 })
        }));
        assert_eq!(five.slowing(VICTIM, &names())[0].n_with, 5);
    }

    #[test]
    fn a_program_that_changes_shows_nothing() {
        let one = |pids: &[i32]| Account { pids: pids.to_vec(), cpu_s: 0.0, work: [0; 3] };
        let before = BTreeMap::from([(1, one(&[5, 6]))]);
        let after = BTreeMap::from([(1, Account { cpu_s: 1.0, ..one(&[5, 7]) })]);
        assert!(window(&before, &after, 1.0).took.is_empty());
        let io = "rchar: 10\nwchar: 5\nsyscr: 2\nsyscw: 1\nread_bytes: 0\n";
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t4\n";
        assert_eq!(counts(io, status), Some([15, 3, 9]));
        assert_eq!(counts("", status), None, "unknown is not 0");
    }
}
