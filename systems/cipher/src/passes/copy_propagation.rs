//! Reads the original instead of a copy of it.
//!
//! ```text
//! t = copy a           t = copy a
//! b = xor t, c  --->   b = xor a, c       `dead_code` removes the copy
//! ```
//!
//! Needs:   executable order, every word written once.
//! Keeps:   the copies themselves, so results stay defined.
//! Costs:   linear.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Body, Node, Op, Operand, Ref, Stmt};

/// Replaces reads of copies.
pub fn copy_propagation(node: &mut Node) {
    let Some(mut stmts) = node.take_stmts() else { return };
    let mut sources = CopySources {
        single: vec![None; node.vars.len()],
        elements: HashMap::default(),
        single_len: node.vars.iter().map(|v| v.len == 1).collect(),
    };
    sources.stmts(&mut stmts);
    node.body = Body::Stmts(stmts);
}

struct CopySources {
    single: Vec<Option<Operand>>,
    elements: HashMap<Ref, Operand>,
    single_len: Vec<bool>,
}

impl CopySources {
    fn source(&self, place: &Ref) -> Option<&Operand> {
        if self.single_len[place.var.idx()] {
            self.single[place.var.idx()].as_ref()
        } else {
            self.elements.get(place)
        }
    }

    fn replace(&self, operand: &mut Operand) {
        if let Operand::Ref(place) = operand
            && let Some(source) = self.source(place)
        {
            *operand = source.clone();
        }
    }

    fn stmts(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    eq.args.iter_mut().for_each(|a| self.replace(a));
                    if eq.op == Op::Copy {
                        if self.single_len[eq.dst.var.idx()] {
                            self.single[eq.dst.var.idx()] = Some(eq.args[0].clone());
                        } else {
                            self.elements.insert(eq.dst.clone(), eq.args[0].clone());
                        }
                    }
                }
                Stmt::Call(call) => call.args.iter_mut().for_each(|a| self.replace(a)),
                Stmt::Loop(it) => {
                    it.carried.iter_mut().for_each(|c| self.replace(&mut c.init));
                    self.stmts(&mut it.body);
                    it.carried.iter_mut().for_each(|c| self.replace(&mut c.next));
                }
                Stmt::Unrolled(_) => panic!("`loops` comes before `copy_propagation`"),
            }
        }
    }
}
