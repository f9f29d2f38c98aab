//! Door: the folders of Slurm's tasks in its groups of version 2.

use std::fs;
use std::path::{Path, PathBuf};

/// True for the folder of a task in Slurm's groups of version 2: `step_S/user/task_N`.
pub fn is_task(path: &Path) -> bool {
    let names: Vec<&str> = path.iter().rev().take(3).filter_map(|it| it.to_str()).collect();
    names.len() == 3
        && names[0].starts_with("task_")
        && names[1] == "user"
        && names[2].starts_with("step_")
}

/// The folders of all tasks of the step of this one.
pub(super) fn tasks(path: &Path) -> Vec<PathBuf> {
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_task(path) && path.is_dir())
        .collect();
    found.sort();
    found
}
