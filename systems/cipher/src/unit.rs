//! A primitive or a user's file, ready to compile: its tree, its entry, and where its bytes go.

use std::path::{Path, PathBuf};

use report::Diagnostic;

use crate::elaborate;
use crate::emit_c::{Counter, CounterPiece, Field, Source, Sponge, Stage, Unit};
use crate::ir::NodeId;
use crate::layout::Layout;
use crate::library::{self, Primitive};
use crate::options::{Options, Recipe, Slicing};
use crate::pipeline::{self, Compiled};
use crate::syntax::ast::{Program, Size, Type};
use crate::syntax::{load, load_text};
use crate::user_layout;

/// The program that a command works on.
#[derive(Debug)]
pub struct Subject {
    pub ast: Program,
    /// The node that works on a block.
    pub entry: String,
    /// The meaning of its bytes, for a bundled primitive or a user's file with a layout.
    pub primitive: Option<Primitive>,
    /// Remarks of the checker.
    pub warnings: Vec<Diagnostic>,
}

impl Subject {
    /// The bundled primitive of this name, if there is one.
    pub fn bundled(name: &str) -> Option<Result<Subject, Vec<Diagnostic>>> {
        let primitive = library::primitive(name)?;
        Some(load_text(&primitive.file, primitive.text(), &[]).and_then(|ast| {
            let warnings = elaborate::check(&ast)?;
            Ok(Subject {
                ast,
                entry: primitive.entry.clone(),
                primitive: Some(primitive.clone()),
                warnings,
            })
        }))
    }

    /// A user's file; `entry` is the last node unless named.
    pub fn file(
        path: &Path,
        include_dirs: &[PathBuf],
        entry: Option<&str>,
    ) -> Result<Subject, Vec<Diagnostic>> {
        let ast = load(path, include_dirs)?;
        Subject::checked(ast, entry)
    }

    /// A bundled primitive, or a user's file with the layout beside it, else with its bytes in
    /// order if they are unambiguous.
    pub fn named(name: &str) -> Result<Subject, Vec<Diagnostic>> {
        if let Some(bundled) = Subject::bundled(name) {
            return bundled;
        }
        let path = Path::new(name);
        let subject = Subject::file(path, &[], None)?;
        let layout = user_layout::beside(path);
        if layout.exists() {
            subject.with_layout(&layout, path, None)
        } else {
            Ok(subject.guessed(path).0)
        }
    }

    /// The same program with bytes laid out as this file says; `entry` as the user named it.
    pub fn with_layout(
        self,
        layout: &Path,
        program: &Path,
        entry: Option<&str>,
    ) -> Result<Subject, Vec<Diagnostic>> {
        let primitive = user_layout::read(layout, program, &self.ast, entry)?;
        Ok(Subject { entry: primitive.entry.clone(), primitive: Some(primitive), ..self })
    }

    /// The same with the layout as a text; `file` is its name in messages.
    pub fn with_layout_text(
        self,
        file: &str,
        text: &str,
        program: &Path,
    ) -> Result<Subject, Vec<Diagnostic>> {
        let primitive = user_layout::parse(file, text, program, &self.ast, None)?;
        Ok(Subject { entry: primitive.entry.clone(), primitive: Some(primitive), ..self })
    }

    /// The same program with bytes in the order of its parameters if they are unambiguous; and a
    /// note for its user then.
    pub fn guessed(self, program: &Path) -> (Subject, Option<String>) {
        let stem = program
            .file_stem()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let primitive = user_layout::guess(&stem, &self.ast, &self.entry);
        let note = primitive.is_some().then(|| {
            format!(
                "no layout says where the bytes of `{}` go: they are taken in order (write {} to say otherwise)",
                self.entry,
                user_layout::beside(program).display()
            )
        });
        (Subject { primitive, ..self }, note)
    }

    /// A text in memory, as if it were a file of this name.
    pub fn text(name: &str, text: &str, entry: Option<&str>) -> Result<Subject, Vec<Diagnostic>> {
        Subject::checked(load_text(name, text, &[])?, entry)
    }

