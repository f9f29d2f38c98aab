//! Serpent's eight S-boxes and their inverses, least significant bit first as in its bitslice form.
//!
//! D. Osvik, "Speeding up Serpent", 2000, is the usual reference; he counts register moves too.

use super::{BitOrder, Entry};

/// These circuits are our own: the best of a long run of [`crate::circuit::synthesise`].
const FOUND: &str = "found by our synthesiser";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "Serpent S0",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "38f1a65bed42709c",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x2 ^ x3; t1 = x0 ^ x3; t2 = x1 & t1; t3 = t0 ^ t2; t4 = x0 | x3; t5 = x1 ^ t4; y3 =
            x2 ^ t5; t7 = y3 & !t3; t8 = t1 ^ t7; t9 = t5 ^ t8; y1 = !t9; y0 = t3 ^ y1; t12 = t3 &
            y0; y2 = t8 ^ t12",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "Serpent S1",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "fc27905a1be86d34",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = !x2; t2 = t0 ^ x1; t3 = t0 & !t2; t4 = t1 ^ t3; y2 = x3 ^ t4; t6 = x3 &
            !t2; t7 = t0 ^ t6; t8 = t4 | t7; t9 = y2 ^ t8; y1 = t2 ^ t9; t11 = t7 ^ y1; y3 = t4 ^
            t11; t13 = y3 & !y1; y0 = t4 ^ t13",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "Serpent S2",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "86793cafd1e40b52",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x2 & !x0; t1 = x3 ^ t0; y0 = x1 ^ t1; t3 = x2 ^ t1; t4 = t3 & !x1; t5 = x0 ^ t4; t6
            = y0 ^ t5; t7 = t3 & !t5; t8 = t1 ^ t7; t9 = t6 | t8; y1 = t3 ^ t9; y2 = t8 ^ y1; y3 =
            !t6",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "Serpent S3",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "0fb8c963d124a75e",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x0 ^ x1; t1 = x1 & !x3; t2 = x2 ^ t1; t3 = x0 & t2; t4 = t0 | t3; t5 = x3 ^ t4; t6
            = t5 & !t0; t7 = x1 ^ t6; t8 = t7 & !t2; y0 = t0 ^ t8; y2 = t2 ^ t5; t11 = y0 & y2; y1 =
            t7 ^ t11; y3 = t2 ^ t11",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "Serpent S4",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "1f83c0b6254a9e7d",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x3 & !x0; t1 = x2 ^ t0; t2 = x1 & !t1; t3 = x0 ^ t2; t4 = x3 ^ t1; y3 = t3 ^ t4; t6
            = x1 & y3; t7 = t1 ^ t6; t8 = x3 | t3; t9 = t8 & !t4; y1 = x1 ^ t9; t11 = t7 & !y1; y2 =
            t3 ^ t11; y0 = !t7",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "Serpent S5",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "f52b4a9c03e8d671",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = t0 & x1; t2 = x2 ^ t1; t3 = x3 & !t2; t4 = x1 ^ t3; t5 = t0 ^ t2; y1 = t4
            ^ t5; t7 = x3 & !y1; t8 = t2 ^ t7; t9 = t4 & !t8; t10 = t5 | t9; y3 = x3 ^ t10; t12 = t8
            & y3; t13 = t4 ^ t12; y0 = !t8; y2 = !t13",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "Serpent S6",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "72c5846be91fd3a0",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = t0 ^ x3; t2 = t1 & !t0; t3 = x2 ^ t2; t4 = x1 ^ t3; t5 = t1 & t4; t6 = x3
            ^ t5; t7 = t3 & !t6; t8 = t4 ^ t7; y0 = t1 ^ t8; t10 = t3 ^ t6; y2 = y0 ^ t10; t12 = t10
            & !y0; y3 = t3 ^ t12; y1 = !t4",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "Serpent S7",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "1df0e82b74ca9356",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x2 & !x1; t1 = x3 ^ t0; t2 = x0 & !t1; t3 = x2 ^ t2; y3 = x1 ^ t3; t5 = x2 & !t1;
            t6 = t1 ^ y3; t7 = t6 & !t2; t8 = x0 ^ t7; t9 = t5 ^ t8; t10 = t9 & !y3; t11 = t1 ^ t10;
            y1 = t3 ^ t8; y2 = t9 ^ t11; y0 = !t11",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "inverse of Serpent S0",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "d3b0a65c1e47f982",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = !x3; t1 = x0 | x1; t2 = x2 ^ t1; y2 = t0 ^ t2; t4 = x1 ^ y2; t5 = x0 ^ t4; t6 = t2
            ^ t5; t7 = t6 & !t0; t8 = t4 ^ t7; t9 = t8 & !t5; t10 = t6 & !t8; t11 = t9 ^ t10; y1 =
            t2 ^ t9; y3 = t8 ^ t11; y0 = !t11",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "inverse of Serpent S1",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "582ef6c3b4791da0",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x1 ^ x3; t1 = x2 ^ t0; t2 = t0 & !x1; t3 = x0 ^ t2; y3 = x2 ^ t3; t5 = t3 & !t0; t6
            = x1 ^ t5; t7 = t1 ^ t6; t8 = y3 & t7; t9 = t1 ^ t8; y0 = !t9; y1 = t6 ^ t8; t12 = t7 |
            y0; y2 = t3 ^ t12",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "inverse of Serpent S2",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "c9f4be12036d58a7",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = !x3; t1 = x1 ^ x2; t2 = t0 & !t1; t3 = x2 ^ t2; t4 = x0 ^ t3; t5 = t0 ^ t4; t6 = t3
            & !t5; y2 = t1 ^ t6; y1 = t4 ^ y2; t9 = t3 & y1; y0 = t5 ^ t9; t11 = y2 & y0; y3 = t3 ^
            t11",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "inverse of Serpent S3",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "09a7be6d35c248f1",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x1 & !x2; t1 = x0 ^ t0; t2 = x3 | t1; t3 = x1 ^ t2; y0 = x2 ^ t3; t5 = x0 | x1; t6
            = t2 & !y0; t7 = x3 ^ t6; t8 = t5 ^ t7; t9 = y0 | t8; y1 = t1 ^ t9; t11 = t3 ^ t7; y2 =
            t1 ^ t11; y3 = t8 ^ y1",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "inverse of Serpent S4",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "5083a97e2cb64fd1",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = t0 & !x1; t2 = x2 ^ t1; t3 = x3 ^ t2; t4 = t0 | t2; t5 = t4 & !t3; y1 =
            x1 ^ t5; t7 = x3 & y1; t8 = t0 ^ t7; t9 = y1 & !t8; y0 = t2 ^ t9; y3 = t3 ^ t8; t12 = y0
            & y3; y2 = t3 ^ t12",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "inverse of Serpent S5",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "8f2941deb6537ca0",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x3 & !x0; t1 = x2 ^ t0; t2 = x1 ^ t1; t3 = x0 & x1; t4 = t2 & !t3; t5 = x3 ^ t4; t6
            = x1 | t5; t7 = x0 ^ t6; y0 = t2 ^ t7; t9 = t5 | t7; y1 = t1 ^ t9; t11 = y1 & !y0; y2 =
            t7 ^ t11; y3 = !t5",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "inverse of Serpent S6",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "fa1d536049e72c8b",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x0 ^ x2; t1 = t0 & !x0; t2 = x3 ^ t1; t3 = t0 & t2; t4 = x0 ^ t3; t5 = x1 & t4; t6
            = t0 ^ t5; t7 = t2 ^ t6; y0 = !t7; t9 = x1 ^ y0; y1 = t6 ^ t9; y3 = t4 ^ t9; t12 = y0 &
            y3; y2 = t2 ^ t12",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "inverse of Serpent S7",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "306d9ef85cb7a142",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = t0 & !x3; t2 = x2 | x3; t3 = t2 & !x1; t4 = t1 ^ t3; t5 = x3 & !t0; t6 =
            x1 | t5; t7 = x2 ^ t6; y0 = t4 ^ t7; t9 = t0 & t2; t10 = y0 & !t9; t11 = x3 ^ t10; y2 =
            t7 ^ t9; y1 = t11 ^ y2; t14 = x1 & !t11; y3 = t7 ^ t14",
        is_legacy_lsb_first: false,
    },
];
