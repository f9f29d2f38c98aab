//! Vector instructions that only move bits, as the moves that they make: from the first and the
//! second source to the result.

use iced_x86::Mnemonic as M;

use super::moves::{Move, each};

/// Moves of a shuffle whose control is in the instruction; bits of an element for its mask, and how
/// many sources it has.
pub struct Shuffle {
    pub moves: Vec<Move>,
    /// Bits of an element.
    pub element: u32,
    /// One source or two.
    pub n_sources: u32,
}

fn from(source: usize, from: u32, to: u32, n: u32) -> Move {
    Move { source, from, to, n }
}

/// The moves of an instruction with `bits` bits; `None` if it is another kind of instruction.
pub fn shuffle(mnemonic: M, control: u32, bits: u32) -> Option<Shuffle> {
    let two = |element: u32, moves: Vec<Move>| Some(Shuffle { moves, element, n_sources: 2 });
    let one = |element: u32, moves: Vec<Move>| Some(Shuffle { moves, element, n_sources: 1 });
    match mnemonic {
        M::Punpcklbw | M::Vpunpcklbw => two(8, unpacked(bits, 8, 0)),
        M::Punpckhbw | M::Vpunpckhbw => two(8, unpacked(bits, 8, 64)),
        M::Punpcklwd | M::Vpunpcklwd => two(16, unpacked(bits, 16, 0)),
        M::Punpckhwd | M::Vpunpckhwd => two(16, unpacked(bits, 16, 64)),
        M::Punpckldq | M::Vpunpckldq | M::Unpcklps | M::Vunpcklps => two(32, unpacked(bits, 32, 0)),
        M::Punpckhdq | M::Vpunpckhdq | M::Unpckhps | M::Vunpckhps => {
            two(32, unpacked(bits, 32, 64))
        }
        M::Punpcklqdq | M::Vpunpcklqdq | M::Unpcklpd | M::Vunpcklpd => {
            two(64, unpacked(bits, 64, 0))
        }
        M::Punpckhqdq | M::Vpunpckhqdq | M::Unpckhpd | M::Vunpckhpd => {
            two(64, unpacked(bits, 64, 64))
        }
        M::Movlhps | M::Vmovlhps => two(64, vec![from(0, 0, 0, 64), from(1, 0, 64, 64)]),
        M::Movhlps | M::Vmovhlps => two(64, vec![from(1, 64, 0, 64), from(0, 64, 64, 64)]),
        M::Shufps | M::Vshufps => {
            let lane = |at: u32| {
                (0..4u32).map(move |i| {
                    from((i / 2) as usize, at + (control >> (2 * i) & 3) * 32, at + i * 32, 32)
                })
            };
            two(32, each(bits, 128).flat_map(lane).collect())
        }
        M::Shufpd | M::Vshufpd => {
            let one = |at: u32| {
                from(
                    (at / 64 % 2) as usize,
                    at / 128 * 128 + (control >> (at / 64) & 1) * 64,
                    at,
                    64,
                )
            };
            two(64, each(bits, 64).map(one).collect())
        }
        M::Pshufd | M::Vpshufd | M::Vpermilps => one(32, chosen(bits, 128, 32, control, 2)),
        M::Vpermilpd => one(
            64,
            each(bits, 64)
                .map(|at| from(0, at / 128 * 128 + (control >> (at / 64) & 1) * 64, at, 64))
                .collect(),
        ),
        M::Vpermq | M::Vpermpd => one(64, chosen(bits, 256, 64, control, 2)),
        M::Pshuflw | M::Vpshuflw => one(16, halves(bits, control, 0)),
        M::Pshufhw | M::Vpshufhw => one(16, halves(bits, control, 64)),
        M::Movddup | M::Vmovddup => {
            one(64, each(bits, 64).map(|at| from(0, at / 128 * 128, at, 64)).collect())
        }
        M::Movshdup | M::Vmovshdup => {
            one(32, each(bits, 32).map(|at| from(0, at | 32, at, 32)).collect())
        }
        M::Movsldup | M::Vmovsldup => {
            one(32, each(bits, 32).map(|at| from(0, at & !32, at, 32)).collect())
        }
        M::Vperm2i128 | M::Vperm2f128 => {
            let half = |i: u32| {
                let choice = control >> (4 * i) & 15;
                (choice & 8 == 0)
                    .then(|| from((choice >> 1 & 1) as usize, (choice & 1) * 128, i * 128, 128))
            };
            two(64, (0..2).filter_map(half).collect())
        }
        M::Vshufi64x2 | M::Vshuff64x2 => two(64, lanes(bits, control)),
        M::Vshufi32x4 | M::Vshuff32x4 => two(32, lanes(bits, control)),
        M::Palignr | M::Vpalignr => two(8, aligned(bits, 128, control.min(32) * 8)),
        M::Valignd => two(32, aligned(bits, bits, control % (bits / 32) * 32)),
        M::Valignq => two(64, aligned(bits, bits, control % (bits / 64) * 64)),
        M::Pblendw | M::Vpblendw => two(16, blended(bits, 16, |i| control >> (i % 8) & 1 == 1)),
        M::Vpblendd | M::Blendps | M::Vblendps => {
            two(32, blended(bits, 32, |i| control >> i & 1 == 1))
        }
        M::Blendpd | M::Vblendpd => two(64, blended(bits, 64, |i| control >> i & 1 == 1)),
        M::Pslldq | M::Vpslldq => {
            let by = control.min(16) * 8;
            one(
                8,
                each(bits, 128)
                    .filter(|_| by < 128)
                    .map(|at| from(0, at, at + by, 128 - by))
                    .collect(),
            )
        }
        M::Psrldq | M::Vpsrldq => {
            let by = control.min(16) * 8;
            one(
                8,
                each(bits, 128)
                    .filter(|_| by < 128)
                    .map(|at| from(0, at + by, at, 128 - by))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// Elements of the low or the high half of each 128 bits of both sources in turn.
fn unpacked(bits: u32, element: u32, half: u32) -> Vec<Move> {
    let lane = |at: u32| {
        (0..64 / element).flat_map(move |i| {
            let place = at + half + i * element;
            [
                from(0, place, at + 2 * i * element, element),
                from(1, place, at + (2 * i + 1) * element, element),
            ]
        })
    };
    each(bits, 128).flat_map(lane).collect()
}

/// Elements of each lane chosen by `width` bits each of the control.
fn chosen(bits: u32, lane: u32, element: u32, control: u32, width: u32) -> Vec<Move> {
    let one = |at: u32| {
        let choice = control >> (at % lane / element * width) & ((1 << width) - 1);
        from(0, at / lane * lane + choice * element, at, element)
    };
    each(bits, element).map(one).collect()
}

/// Words of one half of each 128 bits chosen by the control; the other half stays.
fn halves(bits: u32, control: u32, half: u32) -> Vec<Move> {
    let lane = |at: u32| {
        let chosen = (0..4u32).map(move |i| {
            from(0, at + half + (control >> (2 * i) & 3) * 16, at + half + i * 16, 16)
        });
        chosen.chain([from(0, at + (half ^ 64), at + (half ^ 64), 64)])
    };
    each(bits, 128).flat_map(lane).collect()
}

/// Blocks of 128 bits: the lower half of the result from the first source, the
/// upper from the second.
fn lanes(bits: u32, control: u32) -> Vec<Move> {
    let n = bits / 128;
    let width = n.trailing_zeros();
    let one = |i: u32| {
        from((i / (n / 2)) as usize, (control >> (i * width) & (n - 1)) * 128, i * 128, 128)
    };
    (0..n).map(one).collect()
}

/// Both sources in a row, the second below, shifted to the right in each lane.
fn aligned(bits: u32, lane: u32, by: u32) -> Vec<Move> {
    let one = |at: u32| {
        let mut moves = Vec::new();
        if by < lane {
            moves.push(from(1, at + by, at, lane - by));
            moves.push(from(0, at, at + lane - by, by));
        } else if by < 2 * lane {
            moves.push(from(0, at + by - lane, at, 2 * lane - by));
        }
        moves.retain(|it| it.n > 0);
        moves
    };
    each(bits, lane).flat_map(one).collect()
}

/// Each element from the second source where it is chosen, else from the first.
pub fn blended(bits: u32, element: u32, is_second: impl Fn(u32) -> bool) -> Vec<Move> {
    each(bits, element)
        .map(|at| from(usize::from(is_second(at / element)), at, at, element))
        .collect()
}
