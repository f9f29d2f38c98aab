//! The syntax tree of an Usuba program, as written: nothing is resolved yet.

use std::rc::Rc;

use num_bigint::BigUint;

use super::source::{Loc, Sources};

/// A whole program: every definition of every file, in order.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Where the text came from.
    pub sources: Sources,
    /// Definitions in the order of the text, included files in place.
    pub defs: Vec<Rc<Def>>,
    /// Remarks on text that is easy to misread.
    pub warnings: Vec<report::Diagnostic>,
}

/// A name and where it stands.
#[derive(Debug, Clone)]
pub struct Ident {
    pub name: Rc<str>,
    /// Its place in the source.
    pub loc: Loc,
}

/// `_inline`, `_no_inline`, ... before a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attr {
    /// Inline every call of this node.
    Inline,
    /// Never inline a call of this node.
    NoInline,
    /// Leave the node out of optimisation.
    NoOpt,
    /// Interleave this many copies of the node.
    Interleave(i64),
    /// Ours: the table's first bit is the most significant of the index and of the entry.
    MsbFirst,
    /// Ours: the table's first bit is the least significant.
    LsbFirst,
}

/// A node, a table or a permutation, or an array of them.
#[derive(Debug)]
pub struct Def {
    pub name: Ident,
    /// What stands before the keyword.
    pub attrs: Vec<Attr>,
    /// Inputs in order, one declaration a name.
    pub params: Vec<Decl>,
    pub returns: Vec<Decl>,
    /// The body or bodies.
    pub body: DefBody,
    /// Written with `[]`: called as `f<i>(..)`.
    pub is_array: bool,
}

/// What a definition consists of; one entry unless it is an array.
#[derive(Debug)]
pub enum DefBody {
    Nodes(Vec<Body>),
    /// 1-based input positions of each output.
    Perms(Vec<IntList>),
    /// Entries for each index.
    Tables(Vec<IntList>),
}

/// `{1, 2, 3}` of a table or perm.
#[derive(Debug)]
pub struct IntList {
    pub ints: Vec<BigUint>,
    pub loc: Loc,
}

/// `vars .. let .. tel`.
#[derive(Debug)]
pub struct Body {
    /// Local variables, one declaration a name.
    pub vars: Vec<Decl>,
    /// The equations in the order of the text.
    pub eqs: Vec<Eqn>,
    /// From `vars` or `let` to `tel`.
    pub loc: Loc,
}

#[derive(Debug, Clone)]
pub struct Decl {
    pub name: Ident,
    pub ty: Type,
    /// Declared `const`: the same value in all slices.
    pub is_const: bool,
}

/// A type as written; sizes are already numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    Nat,
    /// Words, possibly in arrays.
    Words {
        /// How the bits of a word are sliced.
        dir: Dir,
        /// Bits of a word.
        m: Size,
        /// Array sizes, outermost first; the `xn` of the base type comes last.
        dims: Vec<u32>,
    },
}

/// The slicing direction of a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Dir {
    /// Horizontal: the bits of a word lie in different elements of a register.
    H,
    /// Vertical: the bits of a word lie together.
    V,
    /// Bitsliced: every bit in a register of its own.
    B,
    Slice(u32),
    /// A direction variable; `D` where nothing is written.
    Var(Rc<str>),
}

/// The size of a word in bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Size {
    /// A number of bits.
    Fixed(u32),
    /// A size variable; `m` in `v4`.
    Var(Rc<str>),
}

/// An equation or a loop of them.
#[derive(Debug)]
pub enum Eqn {
    /// `pat = expr`, `pat := expr`, `pat ^= expr`.
    Assign(Assign),
    /// `forall i in [a, b] { .. }`.
    Forall(Forall),
}

#[derive(Debug)]
pub struct Assign {
    pub pat: Vec<Access>,
    /// `:=` and `op=`: later uses see the new value.
    pub imperative: bool,
    /// The value; `x op= e` is already `x op (e)`.
    pub expr: Expr,
    pub loc: Loc,
}

