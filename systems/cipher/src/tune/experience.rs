//! What was measured of the model: it knows no compiler, and judges registers of words, of lanes
//! and of single bits alike. For each slicing on a target, how long the fastest C takes, by the
//! least that the model expects of any: the median of the primitives that were measured, each of
//! which counts once for a machine, however much of it was tried.

use crate::emit_c::Arch;
use crate::options::{Recipe, Slicing};

/// **Source** `experiments/cipher-tune`: `tried.json` of a Xeon (AVX2, AVX-512) and `best.json` of
/// a Zen 4, taken together; a test computes them anew.
pub const MEDIANS: [(Arch, Slicing, f64); 9] = [
    (Arch::X86_64, Slicing::Bit, 0.765),
    (Arch::X86_64, Slicing::Vertical, 0.62),
    (Arch::X86_64, Slicing::Horizontal, 0.601),
    (Arch::Avx2, Slicing::Bit, 0.537),
    (Arch::Avx2, Slicing::Vertical, 0.55),
    (Arch::Avx2, Slicing::Horizontal, 0.896),
    (Arch::Avx512, Slicing::Bit, 1.10),
    (Arch::Avx512, Slicing::Vertical, 0.703),
    (Arch::Avx512, Slicing::Horizontal, 1.22),
];

/// Cycles a byte that a way of which the model promises `model` may be expected to take. Targets
/// that were not measured are taken for AVX2, whose registers are as few or as wide.
pub fn expected(way: &Recipe, model: f64) -> f64 {
    let arch = match way.arch {
        Arch::X86_64 => Arch::X86_64,
        Arch::Sse | Arch::Avx2 | Arch::Avx512vl | Arch::Neon => Arch::Avx2,
        Arch::Avx512 => Arch::Avx512,
    };
    let median = MEDIANS
        .iter()
        .find(|median| median.0 == arch && median.1 == way.slicing)
        .expect("each slicing has a row")
        .2;
    model * median
}

/// Of what the model promises of assembly, in logarithms, so much was measured: the mean of
/// bitsliced programs in docs/explain/cipher-backend.md. A test computes it anew.
pub const PROMISE_KEPT: f64 = 0.75;

/// How many times as fast as C assembly may be expected to be, of which the model promises so much.
pub fn gain(promise: f64) -> f64 {
    promise.powf(PROMISE_KEPT)
}
