//! Door: `meanwhile cosched run`: real programs under a policy, in the foreground.

use std::cell::RefCell;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use cosched::manager::canary::{Calibration, Canary};
use cosched::manager::group::{Freezer, Hierarchy};
pub use cosched::manager::real::Task;
use cosched::manager::real::{self, Ground, Report};
use cosched::manager::supervisor;
use cosched::manager::team;
use cosched::policies::{Name, Settings};
use measure::stats;
use measure::tool;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::probe;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The policy; linux leaves everything to the kernel.
    #[arg(long, value_name = "NAME", default_value = "pairing", value_parser = super::sim::policy)]
    policy: Name,
    /// Run under linux, rr and dss as well, in turn, and compare.
    #[arg(long)]
    compare: bool,
    /// Runs of each policy, for intervals.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Threads of each program, in their order, with commas between; 1 unless said.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    threads: Vec<u32>,
    /// Programs with their arguments, with ::: between.
    #[arg(last = true, required = true, value_name = "CMD ARGS ::: CMD ARGS")]
    commands: Vec<String>,
}

/// Arguments of the supervisor, which `run` starts by itself.
#[derive(Debug, clap::Args)]
pub struct SuperviseArgs {
    freezer: String,
    path: PathBuf,
}

/// Waits for the manager's death.
pub fn supervise(args: &SuperviseArgs) -> Result<(), Failure> {
    let freezer = if args.freezer == "v1" { Freezer::V1 } else { Freezer::V2 };
    let hierarchy = Hierarchy { freezer, path: args.path.clone() };
    supervisor::watch(&hierarchy, std::io::stdin()).map_err(|error| Failure::environment("watch the manager", error))
}

fn tasks(args: &Args) -> Result<Vec<Task>, Failure> {
    let mut tasks: Vec<Task> = Vec::new();
    for (idx, command) in args.commands.split(|it| it == ":::").enumerate() {
        let Some(program) = command.first() else {
            return Err(Failure::user("a command is empty", Some("write CMD ARGS ::: CMD ARGS")));
        };
        if tool::find(program).is_none() {
            return Err(Failure::user(format!("there is no program `{program}`"), Some("give its path, or install it")));
        }
        let n_threads = args.threads.get(idx).copied().unwrap_or(1);
        if !(1..=1024).contains(&n_threads) {
            return Err(Failure::user(format!("{n_threads} threads for `{program}`"), Some("choose 1 to 1024")));
        }
        let name = std::path::Path::new(program).file_name().map_or(program.clone(), |it| it.to_string_lossy().into_owned());
        tasks.push(Task { name: format!("{} {name}", idx + 1), command: command.to_vec(), n_threads: n_threads as usize });
    }
    if args.threads.len() > tasks.len() {
        return Err(Failure::user(format!("--threads names {} programs, there are {}", args.threads.len(), tasks.len()), None));
    }
    Ok(tasks)
}

/// One run of one policy: what came of each program.
struct Run {
    policy: Name,
    report: Report,
}

/// All that runs of real programs need, with the supervisor that outlives it.
pub struct Manager {
    hierarchy: Hierarchy,
    watcher: Child,
    cpus: Vec<usize>,
    calibration: Option<Calibration>,
    canary: RefCell<Canary>,
    library: Option<PathBuf>,
    folder: TempDir,
}

fn failed(what: &str) -> impl Fn(std::io::Error) -> Failure + use<> {
    let what = what.to_owned();
    move |error| Failure::environment(what.clone(), error)
}

impl Manager {
    /// Makes the control groups, starts the supervisor, and measures what the processors share.
    pub fn start(out: &mut Output) -> Result<Manager, Failure> {
        let cpus = probe::cpus();
        let hierarchy = Hierarchy::create(&format!("meanwhile-{}", std::process::id()))
            .map_err(|said| Failure::environment("make a control group", said))?;
        // It must outlive a Ctrl-C that ends us: a process group of its own.
        let own = std::env::current_exe().map_err(failed("find this program"))?;
        let freezer = if hierarchy.freezer == Freezer::V1 { "v1" } else { "v2" };
        let watcher = Command::new(own)
            .args(["cosched", "supervise", freezer])
            .arg(&hierarchy.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed("start the supervisor"))?;
        if !real_time() {
            out.warning("this process may not be SCHED_FIFO: quanta can end late on a loaded machine");
        }
        let folder = tempfile::tempdir().map_err(failed("create a scratch folder"))?;
        // Without a C compiler programs keep the threads that they start with.
        let library = team::library(folder.path());
        if let Err(error) = &library {
            out.warning(&format!("OpenMP programs do not follow their processors: {error}"));
        }
        let mut canary = Canary::new();
        let found = probe::links(&cpus, &mut canary)?;
        let calibration = found.pairs.iter().map(|it| it.2).max_by(|a, b| a.slowdown().total_cmp(&b.slowdown()));
        Ok(Manager { hierarchy, watcher, cpus, calibration, canary: RefCell::new(canary), library: library.ok(), folder })
    }

    /// The processors of each link, as they are now.
    pub fn links(&self) -> Result<Vec<Vec<usize>>, Failure> {
        Ok(probe::links(&self.cpus, &mut self.canary.borrow_mut())?.links)
    }

