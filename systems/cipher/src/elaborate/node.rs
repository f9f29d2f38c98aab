//! Elaborates one node: declarations, equations in the order of the text, and the checks at its
//! end.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::circuit;
use crate::ir::{Body, Eq, Node, Op, Ref, Stmt, Table, Ty, VarId};
use crate::passes::order;
use crate::syntax::Loc;
use crate::syntax::ast::{Assign, Attr, Decl, Def, DefBody, Eqn, IntList, Type};

use super::types::join;
use super::{Elaborator, Instance};

/// Largest number of input bits of a table.
const TABLE_BITS_MAX: u32 = 16;

/// A variable of the source.
pub(super) struct SourceVar {
    pub name: Rc<str>,
    pub loc: Loc,
    pub ty: Ty,
    pub dims: Vec<u32>,
    pub n: usize,
    /// Holds the only version, or the last one: what the caller sees.
    pub base: VarId,
    /// Holds all versions, when the variable is assigned with `:=`: word `version * n + element`.
    pub chain: Option<VarId>,
    /// The current version of each element.
    pub version: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) enum Binding {
    Nat(i64),
    Var(usize),
}

/// The node under construction.
pub(super) struct Builder<'e, 'a> {
    pub elab: &'e mut Elaborator<'a>,
    pub instance: &'e Instance,
    pub node: Node,
    pub scope: HashMap<Rc<str>, Binding>,
    pub vars: Vec<SourceVar>,
    /// Local variables of type nat.
    pub indices: HashSet<Rc<str>>,
    pub stmts: Vec<Stmt>,
    /// Where each word was defined, and first read.
    pub defined: HashMap<(VarId, usize), Loc>,
    pub read: HashMap<(VarId, usize), Loc>,
    /// Which statement of the current equation defined a temporary.
    pub fresh: HashMap<VarId, usize>,
    /// An equation has an error, so it is not known what it defines.
    pub is_partial: bool,
    pub loc: Loc,
}

pub(super) fn node(elab: &mut Elaborator<'_>, instance: &Instance) -> Node {
    let ast = elab.ast;
    let def = &ast.defs[instance.def];
    let mut node = Node::new(node_name(def, instance));
    node.loc = def.name.loc;
    node.inline = def.attrs.iter().find_map(|a| match a {
        Attr::Inline => Some(true),
        Attr::NoInline => Some(false),
        _ => None,
    });
    node.no_opt = def.attrs.contains(&Attr::NoOpt);
    let mut builder = Builder {
        elab,
        instance,
        node,
        scope: HashMap::new(),
        vars: Vec::new(),
        indices: HashSet::new(),
        stmts: Vec::new(),
        defined: HashMap::new(),
        read: HashMap::new(),
        fresh: HashMap::new(),
        is_partial: false,
        loc: def.name.loc,
    };
    builder.build(def);
    builder.node
}

fn node_name(def: &Def, instance: &Instance) -> String {
    let mut name = def.name.name.to_string();
    if def.is_array {
        name += &format!("__{}", instance.element);
    }
    for nat in &instance.nats {
        name += &format!("__n{}", nat.to_string().replace('-', "m"));
    }
    name
}

impl Builder<'_, '_> {
    fn build(&mut self, def: &Def) {
        if self.declare_interface(def).is_none() {
            return;
        }
        match &def.body {
            DefBody::Nodes(bodies) => {
                let body = &bodies[self.instance.element];
                let mut reassigned = HashSet::new();
                imperative_names(&body.eqs, &mut reassigned);
                // `vars i:nat` announces a loop index; the loop says which numbers it has.
                self.indices.extend(
                    body.vars
                        .iter()
                        .filter(|var| var.ty == Type::Nat)
                        .map(|var| var.name.name.clone()),
                );
                if body
                    .vars
                    .iter()
                    .filter(|var| var.ty != Type::Nat)
                    .try_for_each(|d| self.declare(d).map(|_| ()))
                    .is_none()
                {
                    return;
                }
                self.start_chains(&reassigned);
                for eqn in &body.eqs {
                    self.eqn(eqn);
                    if self.elab.errors.len() >= super::ERRORS_MAX {
                        return;
                    }
                }
                self.finish(def);
            }
            DefBody::Perms(perms) => {
                if let Some(body) = self.perm(&perms[self.instance.element]) {
                    self.node.body = body;
                }
            }
            DefBody::Tables(tables) => {
                if let Some(table) = self.table(def, &tables[self.instance.element]) {
                    self.node.body = Body::Table(table);
                    self.node.from_table = true;
                }
            }
        }
    }

