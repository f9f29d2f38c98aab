//! What an editor asks of a program while it is written: its errors, what a name is, and where that
//! is defined.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use report::{Diagnostic, Span};

use crate::emit_c::Arch;
use crate::native::Cc;
use crate::options::Unroll;
use crate::recipe::Recipe;
use crate::syntax::ast::{Decl, Def, DefBody, Eqn, Forall, Program};
use crate::syntax::{Loc, load_text};
use crate::unit::Subject;
use crate::user_layout;

/// Words of the language that an editor offers.
const WORDS: [&str; 16] = [
    "node", "table", "perm", "returns", "vars", "let", "tel", "forall", "in", "include", "const",
    "Shuffle", "Bitmask", "Pack", "_unroll", "_inline",
];

/// A program as it is in the editor.
pub struct EditedProgram {
    /// Its path, as messages name it.
    pub name: String,
    pub text: String,
    /// What it means; none while it has errors of syntax.
    ast: Option<Program>,
    /// What is wrong with it.
    pub errors: Vec<Diagnostic>,
    /// Remarks on text that is easy to misread.
    pub warnings: Vec<Diagnostic>,
}

/// A thing that a name stands for.
enum Named<'a> {
    /// A parameter, result or variable, and which of these.
    Variable(&'a str, &'a Decl),
    Index(&'a Forall),
    Definition(&'a Def),
}

impl EditedProgram {
    /// Reads a text; `name` is its path, beside which included files are looked for.
    pub fn new(name: &str, text: &str) -> EditedProgram {
        let (name, text) = (name.to_owned(), text.to_owned());
        let (ast, mut errors) = match load_text(&name, &text, &[]) {
            Ok(ast) => (Some(ast), Vec::new()),
            Err(errors) => (None, errors),
        };
        let mut warnings = Vec::new();
        if let Some(ast) = &ast {
            // A layout beside it is a part of the program.
            let layout = user_layout::beside(Path::new(&name));
            let checked = Subject::checked(ast.clone(), None).and_then(|subject| {
                if layout.exists() {
                    user_layout::read(&layout, Path::new(&name), &subject.ast, None)?;
                }
                subject.compiling().map(|_| subject)
            });
            match checked {
                Ok(subject) => warnings = subject.warnings,
                Err(found) => errors = found,
            }
        }
        EditedProgram { name, text, ast, errors, warnings }
    }

    /// Where the name at a byte of the text is defined.
    pub fn definition(&self, at: usize) -> Option<Span> {
        let ast = self.ast.as_ref()?;
        let loc = match self.named(at)? {
            Named::Variable(_, decl) => decl.name.loc,
            Named::Index(forall) => forall.index.loc,
            Named::Definition(def) => def.name.loc,
        };
        Some(ast.sources.span(loc))
    }

    /// The name at a byte of the text and what is known of it, in Markdown.
    pub fn hover(&self, at: usize) -> Option<(Range<usize>, String)> {
        let ast = self.ast.as_ref()?;
        let said = match self.named(at)? {
            Named::Variable(what, decl) => {
                let kept = if decl.is_const { "const " } else { "" };
                format!("```usuba\n{kept}{} : {}\n```\n{what}", decl.name.name, decl.ty)
            }
            Named::Index(forall) => {
                let text = |loc: Loc| ast.sources.text(loc);
                let (first, last) = (text(forall.first.loc), text(forall.last.loc));
                format!("```usuba\n{} : nat\n```\nfrom {first} to {last}", forall.index.name)
            }
            Named::Definition(def) => {
                let cost = self.cost(&def.name.name).unwrap_or_default();
                format!("```usuba\n{}\n```\n{cost}", signature(def))
            }
        };
        Some((word(&self.text, at)?, said.trim_end().to_owned()))
    }

    /// What may be written at a byte of the text, each with a line about it: names that are known
    /// there, those of this place first, and words of the language. While the text has errors of
    /// syntax, the names are those of `before`, the text when it had none, wherever it stood.
    pub fn completions(&self, at: usize, before: Option<&EditedProgram>) -> Vec<(String, String)> {
        let has_syntax = self.ast.is_some();
        let known = if has_syntax { Some(self) } else { before };
        let ast = known.and_then(|known| known.ast.as_ref());
        let mut found: Vec<(String, String)> = Vec::new();
        for def in ast.iter().flat_map(|ast| &ast.defs) {
            let whole = whole(def);
            let is_here = !has_syntax
                || (whole.file == 0 && (whole.start as usize..whole.end as usize).contains(&at));
            if is_here && let DefBody::Nodes(bodies) = &def.body {
                let variables = bodies.iter().flat_map(|body| &body.vars);
                let all = def.params.iter().chain(&def.returns).chain(variables);
                found.extend(all.map(|decl| (decl.name.name.to_string(), decl.ty.to_string())));
            }
        }
        let defs = ast.iter().flat_map(|ast| &ast.defs);
        found.extend(defs.map(|def| (def.name.name.to_string(), signature(def))));
        found.extend(WORDS.iter().map(|word| ((*word).to_owned(), String::new())));
        let mut seen = BTreeSet::new();
        found.retain(|(name, _)| seen.insert(name.clone()));
        found
    }

    /// It can be read, whatever it means.
    pub fn has_syntax(&self) -> bool {
        self.ast.is_some()
    }

    /// What a definition alone comes to on general registers: gates of its tables, equations, and
    /// the model's cycles of each order. None if it does not compile alone.
    fn cost(&self, name: &str) -> Option<String> {
        let subject = Subject::text(&self.name, &self.text, Some(name)).ok()?;
        let recipe =
            Recipe::new(subject.slicing(None)?, Arch::X86_64, Cc::Gcc, Unroll::Auto, "-O3");
        let made = recipe.make(&subject).ok()?;
        let lines = made.choices().into_iter().chain([recipe.amount(&made)]);
        Some(lines.map(|line| format!("\n- {line}")).collect())
    }

    fn named(&self, at: usize) -> Option<Named<'_>> {
        let ast = self.ast.as_ref()?;
        let name = &self.text[word(&self.text, at)?];
        let inside =
            |loc: Loc| loc.file == 0 && (loc.start as usize..loc.end as usize).contains(&at);
        // A definition's own name is no parameter of it, whatever they are called.
        let own = ast.defs.iter().find(|def| inside(def.name.loc) && *def.name.name == *name);
        if let Some(def) = own {
            return Some(Named::Definition(def));
        }
        for def in ast.defs.iter().filter(|def| inside(whole(def))) {
            let is_it = |decl: &&Decl| *decl.name.name == *name;
            if let DefBody::Nodes(bodies) = &def.body {
                for body in bodies.iter().filter(|body| inside(body.loc)) {
                    if let Some(forall) = index(&body.eqs, name, &inside) {
                        return Some(Named::Index(forall));
                    }
                    if let Some(decl) = body.vars.iter().find(is_it) {
                        return Some(Named::Variable("variable", decl));
                    }
                }
            }
            if let Some(decl) = def.params.iter().find(is_it) {
                return Some(Named::Variable("parameter", decl));
            }
            if let Some(decl) = def.returns.iter().find(is_it) {
                return Some(Named::Variable("result", decl));
            }
        }
        ast.defs.iter().find(|def| *def.name.name == *name).map(|def| Named::Definition(def))
    }
}

