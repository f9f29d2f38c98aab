//! The invariants of the core form, checked after every pass in debug builds.
//!
//! 1. Calls go to earlier nodes and match them: one operand for each word of the parameters, one
//!    place for each word of the results, equal types.
//! 2. Operations have their number of arguments, of the type of their result.
//! 3. Indices stay inside their variables.
//! 4. Every word is written at most once (once an iteration for what lives in one iteration),
//!    before it is read, and never a parameter; every word of every result is written.

use super::{Body, Node, NodeId, Op, Operand, Program, Ref, Stmt};
use crate::passes::order::{Cells, set};

/// Panics with the broken invariant; `pass` is the pass that broke it.
pub fn verify(program: &Program, pass: &str) {
    for (idx, node) in program.nodes.iter().enumerate() {
        if let Err(what) = check_node(program, NodeId(idx as u32), node) {
            panic!("after {pass}, node `{}` breaks an invariant: {what}", node.name);
        }
    }
}

fn check_node(program: &Program, id: NodeId, node: &Node) -> Result<(), String> {
    let Body::Stmts(stmts) = &node.body else { return Ok(()) };
    let cells = Cells::new(&node.vars);
    let mut walk = VerifyWalk {
        program,
        id,
        node,
        written: vec![u32::MAX; cells.count()],
        cells,
        counters: Vec::new(),
        iteration: vec![0],
        n_iterations: 0,
    };
    for var in &node.params {
        for i in 0..node.vars[var.idx()].len as usize {
            let cell = walk.cells.of(&Ref::at(*var, i), &[]);
            walk.written[cell] = 0;
        }
    }
    walk.stmts(stmts)?;
    for place in node.words(&node.results) {
        if walk.written[walk.cells.of(&place, &[])] == u32::MAX {
            return Err(format!("word {:?} of a result is not written", place));
        }
    }
    Ok(())
}

struct VerifyWalk<'a> {
    program: &'a Program,
    id: NodeId,
    node: &'a Node,
    /// The iteration (of all iterations played) that wrote a word.
    written: Vec<u32>,
    cells: Cells,
    counters: Vec<i64>,
    /// Iterations that are open, outermost first; 0 is outside all loops.
    iteration: Vec<u32>,
    n_iterations: u32,
}

impl VerifyWalk<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) -> Result<(), String> {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    if eq.args.len() != eq.op.n_args() {
                        return Err(format!("`{}` has {} arguments", eq.op, eq.args.len()));
                    }
                    let ty = self.node.ty(&eq.dst);
                    for arg in &eq.args {
                        if let Operand::Ref(place) = arg
                            && !matches!(eq.op, Op::Pack(_))
                            && self.node.ty(place).m != ty.m
                        {
                            return Err(format!(
                                "`{}` of {} gives {}",
                                eq.op,
                                self.node.ty(place),
                                ty
                            ));
                        }
                        self.read(arg)?;
                    }
                    self.write(&eq.dst)?;
                }
                Stmt::Call(call) => {
                    if call.node >= self.id {
                        return Err(format!("it calls node {}, which is not earlier", call.node.0));
                    }
                    let callee = &self.program.nodes[call.node.idx()];
                    let (params, results) =
                        (callee.words(&callee.params), callee.words(&callee.results));
                    if params.len() != call.args.len() || results.len() != call.dsts.len() {
                        return Err(format!(
                            "its call of `{}` has {} arguments and {} results",
                            callee.name,
                            call.args.len(),
                            call.dsts.len()
                        ));
                    }
                    for (param, arg) in params.iter().zip(&call.args) {
                        self.read(arg)?;
                        if let Operand::Ref(place) = arg
                            && callee.ty(param).m != self.node.ty(place).m
                        {
                            return Err(format!(
                                "it passes {} for {} to `{}`",
                                self.node.ty(place),
                                callee.ty(param),
                                callee.name
                            ));
                        }
                    }
                    for (result, dst) in results.iter().zip(&call.dsts) {
                        if callee.ty(result).m != self.node.ty(dst).m {
                            return Err(format!(
                                "`{}` gives {} for {}",
                                callee.name,
                                callee.ty(result),
                                self.node.ty(dst)
                            ));
                        }
                        self.write(dst)?;
                    }
                }
                Stmt::Loop(it) => {
                    for carried in &it.carried {
                        self.read(&carried.init)?;
                        self.write(&Ref::at(carried.var, 0))?;
                    }
                    for k in 0..it.n {
                        set(&mut self.counters, it.id, k.into());
                        self.n_iterations += 1;
                        self.iteration.push(self.n_iterations);
                        self.stmts(&it.body)?;
                        it.carried.iter().try_for_each(|c| self.read(&c.next))?;
                        self.iteration.pop();
                    }
                }
                Stmt::Unrolled(_) => return Err("a loop is neither kept nor written out".into()),
            }
        }
        Ok(())
    }

    fn cell(&self, place: &Ref) -> Result<usize, String> {
        let at = place.index.terms.iter().fold(place.index.base(), |sum, (id, k)| {
            sum + k * self.counters.get(id.idx()).copied().unwrap_or(0)
        });
        let var = &self.node.vars[place.var.idx()];
        if !(0..i64::from(var.len)).contains(&at) {
            return Err(format!("index {at} of `{}` with {} words", var.name, var.len));
        }
        Ok(self.cells.of(place, &self.counters))
    }

    fn read(&self, operand: &Operand) -> Result<(), String> {
        let Operand::Ref(place) = operand else { return Ok(()) };
        let cell = self.cell(place)?;
        if self.written[cell] == u32::MAX {
            return Err(format!(
                "`{}`.{}[{}] is read before it is written",
                self.node.vars[place.var.idx()].name,
                place.var.0,
                place.index
            ));
        }
        Ok(())
    }

    fn write(&mut self, place: &Ref) -> Result<(), String> {
        let cell = self.cell(place)?;
        let now = self.iteration[self.iteration.len() - 1];
        let before = self.written[cell];
        // A second write is right only for what lives in one iteration: the iteration that wrote
        // it before is over, and the index does not name every loop around.
        let lives_in_iteration = place.index.terms.len() + 1 < self.iteration.len();
        if before != u32::MAX && (!lives_in_iteration || self.iteration.contains(&before)) {
            return Err(format!(
                "`{}`.{}[{}] is written twice",
                self.node.vars[place.var.idx()].name,
                place.var.0,
                place.index
            ));
        }
        self.written[cell] = now;
        Ok(())
    }
}
