//! Door: compiles the runtime with a program for SPARC, and the counting plugin for this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};
use sha2::{Digest, Sha256};

use crate::names::{Allocate, Cc, Schedule, Scheme, Variant};

/// What runs on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Program {
    /// The spell checker.
    Spell,
    /// Threads that a table describes.
    Scenario,
}

/// What makes one image different from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Recipe {
    /// The program.
    pub program: Program,
    /// The scheme.
    pub scheme: Scheme,
    /// The schedule.
    pub schedule: Schedule,
    /// The compiler of the C files; assembly is always gcc's.
    pub cc: Cc,
    /// Where a thread without windows goes.
    pub allocate: Allocate,
    /// How it departs from the plain build.
    pub variant: Variant,
}

impl Recipe {
    /// Compiled by gcc, simple allocation, plain.
    pub fn new(program: Program, scheme: Scheme, schedule: Schedule) -> Recipe {
        Recipe { program, scheme, schedule, cc: Cc::Gcc, allocate: Allocate::Simple, variant: Variant::Plain }
    }
}

macro_rules! files {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../", $folder, "/", $name)))),+]
    };
}

const RUNTIME: &[(&str, &str)] = files!("runtime":
    "boot.S", "ready.S", "threads.c", "streams.c", "int64.c", "console.c", "regwin.h", "sections.h", "window.h", "link.ld",
    "overflow_ns.S", "underflow_ns.S", "flush_ns.S", "flush_sharing.S", "switch_ns.S", "switch_flat.S",
    "overflow_sharing.S", "underflow_sharing.S", "switch_snp.S", "switch_sp.S", "switch_sharing.h",
    "switch_left.h", "allocate.h", "overflow_begin.h", "registers.h", "preempt.S", "fpu.S",
    "overflow_adaptive.S", "underflow_adaptive.S", "underflow_lone.S", "switch_adaptive.S");
const SPELL: &[(&str, &str)] = files!("spell":
    "main.c", "files.c", "filters.c", "delatex.c", "derive.c", "dictionary.c", "words.c", "spell.h", "inputs.h");
const SCENARIO: &[(&str, &str)] = files!("scenario": "main.c");
const PLUGIN: &str = include_str!("../plugin/count.c");

const COMPILE_LIMIT: Duration = Duration::from_secs(120);
const GCC: &str = "sparc64-linux-gnu-gcc";
const CLANG: &str = "clang-19";

/// The files of the runtime that a recipe links.
fn runtime_files(recipe: &Recipe) -> Vec<&'static str> {
    let ours: &[&str] = match recipe.scheme {
        Scheme::Ns => &["overflow_ns.S", "underflow_ns.S", "flush_ns.S", "switch_ns.S"],
        Scheme::Flat => &["overflow_ns.S", "underflow_ns.S", "flush_ns.S", "switch_flat.S"],
        Scheme::Snp => &["overflow_sharing.S", "underflow_sharing.S", "flush_sharing.S", "switch_snp.S"],
        Scheme::Sp => &["overflow_sharing.S", "underflow_sharing.S", "flush_sharing.S", "switch_sp.S"],
        Scheme::Adaptive => &[
            "overflow_adaptive.S",
            "underflow_adaptive.S",
            "flush_sharing.S",
            "overflow_ns.S",
            "underflow_lone.S",
            "flush_ns.S",
            "switch_adaptive.S",
        ],
    };
    // The trap table comes first in its section, so boot.S comes first.
    let every = ["ready.S", "threads.c", "streams.c", "int64.c", "console.c"];
    let more: &[&str] = match recipe.variant {
        Variant::Plain | Variant::Checked | Variant::CopyAll | Variant::NoPeephole | Variant::TwoATrap | Variant::FourATrap => &[],
        Variant::Preempt => &["preempt.S"],
        Variant::Float => &["preempt.S", "fpu.S"],
    };
    std::iter::once("boot.S").chain(ours.iter().copied()).chain(every).chain(more.iter().copied()).collect()
}

