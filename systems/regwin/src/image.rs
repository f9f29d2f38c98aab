//! Door: compiles the runtime with a program for SPARC, and the counting plugin for this machine.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use measure::cache::{self, Key};
use measure::tool::{self, ToolError};

use crate::library::{self, CLANG, GCC, LINK, Options, RUNTIME, files};
use crate::names::{Allocate, Cc, Schedule, Scheme, Variant};

/// What runs on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Program {
    Spell,
    /// Threads that a table describes.
    Scenario,
    /// What RTOS people measure.
    Rtos,
}

/// What makes one image different from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Recipe {
    pub program: Program,
    pub scheme: Scheme,
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
        Recipe {
            program,
            scheme,
            schedule,
            cc: Cc::Gcc,
            allocate: Allocate::Simple,
            variant: Variant::Plain,
        }
    }
}

const SPELL: &[(&str, &str)] = files!("spell":
    "main.c", "files.c", "filters.c", "delatex.c", "derive.c", "dictionary.c", "words.c", "spell.h", "inputs.h");
const SCENARIO: &[(&str, &str)] = files!("scenario": "main.c");
const RTOS: &[(&str, &str)] = files!("bench": "main.c");
const PLUGIN: &str = include_str!("../plugin/count.c");

const COMPILE_LIMIT: Duration = Duration::from_secs(120);

/// The options of the runtime that a recipe links, and more macros.
fn options(recipe: &Recipe) -> (Options, Vec<String>) {
    let mut options = Options::new(recipe.scheme);
    options.working_set = recipe.schedule == Schedule::WorkingSet;
    options.priorities = recipe.schedule == Schedule::Priorities;
    options.preempt = matches!(recipe.variant, Variant::Preempt | Variant::Float);
    options.fpu = matches!(recipe.variant, Variant::Float | Variant::Fpu);
    options.unchecked = !options.preempt && recipe.variant != Variant::Checked;
    let allocate = match recipe.allocate {
        Allocate::Simple => None,
        Allocate::Search => Some("ALLOCATE_SEARCH"),
        Allocate::Lru => Some("ALLOCATE_LRU"),
    };
    let variant = match recipe.variant {
        Variant::Plain
        | Variant::NoPeephole
        | Variant::Checked
        | Variant::Preempt
        | Variant::Float
        | Variant::Fpu => None,
        Variant::CopyAll => Some("UNDERFLOW_COPIES_ALL"),
        Variant::TwoATrap => Some("WINDOWS_A_TRAP=2"),
        Variant::FourATrap => Some("WINDOWS_A_TRAP=4"),
    };
    (options, allocate.into_iter().chain(variant).map(str::to_owned).collect())
}

/// What images and the plugin are kept as.
const SYSTEM: &str = "regwin";

/// The linked image of a recipe: its path in the cache.
pub fn build(recipe: &Recipe) -> Result<PathBuf, ToolError> {
    let (options, macros) = options(recipe);
    build_with(recipe, &options, &macros)
}

/// An image with the library of these options: its path in the cache.
pub fn build_library(options: &Options) -> Result<PathBuf, ToolError> {
    let recipe = Recipe::new(Program::Scenario, options.scheme, Schedule::Fifo);
    build_with(&recipe, options, &[])
}

