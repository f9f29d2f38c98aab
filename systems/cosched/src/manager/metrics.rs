//! A status as metrics: the text format that Prometheus reads.
//!
//! Source: Prometheus, "Exposition formats", text format 0.0.4, and "Metric and label naming".

use std::fmt::Write;

use serde_json::Value;

/// What is said to be the type of the text.
pub const TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How all names begin.
const PREFIX: &str = "meanwhile_cosched_";

/// Labels and a value; what is not known is left out.
type Sample = (String, Option<f64>);

/// The metrics of a status.
pub fn text(status: &Value) -> String {
    let mut out = String::new();
    let mut one = |name: &str, kind: &str, help: &str, samples: Vec<Sample>| {
        family(&mut out, name, kind, help, &samples)
    };
    let alone = |key: &str| vec![(String::new(), status[key].as_f64())];
    let scaled =
        |key: &str, by: f64| vec![(String::new(), status[key].as_f64().map(|number| number * by))];
    let about = ["policy", "freezer", "source"]
        .map(|key| (key, status[key].as_str().unwrap_or_default().to_owned()));
    one(
        "info",
        "gauge",
        "The policy, the freezer and the source of bandwidths of this daemon.",
        vec![(labels(&about), Some(1.0))],
    );
    one("quantum_seconds", "gauge", "Seconds of a quantum.", scaled("quantum_ms", 1e-3));
    one("decisions_total", "counter", "Decisions of the policy.", alone("n_decisions"));
    one(
        "link_changes_total",
        "counter",
        "Times that the links of the processors were found changed.",
        alone("link_changes"),
    );
    one(
        "freezes_total",
        "counter",
        "Times that a program was frozen at the end of its turn.",
        alone("n_freezes"),
    );
    one(
        "demotions_total",
        "counter",
        "Times that a program was put into the idle class at the end of its turn.",
        alone("n_demotions"),
    );
    one("programs_started_total", "counter", "Programs submitted or attached.", alone("n_started"));
    one("programs_ended_total", "counter", "Programs that ended or were let go.", alone("n_ended"));
    one(
        "switches_total",
        "counter",
        "Changes of programs, freezing to thawing.",
        alone("n_switches"),
    );
    one(
        "switch_seconds_total",
        "counter",
        "Seconds that all changes of programs took.",
        scaled("switch_us_total", 1e-6),
    );
    one(
        "switch_p95_seconds",
        "gauge",
        "Seconds of a change of programs, 95th percentile of the last.",
        scaled("switch_us_p95", 1e-6),
    );
    links(status, &mut one);
    programs(status, &mut one);
    neighbours(status, &mut one);
    antagonists(status, &mut one);
    out
}

fn links(status: &Value, one: &mut impl FnMut(&str, &str, &str, Vec<Sample>)) {
    let all = || status["links"].as_array().into_iter().flatten().enumerate();
    let label = |idx: usize| labels(&[("link", idx.to_string())]);
    let n_cpus = |value: &Value| value.as_array().map(|var| var.len() as f64);
    one(
        "link_processors",
        "gauge",
        "Processors on this link to the memory.",
        all().map(|(idx, it)| (label(idx), n_cpus(it))).collect(),
    );
    let capacity = status["capacity_mbps"].as_f64().map(|number| number * 1e6);
    let help = "Bytes a second that a link carries for two readers, measured at the start.";
    one(
        "link_capacity_bytes_per_second",
        "gauge",
        help,
        all().map(|(idx, _)| (label(idx), capacity)).collect(),
    );
    let moved = |link: &Value| {
        let on = |value: &Value| {
            list(value, "cpus")
                .filter(|cpu| link.as_array().is_some_and(|link| link.contains(cpu)))
                .count() as f64
        };
        let here = list(status, "programs").filter(|program| on(program) > 0.0);
        // One that is not known makes the sum unknown. The sum of no programs is a negative
        // nothing.
        here.map(|program| Some(on(program) * program["mbps"].as_f64()? * 1e6))
            .sum::<Option<f64>>()
            .map(|sum| 0.0 + sum)
            // Who is on which link is the kernel's to know then.
            .filter(|_| status["is_cutting"] != false || list(status, "programs").count() == 0)
    };
    let help = "Bytes a second of the programs that have their turn on this link, as last seen, if all of them were.";
    one(
        "link_bandwidth_bytes_per_second",
        "gauge",
        help,
        all().map(|(idx, link)| (label(idx), moved(link))).collect(),
    );
}

