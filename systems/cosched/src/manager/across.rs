//! Door: steps that run on several nodes get one turn on all of them. Every node cuts its quanta
//! where the wall clock says, and draws the same number for a step and a quantum: so they agree
//! without a word between them. A node gives a step the quanta whose number is below the step's
//! share there; what the node with the smallest share gives it, all the others give it, too.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Why a step on several nodes takes no turns.
pub const ADRIFT: &str = "it runs on several nodes, and no clock that they share is known to be \
                          right within a twentieth of a quantum (--clock-error)";
/// Clocks of nodes may differ by this share of a quantum.
const APART: u32 = 10;
/// A quantum that would be over after less than this share of it belongs to the next one.
const EARLY: u32 = 20;
/// In so many quanta in a row each quarter of the numbers is drawn once: who has half of the time
/// has two of four.
const ROUND: u64 = 4;

/// How far this machine's clock may be from that of other nodes.
#[derive(Debug, Clone, Copy, Default)]
pub struct WallClock {
    /// As the operator said; else as the kernel knows.
    pub said: Option<Duration>,
}

impl WallClock {
    /// True if nodes agree where a quantum begins.
    pub fn is_shared(&self, quantum: Duration) -> bool {
        self.said.or_else(known_error).is_some_and(|error| 2 * error <= quantum / APART)
    }

    /// The number of this quantum, and how long it still is.
    pub fn quantum(quantum: Duration) -> (u64, Duration) {
        // Before 1970 there were no nodes.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        place(now, quantum)
    }
}

fn place(now: Duration, quantum: Duration) -> (u64, Duration) {
    let early = now + quantum / EARLY;
    let number = early.as_nanos() / quantum.as_nanos();
    let end = (number + 1) * quantum.as_nanos();
    (number as u64, Duration::from_nanos((end - now.as_nanos()) as u64))
}

/// How far the clock may be from the true time; none if nothing synchronises it. Source:
/// adjtimex(2): `STA_UNSYNC`, and `maxerror` in microseconds.
#[allow(unsafe_code)]
fn known_error() -> Option<Duration> {
    // SAFETY: all zero is a value of this structure of numbers, and asks for nothing to be changed.
    let mut found: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours and lives as long as the call.
    let state = unsafe { libc::adjtimex(&raw mut found) };
    let is_synchronised = state >= 0 && state != libc::TIME_ERROR;
    let micros = u64::try_from(found.maxerror).ok().filter(|_| is_synchronised);
    micros.map(Duration::from_micros)
}

/// A step on several nodes, as all of them know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Across {
    pub job: u32,
    pub step: u32,
    /// Its threads on this node.
    pub n_threads: usize,
}

/// Which of `steps` run in this quantum on a node of so many processors, where `n_others` threads
/// of programs that are on this node alone are ready, too. Those have the processors that are left.
pub fn choose(steps: &[Across], n_others: usize, n_cpus: usize, quantum: u64) -> Vec<bool> {
    let width = |step: &Across| step.n_threads.clamp(1, n_cpus.max(1));
    let n_ready = n_others + steps.iter().map(width).sum::<usize>();
    let share = (n_cpus as f64 / n_ready.max(1) as f64).min(1.0);
    let n_at_once = n_cpus / steps.iter().map(width).max().unwrap_or(1);
    let below = number_below(steps.len(), n_at_once, share);
    let mut order: Vec<(f64, usize)> =
        steps.iter().enumerate().map(|(idx, step)| (drawn(step, quantum), idx)).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut runs = vec![false; steps.len()];
    let mut n_left = n_cpus;
    // Those whose turn it is; then whoever fits where else a processor would be idle.
    for is_turn in [true, false] {
        for &(number, idx) in &order {
            let n_kept = if is_turn { 0 } else { n_others };
            let fits = width(&steps[idx]) + n_kept <= n_left;
            if !runs[idx] && fits && (!is_turn || number < below) {
                runs[idx] = true;
                n_left -= width(&steps[idx]);
            }
        }
    }
    runs
}

/// Below which number a step's turn is, so that each of `n` has this share of the quanta though only
/// `n_at_once` with the lowest numbers run: the expected count of those is to be `n` shares.
fn number_below(n: usize, n_at_once: usize, share: f64) -> f64 {
    let n_running = |below: f64| {
        // Of how many the number is below, each likelihood from the one before.
        let mut likelihood = (1.0 - below).powi(n as i32);
        let mut sum = 0.0;
        for k in 1..=n {
            likelihood *= (n - k + 1) as f64 / k as f64 * below / (1.0 - below);
            sum += likelihood * k.min(n_at_once) as f64;
        }
        sum
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if n_running(middle) < n as f64 * share { low = middle } else { high = middle }
    }
    high
}

