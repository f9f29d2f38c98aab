//! Door: the paper's tables 2 and 3: how long windows last in miniMD and miniFE, moved to the first
//! statement that needs the message, and as far as we can.
//!
//! The reader fetches both programs (Mantevo's, on GitHub). Each is copied, built by its own make with
//! everything converted, once as the paper's *basic* and once with all that we do, and traced.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::tool;
use overlap::trace::{self, SIGNIFICANT_US, Site, Trace, Wanted};
use report::page::Block;
use report::{Cell, Kind, Table};
use serde_json::{Map, Value, json};
use terminal::output::{Failure, Output};

use crate::evidence::Evidence;
use crate::store;

/// Arguments of `meanwhile-lab run overlap-windows`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A clone of github.com/Mantevo/miniMD.
    #[arg(long, value_name = "DIR", required_unless_present = "minife")]
    minimd: Option<PathBuf>,
    /// A clone of github.com/Mantevo/miniFE.
    #[arg(long, value_name = "DIR")]
    minife: Option<PathBuf>,
    /// Processes; the paper had 120.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=1024))]
    ranks: u32,
    /// Evidence file to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A program, how it is built and run, and what the paper says of it.
struct Studied {
    name: &'static str,
    /// Where its Makefile is, in its repository.
    folder: &'static str,
    /// What make is told; `CXX` stands for the compiler.
    make: &'static [&'static str],
    /// The program and its arguments.
    run: &'static [&'static str],
    /// Calls that were transformed, executed, and had a significant window.
    counts: [usize; 3],
    /// Call, file, and microseconds of the window, basic and extended.
    rows: &'static [(&'static str, &'static str, f64, f64)],
}

const STUDIED: [Studied; 2] = [
    Studied {
        name: "miniMD",
        folder: "ref",
        make: &[
            "openmpi",
            "CC=CXX",
            "LINK=CXX",
            "CCFLAGS=-O3 -g -fopenmp -DNOCHUNK",
            "LINKFLAGS=-O3 -fopenmp",
            "AVX=no",
            "SIMD=no",
        ],
        run: &["miniMD_openmpi", "-i", "in.eam.miniMD", "-s", "16", "-n", "20"],
        counts: [57, 30, 6],
        rows: &[
            ("MPI_Allreduce", "thermo.cpp", 0.05, 65.84),
            ("MPI_Bcast", "force_eam.cpp", 41.59, 54.34),
            ("MPI_Bcast", "force_eam.cpp", 32.53, 42.51),
            ("MPI_Bcast", "force_eam.cpp", 25.66, 35.37),
            ("MPI_Bcast", "force_eam.cpp", 16.71, 18.31),
            ("MPI_Bcast", "force_eam.cpp", 9.40, 10.09),
        ],
    },
    Studied {
        name: "miniFE",
        folder: "ref/src",
        make: &["CXX=CXX", "CC=CXX"],
        run: &["miniFE.x", "-nx", "64", "-ny", "64", "-nz", "64"],
        counts: [37, 22, 3],
        rows: &[
            ("MPI_Allreduce", "SparseMatrix_functions.hpp", 0.11, 4193.0),
            ("MPI_Bcast", "utils.cpp", 0.51, 166.0),
            ("MPI_Allreduce", "make_local_matrix.cpp", 0.22, 1.41),
        ],
    },
];