    /// The same of a text that was read.
    pub(crate) fn checked(ast: Program, entry: Option<&str>) -> Result<Subject, Vec<Diagnostic>> {
        let warnings = elaborate::check(&ast)?;
        let last =
            ast.defs.last().expect("a program that loads has definitions").name.name.to_string();
        let entry = match entry {
            None => last,
            Some(name) if ast.defs.iter().any(|d| &*d.name.name == name) => name.to_string(),
            Some(name) => {
                let help = report::did_you_mean(name, ast.defs.iter().map(|d| &*d.name.name));
                return Err(vec![Diagnostic {
                    message: format!("there is no node `{name}`"),
                    spans: vec![],
                    help,
                }]);
            }
        };
        Ok(Subject { ast, entry, primitive: None, warnings })
    }

    /// The name for tables and messages.
    pub fn name(&self) -> &str {
        self.primitive.as_ref().map_or(&self.entry, |p| &p.name)
    }

    /// The nodes that C code calls: the entry, then the key schedule.
    pub fn entries(&self) -> Vec<&str> {
        let schedule = self.primitive.as_ref().and_then(|p| p.schedule.as_deref());
        std::iter::once(self.entry.as_str()).chain(schedule).collect()
    }

    /// The same and the nodes that a mode needs.
    pub fn entries_for(&self, sponge: Option<&Sponge>) -> Vec<&str> {
        let short = self
            .primitive
            .as_ref()
            .and_then(|p| p.short.as_deref())
            .filter(|_| sponge == Some(&Sponge::Aead));
        self.entries().into_iter().chain(short).collect()
    }

    /// The slicings that the types allow.
    pub fn slicings(&self, word: Option<u32>) -> Vec<Slicing> {
        pipeline::slicings(&self.ast, &self.entries(), word)
    }

    /// What is wrong if no slicing is left: with the program, or with a size for its open words
    /// that only bitslicing could compile.
    pub fn no_slicing(&self, word: Option<u32>) -> Vec<Diagnostic> {
        self.compile(Recipe::unordered(Slicing::Bit)).err().unwrap_or_else(|| {
            let bits = word.map_or_else(String::new, |word| format!(" of {word} bits"));
            let message = format!(
                "`{}` can only be bitsliced, which makes single bits of its words{bits}",
                self.entry
            );
            vec![Diagnostic { message, spans: vec![], help: Some("leave out --word".into()) }]
        })
    }

    /// The default slicing: the first of [`Subject::slicings`] with C that is short enough for a C
    /// compiler, else the first.
    pub fn slicing(&self, word: Option<u32>) -> Option<Slicing> {
        let all = self.slicings(word);
        let is_short = |slicing: &Slicing| {
            let compiled = self.compile(Recipe { word, ..Recipe::unordered(*slicing) });
            compiled.is_ok_and(|compiled| compiled.n_equations() <= pipeline::UNASKED_MAX)
        };
        if all.len() < 2 {
            all.first().copied()
        } else {
            all.iter().find(|it| is_short(it)).or(all.first()).copied()
        }
    }

    /// Why this slicing is refused, if its calls are too many to be written out.
    pub fn too_many_calls(&self, slicing: Slicing) -> Option<Vec<Diagnostic>> {
        pipeline::too_many_calls(&self.ast, &self.entries(), slicing)
    }

