//! Door: files in: programs as they are, C, C++ and assembly through a compiler; and source texts.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};

use crate::decode::Isa;
use crate::facts::recorded::Recorded;
use crate::program::content::Content;
use crate::program::lines::HERE;

/// A compiler gets this long for one file.
pub const LIMIT: Duration = Duration::from_secs(900);
/// Larger source files are not shown.
const SOURCE_BYTES_MAX: u64 = 16 << 20;
/// Flags if the user gives none.
pub const FLAGS: &[&str] = &["-O2"];

/// How C, C++ and assembly become an object file.
#[derive(Debug, Clone, Default)]
pub struct Build {
    /// The compiler, with its own arguments after spaces; without one [`compiler`] chooses.
    pub cc: Option<String>,
    /// Flags after those that choose the machine; without any [`FLAGS`].
    pub flags: Vec<String>,
    /// Where the compiler is started, if the two above are the whole command of a build.
    pub folder: Option<PathBuf>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    C,
    Cpp,
    /// Assembly; with a capital S it passes the preprocessor.
    Assembly,
    /// An ELF file, or what should be one.
    Elf,
}

/// What a file is, by its name.
pub fn input(path: &Path) -> Input {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("c") => Input::C,
        Some("cc" | "cpp" | "cxx" | "c++" | "C" | "CPP") => Input::Cpp,
        Some("s" | "S") => Input::Assembly,
        _ => Input::Elf,
    }
}

/// The compiler of a set of instructions and its flags for the machine `cpu`:
/// a program and arguments.
///
/// Debian's cross compilers where it has them; Clang, which has all sets in one program, elsewhere.
/// The latter has no C library for them and compiles free-standing code.
pub fn compiler(isa: Isa, cpu: &str) -> (&'static str, Vec<String>) {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
    let cpu_flag = |prefix: &str| vec![format!("{prefix}{cpu}")];
    match isa {
        Isa::A32 => ("arm-linux-gnueabi-gcc", [words(&["-marm"]), cpu_flag("-mcpu=")].concat()),
        Isa::T32 => ("arm-none-eabi-gcc", [words(&["-mthumb"]), cpu_flag("-mcpu=")].concat()),
        Isa::A64 => ("aarch64-linux-gnu-gcc", cpu_flag("-mcpu=")),
        Isa::Riscv64 => {
            // LLVM's Rocket has the base instructions alone; the core as it is built runs Linux's
            // set.
            let flags = if cpu == "rocket" {
                words(&["-march=rv64gc", "-mtune=rocket-rv64"])
            } else {
                cpu_flag("-mcpu=")
            };
            ("clang-19", [words(&["--target=riscv64-linux-gnu", "-ffreestanding"]), flags].concat())
        }
        Isa::Riscv32 => (
            "clang-19",
            words(&[
                "--target=riscv32-linux-gnu",
                "-ffreestanding",
                "-march=rv32imac",
                "-mabi=ilp32",
            ]),
        ),
        Isa::Sparc => {
            // LLVM does not know the ERC32: version 7, so version 8 without multiplication and
            // division.
            let version_7 = ["-mcpu=v8", "-Xclang", "-target-feature", "-Xclang", "+soft-mul-div"];
            let flags = if cpu == "erc32" { words(&version_7) } else { cpu_flag("-mcpu=") };
            ("clang-19", [words(&["--target=sparc-linux-gnu", "-ffreestanding"]), flags].concat())
        }
        Isa::X86 => match cpu {
            "zen4" => ("gcc", words(&["-march=znver4"])),
            "skylake" => ("gcc", words(&["-march=skylake"])),
            _ => ("gcc", Vec::new()),
        },
    }
}

/// The compiler of the same family for C++; Clang is one for both.
fn compiler_of(input: Input, compiler: &str) -> String {
    match compiler.strip_suffix("gcc") {
        Some(prefix) if input == Input::Cpp => format!("{prefix}g++"),
        _ => compiler.to_owned(),
    }
}

