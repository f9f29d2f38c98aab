//! Any text as a file that a user writes or another tool wrote: it is read or refused with a
//! sentence, never with a panic. The first byte says as which one.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)] // What the study invents.
#[path = "../../lab/src/cosched/cluster/swf.rs"]
mod swf;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, text)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    match kind % 4 {
        0 => {
            if let Err(said) = cipher::layout::Layout::parse(&text) {
                assert!(!said.is_empty());
            }
        }
        1 => {
            if let Err(said) = audit::budget::parse(Path::new("budget.toml"), &text) {
                assert!(!said.is_empty());
            }
        }
        2 => {
            if let Ok(trace) = swf::parse("jobs.swf", &text) {
                assert!(!trace.jobs.is_empty());
            }
        }
        _ => {
            if let Err(said) = overlap::remarks::parse(&text) {
                assert!(!said.is_empty());
            }
        }
    }
});
