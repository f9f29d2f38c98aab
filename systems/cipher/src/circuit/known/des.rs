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
        circuit: "t0 = !x0; t1 = x2 ^ x4; t2 = x2 | t1; t3 = t1 & !x1; t4 = t2 & !t3; t5 = t0 ^ t4; t6 =
            x5 & !t3; t7 = t1 ^ t6; t8 = t0 & t7; t9 = t4 & t5; t10 = x1 ^ t9; t11 = x4 & t10; t12 =
            x5 | t10; t13 = t0 | t12; t14 = t7 & !t10; t15 = t13 ^ t14; t16 = t11 ^ t15; t17 = x5 |
            t16; t18 = t5 ^ t17; t19 = x1 & t18; t20 = t8 ^ t19; t21 = t20 & !t3; t22 = t12 ^ t21;
            t23 = x2 | t22; t24 = t20 ^ t23; t25 = t24 & !x3; t26 = t5 ^ t25; t27 = t17 ^ t26; t28 =
            x3 & t27; t29 = t6 ^ t28; t30 = x5 & t29; t31 = x3 ^ t30; t32 = t26 ^ t31; t33 = t12 &
            t27; t34 = t10 & t32; t35 = t33 ^ t34; t36 = x2 & t35; t37 = t32 ^ t36; t38 = t29 &
            !t26; t39 = t27 | t37; t40 = t14 ^ t39; t41 = t0 & !t40; t42 = t38 ^ t41; t43 = t33 ^
            t42; t44 = t22 ^ t43; t45 = t44 & !x4; y0 = t37 ^ t45; t47 = t32 & !t18; t48 = t22 |
            t38; t49 = t32 ^ t48; t50 = x1 & !t49; t51 = t33 ^ t50; t52 = t47 ^ t51; t53 = y0 ^ t52;
            t54 = x1 & !t36; t55 = t14 ^ t54; t56 = t20 ^ t55; t57 = t43 | t56; t58 = x4 & t57; y3 =
            t53 ^ t58; t60 = t5 & !y3; t61 = t26 ^ t60; t62 = x4 & t61; t63 = t25 & !t3; t64 = t27 &
            t58; t65 = t62 ^ t64; t66 = t63 ^ t65; t67 = x1 | t66; t68 = t62 ^ t67; t69 = t52 ^ t68;
            y2 = t27 ^ t69; y1 = !t27",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S2",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "f31d84e76fb2384e9c7021dac6095ba50de87ab1a34fd4125b86c76c90352ef9",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x0; t1 = x1 & x2; t2 = x1 ^ t1; t3 = x4 & !x2; t4 = x4 & !t3; t5 = t0 ^ t4; t6 =
            x2 ^ t5; t7 = t2 ^ t6; t8 = x4 | t7; t9 = t1 ^ t8; t10 = t5 | t9; t11 = x2 ^ t10; t12 =
            t11 & !x5; t13 = t3 ^ t12; t14 = x1 ^ t13; t15 = t5 & t14; t16 = t10 & !t15; t17 = x5 |
            t16; t18 = t7 ^ t17; t19 = t9 & !t17; t20 = t13 ^ t19; t21 = x3 | t20; y1 = t18 ^ t21;
            t23 = x1 & !y1; t24 = t5 & !t23; t25 = y1 ^ t24; t26 = x3 ^ t25; t27 = x5 | t26; t28 =
            t9 ^ t27; t29 = t23 ^ t28; t30 = t14 | t18; t31 = t30 & !x5; t32 = t31 & !t13; t33 = t9
            ^ t32; t34 = x3 & t33; t35 = t30 ^ t34; t36 = x4 & t35; y0 = t29 ^ t36; t38 = y1 & y0;
            t39 = t14 & !t38; t40 = t4 & !t38; t41 = t2 | t40; t42 = x3 | t41; t43 = t39 ^ t42; t44
            = t3 | t43; t45 = t38 ^ t44; t46 = t45 & !x3; t47 = y1 & !y0; t48 = t9 | t34; t49 = t47
            ^ t48; t50 = t49 & !t41; t51 = t13 ^ t50; t52 = t46 ^ t51; t53 = y1 | t26; t54 = t7 ^
            t53; t55 = t52 & !t54; t56 = t49 & !t39; t57 = x4 & !t56; t58 = t32 ^ t57; t59 = t55 ^
            t58; t60 = t30 ^ t59; t61 = t60 & !t0; y2 = t52 ^ t61; t63 = x2 | t54; t64 = t49 ^ t63;
            t65 = x5 | t64; y3 = t43 ^ t65",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S3",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "ad0790e96334f65a12d8c57ebc4b2f81d16a4d9086f93807b41f2ec35ba5e27c",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x4; t1 = x0 & !x3; t2 = x5 & !x2; t3 = x0 & x2; t4 = t3 & !x1; t5 = x3 ^ t4; t6 =
            t1 ^ t5; t7 = x2 ^ t6; t8 = t1 & !t7; t9 = x5 | t1; t10 = x0 & !x5; t11 = x1 & t10; t12
            = x1 ^ t4; t13 = x3 & !x0; t14 = t12 ^ t13; t15 = t11 ^ t14; t16 = t9 ^ t15; t17 = t8 |
            t16; t18 = t10 ^ t17; t19 = t18 & !x5; t20 = t0 & !t19; t21 = t7 ^ t20; t22 = t11 ^ t21;
            t23 = t22 & !t0; y3 = t17 ^ t23; t25 = y3 & !t2; t26 = x1 ^ t22; t27 = t26 & !t16; t28 =
            t26 & !t3; t29 = t2 ^ t28; t30 = t0 | t29; t31 = t27 ^ t30; t32 = x3 & t31; t33 = t0 ^
            t18; t34 = t22 & !x2; t35 = t33 ^ t34; t36 = t22 ^ t35; t37 = t36 & !t32; t38 = t0 &
            !t37; t39 = t13 | t27; t40 = t38 ^ t39; t41 = t25 ^ t40; t42 = t22 ^ t41; t43 = t12 ^
            t38; t44 = x5 | t43; t45 = t42 ^ t44; t46 = x0 & t45; t47 = t41 ^ t46; y0 = t1 ^ t47; y1
            = t32 ^ t35; t50 = t21 | t28; t51 = t37 ^ t50; t52 = t18 ^ t51; t53 = x5 | t52; t54 = t1
            & !x1; t55 = t22 ^ t54; t56 = t5 | t25; t57 = x0 | t35; t58 = t44 ^ t57; t59 = t46 |
            t58; t60 = t56 & !t59; t61 = t0 & t60; t62 = t55 ^ t61; t63 = t53 ^ t62; y2 = t12 ^ t63",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S4",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "7dd8eb35066f90a31427825cb1ca4ef9a36f9006cab17dd8f91435eb5c27824e",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x1; t1 = x0 | x2; t2 = x3 ^ t1; t3 = x2 ^ t2; t4 = t0 | t3; t5 = x0 & !t0; t6 = t2
            | t5; t7 = t1 & !t3; t8 = t5 | t7; t9 = t2 ^ t8; t10 = t0 | t9; t11 = t6 ^ t10; t12 = t4
            & !t11; t13 = x0 ^ t3; t14 = t12 ^ t13; t15 = t0 | t7; t16 = x0 ^ t15; t17 = t11 | t16;
            t18 = t14 ^ t17; t19 = t14 & !t18; t20 = x4 & !t9; t21 = x2 ^ t16; t22 = t21 & !t7; t23
            = t20 & !t22; t24 = x5 ^ t2; t25 = t23 ^ t24; t26 = t19 ^ t25; t27 = x4 ^ t26; t28 = x4
            & t6; t29 = t21 ^ t28; t30 = t27 ^ t29; t31 = x5 & t30; y0 = t27 ^ t31; y1 = t29 ^ t31;
            t34 = t18 ^ t20; t35 = t12 ^ t34; t36 = t4 & !t13; t37 = x4 & !t36; t38 = t35 ^ t37; t39
            = x5 ^ t38; t40 = t38 & !t39; y2 = t34 ^ t40; t42 = t39 ^ y2; y3 = !t42",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S5",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "2ecb421c74a7bd6185503ffad309e8964b281cb7a1de728df69fc0596a3405e3",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = x4 & !x2; t1 = x5 ^ t0; t2 = x2 & !x4; t3 = x0 | t0; t4 = t2 ^ t3; t5 = x1 ^ t4; t6
            = x5 ^ t5; t7 = t5 & !t6; t8 = x1 | t7; t9 = x4 ^ t5; t10 = t9 & !t1; t11 = t8 & t10;
            t12 = t1 | t11; t13 = t12 & !x3; t14 = t7 & !t9; t15 = t8 ^ t14; t16 = x0 & t12; t17 =
            t15 ^ t16; t18 = x3 | t17; y1 = t6 ^ t18; t20 = t8 & y1; t21 = t13 ^ t20; t22 = t4 |
            t13; t23 = t18 & !t20; t24 = t0 | t23; t25 = t22 ^ t24; t26 = x2 & !t25; t27 = t21 ^
            t26; t28 = t18 & !x0; t29 = t13 ^ t28; t30 = t29 & !x1; t31 = t24 ^ t30; t32 = t27 &
            !t16; t33 = x3 ^ t32; t34 = x5 | t33; t35 = t31 ^ t34; t36 = x4 & !t35; y0 = t27 ^ t36;
            t38 = t35 & !t10; t39 = t3 ^ t13; t40 = t38 ^ t39; t41 = y1 & !t36; t42 = t31 & !x3; t43
            = t41 ^ t42; t44 = x0 & t36; t45 = x3 ^ t42; t46 = t27 & !t45; t47 = t44 ^ t46; t48 =
            t47 & !x1; t49 = t43 ^ t48; t50 = t9 ^ t49; t51 = x0 & !t50; t52 = x5 & !t51; t53 = t40
            ^ t52; t54 = t15 ^ t29; t55 = t45 ^ t54; t56 = t5 & t31; t57 = t16 ^ t22; t58 = t56 ^
            t57; t59 = x2 & t58; t60 = t55 ^ t59; t61 = t10 & t60; t62 = x4 & !t49; y3 = t60 ^ t62;
            t64 = t58 | y3; t65 = t27 ^ t64; t66 = t65 & !t61; t67 = x3 & t66; t68 = t53 ^ t67; y2 =
            !t68",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S6",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "ca1fa4f2972c698506d13d4ee07b53b894e3f25c2985cf3a7b0e41a716d0b86d",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = !x1; t1 = x3 & !x5; t2 = x2 ^ x3; t3 = t1 | t2; t4 = t0 | t3; t5 = x0 & x5; t6 = t4
            | t5; t7 = t6 & !t0; t8 = x2 | t1; t9 = t6 & t8; t10 = t7 | t9; t11 = t10 & !x0; t12 =
            t2 ^ t11; t13 = x0 | t12; t14 = t13 & !x5; t15 = x2 ^ t14; t16 = t7 ^ t15; t17 = x4 |
            t11; t18 = x5 ^ t17; t19 = x3 | t18; t20 = x4 & t8; t21 = t19 & t20; t22 = t0 ^ t12; t23
            = t21 ^ t22; t24 = t16 | t23; t25 = t0 ^ t18; t26 = x4 & !t12; y3 = t16 ^ t26; t28 = y3
            & !t25; t29 = t21 ^ t28; t30 = t24 & t29; t31 = t0 | t30; t32 = t7 | t28; t33 = x3 ^
            t32; t34 = x5 ^ t23; t35 = t6 ^ t34; t36 = t35 & !t33; t37 = x2 ^ t36; t38 = t9 & t37;
            t39 = x0 & !t38; t40 = t32 ^ t39; t41 = t40 & !x4; t42 = t16 ^ t41; t43 = x5 & t42; t44
            = t10 ^ t23; t45 = t17 & t24; t46 = t44 ^ t45; t47 = t43 ^ t46; t48 = x3 | t47; t49 = x3
            & !t23; t50 = t25 ^ t49; y1 = t39 ^ t50; t52 = x4 & y1; t53 = t24 ^ t52; t54 = t48 ^
            t53; y0 = t31 ^ t54; t56 = t38 & y0; t57 = t44 ^ t56; t58 = y0 & !t57; t59 = t42 | t58;
            t60 = t59 & !x2; t61 = x4 & !t57; t62 = t35 ^ t61; y2 = t60 ^ t62",
        is_legacy_lsb_first: false,
    },
    Entry {
        name: "DES S7",
        source: FOUND,
        order: BitOrder::MsbFirst,
        table: "4db02be7f40981da3ec3957c52af6816164bbdd8c1347ae7a9f5608f0e52932c",
        n_inputs: 6,
        n_outputs: 4,
        circuit: "t0 = x0 ^ x3; t1 = x5 & t0; t2 = x5 & !t1; t3 = x2 | t2; t4 = x3 & !t3; t5 = t1 ^ t4; t6
            = x4 & t5; t7 = t1 & !x1; t8 = x4 & !t7; t9 = t6 ^ t8; t10 = t1 & !t9; t11 = t3 ^ t10;
            t12 = t0 ^ t4; t13 = x2 ^ t12; t14 = t1 ^ t9; t15 = x4 & t10; t16 = t14 ^ t15; t17 = t13
            & t16; t18 = x1 ^ t10; t19 = x3 | t18; t20 = t19 & !t17; t21 = t11 ^ t20; t22 = x0 &
            !t21; t23 = x2 & t22; t24 = x1 ^ t23; t25 = t24 & !x5; t26 = t8 ^ t19; t27 = t25 ^ t26;
            t28 = x5 ^ t13; t29 = t11 ^ t28; t30 = t15 ^ t29; t31 = t27 & t30; t32 = t21 & t31; t33
            = t16 ^ t32; t34 = x1 & !t33; t35 = x4 ^ t34; t36 = t31 ^ t35; t37 = x3 & t36; t38 = x0
            & t30; t39 = t32 ^ t38; t40 = t24 | t31; t41 = t36 ^ t40; t42 = x1 & t41; t43 = t39 ^
            t42; t44 = x2 & t43; t45 = t13 & !x3; t46 = x5 & !t45; t47 = t3 ^ t46; t48 = x1 & !t47;
            t49 = t28 ^ t48; y3 = t9 ^ t49; t51 = y3 & !t30; t52 = t24 ^ t51; t53 = t44 ^ t52; y0 =
            t37 ^ t53; t55 = t40 & !t29; t56 = t22 ^ t55; t57 = t45 | t56; t58 = t57 & !x2; t59 =
            t27 ^ t58; t60 = y0 & !t37; t61 = t18 ^ t60; t62 = x5 & t61; t63 = t26 & !t42; t64 = t45
            & t63; t65 = t26 ^ t60; t66 = t65 & !x1; t67 = t5 ^ t66; t68 = t64 ^ t67; t69 = t68 &
            !x0; t70 = t63 ^ t69; t71 = t17 ^ t70; y2 = t62 ^ t71; y1 = !t59",
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
