//! Code that nobody would write: every instruction set, random words, branches to anywhere. No
//! audit of it panics, and the sums hold.

use crate::support::made::{of_instructions, of_words};

use audit::decode::Isa;
use audit::decode::code::Flow;
use audit::facts::trace::Guide;
use audit::program::function::Function;
use audit::timing::explain::explain;
use audit::timing::licence::Effort;
use audit::timing::time_path;
use fastrand::Rng;
use machine::in_order::Core;

/// Random words that are instructions, with branches to places among them.
fn random_function(rng: &mut Rng, isa: Isa, n: usize) -> Function {
    let mut instructions = Vec::new();
    let mut address = 0x1_0000;
    while instructions.len() < n {
        let bytes: Vec<u8> = (0..16).map(|_| rng.u8(..)).collect();
        if let Ok(instruction) = isa.decode(address, &bytes) {
            address += u64::from(instruction.length);
            instructions.push(instruction);
        }
    }
    // Few of a random word's branches stay near: lead them to some instruction.
    let places: Vec<u64> = instructions.iter().map(|instruction| instruction.address).collect();
    for instruction in &mut instructions {
        if let Flow::Branch { target, .. } = &mut instruction.flow
            && rng.u32(0..4) > 0
        {
            *target = places[rng.usize(0..places.len())];
        }
    }
    let callees = places
        .iter()
        .filter(|_| rng.u32(0..20) == 0)
        .map(|place| (*place, "abort".to_owned()))
        .collect();
    Function { callees, ..of_instructions(isa, instructions) }
}

#[test]
fn any_code_on_any_core() {
    for name in Core::names() {
        let core = Core::bundled(name).expect("it is bundled");
        for isa in
            core.sets.iter().map(|set| Isa::named(set).expect("a core runs sets that there are"))
        {
            for seed in 0..40 {
                let mut rng = Rng::with_seed(seed);
                let n = rng.usize(1..70);
                let function = random_function(&mut rng, isa, n);
                let effort = if seed % 4 == 0 { Effort::Search } else { Effort::Bounds };
                let core = core.clone().with_branch_cost(seed as u32 % 2);
                let audit = time_path(&function, &core, &Guide::of(&function), effort)
                    .expect("it has instructions");
                let cycles = audit.cycles;
                let bound = cycles.lower_bound;
                assert_eq!(
                    cycles.total_cycles,
                    cycles.issue_cycles + cycles.stall_cycles,
                    "{name} seed {seed}"
                );
                assert_eq!(
                    cycles.total_cycles,
                    bound.issue + bound.in_block + bound.side_exit + bound.inherent,
                    "{name} seed {seed}"
                );
                assert!(bound.total <= cycles.best_cycles, "{name} seed {seed}");
                assert_eq!(
                    explain(&function, &core, &audit).len(),
                    audit
                        .timing
                        .stall_cycles
                        .iter()
                        .filter(|stall_cycle| **stall_cycle > 0)
                        .count(),
                    "{name} seed {seed}"
                );
                for (at, causes) in audit.causes.iter().enumerate() {
                    assert_eq!(
                        causes.is_empty(),
                        audit.timing.stall_cycles[at] == 0,
                        "{name} seed {seed} at {at}"
                    );
                }
            }
        }
    }
}

#[test]
fn very_long_paths_have_an_audit_too() {
    // Loads, additions, stores, tests and side exits, three thousand instructions of them, without
    // a call.
    let mut words = Vec::new();
    for idx in 0..600u32 {
        let to_end = 2994u32.wrapping_sub(5 * idx) & 0x00ff_ffff;
        words.extend([
            0xe590_1000 | (4 * idx),
            0xe081_2002,
            0xe582_1008,
            0xe352_0000,
            0x0a00_0000 | to_end,
        ]);
    }
    let function = of_words(Isa::A32, &words);
    let core = Core::bundled("arm1136jf-s").expect("it is bundled");
    let audit = time_path(&function, &core, &Guide::of(&function), Effort::Search)
        .expect("it has instructions");
    assert_eq!(audit.cycles.instructions, 3000);
    assert!(
        audit.cycles.lower_bound.total >= 3000
            && audit.cycles.best_cycles <= audit.cycles.total_cycles
    );
}
