//! Values of expressions, word by word; a word may have no value yet.

use std::collections::HashMap;
use std::rc::Rc;

use num_bigint::BigUint;
use report::Diagnostic;

use crate::circuit;
use crate::syntax::ast::{ArithOp, Attr, BitOp, Def, Expr, ExprKind, IntList, ShiftOp, Size, Type};
use crate::syntax::operators::static_op;

use super::{CallFrame, Interp, Meaning};

/// One word of `m` bits, or none yet.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    pub m: u32,
    pub v: Option<u64>,
}

/// The value of an expression before its context gives untyped constants a type.
#[derive(Debug, Clone)]
pub enum Value {
    Words(Vec<Word>),
    Number(BigUint),
    /// Parts, one of which is untyped.
    Tuple(Vec<Value>),
}

/// The words of a value, given the width of each word that is expected.
pub fn coerce(value: Value, shape: Option<&[u32]>) -> Option<Vec<Word>> {
    match value {
        Value::Words(words) => Some(words),
        Value::Number(number) => {
            let shape = shape?;
            let bits: u64 = shape.iter().map(|m| u64::from(*m)).sum();
            let mut left = bits;
            let words = shape.iter().map(|m| {
                left -= u64::from(*m);
                let v = (0..u64::from(*m))
                    .filter(|i| number.bit(left + i))
                    .fold(0, |v, i| v | 1u64 << i);
                Word { m: *m, v: Some(v) }
            });
            Some(words.collect())
        }
        Value::Tuple(parts) => {
            let n_open = parts.iter().filter(|p| !matches!(p, Value::Words(_))).count();
            let known: usize = parts
                .iter()
                .map(|p| if let Value::Words(words) = p { words.len() } else { 0 })
                .sum();
            let share = shape?.len().saturating_sub(known) / n_open.max(1);
            let mut all = Vec::new();
            for part in parts {
                let here = shape?.get(all.len()..)?;
                let here = if matches!(part, Value::Words(_)) { here } else { here.get(..share)? };
                all.extend(coerce(part, Some(here))?);
            }
            Some(all)
        }
    }
}

fn mask(m: u32) -> u64 {
    u64::MAX >> (64 - m)
}

