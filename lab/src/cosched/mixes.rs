//! Door: Mixes of programs drawn by chance, plain and managed in turn: no program may be slower or
//! answer later than without a manager, by more than two plain runs differ.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

use cosched::manager::process;
use cosched::manager::program::Expected;
use cosched::manager::run::Planned;
use cosched::manager::signals;
use cosched::manager::startup::Manager;
use cosched::policies::Name;
use meanwhile::cosched_cmd::host::{HostArgs, Role, failed};
use measure::{stats, tool};
use report::page::Block;
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::{Value, json};
use terminal::output::{Failure, Output};

use super::bench::{compile, planned};
use crate::store::Store;
use crate::study::{self, Study};

/// Arguments of `meanwhile-lab run cosched-mixes`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Mixes; each runs three times.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    mixes: u32,
    /// Seconds of each run.
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    seconds: f64,
    /// Where the mixes come from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Four mixes of a second and a half: whether it works, not what it shows.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    host: HostArgs,
    /// Evidence file to write after each mix; one that is there is gone on with.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Programs at a time.
const PROGRAMS: std::ops::RangeInclusive<usize> = 2..=40;
/// Percent of the time in which a program would compute, alone.
const DUTIES: std::ops::RangeInclusive<u32> = 5..=100;
const ALL_THE_TIME: u32 = 100;
/// Milliseconds from one sleep to the next.
const PERIODS_MS: std::ops::RangeInclusive<u32> = 4..=20;
/// Of those with memory. All of them together stay below a gigabyte.
pub(super) const MEMORY_MB: u32 = 24;
/// MB of a step through memory.
pub(super) const STEP_MB: f64 = 0.065_536;
/// What a program may lose beyond what plain runs differ by, and how much later it may answer.
const SLOWER: f64 = 0.02;
const LATER: f64 = 1.2;
/// Seconds that the start of a program takes at most.
const START_S: f64 = 0.06;
/// Two plain runs differ by less for this share of the programs.
const NOISE: f64 = 0.99;

#[derive(Debug, Clone, Copy, Serialize)]
struct Duty {
    percent: u32,
    period_ms: u32,
    mb: u32,
}

/// What identifies a row.
#[derive(Debug, Clone, Serialize)]
pub struct Mix {
    mix: u32,
    seed: u64,
    seconds: f64,
    turns: &'static str,
    /// As the user said it.
    capacity_mbps: Option<f64>,
}

/// What a program did: steps a second, and the 99th percentile of the milliseconds of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Did {
    steps: f64,
    p99_ms: f64,
    /// Seconds too late that it began.
    late_s: f64,
}

/// Steps a second of a program alone, without memory and with it.
struct Alone([f64; 2]);

impl Alone {
    fn of(&self, mb: u32) -> f64 {
        self.0[usize::from(mb > 0)]
    }
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let (n_mixes, seconds) = if args.quick { (4, 1.5) } else { (args.mixes, args.seconds) };
    let command = format!(
        "meanwhile-lab run cosched-mixes --seed {} --seconds {seconds} --out FILE",
        args.seed
    );
    let mut store = Store::open(args.out.clone(), command)?
        .with_compilers(measure::machine::version("cc", &["--version"]).into_iter().collect());
    let folder = measure::scratch::folder().map_err(failed("create a scratch folder"))?;
    let mut bench = Bench {
        cpus: process::cpus_of(0),
        program: compile(folder.path())?,
        folder: folder.path(),
        alone: Alone([1e4; 2]),
        seconds: 0.3,
    };
    bench.alone = Alone([bench.measure(0)?, bench.measure(MEMORY_MB)?]);
    bench.seconds = seconds;
    let manager = args.host.start(Role::default(), out)?;
    let (turns, capacity_mbps) = (args.host.turns.text(), manager.host().said_mbps);
    let key = |mix| Mix { mix, seed: args.seed, seconds, turns, capacity_mbps };
    let mixes = Mixes { cells: (0..n_mixes).map(key).collect(), bench, manager: &manager };
    let measured = study::rows(&mixes, &mut store, out);
    manager.end();
    let rows = measured?;
    study::show(&Mixes::blocks(&rows), out);
    let verdicts = Outcome::of(&rows).verdicts();
    out.object(&json!({"ok": true, "kind": "measured", "rows": rows, "verdicts": verdicts}));
    Ok(())
}

/// All of them under one manager.
pub struct Mixes<'a> {
    cells: Vec<Mix>,
    bench: Bench<'a>,
    manager: &'a Manager,
}

