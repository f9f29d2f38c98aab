//! A run as a line of events: recorded once, replayed with any number of windows.
//!
//! A trace holds what the application did. With the FIFO schedule that is the same for every scheme
//! and window count, so one execution of the instructions serves them all.

use machine::in_order::Core;

use super::cost::{self, Adds, Cost, Costs};
use super::cpu::Cpu;
use super::windows::{Thread, Windows};
use crate::code::Code;
use crate::counts::Counts;
use crate::names::Scheme;
use crate::qemu::Blob;
use crate::work::Fault;

/// One event; a byte of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A `save`.
    Save,
    /// A `restore`.
    Restore(Adds),
    /// The running thread is suspended, this one runs.
    Block(Thread),
    /// The running thread has ended, this one runs.
    Leave(Thread),
}

const BLOCK: u8 = 0x40;
const LEAVE: u8 = 0x80;

impl Event {
    /// As a byte.
    pub fn byte(self) -> u8 {
        match self {
            Event::Save => 0,
            Event::Restore(Adds::Nothing) => 1,
            Event::Restore(Adds::Immediate) => 2,
            Event::Restore(Adds::Register) => 3,
            Event::Block(thread) => BLOCK | thread as u8,
            Event::Leave(thread) => LEAVE | thread as u8,
        }
    }
}

/// The events of a run and what its application costs.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The events.
    pub events: Vec<u8>,
    /// What is counted of the application; nothing trapped.
    pub counts: Counts,
    save_cost: Cost,
}

/// Runs an image without any window trap and records the events.
pub fn record(code: &Code, elf: &[u8], blobs: &[Blob], threads: &[String], machines: [&Core; 2]) -> Result<Trace, Fault> {
    let mut cpu = Cpu::new(code, elf, blobs, machines, Windows::new(Scheme::Flat, 32, Costs::default()));
    cpu.events = Some(Vec::new());
    cpu.run().map_err(Fault::Program)?;
    let mut counts = cpu.counts();
    counts.switches = threads.iter().zip(&cpu.switches_to(threads.len())).map(|(name, n)| (name.clone(), *n)).collect();
    let events = cpu.finished.take().expect("a run that ends has its events");
    Ok(Trace { events, counts, save_cost: cost::of_save(machines) })
}

impl Trace {
    /// The run under a scheme that shares windows or not, with so many windows.
    pub fn replay(&self, scheme: Scheme, n_windows: u32, costs: &Costs) -> Counts {
        let mut windows = Windows::new(scheme, n_windows, costs.clone());
        for &event in &self.events {
            match event {
                0 => drop(windows.save()),
                1 => drop(windows.restore(Adds::Nothing)),
                2 => drop(windows.restore(Adds::Immediate)),
                3 => drop(windows.restore(Adds::Register)),
                _ if event & LEAVE == 0 => windows.block(Thread::from(event & 0x3f)),
                _ => windows.leave(Thread::from(event & 0x3f)),
            }
        }
        let mut counts = windows.counts();
        counts.switches = self.counts.switches.clone();
        counts.saves = self.counts.saves;
        counts.restores = self.counts.restores;
        for (machine, cycles) in counts.cycles.iter_mut().enumerate() {
            // The handler that loads in place finishes the restore itself.
            let saved = if scheme.shares() { counts.underflows * self.save_cost[machine] } else { 0 };
            cycles.application = self.counts.cycles[machine].application - saved;
        }
        counts
    }
}
