//! What an interrupted command leaves: no children and no scratch folders; and it dies by the
//! signal, so that a shell loop ends, too.

use crate::support::started;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use started::{Run, kill};

const PROGRAM: &str = env!("CARGO_BIN_EXE_meanwhile");

/// Commands that start compilers, simulators or other programs within a second and run
/// for longer than that.
const COMMANDS: &[&str] = &[
    "cipher test aes-128",
    "cipher speed --quick rectangle-80",
    "cipher tune rectangle-80 --arch x86-64 --slicing h --emit c",
    "overlap plugin",
];

fn start(command: &str) -> Run {
    Run::start_with(PROGRAM, command, |_| {})
}

/// A compiler that ends when it is told and not before.
fn put_compiler(folder: &Path, script: &str) {
    fs::write(folder.join("x.c"), "int f(int x) { return x; }\n").expect("written");
    fs::write(folder.join("cc"), format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(folder.join("cc"), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn an_interrupt_at_any_moment_leaves_nothing() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    for command in COMMANDS {
        for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            let mut run = start(&format!("meanwhile {command}"));
            run.wait_until(command, |run| !run.descendants().is_empty());
            std::thread::sleep(Duration::from_millis(random.u64(0..300)));
            run.signal(name);
            let what = format!("{command}, SIG{name}, seed {seed}");
            assert_eq!(run.end().signal(), Some(number), "{what}");
            run.assert_nothing_is_left(&what);
        }
    }
}

#[test]
fn children_that_do_not_heed_and_those_that_left_are_ended() {
    let stubborn = "trap '' TERM INT HUP\nsetsid sleep 1000 &\n(setsid sh -c 'sleep 1000 & wait' &)\nwhile :; do sleep 1000; done";
    let mut run =
        Run::start_with(PROGRAM, "meanwhile audit x.c --cc ./cc --cpu arm1136jf-s", |folder| {
            put_compiler(folder, stubborn)
        });
    run.wait_until("four sleepers", |run| run.descendants().len() >= 5);
    run.signal("INT");
    assert_eq!(run.end().signal(), Some(2));
    run.assert_nothing_is_left("stubborn children");
}

#[test]
fn the_second_interrupt_ends_it_at_once() {
    let stubborn = "trap '' TERM INT\nwhile :; do sleep 1000; done";
    let mut run =
        Run::start_with(PROGRAM, "meanwhile audit x.c --cc ./cc --cpu arm1136jf-s", |folder| {
            put_compiler(folder, stubborn)
        });
    run.wait_until("the compiler", |run| run.descendants().len() >= 2);
    let children = run.descendants();
    run.signal("INT");
    run.signal("TERM");
    // Either may arrive first; what matters is that the children, which are waited for otherwise,
    // are still there.
    assert!([Some(2), Some(15)].contains(&run.end().signal()));
    assert_eq!(run.descendants(), children);
    // The shell first: it says that its sleeper was killed, which nobody reads any more, and ends
    // by that.
    for id in &children {
        kill("KILL", id);
    }
}

/// A shell goes on with the next iteration if the command has exited, whatever its code; only a
/// death by SIGINT stops it.
#[test]
fn ctrl_c_ends_the_loop_of_a_shell() {
    for command in ["cosched run -- sleep 1000", "audit x.c --cc ./cc --cpu arm1136jf-s"] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::create_dir(folder.path().join("scratch")).expect("made");
        put_compiler(folder.path(), "exec sleep 1000");
        let one = format!("{} {command}", env!("CARGO_BIN_EXE_meanwhile"));
        let mut shell = Command::new("env");
        let each = format!("for n in 1 2 3; do {one} 2>&1 >log; touch again; done");
        shell.args(["--default-signal=HUP,INT,TERM", "bash", "-c", &each]).process_group(0);
        let mut run = Run::start_as(shell, folder);
        run.wait_until(command, |run| run.descendants().len() >= 2);
        // As a terminal does: to every process of the group in the foreground.
        kill("INT", format!("-{}", run.child.id()));
        let status = run.end();
        assert!(!run.folder.path().join("again").exists(), "{command}: the loop went on");
        assert_eq!(status.signal(), Some(2), "{command}");
        assert_eq!(run.descendants(), Vec::<u32>::new(), "{command}: processes");
    }
}

#[test]
fn what_nohup_protects_runs_on() {
    let script = "read line < go\nexit 7";
    let mut run = Run::start_with(
        PROGRAM,
        "trap '' HUP; meanwhile audit x.c --cc ./cc --cpu arm1136jf-s",
        |folder| {
            put_compiler(folder, script);
            assert!(
                Command::new("mkfifo")
                    .arg(folder.join("go"))
                    .status()
                    .expect("mkfifo runs")
                    .success()
            );
        },
    );
    run.wait_until("the compiler", |run| !run.descendants().is_empty());
    run.signal("HUP");
    fs::write(run.folder.path().join("go"), "now\n").expect("the compiler reads");
    let status = run.end();
    assert_eq!(
        (status.code(), status.signal()),
        (Some(2), None),
        "the compiler failed, and nothing else did"
    );
    run.assert_nothing_is_left("nohup");
}
