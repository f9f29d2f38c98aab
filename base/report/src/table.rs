//! A table, drawn for the terminal or as HTML from the same data.

use comfy_table::{CellAlignment, ContentArrangement, TableComponent, presets};

use crate::escape::escape;
use crate::kind::Kind;

/// How a cell's text sits in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// What a cell means to the reader; shown as colour in HTML, never by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
    Faint,
}

/// One field of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    /// How it sits in its column.
    pub align: Align,
    pub tone: Tone,
}

impl Cell {
    /// Words, on the left.
    pub fn words(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), align: Align::Left, tone: Tone::Plain }
    }

    /// A number, already written as text, on the right.
    pub fn number(text: impl ToString) -> Cell {
        Cell { text: text.to_string(), align: Align::Right, tone: Tone::Plain }
    }

    /// The same cell with another meaning.
    pub fn tone(mut self, tone: Tone) -> Cell {
        self.tone = tone;
        self
    }
}

/// A titled table; rows shorter than the columns are filled with empty cells.
#[derive(Debug, Clone)]
pub struct Table {
    pub title: String,
    /// What its numbers are, if it has any.
    pub kind: Option<Kind>,
    /// A sentence below it: sample counts, machine, what a short name means.
    pub note: Option<String>,
    /// Names of the columns, with units.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table. Each column has a name, which a screen reader says with each of its cells.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Table {
        assert!(columns.iter().all(|name| !name.is_empty()), "each column has a name: {columns:?}");
        Table {
            title: title.into(),
            kind: None,
            note: None,
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Says what the numbers are.
    pub fn kind(mut self, kind: Kind) -> Table {
        self.kind = Some(kind);
        self
    }

    /// Sets the sentence below the table.
    pub fn note(mut self, note: impl Into<String>) -> Table {
        self.note = Some(note.into());
        self
    }

    pub fn push(&mut self, row: Vec<Cell>) {
        assert!(
            row.len() <= self.columns.len(),
            "a row of `{}` has {} cells for {} columns",
            self.title,
            row.len(),
            self.columns.len()
        );
        self.rows.push(row);
    }

    /// How many rows it has.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// The table as text of at most `width` characters where the words allow it, or as wide
    /// as it needs; ends with a line end.
    pub fn terminal(&self, width: Option<u16>) -> String {
        let mut drawn = comfy_table::Table::new();
        drawn.load_preset(presets::NOTHING);
        drawn.set_style(TableComponent::HeaderLines, '-');
        drawn.set_style(TableComponent::MiddleHeaderIntersections, ' ');
        if let Some(width) = width {
            drawn.set_width(width);
            drawn.set_content_arrangement(ContentArrangement::Dynamic);
        } else {
            drawn.set_content_arrangement(ContentArrangement::Disabled);
        }
        drawn.set_header(self.columns.iter().enumerate().map(|(idx, name)| {
            comfy_table::Cell::new(one_line(name)).set_alignment(alignment(self.align_of(idx)))
        }));
        for row in &self.rows {
            let mut cells: Vec<comfy_table::Cell> = row
                .iter()
                .map(|cell| {
                    comfy_table::Cell::new(one_line(&cell.text))
                        .set_alignment(alignment(cell.align))
                })
                .collect();
            cells.resize(self.columns.len(), comfy_table::Cell::new(""));
            drawn.add_row(cells);
        }
        let mut text = one_line(&self.title);
        if let Some(kind) = self.kind {
            text += &format!("    [{kind}]");
        }
        text.push('\n');
        for line in drawn.lines() {
            text += line.trim_end();
            text.push('\n');
        }
        if let Some(note) = &self.note {
            text += &format!("{note}\n");
        }
        text
    }

    /// The table as an HTML figure that scrolls sideways where it does not fit.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let kind =
            self.kind.map_or(String::new(), |kind| format!(" <span class=\"kind\">{kind}</span>"));
        let mut html = format!(
            "<figure class=\"table\">\n<figcaption>{title}{kind}</figcaption>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n<table>\n<thead><tr>"
        );
        for (idx, name) in self.columns.iter().enumerate() {
            let class = class_of(self.align_of(idx), Tone::Plain);
            html += &format!("<th scope=\"col\"{class}>{}</th>", escape(name));
        }
        html += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            html += "<tr>";
            for cell in row {
                let class = class_of(cell.align, cell.tone);
                html += &format!("<td{class}>{}</td>", escape(&cell.text));
            }
            html += &"<td></td>".repeat(self.columns.len() - row.len());
            html += "</tr>\n";
        }
        html += "</tbody>\n</table>\n</div>\n";
        if let Some(note) = &self.note {
            html += &format!("<p class=\"note\">{}</p>\n", escape(note));
        }
        html += "</figure>\n";
        html
    }

    /// A column's name sits as its first cell does.
    fn align_of(&self, column_idx: usize) -> Align {
        let first = self.rows.iter().find_map(|row| row.get(column_idx));
        first.map_or(Align::Left, |cell| cell.align)
    }
}

fn alignment(align: Align) -> CellAlignment {
    match align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    }
}

fn class_of(align: Align, tone: Tone) -> String {
    let mut names: Vec<&str> = Vec::new();
    match align {
        Align::Left => {}
        Align::Right => names.push("number"),
    }
    match tone {
        Tone::Plain => {}
        Tone::Good => names.push("good"),
        Tone::Bad => names.push("bad"),
        Tone::Faint => names.push("faint"),
    }
    if names.is_empty() {
        return String::new();
    }
    format!(" class=\"{}\"", names.join(" "))
}

/// A cell with a control character would shift the columns.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn sample() -> Table {
        let mut table = Table::new("Cycles a byte", &["cipher", "cycles/byte", "remark"])
            .kind(Kind::Measured)
            .note("31 pairs, one machine");
        table.push(vec![
            Cell::words("aes <128>"),
            Cell::number("12.5").tone(Tone::Good),
            Cell::words("a remark of several words that may wrap"),
        ]);
        table.push(vec![Cell::words("ace"), Cell::number("7.03")]);
        table
    }

    #[test]
    fn terminal_as_wide_as_needed() {
        expect![[r#"
            Cycles a byte    [measured]
             cipher      cycles/byte   remark
            ----------- ------------- -----------------------------------------
             aes <128>          12.5   a remark of several words that may wrap
             ace                7.03
            31 pairs, one machine
        "#]]
        .assert_eq(&sample().terminal(None));
    }

    #[test]
    fn terminal_that_is_narrow() {
        let text = sample().terminal(Some(44));
        assert!(text.lines().all(|line| line.chars().count() <= 44), "{text}");
    }

    #[test]
    fn html_escapes_and_fills_short_rows() {
        expect![[r#"
            <figure class="table">
            <figcaption>Cycles a byte <span class="kind">measured</span></figcaption>
            <div class="scroll" tabindex="0" role="region" aria-label="Cycles a byte">
            <table>
            <thead><tr><th scope="col">cipher</th><th scope="col" class="number">cycles/byte</th><th scope="col">remark</th></tr></thead>
            <tbody>
            <tr><td>aes &lt;128&gt;</td><td class="number good">12.5</td><td>a remark of several words that may wrap</td></tr>
            <tr><td>ace</td><td class="number">7.03</td><td></td></tr>
            </tbody>
            </table>
            </div>
            <p class="note">31 pairs, one machine</p>
            </figure>
        "#]]
        .assert_eq(&sample().html());
    }
}