/// The number of a step in a quantum, 0 to 1: the same on every node.
fn drawn(step: &Across, quantum: u64) -> f64 {
    let key = mixed(u64::from(step.job) << 32 | u64::from(step.step));
    let mut random = mixed(key ^ (quantum / ROUND));
    let mut quarters: Vec<u64> = (0..ROUND).collect();
    for last in (1..ROUND).rev() {
        quarters.swap(last as usize, (random % (last + 1)) as usize);
        random = mixed(random);
    }
    let within = (mixed(key ^ mixed(quantum)) >> 11) as f64 / (1_u64 << 53) as f64;
    (quarters[(quantum % ROUND) as usize] as f64 + within) / ROUND as f64
}

/// All bits of a number in all bits of another. Source: SplitMix64 (Steele, Lea and Flood, Fast
/// splittable pseudorandom number generators, OOPSLA 2014), the variant of Vigna's `splitmix64.c`.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTA: u64 = 4000;

    fn step(job: u32, n_threads: usize) -> Across {
        Across { job, step: 0, n_threads }
    }

    /// The share of quanta in which all nodes run the step; `on` gives what a node calls it, and
    /// how many other threads are there.
    fn together(n_nodes: u32, on: impl Fn(u32) -> (Across, usize)) -> f64 {
        let runs = |node: u32, quantum: u64| {
            let (step, n_others) = on(node);
            choose(&[step], n_others, 2, quantum)[0]
        };
        let n = (0..QUANTA).filter(|quantum| (0..n_nodes).all(|node| runs(node, *quantum))).count();
        n as f64 / QUANTA as f64
    }

    #[test]
    fn sixty_four_nodes_give_a_step_the_same_turns() {
        // Two threads of the step, and beside it two threads of others on every node.
        for n_nodes in [1, 2, 4, 16, 64] {
            let one_turn = together(n_nodes, |_| (step(7, 2), 2));
            assert!((one_turn - 0.5).abs() < 0.01, "{n_nodes}: {one_turn}");
            // Each node by itself: as if it knew the step by another number.
            let by_itself = together(n_nodes, |node| (step(7 + node, 2), 2));
            assert!((by_itself - 0.5_f64.powi(n_nodes as i32)).abs() < 0.02, "{by_itself}");
        }
        // Nodes that are not equally full: as often as on the fullest.
        let uneven = together(64, |node| (step(9, 2), 1 + node as usize % 4));
        assert!((uneven - 1.0 / 3.0).abs() < 0.02, "{uneven}");
    }

    #[test]
    fn every_step_has_its_share_and_no_processor_is_idle() {
        for (n_steps, n_others) in [(1, 3), (2, 0), (2, 2), (3, 1), (5, 4)] {
            let steps: Vec<Across> = (0..n_steps).map(|job| step(job, 2)).collect();
            let (mut n_turns, mut waits, mut longest) =
                (vec![0; steps.len()], vec![0; steps.len()], 0);
            for quantum in 0..QUANTA {
                let runs = choose(&steps, n_others, 2, quantum);
                let n_running = runs.iter().filter(|runs| **runs).count();
                assert!(n_running <= 1, "each needs both processors");
                assert!(n_running == 1 || n_others > 0, "nobody runs");
                for (idx, runs) in runs.into_iter().enumerate() {
                    n_turns[idx] += u64::from(runs);
                    waits[idx] = if runs { 0 } else { waits[idx] + 1 };
                    longest = longest.max(waits[idx]);
                }
            }
            let share = 2.0 / (2.0 * f64::from(n_steps) + n_others as f64);
            for n in n_turns {
                let found = n as f64 / QUANTA as f64;
                assert!(
                    (0.93..1.07).contains(&(found / share)),
                    "{n_steps} and {n_others}: {found} of {share}"
                );
            }
            if n_steps == 1 {
                assert!(longest <= 6, "{longest} quanta in a row");
            }
        }
    }

    #[test]
    fn alone_it_always_runs() {
        assert!((0..QUANTA).all(|quantum| choose(&[step(1, 2)], 0, 2, quantum) == [true]));
        assert!((0..QUANTA).all(|quantum| choose(&[step(1, 9)], 0, 2, quantum) == [true]));
        let one_each = [step(1, 1), step(2, 1)];
        assert!((0..QUANTA).all(|quantum| choose(&one_each, 0, 2, quantum) == [true, true]));
        assert!(choose(&[], 4, 2, 0).is_empty());
    }

    #[test]
    fn quanta_begin_where_the_clock_says() {
        let quantum = Duration::from_millis(100);
        let at = |ms: u64| place(Duration::from_millis(ms), quantum);
        let ms = Duration::from_millis;
        assert_eq!(at(1200), (12, ms(100)));
        assert_eq!(at(1290), (12, ms(10)));
        // A timer that ended a little early: the next one begins.
        assert_eq!(at(1298), (13, ms(102)));
        let clock = |error: u64| WallClock { said: Some(ms(error)) };
        assert!(clock(5).is_shared(quantum), "two nodes are 10 ms apart at most");
        assert!(!clock(6).is_shared(quantum));
    }
}
