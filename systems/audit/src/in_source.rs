//! Whether the source has what an edit would change. What a compiler made of a line need not stand
//! there: `and r0, r0, #1` is made of `!x`, a second copy of a loop of nothing at all.
//!
//! ```text
//! and ip, ip, #1     s = x & mask;           the mask may be left out
//! and ip, ip, #1     carry = set(s < x, c);  there is none: only the cause is said
//! ```
//!
//! An edit that was not tried is kept where each line that it names is there and has the thing, as
//! text. Nothing is parsed as C: where in doubt, the edit goes and the cause stays.

use crate::audit::Audit;
use crate::edit::{asks_for_null, expressions, is_kept, loads};
use crate::finding::Thing;
use crate::views::text::Sources;

/// A statement has no more lines than these.
const LINES_MAX: usize = 4;
/// How files of C and C++ end.
const C_FILES: [&str; 11] =
    [".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".C", ".inc", ".i"];

/// Takes away the edits that were not tried and that the source does not bear out.
pub fn keep_edits_of_the_source(audit: &mut Audit, sources: &Sources) {
    for at in 0..audit.findings.len() {
        let Some(edit) = &audit.findings[at].edit else { continue };
        let is_tried = edit.patch.is_some() || edit.tried > 0;
        if !is_tried && !edit.on.iter().all(|(idx, thing)| has(audit, sources, *idx, thing)) {
            audit.findings[at].edit = None;
        }
    }
}

/// A line of C or C++, and where it stands.
struct Line<'a> {
    lines: &'a [String],
    at: usize,
    file: &'a str,
}

impl<'a> Line<'a> {
    fn of(audit: &'a Audit, sources: &'a Sources, idx: usize) -> Option<Line<'a>> {
        let frame = audit.function.frames.get(idx)?.first()?;
        let lines = sources
            .get(&frame.file)
            .filter(|_| C_FILES.iter().any(|c_file| frame.file.ends_with(c_file)))?;
        let at = (frame.line as usize).checked_sub(1).filter(|number| *number < lines.len())?;
        Some(Line { lines, at, file: &frame.file })
    }

    /// The statement that begins there, without comments.
    fn statement(&self) -> String {
        let mut text = String::new();
        for line in self.lines[self.at..].iter().take(LINES_MAX) {
            let code = line.split("//").next().unwrap_or_default();
            let code = code.split("/*").next().unwrap_or_default().trim();
            text = text + code + " ";
            if code.ends_with([';', '{', '}']) {
                break;
            }
        }
        text
    }

    fn all(&self) -> Vec<&'a str> {
        self.lines.iter().map(String::as_str).collect()
    }
}

fn has(audit: &Audit, sources: &Sources, idx: usize, thing: &Thing) -> bool {
    let Some(line) = Line::of(audit, sources, idx) else { return false };
    let text = line.statement();
    let words: Vec<&str> = text
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .filter(|part| !part.is_empty())
        .collect();
    let has_word = |all: &[&str]| words.iter().any(|word| all.contains(word));
    match thing {
        Thing::Line => true,
        Thing::Mask => binary_and(&text),
        Thing::Narrow(8) => has_word(&["char", "uint8_t", "int8_t", "u8", "s8", "bool", "_Bool"]),
        Thing::Narrow(16) => has_word(&["short", "uint16_t", "int16_t", "u16", "s16", "wchar_t"]),
        Thing::Narrow(_) => has_word(&["int", "unsigned", "uint32_t", "int32_t", "u32", "s32"]),
        Thing::Load => !loads(&text).is_empty(),
        Thing::Assignment => assigns(&text),
        Thing::Test => {
            has_word(&["if", "while", "for", "switch"])
                || ["?", "&&", "||"].iter().any(|word| text.contains(word))
        }
        Thing::Comparison => assigns(&text) && compares(&text),
        Thing::Number => {
            words.iter().any(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
        }
        Thing::Member => text.contains("->") || text.contains('.'),
        Thing::Name(name) => words.contains(&name.as_str()),
        Thing::LoadOf(other) => {
            Line::of(audit, sources, *other).is_some_and(|found| both_load(&found, &line))
        }
        Thing::LoadAbove(test) => {
            Line::of(audit, sources, *test).is_some_and(|test| may_be_read_before(&line, &test))
        }
    }
}

/// Both lines load the same, and no line from the one to the other changes it; or one
/// line loads it twice.
fn both_load(first: &Line<'_>, second: &Line<'_>) -> bool {
    let (lines, text) = (second.all(), second.statement());
    let there = loads(&first.statement());
    let stands = |text: &String| is_kept(&lines, first.at, second.at, text);
    let is_twice = |value: &String| text.matches(value.as_str()).count() > 1;
    first.file == second.file
        && match first.at.cmp(&second.at) {
            std::cmp::Ordering::Less => {
                loads(&text).iter().any(|load| there.contains(load) && stands(load))
            }
            std::cmp::Ordering::Equal => there.iter().any(is_twice),
            std::cmp::Ordering::Greater => false,
        }
}

/// Something that the line loads has the same value before the test, and its pointer is not
/// asked for null between.
fn may_be_read_before(line: &Line<'_>, test: &Line<'_>) -> bool {
    let asks = test.statement();
    let is_loop = asks
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| ["for", "while", "do"].contains(&part));
    let lines = line.all();
    let stands = |text: &String| {
        is_kept(&lines, test.at, line.at + 1, text)
            && !asks_for_null(&lines, test.at, line.at, text)
    };
    line.file == test.file
        && test.at < line.at
        && asks.contains("if")
        && !is_loop
        && expressions(lines[line.at]).iter().any(stands)
}

/// Two operands and a single `&` between them, or `&=`.
fn binary_and(text: &str) -> bool {
    text.match_indices('&').any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + 1..]);
        let is_one = !before.ends_with('&') && !behind.starts_with('&');
        let operand = |letter: char| letter.is_ascii_alphanumeric() || "_)]".contains(letter);
        is_one && (behind.starts_with('=') || before.trim_end().ends_with(operand))
    })
}

fn compares(text: &str) -> bool {
    let plain = text.replace("->", "").replace("<<", "").replace(">>", "");
    ["==", "!=", "<", ">", "!"].iter().any(|word| plain.contains(word))
}

fn assigns(text: &str) -> bool {
    let is_assignment =
        |at: usize| !text[..at].ends_with(['=', '!', '<', '>']) && !text[at + 1..].starts_with('=');
    text.match_indices('=').any(|(at, _)| {
        is_assignment(at) || text[..at].ends_with("<<") || text[..at].ends_with(">>")
    }) || text.contains("++")
        || text.contains("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_a_single_and_between_two_operands() {
        for mask in ["x = y & 1;", "x &= 3;", "f(a[i]&b)", "if ((s & 3) == 1)"] {
            assert!(binary_and(mask), "{mask}");
        }
        for none in ["f(&x);", "if (a && b)", "p = &q->n;", "x = a * !c;", "return (&x)->n;"] {
            assert!(!binary_and(none), "{none}");
        }
    }

    #[test]
    fn an_assignment_is_no_comparison() {
        assert!(assigns("x = 3;") && assigns("n <<= 1;") && assigns("i++;") && assigns("x += y;"));
        assert!(!assigns("if (x == 3)") && !assigns("while (a <= b && c != d)"));
        assert!(compares("b = x < y;") && compares("b = !x;") && !compares("p->n = q->n << 2;"));
    }
}
