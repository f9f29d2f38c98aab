//! What is known of the traffic of programs: counters where there are some, else the canary.

use super::canary::Calibration;
use super::estimate::Estimate;
use super::perf;
use super::resctrl::Monitor;

/// The sources, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The processor counts reads and writes for groups of threads.
    Resctrl,
    /// Misses of the last-level cache, counted for each thread.
    Perf,
    Estimate,
    /// What their owners say, `--mbps`; nothing is measured. Only if it is asked for.
    Told,
}

impl Kind {
    /// The sources, the best first.
    pub const ALL: [Kind; 4] = [Kind::Resctrl, Kind::Perf, Kind::Estimate, Kind::Told];

    /// As on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Kind::Resctrl => "resctrl",
            Kind::Perf => "perf",
            Kind::Estimate => "estimate",
            Kind::Told => "told",
        }
    }
}

/// A source that was chosen.
#[derive(Debug)]
pub enum Source {
    /// Counts for control groups of resctrl.
    Resctrl(Monitor),
    Perf,
    Estimate(Estimate),
    /// Nothing is measured.
    Told,
}

impl Source {
    /// The processor counts the traffic of each program.
    pub fn counts(&self) -> bool {
        matches!(self, Source::Resctrl(_) | Source::Perf)
    }
}

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub kind: Kind,
    /// Why this one: what the better ones said.
    pub reason: String,
}

impl Choice {
    /// Says it where an estimate has nothing to go by.
    pub fn note_blindness(&mut self, calibration: Option<Calibration>) {
        if self.kind == Kind::Estimate && calibration.is_none() {
            self.reason += "; not known here: no two processors share a link that two readers fill";
        }
    }
}

/// The best source that works here, or the wanted one if it does.
///
/// Errors: why the wanted one does not work here.
pub fn choose(wanted: Option<Kind>) -> Result<Choice, String> {
    let tries = [(Kind::Resctrl, Monitor::probe()), (Kind::Perf, perf::probe())];
    let mut said = Vec::new();
    for (kind, works) in tries {
        match works {
            Ok(()) if wanted.is_none_or(|wanted| wanted == kind) => {
                said.push(format!("{} works", kind.text()));
                return Ok(Choice { kind, reason: said.join("; ") });
            }
            Ok(()) => {}
            Err(reason) if wanted == Some(kind) => return Err(reason),
            Err(reason) => said.push(format!("no {}: {reason}", kind.text())),
        }
    }
    if let Some(kind @ (Kind::Estimate | Kind::Told)) = wanted {
        return Ok(Choice { kind, reason: "it was asked for".to_owned() });
    }
    Ok(Choice { kind: Kind::Estimate, reason: said.join("; ") })
}

/// The source itself; `calibration` is what the canary finds, if it sees anything.
///
/// Errors: what it said.
pub fn open(kind: Kind, calibration: Option<Calibration>) -> Result<Source, String> {
    match kind {
        Kind::Resctrl => Monitor::open().map(Source::Resctrl).map_err(|error| error.to_string()),
        Kind::Perf => Ok(Source::Perf),
        Kind::Estimate => Ok(Source::Estimate(Estimate::new(calibration))),
        Kind::Told => Ok(Source::Told),
    }
}
