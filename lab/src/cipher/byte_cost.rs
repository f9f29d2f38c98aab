//! What the byte interface costs: cycles a byte through `NAME_blocks` over those of the primitive
//! alone.

use std::collections::BTreeSet;

use machine::Kind as RegisterKind;
use measure::stats::geometric_mean;
use measure::tool::ToolError;
use report::page::Block;
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::Value;
use terminal::output::Failure;

use cipher::emit_c::{Arch, shape};
use cipher::native::{self, Cc};
use cipher::options::{Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::speed::Sampling;
use cipher::speed::{calls_for, configs, launches_in_turn};
use cipher::unit::Subject;

use super::gain::Asked;
use super::rows::{number, text};
use crate::study::Study;

pub struct Bytes {
    pub asked: Asked,
    pub sampling: Sampling,
}

impl Study for Bytes {
    type Cell = ByteCell;

    fn cells(&self) -> Vec<Self::Cell> {
        let mut cells = cells(&self.asked.names, &self.asked.arch);
        cells.retain(|cell| self.asked.takes((&cell.primitive, cell.cc, cell.arch)));
        cells
    }

    fn name(&self, cell: &Self::Cell) -> String {
        format!("{} {} {}", cell.primitive, cell.cc.name(), cell.arch.name())
    }

    fn runs_here(&self, cell: &Self::Cell) -> bool {
        native::missing_feature(cell.arch).is_none()
    }

    fn measure(&self, cell: &Self::Cell, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let cost = measure(cell, self.sampling).map_err(Failure::tool)?;
        Ok(serde_json::to_value(cost).expect("plain data"))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        let means = bytes_means(rows).into_iter().map(Block::Text);
        means.chain([Block::Table(bytes_table(rows))]).collect()
    }
}

/// One primitive on one target, in the slicing and with the options that were fastest
/// when `speed` was published.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByteCell {
    /// Name of the primitive.
    pub primitive: String,
    /// How it is sliced.
    pub slicing: Slicing,
    pub arch: Arch,
    pub cc: Cc,
    pub opt: &'static str,
    /// Which loops are written out.
    pub unroll: Unroll,
}

#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    /// Median: time-stamp cycles for each byte of output, the entry on registers alone.
    pub cycles_per_byte_alone: f64,
    /// Median of the same through `NAME_blocks`.
    pub cycles_per_byte_blocks: f64,
    /// Median of the ratios blocks / alone of the pairs.
    pub ratio: f64,
    /// Distribution-free 95 % interval of that median.
    pub interval: [f64; 2],
    pub pairs: usize,
    /// Bytes of input of one call: whole batches, as near to 16 KB as possible.
    pub bytes: usize,
    /// What happened to the samples, if anything.
    pub warnings: Vec<String>,
}

/// The 17 primitives on AVX2 and AVX-512.
fn cells(names: &[String], archs: &[Arch]) -> Vec<ByteCell> {
    let speed: serde_json::Value =
        serde_json::from_str(include_str!("../../../experiments/cipher-speed/speed.json"))
            .expect("the committed speed is JSON");
    let rows = speed["rows"].as_array().expect("evidence has rows");
    let mut cells = Vec::new();
    let mut primitives: Vec<String> =
        configs(false, names).into_iter().map(|c| c.primitive).collect();
    primitives.dedup();
    for primitive in primitives {
        let vectors = Arch::measured().filter(|arch| arch.row().kind == RegisterKind::Vector);
        for arch in vectors.filter(|arch| archs.is_empty() || archs.contains(arch)) {
            let own =
                rows.iter().filter(|r| r["primitive"] == *primitive && r["arch"] == arch.name());
            let measured = own.filter_map(|r| Some((r["cycles_per_byte"].as_f64()?, r)));
            let Some((_, best)) = measured.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            let text = |key: &str| best[key].as_str().unwrap_or_default();
            cells.push(ByteCell {
                primitive: primitive.clone(),
                slicing: Slicing::from_letter(text("slicing"))
                    .expect("the evidence names slicings"),
                arch,
                cc: Cc::from_name(text("cc")).expect("the evidence names compilers"),
                opt: "-O3",
                unroll: if text("unroll") == "yes" { Unroll::Yes } else { Unroll::No },
            });
        }
    }
    cells
}

/// Measures a cell: each launch of the program runs both in turn.
fn measure(cell: &ByteCell, sampling: Sampling) -> Result<Cost, ToolError> {
    let subject = Subject::bundled(&cell.primitive)
        .expect("cells name bundled primitives")
        .expect("bundled programs are right");
    let recipe = Recipe::new(cell.slicing, cell.arch, cell.cc, cell.unroll, cell.opt);
    let made = recipe.make(&subject).expect("bundled programs compile in their slicings");
    let program = recipe.build(&made)?;
    let n_in = made
        .unit
        .fields
        .iter()
        .find(|f| f.name == "input")
        .expect("every primitive has an input")
        .layout
        .n_bytes;
    let batch = n_in * shape(&made.compiled, cell.arch).blocks() as usize;
    let n_batches = ((16_384 + batch / 2) / batch).max(1);
    let calls = calls_for(&program)?.div_ceil(n_batches as u32).max(1);
    let bytes = made.bytes_per_call(cell.arch) as f64;
    let launch = || {
        native::bench_in_turn(&program, 64, calls, n_batches).map(|(alone, blocks)| (blocks, alone))
    };
    let summary = launches_in_turn(sampling, bytes, launch)?;
    Ok(Cost {
        cycles_per_byte_alone: summary.b_median,
        cycles_per_byte_blocks: summary.a_median,
        ratio: summary.ratio,
        interval: [summary.ratio_low, summary.ratio_high],
        pairs: summary.n,
        bytes: n_batches * batch,
        warnings: summary.warnings.iter().map(ToString::to_string).collect(),
    })
}

fn bytes_table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "slicing",
        "target",
        "compiler",
        "loops",
        "alone",
        "through bytes",
        "ratio",
        "interval",
        "bytes",
    ];
    let note = "time-stamp cycles a byte of output; the entry on registers alone, and NAME_blocks, in turn in one process";
    let mut table =
        Table::new("What the byte interface costs", &columns).kind(Kind::Measured).note(note);
    for row in rows {
        table.push(vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(text(row, "arch")),
            Cell::words(format!("{} {}", text(row, "cc"), text(row, "opt"))),
            Cell::words(if row["unroll"] == "yes" { "written out" } else { "kept" }),
            Cell::number(number(&row["cycles_per_byte_alone"], 2)),
            Cell::number(number(&row["cycles_per_byte_blocks"], 2)),
            Cell::number(number(&row["ratio"], 2)),
            Cell::number(format!(
                "{}..{}",
                number(&row["interval"][0], 2),
                number(&row["interval"][1], 2)
            )),
            Cell::number(number(&row["bytes"], 0)),
        ]);
    }
    table
}

/// Geometric mean and worst ratio of the byte interface by target.
fn bytes_means(rows: &[Value]) -> Vec<String> {
    let archs: BTreeSet<String> = rows.iter().map(|row| text(row, "arch")).collect();
    let line = |arch: String| {
        let ratios: Vec<f64> = rows
            .iter()
            .filter(|row| row["arch"] == *arch)
            .filter_map(|row| row["ratio"].as_f64())
            .collect();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        format!(
            "geometric mean {arch}: {:.2}, worst {worst:.2} ({} rows)",
            geometric_mean(&ratios),
            ratios.len()
        )
    };
    archs.into_iter().map(line).collect()
}
