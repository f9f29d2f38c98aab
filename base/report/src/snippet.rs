//! Draws a diagnostic: the message, the source lines it is about with labels, the help.
//!
//! miette draws the lines. It is handed a short view of them, so that tabs, carriage returns,
//! control characters, lines of a megabyte and spans past the end cannot hurt the drawing.

use std::fmt;
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};

use crate::diagnostic::{Diagnostic, SourceFile};

/// Longer lines are cut around the first label, in characters.
const LINE_CHARS_MAX: usize = 120;
/// What stays of a cut line before and after the first label's start, in characters.
const CUT_BEFORE_CHARS: usize = 40;
const CUT_AFTER_CHARS: usize = 40;
/// Labels at most this many lines apart are drawn in one piece.
const GAP_LINES: usize = 3;

impl Diagnostic {
    /// The message with its source lines, labels and help: drawn with colours and lines, or in
    /// plain ASCII. Ends with a line end.
    pub fn render(&self, colour: bool) -> String {
        let (word, help_word) = if colour {
            ("\u{1b}[1;31merror\u{1b}[0m", "\u{1b}[36mhelp\u{1b}[0m")
        } else {
            ("error", "help")
        };
        let mut text = format!("{word}: {}\n", clean(&self.message, true));
        for piece in pieces(self) {
            text += &draw(&piece, colour);
        }
        if let Some(help) = &self.help {
            let help = clean(help, true).replace('\n', "\n          ");
            text += &format!("  = {help_word}: {help}\n");
        }
        text
    }
}

/// A label on one line: columns are characters of the line.
struct Label {
    line_idx: usize,
    column_idx: usize,
    n_chars: usize,
    text: String,
}

/// Neighbouring lines of one file with their labels; the first label gives the place.
struct Piece {
    file: Arc<SourceFile>,
    labels: Vec<Label>,
}

/// The piece with the main place first, then the others in the order of their labels.
fn pieces(diagnostic: &Diagnostic) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (span, text) in &diagnostic.spans {
        let (line, column) = span.line_column();
        // A span of several lines is drawn on its first.
        let covered = span.text().lines().next().unwrap_or("");
        let label = Label {
            line_idx: line - 1,
            column_idx: column - 1,
            n_chars: covered.chars().count(),
            text: clean(text, true),
        };
        let home = pieces.iter_mut().find(|piece| {
            piece.file == span.file
                && piece.labels.iter().any(|it| it.line_idx.abs_diff(label.line_idx) <= GAP_LINES)
        });
        match home {
            Some(piece) => piece.labels.push(label),
            None => pieces.push(Piece { file: Arc::clone(&span.file), labels: vec![label] }),
        }
    }
    pieces
}

fn draw(piece: &Piece, colour: bool) -> String {
    let first_label_line = piece.labels.iter().map(|label| label.line_idx).min().unwrap_or(0);
    let last_label_line = piece.labels.iter().map(|label| label.line_idx).max().unwrap_or(0);
    let first_line = first_label_line.saturating_sub(1);
    let n_lines = last_label_line + 2 - first_line;

    let mut view = View {
        name: clean(&piece.file.name, false),
        text: String::new(),
        first_line,
        line: piece.labels[0].line_idx,
        column: piece.labels[0].column_idx,
        labels: Vec::new(),
    };
    // `lines` has no line for an empty file or after the last line end; a label may sit there.
    let lines = piece.file.text.split('\n').skip(first_line).take(n_lines);
    let n_lines_of_file = piece.file.text.lines().count();
    for (line_idx, line) in (first_line..).zip(lines) {
        let labels: Vec<&Label> =
            piece.labels.iter().filter(|label| label.line_idx == line_idx).collect();
        if labels.is_empty() && line_idx >= n_lines_of_file {
            break;
        }
        view.push_line(line.strip_suffix('\r').unwrap_or(line), &labels);
    }

    let mut drawn = String::new();
    handler(colour).render_report(&mut drawn, &view).expect("every label lies inside the view");
    // The first line is the message, which `render` has written.
    drawn.split_once('\n').map_or(String::new(), |(_, rest)| rest.to_owned())
}

fn handler(colour: bool) -> GraphicalReportHandler {
    let theme = if colour {
        GraphicalTheme { characters: ThemeCharacters::unicode(), styles: ThemeStyles::ansi() }
    } else {
        GraphicalTheme::none()
    };
    GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_wrap_lines(false)
        .with_context_lines(1)
        .tab_width(4)
        .without_syntax_highlighting()
}

/// The lines of a piece as they are drawn, with labels in bytes of `text`.
#[derive(Debug)]
struct View {
    name: String,
    text: String,
    /// Number of the first line of `text` in the file, from 0.
    first_line: usize,
    /// The place named above the lines, both from 0.
    line: usize,
    column: usize,
    labels: Vec<LabeledSpan>,
}

impl View {
    /// Adds `line`, cut around the first label if it is long, and its labels.
    fn push_line(&mut self, line: &str, labels: &[&Label]) {
        let n_chars = line.chars().count();
        let focus = labels.first().map_or(0, |label| label.column_idx.min(n_chars));
        let (from, to) = if n_chars <= LINE_CHARS_MAX {
            (0, n_chars)
        } else {
            let from = focus.saturating_sub(CUT_BEFORE_CHARS);
            (from, (focus + CUT_AFTER_CHARS).min(n_chars))
        };
        let start = self.text.len();
        if from > 0 {
            self.text += "...";
        }
        let shown_start = self.text.len();
        let shown: String = line.chars().skip(from).take(to - from).collect();
        let shown = clean(&shown, false);
        self.text += &shown;
        let shown_end = self.text.len();
        if to < n_chars {
            self.text += "...";
        }
        let end = self.text.len();
        self.text.push('\n');

        // Byte of the view for a column of the line; columns that were cut off go to the dots.
        let byte_of = |column_idx: usize| -> usize {
            if column_idx < from {
                return start;
            }
            let idx = column_idx - from;
            if column_idx > to {
                return end;
            }
            shown.char_indices().nth(idx).map_or(shown_end, |(byte, _)| shown_start + byte)
        };
        for label in labels {
            let label_start = byte_of(label.column_idx);
            let label_end = byte_of(label.column_idx.saturating_add(label.n_chars));
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            let n_bytes = label_end.saturating_sub(label_start);
            self.labels.push(LabeledSpan::new(text, label_start, n_bytes));
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for View {}

impl miette::Diagnostic for View {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

impl SourceCode for View {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        n_before: usize,
        n_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.text.read_span(span, n_before, n_after)?;
        // Without context miette asks for the place to name, with context for the lines.
        let (line, column) = if n_before == 0 {
            (self.line, self.column)
        } else {
            (found.line() + self.first_line, found.column())
        };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            found.data(),
            *found.span(),
            line,
            column,
            found.line_count(),
        )))
    }
}

/// `text` without characters that move the cursor; one character stays one character.
fn clean(text: &str, keep_line_ends: bool) -> String {
    text.chars()
        .map(|letter| match letter {
            '\n' if keep_line_ends => letter,
            '\t' => letter,
            // Direction marks would let a file lie about the order of its characters.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            _ if letter.is_control() => '\u{fffd}',
            _ => letter,
        })
        .collect()
}
