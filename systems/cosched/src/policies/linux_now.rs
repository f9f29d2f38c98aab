//! Linux as it is now, in short: the threads that have run least are next, and stay where they are.
//!
//! One queue for all processors stands for the balancing between them; a tick is 4 ms, and a thread
//! is relieved when one that waits is a slice of 3 ms behind it. Source: the documentation of CFS
//! and EEVDF in the kernel.

use super::{Placement, Policy, View};

const TICK_MS: f64 = 4.0;
const SLICE_MS: f64 = 3.0;

#[derive(Debug, Default)]
pub(super) struct LinuxNow {
    ran_ms: Vec<f64>,
    running: Placement,
}

impl Policy for LinuxNow {
    fn quantum_ms(&self) -> f64 {
        TICK_MS
    }

    fn decide(&mut self, view: &View<'_>) -> Placement {
        let n_cpus = view.machine.n_cpus();
        self.running.resize(n_cpus, None);
        let least = view
            .ready()
            .filter_map(|ready| self.ran_ms.get(ready).copied())
            .fold(f64::INFINITY, f64::min);
        let n_known = self.ran_ms.len();
        self.ran_ms.resize(view.threads.len(), 0.0);
        for (it, ran) in self.ran_ms.iter_mut().enumerate() {
            // A thread that comes, or comes back, starts level with the others.
            if it >= n_known || !view.threads[it].is_ready {
                *ran = ran.max(if least.is_finite() { least } else { 0.0 });
            }
        }
        let mut is_on = vec![false; view.threads.len()];
        for it in &mut self.running {
            let Some(thread) = *it else { continue };
            self.ran_ms[thread] += TICK_MS;
            if view.threads[thread].is_ready {
                is_on[thread] = true;
            } else {
                *it = None;
            }
        }
        let mut waiting: Vec<usize> = view.ready().filter(|ready| !is_on[*ready]).collect();
        waiting.sort_by(|a, b| self.ran_ms[*b].total_cmp(&self.ran_ms[*a]).then(b.cmp(a)));
        for it in &mut self.running {
            let is_behind = |next: &usize| {
                it.is_none_or(|now: usize| self.ran_ms[*next] + SLICE_MS <= self.ran_ms[now])
            };
            if waiting.last().is_some_and(is_behind) {
                *it = waiting.pop();
            }
        }
        self.running.clone()
    }

    fn is_manager(&self) -> bool {
        false
    }
}
