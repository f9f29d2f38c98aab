//! Door: ways to put a program into the kernel's idle class, one a file. It then runs on all that
//! nobody else wants, and on 1 % of what others do want; nothing can stay frozen.

mod threads;
mod v1;
mod v2;

use std::fmt::{Debug, Write};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::group::{Group, Hierarchy};
use super::rights;

/// Numbers of times that are remembered: more than programs of unequal threads change between, so
/// that what a group weighs now is among them.
const TIMES: usize = 8;
/// What the kernel gives a group that nobody gave anything: `cpu.weight` and `cpu.shares`. Source:
/// Linux, cgroup-v2.rst and sched-design-CFS.rst.
const USUAL_WEIGHT: i32 = 100;
const USUAL_SHARES: &str = "1024";
/// How the line of a record begins that has them.
const TIMES_LINE: &str = "times ";
/// Whoever takes a group out of the idle class, a supervisor of ours or a service manager, writes
/// its weight right after that.
const SETTLES: Duration = Duration::from_millis(2);

/// The ways, the best first.
pub const ALL: &[Kind] = &[&v2::IdleV2, &v1::IdleV1, &threads::Threads];

pub type Kind = &'static dyn IdleClass;

/// A way into the idle class and back.
pub trait IdleClass: Debug + Sync {
    fn text(&self) -> &'static str;

    /// As people call it.
    fn name(&self) -> &'static str;

    /// Whether programs of this manager can be demoted, and promoted again.
    ///
    fn probe(&self, hierarchy: &Hierarchy) -> Result<(), String>;

    /// What a program has now, and where it will be; `name` is free for a group of its own.
    /// Changes nothing that the program could notice.
    ///
    /// Errors: it cannot be demoted so that it counts, or not be promoted again.
    fn look(&self, group: &Group, name: &str) -> io::Result<Had>;

    /// Makes it ready to be demoted; it loses nothing by that.
    fn enter(&self, had: &Had, group: &Group) -> io::Result<()>;

    fn demote(&self, had: &Had, group: &Group) -> io::Result<()>;

    /// The kernel weighs it as before, times `by` where it has a group of its own.
    fn promote(&self, had: &Had, group: Option<&Group>, by: f64) -> io::Result<()>;

    /// The control groups that all of it is in, for the cpu controller; none with threads.
    fn groups(&self, had: &Had) -> Vec<PathBuf> {
        vec![had.folder.clone()]
    }

    /// What it has now, where its owner changed that; none if what it weighs is what it had, or
    /// what we made of it.
    fn changed(&self, _had: &Had) -> Option<Had> {
        None
    }

    /// Promotes it, and gives back all that [`IdleClass::enter`] took.
    fn give_back(&self, had: &Had, group: Option<&Group>) -> io::Result<()>;
}

/// The best way that works for what is in groups of ours.
///
/// Errors: why none does.
pub fn choose(hierarchy: &Hierarchy) -> Result<Kind, String> {
    let mut said = Vec::new();
    for kind in ALL {
        match kind.probe(hierarchy) {
            Ok(()) => return Ok(*kind),
            Err(why) => said.push(format!("{}: {why}", kind.name())),
        }
    }
    Err(said.join("; "))
}

/// The way by control groups, of the version that has the cpu controller: no kernel has it in both.
fn of_groups() -> Kind {
    if v1::is_mounted() { &v1::IdleV1 } else { &v2::IdleV2 }
}

/// What a program had before it could be demoted.
#[derive(Debug, Clone)]
pub struct Had {
    kind: Kind,
    /// What it is weighed against others by, which the idle class makes the kernel forget; or, for
    /// threads, the scheduling group that all of them share.
    weight: String,
    /// Its scheduling group, if it has one of its own: made for it, or where it is.
    folder: PathBuf,
    parts: Vec<Part>,
    /// What it weighs is one of these numbers of times what it had, or just that; none in records
    /// of before they were noted.
    times: Option<Vec<f64>>,
}

