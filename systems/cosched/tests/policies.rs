//! Schedules worked out by hand, and what every policy owes to every thread.

use cosched::contention::{Base, Model};
use cosched::machine::{Capacity, Machine};
use cosched::policies::{Name, Policy, ProgramView, Settings, ShareOf, ThreadView, View};
use cosched::sim;
use cosched::workload::{self, Phase, Program, Workload, WorkloadStart};

/// What each decision places, threads as letters, sorted.
struct Table {
    machine: Machine,
    programs: Vec<ProgramView>,
    threads: Vec<ThreadView>,
}

impl Table {
    /// Programs of so many threads, each thread with what it moved last in MB/s.
    fn new(n_cpus: usize, programs: &[&[f64]]) -> Table {
        let mut views = Vec::new();
        let mut threads = Vec::new();
        for (program, rates) in programs.iter().enumerate() {
            views.push(ProgramView {
                n_threads: rates.len(),
                first: threads.len(),
                is_active: true,
                is_malleable: true,
            });
            threads.extend(rates.iter().map(|rate| ThreadView {
                program,
                latest_mbps: *rate,
                window_mbps: vec![*rate],
                write_share: 0.0,
                slowdown: None,
                is_ready: true,
                was_running: false,
            }));
        }
        Table { machine: Machine::paper(n_cpus), programs: views, threads }
    }

    fn next(&self, policy: &mut dyn Policy) -> String {
        let placement = policy.decide(&View {
            machine: &self.machine,
            programs: &self.programs,
            threads: &self.threads,
        });
        let mut letters: Vec<char> =
            placement.into_iter().flatten().map(|number| (b'A' + number as u8) as char).collect();
        letters.sort_unstable();
        letters.into_iter().collect()
    }
}

fn singles(rates: &[f64]) -> Vec<&[f64]> {
    rates.iter().map(std::slice::from_ref).collect()
}

#[test]
fn b2arr_by_hand() {
    // Four processors, 1797 MB/s. A and B are first: 1000; 797 for two processors are 398.5 each: H
    // (400); 397 are left: D (300).
    let rates = [900.0, 100.0, 800.0, 300.0, 200.0, 700.0, 0.0, 400.0];
    let table = Table::new(4, &singles(&rates));
    let mut policy = Name::B2arr.policy(Settings::default());
    assert_eq!(table.next(policy.as_mut()), "ABDH");
    // The queue is C E F G A B H D. C and E: 1000, as before: H, D.
    assert_eq!(table.next(policy.as_mut()), "CDEH");
    // F G A B C E H D: 700; 548.5 each: H is nearest (400), then of 697 left C (800).
    assert_eq!(table.next(policy.as_mut()), "CFGH");
}

#[test]
fn b2arr_takes_the_least_when_the_bus_is_overcommitted() {
    let rates = [1000.0, 1100.0, 700.0, 300.0, 200.0, 900.0];
    let table = Table::new(4, &singles(&rates));
    // A and B ask for 2100: below zero the least is nearest, E, then D.
    assert_eq!(table.next(Name::B2arr.policy(Settings::default()).as_mut()), "ABDE");
}

#[test]
fn half_of_the_processors_rounds_up() {
    let rates = [500.0, 600.0, 700.0, 10.0, 20.0];
    let table = Table::new(3, &singles(&rates));
    // Two by turn (A, B), one by fitness: 697 are left, C.
    assert_eq!(table.next(Name::B2arr.policy(Settings::default()).as_mut()), "ABC");
    let one = Settings { share: ShareOf::Processors(0.0), ..Settings::default() };
    // At least one by turn: A; 1297 for two: 648.5, B (600); 697: C.
    assert_eq!(table.next(Name::B2arr.policy(one).as_mut()), "ABC");
    let bandwidth = Settings { share: ShareOf::Bandwidth(0.5), ..Settings::default() };
    // A takes 500 of 898.5, B would go above: only A by turn.
    assert_eq!(table.next(Name::B2arr.policy(bandwidth).as_mut()), "ABC");
}

#[test]
fn b2adss_by_hand() {
    // Two processors, an epoch of two quanta: four places, two for each program, so every thread
    // once. The mean is 450, a chunk aims at 900: A and B are as far from 450 as C and D, so A; 100
    // is left: C. Then B and D.
    let table = Table::new(2, &[&[800.0, 800.0], &[100.0, 100.0]]);
    let mut policy = Name::B2adss.policy(Settings::default());
    assert_eq!([table.next(policy.as_mut()), table.next(policy.as_mut())], ["AC", "BD"]);
    assert_eq!(policy.age_quanta(), 1);
    assert_eq!([table.next(policy.as_mut()), table.next(policy.as_mut())], ["AC", "BD"]);
}

