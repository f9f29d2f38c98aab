//! Whether two terms are equal, decided near them: by cancelling what is xored, and by truth tables
//! over a cut.
//!
//! The validator executes the source and the machine code on symbols, and both become terms of one
//! graph: inputs, `and`, `xor`, moves of bits. If the compiler had only renamed and reordered,
//! equal values would be one node, because the graph makes no node twice. But compilers also
//! rewrite. They turn `a & ~b` into `a ^ (a & b)`, regroup sums, and replace masks by shifts. Two
//! roots of a cipher are then tens of thousands of nodes apart from being the same, and no prover
//! could compare them whole. What saves us is that a compiler rewrites a few operations at a time.
//! So the question is asked for each new node as it is made: is it one that is there already? The
//! two differ only near their tops, and once they are known to be one node all that is built on
//! them agrees again.
//!
//! ```text
//! n = (a ^ b) ^ c, r = a ^ (b ^ c)      n ^ r, written out from the youngest node down, cancels to 0
//! n = a & ~b, r = a ^ (a & b)           over the cut {a, b} both have the truth table 0010
//! ```
//!
//! 1. **Cancelling.** `n ^ r` is kept as a set of nodes whose xor it is. Again and again the
//!    youngest node of the set that is itself an xor is replaced by its operands, and a node that
//!    is there twice leaves. Nodes are numbered as they are made, so the youngest is made of none
//!    of the others, and what both sides share is met on the way down. An empty set is a proof.
//! 2. **Cuts.** What is left may be made of `and`. If few nodes are left, they are written out too,
//!    again from the youngest down, and after each step the frontier, of at most [`LEAVES_MAX`]
//!    nodes, is looked at as if it were made of inputs: sixteen words of 64 bits are the truth
//!    tables of all its values, and one pass over the nodes between gives the table of `n ^ r`.
//!    Zero everywhere is a proof, since a cut gives its nodes more freedom than they have.
//! 3. **Single bits.** Where nodes move bits, whole words do not cancel but each bit may: the same
//!    again for every bit of a granule.
//! 4. **Sums.** Additions commute too. The difference of two sums is kept as how often each addend
//!    occurs, modulo the word.
//!
//! Every limit below ends a search, never a proof: what is not proved may be equal all the same,
//! and the validator says `unknown` of it.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::circuit::INPUT_WORDS;

use super::operation::Operation;
use super::terms::{Graph, Term, TermKind, ZERO};

/// Nodes that are written out to cancel.
const CANCELLED_MAX: usize = 300;
/// Terms left while cancelling whose sum is looked at over cuts, and how often.
const ROOTS_MAX: usize = 12;
const TRIES_MAX: usize = 24;
/// Nodes between the roots and the deepest cut, at first and last, and on the way.
const CONE_MAX: usize = 96;
const CONE_SMALL: usize = 12;
/// Leaves of a cut; a table then has as many as 2^10 bits.
const LEAVES_MAX: usize = 10;
const WORDS: usize = 1 << (LEAVES_MAX - 6);
/// Stands for a whole granule where a bit is expected.
const WHOLE: u32 = 255;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProofVerdict {
    Equal,
    /// Some node moves bits, so that looking at single bits may help.
    MovesBits,
    Unknown,
}

/// Where a bit comes from.
#[derive(Debug, Clone, Copy)]
enum ProofBit {
    /// From a bit of a node, or its complement.
    Of(u32, u32, bool),
    Number(bool),
}

/// What a place of the cone is made of.
#[derive(Debug, Clone, Copy)]
enum ProofStep {
    Leaf,
    Zero,
    /// Of two places, each with its complement.
    And([(u32, bool); 2]),
    Xor([(u32, bool); 2]),
}

impl Graph {
    /// Proves that a node is another one, or its complement.
    pub fn is_equal(&self, node: u32, other: u32, is_complement: bool) -> bool {
        let constant = if is_complement { self.ones() } else { 0 };
        match self.is_constant([node, other], constant, WHOLE) {
            ProofVerdict::Equal => true,
            _ if self.is_equal_sum(node, other, is_complement) => true,
            ProofVerdict::Unknown => false,
            ProofVerdict::MovesBits => (0..self.granule()).all(|bit| {
                self.is_constant([node, other], constant >> bit & 1, bit) == ProofVerdict::Equal
            }),
        }
    }

