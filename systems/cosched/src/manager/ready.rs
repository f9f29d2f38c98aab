//! Door: whether a program computes all the time, by the kernel's accounts of its threads: those
//! that hardly ever sleep are ready, whether they have a processor or wait for one.
//!
//! A program that sleeps between its computations uses less than it could: it is load, and what
//! waits for it notices when it is late. So it is never kept from running.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use super::group::Group;

/// Shorter times say nothing: a thread that waits is accounted for when it runs.
const WINDOW: Duration = Duration::from_millis(500);
/// A program computes if one of its threads is ready for this share of the time.
/// What it waits for when it is looked at is not in the accounts yet.
const COMPUTES: f64 = 0.8;
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
    began: Option<(Instant, BTreeMap<i32, u64>)>,
    verdict: Verdict,
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
        let ready = threads.into_iter().filter_map(|it| Some((it, ready_ns(it)?))).collect();
        if let Some((at, before)) = self.began.replace((now, ready)) {
            let after = self.began.as_ref().map(|began| &began.1).expect("it was just set");
            self.verdict = judge(&before, after, now - at);
        }
        self.verdict
    }
}

/// Nanoseconds that a thread ran or waited for a processor. Source: the kernel's
/// Documentation/scheduler/sched-stats.rst on `/proc/PID/schedstat`.
fn ready_ns(thread: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{thread}/schedstat")).ok()?;
    let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
    Some(fields.next()?.ok()? + fields.next()?.ok()?)
}

/// Threads that were not there before have shown nothing yet.
fn judge(before: &BTreeMap<i32, u64>, after: &BTreeMap<i32, u64>, passed: Duration) -> Verdict {
    let share = |(thread, now): (&i32, &u64)| {
        Some(now.saturating_sub(*before.get(thread)?) as f64 / passed.as_nanos() as f64)
    };
    let shares: Vec<f64> = after.iter().filter_map(share).collect();
    Verdict {
        computes: shares.iter().any(|share| *share >= COMPUTES),
        n_ready: shares.iter().filter(|share| **share >= COUNTS).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(threads: &[(i32, u64)]) -> BTreeMap<i32, u64> {
        threads.iter().map(|(thread, ms)| (*thread, ms * 1_000_000)).collect()
    }

    #[test]
    fn who_sleeps_is_load_and_who_only_waits_computes() {
        let verdict = |before: &[(i32, u64)], after: &[(i32, u64)]| {
            judge(&of(before), &of(after), Duration::from_millis(1000))
        };
        let load = Verdict { computes: false, n_ready: 0 };
        assert_eq!(verdict(&[(1, 0)], &[(1, 150)]), load, "1.5 of 10 ms");
        assert_eq!(verdict(&[(1, 0)], &[(1, 500)]), Verdict { computes: false, n_ready: 1 });
        assert_eq!(verdict(&[(1, 0)], &[(1, 750)]), Verdict { computes: false, n_ready: 1 });
        // It ran for a tenth of the time, and waited for the rest: both are in the accounts.
        assert_eq!(verdict(&[(1, 7)], &[(1, 1000)]), Verdict { computes: true, n_ready: 1 });
        assert_eq!(verdict(&[], &[(1, 1000)]), load, "it was not there before");
        assert_eq!(
            verdict(&[(1, 0), (2, 0), (3, 0)], &[(1, 1000), (2, 600), (3, 20), (4, 1000)]),
            Verdict { computes: true, n_ready: 2 },
            "a team that waits at its barriers, and a helper"
        );
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
        let Some(before) = ready_ns(own) else {
            return testkit::skipped("readiness: the kernel has no /proc/PID/schedstat");
        };
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {
            std::hint::black_box(0);
        }
        let ready = ready_ns(own).expect("it runs") - before;
        // The kernel's account is as old as its last tick.
        assert!(ready > 30_000_000, "{ready} ns of 50 ms");
    }
}
