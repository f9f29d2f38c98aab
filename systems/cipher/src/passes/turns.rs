//! Makes shuffles out of rotations and masks, where no instruction moves the elements of a register
//! at will.
//!
//! ```text
//! y = shuffle([1, 2, 3, 0, 5, 6, 7, 4]) x    --->    z = shuffle([4, 5, 6, 7, 0, 1, 2, 3]) x
//!                                                    t = xor x, z
//!                                                    u = and t, 0x88
//!                                                    w = xor x, u
//!                                                    y = shuffle([1, 2, 3, 4, 5, 6, 7, 0]) w
//! ```
//!
//! Elements that move by the same distance move together. Two distances are joined before the
//! turn that they have in common, with a single mask; more are masked each.
//!
//! Needs:   horizontal words.
//! Keeps:   the set of written words.
//! Costs:   see [`steps`].

use smallvec::smallvec;

use crate::ir::{Args, Body, Eq, Node, Op, Operand, Ref, Stmt};

use super::hslice::ZERO;

/// The number of bits by which a pattern rotates.
pub fn rotation(pattern: &[u8]) -> Option<u32> {
    let n = *pattern.first()?;
    let m = pattern.len();
    let turned = |(j, from): (usize, &u8)| usize::from(*from) == (j + usize::from(n)) % m;
    pattern.iter().enumerate().all(turned).then_some(u32::from(n))
}

/// Distances by which elements move towards the most significant, and the bits that get there.
fn distances(pattern: &[u8]) -> Vec<(usize, u64)> {
    let m = pattern.len();
    let of = |distance: usize| {
        let moved = (0..m)
            .filter(|j| pattern[*j] != ZERO && usize::from(pattern[*j]) == (j + distance) % m);
        (distance, moved.fold(0u64, |mask, j| mask | 1 << (m - 1 - j)))
    };
    (0..m).map(of).filter(|part| part.1 != 0).collect()
}

/// Rotations and operations on each bit for a shuffle of this pattern.
pub fn steps(pattern: &[u8]) -> u64 {
    let all = distances(pattern);
    let n_turned = all.iter().filter(|part| part.0 != 0).count();
    let is_total = !pattern.contains(&ZERO);
    let n = match all.len() {
        1 if is_total => n_turned,
        2 if is_total => n_turned + 3,
        n => n_turned + (2 * n).max(1) - 1,
    };
    n as u64
}

/// Rewrites every shuffle that is no rotation.
pub fn turns(node: &mut Node) {
    let Some(stmts) = node.take_stmts() else { return };
    let mut turns = Turns { node, out: Vec::new() };
    turns.stmts(stmts);
    let out = turns.out;
    node.body = Body::Stmts(out);
}

struct Turns<'a> {
    node: &'a mut Node,
    out: Vec<Stmt>,
}

impl Turns<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => match (&eq.op, &eq.args[0]) {
                    (Op::Shuffle(pattern), Operand::Ref(word)) => self.shuffle(pattern, word, &eq),
                    _ => self.out.push(Stmt::Eq(eq)),
                },
                Stmt::Loop(mut it) => {
                    let around = std::mem::take(&mut self.out);
                    self.stmts(std::mem::take(&mut it.body));
                    it.body = std::mem::replace(&mut self.out, around);
                    self.out.push(Stmt::Loop(it));
                }
                other => self.out.push(other),
            }
        }
    }

    /// A new word like that of the equation.
    fn step(&mut self, op: Op, args: Args, eq: &Eq) -> Ref {
        let var = &self.node.vars[eq.dst.var.idx()];
        let (name, ty) = (var.name.clone(), var.ty);
        let dst = Ref::at(self.node.var(name, 1, ty), 0);
        self.out.push(Stmt::Eq(Eq { dst: dst.clone(), op, args, loc: eq.loc }));
        dst
    }

    fn turn(&mut self, word: &Ref, distance: usize, m: usize, eq: &Eq) -> Ref {
        if distance == 0 {
            return word.clone();
        }
        let pattern = (0..m).map(|j| ((j + distance) % m) as u8).collect();
        self.step(Op::Shuffle(pattern), smallvec![word.clone().into()], eq)
    }

    fn shuffle(&mut self, pattern: &[u8], x: &Ref, eq: &Eq) {
        let m = pattern.len();
        let all = u64::MAX >> (64 - m);
        let parts = distances(pattern);
        let value: Operand = match parts[..] {
            [] => Operand::Const(0),
            [(distance, mask)] if mask == all => self.turn(x, distance, m, eq).into(),
            [(first, mask), (second, other)] if mask | other == all => {
                let z = self.turn(x, second - first, m, eq);
                let t = self.step(Op::Xor, smallvec![x.clone().into(), z.into()], eq);
                // The bits of `other` as they lie before the turn by `first`.
                let mask = all & (other >> first | other << ((m - first) % m));
                let u = self.step(Op::And, smallvec![t.into(), Operand::Const(mask)], eq);
                let w = self.step(Op::Xor, smallvec![x.clone().into(), u.into()], eq);
                self.turn(&w, first, m, eq).into()
            }
            _ => {
                let mut sum: Option<Ref> = None;
                for (distance, mask) in parts {
                    let part = self.turn(x, distance, m, eq);
                    let args = smallvec![part.into(), Operand::Const(mask)];
                    let part = self.step(Op::And, args, eq);
                    sum = Some(match sum {
                        Some(sum) => self.step(Op::Or, smallvec![sum.into(), part.into()], eq),
                        None => part,
                    });
                }
                sum.expect("there are parts").into()
            }
        };
        self.out.push(Stmt::copy(eq.dst.clone(), value, eq.loc));
    }
}
