//! The bounds of a core that reorders: what limits the path and each loop, and by which
//! instructions.
//!
//! ```text
//! at least 9 cycles [model zen4], by the chain
//! chain 9: `imul %rsi, %rdi`, `imul %rdi, %rdi`, `imul %rdi, %rdi`
//! ports 3: alu1, by `imul %rsi, %rdi`, `imul %rdi, %rdi`, `imul %rdi, %rdi`
//! front end 1: 4 of 6 a cycle, 1 taken branch of 1 a cycle
//! ```

use report::number::count;
use serde_json::{Value, json};

use crate::audit::Audit;
use crate::limits::{Bound, Chain, FrontEnd, IterationBound, LEFT_OUT, LimitedBy};
use crate::views::coded;
use crate::views::loops::{cycles, place};

/// Longer lists of instructions are cut.
const SHOWN_MAX: usize = 4;

fn name(by: LimitedBy) -> &'static str {
    match by {
        LimitedBy::Chain => "the chain",
        LimitedBy::Ports => "the ports",
        LimitedBy::FrontEnd => "the front end",
    }
}

fn in_cycles(n: f64) -> String {
    if n == 1.0 { "1 cycle".to_owned() } else { format!("{} cycles", cycles(n)) }
}

/// Instructions by their places on a path: the first ones, and how many there are besides.
fn instructions(audit: &Audit, path: &[usize], places: &[usize]) -> String {
    let text = |at: &usize| format!("`{}`", audit.text(path[*at]));
    let shown: Vec<String> = places.iter().take(SHOWN_MAX).map(text).collect();
    match places.len().saturating_sub(SHOWN_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The three limits of a path, and what counts for too little.
fn parts(audit: &Audit, path: &[usize], bound: &Bound) -> Vec<String> {
    let Bound { chain, ports, front_end, unknown } = bound;
    let mut lines = Vec::new();
    let Chain { places, iterations, .. } = chain;
    if !places.is_empty() {
        let over = match iterations {
            0 | 1 => String::new(),
            n => format!(" of {n} iterations"),
        };
        lines.push(format!(
            "chain {}: {}{over}",
            cycles(chain.cycles),
            instructions(audit, path, places)
        ));
    }
    if ports.cycles > 0.0 {
        lines.push(format!(
            "ports {}: {}, by {}",
            cycles(ports.cycles),
            ports.units.join(" "),
            instructions(audit, path, &ports.places)
        ));
    }
    let FrontEnd { micro_ops, width, taken, taken_a_cycle, .. } = front_end;
    let branches = match taken {
        0 => String::new(),
        1 => format!(", 1 taken branch of {taken_a_cycle} a cycle"),
        n => format!(", {n} taken branches of {taken_a_cycle} a cycle"),
    };
    lines.push(format!(
        "front end {}: {micro_ops} micro-operations of {width} a cycle{branches}",
        cycles(front_end.cycles)
    ));
    if !unknown.is_empty() {
        lines.push(format!(
            "{} no row in the machine's file and counts as one that enters: {}",
            match unknown.len() {
                1 => "1 instruction has".to_owned(),
                n => format!("{n} instructions have"),
            },
            instructions(audit, path, unknown)
        ));
    }
    lines
}

/// What the first lines say where no stalls are told.
pub(super) fn head(audit: &Audit, chosen_by: &str) -> String {
    let Some(limits) = &audit.limits else {
        return "; no cycles: this machine reorders instructions, and none of its cores is named\n"
            .to_owned();
    };
    let n = audit.trace.places.len();
    format!(", {n} on the hot path, {chosen_by}\n{}\n", first(audit, &limits.path))
}

/// The lines below it, to be wrapped.
pub(super) fn below(audit: &Audit) -> Vec<String> {
    let Some(limits) = &audit.limits else { return Vec::new() };
    let mut lines = parts(audit, &audit.trace.places, &limits.path);
    lines.push(LEFT_OUT.to_owned());
    lines
}

pub(super) fn first(audit: &Audit, bound: &Bound) -> String {
    format!("at least {} [model {}], by {}", in_cycles(bound.cycles()), audit.cpu, name(bound.by()))
}

/// One loop in sentences: the first is its head.
fn sentences(audit: &Audit, it: &IterationBound) -> Vec<String> {
    let round = &it.of.round.places;
    let inner = if it.of.has_inner { ", the inner loop passed once" } else { "" };
    let head = format!(
        "loop at {}: at least {} an iteration of {}{inner} [model {}], by {}",
        place(audit, round[0]),
        in_cycles(it.bound.cycles()),
        count(round.len(), "instruction"),
        audit.cpu,
        name(it.bound.by())
    );
    std::iter::once(head).chain(parts(audit, round, &it.bound)).collect()
}

/// All loops as paragraphs of sentences.
pub(super) fn paragraphs(audit: &Audit) -> Vec<Vec<String>> {
    let loops = audit.limits.iter().flat_map(|limits| &limits.loops);
    loops.map(|it| sentences(audit, it)).collect()
}

/// The same for the page.
pub(super) fn html(audit: &Audit) -> String {
    let Some(limits) = &audit.limits else {
        return "<p>No cycles: this machine reorders instructions, and none of its cores is named.</p>\n"
            .to_owned();
    };
    let list = |lines: &[String]| {
        let items: String =
            lines.iter().map(|line| format!("<li>{}</li>\n", coded(line))).collect();
        format!("<ul>\n{items}</ul>\n")
    };
    let mut html = format!("<p>{}</p>\n", coded(&first(audit, &limits.path)));
    html += &list(&parts(audit, &audit.trace.places, &limits.path));
    for lines in paragraphs(audit) {
        html += &format!("<p>{}</p>\n{}", coded(&lines[0]), list(&lines[1..]));
    }
    html + &format!("<p>{}</p>\n", coded(LEFT_OUT))
}

fn object(audit: &Audit, path: &[usize], bound: &Bound) -> Value {
    let address = |at: &usize| audit.function.instructions[path[*at]].address;
    let addresses = |places: &[usize]| places.iter().map(address).collect::<Vec<u64>>();
    json!({
        "cycles": bound.cycles(),
        "by": bound.by(),
        "chain": {
            "cycles": bound.chain.cycles,
            "iterations": bound.chain.iterations,
            "addresses": addresses(&bound.chain.places),
        },
        "ports": {
            "cycles": bound.ports.cycles,
            "units": bound.ports.units,
            "addresses": addresses(&bound.ports.places),
        },
        "front_end": {
            "cycles": bound.front_end.cycles,
            "micro_ops": bound.front_end.micro_ops,
            "width": bound.front_end.width,
            "taken": bound.front_end.taken,
            "taken_a_cycle": bound.front_end.taken_a_cycle,
        },
        "unknown": addresses(&bound.unknown),
    })
}

/// With keys that stay; null of a machine of which nothing is known, or that issues in order.
pub(super) fn json(audit: &Audit) -> Value {
    let Some(limits) = &audit.limits else { return Value::Null };
    let of_loop = |it: &IterationBound| {
        let round = &it.of.round.places;
        let frame = audit.frame(round[0], None);
        let mut value = object(audit, round, &it.bound);
        let more = json!({
            "address": audit.function.instructions[round[0]].address,
            "file": frame.map(|frame| &frame.file),
            "line": frame.map(|frame| frame.line),
            "depth": it.of.depth,
            "has_inner": it.of.has_inner,
            "instructions": round.len(),
        });
        let more = more.as_object().expect("it is an object").clone();
        value.as_object_mut().expect("it is an object").extend(more);
        value
    };
    json!({
        "kind": "model",
        "path": object(audit, &audit.trace.places, &limits.path),
        "loops": limits.loops.iter().map(of_loop).collect::<Vec<Value>>(),
        "left_out": LEFT_OUT,
    })
}
