//! Door: whether a program computes all the time, by the kernel's accounts of its threads: those
//! that hardly ever sleep are ready, whether they have a processor or wait for one.
//!
//! A program that sleeps between its computations uses less than it could: it is load, and what
//! waits for it notices when it is late. So it is never kept from running. Beside too many others it
//! is always behind, and hardly sleeps; but it goes to sleep when it is done, which one that computes
//! all the time never does.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use super::group::Group;

/// Shorter times say nothing: a thread that waits is accounted for when it runs.
const WINDOW: Duration = Duration::from_millis(500);
/// A program computes if one of its threads is ready for this share of the time.
/// What it waits for when it is looked at is not in the accounts yet.
const COMPUTES: f64 = 0.8;
/// A thread that goes to sleep more often than once in so much processor time sleeps between its
/// computations: in a turn of this length it would have been done.
const TURN: Duration = Duration::from_millis(100);
/// A thread counts if it is ready for this share of the time.
const COUNTS: f64 = 0.5;

/// How much the last look at the machine counts, and from which share of looks on it is crowded.
const LATEST: f64 = 0.2;
const CROWDED: f64 = 0.3;

/// Whether more threads are ready than there are processors, on the whole machine: one file that
/// says of a thousand programs that none of them can be waiting.
#[derive(Debug, Default)]
pub struct Crowd {
    share: f64,
}

impl Crowd {
    /// One more look; true if it has been so often of late, or cannot be known.
    pub fn look(&mut self, n_cpus: usize) -> bool {
        let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let Some(n_ready) = n_ready(&text) else { return true };
        // This thread is one of them.
        let is_so = n_ready > n_cpus + 1;
        self.share += LATEST * (f64::from(u8::from(is_so)) - self.share);
        self.share > CROWDED
    }
}

/// Threads of the machine that run or could. Source: proc(5), `/proc/loadavg`, the fourth field.
fn n_ready(text: &str) -> Option<usize> {
    text.split_ascii_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

/// What was seen of a program's threads.
#[derive(Debug, Default)]
pub struct Readiness {
    began: Option<(Instant, BTreeMap<i32, ThreadTime>)>,
    verdict: Verdict,
}

/// What a thread has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ThreadTime {
    /// Nanoseconds in which it ran, and in which it waited for a processor.
    ran_ns: u64,
    waited_ns: u64,
    /// Times that it went to sleep; looked for only where it is ready nearly all the time, which few
    /// of a thousand programs are.
    n_sleeps: Option<u64>,
}

impl ThreadTime {
    /// Source: the kernel's Documentation/scheduler/sched-stats.rst on `/proc/PID/schedstat`.
    fn read(thread: i32) -> Option<ThreadTime> {
        let text = fs::read_to_string(format!("/proc/{thread}/schedstat")).ok()?;
        let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
        let (ran_ns, waited_ns) = (fields.next()?.ok()?, fields.next()?.ok()?);
        Some(ThreadTime { ran_ns, waited_ns, n_sleeps: None })
    }

    /// Of the time since then: for which share it was ready.
    fn share(&self, then: &ThreadTime, passed: Duration) -> f64 {
        let ready = |account: &ThreadTime| account.ran_ns + account.waited_ns;
        ready(self).saturating_sub(ready(then)) as f64 / passed.as_nanos() as f64
    }
}

/// Source: proc(5).
fn n_sleeps(thread: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// What a program is: load, until it has shown something else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    pub computes: bool,
    /// Threads that are ready more often than not.
    pub n_ready: usize,
}

impl Readiness {
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// At the end of a quantum in which it was not kept from running: what it is, by all that it
    /// did since it was judged before.
    pub fn look(&mut self, group: &Group) -> Verdict {
        let now = Instant::now();
        if self.began.as_ref().is_some_and(|(at, _)| now - *at < WINDOW) {
            return self.verdict;
        }
        let threads = group.threads().unwrap_or_default();
        let mut after: BTreeMap<i32, ThreadTime> = threads
            .into_iter()
            .filter_map(|thread| Some((thread, ThreadTime::read(thread)?)))
            .collect();
        if let Some((at, before)) = &self.began {
            let passed = now - *at;
            for (thread, account) in &mut after {
                let then = before.get(thread);
                if then.is_some_and(|then| account.share(then, passed) >= COMPUTES) {
                    account.n_sleeps = n_sleeps(*thread);
                }
            }
            self.verdict = judge(before, &after, passed);
        }
        self.began = Some((now, after));
        self.verdict
    }
}

