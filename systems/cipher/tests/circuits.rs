//! Circuits compute their tables: the known ones, the synthesised ones, in both bit orders.

use cipher::circuit::{
    BitOrder, Circuit, Gate, Origin, SynthEffort, bdd_baseline, circuit_for, known_sboxes,
    legacy_lsb_first, shrink, synthesise,
};
use fastrand::Rng;

/// Seeds of the random tables of each test.
const SEEDS: [u64; 4] = [20, 21, 22, 23];

const BOTH: [BitOrder; 2] = [BitOrder::MsbFirst, BitOrder::LsbFirst];

fn check(circuit: &Circuit, table: &[u64], order: BitOrder) {
    circuit.verify();
    assert_eq!(circuit.table(order), table, "{order:?}, seeds {SEEDS:?}");
}

#[test]
fn known_circuits_equal_their_tables() {
    for sbox in known_sboxes() {
        sbox.circuit.verify();
        assert_eq!(sbox.circuit.table(sbox.order), sbox.table, "{}", sbox.name);
    }
}

#[test]
fn known_tables_are_found_in_both_orders() {
    for sbox in known_sboxes() {
        for (order, has_and_not) in
            BOTH.into_iter().flat_map(|order| [(order, true), (order, false)])
        {
            let n_outputs = sbox.circuit.outputs.len() as u32;
            let table = (&sbox.table[..], sbox.circuit.n_inputs, n_outputs);
            let found = circuit_for(table, order, has_and_not);
            check(&found.circuit, &sbox.table, order);
            assert!(matches!(found.origin, Origin::Known { .. }), "{} {order:?}", sbox.name);
        }
    }
}

#[test]
fn aes_has_a_circuit_without_and_not_for_processors_without() {
    let sboxes = known_sboxes();
    let aes = sboxes.iter().find(|sbox| sbox.name == "AES").expect("the library has it");
    let and_nots = |has_and_not| {
        let circuit = circuit_for((&aes.table, 8, 8), BitOrder::MsbFirst, has_and_not).circuit;
        circuit.gates.iter().filter(|gate| matches!(gate, Gate::AndNot(..))).count()
    };
    assert_eq!((and_nots(true), and_nots(false)), (16, 0));
}

#[test]
fn random_tables_are_synthesised_no_larger_than_their_diagrams() {
    let mut rng = Rng::with_seed(SEEDS[0]);
    for n_inputs in 1..=8 {
        for n_outputs in 1..=8 {
            let table: Vec<u64> = (0..1 << n_inputs).map(|_| rng.u64(..1 << n_outputs)).collect();
            let order = BOTH[(n_inputs + n_outputs) as usize % 2];
            let found = synthesise(&table, n_inputs, n_outputs, order, SynthEffort::Quick);
            check(&found.circuit, &table, order);
            let bdd = bdd_baseline(&table, n_inputs, n_outputs, order);
            check(&bdd, &table, order);
            assert!(found.circuit.n_gates() <= bdd.n_gates(), "{n_inputs} to {n_outputs} bits");
        }
    }
}

#[test]
fn normal_effort_is_deterministic_and_right() {
    let mut rng = Rng::with_seed(SEEDS[1]);
    for n_inputs in [3, 4] {
        let mut table: Vec<u64> = (0..1 << n_inputs).collect();
        rng.shuffle(&mut table);
        for order in BOTH {
            let found = circuit_for((&table, n_inputs, n_inputs), order, true);
            check(&found.circuit, &table, order);
            assert_eq!(found, circuit_for((&table, n_inputs, n_inputs), order, true));
        }
    }
}

#[test]
fn degenerate_tables() {
    for n_inputs in 1..=8 {
        let n_entries = 1u64 << n_inputs;
        for order in BOTH {
            let identity: Vec<u64> = (0..n_entries).collect();
            let complement: Vec<u64> = (0..n_entries).rev().collect();
            for (table, n_gates) in [
                (vec![0; n_entries as usize], 0),
                (vec![n_entries - 1; n_entries as usize], 0),
                (identity, 0),
                (complement, n_inputs as usize),
            ] {
                let found = synthesise(&table, n_inputs, n_inputs, order, SynthEffort::Quick);
                check(&found.circuit, &table, order);
                assert_eq!(found.circuit.n_gates(), n_gates);
            }
        }
    }
    check(&circuit_for((&[2], 0, 2), BitOrder::MsbFirst, true).circuit, &[2], BitOrder::MsbFirst);
}

#[test]
fn outputs_may_outnumber_inputs() {
    let mut rng = Rng::with_seed(SEEDS[2]);
    for (n_inputs, n_outputs) in [(3, 64), (5, 40), (8, 1)] {
        let mask = u64::MAX >> (64 - n_outputs);
        let table: Vec<u64> = (0..1 << n_inputs).map(|_| rng.u64(..) & mask).collect();
        let found = synthesise(&table, n_inputs, n_outputs, BitOrder::LsbFirst, SynthEffort::Quick);
        check(&found.circuit, &table, BitOrder::LsbFirst);
    }
}

#[test]
fn large_tables_fall_back_to_the_diagram() {
    let mut rng = Rng::with_seed(SEEDS[3]);
    for n_inputs in [9, 12, 16] {
        let table: Vec<u64> = (0..1 << n_inputs).map(|_| rng.u64(..16)).collect();
        for order in BOTH {
            let found = circuit_for((&table, n_inputs, 4), order, true);
            check(&found.circuit, &table, order);
        }
    }
}

#[test]
#[should_panic(expected = "too large for a circuit: the limit is 16")]
fn tables_of_17_bits_are_refused() {
    circuit_for((&vec![0; 1 << 17], 17, 1), BitOrder::MsbFirst, true);
}

#[test]
fn exceptions_of_the_original_compiler() {
    let hex = |digits: &str| -> Vec<u64> {
        digits.chars().map(|digit| u64::from(digit.to_digit(16).expect("hex"))).collect()
    };
    for (name, digits) in [
        ("Rectangle", "65ca1e79b03d8f42"),
        ("Clyde", "081f2a794d56e3bc"),
        ("Serpent S0", "38f1a65bed42709c"),
        ("Serpent S1", "fc27905a1be86d34"),
        ("Serpent S2", "86793cafd1e40b52"),
        ("Serpent S3", "0fb8c963d124a75e"),
        ("Serpent S4", "1f83c0b6254a9e7d"),
        ("Serpent S5", "f52b4a9c03e8d671"),
        ("Serpent S6", "72c5846be91fd3a0"),
        ("Serpent S7", "1df0e82b74ca9356"),
    ] {
        assert_eq!(legacy_lsb_first(&hex(digits)), Some(name));
    }
    for sbox in known_sboxes() {
        let is_exception =
            ["Rectangle", "Clyde"].contains(&sbox.name) || sbox.name.starts_with("Serpent S");
        assert_eq!(legacy_lsb_first(&sbox.table).is_some(), is_exception, "{}", sbox.name);
    }
}

#[test]
fn shrink_keeps_the_function_and_never_grows() {
    for sbox in known_sboxes() {
        let smaller = shrink(&sbox.circuit, SynthEffort::Quick);
        check(&smaller, &sbox.table, sbox.order);
        assert!(smaller.n_gates() <= sbox.circuit.n_gates(), "{}", sbox.name);
    }
    let table = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2];
    let bdd = bdd_baseline(&table, 4, 4, BitOrder::MsbFirst);
    let smaller = shrink(&bdd, SynthEffort::Normal);
    check(&smaller, &table, BitOrder::MsbFirst);
    assert!(smaller.n_gates() < bdd.n_gates());
}