impl Study for Mixes<'_> {
    type Cell = Mix;

    fn cells(&self) -> Vec<Mix> {
        self.cells.clone()
    }

    fn name(&self, cell: &Mix) -> String {
        format!("mix {}", cell.mix)
    }

    fn measure(&self, cell: &Mix, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        self.bench.mix(&draw(cell), self.manager)
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        let found = Outcome::of(rows);
        let sentences = found.verdicts().into_iter().map(Block::Text);
        std::iter::once(Block::Table(found.table())).chain(sentences).collect()
    }
}

/// The programs of a mix.
fn draw(key: &Mix) -> Vec<Duty> {
    let mut random =
        fastrand::Rng::with_seed(key.seed.wrapping_mul(1_000_003) + u64::from(key.mix));
    let n = random.usize(PROGRAMS);
    // Some mixes compute all the time, some sleep most of it.
    let most = random.u32(DUTIES);
    let draw = |_| Duty {
        percent: if random.u32(..4) == 0 {
            ALL_THE_TIME
        } else {
            random.u32(*DUTIES.start()..=most)
        },
        period_ms: random.u32(PERIODS_MS),
        mb: if random.bool() { MEMORY_MB } else { 0 },
    };
    (0..n).map(draw).collect()
}

/// Where and how long a mix runs.
struct Bench<'a> {
    program: PathBuf,
    /// Processors that there are.
    cpus: Vec<usize>,
    folder: &'a Path,
    alone: Alone,
    seconds: f64,
}

impl Bench<'_> {
    /// Steps a second of one program alone.
    fn measure(&self, mb: u32) -> Result<f64, Failure> {
        let duty = Duty { percent: ALL_THE_TIME, period_ms: 1, mb };
        Ok(self.plain(&[duty])?[0].steps)
    }

    /// A mix: plain, managed, plain.
    fn mix(&self, mix: &[Duty], manager: &Manager) -> Result<Value, Failure> {
        let first = self.plain(mix)?;
        let (managed, n_changes) = self.managed(mix, manager)?;
        let last = self.plain(mix)?;
        let late = [&first, &managed, &last]
            .map(|all| all.iter().map(|did| did.late_s).fold(0.0, f64::max));
        let each = mix.iter().enumerate().map(|(idx, duty)| {
            let runs = [first[idx], managed[idx], last[idx]];
            json!({
                "percent": duty.percent, "period_ms": duty.period_ms, "mb": duty.mb,
                "steps": runs.map(|did| did.steps), "p99_ms": runs.map(|did| did.p99_ms),
            })
        });
        let programs: Vec<Value> = each.collect();
        Ok(json!({"changes": n_changes, "late_s": late, "programs": programs}))
    }

    fn words(&self, duty: Duty, begin_s: f64) -> Vec<String> {
        let busy_ms = f64::from(duty.period_ms * duty.percent) / 100.0;
        let steps = (busy_ms / 1e3 * self.alone.of(duty.mb)).max(1.0);
        let sleep_us = (f64::from(duty.period_ms) - busy_ms) * 1e3;
        [
            self.program.display().to_string(),
            "duty".to_owned(),
            format!("{steps:.0}"),
            format!("{sleep_us:.0}"),
            duty.mb.to_string(),
            self.seconds.to_string(),
            format!("{begin_s:.3}"),
        ]
        .into()
    }

    fn output(&self, idx: usize) -> PathBuf {
        self.folder.join(format!("out-{idx}"))
    }

    /// What each program has said, which is forgotten.
    fn said(&self, mix: &[Duty]) -> Result<Vec<Did>, Failure> {
        let read = |idx: usize| {
            let path = self.output(idx);
            let text = fs::read_to_string(&path).unwrap_or_default();
            let _ = fs::remove_file(&path);
            parse(&text).ok_or_else(|| {
                Failure::environment(
                    "run work duty",
                    format!("it ended and said `{}`", text.trim()),
                )
            })
        };
        (0..mix.len()).map(read).collect()
    }

    fn plain(&self, mix: &[Duty]) -> Result<Vec<Did>, Failure> {
        let (begin_s, mut running) = (begin_s(mix.len())?, Running::default());
        for (idx, duty) in mix.iter().enumerate() {
            running.start(&self.words(*duty, begin_s), &self.output(idx), &self.cpus)?;
        }
        running.wait()?;
        self.said(mix)
    }

    fn managed(&self, mix: &[Duty], manager: &Manager) -> Result<(Vec<Did>, usize), Failure> {
        let is_told = manager.host().said_mbps.is_some();
        let begin_s = begin_s(mix.len())?;
        let one = |(idx, duty): (usize, &Duty)| {
            let mut it = planned("duty", self.words(*duty, begin_s), false);
            it.task.output = Some(self.output(idx));
            // Who says what the link carries says what the programs move, too.
            let mbps = if duty.mb > 0 { self.alone.of(duty.mb) * STEP_MB } else { 1.0 };
            it.task.expected = Expected { mbps: is_told.then_some(mbps), ..Expected::default() };
            it
        };
        let plan: Vec<Planned> = mix.iter().enumerate().map(one).collect();
        let report = manager.run(&plan, Name::Pairing).map_err(Failure::tool)?;
        Ok((self.said(mix)?, report.switch_us.len()))
    }
}

