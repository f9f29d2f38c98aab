//! `meanwhile cosched run` with real programs: they all end, and none stays frozen when the manager
//! dies.
//!
//! Needs the right to make control groups; without it this says so and is skipped visibly.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support;
use support::{LIMIT, THAWED, frozen, groups, length, may_freeze, runs, skipped, wait_for};

const N_PROGRAMS: usize = 3;
const SEED: u64 = 4;

fn n_kills() -> usize {
    if std::env::var_os("MEANWHILE_LONG").is_some() { 200 } else { 12 }
}

#[test]
fn programs_run_on_when_their_manager_is_killed() {
    if !may_freeze() {
        return;
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    for kill in 0..n_kills() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: String| folder.path().join(name);
        let script = "echo $$ > pid$1; while [ ! -e stop ]; do echo x >> out$1; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        let policy = ["rr", "b2arr", "dss", "pairing"][kill % 4];
        // The manager cannot tidy up after itself: its scratch files go with ours.
        command.current_dir(folder.path()).env("TMPDIR", folder.path());
        command.args(["cosched", "run", "--turns", "frozen", "--policy", policy, "--"]);
        for idx in 0..N_PROGRAMS {
            if idx > 0 {
                command.arg(":::");
            }
            command.args(["sh", "-c", script, "sh", &idx.to_string()]);
        }
        let mut manager =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs");
        wait_for("the programs start", LIMIT, || {
            (0..N_PROGRAMS).all(|idx| length(&at(format!("out{idx}"))) > 0)
        });
        std::thread::sleep(Duration::from_millis(random.u64(..300)));
        manager.kill().expect("it is ours");
        manager.wait().expect("it is ours");
        let pid = |number: usize| {
            fs::read_to_string(at(format!("pid{number}")))
                .expect("it was written")
                .trim()
                .parse()
                .expect("a number")
        };
        let pids: Vec<i32> = (0..N_PROGRAMS).map(pid).collect();
        let said = format!("seed {SEED}, kill {kill}, {policy}");
        wait_for(&format!("{said}: all are thawed"), THAWED, || {
            frozen(manager.id(), &pids).is_empty()
        });
        let before: Vec<u64> =
            (0..N_PROGRAMS).map(|idx| length(&at(format!("out{idx}")))).collect();
        wait_for(&format!("{said}: all run on"), LIMIT, || {
            (0..N_PROGRAMS).all(|idx| length(&at(format!("out{idx}"))) > before[idx] + 8)
        });
        fs::write(at("stop".into()), "").expect("a scratch file");
        wait_for("the programs end", LIMIT, || !pids.iter().any(|it| runs(*it)));
        wait_for("the groups go", LIMIT, || groups(manager.id()).is_empty());
    }
}

fn run(args: &[&str]) -> (serde_json::Value, String, i32) {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cosched", "run", "--turns", "frozen"])
        .args(args)
        .output()
        .expect("the binary runs");
    let value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    (
        value,
        String::from_utf8_lossy(&ran.stderr).into_owned(),
        ran.status.code().expect("it was not killed"),
    )
}

/// A program is as it would be without a manager, which is real-time, opens many files and keeps
/// itself to one processor.
#[test]
fn a_program_finds_all_as_without_a_manager() {
    if !may_freeze() {
        return;
    }
    let script = "sleep 0.5; umask; ulimit -a; cat /proc/$$/timerslack_ns /proc/$$/oom_score_adj; \
                  cut -d ' ' -f 18,19,40,41 /proc/$$/stat; \
                  exec grep -E '^(Sig(Blk|Ign)|Cpus_allowed_list|Seccomp|NoNewPrivs|CapEff)' /proc/self/status";
    let plain = Command::new("sh").args(["-c", script]).output().expect("sh runs");
    let managed = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cosched", "run", "--", "sh", "-c", script])
        .output()
        .expect("the binary runs");
    // What a program says goes to standard error, among what we say.
    let said = String::from_utf8_lossy(&managed.stderr);
    let plain = String::from_utf8_lossy(&plain.stdout);
    let lines: Vec<&str> =
        plain.lines().filter(|line| !said.lines().any(|own| own == *line)).collect();
    assert!(plain.lines().count() > 15 && lines.is_empty(), "plain has {lines:?}, managed {said}");
}

