//! What a run of any image comes to: instructions, windows opened and closed, traps, cycles.
//!
//! Both worlds say how often each word was executed, and how many traps of each type there were;
//! everything else follows from that here, so that the two can be compared.

use std::collections::BTreeMap;

use machine::in_order::Core;

use crate::board::image::Image;
use crate::board::{Board, OVERFLOW, UNDERFLOW};
use crate::code;
use crate::qemu::Raw;
use crate::sim::cost;
use crate::sparc;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Executed words of the image, trapped attempts too.
    pub instructions: u64,
    /// `save` and `restore` that were finished, those of trap handlers too.
    pub saves: u64,
    pub restores: u64,
    /// How often each type of trap was taken.
    pub traps: BTreeMap<u8, u64>,
    /// On each of the two machines.
    pub cycles: [u64; 2],
}

impl Tally {
    /// What the board counted so far.
    pub fn of_board(image: &Image, board: &Board, machines: [&Core; 2]) -> Tally {
        Tally::new(image, &board.words(), board.traps().clone(), machines)
    }

    /// Of a run under QEMU. A trap is the first word of its vector.
    pub fn of_qemu(image: &Image, raw: &Raw, machines: [&Core; 2]) -> Tally {
        let mut tables = raw.tables.clone();
        tables.extend(image.library.iter().flat_map(|library| &library.tables));
        tables.sort_unstable();
        tables.dedup();
        let mut traps = BTreeMap::new();
        for (at, times) in &raw.words {
            let is_vector = tables.contains(&(at & !0xfff)) && at % code::VECTOR_BYTES == 0;
            // The first vector is where the processor begins, not a trap.
            if is_vector && at & 0xff0 != 0 {
                *traps.entry((at >> 4 & 255) as u8).or_default() += times;
            }
        }
        Tally::new(image, &raw.words, traps, machines)
    }

    fn new(
        image: &Image,
        words: &[(u32, u64)],
        traps: BTreeMap<u8, u64>,
        machines: [&Core; 2],
    ) -> Tally {
        let mut tally = Tally { traps, ..Tally::default() };
        for (at, times) in words {
            let word = image.word(*at).unwrap_or(0);
            tally.instructions += times;
            tally.saves += if sparc::is_save(word) { *times } else { 0 };
            tally.restores += if sparc::is_restore(word) { *times } else { 0 };
            for (cycles, core) in tally.cycles.iter_mut().zip(machines) {
                *cycles += times * code::cycles(word, core);
            }
        }
        // A trapped attempt was not finished, and costs what taking a trap does.
        let window_traps = tally.trapped(OVERFLOW) + tally.trapped(UNDERFLOW);
        tally.saves = tally.saves.saturating_sub(tally.trapped(OVERFLOW));
        tally.restores = tally.restores.saturating_sub(tally.trapped(UNDERFLOW));
        let n_traps: u64 = tally.traps.values().sum();
        let attempt = cost::of_save(machines);
        for (machine, core) in machines.iter().enumerate() {
            tally.cycles[machine] += n_traps * u64::from(core.trap_cycles.unwrap_or(0));
            tally.cycles[machine] -= (window_traps * attempt[machine]).min(tally.cycles[machine]);
        }
        tally
    }

    /// Traps of a type.
    pub fn trapped(&self, trap: u8) -> u64 {
        self.traps.get(&trap).copied().unwrap_or(0)
    }

    /// Traps other than those of windows.
    pub fn other_traps(&self) -> u64 {
        let windows = self.trapped(OVERFLOW) + self.trapped(UNDERFLOW);
        self.traps.values().sum::<u64>() - windows
    }

    /// True if an interrupt came: then two worlds with clocks of their own may differ.
    pub fn was_interrupted(&self) -> bool {
        self.traps.keys().any(|trap| (0x11..=0x1f).contains(trap))
    }
}
