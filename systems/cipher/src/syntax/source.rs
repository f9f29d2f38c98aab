//! Door: reads a program and the files it includes, and turns positions into diagnostics.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span};

use super::ast::Program;
use super::lexer::lex;
use super::parser::{Item, parse_items};

/// Largest source file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Deepest chain of includes.
const INCLUDE_DEPTH_MAX: usize = 64;

/// A byte range of one of the files of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// Which file, an index into [`Sources`].
    pub file: u32,
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Loc {
    /// The smallest range that covers both.
    pub fn to(self, other: Loc) -> Loc {
        Loc { file: self.file, start: self.start, end: other.end.max(self.end) }
    }
}

/// The files of a program, in the order in which they were opened.
#[derive(Debug, Default, Clone)]
pub struct Sources {
    files: Vec<Arc<SourceFile>>,
}

impl Sources {
    /// The place as a span of diagnostics.
    pub fn span(&self, loc: Loc) -> Span {
        let file = self.files[loc.file as usize].clone();
        let end = (loc.end as usize).min(file.text.len());
        Span { range: (loc.start as usize).min(end)..end, file }
    }

    /// The text at a place.
    pub fn text(&self, loc: Loc) -> &str {
        &self.files[loc.file as usize].text[loc.start as usize..loc.end as usize]
    }

    /// A message about one place.
    pub fn error(
        &self,
        loc: Loc,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            spans: vec![(self.span(loc), label.into())],
            help: None,
        }
    }

    /// File name and 1-based line of a place, for `#line`.
    pub fn line(&self, loc: Loc) -> (&str, usize) {
        let file = &self.files[loc.file as usize];
        let upto = (loc.start as usize).min(file.text.len());
        (&file.name, 1 + file.text.as_bytes()[..upto].iter().filter(|b| **b == b'\n').count())
    }

    fn add(&mut self, name: String, text: String) -> u32 {
        self.files.push(Arc::new(SourceFile { name, text }));
        (self.files.len() - 1) as u32
    }
}

/// Reads `path` and everything it includes; `include_dirs` are searched after the including
/// file's own folder. Syntax errors of all files are reported together.
pub fn load(path: &Path, include_dirs: &[PathBuf]) -> Result<Program, Vec<Diagnostic>> {
    let mut loader = Loader { include_dirs, ..Loader::default() };
    match read(path) {
        Ok(text) => loader.file(path, text),
        Err(message) => loader.errors.push(plain(message)),
    }
    loader.finish()
}

/// Parses a text that is already in memory; messages call it `name`.
pub fn load_text(
    name: &str,
    text: &str,
    include_dirs: &[PathBuf],
) -> Result<Program, Vec<Diagnostic>> {
    let mut loader = Loader { include_dirs, ..Loader::default() };
    loader.file(Path::new(name), text.to_string());
    loader.finish()
}

fn plain(message: String) -> Diagnostic {
    Diagnostic { message, spans: vec![], help: None }
}

fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let meta = std::fs::metadata(path).map_err(|err| format!("cannot read `{shown}`: {err}"))?;
    if meta.is_dir() {
        return Err(format!("`{shown}` is a folder, not an Usuba file"));
    }
    if !meta.is_file() {
        return Err(format!("`{shown}` is not an ordinary file"));
    }
    if meta.len() > FILE_BYTES_MAX {
        return Err(format!("`{shown}` is larger than {} MiB", FILE_BYTES_MAX >> 20));
    }
    let bytes = std::fs::read(path).map_err(|err| format!("cannot read `{shown}`: {err}"))?;
    String::from_utf8(bytes).map_err(|err| {
        let at = err.utf8_error().valid_up_to();
        let line = 1 + err.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
        format!("`{shown}` is not UTF-8 text (byte {at}, line {line})")
    })
}

#[derive(Default)]
struct Loader<'a> {
    include_dirs: &'a [PathBuf],
    sources: Sources,
    program: Program,
    /// Files that are being read now, outermost first, and where each was included.
    open: Vec<PathBuf>,
    done: Vec<PathBuf>,
    errors: Vec<Diagnostic>,
}

impl Loader<'_> {
    fn file(&mut self, path: &Path, text: String) {
        let file = self.sources.add(path.display().to_string(), text);
        let key = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        self.open.push(key.clone());
        let text = self.sources.files[file as usize].clone();
        let tokens = lex(file, &text.text, &self.sources, &mut self.errors);
        for item in parse_items(tokens, &self.sources, &mut self.errors, &mut self.program.warnings)
        {
            match item {
                Item::Def(def) => self.program.defs.push(def),
                Item::Include { name, loc } => self.include(path, &name, loc),
            }
        }
        self.open.pop();
        self.done.push(key);
    }

    fn include(&mut self, from: &Path, name: &str, loc: Loc) {
        let own_dir = from.parent().unwrap_or(Path::new("")).to_path_buf();
        let found = std::iter::once(&own_dir)
            .chain(self.include_dirs)
            .map(|dir| dir.join(name))
            .find(|p| p.exists());
        let Some(path) = found else {
            let mut error = self.sources.error(
                loc,
                format!("cannot find the included file `{name}`"),
                "included here",
            );
            error.help = Some(
                "it is looked for beside the including file, then in the folders given with -I"
                    .into(),
            );
            self.errors.push(error);
            return;
        };
        let key = path.canonicalize().unwrap_or_else(|_| path.clone());
        if let Some(at) = self.open.iter().position(|it| *it == key) {
            let mut cycle: Vec<String> = self.open[at..].iter().map(|p| short(p)).collect();
            cycle.push(short(&key));
            let message = format!("include cycle: {}", cycle.join(" -> "));
            self.errors.push(self.sources.error(loc, message, "closes the cycle"));
            return;
        }
        if self.done.contains(&key) {
            return; // a second inclusion adds nothing
        }
        if self.open.len() >= INCLUDE_DEPTH_MAX {
            self.errors.push(self.sources.error(
                loc,
                format!("more than {INCLUDE_DEPTH_MAX} files included in one another"),
                "here",
            ));
            return;
        }
        match read(&path) {
            Ok(text) => self.file(&path, text),
            Err(message) => self.errors.push(self.sources.error(loc, message, "included here")),
        }
    }

    fn finish(mut self) -> Result<Program, Vec<Diagnostic>> {
        if self.errors.is_empty() && self.program.defs.is_empty() {
            let file = self.sources.files.first().expect("a program without errors has a file");
            let end = file.text.trim_end().len() as u32;
            let message = format!("`{}` defines no node", file.name);
            let mut error = self.sources.error(
                Loc { file: 0, start: end, end },
                message,
                "the program ends here",
            );
            error.help = Some("a program is a list of node, table and perm definitions; the last node is the entry".into());
            self.errors.push(error);
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        self.program.sources = self.sources;
        Ok(self.program)
    }
}

fn short(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
