//! Edits of C that can be tried: the source with a load pinned above a test, or with a test that
//! says which way is likely.
//!
//! ```text
//!                                     const __typeof__(c->cap) now_1 = *(const volatile __typeof__(c->cap) *)&(c->cap);
//! if ((ep->state & 3) == 1)           if ((ep->state & 3) == 1)
//!     return slow();          --->        return slow();
//! if (c->cap == 0)                    if (now_1 == 0)
//! ```
//!
//! Nothing here is parsed as C: a line is changed where it has the shape, and the compiler and a
//! second audit say whether the change was one: only what compiles and makes the path shorter is
//! called verified, and what compiles and does not is said to have been tried. That a pinned load
//! may fault on a path that did not load before, and that a `restrict` is true, is for the
//! programmer to judge; the text of the edit says so.

use similar::TextDiff;

use crate::audit::Audit;
use crate::decode::code::{Access, Class, Flow};
use crate::facts::frame::{StackFrame, successors};
use crate::facts::trace::Exit;
use crate::finding::Kind;
use crate::timing::licence::crossings;

/// Loads of a stall that are tried.
const LOADS_MAX: usize = 3;
/// Tests that a load is moved above, one after the other.
const EXITS_MAX: usize = 3;

/// One change of the source that may remove a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Which finding, as a place in the audit's list.
    pub finding: usize,
    /// The whole changed source.
    pub source: String,
    /// Flags of the compiler besides the user's.
    pub flags: &'static [&'static str],
    /// The change in words.
    pub text: String,
}

impl Trial {
    /// The change as a patch of `file`, which holds `source`, or as a line of a makefile.
    pub fn patch(&self, source: &str, file: &str) -> String {
        if !self.flags.is_empty() {
            return format!("CFLAGS += {}\n", self.flags.join(" "));
        }
        let file = file.trim_start_matches('/');
        let diff = TextDiff::from_lines(source, &self.source);
        diff.unified_diff()
            .context_radius(1)
            .header(&format!("a/{file}"), &format!("b/{file}"))
            .to_string()
    }
}

/// All changes worth trying, those that move least first; `file` is as line tables name it.
pub fn trials(audit: &Audit, source: &str, file: &str) -> Vec<Trial> {
    let lines: Vec<&str> = source.lines().collect();
    let mut trials = Vec::new();
    // The path is not that of the running kernel: what makes it shorter proves nothing.
    if audit.function.tables.patched().is_some() {
        return trials;
    }
    for (finding, found) in audit.findings.iter().enumerate() {
        match found.kind {
            Kind::Stall => {
                pinned(audit, &lines, file, finding, &mut trials);
                restricted(audit, &lines, finding, &mut trials);
                ordered(audit, source, finding, &mut trials);
            }
            Kind::TakenBranch | Kind::Jump => likely(audit, &lines, file, finding, &mut trials),
            Kind::ComputedTwice => {
                kept(audit, &lines, file, finding, &mut trials);
                restricted(audit, &lines, finding, &mut trials);
            }
            Kind::Reload => {
                restricted(audit, &lines, finding, &mut trials);
                called_cold(audit, &lines, finding, &mut trials);
                split(audit, &lines, file, finding, &mut trials);
            }
            Kind::Spill | Kind::DeadStore => {
                called_cold(audit, &lines, finding, &mut trials);
                split(audit, &lines, file, finding, &mut trials);
            }
            Kind::Call => inlined(audit, &lines, finding, &mut trials),
            Kind::RedundantExtension => widened(audit, &lines, file, finding, &mut trials),
            Kind::DeadValue
            | Kind::FlagIdiom
            | Kind::SplitImmediate
            | Kind::BuiltBoolean
            | Kind::FewerInstructions
            | Kind::Hazard => {}
        }
    }
    trials
}

/// The line of this file that an instruction comes from, from 0; in an inlined
/// function its own line.
fn line_of(audit: &Audit, idx: usize, file: &str) -> Option<usize> {
    let frame = audit.function.frames[idx].first().filter(|frame| frame.file == file)?;
    (frame.line as usize).checked_sub(1)
}

