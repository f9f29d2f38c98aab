//! Door: runs an image for Xtensa on QEMU's `sim` board, under the counting plugin.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use measure::tool::{self, ToolError};

use super::image::XtensaImage;
use crate::image;
use crate::qemu::{self, Raw, bit};

/// What a run did.
#[derive(Debug, Clone)]
pub struct XtensaRun {
    /// What it wrote on the console.
    pub console: String,
    /// How often each instruction was executed, by address. One that a window exception
    /// interrupts is executed once more.
    pub times: BTreeMap<u32, u64>,
    /// It was ended after as many instructions as it was given.
    pub at_limit: bool,
    /// What it told the host at its end; 0 at the limit.
    pub status: i32,
}

impl XtensaRun {
    /// All instructions, those that were tried once more with each try.
    pub fn instructions(&self) -> u64 {
        self.times.values().sum()
    }

    /// How often the vector at this offset was taken; `None` in an image without our library.
    pub fn vector(&self, image: &XtensaImage, offset: u32) -> Option<u64> {
        Some(self.times.get(&(image.vectors? + offset)).copied().unwrap_or(0))
    }
}

/// Offsets of the vectors: overflow and underflow of call4, call8, call12.
pub const OVERFLOWS: [u32; 3] = [0x00, 0x80, 0x100];
pub const UNDERFLOWS: [u32; 3] = [0x40, 0xc0, 0x140];

/// Runs it for at most `limit` instructions. Its clock goes a nanosecond an instruction.
pub fn run(path: &Path, image: &XtensaImage, limit: u64) -> Result<XtensaRun, ToolError> {
    let failed = |error: std::io::Error| ToolError {
        ran: "write the inputs of a run".to_owned(),
        said: error.to_string(),
    };
    let scratch = measure::scratch::folder().map_err(failed)?;
    let (words, out) = (scratch.path().join("words"), scratch.path().join("counts"));
    // Instructions are of two or three bytes, so each byte has a place; which of them branch
    // need not be known.
    let all: Vec<u8> = image.code.clone().flat_map(|_| bit::JUMPS.to_le_bytes()).collect();
    std::fs::write(&words, all).map_err(failed)?;
    let mut command = Command::new("qemu-system-xtensa");
    command.args(["-M", "sim", "-cpu", image.core.name(), "-semihosting", "-nographic"]);
    command.args(["-monitor", "none", "-serial", "stdio", "-icount", "shift=0", "-kernel"]);
    command.arg(path).arg("-plugin").arg(format!(
        "{},words={},unit=1,base={:#x},limit={limit},out={}",
        image::plugin()?.display(),
        words.display(),
        image.code.start,
        out.display()
    ));
    let ran = tool::run(&mut command, b"", qemu::limit())?;
    // Without counts QEMU itself has failed.
    let Ok(text) = std::fs::read_to_string(&out) else {
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        return Err(ToolError { ran: ran.command, said });
    };
    let mut raw = Raw::default();
    for line in text.lines() {
        qemu::read_line(line, &mut raw).ok_or_else(|| ToolError {
            ran: ran.command.clone(),
            said: format!("the plugin wrote `{line}`"),
        })?;
    }
    Ok(XtensaRun {
        console: ran.text(),
        times: raw.words.into_iter().collect(),
        at_limit: raw.at_limit,
        status: ran.status.code().unwrap_or(-1),
    })
}
