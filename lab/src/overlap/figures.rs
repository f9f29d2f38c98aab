//! The section of `meanwhile-lab report`: what becomes of the calls of the example programs, and
//! the paper's table 1.

use std::collections::BTreeSet;

use measure::stats::{Interval, median, median_interval};
use overlap::examples::{self, Listing};
use overlap::mpi::{self, Mpi};
use overlap::remarks::{self, Summary};
use overlap::settings;
use report::number::count;
use report::page::{Block, Section};
use report::svg::{Chart, Ratio, RatioChart};
use report::view::{Figure, View};
use report::{Cell, Kind, Table};

use crate::evidence::Evidence;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{bench, compile_time};
use crate::system_report::{SystemReport, numbers};
use terminal::output::{Failure, Output};

/// The interval of the paper's table 1 for each strength that it has, in microseconds.
const PAPER_US: [(&str, Option<f64>); 3] =
    [("basic", Some(2406.57)), ("extended", Some(4803.15)), ("frontier", None)];

/// Plain over overlapped, of programs that others wrote.
const PUBLIC_CODES: &str = include_str!("../../../experiments/overlap/public-codes.json");
/// Blocking, overlapped, and overlapped by hand.
const BY_HAND: &str = include_str!("../../../experiments/overlap/bench.json");
/// What the plugin costs to compile files of codes that others wrote, and made programs.
const COMPILE_CODES: &str = include_str!("../../../experiments/overlap/compile-time-codes.json");
const COMPILE_TIME: &str = include_str!("../../../experiments/overlap/compile-time.json");

/// What the system has to show.
pub fn report(quick: bool, out: &mut Output) -> Result<SystemReport, Failure> {
    let library = mpi::which("mpicc").map_err(Failure::tool)?;
    let progress = out.progress((examples::PROGRAMS.len() * settings::STRENGTHS.len() + 1) as u64);
    let mut rows: Vec<(&str, [Summary; 3])> = Vec::new();
    for program in examples::PROGRAMS {
        let mut summaries = Vec::new();
        for strength in settings::STRENGTHS {
            progress.set_message(format!("{} {strength}", program.0));
            let found = examples::remarks_of(library, program, strength).map_err(Failure::tool)?;
            summaries.push(remarks::summary(&found));
            progress.inc(1);
        }
        rows.push((program.0, summaries.try_into().expect("there are three strengths")));
    }
    progress.set_message("listing");
    let windows = windows(library, quick)?;
    progress.finish_and_clear();

    let json = rows.iter().map(|(name, by_strength)| row_json(name, by_strength));
    let measured = windows.iter().map(|window| {
        json!({
            "system": "overlap",
            "program": "listing.c",
            "strength": window.strength,
            "window_us": window.us,
            "over_basic": window.over_basic.value,
            "interval": [window.over_basic.low, window.over_basic.high],
        })
    });
    let all = json.chain(measured).collect();
    let summary = static_table(&rows, library);
    let blocks =
        vec![Block::Table(static_windows(&rows)), Block::Table(intervals(&windows, library))];
    let title = "overlap: work while a message is under way".to_owned();
    Ok(SystemReport {
        summary,
        view: view(&Evidence::bundled(PUBLIC_CODES))?,
        section: Section { title, blocks, ..Section::default() },
        rows: all,
    })
}

fn row_json(name: &str, by_strength: &[Summary; 3]) -> Value {
    let windows: Vec<Option<f64>> = by_strength.iter().map(|summary| summary.mean_window).collect();
    json!({"system": "overlap", "program": name, "sites": by_strength[2].sites, "converted": by_strength.iter().map(|it| it.converted).collect::<Vec<_>>(), "mean_window": windows})
}

/// A program of others, beside the plain one by the same compiler.
#[derive(Debug, Deserialize)]
struct PublicCode {
    code: String,
    mpi: String,
    ranks: u32,
    gbit_per_s: u32,
    build: String,
    ratio: f64,
    quartiles: (f64, f64),
    pairs: u32,
}

impl PublicCode {
    fn name(&self) -> &str {
        self.code.split(" -").next().unwrap_or(&self.code)
    }

    fn place(&self) -> String {
        format!(
            "{}, {}, {}, {} Gbit/s, {}",
            self.name(),
            self.mpi,
            count(self.ranks as usize, "rank"),
            self.gbit_per_s,
            self.build
        )
    }
}

/// The build and network of the figure.
const BUILD: &str = "-flto";
const NETWORK_GBIT: u32 = 2;

