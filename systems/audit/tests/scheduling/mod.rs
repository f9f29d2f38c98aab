//! Orders of traces: against brute force, against their bounds, and by doing what they say.

mod bounds;
mod exits;
mod interpreted;
mod memory;
mod registers;

use audit::decode::Isa;
use audit::program::function::Function;
use fastrand::Rng;
use machine::in_order::Core;

use crate::support::made::of_words;

fn core(name: &str) -> Core {
    Core::bundled(name).expect("it is bundled")
}

fn function(words: &[u32]) -> Function {
    of_words(Isa::A32, words)
}

/// The parts of straight code over a few registers and two pointers that may point to the same.
fn straight_code(rng: &mut Rng, n: usize) -> Vec<u32> {
    (0..n)
        .map(|_| {
            let (rd, rn, rm) = (rng.u32(0..5), rng.u32(0..5), rng.u32(0..5));
            let base = 8 + rng.u32(0..2);
            match rng.u32(0..8) {
                0 => 0xe080_0000 | rn << 16 | rd << 12 | rm,
                1 => 0xe040_0000 | rn << 16 | rd << 12 | 1 << 7 | rm,
                2 => 0xe200_00ff | rn << 16 | rd << 12,
                3 => 0xe3a0_0000 | rd << 12 | rng.u32(0..256),
                4 | 5 => 0xe590_0000 | base << 16 | rd << 12 | (4 * rng.u32(0..3)),
                6 => 0xe580_0000 | base << 16 | rd << 12 | (4 * rng.u32(0..3)),
                _ => 0xe220_0055 | rn << 16 | rd << 12,
            }
        })
        .collect()
}
