//! The driver of `meanwhile overlap cc` and the trace, on other people's programs: the one never
//! fails a compilation that the compiler alone passes, and says what it left out; the other sees
//! every call that takes time, and books it where it belongs.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Without the line at the end of a link: what else is said is an error here.
fn meanwhile(folder: &Path, args: &[&str]) -> Output {
    told(folder, args, &[("MEANWHILE_OVERLAP_QUIET", "1")])
}

fn told(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    command.current_dir(folder).arg("overlap").args(args).envs(variables.iter().copied());
    command.output().expect("the binary runs")
}

fn said(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// True if MPI programs can be compiled and run here; else the tests are named as skipped.
fn tools() -> bool {
    let all = ["clang-19", "llvm-config-19", "cmake", "ninja", "mpicc", "mpirun", "ld.lld-19"];
    // The first command would say that it builds the plugin.
    testkit::has("overlap driver", &all)
        && overlap::plugin::plugin(overlap::llvm::Llvm::V19)
            .map_err(|error| panic!("{error}"))
            .is_ok()
}

/// Plugins that break the compiler, each in another way: one that dies when it is asked for its
/// passes, one that is no plugin at all.
const BROKEN: [&str; 2] =
    ["int llvmGetPassPluginInfo(void) { __builtin_trap(); }\n", "int nothing;\n"];

const PROGRAM: &str = include_str!("support/exchange.c");

/// The program, with `more` at its beginning.
fn put(folder: &Path, more: &str) {
    let begin = "MPI_Init(&argc, &argv);";
    assert!(PROGRAM.contains(begin));
    std::fs::write(folder.join("p.c"), PROGRAM.replace(begin, &format!("{begin} {more}")))
        .expect("a scratch file");
}

fn broken(folder: &Path, text: &str) {
    std::fs::write(folder.join("broken.c"), text).expect("a scratch file");
    let made = Command::new("clang-19")
        .current_dir(folder)
        .args(["-shared", "-fPIC", "broken.c", "-o", "broken.so"])
        .status();
    assert!(made.expect("clang-19 runs").success());
}

#[test]
fn a_compiler_that_dies_with_the_plugin_is_asked_again_without() {
    if !tools() {
        return;
    }
    for text in BROKEN {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        put(at, "");
        broken(at, text);
        let ran =
            meanwhile(at, &["cc", "--plugin", "broken.so", "--", "-O2", "-c", "p.c", "-o", "p.o"]);
        assert!(ran.status.success(), "{}", said(&ran));
        let told = said(&ran);
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(
            told.contains("passed without it")
                && told.contains("p.o.overlap-crash.sh reproduces it"),
            "{told}"
        );
        // The file does what it says.
        let again = Command::new("sh")
            .current_dir("/")
            .arg(at.join(".overlap/p.o.overlap-crash.sh"))
            .output()
            .expect("sh runs");
        assert!(!again.status.success(), "the failure is not reproduced");
        // `explain` counts it, and the object is a whole one.
        let explained = meanwhile(at, &["explain", ".", "--json"]);
        let answer: Value = serde_json::from_slice(&explained.stdout).expect("an object");
        assert_eq!(
            answer["without_plugin"],
            serde_json::json!(["./.overlap/p.o.overlap-crash.sh"]),
            "{}",
            said(&explained)
        );
        let linked = Command::new("mpicc")
            .current_dir(at)
            .args(["p.o", "-o", "p"])
            .status()
            .expect("mpicc runs");
        assert!(linked.success());
        // Once the compiler passes with the plugin, the note goes.
        assert!(meanwhile(at, &["cc", "--", "-O2", "-c", "p.c", "-o", "p.o"]).status.success());
        assert!(!at.join(".overlap/p.o.overlap-crash.sh").exists());
    }
}

#[test]
fn a_linker_that_dies_and_standard_input_are_no_exception() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    put(at, "");
    broken(at, BROKEN[0]);
    assert!(meanwhile(at, &["cc", "--", "-O2", "-flto", "-c", "p.c"]).status.success());
    let ran = meanwhile(
        at,
        &["cc", "--plugin", "broken.so", "--", "-O2", "-flto", "-fuse-ld=lld", "p.o", "-o", "p"],
    );
    assert!(ran.status.success() && at.join("p").exists(), "{}", said(&ran));
    assert!(said(&ran).contains("p.overlap-crash.sh reproduces it"), "{}", said(&ran));

    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    command.current_dir(at).args([
        "overlap",
        "cc",
        "--plugin",
        "broken.so",
        "--",
        "-O2",
        "-x",
        "c",
        "-c",
        "-",
        "-o",
        "in.o",
    ]);
    let mut child =
        command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"int f(void) { return 7; }\n")
        .expect("it reads");
    let ran = child.wait_with_output().expect("it ends");
    assert!(ran.status.success() && at.join("in.o").exists(), "{}", said(&ran));
}

