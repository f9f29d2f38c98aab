//! An audit as JSON, with keys that stay.

use serde_json::{Value, json};

use crate::audit::Audit;
use crate::facts::cases::Computed;
use crate::finding::Finding;
use crate::views::text::View;
use crate::views::{limits, loops};

/// The audit as one object.
pub fn json(audit: &Audit, view: &View) -> Value {
    let cycles = audit.timed.as_ref().map(|timed| &timed.cycles);
    let limit = view.limit.unwrap_or(usize::MAX);
    let findings: Vec<Value> =
        audit.findings.iter().take(limit).map(|of_frame| finding(audit, of_frame, view)).collect();
    json!({
        "ok": true,
        "function": audit.function.name,
        "cpu": audit.cpu,
        "kind": "model",
        "instructions": audit.function.instructions.len(),
        "hot_instructions": audit.trace.places.len(),
        "path": audit.path,
        "issue_cycles": cycles.map(|cycle| cycle.issue_cycles),
        "stall_cycles": cycles.map(|cycle| cycle.stall_cycles),
        "total_cycles": cycles.map(|cycle| cycle.total_cycles),
        "lower_bound": cycles.map(|cycle| cycle.lower_bound),
        "best_cycles": cycles.map(|cycle| cycle.best_cycles),
        "is_optimal": cycles.map(|cycle| cycle.is_optimal),
        "one_row": audit.timed.as_ref().map(|timed| timed.n_one_row),
        "loops": loops::json(audit),
        "limits": limits::json(audit),
        "computed_jumps": Computed::of(&audit.function).n_jumps(),
        "conditions": audit.timed.as_ref().map(|timed| &timed.conditions),
        "beyond_c": audit.timed.as_ref().and_then(|timed| timed.beyond_c),
        "no_lines": audit.missing_lines,
        "patched": audit.function.tables.counts(),
        "unread_tables": audit.function.tables.unread,
        "undecodable": audit.undecodable.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "not_listed": audit.moot,
        "findings": findings,
    })
}

fn finding(audit: &Audit, finding: &Finding, view: &View) -> Value {
    let frame = audit.frame(finding.idx, view.pivot.as_deref());
    json!({
        "address": audit.function.instructions[finding.idx].address,
        "kind": finding.kind,
        "instruction": finding.instruction,
        "for": finding.why,
        "cycles": audit.timed.as_ref().map(|_| finding.cycles),
        "fill": finding.fill,
        "file": frame.map(|frame| &frame.file),
        "line": frame.map(|frame| frame.line),
        "inline_stack": audit.function.frames[finding.idx],
        "disputed": finding.disputed,
        "prevents": finding.prevents,
        "ways": finding.ways.iter().map(|way| way.name()).collect::<Vec<_>>(),
        "tried": finding.tried,
        "edit": finding.edit.as_ref().map(|edit| json!({"text": edit.text, "verified": true, "gain": edit.gain, "if": edit.promise, "behaviour": edit.behaviour, "patch": edit.patch})),
    })
}
