//! Nodes of bitwise operations specialised to single bits: no and yes.

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::{Schedule, Slicing, Unroll};
use cipher::recipe::Recipe;
use report::page::Block;
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::Value;

use super::gain::Choice;
use super::rows::{number, ratio, text};

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

impl Choice for Specialise {
    /// The paper's three ciphers whose S-box alone was specialised.
    fn all() -> Vec<Specialise> {
        let cell = |(primitive, seed_ratio)| Specialise {
            primitive,
            cc: Cc::Clang,
            opt: "-O3",
            arch: Arch::Avx2,
            seed_ratio,
        };
        [("ascon-p12", 1.34), ("gift-128", 1.12), ("clyde-128", 1.06)].map(cell).into()
    }

    fn subject(&self) -> (&str, Cc, Arch) {
        (self.primitive, self.cc, self.arch)
    }

    fn recipes(&self, _unroll: Unroll) -> [Recipe; 2] {
        [false, true].map(|specialise| {
            let mut recipe = Recipe::new(Slicing::Bit, self.arch, self.cc, Unroll::Yes, self.opt);
            recipe.schedule = Schedule::None;
            recipe.specialise = specialise;
            recipe
        })
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        vec![Block::Table(specialise_table(rows))]
    }
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
