//! What is known of the traffic of programs: counters where there are some, else the canary.

use super::canary::Calibration;
use super::estimate::Estimate;
use super::perf;
use super::resctrl::Monitor;

/// The sources, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// The processor counts reads and writes for groups of threads.
    Resctrl,
    /// Misses of the last-level cache, counted for each thread.
    Perf,
    /// The canary.
    Estimate,
}

impl Name {
    /// As on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Name::Resctrl => "resctrl",
            Name::Perf => "perf",
            Name::Estimate => "estimate",
        }
    }

    /// The source of this name.
    pub fn from_text(text: &str) -> Option<Name> {
        [Name::Resctrl, Name::Perf, Name::Estimate].into_iter().find(|it| it.text() == text)
    }
}

/// A source that was chosen.
#[derive(Debug)]
pub enum Source {
    /// Counts for control groups of resctrl.
    Resctrl(Monitor),
    /// Counts for threads.
    Perf,
    /// The canary.
    Estimate(Estimate),
}

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The source.
    pub name: Name,
    /// Why this one: what the better ones said.
    pub reason: String,
}

/// The best source that works here, or the wanted one if it does.
///
/// # Errors
/// Why the wanted one does not work here.
pub fn choose(wanted: Option<Name>) -> Result<Choice, String> {
    let tries = [(Name::Resctrl, Monitor::probe()), (Name::Perf, perf::probe())];
    let mut said = Vec::new();
    for (name, works) in tries {
        match works {
            Ok(()) if wanted.is_none_or(|it| it == name) => {
                said.push(format!("{} works", name.text()));
                return Ok(Choice { name, reason: said.join("; ") });
            }
            Ok(()) => {}
            Err(reason) if wanted == Some(name) => return Err(reason),
            Err(reason) => said.push(format!("no {}: {reason}", name.text())),
        }
    }
    if wanted == Some(Name::Estimate) {
        said = vec!["it was asked for".to_owned()];
    }
    Ok(Choice { name: Name::Estimate, reason: said.join("; ") })
}

/// The source itself.
///
/// # Errors
/// What it said.
pub fn open(name: Name, calibration: Option<Calibration>) -> Result<Source, String> {
    let nothing = Calibration { alone_mbps: 1.0, beside_mbps: 1.0, reader_mbps: 0.0 };
    match name {
        Name::Resctrl => Monitor::open().map(Source::Resctrl).map_err(|error| error.to_string()),
        Name::Perf => Ok(Source::Perf),
        Name::Estimate => Ok(Source::Estimate(Estimate::new(calibration.unwrap_or(nothing)))),
    }
}
