//! `meanwhile overlap` on the command line: what it prints, and what it says about wrong input.

use std::path::Path;
use std::process::{Command, Output};

use testkit::json;

fn meanwhile(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder)
        .arg("overlap")
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
    testkit::has("overlap on the command line", programs)
}

fn skipped(what: &str) {
    testkit::skipped(&format!("overlap on the command line: {what}"));
}

const PROGRAM: &str = include_str!("support/exchange.c");

fn scratch() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("p.c"), PROGRAM).expect("a scratch file");
    folder
}

#[test]
fn compile_explain_trace() {
    if !tools() {
        return;
    }
    let folder = scratch();
    let at = folder.path();
    let link = "meanwhile: 2 of 2 calls converted; `meanwhile overlap explain`\n";
    for (args, expected) in [
        (["cc", "--", "-O2", "-c", "p.c", "-o", "p.o"].as_slice(), ""),
        (&["cc", "--", "p.o", "-o", "p"], link),
    ] {
        let ran = meanwhile(at, args);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && said == expected, "{args:?}: {said}");
    }
    let explained = json(&meanwhile(at, &["explain", ".", "--json"]));
    assert_eq!(
        (&explained["sites"], &explained["converted"]),
        (&2.into(), &2.into()),
        "{explained}"
    );
    let row = &explained["rows"][0];
    let keys = [
        "file",
        "line",
        "call",
        "strength",
        "window_weight",
        "beyond_weight",
        "converted",
        "reason",
    ];
    assert_eq!(row.as_object().expect("a row").keys().collect::<Vec<_>>(), keys, "{row}");
    let text = String::from_utf8(meanwhile(at, &["explain", "."]).stdout).expect("text");
    assert!(
        text.contains("9 | MPI_Send(a, 50000") && text.contains("+ MPI_Send made nonblocking"),
        "{text}"
    );
    let summary =
        String::from_utf8(meanwhile(at, &["explain", ".", "--summary"]).stdout).expect("text");
    assert!(summary.contains("sites") && !summary.contains("MPI_Send"), "{summary}");

    let launch: Vec<&str> = match measure::machine::version("mpirun", &["--version"]) {
        Ok(it) if it.contains("Open MPI") => {
            vec!["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "./p"]
        }
        _ => vec!["mpirun", "-n", "2", "./p"],
    };
    let trace = meanwhile(at, &[&["trace", "--json", "--"], launch.as_slice()].concat());
    let printed = String::from_utf8(trace.stdout).expect("text");
    let object: serde_json::Value = printed
        .lines()
        .rfind(|line| line.starts_with('{'))
        .and_then(|line| serde_json::from_str(line).ok())
        .expect("an object");
    assert_eq!(
        (&object["ranks"], &object["transformed"], &object["executed"]),
        (&2.into(), &2.into(), &2.into()),
        "{object}"
    );
    let keys = ["call", "file", "line", "rank", "count", "bytes", "window_us", "mpi_us"];
    let rows = object["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| keys.iter().all(|key| row.get(key).is_some())), "{object}");
    let send = rows.iter().find(|row| row["call"] == "MPI_Send").expect("the send was traced");
    assert_eq!(
        (&send["line"], &send["count"], &send["bytes"]),
        (&9.into(), &1.into(), &400_000.into()),
        "{send}"
    );
}

#[test]
fn arguments_pass_through() {
    if !tools() {
        return;
    }
    let folder = scratch();
    let at = folder.path();
    let preprocessed = meanwhile(at, &["cc", "--", "-E", "p.c"]);
    assert!(String::from_utf8_lossy(&preprocessed.stdout).contains("int main(int argc"));
    let rules = meanwhile(at, &["cc", "--", "-MM", "p.c"]);
    assert!(String::from_utf8_lossy(&rules.stdout).starts_with("p.o: p.c"));
    std::fs::write(at.join("args"), "-O2 -c p.c -o from-file.o").expect("a scratch file");
    assert!(meanwhile(at, &["cc", "--", "@args"]).status.success());
    assert!(at.join("from-file.o").is_file());
    assert!(meanwhile(at, &["cc", "--", "from-file.o", "-o", "linked"]).status.success());
    assert!(at.join("linked").is_file());
    // What the compiler says about a wrong program is what it always says.
    std::fs::write(at.join("bad.c"), "int main(void) { return missing; }\n")
        .expect("a scratch file");
    let ran = meanwhile(at, &["cc", "--", "-c", "bad.c"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&ran.stderr)
            .contains("bad.c:1:25: error: use of undeclared identifier 'missing'")
    );
    // A program that is not MPI compiles as it is.
    std::fs::write(at.join("plain.c"), "int main(void) { return 0; }\n").expect("a scratch file");
    assert!(meanwhile(at, &["cc", "--", "-O2", "plain.c", "-o", "plain"]).status.success());
    assert!(Command::new(at.join("plain")).status().expect("it runs").success());
    let ran = meanwhile(at, &["trace", "--", "./plain"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&ran.stderr)
            .contains("none of these words is a program linked with OpenMPI or MPICH")
    );
}

#[test]
fn sites_say_what_they_count() {
    if !tools() {
        return;
    }
    let folder = scratch();
    assert!(meanwhile(folder.path(), &["cc", "--", "-O2", "p.c", "-o", "p"]).status.success());
    let text = String::from_utf8(meanwhile(folder.path(), &["explain", ".", "--summary"]).stdout)
        .expect("text");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("one in a function that was copied counts for each copy"), "{text}");
}

