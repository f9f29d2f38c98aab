//! Instruction sets: words in, [`Instruction`]s out. One file or folder each.
//!
//! A set says two things: how a word is decoded, and its [`Conventions`], the facts about its
//! registers that no word shows.

mod a32;
mod a64;
mod build;
pub mod code;
pub mod encode;
mod riscv;
mod sparc;
mod t32;
mod x86;

use crate::decode::code::{Class, Instruction, Reg, Undecodable};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// Arm's 32-bit instructions, ARMv4 to ARMv7, with VFPv5 and NEON, little-endian.
    A32,
    /// Arm's Thumb: 16 and 32 bits, ARMv6-M to ARMv8-M and ARMv7-A and -R, with
    /// VFPv5 and NEON, little-endian.
    T32,
    Sparc,
    /// RISC-V, 32 bits, IMAFDC with Zba, Zbb, Zbs and Zicond.
    Riscv32,
    /// The same, 64 bits.
    Riscv64,
    /// AArch64, with vectors and halves; of scalable vectors only what copies memory.
    A64,
    /// x86-64; its machines are out of order, so nothing is said about stalls.
    X86,
}

/// What the registers of a set are for: its procedure call standard.
#[derive(Debug, Clone, Copy)]
pub struct Conventions {
    /// Names of registers and flags; a [`Reg`] is a place in this list.
    pub names: &'static [&'static str],
    /// Bits of a general register.
    pub bits: u8,
    pub stack_pointer: Reg,
    /// The frame pointer, where the standard names one.
    pub frame_pointer: Option<Reg>,
    /// Where a call leaves its return address; `None` if it is the stack.
    pub link: Option<Reg>,
    /// The register that reads as zero.
    pub zero: Option<Reg>,
    /// Hold the arguments of a call.
    pub arguments: &'static [Reg],
    /// Hold the results of a call.
    pub results: &'static [Reg],
    /// A call leaves them as they were.
    pub saved: &'static [Reg],
    /// A call may change them, arguments and results included.
    pub scratch: &'static [Reg],
    /// Kept from the compiler by the platform (thread pointer, platform register, ...),
    /// each with its use.
    pub reserved: &'static [(Reg, &'static str)],
    /// Registers of one bit.
    pub flags: &'static [Reg],
}

impl Conventions {
    /// Registers that none of these lists has, those of floating point, of vectors and of
    /// the system: what a function, its callees and its callers leave each other in them
    /// is not known here.
    pub fn unlisted(&self) -> impl Iterator<Item = Reg> {
        let reserved = self.reserved.iter().map(|(reg, _)| reg);
        let lists = [self.arguments, self.results, self.saved, self.scratch, self.flags]
            .into_iter()
            .flatten();
        let listed =
            lists.chain(reserved).chain(&self.link).chain(&self.zero).chain([&self.stack_pointer]);
        let mut is_listed = [false; 256];
        listed.for_each(|listed| is_listed[usize::from(listed.0)] = true);
        (0..self.names.len()).filter(move |idx| !is_listed[*idx]).map(|idx| Reg(idx as u8))
    }
}

impl Isa {
    pub const ALL: [Isa; 7] =
        [Isa::A32, Isa::T32, Isa::Sparc, Isa::Riscv32, Isa::Riscv64, Isa::A64, Isa::X86];

