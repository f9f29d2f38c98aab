//! Door: what a program uses of the processors: whether it rests, and how many of its threads could
//! run.
//!
//! A program rests when its threads sleep or wait for I/O. It then gives its turn up and stays
//! thawed, so that it answers when it wakes; if it computes much it takes its turns again.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::group::Group;
use super::process::Process;

/// Of one processor: a program that takes less over [`QUIET_TIME`], and of which no
/// thread could run, rests.
const QUIET: f64 = 0.1;
/// Ticks of the clock are 10 ms, and each of two counts of them may lack one.
const QUIET_TIME: [Duration; 2] = [Duration::from_millis(15), Duration::from_millis(35)];
/// Of one processor: a program that rests and takes more over [`WINDOW`] rests no longer.
const AWAKE: f64 = 0.5;
const WINDOW: Duration = Duration::from_millis(80);
/// Shorter times say nothing.
const SHORT: Duration = Duration::from_millis(3);
/// Looks in a row that find a thread that could run: it computes, and others keep it from its
/// processor. Of a program that takes less than [`QUIET`] more of them: looks may keep time with one
/// that wakes for a moment.
const AWAKE_LOOKS: u32 = 3;
const AWAKE_LOOKS_OF_LITTLE: u32 = 10;
/// Turns in a row in which more threads could run than it has processors: a shell and what it
/// starts may both for a moment.
const MORE_TURNS: u32 = 3;
/// Turns in a row in which one processor fewer, and this share of another, would have been enough.
const FEWER_TURNS: u32 = 5;
const SLACK: f64 = 0.15;

/// What a program has used so far.
#[derive(Debug)]
pub struct Usage {
    /// `cpu.stat` of a control group of version 2; without one, processes are read one by one.
    stat: Option<File>,
    ticks_before: u64,
    total_us: u64,
    looked: (Instant, u64),
    began: (Instant, u64),
    /// Since when it has taken little.
    quiet_since: (Instant, u64),
    n_more: u32,
    n_fewer: u32,
}

impl Usage {
    pub fn of(group: &Group) -> Usage {
        let stat = File::open(group.counts().join("cpu.stat")).ok();
        let now = (Instant::now(), 0);
        Usage {
            stat,
            ticks_before: 0,
            total_us: 0,
            looked: now,
            began: now,
            quiet_since: now,
            n_more: 0,
            n_fewer: 0,
        }
    }

    /// A quantum begins in which the program may run.
    pub fn begin(&mut self, group: &Group) {
        // What cannot be read has ended, and is not looked at again.
        let _ = self.read(group);
        let now = self.now();
        (self.looked, self.began, self.quiet_since) = (now, now, now);
    }

    /// Looks at a program that has its turn: it rests.
    pub fn rests(&mut self, group: &Group) -> bool {
        if self.looked.0.elapsed() < SHORT || self.read(group).is_err() {
            return false;
        }
        self.looked = self.now();
        let quiet_time = QUIET_TIME[usize::from(self.stat.is_none())];
        // What could run and does not get a processor is quiet, too.
        self.is_quiet(self.looked, quiet_time) && n_runnable(group) == 0
    }

    /// What it has used by now is little of a time that is long enough. The whole of that time
    /// counts and not each look, which may find it just when it wakes.
    fn is_quiet(&mut self, now: (Instant, u64), long_enough: Duration) -> bool {
        if share(self.quiet_since, now) >= QUIET {
            self.quiet_since = now;
        }
        now.0 - self.quiet_since.0 >= long_enough
    }

    /// Processors that it used since the quantum began, on average.
    pub fn used(&mut self, group: &Group) -> f64 {
        if self.read(group).is_err() { 0.0 } else { share(self.began, self.now()) }
    }

    /// Looks at a program that rests: it has computed for long enough to take turns again.
    pub fn is_awake(&mut self, group: &Group) -> bool {
        if self.began.0.elapsed() < WINDOW || self.read(group).is_err() {
            return false;
        }
        let now = self.now();
        let share = share(self.began, now);
        self.began = now;
        self.computes(share, n_runnable(group) > 0)
    }

