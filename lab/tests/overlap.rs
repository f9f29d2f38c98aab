//! Studies of overlap: what the plugin costs a compilation, and a network that needs a right.

use std::path::Path;
use std::process::{Command, Output};

use testkit::json;

fn lab(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
        .current_dir(folder)
        .args(args)
        .output()
        .expect("the binary runs")
}

/// True if the plugin can be built and MPI programs run here; else the test is named as skipped.
fn tools() -> bool {
    let here = has(&["clang-19", "llvm-config-19", "cmake", "ninja", "mpicc", "mpirun"]);
    // The first command would say that it builds the plugin.
    here && overlap::plugin::plugin(overlap::llvm::Llvm::V19)
        .map_err(|error| panic!("{error}"))
        .is_ok()
}

fn has(programs: &[&str]) -> bool {
    testkit::has("studies of overlap", programs)
}

fn skipped(what: &str) {
    testkit::skipped(&format!("studies of overlap: {what}"));
}

const PROGRAM: &str = include_str!("../../cli/tests/support/exchange.c");

fn scratch() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("p.c"), PROGRAM).expect("a scratch file");
    folder
}

#[test]
fn compile_time() {
    if !tools() || !has(&["valgrind"]) {
        return;
    }
    let folder = scratch();
    let ran = lab(
        folder.path(),
        &[
            "run",
            "overlap-compile-time",
            "--pairs",
            "1",
            "--count",
            "--json",
            "--",
            "-O2",
            "-c",
            "p.c",
        ],
    );
    let row = &json(&ran)["rows"][0];
    assert_eq!(
        (&row["compiled"], &row["calls"], &row["converted"], &row["pairs"]),
        (&"-O2 -c p.c".into(), &2.into(), &2.into(), &1.into()),
        "{row}"
    );
    let number =
        |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} is no number: {row}"));
    assert!(number("plain_s") > 0.0 && number("plugin_s") > 0.0, "{row}");
    // The compiler and the code that it reads come to more than this, and the plugin adds something
    // to it.
    assert!(
        number("plain_instructions") > 1e8
            && number("plugin_instructions") > number("plain_instructions"),
        "{row}"
    );
    assert!(
        (number("instructions_ratio")
            - number("plugin_instructions") / number("plain_instructions"))
        .abs()
            < 1e-4,
        "{row}"
    );
    let files: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(files.len(), 1, "nothing is left behind: {files:?}");
}

/// One pair has no interval, three have a range of three.
#[test]
fn an_interval_needs_more_than_one_pair() {
    if !tools() {
        return;
    }
    let folder = scratch();
    let table = |pairs: &str| {
        let ran = lab(
            folder.path(),
            &["run", "overlap-compile-time", "--pairs", pairs, "--", "-O2", "-c", "p.c"],
        );
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("text")
    };
    let (one, three) = (table("1"), table("3"));
    let cells = one
        .lines()
        .find(|line| line.contains("-c p.c"))
        .expect("a row")
        .split_whitespace()
        .rev()
        .take(3)
        .collect::<Vec<_>>();
    assert_eq!(
        cells,
        ["-", "1", "-"],
        "no instructions were counted, one pair, no interval: {one}"
    );
    assert!(three.contains("(range of 3)"), "{three}");
    let ran = lab(
        folder.path(),
        &["run", "overlap-compile-time", "--pairs", "1", "--json", "--", "-O2", "-c", "p.c"],
    );
    let row = &json(&ran)["rows"][0];
    assert!(
        row["interval"].is_null() && row.as_object().expect("a row").contains_key("interval"),
        "{row}"
    );
}

