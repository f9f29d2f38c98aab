//! Door: `meanwhile cosched probe`: which processors share a link, what it carries, and whether choosing would gain.

use std::path::Path;
use std::time::Duration;

use cosched::manager::canary::{Calibration, Canary, SHARED_FROM, calibrate};
use cosched::manager::group::Hierarchy;
use report::{Cell, Kind, Table};
use serde_json::json;

use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched probe`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Looks for each pair, and how long each takes.
const LOOKS: usize = 21;
const LOOK: Duration = Duration::from_millis(2);

/// How bandwidth can be known here.
#[derive(Debug)]
pub struct Source {
    /// `perf`, `resctrl` or `estimate`.
    pub name: &'static str,
    /// Why this one.
    pub reason: String,
}

/// The best source that this machine has; the manager reads only `estimate` so far.
pub fn source() -> Source {
    if Path::new("/sys/fs/resctrl/mon_data").is_dir() {
        return Source { name: "resctrl", reason: "resctrl is mounted and monitors memory bandwidth".into() };
    }
    if Path::new("/sys/bus/event_source/devices/cpu").is_dir() {
        return Source { name: "perf", reason: "the kernel has hardware events of the processor".into() };
    }
    let reason = "no resctrl is mounted and the kernel has no hardware events, as in most virtual machines";
    Source { name: "estimate", reason: reason.into() }
}

/// The processors that this process may use.
pub fn cpus() -> Vec<usize> {
    let set = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0));
    let is_set = |cpu: &usize| set.as_ref().is_ok_and(|set| set.is_set(*cpu).unwrap_or(false));
    (0..nix::sched::CpuSet::count()).filter(is_set).collect()
}

/// Each processor beside the first of each link so far: the links, and what was measured.
#[derive(Debug)]
pub struct Links {
    /// Processors of each link.
    pub links: Vec<Vec<usize>>,
    /// Pairs that were measured.
    pub pairs: Vec<(usize, usize, Calibration)>,
}

/// Measures which processors share links.
pub fn links(cpus: &[usize], canary: &mut Canary) -> Result<Links, Failure> {
    let mut links: Vec<Vec<usize>> = Vec::new();
    let mut pairs = Vec::new();
    for &cpu in cpus {
        let mut found = None;
        for (idx, link) in links.iter().enumerate() {
            let it = calibrate(canary, cpu, link[0], LOOKS, LOOK)
                .map_err(|error| Failure::environment(format!("run on processor {cpu}"), error))?;
            pairs.push((link[0], cpu, it));
            if it.slowdown() >= SHARED_FROM {
                found = Some(idx);
                break;
            }
        }
        match found {
            Some(idx) => links[idx].push(cpu),
            None => links.push(vec![cpu]),
        }
    }
    Ok(Links { links, pairs })
}

/// Runs the command.
pub fn run(_args: &Args, out: &mut Output) -> Result<(), Failure> {
    let cpus = cpus();
    let mut canary = Canary::new();
    let found = links(&cpus, &mut canary)?;
    let source = source();
    let freezer = Hierarchy::create(&format!("meanwhile-probe-{}", std::process::id())).map(|it| {
        let _ = it.remove();
        it.freezer.name()
    });
    let note = format!(
        "two processors that slow each other's reads down by {SHARED_FROM} or more share a link; {LOOKS} looks of {} ms",
        LOOK.as_millis()
    );
    let mut table = Table::new("Links", &["processors", "alone MB/s", "beside MB/s", "slowdown", "share"]).kind(Kind::Measured).note(note);
    for (a, b, it) in &found.pairs {
        table.push(vec![
            Cell::words(format!("{a}, {b}")),
            Cell::number(format!("{:.0}", it.alone_mbps)),
            Cell::number(format!("{:.0}", it.beside_mbps)),
            Cell::number(format!("{:.2}", it.slowdown())),
            Cell::words(if it.slowdown() >= SHARED_FROM { "a link" } else { "nothing" }),
        ]);
    }
    out.text(&table.terminal(None));
    let would_gain = found.links.iter().any(|it| it.len() > 1);
    let read =
        found.pairs.iter().filter(|it| it.2.slowdown() >= SHARED_FROM).map(|it| it.2.beside_mbps + it.2.reader_mbps).fold(0.0, f64::max);
    let capacity = would_gain.then_some(read / 1000.0);
    out.line(&format!("bandwidth of programs: {} ({})", source.name, source.reason));
    match &freezer {
        Ok(name) => out.line(&format!("programs are stopped by: {name}")),
        Err(said) => out.warning(&format!("no freezer: {said}")),
    }
    out.line(if would_gain {
        "Programs that share a link can gain from being chosen together by their demand."
    } else {
        "No two processors share a link now: there is nothing to gain. A virtual machine's processors move; probe again later."
    });
    out.object(&json!({
        "ok": true,
        "kind": "measured",
        "source": source.name,
        "reason": source.reason,
        "links": found.links,
        "capacity_gbps": {"read": capacity, "write": null, "mixed": null},
        "would_gain": would_gain,
        "freezer": freezer.ok(),
    }));
    Ok(())
}
