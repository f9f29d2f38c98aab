//! Reads the Standard Workload Format of the Parallel Workloads Archive: a job a line, 18 numbers,
//! -1 for what is not known, and comments behind `;` of which some say how large the machine was.

use std::collections::BTreeMap;

use report::Diagnostic;

/// A job as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Seconds since the beginning of the trace.
    pub submit_s: f64,
    /// Seconds that it ran.
    pub runtime_s: f64,
    /// Seconds that its user asked for; what it ran where that is not known.
    pub estimate_s: f64,
    /// Its processors: those it got, or those it asked for.
    pub n_procs: usize,
    /// Kilobytes of memory a processor, if known: used, or asked for.
    pub memory_kb: Option<f64>,
    /// Its user, if known.
    pub user: Option<i64>,
    /// Its program, if known.
    pub program: Option<i64>,
}

/// What a trace has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The jobs in the order of their submission.
    pub jobs: Vec<Recorded>,
    /// `MaxNodes` of its header.
    pub n_nodes: Option<usize>,
    /// `MaxProcs` of its header.
    pub n_procs: Option<usize>,
    /// What was missing or left out, and how often.
    pub odd: BTreeMap<String, usize>,
}

const N_FIELDS: usize = 18;
/// The fields that are read, by their place from 0.
const SUBMIT: usize = 1;
const RUNTIME: usize = 3;
const GOT: usize = 4;
const USED_KB: usize = 6;
const ASKED: usize = 7;
const ESTIMATE: usize = 8;
const ASKED_KB: usize = 9;
const USER: usize = 11;
const PROGRAM: usize = 13;

/// Reads a trace that is called `file` in messages.
///
/// Errors: a line that is no list of numbers, with its number; a file without a job that ran.
pub fn parse(file: &str, text: &str) -> Result<Trace, Diagnostic> {
    let mut trace = Trace::default();
    let mut count = |what: &str| *trace.odd.entry(what.to_owned()).or_default() += 1;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix(';') {
            let Some((name, value)) = comment.split_once(':') else { continue };
            let value = value
                .split_whitespace()
                .next()
                .and_then(|word| word.parse().ok())
                .filter(|it| *it > 0);
            match name.trim() {
                "MaxNodes" => trace.n_nodes = value.or(trace.n_nodes),
                "MaxProcs" => trace.n_procs = value.or(trace.n_procs),
                _ => {}
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse::<f64>).collect();
        let Some(numbers) = numbers.ok().filter(|it| it.iter().all(|number| number.is_finite()))
        else {
            let help = "a line has 18 numbers, -1 for what is not known; comments begin with `;`";
            return Err(Diagnostic::new(format!(
                "{file}:{}: this is no job of the Standard Workload Format",
                number + 1
            ))
            .with_help(help));
        };
        if numbers.len() < N_FIELDS {
            count("lines with fewer than 18 fields; the others are taken as not known");
        }
        let known = |at: usize| numbers.get(at).copied().filter(|number| *number > 0.0);
        let Some(submit_s) = numbers.get(SUBMIT).copied().filter(|number| *number >= 0.0) else {
            count("jobs left out: no time of submission");
            continue;
        };
        let Some(runtime_s) = known(RUNTIME) else {
            count("jobs left out: they did not run, or nobody knows how long");
            continue;
        };
        let Some(n_procs) = known(GOT).or(known(ASKED)) else {
            count("jobs left out: no number of processors");
            continue;
        };
        if known(ESTIMATE).is_none() {
            count("jobs without a time asked for: what they ran is taken");
        }
        let memory_kb = known(USED_KB).or(known(ASKED_KB));
        if memory_kb.is_none() {
            count("jobs of unknown memory: the share of their processors is taken");
        }
        let id = |at: usize| known(at).map(|known| known as i64);
        trace.jobs.push(Recorded {
            submit_s,
            runtime_s,
            estimate_s: known(ESTIMATE).unwrap_or(runtime_s).max(runtime_s),
            n_procs: n_procs as usize,
            memory_kb,
            user: id(USER),
            program: id(PROGRAM),
        });
    }
    trace.jobs.sort_by(|a, b| a.submit_s.total_cmp(&b.submit_s));
    if trace.jobs.is_empty() {
        return Err(Diagnostic::new(format!("`{file}` has no job that ran")));
    }
    Ok(trace)
}

