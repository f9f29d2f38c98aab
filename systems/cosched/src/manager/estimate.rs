//! Door: traffic where nothing counts it: what a canary misses is what the programs beside it take.
//!
//! One look takes 0.7 ms on one of the processors, first in every second quantum, and half as often
//! each time that nothing has changed. What others take is shared out by processors, and, where it
//! is known, by how far a program is slowed down by those beside it: of two programs the one that
//! does not mind is not the one that asks for much.

use std::io;
use std::time::{Duration, Instant};

use super::canary::{self, Calibration, Canary, LEVEL};

/// Between two looks of the canary, in quanta, at first; twice as long while nothing changes.
const LOOK_EVERY: u32 = 2;
/// At most so long.
const LOOK_EVERY_MAX: u32 = 16;
/// An estimate that moves by less than this share, or by less than a [`LEVEL`], has not changed.
const STEADY: f64 = 0.2;
/// The least weight of a program: one that is not slowed down still counts.
const WEIGHT_MIN: f64 = 0.05;

/// When to look, and what looks cost.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// What the canary finds here; none where it sees nothing, and never looks.
    pub calibration: Option<Calibration>,
    pub n_looks: u32,
    pub spent: Duration,
    look_in: u32,
    look_every: u32,
}

/// A program in this quantum.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    pub cpus: Vec<usize>,
    /// How far those beside it slow it down, if that is known.
    pub slowdown: Option<f64>,
    /// What it moved when it was looked at before, the median, MB/s of each processor.
    pub before_mbps: Option<f64>,
}

/// What one look found of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found {
    /// It was not seen: all its processors are the canary's.
    Unseen,
    /// It takes less than can be told from nothing.
    Little,
    /// MB/s of each of its processors.
    Mbps(f64),
}

impl Found {
    /// As far as choosing goes.
    fn mbps(self) -> Option<f64> {
        match self {
            Found::Unseen => None,
            Found::Little => Some(0.0),
            Found::Mbps(mbps) => Some(mbps),
        }
    }
}

impl Estimate {
    pub fn new(calibration: Option<Calibration>) -> Estimate {
        Estimate {
            calibration,
            n_looks: 0,
            spent: Duration::ZERO,
            look_in: 0,
            look_every: LOOK_EVERY,
        }
    }

    /// A quantum begins: true if this is one to look in.
    pub fn is_due(&mut self) -> bool {
        self.look_in = self.look_in.saturating_sub(1);
        self.look_in == 0 && self.calibration.is_some()
    }

    /// Other programs run from now on.
    pub fn start_again(&mut self) {
        self.look_every = LOOK_EVERY;
        self.look_in = self.look_in.min(LOOK_EVERY);
    }

    /// One look: what each program takes. `programs` says how they were beside the canary, which
    /// was on the processor that it is told.
    pub fn look(
        &mut self,
        programs: impl FnOnce(usize) -> Vec<Beside>,
        cpus: &[usize],
        canary: &mut Canary,
    ) -> io::Result<Vec<Found>> {
        let here = cpus[self.n_looks as usize % cpus.len()];
        let Some(calibration) = self.calibration else {
            return Ok(vec![Found::Unseen; programs(here).len()]);
        };
        let start = Instant::now();
        canary::keep_here(here)?;
        let seen = canary.read(canary::LOOK);
        let programs = &programs(here);
        let unseen = vec![Found::Unseen; programs.len()];
        let others_mbps = calibration.others_mbps(seen);
        // More than the link carries is what something else took from the canary.
        let is_disturbed = others_mbps > calibration.capacity_mbps();
        let found = if is_disturbed { unseen } else { share_out(programs, here, others_mbps) };
        self.n_looks += 1;
        self.plan(programs, &found, LEVEL * calibration.reader_mbps);
        self.spent += start.elapsed();
        Ok(found)
    }

    /// Looks again soon if something changed by more than `level_mbps`.
    fn plan(&mut self, programs: &[Beside], found: &[Found], level_mbps: f64) {
        let moved =
            |before: f64, now: f64| (now - before).abs() > (STEADY * before).max(level_mbps);
        let is_news = |program: &Beside, now: f64| {
            program.before_mbps.is_none_or(|before| moved(before, now))
        };
        let changed = programs
            .iter()
            .zip(found)
            .any(|(program, now)| now.mbps().is_some_and(|now| is_news(program, now)));
        self.look_every =
            if changed { LOOK_EVERY } else { (2 * self.look_every).min(LOOK_EVERY_MAX) };
        self.look_in = self.look_every;
    }
}