/// The strengths by the paper's words.
const STRENGTHS: [(&str, &str); 2] = [("basic", "basic"), ("extended", "frontier")];
const MAKE_LIMIT: Duration = Duration::from_secs(1800);

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    store::check(args.out.as_deref())?;
    let folders = [&args.minimd, &args.minife];
    let asked: Vec<(&Studied, &Path)> = STUDIED
        .iter()
        .zip(folders)
        .filter_map(|(studied, folder)| Some((studied, folder.as_deref()?)))
        .collect();
    for (studied, folder) in &asked {
        if !folder.join(studied.folder).is_dir() {
            let help = format!("git clone https://github.com/Mantevo/{}", studied.name);
            let message = format!("`{}` has no `{}`", folder.display(), studied.folder);
            return Err(Failure::user(message, Some(&help)));
        }
    }
    let bar = out.progress(2 * asked.len() as u64);
    let mut rows = Vec::new();
    for (studied, folder) in asked {
        let mut traces = Vec::new();
        for (name, strength) in STRENGTHS {
            bar.set_message(format!("{}, {name}", studied.name));
            traces.push(traced(studied, folder, strength, args.ranks)?);
            bar.inc(1);
        }
        let [basic, extended] = &traces[..] else { unreachable!("there are two strengths") };
        rows.extend(rows_of(studied, basic, extended));
    }
    bar.finish_and_clear();
    for block in blocks(&rows) {
        if let Block::Table(table) = block {
            out.text(&table.terminal(None));
        }
    }
    let list: Vec<Value> = rows.iter().cloned().map(Value::Object).collect();
    out.object(&json!({"ok": true, "kind": "measured", "ranks": args.ranks, "rows": list}));
    let Some(path) = &args.out else { return Ok(()) };
    let command = format!(
        "meanwhile-lab run overlap-windows --minimd DIR --minife DIR --ranks {} --out FILE",
        args.ranks
    );
    store::store(path, Kind::Measured, ("clang-19", "--version"), &command, rows)
}

/// Builds a copy of the program with this strength, and runs it under the tracer.
fn traced(studied: &Studied, folder: &Path, strength: &str, ranks: u32) -> Result<Trace, Failure> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: std::io::Error| Failure::environment(what, error)
    };
    let scratch = measure::scratch::folder().map_err(failed("make a scratch folder"))?;
    let (copy, compiler) = (scratch.path().join("copy"), scratch.path().join("cxx"));
    let mut command = Command::new("cp");
    command.arg("-r").arg(folder).arg(&copy);
    tool::run(&mut command, b"", MAKE_LIMIT).and_then(|ran| ran.ok()).map_err(Failure::tool)?;
    let own = std::env::current_exe().map_err(failed("find this program"))?;
    let text = format!(
        "#!/bin/sh\nexec '{}' overlap c++ --quiet --min-bytes 0 --min-weight 1 -X strength={strength} -- \"$@\"\n",
        own.with_file_name("meanwhile").display()
    );
    std::fs::write(&compiler, text).map_err(failed("write a script"))?;
    let mut command = Command::new("chmod");
    command.arg("+x").arg(&compiler);
    tool::run(&mut command, b"", MAKE_LIMIT).and_then(|ran| ran.ok()).map_err(Failure::tool)?;
    let place = copy.join(studied.folder);
    let said = |word: &&str| match word.split_once("=CXX") {
        Some((name, "")) => format!("{name}={}", compiler.display()),
        _ => (*word).to_owned(),
    };
    let mut command = Command::new("make");
    command.arg("-C").arg(&place).args(studied.make.iter().map(said));
    tool::run(&mut command, b"", MAKE_LIMIT).and_then(|ran| ran.ok()).map_err(Failure::tool)?;
    // Threads of OpenMP beside ranks would measure the machine.
    let mut words: Vec<String> = ["env", "OMP_NUM_THREADS=1", "OMPI_ALLOW_RUN_AS_ROOT=1"]
        .into_iter()
        .chain(["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun.openmpi", "--oversubscribe", "-n"])
        .map(str::to_owned)
        .collect();
    words.extend([ranks.to_string(), "-wdir".to_owned(), place.display().to_string()]);
    words.push(place.join(studied.run[0]).display().to_string());
    words.extend(studied.run[1..].iter().map(|word| (*word).to_owned()));
    trace::run(&words, Wanted { quiet: true, events: false }).map_err(Failure::tool)
}

