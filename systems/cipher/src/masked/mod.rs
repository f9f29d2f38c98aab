//! Masked code: every word is the sum of D + 1 shares, so that an adversary who sees D registers
//! while the code runs learns nothing.
//!
//! Linear operations work on each share alone; a product is Ishai, Sahai and Wagner's gadget, which
//! takes fresh randomness. Where the operands of products depend on each other so that D probes
//! could find D + 1 shares of one word, an operand gets new shares first: a refresh. [`place`]
//! finds where, and [`circuit`] and [`probes`] prove that the program as it is then printed has no
//! such attack at any order, in the register probing model of Belaid, Dagand, Mercadier, Rivain and
//! Wintersdorff, *Tornado* (Eurocrypt 2020).
//!
//! What the model does not see: transitions (a register that held one share of a word and then
//! holds another), glitches, and compilers that put two shares into one register.

pub mod circuit;
pub mod gadgets;
mod linear;
pub mod place;
pub mod probes;
pub mod space;

use report::Diagnostic;

use crate::emit_c::{self, EmitOptions, Unit};
use crate::ir::Op;
use crate::options::{Fixslice, Interleave, Options, Recipe, Schedule, Unroll};
use crate::passes::{copy_propagation, dead_code, fold_constants};
use crate::pipeline::{self, Compiled};
use crate::target::Arch;
use crate::unit::Subject;

pub use circuit::Site;
pub use place::Proof;

/// The orders that `--masked` takes.
pub const ORDERS: std::ops::RangeInclusive<u32> = 1..=7;

/// A masked program, proved.
#[derive(Debug)]
pub struct Masked {
    /// The program, with its refreshes.
    pub compiled: Compiled,
    /// What the C text offers.
    pub unit: Unit,
    /// Shares of each word: the order and one.
    pub n_shares: u32,
    pub proof: Proof,
    options: EmitOptions,
}

/// Compiles a subject by a recipe for general registers to masked code of this order.
///
/// Errors: what is wrong with the program, or what of it cannot be masked.
pub fn make(subject: &Subject, recipe: &Recipe, order: u32) -> Result<Masked, Vec<Diagnostic>> {
    assert!(ORDERS.contains(&order), "the command line takes orders from 1 to 7");
    let (mut compiled, unit) = unproved(subject, recipe)?;
    let proof = place::place(&mut compiled.program, &unit)?;
    let options = EmitOptions {
        arch: Arch::X86_64,
        with_lines: false,
        with_harness: false,
        with_sliced: false,
        with_both: false,
        is_masked: true,
    };
    Ok(Masked { compiled, unit, n_shares: order + 1, proof, options })
}

/// The same before any refresh.
///
/// Errors: what is wrong with the program.
pub fn unproved(subject: &Subject, recipe: &Recipe) -> Result<(Compiled, Unit), Vec<Diagnostic>> {
    let asked = Recipe {
        fixslice: Fixslice::No,
        interleave: Interleave::Times(1),
        schedule: Schedule::None,
        unroll: if recipe.unroll == Unroll::Auto { Unroll::No } else { recipe.unroll },
        ..recipe.clone()
    };
    let options = Options { target: recipe.target(), ..Options::generic(asked) };
    if subject.primitive.is_none() {
        let message = format!("`{}` has no byte interface, which masked code needs", subject.entry);
        let help = "a layout file beside the program says where its bytes go";
        return Err(vec![refusal(message, Some(help))]);
    }
    let mut compiled = pipeline::compile(&subject.ast, &subject.entries(), &options)?;
    // A C compiler cannot fold what stands in shares, such as round constants of a shift register.
    for node in &mut compiled.program.nodes {
        copy_propagation::copy_propagation(node);
        while fold_constants::fold_constants(node) > 0 {
            copy_propagation::copy_propagation(node);
        }
        dead_code::dead_code(node);
    }
    linear::linear(&mut compiled.program);
    let unit = subject.unit(&compiled, recipe.word());
    let name = unit.name.as_ref().map(|name| format!("{}{name}", recipe.prefix));
    Ok((compiled, Unit { prefix: recipe.prefix.clone(), name, ..unit }))
}

impl Masked {
    /// The C text, with or without `#line` directives.
    pub fn source(&self, with_lines: bool) -> String {
        let options = EmitOptions { with_lines, ..self.options };
        emit_c::masked_source(&self.compiled, &self.unit, options, self.n_shares)
    }

    /// The header that goes with the C text.
    pub fn header(&self) -> String {
        emit_c::masked_header(&self.compiled, &self.unit, self.n_shares)
    }

    /// Random words that a batch of blocks takes, without the expansion of keys.
    pub fn words_per_batch(&self) -> u64 {
        let n = u64::from(self.n_shares);
        (self.proof.entry.products + self.proof.entry.refreshes) * (n * (n - 1) / 2)
    }
}

/// What of a program cannot be masked.
fn unmaskable(op: &Op) -> Vec<Diagnostic> {
    let message = format!("{} of words in one register cannot be masked", crate::run::symbol(op));
    vec![refusal(message, Some("bitsliced, it is made of products of bits: --slicing b"))]
}

fn refusal(message: String, help: Option<&str>) -> Diagnostic {
    Diagnostic { message, spans: vec![], help: help.map(str::to_owned) }
}
