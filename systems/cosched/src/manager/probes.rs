//! Door: what is measured of programs while they run: links, which programs slow each other down,
//! traffic, threads, which programs rest.

use std::io;
use std::time::{Duration, Instant};

use measure::stats;

use super::estimate::{Beside, Found};
use super::host::Host;
use super::program::{Neighbour, Program};
use super::roster::Roster;
use super::source::Source;

/// Quanta between two looks at the links; twice as many while they stay.
const LINKS_EVERY: u32 = 50;
const LINKS_EVERY_MAX: u32 = 600;
/// Quanta before the first freeze of the others, and between two: a quarter of a quantum in
/// 128 is 0.2 %.
const FREEZE_FIRST: u32 = 8;
const FREEZE_EVERY: u32 = 128;
/// Of a quantum: how long a program is compared with itself, beside the others and alone.
const SLOT: f64 = 0.25;
/// How far from a whole number of processors what a program used may be.
const APART: f64 = 0.2;
/// Fewer counts say nothing.
const COUNTS_MIN: f64 = 8.0;

/// When what is measured next.
#[derive(Debug)]
pub(super) struct Probes {
    links_in: u32,
    links_every: u32,
    freeze_in: u32,
    /// Times that the links changed.
    pub(super) n_moves: u32,
}

/// A program that is compared with itself, from when and which count on.
#[derive(Debug)]
pub(super) struct Comparison {
    id: u64,
    start: Instant,
    before: Option<u64>,
    slot: Duration,
}

impl Comparison {
    /// When it has been seen beside the others for long enough.
    pub(super) fn until(&self) -> Instant {
        self.start + self.slot
    }
}

impl Probes {
    /// Nothing has been measured yet.
    pub(super) fn new() -> Probes {
        Probes {
            links_in: LINKS_EVERY,
            links_every: LINKS_EVERY,
            freeze_in: FREEZE_FIRST,
            n_moves: 0,
        }
    }

    /// A virtual machine's processors move: now and then the round trips are measured,
    /// while nothing else runs.
    pub(super) fn links(&mut self, roster: &Roster, host: &mut Host) -> io::Result<()> {
        self.links_in -= 1;
        if self.links_in > 0 || host.cpus.len() < 2 {
            self.links_in = self.links_in.max(1);
            return Ok(());
        }
        let changed =
            while_frozen(&|| Box::new(roster.running()), || host.topology.look_again(&host.cpus))?;
        self.n_moves += u32::from(changed);
        self.links_every =
            if changed { LINKS_EVERY } else { (2 * self.links_every).min(LINKS_EVERY_MAX) };
        self.links_in = self.links_every;
        Ok(())
    }

    /// Slowdown under freeze begins, if it is time: a program that counts its progress is looked
    /// at beside the others.
    pub(super) fn begin_comparison(
        &mut self,
        roster: &Roster,
        chosen: &[Vec<usize>],
        quantum: Duration,
    ) -> Option<Comparison> {
        self.freeze_in = self.freeze_in.saturating_sub(1);
        let n_running = chosen.iter().filter(|recorded| !recorded.is_empty()).count();
        if self.freeze_in > 0 || n_running < 2 {
            return None;
        }
        let counts = |program: &&Program| program.progress().is_some_and(|progress| progress > 0);
        // The one that was looked at longest ago, as the newest goes to the end.
        let Some(it) = roster
            .running()
            .filter(counts)
            .min_by_key(|running| running.slowdown.map_or(0, |_| running.n_turns))
        else {
            self.freeze_in = FREEZE_FIRST;
            return None;
        };
        Some(Comparison {
            id: it.id,
            start: Instant::now(),
            before: it.progress(),
            slot: quantum.mul_f64(SLOT),
        })
    }

