//! A and B in turn, so that whatever disturbs the machine disturbs both.
//!
//! One pair is one sample of A and one of B; the order alternates, A B B A A B B A, so that a
//! drift favours neither. A sample is the smallest of a few repetitions: disturbances only
//! ever add time.

use crate::noise::{self, Warning};
use crate::stats::{median, median_interval, rank_sum_p};

/// How often to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Pairs that are run and thrown away first.
    pub n_warmups: usize,
    pub n_pairs: usize,
    /// Repetitions of which a sample keeps the smallest.
    pub n_repeats: usize,
}

impl Plan {
    /// One warm-up and `n_pairs` pairs of the smallest of three.
    pub fn pairs(n_pairs: usize) -> Plan {
        Plan { n_warmups: 1, n_pairs, n_repeats: 3 }
    }
}

/// Samples of A and B; `a[i]` and `b[i]` were taken next to each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    /// Samples of A, in the unit the closure gave.
    pub a: Vec<f64>,
    pub b: Vec<f64>,
}

/// What the pairs say.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub a_median: f64,
    pub b_median: f64,
    /// Median of `a[i] / b[i]`: above 1, B is faster.
    pub ratio: f64,
    /// Low end of the 95 % interval of the ratio.
    pub ratio_low: f64,
    /// High end of the 95 % interval of the ratio.
    pub ratio_high: f64,
    /// Confidence of that interval, 0 to 1; below 0.95 with fewer than six pairs.
    pub confidence: f64,
    /// Two-sided p of the rank-sum test on the samples.
    pub p: f64,
    pub n: usize,
    /// Reasons to doubt the numbers.
    pub warnings: Vec<Warning>,
}

/// Runs A and B in turn. Each closure gives one sample, such as ticks or seconds; the first
/// error ends the run.
pub fn run_pairs<E>(
    plan: Plan,
    mut a: impl FnMut() -> Result<f64, E>,
    mut b: impl FnMut() -> Result<f64, E>,
) -> Result<Paired, E> {
    let mut paired =
        Paired { a: Vec::with_capacity(plan.n_pairs), b: Vec::with_capacity(plan.n_pairs) };
    for pair_idx in 0..plan.n_warmups + plan.n_pairs {
        let (sample_a, sample_b);
        if pair_idx % 2 == 0 {
            sample_a = smallest(plan.n_repeats, &mut a)?;
            sample_b = smallest(plan.n_repeats, &mut b)?;
        } else {
            sample_b = smallest(plan.n_repeats, &mut b)?;
            sample_a = smallest(plan.n_repeats, &mut a)?;
        }
        if pair_idx >= plan.n_warmups {
            paired.a.push(sample_a);
            paired.b.push(sample_b);
        }
    }
    Ok(paired)
}

fn smallest<E>(n_repeats: usize, sample: &mut impl FnMut() -> Result<f64, E>) -> Result<f64, E> {
    let mut smallest = sample()?;
    for _ in 1..n_repeats {
        smallest = smallest.min(sample()?);
    }
    Ok(smallest)
}

impl Paired {
    /// Medians, ratio with interval, p, and warnings from the samples themselves; warnings
    /// about the machine are the caller's, see [`noise::busy`].
    pub fn summary(&self) -> Summary {
        assert_eq!(self.a.len(), self.b.len(), "samples come in pairs");
        let ratios: Vec<f64> = self.a.iter().zip(&self.b).map(|(a, b)| ratio(*a, *b)).collect();
        let interval = median_interval(&ratios, 0.95);
        let mut warnings: Vec<Warning> = [
            noise::spread("A", &self.a),
            noise::spread("B", &self.b),
            noise::drift("A", &self.a),
            noise::drift("B", &self.b),
        ]
        .into_iter()
        .flatten()
        .collect();
        if interval.confidence < 0.95 {
            warnings.push(Warning {
                happened: format!("there are only {} pairs", self.a.len()),
                effect: format!(
                    "the interval holds the ratio with {:.0} % instead of 95 %",
                    interval.confidence * 100.0
                ),
                advice: "take at least six pairs".to_owned(),
            });
        }
        Summary {
            a_median: median(&self.a),
            b_median: median(&self.b),
            ratio: interval.value,
            ratio_low: interval.low,
            ratio_high: interval.high,
            confidence: interval.confidence,
            p: rank_sum_p(&self.a, &self.b),
            n: self.a.len(),
            warnings,
        }
    }
}

/// Two samples too short for the clock are equal.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 && b == 0.0 { 1.0 } else { a / b }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_order_alternates_and_warm_ups_do_not_count() {
        let log = RefCell::new(String::new());
        let sample = |name: char, value: f64| {
            log.borrow_mut().push(name);
            Ok::<f64, ()>(value)
        };
        let plan = Plan { n_warmups: 1, n_pairs: 3, n_repeats: 2 };
        let paired = run_pairs(plan, || sample('A', 2.0), || sample('B', 1.0));
        assert_eq!(paired, Ok(Paired { a: vec![2.0; 3], b: vec![1.0; 3] }));
        assert_eq!(log.into_inner(), "AABBBBAAAABBBBAA");
    }

    #[test]
    fn a_sample_is_the_smallest_repetition() {
        let mut values = [9.0, 3.0, 5.0, 4.0, 8.0, 7.0].into_iter();
        let plan = Plan { n_warmups: 0, n_pairs: 1, n_repeats: 3 };
        let mut next = || values.next().ok_or("no value left");
        let first = run_pairs(plan, &mut next, || Ok(1.0));
        assert_eq!(first, Ok(Paired { a: vec![3.0], b: vec![1.0] }));
    }

    #[test]
    fn the_first_error_ends_the_run() {
        let mut n_runs = 0;
        let ended = run_pairs(
            Plan::pairs(5),
            || Err::<f64, &str>("it crashed"),
            || {
                n_runs += 1;
                Ok(1.0)
            },
        );
        assert_eq!(ended, Err("it crashed"));
        assert_eq!(n_runs, 0);
    }

    #[test]
    fn the_ratio_survives_a_drift() {
        let drifting: Vec<f64> = (0..20).map(|idx| 100.0 + f64::from(idx) * 5.0).collect();
        let halved = drifting.iter().map(|number| number / 2.0).collect();
        let summary = Paired { a: drifting, b: halved }.summary();
        assert_eq!((summary.ratio, summary.ratio_low, summary.ratio_high), (2.0, 2.0, 2.0));
        assert_eq!(summary.n, 20);
        assert!(summary.p < 1e-6, "{}", summary.p);
        assert!(
            summary
                .warnings
                .iter()
                .any(|warning| warning.happened.contains("longer during the run"))
        );
    }

    #[test]
    fn few_pairs_warn() {
        let summary = Paired { a: vec![1.0, 2.0], b: vec![1.0, 2.0] }.summary();
        assert_eq!(summary.ratio, 1.0);
        assert!(
            summary.warnings.iter().any(|warning| warning.happened == "there are only 2 pairs")
        );
    }
}
