//! The operations of NEON on registers, as tables: a group each, by the field that tells them
//! apart.
//!
//! Source: Arm Architecture Reference Manual, DDI 0406C, A7.4.

use super::word::UNDEFINED;
use ElementKind::{Float as F, Integer, Plain, Polynomial, Sign, Signed};
use VectorForm::{Adds, Narrow, Turned, Usual};

/// How a row's type is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// `.s16` or `.u16`, by `U`.
    Sign,
    /// `.s16`, whatever `U` is.
    Signed,
    Integer,
    Plain,
    Polynomial,
    Float,
}

/// What a row does besides the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorForm {
    Usual,
    /// It reads its destination.
    Adds,
    /// There is no form on four words.
    Narrow,
    /// The second operand stands where others have the first.
    Turned,
}
/// An operation by its code.
#[derive(Debug, Clone, Copy)]
pub struct VectorRow {
    pub code: u32,
    /// `U` of the word; `None` if both are this row.
    pub is_unsigned: Option<bool>,
    pub name: &'static str,
    pub kind: ElementKind,
    /// Elements of bytes, half words, words, double words, by bits.
    pub sizes: u32,
    pub form: VectorForm,
}

pub const fn row(
    code: u32,
    is_unsigned: Option<bool>,
    name: &'static str,
    kind: ElementKind,
    sizes: u32,
    form: VectorForm,
) -> VectorRow {
    VectorRow { code, is_unsigned, name, kind, sizes, form }
}

pub const ANY: u32 = 15;
pub const TO_S: u32 = 7;
pub const H_S: u32 = 6;
pub const B_H: u32 = 3;
pub const B: u32 = 1;
pub const S: u32 = 4;
pub const BOTH: Option<bool> = None;
pub const CLEAR: Option<bool> = Some(false);
pub const SET: Option<bool> = Some(true);

/// Three registers of one shape, by bits 11 to 8 and 4.
pub const SAME: &[VectorRow] = &[
    row(0x00, BOTH, "vhadd", Sign, TO_S, Usual),
    row(0x01, BOTH, "vqadd", Sign, ANY, Usual),
    row(0x02, BOTH, "vrhadd", Sign, TO_S, Usual),
    row(0x04, BOTH, "vhsub", Sign, TO_S, Usual),
    row(0x05, BOTH, "vqsub", Sign, ANY, Usual),
    row(0x06, BOTH, "vcgt", Sign, TO_S, Usual),
    row(0x07, BOTH, "vcge", Sign, TO_S, Usual),
    row(0x08, BOTH, "vshl", Sign, ANY, Turned),
    row(0x09, BOTH, "vqshl", Sign, ANY, Turned),
    row(0x0a, BOTH, "vrshl", Sign, ANY, Turned),
    row(0x0b, BOTH, "vqrshl", Sign, ANY, Turned),
    row(0x0c, BOTH, "vmax", Sign, TO_S, Usual),
    row(0x0d, BOTH, "vmin", Sign, TO_S, Usual),
    row(0x0e, BOTH, "vabd", Sign, TO_S, Usual),
    row(0x0f, BOTH, "vaba", Sign, TO_S, Adds),
    row(0x10, CLEAR, "vadd", Integer, ANY, Usual),
    row(0x10, SET, "vsub", Integer, ANY, Usual),
    row(0x11, CLEAR, "vtst", Plain, TO_S, Usual),
    row(0x11, SET, "vceq", Integer, TO_S, Usual),
    row(0x12, CLEAR, "vmla", Integer, TO_S, Adds),
    row(0x12, SET, "vmls", Integer, TO_S, Adds),
    row(0x13, CLEAR, "vmul", Integer, TO_S, Usual),
    row(0x13, SET, "vmul", Polynomial, B, Usual),
    row(0x14, BOTH, "vpmax", Sign, TO_S, Narrow),
    row(0x15, BOTH, "vpmin", Sign, TO_S, Narrow),
    row(0x16, CLEAR, "vqdmulh", Signed, H_S, Usual),
    row(0x16, SET, "vqrdmulh", Signed, H_S, Usual),
    row(0x17, CLEAR, "vpadd", Integer, TO_S, Narrow),
];

