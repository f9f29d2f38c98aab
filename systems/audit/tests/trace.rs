//! The hot path of small functions, and what each licence lets cross what.

use crate::support::made::of_words;

use audit::decode::Isa;
use audit::decode::code::Reg;
use audit::facts::trace::{End, Guide, hot_trace};
use audit::program::function::Function;
use audit::timing::explain::explain;
use audit::timing::licence::{Effort, Step, smallest};
use audit::timing::pressure::{available, needed};
use audit::timing::{Timed, time_path};
use machine::in_order::Core;

fn function(words: &[u32], callees: &[(u64, &str)]) -> Function {
    let callees = callees.iter().map(|(address, name)| (*address, (*name).to_owned()));
    Function { callees: callees.collect(), ..of_words(Isa::A32, words) }
}

fn path(words: &[u32], callees: &[(u64, &str)], cold: &[&str]) -> Vec<usize> {
    let cold: Vec<String> = cold.iter().map(|found| (*found).to_owned()).collect();
    hot_trace(&Guide::new(&function(words, callees), &cold, None)).places
}

const CMP_R0_0: u32 = 0xe350_0000;
const MOV_R0_1: u32 = 0xe3a0_0001;
const BX_LR: u32 = 0xe12f_ff1e;
/// `bl` to this very function.
const BL: u32 = 0xebff_fffe;

/// `beq` over so many instructions.
fn beq(over: u32) -> u32 {
    0x0a00_0000 | over.wrapping_sub(1) & 0x00ff_ffff
}

#[test]
fn straight_on_is_hot_if_nothing_is_known() {
    let words = [CMP_R0_0, beq(2), MOV_R0_1, BX_LR, MOV_R0_1, BX_LR];
    let trace = hot_trace(&Guide::of(&function(&words, &[])));
    assert_eq!((trace.places, trace.end), (vec![0, 1, 2, 3], End::Return));
    assert_eq!((trace.exits.len(), trace.exits[0].at, trace.exits[0].is_taken), (1, 1, false));
    // Who leaves writes r0 before it returns it: only what the caller keeps is live.
    assert!(!trace.exits[0].live.contains(Reg(0)) && trace.exits[0].live.contains(Reg(4)));
}

