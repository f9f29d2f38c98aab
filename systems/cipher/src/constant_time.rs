//! Door: compiled ciphers under valgrind: no branch and no address may depend on key or data.
//!
//! The test program gets uninitialised memory for keys and data. Memcheck follows each undefined
//! bit through every instruction, and reports a jump, an address or a system call that depends on
//! one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::cache::{self, Key};
use measure::tool::{self, ToolError};
use serde::Serialize;

use crate::emit_c::Arch;
use crate::library::{Primitive, primitives};
use crate::native::{self, Cc};
use crate::options::{Interleave, Slicing, Unroll};
use crate::recipe::Recipe;
use crate::unit::Subject;

/// The compilers to try if none is named.
const COMPILERS: [&str; 8] =
    ["gcc", "gcc-12", "gcc-14", "clang-14", "clang-15", "clang-16", "clang-19", "clang-22"];
/// The optimisation flags to try if none is named.
pub const OPTS: [&str; 4] = ["-O1", "-O2", "-O3", "-Os"];
/// The targets that valgrind can run.
pub fn targets() -> Vec<Arch> {
    Arch::ALL.into_iter().filter(|found| found.row().runs_under_valgrind).collect()
}

/// The time limit of a C compiler for one file, and of valgrind for one run.
const LIMIT: Duration = Duration::from_secs(900);
/// The exit code of valgrind when it has reports.
const FOUND: i32 = 99;

/// The result of valgrind on one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum ConstantTimeVerdict {
    /// Nothing depends on a secret.
    Clean,
    /// A branch, an address or a system call does.
    Depends {
        places: usize,
        /// Valgrind's first report, with the function.
        first: String,
        /// The C that it names lines of.
        text: PathBuf,
    },
}

/// One program to check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Name of the primitive.
    pub primitive: &'static str,
    /// The mode in addition to its blocks.
    pub mode: Option<String>,
    /// How it is sliced.
    pub slicing: Slicing,
    pub arch: Arch,
    pub cc: String,
    /// Its flags in one word.
    pub opt: String,
}

/// Every primitive with each of its modes, each with every compiler and flag; slicings and targets
/// take turns, so each program has one of them. Programs are bitsliced only if they have no other
/// slicing, as that is the same operations in more C.
pub fn cells(names: &[String], compilers: &[&str], opts: &[&str]) -> Vec<Cell> {
    let mut programs: Vec<(&'static Primitive, Option<String>)> = Vec::new();
    for primitive in primitives() {
        let counters = primitive.modes().into_iter().map(|mode| mode.0);
        let modes: Vec<String> =
            counters.chain(primitive.sponge_modes().map(str::to_owned)).collect();
        // The program of a mode also runs the blocks.
        if modes.is_empty() {
            programs.push((primitive, None));
        }
        programs.extend(modes.into_iter().map(|mode| (primitive, Some(mode))));
    }
    let mut cells = Vec::new();
    // Names choose programs; the slicings stay those of the full list.
    let named = programs
        .into_iter()
        .enumerate()
        .filter(|(_, it)| names.is_empty() || names.contains(&it.0.name));
    for (n, (primitive, mode)) in named {
        let subject = Subject::bundled(&primitive.name)
            .expect("it is bundled")
            .expect("bundled programs are right");
        let slicings: Vec<Slicing> =
            subject.slicings(None).into_iter().filter(|&slicing| slicing != Slicing::Bit).collect();
        let slicing = if slicings.is_empty() { Slicing::Bit } else { slicings[n % slicings.len()] };
        let targets = targets();
        let arch = targets[n / 2 % targets.len()];
        for cc in compilers {
            for opt in opts {
                let (cc, opt) = (cc.to_string(), opt.to_string());
                cells.push(Cell {
                    primitive: &primitive.name,
                    mode: mode.clone(),
                    slicing,
                    arch,
                    cc,
                    opt,
                });
            }
        }
    }
    cells
}

/// Compiles and checks one of them.
///
/// Errors: as [`check`].
pub fn watch_cell(cell: &Cell) -> Result<ConstantTimeVerdict, ToolError> {
    let subject = Subject::bundled(cell.primitive)
        .expect("cells name bundled primitives")
        .expect("bundled programs are right");
    let mut recipe = Recipe::new(cell.slicing, cell.arch, Cc::Gcc, Unroll::Auto, "-O3");
    recipe.mode = cell.mode.clone();
    recipe.interleave = Interleave::Auto;
    let made = recipe.make(&subject).expect("bundled programs compile in their slicings");
    let flags: Vec<String> = cell.opt.split_whitespace().map(str::to_owned).collect();
    check(&recipe.source(&made, true, false), cell.arch, &cell.cc, &flags)
}

/// The installed ones among the usual compilers, each once, under its shortest name.
pub fn compilers_here() -> Vec<&'static str> {
    let mut versions = Vec::new();
    let mut names = Vec::new();
    for name in COMPILERS.into_iter().filter(|compiler| tool::find(compiler).is_some()) {
        // Not by where its links lead: those of ccache all lead to ccache. gcc says first how it
        // was called.
        let Ok(version) = measure::machine::version(name, &["--version"]) else { continue };
        let version = version.strip_prefix(name).unwrap_or(&version).to_owned();
        if !versions.contains(&version) {
            versions.push(version);
            names.push(name);
        }
    }
    names
}

