//! What the assembler works on: straight blocks of machine operations over values, and loops around
//! them.

use smallvec::SmallVec;

use crate::ir::LoopId;

/// A value of a block, an index into [`Block::origins`].
pub type Value = u32;

/// No value: a step that only stores.
pub const NONE: Value = u32::MAX;

/// What a machine operation does; `lane` of the step is the width in bits that arithmetic works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepKind {
    And,
    Or,
    Xor,
    /// `a & ~b`; vectors only.
    AndNot,
    /// Any function of three words, as [`crate::ir::Op::Ternary`]; AVX-512 only.
    Ternary(u8),
    Add,
    Sub,
    Mul,
    /// Complement; general registers only.
    Not,
    /// Shift towards the most significant bit.
    Shl(u8),
    /// Shift towards the least significant bit.
    Shr(u8),
    /// The same with copies of the sign.
    Sar(u8),
    /// Rotation towards the most significant bit.
    Rotl(u8),
    /// Bytes of each 128 bits of `a`, chosen by `b`; vectors only.
    Bytes,
    /// The halves of each 128 bits exchanged; vectors only.
    Swap,
    Store(Memory),
    /// Stores `a` in the written buffer as the next value of this carried one, unless
    /// that has a register.
    Keep(u32),
}

impl StepKind {
    /// The two arguments may be exchanged.
    pub fn is_commutative(self) -> bool {
        matches!(self, StepKind::And | StepKind::Or | StepKind::Xor | StepKind::Add | StepKind::Mul)
    }
}

/// A word in memory: an address and an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Memory {
    /// An index into [`Function::addresses`].
    pub address: u32,
    pub offset: i32,
}

/// The address that is the bottom of the arrays of the stack frame.
pub const FRAME: u32 = 0;

/// Where an address starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// An argument of the function.
    Pointer(u32),
    /// The arrays of the stack frame, at this offset in bytes.
    Frame(i32),
    /// A table of constants, an index into [`Function::tables`].
    Table(u32),
    /// One of two buffers that are swapped at the end of each iteration, by pair; true
    /// for the written one.
    Buffer(u32, bool),
}

/// An address, which moves with the counters of loops.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    pub base: Base,
    /// Bytes for each step of a counter.
    pub terms: Vec<(LoopId, i64)>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueOrigin {
    /// A step of the block.
    Step,
    /// Memory that was written before the block.
    Memory(Memory),
    /// A constant, an index into [`Function::constants`].
    Constant(u32),
    /// The last iteration; an index into [`Block::carried`].
    Carried(u32),
}

#[derive(Debug, Clone)]
pub struct Step {
    pub kind: StepKind,
    /// Width in bits that arithmetic works on.
    pub lane: u8,
    /// The result, or [`NONE`].
    pub dst: Value,
    pub args: SmallVec<[Value; 3]>,
    /// Where the equation stands in the source: steps of one table or node have
    /// places near each other.
    pub place: u32,
}

/// A value that a loop carries from one iteration to the next.
#[derive(Debug, Clone, Copy)]
pub struct CarriedValue {
    /// At the start of the iteration.
    pub from: Value,
    pub next: Value,
    /// Byte offset in the buffers of the loop.
    pub offset: i32,
}

#[derive(Debug, Clone, Default)]
pub struct Block {
    pub steps: Vec<Step>,
    /// Where each value comes from.
    pub origins: Vec<ValueOrigin>,
    /// What stays in registers from iteration to iteration, if the block is the body of a loop.
    pub carried: Vec<CarriedValue>,
    /// Reads that must stay after a store that may write the same word: the value read,
    /// the step that stores.
    pub after: Vec<(Value, u32)>,
}

#[derive(Debug, Clone)]
pub struct StepLoop {
    pub id: LoopId,
    pub n: u32,
    pub body: Vec<BodyItem>,
    /// The two buffers of the carried values.
    pub pair: Option<u32>,
}

/// A piece of a function.
#[derive(Debug, Clone)]
pub enum BodyItem {
    Block(Block),
    Loop(StepLoop),
}

#[derive(Debug, Clone, Default)]
pub struct StepFunction {
    pub name: String,
    /// All addresses; the first is [`FRAME`].
    pub addresses: Vec<Address>,
    /// Constants of 128 bits, repeated over a vector.
    pub constants: Vec<[u64; 2]>,
    /// Arrays of constants that counters index: each word is an index into the constants, or `None`
    /// if it is never written.
    pub tables: Vec<Vec<Option<u32>>>,
    /// Its blocks and loops in order.
    pub items: Vec<BodyItem>,
    /// The two buffers of each pair, as offsets into the arrays of the frame.
    pub pairs: Vec<[i32; 2]>,
    /// Bytes of the arrays in the frame.
    pub frame_bytes: i32,
    /// Bytes of a word in memory.
    pub word_bytes: i32,
}

impl Block {
    /// The memory that a value comes from, if it does.
    pub fn memory(&self, value: Value) -> Option<Memory> {
        if let ValueOrigin::Memory(memory) = self.origins[value as usize] {
            Some(memory)
        } else {
            None
        }
    }

    /// The step that makes each value, or `u32::MAX`.
    pub fn makers(&self) -> Vec<u32> {
        let mut makers = vec![u32::MAX; self.origins.len()];
        for (at, step) in self.steps.iter().enumerate() {
            if step.dst != NONE {
                makers[step.dst as usize] = at as u32;
            }
        }
        makers
    }
}
