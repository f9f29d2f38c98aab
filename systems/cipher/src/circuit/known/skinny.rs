//! The eight-bit S-box of SKINNY-128.

use super::{BitOrder, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    // Each of the eight `x ^ nor(a, b)` is taken as the complement of `x ^ (a | b)`.
    Entry {
        name: "SKINNY-128",
        source: "Beierle et al., CRYPTO 2016",
        order: BitOrder::MsbFirst,
        table: "654c6a424b63436b55755a7a53735b7b358c3a818933803b9525982a9023992b \
            e5cce8c1c9e0c0e9d5f5d8f8d0f0d9f9a51ca8121ba013a905b50ab803b00bb9 \
            32883c858d34843d91229c2c94249d2d624a6c454d64446d52725c7c54745d7d \
            a11aac151da414ad02b10cbc04b40dbde1c8ecc5cde4c4edd1f1dcfcd4f4ddfd \
            368e38828b30833996269a2893209b29664e6841496040695676587850705979 \
            a61eaa1119a310ab06b608ba00b309bbe6ceeac2cbe3c3ebd6f6dafad3f3dbfb \
            318a3e868f37873f92219e2e97279f2f61486e464f67476f51715e7e57775f7f \
            a218ae161fa717af01b20ebe07b70fbfe2caeec6cfe7c7efd2f2defed7f7dfff",
        n_inputs: 8,
        n_outputs: 8,
        circuit: "o0 = x0 | x1; e0 = x3 ^ o0; c0 = !e0; o1 = x4 | x5; e1 = x7 ^ o1; c1 = !e1; o2 = x5 |
            x6; e2 = x1 ^ o2; c2 = !e2; o3 = c0 | c1; e3 = x2 ^ o3; c3 = !e3; o4 = c1 | x4; e4 = x6
            ^ o4; c4 = !e4; o5 = c2 | c3; e5 = x0 ^ o5; c5 = !e5; o6 = c3 | c0; e6 = x4 ^ o6; c6 =
            !e6; o7 = c4 | c5; e7 = x5 ^ o7; c7 = !e7; y0 = c3; y1 = c0; y2 = c1; y3 = c6; y4 = c4;
            y5 = c2; y6 = c5; y7 = c7",
        is_legacy_lsb_first: false,
    },
];
