//! Door: `meanwhile-lab report`: every system on its bundled input, as tables and as two HTML pages:
//! one to mail, and one with everything.

use std::fs;
use std::path::{Path, PathBuf};

use crate::evidence::Evidence;
use clap::builder::PossibleValuesParser;
use measure::machine::{self, Machine};
use measure::noise;
use report::page::{Block, Page, Section};
use serde_json::json;

use crate::store;
use crate::system_report::SystemReport;
use terminal::output::{Failure, Output, write_file};

/// Arguments of `meanwhile-lab report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Measure for seconds instead of minutes.
    #[arg(long)]
    pub quick: bool,
    /// Only these systems, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = system())]
    pub only: Vec<String>,
    /// Folder that receives index.html.
    #[arg(long, value_name = "DIR", default_value = "report")]
    pub out: PathBuf,
}

/// In the order of the page.
const SYSTEMS: [&str; 5] = ["audit", "cipher", "regwin", "overlap", "cosched"];

/// A system by name.
fn system() -> PossibleValuesParser {
    PossibleValuesParser::new(SYSTEMS)
}

/// The pages in the folder that the user names: what is mailed, and everything.
const PAGE: &str = "index.html";
const EVERYTHING: &str = "all.html";

/// How who was mailed the page gets the program that it is about.
const INSTALL: &str = "To try it on your own: Linux, and a clone of the repository; \
    `cargo install --path cli` with Rust 1.95 or newer, or `make deb` and `make dist` for a package, \
    a static program and a wheel.";

/// Folder of the results of full benchmarks.
const EXPERIMENTS: &str = "experiments";

/// Said when there are none: in a folder that is no checkout.
const NO_EXPERIMENTS: &str = "there is no folder `experiments` with results here, so the report has no sections of committed experiments; run it in a checkout";

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    for page in [PAGE, EVERYTHING] {
        store::check(Some(&args.out.join(page)))?;
    }
    // Before anything is measured: an unreadable file is worth no eight minutes.
    let is_wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|it| it == name);
    let experiments = experiments(Path::new(EXPERIMENTS), &is_wanted)?;
    if experiments.is_empty() {
        out.warning(NO_EXPERIMENTS);
    }
    let machine = Machine::here();
    let date = machine::today();
    let busy = machine::load().and_then(|load| noise::busy(load, machine.n_cores));
    let mut intro = intro(&machine, &date);
    if args.quick {
        intro.push_str(" Short samples.");
    }
    let (mut warnings, mut said_busy) = (Vec::new(), None);
    if let Some(busy) = busy {
        out.warning(&busy.to_string());
        warnings.push(Block::Text(format!("Warning: {busy}.")));
        said_busy = Some(format!(" Warning: {busy}."));
    }
    let systems = run_systems(args.quick, &is_wanted, out)?;

    let (mut views, mut sections, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for system in systems {
        views.push(system.view);
        out.line(&system.summary.terminal(None));
        let name = system.section.title.split(':').next().map(str::to_owned);
        for mut row in system.rows {
            row["system"] = json!(name);
            rows.push(row);
        }
        let mut section = system.section;
        section.blocks.insert(0, Block::Table(system.summary));
        section.blocks.splice(0..0, warnings.iter().cloned());
        let name = name.unwrap_or_default();
        let own = experiments.iter().filter(|experiment| system_of(&experiment.0) == name);
        section.parts.extend(own.map(|own| own.1.clone()));
        sections.push(section);
    }
    if experiments.is_empty() {
        let blocks = vec![Block::Text(format!("Warning: {NO_EXPERIMENTS}."))];
        sections.push(Section {
            title: "Experiments: none".to_owned(),
            blocks,
            ..Section::default()
        });
    }
    let others =
        experiments.into_iter().filter(|experiment| !SYSTEMS.contains(&system_of(&experiment.0)));
    sections.extend(others.map(|other| other.1));
    let beside = |file: &str, what: &str| Some((file.to_owned(), what.to_owned()));
    let everything = Page {
        title: "meanwhile: all results".to_owned(),
        intro: format!(
            "{intro} Committed results are of full samples, on the machine that they name."
        ),
        other: beside(PAGE, "The figures in short"),
        views: Vec::new(),
        sections,
    };
    store(&args.out, EVERYTHING, &everything.html())?;
    let page = Page {
        title: "meanwhile: what it gains, and where it loses".to_owned(),
        intro: format!(
            "{intro} Figures that name a day are of full runs, on the machine that they name.{} {INSTALL}",
            said_busy.unwrap_or_default()
        ),
        other: beside(EVERYTHING, "All tables, charts and committed results"),
        views,
        sections: Vec::new(),
    };
    let path = store(&args.out, PAGE, &page.html())?;
    out.line(&format!("page: {}", path.display()));
    out.object(&json!({
        "ok": true,
        "page": path.display().to_string(),
        "machine": {"cpu": machine.cpu, "cores": machine.n_cores, "virtualised": machine.virtualised},
        "date": date,
        "rows": rows,
    }));
    Ok(())
}

