//! Any bytes as an instruction: the decoder for rv32 answers, and what it says holds together.
//!
//! Eight bytes are the address, the others the code.

#![no_main]

#[path = "../../systems/audit/tests/support/invariants.rs"]
mod invariants;

use audit::decode::Isa;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((address, code)) = bytes.split_first_chunk() {
        let address = u64::from_le_bytes(*address);
        // Addresses of these sets are words, of 32 or 64 bits.
        let bits = Isa::Riscv32.conventions().bits;
        invariants::check(Isa::Riscv32, (address >> (64 - bits)) & !3, code);
    }
});
