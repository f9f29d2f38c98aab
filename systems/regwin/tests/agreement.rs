//! QEMU and the simulator count the same, whatever threads do.

use crate::support::random;

use regwin::image::{Program, Recipe};
use regwin::scenario::Scenario;
use regwin::{Allocate, Behaviour, Cc, Schedule, Scheme, Variant, sim, spell, work};

fn compare(
    recipe: Recipe,
    windows: u32,
    blobs: &[regwin::qemu::Blob],
    threads: &[String],
    what: &str,
) -> String {
    let real = work::run(&recipe, windows, blobs, threads)
        .unwrap_or_else(|fault| panic!("{what}, {recipe:?}, {windows}: {fault:?}"));
    let sim = sim::run(&recipe, windows, blobs, threads)
        .unwrap_or_else(|fault| panic!("{what}, {recipe:?}, {windows}: {fault:?}"));
    assert_eq!(
        real.counts, sim.counts,
        "{what}, {recipe:?}, {windows} windows: left QEMU, right the simulator"
    );
    assert_eq!(real.output, sim.output, "{what}, {recipe:?}, {windows} windows");
    let (_, code) = work::image(&recipe).expect("the image was built before");
    let cores = work::cores();
    let costs = sim::costs(&recipe, &code, [&cores[0], &cores[1]]);
    for machine in 0..2 {
        let (worst, _) = costs.worst_switch(windows, machine);
        let longest = u64::from(real.counts.worst_switch_cycles(machine));
        assert!(
            longest <= worst,
            "{what}, {recipe:?}, {windows} windows: a switch of {longest} cycles, the worst case is {worst}"
        );
    }
    real.output
}

/// Scenarios to compare: `REGWIN_SCENARIOS`, or 30.
fn n_scenarios() -> u64 {
    std::env::var("REGWIN_SCENARIOS")
        .map_or(30, |value| value.parse().expect("REGWIN_SCENARIOS is a number"))
}