fn build_with(recipe: &Recipe, options: &Options, macros: &[String]) -> Result<PathBuf, ToolError> {
    let program = match recipe.program {
        Program::Spell => SPELL,
        Program::Scenario => SCENARIO,
        Program::Rtos => RTOS,
    };
    let of_tools = Key::default().with(format!("{recipe:?} {options:?}")).with(version(GCC)?);
    let of_tools = if recipe.cc == Cc::Clang { of_tools.with(version(CLANG)?) } else { of_tools };
    let key =
        RUNTIME.iter().chain(program).fold(of_tools, |key, (name, text)| key.with(name).with(text));
    cache::kept(SYSTEM, key, ".elf", |scratch, made| {
        for (name, text) in RUNTIME.iter().chain(program) {
            cache::write(&scratch.join(name), text)?;
        }
        cache::write(
            &scratch.join("regwin_options.h"),
            library::options_header(&[options.defines(), macros.to_vec()].concat()),
        )?;
        let more: &[&str] = match recipe.program {
            Program::Spell => &[],
            Program::Scenario => &["semaphores.c", "mutex.c"],
            Program::Rtos => &["semaphores.c", "mutex.c", "queues.c", "pools.c"],
        };
        let more = more.iter().copied().filter(|word| !options.sources().contains(word));
        let sources =
            more.chain(program.iter().map(|pair| pair.0).filter(|text| text.ends_with(".c")));
        let mut objects = Vec::new();
        for name in options.sources().into_iter().chain(sources) {
            let object = format!("{}-{name}.o", objects.len());
            let compile = |from: &str, what: &str, to: &str| {
                let mut command = compiler(recipe, from);
                command.current_dir(scratch).args(["-I.", what, from, "-o", to]);
                tool::run(&mut command, b"", COMPILE_LIMIT)?.ok()
            };
            if recipe.variant == Variant::NoPeephole && name.ends_with(".c") {
                let text = scratch.join("plain.s");
                compile(name, "-S", "plain.s")?;
                let failed = |error: std::io::Error| ToolError {
                    ran: format!("read {}", text.display()),
                    said: error.to_string(),
                };
                cache::write(&text, adds_apart(&std::fs::read_to_string(&text).map_err(failed)?))?;
                compile("plain.s", "-c", &object)?;
            } else {
                compile(name, "-c", &object)?;
            }
            objects.push(object);
        }
        let mut link = Command::new("sparc64-linux-gnu-ld");
        link.current_dir(scratch).args(LINK).args(["-T", "link.ld", "-o"]);
        link.arg(made).args(&objects);
        tool::run(&mut link, b"", COMPILE_LIMIT)?.ok()?;
        Ok(())
    })
}

/// Assembly in which a `restore` after a return adds nothing: the addition
/// comes before the return.
fn adds_apart(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let operands = line
            .trim()
            .strip_prefix("restore")
            .map(|rest| rest.split(',').map(str::trim).collect::<Vec<_>>());
        match (operands.as_deref(), lines.last().is_some_and(|line| line.trim().starts_with("jmp")))
        {
            (Some([a, b, to]), true) if to.starts_with("%o") => {
                let jump = lines.pop().expect("there is a line");
                lines.extend([
                    format!("\tadd {a}, {b}, {}", to.replace("%o", "%i")),
                    jump,
                    "\trestore".to_owned(),
                ]);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

/// The compiler with its flags, for a file of this name.
fn compiler(recipe: &Recipe, name: &str) -> Command {
    let is_c = name.ends_with(".c");
    let cc = if is_c { recipe.cc } else { Cc::Gcc };
    let mut command = Command::new(if cc == Cc::Clang { CLANG } else { GCC });
    command.args(library::c_flags(cc)).args(["-O2", "-std=gnu11", "-Wall", "-Wextra"]);
    if is_c && recipe.scheme == Scheme::Flat {
        command.arg("-mflat");
    }
    command
}

/// The counting plugin: its path in the cache.
pub fn plugin() -> Result<PathBuf, ToolError> {
    cache::kept(
        SYSTEM,
        Key::default().with(version("gcc")?).with(PLUGIN),
        ".so",
        |scratch, made| {
            cache::write(&scratch.join("count.c"), PLUGIN)?;
            let mut command = Command::new("gcc");
            command
                .current_dir(scratch)
                .args(["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "count.c", "-o"])
                .arg(made);
            tool::run(&mut command, b"", COMPILE_LIMIT)?.ok()?;
            Ok(())
        },
    )
}

fn version(program: &str) -> Result<String, ToolError> {
    measure::machine::version(program, &["--version"])
}
