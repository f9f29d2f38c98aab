//! Vectors and the scalar forms of their operations: Advanced SIMD of version 8.0, with AES and
//! SHA, the dot products and the doubling products with accumulation of 8.1 and 8.2.
//!
//! Source: DDI 0487, C4.1.95. A table a group, by the field that the manual calls `opcode`; of each
//! row: its names for signed and unsigned (`U` clear and set), which sizes of elements there are,
//! and whether it adds to its destination.

use super::{A64Word, ALL, FPSR, low_bits, name, reg, vector_reg};
use crate::decode::code::{Class, Instruction, Out, Role, Undecodable};

/// Elements of bytes, half words, words, double words that a row has.
type Sizes = &'static [u32];
const ANY: Sizes = &[0, 1, 2, 3];
const TO_S: Sizes = &[0, 1, 2];
const H_S: Sizes = &[1, 2];
const B: Sizes = &[0];
const D: Sizes = &[3];
const S_D: Sizes = &[2, 3];
const H_AND_UP: Sizes = &[1, 2, 3];

/// An operation by its code.
#[derive(Debug, Clone, Copy)]
struct SimdRow {
    opcode: u32,
    /// Its name with `U` clear, and with it set; empty if that is reserved.
    names: [&'static str; 2],
    /// Elements of its vector form.
    vector: Sizes,
    /// Of its scalar form.
    scalar: Sizes,
    /// It reads its destination.
    adds: bool,
}

const fn row(
    opcode: u32,
    signed: &'static str,
    unsigned: &'static str,
    vector: Sizes,
    scalar: Sizes,
    adds: bool,
) -> SimdRow {
    SimdRow { opcode, names: [signed, unsigned], vector, scalar, adds }
}

/// Three registers of one shape, integers.
const SAME: &[SimdRow] = &[
    row(0, "shadd", "uhadd", TO_S, &[], false),
    row(1, "sqadd", "uqadd", ANY, ANY, false),
    row(2, "srhadd", "urhadd", TO_S, &[], false),
    row(4, "shsub", "uhsub", TO_S, &[], false),
    row(5, "sqsub", "uqsub", ANY, ANY, false),
    row(6, "cmgt", "cmhi", ANY, D, false),
    row(7, "cmge", "cmhs", ANY, D, false),
    row(8, "sshl", "ushl", ANY, D, false),
    row(9, "sqshl", "uqshl", ANY, ANY, false),
    row(10, "srshl", "urshl", ANY, D, false),
    row(11, "sqrshl", "uqrshl", ANY, ANY, false),
    row(12, "smax", "umax", TO_S, &[], false),
    row(13, "smin", "umin", TO_S, &[], false),
    row(14, "sabd", "uabd", TO_S, &[], false),
    row(15, "saba", "uaba", TO_S, &[], true),
    row(16, "add", "sub", ANY, D, false),
    row(17, "cmtst", "cmeq", ANY, D, false),
    row(18, "mla", "mls", TO_S, &[], true),
    row(19, "mul", "", TO_S, &[], false),
    row(19, "", "pmul", B, &[], false),
    row(20, "smaxp", "umaxp", TO_S, &[], false),
    row(21, "sminp", "uminp", TO_S, &[], false),
    row(22, "sqdmulh", "sqrdmulh", H_S, H_S, false),
    row(23, "addp", "", ANY, &[], false),
];

/// The same of floating point, by opcode and bit 23: sizes say only whether there is a form.
const SAME_FLOAT: &[SimdRow] = &[
    row(0x30, "fmaxnm", "fmaxnmp", S_D, &[], false),
    row(0x31, "fminnm", "fminnmp", S_D, &[], false),
    row(0x32, "fmla", "", S_D, &[], true),
    row(0x33, "fmls", "", S_D, &[], true),
    row(0x34, "fadd", "faddp", S_D, &[], false),
    row(0x35, "fsub", "", S_D, &[], false),
    row(0x35, "", "fabd", S_D, S_D, false),
    row(0x36, "fmulx", "", S_D, S_D, false),
    row(0x36, "", "fmul", S_D, &[], false),
    row(0x38, "fcmeq", "fcmge", S_D, S_D, false),
    row(0x39, "", "fcmgt", S_D, S_D, false),
    row(0x3a, "", "facge", S_D, S_D, false),
    row(0x3b, "", "facgt", S_D, S_D, false),
    row(0x3c, "fmax", "fmaxp", S_D, &[], false),
    row(0x3d, "fmin", "fminp", S_D, &[], false),
    row(0x3e, "frecps", "", S_D, S_D, false),
    row(0x3e, "", "fdiv", S_D, &[], false),
    row(0x3f, "frsqrts", "", S_D, S_D, false),
];

/// One source, a result of its shape; a name may end in what stands after the operands.
const MISC: &[SimdRow] = &[
    row(0, "rev64", "", TO_S, &[], false),
    row(0, "", "rev32", &[0, 1], &[], false),
    row(1, "rev16", "", B, &[], false),
    row(3, "suqadd", "usqadd", ANY, ANY, true),
    row(4, "cls", "clz", TO_S, &[], false),
    row(5, "cnt", "mvn", B, &[], false),
    row(5, "", "rbit", &[1], &[], false),
    row(7, "sqabs", "sqneg", ANY, ANY, false),
    row(8, "cmgt #0", "cmge #0", ANY, D, false),
    row(9, "cmeq #0", "cmle #0", ANY, D, false),
    row(10, "cmlt #0", "", ANY, D, false),
    row(11, "abs", "neg", ANY, D, false),
];

/// The same of floating point, by opcode and bit 23.
const MISC_FLOAT: &[SimdRow] = &[
    row(0x19, "fcmgt #0.0", "fcmge #0.0", S_D, S_D, false),
    row(0x1b, "fcmeq #0.0", "fcmle #0.0", S_D, S_D, false),
    row(0x1d, "fcmlt #0.0", "", S_D, S_D, false),
    row(0x1f, "fabs", "fneg", S_D, &[], false),
    row(0x30, "frintn", "frinta", S_D, &[], false),
    row(0x31, "frintp", "", S_D, &[], false),
    row(0x32, "frintm", "frintx", S_D, &[], false),
    row(0x33, "frintz", "frinti", S_D, &[], false),
    row(0x34, "fcvtns", "fcvtnu", S_D, S_D, false),
    row(0x35, "fcvtps", "fcvtpu", S_D, S_D, false),
    row(0x36, "fcvtms", "fcvtmu", S_D, S_D, false),
    row(0x37, "fcvtzs", "fcvtzu", S_D, S_D, false),
    row(0x38, "fcvtas", "fcvtau", S_D, S_D, false),
    row(0x39, "urecpe", "ursqrte", &[2], &[], false),
    row(0x3a, "scvtf", "ucvtf", S_D, S_D, false),
    row(0x3b, "frecpe", "frsqrte", S_D, S_D, false),
    row(0x3f, "", "fsqrt", S_D, &[], false),
    row(0x3f, "frecpx", "", &[], S_D, false),
];

/// Three registers, one of them wider: `l` has a wide result, `w` a wide source too,
/// `n` a narrow result.
const DIFFERENT: &[(char, SimdRow)] = &[
    ('l', row(0, "saddl", "uaddl", TO_S, &[], false)),
    ('w', row(1, "saddw", "uaddw", TO_S, &[], false)),
    ('l', row(2, "ssubl", "usubl", TO_S, &[], false)),
    ('w', row(3, "ssubw", "usubw", TO_S, &[], false)),
    ('n', row(4, "addhn", "raddhn", TO_S, &[], false)),
    ('l', row(5, "sabal", "uabal", TO_S, &[], true)),
    ('n', row(6, "subhn", "rsubhn", TO_S, &[], false)),
    ('l', row(7, "sabdl", "uabdl", TO_S, &[], false)),
    ('l', row(8, "smlal", "umlal", TO_S, &[], true)),
    ('l', row(9, "sqdmlal", "", H_S, H_S, true)),
    ('l', row(10, "smlsl", "umlsl", TO_S, &[], true)),
    ('l', row(11, "sqdmlsl", "", H_S, H_S, true)),
    ('l', row(12, "smull", "umull", TO_S, &[], false)),
    ('l', row(13, "sqdmull", "", H_S, H_S, false)),
    ('l', row(14, "pmull", "", &[0, 3], &[], false)),
];

/// Shifts by a constant: `r` to the right, `<` to the left, `n` to the right with a narrow result,
/// `l` to the left with a wide one, `f` numbers with a fixed point.
const SHIFTED: &[(char, SimdRow)] = &[
    ('r', row(0, "sshr", "ushr", ANY, D, false)),
    ('r', row(2, "ssra", "usra", ANY, D, true)),
    ('r', row(4, "srshr", "urshr", ANY, D, false)),
    ('r', row(6, "srsra", "ursra", ANY, D, true)),
    ('r', row(8, "", "sri", ANY, D, true)),
    ('<', row(10, "shl", "", ANY, D, false)),
    ('<', row(10, "", "sli", ANY, D, true)),
    ('<', row(12, "", "sqshlu", ANY, ANY, false)),
    ('<', row(14, "sqshl", "uqshl", ANY, ANY, false)),
    ('n', row(16, "shrn", "", TO_S, &[], false)),
    ('n', row(16, "", "sqshrun", TO_S, TO_S, false)),
    ('n', row(17, "rshrn", "", TO_S, &[], false)),
    ('n', row(17, "", "sqrshrun", TO_S, TO_S, false)),
    ('n', row(18, "sqshrn", "uqshrn", TO_S, TO_S, false)),
    ('n', row(19, "sqrshrn", "uqrshrn", TO_S, TO_S, false)),
    ('l', row(20, "sshll", "ushll", TO_S, &[], false)),
];
const FIXED: &[(char, SimdRow)] = &[
    ('f', row(28, "scvtf", "ucvtf", H_AND_UP, H_AND_UP, false)),
    ('f', row(31, "fcvtzs", "fcvtzu", H_AND_UP, H_AND_UP, false)),
];

/// By one element of the last register; `l` has a wide result.
const INDEXED: &[(char, SimdRow)] = &[
    (' ', row(0, "", "mla", H_S, &[], true)),
    (' ', row(1, "fmla", "", H_AND_UP, H_AND_UP, true)),
    ('l', row(2, "smlal", "umlal", H_S, &[], true)),
    ('l', row(3, "sqdmlal", "", H_S, H_S, true)),
    (' ', row(4, "", "mls", H_S, &[], true)),
    (' ', row(5, "fmls", "", H_AND_UP, H_AND_UP, true)),
    ('l', row(6, "smlsl", "umlsl", H_S, &[], true)),
    ('l', row(7, "sqdmlsl", "", H_S, H_S, true)),
    (' ', row(8, "mul", "", H_S, &[], false)),
    (' ', row(9, "fmul", "fmulx", H_AND_UP, H_AND_UP, false)),
    ('l', row(10, "smull", "umull", H_S, &[], false)),
    ('l', row(11, "sqdmull", "", H_S, H_S, false)),
    (' ', row(12, "sqdmulh", "", H_S, H_S, false)),
    (' ', row(13, "sqrdmulh", "", H_S, H_S, false)),
    (' ', row(13, "", "sqrdmlah", H_S, H_S, true)),
    ('4', row(14, "sdot", "udot", &[2], &[], true)),
    (' ', row(15, "", "sqrdmlsh", H_S, H_S, true)),
];

/// Shapes of a vector register by size and `Q`.
pub(super) fn shape(size: u32, is_quad: bool) -> &'static str {
    [["8b", "16b"], ["4h", "8h"], ["2s", "4s"], ["1d", "2d"]][size as usize][usize::from(is_quad)]
}

