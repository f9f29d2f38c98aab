//! `meanwhile cipher compile`: a self-contained C file, its header, or the program between two
//! passes.

use std::path::{Path, PathBuf};

use cipher::emit_c;
use cipher::options::Emit;
use cipher::pipeline::PASSES;
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use serde_json::json;

use super::options::{self, How, Which};
use crate::output::{Failure, Output, write_file};

/// Arguments of `meanwhile cipher compile`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
    /// The C file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The header with its prototypes and the layout of round keys; alone it suppresses the C.
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
    /// Add a mode to the byte interface: `ctr` for block ciphers and ChaCha20, `ctr64` for
    /// ChaCha20, `aead` for ascon-p12, or one that the layout names, such as `hash` or `shake128`.
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// A prefix of every function and type, as in `acme_aes128_blocks`: for two C files of one
    /// cipher in one program.
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = super::options::prefix)]
    prefix: String,
    /// Masked code of this order: D + 1 shares of every word, proved against D probes in the register
    /// probing model; general registers, C alone.
    #[arg(long, value_name = "D", conflicts_with_all = ["mode", "emit", "recipe", "dump_after"],
        value_parser = clap::value_parser!(u32).range(1..=7))]
    masked: Option<u32>,
    /// Write `#line` directives, so that a debugger or profiler shows the Usuba file.
    #[arg(long)]
    lines: bool,
    /// Print the program after this pass instead of C.
    #[arg(long, value_name = "PASS", value_parser = clap::builder::PossibleValuesParser::new(PASSES))]
    dump_after: Option<String>,
}

/// Refuses output files that would overwrite another file of the same command.
fn refuse_own_files(args: &Args, emit: Emit) -> Result<(), Failure> {
    // A file that does not exist yet is compared by its folder.
    let real = |path: &Path| {
        let folder =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let named = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(named).unwrap_or_else(|| path.to_owned())
    };
    let program = Path::new(&args.which.subject);
    let layout = args.which.layout.clone().unwrap_or_else(|| cipher::user_layout::beside(program));
    let assembly = assembly_file(args, emit);
    let written: Vec<&Path> =
        args.output.iter().chain(&args.header).chain(&assembly).map(PathBuf::as_path).collect();
    for (k, path) in written.iter().enumerate() {
        let is_other = written[k + 1..].iter().any(|it| real(it) == real(path))
            && !measure::file::is_standard_output(path)
            && !is_device(path);
        if is_other || [program, &layout].iter().any(|it| it.exists() && real(it) == real(path)) {
            let help = "the program, its layout, the C file and its header are files of their own";
            return Err(Failure::user(
                format!("{} would be overwritten", path.display()),
                Some(help),
            ));
        }
    }
    Ok(())
}

/// The assembly file, beside the C file.
fn assembly_file(args: &Args, emit: Emit) -> Option<PathBuf> {
    args.output.as_ref().filter(|_| emit != Emit::C).map(|output| output.with_extension("s"))
}

fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let subject = args.which.load_with_bytes(out)?;
    let mut recipe = args.how.recipe(&subject)?;
    let has_file = args
        .output
        .as_ref()
        .is_some_and(|path| !measure::file::is_standard_output(path) && !is_device(path));
    if recipe.emit != Emit::C && !has_file && args.dump_after.is_none() {
        let help = "with -o NAME.c the assembly is NAME.s";
        return Err(Failure::user("two files do not fit one output", Some(help)));
    }
    recipe.dump_after = args.dump_after.clone();
    if let Some(order) = args.masked {
        recipe.prefix = args.prefix.clone();
        return masked(&args, &subject, &recipe, order, out);
    }
    args.mode.iter().try_for_each(|mode| options::in_one_file(mode, subject.name()))?;
    recipe.mode = args.mode.clone();
    recipe.prefix = args.prefix.clone();
    let made = recipe.make(&subject).map_err(Failure::User)?;
    for warning in &made.compiled.warnings {
        out.warning(&warning.remark());
    }
    if args.dump_after.is_some() {
        let dump =
            made.compiled.dump.as_deref().unwrap_or("this pass does not run with these options\n");
        out.text(dump);
        out.object(&json!({"ok": true, "dump": dump}));
        return Ok(());
    }
    refuse_own_files(&args, recipe.emit)?;
    let source = recipe.source(&made, false, args.lines);
    let header = emit_c::header(&made.compiled, &made.unit, recipe.arch);
    let assembly_file = assembly_file(&args, recipe.emit);
    let assembly = assembly_file.clone().filter(|_| !made.assembly.is_empty());
    let validated =
        if assembly.is_some() { super::validate::assembly(&made, &recipe, out)? } else { None };
    let output = args.output.filter(|path| !measure::file::is_standard_output(path));
    match &output {
        Some(path) => write_file(path, &source)?,
        None if args.header.is_none() => out.text(&source),
        None => {}
    }
    if let Some(path) = &args.header {
        write_file(path, &header)?;
    }
    if let Some(path) = &assembly {
        write_file(path, &made.assembly)?;
    }
    if let Some(why) = &made.refused {
        out.warning(&format!("the C file has all functions, and there is no assembly: {why}"));
    }
    if let Some(older) =
        assembly_file.filter(|assembly_file| assembly.is_none() && assembly_file.exists())
    {
        out.warning(&format!("{} is older and does not belong to it", older.display()));
    }
    let circuits: Vec<_> = made
        .compiled
        .circuits
        .iter()
        .map(|(table, found)| json!({"table": &**table, "gates": found.circuit.n_gates(), "origin": found.origin.to_string()}))
        .collect();
    let shape = emit_c::shape(&made.compiled, recipe.arch);
    if output.is_some() || args.header.is_some() {
        made.choices().iter().for_each(|line| out.line(line));
        if !made.assembly.is_empty() {
            let steps: usize = made.blocks.iter().map(|block| block.0).sum();
            let sum = |of: fn(&cipher::asm::Count) -> u32| {
                made.blocks.iter().map(|block| of(&block.1)).sum::<u32>()
            };
            let (loads, stores, folded, copies) = (
                sum(|it| it.loads),
                sum(|it| it.stores),
                sum(|count| count.folded),
                sum(|it| it.copies),
            );
            out.line(&format!(
                "assembly: {steps} steps, {folded} of them with an operand in memory, {loads} loads, {stores} stores, {copies} moves"
            ));
        }
        validated.iter().for_each(|it| out.line(&it.text));
        out.line(&recipe.amount(&made));
        if args.how.recipe.is_some() {
            out.line(&format!("the recipe is for {} {}", recipe.cc.name(), recipe.opt));
        }
    }
    out.object(&json!({
        "ok": true,
        "subject": subject.name(),
        "slicing": made.compiled.slicing,
        "arch": recipe.arch,
        "cc": recipe.cc,
        "opt": recipe.opt,
        "blocks": shape.blocks(),
        "mode": recipe.mode,
        "equations": made.n_equations(),
        "fixslice_reason": made.compiled.fixslice_reason,
        "schedule": made.compiled.schedule,
        "schedule_reason": made.compiled.schedule_reason,
        "interleave": made.compiled.interleave,
        "interleave_reason": made.compiled.interleave_reason,
        "circuits": circuits,
        "output": output.as_ref().map(|p| p.display().to_string()),
        "assembly": assembly.as_ref().map(|p| p.display().to_string()),
        "emit": if made.assembly.is_empty() { "c" } else { "asm" },
        "emit_reason": made.back_reason,
        "refused": made.refused,
        "validated": validated.as_ref().map(|validated| validated.is_proved),
        "header": args.header.as_ref().map(|p| p.display().to_string()),
        "source": if output.is_none() { Some(source) } else { None },
    }));
    Ok(())
}

/// `--masked`: the C file, its header, and what was proved.
fn masked(
    args: &Args,
    subject: &Subject,
    recipe: &Recipe,
    order: u32,
    out: &mut Output,
) -> Result<(), Failure> {
    if recipe.arch.is_vector() {
        let message =
            format!("masked code is for general registers, not for {}", recipe.arch.name());
        return Err(Failure::user(message, Some("leave out --arch")));
    }
    refuse_own_files(args, Emit::C)?;
    let bar = out.progress(0);
    bar.set_message("proof");
    let made = cipher::masked::make(subject, recipe, order);
    bar.finish_and_clear();
    let made = made.map_err(Failure::User)?;
    for warning in &made.compiled.warnings {
        out.warning(&warning.remark());
    }
    let source = made.source(args.lines);
    let output = args.output.as_ref().filter(|path| !measure::file::is_standard_output(path));
    match output {
        Some(path) => write_file(path, &source)?,
        None if args.header.is_none() => out.text(&source),
        None => {}
    }
    if let Some(path) = &args.header {
        write_file(path, made.header())?;
    }
    let proof = &made.proof;
    let places: Vec<String> = proof
        .refreshes
        .iter()
        .map(|refreshed| {
            let (file, line) = made.compiled.program.sources.line(refreshed.loc);
            format!("{file}:{line}")
        })
        .collect();
    let shape = emit_c::shape(&made.compiled, recipe.arch);
    if output.is_some() || args.header.is_some() {
        out.line(&format!(
            "order {order}, {} shares: {} products and {} refreshes for {}, {} and {} for the keys",
            made.n_shares,
            proof.entry.products,
            proof.entry.refreshes,
            shape.blocks_text(),
            proof.keys.products,
            proof.keys.refreshes,
        ));
        out.line(&format!(
            "proved in the register probing model, at any order; {} refreshes in the text{}{}",
            places.len(),
            if places.is_empty() { "" } else { ": " },
            places.join(", ")
        ));
        out.line(
            "not covered: transitions, glitches, and a C compiler that puts two shares into one register",
        );
    }
    out.object(&json!({
        "ok": true,
        "subject": subject.name(),
        "slicing": made.compiled.slicing,
        "order": order,
        "shares": made.n_shares,
        "is_proved": true,
        "entry": proof.entry,
        "keys": proof.keys,
        "random_words": made.words_per_batch(),
        "word_bits": shape.register_bits(),
        "refreshes": places,
        "blocks": shape.blocks(),
        "output": output.map(|path| path.display().to_string()),
        "header": args.header.as_ref().map(|path| path.display().to_string()),
        "source": if output.is_none() { Some(source) } else { None },
    }));
    Ok(())
}
