//! The ARM1136 model against its manual's examples and the slides of Blackham and Heiser (APSys
//! 2012).

use audit::decode::Isa;
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::Function;
use audit::timing::depend::{Crossing, Licence, dependences};
use audit::timing::explain::explain;
use audit::timing::licence::Effort;
use audit::timing::pipe::Need;
use audit::timing::search::{NODES_MAX, search};
use audit::timing::stalls::{Timing, causes, time};
use audit::timing::{Cycles, time_path};
use expect_test::expect;
use machine::in_order::Core;

fn function(words: &[u32]) -> Function {
    let instructions: Vec<_> = words
        .iter()
        .enumerate()
        .map(|(idx, word)| {
            Isa::A32
                .decode(0xf001_003c + 4 * idx as u64, &word.to_le_bytes())
                .expect("the words are instructions")
        })
        .collect();
    let frames = vec![Vec::new(); instructions.len()];
    Function {
        name: "fixture".to_owned(),
        isa: Isa::A32,
        instructions,
        frames,
        callees: Default::default(),
        is_cold: false,
        constants: Default::default(),
        tables: Default::default(),
        cases: Default::default(),
        arguments: Default::default(),
        addresses: Default::default(),
    }
}

fn core() -> Core {
    Core::bundled("arm1136jf-s").expect("it is bundled").with_branch_cost(1)
}

fn timed(words: &[u32]) -> Timing {
    let function = function(words);
    let trace = hot_trace(&Guide::of(&function));
    assert!(trace.places.len() <= words.len());
    let frame = StackFrame::of(&function);
    let edges = dependences(&function, &frame, &trace, &core(), Licence::default());
    let needs = Need::of_trace(&function, &trace, &core());
    let order: Vec<u32> = (0..needs.len() as u32).collect();
    time(&needs, &edges, &order, &core())
}

/// Cycles of a pair or so of instructions.
fn cycles(words: &[u32]) -> u32 {
    timed(words).total_cycles
}

/// Cycles of the best order of the first `n` instructions of the trace under a licence, and whether
/// it is proved that there is no better.
fn best(words: &[u32], n: usize, licence: Licence) -> (u32, bool) {
    let function = function(words);
    let mut trace = hot_trace(&Guide::of(&function));
    trace.places.truncate(n);
    let frame = StackFrame::of(&function);
    let edges = dependences(&function, &frame, &trace, &core(), licence);
    let needs = Need::of_trace(&function, &trace, &core());
    let found = search(&needs, &edges, &core(), NODES_MAX);
    (found.total_cycles, found.is_optimal())
}

/// Slide 14: `ldr r0,[r4]; and r3,r0,#3; cmp r3,#1; beq; ldr r3,[ip,#-208]; cmp r3,#0; beq`, the
/// branches to what follows: `mov r0,#0; bx lr`, and after it `mov r0,#1; bx lr`.
const BEFORE: [u32; 11] = [
    0xe594_0000,
    0xe200_3003,
    0xe353_0001,
    0x0a00_0004,
    0xe51c_30d0,
    0xe353_0000,
    0x0a00_0001,
    0xe3a0_0001,
    0xe12f_ff1e,
    0xe3a0_0000,
    0xe12f_ff1e,
];

/// The same after the slide's edit.
const AFTER: [u32; 11] = [
    0xe594_0000,
    0xe51c_30d0,
    0xe200_5003,
    0xe355_0001,
    0x0a00_0003,
    0xe353_0000,
    0x0a00_0001,
    0xe3a0_0001,
    0xe12f_ff1e,
    0xe3a0_0000,
    0xe12f_ff1e,
];

const SLIDE_12: [u32; 10] = [
    0xe59f_21f4,
    0xe1a0_3b81,
    0xe353_0402,
    0xe592_c000,
    0xe92d_4080,
    0xe59c_3054,
    0x8a00_0075,
    0xe213_3007,
    0x1a00_0073,
    0xe51c_4100,
];

