//! Door: the layout file beside a user's program: the places of its bytes, as in
//! `ciphers/index.toml` for the bundled ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span, did_you_mean};
use serde::Deserialize;
use toml::Spanned;

use crate::layout::Layout;
use crate::library::{DigestRow, FieldLayout, Primitive};
use crate::names::is_taken;
use crate::syntax::ast::{Decl, Def, Program, Size, Type};

/// Fields that a case may have; `input` differs from block to block.
const FIELDS: [&str; 6] = ["key", "tweak", "nonce", "counter", "sigma", "input"];
/// Names of parameters that are keys for certain.
const KEYS: [&str; 7] = ["key", "k", "keys", "rk", "roundkey", "roundkeys", "round_keys"];

/// The file as written; `Primitive` says what the fields mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<Spanned<String>>,
    kind: Option<Spanned<String>>,
    source: Option<Spanned<String>>,
    entry: Option<Spanned<String>>,
    schedule: Option<Spanned<String>>,
    #[serde(default)]
    schedule_params: BTreeMap<String, Spanned<FieldLayout>>,
    params: Spanned<BTreeMap<String, Spanned<FieldLayout>>>,
    output: Spanned<String>,
    #[serde(default)]
    compose: BTreeMap<String, Spanned<Vec<String>>>,
    #[serde(default)]
    modes: BTreeMap<String, Spanned<Vec<String>>>,
    #[serde(default)]
    sponge: BTreeMap<String, Spanned<DigestRow>>,
    #[serde(default)]
    compression: BTreeMap<String, Spanned<DigestRow>>,
}

/// The file may hold its table as `[[primitive]]`, as the index does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped {
    primitive: Vec<Written>,
}

/// `dir/simon.ua` has its layout in `dir/simon.layout.toml`.
pub fn beside(program: &Path) -> PathBuf {
    program.with_extension("layout.toml")
}

/// `dir/simon.ua` has its vectors in `dir/simon.json`.
pub fn vectors_beside(program: &Path) -> PathBuf {
    program.with_extension("json")
}

/// Reads a layout file for this program and checks it against the nodes.
///
/// Errors: all its errors, with file and line.
pub fn read(
    path: &Path,
    program: &Path,
    ast: &Program,
    entry: Option<&str>,
) -> Result<Primitive, Vec<Diagnostic>> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        vec![Diagnostic::new(format!("cannot read the layout {}: {error}", path.display()))]
    })?;
    parse(&path.display().to_string(), &text, program, ast, entry)
}

/// The same of a text.
pub fn parse(
    file: &str,
    text: &str,
    program: &Path,
    ast: &Program,
    entry: Option<&str>,
) -> Result<Primitive, Vec<Diagnostic>> {
    let stem =
        program.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let source = SourceFile::new(file, text);
    let written = written(text).map_err(|error| {
        let range = error.span().unwrap_or(0..0);
        vec![
            Diagnostic::new(error.message().replace('\n', ", "))
                .at(Span::new(&source, range), "here"),
        ]
    })?;
    let mut check = Check { source, ast, errors: Vec::new() };
    let primitive = check.primitive(written, &stem, entry);
    match primitive {
        Some(primitive) if check.errors.is_empty() => Ok(primitive),
        _ => Err(check.errors),
    }
}

fn written(text: &str) -> Result<Written, toml::de::Error> {
    let is_wrapped = text.lines().any(|line| line.trim() == "[[primitive]]");
    if !is_wrapped {
        return toml::from_str(text);
    }
    let mut wrapped: Wrapped = toml::from_str(text)?;
    match (wrapped.primitive.pop(), wrapped.primitive.is_empty()) {
        (Some(one), true) => Ok(one),
        _ => Err(serde::de::Error::custom(
            "a layout file is for one program, and this one has several `[[primitive]]`",
        )),
    }
}

/// The file being checked, and its errors so far.
struct Check<'a> {
    source: Arc<SourceFile>,
    ast: &'a Program,
    errors: Vec<Diagnostic>,
}

/// For each field, its layout and the words that it fills.
type Used<'f> = BTreeMap<&'f str, (&'f str, Option<(u64, u64)>)>;

/// A layout with its place.
type Placed<'a> = (&'a str, std::ops::Range<usize>);