/// Loads that a stall waits for, or that the best order moves to fill it, read before one
/// of the tests above.
fn pinned(audit: &Audit, lines: &[&str], file: &str, finding: usize, trials: &mut Vec<Trial>) {
    let Some(timed) = &audit.timed else { return };
    let Some(at) =
        timed.trace.places.iter().position(|place| *place == audit.findings[finding].idx)
    else {
        return;
    };
    let is_load = |at: usize| {
        audit.function.instructions[timed.trace.places[at]]
            .accesses
            .iter()
            .any(|access| !access.is_store)
    };
    let moved =
        timed.reached.last().map_or(Vec::new(), |it| crossings(&it.found.order, &timed.trace));
    let near = moved
        .iter()
        .filter(|(_, exit)| (*exit as usize) < at)
        .map(|(it, _)| *it as usize)
        .filter(|found| *found >= at);
    let producers = timed.causes[at].iter().map(|cause| cause.producer as usize);
    let mut seen: Vec<(usize, usize)> = Vec::new();
    for mover in producers.chain(near).filter(|producer| is_load(*producer)).take(LOADS_MAX) {
        let Some(line) =
            line_of(audit, timed.trace.places[mover], file).filter(|line| *line < lines.len())
        else {
            continue;
        };
        let mut tests: Vec<usize> = Vec::new();
        let is_test = |exit: &&Exit| {
            exit.at < mover
                && audit.function.instructions[timed.trace.places[exit.at]].flow != Flow::Next
        };
        for exit in timed.trace.exits.iter().rev().filter(is_test) {
            // In an inlined function, its own line or that of any call around it.
            let frames = audit.function.frames[timed.trace.places[exit.at]]
                .iter()
                .filter(|frame| frame.file == file);
            for test in frames
                .filter_map(|frame| (frame.line as usize).checked_sub(1))
                .filter(|number| starts_statement(lines, *number))
            {
                if !tests.contains(&test) {
                    tests.push(test);
                }
            }
        }
        for &test in tests.iter().take(EXITS_MAX) {
            if seen.contains(&(line, test)) {
                continue;
            }
            seen.push((line, test));
            let is_good = |text: &String| {
                is_kept(lines, test, line + 1, text) && !asks_for_null(lines, test, line, text)
            };
            for expression in expressions(lines[line]).into_iter().filter(is_good) {
                trials.push(pin(lines, finding, line, test, &expression));
            }
        }
    }
}

/// Nothing that the expression names is written on the lines from `from` up to `to`, nor, if a loop
/// begins there, anywhere after in the function: then it is the same before all of them. What is
/// written through other pointers no text shows.
pub(crate) fn is_kept(lines: &[&str], from: usize, to: usize, expression: &str) -> bool {
    let to = to.min(lines.len());
    let words = |text: &str| {
        text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    let has_loop = lines[from.min(to)..to]
        .iter()
        .any(|line| words(line).iter().any(|word| ["while", "for", "do"].contains(&word.as_str())));
    let end = if has_loop {
        (to..lines.len()).find(|idx| lines[*idx].starts_with('}')).unwrap_or(lines.len())
    } else {
        to
    };
    let names = words(expression);
    let mut named = names.iter().filter(|name| {
        name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
    });
    named.all(|name| !lines[from.min(end)..end].iter().any(|line| writes(line, name)))
}

/// A pointer that the expression follows is asked for null on the lines from `from` on before the
/// expression stands in line `to`: its address is not good before that test.
pub(crate) fn asks_for_null(lines: &[&str], from: usize, to: usize, expression: &str) -> bool {
    let pointers = expression
        .match_indices("->")
        .chain(expression.match_indices('['))
        .map(|(at, _)| &expression[..at]);
    let pointers: Vec<&str> = pointers.collect();
    (from..=to).any(|line| {
        let end =
            if line == to { lines[line].find(expression).unwrap_or(0) } else { lines[line].len() };
        pointers.iter().any(|pointer| is_asked(&lines[line][..end], pointer))
    })
}

/// The line compares the pointer with null, or takes it for a truth value.
fn is_asked(line: &str, pointer: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_null = |text: &str, rest: &dyn Fn(&str) -> bool| {
        ["NULL", "0", "nullptr"].iter().any(|word| text.strip_prefix(word).is_some_and(rest))
    };
    line.match_indices(pointer).any(|(at, _)| {
        let (before, behind) = (line[..at].trim_end(), line[at + pointer.len()..].trim_start());
        if line[..at].ends_with(is_name)
            || line[..at].ends_with(['.', '>'])
            || line[at + pointer.len()..].starts_with(is_name)
        {
            return false;
        }
        let compared = behind.strip_prefix("==").or_else(|| behind.strip_prefix("!="));
        let is_compared = compared.is_some_and(|compared| {
            is_null(compared.trim_start(), &|rest| !rest.starts_with(is_name))
        });
        let turned =
            before.strip_suffix("==").or_else(|| before.strip_suffix("!=")).map(str::trim_end);
        let is_turned = turned.is_some_and(|turned| {
            ["NULL", "0", "nullptr"].iter().any(|null| turned.ends_with(null))
        });
        // What stands alone between brackets is a truth value, unless the brackets are a call's.
        let opens = before.strip_suffix('(').map(str::trim_end);
        let in_brackets = opens.is_some_and(|open| {
            !open.ends_with(is_name)
                || ["if", "while", "for", "likely"].iter().any(|word| open.ends_with(word))
        });
        let begins = in_brackets || ["&&", "||", "!"].iter().any(|word| before.ends_with(word));
        let ends =
            behind.is_empty() || [")", "&&", "||", "?"].iter().any(|word| behind.starts_with(word));
        is_compared || is_turned || begins && ends
    })
}

/// The line assigns to a variable or member of this name, steps it, or takes its address.
fn writes(line: &str, name: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + name.len()..]);
        if before.ends_with(is_name) || behind.starts_with(is_name) {
            return false;
        }
        // An index between the name and what is done with it.
        let behind = behind.trim_start();
        let behind = behind
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .map_or(behind, |(_, rest)| rest.trim_start());
        let is_assigned = behind.starts_with('=') && !behind.starts_with("==");
        let is_compound = ["+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="]
            .iter()
            .any(|word| behind.starts_with(word));
        let is_stepped = ["++", "--"]
            .iter()
            .any(|word| behind.starts_with(word) || before.trim_end().ends_with(word));
        let before = before.trim_end();
        let is_address = before.ends_with('&')
            && !before.ends_with("&&")
            && !before.trim_end_matches('&').trim_end().ends_with([')', ']'])
            && !before.trim_end_matches('&').trim_end().ends_with(is_name);
        is_assigned || is_compound || is_stepped || is_address
    })
}