    fn computes(&mut self, share: f64, could_run: bool) -> bool {
        self.n_more = if could_run { self.n_more + 1 } else { 0 };
        let n_looks = if share < QUIET { AWAKE_LOOKS_OF_LITTLE } else { AWAKE_LOOKS };
        let is_awake = share > AWAKE || self.n_more >= n_looks;
        self.n_more = if is_awake { 0 } else { self.n_more };
        is_awake
    }

    fn now(&self) -> (Instant, u64) {
        (Instant::now(), self.total_us)
    }

    /// At the end of a turn on so many processors: how many threads the program should be counted
    /// with, if it has shown that; at most `n_cpus`.
    pub fn threads_wanted(
        &mut self,
        group: &Group,
        n_given: usize,
        n_cpus: usize,
    ) -> Option<usize> {
        if self.began.0.elapsed() < 4 * SHORT || self.read(group).is_err() {
            return None;
        }
        let share = share(self.began, self.now());
        let runnable = n_runnable(group).min(n_cpus);
        self.n_more = if runnable > n_given { self.n_more + 1 } else { 0 };
        self.n_fewer = if runnable < n_given && share < n_given as f64 - 1.0 + SLACK {
            self.n_fewer + 1
        } else {
            0
        };
        if self.n_more >= MORE_TURNS {
            self.n_more = 0;
            return Some(runnable);
        }
        if self.n_fewer >= FEWER_TURNS {
            self.n_fewer = 0;
            return Some(((share - SLACK).ceil() as usize).clamp(1, n_cpus));
        }
        None
    }

    fn read(&mut self, group: &Group) -> io::Result<()> {
        if let Some(stat) = &self.stat {
            let mut text = [0; 64];
            let n = stat.read_at(&mut text, 0)?;
            // Source: the kernel's Documentation/admin-guide/cgroup-v2.rst; the first line is
            // `usage_usec N`.
            let first = String::from_utf8_lossy(&text[..n])
                .lines()
                .next()
                .and_then(|line| line.strip_prefix("usage_usec ")?.parse().ok());
            self.total_us = first.ok_or(io::ErrorKind::InvalidData)?;
            return Ok(());
        }
        // What a child has used is its parent's when that has waited for it; what nobody inside
        // waits for is lost, so the sum may fall.
        let ticks = group.members()?.iter().map(|member| member.used).sum();
        self.total_us +=
            u64::saturating_sub(ticks, self.ticks_before) * 1_000_000 / ticks_a_second();
        self.ticks_before = ticks;
        Ok(())
    }
}

fn ticks_a_second() -> u64 {
    let said = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten();
    said.and_then(|said| said.try_into().ok()).filter(|it| *it > 0).unwrap_or(100)
}

/// Processors used from then to now, on average.
fn share((then, before_us): (Instant, u64), (now, now_us): (Instant, u64)) -> f64 {
    now_us.saturating_sub(before_us) as f64 / 1e6 / (now - then).as_secs_f64()
}