    fn declare_interface(&mut self, def: &Def) -> Option<()> {
        let mut nats = self.instance.nats.iter();
        for decl in &def.params {
            if decl.ty == Type::Nat {
                let value = *nats.next().expect("an instance has a value for each nat parameter");
                self.bind(decl, Binding::Nat(value))?;
            } else {
                let var = self.declare(decl)?;
                self.node.params.push(var);
                let n = self.node.vars[var.idx()].len as usize;
                self.defined.extend((0..n).map(|i| ((var, i), decl.name.loc)));
            }
        }
        if def.returns.is_empty() {
            return self.elab.error(
                def.name.loc,
                format!("`{}` returns nothing", def.name.name),
                "declare at least one output",
            );
        }
        for decl in &def.returns {
            if decl.ty == Type::Nat {
                return self.elab.error(
                    decl.name.loc,
                    "an output cannot be a nat",
                    "only parameters can",
                );
            }
            let var = self.declare(decl)?;
            self.node.results.push(var);
        }
        Some(())
    }

    fn bind(&mut self, decl: &Decl, binding: Binding) -> Option<()> {
        if self.scope.insert(decl.name.name.clone(), binding).is_some() {
            return self.elab.error(
                decl.name.loc,
                format!("`{}` is declared twice in this node", decl.name.name),
                "again here",
            );
        }
        Some(())
    }

    fn declare(&mut self, decl: &Decl) -> Option<VarId> {
        let Type::Words { dims, .. } = &decl.ty else {
            panic!("nat parameters are bound, outputs refused and locals left out");
        };
        let n = decl.ty.n_atoms();
        self.elab.spend(0, n, decl.name.loc)?;
        let ty = self.instance.word_ty(&decl.ty);
        let base = self.node.var(decl.name.name.clone(), n as u32, ty);
        self.bind(decl, Binding::Var(self.vars.len()))?;
        self.vars.push(SourceVar {
            name: decl.name.name.clone(),
            loc: decl.name.loc,
            ty,
            dims: dims.clone(),
            n: n as usize,
            base,
            chain: None,
            version: Vec::new(),
        });
        Some(base)
    }

    /// Variables that `:=` assigns get a variable of versions; parameters are copied into it.
    fn start_chains(&mut self, reassigned: &HashSet<Rc<str>>) {
        for idx in 0..self.vars.len() {
            let var = &self.vars[idx];
            if !reassigned.contains(&var.name) {
                continue;
            }
            let (name, n, ty, base, loc) = (var.name.clone(), var.n, var.ty, var.base, var.loc);
            let chain = self.node.var(format!("{name}'"), n as u32, ty);
            self.vars[idx].chain = Some(chain);
            self.vars[idx].version = vec![0; n];
            if self.node.params.contains(&base) {
                for i in 0..n {
                    self.defined.insert((chain, i), loc);
                    self.stmts.push(Stmt::copy(Ref::at(chain, i), Ref::at(base, i), loc));
                }
            }
        }
    }

    /// Where the current version of an element lies.
    pub fn cell(&self, var: usize, element: usize) -> Ref {
        let var = &self.vars[var];
        match var.chain {
            Some(chain) => Ref::at(chain, var.version[element] as usize * var.n + element),
            None => Ref::at(var.base, element),
        }
    }

    fn finish(&mut self, def: &Def) {
        for var in 0..self.vars.len() {
            let Some(chain) = self.vars[var].chain else { continue };
            let versions = 1 + self.vars[var].version.iter().copied().max().unwrap_or(0) as usize;
            self.node.vars[chain.idx()].len = (versions * self.vars[var].n) as u32;
            let base = self.vars[var].base;
            if self.node.results.contains(&base) {
                let loc = self.vars[var].loc;
                for element in 0..self.vars[var].n {
                    let last = self.cell(var, element);
                    self.define(&Ref::at(base, element), loc, var, element);
                    self.read.entry((last.var, index(&last))).or_insert(loc);
                    self.stmts.push(Stmt::copy(Ref::at(base, element), last, loc));
                }
            }
        }
        let complete = self.check_defined();
        self.node.body = Body::Stmts(std::mem::take(&mut self.stmts));
        if complete
            && self.elab.errors.is_empty()
            && let Err(cycle) = order::check(&self.node)
        {
            self.report_cycle(def, &cycle);
        }
    }

