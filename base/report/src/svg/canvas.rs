//! The sheet a chart is drawn on: texts of estimated width, lines, boxes, dots and a legend.

use crate::escape::escape;
use crate::kind::Kind;

/// What a chart is drawn on: how wide it is, and how large its text.
#[derive(Debug, Clone, Copy)]
pub struct Sheet {
    /// Width of the chart; heights differ.
    pub width: f64,
    /// Size of ordinary text.
    pub text: f64,
    /// Size of ticks and values.
    pub small: f64,
    /// The widest that names of rows may be beside them; where one is wider, all
    /// stand above their rows.
    pub name_max: f64,
    /// Its class on the page, which shows one of the two.
    class: &'static str,
}

/// For a window, a file or paper.
pub const WIDE: Sheet =
    Sheet { width: 480.0, text: 12.0, small: 10.0, name_max: 150.0, class: "wide" };
/// For a phone, on which it is shown at its own size or larger, so no text is smaller than 12 px.
pub const NARROW: Sheet =
    Sheet { width: 300.0, text: 12.0, small: 12.0, name_max: 130.0, class: "narrow" };

/// Colours of series on a page that sets no `--series-N`; the first six are told apart by the
/// colour-blind too. As many as a Gantt chart has programs.
const COLOURS: [&str; 12] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7f3b08", "#5e4fa2",
    "#6b6b6b", "#d0147c", "#5a8f16", "#004d40",
];

/// The fill or stroke of series `idx`.
pub fn colour(idx: usize) -> String {
    let which = idx % COLOURS.len();
    format!("var(--series-{}, {})", which + 1, COLOURS[which])
}

/// Where the names of rows stand: beside them, or above them where one is too wide for that.
#[derive(Debug, Clone, Copy)]
pub struct RowNames {
    /// Where the rows begin.
    pub left: f64,
    /// How much higher each row is; nothing if the names stand beside them.
    pub height: f64,
}

impl RowNames {
    /// For `names`, which may be as wide as `width_max` beside their rows.
    pub fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
        sheet: Sheet,
        width_max: f64,
    ) -> RowNames {
        let widest = widest(names, sheet.text);
        if widest > width_max {
            RowNames { left: 6.0, height: sheet.text + 4.0 }
        } else {
            RowNames { left: widest + 10.0, height: 0.0 }
        }
    }
}

/// Which end of a text its position means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Where a text was put, so that tests can see overlaps.
#[cfg(test)]
#[derive(Debug, Clone)]
pub struct TextBox {
    pub text: String,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

#[derive(Debug)]
pub struct Canvas {
    pub sheet: Sheet,
    body: String,
    #[cfg(test)]
    pub texts: Vec<TextBox>,
}

impl Canvas {
    pub fn new(sheet: Sheet) -> Self {
        Canvas {
            sheet,
            body: String::new(),
            #[cfg(test)]
            texts: Vec::new(),
        }
    }

    /// Writes `text` with its baseline at `y`.
    pub fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        let name = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        #[cfg(test)]
        self.note_place(x, y, size, anchor, text);
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{name}\">{}</text>\n",
            escape(text)
        );
    }

    #[cfg(test)]
    fn note_place(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        let width = text_width(text, size);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let (top, bottom) = (y - size * 0.8, y + size * 0.2);
        self.texts.push(TextBox { text: text.to_owned(), left, right: left + width, top, bottom });
    }

    /// Writes `text`, shortened to `width_max`; the whole text appears under the pointer.
    pub fn text_within(
        &mut self,
        x: f64,
        y: f64,
        size: f64,
        anchor: Anchor,
        text: &str,
        width_max: f64,
    ) {
        let shown = shorten(text, size, width_max);
        if shown == text {
            self.text(x, y, size, anchor, text);
            return;
        }
        self.body += &format!("<g><title>{}</title>\n", escape(text));
        self.text(x, y, size, anchor, &shown);
        self.body += "</g>\n";
    }

    /// The name of a row that begins at `top` and whose middle is at `middle`.
    pub fn row_name(&mut self, names: RowNames, top: f64, middle: f64, name: &str) {
        let Sheet { text, width, .. } = self.sheet;
        if names.height > 0.0 {
            self.text_within(0.0, top + text + 2.0, text, Anchor::Start, name, width);
        } else {
            self.text(names.left - 6.0, middle + 4.0, text, Anchor::End, name);
        }
    }

    /// A thin line in the colour of the text; `strength` from 0 to 1.
    pub fn rule(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, strength: f64) {
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"currentColor\" stroke-opacity=\"{strength}\"/>\n"
        );
    }

    /// A thick line in the colour of a series.
    pub fn stroke(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, series_idx: usize) {
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{}\" stroke-width=\"2\"/>\n",
            colour(series_idx)
        );
    }

    /// A filled box, a mark of the chart; `says` appears under the pointer.
    pub fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, series_idx: usize, says: &str) {
        self.body += &format!(
            "<rect class=\"mark\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{}\"><title>{}</title></rect>\n",
            colour(series_idx),
            escape(says)
        );
    }

    /// A pale box that a text may stand on; rows differ. `says` appears under the pointer.
    pub fn tile(&mut self, x: f64, y: f64, width: f64, height: f64, row: usize, says: &str) {
        let strength = [0.30, 0.42, 0.36][row % 3];
        self.body += &format!(
            "<rect class=\"mark\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"1\" fill=\"{}\" \
             fill-opacity=\"{strength}\" stroke=\"currentColor\" stroke-opacity=\"0.25\" stroke-width=\"0.4\"><title>{}</title></rect>\n",
            colour(1),
            escape(says)
        );
    }

    /// A dot, a mark of the chart; `says` appears under the pointer.
    pub fn dot(&mut self, x: f64, y: f64, radius: f64, series_idx: usize, says: &str) {
        self.body += &format!(
            "<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{}\"><title>{}</title></circle>\n",
            colour(series_idx),
            escape(says)
        );
    }

    /// A line through `points`; odd series are dashed, so that colour is not the only sign.
    pub fn path(&mut self, points: &[(f64, f64)], series_idx: usize) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dashes = if series_idx % 2 == 1 { " stroke-dasharray=\"6 3\"" } else { "" };
        self.body += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{dashes}/>\n",
            points.join(" "),
            colour(series_idx)
        );
    }

    /// Title, kind and, for more than one name, a legend; returns the height used.
    pub fn head(&mut self, title: &str, kind: Kind, names: &[&str]) -> f64 {
        let Sheet { width: sheet_width, text: size, small, .. } = self.sheet;
        let kind = format!("[{kind}]");
        let width = sheet_width - text_width(&kind, small) - 10.0;
        let lines = lines_of(title, size + 1.0, width);
        for (idx, line) in lines.iter().enumerate() {
            self.text_within(0.0, 14.0 + 17.0 * idx as f64, size + 1.0, Anchor::Start, line, width);
        }
        self.text(sheet_width - 1.0, 14.0, small, Anchor::End, &kind);
        let mut y = 24.0 + 17.0 * lines.len().saturating_sub(1) as f64;
        if names.len() < 2 {
            return y;
        }
        y += 10.0;
        let mut x = 0.0;
        for (idx, name) in names.iter().enumerate() {
            let width = text_width(name, small).min(sheet_width - 16.0) + 14.0;
            if x > 0.0 && x + width > sheet_width {
                x = 0.0;
                y += 16.0;
            }
            self.body += &format!(
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\" fill=\"{}\"/>\n",
                y - 8.0,
                colour(idx)
            );
            self.text_within(x + 13.0, y, small, Anchor::Start, name, sheet_width - 16.0);
            x += width + 14.0;
        }
        y + 10.0
    }

    /// The finished chart, named `title` for screen readers.
    pub fn finish(self, title: &str, height: f64) -> String {
        let title = escape(title);
        let Sheet { width, class, .. } = self.sheet;
        format!(
            "<svg class=\"chart {class}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" role=\"img\" \
             aria-label=\"{title}\" font-family=\"system-ui, sans-serif\" fill=\"currentColor\">\n<title>{title}</title>\n{}</svg>\n",
            self.body
        )
    }
}

