//! Instructions put together step by step, as all decoders do.

use super::Conventions;
use crate::decode::code::{
    Access, Class, Delay, Flow, IndexForm, Instruction, Operation, Out, Read, Reg, Role,
    Undecodable, Write,
};

/// All bits of a register.
pub(crate) const ALL: u64 = u64::MAX;

/// The low `n` bits, at most 64.
pub(crate) fn low_bits(n: u32) -> u64 {
    if n >= 64 { ALL } else { (1 << n) - 1 }
}

/// The low `n` bits of `value` as a signed number, 1 to 64 bits.
pub(crate) fn sign_extend(value: u64, n: u32) -> i64 {
    ((value << (64 - n)) as i64) >> (64 - n)
}

/// The refusal of a word.
pub(crate) fn refused<T>(address: u64, word: u64, why: &str) -> Result<T, Undecodable> {
    Err(Undecodable { address, word, why: why.to_owned() })
}

/// A number as assemblers write it: small ones decimal, large ones hexadecimal.
pub(crate) fn number(value: i64) -> String {
    if (-4095..=4095).contains(&value) {
        value.to_string()
    } else if value < 0 {
        format!("-{:#x}", value.unsigned_abs())
    } else {
        format!("{value:#x}")
    }
}

impl Instruction {
    /// An instruction that reads and writes nothing and goes on to the next.
    pub(crate) fn new(
        address: u64,
        length: u8,
        word: u64,
        class: Class,
        text: String,
    ) -> Instruction {
        Instruction {
            address,
            length,
            word,
            text,
            guard: None,
            class,
            is_quad: false,
            reads: Vec::new(),
            writes: Vec::new(),
            accesses: Vec::new(),
            base_moves: None,
            flow: Flow::Next,
            delay: Delay::None,
            operation: None,
        }
    }

    /// Reads `bits` of `reg`; nothing if there are none. A second read in the same role adds bits.
    pub(crate) fn read(&mut self, reg: Reg, bits: u64, role: Role) {
        match self.reads.iter_mut().find(|read| read.reg == reg && read.role == role) {
            Some(read) => read.bits |= bits,
            None if bits == 0 => {}
            None => self.reads.push(Read { reg, bits, role }),
        }
    }

    /// Writes `bits` of `reg`; nothing if there are none.
    pub(crate) fn write(&mut self, reg: Reg, bits: u64, out: Out) {
        if bits != 0 {
            self.writes.push(Write { reg, bits, out });
        }
    }

    /// [`Instruction::read`] as a step of a chain; nothing if `reg` is the zero register.
    pub(crate) fn reads(mut self, reg: Option<Reg>, bits: u64, role: Role) -> Instruction {
        if let Some(reg) = reg {
            self.read(reg, bits, role);
        }
        self
    }

    /// [`Instruction::write`] as a step of a chain; nothing if `reg` is the zero register.
    pub(crate) fn writes(mut self, reg: Option<Reg>, bits: u64, out: Out) -> Instruction {
        if let Some(reg) = reg {
            self.write(reg, bits, out);
        }
        self
    }

    /// Loads `width` bytes at `base + disp`.
    pub(crate) fn loads(self, base: Option<Reg>, disp: i64, width: u8) -> Instruction {
        self.accesses(Access {
            is_store: false,
            base,
            index: None,
            index_form: IndexForm::Whole,
            disp,
            width,
        })
    }

    /// Stores `width` bytes at `base + disp`.
    pub(crate) fn stores(self, base: Option<Reg>, disp: i64, width: u8) -> Instruction {
        self.accesses(Access {
            is_store: true,
            base,
            index: None,
            index_form: IndexForm::Whole,
            disp,
            width,
        })
    }

    pub(crate) fn accesses(mut self, access: Access) -> Instruction {
        self.accesses.push(access);
        self
    }

    /// Hands control to the system, which sees all registers and memory, may change them, and comes
    /// back with the stack pointer as it was. Which registers it really reads, its own standard
    /// says: none is called unneeded.
    pub(crate) fn calls_system(mut self, conventions: &Conventions) -> Instruction {
        self.touch_all(conventions, Some(conventions.stack_pointer));
        self
    }

    /// Reads and writes all registers but `kept`, which is read only, and all memory.
    pub(crate) fn touch_all(&mut self, conventions: &Conventions, kept: Option<Reg>) {
        let all = (0..conventions.names.len() as u8)
            .map(Reg)
            .filter(|found| Some(*found) != conventions.zero);
        for reg in all.filter(|pair| conventions.names[usize::from(pair.0)] != "pc") {
            let bits = if conventions.flags.contains(&reg) {
                1
            } else {
                low_bits(conventions.bits.into())
            };
            if !self.reads.iter().any(|read| read.reg == reg) {
                self.reads.push(Read { reg, bits, role: Role::Source });
            }
            if Some(reg) != kept && !self.writes.iter().any(|write| write.reg == reg) {
                self.writes.push(Write { reg, bits, out: Out::Link });
            }
        }
        let anywhere = |is_store| Access {
            is_store,
            base: None,
            index: Some((conventions.stack_pointer, 0)),
            index_form: IndexForm::Other,
            disp: 0,
            width: 128,
        };
        self.accesses.extend([anywhere(false), anywhere(true)]);
    }

    pub(crate) fn flows(mut self, flow: Flow) -> Instruction {
        self.flow = flow;
        self
    }

    pub(crate) fn computes(mut self, operation: Operation) -> Instruction {
        self.operation = Some(operation);
        self
    }
}
