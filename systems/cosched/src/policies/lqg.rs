//! Latest quantum gang: gangs whose rate is that of the last quantum in which they ran.
//!
//! Source: Antonopoulos, Nikolopoulos and Papatheodorou, ICPP 2003, as the paper describes it.

use super::ThreadView;
use super::parts::Gang;

/// Gangs with the rate of the last quantum in which a thread ran.
pub(super) fn new() -> Gang<impl Fn(&ThreadView) -> f64> {
    Gang::new(|thread: &ThreadView| thread.latest_mbps)
}
