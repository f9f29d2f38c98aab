//! The schemes: one file each, with its state, what traps and switches do to it step by step as the
//! assembly does, what that costs, and which assembly it is.

mod adaptive;
mod allocate;
mod flat;
mod ns;
mod ring;
mod sharing;
mod snp;
mod sp;

use std::fmt::Debug;

use super::cost::{Adds, Blocks, Cost};
use super::event::Event;
use super::event::Thread;
use super::windows::Windows;
use crate::names::{Allocate, Scheme};

/// What the traps and switches of an image cost under its scheme.
pub trait Costs: Debug + Send + Sync {
    /// The scheme's rules at these costs, with `n` windows, all of them free.
    fn rules(&self, n: u32) -> Box<dyn Rules>;

    /// The most cycles that one switch can take with `n` windows, and the most that the
    /// underflows which it causes take later (of these, those that load windows it has stored
    /// of its own thread).
    fn worst_switch(&self, n: u32, machine: usize) -> (u64, u64);
}

/// What a scheme does with the windows of its threads.
pub trait Rules: Debug {
    /// The running thread executes `save`. True if it trapped.
    fn save(&mut self, windows: &mut Windows) -> bool;

    /// The running thread executes a `restore`. True if a handler finished it.
    fn restore(&mut self, windows: &mut Windows, adds: Adds) -> bool;

    /// The running thread stores all its windows but the current one.
    fn flush(&mut self, windows: &mut Windows);

    /// The running thread is suspended, its windows stay (or are stored, where they are not
    /// shared); the next runs.
    fn block(&mut self, windows: &mut Windows, next: Thread);

    /// The running thread is suspended, and none of its windows stays; the next runs.
    fn block_flush(&mut self, windows: &mut Windows, next: Thread);

    /// The running thread has ended; the next runs.
    fn leave(&mut self, windows: &mut Windows, next: Thread);

    /// True if the thread is suspended and has resident windows.
    fn is_resident(&self, thread: Thread) -> bool;

    /// All of these events. A loop for each scheme: it need not look up which it is at each event.
    fn replay(&mut self, windows: &mut Windows, events: &[u8]) {
        for &event in events {
            match Event::of(event) {
                Event::Save => drop(self.save(windows)),
                Event::Restore(adds) => drop(self.restore(windows, adds)),
                Event::Flush => self.flush(windows),
                Event::Block(next) => self.block(windows, next),
                Event::BlockFlush(next) => self.block_flush(windows, next),
                Event::Leave(next) => self.leave(windows, next),
            }
        }
    }
}

/// A scheme whose switches may have to turn floating point off.
#[derive(Debug)]
struct WithFloats {
    scheme: Box<dyn Costs>,
    drop: Cost,
}

impl Costs for WithFloats {
    fn rules(&self, n: u32) -> Box<dyn Rules> {
        self.scheme.rules(n)
    }

    fn worst_switch(&self, n: u32, machine: usize) -> (u64, u64) {
        let (switch, later) = self.scheme.worst_switch(n, machine);
        (switch + self.drop[machine], later)
    }
}

/// What a scheme costs with these blocks.
pub fn costs(scheme: Scheme, allocate: Allocate, blocks: Blocks) -> Box<dyn Costs> {
    Box::new(WithFloats { scheme: without_floats(scheme, allocate, blocks), drop: blocks.drop() })
}

fn without_floats(scheme: Scheme, allocate: Allocate, blocks: Blocks) -> Box<dyn Costs> {
    match scheme {
        Scheme::Ns => Box::new(ns::NsCosts::new(blocks)),
        Scheme::Snp => Box::new(snp::SnpCosts::new(allocate, blocks)),
        Scheme::Sp => Box::new(sp::SpCosts::new(allocate, blocks)),
        Scheme::Adaptive => Box::new(adaptive::AdaptiveCosts::new(blocks)),
        Scheme::Flat => Box::new(flat::FlatCosts::new(blocks)),
    }
}
