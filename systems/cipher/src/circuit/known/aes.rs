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
