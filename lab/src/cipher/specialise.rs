//! Nodes of bitwise operations specialised to single bits: no and yes.

use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Schedule, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::speed::Sampling;
use measure::tool::ToolError;
use report::page::Block;
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::Value;
use terminal::output::Failure;

use super::gain::{Gain, compare};
use super::rows::{number, ratio, text};
use crate::study::Study;

pub struct SpecialiseStudy {
    /// Primitives; all if none is named.
    pub names: Vec<String>,
    pub sampling: Sampling,
}

impl Study for SpecialiseStudy {
    type Cell = Specialise;

    fn cells(&self) -> Vec<Self::Cell> {
        let mut cells = specialise_cells();
        cells.retain(|cell| {
            self.names.is_empty() || self.names.iter().any(|name| name == cell.primitive)
        });
        cells
    }

    fn name(&self, cell: &Self::Cell) -> String {
        format!("{} {} {}", cell.primitive, cell.cc.name(), cell.arch.name())
    }

    fn runs_here(&self, cell: &Self::Cell) -> bool {
        native::missing_feature(cell.arch).is_none()
    }

    fn measure(&self, cell: &Self::Cell, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let gain = measure_specialise(cell, self.sampling).map_err(Failure::tool)?;
        Ok(serde_json::to_value(gain).expect("plain data"))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        vec![Block::Table(specialise_table(rows))]
    }
}

/// A row of the table about `--specialise`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Specialise {
    /// Name of the primitive, bitsliced.
    pub primitive: &'static str,
    pub cc: Cc,
    pub opt: &'static str,
    pub arch: Arch,
    pub seed_ratio: f64,
}

/// The paper's three ciphers whose S-box alone was specialised.
fn specialise_cells() -> Vec<Specialise> {
    let cell = |(primitive, seed_ratio)| Specialise {
        primitive,
        cc: Cc::Clang,
        opt: "-O3",
        arch: Arch::Avx2,
        seed_ratio,
    };
    [("ascon-p12", 1.34), ("gift-128", 1.12), ("clyde-128", 1.06)].map(cell).into()
}

/// Measures `--specialise yes` against `no`, without a scheduler.
fn measure_specialise(cell: &Specialise, sampling: Sampling) -> Result<Gain, ToolError> {
    let recipe = |specialise: bool| {
        let mut recipe = Recipe::new(Slicing::Bit, cell.arch, cell.cc, Unroll::Yes, cell.opt);
        recipe.options.schedule = Schedule::None;
        recipe.options.specialise = specialise;
        recipe
    };
    compare(cell.primitive, recipe(false), recipe(true), sampling)
}

fn specialise_table(rows: &[Value]) -> Table {
    let columns =
        ["primitive", "compiler", "target", "no", "yes", "ratio", "interval", "p", "paper"];
    let note = "time-stamp cycles a byte, bitsliced, no scheduler, measured in turn";
    let mut table = Table::new("Bitwise nodes specialised to single bits: no and yes", &columns)
        .kind(Kind::Measured)
        .note(note);
    for row in rows {
        let mut cells = vec![
            Cell::words(text(row, "primitive")),
            Cell::words(format!("{} {}", text(row, "cc"), text(row, "opt"))),
            Cell::words(text(row, "arch")),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
        ];
        cells.extend(ratio(row));
        cells.push(Cell::number(number(&row["seed_ratio"], 2)));
        table.push(cells);
    }
    table
}
