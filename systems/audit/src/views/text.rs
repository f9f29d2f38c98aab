//! An audit as text: source and assembly side by side with the cycles, then what there is to say.
//!
//! ```text
//! line source                                   cycle wait address assembly
//!    8 if (endpoint_state(ep) == 1)                 0         8000 ldr r0, [r4]
//!                                                   3    2    8004 and r3, r0, #3
//! ```

use std::collections::{BTreeMap, BTreeSet};

use report::number::count;

use crate::audit::{Audit, By};
use crate::finding::Finding;
use crate::program::names::shown;
use crate::program::tables::{PatchState, When};
use crate::timing::words::disputed;
use crate::views::{limits, loops};

/// Columns of source and address together, of 100.
const LEFT_WIDTH: usize = 55;
/// Columns of an address at least: those of its title.
const ADDRESS_WIDTH: usize = 7;
const WIDTH: usize = 100;

/// What the user may choose.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Lines of this function are shown in place of those inlined into it.
    pub pivot: Option<String>,
    /// At most so many findings.
    pub limit: Option<usize>,
}

/// The texts of source files by name, as lines.
pub type Sources = BTreeMap<String, Vec<String>>;

/// The audit as text, at most 100 columns wide where words allow it; ends with a line end.
pub fn text(audit: &Audit, sources: &Sources, view: &View) -> String {
    let mut text = head(audit);
    text += &listing(audit, sources, view);
    for lines in loops::paragraphs(audit).into_iter().chain(limits::paragraphs(audit)) {
        text += &format!("\n{}\n", lines[0]);
        text += &lines[1..]
            .iter()
            .flat_map(|line| wrapped(line))
            .map(|wrapped| wrapped + "\n")
            .collect::<String>();
    }
    text += &findings(audit, view);
    text += &foot(audit);
    text
}

fn head(audit: &Audit) -> String {
    let function = &audit.function;
    let n_instructions = function.instructions.len() - audit.undecodable.len();
    let mut text = undecodable(audit);
    text += &format!(
        "{} on {}: {}",
        shown(&function.name),
        audit.cpu,
        count(n_instructions, "instruction")
    );
    match &audit.timed {
        Some(timed) => {
            let cycles = &timed.cycles;
            let bound = &cycles.lower_bound;
            let address = |place: &usize| function.instructions[*place].address;
            let n_unknown = audit
                .trace
                .places
                .iter()
                .filter(|place| audit.undecodable.iter().any(|word| word.address == address(place)))
                .count();
            let n = cycles.instructions as usize - n_unknown;
            text += &format!(", {n} on the hot path, {}\n", chosen_by(audit));
            text += &format!(
                "{} [model {}]: {} to issue, {} waiting\n",
                count(cycles.total_cycles as usize, "cycle"),
                audit.cpu,
                cycles.issue_cycles,
                cycles.stall_cycles
            );
            text += &format!(
                "lower bound {}: {} to issue, {} that no order removes",
                bound.total, bound.issue, bound.inherent
            );
            text += &format!(
                "; above it {} inside blocks, {} across side exits\n",
                bound.in_block, bound.side_exit
            );
            if cycles.is_optimal {
                text += &format!(
                    "an order of {} exists, and none is faster\n",
                    count(cycles.best_cycles as usize, "cycle")
                );
            } else {
                text += &format!(
                    "the best order found takes {}\n",
                    count(cycles.best_cycles as usize, "cycle")
                );
            }
        }
        None => {
            text += &limits::head(audit, chosen_by(audit));
            let lines = limits::below(audit);
            text += &lines
                .iter()
                .flat_map(|line| wrapped(line))
                .map(|line| line + "\n")
                .collect::<String>();
        }
    }
    text += &path(audit);
    text += &patched(audit);
    text += &one_row(audit);
    if let Some(missing) = audit.missing_lines {
        text += &format!("no source lines: {missing}\n");
    }
    text
}

/// What the cycles of floating point and vectors rest on, if that is little.
pub(super) fn one_row(audit: &Audit) -> String {
    match audit.timed.as_ref().map_or(0, |timed| timed.n_one_row) {
        0 => String::new(),
        n => {
            format!(
                "{} of floating point or vectors: {} has one row of cycles for all kinds of them\n",
                count(n, "instruction"),
                audit.cpu
            )
        }
    }
}

