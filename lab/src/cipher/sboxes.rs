//! The synthesiser against decision diagrams of the best variable order.

use cipher::circuit::{Comparison, compare, known_sboxes};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cipher-sboxes`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Random S-boxes of each size.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Seed of the random S-boxes.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let mut library = Table::new("Known circuits", &["S-box", "gates", "source"]);
    let mut known = Vec::new();
    for sbox in known_sboxes() {
        library.push(vec![
            Cell::words(sbox.name),
            Cell::number(sbox.circuit.n_gates().to_string()),
            Cell::words(sbox.source),
        ]);
        known.push(
            json!({"name": sbox.name, "gates": sbox.circuit.n_gates(), "source": sbox.source}),
        );
    }
    out.line(&library.terminal(None));
    let bar = out.progress(4);
    let mut all = Vec::new();
    for bits in [4, 5, 6, 8] {
        bar.set_message(format!("{} S-boxes of {bits} bits", args.count));
        all.push(compare(bits, args.count, args.seed));
        bar.inc(1);
    }
    bar.finish_and_clear();
    out.line(&table(&all).terminal(None));
    out.object(
        &json!({"ok": true, "known": known, "rows": all.iter().map(row).collect::<Vec<_>>()}),
    );
    Ok(())
}

/// Mean, least and most gates.
fn summary(counts: impl Iterator<Item = usize> + Clone) -> (f64, usize, usize) {
    let n = counts.clone().count().max(1);
    let sum: usize = counts.clone().sum();
    (sum as f64 / n as f64, counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0))
}

/// The comparison as a table.
pub fn table(all: &[Comparison]) -> Table {
    let columns = ["bits", "S-boxes", "ours mean", "min", "max", "diagram mean", "min", "max"];
    let mut table = Table::new(
        "Gates of random S-boxes: synthesiser and decision diagram of the best variable order",
        &columns,
    )
    .kind(Kind::Model);
    for comparison in all {
        let (ours, bdd) = (
            summary(comparison.sboxes.iter().map(|s| s.ours)),
            summary(comparison.sboxes.iter().map(|s| s.bdd)),
        );
        let cells = [
            comparison.bits.to_string(),
            comparison.sboxes.len().to_string(),
            format!("{:.2}", ours.0),
            ours.1.to_string(),
            ours.2.to_string(),
            format!("{:.2}", bdd.0),
            bdd.1.to_string(),
            bdd.2.to_string(),
        ];
        table.push(cells.into_iter().map(Cell::number).collect());
    }
    table
}

fn row(comparison: &Comparison) -> Value {
    let (ours, bdd) = (
        summary(comparison.sboxes.iter().map(|s| s.ours)),
        summary(comparison.sboxes.iter().map(|s| s.bdd)),
    );
    json!({
        "bits": comparison.bits, "sboxes": comparison.sboxes.len(), "seed": comparison.seed,
        "ours_mean": ours.0, "ours_min": ours.1, "ours_max": ours.2,
        "diagram_mean": bdd.0, "diagram_min": bdd.1, "diagram_max": bdd.2,
    })
}