/// The systems that are wanted, in the order of the page.
fn run_systems(
    quick: bool,
    is_wanted: &dyn Fn(&str) -> bool,
    out: &mut Output,
) -> Result<Vec<SystemReport>, Failure> {
    let mut done = Vec::new();
    for name in SYSTEMS.into_iter().filter(|system| is_wanted(system)) {
        done.push(match name {
            "audit" => crate::audit::report(out)?,
            "cipher" => crate::cipher::report(quick, out)?,
            "regwin" => crate::regwin::report(quick, out)?,
            "overlap" => crate::overlap::report(quick, out)?,
            _ => crate::cosched::report(out)?,
        });
    }
    Ok(done)
}

fn intro(machine: &Machine, date: &str) -> String {
    let world = if machine.virtualised { ", a virtual machine" } else { "" };
    format!(
        "Measured on {date}: {}, {} cores{world}, {}, {}.",
        machine.cpu, machine.n_cores, machine.distribution, machine.kernel
    )
}

/// A folder of results is named after its system, and what of it.
fn system_of(folder: &str) -> &str {
    folder.split('-').next().unwrap_or_default()
}

/// A section for each folder of committed results that has any, with its name.
fn experiments(
    folder: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, Section)>, Failure> {
    let mut sections = Vec::new();
    for (name, path) in entries(folder)?.into_iter().filter(|entry| is_wanted(system_of(&entry.0)))
    {
        let mut blocks = Vec::new();
        for (file_name, file) in entries(&path)? {
            let Some(title) = file_name.strip_suffix(".json") else { continue };
            let evidence = Evidence::load(&file).map_err(|error| {
                Failure::environment(format!("read {}", file.display()), error.said)
            })?;
            let own = crate::cipher::committed(&name, title, &evidence);
            let own = own.or_else(|| crate::audit::committed(&name, title, &evidence));
            let own = own.or_else(|| crate::overlap::committed(&name, title, &evidence));
            let own = own.or_else(|| crate::regwin::committed(&name, title, &evidence));
            match own.or_else(|| crate::cosched::committed(&name, title, &evidence)) {
                Some(own) => blocks.extend(own),
                None => blocks.push(Block::Table(evidence.table(title))),
            }
        }
        if !blocks.is_empty() {
            let title = format!("Committed results: {name}");
            sections.push((name, Section { title, blocks, ..Section::default() }));
        }
    }
    Ok(sections)
}

/// Names and paths in `folder`, sorted; none if it is no folder.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed =
        |error: std::io::Error| Failure::environment(format!("list {}", folder.display()), error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
    }
    found.sort();
    Ok(found)
}

fn store(folder: &Path, name: &str, html: &str) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    write_file(&path, html)?;
    Ok(path)
}
