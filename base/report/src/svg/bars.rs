//! Bars in groups, lying down: one group a row of names, one bar a series.

use super::canvas::{Anchor, Canvas, RowNames, Sheet, lines_of, text_width, widest};
use super::chart::Chart;
use super::ticks::Scale;
use crate::kind::Kind;
use crate::number::{short, tick};

/// One colour of bars.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// One value for each group; `None` draws no bar.
    pub values: Vec<Option<f64>>,
}

/// Values of several series side by side.
#[derive(Debug, Clone)]
pub struct BarChart {
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// What the values are.
    pub kind: Kind,
    /// Names of the groups, from top to bottom.
    pub groups: Vec<String>,
    /// The series, each with as many values as there are groups.
    pub series: Vec<Series>,
    /// True for a logarithmic axis; bars then start at its left end.
    pub log: bool,
}

impl Chart for BarChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: Sheet) -> (Canvas, f64) {
        let mut canvas = Canvas::new(sheet);
        let names: Vec<&str> = self.series.iter().map(|sery| sery.name.as_str()).collect();
        let top = canvas.head(&self.title, self.kind, &names);
        let values = || self.series.iter().flat_map(|sery| sery.values.iter().flatten().copied());

        let names = RowNames::new(self.groups.iter().map(String::as_str), sheet, sheet.name_max);
        let left = names.left;
        let value_width =
            values().map(|found| text_width(&short(found), sheet.small)).fold(0.0, f64::max);
        let width = sheet.width - left - value_width - 8.0;
        let scale = Scale::holding(values(), self.log);
        // A logarithmic bar has no natural start, so the smallest still gets some length.
        let scale = if self.log { scale.with_margin(0.08) } else { scale };
        let zero = scale.place(0.0).unwrap_or(0.0);

        let thickness = if self.series.len() == 1 { sheet.small + 2.0 } else { sheet.small };
        let pitch = thickness + 2.0;
        let group_height = names.height + (pitch * self.series.len() as f64).max(16.0) + 8.0;
        let bottom = top + group_height * self.groups.len() as f64;
        let end = ticks(&mut canvas, scale, left, width, top, bottom, &self.unit);

        for (group_idx, group) in self.groups.iter().enumerate() {
            let group_top = top + group_height * group_idx as f64;
            let middle = group_top + (names.height + group_height) / 2.0;
            canvas.row_name(names, group_top, middle, group);
            let bars_top = middle - pitch * self.series.len() as f64 / 2.0;
            for (series_idx, series) in self.series.iter().enumerate() {
                let Some(value) = series.values.get(group_idx).copied().flatten() else {
                    continue;
                };
                let y = bars_top + pitch * series_idx as f64;
                let Some(place) = scale.place(value) else {
                    canvas.text(left + 3.0, y + thickness - 1.5, sheet.small, Anchor::Start, "-");
                    continue;
                };
                let (from, to) = (left + place.min(zero) * width, left + place.max(zero) * width);
                let says = format!("{group}, {}: {} {}", series.name, short(value), self.unit);
                canvas.bar(from, y, (to - from).max(0.5), thickness, series_idx, &says);
                canvas.text(
                    to + 3.0,
                    y + thickness - 1.5,
                    sheet.small,
                    Anchor::Start,
                    &short(value),
                );
            }
        }
        (canvas, end)
    }
}

/// Ticks below a chart of rows, thin lines up through it, and the unit, in as many lines as it
/// needs; where all that ends.
pub fn ticks(
    canvas: &mut Canvas,
    scale: Scale,
    left: f64,
    width: f64,
    top: f64,
    bottom: f64,
    unit: &str,
) -> f64 {
    let sheet = canvas.sheet;
    let mut free_from = f64::NEG_INFINITY;
    for value in scale.ticks(5) {
        let Some(place) = scale.place(value) else { continue };
        let x = left + place * width;
        canvas.rule(x, top, x, bottom, 0.15);
        let text = tick(value);
        let half = text_width(&text, sheet.small) / 2.0;
        if x - half >= free_from && x + half <= sheet.width {
            canvas.text(x, bottom + 13.0, sheet.small, Anchor::Middle, &text);
            free_from = x + half + 6.0;
        }
    }
    let lines = lines_of(unit, sheet.small, sheet.width - 1.0);
    // Below the axis' end, or as far to the right as a long one needs.
    let right = (left + width)
        .max(widest(lines.iter().map(String::as_str), sheet.small).min(sheet.width - 1.0));
    let mut y = bottom + 28.0;
    for (idx, line) in lines.iter().enumerate() {
        y = bottom + 28.0 + (sheet.small + 3.0) * idx as f64;
        canvas.text_within(right, y, sheet.small, Anchor::End, line, right);
    }
    y + 6.0
}

#[cfg(test)]
mod tests {
    use super::super::canvas::tests::assert_readable;
    use super::super::canvas::{NARROW, WIDE};
    use super::*;

    fn chart(n_groups: usize, n_series: usize, log: bool) -> BarChart {
        let value = |group: usize, series: usize| match (group + series) % 7 {
            6 => None,
            5 if log => Some(0.0),
            it => Some(0.37 * 9f64.powi(it as i32)),
        };
        BarChart {
            title: "Cycles a byte of everything in every slicing and on every machine we have"
                .to_owned(),
            unit: "cycles/byte".to_owned(),
            kind: Kind::Measured,
            groups: (0..n_groups).map(|idx| "wide Name ".repeat(idx % 4 + 1)).collect(),
            series: (0..n_series)
                .map(|series| Series {
                    name: format!("series <{series}>"),
                    values: (0..n_groups).map(|group| value(group, series)).collect(),
                })
                .collect(),
            log,
        }
    }

    #[test]
    fn texts_do_not_overlap() {
        for n_groups in [0, 1, 22] {
            for n_series in [1, 2, 8] {
                for log in [false, true] {
                    assert_readable(&chart(n_groups, n_series, log));
                }
            }
        }
    }

    /// Groups whose names begin alike are told apart on a phone, too.
    #[test]
    fn names_are_whole() {
        let mut long = chart(4, 1, false);
        long.groups =
            ["original, gcc", "C-optimised, gcc", "C-optimised, gcc tuned", "the assembly's bound"]
                .map(str::to_owned)
                .to_vec();
        for sheet in [WIDE, NARROW] {
            let texts: Vec<String> =
                long.draw(sheet).0.texts.into_iter().map(|text| text.text).collect();
            assert!(long.groups.iter().all(|name| texts.contains(name)), "{texts:?}");
        }
    }

    #[test]
    fn names_are_escaped_and_the_chart_is_titled() {
        let svg = chart(2, 2, false).svg();
        assert!(svg.contains("series &lt;0&gt;") && !svg.contains("series <0>"));
        assert!(svg.contains("<title>Cycles a byte"));
        assert!(svg.contains("class=\"chart wide\"") && svg.contains("viewBox=\"0 0 480 "));
    }
}
