//! Straight pieces of a function: instructions one after the other that control enters at the first
//! alone, and on the paths that are to be fast leaves at the last alone.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::decode::code::{Delay, Flow};
use crate::facts::landings::landings;
use crate::order::faster::FastPath;
use crate::program::function::Function;

/// All pieces with something to turn round that lie on one of these paths. An instruction for which
/// `border` says so is in none, and what comes after it begins another.
pub fn pieces(
    function: &Function,
    paths: &[FastPath<'_>],
    border: impl Fn(usize) -> bool,
) -> Vec<Range<usize>> {
    let n = function.instructions.len();
    let is_led_to = function.led_to();
    let mut begins: BTreeSet<usize> = (0..n).filter(|idx| is_led_to[*idx]).collect();
    begins.extend(landings(function));
    // A path that leaves a piece in its middle would take what was moved up for nothing.
    begins.extend(paths.iter().flat_map(FastPath::leaves));
    let mut pieces = Vec::new();
    let mut first = 0;
    for idx in 0..n {
        let instruction = &function.instructions[idx];
        if begins.contains(&idx) {
            pieces.push(first..idx);
            first = idx;
        }
        // What lies below the stack pointer is lost to the next signal: an access to the frame keeps
        // its side of all that moves it, whichever register it goes by.
        let stack_pointer = function.isa.conventions().stack_pointer;
        let moves_stack = instruction.writes.iter().any(|write| write.reg == stack_pointer);
        let is_border = border(idx)
            || moves_stack
            || instruction.is_unknown()
            || instruction.delay != Delay::None
            || function.is_patched(idx);
        if is_border {
            pieces.push(first..idx);
            // What stands in a delay slot belongs to its branch.
            first = idx + 1 + usize::from(instruction.delay != Delay::None);
        }
        let goes_on = match instruction.flow {
            Flow::Next | Flow::Call { .. } => true,
            Flow::Branch { is_conditional, .. } => is_conditional,
            Flow::LastCall | Flow::Return | Flow::Resume | Flow::Jump => instruction.is_guarded(),
            Flow::Stop => false,
        };
        if !goes_on && first <= idx {
            pieces.push(first..idx + 1);
            first = idx + 1;
        }
    }
    pieces.push(first.min(n)..n);
    pieces.retain(|piece| piece.len() > 1 && paths.iter().any(|path| path.passes(piece)));
    pieces
}
