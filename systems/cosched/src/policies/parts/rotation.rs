//! Threads of one program in turn.

use super::super::View;

/// Which threads of a program run when not all do: in turn.
#[derive(Debug, Default)]
pub(in crate::policies) struct Rotation {
    next: Vec<usize>,
}

impl Rotation {
    /// The next `n` ready threads of a program.
    pub fn next(&mut self, view: &View<'_>, program: usize, n: usize) -> Vec<usize> {
        self.next.resize(view.programs.len(), 0);
        let it = &view.programs[program];
        let from = self.next[program];
        let all = (0..it.n_threads).map(|step| it.first + (from + step) % it.n_threads);
        let chosen: Vec<usize> =
            all.filter(|&thread| view.threads[thread].is_ready).take(n).collect();
        // Programs whose processors stay keep their threads; others go round.
        if n < it.n_threads {
            self.next[program] = (from + n) % it.n_threads;
        }
        chosen
    }
}
