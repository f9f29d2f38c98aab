//! Door: the traffic of groups of threads as resctrl counts it (Intel RDT, AMD PQoS).
//!
//! Source: the kernel's Documentation/filesystems/resctrl.rst. A folder made under `mon_groups` is
//! a group; a thread written to its `tasks` belongs to it, and so do the threads that it starts;
//! `mon_data/mon_L3_NN/mbm_total_bytes` counts the bytes of each cache, `Unavailable` while it has
//! nothing to say, `Error` if it failed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::rights;

/// Where it is mounted.
const ROOT: &str = "/sys/fs/resctrl";

/// Groups of one manager.
#[derive(Debug)]
pub struct Monitor {
    root: PathBuf,
    prefix: String,
}

#[derive(Debug)]
pub struct ResctrlCounter {
    path: PathBuf,
}

impl Monitor {
    /// Whether it works here, or why not.
    pub fn probe() -> Result<(), String> {
        probe(Path::new(ROOT))
    }

    /// Counters of this machine.
    pub fn open() -> io::Result<Monitor> {
        Ok(Monitor { root: ROOT.into(), prefix: format!("meanwhile-{}", std::process::id()) })
    }

    /// Counters for a program with these threads.
    pub fn counter(&self, id: u64, threads: &[i32]) -> io::Result<ResctrlCounter> {
        let path = self.root.join("mon_groups").join(format!("{}-{id}", self.prefix));
        rights::make(&path)?;
        let counter = ResctrlCounter { path };
        counter.add(threads)?;
        Ok(counter)
    }
}

impl ResctrlCounter {
    /// These threads are counted too, from now on.
    pub fn add(&self, threads: &[i32]) -> io::Result<()> {
        // One number a write, as the kernel wants it.
        let add = |thread: &i32| rights::write(&self.path, "tasks", &format!("{thread}\n"));
        threads.iter().try_for_each(add)
    }

    /// Bytes so far, over all caches; none while a cache has nothing to say.
    pub fn bytes(&self) -> io::Result<Option<u64>> {
        let mut sum = Some(0);
        for entry in fs::read_dir(self.path.join("mon_data"))? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with("mon_L3_") {
                continue;
            }
            let text = fs::read_to_string(entry.path().join("mbm_total_bytes"))?;
            sum = sum.zip(number(&text)?).map(|(sum, it): (u64, u64)| sum.wrapping_add(it));
        }
        Ok(sum)
    }
}

impl Drop for ResctrlCounter {
    fn drop(&mut self) {
        // Its threads fall back to the group above.
        let _ = rights::remove(&self.path);
    }
}

fn number(text: &str) -> io::Result<Option<u64>> {
    match text.trim() {
        "Unavailable" => Ok(None),
        "Error" => Err(io::Error::other("resctrl: the counter failed")),
        it => it
            .parse()
            .map(Some)
            .map_err(|_| io::Error::other(format!("resctrl: `{it}` is no number"))),
    }
}

fn probe(root: &Path) -> Result<(), String> {
    if !root.join("mon_groups").is_dir() {
        return Err(format!(
            "{} is not mounted, or this processor does not monitor",
            root.display()
        ));
    }
    let features = root.join("info/L3_MON/mon_features");
    let text = fs::read_to_string(&features)
        .map_err(|error| format!("{}: {error}", features.display()))?;
    if !text.lines().any(|line| line.trim() == "mbm_total_bytes") {
        return Err("it does not count traffic (no mbm_total_bytes)".to_owned());
    }
    let own = root.join("mon_groups").join(format!("meanwhile-probe-{}", std::process::id()));
    fs::create_dir(&own).map_err(|error| format!("{}: {error}", own.display()))?;
    let _ = fs::remove_dir(&own);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A synthetic tree: written from the kernel's documentation, not recorded on a machine.
    fn synthetic() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::create_dir_all(folder.path().join("mon_groups")).expect("a scratch folder");
        fs::create_dir_all(folder.path().join("info/L3_MON")).expect("a scratch folder");
        let features = "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n";
        fs::write(folder.path().join("info/L3_MON/mon_features"), features)
            .expect("a scratch file");
        folder
    }

    fn caches(counter: &ResctrlCounter, texts: &[&str]) {
        for (idx, text) in texts.iter().enumerate() {
            let path = counter.path.join(format!("mon_data/mon_L3_{idx:02}"));
            fs::create_dir_all(&path).expect("a scratch folder");
            fs::write(path.join("mbm_total_bytes"), text).expect("a scratch file");
        }
    }

    #[test]
    fn bytes_of_all_caches_are_added() {
        let folder = synthetic();
        assert_eq!(probe(folder.path()), Ok(()));
        let counter = ResctrlCounter { path: folder.path().join("mon_groups/own-3") };
        fs::create_dir(&counter.path).expect("a scratch folder");
        // The kernel makes it with the folder.
        fs::write(counter.path.join("tasks"), "").expect("a scratch file");
        counter.add(&[41, 42]).expect("it is there");
        assert_eq!(
            fs::read_to_string(counter.path.join("tasks")).expect("it was written"),
            "42\n",
            "one number a write"
        );
        caches(&counter, &["1000000\n", "234\n"]);
        assert_eq!(counter.bytes().expect("numbers"), Some(1_000_234));
        caches(&counter, &["Unavailable\n", "234\n"]);
        assert_eq!(counter.bytes().expect("a word of the documentation"), None);
        caches(&counter, &["Error\n", "234\n"]);
        assert_eq!(
            counter.bytes().expect_err("it failed").to_string(),
            "resctrl: the counter failed"
        );
        caches(&counter, &["many\n", "234\n"]);
        assert_eq!(
            counter.bytes().expect_err("no number").to_string(),
            "resctrl: `many` is no number"
        );
    }

    #[test]
    fn why_it_does_not_work_is_said() {
        let folder = synthetic();
        fs::write(folder.path().join("info/L3_MON/mon_features"), "llc_occupancy\n")
            .expect("a scratch file");
        assert_eq!(
            probe(folder.path()),
            Err("it does not count traffic (no mbm_total_bytes)".into())
        );
        fs::remove_dir(folder.path().join("mon_groups")).expect("a scratch folder");
        assert!(probe(folder.path()).is_err_and(|probe| probe.contains("is not mounted")));
    }
}