/// What kind of work an operation is, by its name.
fn class(name: &str) -> Class {
    let plain = name.trim_end_matches('2');
    let has = |them: &[&str]| them.iter().any(|word| plain.starts_with(word));
    match plain {
        "and" | "bic" | "orr" | "orn" | "eor" | "bsl" | "bit" | "bif" | "mvn" => Class::VectorLogic,
        "add" | "sub" | "neg" | "addp" => Class::Vector,
        "fmul" | "fmulx" | "fmla" | "fmls" | "frecps" | "frsqrts" => Class::FloatMul,
        "fdiv" | "fsqrt" => Class::FloatDiv,
        _ if has(&["f", "scvtf", "ucvtf", "urecpe", "ursqrte"]) => Class::Float,
        _ if has(&["zip", "uzp", "trn", "ext", "tb", "rev", "dup", "mov"]) && plain != "movi" => {
            Class::VectorPermute
        }
        _ if has(&[
            "mul", "ml", "pmul", "smul", "umul", "sml", "uml", "sqdmul", "sqdml", "sqrdm", "sdot",
            "udot",
        ]) =>
        {
            Class::VectorMul
        }
        _ if has(&[
            "saba", "uaba", "sadalp", "uadalp", "ssra", "usra", "srsra", "ursra", "srshr", "urshr",
            "rshrn", "srshl", "urshl",
        ]) =>
        {
            Class::VectorLong
        }
        _ if has(&[
            "sq", "uq", "suqadd", "usqadd", "raddhn", "rsubhn", "addv", "saddlv", "uaddlv",
            "smaxv", "umaxv", "sminv", "uminv",
        ]) =>
        {
            Class::VectorLong
        }
        _ => Class::VectorShift,
    }
}

