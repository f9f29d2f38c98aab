//! `meanwhile audit FILE`: one function, as text, JSON or a page.

use std::collections::BTreeSet;

use audit::audit::Options;
use audit::audit::{Audit, audit};
use audit::facts::recorded::Recorded;
use audit::facts::steered::SourceLine;
use audit::program::find::{Found, choices};
use audit::program::toolchain::{self, Skipped};
use audit::timing::licence::Effort;
use audit::views::html::html;
use audit::views::json;
use audit::views::text::{Sources, text};
use audit::volatile::count_volatile;
use serde_json::json;

use super::Format;
use super::all::chosen;
use super::options::{Loaded, Reading};
use super::verify::verify;
use crate::output::{Failure, Output};

/// What is asked of one function.
#[derive(Debug)]
pub struct Asked {
    pub recorded: Option<Recorded>,
    /// Lines that the path passes.
    pub through: Vec<SourceLine>,
    /// Edits are made on a copy and tried.
    pub tries: bool,
    pub format: Format,
}

/// Audits one function and prints it.
pub fn run(
    loaded: &Loaded,
    how: &Reading,
    function: Option<&str>,
    asked: Asked,
    out: &mut Output,
) -> Result<(), Failure> {
    let Asked { recorded, through, tries, format } = asked;
    let mut audited = audited(loaded, how, function, recorded, &through)?;
    let sources = sources(&audited);
    let address = audited.function.instructions[0].address;
    let program =
        loaded.programs.iter().find(|program| program.symbol(&audited.function.name).is_ok());
    let names = program.map(|program| program.lines.volatile_names(address)).unwrap_or_default();
    count_volatile(&mut audited, &names, &sources);
    if tries {
        verify(loaded, how, &through, &mut audited, out)?;
    }
    let view = how.view();
    match format {
        Format::Text => out.text(&(unknown(&loaded.skipped) + &text(&audited, &sources, &view))),
        Format::Json => {}
        Format::Html => out.text(&html(&audited, &sources, &view)),
    }
    let mut object = json::json(&audited, &view);
    object["skipped"] = json!(loaded.skipped);
    out.object(&object);
    Ok(())
}

/// A line for each line that the assembler does not know.
fn unknown(skipped: &[Skipped]) -> String {
    skipped.iter().fold(String::new(), |text, it| {
        text + &format!("line {}: `{}` is not assembled: {}\n", it.line, it.text, it.said)
    })
}

/// The audit of the function that the user means.
pub fn audited(
    loaded: &Loaded,
    how: &Reading,
    function: Option<&str>,
    recorded: Option<Recorded>,
    through: &[SourceLine],
) -> Result<Audit, Failure> {
    let (program, symbol) = meant(loaded, function)?;
    let core = how.core(&loaded.cpu);
    let (avoid, through) = (how.avoid.clone(), through.to_vec());
    let options = Options { avoid, through, effort: Effort::Search, recorded };
    let audited = audit(program, symbol, &loaded.cpu, core.as_ref(), &options)
        .map_err(|error| Failure::User(vec![error]))?;
    if let Some(pivot) = how.pivot.as_deref() {
        let names: BTreeSet<&str> =
            audited.function.frames.iter().flatten().map(|frame| frame.function.as_str()).collect();
        if !names.contains(pivot) {
            let meant = report::did_you_mean(pivot, names.iter().copied());
            let help = meant.unwrap_or_else(|| {
                format!("its frames are {}", names.into_iter().collect::<Vec<_>>().join(", "))
            });
            return Err(Failure::user(
                format!("no instruction of `{}` comes from `{pivot}`", audited.function.name),
                Some(&help),
            ));
        }
    }
    Ok(audited)
}

/// The function that was named, or the only one.
fn meant<'a>(loaded: &'a Loaded, function: Option<&str>) -> Result<Found<'a>, Failure> {
    let found = chosen(loaded, function)?;
    match (&found[..], function) {
        ([one], _) => Ok(*one),
        // Several names of one place are one function; that of the assembler's own kind comes last.
        ([first, rest @ ..], _)
            if rest
                .iter()
                .all(|pair| std::ptr::eq(pair.0, first.0) && pair.1.address == first.1.address) =>
        {
            Ok(*found.iter().find(|pair| !pair.1.name.starts_with('_')).unwrap_or(first))
        }
        (several, None) => {
            let help =
                format!("choose one with --function: {}; or --all-functions", choices(several));
            Err(Failure::user(
                format!("`{}` has {} functions", loaded.name, several.len()),
                Some(&help),
            ))
        }
        (several, Some(name)) => {
            let help =
                format!("choose one: {}; or --all-functions for a table of them", choices(several));
            Err(Failure::user(
                format!("`{}` has {} functions `{name}`", loaded.name, several.len()),
                Some(&help),
            ))
        }
    }
}

/// The source files that the audit's lines name, as far as they are there.
pub fn sources(audited: &Audit) -> Sources {
    let names: BTreeSet<&str> =
        audited.function.frames.iter().flatten().map(|frame| frame.file.as_str()).collect();
    let read =
        |name: &str| toolchain::source(name).map(|text| text.lines().map(str::to_owned).collect());
    names.into_iter().filter_map(|name| Some((name.to_owned(), read(name)?))).collect()
}
