//! Networks of two-input `and` and `xor` whose edges may be complemented: the form in which
//! circuits are searched, because there `or`, `not` and all the mixed gates are one thing.

use std::collections::HashMap;

/// A node and whether it is read complemented: `node << 1 | complemented`.
pub(super) type Lit = u32;

pub(super) const FALSE: Lit = 0;
pub(super) const TRUE: Lit = 1;

pub(super) fn node_of(lit: Lit) -> usize {
    (lit >> 1) as usize
}

pub(super) fn is_flipped(lit: Lit) -> bool {
    lit & 1 == 1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    And,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub op: Op,
    pub a: Lit,
    pub b: Lit,
}

/// What a gate folds to: an existing literal, or a node in normal form, perhaps complemented.
pub(super) enum Folded {
    Lit(Lit),
    Node(Node, bool),
}

/// Normal form: `a < b`, no constants, and `xor` of uncomplemented literals.
pub(super) fn fold(op: Op, a: Lit, b: Lit) -> Folded {
    let (a, b) = (a.min(b), a.max(b));
    match op {
        Op::And if a == FALSE || a == b ^ 1 => Folded::Lit(FALSE),
        Op::And if a == TRUE || a == b => Folded::Lit(b),
        Op::Xor if node_of(a) == node_of(b) => Folded::Lit((a ^ b) & 1),
        Op::Xor if node_of(a) == 0 => Folded::Lit(b ^ a),
        Op::And => Folded::Node(Node { op, a, b }, false),
        Op::Xor => Folded::Node(Node { op, a: a & !1, b: b & !1 }, (a ^ b) & 1 == 1),
    }
}

/// Node 0 is the constant false, nodes `1..=n_inputs` are the inputs, then come the gates in
/// an order in which each reads only earlier nodes.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub n_inputs: u32,
    pub gates: Vec<Node>,
    pub outputs: Vec<Lit>,
}

impl Network {
    /// The index of the node that gate `gates[0]` drives.
    pub fn first_gate(&self) -> usize {
        self.n_inputs as usize + 1
    }

    /// The gates that an output needs, by node index.
    pub fn live(&self) -> Vec<bool> {
        let first_gate = self.first_gate();
        let mut live = vec![false; first_gate + self.gates.len()];
        for &output in &self.outputs {
            live[node_of(output)] = true;
        }
        for (idx, gate) in self.gates.iter().enumerate().rev() {
            if live[first_gate + idx] {
                live[node_of(gate.a)] = true;
                live[node_of(gate.b)] = true;
            }
        }
        live
    }

    /// How many gates the outputs need.
    pub fn n_live(&self) -> usize {
        self.live()[self.first_gate()..].iter().filter(|&&live| live).count()
    }
}

/// A network that grows gate by gate and in which no gate occurs twice.
#[derive(Clone, Debug)]
pub(super) struct NetworkBuilder {
    net: Network,
    known: HashMap<Node, Lit>,
}

impl NetworkBuilder {
    pub fn new(n_inputs: u32) -> NetworkBuilder {
        let net = Network { n_inputs, gates: Vec::new(), outputs: Vec::new() };
        NetworkBuilder { net, known: HashMap::new() }
    }

    /// The network with these outputs.
    pub fn finish(mut self, outputs: Vec<Lit>) -> Network {
        self.net.outputs = outputs;
        self.net
    }

    pub fn n_inputs(&self) -> u32 {
        self.net.n_inputs
    }

    /// The gates from node `node` on.
    pub fn gates_from(&self, node: usize) -> &[Node] {
        &self.net.gates[node - self.net.first_gate()..]
    }

    /// Removes the gates from node `n_nodes` on.
    pub fn truncate(&mut self, n_nodes: usize) {
        for gate in self.net.gates.drain(n_nodes - 1 - self.net.n_inputs as usize..) {
            self.known.remove(&gate);
        }
    }

    pub fn input(&self, input: u32) -> Lit {
        (input + 1) << 1
    }

    pub fn apply(&mut self, op: Op, a: Lit, b: Lit) -> Lit {
        let (node, flip) = match fold(op, a, b) {
            Folded::Lit(lit) => return lit,
            Folded::Node(node, flip) => (node, flip),
        };
        let next = ((self.net.first_gate() + self.net.gates.len()) << 1) as Lit;
        let lit = *self.known.entry(node).or_insert(next);
        if lit == next {
            self.net.gates.push(node);
        }
        lit ^ Lit::from(flip)
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        self.apply(Op::And, a, b)
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        self.apply(Op::And, a ^ 1, b ^ 1) ^ 1
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        self.apply(Op::Xor, a, b)
    }

    /// `if select { high } else { low }`, as `low ^ (select & (low ^ high))` unless an arm is
    /// constant.
    pub fn mux(&mut self, select: Lit, high: Lit, low: Lit) -> Lit {
        match (high, low) {
            (FALSE, _) => self.and(select ^ 1, low),
            (TRUE, _) => self.or(select, low),
            (_, FALSE) => self.and(select, high),
            (_, TRUE) => self.or(select ^ 1, high),
            _ => {
                let differ = self.xor(low, high);
                let change = self.and(select, differ);
                self.xor(low, change)
            }
        }
    }
}
