//! Warnings about a noisy run: what happened, what it does to the number, what to try.

use std::fmt;

use crate::stats::{median, quantile};

/// A reason to doubt a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    pub happened: String,
    /// What it does to the number.
    pub effect: String,
    /// What to try next.
    pub advice: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}; {}", self.happened, self.effect, self.advice)
    }
}

/// Half of the samples lie further apart than this share of the median: then we warn.
pub const SPREAD_MAX: f64 = 0.10;
/// The second half of a run differs from the first by more than this share: then we warn.
pub const DRIFT_MAX: f64 = 0.05;
/// Fewer samples than this tell neither spread nor drift.
const N_SAMPLES_MIN: usize = 8;

/// Warns when the machine was busy: `load` is the mean number of running threads over the
/// last minute, this program's own included, on `n_cores` cores.
pub fn busy(load: f64, n_cores: usize) -> Option<Warning> {
    if load <= n_cores as f64 {
        return None;
    }
    Some(Warning {
        happened: format!("{load:.1} threads wanted the {n_cores} cores over the last minute"),
        effect: "samples in which we waited for a core are too long".to_owned(),
        advice: "stop other programs and run again".to_owned(),
    })
}

/// Warns when `n` samples were taken although other programs kept the
/// processors busy, see [`crate::quiet`].
pub fn disturbed(n: u32) -> Option<Warning> {
    (n > 0).then(|| Warning {
        happened: format!("{n} samples were taken while other programs ran"),
        effect: "they are too long; the ratio of pairs suffers less than the medians".to_owned(),
        advice: "stop other programs and run again".to_owned(),
    })
}

/// Warns when the samples of `name` spread: the distance between the quartiles against the median.
pub fn spread(name: &str, samples: &[f64]) -> Option<Warning> {
    if samples.len() < N_SAMPLES_MIN {
        return None;
    }
    let share = (quantile(samples, 0.75) - quantile(samples, 0.25)) / median(samples);
    // Written so that a share that is not a number (all samples 0) does not warn.
    if share > SPREAD_MAX {
        return Some(Warning {
            happened: format!(
                "the middle half of the samples of {name} spreads over {:.0} % of the median",
                share * 100.0
            ),
            effect: "the interval is wide, and small differences cannot be seen".to_owned(),
            advice: "take more pairs, or longer samples".to_owned(),
        });
    }
    None
}

/// Warns when `name` became slower or faster during the run: the median of its second
/// half against the first.
pub fn drift(name: &str, samples: &[f64]) -> Option<Warning> {
    if samples.len() < N_SAMPLES_MIN {
        return None;
    }
    let (first, second) = samples.split_at(samples.len() / 2);
    let change = median(second) / median(first) - 1.0;
    if change.abs() > DRIFT_MAX {
        let direction = if change > 0.0 { "longer" } else { "shorter" };
        return Some(Warning {
            happened: format!(
                "the samples of {name} became {:.0} % {direction} during the run",
                change.abs() * 100.0
            ),
            effect: "its median mixes two speeds; the ratio of pairs suffers less".to_owned(),
            advice: "warm up longer, or fix the clock frequency of the processor".to_owned(),
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_run_says_nothing() {
        let samples = [100.0, 101.0, 99.0, 100.0, 102.0, 100.0, 99.0, 101.0, 100.0];
        assert_eq!(busy(2.0, 2), None);
        assert_eq!(spread("A", &samples), None);
        assert_eq!(drift("A", &samples), None);
    }

    #[test]
    fn each_warning_has_three_parts() {
        let warning = busy(5.25, 4).expect("it is busy");
        assert_eq!(
            warning.to_string(),
            "5.2 threads wanted the 4 cores over the last minute; samples in which we waited for a core are too long; \
             stop other programs and run again"
        );
        let wide = [50.0, 60.0, 100.0, 140.0, 150.0, 55.0, 145.0, 100.0];
        assert!(spread("A", &wide).is_some_and(|spread| spread.happened.contains("samples of A")));
        let falling = [100.0, 100.0, 100.0, 100.0, 90.0, 90.0, 90.0, 90.0];
        let warning = drift("B", &falling).expect("it drifts");
        assert!(warning.happened.contains("10 % shorter"), "{warning}");
    }

    #[test]
    fn few_samples_or_zeros_do_not_warn() {
        assert_eq!(spread("A", &[1.0, 9.0]), None);
        assert_eq!(drift("A", &[1.0, 9.0]), None);
        assert_eq!(spread("A", &[0.0; 10]), None);
        assert_eq!(drift("A", &[0.0; 10]), None);
    }
}
