//! Operations on elements of vectors that carry from bit to bit: sums, products, comparisons,
//! shifts by unknown counts.
//!
//! An element may be wider than a granule: the operands are then the granules of the first number
//! and those of the second, and the result is one granule. Sums of elements as wide as granules
//! have a normal form; all else is compared by its operands only, and has a value for samples.

use smallvec::SmallVec;

use super::operation::{ElementPart, Operation, packed};
use super::terms::{Graph, Term, Value};

/// By how many places a product shifts, if this is the same power of two in every element.
fn shift_of_product(operation: Operation, bits: u32, number: Option<u64>, n: u32) -> Option<u32> {
    let number = number.filter(|_| operation == Operation::Mul)?;
    let first = number & (u64::MAX >> (64 - bits));
    let is_same = (0..n).all(|i| number >> (i * bits) & (u64::MAX >> (64 - bits)) == first);
    (is_same && first.is_power_of_two()).then(|| first.trailing_zeros())
}

impl Graph {
    /// An operation on each element of two values.
    pub fn elements(&mut self, operation: Operation, bits: u32, a: &[Term], b: &[Term]) -> Value {
        let step = (bits / self.granule()).max(1) as usize;
        a.chunks(step)
            .zip(b.chunks(step))
            .flat_map(|(a, b)| self.element(operation, bits, a, b))
            .collect()
    }

    /// Difference of each element.
    pub fn difference(&mut self, bits: u32, a: &[Term], b: &[Term]) -> Value {
        // a - b = ~(~a + b)
        let a: Value = a.iter().map(|found| !*found).collect();
        self.elements(Operation::Add, bits, &a, b).into_iter().map(|element| !element).collect()
    }

    fn element(&mut self, operation: Operation, bits: u32, a: &[Term], b: &[Term]) -> Value {
        let granule = self.granule();
        let numbers: Option<SmallVec<[u64; 16]>> =
            a.iter().chain(b).map(|found| self.number(*found)).collect();
        if let Some(numbers) = numbers {
            let joined = |number: &[u64]| {
                number
                    .iter()
                    .rev()
                    .fold(0u64, |all, number| all.checked_shl(granule).unwrap_or(0) | number)
            };
            let value = packed(
                operation,
                bits,
                joined(&numbers[..a.len()]),
                joined(&numbers[a.len()..]),
                granule,
            );
            return (0..a.len()).map(|i| self.constant(value >> (i as u32 * granule))).collect();
        }
        let total = bits.max(granule);
        for (factor, other) in [(a, b), (b, a)] {
            if let Some(by) = shift_of_product(operation, bits, self.known(factor), total / bits) {
                return self.assemble(total, &[other], &super::moves::left(total, bits, by));
            }
        }
        if operation == Operation::Add {
            return self.sums(bits, a, b);
        }
        self.compared(operation, bits, a, b).unwrap_or_else(|| self.granules(operation, bits, a, b))
    }

    fn granules(&mut self, operation: Operation, bits: u32, a: &[Term], b: &[Term]) -> Value {
        (0..a.len() as u32).map(|part| self.granule_of(operation, bits, part, a, b)).collect()
    }

    /// Comparisons that are a bit of an operand.
    fn compared(
        &mut self,
        operation: Operation,
        bits: u32,
        a: &[Term],
        b: &[Term],
    ) -> Option<Value> {
        let is_zero = |it: &[Term]| it.iter().all(|it| *it == Term::ZERO);
        match operation {
            Operation::Equal if a == b => Some(a.iter().map(|_| Term::ONES).collect()),
            Operation::Equal if is_zero(b) => self.is_zero(bits, a),
            Operation::Equal if is_zero(a) => self.is_zero(bits, b),
            // A number below 0 is one whose sign is set.
            Operation::Greater if is_zero(a) => {
                let total = bits.max(self.granule());
                Some(self.assemble(total, &[b], &super::moves::right(total, bits, bits - 1, true)))
            }
            _ => None,
        }
    }

