//! Gangs: all threads of a program run together or not at all.
//!
//! The program at the head of the queue runs. Of those that still fit, the one whose rate a thread
//! is nearest to the bandwidth left over for each free processor follows, until none fits. A
//! program of more threads than processors gets all processors.

use std::collections::BTreeMap;

use super::super::{Placement, Policy, ThreadView, View};
use super::{Candidates, Queue, Rotation, place};

/// Gangs, with a rate of threads.
pub(in crate::policies) struct Gang<F> {
    rate: F,
    programs: Queue,
    rotation: Rotation,
}

impl<F: Fn(&ThreadView) -> f64> Gang<F> {
    pub fn new(rate: F) -> Gang<F> {
        Gang { rate, programs: Queue::default(), rotation: Rotation::default() }
    }
}

impl<F: Fn(&ThreadView) -> f64> Policy for Gang<F> {
    fn decide(&mut self, view: &View<'_>) -> Placement {
        self.programs.admit(view.programs.len(), |idx| view.programs[idx].is_active);
        let n_cpus = view.machine.n_cpus();
        let size = |program: usize| view.programs[program].n_threads.min(n_cpus);
        let total = |program: usize| {
            let it = &view.programs[program];
            view.threads[it.first..it.first + it.n_threads].iter().map(&self.rate).sum::<f64>()
                * size(program) as f64
                / it.n_threads as f64
        };
        let each = |program: usize| total(program) / size(program) as f64;
        let waiting: Vec<usize> = self.programs.iter().collect();
        let Some((&first, others)) = waiting.split_first() else { return vec![None; n_cpus] };
        // Programs of one size stand together: of each size that fits one is the fittest.
        let mut by_size: BTreeMap<usize, Vec<(f64, usize, usize)>> = BTreeMap::new();
        for (place, &program) in others.iter().enumerate() {
            by_size.entry(size(program)).or_default().push((each(program), place, program));
        }
        let mut by_size: BTreeMap<usize, Candidates> = by_size
            .into_iter()
            .map(|(size, them)| (size, Candidates::new(them.into_iter())))
            .collect();
        let mut ran = vec![first];
        let (mut n_free, mut left) =
            (n_cpus - size(first), view.machine.mixed_mbps() - total(first));
        while n_free > 0 {
            let target = left / n_free as f64;
            let fits = by_size
                .range_mut(..=n_free)
                .filter_map(|(size, them)| Some((*size, them.fittest(target)?)));
            let best = fits.min_by(|a, b| {
                a.1.far_mbps.total_cmp(&b.1.far_mbps).then(a.1.place.cmp(&b.1.place))
            });
            let Some((size, best)) = best else { break };
            by_size.get_mut(&size).expect("it was found there").remove(best);
            n_free -= size;
            left -= total(best.which);
            ran.push(best.which);
        }
        self.programs.send_back(&ran);
        let threads: Vec<usize> =
            ran.iter().flat_map(|&it| self.rotation.next(view, it, size(it))).collect();
        place(view, &threads)
    }
}
