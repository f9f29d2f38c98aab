//! Every clause of what is said to prevent a compiler is true.

#[path = "support/assembler.rs"]
mod assembler;

use assembler::assembled;
use audit::decode::Isa;
use audit::facts::trace::Guide;
use audit::timing::explain::explain;
use audit::timing::licence::Effort;
use audit::timing::time_path;
use machine::in_order::Core;

/// What prevents the wait of the instruction at place `at`, and whether something is to be tried.
fn prevents(isa: Isa, cpu: &str, text: &str, at: usize) -> (String, bool) {
    let function = assembled(isa, text);
    let core = Core::bundled(cpu).expect("it is bundled");
    let timed = time_path(&function, &core, &Guide::of(&function), Effort::Search)
        .expect("it has instructions");
    let all = explain(&function, &core, &timed);
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
