//! S-boxes of four bits, Serpent's left out.

use super::{BitOrder, Entry};

/// These circuits are our own: the best of a long run of [`crate::circuit::synthesise`].
const FOUND: &str = "found by our synthesiser";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "Clyde",
        source: "Bellizia et al., Spook, ToSC 2020",
        order: BitOrder::LsbFirst,
        table: "081f2a794d56e3bc",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x0 & x1; y1 = x2 ^ t0; t2 = x0 & x3; y0 = x1 ^ t2; t4 = x3 & y1; y3 = x0 ^ t4; t6 =
            y1 & y0; y2 = x3 ^ t6",
        is_legacy_lsb_first: true,
    },
    // As small as the 11 instructions of Banik et al., CHES 2017.
    Entry {
        name: "GIFT",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "1a4c6f392db7508e",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x0 & x2; t1 = x1 ^ t0; t2 = x3 & t1; y3 = x0 ^ t2; t4 = t1 | y3; t5 = x2 ^ t4; t6 =
            x3 ^ t5; y1 = t1 ^ t6; t8 = y3 & y1; y2 = t5 ^ t8; y0 = !t6",
        is_legacy_lsb_first: false,
    },
    // Also PHOTON's. As small as Courtois, Hulme and Mourouzis, 2011: 14.
    Entry {
        name: "PRESENT",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "c56b90ad3ef84712",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x1 ^ x2; t1 = t0 & !x1; t2 = x3 ^ t1; y0 = x0 ^ t2; t4 = t0 & t2; t5 = x2 ^ t4; t6
            = x0 & !t5; t7 = t0 ^ t6; t8 = y0 ^ t7; y1 = t5 ^ t8; t10 = t2 ^ t7; y3 = !t10; t12 = y3
            & !y1; y2 = t7 ^ t12",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "Pyjamask",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "2d397ba6e0f4851c",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x1 & x2; t1 = x0 ^ x3; y0 = t0 ^ t1; t3 = x1 & t1; t4 = x3 ^ t3; t5 = y0 & !t4; t6
            = x2 ^ y0; t7 = t4 & t6; t8 = x1 ^ t7; y1 = t5 ^ t8; y3 = x2 ^ t8; y2 = !t4",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "Rectangle",
        source: "Zhang, Bao, Lin, Rijmen, Yang and Verbauwhede, 2015",
        order: BitOrder::LsbFirst,
        table: "65ca1e79b03d8f42",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = x0 & !x1; t1 = x2 ^ t0; y0 = x3 ^ t1; t3 = x1 & !x3; t4 = !t3; t5 = x0 ^ t4; y1 =
            x2 ^ t5; t7 = y0 & t5; t8 = x2 ^ t7; y3 = x1 ^ t8; t10 = y0 | y3; y2 = t5 ^ t10",
        is_legacy_lsb_first: true,
    },
    Entry {
        name: "Spongent",
        source: FOUND,
        order: BitOrder::LsbFirst,
        table: "edb0214f7a859c36",
        n_inputs: 4,
        n_outputs: 4,
        circuit: "t0 = !x2; t1 = t0 & !x1; t2 = x0 ^ t1; t3 = t0 ^ t2; y0 = x3 ^ t3; t5 = x3 & t2; t6 = x1
            ^ t5; t7 = y0 ^ t6; t8 = x3 | t7; t9 = t0 ^ t8; y2 = y0 ^ t9; t11 = t9 & !t6; y3 = t3 ^
            t11; y1 = !t7",
        is_legacy_lsb_first: false,
    },
];
