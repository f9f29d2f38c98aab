//! The section of `meanwhile-lab report`: the paper's tables and figures from the runtime and the
//! simulator.

use measure::tool::ToolError;
use regwin::image::{Program, Recipe};
use regwin::scenario::Scenario;
use regwin::sweep::Cell as Run;
use regwin::{Allocate, Behaviour, Schedule, Scheme, spell, sweep as sweep_of, work};
use report::page::{Block, Section};
use report::svg::{Axis, Chart, Line, LineChart};
use report::view::{Figure, View};
use report::{Cell, Kind, Table, Tone};
use serde_json::{Value, json};

use meanwhile::regwin_cmd::failure;

use super::{behaviour, rtos, sweep};
use crate::evidence::Evidence;
use crate::system_report::{SystemReport, numbers};
use terminal::output::{Failure, Output};

/// Switches in the paper's table 1, by thread and behaviour; the last row is the total.
const PAPER_SWITCHES: [(&str, [u32; 6]); 8] = [
    ("T1", [60566, 12680, 2653, 29838, 8925, 2001]),
    ("T2", [102_447, 23497, 5400, 49952, 9983, 2049]),
    ("T3", [80578, 21327, 5400, 29887, 8791, 2049]),
    ("T4", [40501, 11548, 2653, 4817, 4612, 1974]),
    ("T5", [1005, 314, 146, 197, 196, 135]),
    ("T6", [50001, 12501, 3126, 49, 49, 49]),
    ("T7", [50001, 12501, 3126, 49, 49, 49]),
    ("total", [385_099, 94368, 22504, 114_789, 32605, 8306]),
];

/// Cycles of a switch in the paper's table 2: scheme, windows stored, windows loaded, from, to.
const PAPER_CYCLES: [(Scheme, u32, u32, u32, u32); 14] = [
    (Scheme::Ns, 1, 1, 145, 149),
    (Scheme::Ns, 2, 1, 181, 185),
    (Scheme::Ns, 3, 1, 217, 221),
    (Scheme::Ns, 4, 1, 253, 257),
    (Scheme::Ns, 5, 1, 289, 293),
    (Scheme::Ns, 6, 1, 325, 329),
    (Scheme::Snp, 0, 0, 113, 118),
    (Scheme::Snp, 0, 1, 142, 147),
    (Scheme::Snp, 1, 0, 162, 171),
    (Scheme::Snp, 1, 1, 187, 196),
    (Scheme::Sp, 0, 0, 93, 98),
    (Scheme::Sp, 0, 1, 136, 141),
    (Scheme::Sp, 1, 1, 180, 197),
    (Scheme::Sp, 2, 1, 220, 237),
];

const PING_PONG: &str = include_str!("../../../systems/regwin/scenarios/ping-pong.txt");

/// What the system has to show.
pub fn report(quick: bool, out: &mut Output) -> Result<SystemReport, Failure> {
    let windows: Vec<u32> = if quick { sweep::QUICK.to_vec() } else { (4..=32).collect() };
    let runs = sweep::cells(&windows, out)?;
    let checked = checked(&runs)?;
    let summary = summary(&runs);
    let mut blocks =
        vec![Block::Text(checked), Block::Table(switches(&runs)), Block::Table(cycles(&runs))];
    blocks.push(Block::Table(worst().map_err(Failure::tool)?));
    blocks.push(Block::Table(behaviour::table(
        &behaviour::phases(behaviour::PERIOD)?,
        behaviour::PERIOD,
    )));
    blocks.push(Block::Table(fragments()?));
    blocks.extend(charts(&runs));
    for behaviour in Behaviour::ALL {
        blocks.push(Block::Details(
            behaviour.name().to_owned(),
            vec![Block::Table(sweep::table(behaviour, &runs, 0))],
        ));
    }
    let title = "regwin: threads in register windows".to_owned();
    Ok(SystemReport {
        summary,
        view: view(&runs),
        section: Section { title, blocks, ..Section::default() },
        rows: rows(&runs),
    })
}