impl<'a> Interp<'a> {
    pub(super) fn expr(
        &mut self,
        frame: &mut CallFrame<'a>,
        expr: &'a Expr,
        shape: Option<&[u32]>,
    ) -> Result<Value, Diagnostic> {
        let no_fit = |interp: &Self| interp.bug(expr.loc, "the operands do not fit");
        Ok(match &expr.kind {
            ExprKind::Int(number) => Value::Number(number.clone()),
            ExprKind::TypedInt(number, ty) => {
                let Type::Words { m, .. } = ty else {
                    return Err(self.bug(expr.loc, "a constant cannot be a nat"));
                };
                let shape = vec![frame.bits(m); ty.n_atoms() as usize];
                Value::Words(
                    coerce(Value::Number(number.clone()), Some(&shape))
                        .ok_or_else(|| no_fit(self))?,
                )
            }
            ExprKind::Access(access) => match frame.scope.get(&access.name.name) {
                Some(Meaning::Number(n)) => Value::Number(
                    BigUint::try_from(*n).map_err(|_| self.bug(expr.loc, "a negative constant"))?,
                ),
                _ => Value::Words(self.words_of(frame, access)?),
            },
            ExprKind::Tuple(parts) => {
                let parts = parts
                    .iter()
                    .map(|p| self.expr(frame, p, None))
                    .collect::<Result<Vec<_>, _>>()?;
                if parts.iter().all(|p| matches!(p, Value::Words(_))) {
                    Value::Words(
                        parts.into_iter().filter_map(|p| coerce(p, None)).flatten().collect(),
                    )
                } else {
                    Value::Tuple(parts)
                }
            }
            ExprKind::Not(inner) => {
                let value = self.expr(frame, inner, shape)?;
                let words = coerce(value, shape).ok_or_else(|| no_fit(self))?;
                Value::Words(
                    words
                        .into_iter()
                        .map(|w| Word { m: w.m, v: w.v.map(|v| !v & mask(w.m)) })
                        .collect(),
                )
            }
            ExprKind::Bit(op, a, b) => {
                let f = match op {
                    BitOp::And => |a, b, _| Some(a & b),
                    BitOp::Or => |a, b, _| Some(a | b),
                    BitOp::Xor => |a, b, _| Some(a ^ b),
                };
                self.pairwise(frame, a, b, shape, f)?
            }
            ExprKind::Arith(op, a, b) => self.arith(frame, *op, a, b, shape)?,
            ExprKind::Shift(op, inner, amount) => {
                let value = self.expr(frame, inner, shape)?;
                let words = coerce(value, shape).ok_or_else(|| no_fit(self))?;
                let n = self.number(frame, amount)?;
                let n = usize::try_from(n).map_err(|_| self.bug(amount.loc, "a negative shift"))?;
                Value::Words(match words.as_slice() {
                    [one] if one.m != 1 => vec![Word {
                        m: one.m,
                        v: one.v.map(|v| shift_word(*op, v, one.m, n as u32)),
                    }],
                    _ => shift_vector(*op, &words, n),
                })
            }
            ExprKind::Shuffle(access, pattern) => {
                let words = self.words_of(frame, access)?;
                let at = |i: usize| pattern[i].0 as usize;
                if words.iter().all(|w| w.m == 1) && words.len() == pattern.len() {
                    Value::Words((0..words.len()).map(|i| words[at(i)]).collect())
                } else {
                    let permute = |v: u64, m: u32| {
                        let (m, k) = (m as usize, m as usize / pattern.len());
                        (0..m).fold(0, |out, i| {
                            out << 1 | (v >> (m - 1 - (at(i / k) * k + i % k)) & 1)
                        })
                    };
                    Value::Words(
                        words
                            .into_iter()
                            .map(|w| Word { m: w.m, v: w.v.map(|v| permute(v, w.m)) })
                            .collect(),
                    )
                }
            }
            ExprKind::Bitmask(inner, bit) => {
                let value = self.expr(frame, inner, shape)?;
                let words = coerce(value, shape).ok_or_else(|| no_fit(self))?;
                let n = self.number(frame, bit)?;
                Value::Words(
                    words
                        .into_iter()
                        .map(|w| Word {
                            m: w.m,
                            v: w.v.map(|v| if v >> n & 1 == 1 { mask(w.m) } else { 0 }),
                        })
                        .collect(),
                )
            }
            ExprKind::Pack(high, low, _) => {
                let (a, b) = (self.expr(frame, high, None)?, self.expr(frame, low, None)?);
                let (Value::Words(a), Value::Words(b)) = (a, b) else { return Err(no_fit(self)) };
                let v = a[0].v.zip(b[0].v).map(|(high, low)| high << b[0].m | low);
                Value::Words(vec![Word { m: a[0].m + b[0].m, v }])
            }
            ExprKind::Call { name, index, args } => {
                self.call_expr(frame, name, index.as_ref(), args, shape)?
            }
        })
    }

    fn words_of(
        &mut self,
        frame: &CallFrame<'a>,
        access: &crate::syntax::ast::Access,
    ) -> Result<Vec<Word>, Diagnostic> {
        let elements = self.elements(frame, access)?;
        self.step(elements.len(), access.loc)?;
        let Some(Meaning::Variable(var)) = frame.scope.get(&access.name.name) else {
            panic!("elements() found a variable")
        };
        Ok(elements.iter().map(|e| Word { m: var.m, v: frame.cells[var.cells[*e]] }).collect())
    }

    fn pairwise(
        &mut self,
        frame: &mut CallFrame<'a>,
        a: &'a Expr,
        b: &'a Expr,
        shape: Option<&[u32]>,
        f: fn(u64, u64, u32) -> Option<u64>,
    ) -> Result<Value, Diagnostic> {
        let left = self.expr(frame, a, shape)?;
        let right = self.expr(frame, b, shape)?;
        let shape_of = |v: &Value| {
            if let Value::Words(words) = v {
                Some(words.iter().map(|w| w.m).collect::<Vec<_>>())
            } else {
                None
            }
        };
        let shape = shape_of(&left).or(shape_of(&right)).or(shape.map(<[u32]>::to_vec));
        let words = coerce(left, shape.as_deref()).zip(coerce(right, shape.as_deref()));
        let (left, right) = words
            .filter(|(l, r)| l.len() == r.len())
            .ok_or_else(|| self.bug(a.loc, "the operands do not fit"))?;
        let mut out = Vec::new();
        for (l, r) in left.into_iter().zip(right) {
            let v = match l.v.zip(r.v) {
                Some((x, y)) => Some(
                    f(x, y, l.m).ok_or_else(|| self.bug(b.loc, "division by zero"))? & mask(l.m),
                ),
                None => None,
            };
            out.push(Word { m: l.m, v });
        }
        Ok(Value::Words(out))
    }

