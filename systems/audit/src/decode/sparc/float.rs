//! Floating-point operations: registers exactly, values not at all.

use super::{ALL, F0, FCC, FSR, SparcWord};
use crate::decode::code::{Class, Instruction, Out, Reg, Role, Undecodable};

/// Code (opf), mnemonic, registers of the first operand, of the second, of the result.
const OPERATIONS: &[(u32, &str, u32, u32, u32)] = &[
    (0x01, "fmovs", 0, 1, 1),
    (0x05, "fnegs", 0, 1, 1),
    (0x09, "fabss", 0, 1, 1),
    (0x29, "fsqrts", 0, 1, 1),
    (0x2a, "fsqrtd", 0, 2, 2),
    (0x2b, "fsqrtq", 0, 4, 4),
    (0x41, "fadds", 1, 1, 1),
    (0x42, "faddd", 2, 2, 2),
    (0x43, "faddq", 4, 4, 4),
    (0x45, "fsubs", 1, 1, 1),
    (0x46, "fsubd", 2, 2, 2),
    (0x47, "fsubq", 4, 4, 4),
    (0x49, "fmuls", 1, 1, 1),
    (0x4a, "fmuld", 2, 2, 2),
    (0x4b, "fmulq", 4, 4, 4),
    (0x4d, "fdivs", 1, 1, 1),
    (0x4e, "fdivd", 2, 2, 2),
    (0x4f, "fdivq", 4, 4, 4),
    (0x69, "fsmuld", 1, 1, 2),
    (0x6e, "fdmulq", 2, 2, 4),
    (0xc4, "fitos", 0, 1, 1),
    (0xc6, "fdtos", 0, 2, 1),
    (0xc7, "fqtos", 0, 4, 1),
    (0xc8, "fitod", 0, 1, 2),
    (0xc9, "fstod", 0, 1, 2),
    (0xcb, "fqtod", 0, 4, 2),
    (0xcc, "fitoq", 0, 1, 4),
    (0xcd, "fstoq", 0, 1, 4),
    (0xce, "fdtoq", 0, 2, 4),
    (0xd1, "fstoi", 0, 1, 1),
    (0xd2, "fdtoi", 0, 2, 1),
    (0xd3, "fqtoi", 0, 4, 1),
];

/// Comparisons, which have no result but the condition.
const COMPARISONS: &[(u32, &str, u32)] = &[
    (0x51, "fcmps", 1),
    (0x52, "fcmpd", 2),
    (0x53, "fcmpq", 4),
    (0x55, "fcmpes", 1),
    (0x56, "fcmped", 2),
    (0x57, "fcmpeq", 4),
];

impl SparcWord {
    pub(super) fn float(&self) -> Result<Instruction, Undecodable> {
        let opf = self.word >> 5 & 0x1ff;
        let (rd, rs1, rs2) = (self.rd(), self.rs1(), self.rs2());
        let is_aligned = |first: u32, n: u32| first.is_multiple_of(n.max(1));
        if self.op3() == 0x35 {
            let Some(&(_, mnemonic, n)) = COMPARISONS.iter().find(|comparison| comparison.0 == opf)
            else {
                return self.refuse("the floating-point comparison is reserved");
            };
            if !is_aligned(rs1, n) || !is_aligned(rs2, n) || rd != 0 {
                return self.refuse("an operand begins at a register that is not aligned");
            }
            let it = self.plain(Class::Float, format!("{mnemonic} %f{rs1}, %f{rs2}"));
            let it = reads(reads(it, rs1, n), rs2, n).writes(FCC, 3, Out::Flag);
            return Ok(with_status(it));
        }
        let Some(&(_, mnemonic, n1, n2, n_result)) =
            OPERATIONS.iter().find(|operation| operation.0 == opf)
        else {
            return self.refuse("the floating-point operation is reserved");
        };
        if !is_aligned(rs1, n1) || !is_aligned(rs2, n2) || !is_aligned(rd, n_result) {
            return self.refuse("an operand begins at a register that is not aligned");
        }
        if n1 == 0 && rs1 != 0 {
            return self.refuse("the field of the first operand must be 0");
        }
        let text = match n1 {
            0 => format!("{mnemonic} %f{rs2}, %f{rd}"),
            _ => format!("{mnemonic} %f{rs1}, %f{rs2}, %f{rd}"),
        };
        let it = reads(reads(self.plain(Class::Float, text), rs1, n1), rs2, n2);
        let it = (rd..rd + n_result).fold(it, |idx, n| idx.writes(float(n), ALL, Out::Result));
        Ok(with_status(it))
    }
}

fn float(n: u32) -> Option<Reg> {
    Some(Reg((F0 + n) as u8))
}

fn reads(it: Instruction, first: u32, n: u32) -> Instruction {
    (first..first + n).fold(it, |idx, n| idx.reads(float(n), ALL, Role::Source))
}

/// `it`, rounding as the status register says and adding its exceptions there.
fn with_status(it: Instruction) -> Instruction {
    it.reads(FSR, ALL & !0xc00, Role::Source).writes(FSR, 0x1_c3ff, Out::Result)
}
