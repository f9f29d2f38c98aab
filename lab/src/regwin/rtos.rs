//! Door: What RTOS people measure, in each scheme, counted under QEMU.

use std::path::PathBuf;

use super::rtos_measures::{self as measures, Measure};
use crate::evidence::Evidence;
use regwin::work::MACHINES;
use regwin::{Scheme, library};
use report::page::Block;
use report::svg::{Axis, Chart, Line, LineChart};
use report::{Cell, Kind, Table, Tone};
use serde_json::{Value, json};

use crate::store::Store;
use crate::study::{self, Study};
use meanwhile::regwin_cmd::options;
use measure::machine;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run regwin-rtos`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Register windows of the machines, with commas between; 4 to 32.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "8,31", value_parser = clap::value_parser!(u32).range(options::WINDOWS))]
    windows: Vec<u32>,
    /// Whose cycles are shown; every run counts both.
    #[arg(long, value_name = "NAME", default_value = "erc32", value_parser = options::machine())]
    machine: usize,
    /// Call depths 0, 1 and 4 only, instead of 0 to 7.
    #[arg(long)]
    quick: bool,
    /// Evidence file to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The base first: what RTEMS, Zephyr and Linux do.
const SCHEMES: [Scheme; 4] = [Scheme::Ns, Scheme::Snp, Scheme::Sp, Scheme::Adaptive];
const QUICK: [u32; 3] = [0, 1, 4];
const DEPTHS: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let windows: Vec<String> = args.windows.iter().map(u32::to_string).collect();
    let quick = if args.quick { " --quick" } else { "" };
    let command =
        format!("meanwhile-lab run regwin-rtos --windows {}{quick} --out FILE", windows.join(","));
    let version = machine::version(library::GCC, &["--version"]).map_err(Failure::tool)?;
    let store = Store::open(args.out.clone(), command)?;
    let mut store = store.with_kind(Kind::Model).with_compilers(vec![version]);
    let depths = if args.quick { &QUICK[..] } else { &DEPTHS };
    let study = Rtos { measures: measures::measures(depths), windows: args.windows.clone() };
    let rows = study::rows(&study, &mut store, out)?;
    out.text(&table(&rows, args.machine).terminal(None));
    out.object(&json!({"ok": true, "kind": "model", "on": "qemu", "rows": rows}));
    Ok(())
}

struct Rtos {
    measures: Vec<Measure>,
    windows: Vec<u32>,
}

/// One thing that is measured, on a machine, in a scheme.
#[derive(serde::Serialize)]
struct RtosCell {
    suite: &'static str,
    #[serde(rename = "measure")]
    name: &'static str,
    depth: u32,
    windows: u32,
    scheme: &'static str,
    #[serde(skip)]
    of: (Measure, Scheme),
}

impl Study for Rtos {
    type Cell = RtosCell;

    fn cells(&self) -> Vec<Self::Cell> {
        let mut cells = Vec::new();
        for measure in &self.measures {
            for &windows in &self.windows {
                cells.extend(SCHEMES.map(|scheme| RtosCell {
                    suite: measure.suite,
                    name: measure.name,
                    depth: measure.depth,
                    windows,
                    scheme: scheme.name(),
                    of: (*measure, scheme),
                }));
            }
        }
        cells
    }

    fn name(&self, cell: &Self::Cell) -> String {
        format!("{}, {} windows, {}", cell.name, cell.windows, cell.scheme)
    }

    fn measure(&self, cell: &Self::Cell, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let (measure, scheme) = &cell.of;
        let cycles = measures::cycles(*scheme, cell.windows, measure).map_err(Failure::tool)?;
        let of =
            |machine: usize| json!({"mean": cycles.mean[machine], "worst": cycles.worst[machine]});
        Ok(json!({MACHINES[0]: of(0), MACHINES[1]: of(1)}))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        let charts = ["switch, staying there", AND_CALLS]
            .map(|word| Block::Chart(chart(rows, word).for_page()));
        let tables = [0, 1].map(|machine| Block::Table(table(rows, machine)));
        charts.into_iter().chain(tables).collect()
    }
}

/// A row a measure, depth and window count; a column a scheme.
fn table(rows: &[Value], machine: usize) -> Table {
    let machine = MACHINES[machine];
    let names = SCHEMES.map(Scheme::name);
    let head: Vec<&str> = ["suite", "what", "depth", "windows"]
        .into_iter()
        .chain(names)
        .chain(["adaptive / ns"])
        .collect();
    let title = format!("What RTOS people measure: cycles, mean and worst, {machine}");
    let mut table = Table::new(&title, &head).kind(Kind::Model);
    table = table.note("instructions counted under QEMU, priced by the machine file; 200 rounds; ns stores all windows at a switch, as RTEMS, Zephyr and Linux do");
    for group in rows.chunks(SCHEMES.len()) {
        let number = |scheme: Scheme, what: &str| {
            let row = group.iter().find(|value| value["scheme"] == scheme.name());
            row.and_then(|row| row[machine][what].as_f64()).unwrap_or(f64::NAN)
        };
        let ratio = number(Scheme::Adaptive, "mean") / number(Scheme::Ns, "mean");
        let tone = match ratio {
            it if it < 0.98 => Tone::Good,
            it if it > 1.02 => Tone::Bad,
            _ => Tone::Plain,
        };
        let words = |name: &str| Cell::words(group[0][name].as_str().unwrap_or_default());
        let count = |name: &str| Cell::number(group[0][name].as_u64().unwrap_or_default());
        let cells = SCHEMES.map(|scheme| {
            Cell::number(format!("{:.0}, {:.0}", number(scheme, "mean"), number(scheme, "worst")))
        });
        let lead = [words("suite"), words("measure"), count("depth"), count("windows")];
        table.push(
            lead.into_iter()
                .chain(cells)
                .chain([Cell::number(format!("{ratio:.2}")).tone(tone)])
                .collect(),
        );
    }
    table
}

/// What threads mostly do between switches.
pub const AND_CALLS: &str = "switch, calls and returns between";

/// tmcontext01's picture: cycles of a switch by how deep the threads have called.
pub fn chart(rows: &[Value], measure: &str) -> LineChart {
    let mut lines = Vec::new();
    for scheme in [Scheme::Ns, Scheme::Adaptive] {
        let mut windows: Vec<u64> = rows.iter().filter_map(|row| row["windows"].as_u64()).collect();
        windows.sort_unstable();
        windows.dedup();
        for n in windows {
            let is_of_line = |value: &&Value| {
                value["scheme"] == scheme.name()
                    && value["measure"] == measure
                    && value["windows"] == n
            };
            let point = |value: &Value| {
                Some((value["depth"].as_f64()?, value[MACHINES[0]]["mean"].as_f64()?))
            };
            let points = rows.iter().filter(is_of_line).filter_map(point).collect();
            lines.push(Line { name: format!("{}, {n} windows", scheme.name()), points });
        }
    }
    let axis = |label: &str| Axis { label: label.to_owned(), log: false };
    let title = format!("tmcontext01: {measure}");
    LineChart {
        title,
        kind: Kind::Model,
        x: axis("call depth of both threads"),
        y: axis("cycles of a switch, erc32"),
        lines,
    }
}

/// The committed tables and pictures.
pub fn committed(evidence: &Evidence) -> Vec<Block> {
    study::committed::<Rtos>(evidence)
}
