//! Any bytes as Thumb: the decoder answers, alone and after what an `it` says of it, and what it
//! says holds together.
//!
//! Eight bytes are the address, the others the code.

#![no_main]

#[path = "../../systems/audit/tests/support/invariants.rs"]
mod invariants;

use audit::decode::{Isa, Linear};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((address, code)) = bytes.split_first_chunk() {
        // Addresses are even, of 32 bits.
        let address = u64::from_le_bytes(*address) >> 32 & !1;
        let mut linear = Linear::new(Isa::T32);
        let mut at = 0;
        while at < code.len() {
            let here = (address + at as u64) & 0xffff_ffff;
            invariants::check(Isa::T32, here, &code[at..]);
            at += linear.decode(here, &code[at..]).map_or(2, |decode| usize::from(decode.length));
        }
    }
});
