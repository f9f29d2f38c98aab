//! What a run measured, for the compiler to decide by: `trace --profile` writes it, `cc --profile`
//! and the plugin read it.

use std::path::Path;

use serde_json::{Value, json};

use crate::trace::Trace;

/// The profile of a traced run of `program`.
///
/// A call that was converted keeps its window as time that it waited, or the next compilation would
/// undo what it gained.
pub fn of(trace: &Trace, program: &str) -> Value {
    let mut sites: Vec<Value> = Vec::new();
    for site in trace.lost() {
        let rows = trace.rows.iter().filter(|row| {
            (&row.call, &row.file, row.line, &row.function)
                == (&site.call, &site.file, site.line, &site.function)
        });
        let us = rows
            .filter(|row| row.count > 0)
            .map(|row| row.mpi_us / row.count as f64 + row.window_us.unwrap_or(0.0))
            .fold(0.0, f64::max);
        sites.push(json!({
            "call": site.call,
            "file": site.file,
            "line": site.line,
            "count": site.count,
            "bytes": site.bytes,
            "us": us,
        }));
    }
    json!({"overlap_profile": 1, "program": program, "ranks": trace.ranks, "mpi": trace.mpi.name(), "sites": sites})
}

/// Refuses a file that the plugin could not use.
///
/// Errors: a sentence that says why.
pub fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if value["overlap_profile"] != 1 || !value["sites"].is_array() {
        return Err("it is no profile".to_owned());
    }
    // Settings are told apart by them.
    if path.to_string_lossy().contains([',', ';']) {
        return Err("its name has a comma or a semicolon".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mpi;
    use crate::trace::TraceRow;

    #[test]
    fn the_rank_that_waits_longest_counts() {
        let row = |rank, count, mpi_us, window_us| TraceRow {
            call: "MPI_Recv".to_owned(),
            file: "a.c".to_owned(),
            line: 7,
            function: String::new(),
            rank,
            count,
            bytes: 80 * count,
            nonblocking: 0,
            window_us,
            mpi_us,
        };
        let rows = vec![row(0, 10, 50.0, None), row(1, 2, 60.0, None), row(2, 0, 0.0, None)];
        let trace = Trace {
            mpi: Mpi::Mpich,
            ranks: 3,
            transformed: 0,
            rows,
            agreement: None,
            wall_us: vec![1e3; 3],
            events: Vec::new(),
            left_out: 0,
        };
        let value = of(&trace, "./a");
        let site = json!({"call": "MPI_Recv", "file": "a.c", "line": 7, "count": 10, "bytes": 80, "us": 30.0});
        assert_eq!((&value["sites"], &value["program"]), (&json!([site]), &json!("./a")));
        let hidden = Trace { rows: vec![row(0, 10, 20.0, Some(300.0))], ..trace };
        assert_eq!(of(&hidden, "./a")["sites"][0]["us"], 302.0);
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let is_refused = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a scratch file");
            check(&path).is_err()
        };
        let good = json!({"overlap_profile": 1, "sites": []}).to_string();
        assert!(!is_refused("good", &good) && is_refused("a,b", &good));
        assert!(
            is_refused("cut", &good[..9])
                && is_refused("other", "{}")
                && is_refused("later", "{\"overlap_profile\": 2, \"sites\": []}")
        );
        assert!(check(&folder.path().join("missing")).is_err());
    }
}
