//! Which file is audited, on which machine, and how it is compiled first.

use std::io::Read;
use std::path::{Path, PathBuf};

use audit::code_file::CodeFile;
use audit::cpus::{self, Cpu};
use audit::decode::Isa;
use audit::program::boot::BootWords;
use audit::program::compile_commands;
use audit::program::content::Content;
use audit::program::find;
use audit::program::toolchain::{self, Build, Input, Skipped};
use audit::views::text::View;
use machine::in_order::Core;
use measure::tool::ToolError;
use report::{Diagnostic, SourceFile, Span};

use crate::output::Failure;

/// Which code is asked about.
#[derive(Debug, clap::Args)]
pub struct Subject {
    /// C (.c), assembly (.s, .S), a compiled ELF file or an archive of them (.a), Intel HEX,
    /// S-records, FILE@0xADDRESS for raw bytes that lie there; `-` for assembly on standard input.
    #[arg(value_name = "FILE", required = true)]
    pub file: Option<PathBuf>,
    /// The function; needed if the file has several: a symbol, a name of C++ or Rust, a pattern
    /// such as `vfs_*`, FILE:LINE, or an address, 0x8004. NAME@ADDRESS chooses between equal names.
    ///
    /// FILE:LINE is any function that the line is in, inlined or not; an address the function with
    /// code there; NAME@MEMBER chooses between members of an archive. NAME also finds `NAME.isra.0`
    /// and the like, where a compiler left nothing else of it. Of a function that is inlined
    /// everywhere it is said where.
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
}

/// How it is compiled and read.
#[derive(Debug, Default, clap::Args)]
pub struct Reading {
    /// The machine; `meanwhile audit cpus` lists them; or a machine file, NAME.toml [default: one of
    /// the file's instruction set].
    #[arg(long, value_name = "NAME")]
    pub cpu: Option<String>,
    /// The compiler, perhaps with arguments, for C, C++ and assembly [default:
    /// one for the machine].
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// Flags for the compiler [default: -O2].
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Option<String>,
    /// Compile C or C++ as a build does: the `compile_commands.json` that CMake, Meson or Bear
    /// wrote, or its folder.
    ///
    /// The command is run as it is there, in its folder, but without ccache, distcc or the like
    /// before the compiler, and so that the object file goes elsewhere and has debug information;
    /// `-flto`, coverage and lists of dependencies are left out. The machine is then only the
    /// model, and has to fit.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cc", "cflags"])]
    pub compile_commands: Option<PathBuf>,
    /// Show lines of this function in place of those inlined into it.
    #[arg(long, value_name = "FUNCTION")]
    pub pivot: Option<String>,
    /// A function that is only called when something went wrong, or a line, FILE:LINE, that the path
    /// is not to pass; may be given more than once. `abort`, `panic` and their like are known.
    #[arg(long, value_name = "SYMBOL")]
    pub avoid: Vec<String>,
    /// Cycles of a taken branch, until what it leads to starts; others take 1. With 0, branches are
    /// folded: all take none [default: as the machine's file says].
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub branch_cost: Option<u32>,
    /// Cycles that memory with the program makes taken branches, calls, jumps and returns wait;
    /// what follows in line is fetched ahead.
    #[arg(long, value_name = "CYCLES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub flash_wait: u32,
    /// What is known of the start of a kernel, beside what the core says of itself: its log
    /// (dmesg; of riscv /proc/cpuinfo), NAME=on or NAME=off for a feature or a key of a jump label,
    /// or `none` for the code as it lies in the file; may be given more than once.
    #[arg(long, value_name = "WHAT")]
    pub boot: Vec<String>,
    /// Print at most so many findings or functions.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

/// A program that was loaded, and for which machine.
#[derive(Debug)]
pub struct Loaded {
    /// What is in it, and for which machine.
    pub code: CodeFile,
    /// What the user should know: members of an archive that are left out, cold functions that
    /// there are none of.
    pub warnings: Vec<String>,
    /// The file as the user named it.
    pub path: PathBuf,
    /// How it was compiled, if it was.
    pub build: Build,
    /// Lines of standard input that the assembler does not know.
    pub skipped: Vec<Skipped>,
    /// The machine, if it is a file of the user's.
    own: Option<Core>,
}

impl Loaded {
    /// The machine that compilers are asked for.
    pub fn compiled_for(&self) -> &str {
        let nearest = self.own.as_ref().and_then(|core| core.nearest.as_deref());
        nearest.unwrap_or(&self.code.cpu)
    }
}

/// A machine by its name, or a file of the user's.
#[derive(Debug)]
pub struct Named {
    pub cpu: Cpu,
    /// What the file says, if it is one.
    pub own: Option<Core>,
}

impl Named {
    /// What ends in `.toml` is a file.
    pub fn of(name: &str) -> Result<Named, Failure> {
        let user = |error| Failure::User(vec![error]);
        let path = Path::new(name);
        if path.extension().is_none_or(|ending| ending != "toml") {
            return Ok(Named { cpu: cpus::named(name).map_err(user)?, own: None });
        }
        if !path.is_file() {
            return Err(Failure::user(format!("there is no file `{name}`"), None));
        }
        let text = toolchain::read(path).map_err(Failure::tool)?;
        let core = Core::parse(name, &String::from_utf8_lossy(&text)).map_err(user)?;
        let sets: Vec<Isa> = core.sets.iter().filter_map(|set| Isa::named(set)).collect();
        if sets.is_empty() {
            let said = format!("`{name}` names no instruction set that is known here");
            return Err(Failure::user(
                said,
                Some("`meanwhile audit cpus` lists those of the machines"),
            ));
        }
        Ok(Named { cpu: (core.name.clone(), sets), own: Some(core) })
    }
}

impl Reading {
    /// How C, C++ and assembly are compiled, and what the user should know of it.
    fn build(&self, source: &Path) -> Result<(Build, Option<String>), Failure> {
        let Some(list) = self.compile_commands.as_deref() else {
            let flags = self
                .cflags
                .as_deref()
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect();
            return Ok((Build { cc: self.cc.clone(), flags, folder: None }, None));
        };
        let list = if list.is_dir() { list.join("compile_commands.json") } else { list.to_owned() };
        if !list.exists() {
            return Err(Failure::user(format!("there is no file `{}`", list.display()), None));
        }
        let text = toolchain::read(&list).map_err(Failure::tool)?;
        let found = compile_commands::build(&String::from_utf8_lossy(&text), &list, source);
        let (build, n_others) = found.map_err(|error| Failure::User(vec![error]))?;
        let said = format!(
            "`{}` is compiled in {} ways there; the first is taken",
            source.display(),
            n_others + 1
        );
        Ok((build, (n_others > 0).then_some(said)))
    }

