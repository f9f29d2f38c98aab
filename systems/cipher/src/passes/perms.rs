//! Turns a `perm` into copies.
//!
//! ```text
//! perm p(x:b3) {3, 1, 1}    --->    y[0] = x[2]; y[1] = x[0]; y[2] = x[0]
//! ```
//!
//! Needs:   nothing.
//! Keeps:   the interface.
//! Costs:   nothing at run time: copies vanish when the node is inlined.

use crate::ir::{Body, Node, Stmt};
use crate::syntax::Loc;

/// Gives a permutation a body of copies.
pub fn perms(node: &mut Node) {
    let Body::Perm(list) = &node.body else { return };
    let (params, results) = (node.words(&node.params), node.words(&node.results));
    let stmts = results
        .into_iter()
        .zip(list)
        .map(|(dst, at)| Stmt::copy(dst, params[*at as usize].clone(), Loc::default()))
        .collect();
    node.body = Body::Stmts(stmts);
}
