//! The F and D extensions: registers exactly, values not at all.
//!
//! Source: The RISC-V Instruction Set Manual, volume I, version 20191213, chapters 11 and 12. A
//! register counts as one piece, whichever of its halves is written. Exceptions add up in `fcsr` in
//! any order, so nothing waits for them; who reads `fcsr` is a barrier. With a rounding mode of its
//! own, or exact, an operation does not read the common one.

use super::{CSR, F0, RiscvWord, name, number, reg};
use crate::decode::code::{Class, Instruction, Out, Reg, Role, Undecodable};

const NAMES: [&str; 32] = [
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2",
    "fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9",
    "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
];

/// The name of floating-point register `n`.
pub(super) const fn float_name(n: usize) -> &'static str {
    NAMES[n]
}

fn float(n: u32) -> Option<Reg> {
    Some(Reg((F0 + n) as u8))
}

fn f(n: u32) -> &'static str {
    NAMES[n as usize]
}

impl RiscvWord {
    /// `s` or `d`, as two bits say.
    fn float_kind(&self, code: u32) -> Result<char, Undecodable> {
        match code {
            0 => Ok('s'),
            1 => Ok('d'),
            _ => self.refuse("halves and quadruple precision are not decoded"),
        }
    }

    /// The suffix of a rounding mode; the usual one is not shown.
    fn rounding(&self, usual: u32) -> Result<String, Undecodable> {
        match self.funct3() {
            5 | 6 => self.refuse("the rounding mode is reserved"),
            mode if mode == usual => Ok(String::new()),
            mode => Ok(format!(
                ", {}",
                ["rne", "rtz", "rdn", "rup", "rmm", "", "", "dyn"][mode as usize]
            )),
        }
    }

    fn reads_float(&self, it: Instruction, n: u32) -> Instruction {
        it.reads(float(n), self.all(), Role::Source)
    }

    fn writes_float(&self, it: Instruction, n: u32) -> Instruction {
        it.writes(float(n), self.all(), Out::Result)
    }

    /// Reads the common rounding mode where the word names none.
    fn rounds(&self, it: Instruction) -> Instruction {
        if self.funct3() == 7 { it.reads(CSR, self.all(), Role::Source) } else { it }
    }

    pub(super) fn float_load(&self) -> Result<Instruction, Undecodable> {
        let (mnemonic, width) = match self.funct3() {
            2 => ("flw", 4),
            3 => ("fld", 8),
            _ => return self.refuse("halves, quadruple precision and vectors are not decoded"),
        };
        let text = format!(
            "{mnemonic} {}, {}({})",
            f(self.rd()),
            number(self.immediate()),
            name(self.rs1())
        );
        let it = self.plain(Class::Load, text).reads(reg(self.rs1()), self.all(), Role::Base);
        Ok(self.writes_float(it, self.rd()).loads(reg(self.rs1()), self.immediate(), width))
    }

    pub(super) fn float_store(&self) -> Result<Instruction, Undecodable> {
        let (mnemonic, width) = match self.funct3() {
            2 => ("fsw", 4),
            3 => ("fsd", 8),
            _ => return self.refuse("halves, quadruple precision and vectors are not decoded"),
        };
        let imm = self.store_immediate();
        let text = format!("{mnemonic} {}, {}({})", f(self.rs2()), number(imm), name(self.rs1()));
        let it = self.plain(Class::Store, text).reads(reg(self.rs1()), self.all(), Role::Base);
        Ok(it.reads(float(self.rs2()), self.all(), Role::Data).stores(reg(self.rs1()), imm, width))
    }

    /// Products with a sum, rounded once.
    pub(super) fn float_fused(&self) -> Result<Instruction, Undecodable> {
        let mnemonic = ["fmadd", "fmsub", "fnmsub", "fnmadd"][(self.word >> 2 & 3) as usize];
        let (kind, mode, addend) =
            (self.float_kind(self.word >> 25 & 3)?, self.rounding(7)?, self.word >> 27);
        let operands =
            format!("{}, {}, {}, {}", f(self.rd()), f(self.rs1()), f(self.rs2()), f(addend));
        let it = self.plain(Class::Float, format!("{mnemonic}.{kind} {operands}{mode}"));
        let it = self.reads_float(self.reads_float(it, self.rs1()), self.rs2()).reads(
            float(addend),
            self.all(),
            Role::Addend,
        );
        Ok(self.rounds(self.writes_float(it, self.rd())))
    }

