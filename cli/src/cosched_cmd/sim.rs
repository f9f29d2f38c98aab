//! Door: `meanwhile cosched sim`: workloads under policies on a simulated machine.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use cosched::assumptions::{Assumptions, SWITCHES};
use cosched::contention::{Base, Model};
use cosched::machine::{Capacity, Machine, PAPER_MBPS};
use cosched::policies::{Name, Settings};
use cosched::sim::{self, Outcome};
use cosched::timeline;
use cosched::workload::{self, Purpose, Workload};
use report::svg::Chart as _;
use report::{Cell, Kind, Table, did_you_mean};
use serde_json::{Value, json};

use super::policy::PolicyArgs;
use crate::choice::one_of;
use crate::output::{Failure, Output, write_file};

/// Arguments of `meanwhile cosched sim`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Workload files; without any, the nine of the paper's Table 1, which have names as
    /// well: a1 to c3.
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Policies, with commas between, or all.
    #[arg(long, value_name = "NAMES", default_value = "all", value_parser = policies)]
    policy: Policies,
    #[command(flatten)]
    how: Simulated,
    /// Write which program ran where, and how much of the links was used, of the last workload.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// What is assumed of the machine and its programs besides, with commas between: churn,
    /// cold-caches, no-affinity, spinning, one-by-one.
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true, value_parser = assume)]
    assume: Assumed,
}

/// Policies as a value of the command line.
#[derive(Debug, Clone)]
struct Policies(Vec<Name>);

/// Assumptions as a value of the command line.
#[derive(Debug, Clone, Copy)]
struct Assumed(Assumptions);

/// The simulated machine, and the numbers of the policies.
#[derive(Debug, Clone, clap::Args)]
pub struct Simulated {
    /// Processors.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    cpus: u32,
    /// Links to the memory; neighbouring processors share one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    links: u32,
    /// What a link carries, MB/s: one number, or reads, writes and both
    /// together with commas between.
    #[arg(long, value_name = "MBPS", default_value_t = PAPER_MBPS.to_string())]
    capacity: String,
    /// How threads slow each other down.
    #[arg(long, value_name = "MODEL", default_value = "m2", value_parser = base())]
    model: Base,
    /// M3: standard deviation over mean of a thread's traffic.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    burst: f64,
    /// M4: last-level cache of a link in MB, from which threads push each other.
    #[arg(long, value_name = "MB", default_value_t = 0.0)]
    cache: f64,
    #[command(flatten)]
    policy: PolicyArgs,
}

impl Simulated {
    /// The machine, the model and the settings.
    pub fn made(&self) -> Result<(Machine, Model, Settings), Failure> {
        if self.links > self.cpus {
            return Err(Failure::user(
                format!("{} links for {} processors", self.links, self.cpus),
                Some("choose fewer links"),
            ));
        }
        let numbers: Vec<f64> = self
            .capacity
            .split(',')
            .filter_map(|part| part.trim().parse().ok())
            .filter(|it| *it > 0.0 && *it < 1e9)
            .collect();
        let n_parts = self.capacity.split(',').count();
        let link = match (n_parts, numbers.as_slice()) {
            (1, [bus]) => Capacity::bus(*bus),
            (3, [read, write, mixed]) => {
                Capacity { read_mbps: *read, write_mbps: *write, mixed_mbps: *mixed }
            }
            _ => {
                return Err(Failure::user(
                    format!("`{}` is no capacity", self.capacity),
                    Some("write 1797, or 49000,42000,67000"),
                ));
            }
        };
        if !(0.0..=2.0).contains(&self.burst) || !(0.0..=1e6).contains(&self.cache) {
            return Err(Failure::user("--burst is 0 to 2, --cache 0 to 1000000", None));
        }
        let mut machine = Machine::even(self.cpus as usize, self.links as usize, link);
        machine.cache_mb = self.cache;
        let model = Model { base: self.model, burst: self.burst, is_cached: self.cache > 0.0 };
        Ok((machine, model, self.policy.settings()))
    }
}

