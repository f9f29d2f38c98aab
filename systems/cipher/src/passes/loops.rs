//! Keeps loops as loops where that is possible and wanted, and writes the others out, in executable
//! order.
//!
//! ```text
//! iteration 0: s[4] = xor s[0], k[0]
//! iteration 1: s[8] = xor s[4], k[1]     --->    loop i < 3: s[4*i+4] = xor s[4*i], k[i]
//! iteration 2: s[12] = xor s[8], k[2]
//! ```
//!
//! A loop can be kept when its iterations do the same operations, every index grows by the same
//! step from one iteration to the next, and no iteration reads what a later one writes. All three
//! are checked on the loop written out, so nothing is guessed.
//!
//! Needs:   every word written once; no cycle.
//! Keeps:   the equations.
//! Costs:   linear in the size of the loops written out.

use std::collections::HashMap;
use std::rc::Rc;

use crate::depgraph::DependenceBuilder;
use crate::ir::{Index, Loop, LoopId, Node, Operand, Ref, Stmt, Unrolled, VarId};
use crate::syntax::Loc;

use super::order::{self, Cells, set, touched};

/// Why a loop that should have been kept was written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    OneIteration,
    /// The iterations do not have the same equations.
    Shape,
    /// A shift amount, the element of an array of nodes or another operation differs.
    Operation,
    Constant,
    /// An index does not grow in equal steps.
    Index,
    /// An iteration reads what a later one writes.
    Backwards,
    /// Equations of the loop and around it need each other in turn.
    Interleaved,
}

impl Reason {
    /// For remarks: "loop over `i` was unrolled: ..".
    pub fn text(&self) -> &'static str {
        match self {
            Reason::OneIteration => "it runs once",
            Reason::Shape => "its iterations do not have the same equations",
            Reason::Operation => "an operation, such as a shift amount, differs between iterations",
            Reason::Constant => "a constant differs between iterations",
            Reason::Index => "an index does not grow in equal steps",
            Reason::Backwards => "an iteration reads what a later one writes",
            Reason::Interleaved => "its equations and those around it need each other in turn",
        }
    }
}

/// A loop that was written out although it should have been kept.
#[derive(Debug, Clone)]
pub struct Note {
    pub loc: Loc,
    pub name: Rc<str>,
    pub reason: Reason,
    /// `_no_unroll` stands before the loop.
    pub asked: bool,
}

/// Keeps the loops for which `keep` is true, as far as possible, and writes out the rest.
pub fn loops(node: &mut Node, keep: &dyn Fn(&Unrolled) -> bool) -> Vec<Note> {
    let mut notes = Vec::new();
    let Some(stmts) = node.take_stmts() else { return notes };
    let has_loops = stmts.iter().any(|s| matches!(s, Stmt::Unrolled(_)));
    let original = has_loops.then(|| stmts.clone());
    let rolled = Roller { node, keep, notes: &mut notes }.level(stmts, &mut Vec::new());
    let sorted = match order::order(node, rolled) {
        Ok(sorted) => sorted,
        Err(_) => {
            let original = original.expect("straight-line equations were checked for cycles");
            for stmt in &original {
                if let Stmt::Unrolled(it) = stmt
                    && keep(it)
                {
                    notes.push(Note {
                        loc: it.loc,
                        name: it.name.clone(),
                        reason: Reason::Interleaved,
                        asked: it.unroll == Some(false),
                    });
                }
            }
            let mut flat = Vec::new();
            flatten(original, &mut flat);
            order::order(node, flat).expect("equations were checked for cycles")
        }
    };
    node.body = crate::ir::Body::Stmts(sorted);
    notes
}

fn flatten(stmts: Vec<Stmt>, out: &mut Vec<Stmt>) {
    for stmt in stmts {
        match stmt {
            Stmt::Unrolled(it) => it.iterations.into_iter().for_each(|body| flatten(body, out)),
            other => out.push(other),
        }
    }
}

struct Roller<'a> {
    node: &'a mut Node,
    keep: &'a dyn Fn(&Unrolled) -> bool,
    notes: &'a mut Vec<Note>,
}