#[test]
fn a_call_that_does_not_return_makes_its_way_cold() {
    let words = [CMP_R0_0, beq(2), MOV_R0_1, BL, MOV_R0_1, BX_LR];
    assert_eq!(path(&words, &[(12, "abort")], &[]), [0, 1, 4, 5]);
    assert_eq!(path(&words, &[(12, "work")], &[]), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn the_user_says_what_is_cold() {
    let words = [CMP_R0_0, beq(2), MOV_R0_1, BL, MOV_R0_1, BX_LR];
    assert_eq!(path(&words, &[(12, "slowpath")], &["slowpath"]), [0, 1, 4, 5]);
    assert_eq!(path(&words, &[(12, "slowpath.part.0")], &["slowpath"]), [0, 1, 4, 5]);
}

#[test]
fn a_loop_is_passed_once() {
    // 1: subs r0, r0, #1; bne 1; bx lr
    let words = [MOV_R0_1, 0xe250_0001, 0x1aff_fffd, BX_LR];
    let trace = hot_trace(&Guide::of(&function(&words, &[])));
    assert_eq!((trace.places, trace.end), (vec![0, 1, 2, 3], End::Return));
    // b to itself
    let trace = hot_trace(&Guide::of(&function(&[MOV_R0_1, 0xeaff_fffe], &[])));
    assert_eq!((trace.places, trace.end), (vec![0, 1], End::Loop));
}

fn audited(words: &[u32]) -> Timed {
    let core = Core::bundled("arm1136jf-s").expect("it is bundled");
    let function = function(words, &[]);
    time_path(&function, &core, &Guide::of(&function), Effort::Search).expect("it has instructions")
}

/// The smallest licence that shortens the wait of the instruction at `at`, the
/// cycles before and after.
fn answer(words: &[u32], at: usize) -> (Option<Step>, u32, u32) {
    let audit = audited(words);
    let found = smallest(&audit.reached, &audit.timing, at).map(|(idx, _)| audit.reached[idx].step);
    (found, audit.cycles.total_cycles, audit.cycles.best_cycles)
}

const LDR_R1_R0: u32 = 0xe590_1000;
const ADD_R2_R1_1: u32 = 0xe281_2001;

#[test]
fn another_order_is_enough() {
    // ldr r1, [r0]; add r2, r1, #1; mov r3, #1; mov r3, #1
    let words = [LDR_R1_R0, ADD_R2_R1_1, 0xe3a0_3001, 0xe3a0_c001];
    assert_eq!(answer(&words, 1), (Some(Step::InsideBlocks), 6, 4));
}

#[test]
fn another_register_is_needed() {
    // ldr r1, [r0]; add r2, r1, #1; str r2, [r0]; ldr r1, [r0, #4]; str r1, [r0, #8]: the second
    // load needs a register that the first value is not in.
    let words = [LDR_R1_R0, ADD_R2_R1_1, 0xe580_2000, 0xe590_1004, 0xe580_1008];
    assert_eq!(answer(&words, 1), (Some(Step::Renaming), 9, 6));
}

#[test]
fn a_load_through_a_pointer_that_was_followed_is_proved_good() {
    // ldr r1, [r0]; cmp r1, #0; beq; ldr r2, [r0, #4]; add r2, r2, #1; the way out returns 0
    let words =
        [LDR_R1_R0, 0xe351_0000, beq(3), 0xe590_2004, 0xe282_0001, BX_LR, 0xe3a0_0000, BX_LR];
    assert_eq!(answer(&words, 1).0, Some(Step::ProvedLoad));
    // ldrne r1, [r0]: perhaps it was not followed.
    let words =
        [0x1590_1000, 0xe351_0000, beq(3), 0xe590_2004, 0xe282_0001, BX_LR, 0xe3a0_0000, BX_LR];
    assert_eq!(answer(&words, 1).0, Some(Step::PromisedLoad));
    // add r5, r4, r3; ldrb r1, [r4, r3]; the same with r5 for the sum that was followed
    let by_index = |load: u32| {
        let words = [
            0xe084_5003,
            load,
            0xe351_0000,
            beq(3),
            0xe5d5_2004,
            0xe282_0001,
            BX_LR,
            0xe3a0_0000,
            BX_LR,
        ];
        answer(&words, 5).0
    };
    assert_eq!(by_index(0xe7d4_1003), Some(Step::ProvedLoad));
    assert_eq!(by_index(0xe7d3_1004), Some(Step::ProvedLoad));
    // ldrb r1, [r4, r2], and ldrb r1, [r4, r3, lsl #1]
    assert_eq!(by_index(0xe7d4_1002), Some(Step::PromisedLoad));
    assert_eq!(by_index(0xe7d4_1083), Some(Step::PromisedLoad));
    // Through another pointer only the programmer can vouch.
    let words =
        [LDR_R1_R0, 0xe351_0000, beq(3), 0xe593_2004, 0xe282_0001, BX_LR, 0xe3a0_0000, BX_LR];
    assert_eq!(answer(&words, 1).0, Some(Step::PromisedLoad));
}

#[test]
fn no_pointer_leads_to_a_spill() {
    // sub sp, sp, #16; add r2, sp, #8: an object whose address is known. ldr r5, [r0]: a pointer of
    // which nothing is known. ldr r1, [r5]; str r1, [sp, #4]; ldr r3, [r5, #4]; add r3, r3, #1
    let with = |store: u32| {
        [0xe24d_d010, 0xe28d_2008, 0xe590_5000, 0xe595_1000, store, 0xe595_3004, 0xe283_3001]
    };
    assert_eq!(answer(&with(0xe58d_1004), 4).0, Some(Step::InsideBlocks));
    assert_eq!(answer(&with(0xe58d_1000), 4).0, Some(Step::InsideBlocks));
    // str r1, [sp, #8]: the object itself, and what may be a part of it.
    assert_eq!(answer(&with(0xe58d_1008), 4).0, Some(Step::PastStore));
    assert_eq!(answer(&with(0xe58d_100c), 4).0, Some(Step::PastStore));
}

#[test]
fn a_store_may_write_what_is_loaded() {
    // ldr r1, [r0]; str r1, [r2]; ldr r3, [r0, #4]; add r3, r3, #1
    let words = [LDR_R1_R0, 0xe582_1000, 0xe590_3004, 0xe283_3001];
    assert_eq!(answer(&words, 1).0, Some(Step::PastStore));
    // Through the same pointer it does not.
    let words = [LDR_R1_R0, 0xe580_1008, 0xe590_3004, 0xe283_3001];
    assert_eq!(answer(&words, 1).0, Some(Step::InsideBlocks));
}

#[test]
fn what_a_loop_does_each_time_is_not_done_once_before_it() {
    // ldr r1, [r0]; add r2, r1, #1; 2: add r3, r3, #1; add ip, ip, #1; subs r2, r2, #1; bne 2; bx
    // lr
    let words = [LDR_R1_R0, ADD_R2_R1_1, 0xe283_3001, 0xe28c_c001, 0xe252_2001, 0x1aff_fffb, BX_LR];
    assert_eq!(answer(&words, 1).0, None);
}

#[test]
fn a_loop_that_is_entered_behind_its_first_line_begins_there() {
    let step = |words: &[u32]| {
        let function = function(words, &[(16, "abort")]);
        let timed = time_path(
            &function,
            &Core::bundled("arm1136jf-s").expect("it is bundled"),
            &Guide::of(&function),
            Effort::Search,
        );
        let timed = timed.expect("it has instructions");
        smallest(&timed.reached, &timed.timing, 1).map(|(idx, _)| timed.reached[idx].step)
    };
    // ldr r1, [r0]; add r2, r1, #1; cmp r2, #0; beq 6; bl abort; 5: add r3, r3, #1; 6: add ip, ip,
    // #1; subs r2, r2, #1; bne 5; bx lr
    let looped = [
        LDR_R1_R0,
        ADD_R2_R1_1,
        0xe352_0000,
        beq(2),
        BL,
        0xe283_3001,
        0xe28c_c001,
        0xe252_2001,
        0x1aff_fffb,
        BX_LR,
    ];
    assert_eq!(step(&looped), None);
    // The same without the way back.
    let straight: Vec<u32> = looped.iter().copied().filter(|found| *found != 0x1aff_fffb).collect();
    assert_eq!(step(&straight), Some(Step::ProvedLoad));
}

#[test]
fn a_way_that_comes_back_from_below_is_no_loop() {
    // ldr r1, [r0]; cmp r1, #0; beq 6; 3: ldr r2, [r0, #4]; add r2, r2, #1; bx lr
    let hot = [LDR_R1_R0, 0xe351_0000, beq(4), 0xe590_2004, 0xe282_2001, BX_LR];
    // 6: mov r3, #0; b 3
    let words = [&hot[..], &[0xe3a0_3000, 0xeaff_fffa]].concat();
    assert_eq!(answer(&words, 1).0, Some(Step::ProvedLoad));
    // 6: cmp r3, #0; bne 3; bx lr
    let words = [&hot[..], &[0xe353_0000, 0x1aff_fffa, BX_LR]].concat();
    assert_eq!(answer(&words, 1).0, Some(Step::ProvedLoad));
    // Nor is it one of its own in a loop around it all. 0: ldr r0, [r0]; ldr r1, [r0]; cmp r1, #0;
    // beq 7; 4: ldr r2, [r0, #4]; subs r2, r2, #1; b 9; 7: mov r3, #0; b 4; 9: bne 0; bx lr
    let words = [
        0xe590_0000,
        LDR_R1_R0,
        0xe351_0000,
        beq(4),
        0xe590_2004,
        0xe252_2001,
        0xea00_0001,
        0xe3a0_3000,
        0xeaff_fffa,
    ];
    let words = [&words[..], &[0x1aff_fff5, BX_LR]].concat();
    assert_eq!(answer(&words, 2).0, Some(Step::ProvedLoad));
}

#[test]
fn a_stall_that_no_order_avoids() {
    let words = [LDR_R1_R0, ADD_R2_R1_1];
    let timed = audited(&words);
    assert_eq!((timed.cycles.total_cycles, timed.cycles.lower_bound.inherent), (4, 2));
    let said = explain(
        &function(&words, &[]),
        &Core::bundled("arm1136jf-s").expect("it is bundled"),
        &timed,
    );
    assert_eq!(
        said[0].prevents.as_deref(),
        Some("nothing: no order of these instructions is faster")
    );
}

#[test]
fn what_is_said_of_a_wait_is_true_of_the_path() {
    let prevents = |words: &[u32], at: usize| {
        let said = explain(
            &function(words, &[]),
            &Core::bundled("arm1136jf-s").expect("it is bundled"),
            &audited(words),
        );
        said.iter()
            .find(|it| it.idx == at)
            .and_then(|finding| finding.prevents.clone())
            .expect("it waits")
    };
    // ldr r1, [r0]; add r2, r1, #1; ldr r3, [r2]; add r3, r3, #1; mov ip, #1: one wait of two can
    // be filled, once.
    let words = [LDR_R1_R0, ADD_R2_R1_1, 0xe592_3000, 0xe283_3001, 0xe3a0_c001];
    let (first, last) = (prevents(&words, 1), prevents(&words, 3));
    let kept = "nothing: an order as fast as any waits here too";
    assert!((first == kept) != (last == kept), "{first}; {last}");
    // Two loads that go past two stores: ldr r1, [r0]; str r1, [r2]; ldr r3, [r5]; str r3, [r6];
    // ldr r7, [r8]; add r7, r7, #1. A wait is explained by a load that fills it.
    let words = [LDR_R1_R0, 0xe582_1000, 0xe595_3000, 0xe586_3000, 0xe598_7000, 0xe287_7001];
    assert!(prevents(&words, 5).starts_with("`ldr r7, [r8]` may read"), "{}", prevents(&words, 5));
}

#[test]
fn a_return_that_pops_takes_as_long_as_a_return() {
    // pop {r4, pc}
    assert_eq!(audited(&[0xe8bd_8010]).cycles.total_cycles, 4);
}

#[test]
fn without_a_frame_nothing_is_saved() {
    // push {r4, lr}; mov r4, r0; str r0, [sp, #-8]!; ldr r0, [sp]; add sp, sp, #8; pop {r4, pc}
    let words = [0xe92d_4010, 0xe1a0_4000, 0xe52d_0008, 0xe59d_0000, 0xe28d_d008, 0xe8bd_8010];
    let audit = audited(&words);
    let beyond = audit.beyond_c.expect("a search asks for it");
    // The return waits a cycle for the stack pointer. Without a frame the move and the return stay.
    assert_eq!((audit.cycles.total_cycles, beyond.stack_frame_cycles), (10, 5));
    // The spilled r0 costs its store and its load.
    assert_eq!(beyond.reserved_registers_cycles, 2);
}

#[test]
fn registers_that_an_order_needs() {
    // ldr r1, [r0]; add r2, r1, #1; ldr r3, [r0, #4]; add r0, r3, r2; bx lr
    let words = [LDR_R1_R0, ADD_R2_R1_1, 0xe590_3004, 0xe083_0002, BX_LR];
    let function = function(&words, &[]);
    let trace = hot_trace(&Guide::of(&function));
    // The caller's eight saved registers and its return address stay alive throughout.
    let kept = 9;
    // r0 and then r3, r2, and r1, which might be the upper half of a result.
    assert_eq!(needed(&function, &trace, &[0, 1, 2, 3, 4]), kept + 3);
    assert_eq!(needed(&function, &trace, &[0, 2, 1, 3, 4]), kept + 3);
    assert_eq!(available(&function), 14);
}

/// A callee that is not on the path has the arguments that somebody names.
#[test]
fn registers_that_nobody_names_hold_nothing() {
    // cmp r0, #0; beq out; add r0, r0, #1; bx lr; out: b to another function
    let tail = [CMP_R0_0, beq(1), 0xe280_0001, BX_LR, 0xea00_0100];
    let plain = [CMP_R0_0, beq(1), 0xe280_0001, BX_LR, BX_LR];
    let of = |words: &[u32]| {
        let function = function(words, &[]);
        let trace = hot_trace(&Guide::of(&function));
        needed(&function, &trace, &[0, 1, 2, 3])
    };
    assert_eq!(of(&tail), of(&plain));
    // r1 is named on the way there, and is there from the beginning: out: add r0, r1, r0
    let named = [CMP_R0_0, beq(1), 0xe280_0001, BX_LR, 0xe081_0000, 0xea00_0100];
    assert_eq!(of(&named), of(&plain) + 1);
}

/// A pointer that is asked for null is not good above the question.
#[test]
fn no_load_goes_above_the_test_of_its_own_pointer() {
    let core = |name: &str| Core::bundled(name).expect("it is bundled");
    let prevents = |isa: Isa, words: &[u32], cpu: &str, at: usize| {
        let function = of_words(isa, words);
        let timed = time_path(&function, &core(cpu), &Guide::of(&function), Effort::Search)
            .expect("it has instructions");
        let said = explain(&function, &core(cpu), &timed)
            .into_iter()
            .find(|it| it.idx == at)
            .expect("it waits");
        (said.prevents.expect("something is said"), !said.ways.is_empty())
    };
    // cmp r0, #0; beq; ldr r1, [r0]; add r2, r1, #1; bx lr; the way out returns 0
    let a32 = |compare: u32| {
        prevents(
            Isa::A32,
            &[compare, beq(4), LDR_R1_R0, ADD_R2_R1_1, BX_LR, 0xe3a0_0000, BX_LR],
            "arm1136jf-s",
            3,
        )
    };
    let (null, has_way) = a32(CMP_R0_0);
    assert!(null.contains("which asks whether its pointer is null") && !has_way, "{null}");
    // cmp r3, #0: another's.
    let (other, has_way) = a32(0xe353_0000);
    assert!(other.contains("if the programmer vouches for it") && has_way, "{other}");
    // beqz a0, 4; lw a5, 0(a0); addi a4, a5, 1; ret; 4: li a0, 0; ret, and with beqz a1
    let rv32 = |test: u32| {
        prevents(
            Isa::Riscv32,
            &[test, 0x0005_2783, 0x0017_8713, 0x0000_8067, 0x0000_0513, 0x0000_8067],
            "rocket",
            2,
        )
    };
    assert!(
        rv32(0x0005_0863).0.contains("which asks whether its pointer is null"),
        "{:?}",
        rv32(0x0005_0863)
    );
    assert!(
        rv32(0x0005_8863).0.contains("if the programmer vouches for it"),
        "{:?}",
        rv32(0x0005_8863)
    );
}

/// A copy is the same pointer, however a set of instructions writes copies.
#[test]
fn a_copy_of_a_pointer_that_was_followed_is_good() {
    let licence = |isa: Isa, cpu: &str, words: &[u32], at: usize| {
        let function = of_words(isa, words);
        let core = Core::bundled(cpu).expect("it is bundled");
        let timed = time_path(&function, &core, &Guide::of(&function), Effort::Search)
            .expect("it has instructions");
        smallest(&timed.reached, &timed.timing, at).map(|(idx, _)| timed.reached[idx].step)
    };
    // add a4, zero, a0, which is c.mv; lw a0, 0(a0); beqz a0, 6; lw a5, 8(a4); add a0, a5, a5; ret;
    // 6: ret, and with add a4, a2, a0
    let rv32 = |copy: u32| {
        licence(
            Isa::Riscv32,
            "rocket",
            &[copy, 0x0005_2503, 0x0005_0863, 0x0087_2783, 0x00f7_8533, 0x0000_8067, 0x0000_8067],
            2,
        )
    };
    assert_eq!(
        (rv32(0x00a0_0733), rv32(0x00a6_0733)),
        (Some(Step::ProvedLoad), Some(Step::PromisedLoad))
    );
}

/// Nobody has to vouch for a word beside the code, nor for the frame, whatever else goes
/// above the same test.
#[test]
fn a_word_beside_the_code_is_good_everywhere() {
    let prevents = |words: &[u32], at: usize| {
        let said = explain(
            &function(words, &[]),
            &Core::bundled("arm1136jf-s").expect("it is bundled"),
            &audited(words),
        );
        said.iter()
            .find(|it| it.idx == at)
            .and_then(|finding| finding.prevents.clone())
            .unwrap_or_default()
    };
    // ldr r3, [r0]; cmp r3, #0; beq 7; a load; add r2, r2, #1; str r2, [r0]; bx lr; 7: mov r0, #0;
    // bx lr
    let with = |load: u32| {
        [
            0xe590_3000,
            0xe353_0000,
            beq(5),
            load,
            0xe282_2001,
            0xe580_2000,
            BX_LR,
            0xe3a0_0000,
            BX_LR,
        ]
    };
    // ldr r2, [pc, #16], ldr r2, [sp], ldr r2, [r1]
    for good in [0xe59f_2010, 0xe59d_2000] {
        assert!(
            prevents(&with(good), 1).contains("though it would do no harm"),
            "{}",
            prevents(&with(good), 1)
        );
    }
    assert!(
        prevents(&with(0xe591_2000), 1).contains("vouches"),
        "{}",
        prevents(&with(0xe591_2000), 1)
    );
}

/// A loop runs at least once on the path, wherever its test stands; after it the path goes on.
#[test]
fn a_loop_that_is_tested_first_is_passed_once() {
    const B_BACK_3: u32 = 0xeaff_fffb;
    const B_BACK_5: u32 = 0xeaff_fff9;
    // cmp; beq out; body; b to cmp; out: mov; bx lr
    assert_eq!(
        path(&[CMP_R0_0, beq(2), MOV_R0_1, B_BACK_3, MOV_R0_1, BX_LR], &[], &[]),
        [0, 1, 2, 3, 4, 5]
    );
    // cmp; beq body; mov; bx lr; body: mov; b to cmp
    let behind_the_return = [CMP_R0_0, beq(2), MOV_R0_1, BX_LR, MOV_R0_1, B_BACK_5];
    assert_eq!(path(&behind_the_return, &[], &[]), [0, 1, 4, 5, 2, 3]);
    let said = hot_trace(&Guide::of(&function(&behind_the_return, &[])));
    assert_eq!((said.end, said.exits[0].is_taken), (End::Return, true));
    // Two loops, one in the other: cmp; beq 6; cmp; beq 5 (out of the inner one); b to the inner
    // cmp; 5: b to the outer; 6: bx lr
    let nested = [CMP_R0_0, beq(4), CMP_R0_0, beq(1), 0xeaff_fffc, 0xeaff_fff9, BX_LR];
    assert_eq!(path(&nested, &[], &[]), [0, 1, 2, 3, 4, 5, 6]);
}

/// The path goes from the body to what comes after the loop, and leaves out the test between them:
/// whoever waits for the body waits there.
#[test]
fn nobody_waits_across_the_test_that_the_path_leaves_out() {
    const LDR_R0_R0: u32 = 0xe590_0000;
    const ADD_R0_R0_1: u32 = 0xe280_0001;
    let stalls = |words: &[u32]| {
        let audit = audited(words);
        let at = |idx: usize| audit.trace.places.iter().position(|place| *place == idx);
        let place = words.iter().rposition(|word| *word == ADD_R0_R0_1).expect("it is there");
        audit.timing.stall_cycles[at(place).expect("it is on the path")]
    };
    // cmp; beq out; ldr r0, [r0]; b to cmp; out: add r0, r0, #1; bx lr
    let top = [CMP_R0_0, beq(2), LDR_R0_R0, 0xeaff_fffb, ADD_R0_R0_1, BX_LR];
    assert_eq!(stalls(&top), 0);
    // The same loop behind the return: cmp; beq body; add; bx lr; body: ldr; b to cmp
    let below = [CMP_R0_0, beq(2), ADD_R0_R0_1, BX_LR, LDR_R0_R0, 0xeaff_fff9];
    assert_eq!(stalls(&below), 0);
    // What is loaded after the loop is waited for.
    let after = [CMP_R0_0, beq(2), LDR_R0_R0, 0xeaff_fffb, LDR_R0_R0, ADD_R0_R0_1, BX_LR];
    assert_eq!(stalls(&after), 2);
    // So is what a loop brings that is tested below: cmp r1; ldr; beq to cmp; add; bx lr
    let bottom = [0xe351_0000, LDR_R0_R0, 0x0aff_fffc, ADD_R0_R0_1, BX_LR];
    assert!(stalls(&bottom) > 0);
}

#[test]
fn a_loop_whose_body_is_cold_is_left_alone() {
    // cmp; beq body; mov; bx lr; body: bl, which does not come back; b to cmp
    let words = [CMP_R0_0, beq(2), MOV_R0_1, BX_LR, BL, 0xeaff_fff9];
    assert_eq!(path(&words, &[(16, "panic")], &[]), [0, 1, 2, 3]);
    assert_eq!(path(&words, &[(16, "step")], &[]), [0, 1, 4, 5, 2, 3]);
    // A branch that is no loop's keeps to what the layout says.
    assert_eq!(path(&[CMP_R0_0, beq(2), MOV_R0_1, BX_LR, MOV_R0_1, BX_LR], &[], &[]), [0, 1, 2, 3]);
}
