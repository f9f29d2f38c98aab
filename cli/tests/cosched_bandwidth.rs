//! What `cosched status` says of programs whose own account of their traffic is known, where no
//! counter counts it.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support;
use crate::support::served;
use served::Served;
use support::{LIMIT, may_freeze, skipped, wait_for};

/// Goes through `argv[2]` MB with work between two lines, and writes into the file `argv[3]`, once a
/// pass, how many MB it has read in a second of its processor time.
const READER: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    size_t size = (size_t)atol(argv[2]) << 20, lines = size / 64;
    volatile char *memory = malloc(size);
    memset((char *)memory, 1, size);
    uint64_t random = 88172645463325252u;
    unsigned sum = 0;
    while (access("stop", F_OK) != 0 && access(argv[3], F_OK) == 0) {
        clock_t start = clock();
        for (size_t line = 0; line < lines; line++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            for (int k = 0; k < 30; k++) {
                sum = sum * 5 + 1;
                __asm__ volatile("" : "+r"(sum));
            }
            sum += memory[64 * (*argv[1] == 'r' ? random % lines : line)];
        }
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        FILE *file = fopen(argv[3], "r+");
        if (!file)
            return 1;
        fprintf(file, "%f\n", size / 1e6 / seconds);
        fclose(file);
    }
    return sum == 42;
}
"#;

/// The reader, started under a daemon with soft turns; none where nothing may be managed.
fn started(way: &str, mb: u32) -> Option<Served> {
    if !may_freeze() || !testkit::has("cosched: programs of known traffic", &["cc"]) {
        return None;
    }
    let daemon = Served::start(None, &["--turns", "soft", "--source", "estimate"]);
    let folder = daemon.folder.path();
    std::fs::write(folder.join("reader.c"), READER).expect("a scratch file");
    let made =
        Command::new("cc").args(["-O2", "-o", "reader", "reader.c"]).current_dir(folder).status();
    assert!(made.expect("cc runs").success());
    std::fs::write(folder.join("rate"), "").expect("a scratch file");
    let program = folder.join("reader").display().to_string();
    let mb = mb.to_string();
    let (_, said, code) = daemon.ask(0, &["submit", &program, way, &mb, "rate"]);
    assert_eq!(code, 0, "{said}");
    Some(daemon)
}

/// The program as `status` shows it once this is true of it; none, with a line for the list of
/// skipped tests, where its pages may not be looked at. On a busy machine it is looked at again.
fn once(daemon: &Served, is_so: impl Fn(&Value, &str) -> bool) -> Option<Value> {
    let (mut program, mut said) = (Value::Null, String::new());
    wait_for("what its pages tell", LIMIT, || {
        program = daemon.programs(0)[0].clone();
        said = program["cannot_measure"].as_str().unwrap_or_default().to_owned();
        is_so(&program, &said) || said.contains("process_madvise")
    });
    if said.contains("process_madvise") {
        skipped(&said);
        return None;
    }
    Some(program)
}

fn own_mbps(folder: &Path) -> f64 {
    let read = || std::fs::read_to_string(folder.join("rate")).unwrap_or_default();
    wait_for("it has gone through its memory once", LIMIT, || read().ends_with('\n'));
    read().trim().parse().expect("a number")
}

/// One reader at a time: each needs a processor.
static ONE: Mutex<()> = Mutex::new(());

#[test]
fn a_program_that_reads_in_order_has_the_rate_that_it_measures_itself() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(daemon) = started("in order", 640) else { return };
    // Where others of the kernel read the same marks, or the machine's speed changes all the time,
    // it stays unknown, each time with a reason: then this machine says nothing of the rate.
    let begin = Instant::now();
    let is_long = |said: &str| !said.is_empty() && begin.elapsed() > Duration::from_secs(90);
    let so = |program: &Value, said: &str| program["mbps"].is_f64() || is_long(said);
    let Some(program) = once(&daemon, so) else { return };
    if let Some(said) = program["cannot_measure"].as_str() {
        return skipped(&format!("cosched: the rate of a reader is not known here: {said}"));
    }
    let (found, own) = (program["mbps"].as_f64().unwrap_or(0.0), own_mbps(daemon.folder.path()));
    let [low, high] = [0, 1].map(|end| program["mbps_interval"][end].as_f64().unwrap_or(0.0));
    assert!(low <= found && found <= high && program["cannot_measure"].is_null(), "{program}");
    // Both are taken beside whatever else this machine does.
    assert!(0.6 * own < found && found < 1.6 * own, "{own} MB/s by its own clock: {program}");
}

#[test]
fn where_pages_do_not_tell_it_the_rate_is_not_known_and_it_is_said_why() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (way, mb, why) in [("random", 640, "in no order"), ("in order", 16, "less than 160 MB")] {
        let Some(daemon) = started(way, mb) else { return };
        // Where the machine's speed changes all the time that is said, for as long as it does.
        let begin = Instant::now();
        let is_uneven = |said: &str| {
            said.contains("its pace changes") && begin.elapsed() > Duration::from_secs(120)
        };
        let so = |program: &Value, said: &str| {
            program["mbps"].is_f64() || said.contains(why) || is_uneven(said)
        };
        let Some(program) = once(&daemon, so) else { return };
        let said = program["cannot_measure"].as_str().unwrap_or_default();
        if is_uneven(said) {
            skipped(&format!(
                "cosched: why a rate is not known, on a machine of uneven speed: {said}"
            ));
            continue;
        }
        assert!(program["mbps"].is_null() && program["mbps_interval"].is_null(), "{program}");
    }
}

/// Where no two processors share a link, turns are never cut: who computes was not seen there either,
/// and so nobody was looked at, and no reason was said.
#[test]
fn where_no_turn_is_ever_cut_it_is_said_too_why_a_rate_is_not_known() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut lone = CpuSet::new();
    lone.set(0).expect("there is a first processor");
    let all = sched_getaffinity(Pid::from_raw(0)).expect("it has some");
    if sched_setaffinity(Pid::from_raw(0), &lone).is_err() {
        return skipped("cosched: the first processor may not be used");
    }
    let daemon = started("in order", 16);
    sched_setaffinity(Pid::from_raw(0), &all).expect("it had these");
    let Some(daemon) = daemon else { return };
    let (status, said, _) = daemon.ask(0, &["status"]);
    assert!(status["capacity_mbps"].is_null(), "{said}: {status}");
    once(&daemon, |_, said| said.contains("less than 160 MB"));
}
