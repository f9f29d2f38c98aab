//! Expressions: each becomes the list of its words, with an equation for each operation on a word.

use num_bigint::BigUint;

use crate::ir::{Args, Dir, Eq, Op, Operand, RIGID, Ref, Stmt, Ty};
use crate::syntax::Loc;
use crate::syntax::ast::{AExpr, AExprKind, ArithOp, BitOp, Expr, ExprKind, ShiftOp};

use super::node::{Binding, Builder};
use super::types::{Atom, describe, join};

impl Builder<'_, '_> {
    /// The words of `expr`; `expected` gives untyped constants their type.
    pub fn expr(&mut self, expr: &Expr, expected: Option<&[Ty]>) -> Option<Vec<Atom>> {
        if self.is_number(expr) {
            let value = self.static_value(expr)?;
            return self.constant(&value, expected, expr.loc);
        }
        match &expr.kind {
            ExprKind::Int(value) => self.constant(value, expected, expr.loc),
            ExprKind::TypedInt(value, ty) => {
                if *ty == crate::syntax::ast::Type::Nat {
                    return self.elab.error(
                        expr.loc,
                        "a constant has a word type, not nat",
                        "here",
                    );
                }
                let tys = vec![self.instance.word_ty(ty); ty.n_atoms() as usize];
                self.elab.spend(0, ty.n_atoms() / 64, expr.loc)?;
                self.split_constant(value, &tys, expr.loc)
            }
            ExprKind::Access(access) => self.read_access(access),
            ExprKind::Tuple(parts) => self.tuple(parts, expected, expr.loc),
            ExprKind::Not(inner) => {
                let words = self.expr(inner, expected)?;
                words.into_iter().map(|w| self.emit(Op::Not, vec![w.op], w.ty)).collect()
            }
            ExprKind::Bit(op, left, right) => {
                let op = match op {
                    BitOp::And => Op::And,
                    BitOp::Or => Op::Or,
                    BitOp::Xor => Op::Xor,
                };
                self.binary(op, left, right, expected, expr.loc)
            }
            ExprKind::Arith(op, left, right) => {
                let op = match op {
                    ArithOp::Add => Op::Add,
                    ArithOp::Sub => Op::Sub,
                    ArithOp::Mul => Op::Mul,
                    ArithOp::Div => Op::Div,
                    ArithOp::Mod => Op::Mod,
                };
                let words = self.binary(op, left, right, expected, expr.loc)?;
                if words.iter().any(|w| w.ty.m == 1) {
                    let help = "for a sum with carries declare a word, such as u8; for one without write `^`";
                    return self.elab.error_help(
                        expr.loc,
                        "bits have no arithmetic",
                        "each bit would be computed alone",
                        help,
                    );
                }
                if words.iter().any(|w| w.ty.dir == Dir::H) {
                    let help = "declare the words u<V>, or compile with --slicing v";
                    return self.elab.error_help(
                        expr.loc,
                        "horizontally sliced words have no arithmetic",
                        "their bits lie in different elements",
                        help,
                    );
                }
                Some(words)
            }
            ExprKind::Shift(op, inner, amount) => self.shift(*op, inner, amount, expected),
            ExprKind::Shuffle(access, pattern) => {
                let words = self.read_access(access)?;
                self.shuffle(words, pattern, expr.loc)
            }
            ExprKind::Bitmask(inner, bit) => self.bitmask(inner, bit, expected),
            ExprKind::Pack(high, low, ty) => self.pack(high, low, ty.as_ref(), expr.loc),
            ExprKind::Call { name, index, args } => {
                self.call(name, index.as_ref(), args, expected, expr.loc)
            }
        }
    }

    /// Adds an equation and gives its value.
    pub fn emit(&mut self, op: Op, args: impl Into<Args>, ty: Ty) -> Option<Atom> {
        self.elab.spend(1, 0, self.loc)?;
        let temp = self.node.var("t", 1, ty);
        let dst = Ref::at(temp, 0);
        self.fresh.insert(temp, self.stmts.len());
        self.defined.insert((temp, 0), self.loc);
        self.stmts.push(Stmt::Eq(Eq { dst: dst.clone(), op, args: args.into(), loc: self.loc }));
        Some(Atom { op: dst.into(), ty })
    }

