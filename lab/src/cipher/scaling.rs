//! Door: The time of our compiler, on the bundled primitives and on programs with ever more rounds,
//! for the report.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::ir::visit::n_equations;
use cipher::ir::{Body, Node};
use cipher::native::Cc;
use cipher::options::{Schedule, Slicing, Unroll};
use cipher::passes::inline::Inline;
use cipher::passes::schedule_bitslice::schedule_bitslice;
use cipher::passes::schedule_mslice::{LOOK_BEHIND, schedule_mslice};
use cipher::recipe::Recipe;
use cipher::target::Target;
use cipher::unit::Subject;
use measure::tool::{self, Ran};
use report::svg::{Axis, Line, LineChart};
use report::{Cell, Kind, Table};

use terminal::output::Failure;

/// Milliseconds and equations of one compilation to C text, loops written out.
fn compile(subject: &Subject, slicing: Slicing) -> Result<(f64, usize), Failure> {
    let mut recipe = Recipe::new(slicing, Arch::Avx2, Cc::Gcc, Unroll::Yes, "-O3");
    recipe.schedule = Schedule::None;
    let mut made = Ok(());
    let mut n_equations = 0;
    let seconds = measure::clock::seconds(|| {
        made = recipe.make(subject).map(|make| {
            n_equations = make.n_equations();
            std::hint::black_box(recipe.source(&make, false, false));
        });
    });
    made.map_err(Failure::User)?;
    Ok((seconds * 1e3, n_equations))
}

/// The product's program, which is built beside this one; beside its folder for unit tests.
fn product() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::environment("find this program's file", error))?;
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join("meanwhile"));
    beside.into_iter().find(|path| path.is_file()).ok_or_else(|| Failure::Environment {
        ran: format!("find `meanwhile` beside {}", own.display()),
        said: "it is not built".to_owned(),
        help: Some("build both: `make build`".to_owned()),
    })
}

/// Milliseconds and equations of one compilation in its own process, from file to C file: the time
/// that a user waits, independent of the memory of this process.
fn compile_apart(folder: &Path, n_rounds: u32) -> Result<(f64, usize), Failure> {
    let io = |what: &str, path: &Path| {
        let what = format!("{what} {}", path.display());
        move |error: std::io::Error| Failure::environment(what.clone(), error)
    };
    let (source, made) = (folder.join(format!("rounds-{n_rounds}.ua")), folder.join("rounds.c"));
    if !source.exists() {
        std::fs::write(&source, rounds(n_rounds)).map_err(io("write", &source))?;
    }
    let mut command = Command::new(product()?);
    command
        .args([
            "cipher",
            "compile",
            "--slicing",
            "b",
            "-X",
            "unroll=yes",
            "--schedule",
            "none",
            "--json",
            "-o",
        ])
        .arg(&made)
        .arg(&source);
    let ran = tool::run(&mut command, b"", Duration::from_secs(60))
        .and_then(Ran::ok)
        .map_err(Failure::tool)?;
    let value: serde_json::Value =
        serde_json::from_slice(&ran.stdout).expect("the command prints one object");
    Ok((
        ran.elapsed.as_secs_f64() * 1e3,
        value["equations"].as_u64().expect("it says how many") as usize,
    ))
}

/// The slowest slicing of the larger primitives.
pub fn primitives() -> Result<Table, Failure> {
    let columns = ["primitive", "slicing", "equations", "ms"];
    let mut table =
        Table::new("Our compiler's own time, loops written out, no C compiler", &columns)
            .kind(Kind::Measured);
    for name in ["ace", "chacha20", "serpent-128", "pyjamask-128", "aes-128", "gift-128"] {
        let subject = Subject::bundled(name).expect("it is bundled").map_err(Failure::User)?;
        let (ms, n) = compile(&subject, Slicing::Bit)?;
        table.push(vec![
            Cell::words(name),
            Cell::words("b"),
            Cell::number(n.to_string()),
            Cell::number(format!("{ms:.0}")),
        ]);
    }
    Ok(table)
}

/// A cipher of 32-bit rows with this many rounds.
fn rounds(n: u32) -> String {
    format!(
        "_lsb_first table s (x : v4) returns (y : v4) {{ 6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2 }}\n\
         node rotate (x : u32x4) returns (y : u32x4)\n\
         let y[0] = x[0]; y[1] = x[1] <<< 1; y[2] = x[2] <<< 12; y[3] = x[3] <<< 13 tel\n\
         node main (p : u32x4, k : u32x4[{n}]) returns (c : u32x4)\nvars t : u32x4[{}]\n\
         let t[0] = p; forall i in [0, {}] {{ t[i+1] = rotate(s(t[i] ^ k[i])) }} c = t[{n}] tel\n",
        n + 1,
        n - 1
    )
}

