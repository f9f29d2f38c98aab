//! `meanwhile cipher list`: the bundled primitives.

use cipher::library::primitives;
use cipher::unit::Subject;
use report::{Cell, Table};
use serde_json::json;

use crate::output::{Failure, Output};

pub fn run(out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new("Bundled primitives", &["name", "kind", "slicings", "source"]);
    let mut rows = Vec::new();
    for primitive in primitives() {
        let subject =
            Subject::bundled(&primitive.name).expect("it is bundled").map_err(Failure::User)?;
        let slicings: Vec<&str> = subject.slicings(None).iter().map(|s| s.letter()).collect();
        table.push(vec![
            Cell::words(&primitive.name),
            Cell::words(&primitive.kind),
            Cell::words(slicings.join(" ")),
            Cell::words(&primitive.source),
        ]);
        let sponges = primitive.sponge_modes().map(str::to_owned);
        let modes: Vec<String> =
            primitive.modes().into_iter().map(|mode| mode.0).chain(sponges).collect();
        rows.push(json!({
            "name": primitive.name, "kind": primitive.kind, "slicings": slicings, "modes": modes, "source": primitive.source,
        }));
    }
    out.line(&table.terminal(None));
    out.object(&json!({"ok": true, "rows": rows}));
    Ok(())
}
