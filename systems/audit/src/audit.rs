//! One function of a program asked all five questions.

use std::collections::BTreeMap;

use machine::Machine;
use machine::in_order::Core;
use report::Diagnostic;
use report::number::count;
use serde::Serialize;

use crate::decode::Isa;
use crate::decode::code::{Delay, Flow, Instruction, Undecodable};
use crate::facts::conventions::keeps_conventions;
use crate::facts::hazards::lint;
use crate::facts::nests::Nests;
use crate::facts::recorded::{Counts, Recorded};
use crate::facts::steered::SourceLine;
use crate::facts::trace::{Exit, Guide, Trace, hot_trace};
use crate::finding::{Finding, Moot};
use crate::limits::{Limits, limits};
use crate::needed::{Callee, Subject, needed};
use crate::program::function::{Function, SourceFrame};
use crate::program::names::shown;
use crate::program::{Decoded, Program, Symbol};
use crate::timing::cost::priced;
use crate::timing::explain::explain;
use crate::timing::licence::Effort;
use crate::timing::{Cycles, Timed, time_path};

/// Longer functions are timed, but not asked what of them is needed.
const NEEDED_MAX: usize = 20_000;

/// How files end of which edits can be tried.
const C_FILES: [&str; 2] = [".c", ".h"];

/// What the user may set.
#[derive(Debug, Clone)]
pub struct Options {
    /// Functions and lines that the path leaves out, besides what everybody knows to be cold.
    pub avoid: Vec<String>,
    /// Lines that it passes.
    pub through: Vec<SourceLine>,
    /// How much work an answer is worth.
    pub effort: Effort,
    /// What the program did when it ran: decides which way is hot.
    pub recorded: Option<Recorded>,
}

/// Everything that is known about one function.
#[derive(Debug)]
pub struct Audit {
    pub function: Function,
    /// The name of the machine.
    pub cpu: String,
    /// Words in the function that are no instructions.
    pub undecodable: Vec<Undecodable>,
    pub trace: Trace,
    /// For each instruction: all that can follow it is cold.
    pub is_cold: Vec<bool>,
    /// What chose the path.
    pub path: Chosen,
    /// The time of the path; none on a machine that reorders.
    pub timed: Option<Timed>,
    /// What the path and the loops take at least on a machine that reorders; none if its file
    /// has no rows of instructions.
    pub limits: Option<Limits>,
    /// What there is to say, in the order of the code.
    pub findings: Vec<Finding>,
    /// How many more there are of what nobody can act on.
    pub moot: BTreeMap<Moot, usize>,
    /// Why there are no source lines, if there are none.
    pub missing_lines: Option<&'static str>,
}

/// What chose the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    Recorded,
    Predicted,
    /// The user, by lines that it passes or that it avoids.
    Forced,
}

/// What chose the hot path, and how sure it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    pub by: By,
    /// What was recorded, in words; none if nothing was.
    pub recorded: Option<String>,
    /// Conditional branches on the path whose ways were recorded or predicted; those of which one
    /// way is cold are not among them.
    pub branches: usize,
    /// Of these the one that goes another way most often goes the path's way in this
    /// share of its runs.
    pub least_share: Option<f64>,
}

impl Chosen {
    fn new(guide: &Guide<'_>, function: &Function, trace: &Trace, options: &Options) -> Chosen {
        let (counts, nests) = (guide.counts(), Nests::of(function));
        let recorded = options.recorded.as_ref().filter(|_| counts.is_some());
        let share = |exit: &Exit| {
            let place = trace.places[exit.at];
            let Some(counts) = counts else {
                return guide.predicted_share(&nests, place, exit.is_taken);
            };
            let (taken, not) = counts.ways(function, place)?;
            Some(if exit.is_taken { taken } else { not } as f64 / (taken + not) as f64)
        };
        let shares: Vec<f64> = trace.exits.iter().filter_map(share).collect();
        let has_lines = options.avoid.iter().any(|name| SourceLine::parse(name).is_some());
        Chosen {
            by: match recorded {
                _ if has_lines || !options.through.is_empty() => By::Forced,
                Some(_) => By::Recorded,
                None => By::Predicted,
            },
            recorded: recorded.map(Recorded::what),
            branches: shares.len(),
            least_share: shares.iter().copied().min_by(f64::total_cmp),
        }
    }
}