/// Debian's name of lld is lld, too; by a linker that loads no plugin a whole program is linked as
/// ever, and a line says so.
#[test]
fn a_whole_program_is_seen_in_lld_by_any_of_its_names_and_what_is_not_seen_is_said() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    put(at, "");
    assert!(meanwhile(at, &["cc", "--", "-O2", "-flto", "-c", "p.c"]).status.success());
    let converted = || {
        std::fs::read(at.join("p"))
            .expect("linked")
            .windows(13)
            .any(|window| window == b"overlap_sites")
    };
    for lld in ["-fuse-ld=lld", "-fuse-ld=lld-19"] {
        let ran = meanwhile(at, &["cc", "--", "-O2", "-flto", lld, "p.o", "-o", "p"]);
        assert!(
            ran.status.success() && said(&ran).is_empty() && converted(),
            "{lld}: {}",
            said(&ran)
        );
    }
    let other = "ld.lld-22";
    if measure::tool::find(other).is_some() {
        let ran = meanwhile(
            at,
            &["cc", "--json", "--", "-O2", "-flto", "-fuse-ld=lld-22", "p.o", "-o", "p"],
        );
        let answer: Value = serde_json::from_slice(&ran.stdout).expect("an object");
        assert!(
            answer["ok"] == true
                && answer["other_linker"] == "lld-22"
                && answer["without_plugin"] == false,
            "{answer}"
        );
        assert!(
            said(&ran)
                .contains("the linker lld-22 does not load the plugin; link with -fuse-ld=lld")
                && !converted(),
            "{}",
            said(&ran)
        );
    }
    // Without -flto each file is converted by itself, whatever links.
    assert!(meanwhile(at, &["cc", "--", "-O2", "-c", "p.c"]).status.success());
    let ran = meanwhile(at, &["cc", "--", "-O2", "-fuse-ld=bfd", "p.o", "-o", "p"]);
    assert!(ran.status.success() && said(&ran).is_empty() && converted(), "{}", said(&ran));
}

/// Objects that were converted before stay blocking where the program asks for it, even if the
/// linker cannot have the plugin.
#[test]
fn a_link_without_the_plugin_looks_for_what_switches_calls_off() {
    if !tools() {
        return;
    }
    for (handler, is_off) in [(WINDOW, true), ("", false)] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        put(at, "extern void set(void); set();");
        std::fs::write(
            at.join("other.c"),
            format!("#include <mpi.h>\nvoid set(void) {{ {handler} }}\n"),
        )
        .expect("a scratch file");
        broken(at, BROKEN[0]);
        assert!(meanwhile(at, &["cc", "--", "-O2", "-c", "p.c"]).status.success());
        let plain = Command::new("mpicc")
            .current_dir(at)
            .args(["-O2", "-c", "other.c"])
            .status()
            .expect("mpicc runs");
        assert!(plain.success());
        // An object in between is compiled as the program is linked, so that the plugin is asked
        // for.
        std::fs::write(at.join("third.c"), "int third;\n").expect("a scratch file");
        let ran = meanwhile(
            at,
            &["cc", "--plugin", "broken.so", "--", "-O2", "third.c", "p.o", "other.o", "-o", "p"],
        );
        assert!(ran.status.success() && said(&ran).contains("passed without it"), "{}", said(&ran));
        assert_eq!(said(&ran).contains("stay blocking"), is_off, "{handler}: {}", said(&ran));
        assert_eq!(at.join(".overlap/p.overlap-off").exists(), is_off, "{handler}");
        assert_eq!(
            trace(at)["executed"].as_u64().is_some_and(|number| number > 0),
            !is_off,
            "{handler}"
        );
    }
}

