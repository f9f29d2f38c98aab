//! Door: `meanwhile regwin run`: any linked image for LEON3, on QEMU, on the simulator, or on both.
//! Those for Xtensa are in `run_xtensa.rs`.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use machine::in_order::Core;
use regwin::board::image::{Image, Refusal};
use regwin::board::{Board, Ended, FLUSH, OVERFLOW, UNDERFLOW};
use regwin::profile::{self, Standing};
use regwin::qemu;
use regwin::tally::Tally;
use regwin::work::{self, MACHINES};
use report::{Cell, Diagnostic, Kind, Table};
use serde_json::{Map, Value, json};

use super::counts::On;
use super::options;
use crate::choice::one_of;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub board: BoardArgs,
    /// Where it runs; the results of both are compared. An image for Xtensa runs on QEMU.
    #[arg(long, value_name = "WORLD", default_value = "both", value_parser = world())]
    pub on: World,
}

/// An image, and the board that runs it.
#[derive(Debug, clap::Args)]
pub struct BoardArgs {
    /// A program linked for the bare LEON3, with whatever runtime; `run` also takes Xtensa.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// Register windows, 4 to 32.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(options::WINDOWS))]
    pub windows: u32,
    #[command(flatten)]
    pub limit: Limit,
    /// Whose cycles are shown.
    #[arg(long, value_name = "NAME", default_value = "leon3", value_parser = options::machine())]
    pub machine: usize,
}

/// One world, or both.
pub type World = Option<On>;

fn world() -> impl TypedValueParser<Value = World> {
    one_of([Some(On::Qemu), Some(On::Sim), None], |world| world.map_or("both", On::name))
}

/// How long an image may run.
#[derive(Debug, clap::Args)]
pub struct Limit {
    /// End it after so many instructions; without this one that is still running after 400
    /// million is an error.
    #[arg(long = "limit", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    given: Option<u64>,
}

/// Ten seconds of a board at 40 MHz.
const LIMIT: u64 = 400_000_000;

impl Limit {
    /// How many instructions, given or not.
    pub fn get(&self) -> u64 {
        self.given.unwrap_or(LIMIT)
    }

    /// True if the user has named it.
    pub fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// What is wrong with this end, if something is.
    pub fn complaint(&self, ended: &Ended, image: &Image) -> Option<Diagnostic> {
        let is_wrong = match ended {
            Ended::Halted { .. } | Ended::Fault { .. } => true,
            Ended::Limit => self.given.is_none(),
            Ended::Stopped | Ended::Loops { .. } | Ended::Sleeps { .. } => false,
        };
        let help =
            "give --limit N if it never ends: what the first N instructions do is shown then";
        let diagnostic = Diagnostic::new(ending(ended, self.get(), image));
        is_wrong.then(
            || {
                if *ended == Ended::Limit { diagnostic.with_help(help) } else { diagnostic }
            },
        )
    }
}

/// The bytes of an image.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::user(format!("{}: {error}", path.display()), None))
}

/// Says why an image cannot run.
pub fn refused(path: &Path, refusal: Refusal) -> Failure {
    Failure::user(format!("{}: {}", path.display(), refusal.why), refusal.help)
}

/// Reads an image, or says why it cannot run.
pub fn read(path: &Path) -> Result<Image, Failure> {
    Image::parse(&bytes(path)?).map_err(|refusal| refused(path, refusal))
}

/// How a run ended, in words.
pub fn ending(ended: &Ended, limit: u64, image: &Image) -> String {
    let place = |pc: u32| {
        let function = image.function(pc);
        let address = format!("{pc:#x}");
        if function == address { address } else { format!("{function} ({address})") }
    };
    match ended {
        Ended::Stopped => "it ended, by `ta 0` with traps off".to_owned(),
        Ended::Halted { trap, pc, handles } => {
            let before = handles.map_or_else(String::new, |(trap, pc)| {
                format!(", in the handler of {}, in {}", trap_name(trap), place(pc))
            });
            let what = trap_name(*trap);
            format!("the processor halted in {}: {what} while traps were off{before}", place(*pc))
        }
        Ended::Fault { why, pc } => format!("{why}, in {}", place(*pc)),
        Ended::Loops { pc, .. } => {
            format!("it ended in a loop of one branch, in {}", place(*pc))
        }
        Ended::Sleeps { pc, .. } => {
            format!("it sleeps in {}, and no interrupt will wake it", place(*pc))
        }
        Ended::Limit => format!("it was still running after {limit} instructions"),
    }
}

