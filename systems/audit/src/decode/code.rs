//! Machine code as all analyses see it: one [`Instruction`] for each word, whatever the instruction
//! set.

use std::fmt;

pub use machine::in_order::{Class, Out, Role};

/// A register, or one flag, as its place in the tables of its instruction set (`isa/`).
///
/// A flag is a register of one bit, so that nothing downstream needs a second rule for flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u8);

/// One register that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    pub reg: Reg,
    /// Which of its bits can change anything.
    pub bits: u64,
    /// What it is to the instruction.
    pub role: Role,
}

/// One register that is written. A guarded instruction may leave it as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    pub reg: Reg,
    /// Which of its bits may change.
    pub bits: u64,
    /// What it then holds.
    pub out: Out,
}

/// A condition over flags, as the states of these flags in which it holds: of four flags there are
/// 16 states, a bit for each.
///
/// ```text
/// eq   Z set: 8 of the 16 states
/// hi   C set and Z clear: 4, none of them among those of `eq`
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard(u16);

impl Guard {
    /// All states: no condition.
    pub const ALWAYS: Guard = Guard(u16::MAX);

    pub const NEVER: Guard = Guard(0);

    /// The condition that holds where `holds` says so of a state.
    pub fn new(holds: impl Fn(u8) -> bool) -> Guard {
        Guard((0..16).filter(|state| holds(*state)).fold(0, |states, state| states | 1 << state))
    }

    /// It holds in this state.
    pub fn holds(self, state: u8) -> bool {
        self.0 >> state & 1 != 0
    }

    /// The two never hold at once, as `eq` and `hi`.
    pub fn excludes(self, other: Guard) -> bool {
        self.0 & other.0 == 0
    }

    /// What is left of it where `other` does not hold.
    pub fn without(self, other: Guard) -> Guard {
        Guard(self.0 & !other.0)
    }
}

/// One access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The access changes memory.
    pub is_store: bool,
    /// The base register; `None` for an absolute address, and for one relative to this instruction
    /// (`disp` is then the address itself).
    pub base: Option<Reg>,
    /// A register that is added, shifted left by so many bits, as `index_form` says.
    pub index: Option<(Reg, u8)>,
    /// How the index enters the address; without an index, [`IndexForm::Whole`].
    pub index_form: IndexForm,
    /// Bytes that are added.
    pub disp: i64,
    /// Bytes that are accessed.
    pub width: u8,
}

/// How the index of an [`Access`] enters its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexForm {
    /// The whole register is shifted and added.
    Whole,
    /// The whole register is shifted and subtracted.
    Negative,
    /// Its low 32 bits are extended with zeros, then shifted and added.
    Word,
    /// Its low 32 bits are extended with copies of their sign, then shifted and added.
    SignedWord,
    /// In another way, such as shifted right: the address is not known from these fields.
    Other,
}

/// Where control goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To `target`; if `is_conditional`, perhaps to the next instruction.
    Branch {
        target: u64,
        /// The branch may not be taken.
        is_conditional: bool,
    },
    /// To `target` (if it is known) and back.
    Call {
        /// The address; of a relocated call the symbol is known instead.
        target: Option<u64>,
    },
    /// To a function that does not come back.
    LastCall,
    /// Out of the function.
    Return,
    /// Back from an exception, to code that sees every register.
    Resume,
    /// Somewhere that is not known here.
    Jump,
    /// Nowhere: a trap that does not come back.
    Stop,
}

impl Instruction {
    /// It may leave everything as it was.
    pub fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// It stands for a word that was not decoded.
    pub fn is_unknown(&self) -> bool {
        self.class == Class::System && self.text.starts_with('.')
    }

    /// What Arm's assemblers write where nothing shall happen, before there was a `nop`.
    pub fn is_filler(&self) -> bool {
        self.text == "mov r0, r0" || self.text == "mov r8, r8"
    }
}

impl Flow {
    /// A call after which nobody reads what the convention lets the callee change. A callee in the
    /// same file may leave registers alone, and its caller rely on that: gcc keeps values in them
    /// (`-fipa-ra`, part of -O2).
    pub fn ends_scratch(self) -> bool {
        self == Flow::Call { target: None }
    }
}

/// A value that an operation works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// All of a register.
    Reg(Reg),
    /// A constant, sign-extended to 64 bits and cut to the width of the operation when used.
    Const(u64),
    /// A register, shifted by a constant.
    Shifted(Reg, Shift, u8),
    /// The low bits of a register, extended and then shifted left by a constant.
    Extended(Reg, Extension, u8),
}

