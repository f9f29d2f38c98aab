//! `meanwhile cosched` on the command line: what it prints, and what it says about wrong input.

use std::collections::BTreeMap;
use std::process::{Command, Output};

fn meanwhile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .arg("cosched")
        .args(args)
        .output()
        .expect("the binary runs")
}

fn json(args: &[&str]) -> serde_json::Value {
    let ran = meanwhile(args);
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| {
        panic!("{args:?}: {error}: {}", String::from_utf8_lossy(&ran.stderr))
    })
}

/// What `sim` says about a workload, and its exit code.
fn sim(text: &str, args: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("my.toml"), text).expect("a scratch file");
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder.path())
        .args(["cosched", "sim", "my.toml"])
        .args(args)
        .output()
        .expect("the binary runs");
    let said =
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    (said, ran.status.code().expect("it was not killed"))
}

const GOOD: &str = "title = \"mine\"\n\n[[run]]\nsequence = [\"a(2)\", \"b\"]\n\n[program.a]\nwork_s = 1.0\nread_mbps = 900\n\n\
                    [program.b]\nwork_s = 1.0\nread_mbps = 10\nmalleable = false\n";

#[test]
fn the_keys_of_sim() {
    let value = json(&["sim", "a2", "--json"]);
    assert_eq!(value["kind"], "sim");
    let rows = value["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 9);
    let keys = [
        "workload",
        "policy",
        "turnaround_s_mean",
        "over_linux_pct",
        "over_rr_pct",
        "over_dss_pct",
        "over_lqg_pct",
        "longest_wait_quanta",
        "decision_age_quanta",
        "bus_utilisation",
        "quanta_idle",
    ];
    assert!(rows.iter().all(|row| keys.iter().all(|key| !row[key].is_null())), "{rows:?}");
    let one = json(&["sim", "a2", "--policy", "rr,pairing", "--json"]);
    assert_eq!(one["rows"].as_array().map(Vec::len), Some(2));
    assert!(one["rows"][0]["over_linux_pct"].is_null(), "linux did not run");
}

#[test]
fn the_keys_of_probe() {
    let value = json(&["probe", "--json"]);
    for key in ["source", "reason"] {
        assert!(value[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {value}");
    }
    let cpus: usize = value["links"]
        .as_array()
        .expect("links")
        .iter()
        .filter_map(|value| value.as_array())
        .map(Vec::len)
        .sum();
    assert!(cpus > 0 && value["would_gain"].is_boolean(), "{value}");
    // What a link carries is known where two processors share one.
    let shares =
        value["pairs"].as_array().expect("pairs").iter().any(|value| value["share"] == true);
    for kind in ["read", "write", "mixed"] {
        let carries = &value["capacity_gbps"][kind];
        assert!(
            if shares {
                carries.as_f64().is_some_and(|number| number > 0.0)
            } else {
                carries.is_null()
            },
            "{kind}: {value}"
        );
    }
}

#[test]
fn pictures_are_written() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("out.svg");
    let ran = meanwhile(&[
        "sim",
        "a1",
        "--policy",
        "rr,b2arr",
        "--svg",
        path.to_str().expect("a plain path"),
    ]);
    assert!(ran.status.success());
    let svg = std::fs::read_to_string(&path).expect("it was written");
    assert!(
        svg.contains("programs on processors under b2arr") && svg.matches("<svg ").count() == 4,
        "one chart of use and two of processors"
    );
}

#[test]
fn a_file_of_ones_own() {
    let (said, code) = sim(
        GOOD,
        &["--policy", "rr", "--cpus", "2", "--links", "2", "--capacity", "49000,42000,67000"],
    );
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("my") && said.contains("rr"), "{said}");
}

#[test]
fn wrong_workloads_are_said_with_their_line() {
    let change = |from: &str, to: &str| {
        assert!(GOOD.contains(from));
        let (said, code) = sim(&GOOD.replacen(from, to, 1), &[]);
        assert_eq!(code, 1, "{said}");
        said
    };
    let expect = |from: &str, to: &str, line: &str, message: &str| {
        let said = change(from, to);
        assert!(said.contains(line) && said.contains(message), "{to}: {said}");
    };
    expect("a(2)", "aa(2)", "my.toml:4", "there is no program `aa`");
    expect("a(2)", "a(2", "my.toml:4", "is no program");
    expect("a(2)", "a(0)", "my.toml:4", "write NAME(threads)");
    expect("work_s = 1.0", "work_s = 0", "my.toml:7", "0 is not between");
    expect("read_mbps = 900", "read_mbps = -1", "my.toml:8", "-1 is not between");
    expect("read_mbps = 900", "reads = 900", "my.toml:8", "unknown field");
    expect("work_s = 1.0\n", "", "my.toml:6", "`work_s` is missing");
    expect("[[run]]", "programs = \"none.toml\"\n[[run]]", "my.toml:3", "none.toml");
    expect("sequence = [\"a(2)\", \"b\"]", "sequence = []", "my.toml:4", "a run of no program");
    expect("title", "titel", "my.toml:1", "titel");
    let (said, code) = sim("title = \"none\"\n", &[]);
    assert!(code == 1 && said.contains("nothing to run"), "{said}");
    let (said, code) = sim("title = ", &[]);
    assert!(code == 1 && said.contains("my.toml:1"), "{said}");
}

#[test]
fn wrong_options_are_said() {
    let refused = |args: &[&str], message: &str| {
        let ran = meanwhile(args);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(1) && said.contains(message), "{args:?}: {said}");
    };
    refused(&["sim", "a9"], "cannot read `a9`");
    refused(&["sim", "--policy", "b2ar"], "did you mean `b2arr`?");
    refused(&["sim", "--model", "m9"], "possible values: m0, m1, m2");
    refused(&["sim", "--cpus", "0"], "--cpus");
    refused(&["sim", "--cpus", "2", "--links", "3"], "3 links for 2 processors");
    refused(&["sim", "--capacity", "many"], "is no capacity");
    refused(&["sim", "-X", "share=2"], "`share` takes 0 to 1");
    refused(&["sim", "-X", "shar=1"], "did you mean `share`");
    refused(&["sim", "--window", "3"], "-X window=VALUE");
}

