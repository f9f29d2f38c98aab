//! Gate counts of the synthesiser against the plain decision diagram, on random S-boxes.

use fastrand::Rng;

use super::{BitOrder, SynthEffort, bdd_baseline, synthesise};

/// The gate counts of one S-box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SboxCounts {
    pub ours: usize,
    pub bdd: usize,
}

/// The gate counts of random permutations of equal size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Input bits of each S-box, and output bits.
    pub bits: u32,
    /// Where the S-boxes come from.
    pub seed: u64,
    /// One entry an S-box.
    pub sboxes: Vec<SboxCounts>,
}

/// The `sbox_idx`th random permutation of `bits` bits.
pub fn random_sbox(bits: u32, seed: u64, sbox_idx: u32) -> Vec<u64> {
    let mut rng = Rng::with_seed(seed ^ u64::from(bits) << 56 ^ u64::from(sbox_idx) << 24);
    let mut table: Vec<u64> = (0..1 << bits).collect();
    rng.shuffle(&mut table);
    table
}

/// Synthesises `n_sboxes` random permutations of `bits` bits.
pub fn compare(bits: u32, n_sboxes: u32, seed: u64) -> Comparison {
    let one = |sbox_idx| {
        let table = random_sbox(bits, seed, sbox_idx);
        let order = BitOrder::MsbFirst;
        let ours = synthesise(&table, bits, bits, order, SynthEffort::Normal).circuit;
        SboxCounts { ours: ours.n_gates(), bdd: bdd_baseline(&table, bits, bits, order).n_gates() }
    };
    Comparison { bits, seed, sboxes: (0..n_sboxes).map(one).collect() }
}
