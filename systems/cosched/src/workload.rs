//! Workload files: which programs run, with how many threads, and what they ask of the memory.
//!
//! ```toml
//! title = "2BT(3)+2CG(1)"
//! programs = "programs.toml"       # or [program.NAME] tables in this file
//!
//! [[run]]
//! sequence = ["BT(3)"]             # one program after the other, each with its threads
//! instances = 2
//! arrival_s = 0.0
//!
//! [program.BT]
//! work_s = 20.0                    # seconds of one thread alone
//! read_mbps = 200                  # what one thread alone asks of its link
//! write_mbps = 100
//! sensitivity = 0.2                # share of its time in which it waits for single answers
//! source = "where the numbers come from"
//! command = ["./bt", "{threads}"]  # for real runs, which look at nothing else here
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span, did_you_mean};
use serde::Deserialize;
use toml::Spanned;

use crate::contention::Demand;

/// Most threads of a workload.
pub const THREADS_MAX: usize = 100_000;
/// Most seconds of work of one program.
const WORK_MAX_S: f64 = 1e5;

/// A piece of a program's work with its own demand.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Where it ends, as a share of the work.
    pub until: f64,
    /// What one thread alone asks for.
    pub demand: Demand,
}

/// A program as it is started.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub name: String,
    /// Threads it asks for.
    pub n_threads: usize,
    /// Seconds that one thread alone would take.
    pub work_s: f64,
    /// Work between two barriers, in seconds of one thread alone.
    pub region_s: f64,
    /// Its team follows the processors it is given.
    pub is_malleable: bool,
    /// It runs as long as the others do, whatever its work, and its time does not count.
    pub is_background: bool,
    /// When it may start.
    pub arrival_s: f64,
    /// It starts when this program ends.
    pub after: Option<usize>,
    /// In order; the last ends at 1.
    pub phases: Vec<Phase>,
    /// How it is started for real.
    pub start: WorkloadStart,
}

/// How a program is started for real.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkloadStart {
    Not,
    /// The program and its arguments.
    Command(Vec<String>),
    /// One of [`KERNELS`], and how many rounds of its work.
    Kernel(&'static str, u32),
}

/// Programs of our own with the access patterns of the paper's.
pub const KERNELS: [&str; 8] = ["BT", "SP", "CG", "MG", "FT", "FLUSH", "BBMA", "nBBMA"];

