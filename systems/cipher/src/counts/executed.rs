//! What one call of a function executes: each instruction as often as it ran, and where its
//! operands in memory lay.

use iced_x86::Instruction;
use serde::Serialize;

/// A call from its first instruction to its return.
#[derive(Debug, Clone)]
pub struct Executed {
    /// By address, with the number of times. A repeated string instruction counts once.
    pub instructions: Vec<(Instruction, u64)>,
    pub operands: OperandCount,
}

/// Executed instructions that read or write memory, by the address that they had, whichever
/// register it came from. Pushes, pops, calls, string instructions and addresses that are only
/// worked out are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OperandCount {
    /// In the stack frames of the function and of what it calls.
    pub frame: u64,
    /// In read-only memory: constants.
    pub constants: u64,
    /// Elsewhere: what the caller hands over and takes back.
    pub arrays: u64,
}

impl Executed {
    pub fn n_instructions(&self) -> u64 {
        self.instructions.iter().map(|instruction| instruction.1).sum()
    }
}
