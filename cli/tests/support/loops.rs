//! Programs of tests that run until they are told to end.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Ends the loops of a test, whose numbers are in files `pid-NAME` of its folder and which
/// end when they see `stop` there, and waits until they have: the folder, removed under them,
/// would be made again.
pub fn end_loops(folder: &Path) {
    let _ = fs::write(folder.join("stop"), "");
    let start = Instant::now();
    let pids: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            entry.ok().filter(|path| path.file_name().to_string_lossy().starts_with("pid-"))
        })
        .filter_map(|it| fs::read_to_string(it.path()).ok())
        .map(|text| text.trim().to_owned())
        .collect();
    let runs = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|pair| !pair.1.starts_with(['Z', 'X']))
    };
    while pids.iter().any(runs) && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