    pub(super) fn float_operation(&self) -> Result<Instruction, Undecodable> {
        let (kind, mode) = (self.float_kind(self.word >> 25 & 3)?, self.funct3());
        let (d, s, t) = (f(self.rd()), f(self.rs1()), f(self.rs2()));
        let two = |mnemonic: &str, mode: &str| {
            let it = self.plain(Class::Float, format!("{mnemonic}.{kind} {d}, {s}, {t}{mode}"));
            self.writes_float(
                self.reads_float(self.reads_float(it, self.rs1()), self.rs2()),
                self.rd(),
            )
        };
        let one = |text: String| {
            self.writes_float(
                self.reads_float(self.plain(Class::Float, text), self.rs1()),
                self.rd(),
            )
        };
        match self.word >> 27 {
            code @ 0..=3 => Ok(self
                .rounds(two(["fadd", "fsub", "fmul", "fdiv"][code as usize], &self.rounding(7)?))),
            11 if self.rs2() == 0 => {
                Ok(self.rounds(one(format!("fsqrt.{kind} {d}, {s}{}", self.rounding(7)?))))
            }
            // A register with its own sign, the other sign, and none.
            4 if mode <= 2 && self.rs1() == self.rs2() => {
                Ok(one(format!("{}.{kind} {d}, {s}", ["fmv", "fneg", "fabs"][mode as usize])))
            }
            4 if mode <= 2 => Ok(two(["fsgnj", "fsgnjn", "fsgnjx"][mode as usize], "")),
            5 if mode <= 1 => Ok(two(["fmin", "fmax"][mode as usize], "")),
            8 => self.float_resized(kind),
            20 if mode <= 2 => {
                let text = format!(
                    "{}.{kind} {}, {s}, {t}",
                    ["fle", "flt", "feq"][mode as usize],
                    name(self.rd())
                );
                let it = self.reads_float(
                    self.reads_float(self.plain(Class::Float, text), self.rs1()),
                    self.rs2(),
                );
                Ok(it.writes(reg(self.rd()), self.all(), Out::Result))
            }
            24 | 26 => self.float_number(kind),
            28 | 30 => self.float_moved(kind),
            _ => self.refuse("the floating-point operation is reserved"),
        }
    }

    /// From the one precision to the other.
    fn float_resized(&self, to: char) -> Result<Instruction, Undecodable> {
        let from = self.float_kind(self.rs2() & 3)?;
        if self.rs2() > 1 || from == to {
            return self.refuse("the conversion is reserved");
        }
        // Every single is a double.
        let mode = self.rounding(if to == 'd' { 0 } else { 7 })?;
        let it = self.plain(
            Class::Float,
            format!("fcvt.{to}.{from} {}, {}{mode}", f(self.rd()), f(self.rs1())),
        );
        let it = self.writes_float(self.reads_float(it, self.rs1()), self.rd());
        Ok(if to == 'd' { it } else { self.rounds(it) })
    }

    /// To and from whole numbers.
    fn float_number(&self, kind: char) -> Result<Instruction, Undecodable> {
        let whole = match self.rs2() {
            0 => "w",
            1 => "wu",
            2 if self.is_64 => "l",
            3 if self.is_64 => "lu",
            2 | 3 => return self.refuse("it is of RV64"),
            _ => return self.refuse("the conversion is reserved"),
        };
        if self.word >> 27 == 24 {
            let text = format!(
                "fcvt.{whole}.{kind} {}, {}{}",
                name(self.rd()),
                f(self.rs1()),
                self.rounding(7)?
            );
            let it = self.reads_float(self.plain(Class::Float, text), self.rs1());
            return Ok(self.rounds(it.writes(reg(self.rd()), self.all(), Out::Result)));
        }
        // Every number of 32 bits is a double.
        let is_exact = kind == 'd' && self.rs2() < 2;
        let mode = self.rounding(if is_exact { 0 } else { 7 })?;
        let bits = if self.rs2() < 2 { super::low_bits(32) } else { self.all() };
        let text = format!("fcvt.{kind}.{whole} {}, {}{mode}", f(self.rd()), name(self.rs1()));
        let it = self.writes_float(
            self.plain(Class::Float, text).reads(reg(self.rs1()), bits, Role::Source),
            self.rd(),
        );
        Ok(if is_exact { it } else { self.rounds(it) })
    }

    /// Bits as they are, and the class of a number.
    fn float_moved(&self, kind: char) -> Result<Instruction, Undecodable> {
        let letter = if kind == 'd' { 'd' } else { 'w' };
        let (to_core, mode) = (self.word >> 27 == 28, self.funct3());
        if self.rs2() != 0 || mode > u32::from(to_core) {
            return self.refuse("the floating-point operation is reserved");
        }
        if kind == 'd' && !self.is_64 && mode == 0 {
            return self.refuse("it is of RV64");
        }
        if !to_core {
            let bits = if kind == 'd' { self.all() } else { super::low_bits(32) };
            let text = format!("fmv.{letter}.x {}, {}", f(self.rd()), name(self.rs1()));
            return Ok(self.writes_float(
                self.plain(Class::Float, text).reads(reg(self.rs1()), bits, Role::Source),
                self.rd(),
            ));
        }
        let mnemonic = if mode == 1 { format!("fclass.{kind}") } else { format!("fmv.x.{letter}") };
        let it =
            self.plain(Class::Float, format!("{mnemonic} {}, {}", name(self.rd()), f(self.rs1())));
        Ok(self.reads_float(it, self.rs1()).writes(reg(self.rd()), self.all(), Out::Result))
    }
}