/// Which of a machine's instruction sets a build is for: the one that its flags
/// name, else the first.
pub fn chosen(sets: &[Isa], build: &Build) -> Isa {
    let words = build
        .cc
        .iter()
        .flat_map(|it| it.split_whitespace())
        .chain(build.flags.iter().map(String::as_str));
    let mut named = words.filter_map(|word| {
        let is_32 = word.contains("riscv32") || word.starts_with("-march=rv32");
        let is_64 = word.contains("riscv64") || word.starts_with("-march=rv64");
        match word {
            "-marm" => Some(Isa::A32),
            "-mthumb" => Some(Isa::T32),
            _ => is_32.then_some(Isa::Riscv32).or(is_64.then_some(Isa::Riscv64)),
        }
    });
    // A later flag wins, as in the compiler.
    named
        .rfind(|named| sets.contains(named))
        .or(sets.first().copied())
        .unwrap_or_else(|| panic!("a machine has an instruction set"))
}

/// The command that turns `source` into the object file `made`.
fn command(source: &Path, made: &Path, isa: Isa, cpu: &str, build: &Build) -> Command {
    let (default, machine_flags) = compiler(isa, cpu);
    let default = compiler_of(input(source), default);
    let words: Vec<&str> = build.cc.as_deref().unwrap_or(&default).split_whitespace().collect();
    let program = words.first().copied().unwrap_or(&default);
    if let (Some(folder), Some(program)) = (&build.folder, &build.cc) {
        let mut command = Command::new(program);
        command.current_dir(folder).arg("-g").args(&build.flags).arg("-c");
        // Names in line tables are relative to that folder; those below ours are ours.
        let here = std::env::current_dir().unwrap_or_default();
        command.arg(format!("-fdebug-prefix-map={}={HERE}", here.display()));
        command.arg("-o").arg(made).arg(here.join(source));
        return command;
    }
    let mut command = Command::new(program);
    command.args(words.iter().skip(1));
    if build.cc.is_none() {
        command.args(&machine_flags);
    } else {
        // The user's compiler is asked for the same machine in its own way.
        let is_clang = Path::new(program)
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains("clang"));
        let has_target =
            words.iter().any(|word| word.starts_with("--target") || *word == "-target");
        if is_clang && !has_target {
            command.args(clang_target(isa));
        }
        // What Clang calls otherwise; Clang is the default for these.
        let machine_flags = match cpu {
            "rocket" if !is_clang => ["-march=rv64gc", "-mtune=rocket"].map(str::to_owned).into(),
            "erc32" if !is_clang => vec!["-mcpu=v7".to_owned()],
            _ => machine_flags,
        };
        let has_cpu = words
            .iter()
            .chain(&build.flags.iter().map(String::as_str).collect::<Vec<_>>())
            .any(|word| word.starts_with("-mcpu") || word.starts_with("-march"));
        let is_of_cpu =
            |text: &str| ["-mcpu", "-march", "-mtune"].iter().any(|flag| text.starts_with(flag));
        let for_cpu = machine_flags.iter().filter(|machine_flag| {
            !(machine_flag.starts_with("--target") || has_cpu && is_of_cpu(machine_flag))
        });
        command.args(for_cpu);
    }
    // Before the user's flags, which may say otherwise.
    command.arg("-g");
    if build.flags.is_empty() {
        command.args(FLAGS);
    } else {
        command.args(&build.flags);
    }
    command.arg("-c");
    if input(source) != Input::Assembly {
        names_from_here(&mut command);
    }
    command.arg("-o").arg(made).arg(source);
    command
}

/// Line tables name files as the user does.
fn names_from_here(command: &mut Command) {
    if let Ok(here) = std::env::current_dir() {
        command.arg(format!("-fdebug-prefix-map={}=.", here.display()));
    }
}