/// Audits one function; without a core that issues in order nothing is said about when it waits.
pub fn audit(
    program: &Program,
    symbol: &Symbol,
    cpu: &str,
    core: Option<&Core>,
    options: &Options,
) -> Result<Audit, Diagnostic> {
    let decoded = program.decode(symbol)?;
    let function = decoded.function;
    if function.instructions.len() == decoded.undecodable.len() {
        return Err(Diagnostic::new(format!(
            "`{}` in `{}` holds no instruction",
            function.name, program.name
        )));
    }
    core.map_or(Ok(()), |core| runs(core, &function, &program.name))?;
    let counts = match &options.recorded {
        Some(recorded) => {
            Some(Counts::of(&function, recorded).ok_or_else(|| never_ran(&function, recorded))?)
        }
        None => None,
    };
    let guide = Guide::new(&function, &options.avoid, counts.as_ref()).through(&options.through);
    let trace = hot_trace(&guide);
    steered(&function, &trace, options)?;
    let path = Chosen::new(&guide, &function, &trace, options);
    let timed =
        core.and_then(|core| Some((core, time_path(&function, core, &guide, options.effort)?)));
    let machine = if core.is_none() { Machine::bundled(cpu) } else { None };
    let limits = machine.and_then(|machine| limits(&function, &trace, &guide, &machine));
    let is_cold = (0..function.instructions.len()).map(|idx| guide.is_cold(idx)).collect();
    let mut findings =
        timed.as_ref().map(|(core, it)| explain(&function, core, it)).unwrap_or_default();
    findings.retain(|finding| !function.is_open(finding.idx));
    let n_stalls = findings.len();
    if function.instructions.len() <= NEEDED_MAX {
        findings.extend(needed(&subject(program, symbol, &guide, &function, &trace)));
    }
    if function.isa == Isa::Sparc {
        findings.extend(lint(&function.instructions));
    }
    // Another core needs the words that it has there, and another path.
    let mut needed = findings.split_off(n_stalls);
    if let Some((core, timed)) = &timed {
        needed = priced(needed, &function, &timed.trace, core);
    }
    let timed = timed.map(|(_, timed)| timed);
    findings.extend(needed.into_iter().filter(|finding| !function.is_patched(finding.idx)));
    if function.tables.patched().is_some() {
        findings.iter_mut().for_each(|finding| finding.ways.clear());
    }
    let is_c = |idx: usize| {
        let frame = function.frames[idx].first();
        frame.is_some_and(|frame| C_FILES.iter().any(|ending| frame.file.ends_with(ending)))
    };
    // No advice of C for assembly or Rust.
    findings
        .iter_mut()
        .filter(|finding| !is_c(finding.idx))
        .for_each(|finding| finding.ways.clear());
    let mut moot: BTreeMap<Moot, usize> = BTreeMap::new();
    findings
        .iter()
        .filter_map(|finding| finding.moot)
        .for_each(|why| *moot.entry(why).or_default() += 1);
    findings.retain(|finding| finding.moot.is_none());
    findings.sort_by_key(|finding| (finding.idx, finding.kind));
    let has_lines = function.frames.iter().any(|frame| !frame.is_empty());
    let missing_lines = program
        .lines
        .missing
        .or_else(|| (!has_lines).then_some("this function has no line information"));
    Ok(Audit {
        cpu: cpu.to_owned(),
        undecodable: decoded.undecodable,
        trace,
        is_cold,
        path,
        timed,
        limits,
        findings,
        moot,
        missing_lines,
        function,
    })
}

