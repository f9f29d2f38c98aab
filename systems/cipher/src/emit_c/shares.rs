//! One operation on shares as a C expression.

use super::Shape;
use crate::ir::Op;

/// The C type of a value.
pub const SHARED: &str = "shared";
/// What every function takes first, and how it hands it on.
pub const POOL_PARAM: &str = "struct pool *pool_ __attribute__((unused))";
pub const POOL: &str = "pool_";

/// An operand of an operation, as C text if it is shared.
#[derive(Debug)]
pub enum MaskedOperand {
    Shares(String),
    Public(u64),
}

/// The shares of a register that is public.
pub fn public(register: &str) -> String {
    format!("((shared){{{{{{{register}}}}}}})")
}

impl Shape {
    /// `op` on shared operands.
    pub fn masked(&self, op: &Op, args: &[MaskedOperand]) -> String {
        use MaskedOperand::{Public, Shares};
        let whole = |arg: &MaskedOperand| match arg {
            Shares(text) => text.clone(),
            Public(value) => public(&self.constant(*value)),
        };
        let constant = |value: u64| self.constant(value & (u64::MAX >> (64 - self.word_bits)));
        match (op, args) {
            (Op::Copy, [a]) => whole(a),
            (Op::Not, [a]) => format!("not_({})", whole(a)),
            (Op::Xor, [a, b]) => format!("xor_({}, {})", whole(a), whole(b)),
            (Op::And, [Shares(a), Shares(b)]) => format!("and_(pool_, {a}, {b})"),
            (Op::AndNot, [Shares(a), Shares(b)]) => format!("and_(pool_, {a}, not_({b}))"),
            (Op::Or, [Shares(a), Shares(b)]) => {
                format!("not_(and_(pool_, not_({a}), not_({b})))")
            }
            (Op::And, [Shares(a), Public(c)] | [Public(c), Shares(a)]) => {
                format!("keep_({a}, {})", constant(*c))
            }
            (Op::AndNot, [Shares(a), Public(c)]) => format!("keep_({a}, {})", constant(!c)),
            (Op::AndNot, [Public(c), Shares(a)]) => {
                format!("keep_(not_({a}), {})", constant(*c))
            }
            (Op::Or, [Shares(a), Public(c)] | [Public(c), Shares(a)]) => {
                let set = public(&constant(*c));
                format!("xor_(keep_({a}, {}), {set})", constant(!c))
            }
            (Op::And | Op::Or | Op::AndNot, [a, b]) => {
                let (Public(a), Public(b)) = (a, b) else { panic!("the other cases stand above") };
                public(&constant(crate::ir::eval::apply(op, &[*a, *b], self.word_bits)))
            }
            (Op::Refresh, [a]) => format!("refresh_(pool_, {})", whole(a)),
            (_, [a]) => format!("EACH({}, {})", whole(a), self.expr(op, &["x_".to_owned()])),
            _ => panic!("`{op}` has no masked form"),
        }
    }
}
