//! The machines that code is audited for: which there are, and which one fits code of which nothing
//! else is known.

use machine::in_order::Core;
use machine::{Identity, Machine};
use report::{Diagnostic, did_you_mean};

use crate::decode::Isa;

/// The name of a machine, and the sets of instructions that it runs.
pub type Cpu = (String, Vec<Isa>);

/// Machines that reorder instructions, with nothing said of their cycles: name, title,
/// and the instruction sets they run.
pub const WITHOUT_BOUND: [(&str, &str, &[Isa]); 2] = [
    ("cortex-a9", "Arm Cortex-A9; it reorders, so no cycles", &[Isa::T32, Isa::A32]),
    ("x86-64", "any; no cycles of a core that is not named", &[Isa::X86]),
];

/// Machines that reorder instructions and of which bounds are known, with their sets.
pub fn reordering() -> impl Iterator<Item = (Machine, Vec<Isa>)> {
    Machine::names().filter_map(Machine::bundled).filter_map(|machine| {
        let sets = &machine.instructions.as_ref()?.sets;
        let sets = sets.iter().filter_map(|set| Isa::named(set)).collect();
        Some((machine, sets))
    })
}

/// The machines that can be named, with their instruction sets.
pub fn all() -> Vec<(String, Isa)> {
    let in_order = Core::names().filter_map(Core::bundled).flat_map(|core| {
        let sets: Vec<Isa> = core.sets.iter().filter_map(|set| Isa::named(set)).collect();
        sets.into_iter().map(move |isa| (core.name.clone(), isa))
    });
    let reordering = reordering()
        .flat_map(|(machine, sets)| sets.into_iter().map(move |isa| (machine.name.clone(), isa)));
    let others = WITHOUT_BOUND
        .iter()
        .flat_map(|(name, _, sets)| sets.iter().map(|isa| ((*name).to_owned(), *isa)));
    in_order.chain(reordering).chain(others).collect()
}

/// That no x86-64 core was named, and which can be.
pub fn chosen_core(taken: &str) -> String {
    let of_set = all().into_iter().filter(|(_, isa)| *isa == Isa::X86).map(|(name, _)| name);
    let others: Vec<String> =
        of_set.filter(|name| name != taken).map(|name| format!("--cpu {name}")).collect();
    format!(
        "no core is named: the bounds are those of {taken}; {} are others",
        others.join(" and ")
    )
}

/// A machine for code of which nothing else is known. Most Thumb is firmware.
pub fn fitting(isa: Isa) -> Option<String> {
    if isa == Isa::T32 {
        return Some("cortex-m4".to_owned());
    }
    all().into_iter().find(|(_, it)| *it == isa).map(|(name, _)| name)
}

/// What a machine says of itself, if its file has that.
pub fn identity(name: &str) -> Option<Identity> {
    match Core::bundled(name) {
        Some(core) => core.identity,
        None => Machine::bundled(name)?.identity,
    }
}

/// The machine of this name, with all its instruction sets.
///
/// Errors: there is none; what is near, or what there is.
pub fn named(name: &str) -> Result<Cpu, Diagnostic> {
    let all = all();
    let known = all
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(known, _)| known.clone());
    if let Some(known) = known {
        let sets = all.iter().filter(|(other, _)| *other == known).map(|(_, isa)| *isa).collect();
        return Ok((known, sets));
    }
    let mut names: Vec<&str> = all.iter().map(|(it, _)| it.as_str()).collect();
    // One with two instruction sets stands there twice.
    names.dedup();
    let help = match did_you_mean(name, names.iter().copied()) {
        Some(meant) => meant,
        None => format!("the machines are {}", names.join(", ")),
    };
    Err(Diagnostic::new(format!("there is no machine `{name}`")).with_help(help))
}
