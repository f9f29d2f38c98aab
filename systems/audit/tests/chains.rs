//! Cycles of dependent chains and of independent rows against measurements that others published of
//! real boards.

use crate::support::assembler;

use audit::decode::Isa;
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::timing::depend::{Licence, dependences};
use audit::timing::pipe::Need;
use audit::timing::stalls::time;
use machine::in_order::Core;
use machine::{Kind, Machine};

/// Cycles of one step when `step` follows itself, from start to start; a step may be several lines.
fn cycles_a_step(isa: Isa, core: &Core, step: impl Fn(usize) -> String) -> f64 {
    const STEPS: usize = 120;
    let text: String = (0..STEPS).map(|nth| step(nth) + "\n").collect();
    let function = assembler::assembled(isa, &text);
    let n_lines = function.instructions.len() / STEPS;
    let trace = hot_trace(&Guide::of(&function));
    assert_eq!(trace.places.len(), function.instructions.len(), "all of it is on the path");
    let edges =
        dependences(&function, &StackFrame::of(&function), &trace, core, Licence::default());
    let needs = Need::of_trace(&function, &trace, core);
    let order: Vec<u32> = (0..needs.len() as u32).collect();
    let starts = time(&needs, &edges, &order, core).starts;
    // The pipeline is full after a third.
    let (first, last) = (STEPS / 3 * n_lines, (STEPS - 1) * n_lines);
    f64::from(starts[last] - starts[first]) / (STEPS - 1 - STEPS / 3) as f64
}

/// ocxtal, insn_bench_aarch64, results/raspberry-pi-3_cortex-a53.md: a step of
/// a dependent chain, cycles.
const A53_CHAINS: &[(&str, f64)] = &[
    ("add x0, x0, x1", 1.00),
    ("add x0, x1, x0, lsl #17", 2.01),
    ("add x0, x0, #3", 1.00),
    ("adds x0, x0, x1", 1.00),
    ("adc x0, x0, x1", 1.00),
    ("sub x0, x1, x0, asr #17", 2.01),
    ("and x0, x1, x0, ror #17", 2.01),
    ("csinc x0, x0, x1, eq", 1.00),
    ("csneg w0, w0, w1, lt", 1.00),
    ("clz x0, x0", 1.01),
    ("mov x0, x0", 1.00),
    ("lsl x0, x0, #3", 2.01),
    ("asr x0, x0, #3", 2.01),
    ("ror x0, x0, #3", 2.01),
    ("extr x0, x0, x0, #17", 2.01),
    ("ubfx x0, x0, #3, #5", 2.01),
    ("bfi x0, x0, #3, #5", 2.01),
    ("sxtw x0, w0", 2.01),
    ("rev x0, x0", 2.01),
    ("rbit x0, x0", 2.01),
    ("lsl x0, x0, x1", 1.00),
    ("ror x0, x0, x1", 1.00),
    ("mul x0, x0, x1", 4.02),
    ("mneg x0, x0, x1", 5.02),
    ("madd x0, x0, x0, x1", 5.02),
    ("smull x0, w0, w1", 3.01),
    ("umaddl x0, w0, w0, x1", 3.01),
    ("smulh x0, x0, x1", 6.03),
    ("umulh x0, x0, x1", 6.03),
    ("sdiv x0, x0, x1", 3.01),
    ("udiv x0, x0, x1", 3.01),
    ("ldr x0, [x0]", 3.02),
    ("ldr x0, [x0, #16]", 3.02),
    ("ldr x0, [x1, x0]", 3.01),
    ("ldr x0, [x1, x0, lsl #3]", 3.01),
    ("ldr x1, [x0, #16]!", 3.01),
    ("ldr x1, [x0], #16", 3.00),
    ("ldrb w0, [x0, x1]", 4.02),
    ("ldrsh w0, [x0, x1]", 4.02),
    ("ldrsw x0, [x0, x1]", 4.02),
    // Two instructions a step; the table has 1.00 of the addition taken off.
    ("ldrb w0, [x0]\nadd x0, x0, x1", 4.02 + 1.00),
    ("add x0, x0, x1\nldp w0, w2, [x0]", 4.02 + 1.00),
    ("adds x0, x0, x1\nb.eq #4", 1.01),
];

