//! What a program is compiled with: its slicing, its loops and calls, its schedule.

use crate::ir;
use crate::passes::inline::{Inline, Thresholds};
use crate::passes::schedule_mslice;
use crate::target::Target;

/// How the bits of words lie in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Slicing {
    /// Every bit in a register of its own.
    #[serde(rename = "b")]
    Bit,
    /// A word in a lane.
    #[serde(rename = "v")]
    Vertical,
    /// The bits of a word in different elements.
    #[serde(rename = "h")]
    Horizontal,
}

impl Slicing {
    /// `b`, `v` or `h`.
    pub fn letter(self) -> &'static str {
        match self {
            Slicing::Bit => "b",
            Slicing::Vertical => "v",
            Slicing::Horizontal => "h",
        }
    }

    /// The slicing of this letter.
    pub fn from_letter(letter: &str) -> Option<Slicing> {
        [Slicing::Bit, Slicing::Vertical, Slicing::Horizontal]
            .into_iter()
            .find(|slicing| slicing.letter() == letter)
    }

    pub(crate) fn dir(self) -> ir::Dir {
        match self {
            Slicing::Bit => ir::Dir::B,
            Slicing::Vertical => ir::Dir::V,
            Slicing::Horizontal => ir::Dir::H,
        }
    }
}

/// Which loops are written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unroll {
    /// Those that stay small enough for the instruction cache.
    Auto,
    Yes,
    /// Only those that cannot be kept.
    No,
}

/// Which scheduler orders the equations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The order that the other passes leave.
    None,
    /// Arguments just before calls.
    Bitslice,
    /// Everything inlined, and what each output needs just in front of it.
    Depth,
    /// Distance between an equation and those it reads.
    Mslice,
    /// Whichever is fastest by the model of the machine.
    Auto,
}

impl Schedule {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::None => "none",
            Schedule::Bitslice => "bitslice",
            Schedule::Depth => "depth",
            Schedule::Mslice => "mslice",
            Schedule::Auto => "auto",
        }
    }
}

/// Whether permutations of the bits of words are left undone, see [`crate::passes::fixslice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixslice {
    /// If that saves a notable share of the steps.
    Auto,
    /// If it saves any.
    Yes,
    No,
}

/// How many independent batches of blocks are interleaved, statement by statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interleave {
    Times(u32),
    /// As many as are fastest by the model of the machine.
    Auto,
    /// The same, but at most this many.
    AtMost(u32),
}

/// The options of the passes.
#[derive(Debug, Clone)]
pub struct Options {
    /// How words lie in registers.
    pub slicing: Slicing,
    /// Bits of the size variable.
    pub word: Option<u32>,
    /// Which nodes are inlined.
    pub inline: Inline,
    /// Bounds of the inlining heuristic.
    pub thresholds: Thresholds,
    /// Which loops are written out.
    pub unroll: Unroll,
    /// Whether nodes that work on each bit by itself are called once for each bit.
    pub specialise: bool,
    pub fixslice: Fixslice,
    /// The parameters of the first entry that the second one makes, by their places.
    pub keys: Vec<usize>,
    /// Which scheduler orders the equations.
    pub schedule: Schedule,
    /// The window of the mslice scheduler.
    pub look_behind: usize,
    /// How many batches of blocks the entry processes.
    pub interleave: Interleave,
    /// The processor that the schedulers optimise for.
    pub target: Target,
    /// Whether the target computes any function of three words at once.
    pub ternary: bool,
    /// Whether words are held complemented, for targets without and-not.
    pub complements: bool,
    /// The pass after which the text of the program is kept.
    pub dump_after: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            slicing: Slicing::Bit,
            word: None,
            inline: Inline::Auto,
            thresholds: Thresholds::default(),
            unroll: Unroll::Auto,
            specialise: true,
            fixslice: Fixslice::No,
            keys: Vec::new(),
            schedule: Schedule::None,
            look_behind: schedule_mslice::LOOK_BEHIND,
            interleave: Interleave::Times(1),
            target: Target::generic(),
            ternary: false,
            complements: false,
            dump_after: None,
        }
    }
}
