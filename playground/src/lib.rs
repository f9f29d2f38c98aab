//! Door: the memory that a page shares with us: a question comes as bytes, its answer goes as bytes.
//!
//! ```text
//! input(n)     where the page writes n bytes: those of a file if it has one, which begin where
//!              allocations do, as their reader wants; the question as JSON; and the length of the
//!              question (4 bytes, little-endian)
//! answer()     answers it; returns where the answer is, as JSON
//! length()     of that answer, or of what a panic said
//! said()       where the words of a panic are, after a trap
//! ```
#![allow(unsafe_code)] // names that the page can call

mod ciphers;
mod files;
mod questions;

use std::sync::{Mutex, MutexGuard, PoisonError};

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn locked(bytes: &'static Mutex<Vec<u8>>) -> MutexGuard<'static, Vec<u8>> {
    // Bytes are whole after any panic.
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: no other library is linked that has these names.
#[unsafe(no_mangle)]
pub extern "C" fn input(n_bytes: usize) -> *mut u8 {
    let mut input = locked(&INPUT);
    *input = vec![0; n_bytes];
    input.as_mut_ptr()
}

// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    std::panic::set_hook(Box::new(|panic| *locked(&OUTPUT) = panic.to_string().into_bytes()));
    // Taken, so that a large file does not stay beside what is made of it.
    let input = std::mem::take(&mut *locked(&INPUT));
    let said = questions::answer(&input).to_string().into_bytes();
    *locked(&OUTPUT) = said;
    said_at()
}

// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    locked(&OUTPUT).len()
}

// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn said() -> *const u8 {
    said_at()
}

fn said_at() -> *const u8 {
    locked(&OUTPUT).as_ptr()
}
