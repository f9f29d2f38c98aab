//! Door: runs a compiler with the plugin, as the user's build would have run it without.

use std::ffi::OsStr;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use measure::tool::{self, ToolError};
use object::{Object, ObjectSymbol};

use crate::calls;
use crate::driver::{self, Step};
use crate::flang;
use crate::linked;
use crate::llvm::Llvm;
use crate::mpi::{self, Language, Mpi, WITHIN};
use crate::plugin;
use crate::remarks::{CRASH, NOTES, OFF, RECORD, Row};
use crate::settings::Settings;

/// On a machine that a build keeps busy, an answer took more than 20 s.
const VERSION_LIMIT: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub struct Request<'a> {
    /// The language of the wrapper.
    pub language: Language,
    pub mpi: Mpi,
    pub settings: &'a Settings,
    /// The compiler in place of Debian's clang or flang of a version the plugin is built for.
    pub compiler: Option<&'a str>,
    /// A plugin built elsewhere.
    pub plugin: Option<&'a Path>,
    pub arguments: &'a [String],
    /// Where the compiler runs, and leaves remark files of programs linked at once; none for here.
    pub folder: Option<&'a Path>,
}

/// How a compiler call ended.
#[derive(Debug)]
pub struct Ended {
    /// The command line that was run.
    pub ran: String,
    /// True if the compiler ended with 0.
    pub ok: bool,
    /// What it wrote to standard error.
    pub said: Vec<u8>,
    /// Reasons for which the linked program keeps all calls blocking.
    pub switched_off: Vec<String>,
    /// The linker of a program compiled with `-flto`, if it cannot load the plugin, which then
    /// sees nothing of it.
    pub other_linker: Option<String>,
    /// Why the plugin had no part in a compilation that it belonged to.
    pub without_plugin: Option<WithoutPlugin>,
    /// What became of the calls of a program that was linked, as far as its command line names them.
    pub calls: Vec<Row>,
}

/// Why a compiler ran without the plugin. The user's build goes on as it would
/// with MPI's own wrapper.
#[derive(Debug)]
pub enum WithoutPlugin {
    /// The plugin is missing here, and could not be built.
    NotHere(ToolError),
    /// The compiler failed with the plugin and passed without it: what reproduces that, if
    /// it could be written.
    Failed(Option<PathBuf>),
}

impl Ended {
    /// The failure of a call that had to succeed, with what the compiler said.
    pub fn failed(self) -> ToolError {
        ToolError { ran: self.ran, said: String::from_utf8_lossy(&self.said).into_owned() }
    }
}

/// Runs the compiler; what it writes to standard output goes where ours goes.
///
/// Errors: if the compiler is missing or of an LLVM that the plugin is not built for, or the plugin
/// is missing or cannot be built. An error of the user's program is no error here.
pub fn compile(request: &Request) -> Result<Ended, ToolError> {
    let (mut command, step) = prepare(request)?;
    checked(request, &mut command, &step, None)
}

/// The same for a build that must not notice the plugin: if the plugin cannot be had, or the
/// compiler fails with it and passes without it, the result is that of the compiler alone. So are
/// those of the questions that configure and CMake ask; such programs never run for long.
///
/// Errors: if the compiler is missing or of an LLVM that the plugin is not built for.
pub fn compile_or_plain(request: &Request) -> Result<Ended, ToolError> {
    let asked = step(request);
    if is_asked_by_ccache(request) {
        return Ok(not_to_be_kept(request));
    }
    if asked.asks {
        return run(&mut wrapper(request, &compiler(request)?.0, &[])?, None);
    }
    if asked.is_probe(
        &request.folder.map_or_else(|| std::env::current_dir().unwrap_or_default(), Path::to_owned),
    ) {
        return run(&mut plain(request)?, None);
    }
    let (mut command, step) = match prepare(request) {
        Ok(prepared) => prepared,
        Err(why) => {
            let plain = checked(request, &mut plain(request)?, &asked, None)?;
            return Ok(Ended { without_plugin: Some(WithoutPlugin::NotHere(why)), ..plain });
        }
    };
    let input = if step.reads_stdin { Some(standard_input()?) } else { None };
    let crash = beside(request, &step, CRASH);
    let ended = checked(request, &mut command, &step, input.as_deref())?;
    if ended.ok {
        remove(&crash);
        remove(&crash.with_extension("stdin"));
        // A compiler is asked for its version only where a linker is named.
        let llvm = if step.linker.is_some() { Some(llvm(request)?.number()) } else { None };
        let other_linker = llvm.and_then(|llvm| step.other_linker(llvm)).map(str::to_owned);
        let folder = request.folder.unwrap_or(Path::new(""));
        let calls = if step.links {
            linked::rows(&step, folder, &program_of(request, &step))
        } else {
            Vec::new()
        };
        return Ok(Ended { other_linker, calls, ..ended });
    }
    let plain = checked(request, &mut plain(request)?, &step, input.as_deref())?;
    if !plain.ok {
        return Ok(plain);
    }
    let written = reproducer(&command, &crash, &ended, input.as_deref());
    Ok(Ended {
        without_plugin: Some(WithoutPlugin::Failed(written.is_ok().then_some(crash))),
        ..plain
    })
}

