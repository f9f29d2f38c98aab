//! What a program did when it ran: how often each instruction was done and each branch taken, from
//! a recording.
//!
//! ```text
//! Trace 0: 0x7f.. [0000000000000000/0000000000400580/.. qemu -d exec,nochain: blocks, by their first address
//! main 4711 10.5: 1 instructions: 400580 main+0x0 ..    perf script, a trace or samples; with their callers, a
//!                                                       line each after the first, only the first is counted
//! -0000000123 | P:0x00400580 ..                         a debugger's list: the first address of a line
//!       12:    7:  if (x)                               gcov: lines of the source
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use report::number::count;

use crate::decode::code::{Delay, Flow};
use crate::program::function::Function;

/// What a recording counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// First addresses of blocks that run to their branch.
    Blocks,
    Instructions,
    /// Counts of source lines.
    Lines,
}

/// Samples of `perf record -g`: a line about the sample, the address, the callers, an empty line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Callers {
    #[default]
    None,
    /// The address of the sample comes next.
    Expected,
    /// The rest of the lines.
    Listed,
}

/// A recording, read line by line.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    kind: Option<Form>,
    /// Which address came after which, and how often.
    pairs: BTreeMap<(u64, u64), u64>,
    /// The last address of each processor; only QEMU's log tells them apart.
    last: BTreeMap<u32, u64>,
    n_addresses: u64,
    /// Where the line is in a sample that lists its callers.
    callers: Callers,
    /// Counts by file and line.
    lines: BTreeMap<(String, u32), u64>,
    source: String,
    /// Subtracted from each address.
    base: u64,
}

impl Recorded {
    /// An empty recording of a program that was loaded `base` bytes above the
    /// addresses in its file.
    pub fn new(base: u64) -> Recorded {
        Recorded { base, ..Recorded::default() }
    }

    /// Reads one line; one without an address says nothing.
    pub fn line(&mut self, text: &str) {
        if let Some((count, line, rest)) = gcov(text) {
            self.kind.get_or_insert(Form::Lines);
            if line == 0 {
                if let Some(source) = rest.strip_prefix("Source:") {
                    self.source = source.to_owned();
                }
            } else if let Some(count) = count {
                *self.lines.entry((self.source.clone(), line)).or_default() += count;
            }
            return;
        }
        if text.trim().is_empty() {
            self.callers = Callers::None;
        } else if is_sample(text) {
            self.callers = Callers::Expected;
            return;
        } else if self.callers == Callers::Listed {
            return;
        } else if self.callers == Callers::Expected {
            self.callers = Callers::Listed;
        }
        let (kind, processor, address) = match block(text) {
            Some((processor, address)) => (Form::Blocks, processor, Some(address)),
            None => (Form::Instructions, 0, listed(text)),
        };
        let Some(address) = address else { return };
        if self.n_addresses == 0 {
            self.kind = Some(kind);
        } else if self.kind != Some(kind) {
            return;
        }
        let address = address.wrapping_sub(self.base);
        if let Some(last) = self.last.insert(processor, address) {
            *self.pairs.entry((last, address)).or_default() += 1;
        }
        self.n_addresses += 1;
    }

    /// Ends the recording: what came last leads nowhere.
    pub fn finish(&mut self) {
        for last in std::mem::take(&mut self.last).into_values() {
            *self.pairs.entry((last, u64::MAX)).or_default() += 1;
        }
    }

