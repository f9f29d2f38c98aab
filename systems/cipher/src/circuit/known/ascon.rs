//! The five-bit S-box of Ascon.

use super::{BitOrder, Entry};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "Ascon",
    source: "Ascon v1.2 by Dobraunig et al., 17 gates, shrunk by our walk",
    order: BitOrder::MsbFirst,
    table: "040b1f141a1509021b0508121d03061c1e13070e000d1118100c0119160a0f17",
    n_inputs: 5,
    n_outputs: 5,
    circuit:
        "t0 = x0 ^ x4; t1 = x1 ^ x2; t2 = x2 | t1; t3 = t0 ^ t2; t4 = x1 ^ t3; t5 = x3 ^ x4; t6 =
            t3 & !t4; y4 = t5 ^ t6; y0 = t4 ^ y4; t9 = x3 & !t1; y1 = t3 ^ t9; t11 = x4 & t5; t12 =
            t1 ^ t11; t13 = x0 | t5; y3 = t1 ^ t13; y2 = !t12",
    is_legacy_lsb_first: false,
}];
