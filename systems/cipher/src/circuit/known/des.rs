//! The eight S-boxes of DES. Input 0 and output 0 are the leftmost bits, as FIPS 46-3 numbers them.
//!
//! Found as M. Kwan did, "Reducing the gate count of bitslice DES", 2000, then shrunk. Smaller ones
//! are published: R. Rusakov's of 2011, in John the Ripper.

use super::{BitOrder, Entry};

/// These circuits are our own: the best of a long run of [`crate::circuit::synthesise`].
const FOUND: &str = "found by our synthesiser";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "DES S1",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "e04fd7142ef2bd813aa66ccb599503784f1ce882d46921b7f5cb937e3aa0560d",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = x5 & !x3; t2 = t0 ^ x3; t3 = t1 & t2; t4 = x2 & !t3; t5 = t2 ^ t4; t6 =
            t5 & !t0; t7 = x5 | t6; t8 = t4 ^ t7; t9 = x4 & !t3; t10 = x2 ^ t9; t11 = x5 & !t10; t12
            = x1 | t11; t13 = x4 & t8; t14 = t5 ^ t13; t15 = t14 & !t0; t16 = x4 | t2; t17 = t16 &
            !t15; t18 = t7 | t17; t19 = t18 & !t12; t20 = t8 & !t19; t21 = x1 ^ t20; t22 = x4 ^ t21;
            t23 = x5 ^ t22; t24 = t8 ^ t17; t25 = t12 ^ t23; t26 = t25 & !t9; t27 = t24 ^ t26; t28 =
            t19 | t27; t29 = t28 & !t11; t30 = x3 & !t29; t31 = t24 ^ t30; t32 = t15 | t31; y0 = t23
            ^ t32; t34 = t14 ^ t19; t35 = y0 & !t27; t36 = t23 | t35; t37 = t34 & t36; t38 = t11 ^
            t20; t39 = t37 ^ t38; t40 = t28 ^ t39; t41 = t12 ^ t40; t42 = t41 & !t4; t43 = t34 ^
            t42; t44 = t16 & t43; t45 = t37 & !t35; t46 = t22 | t45; y2 = t44 ^ t46; t48 = t1 ^ t26;
            t49 = t48 & !t16; t50 = t35 | t49; y3 = t39 ^ t50; y1 = !t34",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S2",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "f31d84e76fb2384e9c7021dac6095ba50de87ab1a34fd4125b86c76c90352ef9",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = x1 & !t0; t2 = x2 | t1; t3 = x3 & x4; t4 = x5 & !t3; t5 = x1 ^ t4; t6 =
            x2 ^ x3; t7 = t1 & t6; t8 = t2 & !t0; t9 = x5 & t8; t10 = x4 ^ t9; t11 = t10 & !t4; t12
            = t7 & t11; t13 = t0 | t12; t14 = t5 ^ t13; t15 = x4 | t7; t16 = t14 ^ t15; t17 = t2 ^
            t16; t18 = t5 & !x2; t19 = x3 ^ t18; t20 = x5 & !t8; t21 = t10 & t14; t22 = t5 ^ t21;
            t23 = t22 & !t8; t24 = t20 ^ t23; t25 = t19 & t24; y0 = t17 ^ t25; t27 = x3 & !x5; t28 =
            x1 & t27; t29 = x4 ^ t13; t30 = t19 ^ t29; y1 = t28 ^ t30; t32 = t21 | t30; t33 = x1 ^
            t11; t34 = t23 & !t10; t35 = t14 & !t24; t36 = t34 ^ t35; t37 = t7 ^ t36; t38 = t37 &
            !y0; t39 = t33 ^ t38; y3 = y1 ^ t39; t41 = y3 & !t32; t42 = t17 & !t35; t43 = t1 ^ t42;
            t44 = t41 ^ t43; t45 = t44 & !t18; t46 = t19 ^ t37; t47 = t45 ^ t46; y2 = t20 ^ t47",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S3",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "ad0790e96334f65a12d8c57ebc4b2f81d16a4d9086f93807b41f2ec35ba5e27c",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x4; t1 = x2 ^ x3; t2 = t0 ^ t1; t3 = x2 ^ x5; t4 = x1 & !t3; t5 = t1 ^ t4; t6 = x0
            & !t5; t7 = t2 ^ t6; t8 = t0 & !t7; t9 = x5 & !t4; t10 = x3 | t9; t11 = x1 ^ t10; t12 =
            t11 & !t8; t13 = x0 & t10; t14 = t3 ^ t13; t15 = x1 ^ t14; t16 = x0 ^ t1; t17 = t11 ^
            t16; t18 = t4 & t17; t19 = t15 ^ t18; t20 = t12 ^ t19; t21 = x0 ^ t8; y3 = t8 ^ t15; t23
            = t11 & t14; t24 = y3 | t23; t25 = t24 & !t1; t26 = t21 ^ t25; t27 = t14 & t26; t28 =
            t20 ^ t27; t29 = x3 ^ t28; t30 = t2 ^ t29; t31 = x3 | t14; t32 = t5 | t25; t33 = t2 ^
            t32; t34 = t20 | t33; t35 = t17 ^ t34; t36 = t9 ^ t35; t37 = t0 & !t36; t38 = t23 ^ t37;
            t39 = t7 | t38; t40 = y3 & !t39; t41 = t31 ^ t40; t42 = t9 & t41; y0 = t30 ^ t42; t44 =
            t35 & !t13; y1 = t33 ^ t44; t46 = x3 & !y1; t47 = t30 & !t46; t48 = t12 & !t40; t49 =
            t48 & !t47; y2 = t39 ^ t49",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S4",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "7dd8eb35066f90a31427825cb1ca4ef9a36f9006cab17dd8f91435eb5c27824e",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x1; t1 = x4 & !x2; t2 = x3 & !t1; t3 = x0 ^ t2; t4 = x2 & t3; t5 = x4 ^ t3; t6 =
            t5 & !t4; t7 = x0 & t6; t8 = t4 ^ t7; t9 = t0 ^ x3; t10 = x2 ^ t5; t11 = t8 ^ t10; t12 =
            t2 | t11; t13 = t12 & !t9; t14 = t5 ^ t13; t15 = t8 & t14; t16 = t9 & !x5; t17 = t0 |
            t16; t18 = t9 & !t8; t19 = t0 ^ t11; t20 = x0 ^ t19; t21 = t18 | t20; t22 = x4 ^ t21;
            t23 = x5 & t22; t24 = t18 ^ t23; y2 = t10 ^ t24; t26 = x5 ^ y2; t27 = t22 ^ t26; t28 =
            t6 | t24; t29 = t12 ^ t28; t30 = t27 | t29; t31 = y2 ^ t30; t32 = t17 ^ t31; y1 = t15 ^
            t32; t34 = t13 & !t6; t35 = t9 & t19; t36 = t34 ^ t35; t37 = y1 ^ t36; y0 = x5 ^ t37; y3
            = !t27",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S5",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "2ecb421c74a7bd6185503ffad309e8964b281cb7a1de728df69fc0596a3405e3",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = x1 ^ x5; t1 = x2 ^ t0; t2 = x1 ^ t1; t3 = x3 | t2; t4 = x0 ^ t3; t5 = t0 & !t2; t6
            = x3 | t5; t7 = x1 & !t6; t8 = x0 | t7; t9 = t6 ^ t8; t10 = t1 ^ t9; t11 = x4 | t10; t12
            = x3 ^ x5; t13 = x2 & !x4; t14 = t12 | t13; t15 = t10 & !t14; t16 = x0 & !t4; t17 = x2 &
            !t4; t18 = t16 ^ t17; t19 = t18 & !t5; t20 = x4 ^ t19; t21 = t11 & !t1; t22 = t20 ^ t21;
            t23 = t4 | t22; t24 = t15 ^ t23; t25 = t3 & !t24; t26 = t11 ^ t25; t27 = t0 ^ t26; y0 =
            t4 ^ t27; t29 = x4 & !t18; y1 = t10 ^ t29; t31 = t6 & !t15; t32 = x5 ^ t31; t33 = t14 &
            t22; t34 = t7 ^ t33; t35 = t32 ^ t34; t36 = t29 | t35; t37 = x4 & t33; t38 = y0 ^ t37;
            t39 = t36 ^ t38; t40 = x2 | t39; t41 = t35 ^ t40; t42 = t41 & !t7; t43 = t11 ^ t16; t44
            = t42 ^ t43; t45 = y1 ^ t44; t46 = t20 | t23; t47 = x0 ^ t46; t48 = t35 ^ t47; t49 = t38
            & t48; t50 = y0 ^ t49; t51 = x1 ^ t50; y3 = t45 ^ t51; y2 = !t44",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S6",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "ca1fa4f2972c698506d13d4ee07b53b894e3f25c2985cf3a7b0e41a716d0b86d",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x1; t1 = x0 ^ x2; t2 = x5 ^ t1; t3 = x3 ^ t2; t4 = t0 & !x2; t5 = x4 ^ t4; t6 = t3
            ^ t5; t7 = t3 & !x2; t8 = t0 ^ x5; t9 = x0 & t8; t10 = t3 & !t9; t11 = x0 | x3; t12 = t8
            & t10; t13 = t11 & !t12; t14 = t13 & !x4; t15 = t7 ^ t14; t16 = t10 ^ t15; t17 = x5 &
            t16; t18 = t7 ^ t17; t19 = t11 & !x2; t20 = x3 & !t16; t21 = t19 ^ t20; t22 = t7 ^ t21;
            t23 = t0 ^ t19; t24 = x5 ^ t23; t25 = t0 | x3; t26 = x2 & t9; t27 = t25 & !t26; t28 = t3
            ^ t27; t29 = t24 ^ t28; t30 = t29 & !t22; t31 = x4 & !t30; t32 = t18 & !t31; y0 = t6 ^
            t32; y1 = t28 ^ t31; t35 = t8 | t23; t36 = t21 & !x0; t37 = t35 ^ t36; t38 = x4 & !t37;
            t39 = t0 & !t31; t40 = t20 ^ t35; t41 = t13 & t40; t42 = t14 & !t1; t43 = t5 | t42; t44
            = t27 ^ t43; y3 = t41 ^ t44; t46 = t9 & y3; t47 = t6 ^ t46; t48 = t39 ^ t47; y2 = t38 ^
            t48",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S7",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "4db02be7f40981da3ec3957c52af6816164bbdd8c1347ae7a9f5608f0e52932c",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = x3 & !x4; t1 = t0 & !x2; t2 = x3 & !t1; t3 = x0 ^ x4; t4 = t2 ^ t3; t5 = x2 ^ t4;
            t6 = x0 & !t5; t7 = t0 ^ t6; t8 = x5 & !t7; t9 = t4 ^ t8; t10 = x5 ^ t5; t11 = t5 &
            !t10; t12 = t7 & t11; t13 = t9 & !t12; t14 = t10 ^ t13; t15 = x1 | t14; y3 = t9 ^ t15;
            t17 = x0 & !y3; t18 = x1 | t2; t19 = t17 ^ t18; t20 = x0 ^ t14; t21 = t0 | t15; t22 =
            t20 & t21; t23 = t22 & !t8; t24 = t4 & !t19; t25 = t23 & !t24; t26 = t19 & !t25; t27 =
            t9 ^ t26; t28 = t7 | t27; t29 = x1 ^ t20; t30 = t0 ^ t29; y0 = t28 ^ t30; t32 = t15 |
            t24; t33 = t6 ^ t30; t34 = x0 | y0; t35 = x5 & !t13; t36 = t34 ^ t35; t37 = x3 | t36;
            t38 = t11 ^ t37; t39 = t33 ^ t38; t40 = t21 & !t39; t41 = t32 ^ t40; t42 = x4 & t34; t43
            = t28 ^ t42; t44 = t22 & t36; t45 = t9 | y0; t46 = t45 & !t25; t47 = t44 ^ t46; y2 = t43
            ^ t47; y1 = !t41",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S8",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "d12f8d486af3b714ac9536eb500ec97272b14e1794cae82d0f6ca9d0f335568b",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x3; t1 = t0 & !x4; t2 = x2 ^ t1; t3 = x1 | t2; t4 = x4 & !t2; t5 = x5 ^ t4; t6 =
            t0 ^ t5; t7 = x5 | t6; t8 = t2 & t7; t9 = x0 & !t8; t10 = x4 ^ t5; t11 = t9 & !t10; t12
            = t3 & t11; t13 = x0 & !t5; t14 = x1 ^ t13; t15 = t7 & !x2; t16 = x4 ^ t15; t17 = t16 &
            !t14; t18 = t12 ^ t17; t19 = t2 ^ t9; t20 = x1 & t19; t21 = x0 & !t16; t22 = t6 ^ t21;
            y1 = t20 ^ t22; t24 = x5 & y1; t25 = x0 ^ t24; t26 = x1 ^ t25; t27 = t26 & !x4; t28 = x1
            & t6; t29 = t27 ^ t28; t30 = t25 ^ t29; t31 = y1 ^ t30; t32 = t18 ^ t31; t33 = t19 &
            !x4; t34 = t25 & !t31; t35 = t28 ^ t34; t36 = t35 & !t22; t37 = t0 ^ t36; t38 = t14 ^
            t37; y2 = t33 ^ t38; t40 = x4 & t3; t41 = x1 ^ t18; t42 = y2 ^ t41; t43 = t19 & t42; t44
            = t40 | t43; t45 = t7 & !t2; t46 = t27 & t45; t47 = t30 ^ t46; y3 = t44 ^ t47; y0 = !t32",
        is_legacy_lsb_first: false,
    },
];