    /// What was read, in words.
    pub fn what(&self) -> String {
        let counted = |thing: &str| count(self.n_addresses as usize, thing);
        match self.kind {
            Some(Form::Blocks) => counted("block"),
            Some(Form::Instructions) => counted("instruction"),
            Some(Form::Lines) => format!("counts of {}", count(self.lines.len(), "line")),
            None => "nothing".to_owned(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.kind.is_none() || self.pairs.is_empty() && self.lines.is_empty()
    }

    /// The lowest and highest address.
    pub fn range(&self) -> Option<(u64, u64)> {
        Some((self.pairs.first_key_value()?.0.0, self.pairs.last_key_value()?.0.0))
    }
}

/// The processor and the address of a block in QEMU's log of executed blocks.
fn block(text: &str) -> Option<(u32, u64)> {
    let (before, inside) = text.strip_prefix("Trace ")?.split_once('[')?;
    let processor = before.split(':').next()?.trim().parse().ok()?;
    let mut fields = inside.split([']', '/']);
    Some((processor, u64::from_str_radix(fields.nth(1)?, 16).ok()?))
}

/// Count, line and text of a line of gcov; no count where there is no code.
fn gcov(text: &str) -> Option<(Option<u64>, u32, &str)> {
    let (count, rest) = text.split_once(':')?;
    let (line, rest) = rest.split_once(':')?;
    let (count, line) = (count.trim(), line.trim().parse().ok()?);
    let never =
        !count.is_empty() && count.bytes().all(|byte| matches!(byte, b'#' | b'=' | b'%' | b'$'));
    let counted = count.trim_end_matches('*').parse().ok();
    (count == "-" || never || counted.is_some()).then_some((
        if never { Some(0) } else { counted },
        line,
        rest,
    ))
}

/// The line of `perf script` before a list of callers: command, number, time, period and
/// event, and no address.
fn is_sample(text: &str) -> bool {
    let mut words = text.split_whitespace().rev();
    let is_event = words.next().is_some_and(|word| {
        word.ends_with(':') && word.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    let is_period = words.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    is_event
        && is_period
        && words.any(|word| word.strip_suffix(':').is_some_and(|rest| rest.parse::<f64>().is_ok()))
}

/// The first address of a line of a debugger's list or of `perf script`: the first number that is
/// marked as one, else the one after the event, else the first that looks like one.
fn listed(text: &str) -> Option<u64> {
    const DIGITS_MIN: usize = 4;
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || letter == '|' || letter == ',')
        .filter(|part| !part.is_empty())
        .collect();
    let marked =
        |text: &&str| u64::from_str_radix(text.rsplit(':').next()?.strip_prefix("0x")?, 16).ok();
    let plain = |text: &&str| {
        u64::from_str_radix(text.trim_end_matches(':'), 16)
            .ok()
            .filter(|_| text.len() >= DIGITS_MIN)
    };
    let event = words
        .iter()
        .rposition(|word| word.ends_with(':'))
        .filter(|idx| *idx > 0)
        .and_then(|idx| words.get(idx + 1));
    words
        .iter()
        .find_map(marked)
        .or_else(|| event.and_then(plain))
        .or_else(|| words.iter().find_map(plain))
}

/// How often the instructions of one function were done.
#[derive(Debug, Clone)]
pub struct Counts {
    runs: Vec<u64>,
    /// Of conditional branches: taken, and not.
    ways: HashMap<usize, (u64, u64)>,
    /// Instructions that control comes to in one way only.
    has_one_way: Vec<bool>,
}

impl Counts {
    /// What a recording says of a function; none if nothing of it ran.
    pub fn of(function: &Function, recorded: &Recorded) -> Option<Counts> {
        let n = function.instructions.len();
        let mut counts =
            Counts { runs: vec![0; n], ways: HashMap::new(), has_one_way: one_way(function) };
        match recorded.kind? {
            Form::Lines => counts.lines(function, recorded),
            Form::Blocks => counts.pairs(function, recorded, true),
            Form::Instructions => counts.pairs(function, recorded, false),
        }
        counts.runs.iter().any(|run| *run > 0).then_some(counts)
    }

    fn lines(&mut self, function: &Function, recorded: &Recorded) {
        let sources: BTreeSet<&str> =
            recorded.lines.keys().map(|(file, _)| file.as_str()).collect();
        let mut meant: HashMap<&str, Option<&str>> = HashMap::new();
        for (runs, frames) in self.runs.iter_mut().zip(&function.frames) {
            let Some(frame) = frames.first() else { continue };
            let source =
                *meant.entry(&frame.file).or_insert_with(|| source_of(&sources, &frame.file));
            let found =
                source.and_then(|source| recorded.lines.get(&(source.to_owned(), frame.line)));
            *runs = found.copied().unwrap_or(0);
        }
    }

    fn pairs(&mut self, function: &Function, recorded: &Recorded, are_blocks: bool) {
        let (mut n_near, mut n_far) = (0u64, 0u64);
        let mut ways: HashMap<usize, (u64, u64)> = HashMap::new();
        let (Some(first), Some(end)) =
            (function.instructions.first(), function.instructions.last())
        else {
            return;
        };
        for (&(from, to), &n) in recorded.pairs.range((first.address, 0)..=(end.address, u64::MAX))
        {
            let Some(mut idx) = function.at(from) else { continue };
            // A block runs to its branch, or to where the next begins.
            loop {
                self.runs[idx] += n;
                let instruction = &function.instructions[idx];
                let behind = instruction.address + u64::from(instruction.length);
                if !are_blocks
                    || instruction.flow != Flow::Next
                    || behind == to
                    || idx + 1 >= self.runs.len()
                {
                    break;
                }
                idx += 1;
            }
            let instruction = &function.instructions[idx];
            let place = behind(function, idx);
            if are_blocks && place == idx + 2 {
                self.runs[idx + 1] += n;
            }
            let last = &function.instructions[place - 1];
            let behind = last.address + u64::from(last.length);
            let is_taken = function
                .target(idx)
                .is_some_and(|target| function.instructions[target].address == to);
            if let Flow::Branch { is_conditional: true, .. } = instruction.flow {
                let way = ways.entry(idx).or_default();
                if behind == to {
                    way.1 += n;
                } else if is_taken {
                    way.0 += n;
                }
            }
            let leaves =
                instruction.flow != Flow::Next && !matches!(instruction.flow, Flow::Branch { .. });
            if behind == to || is_taken || leaves { n_near += n } else { n_far += n }
        }
        // What does not follow each other is a sample of the time, and says nothing of ways.
        if are_blocks || n_near >= n_far {
            self.ways = ways;
        }
    }

    /// How often the conditional branch at `idx` went where it leads, and how often straight on;
    /// none if that is not known.
    pub fn ways(&self, function: &Function, idx: usize) -> Option<(u64, u64)> {
        if let Some(ways) = self.ways.get(&idx).filter(|(taken, not)| taken + not > 0) {
            return Some(*ways);
        }
        let (there, behind) = (function.target(idx)?, behind(function, idx));
        let runs = |number: usize| self.runs.get(number).copied();
        let ways = if self.has_one_way.get(behind).copied()? {
            (self.runs[idx].saturating_sub(runs(behind)?), runs(behind)?)
        } else if self.has_one_way[there] {
            (runs(there)?, self.runs[idx].saturating_sub(runs(there)?))
        } else {
            (runs(there)?, runs(behind)?)
        };
        (ways.0 + ways.1 > 0).then_some(ways)
    }

    /// How often the instruction at `idx` was done.
    pub fn runs(&self, idx: usize) -> u64 {
        self.runs[idx]
    }
}

/// Which source of the recording is this file of the line tables: of one name, with as many folders
/// in common as there are.
fn source_of<'a>(sources: &BTreeSet<&'a str>, file: &str) -> Option<&'a str> {
    let in_common =
        |text: &str| text.rsplit('/').zip(file.rsplit('/')).take_while(|(a, b)| a == b).count();
    sources
        .iter()
        .copied()
        .filter(|source| in_common(source) > 0)
        .max_by_key(|source| (in_common(source), Reverse(source.len())))
}

/// The place after an instruction and its delay slot.
fn behind(function: &Function, idx: usize) -> usize {
    let has_slot =
        function.instructions[idx].delay != Delay::None && idx + 1 < function.instructions.len();
    idx + 1 + usize::from(has_slot)
}

/// For each instruction: control comes to it from the one before only, or by one branch only.
fn one_way(function: &Function) -> Vec<bool> {
    let n = function.instructions.len();
    let mut ways = vec![0; n];
    for (idx, instruction) in function.instructions.iter().enumerate() {
        let goes_on = !matches!(
            instruction.flow,
            Flow::Branch { is_conditional: false, .. }
                | Flow::Return
                | Flow::Resume
                | Flow::Jump
                | Flow::Stop
        );
        if goes_on && behind(function, idx) < n {
            ways[behind(function, idx)] += 1;
        }
        let cases = function.cases_of(idx).into_iter().flatten();
        function.target(idx).into_iter().chain(cases).for_each(|to| ways[to] += 1);
    }
    ways.iter().map(|way| *way == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_each_kind() {
        let log =
            "Trace 0: 0x7f95bfc00100 [0000000001009331/0000000000400580/00000001/00000200] _start";
        assert_eq!(block(log), Some((0, 0x40_0580)));
        assert_eq!(block(&log.replace("Trace 0", "Trace 3")), Some((3, 0x40_0580)));
        assert_eq!(block("Trace 0: 0x7f95"), None);
        // Debuggers, perf, plain lists: the first address, whatever numbers stand before it.
        for (text, address) in [
            ("-0000000123 | P:0x00400580  ptrace  main+0x10", Some(0x40_0580)),
            ("main 4711 [001] 10.500: 1 instructions:u: 400580 main+0x0 (/tmp/p)", Some(0x40_0580)),
            ("  ffffffc008a01230 schedule+0x10 ([kernel.kallsyms])", Some(0xffff_ffc0_08a0_1230)),
            ("0x8000", Some(0x8000)),
            ("400580: 52800000 mov w0, #0", Some(0x40_0580)),
            ("no address here", None),
            ("", None),
        ] {
            assert_eq!(listed(text), address, "{text}");
        }
        assert_eq!(gcov("      12*:    7:  if (x)"), Some((Some(12), 7, "  if (x)")));
        assert_eq!(gcov("    #####:    8:  y();"), Some((Some(0), 8, "  y();")));
        assert_eq!(gcov("        -:    9:}"), Some((None, 9, "}")));
        assert_eq!(gcov("main 4711 10.5: 1 instructions: 400580"), None);
    }

    #[test]
    fn those_who_called_did_not_run() {
        let mut recorded = Recorded::default();
        for line in [
            "step 4711 10.500000:     250000 cycles:u: ",
            "\t          400584 step+0x4 (/tmp/p)",
            "\t          400700 main+0x20 (/tmp/p)",
            "",
            "step 4711 10.600000:     250000 cycles:u: ",
            "\t          400588 step+0x8 (/tmp/p)",
            "\t          400700 main+0x20 (/tmp/p)",
        ] {
            recorded.line(line);
        }
        recorded.finish();
        assert_eq!(
            (recorded.what().as_str(), recorded.range()),
            ("2 instructions", Some((0x40_0584, 0x40_0588)))
        );
        for line in [
            "400580 <main>:",
            "0000000000400580 <main>:",
            "main 4711 10.5: 1 instructions: 400580",
            "main:",
            "",
        ] {
            assert!(!is_sample(line), "{line}");
        }
    }

    #[test]
    fn of_sources_of_one_name_the_nearest_is_meant() {
        let sources = BTreeSet::from(["arm/ring.c", "ring.c", "x86/ring.c", "fs.c"]);
        for (file, meant) in [
            ("/build/arm/ring.c", Some("arm/ring.c")),
            ("/build/x86/ring.c", Some("x86/ring.c")),
            ("ring.c", Some("ring.c")),
            ("string.c", None),
            ("lib/fs.c", Some("fs.c")),
        ] {
            assert_eq!(source_of(&sources, file), meant, "{file}");
        }
    }

    #[test]
    fn what_processors_do_in_turn_is_not_one_after_the_other() {
        let mut recorded = Recorded::new(0);
        let line = |processor, address: u32| {
            format!("Trace {processor}: 0x7f00 [00000000/{address:016x}/00000000/00000000] f")
        };
        for (processor, address) in [(0, 0x1000), (1, 0x9000), (0, 0x1010), (1, 0x9010)] {
            recorded.line(&line(processor, address));
        }
        recorded.finish();
        let pairs: Vec<(u64, u64)> = recorded.pairs.into_keys().collect();
        assert_eq!(
            pairs,
            [(0x1000, 0x1010), (0x1010, u64::MAX), (0x9000, 0x9010), (0x9010, u64::MAX)]
        );
    }

    #[test]
    fn random_lines_are_read_or_not_but_never_fatal() {
        let mut recorded = Recorded::new(0x1000);
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let words = [
                "Trace ",
                "[",
                "/",
                "0x",
                "ffff",
                "-",
                ":",
                " 7:",
                "#####",
                "\u{fffd}",
                "|",
                "P:",
                "400580",
                "\t",
                "99999999999999999999",
            ];
            let text: String =
                (0..rng.usize(0..9)).map(|_| words[rng.usize(0..words.len())]).collect();
            recorded.line(&text);
        }
        recorded.finish();
        assert!(!recorded.what().is_empty());
    }
}
