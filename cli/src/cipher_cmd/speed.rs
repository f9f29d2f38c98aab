//! Door: `meanwhile cipher speed`: cycles a byte of emitted C, and the cipher section of the report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::gain::Sampling;
use cipher::native;
use cipher::speed::{self, Config, Measured, Processor};
use cipher::tune::{self, Ask, Orders};
use cipher::unit::Subject;
use measure::machine;
use report::page::{Block, Card, Section};
use report::svg::{BarChart, Chart, Series};
use report::{Cell, Evidence, Kind, Table};
use serde::Serialize;
use serde_json::{Value, json};

use super::{bounds, options};
use crate::evidence::{self, machine_here};
use crate::output::{Failure, Output};
use crate::report_cmd::SystemReport;

/// Arguments of `meanwhile cipher speed`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives, or Usuba files with a layout beside them (with --recipe also without); one variant of each if none is named.
    names: Vec<String>,
    /// Fewer combinations and runs.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it already has are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure a stream instead, with --against.
    #[arg(long, value_name = "MODE", value_parser = ["ctr"], requires = "against")]
    mode: Option<String>,
    /// Compare it with these libraries, in turn, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = super::peers::peer(), requires = "mode", conflicts_with = "build_only")]
    against: Vec<&'static str>,
    /// Targets of the streams, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = super::options::arch(), requires = "against")]
    arch: Vec<Arch>,
    /// Bytes of a message, separated by commas [default: 64,1024,16384,1048576].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 30), requires = "against")]
    bytes: Vec<u32>,
    /// A recipe that `meanwhile cipher tune` wrote for the one NAME or FILE, measured in turn with the result of `compile` without options.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mode", "out", "build_only"])]
    recipe: Option<PathBuf>,
    /// Compile only: a later run finds the programs and measures without pauses.
    #[arg(long, conflicts_with = "out")]
    build_only: bool,
}

/// Runs of a full measurement.
const FULL: Sampling = Sampling { n_pairs: 11, ..Sampling::FULL };

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    if args.mode.is_some() {
        let bytes: Vec<usize> = args.bytes.iter().map(|&n| n as usize).collect();
        let which = super::peers::Which { names: &args.names, archs: &args.arch, peers: &args.against, bytes: &bytes };
        return super::peers::run(which, args.quick, args.out, out);
    }
    if let Some(path) = &args.recipe {
        return tuned(&args.names, path, if args.quick { Sampling::QUICK } else { FULL }, out);
    }
    options::check_names(&args.names)?;
    let configs = speed::configs(args.quick, &args.names);
    if configs.is_empty() {
        return Err(Failure::user("no primitive of these names is bundled", Some("`meanwhile cipher list` shows them")));
    }
    if args.build_only {
        return build_all(&configs, out);
    }
    let processor = Processor::here();
    let rows = measure_all(&configs, if args.quick { Sampling::QUICK } else { FULL }, args.out.as_deref(), &processor, out)?;
    out.line(&table("Cycles a byte", &rows).terminal(None));
    let of_rows: Vec<&Value> = rows.iter().collect();
    bounds::about(&of_rows, "the fastest", processor.core_cycles_per_tick).iter().for_each(|line| out.line(line));
    let ratio = processor.core_cycles_per_tick;
    out.object(&json!({"ok": true, "machine": machine_here(), "core_cycles_per_tick": ratio, "rows": rows}));
    Ok(())
}

