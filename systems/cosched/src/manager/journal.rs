//! Door: what programs had before they were managed, on disk, so that whoever outlives the manager
//! gives it back.
//!
//! A manager that is killed must not leave a program frozen, demoted, limited or bound to one
//! processor. It cannot clean up after its own death, so somebody else does, and they know of a
//! program only what is on disk. From that follow the rules of this file:
//!
//! - **Written before it is done.** What a program has is on disk before anything of it is changed.
//!   A crash between the two gives back what was never taken, which does no harm.
//! - **Giving back is done twice without harm.** Two supervisors, `restore` and the next manager
//!   may all do it, one of them half way through. So each step states what should be, never what
//!   should change, and what fails does so because something has ended.
//! - **First of all programs run.** [`thaw`] lifts limits, promotes and thaws all of them, and only
//!   then gives back processors; [`free`] moves them out of our groups last.
//! - **Numbers are other people's later.** A process or thread is named by its number and when it
//!   started, and so is the manager ([`claim`]), whose folder is named by its number.
//!
//! One file a program beside its page: its group, the control group that it came from, then a line
//! a thread: its number, when it started, its processors, its control group if that is another one.
//! A thread that is not named was born under us and gets what its process had. Beside it lie
//! `.idle`, what a program had that may be demoted, and `.limit`, of one that is limited. A program
//! that ended is [forgotten](forget), but not while something is left in its group.
//!
//! [`free_leftovers`] is what a new manager and `restore` begin with: it looks through the folders
//! of all managers of this user. One that is alive is left alone, or, for `restore`, told to let
//! all run; of one that is dead everything is given back, for up to [`PATIENCE`], as programs fork
//! while they are moved.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::foreign::Foreign;
use super::group::{Group, Hierarchy};
use super::idle::Had;
use super::limit::Limit;
use super::process::{self, Process};
use super::tasks::is_task;
use super::{freezer, rights, team};

/// What one program had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Before {
    /// Our group for it.
    pub group: PathBuf,
    /// Its control group; none if it was started by us, or if groups are folders of ours.
    pub home: Option<PathBuf>,
    /// The processors of each thread.
    pub threads: Vec<Thread>,
}

/// The processors that a thread had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub tid: i32,
    /// When it started, as in [`Process::started`]: the number may be another's.
    pub started: u64,
    /// The processors that it was allowed before it was managed.
    pub cpus: Vec<usize>,
    /// The control group of its process, if it is not that of the program's first.
    pub home: Option<PathBuf>,
}

impl Before {
    /// What the processes and all below them have now; `home_of` says in which
    /// control group each is.
    pub fn of(
        roots: &[i32],
        group: PathBuf,
        home_of: impl Fn(i32) -> Option<PathBuf>,
    ) -> io::Result<Before> {
        let home = roots.first().and_then(|root| home_of(*root));
        let mut threads = Vec::new();
        let all = process::all()?;
        for process in roots.iter().flat_map(|root| process::tree(&all, *root)) {
            let other = home_of(process.pid).filter(|it| Some(it) != home.as_ref());
            for it in process.threads().into_iter().filter_map(Process::find) {
                threads.push(Thread {
                    tid: it.pid,
                    started: it.started,
                    cpus: process::cpus_of(it.pid),
                    home: other.clone(),
                });
            }
        }
        Ok(Before { group, home, threads })
    }

    /// Nothing was moved: its group is the one that it came from, and stays.
    fn is_in_place(&self) -> bool {
        self.home.as_ref() == Some(&self.group)
    }

    /// Its group, if that is still there.
    pub(super) fn open(&self, hierarchy: &Hierarchy) -> io::Result<Group> {
        if self.is_in_place() && !is_task(&self.group) {
            Ok(Group::foreign(Foreign::open(&self.group)?))
        } else {
            Group::open(hierarchy.freezer, self.group.clone())
        }
    }

    /// The control group that a process came from.
    fn home(&self, of: &Process) -> Option<PathBuf> {
        let own =
            self.threads.iter().find(|thread| thread.tid == of.pid && thread.started == of.started);
        own.and_then(|own| own.home.clone()).or_else(|| self.home.clone())
    }

    /// The processors of this thread; `all` if nothing is known of it nor of its process.
    fn cpus<'a>(&'a self, tid: i32, all: &'a [usize]) -> &'a [usize] {
        let saved = |tid: i32| {
            let started = Process::find(tid)?.started;
            self.threads
                .iter()
                .find(|thread| thread.tid == tid && thread.started == started)
                .map(|thread| thread.cpus.as_slice())
        };
        // A process that was forked under us has what its root had.
        let root = || self.threads.first().map(|thread| thread.cpus.as_slice());
        saved(tid).or_else(|| saved(process::process_of(tid)?)).or_else(root).unwrap_or(all)
    }

