//! Every clause of what is said to prevent a compiler is true.

use crate::support::assembler;

use assembler::assembled;
use audit::decode::Isa;
use audit::decode::code::{Flow, Reg};
use audit::facts::pinned::guesses;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::Function;
use audit::timing::explain::explain;
use audit::timing::licence::Effort;
use audit::timing::time_path;
use machine::in_order::Core;

/// What prevents the wait of the instruction at place `at`, and whether something is to be tried.
fn prevents(isa: Isa, cpu: &str, text: &str, at: usize) -> (String, bool) {
    prevents_of(&assembled(isa, text), cpu, at)
}

fn prevents_of(function: &Function, cpu: &str, at: usize) -> (String, bool) {
    let core = Core::bundled(cpu).expect("it is bundled");
    let timed = time_path(function, &core, &Guide::of(function), Effort::Search)
        .expect("it has instructions");
    let all = explain(function, &core, &timed);
    let said = all.into_iter().find(|finding| finding.idx == at).expect("it waits");
    (said.prevents.expect("something is said"), !said.ways.is_empty())
}

/// What a store before it may write, and a register that is still read.
#[test]
fn a_load_that_passes_a_reader_of_its_register_needs_another() {
    let said = |reg: &str| {
        let text = format!(
            "str r4, [r3]\nldr {reg}, [r1, #4]\nsubs {reg}, #1\nstr {reg}, [r1, #4]\nbx lr"
        );
        prevents(Isa::T32, "cortex-a7", &text, 2).0
    };
    assert_eq!(
        said("r3"),
        "`ldr r3, [r1, #4]` may read what `str r4, [r3]` writes, as far as their addresses show; \
         it goes, in another register, if it does not"
    );
    assert!(said("r2").ends_with("; it goes if it does not"), "{}", said("r2"));
}

/// Where both a store and a test are in the way, `restrict` does not help alone.
#[test]
fn a_load_past_a_store_that_goes_above_a_test_needs_both() {
    let text = "cmp r0, r2\nstr r4, [r7]\nbls #10\nldr r3, [r1, #4]\nsubs r3, #1\n\
                str r3, [r1, #4]\nmovs r0, #1\nbx lr\nmovs r0, #0\nbx lr";
    let (said, has_way) = prevents(Isa::T32, "cortex-a7", text, 4);
    assert_eq!(
        said,
        "`ldr r3, [r1, #4]` may not go above `bls 0x12`: the compiler cannot know that its address \
         is good there; it goes if the programmer vouches for it, as far as it does not read what \
         `str r4, [r7]` writes, which their addresses do not show"
    );
    assert!(has_way, "the load can be written earlier");
}

/// Above the test the load saves a cycle more, which is another wait's.
#[test]
fn a_test_that_a_wait_does_not_depend_on_is_not_named() {
    let text = "ldr x2, [x0, #16]\ncmp x2, #256\nb.hi #32\nstr xzr, [x0, #8]\nstrb wzr, [x1]\n\
                ldr x3, [x0, #56]\nldr x4, [x3]\nstr x4, [x0]\nmov w0, #1\nret\nret";
    let (said, _) = prevents(Isa::A64, "cortex-a53", text, 6);
    assert_eq!(
        said,
        "`ldr x3, [x0, #56]` may read what `strb wzr, [x1]` writes, as far as their addresses \
         show; it goes if it does not"
    );
}

/// The path gains a cycle behind the call. That another could stand here, and something else in its
/// place, gains none.
#[test]
fn a_wait_that_costs_nothing_is_not_said_to_go() {
    let text = "stp x29, x30, [sp, #-32]!\nadrp x1, #8192\nadd x1, x1, #0\nmov x29, sp\n\
                str x19, [sp, #16]\nmov x19, x0\nstr x1, [x0]\nbl #4096\nmov x0, x19\n\
                mov x1, #24\nldr x19, [sp, #16]\nldp x29, x30, [sp], #32\nb #4096";
    assert_eq!(
        prevents(Isa::A64, "cortex-a53", text, 4).0,
        "nothing: an order as fast as any waits here too"
    );
}

