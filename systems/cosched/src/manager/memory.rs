//! Door: how much memory this process may still take: a manager that the kernel ends for want of it
//! says nothing any more.

use std::fs;
use std::path::Path;

use super::freezer;
use super::mounts;
use super::process;

/// Bytes that a manager and its supervisors take, and some programs more.
const NEEDED: u64 = 48 << 20;

/// A sentence if there is less than a manager takes.
pub fn is_short() -> Option<String> {
    let left = limits()
        .into_iter()
        .chain(available().map(|bytes| (bytes, "this machine has".to_owned())))
        .min()?;
    (left.0 < NEEDED).then(|| {
        let (mb, needed_mb) = (left.0 >> 20, NEEDED >> 20);
        format!("memory is short: {} {mb} MB left, and the manager takes up to {needed_mb} MB: the kernel may end it at any time", left.1)
    })
}

/// What the machine has.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kb| kb << 10)
}

/// What the control groups that this process is in leave it, and which says so.
fn limits() -> Vec<(u64, String)> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let own = std::process::id() as i32;
    let unified = freezer::from_text("v2").expect("it is one of them").places(&mounts);
    let v1 = mounts::mounted(&mounts, |kind, options| {
        kind == "cgroup" && options.split(',').any(|part| part == "memory")
    });
    let places = unified.iter().map(|root| (root, "0", "memory.max", "memory.current"));
    let places = places.chain(
        v1.iter().map(|root| (root, "memory", "memory.limit_in_bytes", "memory.usage_in_bytes")),
    );
    let mut found = Vec::new();
    for (root, line, limit, used) in places {
        let Some(group) = process::control_group(own, root, line) else { continue };
        for group in group.ancestors().take_while(|group| group.starts_with(root)) {
            found.extend(
                left(group, limit, used)
                    .map(|bytes| (bytes, format!("the control group {} has", group.display()))),
            );
        }
    }
    found
}

fn left(group: &Path, limit: &str, used: &str) -> Option<u64> {
    // `max` is no number: no limit.
    let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    let (limit, used) = (number(limit)?, number(used)?);
    // What is kept of files is given up before anything is ended.
    let text = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let of_files =
        text.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse::<u64>().ok());
    Some(limit.saturating_sub(used.saturating_sub(of_files.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_group_leaves_is_its_limit_without_what_is_used() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let of = |limit: &str| {
            fs::write(folder.path().join("memory.max"), limit).expect("a scratch file");
            left(folder.path(), "memory.max", "memory.current")
        };
        assert_eq!(of("100000000\n"), None, "what is used is not known");
        fs::write(folder.path().join("memory.current"), "60000000\n").expect("a scratch file");
        assert_eq!(of("100000000\n"), Some(40_000_000));
        assert_eq!(of("50000000\n"), Some(0));
        assert_eq!(of("max\n"), None, "no limit");
        fs::write(folder.path().join("memory.stat"), "anon 1\ninactive_file 20000000\n")
            .expect("a scratch file");
        assert_eq!(of("100000000\n"), Some(60_000_000));
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
