//! What findings cost agrees with what the listing beside them says.

use crate::support::assembler;

use assembler::assembled;
use audit::decode::Isa;
use audit::facts::trace::Guide;
use audit::finding::{Finding, Kind};
use audit::timing::cost::priced;
use audit::timing::licence::Effort;
use audit::timing::time_path;
use machine::in_order::Core;

/// The cycles of a finding about the first instruction; none if it is none on this core.
fn cycles(isa: Isa, cpu: &str, text: &str, kind: Kind) -> Option<u32> {
    let function = assembled(isa, text);
    let core = Core::bundled(cpu).expect("it is bundled");
    let timed = time_path(&function, &core, &Guide::of(&function), Effort::Bounds)
        .expect("it has instructions");
    let finding = Finding::new(0, kind, String::new(), String::new());
    let priced = priced(vec![finding], &function, &timed.trace, &core);
    priced.first().map(|finding| finding.cycles)
}

/// ARM DDI 0484C, table 3-1: loads, stores and taken branches 2, BL 3, BX 2.
#[test]
fn on_cortex_m0plus_a_load_is_two_cycles_and_a_call_five() {
    let load = "ldr r0, [r1]\nbx lr";
    for kind in [Kind::Reload, Kind::DeadValue, Kind::ComputedTwice] {
        assert_eq!(cycles(Isa::T32, "cortex-m0plus", load, kind), Some(2), "{kind:?}");
        assert_eq!(cycles(Isa::A64, "cortex-a53", "ldr x0, [x1]\nret", kind), Some(1), "{kind:?}");
    }
    let call = "bl #8\nbx lr\nmovs r0, #1\nbx lr";
    assert_eq!(cycles(Isa::T32, "cortex-m0plus", call, Kind::Call), Some(5));
    let jump = "b #4\nnop\nbx lr";
    assert_eq!(cycles(Isa::T32, "cortex-m0plus", jump, Kind::Jump), Some(2));
}

/// The files of some cores have no other cost for a branch that is taken.
#[test]
fn a_taken_branch_is_named_where_it_costs_more_than_another() {
    let branch = "beq #4\nnop\nbx lr";
    assert_eq!(cycles(Isa::T32, "cortex-m0plus", branch, Kind::TakenBranch), Some(1));
    let branch = "beq a0, a1, 8\nnop\nret";
    assert_eq!(cycles(Isa::Riscv64, "sifive-u74", branch, Kind::TakenBranch), None);
}
