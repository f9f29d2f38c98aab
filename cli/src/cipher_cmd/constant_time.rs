//! `meanwhile cipher check --constant-time`: the compilers and flags that keep the emitted C free
//! of branches and addresses that depend on a secret.

use cipher::constant_time::{self, ConstantTimeVerdict, OPTS};
use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Interleave, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use report::{Cell, Table};
use serde_json::{Value, json};

use super::options;
use crate::output::{Failure, Output};

/// The options of the check.
#[derive(Debug, clap::Args)]
pub struct ConstantTime {
    /// Compile the C, run it under valgrind with undefined keys and data, and report
    /// what depends on them.
    #[arg(long)]
    constant_time: bool,
    /// A C compiler, several times for several [default: each of gcc, gcc-12, gcc-14, clang-14,
    /// -15, -16, -19, -22 that is installed].
    #[arg(long, value_name = "PROGRAM", requires = "constant_time")]
    cc: Vec<String>,
    /// Its flags in one word, such as `-O2` or `-O3 -funroll-loops`; several times for several
    /// [default: -O1, -O2, -O3, -Os].
    #[arg(long, value_name = "FLAGS", requires = "constant_time", allow_hyphen_values = true)]
    opt: Vec<String>,
    /// Check the code of this slicing only.
    #[arg(long, value_parser = options::slicing(), requires = "constant_time")]
    slicing: Option<Slicing>,
    /// Check the code of this target only.
    #[arg(long, value_name = "ARCH", value_parser = options::arch(), requires = "constant_time")]
    arch: Option<Arch>,
    /// A mode to check with the blocks, such as `ctr` or `aead`; several times
    /// for several [default: none].
    #[arg(long, value_name = "MODE", requires = "constant_time")]
    mode: Vec<String>,
    /// Bits of the size variable 'm.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), requires = "constant_time")]
    word: Option<u32>,
}

impl ConstantTime {
    /// True if the check is requested.
    pub fn wanted(&self) -> bool {
        self.constant_time
    }
}

/// One program that was checked.
struct ConstantTimeRow<'a> {
    mode: Option<&'a str>,
    slicing: Slicing,
    arch: Arch,
    cc: &'a str,
    opt: &'a str,
    verdict: ConstantTimeVerdict,
}

pub fn run(args: &ConstantTime, subject: &Subject, out: &mut Output) -> Result<(), Failure> {
    let compilers: Vec<&str> = if args.cc.is_empty() {
        constant_time::compilers_here()
    } else {
        args.cc.iter().map(String::as_str).collect()
    };
    let opts: Vec<&str> = if args.opt.is_empty() {
        OPTS.to_vec()
    } else {
        args.opt.iter().map(String::as_str).collect()
    };
    if compilers.is_empty() {
        return Err(Failure::user("there is no C compiler here", Some("name one with --cc")));
    }
    let targets = match args.arch {
        None => constant_time::targets(),
        Some(arch) if constant_time::targets().contains(&arch) => vec![arch],
        Some(arch) => {
            let help = "check `--arch avx2`: the same C with other registers";
            return Err(Failure::user(
                format!("valgrind does not run {}", arch.name()),
                Some(help),
            ));
        }
    };
    let slicings = args.slicing.map_or_else(|| subject.slicings(args.word), |idx| vec![idx]);
    if slicings.is_empty() {
        return Err(Failure::User(subject.no_slicing(args.word)));
    }
    args.mode.iter().try_for_each(|mode| options::in_one_file(mode, subject.name()))?;
    let modes: Vec<Option<&str>> = if args.mode.is_empty() {
        vec![None]
    } else {
        args.mode.iter().map(|value| Some(value.as_str())).collect()
    };
    let combinations =
        modes.iter().flat_map(|&mode| slicings.iter().map(move |&slicing| (mode, slicing)));
    let mut rows = Vec::new();
    let total = modes.len() * slicings.len() * targets.len() * compilers.len() * opts.len();
    let bar = out.progress(total as u64);
    for (mode, slicing) in combinations {
        for &arch in &targets {
            if let Some(feature) = native::missing_feature(arch) {
                out.warning(&format!("{}: not run, this processor has no {feature}", arch.name()));
                continue;
            }
            let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, Unroll::Auto, "-O3");
            recipe.mode = mode.map(str::to_owned);
            // The rest of a message goes through a single batch, so this checks both.
            recipe.interleave = Interleave::Auto;
            recipe.word = args.word;
            let made = recipe.make(subject).map_err(Failure::User)?;
            let source = recipe.source(&made, true, false);
            for &cc in &compilers {
                for &opt in &opts {
                    bar.set_message(format!(
                        "{} {} {} {cc} {opt}",
                        mode.unwrap_or(""),
                        slicing.letter(),
                        arch.name()
                    ));
                    let flags: Vec<String> = opt.split_whitespace().map(str::to_owned).collect();
                    let verdict =
                        constant_time::check(&source, arch, cc, &flags).map_err(Failure::tool)?;
                    rows.push(ConstantTimeRow { mode, slicing, arch, cc, opt, verdict });
                    bar.inc(1);
                }
            }
        }
    }
    bar.finish_and_clear();
    let n_dirty = rows.iter().filter(|row| row.verdict != ConstantTimeVerdict::Clean).count();
    out.line(&table(subject, &rows).terminal(None));
    out.object(&json!({"ok": n_dirty == 0, "subject": subject.name(), "rows": rows.iter().map(to_json).collect::<Vec<Value>>()}));
    if n_dirty == 0 {
        return Ok(());
    }
    for row in &rows {
        if let ConstantTimeVerdict::Depends { first, text, .. } = &row.verdict {
            let mode = row.mode.map_or_else(String::new, |mode| format!("{mode} "));
            out.line(&format!(
                "not constant time: {mode}{} {} {} {}: {first}",
                row.slicing.letter(),
                row.arch.name(),
                row.cc,
                row.opt
            ));
            out.line(&format!("    cipher.c is {}", text.display()));
        }
    }
    Err(Failure::Reported)
}

