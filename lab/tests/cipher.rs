//! Studies of cipher: what they measure, what their files go on with, and what they refuse.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use testkit::json;

fn lab(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads its input");
    child.wait_with_output().expect("it ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn has(program: &str) -> bool {
    testkit::has("studies of cipher", &[program])
}

/// An evidence file of this processor and command, without rows.
fn evidence(path: &Path, cpu: &str, command: &str) {
    let machine =
        serde_json::json!({"cpu": cpu, "cores": 2, "os": "Linux 6.1", "virtualised": true});
    let file = serde_json::json!({"kind": "measured", "machine": machine, "date": "2026-01-31", "compilers": [], "command": command, "rows": []});
    std::fs::write(path, file.to_string()).expect("written");
}

#[test]
fn results_of_another_machine_or_command_are_not_continued() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("rows.json");
    let here = measure::machine::Machine::here().cpu;
    let cases = [
        (
            vec!["run", "cipher-speed", "--quick"],
            "Example 9000",
            "meanwhile-lab run cipher-speed --quick --out FILE",
            "another machine",
        ),
        (
            vec!["run", "cipher-speed", "--quick"],
            &here,
            "meanwhile-lab run cipher-speed --out FILE",
            "its rows are those of",
        ),
        (
            vec!["run", "cipher-schedulers", "--quick"],
            &here,
            "meanwhile-lab run cipher-schedulers --out FILE",
            "its rows are those of",
        ),
        (
            vec!["run", "cipher-schedulers", "--unroll", "no"],
            &here,
            "meanwhile-lab run cipher-schedulers --out FILE",
            "its rows are those of",
        ),
        (
            vec!["run", "overlap", "--quick"],
            "Example 9000",
            "meanwhile-lab run overlap --out FILE",
            "another machine",
        ),
    ];
    for (mut words, cpu, command, said) in cases {
        evidence(&path, cpu, command);
        let before = std::fs::read(&path).expect("there");
        words.extend(["--out", path.to_str().expect("text")]);
        let output = lab(&words, "");
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{words:?}: {output:?}");
        assert_eq!(std::fs::read(&path).expect("still there"), before, "{words:?}");
    }
}

#[test]
fn streams_are_measured_beside_other_libraries() {
    let features = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let library = |name: &str| {
        Command::new("ldconfig")
            .arg("-p")
            .output()
            .is_ok_and(|output| stdout(&output).contains(name))
    };
    if !has("gcc")
        || !has("clang-19")
        || !features.contains("avx2")
        || !library("libgcrypt.so.20")
        || !library("libcrypto.so.3")
    {
        return;
    }
    let args =
        ["run", "cipher-streams", "chacha20", "serpent-128", "--against", "openssl,libgcrypt"];
    let ran =
        lab(&[&args[..], &["--quick", "--arch", "avx2", "--bytes", "64", "--json"]].concat(), "");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let rows = json(&ran)["rows"].as_array().expect("rows").clone();
    let pairs: Vec<(&str, &str)> = rows
        .iter()
        .filter_map(|row| Some((row["primitive"].as_str()?, row["peer"].as_str()?)))
        .collect();
    assert_eq!(
        pairs,
        [("chacha20", "openssl"), ("chacha20", "libgcrypt"), ("serpent-128", "libgcrypt")]
    );
    let keys: Vec<&str> =
        rows[0].as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = "primitive mode peer slicing arch cc opt unroll emit bytes cycles_per_byte cycles_per_byte_peer ratio interval pairs \
                    interleave peer_version peer_without warnings";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    // The fastest of ours: assembly for ChaCha20 on AVX2, C for Serpent.
    let emits: Vec<(&Value, &Value)> =
        rows.iter().map(|row| (&row["emit"], &row["interleave"])).collect();
    assert_eq!(
        emits,
        [(&"asm".into(), &2.into()), (&"asm".into(), &2.into()), (&"c".into(), &3.into())]
    );
    assert!(
        rows[0]["peer_version"].as_str().expect("a version").starts_with("OpenSSL 3"),
        "{}",
        rows[0]
    );
    let refused = lab(&["run", "cipher-streams", "serpent-128", "--against", "openssl"], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("have no such stream"));
}