/// Something of a program: a process, a thread, a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    id: i32,
    /// When it started, as in [`super::process::Process::started`], or the number of the folder: it
    /// may be another's later.
    started: u64,
    /// Where it was, or what it had.
    what: String,
}

impl Had {
    pub fn promote(&self, group: Option<&Group>) -> io::Result<()> {
        self.kind.promote(self, group, 1.0)
    }

    pub fn give_back(&self, group: Option<&Group>) -> io::Result<()> {
        self.kind.give_back(self, group)
    }

    /// With what its owner has given it meanwhile, which is what it has from then on. So whoever
    /// writes its weight asks here first.
    ///
    /// A change is looked at twice: between the two writes of one who takes a group out of the idle
    /// class it has the kernel's usual weight, which is nobody's.
    pub fn followed(self) -> Had {
        if self.times.is_none() || self.kind.changed(&self).is_none() {
            return self;
        }
        thread::sleep(SETTLES);
        match self.kind.changed(&self) {
            // Times what its owner gave, nothing was written yet.
            Some(now) => Had { times: Some(Vec::new()), ..now },
            None => self,
        }
    }

    /// The same by one who outlives its manager. That may have ended between taking a group out of
    /// the idle class and writing its weight: then the kernel's usual one is nobody's.
    pub fn followed_by_survivor(self) -> Had {
        let mut now = self.clone().followed();
        if now.weight == USUAL_SHARES {
            now.weight = self.weight;
        }
        for (part, had) in now.parts.iter_mut().zip(&self.parts) {
            if part.id == USUAL_WEIGHT {
                part.id = had.id;
            }
        }
        now
    }

    /// Of a weight as a function of the number of times: whether it is ours.
    fn is_ours(&self, is_it: impl Fn(f64) -> bool) -> bool {
        is_it(1.0) || self.times.iter().flatten().any(|by| is_it(*by))
    }

    /// Writes it to `path`.
    ///
    /// Errors: there is no room, or the folder is gone.
    pub fn store(&self, path: &Path) -> io::Result<()> {
        let mut text =
            format!("{}\n{}\n{}\n", self.kind.text(), self.weight, self.folder.display());
        for part in &self.parts {
            let _ = writeln!(text, "{} {} {}", part.id, part.started, part.what);
        }
        if let Some(times) = &self.times {
            let times: Vec<String> = times.iter().map(f64::to_string).collect();
            let _ = writeln!(text, "{TIMES_LINE}{}", times.join(" "));
        }
        rights::note(path, &text)
    }

    /// Reads it; none if there is nothing to read.
    pub fn load(path: &Path) -> Option<Had> {
        let text = fs::read_to_string(path).ok()?;
        let mut lines = text.lines();
        let kind = lines.next()?;
        let kind = ALL.iter().copied().find(|known| known.text() == kind)?;
        let (weight, folder) = (lines.next()?.to_owned(), PathBuf::from(lines.next()?));
        let part = |line: &str| {
            let mut fields = line.splitn(3, ' ');
            let (id, started) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
            Some(Part { id, started, what: fields.next()?.to_owned() })
        };
        let (times, parts): (Vec<&str>, Vec<&str>) =
            lines.partition(|line| line.starts_with(TIMES_LINE));
        let times = times.first().map(|line| line[TIMES_LINE.len()..].split(' '));
        Some(Had {
            kind,
            weight,
            folder,
            parts: parts.into_iter().filter_map(part).collect(),
            times: times.map(|words| words.filter_map(|by| by.parse().ok()).collect()),
        })
    }

    /// What is known of this process or thread.
    fn of(&self, id: i32, started: u64) -> Option<&str> {
        let own = self.parts.iter().find(|part| part.id == id && part.started == started);
        own.map(|own| own.what.as_str())
    }
}

/// A program that can be demoted, with what is written of it for whoever outlives the manager.
#[derive(Debug)]
pub struct Demotable {
    had: Had,
    record: PathBuf,
}