/// A type of trap in words.
fn trap_name(trap: u8) -> String {
    match trap {
        0x01 => "no instruction there".to_owned(),
        0x02 => "an illegal instruction".to_owned(),
        0x03 => "a privileged instruction".to_owned(),
        0x04 => "floating point is off".to_owned(),
        0x05 => "a window overflow".to_owned(),
        0x06 => "a window underflow".to_owned(),
        0x07 => "an address that is not aligned".to_owned(),
        0x08 => "an exception of floating point".to_owned(),
        0x09 => "no data there".to_owned(),
        0x0a => "a tag overflow".to_owned(),
        0x11..=0x1f => format!("an interrupt of level {}", trap - 0x10),
        0x2a => "a division by 0".to_owned(),
        0x80.. => format!("`ta {}`", trap - 0x80),
        _ => format!("trap {trap:#04x}"),
    }
}

/// What the library says on the console of mistakes.
pub fn complaints_of_library(console: &str) -> Vec<Diagnostic> {
    let said = console.lines().filter_map(|line| line.strip_prefix("regwin: "));
    said.filter(|said| *said != "done").map(Diagnostic::new).collect()
}

/// A run in one world.
struct ImageRun {
    on: On,
    tally: Tally,
    console: String,
    /// How it ended; only the simulator says where.
    ended: Ended,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let image = read(&args.board.image)?;
    let cores = work::cores();
    let cores = [&cores[0], &cores[1]];
    let mut runs = Vec::new();
    if args.on != Some(On::Qemu) {
        runs.push(on_board(args, &image, cores));
    }
    let is_broken = runs.first().is_some_and(|run: &ImageRun| {
        matches!(run.ended, Ended::Halted { .. } | Ended::Fault { .. })
    });
    if args.on != Some(On::Sim) && !is_broken {
        let stop = match runs.first().map(|run| &run.ended) {
            Some(Ended::Loops { pc, times } | Ended::Sleeps { pc, times }) => Some((*pc, *times)),
            _ => None,
        };
        runs.insert(0, on_qemu(args, &image, stop, cores)?);
    }
    let console = &runs[0].console;
    let of_library =
        if image.library.is_some() { complaints_of_library(console) } else { Vec::new() };
    let ended = &runs.last().expect("it ran somewhere").ended;
    let wrong: Vec<Diagnostic> =
        of_library.into_iter().chain(args.board.limit.complaint(ended, &image)).collect();
    let standing = if wrong.is_empty() || args.on == Some(On::Qemu) {
        Vec::new()
    } else {
        profile::standing(&image, args.board.windows, args.board.limit.get(), cores)
    };
    show(args, &image, &runs, &standing, out);
    if wrong.is_empty() { Ok(()) } else { Err(Failure::User(wrong)) }
}

fn on_board(args: &Args, image: &Image, cores: [&Core; 2]) -> ImageRun {
    let mut board = Board::new(image, args.board.windows, cores);
    let ended = board.run(args.board.limit.get(), &mut ());
    let tally = Tally::of_board(image, &board, cores);
    ImageRun { on: On::Sim, tally, console: board.console(), ended }
}

/// What QEMU says of a trap while traps are off.
const HALTED: &str = "while interrupts disabled";

fn on_qemu(
    args: &Args,
    image: &Image,
    stop: Option<(u32, u64)>,
    cores: [&Core; 2],
) -> Result<ImageRun, Failure> {
    let raw =
        qemu::run_image(&args.board.image, image, args.board.windows, args.board.limit.get(), stop);
    let raw = raw.map_err(|error| match error.said.lines().find(|line| line.contains(HALTED)) {
        Some(line) => {
            let help = "`--on sim` says where";
            Failure::user(format!("the processor halted; QEMU says: {}", line.trim()), Some(help))
        }
        None => Failure::tool(error),
    })?;
    let ended = match (raw.at_limit, stop) {
        (true, _) => Ended::Limit,
        (false, Some((pc, times))) => Ended::Loops { pc, times },
        (false, None) => Ended::Stopped,
    };
    let tally = Tally::of_qemu(image, &raw, cores);
    Ok(ImageRun { on: On::Qemu, tally, console: raw.console, ended })
}

/// What both worlds say, if there are two: true if it is the same.
fn agree(runs: &[ImageRun]) -> Option<bool> {
    match runs {
        [first, second] => Some(first.tally == second.tally && first.console == second.console),
        _ => None,
    }
}

/// Where a thread is, in words: functions that call themselves once, with how often.
fn standing_line(standing: &Standing) -> String {
    let mut calls: Vec<(&str, u64)> = Vec::new();
    for name in &standing.calls {
        match calls.last_mut() {
            Some((last, times)) if last == name => *times += 1,
            _ => calls.push((name, 1)),
        }
    }
    let shown = calls.iter().map(|(name, times)| match times {
        1 => (*name).to_owned(),
        _ => format!("{name} ({times} times)"),
    });
    let more = if standing.deeper > 0 {
        format!(" > {} more calls", standing.deeper)
    } else {
        String::new()
    };
    format!("  {}: {}{more}", standing.thread, shown.collect::<Vec<_>>().join(" > "))
}

