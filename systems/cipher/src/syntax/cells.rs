//! Array cells that later iterations of a loop overwrite become versions, as if written with `:=`.
//!
//! ```text
//! forall i in [0,27] { W[(i+1)%2] = next(W[i%2]) }    --->    W[(i+1)%2] := next(W[i%2])
//! ```
//!
//! So do variables that each iteration writes as a whole and then reads:
//!
//! ```text
//! forall i in [0,47] { t = sub(s[i]); s[i+1] = mix(t) }      --->    t := sub(s[i])
//! ```
//!
//! Needs:   an equation in a loop that writes one cell, reads the same array, and writes some cell
//! again in a later iteration. Bounds and
//!          indices are known from the text. Of a whole variable, the only equation that writes it,
//and no reads before it in its loop.
//! Keeps:   an equation that reads the cell it writes: that cell is defined twice, an error.
//! Costs:   one visit of each iteration.
//! Source:  programs for the original compiler are written like this.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::ast::{AExpr, AExprKind, Access, Assign, Eqn, Expr, ExprKind, Index};
use super::operators::static_op;

/// The most steps of iterations that are followed in one node.
const STEPS_MAX: u64 = 1 << 16;

/// Marks all equations of arrays that are rewritten in loops.
pub fn rewritten_cells(eqs: &mut [Eqn]) {
    let mut look =
        Look { numbers: HashMap::new(), n_steps: 0, cells: HashMap::new(), found: HashSet::new() };
    look.eqns(eqs, false);
    rewritten_whole(eqs, eqs, &mut look.found);
    if !look.found.is_empty() {
        mark(eqs, &look.found);
    }
}

/// Adds the variables that loops in `eqs` write as a whole; `all` are the equations of the node.
fn rewritten_whole(eqs: &[Eqn], all: &[Eqn], found: &mut HashSet<Rc<str>>) {
    for eqn in eqs {
        let Eqn::Forall(forall) = eqn else { continue };
        rewritten_whole(&forall.eqs, all, found);
        // A loop of one iteration overwrites nothing.
        if matches!((&forall.first.kind, &forall.last.kind), (AExprKind::Int(first), AExprKind::Int(last)) if first == last)
        {
            continue;
        }
        for (at, eqn) in forall.eqs.iter().enumerate() {
            let Eqn::Assign(assign) = eqn else { continue };
            let targets =
                assign.pat.iter().filter(|found| found.indices.is_empty() && !assign.imperative);
            for name in targets.map(|target| &target.name.name) {
                if !reads(&forall.eqs[..=at], name) && n_writes(all, name) == 1 {
                    found.insert(name.clone());
                }
            }
        }
    }
}

fn reads(eqs: &[Eqn], name: &str) -> bool {
    eqs.iter().any(|eqn| match eqn {
        Eqn::Assign(assign) => {
            let mut found = false;
            accesses(&assign.expr, &mut |it| found |= *it.name.name == *name);
            found
        }
        Eqn::Forall(forall) => reads(&forall.eqs, name),
    })
}

fn n_writes(eqs: &[Eqn], name: &str) -> usize {
    let of = |eqn: &Eqn| match eqn {
        Eqn::Assign(assign) => assign.pat.iter().filter(|found| *found.name.name == *name).count(),
        Eqn::Forall(forall) => n_writes(&forall.eqs, name),
    };
    eqs.iter().map(of).sum()
}

fn mark(eqs: &mut [Eqn], names: &HashSet<Rc<str>>) {
    for eqn in eqs {
        match eqn {
            Eqn::Assign(assign) => {
                assign.imperative |= assign.pat.iter().any(|it| names.contains(&it.name.name))
            }
            Eqn::Forall(forall) => mark(&mut forall.eqs, names),
        }
    }
}

/// The indices of a cell; fewer than dimensions if only some are given.
type Cell = Vec<i64>;

