//! Puts the body of a node in place of its calls.
//!
//! ```text
//! node f(x) -> (y): t = not x; y = and t, x
//! b = f(a)    --->    t' = not a; b = and t', a
//! ```
//!
//! The heuristic keeps nodes that look like S-boxes, so that a scheduler can move their calls: a
//! node is inlined when it has more than 31 inputs and outputs in bits, more than 65 % plain
//! copies, or fewer than 10 instructions; the last does not count for a node made from a table,
//! since real S-boxes have as few as 8.
//!
//! Needs:   executable order; callees before callers.
//! Keeps:   the entries.
//! Costs:   code size; refused above a limit.
//! Source:  "Bitslice code scheduling", Mercadier 2020.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::visit::{calls, n_equations, places, places_mut};
use crate::ir::{Body, Call, Loop, LoopId, Node, NodeId, Op, Operand, Program, Ref, Stmt, VarId};

/// Which nodes are inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inline {
    Auto,
    All,
    /// None but those marked `_inline`.
    None,
}

/// The three bounds of the heuristic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Inputs and outputs in bits, above which a node is inlined.
    pub io_bits: u32,
    /// Share of plain copies in percent, above which a node is inlined.
    pub copies_pct: u32,
    /// Equations, below which a node is inlined.
    pub equations: u32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds { io_bits: 31, copies_pct: 65, equations: 10 }
    }
}

/// Equations that a program may have after inlining.
pub const EQUATIONS_MAX: usize = 3_000_000;

/// The program would have more than [`EQUATIONS_MAX`] equations.
#[derive(Debug)]
pub struct TooLarge;

/// Inlines every call in the nodes that stay within `equations_max` equations: the scheduler has
/// placed the calls that the heuristic left, and inlined their words are passed in registers. True
/// if a call was inlined.
pub fn inline_small(program: &mut Program, equations_max: usize) -> bool {
    let mut changed = false;
    for idx in 0..program.nodes.len() {
        let (before, rest) = program.nodes.split_at_mut(idx);
        let node = &mut rest[0];
        let Some(stmts) = node.take_stmts() else { continue };
        let marked: Vec<bool> = before
            .iter()
            .map(|callee| callee.inline != Some(false) && matches!(callee.body, Body::Stmts(_)))
            .collect();
        let mut has_calls = false;
        calls(&stmts, &mut |call| has_calls |= marked[call.node.idx()]);
        let is_small = has_calls && size_after(&stmts, before, &marked) <= equations_max;
        changed |= is_small;
        let stmts = if is_small { inline_stmts(node, stmts, before, &marked) } else { stmts };
        node.body = Body::Stmts(stmts);
    }
    if changed {
        drop_uncalled(program);
    }
    changed
}

/// Counts the equations after inlining, but for copies of arrays, without writing them: 2^28 calls
/// are counted at once.
pub fn count(program: &Program, which: Inline, bounds: Thresholds) -> Result<usize, TooLarge> {
    // Of each node: equations, copies among them, and whether it is inlined.
    let mut nodes: Vec<(usize, usize, bool)> = Vec::new();
    let mut total = 0usize;
    for node in &program.nodes {
        let (mut n, mut copies) = sizes(node);
        if let Body::Stmts(stmts) = &node.body {
            calls(stmts, &mut |call| {
                let (callee_n, callee_copies, is_inlined) = nodes[call.node.idx()];
                if is_inlined {
                    (n, copies) =
                        (n.saturating_add(callee_n), copies.saturating_add(callee_copies));
                }
            });
        }
        total = total.saturating_add(n);
        if total > EQUATIONS_MAX {
            return Err(TooLarge);
        }
        nodes.push((n, copies, wanted(node, (n, copies), which, bounds)));
    }
    Ok(total)
}

/// Inlines calls all over the program, and drops nodes that nothing calls any more.
pub fn inline(program: &mut Program, which: Inline, bounds: Thresholds) -> Result<(), TooLarge> {
    count(program, which, bounds)?;
    let mut total = 0usize;
    for idx in 0..program.nodes.len() {
        let (before, rest) = program.nodes.split_at_mut(idx);
        let node = &mut rest[0];
        let Some(stmts) = node.take_stmts() else { continue };
        let marked: Vec<bool> =
            before.iter().map(|callee| wanted(callee, sizes(callee), which, bounds)).collect();
        let size = size_after(&stmts, before, &marked);
        total = total.saturating_add(size);
        if total > EQUATIONS_MAX {
            return Err(TooLarge);
        }
        let stmts = inline_stmts(node, stmts, before, &marked);
        node.body = Body::Stmts(stmts);
    }
    drop_uncalled(program);
    Ok(())
}

