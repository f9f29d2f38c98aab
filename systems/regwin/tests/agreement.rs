//! QEMU and the simulator count the same, whatever threads do.

use regwin::image::{Program, Recipe};
use regwin::scenario::Scenario;
use regwin::sim::cost::Costs;
use regwin::{Behaviour, Cc, Schedule, Scheme, sim, spell, work};

fn compare(recipe: Recipe, windows: u32, blobs: &[regwin::qemu::Blob], threads: &[String], what: &str) -> String {
    let real = work::run(&recipe, windows, blobs, threads).unwrap_or_else(|fault| panic!("{what}, {recipe:?}, {windows}: {fault:?}"));
    let sim = sim::run(&recipe, windows, blobs, threads).unwrap_or_else(|fault| panic!("{what}, {recipe:?}, {windows}: {fault:?}"));
    assert_eq!(real.counts, sim.counts, "{what}, {recipe:?}, {windows} windows: left QEMU, right the simulator");
    assert_eq!(real.output, sim.output, "{what}, {recipe:?}, {windows} windows");
    let (_, code) = work::image(&recipe).expect("the image was built before");
    let cores = work::cores();
    let costs = Costs::new(&code, recipe.scheme, [&cores[0], &cores[1]]);
    for machine in 0..2 {
        let (worst, _) = costs.worst_switch(recipe.scheme, windows, machine);
        let longest = u64::from(real.counts.worst_switch_cycles(machine));
        assert!(longest <= worst, "{what}, {recipe:?}, {windows} windows: a switch of {longest} cycles, the worst case is {worst}");
    }
    real.output
}

/// Scenarios to compare: `REGWIN_SCENARIOS`, or 50.
fn n_scenarios() -> u64 {
    std::env::var("REGWIN_SCENARIOS").map_or(50, |it| it.parse().expect("REGWIN_SCENARIOS is a number"))
}

#[test]
fn random_scenarios_count_alike() {
    for seed in 0..n_scenarios() {
        let scenario = Scenario::random(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let scheme = Scheme::ALL[rng.usize(..Scheme::ALL.len())];
        let cc = if scheme == Scheme::Flat || rng.bool() { Cc::Gcc } else { Cc::Clang };
        let recipe = Recipe { program: Program::Scenario, scheme, schedule: Schedule::ALL[rng.usize(..2)], cc };
        let output = compare(recipe, rng.u32(4..=32), &scenario.blobs(), &scenario.names(), &format!("seed {seed}"));
        assert!(!output.contains("wrong"), "seed {seed}: a value in a window was lost\n{output}");
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
        let recipe = Recipe { program: Program::Spell, scheme, schedule, cc };
        let output = compare(recipe, windows, &spell::blobs(behaviour), &threads, behaviour.name());
        outputs.push(spell::misspelt(&output).join(" "));
    }
    outputs.dedup();
    assert_eq!(outputs.len(), 1, "{outputs:#?}");
    assert!(outputs[0].contains("paragaph") && !outputs[0].contains("paragraph "), "{}", outputs[0]);
}