/// The expression of one line read before the test of another.
fn pin(lines: &[&str], finding: usize, line: usize, test: usize, expression: &str) -> Trial {
    let name = format!("now_{}", line + 1);
    let indent: String = lines[test].chars().take_while(|letter| letter.is_whitespace()).collect();
    let kind = format!("__typeof__({expression})");
    let declared =
        format!("{indent}const {kind} {name} = *(const volatile {kind} *)&({expression});");
    let mut changed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    changed[line] = changed[line].replacen(expression, &name, 1);
    changed.insert(test, declared);
    let text = format!(
        "read `{expression}` of line {} into a variable before line {}, by a volatile access so that it stays there; \
         its address must be good on all paths from there",
        line + 1,
        test + 1
    );
    Trial { finding, source: changed.join("\n") + "\n", flags: &[], text }
}

/// The pointers that the audited function gets promised to point to different things.
fn restricted(audit: &Audit, lines: &[&str], finding: usize, trials: &mut Vec<Trial>) {
    let found = &audit.findings[finding];
    let said =
        [found.prevents.as_ref(), found.edit.as_ref().map(|edit| &edit.text), Some(&found.why)];
    let is_asked = |text: &&String| {
        ["may write what", "may read what", "may change the object"]
            .iter()
            .any(|part| text.contains(part))
    };
    if !said.iter().flatten().any(is_asked) {
        return;
    }
    let name = format!("{}(", audit.function.name);
    let Some(line) = lines.iter().position(|line| {
        line.contains(&name) && line.contains('*') && !line.trim_end().ends_with(';')
    }) else {
        return;
    };
    let open = lines[line].find(&name).map_or(0, |line| line + name.len());
    let (before, parameters) = lines[line].split_at(open);
    let source =
        with_line(lines, line, format!("{before}{}", parameters.replace('*', "*restrict ")));
    let text = format!(
        "line {}: make the pointers `restrict`, if nothing that one of them leads to is reached by another",
        line + 1
    );
    trials.push(Trial { finding, source, flags: &[], text });
}

