//! Door: what others leave of a link, measured by reading through memory for less than a millisecond.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use measure::stats;

/// Bytes of the memory that is read: more than caches hold.
const BYTES: usize = 192 << 20;
/// One look.
pub const LOOK: Duration = Duration::from_micros(700);
/// The smallest pages that there are.
const PAGE: usize = 4096;
/// Read between two looks at the clock.
const PIECE: usize = 64 << 10;

/// Memory that is read through, one piece after the other.
#[derive(Debug)]
pub struct Canary {
    memory: Vec<u64>,
    at: usize,
    sum: u64,
}

impl Default for Canary {
    fn default() -> Canary {
        Canary::new()
    }
}

impl Canary {
    /// Takes the memory, and touches all of it.
    pub fn new() -> Canary {
        let mut memory = vec![0u64; BYTES / 8];
        // Pages that were never written are one page of zeros, which caches hold.
        memory.iter_mut().step_by(PAGE / 8).for_each(|it| *it = 1);
        Canary { memory, at: 0, sum: 0 }
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

    /// Reads one piece; its bytes.
    pub(super) fn read_once(&mut self) -> usize {
        let words = self.next();
        let piece = &self.memory[self.at..self.at + words];
        self.sum = self.sum.wrapping_add(piece.iter().fold(0, |sum: u64, it| sum.wrapping_add(*it)));
        std::hint::black_box(self.sum);
        self.at += words;
        PIECE
    }

    /// Writes one piece, past the caches where the processor has such stores; its bytes.
    #[allow(unsafe_code)]
    pub(super) fn write_once(&mut self) -> usize {
        let words = self.next();
        self.sum += 1;
        for word in &mut self.memory[self.at..self.at + words] {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the word is ours and aligned, and the store is part of every x86-64.
            unsafe {
                std::arch::x86_64::_mm_stream_si64(std::ptr::from_mut(word).cast(), self.sum as i64);
            }
            #[cfg(not(target_arch = "x86_64"))]
            {
                *word = std::hint::black_box(self.sum);
            }
        }
        // SAFETY: an ordinary instruction: what was streamed is written before anything that follows.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
        self.at += words;
        PIECE
    }

    /// Words of the next piece, which begins at `at`.
    fn next(&mut self) -> usize {
        let words = PIECE / 8;
        if self.at + words > self.memory.len() {
            self.at = 0;
        }
        words
    }
}

/// Keeps the calling thread to one processor.
pub fn keep_here(cpu: usize) -> std::io::Result<()> {
    super::process::keep_thread(0, &[cpu])
}

/// What a canary on one processor finds, alone and beside a reader on another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// MB/s alone.
    pub alone_mbps: f64,
    /// MB/s beside the reader.
    pub beside_mbps: f64,
    /// What the reader had beside the canary.
    pub reader_mbps: f64,
}

impl Calibration {
    /// How far two readers slow each other down.
    pub fn slowdown(&self) -> f64 {
        self.alone_mbps / self.beside_mbps
    }

    /// The traffic of others that lets the canary have so much. Nothing if readers do not slow each other down.
    pub fn others_mbps(&self, seen_mbps: f64) -> f64 {
        let lost = self.alone_mbps - self.beside_mbps;
        if lost < LEAST_LOSS * self.alone_mbps {
            return 0.0;
        }
        ((self.alone_mbps - seen_mbps) / lost * self.reader_mbps).max(0.0)
    }
}

/// A canary that loses less than this share beside a reader measures its own noise.
const LEAST_LOSS: f64 = 0.1;

/// Measures the canary on `cpu` alone and beside a reader on `other`, in turn: medians of `n` looks of `time` each.
/// Looks beside a reader that hardly got to read, as on a busy machine, are left out.
pub fn calibrate(canary: &mut Canary, cpu: usize, other: usize, n: usize, time: Duration) -> std::io::Result<Calibration> {
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
            beside.push((seen, (n_read.load(Relaxed) - before) as f64 / 1e6 / start.elapsed().as_secs_f64()));
        }
        stop.store(true, Relaxed);
        reader.join().expect("the reader does not panic")
    })?;
    let most = beside.iter().map(|it| it.1).fold(0.0, f64::max);
    beside.retain(|it| it.1 >= most / 2.0);
    let (seen, read): (Vec<f64>, Vec<f64>) = beside.into_iter().unzip();
    Ok(Calibration { alone_mbps: stats::median(&alone), beside_mbps: stats::median(&seen), reader_mbps: stats::median(&read) })
}

/// A reader that is off looks so often whether it is on.
const PAUSE: Duration = Duration::from_micros(100);
/// For the reader to have its memory.
const PATIENCE: Duration = Duration::from_secs(5);
