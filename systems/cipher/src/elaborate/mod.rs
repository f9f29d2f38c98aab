//! From the syntax tree to the core form: resolves names and types, writes loops out, numbers the
//! versions of `:=`, and makes one node for each use of a node with other sizes or numbers.
//!
//! ```text
//! node f(x:u32x2) returns (y:u32)       node f(x[2]:u32) -> (y[1]:u32)
//! vars t:u32                    --->      x'[0] = copy x[0]
//! let                                     x'[1] = copy x[1]
//!   x[0] := x[0] ^ x[1];                  x'[2] = xor x'[0], x'[1]
//!   y = x[0] + 1                          y = add x'[2], 0x1
//! tel
//! ```
//!
//! All errors of a program are found here, so messages speak of its source.

mod assign;
mod call;
mod expr;
mod node;
mod types;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use report::Diagnostic;

use crate::ir::{Dir, NodeId, Program, RIGID};
use crate::syntax::Loc;
use crate::syntax::ast::{self, Def, DefBody, Size, Type};

/// Equations that a program may have once its loops are written out.
const EQUATIONS_MAX: u64 = 4_000_000;
/// Words that its variables may have together.
const WORDS_MAX: u64 = 16_000_000;
/// Messages after which checking stops.
const ERRORS_MAX: usize = 20;

/// The program in core form, and remarks for its author.
#[derive(Debug)]
pub struct Elaborated {
    /// Callees before callers; loops written out.
    pub program: Program,
    /// Remarks that are not errors.
    pub warnings: Vec<Diagnostic>,
}

/// Checks every node by itself, with its size and direction variables left open.
pub fn check(program: &ast::Program) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let mut elab = Elaborator::new(program);
    elab.check_names();
    let mut uncalled = Vec::new();
    for (idx, def) in program.defs.iter().enumerate() {
        if def.params.iter().any(|p| p.ty == Type::Nat) {
            uncalled.push(idx);
            continue;
        }
        for element in 0..n_elements(def) {
            let instance = elab.open_instance(idx, element);
            elab.request(instance);
        }
    }
    elab.run();
    if !elab.errors.is_empty() {
        return Err(elab.errors);
    }
    for idx in uncalled {
        if !elab.instances.keys().any(|i| i.def == idx) {
            let name = &program.defs[idx].name;
            let text =
                format!("`{}` is never called, so its equations were not checked", name.name);
            elab.warnings.push(program.sources.error(
                name.loc,
                text,
                "the numbers it depends on come from a call",
            ));
        }
    }
    Ok(program.warnings.iter().cloned().chain(elab.warnings).collect())
}

/// Makes the core form of the nodes named `entries` and of all that they call; `dir` stands for
/// direction variables, `word` (in bits) for size variables.
pub fn elaborate(
    program: &ast::Program,
    entries: &[&str],
    dir: Dir,
    word: Option<u32>,
) -> Result<Elaborated, Vec<Diagnostic>> {
    let mut elab = Elaborator::new(program);
    elab.check_names();
    let mut ids = Vec::new();
    for name in entries {
        match elab.entry_instance(name, dir, word) {
            Ok(instance) => ids.push(elab.request(instance)),
            Err(error) => elab.errors.push(error),
        }
    }
    elab.run();
    if !elab.errors.is_empty() {
        return Err(elab.errors);
    }
    let (nodes, new_ids) = elab.nodes_in_order();
    let entries = ids.iter().map(|id| new_ids[id.idx()]).collect();
    let program = Program { sources: program.sources.clone(), nodes, entries };
    Ok(Elaborated { program, warnings: elab.warnings })
}

/// One use of a definition: which element of an array of nodes, with which numbers and sizes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Instance {
    def: usize,
    element: usize,
    /// Values of the nat parameters, in order.
    nats: Vec<i64>,
    /// Bits for each size variable.
    sizes: BTreeMap<Rc<str>, u32>,
    /// Direction for each direction variable.
    dirs: BTreeMap<Rc<str>, Dir>,
}