/// The cycles of each run.
fn rows(runs: &[Run]) -> Vec<Value> {
    let row = |run: &Run| {
        json!({"system": "regwin", "scheme": run.scheme.name(), "schedule": run.schedule.name(), "behaviour": run.behaviour.name(),
               "windows": run.windows, "cycles": run.counts.cycles[0].total()})
    };
    runs.iter().map(row).collect()
}

/// The spell checker at the finest grain with 8 windows, as much hardware has; the schemes at one
/// schedule.
fn view(runs: &[Run]) -> View {
    let of = |scheme, schedule, windows| {
        let run = find(runs, scheme, schedule, Behaviour::HighFine, windows)
            .expect("every sweep has 8 and 32 windows");
        run.counts.cycles[0].total() as f64
    };
    let change = |schedule, windows| {
        let percent = 100.0
            * (of(Scheme::Adaptive, schedule, windows) / of(Scheme::Ns, Schedule::Fifo, windows)
                - 1.0);
        format!("{:.1} % {}", percent.abs(), if percent < 0.0 { "fewer" } else { "more" })
    };
    let line = |scheme: Scheme, schedule: Schedule, name: &str| {
        let own = runs.iter().filter(|run| {
            (run.scheme, run.schedule, run.behaviour) == (scheme, schedule, Behaviour::HighFine)
        });
        Line {
            name: name.to_owned(),
            points: own
                .map(|run| (f64::from(run.windows), run.counts.cycles[0].total() as f64 / 1e6))
                .collect(),
        }
    };
    let chart = LineChart {
        title: "Spell checker, high-fine: time by windows".to_owned(),
        kind: Kind::Sim,
        x: Axis { label: "register windows".to_owned(), log: false },
        y: Axis { label: "millions of cycles, erc32".to_owned(), log: false },
        lines: vec![
            line(Scheme::Ns, Schedule::Fifo, "ns, fifo"),
            line(Scheme::Adaptive, Schedule::Fifo, "adaptive, fifo"),
            line(Scheme::Sp, Schedule::Fifo, "sp, fifo"),
            line(Scheme::Adaptive, Schedule::WorkingSet, "adaptive, working set"),
        ],
    };
    let (loss, worst) = worst_cell(runs);
    let switch = Evidence::bundled(include_str!("../../../experiments/regwin-rtos/rtos.json"));
    View {
        id: "regwin".to_owned(),
        waits: "a thread waits for another, and then for its own registers".to_owned(),
        sentence: format!(
            "With the 8 windows that most hardware has, threads whose windows stay take {} cycles than if each switch stores those in use, as RTEMS, Zephyr and Linux do; with 32 windows {}.",
            change(Schedule::Fifo, 8),
            change(Schedule::Fifo, 32)
        ),
        kind: Kind::Sim,
        note: format!(
            "Cycles of a simulated ERC32, whose counts agree with QEMU's, not of a board. The paper's spell checker, fine grain, in the same FIFO order; with 8 windows {} if threads whose windows are still there also run first. \
             Worst against the best scheme at the same schedule: {loss:.0} % more ({}, {}, {} windows).",
            change(Schedule::WorkingSet, 8),
            worst.schedule.name(),
            worst.behaviour.name(),
            worst.windows
        ),
        yours: Some([
            "meanwhile regwin profile IMAGE",
            "Any linked image for SPARC V8 (LEON, ERC32): its window traps by caller, and the scheme and \
             number of windows that would take fewest cycles. `meanwhile regwin build` makes the library \
             for your threads, with modules for RTEMS and Zephyr; for Xtensa too.",
        ]),
        figures: vec![
            Figure {
                id: "regwin-windows".to_owned(),
                picture: chart.for_page(),
                says: "Time of the spell checker by register windows: ns stores those in use at each switch, sp and adaptive share them.".to_owned(),
                again: "meanwhile-lab report --only regwin --json".to_owned(),
                numbers: numbers(&rows(runs)),
            },
            Figure {
                id: "regwin-switch".to_owned(),
                picture: rtos::chart(&switch.values(), rtos::AND_CALLS).for_page(),
                says: "RTEMS' tmcontext01, ported: a switch between two threads that have called so deep.".to_owned(),
                again: switch.again(),
                numbers: numbers(&switch.values()),
            },
        ],
    }
}

