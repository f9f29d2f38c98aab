//! Door: how much of its processors a program may use at most, by `cpu.max` of its group or
//! `cpu.cfs_quota_us` of version 1, so that programs that choosing cannot help stay below a rate.
//!
//! What was there is on disk before it is changed, with what we write: whoever outlives the manager
//! gives it back, and tells our limit from one that the group's owner has set meanwhile.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::foreign::inode;
use super::rights;

/// Microseconds in which a program has its share: short, so that it is never still for long.
const PERIOD_US: f64 = 20_000.0;
/// No program gets less than this share of its processors.
pub const LEAST: f64 = 0.05;
/// A share that differs by less from what is written stays.
const STEADY: f64 = 0.05;
/// Values of ours that are remembered: the last, and the one before, in case it was never written.
const OURS: usize = 2;

/// The groups of one program.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    record: PathBuf,
    parts: Vec<Limited>,
    /// What it may use of its processors, as last set.
    share: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct Limited {
    folder: PathBuf,
    inode: u64,
    /// What was there, as `cpu.max` says it.
    had: String,
    /// What we wrote, the latest last.
    ours: Vec<String>,
}

impl Limit {
    /// Of the groups in these folders: what they have is in the file `record`.
    ///
    /// Errors: they cannot be limited, or there is no room.
    pub fn make(folders: Vec<PathBuf>, record: PathBuf) -> io::Result<Limit> {
        let part = |folder: PathBuf| {
            let inode = inode(&folder).ok_or(io::ErrorKind::NotFound)?;
            Ok(Limited { had: read(&folder)?, folder, inode, ours: Vec::new() })
        };
        let parts = folders.into_iter().map(part).collect::<io::Result<Vec<Limited>>>()?;
        let limit = Limit { record, parts, share: 1.0 };
        limit.store()?;
        Ok(limit)
    }

    /// Of its processors: what it may use.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// It may use this share of `n_cpus` processors, and no more than its owner lets it.
    ///
    /// Errors: what could not be written; it may be limited as before.
    pub fn set(&mut self, share: f64, n_cpus: usize) -> io::Result<()> {
        self.follow()?;
        let is_written = self.parts.iter().all(|part| !part.ours.is_empty());
        if is_written && (share - self.share).abs() < STEADY * self.share {
            return Ok(());
        }
        let n_parts = self.parts.len() as f64;
        for part in &mut self.parts {
            let most = quota(&part.had).map_or(f64::MAX, |(quota, period)| quota / period);
            // Tasks of a step share alike.
            let cpus = (share.max(LEAST) * n_cpus as f64 / n_parts).min(most);
            part.ours.push(format!("{:.0} {PERIOD_US:.0}", (cpus * PERIOD_US).max(1000.0)));
            let n_old = part.ours.len().saturating_sub(OURS);
            part.ours.drain(..n_old);
        }
        self.share = share;
        self.store()?;
        let there = self.parts.iter().filter(|part| part.is_there());
        there
            .map(|part| write(&part.folder, part.ours.last().expect("it was just added")))
            .fold(Ok(()), io::Result::and)
    }

    /// What an owner has set meanwhile is what the group has from now on.
    fn follow(&mut self) -> io::Result<()> {
        let mut is_news = false;
        for part in self.parts.iter_mut().filter(|part| part.is_there() && !part.ours.is_empty()) {
            let now = read(&part.folder)?;
            if now != part.had && !part.ours.contains(&now) {
                (part.had, part.ours) = (now, Vec::new());
                is_news = true;
            }
        }
        if is_news { self.store() } else { Ok(()) }
    }

    /// Gives back what was there, where nobody else has changed it meanwhile.
    ///
    /// Errors: what could not be given back stays written down.
    pub fn give_back(&self) -> io::Result<()> {
        self.lift()?;
        rights::strike(&self.record)
    }

    /// The same by somebody who outlives the manager, which may go on.
    pub fn lift(&self) -> io::Result<()> {
        for part in self.parts.iter().filter(|part| part.is_there()) {
            if part.ours.contains(&read(&part.folder)?) {
                write(&part.folder, &part.had)?;
            }
        }
        Ok(())
    }

    fn store(&self) -> io::Result<()> {
        let mut text = String::new();
        for part in &self.parts {
            let values = [&[part.had.clone()][..], &part.ours].concat().join(",");
            let _ = writeln!(text, "{}\t{values}\t{}", part.inode, part.folder.display());
        }
        rights::note(&self.record, &text)
    }

    /// Reads what [`Limit::make`] and [`Limit::set`] have written; none if that fails.
    pub fn load(record: &Path) -> Option<Limit> {
        let text = fs::read_to_string(record).ok()?;
        let part = |line: &str| {
            let mut fields = line.splitn(3, '\t');
            let inode = fields.next()?.parse().ok()?;
            let mut values = fields.next()?.split(',').map(str::to_owned);
            let (had, ours) = (values.next()?, values.collect());
            Some(Limited { folder: fields.next()?.into(), inode, had, ours })
        };
        let parts = text.lines().filter_map(part).collect();
        Some(Limit { record: record.to_owned(), parts, share: 1.0 })
    }
}

impl Limited {
    /// The group itself, and not another one that has its path now.
    fn is_there(&self) -> bool {
        inode(&self.folder) == Some(self.inode)
    }
}