/// Orders and registers that the compiler has a flag for.
fn ordered(audit: &Audit, source: &str, finding: usize, trials: &mut Vec<Trial>) {
    let prevents = audit.findings[finding].prevents.as_deref().unwrap_or_default();
    let sets: &[&'static [&'static str]] = match prevents {
        it if it.starts_with("a register is used again") => {
            &[&["-frename-registers"], &["-frename-registers", "-fschedule-insns"]]
        }
        it if it.contains("another order inside the block") => &[&["-fschedule-insns"]],
        _ => &[],
    };
    for &flags in sets {
        let text = format!("compile with {}", flags.join(" "));
        trials.push(Trial { finding, source: source.to_owned(), flags, text });
    }
}

/// The callee made part of its caller, if this file defines it.
fn inlined(audit: &Audit, lines: &[&str], finding: usize, trials: &mut Vec<Trial>) {
    let address = audit.function.instructions[audit.findings[finding].idx].address;
    let Some(callee) = audit.function.callees.get(&address) else { return };
    let name = format!("{callee}(");
    let is_definition = |text: &&str| {
        text.contains(&name)
            && !text.starts_with([' ', '\t', '#', '}'])
            && !text.trim_end().ends_with(';')
    };
    let Some(line) = lines.iter().position(is_definition) else { return };
    let source =
        with_line(lines, line, format!("__attribute__((always_inline)) inline {}", lines[line]));
    let text = format!("line {}: make `{callee}` part of its callers", line + 1);
    trials.push(Trial { finding, source, flags: &[], text });
}

/// What an earlier line of the path loaded, in a variable that both lines read.
fn kept(audit: &Audit, lines: &[&str], file: &str, finding: usize, trials: &mut Vec<Trial>) {
    let Some(timed) = &audit.timed else { return };
    let idx = audit.findings[finding].idx;
    let Some(second) = line_of(audit, idx, file).filter(|line| *line < lines.len()) else { return };
    let before = timed
        .trace
        .places
        .iter()
        .take_while(|place| **place != idx)
        .filter_map(|place| line_of(audit, *place, file));
    let mut seen = Vec::new();
    for first in before.filter(|before| *before < second && starts_statement(lines, *before)) {
        for expression in
            loads(lines[first]).into_iter().filter(|load| loads(lines[second]).contains(load))
        {
            if !is_kept(lines, first, second, &expression)
                || asks_for_null(lines, first, first, &expression)
            {
                continue;
            }
            if seen.contains(&expression) || seen.len() == LOADS_MAX {
                continue;
            }
            let name = format!("kept_{}", first + 1);
            let indent: String =
                lines[first].chars().take_while(|letter| letter.is_whitespace()).collect();
            let mut changed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
            changed[first] = read_from(lines[first], &expression, &name);
            changed[second] = read_from(lines[second], &expression, &name);
            changed.insert(
                first,
                format!("{indent}const __typeof__({expression}) {name} = {expression};"),
            );
            let text = format!(
                "put `{expression}` into a variable before line {0} and use it on line {1} too, if nothing between them changes it and its \
                 address is good before the tests of line {0}",
                first + 1,
                second + 1
            );
            trials.push(Trial { finding, source: changed.join("\n") + "\n", flags: &[], text });
            seen.push(expression);
        }
    }
}

/// The line with a variable in place of an expression wherever it is read: `p->n++` reads it,
/// and then writes it.
fn read_from(line: &str, expression: &str, name: &str) -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(expression) {
        let (before, behind) = (&rest[..at], &rest[at + expression.len()..]);
        let is_inside = before.ends_with(is_name)
            || before.ends_with("->")
            || before.ends_with('.')
            || behind.starts_with(is_name);
        out += before;
        let operator = behind.trim_start();
        let stepped =
            [("++", "+"), ("--", "-")].into_iter().find(|(step, _)| operator.starts_with(step));
        let is_written = operator.starts_with('=') && !operator.starts_with("==");
        let compound = ["+", "-", "*", "|", "&", "^"]
            .into_iter()
            .find(|word| operator.starts_with(&format!("{word}=")));
        rest = behind;
        if let (Some((step, sign)), true) = (stepped, before.trim().is_empty()) {
            out += &format!("{expression} = {name} {sign} 1");
            rest = &operator[step.len()..];
        } else if let (Some(sign), Some(end), true) =
            (compound, operator.find(';'), before.trim().is_empty())
        {
            out += &format!("{expression} = {name} {sign} ({})", operator[2..end].trim());
            rest = &operator[end..];
        } else {
            out += if is_inside || is_written || stepped.is_some() || compound.is_some() {
                expression
            } else {
                name
            };
        }
    }
    out + rest
}