/// Equations of a node, and copies among them.
fn sizes(node: &Node) -> (usize, usize) {
    if let Body::Stmts(stmts) = &node.body { (n_equations(stmts), n_copies(stmts)) } else { (0, 0) }
}

fn wanted(callee: &Node, (n, copies): (usize, usize), which: Inline, bounds: Thresholds) -> bool {
    if !matches!(callee.body, Body::Stmts(_)) {
        return false;
    }
    if let Some(inline) = callee.inline {
        return inline;
    }
    match which {
        Inline::All => true,
        Inline::None => false,
        Inline::Auto => {
            let io_bits: u32 = callee
                .params
                .iter()
                .chain(&callee.results)
                .map(|v| callee.vars[v.idx()].len * callee.vars[v.idx()].ty.m)
                .sum();
            io_bits > bounds.io_bits
                || copies * 100 > n * bounds.copies_pct as usize
                || (n < bounds.equations as usize && !callee.from_table)
        }
    }
}

fn n_copies(stmts: &[Stmt]) -> usize {
    stmts
        .iter()
        .map(|stmt| match stmt {
            Stmt::Eq(eq) => usize::from(eq.op == Op::Copy),
            Stmt::Call(_) => 0,
            Stmt::Loop(it) => n_copies(&it.body),
            Stmt::Unrolled(_) => 0,
        })
        .sum()
}

fn size_after(stmts: &[Stmt], callees: &[Node], marked: &[bool]) -> usize {
    let mut size = n_equations(stmts);
    crate::ir::visit::calls(stmts, &mut |call| {
        if marked[call.node.idx()]
            && let Body::Stmts(body) = &callees[call.node.idx()].body
        {
            size = size.saturating_add(n_equations(body));
        }
    });
    size
}

fn inline_stmts(node: &mut Node, stmts: Vec<Stmt>, callees: &[Node], marked: &[bool]) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Call(call) if marked[call.node.idx()] => {
                splice(node, &call, &callees[call.node.idx()], &mut out)
            }
            Stmt::Loop(it) => {
                let body = inline_stmts(node, it.body, callees, marked);
                out.push(Stmt::Loop(Loop { body, ..it }));
            }
            other => out.push(other),
        }
    }
    out
}

/// What a variable of the callee becomes.
enum InlineTarget {
    /// A variable of the caller.
    Var(VarId),
    /// One place or constant for each word.
    Words(Vec<Operand>),
}

fn splice(node: &mut Node, call: &Call, callee: &Node, out: &mut Vec<Stmt>) {
    let Body::Stmts(body) = &callee.body else { panic!("only nodes of equations are inlined") };
    let indexed = indexed_vars(callee, body);
    let mut targets: HashMap<VarId, InlineTarget> = HashMap::default();
    let mut args = call.args.iter();
    for param in &callee.params {
        let var = &callee.vars[param.idx()];
        let words: Vec<Operand> = args.by_ref().take(var.len as usize).cloned().collect();
        let target = if indexed[param.idx()] {
            let array = node.var(var.name.clone(), var.len, var.ty);
            for (i, word) in words.into_iter().enumerate() {
                out.push(Stmt::copy(Ref::at(array, i), word, call.loc));
            }
            InlineTarget::Var(array)
        } else {
            InlineTarget::Words(words)
        };
        targets.insert(*param, target);
    }
    let mut copies_out = Vec::new();
    let mut dsts = call.dsts.iter();
    for result in &callee.results {
        let var = &callee.vars[result.idx()];
        let places: Vec<Ref> = dsts.by_ref().take(var.len as usize).cloned().collect();
        let target = if indexed[result.idx()] {
            let array = node.var(var.name.clone(), var.len, var.ty);
            for (i, dst) in places.into_iter().enumerate() {
                copies_out.push(Stmt::copy(dst, Ref::at(array, i), call.loc));
            }
            InlineTarget::Var(array)
        } else {
            InlineTarget::Words(places.into_iter().map(Operand::Ref).collect())
        };
        targets.insert(*result, target);
    }
    let mut body = body.clone();
    let mut loops = HashMap::default();
    rename_loops(node, &mut body, &mut loops);
    places_mut(&mut body, &mut |place, _| {
        place.index.terms.iter_mut().for_each(|(id, _)| *id = loops[id])
    });
    Renamer { node, callee, targets }.stmts(&mut body);
    out.extend(body);
    out.extend(copies_out);
}

