//! The core form of a program: nodes of equations over single words, every element written once.
//!
//! ```text
//! node sbox(a[4]) -> (b[4])            len of a variable = number of words (atoms)
//!   t = and a[0], a[1]
//!   b[0] = xor t, a[2]
//!   loop i0 < 8: s[4*i0+4] = xor s[4*i0], b[0]
//! ```
//!
//! Indices are affine in the counters of the loops around them; counters run from 0.

pub mod eval;
mod print;
pub mod verify;
pub mod visit;

use std::rc::Rc;

use smallvec::{SmallVec, smallvec};
use thin_vec::ThinVec;

use crate::syntax::{Loc, Sources};

macro_rules! id {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the table it belongs to.
            pub fn idx(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(NodeId, "A node of the program.");
id!(VarId, "A variable of a node.");
id!(LoopId, "A loop of a node.");

/// How the bits of a word lie in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dir {
    /// In different elements of one register.
    H,
    /// Together in one element.
    V,
    /// Each in a register of its own.
    B,
    /// Generalised m-slicing, which no back end supports.
    Slice(u32),
    /// Unknown, because the node is checked on its own.
    Any,
}

/// The type of one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ty {
    /// Bits; from [`RIGID`] up it stands for a size variable of a node that is checked on its own.
    pub m: u32,
    pub dir: Dir,
}

/// Sizes from here on are size variables, not numbers of bits.
pub const RIGID: u32 = 1000;

/// A program: nodes call nodes that come earlier.
#[derive(Debug, Default, Clone)]
pub struct Program {
    /// The files, for messages and `#line`.
    pub sources: Sources,
    pub nodes: Vec<Node>,
    /// The nodes that C code calls, in the order of the request.
    pub entries: Vec<NodeId>,
}

#[derive(Debug, Clone)]
pub struct Node {
    /// Unique, a C identifier up to primes.
    pub name: Rc<str>,
    pub vars: Vec<Var>,
    /// Inputs, in order; written by the caller.
    pub params: Vec<VarId>,
    /// Outputs, in order; every element written once.
    pub results: Vec<VarId>,
    pub body: Body,
    /// `_inline` is `Some(true)`, `_no_inline` is `Some(false)`.
    pub inline: Option<bool>,
    /// `_no_opt`: leave as it is.
    pub no_opt: bool,
    /// Made from a lookup table.
    pub from_table: bool,
    /// Number of loop ids in use.
    pub n_loops: u32,
    /// Its name in the source.
    pub loc: Loc,
}

/// A variable: `len` words of one type.
#[derive(Debug, Clone)]
pub struct Var {
    /// For reading and for C; not unique.
    pub name: Rc<str>,
    pub len: u32,
    pub ty: Ty,
}

/// What a node computes.
#[derive(Debug, Clone)]
pub enum Body {
    /// Equations and loops in executable order (after `order`).
    Stmts(Vec<Stmt>),
    Perm(Vec<u32>),
    Table(Table),
}

/// A lookup table over the flattened input words: bit j of the index comes from input word j
/// when there are as many words as bits, from the bits of the words otherwise.
#[derive(Debug, Clone)]
pub struct Table {
    /// Entry for each index.
    pub entries: Rc<[u64]>,
    pub n_inputs: u32,
    pub n_outputs: u32,
    /// The first input is the least significant index bit, the first output the least significant.
    pub lsb_first: bool,
}

/// A step of a node.
#[derive(Debug, Clone)]
pub enum Stmt {
    Eq(Eq),
    Call(Call),
    /// A loop kept as a loop.
    Loop(Loop),
    /// A loop written out, iteration by iteration, before `loops` has decided about it.
    Unrolled(Unrolled),
}

/// `dst = op args`.
#[derive(Debug, Clone)]
pub struct Eq {
    /// Where the value goes.
    pub dst: Ref,
    pub op: Op,
    /// As many as [`Op::n_args`].
    pub args: Args,
    /// The equation in the source.
    pub loc: Loc,
}

/// The operands of one operation.
pub type Args = SmallVec<[Operand; 2]>;