impl Demotable {
    /// Makes one of the program in `group`, by `ours` if the group is. What it has is in the file
    /// `record` before anything of it changes.
    ///
    /// Errors: it cannot be demoted so that it counts, or not be promoted again; it is as before.
    pub fn make(
        ours: &Result<Kind, String>,
        group: &Group,
        name: &str,
        record: &Path,
    ) -> io::Result<Demotable> {
        let refused = |why: &String| io::Error::new(io::ErrorKind::Unsupported, why.clone());
        // A group of another's is demoted where it is, whatever is possible in our own.
        let kind =
            if group.is_foreign() { of_groups() } else { *ours.as_ref().map_err(refused)? };
        let had = kind.look(group, name)?;
        had.store(record)?;
        let it = Demotable { had, record: record.to_owned() };
        if let Err(error) = kind.enter(&it.had, group) {
            it.give_back(group);
            return Err(error);
        }
        Ok(it)
    }

    /// Programs of which one is demoted against another must have the same here.
    pub fn scheduled_in(&self) -> &Path {
        let own = self.had.folder.parent();
        own.unwrap_or(Path::new(&self.had.weight))
    }

    /// What the owner of a group of another's gave it meanwhile is what it has from now on: on disk
    /// before it is touched again.
    ///
    /// Errors: there is no room.
    pub fn follow(&mut self, group: &Group) -> io::Result<()> {
        if group.is_foreign() {
            let now = self.had.clone().followed();
            if now.parts != self.had.parts || now.weight != self.had.weight {
                // Without room for the record it is in our memory.
                let noted = now.store(&self.record);
                self.had = now;
                return noted;
            }
        }
        Ok(())
    }

    /// The control groups that all of it is in, for the cpu controller.
    pub fn groups(&self) -> Vec<PathBuf> {
        self.had.kind.groups(&self.had)
    }

    /// Lets it run on what nobody else wants.
    pub fn demote(&mut self, group: &Group) -> io::Result<()> {
        let demoted = self.had.kind.demote(&self.had, group);
        if demoted.is_err() {
            // Not the half of it either.
            let _ = self.had.promote(Some(group));
        }
        demoted
    }

    /// It weighs as much as before, times `by`; without room to write that down, as before.
    pub fn promote(&mut self, group: &Group, by: f64) -> io::Result<()> {
        let _ = self.follow(group);
        let by = if self.notes(by).is_ok() { by } else { 1.0 };
        self.had.kind.promote(&self.had, Some(group), by)
    }

    /// What we are about to write is on disk first, so that whoever outlives the manager tells our
    /// weight from its owner's.
    fn notes(&mut self, by: f64) -> io::Result<()> {
        if self.had.is_ours(|known| known == by) {
            return Ok(());
        }
        let mut now = self.had.clone();
        let times = now.times.get_or_insert_default();
        times.push(by);
        let n_old = times.len().saturating_sub(TIMES);
        times.drain(..n_old);
        now.store(&self.record)?;
        self.had = now;
        Ok(())
    }