/// Under MEANWHILE_LONG: two compilers build a package each.
#[test]
fn messages_of_packages_are_measured_beside_openssl() {
    let features = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if std::env::var_os("MEANWHILE_LONG").is_none() || !features.contains("avx2") || !has("cmake") {
        return;
    }
    let args = ["run", "cipher-messages", "chacha20_poly1305", "--bytes", "64,1400"];
    let ran = lab(&[&args[..], &["--quick", "--json"]].concat(), "");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let rows = json(&ran)["rows"].as_array().expect("rows").clone();
    // OpenSSL as it comes, and as it is without AVX-512.
    assert!(rows.len() >= 4 && rows.iter().all(|row| row["cycles"].as_f64() > Some(100.0)));
    let settings = ["~0x0:~0xd0030000", ""];
    assert!(
        rows.iter().all(|row| settings.iter().any(|it| row["peer_without"] == *it)),
        "{rows:?}"
    );
    let refused = lab(&["run", "cipher-messages", "chacha20_gcm"], "");
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn operands_of_a_call_are_counted_or_the_reason_is_said() {
    if !has("gcc") || !cfg!(target_arch = "x86_64") {
        return;
    }
    let args = [
        "run",
        "cipher-back-ends",
        "rectangle-80",
        "--slicing",
        "b",
        "--arch",
        "x86-64",
        "--count",
        "--budget",
        "0",
    ];
    let counted = json(&lab(&[&args[..], &["--json"]].concat(), ""));
    let row = &counted["rows"][0];
    assert!(row["least"].is_null(), "nothing is proved of general registers: {row}");
    let text = stdout(&lab(&args, ""));
    match row["asm"]["executed_missing"].as_str() {
        None => {
            let frame =
                |by: &str| row[by]["executed"]["frame"].as_u64().unwrap_or_else(|| panic!("{row}"));
            assert!(frame("asm") > 0 && text.contains(&format!(" {} ", frame("asm"))), "{text}");
            let ratio = frame("asm") as f64 / frame("gcc") as f64;
            assert!(
                (counted["by_gcc"]["frame"].as_f64().expect("one row has a mean") - ratio).abs()
                    < 1e-9
            );
            assert!(text.contains(&format!(" {ratio:.2} ")), "{text}");
        }
        Some(why) => {
            assert!(text.contains(why) && row["asm"]["memory_operands"].is_u64(), "{text}")
        }
    }
    let refused = lab(&["run", "cipher-back-ends", "rectangle-80", "--unroll", "no"], "");
    assert_eq!(
        refused.status.code(),
        Some(1),
        "measured are all ways to unroll: {}",
        stdout(&refused)
    );
}

/// A program that runs its arguments where no program may trace another, as in many containers.
const UNTRACED: &str = r"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    return 126;
  execvp(argv[1], argv + 1);
  return 127;
}
";

#[test]
fn where_nothing_may_be_traced_operands_are_counted_as_they_stand() {
    if !has("gcc") || !cfg!(target_arch = "x86_64") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let untraced = folder.path().join("untraced");
    std::fs::write(untraced.with_extension("c"), UNTRACED).expect("written");
    let built = std::process::Command::new("gcc")
        .arg(untraced.with_extension("c"))
        .arg("-o")
        .arg(&untraced)
        .status()
        .expect("gcc is here");
    assert!(built.success());
    let args = [
        "run",
        "cipher-back-ends",
        "rectangle-80",
        "--slicing",
        "b",
        "--arch",
        "x86-64",
        "--count",
        "--budget",
        "0",
        "--json",
    ];
    let ran = std::process::Command::new(&untraced)
        .arg(env!("CARGO_BIN_EXE_meanwhile-lab"))
        .args(args)
        .output()
        .expect("it starts");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let row = &json(&ran)["rows"][0];
    for by in ["gcc", "asm"] {
        let why = row[by]["executed_missing"].as_str().unwrap_or_default();
        assert!(why.contains("traced") && why.contains("Operation not permitted"), "{row}");
        assert!(
            row[by]["executed"].is_null() && row[by]["memory_operands"].as_u64() > Some(0),
            "{row}"
        );
    }
}

