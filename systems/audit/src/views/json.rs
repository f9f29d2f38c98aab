//! An audit as JSON, with keys that stay.

use serde_json::{Value, json};

use crate::audit::Audit;
use crate::facts::cases::Computed;
use crate::finding::Finding;
use crate::views::loops;
use crate::views::text::View;

/// The audit as one object.
pub fn json(audit: &Audit, view: &View) -> Value {
    let cycles = audit.timed.as_ref().map(|it| &it.cycles);
    let limit = view.limit.unwrap_or(usize::MAX);
    let findings: Vec<Value> = audit.findings.iter().take(limit).map(|it| finding(audit, it, view)).collect();
    json!({
        "ok": true,
        "function": audit.function.name,
        "cpu": audit.cpu,
        "kind": "model",
        "instructions": audit.function.instructions.len(),
        "hot_instructions": audit.trace.places.len(),
        "path": audit.path,
        "issue_cycles": cycles.map(|it| it.issue_cycles),
        "stall_cycles": cycles.map(|it| it.stall_cycles),
        "total_cycles": cycles.map(|it| it.total_cycles),
        "lower_bound": cycles.map(|it| it.lower_bound),
        "best_cycles": cycles.map(|it| it.best_cycles),
        "is_optimal": cycles.map(|it| it.is_optimal),
        "one_row": audit.timed.as_ref().map(|it| it.n_one_row),
        "loops": loops::json(audit),
        "computed_jumps": match Computed::of(&audit.function) {
            Computed::None => 0,
            Computed::One(..) => 1,
            Computed::Several(n, _) => n,
        },
        "conditions": audit.timed.as_ref().map(|it| &it.conditions),
        "beyond_c": audit.timed.as_ref().and_then(|it| it.beyond_c),
        "no_lines": audit.missing_lines,
        "patched": audit.function.tables.counts(),
        "unread_tables": audit.function.tables.unread,
        "undecodable": audit.undecodable.iter().map(ToString::to_string).collect::<Vec<_>>(),
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
        "cycles": finding.cycles,
        "fill": finding.fill,
        "file": frame.map(|it| &it.file),
        "line": frame.map(|it| it.line),
        "inline_stack": audit.function.frames[finding.idx],
        "disputed": finding.disputed,
        "prevents": finding.prevents,
        "edit": finding.edit.as_ref().map(|it| json!({"text": it.text, "verified": it.patch.is_some(), "tried": it.tried, "patch": it.patch})),
    })
}
