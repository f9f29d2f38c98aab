//! Each scheduler off and on, in turn, with the speedups of the paper.

use std::collections::BTreeSet;

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::{Schedule, Slicing, Unroll};
use cipher::recipe::Recipe;
use measure::stats::geometric_mean;
use report::page::Block;
use report::svg::{Chart, Ratio, RatioChart};
use report::{Cell, Kind, Table};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use terminal::output::{Failure, Output};

use super::gain::{Choice, Gains};
use super::original;
use super::rows::{number, text};
use crate::store::Store;
use crate::study;
use cipher::speed::Sampling;

/// One cell of the paper's two tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchedulerCell {
    /// Name of the primitive.
    pub primitive: String,
    /// How it is sliced.
    pub slicing: Slicing,
    /// The scheduler that is on.
    pub scheduler: Schedule,
    pub cc: Cc,
    pub opt: &'static str,
    pub arch: Arch,
    pub seed_ratio: Option<f64>,
}

impl Choice for SchedulerCell {
    /// The cells of the paper's tables.
    fn all() -> Vec<SchedulerCell> {
        let figures: Figures =
            toml::from_str(include_str!("../../../experiments/original/figures.toml"))
                .expect("a test parses the figures");
        let mut all = Vec::new();
        for row in figures.paper.bitslice {
            let columns = [(Cc::Gcc, "-Os"), (Cc::Gcc, "-O3"), (Cc::Clang, "-O3")];
            let ratios = [[row.1, row.2], [row.3, row.4], [row.5, row.6]];
            for ((cc, opt), ratios) in columns.into_iter().zip(ratios) {
                for (arch, ratio) in [Arch::X86_64, Arch::Avx2].into_iter().zip(ratios) {
                    let (slicing, scheduler) = (Slicing::Bit, Schedule::Bitslice);
                    all.push(SchedulerCell {
                        primitive: row.0.clone(),
                        slicing,
                        scheduler,
                        cc,
                        opt,
                        arch,
                        seed_ratio: Some(ratio),
                    });
                }
            }
        }
        for row in figures.paper.mslice {
            let slicing = if row.1 == "h" { Slicing::Horizontal } else { Slicing::Vertical };
            for (arch, ratio) in [(Arch::X86_64, row.2), (Arch::Avx2, row.3)] {
                if ratio > 0.0 {
                    let (cc, scheduler) = (Cc::Clang, Schedule::Mslice);
                    all.push(SchedulerCell {
                        primitive: row.0.clone(),
                        slicing,
                        scheduler,
                        cc,
                        opt: "-O3",
                        arch,
                        seed_ratio: Some(ratio),
                    });
                }
            }
            // The paper has no such column, the original was measured in it.
            let (cc, arch, scheduler) = (Cc::Clang, Arch::Avx512, Schedule::Mslice);
            if original::cycles_per_byte(&row.0, slicing, cc, "-O3", arch).is_some() {
                all.push(SchedulerCell {
                    primitive: row.0,
                    slicing,
                    scheduler,
                    cc,
                    opt: "-O3",
                    arch,
                    seed_ratio: None,
                });
            }
        }
        all
    }

    fn subject(&self) -> (&str, Cc, Arch) {
        (&self.primitive, self.cc, self.arch)
    }

    fn recipes(&self, unroll: Unroll) -> [Recipe; 2] {
        [Schedule::None, self.scheduler].map(|schedule| {
            let mut recipe = Recipe::new(self.slicing, self.arch, self.cc, unroll, self.opt);
            recipe.schedule = schedule;
            recipe
        })
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        let mut blocks: Vec<Block> = means(rows).into_iter().map(Block::Text).collect();
        for name in columns(rows) {
            let own: Vec<&Value> = rows.iter().filter(|row| column(row) == name).collect();
            blocks.push(Block::Chart(chart(&format!("off / on: {name}"), &own, false)));
        }
        blocks.push(Block::Table(table(rows)));
        blocks
    }
}

#[derive(Deserialize)]
struct Figures {
    paper: Paper,
}

#[derive(Deserialize)]
struct Paper {
    bitslice: Vec<(String, f64, f64, f64, f64, f64, f64)>,
    mslice: Vec<(String, String, f64, f64)>,
}

fn table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "slicing",
        "compiler",
        "target",
        "off",
        "on",
        "ratio",
        "interval",
        "p",
        "paper",
        "auto",
        "stack off",
        "stack on",
    ];
    let note = "time-stamp cycles a byte, off and on measured in turn; loops written out where the program stays small enough";
    let mut table = Table::new("Schedulers off and on", &columns).kind(Kind::Measured).note(note);
    for row in rows {
        table.push(vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(format!("{} {}", text(row, "cc"), text(row, "opt"))),
            Cell::words(text(row, "arch")),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
            Cell::number(number(&row["ratio"], 2)),
            Cell::number(format!(
                "{}..{}",
                number(&row["interval"][0], 2),
                number(&row["interval"][1], 2)
            )),
            Cell::number(number(&row["p"], 3)),
            Cell::number(number(&row["seed_ratio"], 2)),
            Cell::words(text(row, "auto")),
            Cell::number(number(&row["stack_off"], 0)),
            Cell::number(number(&row["stack_on"], 0)),
        ]);
    }
    table
}

