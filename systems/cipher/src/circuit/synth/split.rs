//! Splits the domain of a function until each part is a small combination of functions that
//! exist already, then joins the parts.
//!
//! ```text
//! f = g ^ (x & h)    g agrees with f where x = 0, h with f ^ g where x = 1
//! ```
//!
//! Outside its part `g` may be anything, which is what makes it cheap. Each search can use all
//! gates made so far, for whatever output.
//!
//! Source: M. Kwan, "Reducing the gate count of bitslice DES", 2000, with larger leaves: see
//! [`super::leaf`].

use fastrand::Rng;

use crate::circuit::network::{Lit, Network, Node, Op};
use crate::circuit::truth::{self, Truth};

use super::keys::Scratch;
use super::leaf::{self, Leaf, LeafRecipe, LeafTerm};
use super::pool::Pool;

/// How many splits of each part are tried. Parts have parts, so the work grows with a power of it.
#[derive(Clone, Copy)]
pub(super) struct Tries {
    /// The tries times the functions that each has to search.
    pub n_functions: usize,
    /// At most this many, however few the functions.
    pub n_max: usize,
}

/// A network for `targets`; `seed` varies the order of outputs and the splits.
pub(super) fn network<const W: usize>(
    n_inputs: u32,
    targets: &[Truth<W>],
    tries: Tries,
    seed: u64,
) -> Network {
    let mut split = Split {
        pool: Pool::new(n_inputs),
        rng: Rng::with_seed(seed),
        scratch: Scratch::new(),
        n_inputs,
        tries,
    };
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
    scratch: Scratch,
    n_inputs: u32,
    tries: Tries,
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
        // The parts are made as well as they can be, one after the other, so a few tries at
        // each level do as much as very many at the top.
        let n_nodes = self.pool.truths.len();
        let n_tries = (self.tries.n_functions / n_nodes).clamp(1, self.tries.n_max);
        let mut best: Option<(Vec<Node>, Lit)> = None;
        for _ in 0..n_tries {
            let lit = self.make_split(target, care);
            let gates = self.pool.net.gates_from(n_nodes);
            if best.as_ref().is_none_or(|(old, _)| gates.len() < old.len()) {
                best = Some((gates.to_vec(), lit));
            }
            self.pool.truncate(n_nodes);
        }
        let (gates, lit) = best.expect("there is at least one try");
        self.pool.extend(&gates);
        lit
    }

    fn make_split(&mut self, target: &Truth<W>, care: &Truth<W>) -> Lit {
        let select = self.choose_split(care);
        let on = self.pool.truth(select);
        let low = self.make(target, &truth::and(care, &truth::flip_if(&on, true)));
        let change = truth::xor(target, &self.pool.truth(low));
        let high = self.make(&change, &truth::and(care, &on));
        let selected = self.pool.apply(Op::And, select, high);
        self.pool.apply(Op::Xor, low, selected)
    }

    fn make_at_once(&mut self, target: &Truth<W>, care: &Truth<W>) -> Option<Lit> {
        let n_points = count(care);
        if n_points <= 64 {
            let functions = self.restricted(care);
            let leaf = Leaf::new(n_points, functions.into_iter());
            let recipe = leaf.solve(compress(target, care), &mut self.scratch)?;
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

    fn follow(&mut self, recipe: &LeafRecipe) -> Lit {
        let mut gate =
            |term: &LeafTerm| self.pool.apply(term.op, term.a, term.b) ^ Lit::from(term.flip);
        match recipe {
            LeafRecipe::Lit(lit) => *lit,
            LeafRecipe::Gate(term, flip) => gate(term) ^ Lit::from(*flip),
            LeafRecipe::Outer(op, x, term, flip) => {
                let inner = gate(term);
                self.pool.apply(*op, *x, inner) ^ Lit::from(*flip)
            }
            LeafRecipe::Sum(p, q, flip) => {
                let (p, q) = (gate(p), gate(q));
                self.pool.apply(Op::Xor, p, q) ^ Lit::from(*flip)
            }
            LeafRecipe::LongSum(x, p, q, flip) => {
                let (p, q) = (gate(p), gate(q));
                let sum = self.pool.apply(Op::Xor, p, q);
                self.pool.apply(Op::Xor, *x, sum) ^ Lit::from(*flip)
            }
        }
    }

    /// A function, possibly complemented, that divides `care` into parts of as few leaves as
    /// possible: a random one of these.
    fn choose_split(&mut self, care: &Truth<W>) -> Lit {
        let n_points = count(care);
        let reach = leaf::reach(self.pool.truths.len());
        let n_leaves = |truth: &Truth<W>| {
            let n_on = count(&truth::and(care, truth));
            let divides = n_on != 0 && n_on != n_points;
            divides.then(|| n_on.div_ceil(reach) + (n_points - n_on).div_ceil(reach))
        };
        let costs: Vec<Option<u32>> = self.pool.truths.iter().map(n_leaves).collect();
        let fewest = costs.iter().flatten().min();
        let best: Vec<usize> = (0..costs.len())
            .filter(|&node| costs[node].is_some() && costs[node].as_ref() == fewest)
            .collect();
        let node = best[self.rng.usize(..best.len())];
        (node << 1) as Lit | Lit::from(self.rng.bool())
    }
}

fn count<const W: usize>(care: &Truth<W>) -> u32 {
    care.iter().map(|word| word.count_ones()).sum()
}

/// The values at the points of `care`, packed together.
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
