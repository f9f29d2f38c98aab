//! Door: the signals that ask a manager to end: SIGTERM, SIGINT and SIGHUP, but for those that were
//! ignored when it began.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

static ARRIVED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// From now on these signals are only noted.
///
/// Errors: a signal could not be caught.
pub fn note() -> io::Result<()> {
    let mut is_new = false;
    let arrived = ARRIVED.get_or_init(|| {
        is_new = true;
        Arc::default()
    });
    if is_new {
        for signal in measure::interrupt::heeded() {
            signal_hook::flag::register_usize(signal, Arc::clone(arrived), signal as usize)?;
        }
    }
    Ok(())
}

/// The last one that has arrived.
pub fn arrived() -> Option<i32> {
    ARRIVED.get().map(|arrived| arrived.load(Ordering::Acquire) as i32).filter(|it| *it != 0)
}
