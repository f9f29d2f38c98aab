//! The eight S-boxes of DES. Input 0 and output 0 are the leftmost bits, as FIPS 46-3 numbers them.

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
        circuit: "t0 = !x0; t1 = x2 & !t0; t2 = x4 | t1; t3 = x3 | t2; t4 = t0 ^ t3; t5 = t4 & !x4; t6 =
            t0 | t5; t7 = x3 ^ t6; t8 = t2 ^ t5; t9 = x5 | t7; t10 = x2 ^ t9; t11 = t8 ^ t10; t12 =
            t1 | t11; t13 = t7 ^ t12; t14 = x5 | t12; t15 = x4 ^ t14; t16 = t13 & !t15; t17 = t8 &
            !t16; t18 = t13 | t17; t19 = t7 & !t15; t20 = t0 | t19; t21 = x3 ^ t20; t22 = t12 & t21;
            t23 = x1 | t22; t24 = t18 & !t19; t25 = x1 | t16; y2 = t11 ^ t25; t27 = y2 & !t15; t28 =
            t24 & !t27; t29 = x3 | t28; t30 = t3 & !t9; t31 = t24 ^ t30; t32 = t31 & !t0; t33 = t29
            ^ t32; t34 = x2 & !x5; t35 = t33 ^ t34; t36 = t23 ^ t35; y0 = t18 ^ t36; t38 = t21 ^
            t36; t39 = x5 & !t38; t40 = t23 & !y2; t41 = t21 | t23; t42 = x2 ^ t41; t43 = t31 ^ t42;
            t44 = t34 | t43; t45 = t38 ^ t44; t46 = t40 ^ t45; t47 = t39 ^ t46; t48 = t17 ^ t40; t49
            = t4 & !t48; t50 = t46 ^ t49; t51 = t35 | t50; t52 = t27 ^ t51; y3 = t48 ^ t52; y1 =
            !t47",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S2",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "f31d84e76fb2384e9c7021dac6095ba50de87ab1a34fd4125b86c76c90352ef9",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = x1 | x5; t2 = x3 & t1; t3 = t0 & x1; t4 = x4 | t3; t5 = x5 ^ t4; t6 = t0
            ^ t5; t7 = x5 | t6; t8 = x1 ^ t7; t9 = x4 ^ t8; t10 = x5 ^ t9; t11 = t6 ^ t10; t12 = t2
            ^ t11; t13 = t10 & !t5; t14 = x1 ^ t13; t15 = x2 & t14; t16 = x3 & t10; t17 = t12 ^ t16;
            t18 = t17 & !t14; t19 = x2 ^ t6; t20 = t18 ^ t19; t21 = t20 & !t15; y0 = t12 ^ t21; t23
            = t1 & !t19; t24 = t4 ^ t23; t25 = t12 | t17; t26 = t4 ^ t25; t27 = t8 & !t26; t28 = t14
            & !t27; t29 = x3 | t28; t30 = t9 ^ t29; y3 = t15 ^ t30; t32 = t2 & !y3; t33 = t10 &
            !t32; t34 = t1 & t33; t35 = t30 & !t34; t36 = t24 ^ t32; t37 = t33 & !x5; t38 = t26 ^
            t37; t39 = t36 ^ t38; t40 = t39 & !t8; t41 = t35 ^ t40; y1 = t24 ^ t41; t43 = x4 ^ t34;
            t44 = t20 & t43; t45 = x3 | t23; t46 = t20 | t27; t47 = t45 ^ t46; t48 = t47 & !t11; t49
            = t44 | t48; y2 = t36 ^ t49",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S3",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "ad0790e96334f65a12d8c57ebc4b2f81d16a4d9086f93807b41f2ec35ba5e27c",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x4; t1 = x3 & !x0; t2 = x2 ^ t1; t3 = t2 & !t0; t4 = t3 & !x5; t5 = x0 ^ t1; t6 =
            t5 & !x2; t7 = t4 ^ t6; t8 = x1 & !t7; t9 = x5 & !t3; t10 = t5 & t9; t11 = t0 & !t2; t12
            = x2 & t5; t13 = x3 ^ t12; t14 = t11 ^ t13; t15 = t10 ^ t14; y0 = t8 ^ t15; t17 = t4 |
            t10; t18 = x1 ^ t17; t19 = t6 ^ t9; t20 = t2 | t19; t21 = t20 & !t18; t22 = t11 & !t21;
            t23 = t9 | t12; t24 = x5 & !t8; t25 = t15 & !t24; t26 = t23 ^ t25; t27 = t22 ^ t26; t28
            = t7 | t27; t29 = t9 & !t1; t30 = y0 | t29; t31 = t13 & t30; t32 = t28 & !t31; t33 = t14
            | t17; t34 = t20 ^ t33; t35 = t1 | t27; y3 = t18 ^ t35; t37 = x3 ^ t3; t38 = t29 ^ t37;
            t39 = y3 | t38; t40 = t12 ^ t39; t41 = t34 ^ t40; t42 = t25 | t41; t43 = t24 | t40; t44
            = t2 ^ t43; t45 = t42 ^ t44; t46 = t34 & !t45; t47 = t18 ^ t46; y1 = t32 ^ t47; t49 = t5
            & y3; t50 = t23 ^ t49; t51 = t42 ^ t50; y2 = x1 ^ t51",
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
        circuit: "t0 = x0 ^ x5; t1 = x1 ^ t0; t2 = t1 & !t0; t3 = x4 & !t2; t4 = x0 ^ t3; t5 = x1 & !x4;
            t6 = t1 | t4; t7 = t6 & !x5; t8 = t5 ^ t7; t9 = x2 | t8; t10 = t9 & !t0; t11 = t10 &
            !t4; t12 = x0 & !x2; t13 = t6 & !t12; t14 = t8 & !t13; t15 = t11 | t14; t16 = x4 ^ t15;
            t17 = t1 ^ t16; t18 = t17 & !x3; t19 = t9 ^ t18; y0 = t4 ^ t19; t21 = x3 | t3; t22 = x4
            & !t18; t23 = t21 ^ t22; t24 = x2 ^ t23; t25 = t24 & !t5; t26 = t17 ^ t25; t27 = t16 &
            !t26; t28 = x2 & t27; t29 = x3 & !x1; t30 = x1 & t9; t31 = t29 | t30; t32 = t24 ^ t31;
            t33 = y0 & !t32; t34 = t26 ^ t33; t35 = x5 & t23; t36 = t25 ^ t35; t37 = t36 & !t6; y3 =
            t34 ^ t37; t39 = x1 ^ t19; t40 = y3 | t39; t41 = y0 & t40; t42 = t1 | t26; t43 = t32 ^
            t42; t44 = t21 & !t10; t45 = y0 ^ t44; t46 = t45 & !t3; t47 = x5 ^ t46; t48 = t32 | t47;
            t49 = t45 ^ t48; t50 = t49 & !t12; t51 = t43 ^ t50; t52 = x1 ^ t51; t53 = t41 ^ t52; t54
            = y3 ^ t53; y1 = t28 | t54; y2 = !t51",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S6",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "ca1fa4f2972c698506d13d4ee07b53b894e3f25c2985cf3a7b0e41a716d0b86d",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x1; t1 = x0 ^ x4; t2 = x3 ^ t1; t3 = x2 ^ t2; t4 = t1 & t3; t5 = x0 ^ t4; t6 = x3
            ^ t5; t7 = t1 | t6; t8 = t2 & !x4; t9 = t0 ^ t8; t10 = x0 ^ t0; t11 = t1 & t6; t12 = t10
            ^ t11; t13 = t3 ^ t12; t14 = t13 & !t9; t15 = t7 & !t14; t16 = t1 & !x5; t17 = x2 & t12;
            t18 = t16 ^ t17; t19 = t15 | t18; t20 = t4 & !t19; t21 = t9 & !x2; t22 = t3 ^ t21; t23 =
            t3 ^ t15; t24 = t8 ^ t23; t25 = x4 | t24; t26 = x5 & t25; t27 = t22 ^ t26; y0 = t20 ^
            t27; t29 = x5 ^ t8; t30 = t1 & t9; t31 = t15 & !t26; t32 = t31 & !t29; t33 = t30 ^ t32;
            t34 = t19 ^ t33; t35 = x3 & !y0; t36 = t34 | t35; t37 = t29 ^ t36; t38 = t37 & !t16; y2
            = t24 ^ t38; t40 = t10 & !t29; t41 = y2 & !t40; t42 = x5 & !t30; t43 = y0 ^ t42; t44 =
            t6 & t43; t45 = t34 ^ t44; t46 = t0 ^ t45; y1 = t41 ^ t46; t48 = t18 ^ t31; t49 = t15 ^
            t35; y3 = t48 ^ t49",
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
        circuit: "t0 = !x3; t1 = x4 & !x1; t2 = x0 ^ x2; t3 = x1 ^ t2; t4 = x0 | t3; t5 = t4 & !x1; t6 =
            x4 | t2; t7 = t5 ^ t6; t8 = x0 & !x5; t9 = t3 & !t6; t10 = t8 ^ t9; t11 = x4 ^ t1; t12 =
            x1 | t10; t13 = x2 & t12; t14 = t13 & !t11; t15 = t10 ^ t14; t16 = t0 & !t15; t17 = t7 ^
            t16; t18 = x0 ^ t17; t19 = x4 ^ t18; t20 = t19 & !t16; t21 = t3 ^ t20; t22 = t15 & !t21;
            t23 = x5 ^ t22; y1 = t17 ^ t23; t25 = t0 | t5; t26 = y1 ^ t25; t27 = x4 | t26; t28 = t1
            ^ t27; t29 = x2 & !t28; t30 = x1 ^ t25; t31 = t30 & !y1; t32 = t29 ^ t31; t33 = x5 &
            !t32; t34 = t21 ^ t27; t35 = t33 ^ t34; t36 = t13 & !t35; t37 = t0 ^ t23; t38 = t32 ^
            t37; t39 = x4 & !t38; t40 = x4 ^ t39; t41 = t36 | t40; t42 = t31 ^ t41; t43 = t28 ^ t42;
            t44 = x0 & !t43; t45 = t35 ^ t44; t46 = t35 & !t7; t47 = t25 & t37; t48 = t46 ^ t47; t49
            = t48 & !x4; t50 = t44 & !t42; t51 = t30 ^ t50; t52 = t49 ^ t51; t53 = x5 ^ t42; t54 =
            t21 ^ t53; t55 = t4 ^ t51; t56 = t54 | t55; t57 = x1 & !t56; t58 = t20 ^ t57; y2 = t52 ^
            t58; t60 = t0 & t39; t61 = t56 & !t18; t62 = t34 & t61; t63 = t51 ^ t62; t64 = x5 & t63;
            t65 = t11 ^ t64; t66 = t60 ^ t65; t67 = t47 ^ t66; y3 = t3 ^ t67; y0 = !t45",
        is_legacy_lsb_first: false,
    },
];