#[test]
fn interlocks_of_the_manual() {
    let ldr_r1_r2 = 0xe592_1000;
    assert_eq!(cycles(&[ldr_r1_r2, 0xe085_6004]), 2, "LDR r1,[r2]; ADD r6,r5,r4");
    assert_eq!(cycles(&[0xe082_1003, 0xe086_9001]), 2, "ADD r1,r2,r3; ADD r9,r6,r1");
    assert_eq!(cycles(&[ldr_r1_r2, 0xe085_6001]), 4, "LDR r1,[r2]; ADD r6,r5,r1");
    assert_eq!(cycles(&[0xe085_1006, 0xe591_2000]), 3, "ADD r1,r5,r6; LDR r2,[r1]");
    assert_eq!(cycles(&[ldr_r1_r2, 0xe591_5000]), 5, "LDR r1,[r2]; LDR r5,[r1]");
    assert_eq!(cycles(&[0xe085_1006, 0xe082_0181]), 3, "ADD r1,r5,r6; ADD r0,r2,r1,LSL #3");
    assert_eq!(cycles(&[0xe085_1006, 0xe081_0182]), 2, "ADD r1,r5,r6; ADD r0,r1,r2,LSL #3");
    assert_eq!(cycles(&[0xe890_00fe, 0xe08a_a003]), 5, "LDMIA r0,{{r1-r7}}; ADD r10,r10,r3");
    assert_eq!(cycles(&[0xe880_00fe, 0xe08a_600b]), 5, "STMIA r0,{{r1-r7}}; ADD r6,r10,r11");
    assert_eq!(cycles(&[0xe781_f312, 0xe086_5001]), 4, "USAD8 r1,r2,r3; ADD r5,r6,r1");
    assert_eq!(
        cycles(&[0xe781_f312, 0xe1a0_9009, 0xe1a0_9009, 0xe086_5001]),
        4,
        "USAD8 r1,r2,r3; MOV; MOV; ADD r5,r6,r1"
    );
    assert_eq!(cycles(&[0xe781_f312, 0xe781_1514]), 3, "USAD8 r1,r2,r3; USADA8 r1,r4,r5,r1");
    assert_eq!(cycles(&[0xe5b2_1004, 0xe5b2_3004]), 2, "LDR r1,[r2,#4]!; LDR r3,[r2,#4]!");
}

#[test]
fn slide_14_before_and_after() {
    let before = timed(&BEFORE[..7]);
    assert_eq!((before.total_cycles, before.stall_cycles), (11, vec![0, 2, 0, 0, 0, 2, 0]));
    let after = timed(&AFTER[..7]);
    assert_eq!((after.total_cycles, after.stall_cycles), (8, vec![0, 0, 1, 0, 0, 0, 0]));
}

#[test]
fn slide_12_cycle_by_cycle() {
    let timing = timed(&SLIDE_12);
    assert_eq!(timing.total_cycles, 14);
    assert_eq!(timing.stall_cycles, [0, 0, 0, 1, 0, 2, 0, 1, 0, 0]);
    assert_eq!(timing.starts, [0, 1, 2, 4, 5, 8, 9, 11, 12, 13]);
}

#[test]
fn slide_12_cannot_be_faster_than_13() {
    let licence = Licence { renames: true, crosses: Crossing::Promised, reorders_memory: true };
    assert_eq!(best(&SLIDE_12, 10, licence), (13, true));
}

#[test]
fn the_slides_edit_needs_the_exit_and_a_fresh_register() {
    // The slide's seven, without the returns after them.
    let of = |licence| best(&BEFORE, 7, licence);
    let inside = Licence::default();
    let across = Licence { crosses: Crossing::Promised, ..inside };
    assert_eq!(of(inside), (11, true));
    assert_eq!(of(Licence { renames: true, ..inside }), (11, true));
    assert_eq!(of(across), (10, true));
    assert_eq!(of(Licence { renames: true, ..across }), (8, true));
    // Nothing proves that ip points to something: only the programmer can say so.
    assert_eq!(of(Licence { renames: true, crosses: Crossing::Proved, ..inside }), (11, true));
}

