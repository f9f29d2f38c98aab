//! Figures of the original compiler, as its authors' repository has them.

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::Slicing;
use serde::Deserialize;

/// Figures of the original compiler.
#[derive(Debug, Deserialize)]
struct Original {
    bitslice: Vec<Column>,
    mslice: Vec<Column>,
}

#[derive(Debug, Deserialize)]
struct Column {
    cc: String,
    opt: String,
    arch: String,
    rows: Vec<(String, f64, f64)>,
}

/// The original's cycles a byte, scheduler off and on, for the same slicing, compiler and target.
pub fn cycles_per_byte(
    primitive: &str,
    slicing: Slicing,
    cc: Cc,
    opt: &str,
    arch: Arch,
) -> Option<(f64, f64)> {
    let figures: Original =
        toml::from_str(include_str!("../../../experiments/original/figures.toml"))
            .expect("a test parses the figures");
    let columns = if slicing == Slicing::Bit { figures.bitslice } else { figures.mslice };
    let column =
        columns.into_iter().find(|c| c.cc == cc.name() && c.opt == opt && c.arch == arch.name())?;
    let family = |name: &str| name.split(['-', '_']).next().unwrap_or(name).to_lowercase();
    // AES and Rectangle are horizontal there, the others vertical.
    let row = column.rows.into_iter().find(|r| family(&r.0) == family(primitive))?;
    let is_horizontal = matches!(row.0.as_str(), "AES" | "Rectangle");
    (slicing == Slicing::Bit || is_horizontal == (slicing == Slicing::Horizontal))
        .then_some((row.1, row.2))
}