/// The innermost loop around a place whose index has this name.
fn index<'a>(eqs: &'a [Eqn], name: &str, inside: &dyn Fn(Loc) -> bool) -> Option<&'a Forall> {
    eqs.iter().find_map(|eqn| match eqn {
        // The bounds of a loop do not know its index.
        Eqn::Forall(forall) if inside(forall.first.loc) || inside(forall.last.loc) => None,
        Eqn::Forall(forall) if inside(extent(eqn)) => index(&forall.eqs, name, inside)
            .or_else(|| (*forall.index.name == *name).then_some(forall)),
        Eqn::Forall(_) | Eqn::Assign(_) => None,
    })
}

/// From the beginning of an equation to its end, or that of the last one in it.
fn extent(eqn: &Eqn) -> Loc {
    match eqn {
        Eqn::Assign(assign) => assign.loc.to(assign.expr.loc),
        Eqn::Forall(forall) => {
            forall.eqs.last().map_or(forall.loc, |last| forall.loc.to(extent(last)))
        }
    }
}

/// From a definition's name to the end of its body.
fn whole(def: &Def) -> Loc {
    let ends = match &def.body {
        DefBody::Nodes(bodies) => bodies.last().map(|body| body.loc),
        DefBody::Perms(lists) | DefBody::Tables(lists) => lists.last().map(|list| list.loc),
    };
    def.name.loc.to(ends.unwrap_or(def.name.loc))
}