/// What is wrong in the user's program is said once, by the compiler alone.
#[test]
fn an_error_of_the_program_stays_one() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("wrong.c"), "int f(void) { return missing; }\n")
        .expect("a scratch file");
    for args in [&["cc", "--", "-c", "wrong.c"][..], &["cc", "--", "wrong.c", "-o", "wrong"]] {
        let ran = meanwhile(folder.path(), args);
        assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
        assert_eq!(
            said(&ran).matches("undeclared identifier 'missing'").count(),
            1,
            "{}",
            said(&ran)
        );
        assert!(!said(&ran).contains("plugin"), "{}", said(&ran));
    }
    let left = files(&folder.path().join(".overlap"));
    assert!(!left.iter().any(|set| set.contains("overlap-crash")), "{left:?}");
}

/// The names of what lies in a folder, in order.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Build folders hold what a build makes, and one folder of ours.
#[test]
fn remarks_lie_in_a_folder_of_their_own() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    put(at, "");
    for words in [
        "-O2 -c p.c",
        "-O2 p.c -o one",
        "-O2 -flto -c p.c -o whole.o",
        "-O2 -flto whole.o -o whole",
    ] {
        let words: Vec<&str> = ["cc", "--"].into_iter().chain(words.split(' ')).collect();
        let ran = meanwhile(at, &words);
        assert!(ran.status.success(), "{words:?}: {}", said(&ran));
    }
    assert_eq!(files(at), [".overlap", "one", "p.c", "p.o", "whole", "whole.o"]);
    assert_eq!(
        files(&at.join(".overlap")),
        ["one.opt.yaml", "p.o.opt.yaml", "whole.o.opt.yaml", "whole.opt.ld.yaml"]
    );
    let sites = |path: &str| {
        let explained = meanwhile(at, &["explain", path, "--json"]);
        let answer: Value = serde_json::from_slice(&explained.stdout).expect("an object");
        answer["sites"].as_u64().unwrap_or_else(|| panic!("{}", said(&explained)))
    };
    // Three times the same program; a whole one is looked at when it is linked.
    assert!(sites(".overlap/p.o.opt.yaml") > 0);
    assert_eq!(sites("."), 3 * sites(".overlap/p.o.opt.yaml"));
}

/// What a build system compiles to find out about the compiler is none of the program.
#[test]
fn the_end_of_a_link_says_what_became_of_the_calls() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    let meanwhile = |at: &Path, args: &[&str]| told(at, args, &[]);
    put(at, "");
    std::fs::write(
        at.join("q.c"),
        "#include <mpi.h>\nvoid q(void) { MPI_Barrier(MPI_COMM_WORLD); }\n",
    )
    .expect("a scratch file");
    for name in ["p", "q"] {
        let (source, object) = (format!("{name}.c"), format!("{name}.o"));
        let compiled = meanwhile(at, &["cc", "--", "-O2", "-c", &source, "-o", &object]);
        assert_eq!((said(&compiled), compiled.stdout), (String::new(), Vec::new()));
    }
    let counts = |json: &Value| (json["sites"].as_u64(), json["converted"].as_u64());
    let linked = meanwhile(at, &["cc", "--", "p.o", "q.o", "-o", "p"]);
    assert!(linked.stdout.is_empty());
    let object = meanwhile(at, &["cc", "--json", "--", "p.o", "q.o", "-o", "p"]);
    let answer: Value = serde_json::from_slice(&object.stdout).expect("an object");
    let explained = meanwhile(at, &["explain", ".", "--json"]);
    let all: Value = serde_json::from_slice(&explained.stdout).expect("an object");
    assert_eq!(counts(&answer["calls"]), counts(&all));
    let (sites, converted) = (&all["sites"], &all["converted"]);
    let line_told = said(&linked);
    let line = format!("meanwhile: {converted} of {sites} calls converted, ");
    assert!(line_told.starts_with(&line) && line_told.lines().count() == 1, "{line_told}");
    assert!(line_told.contains("1 StaysBlocking"), "{line_told}");
    // One object less, and none that is known.
    let part = said(&meanwhile(at, &["cc", "--", "-shared", "q.o", "-o", "q.so"]));
    assert!(part.starts_with("meanwhile: 0 of 1 calls converted, 1 StaysBlocking; "), "{part}");
    std::fs::remove_dir_all(at.join(".overlap")).expect("the remarks are there");
    assert_eq!(said(&meanwhile(at, &["cc", "--", "p.o", "q.o", "-o", "p"])), "");
    // A program that is compiled and linked at once; and who wants no line.
    let once = ["cc", "--", "-O2", "q.c", "p.o", "-o", "p"];
    assert!(said(&meanwhile(at, &once)).starts_with("meanwhile: 0 of 1 calls converted"));
    let quiet = told(at, &once, &[("MEANWHILE_OVERLAP_QUIET", "1")]);
    assert_eq!((said(&quiet), quiet.status.success()), (String::new(), true));
}

