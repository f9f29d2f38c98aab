//! Loops: which there are, what a round takes in the steady state, and the bound below it.

use crate::support::assembler;

use audit::decode::Isa;
use audit::facts::cases::Computed;
use audit::facts::frame::StackFrame;
use audit::facts::loops::{Loop, loops};
use audit::facts::trace::Guide;
use audit::program::function::Function;
use audit::timing::steady::{Steady, steady};
use fastrand::Rng;
use machine::in_order::Core;

fn all(text: &str) -> (Function, Vec<Loop>) {
    let function = assembler::assembled(Isa::A64, text);
    let found = loops(&function, &Guide::of(&function));
    (function, found)
}

/// The only loop of this assembly on Cortex-A53.
fn one(text: &str) -> Steady {
    let (function, found) = all(text);
    assert_eq!(found.len(), 1, "{text}");
    steady(
        &function,
        &StackFrame::of(&function),
        &Core::bundled("cortex-a53").expect("it is bundled"),
        &found[0],
    )
}

#[test]
fn a_chain_from_round_to_round_is_as_long_as_its_latencies() {
    // Steps of chains measured on a Cortex-A53 (`chains.rs`); loop control is done beside them.
    for (step, cycles) in [
        ("mul x2, x2, x3", 4.0_f64),
        ("add x2, x3, x2, lsl #17", 2.0),
        ("ldr x2, [x2]", 3.0),
        ("umulh x2, x2, x3", 6.0),
    ] {
        let round = one(&format!("{step}\nsubs x1, x1, #1\nb.ne #-8\nret\n"));
        // The count and the branch take 4 cycles: a taken one takes 3 there.
        assert_eq!((round.bound.recurrence, round.cycles), (cycles, cycles.max(4.0)), "{step}");
        assert_eq!(round.bound.chain, [0], "{step}");
    }
}

#[test]
fn a_chain_through_several_instructions_is_named() {
    let round = one(
        "ldr x3, [x0], #8\nmadd x2, x2, x2, x3\nadd x2, x2, #1\nsubs x1, x1, #1\nb.ne #-16\nret\n",
    );
    assert_eq!((round.bound.recurrence, round.bound.chain.clone()), (6.0, vec![1, 2]));
    // A round is longer than its chain: in order, the load waits for the branch, and the product
    // for the load.
    assert_eq!(round.cycles, 11.0);
    let waits: Vec<usize> = round.waits.iter().map(|wait| wait.at).collect();
    assert!(
        waits.contains(&2) && round.waits.iter().any(|wait| wait.why.contains("madd")),
        "{:?}",
        round.waits
    );
}

#[test]
fn a_written_back_base_is_no_chain_through_what_is_loaded() {
    for name in ["cortex-m3", "cortex-m4", "cortex-m7", "cortex-a7", "cortex-a8", "cortex-r5"] {
        let core = Core::bundled(name).expect("it is bundled");
        let recurrence = |access: &str| {
            let function = assembler::assembled(
                Isa::T32,
                &format!("{access}\nsubs r1, r1, #1\nbne #-10\nbx lr\n"),
            );
            let found = loops(&function, &Guide::of(&function));
            steady(&function, &StackFrame::of(&function), &core, &found[0]).bound.recurrence
        };
        let usual = recurrence("ldr r2, [r0], #4");
        for access in [
            "ldm.w r0!, {r2, r3, r4}",
            "stm.w r0!, {r2, r3, r4}",
            "str r2, [r0], #4",
            "vldmia r0!, {s0, s1}",
            "vstmia r0!, {s0, s1}",
        ] {
            // Tables that have loads as addresses sooner than sums count a store's base as a sum.
            assert!(
                recurrence(access) <= usual + 1.0,
                "{name}: {access} {} a round, a load of a word {usual}",
                recurrence(access)
            );
        }
    }
}

#[test]
fn the_busiest_unit_is_a_bound() {
    let loads =
        "ldr x2, [x0]\nldr x3, [x0, #8]\nldr x4, [x0, #16]\nldr x5, [x0, #24]\nldr x6, [x0, #32]\n";
    let round = one(&format!("{loads}subs x1, x1, #1\nb.ne #-24\nret\n"));
    assert_eq!((round.bound.units, round.bound.busiest.clone()), (5.0, vec!["memory".to_owned()]));
    assert_eq!(round.bound.total, 5.0);
    assert!(round.cycles >= 5.0);
}

