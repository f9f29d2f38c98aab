//! The instructions of the application, executed with as many windows as a thread wants.

use machine::in_order::Core;
use object::{Object, ObjectSegment};

use super::cost::{self, Adds};
use super::trace::Event;
use super::windows::{Thread, Windows};
use crate::code::Code;
use crate::counts::Counts;
use crate::qemu::Blob;
use crate::sparc;

const RAM: u32 = 0x4000_0000;
const RAM_BYTES: usize = 0x60_0000;
const UART_DATA: u32 = 0x8000_0100;
const UART_STATUS: u32 = 0x8000_0104;
/// Offsets in a thread's record, as in `window.h`.
const TCB_PSR: u32 = 0;
const TCB_SP: u32 = 8;
const TCB_PC: u32 = 12;
const TCB_NEXT: u32 = 20;
/// A program that executes more than this does not stop.
const STEPS_MAX: u64 = 4_000_000_000;

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

/// One word with what is needed to execute and to charge it.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    bits: u32,
    cost: [u32; 2],
}

/// Where the simulator steps in.
#[derive(Debug, Clone, Copy)]
struct Places {
    block: u32,
    leave: u32,
    wake: u32,
    idle: u32,
    stop: u32,
    threads: (u32, u32),
    thread_bytes: u32,
    idle_thread: u32,
}

/// The processor and its memory.
#[derive(Debug)]
pub struct Cpu {
    words: Vec<Word>,
    base: u32,
    memory: Vec<u8>,
    r: Registers,
    frames: Vec<[u32; 16]>,
    contexts: Vec<Option<Context>>,
    running: Option<Thread>,
    y: u32,
    flags: [bool; 4],
    pc: u32,
    npc: u32,
    places: Places,
    windows: Windows,
    save_cost: cost::Cost,
    cycles: cost::Cost,
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

const N: usize = 0;
const Z: usize = 1;
const V: usize = 2;
const C: usize = 3;

impl Cpu {
    /// The image in memory, just before `main`.
    pub fn new(code: &Code, elf: &[u8], blobs: &[Blob], machines: [&Core; 2], windows: Windows) -> Cpu {
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
            let cost = if charged(code.address_of(idx)) { cost::of_word(*bits, machines) } else { [0; 2] };
            Word { bits: *bits, cost }
        };
        let threads = code.symbols["threads"];
        let places = Places {
            block: code.address("thr_block"),
            leave: code.address("thr_leave"),
            wake: code.address("thr_wake"),
            idle: code.address("machine_idle"),
            stop: code.address("machine_stop"),
            threads: (threads.0, threads.0 + threads.1),
            thread_bytes: code.symbols["thr_idle"].1,
            idle_thread: code.address("thr_idle"),
        };
        let mut r = [0; 32];
        r[5] = places.idle_thread;
        r[7] = code.address("thr_boot");
        r[14] = code.address("boot_stack_end") - 96;
        r[15] = places.leave - 8;
        let main = code.address("main");
        Cpu {
            words: code.words.iter().enumerate().map(word).collect(),
            base: code.base,
            memory,
            r,
            frames: Vec::new(),
            contexts: Vec::new(),
            running: None,
            y: 0,
            flags: [false; 4],
            pc: main,
            npc: main + 4,
            places,
            windows,
            save_cost: cost::of_save(machines),
            cycles: [0; 2],
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
        for _ in 0..STEPS_MAX {
            let pc = self.pc;
            if pc == self.places.block {
                let next = self.take_ready();
                self.suspend();
                self.record(Event::Block(next));
                self.windows.block(next);
                self.enter(next);
            } else if pc == self.places.leave {
                let next = self.take_ready();
                if self.running.is_none() {
                    (self.cycles, self.saves, self.restores) = ([0; 2], 0, 0);
                }
                self.record(Event::Leave(next));
                self.windows.leave(next);
                self.enter(next);
            } else if pc == self.places.stop {
                (self.cycles, self.saves, self.restores) = counted.expect("the idle thread ends the machine");
                return Ok(String::from_utf8_lossy(&self.console).into_owned());
            } else {
                if pc == self.places.wake && self.running.is_some() {
                    let thread = self.thread(self.r[8]);
                    let resident = self.windows.is_resident(thread);
                    self.store32(self.r[8] + TCB_PSR, u32::from(resident));
                }
                if pc == self.places.idle {
                    counted = Some((self.cycles, self.saves, self.restores));
                    self.windows.freeze();
                    self.finished = self.events.take();
                }
                self.step();
            }
        }
        Err(vec![format!("the program was still running after {STEPS_MAX} instructions and was ended")])
    }

