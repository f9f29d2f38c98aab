//! Runs the steps of a plan on numbered bits and compares every bit with the layout.

use super::{
    ABSENT, BLOCK, Direction, Exchange, Label, MoveStep, Moves, Problem, StringPart, Within,
};

/// A register with the number of the bit at each place.
type Register = Vec<u32>;

/// Panics unless the steps move every bit of every block where the layout says.
pub fn check(problem: &Problem, direction: Direction, moves: &Moves) {
    let slice_of = slices(problem, &moves.order);
    let mut is_in_layout = vec![false; 8 * problem.layout.n_bytes];
    problem.layout.position.iter().for_each(|at| is_in_layout[(*at ^ 7) as usize] = true);
    let mut n_seen = 0;
    for part in &moves.parts {
        let n_places = problem.shape.register_bits();
        let memory = |labels: Vec<(Label, u32)>| memory_bit(&is_in_layout, part, &labels);
        let slices = |labels: &[(Label, u32)], place: u32| {
            slice_bit(problem, part, labels, place, &slice_of)
        };
        let number = |labels: Vec<(Label, u32)>, place: u32, direction: Direction| match direction {
            Direction::Load => memory(labels).unwrap_or(u32::MAX),
            Direction::Store => slices(&labels, place),
        };
        let all = |places: &[Label], slots: Vec<Label>, direction: Direction| -> Vec<Register> {
            let labels = |r: usize, p: u32| -> Vec<(Label, u32)> {
                let outside = slots.iter().enumerate().map(|(k, l)| (*l, (r >> k & 1) as u32));
                outside.chain(places.iter().enumerate().map(|(k, l)| (*l, p >> k & 1))).collect()
            };
            (0..part.n_registers())
                .map(|r| (0..n_places).map(|p| number(labels(r, p), p, direction)).collect())
                .collect()
        };
        let (before, after) = match direction {
            Direction::Load => (Direction::Load, Direction::Store),
            Direction::Store => (Direction::Store, Direction::Load),
        };
        let mut registers = all(&part.start, part.slots.iter().map(|s| s.0).collect(), before);
        part.steps.iter().for_each(|step| run(step, &mut registers));
        let wanted = all(&part.end, part.slots.iter().map(|s| s.1).collect(), after);
        for (got, want) in registers.iter().flatten().zip(wanted.iter().flatten()) {
            // Places without a bit of the layout may hold anything; their bits go nowhere.
            assert!(
                *want == u32::MAX || got == want,
                "the steps move every bit where the layout says: bit {got} is where {want} belongs"
            );
            n_seen += usize::from(*want != u32::MAX);
        }
    }
    let n_bits = problem.layout.position.len() * problem.shape.slices() as usize;
    assert_eq!(n_seen, n_bits, "the parts hold every bit of the string once");
}

/// The block of each slice.
fn slices(problem: &Problem, order: &[u32]) -> Vec<u32> {
    (0..problem.shape.slices())
        .map(|slice| order.iter().enumerate().fold(0, |b, (k, bit)| b | (slice >> k & 1) << bit))
        .collect()
}

/// The number of a bit by its place in memory: the block, then the place in the string;
/// `None` outside the layout.
fn memory_bit(is_in_layout: &[bool], part: &StringPart, labels: &[(Label, u32)]) -> Option<u32> {
    let (mut block, mut bit) = (0, 8 * part.offset as u32);
    for (label, value) in labels {
        if *label >= BLOCK {
            block |= value << (label - BLOCK);
        } else {
            bit += value << label;
        }
    }
    is_in_layout[bit as usize].then_some(block << 16 | bit)
}