/// What a workload is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The simulator: with demands, and nothing is started.
    Sim,
    /// Real runs: with commands. Work and demands are not even looked at: the manager
    /// must not know them.
    Real,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Its first line, or the file's name.
    pub title: String,
    /// In the order of the file, chains unrolled.
    pub programs: Vec<Program>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadFile {
    title: String,
    programs: Option<Spanned<String>>,
    #[serde(default)]
    program: BTreeMap<String, Spanned<WorkloadKind>>,
    #[serde(default)]
    run: Vec<Spanned<Run>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kinds {
    program: BTreeMap<String, Spanned<WorkloadKind>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadKind {
    work_s: Option<Spanned<f64>>,
    #[serde(default = "region")]
    region_ms: Spanned<f64>,
    #[serde(default = "yes")]
    malleable: bool,
    #[serde(default)]
    background: bool,
    read_mbps: Option<Spanned<f64>>,
    #[serde(default = "none")]
    write_mbps: Spanned<f64>,
    #[serde(default = "none")]
    sensitivity: Spanned<f64>,
    #[serde(default = "none")]
    footprint_mb: Spanned<f64>,
    #[serde(default = "none")]
    reuse_mbps: Spanned<f64>,
    #[serde(default)]
    phase: Vec<Spanned<PhaseRow>>,
    source: Option<String>,
    command: Option<Spanned<Vec<String>>>,
    kernel: Option<Spanned<String>>,
    rounds: Option<Spanned<u32>>,
}

/// What differs in a phase from its program.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseRow {
    until: Spanned<f64>,
    read_mbps: Option<Spanned<f64>>,
    write_mbps: Option<Spanned<f64>>,
    sensitivity: Option<Spanned<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    sequence: Spanned<Vec<Spanned<String>>>,
    #[serde(default = "one")]
    instances: Spanned<u32>,
    #[serde(default = "none")]
    arrival_s: Spanned<f64>,
}

fn yes() -> bool {
    true
}

fn none() -> Spanned<f64> {
    Spanned::new(0..0, 0.0)
}

fn one() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

/// Between two barriers of the class W benchmarks: hundreds of regions in a run of seconds.
fn region() -> Spanned<f64> {
    Spanned::new(0..0, 20.0)
}

impl Workload {
    /// Reads a workload for the simulator; `open` gives the text of a file that it names.
    ///
    /// Errors: what is wrong, with file, line and what to do.
    pub fn parse(
        name: &str,
        text: &str,
        open: impl Fn(&str) -> Result<String, String>,
    ) -> Result<Workload, Diagnostic> {
        Workload::parse_for(Purpose::Sim, name, text, open)
    }
    ///
    /// Errors: what is wrong, with file, line and what to do.
    pub fn parse_for(
        purpose: Purpose,
        name: &str,
        text: &str,
        open: impl Fn(&str) -> Result<String, String>,
    ) -> Result<Workload, Diagnostic> {
        let reader = Reader(SourceFile::new(name, text));
        let file: WorkloadFile = toml::from_str(text).map_err(|error| reader.syntax(&error))?;
        let mut kinds: BTreeMap<String, (Vec<Phase>, WorkloadStart)> = BTreeMap::new();
        let mut rows: BTreeMap<String, WorkloadKind> = BTreeMap::new();
        if let Some(path) = &file.programs {
            let text = open(path.get_ref()).map_err(|said| {
                reader.fault(format!("`{}`: {said}", path.get_ref()), path.span(), "named here")
            })?;
            let other = Reader(SourceFile::new(path.get_ref().as_str(), text.as_str()));
            let found: Kinds = toml::from_str(&text).map_err(|error| other.syntax(&error))?;
            for (name, kind) in found.program {
                kinds.insert(name.clone(), other.kind(purpose, &kind)?);
                rows.insert(name, kind.into_inner());
            }
        }
        for (name, kind) in file.program {
            kinds.insert(name.clone(), reader.kind(purpose, &kind)?);
            rows.insert(name, kind.into_inner());
        }
        let mut programs: Vec<Program> = Vec::new();
        for run in &file.run {
            let row = run.get_ref();
            let arrival_s = reader.number(&row.arrival_s, 0.0, WORK_MAX_S)?;
            let instances = *row.instances.get_ref();
            if !(1..=THREADS_MAX as u32).contains(&instances) {
                return Err(reader.fault(
                    format!("{instances} instances"),
                    row.instances.span(),
                    "choose 1 or more",
                ));
            }
            if row.sequence.get_ref().is_empty() {
                return Err(reader.fault(
                    "a run of no program",
                    row.sequence.span(),
                    "name at least one, such as \"BT(3)\"",
                ));
            }
            for _ in 0..instances {
                let mut after = None;
                for item in row.sequence.get_ref() {
                    let (name, n_threads) = reader.item(item)?;
                    let (Some(kind), Some((phases, start))) = (rows.get(name), kinds.get(name))
                    else {
                        let fault = reader.fault(
                            format!("there is no program `{name}`"),
                            item.span(),
                            "no [program] table of this name",
                        );
                        let meant = did_you_mean(name, rows.keys().map(String::as_str));
                        return Err(meant.into_iter().fold(fault, Diagnostic::with_help));
                    };
                    programs.push(Program {
                        name: name.to_owned(),
                        n_threads,
                        work_s: if purpose == Purpose::Sim {
                            kind.work_s.as_ref().map_or(0.0, |work_| *work_.get_ref())
                        } else {
                            0.0
                        },
                        region_s: kind.region_ms.get_ref() / 1000.0,
                        is_malleable: kind.malleable,
                        is_background: kind.background,
                        arrival_s,
                        after: after.replace(programs.len()),
                        phases: phases.clone(),
                        start: start.clone(),
                    });
                }
                let n_threads: usize = programs.iter().map(|program| program.n_threads).sum();
                if n_threads > THREADS_MAX {
                    return Err(reader.fault(
                        format!("more than {THREADS_MAX} threads"),
                        run.span().start..run.span().start,
                        "with this run",
                    ));
                }
            }
        }
        if programs.iter().all(|program| program.is_background) {
            return Err(reader.fault(
                "nothing to run",
                0..0,
                "add a [[run]] table of a program that is not in the background",
            ));
        }
        Ok(Workload { title: file.title, programs })
    }

    /// Every program so many times.
    pub fn times(&self, n: usize) -> Workload {
        let mut programs = Vec::new();
        for _ in 0..n {
            let base = programs.len();
            programs.extend(self.programs.iter().map(|program| Program {
                after: program.after.map(|before| base + before),
                ..program.clone()
            }));
        }
        Workload { title: format!("{} x {n}", self.title), programs }
    }

    /// The most threads that may want a processor at once, over the number of processors:
    /// Table 1's last column.
    pub fn multiprogramming_degree(&self, n_cpus: usize) -> f64 {
        // Of a chain one program runs at a time.
        let mut most: Vec<usize> = vec![0; self.programs.len()];
        let mut chain: Vec<usize> = Vec::new();
        for (idx, program) in self.programs.iter().enumerate() {
            chain.push(program.after.map_or(idx, |before| chain[before]));
            most[chain[idx]] = most[chain[idx]].max(program.n_threads);
        }
        most.iter().sum::<usize>() as f64 / n_cpus as f64
    }
}

struct Reader(Arc<SourceFile>);

impl Reader {
    fn fault(&self, message: impl Into<String>, range: Range<usize>, label: &str) -> Diagnostic {
        Diagnostic::new(message).at(Span::new(&self.0, range), label)
    }

    fn syntax(&self, error: &toml::de::Error) -> Diagnostic {
        let said = error.message().lines().next().unwrap_or("it is not TOML");
        let range = error.span().unwrap_or(0..0);
        let first_line = self
            .0
            .text
            .get(range.clone())
            .and_then(|text| text.find('\n'))
            .map_or(range.end, |n| range.start + n);
        match said.strip_prefix("missing field ") {
            Some(key) => {
                self.fault(format!("{key} is missing"), range.start..first_line, "in this table")
            }
            None => self.fault(said, range.start..first_line, "here"),
        }
    }

    fn number(&self, it: &Spanned<f64>, least: f64, most: f64) -> Result<f64, Diagnostic> {
        let value = *it.get_ref();
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(self.fault(format!("{value} is not between {least} and {most}"), it.span(), "here"))
    }

    /// `NAME(n)`, or `NAME` for one thread.
    fn item<'a>(&self, item: &'a Spanned<String>) -> Result<(&'a str, usize), Diagnostic> {
        let text = item.get_ref().as_str();
        let Some((name, rest)) = text.split_once('(') else { return Ok((text, 1)) };
        let n: Option<usize> = rest.strip_suffix(')').and_then(|rest| rest.trim().parse().ok());
        match n {
            Some(n) if (1..=THREADS_MAX).contains(&n) => Ok((name.trim(), n)),
            _ => Err(self.fault(
                format!("`{text}` is no program"),
                item.span(),
                "write NAME(threads), such as \"BT(3)\"",
            )),
        }
    }

    /// What the purpose needs of a program, and nothing else.
    fn kind(
        &self,
        purpose: Purpose,
        kind: &Spanned<WorkloadKind>,
    ) -> Result<(Vec<Phase>, WorkloadStart), Diagnostic> {
        match purpose {
            Purpose::Sim => Ok((self.phases(kind)?, WorkloadStart::Not)),
            Purpose::Real => Ok((Vec::new(), self.start(kind)?)),
        }
    }

    /// That something is missing in a table.
    fn missing(&self, key: &str, kind: &Spanned<WorkloadKind>) -> Diagnostic {
        let range = kind.span();
        let first_line = self
            .0
            .text
            .get(range.clone())
            .and_then(|text| text.find('\n'))
            .map_or(range.end, |n| range.start + n);
        self.fault(format!("`{key}` is missing"), range.start..first_line, "in this table")
    }

    fn start(&self, kind: &Spanned<WorkloadKind>) -> Result<WorkloadStart, Diagnostic> {
        let row = kind.get_ref();
        match (&row.command, &row.kernel) {
            (Some(command), Some(_)) => {
                Err(self.fault("a command and a kernel", command.span(), "keep one of them"))
            }
            (Some(command), None)
                if command.get_ref().iter().next().is_none_or(String::is_empty) =>
            {
                Err(self.fault("a command without a program", command.span(), "here"))
            }
            (Some(command), None) => Ok(WorkloadStart::Command(command.get_ref().clone())),
            (None, Some(kernel)) => {
                let Some(name) = KERNELS.into_iter().find(|it| it == kernel.get_ref()) else {
                    let fault = self.fault(
                        format!("there is no kernel `{}`", kernel.get_ref()),
                        kernel.span(),
                        "here",
                    );
                    return Err(fault.with_help(format!("there are {}", KERNELS.join(", "))));
                };
                Ok(WorkloadStart::Kernel(
                    name,
                    row.rounds.as_ref().map_or(1, |round| *round.get_ref()),
                ))
            }
            (None, None) => Err(self.missing("command", kind).with_help(
                "a real run needs `command = [\"PROGRAM\", \"ARGUMENT\"]`, or a `kernel`",
            )),
        }
    }

    fn phases(&self, kind: &Spanned<WorkloadKind>) -> Result<Vec<Phase>, Diagnostic> {
        const MBPS_MAX: f64 = 1e7;
        let row = kind.get_ref();
        if row.source.as_deref().is_some_and(|source| source.trim().is_empty()) {
            return Err(self.fault(
                "`source` is empty",
                kind.span().start..kind.span().start,
                "say where the numbers come from",
            ));
        }
        let (Some(work_s), Some(read_mbps)) = (&row.work_s, &row.read_mbps) else {
            return Err(
                self.missing(if row.work_s.is_none() { "work_s" } else { "read_mbps" }, kind)
            );
        };
        self.number(work_s, 1e-3, WORK_MAX_S)?;
        self.number(&row.region_ms, 0.1, 1000.0 * WORK_MAX_S)?;
        let whole = Demand {
            read_mbps: self.number(read_mbps, 0.0, MBPS_MAX)?,
            write_mbps: self.number(&row.write_mbps, 0.0, MBPS_MAX)?,
            sensitivity: self.number(&row.sensitivity, 0.0, 1.0)?,
            footprint_mb: self.number(&row.footprint_mb, 0.0, 1e9)?,
            reuse_mbps: self.number(&row.reuse_mbps, 0.0, MBPS_MAX)?,
        };
        let mut phases: Vec<Phase> = Vec::new();
        for it in &row.phase {
            let row = it.get_ref();
            let from = phases.last().map_or(0.0, |phase| phase.until);
            let until = self.number(&row.until, 0.0, 1.0)?;
            if until <= from {
                return Err(self.fault(
                    format!("a phase that ends at {until}, where the one before ends at {from}"),
                    row.until.span(),
                    "here",
                ));
            }
            let or = |it: &Option<Spanned<f64>>, most: f64, otherwise: f64| {
                it.as_ref().map_or(Ok(otherwise), |it| self.number(it, 0.0, most))
            };
            let demand = Demand {
                read_mbps: or(&row.read_mbps, MBPS_MAX, whole.read_mbps)?,
                write_mbps: or(&row.write_mbps, MBPS_MAX, whole.write_mbps)?,
                sensitivity: or(&row.sensitivity, 1.0, whole.sensitivity)?,
                ..whole
            };
            phases.push(Phase { until, demand });
        }
        if phases.last().is_none_or(|phase| phase.until < 1.0) {
            phases.push(Phase { until: 1.0, demand: whole });
        }
        Ok(phases)
    }
}

