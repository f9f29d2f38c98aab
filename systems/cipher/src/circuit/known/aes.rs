//! The S-box of AES: a linear layer, the inverse in a tower of fields, a linear layer.
//!
//! The start is J. Boyar and R. Peralta, "A new combinational logic minimization technique with
//! applications to cryptology", SEA 2010, in its later form of 113 gates and four complements.

use super::{BitOrder, Entry};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "AES",
    source: "Boyar and Peralta, SEA 2010 and later, 117 gates, shrunk by our walk",
    order: BitOrder::MsbFirst,
    table: "637c777bf26b6fc53001672bfed7ab76ca82c97dfa5947f0add4a2af9ca472c0 \
            b7fd9326363ff7cc34a5e5f171d8311504c723c31896059a071280e2eb27b275 \
            09832c1a1b6e5aa0523bd6b329e32f8453d100ed20fcb15b6acbbe394a4c58cf \
            d0efaafb434d338545f9027f503c9fa851a3408f929d38f5bcb6da2110fff3d2 \
            cd0c13ec5f974417c4a77e3d645d197360814fdc222a908846eeb814de5e0bdb \
            e0323a0a4906245cc2d3ac629195e479e7c8376d8dd54ea96c56f4ea657aae08 \
            ba78252e1ca6b4c6e8dd741f4bbd8b8a703eb5664803f60e613557b986c11d9e \
            e1f8981169d98e949b1e87e9ce5528df8ca1890dbfe6426841992d0fb054bb16",
    n_inputs: 8,
    n_outputs: 8,
    circuit: "t0 = !x1; t1 = x0 ^ x6; t2 = !t1; t3 = x3 ^ x5; t4 = t2 ^ t3; t5 = x0 ^ x3; t6 = x4 ^
            t4; t7 = t0 ^ t6; t8 = t5 ^ t7; t9 = x5 ^ t6; t10 = x2 ^ t5; t11 = t6 ^ t10; t12 = t9 ^
            t11; t13 = t8 ^ t12; t14 = x7 ^ t9; t15 = t13 ^ t14; t16 = x3 ^ t15; t17 = t4 ^ t16; t18
            = t3 ^ t5; t19 = t13 & t18; t20 = t5 & !t7; t21 = t2 & t11; t22 = t20 ^ t21; t23 = x0 ^
            t15; t24 = x7 ^ t8; t25 = t24 & !t23; t26 = t22 ^ t25; t27 = t19 ^ t26; t28 = x6 ^ t27;
            t29 = t4 | t9; t30 = t20 ^ t29; t31 = x7 & !t16; t32 = t13 | t18; t33 = t31 ^ t32; t34 =
            t30 ^ t33; t35 = t3 & t12; t36 = t17 & !t14; t37 = t35 ^ t36; t38 = t30 ^ t37; t39 = t7
            ^ t38; t40 = t34 ^ t39; t41 = t28 & t40; t42 = x6 | t15; t43 = t35 ^ t42; t44 = t22 ^
            t43; t45 = t44 & !t39; t46 = t28 ^ t44; t47 = t46 & !t45; t48 = t41 | t47; t49 = t17 &
            !t48; t50 = t34 ^ t41; t51 = t40 & !t45; t52 = t50 ^ t51; t53 = t34 ^ t45; t54 = t39 |
            t50; t55 = t53 ^ t54; t56 = t52 ^ t55; t57 = t53 & !t46; t58 = t44 ^ t57; t59 = t48 ^
            t58; t60 = t56 ^ t59; t61 = t48 ^ t55; t62 = t60 ^ t61; t63 = t5 & !t62; t64 = t3 & t60;
            t65 = t63 ^ t64; t66 = t49 ^ t65; t67 = t23 | t52; t68 = x6 & t55; t69 = t55 & !t15; t70
            = t11 | t56; t71 = t69 ^ t70; t72 = t9 | t59; t73 = t71 ^ t72; t74 = x7 & t58; t75 = t73
            ^ t74; t76 = t24 & !t52; t77 = t75 ^ t76; t78 = t65 ^ t77; t79 = t68 ^ t78; t80 = t12 &
            t60; t81 = t13 & !t61; t82 = t80 ^ t81; t83 = t75 ^ t82; t84 = t2 | t56; y7 = t79 ^ t84;
            y6 = t83 ^ y7; t87 = t79 ^ y6; t88 = t67 ^ t87; t89 = t66 ^ t88; t90 = t4 | t59; t91 =
            t8 & !t62; t92 = t71 ^ t80; t93 = t91 ^ t92; t94 = t88 ^ t93; t95 = t90 ^ t94; y0 = t89
            ^ t95; t97 = t14 | t48; t98 = y0 ^ t97; y1 = t73 ^ t98; t100 = t18 & !t61; t101 = t63 ^
            t100; y2 = t94 ^ t101; y3 = t93 ^ y1; t104 = t69 ^ y3; y4 = t77 ^ t104; t106 = t58 &
            !t16; y5 = t89 ^ t106",
    is_legacy_lsb_first: false,
}];

