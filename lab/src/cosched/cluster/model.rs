//! A cluster on paper: jobs of a trace on nodes that are shared or not, by how much of a node's
//! memory link each asks for.
//!
//! A job that may share a node takes halves of nodes, twice as many as it would take whole ones,
//! and leaves the other halves to others. Beside a job that computes, one that streams has more of
//! the link than its own threads left each other; beside another that streams it has no more. A job
//! goes as fast as its slowest half. The trace says how long it ran on whole nodes of its own.
//!
//! What is not in it: messages between nodes (twice as many take part), caches, and time in the
//! queue of a real scheduler's cycle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cosched::contention::{Base, Demand, Model};
use cosched::machine::Capacity;

use super::nodes::{Half, N_LEVELS, Nodes, Places, Want, demand, level};
use super::swf::Trace;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    pub n_nodes: usize,
    /// Processors of a node; even.
    pub n_cores: usize,
    /// Gigabytes (10^9 bytes) of a node; 0: memory is no limit.
    pub memory_gb: f64,
}

/// Which jobs get nodes, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Whole nodes, in the order of submission.
    InOrder,
    /// Whole nodes; whoever fits, the first first.
    FirstFit,
    /// Whole nodes; whoever fits and does not delay the first of the queue.
    Easy,
    /// The same with halves of nodes, beside whomever.
    Blind,
    /// The same, and no two jobs share a node that together ask for more than its link carries.
    Paired,
}

impl Scheme {
    /// All, in the order of tables.
    pub const ALL: [Scheme; 5] =
        [Scheme::InOrder, Scheme::FirstFit, Scheme::Easy, Scheme::Blind, Scheme::Paired];

    pub fn name(self) -> &'static str {
        match self {
            Scheme::InOrder => "in-order",
            Scheme::FirstFit => "first-fit",
            Scheme::Easy => "easy",
            Scheme::Blind => "shared-blind",
            Scheme::Paired => "paired",
        }
    }

    fn shares(self) -> bool {
        matches!(self, Scheme::Blind | Scheme::Paired)
    }
}

/// What programs ask for: the share of a node's link that one asks for on all its processors, and
/// how common it is.
pub type Mix = Vec<(f64, f64)>;

/// The programs of the paper's Table 1 on its machine, as many of each, and as many that only
/// compute. Source: `workloads/table1/programs.toml`: MB/s of a thread times four over 1797.
pub fn table_1_mix() -> Mix {
    [0.02, 290.0, 338.0, 514.0, 530.0, 939.0]
        .map(|number| (if number < 1.0 { number } else { 4.0 * number / 1797.0 }, 1.0))
        .into()
}

/// What is assumed of the jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Assumed {
    /// What they ask for.
    pub mix: Mix,
    /// The share of the users that do not share nodes, 0 to 1.
    pub refuse: f64,
    pub seed: u64,
}

/// Jobs behind the first of the queue that are looked at for backfilling.
/// Source: `bf_max_job_test` of Slurm, 500 unless set.
const DEPTH: usize = 500;
/// Together two jobs may ask for so much more than a link carries.
const ALIKE: f64 = 1.1;
/// Slowdowns are bounded by a run time of so many seconds, as is the custom.
const BOUND_S: f64 = 10.0;

/// A job on this cluster.
#[derive(Debug, Clone)]
struct Job {
    submit_s: f64,
    runtime_s: f64,
    estimate_s: f64,
    want: Want,
    /// Its speed on whole nodes of its own, of the one it would have without any limit.
    alone: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Seconds from submission to end, mean over the jobs.
    pub turnaround_s: f64,
    /// Seconds in the queue, mean.
    pub wait_s: f64,
    /// Turnaround over run time on nodes of its own, at least 10 s, mean.
    pub slowdown: f64,
    /// Seconds from the first submission to the last end.
    pub makespan_s: f64,
    /// Share of the nodes that was taken, mean over that time.
    pub taken: f64,
    /// Share of the jobs that ran longer than on nodes of their own by more than 1 %.
    pub slower: f64,
    /// How many times longer the worst of them.
    pub worst: f64,
}

