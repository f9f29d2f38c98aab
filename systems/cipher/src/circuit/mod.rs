//! Boolean circuits for lookup tables: the type, the library of known ones, the synthesiser.
//!
//! ```text
//! table f(x:v4) returns (y:v4) { 6, 5, 12, ... }    --->    12 gates over the 4 atoms of x
//! ```
//!
//! A table that is in the library gets its published circuit. Any other is synthesised:
//! several methods propose circuits, a bounded random walk shrinks them, and the smallest is taken.
//! No step depends on time or on the order of a hash map, so equal tables give equal circuits.

mod compare;
mod emit;
mod known;
mod network;
mod synth;
mod truth;

pub use compare::{Comparison, SboxCounts, compare};
pub use known::{KnownSbox, known_sboxes, legacy_lsb_first};
pub use synth::{N_INPUTS_MAX, N_INPUTS_SEARCHED, SynthEffort, bdd_baseline, shrink, synthesise};
pub(crate) use truth::INPUT_WORDS;

use std::fmt;

/// A value in a circuit: `0..n_inputs` are the inputs, then there is one wire a gate.
pub type Wire = u32;

/// One operation of a circuit. It reads wires that come before its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    And(Wire, Wire),
    Or(Wire, Wire),
    Xor(Wire, Wire),
    AndNot(Wire, Wire),
    Not(Wire),
    /// All zeros; costs nothing.
    Zero,
    /// All ones; costs nothing.
    One,
}

/// A straight-line program over bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// How many wires are inputs.
    pub n_inputs: u32,
    /// Gate `i` drives wire `n_inputs + i`.
    pub gates: Vec<Gate>,
    /// The wires that are outputs; one wire may be several outputs.
    pub outputs: Vec<Wire>,
}

/// Which end of the table's index and entries belongs to wire 0 and output 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOrder {
    /// Wire 0 is the most significant bit of the index, output 0 that of the entry.
    MsbFirst,
    /// Wire 0 is the least significant bit of the index, output 0 that of the entry.
    LsbFirst,
}

/// A circuit and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Computes the requested table in the requested order.
    pub circuit: Circuit,
    /// The library or the synthesiser.
    pub origin: Origin,
}

/// Where a circuit comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The library has the table.
    Known {
        /// The S-box, as in "Serpent S3".
        name: &'static str,
        /// Who published the circuit.
        source: &'static str,
    },
    /// The synthesiser made it.
    Synthesised {
        /// The method whose proposal led to the smallest circuit.
        method: &'static str,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Known { name, source } => write!(f, "{name}: {source}"),
            Origin::Synthesised { method } => write!(f, "synthesised: {method}"),
        }
    }
}

/// A circuit for `table`, whose entry `v` is the output for input value `v`; `has_and_not`: the
/// processor takes the complement of a factor with the product.
///
/// Panics: when the table does not have `2^n_inputs` entries of at most `n_outputs` bits, or when
/// there are more than [`N_INPUTS_MAX`] inputs or 64 outputs.
pub fn circuit_for(
    (table, n_inputs, n_outputs): (&[u64], u32, u32),
    order: BitOrder,
    has_and_not: bool,
) -> Found {
    synth::check_table(table, n_inputs, n_outputs);
    match known::find((table, n_inputs, n_outputs), order, has_and_not) {
        Some(found) => found,
        None => synthesise(table, n_inputs, n_outputs, order, SynthEffort::Normal),
    }
}

impl Circuit {
    /// Evaluates 64 inputs at once: bit `l` of `inputs[i]` is input `i` in lane `l`.
    pub fn eval_bits(&self, inputs: &[u64]) -> Vec<u64> {
        assert_eq!(inputs.len(), self.n_inputs as usize, "one word for each input");
        let mut wires = inputs.to_vec();
        for gate in &self.gates {
            let at = |wire: Wire| wires[wire as usize];
            let value = match *gate {
                Gate::And(a, b) => at(a) & at(b),
                Gate::Or(a, b) => at(a) | at(b),
                Gate::Xor(a, b) => at(a) ^ at(b),
                Gate::AndNot(a, b) => at(a) & !at(b),
                Gate::Not(a) => !at(a),
                Gate::Zero => 0,
                Gate::One => !0,
            };
            wires.push(value);
        }
        self.outputs.iter().map(|&wire| wires[wire as usize]).collect()
    }