/// One series of a program: the end of its name, its type and help, its value.
type Row<'a> = (&'a str, &'a str, &'a str, &'a dyn Fn(&Value) -> Option<f64>);

fn programs(status: &Value, one: &mut impl FnMut(&str, &str, &str, Vec<Sample>)) {
    let quantum_s = status["quantum_ms"].as_f64().map(|ms| ms / 1000.0);
    let number = |key: &'static str| move |value: &Value| value[key].as_f64();
    let n_cpus = |value: &Value| value["cpus"].as_array().map(|var| var.len() as f64);
    let is = |flag: bool| Some(f64::from(u8::from(flag)));
    let rows: &[Row<'_>] = &[
        ("threads", "gauge", "Threads that the policy counts.", &number("n_threads")),
        (
            "processors",
            "gauge",
            "Processors in this quantum; none while it rests or is frozen.",
            &n_cpus,
        ),
        ("frozen", "gauge", "1 while it is frozen.", &|value| {
            is(value["is_running"] == false && value["is_demoted"] != true)
        }),
        ("demoted", "gauge", "1 while it is in the idle class until its next turn.", &|value| {
            is(value["is_demoted"] == true)
        }),
        ("resting", "gauge", "1 while it sleeps or waits for I/O and takes no turns.", &|value| {
            is(value["is_resting"] == true)
        }),
        (
            "bandwidth_bytes_per_second",
            "gauge",
            "Bytes a second that it moves on all its processors, as last seen.",
            &|value| {
                let n = n_cpus(value).filter(|n| *n > 0.0).or(value["n_threads"].as_f64())?;
                Some(value["mbps"].as_f64()? * 1e6 * n)
            },
        ),
        (
            "slowdown_ratio",
            "gauge",
            "How far those beside it slow it down: its progress with them frozen over that beside them.",
            &number("slowdown"),
        ),
        ("turns_total", "counter", "Quanta that it had.", &number("n_turns")),
        (
            "waits_total",
            "counter",
            "Quanta that it did not have though it was ready.",
            &number("n_waits"),
        ),
        (
            "wait_seconds_total",
            "counter",
            "Seconds of quanta that it did not have though it was ready.",
            &|value| Some(value["n_waits"].as_f64()? * quantum_s?),
        ),
        (
            "longest_wait_seconds",
            "gauge",
            "Seconds of the most quanta in a row that it did not have.",
            &|value| Some(value["longest_wait_quanta"].as_f64()? * quantum_s?),
        ),
        (
            "freezes_total",
            "counter",
            "Times that it was frozen at the end of its turn.",
            &number("n_freezes"),
        ),
        (
            "demotions_total",
            "counter",
            "Times that it was put into the idle class at the end of its turn.",
            &number("n_demotions"),
        ),
        (
            "progress_total",
            "counter",
            "Parallel regions of OpenMP that it began, or what it counts itself.",
            &number("progress"),
        ),
        (
            "limited_ratio",
            "gauge",
            "Share of its processors that it may use, if it is limited.",
            &number("limited_to"),
        ),
        (
            "refusing_threads",
            "gauge",
            "Threads that could not be kept to its processors.",
            &number("n_refusing"),
        ),
        ("age_seconds", "gauge", "Seconds since it came to the daemon.", &number("age_s")),
    ];
    for (name, kind, help, value) in rows {
        one(
            &format!("program_{name}"),
            kind,
            help,
            list(status, "programs").map(|list| (whose(list), value(list))).collect(),
        );
    }
}

fn neighbours(status: &Value, one: &mut impl FnMut(&str, &str, &str, Vec<Sample>)) {
    let mut means = Vec::new();
    let mut counts = Vec::new();
    for it in list(status, "programs") {
        for beside in list(it, "neighbours") {
            let both = pair(it, beside);
            means.push((both.clone(), beside["slowdown"].as_f64()));
            counts.push((both, beside["n"].as_f64()));
        }
    }
    let help = "How far a program is slowed down while this one runs beside it, with or without others: the mean of all measurements.";
    one("neighbour_slowdown_ratio", "gauge", help, means);
    one(
        "neighbour_measurements_total",
        "counter",
        "Measurements of a program beside this one.",
        counts,
    );
}