/// True if ccache, which is run with us as its compiler, asks for the preprocessed text, by which
/// it would know the object again.
fn is_asked_by_ccache(request: &Request) -> bool {
    let parent =
        || std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok();
    request.arguments.iter().any(|argument| argument == "-E")
        && parent().is_some_and(|folder| folder.ends_with("ccache"))
}

/// The answer after which ccache runs us for the object and keeps nothing. It sees no profile and
/// no plugin that changed, and the object that it would bring back has no remarks beside it.
fn not_to_be_kept(request: &Request) -> Ended {
    let said = "meanwhile: ccache cannot keep what is compiled with overlap\n";
    Ended {
        ran: request.arguments.join(" "),
        ok: false,
        said: said.into(),
        switched_off: Vec::new(),
        other_linker: None,
        without_plugin: None,
        calls: Vec::new(),
    }
}

/// Runs the compiler, and looks at a program that it linked: objects that were converted before may
/// be in it even if this call is made without the plugin.
fn checked(
    request: &Request,
    command: &mut Command,
    step: &Step,
    input: Option<&[u8]>,
) -> Result<Ended, ToolError> {
    let mut ended = run(command, input)?;
    if !ended.ok && request.language == Language::Fortran {
        let flags = request.mpi.flags(request.language)?;
        let not_made = modules(request, &flags).err().map(|error| error.to_string());
        let said = String::from_utf8_lossy(&ended.said);
        ended.said = driver::about_modules(&said, not_made.as_deref()).into_bytes();
    }
    if ended.ok && step.links {
        let output = program_of(request, step);
        if has_agreement(request, command, step)? && !has_shared_mpi(&output) {
            // What stands in front of the functions of a library finds none behind itself.
            let settings = Settings { collectives: "off".to_owned(), ..request.settings.clone() };
            let request = Request { settings: &settings, ..*request };
            return run(&mut prepare(&request)?.0, input);
        }
        let (why, is_off) = hazards(&output);
        ended.switched_off = why;
        let note = beside(request, step, OFF);
        if ended.switched_off.is_empty() {
            remove(&note);
        } else {
            if !is_off {
                command.args(as_linked(request, &plugin::switch_off()?));
                ended = Ended {
                    switched_off: std::mem::take(&mut ended.switched_off),
                    ..run(command, input)?
                };
            }
            // For `explain` only: a program is as good without it.
            let _ = write(&note, (ended.switched_off.join("\n") + "\n").as_bytes());
        }
    }
    Ok(ended)
}

/// What a link makes.
fn program_of(request: &Request, step: &Step) -> PathBuf {
    request.folder.unwrap_or(Path::new("")).join(step.output.as_deref().unwrap_or("a.out"))
}

fn standard_input() -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.map_err(|error| ToolError {
        ran: "read standard input".to_owned(),
        said: error.to_string(),
    })?;
    Ok(bytes)
}

/// A file of ours for the result, in [`NOTES`] beside it, or here if the result is none that
/// lies in a folder.
fn beside(request: &Request, step: &Step, ending: &str) -> PathBuf {
    let named = step
        .output
        .as_deref()
        .filter(|output| *output != "-" && !output.starts_with("/dev/"))
        .map(PathBuf::from);
    let object = || Some(PathBuf::from(Path::new(step.input()?).with_extension("o").file_name()?));
    let result = named
        .or_else(|| if step.links { None } else { object() })
        .unwrap_or_else(|| PathBuf::from("a.out"));
    let file = result.file_name().and_then(OsStr::to_str).unwrap_or("a.out");
    request
        .folder
        .unwrap_or(Path::new(""))
        .join(result.with_file_name(NOTES))
        .join(format!("{file}{ending}"))
}