/// A look at a program's pages delays it and those beside it: nobody is looked at whose rate
/// decides nothing, nor small programs, nor large ones that sleep.
#[test]
fn nobody_is_looked_at_for_nothing() {
    if !may_freeze() || !testkit::has("cosched", &["python3"]) {
        return;
    }
    // Whether the thread that looks was there, ever.
    let looks = |arguments: &[&str]| {
        let mut manager = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .args(["cosched", "run", "--source", "estimate"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let mut is_seen = false;
        while manager.try_wait().expect("it is ours").is_none() {
            let tasks = fs::read_dir(format!("/proc/{}/task", manager.id()));
            let names = tasks.into_iter().flatten().flatten().map(|task| task.path().join("comm"));
            let mut names = names.filter_map(|path| fs::read_to_string(path).ok());
            is_seen |= names.any(|name| name == "pacing\n");
            std::thread::sleep(Duration::from_millis(10));
        }
        is_seen
    };
    let spin = "import time; end = time.time() + 4\nwhile time.time() < end: pass";
    // Longer, so that it is seen on a busy machine too.
    let large = format!("b = bytearray(b'x' * (220 << 20)); {spin}").replace("+ 4", "+ 10");
    // What it maps is there before: it does not compute for seconds first on a busy machine.
    let folder = tempfile::tempdir().expect("a scratch folder");
    let data = folder.path().join("data");
    fs::write(&data, vec![1; 220 << 20]).expect("a scratch file");
    let sleeps = format!(
        "import mmap, time; file = open('{}', 'r+b')\n\
         b = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED | mmap.MAP_POPULATE); time.sleep(4)",
        data.display()
    );
    let two = ["python3", "-c", spin, ":::", "python3", "-c", &sleeps];
    let small = [&["--capacity", "8000", "--"], &two[..]].concat();
    assert!(!looks(&small), "a small program, and a large one that sleeps");
    assert!(looks(&["--capacity", "8000", "--", "python3", "-c", &large]), "one of whom it counts");
}

#[test]
fn programs_end_under_every_policy() {
    if !may_freeze() {
        return;
    }
    for policy in ["linux", "rr", "dss", "lqg", "qwg", "b2arr", "b2adss", "pairing"] {
        let work = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo done";
        let (value, said, code) = run(&[
            "--json",
            "--policy",
            policy,
            "--threads",
            "1,2",
            "--",
            "sh",
            "-c",
            work,
            ":::",
            "sh",
            "-c",
            work,
            ":::",
            "sh",
            "-c",
            work,
        ]);
        assert_eq!(code, 0, "{policy}: {said}");
        let rows = value["rows"].as_array().expect("rows");
        assert!(
            rows.len() == 3
                && rows
                    .iter()
                    .all(|row| row["turnaround_s"].as_f64().is_some_and(|number| number > 0.0)),
            "{policy}: {value}"
        );
        assert_eq!(said.matches("done").count(), 3, "what programs print is on standard error");
        assert!(value["canary_s"].as_f64().is_some_and(f64::is_sign_positive), "{policy}: {value}");
        assert!(
            value["links_before"].is_array()
                && value["links_after"].is_array()
                && value["discarded"].is_boolean()
        );
    }
}

#[test]
fn no_compiler_is_needed() {
    if !may_freeze() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("sh")).expect("it is ours");
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    // The library is written to a folder where it has not been before.
    command.env("PATH", folder.path()).env("XDG_RUNTIME_DIR", folder.path());
    let ran = command
        .args([
            "cosched",
            "run",
            "--turns",
            "frozen",
            "--policy",
            "rr",
            "--",
            "/bin/true",
            ":::",
            "/bin/true",
        ])
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && !said.contains("do not follow"), "{said}");
}