    /// And ends: how much faster it is while the others are frozen.
    pub(super) fn end_comparison(&mut self, of: &Comparison, roster: &mut Roster) {
        let Some(idx) = roster.programs.iter().position(|program| program.id == of.id) else {
            return;
        };
        let rate = |before: Option<u64>, after: Option<u64>, start: Instant| {
            after.zip(before).map(|(after, before)| {
                after.saturating_sub(before) as f64 / start.elapsed().as_secs_f64()
            })
        };
        let beside = rate(of.before, roster.programs[idx].progress(), of.start);
        let alone = while_frozen(
            &|| Box::new(roster.running().filter(|running| running.id != of.id)),
            || {
                let start = Instant::now();
                let before = roster.programs[idx].progress();
                std::thread::sleep(of.slot);
                rate(before, roster.programs[idx].progress(), start)
            },
        );
        self.freeze_in = FREEZE_EVERY;
        if let (Some(beside), Some(alone)) = (beside, alone)
            && beside * of.slot.as_secs_f64() >= COUNTS_MIN
        {
            let slowdown = alone / beside;
            let others: Vec<(u64, String)> = roster
                .running()
                .filter(|running| running.id != of.id)
                .map(|running| (running.id, running.name.clone()))
                .collect();
            let it = &mut roster.programs[idx];
            it.slowdown = Some(slowdown);
            for (id, name) in others {
                if it.neighbours.iter().all(|neighbour| neighbour.id != id) {
                    it.neighbours.push(Neighbour { id, name, slowdown: 0.0, n: 0 });
                }
                it.neighbours
                    .iter_mut()
                    .filter(|neighbour| neighbour.id == id)
                    .for_each(|neighbour| neighbour.add(slowdown));
            }
        }
    }

    /// True if the canary looks in this quantum.
    pub(super) fn is_look_due(host: &mut Host) -> bool {
        if let Source::Estimate(it) = &mut host.source { it.is_due() } else { false }
    }

    /// A look of the canary: what the programs on the other processors move.
    pub(super) fn look(
        roster: &mut Roster,
        host: &mut Host,
        chosen: &[Vec<usize>],
    ) -> io::Result<()> {
        let Source::Estimate(estimate) = &mut host.source else { return Ok(()) };
        let beside = |program: &Program, cpus: &Vec<usize>| Beside {
            cpus: if program.has_ended { Vec::new() } else { cpus.clone() },
            slowdown: program.slowdown,
            before_mbps: (!program.window_mbps.is_empty())
                .then(|| stats::median(&program.window())),
        };
        let programs: Vec<Beside> =
            roster.programs.iter().zip(chosen).map(|(it, cpus)| beside(it, cpus)).collect();
        let found = estimate.look(|_| programs, &host.cpus, &mut host.canary)?;
        Probes::remember(roster, found);
        Ok(())
    }

    /// The same where nothing is kept to a processor: who had the others meanwhile is known by the
    /// clocks of the programs. If some of them had none of ours, or several, nothing was seen.
    pub(super) fn look_at_who_ran(roster: &mut Roster, host: &mut Host) -> io::Result<()> {
        let Source::Estimate(estimate) = &mut host.source else { return Ok(()) };
        let start = Instant::now();
        let clocks: Vec<Option<Duration>> = roster.programs.iter().map(ran).collect();
        let all = &roster.programs;
        let beside = |here: usize| {
            let passed = start.elapsed().as_secs_f64();
            let n_ran: Vec<f64> = all
                .iter()
                .zip(&clocks)
                .map(|(program, before)| {
                    let more =
                        ran(program).zip(*before).map(|(now, then)| now.saturating_sub(then));
                    more.unwrap_or_default().as_secs_f64() / passed
                })
                .collect();
            let others: Vec<usize> = host.cpus.iter().copied().filter(|cpu| *cpu != here).collect();
            let is_clear = n_ran.iter().all(|n| (n - n.round()).abs() < APART)
                && n_ran.iter().sum::<f64>().round() as usize == others.len();
            let mut free = others.into_iter();
            let mut cpus = |n: f64| free.by_ref().take(n.round() as usize).collect();
            all.iter()
                .zip(n_ran)
                .map(|(program, n)| Beside {
                    cpus: if is_clear { cpus(n) } else { Vec::new() },
                    slowdown: None,
                    before_mbps: (!program.window_mbps.is_empty())
                        .then(|| stats::median(&program.window())),
                })
                .collect()
        };
        let found = estimate.look(beside, &host.cpus, &mut host.canary)?;
        Probes::remember(roster, found);
        Ok(())
    }

