//! Threads on processors, and round robin, which other policies fall back on.

use super::super::{Placement, View};
use super::Queue;

/// Threads on processors, the links filled in turn.
pub(in crate::policies) fn place(view: &View<'_>, threads: &[usize]) -> Placement {
    let mut placement = vec![None; view.machine.n_cpus()];
    for (cpu, thread) in view.machine.spread().into_iter().zip(threads) {
        placement[cpu] = Some(*thread);
    }
    placement
}

/// The threads at the head of the queue run, and go to its end.
pub(in crate::policies) fn round_robin(queue: &mut Queue, view: &View<'_>) -> Placement {
    queue.admit(view.threads.len(), |idx| view.threads[idx].is_ready);
    let ran: Vec<usize> = queue.iter().take(view.machine.n_cpus()).collect();
    queue.send_back(&ran);
    place(view, &ran)
}
