//! M0: all threads slow down by the factor by which the link is overbooked.

use super::{Demand, sums};
use crate::machine::Capacity;

pub(super) fn rates(link: Capacity, demands: &[Demand]) -> Vec<f64> {
    let (read, write) = sums(demands);
    let overbooked =
        (read / link.read_mbps).max(write / link.write_mbps).max((read + write) / link.mixed_mbps);
    vec![1.0 / overbooked.max(1.0); demands.len()]
}
