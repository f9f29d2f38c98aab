//! `meanwhile audit FILE`: one function, as text, JSON or a page.

use audit::audit::{Audit, Options};
use audit::code_file::sources;
use audit::facts::recorded::Recorded;
use audit::facts::steered::SourceLine;
use audit::program::toolchain::{self, Skipped};
use audit::timing::licence::Effort;
use audit::views::html::html;
use audit::views::json;
use audit::views::text::text;
use serde_json::json;

use super::Format;
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
    let sources = sources(&audited, toolchain::source);
    loaded.code.count_volatile(&mut audited, &sources);
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
    let core = how.core(loaded);
    let (avoid, through) = (how.avoid.clone(), through.to_vec());
    let options = Options { avoid, through, effort: Effort::Search, recorded };
    let audited = loaded.code.audit(function, core.as_ref(), &options, &how.view());
    audited.map_err(|error| Failure::User(vec![error]))
}
