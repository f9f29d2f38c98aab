//! Door: which processors share a link to the memory.
//!
//! Two things are measured for a pair: the round trip of a line between their caches, short where
//! they are close, and how far two readers slow each other down. A virtual machine's processors
//! move, so it is measured again while programs run; then only the round trip, which takes a
//! fraction of a millisecond.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::canary::{Calibration, Canary, calibrate, keep_here};
use super::cores::Cores;
use super::process;

/// Round trips, in nanoseconds, between which the other signal decides. Measured on two Zen virtual
/// machines: 67 to 137 on one link, 278 to 409 on two.
const NEAR_NS: f64 = 180.0;
const FAR_NS: f64 = 240.0;
/// Slowdowns of two readers between which nothing is said: 1.6 was measured on one link, 1.03
/// at most on two.
const APART: f64 = 1.15;
const TOGETHER: f64 = 1.35;
/// Looks of the readers, and how long each takes.
const LOOKS: usize = 21;
const LOOK: Duration = Duration::from_millis(2);
/// Round trips of one sample, samples, and how long all may take: at leisure,
/// and while programs wait.
const BATCH: u32 = 64;
const SAMPLES: usize = 31;
const LIMIT: Duration = Duration::from_millis(100);
const SAMPLES_BRIEF: usize = 7;
const LIMIT_BRIEF: Duration = Duration::from_millis(2);
/// So many times in a row must a change be seen before it is believed.
const SEEN: usize = 3;

/// What was measured for two processors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    pub a: usize,
    pub b: usize,
    /// Round trip of a line; none if the other processor did not answer.
    pub round_trip_ns: Option<f64>,
    pub readers: Calibration,
    /// They share a link.
    pub is_shared: bool,
}

/// The links as they are now.
#[derive(Debug, Clone, Default)]
pub struct Topology {
    /// Processors of each link.
    pub links: Vec<Vec<usize>>,
    /// Pairs that were measured.
    pub pairs: Vec<Pair>,
    /// What the kernel says of the processors.
    pub cores: Cores,
}

impl Topology {
    /// The link of each of these processors.
    pub fn link_of(&self, cpus: &[usize]) -> Vec<usize> {
        cpus.iter()
            .map(|cpu| self.links.iter().position(|link| link.contains(cpu)).unwrap_or(0))
            .collect()
    }

    /// Two that share a link.
    pub fn shared(&self) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.is_shared)
    }

    /// What a canary finds where it sees something: on a link that two readers fill.
    pub fn seeing(&self) -> Option<Calibration> {
        self.shared().map(|pair| pair.readers).filter(|readers| readers.is_clear)
    }

    /// Measures the round trips of the pairs again, in a fraction of a millisecond each: true
    /// if the links changed. Where the kernel says where processors are, they do not move.
    pub fn look_again(&mut self, cpus: &[usize]) -> io::Result<bool> {
        if self.cores.are_known() {
            return Ok(false);
        }
        let before = self.links.clone();
        self.links = group(cpus, &Cores::default(), |a, b| {
            let known = self.pairs.iter_mut().find(|pair| (pair.a, pair.b) == (a, b));
            let Some(pair) = known else {
                return Ok(round_trip(a, b, SAMPLES_BRIEF, LIMIT_BRIEF)?
                    .is_some_and(|round_trip| round_trip < NEAR_NS));
            };
            for _ in 0..SEEN {
                let round_trip_ns = round_trip(a, b, SAMPLES_BRIEF, LIMIT_BRIEF)?;
                pair.round_trip_ns = round_trip_ns.or(pair.round_trip_ns);
                if is_shared(round_trip_ns, None, Some(pair.is_shared)) == pair.is_shared {
                    return Ok(pair.is_shared);
                }
            }
            pair.is_shared = !pair.is_shared;
            Ok(pair.is_shared)
        })?;
        Ok(self.links != before)
    }
}

/// Measures it; `before` is what was found earlier, and holds where the signals do not agree.
pub fn look(
    cpus: &[usize],
    canary: &mut Canary,
    before: Option<&Topology>,
) -> io::Result<Topology> {
    let cores = Cores::here(cpus);
    let mut pairs = Vec::new();
    let links = group(cpus, &cores, |a, b| {
        let round_trip_ns = round_trip(a, b, SAMPLES, LIMIT)?;
        let readers = calibrate(canary, b, a, LOOKS, LOOK)?;
        let was = before
            .and_then(|before| before.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b)))
            .map(|pair| pair.is_shared);
        let is_shared = cores
            .share(a, b)
            .unwrap_or_else(|| is_shared(round_trip_ns, Some(readers.slowdown()), was));
        pairs.push(Pair { a, b, round_trip_ns, readers, is_shared });
        Ok(is_shared)
    })?;
    Ok(Topology { links, pairs, cores })
}

/// Each processor beside the first of each link so far. What the kernel says is not measured, but for
/// one pair of each link, which shows what it carries.
fn group(
    cpus: &[usize],
    cores: &Cores,
    mut is_shared: impl FnMut(usize, usize) -> io::Result<bool>,
) -> io::Result<Vec<Vec<usize>>> {
    let mut links: Vec<Vec<usize>> = Vec::new();
    for cpu in cores.apart_first(cpus) {
        let mut found = None;
        for (idx, link) in links.iter().enumerate() {
            let is_of_it = match cores.share(link[0], cpu) {
                Some(false) => false,
                Some(true) if link.len() > 1 => true,
                _ => is_shared(link[0], cpu)?,
            };
            if is_of_it {
                found = Some(idx);
                break;
            }
        }
        match found {
            Some(idx) => links[idx].push(cpu),
            None => links.push(vec![cpu]),
        }
    }
    links.iter_mut().for_each(|link| link.sort_unstable());
    Ok(links)
}

