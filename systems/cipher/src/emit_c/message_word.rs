//! How the bytes of messages and outputs become the words of a node.

use crate::layout::Layout;

use super::arch::Shape;

/// How the bytes of a message become words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageWord {
    pub bits: u32,
    pub is_big_endian: bool,
}

impl MessageWord {
    /// Reads `le64` or `be32`.
    pub fn parse(text: &str) -> Option<MessageWord> {
        let (order, bits) = text.split_at_checked(2)?;
        let bits = bits.parse().ok().filter(|bits| [16, 32, 64].contains(bits))?;
        ["le", "be"].contains(&order).then_some(MessageWord { bits, is_big_endian: order == "be" })
    }

    pub fn n_bytes(self) -> usize {
        self.bits as usize / 8
    }

    pub fn layout(self) -> Layout {
        let order = if self.is_big_endian { "" } else { "-" };
        let text = format!("byte:{} bit:8 -> | {order}byte bit", self.n_bytes());
        Layout::parse(&text).expect("a layout of ours")
    }

    /// C that makes `value`, copied from memory or to be copied there, the word.
    pub fn ordered(self, shape: Shape, value: &str) -> String {
        if self.is_big_endian {
            shape.big(self.bits, value)
        } else {
            shape.little(self.bits, value)
        }
    }
}