/// Threads that were not there before have shown nothing yet.
fn judge(
    before: &BTreeMap<i32, ThreadTime>,
    after: &BTreeMap<i32, ThreadTime>,
    passed: Duration,
) -> Verdict {
    let mut verdict = Verdict::default();
    for (thread, now) in after {
        let Some(then) = before.get(thread) else { continue };
        let share = now.share(then, passed);
        let ran_ns = u128::from(now.ran_ns.saturating_sub(then.ran_ns));
        // Once is no habit. What was not looked for at both ends is not known yet.
        let sleeps = now.n_sleeps.zip(then.n_sleeps).is_none_or(|(now, then)| {
            let n = now.saturating_sub(then);
            n > 1 && ran_ns < u128::from(n) * TURN.as_nanos()
        });
        verdict.computes |= share >= COMPUTES && !sleeps;
        verdict.n_ready += usize::from(share >= COUNTS);
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: ThreadTime = ThreadTime { ran_ns: 0, waited_ns: 0, n_sleeps: Some(0) };

    fn ms(ran: u64, waited: u64, n_sleeps: u64) -> ThreadTime {
        ThreadTime {
            ran_ns: ran * 1_000_000,
            waited_ns: waited * 1_000_000,
            n_sleeps: Some(n_sleeps),
        }
    }

    fn verdict(before: &[(i32, ThreadTime)], after: &[(i32, ThreadTime)]) -> Verdict {
        let of = |all: &[(i32, ThreadTime)]| all.iter().copied().collect();
        judge(&of(before), &of(after), Duration::from_millis(1000))
    }

    #[test]
    fn who_sleeps_is_load_and_who_only_waits_computes() {
        let one = |did: ThreadTime| verdict(&[(1, NONE)], &[(1, did)]);
        let load = Verdict { computes: false, n_ready: 0 };
        assert_eq!(one(ms(150, 0, 100)), load, "1.5 of 10 ms");
        assert_eq!(one(ms(500, 0, 0)), Verdict { computes: false, n_ready: 1 });
        assert_eq!(one(ms(750, 0, 0)), Verdict { computes: false, n_ready: 1 });
        // It ran for a tenth of the time, and waited for the rest: both are in the accounts.
        let computes = Verdict { computes: true, n_ready: 1 };
        assert_eq!(verdict(&[(1, ms(7, 0, 0))], &[(1, ms(107, 893, 0))]), computes);
        assert_eq!(verdict(&[], &[(1, ms(1000, 0, 0))]), load, "it was not there before");
        let before = [(1, NONE), (2, NONE), (3, NONE)];
        let after =
            [(1, ms(1000, 0, 0)), (2, ms(600, 0, 9)), (3, ms(20, 0, 40)), (4, ms(1000, 0, 0))];
        assert_eq!(
            verdict(&before, &after),
            Verdict { computes: true, n_ready: 2 },
            "a team that waits at its barriers, and a helper"
        );
    }

    /// A program that would compute 5 ms in 10, beside so many that it is always behind.
    #[test]
    fn who_is_only_behind_is_load() {
        let one = |did: ThreadTime| verdict(&[(1, NONE)], &[(1, did)]).computes;
        assert!(!one(ms(200, 780, 40)), "done and asleep after each 5 ms");
        assert!(one(ms(200, 780, 1)), "once is no habit");
        assert!(one(ms(950, 50, 8)), "it writes a line now and then");
        let unseen = ThreadTime { n_sleeps: None, ..NONE };
        assert!(!verdict(&[(1, unseen)], &[(1, ms(1000, 0, 0))]).computes, "not known yet");
    }

    #[test]
    fn one_file_says_whether_anybody_can_be_waiting() {
        assert_eq!(n_ready("0.20 0.18 0.12 3/80 11206\n"), Some(3));
        assert_eq!(n_ready(""), None);
        let mut crowd = Crowd::default();
        assert!(!crowd.look(usize::MAX / 2), "nobody has so many");
        // A moment does not count.
        crowd.share = CROWDED;
        assert!(!crowd.look(usize::MAX / 2));
    }

    #[test]
    fn this_kernel_accounts_for_threads() {
        let own = nix::unistd::gettid().as_raw();
        let ready_ns = || ThreadTime::read(own).map(|account| account.ran_ns + account.waited_ns);
        let Some(before) = ready_ns() else {
            return testkit::skipped("readiness: the kernel has no /proc/PID/schedstat");
        };
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {
            std::hint::black_box(0);
        }
        let ready = ready_ns().expect("it runs") - before;
        // The kernel's account is as old as its last tick.
        assert!(ready > 30_000_000, "{ready} ns of 50 ms");
    }
}