/// Microseconds of processors in so many microseconds; none without a limit.
fn quota(text: &str) -> Option<(f64, f64)> {
    let (quota, period) = text.split_once(' ')?;
    Some((quota.parse().ok()?, period.parse().ok()?))
}

/// What a group has, as `cpu.max` says it: `max 100000`, `150000 100000`.
///
/// Source: the kernel's admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst.
fn read(folder: &Path) -> io::Result<String> {
    let says = |file: &str| rights::read(folder, file).map(|said| said.trim().to_owned());
    match says("cpu.max") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        said => return said,
    }
    let (quota, period) = (says("cpu.cfs_quota_us")?, says("cpu.cfs_period_us")?);
    Ok(format!("{} {period}", if quota.starts_with('-') { "max" } else { &quota }))
}

fn write(folder: &Path, value: &str) -> io::Result<()> {
    let tell = |file: &str, text: &str| rights::write(folder, file, text);
    if folder.join("cpu.max").exists() {
        return tell("cpu.max", value);
    }
    let (quota, period) = value.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
    // A period alone may be too short for the quota that is there.
    tell("cpu.cfs_quota_us", "-1")?;
    tell("cpu.cfs_period_us", period)?;
    if quota == "max" { Ok(()) } else { tell("cpu.cfs_quota_us", quota) }
}

/// How much of what it would move each may: together no more than `at_most`, the loudest first, so
/// that those that are cut move the same. 1 for the others.
pub fn shares(rates: &[f64], at_most: f64) -> Vec<f64> {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut left, mut level) = (at_most, f64::MAX);
    for (idx, rate) in sorted.iter().enumerate() {
        let equal = left / (sorted.len() - idx) as f64;
        if *rate > equal {
            level = equal;
            break;
        }
        left -= rate;
    }
    rates.iter().map(|rate| if *rate > level { (level / rate).max(LEAST) } else { 1.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loudest_is_limited_and_equals_alike() {
        assert_eq!(shares(&[9000.0, 1000.0], 8000.0), [7000.0 / 9000.0, 1.0]);
        assert_eq!(shares(&[9000.0, 9000.0], 9000.0), [0.5, 0.5]);
        assert_eq!(shares(&[8000.0, 4000.0, 500.0], 4500.0), [0.25, 0.5, 1.0]);
        assert_eq!(shares(&[9000.0, 1000.0], 10_000.0), [1.0, 1.0]);
        assert_eq!(shares(&[9000.0, 0.0], 10.0), [LEAST, 1.0], "nobody stands still");
        assert!(shares(&[], 10.0).is_empty());
    }

    /// A group of plain files, of one version or the other.
    fn group(files: &[(&str, &str)]) -> (tempfile::TempDir, Limit) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for (file, text) in files {
            fs::write(folder.path().join(file), text).expect("a scratch file");
        }
        let record = folder.path().join("program-1.limit");
        let limit = Limit::make(vec![folder.path().to_owned()], record).expect("it is there");
        (folder, limit)
    }

    #[test]
    fn what_was_in_cpu_max_is_given_back_by_whoever_is_left() {
        for had in ["max 100000", "150000 100000"] {
            let (folder, mut limit) = group(&[("cpu.max", had)]);
            let says = || fs::read_to_string(folder.path().join("cpu.max")).expect("it is there");
            limit.set(0.25, 2).expect("written");
            assert_eq!(says(), "10000 20000");
            limit.set(0.255, 2).expect("written");
            assert_eq!(says(), "10000 20000", "hardly another one");
            limit.set(0.5, 4).expect("written");
            assert_eq!(says(), if had.starts_with("max") { "40000 20000" } else { "30000 20000" });
            let left = Limit::load(&folder.path().join("program-1.limit")).expect("it was written");
            left.give_back().expect("written");
            assert_eq!(says(), had);
            assert!(Limit::load(&folder.path().join("program-1.limit")).is_none());
        }
    }

    #[test]
    fn what_an_owner_sets_meanwhile_stays() {
        let (folder, mut limit) = group(&[("cpu.max", "max 100000")]);
        let file = folder.path().join("cpu.max");
        let says = || fs::read_to_string(&file).expect("it is there");
        limit.set(0.5, 1).expect("written");
        fs::write(&file, "70000 100000").expect("a scratch file");
        let left = Limit::load(&folder.path().join("program-1.limit")).expect("it was written");
        left.lift().expect("nothing to do");
        assert_eq!(says(), "70000 100000");
        limit.set(0.5, 1).expect("written");
        assert_eq!(says(), "10000 20000");
        limit.give_back().expect("written");
        assert_eq!(says(), "70000 100000");
    }

    #[test]
    fn version_1_has_two_files() {
        let (folder, mut limit) =
            group(&[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")]);
        let says = |file: &str| fs::read_to_string(folder.path().join(file)).expect("it is there");
        limit.set(0.5, 1).expect("written");
        assert_eq!(
            (says("cpu.cfs_quota_us"), says("cpu.cfs_period_us")),
            ("10000".into(), "20000".into())
        );
        limit.give_back().expect("written");
        assert_eq!(
            (says("cpu.cfs_quota_us"), says("cpu.cfs_period_us")),
            ("-1".into(), "100000".into())
        );
        assert_eq!(quota("max 100000"), None);
    }
}
