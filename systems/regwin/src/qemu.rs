//! Door: runs an image on QEMU's LEON3, with or without the counting plugin.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use machine::in_order::{Class, Core};
use measure::tool::{self, ToolError};

use crate::board::image::Image;
use crate::code::{self, Code};
use crate::image;
use crate::sparc::{self, Control};

/// Bytes that are in memory before the first instruction.
#[derive(Debug, Clone)]
pub struct Blob {
    pub address: u32,
    pub bytes: Vec<u8>,
}

/// What a machine did.
#[derive(Debug, Clone, Default)]
pub struct Raw {
    /// What it wrote on the console.
    pub console: String,
    /// How often each word was executed: address, times.
    pub words: Vec<(u32, u64)>,
    /// Threads switched to, by the address that the switch reads.
    pub loads: Vec<(u32, u64)>,
    /// Of each watch its spans: cycles by machine, windows stored and loaded, times. Without a
    /// watch, those of switches.
    pub spans: Vec<Vec<Span>>,
    /// Where traps went: trap tables.
    pub tables: Vec<u32>,
    /// It was ended after as many instructions as it was given.
    pub at_limit: bool,
}

/// Switches of equal cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    pub spilled: u32,
    pub restored: u32,
    /// Cycles on each of the two machines.
    pub cycles: [u32; 2],
    pub times: u64,
}

/// A machine that runs longer than so many seconds does not stop; `MEANWHILE_QEMU_LIMIT` is
/// another number of them.
const LIMIT_S: u64 = 120;

/// How long a machine may run.
pub(crate) fn limit() -> Duration {
    let limit_s = std::env::var("MEANWHILE_QEMU_LIMIT").ok().and_then(|value| value.parse().ok());
    Duration::from_secs(limit_s.unwrap_or(LIMIT_S))
}

/// Bits of the plugin's word table, as in `plugin/count.c`.
pub(crate) mod bit {
    pub const TRAPS: u32 = 1;
    pub const SUM: u32 = 1 << 1;
    pub const ENTRY: u32 = 1 << 2;
    pub const LOAD: u32 = 1 << 3;
    pub const STORES: u32 = 1 << 4;
    pub const LOADS: u32 = 1 << 5;
    pub const START: u32 = 1 << 6;
    pub const STOP: u32 = 1 << 7;
    pub const LEAVE: u32 = 1 << 24;
    pub const JUMPS: u32 = 1 << 25;
    pub const HALTS: u32 = 1 << 26;
}

/// Runs an image with `windows` windows; counts, if `machines` are given. With `icount`, its
/// clock goes a nanosecond an instruction, so that interrupts come at the same place in each run.
pub fn run(
    image: &Path,
    code: &Code,
    windows: u32,
    blobs: &[Blob],
    machines: Option<[&Core; 2]>,
    icount: bool,
) -> Result<Raw, ToolError> {
    let table = machines.map(|machine| word_table(code, machine));
    let tables = Tables { tables: table.as_slice(), targets: &[], icount, limit: 0, n_stops: 1 };
    start(image, code.base, windows, blobs, &tables)
}

/// Runs any image for at most `limit` instructions, or until one at `stop` is
/// reached so many times; counts how
/// often each word is executed, and finds the trap tables.
pub fn run_image(
    path: &Path,
    image: &Image,
    windows: u32,
    limit: u64,
    stop: Option<(u32, u64)>,
) -> Result<Raw, ToolError> {
    let entry = |at: u32| {
        let word = image.word(at).unwrap_or(0);
        let mut bits = 0;
        let mut set = |flag: bool, bit: u32| bits |= if flag { bit } else { 0 };
        set(sparc::control(word, at) != Control::Next, bit::JUMPS);
        let system = sparc::class(word) == Class::System;
        set(sparc::may_trap(word) || sparc::is_memory(word) || system, bit::TRAPS);
        set(stop.is_some_and(|stop| stop.0 == at), bit::STOP);
        set(word == TA_0, bit::HALTS);
        bits
    };
    let target = |at: u32| match sparc::control(image.word(at).unwrap_or(0), at) {
        Control::Branch { target, .. } | Control::Call { target }
            if image.code.contains(&target) =>
        {
            (target - image.code.start) / 4
        }
        _ => 0,
    };
    let table: Vec<u32> = image.code.clone().step_by(4).map(entry).collect();
    let targets: Vec<u32> = image.code.clone().step_by(4).map(target).collect();
    let n_stops = stop.map_or(1, |stop| stop.1);
    let tables = Tables { tables: &[table], targets: &targets, icount: true, limit, n_stops };
    start(path, image.code.start, windows, &[], &tables)
}

