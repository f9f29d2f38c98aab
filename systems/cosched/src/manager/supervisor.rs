//! Door: what frees the programs when their manager dies, however it dies.
//!
//! A process of its own holds the reading end of a pipe whose writing end only the manager has. When the manager ends,
//! the kernel closes that end, reading ends, and every program is thawed and gets back its processors and its control
//! group. There are two of them, in case one is killed with the manager, and the manager starts one again that has ended.
//! They outlive the signals by which a manager is asked to end: service managers send these to all.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::group::Hierarchy;
use super::{journal, process};

/// How many there are.
pub const COUNT: usize = 2;

/// The numbers of the supervisors, by their places.
pub type Pids = Arc<Mutex<BTreeMap<usize, i32>>>;

/// How long groups are looked after whose programs were on their way into them.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// Waits for the end of `pipe`, then frees all programs; returns when their groups are gone. `pages` is the folder of the
/// programs' pages and of what they had before; it goes as well.
///
/// # Errors
/// A signal could not be caught.
pub fn watch(hierarchy: &Hierarchy, pages: &Path, mut pipe: impl Read) -> io::Result<()> {
    let cpus = process::cpus_of(0);
    process::outlive_signals()?;
    // On a busy machine as well programs are thawed at once; it goes on where that is not allowed.
    process::be_real_time();
    let mut nothing = [0; 64];
    loop {
        match pipe.read(&mut nothing) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let end = Instant::now() + AFTERWARDS;
    while !journal::free(hierarchy, pages, &cpus) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
