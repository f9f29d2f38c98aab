//! Studies of cosched: a cluster on paper, real programs, many programs.

use std::process::Command;

use cosched::manager::group::Hierarchy;

/// True if control groups can be made; a line for the list of skipped tests otherwise.
fn may_freeze() -> bool {
    let made = Hierarchy::create(
        &format!("meanwhile-lab-{}-{}", std::process::id(), fastrand::u32(..)),
        None,
    );
    let may = made.is_ok_and(|(hierarchy, _)| {
        let _ = hierarchy.remove();
        hierarchy.freezer.name().contains("cgroup")
    });
    if !may {
        testkit::skipped("studies of cosched: no right to make control groups with a freezer");
    }
    may
}

/// A cluster on paper: who is odd is counted, who is wrong is named, and every scheme has its row.
#[test]
fn a_trace_on_a_cluster() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let job = |id: usize, submit: usize, procs: usize| {
        format!("{id} {submit} -1 600 {procs} -1 -1 -1 900 -1 1 {id} 1 1 1 -1 -1 -1\n")
    };
    let mut text = "; MaxNodes: 8\n; MaxProcs: 32\n".to_owned();
    (0..40).for_each(|idx| text += &job(idx, 30 * idx, 1 << (idx % 5)));
    text += "41 5 -1 -1 4 -1 -1 -1 -1 -1 5 1 1 1 1 -1 -1 -1\n42 6 -1 60 64 -1 -1 -1 -1 -1 1 1 1 1 1 -1 -1 -1\n";
    std::fs::write(folder.path().join("t.swf"), &text).expect("a scratch file");
    let run = |args: &[&str]| {
        let all = [&["run", "cosched-cluster", "--trace", "t.swf"], args].concat();
        Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
            .current_dir(folder.path())
            .args(all)
            .output()
            .expect("the binary runs")
    };
    let ran = run(&["--cluster", "nodes=8", "--draws", "3", "--json"]);
    let value: serde_json::Value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(
        (value["nodes"].as_u64(), value["cores"].as_u64()),
        (Some(8), Some(4)),
        "the header says how large it is"
    );
    assert_eq!((value["jobs"].as_u64(), value["too_large"].as_u64()), (Some(40), Some(1)));
    assert_eq!(value["odd"]["jobs left out: they did not run, or nobody knows how long"], 1);
    let rows = value["rows"].as_array().expect("rows");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["scheme"].as_str()).collect();
    assert_eq!(names, ["in-order", "first-fit", "easy", "shared-blind", "paired"]);
    let of = |at: usize, key: &str| {
        rows[at][key].as_f64().unwrap_or_else(|| panic!("{key} of {}", rows[at]))
    };
    assert!(of(2, "over_easy_pct").abs() < 1e-9 && of(2, "jobs_slower").abs() < 1e-9);
    assert!(
        of(4, "turnaround_s_mean") < of(2, "turnaround_s_mean") && of(4, "worst_slowdown") < 1.15,
        "{value}"
    );
    for (args, said) in [
        (["--cluster", "nodes=8", "--mix", "much"], "how common it is"),
        (["--cluster", "nodes=0", "--draws", "1"], "`0` is no number of nodes"),
        (["--cluster", "racks=2", "--draws", "1"], "a cluster has no `racks`"),
        (["--cluster", "nodes=8,cores=1", "--draws", "1"], "cannot be shared"),
    ] {
        let ran = run(&args);
        assert!(
            !ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains(said),
            "{args:?}: {ran:?}"
        );
    }
    std::fs::write(folder.path().join("t.swf"), "1 2 three\n").expect("a scratch file");
    let ran = run(&["--cluster", "nodes=8"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("t.swf:1: this is no job"), "{ran:?}");
}

