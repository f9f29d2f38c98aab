//! The steps that move the bytes of a whole batch of blocks into slices and back: a plan for one
//! layout, slicing and target.
//!
//! A bit of the batch has an address in memory (block, byte, bit) and one in the slices (register,
//! place). Where each bit of the one address is a bit of the other, perhaps complemented, the move
//! is a permutation of address bits, and the instructions of the target are small permutations of
//! address bits, too:
//!
//! ```text
//! AES h on AVX2: 8 registers of 256 places, a block of 128 bits
//!   memory  place 0..2 bit of a byte, 3..6 byte of a block, 7 block      register: block, block, block
//!   slices  place 0..2 block          3..6 row and column   7 block      register: bit of a byte
//!   steps   three exchanges of a place with a register (12 swaps of bits), one shuffle of bytes
//! ```
//!
//! **Needs** strings made of parts of 2^k bytes that move by such a permutation: all bundled
//! layouts. Others keep the plain loop. **Keeps** the bits of each block together; the order of
//! blocks in the slices is free, and `Moves::order` has it. **Costs** about one operation for each
//! register and exchanged place where the target has interleaving, else three. **Source**
//! transposition by exchanges of address bits: D. Fraser, "Array permutation by index-digit
//! permutation", 1976.

mod check;
mod search;

use crate::emit_c::{Arch, Shape};
use crate::layout::Layout;
use crate::options::Slicing;

/// A bit of an address: bit k of the place in a part of a string is k, bit k of the block is
/// `BLOCK + k`.
pub type Label = u8;

/// Labels from here on belong to the number of the block.
pub const BLOCK: Label = 16;

/// All steps of one direction of one field.
#[derive(Debug, Clone)]
pub struct Moves {
    /// One for each part of the string.
    pub parts: Vec<StringPart>,
    /// For each bit of a slice's number, from the lowest, the bit of the block's number that it is.
    pub order: Vec<u32>,
}

/// A part of each string, 2^k bytes long, with its steps.
#[derive(Debug, Clone)]
pub struct StringPart {
    /// First byte in the string.
    pub offset: usize,
    pub n_bytes: usize,
    /// The register of its bit 0.
    pub first_register: i64,
    /// How far each bit of the place moves the register; `None`: not at all.
    pub register_step: Vec<Option<i64>>,
    /// In-register labels before the steps, from place bit 0.
    pub start: Vec<Label>,
    /// In-register labels after the steps.
    pub end: Vec<Label>,
    /// The labels of the bits of a register's number within the part, before and after the steps.
    pub slots: Vec<(Label, Label)>,
    pub steps: Vec<MoveStep>,
}

/// Registers that hold no bit of a string lie this far from the others.
pub const ABSENT: i64 = 1 << 20;

/// One step, done to all registers of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveStep {
    /// Pairs of registers that differ in this bit of their number exchange it for
    /// bits of the place.
    Exchange(Exchange, usize, Flips),
    /// Each register for itself.
    Within(Within),
}

/// Swaps the two registers of each pair before or after a step, which complements a bit at no cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flips {
    pub before: bool,
    pub after: bool,
}

/// What a pair of registers exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// This bit of the place, by shifts and masks.
    Swap(u32),
    /// Units of 2^n bits interleave inside 128 bits: bit n comes from the register's number, the
    /// bits above move up.
    Interleave(u32),
    /// The upper 128 bits of 256.
    Halves,
    /// The upper 256 bits of 512.
    Outer,
    /// The even and the odd 128 bits of 512.
    Lanes,
}

/// What happens inside each register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// Byte i of each 128 bits comes from this byte.
    Bytes(Vec<u8>),
    /// 32-bit unit i comes from this one.
    Units(Vec<u8>),
    /// The bytes of a general register in the other order.
    Reverse,
    /// Two bits of the place change places.
    Delta(u32, u32),
    /// A bit of the place is complemented.
    Complement(u32),
}

