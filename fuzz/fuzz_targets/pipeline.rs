//! A random program means the same interpreted and compiled, in every slicing and with any options.
//!
//! Eight bytes are a seed for the generator of the property tests; anything else is the text of a
//! program. Start it with
//! `cargo +nightly fuzz run -s none pipeline fuzz/corpus/pipeline systems/cipher/tests/ok -- -timeout=60`.

#![no_main]

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../systems/cipher/tests/support/agree.rs"]
mod agree;
#[allow(dead_code, reason = "the tests count productions")]
#[path = "../../systems/cipher/tests/support/generator/mod.rs"]
mod generator;

use cipher::elaborate::check;
use cipher::syntax::load_text;
use libfuzzer_sys::{Corpus, fuzz_target};

/// Longest text that is compiled, and most definitions in it: calls multiply.
const BYTES_MAX: usize = 1500;
const DEFINITIONS_MAX: usize = 4;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if let Ok(seed) = <[u8; 8]>::try_from(bytes) {
        let seed = u64::from_le_bytes(seed);
        let text = generator::program(seed).text;
        if let Err(what) = agree::agrees(&text, generator::ENTRY, Some([8, 16, 32, 64][seed as usize % 4]), 3, seed) {
            panic!("seed {seed}\n{what}\n{text}");
        }
        return Corpus::Keep;
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Corpus::Reject };
    if text.len() > BYTES_MAX || text.contains("include") {
        return Corpus::Reject;
    }
    let Ok(program) = load_text("fuzz.ua", text, &[]) else { return Corpus::Reject };
    let entry = program.defs.last().expect("a program has definitions").clone();
    let has_nat = entry.params.iter().any(|p| p.ty == cipher::syntax::ast::Type::Nat);
    let words: u64 = entry.params.iter().chain(&entry.returns).map(|d| d.ty.n_atoms()).sum();
    if program.defs.len() > DEFINITIONS_MAX || entry.is_array || has_nat || words > 200 || check(&program).is_err() {
        return Corpus::Reject;
    }
    match agree::agrees(text, &entry.name.name, Some(16), 3, 1) {
        // Divisions by a word that is zero, and sizes that only this word size shows.
        Err(what) if !what.starts_with("the interpreter") && !what.contains("refused") => panic!("{what}\n{text}"),
        _ => Corpus::Keep,
    }
});