#[test]
fn b2adss_shares_among_programs_first() {
    // Four places: program 1 wants at most two (one thread, two quanta), program 2 gets the other
    // two.
    let table = Table::new(2, &[&[500.0], &[100.0, 200.0, 300.0]]);
    let mut policy = Name::B2adss.policy(Settings::default());
    let first = [table.next(policy.as_mut()), table.next(policy.as_mut())];
    assert!(first.iter().all(|text| text.starts_with('A') && text.len() == 2), "{first:?}");
}

#[test]
fn round_robin_by_hand() {
    let table = Table::new(2, &singles(&[1.0, 2.0, 3.0]));
    let mut policy = Name::Rr.policy(Settings::default());
    assert_eq!([0; 3].map(|_| table.next(policy.as_mut())), ["AB", "AC", "BC"]);
}

#[test]
fn gangs_run_whole() {
    // The first program has three threads; of those that fit the fourth processor only the single
    // one does.
    let table = Table::new(4, &[&[100.0; 3], &[900.0; 2], &[50.0]]);
    let mut policy = Name::Lqg.policy(Settings::default());
    assert_eq!(table.next(policy.as_mut()), "ABCF");
    // Then the pair is first: two places are left, the single one fits, the three do not.
    assert_eq!(table.next(policy.as_mut()), "DEF");
}

#[test]
fn the_bus_is_never_a_reason_to_starve() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..60 {
        let n_cpus = random.usize(1..5);
        let programs: Vec<Vec<f64>> = (0..random.usize(1..6))
            .map(|_| vec![random.f64() * 1500.0; random.usize(1..6)])
            .collect();
        let programs: Vec<&[f64]> = programs.iter().map(Vec::as_slice).collect();
        let table = Table::new(n_cpus, &programs);
        let n_threads = table.threads.len();
        for &name in Name::ALL {
            let mut policy = name.policy(Settings::default());
            let rounds = if policy.is_manager() { 24 * n_threads } else { 400 * n_threads };
            let mut ran = vec![0u32; programs.len()];
            for _ in 0..rounds {
                let placement = policy.decide(&View {
                    machine: &table.machine,
                    programs: &table.programs,
                    threads: &table.threads,
                });
                placement.iter().flatten().for_each(|idx| ran[table.threads[*idx].program] += 1);
                let mut them: Vec<usize> = placement.into_iter().flatten().collect();
                let n = them.len();
                them.sort_unstable();
                them.dedup();
                assert_eq!(them.len(), n, "{name:?}: a thread is placed twice");
                let gangs = matches!(name, Name::Lqg | Name::Qwg);
                assert!(
                    gangs || n == n_cpus.min(n_threads),
                    "{name:?}: {n} of {n_cpus} processors for {n_threads} threads"
                );
            }
            assert!(ran.iter().all(|it| *it > 0), "{name:?}: {ran:?} on {n_cpus}");
        }
    }
}

#[test]
fn pairing_leaves_things_alone_where_there_is_nothing_to_gain() {
    let table = Table::new(2, &singles(&[10.0, 20.0, 30.0, 40.0, 50.0]));
    let (mut ours, mut rr) =
        (Name::Pairing.policy(Settings::default()), Name::Rr.policy(Settings::default()));
    for _ in 0..20 {
        assert_eq!(table.next(ours.as_mut()), table.next(rr.as_mut()));
    }
}

#[test]
fn who_suffers_is_kept_from_who_asks() {
    // C moves little, but runs at half its speed beside the others: with A the link is as good as
    // overbooked, with B not.
    let mut table = Table::new(2, &singles(&[1700.0, 60.0, 50.0]));
    let first = |table: &Table| table.next(Name::Pairing.policy(Settings::default()).as_mut());
    assert_eq!(first(&table), "AC");
    table.threads[2].slowdown = Some(2.0);
    assert_eq!(first(&table), "AB");
    // Where nobody asks for much nobody is kept apart, whatever slows them down.
    let mut quiet = Table::new(2, &singles(&[10.0, 20.0, 30.0]));
    quiet.threads.iter_mut().for_each(|thread| thread.slowdown = Some(1.6));
    let (mut ours, mut rr) =
        (Name::Pairing.policy(Settings::default()), Name::Rr.policy(Settings::default()));
    (0..6).for_each(|_| assert_eq!(quiet.next(ours.as_mut()), quiet.next(rr.as_mut())));
}

