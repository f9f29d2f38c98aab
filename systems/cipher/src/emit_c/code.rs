//! Nodes as C functions.

use std::collections::HashMap;
use std::fmt::Write;

use crate::ir::{Body, Call, Eq, Index, Node, NodeId, Operand, Program, Ref, Stmt, VarId};
use crate::syntax::Loc;

use super::arch::Shape;
use super::shares::{self, MaskedOperand};
use super::{ASSEMBLY, EmitOptions};

/// A function with at most this many words of parameters takes each by value.
const BY_VALUE_MAX: usize = 8;

/// Prints the functions of a program.
pub struct Code<'a> {
    program: &'a Program,
    shape: Shape,
    options: EmitOptions,
    /// The type of a value: a register, or the shares of one.
    value: &'static str,
    names: Vec<String>,
    assembled: Vec<bool>,
    out: String,
    last_line: Loc,
}

/// How a variable is written in C.
enum CPlace {
    Scalar,
    /// An element of an array, or through a pointer.
    Array,
}

impl<'a> Code<'a> {
    /// A printer of a program; `assembled` nodes get prototypes, and C functions too if the
    /// options ask for both.
    pub fn new(
        program: &'a Program,
        shape: Shape,
        options: EmitOptions,
        assembled: &[(NodeId, String)],
    ) -> Self {
        let mut taken = std::collections::HashSet::new();
        let mut names = Vec::new();
        for node in &program.nodes {
            let base = format!("{}_", identifier(&node.name));
            let mut name = base.clone();
            let mut n = 2;
            while !taken.insert(name.clone()) {
                name = format!("{base}{n}_");
                n += 1;
            }
            names.push(name);
        }
        let mut is_assembled = vec![false; names.len()];
        for (id, name) in assembled {
            names[id.idx()] = name.clone();
            is_assembled[id.idx()] = true;
        }
        Code {
            program,
            shape,
            options,
            value: if options.is_masked { shares::SHARED } else { "reg" },
            names,
            assembled: is_assembled,
            out: String::new(),
            last_line: Loc::default(),
        }
    }

    /// Every function, callees first.
    pub fn functions(mut self) -> (String, Vec<String>) {
        for idx in 0..self.program.nodes.len() {
            let node = &self.program.nodes[idx];
            if let Body::Stmts(stmts) = &node.body {
                self.function(NodeId(idx as u32), node, stmts);
            }
        }
        (self.out, self.names)
    }

    fn function(&mut self, id: NodeId, node: &Node, stmts: &[Stmt]) {
        let by_value = self.takes_values(id);
        let value = self.value;
        let mut params: Vec<String> = Vec::new();
        if self.options.is_masked {
            params.push(shares::POOL_PARAM.into());
        }
        for var in &node.params {
            let name = var_name(node, *var);
            if by_value {
                params
                    .extend((0..node.vars[var.idx()].len).map(|i| format!("{value} {name}_w{i}")));
            } else {
                params.push(format!("const {value} *restrict {name}"));
            }
        }
        params.extend(
            node.results.iter().map(|var| format!("{value} *restrict {}", var_name(node, *var))),
        );
        if self.assembled[id.idx()] {
            let hidden = "__attribute__((visibility(\"hidden\")))";
            let prototype =
                format!("extern {hidden} void {}({});", self.names[id.idx()], params.join(", "));
            if !self.options.with_both {
                let _ = writeln!(self.out, "\n/* In the assembly file. */\n{prototype}");
                return;
            }
            let _ = writeln!(
                self.out,
                "\n#ifdef {ASSEMBLY}\n/* In the assembly file. */\n{prototype}\n#else"
            );
        }
        let inline = if self.program.entries.contains(&id) { "static" } else { "static inline" };
        let _ = writeln!(
            self.out,
            "\n{inline} void {}({})\n{{",
            self.names[id.idx()],
            params.join(", ")
        );
        let mut body = CFunction { code: self, node, by_value, calls: 0, depth: 1 };
        body.arrays(stmts);
        body.stmts(stmts);
        self.out += if self.assembled[id.idx()] { "}\n#endif\n" } else { "}\n" };
    }

