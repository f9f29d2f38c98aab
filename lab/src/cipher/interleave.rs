//! One batch of blocks against several in turn.

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::{Interleave, Schedule, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use report::page::Block;
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::Value;

use super::gain::Choice;
use super::rows::{number, ratio, text};

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

impl Choice for Interleaved {
    /// Primitives of few registers and long paths, and three that fill the registers,
    /// on AVX2 and AVX-512.
    fn all() -> Vec<Interleaved> {
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
                recipe.schedule = Schedule::None;
                recipe.interleave = Interleave::Auto;
                let batches = recipe
                    .make(&subject)
                    .expect("bundled programs compile in their slicings")
                    .compiled
                    .interleave;
                cells.extend(Cc::ALL.map(|cc| Interleaved {
                    primitive,
                    slicing,
                    cc,
                    arch,
                    batches,
                }));
            }
        }
        cells
    }

    fn subject(&self) -> (&str, Cc, Arch) {
        (self.primitive, self.cc, self.arch)
    }

    fn recipes(&self, _unroll: Unroll) -> [Recipe; 2] {
        [1, self.batches.max(2)].map(|n| {
            let mut recipe = Recipe::new(self.slicing, self.arch, self.cc, Unroll::Yes, "-O3");
            recipe.schedule = Schedule::None;
            recipe.interleave = Interleave::Times(n);
            recipe
        })
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        vec![Block::Table(interleave_table(rows))]
    }
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
