//! One thing that an audit has to say about one instruction.

use machine::Dispute;
use serde::Serialize;

/// What kind of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Stall,
    /// An extension or mask that changes nothing.
    RedundantExtension,
    /// A result that is not read.
    DeadValue,
    /// Flags made by an instruction of their own, or in two steps.
    FlagIdiom,
    /// A constant that the encoding splits.
    SplitImmediate,
    /// A truth value put into a register only to be tested.
    BuiltBoolean,
    /// A value that went to the stack frame.
    Spill,
    /// A value that came back from it.
    Reload,
    /// A store that is not read.
    DeadStore,
    /// A call worth inlining, or to a routine of a few instructions.
    Call,
    /// A value or load computed twice.
    ComputedTwice,
    /// Several instructions that compute what one does, or none.
    FewerInstructions,
    /// A jump that another layout would save.
    Jump,
    /// A branch that the hot path takes.
    TakenBranch,
    /// A special register's write too near to what depends on it.
    Hazard,
}

impl Kind {
    /// As in JSON, and on the page.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Stall => "stall",
            Kind::RedundantExtension => "redundant-extension",
            Kind::DeadValue => "dead-value",
            Kind::FlagIdiom => "flag-idiom",
            Kind::SplitImmediate => "split-immediate",
            Kind::BuiltBoolean => "built-boolean",
            Kind::Spill => "spill",
            Kind::Reload => "reload",
            Kind::DeadStore => "dead-store",
            Kind::Call => "call",
            Kind::ComputedTwice => "computed-twice",
            Kind::FewerInstructions => "fewer-instructions",
            Kind::Jump => "jump",
            Kind::TakenBranch => "taken-branch",
            Kind::Hazard => "hazard",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which instruction, as a place in its function.
    pub idx: usize,
    pub kind: Kind,
    /// The instruction that waits, or is not needed.
    pub instruction: String,
    /// For what it waits, or why it is not needed.
    pub why: String,
    /// Cycles that are lost, on the model.
    pub cycles: u32,
    /// What could fill the wait, or stand there instead.
    pub fill: Option<String>,
    /// What prevents the compiler.
    pub prevents: Option<String>,
    /// What to change in the source.
    pub edit: Option<Edit>,
    /// Figures that these cycles rest on and that another source gives otherwise.
    pub disputed: Vec<Dispute>,
}

/// A change of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// In words, or as the new text of the line.
    pub text: String,
    /// Changes of this kind that were made in a copy, compiled and audited.
    pub tried: u32,
    /// The one that made the path shorter, as a patch of the file; the edit is verified then.
    pub patch: Option<String>,
    /// What the source has to have at the lines of these instructions, as places in the function.
    pub on: Vec<(usize, Thing)>,
}

/// What a line of the source may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    /// It is there to be read.
    Line,
    /// Bits that are masked.
    Mask,
    /// A type of at most so many bits.
    Narrow(u8),
    /// A load by a member or an index.
    Load,
    /// A variable or an object gets a value.
    Assignment,
    /// It goes on in one of two ways.
    Test,
    /// What a comparison says goes into a variable.
    Comparison,
    Number,
    /// A member of a structure.
    Member,
    Name(String),
    /// A load that the line of the other instruction has, too.
    LoadOf(usize),
    /// A load that could stand before the line of the other instruction, a test.
    LoadAbove(usize),
}

impl Edit {
    /// An edit that was not tried and that needs nothing of the source.
    pub fn unverified(text: impl Into<String>) -> Edit {
        Edit::on(text, [])
    }

    /// An edit that was not tried, of lines that have to have these things.
    pub fn on(text: impl Into<String>, on: impl IntoIterator<Item = (usize, Thing)>) -> Edit {
        Edit { text: text.into(), tried: 0, patch: None, on: on.into_iter().collect() }
    }

    /// What became of it, in words.
    pub fn verdict(&self) -> String {
        match (&self.patch, self.tried) {
            (Some(_), _) => "verified".to_owned(),
            (None, 0) => "unverified".to_owned(),
            (None, 1) => "one change tried, no gain".to_owned(),
            (None, tried) => format!("{tried} changes tried, no gain"),
        }
    }
}