/// A callee may have any number of arguments; but none was made ready for it.
#[test]
fn a_register_of_which_a_call_has_left_nothing_is_free() {
    let said = |out: &str| {
        let text = format!(
            "mov r6, r0\nbl #1024\nldr r3, [r6]\ncmp r3, #0\nbeq #8\nmov r2, #256\n\
             str r2, [r6]\nbx lr\nmov r0, {out}\nbl #1024\nbx lr"
        );
        prevents(Isa::A32, "arm1136jf-s", &text, 3).0
    };
    let free = said("r6");
    assert!(free.starts_with("`mov r2, #256` stays below `beq"), "{free}");
    assert!(!free.contains("in another register"), "{free}");
    let taken = said("r2");
    assert!(taken.contains("in another register"), "{taken}");
}

/// A switch's constants: one more goes above a branch for another cycle.
#[test]
fn what_fills_a_wait_inside_the_block_is_no_matter_of_exits() {
    let text = "addi sp, sp, -32\nsd s0, 16(sp)\nsd ra, 24(sp)\nsd s1, 8(sp)\nandi a0, a0, 448\n\
                li a4, 128\nmv s0, a1\nmv a1, a2\nbeq a0, a4, 28\nli a4, 256\nbeq a0, a4, 20\n\
                mv a0, s0\nld s0, 16(sp)\naddi sp, sp, 32\nj 4096\nj 4096";
    let said = prevents(Isa::Riscv64, "sifive-u74", text, 1).0;
    assert!(said.ends_with("with another order inside the block"), "{said}");
}

/// The place that waits, what could fill that, and what prevents it.
fn filled(isa: Isa, cpu: &str, text: &str, at: usize) -> (Vec<usize>, String) {
    let core = Core::bundled(cpu).expect("it is bundled");
    let function = assembled(isa, text);
    let timed = time_path(&function, &core, &Guide::of(&function), Effort::Search)
        .expect("it has instructions");
    let all = explain(&function, &core, &timed);
    let said = all.into_iter().find(|finding| finding.idx == at).expect("it waits");
    let places = said.fillers.into_iter().map(|filler| filler.0).collect();
    (places, said.prevents.expect("something is said"))
}

/// In the faster order the load that is waited for goes above the test, and what stands there fills
/// its wait. Where it stays below, others do.
#[test]
fn what_fills_a_wait_inside_the_block_stands_in_it() {
    let text = "push {r3, r4, r5, r6, r7, lr}\nldr r4, [r0, #44]\nldr r7, [r1]\n\
                ldrd r3, r6, [r4, #28]\ncmp r3, r6\nmov r5, r0\nbge #56\n\
                ldrd r3, r2, [r4, #12]\nsubs r2, r2, r3\nldr r3, [r7, #12]\n\
                ldr r3, [r3, #40]\nmov r0, r5\nadd.w r2, r3, r2, asr #3\nmov r1, r4\n\
                bl #1024\nldrd r1, r3, [r4, #24]\nldr r0, [r7, #12]\nldr r2, [r4, #16]\n\
                ldr r6, [r0, #12]\nadd.w r5, r3, r3, lsl #1\nadds r3, #1\nstr r3, [r4, #28]\n\
                subs r2, #136\nadd.w r3, r1, r5, lsl #2\nstrd r7, r2, [r3, #4]\nmovs r0, #0\n\
                str.w r6, [r1, r5, lsl #2]\npop {r3, r4, r5, r6, r7, pc}\n\
                str r6, [r4, #32]\nb #-64";
    for cpu in ["cortex-m3", "cortex-m4"] {
        let (fillers, said) = filled(Isa::T32, cpu, text, 10);
        assert!(said.ends_with("with another order inside the block"), "{said}");
        assert!(fillers.iter().all(|place| *place > 6), "{fillers:?}");
    }
}

