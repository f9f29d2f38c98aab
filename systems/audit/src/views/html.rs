//! An audit as one HTML page: source on the left, assembly on the right, waits coloured by their
//! cause, a click for the explanation. Nothing is loaded, so it works without a network.

use report::escape::escape;

use crate::audit::Audit;
use crate::decode::code::Role;
use crate::finding::{Finding, Kind};
use crate::program::names::shown;
use crate::timing::depend::Why;
use crate::timing::stalls;
use crate::timing::words::disputed;
use crate::views::coded;
use crate::views::limits;
use crate::views::loops;
use crate::views::text::{self, Sources, View};

pub fn html(audit: &Audit, sources: &Sources, view: &View) -> String {
    let title = format!("{} on {}", shown(&audit.function.name), audit.cpu);
    let title = escape(&title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n{}</header>\n<main>\n{}{}</main>\n{}\
         <aside id=\"explanation\" aria-live=\"polite\">{}</aside>\n{}<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        numbers(audit),
        source_side(audit, sources, view),
        assembly_side(audit, view),
        loops::html(audit),
        if audit.findings.is_empty() { NOTHING } else { HINT },
        explanations(audit, view),
    )
}

const NOTHING: &str = "<p>Nothing was found about single instructions.</p>";
const HINT: &str = "<p>Click a marked instruction to see what was found about it.</p>";

/// Why an instruction waits, as a colour.
fn cause_name(kind: stalls::CauseKind) -> &'static str {
    match kind {
        stalls::CauseKind::Order(Why::Value(_, Role::Base | Role::Index)) => "address",
        stalls::CauseKind::Order(Why::Value(_, Role::Condition)) => "condition",
        stalls::CauseKind::Order(Why::Value(..)) => "operand",
        stalls::CauseKind::Order(Why::Rewrite(_) | Why::Lock(_)) => "register",
        stalls::CauseKind::Order(Why::Memory) => "memory",
        stalls::CauseKind::Order(Why::Control) => "control",
        stalls::CauseKind::Unit => "unit",
    }
}

const CAUSES: [(&str, &str); 7] = [
    ("operand", "waits for an operand"),
    ("address", "waits for an address"),
    ("condition", "waits for flags"),
    ("register", "waits for a register to be free"),
    ("memory", "waits for memory"),
    ("control", "waits for a decision"),
    ("unit", "waits for a unit"),
];

fn numbers(audit: &Audit) -> String {
    let mut html = String::new();
    match &audit.timed {
        Some(timed) => {
            let cycles = &timed.cycles;
            let bound = &cycles.lower_bound;
            html += &format!(
                "<p><b>{}</b> cycles <span class=\"kind\">model</span>: {} to issue, {} waiting; lower bound <b>{}</b> \
                 ({} to issue, {} that no order removes). Above it: {} inside blocks, {} across side exits.</p>\n",
                cycles.total_cycles,
                cycles.issue_cycles,
                cycles.stall_cycles,
                bound.total,
                bound.issue,
                bound.inherent,
                bound.in_block,
                bound.side_exit
            );
            let used: Vec<&str> = timed
                .causes
                .iter()
                .filter_map(|cause| cause.first())
                .map(|found| cause_name(found.kind))
                .collect();
            let keys: String = CAUSES
                .iter()
                .filter(|(name, _)| used.contains(name))
                .map(|(name, words)| format!("<span class=\"key {name}\">{words}</span> "))
                .collect();
            html += &format!(
                "<p class=\"keys\">{keys}<span class=\"key other\">other findings</span></p>\n"
            );
        }
        None => html += &limits::html(audit),
    }
    for line in [text::path(audit), text::patched(audit), text::one_row(audit), text::moot(audit)]
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| !line.is_empty())
    {
        html += &format!("<p>{}.</p>\n", escape(line.trim_end()));
    }
    if let Some(missing) = audit.missing_lines {
        html += &format!("<p>No source lines: {}.</p>\n", escape(missing));
    }
    for word in &audit.undecodable {
        html += &format!("<p>Left out: {}.</p>\n", escape(&word.to_string()));
    }
    html
}

