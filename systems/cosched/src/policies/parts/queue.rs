//! A queue in which newcomers and those that ran stand at the end.

use std::collections::VecDeque;

/// Numbers in the order in which they wait.
#[derive(Debug, Clone, Default)]
pub(in crate::policies) struct Queue {
    waiting: VecDeque<usize>,
    is_in: Vec<bool>,
}

impl Queue {
    /// Lets those in that are not yet, in their order, and those out that may not stay.
    pub fn admit(&mut self, n_all: usize, may_stay: impl Fn(usize) -> bool) {
        self.is_in.resize(n_all, false);
        let is_in = &mut self.is_in;
        self.waiting.retain(|&waiting| {
            let stays = may_stay(waiting);
            is_in[waiting] &= stays;
            stays
        });
        for (it, is_in) in is_in.iter_mut().enumerate() {
            if !*is_in && may_stay(it) {
                *is_in = true;
                self.waiting.push_back(it);
            }
        }
    }

    /// From the one that waits longest on.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.waiting.iter().copied()
    }

    /// Sends these to the end, in this order.
    pub fn send_back(&mut self, ran: &[usize]) {
        let mut runs = vec![false; self.is_in.len()];
        ran.iter().for_each(|&idx| runs[idx] = true);
        self.waiting.retain(|&waiting| !runs[waiting]);
        self.waiting.extend(ran);
    }
}
