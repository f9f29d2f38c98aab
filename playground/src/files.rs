//! Compiled files, audited as `meanwhile audit` does.

use std::collections::BTreeMap;

use audit::audit::Options;
use audit::code_file::{CodeFile, sources};
use audit::cpus::{self, WITHOUT_BOUND};
use audit::program::Program;
use audit::program::boot::BootWords;
use audit::program::content::Content;
use audit::program::find::member_of;
use audit::program::names::shown;
use audit::ranking::ranking;
use audit::timing::licence::Effort;
use audit::views::html::html;
use audit::views::text::{View, text};
use machine::in_order::Core;
use report::Diagnostic;
use serde::Deserialize;
use serde_json::{Value, json};

/// Of more functions the cycles are not counted before one is asked for.
const RANKED_MAX: usize = 2000;
/// More names of functions are not listed.
const LISTED_MAX: usize = 5000;

/// The file that the page has for those who have none: its name and its source's.
const EXAMPLE: (&str, &[u8]) =
    ("checksum.o", include_bytes!("../../examples/demo/checksum.o").as_slice());
const EXAMPLE_SOURCE: (&str, &str) = ("checksum.c", include_str!("../../examples/demo/checksum.c"));

/// The file and what is asked about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileAsked {
    /// The name of the file; without one it is the example.
    name: Option<String>,
    cpu: Option<String>,
    function: Option<String>,
    /// Source files that came with it, by name.
    #[serde(default)]
    sources: BTreeMap<String, String>,
    /// The functions are listed, too.
    #[serde(default)]
    list: bool,
}

/// The machines: name, title, and the instruction sets that they run.
pub fn cpus() -> Vec<Value> {
    let names = cpus::all().into_iter().map(|(name, _)| name);
    let mut all: Vec<Value> = Vec::new();
    for name in names {
        if all.last().is_none_or(|last| last["name"] != name.as_str()) {
            all.push(json!({"name": name, "title": title(&name)}));
        }
    }
    all
}

fn title(name: &str) -> String {
    let others = WITHOUT_BOUND.iter().find(|other| other.0 == name);
    Core::bundled(name)
        .map(|core| core.title)
        .or_else(|| machine::Machine::bundled(name).map(|it| format!("{}; bounds", it.title)))
        .or_else(|| others.map(|other| other.1.to_owned()))
        .unwrap_or_default()
}

pub fn answer(asked: &FileAsked, file: &[u8]) -> Result<Value, Vec<Diagnostic>> {
    answered(asked, file).map_err(|error| vec![error])
}

fn answered(asked: &FileAsked, file: &[u8]) -> Result<Value, Diagnostic> {
    // A copy begins where allocations do, as its reader wants.
    let example = if asked.name.is_none() { EXAMPLE.1.to_vec() } else { Vec::new() };
    let (name, bytes) =
        asked.name.as_deref().map_or((EXAMPLE.0, example.as_slice()), |name| (name, file));
    let wanted = asked.cpu.as_deref().map(cpus::named).transpose()?;
    let code = CodeFile::read(name, &Content::from(bytes.to_vec()), wanted, &BootWords::default())?;
    let core = Core::bundled(&code.cpu);
    let options =
        Options { avoid: Vec::new(), through: Vec::new(), effort: Effort::Search, recorded: None };
    let wants_list = asked.list || asked.function.is_none();
    let functions = if wants_list { functions(&code, core.as_ref(), &options)? } else { vec![] };
    let first = functions.first().and_then(|row| row["name"].as_str());
    let function = asked.function.as_deref().or(first);
    let view = View::default();
    let mut audited = code.audit(function, core.as_ref(), &options, &view)?;
    let found = |wanted: &str| source(asked, wanted);
    let sources = sources(&audited, found);
    code.count_volatile(&mut audited, &sources);
    Ok(json!({
        "ok": true,
        "cpu": code.cpu,
        "function": function,
        "title": shown(&audited.function.name),
        "functions": functions,
        "more": code.chosen(None)?.len().saturating_sub(LISTED_MAX),
        "html": html(&audited, &sources, &view),
        "text": text(&audited, &sources, &view),
        "warnings": code.warnings(&[]),
        "missing": audited.missing_lines,
    }))
}

/// The functions: the worst first where they are few and their cycles are known, else in the
/// order of the file.
fn functions(
    code: &CodeFile,
    core: Option<&Core>,
    options: &Options,
) -> Result<Vec<Value>, Diagnostic> {
    let found = code.chosen(None)?;
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    found.iter().for_each(|(_, symbol)| *times.entry(&symbol.name).or_default() += 1);
    let called = |program: &Program, name: &str, address: u64| match member_of(program) {
        _ if times[name] == 1 => name.to_owned(),
        Some(member) => format!("{name}@{member}"),
        None => format!("{name}@{address:#x}"),
    };
    if let Some(core) = core.filter(|_| found.len() <= RANKED_MAX) {
        let options = Options { effort: Effort::Bounds, ..options.clone() };
        let ranked = ranking(&found, core, &options);
        let row = |(program, it): &(&Program, _)| {
            let it: &audit::audit::Summary = it;
            json!({
                "name": called(program, &it.name, it.address),
                "shown": shown(&it.name),
                "cycles": it.cycles.total_cycles,
                "waiting": it.cycles.stall_cycles,
                "bound": it.cycles.lower_bound.total,
            })
        };
        return Ok(ranked.rows.iter().map(row).collect());
    }
    let row = |(program, symbol): &(&Program, &audit::program::Symbol)| {
        let name = called(program, &symbol.name, symbol.address);
        json!({"name": name, "shown": shown(&symbol.name)})
    };
    Ok(found.iter().take(LISTED_MAX).map(row).collect())
}

/// A source file of this name, else the only one whose name has the same last part.
fn source(asked: &FileAsked, wanted: &str) -> Option<String> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if asked.name.is_none() && last(wanted) == EXAMPLE_SOURCE.0 {
        return Some(EXAMPLE_SOURCE.1.to_owned());
    }
    let mut alike = asked.sources.iter().filter(|(name, _)| last(name) == last(wanted));
    let first = alike.next()?;
    let exact = asked.sources.get(wanted);
    exact.or_else(|| alike.next().is_none().then_some(first.1)).cloned()
}