/// Writes a file of ours, in a folder that may not be there.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    measure::file::write(path, bytes)
}

fn remove(path: &Path) {
    // Mostly there is none.
    let _ = std::fs::remove_file(path);
}

/// A script that runs the compiler as it failed, with what it said.
fn reproducer(
    command: &Command,
    path: &Path,
    ended: &Ended,
    input: Option<&[u8]>,
) -> std::io::Result<()> {
    let quoted = |text: &OsStr| format!("'{}'", text.to_string_lossy().replace('\'', "'\\''"));
    let folder = command
        .get_current_dir()
        .map_or_else(std::env::current_dir, |folder| folder.canonicalize())?;
    let mut script = String::from(
        "#!/bin/sh\n# The compiler failed with the plugin of meanwhile and passed without it. It said:\n",
    );
    for line in String::from_utf8_lossy(&ended.said).lines() {
        script += &format!("# {line}\n");
    }
    script += &format!("cd {} || exit 2\n", quoted(folder.as_os_str()));
    for (name, value) in command.get_envs() {
        script += &format!(
            "export {}={}\n",
            name.to_string_lossy(),
            value.map(quoted).unwrap_or_default()
        );
    }
    // A compiler that fails removes its result, and that of the user is a good one.
    script += "scratch=$(mktemp -d) || exit 2\ntrap 'rm -rf \"$scratch\"' EXIT\n";
    script += &format!("{} -o \"$scratch/made\"", tool::command_line(command));
    if let Some(input) = input {
        let saved = path.with_extension("stdin");
        write(&saved, input)?;
        script += &format!(" < {}", quoted(std::path::absolute(saved)?.as_os_str()));
    }
    script.push('\n');
    write(path, script.as_bytes())
}

/// The compiler call with the plugin, and what it does.
///
/// Errors: as [`compile`].
pub fn prepare(request: &Request) -> Result<(Command, Step), ToolError> {
    let (compiler, llvm) = compiler(request)?;
    let plugin = match request.plugin {
        // Without a slash it would be looked for where libraries are.
        Some(path) if path.is_file() => std::path::absolute(path).map_err(|error| ToolError {
            ran: format!("load {}", path.display()),
            said: error.to_string(),
        })?,
        Some(path) => {
            return Err(ToolError {
                ran: format!("load {}", path.display()),
                said: "there is no such plugin".to_owned(),
            });
        }
        None => plugin::plugin(llvm)?,
    };
    let step = step(request);
    // The linker gives the file an ending of its own. A folder that cannot be made is no reason to
    // fail.
    let record = beside(request, &step, if step.links && step.sources == 0 { "" } else { RECORD });
    let made = step.has_one_record()
        && record.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
    let record = made.then(|| std::path::absolute(&record).unwrap_or(record));
    let mut ours =
        driver::arguments(&step, request.language, llvm.number(), &plugin, record.as_deref());
    ours.extend(colours());
    let mut command = command(request, &compiler, &step, &ours, &linked_too(request, &step)?)?;
    let lines = if step.wants_lines { "keep" } else { "drop" };
    // Of fat objects the code is used as well, in which loops are as fast as without us.
    let is_fat = request.arguments.iter().any(|word| word == "-ffat-lto-objects");
    let loops = if is_fat { "keep" } else { "hold" };
    let settings = request.settings.environment();
    command.env("MEANWHILE_OVERLAP", format!("{settings},lines={lines},loops={loops}"));
    // The compiler may be ccache's link of that name: it sees no settings, and an object that it
    // brings back has no remarks.
    command.env("CCACHE_DISABLE", "1");
    Ok((command, step))
}

/// The same compiler call without the plugin.
///
/// Errors: if the compiler or MPI's wrapper is missing.
pub fn plain(request: &Request) -> Result<Command, ToolError> {
    let ours: Vec<String> = colours().collect();
    command(request, &compiler(request)?.0, &step(request), &ours, &[])
}

/// The compiler writes into a pipe, and what it says ends at a terminal.
fn colours() -> impl Iterator<Item = String> {
    std::io::stderr().is_terminal().then(|| "-fcolor-diagnostics".to_owned()).into_iter()
}

