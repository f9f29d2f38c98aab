//! Shrinks a network by a random walk of local replacements.
//!
//! ```text
//! node n, on which the outputs depend only at the points C:
//! n := x            where x = n on C                  saves at least one gate
//! n := x op y       where that equals n on C          never larger
//! n := x op (y op z)                                  at most one larger
//! ```
//!
//! Moves that keep the size are taken, and now and then one that adds a gate, so the walk leaves
//! local minima; the smallest network on the way, counting its `not`s, is the result. The points
//! are exact: the node is complemented and the outputs compared.
//!
//! Source: resubstitution with observability don't-cares, as in A. Mishchenko et al.,
//! "Scalable don't-care-based logic optimization and resynthesis", 2011.

use fastrand::Rng;

use crate::circuit::emit;
use crate::circuit::network::{
    self, FALSE, Folded, Lit, Network, Node, Op, TRUE, is_flipped, node_of,
};
use crate::circuit::truth::{self, Truth};

use super::keys::KeyMap;
use super::observe;

/// The length and the seed of a walk.
pub(super) struct ImproveWalk {
    /// How many truth table words may be touched, roughly.
    pub n_words: u64,
    pub seed: u64,
}

/// The smallest network on the walk, never larger than `net`.
pub(super) fn improve<const W: usize>(net: &Network, walk: &ImproveWalk) -> Network {
    let mut state = ImproveState::<W>::new(net, walk.seed);
    let mut best = state.net.clone();
    let mut best_cost = cost(&best);
    while state.n_words < walk.n_words && !state.net.gates.is_empty() {
        state.step(best_cost);
        if state.has_moved && state.net.gates.len() < best_cost {
            let now =
                state.net.gates.len() + emit::n_nots(&state.net, best_cost - state.net.gates.len());
            if now < best_cost {
                best_cost = now;
                best = state.net.clone();
            }
        }
    }
    best
}

fn cost(net: &Network) -> usize {
    net.n_live() + emit::n_nots(net, usize::MAX)
}

struct ImproveState<const W: usize> {
    net: Network,
    truths: Vec<Truth<W>>,
    rng: Rng,
    n_words: u64,
    has_moved: bool,
    keys: Vec<u64>,
}

/// What to put in the place of a node; the flag complements it.
#[derive(Clone, Copy)]
enum Change {
    Lit(Lit),
    Gate(Node, bool),
    /// `op(x, inner)`, where the first flag complements `inner`.
    Nested(Op, Lit, (Node, bool), bool),
}

/// What is known about the node to be replaced.
struct Spot<const W: usize> {
    node: usize,
    /// The points at which an output depends on the node.
    care: Truth<W>,
    /// The nodes that do not read it, directly or not, the constant left out.
    free: Vec<usize>,
}

impl<const W: usize> ImproveState<W> {
    fn new(net: &Network, seed: u64) -> ImproveState<W> {
        let mut state = ImproveState {
            net: net.clone(),
            truths: Vec::new(),
            rng: Rng::with_seed(seed),
            n_words: 0,
            has_moved: false,
            keys: Vec::new(),
        };
        // Replacing nothing removes the dead gates.
        state.net = rebuild(&state.net, usize::MAX, Change::Lit(FALSE));
        state.simulate();
        state
    }

    fn step(&mut self, best_cost: usize) {
        self.has_moved = false;
        let gate = self.rng.usize(..self.net.gates.len());
        let spot = self.observe(self.net.first_gate() + gate);
        self.n_words += (3 * W * self.truths.len()) as u64;
        let change = match self.find_lit(&spot) {
            Some(lit) => Some(Change::Lit(lit)),
            None if self.rng.bool() => self
                .find_gate(&self.truths[spot.node].clone(), &spot.care, &spot)
                .map(|(node, flip)| Change::Gate(node, flip)),
            None => self.find_nested(&spot),
        };
        let Some(change) = change else { return };
        let now = rebuild(&self.net, spot.node, change);
        let n_gates = self.net.gates.len();
        let may_grow = n_gates <= best_cost && self.rng.u8(..) < 16;
        if now.gates.len() <= n_gates + usize::from(may_grow) {
            self.net = now;
            self.simulate();
            self.has_moved = true;
        }
    }

