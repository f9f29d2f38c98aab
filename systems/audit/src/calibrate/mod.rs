//! A core whose figures nobody published: chains of instructions that its owner times, and the machine
//! file that they fit.
//!
//! ```text
//! add+mul        4 and 4 of them side by side: 1 cycle a pair, so they pair
//! load>alu       one behind the other: 3 cycles, so 2 from the load to what waits for it
//! ```
//!
//! The chains are one C file. The object file that the compiler makes of it here says what ran there:
//! the model times the same instructions, and the file's figures are those under which it takes as
//! long.

mod chains;
mod fit;
mod forms;
mod latencies;
mod results;
mod round;
mod source;
mod text;

use machine::in_order::Core;
use report::Diagnostic;

use crate::decode::Isa;
use crate::program::Program;
use chains::chains;
use fit::Fit;
pub use fit::Residual;
use forms::set;
use round::Round;
pub use source::c_file;

/// A core as the chains say it is.
#[derive(Debug)]
pub struct Calibrated {
    pub core: Core,
    /// Every chain beside the model of that core.
    pub residuals: Vec<Residual>,
    /// The machine file, with its sources.
    pub text: String,
}

/// Each chain of a compiled file with the cycles of a round, by the model of `core`.
///
/// Errors: it is no file that [`c_file`] made.
pub fn modelled(object: &[u8], isa: Isa, core: &Core) -> Result<Vec<(String, f64)>, Diagnostic> {
    let rounds = rounds(object, isa)?;
    Ok(rounds.iter().map(|round| (round.name.clone(), round.cycles(core))).collect())
}

/// Fits a machine file to what the chains printed; `nearest` is the core to start from, `object` what
/// a compiler made of the chains.
///
/// Errors: the results are of another set or not whole, of a counter that is not the core's, or of
/// a core that no figures of such a file explain.
pub fn calibrate(
    name: &str,
    results: &str,
    object: &[u8],
    isa: Isa,
    nearest: &Core,
) -> Result<Calibrated, Diagnostic> {
    let set = set(isa)
        .ok_or_else(|| Diagnostic::new(format!("there are no chains of {}", isa.name())))?;
    let measured = results::read(name, results, isa)?;
    let rounds = rounds(object, isa)?;
    let missing = rounds.iter().find(|round| !measured.contains_key(&round.name));
    if let Some(round) = missing {
        let said = format!("`{name}` has no chain `{}`", round.name);
        let help = "compile the chains for the core that you name with --cpu, and give all that they print";
        return Err(Diagnostic::new(said).with_help(help));
    }
    counter(name, &rounds, &measured)?;
    let fit = Fit::new(&rounds, &measured, nearest);
    let fitted = fit.core(set);
    let residuals = fit.residuals(&fitted);
    explained(name, &residuals)?;
    let (core, text) = text::file(name, &fit, fitted, nearest, &residuals);
    Ok(Calibrated { core, residuals, text })
}

fn rounds(object: &[u8], isa: Isa) -> Result<Vec<Round>, Diagnostic> {
    let set = set(isa)
        .ok_or_else(|| Diagnostic::new(format!("there are no chains of {}", isa.name())))?;
    let program = Program::parse("chains.o", object)?;
    let all = chains(set);
    let found = all.iter().enumerate().map(|(nth, chain)| Round::of(&program, nth, chain));
    Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The counter ticks with the core: additions that wait for one another take a cycle each.
fn counter(name: &str, rounds: &[Round], measured: &results::Measured) -> Result<(), Diagnostic> {
    const CHAIN: &str = "alu>alu.source";
    let Some(round) = rounds.iter().find(|round| round.name == CHAIN) else { return Ok(()) };
    // Two additions a step, of which the second waits for the first.
    let ticks = measured[CHAIN] / round.n_steps as f64;
    if (1.0..=3.0).contains(&ticks) {
        return Ok(());
    }
    let said = format!(
        "the counter of `{name}` does not tick once in a cycle of the core: a step of the chain `{CHAIN}`, two additions, takes {ticks:.2} ticks"
    );
    let help = if ticks < 1.0 {
        "it ticks slower, as CNTVCT_EL0 and `time` do: all chains are short by one factor; define `meanwhile_cycles` by the core's own counter (PMCCNTR_EL0, DWT->CYCCNT, mcycle)"
    } else {
        "it ticks faster than the core, or the caches are off: define `meanwhile_cycles` by the core's own counter, and enable the caches"
    };
    Err(Diagnostic::new(said).with_help(help))
}

/// Chains that no figures explain are those of another kind of core.
fn explained(name: &str, residuals: &[Residual]) -> Result<(), Diagnostic> {
    const SHARE_MAX: f64 = 0.1;
    const N_SHOWN: usize = 5;
    let mut far: Vec<&Residual> = residuals.iter().filter(|residual| !residual.is_near()).collect();
    if far.len() as f64 <= residuals.len() as f64 * SHARE_MAX {
        return Ok(());
    }
    far.sort_by(|one, other| other.distance().total_cmp(&one.distance()));
    let worst = far.iter().take(N_SHOWN).map(|it| {
        format!("`{}` measured {:.2}, fitted {:.2} a step", it.chain, it.measured, it.model)
    });
    let said = format!(
        "`{name}` is of no core that starts instructions in order as these files describe it: {} of {} chains are not explained: {}",
        far.len(),
        residuals.len(),
        worst.collect::<Vec<String>>().join(", ")
    );
    let help = "was it measured with interrupts off, at one clock, on the core that is meant? A core that reorders has no such file";
    Err(Diagnostic::new(said).with_help(help))
}