impl Check<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(&self.source, range)
    }

    fn wrong(&mut self, range: std::ops::Range<usize>, message: String, label: &str) {
        let span = self.span(range);
        self.errors.push(Diagnostic::new(message).at(span, label));
    }

    fn node(&mut self, name: &Spanned<String>) -> Option<&Def> {
        let found = self.ast.defs.iter().rfind(|def| *def.name.name == **name.get_ref());
        if found.is_none() {
            let span = self.span(name.span());
            let guess =
                did_you_mean(name.get_ref(), self.ast.defs.iter().map(|def| &*def.name.name));
            let mut error =
                Diagnostic::new(format!("the program has no node `{}`", name.get_ref()))
                    .at(span, "no such node");
            error.help = guess;
            self.errors.push(error);
        }
        found.map(|found| &**found)
    }

    fn primitive(
        &mut self,
        written: Written,
        stem: &str,
        entry: Option<&str>,
    ) -> Option<Primitive> {
        let name =
            written.name.as_ref().map_or_else(|| usual_name(stem), |it| it.get_ref().clone());
        if !is_name(&name) {
            let range = written.name.as_ref().map_or(0..0, Spanned::span);
            self.wrong(range, format!("`{name}` cannot be a name in C"), NAMES);
        }
        let last = self
            .ast
            .defs
            .last()
            .expect("a program that loads has definitions")
            .name
            .name
            .to_string();
        let entry = match (entry, &written.entry) {
            (Some(entry), _) => entry.to_string(),
            (None, Some(entry)) => self.node(entry)?.name.name.to_string(),
            (None, None) => last,
        };
        let ast = self.ast;
        let def =
            ast.defs.iter().rfind(|def| *def.name.name == *entry).expect("the entry was looked up");
        let params = written.params.get_ref();
        self.known_params(params, def);
        let mut used = Used::new();
        let mut rest = Vec::new();
        for decl in &def.params {
            match params.get(&*decl.name.name) {
                Some(field) => self.field(field, decl, &mut used),
                None => rest.push(decl),
            }
        }
        if !params.values().any(|it| it.get_ref().field == "input") {
            self.wrong(
                written.params.span(),
                format!("no parameter of `{entry}` is the `input`"),
                "one has `field = \"input\"`",
            );
        }
        match &written.schedule {
            Some(schedule) => {
                let made = self.node(schedule)?.name.name.to_string();
                let made =
                    ast.defs.iter().rfind(|def| *def.name.name == *made).expect("it was looked up");
                self.known_params(&written.schedule_params, made);
                for decl in &made.params {
                    match written.schedule_params.get(&*decl.name.name) {
                        Some(field) if field.get_ref().field == "input" => {
                            self.wrong(
                                field.span(),
                                "round keys do not depend on the `input`".into(),
                                "a key, tweak or nonce",
                            );
                        }
                        Some(field) => self.field(field, decl, &mut used),
                        None => self.unfilled(decl, "schedule_params"),
                    }
                }
                self.round_keys(schedule, made, &rest);
            }
            None => rest.into_iter().for_each(|decl| self.unfilled(decl, "params")),
        }
        let output = (written.output.get_ref().as_str(), written.output.span());
        match &def.returns[..] {
            [one] => self.covers(&output, one, "result"),
            several => {
                let names: Vec<String> =
                    several.iter().map(|found| format!("`{}`", found.name.name)).collect();
                self.wrong(
                    output.1,
                    format!(
                        "`{entry}` has the results {}, and a layout is for one",
                        names.join(", ")
                    ),
                    "for one result",
                );
            }
        }
        for text in [&written.kind, &written.source]
            .into_iter()
            .flatten()
            .filter(|found| !is_plain_text(found.get_ref()))
        {
            self.wrong(
                text.span(),
                "this stands in comments and texts of C, Rust and Python".into(),
                "without quotes, backslashes and `*/`",
            );
        }
        let n_input = params
            .values()
            .find(|param| param.get_ref().field == "input")
            .and_then(|param| Layout::parse(&param.get_ref().layout).ok());
        for (mode, parts) in written.modes.iter().chain(written.compose.iter()) {
            let is_mode = written.modes.contains_key(mode);
            let is_plain = |text: &String| !text.starts_with("counter:") || text == "counter:le32";
            if !is_mode && (mode != "input" || !parts.get_ref().iter().all(is_plain)) {
                self.wrong(
                    parts.span(),
                    "only `input` is composed, and a counter in it is `counter:le32`".into(),
                    "not this",
                );
            } else if is_mode && !is_mode_name(mode) {
                self.wrong(parts.span(), format!("`{mode}` is not a mode"), "ctr or ctr64");
            } else if let Err(why) = parts_size(
                parts.get_ref(),
                is_mode,
                n_input.as_ref().map_or(0, |input| input.n_bytes),
            ) {
                self.wrong(parts.span(), why, "in these parts");
            }
        }
        let own = |fields: BTreeMap<String, Spanned<FieldLayout>>| {
            fields.into_iter().map(|field| (field.0, field.1.into_inner())).collect()
        };
        let parts = |all: BTreeMap<String, Spanned<Vec<String>>>| {
            all.into_iter().map(|pair| (pair.0, pair.1.into_inner())).collect()
        };
        let digests: Vec<(String, Spanned<DigestRow>)> =
            written.sponge.clone().into_iter().chain(written.compression.clone()).collect();
        let rows = |all: BTreeMap<String, Spanned<DigestRow>>| {
            all.into_iter().map(|pair| (pair.0, pair.1.into_inner())).collect()
        };
        let primitive = Primitive {
            short: None,
            name,
            kind: written.kind.map_or_else(|| "program".into(), Spanned::into_inner),
            source: written.source.map_or_else(String::new, Spanned::into_inner),
            file: String::new(),
            entry,
            schedule: written.schedule.map(Spanned::into_inner),
            schedule_params: own(written.schedule_params),
            params: own(written.params.into_inner()),
            output: written.output.into_inner(),
            compose: parts(written.compose),
            own_modes: parts(written.modes),
            sponge: rows(written.sponge),
            compression: rows(written.compression),
        };
        let word_bits = def.params.iter().find_map(|decl| words(decl).map(|(_, bits)| bits));
        // Sizes are wrong if a layout is.
        let digests = if self.errors.is_empty() { digests } else { Vec::new() };
        for (mode, row) in &digests {
            self.digest(&primitive, mode, row, word_bits);
        }
        Some(primitive)
    }

    /// A hash, which is over the one parameter of the entry.
    fn digest(
        &mut self,
        primitive: &Primitive,
        mode: &str,
        row: &Spanned<DigestRow>,
        word_bits: Option<u64>,
    ) {
        let (range, row) = (row.span(), row.get_ref());
        let is_known = ["blocks", "ctr", "ctr64", "stream", "aead"].contains(&mode)
            || primitive.sponge.contains_key(mode) && primitive.compression.contains_key(mode);
        if !is_name(mode) || is_known {
            self.wrong(range, format!("`{mode}` cannot be a mode"), "another name");
        } else if !is_name(&row.name) {
            self.wrong(range, format!("`{}` cannot be a name in C", row.name), NAMES);
        } else if let Some(other) = mode_called(primitive, &row.name).filter(|other| *other < mode)
        {
            let message = format!("`{other}` has the name `{}` already", row.name);
            self.wrong(range, message, "a name of its own");
        } else if !is_plain_text(&row.title) {
            let message = "this stands in comments and texts of C, Rust and Python";
            self.wrong(range, message.into(), "a title without quotes, backslashes and `*/`");
        } else if primitive.params.len() != 1 || primitive.schedule.is_some() {
            let message = format!("`{}` has several parameters", primitive.entry);
            self.wrong(range, message, "a hash is over a node with one, its `input`");
        } else if primitive.sponge.contains_key(mode) != row.rate.is_some() {
            let message = "a row of `sponge` has a `rate`, one of `compression` has none";
            self.wrong(range, message.into(), "in this hash");
        } else {
            match primitive.digest(mode, row) {
                Ok(digest) if Some(u64::from(digest.word.bits)) != word_bits => {
                    let message = format!("`{}` is no word of `{}`", row.word, primitive.entry);
                    self.wrong(range, message, "words of the size of the node's");
                }
                Ok(_) => {}
                Err(why) => self.wrong(range, why, "in this hash"),
            }
        }
    }

    /// Names in the file that the node does not have.
    fn known_params(&mut self, params: &BTreeMap<String, Spanned<FieldLayout>>, def: &Def) {
        for (name, field) in params {
            if !def.params.iter().any(|param| *param.name.name == **name) {
                let span = self.span(field.span());
                let guess = did_you_mean(name, def.params.iter().map(|param| &*param.name.name));
                let message = format!("node `{}` has no parameter `{name}`", def.name.name);
                let mut error = Diagnostic::new(message).at(span, "for no parameter");
                error.help = guess;
                self.errors.push(error);
            }
        }
    }

    fn field<'f>(&mut self, field: &'f Spanned<FieldLayout>, decl: &Decl, used: &mut Used<'f>) {
        let FieldLayout { field: name, layout } = field.get_ref();
        if !FIELDS.contains(&name.as_str()) {
            self.wrong(
                field.span(),
                format!("`{name}` is not a field"),
                &format!("one of {}", FIELDS.join(", ")),
            );
            return;
        }
        self.covers(&(layout, field.span()), decl, "parameter");
        let own = (layout.as_str(), words(decl));
        if *used.entry(name).or_insert(own) != own {
            self.wrong(
                field.span(),
                format!("field `{name}` is laid out in two ways"),
                "another layout, or words of another size",
            );
        }
    }

    /// Checks that the layout has as many bits as the words.
    fn covers(&mut self, layout: &Placed<'_>, decl: &Decl, what: &str) {
        let name = &decl.name.name;
        let parsed = match Layout::parse(layout.0) {
            Ok(parsed) => parsed,
            Err(why) => {
                return self.wrong(
                    layout.1.clone(),
                    format!("the layout of `{name}` cannot be read: {why}"),
                    "this layout",
                );
            }
        };
        let place = self.ast.sources.span(decl.name.loc);
        let Some((n, m)) = words(decl) else {
            let message = format!(
                "the words of `{name}` have no size of their own, so no bytes can be laid out"
            );
            let span = self.span(layout.1.clone());
            let error = Diagnostic::new(message)
                .at(place, "write a size, such as u16")
                .at(span, "laid out here");
            self.errors.push(error);
            return;
        };
        if parsed.position.len() as u64 != n * m {
            let message = format!(
                "the layout of `{name}` has {} bits, but the {what} {}",
                parsed.position.len(),
                report_words(n, m)
            );
            let span = self.span(layout.1.clone());
            self.errors
                .push(Diagnostic::new(message).at(span, "this layout").at(place, "these words"));
        }
    }

    fn unfilled(&mut self, decl: &Decl, table: &str) {
        let text = words(decl)
            .map_or_else(String::new, |(n, m)| format!(", which {}", report_words(n, m)));
        let place = self.ast.sources.span(decl.name.loc);
        let help = if table == "params" {
            format!(
                "give it a field in `params` of {}, or name the node that makes it as `schedule`",
                self.source.name
            )
        } else {
            format!("give it a field in `{table}` of {}", self.source.name)
        };
        let error = Diagnostic::new(format!("the layout does not fill `{}`{text}", decl.name.name))
            .at(place, "no bytes go here");
        self.errors.push(error.with_help(help));
    }

    /// The results of the schedule are the other parameters of the entry, in order.
    fn round_keys(&mut self, schedule: &Spanned<String>, made: &Def, rest: &[&Decl]) {
        for (result, param) in made.returns.iter().zip(rest) {
            if words(result) != words(param) {
                let (result_place, place) =
                    (self.ast.sources.span(result.name.loc), self.ast.sources.span(param.name.loc));
                let message = format!(
                    "`{}` of the schedule is not of the type of `{}`",
                    result.name.name, param.name.name
                );
                self.errors.push(
                    Diagnostic::new(message).at(result_place, "made here").at(place, "taken here"),
                );
            }
        }
        for param in rest.iter().skip(made.returns.len()) {
            self.unfilled(param, "params");
        }
        if made.returns.len() > rest.len() {
            let message = format!(
                "`{}` makes {} values, {} are taken",
                made.name.name,
                made.returns.len(),
                rest.len()
            );
            self.wrong(schedule.span(), message, "this schedule");
        }
    }
}

