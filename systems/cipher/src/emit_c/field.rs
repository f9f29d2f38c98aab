//! A parameter or result as bytes.

use crate::layout::Layout;
use crate::options::Slicing;
use crate::transpose::{Direction, Moves, Problem};

use super::arch::Shape;

/// A parameter or result as bytes.
#[derive(Debug, Clone)]
pub struct Field {
    /// C identifier of the functions that move it.
    pub name: String,
    /// The place of each bit in the string.
    pub layout: Layout,
    pub n_words: usize,
    /// Bits of a word in the source.
    pub word_bits: u32,
}

impl Field {
    /// Registers that hold the field.
    pub fn n_registers(&self, shape: Shape) -> usize {
        if shape.slicing == Slicing::Bit {
            self.n_words * self.word_bits as usize
        } else {
            self.n_words
        }
    }

    /// The steps that move it; see [`Problem::moves`].
    pub fn moves(
        &self,
        shape: Shape,
        direction: Direction,
        order: Option<&[u32]>,
    ) -> Option<Moves> {
        Problem { layout: &self.layout, word_bits: self.word_bits, shape }.moves(direction, order)
    }
}
