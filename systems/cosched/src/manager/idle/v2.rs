//! Door: `cpu.idle` of version 2: of the program's own group, in which it is frozen elsewhere.
//!
//! Nothing is enabled in groups that are not ours: one whose children have controllers takes no
//! process any more, so that its owner could start nothing there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::foreign::inode;
use super::{Group, Had, Hierarchy, IdleClass, Part, rights};

#[derive(Debug)]
pub struct IdleV2;

impl IdleClass for IdleV2 {
    fn text(&self) -> &'static str {
        "v2"
    }

    fn name(&self) -> &'static str {
        "cgroup v2 cpu.idle"
    }

    fn probe(&self, hierarchy: &Hierarchy) -> Result<(), String> {
        if hierarchy.freezer.text() != "v2" {
            return Err(format!("groups are those of {}", hierarchy.freezer.name()));
        }
        // Our own folder has no processes, only groups.
        let controllers = hierarchy.path.join("cgroup.controllers");
        let has_cpu = fs::read_to_string(&controllers)
            .is_ok_and(|text| text.split_ascii_whitespace().any(|word| word == "cpu"));
        if !has_cpu {
            return Err(format!("no cpu controller in {}", hierarchy.path.display()));
        }
        let said = |error: io::Error| format!("{}: {error}", hierarchy.path.display());
        rights::write(&hierarchy.path, "cgroup.subtree_control", "+cpu").map_err(said)?;
        let trial = hierarchy.path.join("trial");
        rights::make(&trial).map_err(said)?;
        let works = rights::write(&trial, "cpu.idle", "1").map_err(said);
        let _ = rights::remove(&trial);
        works
    }

    fn look(&self, group: &Group, _name: &str) -> io::Result<Had> {
        let part = |folder: &Path| {
            let missing = |error: io::Error| {
                let why = format!("{} has no cpu.idle of its own: {error}", folder.display());
                io::Error::new(io::ErrorKind::Unsupported, why)
            };
            let idle = fs::read_to_string(folder.join("cpu.idle")).map_err(missing)?;
            if idle.trim() != "0" {
                let why = format!("{} is in the idle class by its owner", folder.display());
                return Err(io::Error::new(io::ErrorKind::Unsupported, why));
            }
            let weight = fs::read_to_string(folder.join("cpu.weight")).map_err(missing)?;
            let weight = weight.trim().parse().map_err(|_| io::ErrorKind::InvalidData)?;
            let started = inode(folder).ok_or(io::ErrorKind::NotFound)?;
            Ok(Part { id: weight, started, what: folder.display().to_string() })
        };
        let parts = group.folders().map(part).collect::<io::Result<Vec<Part>>>()?;
        let folder = group.path().to_owned();
        Ok(Had { kind: &IdleV2, weight: String::new(), folder, parts, times: Some(Vec::new()) })
    }

    fn enter(&self, _had: &Had, _group: &Group) -> io::Result<()> {
        Ok(())
    }

    fn demote(&self, had: &Had, _group: &Group) -> io::Result<()> {
        let mut there = had.parts.iter().filter(|part| is_there(part));
        there.try_for_each(|part| rights::write(Path::new(&part.what), "cpu.idle", "1"))
    }

    fn promote(&self, had: &Had, _group: Option<&Group>, by: f64) -> io::Result<()> {
        let mut first = Ok(());
        // One that has ended is no reason to leave the others as they are.
        for part in had.parts.iter().filter(|part| is_there(part)) {
            let folder = Path::new(&part.what);
            let done = rights::write(folder, "cpu.idle", "0").and_then(|()| {
                rights::write(folder, "cpu.weight", &weighed(part.id, by).to_string())
            });
            first = first.and(done);
        }
        first
    }

    fn groups(&self, had: &Had) -> Vec<PathBuf> {
        had.parts.iter().map(|part| PathBuf::from(&part.what)).collect()
    }

    fn changed(&self, had: &Had) -> Option<Had> {
        let mut now = had.clone();
        for part in now.parts.iter_mut().filter(|part| is_there(part)) {
            let folder = Path::new(&part.what);
            let says = |file: &str| rights::read(folder, file).unwrap_or_default();
            let weight = says("cpu.weight").trim().parse().ok();
            let weight = weight.filter(|_| says("cpu.idle").trim() == "0");
            let is_ours = |weight: &i32| had.is_ours(|by| *weight == weighed(part.id, by));
            if let Some(weight) = weight.filter(|weight| !is_ours(weight)) {
                part.id = weight;
            }
        }
        (now.parts != had.parts).then_some(now)
    }

    fn give_back(&self, had: &Had, group: Option<&Group>) -> io::Result<()> {
        self.promote(had, group, 1.0).or_else(|error| {
            // A group that is gone has nothing any more.
            if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
        })
    }
}