/// The direction of the move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From bytes to registers.
    Load,
    /// From registers to bytes.
    Store,
}

/// A string and the slices that it becomes.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// Where the bits lie in the string.
    pub layout: &'a Layout,
    /// Bits of a word in the source.
    pub word_bits: u32,
    pub shape: Shape,
}

/// Where a bit of the place in a part goes in the slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Register(i64),
    Within { place: u32, complement: bool },
}

impl Problem<'_> {
    fn register_log(&self) -> u32 {
        self.shape.register_bits().trailing_zeros()
    }

    /// The bits of the place that number the block, from the lowest.
    pub fn block_places(&self) -> Vec<u32> {
        let top = self.register_log();
        match self.shape.slicing {
            Slicing::Bit => (0..top).collect(),
            Slicing::Vertical => (self.shape.word_bits.trailing_zeros()..top).collect(),
            Slicing::Horizontal => (0..self.shape.element_bits().trailing_zeros())
                .chain(self.shape.spread_bits().trailing_zeros()..top)
                .collect(),
        }
    }

    /// Register and place of bit i, from the most significant, of word j in slice 0.
    fn home(&self, j: usize, i: u32) -> (i64, i64) {
        let m = self.word_bits;
        match self.shape.slicing {
            Slicing::Bit => ((j * m as usize) as i64 + i64::from(i), 0),
            Slicing::Vertical => (j as i64, i64::from(m - 1 - i)),
            Slicing::Horizontal => (j as i64, i64::from(i * self.shape.element_bits())),
        }
    }

    /// For each bit of the string, from the least significant of each byte: register and
    /// place in slice 0.
    fn homes(&self) -> Vec<Option<(i64, i64)>> {
        let mut homes = vec![None; 8 * self.layout.n_bytes];
        for (n, at) in self.layout.position.iter().enumerate() {
            homes[(*at ^ 7) as usize] =
                Some(self.home(n / self.word_bits as usize, n as u32 % self.word_bits));
        }
        homes
    }

    /// The steps; `order` is that of another field or direction of the same blocks. `None` if there
    /// are no such steps.
    pub fn moves(&self, direction: Direction, order: Option<&[u32]>) -> Option<Moves> {
        if self.shape.slicing != Slicing::Bit && self.word_bits != self.shape.word_bits {
            return None;
        }
        let homes = self.homes();
        let mut parts = Vec::new();
        let mut order: Option<Vec<u32>> = order.map(<[u32]>::to_vec);
        let mut offset = 0;
        while offset < self.layout.n_bytes {
            let n_bytes = 1usize << (self.layout.n_bytes - offset).ilog2();
            let part = self.part(
                direction,
                offset,
                n_bytes,
                &homes[8 * offset..8 * (offset + n_bytes)],
                order.as_deref(),
            )?;
            if order.is_none() {
                order = Some(
                    self.block_places()
                        .iter()
                        .map(|p| u32::from(part.end[*p as usize] - BLOCK))
                        .collect(),
                );
            }
            parts.push(part);
            offset += n_bytes;
        }
        let moves = Moves { parts, order: order.expect("a string has a byte") };
        check::check(self, direction, &moves);
        Some(moves)
    }

    fn part(
        &self,
        direction: Direction,
        offset: usize,
        n_bytes: usize,
        homes: &[Option<(i64, i64)>],
        order: Option<&[u32]>,
    ) -> Option<StringPart> {
        let axes = axes(homes)?;
        let (n_places, blocks) = (self.register_log(), self.block_places());
        let n_inside = (axes.len() as u32).min(n_places);
        // The slices: a label at each place; `None` is any block.
        let mut slices: Vec<Option<Label>> = vec![None; n_places as usize];
        let mut complements = 0u32;
        for (k, axis) in axes.iter().enumerate() {
            if let Axis::Within { place, complement } = axis {
                slices[*place as usize] = Some(k as Label);
                complements |= u32::from(*complement) << k;
            }
        }
        let n_within = axes.iter().filter(|a| matches!(a, Axis::Within { .. })).count();
        if n_within + blocks.len() != n_places as usize
            || blocks.iter().any(|p| slices[*p as usize].is_some())
        {
            return None;
        }
        for (place, block) in blocks.iter().zip(order.unwrap_or_default()) {
            slices[*place as usize] = Some(BLOCK + *block as Label);
        }
        // Memory: the string's bits, above them blocks. Registers of a part that is all of the
        // string, or that is copied together first, are read as they lie; else they are put
        // together from any blocks.
        let lies_in_row = n_bytes == self.layout.n_bytes || n_bytes < 8;
        let mut memory: Vec<Option<Label>> = (0..n_inside as Label).map(Some).collect();
        let like_slices =
            |place: u32| slices[place as usize].filter(|l| *l >= BLOCK && !lies_in_row);
        let mut free = (0..blocks.len() as Label)
            .map(|b| BLOCK + b)
            .filter(|l| !(n_inside..n_places).any(|p| like_slices(p) == Some(*l)));
        for place in n_inside..n_places {
            let label = like_slices(place).or_else(|| free.next());
            memory.push(label.filter(|_| lies_in_row || direction == Direction::Load));
        }
        let all = |places: &[Option<Label>]| places.iter().copied().collect::<Option<Vec<Label>>>();
        let (start, goal) = match direction {
            Direction::Load => (all(&memory)?, slices),
            Direction::Store => {
                (all(&slices).expect("a store follows the order of a load"), memory)
            }
        };
        let labels = (0..axes.len() as Label).chain((0..blocks.len() as Label).map(|b| BLOCK + b));
        let slots: Vec<Label> = labels.filter(|l| !start.contains(l)).collect();
        let found = search::search(self.shape.arch, &start, &goal, complements, &slots)?;
        let register_step = axes
            .iter()
            .map(|a| if let Axis::Register(step) = a { Some(*step) } else { None })
            .collect();
        Some(StringPart {
            offset,
            n_bytes,
            first_register: homes[0].expect("`axes` looked at it").0,
            register_step,
            slots: slots.into_iter().zip(found.slots).collect(),
            start,
            end: found.end,
            steps: found.steps,
        })
    }
}