    /// Every word that is read, and every output, must be defined.
    fn check_defined(&mut self) -> bool {
        if self.is_partial {
            return false;
        }
        let mut missing: Vec<(Loc, String, &str)> = Vec::new();
        for ((var, at), loc) in &self.read {
            if !self.defined.contains_key(&(*var, *at)) {
                let name = self.word_name(*var, *at);
                let chained = self.vars.iter().any(|v| v.chain == Some(*var));
                let label = if chained { "read here, before its first `:=`" } else { "read here" };
                missing.push((*loc, format!("{name} is used but never defined"), label));
            }
        }
        for result in self.node.results.clone() {
            let var = self.vars.iter().find(|v| v.base == result).expect("outputs are declared");
            let undefined: Vec<usize> =
                (0..var.n).filter(|i| !self.defined.contains_key(&(result, *i))).collect();
            if let Some(first) = undefined.first() {
                let more = if undefined.len() > 1 {
                    format!(" (and {} more words of it)", undefined.len() - 1)
                } else {
                    String::new()
                };
                missing.push((
                    var.loc,
                    format!("output {} is never defined{more}", self.word_name(result, *first)),
                    "declared here",
                ));
            }
        }
        missing.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        missing.dedup_by_key(|m| m.0);
        for (loc, message, label) in &missing {
            self.elab.error::<()>(*loc, message.clone(), *label);
        }
        missing.is_empty()
    }

    /// `x[2][1]` in backticks, for word `at` of a core variable.
    pub fn word_name(&self, var: VarId, at: usize) -> String {
        let Some(source) = self.vars.iter().find(|v| v.base == var || v.chain == Some(var)) else {
            return "a value".into();
        };
        let mut rest = at % source.n;
        let mut indices = Vec::new();
        for dim in source.dims.iter().rev() {
            indices.push(rest % *dim as usize);
            rest /= *dim as usize;
        }
        let brackets: String = if source.n == 1 {
            String::new()
        } else {
            indices.iter().rev().map(|i| format!("[{i}]")).collect()
        };
        format!("`{}{brackets}`", source.name)
    }

    fn report_cycle(&mut self, def: &Def, cycle: &[order::OrderStep]) {
        let mut names: Vec<String> = cycle
            .iter()
            .filter_map(|s| s.written.first())
            .map(|r| self.word_name(r.var, index(r)))
            .collect();
        names.dedup();
        if names.iter().any(|n| n != "a value") {
            names.retain(|n| n != "a value");
        }
        names.dedup();
        if names.len() > 1 && names.first() == names.last() {
            names.pop();
        }
        let Some(first) = names.first().cloned() else { return };
        let loc = cycle[0].loc;
        let message = if names.len() == 1 {
            format!("{first} depends on itself")
        } else {
            format!("cyclic equations in `{}`: {} -> {first}", def.name.name, names.join(" -> "))
        };
        let mut error =
            self.elab.ast.sources.error(loc, message, "this equation is part of the cycle");
        let mut shown = vec![loc];
        for step in cycle {
            if !shown.contains(&step.loc) && shown.len() < 6 {
                shown.push(step.loc);
                error.spans.push((self.elab.ast.sources.span(step.loc), "and this one".into()));
            }
        }
        error.help = Some("the order of equations has no meaning; `:=` gives a variable a new value for the text below it".into());
        self.elab.errors.push(error);
    }

    fn n_words(&self, vars: &[VarId]) -> u32 {
        vars.iter().map(|v| self.node.vars[v.idx()].len).sum()
    }

