//! Shared decision diagrams with complemented edges: the baseline.
//!
//! ```text
//! f = x ? f1 : f0    --->    f = f0 ^ (x & (f0 ^ f1)), or one gate when an arm is constant
//! ```
//!
//! Source: the order is the exact optimum for the number of gates before sharing of `f0 ^ f1`,
//! by dynamic programming over the sets of variables below a level: S. Friedman and
//! K. Supowit, "Finding the optimal variable ordering for binary decision diagrams", 1990.

use std::collections::HashMap;

use crate::circuit::network::{FALSE, Lit, Network, NetworkBuilder, TRUE};

use super::N_INPUTS_SEARCHED;

/// The diagram of all `columns` with the best order of variables. Above
/// [`N_INPUTS_SEARCHED`] inputs the order is the given one, input 0 on top.
pub(super) fn network(n_inputs: u32, columns: &[Vec<bool>]) -> Network {
    let order = if n_inputs <= N_INPUTS_SEARCHED {
        best_order(n_inputs, columns)
    } else {
        (0..n_inputs).rev().collect()
    };
    let mut net = NetworkBuilder::new(n_inputs);
    let mut level = Level::bottom(columns);
    for &var in &order {
        let select = net.input(var);
        level = level.join(var, |low, high| net.mux(select, high, low));
    }
    net.finish(level.functions.iter().map(|function| function[0]).collect())
}

/// The cofactors of all outputs over a set of variables, each a name that is a literal: equal
/// names mean equal functions, names that differ in bit 0 mean complements.
struct Level {
    /// The set, one bit a variable.
    below: u32,
    /// For each output, one cofactor an assignment of the other variables, these packed
    /// together in ascending order.
    functions: Vec<Vec<Lit>>,
}

impl Level {
    fn bottom(columns: &[Vec<bool>]) -> Level {
        let constant = |&bit: &bool| if bit { TRUE } else { FALSE };
        let functions =
            columns.iter().map(|column| column.iter().map(constant).collect()).collect();
        Level { below: 0, functions }
    }

    /// Puts `var` on top; `name(low, high)` names the function of two different cofactors.
    fn join(&self, var: u32, mut name: impl FnMut(Lit, Lit) -> Lit) -> Level {
        let position = var - (self.below & ((1 << var) - 1)).count_ones();
        let bit = 1usize << position;
        let mut join_one = |function: &Vec<Lit>| {
            let others = 0..function.len() / 2;
            others
                .map(|idx| {
                    let low = (idx & !(bit - 1)) << 1 | idx & (bit - 1);
                    match (function[low], function[low | bit]) {
                        (same, other) if same == other => same,
                        (low, high) => name(low, high),
                    }
                })
                .collect()
        };
        let functions = self.functions.iter().map(&mut join_one).collect();
        Level { below: self.below | 1 << var, functions }
    }

    /// As [`Level::join`], with fresh names; also the number of gates of the new functions.
    fn join_counted(&self, var: u32) -> (Level, u32) {
        let mut names: HashMap<(Lit, Lit), Lit> = HashMap::new();
        let mut n_gates = 0;
        // Names from below may pass through, so fresh ones start above them all.
        let largest = self.functions.iter().flatten().max().map_or(0, |name| name >> 1);
        let level = self.join(var, |low, high| {
            let flip = low & 1;
            let next = (largest + 1 + names.len() as Lit) << 1;
            let name = *names.entry((low ^ flip, high ^ flip)).or_insert_with(|| {
                n_gates += mux_cost(low ^ flip, high ^ flip);
                next
            });
            name ^ flip
        });
        (level, n_gates)
    }
}

/// The gates of one multiplexer.
fn mux_cost(low: Lit, high: Lit) -> u32 {
    match (low, high) {
        (FALSE | TRUE, FALSE | TRUE) => 0,
        (FALSE | TRUE, _) | (_, FALSE | TRUE) => 1,
        _ if low == high ^ 1 => 1,
        _ => 3,
    }
}

/// The order with the fewest gates, bottom variable first.
fn best_order(n_inputs: u32, columns: &[Vec<bool>]) -> Vec<u32> {
    let n_sets = 1usize << n_inputs;
    let mut levels: Vec<Option<Level>> = (0..n_sets).map(|_| None).collect();
    let mut best: Vec<Option<(u32, u32)>> = vec![None; n_sets]; // gates so far, last variable
    levels[0] = Some(Level::bottom(columns));
    best[0] = Some((0, 0));
    for set in 0..n_sets {
        let level = levels[set].take().expect("sets are visited after their subsets");
        let (gates_below, _) = best[set].expect("sets are visited after their subsets");
        for var in (0..n_inputs).filter(|var| set >> var & 1 == 0) {
            let (above, n_gates) = level.join_counted(var);
            let to = set | 1 << var;
            let total = gates_below + n_gates;
            if best[to].is_none_or(|(old, _)| total < old) {
                best[to] = Some((total, var));
            }
            levels[to].get_or_insert(above);
        }
    }
    let mut order = Vec::new();
    let mut set = n_sets - 1;
    while set != 0 {
        let (_, var) = best[set].expect("every set was reached");
        order.push(var);
        set &= !(1 << var);
    }
    order.reverse();
    order
}