fn clang_target(isa: Isa) -> Option<&'static str> {
    match isa {
        Isa::A32 => Some("--target=arm-linux-gnueabi"),
        Isa::T32 => Some("--target=arm-none-eabi"),
        Isa::A64 => Some("--target=aarch64-linux-gnu"),
        Isa::Riscv64 => Some("--target=riscv64-linux-gnu"),
        Isa::Riscv32 => Some("--target=riscv32-linux-gnu"),
        Isa::Sparc => Some("--target=sparc-linux-gnu"),
        Isa::X86 => None,
    }
}

/// Compiles C or C++, or assembles assembly; gives the bytes of the object file.
pub fn compile(source: &Path, isa: Isa, cpu: &str, build: &Build) -> Result<Vec<u8>, ToolError> {
    stopped_at(source, &[], isa, cpu, build)
}

/// What the compiler makes of a file, stopped where these flags say.
fn stopped_at(
    source: &Path,
    flags: &[&str],
    isa: Isa,
    cpu: &str,
    build: &Build,
) -> Result<Vec<u8>, ToolError> {
    let scratch = measure::scratch::folder()
        .map_err(|error| io_error("create a scratch folder", &std::env::temp_dir(), &error))?;
    let made = scratch.path().join("audit.o");
    let mut command = command(source, &made, isa, cpu, build);
    tool::run(command.args(flags), &[], LIMIT)?.ok()?;
    read(&made)
}

/// What the compiler makes of C or C++ before it is assembled, without lines of the source; assembly
/// as it is, preprocessed if its name asks for it.
pub fn assembly(source: &Path, isa: Isa, cpu: &str, build: &Build) -> Result<String, ToolError> {
    let text = match input(source) {
        Input::Assembly if source.extension().is_some_and(|ending| ending == "s") => read(source)?,
        Input::Assembly => stopped_at(source, &["-E", "-P"], isa, cpu, build)?,
        Input::C | Input::Cpp | Input::Elf => {
            stopped_at(source, &["-S", "-g0", "-fno-lto"], isa, cpu, build)?
        }
    };
    String::from_utf8(text).map_err(|_| ToolError {
        ran: format!("read {}", source.display()),
        said: "it is not in UTF-8".into(),
    })
}

/// What of the source, or of what it includes from no folder of the system, says that the order of
/// its accesses is not the compiler's affair alone, once all macros are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BindingWords {
    /// Accesses that are `volatile`.
    pub volatile: bool,
    /// Atomic accesses and fences.
    pub atomic: bool,
}

pub fn bound_by(
    source: &Path,
    isa: Isa,
    cpu: &str,
    build: &Build,
) -> Result<BindingWords, ToolError> {
    let text = stopped_at(source, &["-E"], isa, cpu, build)?;
    Ok(words_that_bind(&String::from_utf8_lossy(&text)))
}

/// All such words in a preprocessed text.
fn words_that_bind(text: &str) -> BindingWords {
    let mut bound = BindingWords::default();
    let mut is_system = false;
    let mut before = "";
    for line in text.lines() {
        // `# 7 "name.h" 1 3`: what follows is line 7 of this file, and 3 means the system's.
        if line.starts_with("# ") {
            let flags = line.rsplit('"').next().unwrap_or_default();
            is_system = flags.split(' ').any(|flag| flag == "3");
            continue;
        }
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        for word in line.split(|letter| !is_of_name(letter)).filter(|word| !word.is_empty()) {
            // Code of a person's own stays as it is.
            let is_asm = before.trim_matches('_') == "asm";
            before = word;
            let plain = word.trim_matches('_');
            bound.volatile |= !is_system && !is_asm && plain == "volatile";
            bound.atomic |= !is_system && plain.to_ascii_lowercase().contains("atomic");
        }
    }
    bound
}

/// Assembles this text; line tables name its lines.
pub fn assembled(text: &str, isa: Isa, cpu: &str, build: &Build) -> Result<Vec<u8>, ToolError> {
    let scratch = measure::scratch::folder()
        .map_err(|error| io_error("create a scratch folder", &std::env::temp_dir(), &error))?;
    let source = scratch.path().join("audit.s");
    std::fs::write(&source, text).map_err(|error| io_error("write", &source, &error))?;
    compile(&source, isa, cpu, build)
}