    /// Whether the xor of two nodes is this number: written out until it cancels, with cuts looked
    /// at on the way.
    fn is_constant(&self, nodes: [u32; 2], constant: u64, bit: u32) -> ProofVerdict {
        let ones = if bit == WHOLE { self.ones() } else { 1 };
        let mut constant = constant;
        let mut left: SmallVec<[u64; 16]> = SmallVec::new();
        let mut heap = BinaryHeap::new();
        nodes.iter().for_each(|node| constant ^= self.toggle(&mut heap, *node, bit));
        let (mut n_written, mut n_tries, mut moves_bits) = (0, 0, false);
        loop {
            let n_roots = left.len() + heap.len();
            let is_last = heap.is_empty();
            if n_roots == 0 {
                return if constant == 0 { ProofVerdict::Equal } else { ProofVerdict::Unknown };
            }
            if constant != 0 && constant != ones {
                moves_bits = true;
            } else if n_roots <= ROOTS_MAX && (n_tries < TRIES_MAX || is_last) {
                let roots: SmallVec<[u64; 16]> = left.iter().chain(heap.iter()).copied().collect();
                match self.cut(
                    &roots,
                    constant != 0,
                    if n_tries == 0 || is_last { CONE_MAX } else { CONE_SMALL },
                ) {
                    ProofVerdict::Equal => return ProofVerdict::Equal,
                    ProofVerdict::MovesBits => moves_bits = true,
                    ProofVerdict::Unknown => {}
                }
                n_tries += 1;
            }
            let Some(top) = heap.pop() else { break };
            n_written += 1;
            if n_written > CANCELLED_MAX {
                break;
            }
            let (node, bit) = ((top >> 8) as u32, top as u32 & 255);
            match self.kind(node) {
                TermKind::Xor(a, b) => {
                    [a, b].iter().for_each(|it| constant ^= self.toggle(&mut heap, *it, bit))
                }
                TermKind::XorConst(a, value) => constant ^= value ^ self.toggle(&mut heap, a, bit),
                TermKind::Const(value) => constant ^= value,
                _ => left.push(top),
            }
        }
        if moves_bits { ProofVerdict::MovesBits } else { ProofVerdict::Unknown }
    }

    /// Xors a node to those that are there: it joins them, or leaves them. A bit of it that is
    /// another node's bit is that one, or its complement, which is returned.
    fn toggle(&self, heap: &mut BinaryHeap<u64>, node: u32, bit: u32) -> u64 {
        let (key, complement) = match self.bit_of(node, bit) {
            ProofBit::Of(node, bit, complement) => (key(node, bit), u64::from(complement)),
            ProofBit::Number(value) => return u64::from(value),
        };
        if heap.iter().any(|it| *it == key) {
            heap.retain(|heap| *heap != key);
        } else {
            heap.push(key);
        }
        complement
    }

    /// Where a bit of a node comes from, through moves and constants; a whole
    /// granule comes from itself.
    fn bit_of(&self, node: u32, bit: u32) -> ProofBit {
        let (mut node, mut bit, mut complement) = (node, bit, false);
        if bit == WHOLE {
            return ProofBit::Of(node, bit, false);
        }
        loop {
            match self.kind(node) {
                TermKind::Const(value) => {
                    return ProofBit::Number((value >> bit & 1 == 1) != complement);
                }
                _ if self.live(Term::of(node, false)) >> bit & 1 == 0 => {
                    return ProofBit::Number(complement);
                }
                TermKind::XorConst(a, value) => {
                    complement ^= value >> bit & 1 == 1;
                    node = a;
                }
                TermKind::Gather(start, n) => {
                    let piece = self
                        .pieces(start, n)
                        .iter()
                        .find(|piece| piece.mask >> bit & 1 == 1)
                        .expect("other bits are not live");
                    bit = (bit + self.granule() - piece.turn) % self.granule();
                    node = piece.node;
                }
                TermKind::Input(_)
                | TermKind::And(..)
                | TermKind::Xor(..)
                | TermKind::Element(..) => {
                    return ProofBit::Of(node, bit, complement);
                }
            }
        }
    }

    /// Whether each bit of a node comes from the same place as that of another one, or its
    /// complement does: what moves alone can do.
    pub fn has_same_bits(&self, node: u32, other: u32, is_complement: bool) -> bool {
        (0..self.granule()).all(|bit| match (self.bit_of(node, bit), self.bit_of(other, bit)) {
            (ProofBit::Of(a, from, x), ProofBit::Of(b, to, y)) => {
                (a, from, x) == (b, to, y != is_complement)
            }
            (ProofBit::Number(a), ProofBit::Number(b)) => a == (b != is_complement),
            _ => false,
        })
    }

