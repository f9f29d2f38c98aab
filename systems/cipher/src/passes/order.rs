//! Puts equations into executable order; the order of the text is kept where it already is one.
//!
//! ```text
//! b = a & y            a = x ^ k
//! a = x ^ k    --->    b = a & y
//! ```
//!
//! Needs:   every word written once.
//! Keeps:   the set of equations; loops stay whole and count as one step.
//! Costs:   linear in the number of words touched, times the logarithm of the steps ready at once.
//! Source:  Kahn, "Topological sorting of large networks", CACM 1962.

use std::collections::BTreeSet;

use crate::depgraph::{DepGraph, DependenceBuilder};
use crate::ir::{Body, LoopId, Node, Operand, Ref, Stmt, Var, VarId};
use crate::syntax::Loc;

/// A step of a cycle.
#[derive(Debug, Clone)]
pub struct OrderStep {
    pub written: Vec<Ref>,
    pub loc: Loc,
}

/// Gives every word of a node's variables a number.
pub struct Cells {
    starts: Vec<usize>,
}

impl Cells {
    /// Numbers the words of `vars`.
    pub fn new(vars: &[Var]) -> Cells {
        let mut starts = Vec::with_capacity(vars.len() + 1);
        let mut n = 0;
        for var in vars {
            starts.push(n);
            n += var.len as usize;
        }
        starts.push(n);
        Cells { starts }
    }

    /// How many words there are.
    pub fn count(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The word that `place` means while the counters have these values.
    pub fn of(&self, place: &Ref, counters: &[i64]) -> usize {
        let at = place.index.eval(|id| counters[id.idx()]);
        let cell = self.starts[place.var.idx()] + at;
        assert!(cell < self.starts[place.var.idx() + 1], "an index stays inside its variable");
        cell
    }
}

/// Calls `read` and `write` for every word that a statement touches, in every
/// iteration of its loops.
pub fn touched(
    stmt: &Stmt,
    cells: &Cells,
    counters: &mut Vec<i64>,
    read: &mut impl FnMut(usize),
    write: &mut impl FnMut(usize),
) {
    let mut args = |args: &[Operand], counters: &[i64]| {
        for arg in args {
            if let Operand::Ref(place) = arg {
                read(cells.of(place, counters));
            }
        }
    };
    match stmt {
        Stmt::Eq(eq) => {
            args(&eq.args, counters);
            write(cells.of(&eq.dst, counters));
        }
        Stmt::Call(call) => {
            args(&call.args, counters);
            call.dsts.iter().for_each(|dst| write(cells.of(dst, counters)));
        }
        Stmt::Loop(it) => {
            for carried in &it.carried {
                if let Operand::Ref(place) = &carried.init {
                    read(cells.of(place, counters));
                }
                write(cells.of(&Ref::at(carried.var, 0), counters));
            }
            for k in 0..it.n {
                set(counters, it.id, k.into());
                it.body.iter().for_each(|stmt| touched(stmt, cells, counters, read, write));
            }
        }
        Stmt::Unrolled(it) => it
            .iterations
            .iter()
            .flatten()
            .for_each(|stmt| touched(stmt, cells, counters, read, write)),
    }
}

/// Sets a loop counter, making room for it.
pub fn set(counters: &mut Vec<i64>, id: LoopId, value: i64) {
    if counters.len() <= id.idx() {
        counters.resize(id.idx() + 1, 0);
    }
    counters[id.idx()] = value;
}

/// Finds a cycle among the equations of a node whose loops are written out.
pub fn check(node: &Node) -> Result<(), Vec<OrderStep>> {
    let Body::Stmts(stmts) = &node.body else { return Ok(()) };
    let mut flat = Vec::new();
    flatten(stmts, &mut flat);
    let cells = Cells::new(&node.vars);
    let graph = graph(&flat, &cells)?;
    match graph.find_cycle() {
        None => Ok(()),
        Some(cycle) => Err(cycle.into_iter().map(|idx| step(flat[idx as usize])).collect()),
    }
}

/// Sorts statements; `Err` is a cycle through them.
pub fn order(node: &Node, stmts: Vec<Stmt>) -> Result<Vec<Stmt>, Vec<OrderStep>> {
    let cells = Cells::new(&node.vars);
    let refs: Vec<&Stmt> = stmts.iter().collect();
    let graph = graph(&refs, &cells)?;
    let Some(order) = graph.topological_order_stable() else {
        let cycle = graph.find_cycle().expect("without a cycle there is an order");
        return Err(cycle.into_iter().map(|idx| step(refs[idx as usize])).collect());
    };
    drop(refs);
    Ok(apply(stmts, &order))
}

/// Reorders every level of the node, inner loops first; `ordered` gets its statements and the
/// variables that are read after them.
pub fn each_level(
    node: &mut Node,
    ordered: impl Fn(&Node, Vec<Stmt>, &BTreeSet<VarId>) -> Vec<Stmt>,
) {
    fn level(
        node: &Node,
        mut stmts: Vec<Stmt>,
        live_out: &BTreeSet<VarId>,
        ordered: &impl Fn(&Node, Vec<Stmt>, &BTreeSet<VarId>) -> Vec<Stmt>,
    ) -> Vec<Stmt> {
        for stmt in &mut stmts {
            if let Stmt::Loop(it) = stmt {
                let next = it.carried.iter().filter_map(|c| {
                    if let Operand::Ref(place) = &c.next { Some(place.var) } else { None }
                });
                let next: BTreeSet<VarId> = next.collect();
                it.body = level(node, std::mem::take(&mut it.body), &next, ordered);
            }
        }
        ordered(node, stmts, live_out)
    }
    let Some(stmts) = node.take_stmts() else { return };
    let stmts = level(node, stmts, &BTreeSet::new(), &ordered);
    node.body = Body::Stmts(stmts);
}

/// The statements in the given order.
pub fn apply(stmts: Vec<Stmt>, order: &[u32]) -> Vec<Stmt> {
    let mut slots: Vec<Option<Stmt>> = stmts.into_iter().map(Some).collect();
    order
        .iter()
        .map(|idx| slots[*idx as usize].take().expect("an order names every step once"))
        .collect()
}

fn flatten<'a>(stmts: &'a [Stmt], out: &mut Vec<&'a Stmt>) {
    for stmt in stmts {
        match stmt {
            Stmt::Unrolled(it) => it.iterations.iter().for_each(|body| flatten(body, out)),
            other => out.push(other),
        }
    }
}