/// What codes of others gain, from the committed results: where nothing, then the most that a
/// program gains which both libraries run; beside overlapping by hand; what it costs to compile.
fn view(codes: &Evidence) -> Result<View, Failure> {
    let wrong =
        |said: String| Failure::environment("read experiments/overlap/public-codes.json", said);
    let all: Vec<PublicCode> = codes
        .values()
        .into_iter()
        .map(serde_json::from_value)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(error.to_string()))?;
    let shown: Vec<&PublicCode> = all
        .iter()
        .filter(|code| code.build == BUILD && code.gbit_per_s == NETWORK_GBIT && code.ranks == 2)
        .collect();
    let worst = all
        .iter()
        .min_by(|a, b| a.ratio.total_cmp(&b.ratio))
        .ok_or_else(|| wrong("there are no rows".to_owned()))?;
    let best =
        shown.iter().filter(|it| it.mpi == "openmpi").max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let best = best.ok_or_else(|| wrong("there is no row of two ranks with OpenMPI".to_owned()))?;
    let by_file = all.iter().find(|it| {
        let of = |code: &PublicCode| (code.code.clone(), code.mpi.clone(), code.ranks);
        of(it) == of(best) && it.gbit_per_s == best.gbit_per_s && it.build != BUILD
    });
    let by_file = by_file.ok_or_else(|| wrong("it has no row file by file".to_owned()))?;
    let gains = |code: &&PublicCode| code.quartiles.0 > 1.02;
    let names = |is_wanted: &dyn Fn(&&PublicCode) -> bool| -> BTreeSet<&str> {
        shown.iter().copied().filter(is_wanted).map(PublicCode::name).collect()
    };
    let mut idle: Vec<&str> = shown.iter().filter(|it| !gains(it)).map(|it| it.name()).collect();
    idle.dedup();
    let ratio = |code: &&PublicCode| Ratio {
        name: format!("{}, {}", code.name(), code.mpi),
        ratio: code.ratio,
        low: code.quartiles.0,
        high: code.quartiles.1,
    };
    let chart = RatioChart {
        title: "Codes of others over 2 Gbit/s, 2 ranks, -flto".to_owned(),
        meaning: "plain / overlapped, above 1 is faster; quartiles".to_owned(),
        kind: Kind::Measured,
        rows: shown.iter().map(ratio).collect(),
    };
    let by_hand = Evidence::bundled(BY_HAND);
    let (of_codes, of_made) = (Evidence::bundled(COMPILE_CODES), Evidence::bundled(COMPILE_TIME));
    Ok(View {
        id: "overlap".to_owned(),
        waits: "a program waits for a message".to_owned(),
        sentence: format!(
            "Nothing is gained by {}, nor by most programs without -flto; {} takes {:.2} of the time of the plain program by the same compiler with -flto, and {:.2} file by file.",
            idle.join(", "),
            best.name(),
            1.0 / best.ratio,
            1.0 / by_file.ratio
        ),
        kind: Kind::Measured,
        note: format!(
            "{}; {} pairs, {}. The worst takes {:.2} ({}). {} of {} codes gain.",
            best.place(),
            best.pairs,
            codes.machine.cpu,
            1.0 / worst.ratio,
            worst.place(),
            names(&gains).len(),
            names(&|_| true).len()
        ),
        yours: Some([
            "meanwhile overlap install DIR && CC=DIR/bin/meanwhile-mpicc ./configure && make",
            "Wrappers in place of mpicc, mpicxx and mpifort, for OpenMPI and MPICH: your C, C++ and \
             Fortran unchanged, also as CMAKE_C_COMPILER; the bars have `-flto` in CFLAGS and LDFLAGS too. `meanwhile overlap explain` says of each call why it still waits, and \
             `meanwhile overlap trace` how much of its waits a run could hide, before you change anything.",
        ]),
        figures: vec![
            Figure {
                id: "overlap-codes".to_owned(),
                picture: chart.for_page(),
                says: format!(
                    "Sources unchanged, beside the plain program by the same clang and flags. {}.",
                    codes.place()
                ),
                again: codes.again(),
                numbers: numbers(&codes.values()),
            },
            Figure {
                id: "overlap-by-hand".to_owned(),
                picture: bench::by_hand(&by_hand).for_page(),
                says: format!(
                    "Programs of our own whose exchange somebody has also overlapped by hand, OpenMPI over 2 Gbit/s. {}.",
                    by_hand.place()
                ),
                again: by_hand.again(),
                numbers: numbers(&by_hand.values()),
            },
            Figure {
                id: "overlap-compile-time".to_owned(),
                picture: compile_time::chart(&of_codes, &of_made).for_page(),
                says: format!(
                    "Instructions of clang with the plugin over those without, counted: the files that exchange messages or run beside them of HPCCG, miniMD and PENNANT ({}), and made programs that call MPI more often than most ({}).",
                    of_codes.place(),
                    of_made.place()
                ),
                again: of_codes.again(),
                numbers: numbers(&[of_codes.values(), of_made.values()].concat()),
            },
        ],
    })
}

/// The window of Listing 1.1's exchange with one strength.
struct Window {
    strength: &'static str,
    paper_us: Option<f64>,
    /// Median of the runs.
    us: f64,
    /// Over that of `basic`, by rounds of runs.
    over_basic: Interval,
    n_runs: usize,
}

