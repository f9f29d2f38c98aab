//! Door: what others leave of a link, measured by reading memory for less than a millisecond.
//!
//! What was read is put out of all caches at once, so that it comes from memory the next time: a
//! few megabytes do, however large the caches are.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use measure::stats;

/// Bytes of the memory that is read.
const BYTES: usize = 4 << 20;
pub const LOOK: Duration = Duration::from_micros(700);
/// Read between two looks at the clock.
const PIECE: usize = 64 << 10;
/// Words of a cache line.
const LINE: usize = 64 / 8;

/// Memory that is read through, one piece after the other.
#[derive(Debug)]
pub struct Canary {
    memory: Vec<u64>,
    /// The piece that is read next; the one before it may still be in a cache, all
    /// others are in none.
    at: usize,
    sum: u64,
    forget: Forget,
}

impl Default for Canary {
    fn default() -> Canary {
        Canary::new()
    }
}

impl Canary {
    /// Takes the memory, and touches all of it.
    pub fn new() -> Canary {
        // Pages that were never written are one page of zeros.
        let memory = vec![1u64; BYTES / 8];
        let forget = Forget::here();
        memory.chunks_exact(LINE).for_each(|line| forget.line(line));
        Canary { memory, at: 0, sum: 0, forget }
    }

    /// Reads for `time`; MB/s.
    pub fn read(&mut self, time: Duration) -> f64 {
        let start = Instant::now();
        let mut n_bytes = 0;
        loop {
            n_bytes += self.read_once();
            let passed = start.elapsed();
            if passed >= time {
                return n_bytes as f64 / 1e6 / passed.as_secs_f64();
            }
        }
    }

    /// Reads one piece, and puts the one before it out of the caches meanwhile; its bytes.
    pub(super) fn read_once(&mut self) -> usize {
        let (piece, before) = self.next();
        let lines =
            self.memory[piece].chunks_exact(LINE).zip(self.memory[before].chunks_exact(LINE));
        let sum = lines.fold(self.sum, |sum, (line, read)| {
            self.forget.line(read);
            line.iter().fold(sum, |sum: u64, word| sum.wrapping_add(*word))
        });
        self.sum = std::hint::black_box(sum);
        PIECE
    }

    /// Writes one piece, past the caches where the processor has such stores; its bytes.
    #[allow(unsafe_code)]
    pub(super) fn write_once(&mut self) -> usize {
        let (piece, _) = self.next();
        self.sum += 1;
        for word in &mut self.memory[piece] {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the word is ours and aligned, and the store is part of every x86-64.
            unsafe {
                std::arch::x86_64::_mm_stream_si64(
                    std::ptr::from_mut(word).cast(),
                    self.sum as i64,
                );
            }
            #[cfg(not(target_arch = "x86_64"))]
            {
                *word = std::hint::black_box(self.sum);
            }
        }
        // SAFETY: an ordinary instruction: what was streamed is written before anything that
        // follows.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
        PIECE
    }

    /// The words of the next piece, and of the one before it.
    fn next(&mut self) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let words = PIECE / 8;
        let start = self.at;
        let before = if start == 0 { self.memory.len() - words } else { start - words };
        self.at = (start + words) % self.memory.len();
        (start..start + words, before..before + words)
    }
}

/// How a line is put out of all caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forget {
    /// Many at a time.
    #[cfg(target_arch = "x86_64")]
    Clflushopt,
    /// One after the other, as older processors do.
    #[cfg(target_arch = "x86_64")]
    Clflush,
    #[cfg(target_arch = "aarch64")]
    DcCivac,
    /// Programs have no instruction for it: the canary sees nothing.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    Not,
}

impl Forget {
    fn here() -> Forget {
        #[cfg(target_arch = "x86_64")]
        {
            // Source: Intel's manual, volume 2, CPUID: leaf 7, EBX, bit 23.
            let has = std::arch::x86_64::__cpuid(0).eax >= 7
                && std::arch::x86_64::__cpuid_count(7, 0).ebx & (1 << 23) != 0;
            if has { Forget::Clflushopt } else { Forget::Clflush }
        }
        #[cfg(target_arch = "aarch64")]
        {
            Forget::DcCivac
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            Forget::Not
        }
    }

