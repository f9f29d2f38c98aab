//! Cycles of a block on an out-of-order core, from the machine file: together with the loads and
//! stores, what the search for an order minimises.
//!
//! Instructions issue in order, up to the width in each cycle, while the scheduler has room for
//! those that wait and the window for those in flight; each starts when its operands are ready and
//! a unit is free. A model, good for comparing orders of one block.

use std::collections::VecDeque;

use machine::{Class, Machine};

use super::sink::{Count, Sink, ValuePlace};
use super::steps::{Step, StepKind};

/// Entries of the scheduler, which hold instructions that wait for operands. Skylake and Golden
/// Cove have 97; Zen 4 has four times 24 for scalar and two times 32 for vector instructions.
/// Source: Fog, "The microarchitecture of Intel, AMD and VIA CPUs", 2024.
const WAITING_MAX: u32 = 96;
/// How many cycles ahead units are reserved.
const RING: usize = 2048;

/// A core with its registers, and what was counted.
#[derive(Debug, Clone)]
pub struct Model {
    /// Loads, stores and moves.
    pub count: Count,
    /// The units and the latency of each class.
    classes: Vec<(u32, u32)>,
    width: u32,
    window: usize,
    ready: [u32; 32],
    slots: Vec<u32>,
    /// Units taken and instructions started, by cycle.
    ring: Vec<(u32, u32, u32)>,
    now: u32,
    entered: u32,
    waiting: u32,
    finished: VecDeque<u32>,
    last: u32,
    /// When each carried value in memory was stored: in the last iteration, and in this one.
    kept: [Vec<u32>; 2],
    stored: u32,
    carried: u32,
}

impl Model {
    pub fn new(machine: &Machine, kind: machine::Kind) -> Model {
        let of = |class: &Class| {
            let it = machine.operation(kind, *class);
            (it.units.0, it.latency_cycles)
        };
        Model {
            count: Count::default(),
            classes: Class::ALL.iter().map(of).collect(),
            width: machine.issue_width,
            window: machine.window as usize,
            ready: [0; 32],
            slots: Vec::new(),
            ring: vec![(u32::MAX, 0, 0); RING],
            now: 0,
            entered: 0,
            waiting: 0,
            finished: VecDeque::new(),
            last: 0,
            kept: [Vec::new(), Vec::new()],
            stored: 0,
            carried: 0,
        }
    }

    pub fn reset(&mut self) {
        self.count = Count::default();
        self.ready = [0; 32];
        self.slots.clear();
        self.ring.fill((u32::MAX, 0, 0));
        (self.now, self.entered, self.waiting, self.last) = (0, 0, 0, 0);
        self.finished.clear();
        self.kept.iter_mut().for_each(Vec::clear);
    }

    /// Begins the next iteration.
    pub fn next_iteration(&mut self) {
        self.kept.swap(0, 1);
        self.kept[1].clear();
    }

    /// The cycle in which everything so far is done.
    pub fn end(&self) -> u32 {
        self.last
    }

    fn next_cycle(&mut self) {
        let (cycle, _, started) = self.ring[self.now as usize % RING];
        if cycle == self.now {
            self.waiting -= started;
        }
        self.now += 1;
        self.entered = 0;
    }

    fn start(&mut self, class: Class, ready: u32) -> u32 {
        let (units, latency) = self.classes[class as usize];
        if self.entered == self.width {
            self.next_cycle();
        }
        while self.waiting >= WAITING_MAX {
            self.next_cycle();
        }
        if self.finished.len() == self.window {
            let first = self.finished.pop_front().unwrap_or(0);
            while self.now < first {
                self.next_cycle();
            }
        }
        self.entered += 1;
        let mut at = ready.max(self.now);
        loop {
            let slot = &mut self.ring[at as usize % RING];
            if slot.0 != at {
                *slot = (at, 0, 0);
            }
            let free = units & !slot.1;
            if free != 0 {
                slot.1 |= free & free.wrapping_neg();
                slot.2 += 1;
                break;
            }
            at += 1;
        }
        self.waiting += 1;
        let done = at + latency;
        self.last = self.last.max(done);
        let in_order = self.finished.back().copied().unwrap_or(0).max(done);
        self.finished.push_back(in_order);
        done
    }