/// The letter of a size; 4 is a whole register.
fn letter(size: u32) -> char {
    ['b', 'h', 's', 'd', 'q'][size as usize]
}

/// The row of this operation, its name, and whether it has a form of this size.
fn find(rows: &[SimdRow], opcode: u32, is_second: bool) -> Option<(&'static str, &SimdRow)> {
    let name = |row: &SimdRow| row.names[usize::from(is_second)];
    rows.iter()
        .find(|row| row.opcode == opcode && !name(row).is_empty())
        .map(|row| (name(row), row))
}

impl A64Word {
    /// Everything of the group that is not scalar floating point.
    pub(super) fn vector_group(&self) -> Result<Instruction, Undecodable> {
        // Bit 28 tells scalars, which have bit 30 set.
        let is_scalar = self.bit(28);
        if self.bit(31) || is_scalar && !self.bit(30) {
            return self.reserved();
        }
        if self.bit(24) {
            return match (self.bit(10), self.bit(23)) {
                (false, _) => self.indexed(is_scalar),
                (true, true) => self.reserved(),
                (true, false) if self.field(22, 19) != 0 => self.shifted_vector(is_scalar),
                (true, false) if is_scalar => self.reserved(),
                (true, false) => self.constant_vector(),
            };
        }
        if !self.bit(21) {
            return self.without_bit_21(is_scalar);
        }
        match (self.field(11, 10), self.field(20, 17)) {
            (2, 12) if self.bit(22) => self.one_half_source(is_scalar),
            (1 | 3, _) => self.same(is_scalar),
            (0, _) => self.different(is_scalar),
            (_, 0) => self.one_vector_source(is_scalar),
            (_, 8) if is_scalar => self.pairwise(),
            (_, 8) => self.across(),
            (_, 4) => self.crypto_two(is_scalar),
            _ => self.reserved(),
        }
    }

    fn reserved<T>(&self) -> Result<T, Undecodable> {
        self.refuse("the operation is reserved or of a later version")
    }

    fn is_quad(&self) -> bool {
        self.bit(30)
    }

    fn is_unsigned(&self) -> bool {
        self.bit(29)
    }

    /// A register as its operands are shown.
    fn vector_operand(&self, n: u32, size: u32, is_scalar: bool) -> String {
        if is_scalar {
            format!("{}{n}", letter(size))
        } else {
            format!("v{n}.{}", shape(size, self.is_quad()))
        }
    }

    /// An operation on whole registers: the result, then what is read.
    fn on_vectors(&self, text: String, adds: bool, sources: &[u32]) -> Instruction {
        let class = class(text.split(' ').next().unwrap_or_default());
        let mut it = self.plain(class, text);
        it.is_quad = self.is_quad() && !self.bit(28);
        let it =
            sources.iter().fold(it, |source, &n| source.reads(vector_reg(n), ALL, Role::Source));
        let it = if adds { it.reads(vector_reg(self.rd()), ALL, Role::Addend) } else { it };
        it.writes(vector_reg(self.rd()), ALL, Out::Result)
    }

    /// What rounds or saturates may set flags of exceptions, which add up in any order.
    fn sets_status(it: Instruction) -> Instruction {
        it.reads(FPSR, ALL, Role::Source)
    }

