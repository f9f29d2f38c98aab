//! Interleaves several independent batches of blocks, statement by statement.
//!
//! ```text
//! node f(a) -> (b)                 node f_x2(a, a') -> (b, b')
//!   loop i < 9, carried c from a     loop i < 9, carried c from a, c' from a'
//!     t = rotl 3 c                     t = rotl 3 c
//!                          --->        t' = rotl 3 c'
//!     d = xor t, k                     d = xor t, k
//!                                      d' = xor t', k
//! ```
//!
//! While a step of one batch waits for its operands, the processor starts a step of another. That
//! helps where the text is short of independent steps and registers are left; where values are
//! spilled already, it spills more.
//!
//! Needs:   the final order of the equations; tables and permutations replaced.
//! Keeps:   the nodes as they are, for the rest of a message; the copy of the first entry takes its
//! place. Costs:   n times the equations, the loops as they were.
//! Source:  "Usuba, Optimizing Bitslicing Compiler", Mercadier 2020.

use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Body, Call, Carried, Eq, Loop, Node, NodeId, Operand, Program, Ref, Stmt, VarId};

/// The most batches at once.
pub const MOST: u32 = 4;

/// Replaces an entry, by its place among the entries, by one that works on `n` batches: its
/// parameters and results are those of the first batch, then those of the second, and so on. The
/// node that works on one batch stays until it is forgotten; its place is returned.
pub fn interleave(program: &mut Program, entry: usize, n: u32) -> NodeId {
    assert!((1..=MOST).contains(&n), "as many batches as the options allow");
    let one = program.entries[entry];
    if n > 1 {
        let mut copies = HashMap::default();
        copy(program, one, n, &mut copies);
        program.entries[entry] = copies[&one];
    }
    one
}

/// Loops inside loops of the first entry and of what it calls.
pub fn n_inner_loops(program: &Program) -> usize {
    fn loops(stmts: &[Stmt], is_inside: bool) -> usize {
        let one = |stmt: &Stmt| {
            if let Stmt::Loop(it) = stmt {
                usize::from(is_inside) + loops(&it.body, true)
            } else {
                0
            }
        };
        stmts.iter().map(one).sum()
    }
    of_entry(program, |stmts| loops(stmts, false))
}

/// Equations of the first entry and of what it calls.
pub fn n_equations(program: &Program) -> usize {
    of_entry(program, crate::ir::visit::n_equations)
}

fn of_entry(program: &Program, count: impl Fn(&[Stmt]) -> usize) -> usize {
    let is_used = needed(program, &program.entries[..1]);
    let own = |node: &Node| if let Body::Stmts(stmts) = &node.body { count(stmts) } else { 0 };
    program.nodes.iter().zip(is_used).filter(|pair| pair.1).map(|(node, _)| own(node)).sum()
}

/// Copies a node and first what it calls.
fn copy(program: &mut Program, id: NodeId, n: u32, copies: &mut HashMap<NodeId, NodeId>) {
    if copies.contains_key(&id) {
        return;
    }
    let node = program.nodes[id.idx()].clone();
    let Body::Stmts(stmts) = &node.body else {
        panic!("tables and permutations are gone when nodes are interleaved")
    };
    let mut callees = Vec::new();
    crate::ir::visit::calls(stmts, &mut |call| callees.push(call.node));
    callees.into_iter().for_each(|callee| copy(program, callee, n, copies));
    let batches = Interleaver { n, n_vars: node.vars.len() as u32, copies };
    let of_each = |vars: &[VarId]| {
        (0..n)
            .flat_map(|k| vars.iter().map(move |var| (k, *var)))
            .map(|(k, v)| batches.var(k, v))
            .collect()
    };
    let copied = Node {
        name: Rc::from(format!("{}_x{n}", node.name)),
        vars: (0..n).flat_map(|_| node.vars.iter().cloned()).collect(),
        params: of_each(&node.params),
        results: of_each(&node.results),
        body: Body::Stmts(batches.stmts(stmts)),
        ..node
    };
    program.nodes.push(copied);
    copies.insert(id, NodeId(program.nodes.len() as u32 - 1));
}

