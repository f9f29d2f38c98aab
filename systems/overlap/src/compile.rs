//! Door: runs a compiler with the plugin, as the user's build would have run it without.

use std::path::Path;
use std::process::{Command, Stdio};

use measure::tool::{self, ToolError};
use object::{Object, ObjectSymbol};

use crate::driver::{self, Step};
use crate::mpi::{Language, Mpi};
use crate::plugin;
use crate::settings::Settings;

/// Calls that make moving a message unsafe wherever in the program they are, in C and in Fortran.
const HAZARDS: &[(&str, &str)] = &[
    ("mpi_win_", "one-sided windows"),
    ("mpi_comm_set_errhandler", "an error handler"),
    ("mpi_errhandler_set", "an error handler"),
    ("mpi_comm_create_errhandler", "an error handler"),
];

/// One compiler call.
#[derive(Debug)]
pub struct Request<'a> {
    /// The language of the wrapper.
    pub language: Language,
    /// The library.
    pub mpi: Mpi,
    /// The settings.
    pub settings: &'a Settings,
    /// The compiler in place of clang-19 or flang-new-19.
    pub compiler: Option<&'a str>,
    /// A plugin built elsewhere.
    pub plugin: Option<&'a Path>,
    /// The user's arguments.
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
    /// Reasons for which the linked program keeps all calls blocking.
    pub switched_off: Vec<String>,
}

/// Runs the compiler; its output goes where ours goes.
///
/// # Errors
/// If the compiler is missing or not of LLVM 19, or the plugin is missing or cannot be built. An
/// error of the user's program is no error here.
pub fn compile(request: &Request) -> Result<Ended, ToolError> {
    let (mut command, step) = prepare(request)?;
    let mut ended = run(&mut command)?;
    if ended.ok && step.links {
        let output = request.folder.unwrap_or(Path::new("")).join(step.output.as_deref().unwrap_or("a.out"));
        ended.switched_off = hazards(&output);
        if !ended.switched_off.is_empty() {
            let object = plugin::switch_off()?;
            command.arg("-Xlinker").arg(object);
            ended = Ended { switched_off: std::mem::take(&mut ended.switched_off), ..run(&mut command)? };
        }
    }
    Ok(ended)
}

/// The compiler call with the plugin, and what it does.
///
/// # Errors
/// As [`compile`].
pub(crate) fn prepare(request: &Request) -> Result<(Command, Step), ToolError> {
    let compiler = compiler(request)?;
    let plugin = match request.plugin {
        Some(path) if path.is_file() => path.to_owned(),
        Some(path) => return Err(ToolError { ran: format!("load {}", path.display()), said: "there is no such plugin".to_owned() }),
        None => plugin::plugin()?,
    };
    let step = step(request);
    let mut command = command(request, &compiler, &step, &driver::arguments(&step, request.language, &plugin))?;
    let lines = if step.wants_lines { "keep" } else { "drop" };
    command.env("MEANWHILE_OVERLAP", format!("{},lines={lines}", request.settings.environment()));
    let uniform = request.settings.collectives == "uniform" && request.language != Language::Fortran;
    if uniform && step.links {
        // A file name among the arguments would be compiled as the language of a preceding -x.
        command.arg("-Xlinker").arg(plugin::uniform_shim(request.mpi)?);
    }
    Ok((command, step))
}

/// The same compiler call without the plugin.
///
/// # Errors
/// If the compiler or MPI's wrapper is missing.
pub(crate) fn plain(request: &Request) -> Result<Command, ToolError> {
    command(request, &compiler(request)?, &step(request), &[])
}

fn step(request: &Request) -> Step {
    driver::step(request.arguments, &mut |name| std::fs::read_to_string(name).ok())
}

/// The compiler, checked: a plugin of LLVM 19 cannot be loaded by another LLVM.
fn compiler(request: &Request) -> Result<String, ToolError> {
    let default = match request.language {
        Language::C => "clang-19",
        Language::Cxx => "clang++-19",
        Language::Fortran => "flang-new-19",
    };
    let name = request.compiler.unwrap_or(default);
    let version = measure::machine::version(name, &["--version"])?;
    let is_llvm_19 = (version.contains("clang") || version.contains("flang")) && version.contains("version 19.");
    if !is_llvm_19 {
        return Err(ToolError {
            ran: format!("{name} --version"),
            said: format!("{version}\nthe plugin is for LLVM 19 and cannot be loaded by this compiler; `{default}` is the one to use"),
        });
    }
    Ok(name.to_owned())
}

/// The user's compiler call with `ours` before the user's arguments.
fn command(request: &Request, compiler: &str, step: &Step, ours: &[String]) -> Result<Command, ToolError> {
    let mut command;
    if request.language == Language::Fortran {
        // The wrappers are made for gfortran, so only what they would add is taken from them.
        let flags = request.mpi.flags(request.language)?;
        command = Command::new(compiler);
        command.args(ours).args(request.arguments).args(driver::fortran_flags(&flags, step.links));
    } else {
        command = Command::new(request.mpi.wrapper(request.language)?);
        command.env(request.mpi.compiler_variable(request.language), compiler).args(ours).args(request.arguments);
    }
    if let Some(folder) = request.folder {
        command.current_dir(folder);
    }
    Ok(command)
}

fn run(command: &mut Command) -> Result<Ended, ToolError> {
    let ran = tool::command_line(command);
    let status = command.stdin(Stdio::inherit()).status().map_err(|error| ToolError { ran: ran.clone(), said: error.to_string() })?;
    Ok(Ended { ran, ok: status.success(), switched_off: Vec::new() })
}

/// What in a linked program makes its converted calls unsafe; nothing if none was converted.
fn hazards(program: &Path) -> Vec<String> {
    let Ok(bytes) = std::fs::read(program) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let names: Vec<&str> = file.dynamic_symbols().filter(|it| it.is_undefined()).filter_map(|it| it.name().ok()).collect();
    if !names.contains(&"__overlap_off") {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for (start, what) in HAZARDS {
        if let Some(name) = names.iter().find(|name| name.to_ascii_lowercase().trim_start_matches('p').starts_with(start)) {
            found.push(format!("{what} ({name})"));
        }
    }
    found
}
