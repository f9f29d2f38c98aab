//! Ratios with their intervals: a dot, a line through the interval, and a line at 1.

use super::bars;
use super::canvas::{Anchor, Canvas, RowNames, Sheet, text_width};
use super::chart::Chart;
use super::ticks::Scale;
use crate::kind::Kind;

/// One ratio with its 95 % interval.
#[derive(Debug, Clone)]
pub struct Ratio {
    pub name: String,
    /// The ratio, without unit.
    pub ratio: f64,
    /// Low end of the interval.
    pub low: f64,
    /// High end of the interval.
    pub high: f64,
}

/// Ratios below each other on one logarithmic axis.
#[derive(Debug, Clone)]
pub struct RatioChart {
    pub title: String,
    /// What a ratio above 1 means, for the axis: `before / after, above 1 is faster`.
    pub meaning: String,
    /// What the ratios are.
    pub kind: Kind,
    /// From top to bottom.
    pub rows: Vec<Ratio>,
}

impl Chart for RatioChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: Sheet) -> (Canvas, f64) {
        let mut canvas = Canvas::new(sheet);
        let top = canvas.head(&self.title, self.kind, &[]);
        let texts: Vec<String> = self.rows.iter().map(interval_text).collect();
        let right =
            texts.iter().map(|text| text_width(text, sheet.small)).fold(0.0, f64::max) + 8.0;
        // Sixty units for the line remain, whatever the names.
        let name_max = sheet.name_max.min(sheet.width - right - 72.0);
        let names = RowNames::new(self.rows.iter().map(|row| row.name.as_str()), sheet, name_max);
        let left = names.left + 4.0;
        let width = sheet.width - left - right;
        let ends = self.rows.iter().flat_map(|row| [row.ratio, row.low, row.high]);
        let scale = Scale::holding(ends.chain([1.0]), true).with_margin(0.05);
        let pitch = names.height + 20.0;
        let bottom = top + pitch * self.rows.len() as f64;

        let end = bars::ticks(&mut canvas, scale, left, width, top, bottom, &self.meaning);
        if let Some(one) = scale.place(1.0) {
            canvas.rule(left + one * width, top, left + one * width, bottom, 0.7);
        }
        for (row_idx, (row, text)) in self.rows.iter().zip(&texts).enumerate() {
            let row_top = top + pitch * row_idx as f64;
            let y = row_top + (names.height + pitch) / 2.0;
            canvas.row_name(names, row_top, y, &row.name);
            canvas.text(sheet.width - 1.0, y + 3.5, sheet.small, Anchor::End, text);
            let x_of = |value: f64| scale.place(value).map(|place| left + place * width);
            if let (Some(low), Some(high)) = (x_of(row.low), x_of(row.high)) {
                canvas.stroke(low, y, high, y, 0);
            }
            if let Some(x) = x_of(row.ratio) {
                canvas.dot(x, y, 4.0, 0, &format!("{}: {text}", row.name));
            }
        }
        (canvas, end)
    }
}

fn interval_text(row: &Ratio) -> String {
    if row.ratio.is_finite() {
        format!("{:.2} [{:.2}, {:.2}]", row.ratio, row.low, row.high)
    } else {
        "-".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::tests::assert_readable;
    use super::super::canvas::{NARROW, WIDE};
    use super::*;

    #[test]
    fn texts_do_not_overlap() {
        let row = |idx: usize, ratio: f64| Ratio {
            name: "a long name of a configuration ".repeat(idx % 3 + 1),
            ratio,
            low: ratio * 0.9,
            high: ratio * 1.2,
        };
        for ratios in [vec![], vec![1.0], vec![0.98, 1.01, 1.003], vec![0.01, 1.0, 250.0, f64::NAN]]
        {
            let rows = ratios.iter().enumerate().map(|(idx, it)| row(idx, *it)).collect();
            let chart = RatioChart {
                title: "Unrolled against rolled".to_owned(),
                meaning: "rolled / unrolled, above 1 unrolled is faster".to_owned(),
                kind: Kind::Measured,
                rows,
            };
            assert_readable(&chart);
        }
    }

    /// Rows whose names begin alike are told apart on a phone, too, and it says there
    /// what a ratio means.
    #[test]
    fn names_and_the_meaning_are_whole() {
        let names =
            ["listing, 2 ranks, 64 KiB", "listing, 2 ranks, 16 MiB", "listing, 4 ranks, 16 MiB"];
        let rows = names
            .map(|name| Ratio { name: name.to_owned(), ratio: 1.2, low: 1.1, high: 1.3 })
            .to_vec();
        let meaning =
            "blocking / overlapped, median of pairs: above 1 the overlapped program is faster";
        let chart = RatioChart {
            title: "Gain".to_owned(),
            meaning: meaning.to_owned(),
            kind: Kind::Measured,
            rows,
        };
        for sheet in [WIDE, NARROW] {
            let texts: Vec<String> =
                chart.draw(sheet).0.texts.into_iter().map(|text| text.text).collect();
            assert!(names.iter().all(|name| texts.iter().any(|text| text == name)), "{texts:?}");
            assert!(texts.join(" ").contains(meaning), "{texts:?}");
        }
    }
}
