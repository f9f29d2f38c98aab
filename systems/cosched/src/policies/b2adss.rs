//! Bus bandwidth-aware dynamic space sharing.
//!
//! At the start of an epoch of some quanta, space sharing gives each program a number of
//! thread-quanta. These are cut into one chunk a quantum; each place of a chunk goes to the thread
//! nearest to what is left of the chunk's target, divided by its places left. The target is the
//! number of processors times the mean rate of the active threads, which is our reading of the
//! paper's SBTR_avg. A thread runs once in a quantum.
//!
//! Source: section 4 of the paper.

use super::parts::{Candidates, Queue, place, shares};
use super::{Placement, Policy, View};

#[derive(Debug)]
pub(super) struct B2adss {
    epoch: usize,
    programs: Queue,
    /// The chunks to come, the next last.
    chunks: Vec<Vec<usize>>,
    first_turn: Vec<usize>,
    age: u32,
}

impl B2adss {
    pub fn new(epoch: usize) -> B2adss {
        B2adss {
            epoch: epoch.max(1),
            programs: Queue::default(),
            chunks: Vec::new(),
            first_turn: Vec::new(),
            age: 0,
        }
    }

    fn plan(&mut self, view: &View<'_>) {
        let (n_cpus, rate) =
            (view.machine.n_cpus(), |number: usize| view.threads[number].latest_mbps);
        self.programs.admit(view.programs.len(), |idx| view.programs[idx].is_active);
        self.first_turn.resize(view.programs.len(), 0);
        let order: Vec<usize> = self.programs.iter().collect();
        let asked: Vec<usize> =
            order.iter().map(|&idx| view.programs[idx].n_threads * self.epoch).collect();
        let got = shares(&asked, n_cpus * self.epoch);
        let served: Vec<usize> =
            order.iter().zip(&got).filter(|pair| *pair.1 > 0).map(|pair| *pair.0).collect();
        if served.len() < order.len() {
            self.programs.send_back(&served);
        }
        // Each thread as often as its program's share says, the threads in turn.
        let mut times = vec![0usize; view.threads.len()];
        for (&program, &n) in order.iter().zip(&got) {
            let it = &view.programs[program];
            for step in 0..n {
                times[it.first + (self.first_turn[program] + step) % it.n_threads] += 1;
            }
            self.first_turn[program] = (self.first_turn[program] + n) % it.n_threads;
        }
        let ready: Vec<usize> = view.ready().collect();
        let mean = ready.iter().map(|&it| rate(it)).sum::<f64>() / ready.len().max(1) as f64;
        let mut chunks = Vec::with_capacity(self.epoch);
        for n_to_come in (0..self.epoch).rev() {
            let mut open = Vec::new();
            let mut chunk = Vec::with_capacity(n_cpus);
            let mut left = mean * n_cpus as f64;
            for (place, &thread) in ready.iter().enumerate() {
                // A program with as many turns left as there are quanta runs in each of them.
                if times[thread] > n_to_come && chunk.len() < n_cpus {
                    left -= rate(thread);
                    times[thread] -= 1;
                    chunk.push(thread);
                } else if times[thread] > 0 {
                    open.push((rate(thread), place, thread));
                }
            }
            let mut candidates = Candidates::new(open.into_iter());
            while chunk.len() < n_cpus {
                let Some(thread) = candidates.take(left / (n_cpus - chunk.len()) as f64) else {
                    break;
                };
                left -= rate(thread);
                times[thread] -= 1;
                chunk.push(thread);
            }
            chunks.push(chunk);
        }
        chunks.reverse();
        self.chunks = chunks;
    }
}

impl Policy for B2adss {
    fn decide(&mut self, view: &View<'_>) -> Placement {
        self.age += 1;
        if self.chunks.is_empty() {
            self.plan(view);
            self.age = 0;
        }
        let chunk = self.chunks.pop().expect("an epoch has a quantum");
        let ready: Vec<usize> =
            chunk.into_iter().filter(|&idx| view.threads[idx].is_ready).collect();
        place(view, &ready)
    }

    fn age_quanta(&self) -> u32 {
        self.age
    }
}