#[test]
fn readers_run_beside_writers_where_links_tell_them_apart() {
    // A and B read, C and D write: A with B asks for the same sum as A with D, but for more reads
    // than the link carries.
    let mut table = Table::new(2, &singles(&[40_000.0, 30_000.0, 40_000.0, 30_000.0]));
    table.machine = Machine::even(
        2,
        1,
        Capacity { read_mbps: 49_000.0, write_mbps: 42_000.0, mixed_mbps: 67_000.0 },
    );
    let first = |table: &Table| table.next(Name::Pairing.policy(Settings::default()).as_mut());
    assert_eq!(first(&table), "AB", "nothing is known of writes");
    table.threads[2..].iter_mut().for_each(|thread| thread.write_share = 1.0);
    assert_eq!(first(&table), "AD");
    // A bus has one limit for both.
    table.machine = Machine::even(2, 1, Capacity::bus(67_000.0));
    assert_eq!(first(&table), "AB");
}

#[test]
fn a_share_of_the_quanta_can_go_by_round_robin() {
    // A and B ask for much: paired with C and D, but together where they are left to round robin.
    let table = Table::new(2, &singles(&[1500.0, 1500.0, 10.0, 10.0]));
    let of = |round_robin: f64| {
        let mut policy = Name::Pairing.policy(Settings { round_robin, ..Settings::default() });
        (0..8).filter(|_| ["AB", "CD"].contains(&table.next(policy.as_mut()).as_str())).count()
    };
    assert_eq!([of(0.0), of(0.25), of(0.5), of(1.0)], [0, 2, 4, 8]);
}

fn program(name: &str, n_threads: usize, work_s: f64, mbps: f64) -> Program {
    let demand = cosched::contention::Demand {
        read_mbps: mbps,
        write_mbps: 0.0,
        sensitivity: 0.0,
        footprint_mb: 0.0,
        reuse_mbps: 0.0,
    };
    Program {
        name: name.into(),
        n_threads,
        work_s,
        region_s: 0.02,
        is_malleable: true,
        is_background: false,
        arrival_s: 0.0,
        after: None,
        phases: vec![Phase { until: 1.0, demand }],
        start: WorkloadStart::Not,
    }
}

fn model() -> Model {
    Model::plain(Base::M2)
}

#[test]
fn a_program_alone_takes_its_work_divided_by_its_threads() {
    for &name in Name::ALL {
        let workload =
            Workload { title: "alone".into(), programs: vec![program("p", 4, 8.0, 100.0)] };
        let outcome = sim::run(
            &workload,
            &Machine::paper(4),
            model(),
            name.policy(Settings::default()).as_mut(),
        );
        assert!(
            (outcome.turnaround_s[0] - 2.0).abs() < 0.02,
            "{name:?}: {:?}",
            outcome.turnaround_s
        );
        assert!(outcome.quanta_idle < 1.0, "{name:?}: {}", outcome.quanta_idle);
    }
}

#[test]
fn a_preempted_thread_delays_siblings_that_cannot_adapt() {
    // Three threads on two processors: who can adapt runs two at a time, who cannot waits at every
    // barrier.
    let turnaround = |is_malleable: bool| {
        let one = Program { is_malleable, ..program("p", 3, 6.0, 0.0) };
        let workload = Workload { title: "barriers".into(), programs: vec![one] };
        sim::run(
            &workload,
            &Machine::paper(2),
            model(),
            Name::Rr.policy(Settings::default()).as_mut(),
        )
        .turnaround_s[0]
    };
    let (adapts, waits) = (turnaround(true), turnaround(false));
    assert!((adapts - 3.0).abs() < 0.1 && waits > 2.0 * adapts, "{adapts} {waits}");
}

#[test]
fn a_successor_starts_when_its_predecessor_ends() {
    let mut second = program("b", 1, 2.0, 0.0);
    second.after = Some(0);
    let workload =
        Workload { title: "chain".into(), programs: vec![program("a", 1, 3.0, 0.0), second] };
    let outcome = sim::run(
        &workload,
        &Machine::paper(4),
        model(),
        Name::Rr.policy(Settings::default()).as_mut(),
    );
    assert!((outcome.end_s - 5.0).abs() < 0.2, "{}", outcome.end_s);
    assert!(
        (outcome.turnaround_s[1] - 2.0).abs() < 0.2,
        "its own time counts from its start: {:?}",
        outcome.turnaround_s
    );
}

#[test]
fn the_background_runs_as_long_as_the_others() {
    let hog = Program { is_background: true, ..program("hog", 1, 0.05, 1700.0) };
    let workload =
        Workload { title: "beside".into(), programs: vec![program("a", 1, 3.0, 500.0), hog] };
    let outcome = sim::run(
        &workload,
        &Machine::paper(2),
        Model::plain(Base::M1),
        Name::Rr.policy(Settings::default()).as_mut(),
    );
    // 500 of 1797 MB/s are less than half: served whole.
    assert!(
        outcome.turnaround_s.len() == 1 && (outcome.end_s - 3.0).abs() < 0.01,
        "{:?}",
        outcome.turnaround_s
    );
    assert!(outcome.bus_utilisation > 0.99, "the hog runs to the end: {}", outcome.bus_utilisation);
}