fn to_json(row: &ConstantTimeRow<'_>) -> Value {
    let mut object = serde_json::to_value(&row.verdict).expect("verdicts are plain");
    for (key, value) in [
        ("slicing", row.slicing.letter()),
        ("arch", row.arch.name()),
        ("cc", row.cc),
        ("opt", row.opt),
    ] {
        object[key] = value.into();
    }
    object["mode"] = row.mode.into();
    object
}

/// A row for each slicing, target and compiler, a column for each choice of flags.
fn table(subject: &Subject, rows: &[ConstantTimeRow<'_>]) -> Table {
    let mut opts: Vec<&str> = Vec::new();
    let mut lines: Vec<(Option<&str>, Slicing, Arch, &str)> = Vec::new();
    for row in rows {
        if !opts.contains(&row.opt) {
            opts.push(row.opt);
        }
        if !lines.contains(&(row.mode, row.slicing, row.arch, row.cc)) {
            lines.push((row.mode, row.slicing, row.arch, row.cc));
        }
    }
    // Without modes the column is left out.
    let has_modes = rows.iter().any(|row| row.mode.is_some());
    let columns = has_modes.then_some("mode").into_iter().chain(["slicing", "target", "compiler"]);
    let columns: Vec<&str> = columns.chain(opts.iter().copied()).collect();
    let mut table = Table::new(format!("constant time of {}", subject.name()), &columns)
        .note("valgrind follows undefined keys and data: clean, or how many branches and addresses depend on them");
    for (mode, slicing, arch, cc) in lines {
        let mut cells: Vec<Cell> = mode.into_iter().map(Cell::words).collect();
        cells.extend([Cell::words(slicing.letter()), Cell::words(arch.name()), Cell::words(cc)]);
        for &opt in &opts {
            let found = rows.iter().find(|row| {
                (row.mode, row.slicing, row.arch, row.cc, row.opt) == (mode, slicing, arch, cc, opt)
            });
            cells.push(Cell::words(match found.map(|found| &found.verdict) {
                None => "-".to_owned(),
                Some(ConstantTimeVerdict::Clean) => "clean".to_owned(),
                Some(ConstantTimeVerdict::Depends { places, .. }) => format!("{places} found"),
            }));
        }
        table.push(cells);
    }
    table
}