/// Turns and longest wait of each program.
fn turns(value: &serde_json::Value) -> Vec<(u64, u64)> {
    let number = |value: &serde_json::Value, key: &str| {
        value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}")) as u64
    };
    value["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|value| (number(value, "quanta"), number(value, "longest_wait_quanta")))
        .collect()
}

/// About a second of work.
const WORK: &str = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";

#[test]
fn programs_that_sleep_give_up_their_turns() {
    if !may_freeze() {
        return;
    }
    for freezer in ["v2", "v1"] {
        let programs =
            ["sleep", "4", ":::", "sleep", "4", ":::", "sh", "-c", WORK, ":::", "sh", "-c", WORK];
        let (value, said, code) =
            run(
                &[
                    &[
                        "--json",
                        "--freezer",
                        freezer,
                        "--policy",
                        "rr",
                        "--threads",
                        "1,1,1,1",
                        "--",
                    ][..],
                    &programs,
                ]
                .concat(),
            );
        if code == 2 && said.is_empty() {
            // This freezer is not there.
            continue;
        }
        assert_eq!(code, 0, "{freezer}: {said}");
        let turns = turns(&value);
        // Without that each would have had half of the turns of the others.
        assert!(turns[..2].iter().all(|turn| turn.0 <= 3), "{freezer}: {turns:?}");
    }
}

#[test]
fn a_program_that_wakes_often_and_computes_little_is_not_frozen() {
    if !may_freeze() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let fifo = folder.path().join("fifo").display().to_string();
    let clock = |name: &str, computes: u32| {
        let wakes = format!("read -t 0.01 <&3; for ((j = 0; j < {computes}; j++)); do :; done");
        format!(
            "mkfifo {fifo}{name}; exec 3<>{fifo}{name}; for ((i = 0; i < 250; i++)); do {wakes}; done"
        )
    };
    let (little, more) = (clock("1", 0), clock("2", 400));
    let (value, said, code) = run(&[
        "--json", "--policy", "rr", "--", "bash", "-c", &little, ":::", "bash", "-c", &more, ":::",
        "sh", "-c", WORK, ":::", "sh", "-c", WORK, ":::", "sh", "-c", WORK,
    ]);
    assert_eq!(code, 0, "{said}");
    let turns = turns(&value);
    // A first turn to start in, and at most one more if a look found it starting.
    assert!(turns[0].0 <= 4 && turns[0].1 <= 2, "{turns:?}");
    // In each look it has computed for as long as a look may see, and over all looks it has not.
    assert!(turns[1].0 <= 4 && turns[1].1 <= 2, "{turns:?}");
}

#[test]
fn policies_are_compared() {
    if !may_freeze() {
        return;
    }
    let (value, said, code) = run(&[
        "--json",
        "--policy",
        "pairing",
        "--compare",
        "--runs",
        "2",
        "--",
        "true",
        ":::",
        "true",
        ":::",
        "true",
    ]);
    assert_eq!(code, 0, "{said}");
    assert!(
        value["links_before"].is_array()
            && value["links_after"].is_array()
            && value["discarded"].is_boolean()
    );
    let rows = value["rows"].as_array().expect("rows");
    let policies: Vec<&str> = rows.iter().filter_map(|row| row["policy"].as_str()).collect();
    assert_eq!(
        policies,
        ["pairing", "linux", "rr", "dss"].map(|word| [word; 3]).concat(),
        "each program under each"
    );
    for it in rows {
        let numbers = [&it["interval"][0], &it["turnaround_s"], &it["interval"][1]]
            .map(|value| value.as_f64().expect("a number"));
        assert!(numbers[0] <= numbers[1] && numbers[1] <= numbers[2], "{it}");
        let ratio = it["ratio_to_linux"].as_f64().expect("linux ran");
        assert!(
            it["program"].as_str().is_some_and(|text| text.ends_with("true"))
                && ratio > 0.0
                && (it["policy"] != "linux" || ratio == 1.0),
            "{it}"
        );
    }
}