/// The lines that the path comes from, with some around them, by file in the order of the path.
fn source_side(audit: &Audit, sources: &Sources, view: &View) -> String {
    const AROUND: u32 = 2;
    let mut files: Vec<(&str, std::collections::BTreeSet<u32>)> = Vec::new();
    for &idx in &places(audit) {
        let Some(frame) = audit.frame(idx, view.pivot.as_deref()) else { continue };
        let at = match files.iter().position(|(name, _)| *name == frame.file) {
            Some(at) => at,
            None => {
                files.push((&frame.file, Default::default()));
                files.len() - 1
            }
        };
        files[at]
            .1
            .extend(frame.line.saturating_sub(AROUND).max(1)..=frame.line.saturating_add(AROUND));
    }
    let mut html = String::from("<section class=\"side\" aria-label=\"Source\">\n");
    for (name, lines) in &files {
        html += &format!("<h2>{}</h2>\n<ol class=\"code\">\n", escape(name));
        let Some(text) = sources.get(*name) else {
            html += "</ol>\n<p>The file is not here.</p>\n";
            continue;
        };
        let mut last = 0;
        for &line in lines.iter().filter(|line| **line as usize <= text.len()) {
            let gap = if last != 0 && line != last + 1 { " gap" } else { "" };
            let source = &text[line as usize - 1];
            html += &format!(
                "<li class=\"source{gap}\" data-place=\"{}:{line}\"><span class=\"n\">{line}</span><code>{}</code></li>\n",
                escape(name),
                escape(source)
            );
            last = line;
        }
        html += "</ol>\n";
    }
    if files.is_empty() {
        html += "<p>There are no source lines.</p>\n";
    }
    html + "</section>\n"
}

fn places(audit: &Audit) -> Vec<usize> {
    if audit.timed.is_some() || audit.limits.is_some() {
        audit.trace.places.clone()
    } else {
        (0..audit.function.instructions.len()).collect()
    }
}

fn assembly_side(audit: &Audit, view: &View) -> String {
    let mut html = String::from(
        "<section class=\"side\" aria-label=\"Assembly\">\n<h2>assembly, hot path</h2>\n<ol class=\"code\">\n",
    );
    let places = places(audit);
    for (at, &idx) in places.iter().enumerate() {
        let place = audit
            .frame(idx, view.pivot.as_deref())
            .map_or_else(String::new, |frame| format!("{}:{}", frame.file, frame.line));
        let (cycle, wait) = match &audit.timed {
            Some(timed) => (timed.timing.starts[at].to_string(), timed.timing.stall_cycles[at]),
            None => (String::new(), 0),
        };
        let cause = audit
            .timed
            .as_ref()
            .and_then(|timed| timed.causes[at].first())
            .map(|found| cause_name(found.kind));
        let found = audit.findings.iter().filter(|finding| finding.idx == idx).count();
        let class = match (wait, cause, found) {
            (1.., Some(cause), _) => format!("stall {cause}"),
            (_, _, 1..) => "other".to_owned(),
            _ => String::new(),
        };
        let wait = if wait == 0 { String::new() } else { format!("+{wait}") };
        let address = audit.function.instructions[idx].address;
        let inner = format!(
            "<span class=\"n\">{cycle}</span><span class=\"wait\">{wait}</span><span class=\"at\">{address:x}</span><code>{}</code>",
            escape(&audit.text(idx))
        );
        let line = if found > 0 {
            format!(
                "<button type=\"button\" class=\"{class}\" data-idx=\"{idx}\" aria-controls=\"explanation\">{inner}</button>"
            )
        } else {
            format!("<span class=\"plain\">{inner}</span>")
        };
        html += &format!("<li class=\"asm\" data-place=\"{}\">{line}</li>\n", escape(&place));
    }
    let n_cold = audit.function.instructions.len() - places.len();
    html += "</ol>\n";
    if n_cold > 0 {
        html += &format!("<p>{n_cold} instructions on other paths are left out.</p>\n");
    }
    html + "</section>\n"
}

/// One hidden piece for each instruction with findings.
fn explanations(audit: &Audit, view: &View) -> String {
    let mut html = String::new();
    let mut last = None;
    for finding in &audit.findings {
        if last != Some(finding.idx) {
            if last.is_some() {
                html += "</template>\n";
            }
            html += &format!("<template id=\"found-{}\">\n", finding.idx);
            last = Some(finding.idx);
        }
        html += &explanation(audit, finding, view);
    }
    if last.is_some() {
        html += "</template>\n";
    }
    html
}

fn explanation(audit: &Audit, finding: &Finding, view: &View) -> String {
    let place = audit
        .frame(finding.idx, view.pivot.as_deref())
        .map_or_else(String::new, |frame| format!(", {}:{}", frame.file, frame.line));
    let link = if finding.kind == Kind::Stall { "waits for " } else { "" };
    let who = finding.instruction.trim_matches('`');
    let mut html = format!(
        "<h3>{}: <code>{}</code> <span class=\"kind\">{}{}</span></h3>\n<p>{link}{}</p>\n",
        finding.kind.name(),
        escape(who),
        audit.cost(finding),
        escape(&place),
        coded(&finding.why)
    );
    let disputed = disputed(&finding.disputed);
    let rows = [
        ("disputed", &disputed),
        ("could fill it", &finding.fill),
        ("prevents the compiler", &finding.prevents),
    ];
    for (name, text) in rows {
        if let Some(text) = text {
            html += &format!("<p><b>{name}:</b> {}</p>\n", coded(text));
        }
    }
    for (name, said) in text::about_edits(finding) {
        html += &format!("<p><b>{}</b>{}</p>\n", coded(name), coded(&said));
    }
    if let Some(edit) = &finding.edit {
        html += &format!("<pre>{}</pre>\n", escape(&edit.patch));
    }
    let stack = &audit.function.frames[finding.idx];
    if stack.len() > 1 {
        let frames: Vec<String> = stack
            .iter()
            .map(|found| format!("{} ({}:{})", found.function, found.file, found.line))
            .collect();
        html += &format!("<p><b>inlined:</b> {}</p>\n", escape(&frames.join(" in ")));
    }
    html
}

