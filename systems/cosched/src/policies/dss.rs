//! Dynamic space sharing: each program gets the smaller of what it asks for and an equal share of the processors; what
//! is left is shared again. Programs that get none stand at the head of the queue next time.
//!
//! Source: Polychronopoulos et al., ICS 1998, as far as the paper uses it; where it is silent the choice is ours.

use super::queue::Queue;
use super::rr::place;
use super::{Placement, Policy, View};

#[derive(Debug, Default)]
pub(super) struct Dss {
    programs: Queue,
    turns: Turns,
}

impl Policy for Dss {
    fn decide(&mut self, view: &View<'_>) -> Placement {
        self.programs.admit(view.programs.len(), |it| view.programs[it].is_active);
        let order: Vec<usize> = self.programs.iter().collect();
        let asked: Vec<usize> = order.iter().map(|&it| view.programs[it].n_threads).collect();
        let got = shares(&asked, view.machine.n_cpus());
        let mut threads = Vec::new();
        let mut served = Vec::new();
        for (&program, n) in order.iter().zip(got).filter(|it| it.1 > 0) {
            threads.extend(self.turns.next(view, program, n));
            served.push(program);
        }
        if served.len() < order.len() {
            self.programs.send_back(&served);
        }
        place(view, &threads)
    }
}

/// Equal shares of `n` for those who ask, in their order: nobody gets more than he asks for, nothing is left while
/// somebody wants it; what does not divide goes to the first.
pub(super) fn shares(asked: &[usize], n: usize) -> Vec<usize> {
    let mut got = vec![0; asked.len()];
    let mut left = n;
    loop {
        let mut open: Vec<usize> = (0..asked.len()).filter(|&it| got[it] < asked[it]).collect();
        open.truncate(left);
        if open.is_empty() {
            return got;
        }
        let each = left / open.len();
        for it in open {
            let more = each.min(asked[it] - got[it]);
            got[it] += more;
            left -= more;
        }
    }
}

/// Which threads of a program run when not all do: in turn.
#[derive(Debug, Default)]
pub(super) struct Turns {
    next: Vec<usize>,
}

impl Turns {
    /// The next `n` ready threads of a program.
    pub fn next(&mut self, view: &View<'_>, program: usize, n: usize) -> Vec<usize> {
        self.next.resize(view.programs.len(), 0);
        let it = &view.programs[program];
        let from = self.next[program];
        let all = (0..it.n_threads).map(|step| it.first + (from + step) % it.n_threads);
        let chosen: Vec<usize> = all.filter(|&thread| view.threads[thread].is_ready).take(n).collect();
        // Programs whose processors stay keep their threads; others go round.
        if n < it.n_threads {
            self.next[program] = (from + n) % it.n_threads;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_does_not_want_is_shared_again() {
        assert_eq!(shares(&[1, 4, 4], 4), [1, 2, 1]);
        assert_eq!(shares(&[3, 3], 4), [2, 2]);
        assert_eq!(shares(&[1, 1], 4), [1, 1]);
        assert_eq!(shares(&[2, 2, 2, 2, 2], 4), [1, 1, 1, 1, 0]);
        assert_eq!(shares(&[8, 1], 8), [7, 1]);
    }
}
