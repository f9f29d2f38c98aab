//! Statistics that assume nothing about the shape of the samples: medians, intervals, ranks.

/// A value with the interval that holds the true one with the stated confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Confidence reached, 0 to 1: at least the one asked for, or the most the sample allows.
    pub confidence: f64,
}

/// The samples in rising order; panics on a sample that is not a number, which no clock gives.
pub fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("a sample is a number"));
    sorted
}

/// The middle of the samples; not a number without samples.
pub fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

/// The value below which a share of `p` (0 to 1) of the samples lies, interpolated linearly
/// between neighbours; not a number without samples.
pub fn quantile(samples: &[f64], p: f64) -> f64 {
    let sorted = sorted(samples);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

/// The geometric mean of positive values; not a number without values or with others.
pub fn geometric_mean(values: &[f64]) -> f64 {
    let logs: f64 = values.iter().map(|number| number.ln()).sum();
    (logs / values.len() as f64).exp()
}

/// The median with the interval between two order statistics, which holds whatever the
/// distribution is: with `n` samples the number below the true median is binomial with
/// probability one half, so the interval from the k-th smallest to the k-th largest holds it
/// unless fewer than k samples fall on one side.
///
/// With fewer than six samples no such interval reaches 95 %; then it is the whole range and
/// `confidence` says how much that is. Not a number without samples.
pub fn median_interval(samples: &[f64], confidence: f64) -> Interval {
    let sorted = sorted(samples);
    let n = sorted.len();
    if n == 0 {
        return Interval { value: f64::NAN, low: f64::NAN, high: f64::NAN, confidence: 0.0 };
    }
    // Probability that fewer than k of n samples lie below the median, for k = 1, 2, ...
    // The terms are kept as logarithms: one half to the power of n is too small for n > 1074.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut below = log_term.exp();
    let mut k = 1;
    let mut reached = (1.0 - 2.0 * below).max(0.0);
    while 2 * (k + 1) <= n {
        log_term += ((n - k + 1) as f64 / k as f64).ln();
        let next = below + log_term.exp();
        if 1.0 - 2.0 * next < confidence {
            break;
        }
        k += 1;
        below = next;
        reached = 1.0 - 2.0 * next;
    }
    Interval {
        value: median(&sorted),
        low: sorted[k - 1],
        high: sorted[n - k],
        confidence: reached,
    }
}

/// Samples from which on some interval holds the median with 95 %.
pub const N_SAMPLES_MIN: usize = 6;

/// The ends of an interval of `n_samples` ratios, as tables show them. Fewer samples than
/// [`N_SAMPLES_MIN`] have only a range, which is said; one has not even that.
pub fn interval_text((low, high): (f64, f64), n_samples: usize) -> String {
    match n_samples {
        0 | 1 => "-".to_owned(),
        2..N_SAMPLES_MIN => format!("{low:.3} to {high:.3} (range of {n_samples})"),
        _ => format!("{low:.3} to {high:.3}"),
    }
}

/// The median of all differences `a - b`: by how much the samples of `a` lie above those of
/// `b` (Hodges and Lehmann 1963); not a number if one side has no samples.
pub fn shift(a: &[f64], b: &[f64]) -> f64 {
    let differences: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| a - b)).collect();
    median(&differences)
}

/// The two-sided p-value of the rank-sum test (Wilcoxon 1945; Mann and Whitney 1947): how
/// likely samples lie this far apart if both come from the same distribution.
///
/// Exact when the smaller sample has fewer than eight values and there are no ties; otherwise
/// the normal approximation with correction for ties and continuity. 1 if a side is empty.
pub fn rank_sum_p(a: &[f64], b: &[f64]) -> f64 {
    let (n_a, n_b) = (a.len(), b.len());
    if n_a == 0 || n_b == 0 {
        return 1.0;
    }
    let Ranks { sum_a, ties } = ranks(a, b);
    // U counts the pairs in which the value of `a` is the larger one.
    let u = sum_a - (n_a * (n_a + 1)) as f64 / 2.0;
    if n_a.min(n_b) < 8 && n_a.max(n_b) <= 40 && ties == 0.0 {
        return exact_p(u as usize, n_a, n_b);
    }
    let (n_a, n_b) = (n_a as f64, n_b as f64);
    let n = n_a + n_b;
    let mean = n_a * n_b / 2.0;
    let variance = n_a * n_b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - mean).abs() - 0.5).max(0.0) / variance.sqrt();
    (2.0 * normal_tail(z)).min(1.0)
}

