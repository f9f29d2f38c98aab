//! Steps of Slurm on several nodes have their turns at the same time on all of them. Two daemons on
//! this machine, each with a processor of its own, are the nodes; the tests speak to them as the
//! plugin does.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support;
use support::{LIMIT, may_freeze, skipped, wait_for};

/// One daemon, a task of the step, and a program that is on this node alone.
struct Node {
    socket: PathBuf,
    children: Vec<Child>,
}

impl Node {
    fn start(folder: &Path, cpu: usize, more: &[&str]) -> Node {
        let socket = folder.join(format!("node-{cpu}/sock"));
        let daemon = Command::new("taskset")
            .args(["-c", &cpu.to_string(), env!("CARGO_BIN_EXE_meanwhile")])
            .args(["cosched", "daemon", "--turns", "frozen", "--policy", "rr", "--no-restart"])
            .args(more)
            .arg("--socket")
            .arg(&socket)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("taskset runs");
        let spin = |_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        let tasks = (0..2).map(spin).map(|child| child.expect("sh runs"));
        let node = Node { socket, children: std::iter::once(daemon).chain(tasks).collect() };
        wait_for("the daemon listens", LIMIT, || UnixStream::connect(&node.socket).is_ok());
        node
    }

    fn ask(&self, request: &Value) -> Value {
        let mut stream = UnixStream::connect(&self.socket).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        writeln!(stream, "{request}").expect("it listens");
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).expect("it answers");
        serde_json::from_str(&answer).expect("an object")
    }

    /// One of its programs is a task of a step on so many nodes, the second runs here alone.
    fn give(&self, job: u32, nodes: u32) {
        let step = json!({
            "do": "step", "job": job, "step": 0, "user": 0, "name": "x", "threads": 1,
            "nodes": nodes, "pids": [self.children[1].id()],
        });
        let alone = json!({
            "do": "step", "job": 1000 + job, "step": 0, "user": 0, "name": "y", "threads": 1,
            "pids": [self.children[2].id()],
        });
        for request in [step, alone] {
            let answer = self.ask(&request);
            assert_eq!(answer["ok"], true, "{answer}");
        }
    }

    fn step(&self) -> Value {
        self.ask(&json!({ "do": "status" }))["programs"][0].clone()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn may_be_nodes() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    let has_two = std::thread::available_parallelism().is_ok_and(|n| n.get() >= 2);
    if !is_root || !has_two || !may_freeze() {
        skipped("only root has steps, and two nodes need two processors");
        return false;
    }
    true
}

#[test]
fn a_step_has_its_turns_at_the_same_time_on_both_nodes() {
    if !may_be_nodes() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let nodes = [0, 1].map(|cpu| Node::start(folder.path(), cpu, &["--clock-error", "1"]));
    nodes.iter().for_each(|node| node.give(41, 2));
    let runs = || [0, 1].map(|node| nodes[node].step()["is_running"] == true);
    wait_for("it waits on both", LIMIT, || runs() == [false, false]);
    let (mut n_same, mut n_ran) = (0, 0);
    const LOOKS: usize = 200;
    for _ in 0..LOOKS {
        let [one, other] = runs();
        n_same += usize::from(one == other);
        n_ran += usize::from(one);
        std::thread::sleep(Duration::from_millis(19));
    }
    // Each by itself would agree half of the time. A look falls between two changes now and then.
    assert!(n_same > LOOKS * 4 / 5, "{n_same} of {LOOKS}");
    assert!((LOOKS / 4..LOOKS * 3 / 4).contains(&n_ran), "{n_ran} of {LOOKS}");
    // By itself each would take turns strictly; drawn they come twice in a row, too.
    wait_for("it waits twice in a row", LIMIT, || {
        nodes.iter().all(|node| node.step()["longest_wait_quanta"].as_u64() >= Some(2))
    });
    let status = nodes[0].step();
    assert_eq!((&status["n_nodes"], &status["cannot_wait"]), (&json!(2), &Value::Null));
}

#[test]
fn where_clocks_differ_a_step_waits_for_no_turn() {
    if !may_be_nodes() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let node = Node::start(folder.path(), 0, &["--clock-error", "50"]);
    node.give(42, 2);
    let other = || node.ask(&json!({ "do": "status" }))["programs"][1].clone();
    wait_for("turns go by", LIMIT, || other()["n_turns"].as_u64() > Some(5));
    let status = node.step();
    assert_eq!((&status["n_freezes"], &status["is_running"]), (&json!(0), &json!(true)));
    let why = status["cannot_wait"].as_str().unwrap_or_default();
    assert!(why.contains("several nodes") && why.contains("--clock-error"), "{status}");
    // A step on one node needs no other's clock.
    let alone = Node::start(folder.path(), 1, &["--clock-error", "50"]);
    alone.give(43, 1);
    wait_for("it takes turns", LIMIT, || alone.step()["n_freezes"].as_u64() > Some(2));
}
