//! Floating point waits for its own registers, and for nothing else.

use crate::support::assembler;

use audit::decode::Isa;
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::Function;
use audit::timing::depend::{Licence, dependences};
use audit::timing::pipe::Need;
use audit::timing::stalls::time;
use machine::in_order::Core;

/// When each instruction starts, from 0.
fn starts(isa: Isa, cpu: &str, text: &str) -> Vec<u32> {
    let core = Core::bundled(cpu).expect("it is bundled");
    let function: Function = assembler::assembled(isa, text);
    let trace = hot_trace(&Guide::of(&function));
    let edges =
        dependences(&function, &StackFrame::of(&function), &trace, &core, Licence::default());
    let needs = Need::of_trace(&function, &trace, &core);
    let order: Vec<u32> = (0..needs.len() as u32).collect();
    time(&needs, &edges, &order, &core).starts
}

/// Cycles between the starts of two lines.
fn between(isa: Isa, cpu: &str, first: &str, second: &str) -> u32 {
    let starts = starts(isa, cpu, &format!("{first}\n{second}"));
    starts[1] - starts[0]
}

#[test]
fn two_loads_of_the_arm1136_do_not_wait_for_each_other() {
    let between = |first, second| between(Isa::A32, "arm1136jf-s", first, second);
    assert_eq!(between("vldr d0, [r0]", "vldr d1, [r1]"), 1);
    assert_eq!(between("vldr s0, [r0]", "vadd.f32 s1, s2, s3"), 1);
    assert_eq!(between("vadd.f64 d0, d1, d2", "vmul.f64 d3, d4, d5"), 1);
    assert_eq!(between("vcmp.f32 s0, s1", "vadd.f32 s2, s3, s4"), 1);
}

#[test]
fn who_reads_a_register_waits_for_it() {
    let between = |first, second| between(Isa::A32, "arm1136jf-s", first, second);
    assert_eq!(between("vldr d1, [r0]", "vadd.f64 d2, d1, d3"), 8);
    // The upper half of d1.
    assert_eq!(between("vldr d1, [r0]", "vadd.f32 s0, s1, s3"), 8);
    assert_eq!(between("vldr d1, [r0]", "vadd.f32 s0, s1, s4"), 1);
    assert_eq!(between("vmul.f32 s3, s4, s5", "vmov r0, s3"), 8);
    assert_eq!(between("vcmp.f32 s0, s1", "vmrs APSR_nzcv, fpscr"), 8);
    assert_eq!(between("vmla.f64 d0, d1, d2", "vmla.f64 d0, d3, d4"), 8);
    assert_eq!(between("vmov s1, r0", "vstr s1, [r1]"), 8);
}

#[test]
fn exceptions_that_add_up_hold_nothing_back() {
    for cpu in ["cortex-a53", "cortex-a55"] {
        let between = |first, second| between(Isa::A64, cpu, first, second);
        assert!(between("fadd d0, d1, d2", "fmul d3, d4, d5") <= 1, "{cpu}");
        assert!(between("fcmp d0, d1", "fadd d3, d4, d5") <= 1, "{cpu}");
        assert!(between("fadd v0.4s, v1.4s, v2.4s", "fadd v16.4s, v17.4s, v18.4s") <= 1, "{cpu}");
        assert!(between("fadd d0, d1, d2", "fmul d3, d0, d5") > 1, "{cpu}");
    }
}

#[test]
fn floating_point_of_riscv_waits_for_its_own_registers() {
    for cpu in ["rocket", "sifive-u74"] {
        let between = |first, second| between(Isa::Riscv64, cpu, first, second);
        assert!(between("fld ft0, 0(a0)", "fadd.d ft1, ft0, ft2") > 1, "{cpu}");
        assert!(between("fadd.d ft0, ft1, ft2", "fmul.d ft3, ft4, ft5") <= 1, "{cpu}");
        assert!(between("fmadd.d ft0, ft1, ft2, ft3", "fmv.x.d a0, ft0") > 1, "{cpu}");
        assert!(between("fcvt.d.w ft0, a0", "fsd ft1, 0(a1)") <= 1, "{cpu}");
        assert!(between("feq.d a0, ft0, ft1", "add a1, a0, a0") > 1, "{cpu}");
    }
}

/// What follows a word of floating point was lost, or taken for something else, when
/// that was not decoded.
#[test]
fn the_code_around_floating_point_is_all_there() {
    let function = assembler::assembled(
        Isa::Riscv64,
        "fld ft0, 0(a0)\nfld ft1, 8(a0)\nfadd.d fa0, ft0, ft1\nsext.b a1, a1\nret",
    );
    let texts: Vec<&str> =
        function.instructions.iter().map(|instruction| instruction.text.as_str()).collect();
    assert_eq!(
        texts,
        ["fld ft0, 0(a0)", "fld ft1, 8(a0)", "fadd.d fa0, ft0, ft1", "sext.b a1, a1", "ret"]
    );
}
