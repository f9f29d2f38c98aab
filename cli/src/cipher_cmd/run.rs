//! `meanwhile cipher run`: cases from standard input through the interpreter or the emitted C.

use std::io::Read;

use cipher::cases::{self, Fields};
use cipher::native;
use serde_json::json;

use super::options::{How, Which, check_sizes};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
    /// Run the emitted C instead of the interpreter; cases fill the slices together.
    #[arg(long)]
    compiled: bool,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let subject = args.which.load(out)?;
    let recipe = args.how.recipe(&subject)?;
    check_sizes(&subject, &recipe)?;
    let word = recipe.word();
    let cases = read_cases(&subject, word)?;
    let outputs: Vec<String> = if args.compiled {
        if let Some(feature) = native::missing_feature(recipe.arch) {
            let message = format!(
                "this processor cannot run {} code: it has no {feature}",
                recipe.arch.name()
            );
            return Err(Failure::user(
                message,
                Some("choose another --arch, or run without --compiled"),
            ));
        }
        let made = recipe.make(&subject).map_err(Failure::User)?;
        if let Some(why) = &made.refused {
            out.warning(&format!("there is no assembly, so the C runs: {why}"));
        }
        let bytes = cases.iter().map(|(number, fields)| {
            cases::case_bytes(&subject, &made.unit, word, fields)
                .map_err(|why| line_error(*number, &why))
        });
        let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
        let mut recipe = recipe;
        if made.n_equations() > LARGE {
            recipe.opt = "-O1";
        }
        let program = recipe.build(&made).map_err(Failure::tool)?;
        let results = native::run_cases(&program, recipe.arch, &bytes, made.unit.output_bytes())
            .map_err(Failure::tool)?;
        results.iter().map(|bytes| cases::output_line(&subject, word, bytes)).collect()
    } else {
        let line = |(number, fields): &(usize, Fields)| {
            cases::interpret_line(&subject, word, fields).map_err(|why| line_error(*number, &why))
        };
        cases.iter().map(line).collect::<Result<_, _>>()?
    };
    outputs.iter().for_each(|line| out.line(line));
    out.object(&json!({"ok": true, "outputs": outputs}));
    Ok(())
}

/// Programs of more equations are not compiled at -O3, which takes minutes.
const LARGE: usize = 12_000;

fn line_error(number: usize, why: &str) -> Failure {
    Failure::user(format!("line {number}: {why}"), None)
}

/// Every line with its number; an error if one is wrong.
fn read_cases(
    subject: &cipher::unit::Subject,
    word: Option<u32>,
) -> Result<Vec<(usize, Fields)>, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|err| Failure::environment("read standard input", err))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::user("standard input is not UTF-8 text", None))?;
    let known = cases::known_fields(subject, word);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let mut all = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let fields = cases::parse_line(line, &known).and_then(|fields| match &subject.primitive {
            Some(primitive) => cases::compose(primitive, fields),
            None => Ok(fields),
        });
        all.push((idx + 1, fields.map_err(|why| line_error(idx + 1, &why))?));
    }
    Ok(all)
}
