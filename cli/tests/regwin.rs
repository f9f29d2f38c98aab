//! `meanwhile regwin` on the command line: what it prints, and what it says about wrong input.

use std::process::{Command, Output};

fn meanwhile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .arg("regwin")
        .args(args)
        .output()
        .expect("the binary runs")
}

fn json(args: &[&str]) -> (serde_json::Value, i32) {
    let ran = meanwhile(args);
    let value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| {
        panic!("{args:?}: {error}: {}", String::from_utf8_lossy(&ran.stderr))
    });
    (value, ran.status.code().expect("it was not killed"))
}

fn scenario(text: &str, args: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("my.txt");
    std::fs::write(&path, text).expect("a scratch file");
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder.path())
        .args(["regwin", "scenario", "my.txt"])
        .args(args)
        .output()
        .expect("the binary runs");
    (
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr),
        ran.status.code().expect("it was not killed"),
    )
}

#[test]
fn a_scenario_in_both_worlds() {
    let (text, code) = scenario(
        include_str!("../../systems/regwin/scenarios/ping-pong.txt"),
        &["--scheme", "snp"],
    );
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("QEMU and the simulator count the same."), "{text}");
}

#[test]
fn a_deadlock_names_threads_and_streams() {
    let text =
        "stream a 1\nstream b 1\nthread one\nget a 1\nput b 1\nthread two\nget b 1\nput a 1\n";
    for world in ["qemu", "sim"] {
        let (said, code) = scenario(text, &["--on", world]);
        assert_eq!(code, 1, "{said}");
        assert!(
            said.contains("stuck one waits for bytes in a")
                && said.contains("stuck two waits for bytes in b"),
            "{said}"
        );
    }
}

#[test]
fn a_scenario_with_floats_and_a_clock_in_both_worlds() {
    let floats = "thread A\n  repeat 20\n    float 3\n    yield\n  end\nthread B\n  repeat 20\n    yield\n    float 1\n  end\n";
    let clock = "semaphore s 1\nthread A\n  repeat 5\n    wait 2\n    float 3\n    try s 1\n  end\nthread B\n  take s\n  repeat 40\n    tick\n    yield\n    float 1\n  end\n";
    for (text, scheme) in [floats, clock]
        .iter()
        .flat_map(|it| ["ns", "snp", "sp", "adaptive"].map(|scheme| (it, scheme)))
    {
        let (said, code) = scenario(text, &["--scheme", scheme]);
        assert!(
            code == 0 && said.contains("QEMU and the simulator count the same."),
            "{scheme}: {said}"
        );
    }
    for text in [floats, clock] {
        let (said, code) = scenario(text, &["--scheme", "flat"]);
        assert!(
            code == 1 && said.contains("the scheme flat has neither floating point nor a clock"),
            "{said}"
        );
    }
}

#[test]
fn a_wrong_scenario_is_shown_with_its_line() {
    let (said, code) = scenario("stream a 1\nthread one\n  putt a 1\n", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("my.txt:3:3") && said.contains("did you mean `put`?"), "{said}");
}

/// Sixty frames do not fit; the runtime finds the guard word gone and says whose it was.
#[test]
fn a_stack_that_is_too_small_names_its_thread() {
    let program = r#"
#include <regwin.h>
static struct thr threads_[2];
static unsigned stacks[2][256] __attribute__((aligned(8)));
static __attribute__((noinline)) unsigned deep(unsigned n)
{
    unsigned it = n ? deep(n - 1) + n : 0;
    thr_flush();
    return it + thr_self()->alive;
}
static void digger(void *n) { deep((unsigned)n); }
void machine_idle(void *unused) { (void)unused; thr_report(); machine_stop(); }
int main(void)
{
    thr_create(&threads_[1], "shallow", stacks[1], sizeof stacks[1], digger, (void *)2);
    thr_create(&threads_[0], "deep", stacks[0], sizeof stacks[0], digger, (void *)9);
    return 0;
}
"#;
    let folder = tempfile::tempdir().expect("a scratch folder");
    let object = built(&["--scheme", "sp"], folder.path());
    assert_eq!(object["library"], "lib/librw-sp.a");
    std::fs::write(folder.path().join("example/main.c"), program).expect("a program");
    let said = make(folder.path(), &["run"]);
    assert!(said.contains("regwin: overflow deep") && !said.contains("overflow shallow"), "{said}");
}

/// Builds a library into a folder; the command's object.
fn built(args: &[&str], folder: &std::path::Path) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    let ran = command
        .args(["--json", "regwin", "build", "-o"])
        .arg(folder)
        .args(args)
        .output()
        .expect("the binary runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("an object")
}

