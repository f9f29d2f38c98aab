//! Equations and loops: which words an equation defines, static numbers, versions of `:=`.

use crate::ir::{Operand, Ref, Stmt, Ty, Unrolled};
use crate::syntax::Loc;
use crate::syntax::ast::{AExpr, AExprKind, Access, Assign, Eqn, Forall, Index};
use crate::syntax::operators::static_op;
use crate::syntax::types::ATOMS_MAX;

use super::node::{Binding, Builder, index};
use super::types::{describe, join};

impl Builder<'_, '_> {
    pub fn assign(&mut self, assign: &Assign) -> Option<()> {
        self.loc = assign.loc;
        self.fresh.clear();
        let mut targets: Vec<(usize, usize, Loc)> = Vec::new();
        for access in &assign.pat {
            let Some((var, elements)) = self.elements(access) else {
                self.is_partial = true;
                return None;
            };
            targets.extend(elements.into_iter().map(|e| (var, e, access.loc)));
        }
        let tys: Vec<Ty> = targets.iter().map(|t| self.vars[t.0].ty).collect();
        let values = self.expr(&assign.expr, Some(&tys));
        if assign.imperative {
            for (var, element, _) in &targets {
                self.vars[*var].version[*element] += 1;
            }
        }
        let places: Vec<Ref> =
            targets.iter().map(|(var, element, _)| self.cell(*var, *element)).collect();
        for ((var, element, loc), place) in targets.iter().zip(&places) {
            self.define(place, *loc, *var, *element)?;
        }
        let values = values?;
        let value_tys: Vec<Ty> = values.iter().map(|v| v.ty).collect();
        if values.len() != places.len()
            || tys.iter().zip(&value_tys).any(|(a, b)| join(*a, *b).is_none())
        {
            let left = if assign.pat.len() == 1 {
                format!("`{}`", self.text(assign.pat[0].loc))
            } else {
                "the left side".into()
            };
            let message =
                format!("{left} is {}, but the value is {}", describe(&tys), describe(&value_tys));
            return self.elab.error(
                assign.expr.loc,
                message,
                format!("this is {}", describe(&value_tys)),
            );
        }
        let mut moved: std::collections::HashMap<crate::ir::VarId, Ref> =
            std::collections::HashMap::new();
        for (value, place) in values.into_iter().zip(places) {
            self.store(value.op, place, assign.loc, &mut moved)?;
        }
        Some(())
    }

    /// Writes a value to its place: a fresh result is computed there at once, anything else copied.
    fn store(
        &mut self,
        value: Operand,
        place: Ref,
        loc: Loc,
        moved: &mut std::collections::HashMap<crate::ir::VarId, Ref>,
    ) -> Option<()> {
        let mut value = value;
        if let Operand::Ref(temp) = &value {
            if let Some(at) = self.fresh.remove(&temp.var) {
                match &mut self.stmts[at] {
                    Stmt::Eq(eq) => eq.dst = place.clone(),
                    Stmt::Call(call) => call
                        .dsts
                        .iter_mut()
                        .filter(|d| d.var == temp.var)
                        .for_each(|d| *d = place.clone()),
                    Stmt::Loop(_) | Stmt::Unrolled(_) => {
                        panic!("an equation's value is not made by a loop")
                    }
                }
                moved.insert(temp.var, place);
                return Some(());
            }
            if let Some(new) = moved.get(&temp.var) {
                value = new.clone().into();
            }
        }
        self.elab.spend(1, 0, loc)?;
        self.stmts.push(Stmt::copy(place, value, loc));
        Some(())
    }

    fn text(&self, loc: Loc) -> String {
        let span = self.elab.ast.sources.span(loc);
        span.file.text[span.range].to_string()
    }

    pub fn forall(&mut self, forall: &Forall) -> Option<()> {
        let n_errors = self.elab.errors.len();
        let done = self.iterations(forall);
        self.is_partial |= done.is_none() || self.elab.errors.len() > n_errors;
        done
    }

    fn iterations(&mut self, forall: &Forall) -> Option<()> {
        let first = self.number(&forall.first)?;
        let last = self.number(&forall.last)?;
        let n = last.abs_diff(first).saturating_add(1);
        // A huge range is refused before it is written out.
        let least = n.saturating_mul(least_equations(&forall.eqs));
        if !self.elab.has_room(least) {
            return self.elab.spend(least, 0, forall.loc);
        }
        self.elab.spend(n, 0, forall.loc)?;
        let outer = self.scope.insert(forall.index.name.clone(), Binding::Nat(first));
        let before = std::mem::take(&mut self.stmts);
        let n_errors = self.elab.errors.len();
        let mut iterations = Vec::new();
        for k in 0..n as i64 {
            let value = if last >= first { first + k } else { first - k };
            self.scope.insert(forall.index.name.clone(), Binding::Nat(value));
            self.eqns(&forall.eqs);
            iterations.push(std::mem::take(&mut self.stmts));
            if self.elab.errors.len() > n_errors {
                break;
            }
        }
        self.stmts = before;
        match outer {
            Some(outer) => self.scope.insert(forall.index.name.clone(), outer),
            None => self.scope.remove(&forall.index.name),
        };
        self.stmts.push(Stmt::Unrolled(Unrolled {
            name: forall.index.name.clone(),
            iterations,
            unroll: forall.unroll,
            loc: forall.loc,
        }));
        Some(())
    }

