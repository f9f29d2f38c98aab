//! A LEON3 board as a program sees it: every instruction of an image executed with as many windows
//! as there are, those of its trap handlers and switches too.
//!
//! The board is QEMU's `leon3_generic`. Whatever is linked for it runs, with whatever runtime; what
//! runs with the library of `regwin build` says besides which thread runs.

mod arithmetic;
mod devices;
mod floats;
pub mod image;
mod step;

use std::collections::BTreeMap;

use machine::in_order::Core;

use crate::code;
use crate::sim::cost::Adds;
use crate::sparc;
use arithmetic::Flags;
use devices::Devices;
use floats::FloatUnit;
use image::{Image, Switch};

/// Memory of the board.
pub const RAM: u32 = 0x4000_0000;
pub const RAM_BYTES: u32 = 128 << 20;
/// Types of traps that others name, too.
pub const OVERFLOW: u8 = 5;
pub const UNDERFLOW: u8 = 6;
pub const FLUSH: u8 = 0x83;
const STOP: u8 = 0x80;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By `ta 0` with traps off, as programs stop QEMU.
    Stopped,
    /// A trap while traps were off: the processor halts.
    Halted {
        trap: u8,
        pc: u32,
        /// The trap whose handler it was in, and where that came.
        handles: Option<(u8, u32)>,
    },
    /// Something that the board does not have.
    Fault { why: String, pc: u32 },
    /// In a loop of one branch to itself that no interrupt ends, the branch reached so many times.
    Loops { pc: u32, times: u64 },
    /// In power-down, and no interrupt ends it; the instruction reached so many times.
    Sleeps { pc: u32, times: u64 },
    /// It was still running after as many instructions as it was given.
    Limit,
}

impl Ended {
    /// As in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Ended::Stopped => "stopped",
            Ended::Halted { .. } => "halted",
            Ended::Fault { .. } => "fault",
            Ended::Loops { .. } => "loops",
            Ended::Sleeps { .. } => "sleeps",
            Ended::Limit => "limit",
        }
    }
}

/// What keeps an instruction from being finished.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Trap(u8),
    /// There is no memory at this address; true for a store.
    Nowhere(u32, bool),
    NotSimulated,
}

/// Who looks on while an image runs. Told of what the program does, not of what its window traps and
/// switches do.
pub trait Onlooker {
    /// A `save` was executed.
    fn saved(&mut self, pc: u32);
    /// A `restore` was; or the handler of its trap finished it.
    fn restored(&mut self, pc: u32, adds: Adds, by_handler: bool);
    /// A trap is taken.
    fn trapped(&mut self, trap: u8, pc: u32, board: &Board);
    /// A switch begins, in the thread that is suspended.
    fn leaving(&mut self, board: &Board);
    /// It is over: this record's thread runs.
    fn switched(&mut self, how: Switch, record: u32, board: &Board);
    /// The program finds that no thread is ready.
    fn idle(&mut self, board: &Board);
}

/// For a run that nobody looks at.
impl Onlooker for () {
    fn saved(&mut self, _pc: u32) {}
    fn restored(&mut self, _pc: u32, _adds: Adds, _by_handler: bool) {}
    fn trapped(&mut self, _trap: u8, _pc: u32, _board: &Board) {}
    fn leaving(&mut self, _board: &Board) {}
    fn switched(&mut self, _how: Switch, _record: u32, _board: &Board) {}
    fn idle(&mut self, _board: &Board) {}
}

/// What is known of a word of the image.
#[derive(Debug, Clone, Copy, Default)]
struct WordState {
    times: u64,
    /// Cycles on the two machines, 32 bits each.
    cost: u64,
    /// A switch begins here, or the idle loop.
    special: Option<Special>,
}

#[derive(Debug, Clone, Copy)]
enum Special {
    Switch(Switch),
    Idle,
}

/// Whose cycles are being counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Program,
    WindowTraps,
    Switches,
}

/// Cycles are summed apart for so many instructions: they fit into 32 bits.
const STEPS_A_SUM: u64 = 1 << 20;

