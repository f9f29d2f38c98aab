//! Door: what others leave of a link, measured by reading through memory for less than a millisecond.

use std::time::{Duration, Instant};

use measure::stats;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// Bytes of the memory that is read: more than caches hold.
const BYTES: usize = 192 << 20;
/// One look.
pub const LOOK: Duration = Duration::from_micros(700);
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
        Canary { memory: (0..BYTES as u64 / 8).collect(), at: 0, sum: 0 }
    }

    /// Reads for `time`; MB/s.
    pub fn read(&mut self, time: Duration) -> f64 {
        let start = Instant::now();
        let mut n_bytes = 0;
        loop {
            let words = PIECE / 8;
            if self.at + words > self.memory.len() {
                self.at = 0;
            }
            let piece = &self.memory[self.at..self.at + words];
            self.sum = self.sum.wrapping_add(piece.iter().fold(0, |sum: u64, it| sum.wrapping_add(*it)));
            self.at += words;
            n_bytes += PIECE;
            let passed = start.elapsed();
            if passed >= time {
                std::hint::black_box(self.sum);
                return n_bytes as f64 / 1e6 / passed.as_secs_f64();
            }
        }
    }
}

/// Keeps the calling thread to one processor.
pub fn keep_here(cpu: usize) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu).map_err(std::io::Error::from)?;
    sched_setaffinity(Pid::from_raw(0), &set).map_err(Into::into)
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

    /// The traffic of others that lets the canary have so much. Nothing if the processors share no link.
    pub fn others_mbps(&self, seen_mbps: f64) -> f64 {
        let lost = self.alone_mbps - self.beside_mbps;
        if self.slowdown() < SHARED_FROM {
            return 0.0;
        }
        ((self.alone_mbps - seen_mbps) / lost * self.reader_mbps).max(0.0)
    }
}

/// Two readers that slow each other down by more than this share a link: 1.6 was measured where they do, 1.03 at most
/// where they do not.
pub const SHARED_FROM: f64 = 1.2;

/// Measures the canary on `cpu` alone and beside a reader on `other`, medians of `n` looks of `time` each.
pub fn calibrate(canary: &mut Canary, cpu: usize, other: usize, n: usize, time: Duration) -> std::io::Result<Calibration> {
    keep_here(cpu)?;
    canary.read(time);
    let looks: Vec<f64> = (0..n).map(|_| canary.read(time)).collect();
    let alone_mbps = stats::median(&looks);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|scope| {
        let (started, has_started) = std::sync::mpsc::channel();
        let stop = &stop;
        let reader = scope.spawn(move || {
            keep_here(other)?;
            let mut memory = Canary::new();
            let _ = started.send(());
            let mut looks = vec![memory.read(time)];
            while !stop.load(relaxed) {
                looks.push(memory.read(time));
            }
            Ok::<f64, std::io::Error>(stats::median(&looks))
        });
        let _ = has_started.recv();
        std::thread::sleep(Duration::from_millis(5));
        let looks: Vec<f64> = (0..n).map(|_| canary.read(time)).collect();
        let beside_mbps = stats::median(&looks);
        stop.store(true, relaxed);
        let reader_mbps = reader.join().expect("the reader does not panic")?;
        Ok(Calibration { alone_mbps, beside_mbps, reader_mbps })
    })
}
