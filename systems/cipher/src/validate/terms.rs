//! Values as terms in a graph: equal terms are one node, and a term that is proved equal to an
//! earlier one becomes that one.
//!
//! A term stands for a granule, a word of 8 to 64 bits as wide as the lanes of the program, and is
//! a node or its complement. Normal forms:
//!
//! ```text
//! x & y, x ^ y          operands in order; a constant that is xored comes last
//! gather                moves of bits, and masks: each bit of the result is a bit of another node, or 0
//! sum, product, ...     of elements, which may be wider or narrower than a granule
//! ```
//!
//! With each node goes its value for 256 bits of random inputs. A new node whose value is that of
//! an earlier one, or its complement, is compared with it by `prove`, so that both sides of a
//! comparison grow together from the inputs.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::operation::{self, ElementPart, Sample};

/// A node, or its complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(u32);

/// Granules from the least significant.
pub type Value = SmallVec<[Term; 8]>;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermKind {
    Input(u32),
    /// A number whose lowest bit is 0.
    Const(u64),
    And(Term, Term),
    Xor(u32, u32),
    /// Exclusive or with a number whose lowest bit is 0, and which is not 0.
    XorConst(u32, u64),
    /// A range of pieces.
    Gather(u32, u32),
    /// A granule of an operation on elements: its index, the range of its operands.
    Element(u32, u32),
}

/// Some bits of a node, turned left and masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    pub node: u32,
    /// By how many places they are turned to the left.
    pub turn: u32,
    pub mask: u64,
}

/// The terms of one comparison.
#[derive(Debug, Clone)]
pub struct Graph {
    granule: u32,
    kinds: Vec<TermKind>,
    samples: Vec<Sample>,
    /// Bits that are not always 0.
    live: Vec<u64>,
    /// The node before this one with the same sample up to complement.
    same: Vec<u32>,
    by_sample: FxHashMap<u64, u32>,
    pieces: Vec<Piece>,
    args: Vec<Term>,
    parts: Vec<ElementPart>,
    n_inputs: u32,
    random: fastrand::Rng,
    /// How often nodes were proved equal, and how often that failed.
    pub merges: (u64, u64),
}

const NONE: u32 = u32::MAX;
/// The node of the number 0.
pub const ZERO: u32 = 0;
/// Earlier nodes of the same sample that a new one is compared with.
const CANDIDATES_MAX: usize = 6;
/// Bits of samples below which terms that look alike are so by chance more often than not.
const SAMPLED_MIN: u32 = 24;

impl Term {
    /// A node or its complement.
    pub fn of(node: u32, is_complement: bool) -> Term {
        Term(node << 1 | u32::from(is_complement))
    }

    pub const ZERO: Term = Term(0);
    pub const ONES: Term = Term(1);

    /// A number for it.
    pub fn code(self) -> u32 {
        self.0
    }

    /// The term of that number.
    pub fn from_code(code: u32) -> Term {
        Term(code)
    }

    pub fn node(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it is the complement of its node.
    pub fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    /// The complement if so.
    fn flip(self, is_complement: bool) -> Term {
        Term(self.0 ^ u32::from(is_complement))
    }
}

impl std::ops::Not for Term {
    type Output = Term;

    fn not(self) -> Term {
        self.flip(true)
    }
}

impl Graph {
    /// No term but 0; granules of so many bits; random numbers from this seed.
    pub fn new(granule: u32, seed: u64) -> Graph {
        assert!(matches!(granule, 8 | 16 | 32 | 64), "granules are lanes of C");
        let mut graph = Graph {
            granule,
            kinds: Vec::new(),
            samples: Vec::new(),
            live: Vec::new(),
            same: Vec::new(),
            by_sample: FxHashMap::default(),
            pieces: Vec::new(),
            args: Vec::new(),
            parts: Vec::new(),
            n_inputs: 0,
            random: fastrand::Rng::with_seed(seed),
            merges: (0, 0),
        };
        let zero = graph.intern(TermKind::Const(0));
        assert_eq!(zero, Term::ZERO, "the first node is the number 0");
        graph
    }