/// Which bits of a register are extended, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extension {
    pub bits: u8,
    /// Copies of the highest bit stand above, not zeros.
    pub is_signed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    Left,
    /// Right, zeros come in.
    Right,
    /// Right, copies of the sign come in.
    RightSigned,
    Rotate,
}

/// What an instruction computes, for the few forms that known and demanded bits follow.
/// Everything else has no [`Operation`], and its results are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub op: Op,
    /// Bits of the operation, 32 or 64; a narrower one than the register leaves zeros above
    /// (AArch64) or copies of its sign (RV64's `w` forms) as `extends` says.
    pub width: u8,
    /// What stands above `width`.
    pub extends: Extends,
    /// The register of the result; none for comparisons.
    pub result: Option<Reg>,
    pub a: Value,
    /// The second operand; of operations with one, `Const(0)`.
    pub b: Value,
}

impl Operation {
    /// What the register of the result holds then, for these values of the registers; none of what
    /// has no result, and of a load.
    pub fn value(&self, register: impl Fn(Reg) -> u64) -> Option<u64> {
        let width = u32::from(self.width);
        let all = u64::MAX >> (64 - width);
        let signed = |value: u64, bits: u32| (value << (64 - bits)) as i64 >> (64 - bits);
        let shifted = |value: u64, shift: Shift, by: u32| match shift {
            Shift::Left if by < width => value << by,
            Shift::Right if by < width => value >> by,
            Shift::Left | Shift::Right => 0,
            Shift::RightSigned => (signed(value, width) >> by.min(width - 1)) as u64,
            Shift::Rotate if by.is_multiple_of(width) => value,
            Shift::Rotate => value >> (by % width) | value << (width - by % width),
        };
        let operand = |value: Value| match value {
            Value::Reg(reg) => register(reg) & all,
            Value::Const(it) => it & all,
            Value::Shifted(reg, shift, by) => shifted(register(reg) & all, shift, by.into()) & all,
            Value::Extended(reg, of, by) => {
                let above = 64 - u32::from(of.bits);
                let high = register(reg) << above;
                let value =
                    if of.is_signed { (high as i64 >> above) as u64 } else { high >> above };
                value << by & all
            }
        };
        let (a, b) = (operand(self.a), operand(self.b));
        let result = match self.op {
            Op::Move => a,
            Op::Not => !a,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::AndNot => a & !b,
            Op::OrNot => a | !b,
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::ReverseSub => b.wrapping_sub(a),
            Op::Shift(shift) => match self.b {
                Value::Const(by) => shifted(a, shift, (by & 63) as u32),
                _ => shifted(a, shift, b as u32 & (width - 1)),
            },
            Op::ZeroExtend { bits } => a & (u64::MAX >> (64 - u32::from(bits))),
            Op::SignExtend { bits } => signed(a, bits.into()) as u64,
            Op::Field { low, bits, is_signed: false } => {
                a >> low & (u64::MAX >> (64 - u32::from(bits)))
            }
            Op::Field { low, bits, is_signed: true } => signed(a >> low, bits.into()) as u64,
            Op::SetLess { is_signed: false } => u64::from(a < b),
            Op::SetLess { is_signed: true } => u64::from(signed(a, width) < signed(b, width)),
            Op::Multiply { addend, is_negated } => {
                let product = a.wrapping_mul(b);
                let product = if is_negated { product.wrapping_neg() } else { product };
                operand(addend).wrapping_add(product)
            }
            Op::Load { .. }
            | Op::Compare
            | Op::CompareLoaded
            | Op::CompareNegative
            | Op::Test
            | Op::TestEqual
            | Op::BranchIf(_) => return None,
        };
        Some(match self.extends {
            Extends::Zero => result & all,
            Extends::Sign => signed(result & all, width) as u64,
        })
    }
}

/// What an operation narrower than its register leaves above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extends {
    Zero,
    /// Copies of the sign.
    Sign,
}

