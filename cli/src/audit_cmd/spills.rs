//! `meanwhile audit FILE --spills`: stores and reloads of spilled values.

use audit::facts::spills::{Spills, spills};
use audit::program::names::shown;
use report::{Cell, Table};
use serde_json::{Value, json};

use super::all::chosen;
use super::options::Loaded;
use crate::output::{Failure, Output};

/// Runs the command for one function or all.
pub fn run(loaded: &Loaded, function: Option<&str>, out: &mut Output) -> Result<(), Failure> {
    let user = |error| Failure::User(vec![error]);
    let mut rows: Vec<(String, Spills)> = Vec::new();
    for (program, symbol) in chosen(loaded, function)? {
        let decoded = program.decode(symbol).map_err(user)?;
        if decoded.function.instructions.is_empty() {
            continue;
        }
        rows.push((symbol.name.clone(), spills(&decoded.function)));
    }
    let mut total = Spills::default();
    rows.iter().for_each(|(_, it)| total += it.clone());
    let mut table = Table::new("Spilled values", &["function", "instructions", "stores", "reloads", "share %"]);
    let mut push = |name: &str, it: &Spills| {
        table.push(vec![
            Cell::words(name),
            Cell::number(it.instructions),
            Cell::number(it.stores),
            Cell::number(it.reloads),
            Cell::number(format!("{:.1}", it.share_pct())),
        ]);
    };
    rows.iter().for_each(|(name, it)| push(&shown(name), it));
    if rows.len() > 1 {
        push("all", &total);
    }
    out.text(&table.terminal(None));
    out.object(&json!({
        "ok": true,
        "file": loaded.name,
        "cpu": loaded.cpu,
        "total": object(None, &total),
        "functions": rows.iter().map(|(name, it)| object(Some(name), it)).collect::<Vec<Value>>(),
    }));
    Ok(())
}

fn object(name: Option<&str>, it: &Spills) -> Value {
    let mut object = json!({"instructions": it.instructions, "stores": it.stores, "reloads": it.reloads, "share_pct": it.share_pct()});
    if let Some(name) = name {
        object["function"] = json!(name);
    }
    object
}