/// Threads that run or could.
fn n_runnable(group: &Group) -> usize {
    group
        .threads()
        .unwrap_or_default()
        .into_iter()
        .filter(|it| Process::find(*it).is_some_and(|it| it.state == 'R'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::freezer::{self, Kind};
    use std::process::{Child, Command};

    fn signals() -> Kind {
        freezer::from_text("signals").expect("it is one of them")
    }

    /// A shell in a group of its own without control groups, which runs until it is dropped.
    struct Runs {
        child: Child,
        group: Group,
        _folder: tempfile::TempDir,
    }

    impl Runs {
        fn start(script: &str) -> Runs {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let mut command = Command::new("setsid");
            let child = command.args(["sh", "-c", script]).spawn().expect("sh runs");
            let group = Group::open(signals(), folder.path().to_owned()).expect("a group");
            group.started(child.id() as i32).expect("it is ours");
            group.thaw().expect("it is ours");
            Runs { child, group, _folder: folder }
        }

        fn looks(&self, usage: &mut Usage) -> Vec<bool> {
            usage.begin(&self.group);
            let look = |_| {
                std::thread::sleep(signals().look_every());
                usage.rests(&self.group)
            };
            (0..6).map(look).collect()
        }
    }

    impl Drop for Runs {
        fn drop(&mut self) {
            for it in self.group.members().unwrap_or_default() {
                let _ = nix::sys::signal::kill(
                    nix::unistd::Pid::from_raw(it.pid),
                    nix::sys::signal::Signal::SIGKILL,
                );
            }
            let _ = self.child.wait();
        }
    }

    /// What a program would have used that wakes every 10 ms for so long, at each look.
    fn looks_of_a_clock(wakes_us: u64, n_looks: u64) -> Vec<bool> {
        let clock = Runs::start("sleep 100");
        let mut usage = Usage::of(&clock.group);
        let began = usage.quiet_since.0;
        // Each look comes when the program has just woken.
        let at = |idx: u64| (began + Duration::from_millis(10 * idx), wakes_us * idx);
        (1..=n_looks).map(|idx| usage.is_quiet(at(idx), QUIET_TIME[0])).collect()
    }

    #[test]
    fn what_wakes_for_a_moment_rests_however_looks_and_wakes_meet() {
        assert_eq!(looks_of_a_clock(400, 4), [false, true, true, true]);
        assert_eq!(looks_of_a_clock(2000, 4), [false; 4], "a fifth of a processor is not a rest");
        // Woken twice as long as a look may see, and not again for the next 40 ms.
        let sleeper = Runs::start("sleep 100");
        let mut usage = Usage::of(&sleeper.group);
        let began = usage.quiet_since.0;
        let at = |ms: u64, us: u64| (began + Duration::from_millis(ms), us);
        let looks = [at(3, 600), at(6, 600), at(9, 600), at(12, 1000), at(15, 1000), at(18, 1000)];
        let quiet = looks.map(|look| usage.is_quiet(look, QUIET_TIME[0]));
        assert_eq!(quiet, [false, false, false, false, false, true], "since the first look");
        // Looks find it running, as it and they keep the same time for a while.
        assert!((0..9).all(|_| !usage.computes(0.04, true)));
        assert!(usage.computes(0.04, true), "others keep it from its processor");
        // A processor that it shares with four others.
        assert_eq!([(); 3].map(|()| usage.computes(0.2, true)), [false, false, true]);
    }

    #[test]
    fn what_sleeps_rests_and_what_computes_does_not() {
        let sleeper = Runs::start("sleep 100");
        let mut usage = Usage::of(&sleeper.group);
        assert!(sleeper.looks(&mut usage).contains(&true));
        assert!(!usage.is_awake(&sleeper.group));
        let burner = Runs::start("while :; do :; done");
        let mut usage = Usage::of(&burner.group);
        // On a busy machine it may have to wait for its processor.
        assert!(!burner.looks(&mut usage).contains(&true));
        let awake = (0..20).any(|_| {
            std::thread::sleep(WINDOW);
            usage.is_awake(&burner.group)
        });
        assert!(awake);
    }

    #[test]
    fn threads_are_counted_while_they_run() {
        let two = Runs::start("(while :; do :; done) & while :; do :; done");
        let mut usage = Usage::of(&two.group);
        let wanted = (0..20).find_map(|_| {
            usage.begin(&two.group);
            std::thread::sleep(Duration::from_millis(50));
            usage.threads_wanted(&two.group, 1, 8).filter(|n_threads| *n_threads > 1)
        });
        assert_eq!(wanted, Some(2));
        // Of eight that it was given it uses two.
        let wanted = (0..60).find_map(|_| {
            usage.begin(&two.group);
            std::thread::sleep(Duration::from_millis(20));
            usage.threads_wanted(&two.group, 8, 8)
        });
        assert!(wanted.is_some_and(|wanted| wanted <= 3), "{wanted:?}");
    }
}