#[test]
fn objects_that_are_gone_are_named() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    put(at, "");
    let gone = || {
        let answer: Value =
            serde_json::from_slice(&meanwhile(at, &["explain", ".", "--json"]).stdout)
                .expect("an object");
        let names = answer["gone"].as_array().expect("a list").iter();
        names.map(|name| name.as_str().expect("a path").to_owned()).collect::<Vec<_>>()
    };
    for object in ["old.o", "older.o", "p.o"] {
        assert!(meanwhile(at, &["cc", "--", "-O2", "-c", "p.c", "-o", object]).status.success());
    }
    assert!(gone().is_empty(), "{:?}", gone());
    std::fs::remove_file(at.join("old.o")).expect("an object");
    assert_eq!(gone(), ["./old.o"]);
    let text = String::from_utf8_lossy(&meanwhile(at, &["explain", "."]).stdout).into_owned();
    assert!(text.contains("not there any more: ./old.o;"), "{text}");
    std::fs::remove_file(at.join("older.o")).expect("an object");
    let text = String::from_utf8_lossy(&meanwhile(at, &["explain", "."]).stdout).into_owned();
    assert!(text.contains("not there any more: ./old.o and 1 more;"), "{text}");
}

#[test]
fn questions_of_a_build_system_leave_nothing() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    put(at, "");
    std::fs::rename(at.join("p.c"), at.join("conftest.c")).expect("it is there");
    let ran = meanwhile(at, &["cc", "--", "-O2", "conftest.c", "-o", "conftest"]);
    assert!(ran.status.success(), "{}", said(&ran));
    let ran = meanwhile(at, &["cc", "--", "--version"]);
    assert!(ran.status.success() && files(at) == ["conftest", "conftest.c"], "{:?}", files(at));
    let text = "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES C)\nadd_executable(p conftest.c)\n";
    std::fs::write(at.join("CMakeLists.txt"), text).expect("a scratch file");
    let wrapper = "#!/bin/sh\nexec '{}' overlap cc -- \"$@\"\n"
        .replace("{}", env!("CARGO_BIN_EXE_meanwhile"));
    std::fs::write(at.join("cc"), wrapper).expect("a scratch file");
    std::fs::set_permissions(at.join("cc"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    let compiler = format!("-DCMAKE_C_COMPILER={}", at.join("cc").display());
    let cmake = Command::new("cmake")
        .current_dir(at)
        .args(["-S", ".", "-B", "b", &compiler])
        .output()
        .expect("cmake runs");
    assert!(cmake.status.success(), "{}", String::from_utf8_lossy(&cmake.stderr));
    let found = overlap_files(&at.join("b"));
    assert!(found.is_empty(), "{found:?}");
}

/// Folders of ours below.
fn overlap_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path());
    let folders: Vec<std::path::PathBuf> = entries.filter(|entry| entry.is_dir()).collect();
    let ours = folders.iter().filter(|folder| folder.ends_with(".overlap")).cloned();
    ours.chain(folders.iter().flat_map(|folder| overlap_files(folder))).collect()
}

