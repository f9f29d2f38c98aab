//! Bounds of switches, traps and interrupt entries: no run exceeds one, and what cannot be bounded
//! is named.

use crate::support::random;

use std::collections::BTreeMap;
use std::process::Command;

use regwin::code::Code;
use regwin::image::{Program, Recipe};
use regwin::qemu::{self, Blob, Watch};
use regwin::wcet::{self, Bound};
use regwin::{Allocate, Behaviour, Schedule, Scheme, Variant, sim, spell, work};

const WINDOWED: [Scheme; 4] = [Scheme::Ns, Scheme::Snp, Scheme::Sp, Scheme::Adaptive];

/// The bounds of a recipe's image for 4 to 32 windows, on both machines.
type Bounds = [Vec<(wcet::Routine, Vec<Bound>)>; 2];

fn bounds(code: &Code) -> Bounds {
    let windows: Vec<u32> = (4..=32).collect();
    work::cores()
        .each_ref()
        .map(|core| wcet::bounds(code, core, &windows).expect("the image is the runtime's"))
}

/// Random scenarios, under each scheme and number of windows: no switch is longer or shorter than
/// the walk says. The simulator counts as QEMU does (agreement.rs).
#[test]
fn no_switch_of_a_random_run_is_outside_its_bounds() {
    let n = if std::env::var_os("MEANWHILE_LONG").is_some() { 10_000 } else { 300 };
    let mut known: BTreeMap<String, Bounds> = BTreeMap::new();
    for seed in 0..n {
        let mut rng = fastrand::Rng::with_seed(seed);
        let scheme = WINDOWED[rng.usize(..4)];
        let allocate = Allocate::ALL[rng.usize(..3)];
        let allocate = if allocate.fits(scheme) { allocate } else { Allocate::Simple };
        let variant = [Variant::Plain, Variant::Checked][rng.usize(..2)];
        let locks = rng.bool();
        let schedule = Schedule::ALL[rng.usize(..if locks { 3 } else { 2 })];
        let recipe =
            Recipe { allocate, variant, ..Recipe::new(Program::Scenario, scheme, schedule) };
        let scenario = if locks { random::with_locks(seed) } else { random::scenario(seed) };
        let windows = rng.u32(4..=32);
        let done =
            sim::run(&recipe, windows, &scenario.blobs(), &scenario.names()).expect("it ends");
        let bounds = known
            .entry(format!("{recipe:?}"))
            .or_insert_with(|| bounds(&work::image(&recipe).expect("it was built").1));
        for (machine, bounds) in bounds.iter().enumerate() {
            let of = |pair: &(wcet::Routine, Vec<Bound>)| {
                pair.0.name.starts_with("switch").then(|| pair.1[windows as usize - 4])
            };
            let switches: Vec<Bound> = bounds.iter().filter_map(of).collect();
            let (least, most) = (
                switches.iter().map(|switch| switch.least).min(),
                switches.iter().map(|switch| switch.most).max(),
            );
            for span in &done.counts.spans {
                let cycles = u64::from(span.cycles[machine]);
                let inside = least <= Some(cycles) && Some(cycles) <= most;
                assert!(
                    inside,
                    "seed {seed}, {recipe:?}, {windows} windows, machine {machine}: {span:?}, {least:?} to {most:?}"
                );
            }
        }
    }
}

/// Each routine alone, under QEMU, in programs that trap, are interrupted and compute with floats.
#[test]
fn no_trap_and_no_interrupt_is_outside_its_bounds() {
    let cores = work::cores();
    let machines = [&cores[0], &cores[1]];
    let scenario = random::with_locks(3);
    for scheme in WINDOWED {
        let mut n_seen = 0;
        let interrupts = Recipe {
            variant: Variant::Preempt,
            ..Recipe::new(Program::Scenario, scheme, Schedule::Priorities)
        };
        let plain = Recipe::new(Program::Spell, scheme, Schedule::WorkingSet);
        let runs: [(Recipe, Vec<Blob>); 2] =
            [(interrupts, scenario.preempted(701)), (plain, spell::blobs(Behaviour::LowCoarse))];
        for (recipe, blobs) in runs {
            let (path, code) = work::image(&recipe).expect("it is built");
            for windows in [4, 7, 31] {
                let bounds = [0, 1].map(|machine| {
                    wcet::bounds(&code, machines[machine], &[windows])
                        .expect("the image is the runtime's")
                });
                let watch = |pair: &(wcet::Routine, _)| {
                    wcet::watch(&code, &cores[0], &pair.0).expect("its bounds were found")
                };
                let watches: Vec<Watch> = bounds[0].iter().map(watch).collect();
                let raw = qemu::run_watched(&path, &code, windows, &blobs, machines, &watches)
                    .expect("it ends");
                assert!(raw.console.ends_with("regwin: done\n"), "{}", raw.console);
                for (idx, (routine, _)) in bounds[0].iter().enumerate() {
                    n_seen += usize::from(!raw.spans[idx].is_empty());
                    for (machine, bounds) in bounds.iter().enumerate() {
                        let bound = bounds[idx].1[0];
                        for span in &raw.spans[idx] {
                            let cycles = u64::from(span.cycles[machine]);
                            assert!(
                                (bound.least..=bound.most).contains(&cycles),
                                "{recipe:?}, {windows}, {routine:?}: {cycles}, {bound:?}"
                            );
                        }
                    }
                }
            }
        }
        assert!(n_seen >= 24, "{scheme:?}: only {n_seen} routines ran");
    }
}

