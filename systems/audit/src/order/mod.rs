//! The better order as code: the compiler's own assembly with instructions of one function moved
//! inside its straight pieces, so that its path and its loops take fewer cycles.
//!
//! ```text
//! ldr  w2, [x7, x3, lsl #2]        ldr  w2, [x7, x3, lsl #2]
//! madd w1, w2, w8, w1              add  x3, x3, #1
//! add  x3, x3, #1            --->  cmp  w6, w3
//! cmp  w6, w3                      madd w1, w2, w8, w1
//! b.gt 1b                          b.gt 1b
//! ```
//!
//! 1. The function is cut into [`pieces`]: control enters one at its top alone.
//! 2. Values that a piece makes and uses up get registers of their own ([`rename`]), where some are
//!    free.
//! 3. [`faster`] looks for the order of each piece that the path or the loops around it like best.
//!    All that must stay in order does ([`depend`](crate::timing::depend)): no access passes one that
//!    it may meet, and above an exit goes only what does no harm there.
//! 4. Values that this order can do without get their old registers back.
//! 5. [`lines`] moves the lines of the assembly.
//!
//! What is made is read again, and has to hold the instructions in the order that was wanted.

pub mod faster;
pub mod lines;
pub mod pieces;
pub mod rename;

use std::collections::BTreeSet;
use std::ops::Range;

use machine::in_order::Core;

use crate::decode::code::{Flow, Reg};
use crate::facts::liveness::Liveness;
use crate::facts::recorded::Counts;
use crate::facts::steered::SourceLine;
use crate::facts::trace::Guide;
use crate::program::function::Function;
use faster::{Better, Cost, FastPath};
use lines::Listing;
use rename::{Renamed, Web};

/// In longer functions no value gets another register.
const RENAMED_MAX: usize = 3000;

/// What chooses the hot path of a function.
#[derive(Debug, Default)]
pub struct PathChoice<'a> {
    pub avoid: &'a [String],
    pub counts: Option<&'a Counts>,
    pub through: &'a [SourceLine],
}

impl PathChoice<'_> {
    pub fn guide<'f>(&'f self, function: &'f Function) -> Guide<'f> {
        Guide::new(function, self.avoid, self.counts).through(self.through)
    }
}

/// For each place of the function the instruction that is to stand there.
#[derive(Debug, Clone)]
pub struct NewOrder {
    /// The function in the old order, with new registers.
    pub function: Function,
    pub renamed: Renamed,
    pub places: Vec<usize>,
    /// The pieces whose order is another.
    pub pieces: Vec<Range<usize>>,
}

impl NewOrder {
    /// The order in which the function is written.
    pub fn as_written(function: &Function) -> NewOrder {
        NewOrder {
            function: function.clone(),
            renamed: Renamed::new(),
            places: (0..function.instructions.len()).collect(),
            pieces: Vec::new(),
        }
    }

    /// How many instructions stand elsewhere.
    pub fn n_moved(&self) -> usize {
        self.places.iter().enumerate().filter(|(place, idx)| place != *idx).count()
    }
}

/// What may be done to a function.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    pub core: &'a Core,
    pub choice: &'a PathChoice<'a>,
    /// These keep their places, and nothing passes them.
    pub stays: &'a BTreeSet<usize>,
    /// Values may get other registers.
    pub renames: bool,
}

