//! Tokens to the syntax tree by recursive descent; goes on after an error at the next equation or
//! definition.

use std::rc::Rc;

use num_bigint::BigUint;
use report::Diagnostic;

use super::ast::{
    AExpr, AExprKind, Access, ArithOp, Assign, Attr, Body, Decl, Def, DefBody, Eqn, Expr, ExprKind,
    Forall, Ident, Index, IntList,
};
use super::cells::rewritten_cells;
use super::lexer::Token;
use super::operators::{SHIFT, binary, level, shift_op, static_op};
use super::source::{Loc, Sources};

/// Deepest nesting of expressions, loops and brackets.
pub(super) const DEPTH_MAX: usize = 200;
/// Errors after which parsing stops.
const ERRORS_MAX: usize = 20;

const KEYWORDS: [&str; 22] = [
    "node",
    "returns",
    "vars",
    "let",
    "tel",
    "perm",
    "table",
    "forall",
    "in",
    "Shuffle",
    "Bitmask",
    "Pack",
    "const",
    "lazyLift",
    "include",
    "nat",
    "_inline",
    "_no_inline",
    "_unroll",
    "_no_unroll",
    "_interleave",
    "_no_opt",
];

/// The most remarks in a file.
const WARNINGS_MAX: usize = 20;

/// An item at the top level of a file.
pub enum Item {
    Def(Rc<Def>),
    Include {
        /// The file, as written.
        name: String,
        loc: Loc,
    },
}

/// The message is already among the errors.
pub(super) struct Failed;
pub(super) type Parsed<T> = Result<T, Failed>;

/// The items of a file; adds errors to `errors`, remarks on text that is easy to misread to
/// `warnings`.
pub fn parse_items(
    tokens: Vec<(Token, Loc)>,
    sources: &Sources,
    errors: &mut Vec<Diagnostic>,
    warnings: &mut Vec<Diagnostic>,
) -> Vec<Item> {
    let mut parser = Parser { tokens, at: 0, sources, errors, warnings, depth: 0, height: 0 };
    let mut items = Vec::new();
    while *parser.peek() != Token::End {
        match parser.item() {
            Ok(item) => items.push(item),
            Err(Failed) if parser.errors.len() >= ERRORS_MAX => break,
            Err(Failed) => parser.skip_to_definition(),
        }
    }
    items
}

