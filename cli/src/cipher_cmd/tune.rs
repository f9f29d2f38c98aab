//! Door: `meanwhile cipher tune`: looks for the fastest way to compile a program for this machine
//! and writes it as a recipe.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Emit, Slicing};
use cipher::recipe::{Made, Recipe};
use cipher::recipe_file::{FORMAT, RecipeFile, TunedFigures, fingerprint};
use cipher::tune::{self, Ask, Journal, Orders, Tried, Tuned};
use cipher::unit::Subject;
use measure::machine;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use super::options::{self, Which};
use crate::output::{Failure, Output, check_writable, write_file};
use terminal::machine_here;

/// Arguments of `meanwhile cipher tune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// The target [default: the one with the widest registers that this processor has].
    #[arg(long, value_name = "ARCH", value_parser = options::arch())]
    arch: Option<Arch>,
    /// Only this slicing.
    #[arg(long, value_parser = options::slicing())]
    slicing: Option<Slicing>,
    /// Bits of the size variable 'm.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    word: Option<u32>,
    /// Only C, only assembly, or both [default: auto].
    #[arg(long, default_value = "auto", hide_default_value = true, value_parser = options::emit())]
    emit: Emit,
    /// How long it may take: 90s, 5m, 1h. The longest C compilation that has begun is waited for.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = budget)]
    budget: Duration,
    /// Choose by the model alone: nothing is compiled.
    #[arg(long)]
    model: bool,
    /// The recipe [default: NAME-ARCH.recipe.toml].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Rows of the table.
const SHOWN: usize = 12;

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let subject = args.which.load_with_bytes(out)?;
    if subject.primitive.is_none() {
        out.warning(&format!(
            "no layout says where the bytes of `{}` go: each result counts as whole bytes",
            subject.entry
        ));
    }
    if args.slicing.is_none() && subject.slicings(args.word).is_empty() {
        return Err(Failure::User(subject.no_slicing(args.word)));
    }
    let arch = args.arch.unwrap_or_else(widest);
    options::check_emit(args.emit, Some(arch))?;
    let emits = match args.emit {
        Emit::Auto => vec![Emit::C, Emit::Asm],
        Emit::C => vec![Emit::C],
        Emit::Asm => vec![Emit::Asm],
    };
    let ask = Ask {
        arch,
        word: args.word,
        slicing: args.slicing,
        orders: Orders::All,
        emits,
        budget: args.budget,
    };
    let program = fingerprint(&subject, args.word).map_err(Failure::User)?;
    let output = args.output.clone().unwrap_or_else(|| {
        PathBuf::from(format!("{}-{}.recipe.toml", subject.name(), arch.name()))
    });
    check_output(&output)?;
    let lacks = if arch.row().emulator.is_some() {
        Some(arch.name())
    } else {
        native::missing_feature(arch)
    };
    if let Some(feature) = lacks.filter(|_| !args.model) {
        out.warning(&format!(
            "this processor lacks {feature}: the model chooses, and nothing is measured"
        ));
    }
    let bar = out.progress(0);
    let tick = |text: &str| bar.set_message(text.to_owned());
    let file = |way: &Recipe, measured: Option<TunedFigures>| RecipeFile {
        format: FORMAT,
        subject: subject.name().to_owned(),
        program: program.clone(),
        way: way.clone(),
        measured,
    };
    if args.model || lacks.is_some() {
        let (way, cycles) = tune::by_model(&subject, &ask, &tick).map_err(Failure::User)?;
        bar.finish_and_clear();
        write_file(&output, file(&way, None).text())?;
        out.line(&format!(
            "{}: {}; {cycles:.2} cycles a byte are expected [model]",
            output.display(),
            said(&way)
        ));
        out.object(&json!({"ok": true, "subject": subject.name(), "recipe": output.display().to_string(), "way": way, "kind": "model", "cycles_per_byte": cycles}));
        return Ok(());
    }
    let place = measure::cache::folder(native::CACHE)
        .map_err(Failure::tool)?
        .join(format!("tune-{program}-{}.json", arch.name()));
    let mut journal = earlier(&place, out);
    let mut save = |journal: &Journal| keep(&place, journal);
    let tuned =
        tune::tune(&subject, &ask, &mut journal, &mut save, &tick).map_err(Failure::tool)?;
    bar.finish_and_clear();
    let Some(tuned) = tuned.filter(|tuned| !tuned.tried.is_empty()) else {
        let wrong = tune::default_way(&subject, &ask).make(&subject).err();
        return Err(wrong.map_or_else(
            || Failure::user("no way to compile it is left", Some("leave out --slicing or --emit")),
            Failure::User,
        ));
    };
    let best = &tuned.tried[0];
    let recipe = &best.way;
    let made = recipe.make(&subject).map_err(Failure::User)?;
    compare(&subject, &tuned.default, recipe, &made)?;
    let validated = if made.assembly.is_empty() {
        None
    } else {
        super::validate::assembly(&made, recipe, out)?
    };
    let measured = measured(&tuned);
    write_file(&output, file(&best.way, measured.clone()).text())?;
    // What was measured is in the recipe; a file that is left would make the next run believe it.
    let _ = std::fs::remove_file(&place);
    out.text(&table(&subject, arch, &tuned).terminal(None));
    let why = tune::why(&tuned);
    why.iter().for_each(|line| out.line(line));
    out.line(&match &measured {
        Some(it) => format!(
            "the default takes {:.2} of its time [{:.2}..{:.2}], measured in turn, {} pairs",
            it.ratio, it.interval[0], it.interval[1], it.pairs
        ),
        None => {
            "nothing measured is faster than the default beyond doubt: the recipe is the default"
                .into()
        }
    });
    if let Some(it) = &tuned.against_c {
        let (times, low, high, n) = (it.ratio, it.ratio_low, it.ratio_high, it.n);
        let end = if low > 1.0 { "" } else { ": a tie, so the C is taken" };
        out.line(&format!("the best C takes {times:.2} of the time of the best assembly [{low:.2}..{high:.2}], in turn, {n} pairs{end}"));
    }
    let model = of_model(&tuned);
    if let Some(it) = model {
        let times = it.cycles_per_byte / best.cycles_per_byte;
        out.line(&format!("chosen by the model alone: {}; {times:.2} of its time", said(&it.way)));
    }
    if tuned.is_cut {
        out.line("not all that is promising was tried: a longer --budget tries more, and compiled programs are kept");
    }
    if let Some(it) = &validated {
        out.line(&it.text);
    }
    out.line(&format!("{}: {}", output.display(), said(&best.way)));
    out.object(&json!({
        "ok": true,
        "subject": subject.name(),
        "machine": machine_here(),
        "recipe": output.display().to_string(),
        "way": best.way,
        "kind": "measured",
        "cycles_per_byte": best.cycles_per_byte,
        "measured": measured,
        "c_by_asm": tuned.against_c.as_ref().map(|against_c| json!({"ratio": against_c.ratio, "interval": [against_c.ratio_low, against_c.ratio_high], "pairs": against_c.n})),
        "model_way": model.map(|model| &model.way),
        "model_cycles_per_byte": model.map(|model| model.cycles_per_byte),
        "judged": tuned.n_judged,
        "is_cut": tuned.is_cut,
        "why": why,
        "tried": tuned.tried.iter().map(row).collect::<Vec<Value>>(),
    }));
    Ok(())
}