/// Jobs of a trace that fit the cluster; how many do not.
fn jobs(trace: &Trace, cluster: Cluster, scheme: Scheme, assumed: &Assumed) -> (Vec<Job>, usize) {
    let total: f64 = assumed.mix.iter().map(|pair| pair.1).sum();
    let mut n_large = 0;
    let mut all = Vec::new();
    for (at, it) in trace.jobs.iter().enumerate() {
        let half_cores = cluster.n_cores.div_ceil(2);
        let n_nodes = it.n_procs.div_ceil(cluster.n_cores);
        // A user's program asks for the same each time.
        let user = it.user.unwrap_or(-(at as i64));
        let mut of_program =
            fastrand::Rng::with_seed(mixed(assumed.seed, user, it.program.unwrap_or(0)));
        let mut drawn = of_program.f64() * total;
        let ask = assumed.mix.iter().find(|(_, weight)| {
            drawn -= weight;
            drawn <= 0.0
        });
        let ask = ask.or(assumed.mix.last()).map_or(0.0, |ask| ask.0);
        let mut of_user = fastrand::Rng::with_seed(mixed(assumed.seed, user, -1));
        let refuses = of_user.f64() < assumed.refuse;
        let of_cores = |n: usize| it.n_procs as f64 / n as f64 / cluster.n_cores as f64;
        let fewest = it.n_procs.div_ceil(half_cores);
        // Fewer halves than two a node would put more of its threads on a link than whole nodes do.
        let crowds = scheme == Scheme::Paired && 2.0 * ask * of_cores(fewest) > ALIKE;
        let n_halves = if crowds { 2 * n_nodes } else { fewest };
        let memory = match it.memory_kb {
            Some(kb) if cluster.memory_gb > 0.0 => {
                kb * 1024.0 * it.n_procs as f64 / n_halves as f64 / (cluster.memory_gb * 1e9)
            }
            _ => of_cores(n_halves).min(0.5),
        };
        // What does not fit beside its own half, and has more halves than there are nodes, wants
        // whole nodes.
        let is_whole = !scheme.shares()
            || refuses
            || memory > 1.0
            || 2.0 * memory > 1.0 && n_halves > cluster.n_nodes;
        if n_nodes > cluster.n_nodes {
            n_large += 1;
            continue;
        }
        let most = if scheme == Scheme::Paired { ALIKE } else { f64::INFINITY };
        let want = Want {
            n_halves,
            n_nodes,
            is_whole,
            level: level(ask * of_cores(n_halves)),
            memory,
            most,
        };
        let alone = (1.0 / (ask * of_cores(n_nodes)).max(1e-9)).min(1.0);
        all.push(Job {
            submit_s: it.submit_s,
            runtime_s: it.runtime_s,
            estimate_s: it.estimate_s,
            want,
            alone,
        });
    }
    (all, n_large)
}