/// The workloads of the paper's Table 1: name, text.
pub const TABLE_1: [(&str, &str); 9] = [
    ("a1", include_str!("../workloads/table1/a1.toml")),
    ("a2", include_str!("../workloads/table1/a2.toml")),
    ("a3", include_str!("../workloads/table1/a3.toml")),
    ("b1", include_str!("../workloads/table1/b1.toml")),
    ("b2", include_str!("../workloads/table1/b2.toml")),
    ("b3", include_str!("../workloads/table1/b3.toml")),
    ("c1", include_str!("../workloads/table1/c1.toml")),
    ("c2", include_str!("../workloads/table1/c2.toml")),
    ("c3", include_str!("../workloads/table1/c3.toml")),
];

/// The programs that they name.
const TABLE_1_PROGRAMS: &str = include_str!("../workloads/table1/programs.toml");

/// A program of Table 1, for this purpose, beside instances of a microbenchmark of the paper's
/// section 3, or none of them.
///
/// One instance starts before the program and the others after it. With all on one side, four
/// threads and four or eight instances would fall into quanta of their own on four processors and
/// never meet on the bus.
pub fn beside(
    purpose: Purpose,
    program: &str,
    n_threads: usize,
    other: &str,
    instances: usize,
) -> Workload {
    let mut text =
        format!("title = \"{program} beside {instances} {other}\"\nprograms = \"programs.toml\"\n");
    let mut run = |name: &str, n: usize| {
        text.push_str(&format!("[[run]]\nsequence = [\"{name}\"]\ninstances = {n}\n"))
    };
    if instances > 0 {
        run(other, 1);
    }
    run(&format!("{program}({n_threads})"), 1);
    if instances > 1 {
        run(other, instances - 1);
    }
    Workload::parse_for(purpose, "beside", &text, bundled).expect("names of bundled programs")
}