    fn takes_values(&self, id: NodeId) -> bool {
        let node = &self.program.nodes[id.idx()];
        let words: usize = node.params.iter().map(|v| node.vars[v.idx()].len as usize).sum();
        let Body::Stmts(stmts) = &node.body else { return false };
        !self.program.entries.contains(&id) && words <= BY_VALUE_MAX && !indexes_params(node, stmts)
    }
}

/// A loop indexes a parameter, so it must be an array.
fn indexes_params(node: &Node, stmts: &[Stmt]) -> bool {
    let found = std::cell::Cell::new(false);
    let mut read = |operand: &Operand| {
        if let Operand::Ref(place) = operand
            && place.index.constant().is_none()
            && node.params.contains(&place.var)
        {
            found.set(true);
        }
    };
    crate::ir::visit::places(stmts, &mut read, &mut |_| {});
    found.get()
}

struct CFunction<'c, 'a> {
    code: &'c mut Code<'a>,
    node: &'c Node,
    by_value: bool,
    calls: u32,
    depth: usize,
}

impl CFunction<'_, '_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.code.out, "{:width$}{text}", "", width = 4 * self.depth);
    }

    fn place_kind(&self, var: VarId) -> CPlace {
        let is_interface = self.node.params.contains(&var) || self.node.results.contains(&var);
        if is_interface || self.node.vars[var.idx()].len > 1 {
            CPlace::Array
        } else {
            CPlace::Scalar
        }
    }

    fn place(&self, place: &Ref) -> String {
        let name = var_name(self.node, place.var);
        match self.place_kind(place.var) {
            CPlace::Scalar => name,
            CPlace::Array if self.by_value && self.node.params.contains(&place.var) => {
                format!("{name}_w{}", place.index.base())
            }
            CPlace::Array => format!("{name}[{}]", index(&place.index)),
        }
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Ref(place) => self.place(place),
            Operand::Const(value) if self.code.options.is_masked => {
                shares::public(&self.code.shape.constant(*value))
            }
            Operand::Const(value) => self.code.shape.constant(*value),
        }
    }

    /// Declares the local arrays.
    fn arrays(&mut self, stmts: &[Stmt]) {
        let mut used: Vec<VarId> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut note = |place: &Ref| {
            if seen.insert(place.var) {
                used.push(place.var);
            }
        };
        crate::ir::visit::places(stmts, &mut |_| {}, &mut note);
        used.sort_unstable();
        for var in used {
            if !self.node.results.contains(&var) && self.node.vars[var.idx()].len > 1 {
                let (name, len) = (var_name(self.node, var), self.node.vars[var.idx()].len);
                let text = format!("{} {name}[{len}];", self.code.value);
                self.line(&text);
            }
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    self.source_line(eq.loc);
                    let value = self.value_of(eq);
                    self.define(&eq.dst, &value);
                }
                Stmt::Call(call) => self.call(call),
                Stmt::Loop(it) => {
                    for carried in &it.carried {
                        let init = self.operand(&carried.init);
                        self.define(&Ref::at(carried.var, 0), &init);
                    }
                    let i = format!("i{}", it.id.0);
                    self.line(&format!("for (int {i} = 0; {i} < {}; {i}++) {{", it.n));
                    self.depth += 1;
                    self.stmts(&it.body);
                    self.advance_carried(it);
                    self.depth -= 1;
                    self.line("}");
                }
                Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
            }
        }
    }

    /// What an equation computes.
    fn value_of(&self, eq: &Eq) -> String {
        let shape = self.code.shape;
        if !self.code.options.is_masked {
            let args: Vec<String> = eq.args.iter().map(|a| self.operand(a)).collect();
            return shape.expr(&eq.op, &args);
        }
        let args: Vec<MaskedOperand> = eq
            .args
            .iter()
            .map(|arg| match arg {
                Operand::Ref(place) => MaskedOperand::Shares(self.place(place)),
                Operand::Const(value) => MaskedOperand::Public(*value),
            })
            .collect();
        shape.masked(&eq.op, &args)
    }

    /// Gives the carried variables their next values, all at once.
    fn advance_carried(&mut self, it: &crate::ir::Loop) {
        let is_carried = |operand: &Operand| matches!(operand, Operand::Ref(place) if it.carried.iter().any(|c| c.var == place.var));
        let mut late = HashMap::new();
        for carried in it.carried.iter().filter(|c| is_carried(&c.next)) {
            let name = format!("next_{}", carried.var.0);
            let text = format!("{} {name} = {};", self.code.value, self.operand(&carried.next));
            self.line(&text);
            late.insert(carried.var, name);
        }
        for carried in &it.carried {
            let next =
                late.get(&carried.var).cloned().unwrap_or_else(|| self.operand(&carried.next));
            let text = format!("{} = {next};", var_name(self.node, carried.var));
            self.line(&text);
        }
    }

    fn define(&mut self, dst: &Ref, value: &str) {
        let is_new = matches!(self.place_kind(dst.var), CPlace::Scalar);
        let declare = if is_new { format!("{} ", self.code.value) } else { String::new() };
        let text = format!("{declare}{} = {value};", self.place(dst));
        self.line(&text);
    }

    fn call(&mut self, call: &Call) {
        self.source_line(call.loc);
        let callee = &self.code.program.nodes[call.node.idx()];
        let by_value = self.code.takes_values(call.node);
        let k = self.calls;
        self.calls += 1;
        let mut values: Vec<String> = Vec::new();
        if self.code.options.is_masked {
            values.push(shares::POOL.into());
        }
        let mut args = call.args.iter();
        for (p, param) in callee.params.iter().enumerate() {
            let words: Vec<&Operand> =
                args.by_ref().take(callee.vars[param.idx()].len as usize).collect();
            if by_value {
                values.extend(words.iter().map(|w| self.operand(w)));
            } else if let Some(start) = self.contiguous(&words) {
                values.push(start);
            } else {
                let list: Vec<String> = words.iter().map(|w| self.operand(w)).collect();
                self.line(&format!(
                    "const {} arg{k}_{p}[{}] = {{ {} }};",
                    self.code.value,
                    list.len(),
                    list.join(", ")
                ));
                values.push(format!("arg{k}_{p}"));
            }
        }
        let mut copies = Vec::new();
        let mut dsts = call.dsts.iter();
        for (r, result) in callee.results.iter().enumerate() {
            let n = callee.vars[result.idx()].len as usize;
            let places: Vec<&Ref> = dsts.by_ref().take(n).collect();
            self.line(&format!("{} res{k}_{r}[{n}];", self.code.value));
            copies.extend(
                places
                    .iter()
                    .enumerate()
                    .map(|(i, place)| ((*place).clone(), format!("res{k}_{r}[{i}]"))),
            );
            values.push(format!("res{k}_{r}"));
        }
        let text = format!("{}({});", self.code.names[call.node.idx()], values.join(", "));
        self.line(&text);
        for (place, value) in copies {
            self.define(&place, &value);
        }
    }

    /// A pointer to words that are adjacent in an array already.
    fn contiguous(&self, words: &[&Operand]) -> Option<String> {
        let Operand::Ref(first) = words.first()? else { return None };
        if self.by_value || !matches!(self.place_kind(first.var), CPlace::Array) {
            return None;
        }
        let in_row = words
            .iter()
            .enumerate()
            .all(|(i, w)| matches!(w, Operand::Ref(place) if place.var == first.var && place.index == first.index.scaled(1, i as i64)));
        in_row.then(|| format!("&{}", self.place(first)))
    }

    fn source_line(&mut self, loc: Loc) {
        if self.code.options.with_lines && loc != self.code.last_line && loc.end > loc.start {
            let (file, line) = self.code.program.sources.line(loc);
            let text =
                format!("#line {line} \"{}\"\n", file.replace('\\', "\\\\").replace('"', "\\\""));
            self.code.out += &text;
            self.code.last_line = loc;
        }
    }
}

fn var_name(node: &Node, var: VarId) -> String {
    format!("{}_{}", identifier(&node.vars[var.idx()].name), var.0)
}

/// A C identifier, which needs a number to be unique.
pub fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn index(index: &Index) -> String {
    let mut text: Vec<String> = index
        .terms
        .iter()
        .map(|(id, k)| match k {
            1 => format!("i{}", id.0),
            k => format!("{k} * i{}", id.0),
        })
        .collect();
    if index.base() != 0 || text.is_empty() {
        text.push(index.base().to_string());
    }
    text.join(" + ")
}
