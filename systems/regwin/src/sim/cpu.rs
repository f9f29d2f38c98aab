//! The instructions of the application, executed with as many windows as a thread wants.

use std::rc::Rc;

use machine::in_order::Core;
use object::{Object, ObjectSegment};

use super::cost::{self, Adds, Blocks};
use super::event::Event;
use super::event::Thread;
use super::floats::FloatCosts;
use super::schemes::Rules;
use super::windows::Windows;
use crate::code::Code;
use crate::counts::Counts;
use crate::qemu::Blob;
use crate::sparc;

const RAM: u32 = 0x4000_0000;
const RAM_BYTES: usize = 0x60_0000;
const UART_DATA: u32 = 0x8000_0100;
const UART_STATUS: u32 = 0x8000_0104;
/// A program that executes more than this does not stop.
const STEPS_MAX: u64 = 4_000_000_000;
/// Cycles are summed apart for so many instructions: they fit into 32 bits.
const STEPS_A_SUM: u64 = 1 << 20;

/// Registers by number in the order of the instruction set: globals, outs, locals, ins.
type Registers = [u32; 32];

/// What a suspended thread keeps.
#[derive(Debug, Clone)]
struct Context {
    registers: Registers,
    /// Locals and ins of the frames below, the oldest first.
    frames: Vec<[u32; 16]>,
    pc: u32,
}

/// What an instruction does. With `Cc`, it also sets the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Sethi,
    Branch,
    Call,
    Jmpl,
    FlushTrap,
    Save,
    Restore,
    Add,
    AddCc,
    Sub,
    SubCc,
    And,
    AndCc,
    Or,
    OrCc,
    Xor,
    XorCc,
    Andn,
    AndnCc,
    Orn,
    OrnCc,
    Xnor,
    XnorCc,
    Sll,
    Srl,
    Sra,
    ReadY,
    WriteY,
    /// The state register, as far as masking interrupts needs it: none comes.
    ReadPsr,
    WritePsr,
    /// The rest of the arithmetic, by its number in the instruction.
    Rare,
    Ld,
    Ldub,
    Ldd,
    St,
    Stb,
    Std,
    /// The rest of the loads and stores, by its number.
    RareMemory,
    /// A load or a store of a register of floating point.
    LdFloat,
    StFloat,
    /// Nothing that these programs contain.
    Unknown,
}

/// One word, decoded: what it does, its registers, its constant (the second operand is register
/// plus constant: one of them is 0), what it costs on each machine in 32 bits each, and whether the
/// simulator steps in here.
#[derive(Debug, Clone, Copy)]
struct Word {
    op: Op,
    rd: u8,
    rs1: u8,
    rs2: u8,
    is_special: bool,
    constant: u32,
    bits: u32,
    cost: u64,
}

impl Word {
    fn decode(bits: u32, cost: [u32; 2]) -> Word {
        let op3 = bits >> 19 & 63;
        let op = match bits >> 30 {
            0 => match bits >> 22 & 7 {
                4 => Op::Sethi,
                2 => Op::Branch,
                _ => Op::Unknown,
            },
            1 => Op::Call,
            2 => match op3 {
                0x00 => Op::Add,
                0x10 => Op::AddCc,
                0x04 => Op::Sub,
                0x14 => Op::SubCc,
                0x01 => Op::And,
                0x11 => Op::AndCc,
                0x02 => Op::Or,
                0x12 => Op::OrCc,
                0x03 => Op::Xor,
                0x13 => Op::XorCc,
                0x05 => Op::Andn,
                0x15 => Op::AndnCc,
                0x06 => Op::Orn,
                0x16 => Op::OrnCc,
                0x07 => Op::Xnor,
                0x17 => Op::XnorCc,
                0x25 => Op::Sll,
                0x26 => Op::Srl,
                0x27 => Op::Sra,
                0x28 => Op::ReadY,
                0x30 => Op::WriteY,
                0x29 => Op::ReadPsr,
                0x31 => Op::WritePsr,
                0x38 => Op::Jmpl,
                0x3a => Op::FlushTrap,
                0x3c => Op::Save,
                0x3d => Op::Restore,
                0x08 | 0x0a..=0x0c | 0x0e | 0x0f | 0x18 | 0x1a..=0x1c | 0x1e | 0x1f => Op::Rare,
                _ => Op::Unknown,
            },
            _ => match op3 {
                0x00 => Op::Ld,
                0x01 => Op::Ldub,
                0x03 => Op::Ldd,
                0x04 => Op::St,
                0x05 => Op::Stb,
                0x07 => Op::Std,
                0x02 | 0x06 | 0x09 | 0x0a => Op::RareMemory,
                0x20 => Op::LdFloat,
                0x24 => Op::StFloat,
                _ => Op::Unknown,
            },
        };
        let has_constant = bits >> 13 & 1 == 1;
        let constant = match op {
            Op::Sethi => bits << 10,
            Op::Branch => ((bits << 10) as i32 >> 8) as u32,
            Op::Call => bits << 2,
            _ if has_constant => ((bits << 19) as i32 >> 19) as u32,
            _ => 0,
        };
        let rs2 = if has_constant || matches!(op, Op::Sethi | Op::Branch | Op::Call) {
            0
        } else {
            (bits & 31) as u8
        };
        Word {
            op,
            rd: (bits >> 25 & 31) as u8,
            rs1: (bits >> 14 & 31) as u8,
            rs2,
            is_special: false,
            constant,
            bits,
            cost: u64::from(cost[0]) | u64::from(cost[1]) << 32,
        }
    }
}