/// A loop over static numbers, bounds included, downwards when `first > last`.
#[derive(Debug)]
pub struct Forall {
    pub index: Ident,
    pub first: AExpr,
    pub last: AExpr,
    /// `_unroll` is `Some(true)`, `_no_unroll` is `Some(false)`.
    pub unroll: Option<bool>,
    pub eqs: Vec<Eqn>,
    pub loc: Loc,
}

#[derive(Debug, Clone)]
pub struct Access {
    pub name: Ident,
    pub indices: Vec<Index>,
    pub loc: Loc,
}

/// One pair of brackets.
#[derive(Debug, Clone)]
pub enum Index {
    At(AExpr),
    /// From one to the other, both included, in this order.
    Range(AExpr, AExpr),
    /// These elements in this order.
    List(Vec<AExpr>),
}

#[derive(Debug, Clone)]
pub struct AExpr {
    pub kind: AExprKind,
    /// Its place in the source.
    pub loc: Loc,
}

/// The forms of static arithmetic.
#[derive(Debug, Clone)]
pub enum AExprKind {
    Int(i64),
    /// A loop index or nat parameter.
    Name(Rc<str>),
    Bin(ArithOp, Box<AExpr>, Box<AExpr>),
}

/// `+ - * / %`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArithOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitOp {
    And,
    Or,
    Xor,
}

/// `<< >> >>! <<< >>>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShiftOp {
    Left,
    Right,
    RightArith,
    RotLeft,
    RotRight,
}

#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    /// Its place in the source.
    pub loc: Loc,
}

/// The forms of expressions.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// An integer that takes its type from the other operand.
    Int(BigUint),
    TypedInt(BigUint, Type),
    /// A variable, a part of one, or a static name used as a number.
    Access(Access),
    Tuple(Vec<Expr>),
    /// `Shuffle(x, [..])` and `x{..}`.
    Shuffle(Access, Vec<(i64, Loc)>),
    Bitmask(Box<Expr>, AExpr),
    /// `Pack(high, low) : type`.
    Pack(Box<Expr>, Box<Expr>, Option<Type>),
    Call {
        name: Ident,
        /// Which element of an array of nodes.
        index: Option<AExpr>,
        args: Vec<Expr>,
    },
    Not(Box<Expr>),
    Bit(BitOp, Box<Expr>, Box<Expr>),
    /// `+ - * / %` on words.
    Arith(ArithOp, Box<Expr>, Box<Expr>),
    /// A shift or rotation by a static amount.
    Shift(ShiftOp, Box<Expr>, AExpr),
}

impl Type {
    /// Number of atoms (words) of a value of this type.
    pub fn n_atoms(&self) -> u64 {
        match self {
            Type::Nat => 0,
            Type::Words { dims, .. } => dims.iter().map(|d| u64::from(*d)).product(),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Nat => write!(f, "nat"),
            Type::Words { dir, m, dims } => {
                let dir = match dir {
                    Dir::Var(v) if &**v == "D" => String::new(),
                    dir => format!("<{dir}>"),
                };
                match (m, dims.split_last()) {
                    (Size::Fixed(1), Some((n, outer))) => write!(f, "b{dir}{n}{}", brackets(outer)),
                    (Size::Var(v), Some((n, outer))) if &**v == "m" => {
                        write!(f, "v{dir}{n}{}", brackets(outer))
                    }
                    (_, Some((n, outer))) => write!(f, "u{dir}{m}x{n}{}", brackets(outer)),
                    (_, None) => write!(f, "u{dir}{m}"),
                }
            }
        }
    }
}

fn brackets(dims: &[u32]) -> String {
    dims.iter().map(|d| format!("[{d}]")).collect()
}

impl std::fmt::Display for Dir {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Dir::H => write!(f, "H"),
            Dir::V => write!(f, "V"),
            Dir::B => write!(f, "B"),
            Dir::Slice(n) => write!(f, "{n}"),
            Dir::Var(v) => write!(f, "'{v}"),
        }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Size::Fixed(n) => write!(f, "{n}"),
            Size::Var(v) => write!(f, "'{v}"),
        }
    }
}
