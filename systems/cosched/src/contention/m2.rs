//! M2: the shares of M1, and answers that come later the busier the link is.
//!
//! The latency of a link that is used to a share `u` of its capacity is `L0 (1 + K u / (1 - u))`. A
//! thread that waits for single answers in a share `s` of its time slows down by
//! `1 + s (L / L0 - 1)`; one that is held up more by its share of bandwidth waits for that instead.
//!
//! Source: Eklov, Nikoleris, Black-Schaffer and Hagersten, on bandwidth and latency; K is from two
//! anchors measured on a Zen 5 machine: a pointer chase takes 1.49 times as long beside a stream,
//! and 172 ns become 300.

use super::{Demand, m1};
use crate::machine::Capacity;

/// Rise of the latency at half use.
const K: f64 = 0.03;
/// A link is never fuller than this: requests come from finitely many places.
const USED_MAX: f64 = 0.945;

pub(super) fn rates(link: Capacity, demands: &[Demand]) -> Vec<f64> {
    let mut rates = m1::rates(link, demands);
    let carried: f64 = demands.iter().zip(&rates).map(|(it, rate)| it.total_mbps() * rate).sum();
    let reads: f64 = demands.iter().zip(&rates).map(|(it, rate)| it.read_mbps * rate).sum();
    let writes = carried - reads;
    let used = (carried / link.mixed_mbps)
        .max(reads / link.read_mbps)
        .max(writes / link.write_mbps)
        .min(USED_MAX);
    let later = K * used / (1.0 - used);
    for (rate, it) in rates.iter_mut().zip(demands) {
        *rate = rate.min(1.0 / (1.0 + it.sensitivity * later));
    }
    rates
}