/// A recipe in turn with the default.
fn tuned(names: &[String], path: &Path, sampling: Sampling, out: &mut Output) -> Result<(), Failure> {
    let [name] = names else {
        return Err(Failure::user("a recipe is for one program", Some("name the primitive or file that it was tuned for")));
    };
    options::check_name(name)?;
    let subject = Subject::named(name).map_err(Failure::User)?;
    let way = options::recipe_for(path, &subject)?.way;
    if let Some(feature) = native::missing_feature(way.arch) {
        return Err(Failure::user(format!("this processor cannot run {} code: it has no {feature}", way.arch.name()), None));
    }
    let ask = Ask { arch: way.arch, word: way.word, slicing: None, orders: Orders::All, emits: Vec::new(), budget: Duration::ZERO };
    let default = tune::default_way(&subject, &ask);
    let Some(it) = tune::in_turn(&subject, [&default, &way], sampling).map_err(Failure::tool)? else {
        return Err(Failure::user(format!("{} makes no program of `{name}`", path.display()), Some("tune it again")));
    };
    let columns = ["primitive", "target", "default", "recipe", "ratio", "interval"];
    let note = "time-stamp cycles a byte of output, moves between bytes and registers excluded; above 1 the recipe is faster";
    let mut table = Table::new("A recipe against the default", &columns).kind(Kind::Measured).note(note);
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

/// Rows of an evidence file, which is written after each of them.
pub struct Store {
    path: Option<PathBuf>,
    command: String,
    compilers: Vec<String>,
    rows: Vec<Value>,
}

impl Store {
    /// Opens a file and takes its rows, which must be of the same command on this machine.
    pub fn open(path: Option<PathBuf>, command: String) -> Result<Store, Failure> {
        evidence::check(path.as_deref())?;
        let Some(path) = path else { return Ok(Store { path, command, compilers: compilers(), rows: Vec::new() }) };
        let earlier = evidence::earlier(&path)?;
        if let Some(other) = earlier.as_ref().filter(|it| it.command != command) {
            return Err(evidence::cannot_go_on(&path, &format!("its rows are those of `{}`", other.command)));
        }
        let rows = earlier.into_iter().flat_map(|it| it.rows).map(Value::Object).collect();
        Ok(Store { path: Some(path), command, compilers: compilers(), rows })
    }

    /// The same with these compilers instead of the two that `speed` uses.
    pub fn with_compilers(self, compilers: Vec<String>) -> Store {
        Store { compilers, ..self }
    }

    /// The row of this configuration: all its fields are equal.
    pub fn find(&self, config: &impl Serialize) -> Option<&Value> {
        let key = serde_json::to_value(config).expect("a configuration is plain data");
        let fields = key.as_object().expect("a configuration is an object");
        self.rows.iter().find(|row| fields.iter().all(|(name, value)| row.get(name) == Some(value)))
    }

    /// Whether it was measured.
    pub fn has(&self, config: &impl Serialize) -> bool {
        self.find(config).is_some()
    }

    /// Adds a row and writes the file.
    pub fn push(&mut self, row: Value) -> Result<(), Failure> {
        self.rows.push(row);
        let Some(path) = &self.path else { return Ok(()) };
        let evidence = Evidence {
            kind: Kind::Measured,
            machine: machine_here(),
            date: machine::today(),
            compilers: self.compilers.clone(),
            command: self.command.clone(),
            rows: self.rows.iter().filter_map(|row| row.as_object().cloned()).collect(),
        };
        evidence::write(path, &evidence)
    }
}

/// Compiles all of them.
fn build_all(configs: &[Config], out: &mut Output) -> Result<(), Failure> {
    let bar = out.progress(configs.len() as u64);
    let mut n_built = 0;
    for config in configs {
        n_built += usize::from(speed::build(config).map_err(Failure::tool)?.is_some());
        bar.inc(1);
    }
    bar.finish_and_clear();
    let n_too_large = configs.len() - n_built;
    out.line(&format!("{n_built} programs built, {n_too_large} too large to compile"));
    out.object(&json!({"ok": true, "built": n_built, "too_large": n_too_large}));
    Ok(())
}

/// Measures what the evidence file does not have yet.
fn measure_all(
    configs: &[Config],
    sampling: Sampling,
    store: Option<&Path>,
    processor: &Processor,
    out: &Output,
) -> Result<Vec<Value>, Failure> {
    let quick = if sampling == Sampling::QUICK { " --quick" } else { "" };
    let mut store = Store::open(store.map(Path::to_path_buf), format!("meanwhile cipher speed{quick} --out FILE"))?;
    let bar = out.progress(configs.len() as u64);
    for config in configs {
        bar.set_message(format!("{} {} {} {}", config.primitive, config.slicing.letter(), config.arch.name(), config.cc.name()));
        if !store.has(config) && native::missing_feature(config.arch).is_none() {
            let measured = speed::measure(config, sampling, processor).map_err(Failure::tool)?;
            store.push(row(config, measured.as_ref()))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(store.rows)
}

fn row(config: &Config, measured: Option<&Measured>) -> Value {
    let mut row = serde_json::to_value(config).expect("a configuration is plain data");
    match measured {
        None => row["too_large"] = json!(true),
        Some(measured) => {
            for (name, value) in serde_json::to_value(measured).expect("plain data").as_object().expect("an object") {
                row[name] = value.clone();
            }
        }
    }
    if let Some((off, on)) = speed::original(&config.primitive, config.slicing, config.cc, config.opt, config.arch) {
        row["original_off"] = json!(off);
        row["original_on"] = json!(on);
    }
    row
}

fn compilers() -> Vec<String> {
    cipher::native::Cc::ALL.iter().filter_map(|cc| cc.version().ok()).collect()
}

/// One line for each primitive, slicing and target, with the four ways to compile as columns.
fn table(title: &str, rows: &[Value]) -> Table {
    let mut columns = vec!["primitive", "slicing", "target", "gcc rolled", "gcc unrolled", "clang rolled", "clang unrolled"];
    // Older evidence has no bounds.
    let with_bounds = rows.iter().any(|row| row.get("bound_cycles_per_byte").is_some());
    if with_bounds {
        columns.extend(["bound [model]", "fastest / bound"]);
    }
    columns.extend(["original on", "with"]);
    let mut table = Table::new(title, &columns).kind(Kind::Measured).note("time-stamp cycles a byte of output, moves between bytes and registers excluded, -O3; the original's figures come from another machine (Zen 5)");
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_string();
    let mut lines: Vec<(String, String, String)> =
        rows.iter().map(|r| (text(r, "primitive"), text(r, "slicing"), text(r, "arch"))).collect();
    lines.dedup();
    for (primitive, slicing, arch) in lines {
        let own: Vec<&Value> =
            rows.iter().filter(|r| r["primitive"] == primitive && r["slicing"] == slicing && r["arch"] == arch).collect();
        let cell = |cc: &str, unroll: &str| {
            let Some(row) = own.iter().find(|r| r["cc"] == cc && r["unroll"] == unroll) else { return Cell::number("") };
            row["cycles_per_byte"].as_f64().map_or(Cell::number("too large"), |v| Cell::number(format!("{v:.2}")))
        };
        let original = own.iter().find_map(|r| Some((r["original_on"].as_f64()?, text(r, "cc"))));
        let mut cells = vec![
            Cell::words(&primitive),
            Cell::words(&slicing),
            Cell::words(&arch),
            cell("gcc", "no"),
            cell("gcc", "yes"),
            cell("clang", "no"),
            cell("clang", "yes"),
        ];
        if with_bounds {
            let measured = own.iter().filter_map(|row| Some((row["cycles_per_byte"].as_f64()?, *row)));
            let fastest = measured.min_by(|a, b| a.0.total_cmp(&b.0));
            cells.extend(bounds::cells(fastest.map(|it| it.0), fastest.map(|it| it.1)));
        }
        cells.push(Cell::number(original.as_ref().map_or(String::new(), |o| format!("{:.2}", o.0))));
        cells.push(Cell::words(original.map_or(String::new(), |o| o.1)));
        table.push(cells);
    }
    table
}

/// The fastest way to compile each primitive and slicing, by target.
fn best(rows: &[Value]) -> BarChart {
    let name = |row: &Value| format!("{} {}", row["primitive"].as_str().unwrap_or_default(), row["slicing"].as_str().unwrap_or_default());
    let mut groups: Vec<String> = rows.iter().map(name).collect();
    groups.dedup();
    let least = |group: &String, arch: &str| {
        let own = rows.iter().filter(|row| name(row) == *group && row["arch"] == arch).filter_map(|row| row["cycles_per_byte"].as_f64());
        own.min_by(f64::total_cmp)
    };
    let series =
        ["avx2", "avx512"].map(|arch| Series { name: arch.into(), values: groups.iter().map(|group| least(group, arch)).collect() });
    BarChart {
        title: "Cycles a byte, the fastest of those measured".into(),
        unit: "cycles/byte".into(),
        kind: Kind::Measured,
        series: series.into(),
        groups,
        log: false,
    }
}

/// The same for each primitive in its fastest slicing.
fn best_of_primitives(rows: &[Value]) -> BarChart {
    let mut groups: Vec<String> = rows.iter().filter_map(|it| it["primitive"].as_str().map(str::to_owned)).collect();
    groups.dedup();
    let least = |group: &String, arch: &str| {
        let own =
            rows.iter().filter(|row| row["primitive"] == **group && row["arch"] == arch).filter_map(|row| row["cycles_per_byte"].as_f64());
        own.min_by(f64::total_cmp)
    };
    let series = ["avx2", "avx512"].map(|arch| Series { name: arch.into(), values: groups.iter().map(|it| least(it, arch)).collect() });
    BarChart {
        title: "The fastest slicing".into(),
        unit: "cycles/byte".into(),
        kind: Kind::Measured,
        series: series.into(),
        groups,
        log: false,
    }
}

/// The fastest primitive of those measured, and how many are faster than the original compiler's.
fn card(rows: &[Value]) -> Card {
    let cycles = |row: &Value| row["cycles_per_byte"].as_f64();
    let fastest = rows
        .iter()
        .filter(|it| cycles(it).is_some())
        .min_by(|a, b| cycles(a).unwrap_or(f64::MAX).total_cmp(&cycles(b).unwrap_or(f64::MAX)));
    let text = |name: &str| fastest.and_then(|it| it[name].as_str()).unwrap_or("nothing").to_owned();
    let ratios: Vec<f64> = rows.iter().filter_map(|it| Some(cycles(it)? / it["original_on"].as_f64()?)).collect();
    let mean = (ratios.iter().map(|it| it.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
    let verdict = if ratios.is_empty() {
        "The original compiler's own figures are of another machine.".to_owned()
    } else {
        format!(
            "Over {} builds {mean:.2} of the cycles that the original's authors give, geometric mean, on another machine.",
            ratios.len()
        )
    };
    Card {
        title: "cipher".to_owned(),
        waits: "an instruction waits for the result of the one before".to_owned(),
        figure: format!("{:.2} cycles a byte", fastest.and_then(cycles).unwrap_or(f64::NAN)),
        kind: Kind::Measured,
        says: format!(
            "{}, {}-sliced, {}, {}: emitted constant-time C, the fastest of those measured here.",
            text("primitive"),
            text("slicing"),
            text("arch"),
            text("cc")
        ),
        verdict,
        picture: Some(best_of_primitives(rows).for_page()),
    }
}

/// The committed table of `speed`.
pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let rows: Vec<Value> = evidence.rows.iter().cloned().map(Value::Object).collect();
    let table = table("Cycles a byte, all combinations", &rows);
    vec![Block::Text(evidence.origin()), Block::Chart(best(&rows).for_page()), Block::Table(table)]
}

/// The cipher section of `meanwhile report`.
pub fn report(quick: bool, out: &Output) -> Result<SystemReport, Failure> {
    let configs = speed::configs(quick, &[]);
    let rows = measure_all(&configs, if quick { Sampling::QUICK } else { FULL }, None, &Processor::here(), out)?;
    let summary = table("cipher: cycles a byte of emitted C", &rows);
    let mut blocks = vec![Block::Text(
        "cipher compiles Usuba to sliced, constant-time C: words become registers (b bitsliced, v vertical, h horizontal), \
         lookup tables become circuits, and one register holds a block in each slice."
            .into(),
    )];
    blocks.push(Block::Chart(best(&rows).for_page()));
    blocks.push(Block::Table(super::scaling::primitives()?));
    let (doubling, chart) = super::scaling::doubling()?;
    blocks.push(Block::Table(doubling));
    blocks.push(Block::Chart(chart.for_page()));
    blocks.extend(super::bench::report(out)?);
    let (scheduling, chart) = super::scaling::scheduling()?;
    blocks.push(Block::Table(scheduling));
    blocks.push(Block::Chart(chart.for_page()));
    let sizes = if quick { [(4, 10), (5, 5), (6, 3), (8, 1)] } else { [(4, 200), (5, 200), (6, 200), (8, 200)] };
    let compared: Vec<_> = sizes.iter().map(|(bits, n)| cipher::circuit::compare(*bits, *n, 1)).collect();
    blocks.push(Block::Table(super::sboxes::table(&compared)));
    let title = "cipher: many blocks side by side".into();
    Ok(SystemReport { summary, section: Section { title, card: Some(card(&rows)), blocks, ..Section::default() }, rows })
}