fn show(args: &Args, image: &Image, runs: &[ImageRun], standing: &[Standing], out: &mut Output) {
    let last = runs.last().expect("it ran somewhere");
    let console = &runs[0].console;
    out.text(console);
    if !console.is_empty() && !console.ends_with('\n') {
        out.line("");
    }
    let same = agree(runs);
    match same {
        Some(true) => out.line("QEMU and the simulator count the same."),
        Some(false) if last.tally.was_interrupted() => out.line(
            "QEMU and the simulator differ: the program was interrupted, and their clocks are not the same to the instruction.",
        ),
        Some(false) => out.line(
            "QEMU and the simulator differ, and no interrupt came: one of them is wrong.",
        ),
        None => {}
    }
    let shown = if same == Some(true) { &runs[..1] } else { runs };
    out.text(&table(args, shown).terminal(None));
    if let Some(library) = &image.library {
        let scheme = library.options.scheme.name();
        out.line(&format!("It is linked with the library of `regwin build`, scheme {scheme}."));
    }
    let end = ending(&last.ended, args.board.limit.get(), image);
    let complaint = args.board.limit.complaint(&last.ended, image);
    if complaint.is_none() {
        out.line(&format!("In the end {end}."));
    }
    if !standing.is_empty() {
        out.line("Where its threads are, the outermost call first:");
        standing.iter().for_each(|standing| out.line(&standing_line(standing)));
    }
    out.object(&object(args, image, runs, standing));
}

/// All of it, for programs.
fn object(args: &Args, image: &Image, runs: &[ImageRun], standing: &[Standing]) -> Value {
    let last = runs.last().expect("it ran somewhere");
    let console = &runs[0].console;
    let complaint = args.board.limit.complaint(&last.ended, image);
    let threads: Vec<Value> = standing
        .iter()
        .map(|found| json!({"name": found.thread, "calls": found.calls, "deeper": found.deeper}))
        .collect();
    let tally = &runs[0].tally;
    let traps: Map<String, Value> =
        tally.traps.iter().map(|(trap, times)| (format!("{trap:#04x}"), json!(times))).collect();
    let is_ok = complaint.is_none()
        && (image.library.is_none() || complaints_of_library(console).is_empty());
    json!({
        "ok": is_ok,
        "image": args.board.image.display().to_string(),
        "windows": args.board.windows,
        "machine": MACHINES[args.board.machine],
        "on": runs.iter().map(|run| run.on.name()).collect::<Vec<_>>(),
        "same": agree(runs),
        "ended": last.ended.name(),
        "end": ending(&last.ended, args.board.limit.get(), image),
        "scheme": image.library.as_ref().map(|library| library.options.scheme.name()),
        "console": console,
        "threads": threads,
        "instructions": tally.instructions,
        "saves": tally.saves,
        "restores": tally.restores,
        "overflows": tally.trapped(OVERFLOW),
        "underflows": tally.trapped(UNDERFLOW),
        "traps": traps,
        "cycles": tally.cycles[args.board.machine],
    })
}

fn table(args: &Args, runs: &[ImageRun]) -> Table {
    let title = format!(
        "{}: {} windows, {}",
        args.board.image.display(),
        args.board.windows,
        MACHINES[args.board.machine]
    );
    let mut head = vec!["counted"];
    head.extend(match runs {
        [_] => vec!["number"],
        _ => vec!["QEMU", "simulator"],
    });
    let mut table = Table::new(title, &head)
        .kind(Kind::Model)
        .note("instructions counted from the first to the last, trapped attempts too; cycles from the machine file");
    let mut row = |name: String, number: &dyn Fn(&Tally) -> u64| {
        let numbers = runs.iter().map(|run| Cell::number(number(&run.tally)));
        table.push(std::iter::once(Cell::words(name)).chain(numbers).collect());
    };
    row("instructions".to_owned(), &|tally| tally.instructions);
    row("saves".to_owned(), &|tally| tally.saves);
    row("restores".to_owned(), &|tally| tally.restores);
    row("window overflows".to_owned(), &|tally| tally.trapped(OVERFLOW));
    row("window underflows".to_owned(), &|tally| tally.trapped(UNDERFLOW));
    row("flushes of all windows".to_owned(), &|tally| tally.trapped(FLUSH));
    let mut others: Vec<u8> = runs.iter().flat_map(|run| run.tally.traps.keys().copied()).collect();
    others.sort_unstable();
    others.dedup();
    for trap in others.into_iter().filter(|trap| ![OVERFLOW, UNDERFLOW, FLUSH].contains(trap)) {
        let name = format!("traps {trap:#04x}: {}", trap_name(trap));
        row(name, &|tally| tally.trapped(trap));
    }
    row("cycles".to_owned(), &|tally| tally.cycles[args.board.machine]);
    table
}