#[test]
fn nested_loops_are_two_and_the_outer_passes_the_inner_once() {
    // 0: mov x3, x4; 1: subs x3, x3, #1; b.ne 1b; subs x1, x1, #1; b.ne 0b; ret
    let (_, found) =
        all("mov x3, x4\nsubs x3, x3, #1\nb.ne #-4\nsubs x1, x1, #1\nb.ne #-16\nret\n");
    let shape: Vec<_> = found
        .iter()
        .map(|number| (number.head, number.round.places.clone(), number.depth, number.has_inner))
        .collect();
    assert_eq!(shape, [(0, vec![0, 1, 2, 3, 4], 0, true), (1, vec![1, 2], 1, false)]);
}

#[test]
fn a_test_at_the_bottom_that_is_entered_first_and_one_at_the_top_are_loops() {
    // b 2f; 1: add x2, x2, #1; 2: subs x1, x1, #1; b.ne 1b; ret
    let (_, found) = all("b #8\nadd x2, x2, #1\nsubs x1, x1, #1\nb.ne #-8\nret\n");
    assert_eq!(
        found.iter().map(|number| number.round.places.clone()).collect::<Vec<_>>(),
        [[2, 3, 1]]
    );
    // 1: cbz x1, out; sub x1, x1, #1; b 1b; out: ret
    let (_, found) = all("cbz x1, #12\nsub x1, x1, #1\nb #-8\nret\n");
    assert_eq!(
        found.iter().map(|number| number.round.places.clone()).collect::<Vec<_>>(),
        [[0, 1, 2]]
    );
}

#[test]
fn what_is_entered_in_two_places_is_no_loop() {
    // The branch at 3 leads back to 1, but 0 leads to 2: neither 1 nor 2 is where all rounds begin.
    let (_, found) = all("cbz x0, #8\nadd x2, x2, #1\nsubs x1, x1, #1\nb.ne #-8\nret\n");
    let heads: Vec<usize> = found.iter().map(|found| found.head).collect();
    assert!(heads.is_empty(), "{heads:?}");
}

#[test]
fn each_case_of_a_computed_jump_has_a_round() {
    let (_, found) = all("br x4\nadd x2, x2, #1\nb #-8\nmul x2, x2, x2\nb #-16\n");
    let rounds: Vec<_> = found
        .iter()
        .map(|number| (number.head, number.round.places.clone(), number.case))
        .collect();
    assert_eq!(rounds, [(0, vec![0, 1, 2], Some(1)), (0, vec![0, 3, 4], Some(3))]);
    // A jump that is not always done has what is after it as one more: `addls pc, pc, r3, lsl #2`
    // over a table of branches.
    let text = "ldrb r3, [r0], #1\ncmp r3, #1\naddls pc, pc, r3, lsl #2\nb #8\nb #0\nb #-28\nadd r1, r1, #1\nb #-36\n";
    let function = assembler::assembled(Isa::A32, text);
    let found = loops(&function, &Guide::of(&function));
    let rounds: Vec<_> =
        found.iter().map(|number| (number.round.places.clone(), number.case)).collect();
    assert_eq!(
        rounds,
        [
            (vec![0, 1, 2, 4, 6, 7], Some(4)),
            (vec![0, 1, 2, 5], Some(5)),
            (vec![0, 1, 2, 3, 7], Some(3))
        ]
    );
}

fn n_several(function: &Function) -> usize {
    Computed::of(function).n_several()
}

#[test]
fn of_several_computed_jumps_none_makes_a_round() {
    // Threaded code: each piece ends with a jump of its own, and may be followed by any other one.
    let piece =
        |n: i32| format!("add x2, x2, #{n}\nldrb w3, [x0], #1\nldr x4, [x5, x3, lsl #3]\nbr x4\n");
    let (function, found) =
        all(&format!("{}mul x2, x2, x2\nb #-60\n", (0..4).map(piece).collect::<String>()));
    assert_eq!((found.len(), n_several(&function)), (0, 4));
    // Two switches one after the other; the loop that passes neither is timed.
    let switch = "br x4\nadd x2, x2, #1\nb #12\nmul x2, x2, x2\nb #4\n";
    let (function, found) = all(&format!(
        "{switch}{switch}subs x1, x1, #1\nb.ne #-44\nsubs x3, x3, #1\nb.ne #-4\nret\n"
    ));
    let heads: Vec<usize> = found.iter().map(|found| found.head).collect();
    assert_eq!((heads, n_several(&function)), (vec![12], 2));
}

