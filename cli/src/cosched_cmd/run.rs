//! `meanwhile cosched run`: real programs under a policy, in the foreground.

use std::path::Path;

use cosched::manager::class::Class;
use cosched::manager::kernels;
use cosched::manager::program::{Ended, Expected, Task};
use cosched::manager::run::{Planned, Report};
use cosched::manager::startup::Manager;
use cosched::policies::{Name, Settings};
use cosched::workload::{Purpose, Workload, WorkloadStart};
use measure::stats;
use measure::tool;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use super::host::{HostArgs, Role, failed};
use super::policy::PolicyArgs;
use super::sim::load;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The policy; linux leaves everything to the kernel.
    #[arg(long, value_name = "NAME", default_value = "pairing", value_parser = super::sim::policy())]
    policy: Name,
    /// Run under linux, rr and dss as well, in turn, and compare.
    #[arg(long)]
    compare: bool,
    /// Runs of each policy, for intervals.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Threads of each program, in their order, with commas between; those that are seen
    /// to run unless said.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    threads: Vec<u32>,
    /// What each program is, in their order, with commas between, as of submit; `auto` unless said.
    #[arg(long, value_name = "C,C,...", value_delimiter = ',', value_parser = super::host::class_name())]
    class: Vec<Class>,
    /// MB/s that a thread of each program moves, in their order, with commas between,
    /// until something is seen.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', value_parser = super::host::mbps)]
    mbps: Vec<f64>,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    numbers: PolicyArgs,
    /// Kernels of a workload on small problems, for a trial.
    #[arg(long)]
    small: bool,
    /// A workload file with commands, or one of the paper's (a1 to c3), whose programs are
    /// kernels of our own.
    #[arg(value_name = "WORKLOAD", required_unless_present = "commands", conflicts_with_all = ["commands", "threads", "class", "mbps"])]
    workload: Option<String>,
    /// Programs with their arguments, with ::: between.
    #[arg(last = true, value_name = "CMD ARGS ::: CMD ARGS")]
    commands: Vec<String>,
}

fn tasks(args: &Args) -> Result<Vec<Task>, Failure> {
    let mut tasks: Vec<Task> = Vec::new();
    for (idx, command) in args.commands.split(|letter| letter == ":::").enumerate() {
        let Some(program) = command.first() else {
            return Err(Failure::user("a command is empty", Some("write CMD ARGS ::: CMD ARGS")));
        };
        if tool::find(program).is_none() {
            return Err(Failure::user(
                format!("there is no program `{program}`"),
                Some("give its path, or install it"),
            ));
        }
        let n_threads = args.threads.get(idx).copied();
        if let Some(n_threads) = n_threads.filter(|thread| !(1..=1024).contains(thread)) {
            return Err(Failure::user(
                format!("{n_threads} threads for `{program}`"),
                Some("choose 1 to 1024"),
            ));
        }
        let name = std::path::Path::new(program)
            .file_name()
            .map_or(program.clone(), |it| it.to_string_lossy().into_owned());
        tasks.push(Task {
            name: format!("{} {name}", idx + 1),
            command: command.to_vec(),
            n_threads: n_threads.map(|thread| thread as usize),
            expected: Expected {
                class: args.class.get(idx).copied().unwrap_or_default(),
                mbps: args.mbps.get(idx).copied(),
            },
            place: None,
            output: None,
        });
    }
    let lists = [
        ("--threads", args.threads.len()),
        ("--class", args.class.len()),
        ("--mbps", args.mbps.len()),
    ];
    for (option, n) in lists {
        if n > tasks.len() {
            let said = format!("{option} names {n} programs, there are {}", tasks.len());
            return Err(Failure::user(said, None));
        }
    }
    Ok(tasks)
}

