//! The window of the mslice scheduler: 1 to 20 equations against no scheduler.

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::{Schedule, Slicing, Unroll};
use cipher::recipe::Recipe;
use report::page::Block;
use report::svg::{Axis, Chart, Line, LineChart};
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::Value;

use super::gain::Choice;
use super::rows::{number, ratio, text};

/// A point of the sweep over the look-behind window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Window {
    /// Name of the primitive.
    pub primitive: &'static str,
    /// How it is sliced.
    pub slicing: Slicing,
    pub cc: Cc,
    pub arch: Arch,
    /// Equations that the scheduler looks back.
    pub look_behind: usize,
}

impl Choice for Window {
    /// Windows of 1 to 20 equations for the primitives that gain most in the paper's table.
    fn all() -> Vec<Window> {
        let subjects = [
            ("ace", Slicing::Vertical, Arch::Avx2),
            ("chacha20", Slicing::Vertical, Arch::X86_64),
            ("aes-128", Slicing::Horizontal, Arch::Avx2),
            ("clyde-128", Slicing::Vertical, Arch::Avx2),
        ];
        let windows = |(primitive, slicing, arch)| {
            (1..=20).map(move |n| Window {
                primitive,
                slicing,
                cc: Cc::Clang,
                arch,
                look_behind: n,
            })
        };
        subjects.into_iter().flat_map(windows).collect()
    }

    fn subject(&self) -> (&str, Cc, Arch) {
        (self.primitive, self.cc, self.arch)
    }

    fn recipes(&self, _unroll: Unroll) -> [Recipe; 2] {
        [Schedule::None, Schedule::Mslice].map(|schedule| {
            let mut recipe = Recipe::new(self.slicing, self.arch, self.cc, Unroll::Yes, "-O3");
            recipe.schedule = schedule;
            recipe.look_behind = self.look_behind;
            recipe
        })
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        vec![Block::Chart(window_chart(rows).for_page()), Block::Table(window_table(rows))]
    }
}

fn window_table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "slicing",
        "target",
        "window",
        "off",
        "on",
        "ratio",
        "interval",
        "p",
        "stack on",
    ];
    let note = "time-stamp cycles a byte, mslice scheduler off and on, clang -O3, measured in turn; the paper: little to gain above 10";
    let mut table = Table::new("The look-behind window", &columns).kind(Kind::Measured).note(note);
    for row in rows {
        let mut cells = vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(text(row, "arch")),
            Cell::number(number(&row["look_behind"], 0)),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
        ];
        cells.extend(ratio(row));
        cells.push(Cell::number(number(&row["stack_on"], 0)));
        table.push(cells);
    }
    table
}

/// The ratio by window, a line for each program.
fn window_chart(rows: &[Value]) -> LineChart {
    let name = |row: &Value| {
        format!("{} {} {}", text(row, "primitive"), text(row, "slicing"), text(row, "arch"))
    };
    let mut names: Vec<String> = rows.iter().map(name).collect();
    names.dedup();
    let line = |line: String| {
        let own = rows.iter().filter(|row| name(row) == line);
        let points = own
            .filter_map(|row| Some((row["look_behind"].as_f64()?, row["ratio"].as_f64()?)))
            .collect();
        Line { name: line, points }
    };
    LineChart {
        title: "The look-behind window".into(),
        kind: Kind::Measured,
        x: Axis { label: "equations".into(), log: false },
        y: Axis { label: "off / on".into(), log: false },
        lines: names.into_iter().map(line).collect(),
    }
}
