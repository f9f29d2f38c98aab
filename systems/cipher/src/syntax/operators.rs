//! Operators: how tightly each binds, and expressions with several of them.

use super::ast::{ArithOp, BitOp, Expr, ExprKind, ShiftOp};
use super::lexer::Token;
use super::parser::{DEPTH_MAX, Parsed, Parser};
use super::source::Loc;

/// The most remarks in a file.
const WARNINGS_MAX: usize = 20;

impl Parser<'_> {
    /// Extends `left`, which begins at `start`, by operators that bind at least as tightly as
    /// `min`.
    pub(super) fn climb(&mut self, mut left: Expr, start: Loc, min: u8) -> Parsed<Expr> {
        let mut height = self.height;
        let mut is_bare = false;
        loop {
            let level = if let Token::Punct(op) = self.peek() { level(op) } else { None };
            let (Token::Punct(op), Some(level)) =
                (self.peek().clone(), level.filter(|level| *level >= min))
            else {
                self.height = height;
                return Ok(left);
            };
            if height >= 2 * DEPTH_MAX {
                return self.fail_at(
                    self.loc(),
                    format!("more than {} operators in a row or inside one another", 2 * DEPTH_MAX),
                    "split the equation with a variable",
                );
            }
            let is_shift = matches!(left.kind, ExprKind::Shift(..));
            let inner = self.since(start);
            self.next();
            if level == SHIFT {
                let amount = self.aexpr()?;
                let loc = left.loc.to(self.last_loc());
                left = Expr { kind: ExprKind::Shift(shift_op(op), Box::new(left), amount), loc };
                height += 1;
            } else {
                let after = self.loc();
                let first = self.prefix()?;
                let right = self.nested(|p| p.climb(first, after, level + 1))?;
                left = binary(op, left, right);
                height = 1 + height.max(self.height);
            }
            // Not in parentheses, and one of the two operators is a shift.
            if is_bare && is_shift != (level == SHIFT) && self.warnings.len() < WARNINGS_MAX {
                let whole = self.since(start);
                self.precedence(inner, whole);
            }
            is_bare = true;
        }
    }

    /// Remarks on `a & b <<< 8`: shifts bind the loosest here, unlike in C.
    fn precedence(&mut self, inner: Loc, whole: Loc) {
        let text = |loc: Loc| self.sources.text(loc);
        let rest = Loc { start: inner.end, ..whole };
        let parse = format!("({}){}", text(inner), text(rest));
        let parse: Vec<&str> = parse.split_whitespace().collect();
        let message = format!("a shift beside another operator is read as `{}`", parse.join(" "));
        let mut warning = self.sources.error(whole, message, "shifts bind loosest");
        warning.help = Some("write the parentheses".into());
        self.warnings.push(warning);
    }
}

/// The level of shifts, the loosest.
pub(super) const SHIFT: u8 = 1;

/// How tightly an operator binds.
fn level(op: &str) -> Option<u8> {
    match op {
        "<<" | ">>" | ">>!" | "<<<" | ">>>" => Some(SHIFT),
        "+" | "-" => Some(2),
        "*" | "/" | "%" => Some(3),
        "&" | "|" | "^" => Some(4),
        _ => None,
    }
}

fn shift_op(op: &str) -> ShiftOp {
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
