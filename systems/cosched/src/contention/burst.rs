//! M3: traffic that comes in bursts fills a link before its mean does.
//!
//! The sum of the threads' traffic is taken as normal; what goes through is the mean of the smaller
//! of it and the capacity. Source: Xu, Wu and Yew, PACT 2010.

use super::{Demand, sums};
use crate::machine::Capacity;

/// The link as smooth traffic would find it.
pub(super) fn effective(link: Capacity, burst: f64, demands: &[Demand]) -> Capacity {
    let (read, write) = sums(demands);
    let deviation = |part: fn(&Demand) -> f64| {
        demands.iter().map(|demand| (burst * part(demand)).powi(2)).sum::<f64>().sqrt()
    };
    let cut = |capacity: f64, mean: f64, deviation: f64| {
        let lost = expected_excess(mean, deviation, capacity) - (mean - capacity).max(0.0);
        (mean.min(capacity) - lost).clamp(0.05 * capacity, capacity)
    };
    // Only a link that is asked for nearly all of its capacity loses any.
    let of = |capacity: f64, mean: f64, part: fn(&Demand) -> f64| {
        let through = cut(capacity, mean, deviation(part));
        if through < mean.min(capacity) { through.min(capacity) } else { capacity }
    };
    Capacity {
        read_mbps: of(link.read_mbps, read, |it| it.read_mbps),
        write_mbps: of(link.write_mbps, write, |it| it.write_mbps),
        mixed_mbps: of(link.mixed_mbps, read + write, Demand::total_mbps),
    }
}

/// The mean of what a normal variable is above `limit`.
fn expected_excess(mean: f64, deviation: f64, limit: f64) -> f64 {
    if deviation <= 0.0 {
        return (mean - limit).max(0.0);
    }
    let z = (mean - limit) / deviation;
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    deviation * (density + z * below(z))
}

/// The normal distribution function, to 1e-7 (Abramowitz and Stegun 26.2.17).
fn below(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let sum = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum;
    if z >= 0.0 { 1.0 - tail } else { tail }
}