/// The path passes the lines that it should, and none that it should not.
fn steered(function: &Function, trace: &Trace, options: &Options) -> Result<(), Diagnostic> {
    let passes = |line: &SourceLine| trace.places.iter().any(|idx| line.has(function, *idx));
    let has =
        |line: &SourceLine| (0..function.instructions.len()).any(|idx| line.has(function, idx));
    let no_code = |line: &SourceLine| {
        let said = format!("no code of `{}` comes from {line}", function.name);
        let near: Vec<String> = line.near(function).iter().map(u32::to_string).collect();
        match &near[..] {
            [] => Diagnostic::new(said),
            near => Diagnostic::new(said)
                .with_help(format!("lines with code near it are {}", near.join(", "))),
        }
    };
    for line in &options.through {
        if !has(line) {
            return Err(no_code(line));
        }
        if !passes(line) {
            return Err(Diagnostic::new(format!("no path of `{}` passes {line}", function.name))
                .with_help("with what else is to be passed or avoided, each loop once"));
        }
    }
    for line in options.avoid.iter().filter_map(|name| SourceLine::parse(name)) {
        if !has(&line) {
            return Err(no_code(&line));
        }
        if passes(&line) {
            return Err(Diagnostic::new(format!(
                "every path of `{}` that can be taken passes {line}",
                function.name
            )));
        }
    }
    Ok(())
}

/// No instruction of the function is in the recording.
fn never_ran(function: &Function, recorded: &Recorded) -> Diagnostic {
    let said = Diagnostic::new(format!(
        "`{}` did not run in the recording ({})",
        function.name,
        recorded.what()
    ));
    let (first, last) =
        (&function.instructions[0], function.instructions.last().expect("it has an instruction"));
    match recorded.range() {
        Some((low, high)) => said.with_help(format!(
            "its addresses lie from {low:#x} to {high:#x}, the function from {:#x} to {:#x}; a program that was moved when it was loaded needs --path FILE@ADDRESS",
            first.address, last.address
        )),
        None => said.with_help("the file names no lines of it; counts of lines need debug information"),
    }
}

/// Refuses a function that the core cannot run: files of Arm hold functions of two sets.
fn runs(core: &Core, function: &Function, file: &str) -> Result<(), Diagnostic> {
    let isa = function.isa.name();
    if core.sets.iter().any(|set| set == isa) {
        return Ok(());
    }
    let said = format!(
        "`{}` in `{file}` is {isa} code, but `{}` runs {}",
        function.name,
        core.name,
        core.sets.join(" and ")
    );
    Err(Diagnostic::new(said))
}

impl Audit {
    /// The place in the source to show for instruction `idx`: the innermost, or the innermost that
    /// lies in the function `pivot`.
    pub fn frame(&self, idx: usize, pivot: Option<&str>) -> Option<&SourceFrame> {
        let frames = self.function.frames.get(idx)?;
        pivot
            .and_then(|pivot| frames.iter().find(|frame| frame.function == pivot))
            .or(frames.first())
    }

    /// What a finding costs: cycles of a core that issues in order; of one that reorders it is only
    /// known how many instructions there are for it.
    pub fn cost(&self, finding: &Finding) -> String {
        let of = if self.timed.is_some() { "cycle" } else { "instruction" };
        count(finding.cycles as usize, of)
    }

    /// The instruction with the name of what it calls, where the text has only an address.
    pub fn text(&self, idx: usize) -> String {
        let instruction = &self.function.instructions[idx];
        let Some(callee) = self.function.callees.get(&instruction.address) else {
            return instruction.text.clone();
        };
        let mnemonic = instruction.text.split_whitespace().next().unwrap_or_default();
        format!("{mnemonic} {}", shown(callee))
    }
}

/// One function in few numbers, without a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub name: String,
    pub address: u64,
    pub n_instructions: usize,
    /// Words in it that are none.
    pub n_undecodable: usize,
    /// Places that are other code on some core, or while some key is set.
    pub n_patched: usize,
    /// Those of them of which it is not known what stands there.
    pub n_open: usize,
    /// The cycles of its hot path and their bound.
    pub cycles: Cycles,
    /// How often its first instruction was done, if that was recorded.
    pub runs: Option<u64>,
}