/// The layout of an unambiguous interface: one input and one result of bytes, and at most one key
/// by name; else `None`.
pub fn guess(stem: &str, ast: &Program, entry: &str) -> Option<Primitive> {
    let def = ast.defs.iter().rfind(|def| *def.name.name == *entry)?;
    let is_key = |decl: &&Decl| KEYS.contains(&&*decl.name.name);
    let (keys, inputs): (Vec<&Decl>, Vec<&Decl>) = if def.params.len() == 1 {
        (vec![], vec![&def.params[0]])
    } else {
        def.params.iter().partition(is_key)
    };
    let ([input], [output], true) = (&inputs[..], &def.returns[..], keys.len() < 2) else {
        return None;
    };
    let layout = |decl: &Decl| {
        words(decl).filter(|word| word.1 == 8).map(|(n, _)| format!("byte:{n} bit:8 -> byte | bit"))
    };
    let mut params = BTreeMap::new();
    for (decl, field) in keys.iter().map(|key| (*key, "key")).chain([(*input, "input")]) {
        params.insert(
            decl.name.name.to_string(),
            FieldLayout { field: field.into(), layout: layout(decl)? },
        );
    }
    let name = usual_name(stem);
    let is_cipher = !keys.is_empty() && words(input) == words(output);
    is_name(&name).then_some(Primitive {
        short: None,
        name,
        kind: if is_cipher { "block cipher" } else { "program" }.into(),
        source: String::new(),
        file: String::new(),
        entry: entry.into(),
        schedule: None,
        schedule_params: BTreeMap::new(),
        params,
        output: layout(output)?,
        compose: BTreeMap::new(),
        own_modes: BTreeMap::new(),
        sponge: BTreeMap::new(),
        compression: BTreeMap::new(),
    })
}