    /// As in machine files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Isa::A32 => "a32",
            Isa::T32 => "t32",
            Isa::Sparc => "sparc",
            Isa::Riscv32 => "rv32",
            Isa::Riscv64 => "rv64",
            Isa::A64 => "a64",
            Isa::X86 => "x86-64",
        }
    }

    /// The set of this name.
    pub fn named(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The instruction at the beginning of `bytes`, which are as in memory and may go on after it.
    /// What instructions before it say of it ([`Linear`]) is left out.
    pub fn decode(self, address: u64, bytes: &[u8]) -> Result<Instruction, Undecodable> {
        match self {
            Isa::A32 => a32::decode(address, bytes),
            Isa::T32 => t32::decode(address, bytes, t32::Block::default()),
            Isa::X86 => x86::decode(address, bytes),
            Isa::Sparc => sparc::decode(address, bytes),
            Isa::Riscv32 => riscv::decode(address, bytes, false),
            Isa::Riscv64 => riscv::decode(address, bytes, true),
            Isa::A64 => a64::decode(address, bytes),
        }
    }

    /// The length of an instruction that is not known, by what every word of the set says of its
    /// own, in bytes; at most those of `bytes`.
    fn length(self, bytes: &[u8]) -> usize {
        let length = match self {
            Isa::A32 | Isa::Sparc | Isa::A64 => 4,
            Isa::Riscv32 | Isa::Riscv64 => riscv::length(bytes),
            Isa::T32 => t32::length(bytes),
            Isa::X86 => 1,
        };
        length.min(bytes.len())
    }

    /// What stands in a function for a word that [`Isa::decode`] refused at the beginning of
    /// `bytes`: it reads and writes all registers and memory, so that nothing is concluded across
    /// it. It is taken to go on to the next one.
    pub fn unknown(self, word: &Undecodable, bytes: &[u8]) -> Instruction {
        let bytes = &bytes[..self.length(bytes)];
        let digits = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
        let digits = if self == Isa::Sparc {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        } else {
            digits
        };
        let directive = match bytes.len() {
            1 => ".byte",
            2 => ".2byte",
            4 => ".4byte",
            _ => ".insn",
        };
        let text = format!("{directive} 0x{digits}");
        let mut unknown =
            Instruction::new(word.address, bytes.len() as u8, word.word, Class::System, text);
        unknown.touch_all(self.conventions(), None);
        unknown
    }

    /// What its registers are for.
    pub fn conventions(self) -> &'static Conventions {
        match self {
            Isa::X86 => &x86::CONVENTIONS,
            Isa::Sparc => &sparc::CONVENTIONS,
            Isa::Riscv32 => &riscv::CONVENTIONS_32,
            Isa::Riscv64 => &riscv::CONVENTIONS_64,
            Isa::A32 => &a32::CONVENTIONS,
            Isa::T32 => &t32::CONVENTIONS,
            Isa::A64 => &a64::CONVENTIONS,
        }
    }

    /// The name of a register or flag.
    ///
    /// Panics: if `reg` is none of this set.
    pub fn register_name(self, reg: Reg) -> &'static str {
        self.conventions()
            .names
            .get(reg.0 as usize)
            .copied()
            .unwrap_or_else(|| panic!("{} has no register {}", self.name(), reg.0))
    }

    /// It leaves some bits of a register that programs compute in as they were, as `movk` does.
    pub fn leaves_part(self, write: &code::Write) -> bool {
        let conventions = self.conventions();
        let is_general =
            conventions.scratch.contains(&write.reg) || conventions.saved.contains(&write.reg);
        let all = u64::MAX >> (64 - u32::from(conventions.bits));
        is_general && write.out == code::Out::Result && write.bits & all != all
    }

    /// The register of this name.
    pub fn register(self, name: &str) -> Option<Reg> {
        let place = self.conventions().names.iter().position(|it| *it == name)?;
        u8::try_from(place).ok().map(Reg)
    }
}

/// Words one after the other. Only in Thumb does one say something of those after it: `it`
/// guards up to four.
#[derive(Debug, Clone)]
pub struct Linear {
    isa: Isa,
    block: t32::Block,
}

impl Linear {
    /// Before the first instruction of a function.
    pub fn new(isa: Isa) -> Linear {
        Linear { isa, block: t32::Block::default() }
    }

    /// The set that it decodes.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The next instruction, as [`Isa::decode`] gives it, with its guard.
    pub fn decode(&mut self, address: u64, bytes: &[u8]) -> Result<Instruction, Undecodable> {
        if self.isa != Isa::T32 {
            return self.isa.decode(address, bytes);
        }
        let decoded = t32::decode(address, bytes, self.block);
        self.block = self.block.behind(bytes);
        decoded
    }
}

/// The first `N` bytes; `None` if there are fewer.
fn first<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.get(..N)?.try_into().ok()
}