/// The number of the bit that the layout puts at a place of a register.
fn slice_bit(
    problem: &Problem,
    part: &StringPart,
    labels: &[(Label, u32)],
    place: u32,
    block_of_slice: &[u32],
) -> u32 {
    let steps = labels
        .iter()
        .filter(|(l, v)| *l < BLOCK && *v == 1)
        .filter_map(|(l, _)| part.register_step[usize::from(*l)]);
    let register = part.first_register + steps.sum::<i64>();
    if register >= ABSENT {
        return u32::MAX;
    }
    let (mut slice, mut inside) = (0, place);
    for (k, at) in problem.block_places().iter().enumerate() {
        slice |= (place >> at & 1) << k;
        inside &= !(1 << at);
    }
    let m = problem.word_bits as usize;
    let n = match problem.shape.slicing {
        crate::options::Slicing::Bit => register as usize,
        crate::options::Slicing::Vertical => register as usize * m + (m - 1 - inside as usize),
        crate::options::Slicing::Horizontal => {
            register as usize * m + (inside / problem.shape.element_bits()) as usize
        }
    };
    block_of_slice[slice as usize] << 16 | (problem.layout.position[n] ^ 7)
}

/// Applies the instructions of a step to registers.
fn run(step: &MoveStep, registers: &mut [Register]) {
    match step {
        MoveStep::Within(within) => {
            registers.iter_mut().for_each(|r| *r = within_register(within, r))
        }
        MoveStep::Exchange(kind, slot, flips) => {
            for low in (0..registers.len()).filter(|r| r >> slot & 1 == 0) {
                let high = low | 1 << slot;
                let (a, b) = if flips.before { (high, low) } else { (low, high) };
                let (first, second) = exchange(*kind, &registers[a], &registers[b]);
                let (to_first, to_second) = if flips.after { (high, low) } else { (low, high) };
                registers[to_first] = first;
                registers[to_second] = second;
            }
        }
    }
}

fn within_register(within: &Within, r: &[u32]) -> Register {
    let moved = |from: &dyn Fn(usize) -> usize| (0..r.len()).map(|p| r[from(p)]).collect();
    match within {
        Within::Bytes(pattern) => {
            moved(&|p| p / 128 * 128 + 8 * usize::from(pattern[p % 128 / 8]) + p % 8)
        }
        Within::Units(pattern) => moved(&|p| 32 * usize::from(pattern[p / 32]) + p % 32),
        Within::Reverse => moved(&|p| r.len() - 8 - p / 8 * 8 + p % 8),
        Within::Delta(low, high) => {
            moved(&|p| if p >> low & 1 == p >> high & 1 { p } else { p ^ (1 << low | 1 << high) })
        }
        Within::Complement(bit) => moved(&|p| p ^ 1 << bit),
    }
}

/// The new low and the new high register of a pair.
fn exchange(kind: Exchange, a: &[u32], b: &[u32]) -> (Register, Register) {
    let n = a.len();
    let both = |from: &dyn Fn(usize) -> u32| (0..n).map(from).collect::<Register>();
    match kind {
        Exchange::Swap(bit) => {
            let is_high = |p: usize| p >> bit & 1 == 1;
            (
                both(&|p| if is_high(p) { b[p - (1 << bit)] } else { a[p] }),
                both(&|p| if is_high(p) { b[p] } else { a[p + (1 << bit)] }),
            )
        }
        Exchange::Interleave(unit) => {
            let half = |upper: usize| {
                both(&|p| {
                    let (lane, unit_idx, rest) =
                        (p / 128 * 128, (p % 128) >> unit, p % (1 << unit));
                    let source = if unit_idx % 2 == 0 { a } else { b };
                    source[lane + 64 * upper + ((unit_idx / 2) << unit) + rest]
                })
            };
            (half(0), half(1))
        }
        Exchange::Halves | Exchange::Outer => {
            let half = n / 2;
            (
                both(&|p| if p < half { a[p] } else { b[p - half] }),
                both(&|p| if p < half { a[p + half] } else { b[p] }),
            )
        }
        Exchange::Lanes => {
            let lanes = |odd: usize| {
                both(&|p| {
                    let (lane, source) = (p / 128, if p < 256 { a } else { b });
                    source[128 * (2 * (lane % 2) + odd) + p % 128]
                })
            };
            (lanes(0), lanes(1))
        }
    }
}