/// A line that the assembler does not know.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    pub line: usize,
    /// What is written there.
    pub text: String,
    /// What the assembler says.
    pub said: String,
}

/// A word that no core runs, so that it is not decoded and nothing is concluded across it.
fn unknown_word(isa: Isa) -> &'static str {
    match isa {
        Isa::A32 => ".inst 0xf7ffffff",
        Isa::T32 => ".inst.n 0xb6ff",
        Isa::A64 => ".inst 0x00010000",
        Isa::Riscv64 | Isa::Riscv32 => ".insn 4, 0x0000000b",
        Isa::Sparc => ".word 0x81680000",
        Isa::X86 => ".byte 0x06",
    }
}

/// Assembles `text`; line tables call it `stdin.s`. Lines that the assembler does not know become
/// words that are not decoded, and directives that it does not know go, as long as half of what it
/// is given or more remains.
pub fn assemble(
    text: &[u8],
    isa: Isa,
    cpu: &str,
    build: &Build,
) -> Result<(Vec<u8>, Vec<Skipped>), ToolError> {
    let scratch = measure::scratch::folder()
        .map_err(|error| io_error("create a scratch folder", &std::env::temp_dir(), &error))?;
    let (source, made) = (scratch.path().join("stdin.s"), scratch.path().join("audit.o"));
    let mut lines: Vec<String> = String::from_utf8_lossy(text).lines().map(str::to_owned).collect();
    let n_statements = lines.iter().filter(|line| !line.trim().is_empty()).count();
    let mut skipped = Vec::new();
    loop {
        let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
        std::fs::write(&source, text).map_err(|error| io_error("write", &source, &error))?;
        let mut command = command(&source, &made, isa, cpu, build);
        command.arg(format!("-fdebug-prefix-map={}=.", scratch.path().display()));
        names_from_here(&mut command);
        let error = match tool::run(&mut command, &[], LIMIT)?.ok() {
            Ok(_) => return Ok((read(&made)?, skipped)),
            Err(error) => error,
        };
        let found = refused_lines(&error, &lines);
        if found.is_empty() || 2 * (skipped.len() + found.len()) > n_statements {
            return Err(error);
        }
        for it in &found {
            let line = &mut lines[it.line - 1];
            let (label, rest) = line
                .split_once(':')
                .filter(|(label, _)| is_name(label.trim()))
                .unwrap_or(("", line));
            let instead = if rest.trim_start().starts_with('.') { "" } else { unknown_word(isa) };
            *line = if label.is_empty() {
                format!("  {instead}")
            } else {
                format!("{label}: {instead}")
            };
        }
        skipped.extend(found);
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| letter.is_alphanumeric() || "._$".contains(letter))
}

/// A place in a source that a compiler or an assembler refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The file, as the tool names it.
    pub file: String,
    pub line: usize,
    /// From 1, in the columns of [`byte_of_column`]; assemblers name none.
    pub column: Option<usize>,
    /// What the tool says.
    pub said: String,
}

/// The byte of `line` that `column`, from 1, of a message means: clang counts bytes; gcc counts
/// what a terminal shows, where a tab goes on to the next multiple of 8.
pub fn byte_of_column(line: &str, column: usize, by_clang: bool) -> usize {
    let mut shown = 1;
    let found = line.char_indices().find(|&(byte, letter)| {
        let here = if by_clang { byte + 1 } else { shown };
        shown += if letter == '\t' { 8 - (shown - 1) % 8 } else { 1 };
        here >= column
    });
    found.map_or(line.len(), |(byte, _)| byte)
}

