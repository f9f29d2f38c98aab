//! Door: what all programs together may move, where there is nothing to choose: as many compute as
//! there are processors, or fewer, so whoever runs, all do. The loudest are limited to a share of
//! their processors; only on request, and only where the rate of each is known.

use std::io;

use measure::stats;

use super::class::Class;
use super::host::Host;
use super::idle::Demotable;
use super::journal;
use super::limit::{self, Limit};
use super::program::Program;
use super::roster::Roster;
use super::soft;

/// What came of the last quantum, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum AtMost {
    /// Nobody asked for it.
    #[default]
    Off,
    Limited,
    /// All of them together move less.
    Below,
    NoRate,
    /// More compute than there are processors: choosing is what helps.
    Choice,
    /// One that would have to be limited cannot be.
    NoWay,
}

impl AtMost {
    /// Why somebody is limited or nobody, in a few words.
    pub(super) fn text(self) -> Option<&'static str> {
        Some(match self {
            AtMost::Off => return None,
            AtMost::Limited => "the loudest are limited",
            AtMost::Below => "the programs move no more than that",
            AtMost::NoRate => "nobody is limited: what the programs move is not known",
            AtMost::Choice => "nobody is limited: more compute than there are processors",
            AtMost::NoWay => "a program that moves too much cannot be limited",
        })
    }

    /// Limits whom it has to, and lets all others go; true if somebody is limited.
    pub(super) fn apply(&mut self, roster: &mut Roster, host: &Host) -> bool {
        let Some(at_most) = host.at_most_mbps else { return false };
        soft::look_at_each(roster, host.cpus.len());
        let wanted: Vec<f64> = match judge(roster, host.cpus.len(), at_most) {
            Ok(shares) => shares,
            Err(why) => {
                *self = why;
                roster.active_mut().for_each(Program::lift);
                return false;
            }
        };
        *self = AtMost::Below;
        for (it, share) in roster.active_mut().zip(wanted) {
            if share >= 1.0 {
                it.lift();
                continue;
            }
            match limit(it, host, share) {
                Ok(()) if *self == AtMost::NoWay => {}
                Ok(()) => *self = AtMost::Limited,
                Err(error) => {
                    it.lift();
                    it.cannot_limit = Some(error.to_string());
                    *self = AtMost::NoWay;
                }
            }
        }
        roster.active().any(|program| program.limit.is_some())
    }
}

/// The share of each program that has not ended.
fn judge(roster: &Roster, n_cpus: usize, at_most: f64) -> Result<Vec<f64>, AtMost> {
    let computes = |program: &Program| {
        !program.is_suspended
            && program.class != Class::Latency
            && program.readiness.verdict().computes
    };
    let all: Vec<&Program> = roster.active().collect();
    let n_threads: usize =
        all.iter().filter(|program| computes(program)).map(|program| program.n_threads).sum();
    if n_threads > n_cpus {
        return Err(AtMost::Choice);
    }
    let rate = |program: &&Program| {
        // Programs that sleep between their computations are load, which nobody limits.
        if !computes(program) {
            return Some(0.0);
        }
        let seen = program.window();
        (!seen.is_empty()).then(|| stats::median(&seen) * program.n_threads as f64)
    };
    let rates = all.iter().map(rate).collect::<Option<Vec<f64>>>().ok_or(AtMost::NoRate)?;
    Ok(limit::shares(&rates, at_most))
}

fn limit(it: &mut Program, host: &Host, share: f64) -> io::Result<()> {
    let refused = |why: String| io::Error::new(io::ErrorKind::Unsupported, why);
    if it.demotable.is_none() {
        let manager = host.hierarchy.path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{manager}-program-{}", it.id);
        let record = journal::idle_path(&host.pages, it.id);
        it.demotable = Some(Demotable::make(&host.idle, &it.group, &name, &record)?);
    }
    let groups = it.demotable.as_ref().map(Demotable::groups).unwrap_or_default();
    if groups.is_empty() {
        return Err(refused("it has no group of its own for the cpu controller".to_owned()));
    }
    let record = journal::limit_path(&host.pages, it.id);
    if it.limit.is_none() {
        it.limit = Some(Limit::make(groups, record)?);
    }
    it.cannot_limit = None;
    it.limit.as_mut().expect("it was just made").set(share, it.n_threads)
}
