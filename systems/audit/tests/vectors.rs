//! Vectors on Cortex-A55: chains and rows as SLOTHY's model of that core has them
//! (slothy/targets/aarch64/cortex_a55.py), which its authors fitted to a board.

use crate::support::assembler;

use audit::decode::Isa;
use audit::facts::frame::StackFrame;
use audit::facts::loops::loops;
use audit::facts::trace::Guide;
use audit::timing::steady::{Steady, steady};
use machine::in_order::Core;

/// A loop around `text`, of so many instructions that its own two and the branch hardly count.
fn cycles(core: &str, step: &str) -> f64 {
    const TIMES: usize = 60;
    let n = TIMES * step.lines().count();
    let text = format!(
        "{}subs x9, x9, #1\nb.ne #-{}\nret\n",
        format!("{step}\n").repeat(TIMES),
        4 * (n + 1)
    );
    let function = assembler::assembled(Isa::A64, &text);
    let found = loops(&function, &Guide::of(&function));
    let round: Steady = steady(
        &function,
        &StackFrame::of(&function),
        &Core::bundled(core).expect("it is bundled"),
        &found[0],
    );
    assert!(
        round.bound.total <= round.cycles + 1e-9,
        "{step}: {:?} of {}",
        round.bound,
        round.cycles
    );
    round.cycles / TIMES as f64
}

#[test]
fn chains_and_rows_of_vectors() {
    for (step, expected) in [
        // Chains: what one step waits for the one before.
        ("add v0.4s, v0.4s, v1.4s", 3.0),
        ("add v0.2s, v0.2s, v1.2s", 2.0),
        ("eor v0.16b, v0.16b, v1.16b", 1.0),
        ("shl v0.4s, v0.4s, #3", 2.0),
        ("srshr v0.4s, v0.4s, #3", 3.0),
        ("mul v0.4s, v0.4s, v1.4s", 4.0),
        ("sqrdmulh v0.8h, v0.8h, v1.h[2]", 4.0),
        ("mls v0.8h, v0.8h, v1.h[0]", 4.0),
        ("aese v0.16b, v1.16b\naesmc v0.16b, v0.16b", 4.0),
        // Rows: whole registers take both pipes, half ones either, and a scalar goes beside.
        ("add v0.4s, v1.4s, v2.4s\nadd v3.4s, v4.4s, v5.4s", 2.0),
        ("add v0.2s, v1.2s, v2.2s\nadd v3.2s, v4.2s, v5.2s", 1.0),
        ("mul v0.4s, v1.4s, v2.4s\nadd x0, x1, x2", 1.0),
        ("ldr q0, [x0]", 2.0),
        ("ldr d0, [x0]\nldr d1, [x0, #8]", 1.0),
        ("ld2 { v0.4s, v1.4s }, [x0]", 4.0),
        ("str q0, [x0]\nadd x1, x2, x3", 1.0),
        ("ldr q0, [x0]\nmul v1.4s, v0.4s, v2.4s\nstr q1, [x1]", 9.0),
    ] {
        let took = cycles("cortex-a55", step);
        assert!((took - expected).abs() < 0.1, "{step}: {took} of {expected}");
    }
}

#[test]
fn a_core_without_rows_for_vectors_counts_them_as_floating_point() {
    assert!(!Core::bundled("cortex-a53").expect("it is bundled").tells_floats_apart());
    assert!(Core::bundled("cortex-a55").expect("it is bundled").tells_floats_apart());
    // LLVM's table of Cortex-A53 has 4 for all of them.
    let float = cycles("cortex-a53", "fadd s0, s0, s1");
    assert!((cycles("cortex-a53", "add v0.4s, v0.4s, v1.4s") - float).abs() < 0.1);
}

#[test]
fn a_written_back_base_does_not_wait_for_what_is_loaded() {
    for vector in ["ldr q1, [x0], #16", "str q1, [x0], #16", "ldp q1, q2, [x0], #32"] {
        assert!(
            (cycles("cortex-a53", vector) - cycles("cortex-a53", "ldr x1, [x0], #16")).abs() < 0.1,
            "{vector}"
        );
    }
}
