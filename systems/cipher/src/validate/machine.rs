//! The processor that is walked with terms in place of numbers: registers, flags, memory, and how
//! instructions reach them.

use iced_x86::{Instruction, MemorySize, OpKind, Register};
use smallvec::smallvec;

use super::memory::{MachineMemory, MemoryFault};
use super::moves::Move;
use super::terms::{Graph, Term, Value};

/// Why a walk ends before the function returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Something that this program does not know how to follow: no verdict.
    Unknown(String),
    /// A secret reaches a place where it shows.
    Leak(Place),
    /// The function does what no function may.
    Fault(String),
}

/// Where a secret shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Which memory is read or written.
    Address,
    /// Which way a branch goes.
    Branch,
    /// How long a division takes.
    Division,
}

/// What is known of the flags.
#[derive(Debug, Clone)]
pub enum Flags {
    Unknown,
    Known {
        /// The result is 0.
        zero: bool,
        /// The result's highest bit.
        sign: bool,
        /// A carry out of the highest bit, or the bit that was shifted out.
        carry: Option<bool>,
        /// A carry into the sign alone.
        overflow: bool,
    },
    /// Of a comparison of two values of so many bits.
    Compared(u32, Value, Value),
    /// Of a bitwise operation of so many bits with this result.
    Result(u32, Value),
    /// The same of a shift, after which the carry is unknown.
    Shifted(u32, Value),
    /// Only the carry, in the lowest bit.
    Carry(Term),
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// It does or does not.
    Known(bool),
    /// In the lowest bit.
    Depends(Term),
}

#[derive(Debug, Clone)]
pub struct Machine {
    pub graph: Graph,
    pub memory: MachineMemory,
    pub flags: Flags,
    general: Vec<Value>,
    vectors: Vec<Value>,
    masks: Vec<Value>,
    /// Addresses of shifts whose count is a secret.
    pub shifts: std::collections::BTreeSet<u64>,
}

/// Bits of the widest vector register.
const WIDEST: u32 = 512;

/// Bytes of the stack.
pub const STACK_BYTES: u64 = 8 << 20;
/// What is a function's own below its stack pointer.
const RED_ZONE: u64 = 128;

impl Machine {
    /// Nothing is known of any register.
    pub fn new(graph: Graph) -> Machine {
        let mut graph = graph;
        let mut file = |n: usize, bits: u32| -> Vec<Value> {
            let n_granules = graph.n_granules(bits);
            (0..n).map(|_| (0..n_granules).map(|_| graph.input()).collect()).collect()
        };
        let (general, vectors, masks) = (file(16, 64), file(32, WIDEST), file(8, 64));
        Machine {
            graph,
            memory: MachineMemory::default(),
            flags: Flags::Unknown,
            general,
            vectors,
            masks,
            shifts: Default::default(),
        }
    }

    fn file(&self, register: Register) -> &Value {
        let n = register.number();
        match register {
            _ if register.is_vector_register() => &self.vectors[n],
            _ if register.is_k() => &self.masks[n],
            _ => &self.general[register.full_register().number()],
        }
    }

    /// A register, or the part that it names.
    pub fn register(&mut self, register: Register) -> Value {
        let (from, bits) = place(register);
        let whole = self.file(register).clone();
        let granule = self.graph.granule();
        if from == 0 && bits.is_multiple_of(granule) {
            return whole[..(bits / granule) as usize].into();
        }
        self.graph.bits(&whole, from, bits)
    }

    /// Writes a general register: 32 bits clear what is above, fewer keep it.
    pub fn set_register(&mut self, register: Register, value: &[Term]) {
        let (from, bits) = place(register);
        let whole = match bits {
            64 => value.into(),
            32 => self.graph.widened(value, 32, 64),
            _ => {
                let old = self.file(register).clone();
                let moves = [
                    Move::first(0, 0, from),
                    Move::first(from + bits, from + bits, 64 - from - bits),
                    Move { source: 1, from: 0, to: from, n: bits },
                ];
                self.graph.assemble(64, &[&old, value], &moves)
            }
        };
        self.general[register.full_register().number()] = whole;
    }