/// Functions that only other paths call, called cold, so that what they need is saved there.
fn called_cold(audit: &Audit, lines: &[&str], finding: usize, trials: &mut Vec<Trial>) {
    let Some(timed) = &audit.timed else { return };
    let is_hot = |address: &u64| {
        timed
            .trace
            .places
            .iter()
            .any(|place| audit.function.instructions[*place].address == *address)
    };
    let mut callees: Vec<&str> = audit
        .function
        .callees
        .iter()
        .filter(|callee| !is_hot(callee.0))
        .map(|callee| callee.1.as_str())
        .collect();
    callees.sort_unstable();
    callees.dedup();
    for callee in callees {
        let name = format!("{callee}(");
        let is_declared = |text: &&str| {
            text.contains(&name)
                && !text.starts_with([' ', '\t', '#', '}'])
                && !text.contains("__attribute__")
        };
        let Some(line) = lines.iter().position(is_declared) else { continue };
        let source =
            with_line(lines, line, format!("__attribute__((cold, noinline)) {}", lines[line]));
        let text =
            format!("line {}: call `{callee}` cold, and keep it a function of its own", line + 1);
        trials.push(Trial { finding, source, flags: &[], text });
    }
}

/// The function twice: where the path leaves for a call, the second one starts again and goes on
/// from there, so that the first needs no registers for what comes after that call.
fn split(audit: &Audit, lines: &[&str], file: &str, finding: usize, trials: &mut Vec<Trial>) {
    let Some(timed) = &audit.timed else { return };
    let name = &audit.function.name;
    let opening = format!("{name}(");
    let is_definition = |text: &&str| {
        text.contains(&opening)
            && text.trim_end().ends_with([')', '{'])
            && !text.starts_with([' ', '\t', '#', '}'])
    };
    let Some(first) = lines.iter().position(is_definition) else { return };
    let Some(length) = lines[first..].iter().position(|line| line.starts_with('}')) else { return };
    let (head, parameters) = lines[first].split_at(lines[first].find(&opening).unwrap_or(0));
    let names: Option<Vec<&str>> = parameters[opening.len()..]
        .trim_end_matches(['{', ' '])
        .trim_end_matches(')')
        .split(',')
        .filter(|part| !["", "void"].contains(&part.trim()))
        .map(|part| {
            part.trim()
                .rsplit(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
                .next()
                .filter(|trim| !trim.is_empty())
        })
        .collect();
    let Some(names) = names else { return };
    let is_void = head.split_whitespace().last() == Some("void");
    // A second start has to find what the first one found.
    if names
        .iter()
        .any(|name| lines[first + 1..first + length].iter().any(|line| writes(line, name)))
    {
        return;
    }
    let frame = StackFrame::of(&audit.function);
    let again = format!("{name}_cold({})", names.join(", "));
    let again =
        if is_void { format!("{{ {again}; return; }}") } else { format!("return {again};") };
    let mut seen = Vec::new();
    for (idx, instruction) in audit.function.instructions.iter().enumerate() {
        let is_cold_call = audit.function.callees.contains_key(&instruction.address)
            && !timed.trace.places.contains(&idx);
        let Some(line) = line_of(audit, idx, file)
            .filter(|line| is_cold_call && (first..first + length).contains(line))
        else {
            continue;
        };
        if seen.contains(&line)
            || !lines[line].trim_end().ends_with(';')
            || !starts_call(lines[line])
        {
            continue;
        }
        seen.push(line);
        let of_line = |number: &usize| {
            line_of(audit, *number, file) == Some(line)
                && matches!(audit.function.instructions[*number].flow, Flow::Call { .. })
        };
        if !(0..audit.function.instructions.len())
            .filter(of_line)
            .chain([idx])
            .all(|it| is_first_change(audit, &frame, it))
        {
            continue;
        }
        let mut copy: Vec<String> =
            lines[first..=first + length].iter().map(|&line| line.to_owned()).collect();
        let plain = head.replace("extern ", "").replace("static ", "").replace("inline ", "");
        copy[0] = format!(
            "static __attribute__((cold, noinline)) {plain}{}",
            parameters.replacen(&opening, &format!("{name}_cold("), 1)
        );
        let mut changed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        let indent: String =
            lines[line].chars().take_while(|letter| letter.is_whitespace()).collect();
        changed[line] = format!("{indent}{again}");
        copy.push(String::new());
        changed.splice(first..first, copy);
        let text = format!(
            "line {}: leave for a copy of `{name}` that starts again, since nothing is changed before that line; its tests have to come out the same",
            line + 1
        );
        trials.push(Trial { finding, source: changed.join("\n") + "\n", flags: &[], text });
    }
}

/// Before this instruction, on every way to it, the function makes no call and changes nothing
/// but its own frame.
fn is_first_change(audit: &Audit, frame: &StackFrame, idx: usize) -> bool {
    let function = &audit.function;
    let n = function.instructions.len();
    let mut comes_from: Vec<Vec<usize>> = vec![Vec::new(); n];
    for from in 0..n {
        for to in successors(function, from) {
            comes_from[to].push(from);
        }
    }
    let mut is_seen = vec![false; n];
    let mut open = comes_from[idx].clone();
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut is_seen[at], true) {
            continue;
        }
        let instruction = &function.instructions[at];
        let is_own = |access: &Access| {
            frame.slot(at, access).is_some_and(|slot| slot.count == 0 && slot.offset < 0)
        };
        let changes = instruction.accesses.iter().any(|access| access.is_store && !is_own(access))
            || matches!(instruction.class, Class::Atomic | Class::System)
            || matches!(instruction.flow, Flow::Call { .. } | Flow::LastCall);
        if changes {
            return false;
        }
        open.extend(&comes_from[at]);
    }
    true
}