#[derive(Debug)]
pub struct Board {
    r: [u32; 32],
    /// Outs and locals of the windows that are not the current one.
    windows: Vec<[u32; 16]>,
    cwp: u32,
    wim: u32,
    tbr: u32,
    y: u32,
    flags: Flags,
    /// The state register without flags and window.
    state: u32,
    pc: u32,
    npc: u32,
    float: FloatUnit,
    memory: Vec<u8>,
    devices: Devices,
    base: u32,
    places: Vec<WordState>,
    n_executed: u64,
    /// Where devices are looked at next.
    until: u64,
    /// Instructions that would have been executed in power-down.
    n_slept: u64,
    n_cycles: [[u64; 2]; 3],
    recent: [u64; 3],
    traps: BTreeMap<u8, u64>,
    /// Traps inside each other since a window trap was taken.
    window_traps: u32,
    /// The trap that is being handled, and where it came.
    handles: Option<(u8, u32)>,
    /// The restore whose trap is being handled.
    underflowing: Option<(u32, u32)>,
    /// The switch that is being executed, and where such code is.
    switching: Option<Switch>,
    switches: std::ops::Range<u32>,
    /// Something besides the next instruction is to be looked at.
    attention: bool,
    sleeps: bool,
    /// The instruction that went into power-down.
    waits_at: u32,
    /// A branch to itself that was just executed.
    loops: Option<u32>,
    machines: [Core; 2],
}

/// Bits of the state register.
mod psr {
    pub const TRAPS: u32 = 1 << 5;
    pub const BEFORE: u32 = 1 << 6;
    pub const SUPERVISOR: u32 = 1 << 7;
    pub const FLOAT: u32 = 1 << 12;
    /// What `wr` writes, but flags and window.
    pub const WRITTEN: u32 = 0x0000_3fe0;
    /// Implementation and version of LEON3.
    pub const LEON3: u32 = 0xf300_0000;
}

impl Board {
    /// The image in memory, before its first instruction.
    pub fn new(image: &Image, n_windows: u32, machines: [&Core; 2]) -> Board {
        let mut memory = vec![0; RAM_BYTES as usize];
        for (address, bytes) in &image.segments {
            let at = (address - RAM) as usize;
            memory[at..at + bytes.len()].copy_from_slice(bytes);
        }
        let mut r = [0; 32];
        (r[1], r[14]) = (image.entry, RAM + RAM_BYTES);
        let mut board = Board {
            r,
            windows: vec![[0; 16]; n_windows as usize],
            cwp: 0,
            wim: 0,
            tbr: 0,
            y: 0,
            flags: Flags::default(),
            state: psr::SUPERVISOR | psr::BEFORE,
            pc: image.entry,
            npc: image.entry + 4,
            float: FloatUnit::new(),
            memory,
            devices: Devices::new(),
            base: image.code.start,
            places: vec![WordState::default(); image.code.len() / 4],
            n_executed: 0,
            until: 0,
            n_slept: 0,
            n_cycles: [[0; 2]; 3],
            recent: [0; 3],
            traps: BTreeMap::new(),
            window_traps: 0,
            handles: None,
            underflowing: None,
            switching: None,
            switches: 0..0,
            attention: false,
            sleeps: false,
            waits_at: 0,
            loops: None,
            machines: machines.map(Clone::clone),
        };
        for at in image.code.clone().step_by(4) {
            board.price(at);
        }
        if let Some(library) = &image.library {
            board.switches = library.switches.clone();
            for (at, switch) in &library.entries {
                board.place_mut(*at).special = Some(Special::Switch(*switch));
            }
            board.place_mut(library.idle).special = Some(Special::Idle);
        }
        board
    }

    fn place_mut(&mut self, at: u32) -> &mut WordState {
        &mut self.places[(at.wrapping_sub(self.base) / 4) as usize]
    }

    /// What a word of the image costs, as it is now.
    fn price(&mut self, at: u32) {
        let word = self.peek(at).expect("the image is in memory");
        let [first, second] = [0, 1].map(|idx| code::cycles(word, &self.machines[idx]));
        self.place_mut(at).cost = first | second << 32;
    }

