//! M4: threads on one link share its last-level cache in proportion to what they use; what does not
//! stay is read again.

use super::Demand;

/// The demands with the reads of what was pushed out.
pub(super) fn with_misses(cache_mb: f64, demands: &[Demand]) -> Vec<Demand> {
    let wanted: f64 = demands.iter().map(|demand| demand.footprint_mb).sum();
    let stays = if wanted > cache_mb { cache_mb / wanted } else { 1.0 };
    demands
        .iter()
        .map(|demand| Demand {
            read_mbps: demand.read_mbps + (1.0 - stays) * demand.reuse_mbps,
            ..*demand
        })
        .collect()
}
