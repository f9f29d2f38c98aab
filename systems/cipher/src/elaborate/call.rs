//! Calls: arguments are matched with parameters word by word, sizes and directions follow from
//! them.

use std::collections::{BTreeMap, VecDeque};

use crate::ir::{Call, Dir, RIGID, Ref, Stmt, Ty};
use crate::syntax::Loc;
use crate::syntax::ast::{self, AExpr, Def, Expr, Ident, Size, Type};

use super::Instance;
use super::node::Builder;
use super::types::{Atom, describe, join};

impl Builder<'_, '_> {
    pub fn call(
        &mut self,
        name: &Ident,
        index: Option<&AExpr>,
        args: &[Expr],
        expected: Option<&[Ty]>,
        loc: Loc,
    ) -> Option<Vec<Atom>> {
        let Some(def_idx) = self.elab.by_name.get(&name.name).copied() else {
            return self.built_in(name, args, expected);
        };
        let ast = self.elab.ast;
        let def: &Def = &ast.defs[def_idx];
        if def_idx >= self.instance.def {
            let why = "a node must be defined before it is used";
            if def_idx == self.instance.def {
                return self.elab.error_help(
                    name.loc,
                    format!("`{}` calls itself", name.name),
                    why,
                    "repeat equations with `forall`",
                );
            }
            return self.elab.error_help(
                name.loc,
                format!("`{}` is defined below its use", name.name),
                why,
                "move the definition up",
            );
        }
        let element = self.element(def, name, index)?;
        let mut instance = Instance {
            def: def_idx,
            element,
            nats: vec![],
            sizes: BTreeMap::new(),
            dirs: BTreeMap::new(),
        };
        let values = self.match_args(def, &mut instance, args, loc)?;
        self.close(def, &mut instance, expected);
        let callee = self.elab.request(instance.clone());
        let mut dsts = Vec::new();
        let mut results = Vec::new();
        for decl in &def.returns {
            let ty = instance.word_ty(&decl.ty);
            for _ in 0..decl.ty.n_atoms() {
                self.elab.spend(1, 0, loc)?;
                let temp = self.node.var("t", 1, ty);
                self.defined.insert((temp, 0), loc);
                self.fresh.insert(temp, self.stmts.len());
                dsts.push(Ref::at(temp, 0));
                results.push(Atom { op: Ref::at(temp, 0).into(), ty });
            }
        }
        let arg_bits = def.params.iter().filter(|p| p.ty != Type::Nat);
        let arg_bits = arg_bits
            .flat_map(|p| std::iter::repeat_n(instance.word_ty(&p.ty).m, p.ty.n_atoms() as usize))
            .collect();
        let args = values.into_iter().map(|v| v.op).collect();
        self.stmts.push(Stmt::Call(Call { node: callee, dsts, args, arg_bits, loc: self.loc }));
        Some(results)
    }

    fn element(&mut self, def: &Def, name: &Ident, index: Option<&AExpr>) -> Option<usize> {
        match (def.is_array, index) {
            (false, None) => Some(0),
            (true, Some(index)) => {
                let n = super::n_elements(def);
                let at = self.number(index)?;
                if !(0..n as i64).contains(&at) {
                    let message =
                        format!("`{}` has {n} elements, 0 to {}, not {at}", name.name, n - 1);
                    return self.elab.error(index.loc, message, "here");
                }
                Some(at as usize)
            }
            (true, None) => self.elab.error_help(
                name.loc,
                format!("`{}` is an array of nodes", name.name),
                "which one?",
                format!("write `{}<0>(..)`", name.name),
            ),
            (false, Some(_)) => self.elab.error(
                name.loc,
                format!("`{}` is not an array of nodes", name.name),
                "call it without `<..>`",
            ),
        }
    }

    /// The argument words for the parameters, after binding numbers, sizes and directions.
    fn match_args(
        &mut self,
        def: &Def,
        instance: &mut Instance,
        args: &[Expr],
        loc: Loc,
    ) -> Option<Vec<Atom>> {
        // Words of arguments that no parameter has taken yet.
        let mut ready: VecDeque<Atom> = VecDeque::new();
        let mut args = args.iter();
        let mut all = Vec::new();
        for param in &def.params {
            if param.ty == Type::Nat {
                if !ready.is_empty() {
                    return self.elab.error(
                        loc,
                        format!(
                            "the argument before the nat parameter `{}` is too long",
                            param.name.name
                        ),
                        "in this call",
                    );
                }
                let Some(arg) = args.next() else { return self.too_few(def, loc) };
                let value = self.number_of(arg)?;
                instance.nats.push(value);
                continue;
            }
            let n = param.ty.n_atoms() as usize;
            while ready.len() < n {
                let Some(arg) = args.next() else { return self.too_few(def, loc) };
                // A size variable that no argument has fixed yet gives constants no type.
                let is_open = matches!(&param.ty, Type::Words { m: Size::Var(name), .. } if !instance.sizes.contains_key(name));
                let expected = vec![instance.word_ty(&param.ty); n - ready.len()];
                ready.extend(self.expr(arg, Some(expected.as_slice()).filter(|_| !is_open))?);
            }
            let words: Vec<Atom> = ready.drain(..n).collect();
            bind(instance, &param.ty, &words);
            let want = instance.word_ty(&param.ty);
            if words.iter().any(|w| join(w.ty, want).is_none()) {
                let have: Vec<Ty> = words.iter().map(|w| w.ty).collect();
                let message = format!(
                    "`{}` takes {} for `{}`, this is {}",
                    def.name.name,
                    describe(&vec![want; n]),
                    param.name.name,
                    describe(&have)
                );
                let mut error = self.elab.ast.sources.error(loc, message.clone(), "in this call");
                error
                    .spans
                    .push((self.elab.ast.sources.span(param.name.loc), "declared here".into()));
                if self.elab.seen.insert((loc, message)) {
                    self.elab.errors.push(error);
                }
                return None;
            }
            all.extend(words);
        }
        let left = ready.len() + args.len();
        if left > 0 {
            let message =
                format!("`{}` takes {}, this call gives more", def.name.name, wanted(def));
            return self.elab.error(loc, message, "too many arguments");
        }
        Some(all)
    }