/// What a program of two processes did, by its trace.
fn trace(folder: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    command
        .current_dir(folder)
        .args(["overlap", "trace", "--json", "--out", "t.json"])
        .args(["--", "mpirun", "-n", "2", "./p"]);
    // OpenMPI asks twice before it runs as root, and wants a processor for each process.
    command.envs([
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ]);
    let ran = command.output().expect("the binary runs");
    assert!(ran.status.success(), "{}", said(&ran));
    // What the program prints is alone on standard output.
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(!printed.contains("transformed"), "{printed}");
    let text = std::fs::read_to_string(folder.join("t.json")).expect("the object was written");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What switches all calls off.
const WINDOW: &str = "MPI_Win win; MPI_Win_create(0, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win); MPI_Win_free(&win);";

#[test]
fn error_handlers_are_asked_for_and_windows_switch_off() {
    if !tools() {
        return;
    }
    for (handler, is_off, executes) in [
        ("MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);", false, true),
        (
            "MPI_Comm_set_errhandler(MPI_COMM_WORLD, argc > 1 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);",
            false,
            true,
        ),
        ("MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);", false, true),
        ("MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);", false, false),
        (WINDOW, true, false),
    ] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        // It stands in another object, as in a library of the program's own.
        let other = format!("#include <mpi.h>\nvoid set(int argc) {{ (void)argc; {handler} }}\n");
        std::fs::write(at.join("other.c"), other).expect("a scratch file");
        put(at, "extern void set(int); set(argc);");
        for source in ["p.c", "other.c"] {
            let ran = meanwhile(at, &["cc", "--", "-O2", "-c", source]);
            assert!(ran.status.success(), "{}", said(&ran));
        }
        let ran = meanwhile(at, &["cc", "--", "p.o", "other.o", "-o", "p"]);
        assert!(ran.status.success(), "{}", said(&ran));
        assert_eq!(said(&ran).contains("stay blocking"), is_off, "{handler}: {}", said(&ran));
        assert_eq!(
            trace(at)["executed"].as_u64().is_some_and(|number| number > 0),
            executes,
            "{handler}"
        );
        let explained = meanwhile(at, &["explain", ".", "--json"]);
        let answer: Value = serde_json::from_slice(&explained.stdout).expect("an object");
        assert_eq!(
            answer["switched_off"].as_array().map(|answer| !answer.is_empty()),
            Some(is_off),
            "{answer}"
        );
        if is_off {
            assert_eq!(answer["switched_off"][0]["program"], "./p");
            let text =
                String::from_utf8_lossy(&meanwhile(at, &["explain", "."]).stdout).into_owned();
            assert!(
                text.contains("converted, but blocking")
                    && text.contains("./p: all its calls stay blocking"),
                "{text}"
            );
        }
    }
}

