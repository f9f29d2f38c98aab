//! Lines through points, on plain or logarithmic axes.

use super::canvas::{Anchor, Canvas, Sheet, text_width};
use super::chart::Chart;
use super::ticks::Scale;
use crate::kind::Kind;
use crate::number::{short, tick};

/// One axis of a line chart.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What it counts, with the unit.
    pub label: String,
    /// True for a logarithmic axis.
    pub log: bool,
}

/// One line of a chart.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, x and y, in any order: they are joined from left to right. One without a place
    /// on the vertical axis (not a number, not positive on a logarithmic one) interrupts the line.
    pub points: Vec<(f64, f64)>,
}

/// One or several lines over the same axes.
#[derive(Debug, Clone)]
pub struct LineChart {
    pub title: String,
    /// What the values are.
    pub kind: Kind,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
}

const PLOT_HEIGHT: f64 = 200.0;

impl Chart for LineChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: Sheet) -> (Canvas, f64) {
        let mut canvas = Canvas::new(sheet);
        let names: Vec<&str> = self.lines.iter().map(|line| line.name.as_str()).collect();
        let head = canvas.head(&self.title, self.kind, &names);
        canvas.text_within(0.0, head + 8.0, sheet.small, Anchor::Start, &self.y.label, sheet.width);
        let top = head + 24.0;
        let bottom = top + PLOT_HEIGHT;

        // Only points that have a place on both axes decide how far the axes reach.
        let placed = |point: &&(f64, f64)| -> bool {
            let fits = |value: f64, axis: &Axis| value.is_finite() && (!axis.log || value > 0.0);
            fits(point.0, &self.x) && fits(point.1, &self.y)
        };
        let points = || self.lines.iter().flat_map(|line| &line.points).filter(placed);
        let x_scale = Scale::holding(points().map(|point| point.0), self.x.log);
        let y_scale = Scale::holding(points().map(|point| point.1), self.y.log).with_margin(0.05);

        let y_ticks: Vec<(f64, String)> =
            y_scale.ticks(5).into_iter().map(|at| (at, tick(at))).collect();
        let left =
            y_ticks.iter().map(|(_, text)| text_width(text, sheet.small)).fold(0.0, f64::max) + 8.0;
        let width = sheet.width - left - 12.0;
        for (value, text) in &y_ticks {
            let Some(place) = y_scale.place(*value) else { continue };
            let y = bottom - place * PLOT_HEIGHT;
            canvas.rule(left, y, left + width, y, 0.15);
            canvas.text(left - 5.0, y + 3.5, sheet.small, Anchor::End, text);
        }
        canvas.rule(left, top, left, bottom, 0.5);
        canvas.rule(left, bottom, left + width, bottom, 0.5);
        let mut free_from = 0.0;
        for value in x_scale.ticks(6) {
            let Some(place) = x_scale.place(value) else { continue };
            let x = left + place * width;
            canvas.rule(x, bottom, x, bottom + 4.0, 0.5);
            let text = tick(value);
            let half = text_width(&text, sheet.small) / 2.0;
            if x - half >= free_from && x + half <= sheet.width {
                canvas.text(x, bottom + 15.0, sheet.small, Anchor::Middle, &text);
                free_from = x + half + 6.0;
            }
        }
        canvas.text_within(
            left + width,
            bottom + 31.0,
            sheet.small,
            Anchor::End,
            &self.x.label,
            width,
        );

        for (line_idx, line) in self.lines.iter().enumerate() {
            let mut points = line.points.clone();
            points.sort_by(|left, right| left.0.total_cmp(&right.0));
            for run in points.split(|point| !placed(&point)) {
                let places: Vec<(f64, f64)> = run
                    .iter()
                    .filter_map(|(x, y)| {
                        Some((
                            left + x_scale.place(*x)? * width,
                            bottom - y_scale.place(*y)? * PLOT_HEIGHT,
                        ))
                    })
                    .collect();
                canvas.path(&places, line_idx);
                for ((x, y), (px, py)) in run.iter().zip(&places) {
                    let says = format!("{}: {}, {}", line.name, short(*x), short(*y));
                    canvas.dot(*px, *py, 2.5, line_idx, &says);
                }
            }
        }
        (canvas, bottom + 38.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::tests::assert_readable;
    use super::*;

    fn chart(points: &[(f64, f64)], log: bool) -> LineChart {
        LineChart {
            title: "Compile time over the number of rounds".to_owned(),
            kind: Kind::Measured,
            x: Axis { label: "rounds".to_owned(), log },
            y: Axis { label: "time (ms)".to_owned(), log },
            lines: ["before", "after"]
                .map(|name| Line { name: name.to_owned(), points: points.to_vec() })
                .to_vec(),
        }
    }

    #[test]
    fn texts_do_not_overlap() {
        let runs: [&[(f64, f64)]; 5] = [
            &[],
            &[(1.0, 1.0)],
            &[(1.0, 10.0), (2.0, 19.0), (4.0, 42.0), (8.0, 80.0)],
            &[(1e-6, 1e9), (1.0, 0.0), (1e6, 1e-9), (f64::NAN, 2.0)],
            &[(1000.0, 999.0), (1001.0, 1000.0)],
        ];
        for points in runs {
            for log in [false, true] {
                assert_readable(&chart(points, log));
            }
        }
    }

    #[test]
    fn points_are_joined_from_left_to_right_whatever_their_order() {
        let ordered = [(1.0, 10.0), (2.0, 19.0), (4.0, f64::NAN), (8.0, 80.0), (16.0, 3.0)];
        let mut other = ordered;
        other.swap(0, 4);
        other.swap(1, 3);
        assert_eq!(chart(&ordered, false).svg(), chart(&other, false).svg());
    }

    #[test]
    fn a_point_without_a_place_interrupts_the_line() {
        let svg = chart(&[(1.0, 1.0), (2.0, 0.0), (4.0, 3.0)], true).svg();
        assert_eq!(svg.matches("<polyline").count(), 4);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