    /// The size of a row's elements, if it has such a form.
    fn checked(&self, row: &SimdRow, size: u32, is_scalar: bool) -> Result<u32, Undecodable> {
        let sizes = if is_scalar { row.scalar } else { row.vector };
        let is_cut = !is_scalar && size == 3 && !self.is_quad();
        if !sizes.contains(&size) || is_cut {
            self.refuse("there is no form of this size")
        } else {
            Ok(size)
        }
    }

    /// Rows of floating point follow bit 23 as well; their sizes are words and double words.
    fn float_row<'a>(
        &self,
        rows: &'a [SimdRow],
        opcode: u32,
    ) -> Option<(&'static str, &'a SimdRow, u32)> {
        let (name, found) = find(rows, opcode << 1 | self.field(23, 23), self.is_unsigned())?;
        Some((name, found, 2 + self.field(22, 22)))
    }

    /// Three registers of one shape.
    fn same(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm, opcode, size) =
            (self.rd(), self.rn(), self.rm(), self.field(15, 11), self.field(23, 22));
        if opcode == 3 && !is_scalar {
            return Ok(self.bitwise());
        }
        let (name, found, size) = match find(SAME, opcode, self.is_unsigned()) {
            Some((name, found)) if opcode < 24 => (name, found, size),
            _ => match self.float_row(SAME_FLOAT, opcode) {
                Some(found) => found,
                None => return self.reserved(),
            },
        };
        let size = self.checked(found, size, is_scalar)?;
        let operand = |n| self.vector_operand(n, size, is_scalar);
        let it = self.on_vectors(
            format!("{name} {}, {}, {}", operand(rd), operand(rn), operand(rm)),
            found.adds,
            &[rn, rm],
        );
        Ok(if opcode >= 24 || name.contains('q') { A64Word::sets_status(it) } else { it })
    }

    /// The same of halves: their codes are the low bits of those of wider floating point.
    fn same_halves(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm) = (self.rd(), self.rn(), self.rm());
        let Some((name, found, _)) = self.float_row(SAME_FLOAT, 0x18 | self.field(13, 11)) else {
            return self.reserved();
        };
        let sizes = if is_scalar { found.scalar } else { found.vector };
        if sizes.is_empty() {
            return self.reserved();
        }
        let operand = |n| self.vector_operand(n, 1, is_scalar);
        let it = self.on_vectors(
            format!("{name} {}, {}, {}", operand(rd), operand(rn), operand(rm)),
            found.adds,
            &[rn, rm],
        );
        Ok(A64Word::sets_status(it))
    }

    /// One source of halves, and a result of its shape.
    fn one_half_source(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode) = (self.rd(), self.rn(), self.field(16, 12));
        let Some((name, found, _)) = self.float_row(MISC_FLOAT, opcode) else {
            return self.reserved();
        };
        let sizes = if is_scalar { found.scalar } else { found.vector };
        if !sizes.contains(&3) {
            return self.reserved();
        }
        let (name, zero) = name
            .split_once(' ')
            .map_or((name, String::new()), |(name, zero)| (name, format!(", {zero}")));
        let text = format!(
            "{name} {}, {}{zero}",
            self.vector_operand(rd, 1, is_scalar),
            self.vector_operand(rn, 1, is_scalar)
        );
        Ok(A64Word::sets_status(self.on_vectors(text, false, &[rn])))
    }

    fn bitwise(&self) -> Instruction {
        let (rd, rn, rm) = (self.rd(), self.rn(), self.rm());
        let names = ["and", "bic", "orr", "orn", "eor", "bsl", "bit", "bif"];
        let nth = self.field(29, 29) << 2 | self.field(23, 22);
        let operand = |n| self.vector_operand(n, 0, false);
        if nth == 2 && rn == rm {
            return self.on_vectors(format!("mov {}, {}", operand(rd), operand(rn)), false, &[rn]);
        }
        let text =
            format!("{} {}, {}, {}", names[nth as usize], operand(rd), operand(rn), operand(rm));
        self.on_vectors(text, nth > 4, &[rn, rm])
    }

    /// One source and a result, of one shape or of two.
    fn one_vector_source(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode, size) = (self.rd(), self.rn(), self.field(16, 12), self.field(23, 22));
        if matches!(opcode, 2 | 6 | 18 | 19 | 20 | 22 | 23) {
            return self.other_width(is_scalar);
        }
        // Rows of floating point have an opcode of their own, or bit 23 set.
        let float = if opcode >= 12 { self.float_row(MISC_FLOAT, opcode) } else { None };
        let (name, found, size) = match (float, find(MISC, opcode, self.is_unsigned())) {
            (Some(found), _) => found,
            (None, Some(_)) if opcode == 5 && self.is_unsigned() && size == 1 => {
                ("rbit", &MISC[6], 1)
            }
            (None, Some((name, found))) => (name, found, size),
            (None, None) => return self.reserved(),
        };
        // Estimates of words only.
        let size = if opcode == 28 && self.bit(23) && self.bit(22) { 3 } else { size };
        let size = self.checked(found, size, is_scalar)?;
        let shown = if name == "rbit" { 0 } else { size };
        let (name, zero) = name
            .split_once(' ')
            .map_or((name, String::new()), |(name, zero)| (name, format!(", {zero}")));
        let text = format!(
            "{name} {}, {}{zero}",
            self.vector_operand(rd, shown, is_scalar),
            self.vector_operand(rn, shown, is_scalar)
        );
        let it = self.on_vectors(text, found.adds, &[rn]);
        Ok(if opcode >= 12 || matches!(opcode, 3 | 7) { A64Word::sets_status(it) } else { it })
    }

    /// One source, and a result of elements of another width.
    fn other_width(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode, size) = (self.rd(), self.rn(), self.field(16, 12), self.field(23, 22));
        let (is_quad, is_unsigned) = (self.is_quad(), self.is_unsigned());
        let pick = |a: &'static str, b: &'static str| if is_unsigned { b } else { a };
        let two = if is_quad { "2" } else { "" };
        if is_scalar {
            let (name, size) = match (opcode, is_unsigned) {
                (18, true) => ("sqxtun", size),
                (20, _) => (pick("sqxtn", "uqxtn"), size),
                (22, true) if size == 1 => ("fcvtxn", 2),
                _ => return self.reserved(),
            };
            if size == 3 {
                return self.reserved();
            }
            let text = format!("{name} {}{rd}, {}{rn}", letter(size), letter(size + 1));
            return Ok(A64Word::sets_status(self.on_vectors(text, false, &[rn])));
        }
        if opcode >= 22 {
            let is_double = self.bit(22);
            if self.bit(23)
                || opcode == 23 && is_unsigned
                || opcode == 22 && is_unsigned && !is_double
            {
                return self.reserved();
            }
            let (wide, narrow) =
                (shape(2 + u32::from(is_double), true), shape(1 + u32::from(is_double), is_quad));
            let text = match opcode {
                22 => format!("{}{two} v{rd}.{narrow}, v{rn}.{wide}", pick("fcvtn", "fcvtxn")),
                _ => format!("fcvtl{two} v{rd}.{wide}, v{rn}.{narrow}"),
            };
            return Ok(A64Word::sets_status(self.on_vectors(text, opcode == 22 && is_quad, &[rn])));
        }
        if size == 3 {
            return self.reserved();
        }
        let (wide, narrow) = (shape(size + 1, true), shape(size, is_quad));
        Ok(match opcode {
            2 | 6 => {
                let name =
                    if opcode == 2 { pick("saddlp", "uaddlp") } else { pick("sadalp", "uadalp") };
                let wide =
                    ["4h", "8h", "2s", "4s", "1d", "2d"][(2 * size + u32::from(is_quad)) as usize];
                self.on_vectors(format!("{name} v{rd}.{wide}, v{rn}.{narrow}"), opcode == 6, &[rn])
            }
            19 if !is_unsigned => return self.reserved(),
            19 => self.on_vectors(
                format!("shll{two} v{rd}.{wide}, v{rn}.{narrow}, #{}", 8 << size),
                false,
                &[rn],
            ),
            _ => {
                let name =
                    if opcode == 18 { pick("xtn", "sqxtun") } else { pick("sqxtn", "uqxtn") };
                let it = self.on_vectors(
                    format!("{name}{two} v{rd}.{narrow}, v{rn}.{wide}"),
                    is_quad,
                    &[rn],
                );
                if name == "xtn" { it } else { A64Word::sets_status(it) }
            }
        })
    }

    /// All elements become one.
    fn across(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode, size) = (self.rd(), self.rn(), self.field(16, 12), self.field(23, 22));
        let is_unsigned = self.is_unsigned();
        if matches!(opcode, 12 | 15) {
            if self.bit(22) || is_unsigned && !self.is_quad() {
                return self.reserved();
            }
            let name = match (opcode, self.bit(23)) {
                (12, false) => "fmaxnmv",
                (12, true) => "fminnmv",
                (_, false) => "fmaxv",
                (_, true) => "fminv",
            };
            // With `U` clear they are halves.
            let (to, from) =
                if is_unsigned { ('s', "4s") } else { ('h', shape(1, self.is_quad())) };
            return Ok(A64Word::sets_status(self.on_vectors(
                format!("{name} {to}{rd}, v{rn}.{from}"),
                false,
                &[rn],
            )));
        }
        let (name, to) = match (opcode, is_unsigned) {
            (3, false) => ("saddlv", size + 1),
            (3, true) => ("uaddlv", size + 1),
            (10, false) => ("smaxv", size),
            (10, true) => ("umaxv", size),
            (26, false) => ("sminv", size),
            (26, true) => ("uminv", size),
            (27, false) => ("addv", size),
            _ => return self.reserved(),
        };
        if size == 3 || size == 2 && !self.is_quad() {
            return self.reserved();
        }
        Ok(self.on_vectors(
            format!("{name} {}{rd}, v{rn}.{}", letter(to), shape(size, self.is_quad())),
            false,
            &[rn],
        ))
    }

    /// The two elements of a register become one.
    fn pairwise(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode, size) = (self.rd(), self.rn(), self.field(16, 12), self.field(23, 22));
        if (opcode, size, self.is_unsigned()) == (27, 3, false) {
            return Ok(self.on_vectors(format!("addp d{rd}, v{rn}.2d"), false, &[rn]));
        }
        // With `U` clear they are halves.
        let is_half = !self.is_unsigned();
        if is_half && self.bit(22) {
            return self.reserved();
        }
        let name = match (opcode, self.bit(23)) {
            (12, false) => "fmaxnmp",
            (12, true) => "fminnmp",
            (13, false) => "faddp",
            (15, false) => "fmaxp",
            (15, true) => "fminp",
            _ => return self.reserved(),
        };
        let size = if is_half { 1 } else { 2 + self.field(22, 22) };
        let from = ["2h", "2s", "2d"][(size - 1) as usize];
        Ok(A64Word::sets_status(self.on_vectors(
            format!("{name} {}{rd}, v{rn}.{from}", letter(size)),
            false,
            &[rn],
        )))
    }

    /// Three registers, of which one is wider.
    fn different(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm, size) = (self.rd(), self.rn(), self.rm(), self.field(23, 22));
        let opcode = self.field(15, 12);
        let named = DIFFERENT
            .iter()
            .filter_map(|(kind, it)| {
                Some((*kind, find(std::slice::from_ref(it), opcode, self.is_unsigned())?))
            })
            .next();
        let Some((kind, (name, found))) = named else { return self.reserved() };
        let sizes = if is_scalar { found.scalar } else { found.vector };
        if !sizes.contains(&size) {
            return self.refuse("there is no form of this size");
        }
        let it = if is_scalar {
            self.on_vectors(
                format!("{name} {}{rd}, {1}{rn}, {1}{rm}", letter(size + 1), letter(size)),
                found.adds,
                &[rn, rm],
            )
        } else {
            let two = if self.is_quad() { "2" } else { "" };
            let (wide, narrow) =
                (if size == 3 { "1q" } else { shape(size + 1, true) }, shape(size, self.is_quad()));
            let (to, a, b) = match kind {
                'l' => (wide, narrow, narrow),
                'w' => (wide, wide, narrow),
                _ => (narrow, wide, wide),
            };
            let adds = found.adds || kind == 'n' && self.is_quad();
            self.on_vectors(
                format!("{name}{two} v{rd}.{to}, v{rn}.{a}, v{rm}.{b}"),
                adds,
                &[rn, rm],
            )
        };
        Ok(if name.starts_with("sq") { A64Word::sets_status(it) } else { it })
    }

    fn shifted_vector(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode) = (self.rd(), self.rn(), self.field(15, 11));
        let size = 31 - self.field(22, 19).leading_zeros();
        let amount = self.field(22, 16);
        let all = SHIFTED.iter().chain(FIXED);
        let found = all
            .filter_map(|(kind, it)| {
                Some((*kind, find(std::slice::from_ref(it), opcode, self.is_unsigned())?))
            })
            .next();
        let Some((kind, (name, found))) = found else { return self.reserved() };
        let bits = 8 << size;
        let shift = if matches!(kind, '<' | 'l') { amount - bits } else { 2 * bits - amount };
        if matches!(kind, 'n' | 'l') {
            let sizes = if is_scalar { found.scalar } else { found.vector };
            if !sizes.contains(&size) {
                return self.refuse("there is no form of this size");
            }
            let two = if self.is_quad() && !is_scalar { "2" } else { "" };
            let (wide, narrow) = match is_scalar {
                true => (letter(size + 1).to_string(), letter(size).to_string()),
                false => (
                    format!(".{}", shape(size + 1, true)),
                    format!(".{}", shape(size, self.is_quad())),
                ),
            };
            let operand = |text: &str, n: u32| {
                if is_scalar { format!("{text}{n}") } else { format!("v{n}{text}") }
            };
            let (to, from) = if kind == 'n' { (&narrow, &wide) } else { (&wide, &narrow) };
            let text = format!("{name}{two} {}, {}, #{shift}", operand(to, rd), operand(from, rn));
            let it = self.on_vectors(text, kind == 'n' && !two.is_empty(), &[rn]);
            return Ok(if name.contains('q') { A64Word::sets_status(it) } else { it });
        }
        let size = self.checked(found, size, is_scalar)?;
        let operand = |n| self.vector_operand(n, size, is_scalar);
        let it = self.on_vectors(
            format!("{name} {}, {}, #{shift}", operand(rd), operand(rn)),
            found.adds,
            &[rn],
        );
        Ok(if kind == 'f' || name.contains("qshl") { A64Word::sets_status(it) } else { it })
    }

    /// By one element of the last register.
    fn indexed(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode) = (self.rd(), self.rn(), self.field(15, 12));
        let found = INDEXED
            .iter()
            .filter_map(|(kind, it)| {
                Some((*kind, find(std::slice::from_ref(it), opcode, self.is_unsigned())?))
            })
            .next();
        let Some((kind, (name, found))) = found else { return self.reserved() };
        let is_float = name.starts_with('f');
        // Of floating point 0 stands for halves, and 1 is reserved.
        let size = match (is_float, self.field(23, 22)) {
            (true, 0) => 1,
            (true, 1) => return self.refuse("there is no form of this size"),
            (_, size) => size,
        };
        let sizes = if is_scalar { found.scalar } else { found.vector };
        let is_cut = size == 3 && (self.bit(21) || !self.is_quad() && !is_scalar);
        if !sizes.contains(&size) || is_cut {
            return self.refuse("there is no form of this size");
        }
        let (h, l, m) = (self.field(11, 11), self.field(21, 21), self.field(20, 20));
        let low = self.field(19, 16);
        let (rm, index) = match size {
            1 => (low, h << 2 | l << 1 | m),
            2 => (m << 4 | low, h << 1 | l),
            _ => (m << 4 | low, h),
        };
        let quad = self.is_quad();
        let text = match (kind, is_scalar) {
            ('l', true) => format!(
                "{name} {}{rd}, {}{rn}, v{rm}.{}[{index}]",
                letter(size + 1),
                letter(size),
                letter(size)
            ),
            ('l', false) => {
                let two = if quad { "2" } else { "" };
                format!(
                    "{name}{two} v{rd}.{}, v{rn}.{}, v{rm}.{}[{index}]",
                    shape(size + 1, true),
                    shape(size, quad),
                    letter(size)
                )
            }
            ('4', _) => format!(
                "{name} v{rd}.{}, v{rn}.{}, v{rm}.4b[{index}]",
                shape(2, quad),
                shape(0, quad)
            ),
            _ => {
                let operand = |n| self.vector_operand(n, size, is_scalar);
                format!("{name} {}, {}, v{rm}.{}[{index}]", operand(rd), operand(rn), letter(size))
            }
        };
        let it = self.on_vectors(text, found.adds, &[rn, rm]);
        Ok(if is_float || name.starts_with("sq") { A64Word::sets_status(it) } else { it })
    }

    /// Copies of elements, permutations, tables, and what later versions put beside three
    /// registers of one shape.
    fn without_bit_21(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm, size, is_quad) =
            (self.rd(), self.rn(), self.rm(), self.field(23, 22), self.is_quad());
        if self.bit(15) && self.bit(10) {
            return self.extended(is_scalar);
        }
        if self.bit(22) && self.bit(10) && self.field(15, 14) == 0 {
            return self.same_halves(is_scalar);
        }
        if is_scalar {
            return match (self.field(15, 10), self.is_unsigned(), size) {
                (1, false, 0) => self.copy(true),
                (it, false, 0) if it & 3 == 0 && it >> 5 == 0 => self.crypto_three(),
                _ => self.reserved(),
            };
        }
        if self.bit(15) {
            return self.reserved();
        }
        match (self.is_unsigned(), self.bit(10), self.bit(11)) {
            (_, true, _) if size == 0 => self.copy(false),
            (false, false, false) if size == 0 => {
                let n = self.field(14, 13) + 1;
                let table: Vec<u32> = (0..n).map(|idx| (rn + idx) & 31).collect();
                let list: Vec<String> = table.iter().map(|found| format!("v{found}.16b")).collect();
                let name = if self.bit(12) { "tbx" } else { "tbl" };
                let shape = shape(0, is_quad);
                let text =
                    format!("{name} v{rd}.{shape}, {{ {} }}, v{rm}.{shape}", list.join(", "));
                Ok(self.on_vectors(text, self.bit(12), &[table, vec![rm]].concat()))
            }
            (false, false, true) => {
                let names = ["", "uzp1", "trn1", "zip1", "", "uzp2", "trn2", "zip2"];
                let name = names[self.field(14, 12) as usize];
                if name.is_empty() || size == 3 && !is_quad {
                    return self.reserved();
                }
                let operand = |n| self.vector_operand(n, size, false);
                Ok(self.on_vectors(
                    format!("{name} {}, {}, {}", operand(rd), operand(rn), operand(rm)),
                    false,
                    &[rn, rm],
                ))
            }
            (true, false, _) if size == 0 => {
                let at = self.field(14, 11);
                if at > 7 && !is_quad {
                    return self.reserved();
                }
                let operand = |n| self.vector_operand(n, 0, false);
                Ok(self.on_vectors(
                    format!("ext {}, {}, {}, #{at}", operand(rd), operand(rn), operand(rm)),
                    false,
                    &[rn, rm],
                ))
            }
            _ => self.reserved(),
        }
    }

    /// Between an element and a register, or another element.
    fn copy(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, which, imm4) = (self.rd(), self.rn(), self.field(20, 16), self.field(14, 11));
        if which & 15 == 0 {
            return self.reserved();
        }
        let (size, is_quad) = (which.trailing_zeros(), self.is_quad());
        let (t, index) = (letter(size), which >> (size + 1));
        if is_scalar {
            return Ok(self.on_vectors(format!("mov {t}{rd}, v{rn}.{t}[{index}]"), false, &[rn]));
        }
        if self.is_unsigned() {
            if !is_quad {
                return self.reserved();
            }
            return Ok(self.on_vectors(
                format!("mov v{rd}.{t}[{index}], v{rn}.{t}[{}]", imm4 >> size),
                true,
                &[rn],
            ));
        }
        let general = |n| name(n, size == 3);
        let to_general = |text: String| {
            Ok(self.plain(Class::FloatMove, text).reads(vector_reg(rn), ALL, Role::Source).writes(
                reg(rd),
                ALL,
                Out::Result,
            ))
        };
        match imm4 {
            0 | 1 if size == 3 && !is_quad => self.reserved(),
            0 => Ok(self.on_vectors(
                format!("dup v{rd}.{}, v{rn}.{t}[{index}]", shape(size, is_quad)),
                false,
                &[rn],
            )),
            1 => {
                let mut it = self.on_vectors(
                    format!("dup v{rd}.{}, {}", shape(size, is_quad), general(rn)),
                    false,
                    &[],
                );
                it.class = Class::FloatMove;
                Ok(it.reads(reg(rn), low_bits(8 << size), Role::Source))
            }
            3 if is_quad => {
                let mut it =
                    self.on_vectors(format!("mov v{rd}.{t}[{index}], {}", general(rn)), true, &[]);
                it.class = Class::FloatMove;
                Ok(it.reads(reg(rn), low_bits(8 << size), Role::Source))
            }
            5 if size < 2 + u32::from(is_quad) => {
                to_general(format!("smov {}, v{rn}.{t}[{index}]", name(rd, is_quad)))
            }
            7 if is_quad == (size == 3) => {
                let mnemonic = if size < 2 { "umov" } else { "mov" };
                to_general(format!("{mnemonic} {}, v{rn}.{t}[{index}]", name(rd, is_quad)))
            }
            _ => self.reserved(),
        }
    }

    /// Dot products, and the doubling products with accumulation.
    fn extended(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm, size, is_unsigned) =
            (self.rd(), self.rn(), self.rm(), self.field(23, 22), self.is_unsigned());
        match self.field(14, 11) {
            0 | 1 if is_unsigned && matches!(size, 1 | 2) => {
                let mnemonic = if self.bit(11) { "sqrdmlsh" } else { "sqrdmlah" };
                let operand = |n| self.vector_operand(n, size, is_scalar);
                let text = format!("{mnemonic} {}, {}, {}", operand(rd), operand(rn), operand(rm));
                Ok(A64Word::sets_status(self.on_vectors(text, true, &[rn, rm])))
            }
            2 if !is_scalar && size == 2 => {
                let mnemonic = if is_unsigned { "udot" } else { "sdot" };
                let (to, from) = (shape(2, self.is_quad()), shape(0, self.is_quad()));
                Ok(self.on_vectors(
                    format!("{mnemonic} v{rd}.{to}, v{rn}.{from}, v{rm}.{from}"),
                    true,
                    &[rn, rm],
                ))
            }
            _ => self.reserved(),
        }
    }

    /// Vectors of a constant.
    fn constant_vector(&self) -> Result<Instruction, Undecodable> {
        let (rd, cmode, is_inverted, is_quad) =
            (self.rd(), self.field(15, 12), self.bit(29), self.is_quad());
        let imm = self.field(18, 16) << 5 | self.field(9, 5);
        let is_half = self.bit(11);
        if is_half && (cmode != 15 || is_inverted) {
            return self.reserved();
        }
        let pick = |a: &'static str, b: &'static str| if is_inverted { b } else { a };
        let shift = |by: u32| if by == 0 { String::new() } else { format!(", lsl #{by}") };
        let (text, adds) = match cmode {
            0..=7 => {
                let name = if cmode & 1 == 1 { pick("orr", "bic") } else { pick("movi", "mvni") };
                (
                    format!(
                        "{name} v{rd}.{}, #{imm}{}",
                        shape(2, is_quad),
                        shift((cmode >> 1) * 8)
                    ),
                    cmode & 1 == 1,
                )
            }
            8..=11 => {
                let name = if cmode & 1 == 1 { pick("orr", "bic") } else { pick("movi", "mvni") };
                (
                    format!(
                        "{name} v{rd}.{}, #{imm}{}",
                        shape(1, is_quad),
                        shift((cmode >> 1 & 1) * 8)
                    ),
                    cmode & 1 == 1,
                )
            }
            12 | 13 => (
                format!(
                    "{} v{rd}.{}, #{imm}, msl #{}",
                    pick("movi", "mvni"),
                    shape(2, is_quad),
                    8 << (cmode & 1)
                ),
                false,
            ),
            14 if !is_inverted => (format!("movi v{rd}.{}, #{imm}", shape(0, is_quad)), false),
            14 => {
                let bytes = (0..8)
                    .filter(|idx| imm >> idx & 1 == 1)
                    .fold(0_u64, |all, it| all | 0xff << (8 * it));
                let to = if is_quad { format!("v{rd}.2d") } else { format!("d{rd}") };
                (format!("movi {to}, #{bytes:#018x}"), false)
            }
            _ if is_inverted && !is_quad => return self.reserved(),
            _ => {
                let to = if is_inverted { "2d" } else { shape(2 - u32::from(is_half), is_quad) };
                (format!("fmov v{rd}.{to}, #{:.8}", super::float::constant(imm)), false)
            }
        };
        Ok(self.on_vectors(text, adds, &[]))
    }

    fn crypto_two(&self, is_scalar: bool) -> Result<Instruction, Undecodable> {
        let (rd, rn, opcode) = (self.rd(), self.rn(), self.field(16, 12));
        if self.field(23, 22) != 0 || self.is_unsigned() || !self.is_quad() {
            return self.reserved();
        }
        Ok(match (is_scalar, opcode) {
            (false, 4 | 5) => self.on_vectors(
                format!("{} v{rd}.16b, v{rn}.16b", ["aese", "aesd"][(opcode & 1) as usize]),
                true,
                &[rn],
            ),
            (false, 6 | 7) => self.on_vectors(
                format!("{} v{rd}.16b, v{rn}.16b", ["aesmc", "aesimc"][(opcode & 1) as usize]),
                false,
                &[rn],
            ),
            (true, 0) => self.on_vectors(format!("sha1h s{rd}, s{rn}"), false, &[rn]),
            (true, 1) => self.on_vectors(format!("sha1su1 v{rd}.4s, v{rn}.4s"), true, &[rn]),
            (true, 2) => self.on_vectors(format!("sha256su0 v{rd}.4s, v{rn}.4s"), true, &[rn]),
            _ => return self.reserved(),
        })
    }

    fn crypto_three(&self) -> Result<Instruction, Undecodable> {
        let (rd, rn, rm) = (self.rd(), self.rn(), self.rm());
        let text = match self.field(14, 12) {
            it @ 0..=2 => {
                format!("{} q{rd}, s{rn}, v{rm}.4s", ["sha1c", "sha1p", "sha1m"][it as usize])
            }
            it @ (4 | 5) => {
                format!("{} q{rd}, q{rn}, v{rm}.4s", ["sha256h", "sha256h2"][(it & 1) as usize])
            }
            it @ (3 | 6) => format!(
                "{} v{rd}.4s, v{rn}.4s, v{rm}.4s",
                if it == 3 { "sha1su0" } else { "sha256su1" }
            ),
            _ => return self.reserved(),
        };
        Ok(self.on_vectors(text, true, &[rn, rm]))
    }
}
