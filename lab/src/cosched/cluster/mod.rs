//! Door: A trace of jobs on nodes that are shared or not.

mod model;
mod nodes;
mod swf;

use std::path::PathBuf;

use model::{Assumed, Cluster, Mix, Outcome, Scheme};
use swf::Trace;

use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use terminal::output::{Failure, Output};

/// Arguments of a cluster on paper.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Simulate a cluster: nodes=N, and with commas between cores=N (a node's processors) and
    /// memory=GB (a node's). What is left out comes from the header of the trace.
    #[arg(long, value_name = "WHAT")]
    cluster: String,
    /// The jobs, in the Standard Workload Format of the Parallel Workloads Archive;
    /// without it invented ones.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Without a trace, so many jobs.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    jobs: u32,
    /// Without a trace, the share of all processors that they ask for.
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    load: f64,
    /// How common programs are that ask for so much of a node's link: SHARE=WEIGHT, with commas
    /// between [default: the programs of Table 1 and as many that compute].
    #[arg(long, value_name = "MIX", value_parser = mix)]
    mix: Option<Given>,
    /// The share of the users that do not share nodes.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = meanwhile::cosched_cmd::policy::share)]
    refuse: f64,
    /// How many times the jobs' demands are drawn.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    draws: u32,
}

/// A mix as a value of the command line.
#[derive(Debug, Clone)]
pub struct Given(Mix);

fn mix(text: &str) -> Result<Given, String> {
    let pair = |text: &str| -> Option<(f64, f64)> {
        let (ask, weight) = text.split_once('=')?;
        let (ask, weight) = (ask.trim().parse().ok()?, weight.trim().parse().ok()?);
        ((0.0..=4.0).contains(&ask) && weight > 0.0 && weight < 1e9).then_some((ask, weight))
    };
    let all: Option<Mix> = text.split(',').map(pair).collect();
    all.map(Given).ok_or_else(|| {
        "write what a program asks for on all processors of a node, 0 to 4 links, and how common it is: 0.1=3,1.2=1".to_owned()
    })
}

fn wrong(message: String) -> Failure {
    Failure::user(message, Some("write --cluster nodes=1158,cores=48,memory=192"))
}

