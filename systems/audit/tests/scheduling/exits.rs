//! What may cross a side exit, and who is blamed where it may not.

use audit::decode::Isa;
use audit::decode::code::Flow;
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::SourceFrame;
use audit::timing::depend::{Crossing, Licence, Why, dependences};
use audit::timing::explain::explain;
use audit::timing::licence::{Effort, Step, crossings, sinkings, smallest};
use audit::timing::pipe::Need;
use audit::timing::search::search;
use audit::timing::time_path;
use fastrand::Rng;

use super::{core, function, straight_code};
use crate::support::made::of_words;

/// Straight code with tests and side exits in it, all to one place at its end.
fn code_with_exits(rng: &mut Rng, n: usize) -> Vec<u32> {
    let mut words = Vec::new();
    while words.len() < n {
        if rng.u32(0..4) == 0 {
            words.push(0xe350_0000 | rng.u32(0..5) << 16);
            words.push(0x0a00_0000);
        } else {
            words.extend(straight_code(rng, 1));
        }
    }
    let end = words.len() as u32;
    for (idx, word) in words.iter_mut().enumerate().filter(|(_, it)| **it == 0x0a00_0000) {
        *word |= end.wrapping_sub(idx as u32 + 2) & 0x00ff_ffff;
    }
    words.extend([0xe3a0_0000, 0xe12f_ff1e]);
    words
}

#[test]
fn more_licence_is_never_slower() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let function = function(&code_with_exits(&mut rng, 14));
        let audit =
            time_path(&function, &core("arm1136jf-s"), &Guide::of(&function), Effort::Search)
                .expect("it has instructions");
        let totals: Vec<u32> =
            audit.reached.iter().map(|found| found.timing.total_cycles).collect();
        assert_eq!(audit.reached.iter().map(|found| found.step).collect::<Vec<_>>(), Step::ALL);
        assert!(totals.is_sorted_by(|a, b| a >= b), "seed {seed}: {totals:?}");
        let cycles = &audit.cycles;
        let bound = cycles.lower_bound;
        assert_eq!(cycles.total_cycles, cycles.issue_cycles + cycles.stall_cycles, "seed {seed}");
        assert_eq!(
            cycles.total_cycles,
            bound.issue + bound.in_block + bound.side_exit + bound.inherent,
            "seed {seed}"
        );
        assert_eq!(bound.total, bound.issue + bound.inherent, "seed {seed}");
        assert!(
            bound.total <= cycles.best_cycles && cycles.best_cycles <= cycles.total_cycles,
            "seed {seed}"
        );
        // A quick answer says no more than the long one.
        let quick =
            time_path(&function, &core("arm1136jf-s"), &Guide::of(&function), Effort::Bounds)
                .expect("it has instructions");
        assert!(quick.cycles.lower_bound.total <= bound.total, "seed {seed}");
    }
}

#[test]
fn stores_stay_between_their_exits() {
    let full = Licence { renames: true, crosses: Crossing::Promised, reorders_memory: true };
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let function = function(&code_with_exits(&mut rng, 20));
        let trace = hot_trace(&Guide::of(&function));
        let edges =
            dependences(&function, &StackFrame::of(&function), &trace, &core("arm1136jf-s"), full);
        let needs = Need::of_trace(&function, &trace, &core("arm1136jf-s"));
        let found = search(&needs, &edges, &core("arm1136jf-s"), 2000);
        let place = |at: usize| found.order.iter().position(|it| *it as usize == at);
        for store in (0..trace.places.len()).filter(|at| {
            function.instructions[trace.places[*at]].accesses.iter().any(|access| access.is_store)
        }) {
            for exit in &trace.exits {
                assert_eq!(place(store) < place(exit.at), store < exit.at, "seed {seed}");
            }
        }
        let is_branch = |at: &usize| function.instructions[trace.places[*at]].flow != Flow::Next;
        let branches: Vec<usize> =
            found.order.iter().map(|found| *found as usize).filter(is_branch).collect();
        assert!(branches.is_sorted(), "seed {seed}");
    }
}

/// Loads, each with who waits for it, and either stores or tests between.
fn waiting_code(rng: &mut Rng) -> Vec<u32> {
    let mut words = Vec::new();
    let has_tests = rng.bool();
    for nth in 1..=5 {
        let base = 8 + rng.u32(0..2);
        words.extend([
            0xe590_0000 | base << 16 | nth << 12 | (4 * nth),
            0xe280_0001 | nth << 16 | nth << 12,
        ]);
        match (rng.bool(), has_tests) {
            (true, true) => words.extend([0xe350_0000 | nth << 16, 0x0a00_0000]),
            (true, false) => words.push(0xe580_0000 | (17 - base) << 16 | nth << 12),
            (false, _) => {}
        }
    }
    let end = words.len() as u32;
    for (idx, word) in words.iter_mut().enumerate().filter(|(_, it)| **it == 0x0a00_0000) {
        *word |= end.wrapping_sub(idx as u32 + 2) & 0x00ff_ffff;
    }
    words.extend([0xe3a0_0000, 0xe12f_ff1e]);
    words
}

