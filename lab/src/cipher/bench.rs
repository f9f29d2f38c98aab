//! Choices of the compiler off and on, in turn: the schedulers, the specialisation of nodes, the
//! look-behind window, batches in turn, the byte interface, and all of them together.

use std::path::PathBuf;
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::Unroll;
use cipher::speed::{Processor, Sampling};
use report::page::Block;
use serde_json::{Value, json};

use super::best::Best;
use super::byte_cost::Bytes;
use super::gain::{Asked, Gains};
use super::interleave::Interleaved;
use super::look_behind::Window;
use super::schedulers::SchedulerCell;
use super::specialise::Specialise;
use crate::evidence::Evidence;
use crate::store::Store;
use crate::study::{self, Study};
use meanwhile::cipher_cmd::{bounds, options, tune};
use terminal::machine_here;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cipher-schedulers`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives; all rows of the paper's tables if none is named.
    names: Vec<String>,
    /// What is compared: a scheduler off and on, the specialisation of bitwise nodes, windows of 1
    /// to 20, one batch and several interleaved ones, the primitive alone and through its byte
    /// interface, or the best C of before there was a back end and the best of all.
    #[arg(long, value_name = "STUDY", value_enum, default_value_t = Compared::Schedulers)]
    study: Compared,
    /// C compilers, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = options::cc())]
    cc: Vec<Cc>,
    /// Targets, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = options::arch())]
    arch: Vec<Arch>,
    /// Which loops are written out in the study of schedulers, off and on alike.
    #[arg(long, value_parser = options::unroll(), default_value = "auto")]
    unroll: Unroll,
    /// How long each of the two searches of the study of the best may take, for each
    /// row: 90s, 5m, 1h.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = tune::budget)]
    budget: Duration,
    /// Five pairs instead of fifteen.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it already has are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Compared {
    Schedulers,
    Specialise,
    LookBehind,
    Interleave,
    Bytes,
    Best,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let sampling = if args.quick { Sampling::QUICK } else { Sampling::FULL };
    let store = Store::open(args.out.clone(), command(&args))?;
    let (choice, budget, unroll) = (args.study, args.budget, args.unroll);
    let Args { names, cc, arch, .. } = args;
    let asked = Asked { names, cc, arch };
    // Those of the paper's own few rows have one compiler, and the loops written out.
    let named = || Asked { names: asked.names.clone(), ..Asked::default() };
    match choice {
        Compared::Schedulers => {
            shown(&Gains::<SchedulerCell>::new(&asked, unroll, sampling), store, out).map(drop)
        }
        Compared::Specialise => {
            shown(&Gains::<Specialise>::new(&named(), unroll, sampling), store, out).map(drop)
        }
        Compared::LookBehind => {
            shown(&Gains::<Window>::new(&named(), unroll, sampling), store, out).map(drop)
        }
        Compared::Interleave => {
            shown(&Gains::<Interleaved>::new(&asked, unroll, sampling), store, out).map(drop)
        }
        Compared::Bytes => shown(&Bytes { asked, sampling }, store, out).map(drop),
        Compared::Best => {
            let processor = Processor::here();
            let ratio = processor.core_cycles_per_tick;
            let Asked { names, arch, .. } = asked;
            let rows = shown(&Best { names, arch, budget, sampling, processor }, store, out)?;
            let of_rows: Vec<&Value> = rows.iter().map(|row| &row["bound"]).collect();
            bounds::about(&of_rows, "the best", ratio).iter().for_each(|line| out.line(line));
            Ok(())
        }
    }
}

/// Measures what is missing, and prints all of it.
fn shown<S: Study>(study: &S, mut store: Store, out: &mut Output) -> Result<Vec<Value>, Failure> {
    if study.cells().is_empty() {
        return Err(Failure::user(
            "the tables of this study have no such row",
            Some(
                "`meanwhile cipher list` shows the primitives; targets are x86-64, avx2 and avx512",
            ),
        ));
    }
    let rows = study::rows(study, &mut store, out)?;
    study::show(&S::blocks(&rows), out);
    out.object(&json!({"ok": true, "machine": machine_here(), "rows": rows}));
    Ok(rows)
}

/// The command for the evidence, with all options that choose what a row says.
fn command(args: &Args) -> String {
    let study = match args.study {
        Compared::Schedulers => String::new(),
        Compared::Specialise => " --study specialise".to_owned(),
        Compared::LookBehind => " --study look-behind".to_owned(),
        Compared::Interleave => " --study interleave".to_owned(),
        Compared::Bytes => " --study bytes".to_owned(),
        Compared::Best => format!(" --study best --budget {}s", args.budget.as_secs()),
    };
    let unroll = match args.unroll {
        Unroll::Auto => "",
        Unroll::Yes => " --unroll yes",
        Unroll::No => " --unroll no",
    };
    let quick = if args.quick { " --quick" } else { "" };
    format!("meanwhile-lab run cipher-schedulers{study}{unroll}{quick} --out FILE")
}

/// The committed results of a study, by the name of its file.
pub fn committed(file: &str, evidence: &Evidence) -> Option<Vec<Block>> {
    Some(match file {
        "bench" => study::committed::<Gains<SchedulerCell>>(evidence),
        "bytes" => study::committed::<Bytes>(evidence),
        "interleave" => study::committed::<Gains<Interleaved>>(evidence),
        "specialise" => study::committed::<Gains<Specialise>>(evidence),
        "look-behind" => study::committed::<Gains<Window>>(evidence),
        _ => return None,
    })
}