    fn can(self) -> bool {
        cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
    }

    #[allow(unsafe_code)]
    #[inline]
    fn line(self, line: &[u64]) {
        let at = line.as_ptr();
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the line is ours, and stays what it is; the processor has the instruction.
            Forget::Clflushopt => unsafe {
                std::arch::asm!("clflushopt [{}]", in(reg) at, options(nostack, preserves_flags))
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the same; every x86-64 has it.
            Forget::Clflush => unsafe { std::arch::x86_64::_mm_clflush(at.cast()) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: the same; Linux lets programs do so.
            Forget::DcCivac => unsafe {
                std::arch::asm!("dc civac, {}", in(reg) at, options(nostack, preserves_flags))
            },
            #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
            Forget::Not => drop(at),
        }
    }
}

/// Keeps the calling thread to one processor.
pub fn keep_here(cpu: usize) -> std::io::Result<()> {
    super::process::keep_thread(0, &[cpu])
}

/// What a canary on one processor finds, alone and beside a reader on another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    pub alone_mbps: f64,
    /// MB/s beside the reader.
    pub beside_mbps: f64,
    /// What the reader had beside the canary.
    pub reader_mbps: f64,
    /// The reader slows the canary down, by more than both vary: the link is full, and what others
    /// take can be seen.
    pub is_clear: bool,
}

impl Calibration {
    /// How far two readers slow each other down.
    pub fn slowdown(&self) -> f64 {
        self.alone_mbps / self.beside_mbps
    }

    /// What the link carries; not known where two readers do not fill it.
    pub fn capacity_mbps(&self) -> Option<f64> {
        self.is_clear.then_some(self.beside_mbps + self.reader_mbps)
    }

    /// The traffic of others that lets the canary have so much; none if that is less than one look
    /// can tell from nothing.
    pub fn others_mbps(&self, seen_mbps: f64) -> Option<f64> {
        let others =
            (self.alone_mbps - seen_mbps) / (self.alone_mbps - self.beside_mbps) * self.reader_mbps;
        (self.is_clear && others >= LEVEL * self.reader_mbps).then_some(others)
    }
}

/// Of what a reader takes: single looks tell three or four levels apart, no more.
pub const LEVEL: f64 = 0.25;
/// A canary that loses less than this share beside a reader measures its own noise.
const LEAST_LOSS: f64 = 0.1;

/// How seldom a loss may be one of chance.
const BY_CHANCE: f64 = 0.01;

/// True if a reader takes something from the canary: looks beside it lie below those alone,
/// and not by chance.
fn is_clear(alone: &[f64], beside: &[f64]) -> bool {
    stats::median(beside) < (1.0 - LEAST_LOSS) * stats::median(alone)
        && stats::rank_sum_p(alone, beside) < BY_CHANCE
}