fn policies(names: &str) -> Result<Policies, String> {
    if names == "all" {
        return Ok(Policies(Name::ALL.into()));
    }
    names.split(',').map(|part| policy_named(part.trim())).collect::<Result<_, _>>().map(Policies)
}

fn assume(names: &str) -> Result<Assumed, String> {
    let all: Vec<&str> = names.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let known = SWITCHES.map(|switch| switch.name);
    match all.iter().find(|word| !known.contains(word)) {
        Some(name) => {
            Err(format!("there is no assumption `{name}`; there are {}", known.join(", ")))
        }
        None => Ok(Assumed(Assumptions::named(&all))),
    }
}

/// A policy that can manage this machine's programs: all but those that model a kernel.
pub fn policy() -> impl TypedValueParser<Value = Name> {
    let shown = |name: &Name| PossibleValue::new(name.text()).hide(*name == Name::LinuxNow);
    PossibleValuesParser::new(Name::ALL.iter().map(shown)).try_map(|text| {
        match policy_named(&text)? {
            Name::LinuxNow => {
                Err("that is a model for the simulator; `linux` leaves everything to \
                                   this kernel"
                    .to_owned())
            }
            name => Ok(name),
        }
    })
}

fn policy_named(name: &str) -> Result<Name, String> {
    let known: Vec<&str> = Name::ALL.iter().map(|it| it.text()).collect();
    Name::from_text(name).ok_or_else(|| match did_you_mean(name, known.iter().copied()) {
        Some(meant) => format!("there is no policy `{name}`; {meant}"),
        None => format!("there is no policy `{name}`; there are {}", known.join(", ")),
    })
}

fn base() -> impl TypedValueParser<Value = Base> {
    one_of(Base::ALL, |it| it.name())
}

/// A workload under each policy.
pub struct Runs {
    /// Name of the workload.
    pub name: String,
    /// In the order asked for.
    pub outcomes: Vec<(Name, Outcome)>,
}

impl Runs {
    /// Percent of the time that `policy` saves over `other`; none if one of them did not run.
    pub fn over(&self, policy: Name, other: Name) -> Option<f64> {
        let mean = |name: Name| {
            self.outcomes.iter().find(|outcome| outcome.0 == name).map(|outcome| outcome.1.mean_s())
        };
        Some(100.0 * (1.0 - mean(policy)? / mean(other)?))
    }
}