#[test]
fn cases_beyond_the_limit_are_said_to_be_there() {
    // Two instructions a case: something, and a branch back to the jump.
    let cases = |n: i32| {
        (0..n).map(|idx| format!("add x2, x2, #{idx}\nb #-{}\n", 8 * idx + 8)).collect::<String>()
    };
    for (n, shown, has_more) in [(31, 31, false), (32, 32, false), (33, 32, true), (200, 32, true)]
    {
        let (_, found) = all(&format!("br x4\n{}", cases(n)));
        let more: Vec<bool> = found.iter().map(|found| found.has_more_cases).collect();
        let (last, others) = more.split_last().expect("there are rounds");
        assert_eq!(
            (more.len(), *last, others.contains(&true)),
            (shown, has_more, false),
            "{n} cases"
        );
    }
}

#[test]
fn what_a_branch_leads_to_is_no_case_and_neither_is_filler_before_it() {
    let (_, found) = all(
        "cbz x1, #28\nldrb w3, [x0], #1\nadd x4, x5, x3, lsl #2\nbr x4\nadd x2, x2, #1\nb #-20\nnop\nret\n",
    );
    let rounds: Vec<_> =
        found.iter().map(|number| (number.round.places.clone(), number.case)).collect();
    assert_eq!(rounds, [(vec![0, 1, 2, 3, 4, 5], Some(4))]);
    // Behind the loop, a jump out of the function has no part in it.
    let (_, found) = all("subs x1, x1, #1\nb.ne #-4\nbr x3\n");
    assert_eq!(
        found.iter().map(|number| (number.round.places.clone(), number.case)).collect::<Vec<_>>(),
        [(vec![0, 1], None)]
    );
}

#[test]
fn no_loop_is_faster_than_its_bound() {
    const STEPS: [&str; 12] = [
        "add xD, xA, xB",
        "mul xD, xA, xB",
        "madd xD, xA, xB, xC",
        "ldr xD, [x20, #16]",
        "ldr xD, [x20, xA]",
        "str xA, [x21, #8]",
        "lsl xD, xA, #3",
        "add xD, xA, xB, lsl #2",
        "eor xD, xA, xB",
        "udiv xD, xA, xB",
        "csel xD, xA, xB, eq",
        "umulh xD, xA, xB",
    ];
    let cores = [("cortex-a53", Isa::A64), ("cortex-a55", Isa::A64)];
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let n = rng.usize(1..14);
        let mut text = String::new();
        for _ in 0..n {
            let step = STEPS[rng.usize(0..STEPS.len())];
            let mut reg = || format!("x{}", rng.u32(2..9));
            text += &(step
                .replace("xD", &reg())
                .replace("xA", &reg())
                .replace("xB", &reg())
                .replace("xC", &reg())
                + "\n");
        }
        text += &format!("subs x1, x1, #1\nb.ne #-{}\nret\n", 4 * (n + 1));
        let (function, found) = all(&text);
        for (name, _) in cores {
            let round = steady(
                &function,
                &StackFrame::of(&function),
                &Core::bundled(name).expect("it is bundled"),
                &found[0],
            );
            let bound = &round.bound;
            assert!(
                bound.total <= round.cycles + 1e-9,
                "{name} seed {seed}: bound {bound:?} of {} cycles\n{text}",
                round.cycles
            );
            assert!(
                bound.total >= bound.issue
                    && bound.total >= bound.units
                    && bound.total >= bound.recurrence
            );
        }
    }
}

#[test]
fn a_long_round_is_timed_in_little_memory() {
    // 6,000 instructions, each of which follows the one before; orders of all pairs would be
    // gigabytes.
    let body = "ldr x3, [x0], #8\nmul x2, x2, x3\n".repeat(3000);
    let round = one(&format!("{body}subs x1, x1, #1\nb.ne #-24004\nret\n"));
    assert_eq!(round.bound.recurrence, 12_000.0);
    assert!((round.cycles - 12_000.0).abs() < 10.0, "{}", round.cycles);
}
