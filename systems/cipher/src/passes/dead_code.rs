//! Drops equations that no result needs.
//!
//! ```text
//! t = and a, b
//! y = copy a      --->    y = copy a      t is no result
//! ```
//!
//! Needs:   executable order.
//! Keeps:   results; arrays that a loop reads count as needed whole.
//! Costs:   linear, backwards; again when an array turns out to be needed.

use crate::ir::{Body, Node, Operand, Ref, Stmt};

/// Drops what is not needed.
pub fn dead_code(node: &mut Node) {
    let Some(mut stmts) = node.take_stmts() else { return };
    let mut needed = vec![false; node.vars.len()];
    for var in &node.results {
        needed[var.idx()] = true;
    }
    // An array that turns out to be needed keeps its writes, also those below the read. A single
    // word is always written above its reads.
    let is_array: Vec<bool> = node.vars.iter().map(|v| v.len > 1).collect();
    let arrays = |needed: &[bool]| {
        needed.iter().zip(&is_array).filter(|(needed, is_array)| **needed && **is_array).count()
    };
    loop {
        let n_arrays = arrays(&needed);
        mark(&stmts, &mut needed);
        if arrays(&needed) == n_arrays {
            break;
        }
    }
    sweep(&mut stmts, &needed);
    node.body = Body::Stmts(stmts);
}

fn count(needed: &[bool]) -> usize {
    needed.iter().filter(|n| **n).count()
}

fn need(operand: &Operand, needed: &mut [bool]) -> bool {
    let Operand::Ref(place) = operand else { return false };
    !std::mem::replace(&mut needed[place.var.idx()], true)
}

fn mark(stmts: &[Stmt], needed: &mut [bool]) {
    let is_needed = |place: &Ref, needed: &[bool]| needed[place.var.idx()];
    for stmt in stmts.iter().rev() {
        match stmt {
            Stmt::Eq(eq) if is_needed(&eq.dst, needed) => eq.args.iter().for_each(|a| {
                need(a, needed);
            }),
            Stmt::Call(call) if call.dsts.iter().any(|d| is_needed(d, needed)) => {
                call.args.iter().for_each(|a| {
                    need(a, needed);
                })
            }
            Stmt::Eq(_) | Stmt::Call(_) => {}
            Stmt::Loop(it) => loop {
                // What an iteration needs of the one before is found by walking the body again.
                mark(&it.body, needed);
                let mut changed = false;
                for carried in
                    it.carried.iter().filter(|c| needed[c.var.idx()]).cloned().collect::<Vec<_>>()
                {
                    changed |= need(&carried.next, needed);
                    need(&carried.init, needed);
                }
                let before = count(needed);
                mark(&it.body, needed);
                changed |= count(needed) != before;
                if !changed {
                    break;
                }
            },
            Stmt::Unrolled(_) => panic!("`loops` comes before `dead_code`"),
        }
    }
}

fn sweep(stmts: &mut Vec<Stmt>, needed: &[bool]) {
    stmts.retain_mut(|stmt| match stmt {
        Stmt::Eq(eq) => needed[eq.dst.var.idx()],
        Stmt::Call(call) => call.dsts.iter().any(|d| needed[d.var.idx()]),
        Stmt::Loop(it) => {
            it.carried.retain(|c| needed[c.var.idx()]);
            sweep(&mut it.body, needed);
            !it.body.is_empty() || !it.carried.is_empty()
        }
        Stmt::Unrolled(_) => panic!("`loops` comes before `dead_code`"),
    });
}
