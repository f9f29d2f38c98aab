//! Values put together from bits of other values: what shifts, shuffles, blends, extractions and
//! unaligned loads are.

use smallvec::{SmallVec, smallvec};

use super::terms::{Graph, Term, Value};

/// What a granule is gathered from.
type Pieces = SmallVec<[(Term, u32, u64); 4]>;

/// A row of bits that goes from a place of one of several values to a place of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    pub source: usize,
    /// Its lowest bit there.
    pub from: u32,
    /// Its lowest bit in the result.
    pub to: u32,
    pub n: u32,
}

impl Move {
    /// Of the first value.
    pub fn first(from: u32, to: u32, n: u32) -> Move {
        Move { source: 0, from, to, n }
    }
}

impl Graph {
    /// Granules of a value of so many bits; a value narrower than a granule has one.
    pub fn n_granules(&self, bits: u32) -> usize {
        (bits.div_ceil(self.granule())).max(1) as usize
    }

    /// A value of `bits` bits; where no move goes it is 0.
    pub fn assemble(&mut self, bits: u32, sources: &[&[Term]], moves: &[Move]) -> Value {
        let granule = self.granule();
        let mut pieces: SmallVec<[Pieces; 8]> = smallvec![SmallVec::new(); self.n_granules(bits)];
        for it in moves {
            let mut done = 0;
            while done < it.n {
                let (from, to) = (it.from + done, it.to + done);
                let (below, above) = (from % granule, to % granule);
                let n = (it.n - done).min(granule - below).min(granule - above);
                let mask = (u64::MAX >> (64 - n)) << above;
                let term = sources[it.source][(from / granule) as usize];
                pieces[(to / granule) as usize].push((
                    term,
                    (above + granule - below) % granule,
                    mask,
                ));
                done += n;
            }
        }
        let ones = self.ones();
        let granule_of = |graph: &mut Graph, pieces: &[(Term, u32, u64)]| match pieces {
            [] => Term::ZERO,
            [(term, 0, mask)] if *mask == ones => *term,
            _ => graph.gather(pieces),
        };
        pieces.iter().map(|piece| granule_of(self, piece)).collect()
    }

    /// Bits `from` up to `from + n` of a value.
    pub fn bits(&mut self, value: &[Term], from: u32, n: u32) -> Value {
        self.assemble(n, &[value], &[Move::first(from, 0, n)])
    }

    /// A value with zeros above it.
    pub fn widened(&mut self, value: &[Term], bits: u32, to: u32) -> Value {
        self.assemble(to, &[value], &[Move::first(0, 0, bits)])
    }

    /// A value with its sign above it.
    pub fn sign_extended(&mut self, value: &[Term], bits: u32, to: u32) -> Value {
        let mut moves: SmallVec<[Move; 64]> = smallvec![Move::first(0, 0, bits)];
        moves.extend((bits..to).map(|idx| Move::first(bits - 1, idx, 1)));
        self.assemble(to, &[value], &moves)
    }

    /// A number of so many bits.
    pub fn number_value(&mut self, number: u64, bits: u32) -> Value {
        let number = number & (u64::MAX >> (64 - bits));
        let granule = self.granule();
        (0..self.n_granules(bits) as u32)
            .map(|i| self.constant(number.checked_shr(i * granule).unwrap_or(0)))
            .collect()
    }

    /// The number that a value of up to 64 bits is, if it is one.
    pub fn known(&self, value: &[Term]) -> Option<u64> {
        value.iter().rev().try_fold(0u64, |all, it| {
            Some(all.checked_shl(self.granule()).unwrap_or(0) | self.number(*it)?)
        })
    }

    /// A bit of a value, if it is a number.
    pub fn known_bits(&self, value: &[Term], from: u32, n: u32) -> Option<u64> {
        let granule = self.granule();
        (0..n).try_fold(0u64, |all, i| {
            let at = from + i;
            let number = self.number(value[(at / granule) as usize])?;
            Some(all | (number >> (at % granule) & 1) << i)
        })
    }
}

/// Elements of `bits` bits shifted to the left by `by`, zeros follow.
pub fn left(total: u32, bits: u32, by: u32) -> Vec<Move> {
    each(total, bits).filter(|_| by < bits).map(|at| Move::first(at, at + by, bits - by)).collect()
}

/// Elements shifted to the right; if `with_sign` the sign follows, else zeros.
pub fn right(total: u32, bits: u32, by: u32, with_sign: bool) -> Vec<Move> {
    let by = if with_sign { by.min(bits - 1) } else { by };
    let mut moves: Vec<Move> = each(total, bits)
        .filter(|_| by < bits)
        .map(|at| Move::first(at + by, at, bits - by))
        .collect();
    if with_sign {
        moves.extend(
            each(total, bits).flat_map(|at| {
                (bits - by..bits).map(move |i| Move::first(at + bits - 1, at + i, 1))
            }),
        );
    }
    moves
}

/// Elements turned to the left.
pub fn turned(total: u32, bits: u32, by: u32) -> Vec<Move> {
    let by = by % bits;
    let mut moves = left(total, bits, by);
    if by > 0 {
        moves.extend(right(total, bits, bits - by, false));
    }
    moves
}

/// Where elements of so many bits begin.
pub fn each(total: u32, bits: u32) -> impl Iterator<Item = u32> {
    (0..total / bits).map(move |i| i * bits)
}
