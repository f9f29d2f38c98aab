//! Dynamic space sharing: each program gets the smaller of what it asks for and an equal share of
//! the processors; what is left is shared again. Programs that get none stand at the head of the
//! queue next time.
//!
//! Source: Polychronopoulos et al., ICS 1998, as far as the paper uses it; where it is silent the
//! choice is ours.

use super::parts::{Queue, Rotation, place, shares};
use super::{Placement, Policy, View};

#[derive(Debug, Default)]
pub(super) struct Dss {
    programs: Queue,
    rotation: Rotation,
}

impl Policy for Dss {
    fn decide(&mut self, view: &View<'_>) -> Placement {
        self.programs.admit(view.programs.len(), |idx| view.programs[idx].is_active);
        let order: Vec<usize> = self.programs.iter().collect();
        let asked: Vec<usize> = order.iter().map(|&idx| view.programs[idx].n_threads).collect();
        let got = shares(&asked, view.machine.n_cpus());
        let mut threads = Vec::new();
        let mut served = Vec::new();
        for (&program, n) in order.iter().zip(got).filter(|pair| pair.1 > 0) {
            threads.extend(self.rotation.next(view, program, n));
            served.push(program);
        }
        if served.len() < order.len() {
            self.programs.send_back(&served);
        }
        place(view, &threads)
    }
}
