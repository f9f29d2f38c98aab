//! Door: Cycles a byte of emitted C, of all bundled primitives, and the cipher section of the
//! report.

use std::path::PathBuf;

use super::original;
use crate::evidence::Evidence;
use cipher::native;
use cipher::speed::Sampling;
use cipher::speed::{self, Config, Processor};
use meanwhile::cipher_cmd::speed::{self as product, FULL};
use meanwhile::cipher_cmd::{bounds, options};
use report::page::{Block, Section};
use report::svg::{BarChart, Chart, Series};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};
use terminal::machine_here;
use terminal::output::{Failure, Output};

use crate::store::Store;
use crate::study::{self, Study};
use crate::system_report::SystemReport;

/// Arguments of the study.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives, or Usuba files with a layout beside them; one variant of each if none is named.
    names: Vec<String>,
    /// Fewer combinations and runs.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it already has are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Compile only: a later run finds the programs and measures without pauses.
    #[arg(long, conflicts_with = "out")]
    build_only: bool,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    options::check_names(&args.names)?;
    let configs = speed::configs(args.quick, &args.names);
    if configs.is_empty() {
        return Err(Failure::user(
            "no primitive of these names is bundled",
            Some("`meanwhile cipher list` shows them"),
        ));
    }
    if args.build_only {
        return build_all(&configs, out);
    }
    let study = Speed::here(configs, args.quick);
    let quick = if args.quick { " --quick" } else { "" };
    let command = format!("meanwhile-lab run cipher-speed{quick} --out FILE");
    let rows = study::rows(&study, &mut Store::open(args.out, command)?, out)?;
    let ratio = study.processor.core_cycles_per_tick;
    out.line(&table("Cycles a byte", &rows).terminal(None));
    let of_rows: Vec<&Value> = rows.iter().collect();
    bounds::about(&of_rows, "the fastest", ratio).iter().for_each(|line| out.line(line));
    out.object(&json!({"ok": true, "machine": machine_here(), "core_cycles_per_tick": ratio, "rows": rows}));
    Ok(())
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

struct Speed {
    configs: Vec<Config>,
    sampling: Sampling,
    processor: Processor,
}

impl Speed {
    fn here(configs: Vec<Config>, is_quick: bool) -> Speed {
        let sampling = if is_quick { Sampling::QUICK } else { FULL };
        Speed { configs, sampling, processor: Processor::here() }
    }
}

impl Study for Speed {
    type Cell = Config;

    fn cells(&self) -> Vec<Config> {
        self.configs.clone()
    }

    fn name(&self, cell: &Config) -> String {
        cell.text()
    }

    fn runs_here(&self, cell: &Config) -> bool {
        native::missing_feature(cell.arch).is_none()
    }

    fn measure(&self, cell: &Config, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let measured =
            speed::measure(cell, self.sampling, &self.processor).map_err(Failure::tool)?;
        let mut row = product::row(cell, measured.as_ref());
        if let Some((off, on)) =
            original::cycles_per_byte(&cell.primitive, cell.slicing, cell.cc, cell.opt, cell.arch)
        {
            row["original_off"] = json!(off);
            row["original_on"] = json!(on);
        }
        Ok(row)
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        let table = table("Cycles a byte, all combinations", rows);
        vec![Block::Chart(best(rows).for_page()), Block::Table(table)]
    }
}

/// The product's table, with the figures of the original compiler's authors.
fn table(title: &str, rows: &[Value]) -> Table {
    let mut columns = product::WAYS.to_vec();
    // Older evidence has no bounds.
    let with_bounds = rows.iter().any(|row| row.get("bound_cycles_per_byte").is_some());
    if with_bounds {
        columns.extend(["bound [model]", "fastest / bound"]);
    }
    columns.extend(["original on", "with"]);
    let note =
        format!("{}; the original's figures come from another machine (Zen 5)", product::NOTE);
    let mut table = Table::new(title, &columns).kind(Kind::Measured).note(note);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_string();
    for own in product::groups(rows) {
        let original =
            own.iter().find_map(|row| Some((row["original_on"].as_f64()?, text(row, "cc"))));
        let mut cells = product::ways(&own);
        if with_bounds {
            let measured =
                own.iter().filter_map(|row| Some((row["cycles_per_byte"].as_f64()?, *row)));
            let fastest = measured.min_by(|left, right| left.0.total_cmp(&right.0));
            cells.extend(bounds::cells(
                fastest.map(|fastest| fastest.0),
                fastest.map(|fastest| fastest.1),
            ));
        }
        cells.push(Cell::number(
            original.as_ref().map_or(String::new(), |pair| format!("{:.2}", pair.0)),
        ));
        cells.push(Cell::words(original.map_or(String::new(), |pair| pair.1)));
        table.push(cells);
    }
    table
}

/// The fastest way to compile each primitive and slicing, by target.
fn best(rows: &[Value]) -> BarChart {
    let name = |row: &Value| {
        format!(
            "{} {}",
            row["primitive"].as_str().unwrap_or_default(),
            row["slicing"].as_str().unwrap_or_default()
        )
    };
    let mut groups: Vec<String> = rows.iter().map(name).collect();
    groups.dedup();
    let least = |group: &String, arch: &str| {
        let own = rows
            .iter()
            .filter(|row| name(row) == *group && row["arch"] == arch)
            .filter_map(|row| row["cycles_per_byte"].as_f64());
        own.min_by(f64::total_cmp)
    };
    let series = ["avx2", "avx512"].map(|arch| Series {
        name: arch.into(),
        values: groups.iter().map(|group| least(group, arch)).collect(),
    });
    BarChart {
        title: "Cycles a byte, the fastest of those measured".into(),
        unit: "cycles/byte".into(),
        kind: Kind::Measured,
        series: series.into(),
        groups,
        log: false,
    }
}

/// The committed table of `speed`.
pub fn committed(evidence: &Evidence) -> Vec<Block> {
    study::committed::<Speed>(evidence)
}

/// The cipher section of `meanwhile-lab report`.
pub fn report(quick: bool, out: &Output) -> Result<SystemReport, Failure> {
    let study = Speed::here(speed::configs(quick, &[]), quick);
    let rows = study::rows(&study, &mut Store::open(None, String::new())?, out)?;
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
    blocks.extend(super::schedulers::report(out)?);
    let (scheduling, chart) = super::scaling::scheduling()?;
    blocks.push(Block::Table(scheduling));
    blocks.push(Block::Chart(chart.for_page()));
    let sizes = if quick {
        [(4, 10), (5, 5), (6, 3), (8, 1)]
    } else {
        [(4, 200), (5, 200), (6, 200), (8, 200)]
    };
    let compared: Vec<_> =
        sizes.iter().map(|(bits, n)| cipher::circuit::compare(*bits, *n, 1)).collect();
    blocks.push(Block::Table(super::sboxes::table(&compared)));
    let title = "cipher: many blocks side by side".into();
    Ok(SystemReport {
        summary,
        view: super::view::view(),
        section: Section { title, blocks, ..Section::default() },
        rows,
    })
}
