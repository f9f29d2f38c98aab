//! Door: the clock: the time stamp counter on x86-64, the operating system's clock elsewhere.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    ticks_per_ns: f64,
}

/// How long the counter is compared with the operating system's clock.
const CALIBRATION: Duration = Duration::from_millis(20);

impl Clock {
    /// Compares the counter with the operating system's clock, which takes 20 ms on x86-64.
    pub fn calibrated() -> Clock {
        let start = Instant::now();
        if !cfg!(target_arch = "x86_64") {
            return Clock { start, ticks_per_ns: 1.0 };
        }
        let ticks_start = counter(start);
        while start.elapsed() < CALIBRATION {
            std::hint::spin_loop();
        }
        let (ticks_end, elapsed) = (counter(start), start.elapsed());
        let ticks_per_ns = ticks_end.wrapping_sub(ticks_start) as f64 / elapsed.as_nanos() as f64;
        Clock { start, ticks_per_ns }
    }

    /// The counter now, in ticks. On x86-64 a tick is a cycle of the counter's own constant
    /// frequency, not of the core's present one; elsewhere it is a nanosecond.
    pub fn ticks(&self) -> u64 {
        counter(self.start)
    }

    /// Ticks of the counter in a nanosecond: its frequency in GHz.
    pub fn ticks_per_ns(&self) -> f64 {
        self.ticks_per_ns
    }

    pub fn ns(&self, n_ticks: f64) -> f64 {
        n_ticks / self.ticks_per_ns
    }

    /// Runs `work` and gives the ticks it took.
    pub fn time(&self, work: impl FnOnce()) -> u64 {
        let start = self.ticks();
        work();
        self.ticks().wrapping_sub(start)
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // the counter has no safe wrapper in the standard library
fn counter(_start: Instant) -> u64 {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: both instructions exist on every x86-64 processor and touch no memory; the
    // fences keep the measured work from moving past the counter.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn counter(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Runs `work` and gives the seconds it took, by the operating system's clock.
pub fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Cycles of the core in a tick of the time stamp counter, estimated: a chain of multiplications
/// and exclusive ors takes 3 and 1 cycles a link on every x86-64 core since 2008. The fastest of
/// several short runs counts. Source: Agner Fog, Instruction tables; uops.info.
pub fn core_cycles_per_tick() -> f64 {
    const N_LINKS: u32 = 100_000;
    const CYCLES_PER_LINK: f64 = 4.0;
    let clock = Clock::calibrated();
    let (factor, mask) = std::hint::black_box((0x9e37_79b9_7f4a_7c15u64, 0x5555u64));
    let run = || {
        clock.time(|| {
            let x = (0..N_LINKS).fold(1u64, |x, _| x.wrapping_mul(factor) ^ mask);
            std::hint::black_box(x);
        })
    };
    let least = (0..40).map(|_| run()).min().expect("it runs");
    f64::from(N_LINKS) * CYCLES_PER_LINK / least as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_cores_clock_is_near_the_counters() {
        let ratio = core_cycles_per_tick();
        assert!((0.1..4.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn it_runs_forward_at_a_plausible_rate() {
        let clock = Clock::calibrated();
        let first = clock.ticks();
        assert!(clock.ticks() >= first);
        assert!((0.1..20.0).contains(&clock.ticks_per_ns()), "{}", clock.ticks_per_ns());
        assert!((clock.ns(clock.ticks_per_ns() * 5.0) - 5.0).abs() < 1e-9);
    }
}
