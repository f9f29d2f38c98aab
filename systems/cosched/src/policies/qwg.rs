//! Quanta window gang: gangs whose rate is the mean of several quanta.
//!
//! Source: Antonopoulos, Nikolopoulos and Papatheodorou, ICPP 2003, as the paper describes it.

use super::ThreadView;
use super::parts::Gang;

/// Gangs with the mean of the last `window` quanta in which a thread ran.
pub(super) fn new(window: usize) -> Gang<impl Fn(&ThreadView) -> f64> {
    Gang::new(move |thread: &ThreadView| {
        let last = &thread.window_mbps[thread.window_mbps.len().saturating_sub(window.max(1))..];
        last.iter().sum::<f64>() / last.len().max(1) as f64
    })
}