/// `dsts = node(args)`, both flattened.
#[derive(Debug, Clone)]
pub struct Call {
    pub node: NodeId,
    /// One for each word of its results.
    pub dsts: Vec<Ref>,
    /// One for each word of its parameters.
    pub args: Vec<Operand>,
    /// Bits of each argument, since a constant has no size of its own.
    pub arg_bits: Vec<u32>,
    /// The equation in the source.
    pub loc: Loc,
}

/// `for id in 0..n`.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The counter in the indices of the body.
    pub id: LoopId,
    /// The index's name in the source.
    pub name: Rc<str>,
    pub n: u32,
    /// Values carried from one iteration to the next (after `carry`).
    pub carried: Vec<Carried>,
    pub body: Vec<Stmt>,
    /// The loop in the source.
    pub loc: Loc,
}

/// A value carried from one iteration to the next: inside the loop `var` is the value at the start
/// of the iteration, and after the loop the last value.
#[derive(Debug, Clone)]
pub struct Carried {
    /// A variable of one word, written by the loop alone.
    pub var: VarId,
    /// Its value before the first iteration.
    pub init: Operand,
    /// Its value at the end of an iteration.
    pub next: Operand,
}

/// A loop of the source, written out.
#[derive(Debug, Clone)]
pub struct Unrolled {
    /// The index's name in the source.
    pub name: Rc<str>,
    /// The statements of each iteration.
    pub iterations: Vec<Vec<Stmt>>,
    /// `_unroll` is `Some(true)`, `_no_unroll` is `Some(false)`.
    pub unroll: Option<bool>,
    /// The loop in the source.
    pub loc: Loc,
}

/// One word of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ref {
    pub var: VarId,
    pub index: Index,
}

/// `base + sum of coefficient * counter`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Index {
    /// The constant part; half a word, so that an operand is two words.
    base: i32,
    /// Loop counters with their coefficients, by loop, none zero.
    pub terms: ThinVec<(LoopId, i64)>,
}

/// A word or a constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A word of a variable.
    Ref(Ref),
    /// The same value in every slice.
    Const(u64),
}

/// Operations on words of one type; shift amounts are smaller than the word.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    Copy,
    Not,
    And,
    Or,
    Xor,
    AndNot,
    /// Any function of three words; bit `4a + 2b + c` of the number is its value.
    Ternary(u8),
    Add,
    Sub,
    Mul,
    /// Quotient; no back end has it, since no processor divides in constant time.
    Div,
    Mod,
    /// Shift towards the most significant bit; zeros come in.
    Shl(u32),
    /// Shift towards the least significant bit; zeros come in.
    Shr(u32),
    /// Shift towards the least significant bit; copies of the sign come in.
    Sar(u32),
    /// Rotation towards the most significant bit.
    Rotl(u32),
    /// Bit i of the result, counted from the most significant, is bit `pattern[i]` of the argument.
    Shuffle(ThinVec<u8>),
    /// All ones if bit n, counted from the least significant, is set, else zero.
    Bitmask(u32),
    /// The first argument above the second, which has this many bits.
    Pack(u32),
    /// The same word in new shares; only masked code has it.
    Refresh,
}

impl Stmt {
    pub fn copy(dst: Ref, value: impl Into<Operand>, loc: Loc) -> Stmt {
        Stmt::Eq(Eq { dst, op: Op::Copy, args: smallvec![value.into()], loc })
    }
}

impl Op {
    pub fn n_args(&self) -> usize {
        match self {
            Op::Copy
            | Op::Not
            | Op::Shl(_)
            | Op::Shr(_)
            | Op::Sar(_)
            | Op::Rotl(_)
            | Op::Shuffle(_)
            | Op::Bitmask(_)
            | Op::Refresh => 1,
            Op::And
            | Op::Or
            | Op::Xor
            | Op::AndNot
            | Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::Mod
            | Op::Pack(_) => 2,
            Op::Ternary(_) => 3,
        }
    }

    /// Works on each bit by itself.
    pub fn is_bitwise(&self) -> bool {
        matches!(
            self,
            Op::Copy | Op::Not | Op::And | Op::Or | Op::Xor | Op::AndNot | Op::Ternary(_)
        )
    }

