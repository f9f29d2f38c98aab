//! What is mounted where, by `/proc/mounts`.

use std::path::PathBuf;

/// Where file systems are mounted that fit, by their kind and options.
pub fn mounted(mounts: &str, fits: impl Fn(&str, &str) -> bool) -> Vec<PathBuf> {
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields
        .filter(|field| field.len() >= 4 && fits(field[2], field[3]))
        .map(|field| PathBuf::from(field[1]))
        .collect()
}
