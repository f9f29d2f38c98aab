//! Door: traffic where nothing counts it: what a canary misses is what the programs beside it take.
//!
//! One look takes 0.7 ms on one of the processors, first in every second quantum, and half as often each time that
//! nothing has changed. What others take is shared out by processors, and, where it is known, by how far a program is
//! slowed down by those beside it: of two programs the one that does not mind is not the one that asks for much.

use std::io;
use std::time::{Duration, Instant};

use super::canary::{self, Calibration, Canary};

/// Between two looks of the canary, in quanta, at first; twice as long while nothing changes.
const LOOK_EVERY: u32 = 2;
/// At most so long.
const LOOK_EVERY_MAX: u32 = 16;
/// An estimate that moves by less than this share, or by this share of what a reader takes, has not changed: single
/// looks tell three or four levels apart, no more.
const STEADY: f64 = 0.2;
const STEADY_OF_READER: f64 = 0.25;
/// The least weight of a program: one that is not slowed down still counts.
const WEIGHT_MIN: f64 = 0.05;

/// When to look, and what looks cost.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// What the canary finds here.
    pub calibration: Calibration,
    /// Looks so far.
    pub n_looks: u32,
    /// Their time.
    pub spent: Duration,
    look_in: u32,
    look_every: u32,
}

/// A program in this quantum.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// Its processors.
    pub cpus: Vec<usize>,
    /// How far those beside it slow it down, if that is known.
    pub slowdown: Option<f64>,
    /// What it moved when it was looked at before, the median, MB/s of each processor.
    pub before_mbps: Option<f64>,
}

impl Estimate {
    /// Looks at once.
    pub fn new(calibration: Calibration) -> Estimate {
        Estimate { calibration, n_looks: 0, spent: Duration::ZERO, look_in: 0, look_every: LOOK_EVERY }
    }

    /// A quantum begins: true if this is one to look in.
    pub fn is_due(&mut self) -> bool {
        self.look_in = self.look_in.saturating_sub(1);
        self.look_in == 0
    }

    /// Other programs run from now on.
    pub fn start_again(&mut self) {
        self.look_every = LOOK_EVERY;
        self.look_in = self.look_in.min(LOOK_EVERY);
    }

    /// One look: MB/s of each processor of each program that it could see.
    pub fn look(&mut self, programs: &[Beside], cpus: &[usize], canary: &mut Canary) -> io::Result<Vec<Option<f64>>> {
        let start = Instant::now();
        let here = cpus[self.n_looks as usize % cpus.len()];
        canary::keep_here(here)?;
        let seen = canary.read(canary::LOOK);
        let found = share_out(programs, here, self.calibration.others_mbps(seen));
        self.n_looks += 1;
        self.plan(programs, &found);
        self.spent += start.elapsed();
        Ok(found)
    }

    /// Looks again soon if something changed.
    fn plan(&mut self, programs: &[Beside], found: &[Option<f64>]) {
        let least = STEADY_OF_READER * self.calibration.reader_mbps;
        let moved = |before: f64, now: f64| (now - before).abs() > (STEADY * before).max(least);
        let changed = programs.iter().zip(found).any(|(it, now)| now.is_some_and(|now| it.before_mbps.is_none_or(|it| moved(it, now))));
        self.look_every = if changed { LOOK_EVERY } else { (2 * self.look_every).min(LOOK_EVERY_MAX) };
        self.look_in = self.look_every;
    }
}

/// What the programs on other processors than `here` take together, as MB/s of each of their processors.
fn share_out(programs: &[Beside], here: usize, others_mbps: f64) -> Vec<Option<f64>> {
    let n_of = |it: &Beside| it.cpus.iter().filter(|cpu| **cpu != here).count() as f64;
    let known: Vec<f64> = programs.iter().filter(|it| n_of(it) > 0.0).filter_map(|it| it.slowdown).collect();
    let mean = if known.is_empty() { 1.0 } else { known.iter().map(|it| weight(*it)).sum::<f64>() / known.len() as f64 };
    let weight_of = |it: &Beside| it.slowdown.map_or(mean, weight);
    let all: f64 = programs.iter().map(|it| n_of(it) * weight_of(it)).sum();
    let one = |it: &Beside| (n_of(it) > 0.0).then(|| others_mbps * weight_of(it) / all);
    programs.iter().map(one).collect()
}

fn weight(slowdown: f64) -> f64 {
    (slowdown - 1.0).max(WEIGHT_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(cpus: &[usize], slowdown: Option<f64>, before_mbps: Option<f64>) -> Beside {
        Beside { cpus: cpus.to_vec(), slowdown, before_mbps }
    }

    #[test]
    fn traffic_is_shared_out_by_processors() {
        let programs = [on(&[0], None, None), on(&[1, 2], None, None), on(&[3], None, None), on(&[], None, None)];
        assert_eq!(share_out(&programs, 0, 9000.0), [None, Some(3000.0), Some(3000.0), None]);
        assert_eq!(share_out(&programs, 1, 9000.0), [Some(3000.0), Some(3000.0), Some(3000.0), None]);
    }

    #[test]
    fn who_is_slowed_down_is_who_asks() {
        let programs = [on(&[1], Some(2.0), None), on(&[2], Some(1.0), None)];
        let found = share_out(&programs, 0, 10_500.0);
        assert!((found[0].expect("seen") - 10_000.0).abs() < 1e-6 && (found[1].expect("seen") - 500.0).abs() < 1e-6, "{found:?}");
        let sum: f64 = found.iter().flatten().sum();
        assert!((sum - 10_500.0).abs() < 1e-6, "nothing is lost");
    }

    #[test]
    fn looks_become_rare_while_demand_is_steady() {
        let calibration = Calibration { alone_mbps: 20_000.0, beside_mbps: 12_000.0, reader_mbps: 12_000.0 };
        let mut it = Estimate::new(calibration);
        let looks = |it: &mut Estimate, n: u32, now: f64| {
            let mut n_looks = 0;
            for _ in 0..n {
                if it.is_due() {
                    n_looks += 1;
                    it.plan(&[on(&[1], None, Some(10_000.0))], &[Some(now)]);
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
