//! The inputs of the spell checker: the draft, and dictionaries as bit tables.

use sha2::{Digest, Sha256};

use crate::names::Behaviour;
use crate::qemu::Blob;

/// The text that is checked: 40,500 bytes of LaTeX.
pub const DRAFT: &[u8] = include_bytes!("../spell/draft.tex");
const WORDS: &str = include_str!("../spell/words.txt");
const STOP_WORDS: &str = include_str!("../spell/stopwords.txt");

/// The names of the threads, as in the paper.
pub const THREADS: [&str; 7] = ["T1", "T2", "T3", "T4", "T5", "T6", "T7"];

const DICTIONARY_BYTES: usize = 50_000;
/// The largest primes below 400,000, as in `dictionary.c`.
const PRIMES: [u32; 11] = [
    399_989, 399_983, 399_979, 399_953, 399_941, 399_937, 399_913, 399_911, 399_899, 399_887,
    399_871,
];

/// A bit table in which the words are: 11 bits each.
pub fn dictionary(words: &str) -> Vec<u8> {
    let mut bits = vec![0; DICTIONARY_BYTES];
    for word in words.lines() {
        for prime in PRIMES {
            let start = word.len() as u32;
            let add =
                |sum: u32, c: u8| sum.wrapping_mul(61).wrapping_add(u32::from(c) * (prime & 1023));
            let at = word.bytes().fold(start, add) % prime;
            bits[at as usize / 8] |= 1 << (at % 8);
        }
    }
    bits
}

/// What the loader puts into memory; addresses as in `inputs.h`.
pub fn blobs(behaviour: Behaviour) -> Vec<Blob> {
    let (m, n) = behaviour.buffers();
    let head = [m, n, DRAFT.len() as u32].iter().flat_map(|it| it.to_be_bytes()).collect();
    vec![
        Blob { address: 0x4040_0000, bytes: head },
        Blob { address: 0x4041_0000, bytes: DRAFT.to_vec() },
        Blob { address: 0x4042_0000, bytes: dictionary(STOP_WORDS) },
        Blob { address: 0x4043_0000, bytes: dictionary(WORDS) },
    ]
}

/// The misspelt words, each once, in alphabetic order: what is equal for every way to run.
pub fn misspelt(output: &str) -> Vec<&str> {
    let mut words: Vec<&str> = output.lines().collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// SHA-256 of [`misspelt`], a word a line, in hexadecimal.
pub fn output_sha256(output: &str) -> String {
    let text: String = misspelt(output).iter().map(|word| format!("{word}\n")).collect();
    Sha256::digest(text).iter().map(|found| format!("{found:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inputs_have_the_papers_sizes() {
        assert_eq!(DRAFT.len(), 40_500);
        let density = |words: &str| {
            dictionary(words).iter().map(|number| f64::from(number.count_ones())).sum::<f64>()
                / 400_000.0
        };
        assert!((0.38..0.5).contains(&density(WORDS)), "{}", density(WORDS));
    }
}