    fn arrives(&mut self, place: ValuePlace) -> u32 {
        match place {
            ValuePlace::Register(register) => self.ready[register as usize],
            ValuePlace::Immediate(_) => 0,
            ValuePlace::Slot(slot) => {
                let stored = self.slots.get(slot as usize).copied().unwrap_or(0);
                self.read(stored)
            }
            ValuePlace::Based(register, _) => {
                let stored = std::mem::take(&mut self.carried);
                self.read(stored.max(self.ready[register as usize]))
            }
            ValuePlace::Memory(_) => {
                let stored = std::mem::take(&mut self.carried);
                self.read(stored)
            }
            ValuePlace::Constant(_) => self.read(0),
        }
    }

    /// A folded load: it takes a load unit, but no issue slot of its own.
    fn read(&mut self, ready: u32) -> u32 {
        self.entered = self.entered.saturating_sub(1);
        self.start(Class::Load, ready)
    }
}

fn class(kind: StepKind) -> Class {
    match kind {
        StepKind::And | StepKind::Or | StepKind::Xor | StepKind::AndNot | StepKind::Not => {
            Class::Logic
        }
        StepKind::Ternary(_) => Class::Ternary,
        StepKind::Add | StepKind::Sub => Class::Add,
        StepKind::Mul => Class::Mul,
        StepKind::Shl(_) | StepKind::Shr(_) | StepKind::Sar(_) | StepKind::Rotl(_) => Class::Shift,
        StepKind::Bytes | StepKind::Swap => Class::Shuffle,
        StepKind::Store(_) | StepKind::Keep(_) => Class::Store,
    }
}

impl Sink for Model {
    fn operate(&mut self, step: &Step, kind: StepKind, dst: u8, args: &[ValuePlace]) {
        self.count.operate(step, kind, dst, args);
        let mut ready = 0;
        for place in args {
            ready = ready.max(self.arrives(*place));
        }
        self.ready[dst as usize] = self.start(class(kind), ready);
    }

    fn load(&mut self, dst: u8, place: ValuePlace) {
        self.count.load(dst, place);
        self.ready[dst as usize] = match place {
            ValuePlace::Immediate(_) => self.start(Class::Move, 0),
            ValuePlace::Slot(slot) => {
                let stored = self.slots.get(slot as usize).copied().unwrap_or(0);
                self.start(Class::Load, stored)
            }
            ValuePlace::Based(register, _) => {
                let stored = std::mem::take(&mut self.carried);
                self.start(Class::Load, stored.max(self.ready[register as usize]))
            }
            _ => {
                let stored = std::mem::take(&mut self.carried);
                self.start(Class::Load, stored)
            }
        };
    }

    fn store(&mut self, place: ValuePlace, src: u8) {
        self.count.store(place, src);
        let done = self.start(Class::Store, self.ready[src as usize]);
        self.stored = done;
        if let ValuePlace::Slot(slot) = place {
            if self.slots.len() <= slot as usize {
                self.slots.resize(slot as usize + 1, 0);
            }
            self.slots[slot as usize] = done;
        }
    }

    fn load_address(&mut self, dst: u8, address: u32) {
        self.count.load_address(dst, address);
        self.ready[dst as usize] = self.start(Class::Load, 0);
    }

    fn copy(&mut self, dst: u8, src: u8) {
        self.count.copy(dst, src);
        // Most cores eliminate moves by renaming.
        self.ready[dst as usize] = self.ready[src as usize].max(self.now);
        self.entered += 1;
        if self.entered >= self.width {
            self.next_cycle();
        }
    }

    fn kept(&mut self, carried: u32) {
        let kept = &mut self.kept[1];
        if kept.len() <= carried as usize {
            kept.resize(carried as usize + 1, 0);
        }
        kept[carried as usize] = self.stored;
    }

    fn carried(&mut self, carried: u32) {
        self.carried = self.kept[0].get(carried as usize).copied().unwrap_or(0);
    }
}
