//! The words that machine files and machine code share: kinds of work, roles of operands, kinds of
//! results.

/// What kind of work an instruction is: the row of a machine file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Arithmetic and logic on registers and immediates.
    Alu,
    /// The same with an operand shifted by an immediate.
    AluShiftImm,
    /// The same with an operand shifted by a register.
    AluShiftReg,
    /// A shift that is an instruction of its own.
    Shift,
    /// Sign or zero extension, byte reversal, and bit fields where they are instructions.
    Extend,
    /// Loads a constant: `sethi`, `lui`, `movw`, `adr`.
    Constant,
    /// Multiplication with one result.
    Mul,
    /// The same, setting flags.
    MulFlags,
    /// Multiplication with a double-width result.
    MulLong,
    /// The same, setting flags.
    MulLongFlags,
    /// Multiplication of half words.
    MulHalf,
    /// Multiplication of two whole registers, of which the low half is kept, where narrower
    /// ones are faster (AArch64).
    MulWide,
    /// The same with an addition or a negation; Thumb's `mla` and `mls`.
    MulAddWide,
    /// The same of which the high half is kept.
    MulHigh,
    Div,
    /// A load of one register.
    Load,
    /// A load that takes longer: its address needs more than one addition (A32: negative register
    /// offset, shift other than by 2; AArch64 and Thumb: any index), or its result is extended
    /// (RISC-V: bytes and half words).
    LoadSlow,
    /// A load of two registers.
    LoadDouble,
    /// A load of a list of registers.
    LoadMultiple,
    /// A store of one register.
    Store,
    /// The same with an address as in [`Class::LoadSlow`].
    StoreSlow,
    /// A store of two registers.
    StoreDouble,
    /// A store of a list of registers.
    StoreMultiple,
    /// Reads and writes memory at once.
    Atomic,
    /// A branch to a fixed place.
    Branch,
    /// A call to a fixed place.
    Call,
    /// A jump through a register.
    Jump,
    Return,
    /// Opens or closes a register window.
    Window,
    /// Reads or writes a special register; a trap, a barrier.
    System,
    Nop,
    /// Floating point and vectors without a kind below, or of a machine file without a row for it.
    Float,
    /// Products of floating point, fused ones too.
    FloatMul,
    /// Quotients and roots of floating point.
    FloatDiv,
    /// Between general and floating-point or vector registers.
    FloatMove,
    /// Loads of floating-point and vector registers.
    FloatLoad,
    FloatStore,
    /// Sums and differences of the elements of vectors.
    Vector,
    /// Logic on whole vectors.
    VectorLogic,
    /// Shifts and comparisons of elements, changes of their width, constants.
    VectorShift,
    /// What takes elements longer: rounding, saturation, accumulation, all elements to one.
    VectorLong,
    /// Moves of elements to other places.
    VectorPermute,
    /// Products of integer elements, and sums of them.
    VectorMul,
}

impl Class {
    /// All of them, in the order of their numbers.
    pub const ALL: [Class; 43] = [
        Class::Alu,
        Class::AluShiftImm,
        Class::AluShiftReg,
        Class::Shift,
        Class::Extend,
        Class::Constant,
        Class::Mul,
        Class::MulFlags,
        Class::MulLong,
        Class::MulLongFlags,
        Class::MulHalf,
        Class::MulWide,
        Class::MulAddWide,
        Class::MulHigh,
        Class::Div,
        Class::Load,
        Class::LoadSlow,
        Class::LoadDouble,
        Class::LoadMultiple,
        Class::Store,
        Class::StoreSlow,
        Class::StoreDouble,
        Class::StoreMultiple,
        Class::Atomic,
        Class::Branch,
        Class::Call,
        Class::Jump,
        Class::Return,
        Class::Window,
        Class::System,
        Class::Nop,
        Class::Float,
        Class::FloatMul,
        Class::FloatDiv,
        Class::FloatMove,
        Class::FloatLoad,
        Class::FloatStore,
        Class::Vector,
        Class::VectorLogic,
        Class::VectorShift,
        Class::VectorLong,
        Class::VectorPermute,
        Class::VectorMul,
    ];