    /// The value of a static number.
    pub fn number(&mut self, expr: &AExpr) -> Option<i64> {
        match &expr.kind {
            AExprKind::Int(int) => Some(*int),
            AExprKind::Name(name) => match self.scope.get(name) {
                Some(Binding::Nat(value)) => Some(*value),
                Some(Binding::Var(_)) => self.elab.error(
                    expr.loc,
                    format!("`{name}` is not known when the program is compiled"),
                    "a number, a loop index or a nat parameter is needed",
                ),
                None => self.unknown(expr.loc, name),
            },
            AExprKind::Bin(op, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                match static_op(*op, a, b) {
                    Ok(value) => Some(value),
                    Err(why) => self.elab.error(expr.loc, why, "in this expression"),
                }
            }
        }
    }

    pub fn unknown<T>(&mut self, loc: Loc, name: &str) -> Option<T> {
        if self.indices.contains(name) {
            let message = format!("`{name}` has no value outside of a loop over it");
            return self.elab.error(loc, message, "a local nat announces a loop index");
        }
        let mut known: Vec<&str> = self.scope.keys().map(|k| &**k).collect();
        known.sort_unstable();
        let help = report::did_you_mean(name, known);
        let help =
            help.unwrap_or_else(|| "declare it in the parameters, the outputs or `vars`".into());
        self.elab.error_help(
            loc,
            format!("unknown variable `{name}`"),
            "not declared in this node",
            help,
        )
    }

    /// The variable of an access and its elements in order.
    pub fn elements(&mut self, access: &Access) -> Option<(usize, Vec<usize>)> {
        let var = match self.scope.get(&access.name.name) {
            Some(Binding::Var(var)) => *var,
            Some(Binding::Nat(_)) => {
                let name = &access.name.name;
                return self.elab.error(
                    access.loc,
                    format!("`{name}` is a static number, not a variable"),
                    "cannot be used here",
                );
            }
            None => return self.unknown(access.name.loc, &access.name.name),
        };
        let dims = self.vars[var].dims.clone();
        if access.indices.len() > dims.len() {
            let name = &access.name.name;
            let message = match dims.len() {
                0 => format!("`{name}` is a single word and has no index"),
                n => format!("`{name}` has {n} dimensions, not {}", access.indices.len()),
            };
            return self.elab.error(access.loc, message, "too many indices");
        }
        let mut elements = vec![0usize];
        for (index, dim) in access.indices.iter().zip(&dims) {
            let picks = self.picks(index, *dim, access)?;
            self.access_size(elements.len(), picks.len(), access)?;
            elements = elements
                .iter()
                .flat_map(|e| picks.iter().map(move |p| e * *dim as usize + p))
                .collect();
        }
        let inner: usize = dims[access.indices.len()..].iter().map(|d| *d as usize).product();
        self.access_size(elements.len(), inner, access)?;
        Some((var, elements.iter().flat_map(|e| (0..inner).map(move |i| e * inner + i)).collect()))
    }

    fn access_size(&mut self, a: usize, b: usize, access: &Access) -> Option<()> {
        let n = a as u64 * b as u64;
        if n > ATOMS_MAX {
            return self.elab.error(
                access.loc,
                format!("this access means more than {ATOMS_MAX} words"),
                "too many",
            );
        }
        self.elab.spend(0, n / 64, access.loc)
    }

    fn picks(&mut self, index: &Index, dim: u32, access: &Access) -> Option<Vec<usize>> {
        let numbers: Vec<(i64, Loc)> = match index {
            Index::At(at) => vec![(self.number(at)?, at.loc)],
            Index::List(all) => {
                all.iter().map(|at| Some((self.number(at)?, at.loc))).collect::<Option<_>>()?
            }
            Index::Range(first, last) => {
                let (a, b) = (self.number(first)?, self.number(last)?);
                for (value, loc) in [(a, first.loc), (b, last.loc)] {
                    self.in_range(value, dim, loc, access)?;
                }
                let step = if b >= a { 1 } else { -1 };
                (0..=a.abs_diff(b) as i64).map(|k| (a + k * step, first.loc)).collect()
            }
        };
        numbers.into_iter().map(|(value, loc)| self.in_range(value, dim, loc, access)).collect()
    }

    fn in_range(&mut self, value: i64, dim: u32, loc: Loc, access: &Access) -> Option<usize> {
        if (0..i64::from(dim)).contains(&value) {
            return Some(value as usize);
        }
        let message = format!(
            "index {value} is out of range: this dimension of `{}` has {dim} elements, 0 to {}",
            access.name.name,
            dim - 1
        );
        self.elab.error(loc, message, "here")
    }

    /// The current words of an access, noted as read.
    pub fn read_access(&mut self, access: &Access) -> Option<Vec<super::types::Atom>> {
        let (var, elements) = self.elements(access)?;
        let ty = self.vars[var].ty;
        let mut atoms = Vec::with_capacity(elements.len());
        for element in elements {
            let place = self.cell(var, element);
            self.read.entry((place.var, index(&place))).or_insert(access.loc);
            atoms.push(super::types::Atom { op: place.into(), ty });
        }
        Some(atoms)
    }
}

/// A lower bound of the equations that these become once loops with plain bounds are written out.
fn least_equations(eqns: &[Eqn]) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Assign(_) => 1,
        Eqn::Forall(Forall { first, last, eqs, .. }) => match (&first.kind, &last.kind) {
            (AExprKind::Int(a), AExprKind::Int(b)) => {
                a.abs_diff(*b).saturating_add(1).saturating_mul(least_equations(eqs))
            }
            _ => 1,
        },
    };
    eqns.iter().map(one).fold(0, u64::saturating_add)
}
