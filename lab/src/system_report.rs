//! What one system has to show in the report.

use report::Table;
use report::page::Section;
use report::view::View;
use serde_json::Value;

/// What one system has to show.
#[derive(Debug)]
pub struct SystemReport {
    /// Its results in few rows; also the first thing in its section.
    pub summary: Table,
    /// What of it is mailed.
    pub view: View,
    /// Its section of the page, without the summary.
    pub section: Section,
    /// Its results for `--json`.
    pub rows: Vec<Value>,
}

/// Rows as the numbers of a figure.
pub fn numbers(rows: &[Value]) -> String {
    serde_json::to_string(rows).expect("rows are plain data")
}
