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

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap as HashMap;
use smallvec::smallvec;

use crate::ir::{Body, Node, Op, Operand, Ref, Stmt};

/// Replaces repeated expressions by copies; returns how many.
pub fn cse(node: &mut Node) -> usize {
    let Some(mut stmts) = node.take_stmts() else { return 0 };
    let n_stmts = stmts.len();
    let mut known = Known {
        ops: HashMap::default(),
        operands: HashMap::default(),
        firsts: HashMap::with_capacity_and_hasher(n_stmts, Default::default()),
        places: Vec::with_capacity(n_stmts),
    };
    let n = known.eliminate(node, &mut stmts, None);
    node.body = Body::Stmts(stmts);
    n
}

/// An expression in few bytes, since a program has hundreds of thousands: the number of the
/// operation and word size, the numbers of the arguments.
type Key = (u32, [u64; 3]);

struct Known {
    ops: HashMap<(Op, u32), u32>,
    /// Operands that are more than a word at a constant index.
    operands: HashMap<Operand, u64>,
    /// Where each expression is computed first, as an index into `places`.
    firsts: HashMap<Key, u32>,
    places: Vec<Ref>,
}

impl Known {
    /// In a loop, what becomes known is `added`, so that it can be forgotten behind it.
    fn eliminate(&mut self, node: &Node, stmts: &mut [Stmt], mut added: Option<&mut Vec<Key>>) -> usize {
        let mut n = 0;
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) if eq.op == Op::Copy => {}
                Stmt::Eq(eq) => {
                    let key = self.key(&eq.op, &eq.args, node.ty(&eq.dst).m);
                    match self.firsts.entry(key) {
                        Entry::Occupied(first) => {
                            eq.op = Op::Copy;
                            eq.args = smallvec![self.places[*first.get() as usize].clone().into()];
                            n += 1;
                        }
                        Entry::Vacant(free) => {
                            free.insert(self.places.len() as u32);
                            self.places.push(eq.dst.clone());
                            if let Some(added) = &mut added {
                                added.push(key);
                            }
                        }
                    }
                }
                Stmt::Call(_) => {}
                Stmt::Loop(it) => {
                    let mut inner = Vec::new();
                    n += self.eliminate(node, &mut it.body, Some(&mut inner));
                    inner.iter().for_each(|key| {
                        self.firsts.remove(key);
                    });
                }
                Stmt::Unrolled(_) => panic!("`loops` comes before `cse`"),
            }
        }
        n
    }

    fn key(&mut self, op: &Op, args: &[Operand], m: u32) -> Key {
        let n_ops = self.ops.len() as u32;
        let number = *self.ops.entry((op.clone(), m)).or_insert(n_ops);
        let mut numbers = [0; 3];
        for (slot, arg) in numbers.iter_mut().zip(args) {
            *slot = self.number(arg);
        }
        if op.is_commutative() {
            numbers[..2].sort_unstable();
        }
        (number, numbers)
    }

    /// Different for different operands. Indices and numbers of variables are below 2^31.
    fn number(&mut self, operand: &Operand) -> u64 {
        if let Operand::Ref(place) = operand
            && let Some(index) = place.index.constant()
        {
            return u64::from(place.var.0) << 32 | index as u64;
        }
        let n_operands = self.operands.len() as u64;
        *self.operands.entry(operand.clone()).or_insert(1 << 63 | n_operands)
    }
}
