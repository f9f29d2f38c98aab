//! Cycles a byte of emitted C: which combinations are measured, one measurement, and what the
//! original compiler had.

use std::path::{Path, PathBuf};
use std::time::Duration;

use machine::Machine;
use measure::pairs::{Paired, Summary};
use measure::stats::{self, Interval};
use measure::tool::ToolError;
use measure::{clock, quiet};
use serde::Serialize;

use crate::counts;
use crate::emit_c::Arch;
use crate::library::{primitive, primitives};
use crate::native::{self, Cc};
use crate::options::{Schedule, Slicing, Unroll};
use crate::port_bound;
use crate::recipe::{Made, Recipe};
use crate::unit::Subject;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Config {
    /// Name of the primitive.
    pub primitive: String,
    /// How it is sliced.
    pub slicing: Slicing,
    pub arch: Arch,
    pub cc: Cc,
    pub opt: &'static str,
    /// Which loops are written out.
    pub unroll: Unroll,
    pub schedule: Schedule,
}

impl Config {
    /// In a few words, for a progress bar.
    pub fn text(&self) -> String {
        format!(
            "{} {} {} {}",
            self.primitive,
            self.slicing.letter(),
            self.arch.name(),
            self.cc.name()
        )
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    /// Median of the runs: time-stamp cycles for each byte of output.
    pub cycles_per_byte: f64,
    /// 95 % interval of the median.
    pub low: f64,
    /// 95 % interval of the median.
    pub high: f64,
    pub runs: usize,
    /// Equations of the C file.
    pub equations: usize,
    /// The lower bound of the processor.
    #[serde(flatten)]
    pub bound: Bound,
}

/// Model: the least time of the executed instructions, from the units of the machine file; or the
/// reason why it is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// Time-stamp cycles for each byte of output.
    #[serde(rename = "bound_cycles_per_byte")]
    pub cycles_per_byte: Option<f64>,
    /// The units that limit it, or `issue`.
    #[serde(rename = "bound_by")]
    pub by: Option<String>,
    /// Why there is none.
    #[serde(rename = "bound_missing", skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What bounds are computed from.
#[derive(Debug, Clone)]
pub struct Processor {
    /// The machine file of the processor that this runs on, or why there is none.
    pub machine: Result<Machine, String>,
    /// Cycles of the core in a time-stamp cycle, measured.
    pub core_cycles_per_tick: f64,
}

impl Processor {
    /// The processor that this runs on.
    pub fn here() -> Processor {
        let machine = match measure::machine::processor() {
            None => {
                Err("the system does not name the processor's vendor, family and model".to_owned())
            }
            Some(it) => Machine::of_processor(&it.vendor, it.family, it.model).ok_or_else(|| {
                format!(
                    "no machine file describes {}, family {}, model {}",
                    it.vendor, it.family, it.model
                )
            }),
        };
        Processor { machine, core_cycles_per_tick: clock::core_cycles_per_tick() }
    }

    /// The bound of one call of a program that makes `bytes` bytes of output.
    pub fn bound(&self, program: &Path, arch: Arch, bytes: f64) -> Bound {
        let found = self.machine.clone().and_then(|machine| {
            let executed = counts::executed(program, arch).map_err(|error| error.said)?;
            port_bound::bound(&machine, &executed.instructions)
        });
        match found {
            Ok(it) => {
                let cycles_per_byte = Some(it.cycles / self.core_cycles_per_tick / bytes);
                Bound { cycles_per_byte, by: Some(it.by), missing: None }
            }
            Err(why) => Bound { cycles_per_byte: None, by: None, missing: Some(why) },
        }
    }
}

/// Equations above which the C compilers would need many minutes.
pub const EQUATIONS_MAX: usize = 16_000;

/// The combinations of the report: one variant of each of the 17 primitives.
pub fn configs(quick: bool, names: &[String]) -> Vec<Config> {
    const VARIANTS: [&str; 11] = [
        "aes-192",
        "aes-256",
        "aes-128-decrypt",
        "aes-192-decrypt",
        "aes-256-decrypt",
        "serpent-128-decrypt",
        "rectangle-128",
        "skinny-128-128",
        "skinny-128-384",
        "subterranean-round",
        "subterranean-duplex",
    ];
    const QUICK: [&str; 6] =
        ["aes-128", "ascon-p12", "chacha20", "gift-128", "rectangle-80", "serpent-128"];
    let mut all = Vec::new();
    let bundled = primitives().iter().map(|primitive| primitive.name.clone());
    let files = names.iter().filter(|name| primitive(name).is_none()).cloned();
    for name in bundled.chain(files) {
        let wanted = if names.is_empty() {
            !VARIANTS.contains(&name.as_str())
        } else {
            names.contains(&name)
        };
        if !wanted || (quick && names.is_empty() && !QUICK.contains(&name.as_str())) {
            continue;
        }
        let Ok(subject) = Subject::named(&name) else { continue };
        for slicing in subject.slicings(None) {
            for arch in Arch::measured() {
                for cc in Cc::ALL {
                    for unroll in [Unroll::No, Unroll::Yes] {
                        let in_quick =
                            cc == Cc::Clang && unroll == Unroll::No && arch != Arch::X86_64;
                        if !quick || in_quick {
                            let primitive = name.clone();
                            all.push(Config {
                                primitive,
                                slicing,
                                arch,
                                cc,
                                opt: "-O3",
                                unroll,
                                schedule: Schedule::Auto,
                            });
                        }
                    }
                }
            }
        }
    }
    all
}

/// How a program is sampled: how often, and how long a sample waits for a quiet machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    pub n_pairs: usize,
    /// How long a sample waits for other programs to stop.
    pub patience: Duration,
}

