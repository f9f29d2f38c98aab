//! Our assembly beside the best that the C compilers make of the same program, measured in turn.

use std::path::{Path, PathBuf};

use measure::pairs::Summary;
use measure::tool::ToolError;
use serde::Serialize;

use cipher::asm::{Count, Effort};
use cipher::counts::{self, Least, OperandCount, StackCount};
use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Emit, Interleave, Recipe, Slicing, Unroll};
use cipher::speed::Sampling;
use cipher::speed::{Bound, Processor, calls_for, launches_in_turn};
use cipher::unit::Subject;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Name of the primitive.
    pub primitive: String,
    /// How it is sliced.
    pub slicing: Slicing,
    pub arch: Arch,
}

#[derive(Debug, Clone, Serialize)]
pub struct Beside {
    /// The best C: compiler, loops, batches.
    pub c: String,
    /// The best assembly: loops, batches.
    pub asm: String,
    /// Cycles a byte of C, of assembly, and their ratio: above 1 assembly is faster.
    pub summary: Pair,
    /// What the processor could reach at best with the instructions of the C.
    pub c_bound: Bound,
    /// With those of the assembly.
    pub asm_bound: Bound,
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
    pub asm: f64,
    pub ratio: f64,
    pub interval: [f64; 2],
    pub n: usize,
}

/// What compilers and our back end make of a cell.
#[derive(Debug, Clone, Serialize)]
pub struct Counted {
    pub gcc: Option<Operations>,
    pub clang: Option<Operations>,
    /// By our back end.
    pub asm: Operations,
    /// What none of them can go below; for vectors only.
    pub least: Option<Least>,
}

/// Instructions of the function on blocks, and those of them that have an operand in memory.
#[derive(Debug, Clone, Serialize)]
pub struct Operations {
    /// In the machine code, each once.
    #[serde(flatten)]
    pub standing: StackCount,
    /// In one call, each as often as it ran; `None` where no call can be followed.
    pub executed: Option<ExecutedCount>,
    /// Why no call can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executed_missing: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct ExecutedCount {
    pub instructions: u64,
    /// Those with an operand in memory.
    #[serde(flatten)]
    pub operands: OperandCount,
}

impl Operations {
    /// Of a program of `native::build`.
    ///
    /// Errors: a file that is no program. That it cannot be stepped here is none: then it is only
    /// counted as it stands.
    pub fn of(program: &Path, arch: Arch) -> Result<Operations, ToolError> {
        let standing = counts::stack_operands(program)?;
        let executed = counts::executed(program, arch).map(|executed| ExecutedCount {
            instructions: executed.n_instructions(),
            operands: executed.operands,
        });
        let executed_missing = executed.as_ref().err().map(|err| err.said.clone());
        Ok(Operations { standing, executed: executed.ok(), executed_missing })
    }
}

