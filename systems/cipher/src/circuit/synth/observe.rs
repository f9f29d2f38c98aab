//! What a network computes at each node, and at which points its outputs depend on a node.

use crate::circuit::network::{Lit, Network, Node, Op, is_flipped, node_of};
use crate::circuit::truth::{self, Truth};

/// How the rest of the network depends on one node.
pub(super) struct Seen<const W: usize> {
    /// The points at which an output depends on the node.
    pub care: Truth<W>,
    /// By node: the node itself and those that read it, directly or not.
    pub reads_node: Vec<bool>,
}

/// The function of each node.
pub(super) fn simulate<const W: usize>(net: &Network) -> Vec<Truth<W>> {
    let mut truths = Vec::with_capacity(net.first_gate() + net.gates.len());
    truths.push([0; W]);
    truths.extend((0..net.n_inputs).map(truth::of_input::<W>));
    for gate in &net.gates {
        let value = evaluate(gate, &truths);
        truths.push(value);
    }
    truths
}

/// Complements `node` and compares the outputs.
pub(super) fn observe<const W: usize>(net: &Network, truths: &[Truth<W>], node: usize) -> Seen<W> {
    let mut turned = truths.to_vec();
    turned[node] = truth::flip_if(&turned[node], true);
    let mut reads_node = vec![false; turned.len()];
    reads_node[node] = true;
    for reader in node.max(net.first_gate() - 1) + 1..turned.len() {
        let gate = &net.gates[reader - net.first_gate()];
        if reads_node[node_of(gate.a)] || reads_node[node_of(gate.b)] {
            reads_node[reader] = true;
            turned[reader] = evaluate(gate, &turned);
        }
    }
    let mut care = [0; W];
    for output in net.outputs.iter().map(|&lit| node_of(lit)) {
        for word in 0..W {
            care[word] |= turned[output][word] ^ truths[output][word];
        }
    }
    Seen { care, reads_node }
}

fn evaluate<const W: usize>(gate: &Node, truths: &[Truth<W>]) -> Truth<W> {
    let read = |lit: Lit| truth::flip_if(&truths[node_of(lit)], is_flipped(lit));
    match gate.op {
        Op::And => truth::and(&read(gate.a), &read(gate.b)),
        Op::Xor => truth::xor(&read(gate.a), &read(gate.b)),
    }
}