/// Flags for C and assembly alike.
fn flags(recipe: &Recipe) -> Vec<String> {
    let mut flags = vec![format!("-DSCHEME_{}", recipe.scheme.name().to_uppercase())];
    if recipe.schedule == Schedule::WorkingSet {
        flags.push("-DWORKING_SET".to_owned());
    }
    flags.extend(match recipe.allocate {
        Allocate::Simple => None,
        Allocate::Search => Some("-DALLOCATE_SEARCH".to_owned()),
        Allocate::Lru => Some("-DALLOCATE_LRU".to_owned()),
    });
    let more: &[&str] = match recipe.variant {
        Variant::Plain | Variant::NoPeephole => &["-DSTACK_UNCHECKED"],
        Variant::Checked => &[],
        Variant::Preempt => &["-DPREEMPT"],
        Variant::Float => &["-DPREEMPT", "-DFPU"],
        Variant::CopyAll => &["-DSTACK_UNCHECKED", "-DUNDERFLOW_COPIES_ALL"],
        Variant::TwoATrap => &["-DSTACK_UNCHECKED", "-DWINDOWS_A_TRAP=2"],
        Variant::FourATrap => &["-DSTACK_UNCHECKED", "-DWINDOWS_A_TRAP=4"],
    };
    flags.extend(more.iter().map(|it| (*it).to_owned()));
    flags
}

/// The linked image of a recipe: its path in the cache.
pub fn build(recipe: &Recipe) -> Result<PathBuf, ToolError> {
    let program = match recipe.program {
        Program::Spell => SPELL,
        Program::Scenario => SCENARIO,
    };
    let mut hash = Sha256::new();
    hash.update(format!("{recipe:?} {} {}", version(GCC)?, if recipe.cc == Cc::Clang { version(CLANG)? } else { String::new() }));
    for (name, text) in RUNTIME.iter().chain(program) {
        hash.update(format!("{name}\0{text}\0"));
    }
    cached(hash, "elf", |scratch, made| {
        for (name, text) in RUNTIME.iter().chain(program) {
            write(&scratch.join(name), text.as_bytes())?;
        }
        let sources = program.iter().map(|it| it.0).filter(|it| it.ends_with(".c"));
        let mut objects = Vec::new();
        for name in runtime_files(recipe).into_iter().chain(sources) {
            let object = format!("{}-{name}.o", objects.len());
            let compile = |from: &str, what: &str, to: &str| {
                let mut command = compiler(recipe, from);
                command.current_dir(scratch).args(flags(recipe)).args(["-I.", what, from, "-o", to]);
                tool::run(&mut command, b"", COMPILE_LIMIT)?.ok()
            };
            if recipe.variant == Variant::NoPeephole && name.ends_with(".c") {
                let text = scratch.join("plain.s");
                compile(name, "-S", "plain.s")?;
                let failed = |error: std::io::Error| ToolError { ran: format!("read {}", text.display()), said: error.to_string() };
                write(&text, adds_apart(&std::fs::read_to_string(&text).map_err(failed)?).as_bytes())?;
                compile("plain.s", "-c", &object)?;
            } else {
                compile(name, "-c", &object)?;
            }
            objects.push(object);
        }
        let mut link = Command::new("sparc64-linux-gnu-ld");
        link.current_dir(scratch).args(LINK).arg("-o");
        link.arg(made).args(&objects);
        tool::run(&mut link, b"", COMPILE_LIMIT)?.ok()?;
        Ok(())
    })
}

