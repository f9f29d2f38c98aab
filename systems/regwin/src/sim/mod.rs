//! The simulator: the program's own instructions, on windows that are only positions.
//!
//! `cpu` executes the threads, streams and ready queue of an image instruction by instruction, with
//! as many windows as a thread wants. Trap handlers and switches are not executed: `schemes` says
//! what those of each scheme do to the windows, `cost` what the blocks that they run through cost,
//! and `windows` counts.

pub mod cost;
mod cpu;
pub mod event;
mod floats;
pub mod schemes;
mod spans;
pub mod trace;
mod windows;

use machine::in_order::Core;

use crate::code::Code;
use crate::counts::Counts;
use crate::image::Recipe;
use crate::names::{Allocate, Scheme};
use crate::qemu::Blob;
use crate::work::{self, Done, Fault};

pub use schemes::Costs;
pub use windows::Fragments;

/// What the traps and switches of an image cost.
pub fn costs(recipe: &Recipe, code: &Code, machines: [&Core; 2]) -> Box<dyn Costs> {
    schemes::costs(recipe.scheme, recipe.allocate, cost::Blocks::new(code, machines))
}

/// The same of any image of a scheme, with simple allocation.
pub fn costs_of(scheme: Scheme, code: &Code, machines: [&Core; 2]) -> Box<dyn Costs> {
    schemes::costs(scheme, Allocate::Simple, cost::Blocks::new(code, machines))
}

/// Runs a recipe on the simulator; the same result as [`work::run`].
pub fn run(
    recipe: &Recipe,
    n_windows: u32,
    blobs: &[Blob],
    threads: &[String],
) -> Result<Done, Fault> {
    let (path, code) = work::image(recipe)?;
    let elf = std::fs::read(&path).map_err(|error| measure::tool::ToolError {
        ran: format!("read {}", path.display()),
        said: error.to_string(),
    })?;
    let cores = work::cores();
    simulate(recipe, &code, &elf, n_windows, blobs, threads, [&cores[0], &cores[1]])
}

/// Runs an image that is already loaded.
pub fn simulate(
    recipe: &Recipe,
    code: &Code,
    elf: &[u8],
    n_windows: u32,
    blobs: &[Blob],
    threads: &[String],
    machines: [&Core; 2],
) -> Result<Done, Fault> {
    let mut cpu =
        cpu::Cpu::new(code, elf, blobs, machines, costs(recipe, code, machines).rules(n_windows));
    let console = cpu.run().map_err(Fault::Program)?;
    let output = work::finished(&console)?;
    let mut counts: Counts = cpu.counts();
    counts.switches = threads
        .iter()
        .zip(&cpu.switches_to(threads.len()))
        .map(|(name, n)| (name.clone(), *n))
        .collect();
    Ok(Done { counts, output })
}
