//! Round robin: the threads at the head of the queue run, and go to its end.

use super::queue::Queue;
use super::{Placement, Policy, View};

#[derive(Debug, Default)]
pub(super) struct Rr {
    queue: Queue,
}

impl Policy for Rr {
    fn decide(&mut self, view: &View<'_>) -> Placement {
        self.queue.admit(view.threads.len(), |it| view.threads[it].is_ready);
        let ran: Vec<usize> = self.queue.iter().take(view.machine.n_cpus()).collect();
        self.queue.send_back(&ran);
        place(view, &ran)
    }
}

/// Threads on processors, the links filled in turn.
pub(super) fn place(view: &View<'_>, threads: &[usize]) -> Placement {
    let mut placement = vec![None; view.machine.n_cpus()];
    for (cpu, thread) in view.machine.spread().into_iter().zip(threads) {
        placement[cpu] = Some(*thread);
    }
    placement
}
