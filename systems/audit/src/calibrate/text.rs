//! The machine file of a fitted core, with the source of each row and all chains behind it.

use std::fmt::Write;

use machine::in_order::{Class, Core};

use super::fit::{Fit, Residual};

/// The core with the sources of its rows, and its file.
pub fn file(
    name: &str,
    fit: &Fit<'_>,
    mut core: Core,
    nearest: &Core,
    residuals: &[Residual],
) -> (Core, String) {
    let title = "a calibrated core";
    core.name = "my-core".to_owned();
    core.title = format!("{title}, begun as {}", nearest.name);
    let begun = nearest.nearest.clone().unwrap_or(nearest.name.clone());
    core.nearest = Some(begun);
    core.source = format!(
        "calibrated: {} chains of `{name}`, by `meanwhile audit calibrate` from {}",
        residuals.len(),
        nearest.name
    );
    (core.beliefs, core.disputes, core.identity) = (Vec::new(), Vec::new(), None);
    let (measured, likenesses) = (fit.classes(), fit.likenesses());
    for class in Class::ALL {
        let source = if measured.contains(&class) {
            let n = fit.chains_of(class).count();
            format!("calibrated: {n} chains of `{name}`; what they do not show as {}", nearest.name)
        } else if let Some(like) = likenesses.get(&class) {
            format!("not measured: as {}, which had the same row in {}", like.name(), nearest.name)
        } else {
            format!("not measured: as {}: {}", nearest.name, nearest.work(class).source)
        };
        core.set_source(class, &source);
    }
    let mut text = core.text();
    text.push_str("\n# Cycles a step, measured and by this file; * where they differ.\n");
    for it in residuals {
        let mark = if it.is_near() { "" } else { " *" };
        let _ = writeln!(text, "# {:<40} {:>7.2} {:>7.2}{mark}", it.chain, it.measured, it.model);
    }
    (core, text)
}