#[test]
fn sensitivity_of_real_programs() {
    if !may_freeze() {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"));
    let ran = command
        .args(["run", "cosched-sensitivity", "--real", "--small", "--json"])
        .output()
        .expect("the binary runs");
    let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an object");
    assert_eq!(ran.status.code(), Some(0), "{value}");
    assert_eq!(value["kind"], "measured");
    let rows = value["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 5 * 3 * 4);
    let keys = ["figure", "program", "beside", "instances", "slowdown", "alone_s"];
    assert!(rows.iter().all(|row| keys.iter().all(|key| !row[key].is_null())), "{rows:?}");
    // Without counters that is said, and no number stands there.
    let counts = value["counters"] == true;
    assert!(
        rows.iter().all(|row| row["traffic"].is_f64() == counts)
            && value["reason"].as_str().is_some_and(|text| !text.is_empty())
    );
}

#[test]
fn many_programs_are_measured_and_ended() {
    if !may_freeze() {
        return;
    }
    let mut scale = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"));
    let ran = scale
        .args(["run", "cosched-scale", "--programs", "40", "--quanta", "1000", "--json"])
        .output()
        .expect("the binary runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an object");
    assert_eq!(
        (value["kind"].as_str(), value["programs"].as_u64(), value["quanta"].as_u64()),
        (Some("measured"), Some(40), Some(1000))
    );
    let rows = value["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 5, "{value}");
    for it in rows {
        assert!(
            it["measure"].is_string()
                && it["value"].is_f64()
                && it["limit"].is_f64()
                && it["is_met"].is_boolean(),
            "{it}"
        );
    }
}

/// What is in the file is not measured again.
#[test]
fn mixes_are_measured_once() {
    if !may_freeze() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let measure = |n: &str| {
        let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
            .args([
                "run",
                "cosched-mixes",
                "--seconds",
                "0.3",
                "--seed",
                "4",
                "--json",
                "--mixes",
                n,
            ])
            .args(["--out", "mixes.json"])
            .current_dir(folder.path())
            .output()
            .expect("the binary runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an object");
        assert_eq!(value["verdicts"].as_array().map(Vec::len), Some(4), "{value}");
        value["rows"].as_array().expect("rows").clone()
    };
    let first = measure("1");
    for program in first[0]["programs"].as_array().expect("a list") {
        let steps = program["steps"].as_array().expect("plain, managed, plain");
        assert!(
            steps.len() == 3 && steps.iter().all(|rate| rate.as_f64() > Some(0.0)),
            "{program}"
        );
    }
    let both = measure("2");
    assert_eq!((both.len(), &both[0]), (2, &first[0]));
}

/// A manager starts its own file again to be watched, and a study's manager is this program.
#[test]
fn what_watches_over_a_manager_is_started_by_the_words_of_the_product() {
    for words in [["cosched", "supervise"], ["cosched", "enter"]] {
        let known = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
            .args(words)
            .arg("--help")
            .output()
            .expect("the binary runs");
        assert!(known.status.success(), "{words:?}: {}", String::from_utf8_lossy(&known.stderr));
    }
}

#[test]
fn services_answer_plain_and_managed() {
    if !may_freeze() {
        return;
    }
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
        .args(["run", "cosched-services", "--quick", "--burners", "1", "--json"])
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an object");
    let rows = value["rows"].as_array().expect("rows");
    for name in ["postgresql", "redis"] {
        let Some(row) = rows.iter().find(|row| row["service"] == name) else {
            assert!(said.contains(&format!("{name} is not installed")), "{said}");
            testkit::skipped(&format!("{name} under a manager: not installed"));
            continue;
        };
        let run = &row["runs"][0];
        let answers = run["answers"].as_array().expect("three runs");
        assert!(answers.iter().all(|n| n.as_u64() > Some(0)), "{row}");
        for quantile in ["p50_ms", "p99_ms"] {
            let all = run[quantile].as_array().expect("three runs");
            assert!(all.iter().all(|ms| ms.as_f64() > Some(0.0)), "{row}");
        }
    }
}