/// The cell in which adaptive loses most to the best other scheme at the same schedule: percent of
/// cycles, and where. `ns` has one schedule, as it never leaves a window.
fn worst_cell(runs: &[Run]) -> (f64, &Run) {
    let loss = |own: &Run| {
        let same = |other: &&Run| (other.behaviour, other.windows) == (own.behaviour, own.windows);
        let best = runs
            .iter()
            .filter(same)
            .filter(|other| match other.scheme {
                Scheme::Ns => true,
                Scheme::Snp | Scheme::Sp => other.schedule == own.schedule,
                Scheme::Adaptive | Scheme::Flat => false,
            })
            .map(|other| other.counts.cycles[0].total())
            .min()
            .expect("every cell has the other schemes");
        100.0 * (own.counts.cycles[0].total() as f64 / best as f64 - 1.0)
    };
    let own = runs.iter().filter(|run| run.scheme == Scheme::Adaptive);
    let all = own.map(|run| (loss(run), run));
    all.max_by(|left, right| left.0.total_cmp(&right.0)).expect("every sweep has adaptive")
}

/// Runs one configuration under QEMU and compares it with the simulator.
fn checked(runs: &[Run]) -> Result<String, Failure> {
    let recipe = Recipe::new(Program::Spell, Scheme::Sp, Schedule::WorkingSet);
    let threads = spell::THREADS.map(str::to_owned);
    let real =
        work::run(&recipe, 8, &spell::blobs(Behaviour::HighFine), &threads).map_err(failure)?;
    let sim = find(runs, Scheme::Sp, Schedule::WorkingSet, Behaviour::HighFine, 8)
        .expect("every sweep has 8 windows");
    Ok(if real.counts == sim.counts {
        "Every number of this section is from the simulator. One configuration (sp, working-set, high-fine, 8 windows) was run under QEMU as well, with equal counts and cycles.".to_owned()
    } else {
        "Warning: QEMU and the simulator differ in sp, working-set, high-fine, 8 windows."
            .to_owned()
    })
}

fn find(
    runs: &[Run],
    scheme: Scheme,
    schedule: Schedule,
    behaviour: Behaviour,
    windows: u32,
) -> Option<&Run> {
    runs.iter().find(|run| {
        (run.scheme, run.schedule, run.behaviour, run.windows)
            == (scheme, schedule, behaviour, windows)
    })
}

fn summary(runs: &[Run]) -> Table {
    let mut table = Table::new(
        "regwin: the spell checker, millions of cycles (erc32)",
        &["behaviour", "windows", "ns", "sp", "sp, working-set", "adaptive, working-set", "flat"],
    );
    table = table.kind(Kind::Sim);
    for behaviour in Behaviour::ALL {
        for n in [8, 32] {
            let cell = |scheme, schedule| {
                let run = find(runs, scheme, schedule, behaviour, n);
                Cell::number(run.map_or(String::new(), |it| {
                    format!("{:.1}", it.counts.cycles[0].total() as f64 / 1e6)
                }))
            };
            table.push(vec![
                Cell::words(behaviour.name()),
                Cell::number(n),
                cell(Scheme::Ns, Schedule::Fifo),
                cell(Scheme::Sp, Schedule::Fifo),
                cell(Scheme::Sp, Schedule::WorkingSet),
                cell(Scheme::Adaptive, Schedule::WorkingSet),
                cell(Scheme::Flat, Schedule::Fifo),
            ]);
        }
    }
    table
}