struct Elaborator<'a> {
    ast: &'a ast::Program,
    by_name: HashMap<Rc<str>, usize>,
    instances: HashMap<Instance, NodeId>,
    queue: VecDeque<(NodeId, Instance)>,
    nodes: Vec<Option<(usize, crate::ir::Node)>>,
    errors: Vec<Diagnostic>,
    seen: HashSet<(Loc, String)>,
    warnings: Vec<Diagnostic>,
    n_equations: u64,
    n_words: u64,
}

fn n_elements(def: &Def) -> usize {
    match &def.body {
        DefBody::Nodes(all) => all.len(),
        DefBody::Perms(all) | DefBody::Tables(all) => all.len(),
    }
}

impl<'a> Elaborator<'a> {
    fn new(ast: &'a ast::Program) -> Self {
        Elaborator {
            ast,
            by_name: HashMap::new(),
            instances: HashMap::new(),
            queue: VecDeque::new(),
            nodes: Vec::new(),
            errors: Vec::new(),
            seen: HashSet::new(),
            warnings: Vec::new(),
            n_equations: 0,
            n_words: 0,
        }
    }

    /// Records a message once; `None` lets callers return it as their failure.
    fn error<T>(
        &mut self,
        loc: Loc,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Option<T> {
        let message = message.into();
        if self.seen.insert((loc, message.clone())) {
            self.errors.push(self.ast.sources.error(loc, message, label));
        }
        None
    }

    fn error_help<T>(
        &mut self,
        loc: Loc,
        message: impl Into<String>,
        label: &str,
        help: impl Into<String>,
    ) -> Option<T> {
        let before = self.errors.len();
        self.error::<()>(loc, message, label);
        if self.errors.len() > before {
            self.errors[before].help = Some(help.into());
        }
        None
    }

    fn check_names(&mut self) {
        for (idx, def) in self.ast.defs.iter().enumerate() {
            if let Some(first) = self.by_name.get(&def.name.name) {
                let first = self.ast.defs[*first].name.loc;
                let mut error = self.ast.sources.error(
                    def.name.loc,
                    format!("`{}` is defined twice", def.name.name),
                    "again here",
                );
                error.spans.push((self.ast.sources.span(first), "first here".into()));
                self.errors.push(error);
            } else {
                self.by_name.insert(def.name.name.clone(), idx);
            }
        }
    }

    /// The instance of a definition with its size and direction variables left open.
    fn open_instance(&self, def: usize, element: usize) -> Instance {
        let mut instance =
            Instance { def, element, nats: vec![], sizes: BTreeMap::new(), dirs: BTreeMap::new() };
        for ty in types_of(&self.ast.defs[def]) {
            if let Type::Words { m: Size::Var(name), .. } = ty {
                let next = RIGID + instance.sizes.len() as u32;
                instance.sizes.entry(name.clone()).or_insert(next);
            }
        }
        instance
    }

    fn entry_instance(
        &self,
        name: &str,
        dir: Dir,
        word: Option<u32>,
    ) -> Result<Instance, Diagnostic> {
        let Some(def) = self.ast.defs.iter().rposition(|d| &*d.name.name == name) else {
            let names = self.ast.defs.iter().map(|d| &*d.name.name);
            let help = report::did_you_mean(name, names);
            return Err(Diagnostic {
                message: format!("there is no node `{name}`"),
                spans: vec![],
                help,
            });
        };
        let loc = self.ast.defs[def].name.loc;
        if self.ast.defs[def].params.iter().any(|p| p.ty == Type::Nat) {
            return Err(self.ast.sources.error(
                loc,
                format!("`{name}` cannot be the entry"),
                "it has a nat parameter; call it from a node without",
            ));
        }
        if self.ast.defs[def].is_array {
            return Err(self.ast.sources.error(
                loc,
                format!("`{name}` cannot be the entry"),
                "it is an array of nodes; call one of them from a node",
            ));
        }
        let mut instance = self.open_instance(def, 0);
        for (variable, size) in &mut instance.sizes {
            *size = word.ok_or_else(|| {
                let message = format!("the word size '{variable} of `{name}` is open");
                let mut error =
                    self.ast.sources.error(loc, message, "declared with this size variable");
                error.help = Some("choose it with --word N, or bitslice with --slicing b".into());
                error
            })?;
        }
        for ty in types_of(&self.ast.defs[def]) {
            if let Type::Words { dir: ast::Dir::Var(name), .. } = ty {
                instance.dirs.insert(name.clone(), dir);
            }
        }
        instance.dirs.insert("D".into(), dir);
        Ok(instance)
    }

    fn request(&mut self, instance: Instance) -> NodeId {
        if let Some(id) = self.instances.get(&instance) {
            return *id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(None);
        self.instances.insert(instance.clone(), id);
        self.queue.push_back((id, instance));
        id
    }

    fn run(&mut self) {
        while let Some((id, instance)) = self.queue.pop_front() {
            if self.errors.len() >= ERRORS_MAX
                || self.n_equations > EQUATIONS_MAX
                || self.n_words > WORDS_MAX
            {
                return;
            }
            let def = instance.def;
            let node = node::node(self, &instance);
            self.nodes[id.idx()] = Some((def, node));
        }
    }

    /// Whether this many more equations are within the limit.
    fn has_room(&self, equations: u64) -> bool {
        self.n_equations.saturating_add(equations) <= EQUATIONS_MAX
    }

    /// Counts work before it is done; a program that is too large ends in a message.
    fn spend(&mut self, equations: u64, words: u64, loc: Loc) -> Option<()> {
        if self.n_equations > EQUATIONS_MAX || self.n_words > WORDS_MAX {
            return None; // reported before
        }
        self.n_equations = self.n_equations.saturating_add(equations);
        self.n_words = self.n_words.saturating_add(words);
        if self.n_equations > EQUATIONS_MAX {
            return self.error(
                loc,
                format!("the program has more than {EQUATIONS_MAX} equations once its loops are written out"),
                "the limit is reached here",
            );
        }
        if self.n_words > WORDS_MAX {
            return self.error(
                loc,
                format!("the program's variables have more than {WORDS_MAX} words"),
                "the limit is reached here",
            );
        }
        Some(())
    }

    /// The nodes with callees first (definitions precede their uses) and unique names, and the new
    /// id of each old one.
    fn nodes_in_order(&mut self) -> (Vec<crate::ir::Node>, Vec<NodeId>) {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|idx| (self.nodes[*idx].as_ref().map(|n| n.0), *idx));
        let mut new_ids = vec![NodeId(0); order.len()];
        for (new, old) in order.iter().enumerate() {
            new_ids[*old] = NodeId(new as u32);
        }
        let mut taken: HashSet<Rc<str>> = HashSet::new();
        let mut nodes = Vec::new();
        for old in order {
            let (_, mut node) = self.nodes[old]
                .take()
                .expect("every requested node was made, or there was an error");
            let mut name = node.name.clone();
            let mut n = 2;
            while !taken.insert(name.clone()) {
                name = format!("{}__v{n}", node.name).into();
                n += 1;
            }
            node.name = name;
            if let crate::ir::Body::Stmts(stmts) = &mut node.body {
                renumber_calls(stmts, &new_ids);
            }
            nodes.push(node);
        }
        (nodes, new_ids)
    }
}

fn renumber_calls(stmts: &mut [crate::ir::Stmt], new_ids: &[NodeId]) {
    for stmt in stmts {
        match stmt {
            crate::ir::Stmt::Eq(_) => {}
            crate::ir::Stmt::Call(call) => call.node = new_ids[call.node.idx()],
            crate::ir::Stmt::Loop(it) => renumber_calls(&mut it.body, new_ids),
            crate::ir::Stmt::Unrolled(it) => {
                it.iterations.iter_mut().for_each(|body| renumber_calls(body, new_ids))
            }
        }
    }
}

/// `1 word`, `3 words`.
fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The declared types of a definition, inputs first.
fn types_of(def: &Def) -> impl Iterator<Item = &Type> {
    let vars = match &def.body {
        DefBody::Nodes(bodies) => bodies.iter().flat_map(|b| &b.vars).collect(),
        DefBody::Perms(_) | DefBody::Tables(_) => Vec::new(),
    };
    def.params.iter().chain(&def.returns).chain(vars).map(|d| &d.ty)
}
