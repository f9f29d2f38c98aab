//! One run on QEMU, from recipe to counts and output.

use machine::in_order::Core;
use measure::tool::ToolError;

use crate::code::Code;
use crate::counts::{Counts, counts};
use crate::image::{self, Recipe};
use crate::names::Variant;
use crate::qemu::{self, Blob};

/// What a run did.
#[derive(Debug, Clone)]
pub struct Done {
    pub counts: Counts,
    /// What the program printed, without the runtime's own lines.
    pub output: String,
}

/// Why a run gave no result.
#[derive(Debug)]
pub enum Fault {
    /// A tool is missing or failed.
    Tool(ToolError),
    /// The program cannot go on: the runtime's lines about it.
    Program(Vec<String>),
}

impl From<ToolError> for Fault {
    fn from(error: ToolError) -> Fault {
        Fault::Tool(error)
    }
}

/// The two machines that each run is charged for.
pub const MACHINES: [&str; 2] = ["erc32", "leon3"];

/// The cores of [`MACHINES`].
pub fn cores() -> [Core; 2] {
    MACHINES.map(|name| Core::bundled(name).expect("both are bundled"))
}

/// Builds the image and its code.
pub fn image(recipe: &Recipe) -> Result<(std::path::PathBuf, Code), ToolError> {
    let path = image::build(recipe)?;
    let failed = |said: String| ToolError { ran: format!("read {}", path.display()), said };
    let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
    let code = Code::parse(&bytes).map_err(|error| failed(error.0))?;
    Ok((path, code))
}

/// Runs a recipe under the plugin.
pub fn run(
    recipe: &Recipe,
    windows: u32,
    blobs: &[Blob],
    threads: &[String],
) -> Result<Done, Fault> {
    let (path, code) = image(recipe)?;
    let cores = cores();
    let machines = [&cores[0], &cores[1]];
    let raw = qemu::run(&path, &code, windows, blobs, Some(machines), false)?;
    let output = finished(&raw.console)?;
    Ok(Done { counts: counts(&code, &raw, threads, machines), output })
}

/// Runs a recipe without counting anything; what the program printed.
pub fn run_plain(recipe: &Recipe, windows: u32, blobs: &[Blob]) -> Result<String, Fault> {
    let (path, code) = image(recipe)?;
    let raw = qemu::run(
        &path,
        &code,
        windows,
        blobs,
        None,
        matches!(recipe.variant, Variant::Preempt | Variant::Float),
    )?;
    finished(&raw.console)
}

/// The program's lines if it came to its end; what the runtime says, if not.
pub fn finished(console: &str) -> Result<String, Fault> {
    let (ours, theirs): (Vec<&str>, Vec<&str>) =
        console.lines().partition(|line| line.starts_with("regwin: "));
    let said: Vec<String> =
        ours.iter().map(|line| line.trim_start_matches("regwin: ").to_owned()).collect();
    if said != ["done"] {
        return Err(Fault::Program(said));
    }
    Ok(theirs.iter().map(|line| format!("{line}\n")).collect())
}
