//! Splits the domain of a function until each part is a small combination of functions that
//! exist already, then joins the parts.
//!
//! ```text
//! f = g ^ (x & h)    g agrees with f where x = 0, h with f ^ g where x = 1
//! ```
//!
//! Outside its part `g` may be anything, which is what makes it cheap. All gates made so far,
//! for whatever output, serve the next search.
//!
//! Source: M. Kwan, "Reducing the gate count of bitslice DES", 2000, with larger leaves: see
//! [`super::leaf`].

use fastrand::Rng;

use crate::circuit::network::{Lit, Network, Op};
use crate::circuit::truth::{self, Truth};

use super::leaf::{Leaf, Recipe, Term};
use super::pool::Pool;

/// A network for `targets`; `seed` varies the order of outputs and of splits.
pub(super) fn network<const W: usize>(n_inputs: u32, targets: &[Truth<W>], seed: u64) -> Network {
    let mut split = Split { pool: Pool::new(n_inputs), rng: Rng::with_seed(seed), n_inputs };
    let mut order: Vec<usize> = (0..targets.len()).collect();
    split.rng.shuffle(&mut order);
    let mut outputs: Vec<Lit> = vec![0; targets.len()];
    let everywhere = split.domain();
    for idx in order {
        outputs[idx] = split.make(&targets[idx], &everywhere);
    }
    split.pool.net.finish(outputs)
}

struct Split<const W: usize> {
    pool: Pool<W>,
    rng: Rng,
    n_inputs: u32,
}

impl<const W: usize> Split<W> {
    /// All points, each once.
    fn domain(&self) -> Truth<W> {
        match self.n_inputs {
            0..6 => std::array::from_fn(|_| (1 << (1 << self.n_inputs)) - 1),
            _ => [!0; W],
        }
    }

    /// A function that agrees with `target` on `care`.
    fn make(&mut self, target: &Truth<W>, care: &Truth<W>) -> Lit {
        if let Some(lit) = self.make_at_once(target, care) {
            return lit;
        }
        let select = self.choose_split(target, care);
        let on = self.pool.truth(select);
        let low = self.make(target, &truth::and(care, &truth::flip_if(&on, true)));
        let change = truth::xor(target, &self.pool.truth(low));
        let high = self.make(&change, &truth::and(care, &on));
        let selected = self.pool.apply(Op::And, select, high);
        self.pool.apply(Op::Xor, low, selected)
    }

    fn make_at_once(&mut self, target: &Truth<W>, care: &Truth<W>) -> Option<Lit> {
        let n_points: u32 = care.iter().map(|word| word.count_ones()).sum();
        if n_points <= 64 {
            let functions = self.restricted(care);
            let leaf = Leaf::new(n_points, functions.into_iter());
            let recipe = leaf.solve(compress(target, care))?;
            return Some(self.follow(&recipe));
        }
        let agrees = |lit: Lit| truth::agree(&self.pool.truth(lit), target, care);
        (0..2 * self.pool.truths.len() as Lit).find(|&lit| agrees(lit))
    }

    /// The values of every node on `care`, in random order.
    fn restricted(&mut self, care: &Truth<W>) -> Vec<(u64, Lit)> {
        let values = |(truth, node): (&Truth<W>, Lit)| (compress(truth, care), node << 1);
        let mut functions: Vec<_> = self.pool.truths.iter().zip(0..).map(values).collect();
        self.rng.shuffle(&mut functions);
        functions
    }

    fn follow(&mut self, recipe: &Recipe) -> Lit {
        let mut gate = |term: &Term| self.pool.apply(term.op, term.a, term.b) ^ Lit::from(term.flip);
        match recipe {
            Recipe::Lit(lit) => *lit,
            Recipe::Gate(term, flip) => gate(term) ^ Lit::from(*flip),
            Recipe::Outer(op, x, term, flip) => {
                let inner = gate(term);
                self.pool.apply(*op, *x, inner) ^ Lit::from(*flip)
            }
            Recipe::Sum(p, q, flip) => {
                let (p, q) = (gate(p), gate(q));
                self.pool.apply(Op::Xor, p, q) ^ Lit::from(*flip)
            }
        }
    }

    /// An input, possibly complemented, that divides `care`.
    fn choose_split(&mut self, _target: &Truth<W>, care: &Truth<W>) -> Lit {
        let divides = |input: &u32| {
            let part = truth::and(care, &truth::of_input(*input));
            !truth::is_zero(&part) && part != *care
        };
        let inputs: Vec<u32> = (0..self.n_inputs).filter(divides).collect();
        let input = inputs[self.rng.usize(..inputs.len())];
        self.pool.net.input(input) ^ Lit::from(self.rng.bool())
    }
}

/// The values at the points of `care`, moved together.
fn compress<const W: usize>(values: &Truth<W>, care: &Truth<W>) -> u64 {
    let mut packed = 0;
    let mut n_packed = 0;
    for (value, care) in values.iter().zip(care) {
        let mut left = *care;
        while left != 0 {
            packed |= (value >> left.trailing_zeros() & 1) << n_packed;
            n_packed += 1;
            left &= left - 1;
        }
    }
    packed
}
