//! The five-bit S-box of Ascon.

use super::{BitOrder, Entry};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "Ascon",
    source: "Dobraunig, Eichlseder, Mendel and Schlaeffer, Ascon v1.2, 2021",
    order: BitOrder::MsbFirst,
    table: "040b1f141a1509021b0508121d03061c1e13070e000d1118100c0119160a0f17",
    n_inputs: 5,
    n_outputs: 5,
    circuit: "a0 = x0 ^ x4; a4 = x4 ^ x3; a2 = x2 ^ x1; n0 = x1 & !a0; n1 = a2 & !x1; n2 = x3 & !a2;
            n3 = a4 & !x3; n4 = a0 & !a4; b0 = a0 ^ n1; b1 = x1 ^ n2; b2 = a2 ^ n3; b3 = x3 ^ n4; y4
            = a4 ^ n0; y1 = b1 ^ b0; y0 = b0 ^ y4; y3 = b3 ^ b2; y2 = !b2",
    is_legacy_lsb_first: false,
}];
