//! Lets a shuffle clear the bits that a mask behind it clears.
//!
//! ```text
//! t = shuffle([2, 3, 0, 1]) x
//! y = and t, 0xa                 --->    y = shuffle([2, -, 0, -]) x     - is a zero
//! ```
//!
//! Needs:   executable order, every word written once.
//! Keeps:   shuffles that something else reads, too.
//! Costs:   linear.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Args, Body, Eq, Node, Op, Operand, Ref, Stmt, VarId};

use super::hslice::ZERO;
use super::list;

/// Rewrites the masks of shuffles; `dead_code` removes those that nothing reads any more.
pub fn masked_shuffles(node: &mut Node) {
    let Some(mut stmts) = node.take_stmts() else { return };
    let results: BTreeSet<VarId> = node.results.iter().copied().collect();
    let reads = list::reads(node, &stmts, &results);
    rewrite(node, &mut stmts, &reads, &mut HashMap::default());
    node.body = Body::Stmts(stmts);
}

fn rewrite(
    node: &Node,
    stmts: &mut [Stmt],
    reads: &[u32],
    shuffles: &mut HashMap<VarId, (Vec<u8>, Args)>,
) {
    for stmt in stmts {
        let eq = match stmt {
            Stmt::Eq(eq) => eq,
            Stmt::Loop(it) => {
                rewrite(node, &mut it.body, reads, shuffles);
                continue;
            }
            Stmt::Call(_) | Stmt::Unrolled(_) => continue,
        };
        match (&eq.op, &eq.args[..]) {
            (Op::Shuffle(pattern), _) => {
                let var = eq.dst.var;
                if node.vars[var.idx()].len == 1 && reads[var.idx()] == 1 {
                    shuffles.insert(var, (pattern.to_vec(), eq.args.clone()));
                }
            }
            (Op::And, [Operand::Ref(Ref { var, .. }), Operand::Const(mask)]) => {
                let Some((pattern, args)) = shuffles.get(var) else { continue };
                let m = pattern.len();
                let kept = |(j, from): (usize, &u8)| {
                    if mask >> (m - 1 - j) & 1 == 1 { *from } else { ZERO }
                };
                let op = Op::Shuffle(pattern.iter().enumerate().map(kept).collect());
                *eq = Eq { op, args: args.clone(), ..eq.clone() };
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::ir::{Dir, Ty};
    use crate::syntax::Loc;

    /// `t = shuffle x`, `y = and t, 0xa`, and `z = copy t` if it `is_read_again`.
    fn example(is_read_again: bool) -> Vec<Op> {
        let mut node = Node::new("example");
        let ty = Ty { m: 4, dir: Dir::H };
        let [x, t, y, z] = ["x", "t", "y", "z"].map(|name| node.var(name, 1, ty));
        node.params.push(x);
        node.results.extend([y, z]);
        let read = if is_read_again { t } else { x };
        let eq = |dst: VarId, op: Op, args: Args| {
            Stmt::Eq(Eq { dst: Ref::at(dst, 0), op, args, loc: Loc::default() })
        };
        node.body = Body::Stmts(vec![
            eq(t, Op::Shuffle([2, 3, 0, 1].into()), smallvec![Ref::at(x, 0).into()]),
            eq(y, Op::And, smallvec![Ref::at(t, 0).into(), Operand::Const(0xa)]),
            Stmt::copy(Ref::at(z, 0), Ref::at(read, 0), Loc::default()),
        ]);
        masked_shuffles(&mut node);
        let stmts = node.take_stmts().expect("it has equations");
        stmts
            .into_iter()
            .map(|stmt| match stmt {
                Stmt::Eq(eq) => eq.op,
                _ => panic!("it has equations only"),
            })
            .collect()
    }

    #[test]
    fn a_mask_behind_a_shuffle_becomes_its_zeros() {
        assert_eq!(example(false)[1], Op::Shuffle([2, ZERO, 0, ZERO].into()));
    }

    #[test]
    fn a_shuffle_that_is_read_twice_is_not_made_twice() {
        assert_eq!(example(true)[1], Op::And);
    }
}
