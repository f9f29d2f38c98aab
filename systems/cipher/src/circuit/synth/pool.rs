//! A network together with the truth table of each node, in which no function occurs twice.

use std::collections::HashMap;

use crate::circuit::network::{FALSE, Lit, NetworkBuilder, Node, Op, is_flipped, node_of};
use crate::circuit::truth::{self, Truth};

#[derive(Clone)]
pub(super) struct Pool<const W: usize> {
    pub net: NetworkBuilder,
    /// By node: the constant false, the inputs, the gates.
    pub truths: Vec<Truth<W>>,
    /// The literal of each function that is 0 for the all-zero input.
    by_truth: HashMap<Truth<W>, Lit>,
}

impl<const W: usize> Pool<W> {
    pub fn new(n_inputs: u32) -> Pool<W> {
        let mut pool = Pool {
            net: NetworkBuilder::new(n_inputs),
            truths: vec![[0; W]],
            by_truth: HashMap::from([([0; W], FALSE)]),
        };
        for input in 0..n_inputs {
            let truth = truth::of_input(input);
            pool.truths.push(truth);
            pool.by_truth.insert(truth, pool.net.input(input));
        }
        pool
    }

    pub fn truth(&self, lit: Lit) -> Truth<W> {
        truth::flip_if(&self.truths[node_of(lit)], is_flipped(lit))
    }

    /// The literal of a function, if it is there.
    pub fn find(&self, truth: &Truth<W>) -> Option<Lit> {
        let flip = truth[0] & 1;
        let lit = self.by_truth.get(&truth::flip_if(truth, flip == 1))?;
        Some(lit ^ flip as Lit)
    }

    /// Adds a gate unless its function is there.
    pub fn apply(&mut self, op: Op, a: Lit, b: Lit) -> Lit {
        let (a_truth, b_truth) = (self.truth(a), self.truth(b));
        let truth = match op {
            Op::And => truth::and(&a_truth, &b_truth),
            Op::Xor => truth::xor(&a_truth, &b_truth),
        };
        if let Some(lit) = self.find(&truth) {
            return lit;
        }
        let lit = self.net.apply(op, a, b);
        let flip = is_flipped(lit);
        // A new function has a new node: a node that existed would have been found above.
        assert_eq!(node_of(lit), self.truths.len(), "equal gates have equal functions");
        let of_node = truth::flip_if(&truth, flip);
        self.truths.push(of_node);
        let odd = of_node[0] & 1 == 1;
        self.by_truth.insert(truth::flip_if(&of_node, odd), lit & !1 | Lit::from(odd));
        lit
    }

    /// Removes the gates after the first `n_nodes` nodes, which include the
    /// constant and the inputs.
    pub fn truncate(&mut self, n_nodes: usize) {
        for truth in self.truths.drain(n_nodes..) {
            self.by_truth.remove(&truth::flip_if(&truth, truth[0] & 1 == 1));
        }
        self.net.truncate(n_nodes);
    }

    /// Puts back gates that [`Pool::truncate`] removed.
    pub fn extend(&mut self, gates: &[Node]) {
        for gate in gates {
            self.apply(gate.op, gate.a, gate.b);
        }
    }
}
