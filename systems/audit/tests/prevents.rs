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

/// The path gains a cycle behind the call. That another could stand here, and something else in its
/// place, gains none.
#[test]
fn a_wait_that_costs_nothing_is_not_said_to_go() {
    let text = "stp x29, x30, [sp, #-32]!\nadrp x1, #8192\nadd x1, x1, #0\nmov x29, sp\n\
                str x19, [sp, #16]\nmov x19, x0\nstr x1, [x0]\nbl #4096\nmov x0, x19\n\
                mov x1, #24\nldr x19, [sp, #16]\nldp x29, x30, [sp], #32\nb #4096";
    assert_eq!(
        prevents(Isa::A64, "cortex-a53", text, 4).0,
        "nothing: the fastest order of these instructions waits here too"
    );
}