const STYLE: &str = "\
:root {
  --paper: #ffffff; --ink: #1b1f24; --faint: #5c6570; --line: #d5dae0; --panel: #f4f6f8; --here: #fff3c4;
  --operand: #ffd9b8; --address: #ffc4c4; --condition: #d9d2ff; --register: #c9e8ff; --memory: #c8efd4;
  --control: #f5cdea; --unit: #dfe3a8; --other: #e6e9ed;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e4e7ea; --faint: #9aa4af; --line: #363c43; --panel: #1e2226; --here: #4a431c;
    --operand: #6b4118; --address: #6e2b2b; --condition: #443a78; --register: #1f4a66; --memory: #215236;
    --control: #63305a; --unit: #53561c; --other: #343a41;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.45 system-ui, sans-serif; padding-bottom: 15rem; }
header, main, .loops { padding: 0.6rem 1rem; }
h1 { font-size: 1.35rem; margin: 0.2rem 0; }
h2 { font-size: 0.9rem; color: var(--faint); margin: 0.4rem 0; font-weight: 600; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 0.5rem 0 0.2rem; }
p { margin: 0.25rem 0; }
main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1rem; }
.side { overflow-x: auto; }
.code { list-style: none; margin: 0; padding: 0; font: 0.85rem/1.5 ui-monospace, monospace; }
.code li { white-space: pre; }
.code code { font: inherit; }
.source { padding: 0 0.3rem; }
.gap { border-top: 1px dashed var(--line); }
.here, .here .plain { background: var(--here); }
.n { display: inline-block; width: 3rem; text-align: right; padding-right: 0.7rem; color: var(--faint); user-select: none; }
.wait { display: inline-block; width: 2rem; font-weight: 700; }
.at { padding-right: 0.7rem; }
.asm button, .plain { display: block; width: 100%; text-align: left; font: inherit; color: inherit; padding: 0 0.3rem; border: 0; border-radius: 3px; }
.asm button { cursor: pointer; background: var(--other); margin: 1px 0; }
.asm button[aria-expanded=true], .asm button:focus-visible { outline: 2px solid var(--ink); outline-offset: -2px; }
.key { padding: 0 0.5rem; border-radius: 3px; font-size: 0.85rem; display: inline-block; margin-right: 0.3rem; }
.operand, .asm button.operand { background: var(--operand); } .address, .asm button.address { background: var(--address); }
.condition, .asm button.condition { background: var(--condition); } .register, .asm button.register { background: var(--register); }
.memory, .asm button.memory { background: var(--memory); } .control, .asm button.control { background: var(--control); }
.unit, .asm button.unit { background: var(--unit); } .other { background: var(--other); }
.kind { font-weight: 400; font-size: 0.8rem; color: var(--faint); border: 1px solid var(--line); border-radius: 4px; padding: 0 0.3rem; }
#explanation { position: fixed; left: 0; right: 0; bottom: 0; max-height: 15rem; overflow-y: auto; background: var(--panel);
  border-top: 1px solid var(--line); padding: 0.4rem 1rem 0.8rem; overflow-wrap: anywhere; }
#explanation code { font-size: 0.9em; }
@media (max-width: 46rem) { main { grid-template-columns: minmax(0, 1fr); } }
";

/// A click shows what was found and marks the instructions and the line that belong together.
const SCRIPT: &str = "\
'use strict';
const panel = document.getElementById('explanation');
const buttons = [...document.querySelectorAll('.asm button')];
const rows = [...document.querySelectorAll('[data-place]')];
function show(button) {
  panel.replaceChildren(document.getElementById('found-' + button.dataset.idx).content.cloneNode(true));
  for (const it of buttons) it.setAttribute('aria-expanded', String(it === button));
  const place = button.parentElement.dataset.place;
  for (const it of rows) it.classList.toggle('here', place !== '' && it.dataset.place === place);
  const line = rows.find(it => it.classList.contains('source') && it.dataset.place === place);
  if (line) line.scrollIntoView({block: 'nearest'});
}
for (const it of buttons) it.addEventListener('click', () => show(it));
";
