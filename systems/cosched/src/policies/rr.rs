//! Round robin: the threads at the head of the queue run, and go to its end.

use super::parts::{Queue, round_robin};
use super::{Placement, Policy, View};

#[derive(Debug, Default)]
pub(super) struct Rr {
    queue: Queue,
}

impl Policy for Rr {
    fn decide(&mut self, view: &View<'_>) -> Placement {
        round_robin(&mut self.queue, view)
    }
}
