//! The least time of executed instructions beside what was measured: the cells and lines of `speed`
//! and `backends`.

use std::collections::BTreeSet;

use report::Cell;
use serde_json::Value;

/// The bound of a row of JSON, and measured by bound; `-` where there is none.
pub fn cells(measured: Option<f64>, bound: Option<&Value>) -> [Cell; 2] {
    let bound = bound.and_then(|bound| bound["bound_cycles_per_byte"].as_f64());
    [bound, measured.zip(bound).map(|(measured, bound)| measured / bound)]
        .map(|it| Cell::number(it.map_or("-".to_owned(), |it| format!("{it:.2}"))))
}

/// What the bounds are, whose instructions they are of, and why some are not known.
pub fn about(bounds: &[&Value], whose: &str, core_cycles_per_tick: f64) -> Vec<String> {
    let mut lines = Vec::new();
    if bounds.iter().any(|bound| bound["bound_cycles_per_byte"].is_f64()) {
        lines.push(format!(
            "bound: least time-stamp cycles a byte for the instructions that {whose} executes; {core_cycles_per_tick:.2} core cycles in one"
        ));
    }
    let why: BTreeSet<&str> =
        bounds.iter().filter_map(|bound| bound["bound_missing"].as_str()).collect();
    lines.extend(why.into_iter().map(|found| format!("no bound (-): {found}")));
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bound_is_shown_with_how_far_above_it_the_measured_is_and_none_with_its_reason() {
        let known = json!({"bound_cycles_per_byte": 1.5, "bound_by": "st0"});
        let unknown =
            json!({"bound_cycles_per_byte": null, "bound_missing": "no machine file describes it"});
        let text = |cells: [Cell; 2]| cells.map(|cell| cell.text);
        assert_eq!(text(cells(Some(3.0), Some(&known))), ["1.50", "2.00"]);
        assert_eq!(text(cells(Some(3.0), Some(&unknown))), ["-", "-"]);
        assert_eq!(text(cells(None, None)), ["-", "-"]);
        let lines = about(&[&known, &unknown, &unknown], "each", 1.25);
        assert_eq!(
            lines[0],
            "bound: least time-stamp cycles a byte for the instructions that each executes; 1.25 core cycles in one"
        );
        assert_eq!(lines[1..], ["no bound (-): no machine file describes it"]);
    }
}