#[test]
fn random_scenarios_count_alike() {
    for seed in 0..n_scenarios() {
        let scenario = random::scenario(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let scheme = Scheme::ALL[rng.usize(..Scheme::ALL.len())];
        let cc = if scheme == Scheme::Flat || rng.bool() { Cc::Gcc } else { Cc::Clang };
        let allocate = Allocate::ALL[rng.usize(..3)];
        let allocate = if allocate.fits(scheme) { allocate } else { Allocate::Simple };
        let recipe = Recipe {
            cc,
            allocate,
            ..Recipe::new(Program::Scenario, scheme, Schedule::ALL[rng.usize(..2)])
        };
        let windows = rng.u32(4..=32);
        let recipe =
            Recipe { variant: [Variant::Plain, Variant::Checked][rng.usize(..2)], ..recipe };
        let output =
            compare(recipe, windows, &scenario.blobs(), &scenario.names(), &format!("seed {seed}"));
        assert!(!output.contains("wrong"), "seed {seed}: a value in a window was lost\n{output}");
    }
}

/// The same with mutexes and semaphores, under all three schedules.
#[test]
fn random_scenarios_with_locks_and_priorities_count_alike() {
    for seed in 0..n_scenarios() {
        let scenario = random::with_locks(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let scheme = Scheme::ALL[rng.usize(..Scheme::ALL.len())];
        let cc = if scheme == Scheme::Flat || rng.bool() { Cc::Gcc } else { Cc::Clang };
        let schedule = [Schedule::Priorities, Schedule::ALL[rng.usize(..3)]][rng.usize(..2)];
        let variant = [Variant::Plain, Variant::Checked][rng.usize(..2)];
        let recipe = Recipe { cc, variant, ..Recipe::new(Program::Scenario, scheme, schedule) };
        let output = compare(
            recipe,
            rng.u32(4..=32),
            &scenario.blobs(),
            &scenario.names(),
            &format!("seed {seed}"),
        );
        assert!(!output.contains("wrong"), "seed {seed}: a value in a window was lost\n{output}");
    }
}

/// The same where threads compute with floating point: which thread has the unit when, and
/// what its traps cost.
#[test]
fn random_scenarios_with_floats_count_alike() {
    let mut n_traps = 0;
    for seed in 0..n_scenarios() {
        let scenario = random::with_floats(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let scheme = [Scheme::Ns, Scheme::Snp, Scheme::Sp, Scheme::Adaptive][rng.usize(..4)];
        let recipe = Recipe {
            cc: Cc::ALL[rng.usize(..2)],
            ..Recipe::new(Program::Scenario, scheme, Schedule::ALL[rng.usize(..3)])
        };
        let recipe = Recipe { variant: Variant::Fpu, ..recipe };
        let output = compare(
            recipe,
            rng.u32(4..=32),
            &scenario.blobs(),
            &scenario.names(),
            &format!("seed {seed}"),
        );
        assert!(!output.contains("wrong"), "seed {seed}: a value in a register was lost\n{output}");
        n_traps += u64::from(scenario.has_floats());
    }
    assert!(n_traps > n_scenarios() / 2, "{n_traps} scenarios computed with floating point");
}

/// The same where threads wait for a clock, which one of them makes tick.
#[test]
fn random_scenarios_with_a_clock_count_alike() {
    for seed in 0..n_scenarios() {
        let scenario = random::with_waits(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let scheme = [Scheme::Ns, Scheme::Snp, Scheme::Sp, Scheme::Adaptive][rng.usize(..4)];
        let recipe = Recipe {
            cc: Cc::ALL[rng.usize(..2)],
            ..Recipe::new(Program::Scenario, scheme, Schedule::ALL[rng.usize(..3)])
        };
        let recipe = Recipe { variant: Variant::Preempt, ..recipe };
        let output = compare(
            recipe,
            rng.u32(4..=32),
            &scenario.blobs(),
            &scenario.names(),
            &format!("seed {seed}"),
        );
        assert!(!output.contains("wrong"), "seed {seed}: a value in a window was lost\n{output}");
    }
}

/// The scenarios that come with the tool end, and count alike.
#[test]
fn bundled_scenarios_end() {
    for (name, text) in [
        ("ping-pong", include_str!("../scenarios/ping-pong.txt")),
        ("deep", include_str!("../scenarios/deep.txt")),
    ] {
        let scenario = Scenario::parse(name, text).expect("the file is right");
        for scheme in Scheme::ALL {
            let recipe = Recipe::new(Program::Scenario, scheme, Schedule::Fifo);
            for windows in [4, 8] {
                let output = compare(recipe, windows, &scenario.blobs(), &scenario.names(), name);
                assert!(
                    !output.contains("stuck") && !output.contains("wrong"),
                    "{name}, {scheme:?}, {windows} windows: {output}"
                );
            }
        }
    }
}

/// An interrupt comes every few hundred instructions, anywhere in the program, at the same
/// places in each run of a seed. Threads then run in another order, but each must compute
/// what it computes without.
#[test]
fn interrupted_threads_lose_nothing() {
    for seed in 0..n_scenarios() {
        let scenario =
            if seed % 2 == 0 { random::with_rounds(seed, 5) } else { random::with_locks(seed) };
        let mut rng = fastrand::Rng::with_seed(seed);
        let scheme = [Scheme::Ns, Scheme::Snp, Scheme::Sp, Scheme::Adaptive][rng.usize(..4)];
        let cc = Cc::ALL[rng.usize(..2)];
        let recipe =
            Recipe { cc, ..Recipe::new(Program::Scenario, scheme, Schedule::ALL[rng.usize(..3)]) };
        let (windows, quantum) = (rng.u32(4..=32), rng.u32(10..200));
        let recipe =
            Recipe { variant: [Variant::Preempt, Variant::Float][rng.usize(..2)], ..recipe };
        let run = |quantum| {
            let what = format!("seed {seed}, {recipe:?}, {windows} windows, {quantum} ticks");
            let output = work::run_plain(&recipe, windows, &scenario.preempted(quantum))
                .unwrap_or_else(|fault| panic!("{what}: {fault:?}"));
            assert!(!output.contains("wrong"), "{what}: a value in a window was lost\n{output}");
            output
        };
        assert_eq!(
            run(0),
            run(quantum),
            "seed {seed}, {recipe:?}, {windows} windows, {quantum} ticks"
        );
    }
}

/// The variants that the report compares compute the same; none of them is simulated.
#[test]
fn variants_lose_nothing() {
    let variants = [
        (Scheme::Snp, Variant::CopyAll),
        (Scheme::Sp, Variant::NoPeephole),
        (Scheme::Ns, Variant::NoPeephole),
        (Scheme::Ns, Variant::TwoATrap),
        (Scheme::Ns, Variant::FourATrap),
    ];
    for (seed, (scheme, variant)) in variants.into_iter().cycle().take(10).enumerate() {
        let scenario = random::scenario(seed as u64);
        let recipe = Recipe { variant, ..Recipe::new(Program::Scenario, scheme, Schedule::Fifo) };
        let windows = fastrand::Rng::with_seed(seed as u64).u32(6..=32);
        let run = |recipe: &Recipe| {
            work::run_plain(recipe, windows, &scenario.blobs()).expect("it runs to its end")
        };
        let output = run(&recipe);
        assert!(
            !output.contains("wrong"),
            "seed {seed}, {recipe:?}, {windows} windows: a value in a window was lost\n{output}"
        );
        assert_eq!(
            output,
            run(&Recipe { variant: Variant::Plain, ..recipe }),
            "seed {seed}, {recipe:?}, {windows} windows"
        );
    }
}

#[test]
fn the_spell_checker_counts_alike_and_finds_the_same_words() {
    let threads = spell::THREADS.map(str::to_owned);
    let mut outputs = Vec::new();
    let runs = [
        (Scheme::Ns, Schedule::Fifo, Cc::Gcc, 8, Behaviour::HighCoarse),
        (Scheme::Snp, Schedule::WorkingSet, Cc::Clang, 5, Behaviour::HighMedium),
        (Scheme::Sp, Schedule::WorkingSet, Cc::Gcc, 7, Behaviour::HighFine),
        (Scheme::Sp, Schedule::Fifo, Cc::Clang, 32, Behaviour::LowCoarse),
        (Scheme::Adaptive, Schedule::WorkingSet, Cc::Gcc, 7, Behaviour::LowMedium),
        (Scheme::Adaptive, Schedule::Fifo, Cc::Clang, 10, Behaviour::HighCoarse),
        (Scheme::Flat, Schedule::Fifo, Cc::Gcc, 4, Behaviour::LowFine),
    ];
    for (scheme, schedule, cc, windows, behaviour) in runs {
        let recipe = Recipe { cc, ..Recipe::new(Program::Spell, scheme, schedule) };
        let output = compare(recipe, windows, &spell::blobs(behaviour), &threads, behaviour.name());
        outputs.push(spell::misspelt(&output).join(" "));
    }
    outputs.dedup();
    assert_eq!(outputs.len(), 1, "{outputs:#?}");
    assert!(
        outputs[0].contains("paragaph") && !outputs[0].contains("paragraph "),
        "{}",
        outputs[0]
    );
}

#[test]
fn a_scenario_is_read_as_it_is_written() {
    for seed in 0..200 {
        for scenario in [
            random::scenario(seed),
            random::with_locks(seed),
            random::with_floats(seed),
            random::with_waits(seed),
        ] {
            let read = Scenario::parse("it", &scenario.text()).expect("its text is right");
            assert_eq!(read, scenario, "seed {seed}");
        }
    }
}