struct Ranks {
    /// Sum of the ranks of `a` among all samples, ties sharing their mean rank.
    sum_a: f64,
    /// Sum of t^3 - t over the groups of t equal samples.
    ties: f64,
}

fn ranks(a: &[f64], b: &[f64]) -> Ranks {
    let mut all: Vec<(f64, bool)> =
        a.iter().map(|&found| (found, true)).chain(b.iter().map(|&found| (found, false))).collect();
    all.sort_by(|x, y| x.0.partial_cmp(&y.0).expect("a sample is a number"));
    let mut found = Ranks { sum_a: 0.0, ties: 0.0 };
    let mut n_before = 0usize;
    for group in all.chunk_by(|x, y| x.0 == y.0) {
        let mean_rank = n_before as f64 + (group.len() + 1) as f64 / 2.0;
        found.sum_a += mean_rank * group.iter().filter(|pair| pair.1).count() as f64;
        let t = group.len() as f64;
        found.ties += t * t * t - t;
        n_before += group.len();
    }
    found
}

/// Two-sided p of U from the count of all arrangements: `ways[u]` arrangements of i values of
/// `a` and j of `b` give u, and the largest value belongs either to `a` (adding j) or to `b`.
fn exact_p(u: usize, n_a: usize, n_b: usize) -> f64 {
    let u_max = n_a * n_b;
    // rows[j] holds the counts for the present i and j values of `b`.
    let mut rows = vec![vec![0.0f64; u_max + 1]; n_b + 1];
    for row in &mut rows {
        row[0] = 1.0;
    }
    for i in 1..=n_a {
        for j in 0..=n_b {
            let mut row = vec![0.0; u_max + 1];
            for value in 0..=i * j {
                let from_a = if value >= j { rows[j][value - j] } else { 0.0 };
                let from_b = if j > 0 { rows[j - 1][value] } else { 0.0 };
                row[value] = from_a + from_b;
            }
            rows[j] = row;
        }
    }
    let ways = &rows[n_b];
    let n_ways: f64 = ways.iter().sum();
    let tail = u.min(u_max - u);
    let in_tail: f64 = ways[..=tail].iter().sum();
    (2.0 * in_tail / n_ways).min(1.0)
}