#[test]
fn branches_that_fold_take_no_cycle() {
    let core = core().with_branch_cost(0);
    let function = function(&BEFORE[..7]);
    let trace = hot_trace(&Guide::of(&function));
    let edges =
        dependences(&function, &StackFrame::of(&function), &trace, &core, Licence::default());
    let needs = Need::of_trace(&function, &trace, &core);
    let order: Vec<u32> = (0..needs.len() as u32).collect();
    let timing = time(&needs, &edges, &order, &core);
    assert_eq!(timing.total_cycles, 9);
    let found = causes(&needs, &edges, &timing, &core, 1);
    assert_eq!((found.len(), found[0].producer, found[0].cycles), (1, 0, 2));
}

/// The findings as lines.
fn told(words: &[u32]) -> (Cycles, String) {
    let function = function(words);
    let timed = time_path(&function, &core(), &Guide::of(&function), Effort::Search)
        .expect("it has instructions");
    let lines = explain(&function, &core(), &timed).into_iter().map(|finding| {
        let address = function.instructions[finding.idx].address;
        let mut text = format!(
            "{address:#x} {} waits {} for {}\n",
            finding.instruction, finding.cycles, finding.why
        );
        for (name, line) in [
            ("fill", &finding.fill),
            ("prevents", &finding.prevents),
            ("tries", &finding.ways.first().map(|way| way.name().to_owned())),
        ] {
            if let Some(line) = line {
                text += &format!("    {name}: {line}\n");
            }
        }
        text
    });
    (timed.cycles, lines.collect())
}

#[test]
fn the_slides_edit_is_found_and_said() {
    let (cycles, text) = told(&BEFORE[..7]);
    let bound = cycles.lower_bound;
    assert_eq!(
        (cycles.instructions, cycles.issue_cycles, cycles.stall_cycles, cycles.total_cycles),
        (7, 7, 4, 11)
    );
    assert_eq!(
        (bound.total, bound.issue, bound.in_block, bound.side_exit, bound.inherent),
        (8, 7, 0, 3, 1)
    );
    expect![[r#"
        0xf0010040 and r3, r0, #3 waits 2 for r0 from `ldr r0, [r4]`, an operand here: 2 cycles
            fill: `ldr r3, [ip, #-208]`
            prevents: `ldr r3, [ip, #-208]` may not go above `beq 0xf0010060`: the compiler cannot know that its address is good there; 1 of 2 cycles go, in another register, if the programmer vouches for it
            tries: an earlier load
        0xf0010050 cmp r3, #0 waits 2 for r3 from `ldr r3, [ip, #-208]`, an operand here: 2 cycles
            fill: `and r3, r0, #3`, `cmp r3, #1`
            prevents: `ldr r3, [ip, #-208]` may not go above `beq 0xf0010060`: the compiler cannot know that its address is good there; it goes, in another register, if the programmer vouches for it
            tries: an earlier load
    "#]].assert_eq(&text);
}

#[test]
fn slide_12_is_told() {
    let (cycles, text) = told(&SLIDE_12);
    let bound = cycles.lower_bound;
    assert_eq!(
        (bound.total, bound.issue, bound.in_block, bound.side_exit, bound.inherent),
        (13, 10, 0, 1, 3)
    );
    expect![[r#"
        0xf0010048 ldr ip, [r2] waits 1 for r2 from `ldr r2, [pc, #500]`, the base of an address here, needed 1 cycle early: 1 cycle
            prevents: nothing: an order as fast as any waits here too
        0xf0010050 ldr r3, [ip, #84] waits 2 for ip from `ldr ip, [r2]`, the base of an address here, needed 1 cycle early: 2 cycles
            prevents: nothing: an order as fast as any waits here too
        0xf0010058 ands r3, r3, #7 waits 1 for r3 from `ldr r3, [ip, #84]`, an operand here: 1 cycle
            fill: `ldr r4, [ip, #-256]`
            prevents: `ldr r4, [ip, #-256]` stays below `bne 0xf0010230`, though in another register it would do no harm above it; it goes above it
            tries: an earlier load
    "#]]
    .assert_eq(&text);
}
