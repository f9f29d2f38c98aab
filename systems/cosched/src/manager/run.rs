//! Door: a foreground run: programs that start at their times and take their turns until the last
//! one has ended.

use std::io;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::host::Host;
use super::program::{Ended, Task};
use super::signals;
use super::source::Source;
use super::turns::Turns;
use crate::policies::Name;

/// A program and when it starts.
#[derive(Debug, Clone)]
pub struct Planned {
    pub task: Task,
    /// Seconds from the start of all.
    pub arrival_s: f64,
    /// It starts when this one has ended.
    pub after: Option<usize>,
    /// It runs as long as the others do, and is ended then.
    pub is_background: bool,
}

/// What a run showed.
#[derive(Debug, Clone)]
pub struct Report {
    /// In the order of the plan; none for programs in the background.
    pub ended: Vec<Option<Ended>>,
    /// Microseconds that each change of programs took, freezing to thawing.
    pub switch_us: Vec<f64>,
    /// Seconds that the canary took altogether.
    pub canary_s: f64,
    /// Seconds of processor time that the manager took, the canary included.
    pub own_cpu_s: f64,
    /// Seconds from the start to the end of all.
    pub wall_s: f64,
    pub n_decisions: u64,
    /// Times that the links changed.
    pub n_moves: u32,
}

/// Seconds of processor time of this process.
fn cpu_s() -> f64 {
    let it = getrusage(UsageWho::RUSAGE_SELF).expect("a process may ask for its own use");
    (it.user_time().num_microseconds() + it.system_time().num_microseconds()) as f64 / 1e6
}

fn canary_s(host: &Host) -> f64 {
    if let Source::Estimate(it) = &host.source { it.spent.as_secs_f64() } else { 0.0 }
}

/// Runs the programs to their ends under `policy`; under `linux` the kernel decides alone.
pub fn run(plan: &[Planned], host: &mut Host, policy: Name) -> io::Result<Report> {
    signals::note()?;
    let (cpu_before, canary_before) = (cpu_s(), canary_s(host));
    let mut turns = Turns::new(host, policy);
    let start = Instant::now();
    let mut ids: Vec<Option<u64>> = vec![None; plan.len()];
    let mut ended: Vec<Option<Ended>> = vec![None; plan.len()];
    while plan.iter().zip(&ended).any(|(it, ended)| !it.is_background && ended.is_none()) {
        let mut next: Option<Instant> = None;
        for idx in 0..plan.len() {
            let it = &plan[idx];
            let may_start = it.after.is_none_or(|before| ended[before].is_some());
            if ids[idx].is_some() || !may_start {
                continue;
            }
            let at = start + Duration::from_secs_f64(it.arrival_s);
            if at <= Instant::now() {
                ids[idx] = Some(turns.start(&it.task)?);
            } else {
                next = Some(next.map_or(at, |number| number.min(at)));
            }
        }
        turns.turn(next)?;
        if signals::arrived().is_some() {
            turns.end_all()?;
            return Err(io::ErrorKind::Interrupted.into());
        }
        while let Some(it) = turns.take_ended() {
            let idx =
                ids.iter().position(|id| *id == Some(it.id)).expect("only planned programs run");
            ended[idx] = Some(it);
        }
    }
    let wall_s = start.elapsed().as_secs_f64();
    for (_, id) in plan.iter().zip(&ids).filter(|(it, _)| it.is_background) {
        if let Some(id) = *id {
            while turns.is_active(id) {
                turns.kill(id)?;
                turns.turn(None)?;
            }
        }
    }
    let background = plan.iter().map(|it| it.is_background);
    let ended = ended
        .into_iter()
        .zip(background)
        .map(|(it, is_background)| it.filter(|_| !is_background))
        .collect();
    let (switch_us, n_decisions, n_moves) = (turns.switch_us(), turns.n_decisions, turns.n_moves());
    drop(turns);
    Ok(Report {
        ended,
        switch_us,
        canary_s: canary_s(host) - canary_before,
        own_cpu_s: cpu_s() - cpu_before,
        wall_s,
        n_decisions,
        n_moves,
    })
}
