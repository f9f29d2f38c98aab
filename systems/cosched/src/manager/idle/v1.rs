//! Door: `cpu.idle` of version 1: a group of the program's own inside the one in which it is.
//!
//! It weighs there as much as its threads did without it, or as the session that the kernel grouped
//! them by.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::foreign::{Foreign, inode};
use super::super::mounts::mounted;
use super::super::process::{self, Process};
use super::{Group, Had, Hierarchy, IdleClass, Part, rights};

/// Rounds in which processes that were forked meanwhile are looked for.
const ROUNDS: usize = 10;
/// Weight of a thread of nice 0.
const WEIGHT: f64 = 1024.0;
/// What a group may weigh.
const LEAST: f64 = 2.0;
const MOST: f64 = 262_144.0;

#[derive(Debug)]
pub struct IdleV1;

impl IdleClass for IdleV1 {
    fn text(&self) -> &'static str {
        "v1"
    }

    fn name(&self) -> &'static str {
        "cgroup v1 cpu.idle"
    }

    fn probe(&self, hierarchy: &Hierarchy) -> Result<(), String> {
        let own = home(std::process::id() as i32).ok_or("no cpu controller is mounted")?;
        let name = hierarchy.path.file_name().unwrap_or_default();
        let folder = own.join(name);
        let said = |error: io::Error| format!("{}: {error}", folder.display());
        rights::make(&folder).map_err(said)?;
        let works = rights::write(&folder, "cpu.idle", "1").map_err(said);
        let _ = rights::remove(&folder);
        works
    }

    fn look(&self, group: &Group, name: &str) -> io::Result<Had> {
        if let Some(foreign) = group.as_foreign() {
            return in_place(foreign);
        }
        let members = group.members()?;
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let first = members.iter().find_map(|member| home(member.pid)).ok_or_else(gone)?;
        // What is in another group stays there: its limits and its owner are that one's.
        let members: Vec<Process> = members
            .into_iter()
            .filter(|member| home(member.pid).as_ref() == Some(&first))
            .collect();
        let part = |member: &Process| {
            let what = home(member.pid)?.display().to_string();
            Some(Part { id: member.pid, started: member.started, what })
        };
        let weight = format!("{:.0}", weight(&members, root().as_deref() == Some(&first)));
        let parts = members.iter().filter_map(part).collect();
        let folder = first.join(name);
        Ok(Had { kind: &IdleV1, weight, folder, parts, times: Some(Vec::new()) })
    }

    fn enter(&self, had: &Had, group: &Group) -> io::Result<()> {
        if group.is_foreign() {
            return Ok(());
        }
        match rights::make(&had.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        rights::write(&had.folder, "cpu.shares", &had.weight)?;
        let above = had.folder.parent();
        let mut taken = BTreeSet::new();
        for _ in 0..ROUNDS {
            let new: Vec<i32> = group
                .members()?
                .iter()
                .map(|member| member.pid)
                .filter(|pid| home(*pid).as_deref() == above && taken.insert(*pid))
                .collect();
            if new.is_empty() {
                break;
            }
            for pid in new {
                match rights::write(&had.folder, "cgroup.procs", &pid.to_string()) {
                    // It has ended, or left the group.
                    Err(_) if home(pid).as_deref() != above => {}
                    Err(error) if error.raw_os_error() != Some(libc::ESRCH) => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
        }
        Ok(())
    }

    fn demote(&self, had: &Had, _group: &Group) -> io::Result<()> {
        if is_another(had) {
            return Err(io::ErrorKind::NotFound.into());
        }
        rights::write(&had.folder, "cpu.idle", "1")
    }

    fn promote(&self, had: &Had, _group: Option<&Group>, by: f64) -> io::Result<()> {
        if is_another(had) {
            return Ok(());
        }
        rights::write(&had.folder, "cpu.idle", "0")?;
        rights::write(&had.folder, "cpu.shares", &weighed(had, by))
    }

    fn changed(&self, had: &Had) -> Option<Had> {
        let says = |file: &str| rights::read(&had.folder, file).unwrap_or_default();
        let shares = says("cpu.shares").trim().to_owned();
        let is_so = is_in_place(had) && !is_another(had) && says("cpu.idle").trim() == "0";
        (is_so && !shares.is_empty() && !had.is_ours(|by| shares == weighed(had, by)))
            .then(|| Had { weight: shares, ..had.clone() })
    }

    fn give_back(&self, had: &Had, _group: Option<&Group>) -> io::Result<()> {
        if !had.folder.exists() {
            return Ok(());
        }
        let is_back = self.promote(had, None, 1.0);
        if is_in_place(had) {
            return is_back;
        }
        // They run. What fails from here on fails because something has ended.
        let above = had.folder.parent().unwrap_or(&had.folder);
        let text = || rights::read(&had.folder, "cgroup.procs").unwrap_or_default();
        for _ in 0..ROUNDS {
            let members: Vec<Process> =
                text().lines().filter_map(|line| Process::find(line.parse().ok()?)).collect();
            if members.is_empty() {
                break;
            }
            for member in members {
                let pid = member.pid.to_string();
                let home = had.of(member.pid, member.started).map(Path::new);
                if home.is_none_or(|home| rights::write(home, "cgroup.procs", &pid).is_err()) {
                    let _ = rights::write(above, "cgroup.procs", &pid);
                }
            }
        }
        rights::remove(&had.folder)
    }
}

/// A group of another's, demoted where it is: all that join it are, and nothing moves.
fn in_place(group: &Foreign) -> io::Result<Had> {
    let refused = |why: String| io::Error::new(io::ErrorKind::Unsupported, why);
    let folder = group.for_cpu().map_err(refused)?;
    if fs::read_to_string(folder.join("cpu.idle"))?.trim() != "0" {
        return Err(refused(format!("{} is in the idle class by its owner", folder.display())));
    }
    let weight = fs::read_to_string(folder.join("cpu.shares"))?.trim().to_owned();
    let started = inode(&folder).ok_or(io::ErrorKind::NotFound)?;
    let part = Part { id: 0, started, what: folder.display().to_string() };
    Ok(Had { kind: &IdleV1, weight, folder, parts: vec![part], times: Some(Vec::new()) })
}

/// The group was there before us, and is its owner's.
fn is_in_place(had: &Had) -> bool {
    had.parts.first().is_some_and(|part| Path::new(&part.what) == had.folder)
}

/// Another group has the path of one that is its owner's.
fn is_another(had: &Had) -> bool {
    is_in_place(had) && inode(&had.folder) != Some(had.parts[0].started)
}

/// What a group is given.
fn weighed(had: &Had, by: f64) -> String {
    format!("{:.0}", (had.weight.parse().unwrap_or(WEIGHT) * by).clamp(LEAST, MOST))
}

pub fn is_mounted() -> bool {
    root().is_some()
}

/// Where the controller is mounted.
pub fn root() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let fits = |kind: &str, options: &str| {
        kind == "cgroup" && options.split(',').any(|part| part == "cpu")
    };
    mounted(&mounts, fits).into_iter().next()
}

fn home(pid: i32) -> Option<PathBuf> {
    process::control_group(pid, &root()?, "cpu")
}

/// What these weigh together: each thread by its nice value, or the sessions by which the kernel
/// groups threads that are in no other group.
fn weight(members: &[Process], is_in_the_root: bool) -> f64 {
    let of_nice = |nice: f64| WEIGHT * 1.25_f64.powf(-nice);
    let is_grouped = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled")
        .is_ok_and(|text| text.trim() == "1");
    // Source: sched(7), "The autogroup feature": `/autogroup-N nice M`.
    let session = |member: &Process| {
        let text = fs::read_to_string(format!("/proc/{}/autogroup", member.pid)).ok()?;
        let (name, nice) = text.trim().split_once(" nice ")?;
        Some((name.to_owned(), nice.parse::<i32>().ok()?))
    };
    let sessions: BTreeSet<(String, i32)> =
        members.iter().filter(|_| is_grouped && is_in_the_root).filter_map(session).collect();
    let sum: f64 = if sessions.is_empty() {
        let threads = members.iter().flat_map(Process::threads);
        threads.filter_map(process::nice_of).map(|nice| of_nice(f64::from(nice))).sum()
    } else {
        sessions.iter().map(|(_, nice)| of_nice(f64::from(*nice))).sum()
    };
    sum.clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_weighs_what_its_threads_weighed() {
        let own = Process::find(std::process::id() as i32).expect("it runs");
        // The tests' own threads come and go.
        assert!(weight(std::slice::from_ref(&own), false) >= WEIGHT / 100.0);
        assert_eq!(weight(&[], false), LEAST, "what has ended");
        let mut child = std::process::Command::new("nice")
            .args(["-n", "5", "sleep", "100"])
            .spawn()
            .expect("nice runs");
        let pid = child.id() as i32;
        let weighs = || weight(&Process::find(pid).into_iter().collect::<Vec<_>>(), false);
        // Until `nice` has become it.
        let own_nice = f64::from(process::nice_of(own.pid).expect("it runs"));
        let expected = WEIGHT * 1.25_f64.powf(-(own_nice + 5.0).min(19.0));
        let found = (0..500).find(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            (weighs() - expected).abs() < 1.0
        });
        child.kill().and_then(|()| child.wait()).expect("it is ours");
        assert!(found.is_some(), "nice 5 weighs {expected}");
    }
}