    /// What was counted.
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
        if record == self.places.idle_thread { 0 } else { ((record - self.places.threads.0) / self.places.thread_bytes) as usize + 1 }
    }

    fn record_of(&self, thread: Thread) -> u32 {
        if thread == 0 { self.places.idle_thread } else { self.places.threads.0 + (thread as u32 - 1) * self.places.thread_bytes }
    }

    fn take_ready(&mut self) -> Thread {
        let record = self.r[5];
        debug_assert!(record == self.places.idle_thread || (self.places.threads.0..self.places.threads.1).contains(&record));
        self.r[5] = self.load32(record + TCB_NEXT);
        if self.events.is_some() {
            let mut n_ready = 0;
            let mut at = self.r[5];
            while at != self.places.idle_thread {
                n_ready += 1;
                at = self.load32(at + TCB_NEXT);
            }
            self.ready.push(n_ready);
        }
        self.thread(record)
    }

    fn suspend(&mut self) {
        let running = self.running.expect("a thread blocks");
        let pc = self.r[15] + 8;
        self.contexts[running] = Some(Context { registers: self.r, frames: std::mem::take(&mut self.frames), pc });
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
                let sp = self.load32(record + TCB_SP);
                self.r = [0; 32];
                self.r[14] = sp;
                for idx in 0..16 {
                    self.r[16 + idx as usize] = self.load32(sp + 4 * idx);
                }
                self.frames.clear();
                self.pc = self.load32(record + TCB_PC) + 8;
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

    fn set(&mut self, rd: u32, value: u32) {
        if rd != 0 {
            self.r[rd as usize] = value;
        }
    }

    fn step(&mut self) {
        let word = self.words[((self.pc - self.base) / 4) as usize];
        let bits = word.bits;
        self.cycles = [self.cycles[0] + u64::from(word.cost[0]), self.cycles[1] + u64::from(word.cost[1])];
        let rd = bits >> 25 & 31;
        let (mut pc, mut npc) = (self.npc, self.npc.wrapping_add(4));
        match bits >> 30 {
            0 => match bits >> 22 & 7 {
                4 => self.set(rd, bits << 10),
                2 => {
                    let taken = self.condition(bits >> 25 & 15);
                    let annul = bits >> 29 & 1 == 1;
                    let target = self.pc.wrapping_add(((bits << 10) as i32 >> 8) as u32);
                    let always = bits >> 25 & 7 == 0;
                    if taken {
                        npc = target;
                    }
                    if annul && (always || !taken) {
                        (pc, npc) = (npc, npc.wrapping_add(4));
                    }
                }
                _ => self.unknown(bits),
            },
            1 => {
                self.r[15] = self.pc;
                npc = self.pc.wrapping_add(bits << 2);
            }
            2 => {
                let a = self.r[(bits >> 14 & 31) as usize];
                let b = self.operand(bits);
                match bits >> 19 & 63 {
                    0x38 => {
                        self.set(rd, self.pc);
                        npc = a.wrapping_add(b);
                    }
                    0x3a => self.windows.flush(),
                    0x3c => self.save(rd, a.wrapping_add(b)),
                    0x3d => self.restore(bits, rd, a.wrapping_add(b)),
                    op3 => self.arithmetic(op3, rd, a, b, bits),
                }
            }
            _ => {
                let address = self.r[(bits >> 14 & 31) as usize].wrapping_add(self.operand(bits));
                self.memory_access(bits >> 19 & 63, rd, address, bits);
            }
        }
        (self.pc, self.npc) = (pc, npc);
    }

    fn operand(&self, bits: u32) -> u32 {
        if bits >> 13 & 1 == 1 { ((bits << 19) as i32 >> 19) as u32 } else { self.r[(bits & 31) as usize] }
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

    fn save(&mut self, rd: u32, value: u32) {
        let frame: [u32; 16] = self.r[16..].try_into().expect("sixteen registers");
        self.frames.push(frame);
        self.r.copy_within(8..16, 24);
        self.set(rd, value);
        if self.running.is_some() {
            self.saves += 1;
            self.record(Event::Save);
            self.windows.save();
        }
    }

    fn restore(&mut self, bits: u32, rd: u32, value: u32) {
        self.r.copy_within(24..32, 8);
        let frame = self.frames.pop().expect("a thread restores what it has saved");
        self.r[16..].copy_from_slice(&frame);
        self.set(rd, value);
        if self.running.is_some() {
            self.restores += 1;
            self.record(Event::Restore(Adds::of(bits)));
            // The handler that loads in place finishes the restore itself.
            if self.windows.restore(Adds::of(bits)) {
                self.cycles = [self.cycles[0] - self.save_cost[0], self.cycles[1] - self.save_cost[1]];
            }
        }
    }

    fn arithmetic(&mut self, op3: u32, rd: u32, a: u32, b: u32, bits: u32) {
        let carry = u32::from(self.flags[C]);
        let mut overflow = false;
        let mut carries = false;
        let value = match op3 & 0x2f {
            // The operations that also come with flags, by their number without the flag bit.
            _ if op3 >= 0x20 => {
                let value = match op3 {
                    0x25 => a << (b & 31),
                    0x26 => a >> (b & 31),
                    0x27 => (a as i32 >> (b & 31)) as u32,
                    0x28 => self.y,
                    0x30 => {
                        self.y = a ^ b;
                        return;
                    }
                    _ => self.unknown(bits),
                };
                self.set(rd, value);
                return;
            }
            0x00 | 0x08 => {
                let sum = u64::from(a) + u64::from(b) + if op3 & 8 == 8 { u64::from(carry) } else { 0 };
                carries = sum >> 32 == 1;
                let value = sum as u32;
                overflow = (!(a ^ b) & (a ^ value)) >> 31 == 1;
                value
            }
            0x04 | 0x0c => {
                let borrow = if op3 & 8 == 8 { carry } else { 0 };
                let value = a.wrapping_sub(b).wrapping_sub(borrow);
                carries = u64::from(a) < u64::from(b) + u64::from(borrow);
                overflow = ((a ^ b) & (a ^ value)) >> 31 == 1;
                value
            }
            0x01 => a & b,
            0x02 => a | b,
            0x03 => a ^ b,
            0x05 => a & !b,
            0x06 => a | !b,
            0x07 => !(a ^ b),
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
            0x0f => {
                let dividend = (u64::from(self.y) << 32 | u64::from(a)) as i64;
                let quotient = dividend / i64::from(b as i32).wrapping_add(i64::from(b == 0));
                quotient.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
            }
            _ => self.unknown(bits),
        };
        if op3 & 0x10 != 0 {
            self.flags[N] = value >> 31 == 1;
            self.flags[Z] = value == 0;
            self.flags[V] = overflow;
            self.flags[C] = carries;
        }
        self.set(rd, value);
    }

    fn memory_access(&mut self, op3: u32, rd: u32, address: u32, bits: u32) {
        if address & 0xffff_ff00 == UART_DATA & 0xffff_ff00 {
            match (op3, address) {
                (4, UART_DATA) => self.console.push(self.r[rd as usize] as u8),
                (0, UART_STATUS) => self.set(rd, 4),
                _ => {}
            }
            return;
        }
        let at = address.wrapping_sub(RAM) as usize;
        match op3 {
            0x00 => self.set(rd, self.load32(address)),
            0x01 => self.set(rd, u32::from(self.memory[at])),
            0x02 => self.set(rd, u32::from(u16::from_be_bytes([self.memory[at], self.memory[at + 1]]))),
            0x03 => {
                let pair = [self.load32(address), self.load32(address + 4)];
                self.set(rd, pair[0]);
                self.set(rd | 1, pair[1]);
            }
            0x04 => self.store32(address, self.r[rd as usize]),
            0x05 => self.memory[at] = self.r[rd as usize] as u8,
            0x06 => self.memory[at..at + 2].copy_from_slice(&(self.r[rd as usize] as u16).to_be_bytes()),
            0x07 => {
                self.store32(address, self.r[rd as usize]);
                self.store32(address + 4, self.r[rd as usize | 1]);
            }
            0x09 => self.set(rd, self.memory[at] as i8 as u32),
            0x0a => self.set(rd, i16::from_be_bytes([self.memory[at], self.memory[at + 1]]) as u32),
            _ => self.unknown(bits),
        }
    }

    fn unknown(&self, bits: u32) -> ! {
        panic!("the programs use only instructions of the integer unit, but at {:#x} is {bits:#010x}, {:?}", self.pc, sparc::class(bits));
    }
}