struct Look {
    /// The values of the enclosing loop indices.
    numbers: HashMap<Rc<str>, i64>,
    n_steps: u64,
    /// The cells that each equation, by its address, has written so far; `None` if
    /// it does not qualify.
    cells: HashMap<usize, Option<HashSet<Cell>>>,
    found: HashSet<Rc<str>>,
}

impl Look {
    fn eqns(&mut self, eqs: &[Eqn], in_loop: bool) {
        for eqn in eqs {
            match eqn {
                Eqn::Assign(assign) if in_loop && !assign.imperative => self.assign(assign),
                Eqn::Assign(_) => {}
                Eqn::Forall(forall) => {
                    let (Some(first), Some(last)) =
                        (self.number(&forall.first), self.number(&forall.last))
                    else {
                        continue;
                    };
                    let outer = self.numbers.get(&forall.index.name).copied();
                    let step = if last >= first { 1 } else { -1 };
                    for k in 0..=i64::try_from(first.abs_diff(last)).unwrap_or(i64::MAX - 1) {
                        self.n_steps += 1 + forall.eqs.len() as u64;
                        if self.n_steps > STEPS_MAX {
                            break;
                        }
                        self.numbers.insert(forall.index.name.clone(), first + k * step);
                        self.eqns(&forall.eqs, true);
                    }
                    match outer {
                        Some(outer) => self.numbers.insert(forall.index.name.clone(), outer),
                        None => self.numbers.remove(&forall.index.name),
                    };
                }
            }
        }
    }

    fn assign(&mut self, assign: &Assign) {
        let [target] = assign.pat.as_slice() else { return };
        let mut reads = Vec::new();
        accesses(&assign.expr, &mut |it| {
            if it.name.name == target.name.name {
                reads.push(it);
            }
        });
        if target.indices.is_empty() || reads.is_empty() {
            return;
        }
        let reads: Option<Vec<Cell>> = reads.into_iter().map(|read| self.cell(read)).collect();
        let place = std::ptr::from_ref(assign) as usize;
        let (Some(written), Some(reads)) = (self.cell(target), reads) else {
            self.cells.insert(place, None);
            return;
        };
        let reads_itself = reads.iter().any(|read| read.iter().zip(&written).all(|(a, b)| a == b));
        let so_far = self.cells.entry(place).or_insert_with(|| Some(HashSet::new()));
        if reads_itself {
            *so_far = None;
            self.found.remove(&target.name.name);
        }
        if let Some(cells) = so_far
            && !cells.insert(written)
        {
            self.found.insert(target.name.name.clone());
        }
    }

    fn cell(&self, access: &Access) -> Option<Cell> {
        let at = |index: &Index| match index {
            Index::At(at) => self.number(at),
            Index::Range(..) | Index::List(_) => None,
        };
        access.indices.iter().map(at).collect()
    }

    fn number(&self, expr: &AExpr) -> Option<i64> {
        match &expr.kind {
            AExprKind::Int(int) => Some(*int),
            AExprKind::Name(name) => self.numbers.get(name).copied(),
            AExprKind::Bin(op, a, b) => static_op(*op, self.number(a)?, self.number(b)?).ok(),
        }
    }
}

/// All accesses of an expression.
fn accesses<'a>(expr: &'a Expr, seen: &mut impl FnMut(&'a Access)) {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::TypedInt(..) => {}
        ExprKind::Access(access) | ExprKind::Shuffle(access, _) => seen(access),
        ExprKind::Tuple(all) | ExprKind::Call { args: all, .. } => {
            all.iter().for_each(|it| accesses(it, seen))
        }
        ExprKind::Bitmask(inner, _) | ExprKind::Not(inner) | ExprKind::Shift(_, inner, _) => {
            accesses(inner, seen)
        }
        ExprKind::Pack(a, b, _) | ExprKind::Bit(_, a, b) | ExprKind::Arith(_, a, b) => {
            accesses(a, seen);
            accesses(b, seen);
        }
    }
}
