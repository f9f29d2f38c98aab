//! What the tests share: which tools are there, visible skips, runs with a limit.

pub mod generate;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::tool;
use object::{Object as _, ObjectSymbol as _};
use overlap::Mpi;
use overlap::Settings;
use overlap::compile::{self, Request};
use overlap::llvm::Llvm;
use overlap::mpi::Language;

/// A run that takes longer hangs.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The plugin, or a line on the list that `make test` shows at the end if a tool to build it is
/// missing. With the tools here, a plugin that cannot be built is a defect.
pub fn plugin(what: &str) -> Option<PathBuf> {
    let tools = ["clang-19", "llvm-config-19", "cmake", "ninja"];
    if let Some(tool) =
        tools.into_iter().find(|tool| measure::machine::version(tool, &["--version"]).is_err())
    {
        skip(&format!("overlap {what}: {tool} is missing"));
        return None;
    }
    Some(overlap::plugin::plugin(Llvm::V19).unwrap_or_else(|error| panic!("{error}")))
}

/// The libraries that are here; the others are named at the end of `make test`.
pub fn libraries(what: &str) -> Vec<Mpi> {
    if plugin(what).is_none() {
        return Vec::new();
    }
    let (there, missing): (Vec<Mpi>, Vec<Mpi>) = Mpi::ALL.into_iter().partition(|it| it.present());
    for mpi in missing {
        skip(&format!("overlap {what}: {} is missing", mpi.name()));
    }
    there
}

/// Each of `items` with one of the libraries in turn; under MEANWHILE_LONG with all of them. For
/// what hangs on the compiler alone: the plugin sees a library's calls and constants, and those are
/// the same in every program.
pub fn in_turn<T: Clone>(what: &str, items: impl IntoIterator<Item = T>) -> Vec<(Mpi, T)> {
    let there = libraries(what);
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    let mut all = Vec::new();
    for (n, item) in items.into_iter().enumerate() {
        let own = there.iter().enumerate().filter(|pair| is_long || n % there.len() == pair.0);
        all.extend(own.map(|own| (*own.1, item.clone())));
    }
    all
}

/// Adds a line to the list that `make test` shows at the end.
pub fn skip(line: &str) {
    testkit::skipped(line);
}

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies two folders down")
        .to_owned()
}

/// The folder of what these arguments of a compiler make.
fn beside<'a>(mut arguments: impl Iterator<Item = &'a str>) -> PathBuf {
    arguments.find(|&argument| argument == "-o").expect("the result is named");
    let output = arguments.next().expect("a name follows");
    Path::new(output).parent().expect("it lies in a folder").to_owned()
}

/// Compiles with the wrapper and without the plugin.
pub fn compile_plain(mpi: Mpi, language: Language, arguments: &[&str]) {
    let compiler = match language {
        Language::C => "clang-19",
        Language::Cxx => "clang++-19",
        Language::Fortran => "flang-new-19",
    };
    let mut command;
    if language == Language::Fortran {
        let flags = mpi.flags(language).expect("the wrapper says its flags");
        command = Command::new(compiler);
        command.args(arguments).args(overlap::driver::fortran_flags(&flags, true));
        command.arg("-module-dir").arg(beside(arguments.iter().copied()));
    } else {
        command = Command::new(mpi.wrapper(language).expect("the wrapper is here"));
        command.env(mpi.compiler_variable(language), compiler).args(arguments);
    }
    tool::run(&mut command, b"", LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
}

/// The versions of LLVM that the plugin can be built for here; the others are named at the end of
/// `make test`.
pub fn versions(what: &str) -> Vec<Llvm> {
    let (there, missing): (Vec<Llvm>, Vec<Llvm>) =
        Llvm::ALL.into_iter().partition(|llvm| llvm.builds());
    for llvm in missing {
        let number = llvm.number();
        skip(&format!("overlap {what}: clang-{number} or llvm-{number}-dev is missing"));
    }
    there
}

/// Compiles with the plugin.
pub fn compile_with(mpi: Mpi, language: Language, settings: &Settings, arguments: &[&str]) {
    compile_by(Llvm::V19, mpi, language, settings, arguments);
}

/// The same with a compiler of this version.
pub fn compile_by(
    llvm: Llvm,
    mpi: Mpi,
    language: Language,
    settings: &Settings,
    arguments: &[&str],
) {
    let mut arguments: Vec<String> =
        arguments.iter().map(|&argument| argument.to_owned()).collect();
    // Remark files of programs that are linked at once lie where the compiler runs.
    let folder = beside(arguments.iter().map(String::as_str));
    if language == Language::Fortran {
        arguments.extend(["-module-dir".to_owned(), folder.display().to_string()]);
    }
    let compiler = Some(llvm.compiler(language));
    let request = Request {
        language,
        mpi,
        settings,
        compiler,
        plugin: None,
        arguments: &arguments,
        folder: Some(&folder),
    };
    let ended = compile::compile(&request).unwrap_or_else(|error| panic!("{error}"));
    assert!(ended.ok, "{}", ended.failed());
    assert!(ended.without_plugin.is_none(), "the compiler failed with the plugin: {arguments:?}");
}

/// What the program prints on `ranks` processes.
pub fn output(mpi: Mpi, ranks: u32, program: &Path, arguments: &[&str]) -> String {
    let mut command = mpi.launcher(ranks).expect("the launcher is here");
    command.arg(program).args(arguments);
    let run = |command: &mut Command| tool::run(command, b"", LIMIT).and_then(tool::Ran::ok);
    let mut ran = run(&mut command);
    // One run in a thousand of Open MPI 4's launcher misses that a process called MPI_Finalize
    // (open-mpi/ompi#7833, seen with a hello world). A process that did not call it is found
    // missing every time.
    for _ in 0..2 {
        if !ran.as_ref().is_err_and(|it| it.said.contains("exiting improperly")) {
            break;
        }
        ran = run(&mut command);
    }
    ran.unwrap_or_else(|error| panic!("{error}")).text()
}

/// What the file `name` is written in.
pub fn language(name: &str) -> Language {
    match name.rsplit('.').next() {
        Some("f90") => Language::Fortran,
        Some("cpp") => Language::Cxx,
        _ => Language::C,
    }
}

/// The program `name` of `tests`, compiled with the plugin or without it; it lies in `folder`.
pub fn build(
    mpi: Mpi,
    name: &str,
    flags: &[&str],
    settings: Option<&Settings>,
    folder: &Path,
) -> PathBuf {
    let source = root().join("systems/overlap/tests").join(name);
    let language = language(name);
    let program = folder.join(if settings.is_some() { "with" } else { "alone" });
    let words =
        [&[source.to_str().expect("text"), "-o", program.to_str().expect("text")], flags].concat();
    match settings {
        Some(settings) => compile_with(mpi, language, settings, &words),
        None => compile_plain(mpi, language, &words),
    }
    program
}

/// The names that are defined in `program`.
pub fn symbols(program: &Path) -> Vec<String> {
    let read = std::fs::read(program).expect("the program was made");
    let read = object::File::parse(&*read).expect("it is an object");
    read.symbols().filter_map(|symbol| symbol.name().ok()).map(str::to_owned).collect()
}

/// Calls `work` with each item, two at a time: compilers use one core, and programs of MPI
/// wait for each other.
pub fn each<T: Send>(items: impl IntoIterator<Item = T, IntoIter: Send>, work: impl Fn(T) + Sync) {
    let left = std::sync::Mutex::new(items.into_iter());
    let next = || left.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| std::iter::from_fn(next).for_each(&work));
        }
    });
}