/// The dependences; `Err` for a statement that needs itself.
fn graph(stmts: &[&Stmt], cells: &Cells) -> Result<DepGraph, Vec<OrderStep>> {
    let mut writer = vec![u32::MAX; cells.count()];
    let mut counters = Vec::new();
    for (idx, stmt) in stmts.iter().enumerate() {
        touched(stmt, cells, &mut counters, &mut |_| {}, &mut |cell| writer[cell] = idx as u32);
    }
    let mut builder = DependenceBuilder::new(stmts.len() as u32);
    let mut own = None;
    for (idx, stmt) in stmts.iter().enumerate() {
        let is_loop = matches!(stmt, Stmt::Loop(_) | Stmt::Unrolled(_));
        let mut last = u32::MAX;
        let mut read = |cell: usize| {
            let from = writer[cell];
            if from == idx as u32 {
                own = own.or((!is_loop).then_some(idx));
            } else if from != u32::MAX && from != last {
                builder.edge(from, idx as u32);
                last = from;
            }
        };
        touched(stmt, cells, &mut counters, &mut read, &mut |_| {});
    }
    match own {
        Some(idx) => Err(vec![step(stmts[idx])]),
        None => Ok(builder.build()),
    }
}

fn step(stmt: &Stmt) -> OrderStep {
    match stmt {
        Stmt::Eq(eq) => OrderStep { written: vec![eq.dst.clone()], loc: eq.loc },
        Stmt::Call(call) => OrderStep { written: call.dsts.clone(), loc: call.loc },
        Stmt::Loop(it) => OrderStep { written: vec![], loc: it.loc },
        Stmt::Unrolled(it) => OrderStep { written: vec![], loc: it.loc },
    }
}
