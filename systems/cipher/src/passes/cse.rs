//! Computes equal expressions once.
//!
//! ```text
//! a = xor x, y         a = xor x, y
//! b = xor y, x  --->   b = copy a
//! ```
//!
//! What is computed in a loop is not reused behind it.
//!
//! Needs:   executable order, every word written once.
//! Keeps:   the set of written words.
//! Costs:   linear; values live longer.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Body, Node, Op, Operand, Stmt};

/// Replaces repeated expressions by copies.
pub fn cse(node: &mut Node) {
    let Some(mut stmts) = node.take_stmts() else { return };
    let mut known = HashMap::default();
    eliminate(node, &mut stmts, &mut known, &mut Vec::new());
    node.body = Body::Stmts(stmts);
}

type Known = HashMap<(Op, Vec<Operand>, u32), Operand>;

fn eliminate(node: &Node, stmts: &mut [Stmt], known: &mut Known, added: &mut Vec<(Op, Vec<Operand>, u32)>) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => {
                if eq.op == Op::Copy {
                    continue;
                }
                let mut args = eq.args.clone();
                if eq.op.is_commutative() && order_key(&args[0]) > order_key(&args[1]) {
                    args.swap(0, 1);
                }
                let key = (eq.op.clone(), args, node.ty(&eq.dst).m);
                if let Some(first) = known.get(&key) {
                    eq.op = Op::Copy;
                    eq.args = vec![first.clone()];
                } else {
                    known.insert(key.clone(), eq.dst.clone().into());
                    added.push(key);
                }
            }
            Stmt::Call(_) => {}
            Stmt::Loop(it) => {
                let mut inner = Vec::new();
                eliminate(node, &mut it.body, known, &mut inner);
                inner.iter().for_each(|key| {
                    known.remove(key);
                });
            }
            Stmt::Unrolled(_) => panic!("`loops` comes before `cse`"),
        }
    }
}

fn order_key(operand: &Operand) -> (u32, i64, u64) {
    match operand {
        Operand::Ref(place) => (place.var.0, place.index.base, 0),
        Operand::Const(c) => (u32::MAX, 0, *c),
    }
}
