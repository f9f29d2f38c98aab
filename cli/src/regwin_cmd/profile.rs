//! Door: `meanwhile regwin profile`: which functions cause the window traps of an image, and what
//! each scheme would cost it with each number of windows.

use std::path::PathBuf;

use machine::in_order::Core;
use regwin::board::Ended;
use regwin::board::image::Image;
use regwin::code::Code;
use regwin::image;
use regwin::library::Options;
use regwin::profile::{self, Choice, PricedScheme, Profile, Replay, Stack};
use regwin::sim;
use regwin::timeline;
use regwin::work::{self, MACHINES};
use regwin::{Schedule, Scheme};
use report::number::count;
use report::svg::{Chart, FlameGraph};
use report::{Cell, Diagnostic, Kind, Table};
use serde_json::{Value, json};

use super::run::{BoardArgs, complaints_of_library, ending, read};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin profile`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    board: BoardArgs,
    /// Write what the ending of FILE says, as often as given: .svg a flame graph of window traps;
    /// .folded their stacks, a line each, as flamegraph.pl and speedscope read them; .json which
    /// thread ran when, and each trap, as Perfetto and chrome://tracing read it.
    #[arg(short, long, value_name = "FILE", value_parser = Written::of)]
    output: Vec<(Written, PathBuf)>,
}

/// What a file is written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    FlameGraph,
    Stacks,
    Timeline,
}

impl Written {
    fn of(file: &str) -> Result<(Written, PathBuf), String> {
        let path = PathBuf::from(file);
        let written = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Written::FlameGraph,
            Some("folded") => Written::Stacks,
            Some("json") => Written::Timeline,
            _ => return Err("its ending is none of .svg, .folded, .json".to_owned()),
        };
        Ok((written, path))
    }
}

/// Rows of the table of functions.
const FUNCTIONS_SHOWN: usize = 12;
/// Rows of the table of windows; JSON has all from 4 to 32.
const WINDOWS_SHOWN: [u32; 9] = [4, 6, 8, 10, 12, 16, 20, 24, 32];

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let image = read(&args.board.image)?;
    let cores = work::cores();
    let cores = [&cores[0], &cores[1]];
    let (windows, limit) = (args.board.windows, args.board.limit.get());
    let with_moments = args.output.iter().any(|(written, _)| *written == Written::Timeline);
    let profile = profile::record(&image, windows, limit, cores, with_moments);
    let mut wrong: Vec<Diagnostic> =
        args.board.limit.complaint(&profile.ended, &image).into_iter().collect();
    if image.library.is_some() {
        wrong.extend(complaints_of_library(&profile.console));
    }
    // What ran before the mistake is no run of the program.
    if !wrong.is_empty() && profile.ended != Ended::Limit {
        return Err(Failure::User(wrong));
    }
    if profile.trace.events.is_empty() {
        let why = format!("{}: no thread ran", args.board.image.display());
        let ended = ending(&profile.ended, args.board.limit.get(), &image);
        return Err(Failure::user(format!("{why}: {ended}"), None));
    }
    write(args, &image, &profile)?;
    let schemes = schemes(&image, cores).map_err(Failure::tool)?;
    let windows: Vec<u32> = (4..=32).collect();
    let bar = out.progress((schemes.len() * windows.len()) as u64);
    let replays = profile::replays(&profile.trace, &schemes, &windows, &|| bar.inc(1));
    bar.finish_and_clear();
    let choice = profile::choose(&replays, args.board.windows, args.board.machine);
    let advice = advice(args, &image, &profile, &replays, choice);
    out.text(&functions_table(args, &profile).terminal(None));
    out.text(&windows_table(args, &replays).terminal(None));
    for line in remarks(args, &image, &profile, &replays) {
        out.line(&line);
    }
    out.line(&advice);
    out.object(&object(args, &image, &profile, &replays, choice, &advice));
    if wrong.is_empty() { Ok(()) } else { Err(Failure::User(wrong)) }
}

/// What each scheme costs, in a library with the image's options.
fn schemes(image: &Image, cores: [&Core; 2]) -> Result<Vec<PricedScheme>, measure::ToolError> {
    let of = |scheme: Scheme| {
        let given = image.library.as_ref().map(|library| library.options);
        let options = Options { scheme, tls: false, ..given.unwrap_or(Options::new(scheme)) };
        // Not shared: no thread that is woken has windows.
        let working_set = options.working_set && scheme.shares();
        let path = image::build_library(&Options { working_set, ..options })?;
        let failed =
            |said: String| measure::ToolError { ran: format!("read {}", path.display()), said };
        let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let code = Code::parse(&bytes).map_err(|error| failed(error.0))?;
        Ok((scheme, sim::costs_of(scheme, &code, cores)))
    };
    Scheme::windowed().map(of).collect()
}

fn write(args: &Args, image: &Image, profile: &Profile) -> Result<(), Failure> {
    let traps = |stack: &Stack| stack.overflows + stack.underflows;
    for (written, path) in &args.output {
        let text = match written {
            Written::Stacks => {
                let line = |stack: &Stack| format!("{} {}\n", stack.names.join(";"), traps(stack));
                profile.stacks.iter().map(line).collect()
            }
            Written::FlameGraph => {
                let stacks = profile.stacks.iter();
                let graph = FlameGraph {
                    title: format!("{}: window traps, {} windows", shown(args), args.board.windows),
                    kind: Kind::Sim,
                    unit: "window traps".to_owned(),
                    stacks: stacks.map(|stack| (stack.names.clone(), traps(stack))).collect(),
                };
                graph.svg()
            }
            Written::Timeline => {
                let function = |pc| image.function(pc);
                let (moments, names) = (&profile.moments, &profile.names);
                timeline::json(&shown(args), moments, names, args.board.machine, function)
            }
        };
        measure::file::write(path, text.as_bytes())
            .map_err(|error| Failure::user(format!("{}: {error}", path.display()), None))?;
    }
    Ok(())
}

fn shown(args: &Args) -> String {
    args.board
        .image
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A function with the traps of its `save` and `restore`, and the way by which it had most of them.
struct FunctionRow {
    name: String,
    overflows: u64,
    underflows: u64,
    from: String,
}

fn function_rows(profile: &Profile) -> Vec<FunctionRow> {
    let mut rows: Vec<(FunctionRow, u64)> = Vec::new();
    for stack in &profile.stacks {
        let (name, callers) = stack.names.split_last().expect("a stack has a name");
        let traps = stack.overflows + stack.underflows;
        let last = callers.len().saturating_sub(4);
        let mut from = callers[last..].join(" > ");
        if last > 0 {
            from = format!("... > {from}");
        }
        match rows.iter_mut().find(|(row, _)| row.name == *name) {
            Some((row, most)) => {
                row.overflows += stack.overflows;
                row.underflows += stack.underflows;
                if traps > *most {
                    (row.from, *most) = (from, traps);
                }
            }
            None => rows.push((
                FunctionRow {
                    name: name.clone(),
                    overflows: stack.overflows,
                    underflows: stack.underflows,
                    from,
                },
                traps,
            )),
        }
    }
    let mut rows: Vec<FunctionRow> = rows.into_iter().map(|row| row.0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.overflows + row.underflows));
    rows
}

fn functions_table(args: &Args, profile: &Profile) -> Table {
    let rows = function_rows(profile);
    let all: u64 = rows.iter().map(|row| row.overflows + row.underflows).sum();
    let title =
        format!("{}: window traps by function, {} windows", shown(args), args.board.windows);
    let columns = ["function", "overflows", "underflows", "share", "mostly from"];
    let mut table = Table::new(title, &columns).kind(Kind::Sim);
    let others = rows.len().saturating_sub(FUNCTIONS_SHOWN);
    if others > 0 {
        table = table.note(format!("{} more; -o FILE.folded has all", count(others, "function")));
    }
    for row in rows.into_iter().take(FUNCTIONS_SHOWN) {
        let share = 100.0 * (row.overflows + row.underflows) as f64 / all.max(1) as f64;
        table.push(vec![
            Cell::words(row.name),
            Cell::number(row.overflows),
            Cell::number(row.underflows),
            Cell::number(format!("{share:.1} %")),
            Cell::words(row.from),
        ]);
    }
    table
}

fn find(replays: &[Replay], scheme: Scheme, windows: u32) -> &Replay {
    replays
        .iter()
        .find(|replay| replay.scheme == scheme && replay.windows == windows)
        .expect("every scheme has every number of windows")
}

fn windows_table(args: &Args, replays: &[Replay]) -> Table {
    let title =
        format!("{}: cycles with each scheme, {}", shown(args), MACHINES[args.board.machine]);
    let schemes: Vec<Scheme> = Scheme::windowed().collect();
    let mut head = vec!["windows"];
    head.extend(schemes.iter().map(|scheme| scheme.name()));
    let mut table = Table::new(title, &head)
        .kind(Kind::Sim)
        .note("the run's calls, returns and switches in the order in which they were, under each scheme of `regwin build`");
    let mut windows = WINDOWS_SHOWN.to_vec();
    windows.push(args.board.windows);
    windows.sort_unstable();
    windows.dedup();
    for n in windows {
        let cycles = |scheme: &Scheme| {
            Cell::number(find(replays, *scheme, n).counts.cycles[args.board.machine].total())
        };
        table.push(std::iter::once(Cell::number(n)).chain(schemes.iter().map(cycles)).collect());
    }
    table
}

/// What a reader must know of these numbers.
fn remarks(args: &Args, image: &Image, profile: &Profile, replays: &[Replay]) -> Vec<String> {
    let mut lines = Vec::new();
    let machine = args.board.machine;
    let percent = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
    let (cycles, traps) = (profile.cycles[machine], profile.trap_cycles[machine]);
    lines.push(format!(
        "As it is linked it took {cycles} cycles, {traps} of them ({:.1} %) in window traps.",
        percent(traps, cycles)
    ));
    match &image.library {
        Some(library) => {
            let own = find(replays, library.options.scheme, args.board.windows);
            let replayed = own.counts.cycles[machine].total();
            let name = library.options.scheme.name();
            lines.push(if replayed == cycles {
                format!("The replay of {name} with {} windows, as it is linked, gives the same.", args.board.windows)
            } else {
                let off = 100.0 * (replayed as f64 - cycles as f64) / cycles.max(1) as f64;
                format!("The replay of {name} with {} windows, as it is linked, gives {replayed}: {off:+.2} %.", args.board.windows)
            });
            if library.options.scheme == Scheme::Ns {
                lines.push("Without sharing it cannot be seen which switches are to store all windows (THR_FLUSH): all count as leaving them.".to_owned());
            }
            if library.options.preempt || library.schedule() == Schedule::WorkingSet {
                lines.push("The order in which threads ran is kept; with another scheme the clock or the windows could decide otherwise.".to_owned());
            }
        }
        None if image.has_symbols() => lines.push(
            "It is not linked with the library of `regwin build`: if it has threads, they count as one.".to_owned(),
        ),
        None => lines.push(
            "It has no symbols: functions are the addresses of their `save`, and threads, if it has some, count as one.".to_owned(),
        ),
    }
    if profile.ended == Ended::Limit {
        lines.push(format!(
            "Only its first {} instructions were looked at.",
            args.board.limit.get()
        ));
    }
    lines
}

/// How much less `b` is than `a`.
fn fewer(a: u64, b: u64) -> f64 {
    100.0 * (a as f64 - b as f64) / a.max(1) as f64
}

/// The sentences to act on.
fn advice(
    args: &Args,
    image: &Image,
    profile: &Profile,
    replays: &[Replay],
    choice: Choice<'_>,
) -> String {
    let (machine, n) = (args.board.machine, args.board.windows);
    let total = |replay: &Replay| replay.counts.cycles[machine].total();
    if profile.threads.len() <= 1 {
        let of_traps = |windows: u32| {
            let replay = find(replays, Scheme::Ns, windows);
            let traps = replay.counts.cycles[machine].traps;
            format!("{traps} cycles ({:.1} %)", 100.0 * traps as f64 / total(replay).max(1) as f64)
        };
        let more = (2 * n).min(32);
        let other =
            if more > n { format!(", {more} windows {}", of_traps(more)) } else { String::new() };
        return format!(
            "No scheme gains anything: the program has one thread. Window traps with {n} windows cost it {}{other}.",
            of_traps(n)
        );
    }
    let scheme = image.library.as_ref().map_or(Scheme::Ns, |library| library.options.scheme);
    let own = find(replays, scheme, n);
    let here = choice.here;
    let gain = fewer(total(own), total(here));
    let first = if gain < 1.0 {
        format!("Stay with {} with {n} windows: no scheme takes 1 % fewer cycles", scheme.name())
    } else {
        format!(
            "Take {} with {n} windows: {gain:.0} % fewer cycles than {}, as it is linked",
            here.scheme.name(),
            scheme.name()
        )
    };
    let smallest = choice.smallest;
    let more = fewer(total(here), total(smallest));
    if smallest.windows == n || more < 1.0 {
        return format!("{first}.");
    }
    format!(
        "{first}. A processor with {} windows would take another {more:.0} % off with {}, within 1 % of the best of all, {} with {}.",
        smallest.windows,
        smallest.scheme.name(),
        choice.best.scheme.name(),
        choice.best.windows
    )
}

fn object(
    args: &Args,
    image: &Image,
    profile: &Profile,
    replays: &[Replay],
    choice: Choice<'_>,
    advice: &str,
) -> Value {
    let machine = args.board.machine;
    let brief = |replay: &Replay| json!({"scheme": replay.scheme.name(), "windows": replay.windows, "cycles": replay.counts.cycles[machine].total()});
    let full = |replay: &Replay| {
        let cycles = replay.counts.cycles[machine];
        json!({
            "scheme": replay.scheme.name(), "windows": replay.windows, "cycles": cycles.total(),
            "trap_cycles": cycles.traps, "switch_cycles": cycles.switches,
            "overflows": replay.counts.overflows, "underflows": replay.counts.underflows,
        })
    };
    let stacks: Vec<Value> = profile
        .stacks
        .iter()
        .map(|stack| json!({"stack": stack.names, "overflows": stack.overflows, "underflows": stack.underflows}))
        .collect();
    let threads: Vec<Value> = profile
        .threads
        .iter()
        .map(|(name, times)| json!({"name": name, "switches": times}))
        .collect();
    json!({
        "ok": args.board.limit.complaint(&profile.ended, image).is_none(),
        "kind": "sim",
        "image": args.board.image.display().to_string(),
        "machine": MACHINES[machine],
        "windows": args.board.windows,
        "scheme": image.library.as_ref().map(|library| library.options.scheme.name()),
        "ended": profile.ended.name(),
        "instructions": profile.n_instructions,
        "as_linked": {"cycles": profile.cycles[machine], "trap_cycles": profile.trap_cycles[machine]},
        "threads_known": image.library.is_some(),
        "threads": threads,
        "stacks": stacks,
        "replays": replays.iter().map(full).collect::<Vec<_>>(),
        "best": brief(choice.best),
        "best_with_fewest_windows": brief(choice.smallest),
        "best_here": brief(choice.here),
        "advice": advice,
    })
}
