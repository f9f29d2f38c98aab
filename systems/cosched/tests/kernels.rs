//! The kernels compute the same with OpenMP, whatever the number of threads, as their serial
//! programs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cosched::manager::kernels::compile;
use cosched::workload::{KERNELS, Purpose, WorkloadStart, table_1_for};
use measure::tool;

fn run(program: &Path, n_threads: usize) -> String {
    let mut command = Command::new(program);
    command.args(["small", "3"]).env("OMP_NUM_THREADS", n_threads.to_string());
    tool::run(&mut command, b"", Duration::from_secs(60))
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"))
        .text()
}

#[test]
fn parallel_runs_agree_with_serial_ones() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for name in KERNELS {
        let program = |is_parallel| {
            compile(name, folder.path(), is_parallel).unwrap_or_else(|error| panic!("{error}"))
        };
        // Each kernel also checks its own solution, and fails if that is wrong.
        let serial = run(&program(false), 1);
        assert!(serial.starts_with(name) && serial.split_whitespace().count() == 3, "{serial}");
        for n_threads in [1, 2, 3, 4] {
            assert_eq!(run(&program(true), n_threads), serial, "{name} with {n_threads} threads");
        }
    }
}

#[test]
fn the_programs_of_table_1_solve_what_they_are_given() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let workloads = table_1_for(Purpose::Real);
    let started: BTreeSet<(&str, u32)> = workloads
        .iter()
        .flat_map(|workload| &workload.1.programs)
        .filter_map(|program| {
            if let WorkloadStart::Kernel(name, rounds) = program.start {
                Some((name, rounds))
            } else {
                None
            }
        })
        .collect();
    assert!(started.len() >= 5, "{started:?}");
    for (name, rounds) in started {
        let program = compile(name, folder.path(), true).unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(program);
        command.args(["large", &rounds.to_string()]).env("OMP_NUM_THREADS", "2");
        // It ends with 2 if its own check fails.
        let ran = tool::run(&mut command, b"", Duration::from_secs(120)).and_then(tool::Ran::ok);
        ran.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_openmp_kernels_are_parallel() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for name in ["BT", "SP", "CG", "MG", "FT"] {
        let program = compile(name, folder.path(), true).unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(program);
        command
            .args(["small", "1"])
            .env("OMP_NUM_THREADS", "3")
            .env("OMP_DISPLAY_AFFINITY", "true");
        let ran = tool::run(&mut command, b"", Duration::from_secs(60))
            .and_then(tool::Ran::ok)
            .unwrap_or_else(|error| panic!("{error}"));
        // One line for each thread of the first region.
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.lines().count() >= 3, "{name}: {said}");
    }
}