/// Several files are a row each, and evidence names no folder of the machine.
#[test]
fn files_are_compared_one_by_one() {
    if !tools() {
        return;
    }
    let folder = scratch();
    let path = folder.path().join("p.c").display().to_string();
    let arguments = ["run", "overlap-compile-time", "--pairs", "1", "--out", "made.json", "--"];
    let files = ["-O2", "-c", "p.c", ":::", "-O1", "-c", &path];
    let ran = lab(folder.path(), &[&arguments[..], &files].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = std::fs::read_to_string(folder.path().join("made.json")).expect("it was written");
    let made: serde_json::Value = serde_json::from_str(&text).expect("evidence");
    let compiled: Vec<_> = made["rows"].as_array().expect("rows").iter().collect();
    let compiled: Vec<_> = compiled.iter().map(|row| row["compiled"].as_str()).collect();
    assert_eq!(compiled, [Some("-O2 -c p.c"), Some("-O1 -c p.c")]);
    let command = made["command"].as_str().expect("a command");
    assert!(command.ends_with("--out FILE --language c -- -O2 -c p.c ::: -O1 -c p.c"), "{command}");
}

/// Who may not make a network hears it before anything is compiled.
#[test]
fn a_bench_without_the_right_to_its_network_compiles_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let own =
        std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").expect("a process"));
    if own != 0 || !has(&["setpriv", "unshare"]) {
        return skipped("bench as a common user: only root can become one");
    }
    // Where a common user can read it and write beside it.
    let folder = tempfile::tempdir().expect("a scratch folder");
    let binary = folder.path().join("lab");
    std::fs::copy(env!("CARGO_BIN_EXE_meanwhile-lab"), &binary).expect("a copy");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777))
        .expect("it is ours");
    let bench = |more: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            "--bounding-set",
            "-all",
        ]);
        command.arg(&binary).args(["run", "overlap", "--quick"]).args(more);
        command
            .env("TMPDIR", folder.path())
            .env("MEANWHILE_CACHE", folder.path().join("cache"))
            .output()
            .expect("setpriv runs")
    };
    // What is wrong with a file is said before what this user may not do.
    for contents in ["{", "{\"kind\": \"model\"}"] {
        let rows = folder.path().join("rows.json");
        std::fs::write(&rows, contents).expect("a scratch file");
        std::fs::set_permissions(&rows, std::fs::Permissions::from_mode(0o666))
            .expect("it is ours");
        let ran = bench(&["--out", &rows.display().to_string()]);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{contents}: {said}");
        assert!(said.contains("rows.json") && !said.contains("unshare"), "{said}");
        assert_eq!(std::fs::read_to_string(&rows).expect("it is there"), contents);
    }
    let ran = bench(&[]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("unshare") && said.contains("needs root"), "{said}");
    assert!(!folder.path().join("cache").exists(), "something was compiled");
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = scratch();
    for (args, code, said) in [
        (&["run", "overlap", "--ranks", "1"][..], 1, "two ranks or more"),
        (&["run", "overlap-compile-time", "--pairs", "0"], 1, "a comparison needs a pair"),
        (&["run", "overlap-compile-time", "--", "-c", "p.c", ":::"], 1, "beside a `:::`"),
        (
            &["run", "overlap-compile-time", "--language", "c++"],
            1,
            "required arguments were not provided",
        ),
        (
            &[
                "run",
                "overlap-compile-time",
                "--mpi",
                "openmpi",
                "--pairs",
                "1",
                "--",
                "-c",
                "missing.c",
            ],
            2,
            "missing.c",
        ),
    ] {
        if code == 2 && !tools() {
            continue;
        }
        let ran = lab(folder.path(), args);
        let text = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?}: {text}");
    }
}

#[test]
fn the_papers_tables_need_its_programs() {
    let folder = scratch();
    for (args, said, help) in [
        (&["--minimd", "."][..], "`.` has no `ref`", "https://github.com/Mantevo/miniMD"),
        (&["--minife", "p.c"][..], "`p.c` has no `ref/src`", "https://github.com/Mantevo/miniFE"),
    ] {
        let ran = lab(folder.path(), &[&["--json", "run", "overlap-windows"], args].concat());
        assert_eq!(ran.status.code(), Some(1), "{args:?}");
        let error = &json(&ran)["errors"][0];
        assert_eq!(error["message"], said);
        assert!(error["help"].as_str().is_some_and(|text| text.contains(help)), "{error}");
    }
}
