//! Door: what a link carries: two processors stream through memory at the same time, both read,
//! both write, or one of each.

use std::io;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use measure::stats;

use super::canary::{Canary, keep_here};
use super::process;

/// Looks of each kind, and how long each takes.
const LOOKS: usize = 9;
const LOOK: Duration = Duration::from_millis(20);

/// What two processors move together, in MB/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacities {
    pub read_mbps: f64,
    /// Both write past the caches.
    pub write_mbps: f64,
    /// One reads, the other writes.
    pub mixed_mbps: f64,
}

#[derive(Clone, Copy)]
enum Stream {
    Read,
    Write,
}

/// Measures what processors `a` and `b` move together: medians of looks of 20 ms.
pub fn measure(a: usize, b: usize) -> io::Result<Capacities> {
    Ok(Capacities {
        read_mbps: together(a, Stream::Read, b, Stream::Read)?,
        write_mbps: together(a, Stream::Write, b, Stream::Write)?,
        mixed_mbps: together(a, Stream::Read, b, Stream::Write)?,
    })
}

/// Measures what processor `cpu` reads alone, in MB/s.
pub fn alone(cpu: usize) -> io::Result<f64> {
    let found = std::thread::scope(|scope| {
        let looks = scope.spawn(|| looks(cpu, Stream::Read, &Barrier::new(1)));
        looks.join().expect("a stream does not panic")
    });
    Ok(stats::median(&found?))
}

fn together(a: usize, first: Stream, b: usize, second: Stream) -> io::Result<f64> {
    let both = Barrier::new(2);
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| looks(b, second, &both));
        // A thread of its own as well: the calling one stays where and what it is.
        let one = scope.spawn(|| looks(a, first, &both));
        (
            one.join().expect("a stream does not panic"),
            other.join().expect("a stream does not panic"),
        )
    });
    let sums: Vec<f64> = first?.iter().zip(second?).map(|(a, b)| a + b).collect();
    Ok(stats::median(&sums))
}

/// MB/s of one stream in each look; all looks begin when both are ready.
fn looks(cpu: usize, stream: Stream, both: &Barrier) -> io::Result<Vec<f64>> {
    let kept = keep_here(cpu);
    // On a busy machine it would measure the others; it goes on where that is not allowed.
    process::be_real_time();
    let mut memory = Canary::new();
    let mut found = Vec::new();
    for _ in 0..LOOKS {
        both.wait();
        let (start, mut n_bytes) = (Instant::now(), 0);
        while start.elapsed() < LOOK {
            n_bytes += match stream {
                Stream::Read => memory.read_once(),
                Stream::Write => memory.write_once(),
            };
            // To another manager's thread of equal priority.
            std::thread::yield_now();
        }
        found.push(n_bytes as f64 / 1e6 / start.elapsed().as_secs_f64());
    }
    kept.map(|()| found)
}
