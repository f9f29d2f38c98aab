//! Splits arrays into single words where every index is a constant, and drops unused variables.
//!
//! ```text
//! s[1] = xor s[0], k[1]    --->    s1 = xor s0, k[1]      k is a parameter and stays
//! ```
//!
//! Needs:   nothing.
//! Keeps:   parameters and results; arrays that a loop indexes.
//! Costs:   linear.

use std::rc::Rc;

use crate::ir::visit::{places, places_mut};
use crate::ir::{Body, Index, Node, Operand, Ref, Var, VarId};

/// Splits what can be split.
pub fn arrays(node: &mut Node) {
    let Some(mut stmts) = node.take_stmts() else { return };
    let n = node.vars.len();
    let mut used = vec![false; n];
    let mut whole = vec![false; n];
    for var in node.params.iter().chain(&node.results) {
        whole[var.idx()] = true;
        used[var.idx()] = true;
    }
    {
        let mut mark = |place: &Ref| {
            used[place.var.idx()] = true;
            whole[place.var.idx()] |= place.index.constant().is_none();
        };
        let mark = std::cell::RefCell::new(&mut mark);
        let mut read = |operand: &Operand| {
            if let Operand::Ref(place) = operand {
                (mark.borrow_mut())(place);
            }
        };
        places(&stmts, &mut read, &mut |place| (mark.borrow_mut())(place));
        // Carried variables are defined by their loops, not by a statement.
        if node.n_loops > 0 {
            carried(&stmts, &mut |var| (mark.borrow_mut())(&Ref::at(var, 0)));
        }
    }
    // The first new variable of each old one.
    let mut first: Vec<u32> = vec![u32::MAX; n];
    let mut vars: Vec<Var> = Vec::new();
    for (idx, var) in node.vars.iter().enumerate() {
        if !used[idx] {
            continue;
        }
        first[idx] = vars.len() as u32;
        if whole[idx] || var.len == 1 {
            vars.push(var.clone());
        } else {
            let words = (0..var.len).map(|i| Var {
                name: Rc::from(format!("{}_{i}", var.name)),
                len: 1,
                ty: var.ty,
            });
            vars.extend(words);
        }
    }
    places_mut(&mut stmts, &mut |place, _| {
        let old = place.var.idx();
        let split = !whole[old] && node.vars[old].len > 1;
        let offset = if split {
            place.index.constant().expect("split arrays have constant indices") as u32
        } else {
            0
        };
        place.var = VarId(first[old] + offset);
        if split {
            place.index = Index::at(0);
        }
    });
    for var in node.params.iter_mut().chain(&mut node.results) {
        *var = VarId(first[var.idx()]);
    }
    node.vars = vars;
    node.body = Body::Stmts(stmts);
}

fn carried(stmts: &[crate::ir::Stmt], visit: &mut impl FnMut(VarId)) {
    for stmt in stmts {
        if let crate::ir::Stmt::Loop(it) = stmt {
            it.carried.iter().for_each(|c| visit(c.var));
            carried(&it.body, visit);
        }
    }
}