/// No line of the source loads what was kept for the caller.
#[test]
fn what_the_caller_gets_back_is_no_load_to_write_earlier() {
    let text = "addi sp, sp, -32\nsd s0, 16(sp)\nsd s3, 0(sp)\nmv s3, a2\nsd s4, 8(sp)\n\
                mv s4, a1\nsd ra, 24(sp)\nmv s0, a0\njal 4096\nld a0, 24(s0)\njal 4096\n\
                beqz s4, 12\nld a5, 0(a0)\nsd a5, 0(s4)\nbeqz s3, 12\nlw a5, 8(a0)\n\
                sw a5, 0(s3)\nld ra, 24(sp)\nli a0, 0\nld s0, 16(sp)\nld s3, 0(sp)\n\
                ld s4, 8(sp)\naddi sp, sp, 32\nret";
    let (said, has_way) = prevents(Isa::Riscv64, "sifive-u74", text, 13);
    assert!(said.starts_with("`ld ra, 24(sp)` stays below"), "{said}");
    assert!(!has_way);
    let text = "stp x29, x30, [sp, #-48]!\nmov x29, sp\nstp x19, x20, [sp, #16]\nmov x19, x0\n\
                mov x20, x1\nstr x21, [sp, #32]\nmov x21, x2\nbl #4096\nldr x1, [x19]\n\
                str x1, [x20]\ncbz x21, #8\nstr x20, [x21]\nldr x19, [sp, #16]\n\
                ldr x20, [sp, #24]\nldr x21, [sp, #32]\nmov w0, #0\n\
                ldp x29, x30, [sp], #48\nret";
    let (said, has_way) = prevents(Isa::A64, "cortex-a55", text, 9);
    assert!(said.starts_with("`ldr x19, [sp, #16]` stays below"), "{said}");
    assert!(!has_way);
}

/// Of two ways that come together the end of one goes behind the jump to there.
#[test]
fn what_goes_behind_a_jump_is_no_matter_of_exits() {
    let text = "push {r4, r6, r7, lr}\nadd r7, sp, #8\nsub sp, #8\nldr r1, [r0]\n\
                ldrb r2, [r1, #4]\nlsls r2, r2, #31\nbne #4\nldr r0, [r0, #4]\n\
                adds r4, r0, #1\nb #0\nadd r4, sp, #4\nldr r0, [r4]\nrev r0, r0\n\
                add sp, #8\npop {r4, r6, r7, pc}";
    assert_eq!(
        prevents(Isa::T32, "cortex-m33", text, 8).0,
        "`b 0x16` leads away: it goes behind it, in a copy of what it leads to"
    );
}

/// What a compiler believes of an addition is no reason for an address, nor is too long a time.
#[test]
fn a_belief_is_told_where_it_is_too_short() {
    let address = "ldr x2, [x1]\nldr x3, [x2, #40]\nmov x4, #7\nadd x0, x3, x4\nret";
    let said = prevents(Isa::A64, "cortex-a53", address, 1).0;
    assert!(!said.contains("believes"), "{said}");
    let short = "ldr r1, [r0]\nadd r2, r1, #1\nmov r3, #1\nmov r12, #1";
    let said = prevents(Isa::A32, "arm1136jf-s", short, 1).0;
    assert!(
        said.contains("gcc 12 believes that the result takes 2 cycles where it takes 3"),
        "{said}"
    );
}

/// The function whose other way, that of `beq`, is `aside`; it is known which arguments what is
/// called at its end has.
fn with_other_way(set: &str, aside: &str, ends: Flow, arguments: Option<&[Reg]>) -> Function {
    let text = format!("mov r6, r0\nldr r3, [r6]\ncmp r3, #0\nbeq #8\n{set}\nbx lr\n{aside}");
    let mut function = assembled(Isa::A32, &text);
    let last = function.instructions.last_mut().expect("it ends");
    last.flow = match (ends, last.flow) {
        (Flow::Next, flow) => flow,
        (other, _) => other,
    };
    let address = last.address;
    function.arguments.extend(arguments.map(|arguments| (address, arguments.to_vec())));
    function
}