    /// Bits of a granule.
    pub fn granule(&self) -> u32 {
        self.granule
    }

    /// A granule of ones.
    pub fn ones(&self) -> u64 {
        u64::MAX >> (64 - self.granule)
    }

    /// How many nodes there are.
    pub fn n_nodes(&self) -> usize {
        self.kinds.len()
    }

    /// What a node is.
    pub fn kind(&self, node: u32) -> TermKind {
        self.kinds[node as usize]
    }

    /// The pieces of a gather.
    pub fn pieces(&self, start: u32, n: u32) -> &[Piece] {
        &self.pieces[start as usize..(start + n) as usize]
    }

    /// A granule of an operation, and its operands.
    pub fn part(&self, at: u32, start: u32) -> (ElementPart, &[Term]) {
        let part = self.parts[at as usize];
        (part, &self.args[start as usize..(start + part.n_args) as usize])
    }

    /// A new unknown word.
    pub fn input(&mut self) -> Term {
        let input = self.n_inputs;
        self.n_inputs += 1;
        let sample = [0; 4].map(|_: u64| self.random.u64(..));
        self.push(TermKind::Input(input), sample)
    }

    pub fn constant(&mut self, value: u64) -> Term {
        let value = value & self.ones();
        let is_complement = value & 1 == 1;
        let even = if is_complement { !value & self.ones() } else { value };
        self.intern(TermKind::Const(even)).flip(is_complement)
    }

    /// The number that a term is, if it is one.
    pub fn number(&self, term: Term) -> Option<u64> {
        match self.kind(term.node()) {
            TermKind::Const(value) => {
                Some(if term.is_complement() { !value & self.ones() } else { value })
            }
            _ => None,
        }
    }

    pub fn and(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return a;
        }
        if a == !b || self.is_disjoint(a, b) {
            return Term::ZERO;
        }
        match (self.number(a), self.number(b)) {
            (_, Some(mask)) => self.gather(&[(a, 0, mask)]),
            (Some(mask), _) => self.gather(&[(b, 0, mask)]),
            _ => self.intern(TermKind::And(a.min(b), a.max(b))),
        }
    }