#[test]
fn what_goes_wrong_is_said() {
    let (_, said, code) = run(&["--", "no-such-program"]);
    assert!(code == 1 && said.contains("there is no program `no-such-program`"), "{said}");
    let (_, said, code) = run(&["--", "true", ":::"]);
    assert!(code == 1 && said.contains("a command is empty"), "{said}");
    let (_, said, code) = run(&["--threads", "1,1", "--", "true"]);
    assert!(code == 1 && said.contains("--threads names 2 programs"), "{said}");
    let (_, said, code) = run(&["--policy", "linux-now", "--", "true"]);
    assert!(code == 1 && said.contains("is a model for the simulator"), "{said}");
    let (_, said, code) = run(&["--policy", "linux-then", "--", "true"]);
    assert!(code == 1 && said.contains("pairing") && !said.contains("linux-now"), "{said}");
    if may_freeze() {
        let (_, said, code) = run(&["--policy", "rr", "--", "sh", "-c", "exit 3", ":::", "true"]);
        assert!(code == 1 && said.contains("ended with 3"), "{said}");
    }
}

/// A loop that ends by itself.
const LOOP: &str = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; echo done";

#[test]
fn programs_may_die_fork_exec_and_refuse() {
    if !may_freeze() {
        return;
    }
    for freezer in ["v2", "v1", "signals"] {
        let with = |arguments: &[&str]| {
            run(&[&["--json", "--policy", "rr", "--freezer", freezer, "--"], arguments].concat())
        };
        let (_, said, code) = with(&["true"]);
        if code == 2 {
            assert!(
                freezer != "signals" && said.contains("groups of programs") || !said.is_empty(),
                "{said}"
            );
            continue;
        }
        // One dies by a signal; the others end as they should.
        let (value, said, code) = with(&[
            "sh",
            "-c",
            "sleep 0.2; kill -9 $$",
            ":::",
            "sh",
            "-c",
            LOOP,
            ":::",
            "sh",
            "-c",
            LOOP,
        ]);
        assert!(code == 1 && said.contains("was ended by signal 9"), "{freezer}: {said}");
        assert_eq!(said.matches("done").count(), 2, "{freezer}: {said}");
        assert_eq!(value["rows"].as_array().map(Vec::len), Some(3));
        // What a program left behind runs on after its end and ours.
        let folder = tempfile::tempdir().expect("a scratch folder");
        let script = "(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.1; done; echo x > \"$1/left\") & exit 0";
        let path = folder.path().display().to_string();
        let (_, said, code) = with(&["sh", "-c", script, "sh", &path, ":::", "sh", "-c", LOOP]);
        assert_eq!(code, 0, "{freezer}: {said}");
        wait_for("what was left behind ends", LIMIT, || folder.path().join("left").exists());
        // Another program in the same process.
        let (_, said, code) = with(&[
            "sh",
            "-c",
            "exec sh -c \"exec sh -c '$0'\"",
            LOOP,
            ":::",
            "sh",
            "-c",
            LOOP,
            ":::",
            "sh",
            "-c",
            LOOP,
        ]);
        assert!(code == 0 && said.matches("done").count() == 3, "{freezer}: {said}");
        // One that takes all processors is kept to its own again; it ends well when it sees that.
        let own = "n=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)";
        let all = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0))
            .expect("a process may ask");
        let cpus: Vec<String> = (0..1024)
            .filter(|idx| all.is_set(*idx).unwrap_or(false))
            .map(|idx| idx.to_string())
            .collect();
        let refuse = format!(
            "taskset -pc {} $$ >/dev/null; k=0; while [ $k -lt 30000 ]; do {own}; case $n in *[,-]*) ;; *) exit 0;; esac; k=$((k+1)); done; exit 5",
            cpus.join(",")
        );
        if cpus.len() > 1 {
            let programs = [
                "--threads",
                "1,1,1",
                "--",
                "sh",
                "-c",
                &refuse,
                ":::",
                "sh",
                "-c",
                LOOP,
                ":::",
                "sh",
                "-c",
                LOOP,
            ];
            let (_, said, code) =
                run(&[&["--json", "--policy", "rr", "--freezer", freezer][..], &programs].concat());
            assert_eq!(code, 0, "{freezer}: {said}");
        }
    }
}

