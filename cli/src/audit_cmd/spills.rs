//! `meanwhile audit FILE --spills`: stores and reloads of spilled values.

use audit::facts::spills::{Spills, spills};
use audit::program::find::Found;
use audit::ranking::shown_in;
use report::{Cell, Table};
use serde_json::{Value, json};

use super::options::Loaded;
use crate::output::{Failure, Output};

/// Runs the command for one function or all.
pub fn run(loaded: &Loaded, function: Option<&str>, out: &mut Output) -> Result<(), Failure> {
    let user = |error| Failure::User(vec![error]);
    let mut rows: Vec<(Found, Spills)> = Vec::new();
    for (program, symbol) in loaded.code.chosen(function).map_err(user)? {
        let decoded = program.decode(symbol).map_err(user)?;
        if decoded.function.instructions.is_empty() {
            continue;
        }
        rows.push(((program, symbol), spills(&decoded.function)));
    }
    let mut total = Spills::default();
    rows.iter().for_each(|(_, it)| total += it.clone());
    let mut table =
        Table::new("Spilled values", &["function", "instructions", "stores", "reloads", "share %"]);
    let mut push = |name: &str, it: &Spills| {
        table.push(vec![
            Cell::words(name),
            Cell::number(it.instructions),
            Cell::number(it.stores),
            Cell::number(it.reloads),
            Cell::number(format!("{:.1}", it.share_pct())),
        ]);
    };
    rows.iter().for_each(|((program, symbol), it)| push(&shown_in(program, &symbol.name), it));
    if rows.len() > 1 {
        push("all", &total);
    }
    out.text(&table.terminal(None));
    out.object(&json!({
        "ok": true,
        "file": loaded.code.name,
        "cpu": loaded.code.cpu,
        "total": object(None, &total),
        "functions": rows.iter().map(|(found, it)| object(Some(found), it)).collect::<Vec<Value>>(),
    }));
    Ok(())
}

fn object(found: Option<&Found>, it: &Spills) -> Value {
    let mut object = json!({"instructions": it.instructions, "stores": it.stores, "reloads": it.reloads, "share_pct": it.share_pct()});
    if let Some((program, symbol)) = found {
        object["function"] = json!(symbol.name);
        object["file"] = json!(program.name);
    }
    object
}