    fn simulate(&mut self) {
        self.truths = observe::simulate(&self.net);
    }

    fn observe(&self, node: usize) -> Spot<W> {
        let seen = observe::observe(&self.net, &self.truths, node);
        let free = (1..self.truths.len()).filter(|&other| !seen.reads_node[other]).collect();
        Spot { node, care: seen.care, free }
    }

    fn value(&self, lit: Lit) -> Truth<W> {
        truth::flip_if(&self.truths[node_of(lit)], is_flipped(lit))
    }

    /// A literal, perhaps constant, that equals the node where it matters.
    fn find_lit(&self, spot: &Spot<W>) -> Option<Lit> {
        let target = &self.truths[spot.node];
        let fits = |&lit: &Lit| truth::agree(&self.value(lit), target, &spot.care);
        let others = spot.free.iter().flat_map(|&node| both(node));
        [FALSE, TRUE].into_iter().chain(others).find(fits)
    }

    /// One gate of free nodes that equals `target` on `care`, and is not there already.
    fn find_gate(
        &mut self,
        target: &Truth<W>,
        care: &Truth<W>,
        spot: &Spot<W>,
    ) -> Option<(Node, bool)> {
        let start = self.rng.usize(..spot.free.len());
        let free: Vec<usize> =
            spot.free[start..].iter().chain(&spot.free[..start]).copied().collect();
        if self.rng.bool() {
            let found = self.find_xor(target, care, spot.node, &free);
            found.or_else(|| self.find_and(target, care, spot.node, &free))
        } else {
            let found = self.find_and(target, care, spot.node, &free);
            found.or_else(|| self.find_xor(target, care, spot.node, &free))
        }
    }

    fn find_xor(
        &mut self,
        target: &Truth<W>,
        care: &Truth<W>,
        at: usize,
        free: &[usize],
    ) -> Option<(Node, bool)> {
        let old = self.net.gates[at - self.net.first_gate()];
        let first = care.iter().position(|&word| word != 0)?;
        let lowest = care[first] & care[first].wrapping_neg();
        // The key of a function or of its complement, whichever is 0 at the first point: a sum of
        // words, so that the sum of two keys is the key of the sum.
        let key_of = |truth: &Truth<W>| {
            let flip = 0u64.wrapping_sub(u64::from(truth[first] & lowest != 0));
            (0..W).fold(0, |key: u64, word| key.rotate_left(11) ^ (truth[word] ^ flip) & care[word])
        };
        let wanted = key_of(target);
        self.keys.clear();
        self.keys.extend(free.iter().map(|&node| key_of(&self.truths[node])));
        self.n_words += (2 * W * free.len()) as u64;
        let mut met = KeyMap::new(free.len());
        for (idx, &key) in self.keys.iter().enumerate() {
            if let Some(other) = met.get(key ^ wanted) {
                let (a, b) = (free[idx], free[other as usize]);
                let node =
                    Node { op: Op::Xor, a: (a.min(b) << 1) as Lit, b: (a.max(b) << 1) as Lit };
                let sum = truth::xor(&self.truths[a], &self.truths[b]);
                let flip = (sum[first] ^ target[first]) & lowest != 0;
                if node != old && truth::agree(&truth::flip_if(&sum, flip), target, care) {
                    return Some((node, flip));
                }
            }
            met.insert(key, idx as u32);
        }
        None
    }