    /// n positions over one word of n times k bits move k bits each.
    fn perm_of_a_word(&mut self, perm: &IntList) -> Option<Body> {
        let (from, to) = (
            self.node.words(&self.node.params)[0].clone(),
            self.node.words(&self.node.results)[0].clone(),
        );
        let (from_ty, to_ty) = (self.node.ty(&from), self.node.ty(&to));
        let n = perm.ints.len();
        if join(from_ty, to_ty).is_none() {
            return self.elab.error(
                perm.loc,
                format!("this perm has {from_ty} for {to_ty}"),
                "it moves bits within one type",
            );
        }
        if from_ty.m >= crate::ir::RIGID || !(from_ty.m as usize).is_multiple_of(n) {
            let message =
                format!("this perm has {n} positions, but its output has 1 word, of {from_ty}");
            return self.elab.error(
                perm.loc,
                message,
                "one position for each output word, or for equal parts of the bits of the only one",
            );
        }
        let k = from_ty.m as usize / n;
        let mut bits = thin_vec::ThinVec::new();
        for int in &perm.ints {
            match usize::try_from(int) {
                Ok(at) if (1..=n).contains(&at) => {
                    bits.extend((0..k).map(|bit| ((at - 1) * k + bit) as u8))
                }
                _ => {
                    return self.elab.error(
                        perm.loc,
                        format!("position {int} is not between 1 and {n}"),
                        "positions count from 1",
                    );
                }
            }
        }
        let shuffle =
            Eq { dst: to, op: Op::Shuffle(bits), args: vec![from.into()].into(), loc: perm.loc };
        Some(Body::Stmts(vec![Stmt::Eq(shuffle)]))
    }

    fn perm(&mut self, perm: &IntList) -> Option<Body> {
        let (n_in, n_out) = (self.n_words(&self.node.params), self.n_words(&self.node.results));
        if n_in == 1 && n_out == 1 && perm.ints.len() > 1 {
            return self.perm_of_a_word(perm);
        }
        if perm.ints.len() != n_out as usize {
            let message = format!(
                "this perm has {} positions, but its output has {n_out} words",
                perm.ints.len()
            );
            return self.elab.error(perm.loc, message, "one position for each output word");
        }
        let mut list = Vec::new();
        let (params, results) =
            (self.node.words(&self.node.params), self.node.words(&self.node.results));
        for (int, result) in perm.ints.iter().zip(results) {
            match u32::try_from(int) {
                Ok(at) if (1..=n_in).contains(&at) => {
                    let (from, to) =
                        (self.node.ty(&params[at as usize - 1]), self.node.ty(&result));
                    if join(from, to).is_none() {
                        let message = format!(
                            "position {int} is {from}, but {} is {to}",
                            self.word_name(result.var, index(&result))
                        );
                        return self.elab.error(perm.loc, message, "a perm moves whole words");
                    }
                    list.push(at - 1);
                }
                _ => {
                    return self.elab.error(
                        perm.loc,
                        format!("position {int} is not between 1 and {n_in}"),
                        "positions count from 1",
                    );
                }
            }
        }
        Some(Body::Perm(list))
    }

    fn table(&mut self, def: &Def, list: &IntList) -> Option<Table> {
        let bits = |vars: &[VarId]| -> Option<u32> {
            vars.iter()
                .map(|v| self.node.vars[v.idx()].ty.m.checked_mul(self.node.vars[v.idx()].len))
                .sum()
        };
        let (words_in, words_out) =
            (self.n_words(&self.node.params), self.n_words(&self.node.results));
        let (bits_in, bits_out) = (
            bits(&self.node.params).unwrap_or(u32::MAX),
            bits(&self.node.results).unwrap_or(u32::MAX),
        );
        let n = list.ints.len();
        let fits = |bits: u32| bits <= TABLE_BITS_MAX && n == 1usize << bits;
        if words_in == 0 {
            return self.elab.error(
                def.name.loc,
                format!("table `{}` has no inputs", def.name.name),
                "declare the bits that it looks up",
            );
        }
        let (n_inputs, n_outputs) = if fits(words_in) {
            self.one_word_size(def)?;
            (words_in, words_out)
        } else if fits(bits_in) && bits_out <= 64 {
            (bits_in, bits_out)
        } else if words_in > TABLE_BITS_MAX {
            let message = format!(
                "a table has at most {TABLE_BITS_MAX} input bits, `{}` has {words_in}",
                def.name.name
            );
            return self.elab.error(def.name.loc, message, "too many inputs");
        } else {
            let message = format!(
                "a table of {} has {} entries, this one has {n}",
                super::count(words_in.into(), "input"),
                1usize << words_in
            );
            let label = if n < 1 << words_in { "entries are missing" } else { "too many entries" };
            if bits_in > words_in && bits_in <= TABLE_BITS_MAX {
                let inputs = if n > 1 && n.is_power_of_two() { n.ilog2() } else { bits_in };
                let help = format!(
                    "a word is one input, at each of its bit positions; declare `b{inputs}` for bits, or `v{inputs}` for words"
                );
                return self.elab.error_help(list.loc, message, label, help);
            }
            return self.elab.error(list.loc, message, label);
        };
        if n_outputs > 64 {
            return self.elab.error(
                def.name.loc,
                format!("a table has at most 64 outputs, `{}` has {n_outputs}", def.name.name),
                "too many outputs",
            );
        }
        let mut entries = Vec::new();
        for int in &list.ints {
            match u64::try_from(int) {
                Ok(entry) if n_outputs == 64 || entry >> n_outputs == 0 => entries.push(entry),
                _ => {
                    return self.elab.error(
                        list.loc,
                        format!("entry {int} does not fit in {n_outputs} bits"),
                        "too large",
                    );
                }
            }
        }
        let lsb_first = self.table_order(def, list, &entries);
        Some(Table { entries: entries.into(), n_inputs, n_outputs, lsb_first })
    }

