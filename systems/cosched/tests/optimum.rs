//! `pairing` beside the best of all schedules, for few threads and four quanta.

use cosched::contention::{Base, Demand, Model};
use cosched::machine::Machine;
use cosched::policies::{Name, ProgramView, Settings, ThreadView, View};

const QUANTUM_S: f64 = 0.1;
const N_QUANTA: usize = 4;
const SEED: u64 = 20_041;
const N_WORKLOADS: usize = 1000;

/// Threads of one program each: demand in MB/s, work in seconds alone.
struct Case {
    demand: Vec<f64>,
    work_s: Vec<f64>,
    n_cpus: usize,
}

fn rates(case: &Case, machine: &Machine, running: &[usize]) -> Vec<f64> {
    let demand = |number: &usize| Demand {
        read_mbps: case.demand[*number],
        write_mbps: 0.0,
        sensitivity: 0.0,
        footprint_mb: 0.0,
        reuse_mbps: 0.0,
    };
    let demands: Vec<Demand> = running.iter().map(demand).collect();
    Model::plain(Base::M1).rates(machine.links[0], 0.0, &demands).0
}

/// One quantum: the work that is left afterwards and when threads ended.
fn quantum(
    case: &Case,
    machine: &Machine,
    running: &[usize],
    left: &mut [f64],
    ended: &mut [f64],
    start: f64,
) {
    let mut now = start;
    let mut running: Vec<usize> = running.iter().copied().filter(|idx| left[*idx] > 0.0).collect();
    while now < start + QUANTUM_S - 1e-12 && !running.is_empty() {
        let rates = rates(case, machine, &running);
        let step = running
            .iter()
            .zip(&rates)
            .map(|(it, rate)| left[*it] / rate)
            .fold(start + QUANTUM_S - now, f64::min);
        now += step;
        for (it, rate) in running.iter().zip(&rates) {
            left[*it] -= rate * step;
            if left[*it] < 1e-12 {
                (left[*it], ended[*it]) = (0.0, now);
            }
        }
        running.retain(|running| left[*running] > 0.0);
    }
}

/// The least sum of turnarounds over all schedules that finish in time.
fn best(case: &Case, machine: &Machine, at: usize, left: &[f64], sum: f64, least: &mut f64) {
    if left.iter().all(|it| *it == 0.0) {
        *least = least.min(sum);
        return;
    }
    let open: Vec<usize> = (0..left.len()).filter(|idx| left[*idx] > 0.0).collect();
    // Who has not ended ends later than now.
    let soonest = sum + open.len() as f64 * at as f64 * QUANTUM_S;
    if at == N_QUANTA || soonest >= *least {
        return;
    }
    let n = case.n_cpus.min(open.len());
    for chosen in 0u32..1 << open.len() {
        if chosen.count_ones() as usize != n {
            continue;
        }
        let running: Vec<usize> =
            (0..open.len()).filter(|idx| chosen >> idx & 1 == 1).map(|idx| open[idx]).collect();
        let (mut left, mut ended) = (left.to_vec(), vec![0.0; left.len()]);
        quantum(case, machine, &running, &mut left, &mut ended, at as f64 * QUANTUM_S);
        best(case, machine, at + 1, &left, sum + ended.iter().sum::<f64>(), least);
    }
}

/// The sum of turnarounds under a policy that knows the demands.
fn under(name: Name, case: &Case, machine: &Machine) -> f64 {
    let mut policy = name.policy(Settings::default());
    let mut left = case.work_s.clone();
    let mut ended = vec![0.0; left.len()];
    for at in 0..1000 {
        if left.iter().all(|it| *it == 0.0) {
            break;
        }
        let programs: Vec<ProgramView> = (0..left.len())
            .map(|idx| ProgramView {
                n_threads: 1,
                first: idx,
                is_active: left[idx] > 0.0,
                is_malleable: true,
            })
            .collect();
        let thread = |number: usize| ThreadView {
            program: number,
            latest_mbps: case.demand[number],
            window_mbps: vec![case.demand[number]],
            write_share: 0.0,
            slowdown: None,
            is_ready: left[number] > 0.0,
            was_running: false,
        };
        let threads: Vec<ThreadView> = (0..left.len()).map(thread).collect();
        let placement = policy.decide(&View { machine, programs: &programs, threads: &threads });
        let running: Vec<usize> = placement.into_iter().flatten().collect();
        quantum(case, machine, &running, &mut left, &mut ended, f64::from(at) * QUANTUM_S);
    }
    ended.iter().sum()
}