/// Words and bits of a word; `None` if the size is open.
fn words(decl: &Decl) -> Option<(u64, u64)> {
    match &decl.ty {
        Type::Words { m: Size::Fixed(m), .. } => Some((decl.ty.n_atoms(), u64::from(*m))),
        _ => None,
    }
}

fn report_words(n: u64, m: u64) -> String {
    format!(
        "has {}: {} of {m}",
        report::number::count((n * m) as usize, "bit"),
        report::number::count(n as usize, "word")
    )
}

fn usual_name(stem: &str) -> String {
    stem.to_lowercase().replace(['_', '.', ' '], "-")
}

/// What names in C, Rust and Python can be made of.
const NAMES: &str =
    "lower case letters, digits, `-` and `_`, a letter first, and no word of C, Rust or Python";

fn is_name(name: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(inside)
        && !is_taken(name)
}

/// The first mode whose hash has this name.
fn mode_called<'a>(primitive: &'a Primitive, name: &str) -> Option<&'a str> {
    let rows = primitive.sponge.iter().chain(&primitive.compression);
    rows.filter(|(_, row)| row.name == name).map(|(mode, _)| &**mode).min()
}

/// True if a line can stand in a comment or string.
fn is_plain_text(text: &str) -> bool {
    !text.is_empty()
        && !text.contains("*/")
        && !text.contains("/*")
        && !text.contains(|c: char| c.is_control() || "\"\\@".contains(c))
}