fn mixed(seed: u64, user: i64, program: i64) -> u64 {
    let mut random =
        fastrand::Rng::with_seed(seed ^ (user as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.u64(..) ^ (program as u64).wrapping_mul(0xd1b5_4a32_d192_ed03)
}

/// The speed of half a node's threads beside others, of the one they would have without any limit.
fn rate(own: usize, other: usize) -> f64 {
    let ask = |level: usize| Demand {
        read_mbps: demand(level),
        write_mbps: 0.0,
        sensitivity: 0.0,
        footprint_mb: 0.0,
        reuse_mbps: 0.0,
    };
    Model::plain(Base::M1).rates(Capacity::bus(1.0), 0.0, &[ask(own), ask(other)]).0[0]
}

/// A job that runs.
struct Running {
    places: Places,
    /// How many of its halves are beside a job of each level.
    beside: Vec<u32>,
    started_s: f64,
    /// Seconds of its recorded run time that are left, at `at_s`.
    left_s: f64,
    at_s: f64,
    speed: f64,
    /// Of its end in the queue of events; an older one is void.
    version: u32,
}

struct ClusterSim<'a> {
    jobs: &'a [Job],
    scheme: Scheme,
    nodes: Nodes,
    running: Vec<Option<Running>>,
    queue: Vec<usize>,
    /// Ends: time in nanoseconds, job, version.
    ends: BinaryHeap<Reverse<(u64, usize, u32)>>,
    speeds: Vec<f64>,
    now_s: f64,
}

fn nanos(time_s: f64) -> u64 {
    (time_s * 1e9) as u64
}

/// Runs a trace to its end; how many of its jobs are larger than the cluster and left out.
pub fn run(trace: &Trace, cluster: Cluster, scheme: Scheme, assumed: &Assumed) -> (Outcome, usize) {
    let (jobs, n_large) = jobs(trace, cluster, scheme, assumed);
    let speeds = (0..N_LEVELS * N_LEVELS).map(|idx| rate(idx / N_LEVELS, idx % N_LEVELS)).collect();
    let mut sim = ClusterSim {
        jobs: &jobs,
        scheme,
        nodes: Nodes::new(cluster.n_nodes),
        running: (0..jobs.len()).map(|_| None).collect(),
        queue: Vec::new(),
        ends: BinaryHeap::new(),
        speeds,
        now_s: 0.0,
    };
    let (mut arrived, mut done) = (0, 0);
    let mut sums = [0.0f64; 4];
    let (mut taken, mut n_slower, mut worst) = (0.0, 0usize, 1.0f64);
    let first_s = jobs.first().map_or(0.0, |job| job.submit_s);
    sim.now_s = first_s;
    while done < jobs.len() {
        let next_end = sim.next_end();
        let next_arrival = jobs.get(arrived).map(|job| job.submit_s);
        let next_s = match (next_end, next_arrival) {
            (Some(end), Some(arrival)) => end.min(arrival),
            (Some(end), None) => end,
            (None, Some(arrival)) => arrival,
            (None, None) => panic!("jobs wait, none runs, and none comes"),
        };
        taken += sim.nodes.n_taken() * (next_s - sim.now_s);
        sim.now_s = next_s;
        while let Some(job) = sim.pop_end() {
            let it = &jobs[job];
            let started_s = sim.end(job);
            let ran_s = sim.now_s - started_s;
            let turnaround_s = sim.now_s - it.submit_s;
            sums[0] += turnaround_s;
            sums[1] += started_s - it.submit_s;
            sums[2] += (turnaround_s / it.runtime_s.max(BOUND_S)).max(1.0);
            n_slower += usize::from(ran_s > 1.01 * it.runtime_s);
            worst = worst.max(ran_s / it.runtime_s);
            done += 1;
        }
        while arrived < jobs.len() && jobs[arrived].submit_s <= sim.now_s {
            sim.queue.push(arrived);
            arrived += 1;
        }
        sim.schedule();
    }
    let n = jobs.len().max(1) as f64;
    let makespan_s = sim.now_s - first_s;
    let outcome = Outcome {
        turnaround_s: sums[0] / n,
        wait_s: sums[1] / n,
        slowdown: sums[2] / n,
        makespan_s,
        taken: taken / makespan_s.max(1e-9) / cluster.n_nodes as f64,
        slower: n_slower as f64 / n,
        worst,
    };
    (outcome, n_large)
}

impl ClusterSim<'_> {
    fn next_end(&mut self) -> Option<f64> {
        while let Some(Reverse((time, job, version))) = self.ends.peek() {
            if self.running[*job].as_ref().is_some_and(|running| running.version == *version) {
                return Some((*time as f64 / 1e9).max(self.now_s));
            }
            self.ends.pop();
        }
        None
    }

    /// A job that ends now.
    fn pop_end(&mut self) -> Option<usize> {
        let end = self.next_end()?;
        if end > self.now_s {
            return None;
        }
        self.ends.pop().map(|end| end.0.1)
    }

    /// Starts whom the scheme lets start.
    fn schedule(&mut self) {
        let mut at = 0;
        // What the first job that has to wait is promised: from when, and nodes that it does not
        // need.
        let mut promised: Option<(f64, usize)> = None;
        let mut n_looked = 0;
        while at < self.queue.len() {
            let job = self.queue[at];
            let it = &self.jobs[job];
            let places = self.nodes.find(&it.want);
            let may_start = places.filter(|places| match promised {
                None => true,
                Some((from_s, extra)) => {
                    self.now_s + it.estimate_s <= from_s
                        || self.nodes.n_free_at(places, from_s) <= extra
                }
            });
            if let Some(places) = may_start {
                if let Some((from_s, extra)) = &mut promised
                    && self.now_s + it.estimate_s > *from_s
                {
                    *extra -= self.nodes.n_free_at(&places, *from_s);
                }
                self.start(job, places);
                self.queue.remove(at);
                continue;
            }
            if promised.is_none() {
                promised = match self.scheme {
                    Scheme::InOrder => return,
                    // Nothing is promised: whoever fits may start.
                    Scheme::FirstFit => Some((f64::INFINITY, usize::MAX)),
                    Scheme::Easy | Scheme::Blind | Scheme::Paired => {
                        let whole = if it.want.is_whole {
                            it.want.n_nodes
                        } else {
                            it.want.n_halves.div_ceil(2)
                        };
                        Some(self.nodes.expected(whole, self.now_s))
                    }
                };
            }
            at += 1;
            n_looked += 1;
            if n_looked > DEPTH || self.nodes.n_free() == 0 && !self.scheme.shares() {
                return;
            }
        }
    }

    fn start(&mut self, job: usize, places: Places) {
        let it = &self.jobs[job];
        let half = Half { job, level: it.want.level, memory: it.want.memory };
        let mut beside = vec![0u32; if it.want.is_whole { 0 } else { N_LEVELS }];
        let mut neighbours = Vec::new();
        self.nodes.take(&places, half, it.want.is_whole, self.now_s + it.estimate_s, |other| {
            beside[other.level] += 1;
            if other.job != job {
                neighbours.push(other.job);
            }
        });
        self.running[job] = Some(Running {
            places,
            beside,
            started_s: self.now_s,
            left_s: it.runtime_s,
            at_s: self.now_s,
            speed: 1.0,
            version: 0,
        });
        for other in &neighbours {
            let other = self.running[*other].as_mut().expect("a neighbour runs");
            other.beside[it.want.level] += 1;
        }
        neighbours.push(job);
        self.reckon(neighbours);
    }

    /// Takes a job off; when it started.
    fn end(&mut self, job: usize) -> f64 {
        let it = self.running[job].take().expect("it runs");
        let level = self.jobs[job].want.level;
        let mut neighbours = Vec::new();
        let (jobs, running) = (self.jobs, &self.running);
        let end_of = |other: usize| {
            running[other].as_ref().map_or(0.0, |running| running.started_s)
                + jobs[other].estimate_s
        };
        self.nodes.give(&it.places, job, self.now_s, end_of, |other| neighbours.push(other.job));
        for other in &neighbours {
            let other = self.running[*other].as_mut().expect("a neighbour runs");
            other.beside[level] -= 1;
        }
        self.reckon(neighbours);
        it.started_s
    }

    /// The speeds of these jobs, and when they end.
    fn reckon(&mut self, mut whom: Vec<usize>) {
        whom.sort_unstable();
        whom.dedup();
        for job in whom {
            let it = &self.jobs[job];
            let running = self.running[job].as_mut().expect("it runs");
            let worst = running.beside.iter().rposition(|it| *it > 0).unwrap_or(0);
            // On whole nodes it goes as it was recorded.
            let speed = if it.want.is_whole {
                1.0
            } else {
                self.speeds[it.want.level * N_LEVELS + worst] / it.alone
            };
            running.left_s =
                (running.left_s - (self.now_s - running.at_s) * running.speed).max(0.0);
            (running.at_s, running.speed) = (self.now_s, speed);
            running.version += 1;
            self.ends.push(Reverse((
                nanos(self.now_s + running.left_s / speed),
                job,
                running.version,
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosched::cluster::swf::{self, Recorded};

    fn recorded(submit_s: f64, runtime_s: f64, n_procs: usize, user: i64) -> Recorded {
        Recorded {
            submit_s,
            runtime_s,
            estimate_s: runtime_s,
            n_procs,
            memory_kb: None,
            user: Some(user),
            program: Some(1),
        }
    }

    fn trace(jobs: Vec<Recorded>) -> Trace {
        Trace { jobs, ..Trace::default() }
    }

    const FOUR: Cluster = Cluster { n_nodes: 4, n_cores: 4, memory_gb: 0.0 };

    fn alike(ask: f64) -> Assumed {
        Assumed { mix: vec![(ask, 1.0)], refuse: 0.0, seed: 1 }
    }

    #[test]
    fn backfilling_by_hand() {
        // The second waits for all nodes; the third fits beside the first and ends before the
        // second may start, the fourth does not.
        let jobs = vec![
            recorded(0.0, 100.0, 8, 1),
            recorded(1.0, 50.0, 16, 2),
            recorded(2.0, 60.0, 8, 3),
            recorded(3.0, 200.0, 8, 4),
        ];
        let mean = |scheme| run(&trace(jobs.clone()), FOUR, scheme, &alike(0.0)).0.turnaround_s;
        // In order: 0-100, 100-150, 150-210, 150-350.
        assert!((mean(Scheme::InOrder) - (100.0 + 149.0 + 208.0 + 347.0) / 4.0).abs() < 1e-6);
        // First fit: 0-100, 2-62, 62-262; all nodes at 262.
        assert!((mean(Scheme::FirstFit) - (100.0 + 311.0 + 60.0 + 259.0) / 4.0).abs() < 1e-6);
        // EASY: 0-100, 2-62, 100-150, 150-350.
        assert!((mean(Scheme::Easy) - (100.0 + 149.0 + 60.0 + 347.0) / 4.0).abs() < 1e-6);
    }

    #[test]
    fn a_stream_beside_computation_runs_faster_and_beside_a_stream_does_not() {
        // A stream that asks for twice a link runs at half its speed on nodes of its own; with a
        // node to itself a half has all it asks for.
        let one = trace(vec![recorded(0.0, 100.0, 8, 1)]);
        let alone = run(&one, FOUR, Scheme::Paired, &alike(2.0)).0;
        assert!((alone.turnaround_s - 50.0).abs() < 2.0, "{}", alone.turnaround_s);
        // Beside others of its kind: as on whole nodes.
        let four = trace((0..4).map(|idx| recorded(0.0, 100.0, 8, idx)).collect());
        let blind = run(&four, FOUR, Scheme::Blind, &alike(2.0)).0;
        assert!((blind.turnaround_s - 100.0).abs() < 60.0 && blind.worst < 1.05, "{blind:?}");
        // Computation loses nothing to anybody.
        let calm = run(&four, FOUR, Scheme::Paired, &alike(0.02)).0;
        assert!((calm.worst - 1.0).abs() < 0.01 && calm.slower < 1e-9, "{calm:?}");
    }

    #[test]
    fn streams_are_never_paired_and_all_jobs_end() {
        for seed in 0..20 {
            let trace = swf::synthetic(400, 256, 1.1, seed);
            let cluster = Cluster { n_nodes: 64, n_cores: 4, memory_gb: 0.0 };
            for scheme in Scheme::ALL {
                let assumed = Assumed { mix: table_1_mix(), refuse: 0.2, seed };
                let (outcome, n_large) = run(&trace, cluster, scheme, &assumed);
                assert_eq!(n_large, 0, "seed {seed}");
                assert!(
                    outcome.taken > 0.1 && outcome.taken <= 1.0 + 1e-9,
                    "seed {seed} {scheme:?}: {outcome:?}"
                );
                assert!(
                    outcome.turnaround_s >= outcome.wait_s,
                    "seed {seed} {scheme:?}: {outcome:?}"
                );
                if !scheme.shares() {
                    assert!(
                        outcome.slower < 1e-9 && (outcome.worst - 1.0).abs() < 1e-6,
                        "seed {seed} {scheme:?}: {outcome:?}"
                    );
                }
                // Two that together ask for no more than a tenth above the link lose no more than
                // that, and rounding.
                if scheme == Scheme::Paired {
                    assert!(outcome.worst < 1.2, "seed {seed}: {outcome:?}");
                }
            }
        }
    }

    #[test]
    fn memory_and_refusal_keep_jobs_apart() {
        let large = |user| Recorded { memory_kb: Some(1e6), ..recorded(0.0, 100.0, 8, user) };
        let jobs = trace((0..4).map(large).collect());
        // A half has two processors: 2 GB of 3.
        let cluster = Cluster { memory_gb: 3.0, ..FOUR };
        let mean = |cluster, refuse| {
            run(&jobs, cluster, Scheme::Paired, &Assumed { refuse, ..alike(0.1) }).0.turnaround_s
        };
        assert!(
            (mean(Cluster { memory_gb: 6.0, ..FOUR }, 0.0) - 150.0).abs() < 1.0,
            "two at a time"
        );
        assert!((mean(cluster, 0.0) - 250.0).abs() < 1.0, "one after another, on all nodes");
        assert!((mean(cluster, 1.0) - 150.0).abs() < 1.0, "whole nodes hold both halves");
        // More halves than nodes, each of which fills a node: whole nodes then, as the trace had
        // them.
        let all = trace(vec![Recorded { memory_kb: Some(1e6), ..recorded(0.0, 100.0, 16, 1) }]);
        for scheme in Scheme::ALL {
            let outcome = run(&all, cluster, scheme, &alike(0.1)).0;
            assert!((outcome.turnaround_s - 100.0).abs() < 1.0, "{scheme:?}: {outcome:?}");
        }
    }
}