/// The places in sources that `error` is about, each line once, in the tool's order; none if it is
/// about something else, such as a flag.
pub fn refused(error: &ToolError) -> Vec<Refused> {
    let mut found: Vec<Refused> = Vec::new();
    for message in error.said.lines() {
        // `FILE:LINE:COLUMN: fatal error: WHAT` of compilers, `FILE:LINE: Error: WHAT` of
        // assemblers.
        let Some((place, said)) = message.split_once("rror:") else { continue };
        let place = place
            .trim_end_matches(['e', 'E'])
            .trim_end()
            .trim_end_matches("fatal")
            .trim_end()
            .trim_end_matches(':');
        let Some((before, last)) = place.rsplit_once(':') else { continue };
        let Ok(last) = last.parse::<usize>() else { continue };
        let (file, line, column) =
            match before.rsplit_once(':').map(|(file, line)| (file, line.parse::<usize>())) {
                Some((file, Ok(line))) => (file, line, Some(last)),
                _ => (before, last, None),
            };
        if line > 0 && !found.iter().any(|it| it.file == file && it.line == line) {
            found.push(Refused {
                file: file.to_owned(),
                line,
                column,
                said: said.trim().to_owned(),
            });
        }
    }
    found
}

/// Those of standard input's lines, in their order.
fn refused_lines(error: &ToolError, lines: &[String]) -> Vec<Skipped> {
    let of_input = refused(error).into_iter().filter(|found| found.file.ends_with("stdin.s"));
    let mut found: Vec<Skipped> = of_input
        .filter_map(|input| {
            Some(Skipped {
                line: input.line,
                text: lines.get(input.line - 1)?.trim().to_owned(),
                said: input.said,
            })
        })
        .collect();
    found.sort_by_key(|found| found.line);
    found
}

/// Compiles a changed copy of `source`; files that it includes by name are still found.
pub fn compile_changed(
    source: &Path,
    text: &str,
    isa: Isa,
    cpu: &str,
    build: &Build,
    limit: Duration,
) -> Result<Vec<u8>, ToolError> {
    let scratch = measure::scratch::folder()
        .map_err(|error| io_error("create a scratch folder", &std::env::temp_dir(), &error))?;
    let copy = scratch.path().join(source.file_name().unwrap_or_else(|| "changed.c".as_ref()));
    std::fs::write(&copy, text).map_err(|error| io_error("write", &copy, &error))?;
    let made = scratch.path().join("audit.o");
    let mut command = command(&copy, &made, isa, cpu, build);
    let beside = source.parent().unwrap_or(Path::new(""));
    command.arg("-iquote").arg(std::env::current_dir().unwrap_or_default().join(beside));
    // What it says is read.
    command.env("LC_ALL", "C");
    tool::run(&mut command, &[], limit)?.ok()?;
    read(&made)
}

/// What the compiler says of the type of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// How a constant of that type is declared, such as `const int` or `char *const`.
    Constant(String),
    Volatile,
    /// None that a constant can have, or none that the compiler tells.
    Other,
}

/// The type of `expression`, by an assignment that the compiler refuses.
pub fn type_of(
    source: &Path,
    text: &str,
    (placeholder, expression): (&str, &str),
    isa: Isa,
    cpu: &str,
    build: &Build,
    limit: Duration,
) -> Typed {
    let probe = |line: &str| match line.trim_start().starts_with(placeholder) {
        true => format!(
            "struct meanwhile_probe {{ int it; }} meanwhile_value; meanwhile_value = &({expression});"
        ),
        false => line.to_owned(),
    };
    let text: String = text.lines().map(|line| probe(line) + "\n").collect();
    let Err(error) = compile_changed(source, &text, isa, cpu, build, limit) else {
        return Typed::Other;
    };
    let told = error.said.lines().find(|line| line.contains("meanwhile_probe"));
    let told = told.and_then(|line| line.split_once(" from ")).map_or("", |(_, told)| told);
    let is_quote = |letter: char| "\u{2018}\u{2019}'".contains(letter);
    declared(told.split(is_quote).nth(1).unwrap_or_default())
}

/// How a constant is declared that holds what this type points to.
fn declared(pointer: &str) -> Typed {
    let Some(plain) = pointer.trim_end().strip_suffix('*').map(str::trim_end) else {
        return Typed::Other;
    };
    match plain {
        it if it.contains("volatile") => Typed::Volatile,
        it if it.contains(['(', '[']) || it.contains("_Atomic") || it.is_empty() => Typed::Other,
        it if it.ends_with('*') => Typed::Constant(format!("{it}const")),
        it => Typed::Constant(format!("const {}", it.trim_start_matches("const "))),
    }
}