/// What the programs on other processors than `here` take together, as MB/s of
/// each of their processors.
fn share_out(programs: &[Beside], here: usize, others_mbps: Option<f64>) -> Vec<Found> {
    let n_of = |beside: &Beside| beside.cpus.iter().filter(|cpu| **cpu != here).count() as f64;
    let known: Vec<f64> = programs
        .iter()
        .filter(|program| n_of(program) > 0.0)
        .filter_map(|program| program.slowdown)
        .collect();
    let mean = if known.is_empty() {
        1.0
    } else {
        known.iter().map(|it| weight(*it)).sum::<f64>() / known.len() as f64
    };
    let weight_of = |beside: &Beside| beside.slowdown.map_or(mean, weight);
    let all: f64 = programs.iter().map(|program| n_of(program) * weight_of(program)).sum();
    let one = |beside: &Beside| match others_mbps {
        _ if n_of(beside) == 0.0 => Found::Unseen,
        None => Found::Little,
        Some(others_mbps) => Found::Mbps(others_mbps * weight_of(beside) / all),
    };
    programs.iter().map(one).collect()
}

fn weight(slowdown: f64) -> f64 {
    (slowdown - 1.0).max(WEIGHT_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Calibration = Calibration {
        alone_mbps: 20_000.0,
        beside_mbps: 12_000.0,
        reader_mbps: 12_000.0,
        is_clear: true,
    };

    #[test]
    fn a_canary_that_sees_nothing_never_looks() {
        let mut it = Estimate::new(None);
        assert!((0..100).all(|_| !it.is_due()));
        let found = it
            .look(|_| vec![on(&[0, 1], None, None)], &[0, 1], &mut Canary::new())
            .expect("nothing is done");
        assert_eq!((found, it.n_looks), (vec![Found::Unseen], 0));
    }

    fn on(cpus: &[usize], slowdown: Option<f64>, before_mbps: Option<f64>) -> Beside {
        Beside { cpus: cpus.to_vec(), slowdown, before_mbps }
    }

    #[test]
    fn traffic_is_shared_out_by_processors() {
        let programs = [
            on(&[0], None, None),
            on(&[1, 2], None, None),
            on(&[3], None, None),
            on(&[], None, None),
        ];
        let each = Found::Mbps(3000.0);
        assert_eq!(
            share_out(&programs, 0, Some(9000.0)),
            [Found::Unseen, each, each, Found::Unseen]
        );
        assert_eq!(share_out(&programs, 1, Some(9000.0)), [each, each, each, Found::Unseen]);
        assert_eq!(
            share_out(&programs, 1, None),
            [Found::Little, Found::Little, Found::Little, Found::Unseen]
        );
    }

    #[test]
    fn who_is_slowed_down_is_who_asks() {
        let programs = [on(&[1], Some(2.0), None), on(&[2], Some(1.0), None)];
        let found: Vec<f64> =
            share_out(&programs, 0, Some(10_500.0)).into_iter().filter_map(Found::mbps).collect();
        assert!(
            (found[0] - 10_000.0).abs() < 1e-6 && (found[1] - 500.0).abs() < 1e-6,
            "{found:?}: nothing is lost"
        );
    }

    #[test]
    fn looks_become_rare_while_demand_is_steady() {
        let mut it = Estimate::new(Some(FULL));
        let looks = |estimate: &mut Estimate, n: u32, now: f64| {
            let mut n_looks = 0;
            for _ in 0..n {
                if estimate.is_due() {
                    n_looks += 1;
                    estimate.plan(
                        &[on(&[1], None, Some(10_000.0))],
                        &[Found::Mbps(now)],
                        LEVEL * FULL.reader_mbps,
                    );
                }
            }
            n_looks
        };
        assert!(looks(&mut it, 30, 20_000.0) <= 15 + 1, "at most in every second quantum");
        looks(&mut it, 64, 10_500.0);
        assert_eq!(looks(&mut it, 160, 10_500.0), 10, "every 16th quantum");
        looks(&mut it, 16, 20_000.0);
        assert_eq!(looks(&mut it, 20, 20_000.0), 10, "something changes");
    }
}
