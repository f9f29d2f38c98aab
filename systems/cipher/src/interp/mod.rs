//! Runs a program as its text says, one word at a time: slow, obvious, the oracle for everything
//! else.
//!
//! Equations are evaluated in the order of the text; one that reads a word without a value yet is
//! tried again later, until nothing changes. Nothing here is shared with the compiler but the
//! syntax tree.

mod eval;

use std::collections::HashMap;
use std::rc::Rc;

use report::Diagnostic;

use crate::syntax::Loc;
use crate::syntax::ast::{
    AExpr, AExprKind, Access, Assign, Def, DefBody, Eqn, Index, Program, Size, Type,
};
use crate::syntax::operators::static_op;

use eval::{Value, Word, coerce};

/// A run ends with an error after this many operations on words.
const STEPS_MAX: u64 = 2_000_000_000;
/// Deepest chain of calls.
const CALLS_MAX: u32 = 400;

/// The words of one parameter or result.
pub type Words = Vec<u64>;

/// The words of the parameters and results of `entry`, as (name, bits a word, number of words).
pub fn interface(
    program: &Program,
    entry: &str,
    word: Option<u32>,
) -> Option<(Vec<Port>, Vec<Port>)> {
    let def = program.defs.iter().rfind(|d| &*d.name.name == entry)?;
    let port = |decl: &crate::syntax::ast::Decl| {
        let Type::Words { m, .. } = &decl.ty else { return None };
        let m = match m {
            Size::Fixed(m) => *m,
            Size::Var(_) => word?,
        };
        Some(Port { name: decl.name.name.clone(), m, n: decl.ty.n_atoms() as usize })
    };
    Some((
        def.params.iter().map(port).collect::<Option<_>>()?,
        def.returns.iter().map(port).collect::<Option<_>>()?,
    ))
}

/// One parameter or result of an entry node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    pub name: Rc<str>,
    pub m: u32,
    pub n: usize,
}

/// Runs node `entry` of a checked program; `word` is the value of its size variables, `args` has
/// the words of each parameter.
pub fn run(
    program: &Program,
    entry: &str,
    word: Option<u32>,
    args: &[Words],
) -> Result<Vec<Words>, Diagnostic> {
    let idx = program
        .defs
        .iter()
        .rposition(|d| &*d.name.name == entry)
        .expect("the entry was looked up before");
    let (inputs, outputs) =
        interface(program, entry, word).expect("the entry's sizes were checked before");
    assert_eq!(inputs.len(), args.len(), "one argument for each parameter");
    let mut sizes = HashMap::new();
    let mut words = Vec::new();
    for (port, arg) in inputs.iter().zip(args) {
        assert_eq!(port.n, arg.len(), "as many words as `{}` has", port.name);
        words.extend(arg.iter().map(|v| Word { m: port.m, v: Some(*v) }));
    }
    for decl in program.defs[idx].params.iter().chain(&program.defs[idx].returns) {
        if let (Type::Words { m: Size::Var(name), .. }, Some(word)) = (&decl.ty, word) {
            sizes.insert(name.clone(), word);
        }
    }
    let mut interp = Interp { program, n_steps: 0, depth: 0 };
    let results = interp.call(idx, 0, &[], sizes, words)?;
    let mut results = results.into_iter();
    let mut all = Vec::new();
    for port in outputs {
        let words: Option<Words> = results.by_ref().take(port.n).map(|w| w.v).collect();
        all.push(words.ok_or_else(|| {
            let loc = program.defs[idx].name.loc;
            program.sources.error(
                loc,
                format!("output `{}` has no value", port.name),
                "some word of it is never computed",
            )
        })?);
    }
    Ok(all)
}

struct Interp<'a> {
    program: &'a Program,
    n_steps: u64,
    depth: u32,
}

/// A variable of the node that runs.
#[derive(Clone)]
struct Variable {
    m: u32,
    dims: Vec<u32>,
    /// The cell that holds the current version of each word.
    cells: Vec<usize>,
}

/// What a name means at some point of the text.
#[derive(Clone)]
enum Meaning {
    Number(i64),
    Variable(Variable),
}

type Scope = HashMap<Rc<str>, Meaning>;

/// An equation, what names meant there, and the cells it defines with their widths.
type Waiting<'a> = (&'a Assign, Scope, Vec<(usize, u32)>);

/// The node that runs.
struct CallFrame<'a> {
    sizes: HashMap<Rc<str>, u32>,
    /// The value of every version of every word.
    cells: Vec<Option<u64>>,
    scope: Scope,
    /// Equations that read a word without a value, with what names meant there.
    waiting: Vec<Waiting<'a>>,
    /// Definition of the node, by number.
    def: usize,
}