    /// Thaws the group, moves all where they came from, and takes the group away. What fails here
    /// fails because something has ended.
    pub fn release(&self, group: &Group) {
        let _ = group.release(|process| self.home(process));
    }

    /// Thaws the group, gives every thread its processors back, moves all where they came from, and
    /// takes the group away. What fails here fails because something has ended.
    pub fn give_back(&self, group: &Group, all: &[usize]) {
        let _ = group.thaw();
        self.unbind(group, all);
        self.release(group);
    }

    /// Gives every thread its processors back.
    pub(super) fn unbind(&self, group: &Group, all: &[usize]) {
        // Of a group that is not ours no thread was kept to any.
        if group.is_foreign() {
            return;
        }
        for tid in group.threads().unwrap_or_default() {
            let _ = process::keep_thread(tid, self.cpus(tid, all));
        }
    }

    /// Writes it to `path`.
    ///
    /// Errors: there is no room, or the folder is gone.
    pub fn store(&self, path: &Path) -> io::Result<()> {
        let shown = |option: &Option<PathBuf>| {
            option.as_ref().map_or(String::new(), |path| path.display().to_string())
        };
        let mut text = format!("{}\n{}\n", self.group.display(), shown(&self.home));
        for it in &self.threads {
            let cpus: Vec<String> = it.cpus.iter().map(usize::to_string).collect();
            text += &format!("{} {} {} {}\n", it.tid, it.started, cpus.join(","), shown(&it.home));
        }
        rights::note(path, &text)
    }

    /// Reads it; nothing is known if that fails.
    pub fn load(path: &Path) -> Before {
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.lines();
        let path =
            |text: &str| Some(text).filter(|recorded| !recorded.is_empty()).map(PathBuf::from);
        let group = lines.next().and_then(path).unwrap_or_default();
        let home = lines.next().and_then(path);
        let thread = |line: &str| {
            let mut fields = line.splitn(4, ' ');
            let (tid, started) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
            let cpus: Option<Vec<usize>> =
                fields.next()?.split(',').map(|part| part.parse().ok()).collect();
            Some(Thread { tid, started, cpus: cpus?, home: path(fields.next()?) })
        };
        Before { group, home, threads: lines.filter_map(thread).collect() }
    }
}

/// The file of the program of this number.
pub fn path(pages: &Path, id: u64) -> PathBuf {
    pages.join(format!("program-{id}{ENDING}"))
}

const ENDING: &str = ".before";

/// What is written of a program that can be demoted, beside what it had before.
pub(super) fn idle_path(pages: &Path, id: u64) -> PathBuf {
    path(pages, id).with_extension(IDLE)
}

const IDLE: &str = "idle";

/// What is written of a program that is limited, beside that.
pub(super) fn limit_path(pages: &Path, id: u64) -> PathBuf {
    path(pages, id).with_extension(LIMIT)
}

const LIMIT: &str = "limit";

/// True if a file of this name says what a program had.
pub(super) fn is_of_a_program(name: &str) -> bool {
    let parts = name.strip_prefix("program-").and_then(|rest| rest.split_once('.'));
    parts.is_some_and(|(id, end)| {
        id.parse::<u64>().is_ok() && [&ENDING[1..], IDLE, LIMIT].contains(&end)
    })
}

/// The programs that a manager has limited.
fn limits(pages: &Path) -> Vec<Limit> {
    let files = fs::read_dir(pages).into_iter().flatten().filter_map(Result::ok);
    files
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|end| end == LIMIT))
        .filter_map(|file| Limit::load(&file))
        .collect()
}

/// The programs that a manager may have demoted: their files, what they had, and their groups if
/// those are still there.
fn demotable(hierarchy: &Hierarchy, pages: &Path) -> Vec<(PathBuf, Had, Option<Group>)> {
    let files = fs::read_dir(pages).into_iter().flatten().filter_map(Result::ok);
    files
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|it| it == IDLE))
        .filter_map(|file| {
            let before = Before::load(&file.with_extension(&ENDING[1..]));
            Had::load(&file)
                .map(|had| (file, had.followed_by_survivor(), before.open(hierarchy).ok()))
        })
        .collect()
}

/// What a program is told that becomes another user's.
pub(super) fn start_path(pages: &Path, id: u64) -> PathBuf {
    pages.join(format!("start-{id}"))
}