/// The columns that these rows belong to, by name.
fn columns(rows: &[Value]) -> Vec<String> {
    let names: BTreeSet<String> = rows.iter().map(column).collect();
    names.into_iter().collect()
}

/// The column of the paper's tables that a row belongs to.
fn column(row: &Value) -> String {
    ["scheduler", "cc", "opt", "arch"].map(|key| text(row, key)).join(" ")
}

/// The original's cycles a byte with its scheduler, if that cell was measured.
fn original_on(row: &Value) -> Option<f64> {
    let slicing = Slicing::from_letter(row["slicing"].as_str()?)?;
    let (cc, arch) = (Cc::from_name(row["cc"].as_str()?)?, Arch::from_name(row["arch"].as_str()?)?);
    original::cycles_per_byte(row["primitive"].as_str()?, slicing, cc, row["opt"].as_str()?, arch)
        .map(|original| original.1)
}

/// A few cells for `meanwhile-lab report`, with five pairs each: a table, and a chart
/// of the same ratios.
pub fn report(out: &Output) -> Result<Vec<Block>, Failure> {
    const CELLS: [(&str, Schedule, Cc, &str, Arch); 4] = [
        ("rectangle-80", Schedule::Bitslice, Cc::Gcc, "-O3", Arch::Avx2),
        ("gift-128", Schedule::Bitslice, Cc::Gcc, "-O3", Arch::X86_64),
        ("ace", Schedule::Mslice, Cc::Clang, "-O3", Arch::Avx2),
        ("chacha20", Schedule::Mslice, Cc::Clang, "-O3", Arch::X86_64),
    ];
    let is_shown = |cell: &SchedulerCell| {
        let SchedulerCell { scheduler, cc, opt, arch, .. } = *cell;
        CELLS.contains(&(cell.primitive.as_str(), scheduler, cc, opt, arch))
    };
    let cells = SchedulerCell::all().into_iter().filter(is_shown).collect();
    let study = Gains { cells, unroll: Unroll::Auto, sampling: Sampling::QUICK };
    let rows = study::rows(&study, &mut Store::open(None, String::new())?, out)?;
    let table = table(&rows);
    let all: Vec<&Value> = rows.iter().collect();
    Ok(vec![
        Block::Table(table),
        Block::Chart(chart("Schedulers: off / on, five pairs", &all, true)),
    ])
}

/// Ratios with their intervals; the compiler is part of the name where rows have several.
fn chart(title: &str, rows: &[&Value], with_compiler: bool) -> String {
    let name = |row: &Value| {
        let name = format!("{} {}", text(row, "primitive"), text(row, "slicing"));
        if with_compiler {
            format!("{name} {} {}", text(row, "cc"), text(row, "arch"))
        } else {
            name
        }
    };
    let value = |value: &Value| value.as_f64().unwrap_or(1.0);
    let ratio = |row: &&Value| Ratio {
        name: name(row),
        ratio: value(&row["ratio"]),
        low: value(&row["interval"][0]),
        high: value(&row["interval"][1]),
    };
    let meaning = "above 1 the scheduled program is faster; the line is the interval".into();
    RatioChart {
        title: title.into(),
        meaning,
        kind: Kind::Measured,
        rows: rows.iter().map(ratio).collect(),
    }
    .for_page()
}

/// Geometric means of each column of the tables: ours and the paper's, and cycles a byte of
/// ours and the original's.
fn means(rows: &[Value]) -> Vec<String> {
    let mean = |values: Vec<f64>| geometric_mean(&values);
    columns(rows)
        .into_iter()
        .map(|name| {
            let own: Vec<&Value> = rows.iter().filter(|row| column(row) == name).collect();
            let ours = mean(own.iter().filter_map(|r| r["ratio"].as_f64()).collect());
            let papers: Vec<f64> = own.iter().filter_map(|r| r["seed_ratio"].as_f64()).collect();
            let paper = if papers.is_empty() {
                String::new()
            } else {
                format!(", the paper's {:.3}", mean(papers))
            };
            let both: Vec<(f64, f64)> = own
                .iter()
                .filter_map(|row| Some((row["cycles_per_byte_on"].as_f64()?, original_on(row)?)))
                .collect();
            let absolute = if both.is_empty() {
                String::new()
            } else {
                let (ours, theirs) = (
                    mean(both.iter().map(|pair| pair.0).collect()),
                    mean(both.iter().map(|pair| pair.1).collect()),
                );
                format!(
                    "; cycles a byte {ours:.2}, the original's {theirs:.2} on a Zen 5 ({} rows)",
                    both.len()
                )
            };
            format!("geometric mean {name}: {ours:.3}{paper} ({} rows){absolute}", own.len())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_the_papers_cells() {
        let all = SchedulerCell::all();
        let count = |scheduler| all.iter().filter(|c| c.scheduler == scheduler).count();
        assert_eq!((count(Schedule::Bitslice), count(Schedule::Mslice)), (16 * 6, 9 + 11 + 10));
        assert_eq!(
            all.iter().filter(|c| c.seed_ratio.is_none()).count(),
            10,
            "AVX-512: the original's column"
        );
        for cell in &all {
            assert!(cipher::library::primitive(&cell.primitive).is_some(), "{}", cell.primitive);
        }
    }
}
