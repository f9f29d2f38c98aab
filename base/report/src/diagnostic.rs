//! A message about a place in the user's file: what is wrong, where, why, and what to do.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};

/// One text file that diagnostics point into.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the user wrote it.
    pub name: String,
    pub text: String,
}

impl SourceFile {
    /// A file that many spans can share.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<SourceFile> {
        Arc::new(SourceFile { name: name.into(), text: text.into() })
    }
}

/// A byte range of one source file.
#[derive(Debug, Clone)]
pub struct Span {
    /// The file the range lies in.
    pub file: Arc<SourceFile>,
    /// Byte offsets into `file.text`.
    pub range: Range<usize>,
}

impl Span {
    /// The bytes `range` of `file`.
    pub fn new(file: &Arc<SourceFile>, range: Range<usize>) -> Span {
        Span { file: Arc::clone(file), range }
    }

    /// The text the span covers; offsets outside the file or inside a character are moved to
    /// the nearest character before.
    pub fn text(&self) -> &str {
        let text = &self.file.text;
        let start = text.floor_char_boundary(self.range.start);
        let end = text.floor_char_boundary(self.range.end).max(start);
        &text[start..end]
    }

    /// Line and column of the start, both from 1, the column in characters.
    pub fn line_column(&self) -> (usize, usize) {
        let text = &self.file.text;
        let before = &text[..text.floor_char_boundary(self.range.start)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
        (line, 1 + before[line_start..].chars().count())
    }
}

/// One message; `spans[0]`, if there is one, is the place it is about, the others explain.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The user's words, lower case, no full stop.
    pub message: String,
    /// Places with the label shown under each.
    pub spans: Vec<(Span, String)>,
    /// What to do, only if we are sure.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A message without a place; add places with [`Diagnostic::at`].
    pub fn new(message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), spans: Vec::new(), help: None }
    }

    /// Adds a place; the first one added is the place the message is about.
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.spans.push((span, label.into()));
        self
    }

    /// Says what to do.
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Line and column of the first place, both from 1, the column in characters.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        self.spans.first().map(|(span, _)| span.line_column())
    }

    /// One line for a remark, with what to do.
    pub fn remark(&self) -> String {
        match &self.help {
            Some(help) => format!("{self} ({help})"),
            None => self.to_string(),
        }
    }

    /// The message as an object with the keys `file`, `line`, `column`, `message`, `help`;
    /// what is not known is null.
    pub fn to_json(&self) -> Value {
        let place = self.line_column();
        json!({
            "file": self.spans.first().map(|(span, _)| &span.file.name),
            "line": place.map(|(line, _)| line),
            "column": place.map(|(_, column)| column),
            "message": self.message,
            "help": self.help,
        })
    }
}