/// What a workload starts for real; kernels are compiled in `folder`.
pub fn planned(
    workload: &Workload,
    folder: &Path,
    is_small: bool,
) -> Result<Vec<Planned>, Failure> {
    let mut plan = Vec::new();
    for (idx, it) in workload.programs.iter().enumerate() {
        if it.n_threads > 1024 {
            return Err(Failure::user(
                format!("{} threads for `{}`", it.n_threads, it.name),
                Some("choose 1 to 1024"),
            ));
        }
        let command: Vec<String> = match &it.start {
            WorkloadStart::Command(words) => words
                .iter()
                .map(|word| word.replace("{threads}", &it.n_threads.to_string()))
                .collect(),
            WorkloadStart::Kernel(name, rounds) => {
                let program = kernels::compile(name, folder, true).map_err(Failure::tool)?;
                vec![
                    program.display().to_string(),
                    if is_small { "small" } else { "large" }.to_owned(),
                    rounds.to_string(),
                ]
            }
            WorkloadStart::Not => panic!("a workload that was read for real runs has commands"),
        };
        if tool::find(&command[0]).is_none() {
            return Err(Failure::user(
                format!("there is no program `{}`", command[0]),
                Some("give its path, or install it"),
            ));
        }
        let task = Task {
            name: format!("{} {}({})", idx + 1, it.name, it.n_threads),
            command,
            n_threads: Some(it.n_threads),
            expected: Expected::default(),
            place: None,
            output: None,
        };
        plan.push(Planned {
            task,
            arrival_s: it.arrival_s,
            after: it.after,
            is_background: it.is_background,
        });
    }
    Ok(plan)
}

/// One run of one policy: what came of each program.
struct Run {
    policy: Name,
    report: Report,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let folder = measure::scratch::folder().map_err(failed("create a scratch folder"))?;
    let plan = match &args.workload {
        Some(name) => planned(&load(name, Purpose::Real)?.1, folder.path(), args.small)?,
        None => tasks(args)?
            .into_iter()
            .map(|task| Planned { task, arrival_s: 0.0, after: None, is_background: false })
            .collect(),
    };
    let manager = args.host.start(Role::default(), out)?;
    let ended = managed(args, &plan, &manager, out);
    manager.end();
    ended
}