/// What chose the path, in a word or two.
pub(super) fn chosen_by(audit: &Audit) -> &'static str {
    match audit.path.by {
        By::Recorded => "as recorded",
        By::Predicted => "as predicted",
        By::Forced => "as forced",
    }
}

/// How sure the path is; nothing of one without a branch that may be meant otherwise.
pub(super) fn path(audit: &Audit) -> String {
    let path = &audit.path;
    let share = path.least_share.map_or(String::new(), |share| {
        let n = match path.branches {
            1 => "1 branch".to_owned(),
            n => format!("{n} branches"),
        };
        let share = format!("{:.0} %", 100.0 * share);
        format!("; of {n} on it the least sure goes this way in {share} of its runs")
    });
    let by = match (path.by, &path.recorded) {
        (By::Forced, Some(recorded)) => format!("as forced, and as recorded ({recorded})"),
        (By::Forced, None) => "as forced, and as predicted".to_owned(),
        (_, Some(recorded)) => format!("as recorded ({recorded})"),
        (_, None) if share.is_empty() => return String::new(),
        (_, None) => "as predicted".to_owned(),
    };
    format!("path {by}{share}\n")
}

/// What of the function is other code on some cores, and what has become of it.
pub(super) fn patched(audit: &Audit) -> String {
    let tables = &audit.function.tables;
    let counts = tables.counts();
    let mut said = match tables.patched() {
        None => String::new(),
        Some(all) if tables.are_before_boot => {
            format!("{all}: as in the file, before the kernel starts; no edit is named\n")
        }
        Some(all) => format!(
            "{all}: as after the kernel started on {}, {} written over; no edit is named\n",
            audit.cpu, counts.written
        ),
    };
    let keys = listed(tables.patches.values().filter(|it| it.state == PatchState::Kept).flat_map(
        |patch| {
            patch.writers.iter().filter_map(|writer| match &writer.when {
                When::Key { name, .. } => Some(name.as_str()),
                _ => None,
            })
        },
    ));
    if let Some(keys) = keys.filter(|_| !tables.are_before_boot) {
        said += &format!("  keys as they begin: {keys}\n");
    }
    if counts.open > 0 {
        let by = tables.patches.values().filter_map(|patch| match &patch.state {
            PatchState::Open(by) => Some(by.iter().map(String::as_str)),
            _ => None,
        });
        let by = listed(by.flatten()).map_or(String::new(), |by| format!(", by {by}"));
        said += &format!(
            "  not known: what becomes of {} of them{by}; nothing is concluded across these, which stand as in the file (--boot)\n",
            counts.open
        );
    }
    tables.unread.iter().fold(said, |said, it| {
        said + &format!(
            "`{it}` has rows of a layout that is not known: what it says of the code is left out\n"
        )
    })
}