fn step(request: &Request) -> Step {
    driver::step(request.arguments, &mut |name| std::fs::read_to_string(name).ok())
}

/// The version of LLVM that the compiler of a request belongs to.
///
/// Errors: if the compiler is missing, or of an LLVM that the plugin is not built for.
pub fn llvm(request: &Request) -> Result<Llvm, ToolError> {
    Ok(compiler(request)?.1)
}

/// The compiler, checked: a plugin of one LLVM cannot be loaded by another.
fn compiler(request: &Request) -> Result<(String, Llvm), ToolError> {
    mpi::refuse_within()?;
    let Some(name) = request.compiler else {
        let llvm = Llvm::present(request.language)?;
        return Ok((llvm.compiler(request.language).to_owned(), llvm));
    };
    let version = version_of(name)?;
    let llvm = Llvm::of(&version).ok_or_else(|| ToolError {
        ran: format!("{name} --version"),
        said: format!(
            "{version}\nthe plugin is for LLVM 19 and 22 and cannot be loaded by this compiler; `{}` or `{}` are those to use",
            Llvm::V19.compiler(request.language),
            Llvm::V22.compiler(request.language)
        ),
    })?;
    Ok((name.to_owned(), llvm))
}

/// What a compiler prints with `--version`.
fn version_of(compiler: &str) -> Result<String, ToolError> {
    let mut command = Command::new(compiler);
    command.arg("--version").env(WITHIN, "1");
    Ok(tool::run(&mut command, b"", VERSION_LIMIT)?.ok()?.text().trim().to_owned())
}

/// The user's compiler call with `ours` before the user's arguments and `behind` behind them.
fn command(
    request: &Request,
    compiler: &str,
    step: &Step,
    ours: &[String],
    behind: &[String],
) -> Result<Command, ToolError> {
    let mut command;
    if request.language == Language::Fortran {
        command = Command::new(compiler);
        command.args(ours).args(fortran(request, step, behind)?);
    } else if request.mpi.runs_us() {
        command = Command::new(compiler);
        command.args(ours).args(request.arguments).args(behind);
    } else {
        command = wrapper(request, compiler, ours)?;
        command.args(behind);
    }
    if let Some(folder) = request.folder {
        command.current_dir(folder);
    }
    Ok(command)
}

/// MPI's modules for flang.
///
/// Errors: if they cannot be made.
fn modules(request: &Request, flags: &[String]) -> Result<PathBuf, ToolError> {
    let (name, llvm) = compiler(request)?;
    flang::modules(request.mpi, flags, &name, llvm)
}

/// The arguments of flang. MPI's wrappers are made for gfortran, so only what they add is taken.
fn fortran(request: &Request, step: &Step, behind: &[String]) -> Result<Vec<String>, ToolError> {
    let flags = request.mpi.flags(request.language)?;
    let modules = modules(request, &flags);
    let within = request.mpi.runs_us();
    let known =
        request.arguments.iter().filter(|argument| !within || driver::flang_knows(argument));
    let mut words: Vec<String> = known.chain(behind).cloned().collect();
    if let Ok(modules) = &modules
        && step.links
        && !step.is_part
    {
        words.push(flang::linked(modules));
    }
    if !within {
        words.extend(driver::fortran_flags(&flags, step.links));
    }
    // In front of those that flang cannot read, and behind the user's.
    if let Ok(modules) = &modules {
        let at = flang::foreign(&words).unwrap_or(words.len());
        words.insert(at, format!("-I{}", modules.display()));
    }
    Ok(words)
}

/// MPI's own wrapper, for `compiler`, with `ours` before the user's arguments.
fn wrapper(request: &Request, compiler: &str, ours: &[String]) -> Result<Command, ToolError> {
    let mut command = Command::new(request.mpi.wrapper(request.language)?);
    command
        .env(WITHIN, "1")
        .env(request.mpi.compiler_variable(request.language), compiler)
        .args(ours)
        .args(request.arguments);
    Ok(command)
}