pub(super) struct Parser<'a> {
    tokens: Vec<(Token, Loc)>,
    at: usize,
    pub(super) sources: &'a Sources,
    errors: &'a mut Vec<Diagnostic>,
    pub(super) warnings: &'a mut Vec<Diagnostic>,
    depth: usize,
    /// Height of the expression that was parsed last.
    pub(super) height: usize,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn peek_after(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)].0
    }

    pub(super) fn loc(&self) -> Loc {
        self.tokens[self.at].1
    }

    pub(super) fn last_loc(&self) -> Loc {
        self.tokens[self.at.saturating_sub(1)].1
    }

    pub(super) fn since(&self, start: Loc) -> Loc {
        start.to(self.last_loc())
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn is_punct(&self, punct: &str) -> bool {
        matches!(self.peek(), Token::Punct(p) if *p == punct)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if &**w == word)
    }

    pub(super) fn eat_punct(&mut self, punct: &str) -> bool {
        let found = self.is_punct(punct);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn fail<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(w) => format!("`{w}`"),
            Token::Quoted(w) => format!("`'{w}`"),
            Token::Int(i) => format!("`{i}`"),
            Token::Str(_) => "a string".into(),
            Token::Punct(p) => format!("`{p}`"),
            Token::End => "the end of the file".into(),
        };
        self.fail_at(self.loc(), format!("expected {expected}, found {found}"), "here")
    }

    pub(super) fn fail_at<T>(&mut self, loc: Loc, message: String, label: &str) -> Parsed<T> {
        self.errors.push(self.sources.error(loc, message, label));
        Err(Failed)
    }

    pub(super) fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat_punct(punct) { Ok(()) } else { self.fail(&format!("`{punct}`")) }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.fail(&format!("`{word}`")) }
    }

    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            return self.fail_at(
                self.loc(),
                format!("nested more than {DEPTH_MAX} deep"),
                "split the equation with a variable",
            );
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn ident(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek() {
            Token::Word(w) if !KEYWORDS.contains(&&**w) => {
                let (name, loc) = (w.clone(), self.loc());
                self.next();
                Ok(Ident { name, loc })
            }
            Token::Word(w) => {
                let message = format!("expected {what}, found the keyword `{w}`");
                let loc = self.loc();
                // No definition begins here.
                if self.is_word("table") || self.is_word("perm") {
                    self.next();
                }
                self.fail_at(loc, message, "a keyword cannot be a name")
            }
            _ => self.fail(what),
        }
    }

    fn skip_to_definition(&mut self) {
        loop {
            match self.peek() {
                Token::End => return,
                Token::Word(w) if matches!(&**w, "node" | "perm" | "table" | "include") => return,
                _ => {
                    self.next();
                }
            }
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.loc();
        if self.eat_word("include") {
            let Token::Str(name) = self.peek().clone() else {
                return self.fail("the file's name in double quotes");
            };
            self.next();
            return Ok(Item::Include { name, loc: self.since(start) });
        }
        self.def().map(|def| Item::Def(Rc::new(def)))
    }

    fn def(&mut self) -> Parsed<Def> {
        let mut attrs = Vec::new();
        while let Some(attr) = self.attr()? {
            attrs.push(attr);
        }
        let kind = match self.peek() {
            Token::Word(w) if matches!(&**w, "node" | "perm" | "table") => w.clone(),
            _ => return self.fail("`node`, `table`, `perm` or `include`"),
        };
        self.next();
        let is_array = self.is_punct("[");
        if is_array {
            self.next();
            self.expect("]")?;
        }
        let name = self.ident("the definition's name")?;
        let params = self.decl_list()?;
        self.expect_word("returns")?;
        let returns = self.decl_list()?;
        let body = match &*kind {
            "node" => DefBody::Nodes(self.bodies(is_array, Self::body)?),
            "perm" => DefBody::Perms(self.bodies(is_array, Self::int_list)?),
            _ => DefBody::Tables(self.bodies(is_array, Self::int_list)?),
        };
        Ok(Def { name, attrs, params, returns, body, is_array })
    }

    fn attr(&mut self) -> Parsed<Option<Attr>> {
        let Token::Word(word) = self.peek().clone() else { return Ok(None) };
        let attr = match &*word {
            "_inline" => Attr::Inline,
            "_no_inline" => Attr::NoInline,
            "_no_opt" => Attr::NoOpt,
            "_msb_first" => Attr::MsbFirst,
            "_lsb_first" => Attr::LsbFirst,
            "_interleave" => {
                self.next();
                self.expect("(")?;
                let (factor, _) = self.small_int()?;
                self.expect(")")?;
                return Ok(Some(Attr::Interleave(factor)));
            }
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(attr))
    }

    fn decl_list(&mut self) -> Parsed<Vec<Decl>> {
        self.expect("(")?;
        let decls = if self.is_punct(")") { Vec::new() } else { self.decls()? };
        self.expect(")")?;
        Ok(decls)
    }

    /// `a, b : u32, c : b8`, at least one name.
    fn decls(&mut self) -> Parsed<Vec<Decl>> {
        let mut decls = Vec::new();
        loop {
            let mut names = vec![self.ident("a variable's name")?];
            while self.eat_punct(",") {
                names.push(self.ident("a variable's name")?);
            }
            self.expect(":")?;
            let mut is_const = false;
            while self.is_word("const") || self.is_word("lazyLift") {
                is_const |= self.is_word("const");
                self.next();
            }
            let ty = self.ty()?;
            decls.extend(names.into_iter().map(|name| Decl { name, ty: ty.clone(), is_const }));
            if !self.eat_punct(",") {
                return Ok(decls);
            }
        }
    }

    fn bodies<T>(
        &mut self,
        is_array: bool,
        one: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        if !is_array {
            return Ok(vec![one(self)?]);
        }
        self.expect("[")?;
        let mut all = vec![one(self)?];
        while self.eat_punct(";") {
            if self.is_punct("]") {
                break;
            }
            all.push(one(self)?);
        }
        self.expect("]")?;
        Ok(all)
    }

    fn int_list(&mut self) -> Parsed<IntList> {
        let start = self.loc();
        self.expect("{")?;
        let mut ints = vec![self.int()?.0];
        while self.eat_punct(",") {
            ints.push(self.int()?.0);
        }
        self.expect("}")?;
        Ok(IntList { ints, loc: self.since(start) })
    }

    fn int(&mut self) -> Parsed<(BigUint, Loc)> {
        let Token::Int(int) = self.peek().clone() else { return self.fail("a number") };
        let loc = self.loc();
        self.next();
        Ok((int, loc))
    }

    pub(super) fn small_int(&mut self) -> Parsed<(i64, Loc)> {
        let (int, loc) = self.int()?;
        match i64::try_from(&int) {
            Ok(int) => Ok((int, loc)),
            Err(_) => self.fail_at(loc, format!("`{int}` is too large here"), "at most 63 bits"),
        }
    }

    fn body(&mut self) -> Parsed<Body> {
        let start = self.loc();
        let n_errors = self.errors.len();
        let mut vars = Vec::new();
        if self.eat_word("vars") && !self.is_word("let") {
            vars = self.decls()?;
            self.eat_punct(";");
        }
        self.expect_word("let")?;
        let mut eqs = self.eqs("tel")?;
        rewritten_cells(&mut eqs);
        if !self.eat_word("tel") {
            return self.fail("`;` and another equation, or `tel`");
        }
        if eqs.is_empty() && self.errors.len() > n_errors {
            return Err(Failed);
        }
        if eqs.is_empty() {
            return self.fail_at(
                self.since(start),
                "a node needs at least one equation".into(),
                "nothing between `let` and `tel`",
            );
        }
        Ok(Body { vars, eqs, loc: self.since(start) })
    }

    /// Equations up to `end`, which is not consumed. After a bad equation parsing goes on
    /// at the next `;`.
    fn eqs(&mut self, end: &str) -> Parsed<Vec<Eqn>> {
        let mut eqs = Vec::new();
        loop {
            while self.eat_punct(";") {}
            if self.at_end_of_eqs(end) {
                return Ok(eqs);
            }
            let is_loop = self.starts_loop();
            match self.eq() {
                Ok(eq) => eqs.push(eq),
                Err(Failed) if self.errors.len() >= ERRORS_MAX => return Err(Failed),
                Err(Failed) => {
                    self.skip_to_separator();
                    continue;
                }
            }
            if !is_loop && !self.is_punct(";") && !self.at_end_of_eqs(end) {
                let loc = self.loc();
                let previous = self.last_loc();
                self.errors.push(self.sources.error(
                    Loc { start: previous.end.saturating_sub(1), ..previous },
                    "expected `;` between two equations",
                    "after this",
                ));
                if self.errors.len() >= ERRORS_MAX || loc == previous {
                    return Err(Failed);
                }
                if !matches!(self.peek(), Token::Word(_) | Token::Punct("(")) {
                    self.skip_to_separator();
                }
            }
        }
    }

    fn at_end_of_eqs(&self, end: &str) -> bool {
        *self.peek() == Token::End
            || self.is_word(end)
            || self.is_punct(end)
            || self.is_word("tel")
            || self.is_word("node")
    }

    fn starts_loop(&self) -> bool {
        ["forall", "_unroll", "_no_unroll", "_pipelined"].iter().any(|w| self.is_word(w))
    }

    fn skip_to_separator(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Punct(";") if depth == 0 => return,
                Token::Punct("{") => depth += 1,
                Token::Punct("}") if depth == 0 => return,
                Token::Punct("}") => depth -= 1,
                Token::Word(w) if matches!(&**w, "tel" | "node" | "table" | "perm") => return,
                _ => {}
            }
            self.next();
        }
    }

    fn eq(&mut self) -> Parsed<Eqn> {
        if self.starts_loop() {
            return self.nested(Self::forall).map(Eqn::Forall);
        }
        self.no_conditional()?;
        let start = self.loc();
        let pat = if self.eat_punct("(") {
            let mut pat = vec![self.access()?];
            while self.eat_punct(",") {
                pat.push(self.access()?);
            }
            self.expect(")")?;
            pat
        } else {
            vec![self.access()?]
        };
        let op_loc = self.loc();
        let op = match self.peek() {
            Token::Punct(p) if matches!(*p, "&" | "|" | "^" | "+" | "*" | "-" | "/" | "%") => {
                Some(*p)
            }
            _ => None,
        };
        if op.is_some() {
            self.next();
        }
        let colon = self.eat_punct(":");
        self.expect("=")?;
        let mut expr = self.expr()?;
        if let Some(op) = op {
            let read = match pat.as_slice() {
                [one] => Expr { kind: ExprKind::Access(one.clone()), loc: one.loc },
                many => {
                    let all = many
                        .iter()
                        .map(|a| Expr { kind: ExprKind::Access(a.clone()), loc: a.loc })
                        .collect();
                    Expr { kind: ExprKind::Tuple(all), loc: op_loc }
                }
            };
            expr = binary(op, read, expr);
        }
        Ok(Eqn::Assign(Assign {
            pat,
            imperative: colon || op.is_some(),
            expr,
            loc: self.since(start),
        }))
    }

    /// Refuses `if` before a name or a parenthesis, a conditional in other languages.
    fn no_conditional(&mut self) -> Parsed<()> {
        if !self.is_word("if")
            || !matches!(self.peek_after(1), Token::Word(_) | Token::Punct("(" | "~" | "!"))
        {
            return Ok(());
        }
        let mut error = self.sources.error(
            self.loc(),
            "Usuba has no conditionals",
            "time must not depend on data",
        );
        error.help = Some(
            "compute both values and choose by a mask `m` of ones or zeros: (m & a) | (~m & b)"
                .into(),
        );
        self.errors.push(error);
        Err(Failed)
    }

    fn forall(&mut self) -> Parsed<Forall> {
        let start = self.loc();
        let mut unroll = None;
        loop {
            if self.eat_word("_unroll") {
                unroll = Some(true);
            } else if self.eat_word("_no_unroll") {
                unroll = Some(false);
            } else if !self.eat_word("_pipelined") {
                break;
            }
        }
        self.expect_word("forall")?;
        let index = self.ident("the loop index")?;
        self.expect_word("in")?;
        self.expect("[")?;
        let first = self.aexpr()?;
        self.expect(",")?;
        let last = self.aexpr()?;
        self.expect("]")?;
        let head = self.since(start);
        let n_errors = self.errors.len();
        self.expect("{")?;
        let eqs = self.eqs("}")?;
        self.expect("}")?;
        if eqs.is_empty() && self.errors.len() > n_errors {
            return Err(Failed);
        }
        if eqs.is_empty() {
            return self.fail_at(
                head,
                "a loop needs at least one equation".into(),
                "nothing between `{` and `}`",
            );
        }
        Ok(Forall { index, first, last, unroll, eqs, loc: head })
    }

    fn access(&mut self) -> Parsed<Access> {
        let name = self.ident("a variable")?;
        let start = name.loc;
        let mut indices = Vec::new();
        while self.eat_punct("[") {
            let first = self.aexpr()?;
            if self.eat_punct("..") {
                let last = self.aexpr()?;
                indices.push(Index::Range(first, last));
            } else if self.is_punct(",") {
                let mut all = vec![first];
                while self.eat_punct(",") {
                    all.push(self.aexpr()?);
                }
                indices.push(Index::List(all));
            } else {
                indices.push(Index::At(first));
            }
            self.expect("]")?;
        }
        Ok(Access { name, indices, loc: self.since(start) })
    }

    pub(super) fn aexpr(&mut self) -> Parsed<AExpr> {
        self.nested(|p| {
            let mut left = p.aterm()?;
            loop {
                let op = if p.eat_punct("+") {
                    ArithOp::Add
                } else if p.eat_punct("-") {
                    ArithOp::Sub
                } else {
                    return Ok(left);
                };
                let right = p.aterm()?;
                left = p.abinary(op, left, right)?;
            }
        })
    }

    fn aterm(&mut self) -> Parsed<AExpr> {
        let mut left = self.aatom()?;
        loop {
            let op = if self.eat_punct("*") {
                ArithOp::Mul
            } else if self.eat_punct("/") {
                ArithOp::Div
            } else if self.eat_punct("%") {
                ArithOp::Mod
            } else {
                return Ok(left);
            };
            let right = self.aatom()?;
            left = self.abinary(op, left, right)?;
        }
    }

    /// Folds numbers at once, so that long sums stay shallow.
    fn abinary(&mut self, op: ArithOp, left: AExpr, right: AExpr) -> Parsed<AExpr> {
        let loc = left.loc.to(right.loc);
        if let (AExprKind::Int(a), AExprKind::Int(b)) = (&left.kind, &right.kind) {
            return match static_op(op, *a, *b) {
                Ok(int) => Ok(AExpr { kind: AExprKind::Int(int), loc }),
                Err(why) => self.fail_at(loc, why.into(), "in this expression"),
            };
        }
        if loc.end.saturating_sub(loc.start) > 4096 {
            return self.fail_at(
                loc,
                "this index expression is too long".into(),
                "more than 4096 characters",
            );
        }
        Ok(AExpr { kind: AExprKind::Bin(op, Box::new(left), Box::new(right)), loc })
    }

    fn aatom(&mut self) -> Parsed<AExpr> {
        let start = self.loc();
        match self.peek().clone() {
            Token::Int(_) => {
                let (int, loc) = self.small_int()?;
                Ok(AExpr { kind: AExprKind::Int(int), loc })
            }
            Token::Word(_) => {
                let name = self.ident("a number or a loop index")?;
                Ok(AExpr { kind: AExprKind::Name(name.name), loc: name.loc })
            }
            Token::Punct("(") => {
                self.next();
                let mut inner = self.aexpr()?;
                self.expect(")")?;
                inner.loc = self.since(start);
                Ok(inner)
            }
            _ => self.fail("a number or a loop index"),
        }
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|p| {
            let start = p.loc();
            let first = p.prefix()?;
            p.climb(first, start, SHIFT)
        })
    }

    pub(super) fn prefix(&mut self) -> Parsed<Expr> {
        self.no_conditional()?;
        let start = self.loc();
        if self.eat_punct("~") || self.eat_punct("!") {
            let inner = self.nested(Self::prefix)?;
            self.height += 1;
            return Ok(Expr { kind: ExprKind::Not(Box::new(inner)), loc: self.since(start) });
        }
        match self.peek().clone() {
            Token::Int(int) => {
                self.next();
                self.height = 1;
                let kind = if self.eat_punct(":") {
                    ExprKind::TypedInt(int, self.ty()?)
                } else {
                    ExprKind::Int(int)
                };
                Ok(Expr { kind, loc: self.since(start) })
            }
            Token::Punct("(") => {
                self.next();
                let first = self.expr()?;
                if !self.is_punct(",") {
                    self.expect(")")?;
                    return Ok(first);
                }
                let mut all = vec![first];
                while self.eat_punct(",") {
                    all.push(self.next_part()?);
                }
                self.expect(")")?;
                self.height += 1;
                Ok(Expr { kind: ExprKind::Tuple(all), loc: self.since(start) })
            }
            Token::Word(word) => match &*word {
                "Shuffle" => self.shuffle(start),
                "Bitmask" => self.bitmask(start),
                "Pack" => self.pack(start),
                word if KEYWORDS.contains(&word) => self.fail("an expression"),
                _ => self.name(start),
            },
            _ => self.fail("an expression"),
        }
    }

    /// One more part of a tuple or call; the height is that of the highest part so far.
    fn next_part(&mut self) -> Parsed<Expr> {
        let so_far = self.height;
        let part = self.expr()?;
        self.height = self.height.max(so_far);
        Ok(part)
    }

    fn shuffle(&mut self, start: Loc) -> Parsed<Expr> {
        self.next();
        self.expect("(")?;
        let access = self.access()?;
        self.expect(",")?;
        self.expect("[")?;
        let pattern = self.pattern("]")?;
        self.expect(")")?;
        self.height = 1;
        Ok(Expr { kind: ExprKind::Shuffle(access, pattern), loc: self.since(start) })
    }

    fn pattern(&mut self, end: &str) -> Parsed<Vec<(i64, Loc)>> {
        let mut pattern = vec![self.small_int()?];
        while self.eat_punct(",") {
            pattern.push(self.small_int()?);
        }
        self.expect(end)?;
        Ok(pattern)
    }

    fn bitmask(&mut self, start: Loc) -> Parsed<Expr> {
        self.next();
        self.expect("(")?;
        let inner = self.expr()?;
        self.expect(",")?;
        let bit = self.aexpr()?;
        self.expect(")")?;
        self.height += 1;
        Ok(Expr { kind: ExprKind::Bitmask(Box::new(inner), bit), loc: self.since(start) })
    }

    fn pack(&mut self, start: Loc) -> Parsed<Expr> {
        self.next();
        self.expect("(")?;
        let high = self.expr()?;
        self.expect(",")?;
        let low = self.next_part()?;
        self.height += 1;
        self.expect(")")?;
        let ty = if self.eat_punct(":") { Some(self.ty()?) } else { None };
        Ok(Expr { kind: ExprKind::Pack(Box::new(high), Box::new(low), ty), loc: self.since(start) })
    }

    /// A variable, a shuffle of one, or a call.
    fn name(&mut self, start: Loc) -> Parsed<Expr> {
        let is_call = matches!(self.peek_after(1), Token::Punct("(" | "<"));
        if is_call {
            let name = self.ident("a node's name")?;
            let mut index = None;
            if self.eat_punct("<") {
                index = Some(self.aexpr()?);
                if !self.eat_punct(">") {
                    return self.fail("`>` after the element of an array of nodes");
                }
            }
            self.expect("(")?;
            let mut args = vec![self.expr()?];
            while self.eat_punct(",") {
                args.push(self.next_part()?);
            }
            self.height += 1;
            self.expect(")")?;
            return Ok(Expr { kind: ExprKind::Call { name, index, args }, loc: self.since(start) });
        }
        let access = self.access()?;
        self.height = 1;
        if self.eat_punct("{") {
            let pattern = self.pattern("}")?;
            return Ok(Expr { kind: ExprKind::Shuffle(access, pattern), loc: self.since(start) });
        }
        Ok(Expr { loc: access.loc, kind: ExprKind::Access(access) })
    }
}