/// Variables that a loop indexes.
fn indexed_vars(node: &Node, stmts: &[Stmt]) -> Vec<bool> {
    let indexed = std::cell::RefCell::new(vec![false; node.vars.len()]);
    let mark =
        |place: &Ref| indexed.borrow_mut()[place.var.idx()] |= place.index.constant().is_none();
    let mut read = |operand: &Operand| {
        if let Operand::Ref(place) = operand {
            mark(place);
        }
    };
    places(stmts, &mut read, &mut |place| mark(place));
    indexed.into_inner()
}

fn rename_loops(node: &mut Node, stmts: &mut [Stmt], loops: &mut HashMap<LoopId, LoopId>) {
    for stmt in stmts {
        if let Stmt::Loop(it) = stmt {
            let new = node.new_loop();
            loops.insert(it.id, new);
            it.id = new;
            rename_loops(node, &mut it.body, loops);
        }
    }
}

struct Renamer<'a> {
    node: &'a mut Node,
    callee: &'a Node,
    targets: HashMap<VarId, InlineTarget>,
}

impl Renamer<'_> {
    fn stmts(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    eq.args.iter_mut().for_each(|a| self.operand(a));
                    self.place(&mut eq.dst);
                }
                Stmt::Call(call) => {
                    call.args.iter_mut().for_each(|a| self.operand(a));
                    call.dsts.iter_mut().for_each(|d| self.place(d));
                }
                Stmt::Loop(it) => {
                    for carried in &mut it.carried {
                        self.operand(&mut carried.init);
                        self.operand(&mut carried.next);
                        let mut place = Ref::at(carried.var, 0);
                        self.place(&mut place);
                        carried.var = place.var;
                    }
                    self.stmts(&mut it.body);
                }
                Stmt::Unrolled(_) => panic!("`loops` comes before `inline`"),
            }
        }
    }

    fn operand(&mut self, operand: &mut Operand) {
        if let Operand::Ref(place) = operand {
            *operand = self.target(place);
        }
    }

    fn place(&mut self, place: &mut Ref) {
        let Operand::Ref(new) = self.target(place) else {
            panic!("a callee never writes its parameters")
        };
        *place = new;
    }

    fn target(&mut self, place: &Ref) -> Operand {
        let target = self.targets.entry(place.var).or_insert_with(|| {
            let var = &self.callee.vars[place.var.idx()];
            InlineTarget::Var(self.node.var(var.name.clone(), var.len, var.ty))
        });
        match target {
            InlineTarget::Var(var) => Operand::Ref(Ref { var: *var, index: place.index.clone() }),
            InlineTarget::Words(words) => {
                words[place.index.constant().expect("indexed variables become variables")].clone()
            }
        }
    }
}

/// Drops the nodes that no entry reaches.
fn drop_uncalled(program: &mut Program) {
    let mut reached = vec![false; program.nodes.len()];
    program.entries.iter().for_each(|id| reached[id.idx()] = true);
    for idx in (0..program.nodes.len()).rev() {
        if let (true, Body::Stmts(stmts)) = (reached[idx], &program.nodes[idx].body) {
            crate::ir::visit::calls(stmts, &mut |call| reached[call.node.idx()] = true);
        }
    }
    let mut new_ids = Vec::new();
    let mut n = 0;
    for r in &reached {
        new_ids.push(NodeId(n));
        n += u32::from(*r);
    }
    let mut keep = reached.iter();
    program.nodes.retain(|_| *keep.next().expect("one flag a node"));
    for node in &mut program.nodes {
        if let Body::Stmts(stmts) = &mut node.body {
            renumber(stmts, &new_ids);
        }
    }
    program.entries.iter_mut().for_each(|id| *id = new_ids[id.idx()]);
}

fn renumber(stmts: &mut [Stmt], new_ids: &[NodeId]) {
    for stmt in stmts {
        match stmt {
            Stmt::Call(call) => call.node = new_ids[call.node.idx()],
            Stmt::Loop(it) => renumber(&mut it.body, new_ids),
            Stmt::Eq(_) | Stmt::Unrolled(_) => {}
        }
    }
}
