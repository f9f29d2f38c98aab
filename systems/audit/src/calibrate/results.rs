//! What the chains printed on the core: `name cycles iterations`, a line each.

use std::collections::BTreeMap;
use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span};

use super::source::{FIRST, LAST};
use crate::decode::Isa;

/// Cycles of a round, by the names of the chains.
pub type Measured = BTreeMap<String, f64>;

/// Reads the lines; `name` is the file's.
///
/// Errors: they are of another instruction set, or not whole: a line that is none, a number that is
/// not a whole one, no end.
pub fn read(name: &str, text: &str, isa: Isa) -> Result<Measured, Diagnostic> {
    let file = SourceFile::new(name, text);
    let place = |line: &str| {
        let at = line.as_ptr() as usize - text.as_ptr() as usize;
        (Arc::clone(&file), at..at + line.len())
    };
    let fault = |said: String, line: &str, label: &str| {
        let (file, range) = place(line);
        Diagnostic::new(said).at(Span::new(&file, range), label)
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let Some(set) = first.strip_prefix(FIRST).map(str::trim) else {
        let help = "give the whole output of the program that `audit calibrate` wrote";
        return Err(
            Diagnostic::new(format!("`{name}` does not begin with `{FIRST}`")).with_help(help)
        );
    };
    if set != isa.name() {
        let said = format!("`{name}` was measured on a core that runs {set}, not {}", isa.name());
        return Err(fault(said, first, "here").with_help("name a core of that set with --cpu"));
    }
    let mut measured = Measured::new();
    let mut has_end = false;
    for line in lines {
        if line == LAST {
            has_end = true;
            break;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[chain, cycles, iterations] = &words[..] else {
            let said = "a line is `name cycles iterations`".to_owned();
            return Err(fault(said, line, "not so"));
        };
        let whole = |word: &str| {
            word.parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(|| {
                let said = format!("`{word}` is no whole number of cycles or iterations");
                fault(said, line, "here").with_help("print what the counter counted, unchanged")
            })
        };
        let each = whole(cycles)? as f64 / whole(iterations)? as f64;
        if measured.insert(chain.to_owned(), each).is_some() {
            return Err(fault(format!("the chain `{chain}` comes twice"), line, "again"));
        }
    }
    if !has_end {
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let said = format!("`{name}` is cut off: its last line is not `{LAST}`");
        return Err(fault(said, last.trim(), "the last line"));
    }
    Ok(measured)
}
