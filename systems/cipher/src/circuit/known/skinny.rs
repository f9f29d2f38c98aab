//! The eight-bit S-box of SKINNY-128.

use super::{BitOrder, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    // The definition has eight times `x ^ nor(a, b)`.
    Entry {
        name: "SKINNY-128",
        source: "Beierle et al., CRYPTO 2016, 24 gates, shrunk by our walk",
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
        circuit: "t0 = x0 | x1; t1 = x3 ^ t0; t2 = x4 | x5; t3 = x7 ^ t2; t4 = t1 & t3; y0 = x2 ^ t4; t6 =
            t1 & !y0; y3 = x4 ^ t6; t8 = t3 & !x4; y4 = x6 ^ t8; t10 = x5 | x6; t11 = x1 ^ t10; t12
            = t11 & !y0; y6 = x0 ^ t12; t14 = y4 | y6; t15 = x5 ^ t14; y1 = !t1; y2 = !t3; y5 =
            !t11; y7 = !t15",
        is_legacy_lsb_first: false,
    },
];