    fn remember(roster: &mut Roster, found: Vec<Found>) {
        for (program, found) in roster.programs.iter_mut().zip(found) {
            match found {
                Found::Unseen => {}
                Found::Little => program.remember(None),
                Found::Mbps(mbps) => program.remember(Some(mbps)),
            }
        }
    }

    /// What was counted in this quantum.
    pub(super) fn count_traffic(roster: &mut Roster, time: Duration) {
        for it in roster.active_mut() {
            it.count_who_joined();
            // A counter that fails has nothing to say this time.
            let bytes = it.counter.bytes().unwrap_or(None);
            if let (Some(before), Some(now), true) =
                (it.bytes_before, bytes, it.is_thawed && !it.is_resting)
            {
                let n_cpus = if it.is_kept {
                    it.keeps_to.len().max(1) as f64
                } else {
                    // Where the kernel places it, by what it used.
                    it.usage.used(&it.group)
                };
                if n_cpus < SLOT {
                    it.bytes_before = bytes;
                    continue;
                }
                it.remember(Some(
                    now.saturating_sub(before) as f64 / 1e6 / time.as_secs_f64() / n_cpus,
                ));
            }
            it.bytes_before = bytes;
        }
    }

    /// At the end of a turn: programs that said no number of threads are counted with those that
    /// run. True if one has others than before.
    pub(super) fn count_threads(roster: &mut Roster, n_cpus: usize) -> bool {
        let mut has_changed = false;
        for it in roster
            .active_mut()
            .filter(|active| active.is_counted && active.is_thawed && !active.is_resting)
            .filter(|active| !active.is_soft)
        {
            let wanted = match &it.page {
                // Its team is as large as we let it be, so it shows no more threads than that.
                Some(page) if page.is_followed() => Some(n_cpus),
                _ => it.usage.threads_wanted(&it.group, it.keeps_to.len(), n_cpus),
            };
            has_changed |=
                wanted.is_some_and(|wanted| wanted != std::mem::replace(&mut it.n_threads, wanted));
        }
        has_changed
    }

    /// Programs whose threads sleep give up their turns, and stay thawed on all processors.
    pub(super) fn let_rest(roster: &mut Roster, cpus: &[usize]) {
        let mut has_changed = false;
        for it in roster.active_mut().filter(|active| active.is_thawed && !active.is_resting) {
            if it.usage.rests(&it.group) && it.keep_to(cpus).is_ok() {
                it.usage.begin(&it.group);
                it.is_resting = true;
                it.waits = 0;
                has_changed = true;
            }
        }
        roster.is_stale |= has_changed;
    }

    /// Programs that rested and compute much take turns again: some of them are looked at, in turn.
    pub(super) fn wake(roster: &mut Roster) {
        let resting: Vec<usize> = (0..roster.programs.len())
            .filter(|idx| roster.programs[*idx].rests_by_itself())
            .collect();
        for at in roster.resting.next(resting.len()) {
            let it = &mut roster.programs[resting[at]];
            it.is_resting = !it.usage.is_awake(&it.group);
        }
    }
}

/// Processor time of all processes of a program.
fn ran(program: &Program) -> Option<Duration> {
    let members = program.group.members().ok().filter(|_| !program.has_ended)?;
    Some(ran_by(members.iter().map(|member| member.pid)))
}

/// The same of these.
pub(super) fn ran_by(pids: impl Iterator<Item = i32>) -> Duration {
    let clock = |pid: i32| {
        let clock = nix::time::clock_getcpuclockid(nix::unistd::Pid::from_raw(pid)).ok()?;
        nix::time::clock_gettime(clock).ok().map(Duration::from)
    };
    pids.filter_map(clock).sum()
}

/// Freezes programs for the time of `work`. One that cannot be frozen disturbs it; all
/// are thawed after it.
fn while_frozen<'a, T>(
    programs: &dyn Fn() -> Box<dyn Iterator<Item = &'a Program> + 'a>,
    work: impl FnOnce() -> T,
) -> T {
    programs().for_each(|program| drop(program.group.freeze()));
    let done = work();
    programs().for_each(|program| drop(program.group.thaw()));
    done
}