    /// As in the files.
    pub fn name(self) -> &'static str {
        match self {
            Class::Alu => "alu",
            Class::AluShiftImm => "alu-shift-imm",
            Class::AluShiftReg => "alu-shift-reg",
            Class::Shift => "shift",
            Class::Extend => "extend",
            Class::Constant => "constant",
            Class::Mul => "mul",
            Class::MulFlags => "mul-flags",
            Class::MulLong => "mul-long",
            Class::MulLongFlags => "mul-long-flags",
            Class::MulHalf => "mul-half",
            Class::MulWide => "mul-wide",
            Class::MulAddWide => "mul-add-wide",
            Class::MulHigh => "mul-high",
            Class::Div => "div",
            Class::Load => "load",
            Class::LoadSlow => "load-slow",
            Class::LoadDouble => "load-double",
            Class::LoadMultiple => "load-multiple",
            Class::Store => "store",
            Class::StoreSlow => "store-slow",
            Class::StoreDouble => "store-double",
            Class::StoreMultiple => "store-multiple",
            Class::Atomic => "atomic",
            Class::Branch => "branch",
            Class::Call => "call",
            Class::Jump => "jump",
            Class::Return => "return",
            Class::Window => "window",
            Class::System => "system",
            Class::Nop => "nop",
            Class::Float => "float",
            Class::FloatMul => "float-mul",
            Class::FloatDiv => "float-div",
            Class::FloatMove => "float-move",
            Class::FloatLoad => "float-load",
            Class::FloatStore => "float-store",
            Class::Vector => "vector",
            Class::VectorLogic => "vector-logic",
            Class::VectorShift => "vector-shift",
            Class::VectorLong => "vector-long",
            Class::VectorPermute => "vector-permute",
            Class::VectorMul => "vector-mul",
        }
    }

    /// Part of `float`, which stands for it in a file that has no row for it.
    pub fn is_part_of_float(self) -> bool {
        self > Class::Float
    }

    /// The kind of work of this name.
    pub fn named(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// What an operand is to its instruction. A machine file says by [`Class`] which roles are
/// needed early or late, and how long each result takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A plain source of arithmetic: A32's Rn, and Rm if it is not shifted.
    Source,
    /// A source that passes the shifter first.
    Shifted,
    /// The register that says by how much.
    Amount,
    /// A factor of a multiplication, or an operand of a division.
    Factor,
    /// What a multiply-accumulate adds.
    Addend,
    /// The base of an address.
    Base,
    /// The index of an address.
    Index,
    /// What a store writes.
    Data,
    /// Flags, or the register that a branch or a guarded instruction decides by.
    Condition,
    /// The target of a jump through a register.
    Target,
    /// A register that only gets another name (SPARC's windows): its value goes on,
    /// nothing waits for it.
    Carried,
}

impl Role {
    /// All of them, in the order of their numbers.
    pub const ALL: [Role; 11] = [
        Role::Source,
        Role::Shifted,
        Role::Amount,
        Role::Factor,
        Role::Addend,
        Role::Base,
        Role::Index,
        Role::Data,
        Role::Condition,
        Role::Target,
        Role::Carried,
    ];

    /// As in the files.
    pub fn name(self) -> &'static str {
        match self {
            Role::Source => "source",
            Role::Shifted => "shifted",
            Role::Amount => "amount",
            Role::Factor => "factor",
            Role::Addend => "addend",
            Role::Base => "base",
            Role::Index => "index",
            Role::Data => "data",
            Role::Condition => "condition",
            Role::Target => "target",
            Role::Carried => "carried",
        }
    }

    /// The role of this name.
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// What a written register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Out {
    /// The result; of a multiplication that has two, the low half.
    Result,
    /// The high half of a multiplication with two results.
    High,
    /// The updated base of an address.
    BaseUpdate,
    /// The register loaded at this position, from 0, by an instruction that loads several.
    Nth(u8),
    Flag,
    /// The return address of a call.
    Link,
    /// What another name held before, or what the window held when it was last used; it comes as
    /// fast as it would have come there.
    Carried,
}