/// The round trip decides where it is clear, then the readers; where neither is, what
/// was found before holds.
fn is_shared(round_trip_ns: Option<f64>, slowdown: Option<f64>, before: Option<bool>) -> bool {
    let near = round_trip_ns.and_then(|round_trip_n| {
        (!(NEAR_NS..=FAR_NS).contains(&round_trip_n)).then_some(round_trip_n < NEAR_NS)
    });
    let slow = slowdown.and_then(|slowdown| {
        (!(APART..=TOGETHER).contains(&slowdown)).then_some(slowdown > TOGETHER)
    });
    near.or(slow)
        .or(before)
        .unwrap_or_else(|| slowdown.is_some_and(|slowdown| slowdown > (APART + TOGETHER) / 2.0))
}

/// A line that two processors send each other.
#[repr(align(128))]
struct Line(AtomicU32);

/// The shortest round trip between two processors in nanoseconds, as everything that disturbs
/// makes it longer; none if the other one does not answer in time, as when it is busy. The
/// calling thread stays on `a`.
fn round_trip(a: usize, b: usize, n_samples: usize, limit: Duration) -> io::Result<Option<f64>> {
    let line = Line(AtomicU32::new(0));
    let stop = AtomicBool::new(false);
    // The other thread begins where we are now: beside a real-time thread that spins it would never
    // leave.
    keep_here(b)?;
    std::thread::scope(|scope| {
        let (line, stop) = (&line.0, &stop);
        let other = scope.spawn(move || {
            // On a busy machine it would not get to answer otherwise; it goes on where that is not
            // allowed.
            process::be_real_time();
            // The ball is here when the number is odd. Another manager may measure at the same
            // time, and real-time threads of equal priority wait for each other without end unless
            // they yield.
            let end = Instant::now() + 2 * limit;
            let mut n_spins = 0u32;
            while !stop.load(Ordering::Relaxed) {
                let it = line.load(Ordering::Acquire);
                if it % 2 == 1 {
                    line.store(it.wrapping_add(1), Ordering::Release);
                    n_spins = 0;
                }
                n_spins += 1;
                if n_spins.is_multiple_of(4096) {
                    std::thread::yield_now();
                    if Instant::now() >= end {
                        break;
                    }
                }
                std::hint::spin_loop();
            }
        });
        let moved = keep_here(a);
        let end = Instant::now() + limit;
        let mut samples = Vec::new();
        let mut ball = 0;
        'all: for _ in 0..=n_samples {
            let start = Instant::now();
            for _ in 0..BATCH {
                line.store(ball + 1, Ordering::Release);
                ball += 2;
                let mut n_spins = 0u32;
                while line.load(Ordering::Acquire) != ball {
                    n_spins += 1;
                    if n_spins.is_multiple_of(4096) {
                        std::thread::yield_now();
                        if Instant::now() >= end {
                            break 'all;
                        }
                    }
                    std::hint::spin_loop();
                }
            }
            samples.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH));
        }
        stop.store(true, Ordering::Relaxed);
        other.join().expect("the other thread does not panic");
        moved?;
        Ok((!samples.is_empty()).then(|| samples.iter().copied().fold(f64::MAX, f64::min)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_round_trip_decides() {
        // Neighbours on one core read nearly as fast beside each other as alone, and share
        // everything.
        assert!(is_shared(Some(40.0), Some(1.1), None));
        assert!(!is_shared(Some(360.0), Some(1.3), Some(true)));
        assert!(is_shared(Some(220.0), Some(1.6), Some(false)));
    }

    #[test]
    fn what_was_found_holds_where_nothing_is_clear() {
        for slowdown in [None, Some(1.2), Some(1.3)] {
            assert!(is_shared(Some(200.0), slowdown, Some(true)));
            assert!(!is_shared(Some(200.0), slowdown, Some(false)));
        }
        assert!(is_shared(None, None, Some(true)), "a busy processor did not answer");
        assert!(!is_shared(None, None, None));
    }

    #[test]
    fn links_are_groups_of_pairs() {
        let links = group(&[0, 1, 2, 3, 7], &Cores::default(), |a, b| Ok(a % 2 == b % 2))
            .expect("nothing is measured");
        assert_eq!(links, [vec![0, 2], vec![1, 3, 7]]);
    }

    #[test]
    fn what_the_kernel_says_is_measured_once_a_link() {
        // Two sockets of two cores, each with two threads, numbered as on most servers.
        let cores =
            Cores::of_threads(&[(0, 0), (1, 0), (2, 1), (3, 1), (4, 0), (5, 0), (6, 1), (7, 1)], 4);
        let mut measured = Vec::new();
        let links = group(&[0, 1, 2, 3, 4, 5, 6, 7], &cores, |a, b| {
            measured.push((a, b));
            Ok(true)
        })
        .expect("nothing is measured");
        assert_eq!(links, [vec![0, 1, 4, 5], vec![2, 3, 6, 7]]);
        assert_eq!(measured, [(0, 1), (2, 3)], "no two threads of a core");
    }
}
