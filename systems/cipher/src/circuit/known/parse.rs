//! Reads the notation of the library.
//!
//! ```text
//! t = x1 & !x0; y0 = x3 ^ t; y1 = !t; ...
//! ```
//!
//! `x0, x1, ...` are the inputs and `y0, y1, ...` the outputs; every other name is a step in
//! between. A name is given once, before it is read. The operations are `a & b`, `a | b`,
//! `a ^ b`, `a & !b`, `!a` and the copy `a`, which is no gate.

use std::collections::HashMap;

use super::super::{Circuit, Gate, Wire};

/// Hex entries of equal width, as many digits as `n_outputs` bits need. Spaces are skipped.
pub(super) fn table(digits: &str, n_outputs: u32) -> Vec<u64> {
    let digits: Vec<u64> =
        digits.chars().filter_map(|digit| digit.to_digit(16)).map(u64::from).collect();
    let width = n_outputs.div_ceil(4) as usize;
    digits
        .chunks(width)
        .map(|entry| entry.iter().fold(0, |value, digit| value << 4 | digit))
        .collect()
}

/// The circuit of a text; a text that is wrong is a mistake in the library and panics.
pub(super) fn circuit(text: &'static str, n_inputs: u32, n_outputs: u32) -> Circuit {
    let mut wires: HashMap<String, Wire> =
        (0..n_inputs).map(|idx| (format!("x{idx}"), idx)).collect();
    let mut circuit = Circuit { n_inputs, gates: Vec::new(), outputs: Vec::new() };
    for step in text.split(';').map(str::trim).filter(|step| !step.is_empty()) {
        let words: Vec<&str> = step.split_whitespace().collect();
        let at = |name: &str| {
            *wires.get(name).unwrap_or_else(|| panic!("`{name}` is not defined before `{step}`"))
        };
        let gate = match words[..] {
            [_, "=", a, "^", b] => Some(Gate::Xor(at(a), at(b))),
            [_, "=", a, "|", b] => Some(Gate::Or(at(a), at(b))),
            [_, "=", a, "&", b] => Some(match b.strip_prefix('!') {
                Some(b) => Gate::AndNot(at(a), at(b)),
                None => Gate::And(at(a), at(b)),
            }),
            [_, "=", a] => a.strip_prefix('!').map(|a| Gate::Not(at(a))),
            _ => panic!("`{step}` is no step of a circuit"),
        };
        let wire = match gate {
            Some(gate) => {
                circuit.gates.push(gate);
                n_inputs + circuit.gates.len() as Wire - 1
            }
            None => at(words[2]),
        };
        let old = wires.insert(words[0].to_owned(), wire);
        assert!(old.is_none(), "`{}` is defined twice", words[0]);
    }
    circuit.outputs = (0..n_outputs).map(|idx| wires[&format!("y{idx}")]).collect();
    circuit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_step() {
        let read =
            circuit("t = x0 & !x1; u = t | x1; y0 = u ^ x0; y1 = !t; y2 = x1 & u; y3 = t", 2, 4);
        let gates =
            [Gate::AndNot(0, 1), Gate::Or(2, 1), Gate::Xor(3, 0), Gate::Not(2), Gate::And(1, 3)];
        assert_eq!(read, Circuit { n_inputs: 2, gates: gates.to_vec(), outputs: vec![4, 5, 6, 2] });
    }

    #[test]
    #[should_panic(expected = "`u` is not defined before `y0 = x0 ^ u`")]
    fn a_step_that_reads_ahead_is_refused() {
        circuit("y0 = x0 ^ u; u = !x0", 1, 1);
    }

    #[test]
    fn entries_have_equal_width() {
        assert_eq!(table("0a 1f", 5), [0x0a, 0x1f]);
        assert_eq!(table("0a1f", 4), [0, 10, 1, 15]);
    }
}
