//! M1: max-min fair shares of bandwidth.
//!
//! All threads are served at one level of MB/s, or at what they ask for if that is less. The level
//! rises until the reads, the writes or their sum fill the link; programs that add to what is full
//! stay there, the others rise on.
//!
//! Source: Afzal, Hager and Wellein, on bandwidth shares of overlapping kernels.

use super::Demand;
use crate::machine::Capacity;

/// A part of the traffic of a thread, in MB/s.
type Part = fn(&Demand) -> f64;

pub(super) fn rates(link: Capacity, demands: &[Demand]) -> Vec<f64> {
    // What each thread gets; none while its level still rises.
    let mut fixed: Vec<Option<f64>> =
        demands.iter().map(|demand| (demand.total_mbps() <= 0.0).then_some(0.0)).collect();
    let rules: [(f64, Part); 3] = [
        (link.read_mbps, |it| it.read_mbps),
        (link.write_mbps, |it| it.write_mbps),
        (link.mixed_mbps, Demand::total_mbps),
    ];
    while fixed.iter().any(Option::is_none) {
        let full = rules
            .iter()
            .filter_map(|&(capacity, part)| Some((level(capacity, part, demands, &fixed)?, part)));
        match full.min_by(|a, b| a.0.total_cmp(&b.0)) {
            // Nothing fills up: each program gets what it asks for.
            None => demands
                .iter()
                .zip(&mut fixed)
                .for_each(|(it, fixed)| *fixed = fixed.or(Some(it.total_mbps()))),
            Some((level, part)) => {
                for (it, fixed) in demands.iter().zip(&mut fixed) {
                    if fixed.is_none() && (part(it) > 0.0 || it.total_mbps() <= level) {
                        *fixed = Some(it.total_mbps().min(level));
                    }
                }
            }
        }
    }
    let share = |(it, got): (&Demand, &Option<f64>)| match got {
        Some(got) if it.total_mbps() > 0.0 => (got / it.total_mbps()).clamp(f64::MIN_POSITIVE, 1.0),
        _ => 1.0,
    };
    demands.iter().zip(&fixed).map(share).collect()
}

/// The level at which this part of the traffic fills the link; `None` if it does not.
fn level(capacity: f64, part: Part, demands: &[Demand], fixed: &[Option<f64>]) -> Option<f64> {
    let weight = |demand: &Demand| {
        if demand.total_mbps() > 0.0 { part(demand) / demand.total_mbps() } else { 0.0 }
    };
    let mut used: f64 =
        demands.iter().zip(fixed).filter_map(|(it, got)| Some(weight(it) * (*got)?)).sum();
    let mut rising: Vec<(f64, f64)> = demands
        .iter()
        .zip(fixed)
        .filter(|(_, got)| got.is_none())
        .map(|(it, _)| (it.total_mbps(), weight(it)))
        .collect();
    if used + rising.iter().map(|(total, weight)| total * weight).sum::<f64>() <= capacity {
        return None;
    }
    rising.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut slope: f64 = rising.iter().map(|pair| pair.1).sum();
    for (total, weight) in rising {
        if used + slope * total > capacity {
            return Some((capacity - used).max(0.0) / slope);
        }
        used += weight * total;
        slope -= weight;
    }
    None
}
