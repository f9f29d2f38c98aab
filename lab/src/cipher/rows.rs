//! Cells of tables that several studies of cipher make of their rows.

use report::Cell;
use serde_json::Value;

/// A word of a row.
pub fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_string()
}

/// A number to so many digits; nothing where there is none.
pub fn number(value: &Value, digits: usize) -> String {
    value.as_f64().map_or(String::new(), |v| format!("{v:.digits$}"))
}

/// Cells of a ratio, its interval and p.
pub fn ratio(row: &Value) -> [Cell; 3] {
    let interval =
        format!("{}..{}", number(&row["interval"][0], 2), number(&row["interval"][1], 2));
    [number(&row["ratio"], 2), interval, number(&row["p"], 3)].map(Cell::number)
}