    /// Writes a vector register of so many bits; `keeps` what is above, or clears it.
    pub fn set_vector(&mut self, register: Register, value: &[Term], bits: u32, keeps: bool) {
        let whole = if keeps {
            let old = self.vectors[register.number()].clone();
            let moves = [
                Move { source: 1, from: 0, to: 0, n: bits },
                Move::first(bits, bits, WIDEST - bits),
            ];
            self.graph.assemble(WIDEST, &[&old, value], &moves)
        } else if bits.is_multiple_of(self.graph.granule()) {
            let mut whole: Value = value.into();
            whole.resize(self.graph.n_granules(WIDEST), Term::ZERO);
            whole
        } else {
            self.graph.widened(value, bits, WIDEST)
        };
        self.vectors[register.number()] = whole;
    }

    /// Writes a mask register.
    pub fn set_mask(&mut self, register: Register, value: &[Term], bits: u32) {
        self.masks[register.number()] = self.graph.widened(value, bits, 64);
    }

    /// A number in a general register.
    pub fn set_number(&mut self, register: Register, number: u64) {
        let value = self.graph.number_value(number, 64);
        self.set_register(register, &value);
    }

    /// Clears what is above the lowest 128 bits of the first 16 vector registers.
    pub fn zero_upper(&mut self) {
        let n = self.graph.n_granules(128);
        for vector in &mut self.vectors[..16] {
            vector[n..].fill(Term::ZERO);
        }
    }

    /// The address of a memory operand.
    pub fn address(&self, instruction: &Instruction) -> Result<u64, Stop> {
        if matches!(instruction.segment_prefix(), Register::FS | Register::GS) {
            return Err(Stop::Unknown("memory of the thread".into()));
        }
        if instruction.is_ip_rel_memory_operand() {
            return Ok(instruction.ip_rel_memory_address());
        }
        let part = |register: Register| match register {
            Register::None => Ok(0),
            _ if register.size() < 8 => Err(Stop::Unknown("an address of 32 bits".into())),
            _ => self.graph.known(self.file(register)).ok_or(Stop::Leak(Place::Address)),
        };
        let index =
            part(instruction.memory_index())?.wrapping_mul(instruction.memory_index_scale().into());
        Ok(part(instruction.memory_base())?
            .wrapping_add(index)
            .wrapping_add(instruction.memory_displacement64()))
    }

    pub fn load(&mut self, address: u64, bits: u32) -> Result<Value, Stop> {
        self.memory
            .load(&mut self.graph, address, bits / 8)
            .map_err(|fault| stop(fault, "reads", address, bits))
    }

    pub fn store(&mut self, address: u64, bits: u32, value: &[Term]) -> Result<(), Stop> {
        // System V: what lies more than 128 bytes below the stack pointer may change at any time.
        let top = self.graph.known(self.file(Register::RSP));
        if top.is_some_and(|top| {
            (top.saturating_sub(STACK_BYTES)..top.saturating_sub(RED_ZONE)).contains(&address)
        }) {
            return Err(Stop::Fault(format!(
                "it writes {} bytes below the red zone of the stack",
                bits / 8
            )));
        }
        self.memory
            .store(&mut self.graph, address, bits / 8, value)
            .map_err(|fault| stop(fault, "writes", address, bits))
    }

    /// Bits of an operand as the instruction says.
    pub fn operand_bits(&self, instruction: &Instruction, operand: u32) -> u32 {
        match instruction.op_kind(operand) {
            OpKind::Register => place(instruction.op_register(operand)).1,
            OpKind::Memory => instruction.memory_size().size() as u32 * 8,
            _ => 64,
        }
    }

    /// An operand of the general registers' instructions; numbers have `bits` bits.
    pub fn operand(
        &mut self,
        instruction: &Instruction,
        operand: u32,
        bits: u32,
    ) -> Result<Value, Stop> {
        match instruction.op_kind(operand) {
            OpKind::Register => Ok(self.register(instruction.op_register(operand))),
            OpKind::Memory => {
                let n = instruction.memory_size().size() as u32 * 8;
                let address = self.address(instruction)?;
                self.load(address, n)
            }
            _ => Ok(self.graph.number_value(instruction.immediate(operand), bits)),
        }
    }