    /// The word in memory here.
    pub fn peek(&self, address: u32) -> Option<u32> {
        let at = address.wrapping_sub(RAM) as usize;
        let bytes = self.memory.get(at..at + 4)?;
        Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// The text that begins here, if one does.
    pub fn text(&self, address: u32) -> Option<String> {
        let bytes = self.memory.get(address.wrapping_sub(RAM) as usize..)?;
        let end = bytes.iter().take(64).position(|byte| *byte == 0)?;
        let is_text = end > 0 && bytes[..end].iter().all(u8::is_ascii_graphic);
        is_text.then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// What was written on the console.
    pub fn console(&self) -> String {
        String::from_utf8_lossy(&self.devices.console).into_owned()
    }

    /// How often each word of the image was executed, trapped attempts too.
    pub fn words(&self) -> Vec<(u32, u64)> {
        let places = self.places.iter().enumerate().filter(|(_, place)| place.times > 0);
        places.map(|(idx, place)| (self.base + 4 * idx as u32, place.times)).collect()
    }

    /// How often each type of trap was taken.
    pub fn traps(&self) -> &BTreeMap<u8, u64> {
        &self.traps
    }

    /// Cycles on the two machines so far, of instructions that were finished.
    pub fn cycles(&self, part: Part) -> [u64; 2] {
        let (sum, recent) = (self.n_cycles[part as usize], self.recent[part as usize]);
        [sum[0] + (recent & 0xffff_ffff), sum[1] + (recent >> 32)]
    }

    /// Runs until the end, or until so many instructions were executed.
    pub fn run(&mut self, limit: u64, onlooker: &mut impl Onlooker) -> Ended {
        loop {
            let now = self.n_executed + self.n_slept;
            self.devices.advance(now);
            self.attention |= self.devices.level() != 0;
            let event = self.devices.next_event().saturating_sub(self.n_slept);
            self.until = limit.min(event).min(self.n_executed + STEPS_A_SUM);
            while self.n_executed < self.until {
                if self.attention
                    && let Some(ended) = self.attend(onlooker)
                {
                    return ended;
                }
                if let Err(ended) = self.execute(onlooker) {
                    return ended;
                }
            }
            for part in [Part::Program, Part::WindowTraps, Part::Switches] {
                self.n_cycles[part as usize] = self.cycles(part);
            }
            self.recent = [0; 3];
            if self.n_executed >= limit {
                return Ended::Limit;
            }
        }
    }

    #[inline(always)]
    fn execute(&mut self, onlooker: &mut impl Onlooker) -> Result<(), Ended> {
        let pc = self.pc;
        let at = pc.wrapping_sub(RAM) as usize;
        let Some(bytes) = self.memory.get(at..at + 4) else {
            return Err(self.fault(format!("it executes {pc:#x}, where there is no memory")));
        };
        let word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        self.n_executed += 1;
        let mut cost = 0;
        if let Some(place) = self.places.get_mut((pc.wrapping_sub(self.base) / 4) as usize) {
            place.times += 1;
            cost = place.cost;
            if let Some(special) = place.special {
                self.begin(special, onlooker);
            }
        }
        let part = self.part() as usize;
        match self.step(word, onlooker) {
            Ok(()) => {
                self.recent[part] += cost;
                Ok(())
            }
            Err(Stop::Trap(trap)) => self.trap(trap, word, onlooker),
            Err(Stop::Nowhere(address, stores)) => {
                let verb = if stores { "writes" } else { "reads" };
                Err(self.fault(format!("it {verb} {address:#x}, where the board has nothing")))
            }
            Err(Stop::NotSimulated) => {
                Err(self.fault(format!("the simulator does not execute {word:#010x}")))
            }
        }
    }

    fn fault(&self, why: String) -> Ended {
        Ended::Fault { why, pc: self.pc }
    }

    #[inline]
    fn part(&self) -> Part {
        if self.switching.is_some() {
            Part::Switches
        } else if self.window_traps > 0 {
            Part::WindowTraps
        } else {
            Part::Program
        }
    }

    /// True while the program's own instructions are executed.
    #[inline]
    fn is_program(&self) -> bool {
        self.state & psr::TRAPS != 0 && self.part() == Part::Program
    }

    #[cold]
    fn begin(&mut self, special: Special, onlooker: &mut impl Onlooker) {
        match special {
            Special::Switch(how) => {
                onlooker.leaving(self);
                self.switching = Some(how);
                self.attention = true;
            }
            Special::Idle => onlooker.idle(self),
        }
    }

    /// What is to be looked at before the next instruction.
    #[cold]
    fn attend(&mut self, onlooker: &mut impl Onlooker) -> Option<Ended> {
        if let Some(how) = self.switching
            && !self.switches.contains(&self.pc)
        {
            self.switching = None;
            onlooker.switched(how, self.r[7], self);
        }
        let traps_on = self.state & psr::TRAPS != 0;
        if self.window_traps == 0
            && let Some((pc, word)) = self.underflowing.take()
            && pc != self.pc
        {
            onlooker.restored(pc, Adds::of(word), true);
        }
        let waits = self.sleeps || self.loops.is_some();
        if waits && !(traps_on && self.devices.may_interrupt()) {
            let pc = self.loops.unwrap_or(self.waits_at);
            let place = self.places.get_mut((pc.wrapping_sub(self.base) / 4) as usize);
            let times = place.as_ref().map_or(0, |place| place.times);
            // The end is before it.
            if let Some(place) = place {
                place.times -= 1;
            }
            return Some(match self.loops {
                Some(_) => Ended::Loops { pc, times },
                None => Ended::Sleeps { pc, times },
            });
        }
        while std::mem::take(&mut self.sleeps) && self.devices.level() == 0 {
            let now = self.n_executed + self.n_slept;
            let next = self.devices.next_event().max(now);
            self.n_slept += next - now;
            self.devices.advance(next);
            (self.sleeps, self.until) = (true, 0);
        }
        let level = self.devices.level();
        if traps_on && level > 0 && (level == 15 || level > self.state >> 8 & 15) {
            self.devices.acknowledge(level);
            self.enter(0x10 + level as u8, onlooker);
        }
        self.loops = None;
        self.attention =
            self.switching.is_some() || self.underflowing.is_some() || self.devices.level() > 0;
        None
    }

    /// The instruction at the program counter traps.
    #[cold]
    fn trap(&mut self, trap: u8, word: u32, onlooker: &mut impl Onlooker) -> Result<(), Ended> {
        if self.state & psr::TRAPS == 0 {
            let pc = self.pc;
            return Err(if trap == STOP {
                Ended::Stopped
            } else {
                Ended::Halted { trap, pc, handles: self.handles }
            });
        }
        if trap == UNDERFLOW && self.is_program() && sparc::is_restore(word) {
            self.underflowing = Some((self.pc, word));
            self.attention = true;
        }
        self.enter(trap, onlooker);
        Ok(())
    }

    /// Enters the handler of a trap.
    fn enter(&mut self, trap: u8, onlooker: &mut impl Onlooker) {
        *self.traps.entry(trap).or_default() += 1;
        if self.is_program() {
            onlooker.trapped(trap, self.pc, self);
        }
        if self.window_traps > 0 || matches!(trap, OVERFLOW | UNDERFLOW | FLUSH) {
            self.window_traps += 1;
        }
        self.handles = Some((trap, self.pc));
        let before = if self.state & psr::SUPERVISOR != 0 { psr::BEFORE } else { 0 };
        self.state = self.state & !(psr::TRAPS | psr::BEFORE) | before | psr::SUPERVISOR;
        self.go_to(self.above());
        (self.r[17], self.r[18]) = (self.pc, self.npc);
        self.tbr = self.tbr & !0xff0 | u32::from(trap) << 4;
        (self.pc, self.npc) = (self.tbr, self.tbr + 4);
    }

    fn n_windows(&self) -> u32 {
        self.windows.len() as u32
    }

    /// The window that a `save` enters.
    fn above(&self) -> u32 {
        if self.cwp == 0 { self.n_windows() - 1 } else { self.cwp - 1 }
    }

    fn below(&self) -> u32 {
        if self.cwp + 1 == self.n_windows() { 0 } else { self.cwp + 1 }
    }

    /// Makes another window the current one.
    fn go_to(&mut self, window: u32) {
        let ins = |window: u32| (window as usize + 1) % self.windows.len();
        let (old, new) = (self.cwp, window);
        let (old_ins, new_ins) = (ins(old), ins(new));
        self.windows[old as usize].copy_from_slice(&self.r[8..24]);
        self.windows[old_ins][..8].copy_from_slice(&self.r[24..32]);
        self.r[8..24].copy_from_slice(&self.windows[new as usize]);
        self.r[24..32].copy_from_slice(&self.windows[new_ins][..8]);
        self.cwp = window;
    }
}