/// Where each bit of the place in a part goes; `None` if the part is not a
/// permutation of address bits.
fn axes(homes: &[Option<(i64, i64)>]) -> Option<Vec<Axis>> {
    let (register, place) = homes[0]?;
    let mut axes = Vec::new();
    for k in 0..homes.len().ilog2() {
        axes.push(match homes[1 << k] {
            None => Axis::Register(ABSENT << k),
            Some((r, p)) if p == place => Axis::Register(r - register),
            Some((r, p)) if r == register && (p - place).unsigned_abs().is_power_of_two() => {
                Axis::Within { place: (p - place).unsigned_abs().ilog2(), complement: p < place }
            }
            Some(_) => return None,
        });
    }
    let fits = homes.iter().enumerate().all(|(s, home)| {
        let (mut at, mut is_absent) = ((register, place), false);
        for (k, axis) in axes.iter().enumerate().filter(|(k, _)| s >> k & 1 == 1) {
            match axis {
                Axis::Register(step) => {
                    at.0 += step;
                    is_absent |= homes[1 << k].is_none();
                }
                Axis::Within { place, complement } => {
                    at.1 += if *complement { -1 } else { 1 } << place
                }
            }
        }
        if is_absent { home.is_none() } else { *home == Some(at) }
    });
    fits.then_some(axes)
}

impl StringPart {
    /// How many registers the part fills.
    pub fn n_registers(&self) -> usize {
        1 << self.slots.len()
    }
}