/// The line is a call and nothing else, as far as can be seen.
fn starts_call(line: &str) -> bool {
    let text = line.trim_start();
    let end =
        text.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(0);
    end > 0
        && text[end..].starts_with('(')
        && !["if", "while", "for", "switch", "return"].contains(&&text[..end])
}

/// Narrow types of variables and parameters, as they are written, and types as wide as a register.
const WIDER: [(&str, &str); 12] = [
    ("unsigned char ", "unsigned "),
    ("unsigned short ", "unsigned "),
    ("signed char ", "int "),
    ("uint8_t ", "unsigned "),
    ("uint16_t ", "unsigned "),
    ("int8_t ", "int "),
    ("int16_t ", "int "),
    ("uint32_t ", "unsigned long "),
    ("char ", "unsigned "),
    ("short ", "int "),
    ("unsigned ", "unsigned long "),
    ("int ", "long "),
];

/// A variable or parameter of the function wider than it is, so that nothing has to be extended.
fn widened(audit: &Audit, lines: &[&str], file: &str, finding: usize, trials: &mut Vec<Trial>) {
    let Some(last) =
        line_of(audit, audit.findings[finding].idx, file).filter(|line| *line < lines.len())
    else {
        return;
    };
    let name = format!("{}(", audit.function.name);
    // Types of its parameters, and of the variables above the line; what it returns stays as others
    // know it.
    let first = lines[..=last]
        .iter()
        .rposition(|line| line.contains(&name) && !line.starts_with([' ', '\t', '#', '}']))
        .unwrap_or(last);
    for (line, text) in lines.iter().enumerate().take(last + 1).skip(first) {
        let from =
            if line == first { text.find(&name).map_or(0, |text| text + name.len()) } else { 0 };
        for (narrow, wide) in WIDER {
            for (at, _) in text[from..].match_indices(narrow).map(|(at, it)| (from + at, it)) {
                let before = text[..at].trim_end();
                let is_type = before.is_empty()
                    || before.ends_with(['(', ',', '{', ';'])
                    || before.ends_with("const");
                let behind = text[at + narrow.len()..].trim_start();
                if !is_type
                    || !behind
                        .starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
                {
                    continue;
                }
                let variable: String = behind
                    .chars()
                    .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                    .collect();
                if ["char", "short", "int", "long"].contains(&variable.as_str()) {
                    continue;
                }
                let source = with_line(
                    lines,
                    line,
                    format!("{}{wide}{}", &text[..at], &text[at + narrow.len()..]),
                );
                let text = format!(
                    "line {}: make `{variable}` {}, if it is nowhere meant to wrap and all callers see the same declaration",
                    line + 1,
                    wide.trim_end()
                );
                trials.push(Trial { finding, source, flags: &[], text });
            }
        }
    }
}