/// Where the simulator steps in.
#[derive(Debug, Clone, Copy)]
struct Places {
    block: u32,
    block_flush: u32,
    leave: u32,
    wake: u32,
    idle: u32,
    stop: u32,
    threads: (u32, u32),
    thread_bytes: u32,
    idle_thread: u32,
    /// The word that names the thread whose registers those of floating point are.
    fpu_owner: Option<u32>,
    /// Offsets in a thread's record.
    psr: u32,
    next: u32,
    sp: u32,
    pc: u32,
}

/// The processor and its memory.
#[derive(Debug)]
pub struct Cpu {
    words: Rc<[Word]>,
    base: u32,
    memory: Vec<u8>,
    r: Registers,
    frames: Vec<[u32; 16]>,
    contexts: Vec<Option<Context>>,
    running: Option<Thread>,
    /// Registers of floating point, and those that threads have while others have them.
    f: Registers,
    floats: Vec<Registers>,
    y: u32,
    psr: u32,
    flags: [bool; 4],
    pc: u32,
    npc: u32,
    places: Places,
    rules: Box<dyn Rules>,
    windows: Windows,
    cycles: cost::Cost,
    /// Cycles not yet added to these, 32 bits each.
    recent: u64,
    saves: u64,
    restores: u64,
    switches_to: Vec<u64>,
    console: Vec<u8>,
    /// The events, if they are wanted.
    pub events: Option<Vec<u8>>,
    /// Ready threads at each switch, if events are wanted.
    pub ready: Vec<u8>,
    /// The events from the first switch to the last.
    pub finished: Option<Vec<u8>>,
}

/// The carry, in the flags: negative, zero, overflow, carry.
const C: usize = 3;

