//! What the schedulers share: the dependences of straight-line code, and how often each value is
//! read.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Index, Node, Operand, Ref, Stmt, VarId};

/// The dependences among the statements of one level; loops are one step.
pub struct Deps {
    /// Earlier steps that each step needs, each once.
    pub needs: Vec<Vec<u32>>,
    /// Later steps that need each step.
    pub users: Vec<Vec<u32>>,
}

/// The dependences of statements that stand in executable order.
///
/// Words of an array may be the same word under two indices; where that cannot be excluded,
/// their order is kept.
pub fn deps(node: &Node, stmts: &[Stmt]) -> Deps {
    let mut needs: Vec<Vec<u32>> = vec![Vec::new(); stmts.len()];
    let mut single: Vec<u32> = vec![u32::MAX; node.vars.len()];
    let mut arrays: HashMap<VarId, Vec<(Index, u32)>> = HashMap::default();
    for (at, stmt) in stmts.iter().enumerate() {
        let at = at as u32;
        let own = &mut needs[at as usize];
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        accesses(stmt, &mut reads, &mut writes);
        for place in reads {
            if node.vars[place.var.idx()].len == 1 {
                let from = single[place.var.idx()];
                if from != u32::MAX && from != at {
                    own.push(from);
                }
            } else if let Some(written) = arrays.get(&place.var) {
                own.extend(
                    written
                        .iter()
                        .filter(|(index, from)| *from != at && may_meet(index, &place.index))
                        .map(|w| w.1),
                );
            }
        }
        own.sort_unstable();
        own.dedup();
        if let Stmt::Loop(it) = stmt {
            it.carried.iter().for_each(|c| single[c.var.idx()] = at);
        }
        for place in writes {
            if node.vars[place.var.idx()].len == 1 {
                single[place.var.idx()] = at;
            } else {
                arrays.entry(place.var).or_default().push((place.index.clone(), at));
            }
        }
    }
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); stmts.len()];
    for (at, own) in needs.iter().enumerate() {
        own.iter().for_each(|from| users[*from as usize].push(at as u32));
    }
    Deps { needs, users }
}

/// Two indices into one array can mean the same word.
fn may_meet(a: &Index, b: &Index) -> bool {
    a.terms != b.terms || a.base() == b.base()
}

fn accesses<'a>(stmt: &'a Stmt, reads: &mut Vec<&'a Ref>, writes: &mut Vec<&'a Ref>) {
    let one = std::slice::from_ref(stmt);
    let reads = std::cell::RefCell::new(reads);
    let mut read = |operand: &'a Operand| {
        if let Operand::Ref(place) = operand {
            reads.borrow_mut().push(place);
        }
    };
    crate::ir::visit::places(one, &mut read, &mut |place| writes.push(place));
}

/// How often each variable of one word is read by these statements; what is read elsewhere (by
/// the caller, or by the next iteration) counts once more.
pub fn reads(node: &Node, stmts: &[Stmt], live_out: &BTreeSet<VarId>) -> Vec<u32> {
    let counts = std::cell::RefCell::new(vec![0u32; node.vars.len()]);
    let mut read = |operand: &Operand| {
        if let Operand::Ref(place) = operand {
            counts.borrow_mut()[place.var.idx()] += 1;
        }
    };
    crate::ir::visit::places(stmts, &mut read, &mut |_| {});
    let mut counts = counts.into_inner();
    for var in live_out {
        counts[var.idx()] += 1;
    }
    counts
}