/// A number of the environment, or the default.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// How a random program is compiled and run.
#[derive(Debug)]
pub struct Case {
    pub llvm: Llvm,
    pub mpi: Mpi,
    pub level: &'static str,
    pub ranks: u32,
    pub settings: Settings,
    /// At link time the plugin sees loops that are vectorised and unrolled.
    pub whole: &'static str,
    /// And calls, where nothing is inlined.
    pub inline: &'static str,
}

impl Case {
    pub fn of(seed: u64, versions: &[Llvm], libraries: &[Mpi]) -> Case {
        let settings = Settings {
            strength: ["frontier", "extended", "frontier", "basic"][(seed / 3 % 4) as usize]
                .to_owned(),
            convert: ["auto", "none", "auto"][(seed / 13 % 3) as usize].to_owned(),
            progress: ["on", "off"][(seed / 5 % 2) as usize].to_owned(),
            min_bytes: Some([0, 1000][(seed / 7 % 2) as usize]),
            min_weight: Some([1, 1 << 40][(seed / 19 % 2) as usize]),
            poll_us: Some(1),
            ..Settings::default()
        };
        Case {
            llvm: versions[(seed / 17 % 2) as usize % versions.len()],
            mpi: libraries[(seed % 2) as usize % libraries.len()],
            level: ["-O1", "-O2", "-O3"][(seed / 2 % 3) as usize],
            ranks: 2 + (seed % 3) as u32,
            settings,
            whole: ["-fno-lto", "-flto"][(seed / 11 % 2) as usize],
            inline: ["-finline-functions", "-fno-inline"][(seed / 4 % 2) as usize],
        }
    }
}

const LIT: [&str; 2] = ["/usr/lib/llvm-19/build/utils/lit/lit.py", "/usr/lib/llvm-19/bin/lit"];

/// Runs the plugin's own tests with the compilers of `llvm`, each under the command `under`
/// if there is one.
pub fn lit(llvm: Llvm, plugin: &Path, under: Option<&str>, limit: Duration) {
    let Some(lit) = LIT.into_iter().find(|it| Path::new(it).is_file()) else {
        return skip("overlap lit: lit is missing (llvm-19-tools)");
    };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let mut command = Command::new("python3");
    command
        .args([lit, "-j2", "--verbose", "--order=lexical"])
        .arg(root().join("systems/overlap/tests/lit"));
    command
        .env("OVERLAP_LLVM", llvm.number().to_string())
        .env("OVERLAP_PLUGIN", plugin)
        .env("OVERLAP_SCRATCH", scratch.path())
        .env("OVERLAP_UNDER", under.unwrap_or_default());
    let ran = tool::run(&mut command, b"", limit).expect("lit runs");
    assert!(ran.status.success(), "{}", ran.text());
    assert!(!ran.text().contains("UNSUPPORTED"), "{}", ran.text());
}