/// Probability that a standard normal value exceeds `z` >= 0.
///
/// Up to 3 by the series of the integral, beyond by its continued fraction; both are good to
/// about ten digits there.
fn normal_tail(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < 3.0 {
        let mut term = z;
        let mut sum = z;
        let mut n = 1.0;
        while term > 1e-17 {
            term *= z * z / (2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        return 0.5 - density * sum;
    }
    let fraction = (1..=60).rev().fold(z, |below, k| z + f64::from(k) / below);
    density / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, wanted: f64, error_max: f64) {
        assert!((got - wanted).abs() <= error_max, "{got} is not {wanted} within {error_max}");
    }

    #[test]
    fn few_samples_have_a_range_and_one_has_none() {
        assert_eq!(interval_text((1.0, 1.0), 1), "-");
        assert_eq!(interval_text((0.9, 1.1), 5), "0.900 to 1.100 (range of 5)");
        assert_eq!(interval_text((0.9, 1.1), 6), "0.900 to 1.100");
        assert!(median_interval(&[1.0; N_SAMPLES_MIN], 0.95).confidence >= 0.95);
        assert!(median_interval(&[1.0; N_SAMPLES_MIN - 1], 0.95).confidence < 0.95);
    }

    #[test]
    fn medians_and_quantiles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.25), 2.0);
        assert_eq!(quantile(&[10.0], 0.9), 10.0);
    }

    #[test]
    fn geometric_means() {
        near(geometric_mean(&[2.0, 8.0]), 4.0, 1e-12);
        near(geometric_mean(&[0.5, 2.0, 1.0]), 1.0, 1e-12);
        assert!(geometric_mean(&[]).is_nan());
    }

    /// Ranks and confidences of the tables of order-statistic intervals for the median:
    /// n = 10 takes the 2nd and 9th (97.85 %), n = 20 the 6th and 15th (95.86 %),
    /// n = 6 the extremes (96.88 %), n = 100 the 40th and 61st (96.48 %).
    #[test]
    fn median_intervals_of_the_tables() {
        for (n, low, confidence) in
            [(6, 1, 0.96875), (10, 2, 0.978516), (20, 6, 0.958611), (100, 40, 0.964800)]
        {
            let samples: Vec<f64> = (1..=n).map(f64::from).collect();
            let interval = median_interval(&samples, 0.95);
            assert_eq!(
                (interval.low, interval.high),
                (f64::from(low), f64::from(n + 1 - low)),
                "n = {n}"
            );
            near(interval.confidence, confidence, 1e-6);
        }
    }

    #[test]
    fn too_few_samples_say_so() {
        let interval = median_interval(&[1.0, 5.0, 2.0], 0.95);
        assert_eq!((interval.value, interval.low, interval.high), (2.0, 1.0, 5.0));
        near(interval.confidence, 0.75, 1e-12);
        assert_eq!(median_interval(&[7.0], 0.95).confidence, 0.0);
        assert!(median_interval(&[], 0.95).value.is_nan());
    }

    #[test]
    fn many_samples_do_not_vanish() {
        let samples: Vec<f64> = (0..10_000).map(f64::from).collect();
        let interval = median_interval(&samples, 0.95);
        assert!((4_890.0..4_910.0).contains(&interval.low), "{interval:?}");
    }

    #[test]
    fn shifts() {
        assert_eq!(shift(&[3.0, 4.0, 5.0], &[1.0, 2.0, 3.0]), 2.0);
    }

    /// Hollander and Wolfe, permeability of the membrane at term and at 12 to 26 weeks: the
    /// exact two-sided p is 0.2544.
    #[test]
    fn rank_sum_of_a_textbook() {
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        near(rank_sum_p(&term, &early), 0.254412, 1e-6);
        near(rank_sum_p(&early, &term), 0.254412, 1e-6);
    }

    /// The critical values of the tables: for 5 and 5 samples U = 2 is significant at 5 %
    /// (p = 0.0317), U = 3 is not (p = 0.0556).
    #[test]
    fn rank_sum_at_the_critical_values() {
        let b = [10.0, 20.0, 30.0, 40.0, 50.0];
        near(rank_sum_p(&[1.0, 2.0, 3.0, 4.0, 25.0], &b), 8.0 / 252.0, 1e-12);
        near(rank_sum_p(&[1.0, 2.0, 3.0, 4.0, 35.0], &b), 14.0 / 252.0, 1e-12);
        near(rank_sum_p(&[1.0, 2.0, 3.0, 4.0, 5.0], &b), 2.0 / 252.0, 1e-12);
    }

    /// Nine and nine samples with ties, against the formula worked by hand:
    /// U = 12, mean 40.5, ties 12, z = 28 / sqrt(81 / 12 * (19 - 12 / 306)).
    #[test]
    fn rank_sum_with_ties() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 12.0, 13.0];
        let b = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 14.0, 15.0, 16.0];
        let z = 28.0 / (81.0f64 / 12.0 * (19.0 - 12.0 / 306.0)).sqrt();
        near(rank_sum_p(&a, &b), 2.0 * normal_tail(z), 1e-12);
    }

    #[test]
    fn nothing_to_tell_apart() {
        near(rank_sum_p(&[1.0; 12], &[1.0; 12]), 1.0, 0.0);
        assert_eq!(rank_sum_p(&[], &[1.0]), 1.0);
        assert_eq!(rank_sum_p(&[2.0], &[1.0]), 1.0);
    }

    #[test]
    fn normal_tails_of_the_tables() {
        let table = [
            (0.0, 0.5),
            (1.0, 0.158655253931),
            (1.959963984540, 0.025),
            (2.999, 0.0013543),
            (3.001, 0.0013455),
        ];
        for (z, tail) in table {
            near(normal_tail(z), tail, 6e-8);
        }
        near(normal_tail(6.0) / 9.865876450377e-10, 1.0, 1e-9);
    }

    /// Under the same distribution p below 5 % should come about one time in twenty.
    #[test]
    fn false_alarms_are_as_rare_as_promised() {
        let mut random = fastrand::Rng::with_seed(11);
        let n_runs = 2_000;
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| random.f64()).collect() };
        let n_alarms = (0..n_runs).filter(|_| rank_sum_p(&draw(15), &draw(15)) < 0.05).count();
        assert!((60..140).contains(&n_alarms), "{n_alarms} of {n_runs}");
    }
}