    /// Writes the first operand of an instruction on general registers.
    pub fn set_operand(
        &mut self,
        instruction: &Instruction,
        operand: u32,
        value: &[Term],
    ) -> Result<(), Stop> {
        if instruction.op_kind(operand) == OpKind::Register {
            self.set_register(instruction.op_register(operand), value);
            return Ok(());
        }
        let bits = instruction.memory_size().size() as u32 * 8;
        let address = self.address(instruction)?;
        self.store(address, bits, value)
    }

    /// An operand of a vector instruction that works on `bits` bits; an element from memory that
    /// is broadcast is repeated.
    pub fn vector_operand(
        &mut self,
        instruction: &Instruction,
        operand: u32,
        bits: u32,
    ) -> Result<Value, Stop> {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let whole = self.file(instruction.op_register(operand)).clone();
                let granule = self.graph.granule();
                if bits.is_multiple_of(granule) {
                    Ok(whole[..(bits / granule) as usize].into())
                } else {
                    Ok(self.graph.bits(&whole, 0, bits))
                }
            }
            OpKind::Memory => {
                let address = self.address(instruction)?;
                if instruction.is_broadcast() {
                    let element = element_bits(instruction.memory_size());
                    let value = self.load(address, element)?;
                    return Ok(self.repeated(&value, element, bits));
                }
                let n = (instruction.memory_size().size() as u32 * 8).min(bits);
                let value = self.load(address, n)?;
                Ok(if n < bits { self.graph.widened(&value, n, bits) } else { value })
            }
            _ => Err(Stop::Unknown("an operand".into())),
        }
    }

    /// A value of `element` bits over and over.
    pub fn repeated(&mut self, value: &[Term], element: u32, bits: u32) -> Value {
        let moves: Vec<Move> =
            super::moves::each(bits, element).map(|at| Move::first(0, at, element)).collect();
        self.graph.assemble(bits, &[value], &moves)
    }

    /// Chooses between two values of so many bits by a truth.
    pub fn choose(&mut self, truth: Truth, bits: u32, yes: &[Term], no: &[Term]) -> Value {
        match truth {
            Truth::Known(it) => if it { yes } else { no }.into(),
            Truth::Depends(term) => {
                let bit: Value = smallvec![term];
                let mask = self.repeated(&bit, 1, bits);
                self.select(&mask, yes, no)
            }
        }
    }

    /// Bits of one value where a mask has ones, else of another.
    pub fn select(&mut self, mask: &[Term], yes: &[Term], no: &[Term]) -> Value {
        let one = |(mask, (yes, no)): (&Term, (&Term, &Term))| {
            let change = self.graph.xor(*yes, *no);
            let change = self.graph.and(*mask, change);
            self.graph.xor(change, *no)
        };
        mask.iter().zip(yes.iter().zip(no)).map(one).collect()
    }
}

/// The lowest bit of a part of a register in the whole one, and its bits.
fn place(register: Register) -> (u32, u32) {
    match register {
        Register::AH | Register::BH | Register::CH | Register::DH => (8, 8),
        _ if register.is_k() => (0, 64),
        _ => (0, register.size() as u32 * 8),
    }
}

/// Bits of one element of a memory operand.
pub fn element_bits(size: MemorySize) -> u32 {
    size.element_size() as u32 * 8
}

fn stop(fault: MemoryFault, verb: &str, address: u64, bits: u32) -> Stop {
    match fault {
        MemoryFault::Outside => {
            Stop::Fault(format!("it {verb} {} bytes at {address:#x}, where nothing is", bits / 8))
        }
        MemoryFault::ReadOnly(name) => Stop::Fault(format!(
            "it {verb} {} bytes of {name}, which is not to be written",
            bits / 8
        )),
    }
}