/// Runs a workload under policies.
pub fn runs(
    name: &str,
    workload: &Workload,
    names: &[Name],
    made: &(Machine, Model, Settings),
    assumed: Assumptions,
) -> Runs {
    let (machine, model, settings) = made;
    let settings = Settings { no_affinity: assumed.no_affinity, ..*settings };
    let one = |name: &Name| {
        (
            *name,
            sim::run_assuming(workload, machine, *model, name.policy(settings).as_mut(), assumed),
        )
    };
    Runs { name: name.to_owned(), outcomes: names.iter().map(one).collect() }
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let made = args.how.made()?;
    let workloads = if args.workloads.is_empty() {
        workload::table_1().into_iter().map(|(name, it)| (name.to_owned(), it)).collect()
    } else {
        args.workloads
            .iter()
            .map(|workload| load(workload, Purpose::Sim))
            .collect::<Result<Vec<_>, _>>()?
    };
    let names = &args.policy.0;
    let bar = out.progress(workloads.len() as u64);
    let mut all = Vec::new();
    for (name, workload) in &workloads {
        bar.set_message(name.clone());
        all.push(runs(name, workload, names, &made, args.assume.0));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let rows: Vec<Value> = all.iter().flat_map(rows).collect();
    out.text(&table(&all).terminal(None));
    if let (Some(path), Some((name, workload)), Some(last)) =
        (&args.svg, workloads.last(), all.last())
    {
        write_pictures(path, name, workload, made.0.n_cpus(), last)?;
        out.line(&format!("pictures: {}", path.display()));
    }
    out.object(&json!({"ok": true, "kind": "sim", "model": made.1.base.name(), "cpus": made.0.n_cpus(), "links": made.0.links.len(), "rows": rows}));
    Ok(())
}

/// A workload of Table 1 by its name, or one from a file.
pub fn load(name: &str, purpose: Purpose) -> Result<(String, Workload), Failure> {
    if let Some((known, text)) =
        workload::table_1_for(purpose).into_iter().find(|pair| pair.0 == name)
    {
        return Ok((known.to_owned(), text));
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path).map_err(|error| {
        let meant = did_you_mean(name, workload::TABLE_1.map(|table_1| table_1.0));
        Failure::user(format!("cannot read `{name}`: {error}"), meant.as_deref())
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let open = |other: &str| {
        std::fs::read_to_string(folder.join(other)).map_err(|error| error.to_string())
    };
    let workload = Workload::parse_for(purpose, name, &text, open)
        .map_err(|fault| Failure::User(vec![fault]))?;
    let short = path.file_stem().map_or(name.to_owned(), |it| it.to_string_lossy().into_owned());
    Ok((short, workload))
}

/// The rows of `--json`.
pub fn rows(it: &Runs) -> Vec<Value> {
    let row = |(name, outcome): &(Name, Outcome)| {
        json!({
            "workload": it.name,
            "policy": name.text(),
            "turnaround_s_mean": outcome.mean_s(),
            "over_linux_pct": it.over(*name, Name::Linux),
            "over_rr_pct": it.over(*name, Name::Rr),
            "over_dss_pct": it.over(*name, Name::Dss),
            "over_lqg_pct": it.over(*name, Name::Lqg),
            "longest_wait_quanta": outcome.longest_wait_quanta,
            "decision_age_quanta": outcome.decision_age_quanta,
            "bus_utilisation": outcome.bus_utilisation,
            "quanta_idle": outcome.quanta_idle,
        })
    };
    it.outcomes.iter().map(row).collect()
}

/// All runs as one table.
pub fn table(all: &[Runs]) -> Table {
    let columns = [
        "workload",
        "policy",
        "turnaround s",
        "over linux %",
        "over rr %",
        "over dss %",
        "over lqg %",
        "longest wait",
        "age",
        "bus %",
        "idle",
    ];
    let note = "turnaround: mean over the programs; over: percent of the other's time that is saved; wait, age, idle in quanta of 100 ms";
    let mut table = Table::new("Workloads under policies", &columns).kind(Kind::Sim).note(note);
    let percent = |it: Option<f64>| Cell::number(it.map_or(String::new(), |it| format!("{it:.1}")));
    for runs in all {
        for (name, outcome) in &runs.outcomes {
            table.push(vec![
                Cell::words(&runs.name),
                Cell::words(name.text()),
                Cell::number(format!("{:.2}", outcome.mean_s())),
                percent(runs.over(*name, Name::Linux)),
                percent(runs.over(*name, Name::Rr)),
                percent(runs.over(*name, Name::Dss)),
                percent(runs.over(*name, Name::Lqg)),
                Cell::number(format!("{:.1}", outcome.longest_wait_quanta)),
                Cell::number(format!("{:.2}", outcome.decision_age_quanta)),
                Cell::number(format!("{:.0}", 100.0 * outcome.bus_utilisation)),
                Cell::number(format!("{:.0}", outcome.quanta_idle)),
            ]);
        }
    }
    table
}

/// One file with the chart of use over time and a Gantt chart for each policy.
fn write_pictures(
    path: &Path,
    name: &str,
    workload: &Workload,
    n_cpus: usize,
    runs: &Runs,
) -> Result<(), Failure> {
    let lines: Vec<(String, &Outcome)> =
        runs.outcomes.iter().map(|(policy, it)| (policy.text().to_owned(), it)).collect();
    let mut charts =
        vec![timeline::use_over_time(&format!("{name}: use of the links"), &lines).svg()];
    for (policy, outcome) in &runs.outcomes {
        charts.push(
            timeline::gantt(
                &format!("{name}: programs on processors under {}", policy.text()),
                workload,
                n_cpus,
                outcome,
            )
            .svg(),
        );
    }
    let stacked = report::svg::stacked(&charts);
    write_file(path, stacked)
}
