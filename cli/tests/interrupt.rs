//! What an interrupted command leaves: no children, no scratch folders, and an exit code that names the signal.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Ends a hang; nothing that works comes near it.
const LIMIT: Duration = Duration::from_secs(120);

/// A variable that tools hand on to what they start.
const MARK: &str = "MEANWHILE_TEST_OF_INTERRUPTS";

/// Commands that start compilers, simulators or other programs within a second and run for longer than that.
const COMMANDS: &[&str] = &[
    "report --quick --out page",
    "cipher test aes-128",
    "cipher speed --quick rectangle-80",
    "audit bench",
    "overlap plugin",
    "regwin bench",
];

/// A command with its own folder for scratch files, from whose environment its descendants are known.
struct Run {
    child: Child,
    folder: tempfile::TempDir,
}

impl Run {
    fn start(command: &str) -> Run {
        Run::start_with(command, |_| {})
    }

    fn start_with(command: &str, prepare: impl FnOnce(&Path)) -> Run {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::create_dir(folder.path().join("scratch")).expect("made");
        prepare(folder.path());
        // Under `nohup` a hangup is ignored, and whoever is started inherits that.
        let mut shell = Command::new("env");
        shell.args([
            "--default-signal=HUP,INT,TERM",
            "sh",
            "-c",
            &command.replace("meanwhile ", &format!("exec {} ", env!("CARGO_BIN_EXE_meanwhile"))),
        ]);
        shell.env("TMPDIR", folder.path().join("scratch")).env("MEANWHILE_CACHE", folder.path().join("cache"));
        shell.env(MARK, folder.path());
        shell.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Run { child: shell.spawn().expect("sh runs"), folder }
    }

    /// All living processes that were started below this run, without its first one.
    fn descendants(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let ids = fs::read_dir("/proc").expect("a /proc").filter_map(|it| it.ok()?.file_name().to_str()?.parse::<u32>().ok());
        // What ends meanwhile, and what has ended and waits for its parent, has no environment.
        let is_below = |id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|it| it == mark.as_bytes())
        };
        ids.filter(|id| *id != self.child.id()).filter(is_below).collect()
    }

    fn wait_until(&mut self, what: &str, mut is_true: impl FnMut(&Run) -> bool) {
        let start = Instant::now();
        while !is_true(self) {
            assert!(start.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
            assert!(self.child.try_wait().expect("it is ours").is_none(), "{what}: it ended before");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn signal(&self, name: &str) {
        kill(name, self.child.id());
    }

    fn end(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status;
            }
            if start.elapsed() > LIMIT {
                self.child.kill().expect("it is ours");
                panic!("it does not end within {LIMIT:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn assert_nothing_is_left(&self, what: &str) {
        assert_eq!(self.descendants(), [], "{what}: processes");
        let left: Vec<_> =
            fs::read_dir(self.folder.path().join("scratch")).expect("there").map(|it| it.expect("an entry").path()).collect();
        assert!(left.is_empty(), "{what}: {left:?}");
    }
}

/// A test that failed leaves nothing either.
impl Drop for Run {
    fn drop(&mut self) {
        let left = self.descendants().into_iter().chain(self.child.try_wait().is_ok_and(|it| it.is_none()).then_some(self.child.id()));
        for id in left {
            // It may have ended by itself by now.
            let _ = Command::new("sh").args(["-c", &format!("kill -KILL {id}")]).stderr(Stdio::null()).status();
        }
    }
}

fn kill(name: &str, id: u32) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {id}")]).status().expect("sh runs");
    assert!(status.success(), "kill -{name} {id}");
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
        for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            let mut run = Run::start(&format!("meanwhile {command}"));
            run.wait_until(command, |it| !it.descendants().is_empty());
            std::thread::sleep(Duration::from_millis(random.u64(0..300)));
            run.signal(name);
            let what = format!("{command}, SIG{name}, seed {seed}");
            assert_eq!(run.end().code(), Some(code), "{what}");
            run.assert_nothing_is_left(&what);
        }
    }
}

#[test]
fn children_that_do_not_heed_and_those_that_left_are_ended() {
    let stubborn = "trap '' TERM INT HUP\nsetsid sleep 1000 &\n(setsid sh -c 'sleep 1000 & wait' &)\nwhile :; do sleep 1000; done";
    let mut run = Run::start_with("meanwhile audit x.c --cc ./cc --cpu arm1136jf-s", |folder| put_compiler(folder, stubborn));
    run.wait_until("four sleepers", |it| it.descendants().len() >= 5);
    run.signal("INT");
    assert_eq!(run.end().code(), Some(130));
    run.assert_nothing_is_left("stubborn children");
}

#[test]
fn the_second_interrupt_ends_it_at_once() {
    let stubborn = "trap '' TERM INT\nwhile :; do sleep 1000; done";
    let mut run = Run::start_with("meanwhile audit x.c --cc ./cc --cpu arm1136jf-s", |folder| put_compiler(folder, stubborn));
    run.wait_until("the compiler", |it| it.descendants().len() >= 2);
    let children = run.descendants();
    run.signal("INT");
    run.signal("TERM");
    // Either may arrive first; what matters is that the children, which are waited for otherwise, are still there.
    assert!([Some(130), Some(143)].contains(&run.end().code()));
    assert_eq!(run.descendants(), children);
    for id in children.iter().rev() {
        kill("KILL", *id);
    }
}

#[test]
fn what_nohup_protects_runs_on() {
    let script = "read line < go\nexit 7";
    let mut run = Run::start_with("trap '' HUP; meanwhile audit x.c --cc ./cc --cpu arm1136jf-s", |folder| {
        put_compiler(folder, script);
        assert!(Command::new("mkfifo").arg(folder.join("go")).status().expect("mkfifo runs").success());
    });
    run.wait_until("the compiler", |it| !it.descendants().is_empty());
    run.signal("HUP");
    fs::write(run.folder.path().join("go"), "now\n").expect("the compiler reads");
    let status = run.end();
    assert_eq!((status.code(), status.signal()), (Some(2), None), "the compiler failed, and nothing else did");
    run.assert_nothing_is_left("nohup");
}
