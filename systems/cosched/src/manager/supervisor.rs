//! Door: what thaws the programs when their manager dies, however it dies.
//!
//! A process of its own holds the reading end of a pipe whose writing end only the manager has. When the manager ends,
//! the kernel closes that end, reading ends, and every group is thawed. Then the programs may use all processors again,
//! with as many threads as they like.

use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use super::group::Hierarchy;
use super::process;
use super::team;

/// How long groups that were thawed are looked after, so that none stays behind empty.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// Waits for the end of `pipe`, then thaws all groups; returns when they are empty and gone. What still runs after a
/// minute is moved out of them. `pages` is the folder of the programs' pages; it goes as well.
pub fn watch(hierarchy: &Hierarchy, pages: &Path, mut pipe: impl Read) -> io::Result<()> {
    let cpus = process::cpus_of(0);
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
    team::forget(pages);
    let mut is_first = true;
    loop {
        let Ok(groups) = hierarchy.groups() else { break };
        for group in &groups {
            let _ = group.thaw();
        }
        if std::mem::take(&mut is_first) {
            for group in &groups {
                let _ = group.keep_to(&cpus);
            }
        }
        for group in &groups {
            let _ = if Instant::now() >= end { group.release(None) } else { group.remove() };
        }
        if hierarchy.remove().is_ok() || !hierarchy.path.exists() || Instant::now() >= end {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
