//! No analysis is asked about blocks, loops or values that are gone: programs are compiled several
//! times. MEANWHILE_LONG=1 runs the compiler under valgrind on them, on every command of the
//! plugin's own tests and on 200 random programs: MEANWHILE_OVERLAP_PROGRAMS sets how many,
//! MEANWHILE_OVERLAP_SEED the first seed (1).

use crate::support;
use crate::support::generate;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::tool;
use overlap::llvm::Llvm;
use overlap::mpi::Language;
use overlap::{Mpi, Settings};

/// Valgrind takes fifty times as long as the compiler.
const LIMIT: Duration = Duration::from_secs(1200);

fn long() -> bool {
    std::env::var_os("MEANWHILE_LONG").is_some()
}

/// True if valgrind is here; else the test is named as skipped.
fn valgrind() -> bool {
    let here = tool::find("valgrind").is_some();
    if !here {
        support::skip("overlap memory: valgrind is missing");
    }
    here
}

/// What valgrind says of the plugin in its log: accesses of memory that is not there wherever they
/// are made, since what the plugin leaves behind may break a later pass; and other errors made
/// inside of the plugin. (The compiler alone has some of its own.)
fn errors(log: &str) -> Vec<String> {
    let lines = log.lines().map(|line| {
        line.strip_prefix("==").and_then(|rest| rest.split_once("== ")).map_or("", |pair| pair.1)
    });
    let mut blocks: Vec<Vec<&str>> = vec![Vec::new()];
    for line in lines {
        match line.trim() {
            "" => blocks.push(Vec::new()),
            line => blocks.last_mut().expect("a block is open").push(line),
        }
    }
    let of_plugin = |block: &&Vec<&str>| {
        let first = block.first().copied().unwrap_or_default();
        let wrong_access =
            ["Invalid ", "Mismatched ", "Process terminating", "Jump to the invalid"]
                .iter()
                .any(|word| first.starts_with(word));
        wrong_access
            || (block.iter().any(|text| text.starts_with("at 0x"))
                && block.iter().any(|set| set.contains(".so)") && set.contains("/overlap/")))
    };
    blocks.iter().filter(of_plugin).map(|block| block.join("\n")).collect()
}

/// All logs of a folder; panics with what is wrong in them.
fn check_logs(folder: &Path, of: &str) -> usize {
    let mut n_logs = 0;
    for entry in folder.read_dir().expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "log") {
            let log = std::fs::read_to_string(&path).expect("a log is text");
            let found = errors(&log);
            assert!(found.is_empty(), "{of}:\n{}", found.join("\n\n"));
            assert!(log.contains("ERROR SUMMARY"), "{of}: valgrind was interrupted:\n{log}");
            std::fs::remove_file(&path).expect("a log of ours");
            n_logs += 1;
        }
    }
    n_logs
}