/// The counts of a program, the paper's rows, and ours that are significant with either strength.
fn rows_of(studied: &Studied, basic: &Trace, extended: &Trace) -> Vec<Map<String, Value>> {
    let significant =
        |sites: &[Site]| sites.iter().filter(|site| site.window_us >= SIGNIFICANT_US).count();
    let (less, more) = (basic.sites(), extended.sites());
    let counts = [extended.transformed, more.len(), significant(&more)];
    let row = |whose: &str, call: &str, file: &str, line: Option<u64>, us: [Option<f64>; 2]| {
        json!({"program": studied.name, "whose": whose, "call": call, "file": file, "line": line,
            "basic_us": us[0], "extended_us": us[1]})
    };
    let mut rows = Vec::new();
    for (whose, counts) in [("the paper", studied.counts), ("ours", counts)] {
        rows.push(json!({"program": studied.name, "whose": whose, "transformed": counts[0],
            "executed": counts[1], "significant": counts[2]}));
    }
    for (call, file, basic, extended) in studied.rows {
        rows.push(row("the paper", call, file, None, [Some(*basic), Some(*extended)]));
    }
    for site in more.iter().filter(|site| site.window_us >= SIGNIFICANT_US) {
        let is_it = |other: &&Site| {
            (&other.call, file_name(other), other.line) == (&site.call, file_name(site), site.line)
        };
        let basic = less.iter().find(is_it).map(|found| found.window_us);
        let us = [basic, Some(site.window_us)];
        rows.push(row("ours", &site.call, file_name(site), Some(site.line), us));
    }
    let object = |row: Value| match row {
        Value::Object(row) => row,
        _ => unreachable!("the macro made an object"),
    };
    rows.into_iter().map(object).collect()
}

/// A file without its folder, which is a scratch folder.
fn file_name(site: &Site) -> &str {
    site.file.rsplit('/').next().unwrap_or_default()
}

/// A table of counts, and one of windows for each program.
fn blocks(rows: &[Map<String, Value>]) -> Vec<Block> {
    let text = |row: &Map<String, Value>, key: &str| match row.get(key) {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => "-".to_owned(),
    };
    let note = format!(
        "calls that were transformed, that the run executed, and whose mean window is {SIGNIFICANT_US} us or more"
    );
    let columns = ["program", "whose", "transformed", "executed", "significant"];
    let mut counts = Table::new("Calls", &columns).kind(Kind::Measured).note(note);
    for row in rows.iter().filter(|row| row.contains_key("transformed")) {
        counts.push(columns.map(|key| Cell::words(text(row, key))).into());
    }
    let mut all = vec![Block::Table(counts)];
    for (studied, title) in STUDIED.iter().zip(["Table 2", "Table 3"]) {
        let own = rows.iter().filter(|row| {
            row.get("program").is_some_and(|name| name == studied.name) && row.contains_key("call")
        });
        let title = format!("{title}: windows of {}, microseconds", studied.name);
        let note = "from start to wait, means over ranks; -: the call has no window with basic, or the paper's line is of another version. The paper: 120 processes, Sandy Bridge, InfiniBand";
        let columns = ["whose", "call", "file", "line", "basic", "extended"];
        let mut table = Table::new(title, &columns).kind(Kind::Measured).note(note);
        for row in own {
            let us = |key: &str| {
                let number = row.get(key).and_then(Value::as_f64);
                Cell::number(number.map_or("-".to_owned(), |us| format!("{us:.2}")))
            };
            let words = ["whose", "call", "file", "line"].map(|key| Cell::words(text(row, key)));
            table.push(words.into_iter().chain([us("basic_us"), us("extended_us")]).collect());
        }
        all.push(Block::Table(table));
    }
    all
}

/// The committed results as tables.
pub fn committed(evidence: &Evidence) -> Vec<Block> {
    std::iter::once(Block::Text(evidence.origin())).chain(blocks(&evidence.rows)).collect()
}
