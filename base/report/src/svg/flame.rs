//! Flame graphs: calls above their callers, each as wide as what it and its callees did.

use super::canvas::{Anchor, Canvas, Sheet, text_width};
use super::chart::Chart;
use crate::Kind;

/// Stacks of names, the outermost first, and how much each of them counts.
#[derive(Debug, Clone)]
pub struct FlameGraph {
    /// What the chart shows.
    pub title: String,
    /// Whether a model, a simulator or a measurement says so.
    pub kind: Kind,
    /// What is counted, in the plural.
    pub unit: String,
    pub stacks: Vec<(Vec<String>, u64)>,
}

/// A name in a row, and what stands on it.
#[derive(Debug, Default)]
struct Box {
    name: String,
    weight: u64,
    above: Vec<Box>,
}

impl Box {
    fn add(&mut self, stack: &[String], weight: u64) {
        self.weight += weight;
        let Some((first, rest)) = stack.split_first() else { return };
        let idx = self.above.iter().position(|found| found.name == *first).unwrap_or_else(|| {
            self.above.push(Box { name: first.clone(), ..Box::default() });
            self.above.len() - 1
        });
        self.above[idx].add(rest, weight);
    }

    fn sort(&mut self) {
        self.above.sort_by(|a, b| a.name.cmp(&b.name));
        self.above.iter_mut().for_each(Box::sort);
    }

    /// Rows that are drawn, this one included, where `all` has the whole width.
    fn n_rows(&self, all: u64, width: f64) -> usize {
        let drawn = self.above.iter().filter(|found| found.width(all, width) >= NARROWEST);
        1 + drawn.map(|found| found.n_rows(all, width)).max().unwrap_or(0)
    }

    fn width(&self, all: u64, width: f64) -> f64 {
        self.weight as f64 / all.max(1) as f64 * width
    }
}

/// Boxes that would be narrower are not drawn.
const NARROWEST: f64 = 0.4;

/// How a flame graph lies on its sheet.
#[derive(Debug, Clone, Copy)]
struct Rows {
    all: u64,
    height: f64,
    /// Where the lowest row begins.
    lowest: f64,
}

impl FlameGraph {
    fn draw_box(&self, canvas: &mut Canvas, rows: Rows, found: &Box, left: f64, depth: usize) {
        let width = found.width(rows.all, canvas.sheet.width);
        if width < NARROWEST {
            return;
        }
        let top = rows.lowest - rows.height * depth as f64;
        let share = 100.0 * found.weight as f64 / rows.all.max(1) as f64;
        let says = format!("{}: {} {}, {share:.1} %", found.name, found.weight, self.unit);
        canvas.tile(left, top, width, rows.height - 1.0, depth, &says);
        let small = canvas.sheet.small;
        // Of a name that does not fit, nothing is better than two letters.
        if width > text_width("name…", small) + 4.0 || text_width(&found.name, small) + 4.0 < width
        {
            let baseline = top + rows.height - 4.0;
            canvas.text_within(
                left + 2.0,
                baseline,
                small,
                Anchor::Start,
                &found.name,
                width - 4.0,
            );
        }
        let mut left = left;
        for above in &found.above {
            self.draw_box(canvas, rows, above, left, depth + 1);
            left += above.width(rows.all, canvas.sheet.width);
        }
    }
}

impl Chart for FlameGraph {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: Sheet) -> (Canvas, f64) {
        let mut canvas = Canvas::new(sheet);
        let top = canvas.head(&self.title, self.kind, &[]);
        let mut root = Box { name: format!("all {}", self.unit), ..Box::default() };
        for (stack, weight) in &self.stacks {
            root.add(stack, *weight);
        }
        root.sort();
        let height = sheet.small + 6.0;
        let n_rows = root.n_rows(root.weight, sheet.width);
        let lowest = top + height * (n_rows - 1) as f64;
        self.draw_box(&mut canvas, Rows { all: root.weight, height, lowest }, &root, 0.0, 0);
        (canvas, lowest + height)
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::tests::assert_readable;
    use super::*;

    fn graph(stacks: &[(&str, u64)]) -> FlameGraph {
        let stack = |(names, weight): &(&str, u64)| {
            (names.split(';').map(str::to_owned).collect(), *weight)
        };
        FlameGraph {
            title: "Window traps".to_owned(),
            kind: Kind::Sim,
            unit: "window traps".to_owned(),
            stacks: stacks.iter().map(stack).collect(),
        }
    }

    #[test]
    fn calls_stand_on_their_callers_and_are_as_wide_as_they_count() {
        let chart = graph(&[("main;parse;next_token", 30), ("main;parse", 10), ("main;emit", 60)]);
        assert_readable(&chart);
        let svg = chart.svg();
        for says in ["main: 100 window traps, 100.0 %", "parse: 40 window traps, 40.0 %"] {
            assert!(svg.contains(says), "{svg}");
        }
        // By name, so that the same run gives the same picture: emit, then parse.
        assert!(svg.contains("x=\"288.0\"") && svg.contains("width=\"288.0\""), "{svg}");
    }

    #[test]
    fn nothing_counted_is_a_picture_too() {
        assert_readable(&graph(&[]));
        assert_readable(&graph(&[("a;b;c", 1), ("a;long_name_of_a_function_in_a_narrow_box", 40)]));
    }
}