#[test]
fn both_back_ends_are_measured_beside_their_bounds() {
    if !has("gcc") || !cfg!(target_arch = "x86_64") {
        return;
    }
    let args = [
        "run",
        "cipher-back-ends",
        "rectangle-80",
        "--slicing",
        "b",
        "--arch",
        "x86-64",
        "--budget",
        "0",
        "--quick",
        "--json",
    ];
    let measured = json(&lab(&args, ""));
    let row = &measured["rows"][0];
    for bound in [&row["c_bound"], &row["asm_bound"]] {
        let is_known = bound["bound_cycles_per_byte"].as_f64().is_some_and(|number| number > 0.0)
            && bound["bound_by"].is_string();
        assert!(is_known || bound["bound_missing"].is_string(), "{row}");
    }
    assert!(
        measured["core_cycles_per_tick"].as_f64().is_some_and(|number| number > 0.0),
        "{measured}"
    );
}

#[test]
fn compilers_are_compared_by_what_they_leak() {
    if !has("gcc") || !has("valgrind") {
        return;
    }
    let ran =
        lab(&["run", "cipher-compilers", "chacha20", "--cc", "gcc", "--opt", "-O1", "--json"], "");
    let rows = json(&ran)["rows"].as_array().expect("rows").clone();
    assert_eq!((ran.status.code(), rows.len()), (Some(0), 2));
    let keys: Vec<&str> =
        rows[0].as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["primitive", "mode", "slicing", "arch", "cc", "opt", "version", "verdict"]);
}

/// Both searches find something, in their own orders, and what is said to be the best is what came
/// first of those tried. Under MEANWHILE_LONG for three primitives.
#[test]
fn the_best_is_compared_with_the_c_of_before_and_with_the_models_choice() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let run = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"));
        command
            .current_dir(folder.path())
            .env("MEANWHILE_CACHE", folder.path().join("cache"))
            .args(line.split(' '));
        command.output().expect("it runs")
    };
    let others: &[_] = if std::env::var_os("MEANWHILE_LONG").is_some() {
        &["chacha20", "rectangle-80"]
    } else {
        &[]
    };
    let arch = "x86-64";
    for name in [&["xoodoo-12"], others].concat() {
        let ran = run(&format!(
            "run cipher-schedulers {name} --study best --arch {arch} --budget 2s --quick --out {name}.json --json"
        ));
        let result = json(&ran);
        let row = &result["rows"][0];
        assert_eq!(
            (result["rows"].as_array().map(Vec::len), &row["primitive"], &row["arch"]),
            (Some(1), &name.into(), &arch.into()),
            "{result}"
        );
        let before = &row["before"];
        let of_paper = ["none", "bitslice", "mslice"].map(Value::from);
        assert!(
            before["emit"] == "c"
                && before["interleave"] == 1
                && of_paper.contains(&before["schedule"]),
            "{before}"
        );
        // Where the search among all had no time for it, the best is that of before.
        let is_before = row["interval"].is_null();
        assert_eq!(
            row["best"],
            if is_before { before.clone() } else { row["tried"][0]["way"].clone() },
            "{row}"
        );
        let numbers = ["cycles_per_byte_before", "cycles_per_byte", "ratio", "best_by_model"]
            .map(|word| row[word].as_f64());
        assert!(
            numbers.iter().all(|it| it.is_some_and(|it| it > 0.0))
                && (is_before || row["pairs"] == 5),
            "{row}"
        );
        // The file has the row, which is not measured again.
        let again = run(&format!(
            "run cipher-schedulers {name} --study best --arch {arch} --budget 2s --quick --out {name}.json --json"
        ));
        assert_eq!(json(&again)["rows"], result["rows"]);
    }
    let refused = run("run cipher-schedulers rectangle-80 --study best --budget soon");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("90s, 5m or 1h"), "{said}");
}