    pub fn or(&mut self, a: Term, b: Term) -> Term {
        if self.is_disjoint(a, b) { self.xor(a, b) } else { !self.and(!a, !b) }
    }

    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        let ((x, c), (y, d)) = (self.strip(a), self.strip(b));
        let node = if x == y {
            Term::ZERO
        } else if x == ZERO || y == ZERO {
            Term::of(x.max(y), false)
        } else if self.live[x as usize] & self.live[y as usize] == 0 {
            let ones = self.ones();
            self.gather(&[(Term::of(x, false), 0, ones), (Term::of(y, false), 0, ones)])
        } else {
            self.intern(TermKind::Xor(x.min(y), x.max(y)))
        };
        self.xor_constant(node, c ^ d)
    }

    /// Any function of three terms; bit `4a + 2b + c` of the table is its value.
    pub fn ternary(&mut self, table: u8, a: Term, b: Term, c: Term) -> Term {
        // f = f0 ^ (a & (f0 ^ f1)), where f0 and f1 are functions of b and c; a is whichever
        // operand makes these simplest.
        let turned = |order: [u32; 3]| {
            (0..8u32).fold(0u8, |out, i| {
                let bits = [i >> 2 & 1, i >> 1 & 1, i & 1];
                let from = (0..3).fold(0, |at, k| at | bits[k] << order[k]);
                out | (table >> from & 1) << i
            })
        };
        let choices = [
            (turned([2, 1, 0]), [a, b, c]),
            (turned([1, 2, 0]), [b, a, c]),
            (turned([0, 2, 1]), [c, a, b]),
        ];
        let cost = |table: u8| n_gates(table & 15) + n_gates((table >> 4 ^ table) & 15);
        let (table, [a, b, c]) =
            choices.into_iter().min_by_key(|choice| cost(choice.0)).expect("there are three");
        let low = self.binary(table & 15, b, c);
        let change = self.binary((table >> 4 ^ table) & 15, b, c);
        let high = self.and(a, change);
        self.xor(low, high)
    }

    /// Any function of two terms; bit `2a + b` of the table is its value.
    fn binary(&mut self, table: u8, a: Term, b: Term) -> Term {
        match table & 15 {
            0b0000 => Term::ZERO,
            0b1111 => Term::ONES,
            0b1010 => b,
            0b0101 => !b,
            0b1100 => a,
            0b0011 => !a,
            0b0110 => self.xor(a, b),
            0b1001 => !self.xor(a, b),
            0b1000 => self.and(a, b),
            0b0111 => !self.and(a, b),
            0b1110 => self.or(a, b),
            0b0001 => !self.or(a, b),
            0b0100 => self.and(a, !b),
            0b1011 => !self.and(a, !b),
            0b0010 => self.and(!a, b),
            _ => !self.and(!a, b),
        }
    }

    /// The bits of terms turned left by places and masked; the masks have no bit in common.
    pub fn gather(&mut self, moves: &[(Term, u32, u64)]) -> Term {
        let mut constant = 0;
        let mut pieces: SmallVec<[Piece; 8]> = SmallVec::new();
        for &(term, turn, mask) in moves {
            let (node, xored) = self.strip(term);
            constant |= self.turned(xored, turn) & mask;
            match self.kind(node) {
                TermKind::Gather(start, n) => {
                    for inner in self.pieces(start, n) {
                        let mask = self.turned(inner.mask, turn) & mask;
                        pieces.push(Piece {
                            turn: (inner.turn + turn) % self.granule,
                            mask,
                            ..*inner
                        });
                    }
                }
                _ => pieces.push(Piece {
                    node,
                    turn,
                    mask: mask & self.turned(self.live[node as usize], turn),
                }),
            }
        }
        pieces.retain(|piece| piece.mask != 0);
        pieces.sort_unstable();
        pieces.dedup_by(|next, kept| {
            let is_same = (next.node, next.turn) == (kept.node, kept.turn);
            kept.mask |= if is_same { next.mask } else { 0 };
            is_same
        });
        let node = match pieces[..] {
            [] => Term::ZERO,
            [Piece { node, turn: 0, mask }] if mask == self.live[node as usize] => {
                Term::of(node, false)
            }
            _ => self.intern_gather(&pieces),
        };
        self.xor_constant(node, constant)
    }

    fn intern_gather(&mut self, pieces: &[Piece]) -> Term {
        let start = self.pieces.len();
        self.pieces.extend_from_slice(pieces);
        let n_nodes = self.n_nodes();
        let term = self.intern(TermKind::Gather(start as u32, pieces.len() as u32));
        if self.n_nodes() == n_nodes {
            self.pieces.truncate(start);
        }
        term
    }

    /// A granule of an operation that has no normal form.
    pub fn opaque(&mut self, part: ElementPart, args: &[Term]) -> Term {
        let (start, at) = (self.args.len(), self.parts.len());
        self.args.extend_from_slice(args);
        self.parts.push(part);
        let n_nodes = self.n_nodes();
        let term = self.intern(TermKind::Element(at as u32, start as u32));
        if self.n_nodes() == n_nodes {
            self.args.truncate(start);
            self.parts.truncate(at);
        }
        term
    }

    /// Exclusive or with a number.
    pub fn xor_constant(&mut self, term: Term, constant: u64) -> Term {
        let (node, xored) = self.strip(term);
        let constant = (constant ^ xored) & self.ones();
        let is_complement = constant & 1 == 1;
        let even = if is_complement { !constant & self.ones() } else { constant };
        if node == ZERO {
            return self.constant(constant);
        }
        if even == 0 {
            return Term::of(node, is_complement);
        }
        self.intern(TermKind::XorConst(node, even)).flip(is_complement)
    }

    /// A term as a node that is no constant and has none xored, and a number to be xored.
    pub fn strip(&self, term: Term) -> (u32, u64) {
        let xored = if term.is_complement() { self.ones() } else { 0 };
        match self.kind(term.node()) {
            TermKind::Const(value) => (ZERO, value ^ xored),
            TermKind::XorConst(node, value) => (node, value ^ xored),
            _ => (term.node(), xored),
        }
    }

    /// Bits of a term that may be 1: those of its node, and those where a number that is
    /// xored has a 1.
    pub fn live(&self, term: Term) -> u64 {
        let (node, xored) = self.strip(term);
        self.live[node as usize] | xored
    }

    /// No bit can be 1 in both.
    pub fn is_disjoint(&self, a: Term, b: Term) -> bool {
        self.live(a) & self.live(b) == 0
    }

    /// No bit is 1 in both, which is proved if samples say so.
    pub fn has_no_carry(&mut self, a: Term, b: Term) -> bool {
        let (x, y) = (self.sample(a), self.sample(b));
        zip(x, y, |a, b| a & b) == [0; 4] && self.and(a, b) == Term::ZERO
    }

    /// A granule's bits turned to the left.
    pub fn turned(&self, value: u64, turn: u32) -> u64 {
        if turn == 0 {
            value
        } else {
            (value << turn | value >> (self.granule - turn)) & self.ones()
        }
    }

    /// The values of a term.
    pub fn sample(&self, term: Term) -> Sample {
        complemented(self.samples[term.node() as usize], term.is_complement())
    }

    /// The values of all nodes for other random inputs.
    pub fn resample(&mut self) -> Vec<Sample> {
        let mut samples: Vec<Sample> = Vec::with_capacity(self.n_nodes());
        for node in 0..self.n_nodes() as u32 {
            let sample = match self.kind(node) {
                TermKind::Input(_) => [0; 4].map(|_: u64| self.random.u64(..)),
                kind => self.value(kind, |term| {
                    complemented(samples[term.node() as usize], term.is_complement())
                }),
            };
            samples.push(sample);
        }
        samples
    }

    /// The node of this kind, or one that it is proved equal to.
    fn intern(&mut self, kind: TermKind) -> Term {
        let sample = self.value(kind, |term| self.sample(term));
        let is_complement = sample[0] & 1 == 1;
        let key = key(complemented(sample, is_complement));
        let mut candidates: SmallVec<[(u32, bool); CANDIDATES_MAX]> = SmallVec::new();
        let mut at = self.by_sample.get(&key).copied().unwrap_or(NONE);
        while at != NONE {
            let other = self.samples[at as usize];
            let differs = (other[0] & 1 == 1) != is_complement;
            if complemented(other, differs) == sample {
                if !differs && self.is_same(kind, self.kind(at)) {
                    return Term::of(at, false);
                }
                if candidates.len() < CANDIDATES_MAX {
                    candidates.push((at, differs));
                }
            }
            at = self.same[at as usize];
        }
        let term = self.push(kind, sample);
        // Whatever is equal only to numbers here may be one by chance; of few bits, many are.
        let is_weak = self.n_sampled(kind) < SAMPLED_MIN;
        for (other, differs) in candidates {
            let is_equal = if is_weak { Graph::has_same_bits } else { Graph::is_equal };
            if is_equal(self, term.node(), other, differs) {
                self.merges.0 += 1;
                self.pop(key);
                return Term::of(other, differs);
            }
            self.merges.1 += u64::from(!is_weak);
        }
        term
    }

    /// Bits of a sample that can differ.
    fn n_sampled(&self, kind: TermKind) -> u32 {
        let live = match kind {
            TermKind::XorConst(a, _) => self.live[a as usize],
            _ => self.live_bits(kind),
        };
        live.count_ones() * (256 / self.granule)
    }

    fn push(&mut self, kind: TermKind, sample: Sample) -> Term {
        let node = self.n_nodes() as u32;
        assert!(node < NONE / 2, "a program has fewer than 2^31 terms");
        let live = self.live_bits(kind);
        self.kinds.push(kind);
        self.samples.push(sample);
        self.live.push(live);
        let before = self.by_sample.insert(key(complemented(sample, sample[0] & 1 == 1)), node);
        self.same.push(before.unwrap_or(NONE));
        Term::of(node, false)
    }

    /// Takes the last node back.
    fn pop(&mut self, key: u64) {
        self.kinds.pop();
        self.samples.pop();
        self.live.pop();
        match self.same.pop() {
            Some(before) if before != NONE => self.by_sample.insert(key, before),
            _ => self.by_sample.remove(&key),
        };
    }

    fn is_same(&self, a: TermKind, b: TermKind) -> bool {
        match (a, b) {
            (TermKind::Gather(a, n), TermKind::Gather(b, m)) => {
                self.pieces(a, n) == self.pieces(b, m)
            }
            (TermKind::Element(a, x), TermKind::Element(b, y)) => {
                self.part(a, x) == self.part(b, y)
            }
            _ => a == b,
        }
    }

    fn live_bits(&self, kind: TermKind) -> u64 {
        let live = |node: u32| self.live[node as usize];
        match kind {
            TermKind::Const(value) => value,
            TermKind::And(a, b) => self.live(a) & self.live(b),
            TermKind::Xor(a, b) => live(a) | live(b),
            TermKind::XorConst(a, value) => live(a) | value,
            TermKind::Gather(start, n) => {
                self.pieces(start, n).iter().fold(0, |all, it| all | it.mask)
            }
            TermKind::Input(_) | TermKind::Element(..) => self.ones(),
        }
    }

    fn value(&self, kind: TermKind, of: impl Fn(Term) -> Sample) -> Sample {
        let node = |node: u32| of(Term::of(node, false));
        match kind {
            TermKind::Input(_) => panic!("inputs have the values that they were given"),
            TermKind::Const(value) => [self.spread(value); 4],
            TermKind::And(a, b) => zip(of(a), of(b), |a, b| a & b),
            TermKind::Xor(a, b) => zip(node(a), node(b), |a, b| a ^ b),
            TermKind::XorConst(a, value) => node(a).map(|node| node ^ self.spread(value)),
            TermKind::Gather(start, n) => {
                self.pieces(start, n).iter().fold([0; 4], |out, piece| {
                    let mask = self.spread(piece.mask);
                    zip(out, node(piece.node), |out, it| {
                        out | self.turned_lanes(it, piece.turn) & mask
                    })
                })
            }
            TermKind::Element(at, start) => {
                let (part, args) = self.part(at, start);
                let args: SmallVec<[Sample; 16]> = args.iter().map(|arg| of(*arg)).collect();
                operation::sample(part, &args, self.granule)
            }
        }
    }

    /// A number in every granule of 64 bits.
    fn spread(&self, value: u64) -> u64 {
        value.wrapping_mul(u64::MAX / self.ones())
    }

    fn turned_lanes(&self, value: u64, turn: u32) -> u64 {
        if turn == 0 {
            return value;
        }
        let low = self.spread((1 << turn) - 1);
        (value << turn & !low) | (value >> (self.granule - turn) & low)
    }
}

fn complemented(sample: Sample, is_complement: bool) -> Sample {
    if is_complement { sample.map(|sample| !sample) } else { sample }
}

fn zip(a: Sample, b: Sample, f: impl Fn(u64, u64) -> u64) -> Sample {
    std::array::from_fn(|i| f(a[i], b[i]))
}

fn key(sample: Sample) -> u64 {
    sample
        .iter()
        .fold(0, |key, word| (key.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Nodes that a function of two terms needs.
fn n_gates(table: u8) -> u32 {
    u32::from(!matches!(table & 15, 0b0000 | 0b1111 | 0b1010 | 0b0101 | 0b1100 | 0b0011))
}