#[test]
fn the_same_input_gives_the_same_output() {
    let (_, workload) = &workload::table_1()[6];
    let once = || {
        sim::run(
            workload,
            &Machine::paper(4),
            model(),
            Name::Pairing.policy(Settings::default()).as_mut(),
        )
    };
    assert_eq!(once(), once());
}

#[test]
fn work_is_conserved_and_no_link_carries_more_than_it_can() {
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..40 {
        let programs: Vec<Program> = (0..random.usize(1..6))
            .map(|_| {
                program("p", random.usize(1..5), 1.0 + 3.0 * random.f64(), 1200.0 * random.f64())
            })
            .collect();
        let machine = Machine::even(4, random.usize(1..=2), Capacity::bus(1797.0));
        let asked: f64 = programs
            .iter()
            .map(|program| program.work_s * program.phases[0].demand.read_mbps)
            .sum();
        let workload = Workload { title: "random".into(), programs };
        for &name in Name::ALL {
            let outcome =
                sim::run(&workload, &machine, model(), name.policy(Settings::default()).as_mut());
            let moved = outcome.bus_utilisation * machine.mixed_mbps() * outcome.end_s;
            assert!(
                (moved - asked).abs() < 1e-6 * asked.max(1.0),
                "{name:?}: {moved} MB moved of {asked}"
            );
            assert!(outcome.used.iter().all(|it| *it < 1.0 + 1e-9), "{name:?}");
        }
    }
}

#[test]
fn table_1_has_the_degrees_of_the_paper() {
    let degrees: Vec<f64> =
        workload::table_1().iter().map(|pair| pair.1.multiprogramming_degree(4)).collect();
    assert_eq!(degrees, [2.0, 2.0, 4.0, 2.0, 2.0, 4.0, 3.0, 2.0, 4.0]);
}

#[test]
fn pairing_beats_both_policies_of_the_paper_on_table_1() {
    let mean = |workload: &Workload, name: Name| {
        sim::run(workload, &Machine::paper(4), model(), name.policy(Settings::default()).as_mut())
            .mean_s()
    };
    let mut saved = [0.0; 3];
    for (name, it) in workload::table_1() {
        let linux = mean(&it, Name::Linux);
        let times = [Name::Pairing, Name::B2arr, Name::B2adss].map(|name| mean(&it, name));
        assert!(times[0] <= 1.02 * times[1].min(times[2]), "{name}: {times:?}");
        saved.iter_mut().zip(times).for_each(|(saved, time)| *saved += 1.0 - time / linux);
    }
    assert!(saved[0] > saved[1] && saved[0] > saved[2], "{saved:?}");
}

/// Steps on several nodes take processors first, and the policy decides over what is left: another
/// machine in each quantum, perhaps with links that have no processor.
#[test]
fn processors_may_come_and_go() {
    let seed = 48;
    let mut random = fastrand::Rng::with_seed(seed);
    for name in Name::ALL {
        let mut policy = name.policy(Settings::default());
        let rates = [900.0, 100.0, 800.0, 300.0, 200.0, 700.0, 0.0, 400.0];
        let mut table = Table::new(4, &[&rates[..2], &rates[2..3], &rates[3..6], &rates[6..]]);
        let whole = Machine::even(4, 2, Capacity::bus(1797.0));
        for quantum in 0..200 {
            let n_free = random.usize(1..=4);
            table.machine =
                Machine { link_of: whole.link_of[4 - n_free..].to_vec(), ..whole.clone() };
            for program in 0..table.programs.len() {
                let is_active = random.bool();
                table.programs[program].is_active = is_active;
                table
                    .threads
                    .iter_mut()
                    .filter(|thread| thread.program == program)
                    .for_each(|thread| thread.is_ready = is_active);
            }
            let view = View {
                machine: &table.machine,
                programs: &table.programs,
                threads: &table.threads,
            };
            let placement = policy.decide(&view);
            let mut chosen: Vec<usize> = placement.iter().copied().flatten().collect();
            let said = format!("{} in quantum {quantum}, seed {seed}: {placement:?}", name.text());
            assert_eq!(placement.len(), n_free, "{said}");
            assert!(chosen.iter().all(|thread| table.threads[*thread].is_ready), "{said}");
            chosen.sort_unstable();
            chosen.dedup();
            assert_eq!(chosen.len(), placement.iter().flatten().count(), "{said}");
        }
    }
}