/// How the batches of one node are numbered.
struct Interleaver<'a> {
    n: u32,
    n_vars: u32,
    copies: &'a HashMap<NodeId, NodeId>,
}

impl Interleaver<'_> {
    fn var(&self, k: u32, var: VarId) -> VarId {
        VarId(k * self.n_vars + var.0)
    }

    fn place(&self, k: u32, place: &Ref) -> Ref {
        Ref { var: self.var(k, place.var), index: place.index.clone() }
    }

    fn operand(&self, k: u32, operand: &Operand) -> Operand {
        match operand {
            Operand::Ref(place) => Operand::Ref(self.place(k, place)),
            Operand::Const(value) => Operand::Const(*value),
        }
    }

    fn stmts(&self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len() * self.n as usize);
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => out.extend((0..self.n).map(|k| {
                    let args = eq.args.iter().map(|arg| self.operand(k, arg)).collect();
                    Stmt::Eq(Eq {
                        dst: self.place(k, &eq.dst),
                        op: eq.op.clone(),
                        args,
                        loc: eq.loc,
                    })
                })),
                Stmt::Call(call) => out.push(Stmt::Call(Call {
                    node: self.copies[&call.node],
                    dsts: (0..self.n)
                        .flat_map(|k| call.dsts.iter().map(move |dst| self.place(k, dst)))
                        .collect(),
                    args: (0..self.n)
                        .flat_map(|k| call.args.iter().map(move |arg| self.operand(k, arg)))
                        .collect(),
                    arg_bits: (0..self.n).flat_map(|_| call.arg_bits.iter().copied()).collect(),
                    loc: call.loc,
                })),
                Stmt::Loop(it) => {
                    let carried = it.carried.iter().flat_map(|c| {
                        (0..self.n).map(|k| Carried {
                            var: self.var(k, c.var),
                            init: self.operand(k, &c.init),
                            next: self.operand(k, &c.next),
                        })
                    });
                    out.push(Stmt::Loop(Loop {
                        carried: carried.collect(),
                        body: self.stmts(&it.body),
                        name: it.name.clone(),
                        ..*it
                    }));
                }
                Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
            }
        }
        out
    }
}

/// Which nodes these need.
fn needed(program: &Program, entries: &[NodeId]) -> Vec<bool> {
    let mut is_used = vec![false; program.nodes.len()];
    entries.iter().for_each(|entry| is_used[entry.idx()] = true);
    for (idx, node) in program.nodes.iter().enumerate().rev() {
        if let (true, Body::Stmts(stmts)) = (is_used[idx], &node.body) {
            crate::ir::visit::calls(stmts, &mut |call| is_used[call.node.idx()] = true);
        }
    }
    is_used
}

/// Drops the nodes that no entry needs.
pub fn forget_unused(program: &mut Program) {
    let is_used = needed(program, &program.entries);
    let mut new = Vec::with_capacity(is_used.len());
    let mut n = 0;
    for used in &is_used {
        new.push(NodeId(n));
        n += u32::from(*used);
    }
    let mut used = is_used.iter();
    program.nodes.retain(|_| *used.next().expect("one for each node"));
    program.entries.iter_mut().for_each(|entry| *entry = new[entry.idx()]);
    for node in &mut program.nodes {
        if let Body::Stmts(stmts) = &mut node.body {
            renumber(stmts, &new);
        }
    }
}

fn renumber(stmts: &mut [Stmt], new: &[NodeId]) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(_) => {}
            Stmt::Call(call) => call.node = new[call.node.idx()],
            Stmt::Loop(it) => renumber(&mut it.body, new),
            Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
        }
    }
}