/// The three strengths in turn, so that all meet the same noise.
fn windows(library: Mpi, quick: bool) -> Result<Vec<Window>, Failure> {
    let n_runs = if quick { 7 } else { 21 };
    let programs: Vec<Listing> = PAPER_US
        .iter()
        .map(|(strength, _)| Listing::build(library, strength))
        .collect::<Result<_, _>>()
        .map_err(Failure::tool)?;
    let mut samples = vec![Vec::new(); programs.len()];
    for _ in 0..n_runs {
        for (program, samples) in programs.iter().zip(&mut samples) {
            let sites = program.windows(10).map_err(Failure::tool)?;
            let site = sites
                .first()
                .ok_or_else(|| Failure::environment("trace listing.c", "no window was measured"))?;
            samples.push(site.window_us);
        }
    }
    let window = |((strength, paper_us), own): (&(&'static str, Option<f64>), &Vec<f64>)| {
        let ratios: Vec<f64> =
            own.iter().zip(&samples[0]).map(|(own, basic)| own / basic).collect();
        Window {
            strength,
            paper_us: *paper_us,
            us: median(own),
            over_basic: median_interval(&ratios, 0.95),
            n_runs,
        }
    };
    Ok(PAPER_US.iter().zip(&samples).map(window).collect())
}

/// How many calls of each program each strength converts.
fn static_table(rows: &[(&str, [Summary; 3])], library: Mpi) -> Table {
    let note = format!("-O2, {}, every payload counted as large", library.name());
    let columns = ["program", "sites", "basic", "extended", "frontier"];
    let mut table =
        Table::new("overlap: calls of the example programs that are converted", &columns)
            .kind(Kind::Model)
            .note(note);
    for (name, by_strength) in rows {
        let mut row = vec![Cell::words(*name), Cell::number(by_strength[2].sites)];
        row.extend(by_strength.iter().map(|it| Cell::number(it.converted)));
        table.push(row);
    }
    table
}

/// The mean window of each program with each strength.
fn static_windows(rows: &[(&str, [Summary; 3])]) -> Table {
    let columns = ["program", "basic", "extended", "frontier"];
    let note = "weighted instructions from start to wait, mean over the converted calls";
    let mut table =
        Table::new("Mean window of a converted call", &columns).kind(Kind::Model).note(note);
    for (name, by_strength) in rows {
        let windows = by_strength.iter().map(|it| {
            Cell::number(it.mean_window.map_or_else(|| "-".to_owned(), |it| format!("{it:.0}")))
        });
        table.push([Cell::words(*name)].into_iter().chain(windows).collect());
    }
    table
}

fn intervals(windows: &[Window], library: Mpi) -> Table {
    let n_runs = windows[0].n_runs;
    let note = format!(
        "2 ranks, {}, two products of 2,500 us; without polls; medians of {n_runs} runs in turn, the ratio's with a 95 % interval",
        library.name()
    );
    let columns = ["strength", "interval [us]", "paper [us]", "over basic", "95 %"];
    let mut table = Table::new("Table 1: window of MPI_Alltoall in Listing 1.1", &columns)
        .kind(Kind::Measured)
        .note(note);
    for it in windows {
        table.push(vec![
            Cell::words(it.strength),
            Cell::number(format!("{:.0}", it.us)),
            Cell::number(it.paper_us.map_or_else(|| "-".to_owned(), |us| format!("{us:.2}"))),
            Cell::number(format!("{:.2}", it.over_basic.value)),
            Cell::words(format!("{:.2} to {:.2}", it.over_basic.low, it.over_basic.high)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_says_where_nothing_is_gained_before_what_is() {
        let view = view(&Evidence::bundled(PUBLIC_CODES)).expect("committed evidence");
        let at = |words: &str| {
            view.sentence.find(words).unwrap_or_else(|| panic!("no `{words}` in {}", view.sentence))
        };
        assert!(
            at("NPB MG.A") < at("takes 0.7") && at("HPCG") < at("the plain program"),
            "{}",
            view.sentence
        );
        assert!(view.note.contains("-flto") && view.note.contains("AMD EPYC"), "{}", view.note);
        assert!(view.note.contains("The worst takes 1.04"), "{}", view.note);
        for figure in &view.figures {
            assert!(figure.numbers.len() > 100 && figure.picture.contains("<svg"), "{}", figure.id);
        }
    }

    #[test]
    fn evidence_without_its_rows_makes_no_view() {
        let start = PUBLIC_CODES.split("\"rows\"").next().expect("there is a start");
        for rows in ["[]", "[{\"code\":\"x\"}]"] {
            assert!(
                view(&Evidence::bundled(&format!("{start}\"rows\": {rows}}}"))).is_err(),
                "{rows}"
            );
        }
    }
}
