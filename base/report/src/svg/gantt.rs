//! Bars over time in rows, such as the programs on each processor.

use super::canvas::{Canvas, RowNames, Sheet};
use super::chart::Chart;
use super::ticks::Scale;
use crate::Kind;

/// A piece of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub row: usize,
    /// What is drawn, a place in [`GanttChart::names`].
    pub series: usize,
    /// Where the bar begins on the axis.
    pub from: f64,
    pub to: f64,
}

/// Rows of bars over one axis.
#[derive(Debug, Clone)]
pub struct GanttChart {
    /// What the chart shows.
    pub title: String,
    /// Whether a model, a simulator or a measurement says so.
    pub kind: Kind,
    /// Unit of the axis.
    pub unit: String,
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// Names of what is drawn.
    pub names: Vec<String>,
    pub bars: Vec<Bar>,
}

impl Chart for GanttChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: Sheet) -> (Canvas, f64) {
        let mut canvas = Canvas::new(sheet);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let top = canvas.head(&self.title, self.kind, &names);
        let rows = RowNames::new(self.rows.iter().map(String::as_str), sheet, sheet.name_max);
        let left = rows.left;
        let width = sheet.width - left - 24.0;
        let scale = Scale::holding(self.bars.iter().flat_map(|bar| [bar.from, bar.to]), false);
        let pitch = rows.height + 18.0;
        let bottom = top + pitch * self.rows.len() as f64 + 4.0;
        let end = super::bars::ticks(&mut canvas, scale, left, width, top, bottom, &self.unit);
        for (idx, row) in self.rows.iter().enumerate() {
            let row_top = top + pitch * idx as f64;
            canvas.row_name(rows, row_top, row_top + rows.height + 9.0, row);
        }
        for bar in &self.bars {
            let (Some(from), Some(to)) = (scale.place(bar.from), scale.place(bar.to)) else {
                continue;
            };
            let name = self.names.get(bar.series).map_or("", String::as_str);
            let says = format!("{name}: {:.2} to {:.2} {}", bar.from, bar.to, self.unit);
            let y = top + pitch * bar.row as f64 + rows.height + 3.0;
            canvas.bar(
                left + from * width,
                y,
                ((to - from) * width).max(0.3),
                12.0,
                bar.series,
                &says,
            );
        }
        (canvas, end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::tests::assert_readable;
    use super::*;

    #[test]
    fn twelve_programs_have_twelve_colours() {
        let bars = (0..12)
            .map(|idx| Bar { row: 0, series: idx, from: idx as f64, to: idx as f64 + 1.0 })
            .collect();
        let names = (0..12).map(|idx| format!("program {idx}")).collect();
        let chart = GanttChart {
            title: "Who ran".into(),
            kind: Kind::Sim,
            unit: "s".into(),
            rows: vec!["processor 0".into()],
            names,
            bars,
        };
        let svg = chart.svg();
        let of = |number: usize| {
            let bar = svg
                .split("<rect")
                .find(|text| text.contains(&format!("program {number}: ")))
                .expect("a bar");
            bar.split("fill=\"")
                .nth(1)
                .and_then(|part| part.split('"').next())
                .expect("a colour")
                .to_owned()
        };
        let colours: std::collections::BTreeSet<String> = (0..12).map(of).collect();
        assert_eq!(colours.len(), 12, "{colours:?}");
    }

    #[test]
    fn rows_and_names_stay_apart() {
        let rows: Vec<String> = (0..32).map(|idx| format!("processor {idx}")).collect();
        let bars = (0..320).map(|idx| Bar {
            row: idx % 32,
            series: idx % 9,
            from: (idx / 32) as f64,
            to: (idx / 32) as f64 + 1.0,
        });
        let names = (0..9).map(|idx| format!("program {idx}")).collect();
        let chart = GanttChart {
            title: "Who ran".into(),
            kind: Kind::Sim,
            unit: "s".into(),
            rows,
            names,
            bars: bars.collect(),
        };
        assert_readable(&chart);
    }
}