/// Milliseconds of both schedulers on 1,000 to 200,000 equations: a table, and a chart
/// of the same numbers.
///
/// The bitslice scheduler gets the S-boxes as calls, as in the pipeline; the mslice scheduler
/// gets them written out.
pub fn scheduling() -> Result<(Table, LineChart), Failure> {
    let columns = ["rounds", "equations", "mslice ms", "equations and calls", "bitslice ms"];
    let mut table =
        Table::new("Time of the schedulers alone, bitsliced, loops written out", &columns)
            .kind(Kind::Measured);
    let mut lines = [Vec::new(), Vec::new()];
    let target = Target::generic();
    for n in [2, 5, 11, 23, 46, 92, 184, 368] {
        let subject = Subject::text("rounds.ua", &rounds(n), None).map_err(Failure::User)?;
        let entry = |inline: Inline| -> Result<Node, Failure> {
            let mut recipe = Recipe::new(Slicing::Bit, Arch::X86_64, Cc::Gcc, Unroll::Yes, "-O3");
            recipe.schedule = Schedule::None;
            recipe.inline = inline;
            let mut program = recipe.make(&subject).map_err(Failure::User)?.compiled.program;
            let at = program.entries[0].idx();
            Ok(program.nodes.swap_remove(at))
        };
        let best = |node: &Node, schedule: &dyn Fn(&mut Node)| {
            let run = |_| {
                let mut node = node.clone();
                measure::clock::seconds(|| schedule(&mut node)) * 1e3
            };
            (0..3).map(run).fold(f64::MAX, f64::min)
        };
        let size =
            |node: &Node| if let Body::Stmts(stmts) = &node.body { n_equations(stmts) } else { 0 };
        let (flat, calls) = (entry(Inline::All)?, entry(Inline::None)?);
        let mslice = best(&flat, &|node| schedule_mslice(node, LOOK_BEHIND, &target));
        let bitslice = best(&calls, &|node| schedule_bitslice(node, &target));
        lines[0].push((size(&flat) as f64, mslice));
        lines[1].push((size(&calls) as f64, bitslice));
        let cells = [
            n.to_string(),
            size(&flat).to_string(),
            format!("{mslice:.1}"),
            size(&calls).to_string(),
            format!("{bitslice:.1}"),
        ];
        table.push(cells.into_iter().map(Cell::number).collect());
    }
    let [mslice, bitslice] = lines;
    let axis = |label: &str| Axis { label: label.into(), log: true };
    let chart = LineChart {
        title: "Time of the schedulers alone".into(),
        kind: Kind::Measured,
        x: axis("equations and calls"),
        y: axis("ms"),
        lines: vec![
            Line { name: "mslice".into(), points: mslice },
            Line { name: "bitslice".into(), points: bitslice },
        ],
    };
    Ok((table, chart))
}

/// Time for 25 to 800 rounds of one cipher, bitsliced: a table, and a chart of the same numbers.
pub fn doubling() -> Result<(Table, LineChart), Failure> {
    let columns = ["rounds", "equations", "ms", "over half the rounds"];
    let mut table = Table::new(
        "Our compiler's own time as the rounds double, bitsliced, loops written out",
        &columns,
    )
    .kind(Kind::Measured)
    .note("least of 5 runs in turn, the whole command, reading and writing files included");
    let folder = measure::scratch::folder()
        .map_err(|error| Failure::environment("create a scratch folder", error))?;
    const ROUNDS: [u32; 6] = [25, 50, 100, 200, 400, 800];
    let mut best = [(f64::MAX, 0); ROUNDS.len()];
    // In turn, so that a busy moment does not affect one size alone.
    for _ in 0..5 {
        for (best, n) in best.iter_mut().zip(ROUNDS) {
            let (ms, equations) = compile_apart(folder.path(), n)?;
            *best = (best.0.min(ms), equations);
        }
    }
    let mut points = Vec::new();
    for (idx, (ms, equations)) in best.into_iter().enumerate() {
        let ratio = if idx == 0 { String::new() } else { format!("{:.2}", ms / best[idx - 1].0) };
        points.push((equations as f64, ms));
        let cells = [ROUNDS[idx].to_string(), equations.to_string(), format!("{ms:.0}"), ratio];
        table.push(cells.into_iter().map(Cell::number).collect());
    }
    let axis = |label: &str| Axis { label: label.into(), log: true };
    let chart = LineChart {
        title: "Our compiler's own time".into(),
        kind: Kind::Measured,
        x: axis("equations"),
        y: axis("ms"),
        lines: vec![Line { name: "bitsliced, loops written out".into(), points }],
    };
    Ok((table, chart))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilation_apart_is_the_product_s() {
        if product().is_err() {
            return testkit::skipped("the compiler's own time: `meanwhile` is not built");
        }
        let folder = tempfile::tempdir().expect("a scratch folder");
        let apart = |n_rounds| {
            compile_apart(folder.path(), n_rounds).unwrap_or_else(|error| panic!("{error:?}"))
        };
        let (few, more) = (apart(2), apart(4));
        assert!(0 < few.1 && few.1 < more.1, "{few:?} {more:?}");
    }
}