    fn find_and(
        &mut self,
        target: &Truth<W>,
        care: &Truth<W>,
        at: usize,
        free: &[usize],
    ) -> Option<(Node, bool)> {
        let old = self.net.gates[at - self.net.first_gate()];
        for flip in [false, true] {
            let wanted = truth::and(&truth::flip_if(target, flip), care);
            let covers: Vec<(Lit, Truth<W>)> = free
                .iter()
                .flat_map(|&node| both(node))
                .map(|lit| (lit, truth::and(&self.value(lit), care)))
                .filter(|(_, value)| (0..W).all(|word| wanted[word] & !value[word] == 0))
                .collect();
            self.n_words += (W * (covers.len() * covers.len() / 2 + 2 * free.len())) as u64;
            for (idx, (a, a_value)) in covers.iter().enumerate() {
                for (b, b_value) in &covers[..idx] {
                    let node = Node { op: Op::And, a: *a.min(b), b: *a.max(b) };
                    if (0..W).all(|word| a_value[word] & b_value[word] == wanted[word])
                        && node != old
                    {
                        return Some((node, flip));
                    }
                }
            }
        }
        None
    }

    /// Two gates that equal the node where it matters, the outer one reading a random literal.
    fn find_nested(&mut self, spot: &Spot<W>) -> Option<Change> {
        let x =
            (spot.free[self.rng.usize(..spot.free.len())] << 1) as Lit ^ Lit::from(self.rng.bool());
        let value = self.value(x);
        let target = self.truths[spot.node];
        if self.rng.bool() {
            let inner = self.find_gate(&truth::xor(&target, &value), &spot.care, spot)?;
            return Some(Change::Nested(Op::Xor, x, inner, false));
        }
        let outside = truth::and(&spot.care, &truth::flip_if(&value, true));
        for flip in [false, true] {
            let wanted = truth::flip_if(&target, flip);
            if truth::is_zero(&truth::and(&wanted, &outside)) {
                let inner = self.find_gate(&wanted, &truth::and(&spot.care, &value), spot)?;
                return Some(Change::Nested(Op::And, x, inner, flip));
            }
        }
        None
    }
}

fn both(node: usize) -> [Lit; 2] {
    [(node << 1) as Lit, (node << 1) as Lit | 1]
}

/// The network with `change` in the place of `node`, without dead gates, in a valid order.
fn rebuild(net: &Network, node: usize, change: Change) -> Network {
    let mut copy = Copy {
        from: net,
        node,
        change,
        to: Network {
            n_inputs: net.n_inputs,
            gates: Vec::with_capacity(net.gates.len() + 1),
            outputs: Vec::new(),
        },
        lits: vec![None; net.first_gate() + net.gates.len()],
    };
    for idx in 0..net.first_gate() {
        copy.lits[idx] = Some((idx << 1) as Lit);
    }
    let outputs = net.outputs.iter().map(|&lit| copy.lit(lit)).collect();
    copy.to.outputs = outputs;
    copy.to
}

struct Copy<'a> {
    from: &'a Network,
    node: usize,
    change: Change,
    to: Network,
    /// The literal of each node of `from` that is copied.
    lits: Vec<Option<Lit>>,
}

impl Copy<'_> {
    fn lit(&mut self, lit: Lit) -> Lit {
        let flip = lit & 1;
        let idx = node_of(lit);
        if let Some(done) = self.lits[idx] {
            return done ^ flip;
        }
        let done = if idx == self.node {
            match self.change {
                Change::Lit(lit) => self.lit(lit),
                Change::Gate(gate, flip) => self.gate(gate) ^ Lit::from(flip),
                Change::Nested(op, x, (inner, inner_flip), flip) => {
                    let x = self.lit(x);
                    let inner = self.gate(inner) ^ Lit::from(inner_flip);
                    self.push(op, x, inner) ^ Lit::from(flip)
                }
            }
        } else {
            self.gate(self.from.gates[idx - self.from.first_gate()])
        };
        self.lits[idx] = Some(done);
        done ^ flip
    }

    fn gate(&mut self, gate: Node) -> Lit {
        let (a, b) = (self.lit(gate.a), self.lit(gate.b));
        self.push(gate.op, a, b)
    }

    fn push(&mut self, op: Op, a: Lit, b: Lit) -> Lit {
        match network::fold(op, a, b) {
            Folded::Lit(lit) => lit,
            Folded::Node(node, flip) => {
                self.to.gates.push(node);
                ((self.to.first_gate() + self.to.gates.len() - 1) << 1) as Lit | Lit::from(flip)
            }
        }
    }
}