#[test]
fn pairing_is_near_the_best_of_all_schedules() {
    let mut random = fastrand::Rng::with_seed(SEED);
    let (mut n, mut worse, mut sum, mut sum_rr, mut worst) = (0, 0, 0.0, 0.0, 0.0f64);
    while n < N_WORKLOADS {
        let n_cpus = random.usize(2..=3);
        let n_threads = random.usize(n_cpus + 1..=8.min(n_cpus * 4));
        let case = Case {
            demand: (0..n_threads).map(|_| 50.0 + 1450.0 * random.f64()).collect(),
            work_s: vec![QUANTUM_S * (0.3 + 0.5 * random.f64()); n_threads],
            n_cpus,
        };
        let machine = Machine::paper(n_cpus);
        let mut least = f64::INFINITY;
        best(&case, &machine, 0, &case.work_s, 0.0, &mut least);
        if least.is_infinite() {
            continue;
        }
        n += 1;
        let ours = under(Name::Pairing, &case, &machine) / least;
        sum += ours;
        sum_rr += under(Name::Rr, &case, &machine) / least;
        worst = worst.max(ours);
        worse += usize::from(ours > 1.05);
    }
    let (mean, mean_rr) = (sum / n as f64, sum_rr / n as f64);
    let said = format!(
        "seed {SEED}: {n} workloads; over the best: mean {mean:.3}, worst {worst:.3}, {worse} above 1.05; rr {mean_rr:.3}"
    );
    assert!(mean <= 1.01 && mean < mean_rr, "{said}");
    assert!(worse * 50 <= n && worst < 1.2, "{said}");
}

/// Demands of threads on three processors, among which nobody can choose without knowing how
/// long the work is.
const UNDECIDABLE: [f64; 8] = [1426.0, 1235.0, 1433.0, 1314.0, 1049.0, 1184.0, 606.0, 397.0];

/// What is left is work that ends within a quantum: whoever sees demands only must choose the first
/// threads before it knows how long the work is, and whichever it chooses there is a length for
/// which they were wrong, even if all is known from then on.
#[test]
fn no_policy_is_within_5_percent_of_the_best_for_every_length_of_work() {
    let (n_cpus, n_threads) = (3, UNDECIDABLE.len());
    let machine = Machine::paper(n_cpus);
    let firsts: Vec<Vec<usize>> = (0u32..1 << n_threads)
        .filter(|idx| idx.count_ones() as usize == n_cpus)
        .map(|chosen| (0..n_threads).filter(|idx| chosen >> idx & 1 == 1).collect())
        .collect();
    let mut worst = vec![1.0f64; firsts.len()];
    for length in 0..=25 {
        let work_s = QUANTUM_S * (0.3 + 0.02 * f64::from(length));
        let case = Case { demand: UNDECIDABLE.to_vec(), work_s: vec![work_s; n_threads], n_cpus };
        let mut least = f64::INFINITY;
        best(&case, &machine, 0, &case.work_s, 0.0, &mut least);
        if least.is_infinite() {
            continue;
        }
        for (first, worst) in firsts.iter().zip(&mut worst) {
            let (mut left, mut ended) = (case.work_s.clone(), vec![0.0; n_threads]);
            quantum(&case, &machine, first, &mut left, &mut ended, 0.0);
            let mut after = f64::INFINITY;
            best(&case, &machine, 1, &left, ended.iter().sum(), &mut after);
            *worst = worst.max(after / least);
        }
    }
    let safest = worst.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(safest > 1.1, "the safest first choice is {safest:.3} above the best for some length");
}
