//! `meanwhile overlap install`: wrappers that other build systems call, under their own names and
//! through those of MPI.

use std::path::Path;
use std::process::{Command, Output};

use measure::tool;
use overlap::llvm::Llvm;
use overlap::mpi::{Language, Mpi};

const PROGRAM: &str = include_str!("support/exchange.c");

/// Files of the modules for one library.
const OF_MODULES: usize = 7;

/// The versions of LLVM that are here, if MPI programs can be compiled; else the test
/// is named as skipped.
fn versions() -> Vec<Llvm> {
    let missing: Vec<&str> = [
        "clang-19",
        "llvm-config-19",
        "clang-22",
        "llvm-config-22",
        "cmake",
        "ninja",
        "mpicc.openmpi",
        "mpicc.mpich",
    ]
    .into_iter()
    .filter(|word| tool::find(word).is_none())
    .collect();
    if !missing.is_empty() {
        testkit::skipped(&format!("overlap install: {} is missing", missing.join(", ")));
    }
    let others = missing.iter().any(|set| !set.contains("22") && !set.contains("19"));
    Llvm::ALL.into_iter().filter(|llvm| llvm.builds() && !others).collect()
}

fn meanwhile(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder)
        .arg("overlap")
        .args(args)
        .output()
        .expect("the binary runs")
}

