//! Door: `meanwhile cipher speed`: cycles a byte of emitted C.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cipher::native;
use cipher::speed::Sampling;
use cipher::speed::{self, Config, Measured, Processor};
use cipher::tune::{self, Ask, Orders};
use cipher::unit::Subject;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};
use terminal::machine_here;

use super::{bounds, options};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher speed`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives, or Usuba files with a layout beside them (with --recipe also without).
    #[arg(required = true)]
    names: Vec<String>,
    /// Fewer combinations and runs.
    #[arg(long)]
    quick: bool,
    /// A recipe that `meanwhile cipher tune` wrote for the one NAME or FILE, measured in turn with
    /// the result of `compile` without options.
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
}

/// Runs of a full measurement.
pub const FULL: Sampling = Sampling { n_pairs: 11, ..Sampling::FULL };

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let sampling = if args.quick { Sampling::QUICK } else { FULL };
    if let Some(path) = &args.recipe {
        return tuned(&args.names, path, sampling, out);
    }
    options::check_names(&args.names)?;
    let configs = speed::configs(args.quick, &args.names);
    let processor = Processor::here();
    let bar = out.progress(configs.len() as u64);
    let mut rows = Vec::new();
    for config in configs.iter().filter(|config| native::missing_feature(config.arch).is_none()) {
        bar.set_message(config.text());
        rows.push(row(
            config,
            speed::measure(config, sampling, &processor).map_err(Failure::tool)?.as_ref(),
        ));
        bar.inc(1);
    }
    bar.finish_and_clear();
    out.line(&table("Cycles a byte", &rows).terminal(None));
    let of_rows: Vec<&Value> = rows.iter().collect();
    bounds::about(&of_rows, "the fastest", processor.core_cycles_per_tick)
        .iter()
        .for_each(|line| out.line(line));
    let ratio = processor.core_cycles_per_tick;
    out.object(&json!({"ok": true, "machine": machine_here(), "core_cycles_per_tick": ratio, "rows": rows}));
    Ok(())
}

/// A recipe in turn with the default.
fn tuned(
    names: &[String],
    path: &Path,
    sampling: Sampling,
    out: &mut Output,
) -> Result<(), Failure> {
    let [name] = names else {
        return Err(Failure::user(
            "a recipe is for one program",
            Some("name the primitive or file that it was tuned for"),
        ));
    };
    options::check_name(name)?;
    let subject = Subject::named(name).map_err(Failure::User)?;
    let way = options::recipe_for(path, &subject)?.way;
    if let Some(feature) = native::missing_feature(way.arch) {
        return Err(Failure::user(
            format!("this processor cannot run {} code: it has no {feature}", way.arch.name()),
            None,
        ));
    }
    let ask = Ask {
        arch: way.arch,
        word: way.word,
        slicing: None,
        orders: Orders::All,
        emits: Vec::new(),
        budget: Duration::ZERO,
    };
    let default = tune::default_way(&subject, &ask);
    let Some(it) = tune::in_turn(&subject, [&default, &way], sampling).map_err(Failure::tool)?
    else {
        return Err(Failure::user(
            format!("{} makes no program of `{name}`", path.display()),
            Some("tune it again"),
        ));
    };
    let columns = ["primitive", "target", "default", "recipe", "ratio", "interval"];
    let note = "time-stamp cycles a byte of output, moves between bytes and registers excluded; above 1 the recipe is faster";
    let mut table =
        Table::new("A recipe against the default", &columns).kind(Kind::Measured).note(note);
    table.push(vec![
        Cell::words(name.clone()),
        Cell::words(way.arch.name().to_owned()),
        Cell::number(format!("{:.2}", it.a_median)),
        Cell::number(format!("{:.2}", it.b_median)),
        Cell::number(format!("{:.2}", it.ratio)),
        Cell::number(format!("{:.2}..{:.2}", it.ratio_low, it.ratio_high)),
    ]);
    out.line(&table.terminal(None));
    let row = json!({
        "primitive": name,
        "way": way,
        "cycles_per_byte_default": it.a_median,
        "cycles_per_byte": it.b_median,
        "ratio": it.ratio,
        "interval": [it.ratio_low, it.ratio_high],
        "pairs": it.n,
    });
    out.object(&json!({"ok": true, "machine": machine_here(), "rows": [row]}));
    Ok(())
}

/// The configuration and what was measured of it.
pub fn row(config: &Config, measured: Option<&Measured>) -> Value {
    let mut row = serde_json::to_value(config).expect("a configuration is plain data");
    match measured {
        None => row["too_large"] = json!(true),
        Some(measured) => {
            for (name, value) in
                serde_json::to_value(measured).expect("plain data").as_object().expect("an object")
            {
                row[name] = value.clone();
            }
        }
    }
    row
}

/// One line for each primitive, slicing and target, with the four ways to compile as columns.
fn table(title: &str, rows: &[Value]) -> Table {
    let mut columns = WAYS.to_vec();
    columns.extend(["bound [model]", "fastest / bound"]);
    let mut table = Table::new(title, &columns).kind(Kind::Measured).note(NOTE);
    for own in groups(rows) {
        let measured = own.iter().filter_map(|row| Some((row["cycles_per_byte"].as_f64()?, *row)));
        let fastest = measured.min_by(|left, right| left.0.total_cmp(&right.0));
        let mut cells = ways(&own);
        cells.extend(bounds::cells(
            fastest.map(|fastest| fastest.0),
            fastest.map(|fastest| fastest.1),
        ));
        table.push(cells);
    }
    table
}

/// The columns of [`ways`].
pub const WAYS: [&str; 7] = [
    "primitive",
    "slicing",
    "target",
    "gcc rolled",
    "gcc unrolled",
    "clang rolled",
    "clang unrolled",
];
/// What the numbers are.
pub const NOTE: &str =
    "time-stamp cycles a byte of output, moves between bytes and registers excluded, -O3";

/// Rows of one primitive, slicing and target, in their order.
pub fn groups(rows: &[Value]) -> Vec<Vec<&Value>> {
    let key = |row: &Value| {
        ["primitive", "slicing", "arch"]
            .map(|name| row[name].as_str().unwrap_or_default().to_owned())
    };
    let mut keys: Vec<[String; 3]> = rows.iter().map(key).collect();
    keys.dedup();
    keys.iter().map(|own| rows.iter().filter(|row| key(row) == *own).collect()).collect()
}

/// What they are, and cycles of each way to compile them.
pub fn ways(own: &[&Value]) -> Vec<Cell> {
    let text = |name: &str| Cell::words(own[0][name].as_str().unwrap_or_default());
    let cell = |cc: &str, unroll: &str| {
        let Some(row) = own.iter().find(|row| row["cc"] == cc && row["unroll"] == unroll) else {
            return Cell::number("");
        };
        row["cycles_per_byte"]
            .as_f64()
            .map_or(Cell::number("too large"), |cycles| Cell::number(format!("{cycles:.2}")))
    };
    let named = ["primitive", "slicing", "arch"].map(text);
    named
        .into_iter()
        .chain([cell("gcc", "no"), cell("gcc", "yes"), cell("clang", "no"), cell("clang", "yes")])
        .collect()
}
