//! What compilers believe of each core, as they say it themselves, against the rows of the machine
//! files.

use audit::beliefs::{Beliefs, ask};
use machine::in_order::Core;

const GCC: &str = "gcc 12";
const LLVM: &str = "LLVM 19";

/// What a machine file must have: where a compiler differs from it.
fn differing(core: &Core, asked: &Beliefs) -> Vec<String> {
    let mut rows = Vec::new();
    for (compiler, believed) in [
        (GCC, asked.rows.iter().map(|row| row.gcc).collect::<Vec<_>>()),
        (LLVM, asked.rows.iter().map(|row| row.llvm).collect()),
    ] {
        for (row, cycles) in asked.rows.iter().zip(believed) {
            let here = core.to_addition(row.class);
            rows.extend(
                cycles
                    .filter(|cycle| *cycle != here)
                    .map(|cycle| format!("{compiler} {} {cycle}", row.class.name())),
            );
        }
    }
    rows
}

#[test]
fn machine_files_have_every_belief_that_differs_and_no_other() {
    let mut faults = Vec::new();
    for name in Core::names() {
        let core = Core::bundled(name).expect("it is listed");
        let asked = ask(&core);
        assert!(asked.gcc_failed.is_none(), "{name}: {:?}", asked.gcc_failed);
        let mut written: Vec<String> = core
            .beliefs
            .iter()
            .map(|belief| {
                format!("{} {} {}", belief.compiler, belief.class.name(), belief.latency_cycles)
            })
            .collect();
        let mut measured = differing(&core, &asked);
        written.sort();
        measured.sort();
        if written != measured {
            faults.push(format!("{name}: measured {measured:?}, written {written:?}"));
        }
        // llvm-mca reads no itineraries, and the file says so.
        assert_eq!(
            asked.llvm_failed.is_some(),
            core.compilers.llvm.contains("does not"),
            "{name}: {:?}",
            asked.llvm_failed
        );
        assert!(
            asked.rows.iter().filter(|row| row.gcc.is_some()).count() >= 2,
            "{name}: {:?}",
            asked.rows
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