    /// Where elements are 0, if each has a single bit that may be 1: the complement of that bit.
    fn is_zero(&mut self, bits: u32, value: &[Term]) -> Option<Value> {
        let (granule, total) = (self.granule(), bits.max(self.granule()));
        let mut moves = Vec::new();
        for at in super::moves::each(total, bits) {
            let mut live = (at..at + bits).filter(|idx| {
                self.live(value[(idx / granule) as usize]) >> (idx % granule) & 1 == 1
            });
            let (Some(bit), None) = (live.next(), live.next()) else { return None };
            moves.extend((at..at + bits).map(|to| super::moves::Move::first(bit, to, 1)));
        }
        Some(self.assemble(total, &[value], &moves).into_iter().map(|found| !found).collect())
    }

    /// The granules of a sum; as long as nothing is carried each is a sum of its own.
    fn sums(&mut self, bits: u32, a: &[Term], b: &[Term]) -> Value {
        if a == b {
            let total = a.len() as u32 * self.granule();
            return self.assemble(total, &[a], &super::moves::left(total, bits, 1));
        }
        let mut is_carried = false;
        let mut sum = Value::new();
        for part in 0..a.len() {
            if is_carried {
                sum.push(self.granule_of(Operation::Add, bits, part as u32, a, b));
            } else if self.has_no_carry(a[part], b[part]) {
                sum.push(self.xor(a[part], b[part]));
            } else {
                sum.push(self.sum(bits.min(self.granule()), a[part], b[part]));
                is_carried = true;
            }
        }
        sum
    }

    fn granule_of(
        &mut self,
        operation: Operation,
        bits: u32,
        part: u32,
        a: &[Term],
        b: &[Term],
    ) -> Term {
        let (a, b) = if operation.is_commutative() && b < a { (b, a) } else { (a, b) };
        let args: SmallVec<[Term; 16]> = a.iter().chain(b).copied().collect();
        self.opaque(ElementPart { operation, bits, part, n_args: args.len() as u32 }, &args)
    }

    /// The sum of elements not wider than a granule.
    fn sum(&mut self, bits: u32, a: Term, b: Term) -> Term {
        let (a, b) = (a.min(b), a.max(b));
        let lowest = (0..self.granule() / bits).fold(0u64, |all, i| all | 1 << (i * bits));
        // A sum with the highest bit alone carries out of the element.
        let highest = lowest << (bits - 1);
        if [a, b].iter().any(|it| self.live(*it) & !highest == 0) {
            return self.xor(a, b);
        }
        for (ones, other) in [(a, b), (b, a)] {
            // -1 + x, where x is 0 or 1, is the complement of x in every place.
            if ones == Term::ONES && self.live(other) & !lowest == 0 {
                let mask = u64::MAX >> (64 - bits);
                let moves: Vec<(Term, u32, u64)> =
                    (0..bits).map(|i| (other, i, lowest << i)).collect();
                assert_eq!(lowest.wrapping_mul(mask), self.ones(), "every bit has one move");
                return !self.gather(&moves);
            }
        }
        self.opaque(ElementPart { operation: Operation::Add, bits, part: 0, n_args: 2 }, &[a, b])
    }
}

#[cfg(test)]
mod tests {
    use super::Operation;
    use crate::validate::terms::{Graph, Term};

    /// Bits of a turned word, some of them complemented.
    fn piece(graph: &mut Graph, word: Term, mask: u64, random: &mut fastrand::Rng) -> Term {
        let turn = random.u32(0..graph.granule());
        let piece = graph.gather(&[(word, turn, mask)]);
        graph.xor_constant(piece, random.u64(..) & mask)
    }

    #[test]
    fn a_sum_of_pieces_without_a_common_bit_is_their_disjunction() {
        for seed in 0..500 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut graph = Graph::new([8, 16, 32, 64][seed as usize % 4], seed);
            let (x, y) = (graph.input(), graph.input());
            let mask = random.u64(..);
            let others = !mask & random.u64(..);
            let a = piece(&mut graph, x, mask, &mut random);
            let b = piece(&mut graph, y, others, &mut random);
            let either = graph.or(a, b);
            let bits = graph.granule();
            assert_eq!(
                graph.elements(Operation::Add, bits, &[a], &[b])[..],
                [either],
                "seed {seed}"
            );
        }
    }
}