fn said_of(function: &Function) -> String {
    prevents_of(function, "arm1136jf-s", 2).0
}

/// What does not come back reads its arguments, and none of the registers that it may change.
#[test]
fn behind_a_call_that_does_not_come_back_registers_are_free() {
    let aside = "mov r0, r6\nbl #1024";
    let said =
        |set: &str, arguments| said_of(&with_other_way(set, aside, Flow::LastCall, arguments));
    let free = said("mov r12, #256\nstr r12, [r6]", None);
    assert!(free.starts_with("`mov ip, #256` stays below `beq"), "{free}");
    assert!(!free.contains("in another register"), "{free}");
    // The second argument, which the function was passed, is handed on, as far as is known.
    let second = "mov r1, #256\nstr r1, [r6]";
    assert!(said(second, None).contains("in another register"), "{}", said(second, None));
    let one = said(second, Some(&[Reg(0)][..]));
    assert!(!one.contains("in another register"), "{one}");
    let two = said(second, Some(&[Reg(0), Reg(1)][..]));
    assert!(two.contains("in another register"), "{two}");
    // No code of the function follows the call.
    let last = said_of(&with_other_way("mov r12, #256\nstr r12, [r6]", aside, Flow::Next, None));
    assert!(!last.contains("in another register"), "{last}");
}

/// Before a last call the arguments of the callee are live there, and no more.
#[test]
fn before_a_last_call_other_registers_are_free() {
    let said = |set: &str, arguments| {
        said_of(&with_other_way(set, "mov r0, r6\nb #4096", Flow::Next, arguments))
    };
    let second = "mov r2, #256\nstr r2, [r6]";
    assert!(said(second, None).contains("in another register"), "{}", said(second, None));
    let two = said(second, Some(&[Reg(0), Reg(1)][..]));
    assert!(two.starts_with("`mov r2, #256` stays below `beq"), "{two}");
    assert!(!two.contains("in another register"), "{two}");
    assert!(said(second, Some(&[Reg(0), Reg(1), Reg(2)][..])).contains("in another register"));
}

/// What is put into `r3` and not read belongs to the callee, if it has as many arguments.
#[test]
fn no_order_is_faster_as_far_as_the_arguments_are_known() {
    let said = |set: &str, arguments: Option<&[Reg]>| {
        let text =
            format!("ldr r12, [r0]\nadd r12, r12, r3\nstr r12, [r0]\n{set}\nbl #1024\nbx lr");
        let mut function = assembled(Isa::A32, &text);
        let call = function.instructions.len() - 2;
        let address = function.instructions[call].address;
        function.callees.insert(address, "f".to_owned());
        function.arguments.extend(arguments.map(|arguments| (address, arguments.to_vec())));
        prevents_of(&function, "arm1136jf-s", 1).0
    };
    let four = [Reg(0), Reg(1), Reg(2), Reg(3)];
    let none = "nothing: no order of these instructions is faster";
    assert_eq!(said("mov r3, #5", None), format!("{none}, if `f` has 4 arguments"));
    assert_eq!(said("mov r3, #5", Some(&four)), none);
    let fresh = said("mov r3, #5", Some(&four[..2]));
    assert!(fresh.starts_with("a register is used again too soon"), "{fresh}");
    // Nothing could fill the wait, however many there are.
    assert_eq!(said("mov r3, r12", None), none);
}

/// Where a jump stands behind what waits, nothing that it leads to comes before it.
#[test]
fn a_jump_behind_what_waits_does_not_lead_to_it() {
    let text = "ldr r1, [r0]\nadd r1, r1, #1\nstr r1, [r0]\nb #0\nmov r0, #1\nbx lr";
    assert_eq!(
        prevents(Isa::A32, "arm1136jf-s", text, 1).0,
        "`b 0x14` leads away: 1 of 2 cycles go behind it, in a copy of what it leads to"
    );
    // One before it does.
    let text = "b #0\nmov r0, #1\nldr r1, [r0]\nadd r1, r1, #1\nstr r1, [r0]\nbx lr";
    let said = prevents(Isa::A32, "arm1136jf-s", text, 3).0;
    assert!(said.contains("leads here"), "{said}");
}