    /// The number of operations; the constants are not operations.
    pub fn n_gates(&self) -> usize {
        let is_free = |gate: &&Gate| matches!(gate, Gate::Zero | Gate::One);
        self.gates.len() - self.gates.iter().filter(is_free).count()
    }

    /// The table that the circuit computes.
    pub fn table(&self, order: BitOrder) -> Vec<u64> {
        let n_entries = 1usize << self.n_inputs;
        let mut table = vec![0; n_entries];
        for first in (0..n_entries).step_by(64) {
            let inputs: Vec<u64> = (0..self.n_inputs)
                .map(|wire| {
                    let bit = order.position(wire, self.n_inputs);
                    (0..64).fold(0, |word, lane| word | ((first as u64 + lane) >> bit & 1) << lane)
                })
                .collect();
            for (output, word) in (0..).zip(self.eval_bits(&inputs)) {
                let bit = order.position(output, self.outputs.len() as u32);
                for (lane, entry) in table[first..].iter_mut().take(64).enumerate() {
                    *entry |= (word >> lane & 1) << bit;
                }
            }
        }
        table
    }

    /// Checks that every gate reads earlier wires only and that every output exists.
    ///
    /// Panics: if it finds one that does not.
    pub fn verify(&self) {
        for (wire, gate) in (self.n_inputs..).zip(&self.gates) {
            for read in gate.reads().into_iter().flatten() {
                assert!(read < wire, "wire {wire} reads wire {read}, which is not before it");
            }
        }
        let n_wires = self.n_inputs as usize + self.gates.len();
        for &output in &self.outputs {
            assert!((output as usize) < n_wires, "output wire {output} does not exist");
        }
    }

    /// The same circuit with inputs and outputs in the opposite order.
    fn reversed(&self) -> Circuit {
        let turn = |wire: Wire| {
            if wire < self.n_inputs { self.n_inputs - 1 - wire } else { wire }
        };
        let gates = self.gates.iter().map(|gate| gate.map(turn)).collect();
        let outputs = self.outputs.iter().rev().map(|&wire| turn(wire)).collect();
        Circuit { n_inputs: self.n_inputs, gates, outputs }
    }
}

impl Gate {
    /// The wires it reads.
    pub fn reads(&self) -> [Option<Wire>; 2] {
        match *self {
            Gate::And(a, b) | Gate::Or(a, b) | Gate::Xor(a, b) | Gate::AndNot(a, b) => {
                [Some(a), Some(b)]
            }
            Gate::Not(a) => [Some(a), None],
            Gate::Zero | Gate::One => [None, None],
        }
    }

    fn map(&self, turn: impl Fn(Wire) -> Wire) -> Gate {
        match *self {
            Gate::And(a, b) => Gate::And(turn(a), turn(b)),
            Gate::Or(a, b) => Gate::Or(turn(a), turn(b)),
            Gate::Xor(a, b) => Gate::Xor(turn(a), turn(b)),
            Gate::AndNot(a, b) => Gate::AndNot(turn(a), turn(b)),
            Gate::Not(a) => Gate::Not(turn(a)),
            Gate::Zero => Gate::Zero,
            Gate::One => Gate::One,
        }
    }
}

impl BitOrder {
    pub fn opposite(self) -> BitOrder {
        match self {
            BitOrder::MsbFirst => BitOrder::LsbFirst,
            BitOrder::LsbFirst => BitOrder::MsbFirst,
        }
    }

    /// The bit position, counted from the least significant, of wire `wire` of `n_wires`.
    fn position(self, wire: u32, n_wires: u32) -> u32 {
        match self {
            BitOrder::MsbFirst => n_wires - 1 - wire,
            BitOrder::LsbFirst => wire,
        }
    }
}
