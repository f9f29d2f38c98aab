//! A key schedule that hands on its words as the entry wants them.

use smallvec::smallvec;

use crate::ir::visit::places_mut;
use crate::ir::{Eq, Node, Op, Stmt, VarId};

/// Applies an operation to each word of the results, in their order.
pub fn hand_on(node: &mut Node, ops: impl Iterator<Item = Op>) {
    let mut stmts = node.take_stmts().expect("a key schedule has equations");
    let results = node.results.clone();
    let made: Vec<VarId> = results
        .iter()
        .map(|var| {
            let it = node.vars[var.idx()].clone();
            node.var(it.name, it.len, it.ty)
        })
        .collect();
    places_mut(&mut stmts, &mut |place, _| {
        if let Some(k) = results.iter().position(|var| *var == place.var) {
            place.var = made[k];
        }
    });
    let words = node.words(&results).into_iter().zip(node.words(&made));
    let loc = node.loc;
    stmts.extend(
        words
            .zip(ops)
            .map(|((dst, word), op)| Stmt::Eq(Eq { dst, op, args: smallvec![word.into()], loc })),
    );
    node.body = crate::ir::Body::Stmts(stmts);
}
