//! `meanwhile overlap trace`: windows and time inside MPI, per call site and rank.

use std::path::{Path, PathBuf};

use overlap::trace::{self, SIGNIFICANT_US, Site, Trace, TraceRow, Wanted};
use overlap::{profile, timeline};
use report::number::count;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::output::{self, Failure, Output};

/// Arguments of `meanwhile overlap trace`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What `trace --json` printed for the same program compiled with `-X strength=basic`.
    #[arg(long, value_name = "FILE")]
    basic: Option<PathBuf>,
    /// What the compiler can decide by: `cc --profile FILE`.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// A page with the time line of all ranks.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The object of `--json`, apart from what the program prints.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The launcher with its arguments, after `--`, such as `mpirun -n 2 ./a`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let basic = args.basic.as_deref().map(read).transpose()?;
    for path in [&args.html, &args.profile, &args.out].into_iter().flatten() {
        output::check_writable(path)?;
    }
    let trace = trace::run(&args.command, Wanted { quiet: false, events: args.html.is_some() })
        .map_err(Failure::tool)?;
    if let Some(path) = &args.profile {
        output::write_file(path, format!("{:#}\n", profile::of(&trace, &args.command.join(" "))))?;
    }
    if let Some(path) = &args.html {
        output::write_file(path, timeline::html(&trace, &args.command.join(" ")))?;
    }
    let sites = trace.sites();
    let significant = sites.iter().filter(|site| site.window_us >= SIGNIFICANT_US).count();
    out.line(&format!(
        "{} of the program's source transformed (a line counts once), {} executed, {significant} with a window of {SIGNIFICANT_US} us or more; {}, {}",
        count(trace.transformed as usize, "site"),
        sites.len(),
        count(trace.ranks as usize, "rank"),
        trace.mpi.name()
    ));
    out.line(&collectives(&trace));
    out.line(&windows(&sites, basic.as_deref()).terminal(None));
    out.line(&inside(&trace).terminal(None));
    out.line(&gain(&trace).terminal(None));
    if let Some(bound) = trace.bound() {
        out.line(&format!(
            "{:.3} s on the slowest rank, of which {:.3} s inside MPI (mean); {:.3} s outside on the rank that computes longest: at most {:.2} times as fast",
            bound.wall_s, bound.mpi_s, bound.compute_s, bound.speedup
        ));
    }
    let object = object(&trace, &sites, significant);
    match &args.out {
        Some(path) => output::write_file(path, format!("{object:#}\n"))?,
        None => out.object(&object),
    }
    Ok(())
}

/// Which collectives started nonblocking when the program ran, or why none did.
fn collectives(trace: &Trace) -> String {
    let found = trace.collectives();
    let Some(agreement) = &trace.agreement else {
        return "collectives start as they were compiled: the program was linked without overlap, or with \
                -X collectives=off, so its ranks agree on nothing"
            .to_owned();
    };
    let executed = format!(
        "{} of {} executions at {} of {}",
        found.nonblocking,
        found.executions,
        found.nonblocking_sites,
        count(found.sites, "site")
    );
    if agreement.agreed {
        format!("{}: {executed}", agreement.said)
    } else {
        agreement.said.clone()
    }
}

fn object(trace: &Trace, sites: &[Site], significant: usize) -> Value {
    let rows = serde_json::to_value(&trace.rows).expect("rows are plain");
    json!({
        "ok": true,
        "mpi": trace.mpi.name(),
        "ranks": trace.ranks,
        "transformed": trace.transformed,
        "executed": sites.len(),
        "significant": significant,
        "agreement": trace.agreement,
        "collectives": trace.collectives(),
        "rows": rows,
        "wall_us": trace.wall_us,
        "lost": trace.lost(),
        "bound": trace.bound(),
    })
}

/// Sites of an earlier run.
fn read(path: &Path) -> Result<Vec<Site>, Failure> {
    let wrong = |said: String| {
        let help = "it is what `meanwhile overlap trace --json` prints";
        Failure::user(format!("cannot use `{}`: {said}", path.display()), Some(help))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let rows: Vec<TraceRow> =
        serde_json::from_value(value["rows"].clone()).map_err(|error| wrong(error.to_string()))?;
    Ok(trace::sites(&rows))
}

/// The paper's tables 1 to 3.
fn windows(sites: &[Site], basic: Option<&[Site]>) -> Table {
    let columns: &[&str] = match basic {
        Some(_) => &["call", "file", "line", "interval basic [us]", "interval [us]"],
        None => &["call", "file", "line", "interval [us]"],
    };
    let mut table = Table::new("windows", columns)
        .kind(Kind::Measured)
        .note("from start to wait, means over processes");
    let mut totals = (0.0, 0.0);
    for site in sites {
        let mut row =
            vec![Cell::words(&site.call), Cell::words(&site.file), Cell::number(site.line)];
        totals.1 += site.window_us;
        if let Some(basic) = basic {
            let found = basic
                .iter()
                .find(|it| (&it.call, &it.file, it.line) == (&site.call, &site.file, site.line));
            totals.0 += found.map_or(0.0, |found| found.window_us);
            row.push(found.map_or_else(
                || Cell::words("-"),
                |it| Cell::number(format!("{:.2}", it.window_us)),
            ));
        }
        row.push(Cell::number(format!("{:.2}", site.window_us)));
        table.push(row);
    }
    let mut total = vec![Cell::words("total"), Cell::words(""), Cell::words("")];
    if basic.is_some() {
        total.push(Cell::number(format!("{:.2}", totals.0)));
    }
    total.push(Cell::number(format!("{:.2}", totals.1)));
    table.push(total);
    table
}

/// Sites that take less of the run than this are left out of the table, as a part.
const SHARE_MIN: f64 = 0.001;

/// Time inside MPI by site.
fn gain(trace: &Trace) -> Table {
    let columns =
        &["call", "file", "line", "function", "count", "bytes each", "time [s]", "of the run [%]"];
    let mut table = Table::new("what could be gained", columns)
        .kind(Kind::Measured)
        .note("time inside MPI, means over ranks");
    for site in trace.lost().iter().filter(|it| it.share >= SHARE_MIN) {
        table.push(vec![
            Cell::words(&site.call),
            Cell::words(&site.file),
            Cell::number(site.line),
            Cell::words(&site.function),
            Cell::number(site.count),
            Cell::number(site.bytes),
            Cell::number(format!("{:.3}", site.seconds)),
            Cell::number(format!("{:.1}", site.share * 100.0)),
        ]);
    }
    table
}

/// Time inside MPI by call, over all ranks.
fn inside(trace: &Trace) -> Table {
    let mut table = Table::new(
        "time inside MPI",
        &["call", "file", "line", "rank", "count", "bytes", "time [us]"],
    )
    .kind(Kind::Measured);
    for row in &trace.rows {
        table.push(vec![
            Cell::words(&row.call),
            Cell::words(&row.file),
            Cell::number(row.line),
            Cell::number(row.rank),
            Cell::number(row.count),
            Cell::number(row.bytes),
            Cell::number(format!("{:.1}", row.mpi_us)),
        ]);
    }
    table
}