/// Assembly in which a `restore` behind a return adds nothing: the addition comes before the return.
fn adds_apart(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let operands = line.trim().strip_prefix("restore").map(|it| it.split(',').map(str::trim).collect::<Vec<_>>());
        match (operands.as_deref(), lines.last().is_some_and(|it| it.trim().starts_with("jmp"))) {
            (Some([a, b, to]), true) if to.starts_with("%o") => {
                let jump = lines.pop().expect("there is a line");
                lines.extend([format!("\tadd {a}, {b}, {}", to.replace("%o", "%i")), jump, "\trestore".to_owned()]);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

/// How an image is linked, but for its files; the header says the same.
const LINK: [&str; 7] = ["-m", "elf32_sparc", "-T", "link.ld", "-z", "noexecstack", "--build-id=none"];

/// The compiler with its target, for a file of this name; the header says the same of gcc.
fn compiler(recipe: &Recipe, name: &str) -> Command {
    let is_c = name.ends_with(".c");
    // Windows open at the first instruction and close at the last, in every function that has one.
    let shared = ["-O2", "-ffreestanding", "-fno-stack-protector", "-fno-optimize-sibling-calls", "-std=gnu11", "-Wall", "-Wextra"];
    if is_c && recipe.cc == Cc::Clang {
        let mut command = Command::new(CLANG);
        command.args(["--target=sparc-none-elf", "-mcpu=leon3", "-fno-pic"]).args(shared);
        command.args((2..8).map(|it| format!("-ffixed-g{it}")));
        return command;
    }
    let mut command = Command::new(GCC);
    command.args(["-m32", "-mcpu=leon3", "-fno-pic", "-no-pie", "-mno-app-regs", "-ffixed-g5", "-Wa,--noexecstack"]).args(shared);
    // No calls of memset and memcpy that are not written.
    command.args(["-fno-shrink-wrap", "-fno-tree-loop-distribute-patterns"]);
    if is_c && recipe.scheme == Scheme::Flat {
        command.arg("-mflat");
    }
    command
}

/// The counting plugin: its path in the cache.
pub fn plugin() -> Result<PathBuf, ToolError> {
    let mut hash = Sha256::new();
    hash.update(version("gcc")?);
    hash.update(PLUGIN);
    cached(hash, "so", |scratch, made| {
        write(&scratch.join("count.c"), PLUGIN.as_bytes())?;
        let mut command = Command::new("gcc");
        command.current_dir(scratch).args(["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "count.c", "-o"]).arg(made);
        tool::run(&mut command, b"", COMPILE_LIMIT)?.ok()?;
        Ok(())
    })
}

fn version(program: &str) -> Result<String, ToolError> {
    measure::machine::version(program, &["--version"])
}

/// The file of this hash in the cache; made by `make(scratch folder, file)` if it is not there.
fn cached(hash: Sha256, ending: &str, make: impl FnOnce(&Path, &Path) -> Result<(), ToolError>) -> Result<PathBuf, ToolError> {
    let name: String = hash.finalize().iter().take(16).map(|it| format!("{it:02x}")).collect();
    let folder = cache_dir();
    let path = folder.join(format!("{name}.{ending}"));
    if path.exists() {
        return Ok(path);
    }
    let failed = |error: std::io::Error| ToolError { ran: format!("write {}", folder.display()), said: error.to_string() };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let scratch = measure::scratch::folder_in(&folder).map_err(failed)?;
    let made = scratch.path().join(format!("made.{ending}"));
    make(scratch.path(), &made)?;
    std::fs::rename(&made, &path).map_err(failed)?;
    Ok(path)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ToolError> {
    std::fs::write(path, bytes).map_err(|error| ToolError { ran: format!("write {}", path.display()), said: error.to_string() })
}

/// Where compiled images are kept: `$MEANWHILE_CACHE`, else the user's cache folder.
fn cache_dir() -> PathBuf {
    let under = |name: &str, rest: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(|it| PathBuf::from(it).join(rest));
    under("MEANWHILE_CACHE", "regwin")
        .or_else(|| under("XDG_CACHE_HOME", "meanwhile/regwin"))
        .or_else(|| under("HOME", ".cache/meanwhile/regwin"))
        .unwrap_or_else(|| std::env::temp_dir().join("meanwhile-regwin"))
}

#[cfg(test)]
mod header_tests {
    use super::*;

    /// What the header tells people to write is what is built here, but for warnings.
    #[test]
    fn the_header_names_our_flags() {
        let header = RUNTIME.iter().find(|it| it.0 == "regwin.h").expect("the runtime has its header").1;
        let words = |of: &str| -> Vec<String> {
            let lines = header.lines().filter_map(|line| line.trim_start_matches([' ', '*']).strip_prefix(of));
            lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
        };
        let recipe = Recipe::new(Program::Scenario, Scheme::Sp, crate::Schedule::Fifo);
        let command = compiler(&recipe, "threads.c");
        let ours: Vec<String> = command
            .get_args()
            .map(|it| it.to_string_lossy().into_owned())
            .filter(|it| !it.starts_with("-W") || it.starts_with("-Wa,"))
            .collect();
        assert_eq!(words("gcc:"), ours);
        assert_eq!(words("link:"), LINK);
    }
}
