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

/// Replaces repeated expressions by copies; returns how many.
pub fn cse(node: &mut Node) -> usize {
    let Some(mut stmts) = node.take_stmts() else { return 0 };
    let mut known = HashMap::default();
    let n = eliminate(node, &mut stmts, &mut known, None);
    node.body = Body::Stmts(stmts);
    n
}

/// Operation, arguments and word size of an expression.
type Key = (Op, Vec<Operand>, u32);
type Known = HashMap<Key, Operand>;

/// In a loop, what becomes known is `added`, so that it can be forgotten behind it.
fn eliminate(node: &Node, stmts: &mut [Stmt], known: &mut Known, mut added: Option<&mut Vec<Key>>) -> usize {
    let mut n = 0;
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
                    n += 1;
                } else {
                    if let Some(added) = &mut added {
                        added.push(key.clone());
                    }
                    known.insert(key, eq.dst.clone().into());
                }
            }
            Stmt::Call(_) => {}
            Stmt::Loop(it) => {
                let mut inner = Vec::new();
                n += eliminate(node, &mut it.body, known, Some(&mut inner));
                inner.iter().for_each(|key| {
                    known.remove(key);
                });
            }
            Stmt::Unrolled(_) => panic!("`loops` comes before `cse`"),
        }
    }
    n
}

fn order_key(operand: &Operand) -> (u32, i64, u64) {
    match operand {
        Operand::Ref(place) => (place.var.0, place.index.base, 0),
        Operand::Const(c) => (u32::MAX, 0, *c),
    }
}
