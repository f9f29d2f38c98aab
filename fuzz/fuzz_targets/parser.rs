//! Any bytes: the front end answers with a program or with messages, never with a panic.
//!
//! `cargo +nightly fuzz run -s none parser fuzz/corpus/parser systems/cipher/tests ciphers -- -timeout=30`
//! starts from the programs of the tests. There is no `unsafe` here for a sanitizer to watch.

#![no_main]

use cipher::elaborate::check;
use cipher::syntax::load_text;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let text = String::from_utf8_lossy(bytes);
    // What an include finds depends on the machine.
    if text.contains("include") {
        return Corpus::Reject;
    }
    match load_text("fuzz.ua", &text, &[]) {
        Ok(program) => {
            for message in check(&program).unwrap_or_else(|errors| errors) {
                assert!(!message.render(false).is_empty());
            }
        }
        Err(errors) => {
            for message in &errors {
                assert!(!message.render(false).is_empty());
            }
        }
    }
    Corpus::Keep
});
