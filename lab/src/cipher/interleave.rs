//! One batch of blocks against several in turn.

use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Interleave, Schedule, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::speed::Sampling;
use cipher::unit::Subject;
use measure::tool::ToolError;
use report::page::Block;
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::Value;
use terminal::output::Failure;

use super::gain::{Gain, compare};
use super::rows::{number, ratio, text};
use crate::study::Study;

pub struct InterleaveStudy {
    /// Primitives, compilers and targets; all of those that are not named.
    pub names: Vec<String>,
    pub cc: Vec<Cc>,
    pub arch: Vec<Arch>,
    pub sampling: Sampling,
}

impl Study for InterleaveStudy {
    type Cell = Interleaved;

    fn cells(&self) -> Vec<Self::Cell> {
        let mut cells = interleave_cells();
        cells.retain(|cell| {
            (self.names.is_empty() || self.names.iter().any(|name| name == cell.primitive))
                && (self.cc.is_empty() || self.cc.contains(&cell.cc))
                && (self.arch.is_empty() || self.arch.contains(&cell.arch))
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
        let gain = measure_interleave(cell, self.sampling).map_err(Failure::tool)?;
        Ok(serde_json::to_value(gain).expect("plain data"))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        vec![Block::Table(interleave_table(rows))]
    }
}

/// A row of the table about `--interleave`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interleaved {
    /// Name of the primitive.
    pub primitive: &'static str,
    /// How it is sliced.
    pub slicing: Slicing,
    pub cc: Cc,
    pub arch: Arch,
    /// Batches that are worked on in turn; as many as `auto` says.
    pub batches: u32,
}

/// Primitives of few registers and long paths, and three that fill the registers,
/// on AVX2 and AVX-512.
fn interleave_cells() -> Vec<Interleaved> {
    let (h, v) = (Slicing::Horizontal, Slicing::Vertical);
    let subjects = [
        ("serpent-128", v),
        ("rectangle-80", v),
        ("gift-128", v),
        ("clyde-128", v),
        ("pyjamask-128", v),
        ("ascon-p12", v),
        ("chacha20", v),
        ("xoodoo-12", v),
        ("aes-128", h),
    ];
    let mut cells = Vec::new();
    for (primitive, slicing) in subjects {
        for arch in [Arch::Avx2, Arch::Avx512] {
            let subject = Subject::bundled(primitive)
                .expect("it is bundled")
                .expect("bundled programs are right");
            let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, Unroll::Yes, "-O3");
            recipe.options.schedule = Schedule::None;
            recipe.options.interleave = Interleave::Auto;
            let batches = recipe
                .make(&subject)
                .expect("bundled programs compile in their slicings")
                .compiled
                .interleave;
            cells.extend(Cc::ALL.map(|cc| Interleaved { primitive, slicing, cc, arch, batches }));
        }
    }
    cells
}

/// Measures one batch against as many in turn as the cell says, two where that is
/// one, without a scheduler.
fn measure_interleave(cell: &Interleaved, sampling: Sampling) -> Result<Gain, ToolError> {
    let recipe = |n: u32| {
        let mut recipe = Recipe::new(cell.slicing, cell.arch, cell.cc, Unroll::Yes, "-O3");
        recipe.options.schedule = Schedule::None;
        recipe.options.interleave = Interleave::Times(n);
        recipe
    };
    compare(cell.primitive, recipe(1), recipe(cell.batches.max(2)), sampling)
}

fn interleave_table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "slicing",
        "target",
        "compiler",
        "batches",
        "one",
        "interleaved",
        "ratio",
        "interval",
        "p",
        "stack one",
        "stack",
    ];
    let note = "time-stamp cycles a byte, one batch of blocks and as many interleaved ones as auto chooses, two where it chooses one; loops written out, no scheduler, measured in turn";
    let mut table = Table::new("Interleaved batches", &columns).kind(Kind::Measured).note(note);
    for row in rows {
        let mut cells = vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(text(row, "arch")),
            Cell::words(text(row, "cc")),
            Cell::number(number(&row["batches"], 0)),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
        ];
        cells.extend(ratio(row));
        cells.push(Cell::number(number(&row["stack_off"], 0)));
        cells.push(Cell::number(number(&row["stack_on"], 0)));
        table.push(cells);
    }
    table
}