/// The same of floating point, by that code and bit 21 below it; the size is that of bit 20 alone.
pub const SAME_FLOAT: &[VectorRow] = &[
    row(0x32, CLEAR, "vfma", F, S, Adds),
    row(0x33, CLEAR, "vfms", F, S, Adds),
    row(0x34, CLEAR, "vadd", F, S, Usual),
    row(0x34, SET, "vpadd", F, S, Narrow),
    row(0x35, CLEAR, "vsub", F, S, Usual),
    row(0x35, SET, "vabd", F, S, Usual),
    row(0x36, CLEAR, "vmla", F, S, Adds),
    row(0x36, SET, "vmul", F, S, Usual),
    row(0x37, CLEAR, "vmls", F, S, Adds),
    row(0x38, CLEAR, "vceq", F, S, Usual),
    row(0x38, SET, "vcge", F, S, Usual),
    row(0x39, SET, "vcgt", F, S, Usual),
    row(0x3a, SET, "vacge", F, S, Usual),
    row(0x3b, SET, "vacgt", F, S, Usual),
    row(0x3c, CLEAR, "vmax", F, S, Usual),
    row(0x3c, SET, "vpmax", F, S, Narrow),
    row(0x3d, CLEAR, "vmin", F, S, Usual),
    row(0x3d, SET, "vpmin", F, S, Narrow),
    row(0x3e, CLEAR, "vrecps", F, S, Usual),
    row(0x3e, SET, "vmaxnm", F, S, Usual),
    row(0x3f, CLEAR, "vrsqrts", F, S, Usual),
    row(0x3f, SET, "vminnm", F, S, Usual),
];

/// Three registers, some of them wider, by bits 11 to 8.
pub const DIFFERENT: &[(Shape, VectorRow)] = &[
    (Shape::Long, row(0, BOTH, "vaddl", Sign, TO_S, Usual)),
    (Shape::Wide, row(1, BOTH, "vaddw", Sign, TO_S, Usual)),
    (Shape::Long, row(2, BOTH, "vsubl", Sign, TO_S, Usual)),
    (Shape::Wide, row(3, BOTH, "vsubw", Sign, TO_S, Usual)),
    (Shape::High, row(4, CLEAR, "vaddhn", Integer, TO_S, Usual)),
    (Shape::High, row(4, SET, "vraddhn", Integer, TO_S, Usual)),
    (Shape::Long, row(5, BOTH, "vabal", Sign, TO_S, Adds)),
    (Shape::High, row(6, CLEAR, "vsubhn", Integer, TO_S, Usual)),
    (Shape::High, row(6, SET, "vrsubhn", Integer, TO_S, Usual)),
    (Shape::Long, row(7, BOTH, "vabdl", Sign, TO_S, Usual)),
    (Shape::Long, row(8, BOTH, "vmlal", Sign, TO_S, Adds)),
    (Shape::Long, row(9, CLEAR, "vqdmlal", Signed, H_S, Adds)),
    (Shape::Long, row(10, BOTH, "vmlsl", Sign, TO_S, Adds)),
    (Shape::Long, row(11, CLEAR, "vqdmlsl", Signed, H_S, Adds)),
    (Shape::Long, row(12, BOTH, "vmull", Sign, TO_S, Usual)),
    (Shape::Long, row(13, CLEAR, "vqdmull", Signed, H_S, Usual)),
    (Shape::Long, row(14, CLEAR, "vmull", Polynomial, B | S, Usual)),
];

/// Which registers are pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Long,
    /// The result and the first source.
    Wide,
    High,
    /// As bit 6, or beside a scalar `U`, says.
    Same,
}

/// By one element of the last register, by bits 11 to 8.
pub const BY_ELEMENT: &[(Shape, VectorRow)] = &[
    (Shape::Same, row(0, BOTH, "vmla", Integer, H_S, Adds)),
    (Shape::Same, row(1, BOTH, "vmla", F, S, Adds)),
    (Shape::Long, row(2, BOTH, "vmlal", Sign, H_S, Adds)),
    (Shape::Long, row(3, CLEAR, "vqdmlal", Signed, H_S, Adds)),
    (Shape::Same, row(4, BOTH, "vmls", Integer, H_S, Adds)),
    (Shape::Same, row(5, BOTH, "vmls", F, S, Adds)),
    (Shape::Long, row(6, BOTH, "vmlsl", Sign, H_S, Adds)),
    (Shape::Long, row(7, CLEAR, "vqdmlsl", Signed, H_S, Adds)),
    (Shape::Same, row(8, BOTH, "vmul", Integer, H_S, Usual)),
    (Shape::Same, row(9, BOTH, "vmul", F, S, Usual)),
    (Shape::Long, row(10, BOTH, "vmull", Sign, H_S, Usual)),
    (Shape::Long, row(11, CLEAR, "vqdmull", Signed, H_S, Usual)),
    (Shape::Same, row(12, BOTH, "vqdmulh", Signed, H_S, Usual)),
    (Shape::Same, row(13, BOTH, "vqrdmulh", Signed, H_S, Usual)),
];

