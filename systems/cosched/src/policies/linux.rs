//! Linux 2.4: the ready thread with the most of its time slice left runs, a little sooner where it
//! ran last or beside its own program; when none has any left, all get new ones.
//!
//! Source: `schedule()` and `goodness()` of Linux 2.4.25, read for its rules: a slice counts in
//! ticks of 10 ms, a thread that sleeps keeps half, +1 for the memory it shares with the one
//! before, +15 for the processor it ran on. The paper says that a slice is 100 ms.

use super::{Placement, Policy, View};

const TICK_MS: f64 = 10.0;
/// A whole slice in ticks.
const SLICE: i64 = 10;
const SAME_CPU: i64 = 15;
const SAME_MEMORY: i64 = 1;

#[derive(Debug, Default)]
pub(super) struct Linux {
    left: Vec<i64>,
    last_cpu: Vec<Option<usize>>,
    running: Placement,
    no_affinity: bool,
}

impl Linux {
    pub fn new(no_affinity: bool) -> Linux {
        Linux { no_affinity, ..Linux::default() }
    }
}

impl Policy for Linux {
    fn quantum_ms(&self) -> f64 {
        TICK_MS
    }

    fn decide(&mut self, view: &View<'_>) -> Placement {
        let n_cpus = view.machine.n_cpus();
        self.left.resize(view.threads.len(), SLICE);
        self.last_cpu.resize(view.threads.len(), None);
        self.running.resize(n_cpus, None);
        let mut is_on = vec![false; view.threads.len()];
        for it in &mut self.running {
            let Some(thread) = *it else { continue };
            self.left[thread] -= 1;
            if self.left[thread] <= 0 || !view.threads[thread].is_ready {
                *it = None;
            } else {
                is_on[thread] = true;
            }
        }
        for cpu in 0..n_cpus {
            if self.running[cpu].is_some() {
                continue;
            }
            let waits = |number: &usize| !is_on[*number];
            if view.ready().filter(waits).all(|ready| self.left[ready] <= 0)
                && view.ready().any(|ready| waits(&ready))
            {
                self.left.iter_mut().for_each(|it| *it = (*it).max(0) / 2 + SLICE);
            }
            let before = (0..view.threads.len())
                .find(|idx| self.last_cpu[*idx] == Some(cpu) && view.threads[*idx].was_running);
            let goodness = |number: usize| {
                let same_memory = before.is_some_and(|before| {
                    view.threads[before].program == view.threads[number].program
                });
                let bonus = SAME_CPU
                    * i64::from(!self.no_affinity && self.last_cpu[number] == Some(cpu))
                    + SAME_MEMORY * i64::from(same_memory);
                self.left[number] + bonus
            };
            let ready = view.ready().filter(|ready| waits(ready) && self.left[*ready] > 0);
            // The first of equals, as the run queue has them.
            let Some(thread) =
                ready.max_by_key(|ready| (goodness(*ready), std::cmp::Reverse(*ready)))
            else {
                continue;
            };
            self.running[cpu] = Some(thread);
            self.last_cpu[thread] = Some(cpu);
            is_on[thread] = true;
        }
        self.running.clone()
    }

    fn is_manager(&self) -> bool {
        false
    }
}
