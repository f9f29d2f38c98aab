//! What `cosched status --prometheus` and `daemon --metrics` say, as another parser reads it.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support;
use crate::support::served;
use served::Served;
use support::{LIMIT, may_freeze, skipped, wait_for};

/// What Prometheus's own client for Python finds: a list of name, labels, value; and the
/// type of each family.
fn parsed(text: &str) -> Option<Value> {
    let script = "import json, sys\nfrom prometheus_client.parser import text_string_to_metric_families as read\n\
                  all = list(read(sys.stdin.buffer.read().decode()))\n\
                  print(json.dumps({'types': {m.name: m.type for m in all}, \
                  'samples': [[s.name, s.labels, s.value] for m in all for s in m.samples]}))\n";
    let has = |text: &&str| {
        Command::new(text)
            .args(["-c", "import prometheus_client.parser"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let Some(python) = ["/usr/bin/python3", "python3"].into_iter().find(has) else {
        skipped("no Python with prometheus_client");
        return None;
    };
    let mut child = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python runs");
    child.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("it listens");
    let ran = child.wait_with_output().expect("it ends");
    assert!(ran.status.success(), "{text}");
    Some(serde_json::from_slice(&ran.stdout).expect("an object"))
}

fn get(mut stream: impl Read + Write) -> String {
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it listens");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it answers");
    let (head, body) = said.split_once("\r\n\r\n").expect("a head and a body");
    assert!(
        head.starts_with("HTTP/1.1 200 OK")
            && head.contains("Content-Type: text/plain; version=0.0.4"),
        "{head}"
    );
    body.to_owned()
}

#[test]
fn another_parser_reads_what_the_daemon_says() {
    if !may_freeze() {
        return;
    }
    let daemon = Served::start(None, &["--policy", "rr", "--metrics", "localhost:0"]);
    let name = "we\"ird\\na\nme";
    let shell = daemon.folder.path().join(name);
    std::os::unix::fs::symlink("/bin/sh", &shell).expect("a scratch file");
    for _ in 0..3 {
        let (_, said, code) =
            daemon.submit_loop(0, &shell.display().to_string(), &["--threads", "1"]);
        assert_eq!(code, 0, "{said}");
    }
    let address =
        daemon.ask(0, &["status"]).0["metrics"].as_str().expect("it says where").to_owned();
    let now = || get(std::net::TcpStream::connect(&address).expect("it listens"));
    let turns = || {
        daemon.programs(0).iter().filter_map(|program| program["n_turns"].as_u64()).min() >= Some(2)
    };
    wait_for("all have had turns", LIMIT, turns);
    let (first, second) = (now(), now());
    let ran = daemon.command(0, &["status", "--prometheus"]).output().expect("the binary runs");
    let third = String::from_utf8(ran.stdout).expect("text");
    let Some(all) =
        [first, second, third].iter().map(|it| parsed(it)).collect::<Option<Vec<Value>>>()
    else {
        return;
    };
    let samples = |value: &Value| value["samples"].as_array().cloned().expect("a list");
    for pair in all.windows(2) {
        for it in samples(&pair[0])
            .iter()
            .filter(|sample| sample[0].as_str().is_some_and(|text| text.ends_with("_total")))
        {
            let later = samples(&pair[1])
                .into_iter()
                .find(|later| later[0] == it[0] && later[1] == it[1])
                .expect("it is still there");
            assert!(
                later[2].as_f64() >= it[2].as_f64(),
                "{it} then {later}: a counter never falls"
            );
        }
    }
    let found = samples(&all[2]);
    let of = |name: &str| {
        found
            .iter()
            .filter(|it| it[0] == format!("meanwhile_cosched_{name}"))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(of("program_turns_total").len(), 3);
    assert!(
        of("program_turns_total").iter().all(|it| it[1]["name"] == name),
        "names come through: {found:?}"
    );
    for name in [
        "decisions_total",
        "freezes_total",
        "programs_started_total",
        "switches_total",
        "link_processors",
        "quantum_seconds",
    ] {
        assert!(of(name).iter().any(|it| it[2].as_f64() > Some(0.0)), "{name}");
    }
    // The client names a counter without its ending.
    let types = all[2]["types"].as_object().expect("an object");
    assert!(types.iter().all(|(_, it)| it == "counter" || it == "gauge"), "{types:?}");
    assert_eq!(types["meanwhile_cosched_decisions"], "counter");
}

#[test]
fn metrics_can_be_a_socket_of_the_owners() {
    if !may_freeze() {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("metrics.sock");
    let daemon = Served::start(None, &["--metrics", &path.display().to_string()]);
    assert_eq!(std::fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
    let text = get(std::os::unix::net::UnixStream::connect(&path).expect("it listens"));
    assert!(
        text.contains(
            "# TYPE meanwhile_cosched_decisions_total counter\nmeanwhile_cosched_decisions_total "
        ),
        "{text}"
    );
    assert_eq!(daemon.ask(0, &["stop"]).2, 0);
    wait_for("it goes with the daemon", LIMIT, || !path.exists());
    let (_, said, code) = daemon.ask(0, &["daemon", "--metrics", "0.0.0.0:1"]);
    assert!(code == 1 && said.contains("that is not this machine"), "{code}: {said}");
}