#[test]
fn how_programs_ended_is_in_the_json_and_decides_what_is_ok() {
    let (value, said, code) = run(&["--json", "--", "sh", "-c", "exit 3"]);
    assert!(
        code == 1 && value["ok"] == false && said.contains("`sh -c exit 3` ended with 3"),
        "{value} {said}"
    );
    assert_eq!(
        (value["rows"][0]["status"].as_i64(), &value["rows"][0]["signal"]),
        (Some(3), &serde_json::Value::Null)
    );
    let (value, said, code) = run(&[
        "--json",
        "--runs",
        "2",
        "--",
        "sh",
        "-c",
        "kill -9 $$",
        ":::",
        "true",
        ":::",
        "sh",
        "-c",
        "exit 7",
    ]);
    assert!(
        code == 1
            && value["ok"] == false
            && said.contains("by signal 9")
            && said.contains("ended with 7"),
        "{value} {said}"
    );
    let ends =
        |row: usize| (value["rows"][row]["status"].as_i64(), value["rows"][row]["signal"].as_i64());
    assert_eq!([ends(0), ends(1), ends(2)], [(None, Some(9)), (Some(0), None), (Some(7), None)]);
    let (value, _, code) = run(&["--json", "--", "true"]);
    assert_eq!(
        (code, value["ok"].as_bool(), value["rows"][0]["status"].as_i64()),
        (0, Some(true), Some(0))
    );
}

/// The library that is preloaded can be read by whatever user a child becomes.
#[test]
fn children_that_become_other_users_hear_nothing_of_the_library() {
    if !nix::unistd::geteuid().is_root() {
        return skipped("only root has children that become another user");
    }
    for become_other in [
        &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env"][..],
        &["su", "-s", "/bin/sh", "daemon", "-c", "env"],
    ] {
        let (_, said, code) = run(&[&["--"], become_other].concat());
        assert!(code == 0 && said.contains("LD_PRELOAD=") && !said.contains("ld.so"), "{said}");
    }
}

#[test]
fn without_control_groups_it_is_said_that_signals_stop_programs() {
    let (_, said, code) = run(&[
        "--policy",
        "rr",
        "--freezer",
        "signals",
        "--",
        "sh",
        "-c",
        LOOP,
        ":::",
        "sh",
        "-c",
        LOOP,
        ":::",
        "sh",
        "-c",
        LOOP,
    ]);
    assert!(code == 0 && said.contains("programs are stopped by SIGSTOP"), "{said}");
    let (_, said, code) = run(&["--freezer", "v3", "--", "true"]);
    assert!(code == 1 && said.contains("possible values: v2, v1, signals"), "{said}");
}