#[test]
fn without_a_conversion_the_object_is_the_compilers() {
    if !tools() {
        return;
    }
    let folder = scratch();
    let at = folder.path();
    let mut plain = Command::new("mpicc");
    plain
        .env("OMPI_CC", "clang-19")
        .env("MPICH_CC", "clang-19")
        .current_dir(at)
        .args(["-O2", "-c", "p.c", "-o", "plain.o"]);
    let ran = plain.output().expect("mpicc runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let object = |args: &[&str]| {
        assert!(meanwhile(at, &[&["cc"], args].concat()).status.success());
        std::fs::read(at.join("p.o")).expect("an object")
    };
    let expected = std::fs::read(at.join("plain.o")).expect("an object");
    assert!(
        object(&["--min-bytes", "1000000000", "--", "-O2", "-c", "p.c", "-o", "p.o"]) == expected,
        "remarks leave something"
    );
    assert!(object(&["--", "-O2", "-c", "p.c", "-o", "p.o"]) != expected, "nothing was converted");
    let lines = |object: Vec<u8>| String::from_utf8_lossy(&object).contains(".debug_line");
    assert!(!lines(object(&["--", "-O2", "-c", "p.c", "-o", "p.o"])));
    assert!(
        lines(object(&["--", "-O2", "-g", "-c", "p.c", "-o", "p.o"])),
        "debug information is kept"
    );
}

/// CMake names sources by their whole path, and compiles in a folder beside them or below.
#[test]
fn source_lines_are_found_from_a_build_folder() {
    if !tools() {
        return;
    }
    let folder = scratch();
    let at = folder.path().canonicalize().expect("it is there");
    for (source, build) in
        [("project/src", "project/build"), ("elsewhere/of/sources", "a/build/of/it")]
    {
        let (source, build) = (at.join(source), at.join(build));
        for it in [&source, &build] {
            std::fs::create_dir_all(it).expect("a scratch folder");
        }
        std::fs::write(source.join("p.c"), PROGRAM).expect("a scratch file");
        let file = source.join("p.c").display().to_string();
        let ran = meanwhile(&build, &["cc", "--", "-O2", "-g", "-c", &file, "-o", "p.o"]);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let of = build.display().to_string();
        for (from, path) in [(build.as_path(), "."), (Path::new("/"), of.as_str())] {
            let text = String::from_utf8(meanwhile(from, &["explain", path]).stdout).expect("text");
            assert!(text.contains("9 | MPI_Send(a, 50000"), "{text}");
        }
    }
}

