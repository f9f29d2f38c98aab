//! Door: a foreground run of real programs under a policy.
//!
//! Every quantum the policy is asked; programs without a processor are frozen, the others are thawed and kept to theirs.
//! Their traffic is estimated: a canary on one processor measures what the programs on the others leave of the link.
//! Nothing but what was started here is touched, and a supervisor thaws everything if this process dies.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::canary::{self, Calibration, Canary};
use super::group::{Group, Hierarchy};
use super::team::Page;
use crate::machine::{Capacity, Machine};
use crate::policies::{Policy, ProgramView, ThreadView, View};

/// Between two looks of the canary, in quanta, at first; twice as long while nothing changes.
const LOOK_EVERY: u32 = 2;
/// At most so long.
const LOOK_EVERY_MAX: u32 = 16;
/// An estimate that moves by less than this share has not changed.
const STEADY: f64 = 0.15;
/// Estimates that are remembered.
const WINDOW: usize = 8;

/// What is run.
#[derive(Debug, Clone)]
pub struct Task {
    /// For tables.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Threads that it is told to use, and that the policy counts.
    pub n_threads: usize,
}

/// One program's result.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Seconds from the start of all to its end.
    pub turnaround_s: f64,
    /// Its exit status: 0, another, or none if a signal ended it.
    pub status: Option<i32>,
}

/// What a run showed.
#[derive(Debug, Clone)]
pub struct Report {
    /// In the order of the tasks.
    pub ended: Vec<Ended>,
    /// Microseconds that each change of programs took, freezing to thawing.
    pub switch_us: Vec<f64>,
    /// Seconds that the canary took altogether.
    pub canary_s: f64,
    /// Decisions made.
    pub n_decisions: u32,
}

/// Where and with what.
#[derive(Debug)]
pub struct Ground<'a> {
    /// Where groups are made.
    pub hierarchy: &'a Hierarchy,
    /// Processors that programs may have.
    pub cpus: &'a [usize],
    /// What the canary finds here.
    pub calibration: Calibration,
    /// It runs from time to time.
    pub is_estimating: bool,
    /// The library that lets OpenMP programs follow their processors, and a folder for their pages.
    pub team: Option<(&'a Path, &'a Path)>,
}

struct Running {
    group: Group,
    started: Instant,
    ended: Option<Ended>,
    is_thawed: bool,
    keeps_to: Vec<usize>,
    window_mbps: Vec<f64>,
    page: Option<Page>,
}

/// A child that can no longer hold the run up.
fn start(task: &Task, group: &Group, team: Option<(&Path, &Page)>) -> io::Result<Child> {
    // The shell joins the group, which is frozen, and so stops there until the group has its first turn.
    let mut command = Command::new("sh");
    command.args(["-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\""]).arg(group.path()).args(&task.command);
    command.env("OMP_NUM_THREADS", task.n_threads.to_string()).env("OMP_WAIT_POLICY", "passive").stdin(Stdio::null());
    if let Some((library, page)) = team {
        let before = std::env::var_os("LD_PRELOAD").filter(|it| !it.is_empty());
        let mut preload = library.as_os_str().to_owned();
        before.into_iter().for_each(|it| {
            preload.push(":");
            preload.push(it);
        });
        command.env("LD_PRELOAD", preload).env("MEANWHILE_TEAM", page.path());
    }
    // Standard output is ours alone.
    command.stdout(Stdio::from(io::stderr()));
    command.spawn()
}

