//! Our assembly beside the best that the C compilers make of the same program, measured in turn.

use std::path::PathBuf;

use measure::pairs::Summary;
use measure::tool::ToolError;
use serde::Serialize;

use crate::asm::{Count, Effort};
use crate::counts::{self, StackCount};
use crate::emit_c::Arch;
use crate::gain::Sampling;
use crate::native::{self, Cc};
use crate::pipeline::{Interleave, Schedule, Slicing, Unroll};
use crate::recipe::{Back, Recipe};
use crate::speed::{calls_for, launches_in_turn};
use crate::unit::Subject;

/// What is compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Name of the primitive.
    pub primitive: String,
    /// How it is sliced.
    pub slicing: Slicing,
    /// The target.
    pub arch: Arch,
}

/// What came out.
#[derive(Debug, Clone, Serialize)]
pub struct Beside {
    /// The best C: compiler, loops, batches.
    pub c: String,
    /// The best assembly: loops, batches.
    pub asm: String,
    /// Cycles a byte of C, of assembly, and their ratio: above 1 assembly is faster.
    pub summary: Pair,
    /// Steps of the assembly, and what registers cost beside them.
    pub n_steps: usize,
    /// Loads, stores, operands in memory, moves.
    pub count: [u32; 4],
}

/// Medians and the interval of the ratio.
#[derive(Debug, Clone, Serialize)]
pub struct Pair {
    /// Time-stamp cycles a byte of the C.
    pub c: f64,
    /// Of the assembly.
    pub asm: f64,
    /// C by assembly.
    pub ratio: f64,
    /// 95 % interval.
    pub interval: [f64; 2],
    /// Pairs.
    pub n: usize,
}

/// What compilers and our back end make of a cell, rolled, counted in the machine code and not run.
#[derive(Debug, Clone, Serialize)]
pub struct Counted {
    /// By gcc.
    pub gcc: Option<StackCount>,
    /// By clang.
    pub clang: Option<StackCount>,
    /// By our back end.
    pub asm: StackCount,
}

/// Counts a cell; `None` if there is no assembly for it.
///
/// # Errors
/// A compiler that fails.
pub fn count(cell: &Cell, effort: Effort) -> Result<Option<Counted>, ToolError> {
    let Ok(subject) = Subject::named(&cell.primitive) else { return Ok(None) };
    let of = |cc: Cc, back: Back| -> Result<Option<StackCount>, ToolError> {
        let mut recipe = Recipe::new(cell.slicing, cell.arch, cc, Unroll::No, "-O3");
        recipe.options.schedule = Schedule::Auto;
        recipe.back = back;
        let Ok(made) = recipe.make(&subject) else { return Ok(None) };
        if made.refused.is_some() || cc.version().is_err() || (back == Back::C && made.n_equations() > EQUATIONS_MAX) {
            return Ok(None);
        }
        counts::stack_operands(&recipe.build(&made)?).map(Some)
    };
    let Some(asm) = of(Cc::Gcc, Back::Asm(effort))? else { return Ok(None) };
    Ok(Some(Counted { gcc: of(Cc::Gcc, Back::C)?, clang: of(Cc::Clang, Back::C)?, asm }))
}

/// Equations above which the C compilers would need minutes at -O3.
const EQUATIONS_MAX: usize = 12_000;

struct Candidate {
    name: String,
    program: PathBuf,
    bytes: f64,
    calls: u32,
    n_steps: usize,
    count: [u32; 4],
}

/// Every way to compile a cell with one back end.
fn candidates(subject: &Subject, cell: &Cell, back: Back) -> Result<Vec<Candidate>, ToolError> {
    let mut made = Vec::new();
    let compilers = if back == Back::C { &Cc::ALL[..] } else { &Cc::ALL[..1] };
    for cc in compilers.iter().filter(|cc| cc.version().is_ok()) {
        for unroll in [Unroll::No, Unroll::Auto, Unroll::Yes] {
            for batches in 1..=if cell.slicing == Slicing::Bit { 1 } else { 3 } {
                let mut recipe = Recipe::new(cell.slicing, cell.arch, *cc, unroll, "-O3");
                recipe.options.schedule = Schedule::Auto;
                recipe.options.interleave = Interleave::Times(batches);
                recipe.back = back;
                let Ok(it) = recipe.make(subject) else { continue };
                let is_large = back == Back::C && it.n_equations() > EQUATIONS_MAX;
                if is_large || it.refused.is_some() {
                    continue;
                }
                let program = recipe.build(&it)?;
                let compiler = if back == Back::C { cc.name() } else { "asm" };
                let unroll = format!("{unroll:?}").to_lowercase();
                let name = format!("{compiler}, unroll {unroll}, {batches} at once");
                let sum = |of: fn(&Count) -> u32| it.blocks.iter().map(|block| of(&block.1)).sum();
                let count = [sum(|c| c.loads), sum(|c| c.stores), sum(|c| c.folded), sum(|c| c.copies)];
                let n_steps = it.blocks.iter().map(|block| block.0).sum();
                let calls = calls_for(&program)?;
                made.push(Candidate { name, program, bytes: it.bytes_per_call(cell.arch) as f64, calls, n_steps, count });
            }
        }
    }
    Ok(made)
}

/// Cycles a byte of one launch.
fn launch(it: &Candidate) -> Result<f64, ToolError> {
    Ok(native::bench(&it.program, 64, it.calls)? / it.bytes)
}

/// The fastest of three launches each.
fn best(candidates: Vec<Candidate>) -> Result<Option<Candidate>, ToolError> {
    let mut best: Option<(f64, Candidate)> = None;
    for it in candidates {
        let mut least = f64::MAX;
        for _ in 0..3 {
            least = least.min(launch(&it)?);
        }
        if best.as_ref().is_none_or(|other| least < other.0) {
            best = Some((least, it));
        }
    }
    Ok(best.map(|it| it.1))
}

/// Measures a cell; `None` if one of the back ends has nothing for it.
pub fn measure(cell: &Cell, effort: Effort, sampling: Sampling) -> Result<Option<Beside>, ToolError> {
    let Ok(subject) = Subject::named(&cell.primitive) else { return Ok(None) };
    let c = best(candidates(&subject, cell, Back::C)?)?;
    let asm = best(candidates(&subject, cell, Back::Asm(effort))?)?;
    let (Some(c), Some(asm)) = (c, asm) else { return Ok(None) };
    let Summary { a_median, b_median, ratio, ratio_low, ratio_high, n, .. } =
        launches_in_turn(sampling, 1.0, || Ok((launch(&c)?, launch(&asm)?)))?;
    let summary = Pair { c: a_median, asm: b_median, ratio, interval: [ratio_low, ratio_high], n };
    Ok(Some(Beside { c: c.name, asm: asm.name, summary, n_steps: asm.n_steps, count: asm.count }))
}