/// Programs without a manager, ended with whoever started them.
#[derive(Default)]
pub(super) struct Running(Vec<Child>);

impl Running {
    /// Starts one as a manager starts its programs: in a session of its own.
    pub fn start(
        &mut self,
        words: &[String],
        output: &Path,
        cpus: &[usize],
    ) -> Result<(), Failure> {
        let output = File::create(output).map_err(failed("make a file"))?;
        let setsid = tool::find("setsid").map(|path| path.display().to_string());
        let all: Vec<String> = setsid.into_iter().chain(words.to_vec()).collect();
        let child =
            Command::new(&all[0]).args(&all[1..]).stdout(output).stderr(Stdio::null()).spawn();
        let child = child.map_err(failed("start a program"))?;
        // A manager keeps itself to one processor, and what it starts would stay there.
        let kept = process::keep_thread(child.id() as i32, cpus);
        self.0.push(child);
        kept.map_err(failed("give a program all processors"))
    }

    pub fn wait(&mut self) -> Result<(), Failure> {
        for child in &mut self.0 {
            child.wait().map_err(failed("wait for a program"))?;
        }
        match signals::arrived() {
            Some(signal) => Err(Failure::Signal(signal)),
            None => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

/// When all of so many programs are there, in seconds of the wall clock: they begin at once.
fn begin_s(n: usize) -> Result<f64, Failure> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(|error| {
        Failure::environment("read the clock", format!("it is before 1970: {error}"))
    })?;
    Ok(now.as_secs_f64() + START_S * (2 + n) as f64)
}

/// `duty STEPS MEDIAN P99 LATE` among what else is said.
fn parse(text: &str) -> Option<Did> {
    let line = text.lines().find_map(|line| line.strip_prefix("duty "))?;
    let mut fields = line.split_ascii_whitespace().map(str::parse::<f64>);
    let steps = fields.next()?.ok()?;
    Some(Did { steps, p99_ms: fields.nth(1)?.ok()?, late_s: fields.next()?.ok()? })
}

/// Compared of programs that compute all the time, or that sleep between.
#[derive(Debug, Default, PartialEq)]
struct Compared {
    /// How much longer the same work takes in one plain run than in the other, and managed than in
    /// the mean of both.
    plain: Vec<f64>,
    managed: Vec<f64>,
    /// The same of the 99th percentiles.
    plain_late: Vec<f64>,
    managed_late: Vec<f64>,
}

/// What the mixes show.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    burners: Compared,
    sleepers: Compared,
    /// Mixes in which anything was changed.
    n_cut: usize,
    n_mixes: usize,
}

impl Outcome {
    fn of(rows: &[Value]) -> Outcome {
        let mut found = Outcome { n_mixes: rows.len(), ..Outcome::default() };
        found.n_cut = rows.iter().filter(|row| row["changes"].as_u64() > Some(0)).count();
        for it in rows.iter().filter_map(|row| row["programs"].as_array()).flatten() {
            let three = |key: &str, idx: usize| it[key][idx].as_f64().expect("we wrote it");
            let ratios = if it["percent"] == ALL_THE_TIME {
                &mut found.burners
            } else {
                &mut found.sleepers
            };
            let [first, managed, last] = [0, 1, 2].map(|idx| three("steps", idx));
            ratios.plain.push(first.max(last) / first.min(last));
            ratios.managed.push((first + last) / 2.0 / managed);
            let [first, managed, last] = [0, 1, 2].map(|idx| three("p99_ms", idx));
            ratios.plain_late.push(first.max(last) / first.min(last));
            ratios.managed_late.push(managed / ((first + last) / 2.0));
        }
        found
    }