/// The programs that a manager has written down, with their groups.
fn programs(hierarchy: &Hierarchy, pages: &Path) -> Vec<(Before, Group)> {
    let files =
        fs::read_dir(pages).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    files
        .filter(|file| file.to_string_lossy().ends_with(ENDING))
        .map(|file| Before::load(&file))
        .filter_map(|load| load.open(hierarchy).ok().map(|group| (load, group)))
        .collect()
}

/// Lets all programs of a manager run that does not go on: thawed, on their own processors, with
/// the threads they want. Their groups stay, as the manager may go on after all.
pub fn thaw(hierarchy: &Hierarchy, pages: &Path, all: &[usize]) {
    let programs = programs(hierarchy, pages);
    for limit in limits(pages) {
        let _ = limit.lift();
    }
    for (_, had, group) in demotable(hierarchy, pages) {
        let _ = had.promote(group.as_ref());
    }
    // First of all they run. What fails here fails because something has ended.
    for (_, group) in &programs {
        let _ = group.let_run();
    }
    team::free(pages);
    for (before, group) in &programs {
        before.unbind(group, all);
    }
}

/// Frees all programs of a manager that is dead: thawed, on their own processors, in their own
/// groups. `pages` is the folder of its pages and files. True if nothing of it is left.
pub fn free(hierarchy: &Hierarchy, pages: &Path, all: &[usize]) -> bool {
    thaw(hierarchy, pages, all);
    let mut is_left = limits(pages).iter().any(|limit| limit.give_back().is_err());
    for (file, had, group) in demotable(hierarchy, pages) {
        let is_back = had.give_back(group.as_ref()).and_then(|()| fs::remove_file(file)).is_ok();
        is_left |= !is_back;
    }
    let programs = programs(hierarchy, pages);
    for (before, group) in &programs {
        before.give_back(group, all);
    }
    is_left |= programs.iter().any(|(before, _)| before.group.exists() && !before.is_in_place());
    let is_gone = !is_left && (hierarchy.remove().is_ok() || !hierarchy.path.exists());
    if is_gone {
        let _ = fs::remove_dir_all(pages);
    }
    is_gone
}

/// How the name of a manager's folder of pages begins; its number follows.
pub const PAGES: &str = "pages-";

/// How long programs of a dead manager are moved out of their groups again and again.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a manager of this user had, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// It is dead, and all its programs are free.
    Free,
    /// It is dead, and something of it could not be taken away: a group that is not empty, or
    /// not ours any more.
    Remains,
    Alive,
}

/// Frees what managers of this user have left that died with their supervisors; their numbers.
/// `runtime` is where the folders of pages are. Programs of those that are there are touched only
/// if `all_run`: then they run until their manager has them wait again, which one that is stopped
/// or frozen itself does not.
pub fn free_leftovers(runtime: &Path, all: &[usize], all_run: bool) -> Vec<(i32, Left)> {
    let own = nix::unistd::geteuid().as_raw();
    let mut found = Vec::new();
    for pages in
        fs::read_dir(runtime).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
    {
        let name =
            pages.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(pid) = name.strip_prefix(PAGES).and_then(|rest| rest.parse::<i32>().ok()) else {
            continue;
        };
        let is_ours = |path: &Path| {
            fs::symlink_metadata(path).is_ok_and(|symlink_metadata| {
                symlink_metadata.is_dir() && symlink_metadata.uid() == own
            })
        };
        if !is_ours(&pages) {
            continue;
        }
        // One that has not said where its groups are has none.
        let Some(claim) = Claim::load(&pages) else { continue };
        if claim.is_alive(pid) {
            if all_run {
                thaw(&claim.hierarchy, &pages, all);
            }
            found.push((pid, Left::Alive));
            continue;
        }
        // One that is gone, as a service manager takes away what is empty, may have had groups
        // elsewhere.
        if claim.hierarchy.path.symlink_metadata().is_ok() && !is_ours(&claim.hierarchy.path) {
            continue;
        }
        let start = Instant::now();
        // What forks while it is moved leaves a child behind.
        let mut is_free = free(&claim.hierarchy, &pages, all);
        while !is_free && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
            is_free = free(&claim.hierarchy, &pages, all);
        }
        found.push((pid, if is_free { Left::Free } else { Left::Remains }));
    }
    found
}

/// What a manager says of itself in the folder of its pages.
struct Claim {
    /// When it started: its number may be another's later.
    started: u64,
    hierarchy: Hierarchy,
}

const CLAIM: &str = "manager";