/// Measures the canary on `cpu` alone and beside a reader on `other`, in turn: medians of
/// `n` looks of `time` each. Looks beside a reader that hardly got to read, as on a busy
/// machine, are left out.
pub fn calibrate(
    canary: &mut Canary,
    cpu: usize,
    other: usize,
    n: usize,
    time: Duration,
) -> std::io::Result<Calibration> {
    keep_here(cpu)?;
    canary.read(time);
    let (stop, is_on, n_read) = (AtomicBool::new(false), AtomicBool::new(true), AtomicU64::new(0));
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let (stop, is_on, n_read) = (&stop, &is_on, &n_read);
        let reader = scope.spawn(move || {
            keep_here(other)?;
            super::process::be_real_time();
            let mut memory = Canary::new();
            while !stop.load(Relaxed) {
                if is_on.load(Relaxed) {
                    n_read.fetch_add(memory.read_once() as u64, Relaxed);
                    // To another manager's thread of equal priority.
                    std::thread::yield_now();
                } else {
                    std::thread::sleep(PAUSE);
                }
            }
            Ok::<(), std::io::Error>(())
        });
        let ready = Instant::now();
        while n_read.load(Relaxed) == 0 && !reader.is_finished() && ready.elapsed() < PATIENCE {
            std::thread::sleep(PAUSE);
        }
        for _ in 0..n {
            is_on.store(false, Relaxed);
            std::thread::sleep(5 * PAUSE);
            alone.push(canary.read(time));
            is_on.store(true, Relaxed);
            std::thread::sleep(5 * PAUSE);
            let (before, start) = (n_read.load(Relaxed), Instant::now());
            let seen = canary.read(time);
            beside.push((
                seen,
                (n_read.load(Relaxed) - before) as f64 / 1e6 / start.elapsed().as_secs_f64(),
            ));
        }
        stop.store(true, Relaxed);
        reader.join().expect("the reader does not panic")
    })?;
    let most = beside.iter().map(|pair| pair.1).fold(0.0, f64::max);
    beside.retain(|beside| beside.1 >= most / 2.0);
    let (seen, read): (Vec<f64>, Vec<f64>) = beside.into_iter().unzip();
    Ok(Calibration {
        alone_mbps: stats::median(&alone),
        beside_mbps: stats::median(&seen),
        reader_mbps: stats::median(&read),
        is_clear: canary.forget.can() && is_clear(&alone, &seen),
    })
}

/// A reader that is off looks so often whether it is on.
const PAUSE: Duration = Duration::from_micros(100);
/// For the reader to have its memory.
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Calibration = Calibration {
        alone_mbps: 20_000.0,
        beside_mbps: 12_000.0,
        reader_mbps: 12_000.0,
        is_clear: true,
    };

    #[test]
    fn what_a_canary_cannot_see_is_not_known() {
        assert_eq!(FULL.others_mbps(12_000.0), Some(12_000.0));
        // One that found as much as alone, or more: a stream that the link has room for is not told
        // from none.
        for seen_mbps in [18_500.0, 20_000.0, 23_000.0] {
            assert_eq!(FULL.others_mbps(seen_mbps), None, "{seen_mbps}");
        }
        // On links that two readers do not fill nothing is seen, whatever the canary finds.
        for beside_mbps in [19_500.0, 20_500.0] {
            let roomy = Calibration { beside_mbps, is_clear: false, ..FULL };
            assert_eq!((roomy.others_mbps(9000.0), roomy.capacity_mbps()), (None, None));
        }
        assert_eq!(FULL.capacity_mbps(), Some(24_000.0));
    }

    #[test]
    fn noise_is_no_loss() {
        let around = |mean: f64, spread: f64| {
            (0..21).map(|idx| mean + spread * (f64::from(idx) - 10.0) / 10.0).collect::<Vec<_>>()
        };
        assert!(is_clear(&around(20.0, 1.0), &around(12.0, 1.0)));
        assert!(
            !is_clear(&around(20.0, 15.0), &around(17.0, 15.0)),
            "they vary more than they differ"
        );
        assert!(!is_clear(&around(20.0, 0.1), &around(19.0, 0.1)), "a twentieth is nothing");
        assert!(!is_clear(&around(12.0, 1.0), &around(20.0, 1.0)));
    }

    #[test]
    fn pieces_follow_each_other_through_all_of_the_memory() {
        let mut canary = Canary::new();
        let n = BYTES / PIECE;
        let pieces: Vec<_> = (0..=n).map(|_| canary.next()).collect();
        assert!(
            pieces.windows(2).all(|pair| pair[1].1 == pair[0].0),
            "what was read is put out of the caches at the next read"
        );
        assert_eq!((pieces[0].0.start, pieces[n].0.start), (0, 0));
        assert_eq!(canary.read_once(), PIECE);
        assert_eq!(canary.sum, (PIECE / 8) as u64, "every word is read");
    }
}
