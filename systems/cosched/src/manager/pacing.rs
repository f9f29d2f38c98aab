//! Door: who is looked at when, for how fast it goes through its memory: one program at a time, in
//! a thread of its own, for 1 % of the time in the long run.

use std::time::{Duration, Instant};

use super::class::Class;
use super::pages::{self, Sample};
use super::program::Program;
use super::roster::Roster;
use super::sweep::{self, LOOKS_AT, Look, Pace, Scan, Unknown};

/// A program this young still sets up its data.
const YOUNG: Duration = Duration::from_secs(1);
/// How many times what a look cost it is until the next one; looks in a row may take what this much
/// time without any has saved.
const COST: u32 = 100;
const SAVED: Duration = Duration::from_secs(300);
/// Until the same program is looked at again; sooner if nothing could be told of it.
const AGAIN: Duration = Duration::from_secs(300);
const SOON: Duration = Duration::from_secs(5);
/// The first look comes after so much processor time, each further one after [`LATER`] times as
/// much, at most this.
const FIRST_CPU: Duration = Duration::from_millis(2);
const MOST_CPU: Duration = Duration::from_secs(16);
const LATER: f64 = 1.5;
/// Longer by the clock, for the processor time that is waited for, is given up: it hardly computes.
const PATIENCE: u32 = 4;
/// Which processes compute is seen over this time: those that use more of a processor.
const SHARE_OVER: Duration = Duration::from_millis(200);
const COMPUTES: f64 = 0.1;
/// Of the sample: what is touched between two looks after which nothing more is.
const NO_MORE: f64 = 0.02;
/// Kernel time, as a share of a program's: more, and it may move data that no page of its own shows.
const KERNEL: f64 = 0.1;
/// Processes of one program that are looked at.
const PROCESSES: usize = 16;

/// Whether somebody is looked at, and how long nobody should be, for what looks cost.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    is_busy: bool,
    owed: Duration,
    began: Option<Instant>,
}

impl Pacing {
    /// Begins with the program whose turn it is to be looked at, if it is time: its number goes to
    /// `tell`, which makes what then hears of its pace, and for how long nobody should be looked at.
    /// Or gives back the number of one that is too small: to look, to wait for that and to hear of
    /// it would cost those beside it for nothing.
    pub(super) fn begin<Tell>(
        &mut self,
        roster: &Roster,
        tell: impl FnOnce(u64) -> Tell,
    ) -> Option<u64>
    where
        Tell: FnOnce(Result<Pace, Unknown>, Duration) + Send + 'static,
    {
        let passed = self.began.replace(Instant::now()).map_or(Duration::ZERO, |at| at.elapsed());
        self.owed = self.owed.saturating_sub(passed);
        if self.is_busy || self.owed > SAVED {
            return None;
        }
        let due = roster.active().filter(|program| is_due(program));
        let next = due.min_by_key(|program| program.pace.looked())?;
        let mut processes: Vec<(u64, i32)> = next
            .group
            .members()
            .unwrap_or_default()
            .iter()
            .map(|member| (member.used, member.pid))
            .collect();
        if processes.iter().all(|(_, pid)| pages::is_small(*pid)) {
            return Some(next.id);
        }
        let tell = tell(next.id);
        processes.sort_unstable();
        let all = processes.len();
        let pids: Vec<i32> =
            processes.into_iter().rev().take(PROCESSES).map(|(_, pid)| pid).collect();
        let look = move || {
            let found = if all > PROCESSES {
                Err(Unknown::Refused(format!("it has more than {PROCESSES} processes")))
            } else {
                all_of(&pids)
            };
            tell(found, COST * pages::thread_time());
        };
        let thread = std::thread::Builder::new().name("pacing".to_owned());
        self.is_busy = thread.spawn(look).is_ok();
        None
    }

    /// One was looked at, for which nobody should be for so long.
    pub(super) fn ended(&mut self, pause: Duration) {
        self.is_busy = false;
        self.owed += pause;
    }
}

fn is_due(program: &Program) -> bool {
    program.started.elapsed() > YOUNG
        && program.is_thawed
        && !program.is_suspended
        && program.class != Class::Latency
        // Of what sleeps between its computations nothing depends on the rate, and a look delays it.
        && program.readiness.verdict().computes
        && program.pace.is_old(Instant::now(), AGAIN, SOON)
}