/// Counts a cell with these loops written out; `None` if there is no assembly for it.
///
/// Errors: a compiler that fails.
pub fn count(cell: &Cell, unroll: Unroll, effort: Effort) -> Result<Option<Counted>, ToolError> {
    let Ok(subject) = Subject::named(&cell.primitive) else { return Ok(None) };
    let of = |cc: Cc, emit: Emit| -> Result<Option<(Operations, Option<Least>)>, ToolError> {
        let recipe = Recipe::new(cell.slicing, cell.arch, cc, unroll, "-O3");
        let recipe = Recipe { emit, budget: Some(effort.millions), ..recipe };
        let Ok(made) = recipe.make(&subject) else { return Ok(None) };
        if made.refused.is_some()
            || cc.version().is_err()
            || (emit == Emit::C && made.n_equations() > EQUATIONS_MAX)
        {
            return Ok(None);
        }
        let operations = Operations::of(&recipe.build(&made)?, cell.arch)?;
        Ok(Some((operations, counts::least(&made.compiled.program, cell.arch))))
    };
    let Some((asm, least)) = of(Cc::Gcc, Emit::Asm)? else { return Ok(None) };
    let [gcc, clang] =
        [of(Cc::Gcc, Emit::C)?, of(Cc::Clang, Emit::C)?].map(|gate| gate.map(|pair| pair.0));
    Ok(Some(Counted { gcc, clang, asm, least }))
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
fn candidates(
    subject: &Subject,
    cell: &Cell,
    (emit, effort): (Emit, Effort),
) -> Result<Vec<Candidate>, ToolError> {
    let mut made = Vec::new();
    let compilers = if emit == Emit::C { &Cc::ALL[..] } else { &Cc::ALL[..1] };
    for cc in compilers.iter().filter(|cc| cc.version().is_ok()) {
        for unroll in [Unroll::No, Unroll::Auto, Unroll::Yes] {
            for batches in 1..=if cell.slicing == Slicing::Bit { 1 } else { 3 } {
                let mut recipe = Recipe::new(cell.slicing, cell.arch, *cc, unroll, "-O3");
                (recipe.emit, recipe.budget) = (emit, Some(effort.millions));
                recipe.interleave = Interleave::Times(batches);
                let Ok(it) = recipe.make(subject) else { continue };
                let is_large = emit == Emit::C && it.n_equations() > EQUATIONS_MAX;
                if is_large || it.refused.is_some() {
                    continue;
                }
                let program = recipe.build(&it)?;
                let compiler = if emit == Emit::C { cc.name() } else { "asm" };
                let unroll = format!("{unroll:?}").to_lowercase();
                let name = format!("{compiler}, unroll {unroll}, {batches} at once");
                let sum = |of: fn(&Count) -> u32| it.blocks.iter().map(|block| of(&block.1)).sum();
                let count =
                    [sum(|c| c.loads), sum(|c| c.stores), sum(|c| c.folded), sum(|c| c.copies)];
                let n_steps = it.blocks.iter().map(|block| block.0).sum();
                let calls = calls_for(&program)?;
                made.push(Candidate {
                    name,
                    program,
                    bytes: it.bytes_per_call(cell.arch) as f64,
                    calls,
                    n_steps,
                    count,
                });
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
    Ok(best.map(|best| best.1))
}

/// Measures a cell; `None` if one of the back ends has nothing for it.
pub fn measure(
    cell: &Cell,
    effort: Effort,
    sampling: Sampling,
    processor: &Processor,
) -> Result<Option<Beside>, ToolError> {
    let Ok(subject) = Subject::named(&cell.primitive) else { return Ok(None) };
    let c = best(candidates(&subject, cell, (Emit::C, effort))?)?;
    let asm = best(candidates(&subject, cell, (Emit::Asm, effort))?)?;
    let (Some(c), Some(asm)) = (c, asm) else { return Ok(None) };
    let Summary { a_median, b_median, ratio, ratio_low, ratio_high, n, .. } =
        launches_in_turn(sampling, 1.0, || Ok((launch(&c)?, launch(&asm)?)))?;
    let summary = Pair { c: a_median, asm: b_median, ratio, interval: [ratio_low, ratio_high], n };
    let [c_bound, asm_bound] =
        [&c, &asm].map(|it| processor.bound(&it.program, cell.arch, it.bytes));
    Ok(Some(Beside {
        c: c.name,
        asm: asm.name,
        summary,
        c_bound,
        asm_bound,
        n_steps: asm.n_steps,
        count: asm.count,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(arch: Arch) -> bool {
        if let Some(feature) = native::missing_feature(arch) {
            testkit::skipped(&format!("operands of back ends: the processor has no {feature}"));
            return false;
        }
        testkit::has("operands of back ends", &["gcc"])
    }

    fn counted(primitive: &str, arch: Arch) -> Counted {
        let cell = Cell { primitive: primitive.to_owned(), slicing: Slicing::Bit, arch };
        count(&cell, Unroll::Auto, Effort { millions: 0 })
            .unwrap_or_else(|error| panic!("{error}"))
            .expect("there is assembly for it")
    }

    #[test]
    fn no_build_executes_fewer_operands_in_the_frame_than_is_proved() {
        for (primitive, arch) in [
            ("rectangle-80", Arch::Avx2),
            ("present-80", Arch::Avx2),
            ("rectangle-80", Arch::Avx512),
        ] {
            if !has(arch) {
                continue;
            }
            let it = counted(primitive, arch);
            let least = it.least.expect("for vectors it is proved");
            // 64 words go from round to round, of which 16 or 32 have registers.
            assert!(least.words == 64 && least.frame > 1000, "{primitive}: {least:?}");
            for operations in [it.gcc, it.clang, Some(it.asm)].into_iter().flatten() {
                let executed = operations
                    .executed
                    .unwrap_or_else(|| panic!("{:?}", operations.executed_missing));
                assert!(
                    executed.operands.frame >= least.frame,
                    "{primitive} {}: {executed:?}, {least:?}",
                    arch.name()
                );
                assert!(executed.operands.frame + executed.operands.arrays < executed.instructions);
            }
        }
    }

    #[test]
    fn what_cannot_be_stepped_is_counted_as_it_stands_and_says_why() {
        if !has(Arch::X86_64) {
            return;
        }
        let subject =
            Subject::named("rectangle-80").unwrap_or_else(|errors| panic!("{}", errors[0]));
        let recipe = Recipe::new(Slicing::Bit, Arch::X86_64, Cc::Gcc, Unroll::No, "-O1");
        let made = recipe.make(&subject).expect("it compiles");
        let program = recipe.build(&made).unwrap_or_else(|error| panic!("{error}"));
        let here = Operations::of(&program, Arch::X86_64).unwrap_or_else(|error| panic!("{error}"));
        assert!(here.executed.is_some() && here.executed_missing.is_none(), "{here:?}");
        // A target that only an emulator runs cannot be stepped either.
        let elsewhere =
            Operations::of(&program, Arch::Neon).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(elsewhere.standing, here.standing);
        assert!(
            elsewhere.executed.is_none()
                && elsewhere
                    .executed_missing
                    .is_some_and(|executed_missing| executed_missing.contains("emulator"))
        );
    }
}