    fn arith(
        &mut self,
        frame: &mut CallFrame<'a>,
        op: ArithOp,
        a: &'a Expr,
        b: &'a Expr,
        shape: Option<&[u32]>,
    ) -> Result<Value, Diagnostic> {
        if let (Some(x), Some(y)) = (self.plain_number(frame, a), self.plain_number(frame, b)) {
            let value = static_op(op, x, y).map_err(|why| self.bug(a.loc, why))?;
            return BigUint::try_from(value)
                .map(Value::Number)
                .map_err(|_| self.bug(a.loc, "a negative constant"));
        }
        let f = match op {
            ArithOp::Add => |a: u64, b: u64, _| Some(a.wrapping_add(b)),
            ArithOp::Sub => |a: u64, b: u64, _| Some(a.wrapping_sub(b)),
            ArithOp::Mul => |a: u64, b: u64, _| Some(a.wrapping_mul(b)),
            ArithOp::Div => |a: u64, b: u64, _| a.checked_div(b),
            ArithOp::Mod => |a: u64, b: u64, _| a.checked_rem(b),
        };
        self.pairwise(frame, a, b, shape, f)
    }

    /// The value of an expression over integers and static names alone.
    fn plain_number(&self, frame: &CallFrame<'a>, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Int(value) => i64::try_from(value).ok(),
            ExprKind::Access(access) if access.indices.is_empty() => {
                match frame.scope.get(&access.name.name) {
                    Some(Meaning::Number(n)) => Some(*n),
                    _ => None,
                }
            }
            ExprKind::Arith(op, a, b) => {
                static_op(*op, self.plain_number(frame, a)?, self.plain_number(frame, b)?).ok()
            }
            _ => None,
        }
    }

    fn call_expr(
        &mut self,
        frame: &mut CallFrame<'a>,
        name: &crate::syntax::ast::Ident,
        index: Option<&crate::syntax::ast::AExpr>,
        args: &'a [Expr],
        shape: Option<&[u32]>,
    ) -> Result<Value, Diagnostic> {
        let Some(idx) =
            self.program.defs[..frame.def].iter().position(|d| d.name.name == name.name)
        else {
            if &*name.name == "refresh" && args.len() == 1 {
                return self.expr(frame, &args[0], shape);
            }
            return Err(self.bug(name.loc, &format!("unknown node `{}`", name.name)));
        };
        let def = &self.program.defs[idx];
        let element = index.map_or(Ok(0), |i| self.number(frame, i))? as usize;
        let mut sizes: HashMap<Rc<str>, u32> = HashMap::new();
        let mut nats = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        let mut ready: std::collections::VecDeque<Word> = std::collections::VecDeque::new();
        let mut args = args.iter();
        for param in &def.params {
            let Type::Words { m, .. } = &param.ty else {
                let arg = args.next().ok_or_else(|| self.bug(name.loc, "too few arguments"))?;
                nats.push(
                    self.plain_number(frame, arg)
                        .ok_or_else(|| self.bug(arg.loc, "a static number is needed"))?,
                );
                continue;
            };
            let n = param.ty.n_atoms() as usize;
            while ready.len() < n {
                let arg = args.next().ok_or_else(|| self.bug(name.loc, "too few arguments"))?;
                let known = match m {
                    Size::Fixed(m) => Some(*m),
                    Size::Var(v) => sizes.get(v).copied(),
                };
                let shape = known.map(|m| vec![m; n - ready.len()]);
                let value = self.expr(frame, arg, shape.as_deref())?;
                ready.extend(
                    coerce(value, shape.as_deref())
                        .ok_or_else(|| self.bug(arg.loc, "the type of this constant is open"))?,
                );
            }
            if let (Size::Var(v), Some(first)) = (m, ready.front()) {
                sizes.entry(v.clone()).or_insert(first.m);
            }
            words.extend(ready.drain(..n));
        }
        for decl in &def.returns {
            if let Type::Words { m: Size::Var(v), .. } = &decl.ty
                && !sizes.contains_key(v)
            {
                let m = frame
                    .sizes
                    .get(v)
                    .copied()
                    .or(shape.and_then(|s| s.first().copied()))
                    .unwrap_or(1);
                sizes.insert(v.clone(), m);
            }
        }
        let results = self.call(idx, element, &nats, sizes, words)?;
        Ok(Value::Words(results))
    }
}