/// Calls that were invisible, a wait of the program behind a converted call, and
/// what a Sendrecv sends.
const CALLS: &str = "#include <mpi.h>
#include <stdio.h>
static double a[50000], b[50000], x[5000];
int main(int argc, char **argv) {
  int me, n[2] = {3, 3}, at[2] = {0, 3}, which, done[2], two[2];
  int few[6] = {1, 2, 3, 4, 5, 6}, all[6];
  MPI_Request r[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  int other = 1 - me;
  MPI_Alltoallv(few, n, at, MPI_INT, all, n, at, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(few, 3, MPI_INT, all, n, at, MPI_INT, MPI_COMM_WORLD);
  MPI_Irecv(&two[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(&few[2], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
  MPI_Waitsome(2, r, &which, done, MPI_STATUSES_IGNORE);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Irecv(&two[1], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &r[0]);
  MPI_Sendrecv(a, 50000, MPI_DOUBLE, other, 3, b, 50000, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i < 5000; i++)
    x[i] = 0.5 * x[i - 1] + i;
  x[0] = b[7];
  MPI_Send(&me, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  if (me == 0)
    printf(\"%g %d %d\\n\", x[9] + x[0], all[5], two[0] + two[1]);
  MPI_Finalize();
}
";

#[test]
fn every_call_that_takes_time_is_seen_and_booked_on_itself() {
    if !tools() {
        return;
    }
    for (compiler, has_windows) in
        [(&["cc", "--"][..], true), (&["cc", "--min-bytes", "1000000000", "--"], false)]
    {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("p.c"), CALLS).expect("a scratch file");
        let ran = meanwhile(folder.path(), &[compiler, &["-O2", "p.c", "-o", "p"]].concat());
        assert!(ran.status.success(), "{}", said(&ran));
        let answer = trace(folder.path());
        let rows = answer["rows"].as_array().expect("rows");
        let of = |call: &str| {
            rows.iter().filter(|row| row["call"] == call && row["rank"] == 0).collect::<Vec<_>>()
        };
        let bytes =
            |call: &str| of(call).iter().filter_map(|value| value["bytes"].as_u64()).sum::<u64>();
        for call in
            ["MPI_Waitany", "MPI_Waitsome", "MPI_Alltoallv", "MPI_Allgatherv", "MPI_Waitall"]
        {
            assert_eq!(of(call).len(), 1, "{call}: {answer}");
            assert!(
                of(call)[0]["mpi_us"].as_f64().is_some_and(|number| number > 0.0),
                "{call}: {answer}"
            );
        }
        assert_eq!(
            (bytes("MPI_Alltoallv"), bytes("MPI_Allgatherv"), bytes("MPI_Sendrecv")),
            (24, 12, 400_000),
            "{answer}"
        );
        // The program's own wait is a call of its own, not one more of the call before it.
        let wait = of("MPI_Wait");
        assert_eq!(
            wait.iter().map(|value| value["count"].as_u64().unwrap_or(0)).sum::<u64>(),
            1,
            "{answer}"
        );
        let windows =
            of("MPI_Sendrecv").iter().filter(|value| value["window_us"].is_number()).count();
        assert_eq!(windows > 0, has_windows, "{answer}");
    }
}

#[test]
fn what_a_call_costs_is_joined_with_what_became_of_it() {
    if !tools() {
        return;
    }
    // The line is known with debug information, the function without.
    for debug in ["-g", "-g0"] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        std::fs::write(at.join("p.c"), CALLS).expect("a scratch file");
        let ran = meanwhile(
            at,
            &["cc", "--min-bytes", "1000000000", "--", "-O2", debug, "p.c", "-o", "p"],
        );
        assert!(ran.status.success(), "{}", said(&ran));
        let answer = trace(at);
        std::fs::write(at.join("trace.json"), format!("what the program prints\n{answer}\n"))
            .expect("a scratch file");
        let (wall, compute) =
            (answer["bound"]["wall_s"].as_f64(), answer["bound"]["compute_s"].as_f64());
        assert!(wall > compute && compute > Some(0.0), "{answer}");
        assert!(answer["bound"]["speedup"].as_f64() > Some(1.0), "{answer}");
        let ran = meanwhile(at, &["explain", ".", "--trace", "trace.json", "--json"]);
        assert!(ran.status.success(), "{}", said(&ran));
        let explained: Value = serde_json::from_slice(&ran.stdout).expect("an object");
        let lost = explained["lost"].as_array().expect("sites");
        let exchange = lost
            .iter()
            .find(|value| value["call"] == "MPI_Sendrecv")
            .unwrap_or_else(|| panic!("{explained}"));
        let line =
            CALLS.lines().position(|line| line.contains("MPI_Sendrecv(")).expect("it is there") + 1;
        assert_eq!(exchange["function"], "main", "{explained}");
        assert_eq!(exchange["bytes"], 400_000, "{explained}");
        if debug == "-g" {
            assert!(
                exchange["file"].as_str().is_some_and(|text| text.ends_with("p.c")),
                "{explained}"
            );
            assert_eq!(
                (&exchange["line"], &exchange["converted"]),
                (&line.into(), &false.into()),
                "{explained}"
            );
            assert!(
                exchange["reason"].is_string() && exchange["sentence"].is_string(),
                "{explained}"
            );
        } else {
            assert_eq!(
                (&exchange["line"], &exchange["converted"]),
                (&0.into(), &Value::Null),
                "{explained}"
            );
        }
        let text = meanwhile(at, &["explain", ".", "--trace", "trace.json"]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(
            text.contains(if debug == "-g" { "- MPI_Sendrecv stays blocking" } else { "in main" }),
            "{text}"
        );
        // A trace that was cut off, and a file that is none.
        let whole = answer.to_string();
        for wrong in [&whole[..whole.len() / 2], "hello\n", "{}"] {
            std::fs::write(at.join("wrong.json"), wrong).expect("a scratch file");
            let ran = meanwhile(at, &["explain", ".", "--trace", "wrong.json"]);
            assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
            assert!(
                said(&ran).contains("cannot use `wrong.json`")
                    && said(&ran).contains("trace --json"),
                "{}",
                said(&ran)
            );
        }
    }
}

#[test]
fn a_profile_decides_what_is_converted() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    let never = "  if (argc > 5)\n    MPI_Sendrecv(b, 50000, MPI_DOUBLE, other, 4, a, 50000, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n";
    let begin = "  for (int i = 1; i < 5000; i++)\n";
    assert!(CALLS.contains(begin));
    std::fs::write(at.join("p.c"), CALLS.replace(begin, &format!("{never}{begin}")))
        .expect("a scratch file");
    let build = |more: &[&str]| {
        let ran = meanwhile(
            at,
            &[&["cc", "--min-bytes", "1000000000"], more, &["--", "-O2", "-g", "p.c", "-o", "p"]]
                .concat(),
        );
        assert!(ran.status.success() && said(&ran).is_empty(), "{}", said(&ran));
        let explained = meanwhile(at, &["explain", ".", "--json"]);
        let explained: Value = serde_json::from_slice(&explained.stdout).expect("an object");
        let rows = explained["rows"].as_array().expect("rows").clone();
        let of = |line: usize| {
            let row = rows.iter().find(|row| row["call"] == "MPI_Sendrecv" && row["line"] == line);
            row.unwrap_or_else(|| panic!("line {line}: {explained}")).clone()
        };
        let text = std::fs::read_to_string(at.join("p.c")).expect("it is there");
        let lines: Vec<usize> = (1..)
            .zip(text.lines())
            .filter(|(_, it)| it.contains("MPI_Sendrecv("))
            .map(|pair| pair.0)
            .collect();
        assert_eq!(lines.len(), 2);
        (of(lines[0]), of(lines[1]))
    };
    let (often, _) = build(&[]);
    assert_eq!(often["reason"], "SmallMessage");
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["overlap", "trace", "--profile", "run.json", "--", "mpirun", "-n", "2", "./p"])
        .current_dir(at)
        .envs([
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ])
        .output()
        .expect("the binary runs");
    assert!(ran.status.success(), "{}", said(&ran));
    // 400,000 bytes take longer than a start and a wait on any machine; four bytes do where the
    // machine is busy, and could then have the loop.
    let measured = std::fs::read_to_string(at.join("run.json")).expect("it is there");
    for us in [1.0, 20.0] {
        let mut run: Value = serde_json::from_str(&measured).expect("an object");
        for site in run["sites"].as_array_mut().expect("sites") {
            match site["call"].as_str() {
                Some("MPI_Send") => site["us"] = us.into(),
                Some("MPI_Sendrecv") => {
                    assert!(site["us"].as_f64().is_some_and(|number| number > 20.0), "{measured}")
                }
                _ => (),
            }
        }
        std::fs::write(at.join("run.json"), run.to_string()).expect("a scratch file");
        let (often, never) = build(&["--profile", "run.json"]);
        assert_eq!(
            (&often["converted"], &never["reason"]),
            (&true.into(), &"NeverRan".into()),
            "{us} us: {often} {never}"
        );
    }
    // Built with it, and measured again, it stays so.
    let answer = trace(at);
    assert!(
        answer["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .any(|value| value["call"] == "MPI_Sendrecv" && value["window_us"].is_number()),
        "{answer}"
    );
    for wrong in ["{\"overlap_pro", "{}", "hello"] {
        std::fs::write(at.join("wrong.json"), wrong).expect("a scratch file");
        let ran = meanwhile(at, &["cc", "--profile", "wrong.json", "--", "-c", "p.c"]);
        assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
        assert!(said(&ran).contains("trace --profile"), "{}", said(&ran));
    }
}

/// As `CALLS`, shorter; the lines of its calls are looked up in it.
const FORTRAN: &str = "program p
  implicit none
  include 'mpif.h'
  integer :: e, me, i, request
  double precision :: a(50000), b(50000), x(5000)
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  a = me
  call MPI_Irecv(a, 3, MPI_INTEGER, 1 - me, 1, MPI_COMM_WORLD, request, e)
  call MPI_Send(b, 3, MPI_INTEGER, 1 - me, 1, MPI_COMM_WORLD, e)
  call MPI_Wait(request, MPI_STATUS_IGNORE, e)
  call MPI_Sendrecv(a, 50000, MPI_DOUBLE_PRECISION, 1 - me, 0, b, 50000, MPI_DOUBLE_PRECISION, 1 - me, 0, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
  do i = 2, 5000
    x(i) = 0.5 * x(i - 1) + i
  end do
  call MPI_Allreduce(x, b, 7, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, e)
  print *, b(3), a(5)
  call MPI_Finalize(e)
end program
";

#[test]
fn calls_of_fortran_are_booked_on_their_lines() {
    let all = ["flang-new-19", "mpirun.openmpi", "mpirun.mpich"];
    if !tools() || all.iter().any(|it| measure::tool::find(it).is_none()) {
        return;
    }
    for mpi in overlap::Mpi::ALL {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        std::fs::write(at.join("p.f90"), FORTRAN).expect("a scratch file");
        let launcher = format!("mpirun.{}", mpi.name());
        for (compiler, is_converted) in
            [(["--min-bytes", "1000000000"], false), (["--profile", "run.json"], true)]
        {
            let ran = meanwhile(
                at,
                &[
                    &["fc", "--mpi", mpi.name()],
                    &compiler[..],
                    &["--", "-O2", "-g", "p.f90", "-o", "p"],
                ]
                .concat(),
            );
            assert!(ran.status.success(), "{}", said(&ran));
            let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
                .args([
                    "overlap",
                    "trace",
                    "--profile",
                    "run.json",
                    "--json",
                    "--",
                    &launcher,
                    "-n",
                    "2",
                    "./p",
                ])
                .current_dir(at)
                .envs([
                    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
                ])
                .env("UCX_TLS", "posix,self")
                .output()
                .expect("the binary runs");
            assert!(ran.status.success(), "{}", said(&ran));
            let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
            let object = printed.lines().rfind(|line| line.starts_with('{')).expect("an object");
            let answer: Value = serde_json::from_str(object).expect("an object");
            let lost = answer["lost"].as_array().expect("sites");
            for (call, bytes) in [
                ("MPI_Sendrecv", 400_000),
                ("MPI_Irecv", 12),
                ("MPI_Send", 12),
                ("MPI_Wait", 0),
                ("MPI_Allreduce", 56),
            ] {
                let sites: Vec<&Value> =
                    lost.iter().filter(|value| value["call"] == call).collect();
                assert_eq!(sites.len(), 1, "{call}, {}: {answer}", mpi.name());
                let line = FORTRAN
                    .lines()
                    .position(|line| line.contains(&format!("{call}(")))
                    .expect("it is there")
                    + 1;
                assert_eq!(
                    (&sites[0]["line"], &sites[0]["count"]),
                    (&line.into(), &1.into()),
                    "{call}, {}: {answer}",
                    mpi.name()
                );
                // What was converted, and asks for its bytes when it starts, says them there.
                assert_eq!(sites[0]["bytes"], bytes, "{call}, {}: {answer}", mpi.name());
            }
            let windows = answer["rows"]
                .as_array()
                .expect("rows")
                .iter()
                .filter(|value| value["window_us"].is_number())
                .count();
            assert_eq!(windows > 0, is_converted, "{}: {answer}", mpi.name());
        }
    }
}