/// The group itself, and not another one that has its path now.
fn is_there(part: &Part) -> bool {
    inode(Path::new(&part.what)) == Some(part.started)
}

/// What a group of this weight is given.
fn weighed(weight: i32, by: f64) -> i32 {
    (f64::from(weight) * by).clamp(1.0, 10_000.0).round() as i32
}

#[cfg(test)]
mod tests {
    use super::super::super::freezer;
    use super::*;

    /// A group of plain files, as the kernel shows it: what is written to it can be read.
    fn group(folder: &Path, idle: &str, weight: &str) -> Group {
        for (file, text) in [("cgroup.freeze", "0"), ("cpu.idle", idle), ("cpu.weight", weight)] {
            fs::write(folder.join(file), text).expect("a scratch file");
        }
        Group::open(freezer::from_text("v2").expect("it is one of them"), folder.to_owned())
            .expect("its files are there")
    }

    #[test]
    fn the_weight_that_the_idle_class_forgets_is_given_back() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let read = |file: &str| fs::read_to_string(folder.path().join(file)).expect("it is there");
        let group = group(folder.path(), "0", "437");
        let had = IdleV2.look(&group, "").expect("it can be demoted");
        IdleV2.demote(&had, &group).expect("written");
        assert!(read("cpu.idle").starts_with('1'));
        // The kernel shows none then, and the usual one afterwards.
        fs::write(folder.path().join("cpu.weight"), "0  ").expect("a scratch file");
        had.give_back(None).expect("written");
        assert!(read("cpu.idle").starts_with('0') && read("cpu.weight").starts_with("437"));
    }

    #[test]
    fn what_its_owner_changes_meanwhile_is_what_it_has() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let write = |file: &str, text: &str| {
            fs::write(folder.path().join(file), text).expect("a scratch file");
        };
        let group = group(folder.path(), "0", "100");
        let mut had = IdleV2.look(&group, "").expect("it can be demoted");
        had.times = Some(vec![1.5, 2.0]);
        for ours in ["100\n", "150\n", "200\n"] {
            write("cpu.weight", ours);
            assert!(IdleV2.changed(&had).is_none(), "that was us");
        }
        write("cpu.weight", "300\n");
        assert_eq!(IdleV2.changed(&had).expect("its owner did").parts[0].id, 300);
        write("cpu.weight", "0\n");
        write("cpu.idle", "1\n");
        assert!(IdleV2.changed(&had).is_none(), "the idle class has no weight");
        // A container that was started again has another group at the same path.
        let mut other = had.clone();
        other.parts[0].started += 1;
        IdleV2.give_back(&other, None).expect("nothing to do");
        let read = |file: &str| fs::read_to_string(folder.path().join(file)).expect("it is there");
        assert_eq!((read("cpu.idle").as_str(), read("cpu.weight").as_str()), ("1\n", "0\n"));
    }

    #[test]
    fn a_group_without_the_controller_or_of_another_manager_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let idle = group(folder.path(), "1\n", "0\n");
        let said = IdleV2.look(&idle, "").expect_err("somebody else demoted it").to_string();
        assert!(said.ends_with("is in the idle class by its owner"), "{said}");
        fs::remove_file(folder.path().join("cpu.idle")).expect("a scratch file");
        let said = IdleV2.look(&idle, "").expect_err("an old kernel").to_string();
        assert!(said.contains("has no cpu.idle of its own"), "{said}");
    }
}