    /// A static number: an integer, a loop index or nat parameter, or arithmetic on them.
    fn is_number(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(_) => true,
            ExprKind::Access(access) => {
                access.indices.is_empty()
                    && matches!(self.scope.get(&access.name.name), Some(Binding::Nat(_)))
            }
            ExprKind::Arith(_, a, b) => self.is_number(a) && self.is_number(b),
            _ => false,
        }
    }

    fn static_value(&mut self, expr: &Expr) -> Option<BigUint> {
        if let ExprKind::Int(value) = &expr.kind {
            return Some(value.clone());
        }
        let number = self.number_of(expr)?;
        match BigUint::try_from(number) {
            Ok(value) => Some(value),
            Err(_) => self.elab.error(
                expr.loc,
                format!("the constant {number} is negative"),
                "words hold numbers from 0",
            ),
        }
    }

    /// The value of an expression that is a static number.
    pub fn number_of(&mut self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Int(value) => match i64::try_from(value) {
                Ok(value) => Some(value),
                Err(_) => self.elab.error(
                    expr.loc,
                    format!("`{value}` is too large here"),
                    "at most 63 bits",
                ),
            },
            ExprKind::Access(access) if access.indices.is_empty() => self
                .number(&AExpr { kind: AExprKind::Name(access.name.name.clone()), loc: expr.loc }),
            ExprKind::Arith(op, a, b) => {
                let (a, b) = (self.number_of(a)?, self.number_of(b)?);
                match crate::syntax::operators::static_op(*op, a, b) {
                    Ok(value) => Some(value),
                    Err(why) => self.elab.error(expr.loc, why, "in this expression"),
                }
            }
            _ => self.elab.error(
                expr.loc,
                "a nat parameter takes a static number",
                "a number, a loop index or a nat parameter",
            ),
        }
    }

    /// Whether the type of `expr` comes from its surroundings.
    pub fn needs_type(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(_) => true,
            ExprKind::Access(_) => self.is_number(expr),
            ExprKind::Tuple(parts) => parts.iter().any(|p| self.needs_type(p)),
            ExprKind::Not(inner) | ExprKind::Shift(_, inner, _) | ExprKind::Bitmask(inner, _) => {
                self.needs_type(inner)
            }
            ExprKind::Bit(_, a, b) | ExprKind::Arith(_, a, b) => {
                self.needs_type(a) && self.needs_type(b)
            }
            ExprKind::TypedInt(..)
            | ExprKind::Shuffle(..)
            | ExprKind::Pack(..)
            | ExprKind::Call { .. } => false,
        }
    }

    /// An untyped constant: one word, or a string of bits with the most significant first.
    fn constant(
        &mut self,
        value: &BigUint,
        expected: Option<&[Ty]>,
        loc: Loc,
    ) -> Option<Vec<Atom>> {
        let Some(tys) = expected else {
            return self.elab.error_help(
                loc,
                format!("the type of the constant `{value}` is open"),
                "here",
                format!("write it with a type, as in `{value}:u32`"),
            );
        };
        if tys.len() != 1 && tys.iter().any(|ty| ty.m != 1) {
            let help = format!(
                "write a tuple with a constant for each word, such as ({})",
                vec![value.to_string(); tys.len().min(4)].join(", ")
            );
            return self.elab.error_help(
                loc,
                format!("one constant cannot stand for {}", describe(tys)),
                "a constant is one word",
                help,
            );
        }
        self.split_constant(value, tys, loc)
    }

    /// The bits of `value` over the words in order, most significant first.
    fn split_constant(&mut self, value: &BigUint, tys: &[Ty], loc: Loc) -> Option<Vec<Atom>> {
        let bits: u64 = tys.iter().map(|ty| if ty.m >= RIGID { 64 } else { u64::from(ty.m) }).sum();
        if value.bits() > bits {
            return self.elab.error(
                loc,
                format!("the constant {value:#x} does not fit in {bits} bits"),
                format!("the type here is {}", describe(tys)),
            );
        }
        let mut left = bits;
        let mut words = Vec::with_capacity(tys.len());
        for ty in tys {
            let m = if ty.m >= RIGID { 64 } else { u64::from(ty.m) };
            left -= m;
            let word = (0..m).filter(|i| value.bit(left + i)).fold(0u64, |word, i| word | 1 << i);
            words.push(Atom { op: Operand::Const(word), ty: *ty });
        }
        Some(words)
    }

    fn tuple(&mut self, parts: &[Expr], expected: Option<&[Ty]>, loc: Loc) -> Option<Vec<Atom>> {
        let mut values: Vec<Option<Vec<Atom>>> = Vec::new();
        let mut n_open = 0;
        for part in parts {
            let open = self.needs_type(part);
            n_open += usize::from(open);
            values.push(if open { None } else { Some(self.expr(part, None)?) });
        }
        let known: usize = values.iter().flatten().map(Vec::len).sum();
        // Constants share the words of the expected type that the other parts leave.
        let left = expected.map_or(n_open, |tys| tys.len().saturating_sub(known));
        if n_open > 0 && expected.is_some() && !left.is_multiple_of(n_open) {
            return self.elab.error(
                loc,
                format!("this tuple does not fill {}", describe(expected.unwrap_or(&[]))),
                "give its constants a type",
            );
        }
        let share = left.checked_div(n_open).unwrap_or(0);
        let mut at = 0;
        let mut all = Vec::new();
        for (part, value) in parts.iter().zip(values) {
            let words = match value {
                Some(words) => words,
                None => self.expr(part, expected.and_then(|tys| tys.get(at..at + share)))?,
            };
            at += words.len();
            all.extend(words);
        }
        Some(all)
    }

    fn binary(
        &mut self,
        op: Op,
        left: &Expr,
        right: &Expr,
        expected: Option<&[Ty]>,
        loc: Loc,
    ) -> Option<Vec<Atom>> {
        let (a, b) = if self.needs_type(left) && !self.needs_type(right) {
            let b = self.expr(right, expected)?;
            let tys: Vec<Ty> = b.iter().map(|w| w.ty).collect();
            (self.expr(left, Some(&tys))?, b)
        } else {
            let a = self.expr(left, expected)?;
            let tys: Vec<Ty> = a.iter().map(|w| w.ty).collect();
            let b = self.expr(right, Some(&tys))?;
            (a, b)
        };
        let tys = |words: &[Atom]| words.iter().map(|w| w.ty).collect::<Vec<_>>();
        if a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| join(a.ty, b.ty).is_none()) {
            let (left_ty, right_ty) = (describe(&tys(&a)), describe(&tys(&b)));
            let message = format!(
                "`{}` needs two values of one type, these are {left_ty} and {right_ty}",
                symbol(&op)
            );
            let mut error = self.elab.ast.sources.error(
                left.loc,
                message.clone(),
                format!("this is {left_ty}"),
            );
            error
                .spans
                .push((self.elab.ast.sources.span(right.loc), format!("this is {right_ty}")));
            if self.elab.seen.insert((loc, message)) {
                self.elab.errors.push(error);
            }
            return None;
        }
        a.into_iter()
            .zip(b)
            .map(|(a, b)| {
                let ty = join(a.ty, b.ty).expect("checked above");
                self.emit(op.clone(), vec![a.op, b.op], ty)
            })
            .collect()
    }

    fn shift(
        &mut self,
        op: ShiftOp,
        inner: &Expr,
        amount: &AExpr,
        expected: Option<&[Ty]>,
    ) -> Option<Vec<Atom>> {
        let words = self.expr(inner, expected)?;
        let n = self.number(amount)?;
        let is_word = matches!(words.as_slice(), [one] if one.ty.m != 1);
        let width = if is_word { words[0].ty.m as usize } else { words.len() };
        let open = is_word && words[0].ty.m >= RIGID;
        if n < 0 || (n > width as i64 && !open) {
            let what = if is_word {
                format!("a word of {width} bits")
            } else {
                format!("a vector of {width} words")
            };
            return self.elab.error(
                amount.loc,
                format!("cannot shift {what} by {n}"),
                format!("0 to {width} here"),
            );
        }
        if is_word {
            return Some(vec![self.shift_word(op, words.into_iter().next()?, n as u32)?]);
        }
        let (n, len) = (n as usize, words.len());
        let zero = |ty: Ty| Atom { op: Operand::Const(0), ty };
        let moved = |i: usize| -> Option<usize> {
            match op {
                ShiftOp::Left => Some(i + n).filter(|j| *j < len),
                ShiftOp::Right => i.checked_sub(n),
                ShiftOp::RotLeft => Some((i + n) % len),
                ShiftOp::RotRight => Some((i + len - n) % len),
                ShiftOp::RightArith => Some(i.saturating_sub(n)),
            }
        };
        Some(
            (0..len)
                .map(|i| moved(i).map_or_else(|| zero(words[i].ty), |j| words[j].clone()))
                .collect(),
        )
    }

    fn shift_word(&mut self, op: ShiftOp, word: Atom, n: u32) -> Option<Atom> {
        let m = word.ty.m;
        let open = m >= RIGID;
        let op = match op {
            _ if n == 0 => return Some(word),
            ShiftOp::Left | ShiftOp::Right if n == m => {
                return Some(Atom { op: Operand::Const(0), ty: word.ty });
            }
            ShiftOp::RotLeft | ShiftOp::RotRight if n == m => return Some(word),
            ShiftOp::Left => Op::Shl(n),
            ShiftOp::Right => Op::Shr(n),
            ShiftOp::RightArith => Op::Sar(if open { n } else { n.min(m - 1) }),
            ShiftOp::RotLeft => Op::Rotl(n),
            ShiftOp::RotRight => Op::Rotl(if open { n } else { m - n }),
        };
        self.emit(op, vec![word.op], word.ty)
    }

    fn shuffle(&mut self, words: Vec<Atom>, pattern: &[(i64, Loc)], loc: Loc) -> Option<Vec<Atom>> {
        let by_position = words.iter().all(|w| w.ty.m == 1) && words.len() == pattern.len();
        let width = if by_position { words.len() } else { words.first()?.ty.m as usize };
        let open = !by_position && width >= RIGID as usize;
        let n = pattern.len();
        let width = if open { n } else { width };
        // Several words with fewer positions than bits: the words may be meant as well as parts of
        // each.
        if n != width && (words.len() > 1 || !width.is_multiple_of(n)) {
            let message = format!(
                "this shuffle lists {n} positions for {} of {width} bits",
                crate::elaborate::count(words.len() as u64, "word")
            );
            let label = "one position for each bit, the most significant first, or of a single word for each of n equal parts";
            return self.elab.error(loc, message, label);
        }
        for (position, at) in pattern {
            if !(0..n as i64).contains(position) {
                return self.elab.error(
                    *at,
                    format!("position {position} is not between 0 and {}", n - 1),
                    "here",
                );
            }
        }
        if by_position {
            return Some(pattern.iter().map(|(p, _)| words[*p as usize].clone()).collect());
        }
        // As in a perm of a word, a position is that of as many adjacent bits.
        let k = width / n;
        let bytes: thin_vec::ThinVec<u8> = pattern
            .iter()
            .flat_map(|(p, _)| (0..k).map(move |bit| (*p as usize * k + bit) as u8))
            .collect();
        words.into_iter().map(|w| self.emit(Op::Shuffle(bytes.clone()), vec![w.op], w.ty)).collect()
    }

    fn bitmask(&mut self, inner: &Expr, bit: &AExpr, expected: Option<&[Ty]>) -> Option<Vec<Atom>> {
        let words = self.expr(inner, expected)?;
        let n = self.number(bit)?;
        words
            .into_iter()
            .map(|w| {
                let m = if w.ty.m >= RIGID { 64 } else { w.ty.m };
                if !(0..i64::from(m)).contains(&n) {
                    return self.elab.error(
                        bit.loc,
                        format!("bit {n} is not between 0 and {}", m - 1),
                        "bits count from the least significant",
                    );
                }
                self.emit(Op::Bitmask(n as u32), vec![w.op], w.ty)
            })
            .collect()
    }

    fn pack(
        &mut self,
        high: &Expr,
        low: &Expr,
        ty: Option<&crate::syntax::ast::Type>,
        loc: Loc,
    ) -> Option<Vec<Atom>> {
        let (a, b) = (self.expr(high, None)?, self.expr(low, None)?);
        let Some(ty) = ty.filter(|ty| **ty != crate::syntax::ast::Type::Nat) else {
            return self.elab.error_help(
                loc,
                "Pack needs the type of its result",
                "here",
                "write it after the call, as in `Pack(a, b) : u32`",
            );
        };
        let target = self.instance.word_ty(ty);
        let ([a], [b], 1) = (a.as_slice(), b.as_slice(), ty.n_atoms()) else {
            return self.elab.error(
                loc,
                "Pack makes one word of two words",
                "each part must be a single word",
            );
        };
        let known = [a.ty.m, b.ty.m, target.m].iter().all(|m| *m < RIGID);
        if known && a.ty.m + b.ty.m != target.m {
            let message =
                format!("{} and {} bits do not make a word of {} bits", a.ty.m, b.ty.m, target.m);
            return self.elab.error(loc, message, "the widths must add up");
        }
        Some(vec![self.emit(Op::Pack(b.ty.m), vec![a.op.clone(), b.op.clone()], target)?])
    }
}

fn symbol(op: &Op) -> &'static str {
    match op {
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Mod => "%",
        other => panic!("`{other}` is not a binary operator of the source"),
    }
}