/// Runs the tasks to their ends under `policy`; without one, Linux decides alone.
pub fn run(tasks: &[Task], ground: &Ground<'_>, mut policy: Option<Box<dyn Policy>>, canary: &mut Canary) -> io::Result<Report> {
    let (sender, ends) = mpsc::channel();
    let mut running = Vec::new();
    for (idx, task) in tasks.iter().enumerate() {
        let group = ground.hierarchy.group(&format!("task-{idx}"))?;
        let page = match ground.team {
            // A page of an earlier run of the same manager is of no use.
            Some((_, folder)) => {
                let path = folder.join(format!("page-{idx}"));
                let _ = std::fs::remove_file(&path);
                Some(Page::create(&path)?)
            }
            None => None,
        };
        let team = ground.team.zip(page.as_ref()).map(|((library, _), page)| (library, page));
        let mut child = start(task, &group, team)?;
        running.push(Running {
            group,
            started: Instant::now(),
            ended: None,
            is_thawed: false,
            keeps_to: Vec::new(),
            window_mbps: Vec::new(),
            page,
        });
        let sender = sender.clone();
        std::thread::spawn(move || {
            let status = child.wait();
            let _ = sender.send((idx, status, Instant::now()));
        });
    }
    let mut report = Report { ended: Vec::new(), switch_us: Vec::new(), canary_s: 0.0, n_decisions: 0 };
    let machine = Machine {
        link_of: vec![0; ground.cpus.len()],
        links: vec![Capacity::bus(ground.calibration.alone_mbps.max(ground.calibration.beside_mbps + ground.calibration.reader_mbps))],
        cache_mb: 0.0,
    };
    let (mut look_in, mut look_every, mut place_of_look) = (1u32, LOOK_EVERY, 0usize);
    while running.iter().any(|it| it.ended.is_none()) {
        let deadline = match &mut policy {
            None => {
                for it in running.iter_mut().filter(|it| it.ended.is_none() && !it.is_thawed) {
                    it.group.keep_to(ground.cpus)?;
                    it.group.thaw()?;
                    it.is_thawed = true;
                }
                Instant::now() + Duration::from_secs(3600)
            }
            Some(policy) => {
                let chosen = decide(&running, tasks, &machine, ground.cpus, policy.as_mut());
                let start = Instant::now();
                switch(&mut running, &chosen)?;
                report.switch_us.push(start.elapsed().as_secs_f64() * 1e6);
                report.n_decisions += 1;
                look_in = look_in.saturating_sub(1);
                if ground.is_estimating && look_in == 0 {
                    // In the middle of the quantum the programs are warm.
                    std::thread::sleep(Duration::from_micros((policy.quantum_ms() * 300.0) as u64));
                    let start = Instant::now();
                    let changed = look(&mut running, &chosen, ground, place_of_look, canary)?;
                    report.canary_s += start.elapsed().as_secs_f64();
                    place_of_look += 1;
                    look_every = if changed { LOOK_EVERY } else { (2 * look_every).min(LOOK_EVERY_MAX) };
                    look_in = look_every;
                }
                start + Duration::from_micros((policy.quantum_ms() * 1000.0) as u64)
            }
        };
        // Until the end of the quantum, or of a program.
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match ends.recv_timeout(left) {
                Ok((idx, status, at)) => {
                    let it: &mut Running = &mut running[idx];
                    let status = status?;
                    it.ended = Some(Ended { turnaround_s: (at - it.started).as_secs_f64(), status: status.code() });
                    if policy.is_some() || running.iter().all(|it| it.ended.is_some()) {
                        break;
                    }
                }
                Err(_) => break,
            }
        }
    }
    for it in running {
        // What the program left behind in its group runs on.
        it.group.thaw()?;
        let _ = it.group.remove();
        report.ended.extend(it.ended);
    }
    Ok(report)
}

/// The processors of each program.
fn decide(running: &[Running], tasks: &[Task], machine: &Machine, cpus: &[usize], policy: &mut dyn Policy) -> Vec<Vec<usize>> {
    let mut programs = Vec::new();
    let mut threads = Vec::new();
    for (program, (it, task)) in running.iter().zip(tasks).enumerate() {
        let is_active = it.ended.is_none();
        let is_malleable = task.n_threads == 1 || it.page.as_ref().is_some_and(Page::is_followed);
        programs.push(ProgramView { n_threads: task.n_threads, first: threads.len(), is_active, is_malleable });
        for _ in 0..task.n_threads {
            threads.push(ThreadView {
                program,
                latest_mbps: it.window_mbps.last().copied().unwrap_or(0.0),
                window_mbps: it.window_mbps.clone(),
                is_ready: is_active,
                was_running: it.is_thawed,
            });
        }
    }
    let placement = policy.decide(&View { machine, programs: &programs, threads: &threads });
    let mut chosen = vec![Vec::new(); running.len()];
    for (place, thread) in placement.into_iter().enumerate() {
        if let Some(thread) = thread {
            chosen[threads[thread].program].push(cpus[place]);
        }
    }
    chosen
}

/// Freezes who has no processor any more, then thaws who has one.
fn switch(running: &mut [Running], chosen: &[Vec<usize>]) -> io::Result<()> {
    for (it, cpus) in running.iter_mut().zip(chosen) {
        if it.is_thawed && cpus.is_empty() && it.ended.is_none() {
            it.group.freeze()?;
            it.is_thawed = false;
        }
    }
    for (it, cpus) in running.iter_mut().zip(chosen) {
        if it.ended.is_some() || cpus.is_empty() {
            continue;
        }
        // Threads that were started since keep to what their parent kept to.
        if it.keeps_to != *cpus {
            it.group.keep_to(cpus)?;
            if let Some(page) = &it.page {
                page.set_team(cpus.len() as u32)?;
            }
            it.keeps_to.clone_from(cpus);
        }
        if !it.is_thawed {
            it.group.thaw()?;
            it.is_thawed = true;
        }
    }
    Ok(())
}

/// One look of the canary on one of the processors: the programs on the others share what it misses, by their
/// processors. True if that changed what is known.
fn look(running: &mut [Running], chosen: &[Vec<usize>], ground: &Ground<'_>, turn: usize, canary: &mut Canary) -> io::Result<bool> {
    let here = ground.cpus[turn % ground.cpus.len()];
    canary::keep_here(here)?;
    let seen = canary.read(canary::LOOK);
    let others = ground.calibration.others_mbps(seen);
    let n_of = |cpus: &[usize]| cpus.iter().filter(|cpu| **cpu != here).count();
    let n_all: usize = chosen.iter().map(|it| n_of(it)).sum();
    let mut changed = false;
    for (it, cpus) in running.iter_mut().zip(chosen) {
        if n_of(cpus) == 0 {
            continue;
        }
        let mbps = others / n_all as f64;
        let before = it.window_mbps.last().copied();
        changed |= before.is_none_or(|before| (mbps - before).abs() > STEADY * before.max(1000.0));
        it.window_mbps.push(mbps);
        if it.window_mbps.len() > WINDOW {
            it.window_mbps.remove(0);
        }
    }
    Ok(changed)
}