/// One line: `file:line:column: message`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((span, _)) = self.spans.first() {
            let (line, column) = span.line_column();
            write!(f, "{}:{line}:{column}: ", span.file.name)?;
        }
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(diagnostic: Diagnostic, expected: Expect) {
        expected.assert_eq(&diagnostic.render(false));
    }

    fn span_of(file: &Arc<SourceFile>, word: &str) -> Span {
        let start = file.text.find(word).expect("the word is in the text");
        Span::new(file, start..start + word.len())
    }

    #[test]
    fn message_place_and_help() {
        let text = "node f(a:u16)\n  returns (b:u16)\nlet\n  b = a ^ kk\ntel\n";
        let file = SourceFile::new("gift.ua", text);
        check(
            Diagnostic::new("`kk` is not defined")
                .at(span_of(&file, "kk"), "not defined")
                .with_help("did you mean `k`?"),
            expect![[r#"
                error: `kk` is not defined
                   ,-[gift.ua:4:11]
                 3 | let
                 4 |   b = a ^ kk
                   :           ^|
                   :            `-- not defined
                 5 | tel
                   `----
                  = help: did you mean `k`?
            "#]],
        );
    }

    #[test]
    fn far_places_and_other_files_are_drawn_apart() {
        let lines: Vec<String> = (1..=20).map(|i| format!("x{i} = y{i}")).collect();
        let file = SourceFile::new("a.ua", lines.join("\n"));
        let other = SourceFile::new("b.ua", "include \"a.ua\"");
        check(
            Diagnostic::new("`x3` is defined twice")
                .at(span_of(&file, "y17"), "again here")
                .at(span_of(&file, "x3"), "first here")
                .at(span_of(&other, "a.ua"), "included here"),
            expect![[r#"
                error: `x3` is defined twice
                    ,-[a.ua:17:7]
                 16 | x16 = y16
                 17 | x17 = y17
                    :       ^|^
                    :        `-- again here
                 18 | x18 = y18
                    `----
                   ,-[a.ua:3:1]
                 2 | x2 = y2
                 3 | x3 = y3
                   : ^|
                   :  `-- first here
                 4 | x4 = y4
                   `----
                   ,-[b.ua:1:10]
                 1 | include "a.ua"
                   :          ^^|^
                   :            `-- included here
                   `----
            "#]],
        );
    }

    #[test]
    fn empty_file() {
        let file = SourceFile::new("empty.ua", "");
        check(
            Diagnostic::new("no node is defined").at(Span::new(&file, 0..0), "expected a node"),
            expect![[r#"
                error: no node is defined
                   ,-[empty.ua:1:1]
                 1 | 
                   : ^
                   : `-- expected a node
                   `----
            "#]],
        );
    }

    #[test]
    fn end_of_file_tabs_and_carriage_returns() {
        let file = SourceFile::new("t.ua", "let\r\n\ta = b;\r\n\tc = d");
        check(
            Diagnostic::new("`tel` is missing")
                .at(Span::new(&file, file.text.len()..file.text.len()), "here"),
            expect![[r#"
                error: `tel` is missing
                   ,-[t.ua:3:7]
                 2 |     a = b;
                 3 |     c = d
                   :          ^
                   :          `-- here
                   `----
            "#]],
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{} bad {}", "(a ^ b) & ".repeat(100), "| c".repeat(1000));
        let file = SourceFile::new("long.ua", text);
        check(
            Diagnostic::new("`bad` is not defined").at(span_of(&file, "bad"), "here"),
            expect![[r#"
                error: `bad` is not defined
                   ,-[long.ua:1:1002]
                 1 | ...a ^ b) & (a ^ b) & (a ^ b) & (a ^ b) &  bad | c| c| c| c| c| c| c| c| c| c| c| c...
                   :                                            ^|^
                   :                                             `-- here
                   `----
            "#]],
        );
    }

    #[test]
    fn colour_draws_lines_and_escapes() {
        let file = SourceFile::new("a.ua", "x = y");
        let text = Diagnostic::new("no").at(span_of(&file, "y"), "y").render(true);
        assert!(text.starts_with("\u{1b}[1;31merror\u{1b}[0m: no\n"));
        assert!(text.contains('╭'));
    }

    #[test]
    fn escapes_in_a_file_do_not_reach_the_terminal() {
        let file = SourceFile::new("a.ua", "x = \u{1b}[2Jy\u{7}");
        let text = Diagnostic::new("no \u{1b}[2J").at(span_of(&file, "y"), "y").render(false);
        assert!(!text.contains('\u{1b}'));
        assert!(!text.contains('\u{7}'));
    }

    #[test]
    fn no_span_panics() {
        for text in ["", "\n", "a\n\nß\u{301}字\tz", "\r\r\n\n", "x\n\ty", "🦀"] {
            let file = SourceFile::new("f.ua", text);
            for start in 0..text.len() + 3 {
                for end in start.saturating_sub(1)..text.len() + 3 {
                    let twice = Diagnostic::new("m")
                        .at(Span::new(&file, start..end), "l")
                        .at(Span::new(&file, 0..text.len()), "whole\ntwo lines")
                        .at(Span::new(&file, end..start), "");
                    assert!(twice.render(false).contains("f.ua"));
                    assert!(twice.line_column().is_some());
                }
            }
        }
    }

    #[test]
    fn columns_count_characters() {
        let file = SourceFile::new("a.ua", "x\nßß字 = q");
        assert_eq!(span_of(&file, "q").line_column(), (2, 7));
        assert_eq!(Span::new(&file, 3..99).text(), "ßß字 = q");
    }

    #[test]
    fn json_has_the_fixed_keys() {
        let file = SourceFile::new("a.ua", "x\ny");
        let placed = Diagnostic::new("no").at(span_of(&file, "y"), "");
        expect![[r#"{"file":"a.ua","line":2,"column":1,"message":"no","help":null}"#]]
            .assert_eq(&placed.to_json().to_string());
        let loose = Diagnostic::new("no").with_help("go");
        expect![[r#"{"file":null,"line":null,"column":null,"message":"no","help":"go"}"#]]
            .assert_eq(&loose.to_json().to_string());
    }
}
