//! Computes what is constant and drops operations that change nothing.
//!
//! ```text
//! a = xor x, 0    --->    a = copy x
//! b = and x, 0    --->    b = copy 0
//! c = not n, where n = not x    --->    c = copy x
//! ```
//!
//! Needs:   executable order, every word written once.
//! Keeps:   the set of written words.
//! Costs:   linear.

use smallvec::smallvec;

use crate::ir::eval::apply;
use crate::ir::{Body, Eq, Node, Op, Operand, Ref, Stmt, Ty};

/// Simplifies every equation by itself; returns how many changed.
pub fn fold_constants(node: &mut Node) -> usize {
    let Some(mut stmts) = node.take_stmts() else { return 0 };
    let mut complements: Vec<Option<Operand>> = vec![None; node.vars.len()];
    let n = fold(node, &mut stmts, &mut complements);
    node.body = Body::Stmts(stmts);
    n
}

fn fold(node: &Node, stmts: &mut [Stmt], complements: &mut Vec<Option<Operand>>) -> usize {
    let mut n = 0;
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => {
                let before = eq.op.clone();
                fold_eq(eq, node.ty(&eq.dst), complements);
                n += usize::from(eq.op != before);
                if eq.op == Op::Not && node.vars[eq.dst.var.idx()].len == 1 {
                    complements[eq.dst.var.idx()] = Some(eq.args[0].clone());
                }
            }
            Stmt::Call(_) => {}
            Stmt::Loop(it) => n += fold(node, &mut it.body, complements),
            Stmt::Unrolled(_) => panic!("`loops` comes before `fold_constants`"),
        }
    }
    n
}

fn fold_eq(eq: &mut Eq, ty: Ty, complements: &[Option<Operand>]) {
    let constants: Option<Vec<u64>> =
        eq.args.iter().map(|a| if let Operand::Const(c) = a { Some(*c) } else { None }).collect();
    if let Some(constants) = constants
        && !matches!(eq.op, Op::Div | Op::Mod | Op::Copy)
    {
        return copy(eq, Operand::Const(apply(&eq.op, &constants, ty.m)));
    }
    let complement_of = |operand: &Operand| match operand {
        Operand::Ref(Ref { var, .. }) => complements[var.idx()].clone(),
        Operand::Const(_) => None,
    };
    match eq.op {
        Op::Not => {
            if let Some(original) = complement_of(&eq.args[0]) {
                copy(eq, original);
            }
        }
        Op::Shl(0) | Op::Shr(0) | Op::Sar(0) | Op::Rotl(0) => copy(eq, eq.args[0].clone()),
        Op::And | Op::Or | Op::Xor => {
            if matches!(eq.args[0], Operand::Const(_)) {
                eq.args.swap(0, 1);
            }
            let (a, b) = (eq.args[0].clone(), eq.args[1].clone());
            let opposite =
                complement_of(&a).as_ref() == Some(&b) || complement_of(&b).as_ref() == Some(&a);
            let mask = Operand::Const(ty.mask());
            let zero = Operand::Const(0);
            match eq.op {
                Op::And if b == zero || opposite => copy(eq, zero),
                Op::And if b == mask || a == b => copy(eq, a),
                Op::Or if b == mask || opposite => copy(eq, mask),
                Op::Or if b == zero || a == b => copy(eq, a),
                Op::Xor if a == b => copy(eq, zero),
                Op::Xor if opposite => copy(eq, mask),
                Op::Xor if b == zero => copy(eq, a),
                Op::Xor if b == mask => {
                    *eq = Eq { op: Op::Not, args: smallvec![a], ..eq.clone() };
                    if let Some(original) = complement_of(&eq.args[0]) {
                        copy(eq, original);
                    }
                }
                _ => {}
            }
        }
        Op::AndNot => {
            let (a, b) = (eq.args[0].clone(), eq.args[1].clone());
            let (zero, mask) = (Operand::Const(0), Operand::Const(ty.mask()));
            if a == zero || b == mask || a == b {
                copy(eq, zero);
            } else if b == zero {
                copy(eq, a);
            } else if a == mask {
                *eq = Eq { op: Op::Not, args: smallvec![b], ..eq.clone() };
            } else if let Some(original) = complement_of(&b) {
                *eq = Eq { op: Op::And, args: smallvec![a, original], ..eq.clone() };
            }
        }
        Op::Add | Op::Sub if eq.args[1] == Operand::Const(0) => copy(eq, eq.args[0].clone()),
        _ => {}
    }
}

fn copy(eq: &mut Eq, value: Operand) {
    eq.op = Op::Copy;
    eq.args = smallvec![value];
}
