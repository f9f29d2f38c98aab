//! Whether D probes could learn something, whatever D is.
//!
//! A probe inside a product of `a` and `b` is worth a share `i` of `a` and a share `j` of `b`, and
//! fresh shares hide everything else. D probes learn a sum `v` of secret bits just if every one of
//! the D + 1 shares of `v` is a sum of what was seen with that number. As 2 D operands are spread
//! over D + 1 numbers, some number has one alone: `v` is in the rows of one operand, and the other
//! operand of that product comes free, at any number. So, from the rows `W` of an operand:
//!
//! ```text
//! S = 0
//! repeat: for a product with an operand whose rows and S together give more of W than S alone
//!             S = S + rows of its other operand
//! W and S meet in 0   ->   no attack begins at W, at any order
//! ```
//!
//! For one sum `v` instead of `W` this decides exactly; for the bits of a register together it may
//! see an attack that is none, and then asks again for the sums that are left.
//!
//! Source: Belaid, Goudarzi, Rivain, *Tight Private Circuits* (Asiacrypt 2018), for bits; Belaid,
//! Dagand, Mercadier, Rivain, Wintersdorff, *Tornado* (Eurocrypt 2020), for registers.

use std::cell::Cell;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::circuit::{Product, SharedCircuit};
use super::space::{Form, Space};

/// An operand of a product: the number of the product, and 0 or 1.
pub type OperandId = (usize, usize);

/// Probes that learn something at some order.
#[derive(Debug, Clone)]
pub struct Attack {
    /// The operand that the sum is in.
    pub target: OperandId,
    /// The operands to probe, the other operands of whose products come free; each is needed.
    pub probed: Vec<OperandId>,
    /// It is shown for one sum of bits; else only the proof for the register fails.
    pub is_exact: bool,
}

/// Searches a circuit for attacks.
#[derive(Debug)]
pub struct Prober<'a> {
    circuit: &'a SharedCircuit,
    /// A basis of the rows of both operands of each product, no two with one last column.
    rows: Vec<[Vec<Form>; 2]>,
    /// The operands whose basis has this last column.
    ending: HashMap<u32, Vec<OperandId>>,
    /// Operands in which nothing new would be found: their rows were those of another.
    is_seen: HashSet<&'a [Form]>,
    /// Columns that its sums went through.
    work: Cell<u64>,
}

/// An operand that may help.
struct ProbeCandidate {
    id: OperandId,
    /// Its rows modulo the target and what is free.
    left: Vec<Form>,
}

/// What the operands of a search gave away.
struct Gathered {
    /// In the order in which they were found.
    probed: Vec<OperandId>,
    /// A basis of what the target and the free operands have in common.
    common: Vec<Form>,
}

impl<'a> Prober<'a> {
    pub fn new(circuit: &'a SharedCircuit) -> Prober<'a> {
        let basis = |rows: &[Form]| Space::of(rows).basis().cloned().collect();
        let of = |product: &Product| [0, 1].map(|side| basis(&product.operands[side]));
        let rows: Vec<[Vec<Form>; 2]> = circuit.products.iter().map(of).collect();
        let mut ending: HashMap<u32, Vec<OperandId>> = HashMap::default();
        for (number, product) in rows.iter().enumerate() {
            for (side, operand) in product.iter().enumerate() {
                for last in operand.iter().filter_map(|form| form.last()) {
                    ending.entry(*last).or_default().push((number, side));
                }
            }
        }
        Prober { circuit, rows, ending, is_seen: HashSet::default(), work: Cell::new(0) }
    }

    /// An attack whose sum is in the rows of this operand.
    pub fn attack_at(&mut self, target: OperandId) -> Option<Attack> {
        if !self.is_seen.insert(&self.circuit.products[target.0].operands[target.1]) {
            return None;
        }
        let mut space = self.rows(target).to_vec();
        while !space.is_empty() {
            let found = self.search(&space, None);
            if found.common.is_empty() {
                return None;
            }
            let is_one = space.len() == 1;
            if !is_one && found.common.len() < space.len() {
                space = found.common;
                continue;
            }
            let exact = found.common.iter().find(|form| {
                is_one || !self.search(std::slice::from_ref(form), None).common.is_empty()
            });
            let shown = exact.map_or(space.clone(), |form| vec![form.clone()]);
            return Some(Attack { target, probed: self.needed(&shown), is_exact: exact.is_some() });
        }
        None
    }

    /// Columns that its sums went through so far: what the search costs.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    fn rows(&self, (number, side): OperandId) -> &[Form] {
        &self.rows[number][side]
    }

    /// Operands that suffice for an attack on this space, none of which could be left out.
    fn needed(&self, space: &[Form]) -> Vec<OperandId> {
        let mut needed = self.search(space, None).probed;
        let mut k = needed.len();
        while k > 0 {
            k -= 1;
            let mut fewer = needed.clone();
            fewer.remove(k);
            if !self.search(space, Some(&fewer)).common.is_empty() {
                needed = fewer;
            }
        }
        needed.sort_unstable();
        needed
    }

    /// The algorithm of the module's head, with all operands or with these.
    fn search(&self, target: &[Form], among: Option<&[OperandId]>) -> Gathered {
        let mut free = Space::default();
        let mut both = Space::of(target);
        let mut probed = Vec::new();
        let mut candidates: Vec<ProbeCandidate> = Vec::new();
        let mut is_candidate: HashSet<OperandId> = HashSet::default();
        // An operand of which no row has a last column of the basis gives nothing: its rows stand
        // out of the space as they are.
        let mut lasts: HashSet<u32> =
            both.basis().filter_map(|form| form.last().copied()).collect();
        while !lasts.is_empty() {
            for candidate in &mut candidates {
                if candidate
                    .left
                    .iter()
                    .any(|form| form.last().is_some_and(|it| lasts.contains(it)))
                {
                    candidate.left = both.residual(&candidate.left);
                }
            }
            for last in lasts.drain() {
                let ending = self.ending.get(&last).into_iter().flatten();
                let fit = ending.filter(|id| among.is_none_or(|some| some.contains(id)));
                let new = fit.filter(|id| is_candidate.insert(**id));
                candidates.extend(
                    new.map(|id| ProbeCandidate { id: *id, left: both.residual(self.rows(*id)) }),
                );
            }
            let helps = |candidate: &ProbeCandidate| {
                let (rows, n_left) = (self.rows(candidate.id), candidate.left.len());
                n_left < rows.len() && n_left < free.residual(rows).len()
            };
            let (help, rest): (Vec<_>, Vec<_>) = candidates.into_iter().partition(helps);
            candidates = rest;
            for ProbeCandidate { id: (number, side), .. } in help {
                probed.push((number, side));
                for row in self.rows((number, 1 - side)) {
                    let _ = free.add(row.clone(), 0);
                    lasts.extend(both.add(row.clone(), 0));
                }
            }
        }
        self.work.set(self.work.get() + free.work() + both.work());
        Gathered { common: common(&free, target), probed }
    }
}

/// A basis of what a space and the forms of another basis have in common.
fn common(space: &Space, target: &[Form]) -> Vec<Form> {
    assert!(target.len() <= 64, "a register has at most 64 bits of a block");
    let mut space = space.clone();
    let mut common = Vec::new();
    for (k, form) in target.iter().enumerate() {
        if let Err(tag) = space.add(form.clone(), 1 << k) {
            let picked = target.iter().enumerate().filter(|(bit, _)| tag >> bit & 1 == 1);
            common.push(picked.fold(Form::new(), |all, (_, form)| super::space::sum(&all, form)));
        }
    }
    common
}