fn switches(runs: &[Run]) -> Table {
    let names: Vec<String> = Behaviour::ALL.iter().map(|it| it.name().to_owned()).collect();
    let head: Vec<&str> =
        std::iter::once("switches to").chain(names.iter().map(String::as_str)).collect();
    let note = "FIFO; ours / paper. Saves are the same in every column.";
    let mut table = Table::new("Table 1: context switches", &head).kind(Kind::Sim).note(note);
    for (thread, paper) in PAPER_SWITCHES {
        let ours = Behaviour::ALL.iter().zip(paper).map(|(behaviour, paper)| {
            let counts = &find(runs, Scheme::Sp, Schedule::Fifo, *behaviour, 32)
                .expect("every sweep has 32 windows")
                .counts;
            let ours = counts
                .switches
                .iter()
                .find(|switch| switch.0 == thread)
                .map_or_else(|| counts.n_switches(), |pair| pair.1);
            Cell::number(format!("{ours} / {paper}"))
        });
        table.push(std::iter::once(Cell::words(thread)).chain(ours).collect());
    }
    let saves = Behaviour::ALL.map(|it| {
        find(runs, Scheme::Sp, Schedule::Fifo, it, 32).expect("it was found above").counts.saves
    });
    table.push(
        std::iter::once(Cell::words("saves"))
            .chain(saves.map(|save| Cell::number(format!("{save} / 334674"))))
            .collect(),
    );
    table
}

fn cycles(runs: &[Run]) -> Table {
    let head = ["scheme", "stored", "loaded", "paper", "ours, erc32", "ours, leon3"];
    let mut table = Table::new("Table 2: cycles of a context switch", &head).kind(Kind::Model);
    table = table.note("From all runs of the sweep; a cell that no run had is empty.");
    for (scheme, stored, loaded, from, to) in PAPER_CYCLES {
        let spans =
            || runs.iter().filter(|run| run.scheme == scheme).flat_map(|run| &run.counts.spans);
        // The end of a thread and the first switch to one are other paths.
        let fits = spans().filter(|span| (span.spilled, span.restored) == (stored, loaded));
        let most = fits.clone().map(|fit| fit.times).max().unwrap_or(0);
        let common: Vec<[u32; 2]> =
            fits.filter(|fit| fit.times * 100 >= most).map(|fit| fit.cycles).collect();
        let range = |machine: usize| {
            let (low, high) = (
                common.iter().map(|it| it[machine]).min(),
                common.iter().map(|it| it[machine]).max(),
            );
            match (low, high) {
                (Some(low), Some(high)) if low == high => low.to_string(),
                (Some(low), Some(high)) => format!("{low} - {high}"),
                _ => String::new(),
            }
        };
        let tone = if common.iter().all(|it| it[0] <= from) { Tone::Good } else { Tone::Bad };
        table.push(vec![
            Cell::words(scheme.name()),
            Cell::number(stored),
            Cell::number(loaded),
            Cell::number(format!("{from} - {to}")),
            Cell::number(range(0)).tone(tone),
            Cell::number(range(1)),
        ]);
    }
    table
}

/// The paper's remark on hard real time, as numbers.
fn worst() -> Result<Table, ToolError> {
    let windows = [4, 5, 6, 8, 12, 16, 31, 32];
    let names = windows.map(|window| window.to_string());
    let head: Vec<&str> =
        std::iter::once("windows:").chain(names.iter().map(String::as_str)).collect();
    let mut table =
        Table::new("The longest context switch: cycles, erc32", &head).kind(Kind::Model);
    table =
        table.note("from the code; `+`: later underflows that load what the switch has stored of its own thread; no run exceeds it (test)");
    for scheme in Scheme::ALL {
        let mut row = vec![Cell::words(scheme.name())];
        for n in windows {
            let [(switch, later), _] = sweep_of::worst(scheme, n)?;
            row.push(Cell::number(if later == 0 {
                switch.to_string()
            } else {
                format!("{switch} + {later}")
            }));
        }
        table.push(row);
    }
    Ok(table)
}