/// Compiles `source`, C with its test `main`, with this compiler and these flags, and runs it with
/// undefined keys and data.
///
/// Errors: a compiler or valgrind that is missing, fails or takes too long.
pub fn check(
    source: &str,
    arch: Arch,
    cc: &str,
    flags: &[String],
) -> Result<ConstantTimeVerdict, ToolError> {
    // The text lies in a folder named by its hash: whoever reads a report finds the line there, and
    // ccache, where it stands before the compiler, finds the object again, since it is not linked
    // at once.
    let folder =
        cache::kept(native::CACHE, Key::default().with("source").with(source), "", |_, made| {
            std::fs::create_dir(made).map_err(|error| cannot("create a folder", &error))?;
            cache::write(&made.join("cipher.c"), source)
        })?;
    let text = folder.join("cipher.c");
    // Somebody may have edited what a report named.
    if !std::fs::read(&text).is_ok_and(|bytes| bytes == source.as_bytes()) {
        cache::write(&text, source)?;
    }
    let scratch =
        measure::scratch::folder().map_err(|error| cannot("create a scratch folder", &error))?;
    let [object, program] = ["cipher.o", "cipher"].map(|word| scratch.path().join(word));
    for words in [
        [Path::new("-c"), &text, Path::new("-o"), &object].as_slice(),
        &[&object, Path::new("-o"), &program],
    ] {
        let mut command = Command::new(cc);
        command.args(arch.flags()).args(["-std=gnu11", "-w", "-g"]).args(flags).args(words);
        tool::run(&mut command, &[], LIMIT)?.ok()?;
    }
    watch(&program, text)
}

fn cannot(what: &str, error: &std::io::Error) -> ToolError {
    ToolError { ran: what.to_owned(), said: error.to_string() }
}

fn watch(program: &Path, text: PathBuf) -> Result<ConstantTimeVerdict, ToolError> {
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        "--tool=memcheck",
        "--leak-check=no",
        "--undef-value-errors=yes",
        &format!("--error-exitcode={FOUND}"),
    ]);
    command.arg(program).arg("secret");
    let ran = tool::run(&mut command, &[], LIMIT)?;
    if ran.status.code() != Some(FOUND) {
        return ran.ok().map(|_| ConstantTimeVerdict::Clean);
    }
    let (places, first) = reports(&String::from_utf8_lossy(&ran.stderr));
    Ok(ConstantTimeVerdict::Depends { places, first, text })
}

/// How many reports there are, and the first one with the function it names.
fn reports(text: &str) -> (usize, String) {
    let lines: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("== ").map(|pair| pair.1)).collect();
    // A report is a sentence with the stack below it.
    let starts: Vec<usize> = (1..lines.len())
        .filter(|&idx| lines[idx].trim_start().starts_with("at 0x"))
        .map(|idx| idx - 1)
        .collect();
    let first = starts.first().map_or_else(String::new, |&at| {
        let place = lines[at + 1].split_once(": ").map_or("", |pair| pair.1);
        format!("{} in {}", lines[at].trim(), place.trim())
    });
    (starts.len(), first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_valgrind_are_counted() {
        let text = "==7== Conditional jump or move depends on uninitialised value(s)\n==7==    at 0x109: f (cipher.c:3)\n==7==    by 0x110: main (cipher.c:9)\n==7== \n==7== Use of uninitialised value of size 8\n==7==    at 0x10A: g (cipher.c:4)\n==7== \n";
        assert_eq!(
            reports(text),
            (
                2,
                "Conditional jump or move depends on uninitialised value(s) in f (cipher.c:3)"
                    .to_owned()
            )
        );
        assert_eq!(reports(""), (0, String::new()));
    }
}