fn antagonists(status: &Value, one: &mut impl FnMut(&str, &str, &str, Vec<Sample>)) {
    let mut slowdowns = Vec::new();
    let mut sure = Vec::new();
    for it in list(status, "programs") {
        for beside in list(it, "antagonists") {
            slowdowns.push((pair(it, beside), beside["slowdown"].as_f64()));
            sure.push((pair(it, beside), beside["confidence"].as_f64()));
        }
    }
    let help = "What a program does in a second of its processor time without this neighbour over what it does beside it, where it is sure.";
    one("antagonist_slowdown_ratio", "gauge", help, slowdowns);
    let help = "How sure it is that this neighbour slows a program, 0 to 1.";
    one("antagonist_confidence", "gauge", help, sure);
}

/// The labels of a program and one beside it.
fn pair(program: &Value, beside: &Value) -> String {
    let own = whose(program);
    let name = beside["name"].as_str().unwrap_or_default().to_owned();
    let other = labels(&[("neighbour", beside["id"].to_string()), ("neighbour_name", name)]);
    format!("{},{}", own.trim_end_matches('}'), other.trim_start_matches('{'))
}

fn list<'a>(it: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    it[key].as_array().into_iter().flatten()
}

/// The labels of a program.
fn whose(it: &Value) -> String {
    let name = it["name"].as_str().unwrap_or_default().to_owned();
    let mut all =
        vec![("program", it["id"].to_string()), ("name", name), ("user", it["user"].to_string())];
    for key in ["pod_uid", "container_id"] {
        all.extend(it[key].as_str().map(|text| (key, text.to_owned())));
    }
    labels(&all)
}

fn labels(all: &[(&str, String)]) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let one: Vec<String> =
        all.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", one.join(","))
}