/// Of a long path the best order is not known. Where one is found that is faster, it is said of what
/// waits in it, too, and not that there is none.
#[test]
fn what_waits_in_the_best_order_that_was_found_is_said_to() {
    let core = Core::bundled("cortex-a53").expect("it is bundled");
    let (mut n_shorter, mut n_none) = (0, 0);
    for seed in 0..24 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut lines = Vec::new();
        for _ in 0..35 {
            let (to, from) = (rng.u8(1..5), rng.u8(5..9));
            lines.push(match rng.u8(0..3) {
                0 => format!("ldp x{to}, x{}, [x{from}, #{}]", to + 10, 16 * rng.u8(0..4)),
                1 => format!("mul x{to}, x{from}, x{}", rng.u8(1..9)),
                _ => format!("ldr x{to}, [x{from}, #{}]", 8 * rng.u8(0..4)),
            });
            lines.push(match rng.u8(0..4) {
                0 => format!("str x{to}, [x{}]", rng.u8(5..9)),
                1 => format!("ldr x{from}, [x{to}]"),
                _ => format!("add x{from}, x{to}, x{}", rng.u8(1..9)),
            });
        }
        lines.push("ret".to_owned());
        let function = assembled(Isa::A64, &lines.join("\n"));
        let timed = time_path(&function, &core, &Guide::of(&function), Effort::Search)
            .expect("it has instructions");
        let is_shorter = timed.cycles.best_cycles < timed.cycles.total_cycles;
        for finding in explain(&function, &core, &timed) {
            let said = finding.prevents.expect("something is said of each");
            let says = |what: &str| said.starts_with(&format!("unknown: {what}"));
            let last = timed.reached.last().expect("orders were looked for");
            if says("the best order found waits here too") {
                assert!(is_shorter && last.timing.stall_cycles[finding.idx] > 0, "seed {seed}");
                n_shorter += 1;
            } else if says("no better order was found") {
                assert!(!is_shorter, "seed {seed}: {}", finding.instruction);
                n_none += 1;
            }
        }
    }
    assert!(n_shorter > 0, "too few to tell anything: {n_shorter}, {n_none}");
}

/// The load above the test saves cycles of what needs it. This wait the sum fills.
#[test]
fn a_load_that_saves_another_cycle_is_not_named() {
    let text = "ldr x1, [x4]\ncbz x1, #28\nadd x6, x5, #1\nadd x6, x6, #2\nldr x3, [x4, #8]\n\
                add x7, x3, x6\nstr x7, [x4]\nret\nret";
    let (said, has_way) = prevents(Isa::A64, "cortex-a53", text, 1);
    assert!(said.starts_with("`add x6, x5, #1` stays below `cbz x1, 0x20`"), "{said}");
    assert!(!has_way, "no load is to be written earlier");
    // Where nothing else is there, the load fills it.
    let text = "ldr x1, [x4]\ncbz x1, #20\nldr x3, [x4, #8]\nadd x7, x3, #1\nstr x7, [x4]\n\
                ret\nret";
    let (said, has_way) = prevents(Isa::A64, "cortex-a53", text, 1);
    assert!(said.starts_with("`ldr x3, [x4, #8]`"), "{said}");
    assert!(has_way, "{said}");
}

/// Where a callee lies is none of its arguments.
#[test]
fn the_register_that_leads_to_a_callee_is_no_argument() {
    let guessed = |call: &str| {
        let function = assembled(Isa::A64, &format!("ldr x1, [x2]\n{call}\nadd x0, x0, #1\nret"));
        guesses(&function, &hot_trace(&Guide::of(&function)))
    };
    assert_eq!(guessed("blr x1"), []);
    assert_eq!(guessed("blr x3"), [(1, 2)]);
}