/// `ta 0`, which ends the machine when traps are off.
const TA_0: u32 = 0x91d0_2000;

/// What the plugin is told to count.
struct Tables<'a> {
    /// What the plugin knows of each word.
    tables: &'a [Vec<u32>],
    /// Where branches lead, of a whole image: the number of the word, or 0.
    targets: &'a [u32],
    icount: bool,
    /// Of a whole image, in instructions; 0 if something else ends it.
    limit: u64,
    /// How often the place is reached where a whole image ends.
    n_stops: u64,
}

/// What is a span of a run: from one of some instructions to the next of them, or to one of others,
/// before which it ends.
#[derive(Debug, Clone)]
pub struct Watch {
    /// The addresses at which a span begins.
    pub begins: Vec<u32>,
    /// The addresses that end one.
    pub ends: Vec<u32>,
    /// What counts in between, taken traps included; everything, if not given.
    pub words: Option<HashSet<u32>>,
}

/// Runs an image once, of which the spans of each watch are counted.
pub fn run_watched(
    image: &Path,
    code: &Code,
    windows: u32,
    blobs: &[Blob],
    machines: [&Core; 2],
    watches: &[Watch],
) -> Result<Raw, ToolError> {
    let tables: Vec<Vec<u32>> =
        watches.iter().map(|watch| watch_table(code, machines, watch)).collect();
    let tables = Tables { tables: &tables, targets: &[], icount: true, limit: 0, n_stops: 1 };
    start(image, code.base, windows, blobs, &tables)
}

/// Runs an image in which all that is executed between `mark_begin` and the next mark is a
/// span, taken traps included.
pub fn run_marked(
    image: &Path,
    code: &Code,
    windows: u32,
    blobs: &[Blob],
    machines: [&Core; 2],
) -> Result<Raw, ToolError> {
    let watch = Watch {
        begins: vec![code.address("mark_begin")],
        ends: vec![code.address("mark_end"), code.address("machine_idle")],
        words: None,
    };
    run_watched(image, code, windows, blobs, machines, &[watch])
}

/// Runs an image; counts what the tables say of each word, the spans of each table by themselves.
fn start(
    image: &Path,
    base: u32,
    windows: u32,
    blobs: &[Blob],
    counted: &Tables,
) -> Result<Raw, ToolError> {
    let tables = counted.tables;
    let failed = |error: std::io::Error| ToolError {
        ran: "write the inputs of a run".to_owned(),
        said: error.to_string(),
    };
    let scratch = measure::scratch::folder().map_err(failed)?;
    let mut command = Command::new("qemu-system-sparc");
    command.args(["-M", "leon3_generic", "-cpu", &format!("LEON3,nwindows={windows}")]);
    command.args(["-nographic", "-monitor", "none", "-serial", "stdio", "-kernel"]).arg(image);
    for (idx, blob) in blobs.iter().enumerate() {
        let path = scratch.path().join(format!("blob{idx}"));
        std::fs::write(&path, &blob.bytes).map_err(failed)?;
        command.args([
            "-device",
            &format!("loader,addr={:#x},file={},force-raw=on", blob.address, path.display()),
        ]);
    }
    if counted.icount {
        command.args(["-icount", "shift=0"]);
    }
    let out = scratch.path().join("counts");
    if !tables.is_empty() {
        let write = |name: &str, numbers: Vec<u8>| {
            let path = scratch.path().join(name);
            std::fs::write(&path, numbers).map_err(failed).map(|()| path)
        };
        let bytes = |numbers: &[u32]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        let words = write("words", bytes(&tables.concat()))?;
        let plugin = image::plugin()?;
        let [plugin, words, out] = [&plugin, &words, &out].map(|path| path.display());
        let mut arguments =
            format!("{plugin},words={words},base={base:#x},watches={},out={out}", tables.len());
        if counted.limit > 0 {
            let targets = write("targets", bytes(counted.targets))?;
            arguments += &format!(
                ",limit={},stops={},targets={}",
                counted.limit,
                counted.n_stops,
                targets.display()
            );
        }
        command.args(["-plugin", &arguments]);
    }
    let ran = tool::run(&mut command, b"", limit())?.ok()?;
    let mut raw =
        Raw { console: ran.text(), spans: vec![Vec::new(); tables.len()], ..Raw::default() };
    if !tables.is_empty() {
        let text = std::fs::read_to_string(&out)
            .map_err(|error| ToolError { ran: ran.command.clone(), said: error.to_string() })?;
        let broken = |line: &str| ToolError {
            ran: ran.command.clone(),
            said: format!("the plugin wrote `{line}`"),
        };
        for line in text.lines() {
            read_line(line, &mut raw).ok_or_else(|| broken(line))?;
        }
    }
    Ok(raw)
}