    /// The machine's model; none of one that reorders.
    pub fn core(&self, loaded: &Loaded) -> Option<Core> {
        let core = loaded.own.clone().or_else(|| Core::bundled(&loaded.code.cpu))?;
        let core = match self.branch_cost {
            Some(cycles) => core.with_branch_cost(cycles),
            None => core,
        };
        Some(core.with_flash_wait(self.flash_wait))
    }

    /// What the user says of a kernel's start.
    fn boot_words(&self) -> Result<BootWords, Failure> {
        let mut said = BootWords::default();
        for word in &self.boot {
            let path = Path::new(word);
            if said.add(word) {
                continue;
            }
            if !path.is_file() {
                let help = "it is a kernel's log, NAME=on, NAME=off or none";
                return Err(Failure::user(format!("`--boot {word}`: no such file"), Some(help)));
            }
            let text = toolchain::read(path).map_err(Failure::tool)?;
            if !said.add_log(&String::from_utf8_lossy(&text)) {
                let help = "an arm64 kernel writes the first when it starts: save all of dmesg; of \
                            riscv the second is in /proc/cpuinfo";
                let refused = format!(
                    "`{word}` has no line `CPU features: detected: ...` or `isa : rv64...`"
                );
                return Err(Failure::user(refused, Some(help)));
            }
        }
        if said.is_none && self.boot.len() > 1 {
            let help = "without a start no feature is asked for: leave `none` or the others out";
            let refused = "`--boot none` stands beside other words of --boot";
            return Err(Failure::user(refused, Some(help)));
        }
        Ok(said)
    }

    /// What of the audit is shown.
    pub fn view(&self) -> View {
        View { pivot: self.pivot.clone(), limit: self.limit }
    }

    /// Reads the file; compiles it first if it is C or assembly.
    pub fn load(&self, which: &Subject) -> Result<Loaded, Failure> {
        let path = which.file.as_deref().ok_or_else(|| Failure::user("name a file", None))?;
        self.load_file(path, which.function.as_deref())
    }