    /// The slicings in which the program compiles unless its calls are to be kept.
    ///
    /// Errors: there are none: those of the first one that the compiler would try.
    pub fn compiling(&self) -> Result<Vec<&'static str>, Vec<Diagnostic>> {
        let (mut slicings, mut refused) = (Vec::new(), None);
        for slicing in self.slicings(None) {
            match self.too_many_calls(slicing) {
                None => slicings.push(slicing.letter()),
                Some(errors) => refused = refused.or(Some(errors)),
            }
        }
        if slicings.is_empty() {
            let refused = refused.or_else(|| self.compile(Recipe::unordered(Slicing::Bit)).err());
            return Err(refused.expect("no slicing works, so this one does not"));
        }
        Ok(slicings)
    }

    /// Runs the passes for a processor of which nothing is known.
    ///
    /// Errors: what is wrong with the program.
    pub fn compile(&self, recipe: Recipe) -> Result<Compiled, Vec<Diagnostic>> {
        let options = Options { keys: self.keys(), ..Options::generic(recipe) };
        pipeline::compile(&self.ast, &self.entries(), &options)
    }

    /// The parameters of the entry that the key schedule makes, by their places.
    pub fn keys(&self) -> Vec<usize> {
        let Some(primitive) = &self.primitive else { return Vec::new() };
        let def = self.ast.defs.iter().rfind(|def| *def.name.name == *self.entry);
        let params = def.into_iter().flat_map(|def| &def.params).enumerate();
        let made = params.filter(|(_, decl)| {
            primitive.schedule.is_some() && !primitive.params.contains_key(&*decl.name.name)
        });
        made.map(|(at, _)| at).collect()
    }

    /// What the C file of `compiled` offers; `word` is that of the compilation.
    pub fn unit(&self, compiled: &Compiled, word: Option<u32>) -> Unit {
        let bits = |node: &str| -> Vec<UnitDecl> { decls(&self.ast, node, compiled.slicing, word) };
        let entry_decls = bits(&self.entry);
        let mut fields = Vec::new();
        let (schedule, n_schedule) =
            match self.primitive.as_ref().and_then(|p| p.schedule.as_ref().map(|s| (p, s))) {
                None => (None, 0),
                Some((primitive, name)) => {
                    let decls = bits(name);
                    let params = decls.iter().filter(|d| !d.is_result).map(|d| {
                        let field = &primitive.schedule_params[&d.name];
                        Source::Field(field_index(&mut fields, &field.field, field.layout(), d))
                    });
                    let params = params.collect();
                    let n = decls
                        .iter()
                        .filter(|d| d.is_result)
                        .map(|d| d.dims.iter().product::<u32>() as usize)
                        .sum();
                    let dims = decls.iter().map(|d| d.dims.clone()).collect();
                    (
                        Some(Stage {
                            node: compiled.program.entries[1],
                            name: name.clone(),
                            params,
                            dims,
                        }),
                        n,
                    )
                }
            };
        let mut at = 0;
        let mut params = Vec::new();
        for decl in entry_decls.iter().filter(|d| !d.is_result) {
            let source = match &self.primitive {
                None => Source::Field(field_index(
                    &mut fields,
                    &decl.name,
                    Layout::plain(decl.n_words * decl.m as usize),
                    decl,
                )),
                Some(primitive) => match primitive.params.get(&decl.name) {
                    Some(field) => {
                        Source::Field(field_index(&mut fields, &field.field, field.layout(), decl))
                    }
                    None => {
                        let start = at;
                        at += decl.dims.iter().product::<u32>() as usize;
                        Source::Schedule(start)
                    }
                },
            };
            params.push(source);
        }
        let outputs = entry_decls.iter().filter(|d| d.is_result).map(|d| {
            let (name, layout) = match &self.primitive {
                Some(p) => (
                    "output".to_string(),
                    Layout::parse(&p.output).expect("a test parses every bundled layout"),
                ),
                None => (d.name.clone(), Layout::plain(d.n_words * d.m as usize)),
            };
            Field {
                name: crate::emit_c::identifier(&name),
                layout,
                n_words: d.n_words,
                word_bits: d.m,
            }
        });
        let outputs = outputs.collect();
        let dims = entry_decls.iter().map(|d| d.dims.clone()).collect();
        let entry =
            Stage { node: self.entry_node(compiled), name: self.entry.clone(), params, dims };
        let name = self.primitive.as_ref().map(|p| c_prefix(&p.name));
        let title = self.primitive.as_ref().map_or_else(|| self.entry.clone(), Primitive::title);
        let one = match compiled.interleave {
            1 => entry.node,
            _ => *compiled.program.entries.last().expect("there is an entry"),
        };
        Unit {
            prefix: String::new(),
            name,
            title,
            schedule,
            entry,
            one,
            fields,
            outputs,
            n_schedule,
            counter: None,
            mode: None,
            has_each_key: false,
            assembled: vec![],
            others: vec![],
        }
    }

    /// The mode of this name, if it is not a counter mode.
    pub fn sponge(&self, mode: &str) -> Option<Sponge> {
        let sponges = self.primitive.as_ref().map_or_else(Vec::new, Primitive::sponges);
        sponges.into_iter().find(|sponge| sponge.mode() == mode)
    }

    /// How the primitive counts in this mode.
    pub fn counter(&self, mode: &str) -> Result<Counter, Vec<Diagnostic>> {
        let error = |message: String, help: Option<&str>| {
            vec![Diagnostic { message, spans: vec![], help: help.map(str::to_string) }]
        };
        let Some(primitive) = &self.primitive else {
            let message =
                format!("`{}` has no byte interface, so it has no mode `{mode}`", self.entry);
            return Err(error(
                message,
                Some(
                    "a layout file beside the program says where its bytes go; docs/format/ciphers.md has the form",
                ),
            ));
        };
        let modes = primitive.modes();
        let Some((_, parts)) = modes.iter().find(|(name, _)| name == mode) else {
            let names = modes.iter().map(|(name, _)| name.as_str()).chain(primitive.sponge_modes());
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let help = match names.split_last() {
                None => format!(
                    "it is a {}; block ciphers, chacha20, ascon-p12, keccak-f1600 and compression functions have modes",
                    primitive.kind
                ),
                Some((last, [])) => format!("it has {last}"),
                Some((last, others)) => format!("it has {} and {last}", others.join(", ")),
            };
            return Err(error(format!("`{}` has no mode `{mode}`", primitive.name), Some(&help)));
        };
        Ok(counter(mode, parts))
    }

    fn entry_node(&self, compiled: &Compiled) -> NodeId {
        compiled.program.entries[0]
    }
}

