//! Finds a function on at most 64 points as a combination of up to three gates over functions
//! that exist.
//!
//! ```text
//! 0 gates: x    1: x & y, x ^ y    2: x ^ p, x & p    3: p ^ q        (p, q: one gate)
//! ```
//!
//! The sums `p ^ q` are met in the middle: with 200 functions there are 100 000 one-gate
//! functions `p`, hence about 2^32 sums, enough for most functions on 32 points.

use crate::circuit::network::{Lit, Op};

/// At most this many functions are combined.
const N_KEYS_MAX: usize = 200;
/// At most this many functions are tried as the outer operand of `x & p`.
const N_COVERS_MAX: usize = 4;
/// Sums are looked for on at most this many points; on more they hardly ever exist.
const N_POINTS_SUM_MAX: u32 = 40;

/// A way to make a function out of literals of the pool. A trailing flag complements the whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum Recipe {
    Lit(Lit),
    Gate(Term, bool),
    Outer(Op, Lit, Term, bool),
    Sum(Term, Term, bool),
}

/// One gate, complemented if `flip`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub op: Op,
    pub a: Lit,
    pub b: Lit,
    pub flip: bool,
}

/// The functions to combine, restricted to the points of interest.
pub(super) struct Leaf {
    /// All points.
    full: u64,
    n_points: u32,
    /// Distinct up to complement, never constant, and 0 at the first point; each literal has
    /// exactly the values of its key.
    keys: Vec<(u64, Lit)>,
    singles: KeyMap,
}

impl Leaf {
    /// `functions` gives each function's values on the points; earlier ones are preferred.
    pub fn new(n_points: u32, functions: impl Iterator<Item = (u64, Lit)>) -> Leaf {
        let full = if n_points == 64 { !0 } else { (1 << n_points) - 1 };
        let mut leaf = Leaf { full, n_points, keys: Vec::new(), singles: KeyMap::new(N_KEYS_MAX) };
        for (values, lit) in functions {
            let (key, flip) = normal(values, full);
            if leaf.keys.len() == N_KEYS_MAX {
                break;
            }
            if key != 0 && leaf.singles.get(key).is_none() {
                leaf.singles.insert(key, leaf.keys.len() as u32);
                leaf.keys.push((key, lit ^ Lit::from(flip)));
            }
        }
        leaf
    }

    /// The cheapest recipe found for the function with values `target`.
    pub fn solve(&self, target: u64) -> Option<Recipe> {
        let (target, flip) = normal(target, self.full);
        if target == 0 {
            return Some(Recipe::Lit(Lit::from(flip)));
        }
        if let Some(key) = self.singles.get(target) {
            return Some(Recipe::Lit(self.keys[key as usize].1 ^ Lit::from(flip)));
        }
        let mut gate = None;
        let mut outer = None;
        self.each_term(|key, term| {
            if key == target {
                gate = Some(Recipe::Gate(term(), flip));
            } else if outer.is_none()
                && let Some(x) = self.singles.get(key ^ target)
            {
                outer = Some(Recipe::Outer(Op::Xor, self.keys[x as usize].1, term(), flip));
            }
            gate.is_some()
        });
        gate.or(outer).or_else(|| self.solve_cover(target, flip)).or_else(|| self.solve_sum(target, flip))
    }

    /// `target = x & p` or its complement, for an `x` that covers it.
    fn solve_cover(&self, target: u64, flip: bool) -> Option<Recipe> {
        for (wanted, flip) in [(target, flip), (!target & self.full, !flip)] {
            let both = |&(key, lit): &(u64, Lit)| [(key, lit), (!key & self.full, lit ^ 1)];
            let covers = self.keys.iter().flat_map(both).filter(|&(cover, _)| wanted & !cover == 0);
            for (cover, x) in covers.take(N_COVERS_MAX) {
                let mut found = None;
                self.each_term(|key, term| {
                    let differ = (key ^ wanted) & cover;
                    if differ == 0 || differ == cover {
                        let mut term = term();
                        term.flip ^= differ != 0;
                        found = Some(Recipe::Outer(Op::And, x, term, flip));
                    }
                    found.is_some()
                });
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// `target = p ^ q` or its complement.
    fn solve_sum(&self, target: u64, flip: bool) -> Option<Recipe> {
        if self.n_points > N_POINTS_SUM_MAX {
            return None;
        }
        let mut met = KeyMap::new(5 * self.keys.len() * self.keys.len() / 2);
        let mut terms: Vec<Term> = Vec::new();
        let mut found = None;
        self.each_term(|key, term| {
            if let Some(other) = met.get(key ^ target) {
                found = Some(Recipe::Sum(term(), terms[other as usize], flip));
            } else {
                met.insert(key, terms.len() as u32);
                terms.push(term());
            }
            found.is_some()
        });
        found
    }

    /// Calls `visit` with each one-gate function, normal, until that returns true.
    fn each_term(&self, mut visit: impl FnMut(u64, &dyn Fn() -> Term) -> bool) {
        for (idx, &(x, a)) in self.keys.iter().enumerate() {
            for &(y, b) in &self.keys[..idx] {
                let term = |op, a, b, flip| move || Term { op, a, b, flip };
                if visit(x ^ y, &term(Op::Xor, a, b, false))
                    || visit(x & y, &term(Op::And, a, b, false))
                    || visit(x & !y, &term(Op::And, a, b ^ 1, false))
                    || visit(!x & y, &term(Op::And, a ^ 1, b, false))
                    || visit(x | y, &term(Op::And, a ^ 1, b ^ 1, true))
                {
                    return;
                }
            }
        }
    }
}

/// The function or its complement, whichever is 0 at the first point, and whether it is the
/// complement.
fn normal(values: u64, full: u64) -> (u64, bool) {
    match values & 1 {
        0 => (values & full, false),
        _ => (!values & full, true),
    }
}

/// A map from nonzero keys to numbers, open addressing, never grown.
struct KeyMap {
    slots: Vec<(u64, u32)>,
    shift: u32,
}

impl KeyMap {
    fn new(n_keys_max: usize) -> KeyMap {
        let n_slots = (2 * n_keys_max).next_power_of_two().max(2);
        KeyMap { slots: vec![(0, 0); n_slots], shift: 64 - n_slots.trailing_zeros() }
    }

    /// The slot of `key`, or the free one where it belongs.
    fn slot(&self, key: u64) -> usize {
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        while self.slots[slot].0 != 0 && self.slots[slot].0 != key {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    fn get(&self, key: u64) -> Option<u32> {
        let (found, value) = self.slots[self.slot(key)];
        (found != 0 && found == key).then_some(value)
    }

    /// The first value of a key stays; key 0 is not kept.
    fn insert(&mut self, key: u64, value: u32) {
        let slot = self.slot(key);
        if self.slots[slot].0 == 0 {
            self.slots[slot] = (key, value);
        }
    }
}
