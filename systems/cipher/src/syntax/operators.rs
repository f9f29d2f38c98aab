//! Operators: how tightly each binds, what each makes of its operands, and of known numbers.

use super::ast::{ArithOp, BitOp, Expr, ExprKind, ShiftOp};

/// The level of shifts, the loosest.
pub(super) const SHIFT: u8 = 1;

/// How tightly an operator binds.
pub(super) fn level(op: &str) -> Option<u8> {
    match op {
        "<<" | ">>" | ">>!" | "<<<" | ">>>" => Some(SHIFT),
        "+" | "-" => Some(2),
        "*" | "/" | "%" => Some(3),
        "&" | "|" | "^" => Some(4),
        _ => None,
    }
}

pub(super) fn shift_op(op: &str) -> ShiftOp {
    match op {
        "<<" => ShiftOp::Left,
        ">>" => ShiftOp::Right,
        ">>!" => ShiftOp::RightArith,
        "<<<" => ShiftOp::RotLeft,
        ">>>" => ShiftOp::RotRight,
        other => panic!("`{other}` is not among the operators of level SHIFT"),
    }
}

pub(super) fn binary(op: &str, left: Expr, right: Expr) -> Expr {
    let loc = left.loc.to(right.loc);
    let (left, right) = (Box::new(left), Box::new(right));
    let kind = match op {
        "&" => ExprKind::Bit(BitOp::And, left, right),
        "|" => ExprKind::Bit(BitOp::Or, left, right),
        "^" => ExprKind::Bit(BitOp::Xor, left, right),
        "+" => ExprKind::Arith(ArithOp::Add, left, right),
        "-" => ExprKind::Arith(ArithOp::Sub, left, right),
        "*" => ExprKind::Arith(ArithOp::Mul, left, right),
        "/" => ExprKind::Arith(ArithOp::Div, left, right),
        "%" => ExprKind::Arith(ArithOp::Mod, left, right),
        other => panic!("`{other}` is not a binary operator"),
    };
    Expr { kind, loc }
}

/// One step of static arithmetic: `/` truncates, `%` of a negative number is made positive
/// by adding the modulus.
pub fn static_op(op: ArithOp, a: i64, b: i64) -> Result<i64, &'static str> {
    let overflow = "a static number needs more than 63 bits";
    match op {
        ArithOp::Add => a.checked_add(b).ok_or(overflow),
        ArithOp::Sub => a.checked_sub(b).ok_or(overflow),
        ArithOp::Mul => a.checked_mul(b).ok_or(overflow),
        ArithOp::Div | ArithOp::Mod if b == 0 => Err("division by zero"),
        ArithOp::Div => a.checked_div(b).ok_or(overflow),
        ArithOp::Mod => {
            let rest = a.checked_rem(b).ok_or(overflow)?;
            if a < 0 { rest.checked_add(b).ok_or(overflow) } else { Ok(rest) }
        }
    }
}
