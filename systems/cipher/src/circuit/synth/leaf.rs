//! Finds a function on at most 64 points as a combination of up to four gates over existing
//! functions.
//!
//! ```text
//! 0 gates: x    1: x & y, x ^ y    2: x ^ p, x & p    3: p ^ q    4: x ^ p ^ q    (p, q: one gate)
//! ```
//!
//! The sums `p ^ q` are met in the middle: with 200 functions there are 100 000 one-gate
//! functions `p`, hence about 2^32 sums, enough for most functions on 32 points.

use crate::circuit::network::{Lit, Op};

use super::keys::{KeyMap, Scratch};

/// At most this many functions are combined.
const N_KEYS_MAX: usize = 400;
/// At most this many functions are tried as the outer operand of `x & p`.
const N_COVERS_MAX: usize = 4;
/// At most this many sums of three are looked up.
const N_LONG_SUMS_MAX: usize = 1_000_000;
/// Sums are looked for on at most this many points more than they usually reach.
const N_POINTS_SUM_EXTRA: u32 = 3;

/// On how many points `n_functions` functions should be combined: most points a gate, counting
/// the two gates that join a leaf to the others.
pub(super) fn reach(n_functions: usize) -> u32 {
    let n_functions = n_functions.min(N_KEYS_MAX);
    let n_terms = 5 * n_functions * n_functions / 2;
    let n_sums = n_terms * n_terms / 2;
    let n_long_sums = n_sums * (N_LONG_SUMS_MAX / n_terms.max(1)).min(n_functions);
    let points = |n_functions: usize| n_functions.max(1).ilog2();
    let (sum, long_sum) = (points(n_sums), points(n_long_sums));
    if 6 * sum >= 5 * long_sum { sum } else { long_sum }
}

/// A way to make a function out of literals of the pool. A trailing flag complements the whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum LeafRecipe {
    Lit(Lit),
    Gate(LeafTerm, bool),
    Outer(Op, Lit, LeafTerm, bool),
    Sum(LeafTerm, LeafTerm, bool),
    LongSum(Lit, LeafTerm, LeafTerm, bool),
}

/// One gate, complemented if `flip`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafTerm {
    pub op: Op,
    pub a: Lit,
    pub b: Lit,
    pub flip: bool,
}

/// The functions to combine, restricted to the points of interest.
pub(super) struct Leaf {
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
    pub fn solve(&self, target: u64, scratch: &mut Scratch) -> Option<LeafRecipe> {
        let (target, flip) = normal(target, self.full);
        if target == 0 {
            return Some(LeafRecipe::Lit(Lit::from(flip)));
        }
        if let Some(key) = self.singles.get(target) {
            return Some(LeafRecipe::Lit(self.keys[key as usize].1 ^ Lit::from(flip)));
        }
        let mut gate = None;
        let mut outer = None;
        self.each_term(|key, term| {
            if key == target {
                gate = Some(LeafRecipe::Gate(term(), flip));
            } else if outer.is_none()
                && let Some(x) = self.singles.get(key ^ target)
            {
                outer = Some(LeafRecipe::Outer(Op::Xor, self.keys[x as usize].1, term(), flip));
            }
            gate.is_some()
        });
        gate.or(outer)
            .or_else(|| self.solve_cover(target, flip))
            .or_else(|| self.solve_sum(target, flip, scratch))
    }

    /// `target = x & p` or its complement, for an `x` that covers it.
    fn solve_cover(&self, target: u64, flip: bool) -> Option<LeafRecipe> {
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
                        found = Some(LeafRecipe::Outer(Op::And, x, term, flip));
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

    /// `target = p ^ q` or `x ^ p ^ q`, or the complement.
    fn solve_sum(&self, target: u64, flip: bool, scratch: &mut Scratch) -> Option<LeafRecipe> {
        if self.n_points > reach(self.keys.len()) + N_POINTS_SUM_EXTRA {
            return None;
        }
        scratch.clear(self.n_terms());
        let mut found = None;
        self.each_term(|key, term| {
            if let Some(other) = scratch.get(key ^ target) {
                found = Some(LeafRecipe::Sum(term(), self.term(other), flip));
            } else {
                scratch.push(key);
            }
            found.is_some()
        });
        if found.is_some() {
            return found;
        }
        let n_outer = N_LONG_SUMS_MAX / self.n_terms().max(1);
        for &(x, lit) in self.keys.iter().take(n_outer) {
            for (term, &key) in scratch.keys.iter().enumerate() {
                if let Some(other) = scratch.get(key ^ target ^ x) {
                    return Some(LeafRecipe::LongSum(lit, self.term(term), self.term(other), flip));
                }
            }
        }
        None
    }

    fn n_terms(&self) -> usize {
        5 * self.keys.len() * self.keys.len().saturating_sub(1) / 2
    }

    /// The term that [`Leaf::each_term`] visits as number `number`.
    fn term(&self, number: usize) -> LeafTerm {
        let (pair, kind) = (number / 5, number % 5);
        let mut idx = (2 * pair).isqrt();
        while idx * (idx + 1) / 2 <= pair {
            idx += 1;
        }
        while idx * (idx - 1) / 2 > pair {
            idx -= 1;
        }
        term_of(kind, self.keys[idx].1, self.keys[pair - idx * (idx - 1) / 2].1)
    }

    /// Calls `visit` with each one-gate function, normal, until that returns true.
    fn each_term(&self, mut visit: impl FnMut(u64, &dyn Fn() -> LeafTerm) -> bool) {
        for (idx, &(x, a)) in self.keys.iter().enumerate() {
            for &(y, b) in &self.keys[..idx] {
                for (kind, key) in [x ^ y, x & y, x & !y, !x & y, x | y].into_iter().enumerate() {
                    if visit(key, &|| term_of(kind, a, b)) {
                        return;
                    }
                }
            }
        }
    }
}

fn term_of(kind: usize, a: Lit, b: Lit) -> LeafTerm {
    match kind {
        0 => LeafTerm { op: Op::Xor, a, b, flip: false },
        1 => LeafTerm { op: Op::And, a, b, flip: false },
        2 => LeafTerm { op: Op::And, a, b: b ^ 1, flip: false },
        3 => LeafTerm { op: Op::And, a: a ^ 1, b, flip: false },
        _ => LeafTerm { op: Op::And, a: a ^ 1, b: b ^ 1, flip: true },
    }
}

/// The function or its complement, whichever is 0 at the first point, and whether
/// it is the complement.
fn normal(values: u64, full: u64) -> (u64, bool) {
    match values & 1 {
        0 => (values & full, false),
        _ => (!values & full, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_numbered_as_they_are_visited() {
        let leaf = Leaf::new(8, (0..7u32).map(|idx| (u64::from(3 * idx * idx + 2), idx << 1)));
        let mut number = 0;
        leaf.each_term(|_, term| {
            let (seen, again) = (term(), leaf.term(number));
            assert_eq!(
                (seen.op, seen.a, seen.b, seen.flip),
                (again.op, again.a, again.b, again.flip)
            );
            number += 1;
            false
        });
        assert_eq!(number, leaf.n_terms());
    }
}