    /// A table that works on each bit by itself has words of one type.
    fn one_word_size(&mut self, def: &Def) -> Option<()> {
        let tys: Vec<Ty> = self
            .node
            .params
            .iter()
            .chain(&self.node.results)
            .map(|v| self.node.vars[v.idx()].ty)
            .collect();
        match tys.iter().find(|ty| join(tys[0], **ty).is_none()) {
            None => Some(()),
            Some(other) => {
                let message = format!(
                    "the words of table `{}` have two types, {} and {other}",
                    def.name.name, tys[0]
                );
                self.elab.error(
                    def.name.loc,
                    message,
                    "it looks up each bit position by itself, so they must be alike",
                )
            }
        }
    }

    /// Whether the first input is the least significant bit: what the attribute says, else the
    /// rule (it is not), else the exception for the lists that the original compiler replaced.
    fn table_order(&mut self, def: &Def, list: &IntList, entries: &[u64]) -> bool {
        if def.attrs.contains(&Attr::LsbFirst) {
            return true;
        }
        if def.attrs.contains(&Attr::MsbFirst) {
            return false;
        }
        let Some(name) = circuit::legacy_lsb_first(entries) else { return false };
        let message = format!(
            "table `{}` is {name}'s S-box, so its first bit is read as the least significant",
            def.name.name
        );
        if self.elab.seen.insert((list.loc, message.clone())) {
            let mut warning = self.elab.ast.sources.error(
                list.loc,
                message,
                "the original compiler reads this list so",
            );
            warning.help = Some(
                "write `_lsb_first table` to say so, or `_msb_first table` for the general rule"
                    .into(),
            );
            self.elab.warnings.push(warning);
        }
        true
    }

    fn eqn(&mut self, eqn: &Eqn) {
        match eqn {
            Eqn::Assign(assign) => {
                self.assign(assign);
            }
            Eqn::Forall(forall) => {
                self.forall(forall);
            }
        }
    }

    pub fn eqns(&mut self, eqns: &[Eqn]) {
        eqns.iter().for_each(|eqn| self.eqn(eqn));
    }

    /// Marks a word as defined, or reports the second definition.
    pub fn define(&mut self, place: &Ref, loc: Loc, var: usize, element: usize) -> Option<()> {
        let Some(first) = self.defined.insert((place.var, index(place)), loc) else {
            return Some(());
        };
        let name = self.word_name(self.vars[var].base, element);
        let is_param =
            self.node.params.contains(&self.vars[var].base) && self.vars[var].chain.is_none();
        let what = if is_param {
            "is a parameter and cannot be defined again"
        } else {
            "is defined twice"
        };
        if self.elab.seen.insert((loc, what.into())) {
            let mut error =
                self.elab.ast.sources.error(loc, format!("{name} {what}"), "again here");
            error.spans.push((self.elab.ast.sources.span(first), "first here".into()));
            error.help = Some("`:=` gives a variable a new value".into());
            self.elab.errors.push(error);
        }
        None
    }
}

/// The constant index of a place; loops are written out, so all are.
pub(super) fn index(place: &Ref) -> usize {
    place.index.constant().expect("loops are written out while a node is elaborated")
}

fn imperative_names(eqs: &[Eqn], names: &mut HashSet<Rc<str>>) {
    for eqn in eqs {
        match eqn {
            Eqn::Assign(Assign { imperative: true, pat, .. }) => {
                names.extend(pat.iter().map(|a| a.name.name.clone()))
            }
            Eqn::Assign(_) => {}
            Eqn::Forall(forall) => imperative_names(&forall.eqs, names),
        }
    }
}
