//! Door: The choices that the paper leaves open or decides, each counted under QEMU.

use std::path::PathBuf;

use crate::evidence::Evidence;
use regwin::image::{Program, Recipe};
use regwin::work::{self, MACHINES};
use regwin::{Allocate, Behaviour, Schedule, Scheme, Variant, spell};
use report::page::Block;
use report::{Cell, Kind, Table, Tone};
use serde_json::{Value, json};

use crate::store;
use meanwhile::regwin_cmd::failure;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run regwin-variants`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Evidence file to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A choice, the plain build first: what it is called, and how it is built.
type Choice = (&'static str, Scheme, Schedule, Allocate, Variant);

/// Choices that are compared with the first of their group.
const GROUPS: [(&str, &[Choice]); 5] = [
    (
        "copied registers",
        &[
            ("results, %sp", Scheme::Sp, Schedule::Fifo, Allocate::Simple, Variant::Plain),
            ("all eight", Scheme::Sp, Schedule::Fifo, Allocate::Simple, Variant::CopyAll),
        ],
    ),
    (
        "a restore's sum",
        &[
            ("emulated", Scheme::Sp, Schedule::Fifo, Allocate::Simple, Variant::Plain),
            ("compiled apart", Scheme::Sp, Schedule::Fifo, Allocate::Simple, Variant::NoPeephole),
        ],
    ),
    (
        "windows a trap",
        &[
            ("one", Scheme::Ns, Schedule::Fifo, Allocate::Simple, Variant::Plain),
            ("two", Scheme::Ns, Schedule::Fifo, Allocate::Simple, Variant::TwoATrap),
            ("four", Scheme::Ns, Schedule::Fifo, Allocate::Simple, Variant::FourATrap),
        ],
    ),
    (
        "place, fifo",
        &[
            ("simple", Scheme::Sp, Schedule::Fifo, Allocate::Simple, Variant::Plain),
            ("search", Scheme::Sp, Schedule::Fifo, Allocate::Search, Variant::Plain),
            ("lru", Scheme::Sp, Schedule::Fifo, Allocate::Lru, Variant::Plain),
        ],
    ),
    (
        "place, working set",
        &[
            ("simple", Scheme::Snp, Schedule::WorkingSet, Allocate::Simple, Variant::Plain),
            ("search", Scheme::Snp, Schedule::WorkingSet, Allocate::Search, Variant::Plain),
            ("lru", Scheme::Snp, Schedule::WorkingSet, Allocate::Lru, Variant::Plain),
        ],
    ),
];

/// Where they are compared.
const PLACES: [(Behaviour, u32); 4] = [
    (Behaviour::HighFine, 8),
    (Behaviour::HighFine, 20),
    (Behaviour::LowFine, 8),
    (Behaviour::LowCoarse, 8),
];

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    store::check(args.out.as_deref())?;
    let n_choices: usize = GROUPS.iter().map(|group| group.1.len()).sum();
    let bar = out.progress((n_choices * PLACES.len()) as u64);
    let threads = spell::THREADS.map(str::to_owned);
    let mut rows = Vec::new();
    for (group, choices) in GROUPS {
        for (behaviour, windows) in PLACES {
            let mut words = None;
            for (name, scheme, schedule, allocate, variant) in choices {
                let recipe = Recipe {
                    allocate: *allocate,
                    variant: *variant,
                    ..Recipe::new(Program::Spell, *scheme, *schedule)
                };
                let done = work::run(&recipe, windows, &spell::blobs(behaviour), &threads)
                    .map_err(failure)?;
                let output = words.get_or_insert_with(|| done.output.clone());
                assert_eq!(*output, done.output, "{recipe:?} finds the same misspelt words");
                rows.push(json!({
                    "group": group, "choice": name, "scheme": scheme.name(), "schedule": schedule.name(),
                    "behaviour": behaviour.name(), "windows": windows,
                    "overflows": done.counts.overflows, "underflows": done.counts.underflows,
                    MACHINES[0]: done.counts.cycles[0].total(), MACHINES[1]: done.counts.cycles[1].total(),
                }));
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    out.text(&table(&rows).terminal(None));
    out.object(&json!({"ok": true, "on": "qemu", "rows": rows}));
    let Some(path) = &args.out else { return Ok(()) };
    let rows = rows.iter().filter_map(|row| row.as_object().cloned()).collect();
    store::store(
        path,
        Kind::Model,
        ("sparc64-linux-gnu-gcc", "--version"),
        "meanwhile-lab run regwin-variants --out FILE",
        rows,
    )
}

/// A row for each choice, a column for each place: millions of cycles, and percent more than the
/// first of the group.
fn table(rows: &[Value]) -> Table {
    let places: Vec<String> = PLACES
        .iter()
        .map(|(behaviour, windows)| format!("{}, {windows}", behaviour.name()))
        .collect();
    let head: Vec<&str> = ["choice", "variant", "scheme"]
        .into_iter()
        .chain(places.iter().map(String::as_str))
        .collect();
    let mut table =
        Table::new("What each choice costs: millions of cycles, erc32", &head).kind(Kind::Model);
    table = table.note("instructions counted under QEMU; percent against the first of each group; behaviour and windows above; place: of a thread without windows");
    for (group, choices) in GROUPS {
        for (idx, (name, scheme, ..)) in choices.iter().enumerate() {
            let cycles = |name: &str, behaviour: Behaviour, windows: u32| {
                let fits = |value: &&Value| {
                    value["group"] == group
                        && value["choice"] == name
                        && value["behaviour"] == behaviour.name()
                        && value["windows"] == windows
                };
                rows.iter().find(fits).and_then(|row| row[MACHINES[0]].as_f64())
            };
            let cell = |(behaviour, windows): &(Behaviour, u32)| {
                let Some((ours, first)) = cycles(name, *behaviour, *windows).zip(cycles(
                    choices[0].0,
                    *behaviour,
                    *windows,
                )) else {
                    return Cell::words("");
                };
                let percent = (ours / first - 1.0) * 100.0;
                let text = if idx == 0 {
                    format!("{:.2}", ours / 1e6)
                } else {
                    format!("{:.2} ({percent:+.1} %)", ours / 1e6)
                };
                Cell::number(text).tone(if idx > 0 && percent < 0.0 {
                    Tone::Good
                } else {
                    Tone::Plain
                })
            };
            let lead = [
                Cell::words(if idx == 0 { group } else { "" }),
                Cell::words(*name),
                Cell::words(scheme.name()),
            ];
            table.push(lead.into_iter().chain(PLACES.iter().map(cell)).collect());
        }
    }
    table
}

pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let rows = evidence.values();
    vec![Block::Text(evidence.origin()), Block::Table(table(&rows))]
}
