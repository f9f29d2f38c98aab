//! Door: carries out a decision: programs that lose their processors are frozen or demoted, then
//! those that get some are thawed or promoted.

use std::collections::VecDeque;
use std::time::Instant;

use super::program::Program;
use super::roster::Roster;

/// Changes whose time is remembered.
const TIMES: usize = 10_000;

/// What changes of programs took.
#[derive(Debug, Default)]
pub(super) struct Switcher {
    /// Microseconds, freezing to thawing or demoting to promoting; the last [`TIMES`].
    pub(super) took_us: VecDeque<f64>,
    /// Changes so far, and what all of them took.
    pub(super) n_changes: u64,
    pub(super) total_us: f64,
    /// Programs frozen at the ends of their turns.
    pub(super) n_freezes: u64,
    /// Programs demoted at the ends of their turns.
    pub(super) n_demotions: u64,
}

impl Switcher {
    /// Gives each program the processors that were chosen for it. Only freezing and thawing is a
    /// change of programs: the newcomers are told their processors before, the others after.
    pub(super) fn apply(&mut self, roster: &mut Roster, chosen: &[Vec<usize>]) {
        let newcomers = roster
            .programs
            .iter_mut()
            .zip(chosen)
            .filter(|(it, cpus)| !it.has_ended && !it.is_thawed && !cpus.is_empty());
        for (it, cpus) in newcomers {
            // What fails is tried again at the next turn.
            let _ = it.keep_to(cpus);
        }
        self.change(roster, chosen);
        for (it, cpus) in
            roster.programs.iter_mut().zip(chosen).filter(|(it, _)| !it.has_ended && !it.is_resting)
        {
            if cpus.is_empty() {
                it.waits += 1;
                it.n_waits += 1;
                it.longest_wait_quanta = it.longest_wait_quanta.max(it.waits);
            } else {
                it.waits = 0;
                it.n_turns += 1;
                if let Some(page) = &it.page {
                    let _ = page.set_turns(it.n_turns);
                }
                let _ = it.keep_to(cpus);
                it.usage.begin(&it.group);
            }
        }
    }

    fn change(&mut self, roster: &mut Roster, chosen: &[Vec<usize>]) {
        let start = Instant::now();
        let mut n_changes: u64 = 0;
        for it in roster.active_mut() {
            if let Some(demotable) = &mut it.demotable {
                // Without room it is tried again; until then it is in our memory as well.
                let _ = demotable.follow(&it.group);
            }
        }
        for (it, cpus) in roster.programs.iter_mut().zip(chosen) {
            // One that cannot be frozen, as on a full disk with signals, runs on beside its turns:
            // that hurts nobody for good.
            if it.is_thawed
                && cpus.is_empty()
                && !it.has_ended
                && !it.is_resting
                && it.wait_for_turn().is_ok()
            {
                self.n_freezes += u64::from(!it.is_soft);
                self.n_demotions += u64::from(it.is_soft);
                n_changes += 1;
            }
        }
        let takes_part = |it: &Program| !it.has_ended && !it.is_resting && it.demotable.is_some();
        let pairs = roster.programs.iter().zip(chosen).filter(|(it, _)| takes_part(it));
        let weighs = weighs(pairs.map(|(it, cpus)| (it.n_threads, !cpus.is_empty())));
        for (it, cpus) in roster.programs.iter_mut().zip(chosen) {
            let is_news = !it.is_thawed || (it.demotable.is_some() && it.weighs != weighs);
            if is_news && !cpus.is_empty() && !it.has_ended {
                let was_thawed = it.is_thawed;
                n_changes += u64::from(it.go_on(weighs).is_ok() && !was_thawed);
            }
        }
        if n_changes > 0 {
            if self.took_us.len() == TIMES {
                self.took_us.pop_front();
            }
            let took_us = start.elapsed().as_secs_f64() * 1e6;
            self.took_us.push_back(took_us);
            self.n_changes += 1;
            self.total_us += took_us;
        }
    }

    /// All programs run: no policy chooses.
    pub(super) fn thaw_all(&mut self, roster: &mut Roster, cpus: &[usize]) {
        for it in roster.active_mut().filter(|active| !active.is_thawed) {
            it.run_on(cpus);
        }
    }

    /// All programs run, whatever we believe of them: they may have been thawed, and
    /// others may be frozen.
    pub(super) fn let_all_run(&mut self, roster: &mut Roster, cpus: &[usize]) {
        for it in roster.active_mut() {
            it.keeps_to.clear();
            it.lift();
            it.run_on(cpus);
        }
    }
}

/// What a program in its turn weighs, of all that take part with their threads and whether they
/// have one: for those that wait as well, so that a neighbour that is not managed gets no more of
/// the processors than if nobody waited.
fn weighs(all: impl Iterator<Item = (usize, bool)>) -> f64 {
    let (mut n_all, mut n_chosen) = (0, 0);
    for (n_threads, has_turn) in all {
        n_all += n_threads;
        n_chosen += if has_turn { n_threads } else { 0 };
    }
    if n_chosen == 0 { 1.0 } else { n_all as f64 / n_chosen as f64 }
}

#[cfg(test)]
mod tests {
    use super::weighs;

    #[test]
    fn who_runs_weighs_for_who_waits() {
        assert_eq!(weighs([(1, true), (1, true), (1, false), (1, false)].into_iter()), 2.0);
        assert_eq!(weighs([(2, true), (1, false)].into_iter()), 1.5);
        assert_eq!(weighs([(1, true)].into_iter()), 1.0);
        assert_eq!(weighs([(1, false)].into_iter()), 1.0, "nobody has a turn");
    }
}
