//! Scalar floating point, halves of version 8.2 too: registers exactly, values not at all.

use super::{
    A64Word, ALL, CONDITIONS, FPSR, low_bits, name, reads_condition, reg, vector_reg, writes_flags,
};
use crate::decode::code::{Class, Instruction, Out, Role, Undecodable};

/// The number that eight bits stand for: sign, three bits of exponent around 0,
/// four bits of fraction.
pub(super) fn constant(imm: u32) -> f64 {
    let exponent = (imm >> 4 & 7) as i32;
    let exponent = if exponent & 4 != 0 { exponent - 7 } else { exponent + 1 };
    let magnitude = f64::from(16 + (imm & 15)) / 16.0 * 2_f64.powi(exponent);
    if imm & 0x80 != 0 { -magnitude } else { magnitude }
}

impl A64Word {
    pub(super) fn float_group(&self) -> Result<Instruction, Undecodable> {
        // Scalars of one and of two words; everything else is vectors.
        if self.field(30, 29) != 0 || self.field(28, 25) != 15 {
            return self.vector_group();
        }
        match (self.bit(24), self.bit(21), self.field(11, 10)) {
            (true, ..) if self.bit(31) => self.refuse("the operation is reserved"),
            (true, ..) => self.fused(),
            (false, false, _) => self.fixed_point(),
            (false, true, 0) if self.field(15, 10) == 0 => self.convert_integer(),
            (false, true, _) if self.bit(31) => self.refuse("the operation is reserved"),
            (false, true, 0) if self.field(14, 10) == 0b10000 => self.one_float_source(),
            (false, true, 0) if self.field(13, 10) == 0b1000 => self.compare_floats(),
            (false, true, 0) if self.field(12, 10) == 0b100 => self.float_constant(),
            (false, true, 1) => self.conditional_float(true),
            (false, true, 2) => self.two_float_sources(),
            (false, true, 3) => self.conditional_float(false),
            _ => self.refuse("the operation is reserved"),
        }
    }

    /// The letter of the width, and its bits.
    fn float_type(&self) -> Result<char, Undecodable> {
        match self.field(23, 22) {
            0 => Ok('s'),
            1 => Ok('d'),
            3 => Ok('h'),
            _ => self.refuse("the width is reserved"),
        }
    }

    /// An operation that rounds, and may set exceptions' flags: these add up in any order, so
    /// nothing waits for them, and an instruction that reads them is a barrier.
    fn float(&self, text: String, sources: &[u32]) -> Instruction {
        let class = match text.split(' ').next() {
            Some("fmul" | "fnmul" | "fmadd" | "fmsub" | "fnmadd" | "fnmsub") => Class::FloatMul,
            Some("fdiv" | "fsqrt") => Class::FloatDiv,
            _ => Class::Float,
        };
        let it = sources
            .iter()
            .fold(self.plain(class, text), |it, &n| it.reads(vector_reg(n), ALL, Role::Source));
        it.reads(FPSR, ALL, Role::Source)
    }

    fn fused(&self) -> Result<Instruction, Undecodable> {
        let t = self.float_type()?;
        let (rd, rn, rm, ra) = (self.rd(), self.rn(), self.rm(), self.field(14, 10));
        let mnemonic = ["fmadd", "fmsub", "fnmadd", "fnmsub"]
            [(self.field(21, 21) << 1 | self.field(15, 15)) as usize];
        let it =
            self.float(format!("{mnemonic} {t}{rd}, {t}{rn}, {t}{rm}, {t}{ra}"), &[rn, rm, ra]);
        Ok(it.writes(vector_reg(rd), ALL, Out::Result))
    }

    fn two_float_sources(&self) -> Result<Instruction, Undecodable> {
        let t = self.float_type()?;
        let (rd, rn, rm) = (self.rd(), self.rn(), self.rm());
        let names = ["fmul", "fdiv", "fadd", "fsub", "fmax", "fmin", "fmaxnm", "fminnm", "fnmul"];
        let Some(mnemonic) = names.get(self.field(15, 12) as usize) else {
            return self.refuse("the operation is reserved");
        };
        Ok(self.float(format!("{mnemonic} {t}{rd}, {t}{rn}, {t}{rm}"), &[rn, rm]).writes(
            vector_reg(rd),
            ALL,
            Out::Result,
        ))
    }