/// The registers are general ones.
fn is_general(arch: Arch) -> bool {
    !arch.is_vector()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem<'a>(
        layout: &'a Layout,
        word_bits: u32,
        slicing: Slicing,
        arch: Arch,
    ) -> Problem<'a> {
        let lane = if slicing == Slicing::Bit { 1 } else { word_bits };
        Problem {
            layout,
            word_bits,
            shape: Shape { arch, slicing, word_bits: lane, interleave: 1 },
        }
    }

    fn steps(layout: &str, word_bits: u32, slicing: Slicing, arch: Arch) -> Option<Vec<String>> {
        let layout = Layout::parse(layout).expect("a layout");
        let moves = problem(&layout, word_bits, slicing, arch).moves(Direction::Load, None)?;
        let name = |step: &MoveStep| match step {
            MoveStep::Exchange(kind, ..) => format!("{kind:?}"),
            MoveStep::Within(Within::Bytes(_)) => "Bytes".into(),
            MoveStep::Within(within) => format!("{within:?}"),
        };
        Some(moves.parts.iter().flat_map(|p| &p.steps).map(name).collect())
    }

    #[test]
    fn steps_are_those_of_the_best_networks_by_hand() {
        let aes = "col:4 row:4 bit:8 -> bit | row col";
        assert_eq!(
            steps(aes, 16, Slicing::Horizontal, Arch::Avx2).unwrap(),
            ["Swap(0)", "Swap(1)", "Swap(2)", "Bytes"]
        );
        let chacha = "word:16 byte:4 bit:8 -> word | -byte bit";
        assert_eq!(
            steps(chacha, 32, Slicing::Vertical, Arch::Avx2).unwrap(),
            ["Interleave(5)", "Interleave(5)", "Halves"]
        );
        let wide = steps(chacha, 32, Slicing::Vertical, Arch::Avx512).unwrap();
        assert_eq!(wide, ["Interleave(5)", "Interleave(5)", "Outer", "Lanes"]);
        // Big-endian words on a general register only need their bytes reversed.
        let ascon = "word:5 byte:8 bit:8 -> word | byte bit";
        assert_eq!(
            steps(ascon, 64, Slicing::Vertical, Arch::X86_64).unwrap(),
            ["Reverse", "Reverse"]
        );
        // Little-endian ones need nothing at all.
        assert!(steps(chacha, 32, Slicing::Vertical, Arch::X86_64).unwrap().is_empty());
    }

    #[test]
    fn a_layout_that_does_not_permute_address_bits_has_no_steps() {
        // Words of 24 bits, and three words in turn over bytes.
        assert_eq!(
            steps("word:2 byte:3 bit:8 -> word | byte bit", 24, Slicing::Vertical, Arch::Avx2),
            None
        );
        assert_eq!(
            steps("byte:4 word:3 bit:8 -> word | byte bit", 32, Slicing::Vertical, Arch::Avx2),
            None
        );
    }

    /// Breaks one step of AES's load and checks it.
    fn broken(change: impl Fn(&mut MoveStep)) {
        let layout = Layout::parse("col:4 row:4 bit:8 -> bit | row col").expect("a layout");
        let problem = problem(&layout, 16, Slicing::Horizontal, Arch::Avx2);
        let mut moves = problem.moves(Direction::Load, None).expect("it has a network");
        moves.parts[0].steps.iter_mut().for_each(change);
        check::check(&problem, Direction::Load, &moves);
    }

    #[test]
    fn the_check_accepts_correct_steps() {
        broken(|_| ());
    }

    #[test]
    #[should_panic(expected = "the steps move every bit where the layout says")]
    fn the_check_catches_two_swapped_bytes() {
        broken(|step| {
            if let MoveStep::Within(Within::Bytes(pattern)) = step {
                pattern.swap(3, 9);
            }
        });
    }

    #[test]
    #[should_panic(expected = "the steps move every bit where the layout says")]
    fn the_check_catches_a_swap_of_the_wrong_bit() {
        broken(|step| {
            if let MoveStep::Exchange(Exchange::Swap(place @ 1), ..) = step {
                *place = 2;
            }
        });
    }
}
