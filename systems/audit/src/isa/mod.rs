//! Instruction sets: words in, [`Instruction`](crate::code::Instruction)s out. One file or folder each.
