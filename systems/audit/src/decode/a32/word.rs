//! One word while it is decoded: its fields, and the instruction that grows from them.

use super::{C, N, PC, V, Z};
use crate::decode::code::{
    Access, Class, Extends, Flow, Guard, Instruction, Op, Operation, Out, Reg, Role, Value,
};

/// What every register holds at most.
pub const ALL: u64 = 0xffff_ffff;
/// Why words are refused that name the program counter where it must not stand.
pub const NO_PC: &str = "unpredictable: the program counter cannot stand here";
/// Why words are refused that lack fixed bits.
pub const FIXED: &str = "unpredictable: bits that must be zero or one are not";
/// Why words are refused that no instruction has.
pub const UNDEFINED: &str = "undefined";
/// Why words are refused that name a register twice.
pub const TWICE: &str = "unpredictable: registers that must differ are the same";

/// Why words of Thumb are refused that may only end a block, or must not be in one.
pub const INSIDE: &str = "unpredictable: it stands in a block of `it` where it must not";

const CONDITIONS: [&str; 15] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", ""];

/// A word of A32 or Thumb: its fields, and the instruction so far.
pub struct Word {
    bits: u32,
    /// 14 is always; 15 has no condition at all.
    condition: u32,
    pc: u64,
    /// What stands after the condition in the text of every instruction.
    suffix: &'static str,
    /// The text of the address, once it is known.
    address_text: String,
    instruction: Instruction,
}

impl Word {
    /// A word of A32 whose guard is decoded and nothing else.
    pub fn new(address: u64, bits: u32) -> Word {
        Word::guarded(
            Instruction::new(address, 4, bits.into(), Class::Nop, String::new()),
            bits,
            bits >> 28,
            8,
        )
    }

    /// An instruction of which only the condition is known; what it reads as the program counter is
    /// so far ahead of it.
    pub fn guarded(instruction: Instruction, bits: u32, condition: u32, ahead: u64) -> Word {
        let pc = instruction.address.wrapping_add(ahead) & ALL;
        let mut word =
            Word { bits, condition, pc, suffix: "", address_text: String::new(), instruction };
        word.instruction.guard = guard(condition);
        let flags: &[Reg] = match condition {
            0 | 1 => &[Z],
            2 | 3 => &[C],
            4 | 5 => &[N],
            6 | 7 => &[V],
            8 | 9 => &[C, Z],
            10 | 11 => &[N, V],
            12 | 13 => &[Z, N, V],
            _ => &[],
        };
        for &flag in flags {
            word.read_flag(flag);
        }
        word
    }

    /// A written-back base moves so far.
    pub fn moves_base(&mut self, by: i64) {
        self.instruction.base_moves = Some(by);
    }

    /// All of the word.
    pub fn all(&self) -> u32 {
        self.bits
    }

    /// `n_bits` from bit `low` on.
    pub fn field(&self, low: u32, n_bits: u32) -> u32 {
        self.bits >> low & ((1 << n_bits) - 1)
    }

    pub fn bit(&self, at: u32) -> bool {
        self.bits >> at & 1 == 1
    }

    /// What an instruction here reads as the program counter.
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// The same, cut to a multiple of four, as Thumb's addresses beside the code count from it.
    pub fn align_pc(&mut self) {
        self.pc &= !3;
    }

    /// Goes on with these bits, the fields of the same instruction where A32 has them.
    pub fn become_a32(&mut self, bits: u32) {
        self.bits = bits;
    }

    /// What stands after the condition from here on, such as `.w`.
    pub fn set_suffix(&mut self, suffix: &'static str) {
        self.suffix = suffix;
    }

