//! A program of a user's own, built with the runtime in a folder of its own by the words of the header, and run under QEMU.

use std::path::Path;
use std::process::{Command, Stdio};

const HEADER: &str = include_str!("../../runtime/regwin.h");

/// The schemes that the header tells people to build.
pub const SCHEMES: [&str; 4] = ["NS", "SNP", "SP", "ADAPTIVE"];

/// What is built, and where it runs.
#[derive(Debug, Clone, Copy)]
pub struct Build<'a> {
    /// As behind `-DSCHEME_`.
    pub scheme: &'a str,
    /// More flags for C and assembly: the runtime's options.
    pub options: &'a [&'a str],
    /// More flags for the program's C only.
    pub flags: &'a [&'a str],
    /// The program is compiled by clang.
    pub clang: bool,
    /// Calls of `machine_stop` by the runtime's C go to the program's `__wrap_machine_stop`.
    pub wraps_stop: bool,
    /// Register windows.
    pub windows: u32,
}

impl Build<'_> {
    /// The plain build of a scheme, on a machine with 8 windows.
    pub fn of(scheme: &str) -> Build<'_> {
        Build { scheme, options: &[], flags: &[], clang: false, wraps_stop: false, windows: 8 }
    }
}

/// The words behind `gcc:` or `link:` in the header.
fn words(of: &str) -> Vec<&'static str> {
    HEADER.lines().filter_map(|line| line.trim_start_matches([' ', '*']).strip_prefix(of)).flat_map(str::split_whitespace).collect()
}

/// The files that the header names for a scheme, and those that all programs link; boot.S first.
fn files(build: &Build) -> Vec<&'static str> {
    let all = HEADER.lines().map(|line| line.trim_start_matches([' ', '*'])).flat_map(str::split_whitespace);
    let scheme = format!("-DSCHEME_{}", build.scheme);
    let own = all.skip_while(|it| *it != scheme).skip(1).take_while(|it| it.ends_with(".S"));
    let mut files = vec!["boot.S", "ready.S", "threads.c", "streams.c", "int64.c", "console.c"];
    files.extend(own);
    files.extend(build.options.contains(&"-DPREEMPT").then_some("preempt.S"));
    files.extend(build.options.contains(&"-DFPU").then_some("fpu.S"));
    files
}

/// What a command says, if it ends well.
pub fn run(command: &mut Command) -> String {
    let out = command.stdin(Stdio::null()).output().expect("the tool starts");
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?}: {text}");
    text
}

/// The command that compiles files in a folder, which has the runtime, to objects.
pub fn compiler(folder: &Path, build: &Build) -> Command {
    let mut command = if build.clang {
        let mut clang = Command::new("clang-19");
        clang.args(["--target=sparc-none-elf", "-mcpu=leon3", "-fno-pic", "-ffreestanding", "-fno-optimize-sibling-calls", "-O2"]);
        clang.args((2..8).map(|it| format!("-ffixed-g{it}")));
        clang
    } else {
        let mut gcc = Command::new("sparc64-linux-gnu-gcc");
        gcc.args(words("gcc:"));
        gcc
    };
    command.current_dir(folder).args([&format!("-DSCHEME_{}", build.scheme), "-I.", "-c"]).args(build.options);
    command
}

/// A folder with the runtime's files and the program.
pub fn folder(program: &str) -> measure::scratch::Folder {
    let folder = measure::scratch::folder().expect("a folder");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
    for file in std::fs::read_dir(runtime).expect("the runtime") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), folder.path().join(file.file_name())).expect("a copy");
    }
    std::fs::write(folder.path().join("program.c"), program).expect("the program");
    folder
}

/// What a program prints. Interrupts come at the same instruction in each run.
pub fn printed(build: Build, program: &str) -> String {
    let folder = folder(program);
    let files = files(&build);
    run(compiler(folder.path(), &Build { clang: false, ..build }).args(&files));
    run(compiler(folder.path(), &build).args(build.flags).arg("program.c"));
    let objects = files.iter().map(|it| format!("{}.o", it.rsplit_once('.').expect("an ending").0));
    let mut link = Command::new("sparc64-linux-gnu-ld");
    link.current_dir(folder.path()).args(words("link:")).args(build.wraps_stop.then_some("--wrap=machine_stop"));
    run(link.args(["-o", "x.elf"]).args(objects).arg("program.o"));
    let mut qemu = Command::new("timeout");
    qemu.current_dir(folder.path()).args(["20", "qemu-system-sparc", "-M", "leon3_generic", "-nographic", "-monitor", "none"]);
    qemu.args(["-serial", "stdio", "-icount", "shift=0", "-kernel", "x.elf", "-cpu", &format!("LEON3,nwindows={}", build.windows)]);
    run(&mut qemu)
}
