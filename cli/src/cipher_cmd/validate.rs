//! Door: `meanwhile cipher validate`: proves that compiled C computes what the program says.

use std::path::PathBuf;
use std::time::Instant;

use cipher::emit_c::Arch;
use cipher::recipe::{Made, Recipe};
use cipher::validate::{self, Difference, Place, Report, Stop, Verdict};
use report::{Cell, Table};
use serde_json::{Value, json};

use super::options::{How, Which};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher validate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
    /// An object file with the functions of the sliced interface, instead of the
    /// C compiled by --cc.
    #[arg(long, value_name = "FILE")]
    object: Option<PathBuf>,
    /// Seed of the random inputs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A function and the result of its validation.
struct ValidateRow {
    function: String,
    report: Report,
    seconds: f64,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let subject = args.which.load(out)?;
    let recipe = args.how.recipe(&subject)?;
    if recipe.arch.row().processor != Arch::X86_64.row().processor {
        let message = format!(
            "validation follows x86-64 instructions, and {} has others",
            recipe.arch.name()
        );
        return Err(Failure::user(message, None));
    }
    let made = recipe.make(&subject).map_err(Failure::User)?;
    for warning in &made.compiled.warnings {
        out.warning(&warning.remark());
    }
    let begin = Instant::now();
    if let Some(why) = &made.refused {
        out.warning(&format!("there is no assembly, so the C is validated: {why}"));
    }
    let (object, from) = match &args.object {
        Some(path) => {
            let object = std::fs::read(path)
                .map_err(|error| Failure::environment(format!("read {}", path.display()), error))?;
            (object, path.display().to_string())
        }
        None => {
            let by = if made.assembly.is_empty() { "" } else { "assembly and " };
            (
                recipe.object(&made).map_err(Failure::tool)?,
                format!("{by}{} {}", recipe.cc.name(), recipe.opt),
            )
        }
    };
    let compiled_s = begin.elapsed().as_secs_f64();
    let functions = if args.object.is_some() { validate::functions } else { validate::all };
    let rows = checked(functions(&made, recipe.arch, args.seed), &object)
        .map_err(|said| Failure::user(format!("{from}: {said}"), None))?;
    let title = format!(
        "{}, slicing {}, {}, {from}",
        subject.name(),
        made.compiled.slicing.letter(),
        recipe.arch.name()
    );
    out.text(&table(title, &rows).terminal(None));
    rows.iter().for_each(|row| said(row).iter().for_each(|line| out.line(line)));
    let is_right = rows.iter().all(ValidateRow::is_right);
    out.object(&json!({
        "ok": is_right,
        "subject": subject.name(),
        "slicing": made.compiled.slicing,
        "arch": recipe.arch,
        "object": from,
        "seconds_to_compile": compiled_s,
        "functions": rows.iter().map(object_of).collect::<Vec<Value>>(),
    }));
    if is_right { Ok(()) } else { Err(Failure::Exit(2)) }
}

impl ValidateRow {
    fn is_right(&self) -> bool {
        matches!(self.report.verdict, Verdict::Proved | Verdict::Simulated)
    }
}

/// All functions of an object file; `Err` says what is wrong with it.
fn checked(functions: Vec<validate::Expected>, object: &[u8]) -> Result<Vec<ValidateRow>, String> {
    let check = |expected: validate::Expected| {
        let begin = Instant::now();
        let report = expected.check(object)?;
        Ok(ValidateRow {
            function: expected.function().to_string(),
            report,
            seconds: begin.elapsed().as_secs_f64(),
        })
    };
    functions.into_iter().map(check).collect()
}

/// The validation of our own assembly, before it is written.
pub struct Validated {
    /// A line to print.
    pub text: String,
    /// All of it is proved.
    pub is_proved: bool,
}

