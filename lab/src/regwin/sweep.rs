//! Every scheme, schedule and behaviour over the window counts, on the simulator.

use regwin::work::MACHINES;
use regwin::{Behaviour, sweep};
use report::{Cell, Kind, Table};
use serde_json::json;

use meanwhile::regwin_cmd::{failure, options};
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run regwin-sweep`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Seven window counts instead of 4 to 32.
    #[arg(long)]
    quick: bool,
    /// Which machine is charged.
    #[arg(long, value_name = "NAME", default_value = "erc32", value_parser = options::machine())]
    machine: usize,
}

/// The window counts of a quick sweep.
pub const QUICK: [u32; 7] = [4, 6, 8, 12, 16, 24, 32];

/// All configurations, with a progress bar.
pub fn cells(windows: &[u32], out: &Output) -> Result<Vec<sweep::Cell>, Failure> {
    let bar = out.progress(sweep::n_cells(Behaviour::ALL.len(), windows.len()));
    let cells = sweep::sweep(&Behaviour::ALL, windows, &|| bar.inc(1)).map_err(failure)?;
    bar.finish_and_clear();
    Ok(cells)
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let windows: Vec<u32> = if args.quick { QUICK.to_vec() } else { (4..=32).collect() };
    let cells = cells(&windows, out)?;
    for behaviour in Behaviour::ALL {
        out.line(&table(behaviour, &cells, args.machine).terminal(None));
    }
    let row = |cell: &sweep::Cell| {
        let cycles = cell.counts.cycles[args.machine];
        json!({
            "scheme": cell.scheme.name(),
            "schedule": cell.schedule.name(),
            "behaviour": cell.behaviour.name(),
            "windows": cell.windows,
            "switches": cell.counts.n_switches(),
            "overflows": cell.counts.overflows,
            "underflows": cell.counts.underflows,
            "cycles": cycles.total(),
            "mean_switch_cycles": cell.counts.mean_switch_cycles(args.machine),
            "trap_probability": cell.counts.trap_probability(),
        })
    };
    out.object(&json!({"ok": true, "machine": MACHINES[args.machine], "on": "sim", "rows": cells.iter().map(row).collect::<Vec<_>>()}));
    Ok(())
}

/// Millions of cycles of one behaviour: a row for each window count, a column for
/// each scheme and schedule.
pub fn table(behaviour: Behaviour, cells: &[sweep::Cell], machine: usize) -> Table {
    let columns = sweep::columns();
    let names: Vec<String> = columns
        .iter()
        .map(|(scheme, schedule)| format!("{}, {}", scheme.name(), schedule.name()))
        .collect();
    let head: Vec<&str> =
        std::iter::once("windows").chain(names.iter().map(String::as_str)).collect();
    let title = format!("{}: millions of cycles, {}", behaviour.name(), MACHINES[machine]);
    let mut table = Table::new(title, &head).kind(Kind::Sim);
    let mut windows: Vec<u32> = cells.iter().map(|cell| cell.windows).collect();
    windows.sort_unstable();
    windows.dedup();
    for n in windows {
        let of = |column: &(regwin::Scheme, regwin::Schedule)| {
            let fits = |cell: &&sweep::Cell| {
                cell.behaviour == behaviour
                    && cell.windows == n
                    && (cell.scheme, cell.schedule) == *column
            };
            let cell = cells.iter().find(fits);
            Cell::number(cell.map_or(String::new(), |it| {
                format!("{:.1}", it.counts.cycles[machine].total() as f64 / 1e6)
            }))
        };
        table.push(std::iter::once(Cell::number(n)).chain(columns.iter().map(of)).collect());
    }
    table
}