/// Reads the parts of a mode in the index, such as `hex:00ff`, `nonce:12`, `counter:le32`.
fn counter(mode: &str, parts: &[String]) -> Counter {
    let mut made =
        Counter { mode: mode.to_string(), bits: 0, is_big_endian: false, pieces: Vec::new() };
    for part in parts {
        let (name, size) = part.split_once(':').expect("a test parses every mode");
        made.pieces.push(match name {
            "hex" => CounterPiece::Fixed(
                crate::run_text::from_hex(size).expect("a test parses every mode"),
            ),
            "counter" => {
                let (order, bits) = size.split_at(2);
                made.is_big_endian = order == "be";
                made.bits = bits.parse().expect("a test parses every mode");
                CounterPiece::Counter
            }
            _ => CounterPiece::Given(
                name.to_string(),
                size.parse().expect("a test parses every mode"),
            ),
        });
    }
    made
}

/// A parameter or result of a node.
struct UnitDecl {
    name: String,
    m: u32,
    n_words: usize,
    /// The dimensions in registers.
    dims: Vec<u32>,
    is_result: bool,
}

fn decls(ast: &Program, node: &str, slicing: Slicing, word: Option<u32>) -> Vec<UnitDecl> {
    let def = ast.defs.iter().rfind(|d| &*d.name.name == node).expect("entries were looked up");
    let all = def.params.iter().map(|d| (d, false)).chain(def.returns.iter().map(|d| (d, true)));
    all.map(|(decl, is_result)| {
        let Type::Words { m, dims, .. } = &decl.ty else {
            panic!("entries have no nat parameters")
        };
        let m = match m {
            Size::Fixed(m) => *m,
            Size::Var(_) if slicing == Slicing::Bit => 1,
            Size::Var(_) => {
                word.expect("the size variable was given when the program was compiled")
            }
        };
        let mut dims = dims.clone();
        if slicing == Slicing::Bit && m > 1 {
            dims.push(m);
        }
        UnitDecl {
            name: decl.name.name.to_string(),
            m,
            n_words: decl.ty.n_atoms() as usize,
            dims,
            is_result,
        }
    })
    .collect()
}

fn field_index(fields: &mut Vec<Field>, name: &str, layout: Layout, decl: &UnitDecl) -> usize {
    let name = crate::emit_c::identifier(name);
    if let Some(at) = fields.iter().position(|f| f.name == name) {
        assert_eq!(fields[at].layout, layout, "field `{name}` has one layout");
        return at;
    }
    fields.push(Field { name, layout, n_words: decl.n_words, word_bits: decl.m });
    fields.len() - 1
}

/// `aes-128` becomes `aes128`, `skinny-128-256` becomes `skinny128_256`.
pub fn c_prefix(name: &str) -> String {
    let mut out = String::new();
    for part in name.split('-') {
        let digits = part.starts_with(|c: char| c.is_ascii_digit());
        let glued = digits && out.ends_with(|c: char| c.is_ascii_alphabetic());
        if !out.is_empty() && !glued {
            out.push('_');
        }
        out += part;
    }
    out
}
