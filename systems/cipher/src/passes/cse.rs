//! Computes equal expressions once.
//!
//! ```text
//! a = xor x, y         a = xor x, y
//! b = xor y, x  --->   b = copy a
//! ```
//!
//! What is computed in a loop is not reused after it.
//!
//! Needs:   executable order, every word written once.
//! Keeps:   the set of written words.
//! Costs:   linear; values live longer.

use rustc_hash::FxHashMap as HashMap;
use smallvec::smallvec;

use crate::ir::{Body, Node, Op, Operand, Ref, Stmt};

/// Replaces repeated expressions by copies; returns how many.
pub fn cse(node: &mut Node) -> usize {
    let Some(mut stmts) = node.take_stmts() else { return 0 };
    let mut known = Known {
        ops: HashMap::default(),
        operands: HashMap::default(),
        latest: vec![(NONE, 0); node.vars.len()],
        others: HashMap::default(),
        expressions: Vec::with_capacity(stmts.len()),
    };
    let n = known.eliminate(node, &mut stmts);
    node.body = Body::Stmts(stmts);
    n
}

/// An expression in few bytes, since a program has hundreds of thousands: the number of the
/// operation and word size, the numbers of the arguments.
type Key = (u32, [u64; 3]);

struct Expression {
    key: Key,
    /// Where it is computed first.
    first: Ref,
    /// The previous expression in the same list.
    before: u32,
}

const NONE: u32 = u32::MAX;
/// A longer list of expressions over one variable goes into the hash table.
const LIST_MAX: u32 = 16;

struct Known {
    ops: HashMap<(Op, u32), u32>,
    /// Operands that are more than a word at a constant index.
    operands: HashMap<Operand, u64>,
    /// For each variable that is the highest-numbered argument of expressions: the last of them,
    /// and how many. Expressions lie near their arguments in memory, which a hash table of all of
    /// them would not do.
    latest: Vec<(u32, u32)>,
    /// Expressions without such an argument, and those of long lists.
    others: HashMap<Key, u32>,
    expressions: Vec<Expression>,
}

impl Known {
    fn eliminate(&mut self, node: &Node, stmts: &mut [Stmt]) -> usize {
        let mut n = 0;
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) if eq.op == Op::Copy => {}
                Stmt::Eq(eq) => {
                    let key = self.key(&eq.op, &eq.args, node.ty(&eq.dst).m);
                    if let Some(first) = self.find_or_add(key, &eq.dst) {
                        eq.op = Op::Copy;
                        eq.args = smallvec![first.into()];
                        n += 1;
                    }
                }
                Stmt::Call(_) => {}
                Stmt::Loop(it) => {
                    let n_before = self.expressions.len();
                    n += self.eliminate(node, &mut it.body);
                    self.forget(n_before);
                }
                Stmt::Unrolled(_) => panic!("`loops` comes before `cse`"),
            }
        }
        n
    }

    /// The first place of an expression that is known; else it is known from here on.
    fn find_or_add(&mut self, key: Key, place: &Ref) -> Option<Ref> {
        let var = list_of(&key);
        let (mut at, n) = var.map_or((NONE, LIST_MAX), |var| self.latest[var]);
        while at != NONE {
            let expression = &self.expressions[at as usize];
            if expression.key == key {
                return Some(expression.first.clone());
            }
            at = expression.before;
        }
        if n >= LIST_MAX
            && let Some(at) = self.others.get(&key)
        {
            return Some(self.expressions[*at as usize].first.clone());
        }
        let new = self.expressions.len() as u32;
        let mut before = NONE;
        match var {
            Some(var) if n < LIST_MAX => {
                before = self.latest[var].0;
                self.latest[var] = (new, n + 1);
            }
            _ => {
                self.others.insert(key, new);
            }
        }
        self.expressions.push(Expression { key, first: place.clone(), before });
        None
    }

    /// Forgets all but the first `n_kept` expressions.
    fn forget(&mut self, n_kept: usize) {
        while self.expressions.len() > n_kept {
            let at = self.expressions.len() as u32 - 1;
            let expression = self.expressions.pop().expect("it is not empty");
            match list_of(&expression.key) {
                Some(var) if self.latest[var].0 == at => {
                    self.latest[var] = (expression.before, self.latest[var].1 - 1)
                }
                _ => {
                    self.others.remove(&expression.key);
                }
            }
        }
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
        *self.operands.entry(operand.clone()).or_insert(OTHER | n_operands)
    }
}

/// Marks the number of an operand that is more than a word at a constant index.
const OTHER: u64 = 1 << 63;

/// The variable in whose list an expression is kept: the highest of its arguments.
fn list_of(key: &Key) -> Option<usize> {
    let words = key.1.iter().filter(|number| **number & OTHER == 0);
    words.max().map(|number| (number >> 32) as usize)
}