#[test]
fn a_lock_holder_that_lost_its_processor_delays_its_program_by_less_than_a_quantum() {
    if !may_freeze() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let program = folder.path().join("lock");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/lock.c");
    let ran = Command::new("cc")
        .args(["-O2", "-pthread", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-ldl")
        .output()
        .expect("cc runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let lock = program.to_str().expect("a plain path");
    // Five threads: on two processors round robin gives a program of two now both, now one.
    let (value, said, code) = run(&[
        "--json",
        "--policy",
        "rr",
        "--threads",
        "2,1,2",
        "--",
        lock,
        ":::",
        "sh",
        "-c",
        "sleep 3",
        ":::",
        lock,
    ]);
    assert_eq!(code, 0, "{said}");
    assert!(value["rows"][0]["quanta"].as_f64().is_some_and(|number| number >= 14.0), "{value}");
    assert!(
        value["rows"][0]["longest_wait_quanta"].as_u64().is_some_and(|number| number >= 1),
        "it was never frozen: {value}"
    );
    assert_eq!(said.matches("longest waits").count(), 2, "{said}");
    // The measure can fail: a holder that sleeps in its section is seen.
    let (_, said, code) = run(&["--policy", "rr", "--threads", "2", "--", lock, "asleep"]);
    assert!(code == 1 && said.contains("longest waits") && said.contains("ended with 1"), "{said}");
}

#[test]
fn workloads_run_for_real() {
    if !may_freeze() {
        return;
    }
    let (value, said, code) = run(&["--json", "--policy", "pairing", "--small", "b1"]);
    assert_eq!(code, 0, "{said}");
    let names: Vec<&str> = value["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|value| value["program"].as_str())
        .collect();
    assert!(names.len() > 2 && names.iter().all(|name| name.contains('(')), "{names:?}");
    // What the kernels print, the same each time: each kernel of one name agrees.
    let mut lines: Vec<&str> = said
        .lines()
        .filter(|line| {
            ["BT ", "SP ", "CG ", "MG ", "FT "].iter().any(|name| line.starts_with(name))
        })
        .collect();
    assert_eq!(lines.len(), names.len(), "{said}");
    lines.sort_unstable();
    lines.dedup();
    let mut kernels: Vec<&str> =
        names.iter().filter_map(|name| name.split([' ', '(']).nth(1)).collect();
    kernels.sort_unstable();
    kernels.dedup();
    assert_eq!(lines.len(), kernels.len(), "{lines:?}");
    // Commands one after the other, beside one in the background that never ends.
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("own.toml");
    let text = format!(
        "title = \"own\"\n[[run]]\nsequence = [\"first\", \"second(2)\"]\n[[run]]\nsequence = [\"beside\"]\n\
         [program.first]\ncommand = [\"sh\", \"-c\", \"sleep 0.1; echo 1 >> {0}\"]\nread_mbps = -5\n\
         [program.second]\ncommand = [\"sh\", \"-c\", \"echo {{threads}} >> {0}\"]\n\
         [program.beside]\ncommand = [\"sh\", \"-c\", \"while :; do sleep 0.01; done\"]\nbackground = true\n",
        folder.path().join("out").display()
    );
    fs::write(&path, text).expect("a scratch file");
    let own = path.to_str().expect("a plain path");
    let (value, said, code) = run(&["--json", "--policy", "rr", own]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("out")).expect("both ran"), "1\n2\n");
    assert_eq!(value["rows"].as_array().map(Vec::len), Some(2), "the background does not count");
    let sim = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cosched", "sim", own])
        .output()
        .expect("the binary runs");
    assert!(
        sim.status.code() == Some(1),
        "the simulator needs the demand that the real run does not look at"
    );
    let (_, said, code) = run(&["a9"]);
    assert!(code == 1 && said.contains("cannot read `a9`"), "{said}");
    let (_, _, code) = run(&["a1", "--", "true"]);
    assert_eq!(code, 1, "a workload or commands");
}

#[test]
fn managers_beside_each_other_do_not_wait_for_each_other_without_end() {
    if !may_freeze() {
        return;
    }
    // Each measures the links with real-time threads on two processors.
    for _ in 0..4 {
        let start = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
            command
                .args(["cosched", "run", "--turns", "frozen", "--policy", "rr", "--", "true"])
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.spawn().expect("the binary runs")
        };
        let mut all = [start(), start(), start()];
        let began = Instant::now();
        for child in &mut all {
            let mut ended = None;
            while ended.is_none() && began.elapsed() < LIMIT {
                ended = child.try_wait().expect("it is ours");
                std::thread::sleep(Duration::from_millis(5));
            }
            let _ = child.kill();
            let _ = child.wait();
            assert!(ended.is_some_and(|ended| ended.success()), "it ended with {ended:?}");
        }
    }
}

#[test]
fn settings_of_pairing_reach_it() {
    if !may_freeze() {
        return;
    }
    for (arguments, share, finish_first) in [
        (&[][..], 0.0, false),
        (&["-X", "finish-first=yes"], 0.0, true),
        (&["-X", "round-robin=0.5"], 0.5, false),
    ] {
        let (value, said, code) = run(&[&["--json"], arguments, &["--", "true"]].concat());
        assert_eq!(code, 0, "{said}");
        assert_eq!(
            (&value["round_robin"], &value["finish_first"]),
            (&share.into(), &finish_first.into()),
            "{arguments:?}"
        );
    }
}