/// The head of a definition as it could be written.
fn signature(def: &Def) -> String {
    let what = match &def.body {
        DefBody::Nodes(_) => "node",
        DefBody::Perms(_) => "perm",
        DefBody::Tables(_) => "table",
    };
    let list = |decls: &[Decl]| {
        let one = |decl: &Decl| format!("{} : {}", decl.name.name, decl.ty);
        decls.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let array = if def.is_array { "[]" } else { "" };
    let (params, returns) = (list(&def.params), list(&def.returns));
    format!("{what}{array} {} ({params}) returns ({returns})", def.name.name)
}

/// The name that a byte of the text belongs to, or that ends in front of it; none in a comment.
fn word(text: &str, at: usize) -> Option<Range<usize>> {
    let line = text[..text.floor_char_boundary(at)].rsplit('\n').next().unwrap_or_default();
    if line.contains('#') || line.contains("//") {
        return None;
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || [b'_', b'\''].contains(byte);
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let start = at - bytes[..at].iter().rev().take_while(|byte| is_part(byte)).count();
    let end = at + bytes[at..].iter().take_while(|byte| is_part(byte)).count();
    let is_name = bytes.get(start).is_some_and(|byte| is_part(byte) && !byte.is_ascii_digit());
    is_name.then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
table sbox (x : v4) returns (y : v4) {
    6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2
}

node mix (x : u32x2) returns (y : u32x2)
vars t : u32[3]
let
    t[0] = x[0];
    forall i in [0, 1] { t[i+1] = t[i] <<< 3 }
    y = (t[2] ^ x[1], x[0])
tel

node twice (x : u32x2) returns (z : u32x2)
let
    z = mix(mix(x))
tel
";

    fn at(part: &str, name: &str) -> usize {
        let start = TEXT.find(part).expect("it is there");
        start + part.find(name).expect("it is in it")
    }

    fn hover(part: &str, name: &str) -> String {
        let written = EditedProgram::new("mix.ua", TEXT);
        assert!(written.errors.is_empty(), "{:?}", written.errors);
        let (range, said) = written.hover(at(part, name)).expect("it is known");
        assert_eq!(&TEXT[range], name);
        said
    }

    #[test]
    fn a_name_says_what_it_is() {
        assert!(hover("t[i+1]", "t").contains("t : u32x3"));
        assert!(hover("t[i+1]", "i").contains("from 0 to 1"));
        assert!(hover("^ x[1]", "x").contains("parameter"));
        assert!(hover("z = mix", "z").contains("result"));
        let mix = hover("z = mix(mix", "mix");
        assert!(mix.contains("node mix (x : u32x2) returns (y : u32x2)"), "{mix}");
        assert!(mix.contains("equations"), "{mix}");
        let sbox = hover("table sbox", "sbox");
        assert!(sbox.contains("table sbox") && sbox.contains("12 gates"), "{sbox}");
    }

    #[test]
    fn a_name_leads_to_where_it_is_defined() {
        let written = EditedProgram::new("mix.ua", TEXT);
        let to = |part: &str, name: &str| {
            written.definition(at(part, name)).map(|span| span.line_column())
        };
        assert_eq!(to("z = mix(mix", "mix"), Some((5, 6)));
        assert_eq!(to("t[i+1]", "t"), Some((6, 6)));
        assert_eq!(to("t[i] <<<", "i"), Some((9, 12)));
        assert_eq!(to("(x))", "x"), Some((13, 13)));
        assert_eq!(to("returns", "returns"), None);
        // A number is no name, and neither is what no definition has.
        assert_eq!(to("<<< 3", "3"), None);
        // Names of their own, and words of comments.
        let text = "# mix is\nnode g (g : u32, i : u32) returns (y : u32[2])\nlet // g of y\n    forall i in [0, 1] { y[i] = g }\ntel\n";
        let written = EditedProgram::new("g.ua", text);
        let at = |part: &str| text.find(part).expect("it is there");
        let to = |at: usize| written.definition(at).map(|span| span.line_column());
        assert_eq!(to(at("node g") + 5), Some((2, 6)));
        assert_eq!(to(at("= g }") + 2), Some((2, 9)));
        assert_eq!((to(at("mix is")), to(at("g of y"))), (None, None));
    }

    #[test]
    fn names_are_completed_also_while_one_is_typed() {
        let written = EditedProgram::new("mix.ua", TEXT);
        let names = |offered: Vec<(String, String)>| {
            offered.into_iter().map(|(name, _)| name).collect::<Vec<String>>()
        };
        let offered = names(written.completions(at("t[i+1]", "t"), None));
        assert_eq!(offered[..5], ["x", "y", "t", "sbox", "mix"], "{offered:?}");
        assert!(offered.contains(&"forall".to_owned()) && !offered.contains(&"z".to_owned()));
        // Between definitions names of none are known.
        let offered = names(written.completions(0, None));
        assert_eq!(offered[..3], ["sbox", "mix", "twice"], "{offered:?}");
        let typed = TEXT.replace("mix(mix(x))", "mix(mi");
        let broken = EditedProgram::new("mix.ua", &typed);
        assert!(!broken.has_syntax());
        let place = typed.find("mix(mi").expect("it is there") + 6;
        let offered = broken.completions(place, Some(&written));
        let is_mix = |(name, said): &(String, String)| name == "mix" && said.contains("returns");
        assert!(offered.iter().any(is_mix), "{offered:?}");
        // Nothing was read yet: the language's own words are left.
        assert_eq!(names(broken.completions(place, None))[0], "node");
    }

    #[test]
    fn errors_come_with_or_without_syntax() {
        let wrong = EditedProgram::new("mix.ua", &TEXT.replace("x[1]", "w[1]"));
        assert_eq!(wrong.errors.len(), 1, "{:?}", wrong.errors);
        assert!(wrong.errors[0].to_string().starts_with("mix.ua:10:"), "{}", wrong.errors[0]);
        // What is not concerned is still known.
        assert!(wrong.definition(at("z = mix(mix", "mix")).is_some());
        let broken = EditedProgram::new("mix.ua", &TEXT[..TEXT.len() - 5]);
        assert!(!broken.errors.is_empty() && broken.hover(at("t[i+1]", "t")).is_none());
        for place in 0..TEXT.len() + 9 {
            // Anywhere, also behind the end.
            let _ = wrong.hover(place).is_some() || wrong.definition(place).is_some();
        }
    }
}
