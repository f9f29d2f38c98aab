//! What the blocks of handlers and switches cost: read from the image, by the labels that name
//! them.

use machine::in_order::Core;

use crate::code::{self, Code};
use crate::sparc;

/// Cycles on the two machines.
pub type Cost = [u64; 2];

pub fn plus(a: Cost, b: Cost) -> Cost {
    [a[0] + b[0], a[1] + b[1]]
}

/// The larger cost, on each machine.
pub fn larger(a: Cost, b: Cost) -> Cost {
    [a[0].max(b[0]), a[1].max(b[1])]
}

/// So many times this cost.
pub fn times(n: u64, cost: Cost) -> Cost {
    cost.map(|cost| n * cost)
}

/// The labelled blocks of an image and what they cost; without an image they cost nothing.
#[derive(Debug, Clone, Copy)]
pub struct Blocks<'a> {
    image: Option<(&'a Code, [&'a Core; 2])>,
}

impl<'a> Blocks<'a> {
    /// The blocks of an image.
    pub fn new(code: &'a Code, machines: [&'a Core; 2]) -> Blocks<'a> {
        Blocks { image: Some((code, machines)) }
    }

    /// Blocks that cost nothing: only windows are counted.
    pub fn free() -> Blocks<'static> {
        Blocks { image: None }
    }

    /// True if the image has a block of this label.
    pub fn has(&self, label: &str) -> bool {
        self.image.is_some_and(|(code, _)| code.try_address(label).is_some())
    }

    /// The blocks of these labels, one after the other.
    ///
    /// Panics: if the image lacks one: the schemes ask only for blocks that it has.
    pub fn sum(&self, labels: &[&str]) -> Cost {
        self.on_both(|code, core| {
            let block = |label: &&str| {
                // Turning floating point off is a block inside another.
                let kept = format!("{label}_kept");
                let goes_on = if code.try_address(&kept).is_some() {
                    code.block_cycles(&kept, core)
                } else {
                    0
                };
                code.block_cycles(label, core) + goes_on
            };
            labels.iter().map(block).sum()
        })
    }

    /// Turning floating point off when a thread is loaded: nothing in images without it.
    pub fn drop(&self) -> Cost {
        let labels = ["take_next_drop", "load_drop", "lone_load_drop"];
        labels
            .iter()
            .find(|label| self.has(label))
            .map_or([0; 2], |label| self.on_both(|code, core| code.block_cycles(label, core)))
    }

    /// The first block of a switch, `leave` or `flush`. Where it is wrapped, what C calls is
    /// a function around it.
    pub fn switch(&self, which: &str) -> Cost {
        let wrapped = format!("switch_{which}");
        let called = format!("thr_block_{which}");
        self.sum(&[if self.has(&wrapped) { &wrapped } else { &called }])
    }

    /// A trap that is taken, and its vector.
    pub fn trap(&self, vector: &str) -> Cost {
        self.on_both(|code, core| {
            let at = code.address(vector);
            code.cycles(at..at + code::VECTOR_BYTES, core)
                + u64::from(core.trap_cycles.unwrap_or(0))
        })
    }

    /// The way to one register by its number: two words, of each table in `registers.h`.
    pub fn register(&self, table: &str) -> Cost {
        self.on_both(|code, core| code.cycles(code.address(table)..code.address(table) + 8, core))
    }

    fn on_both(&self, cycles: impl Fn(&Code, &Core) -> u64) -> Cost {
        self.image.map_or([0; 2], |(code, machines)| machines.map(|core| cycles(code, core)))
    }
}

/// What a restore adds, as far as the in-place underflow handlers go different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adds(u8);

impl Adds {
    pub const N_FORMS: usize = 9;
    /// Its target is `%g0`.
    pub const NOTHING: Adds = Adds(0);

    /// What this restore adds.
    pub fn of(word: u32) -> Adds {
        let (to, first, constant) = (word >> 25 & 31, word >> 14 & 31, word >> 13 & 1);
        if to == 0 {
            Adds::NOTHING
        } else {
            Adds(1 + u8::from(constant == 0) + 2 * u8::from(first != 0) + 4 * u8::from(to != 8))
        }
    }

    /// Its number, below [`Adds::N_FORMS`].
    pub fn form(self) -> usize {
        usize::from(self.0)
    }

    /// The form of this number.
    pub fn from_form(form: u8) -> Option<Adds> {
        (usize::from(form) < Adds::N_FORMS).then_some(Adds(form))
    }

    /// A value of each form, in the order of their numbers.
    pub fn each<T>(value: impl Fn(Adds) -> T) -> [T; Adds::N_FORMS] {
        std::array::from_fn(|it| value(Adds(it as u8)))
    }

    /// The second operand is a register.
    pub fn has_register(self) -> bool {
        self.0 > 0 && (self.0 - 1) & 1 == 1
    }

    /// The first operand is not `%g0`.
    pub fn has_first(self) -> bool {
        self.0 > 0 && (self.0 - 1) & 2 == 2
    }

    /// The target is not the first out register.
    pub fn goes_elsewhere(self) -> bool {
        self.0 > 0 && (self.0 - 1) & 4 == 4
    }
}

/// Cycles of a word on the two machines.
pub fn of_word(word: u32, machines: [&Core; 2]) -> [u32; 2] {
    machines.map(|core| code::cycles(word, core) as u32)
}

/// Cycles of a `save`: what a trapped one does not cost.
pub fn of_save(machines: [&Core; 2]) -> Cost {
    machines.map(|core| u64::from(core.work(sparc::class(0x9de3_bfa0)).issue_cycles))
}

/// A switch in the making.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub spilled: u32,
    pub restored: u32,
    pub cost: Cost,
}

impl Sum {
    /// A switch that has cost so much.
    pub fn of(cost: Cost) -> Sum {
        Sum { cost, ..Sum::default() }
    }

    pub fn add(&mut self, cost: Cost) {
        self.cost = [self.cost[0] + cost[0], self.cost[1] + cost[1]];
    }

    pub fn add_times(&mut self, cost: Cost, times: u32) {
        self.add(cost.map(|cost| cost * u64::from(times)));
    }
}
