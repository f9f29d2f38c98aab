//! What can be done, on which registers, in which units.

/// Registers that an operation works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    General,
    /// Vectors up to 256 bits: the targets `sse`, `avx2` and `neon`.
    Vector,
    /// Vectors of 512 bits.
    Vector512,
}

/// A class of operations that run alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// And, or, exclusive or, complement, and-not.
    Logic,
    Add,
    Mul,
    /// Shift by a constant.
    Shift,
    /// Rotation by a constant, with as many instructions as it takes.
    Rotate,
    /// Bytes or elements of one register by a constant pattern.
    Shuffle,
    /// Any function of three words.
    Ternary,
    /// From the first-level cache.
    Load,
    /// To the first-level cache.
    Store,
    /// From register to register.
    Move,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Kind; 3] = [Kind::General, Kind::Vector, Kind::Vector512];

    /// As in the files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::General => "general",
            Kind::Vector => "vector",
            Kind::Vector512 => "vector512",
        }
    }
}

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Class; 10] = [
        Class::Logic,
        Class::Add,
        Class::Mul,
        Class::Shift,
        Class::Rotate,
        Class::Shuffle,
        Class::Ternary,
        Class::Load,
        Class::Store,
        Class::Move,
    ];

    /// As in the files.
    pub fn name(self) -> &'static str {
        match self {
            Class::Logic => "logic",
            Class::Add => "add",
            Class::Mul => "mul",
            Class::Shift => "shift",
            Class::Rotate => "rotate",
            Class::Shuffle => "shuffle",
            Class::Ternary => "ternary",
            Class::Load => "load",
            Class::Store => "store",
            Class::Move => "move",
        }
    }
}

/// How one operation runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The units of which each micro-operation takes any one.
    pub units: UnitSet,
    /// Cycles from the start until another operation may start with the result.
    pub latency_cycles: u32,
    /// Unit cycles that the operation takes altogether, at least 1.
    pub micro_ops: u32,
    /// Where the numbers come from.
    pub source: String,
}

/// A set of execution units: bit i is `Machine::units[i]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct UnitSet(pub u32);

impl UnitSet {
    /// Most units of a machine.
    pub const MAX: u32 = u32::BITS;

    /// Unit `idx` is in the set.
    pub fn contains(self, idx: usize) -> bool {
        idx < Self::MAX as usize && self.0 >> idx & 1 == 1
    }

    /// Number of units in the set.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The sets share a unit.
    pub fn meets(self, other: UnitSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The positions of the units, from the lowest.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Self::MAX as usize).filter(move |idx| self.contains(*idx))
    }
}