    /// The letters of the condition; none for `always`.
    pub fn condition(&self) -> &'static str {
        CONDITIONS.get(self.condition as usize).copied().unwrap_or("")
    }

    /// The register in four bits; refuses the program counter.
    pub fn reg(&self, low: u32) -> Result<Reg, &'static str> {
        match self.field(low, 4) {
            PC => Err(NO_PC),
            number => Ok(Reg(number as u8)),
        }
    }

    /// The register in four bits, if it is not the program counter.
    pub fn reg_or_pc(&self, low: u32) -> Option<Reg> {
        self.reg(low).ok()
    }

    /// The same as an operand.
    pub fn value(&self, low: u32) -> Value {
        self.reg_or_pc(low).map_or(Value::Const(self.pc()), Value::Reg)
    }

    pub fn set_class(&mut self, class: Class) {
        self.instruction.class = class;
    }

    pub fn set_flow(&mut self, flow: Flow) {
        self.instruction.flow = flow;
    }

    /// Reads some bits of a register.
    pub fn read_bits(&mut self, reg: Reg, role: Role, bits: u64) {
        self.instruction.read(reg, bits, role);
    }

    /// Reads all of a register.
    pub fn read(&mut self, reg: Reg, role: Role) {
        self.read_bits(reg, role, ALL);
    }

    pub fn read_flag(&mut self, flag: Reg) {
        self.read_bits(flag, Role::Condition, 1);
    }

    /// Writes all of a register.
    pub fn write(&mut self, reg: Reg, out: Out) {
        self.instruction.write(reg, ALL, out);
    }

    /// Writes some bits of a register.
    pub fn write_bits(&mut self, reg: Reg, out: Out, bits: u64) {
        self.instruction.write(reg, bits, out);
    }

    pub fn write_flags(&mut self, flags: &[Reg]) {
        for &flag in flags {
            self.instruction.write(flag, 1, Out::Flag);
        }
    }

    /// Changes the mode: the stack pointer and the link are others then, and the former ones are
    /// kept for their mode.
    pub fn change_mode(&mut self) {
        for reg in [super::SP, super::LR] {
            self.read(reg, Role::Source);
            self.write(reg, Out::Link);
        }
    }

    /// Hands control to the system, which comes back.
    pub fn call_system(&mut self) {
        self.instruction.touch_all(&super::CONVENTIONS, Some(super::SP));
    }

    pub fn access(&mut self, access: Access) {
        self.instruction.accesses.push(access);
    }

    /// Says what is computed.
    pub fn computes(&mut self, op: Op, result: Option<Reg>, a: Value, b: Value) {
        self.instruction.operation =
            Some(Operation { op, width: 32, extends: Extends::Zero, result, a, b });
    }

    /// Writes the text: the name with the condition after it, then the operands.
    pub fn text(&mut self, name: &str, operands: &str) {
        self.typed_text(name, "", operands);
    }

    /// The same with types after the condition, as in `vaddeq.f64`.
    pub fn typed_text(&mut self, name: &str, types: &str, operands: &str) {
        let (condition, suffix) = (self.condition(), self.suffix);
        let space = if operands.is_empty() { "" } else { " " };
        self.instruction.text = format!("{name}{condition}{suffix}{types}{space}{operands}");
    }

    /// Keeps the text of the address until the operands are written.
    pub fn keep_address_text(&mut self, text: String) {
        self.address_text = text;
    }

    /// The text that was kept.
    pub fn take_address_text(&mut self) -> String {
        std::mem::take(&mut self.address_text)
    }

    pub fn finish(self) -> Instruction {
        debug_assert!(
            !self.instruction.text.is_empty(),
            "a decoded word has a text: {:08x}",
            self.bits
        );
        self.instruction
    }
}

/// The name of a register, the program counter too.
pub fn name(number: u32) -> &'static str {
    super::CONVENTIONS.names[(number & 15) as usize]
}

/// The states of N, Z, C and V, from the highest bit on, in which a condition holds; none
/// if it always does.
fn guard(condition: u32) -> Option<Guard> {
    let holds = |state: u8| {
        let [v, c, z, n] = [0, 1, 2, 3].map(|flag| state >> flag & 1 == 1);
        let holds = match condition >> 1 {
            0 => z,
            1 => c,
            2 => n,
            3 => v,
            4 => c && !z,
            5 => n == v,
            _ => !z && n == v,
        };
        holds != (condition & 1 == 1)
    };
    (condition < 14).then(|| Guard::new(holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which conditions never hold together, by the manual's table of their flags.
    #[test]
    fn conditions_exclude_each_other() {
        let at = |name: &str| {
            guard(
                CONDITIONS
                    .iter()
                    .position(|condition| *condition == name)
                    .expect("it is a condition") as u32,
            )
            .expect("it is one")
        };
        let excluding = |name: &str| {
            let others = CONDITIONS[..14].iter().filter(|other| at(name).excludes(at(other)));
            others.copied().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(excluding("eq"), "ne hi gt");
        assert_eq!(excluding("ne"), "eq");
        assert_eq!(excluding("hs"), "lo");
        assert_eq!(excluding("lo"), "hs hi");
        assert_eq!(excluding("hi"), "eq lo ls");
        assert_eq!(excluding("ge"), "lt");
        assert_eq!(excluding("gt"), "eq lt le");
        assert_eq!(excluding("lt"), "ge gt");
        assert_eq!(excluding("mi"), "pl");
        assert_eq!(guard(14), None);
    }
}