/// The cluster, where the header of the trace fills in what is not said.
fn machine(text: &str, trace: Option<&Trace>) -> Result<Cluster, Failure> {
    let (mut n_nodes, mut n_cores, mut memory_gb) = (None, None, 0.0);
    for part in text.split(',') {
        let Some((name, value)) = part.split_once('=') else {
            return Err(wrong(format!("`{part}` says nothing about a cluster")));
        };
        let count =
            || value.trim().parse::<usize>().ok().filter(|number| (1..=1_000_000).contains(number));
        match name.trim() {
            "nodes" => {
                n_nodes =
                    Some(count().ok_or_else(|| wrong(format!("`{value}` is no number of nodes")))?)
            }
            "cores" => {
                n_cores = Some(
                    count()
                        .ok_or_else(|| wrong(format!("`{value}` is no number of processors")))?,
                )
            }
            "memory" => {
                let gb = value
                    .trim()
                    .parse::<f64>()
                    .ok()
                    .filter(|number| *number > 0.0 && *number < 1e6);
                memory_gb = gb.ok_or_else(|| wrong(format!("`{value}` is no memory in GB")))?;
            }
            other => {
                return Err(wrong(format!(
                    "a cluster has no `{other}`; it has nodes, cores and memory"
                )));
            }
        }
    }
    let header = trace.and_then(|trace| trace.n_nodes);
    let n_nodes = n_nodes.or(header).ok_or_else(|| {
        wrong(
            "the number of nodes is not known: neither `--nodes` nor the trace says it".to_owned(),
        )
    })?;
    let of_header = trace.and_then(|trace| trace.n_procs).map(|n_procs| n_procs.div_ceil(n_nodes));
    let n_cores = n_cores.or(of_header).unwrap_or(if trace.is_some() { 1 } else { 48 });
    if n_cores < 2 {
        return Err(wrong(format!("a node with {n_cores} processor cannot be shared")));
    }
    Ok(Cluster { n_nodes, n_cores, memory_gb })
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let trace = args.trace.as_ref().map(|path| -> Result<Trace, Failure> {
        let text = std::fs::read(path).map_err(|error| {
            Failure::user(format!("cannot read `{}`: {error}", path.display()), None)
        })?;
        swf::parse(&path.display().to_string(), &String::from_utf8_lossy(&text))
            .map_err(|fault| Failure::User(vec![fault]))
    });
    let trace = trace.transpose()?;
    let cluster = machine(&args.cluster, trace.as_ref())?;
    if !(args.load > 0.0 && args.load <= 10.0) {
        return Err(Failure::user(
            format!("{} is no share of the processors", args.load),
            Some("write 0.9"),
        ));
    }
    let is_synthetic = trace.is_none();
    let trace = trace.unwrap_or_else(|| {
        swf::synthetic(args.jobs as usize, cluster.n_nodes * cluster.n_cores, args.load, 1)
    });
    for (what, n) in &trace.odd {
        out.warning(&format!("{n} {what}"));
    }
    let mix = args.mix.as_ref().map_or_else(model::table_1_mix, |mix| mix.0.clone());
    let bar = out.progress(u64::from(args.draws) * Scheme::ALL.len() as u64);
    let mut n_large = 0;
    let mut runs: Vec<Vec<Outcome>> = vec![Vec::new(); Scheme::ALL.len()];
    for seed in 0..u64::from(args.draws) {
        let assumed = Assumed { mix: mix.clone(), refuse: args.refuse, seed };
        for (all, scheme) in runs.iter_mut().zip(Scheme::ALL) {
            bar.set_message(scheme.name());
            // On whole nodes demands do not matter.
            match all.first() {
                Some(first) if !matches!(scheme, Scheme::Blind | Scheme::Paired) => {
                    all.push(*first)
                }
                _ => {
                    let (outcome, large) = model::run(&trace, cluster, scheme, &assumed);
                    n_large = large;
                    all.push(outcome);
                }
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    if n_large == trace.jobs.len() {
        return Err(Failure::user(
            "every job is larger than the cluster".to_owned(),
            Some("give it more nodes or processors"),
        ));
    }
    if n_large > 0 {
        out.warning(&format!("{n_large} jobs left out: they are larger than the cluster"));
    }
    out.text(&table(&runs, trace.jobs.len() - n_large, cluster, is_synthetic).terminal(None));
    let rows: Vec<Value> =
        Scheme::ALL.iter().zip(&runs).map(|(scheme, all)| row(*scheme, all, &runs)).collect();
    out.object(&json!({
        "ok": true, "kind": "sim", "nodes": cluster.n_nodes, "cores": cluster.n_cores, "memory_gb": cluster.memory_gb,
        "jobs": trace.jobs.len() - n_large, "synthetic": is_synthetic, "draws": args.draws, "refuse": args.refuse, "rows": rows,
        "odd": trace.odd, "too_large": n_large,
    }));
    Ok(())
}

fn mean(all: &[Outcome], of: fn(&Outcome) -> f64) -> f64 {
    all.iter().map(of).sum::<f64>() / all.len() as f64
}

/// Percent of EASY's mean turnaround that is saved: mean, least and most of the draws.
fn over_easy(all: &[Outcome], runs: &[Vec<Outcome>]) -> (f64, f64, f64) {
    let easy = &runs[2];
    let each: Vec<f64> = all
        .iter()
        .zip(easy)
        .map(|(it, easy)| 100.0 * (1.0 - it.turnaround_s / easy.turnaround_s))
        .collect();
    let (least, most) =
        each.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), it| (a.min(*it), b.max(*it)));
    (each.iter().sum::<f64>() / each.len() as f64, least, most)
}

fn row(scheme: Scheme, all: &[Outcome], runs: &[Vec<Outcome>]) -> Value {
    let (over, least, most) = over_easy(all, runs);
    json!({
        "scheme": scheme.name(),
        "turnaround_s_mean": mean(all, |it| it.turnaround_s),
        "over_easy_pct": over,
        "over_easy_pct_least": least,
        "over_easy_pct_most": most,
        "wait_s_mean": mean(all, |outcome| outcome.wait_s),
        "bounded_slowdown_mean": mean(all, |it| it.slowdown),
        "makespan_s": mean(all, |outcome| outcome.makespan_s),
        "nodes_taken": mean(all, |it| it.taken),
        "jobs_slower": mean(all, |outcome| outcome.slower),
        "worst_slowdown": all.iter().map(|it| it.worst).fold(1.0, f64::max),
    })
}

fn table(runs: &[Vec<Outcome>], n_jobs: usize, cluster: Cluster, is_synthetic: bool) -> Table {
    let columns = [
        "nodes",
        "turnaround h",
        "over easy %",
        "least..most",
        "wait h",
        "slowdown",
        "taken %",
        "slower %",
        "worst",
    ];
    let note = "turnaround, wait and bounded slowdown: mean over the jobs; over: percent of the turnaround under EASY on whole nodes that is saved, \
                over the draws of demands; slower: jobs that ran longer than on nodes of their own, worst: how many times";
    let title = format!(
        "{n_jobs} {} on {} nodes of {} processors",
        if is_synthetic { "synthetic jobs" } else { "jobs of the trace" },
        cluster.n_nodes,
        cluster.n_cores
    );
    let mut table = Table::new(title, &columns).kind(Kind::Sim).note(note);
    for (scheme, all) in Scheme::ALL.iter().zip(runs) {
        let (over, least, most) = over_easy(all, runs);
        let of = |of: fn(&Outcome) -> f64| mean(all, of);
        table.push(vec![
            Cell::words(scheme.name()),
            Cell::number(format!("{:.2}", of(|it| it.turnaround_s) / 3600.0)),
            Cell::number(format!("{over:.1}")),
            Cell::words(if all.iter().all(|it| it == &all[0]) {
                String::new()
            } else {
                format!("{least:.1}..{most:.1}")
            }),
            Cell::number(format!("{:.2}", of(|outcome| outcome.wait_s) / 3600.0)),
            Cell::number(format!("{:.1}", of(|it| it.slowdown))),
            Cell::number(format!("{:.0}", 100.0 * of(|it| it.taken))),
            Cell::number(format!("{:.1}", 100.0 * of(|outcome| outcome.slower))),
            Cell::number(format!("{:.2}", all.iter().map(|it| it.worst).fold(1.0, f64::max))),
        ]);
    }
    table
}