/// The widest target that this processor has.
fn widest() -> Arch {
    [Arch::Avx512, Arch::Avx2, Arch::Sse]
        .into_iter()
        .find(|it| native::missing_feature(*it).is_none())
        .unwrap_or(Arch::X86_64)
}

/// Refuses a file that is not one of ours, before minutes are spent.
fn check_output(path: &Path) -> Result<(), Failure> {
    if path.is_file()
        && RecipeFile::read(path).is_err()
        && std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
    {
        return Err(Failure::user(
            format!("{} is there and is no recipe", path.display()),
            Some("name another file with -o, or remove it"),
        ));
    }
    check_writable(path)
}

/// What a run that was ended has measured on this processor; a file that is broken is made anew.
fn earlier(place: &Path, out: &mut Output) -> Journal {
    let Ok(text) = std::fs::read_to_string(place) else { return Journal::new() };
    let kept = serde_json::from_str::<Value>(&text).ok();
    let launches = kept
        .as_ref()
        .and_then(|kept| serde_json::from_value::<Journal>(kept["launches"].clone()).ok());
    match launches {
        Some(journal) if kept.is_some_and(|kept| kept["cpu"] == machine_here().cpu) => {
            out.line(&format!(
                "an earlier run was ended: its {} programs are not measured again",
                journal.len()
            ));
            journal
        }
        Some(_) => Journal::new(),
        None => {
            out.warning(&format!("{} is broken and made anew", place.display()));
            Journal::new()
        }
    }
}

/// Keeps what was measured so far; without a place for it a run that is ended begins again.
fn keep(place: &Path, journal: &Journal) {
    let text = json!({"cpu": machine_here().cpu, "launches": journal}).to_string();
    let _ = measure::file::create_folder_of(place)
        .and_then(|()| measure::file::write(place, text.as_bytes()));
}

