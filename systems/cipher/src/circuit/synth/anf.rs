//! Sums of products of inputs (Reed-Muller form) with their common parts taken out greedily:
//! good where outputs have low degree.
//!
//! ```text
//! y0 = ab ^ ac ^ d, y1 = ab ^ ac    --->    t = ab ^ ac; y0 = t ^ d; y1 = t
//! ```
//!
//! Source: the greedy choice of the most frequent pair is C. Paar's, "Optimized arithmetic for
//! Reed-Solomon encoders", 1997.

use std::collections::BTreeMap;

use crate::circuit::network::{FALSE, Lit, Network, NetworkBuilder, TRUE};

/// Above this many terms in all outputs the form is not worth the search: pairs are not shared.
const N_TERMS_SHARED_MAX: usize = 300;

pub(super) fn network(n_inputs: u32, columns: &[Vec<bool>]) -> Network {
    let mut net = NetworkBuilder::new(n_inputs);
    let mut products: BTreeMap<usize, Lit> = BTreeMap::new();
    let mut sums: Vec<Vec<Lit>> = Vec::new();
    for column in columns {
        let monomials = monomials(column);
        let mut sum: Vec<Lit> =
            monomials.iter().map(|&set| product(&mut net, &mut products, set)).collect();
        sum.sort_unstable();
        sums.push(sum);
    }
    share_pairs(&mut net, &mut sums);
    let outputs = sums.iter().map(|sum| sum.iter().fold(FALSE, |a, &b| net.xor(a, b))).collect();
    net.finish(outputs)
}

/// The sets of inputs whose products sum to the function (Moebius transform).
fn monomials(column: &[bool]) -> Vec<usize> {
    let mut form = column.to_vec();
    let mut half = 1;
    while half < form.len() {
        for idx in (0..form.len()).filter(|idx| idx & half != 0) {
            form[idx] ^= form[idx ^ half];
        }
        half *= 2;
    }
    (0..form.len()).filter(|&set| form[set]).collect()
}

/// The product of a set of inputs, built from a product that exists with one input less
/// if there is one.
fn product(net: &mut NetworkBuilder, products: &mut BTreeMap<usize, Lit>, set: usize) -> Lit {
    if set == 0 {
        return TRUE;
    }
    if let Some(&lit) = products.get(&set) {
        return lit;
    }
    let bits = || (0..net.n_inputs()).filter(|bit| set >> bit & 1 == 1);
    let without = |bit: u32| set & !(1 << bit);
    let bit = bits()
        .find(|&bit| products.contains_key(&without(bit)))
        .or_else(|| bits().next())
        .expect("the set is not empty");
    let rest = product(net, products, without(bit));
    let input = net.input(bit);
    let lit = net.and(input, rest);
    products.insert(set, lit);
    lit
}

/// Replaces the pair of terms that most sums share by one term, until no pair is shared.
fn share_pairs(net: &mut NetworkBuilder, sums: &mut [Vec<Lit>]) {
    if sums.iter().map(Vec::len).sum::<usize>() > N_TERMS_SHARED_MAX {
        return;
    }
    loop {
        let mut n_uses: BTreeMap<(Lit, Lit), usize> = BTreeMap::new();
        for sum in sums.iter() {
            for (idx, &a) in sum.iter().enumerate() {
                for &b in &sum[idx + 1..] {
                    *n_uses.entry((a, b)).or_default() += 1;
                }
            }
        }
        let most = n_uses.iter().max_by_key(|&(&pair, &n_uses)| (n_uses, std::cmp::Reverse(pair)));
        let Some((&(a, b), 2..)) = most else { return };
        let both = net.xor(a, b);
        for sum in sums.iter_mut() {
            if sum.contains(&a) && sum.contains(&b) {
                sum.retain(|&term| term != a && term != b);
                sum.push(both);
                sum.sort_unstable();
            }
        }
    }
}