/// For processors without and-not, where each of the gates above that is one costs a complement: no
/// factor of these products is complemented, and keys take the complements of the outputs.
pub(super) const PLAIN: Entry = Entry {
    name: "AES, plain",
    source: "Boyar and Peralta, SEA 2010 and later, 113 gates and four complements",
    circuit: "a14 = x3 ^ x5; a13 = x0 ^ x6; a9 = x0 ^ x3; a8 = x0 ^ x5; t0 = x1 ^ x2; a1 = t0 ^
            x7; a4 = a1 ^ x3; a12 = a13 ^ a14; a2 = a1 ^ x0; a5 = a1 ^ x6; a3 = a5 ^ a8; t1 = x4
            ^ a12; a15 = t1 ^ x5; a20 = t1 ^ x1; a6 = a15 ^ x7; a10 = a15 ^ t0; a11 = a20 ^ a9;
            a7 = x7 ^ a11; a17 = a10 ^ a11; a19 = a10 ^ a8; a16 = t0 ^ a11; a21 = a13 ^ a16; a18
            = x0 ^ a16; t2 = a12 & a15; t3 = a3 & a6; t4 = t3 ^ t2; t5 = a4 & x7; t6 = t5 ^ t2;
            t7 = a13 & a16; t8 = a5 & a1; t9 = t8 ^ t7; t10 = a2 & a7; t11 = t10 ^ t7; t12 = a9
            & a11; t13 = a14 & a17; t14 = t13 ^ t12; t15 = a8 & a10; t16 = t15 ^ t12; t17 = t4 ^
            a20; t18 = t6 ^ t16; t19 = t9 ^ t14; t20 = t11 ^ t16; t21 = t17 ^ t14; t22 = t18 ^
            a19; t23 = t19 ^ a21; t24 = t20 ^ a18; t25 = t21 ^ t22; t26 = t21 & t23; t27 = t24 ^
            t26; t28 = t25 & t27; t29 = t28 ^ t22; t30 = t23 ^ t24; t31 = t22 ^ t26; t32 = t31 &
            t30; t33 = t32 ^ t24; t34 = t23 ^ t33; t35 = t27 ^ t33; t36 = t24 & t35; t37 = t36 ^
            t34; t38 = t27 ^ t36; t39 = t29 & t38; t40 = t25 ^ t39; t41 = t40 ^ t37; t42 = t29 ^
            t33; t43 = t29 ^ t40; t44 = t33 ^ t37; t45 = t42 ^ t41; z0 = t44 & a15; z1 = t37 &
            a6; z2 = t33 & x7; z3 = t43 & a16; z4 = t40 & a1; z5 = t29 & a7; z6 = t42 & a11; z7
            = t45 & a17; z8 = t41 & a10; z9 = t44 & a12; z10 = t37 & a3; z11 = t33 & a4; z12 =
            t43 & a13; z13 = t40 & a5; z14 = t29 & a2; z15 = t42 & a9; z16 = t45 & a14; z17 =
            t41 & a8; c1 = z15 ^ z16; c2 = z10 ^ c1; c3 = z9 ^ c2; c4 = z0 ^ z2; c5 = z1 ^ z0;
            c6 = z3 ^ z4; c7 = z12 ^ c4; c8 = z7 ^ c6; c9 = z8 ^ c7; c10 = c8 ^ c9; c11 = c6 ^
            c5; c12 = z3 ^ z5; c13 = z13 ^ c1; c14 = c4 ^ c12; y3 = c3 ^ c11; c16 = z6 ^ c8; c17
            = z14 ^ c10; c18 = c13 ^ c14; n7 = z12 ^ c18; y7 = !n7; c20 = z15 ^ c16; c21 = c2 ^
            z11; y0 = c3 ^ c16; n6 = c10 ^ c18; y6 = !n6; y4 = c14 ^ y3; n1 = y3 ^ c16; y1 =
            !n1; c26 = c17 ^ c20; n2 = c26 ^ z17; y2 = !n2; y5 = c21 ^ c17",
    ..ENTRIES[0]
};