    /// Two sums of the same terms.
    fn is_equal_sum(&self, node: u32, other: u32, is_complement: bool) -> bool {
        let granule = self.granule();
        let addends = |node: u32| match self.kind(node) {
            TermKind::Element(at, start) => {
                let (part, args) = self.part(at, start);
                (part.operation == Operation::Add && part.bits == granule && part.n_args == 2)
                    .then(|| [args[0], args[1]])
            }
            _ => None,
        };
        if addends(node).is_none() && addends(other).is_none() {
            return false;
        }
        // How often each node occurs in the difference, and the rest, all modulo 2^granule; ~x = -x
        // - 1.
        let mut times: FxHashMap<u32, u64> = FxHashMap::default();
        let mut heap = BinaryHeap::new();
        let mut rest = 0u64;
        let mut add = |term: Term,
                       factor: u64,
                       heap: &mut BinaryHeap<u32>,
                       times: &mut FxHashMap<u32, u64>| {
            let factor = if term.is_complement() { factor.wrapping_neg() } else { factor };
            rest = if term.is_complement() { rest.wrapping_add(factor) } else { rest };
            if !times.contains_key(&term.node()) {
                heap.push(term.node());
            }
            let sum = times.entry(term.node()).or_default();
            *sum = sum.wrapping_add(factor);
        };
        add(Term::of(node, false), 1, &mut heap, &mut times);
        add(Term::of(other, is_complement), u64::MAX, &mut heap, &mut times);
        let mut n_written = 0;
        while let Some(top) = heap.pop() {
            let factor = times.remove(&top).unwrap_or(0) & self.ones();
            if factor == 0 {
                continue;
            }
            n_written += 1;
            match (self.number(Term::of(top, false)), addends(top)) {
                (Some(0), _) => {}
                (None, Some(args)) if n_written < CANCELLED_MAX => {
                    args.iter().for_each(|arg| add(*arg, factor, &mut heap, &mut times))
                }
                _ => return false,
            }
        }
        rest & self.ones() == 0
    }

    /// Whether the xor of nodes, or of single bits of them, is this constant.
    fn cut(&self, roots: &[u64], constant: bool, cone_max: usize) -> ProofVerdict {
        let mut cone = ProofCone {
            graph: self,
            places: Vec::new(),
            by_key: FxHashMap::default(),
            waiting: BinaryHeap::new(),
            order: Vec::new(),
            n_leaves: 0,
            moves_bits: false,
        };
        let roots: SmallVec<[(u32, bool); 16]> =
            roots.iter().map(|root| cone.place((root >> 8) as u32, *root as u32 & 255)).collect();
        loop {
            let n_leaves = cone.n_leaves + cone.waiting.len();
            if n_leaves <= LEAVES_MAX && cone.is_constant(&roots, constant, n_leaves) {
                return ProofVerdict::Equal;
            }
            if cone.n_leaves > LEAVES_MAX || cone.order.len() > cone_max || !cone.write_out() {
                return if cone.moves_bits {
                    ProofVerdict::MovesBits
                } else {
                    ProofVerdict::Unknown
                };
            }
        }
    }
}

/// Nodes between roots and a cut, or single bits of nodes.
struct ProofCone<'a> {
    graph: &'a Graph,
    places: Vec<ProofStep>,
    by_key: FxHashMap<u64, u32>,
    /// Places that can be written out, the youngest node first.
    waiting: BinaryHeap<(u64, u32)>,
    /// Places that are written out, in this order.
    order: Vec<u32>,
    n_leaves: usize,
    moves_bits: bool,
}

