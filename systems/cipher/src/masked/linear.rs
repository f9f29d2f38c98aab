//! Makes sums of what only looks like products: the OR of words that have no bit in common, as
//! shifts by masks leave them. A sum takes no randomness.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Body, Eq, Node, Op, Operand, Program, Stmt, VarId};

pub fn linear(program: &mut Program) {
    for node in &mut program.nodes {
        let Some(mut stmts) = node.take_stmts() else { continue };
        rewrite(node, &mut stmts, &mut HashMap::default());
        node.body = Body::Stmts(stmts);
    }
}

/// `bits` are those that a variable of one word may have, where not all.
fn rewrite(node: &Node, stmts: &mut [Stmt], bits: &mut HashMap<VarId, u64>) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => {
                if eq.op == Op::Or && may_have(node, bits, eq, 0) & may_have(node, bits, eq, 1) == 0
                {
                    eq.op = Op::Xor;
                }
                // What a loop passes on is written outside of equations.
                if node.vars[eq.dst.var.idx()].len == 1 {
                    let result = result_bits(node, bits, eq);
                    bits.insert(eq.dst.var, result);
                }
            }
            Stmt::Loop(it) => rewrite(node, &mut it.body, bits),
            Stmt::Call(_) | Stmt::Unrolled(_) => {}
        }
    }
}

fn may_have(node: &Node, bits: &HashMap<VarId, u64>, eq: &Eq, side: usize) -> u64 {
    match &eq.args[side] {
        Operand::Const(value) => *value,
        Operand::Ref(place) => {
            bits.get(&place.var).copied().unwrap_or_else(|| node.ty(place).mask())
        }
    }
}

fn result_bits(node: &Node, bits: &HashMap<VarId, u64>, eq: &Eq) -> u64 {
    let ty = node.ty(&eq.dst);
    let arg = |side| may_have(node, bits, eq, side);
    let value = match &eq.op {
        Op::Copy => arg(0),
        Op::And => arg(0) & arg(1),
        Op::AndNot if matches!(eq.args[1], Operand::Const(_)) => arg(0) & !arg(1),
        Op::AndNot => arg(0),
        Op::Or | Op::Xor => arg(0) | arg(1),
        Op::Shl(_) | Op::Shr(_) | Op::Rotl(_) | Op::Shuffle(_) => {
            crate::ir::eval::apply(&eq.op, &[arg(0)], ty.m)
        }
        _ => ty.mask(),
    };
    value & ty.mask()
}
