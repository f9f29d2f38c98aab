//! The S-box of AES: a linear layer, the inverse in a tower of fields, a linear layer.

use super::{BitOrder, Entry};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "AES",
    source: "Boyar and Peralta, SEC 2012",
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
    circuit: "u14 = x3 ^ x5; u13 = x0 ^ x6; u9 = x0 ^ x3; u8 = x0 ^ x5; t0 = x1 ^ x2; u1 = t0 ^ x7; u4
            = u1 ^ x3; u12 = u13 ^ u14; u2 = u1 ^ x0; u5 = u1 ^ x6; u3 = u5 ^ u8; t1 = x4 ^ u12; u15
            = t1 ^ x5; u20 = t1 ^ x1; u6 = u15 ^ x7; u10 = u15 ^ t0; u11 = u20 ^ u9; u7 = x7 ^ u11;
            u17 = u10 ^ u11; u19 = u10 ^ u8; u16 = t0 ^ u11; u21 = u13 ^ u16; u18 = x0 ^ u16; t2 =
            u12 & u15; t3 = u3 & u6; t4 = t3 ^ t2; t5 = u4 & x7; t6 = t5 ^ t2; t7 = u13 & u16; t8 =
            u5 & u1; t9 = t8 ^ t7; t10 = u2 & u7; t11 = t10 ^ t7; t12 = u9 & u11; t13 = u14 & u17;
            t14 = t13 ^ t12; t15 = u8 & u10; t16 = t15 ^ t12; t17 = t4 ^ t14; t18 = t6 ^ t16; t19 =
            t9 ^ t14; t20 = t11 ^ t16; t21 = t17 ^ u20; t22 = t18 ^ u19; t23 = t19 ^ u21; t24 = t20
            ^ u18; t25 = t21 ^ t22; t26 = t21 & t23; t27 = t24 ^ t26; t28 = t25 & t27; t29 = t28 ^
            t22; t30 = t23 ^ t24; t31 = t22 ^ t26; t32 = t31 & t30; t33 = t32 ^ t24; t34 = t23 ^
            t33; t35 = t27 ^ t33; t36 = t24 & t35; t37 = t36 ^ t34; t38 = t27 ^ t36; t39 = t29 &
            t38; t40 = t25 ^ t39; t41 = t40 ^ t37; t42 = t29 ^ t33; t43 = t29 ^ t40; t44 = t33 ^
            t37; t45 = t42 ^ t41; z0 = t44 & u15; z1 = t37 & u6; z2 = t33 & x7; z3 = t43 & u16; z4 =
            t40 & u1; z5 = t29 & u7; z6 = t42 & u11; z7 = t45 & u17; z8 = t41 & u10; z9 = t44 & u12;
            z10 = t37 & u3; z11 = t33 & u4; z12 = t43 & u13; z13 = t40 & u5; z14 = t29 & u2; z15 =
            t42 & u9; z16 = t45 & u14; z17 = t41 & u8; c1 = z15 ^ z16; c2 = z10 ^ c1; c3 = z9 ^ c2;
            c4 = z0 ^ z2; c5 = z1 ^ z0; c6 = z3 ^ z4; c7 = z12 ^ c4; c8 = z7 ^ c6; c9 = z8 ^ c7; c10
            = c8 ^ c9; c11 = c6 ^ c5; c12 = z3 ^ z5; c13 = z13 ^ c1; c14 = c4 ^ c12; y3 = c3 ^ c11;
            c16 = z6 ^ c8; c17 = z14 ^ c10; c18 = c13 ^ c14; n7 = z12 ^ c18; c20 = z15 ^ c16; c21 =
            c2 ^ z11; c26 = c17 ^ c20; n6 = c10 ^ c18; y0 = c3 ^ c16; n1 = y3 ^ c16; n2 = c26 ^ z17;
            y5 = c21 ^ c17; y4 = c14 ^ y3; y7 = !n7; y6 = !n6; y1 = !n1; y2 = !n2",
    is_legacy_lsb_first: false,
}];
