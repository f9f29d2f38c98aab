//! What operations on elements compute, on numbers.

/// A value of all nodes: 256 bits, divided into granules, one for each of several cases.
pub type Sample = [u64; 4];

/// What is done with two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Sum, modulo the element's size.
    Add,
    Mul,
    /// All ones where both are equal.
    Equal,
    /// All ones where the first is greater as a number with a sign.
    Greater,
    /// All ones where the first is smaller as a number without a sign.
    Below,
    /// Shift to the left.
    Shl,
    /// Shift to the right, zeros follow.
    Shr,
    /// Shift to the right, the sign follows.
    Sar,
}

impl Operation {
    /// Of two elements of so many bits.
    pub fn apply(self, bits: u32, a: u64, b: u64) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        let signed = |number: u64| (number << (64 - bits)) as i64 >> (64 - bits);
        let all = |flag: bool| if flag { mask } else { 0 };
        let value = match self {
            Operation::Add => a.wrapping_add(b),
            Operation::Mul => a.wrapping_mul(b),
            Operation::Equal => all(a == b),
            Operation::Greater => all(signed(a) > signed(b)),
            Operation::Below => all(a < b),
            Operation::Shl => a.checked_shl(b.min(64) as u32).unwrap_or(0),
            Operation::Shr => a.checked_shr(b.min(64) as u32).unwrap_or(0),
            Operation::Sar => (signed(a) >> b.min(63)) as u64,
        };
        value & mask
    }

    pub fn is_commutative(self) -> bool {
        matches!(self, Operation::Add | Operation::Mul | Operation::Equal)
    }
}

/// A granule of an operation on elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementPart {
    pub operation: Operation,
    /// Bits of an element.
    pub bits: u32,
    /// Which granule of the result.
    pub part: u32,
    pub n_args: u32,
}

/// The values of a granule.
pub fn sample(part: ElementPart, args: &[Sample], granule: u32) -> Sample {
    let n_granules = args.len() / 2;
    let ones = u64::MAX >> (64 - granule);
    let mut out = [0; 4];
    for case in 0..256 / granule {
        let (word, shift) = ((case * granule / 64) as usize, case * granule % 64);
        let joined = |args: &[Sample]| {
            args.iter().rev().fold(0u64, |all, it| {
                all.checked_shl(granule).unwrap_or(0) | (it[word] >> shift & ones)
            })
        };
        let value = packed(
            part.operation,
            part.bits,
            joined(&args[..n_granules]),
            joined(&args[n_granules..]),
            granule,
        );
        out[word] |= (value >> (part.part * granule) & ones) << shift;
    }
    out
}

/// The operation on all elements of a granule, or on one that is wider.
pub fn packed(operation: Operation, bits: u32, a: u64, b: u64, granule: u32) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    (0..granule.max(bits) / bits).fold(0, |out, i| {
        out | operation.apply(bits, a >> (i * bits) & mask, b >> (i * bits) & mask) << (i * bits)
    })
}
