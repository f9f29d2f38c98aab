//! Door: waits until no other program keeps the processors busy, so that a sample is worth taking.
//!
//! Two cores of a virtual machine are often two threads of one real core: whatever runs beside
//! a sample makes it longer, and no statistics take that out again when it lasts for all of them.

use std::time::{Duration, Instant};

/// How long the processors are watched.
const LOOK: Duration = Duration::from_millis(60);
/// Busy time of all processors together, as a share of that look, which still counts as quiet:
/// the kernel counts in steps of 10 ms.
const BUSY_MAX: f64 = 0.2;

/// Waits for a quiet look, at most `limit`; false if there was none. A limit of zero does not look.
/// Where the kernel does not tell, it is quiet.
pub fn wait(limit: Duration) -> bool {
    if limit.is_zero() {
        return true;
    }
    let start = Instant::now();
    loop {
        let Some(before) = busy_seconds() else { return true };
        std::thread::sleep(LOOK);
        let Some(after) = busy_seconds() else { return true };
        if after - before <= BUSY_MAX * LOOK.as_secs_f64() {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
    }
}

fn busy_seconds() -> Option<f64> {
    busy_of(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// Seconds that all processors together have worked, time taken by other virtual machines included.
fn busy_of(stat: &str) -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal
    let ticks: f64 = fields.iter().take(8).sum::<f64>() - fields.get(3)? - fields.get(4)?;
    Some(ticks / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_not_busy_and_stolen_time_is() {
        let stat = "cpu  100 50 30 9000 7 1 2 17 5 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(busy_of(stat), Some(2.0));
        assert_eq!(busy_of("intr 1 2\n"), None);
    }

    #[test]
    fn waiting_ends() {
        let start = Instant::now();
        assert!(wait(Duration::ZERO));
        wait(Duration::from_millis(1));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