impl Roller<'_> {
    /// Handles the loops of one level; `around` holds the loops that enclose it.
    fn level(&mut self, stmts: Vec<Stmt>, around: &mut Vec<(LoopId, u32)>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            let Stmt::Unrolled(it) = stmt else {
                out.push(stmt);
                continue;
            };
            if (self.keep)(&it) {
                match self.roll(&it, around) {
                    Ok(kept) => {
                        out.push(Stmt::Loop(kept));
                        continue;
                    }
                    Err(reason) => self.notes.push(Note {
                        loc: it.loc,
                        name: it.name.clone(),
                        reason,
                        asked: it.unroll == Some(false),
                    }),
                }
            }
            for body in it.iterations {
                out.extend(self.level(body, around));
            }
        }
        out
    }

    fn roll(&mut self, it: &Unrolled, around: &mut Vec<(LoopId, u32)>) -> Result<Loop, Reason> {
        if it.iterations.len() < 2 {
            return Err(Reason::OneIteration);
        }
        let id = self.node.new_loop();
        let n = it.iterations.len() as u32;
        let bodies: Vec<&[Stmt]> = it.iterations.iter().map(Vec::as_slice).collect();
        let mut template = Template { id, renamed: vec![Renaming::default(); bodies.len()] };
        let body = template.stmts(&bodies)?;
        around.push((id, n));
        let body = self.level(body, around);
        around.pop();
        let body = self.sort(body, id, n, around)?;
        Ok(Loop { id, name: it.name.clone(), n, carried: Vec::new(), body, loc: it.loc })
    }

    /// An order of the body that is right in every iteration, for all counters of the loops around.
    fn sort(
        &self,
        body: Vec<Stmt>,
        id: LoopId,
        n: u32,
        around: &[(LoopId, u32)],
    ) -> Result<Vec<Stmt>, Reason> {
        let cells = Cells::new(&self.node.vars);
        let mut builder = DependenceBuilder::new(body.len() as u32);
        let mut counters = Vec::new();
        let mut failure = None;
        for_all(around, &mut counters, &mut |counters| {
            if failure.is_none() {
                failure = self.edges(&body, id, n, &cells, counters, &mut builder).err();
            }
        });
        if let Some(reason) = failure {
            return Err(reason);
        }
        let order = builder.build().topological_order_stable().ok_or(Reason::Interleaved)?;
        Ok(order::apply(body, &order))
    }

    fn edges(
        &self,
        body: &[Stmt],
        id: LoopId,
        n: u32,
        cells: &Cells,
        counters: &mut Vec<i64>,
        builder: &mut DependenceBuilder,
    ) -> Result<(), Reason> {
        // Where each word is written: position and iteration; a temporary has one word for all
        // iterations, and `ANY` as its iteration.
        const ANY: u32 = u32::MAX;
        let mut writer: HashMap<usize, (u32, u32)> = HashMap::new();
        for k in 0..n {
            set(counters, id, k.into());
            for (position, stmt) in body.iter().enumerate() {
                touched(stmt, cells, counters, &mut |_| {}, &mut |cell| {
                    let k = if writer.contains_key(&cell) { ANY } else { k };
                    writer.insert(cell, (position as u32, k));
                });
            }
        }
        let mut failure = None;
        for k in 0..n {
            set(counters, id, k.into());
            for (position, stmt) in body.iter().enumerate() {
                let position = position as u32;
                let is_loop = matches!(stmt, Stmt::Loop(_));
                let mut read = |cell: usize| match writer.get(&cell) {
                    Some((from, at)) if *at == k || *at == ANY => {
                        if *from != position {
                            builder.edge(*from, position);
                        } else if !is_loop {
                            failure = Some(Reason::Backwards);
                        }
                    }
                    Some((_, at)) if *at > k => failure = Some(Reason::Backwards),
                    _ => {}
                };
                touched(stmt, cells, counters, &mut read, &mut |_| {});
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

/// Calls `visit` for all values of the counters of the given loops.
fn for_all(loops: &[(LoopId, u32)], counters: &mut Vec<i64>, visit: &mut dyn FnMut(&mut Vec<i64>)) {
    let Some(((id, n), inner)) = loops.split_first() else { return visit(counters) };
    for k in 0..*n {
        set(counters, *id, k.into());
        for_all(inner, counters, visit);
    }
}

/// Temporaries of an iteration and those of the first iteration that they stand for.
#[derive(Default, Clone)]
struct Renaming {
    to_first: HashMap<VarId, VarId>,
    from_first: HashMap<VarId, VarId>,
}

/// Finds the body of which the iterations are instances.
struct Template {
    id: LoopId,
    renamed: Vec<Renaming>,
}

impl Template {
    fn stmts(&mut self, bodies: &[&[Stmt]]) -> Result<Vec<Stmt>, Reason> {
        if bodies.iter().any(|b| b.len() != bodies[0].len()) {
            return Err(Reason::Shape);
        }
        (0..bodies[0].len())
            .map(|p| self.stmt(&bodies.iter().map(|b| &b[p]).collect::<Vec<_>>()))
            .collect()
    }

    fn stmt(&mut self, all: &[&Stmt]) -> Result<Stmt, Reason> {
        match all[0] {
            Stmt::Eq(first) => {
                let eqs = all
                    .iter()
                    .map(|s| if let Stmt::Eq(eq) = s { Ok(eq) } else { Err(Reason::Shape) })
                    .collect::<Result<Vec<_>, _>>()?;
                if eqs.iter().any(|eq| eq.op != first.op) {
                    return Err(Reason::Operation);
                }
                let args = (0..first.args.len())
                    .map(|i| self.operand(&eqs.iter().map(|eq| &eq.args[i]).collect::<Vec<_>>()))
                    .collect::<Result<_, _>>()?;
                let dst = self.place(&eqs.iter().map(|eq| &eq.dst).collect::<Vec<_>>())?;
                Ok(Stmt::Eq(crate::ir::Eq { dst, args, ..first.clone() }))
            }
            Stmt::Call(first) => {
                let calls = all
                    .iter()
                    .map(|s| if let Stmt::Call(call) = s { Ok(call) } else { Err(Reason::Shape) })
                    .collect::<Result<Vec<_>, _>>()?;
                if calls.iter().any(|call| call.node != first.node) {
                    return Err(Reason::Operation);
                }
                let args = (0..first.args.len())
                    .map(|i| self.operand(&calls.iter().map(|c| &c.args[i]).collect::<Vec<_>>()))
                    .collect::<Result<_, _>>()?;
                let dsts = (0..first.dsts.len())
                    .map(|i| self.place(&calls.iter().map(|c| &c.dsts[i]).collect::<Vec<_>>()))
                    .collect::<Result<_, _>>()?;
                Ok(Stmt::Call(crate::ir::Call { args, dsts, ..first.clone() }))
            }
            Stmt::Unrolled(first) => {
                let inner = all
                    .iter()
                    .map(|s| if let Stmt::Unrolled(it) = s { Ok(it) } else { Err(Reason::Shape) })
                    .collect::<Result<Vec<_>, _>>()?;
                if inner.iter().any(|it| it.iterations.len() != first.iterations.len()) {
                    return Err(Reason::Shape);
                }
                let iterations = (0..first.iterations.len())
                    .map(|j| {
                        self.stmts(
                            &inner
                                .iter()
                                .map(|found| found.iterations[j].as_slice())
                                .collect::<Vec<_>>(),
                        )
                    })
                    .collect::<Result<_, _>>()?;
                Ok(Stmt::Unrolled(Unrolled { iterations, ..first.clone() }))
            }
            Stmt::Loop(_) => panic!("outer loops are rolled before inner ones"),
        }
    }

    fn operand(&mut self, all: &[&Operand]) -> Result<Operand, Reason> {
        match all[0] {
            Operand::Const(first) => {
                let equal = all.iter().all(|o| matches!(o, Operand::Const(c) if c == first));
                if equal { Ok(all[0].clone()) } else { Err(Reason::Constant) }
            }
            Operand::Ref(_) => {
                let places = all
                    .iter()
                    .map(|o| if let Operand::Ref(r) = o { Ok(r) } else { Err(Reason::Constant) })
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(Operand::Ref(self.place(&places)?))
            }
        }
    }

    fn place(&mut self, all: &[&Ref]) -> Result<Ref, Reason> {
        let first = all[0];
        if all.iter().any(|r| r.index.terms != first.index.terms) {
            return Err(Reason::Index);
        }
        if all.iter().all(|r| r.var == first.var) {
            let step = all[1].index.base() - first.index.base();
            if all
                .iter()
                .enumerate()
                .any(|(k, r)| r.index.base() != first.index.base() + k as i64 * step)
            {
                return Err(Reason::Index);
            }
            let mut terms = first.index.terms.clone();
            if step != 0 {
                terms.push((self.id, step));
                terms.sort_unstable();
            }
            return Ok(Ref { var: first.var, index: Index::new(first.index.base(), terms) });
        }
        for (k, place) in all.iter().enumerate() {
            let renaming = &mut self.renamed[k];
            let to = *renaming.to_first.entry(place.var).or_insert(first.var);
            let from = *renaming.from_first.entry(first.var).or_insert(place.var);
            if to != first.var || from != place.var || place.index.base() != first.index.base() {
                return Err(Reason::Shape);
            }
        }
        Ok(first.clone())
    }
}