    /// The same; of code without names the function may be an address.
    pub fn load_file(&self, path: &Path, function: Option<&str>) -> Result<Loaded, Failure> {
        let (path, base) = at_address(path);
        let shown = path.display().to_string();
        let is_standard_input = path == Path::new("-");
        if path.is_dir() {
            return Err(Failure::user(
                format!("`{shown}` is a folder"),
                Some("name a file of C, C++ or assembly, or an ELF file"),
            ));
        }
        if !is_standard_input && !path.exists() {
            return Err(Failure::user(format!("there is no file `{shown}`"), None));
        }
        let named = self.cpu.as_deref().map(Named::of).transpose()?;
        let (wanted, own) = named.map_or((None, None), |named| (Some(named.cpu), named.own));
        let input = if is_standard_input { Input::Assembly } else { toolchain::input(path) };
        if base.is_some() && input != Input::Elf {
            let help = "the address behind its name is for raw bytes: leave it out";
            return Err(Failure::user(format!("`{shown}` is no machine code"), Some(help)));
        }
        if self.compile_commands.is_some() && (is_standard_input || input == Input::Elf) {
            let help = "name a source file of that build, or leave --compile-commands out";
            return Err(Failure::user(format!("`{shown}` is compiled already"), Some(help)));
        }
        let (build, of_build) = self.build(path)?;
        let mut skipped = Vec::new();
        let content = match input {
            Input::Elf => {
                let content = toolchain::content(path).map_err(Failure::tool)?;
                content.with(base, function.and_then(find::address))
            }
            Input::C | Input::Cpp | Input::Assembly => {
                let Some((cpu, sets)) = &wanted else {
                    let help = "choose the machine with --cpu; `meanwhile audit cpus` lists them";
                    return Err(Failure::user(
                        format!("for which machine is `{shown}` to be compiled?"),
                        Some(help),
                    ));
                };
                let isa = toolchain::chosen(sets, &build);
                let cpu = own.as_ref().and_then(|core| core.nearest.as_ref()).unwrap_or(cpu);
                let mut text = Vec::new();
                let made = if is_standard_input {
                    let read = std::io::stdin().lock().read_to_end(&mut text);
                    read.map_err(|error| Failure::environment("read standard input", error))?;
                    toolchain::assemble(&text, isa, cpu, &build).map(|(made, unknown)| {
                        skipped = unknown;
                        made
                    })
                } else {
                    toolchain::compile(path, isa, cpu, &build)
                };
                made.map(Content::from).map_err(|error| {
                    let text = if is_standard_input {
                        text
                    } else {
                        std::fs::read(path).unwrap_or_default()
                    };
                    not_made(&shown, &String::from_utf8_lossy(&text), cpu, error)
                })?
            }
        };
        let user = |error| Failure::User(vec![error]);
        let code = CodeFile::read(&shown, &content, wanted, &self.boot_words()?).map_err(user)?;
        let warnings = of_build.into_iter().chain(code.warnings(&self.avoid)).collect();
        Ok(Loaded { warnings, code, path: path.to_owned(), build, skipped, own })
    }
}

/// A file, and the address behind the last `@` of its name, unless a file is called so.
pub fn at_address(given: &Path) -> (&Path, Option<u64>) {
    let text = given.to_str().filter(|_| !given.exists());
    match text.and_then(|text| text.rsplit_once('@')).map(|(path, at)| (path, find::address(at))) {
        Some((path, Some(address))) => (Path::new(path), Some(address)),
        _ => (given, None),
    }
}

/// What a compiler or an assembler refuses in a source is the user's to mend; what it says of
/// anything else is its failure.
fn not_made(shown: &str, text: &str, cpu: &str, error: ToolError) -> Failure {
    const SHOWN_MAX: usize = 5;
    let refused = toolchain::refused(&error);
    let name = if shown == "-" { "stdin.s" } else { shown.rsplit('/').next().unwrap_or(shown) };
    let file = SourceFile::new(shown, text);
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for it in refused.iter().take(SHOWN_MAX) {
        let is_here = it.file.rsplit('/').next() == Some(name);
        let before: usize = text.split_inclusive('\n').take(it.line - 1).map(str::len).sum();
        match text.lines().nth(it.line - 1) {
            Some(line) if is_here => {
                let span = Span::new(&file, place_in(line, it.column, &error.ran, before));
                diagnostics.push(Diagnostic::new(it.said.clone()).at(span, "refused"));
            }
            _ => diagnostics.push(Diagnostic::new(format!("{}:{}: {}", it.file, it.line, it.said))),
        }
    }
    if let Some(last) = diagnostics.pop() {
        let more = refused.len().saturating_sub(SHOWN_MAX);
        let more =
            if more > 0 { format!("{more} more lines are refused; ") } else { String::new() };
        diagnostics.push(last.with_help(format!(
            "{more}the compiler for {cpu} refuses it: mend it, name another machine with --cpu, or give its flags with --cflags or --compile-commands"
        )));
        return Failure::User(diagnostics);
    }
    Failure::tool(error)
}

/// What of `line`, which begins at the byte `before` of its file, a message of `tool` is about: the
/// word at its column, else the line.
fn place_in(
    line: &str,
    column: Option<usize>,
    tool: &str,
    before: usize,
) -> std::ops::Range<usize> {
    let first = line.len() - line.trim_start().len();
    let Some(column) = column else {
        return before + first..(before + line.trim_end().len()).max(before + first);
    };
    let program = tool.split(' ').next().unwrap_or_default();
    let from = toolchain::byte_of_column(line, column, program.contains("clang"))
        .min(line.trim_end().len());
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let length = line[from..].find(|letter| !is_word(letter)).unwrap_or(line.len() - from);
    before + from..before + from + length.max(line[from..].chars().next().map_or(0, char::len_utf8))
}