/// How gcc orders the functions of a C text, and when each instruction starts.
pub fn schedule(program: &str, flags: &[&str], text: &str) -> Result<String, ToolError> {
    let scratch = measure::scratch::folder()
        .map_err(|error| io_error("create a scratch folder", &std::env::temp_dir(), &error))?;
    let (made, dump) = (scratch.path().join("made.s"), scratch.path().join("schedule"));
    let mut command = Command::new(program);
    command.args(flags).args([
        "-O2",
        "-fno-schedule-insns",
        "-fsched-verbose=2",
        "-S",
        "-x",
        "c",
        "-",
    ]);
    command.arg(format!("-fdump-rtl-sched2={}", dump.display())).arg("-o").arg(made);
    tool::run(&mut command, text.as_bytes(), LIMIT)?.ok()?;
    Ok(String::from_utf8_lossy(&read(&dump)?).into_owned())
}

/// llvm-mca's answer about one pass through each region of an assembly text, as JSON.
pub fn timeline(flags: &[&str], text: &str) -> Result<String, ToolError> {
    let mut command = Command::new("llvm-mca-19");
    command.args(flags).args(["--iterations=1", "--timeline", "--timeline-max-cycles=0", "--json"]);
    Ok(tool::run(&mut command, text.as_bytes(), LIMIT)?.ok()?.text())
}

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, ToolError> {
    std::fs::read(path).map_err(|error| io_error("read", path, &error))
}

/// What a program's file holds.
pub fn content(path: &Path) -> Result<Content, ToolError> {
    Content::read(path).map_err(|error| io_error("read", path, &error))
}

/// Reads what a program did when it ran; `base` is how far above the addresses of its
/// file it was loaded.
pub fn recorded(path: &Path, base: u64) -> Result<Recorded, ToolError> {
    let file = std::fs::File::open(path).map_err(|error| io_error("open", path, &error))?;
    let mut recorded = Recorded::new(base);
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|error| io_error("read", path, &error))?;
        recorded.line(&String::from_utf8_lossy(&line));
    }
    recorded.finish();
    Ok(recorded)
}

/// The text of a source file that line tables name; none if it is not there.
pub fn source(path: &str) -> Option<String> {
    let path = PathBuf::from(path);
    let size = std::fs::metadata(&path).ok().filter(|metadata| metadata.is_file())?.len();
    if size > SOURCE_BYTES_MAX {
        return None;
    }
    let bytes = std::fs::read(&path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn io_error(what: &str, path: &Path, error: &std::io::Error) -> ToolError {
    ToolError { ran: format!("{what} {}", path.display()), said: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_bind_are_found_outside_the_system_and_in_no_assembly() {
        let of = |text: &str| {
            let bound = words_that_bind(&format!("# 1 \"a.c\"\n{text}\n"));
            let all = [("v", bound.volatile), ("a", bound.atomic)];
            all.iter().filter(|pair| pair.1).map(|pair| pair.0).collect::<String>()
        };
        assert_eq!(of("int f(void) { return volatile_free; }"), "");
        assert_eq!(of("asm volatile (\"nop\"); __asm__ __volatile__(\"nop\");"), "");
        assert_eq!(of("typedef volatile struct { int a; } device;"), "v");
        assert_eq!(of("x = *(int __volatile__ *)4;"), "v");
        assert_eq!(of("__atomic_store_n(p, 1, 0);"), "a");
        assert_eq!(of("_Atomic int x;"), "a");
        assert_eq!(of("volatile int y;\n_Atomic int x;"), "va", "one hides no other");
        let system = "# 1 \"/usr/include/a.h\" 1 3 4\ntypedef volatile int lock;";
        assert_eq!(of(system), "");
        assert_eq!(of(&format!("{system}\n# 2 \"a.c\" 2\nvolatile int x;")), "v");
    }
}
