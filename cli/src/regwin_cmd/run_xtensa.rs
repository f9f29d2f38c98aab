//! `meanwhile regwin run` of an image for Xtensa: on QEMU, which counts instructions.

use regwin::xtensa::image::{self, XtensaImage};
use regwin::xtensa::qemu::{self, OVERFLOWS, UNDERFLOWS, XtensaRun};
use report::{Cell, Kind, Table};
use serde_json::json;

use super::counts::On;
use super::run::{Args, BoardArgs, bytes, complaints_of_library, refused};
use crate::output::{Failure, Output};

/// Windows as the option has them by default, which say nothing here.
const WINDOWS: u32 = 8;

/// True if the image is one for Xtensa.
pub fn is_for(args: &Args) -> bool {
    std::fs::read(&args.board.image).is_ok_and(|bytes| image::is_xtensa(&bytes))
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let (on, args) = (args.on, &args.board);
    let path = &args.image;
    let image = XtensaImage::parse(&bytes(path)?).map_err(|refusal| refused(path, refusal))?;
    if on == Some(On::Sim) {
        let message = format!("{}: the simulator is for SPARC; this is for Xtensa", path.display());
        return Err(Failure::user(message, Some("leave --on out: QEMU runs it")));
    }
    if args.windows != WINDOWS {
        let message = format!(
            "{}: QEMU's {} has 32 registers, no other number",
            path.display(),
            image.core.name()
        );
        return Err(Failure::user(message, Some("leave --windows out")));
    }
    let run = qemu::run(path, &image, args.limit.get()).map_err(Failure::tool)?;
    let mut wrong = Vec::new();
    if image.vectors.is_some() {
        wrong.extend(complaints_of_library(&run.console));
    }
    if run.at_limit && !args.limit.is_given() {
        let text = format!("it was still running after {} instructions", args.limit.get());
        wrong.push(report::Diagnostic::new(text).with_help("give --limit N if it never ends"));
    }
    if run.status != 0 {
        wrong.push(report::Diagnostic::new(format!("it ended itself with status {}", run.status)));
    }
    show(args, &image, &run, wrong.is_empty(), out);
    if wrong.is_empty() { Ok(()) } else { Err(Failure::User(wrong)) }
}

/// Overflows or underflows by the size of the call, of an image with our library.
fn exceptions(image: &XtensaImage, run: &XtensaRun, offsets: [u32; 3]) -> Option<[u64; 3]> {
    image.vectors?;
    Some(offsets.map(|offset| run.vector(image, offset).unwrap_or(0)))
}

fn show(args: &BoardArgs, image: &XtensaImage, run: &XtensaRun, is_ok: bool, out: &mut Output) {
    out.text(&run.console);
    if !run.console.is_empty() && !run.console.ends_with('\n') {
        out.line("");
    }
    let title = format!("{}: {}, 32 registers", args.image.display(), image.core.name());
    let mut table = Table::new(title, &["counted", "number"]).kind(Kind::Sim).note(
        "instructions under QEMU, those that a window exception interrupts once more; no cycles",
    );
    let mut row = |name: String, number: u64| {
        table.push(vec![Cell::words(name), Cell::number(number)]);
    };
    row("instructions".to_owned(), run.instructions());
    let overflows = exceptions(image, run, OVERFLOWS);
    let underflows = exceptions(image, run, UNDERFLOWS);
    for (what, found) in [("overflows", overflows), ("underflows", underflows)] {
        for (size, number) in [4, 8, 12].into_iter().zip(found.into_iter().flatten()) {
            row(format!("window {what}, call{size}"), number);
        }
    }
    out.text(&table.terminal(None));
    if image.vectors.is_none() {
        out.line("It is not linked with the library of `regwin build`: where its window exceptions go is not known.");
    }
    let ended = if run.at_limit { "limit" } else { "stopped" };
    out.object(&json!({
        "ok": is_ok,
        "image": args.image.display().to_string(),
        "target": "xtensa",
        "core": image.core.name(),
        "registers": 32,
        "on": ["qemu"],
        "ended": ended,
        "status": run.status,
        "console": run.console,
        "instructions": run.instructions(),
        "overflows": overflows,
        "underflows": underflows,
        "cycles": null,
    }));
}