impl Summary {
    /// Cycles above the bound; in all its runs, if these were recorded.
    pub fn lost_cycles(&self) -> u64 {
        u64::from(self.cycles.total_cycles - self.cycles.lower_bound.total) * self.runs.unwrap_or(1)
    }
}

/// A function as a summary needs it: with lines only where they are asked for.
pub fn decoded_for(
    program: &Program,
    symbol: &Symbol,
    options: &Options,
) -> Result<Decoded, Diagnostic> {
    let needs_lines = options.avoid.iter().any(|name| SourceLine::parse(name).is_some());
    if options.recorded.is_some() || needs_lines {
        program.decode(symbol)
    } else {
        program.decode_without_lines(symbol)
    }
}

/// Times one function with the polynomial bound; none if it holds no instruction, or did not
/// run in the recording. `file` is its file's name.
pub fn summary(
    file: &str,
    address: u64,
    decoded: &Decoded,
    core: &Core,
    options: &Options,
) -> Result<Option<Summary>, Diagnostic> {
    let function = &decoded.function;
    if function.instructions.len() == decoded.undecodable.len() {
        return Ok(None);
    }
    runs(core, function, file)?;
    let counts = match &options.recorded {
        Some(recorded) => match Counts::of(function, recorded) {
            Some(counts) => Some(counts),
            None => return Ok(None),
        },
        None => None,
    };
    let guide = Guide::new(function, &options.avoid, counts.as_ref());
    let path = time_path(function, core, &guide, Effort::Bounds);
    let counts_of_tables = function.tables.counts();
    Ok(path.map(|path| Summary {
        name: function.name.clone(),
        address,
        n_instructions: function.instructions.len(),
        n_undecodable: decoded.undecodable.len(),
        n_patched: counts_of_tables.alternatives
            + counts_of_tables.jump_labels
            + counts_of_tables.static_calls,
        n_open: counts_of_tables.open,
        cycles: path.cycles,
        runs: counts.as_ref().map(|count| count.runs(0)),
    }))
}

fn subject<'a>(
    program: &Program,
    symbol: &Symbol,
    guide: &Guide<'_>,
    function: &'a Function,
    trace: &Trace,
) -> Subject<'a> {
    let mut is_hot = vec![false; function.instructions.len()];
    trace.places.iter().for_each(|&idx| is_hot[idx] = true);
    let has_lines = function.frames.iter().any(|frame| !frame.is_empty());
    let mut callees = BTreeMap::new();
    for name in function.callees.values() {
        let Some(symbol) = program.only(name).filter(|symbol| !symbol.is_weak) else { continue };
        let Ok(decoded) = program.decode(symbol) else { continue };
        let callee = &decoded.function;
        let is_straight = callee
            .instructions
            .iter()
            .all(|instruction| matches!(instruction.flow, Flow::Next | Flow::Return));
        let is_assembly = has_lines
            && callee.frames.iter().flatten().all(|frame| frame.file.ends_with(['s', 'S']));
        // A delay slot belongs to its return.
        let n_instructions = callee
            .instructions
            .iter()
            .filter(|instruction| instruction.delay == Delay::None)
            .count();
        // A constant that is returned may have one row, too; what a naked function does besides is
        // its own.
        let is_constant = |instruction: &Instruction| {
            instruction.flow != Flow::Next
                || instruction.accesses.is_empty() && instruction.reads.is_empty()
        };
        let is_naked = !is_assembly
            && callee.instructions.len() > 1
            && !callee.instructions.iter().all(is_constant)
            && program.lines.is_one_row(symbol.address, symbol.address + symbol.size);
        let is_ordinary = !is_naked && keeps_conventions(callee);
        callees
            .insert(name.clone(), Callee { n_instructions, is_straight, is_assembly, is_ordinary });
    }
    Subject {
        is_hot,
        is_seldom: guide.seldom(trace),
        has_one_result: program.lines.has_one_result(symbol.address, &function.name, function.isa),
        callees,
        ..Subject::of(function)
    }
}
