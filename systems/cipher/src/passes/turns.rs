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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::eval::eval;
    use crate::ir::{Dir, NodeId, Program, Ty};
    use crate::syntax::Loc;

    fn turned(pattern: &[u8]) -> (Program, Program) {
        let mut node = Node::new("example");
        let ty = Ty { m: pattern.len() as u32, dir: Dir::H };
        let [x, y] = ["x", "y"].map(|name| node.var(name, 1, ty));
        node.params.push(x);
        node.results.push(y);
        let op = Op::Shuffle(pattern.iter().copied().collect());
        let args = smallvec![Ref::at(x, 0).into()];
        node.body =
            Body::Stmts(vec![Stmt::Eq(Eq { dst: Ref::at(y, 0), op, args, loc: Loc::default() })]);
        let program = |node: &Node| Program {
            nodes: vec![node.clone()],
            entries: vec![NodeId(0)],
            ..Program::default()
        };
        let before = program(&node);
        turns(&mut node);
        (before, program(&node))
    }

    /// Operations other than copies, of which all shuffles are rotations.
    fn n_steps(program: &Program) -> u64 {
        let Body::Stmts(stmts) = &program.nodes[0].body else { panic!("it has equations") };
        let of = |stmt: &Stmt| match stmt {
            Stmt::Eq(Eq { op: Op::Copy, .. }) => 0,
            Stmt::Eq(Eq { op: Op::Shuffle(pattern), .. }) => {
                assert!(rotation(pattern).is_some(), "{pattern:?}");
                1
            }
            _ => 1,
        };
        stmts.iter().map(of).sum()
    }

    #[test]
    fn shuffles_of_any_pattern_become_rotations_of_as_many_steps_as_promised() {
        let patterns: [&[u8]; 6] = [
            &[1, 2, 3, 0, 5, 6, 7, 4],
            &[0, 1, 3, 2],
            &[3, ZERO, 1, 1],
            &[ZERO, ZERO],
            &[1, 2, 3, 0],
            &[0, 1, 2, 3, 5, 6, 7, 4, 10, 11, 8, 9, 15, 12, 13, 14],
        ];
        for pattern in patterns {
            let (before, after) = turned(pattern);
            for value in [0x0123_4567_89ab_cdef, 0xf0f0_3c5a_9696_0ff1_u64] {
                let of = |program: &Program| eval(program, NodeId(0), &[value]);
                assert_eq!(of(&after), of(&before), "{pattern:?}");
            }
            assert!(n_steps(&after) <= steps(pattern), "{pattern:?}");
        }
    }

    #[test]
    fn two_distances_share_a_mask_and_a_rotation_stays() {
        let (_, after) = turned(&[1, 2, 3, 0, 5, 6, 7, 4]);
        assert_eq!(n_steps(&after), 5);
        let (_, after) = turned(&[1, 2, 3, 0]);
        assert_eq!(n_steps(&after), 1);
    }
}