fn family(out: &mut String, name: &str, kind: &str, help: &str, samples: &[Sample]) {
    let known: Vec<(&str, f64)> = samples
        .iter()
        .filter_map(|(it, value)| Some((it.as_str(), value.filter(|value| value.is_finite())?)))
        .collect();
    if known.is_empty() {
        return;
    }
    let _ = writeln!(out, "# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}");
    for (labels, value) in known {
        let _ = writeln!(out, "{PREFIX}{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_of_programs_are_escaped() {
        let status =
            json!({"programs": [{"id": 3, "user": 7, "name": "a\"b\\c\nd", "n_threads": 2}]});
        let text = text(&status);
        assert!(text.contains("meanwhile_cosched_program_threads{program=\"3\",name=\"a\\\"b\\\\c\\nd\",user=\"7\"} 2\n"), "{text}");
        assert!(
            text.lines().all(|line| line.starts_with(PREFIX)
                || line.starts_with("# HELP ")
                || line.starts_with("# TYPE ")),
            "{text}"
        );
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let status = json!({"programs": [{"id": 1, "user": 0, "name": "a", "slowdown": null, "n_turns": 4}], "switch_us_p95": null});
        let text = text(&status);
        assert!(
            !text.contains("slowdown")
                && !text.contains("p95")
                && text.contains("turns_total{program=\"1\""),
            "{text}"
        );
    }

    #[test]
    fn what_a_program_moves_that_was_not_seen_is_in_no_sum() {
        let mut status = full();
        let mut other = status["programs"][0].clone();
        other["id"] = 2.into();
        other["cpus"] = json!([1]);
        other["mbps"] = Value::Null;
        status["programs"].as_array_mut().expect("a list").push(other);
        status["capacity_mbps"] = Value::Null;
        let text = text(&status);
        assert!(
            !text.contains("link_bandwidth_bytes_per_second{link=\"0\"}"),
            "one of its two is not known: {text}"
        );
        assert!(
            text.contains("link_bandwidth_bytes_per_second{link=\"1\"} 5000000000\n"),
            "{text}"
        );
        assert!(!text.contains("program_bandwidth_bytes_per_second{program=\"2\""), "{text}");
        assert!(!text.contains("link_capacity"), "{text}");
    }

    #[test]
    fn links_without_programs_move_nothing() {
        let text = text(&json!({"links": [[0], [1]], "programs": []}));
        assert!(text.contains("link_bandwidth_bytes_per_second{link=\"1\"} 0\n"), "{text}");
        assert!(!text.contains(" -"), "{text}");
    }

    #[test]
    fn who_slows_whom_has_both_in_its_labels() {
        let beside = json!([{"id": 2, "name": "b", "slowdown": 1.5, "n": 3}]);
        let text =
            text(&json!({"programs": [{"id": 1, "user": 0, "name": "a}", "neighbours": beside}]}));
        let labels = "{program=\"1\",name=\"a}\",user=\"0\",neighbour=\"2\",neighbour_name=\"b\"}";
        assert!(
            text.contains(&format!("{PREFIX}neighbour_slowdown_ratio{labels} 1.5\n")),
            "{text}"
        );
        assert!(
            text.contains(&format!("{PREFIX}neighbour_measurements_total{labels} 3\n")),
            "{text}"
        );
    }

    /// One program beside another, with all that a status can say.
    fn full() -> Value {
        let beside = json!([{"id": 2, "name": "b", "slowdown": 1.5, "n": 3}]);
        json!({
            "policy": "pairing", "freezer": "cgroup v2 freezer", "source": "estimate", "quantum_ms": 100.0, "n_decisions": 9,
            "link_changes": 1, "n_freezes": 4, "n_started": 2, "n_ended": 1, "n_switches": 3, "switch_us_total": 60.0, "switch_us_p95": 30.0,
            "links": [[0, 1], [2]], "capacity_mbps": 24000.0,
            "programs": [{
                "id": 1, "user": 0, "name": "a", "n_threads": 2, "cpus": [0, 2], "is_running": true, "is_resting": false, "mbps": 5000.0,
                "slowdown": 1.5, "n_turns": 7, "n_waits": 2, "longest_wait_quanta": 1, "n_freezes": 2, "progress": 11, "n_refusing": 0,
                "age_s": 1.5, "neighbours": beside,
            }],
        })
    }

    /// `status --prometheus` reads what the daemon wrote as JSON; the daemon's own page does not.
    /// Both say one number, or a counter falls.
    #[test]
    fn counters_are_the_same_through_json() {
        let mut total = 0.0;
        for ns in (1..20_000u64).map(|idx| idx * 7919 % 100_003) {
            total += ns as f64 / 1000.0;
            let mut status = full();
            status["switch_us_total"] = total.into();
            let read: Value = serde_json::from_str(&status.to_string()).expect("it is JSON");
            assert_eq!(text(&read), text(&status));
        }
    }

    #[test]
    fn links_have_what_programs_move_on_them() {
        let text = text(&full());
        for line in [
            "link_bandwidth_bytes_per_second{link=\"0\"} 5000000000",
            "link_bandwidth_bytes_per_second{link=\"1\"} 5000000000",
            "program_bandwidth_bytes_per_second{program=\"1\",name=\"a\",user=\"0\"} 10000000000",
            "program_wait_seconds_total{program=\"1\",name=\"a\",user=\"0\"} 0.2",
            "link_processors{link=\"0\"} 2",
        ] {
            assert!(text.contains(&format!("\n{PREFIX}{line}\n")), "{line}: {text}");
        }
    }

    #[test]
    fn the_dashboard_asks_for_what_there_is() {
        let dashboard = include_str!("../../../../packaging/grafana/cosched.json");
        let dashboard: Value = serde_json::from_str(dashboard).expect("it is JSON");
        let text = text(&full());
        let there: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
            .collect();
        assert!(
            dashboard["schemaVersion"].is_u64()
                && dashboard["title"].is_string()
                && dashboard["uid"].is_string()
        );
        assert_eq!(
            (&dashboard["id"], &dashboard["__inputs"][0]["name"]),
            (&Value::Null, &"DS_PROMETHEUS".into())
        );
        let mut ids = Vec::new();
        for panel in list(&dashboard, "panels") {
            ids.push(panel["id"].as_u64().expect("a number"));
            assert!(
                panel["gridPos"]["w"].is_u64()
                    && panel["type"].is_string()
                    && panel["datasource"]["uid"] == "${DS_PROMETHEUS}"
            );
            for target in list(panel, "targets") {
                let expr = target["expr"].as_str().expect("a query");
                let names: Vec<&str> = expr
                    .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
                    .filter(|part| part.starts_with(PREFIX))
                    .collect();
                assert!(!names.is_empty() && target["refId"].is_string(), "{expr}");
                for it in names {
                    assert!(there.contains(&it), "no metric `{it}`");
                    assert_eq!(
                        it.ends_with("_total"),
                        expr.contains(&format!("rate({it}["))
                            || expr.contains(&format!("increase({it}[")),
                        "{expr}"
                    );
                }
            }
        }
        assert!(
            ids.len() > 5 && (1..ids.len()).all(|idx| !ids[..idx].contains(&ids[idx])),
            "each has a number of its own"
        );
    }
}
