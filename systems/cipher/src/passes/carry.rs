//! Keeps what one iteration passes to the next in variables instead of an array of all iterations.
//!
//! ```text
//! s[0] = copy a                        s0 = copy a
//! loop i < 9:                          loop i < 9, carried c from s0 to t:
//!   s[i+1] = xor s[i], k[i]    --->      t = xor c, k[i]
//! y = copy s[9]                        y = copy c
//! ```
//!
//! Needs:   kept loops; `arrays` afterwards splits what is left of the array.
//! Keeps:   arrays that are parameters or results, of which more than the last iteration is read
//!          after the loop, or that are indexed in any other way.
//! Costs:   linear; saves the memory of the array and the traffic to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Body, Carried, Index, LoopId, Node, Operand, Ref, Stmt, VarId};

/// Rewrites every array that allows it, in every outermost loop.
pub fn carry(node: &mut Node) {
    let Some(mut stmts) = node.take_stmts() else { return };
    let interface: BTreeSet<VarId> = node.params.iter().chain(&node.results).copied().collect();
    for at in 0..stmts.len() {
        let Stmt::Loop(it) = &stmts[at] else { continue };
        let (id, n) = (it.id, i64::from(it.n));
        let mut uses = Uses::default();
        uses.stmts(&it.body);
        it.carried.iter().for_each(|c| uses.read(&c.next));
        let inside = uses.by_var;
        let mut outside = Uses::default();
        outside.stmts(&stmts[..at]);
        it.carried.iter().for_each(|c| outside.read(&c.init));
        let before = std::mem::take(&mut outside.by_var);
        outside.stmts(&stmts[at + 1..]);
        let after = outside.by_var;
        for (var, inside) in inside {
            if interface.contains(&var) {
                continue;
            }
            let around =
                |uses: &BTreeMap<VarId, Vec<Use>>| uses.get(&var).cloned().unwrap_or_default();
            let Some(plan) = plan(id, n, &inside, &around(&before), &around(&after)) else {
                continue;
            };
            apply(node, &mut stmts, at, var, id, n, &plan);
        }
    }
    node.body = Body::Stmts(stmts);
}

#[derive(Debug, Clone)]
struct Use {
    index: Index,
    is_write: bool,
}

#[derive(Default)]
struct Uses {
    by_var: BTreeMap<VarId, Vec<Use>>,
}

impl Uses {
    fn read(&mut self, operand: &Operand) {
        if let Operand::Ref(place) = operand {
            self.by_var
                .entry(place.var)
                .or_default()
                .push(Use { index: place.index.clone(), is_write: false });
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        let by_var = std::cell::RefCell::new(&mut self.by_var);
        let note = |place: &Ref, is_write: bool| {
            by_var
                .borrow_mut()
                .entry(place.var)
                .or_default()
                .push(Use { index: place.index.clone(), is_write })
        };
        let mut read = |operand: &Operand| {
            if let Operand::Ref(place) = operand {
                note(place, false);
            }
        };
        crate::ir::visit::places(stmts, &mut read, &mut |place| note(place, true));
    }
}

/// How an array becomes variables: its stride, and for each written offset whether the
/// next iteration reads it.
struct CarryPlan {
    stride: i64,
    /// Written offset, and whether iteration i reads what iteration i - 1 wrote there.
    written: BTreeMap<i64, bool>,
}

fn plan(id: LoopId, n: i64, inside: &[Use], before: &[Use], after: &[Use]) -> Option<CarryPlan> {
    // In the loop every index is `stride * counter + offset`, and no two offsets of one iteration
    // can meet in another iteration unless they are a stride apart.
    let stride = match inside.first()?.index.terms.as_slice() {
        [(at, k)] if *at == id => *k,
        _ => return None,
    };
    if inside
        .iter()
        .any(|u| !matches!(u.index.terms.as_slice(), [(at, k)] if *at == id && *k == stride))
    {
        return None;
    }
    let offsets: BTreeSet<i64> =
        inside.iter().filter(|u| u.is_write).map(|u| u.index.base()).collect();
    if offsets.is_empty()
        || offsets.iter().any(|o| (1..n).any(|k| offsets.contains(&(o + k * stride))))
    {
        return None;
    }
    let mut written: BTreeMap<i64, bool> = offsets.iter().map(|o| (*o, false)).collect();
    for read in inside.iter().filter(|u| !u.is_write) {
        if written.contains_key(&read.index.base()) {
            continue; // written in this iteration
        }
        *written.get_mut(&(read.index.base() + stride))? = true;
    }
    // Before the loop only the first values may be written, and after it only the last ones read.
    let first = |o: i64| o - stride;
    let last = |o: i64| o + stride * (n - 1);
    let is_first =
        |u: &Use| u.index.terms.is_empty() && written.keys().any(|o| first(*o) == u.index.base());
    let is_last = |u: &Use| {
        u.index.terms.is_empty()
            && !u.is_write
            && written.keys().any(|o| last(*o) == u.index.base())
    };
    let fits = before.iter().all(is_first)
        && after.iter().all(|u| is_last(u) || (!u.is_write && is_first(u) && !is_last(u)));
    fits.then_some(CarryPlan { stride, written })
}

fn apply(
    node: &mut Node,
    stmts: &mut [Stmt],
    at: usize,
    var: VarId,
    id: LoopId,
    n: i64,
    plan: &CarryPlan,
) {
    let ty = node.vars[var.idx()].ty;
    let name = node.vars[var.idx()].name.clone();
    let mut now = BTreeMap::new();
    let mut last = BTreeMap::new();
    let mut carried = Vec::new();
    for (offset, is_read) in &plan.written {
        let temp = node.var(name.clone(), 1, ty);
        let kept = node.var(name.clone(), 1, ty);
        now.insert(*offset, temp);
        last.insert(*offset, kept);
        let init = if *is_read {
            Ref::at(var, (offset - plan.stride) as usize).into()
        } else {
            Operand::Const(0)
        };
        carried.push(Carried { var: kept, init, next: Ref::at(temp, 0).into() });
    }
    let Stmt::Loop(it) = &mut stmts[at] else { panic!("the plan was made for this loop") };
    let replace = |place: &mut Ref| {
        if place.var == var && place.index.terms.first().is_some_and(|t| t.0 == id) {
            let new = now
                .get(&place.index.base())
                .copied()
                .unwrap_or_else(|| last[&(place.index.base() + plan.stride)]);
            *place = Ref::at(new, 0);
        }
    };
    crate::ir::visit::places_mut(&mut it.body, &mut |place, _| replace(place));
    for earlier in &mut it.carried {
        if let Operand::Ref(place) = &mut earlier.next {
            replace(place);
        }
    }
    it.carried.extend(carried);
    crate::ir::visit::places_mut(&mut stmts[at + 1..], &mut |place, _| {
        if place.var == var
            && let Some(offset) =
                plan.written.keys().find(|o| **o + plan.stride * (n - 1) == place.index.base())
        {
            *place = Ref::at(last[offset], 0);
        }
    });
}
