//! The plugin in other build systems: as a CMake package, and compiler options passed through.

use crate::support;

use std::path::Path;
use std::process::Command;

use measure::tool;
use overlap::compile::{self, Request};
use overlap::mpi::Language;
use overlap::{Mpi, Settings};

const PROGRAM: &str = "#include <mpi.h>
#include <stdio.h>
static double a[50000], x[5000];
int answer(void);
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  a[3] = rank;
  MPI_Sendrecv_replace(a, 50000, MPI_DOUBLE, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i < 5000; i++)
    x[i] = 0.5 * x[i - 1] + i;
  if (rank == 0)
    printf(\"%g %d\\n\", x[9] + a[3], answer());
  MPI_Finalize();
  return 0;
}
";

const PROJECT: &str = "cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(MPI REQUIRED COMPONENTS C)
find_package(meanwhile-overlap REQUIRED)
add_executable(user user.c answer.c)
target_link_libraries(user PRIVATE MPI::MPI_C meanwhile::overlap)
";

const ANSWER: &str = "int answer(void) { return WHAT; }\n";

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a scratch file");
}

fn run(command: &mut Command) -> String {
    tool::run(command, b"", support::LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"))
        .text()
}

#[test]
fn cmake_finds_the_package() {
    for mpi in support::libraries("the CMake package") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        let llvm =
            *support::versions("the CMake package").last().expect("libraries are here if one is");
        overlap::install::install(
            &at.join("prefix"),
            &std::env::current_exe().expect("a program"),
            &[],
            llvm,
        )
        .expect("it was installed");
        write(at, "CMakeLists.txt", PROJECT);
        write(at, "user.c", PROGRAM);
        write(at, "answer.c", &ANSWER.replace("WHAT", "42"));
        let wrapper = mpi.wrapper(Language::C).expect("the wrapper is here");
        let flags = "-O2 -Rpass=overlap";
        let mut configure = Command::new("cmake");
        configure.args(["-G", "Ninja", "-S", ".", "-B", "build"]).current_dir(at);
        configure.arg(format!("-DCMAKE_C_COMPILER={}", llvm.compiler(Language::C)));
        configure
            .arg(format!("-DCMAKE_C_FLAGS={flags}"))
            .arg(format!("-DMPI_C_COMPILER={wrapper}"))
            .arg("-DCMAKE_PREFIX_PATH=prefix");
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", at.join("prefix").display()));
        run(&mut configure);
        let build = || run(Command::new("ninja").args(["-v", "-C", "build"]).current_dir(at));
        let built = build();
        assert!(built.contains("MPI_Sendrecv_replace made nonblocking"), "{built}");
        assert_eq!(support::output(mpi, 2, &at.join("build/user"), &[]), "17.0039 42\n");
        // Another plugin at the same path, or other options, and everything is compiled again; else
        // nothing is.
        assert!(build().contains("no work to do"));
        let plugin = at.join("prefix/lib/overlap.so");
        let bytes = std::fs::read(&plugin).expect("the plugin");
        std::fs::write(&plugin, [&bytes[..], &[0]].concat()).expect("it is ours");
        let built = build();
        assert!(built.contains("MPI_Sendrecv_replace made nonblocking"), "{built}");
        run(configure.env("MEANWHILE_OVERLAP", "convert=none"));
        let built = run(Command::new("ninja")
            .args(["-v", "-C", "build"])
            .current_dir(at)
            .env("MEANWHILE_OVERLAP", "convert=none"));
        assert!(built.contains("user.c") && !built.contains("made nonblocking"), "{built}");
    }
}

/// Compiles in `folder` as a user's build would.
fn compiles(mpi: Mpi, folder: &Path, language: Language, words: &[&str]) {
    let arguments: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let settings = Settings::default();
    let request = Request {
        language,
        mpi,
        settings: &settings,
        compiler: None,
        plugin: None,
        arguments: &arguments,
        folder: Some(folder),
    };
    let ended = compile::compile(&request).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert!(ended.ok, "{words:?}: {}", ended.failed());
}

#[test]
fn options_of_builds_pass_through() {
    for mpi in support::libraries("options of builds") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        write(at, "user.c", PROGRAM);
        write(at, "answer.c", &ANSWER.replace("WHAT", "ANSWER"));
        write(at, "words.rsp", "-O2 -c \"user.c\" -o user.o\n");
        write(at, "link.rsp", "user.o answer.o\n-o linked");
        let is_there = |name: &str| assert!(at.join(name).is_file(), "{name}");
        compiles(mpi, at, Language::C, &["-DANSWER=42", "-E", "answer.c", "-o", "answer.i"]);
        assert!(std::fs::read_to_string(at.join("answer.i")).expect("text").contains("return 42"));
        compiles(mpi, at, Language::C, &["-DANSWER=42", "-M", "-MF", "answer.d", "answer.c"]);
        assert!(std::fs::read_to_string(at.join("answer.d")).expect("text").contains("answer.o:"));
        compiles(mpi, at, Language::C, &["-DANSWER=42", "-MMD", "-MF", "both.d", "-c", "answer.c"]);
        is_there("both.d");
        is_there("answer.o");
        compiles(mpi, at, Language::C, &["-DANSWER=42", "-S", "answer.c", "-o", "answer.s"]);
        is_there("answer.s");
        compiles(mpi, at, Language::C, &["@words.rsp"]);
        is_there("user.o");
        compiles(mpi, at, Language::C, &["@link.rsp"]);
        assert_eq!(support::output(mpi, 2, &at.join("linked"), &[]), "17.0039 42\n");
        // Languages meet in one program.
        write(
            at,
            "cxx.cpp",
            "extern \"C\" int from_fortran_(int *);\nextern \"C\" int answer() { int n = 40; return from_fortran_(&n); }\n",
        );
        write(
            at,
            "add.f90",
            "integer function from_fortran(n)\n  integer, intent(in) :: n\n  from_fortran = n + 2\nend function\n",
        );
        compiles(mpi, at, Language::Cxx, &["-O2", "-c", "cxx.cpp", "-o", "cxx.o"]);
        compiles(mpi, at, Language::Fortran, &["-O2", "-c", "add.f90", "-o", "add.o"]);
        compiles(mpi, at, Language::Cxx, &["user.o", "cxx.o", "add.o", "-o", "mixed"]);
        assert_eq!(support::output(mpi, 2, &at.join("mixed"), &[]), "17.0039 42\n");
    }
}