/// The same table: instructions a cycle of independent ones.
const A53_ROWS: &[(&str, f64)] = &[
    ("add xD, xS, x1", 1.99),
    ("lsl xD, xS, #3", 1.99),
    ("lsl xD, xS, x1", 1.00),
    ("clz xD, xS", 1.99),
    ("mul xD, xS, x1", 0.50),
    ("madd xD, xS, x1, x1", 0.33),
    ("umulh xD, xS, x1", 0.25),
    ("smull xD, wS, w1", 1.00),
    ("udiv xD, xS, x1", 0.33),
    ("ldr xD, [x1]", 1.00),
    ("ldp xD, x9, [x1]", 0.50),
    ("str xS, [x1]", 1.00),
    ("stp xS, xS, [x1]", 1.00),
    ("b #4", 0.33),
    ("nop", 1.99),
];

/// ocxtal, insn_bench_aarch64, results/nxp_lx2160a_a72.md: cycles of a step, instructions a cycle.
/// Of the A72, which reorders, audit times nothing: these are the rows that `cipher` counts with.
/// Vectors of logic and sums start 1.5 a cycle there, where the file has two; what is not measured
/// as a chain is left out.
const A72: &[(Kind, machine::Class, f64, Option<f64>)] = &[
    (Kind::General, machine::Class::Logic, 1.00, Some(2.00)),
    (Kind::General, machine::Class::Add, 1.00, Some(2.00)),
    (Kind::General, machine::Class::Mul, 5.00, Some(0.33)),
    (Kind::General, machine::Class::Shift, 1.00, Some(2.00)),
    (Kind::General, machine::Class::Rotate, 1.00, Some(2.00)),
    (Kind::General, machine::Class::Load, 4.00, Some(1.00)),
    (Kind::General, machine::Class::Move, 1.00, Some(2.00)),
    (Kind::Vector, machine::Class::Logic, 3.00, None),
    (Kind::Vector, machine::Class::Add, 3.00, None),
    (Kind::Vector, machine::Class::Mul, 4.00, Some(0.50)),
    (Kind::Vector, machine::Class::Shift, 3.00, Some(1.00)),
    (Kind::Vector, machine::Class::Rotate, 3.00 + 4.00, None),
    (Kind::Vector, machine::Class::Move, 3.00, None),
];

#[test]
fn the_a72_takes_as_long_as_an_lx2160a() {
    let machine = Machine::bundled("cortex-a72").expect("it is bundled");
    for (kind, class, step, a_cycle) in A72 {
        let row = machine.operation(*kind, *class);
        assert!(
            (f64::from(row.latency_cycles) / step - 1.0).abs() < 0.10,
            "{kind:?} {class:?}: {row:?}"
        );
        let ours = f64::from(row.units.count()) / f64::from(row.micro_ops);
        assert!(
            a_cycle.is_none_or(|a_cycle| (ours / a_cycle - 1.0).abs() < 0.10),
            "{kind:?} {class:?}: {ours} a cycle"
        );
    }
}

#[test]
fn the_a53_takes_as_long_as_a_raspberry_pi_3() {
    let core = Core::bundled("cortex-a53").expect("it is bundled");
    let mut faults = Vec::new();
    for (step, measured) in A53_CHAINS {
        let ours = cycles_a_step(Isa::A64, &core, |_| (*step).to_owned());
        if (ours / measured - 1.0).abs() > 0.10 {
            faults.push(format!("{step}: {ours:.2} cycles a step, measured {measured}"));
        }
    }
    for (form, measured) in A53_ROWS {
        let each = |nth: usize| {
            form.replace(['D'], &(nth % 6 + 2).to_string())
                .replace('S', &(nth % 6 + 10).to_string())
        };
        let ours = 1.0 / cycles_a_step(Isa::A64, &core, each);
        if (ours / measured - 1.0).abs() > 0.10 {
            faults.push(format!("{form}: {ours:.2} a cycle, measured {measured}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_a_call_returns_is_there_when_it_is_back() {
    // RISC-V's `jalr` takes as long to write `ra` as an addition its sum; `a0` is the callee's, and
    // that takes longer.
    let cycles = |isa, cpu: &str, text: &str| {
        let function = assembler::assembled(isa, text);
        let core = Core::bundled(cpu).expect("it is bundled");
        let timed = audit::timing::time_path(
            &function,
            &core,
            &Guide::of(&function),
            audit::timing::licence::Effort::Bounds,
        );
        timed.expect("it has instructions").cycles.stall_cycles
    };
    for cpu in ["sifive-u74", "rocket"] {
        assert_eq!(
            cycles(Isa::Riscv64, cpu, "jalr a5\naddi s0, a0, 1\nbnez a0, 64\nadd s1, s0, t1"),
            0,
            "{cpu}"
        );
    }
    for cpu in ["cortex-a53", "cortex-a55"] {
        assert_eq!(cycles(Isa::A64, cpu, "bl #64\nadd x19, x0, #1\nldr x1, [x20]"), 0, "{cpu}");
    }
}
