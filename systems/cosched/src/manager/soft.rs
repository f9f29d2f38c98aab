//! Door: soft turns: which programs compute, whether turns pay, and who is made ready to wait in
//! the idle class. Where they do not pay every program is where it was before it came.

use std::time::Duration;

use super::class::Class;
use super::host::Host;
use super::idle::Demotable;
use super::journal;
use super::pays::{Asks, Judgement, Known, Pays};
use super::program::Program;
use super::ready::Verdict;
use super::roster::Roster;

/// Programs that are looked at in a quantum, in turn: of 120 each for every verdict, of a thousand
/// for a verdict in four seconds. Fewer where no thread of the machine waits for a processor: who
/// computes then needs nobody's turn, and is only counted.
const LOOKS: usize = 24;
const FEW_LOOKS: usize = 8;

/// What came of the last quantum.
#[derive(Debug, Default)]
pub(super) struct Soft {
    pays: Pays,
    pub(super) judgement: Judgement,
    pub(super) is_cutting: bool,
}

impl Soft {
    /// At the beginning of a quantum: true if turns are cut in it. Then those that take part can be
    /// demoted, and the others rest as far as the policy sees it.
    pub(super) fn begin(&mut self, roster: &mut Roster, host: &Host, quantum: Duration) -> bool {
        self.is_cutting = false;
        let known = host.capacity_mbps().is_some();
        // A group of another's may have a way of its own.
        let is_there_a_way =
            host.idle.is_ok() || roster.active().any(|program| program.group.is_foreign());
        if !known || !is_there_a_way {
            self.judgement = if known { Judgement::NoWay } else { Judgement::NoCapacity };
            return false;
        }
        look_at_each(roster, host.cpus.len());
        let asks: Vec<Asks> = roster.active().filter(|it| takes_part(it)).map(asks).collect();
        let (pays, why) = self.pays.judge(&Known {
            n_cpus: host.cpus.len(),
            n_links: host.topology.links.len(),
            capacity_mbps: host.capacity_mbps(),
            programs: &asks,
            quantum,
            longest_wait: host.longest_wait,
        });
        self.judgement = why;
        if pays {
            self.judgement = make_ready(roster, host);
            self.is_cutting = self.judgement == Judgement::Cut;
        }
        self.is_cutting
    }

    /// True if what programs move is worth a look: more compute than there are processors.
    pub(super) fn is_in_question(&self) -> bool {
        !matches!(
            self.judgement,
            Judgement::Begins
                | Judgement::Fits
                | Judgement::NoCapacity
                | Judgement::TooMany
                | Judgement::NoWay
                | Judgement::Apart
        )
    }

    /// True if it may be another one soon.
    pub(super) fn is_watching(&self) -> bool {
        !matches!(self.judgement, Judgement::NoCapacity | Judgement::NoWay | Judgement::Apart)
    }

    /// No turn is cut any more.
    pub(super) fn leave(&mut self, roster: &mut Roster, cpus: &[usize]) {
        self.is_cutting = false;
        roster
            .active_mut()
            .filter(|program| program.is_soft && program.limit.is_none())
            .for_each(|program| program.leave_to_the_kernel(cpus));
    }
}

/// Its owner's word counts before what is seen.
fn takes_part(it: &Program) -> bool {
    let Verdict { computes, n_ready } = it.readiness.verdict();
    !it.is_suspended
        && !it.is_adrift
        && match it.class {
            Class::Auto => computes,
            Class::Latency => false,
            Class::Batch => computes || n_ready > 0,
        }
}

fn asks(it: &Program) -> Asks {
    Asks { n_threads: it.n_threads, mbps: it.window().last().copied() }
}

/// Programs that were not kept from running: what they are by what they did.
pub(super) fn look_at_each(roster: &mut Roster, n_cpus: usize) {
    let running: Vec<usize> = (0..roster.programs.len())
        .filter(|idx| {
            let it = &roster.programs[*idx];
            !it.has_ended && it.is_thawed && it.class != Class::Latency
        })
        .collect();
    let most = if roster.crowd.look(n_cpus) { LOOKS } else { FEW_LOOKS };
    for at in roster.resting.few(running.len(), most) {
        let it = &mut roster.programs[running[at]];
        let verdict = it.readiness.look(&it.group);
        if it.is_counted && verdict.n_ready > 0 {
            it.n_threads = verdict.n_ready.min(n_cpus);
        }
    }
}

/// Makes those that take part ready to be demoted, and lets the others go; whether
/// turns are cut among them.
fn make_ready(roster: &mut Roster, host: &Host) -> Judgement {
    let manager = host.hierarchy.path.file_name().unwrap_or_default().to_string_lossy();
    let is_kept = host.topology.links.len() > 1;
    for it in roster.active_mut() {
        it.lift();
        if !takes_part(it) {
            it.leave_to_the_kernel(&host.cpus);
            it.is_resting = true;
            continue;
        }
        if it.demotable.is_none() {
            let (name, record) =
                (format!("{manager}-program-{}", it.id), journal::idle_path(&host.pages, it.id));
            match Demotable::make(&host.idle, &it.group, &name, &record) {
                Ok(made) => (it.demotable, it.cannot_wait) = (Some(made), None),
                Err(error) => it.cannot_wait = Some(error.to_string()),
            }
        }
        it.is_resting = it.demotable.is_none();
        it.is_kept = is_kept && !it.is_resting && !it.group.is_foreign();
    }
    let ready: Vec<&Program> = roster.active().filter(|it| !it.is_resting).collect();
    let homes = ready.iter().filter_map(|it| it.demotable.as_ref()).map(Demotable::scheduled_in);
    let is_one_home = homes.clone().all(|home| Some(home) == homes.clone().next());
    if ready.iter().map(|program| program.n_threads).sum::<usize>() <= host.cpus.len() {
        return Judgement::NoWay;
    }
    if is_one_home { Judgement::Cut } else { Judgement::Apart }
}