/// A wait is explained by what fills it: in the faster order the load or instruction that is named
/// stands between what is waited for and who waits, or is one of the two. Another that moved, for
/// another wait, is not named.
#[test]
fn who_is_blamed_for_a_wait_fills_it() {
    let core = core("arm1136jf-s");
    let (mut n_exits, mut n_stores) = (0, 0);
    for seed in 0..120 {
        let mut rng = Rng::with_seed(seed);
        let mut function = function(&waiting_code(&mut rng));
        // Each instruction has a line of its own, so that it is known by it.
        let frame = |line| SourceFrame { function: "f".to_owned(), file: "f.s".to_owned(), line };
        function.frames =
            (0..function.instructions.len()).map(|idx| vec![frame(idx as u32)]).collect();
        let timed = time_path(&function, &core, &Guide::of(&function), Effort::Search)
            .expect("it has instructions");
        for finding in explain(&function, &core, &timed) {
            let at = timed
                .trace
                .places
                .iter()
                .position(|place| *place == finding.idx)
                .expect("it waits on the path");
            let prevents = finding.prevents.expect("something is said of each");
            // What fills it inside the block stands there.
            let is_exit = |at: usize| timed.trace.exits.iter().any(|exit| exit.at == at);
            let is_inside = |place: usize| {
                let (from, to) = (place.min(finding.idx), place.max(finding.idx));
                let here = timed.trace.places.iter().enumerate();
                !here.filter(|(_, place)| (from..to).contains(place)).any(|(at, _)| is_exit(at))
            };
            assert!(
                !prevents.contains("inside the block")
                    || finding.fillers.iter().all(|filler| is_inside(filler.0)),
                "seed {seed}: {}: {prevents}: {:?}",
                finding.instruction,
                finding.fill
            );
            let lines: Vec<usize> = prevents
                .split("(line ")
                .skip(1)
                .map(|part| part[..part.find(')').expect("it ends")].parse().expect("a number"))
                .collect();
            let is_store =
                prevents.contains("may read what") || prevents.contains("does not read what");
            let named = match lines[..] {
                [load, .., store] if is_store => vec![load, store],
                [mover, ..]
                    if prevents.contains("stays below")
                        || prevents.contains("stays above")
                        || prevents.contains("stays behind")
                        || prevents.contains("may not go above") =>
                {
                    vec![mover]
                }
                _ if prevents.starts_with("nothing by itself") => Vec::new(),
                _ => continue,
            };
            let (idx, _) =
                smallest(&timed.reached, &timed.timing, at).expect("a licence shortens it");
            let order = &timed.reached[idx].found.order;
            let place = |at: usize| {
                order.iter().position(|it| *it as usize == at).expect("orders are whole")
            };
            let of_line = |line: usize| {
                timed
                    .trace
                    .places
                    .iter()
                    .position(|place| *place == line)
                    .expect("it is on the path")
            };
            let (from, to) = (place(timed.causes[at][0].producer as usize), place(at));
            let is_between =
                |line: &usize| (from.min(to)..=from.max(to)).contains(&place(of_line(*line)));
            if named.is_empty() {
                // Nobody who crosses an exit fills this one, and nothing is advised.
                let (rises, sinks) =
                    (crossings(order, &timed.trace), sinkings(order, &timed.trace));
                let crosses = rises
                    .iter()
                    .chain(&sinks)
                    .any(|(it, _)| is_between(&timed.trace.places[*it as usize]));
                assert!(
                    !crosses && finding.ways.is_empty(),
                    "seed {seed}: {}: {prevents}",
                    finding.instruction
                );
                continue;
            }
            assert!(
                named.iter().any(is_between),
                "seed {seed}: {}: {prevents}",
                finding.instruction
            );
            *(if is_store { &mut n_stores } else { &mut n_exits }) += 1;
        }
    }
    assert!(n_exits > 20 && n_stores > 5, "too few to tell anything: {n_exits}, {n_stores}");
}

#[test]
fn a_load_through_a_copy_goes_above_a_test_if_the_pointer_was_followed() {
    // mov x4, x0; ldr x5, [x0]; cbz x5, 6; ldr x6, [x4, #8]; add x0, x6, x6; ret; 6: ret
    let stays = |copy: u32| {
        let words =
            [copy, 0xf940_0005, 0xb400_0085, 0xf940_0486, 0x8b06_00c0, 0xd65f_03c0, 0xd65f_03c0];
        let function = of_words(Isa::A64, &words);
        let trace = hot_trace(&Guide::of(&function));
        let licence = Licence { renames: true, crosses: Crossing::Proved, reorders_memory: false };
        let edges = dependences(
            &function,
            &StackFrame::of(&function),
            &trace,
            &core("cortex-a53"),
            licence,
        );
        edges.iter().any(|edge| (edge.from, edge.to) == (2, 3))
    };
    assert!(!stays(0xaa00_03e4));
    // add x4, x0, #0 is the same, orr x4, x2, x0 is another.
    assert!(!stays(0x9100_0004) && stays(0xaa00_0044));
}

/// Whoever is called on the way that a test leads aside finds the frames by it.
#[test]
fn a_frame_pointer_is_made_above_the_ways_that_call() {
    // stp x29, x30, [sp, #-32]!; the other; cbz x1, 12; ldr x2, [x0]; ret; bl; ret
    let stays = |word: u32| {
        let words = [0xa9be_7bfd, word, 0xb400_0061, 0xf940_0002, 0xd65f_03c0, 0x9400_0100];
        let function = of_words(Isa::A64, &[&words[..], &[0xd65f_03c0]].concat());
        let trace = hot_trace(&Guide::of(&function));
        let licence = Step::PastStore.licence();
        let core = core("cortex-a55");
        let edges = dependences(&function, &StackFrame::of(&function), &trace, &core, licence);
        edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (1, 2, Why::Control))
    };
    assert!(stays(0x9100_03fd)); // mov x29, sp
    assert!(stays(0x9100_43fd)); // add x29, sp, #16
    assert!(!stays(0xaa03_03e9)); // mov x9, x3
}