/// Runs random cases through the best and the default: a difference is a fault of ours.
fn compare(subject: &Subject, default: &Recipe, best: &Recipe, made: &Made) -> Result<(), Failure> {
    let base_made = default.make(subject).map_err(Failure::User)?;
    let seed = 1;
    let mut rng = fastrand::Rng::with_seed(seed);
    let n_in: usize = made.unit.fields.iter().map(|field| field.layout.n_bytes).sum();
    let n_cases = 2 * cipher::emit_c::shape(&made.compiled, best.arch).blocks() as usize + 3;
    let cases: Vec<Vec<u8>> =
        (0..n_cases).map(|_| (0..n_in).map(|_| rng.u8(..)).collect()).collect();
    let n_out = made.unit.output_bytes();
    let run = |recipe: &Recipe, made: &Made| {
        let program = recipe.build(made).map_err(Failure::tool)?;
        native::run_cases(&program, recipe.arch, &cases, n_out).map_err(Failure::tool)
    };
    let (ours, theirs) = (run(best, made)?, run(default, &base_made)?);
    match ours.iter().zip(&theirs).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => {
            let what =
                format!("compare the best way with the default, random cases of seed {seed}");
            Err(Failure::environment(what, format!("case {at} differs: {best:?}")))
        }
    }
}

fn measured(tuned: &Tuned) -> Option<TunedFigures> {
    let it = tuned.against_default.as_ref()?;
    Some(TunedFigures {
        cpu: machine_here().cpu,
        date: machine::today(),
        compilers: Cc::ALL.iter().filter_map(|cc| cc.version().ok()).collect(),
        cycles_per_byte: it.b_median,
        default_cycles_per_byte: it.a_median,
        ratio: it.ratio,
        interval: [it.ratio_low, it.ratio_high],
        pairs: it.n,
    })
}

/// Of those measured the one that the model likes best, in C.
fn of_model(tuned: &Tuned) -> Option<&Tried> {
    let of_c =
        tuned.tried.iter().filter(|found| found.way.emit == Emit::C && found.way.opt == "-O3");
    of_c.filter(|found| found.way.cc == tune::preferred(&found.way))
        .min_by(|a, b| a.expected.total_cmp(&b.expected))
}

/// A way in words.
pub fn said(way: &Recipe) -> String {
    let by = match way.emit {
        Emit::C => format!("{} {}", way.cc.name(), way.opt),
        Emit::Asm | Emit::Auto => "our assembly".into(),
    };
    let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
    format!(
        "slicing {}, {} at once, -X unroll={}, -X inline={}, --schedule {}, {by}",
        way.slicing.letter(),
        json!(way.interleave),
        word(json!(way.unroll)),
        word(json!(way.inline)),
        way.schedule.name(),
    )
}

/// What was tried, and what it took.
pub fn row(it: &Tried) -> Value {
    json!({"way": it.way, "model_cycles_per_byte": it.model, "expected_cycles_per_byte": it.expected, "equations": it.equations, "cycles_per_byte": it.cycles_per_byte, "launches": it.launches})
}

fn table(subject: &Subject, arch: Arch, tuned: &Tuned) -> Table {
    let columns = ["way", "equations", "expected", "measured", "of the best", "launches"];
    let note = "time-stamp cycles a byte of output, moves between bytes and registers excluded, the median of the launches; few launches are a \
                rough figure; expected is of kind model, times what was measured of the model elsewhere, whatever the compiler";
    let title = format!(
        "{}, {}: the best of {} programs, of {} texts",
        subject.name(),
        arch.name(),
        tuned.tried.len(),
        tuned.n_judged
    );
    let mut table = Table::new(title, &columns).kind(Kind::Measured).note(note);
    let best = tuned.tried[0].cycles_per_byte;
    for it in tuned
        .tried
        .iter()
        .enumerate()
        .filter(|(k, it)| *k < SHOWN || it.way == tuned.default)
        .map(|pair| pair.1)
    {
        let mark = if it.way == tuned.default { " (default)" } else { "" };
        table.push(vec![
            Cell::words(format!("{}{mark}", said(&it.way))),
            Cell::number(it.equations.to_string()),
            Cell::number(format!("{:.2}", it.expected)),
            Cell::number(format!("{:.2}", it.cycles_per_byte)),
            Cell::number(format!("{:.2}", it.cycles_per_byte / best)),
            Cell::number(it.launches.to_string()),
        ]);
    }
    table
}

/// `90s`, `5m` or `1h`.
pub fn budget(text: &str) -> Result<Duration, String> {
    let wrong = || "choose a time such as 90s, 5m or 1h".to_owned();
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(wrong()),
    };
    match number.parse::<u64>() {
        Ok(n) if (1..=100_000).contains(&n) => Ok(Duration::from_secs(n * seconds)),
        _ => Err(wrong()),
    }
}