/// So many invented jobs: sizes are powers of two up to a quarter of the machine, run times
/// between a minute and a day with all magnitudes alike, arrivals at random, so that they ask for
/// `load` of the processors.
pub fn synthetic(n_jobs: usize, n_procs: usize, load: f64, seed: u64) -> Trace {
    let mut random = fastrand::Rng::with_seed(seed);
    let largest = (n_procs as f64 / 4.0).max(1.0).log2();
    let mut jobs: Vec<Recorded> = (0..n_jobs)
        .map(|_| {
            let runtime_s = 60.0 * 1440f64.powf(random.f64());
            let n_procs = 2f64.powf((random.f64() * (largest + 1.0)).floor()) as usize;
            let user = Some(random.i64(1..200));
            let estimate_s = runtime_s * (1.0 + 3.0 * random.f64());
            Recorded {
                submit_s: 0.0,
                runtime_s,
                estimate_s,
                n_procs,
                memory_kb: None,
                user,
                program: Some(random.i64(1..5)),
            }
        })
        .collect();
    let work: f64 = jobs.iter().map(|job| job.runtime_s * job.n_procs as f64).sum();
    let span_s = work / (load * n_procs as f64);
    jobs.iter_mut().for_each(|job| job.submit_s = random.f64() * span_s);
    jobs.sort_by(|a, b| a.submit_s.total_cmp(&b.submit_s));
    Trace { jobs, ..Trace::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_counted_and_what_is_wrong_is_named() {
        let text = "; Version: 2.2\n; MaxNodes: 128\n; MaxProcs: 256\n\n1 0 5 100 4 -1 2048 8 300 -1 1 7 1 3 1 -1 -1 -1\n\
                    2 10 5 -1 4 -1 -1 -1 -1 -1 0 7 1 3 1 -1 -1 -1\n3 5 -1 60 -1 -1 -1 2 -1 -1 1\n";
        let trace = parse("t.swf", text).expect("it is right");
        assert_eq!((trace.n_nodes, trace.n_procs), (Some(128), Some(256)));
        let first = Recorded {
            submit_s: 0.0,
            runtime_s: 100.0,
            estimate_s: 300.0,
            n_procs: 4,
            memory_kb: Some(2048.0),
            user: Some(7),
            program: Some(3),
        };
        assert_eq!(trace.jobs[0], first);
        assert_eq!(
            (trace.jobs.len(), trace.jobs[1].n_procs, trace.jobs[1].estimate_s),
            (2, 2, 60.0)
        );
        let odd: Vec<(&str, usize)> = trace
            .odd
            .iter()
            .map(|(what, n)| (what.split(':').next().unwrap_or(what), *n))
            .collect();
        let expected = [
            ("jobs left out", 1),
            ("jobs of unknown memory", 1),
            ("jobs without a time asked for", 1),
            ("lines with fewer than 18 fields; the others are taken as not known", 1),
        ];
        assert_eq!(odd, expected);
        let error = parse("t.swf", "; x\n1 2 three\n").expect_err("words are no numbers");
        assert!(error.message.starts_with("t.swf:2: "), "{}", error.message);
        assert!(parse("t.swf", "; nothing\n").is_err());
    }

    #[test]
    fn a_synthetic_trace_asks_for_the_load() {
        let trace = synthetic(20_000, 4096, 0.8, 1);
        let work: f64 = trace.jobs.iter().map(|job| job.runtime_s * job.n_procs as f64).sum();
        let span = trace.jobs.last().expect("jobs").submit_s;
        assert!((work / span / 4096.0 - 0.8).abs() < 0.02);
        assert!(trace.jobs.iter().all(|job| job.n_procs >= 1 && job.n_procs <= 1024));
    }
}