    fn both(&self) -> [(&'static str, &Compared); 2] {
        [("compute all the time", &self.burners), ("sleep between", &self.sleepers)]
    }

    /// Beyond which a program is slower than two plain runs explain.
    fn most(&self) -> f64 {
        let all: Vec<f64> =
            self.both().iter().flat_map(|(_, ratios)| &ratios.plain).copied().collect();
        stats::quantile(&all, NOISE) + SLOWER
    }

    fn verdicts(&self) -> Vec<String> {
        let most = self.most();
        let count = |all: &mut dyn Iterator<Item = &f64>, limit: f64| {
            let all: Vec<&f64> = all.collect();
            (all.iter().filter(|ratio| ***ratio > limit).count(), all.len())
        };
        let (slower, n) =
            count(&mut self.both().iter().flat_map(|(_, ratios)| &ratios.managed), most);
        let (later, n_sleepers) = count(&mut self.sleepers.managed_late.iter(), LATER);
        let (by_chance, _) = count(&mut self.sleepers.plain_late.iter(), LATER);
        let all: Vec<f64> =
            self.both().iter().flat_map(|(_, ratios)| &ratios.managed).copied().collect();
        let mean = stats::geometric_mean(&all);
        let met = |is_met: bool| if is_met { "met" } else { "missed" };
        vec![
            format!("{} of {} mixes had turns cut", self.n_cut, self.n_mixes),
            format!(
                "no program takes more than {most:.2} times as long: {}, {slower} of {n} do",
                met(slower == 0)
            ),
            format!(
                "99th percentiles at most {LATER} times plain: {}, {later} of {n_sleepers} that sleep are later; of two plain runs one is \
                 for {by_chance}",
                met(later <= by_chance)
            ),
            format!("mean time not worse: {}, {mean:.3}", met(mean <= 1.0 + SLOWER)),
        ]
    }

    fn table(&self) -> Table {
        let note = "time for the same work over that without a manager, and the same of the 99th percentile of a round; beside them how \
                    much two plain runs differ";
        let columns = [
            "programs",
            "n",
            "what",
            "median",
            "99 % of them",
            "most",
            "two plain: median",
            "99 %",
        ];
        let mut table = Table::new("Mixes of programs, managed over plain", &columns)
            .kind(Kind::Measured)
            .note(note);
        let number = |all: &[f64], p: f64| {
            Cell::number(if all.is_empty() {
                "-".to_owned()
            } else {
                format!("{:.3}", stats::quantile(all, p))
            })
        };
        for (name, ratios) in self.both() {
            for (what, managed, plain) in [
                ("time", &ratios.managed, &ratios.plain),
                ("99th percentile", &ratios.managed_late, &ratios.plain_late),
            ] {
                table.push(vec![
                    Cell::words(name),
                    Cell::number(managed.len().to_string()),
                    Cell::words(what),
                    number(managed, 0.5),
                    number(managed, NOISE),
                    number(managed, 1.0),
                    number(plain, 0.5),
                    number(plain, NOISE),
                ]);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(managed_steps: f64, managed_p99: f64) -> Value {
        let program = |percent: u32| json!({"percent": percent, "steps": [100.0, managed_steps, 98.0], "p99_ms": [10.0, managed_p99, 10.0]});
        json!({"changes": 0, "programs": [program(ALL_THE_TIME), program(30)]})
    }

    #[test]
    fn a_program_that_is_slower_or_later_than_plain_runs_differ_is_counted() {
        let fair = Outcome::of(&[row(99.0, 10.0)]).verdicts().join("\n");
        assert!(!fair.contains("missed"), "{fair}");
        let slow = Outcome::of(&[row(99.0, 10.0), row(90.0, 10.0)]).verdicts();
        assert!(slow[1].ends_with("missed, 2 of 4 do"), "{slow:?}");
        assert!(slow[3].contains("missed"), "{slow:?}");
        let late = Outcome::of(&[row(99.0, 13.0)]).verdicts();
        assert!(late[2].contains("missed, 1 of 1"), "burners answer nobody: {late:?}");
    }

    #[test]
    fn a_mix_is_the_same_whenever_it_is_drawn() {
        let key = |mix| Mix { mix, seed: 1, seconds: 1.0, turns: "soft", capacity_mbps: None };
        let text = |mix| format!("{:?}", draw(&key(mix)));
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
        for mix in 0..300 {
            let programs = draw(&key(mix));
            assert!(PROGRAMS.contains(&programs.len()), "{mix}");
            assert!(programs.iter().all(|duty| DUTIES.contains(&duty.percent)), "{mix}");
        }
    }

    #[test]
    fn what_a_program_says_is_read_among_other_lines() {
        assert_eq!(
            parse("x\nduty 17051 0.1728 18.0794 0.000\n"),
            Some(Did { steps: 17051.0, p99_ms: 18.0794, late_s: 0.0 })
        );
        assert_eq!(parse("duty\n"), None);
    }
}