impl ProofCone<'_> {
    fn place(&mut self, node: u32, bit: u32) -> (u32, bool) {
        let (node, bit, complement) = match self.graph.bit_of(node, bit) {
            ProofBit::Of(node, bit, complement) => (node, bit, complement),
            ProofBit::Number(value) => (ZERO, bit, value),
        };
        // The number 0 is one place for all bits.
        let key = key(node, if node == ZERO { WHOLE } else { bit });
        if let Some(place) = self.by_key.get(&key) {
            return (*place, complement);
        }
        let place = self.places.len() as u32;
        self.by_key.insert(key, place);
        self.places.push(if node == ZERO { ProofStep::Zero } else { ProofStep::Leaf });
        match self.graph.kind(node) {
            _ if node == ZERO => {}
            TermKind::And(..) | TermKind::Xor(..) => self.waiting.push((key, place)),
            TermKind::Gather(..) | TermKind::XorConst(..) | TermKind::Const(_) => {
                self.moves_bits = true;
                self.n_leaves += 1;
            }
            TermKind::Input(_) | TermKind::Element(..) => self.n_leaves += 1,
        }
        (place, complement)
    }

    /// Replaces the youngest place by what it is made of; false if there is none.
    fn write_out(&mut self) -> bool {
        let Some((key, place)) = self.waiting.pop() else { return false };
        let (node, bit) = ((key >> 8) as u32, (key & 255) as u32);
        let made = match self.graph.kind(node) {
            TermKind::And(a, b) => ProofStep::And([a, b].map(|term| {
                let (place, complement) = self.place(term.node(), bit);
                (place, complement != term.is_complement())
            })),
            TermKind::Xor(a, b) => ProofStep::Xor([a, b].map(|found| self.place(found, bit))),
            _ => panic!("only these wait"),
        };
        self.places[place as usize] = made;
        self.order.push(place);
        true
    }

    /// Whether the xor of the roots is constant over the cut as it is.
    fn is_constant(&self, roots: &[(u32, bool)], constant: bool, n_leaves: usize) -> bool {
        let n_words = 1 << n_leaves.saturating_sub(6);
        let mut tables: Vec<[u64; WORDS]> = vec![[0; WORDS]; self.places.len()];
        let mut leaf = 0;
        for (table, made) in tables.iter_mut().zip(&self.places) {
            match made {
                ProofStep::Leaf => {
                    *table = variable(leaf);
                    leaf += 1;
                }
                ProofStep::Zero | ProofStep::And(_) | ProofStep::Xor(_) => {}
            }
        }
        for place in self.order.iter().rev() {
            let of = |(it, is_complement): (u32, bool), word: usize| {
                tables[it as usize][word] ^ if is_complement { u64::MAX } else { 0 }
            };
            let mut table = [0; WORDS];
            for (word, value) in table.iter_mut().enumerate().take(n_words) {
                *value = match self.places[*place as usize] {
                    ProofStep::And([a, b]) => of(a, word) & of(b, word),
                    ProofStep::Xor([a, b]) => of(a, word) ^ of(b, word),
                    ProofStep::Zero | ProofStep::Leaf => {
                        panic!("what is written out is made of others")
                    }
                };
            }
            tables[*place as usize] = table;
        }
        let expected = if constant { u64::MAX } else { 0 };
        (0..n_words).all(|word| {
            roots.iter().fold(0, |sum, it| {
                sum ^ tables[it.0 as usize][word] ^ if it.1 { u64::MAX } else { 0 }
            }) == expected
        })
    }
}

/// A node, and one of its bits or all.
fn key(node: u32, bit: u32) -> u64 {
    u64::from(node) << 8 | u64::from(bit)
}

/// The truth table of a variable.
fn variable(n: usize) -> [u64; WORDS] {
    match INPUT_WORDS.get(n) {
        Some(word) => [*word; WORDS],
        None => std::array::from_fn(|i| if i >> (n - 6) & 1 == 1 { u64::MAX } else { 0 }),
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::terms::{Graph, Term};

    fn graph() -> (Graph, [Term; 4]) {
        let mut graph = Graph::new(32, 1);
        let inputs = [(); 4].map(|()| graph.input());
        (graph, inputs)
    }

    #[test]
    fn equal_functions_are_one_term() {
        let (mut graph, [a, b, c, _]) = graph();
        // a & ~b is a ^ (a & b).
        let both = graph.and(a, b);
        let first = graph.xor(a, both);
        assert_eq!(graph.and(a, !b), first);
        // (a & b) | (~a & c) is ((b ^ c) & a) ^ c.
        let (left, right) = (graph.and(a, b), graph.and(!a, c));
        let chosen = graph.or(left, right);
        let change = graph.xor(b, c);
        let change = graph.and(change, a);
        assert_eq!(graph.xor(change, c), chosen);
        // (a ^ b) ^ c is a ^ (b ^ c).
        let (ab, bc) = (graph.xor(a, b), graph.xor(b, c));
        assert_eq!(graph.xor(ab, c), graph.xor(a, bc));
        // The same under constants that differ from bit to bit.
        let (x, y) = (graph.xor_constant(a, 0xdd81_af0a), graph.xor_constant(b, 0xae28_18d6));
        let sum = graph.xor_constant(ab, 0x73a9_b7dc);
        let first = graph.and(x, y);
        assert_eq!(graph.and(x, !sum), first);
    }
}
