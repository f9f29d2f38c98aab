//! `meanwhile overlap bench`: blocking against overlapped programs over a network of 2 Gbit/s.

use std::path::PathBuf;

use measure::machine::{self, Machine};
use overlap::Mpi;
use overlap::bench::{self, Case, Program, Row};
use report::{Cell, Evidence, Kind, Table};
use serde_json::{Map, Value, json};

use super::options;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile overlap bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this library.
    #[arg(long, value_parser = options::mpi)]
    mpi: Option<Mpi>,
    /// Payloads in bytes.
    #[arg(long, value_delimiter = ',', default_values_t = [8, 65536, 1 << 20, 4 << 20, 16 << 20])]
    bytes: Vec<u64>,
    /// Numbers of processes.
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4])]
    ranks: Vec<u32>,
    /// Rounds of the three programs.
    #[arg(long, default_value_t = 15)]
    pairs: usize,
    /// Write the results as evidence.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    if args.pairs == 0 || args.ranks.contains(&0) || args.ranks.contains(&1) {
        return Err(Failure::user("a benchmark needs a pair, and two ranks or more", None));
    }
    let libraries: Vec<Mpi> = Mpi::ALL.into_iter().filter(|it| args.mpi.is_none_or(|wanted| wanted == *it)).collect();
    let n_rows = libraries.len() * Program::ALL.len() * args.ranks.len() * args.bytes.len();
    let progress = out.progress((n_rows * args.pairs) as u64);
    let mut rows = Vec::new();
    for mpi in libraries {
        for program in Program::ALL {
            let built = bench::build(program, mpi).map_err(Failure::tool)?;
            for &ranks in &args.ranks {
                for &bytes in &args.bytes {
                    progress.set_message(format!("{} {} {ranks} ranks {bytes} B", mpi.name(), program.name()));
                    let case = Case { program, mpi, ranks, bytes };
                    rows.push(bench::measure(&built, case, args.pairs, &mut || progress.inc(1)).map_err(Failure::tool)?);
                    if let Some(path) = &args.out {
                        store(args, &rows, path)?;
                    }
                }
            }
        }
    }
    progress.finish_and_clear();
    out.line(&table(&rows).terminal(None));
    out.object(&json!({"ok": true, "mpi": args.mpi.map(Mpi::name), "rows": rows.iter().map(object).collect::<Vec<_>>()}));
    Ok(())
}

fn object(row: &Row) -> Map<String, Value> {
    let value = json!({
        "mpi": row.case.mpi.name(),
        "program": row.case.program.name(),
        "ranks": row.case.ranks,
        "bytes": row.case.bytes,
        "blocking_ms": rounded(row.blocking_ms),
        "overlapped_ms": rounded(row.overlapped_ms),
        "by_hand_ms": rounded(row.by_hand_ms),
        "ratio": rounded(row.ratio),
        "interval": [rounded(row.interval.0), rounded(row.interval.1)],
        "by_hand_ratio": rounded(row.by_hand_ratio),
        "by_hand_over_overlapped": rounded(row.of_hand),
        "by_hand_over_overlapped_interval": [rounded(row.of_hand_interval.0), rounded(row.of_hand_interval.1)],
        "work_over_transfer": rounded(row.work),
        "pairs": row.pairs,
        "load": row.load,
    });
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the macro made an object"),
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn store(args: &Args, rows: &[Row], path: &std::path::Path) -> Result<(), Failure> {
    let here = Machine::here();
    let version = |program: &str| machine::version(program, &["--version"]).ok();
    let join = |words: Vec<String>| words.join(",");
    let evidence = Evidence {
        kind: Kind::Measured,
        machine: report::evidence::Machine { cpu: here.cpu, cores: here.n_cores, os: here.kernel, virtualised: here.virtualised },
        date: machine::today(),
        compilers: ["clang-19", "mpirun.openmpi", "mpirun.mpich"].into_iter().filter_map(version).collect(),
        command: format!(
            "meanwhile overlap bench --pairs {} --ranks {} --bytes {} --out FILE",
            args.pairs,
            join(args.ranks.iter().map(u32::to_string).collect()),
            join(args.bytes.iter().map(u64::to_string).collect()),
        ),
        rows: rows.iter().map(object).collect(),
    };
    evidence.store(path).map_err(|error| Failure::environment(format!("write {}", path.display()), error.said))
}

/// The rows as a table.
fn table(rows: &[Row]) -> Table {
    let columns =
        ["MPI", "program", "ranks", "bytes", "blocking [ms]", "overlapped [ms]", "by hand [ms]", "ratio", "95 %", "by hand", "work"];
    let mut table = Table::new("blocking over overlapped, 2 Gbit/s", &columns)
        .kind(Kind::Measured)
        .note("work: of the window over the blocking transfer; by hand: blocking over overlapped by hand");
    for row in rows {
        table.push(vec![
            Cell::words(row.case.mpi.name()),
            Cell::words(row.case.program.name()),
            Cell::number(row.case.ranks),
            Cell::number(row.case.bytes),
            Cell::number(format!("{:.3}", row.blocking_ms)),
            Cell::number(format!("{:.3}", row.overlapped_ms)),
            Cell::number(format!("{:.3}", row.by_hand_ms)),
            Cell::number(format!("{:.3}", row.ratio)),
            Cell::words(format!("{:.3} to {:.3}", row.interval.0, row.interval.1)),
            Cell::number(format!("{:.3}", row.by_hand_ratio)),
            Cell::number(format!("{:.2}", row.work)),
        ]);
    }
    table
}