    fn too_few<T>(&mut self, def: &Def, loc: Loc) -> Option<T> {
        let params: Vec<String> =
            def.params.iter().map(|p| format!("{}:{}", p.name.name, p.ty)).collect();
        let message = format!("`{}` takes {}, this call gives fewer", def.name.name, wanted(def));
        self.elab.error_help(
            loc,
            message,
            "too few arguments",
            format!("it is declared as {}({})", def.name.name, params.join(", ")),
        )
    }

    /// Variables that no argument fixed: from the expected result, else as in the caller.
    fn close(&mut self, def: &Def, instance: &mut Instance, expected: Option<&[Ty]>) {
        let hint = expected.and_then(|tys| tys.first()).copied();
        for ty in super::types_of(def) {
            let Type::Words { m, dir, .. } = ty else { continue };
            if let Size::Var(name) = m
                && !instance.sizes.contains_key(name)
            {
                let m =
                    self.instance.sizes.get(name).copied().or(hint.map(|t| t.m)).unwrap_or(RIGID);
                instance.sizes.insert(name.clone(), m);
            }
            if let ast::Dir::Var(name) = dir
                && !instance.dirs.contains_key(name)
            {
                let dir = self
                    .instance
                    .dirs
                    .get("D")
                    .copied()
                    .or(hint.map(|t| t.dir))
                    .unwrap_or(Dir::Any);
                instance.dirs.insert(name.clone(), dir);
            }
        }
    }

    /// Masked code has refreshes of its own, where it needs them. Said once for a program.
    fn warn_of_refresh(&mut self, loc: Loc) {
        let message = "`refresh` gives its argument as it is";
        if self.elab.warnings.iter().all(|warning| warning.message != message) {
            let mut warning =
                self.elab.ast.sources.error(loc, message, "no randomness is drawn here");
            warning.help =
                Some("only `cipher compile --masked` splits words into shares; it finds the places for new shares itself and proves them".into());
            self.elab.warnings.push(warning);
        }
    }

    fn built_in(
        &mut self,
        name: &Ident,
        args: &[Expr],
        expected: Option<&[Ty]>,
    ) -> Option<Vec<Atom>> {
        match (&*name.name, args) {
            ("refresh", [arg]) if matches!(arg.kind, ast::ExprKind::Access(_)) => {
                self.warn_of_refresh(name.loc);
                self.expr(arg, expected)
            }
            ("refresh", _) => {
                self.elab.error(name.loc, "refresh takes one variable", "in this call")
            }
            ("rand" | "print", _) => {
                let message = format!("`{}` has no meaning in a compiled cipher", name.name);
                self.elab.error_help(
                    name.loc,
                    message,
                    "here",
                    "pass random words as a parameter; use `meanwhile cipher run` to see values",
                )
            }
            _ => {
                let help = {
                    let mut known: Vec<&str> = self.elab.by_name.keys().map(|k| &**k).collect();
                    known.sort_unstable();
                    report::did_you_mean(&name.name, known)
                };
                let help =
                    help.unwrap_or_else(|| "define it above, or include the file that does".into());
                self.elab.error_help(
                    name.loc,
                    format!("unknown node `{}`", name.name),
                    "not defined",
                    help,
                )
            }
        }
    }
}

/// `3 words`, `1 word and 1 number`.
fn wanted(def: &Def) -> String {
    let words = super::count(def.params.iter().map(|p| p.ty.n_atoms()).sum(), "word");
    match def.params.iter().filter(|p| p.ty == Type::Nat).count() {
        0 => words,
        n => format!("{words} and {}", super::count(n as u64, "number")),
    }
}

fn bind(instance: &mut Instance, ty: &Type, words: &[Atom]) {
    let (Type::Words { m, dir, .. }, Some(first)) = (ty, words.first()) else { return };
    if let Size::Var(name) = m {
        instance.sizes.entry(name.clone()).or_insert(first.ty.m);
    }
    if let ast::Dir::Var(name) = dir {
        instance.dirs.entry(name.clone()).or_insert(first.ty.dir);
    }
}