/// A test with either way called likely.
fn likely(audit: &Audit, lines: &[&str], file: &str, finding: usize, trials: &mut Vec<Trial>) {
    let idx = audit.findings[finding].idx;
    let is_test =
        matches!(audit.function.instructions[idx].flow, Flow::Branch { is_conditional: true, .. });
    let Some(line) = line_of(audit, idx, file).filter(|line| is_test && *line < lines.len()) else {
        return;
    };
    let Some((from, to)) = condition(lines[line]) else { return };
    for way in ["0", "1"] {
        let (before, inside, after) =
            (&lines[line][..from], &lines[line][from..to], &lines[line][to..]);
        let source =
            with_line(lines, line, format!("{before}__builtin_expect(!!({inside}), {way}){after}"));
        let text = format!("line {}: `if (__builtin_expect(!!({inside}), {way}))`", line + 1);
        trials.push(Trial { finding, source, flags: &[], text });
    }
}

/// The source with another text in place of one of its lines.
fn with_line(lines: &[&str], line: usize, text: String) -> String {
    let mut changed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    changed[line] = text;
    changed.join("\n") + "\n"
}

/// A statement may stand before this line: it begins one, and the line before ends one
/// or opens a block.
fn starts_statement(lines: &[&str], line: usize) -> bool {
    let text = lines.get(line).map_or("", |line| line.trim_start());
    let is_one = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && !["else", "case", "default"].iter().any(|word| text.starts_with(word));
    let before = lines[..line.min(lines.len())]
        .iter()
        .rev()
        .map(|line| line.trim())
        .find(|recorded| !recorded.is_empty());
    is_one
        && before.is_some_and(|before| before.ends_with([';', '{', '}']) || before.ends_with("*/"))
}