fn bundled(path: &str) -> Result<String, String> {
    if path == "programs.toml" {
        Ok(TABLE_1_PROGRAMS.to_owned())
    } else {
        Err("not bundled".to_owned())
    }
}

/// Table 1 as it is bundled, for the simulator.
pub fn table_1() -> Vec<(&'static str, Workload)> {
    table_1_for(Purpose::Sim)
}

/// Table 1 as it is bundled.
pub fn table_1_for(purpose: Purpose) -> Vec<(&'static str, Workload)> {
    let parse = |(name, text): (&'static str, &str)| {
        (
            name,
            Workload::parse_for(purpose, name, text, bundled)
                .expect("the bundled workloads are right"),
        )
    };
    TABLE_1.map(parse).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(purpose: Purpose, program: &str) -> Result<Workload, String> {
        let text = format!("title = \"t\"\n[[run]]\nsequence = [\"a(2)\"]\n[program.a]\n{program}");
        Workload::parse_for(purpose, "t.toml", &text, |_| Err(String::new()))
            .map_err(|error| error.message)
    }

    #[test]
    fn a_real_run_does_not_know_the_demand() {
        let command = "command = [\"./solver\", \"{threads}\"]\n";
        let plain = parse(Purpose::Real, command).expect("a command is all it needs");
        for demand in [
            "work_s = 9.0\nread_mbps = 900\nwrite_mbps = 400\nsensitivity = 0.5\n",
            "work_s = -1.0\nread_mbps = -900\n[[program.a.phase]]\nuntil = 7.0\n",
        ] {
            let other =
                parse(Purpose::Real, &format!("{command}{demand}")).expect("it is not looked at");
            assert_eq!(other, plain);
        }
        assert_eq!(parse(Purpose::Sim, command), Err("`work_s` is missing".into()));
        assert!(parse(Purpose::Sim, "work_s = 1.0\nread_mbps = -900\n").is_err());
    }

    #[test]
    fn what_a_real_run_lacks_is_said() {
        assert_eq!(
            parse(Purpose::Real, "work_s = 1.0\nread_mbps = 9\n"),
            Err("`command` is missing".into())
        );
        assert_eq!(
            parse(Purpose::Real, "command = []\n"),
            Err("a command without a program".into())
        );
        assert_eq!(
            parse(Purpose::Real, "command = [\"a\"]\nkernel = \"CG\"\n"),
            Err("a command and a kernel".into())
        );
        assert_eq!(
            parse(Purpose::Real, "kernel = \"LU\"\n"),
            Err("there is no kernel `LU`".into())
        );
    }

    #[test]
    fn table_1_can_be_run() {
        for (name, it) in table_1_for(Purpose::Real) {
            assert!(
                it.programs
                    .iter()
                    .all(|program| matches!(program.start, WorkloadStart::Kernel(_, 1..))),
                "{name}"
            );
        }
    }
}