impl<'a> Interp<'a> {
    fn step(&mut self, n: usize, loc: Loc) -> Result<(), Diagnostic> {
        self.n_steps += n as u64;
        if self.n_steps > STEPS_MAX {
            return Err(self.program.sources.error(
                loc,
                format!("gave up after {STEPS_MAX} operations"),
                "here",
            ));
        }
        Ok(())
    }

    fn bug(&self, loc: Loc, message: &str) -> Diagnostic {
        self.program.sources.error(loc, message, "here")
    }

    /// The results of one use of a definition, all words in a row.
    fn call(
        &mut self,
        idx: usize,
        element: usize,
        nats: &[i64],
        sizes: HashMap<Rc<str>, u32>,
        args: Vec<Word>,
    ) -> Result<Vec<Word>, Diagnostic> {
        let def: &'a Def = &self.program.defs[idx];
        if self.depth >= CALLS_MAX {
            return Err(
                self.bug(def.name.loc, &format!("calls are nested more than {CALLS_MAX} deep"))
            );
        }
        self.depth += 1;
        let results = match &def.body {
            DefBody::Nodes(bodies) => self.node(idx, &bodies[element], nats, sizes, args),
            DefBody::Perms(perms) => {
                self.step(perms[element].ints.len(), def.name.loc)?;
                let at = |p: &num_bigint::BigUint| {
                    usize::try_from(p).expect("positions were checked") - 1
                };
                let n_results: u64 = def.returns.iter().map(|found| found.ty.n_atoms()).sum();
                if args.len() == 1 && n_results == 1 && perms[element].ints.len() > 1 {
                    let order: Vec<usize> = perms[element].ints.iter().map(at).collect();
                    return Ok(vec![eval::parts_moved(args[0], &order)])
                        .inspect(|_| self.depth -= 1);
                }
                Ok(perms[element].ints.iter().map(|p| args[at(p)]).collect())
            }
            DefBody::Tables(tables) => {
                self.step(args.len() * 64, def.name.loc)?;
                Ok(eval::lookup(def, &tables[element], &sizes, &args))
            }
        };
        self.depth -= 1;
        results
    }

    fn node(
        &mut self,
        idx: usize,
        body: &'a crate::syntax::ast::Body,
        nats: &[i64],
        sizes: HashMap<Rc<str>, u32>,
        args: Vec<Word>,
    ) -> Result<Vec<Word>, Diagnostic> {
        let def: &'a Def = &self.program.defs[idx];
        let mut frame = CallFrame {
            sizes,
            cells: Vec::new(),
            scope: HashMap::new(),
            waiting: Vec::new(),
            def: idx,
        };
        let (mut nats, mut args) = (nats.iter(), args.into_iter());
        for decl in &def.params {
            if decl.ty == Type::Nat {
                let value = *nats.next().expect("as many numbers as nat parameters");
                frame.scope.insert(decl.name.name.clone(), Meaning::Number(value));
            } else {
                frame.declare(&decl.name.name, &decl.ty, args.by_ref().map(|w| w.v));
            }
        }
        for decl in def.returns.iter().chain(&body.vars).filter(|found| found.ty != Type::Nat) {
            frame.declare(&decl.name.name, &decl.ty, std::iter::repeat(None));
        }
        self.eqns(&mut frame, &body.eqs)?;
        self.settle(&mut frame)?;
        let mut results = Vec::new();
        for decl in &def.returns {
            let Some(Meaning::Variable(var)) = frame.scope.get(&decl.name.name) else {
                panic!("outputs are declared")
            };
            results.extend(var.cells.iter().map(|cell| Word { m: var.m, v: frame.cells[*cell] }));
        }
        Ok(results)
    }

    /// Tries the waiting equations until none of them gives a new value.
    fn settle(&mut self, frame: &mut CallFrame<'a>) -> Result<(), Diagnostic> {
        loop {
            let waiting = std::mem::take(&mut frame.waiting);
            let before = frame.cells.iter().flatten().count();
            let scope = frame.scope.clone();
            for (assign, meanings, targets) in waiting {
                frame.scope = meanings;
                self.evaluate(frame, assign, targets)?;
            }
            frame.scope = scope;
            if frame.cells.iter().flatten().count() == before {
                return Ok(());
            }
        }
    }

    fn eqns(&mut self, frame: &mut CallFrame<'a>, eqns: &'a [Eqn]) -> Result<(), Diagnostic> {
        for eqn in eqns {
            match eqn {
                Eqn::Assign(assign) => self.assign(frame, assign)?,
                Eqn::Forall(forall) => {
                    let (first, last) =
                        (self.number(frame, &forall.first)?, self.number(frame, &forall.last)?);
                    let outer = frame.scope.get(&forall.index.name).cloned();
                    let step = if last >= first { 1 } else { -1 };
                    for k in 0..=first.abs_diff(last) as i64 {
                        self.step(1, forall.loc)?;
                        frame
                            .scope
                            .insert(forall.index.name.clone(), Meaning::Number(first + k * step));
                        self.eqns(frame, &forall.eqs)?;
                    }
                    match outer {
                        Some(outer) => frame.scope.insert(forall.index.name.clone(), outer),
                        None => frame.scope.remove(&forall.index.name),
                    };
                }
            }
        }
        Ok(())
    }

