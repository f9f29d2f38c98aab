//! Bus bandwidth-aware round robin.
//!
//! A share of the processors goes to the head of the queue. Each of the others goes to the thread
//! whose rate at its last run is nearest to the bandwidth left over, divided by the processors left
//! over; below zero that is the one that asks least. All that ran go to the end of the queue.
//!
//! With several links each processor of the second half is one of the link with the most left for
//! each of its own.
//!
//! Source: section 4 of the paper, formula 1.

use super::parts::{Candidates, Links, Queue};
use super::{Placement, Policy, ShareOf, View};

#[derive(Debug)]
pub(super) struct B2arr {
    share: ShareOf,
    queue: Queue,
}

impl B2arr {
    pub fn new(share: ShareOf) -> B2arr {
        B2arr { share, queue: Queue::default() }
    }
}

impl Policy for B2arr {
    fn decide(&mut self, view: &View<'_>) -> Placement {
        let rate = |number: usize| view.threads[number].latest_mbps;
        self.queue.admit(view.threads.len(), |idx| view.threads[idx].is_ready);
        let waiting: Vec<usize> = self.queue.iter().collect();
        let n_cpus = view.machine.n_cpus();
        let n_first = match self.share {
            ShareOf::Processors(share) => {
                ((n_cpus as f64 * share).ceil() as usize).clamp(1, n_cpus)
            }
            ShareOf::Bandwidth(share) => {
                let limit = share * view.machine.mixed_mbps();
                let mut taken = 0.0;
                let within = |number: &&usize| {
                    taken += rate(**number);
                    taken <= limit
                };
                waiting.iter().take_while(within).count().clamp(1, n_cpus)
            }
        }
        .min(waiting.len());
        let mut links = Links::of(view);
        let mut ran = Vec::with_capacity(n_cpus);
        for &thread in &waiting[..n_first] {
            links.put_in_turn(thread, rate(thread));
            ran.push(thread);
        }
        let others = waiting.iter().enumerate().skip(n_first);
        let mut candidates =
            Candidates::new(others.map(|(place, &thread)| (rate(thread), place, thread)));
        while let Some((link, target)) = links.most_left() {
            let Some(thread) = candidates.take(target) else { break };
            links.put(link, thread, rate(thread));
            ran.push(thread);
        }
        self.queue.send_back(&ran);
        links.placement
    }
}