/// Compiles under valgrind, children included.
fn compile(mpi: Mpi, settings: &Settings, plugin: &Path, folder: &Path, words: &[&str], of: &str) {
    let mut command = Command::new("valgrind");
    command
        .arg("--trace-children=yes")
        .arg(format!("--log-file={}", folder.join("%p.log").display()));
    command
        .args(["--num-callers=40", "clang-19"])
        .arg(format!("-fpass-plugin={}", plugin.display()))
        .args(words);
    if words.contains(&"-flto") {
        command.args([
            "-fuse-ld=lld".to_owned(),
            format!("-Wl,--load-pass-plugin={}", plugin.display()),
        ]);
    }
    command.args(
        mpi.flags(Language::C)
            .expect("the wrapper says its flags")
            .iter()
            .filter(|flag| flag.starts_with("-I") || words.contains(&"-flto")),
    );
    command
        .env("MEANWHILE_OVERLAP", format!("{},lines=drop", settings.environment()))
        .current_dir(folder);
    tool::run(&mut command, b"", LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{of}: {error}"));
    assert!(check_logs(folder, of) > 0, "{of}: valgrind wrote no log");
}

/// Programs whose windows have several loops that are cut.
const PROGRAMS: [&str; 4] = [
    "two-nests-in-a-window.c",
    "moves-of-a-plane.c",
    "loops-of-a-copied-function.c",
    "strides-of-deferred-rows.c",
];

#[test]
fn loops_that_change_do_not_crash_the_compiler() {
    let Some(plugin) = support::plugin("memory") else { return };
    let Some(&mpi) = support::libraries("memory").first() else { return };
    // Where what was freed lies differs from run to run.
    for (name, time) in PROGRAMS.iter().flat_map(|program| (1..=8).map(move |time| (program, time)))
    {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut command = Command::new("clang-19");
        command
            .arg(format!("-fpass-plugin={}", plugin.display()))
            .args(["-O2", "-c", "-o"])
            .arg(folder.path().join("p.o"));
        command.arg(support::root().join("systems/overlap/tests/memory").join(name));
        command.args(
            mpi.flags(Language::C)
                .expect("the wrapper says its flags")
                .iter()
                .filter(|flag| flag.starts_with("-I")),
        );
        command.env("MEANWHILE_OVERLAP", Settings::default().environment());
        tool::run(&mut command, b"", LIMIT)
            .and_then(tool::Ran::ok)
            .unwrap_or_else(|error| panic!("{name}, time {time}: {error}"));
    }
}

#[test]
fn loops_that_change_leave_nothing_behind() {
    let Some(plugin) = support::plugin("memory").filter(|_| long() && valgrind()) else { return };
    let Some(&mpi) = support::libraries("memory").first() else { return };
    let tests = support::root().join("systems/overlap/tests");
    let hazards = ["hazards", "later"]
        .iter()
        .flat_map(|folder| tests.join(folder).read_dir().expect("the folder is there"));
    let hazards = hazards
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "c"));
    for source in PROGRAMS.iter().map(|name| tests.join("memory").join(name)).chain(hazards) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let source = source.to_str().expect("text");
        compile(
            mpi,
            &Settings::default(),
            &plugin,
            folder.path(),
            &["-O2", "-c", source, "-o", "p.o"],
            source,
        );
    }
}

#[test]
fn logs_are_read() {
    let access = "==7== \n==7== Invalid read of size 8\n==7==    at 0xB0D: llvm::f() (in /usr/lib/libLLVM.so.19.1)\n==7== \n";
    let own = "==7== Conditional jump or move depends on uninitialised value(s)\n==7==    at 0x66: ??? (in /usr/lib/libclang-cpp.so.19.1)\n";
    let of_plugin = "==7== Use of uninitialised value of size 8\n==7==    at 0x66: ??? (in /cache/meanwhile/overlap/0a1b.so)\n";
    assert_eq!(errors(access).len(), 1);
    assert_eq!(errors(own).len(), 0);
    assert_eq!(errors(of_plugin).len(), 1);
    assert_eq!(errors(&format!("{access}{own}==7== \n{of_plugin}")).len(), 2);
    assert_eq!(
        errors("==7== Process terminating with default action of signal 11 (SIGSEGV)\n").len(),
        1
    );
}

#[test]
fn every_command_of_the_plugins_tests() {
    let Some(plugin) = support::plugin("memory").filter(|_| long() && valgrind()) else { return };
    let logs = tempfile::tempdir().expect("a scratch folder");
    support::lit(
        Llvm::V19,
        &plugin,
        Some(&format!(
            "valgrind --num-callers=40 --log-file={}",
            logs.path().join("%p.log").display()
        )),
        LIMIT * 4,
    );
    let n_logs = check_logs(logs.path(), "tests/lit");
    assert!(n_logs > 90, "only {n_logs} commands ran");
}

#[test]
fn random_programs() {
    let Some(plugin) = support::plugin("memory").filter(|_| long() && valgrind()) else { return };
    let libraries = support::libraries("memory");
    if libraries.is_empty() {
        return;
    }
    let first = support::number("MEANWHILE_OVERLAP_SEED", 1);
    for seed in first..first + support::number("MEANWHILE_OVERLAP_PROGRAMS", 200) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("p.c"), generate::program(seed)).expect("a scratch file");
        let case = support::Case::of(seed, &[Llvm::V19], &libraries);
        let ends: &[&str] = if case.whole == "-flto" { &["-o", "p"] } else { &["-c", "-o", "p.o"] };
        let words = [&["-w", case.level, case.whole, case.inline, "p.c"], ends].concat();
        compile(
            case.mpi,
            &case.settings,
            &plugin,
            folder.path(),
            &words,
            &format!("seed {seed}, {words:?}, {case:?}"),
        );
    }
}

#[test]
fn every_program_of_the_folder_is_compiled() {
    let folder: PathBuf = support::root().join("systems/overlap/tests/memory");
    assert_eq!(folder.read_dir().expect("the folder is there").count(), PROGRAMS.len());
}
