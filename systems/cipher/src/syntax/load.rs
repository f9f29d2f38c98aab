//! Door: reads a program and the files it includes.

use std::path::{Path, PathBuf};

use report::Diagnostic;

use super::ast::Program;
use super::lexer::lex;
use super::parser::{Item, parse_items};
use super::source::{Loc, Sources};

/// Largest source file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Deepest chain of includes.
const INCLUDE_DEPTH_MAX: usize = 64;

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
