//! Random command lines, made from the help of every command: no panic, no hang, an exit code that
//! is documented, and nothing left behind, whatever the arguments are and whenever the command is
//! told to end.

use crate::support::started;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use started::Run;

/// A command as its help shows it.
#[derive(Debug, Clone, Default)]
struct Shown {
    /// Its name and those above it.
    path: Vec<String>,
    /// Options, and whether a value follows.
    options: Vec<(String, bool)>,
    n_arguments: usize,
    /// Words of its help that may be values.
    words: Vec<String>,
}

/// Those that manage other programs of the machine, make networks of their own, or serve until they
/// are told to end: cosched's and overlap's own tests run them.
const LEFT_OUT: [&str; 5] =
    ["cosched daemon", "cosched run", "cosched attach", "cosched stop", "cosched restore"];

fn help(path: &[String]) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(path)
        .args(["-h", "--json"])
        .output()
        .expect("the binary runs");
    let answer: Value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    answer["text"].as_str().expect("a help has a text").to_owned()
}

/// All commands that do something by themselves.
fn commands(path: Vec<String>, found: &mut Vec<Shown>) {
    let text = help(&path);
    let mut below = Vec::new();
    let mut shown = Shown { path: path.clone(), ..Shown::default() };
    let mut part = "";
    for line in text.lines() {
        let word = line.split_whitespace().next().unwrap_or_default();
        if !line.starts_with(' ') {
            part = word;
            let usage = line.strip_prefix("Usage: ").unwrap_or_default();
            shown.n_arguments = usage.matches(['[', '<']).count()
                - usage.matches("[OPTIONS]").count()
                - usage.matches("<COMMAND>").count();
            shown.words.extend(
                line.split(|letter: char| !letter.is_alphanumeric() && letter != '-')
                    .map(str::to_owned),
            );
        } else if part == "Commands:"
            && word != "help"
            && line.starts_with("  ")
            && !line.starts_with("   ")
        {
            below.push(word.to_owned());
        } else if part == "Options:" {
            let names = line.split("--").nth(1).unwrap_or_default();
            let name: String = names
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '-')
                .collect();
            if line.trim_start().starts_with('-') && !name.is_empty() {
                shown.options.push((format!("--{name}"), names[name.len()..].starts_with(" <")));
            }
            shown.words.extend(
                line.split(|letter: char| !letter.is_alphanumeric() && letter != '-')
                    .map(str::to_owned),
            );
        }
    }
    if below.is_empty() && !LEFT_OUT.contains(&path.join(" ").as_str()) {
        found.push(shown);
    }
    for name in below {
        commands([path.clone(), vec![name]].concat(), found);
    }
}

/// A value that may be right, or may be anything.
fn value(shown: &Shown, rng: &mut fastrand::Rng) -> OsString {
    let fixed: [&[u8]; 22] = [
        b"",
        b"0",
        b"1",
        b"8",
        b"-1",
        b"4294967296",
        b"99999999999999999999",
        b"0.5",
        b"nan",
        b"1e309",
        b"none",
        b"text.txt",
        b"bytes.bin",
        b"made/there",
        b"full/x",
        b"/dev/null",
        b"/dev/full",
        b"no/such/file",
        b"\xff\xfe",
        b"a,b",
        b"--",
        "ÄÖ \u{202e}x".as_bytes(),
    ];
    match rng.u32(..3) {
        0 if !shown.words.is_empty() => {
            OsString::from(&shown.words[rng.usize(..shown.words.len())])
        }
        _ => OsStr::from_bytes(fixed[rng.usize(..fixed.len())]).to_owned(),
    }
}

fn line(commands: &[Shown], rng: &mut fastrand::Rng) -> Vec<OsString> {
    let shown = &commands[rng.usize(..commands.len())];
    let mut args: Vec<OsString> = shown.path.iter().map(OsString::from).collect();
    for _ in 0..rng.usize(..=3.min(shown.options.len())) {
        let (name, takes_value) = &shown.options[rng.usize(..shown.options.len())];
        args.push(name.into());
        if *takes_value || rng.u32(..8) == 0 {
            args.push(value(shown, rng));
        }
    }
    for _ in 0..shown.n_arguments + usize::from(rng.u32(..8) == 0) {
        let at = rng.usize(shown.path.len()..=args.len());
        args.insert(at, value(shown, rng));
    }
    args
}

