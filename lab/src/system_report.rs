//! What one system has to show in the report.

use report::Table;
use report::page::Section;
use serde_json::Value;

/// What one system has to show.
#[derive(Debug)]
pub struct SystemReport {
    /// Its results in few rows; also the first thing in its section.
    pub summary: Table,
    /// Its section of the page, without the summary.
    pub section: Section,
    /// Its results for `--json`.
    pub rows: Vec<Value>,
}