/// Section 4.2: two threads that take turns, and external fragmentation.
fn fragments() -> Result<Table, Failure> {
    let head = [
        "threads",
        "scheme",
        "allocation",
        "windows",
        "switches",
        "stored for others",
        "while enough were free",
    ];
    let mut table =
        Table::new("Section 4.2: windows stored although others were free", &head).kind(Kind::Sim);
    table = table.note("fifo; the ping-pong of A and B is the scenario ping-pong.txt");
    let ping_pong =
        Scenario::parse("ping-pong.txt", PING_PONG).expect("the bundled scenario is right");
    let ping_pong = sweep_of::scenario_trace(&ping_pong).map_err(failure)?;
    let spell = sweep_of::trace(Behaviour::HighFine).map_err(failure)?;
    for (name, trace, windows) in [
        ("A and B", &ping_pong, 8),
        ("spell checker, high-fine", &spell, 8),
        ("spell checker, high-fine", &spell, 12),
    ] {
        for scheme in [Scheme::Snp, Scheme::Sp] {
            for allocate in Allocate::ALL {
                let it = trace.fragments(scheme, allocate, windows);
                table.push(vec![
                    Cell::words(name),
                    Cell::words(scheme.name()),
                    Cell::words(allocate.name()),
                    Cell::number(windows),
                    Cell::number(trace.counts.n_switches()),
                    Cell::number(it.stored),
                    Cell::number(it.while_free),
                ]);
            }
        }
    }
    Ok(table)
}

/// Figures 11 to 15.
fn charts(runs: &[Run]) -> Vec<Block> {
    let high = [Behaviour::HighFine, Behaviour::HighMedium, Behaviour::HighCoarse];
    let low = [Behaviour::LowFine, Behaviour::LowMedium, Behaviour::LowCoarse];
    let all = Scheme::ALL;
    let windowed: Vec<Scheme> = Scheme::windowed().collect();
    let total = |run: &Run| run.counts.cycles[0].total() as f64 / 1e6;
    let mean = |run: &Run| run.counts.mean_switch_cycles(0);
    let probability = |run: &Run| run.counts.trap_probability();
    let mut blocks = Vec::new();
    let mut draw = |title: &str,
                    unit: &str,
                    behaviours: &[Behaviour],
                    schemes: &[Scheme],
                    set: bool,
                    value: &dyn Fn(&Run) -> f64| {
        blocks.push(Block::Heading(title.to_owned()));
        for behaviour in behaviours {
            let line = |scheme: &Scheme| {
                let schedule =
                    if set && scheme.shares() { Schedule::WorkingSet } else { Schedule::Fifo };
                let points = runs.iter().filter(|run| {
                    (run.scheme, run.schedule, run.behaviour) == (*scheme, schedule, *behaviour)
                });
                Line {
                    name: scheme.name().to_owned(),
                    points: points.map(|point| (f64::from(point.windows), value(point))).collect(),
                }
            };
            let chart = LineChart {
                title: format!("{title}, {}", behaviour.name()),
                kind: Kind::Sim,
                x: Axis { label: "register windows".to_owned(), log: false },
                y: Axis { label: unit.to_owned(), log: false },
                lines: schemes.iter().map(line).collect(),
            };
            blocks.push(Block::Chart(chart.for_page()));
        }
    };
    draw(
        "Figure 11: time, high concurrency",
        "millions of cycles, erc32",
        &high,
        &all,
        false,
        &total,
    );
    draw(
        "Figure 12: mean switch, high concurrency",
        "cycles, erc32",
        &high,
        &windowed,
        false,
        &mean,
    );
    draw(
        "Figure 13: window traps, high concurrency",
        "traps a save or restore",
        &high,
        &windowed,
        false,
        &probability,
    );
    draw(
        "Figure 14: time, low concurrency",
        "millions of cycles, erc32",
        &low,
        &all,
        false,
        &total,
    );
    draw(
        "Figure 15: time, high concurrency, working set",
        "millions of cycles, erc32",
        &high,
        &all,
        true,
        &total,
    );
    blocks
}