/// Files that commands may be pointed at.
fn prepare(folder: &Path) {
    fs::write(folder.join("text.txt"), "node f(a:u1) returns (b:u1) let b = a tel\n")
        .expect("written");
    fs::write(folder.join("bytes.bin"), [0, 255, 127, 69, 76, 70, 1, 10]).expect("written");
    fs::create_dir(folder.join("made")).expect("made");
    fs::create_dir(folder.join("scratch")).expect("made");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// One line, told to end after a while if it works that long.
fn try_line(args: &[OsString], patience: Duration) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    prepare(folder.path());
    let output = |name: &str| fs::File::create(folder.path().join(name)).expect("made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    command
        .args(args)
        .env("HOME", folder.path().join("home"))
        .stdout(output("out"))
        .stderr(output("err"));
    let mut run = Run::start_as(command, folder);
    let start = Instant::now();
    let mut is_told = false;
    let status = loop {
        if let Some(status) = run.child.try_wait().expect("it is ours") {
            break status;
        }
        if !is_told && start.elapsed() > patience {
            is_told = true;
            run.signal("TERM");
        }
        if start.elapsed() > patience + Duration::from_secs(30) {
            return Err("told to end, it goes on for 30 s".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let said = fs::read(run.folder.path().join("err")).expect("it was made");
    let said = String::from_utf8_lossy(&said);
    // What has nothing to tidy up ends by the signal itself.
    let ends_well = matches!(status.code(), Some(0..=2 | 143)) || status.signal() == Some(15);
    if said.contains("panicked") || !ends_well {
        return Err(format!("{status:?}: {said}"));
    }
    let out = fs::read(run.folder.path().join("out")).expect("it was made");
    let wants_object =
        args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json") && !is_told;
    if wants_object && !out.is_empty() && serde_json::from_slice::<Value>(&out).is_err() {
        return Err(format!("no object: {}", String::from_utf8_lossy(&out)));
    }
    // The folder of a user's sockets stays, as those of other daemons do.
    let mut left = names(&run.folder.path().join("scratch"));
    left.retain(|left| {
        left.strip_prefix("meanwhile-").is_none_or(|rest| rest.parse::<u32>().is_err())
    });
    if !left.is_empty()
        || names(run.folder.path())
            .iter()
            .any(|name| name.contains(".part") || name.contains(".tmp"))
    {
        return Err(format!("left behind: {left:?} {:?}", names(run.folder.path())));
    }
    let processes = run.descendants();
    if processes.is_empty() { Ok(()) } else { Err(format!("processes left behind: {processes:?}")) }
}

#[test]
fn no_command_line_panics_hangs_or_leaves_anything() {
    let long = std::env::var_os("MEANWHILE_LONG").is_some();
    let (n, patience) = if long { (20_000, 400) } else { (2_000, 60) };
    let seed =
        std::env::var("MEANWHILE_LINES_SEED").map_or(1, |value| value.parse().expect("a number"));
    let mut known = Vec::new();
    commands(Vec::new(), &mut known);
    assert!(
        known.len() > 30 && known.iter().map(|it| it.options.len()).sum::<usize>() > 150,
        "the help was not understood: {known:?}"
    );
    let next = AtomicU64::new(0);
    let work = || {
        let mut faults: BTreeMap<u64, String> = BTreeMap::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= n {
                return faults;
            }
            let args = line(&known, &mut fastrand::Rng::with_seed(seed << 32 | number));
            if let Err(fault) = try_line(&args, Duration::from_millis(patience)) {
                faults.insert(number, format!("line {number} of seed {seed}, {args:?}: {fault}"));
            }
        }
    };
    let faults: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread ends").into_values())
            .collect()
    });
    assert!(
        faults.is_empty(),
        "{} of {n} lines:\n{}",
        faults.len(),
        faults[..faults.len().min(12)].join("\n")
    );
}
