//! `flat`: code without windows; a switch moves sixteen registers.

use super::{Costs, Rules};
use crate::sim::cost::Sum;
use crate::sim::cost::{Adds, Blocks, Cost, plus};
use crate::sim::event::Thread;
use crate::sim::windows::Windows;

#[derive(Debug, Clone, Copy)]
pub struct FlatCosts {
    /// Registers out and in.
    block: Cost,
    leave: Cost,
}

impl FlatCosts {
    pub fn new(blocks: Blocks) -> FlatCosts {
        let load = blocks.sum(&["take_next", "thr_to"]);
        FlatCosts {
            block: plus(blocks.switch("leave"), load),
            leave: plus(blocks.sum(&["thr_leave"]), load),
        }
    }
}

impl Costs for FlatCosts {
    fn rules(&self, _n: u32) -> Box<dyn Rules> {
        Box::new(Flat(*self))
    }

    fn worst_switch(&self, _n: u32, machine: usize) -> (u64, u64) {
        (self.block[machine], 0)
    }
}

#[derive(Debug)]
struct Flat(FlatCosts);

impl Rules for Flat {
    fn save(&mut self, _windows: &mut Windows) -> bool {
        false
    }

    fn restore(&mut self, _windows: &mut Windows, _adds: Adds) -> bool {
        false
    }

    fn flush(&mut self, _windows: &mut Windows) {}

    fn block(&mut self, windows: &mut Windows, next: Thread) {
        windows.switched(next, &Sum { spilled: 1, restored: 1, ..Sum::of(self.0.block) });
    }

    fn block_flush(&mut self, windows: &mut Windows, next: Thread) {
        self.block(windows, next);
    }

    fn leave(&mut self, windows: &mut Windows, next: Thread) {
        windows.switched(next, &Sum { restored: 1, ..Sum::of(self.0.leave) });
    }

    fn is_resident(&self, _thread: Thread) -> bool {
        false
    }
}
