//! A variable, or a parameter of a static function, of a wider type, so that nothing is extended.
//!
//! ```text
//! for (uint8_t i = 0; i < n; i++)  --->  for (size_t i = 0; i < n; i++)
//! ```

use super::place::{Place, Trial};
use super::source::{enclosing, with_line, words};
use crate::finding::Way;

/// Types as they are written, and wider ones, the first of which is for an index.
const WIDER: [(&str, &[&str]); 12] = [
    ("unsigned char ", &["size_t ", "unsigned "]),
    ("unsigned short ", &["size_t ", "unsigned "]),
    ("signed char ", &["size_t ", "int "]),
    ("uint8_t ", &["size_t ", "uint32_t "]),
    ("uint16_t ", &["size_t ", "uint32_t "]),
    ("int8_t ", &["size_t ", "int32_t "]),
    ("int16_t ", &["size_t ", "int32_t "]),
    ("uint32_t ", &["size_t "]),
    ("char ", &["size_t ", "unsigned "]),
    ("short ", &["size_t ", "int "]),
    ("unsigned ", &["size_t ", "unsigned long "]),
    ("int ", &["size_t ", "long "]),
];

pub(super) fn changes(place: &Place<'_>) -> Vec<Trial> {
    let line = place.line_of(place.found().idx);
    line.map_or_else(Vec::new, |line| above(place, line, |_| true))
}

/// Variables that choose an element in the function, tried for the first line that does so.
pub(super) fn of_indices(place: &Place<'_>) -> Vec<Trial> {
    let finding = place.audit.findings.iter().position(|found| {
        place.line_of(found.idx).is_some_and(|line| place.lines[line].contains('['))
    });
    let Some(finding) = finding else { return Vec::new() };
    let own = Place { finding, ..*place };
    let line = own.line_of(own.found().idx);
    line.map_or_else(Vec::new, |line| above(&own, line, |is_index| is_index))
}

/// Each declaration above a line of its function with a wider type; of indices or of others.
fn above(place: &Place<'_>, line: usize, is_wanted: impl Fn(bool) -> bool) -> Vec<Trial> {
    let Some(range) = enclosing(place.lines, line) else { return Vec::new() };
    let body = place.lines[range.clone()].iter().position(|line| line.contains('{')).unwrap_or(0);
    // What others call keeps its declaration.
    let is_static = words(place.lines[range.start]).any(|word| word == "static");
    let first = if is_static { range.start } else { range.start + body };
    let mut changes = Vec::new();
    for at in first..=line {
        let text = place.lines[at];
        let all = WIDER.iter().flat_map(|(narrow, wide)| {
            text.match_indices(narrow).map(move |(from, _)| (from, *narrow, *wide))
        });
        for (from, narrow, wide) in all {
            let variables = declared(text, from, narrow);
            let has_index =
                |name: &&str| place.lines[range.clone()].iter().any(|line| indexes(line, name));
            let is_index = variables.iter().any(has_index);
            if variables.is_empty() {
                continue;
            }
            let all = format!("`{}`", variables.join("`, `"));
            if !is_wanted(is_index) {
                continue;
            }
            for wide in wide.iter().skip(usize::from(!is_index)) {
                let changed = format!("{}{wide}{}", &text[..from], &text[from + narrow.len()..]);
                let source = with_line(place.lines, at, changed);
                let words = format!("line {}: make {all} `{}`", at + 1, wide.trim_end());
                let is_signed = |text: &str| text.starts_with("int") || text.starts_with("long");
                let is_turned = is_signed(narrow) && !is_signed(wide);
                let (wraps, nor) = match &variables[..] {
                    [_] => (format!("{all} never wraps"), " and never is negative"),
                    _ => (format!("none of {all} wraps"), " or is negative"),
                };
                let nor = if is_turned { nor } else { "" };
                let promise = format!("{wraps} as `{}`{nor}", narrow.trim_end());
                let change = place.change(Way::Wider, source, words);
                changes.push(Trial { promise: Some(promise), ..change });
            }
        }
    }
    changes
}

/// The variables that the type at `from` declares; none if it is no declaration of plain ones.
fn declared<'a>(text: &'a str, from: usize, narrow: &str) -> Vec<&'a str> {
    let before = text[..from].trim_end();
    let is_statement = before.is_empty() || before.ends_with(['{', ';']) || before == "const";
    let is_type = is_statement || before.ends_with(['(', ',']) || before.ends_with("const");
    let behind = &text[from + narrow.len()..];
    // Of parameters each has its type.
    let end = if is_statement { ";" } else { ",;)" };
    let end = behind.find(|letter| end.contains(letter)).unwrap_or(behind.len());
    let is_plain = |name: &str| {
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && !["char", "short", "int", "long"].contains(&name)
    };
    let all = behind[..end].split(',');
    let names: Vec<&str> =
        all.map(|one| one.split('=').next().unwrap_or_default().trim()).collect();
    if is_type && names.iter().all(|name| is_plain(name)) { names } else { Vec::new() }
}

/// The line has the variable between square brackets.
fn indexes(line: &str, variable: &str) -> bool {
    line.match_indices('[').any(|(at, _)| {
        let inside = line[at + 1..].split(']').next().unwrap_or_default();
        words(inside).any(|word| word == variable)
    })
}