    fn one_float_source(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode) = (self.rd(), self.rn(), self.field(20, 15));
        // A conversion between widths may start from half of a word.
        let from = match self.field(23, 22) {
            0 => 's',
            1 => 'd',
            3 => 'h',
            _ => return self.refuse("the width is reserved or of a later version"),
        };
        let (mnemonic, to) = match opcode {
            0 => ("fmov", from),
            1 => ("fabs", from),
            2 => ("fneg", from),
            3 => ("fsqrt", from),
            4 if from != 's' => ("fcvt", 's'),
            5 if from != 'd' => ("fcvt", 'd'),
            7 if from != 'h' => ("fcvt", 'h'),
            8 => ("frintn", from),
            9 => ("frintp", from),
            10 => ("frintm", from),
            11 => ("frintz", from),
            12 => ("frinta", from),
            14 => ("frintx", from),
            15 => ("frinti", from),
            _ => return self.refuse("the operation is reserved or of a later version"),
        };
        Ok(self.float(format!("{mnemonic} {to}{rd}, {from}{rn}"), &[rn]).writes(
            vector_reg(rd),
            ALL,
            Out::Result,
        ))
    }

    fn compare_floats(&self) -> Result<Instruction, Undecodable> {
        let t = self.float_type()?;
        let (rn, rm, opcode) = (self.rn(), self.rm(), self.field(4, 0));
        if self.field(15, 14) != 0 || opcode & 7 != 0 {
            return self.refuse("the comparison is reserved");
        }
        let is_zero = opcode & 8 != 0;
        let mnemonic = if opcode & 16 != 0 { "fcmpe" } else { "fcmp" };
        if is_zero {
            return Ok(writes_flags(self.float(format!("{mnemonic} {t}{rn}, #0.0"), &[rn])));
        }
        Ok(writes_flags(self.float(format!("{mnemonic} {t}{rn}, {t}{rm}"), &[rn, rm])))
    }

    /// Compares (or selects) only if a condition holds.
    fn conditional_float(&self, is_compare: bool) -> Result<Instruction, Undecodable> {
        let t = self.float_type()?;
        let (rd, rn, rm, cond) = (self.rd(), self.rn(), self.rm(), self.field(15, 12));
        let name = CONDITIONS[cond as usize];
        if is_compare {
            let mnemonic = if self.bit(4) { "fccmpe" } else { "fccmp" };
            let it = self.float(
                format!("{mnemonic} {t}{rn}, {t}{rm}, #{}, {name}", self.field(3, 0)),
                &[rn, rm],
            );
            return Ok(writes_flags(reads_condition(it, cond)));
        }
        let it = self.plain(Class::Float, format!("fcsel {t}{rd}, {t}{rn}, {t}{rm}, {name}"));
        let it =
            it.reads(vector_reg(rn), ALL, Role::Source).reads(vector_reg(rm), ALL, Role::Source);
        Ok(reads_condition(it, cond).writes(vector_reg(rd), ALL, Out::Result))
    }

    fn float_constant(&self) -> Result<Instruction, Undecodable> {
        let t = self.float_type()?;
        if self.rn() != 0 {
            return self.refuse("the constant is reserved");
        }
        let value = constant(self.field(20, 13));
        Ok(self.plain(Class::Float, format!("fmov {t}{}, #{value:.8}", self.rd())).writes(
            vector_reg(self.rd()),
            ALL,
            Out::Result,
        ))
    }

    fn convert_integer(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, is_64) = (self.rd(), self.rn(), self.is_64());
        let (rmode, opcode) = (self.field(20, 19), self.field(18, 16));
        if opcode >= 6 {
            return self.move_bits();
        }
        let t = self.float_type()?;
        let sign = if opcode & 1 != 0 { "u" } else { "s" };
        match opcode {
            2 | 3 if rmode == 0 => {
                let it = self.float(format!("{sign}cvtf {t}{rd}, {}", name(rn, is_64)), &[]);
                Ok(it.reads(reg(rn), self.all(), Role::Source).writes(
                    vector_reg(rd),
                    ALL,
                    Out::Result,
                ))
            }
            0 | 1 => {
                let letter = ["n", "p", "m", "z"][rmode as usize];
                Ok(self
                    .float(format!("fcvt{letter}{sign} {}, {t}{rn}", name(rd, is_64)), &[rn])
                    .writes(reg(rd), ALL, Out::Result))
            }
            4 | 5 if rmode == 0 => Ok(self
                .float(format!("fcvta{sign} {}, {t}{rn}", name(rd, is_64)), &[rn])
                .writes(reg(rd), ALL, Out::Result)),
            _ => self.refuse("the conversion is reserved"),
        }
    }

    /// `fmov` between general and vector registers.
    fn move_bits(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, is_64) = (self.rd(), self.rn(), self.is_64());
        let is_to_vector = self.field(18, 16) == 7;
        let (vector_text, is_high) = match (is_64, self.field(23, 22), self.field(20, 19)) {
            (false, 0, 0) => ("s", false),
            (_, 3, 0) => ("h", false),
            (true, 1, 0) => ("d", false),
            (true, 2, 1) => ("v", true),
            _ => return self.refuse("the move is reserved or of a later version"),
        };
        let lane = if is_high { ".d[1]" } else { "" };
        if is_to_vector {
            let it = self.plain(
                Class::FloatMove,
                format!("fmov {vector_text}{rd}{lane}, {}", name(rn, is_64)),
            );
            let it = it.reads(reg(rn), self.all(), Role::Source).writes(
                vector_reg(rd),
                ALL,
                Out::Result,
            );
            // The other half of the register stays.
            return Ok(if is_high { it.reads(vector_reg(rd), ALL, Role::Source) } else { it });
        }
        let it = self
            .plain(Class::FloatMove, format!("fmov {}, {vector_text}{rn}{lane}", name(rd, is_64)));
        Ok(it.reads(vector_reg(rn), ALL, Role::Source).writes(reg(rd), ALL, Out::Result))
    }

    fn fixed_point(&self) -> Result<Instruction, Undecodable> {
        let t = self.float_type()?;
        let (rd, rn, is_64) = (self.rd(), self.rn(), self.is_64());
        let scale = self.field(15, 10);
        if !is_64 && scale < 32 {
            return self.refuse("the scale is reserved");
        }
        let n_bits = 64 - scale;
        let (rmode, opcode) = (self.field(20, 19), self.field(18, 16));
        let sign = if opcode & 1 != 0 { "u" } else { "s" };
        match (rmode, opcode) {
            (0, 2 | 3) => {
                let it =
                    self.float(format!("{sign}cvtf {t}{rd}, {}, #{n_bits}", name(rn, is_64)), &[]);
                let bits = low_bits(self.width());
                Ok(it.reads(reg(rn), bits, Role::Source).writes(vector_reg(rd), ALL, Out::Result))
            }
            (3, 0 | 1) => {
                let it = self
                    .float(format!("fcvtz{sign} {}, {t}{rn}, #{n_bits}", name(rd, is_64)), &[rn]);
                Ok(it.writes(reg(rd), ALL, Out::Result))
            }
            _ => self.refuse("the conversion is reserved"),
        }
    }
}
