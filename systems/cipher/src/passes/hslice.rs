//! Spreads the bits of a word over the elements of a register; shifts become shuffles.
//!
//! ```text
//! t = rotl(1) x    --->    t = shuffle([1, 2, 3, 0]) x        for words of 4 bits
//! t = shl(1) x     --->    t = shuffle([1, 2, 3, -]) x        - is a zero
//! ```
//!
//! Needs:   one word size of 2, 4, 8, 16, 32 or 64 bits in the whole program.
//! Keeps:   the interface.
//! Costs:   one byte shuffle for each shift, up to 16 bits a word; more above.
//! Source:  "Usuba: high-throughput and constant-time ciphers", Mercadier and Dagand, PLDI 2019.

use crate::ir::{Body, Node, Op, Program, Stmt};
use crate::syntax::Loc;

/// Marks an element of a shuffle that becomes zero.
pub const ZERO: u8 = 255;

/// A shuffle of the bits of a word as shifts: by how many bits towards the most significant
/// (below 0: away from it), and the bits that they keep. The bit of number 0 in a pattern
/// is the most significant.
pub fn shifts(pattern: &[u8], word_bits: u32) -> Vec<(i64, u64)> {
    let m = i64::from(word_bits);
    let shift = |shift: i64| {
        let bits = (0..m).filter(|j| {
            pattern[*j as usize] != ZERO && i64::from(pattern[*j as usize]) - j == shift
        });
        (shift, bits.fold(0u64, |mask, j| mask | 1 << (m - 1 - j)))
    };
    (1 - m..m).map(shift).filter(|shift| shift.1 != 0).collect()
}

/// Why a program has no horizontal form.
#[derive(Debug, Clone)]
pub enum HsliceRefused {
    /// Words of two sizes, and the node where the second is met.
    Sizes(u32, u32, Loc),
    /// A size that no register is divided into.
    Size(u32, Loc),
}

/// Rewrites every shift; returns the word size.
pub fn hslice(program: &mut Program) -> Result<u32, HsliceRefused> {
    let mut m = None;
    for node in &program.nodes {
        for var in &node.vars {
            match m {
                None => m = Some(var.ty.m),
                Some(m) if m != var.ty.m => {
                    return Err(HsliceRefused::Sizes(m.min(var.ty.m), m.max(var.ty.m), node.loc));
                }
                Some(_) => {}
            }
        }
    }
    let m = m.unwrap_or(1);
    if ![2, 4, 8, 16, 32, 64].contains(&m) {
        return Err(HsliceRefused::Size(
            m,
            program.nodes.last().map(|node| node.loc).unwrap_or_default(),
        ));
    }
    program.nodes.iter_mut().for_each(|node| hslice_node(node, m));
    Ok(m)
}

fn hslice_node(node: &mut Node, m: u32) {
    if let Body::Stmts(stmts) = &mut node.body {
        hslice_stmts(stmts, m);
    }
}

fn hslice_stmts(stmts: &mut [Stmt], m: u32) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => match &eq.op {
                Op::Shl(_) | Op::Shr(_) | Op::Sar(_) | Op::Rotl(_) | Op::Bitmask(_) => {
                    let pattern =
                        (0..m).map(|j| eq.op.source_bit(j, m).map_or(ZERO, |k| k as u8)).collect();
                    eq.op = Op::Shuffle(pattern);
                }
                Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod | Op::Pack(_) | Op::Refresh => {
                    panic!(
                        "`elaborate` refuses arithmetic on horizontal words, a pack has words of two sizes, and refreshes come last"
                    )
                }
                Op::Copy
                | Op::Not
                | Op::And
                | Op::Or
                | Op::Xor
                | Op::AndNot
                | Op::Ternary(_)
                | Op::Shuffle(_) => {}
            },
            Stmt::Call(_) => {}
            Stmt::Loop(it) => hslice_stmts(&mut it.body, m),
            Stmt::Unrolled(_) => panic!("`loops` comes before `hslice`"),
        }
    }
}