/// The range of what stands between the brackets of an `if` that ends on its line.
fn condition(line: &str) -> Option<(usize, usize)> {
    let start = line.find("if (").or_else(|| line.find("if("))?;
    let open = start + line[start..].find('(')?;
    let mut depth = 0;
    for (at, character) in line[open..].char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return Some((open + 1, open + at)),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What of a line is loaded: names joined by `->`, `.` and plain indices. What is called or
/// assigned is not, but the pointer and the index of what is assigned are.
pub(crate) fn expressions(line: &str) -> Vec<String> {
    chains(line, false)
}

/// The same, with what is assigned: a line may read it first.
pub(crate) fn loads(line: &str) -> Vec<String> {
    chains(line, true)
}

fn chains(line: &str, with_assigned: bool) -> Vec<String> {
    let bytes = line.as_bytes();
    let is_name =
        |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let starts = bytes[at].is_ascii_alphabetic() || bytes[at] == b'_';
        if !starts {
            // A number is no name.
            at += 1;
            while at < bytes.len() && bytes[at - 1].is_ascii_digit() && is_name(at) {
                at += 1;
            }
            continue;
        }
        let from = at;
        let mut is_load = false;
        let mut parts = Vec::new();
        loop {
            while is_name(at) {
                at += 1;
            }
            if line[at..].starts_with("->") && is_name(at + 2) {
                at += 2;
                is_load = true;
            } else if line[at..].starts_with('.') && is_name(at + 1) {
                at += 1;
            } else if let Some(end) = line[at..].strip_prefix('[').and_then(|rest| rest.find(']')) {
                if is_load {
                    parts.push(line[from..at].to_owned());
                }
                parts.extend(chains(&line[at + 1..at + 1 + end], with_assigned));
                at += end + 2;
                is_load = true;
            } else {
                break;
            }
        }
        let rest = line[at..].trim_start();
        let is_assigned = rest.starts_with('=') && !rest.starts_with("==");
        let is_changed = ["+=", "-=", "*=", "|=", "&=", "^=", "++", "--", "("]
            .iter()
            .any(|word| rest.starts_with(word));
        let is_read =
            is_load && (with_assigned && !rest.starts_with('(') || !is_assigned && !is_changed);
        // Reading the whole reads its parts.
        let parts = if is_read && !with_assigned { Vec::new() } else { parts };
        for expression in is_read.then(|| line[from..at].to_owned()).into_iter().chain(parts) {
            if !found.contains(&expression) {
                found.push(expression);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_a_line() {
        let of = |line| expressions(line).join(" ");
        assert_eq!(of("    if (caller->cap == 0)"), "caller->cap");
        assert_eq!(of("a->b = c->d[3].e + f(x->y) + 0x1f;"), "c->d[3].e x->y");
        assert_eq!(of("p->n += 1; return g->h(1);"), "");
        assert_eq!(of("q->at[q->n] = it;"), "q->at q->n");
        assert_eq!(of("x = y + 2;"), "");
    }

    #[test]
    fn a_line_that_reads_a_variable_in_place_of_a_load() {
        let of = |line| read_from(line, "q->n", "kept_7");
        assert_eq!(of("    q->n++;"), "    q->n = kept_7 + 1;");
        assert_eq!(of("    q->n -= 2 * it;"), "    q->n = kept_7 - (2 * it);");
        assert_eq!(
            of("    q->at[q->n] = q->next + qq->n;"),
            "    q->at[kept_7] = q->next + qq->n;"
        );
        assert_eq!(of("    if (q->n == 3)"), "    if (kept_7 == 3)");
        assert_eq!(of("    q->n = 3;"), "    q->n = 3;");
        assert_eq!(of("    x = y[q->n++];"), "    x = y[q->n++];");
    }

    #[test]
    fn what_changes_on_the_way_is_not_read_before() {
        // As a search through a list: the pointer gets its value after the test, and the loop goes
        // on with it.
        let search = "    if (list == 0)\n        return 0;\n    at = list->first;\n    while (at && at->key != key)\n        at = at->next;\n    return at;\n}";
        let lines: Vec<&str> = search.lines().collect();
        assert!(!is_kept(&lines, 0, 4, "at->key"));
        assert!(!is_kept(&lines, 3, 4, "at->key"), "the loop writes it on a later line");
        assert!(is_kept(&lines, 0, 3, "list->first"));
        // As a counter: a member that is stepped, one that is stored, and an element.
        let counter = "    if (q->full)\n        return;\n    q->n++;\n    q->at[i] = 3;\n    take(&key);\n    use(q->n == 3 && flags & mask);\n}";
        let lines: Vec<&str> = counter.lines().collect();
        assert!(
            !is_kept(&lines, 0, 6, "q->n")
                && !is_kept(&lines, 0, 6, "q->at[i]")
                && !is_kept(&lines, 0, 6, "key->first")
        );
        assert!(
            is_kept(&lines, 0, 2, "q->n")
                && is_kept(&lines, 0, 6, "q->full")
                && is_kept(&lines, 0, 6, "mask->bits")
        );
    }

    #[test]
    fn a_pointer_that_is_asked_for_null_is_not_followed_before() {
        for test in [
            "if (p == NULL || q)",
            "if ((p != 0) && (q))",
            "if (NULL == p)",
            "if (!p)",
            "if (p && q->n)",
            "while (q && p)",
            "if (unlikely(!p))",
            "x = q || p ? 1 : 2;",
        ] {
            assert!(asks_for_null(&[test, "x = p->n;"], 0, 1, "p->n"), "{test}");
        }
        for other in [
            "if (q == NULL)",
            "if (p == q)",
            "if (p->n == 0)",
            "if (!p->n)",
            "if (use(p))",
            "if (pp == 0)",
            "if (r->p == 0)",
            "if (p == 0x10)",
        ] {
            assert!(!asks_for_null(&[other, "x = p->n;"], 0, 1, "p->n"), "{other}");
        }
        // Each pointer on the way; and a test on the line itself, before and after.
        assert!(asks_for_null(&["if (p->next == NULL)", "x = p->next->n;"], 0, 1, "p->next->n"));
        assert!(asks_for_null(&["if (list == 0)", "x = list[3];"], 0, 1, "list[3]"));
        assert!(asks_for_null(&["if (p == NULL || p->n == 3)"], 0, 0, "p->n"));
        assert!(!asks_for_null(&["if (p->n == 3 && p)"], 0, 0, "p->n"));
    }

    #[test]
    fn the_condition_of_an_if() {
        let of = |line: &str| condition(line).map(|(from, to)| line[from..to].to_owned());
        assert_eq!(of("  if (f(a) && (b))").as_deref(), Some("f(a) && (b)"));
        assert_eq!(of("  if (a &&"), None);
        assert_eq!(of("  x = 1;"), None);
    }

    #[test]
    fn where_a_statement_may_stand() {
        let lines = [
            "{",
            "    if (a)",
            "        b();",
            "    else",
            "    if (c)",
            "",
            "  /* so */",
            "    if (d)",
        ];
        let all: Vec<usize> =
            (0..lines.len()).filter(|&idx| starts_statement(&lines, idx)).collect();
        assert_eq!(all, [1, 7]);
    }
}