fn shift_word(op: ShiftOp, v: u64, m: u32, n: u32) -> u64 {
    let bit = |i: i64| if (0..i64::from(m)).contains(&i) { v >> i & 1 } else { 0 };
    let from = |i: u32| -> u64 {
        let (i, n, m) = (i64::from(i), i64::from(n), i64::from(m));
        match op {
            ShiftOp::Left => bit(i - n),
            ShiftOp::Right => bit(i + n),
            ShiftOp::RightArith => bit((i + n).min(m - 1)),
            ShiftOp::RotLeft => bit((i - n).rem_euclid(m)),
            ShiftOp::RotRight => bit((i + n).rem_euclid(m)),
        }
    };
    (0..m).fold(0, |out, i| out | from(i) << i)
}

/// Word i of the result is word i + n of the argument for `<<`; zeros come in at the end.
fn shift_vector(op: ShiftOp, words: &[Word], n: usize) -> Vec<Word> {
    let len = words.len();
    (0..len)
        .map(|i| {
            let from = match op {
                ShiftOp::Left => Some(i + n).filter(|j| *j < len),
                ShiftOp::Right => i.checked_sub(n),
                ShiftOp::RightArith => Some(i.saturating_sub(n)),
                ShiftOp::RotLeft => Some((i + n) % len),
                ShiftOp::RotRight => Some((i + len - n % len) % len),
            };
            from.map_or(Word { m: words[i].m, v: Some(0) }, |j| words[j])
        })
        .collect()
}

/// `word` cut into equal parts, which are put together in `order`; part 0 is the most significant.
pub fn parts_moved(word: Word, order: &[usize]) -> Word {
    let width = word.m / order.len() as u32;
    let part = |v: u64, at: usize| v >> (word.m - width * (at as u32 + 1)) & mask(width);
    Word {
        m: word.m,
        v: word.v.map(|v| order.iter().fold(0, |out, at| out << width | part(v, *at))),
    }
}

/// A lookup: for every bit position when there is a word for each index bit, else once.
pub fn lookup(
    def: &Def,
    list: &IntList,
    sizes: &HashMap<Rc<str>, u32>,
    args: &[Word],
) -> Vec<Word> {
    let entries: Vec<u64> =
        list.ints.iter().map(|i| u64::try_from(i).expect("entries were checked")).collect();
    let lsb_first = match (def.attrs.contains(&Attr::LsbFirst), def.attrs.contains(&Attr::MsbFirst))
    {
        (true, _) => true,
        (_, true) => false,
        _ => circuit::legacy_lsb_first(&entries).is_some(),
    };
    let mut shape = Vec::new();
    for decl in &def.returns {
        let Type::Words { m, .. } = &decl.ty else { panic!("outputs are words") };
        let m = match m {
            Size::Fixed(m) => *m,
            Size::Var(v) => sizes[v],
        };
        shape.extend(std::iter::repeat_n(m, decl.ty.n_atoms() as usize));
    }
    let values: Option<Vec<u64>> = args.iter().map(|w| w.v).collect();
    let Some(values) = values else {
        return shape.iter().map(|m| Word { m: *m, v: None }).collect();
    };
    let n = args.len();
    if entries.len() == 1usize.checked_shl(n as u32).unwrap_or(0) {
        let mut out = vec![0u64; shape.len()];
        for bit in 0..args[0].m {
            let place = |i: usize, n: usize| if lsb_first { i } else { n - 1 - i };
            let index = (0..n).fold(0, |index, i| index | (values[i] >> bit & 1) << place(i, n));
            for (i, word) in out.iter_mut().enumerate() {
                *word |= (entries[index as usize] >> place(i, shape.len()) & 1) << bit;
            }
        }
        return out.iter().zip(&shape).map(|(v, m)| Word { m: *m, v: Some(*v) }).collect();
    }
    let reverse = |v: u64, n: u32| if lsb_first { v.reverse_bits() >> (64 - n) } else { v };
    let index = args.iter().zip(&values).fold(0u64, |index, (w, v)| index << w.m | v);
    let n_in: u32 = args.iter().map(|w| w.m).sum();
    let n_out: u32 = shape.iter().sum();
    let entry = reverse(entries[reverse(index, n_in) as usize], n_out);
    let mut left = n_out;
    shape
        .iter()
        .map(|m| {
            left -= m;
            Word { m: *m, v: Some(entry >> left & mask(*m)) }
        })
        .collect()
}
