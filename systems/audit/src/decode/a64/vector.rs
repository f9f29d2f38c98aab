//! Vector arithmetic: not named, but its registers are never too few.

use super::{ALL, FPSR, Word, reg, vector};
use crate::decode::code::{Class, Instruction, Out, Role, Undecodable};

impl Word {
    /// Everything of the group that is not scalar floating point.
    pub(super) fn vector_group(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm) = (self.rd(), self.rn(), self.rm());
        let it = self.plain(Class::Float, format!(".inst {:#010x}", self.word));
        // Copies between a lane and a general register.
        if self.field(31, 31) == 0 && self.field(28, 21) == 0b0111_0000 && self.bit(10) && !self.bit(15) && !self.bit(29) {
            match self.field(14, 11) {
                1 | 3 => {
                    // `dup`, and `ins`, which keeps the other lanes.
                    let it = it.reads(reg(rn), ALL, Role::Source).writes(vector(rd), ALL, Out::Result);
                    return Ok(it.reads(vector(rd), ALL, Role::Source));
                }
                5 | 7 => return Ok(it.reads(vector(rn), ALL, Role::Source).writes(reg(rd), ALL, Out::Result)),
                _ => {}
            }
        }
        if self.bit(31) {
            return self.refuse("the operation is reserved or of a later version");
        }
        let it = it.reads(vector(rd), ALL, Role::Source).reads(vector(rm), ALL, Role::Source);
        // Of an element of 16 bits, the highest bit of the field belongs to the index.
        let mut it = it.reads(vector(rm & 15), ALL, Role::Source);
        // A table has up to four registers.
        for n in 0..4 {
            it = it.reads(vector((rn + n) & 31), ALL, Role::Source);
        }
        Ok(it.reads(FPSR, ALL, Role::Source).writes(vector(rd), ALL, Out::Result))
    }
}
