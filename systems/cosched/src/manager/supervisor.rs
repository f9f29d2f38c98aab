//! Door: what thaws the programs when their manager dies, however it dies.
//!
//! A process of its own holds the reading end of a pipe whose writing end only the manager has. When the manager ends,
//! the kernel closes that end, reading ends, and every group is thawed.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use super::group::Hierarchy;

/// How long groups that were thawed are looked after, so that none stays behind empty.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// Waits for the end of `pipe`, then thaws all groups; returns when they are empty and gone, or after a minute.
pub fn watch(hierarchy: &Hierarchy, mut pipe: impl Read) -> io::Result<()> {
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
    loop {
        let Ok(groups) = hierarchy.groups() else { return Ok(()) };
        for group in &groups {
            let _ = group.thaw();
            let _ = group.remove();
        }
        if hierarchy.remove().is_ok() || !hierarchy.path.exists() || Instant::now() >= end {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
