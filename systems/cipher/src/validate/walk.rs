//! One function from its first instruction to its return, called as System V says.

use iced_x86::{Decoder, DecoderOptions, Instruction, Register};
use rustc_hash::FxHashMap;

use super::general::Next;
use super::machine::{Machine, STACK_BYTES, Stop};
use super::object::Image;
use super::terms::{Term, Value};
use super::{Array, Expected};

/// The address after the stack.
const STACK_END: u64 = 1 << 46;
/// Where the function is called from.
const CALLER: u64 = 0x7fff_0000;
/// Arrays are so far apart.
const APART: u64 = 1 << 36;
/// Instructions after which a walk is given up.
const STEPS_MAX: u64 = 200_000_000;

const INTEGERS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];
const KEPT: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// A walk and what it found.
pub struct Walk<'a> {
    expected: &'a Expected,
    image: &'a Image,
    pub machine: Machine,
    decoded: FxHashMap<u64, Instruction>,
    outputs: Vec<u64>,
    kept: Vec<Value>,
    top: u64,
    /// Instructions that were executed.
    pub n_steps: u64,
    /// The address of the last one.
    pub at: u64,
}

impl<'a> Walk<'a> {
    /// Ready to be called.
    pub fn new(expected: &'a Expected, image: &'a Image) -> Walk<'a> {
        let mut machine = Machine::new(expected.graph.clone());
        // Memory that anybody may have written has no known contents, and a function that keeps
        // something from call to call is no function.
        for section in image
            .sections
            .iter()
            .filter(|section| !section.can_write || section.name.starts_with(".data.rel.ro"))
        {
            machine.memory.add_bytes(
                &mut machine.graph,
                &section.name,
                section.base,
                &section.bytes,
                section.can_write,
            );
        }
        machine.memory.add(&machine.graph, "the stack", STACK_END - STACK_BYTES, STACK_BYTES, true);
        let mut walk = Walk {
            expected,
            image,
            machine,
            decoded: FxHashMap::default(),
            outputs: Vec::new(),
            kept: Vec::new(),
            top: 0,
            n_steps: 0,
            at: 0,
        };
        walk.call();
        walk
    }

    /// Puts the arguments where the function expects them.
    fn call(&mut self) {
        let register_bytes = u64::from(self.expected.shape.register_bits() / 8);
        let is_vector = self.expected.shape.is_vector();
        let (mut n_integers, mut n_vectors, mut n_arrays) = (0, 0, 0);
        let mut on_stack: Vec<(Value, u64)> = Vec::new();
        let mut pass = |walk: &mut Walk<'_>, value: Value| {
            if n_integers < INTEGERS.len() {
                walk.machine.set_register(INTEGERS[n_integers], &value);
                n_integers += 1;
            } else {
                on_stack.push((value, 8));
            }
        };
        let mut wide: Vec<Value> = Vec::new();
        for (array, is_output) in self
            .expected
            .inputs
            .iter()
            .map(|input| (input, false))
            .chain(self.expected.outputs.iter().map(|output| (output, true)))
        {
            if array.by_value && is_vector {
                if n_vectors < 8 {
                    let register = Register::ZMM0 + n_vectors;
                    self.machine.set_vector(
                        register,
                        &array.words[0],
                        register_bytes as u32 * 8,
                        false,
                    );
                    n_vectors += 1;
                } else {
                    wide.push(array.words[0].clone());
                }
                continue;
            }
            if array.by_value {
                let value = self.integer(&array.words[0]);
                pass(self, value);
                continue;
            }
            n_arrays += 1;
            let base = n_arrays * APART;
            self.array(array, base, is_output);
            if is_output {
                self.outputs.push(base);
            }
            let pointer = self.machine.graph.number_value(base, 64);
            pass(self, pointer);
        }
        on_stack.extend(wide.into_iter().map(|found| (found, register_bytes)));
        self.stack(&on_stack);
        self.kept = KEPT.iter().map(|found| self.machine.register(*found)).collect();
    }

    /// A word in a general register: compilers rely on zeros up to 32 bits.
    fn integer(&mut self, word: &[Term]) -> Value {
        let bits = self.expected.shape.register_bits();
        let low = self.machine.graph.widened(word, bits, bits.max(32));
        if bits == 64 {
            return low;
        }
        let above: Value =
            (0..self.machine.graph.n_granules(64)).map(|_| self.machine.graph.input()).collect();
        let moves = [
            super::moves::Move::first(32, 32, 32),
            super::moves::Move { source: 1, from: 0, to: 0, n: 32 },
        ];
        self.machine.graph.assemble(64, &[&above, &low], &moves)
    }

    fn array(&mut self, array: &Array, base: u64, is_output: bool) {
        let bits = self.expected.shape.register_bits();
        let n_bytes = array.words.len() as u64 * u64::from(bits / 8);
        self.machine.memory.add(
            &self.machine.graph,
            &format!("`{}`", array.name),
            base,
            n_bytes,
            true,
        );
        if !is_output {
            for (i, word) in array.words.iter().enumerate() {
                let at = base + i as u64 * u64::from(bits / 8);
                self.machine.store(at, bits, word).expect("the array was made for these words");
            }
            self.machine.memory.protect_from(base);
        }
    }

    /// Arguments on the stack and the return address below them.
    fn stack(&mut self, on_stack: &[(Value, u64)]) {
        let mut end = STACK_END - 4096;
        let n_bytes: u64 = on_stack.iter().map(|pair| pair.1.max(8) * 2).sum();
        end -= n_bytes.next_multiple_of(64);
        // A caller promises no more than 16 bytes, but for wider arguments.
        if on_stack.iter().all(|pair| pair.1 <= 16) {
            end -= 48;
        }
        let mut at = end;
        for (value, size) in on_stack {
            at = at.next_multiple_of((*size).max(8));
            self.machine
                .store(at, *size as u32 * 8, value)
                .expect("the stack has room for arguments");
            at += (*size).max(8);
        }
        self.top = end - 8;
        let caller = self.machine.graph.number_value(CALLER, 64);
        self.machine
            .store(self.top, 64, &caller)
            .expect("the stack has room for the return address");
        self.machine.memory.protect_from(end);
        self.machine.set_number(Register::RSP, self.top);
    }

    /// The place of the last instruction in its section, as disassemblers of objects show it.
    pub fn offset(&self) -> u64 {
        self.offset_of(self.at)
    }

    /// The place of an instruction in its section.
    pub fn offset_of(&self, address: u64) -> u64 {
        self.image.section(address).map_or(address, |section| section.1 as u64)
    }

    /// Walks until the function returns.
    pub fn run(&mut self, address: u64) -> Result<(), Stop> {
        let mut at = address;
        while at != CALLER {
            if let Some(name) = self.image.others.get(&at) {
                at = self.other(name)?;
                continue;
            }
            let instruction = self.decode(at)?;
            self.at = at;
            self.n_steps += 1;
            if self.n_steps > STEPS_MAX {
                return Err(Stop::Unknown(format!("more than {STEPS_MAX} instructions")));
            }
            at = match self.step(&instruction)? {
                Next::Behind => instruction.next_ip(),
                Next::At(address) => address,
            };
        }
        self.returned()
    }

    fn step(&mut self, instruction: &Instruction) -> Result<Next, Stop> {
        if let Some(next) = self.machine.general(instruction)? {
            return Ok(next);
        }
        if self.machine.vector(instruction)? {
            return Ok(Next::Behind);
        }
        Err(Stop::Unknown(format!("the instruction `{}`", text(instruction))))
    }

    fn decode(&mut self, at: u64) -> Result<Instruction, Stop> {
        if let Some(instruction) = self.decoded.get(&at) {
            return Ok(*instruction);
        }
        let Some((section, offset)) = self.image.section(at) else {
            return Err(Stop::Fault(format!("it jumps to {at:#x}, where nothing is")));
        };
        let instruction =
            Decoder::with_ip(64, &section.bytes[offset..], at, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(Stop::Fault(format!("there is no instruction at {at:#x}")));
        }
        self.decoded.insert(at, instruction);
        Ok(instruction)
    }

    /// A function of the C library, which has just been called.
    fn other(&mut self, name: &str) -> Result<u64, Stop> {
        let number = |walk: &mut Walk<'_>, register: Register| {
            let value = walk.machine.register(register);
            walk.machine.graph.known(&value).ok_or(Stop::Leak(super::Place::Address))
        };
        let (to, n) = (number(self, Register::RDI)?, number(self, Register::RDX)?);
        let bytes: Vec<Value> = match name {
            "memcpy" | "memmove" => {
                let from = number(self, Register::RSI)?;
                (0..n).map(|i| self.machine.load(from + i, 8)).collect::<Result<_, _>>()?
            }
            "memset" => {
                let value = self.machine.register(Register::SIL);
                vec![value; n as usize]
            }
            _ => return Err(Stop::Unknown(format!("a call of `{name}`"))),
        };
        for (i, byte) in bytes.iter().enumerate() {
            self.machine.store(to + i as u64, 8, byte)?;
        }
        let top = self.machine.stack()?;
        let back = self.machine.load(top, 64)?;
        self.machine.set_number(Register::RSP, top + 8);
        self.machine.set_number(Register::RAX, to);
        self.machine.graph.known(&back).ok_or(Stop::Leak(super::Place::Branch))
    }

    /// Registers that belong to the caller have its values again.
    fn returned(&mut self) -> Result<(), Stop> {
        if self.machine.stack()? != self.top + 8 {
            return Err(Stop::Fault("it returns with another stack pointer".into()));
        }
        for (register, before) in KEPT.iter().zip(self.kept.clone()) {
            if self.machine.register(*register) != before {
                return Err(Stop::Fault(format!(
                    "it returns with another {}",
                    format!("{register:?}").to_lowercase()
                )));
            }
        }
        Ok(())
    }

    /// The words of each output.
    pub fn found(&mut self) -> Result<Vec<Vec<Value>>, Stop> {
        let bits = self.expected.shape.register_bits();
        let step = u64::from(bits / 8);
        let mut found = Vec::new();
        for (array, base) in self.expected.outputs.iter().zip(self.outputs.clone()) {
            let words =
                (0..array.words.len() as u64).map(|i| self.machine.load(base + i * step, bits));
            found.push(words.collect::<Result<_, _>>()?);
        }
        Ok(found)
    }
}

fn text(instruction: &Instruction) -> String {
    use iced_x86::Formatter;
    let mut out = String::new();
    iced_x86::GasFormatter::new().format(instruction, &mut out);
    out
}