/// One run counts the spans of each watch as a run for that watch alone does, whatever begins and
/// ends inside of which.
#[test]
fn watches_do_not_disturb_each_other() {
    let (path, code) = work::image(&Recipe::new(Program::Spell, Scheme::Snp, Schedule::WorkingSet))
        .expect("it is built");
    let cores = work::cores();
    let run = |watches: &[Watch]| {
        let raw = qemu::run_watched(
            &path,
            &code,
            5,
            &spell::blobs(Behaviour::LowCoarse),
            [&cores[0], &cores[1]],
            watches,
        )
        .expect("it ends");
        let mut spans = raw.spans;
        spans.iter_mut().for_each(|span| span.sort_unstable());
        spans
    };
    let routines = wcet::bounds(&code, &cores[0], &[5]).expect("the image is the runtime's");
    let mut watches: Vec<Watch> = routines
        .iter()
        .map(|routine| wcet::watch(&code, &cores[0], &routine.0).expect("it is bounded"))
        .collect();
    // Everything from one switch to the next one, around all the others.
    watches.push(Watch { begins: vec![code.address("thr_leave")], ends: vec![], words: None });
    let together = run(&watches);
    assert_eq!(together.len(), watches.len());
    assert!(
        together.iter().filter(|recorded| !recorded.is_empty()).count() >= 4
            && together.last().is_some_and(|together| together.len() > 1),
        "{together:?}"
    );
    for (watch, spans) in watches.into_iter().zip(&together) {
        assert_eq!(&run(std::slice::from_ref(&watch))[0], spans, "{watch:?}");
    }
}

/// A handler of one path is its instructions, and the trap; the switch of `ns` stores one window at
/// least, and all but one at most.
#[test]
fn bounds_are_sums_where_they_can_be_added_by_hand() {
    let (_, code) =
        work::image(&Recipe::new(Program::Spell, Scheme::Ns, Schedule::Fifo)).expect("it is built");
    for core in &work::cores() {
        let all = wcet::bounds(&code, core, &[4, 8, 32]).expect("the image is the runtime's");
        let of = |name: &str| {
            &all.iter()
                .find(|pair| pair.0.name == name)
                .unwrap_or_else(|| panic!("{name} is bounded"))
                .1
        };
        let trap = u64::from(core.trap_cycles.expect("both take traps"));
        let vector = code.address("vector_overflow");
        let overflow =
            trap + code.cycles(vector..vector + 16, core) + code.block_cycles("overflow", core);
        assert_eq!(of("window overflow"), &[Bound { least: overflow, most: overflow }; 3]);
        let window = code.block_cycles("block_next", core) + code.block_cycles("block_again", core);
        let [four, eight, most] = [0, 1, 2].map(|number| of("switch")[number]);
        assert_eq!([four.least, eight.least], [most.least; 2]);
        assert_eq!(
            (four.most, eight.most, most.most),
            (four.least + 2 * window, four.least + 6 * window, four.least + 30 * window)
        );
    }
}

/// Beside the longest switch that the simulator's rules know of: what can happen is never above
/// what the code allows.
#[test]
fn the_longest_switch_by_the_rules_is_within_the_bound_of_the_code() {
    for scheme in WINDOWED {
        let recipe = Recipe::new(Program::Spell, scheme, Schedule::Fifo);
        let (_, code) = work::image(&recipe).expect("it is built");
        let cores = work::cores();
        let costs = sim::costs(&recipe, &code, [&cores[0], &cores[1]]);
        for (machine, bounds) in bounds(&code).iter().enumerate() {
            for windows in 4..=32u32 {
                let switches = bounds.iter().filter(|bound| bound.0.name.starts_with("switch"));
                let most = switches
                    .map(|switch| switch.1[windows as usize - 4].most)
                    .max()
                    .expect("there are switches");
                let (longest, _) = costs.worst_switch(windows, machine);
                assert!(
                    longest <= most,
                    "{scheme:?}, {windows} windows, machine {machine}: {longest}, the bound is {most}"
                );
                assert!(
                    scheme == Scheme::Adaptive || longest == most,
                    "{scheme:?}, {windows} windows, machine {machine}: {longest} of {most}"
                );
            }
        }
    }
}

#[test]
fn a_loop_without_a_bound_is_named() {
    let (path, _) =
        work::image(&Recipe::new(Program::Spell, Scheme::Ns, Schedule::Fifo)).expect("it is built");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let bare = folder.path().join("bare.elf");
    let mut command = Command::new("sparc64-linux-gnu-objcopy");
    assert!(
        command
            .args(["--remove-section", ".bounds"])
            .args([&path, &bare])
            .status()
            .expect("binutils are installed")
            .success()
    );
    let code = Code::parse(&std::fs::read(&bare).expect("it was written")).expect("it is an image");
    let error =
        wcet::bounds(&code, &work::cores()[0], &[8]).expect_err("its loops have no bounds").0;
    assert!(
        error.starts_with("the loop at block_next") && error.contains("RUNS_AT_MOST"),
        "{error}"
    );
}