/// The widest of `texts`.
pub fn widest<'a>(texts: impl IntoIterator<Item = &'a str>, size: f64) -> f64 {
    texts.into_iter().map(|text| text_width(text, size)).fold(0.0, f64::max)
}

/// Width of `text`, on the safe side for the usual sans-serif faces.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(|letter| char_width(letter) * size).sum()
}

fn char_width(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' => 0.34,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' => 0.72,
        ' '..='~' => 0.6,
        '\u{a0}'..='\u{2fff}' => 0.75,
        _ => 1.05,
    }
}

/// The words of `text` in lines of at most `width_max`, but for a word that is longer.
pub fn lines_of(text: &str, size: f64, width_max: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(last) if text_width(&format!("{last} {word}"), size) <= width_max => {
                *last += &format!(" {word}")
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn shorten(text: &str, size: f64, width_max: f64) -> String {
    if text_width(text, size) <= width_max {
        return text.to_owned();
    }
    let mut width = text_width("…", size);
    let fits = |letter: &char| {
        width += char_width(*letter) * size;
        width <= width_max
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
pub mod tests {
    use super::super::chart::Chart;
    use super::*;

    /// Panics when two texts overlap or one leaves the sheet, on either sheet, or if text on
    /// a phone is small.
    pub fn assert_readable(chart: &impl Chart) {
        for sheet in [WIDE, NARROW] {
            let (canvas, height) = chart.draw(sheet);
            assert_texts_are_apart(&canvas, height);
        }
        let (canvas, _) = chart.draw(NARROW);
        for text in &canvas.texts {
            assert!(text.bottom - text.top >= 11.99, "small on a phone: {text:?}");
        }
    }

    fn assert_texts_are_apart(canvas: &Canvas, height: f64) {
        for (idx, a) in canvas.texts.iter().enumerate() {
            assert!(
                a.left >= -0.5 && a.right <= canvas.sheet.width + 0.5,
                "leaves the sheet: {a:?}"
            );
            assert!(
                a.top >= 0.0 && a.bottom <= height,
                "leaves the sheet of height {height}: {a:?}"
            );
            for b in &canvas.texts[idx + 1..] {
                let apart = a.right <= b.left
                    || b.right <= a.left
                    || a.bottom <= b.top
                    || b.bottom <= a.top;
                assert!(apart, "`{}` overlaps `{}`", a.text, b.text);
            }
        }
    }

    #[test]
    fn titles_take_as_many_lines_as_they_need() {
        assert_eq!(lines_of("cycles a byte", WIDE.text, 400.0), ["cycles a byte"]);
        assert_eq!(lines_of("cycles a byte", WIDE.text, 60.0), ["cycles a", "byte"]);
        assert_eq!(lines_of("cycles a byte", WIDE.text, 40.0), ["cycles", "a byte"]);
        assert_eq!(lines_of("incomprehensibilities", WIDE.text, 60.0), ["incomprehensibilities"]);
        assert!(lines_of("", WIDE.text, 60.0).is_empty());
    }

    #[test]
    fn long_texts_are_shortened() {
        let shown = shorten("a very long name of a cipher", WIDE.text, 60.0);
        assert!(shown.ends_with('…') && text_width(&shown, WIDE.text) <= 60.0, "{shown}");
        assert_eq!(shorten("ace", WIDE.text, 60.0), "ace");
    }
}
