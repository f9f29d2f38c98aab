//! Computes the arguments of each call just before it, and what uses its results just after it.
//!
//! ```text
//! s0 = xor s0, k0; ... s63 = xor s63, k63        s0 = xor s0, k0; ... s3 = xor s3, k3
//! t0.. = sbox(s0, s1, s2, s3)                    t0.. = sbox(s0, s1, s2, s3)
//! t4.. = sbox(s4, s5, s6, s7)             --->   s4 = xor s4, k4; ... s7 = xor s7, k7
//! ...                                            t4.. = sbox(s4, s5, s6, s7)
//! ```
//!
//! For each call in the order of the text, the definitions of its arguments that are not placed
//! yet go next, with all that they need, then the call. An equation that feeds no call goes just
//! after what it needs if it is the only reader of its operands, else to the end. Statements
//! without any call are ordered by what each result needs, and stay as they are if that does not
//! lower the estimate of their spills (for general registers: to a quarter).
//!
//! Needs:   executable order; the first inlining, which leaves S-boxes as calls.
//! Keeps:   the set of statements and all dependences; loops stay where they are needed.
//! Costs:   linear in statements and dependences.
//! Source:  "Bitslice code scheduling", Mercadier 2020; equations that feed no call, loops and
//!          nodes without calls are not treated there.

use std::collections::BTreeSet;

use machine::Kind;

use crate::ir::{Node, Operand, Stmt, VarId};
use crate::target::Target;

use super::estimate::spills;
use super::list::{Deps, deps, reads};
use super::order::{apply, each_level};

/// Reorders every level of the node.
pub fn schedule_bitslice(node: &mut Node, target: &Target) {
    each_level(node, |node, stmts, live_out| level(node, stmts, live_out, target));
}

fn level(node: &Node, stmts: Vec<Stmt>, live_out: &BTreeSet<VarId>, target: &Target) -> Vec<Stmt> {
    let deps = deps(node, &stmts);
    if stmts.iter().any(|s| !matches!(s, Stmt::Eq(_))) {
        let order = around_calls(node, &stmts, &deps, live_out);
        return apply(stmts, &order);
    }
    let sinks: Vec<u32> =
        (0..stmts.len() as u32).filter(|at| deps.users[*at as usize].is_empty()).collect();
    let mut placed = vec![false; stmts.len()];
    let mut order = Vec::with_capacity(stmts.len());
    sinks.iter().for_each(|sink| place_with_needs(*sink, &deps, &mut placed, &mut order));
    let ordered = apply(stmts.clone(), &order);
    let (after, before) = (
        spills(node, &ordered, live_out, target.n_registers),
        spills(node, &stmts, live_out, target.n_registers),
    );
    // With general registers C compilers order such blocks well themselves, so only a large gain
    // counts.
    let better = if target.kind == Kind::General {
        after * 4 <= before && after < before
    } else {
        after < before
    };
    if better { ordered } else { stmts }
}

/// Puts `step` and all that it needs, not placed yet, in the order of its operands.
fn place_with_needs(step: u32, deps: &Deps, placed: &mut [bool], order: &mut Vec<u32>) {
    // Steps that wait for their operands, with the next one to look at.
    let mut open = vec![(step, 0usize)];
    while let Some((at, next)) = open.pop() {
        if placed[at as usize] {
            continue;
        }
        match deps.needs[at as usize][next..].iter().position(|n| !placed[*n as usize]) {
            Some(skip) => {
                let need = deps.needs[at as usize][next + skip];
                open.push((at, next + skip + 1));
                open.push((need, 0));
            }
            None => {
                placed[at as usize] = true;
                order.push(at);
            }
        }
    }
}

fn around_calls(node: &Node, stmts: &[Stmt], deps: &Deps, live_out: &BTreeSet<VarId>) -> Vec<u32> {
    let n = stmts.len();
    let mut placed = vec![false; n];
    let mut feeding = Vec::new();
    for (at, stmt) in stmts.iter().enumerate() {
        if !matches!(stmt, Stmt::Eq(_)) {
            place_with_needs(at as u32, deps, &mut placed, &mut feeding);
        }
    }
    // Steps are sorted by time: calls and what feeds them in the order in which they were placed,
    // ...
    let mut time = vec![u32::MAX; n];
    feeding.iter().enumerate().for_each(|(i, at)| time[*at as usize] = i as u32);
    // ... an equation that feeds no call after the last step that it needs, if it alone reads its
    // operands and so frees more than it takes, else at the end.
    let readers = reads(node, stmts, live_out);
    for at in 0..n {
        if let (false, Stmt::Eq(eq)) = (placed[at], &stmts[at]) {
            let is_value =
                |var: VarId| node.vars[var.idx()].len == 1 && !node.params.contains(&var);
            let alone = eq.args.iter().all(|arg| match arg {
                Operand::Ref(place) => !is_value(place.var) || readers[place.var.idx()] == 1,
                Operand::Const(_) => true,
            });
            if alone {
                time[at] =
                    deps.needs[at].iter().map(|need| time[*need as usize]).max().unwrap_or(0);
            }
        }
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|at| (time[*at as usize], u32::from(!placed[*at as usize]), *at));
    order
}