    /// Promotes it, and gives back what it had. What cannot be given back stays written down.
    pub fn give_back(self, group: &Group) {
        // Where there is no room to write it down it is in our memory.
        let had = self.had.followed();
        if had.give_back(Some(group)).is_ok() {
            let _ = rights::strike(&self.record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::foreign::Foreign;
    use super::super::freezer;
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("program-1.idle");
        assert!(Had::load(&path).is_none());
        for kind in ALL {
            let part = Part { id: 7, started: 99, what: "/sys/fs/cgroup/cpu/a b".into() };
            let (weight, group) = ("2048".to_owned(), PathBuf::from("/sys/fs/cgroup/our own"));
            let times = Some(vec![4.0 / 3.0, 2.0]);
            let had = Had { kind: *kind, weight, folder: group, parts: vec![part], times };
            had.store(&path).expect("written");
            let read = Had::load(&path).expect("it was written");
            assert_eq!(
                (read.kind.text(), &read.weight, &read.folder, &read.parts, &read.times),
                (kind.text(), &had.weight, &had.folder, &had.parts, &had.times)
            );
            assert_eq!(read.of(7, 99), Some("/sys/fs/cgroup/cpu/a b"));
            assert_eq!(read.of(7, 98), None, "the number is another's now");
        }
    }

    /// A service's group of plain files that weighs 437, by a manager that can demote it.
    fn managed(folder: &Path) -> (Demotable, Group) {
        for (file, text) in [("cgroup.freeze", "0"), ("cpu.idle", "0"), ("cpu.weight", "437")] {
            fs::write(folder.join(file), text).expect("a scratch file");
        }
        let v2 = freezer::from_text("v2").expect("it is one of them");
        let group = Foreign::at(v2, Path::new("/"), folder).expect("it is there");
        let group = Group::foreign(group);
        let had = v2::IdleV2.look(&group, "").expect("it can be demoted");
        let record = folder.join("program-1.idle");
        had.store(&record).expect("written");
        (Demotable { had, record }, group)
    }

    fn weight(folder: &Path) -> String {
        fs::read_to_string(folder.join("cpu.weight")).expect("it is there").trim().to_owned()
    }

    #[test]
    fn what_a_service_is_given_while_it_waits_is_not_written_over() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (mut it, group) = managed(folder.path());
        it.promote(&group, 1.5).expect("written");
        assert_eq!(weight(folder.path()), "656", "its turn");
        it.demote(&group).expect("written");
        // As `systemctl set-property CPUWeight=215` does.
        fs::write(folder.path().join("cpu.idle"), "0").expect("a scratch file");
        fs::write(folder.path().join("cpu.weight"), "215").expect("a scratch file");
        it.promote(&group, 1.0).expect("written");
        assert_eq!(weight(folder.path()), "215");
    }

    #[test]
    fn the_kernels_usual_weight_is_nobodys_when_a_manager_was_killed_before_it_wrote() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (mut it, group) = managed(folder.path());
        it.promote(&group, 1.5).expect("written");
        it.demote(&group).expect("written");
        // The kernel does so when the group leaves the idle class.
        fs::write(folder.path().join("cpu.idle"), "0").expect("a scratch file");
        fs::write(folder.path().join("cpu.weight"), "100").expect("a scratch file");
        let left = Had::load(&it.record).expect("it was written").followed_by_survivor();
        left.give_back(None).expect("written");
        assert_eq!(weight(folder.path()), "437");
    }

    #[test]
    fn a_record_of_before_factors_were_noted_is_taken_as_it_is() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (mut it, group) = managed(folder.path());
        it.promote(&group, 1.5).expect("written");
        let text = fs::read_to_string(&it.record).expect("it was written");
        let old: String = text
            .lines()
            .filter(|line| !line.starts_with(TIMES_LINE))
            .fold(String::new(), |text, line| text + line + "\n");
        fs::write(&it.record, old).expect("a scratch file");
        let left = Had::load(&it.record).expect("it was written").followed_by_survivor();
        left.give_back(None).expect("written");
        assert_eq!(weight(folder.path()), "437");
    }

    #[test]
    fn many_factors_in_turn_are_all_ours() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (mut it, group) = managed(folder.path());
        for by in [1.5, 2.0, 1.5, 3.0] {
            it.promote(&group, by).expect("written");
        }
        // The last was noted, and never written.
        fs::write(folder.path().join("cpu.weight"), "656").expect("a scratch file");
        let left = Had::load(&it.record).expect("it was written").followed_by_survivor();
        left.give_back(None).expect("written");
        assert_eq!(weight(folder.path()), "437");
    }

    #[test]
    fn whoever_outlives_the_manager_tells_our_weight_from_its_owners() {
        for (is_owners, expected) in [(false, "437"), (true, "215")] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let (mut it, group) = managed(folder.path());
            for by in [1.5, 2.0] {
                it.promote(&group, by).expect("written");
            }
            if is_owners {
                fs::write(folder.path().join("cpu.weight"), "215").expect("a scratch file");
            }
            // The manager does nothing any more.
            let left = Had::load(&it.record).expect("it was written").followed_by_survivor();
            left.give_back(None).expect("written");
            assert_eq!(weight(folder.path()), expected);
        }
    }
}