    /// The bit of the argument that becomes bit `j` of an `m`-bit result, both counted from the
    /// most significant; `None` is a zero. It is `j` for operations that do not move bits.
    pub fn source_bit(&self, j: u32, m: u32) -> Option<u32> {
        match self {
            Op::Shl(n) => Some(j + n).filter(|k| *k < m),
            Op::Shr(n) => j.checked_sub(*n),
            Op::Sar(n) => Some(j.saturating_sub(*n)),
            Op::Rotl(n) => Some((j + n) % m),
            Op::Shuffle(pattern) => Some(u32::from(pattern[j as usize])).filter(|k| *k < m),
            Op::Bitmask(n) => Some(m - 1 - n),
            _ => Some(j),
        }
    }

    /// The arguments may be exchanged.
    pub fn is_commutative(&self) -> bool {
        matches!(self, Op::And | Op::Or | Op::Xor | Op::Add | Op::Mul)
    }
}

impl Ty {
    /// All bits of a word, for sizes up to 64.
    pub fn mask(self) -> u64 {
        assert!((1..=64).contains(&self.m), "mask of a word of {} bits", self.m);
        u64::MAX >> (64 - self.m)
    }
}

impl Index {
    pub fn at(base: usize) -> Index {
        Index::new(base as i64, ThinVec::new())
    }

    /// An index in the counters of `terms`, none of them zero.
    pub fn new(base: i64, terms: ThinVec<(LoopId, i64)>) -> Index {
        Index { base: base.try_into().expect("arrays have fewer than 2^31 words"), terms }
    }

    pub fn base(&self) -> i64 {
        self.base.into()
    }

    /// The value, when it is constant.
    pub fn constant(&self) -> Option<usize> {
        self.terms.is_empty().then_some(self.base as usize)
    }

    /// The value for given counters.
    pub fn eval(&self, counter: impl Fn(LoopId) -> i64) -> usize {
        let value = self.terms.iter().fold(self.base(), |sum, (id, k)| sum + k * counter(*id));
        usize::try_from(value).expect("indices are checked to be in range before loops are made")
    }

    /// `factor * self + offset`.
    pub fn scaled(&self, factor: i64, offset: i64) -> Index {
        Index::new(
            self.base() * factor + offset,
            self.terms.iter().map(|(id, k)| (*id, k * factor)).collect(),
        )
    }
}

impl Ref {
    /// A word at a constant index.
    pub fn at(var: VarId, index: usize) -> Ref {
        Ref { var, index: Index::at(index) }
    }
}

impl From<Ref> for Operand {
    fn from(place: Ref) -> Operand {
        Operand::Ref(place)
    }
}

impl Node {
    pub fn new(name: impl Into<Rc<str>>) -> Node {
        Node {
            name: name.into(),
            vars: Vec::new(),
            params: Vec::new(),
            results: Vec::new(),
            body: Body::Stmts(Vec::new()),
            inline: None,
            no_opt: false,
            from_table: false,
            n_loops: 0,
            loc: Loc::default(),
        }
    }

    pub fn var(&mut self, name: impl Into<Rc<str>>, len: u32, ty: Ty) -> VarId {
        self.vars.push(Var { name: name.into(), len, ty });
        VarId(self.vars.len() as u32 - 1)
    }

    /// Adds a loop counter.
    pub fn new_loop(&mut self) -> LoopId {
        self.n_loops += 1;
        LoopId(self.n_loops - 1)
    }

    /// Every word of these variables in order.
    pub fn words(&self, vars: &[VarId]) -> Vec<Ref> {
        vars.iter()
            .flat_map(|var| (0..self.vars[var.idx()].len as usize).map(|i| Ref::at(*var, i)))
            .collect()
    }

    /// The type of a place.
    pub fn ty(&self, place: &Ref) -> Ty {
        self.vars[place.var.idx()].ty
    }

    /// Takes the statements out, leaving none.
    pub fn take_stmts(&mut self) -> Option<Vec<Stmt>> {
        match &mut self.body {
            Body::Stmts(stmts) => Some(std::mem::take(stmts)),
            Body::Perm(_) | Body::Table(_) => None,
        }
    }
}