/// The pace of a program on each processor that it computes on, by all its processes that do.
fn all_of(pids: &[i32]) -> Result<Pace, Unknown> {
    let clocks = || pids.iter().map(|pid| processor_time(*pid)).collect::<Vec<_>>();
    let (start, before) = (Instant::now(), clocks());
    std::thread::sleep(SHARE_OVER);
    let passed = start.elapsed().as_secs_f64();
    let shares = before.into_iter().zip(clocks()).map(|(before, after)| {
        let used = after.zip(before).map(|(after, before)| after.saturating_sub(before));
        used.unwrap_or_default().as_secs_f64() / passed
    });
    let computes = pids.iter().zip(shares).filter(|(_, share)| *share > COMPUTES);
    let found: Vec<(Pace, f64)> =
        computes.map(|(pid, share)| Ok((one(*pid)?, share))).collect::<Result<_, Unknown>>()?;
    let all: f64 = found.iter().map(|(_, share)| share).sum();
    let mean = |of: fn(&Pace) -> f64| {
        found.iter().map(|(pace, share)| of(pace) * share).sum::<f64>() / all
    };
    if found.is_empty() {
        return Err(Unknown::Idle);
    }
    Ok(Pace {
        mbps: mean(|pace| pace.mbps),
        low: mean(|pace| pace.low),
        high: mean(|pace| pace.high),
    })
}

fn processor_time(pid: i32) -> Option<Duration> {
    let clock = nix::time::clock_getcpuclockid(nix::unistd::Pid::from_raw(pid)).ok()?;
    nix::time::clock_gettime(clock).ok().map(Duration::from)
}

/// The pace of one process.
fn one(pid: i32) -> Result<Pace, Unknown> {
    let mut sample = Sample::of(pid)?;
    let before = sample.ticks()?;
    let pass = sweep::pass_s(&until_still(&mut sample)?, sample.sizes())?;
    let look_s = sample.look.as_secs_f64();
    let scans: Vec<Scan> = (0..sweep::n_scans(pass, look_s))
        .map(|_| scan_of(&mut sample, pass))
        .collect::<Result<_, Unknown>>()?;
    let after = sample.ticks()?;
    let (user, kernel) = (after.0 - before.0, after.1 - before.1);
    if kernel > KERNEL * (user + kernel) {
        return Err(Unknown::Kernel);
    }
    sweep::pace(&scans, sample.sizes(), look_s)
}

/// Looks after more and more processor time, until nothing more is touched.
fn until_still(sample: &mut Sample) -> Result<Vec<Look>, Unknown> {
    sample.forget()?;
    let mut looks = vec![sample.look()?];
    let mut cpu = FIRST_CPU;
    while cpu <= MOST_CPU {
        wait(sample, cpu)?;
        looks.push(sample.look()?);
        sweep::check_growth(&looks, sample.sizes())?;
        let mut last = looks.windows(2).rev().map(|pair| pair[1].touched - pair[0].touched);
        let is_still =
            |more: Option<f64>| more.is_some_and(|more| more < NO_MORE * sample.sizes().sample);
        let has_moved = looks.last().is_some_and(|last| last.touched > looks[0].touched);
        if has_moved && is_still(last.next()) && is_still(last.next()) {
            return Ok(looks);
        }
        // No sooner than the last look was over.
        let used = looks.last().map_or(0.0, |look| look.cpu_s);
        cpu = cpu.max(Duration::from_secs_f64(used)).mul_f64(LATER);
    }
    Err(Unknown::Slow)
}

/// One scan; a pass takes so many seconds of processor time.
fn scan_of(sample: &mut Sample, pass_s: f64) -> Result<Scan, Unknown> {
    sample.forget()?;
    let mut looks = Scan::default();
    for (look, at) in looks.iter_mut().zip(LOOKS_AT) {
        wait(sample, Duration::from_secs_f64(at * pass_s))?;
        *look = sample.look()?;
    }
    Ok(looks)
}

/// Until the process has had so much processor time since its sample was forgotten.
fn wait(sample: &Sample, cpu: Duration) -> Result<(), Unknown> {
    let deadline = Instant::now() + PATIENCE * cpu + SHARE_OVER;
    loop {
        let left = cpu.saturating_sub(sample.since()?);
        if left.is_zero() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(Unknown::Idle);
        }
        std::thread::sleep(left);
    }
}