/// The operations that are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Move,
    Not,
    And,
    Or,
    Xor,
    AndNot,
    OrNot,
    Add,
    Sub,
    ReverseSub,
    /// `a` shifted by `b`: a constant counts in full, and may be the width; of a register only the
    /// bits that are less than the width count.
    Shift(Shift),
    /// The low `bits` of `a`, zeros above.
    ZeroExtend {
        /// How many bits stay.
        bits: u8,
    },
    /// The low `bits` of `a`, copies of the highest above.
    SignExtend {
        /// How many bits stay.
        bits: u8,
    },
    /// `bits` of `a` from bit `low` on, extended.
    Field {
        low: u8,
        bits: u8,
        /// Copies of the highest bit stand above, not zeros.
        is_signed: bool,
    },
    /// What the (only) access loads, extended from its width.
    Load {
        /// Copies of the highest bit stand above, not zeros.
        is_signed: bool,
    },
    /// `a - b` for its flags.
    Compare,
    /// What the (only) access loads, less `b`, for its flags.
    CompareLoaded,
    /// `a + b` for its flags.
    CompareNegative,
    /// `a & b` for its flags.
    Test,
    /// `a ^ b` for its flags.
    TestEqual,
    /// 1 if `a` is less than `b`, else 0.
    SetLess {
        /// The order of signed numbers.
        is_signed: bool,
    },
    /// `addend + a * b`, or `addend - a * b`; the low bits of the product.
    Multiply {
        /// A constant 0 of plain products.
        addend: Value,
        is_negated: bool,
    },
    /// A branch that compares: it is taken if this holds of `a` and `b`.
    BranchIf(Relation),
}

/// What a branch that compares asks of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The two are equal: `a == b`
    Equal,
    /// The two are not equal: `a != b`
    Different,
    Less {
        is_signed: bool,
    },
    NotLess {
        is_signed: bool,
    },
    /// `a & b == 0`
    Clear,
    /// `a & b != 0`
    NotClear,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    pub address: u64,
    pub length: u8,
    /// The word as read, in the order of a number; of Thumb's long ones the
    /// first half stands above.
    pub word: u64,
    /// The text as the usual assembler writes it.
    pub text: String,
    /// Done only if this holds (A32, Thumb); its flags are what [`Role::Condition`] reads name.
    pub guard: Option<Guard>,
    /// The row of the machine file.
    pub class: Class,
    /// It works on whole vector registers of 128 bits.
    pub is_quad: bool,
    /// All that is read, flags too.
    pub reads: Vec<Read>,
    /// All that may be written, flags too.
    pub writes: Vec<Write>,
    /// All accesses to memory.
    pub accesses: Vec<Access>,
    /// By how much a written-back base moves, where the word says it.
    pub base_moves: Option<i64>,
    /// Where control goes next.
    pub flow: Flow,
    /// The instruction after this one is done before control goes where `flow` says (SPARC);
    /// `Annulled` if only when the branch is taken, or never if it is not conditional.
    pub delay: Delay,
    /// What is computed, if it is followed.
    pub operation: Option<Operation>,
}

/// How the names of accesses begin or go on that others see in order, or that watch a place until a
/// store comes there.
const ORDERED: [&str; 7] = ["lda", "ldla", "ldiapp", "ldx", "stl", "stilp", "lr."];

impl Instruction {
    /// Accesses before and after it keep their side: it acquires, releases or watches a place.
    pub fn orders_others(&self) -> bool {
        let name = self.text.split(' ').next().unwrap_or_default();
        let begins = ORDERED.iter().any(|begin| name.starts_with(begin));
        let is_marked = name.contains(".aq") || name.contains(".rl");
        self.class == Class::Atomic || !self.accesses.is_empty() && (begins || is_marked)
    }

    /// Nothing passes it, in either direction.
    pub fn is_barrier(&self) -> bool {
        matches!(self.flow, Flow::Call { .. } | Flow::LastCall)
            || matches!(self.class, Class::System | Class::Window)
            || self.orders_others()
    }

    /// It says where traps go. Who sets a handler of its own for a while leaves it what it is to know
    /// in registers: between the two nothing reads them that code shows.
    pub fn sets_trap_handler(&self) -> bool {
        let named = ["tvec", "s3_0_c12_c0_0", "s3_4_c12_c0_0", "s3_6_c12_c0_0", "vbar_el"];
        let writes = ["csrw", "csrrw", "msr"];
        self.class == Class::System
            && writes.iter().any(|name| self.text.starts_with(name))
            && named.iter().any(|name| self.text.contains(name))
    }

    /// Other code runs before control comes back, or nothing is known of it: any memory may
    /// be read and written.
    pub fn reaches_all_memory(&self) -> bool {
        let is_anywhere =
            |access: &Access| access.base.is_none() && access.index_form == IndexForm::Other;
        matches!(self.flow, Flow::Call { .. } | Flow::LastCall)
            || self.accesses.iter().any(is_anywhere)
    }
}

/// The instruction after a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    /// It is not special.
    None,
    /// It is done in any case.
    Slot,
    /// It is done only if a conditional branch is taken; never after an unconditional one.
    Annulled,
}

/// A word that is no instruction of the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecodable {
    pub address: u64,
    pub word: u64,
    /// Why: reserved, from a later architecture, unpredictable.
    pub why: String,
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}: {:08x} is not decoded: {}", self.address, self.word, self.why)
    }
}
