//! What most studies are: rows, one a cell, each measured once and kept in its evidence file, and
//! shown in the terminal as on the page.

use report::page::Block;
use serde::Serialize;
use serde_json::Value;

use crate::evidence::Evidence;
use crate::store::Store;
use terminal::output::{Failure, Output};

/// A study of this kind. A new one is a file with an `impl` of it, and its line in `studies.rs`.
pub trait Study {
    /// What one row is of; a row begins with its fields, and is found again by them.
    type Cell: Serialize;

    /// What is measured, in this order.
    fn cells(&self) -> Vec<Self::Cell>;

    /// The cell in a few words, beside the progress bar.
    fn name(&self, cell: &Self::Cell) -> String;

    /// False where this machine lacks what the cell needs; the row is left out.
    fn runs_here(&self, _cell: &Self::Cell) -> bool {
        true
    }

    /// What a row says of the cell, an object, or null if it has none. `step` hears how far a long
    /// measurement is.
    ///
    /// Errors: a tool is missing or failed.
    fn measure(&self, cell: &Self::Cell, step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure>;

    /// Sentences, charts and tables of rows, in the order of the page.
    fn blocks(rows: &[Value]) -> Vec<Block>;
}

/// The rows of a study; those that its evidence file does not have are measured and written.
///
/// Errors: those of [`Study::measure`], or the file cannot be written.
pub fn rows<S: Study>(study: &S, store: &mut Store, out: &Output) -> Result<Vec<Value>, Failure> {
    let cells = study.cells();
    let bar = out.progress(cells.len() as u64);
    for cell in &cells {
        let name = study.name(cell);
        bar.set_message(name.clone());
        if !store.has(cell) && study.runs_here(cell) {
            let found = study.measure(cell, &|step| bar.set_message(format!("{name}: {step}")))?;
            if !found.is_null() {
                store.push(row(cell, &found))?;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(cells.iter().filter_map(|cell| store.find(cell).cloned()).collect())
}

/// A row: the fields of its cell, then what was found.
pub fn row(cell: &impl Serialize, found: &Value) -> Value {
    let mut row = serde_json::to_value(cell).expect("a cell is plain data");
    for (name, value) in found.as_object().expect("what was found is an object") {
        row[name] = value.clone();
    }
    row
}

/// Prints tables, then sentences; charts are for the page.
pub fn show(blocks: &[Block], out: &mut Output) {
    for block in blocks {
        if let Block::Table(table) = block {
            out.line(&table.terminal(None));
        }
    }
    for block in blocks {
        if let Block::Text(text) = block {
            out.line(text);
        }
    }
}

/// The committed rows of a study: where they come from, and what it shows of them.
pub fn committed<S: Study>(evidence: &Evidence) -> Vec<Block> {
    let rows = evidence.values();
    std::iter::once(Block::Text(evidence.origin())).chain(S::blocks(&rows)).collect()
}