/// What make prints there.
fn make(folder: &std::path::Path, args: &[&str]) -> String {
    let ran =
        Command::new("make").arg("-s").args(args).current_dir(folder).output().expect("make runs");
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// In an empty folder, by the words of the guide: every scheme, both compilers, the same output,
/// from RAM and from ROM.
#[test]
fn a_stranger_builds_and_runs_a_program() {
    let program = include_str!("regwin/stranger.c");
    let mut printed = Vec::new();
    for scheme in ["ns", "snp", "sp", "adaptive"] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        built(&["--scheme", scheme, "--options", "preempt,fpu,priorities"], folder.path());
        let example = make(folder.path(), &["run"]);
        assert!(example.ends_with("regwin: done\n"), "{scheme}: {example}");
        std::fs::write(folder.path().join("example/main.c"), program).expect("a program");
        printed.push((scheme, "gcc", make(folder.path(), &["run"])));
        if scheme == "sp" {
            printed.push((scheme, "rom", make(folder.path(), &["run-rom"])));
        }
        make(folder.path(), &["clean", "COMPILER=clang"]);
        printed.push((scheme, "clang", make(folder.path(), &["run", "COMPILER=clang"])));
    }
    let (mut mean, mut sum, mut squares) = (0.0, 0, 0);
    for i in 0..100 {
        let sample = f64::from(2 * (i % 8) + 3); // Ackermann's function of 2 and i % 8
        mean += (sample - mean) * 0.25;
        let result = (mean as f32 * 0.5 * 8.0) as u32;
        (sum, squares) = (sum + result, squares + result * result);
    }
    let expected = format!("sum {sum}\nsquares {squares}\npresses 3\nlate 1\nregwin: done\n");
    for (scheme, how, text) in &printed {
        assert_eq!(*text, expected, "{scheme}, {how}");
    }
}

/// A user's own image: bounds for both machines, above what its run shows.
#[test]
fn an_image_has_bounds_that_its_run_keeps() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    built(&["--scheme", "adaptive", "--options", "preempt,fpu,priorities"], folder.path());
    std::fs::write(folder.path().join("example/main.c"), include_str!("regwin/stranger.c"))
        .expect("a program");
    make(folder.path(), &[]);
    let image = folder.path().join("example.elf");
    let (object, code) =
        json(&["wcet", image.to_str().expect("a path"), "--run", "--windows", "6,20", "--json"]);
    assert_eq!(code, 0, "{object}");
    let rows = object["rows"].as_array().expect("rows");
    let mut n_seen = 0;
    for row in rows {
        for machine in ["erc32", "leon3"] {
            let of = |name: &str| row[machine][name].as_u64();
            assert!(of("least") <= of("most") && of("least") > Some(0), "{row}");
            assert!(
                of("seen").is_none_or(|it| of("least") <= Some(it) && Some(it) <= of("most")),
                "{row}"
            );
            n_seen += usize::from(of("seen").is_some());
        }
    }
    let has = |name: &str, alone: bool| {
        rows.iter()
            .any(|row| row["routine"] == name && row["alone"] == alone && row["windows"] == 20)
    };
    assert!(
        has("window overflow", true)
            && has("window overflow", false)
            && has("interrupt, to its handler", false),
        "{object}"
    );
    assert!(n_seen >= 20, "{n_seen}: {object}");
    let masked = object["masked"].as_array().expect("sections");
    let mut n_masked = 0;
    for section in masked.iter().filter(|value| value["unbounded"] == serde_json::json!([])) {
        for machine in ["erc32", "leon3"] {
            let (most, seen) =
                (section[machine]["most"].as_u64(), section[machine]["seen"].as_u64());
            assert!(
                section[machine]["least"].as_u64() <= most
                    && most > Some(0)
                    && seen.is_none_or(|seen| Some(seen) <= most),
                "{section}"
            );
            n_masked += usize::from(seen.is_some());
        }
    }
    assert!(n_masked >= 20, "{n_masked}: {object}");
    let names = |text: &str| {
        masked.iter().any(|section| {
            section["function"] == text && section["from"] == "lock" && section["windows"] == 6
        })
    };
    assert!(names("mutex_lock") && names("clock_tick"), "{object}");
}