impl Cpu {
    /// The image in memory, just before `main`.
    pub fn new(
        code: &Code,
        elf: &[u8],
        blobs: &[Blob],
        machines: [&Core; 2],
        rules: Box<dyn Rules>,
    ) -> Cpu {
        let mut memory = vec![0; RAM_BYTES];
        let mut put = |address: u64, bytes: &[u8]| {
            let at = address as usize - RAM as usize;
            memory[at..at + bytes.len()].copy_from_slice(bytes);
        };
        let file = object::File::parse(elf).expect("the image was read before");
        for segment in file.segments() {
            put(segment.address(), segment.data().expect("a segment has its bytes"));
        }
        for blob in blobs {
            put(u64::from(blob.address), &blob.bytes);
        }
        let charged = |at: u32| code.application.contains(&at);
        let word = |(idx, bits): (usize, &u32)| {
            let cost =
                if charged(code.address_of(idx)) { cost::of_word(*bits, machines) } else { [0; 2] };
            Word::decode(*bits, cost)
        };
        let threads = code.symbols["threads"];
        let places = Places {
            block: code.switch("leave"),
            block_flush: code.switch("flush"),
            leave: code.address("thr_leave"),
            wake: code.try_address("ready_push").unwrap_or_else(|| code.address("thr_wake")),
            idle: code.address("machine_idle"),
            stop: code.address("machine_stop"),
            threads: (threads.0, threads.0 + threads.1),
            thread_bytes: code.address("TCB_BYTES"),
            idle_thread: code.address("thr_idle"),
            fpu_owner: code.try_address("fpu_owner"),
            psr: code.address("TCB_PSR"),
            next: code.address("TCB_NEXT"),
            sp: code.address("TCB_SP"),
            pc: code.address("TCB_PC"),
        };
        let mut r = [0; 32];
        r[5] = places.idle_thread;
        r[7] = code.address("thr_boot");
        r[14] = code.address("boot_stack_end") - 96;
        let boot = code.address("boot_calls");
        let mut windows = Windows::new();
        windows.floats.costs = FloatCosts::new(Blocks::new(code, machines));
        let mut words: Vec<Word> = code.words.iter().enumerate().map(word).collect();
        for at in
            [places.block, places.block_flush, places.leave, places.wake, places.idle, places.stop]
        {
            words[((at - code.base) / 4) as usize].is_special = true;
        }
        Cpu {
            words: words.into(),
            base: code.base,
            memory,
            r,
            frames: Vec::new(),
            contexts: Vec::new(),
            running: None,
            f: [0; 32],
            floats: Vec::new(),
            y: 0,
            psr: 0,
            flags: [false; 4],
            pc: boot,
            npc: boot + 4,
            places,
            rules,
            windows,
            cycles: [0; 2],
            recent: 0,
            saves: 0,
            restores: 0,
            switches_to: Vec::new(),
            console: Vec::new(),
            events: None,
            ready: Vec::new(),
            finished: None,
        }
    }

    /// Runs to the end; what was written on the console.
    pub fn run(&mut self) -> Result<String, Vec<String>> {
        let mut counted = None;
        let mut n_steps = 0;
        let words = Rc::clone(&self.words);
        while n_steps < STEPS_MAX {
            for _ in 0..STEPS_A_SUM {
                let word = &words[((self.pc - self.base) / 4) as usize];
                if word.is_special {
                    self.add_recent();
                    if let Some(console) = self.special(word, &mut counted) {
                        return Ok(console);
                    }
                } else {
                    self.step(word);
                }
            }
            self.add_recent();
            n_steps += STEPS_A_SUM;
        }
        Err(vec![format!(
            "the program was still running after {STEPS_MAX} instructions and was ended"
        )])
    }

    /// Where the simulator steps in; the console at the end.
    #[inline(never)]
    fn special(
        &mut self,
        word: &Word,
        counted: &mut Option<(cost::Cost, u64, u64)>,
    ) -> Option<String> {
        let pc = self.pc;
        if pc == self.places.block || pc == self.places.block_flush {
            let next = self.take_ready();
            self.suspend();
            if pc == self.places.block {
                self.record(Event::Block(next));
                self.rules.block(&mut self.windows, next);
            } else {
                self.record(Event::BlockFlush(next));
                self.rules.block_flush(&mut self.windows, next);
            }
            self.enter(next);
        } else if pc == self.places.leave {
            let next = self.take_ready();
            if self.running.is_none() {
                (self.cycles, self.saves, self.restores) = ([0; 2], 0, 0);
            }
            self.record(Event::Leave(next));
            self.rules.leave(&mut self.windows, next);
            self.enter(next);
        } else if pc == self.places.stop {
            (self.cycles, self.saves, self.restores) =
                counted.expect("the idle thread ends the machine");
            return Some(String::from_utf8_lossy(&self.console).into_owned());
        } else {
            if pc == self.places.wake && self.running.is_some() {
                let thread = self.thread(self.r[8]);
                let resident = self.rules.is_resident(thread);
                self.store32(self.r[8] + self.places.psr, u32::from(resident));
            }
            if pc == self.places.idle {
                *counted = Some((self.cycles, self.saves, self.restores));
                self.windows.freeze();
                self.finished = self.events.take();
            }
            self.step(word);
        }
        None
    }

    fn add_recent(&mut self) {
        self.cycles[0] += self.recent & 0xffff_ffff;
        self.cycles[1] += self.recent >> 32;
        self.recent = 0;
    }

    pub fn counts(&self) -> Counts {
        let mut counts = self.windows.counts();
        counts.saves = self.saves;
        counts.restores = self.restores;
        for (cycles, application) in counts.cycles.iter_mut().zip(self.cycles) {
            cycles.application = application;
        }
        counts
    }

