//! An audit in an editor: a line of text above the function and each of its loops, and what a line
//! of the source costs.

use std::path::{Component, Path, PathBuf};

use report::number::count;

use crate::audit::Audit;
use crate::program::function::SourceFrame;
use crate::program::names::shown;
use crate::views::limits;
use crate::views::loops::cycles;
use crate::views::text::{View, finding};

/// What stands above a line of the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lens {
    /// The line, from 1.
    pub line: u32,
    pub text: String,
}

/// The lenses of a function, as far as its lines are in `file`, a whole path; `declared` is the line
/// of its declaration, or the first instruction's is taken.
pub fn lenses(audit: &Audit, file: &Path, declared: Option<u32>) -> Vec<Lens> {
    let frames = &audit.function.frames;
    // The line of the function or loop itself, and not of what is inlined there.
    let own = |idx: usize| frames[idx].last().filter(|frame| is_in(frame, file));
    let first_of =
        |places: &[usize]| places.iter().filter_map(|idx| own(*idx)).map(|frame| frame.line).min();
    let mut lenses = Vec::new();
    if let Some(frame) =
        frames.first().and_then(|frames| frames.last()).filter(|frame| is_in(frame, file))
    {
        lenses.push(Lens { line: declared.unwrap_or(frame.line), text: of_function(audit) });
    }
    for it in audit.timed.iter().flat_map(|timed| &timed.loops) {
        let (all, least) = (cycles(it.cycles), cycles(it.bound.total));
        let text = format!("{all} cycles an iteration, {least} at least [model {}]", audit.cpu);
        lenses.extend(first_of(&it.round.places).map(|line| Lens { line, text }));
    }
    for it in audit.limits.iter().flat_map(|limits| &limits.loops) {
        let text = limits::first(audit, &it.bound) + " an iteration";
        lenses.extend(first_of(&it.of.round.places).map(|line| Lens { line, text }));
    }
    lenses
}

fn of_function(audit: &Audit) -> String {
    if let Some(timed) = &audit.timed {
        let it = &timed.cycles;
        return format!(
            "{}, {} of them waiting; {} at least [model {}]",
            count(it.total_cycles as usize, "cycle"),
            it.stall_cycles,
            it.lower_bound.total,
            audit.cpu
        );
    }
    match &audit.limits {
        Some(limits) => limits::first(audit, &limits.path),
        None => count(audit.function.instructions.len(), "instruction"),
    }
}

/// What line `line` of `file` costs in this function, as Markdown; none if no code comes from it.
pub fn about(audit: &Audit, file: &Path, line: u32, view: &View) -> Option<String> {
    let is_here = |idx: usize| {
        audit.function.frames[idx].iter().any(|frame| frame.line == line && is_in(frame, file))
    };
    let n_all = (0..audit.function.instructions.len()).filter(|idx| is_here(*idx)).count();
    if n_all == 0 {
        return None;
    }
    let hot: Vec<(usize, usize)> =
        audit.trace.places.iter().copied().enumerate().filter(|(_, idx)| is_here(*idx)).collect();
    let waits = |at: usize| audit.timed.as_ref().map_or(0, |timed| timed.timing.stall_cycles[at]);
    let waiting: u32 = hot.iter().map(|(at, _)| waits(*at)).sum();
    let mut text = format!("**`{}`**: ", shown(&audit.function.name));
    text += &match (hot.len(), &audit.timed) {
        (0, _) => format!("{} off the hot path", count(n_all, "instruction")),
        (n, Some(_)) => {
            format!(
                "{} on the hot path, {} waiting",
                count(n, "instruction"),
                count(waiting as usize, "cycle")
            )
        }
        (n, None) => format!("{} on the hot path", count(n, "instruction")),
    };
    text += &format!(" [model {}]\n", audit.cpu);
    if !hot.is_empty() {
        text += "```text\n";
        for (at, idx) in &hot {
            let start = audit.timed.as_ref().map(|timed| timed.timing.starts[*at].to_string());
            let wait = if waits(*at) > 0 { waits(*at).to_string() } else { String::new() };
            let start = start.unwrap_or_default();
            text += format!("{start:>5} {wait:>4} {}", audit.text(*idx)).trim_end();
            text.push('\n');
        }
        text += "```\n";
    }
    let findings: Vec<String> = audit
        .findings
        .iter()
        .filter(|found| is_here(found.idx))
        .take(view.limit.unwrap_or(usize::MAX))
        .map(|found| finding(audit, found, view))
        .collect();
    if !findings.is_empty() {
        text += &format!("```text\n{}```\n", findings.join("\n"));
    }
    Some(text)
}

/// Debug information names files wholly, or as the compiler was given them.
pub fn is_in(frame: &SourceFrame, file: &Path) -> bool {
    let is_step = |it: &Component| matches!(it, Component::CurDir | Component::ParentDir);
    let named: PathBuf = Path::new(&frame.file).components().skip_while(is_step).collect();
    file.ends_with(named)
}