/// One line of the plugin; `None` if it is none.
pub(crate) fn read_line(line: &str, raw: &mut Raw) -> Option<()> {
    let mut fields = line.split(' ');
    let kind = fields.next()?;
    let numbers: Vec<u64> =
        fields.map(|field| u64::from_str_radix(field, 16)).collect::<Result<_, _>>().ok()?;
    match (kind, numbers.as_slice()) {
        ("count", [address, times]) => raw.words.push((*address as u32, *times)),
        ("table", [address]) => raw.tables.push(*address as u32),
        ("limit", [_]) => raw.at_limit = true,
        ("load", [address, times]) => raw.loads.push((*address as u32, *times)),
        ("span", [watch, cost0, cost1, spilled, restored, times]) => {
            raw.spans.get_mut(*watch as usize)?.push(Span {
                cycles: [*cost0 as u32, *cost1 as u32],
                spilled: *spilled as u32,
                restored: *restored as u32,
                times: *times,
            })
        }
        _ => return None,
    }
    Some(())
}

/// What the plugin has to know about each word.
fn word_table(code: &Code, machines: [&Core; 2]) -> Vec<u32> {
    let entries = [code.switch("leave"), code.switch("flush"), code.address("thr_leave")];
    // Where a switch reads the record of the thread that it goes to.
    let is_load = |name: &str, at: u32| name.starts_with("thr_to") && code.switches.contains(&at);
    let loads: Vec<u32> = code
        .symbols
        .iter()
        .filter(|(name, (at, _))| is_load(name, *at))
        .map(|symbol| symbol.1.0)
        .collect();
    let (start, stop) = (code.address("thr_leave"), code.address("machine_idle"));
    let entry = |(idx, word): (usize, &u32)| {
        let at = code.address_of(idx);
        let mut bits = 0;
        let mut set = |flag: bool, bit: u32| bits |= if flag { bit } else { 0 };
        set(sparc::may_trap(*word), bit::TRAPS);
        set(code.switches.contains(&at), bit::SUM);
        set(entries.contains(&at), bit::ENTRY);
        set(loads.contains(&at), bit::LOAD);
        set(sparc::stores_window(*word), bit::STORES);
        set(sparc::loads_window(*word), bit::LOADS);
        set(at == start, bit::START);
        set(at == stop, bit::STOP);
        let [cost0, cost1] = machines.map(|machine| code::cycles(*word, machine) as u32);
        bits | cost0 << 8 | cost1 << 16
    };
    code.words.iter().enumerate().map(entry).collect()
}

/// The same for spans.
fn watch_table(code: &Code, machines: [&Core; 2], watch: &Watch) -> Vec<u32> {
    let tables: Vec<u32> = ["trap_table", "trap_table_lone"]
        .iter()
        .filter_map(|word| code.try_address(word))
        .collect();
    let entry = |(idx, word): (usize, &u32)| {
        let at = code.address_of(idx);
        let is_vector = tables.iter().any(|table| {
            (*table..*table + 256 * code::VECTOR_BYTES).contains(&at)
                && (at - table).is_multiple_of(code::VECTOR_BYTES)
        });
        let cost = |core: &Core| {
            code::cycles(*word, core) as u32
                + if is_vector { core.trap_cycles.unwrap_or(0) } else { 0 }
        };
        let mut bits = 0;
        let mut set = |flag: bool, bit: u32| bits |= if flag { bit } else { 0 };
        // Behind an access to a device QEMU begins a block anew, as its clock must be right there.
        set(sparc::may_trap(*word) || sparc::is_memory(*word), bit::TRAPS);
        set(watch.words.as_ref().is_none_or(|word| word.contains(&at)), bit::SUM);
        set(watch.begins.contains(&at), bit::ENTRY);
        set(watch.ends.contains(&at), bit::LEAVE);
        set(sparc::stores_window(*word), bit::STORES);
        set(sparc::loads_window(*word), bit::LOADS);
        let [cost0, cost1] = machines.map(cost);
        bits | cost0 << 8 | cost1 << 16
    };
    code.words.iter().enumerate().map(entry).collect()
}