    /// Switches to each of `n` threads.
    pub fn switches_to(&self, n: usize) -> Vec<u64> {
        (0..n).map(|idx| self.switches_to.get(idx + 1).copied().unwrap_or(0)).collect()
    }

    fn record(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(event.byte());
        }
    }

    /// Number of the thread with this record: 0 is the idle thread.
    fn thread(&self, record: u32) -> Thread {
        if record == self.places.idle_thread {
            0
        } else {
            ((record - self.places.threads.0) / self.places.thread_bytes) as usize + 1
        }
    }

    fn record_of(&self, thread: Thread) -> u32 {
        if thread == 0 {
            self.places.idle_thread
        } else {
            self.places.threads.0 + (thread as u32 - 1) * self.places.thread_bytes
        }
    }

    fn take_ready(&mut self) -> Thread {
        let record = self.r[5];
        debug_assert!(
            record == self.places.idle_thread
                || (self.places.threads.0..self.places.threads.1).contains(&record)
        );
        self.r[5] = self.load32(record + self.places.next);
        if self.events.is_some() {
            let mut n_ready = 0;
            let mut at = self.r[5];
            while at != self.places.idle_thread {
                n_ready += 1;
                at = self.load32(at + self.places.next);
            }
            self.ready.push(n_ready);
        }
        self.thread(record)
    }

    fn suspend(&mut self) {
        let running = self.running.expect("a thread blocks");
        let pc = self.r[15] + 8;
        self.contexts[running] =
            Some(Context { registers: self.r, frames: std::mem::take(&mut self.frames), pc });
    }

    fn enter(&mut self, next: Thread) {
        self.running = Some(next);
        if self.contexts.len() <= next {
            self.contexts.resize(next + 1, None);
            self.switches_to.resize(next + 1, 0);
        }
        self.switches_to[next] += 1;
        let record = self.record_of(next);
        let globals: [u32; 8] = self.r[..8].try_into().expect("there are eight globals");
        match self.contexts[next].take() {
            Some(context) => {
                self.r = context.registers;
                self.frames = context.frames;
                self.pc = context.pc;
            }
            None => {
                let sp = self.load32(record + self.places.sp);
                self.r = [0; 32];
                self.r[14] = sp;
                for idx in 0..16 {
                    self.r[16 + idx as usize] = self.load32(sp + 4 * idx);
                }
                self.frames.clear();
                self.pc = self.load32(record + self.places.pc) + 8;
            }
        }
        self.r[..8].copy_from_slice(&globals);
        self.r[7] = record;
        self.npc = self.pc + 4;
    }

    fn load32(&self, address: u32) -> u32 {
        let at = address.wrapping_sub(RAM) as usize;
        u32::from_be_bytes(self.memory[at..at + 4].try_into().expect("four bytes"))
    }

    fn store32(&mut self, address: u32, value: u32) {
        let at = address.wrapping_sub(RAM) as usize;
        self.memory[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }

    /// One instruction; a part of the loop in `run`, where it takes half the time.
    #[inline(always)]
    fn step(&mut self, word: &Word) {
        self.recent += word.cost;
        let rd = usize::from(word.rd & 31);
        let a = self.r[usize::from(word.rs1 & 31)];
        let b = self.r[usize::from(word.rs2 & 31)].wrapping_add(word.constant);
        let (mut pc, mut npc) = (self.npc, self.npc.wrapping_add(4));
        match word.op {
            Op::Sethi => self.r[rd] = word.constant,
            Op::Branch => {
                let taken = self.condition(word.bits >> 25 & 15);
                let annul = word.bits >> 29 & 1 == 1;
                let always = word.bits >> 25 & 7 == 0;
                if taken {
                    npc = self.pc.wrapping_add(word.constant);
                }
                if annul && (always || !taken) {
                    (pc, npc) = (npc, npc.wrapping_add(4));
                }
            }
            Op::Call => {
                self.r[15] = self.pc;
                npc = self.pc.wrapping_add(word.constant);
            }
            Op::Jmpl => {
                self.r[rd] = self.pc;
                npc = a.wrapping_add(b);
            }
            Op::FlushTrap => {
                self.record(Event::Flush);
                self.rules.flush(&mut self.windows);
            }
            Op::Save => self.save(rd, a.wrapping_add(b)),
            Op::Restore => self.restore(word, rd, a.wrapping_add(b)),
            Op::Add => self.r[rd] = a.wrapping_add(b),
            Op::Sub => self.r[rd] = a.wrapping_sub(b),
            Op::And => self.r[rd] = a & b,
            Op::Or => self.r[rd] = a | b,
            Op::Xor => self.r[rd] = a ^ b,
            Op::Andn => self.r[rd] = a & !b,
            Op::Orn => self.r[rd] = a | !b,
            Op::Xnor => self.r[rd] = !(a ^ b),
            Op::Sll => self.r[rd] = a << (b & 31),
            Op::Srl => self.r[rd] = a >> (b & 31),
            Op::Sra => self.r[rd] = (a as i32 >> (b & 31)) as u32,
            Op::AddCc => {
                let (value, carries) = a.overflowing_add(b);
                self.set_flags(value, (!(a ^ b) & (a ^ value)) >> 31 == 1, carries);
                self.r[rd] = value;
            }
            Op::SubCc => {
                let (value, carries) = a.overflowing_sub(b);
                self.set_flags(value, ((a ^ b) & (a ^ value)) >> 31 == 1, carries);
                self.r[rd] = value;
            }
            Op::AndCc => self.logic(rd, a & b),
            Op::OrCc => self.logic(rd, a | b),
            Op::XorCc => self.logic(rd, a ^ b),
            Op::AndnCc => self.logic(rd, a & !b),
            Op::OrnCc => self.logic(rd, a | !b),
            Op::XnorCc => self.logic(rd, !(a ^ b)),
            Op::ReadY => self.r[rd] = self.y,
            Op::WriteY => self.y = a ^ b,
            Op::ReadPsr => self.r[rd] = self.psr,
            Op::WritePsr => self.psr = a ^ b,
            Op::Rare => self.arithmetic(word.bits, rd, a, b),
            Op::Ld | Op::Ldub | Op::Ldd | Op::St | Op::Stb | Op::Std | Op::RareMemory => {
                self.memory_access(word, rd, a.wrapping_add(b));
            }
            Op::LdFloat | Op::StFloat => self.float(word.op, rd, a.wrapping_add(b)),
            Op::Unknown => self.unknown(word.bits),
        }
        self.r[0] = 0;
        (self.pc, self.npc) = (pc, npc);
    }

    fn logic(&mut self, rd: usize, value: u32) {
        self.set_flags(value, false, false);
        self.r[rd] = value;
    }

    fn set_flags(&mut self, value: u32, overflow: bool, carries: bool) {
        self.flags = [value >> 31 == 1, value == 0, overflow, carries];
    }

    fn condition(&self, code: u32) -> bool {
        let [n, z, v, c] = self.flags;
        let holds = match code & 7 {
            0 => false,
            1 => z,
            2 => z || (n != v),
            3 => n != v,
            4 => c || z,
            5 => c,
            6 => n,
            _ => v,
        };
        holds != (code >= 8)
    }

    #[inline(never)]
    fn save(&mut self, rd: usize, value: u32) {
        let frame: [u32; 16] = self.r[16..].try_into().expect("sixteen registers");
        self.frames.push(frame);
        self.r.copy_within(8..16, 24);
        self.r[rd] = value;
        if self.running.is_some() {
            self.saves += 1;
            self.record(Event::Save);
            self.rules.save(&mut self.windows);
        }
    }

    #[inline(never)]
    fn restore(&mut self, word: &Word, rd: usize, value: u32) {
        self.r.copy_within(24..32, 8);
        let frame = self.frames.pop().expect("a thread restores what it has saved");
        self.r[16..].copy_from_slice(&frame);
        self.r[rd] = value;
        if self.running.is_some() {
            self.restores += 1;
            self.record(Event::Restore(Adds::of(word.bits)));
            // The handler that loads in place finishes the restore itself.
            if self.rules.restore(&mut self.windows, Adds::of(word.bits)) {
                self.recent -= word.cost;
            }
        }
    }

    /// The arithmetic that programs seldom do.
    #[inline(never)]
    fn arithmetic(&mut self, bits: u32, rd: usize, a: u32, b: u32) {
        let carry = u32::from(self.flags[C]);
        let (mut overflow, mut carries) = (false, false);
        let value = match bits >> 19 & 0x0f {
            0x08 => {
                let sum = u64::from(a) + u64::from(b) + u64::from(carry);
                carries = sum >> 32 == 1;
                overflow = (!(a ^ b) & (a ^ sum as u32)) >> 31 == 1;
                sum as u32
            }
            0x0c => {
                let value = a.wrapping_sub(b).wrapping_sub(carry);
                carries = u64::from(a) < u64::from(b) + u64::from(carry);
                overflow = ((a ^ b) & (a ^ value)) >> 31 == 1;
                value
            }
            0x0a => {
                let product = u64::from(a) * u64::from(b);
                self.y = (product >> 32) as u32;
                product as u32
            }
            0x0b => {
                let product = i64::from(a as i32) * i64::from(b as i32);
                self.y = (product >> 32) as u32;
                product as u32
            }
            0x0e => {
                let dividend = u64::from(self.y) << 32 | u64::from(a);
                u32::try_from(dividend / u64::from(b.max(1))).unwrap_or(u32::MAX)
            }
            _ => {
                let dividend = (u64::from(self.y) << 32 | u64::from(a)) as i64;
                let quotient = dividend / i64::from(b as i32).wrapping_add(i64::from(b == 0));
                quotient.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
            }
        };
        if bits >> 19 & 0x10 != 0 {
            self.set_flags(value, overflow, carries);
        }
        self.r[rd] = value;
    }

    fn memory_access(&mut self, word: &Word, rd: usize, address: u32) {
        // Registers of devices: of the serial port two are known, the others read as they are.
        if address >> 28 == UART_DATA >> 28 {
            match (word.op, address) {
                (Op::St, UART_DATA) => self.console.push(self.r[rd] as u8),
                (Op::Ld, UART_STATUS) => self.r[rd] = 4,
                _ => {}
            }
            return;
        }
        let at = address.wrapping_sub(RAM) as usize;
        match word.op {
            Op::Ld => self.r[rd] = self.load32(address),
            Op::Ldub => self.r[rd] = u32::from(self.memory[at]),
            Op::Ldd => {
                let pair = [self.load32(address), self.load32(address + 4)];
                self.r[rd] = pair[0];
                self.r[rd | 1] = pair[1];
            }
            Op::St => self.store32(address, self.r[rd]),
            Op::Stb => self.memory[at] = self.r[rd] as u8,
            Op::Std => {
                self.store32(address, self.r[rd]);
                self.store32(address + 4, self.r[rd | 1]);
            }
            _ => match word.bits >> 19 & 63 {
                0x02 => {
                    self.r[rd] =
                        u32::from(u16::from_be_bytes([self.memory[at], self.memory[at + 1]]))
                }
                0x06 => self.memory[at..at + 2].copy_from_slice(&(self.r[rd] as u16).to_be_bytes()),
                0x09 => self.r[rd] = self.memory[at] as i8 as u32,
                _ => self.r[rd] = i16::from_be_bytes([self.memory[at], self.memory[at + 1]]) as u32,
            },
        }
    }

    /// A load or a store of a register of floating point; the first one traps, and gives
    /// the thread its registers.
    #[inline(never)]
    fn float(&mut self, op: Op, rd: usize, address: u32) {
        let (Some(running), Some(owner_at)) = (self.running, self.places.fpu_owner) else {
            self.unknown(0)
        };
        if !self.windows.floats.is_on {
            let record = self.load32(owner_at);
            let owner = (record != 0).then(|| self.thread(record));
            let cost = self.windows.floats.trap(running, owner);
            self.windows.trap(cost);
            self.floats.resize(
                self.floats.len().max(running + 1).max(owner.map_or(0, |owner| owner + 1)),
                [0; 32],
            );
            if owner != Some(running) {
                if let Some(owner) = owner {
                    self.floats[owner] = self.f;
                }
                self.f = self.floats[running];
                self.store32(owner_at, self.record_of(running));
            }
        }
        if op == Op::LdFloat {
            self.f[rd] = self.load32(address);
        } else {
            self.store32(address, self.f[rd]);
        }
    }

    fn unknown(&self, bits: u32) -> ! {
        panic!(
            "the programs use only instructions of the integer unit, but at {:#x} is {bits:#010x}, {:?}",
            self.pc,
            sparc::class(bits)
        );
    }
}