/// A loop of the program's own with interrupts masked: named, by a place that `--loop` takes; a
/// place that is none is refused.
#[test]
fn a_loop_with_interrupts_masked_is_named_and_may_be_given_a_bound() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    built(&["--scheme", "sp", "--options", "preempt"], folder.path());
    let program = "#include \"regwin.h\"\nstatic volatile unsigned n = 5, sum;\n\
        __attribute__((noinline)) static void waits(void)\n{\n    unsigned before = irq_lock();\n    while (n)\n        sum += n--;\n    \
        irq_unlock(before);\n}\nint main(void) { waits(); return 0; }\nvoid machine_idle(void *x) { (void)x; thr_report(); machine_stop(); }\n";
    std::fs::write(folder.path().join("example/main.c"), program).expect("a program");
    make(folder.path(), &[]);
    let image = folder.path().join("example.elf");
    let image = image.to_str().expect("a path");
    let ran = meanwhile(&["wcet", image, "--windows", "8"]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let line = said
        .lines()
        .find(|line| line.starts_with("not bounded: irq_lock in waits (0x"))
        .unwrap_or_else(|| panic!("{said}"));
    let place =
        line.split_once("the loop at ").expect("a loop").1.split(' ').next().expect("a place");
    assert!(place.starts_with("waits+"), "{line}");
    assert!(said.contains("sections no bound is known"), "{said}");
    let (object, code) = json(&[
        "wcet",
        image,
        "--windows",
        "8",
        "--loop",
        &format!("{place}=5"),
        "--run",
        "--json",
    ]);
    assert_eq!(code, 0, "{object}");
    let waits = object["masked"]
        .as_array()
        .expect("sections")
        .iter()
        .find(|value| value["function"] == "waits")
        .expect("it locks");
    let of = |name: &str| waits["erc32"][name].as_u64().unwrap_or_else(|| panic!("{waits}"));
    assert!(
        of("seen") <= of("most")
            && of("most") < 2 * of("seen")
            && waits["unbounded"] == serde_json::json!([]),
        "{waits}"
    );
    for (wrong, words) in [
        ("waits+0=5", "no loop between irq_lock and irq_unlock begins at"),
        ("nowhere=5", "names no place"),
        ("waits", "names no place"),
    ] {
        let ran = meanwhile(&["wcet", image, "--loop", wrong]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((ran.status.code(), said.contains(words)), (Some(1), true), "{wrong}: {said}");
    }
}

#[test]
fn what_is_no_image_of_the_runtime_has_no_bounds() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let text = folder.path().join("text.elf");
    std::fs::write(&text, "no image").expect("a scratch file");
    for (path, words) in [
        (env!("CARGO_BIN_EXE_meanwhile"), "no symbol __trap_start"),
        (text.to_str().expect("a path"), "text.elf: "),
        ("/nowhere/image.elf", "No such file"),
        (folder.path().to_str().expect("a path"), "Is a directory"),
    ] {
        let ran = meanwhile(&["wcet", path]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((ran.status.code(), said.contains(words)), (Some(1), true), "{path}: {said}");
    }
}

/// The package file has the flags for a compiler that links itself.
#[test]
fn pkg_config_has_the_flags() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    built(&["--scheme", "adaptive"], folder.path());
    let flags = Command::new("pkg-config")
        .args(["--cflags", "--libs", "regwin-adaptive"])
        .env("PKG_CONFIG_PATH", folder.path().join("lib/pkgconfig"))
        .output()
        .expect("pkg-config runs");
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    // Libraries go after what uses them, so the source comes first.
    let mut gcc = Command::new("sparc64-linux-gnu-gcc");
    gcc.current_dir(folder.path())
        .args(["-O2", "example/main.c"])
        .args(flags.split_whitespace())
        .args(["-o", "x.elf"]);
    let ran = gcc.output().expect("gcc runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = Command::new("timeout")
        .current_dir(folder.path())
        .args([
            "60",
            "qemu-system-sparc",
            "-M",
            "leon3_generic",
            "-nographic",
            "-monitor",
            "none",
            "-serial",
            "stdio",
            "-kernel",
            "x.elf",
        ])
        .stdin(std::process::Stdio::null())
        .output()
        .expect("QEMU runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "1 1 2 3 5 8 13 21 34 55\nregwin: done\n");
}

#[test]
fn what_a_scheme_has_not_is_no_option_of_its_library() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("rw");
    for (args, words) in [
        (&["--scheme", "ns", "--options", "working-set"][..], "`ns` has no `working-set`"),
        (&["--scheme", "ns", "--options", "preempt,working-set"], "`ns` has no `working-set`"),
        (&["--scheme", "flat"], "flat is for comparison"),
    ] {
        let ran = meanwhile(&[&["build"], args, &["-o", path.to_str().expect("a path")]].concat());
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(
            (ran.status.code(), said.contains(words), path.exists()),
            (Some(1), true, false),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn a_library_is_not_built_over_what_is_not_ours() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("regwin.mk");
    std::fs::write(&file, "mine\n").expect("a file");
    let refused = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        let ran = command
            .args(["regwin", "build", "-o"])
            .arg(folder.path())
            .args(args)
            .output()
            .expect("the binary runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let (code, said) = refused(&["--scheme", "sp"]);
    assert_eq!(
        (code, said.contains("is not empty and was not written by")),
        (Some(1), true),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "mine\n");
    std::fs::remove_file(&file).expect("it can go");
    let (code, said) = refused(&["--scheme", "flat"]);
    assert_eq!((code, said.contains("use --scheme ns")), (Some(1), true), "{said}");
    let (code, said) = refused(&["--options", "preemt"]);
    assert_eq!(
        (code, said.contains("a similar value exists: 'preempt'")),
        (Some(1), true),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

/// What `audit` says of the runtime's delayed writes: nothing beside the places where the old
/// value does as well as the new one. It follows every path, delay slots too, so it sees more
/// than the runtime's own test.
#[test]
fn the_runtime_has_no_hazard_that_audit_sees() {
    use regwin::image::{Program, Recipe};
    // Where the state is put back as the trap found it, in the window of the trap: only the
    // condition codes change.
    let same_window = [
        "overflow_own",
        "own_pause",
        "overflow_other_stored",
        "overflow_stored",
        "underflow_plain",
        "underflow_added",
        "overflow_free",
    ];
    // Where both masks allow the window instruction that comes early: see the comments in the
    // assembly.
    let either_will_do = [
        "lone_underflow",
        "underflow_plain",
        "underflow_goes",
        "underflow_adds",
        "overflow_free",
        "overflow_other_stored",
        "overflow_stored",
    ];
    for scheme in regwin::Scheme::ALL {
        let (_, code) =
            regwin::work::image(&Recipe::new(Program::Scenario, scheme, regwin::Schedule::Fifo))
                .expect("the image is built");
        let label = |at: u32| {
            let below = code.symbols.iter().filter(|(_, (address, _))| *address <= at);
            below
                .max_by_key(|(_, (address, _))| *address)
                .map_or(String::new(), |pair| pair.0.clone())
        };
        for range in [&code.traps, &code.switches] {
            let decode = |at: u32| {
                let word = code.words[((at - code.base) / 4) as usize];
                audit::decode::Isa::Sparc
                    .decode(u64::from(at), &word.to_be_bytes())
                    .unwrap_or_else(|error| panic!("{at:#x}: {error}"))
            };
            let instructions: Vec<_> = range.clone().step_by(4).map(decode).collect();
            let found = audit::facts::hazards::lint(&instructions);
            let named: Vec<String> = found
                .iter()
                .map(|finding| {
                    format!(
                        "{}: {}: {}",
                        label(instructions[finding.idx].address as u32),
                        finding.instruction,
                        finding.why
                    )
                })
                .collect();
            let in_one_of = |text: &str, labels: &[&str]| {
                labels.iter().any(|label| text.starts_with(&format!("{label}:")))
            };
            let is_known = |text: &&String| {
                // Nothing here ever leaves supervisor mode.
                text.contains("for supervisors only")
                    || text.contains("write to %wim") && in_one_of(text, &either_will_do)
                    || text.contains("write to %psr") && in_one_of(text, &same_window)
            };
            let wrong: Vec<&String> = named.iter().filter(|it| !is_known(it)).collect();
            assert!(wrong.is_empty(), "{scheme:?}: {wrong:#?}");
        }
    }
}

#[test]
fn wrong_names_and_numbers_are_refused() {
    let refusals = [
        (vec!["scenario", "x", "--scheme", "sq"], "invalid value 'sq' for '--scheme"),
        (vec!["scenario", "x", "--windows", "3"], "3 is not in 4..=32"),
        (vec!["scenario", "x", "--windows", "33"], "33 is not in 4..=32"),
        (vec!["scenario", "x", "--machine", "leon4"], "a similar value exists: 'leon3'"),
        (vec!["scenario", "x", "--allocate", "serach"], "a similar value exists: 'search'"),
        (vec!["scenario", "no/such/file.txt"], "cannot read `no/such/file.txt`"),
        (vec!["run", "--scheme", "sp"], "meanwhile-lab run regwin-spell"),
    ];
    for (args, said) in refusals {
        let ran = meanwhile(&args);
        let text = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?}: {text}");
    }
}