    /// Runs programs to their ends.
    pub fn run(&self, tasks: &[Task], policy: Name) -> Result<Report, Failure> {
        let nothing = Calibration { alone_mbps: 1.0, beside_mbps: 1.0, reader_mbps: 0.0 };
        let ground = Ground {
            hierarchy: &self.hierarchy,
            cpus: &self.cpus,
            calibration: self.calibration.unwrap_or(nothing),
            is_estimating: self.calibration.is_some(),
            team: self.library.as_deref().map(|it| (it, self.folder.path())),
        };
        let chooser = (policy != Name::Linux).then(|| policy.policy(Settings::default()));
        real::run(tasks, &ground, chooser, &mut self.canary.borrow_mut()).map_err(failed("run the programs"))
    }

    /// Ends the supervisor and takes the groups away.
    pub fn end(mut self) {
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
        let _ = self.hierarchy.remove();
    }
}

/// Runs the command.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    if args.policy == Name::LinuxNow {
        return Err(Failure::user("linux-now is a model for the simulator", Some("--policy linux leaves everything to this kernel")));
    }
    let tasks = tasks(args)?;
    let manager = Manager::start(out)?;
    let ended = managed(args, &tasks, &manager, out);
    manager.end();
    ended
}

fn managed(args: &Args, tasks: &[Task], manager: &Manager, out: &mut Output) -> Result<(), Failure> {
    let before = manager.links()?;
    let mut policies = vec![args.policy];
    if args.compare {
        policies.extend([Name::Linux, Name::Rr, Name::Dss].into_iter().filter(|it| *it != args.policy));
    }
    let bar = out.progress(u64::from(args.runs) * policies.len() as u64);
    let mut runs: Vec<Run> = Vec::new();
    for _ in 0..args.runs {
        for policy in &policies {
            bar.set_message(policy.text());
            runs.push(Run { policy: *policy, report: manager.run(tasks, *policy)? });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let after = manager.links()?;
    show(tasks, &policies, &runs, (&before, &after), out)
}

/// Asks for SCHED_FIFO for this process; what it starts is ordinary.
fn real_time() -> bool {
    let mut command = Command::new("chrt");
    command.args(["--fifo", "--reset-on-fork", "--pid", "10", &std::process::id().to_string()]);
    tool::run(&mut command, b"", std::time::Duration::from_secs(5)).and_then(tool::Ran::ok).is_ok()
}

fn show(tasks: &[Task], policies: &[Name], runs: &[Run], links: (&[Vec<usize>], &[Vec<usize>]), out: &mut Output) -> Result<(), Failure> {
    let note = "seconds from the start of all to the program's end, median and 95 % interval; ratio: linux over the policy, of medians";
    let mut table = Table::new("Programs under policies", &["policy", "program", "turnaround s", "from", "to", "ratio to linux"])
        .kind(Kind::Measured)
        .note(note);
    let samples = |policy: Name, idx: usize| -> Vec<f64> {
        runs.iter().filter(|it| it.policy == policy).map(|it| it.report.ended[idx].turnaround_s).collect()
    };
    let mut rows: Vec<Value> = Vec::new();
    for &policy in policies {
        for (idx, task) in tasks.iter().enumerate() {
            let it = stats::median_interval(&samples(policy, idx), 0.95);
            let linux = samples(Name::Linux, idx);
            let ratio = (!linux.is_empty()).then(|| stats::median(&linux) / it.value);
            table.push(vec![
                Cell::words(policy.text()),
                Cell::words(&task.name),
                Cell::number(format!("{:.2}", it.value)),
                Cell::number(format!("{:.2}", it.low)),
                Cell::number(format!("{:.2}", it.high)),
                Cell::number(ratio.map_or(String::new(), |it| format!("{it:.2}"))),
            ]);
            rows.push(json!({
                "policy": policy.text(), "program": task.name, "turnaround_s": it.value, "ratio_to_linux": ratio, "interval": [it.low, it.high],
            }));
        }
    }
    out.text(&table.terminal(None));
    let managed = || runs.iter().filter(|it| it.policy != Name::Linux).map(|it| &it.report);
    let switches: Vec<f64> = managed().flat_map(|it| it.switch_us.iter().copied()).collect();
    let p95 = (!switches.is_empty()).then(|| stats::quantile(&switches, 0.95));
    let canary_s: f64 = managed().map(|it| it.canary_s).sum();
    if let Some(p95) = p95 {
        out.line(&format!(
            "changing programs took {p95:.0} us at the 95th percentile of {} quanta; the canary {canary_s:.2} s in all",
            switches.len()
        ));
    }
    let discarded = links.0 != links.1;
    if discarded {
        out.warning("the processors' links changed while this ran: the figures do not compare like with like");
    }
    out.object(&json!({
        "ok": true, "kind": "measured", "links_before": links.0, "links_after": links.1, "discarded": discarded,
        "switch_us_p95": p95, "canary_s": canary_s, "rows": rows,
    }));
    let bad = runs.iter().flat_map(|run| run.report.ended.iter().zip(tasks)).find(|it| it.0.status != Some(0));
    match bad {
        None => Ok(()),
        Some((ended, task)) => {
            let how = ended.status.map_or("ended by a signal".to_owned(), |it| format!("ended with {it}"));
            out.warning(&format!("`{}` {how}", task.command.join(" ")));
            Err(Failure::Reported)
        }
    }
}
