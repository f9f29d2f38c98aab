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
//! 2. [`faster`] looks for the order of each piece that the path or the loops around it like best.
//!    All that must stay in order does ([`depend`](crate::timing::depend)): no register is renamed,
//!    no access passes one that it may meet, and above an exit goes only what does no harm there.
//! 3. [`lines`] moves the lines of the assembly.
//!
//! What is made is read again, and has to hold the instructions in the order that was wanted.

pub mod faster;
pub mod lines;
pub mod pieces;

use std::collections::BTreeSet;

use machine::in_order::Core;

use crate::decode::code::Flow;
use crate::facts::trace::Guide;
use crate::program::function::Function;
use faster::FastPath;
use lines::Listing;

/// For each place of the function the instruction that is to stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrder {
    pub places: Vec<usize>,
}

impl NewOrder {
    /// The order in which the function is written.
    pub fn as_written(function: &Function) -> NewOrder {
        NewOrder { places: (0..function.instructions.len()).collect() }
    }

    /// How many instructions stand elsewhere.
    pub fn n_moved(&self) -> usize {
        self.places.iter().enumerate().filter(|(place, idx)| place != *idx).count()
    }
}

/// The order that is found for the function; none if no other is faster. What `stays` keeps its
/// place, and nothing passes it.
pub fn order(
    function: &Function,
    listing: &Listing<'_>,
    core: &Core,
    guide: &Guide<'_>,
    stays: &BTreeSet<usize>,
) -> Option<NewOrder> {
    let paths = FastPath::all(function, core, guide);
    let border = |idx: usize| stays.contains(&idx) || listing.is_border(idx);
    let mut new = NewOrder::as_written(function);
    for piece in pieces::pieces(function, &paths, border) {
        let found = faster::order(function, core, &paths, &piece, |idx| listing.keeps_turn(idx));
        if let Some(order) = found {
            new.places[piece].copy_from_slice(&order);
        }
    }
    (new.n_moved() > 0).then_some(new)
}

/// `after` holds the instructions of `before` in this order.
pub fn is_made(before: &Function, after: &Function, order: &NewOrder) -> bool {
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