/// A folder of another file system below the one that was named: `explain /` would read `/proc`
/// and every network drive.
#[test]
fn explain_stays_on_one_file_system() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let script = "mkdir own mounted && cp a.opt.yaml own && mount -t tmpfs none mounted && cp a.opt.yaml mounted \
                  && exec \"$0\" overlap explain . --json";
    let remark = "--- !Missed\nPass: overlap\nName: SmallMessage\nFunction: main\nArgs:\n  - Call: MPI_Send\n  - Reason: SmallMessage\n...\n";
    std::fs::write(folder.path().join("a.opt.yaml"), remark).expect("written");
    let mut unshare = Command::new("unshare");
    unshare
        .args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_meanwhile")])
        .current_dir(folder.path());
    let ran = unshare.output().expect("unshare runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    if said.contains("unshare:") || said.contains("mount:") {
        return skipped("explain on one file system: no right to mount");
    }
    let sites = json(&ran)["rows"].as_array().expect("rows").len();
    assert_eq!(sites, 2, "the one beside and the one in `own`, not the one in `mounted`");
}

#[test]
fn a_hazard_in_another_object_switches_all_off() {
    if !tools() {
        return;
    }
    let folder = scratch();
    let at = folder.path();
    let other = "#include <mpi.h>\nvoid meet(MPI_Win win) { MPI_Win_fence(0, win); }\n";
    std::fs::write(at.join("other.c"), other).expect("a scratch file");
    // Compiled without the plugin, so that only the linker sees it.
    assert!(
        Command::new("mpicc")
            .current_dir(at)
            .args(["-c", "other.c"])
            .status()
            .expect("mpicc runs")
            .success()
    );
    assert!(meanwhile(at, &["cc", "--", "-O2", "-c", "p.c"]).status.success());
    let ran = meanwhile(at, &["cc", "--", "p.o", "other.o", "-o", "p"]);
    assert!(ran.status.success());
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        said.contains("stay blocking") && said.contains("one-sided windows (MPI_Win_fence)"),
        "{said}"
    );
}

#[test]
fn wrong_input_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("x.opt.yaml"), "no remark\n").expect("a scratch file");
    let refusals = [
        (
            vec!["cc", "-X", "strength=frontie", "--", "a.c"],
            1,
            "`strength` takes basic, extended, frontier",
        ),
        (vec!["cc", "-X", "handler=any", "--", "a.c"], 1, "did you mean `handlers`"),
        (vec!["cc", "--handlers", "never-throw", "--", "a.c"], 1, "-X handlers=VALUE"),
        (vec!["cc", "--mpi", "intel", "--", "a.c"], 1, "invalid value 'intel' for '--mpi"),
        (vec!["cc", "-X", "collectives=uniform", "--", "a.c"], 1, "`collectives` takes safe, off"),
        (vec!["cc"], 1, "required arguments were not provided"),
        (
            vec!["cc", "--mpi", "openmpi", "--compiler", "gcc", "--", "a.c"],
            2,
            "the plugin is for LLVM 19 and 22",
        ),
        (
            vec!["cc", "--mpi", "openmpi", "--compiler", "no-such-clang", "--", "a.c"],
            2,
            "`no-such-clang --version` failed",
        ),
        (vec!["explain", "nowhere"], 1, "cannot read `nowhere`"),
        (vec!["explain", "x.opt.yaml"], 1, "line 1 is no optimisation remark"),
    ];
    for (args, code, said) in refusals {
        let ran = meanwhile(folder.path(), &args);
        let text = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?}: {text}");
    }
    if tools() {
        // A build goes on as it would without us.
        std::fs::write(folder.path().join("a.c"), "int main(void) { return 0; }\n")
            .expect("a scratch file");
        let ran = meanwhile(folder.path(), &["cc", "--plugin", "missing.so", "--", "-c", "a.c"]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success() && folder.path().join("a.o").exists(), "{said}");
        assert!(
            said.contains("nothing is overlapped") && said.contains("there is no such plugin"),
            "{said}"
        );
    }
}