fn is_mode_name(mode: &str) -> bool {
    ["ctr", "ctr64"].contains(&mode)
}

/// Checks the parts of a mode or of a composed field, which make up `n_bytes`.
fn parts_size(parts: &[String], is_mode: bool, n_bytes: usize) -> Result<(), String> {
    let (mut total, mut n_counters, mut names) = (0, 0, Vec::new());
    for part in parts {
        let (name, size) =
            part.split_once(':').ok_or_else(|| format!("`{part}` is not of the form name:size"))?;
        total += match (name, size) {
            ("hex", digits) => crate::run_text::from_hex(digits)?.len(),
            ("counter", "le32" | "be32") => 4,
            ("counter", "le64" | "be64") => 8,
            ("counter", "be128" | "le128") => 16,
            ("counter", _) => {
                return Err(format!(
                    "`{part}` is not a counter: le or be, then 32, 64 or 128 bits"
                ));
            }
            ("key" | "nonce" | "tweak" | "sigma", n) => n
                .parse()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| format!("`{part}` has no number of bytes"))?,
            _ => {
                return Err(format!(
                    "`{name}` is not a part: hex, key, nonce, tweak, sigma or counter"
                ));
            }
        };
        n_counters += usize::from(name == "counter");
        if name != "hex" && names.contains(&name) {
            return Err(format!("`{name}` stands twice"));
        }
        names.push(name);
    }
    if is_mode && n_counters != 1 {
        return Err("a mode has one `counter`".into());
    }
    if total != n_bytes {
        return Err(format!("the parts have {total} bytes, the input has {n_bytes}"));
    }
    Ok(())
}