    fn assign(&mut self, frame: &mut CallFrame<'a>, assign: &'a Assign) -> Result<(), Diagnostic> {
        let before = frame.scope.clone();
        let mut targets = Vec::new();
        for access in &assign.pat {
            let elements = self.elements(frame, access)?;
            let Some(Meaning::Variable(var)) = frame.scope.get_mut(&access.name.name) else {
                panic!("elements() found a variable")
            };
            for element in elements {
                if assign.imperative {
                    var.cells[element] = frame.cells.len();
                    frame.cells.push(None);
                }
                targets.push((var.cells[element], var.m));
            }
        }
        let after = std::mem::replace(&mut frame.scope, before);
        self.evaluate(frame, assign, targets)?;
        frame.scope = after;
        Ok(())
    }

    /// Computes an equation with the names as they are now; waits if a word is missing.
    fn evaluate(
        &mut self,
        frame: &mut CallFrame<'a>,
        assign: &'a Assign,
        targets: Vec<(usize, u32)>,
    ) -> Result<(), Diagnostic> {
        let shape: Vec<u32> = targets.iter().map(|t| t.1).collect();
        let value: Value = self.expr(frame, &assign.expr, Some(&shape))?;
        let words = coerce(value, Some(&shape))
            .ok_or_else(|| self.bug(assign.loc, "the value does not fit the left side"))?;
        let complete = words.iter().all(|w| w.v.is_some());
        for ((cell, _), word) in targets.iter().zip(&words) {
            frame.cells[*cell] = word.v;
        }
        if !complete {
            frame.waiting.push((assign, frame.scope.clone(), targets));
        }
        Ok(())
    }

    fn number(&self, frame: &CallFrame<'a>, expr: &AExpr) -> Result<i64, Diagnostic> {
        match &expr.kind {
            AExprKind::Int(int) => Ok(*int),
            AExprKind::Name(name) => match frame.scope.get(name) {
                Some(Meaning::Number(value)) => Ok(*value),
                _ => Err(self.bug(expr.loc, &format!("`{name}` is no static number"))),
            },
            AExprKind::Bin(op, a, b) => {
                let (a, b) = (self.number(frame, a)?, self.number(frame, b)?);
                static_op(*op, a, b).map_err(|why| self.bug(expr.loc, why))
            }
        }
    }

    /// The elements that an access means, in order.
    fn elements(&self, frame: &CallFrame<'a>, access: &Access) -> Result<Vec<usize>, Diagnostic> {
        let Some(Meaning::Variable(var)) = frame.scope.get(&access.name.name) else {
            return Err(self.bug(access.loc, &format!("unknown variable `{}`", access.name.name)));
        };
        let mut elements = vec![0usize];
        for (depth, dim) in var.dims.iter().enumerate() {
            let picks: Vec<i64> = match access.indices.get(depth) {
                None => (0..i64::from(*dim)).collect(),
                Some(Index::At(at)) => vec![self.number(frame, at)?],
                Some(Index::List(all)) => {
                    all.iter().map(|at| self.number(frame, at)).collect::<Result<_, _>>()?
                }
                Some(Index::Range(a, b)) => {
                    let (a, b) = (self.number(frame, a)?, self.number(frame, b)?);
                    if a <= b { (a..=b).collect() } else { (b..=a).rev().collect() }
                }
            };
            if picks.iter().any(|p| !(0..i64::from(*dim)).contains(p)) {
                return Err(self.bug(access.loc, "an index is out of range"));
            }
            elements = elements
                .iter()
                .flat_map(|e| picks.iter().map(move |p| e * *dim as usize + *p as usize))
                .collect();
        }
        Ok(elements)
    }
}

impl CallFrame<'_> {
    fn declare(&mut self, name: &Rc<str>, ty: &Type, values: impl Iterator<Item = Option<u64>>) {
        let Type::Words { m, dims, .. } = ty else { panic!("only parameters are nat") };
        let m = self.bits(m);
        let first = self.cells.len();
        let n = ty.n_atoms() as usize;
        self.cells.extend(values.take(n));
        let cells = (first..first + n).collect();
        self.scope
            .insert(name.clone(), Meaning::Variable(Variable { m, dims: dims.clone(), cells }));
    }

    fn bits(&self, size: &Size) -> u32 {
        match size {
            Size::Fixed(m) => *m,
            Size::Var(name) => {
                self.sizes.get(name).or_else(|| self.sizes.get("m")).copied().unwrap_or(1)
            }
        }
    }
}
