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
use super::interleave::InterleaveStudy;
use super::look_behind::LookBehind;
use super::schedulers::Schedulers;
use super::specialise::SpecialiseStudy;
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
    #[arg(long, value_name = "STUDY", value_enum, default_value_t = Choice::Schedulers)]
    study: Choice,
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
enum Choice {
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
    match choice {
        Choice::Schedulers => {
            shown(&Schedulers { names, cc, arch, unroll, sampling }, store, out).map(drop)
        }
        Choice::Specialise => shown(&SpecialiseStudy { names, sampling }, store, out).map(drop),
        Choice::LookBehind => shown(&LookBehind { names, sampling }, store, out).map(drop),
        Choice::Interleave => {
            shown(&InterleaveStudy { names, cc, arch, sampling }, store, out).map(drop)
        }
        Choice::Bytes => shown(&Bytes { names, cc, arch, sampling }, store, out).map(drop),
        Choice::Best => {
            let processor = Processor::here();
            let ratio = processor.core_cycles_per_tick;
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
        Choice::Schedulers => String::new(),
        Choice::Specialise => " --study specialise".to_owned(),
        Choice::LookBehind => " --study look-behind".to_owned(),
        Choice::Interleave => " --study interleave".to_owned(),
        Choice::Bytes => " --study bytes".to_owned(),
        Choice::Best => format!(" --study best --budget {}s", args.budget.as_secs()),
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
        "bench" => study::committed::<Schedulers>(evidence),
        "bytes" => study::committed::<Bytes>(evidence),
        "interleave" => study::committed::<InterleaveStudy>(evidence),
        "specialise" => study::committed::<SpecialiseStudy>(evidence),
        "look-behind" => study::committed::<LookBehind>(evidence),
        _ => return None,
    })
}