fn managed(
    args: &Args,
    plan: &[Planned],
    manager: &Manager,
    out: &mut Output,
) -> Result<(), Failure> {
    let before = manager.known_links();
    let mut policies = vec![args.policy];
    if args.compare {
        policies
            .extend([Name::Linux, Name::Rr, Name::Dss].into_iter().filter(|it| *it != args.policy));
    }
    let bar = out.progress(u64::from(args.runs) * policies.len() as u64);
    let mut runs: Vec<Run> = Vec::new();
    for _ in 0..args.runs {
        for policy in &policies {
            bar.set_message(policy.text());
            runs.push(Run {
                policy: *policy,
                report: manager
                    .run_with(plan, *policy, args.numbers.settings())
                    .map_err(Failure::tool)?,
            });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let after = manager.links().map_err(Failure::tool)?;
    let settings = manager.host().settings;
    show(plan, &policies, &runs, (&before, &after), settings, out)
}

fn show(
    plan: &[Planned],
    policies: &[Name],
    runs: &[Run],
    links: (&[Vec<usize>], &[Vec<usize>]),
    settings: Settings,
    out: &mut Output,
) -> Result<(), Failure> {
    let note = "seconds from a program's start to its end, median and 95 % interval; ratio: linux over the policy, of medians; longest wait: \
                quanta in a row without a processor, the most in any run";
    let columns = [
        "policy",
        "program",
        "turnaround s",
        "from",
        "to",
        "ratio to linux",
        "quanta",
        "longest wait",
    ];
    let mut table = Table::new("Programs under policies", &columns).kind(Kind::Measured).note(note);
    let ended = |policy: Name, idx: usize| -> Vec<&Ended> {
        runs.iter()
            .filter(|run| run.policy == policy)
            .filter_map(|run| run.report.ended[idx].as_ref())
            .collect()
    };
    let seconds = |policy: Name, idx: usize| -> Vec<f64> {
        ended(policy, idx).iter().map(|it| it.turnaround_s).collect()
    };
    let mut rows: Vec<Value> = Vec::new();
    for &policy in policies {
        for (idx, planned) in plan.iter().enumerate().filter(|pair| !pair.1.is_background) {
            let it = stats::median_interval(&seconds(policy, idx), 0.95);
            let linux = seconds(Name::Linux, idx);
            let ratio = (!linux.is_empty()).then(|| stats::median(&linux) / it.value);
            let n_turns: Vec<f64> = ended(policy, idx).iter().map(|it| it.n_turns as f64).collect();
            let n_turns = stats::median(&n_turns);
            let wait = ended(policy, idx).iter().map(|it| it.longest_wait_quanta).max();
            let is_managed = policy != Name::Linux;
            // One run has no interval.
            let is_several = seconds(policy, idx).len() > 1;
            let bound = |s: f64| if is_several { format!("{s:.2}") } else { "-".to_owned() };
            // Of several runs the first that was no success.
            let bad = ended(policy, idx).into_iter().find(|ended| ended.status != Some(0));
            table.push(vec![
                Cell::words(policy.text()),
                Cell::words(&planned.task.name),
                Cell::number(format!("{:.2}", it.value)),
                Cell::number(bound(it.low)),
                Cell::number(bound(it.high)),
                Cell::number(ratio.map_or(String::new(), |it| format!("{it:.2}"))),
                Cell::number(if is_managed { n_turns.to_string() } else { String::new() }),
                Cell::number(if is_managed {
                    wait.map_or(String::new(), |it| it.to_string())
                } else {
                    String::new()
                }),
            ]);
            rows.push(json!({
                "policy": policy.text(), "program": planned.task.name, "turnaround_s": it.value, "ratio_to_linux": ratio,
                "interval": is_several.then_some([it.low, it.high]), "quanta": is_managed.then_some(n_turns),
                "longest_wait_quanta": is_managed.then_some(wait).flatten(),
                "status": bad.map_or(Some(0), |ended| ended.status), "signal": bad.and_then(|ended| ended.signal),
            }));
        }
    }
    out.text(&table.terminal(None));
    let managed = || runs.iter().filter(|run| run.policy != Name::Linux).map(|run| &run.report);
    let switches: Vec<f64> =
        managed().flat_map(|managed| managed.switch_us.iter().copied()).collect();
    let p95 = (!switches.is_empty()).then(|| stats::quantile(&switches, 0.95));
    // Where nothing was managed, the sums are negative nothings.
    let canary_s = 0.0 + managed().map(|managed| managed.canary_s).sum::<f64>();
    let own_cpu_pct = 100.0 * (0.0 + managed().map(|managed| managed.own_cpu_s).sum::<f64>())
        / managed().map(|managed| managed.wall_s).sum::<f64>().max(1e-9);
    if let Some(p95) = p95 {
        out.line(&format!(
            "changing programs took {p95:.0} us at the 95th percentile of {} changes; the manager {own_cpu_pct:.2} % of one processor, \
             of that the canary {canary_s:.2} s",
            switches.len()
        ));
    }
    let discarded = links.0 != links.1 || runs.iter().any(|run| run.report.n_moves > 0);
    if discarded {
        out.warning("the processors' links changed while this ran: the figures do not compare like with like");
    }
    let all = runs.iter().flat_map(|run| run.report.ended.iter().zip(plan));
    let bad: Vec<(&Ended, &Planned)> = all
        .filter_map(|(ended, planned)| Some((ended.as_ref()?, planned)))
        .filter(|(ended, _)| ended.status != Some(0))
        .collect();
    out.object(&json!({
        "ok": bad.is_empty(), "kind": "measured", "links_before": links.0, "links_after": links.1, "discarded": discarded,
        "switch_us_p95": p95, "canary_s": canary_s, "own_cpu_pct": own_cpu_pct, "round_robin": settings.round_robin,
        "finish_first": settings.finishes_first, "rows": rows,
    }));
    let mut said: Vec<String> = Vec::new();
    for (ended, planned) in &bad {
        let how = match (ended.status, ended.signal) {
            (Some(status), _) => format!("ended with {status}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended, and nobody knows how".to_owned(),
        };
        let line = format!("`{}` {how}", planned.task.command.join(" "));
        if !said.contains(&line) {
            out.warning(&line);
            said.push(line);
        }
    }
    if bad.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}