/// Validates our own assembly. A difference or a leak is an error; code that cannot be
/// followed is a warning.
pub fn assembly(
    made: &Made,
    recipe: &Recipe,
    out: &mut Output,
) -> Result<Option<Validated>, Failure> {
    let recipe = Recipe { opt: "-O1", ..recipe.clone() };
    if let Err(error) = recipe.cc.version() {
        out.warning(&format!(
            "the assembly is not validated: `{}` said: {}",
            error.ran, error.said
        ));
        return Ok(None);
    }
    let object = recipe.object(made).map_err(Failure::tool)?;
    let rows = checked(validate::all(made, recipe.arch, 1), &object)
        .unwrap_or_else(|said| panic!("the object of our own assembly: {said}"));
    if let Some(row) = rows.iter().find(|row| !row.is_right()) {
        if row.report.verdict == Verdict::Unknown {
            out.warning(&format!("the assembly is not validated: {}", said(row).join("; ")));
            return Ok(None);
        }
        let what = format!("prove the assembly of {}: {}", row.function, name(row.report.verdict));
        return Err(Failure::environment(what, said(row).join("\n")));
    }
    // The function for round keys comes first, and is C.
    let rows = &rows[usize::from(made.unit.schedule.is_some())..];
    let sum = |of: fn(&Report) -> usize| rows.iter().map(|row| of(&row.report)).sum::<usize>();
    let simulated = sum(|it| it.words.simulated);
    let mut text = format!("validated: {} words proved", sum(|it| it.words.proved));
    if simulated > 0 {
        text += &format!(", {simulated} equal for random inputs only");
    }
    if rows.len() > 1 {
        text += &format!(" of {} functions", rows.len());
    }
    text += &format!(
        ", {} instructions, no secret in an address, branch or division",
        sum(|it| it.instructions as usize)
    );
    Ok(Some(Validated { text, is_proved: simulated == 0 }))
}

fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::Simulated => "simulated",
        Verdict::Different => "different",
        Verdict::Leaks => "leaks",
        Verdict::Unknown => "unknown",
    }
}

fn table(title: String, rows: &[ValidateRow]) -> Table {
    let columns = [
        "function",
        "verdict",
        "words proved",
        "simulated",
        "different",
        "instructions",
        "terms",
        "seconds",
    ];
    let mut table = Table::new(title, &columns)
        .note("proved: equal for every input; simulated: equal for random inputs; instructions that were executed");
    for ValidateRow { function, report, seconds } in rows {
        let counts = [report.words.proved, report.words.simulated, report.words.different]
            .map(|found| found.to_string());
        let rest =
            [report.instructions.to_string(), report.terms.to_string(), format!("{seconds:.2}")];
        let words = [function.clone(), name(report.verdict).to_string()];
        table.push(words.into_iter().chain(counts).chain(rest).map(Cell::words).collect());
    }
    table
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Address => "an address of memory",
        Place::Branch => "a branch",
        Place::Division => "a division",
    }
}

/// Lines about a function that are not in the table.
fn said(row: &ValidateRow) -> Vec<String> {
    let ValidateRow { function, report, .. } = row;
    let mut lines = Vec::new();
    match &report.stop {
        Some((at, Stop::Unknown(what))) => {
            lines.push(format!("{function}: no verdict, {what} at {at:#x} is not followed"))
        }
        Some((at, Stop::Leak(where_))) => {
            lines.push(format!("{function}: a secret reaches {} at {at:#x}", place(*where_)))
        }
        Some((at, Stop::Fault(what))) => lines.push(format!("{function}: {what}, at {at:#x}")),
        None => {}
    }
    if !report.shifts.is_empty() {
        let at: Vec<String> = report.shifts.iter().map(|shift| format!("{shift:#x}")).collect();
        lines.push(format!(
            "{function}: shift by register with a secret count at {}",
            at.join(", ")
        ));
    }
    if let Some(Difference { word, slice, expected, found, inputs }) = &report.difference {
        lines.push(format!(
            "{function}: {word} of slice {slice} is {found}, the program says {expected}, for"
        ));
        lines.extend(inputs.iter().map(|(name, words)| format!("  {name} = {}", words.join(" "))));
    }
    lines
}

fn object_of(row: &ValidateRow) -> Value {
    let ValidateRow { function, report, seconds } = row;
    let (stop, at) = match &report.stop {
        None => (Value::Null, Value::Null),
        Some((at, Stop::Unknown(what) | Stop::Fault(what))) => (what.as_str().into(), (*at).into()),
        Some((at, Stop::Leak(where_))) => (json!({"leak": where_}), (*at).into()),
    };
    json!({
        "function": function,
        "verdict": report.verdict,
        "words": report.words,
        "difference": report.difference,
        "stop": stop,
        "at": at,
        "shifts_by_register": report.shifts,
        "instructions": report.instructions,
        "terms": report.terms,
        "seconds": seconds,
    })
}
