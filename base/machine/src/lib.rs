//! Facts about machines: how many operations start in a cycle, where, and when their results are
//! there.

use std::ops::RangeInclusive;

mod dispute;
mod identity;
pub mod in_order;
mod instructions;
mod load;
mod operation;
mod parse;
mod ports;
mod reader;

pub use dispute::Dispute;
pub use identity::Identity;
pub use instructions::{InstructionRow, Instructions};
pub use operation::{Class, Kind, Operation, UnitSet};
pub use ports::port_bound;

/// The bundled files: name and text.
const BUNDLED: &[(&str, &str)] = &[
    ("x86-64-generic", include_str!("../machines/x86-64-generic.toml")),
    ("skylake", include_str!("../machines/skylake.toml")),
    ("zen4", include_str!("../machines/zen4.toml")),
    ("zen5", include_str!("../machines/zen5.toml")),
    ("cortex-a72", include_str!("../machines/cortex-a72.toml")),
    ("neoverse-n1", include_str!("../machines/neoverse-n1.toml")),
    ("neoverse-v1", include_str!("../machines/neoverse-v1.toml")),
];

/// The machine that is meant when none is named.
pub const DEFAULT: &str = "x86-64-generic";

/// In which order operations start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As written; one that waits holds up all after it.
    InOrder,
    /// As their operands arrive, within the window.
    OutOfOrder,
}

/// Registers that a compiler may use for values; `None` where the machine lacks the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterCounts {
    /// General registers without stack pointer (and what else the system keeps).
    pub general: u32,
    /// 128-bit registers of x86-64.
    pub sse: Option<u32>,
    /// 256-bit registers of x86-64 as the `avx2` target uses them.
    pub avx2: Option<u32>,
    /// 512-bit registers of x86-64.
    pub avx512: Option<u32>,
    /// 128-bit registers of AArch64.
    pub neon: Option<u32>,
}

/// Processors that a file describes, by what they say of themselves (`cpuid`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processors {
    pub vendor: String,
    /// The family, its extension added.
    pub family: u32,
    /// Models, their extensions added.
    pub models: Vec<RangeInclusive<u32>>,
}

/// One machine, as its file describes it; every number there has a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The name on the command line.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What the description as a whole rests on.
    pub source: String,
    /// Operations start as written or as their operands arrive.
    pub order: Order,
    /// Micro-operations that may start in one cycle.
    pub issue_width: u32,
    /// Micro-operations in flight between the oldest that is not finished and the newest.
    pub window: u32,
    /// The names of the execution units, at most [`UnitSet::MAX`]; sets refer to them by position.
    pub units: Vec<String>,
    pub registers: RegisterCounts,
    /// Processors that are this machine; a file may leave them out.
    pub processors: Option<Processors>,
    /// Figures that another source gives otherwise, in the order of the file.
    pub disputes: Vec<Dispute>,
    /// What single instructions take; a file may leave them out.
    pub instructions: Option<Instructions>,
    /// What the core says of itself; a file may leave it out.
    pub identity: Option<Identity>,
    /// By kind, then class; read with [`Machine::operation`].
    operations: [[Operation; Class::ALL.len()]; Kind::ALL.len()],
}

impl Machine {
    /// How an operation of this class runs on registers of this kind. What a file leaves out is
    /// filled in when it is read: see `docs/format/machines.md`.
    pub fn operation(&self, kind: Kind, class: Class) -> &Operation {
        &self.operations[kind as usize][class as usize]
    }

    /// The bundled machine of this name.
    pub fn bundled(name: &str) -> Option<Machine> {
        let (name, text) = BUNDLED.iter().find(|(it, _)| *it == name)?;
        let machine = Machine::parse(&format!("machines/{name}.toml"), text);
        Some(
            machine
                .unwrap_or_else(|fault| panic!("a test parses the bundled machines, but {fault}")),
        )
    }

    /// The bundled machine that describes this processor.
    pub fn of_processor(vendor: &str, family: u32, model: u32) -> Option<Machine> {
        let is_it = |processors: &Processors| {
            processors.vendor == vendor
                && processors.family == family
                && processors.models.iter().any(|range| range.contains(&model))
        };
        Machine::names()
            .filter_map(Machine::bundled)
            .find(|machine| machine.processors.as_ref().is_some_and(is_it))
    }

    /// The names of the bundled machines, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUNDLED.iter().map(|(name, _)| *name)
    }

    /// A machine for examples on paper: `width` units that can do everything, one cycle for each
    /// operation, started in order, `width` at a time.
    ///
    /// Panics: if `width` is 0 or more than [`UnitSet::MAX`].
    pub fn in_order(width: u32) -> Machine {
        assert!((1..=UnitSet::MAX).contains(&width), "a machine of {width} units");
        let all = UnitSet((1u64 << width).wrapping_sub(1) as u32);
        let source = "an example, not a machine".to_owned();
        let operation =
            Operation { units: all, latency_cycles: 1, micro_ops: 1, source: source.clone() };
        Machine {
            name: format!("in-order-{width}"),
            title: format!("{width} equal units, in order"),
            source,
            order: Order::InOrder,
            issue_width: width,
            window: width,
            units: (0..width).map(|i| format!("u{i}")).collect(),
            registers: RegisterCounts {
                general: 32,
                sse: Some(32),
                avx2: Some(32),
                avx512: Some(32),
                neon: Some(32),
            },
            processors: None,
            disputes: Vec::new(),
            instructions: None,
            identity: None,
            operations: std::array::from_fn(|_| std::array::from_fn(|_| operation.clone())),
        }
    }
}
