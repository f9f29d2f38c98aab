//! A program of a user's own, linked with the library that `meanwhile regwin build` writes, and run
//! under QEMU.

pub mod mock;
pub mod random;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use regwin::library::{self, Options};
use regwin::{Cc, Scheme};

/// The schemes that people build.
pub const SCHEMES: [Scheme; 4] = [Scheme::Ns, Scheme::Snp, Scheme::Sp, Scheme::Adaptive];

/// What is built, and where it runs.
#[derive(Debug, Clone, Copy)]
pub struct Build<'a> {
    /// How threads use the windows.
    pub scheme: Scheme,
    pub options: &'a [&'a str],
    /// More flags for the program's C.
    pub flags: &'a [&'a str],
    /// The program is compiled by clang.
    pub clang: bool,
    /// Calls of `machine_stop` go to the program's `__wrap_machine_stop`.
    pub wraps_stop: bool,
    pub windows: u32,
}

impl Build<'_> {
    /// The plain build of a scheme, on a machine with 8 windows.
    pub fn of(scheme: Scheme) -> Build<'static> {
        Build { scheme, options: &[], flags: &[], clang: false, wraps_stop: false, windows: 8 }
    }
}

/// What a command says, if it ends well.
pub fn run(command: &mut Command) -> String {
    let out = command.stdin(Stdio::null()).output().expect("the tool starts");
    let text =
        format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?}: {text}");
    text
}

static LIBRARIES: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());

/// The folder of the library with these options; made once.
pub fn library(build: &Build) -> PathBuf {
    let mut options = Options::new(build.scheme);
    for name in build.options {
        *options.named(name).unwrap_or_else(|| panic!("there is no option {name}")) = true;
    }
    let mut made = LIBRARIES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let key = format!("{options:?}");
    if let Some(path) = made.get(&key) {
        return path.clone();
    }
    // Kept as long as the tests run; the target folder is cleaned by cargo.
    let name = [&[build.scheme.name()], build.options].concat().join("-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("regwin-{}-{name}", std::process::id()));
    for (path, text) in library::folder(&options, Cc::Gcc) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    run(Command::new("make").current_dir(&folder).args(["-s", "lib"]));
    made.insert(key, folder.clone());
    folder
}

/// The command that compiles C with the library's header.
pub fn compiler(build: &Build) -> Command {
    let cc = if build.clang { Cc::Clang } else { Cc::Gcc };
    let mut command = Command::new(if build.clang { library::CLANG } else { library::GCC });
    command
        .args(library::c_flags(cc))
        .args(["-std=gnu11", "-O2", "-c"])
        .arg(format!("-I{}", library(build).join("include").display()));
    command
}

/// A program linked with the library: `x.elf` in a folder of its own.
pub fn linked(build: &Build, program: &str) -> measure::scratch::Folder {
    let folder = measure::scratch::folder().expect("a folder");
    std::fs::write(folder.path().join("program.c"), program).expect("the program");
    run(compiler(build).current_dir(folder.path()).args(build.flags).arg("program.c"));
    let library = library(build);
    let mut link = Command::new("sparc64-linux-gnu-ld");
    link.current_dir(folder.path())
        .args(library::LINK)
        .arg("-T")
        .arg(library.join("lib/regwin.ld"));
    link.args(build.wraps_stop.then_some("--wrap=machine_stop")).args(["-o", "x.elf", "program.o"]);
    run(link.arg(library.join(format!("lib/librw-{}.a", build.scheme.name()))));
    folder
}

/// What a program prints. Interrupts come at the same instruction in each run.
pub fn printed(build: Build, program: &str) -> String {
    ran(linked(&build, program).path(), build.windows)
}

/// What `x.elf` in a folder prints.
pub fn ran(folder: &Path, windows: u32) -> String {
    let mut qemu = Command::new("timeout");
    let limit_s = if std::env::var_os("MEANWHILE_LONG").is_some() { "300" } else { "20" };
    qemu.current_dir(folder).args([
        limit_s,
        "qemu-system-sparc",
        "-M",
        "leon3_generic",
        "-nographic",
        "-monitor",
        "none",
    ]);
    qemu.args([
        "-serial",
        "stdio",
        "-icount",
        "shift=0",
        "-kernel",
        "x.elf",
        "-cpu",
        &format!("LEON3,nwindows={windows}"),
    ]);
    run(&mut qemu)
}