/// The order that is found for the function; none if no other is faster.
pub fn order(function: &Function, listing: &Listing<'_>, terms: Terms<'_>) -> Option<NewOrder> {
    let Terms { core, choice, stays, renames } = terms;
    let renames = renames && function.instructions.len() <= RENAMED_MAX;
    let mut new = NewOrder::as_written(function);
    let border = |idx: usize| stays.contains(&idx) || listing.is_border(idx);
    let mut paths = FastPath::all(function, core, &choice.guide(function));
    for piece in pieces::pieces(function, &paths, border) {
        let search = PieceSearch { core, choice, listing, piece: piece.clone() };
        let written = faster::as_written(&paths, &piece);
        let plain = search.best(&new.function, &paths);
        let least = plain.as_ref().map_or(written, |better| better.cost);
        let found = renames.then(|| search.renamed(&new.function, least)).flatten();
        let better = match found {
            Some((webs, better)) => {
                let names = rename::names(&webs);
                new.function = rename::renamed(&new.function, &names);
                paths = search.paths(&new.function);
                new.renamed.extend(names);
                better
            }
            None => match plain {
                Some(better) => better,
                None => continue,
            },
        };
        new.places[piece.clone()].copy_from_slice(&better.order);
        new.pieces.push(piece);
    }
    (!new.pieces.is_empty()).then_some(new)
}

/// The search for the order of one piece.
struct PieceSearch<'a> {
    core: &'a Core,
    choice: &'a PathChoice<'a>,
    listing: &'a Listing<'a>,
    piece: Range<usize>,
}

impl<'a> PieceSearch<'a> {
    fn paths(&self, function: &Function) -> Vec<FastPath<'a>> {
        FastPath::all(function, self.core, &self.choice.guide(function))
    }

    fn best(&self, function: &Function, paths: &[FastPath<'_>]) -> Option<Better> {
        let keeps_turn = |idx: usize| self.listing.keeps_turn(idx);
        faster::order(function, self.core, paths, &self.piece, keeps_turn)
    }

    /// An order that costs less than `least`, with the values that need other registers for it.
    fn renamed(&self, function: &Function, least: Cost) -> Option<(Vec<(Web, Reg)>, Better)> {
        let live = Liveness::of(function);
        let trace = faster::trace(function, &live, &self.piece);
        let mut webs = rename::chosen(function, &live, &trace);
        if webs.is_empty() {
            return None;
        }
        let with = |webs: &[(Web, Reg)]| rename::renamed(function, &rename::names(webs));
        let all = with(&webs);
        let better = self.best(&all, &self.paths(&all)).filter(|it| it.cost.0 < least.0)?;
        for nth in (0..webs.len()).rev() {
            let mut fewer = webs.clone();
            fewer.remove(nth);
            let function = with(&fewer);
            let keeps_turn = |idx: usize| self.listing.keeps_turn(idx);
            let is_as_good = faster::allows(&function, self.core, &self.piece, &better, keeps_turn)
                && faster::cost(&self.paths(&function), &self.piece, &better.order).0
                    <= better.cost.0;
            if is_as_good {
                webs = fewer;
            }
        }
        Some((webs, better))
    }
}

/// `after` holds the instructions of the order.
pub fn is_made(order: &NewOrder, after: &Function) -> bool {
    let before = &order.function;
    before.instructions.len() == after.instructions.len()
        && order.places.iter().enumerate().all(|(place, idx)| is_same(before, *idx, after, place))
}

/// Two instructions of two files do the same, wherever they stand.
fn is_same(one: &Function, idx: usize, other: &Function, place: usize) -> bool {
    // Where a branch leads is said by place and by name: addresses may have moved.
    let shown = |function: &Function, idx: usize| {
        let instruction = &function.instructions[idx];
        let is_near = instruction.accesses.iter().any(|access| access.base.is_none());
        let address = format!("0x{:x}", instruction.address);
        match (instruction.flow, is_near) {
            (Flow::Next, false) if !instruction.text.ends_with(&address) => {
                instruction.text.clone()
            }
            (Flow::Next, true) => cut(&instruction.text, &['[', ',']),
            _ => cut(&instruction.text, &[' ', ',']),
        }
    };
    let callee = |function: &Function, idx: usize| {
        function.callees.get(&function.instructions[idx].address).cloned()
    };
    shown(one, idx) == shown(other, place)
        && one.target(idx) == other.target(place)
        && callee(one, idx) == callee(other, place)
}

/// The text before the last of these letters.
fn cut(text: &str, at: &[char]) -> String {
    text.rsplit_once(at).map_or(text, |(front, _)| front).to_owned()
}