impl Sampling {
    /// Fifteen pairs, ten seconds.
    pub const FULL: Sampling = Sampling { n_pairs: 15, patience: Duration::from_secs(10) };
    /// Five pairs at once.
    pub const QUICK: Sampling = Sampling { n_pairs: 5, patience: Duration::ZERO };
}

/// Launches of which a sample keeps the fastest: the addresses of stack and arrays are chance, and
/// can change the time by half.
pub const N_LAUNCHES: usize = 3;

/// Compiles one combination; `None` if it is too large. The program is kept, so a
/// later call is quick.
pub fn build(config: &Config) -> Result<Option<(Made, PathBuf)>, ToolError> {
    let Ok(subject) = Subject::named(&config.primitive) else { return Ok(None) };
    let mut recipe = Recipe::new(config.slicing, config.arch, config.cc, config.unroll, config.opt);
    recipe.schedule = config.schedule;
    let Ok(made) = recipe.make(&subject) else { return Ok(None) };
    if made.n_equations() > EQUATIONS_MAX {
        return Ok(None);
    }
    let program = recipe.build(&made)?;
    Ok(Some((made, program)))
}

/// Measures one combination with as many runs of its program as `sampling` has pairs; `None` if
/// it is too large.
pub fn measure(
    config: &Config,
    sampling: Sampling,
    processor: &Processor,
) -> Result<Option<Measured>, ToolError> {
    let Some((made, program)) = build(config)? else { return Ok(None) };
    let (runs, equations) = (sampling.n_pairs, made.n_equations());
    let bytes = made.bytes_per_call(config.arch) as f64;
    let calls = calls_for(&program)?;
    let mut samples = Vec::with_capacity(runs);
    for _ in 0..runs {
        quiet::wait(sampling.patience);
        let mut least = f64::MAX;
        for _ in 0..N_LAUNCHES {
            least = least.min(native::bench(&program, 64, calls)?);
        }
        samples.push(least / bytes);
    }
    let Interval { value, low, high, .. } = stats::median_interval(&samples, 0.95);
    let bound = processor.bound(&program, config.arch, bytes);
    Ok(Some(Measured { cycles_per_byte: value, low, high, runs, equations, bound }))
}

/// Two numbers that each launch of a program measures in turn inside one process. A sample is the
/// least of some launches, divided by `bytes`. Samples do not wait for a quiet machine.
pub fn launches_in_turn(
    sampling: Sampling,
    bytes: f64,
    mut launch: impl FnMut() -> Result<(f64, f64), ToolError>,
) -> Result<Summary, ToolError> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..sampling.n_pairs {
        let mut least = (f64::MAX, f64::MAX);
        for _ in 0..N_LAUNCHES {
            let now = launch()?;
            least = (least.0.min(now.0), least.1.min(now.1));
        }
        a.push(least.0 / bytes);
        b.push(least.1 / bytes);
    }
    Ok(Paired { a, b }.summary())
}

/// A number of calls that take some hundred thousand cycles together.
pub fn calls_for(program: &Path) -> Result<u32, ToolError> {
    let once = native::bench(program, 20, 1)?;
    Ok((300_000.0 / once.max(1.0)).clamp(1.0, 10_000.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_without_machine_file_has_no_bound_and_says_why() {
        let processor = Processor {
            machine: Err("no machine file describes it".to_owned()),
            core_cycles_per_tick: 1.0,
        };
        let bound = processor.bound(Path::new("/nothing"), Arch::Avx2, 16.0);
        let row = serde_json::to_value(&bound).expect("plain data");
        assert!(row["bound_cycles_per_byte"].is_null() && row["bound_by"].is_null(), "{row}");
        assert_eq!(row["bound_missing"], "no machine file describes it");
    }

    #[test]
    fn a_program_that_cannot_be_stepped_has_no_bound_and_says_why() {
        let machine = Ok(Machine::bundled("zen4").expect("it is bundled"));
        let processor = Processor { machine, core_cycles_per_tick: 1.0 };
        let bound = processor.bound(Path::new("/nothing"), Arch::X86_64, 16.0);
        assert_eq!((bound.cycles_per_byte, bound.by), (None, None));
        assert!(bound.missing.is_some_and(|missing| missing.contains("No such file")));
    }

    #[test]
    fn a_faster_core_clock_needs_fewer_time_stamp_cycles() {
        let config = Config {
            primitive: "rectangle-80".to_owned(),
            slicing: Slicing::Bit,
            arch: Arch::X86_64,
            cc: Cc::Gcc,
            opt: "-O2",
            unroll: Unroll::No,
            schedule: Schedule::Auto,
        };
        if !crate::counts::can_step("bounds", &["gcc"], Arch::X86_64) {
            return;
        }
        let (_, program) =
            build(&config).unwrap_or_else(|error| panic!("{error}")).expect("it is small");
        let bound = |core_cycles_per_tick: f64| {
            let machine = Ok(Machine::bundled("zen4").expect("it is bundled"));
            let bound =
                Processor { machine, core_cycles_per_tick }.bound(&program, Arch::X86_64, 16.0);
            bound.cycles_per_byte.unwrap_or_else(|| panic!("{bound:?}"))
        };
        assert!(bound(1.0) > 0.0 && (bound(1.0) / bound(1.25) - 1.25).abs() < 1e-9);
    }
}