/// Expressions with several operators.
impl Parser<'_> {
    /// Extends `left`, which begins at `start`, by operators that bind at least as tightly as
    /// `min`.
    fn climb(&mut self, mut left: Expr, start: Loc, min: u8) -> Parsed<Expr> {
        let mut height = self.height;
        let mut is_bare = false;
        loop {
            let level = if let Token::Punct(op) = self.peek() { level(op) } else { None };
            let (Token::Punct(op), Some(level)) =
                (self.peek().clone(), level.filter(|level| *level >= min))
            else {
                self.height = height;
                return Ok(left);
            };
            if height >= 2 * DEPTH_MAX {
                return self.fail_at(
                    self.loc(),
                    format!("more than {} operators in a row or inside one another", 2 * DEPTH_MAX),
                    "split the equation with a variable",
                );
            }
            let is_shift = matches!(left.kind, ExprKind::Shift(..));
            let inner = self.since(start);
            self.next();
            if level == SHIFT {
                let amount = self.aexpr()?;
                let loc = left.loc.to(self.last_loc());
                left = Expr { kind: ExprKind::Shift(shift_op(op), Box::new(left), amount), loc };
                height += 1;
            } else {
                let after = self.loc();
                let first = self.prefix()?;
                let right = self.nested(|p| p.climb(first, after, level + 1))?;
                left = binary(op, left, right);
                height = 1 + height.max(self.height);
            }
            // Not in parentheses, and one of the two operators is a shift.
            if is_bare && is_shift != (level == SHIFT) && self.warnings.len() < WARNINGS_MAX {
                let whole = self.since(start);
                self.precedence(inner, whole);
            }
            is_bare = true;
        }
    }

    /// Remarks on `a & b <<< 8`: shifts bind the loosest here, unlike in C.
    fn precedence(&mut self, inner: Loc, whole: Loc) {
        let text = |loc: Loc| self.sources.text(loc);
        let rest = Loc { start: inner.end, ..whole };
        let parse = format!("({}){}", text(inner), text(rest));
        let parse: Vec<&str> = parse.split_whitespace().collect();
        let message = format!("a shift beside another operator is read as `{}`", parse.join(" "));
        let mut warning = self.sources.error(whole, message, "shifts bind loosest");
        warning.help = Some("write the parentheses".into());
        self.warnings.push(warning);
    }
}
