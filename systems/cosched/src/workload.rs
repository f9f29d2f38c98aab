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
    /// Its name.
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
}

/// A workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// What it is.
    pub title: String,
    /// In the order of the file, chains unrolled.
    pub programs: Vec<Program>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    programs: Option<Spanned<String>>,
    #[serde(default)]
    program: BTreeMap<String, Spanned<Kind>>,
    #[serde(default)]
    run: Vec<Spanned<Run>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kinds {
    program: BTreeMap<String, Spanned<Kind>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    work_s: Spanned<f64>,
    #[serde(default = "region")]
    region_ms: Spanned<f64>,
    #[serde(default = "yes")]
    malleable: bool,
    #[serde(default)]
    background: bool,
    read_mbps: Spanned<f64>,
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
    /// Reads a workload; `open` gives the text of a file that it names.
    ///
    /// # Errors
    /// What is wrong, with file, line and what to do.
    pub fn parse(name: &str, text: &str, open: impl Fn(&str) -> Result<String, String>) -> Result<Workload, Diagnostic> {
        let reader = Reader(SourceFile::new(name, text));
        let file: File = toml::from_str(text).map_err(|error| reader.syntax(&error))?;
        let mut kinds: BTreeMap<String, Vec<Phase>> = BTreeMap::new();
        let mut rows: BTreeMap<String, Kind> = BTreeMap::new();
        if let Some(path) = &file.programs {
            let text =
                open(path.get_ref()).map_err(|said| reader.fault(format!("`{}`: {said}", path.get_ref()), path.span(), "named here"))?;
            let other = Reader(SourceFile::new(path.get_ref().as_str(), text.as_str()));
            let found: Kinds = toml::from_str(&text).map_err(|error| other.syntax(&error))?;
            for (name, kind) in found.program {
                kinds.insert(name.clone(), other.phases(&kind)?);
                rows.insert(name, kind.into_inner());
            }
        }
        for (name, kind) in file.program {
            kinds.insert(name.clone(), reader.phases(&kind)?);
            rows.insert(name, kind.into_inner());
        }
        let mut programs: Vec<Program> = Vec::new();
        for run in &file.run {
            let row = run.get_ref();
            let arrival_s = reader.number(&row.arrival_s, 0.0, WORK_MAX_S)?;
            let instances = *row.instances.get_ref();
            if !(1..=THREADS_MAX as u32).contains(&instances) {
                return Err(reader.fault(format!("{instances} instances"), row.instances.span(), "choose 1 or more"));
            }
            if row.sequence.get_ref().is_empty() {
                return Err(reader.fault("a run of no program", row.sequence.span(), "name at least one, such as \"BT(3)\""));
            }
            for _ in 0..instances {
                let mut after = None;
                for item in row.sequence.get_ref() {
                    let (name, n_threads) = reader.item(item)?;
                    let (Some(kind), Some(phases)) = (rows.get(name), kinds.get(name)) else {
                        let fault = reader.fault(format!("there is no program `{name}`"), item.span(), "no [program] table of this name");
                        let meant = did_you_mean(name, rows.keys().map(String::as_str)).map(|it| format!("did you mean `{it}`?"));
                        return Err(meant.into_iter().fold(fault, Diagnostic::with_help));
                    };
                    programs.push(Program {
                        name: name.to_owned(),
                        n_threads,
                        work_s: *kind.work_s.get_ref(),
                        region_s: kind.region_ms.get_ref() / 1000.0,
                        is_malleable: kind.malleable,
                        is_background: kind.background,
                        arrival_s,
                        after: after.replace(programs.len()),
                        phases: phases.clone(),
                    });
                }
                let n_threads: usize = programs.iter().map(|it| it.n_threads).sum();
                if n_threads > THREADS_MAX {
                    return Err(reader.fault(
                        format!("more than {THREADS_MAX} threads"),
                        run.span().start..run.span().start,
                        "with this run",
                    ));
                }
            }
        }
        if programs.iter().all(|it| it.is_background) {
            return Err(reader.fault("nothing to run", 0..0, "add a [[run]] table of a program that is not in the background"));
        }
        Ok(Workload { title: file.title, programs })
    }

    /// Every program so many times.
    pub fn times(&self, n: usize) -> Workload {
        let mut programs = Vec::new();
        for _ in 0..n {
            let base = programs.len();
            programs.extend(self.programs.iter().map(|it| Program { after: it.after.map(|before| base + before), ..it.clone() }));
        }
        Workload { title: format!("{} x {n}", self.title), programs }
    }

    /// The most threads that may want a processor at once, over the number of processors: Table 1's last column.
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
        let first_line = self.0.text.get(range.clone()).and_then(|it| it.find('\n')).map_or(range.end, |n| range.start + n);
        match said.strip_prefix("missing field ") {
            Some(key) => self.fault(format!("{key} is missing"), range.start..first_line, "in this table"),
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
        let n: Option<usize> = rest.strip_suffix(')').and_then(|it| it.trim().parse().ok());
        match n {
            Some(n) if (1..=THREADS_MAX).contains(&n) => Ok((name.trim(), n)),
            _ => Err(self.fault(format!("`{text}` is no program"), item.span(), "write NAME(threads), such as \"BT(3)\"")),
        }
    }

    fn phases(&self, kind: &Spanned<Kind>) -> Result<Vec<Phase>, Diagnostic> {
        const MBPS_MAX: f64 = 1e7;
        let row = kind.get_ref();
        if row.source.as_deref().is_some_and(|it| it.trim().is_empty()) {
            return Err(self.fault("`source` is empty", kind.span().start..kind.span().start, "say where the numbers come from"));
        }
        self.number(&row.work_s, 1e-3, WORK_MAX_S)?;
        self.number(&row.region_ms, 0.1, 1000.0 * WORK_MAX_S)?;
        let whole = Demand {
            read_mbps: self.number(&row.read_mbps, 0.0, MBPS_MAX)?,
            write_mbps: self.number(&row.write_mbps, 0.0, MBPS_MAX)?,
            sensitivity: self.number(&row.sensitivity, 0.0, 1.0)?,
            footprint_mb: self.number(&row.footprint_mb, 0.0, 1e9)?,
            reuse_mbps: self.number(&row.reuse_mbps, 0.0, MBPS_MAX)?,
        };
        let mut phases: Vec<Phase> = Vec::new();
        for it in &row.phase {
            let row = it.get_ref();
            let from = phases.last().map_or(0.0, |it| it.until);
            let until = self.number(&row.until, 0.0, 1.0)?;
            if until <= from {
                return Err(self.fault(
                    format!("a phase that ends at {until}, where the one before ends at {from}"),
                    row.until.span(),
                    "here",
                ));
            }
            let or =
                |it: &Option<Spanned<f64>>, most: f64, otherwise: f64| it.as_ref().map_or(Ok(otherwise), |it| self.number(it, 0.0, most));
            let demand = Demand {
                read_mbps: or(&row.read_mbps, MBPS_MAX, whole.read_mbps)?,
                write_mbps: or(&row.write_mbps, MBPS_MAX, whole.write_mbps)?,
                sensitivity: or(&row.sensitivity, 1.0, whole.sensitivity)?,
                ..whole
            };
            phases.push(Phase { until, demand });
        }
        if phases.last().is_none_or(|it| it.until < 1.0) {
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

/// A program of Table 1 beside instances of a microbenchmark of the paper's section 3, or none of them.
pub fn beside(program: &str, n_threads: usize, other: &str, instances: usize) -> Workload {
    let mut text = format!(
        "title = \"{program} beside {instances} {other}\"\nprograms = \"programs.toml\"\n[[run]]\nsequence = [\"{program}({n_threads})\"]\n"
    );
    if instances > 0 {
        text.push_str(&format!("[[run]]\nsequence = [\"{other}\"]\ninstances = {instances}\n"));
    }
    Workload::parse("beside", &text, bundled).expect("names of bundled programs")
}

fn bundled(path: &str) -> Result<String, String> {
    if path == "programs.toml" { Ok(TABLE_1_PROGRAMS.to_owned()) } else { Err("not bundled".to_owned()) }
}

/// Table 1 as it is bundled.
pub fn table_1() -> Vec<(&'static str, Workload)> {
    let parse = |(name, text): (&'static str, &str)| (name, Workload::parse(name, text, bundled).expect("the bundled workloads are right"));
    TABLE_1.map(parse).into()
}