/// Some of these names, each once; none if there are none.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    const N_SHOWN: usize = 6;
    let names: BTreeSet<&str> = names.collect();
    let shown: Vec<String> = names.iter().take(N_SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(N_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// Words that are shown as such, because nothing else is known of them.
const UNDECODABLE_SHOWN: usize = 3;

fn undecodable(audit: &Audit) -> String {
    let n = audit.undecodable.len();
    if n == 0 {
        return String::new();
    }
    let mut text = format!(
        "{} not decoded: nothing is concluded across {}\n",
        count(n, "word"),
        if n == 1 { "it" } else { "them" }
    );
    for word in audit.undecodable.iter().take(UNDECODABLE_SHOWN) {
        text += &format!("  {word}\n");
    }
    if n > UNDECODABLE_SHOWN {
        text += &format!("  {} more\n", n - UNDECODABLE_SHOWN);
    }
    text
}

fn listing(audit: &Audit, sources: &Sources, view: &View) -> String {
    let mut last: Option<(String, u32)> = None;
    // The whole function where no path is timed.
    let places: Vec<usize> = if audit.timed.is_some() || audit.limits.is_some() {
        audit.trace.places.clone()
    } else {
        (0..audit.function.instructions.len()).collect()
    };
    let address = |idx: usize| format!("{:x}", audit.function.instructions[idx].address);
    let address_width =
        places.iter().map(|idx| address(*idx).len()).max().unwrap_or(0).max(ADDRESS_WIDTH);
    let source_width = LEFT_WIDTH - address_width;
    let mut text = format!(
        "\n line {} cycle wait {:>address_width$} assembly\n",
        cut("source", source_width),
        "address"
    );
    for (at, &idx) in places.iter().enumerate() {
        let frame = audit.frame(idx, view.pivot.as_deref());
        let place = frame.map(|frame| (frame.file.clone(), frame.line));
        let (line, source) = match frame {
            Some(frame) if place != last => (frame.line.to_string(), source(audit, frame, sources)),
            Some(_) => (String::new(), String::new()),
            None => (String::new(), String::new()),
        };
        last = place.or(last);
        let (cycle, wait) = match &audit.timed {
            Some(timed) => (timed.timing.starts[at].to_string(), timed.timing.stall_cycles[at]),
            None => (String::new(), 0),
        };
        let wait = if wait == 0 { String::new() } else { wait.to_string() };
        let row = format!(
            "{line:>5} {} {cycle:>5} {wait:>4} {:>address_width$} {}",
            cut(&source, source_width),
            address(idx),
            cut(&audit.text(idx), WIDTH - LEFT_WIDTH - 19).trim_end()
        );
        text += row.trim_end();
        text.push('\n');
    }
    let n_cold = audit.function.instructions.len() - places.len();
    if n_cold > 0 {
        text += &format!("      {n_cold} instructions on other paths are left out\n");
    }
    text
}

/// A source line; in an inlined function with its name.
fn source(
    audit: &Audit,
    frame: &crate::program::function::SourceFrame,
    sources: &Sources,
) -> String {
    let line = sources
        .get(&frame.file)
        .and_then(|source| source.get(frame.line as usize - 1))
        .map_or("", |text| text.trim());
    let line =
        if line.is_empty() { frame.file.rsplit('/').next().unwrap_or_default() } else { line };
    // Assembly has lines without functions.
    if frame.function.is_empty()
        || frame.function == audit.function.name
        || frame.function == shown(&audit.function.name)
    {
        line.to_owned()
    } else {
        format!("{}: {line}", frame.function)
    }
}

/// The text in exactly `width` columns, its end replaced by two dots if it is longer.
fn cut(text: &str, width: usize) -> String {
    let clean: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if clean.chars().count() <= width {
        return format!("{clean:<width$}");
    }
    let kept: String = clean.chars().take(width - 2).collect();
    format!("{kept}..")
}

fn findings(audit: &Audit, view: &View) -> String {
    let limit = view.limit.unwrap_or(usize::MAX);
    let mut text = String::new();
    let shown: Vec<&Finding> = audit.findings.iter().take(limit).collect();
    for alike in shown.chunk_by(|a, b| are_alike(a, b)) {
        text.push('\n');
        text += &finding(audit, alike[0], view);
        if let [_, .., last] = alike {
            let cycles: u32 = alike.iter().map(|found| found.cycles).sum();
            let more = format!(
                "and {} more like it, to `{}`: {cycles} cycles in all",
                alike.len() - 1,
                last.instruction
            );
            text += &wrapped(&more).join("\n");
            text.push('\n');
        }
    }
    let left = audit.findings.len().saturating_sub(limit);
    if left > 0 {
        text += &format!("\n{left} more findings; --limit shows more\n");
    }
    match moot(audit) {
        said if said.is_empty() => text,
        said => text + "\n" + &said,
    }
}

/// One says what there is to say of both: the same kind of instruction waits as long for the same
/// kind of unit or operand.
fn are_alike(a: &Finding, b: &Finding) -> bool {
    let mnemonic = |finding: &Finding| finding.instruction.split(' ').next().map(str::to_owned);
    let is_stall = a.kind == crate::finding::Kind::Stall && b.kind == a.kind;
    let is_unit = |finding: &Finding| finding.why.starts_with("the unit that");
    is_stall
        && is_unit(a)
        && is_unit(b)
        && a.cycles == b.cycles
        && mnemonic(a) == mnemonic(b)
        && a.prevents == b.prevents
        && a.edit.is_none()
}

/// One in lines of their own.
pub(super) fn finding(audit: &Audit, finding: &Finding, view: &View) -> String {
    let place = match audit.frame(finding.idx, view.pivot.as_deref()) {
        Some(frame) => {
            format!("{}:{}", frame.file.rsplit('/').next().unwrap_or_default(), frame.line)
        }
        None => format!("{:#x}", audit.function.instructions[finding.idx].address),
    };
    let cost = audit.cost(finding);
    let mut lines =
        vec![format!("{place}: {} {}: {cost}", finding.kind.name(), finding.instruction)];
    let link = if finding.kind == crate::finding::Kind::Stall { "waits for " } else { "" };
    lines.extend(wrapped(&format!("{link}{}", finding.why)));
    if let Some(disputed) = disputed(&finding.disputed) {
        lines.extend(wrapped(&format!("disputed: {disputed}")));
    }
    if let Some(fill) = &finding.fill {
        lines.extend(wrapped(&format!("fill: {fill}")));
    }
    if let Some(prevents) = &finding.prevents {
        lines.extend(wrapped(&format!("prevents: {prevents}")));
    }
    for (name, said) in about_edits(finding) {
        lines.extend(wrapped(&format!("{name}{said}")));
    }
    if let Some(edit) = &finding.edit {
        lines.extend(edit.patch.lines().map(|line| format!("    {line}")));
    }
    lines.join("\n") + "\n"
}

/// What there is to say of edits, each with what stands before it: the one that was proved, what was
/// tried, or what would be.
pub(super) fn about_edits(finding: &Finding) -> Vec<(&'static str, String)> {
    if let Some(edit) = &finding.edit {
        let mut said = vec![
            ("edit: ", edit.text.clone()),
            ("gains: ", edit.gain.clone()),
            ("behaviour: ", edit.behaviour.clone()),
        ];
        said.extend(edit.promise.iter().map(|promise| ("provided that ", promise.clone())));
        return said;
    }
    match (finding.tried, &finding.ways[..]) {
        (0, []) => Vec::new(),
        (0, ways) => {
            let names: Vec<&str> = ways.iter().map(|way| way.name()).collect();
            vec![("`--verify` with the C file tries ", names.join(", "))]
        }
        (tried, _) => {
            vec![("tried: ", format!("{}, none is proved", count(tried as usize, "change")))]
        }
    }
}

/// What was found and is not listed, in a line.
pub(super) fn moot(audit: &Audit) -> String {
    let said: Vec<String> = audit
        .moot
        .iter()
        .map(|(moot, n)| format!("{} {}", count(*n, "finding"), moot.words()))
        .collect();
    if said.is_empty() { String::new() } else { format!("not listed: {}\n", said.join(", ")) }
}

/// Words in lines of at most [`WIDTH`] columns, indented; the second line on further.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = "  ".to_owned();
    for word in text.split_whitespace() {
        let is_first = line.trim().is_empty();
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(line);
            line = format!("    {word}");
        } else {
            if !is_first {
                line.push(' ');
            }
            line += word;
        }
    }
    lines.push(line);
    lines
}

fn foot(audit: &Audit) -> String {
    let Some(timed) = &audit.timed else { return String::new() };
    let mut text = String::from("\nconditions under which C comes near to assembly:\n");
    for condition in &timed.conditions {
        let word = if condition.holds { "holds" } else { "does not hold" };
        text += &format!("  {}: {word} ({})\n", condition.what, condition.why);
    }
    if let Some(beyond) = &timed.beyond_c {
        text += &format!(
            "beyond C [model {}]: {} cycles with the reserved registers, {} without a stack frame\n",
            audit.cpu, beyond.reserved_registers_cycles, beyond.stack_frame_cycles
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_wrapped() {
        assert_eq!(cut("abcdef", 4), "ab..");
        assert_eq!(cut("ab\tc", 6), "ab c  ");
        let lines = wrapped(&"word ".repeat(60));
        assert!(
            lines.len() > 2 && lines.iter().all(|line| line.chars().count() <= WIDTH),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("    word"));
    }
}