fn said(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// Runs `words` with the wrappers first in PATH.
fn with_wrappers(folder: &Path, variable: Option<(&str, &str)>, words: &[&str]) -> Output {
    let path = std::env::var("PATH").expect("there is one");
    let mut command = Command::new("timeout");
    command
        .arg("100")
        .args(words)
        .current_dir(folder)
        .env("MEANWHILE_OVERLAP_QUIET", "1")
        .env("PATH", format!("{}:{path}", folder.join("p/bin").display()));
    command.envs(variable).output().expect("timeout runs")
}

/// The library that a program needs, and whether something in it was converted.
fn look(folder: &Path, program: &str) -> (Mpi, bool) {
    let listed = Command::new("ldd").arg(folder.join(program)).output().expect("ldd runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let (openmpi, mpich) = (listed.contains("libmpi.so"), listed.contains("libmpich.so"));
    assert!(openmpi != mpich, "{program} needs one library: {listed}");
    let bytes = std::fs::read(folder.join(program)).expect("it was linked");
    (
        if mpich { Mpi::Mpich } else { Mpi::OpenMpi },
        String::from_utf8_lossy(&bytes).contains("overlap_sites"),
    )
}

#[test]
fn builds_call_the_wrappers() {
    for llvm in versions() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        std::fs::write(at.join("p.c"), PROGRAM).expect("a scratch file");
        let ran = meanwhile(
            at,
            &["install", "p", "--llvm", &llvm.number().to_string(), "--min-bytes", "4096"],
        );
        assert!(ran.status.success(), "{}", said(&ran));
        let flang = tool::find(llvm.compiler(Language::Fortran)).is_some();
        let files = 6 + if flang { 2 * OF_MODULES } else { 0 };
        assert_eq!(String::from_utf8_lossy(&ran.stdout).lines().count(), files);
        // Under its own name, for what mpicc is; and below MPI's wrappers, for the library of each.
        let default = overlap::mpi::which("mpicc").expect("it is one of the two");
        let cases = [
            (None, "meanwhile-mpicc", default),
            (Some(("OMPI_CC", "meanwhile-mpicc")), "mpicc.openmpi", Mpi::OpenMpi),
            (Some(("MPICH_CC", "meanwhile-mpicc")), "mpicc.mpich", Mpi::Mpich),
        ];
        for (variable, wrapper, mpi) in cases {
            for steps in [
                [
                    [wrapper, "-O2", "-c", "p.c", "-o", "p.o"],
                    [wrapper, "p.o", "-O2", "-lm", "-o", "a"],
                ]
                .as_slice(),
                &[[wrapper, "-O2", "p.c", "-lm", "-o", "a"]],
            ] {
                for words in steps {
                    let ran = with_wrappers(at, variable, words);
                    assert!(
                        ran.status.success() && said(&ran).is_empty(),
                        "{words:?}: {}",
                        said(&ran)
                    );
                }
                assert_eq!(look(at, "a"), (mpi, true), "{llvm:?}, {wrapper}");
                std::fs::remove_file(at.join("a")).expect("ours");
            }
        }
        // What is asked of MPI's wrapper is answered by it.
        let shown = with_wrappers(at, None, &["meanwhile-mpicc", "-show"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(
            shown.starts_with(llvm.compiler(Language::C)) && !shown.contains("pass-plugin"),
            "{shown}"
        );
    }
}

/// In front of a wrapper, as many builds have it, and under a compiler's name: ccache keeps nothing
/// of ours, for it sees neither options nor a profile that changed, and an object that it brings
/// back has no remarks.
#[test]
fn ccache_brings_no_old_object_back() {
    let Some(llvm) = versions().pop() else { return };
    let Some(ccache) = tool::find("ccache") else {
        return testkit::skipped("overlap install: ccache is missing");
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    std::fs::write(at.join("p.c"), PROGRAM).expect("a scratch file");
    // All calls of the program took so long.
    let took = |us: f64| {
        let lines = (1..).zip(PROGRAM.lines());
        let calls = lines.filter_map(|(line, it)| {
            Some((line, ["MPI_Send", "MPI_Recv"].into_iter().find(|name| it.contains(name))?))
        });
        let sites: Vec<serde_json::Value> = calls
            .map(|(line, call)| serde_json::json!({"call": call, "file": "p.c", "line": line, "count": 1, "bytes": 400_000, "us": us}))
            .collect();
        let profile = serde_json::json!({"overlap_profile": 1, "program": "p", "ranks": 2, "mpi": "openmpi", "sites": sites});
        std::fs::write(at.join("run.json"), profile.to_string()).expect("a scratch file");
    };
    let compile = |words: &[&str], masked: bool| {
        let _ = std::fs::remove_dir_all(at.join(".overlap"));
        let path = std::env::var("PATH").expect("there is one");
        let first = if masked { at.join("masked") } else { at.join("p/bin") };
        let ran = Command::new(words[0])
            .args(&words[1..])
            .args(["-O2", "-g", "-c", "p.c"])
            .current_dir(at)
            .env("PATH", format!("{}:{path}", first.display()))
            .env("CCACHE_DIR", at.join("kept"))
            .env_remove("CCACHE_DISABLE")
            .output();
        let ran = ran.expect("it runs");
        assert!(ran.status.success() && said(&ran).is_empty(), "{words:?}: {}", said(&ran));
        assert!(at.join(".overlap/p.o.opt.yaml").exists(), "{words:?}: no remarks");
        let object = std::fs::read(at.join("p.o")).expect("it was made");
        String::from_utf8_lossy(&object).contains("MPI_Isend")
    };
    took(400.0);
    let ran = meanwhile(
        at,
        &["install", "p", "--llvm", &llvm.number().to_string(), "--profile", "run.json"],
    );
    assert!(ran.status.success(), "{}", said(&ran));
    let wrapped = [ccache.to_str().expect("text"), "meanwhile-mpicc"];
    for (us, is_converted) in [(400.0, true), (400.0, true), (1.0, false)] {
        took(us);
        assert_eq!(compile(&wrapped, false), is_converted, "in front, {us} us");
    }
    std::fs::create_dir(at.join("masked")).expect("a scratch folder");
    let compiler = llvm.compiler(Language::C);
    std::os::unix::fs::symlink(&ccache, at.join("masked").join(compiler)).expect("a scratch link");
    for (convert, is_converted) in [("auto", true), ("auto", true), ("none", false)] {
        let words = [
            env!("CARGO_BIN_EXE_meanwhile"),
            "overlap",
            "cc",
            "--compiler",
            compiler,
            "--convert",
            convert,
            "--",
        ];
        assert_eq!(compile(&words, true), is_converted, "in place of {compiler}, {convert}");
    }
}

#[test]
fn a_wrapper_that_calls_itself_is_refused() {
    let Some(llvm) = versions().pop() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    std::fs::write(at.join("p.c"), PROGRAM).expect("a scratch file");
    let ran = meanwhile(at, &["install", "p", "--llvm", &llvm.number().to_string()]);
    assert!(ran.status.success(), "{}", said(&ran));
    // The one as the MPI wrapper, the other as the compiler.
    std::os::unix::fs::symlink("meanwhile-mpicc", at.join("p/bin/mpicc")).expect("a scratch link");
    let own = env!("CARGO_BIN_EXE_meanwhile");
    let compiler = at.join("p/bin/meanwhile-mpicc").display().to_string();
    for words in [
        ["meanwhile-mpicc", "-c", "p.c"].as_slice(),
        &[own, "overlap", "cc", "--compiler", &compiler, "--mpi", "openmpi", "--", "-c", "p.c"],
    ] {
        let ran = with_wrappers(at, None, words);
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {}", said(&ran));
        assert!(said(&ran).contains("runs meanwhile again"), "{words:?}: {}", said(&ran));
    }
}

/// As Debian's and Launchpad's builders, Nix and jobs whose home is another machine's call it: the
/// folder was moved, and there is neither the program that installed it, nor its cache, nor a home.
#[test]
fn a_moved_folder_works_alone_and_without_a_home() {
    let Some(llvm) = versions().pop() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    std::fs::write(at.join("p.c"), PROGRAM).expect("a scratch file");
    let ran = meanwhile(at, &["install", "first", "--llvm", &llvm.number().to_string()]);
    assert!(ran.status.success(), "{}", said(&ran));
    // A name that a shell would take apart, and a link to the wrapper.
    let moved = at.join("a 'new' place");
    std::fs::rename(at.join("first"), &moved).expect("ours");
    std::os::unix::fs::symlink(moved.join("bin/meanwhile-mpicc"), at.join("cc"))
        .expect("a scratch link");
    let scratch = at.join("scratch");
    std::fs::create_dir(&scratch).expect("a scratch folder");
    for (home, compiler) in
        [("/proc/nowhere", moved.join("bin/meanwhile-mpicc")), ("", at.join("cc"))]
    {
        let ran = Command::new(compiler)
            .args(["-O2", "-g", "-c", "p.c"])
            .current_dir(at)
            .env_clear()
            .envs([("PATH", std::env::var("PATH").expect("there is one").as_str()), ("HOME", home)])
            .env("TMPDIR", &scratch)
            .output()
            .expect("the wrapper runs");
        assert!(ran.status.success() && said(&ran).is_empty(), "{home}: {}", said(&ran));
        let object = std::fs::read(at.join("p.o")).expect("it was made");
        assert!(
            String::from_utf8_lossy(&object).contains("overlap_sites"),
            "the plugin was not used"
        );
        std::fs::remove_file(at.join("p.o")).expect("ours");
    }
    let left: Vec<_> = std::fs::read_dir(&scratch).expect("there").collect();
    assert!(left.is_empty(), "nothing was built anew: {left:?}");
}

/// Without a plugin, and without any place to build one, a file is compiled as MPI's
/// own wrapper does it.
#[test]
fn a_compilation_never_fails_because_of_the_plugin() {
    let Some(llvm) = versions().pop() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    std::fs::write(at.join("p.c"), PROGRAM).expect("a scratch file");
    let broken = at.join("broken");
    std::fs::create_dir(&broken).expect("a scratch folder");
    std::fs::write(broken.join("cmake"), "#!/bin/sh\necho this is no cmake >&2\nexit 1\n")
        .expect("a scratch file");
    std::fs::set_permissions(
        broken.join("cmake"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .expect("ours");
    let path = format!("{}:{}", broken.display(), std::env::var("PATH").expect("there is one"));
    // Nothing can be kept; or there is room, and the plugin cannot be built.
    for (cache, path, why) in [
        ("/proc/nowhere", std::env::var("PATH").expect("there is one"), "/proc/nowhere"),
        ("cache", path, "cmake"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        command
            .args([
                "overlap",
                "cc",
                "--compiler",
                llvm.compiler(Language::C),
                "--",
                "-O2",
                "-c",
                "p.c",
            ])
            .current_dir(at);
        let ran = command
            .env("MEANWHILE_CACHE", cache)
            .env("PATH", path)
            .output()
            .expect("the binary runs");
        assert!(ran.status.success(), "{why}: {}", said(&ran));
        let object = std::fs::read(at.join("p.o")).expect("it was made");
        assert!(!String::from_utf8_lossy(&object).contains("overlap_sites"), "{why}");
        assert!(
            said(&ran).contains("nothing is overlapped in this file") && said(&ran).contains(why),
            "{why}: {}",
            said(&ran)
        );
        std::fs::remove_file(at.join("p.o")).expect("ours");
    }
}

#[test]
fn files_of_others_stay() {
    let Some(llvm) = versions().pop() else { return };
    let number = llvm.number().to_string();
    for name in [
        "bin/meanwhile-mpifort",
        "lib/overlap.so",
        "lib/meanwhile/meanwhile",
        "lib/cmake/meanwhile-overlap/meanwhile-overlap-config.cmake",
    ] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        let theirs = at.join("p").join(name);
        std::fs::create_dir_all(theirs.parent().expect("a folder")).expect("a scratch folder");
        std::fs::write(&theirs, "somebody else's\n").expect("a scratch file");
        let ran = meanwhile(at, &["install", "p", "--llvm", &number]);
        assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
        assert!(
            said(&ran).contains(name) && said(&ran).contains("was not written by"),
            "{}",
            said(&ran)
        );
        assert_eq!(
            std::fs::read_to_string(&theirs).expect("it is still there"),
            "somebody else's\n"
        );
        assert!(name.starts_with("bin") || !at.join("p/bin").exists(), "nothing else was written");
        // Ours are written again.
        std::fs::remove_file(&theirs).expect("ours");
        for _ in 0..2 {
            assert!(meanwhile(at, &["install", "p", "--llvm", &number]).status.success());
        }
    }
    let ran = meanwhile(Path::new("."), &["install", "nowhere", "--llvm", "21"]);
    assert!(
        ran.status.code() == Some(1) && said(&ran).contains("LLVM 19 and 22"),
        "{}",
        said(&ran)
    );
}

const OLD: &str = "program p
  use mpi
  implicit none
  integer :: code, rank
  call MPI_INIT(code)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  call MPI_FINALIZE(code)
end program
";

const F08: &str = "program p
  use mpi_f08
  implicit none
  integer :: rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (MPI_COMM_WORLD == MPI_COMM_NULL) rank = 7
  print '(i1)', rank
  call MPI_Finalize()
end program
";

/// The folders of modules in the cache below `folder`.
fn in_cache(folder: &Path) -> usize {
    let Ok(files) = std::fs::read_dir(folder.join("cache/overlap")) else { return 0 };
    let is_it = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".modules");
    files.filter(|file| file.as_ref().is_ok_and(|file| is_it(&file.file_name()))).count()
}

#[test]
fn fortran_has_its_modules() {
    for llvm in versions() {
        if tool::find(llvm.compiler(Language::Fortran)).is_none() {
            testkit::skipped(&format!(
                "overlap install: flang of LLVM {} is missing",
                llvm.number()
            ));
            continue;
        }
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        // The last one as what configure and CMake ask by, which is compiled without the plugin.
        for (name, text) in [("old.f90", OLD), ("f08.f90", F08), ("conftest.f90", F08)] {
            std::fs::write(at.join(name), text).expect("a scratch file");
        }
        let ran = meanwhile(at, &["install", "p", "--llvm", &llvm.number().to_string()]);
        assert!(ran.status.success(), "{}", said(&ran));
        let cache = at.join("cache").display().to_string();
        let with_cache = |variable: Option<(&str, &str)>, words: &[&str]| {
            let set = format!("MEANWHILE_CACHE={cache}");
            let ran = with_wrappers(at, variable, &[&["env", &set], words].concat());
            assert!(ran.status.success(), "{words:?}: {}", said(&ran));
            ran
        };
        for (variable, wrapper, mpi) in [
            (Some(("OMPI_FC", "meanwhile-mpifort")), "mpifort.openmpi", Mpi::OpenMpi),
            (Some(("MPICH_FC", "meanwhile-mpifort")), "mpifort.mpich", Mpi::Mpich),
        ] {
            for name in ["old.f90", "f08.f90", "conftest.f90"] {
                with_cache(variable, &[wrapper, "-O2", name, "-o", "a"]);
            }
            assert_eq!(look(at, "a").0, mpi);
            let ran = mpi.launcher(1).expect("there is one").arg(at.join("a")).output();
            let ran = ran.expect("the launcher runs");
            assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), "0", "{}", said(&ran));
        }
        assert_eq!(in_cache(at), 0, "those beside the program are taken");
        // Where they are not, as after an update of MPI, they are made.
        std::fs::remove_dir_all(at.join("p/lib/meanwhile/fortran")).expect("they were there");
        with_cache(None, &["meanwhile-mpifort", "-c", "f08.f90"]);
        assert_eq!(in_cache(at), 1);
        // A module of the user's own comes first.
        let flang = llvm.compiler(Language::Fortran);
        std::fs::create_dir(at.join("own")).expect("a scratch folder");
        let own = "module mpi\n integer, parameter :: mine = 1\nend module\n";
        std::fs::write(at.join("own/mpi.f90"), own).expect("a scratch file");
        with_cache(None, &[flang, "-c", "own/mpi.f90", "-module-dir", "own", "-o", "own/mpi.o"]);
        let user = "program p\n use mpi, only: mine\n print *, mine\nend program\n";
        std::fs::write(at.join("user.f90"), user).expect("a scratch file");
        with_cache(None, &["meanwhile-mpifort", "-Iown", "-c", "user.f90"]);
        // One of gfortran, as CMake names the library's, does not.
        std::fs::write(at.join("own/mpi.mod"), b"\x1f\x8b\x08").expect("a scratch file");
        with_cache(None, &["meanwhile-mpifort", "-I", "own", "-c", "old.f90"]);
    }
}