/// Shifts by a constant within one shape, by bits 11 to 8.
pub const SHIFTS: &[VectorRow] = &[
    row(0, BOTH, "vshr", Sign, ANY, Usual),
    row(1, BOTH, "vsra", Sign, ANY, Adds),
    row(2, BOTH, "vrshr", Sign, ANY, Usual),
    row(3, BOTH, "vrsra", Sign, ANY, Adds),
    row(4, SET, "vsri", Plain, ANY, Adds),
    row(5, CLEAR, "vshl", Integer, ANY, Usual),
    row(5, SET, "vsli", Plain, ANY, Adds),
    row(6, SET, "vqshlu", Signed, ANY, Usual),
    row(7, BOTH, "vqshl", Sign, ANY, Usual),
];

/// Shifts to half the width, by bits 11 to 8 and 6.
pub const NARROWING: &[VectorRow] = &[
    row(16, CLEAR, "vshrn", Integer, TO_S, Usual),
    row(16, SET, "vqshrun", Signed, TO_S, Usual),
    row(17, CLEAR, "vrshrn", Integer, TO_S, Usual),
    row(17, SET, "vqrshrun", Signed, TO_S, Usual),
    row(18, BOTH, "vqshrn", Sign, TO_S, Usual),
    row(19, BOTH, "vqrshrn", Sign, TO_S, Usual),
];

/// One source, by bits 17, 16 and 10 to 7; a name may end in what stands after the
/// operands. `SET` says unsigned.
pub const MISC: &[VectorRow] = &[
    row(0x00, BOTH, "vrev64", Plain, TO_S, Usual),
    row(0x01, BOTH, "vrev32", Plain, B_H, Usual),
    row(0x02, BOTH, "vrev16", Plain, B, Usual),
    row(0x04, CLEAR, "vpaddl", Sign, TO_S, Usual),
    row(0x05, SET, "vpaddl", Sign, TO_S, Usual),
    row(0x08, BOTH, "vcls", Signed, TO_S, Usual),
    row(0x09, BOTH, "vclz", Integer, TO_S, Usual),
    row(0x0a, BOTH, "vcnt", Plain, B, Usual),
    row(0x0b, BOTH, "vmvn", Plain, B, Usual),
    row(0x0c, CLEAR, "vpadal", Sign, TO_S, Adds),
    row(0x0d, SET, "vpadal", Sign, TO_S, Adds),
    row(0x0e, BOTH, "vqabs", Signed, TO_S, Usual),
    row(0x0f, BOTH, "vqneg", Signed, TO_S, Usual),
    row(0x10, BOTH, "vcgt #0", Signed, TO_S, Usual),
    row(0x11, BOTH, "vcge #0", Signed, TO_S, Usual),
    row(0x12, BOTH, "vceq #0", Integer, TO_S, Usual),
    row(0x13, BOTH, "vcle #0", Signed, TO_S, Usual),
    row(0x14, BOTH, "vclt #0", Signed, TO_S, Usual),
    row(0x16, BOTH, "vabs", Signed, TO_S, Usual),
    row(0x17, BOTH, "vneg", Signed, TO_S, Usual),
    row(0x18, BOTH, "vcgt #0", F, S, Usual),
    row(0x19, BOTH, "vcge #0", F, S, Usual),
    row(0x1a, BOTH, "vceq #0", F, S, Usual),
    row(0x1b, BOTH, "vcle #0", F, S, Usual),
    row(0x1c, BOTH, "vclt #0", F, S, Usual),
    row(0x1e, BOTH, "vabs", F, S, Usual),
    row(0x1f, BOTH, "vneg", F, S, Usual),
    row(0x28, BOTH, "vrintn", F, S, Usual),
    row(0x29, BOTH, "vrintx", F, S, Usual),
    row(0x2a, BOTH, "vrinta", F, S, Usual),
    row(0x2b, BOTH, "vrintz", F, S, Usual),
    row(0x2d, BOTH, "vrintm", F, S, Usual),
    row(0x2f, BOTH, "vrintp", F, S, Usual),
    row(0x38, SET, "vrecpe", Sign, S, Usual),
    row(0x39, SET, "vrsqrte", Sign, S, Usual),
    row(0x3a, BOTH, "vrecpe", F, S, Usual),
    row(0x3b, BOTH, "vrsqrte", F, S, Usual),
];

/// The row of this code and `U`.
pub fn find(rows: &[VectorRow], code: u32, is_unsigned: bool) -> Result<&VectorRow, &'static str> {
    rows.iter()
        .find(|row| row.code == code && row.is_unsigned.is_none_or(|found| found == is_unsigned))
        .ok_or(UNDEFINED)
}