/// Mean gain over Linux of each policy in percent, and the seconds of each by workload,
/// on so many processors.
fn gains(cpus: &str) -> (BTreeMap<String, f64>, BTreeMap<String, BTreeMap<String, f64>>) {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cosched", "sim", "--policy", "all", "--cpus", cpus, "--json"])
        .output()
        .expect("the binary runs");
    let answer: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an object");
    let mut seconds: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    let mut gain: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in answer["rows"].as_array().expect("rows") {
        let text = |key: &str| row[key].as_str().expect("a name").to_owned();
        seconds
            .entry(text("workload"))
            .or_default()
            .insert(text("policy"), row["turnaround_s_mean"].as_f64().expect("seconds"));
        gain.entry(text("policy"))
            .or_default()
            .push(row["over_linux_pct"].as_f64().expect("percent"));
    }
    (
        gain.into_iter()
            .map(|(policy, all)| (policy, all.iter().sum::<f64>() / all.len() as f64))
            .collect(),
        seconds,
    )
}

/// The rows of the page that set policies against each other: the mean of the percents saved, or on
/// how many workloads any is.
fn statements_hold(page: &str, seconds: &BTreeMap<String, BTreeMap<String, f64>>) {
    let saved = |one: &str, other: &str| -> Vec<f64> {
        seconds.values().map(|of| 100.0 * (1.0 - of[one] / of[other])).collect()
    };
    let mut n_compared = (0, 0);
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let words: Vec<&str> =
            cells[0].split(['`', ',']).map(str::trim).filter(|word| !word.is_empty()).collect();
        match words[..] {
            [one, "over", other, ..] => {
                let saved = saved(one, other);
                let (mean, here) = (
                    saved.iter().sum::<f64>() / saved.len() as f64,
                    cells[2].parse::<f64>().expect("a number"),
                );
                assert!(
                    (mean - here).abs() <= 0.06,
                    "{one} over {other}: the page says {here}, the simulator {mean}"
                );
                n_compared.0 += 1;
            }
            [one, "better than", other, "on all workloads"] => {
                let n_better = saved(one, other).into_iter().filter(|saved| *saved > 0.05).count();
                assert_eq!(cells[2], format!("{n_better} of 9"), "{one} better than {other}");
                n_compared.1 += 1;
            }
            _ => {}
        }
    }
    assert_eq!(n_compared, (6, 2), "a statement of the page has gone");
}

/// What `docs/explain/cosched.md` says about the policies.
#[test]
fn the_page_says_of_the_policies_what_the_simulator_says() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/explain/cosched.md"))
            .expect("the page");
    let (four, seconds) = gains("4");
    let mut n_compared = 0;
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let names: Vec<&str> = cells[0].split(", ").map(|part| part.trim_matches('`')).collect();
        let here: Vec<f64> = cells
            .get(2)
            .into_iter()
            .flat_map(|cell| cell.split(", "))
            .filter_map(|part| part.parse().ok())
            .collect();
        if here.len() != names.len() || !names.iter().all(|it| four.contains_key(*it)) {
            continue;
        }
        for (name, here) in names.iter().zip(here) {
            n_compared += 1;
            assert!(
                (four[*name] - here).abs() <= 0.5,
                "{name}: the page says {here}, the simulator {}",
                four[*name]
            );
        }
    }
    assert!(n_compared >= 6, "the table of the page has gone");
    statements_hold(&page, &seconds);
    // Best on eight of nine, and by how much not on the ninth.
    for (workload, of) in &seconds {
        let best = of.values().copied().fold(f64::MAX, f64::min);
        let behind = of["pairing"] / best - 1.0;
        assert!(
            if workload == "b2" { (0.01..0.03).contains(&behind) } else { behind < 1e-9 },
            "{workload}: {behind}"
        );
    }
    let order = |gain: &BTreeMap<String, f64>, names: &[&str]| {
        names.windows(2).all(|window| gain[window[0]] > gain[window[1]])
    };
    assert!(
        order(&four, &["pairing", "qwg", "b2arr", "lqg", "b2adss", "dss", "rr", "linux"]),
        "{four:?}"
    );
    let (two, _) = gains("2");
    assert!(order(&two, &["qwg", "b2arr", "lqg", "pairing", "b2adss", "linux"]), "{two:?}");
    assert!((two["pairing"] - two["rr"]).abs() < 1e-9, "{two:?}");
    let (eight, _) = gains("8");
    assert!(
        eight.values().all(|word| (-0.5..4.0).contains(word))
            && order(&eight, &["pairing", "b2arr", "linux"]),
        "{eight:?}"
    );
}