fn run(command: &mut Command, input: Option<&[u8]>) -> Result<Ended, ToolError> {
    let ran = tool::command_line(command);
    let failed = |error: std::io::Error| ToolError { ran: ran.clone(), said: error.to_string() };
    command
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::inherit() })
        .stdout(Stdio::inherit())
        .stderr(Stdio::piped());
    let mut child =
        measure::interrupt::spawn(command).map_err(|error| tool::not_started(command, &error))?;
    let pipe = child.stdin.take();
    let said = std::thread::scope(|scope| {
        // A compiler may end without reading everything, so a closed pipe is no error.
        scope.spawn(move || pipe.zip(input).map(|(mut pipe, bytes)| pipe.write_all(bytes)));
        let mut said = Vec::new();
        child.stderr.take().map_or(Ok(0), |mut it| it.read_to_end(&mut said)).map(|_| said)
    });
    let said = said.map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    // Its end may be our own doing, and is not to be answered with another compilation.
    measure::interrupt::hold();
    Ok(Ended {
        ran,
        ok: status.success(),
        said,
        switched_off: Vec::new(),
        other_linker: None,
        without_plugin: None,
        calls: Vec::new(),
    })
}

/// True if the ranks of what is linked can agree on their collectives when they run.
fn may_agree(request: &Request, step: &Step) -> bool {
    let settings = request.settings;
    step.links && !step.is_part && settings.collectives != "off" && settings.convert != "none"
}

/// An object of ours as words of a command line. As a file name it would be compiled as the
/// language of a preceding -x; flang has no other way.
fn as_linked(request: &Request, object: &Path) -> Vec<String> {
    let option = (request.language != Language::Fortran).then(|| "-Xlinker".to_owned());
    option.into_iter().chain([object.display().to_string()]).collect()
}

/// What a link has behind the user's arguments and before MPI's libraries: a tool of the user's
/// that has functions of MPI comes first.
fn linked_too(request: &Request, step: &Step) -> Result<Vec<String>, ToolError> {
    if !may_agree(request, step) {
        return Ok(Vec::new());
    }
    let object = plugin::agreement(request.mpi, request.settings.min_bytes)?;
    let mut words = as_linked(request, &object);
    words.push("-ldl".to_owned());
    Ok(words)
}

/// True if `command` links what [`linked_too`] names.
fn has_agreement(request: &Request, command: &Command, step: &Step) -> Result<bool, ToolError> {
    let words = linked_too(request, step)?;
    let has = |word: &String| command.get_args().any(|argument| argument == word.as_str());
    Ok(!words.is_empty() && words.iter().all(has))
}

/// False for a program that has MPI's functions in itself and not from a shared library.
fn has_shared_mpi(program: &Path) -> bool {
    let Ok(bytes) = std::fs::read(program) else { return true };
    let Ok(file) = object::File::parse(&*bytes) else { return true };
    let is_there = |name: &str, wanted: bool| {
        let mut all = file.symbols().chain(file.dynamic_symbols());
        all.any(|symbol| symbol.name() == Ok(name) && symbol.is_undefined() != wanted)
    };
    // The one is what the agreement needs, the other what every program needs; no tool has them.
    is_there("PMPI_Comm_create_keyval", false) && !is_there("PMPI_Finalize", true)
}

/// What in a linked program makes its converted calls unsafe; nothing if none was converted.
/// The flag is true if the plugin has switched them off already, because it saw a reason in
/// one of the files.
fn hazards(program: &Path) -> (Vec<String>, bool) {
    let nothing = (Vec::new(), false);
    let Ok(bytes) = std::fs::read(program) else { return nothing };
    let Ok(file) = object::File::parse(&*bytes) else { return nothing };
    let names: Vec<&str> = file
        .dynamic_symbols()
        .filter(|dynamic_symbol| dynamic_symbol.is_undefined())
        .filter_map(|dynamic_symbol| dynamic_symbol.name().ok())
        .collect();
    let is_open = names.contains(&"__overlap_off");
    if !is_open && file.section_by_name("overlap_sites").is_none() {
        return nothing;
    }
    // One function of each kind is enough to say.
    let mut kinds: Vec<(&str, &str)> =
        names.iter().filter_map(|name| Some((calls::hazard(name)?, *name))).collect();
    kinds.sort_unstable();
    kinds.dedup_by_key(|kind| kind.0);
    let mut found: Vec<String> =
        kinds.into_iter().map(|(what, name)| format!("{what} ({name})")).collect();
    if !is_open && found.is_empty() {
        found.push("what the remarks of its files name".to_owned());
    }
    (found, !is_open)
}
