//! Words of the outputs: proved, equal in every simulation, or different, and then for which input.

use serde::Serialize;

use crate::emit_c::Shape;
use crate::options::Slicing;

use super::machine::{Place, Stop};
use super::operation::Sample;
use super::terms::{Graph, Value};
use super::walk::Walk;
use super::{Array, Expected};

/// Rounds of 256 more random bits for each input, where equality is not proved.
const ROUNDS: usize = 32;

/// What is known of the whole function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every word is proved, and no secret shows.
    Proved,
    /// Every word is equal for random inputs, and no secret shows.
    Simulated,
    /// It computes something else, or does what no function may.
    Different,
    Leaks,
    /// Something in it is not followed.
    Unknown,
}

/// Words of the outputs; one counts where it is decided worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Words {
    pub proved: usize,
    /// Equal for all random inputs.
    pub simulated: usize,
    pub different: usize,
}

/// A word that is not as the program says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub word: String,
    /// Which block of the registers.
    pub slice: u32,
    /// What the program says.
    pub expected: String,
    /// What the function computes.
    pub found: String,
    /// Parameters, and their words in this block.
    pub inputs: Vec<(String, Vec<String>)>,
}

/// What was found out about a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub verdict: Verdict,
    pub words: Words,
    /// The first word that is different.
    pub difference: Option<Difference>,
    /// Why the walk ended early, and at which address of the object's code.
    pub stop: Option<(u64, Stop)>,
    /// Addresses of shifts by a secret in a register.
    pub shifts: Vec<u64>,
    /// Instructions that were executed.
    pub instructions: u64,
    /// Terms of both sides.
    pub terms: usize,
    /// Equal terms that were proved to be so, and those that look so and were not.
    pub merges: (u64, u64),
}

/// The report of a walk.
pub fn report(expected: &Expected, mut walk: Walk<'_>, stopped: Option<Stop>) -> Report {
    let mut words = Words::default();
    let mut difference = None;
    let mut stop = stopped.map(|stopped| (walk.offset(), stopped));
    if stop.is_none() {
        match walk.found() {
            Ok(found) => (words, difference) = compare(expected, &mut walk.machine.graph, &found),
            Err(why) => stop = Some((walk.offset(), why)),
        }
    }
    let verdict = match &stop {
        Some((_, Stop::Unknown(_))) => Verdict::Unknown,
        Some((_, Stop::Leak(_))) => Verdict::Leaks,
        Some((_, Stop::Fault(_))) => Verdict::Different,
        None if words.different > 0 => Verdict::Different,
        None if words.simulated > 0 => Verdict::Simulated,
        None => Verdict::Proved,
    };
    Report {
        verdict,
        words,
        difference,
        stop,
        shifts: walk.machine.shifts.iter().map(|shift| walk.offset_of(*shift)).collect(),
        instructions: walk.n_steps,
        terms: walk.machine.graph.n_nodes(),
        merges: walk.machine.graph.merges,
    }
}

fn compare(
    expected: &Expected,
    graph: &mut Graph,
    found: &[Vec<Value>],
) -> (Words, Option<Difference>) {
    let pairs: Vec<(usize, usize)> = expected
        .outputs
        .iter()
        .enumerate()
        .flat_map(|(a, it)| (0..it.words.len()).map(move |w| (a, w)))
        .collect();
    let both = |at: &(usize, usize)| (&expected.outputs[at.0].words[at.1], &found[at.0][at.1]);
    let mut open: Vec<(usize, usize)> =
        pairs.iter().filter(|at| both(at).0 != both(at).1).copied().collect();
    let mut words = Words { proved: pairs.len() - open.len(), ..Words::default() };
    let mut difference: Option<((usize, usize), Difference)> = None;
    for _ in 0..ROUNDS {
        if open.is_empty() {
            break;
        }
        let samples = graph.resample();
        let cases = Cases { graph, samples: &samples, shape: expected.shape };
        open.retain(|at| {
            let (say, is) = both(at);
            let Some(place) = cases.differs(say, is) else { return true };
            words.different += 1;
            if difference.as_ref().is_none_or(|difference| *at < difference.0) {
                difference = Some((
                    *at,
                    cases.difference(
                        &expected.inputs,
                        &expected.outputs[at.0],
                        at.1,
                        (say, is),
                        place,
                    ),
                ));
            }
            false
        });
    }
    words.simulated = open.len();
    (words, difference.map(|difference| difference.1))
}

/// Values of all nodes for some inputs.
struct Cases<'a> {
    graph: &'a Graph,
    samples: &'a [Sample],
    shape: Shape,
}

/// A bit of a register in one of the cases.
#[derive(Debug, Clone, Copy)]
struct Bit {
    case: u32,
    at: u32,
}

impl Cases<'_> {
    fn bit(&self, value: &[super::terms::Term], bit: Bit) -> bool {
        let granule = self.graph.granule();
        let term = value[(bit.at / granule) as usize];
        let at = bit.case * granule + bit.at % granule;
        let word = self.samples[term.node() as usize][(at / 64) as usize];
        (word >> (at % 64) & 1 == 1) != term.is_complement()
    }

    /// The first bit that is not the same.
    fn differs(&self, a: &[super::terms::Term], b: &[super::terms::Term]) -> Option<Bit> {
        let granule = self.graph.granule();
        let bits = self.shape.register_bits();
        let all = (0..256 / granule).flat_map(|case| (0..bits).map(move |at| Bit { case, at }));
        all.into_iter().find(|bit| self.bit(a, *bit) != self.bit(b, *bit))
    }

    /// The bits of the same word in the same block, from the most significant.
    fn word_around(&self, bit: Bit) -> (u32, Vec<Bit>) {
        let m = self.shape.word_bits;
        let of = |at: u32| Bit { at, ..bit };
        match self.shape.slicing {
            Slicing::Bit => (bit.at, vec![bit]),
            Slicing::Vertical => {
                (bit.at / m, (0..m).rev().map(|i| of(bit.at / m * m + i)).collect())
            }
            Slicing::Horizontal => {
                let (part, element) = (self.shape.spread_bits(), self.shape.element_bits());
                let slice = bit.at / part * element + bit.at % element;
                (
                    slice,
                    (0..m)
                        .map(|i| of(bit.at / part * part + i * element + bit.at % element))
                        .collect(),
                )
            }
        }
    }

    fn text(&self, value: &[super::terms::Term], bits: &[Bit]) -> String {
        let number = bits.iter().fold(0u64, |all, bit| all << 1 | u64::from(self.bit(value, *bit)));
        if bits.len() == 1 {
            number.to_string()
        } else {
            format!("{number:#0width$x}", width = bits.len().div_ceil(4) + 2)
        }
    }

    fn difference(
        &self,
        inputs: &[Array],
        output: &Array,
        word: usize,
        (say, is): (&Value, &Value),
        place: Bit,
    ) -> Difference {
        let (slice, bits) = self.word_around(place);
        let all = |array: &Array| {
            (array.name.clone(), array.words.iter().map(|word| self.text(word, &bits)).collect())
        };
        Difference {
            word: if output.words.len() == 1 {
                output.name.clone()
            } else {
                format!("{}[{word}]", output.name)
            },
            slice,
            expected: self.text(say, &bits),
            found: self.text(is, &bits),
            inputs: inputs.iter().map(all).collect(),
        }
    }
}

impl Report {
    /// Where a secret shows, if it does.
    pub fn leak(&self) -> Option<(u64, Place)> {
        match &self.stop {
            Some((at, Stop::Leak(place))) => Some((*at, *place)),
            _ => None,
        }
    }
}
