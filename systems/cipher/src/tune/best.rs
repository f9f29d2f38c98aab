//! The best of all that cipher makes of a program, beside the best C that it made before it had a
//! back end, and beside what the model chooses alone; each pair measured in turn, apart from the
//! search.

use measure::pairs::Summary;
use measure::tool::ToolError;

use super::{Ask, Journal, Orders, Tuned, by_model, in_turn, program, tune};
use crate::options::{Emit, Recipe};
use crate::speed::{Bound, Processor, Sampling};
use crate::unit::Subject;

#[derive(Debug, Clone)]
pub struct Best {
    /// The search among all.
    pub tuned: Tuned,
    /// The best C of one batch in the text's order or the paper schedulers'.
    pub before: Recipe,
    /// The fastest of all: `before`, if the search among all had no time to find it.
    pub way: Recipe,
    /// What the model chooses.
    pub by_model: Recipe,
    /// `before` by the best; `None` if they are one.
    pub against_before: Option<Summary>,
    /// Its cycles a byte, of time-stamps.
    pub cycles_per_byte: f64,
    /// The best by what the model chooses: at most 1, but for noise.
    pub model_against_best: Option<Summary>,
    /// What the processor could reach at best with the instructions of the best.
    pub bound: Bound,
}

/// Searches twice, among all and among what there was before, each for as long as `ask` says;
/// `None` if nothing compiles.
///
/// Errors: if the default cannot be compiled or a program does not run.
pub fn best(
    subject: &Subject,
    ask: &Ask,
    sampling: Sampling,
    processor: &Processor,
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Option<Best>, ToolError> {
    let mut journal = Journal::new();
    let mut search = |name: &str, ask: &Ask| {
        tune(subject, ask, &mut journal, &mut |_| (), &|step| tick(&format!("{name}, {step}")))
    };
    let before = search(
        "the C of before",
        &Ask { orders: Orders::Paper, emits: vec![Emit::C], ..ask.clone() },
    )?;
    let all = search("all", &Ask { orders: Orders::All, ..ask.clone() })?;
    let (Some(before), Some(tuned)) = (before, all) else { return Ok(None) };
    let (before, mut way) = (before.tried[0].way.clone(), tuned.tried[0].way.clone());
    let Ok((by_model, _)) = by_model(subject, ask, tick) else { return Ok(None) };
    tick("measuring the best in turn with that of before, and with the model's choice");
    let Some(pair) = in_turn(subject, [&before, &way], sampling)? else { return Ok(None) };
    let (mut cycles_per_byte, mut against_before) = (pair.b_median, Some(pair));
    if let Some(it) = against_before.take_if(|against| against.ratio_high < 1.0) {
        (way, cycles_per_byte) = (before.clone(), it.a_median);
    }
    let model_against_best = in_turn(subject, [&way, &by_model], sampling)?;
    let Some((program, bytes)) = program(subject, &way)? else { return Ok(None) };
    let bound = processor.bound(&program, ask.arch, bytes);
    Ok(Some(Best {
        tuned,
        before,
        way,
        by_model,
        against_before,
        cycles_per_byte,
        model_against_best,
        bound,
    }))
}