/// Which of two supervisors starts a manager again: the one that renames this file.
pub const RESTART: &str = "restart";

/// Says in the folder of a manager's pages when this process, the manager, started, and
/// where its groups are.
///
/// Errors: there is no room, or the folder is gone.
pub fn claim(pages: &Path, hierarchy: &Hierarchy) -> io::Result<()> {
    let own = Process::find(std::process::id() as i32).ok_or(io::ErrorKind::NotFound)?;
    let text =
        format!("{}\n{}\n{}\n", own.started, hierarchy.freezer.text(), hierarchy.path.display());
    measure::file::write(&pages.join(RESTART), b"")?;
    measure::file::write(&pages.join(CLAIM), text.as_bytes())
}

impl Claim {
    fn load(pages: &Path) -> Option<Claim> {
        let text = fs::read_to_string(pages.join(CLAIM)).ok()?;
        let mut lines = text.lines();
        let (started, freezer, path) =
            (lines.next()?.parse().ok()?, freezer::from_text(lines.next()?)?, lines.next()?);
        Some(Claim { started, hierarchy: Hierarchy::at(freezer, path.into()) })
    }

    fn is_alive(&self, pid: i32) -> bool {
        Process::find(pid)
            .is_some_and(|process| process.is_there() && process.started == self.started)
    }
}

/// Forgets what a program had that has ended, and its page, unless something of it is left in its
/// group: that is still to be given back.
pub fn forget(pages: &Path, id: u64, before: &Before) {
    // A group that is not ours is not ours to take away.
    if before.group.exists() && !before.is_in_place() {
        return;
    }
    for path in [path(pages, id), team::page_path(pages, id), start_path(pages, id)] {
        // It may never have been written.
        let _ = rights::strike(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = path(folder.path(), 3);
        let threads = vec![
            Thread { tid: 7, started: 99, cpus: vec![0, 3], home: None },
            Thread {
                tid: 8,
                started: 100,
                cpus: vec![1],
                home: Some("/sys/fs/cgroup/a b/c".into()),
            },
        ];
        for home in [None, Some(PathBuf::from("/sys/fs/cgroup/a b"))] {
            let before =
                Before { group: "/sys/fs/cgroup/our own".into(), home, threads: threads.clone() };
            before.store(&path).expect("written");
            assert_eq!(Before::load(&path), before);
        }
        assert_eq!(Before::load(&folder.path().join("missing")), Before::default());
    }

    #[test]
    fn threads_get_what_they_had_and_new_ones_what_their_process_had() {
        let own = Process::find(std::process::id() as i32).expect("it runs");
        let threads =
            vec![Thread { tid: own.pid, started: own.started, cpus: vec![5], home: None }];
        let before = Before { threads, ..Before::default() };
        assert_eq!(before.cpus(own.pid, &[9]), [5]);
        let (tid, done) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
        let thread = std::thread::spawn(move || {
            tid.0.send(nix::unistd::gettid().as_raw()).expect("the test listens");
            let _ = done.1.recv();
        });
        let born_later = tid.1.recv().expect("it runs");
        assert_eq!(before.cpus(born_later, &[9]), [5]);
        drop(done.0);
        thread.join().expect("no panic");
        assert_eq!(Before::default().cpus(own.pid, &[9]), [9]);
    }

    #[test]
    fn a_manager_is_known_by_when_it_started() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let own = std::process::id() as i32;
        assert!(Claim::load(folder.path()).is_none(), "it has not said anything");
        let freezer = freezer::from_text("signals").expect("it is one of them");
        let hierarchy = Hierarchy::at(freezer, folder.path().join("our groups"));
        // Whatever its program is called.
        claim(folder.path(), &hierarchy).expect("written");
        let claim = Claim::load(folder.path()).expect("it was written");
        assert_eq!(
            (claim.hierarchy.freezer.text(), &claim.hierarchy.path),
            ("signals", &hierarchy.path)
        );
        assert!(claim.is_alive(own));
        // The number was that of a manager that started at another time.
        assert!(!Claim { started: 1, ..claim }.is_alive(own));
    }

    #[test]
    fn what_is_left_in_a_group_is_not_forgotten() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let group = folder.path().join("group");
        fs::create_dir(&group).expect("a scratch folder");
        let before = Before { group: group.clone(), ..Before::default() };
        let file = path(folder.path(), 4);
        before.store(&file).expect("written");
        forget(folder.path(), 4, &before);
        assert_eq!(Before::load(&file), before);
        fs::remove_dir(&group).expect("it is empty");
        forget(folder.path(), 4, &before);
        assert!(!file.exists());
    }
}
