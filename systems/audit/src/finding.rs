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
    /// Of a wait: the instructions that `fill` names, by place, each as it stands there.
    pub fillers: Vec<(usize, String)>,
    /// Of a wait: the access that would have to move.
    pub mover: Option<usize>,
    /// What prevents the compiler.
    pub prevents: Option<String>,
    /// Why nobody can act on it, so that it is counted and not listed.
    pub moot: Option<Moot>,
    /// Edits of the source that may take it away: which of them do, a trial says.
    pub ways: Vec<Way>,
    /// Changes that were made on a copy, compiled and audited for it.
    pub tried: u32,
    /// One that was proved.
    pub edit: Option<Edit>,
    /// Figures that these cycles rest on and that another source gives otherwise.
    pub disputed: Vec<Dispute>,
}

impl Finding {
    /// One of which no more is known, that costs one issue slot.
    pub fn new(idx: usize, kind: Kind, instruction: String, why: String) -> Finding {
        Finding {
            idx,
            kind,
            instruction,
            why,
            cycles: 1,
            fill: None,
            fillers: Vec::new(),
            mover: None,
            prevents: None,
            moot: None,
            ways: Vec::new(),
            tried: 0,
            edit: None,
            disputed: Vec::new(),
        }
    }
}

/// What nobody can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moot {
    /// The flags ask for it: `-fomit-frame-pointer` leaves it out where nobody walks the stack.
    FramePointer,
    /// The source says that each access stays: the object is `volatile`.
    Volatile,
    /// It stands in an `asm` statement, which a compiler leaves as it is.
    Asm,
    /// Its address is a number at which the program has nothing: each access may do something.
    Device,
}

impl Moot {
    pub fn words(self) -> &'static str {
        match self {
            Moot::FramePointer => "for a frame pointer that the flags ask for",
            Moot::Volatile => "of accesses that are `volatile`",
            Moot::Asm => "of what `asm` statements hold",
            Moot::Device => "of accesses to fixed addresses outside the program, as of a device",
        }
    }
}

/// A kind of edit that can be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// A load, read before the test above it.
    Earlier,
    /// What is loaded repeatedly, in a local variable.
    LocalCopy,
    /// Pointers that are promised to lead to different objects.
    Restrict,
    /// A test that says which way is the usual one.
    Likely,
    /// A variable or parameter of a wider type.
    Wider,
    /// A callee that seldom runs, kept out of line.
    Cold,
    /// A callee made part of its callers.
    Inline,
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Way::Earlier => "an earlier load",
            Way::LocalCopy => "a local copy",
            Way::Restrict => "`restrict`",
            Way::Likely => "a likely test",
            Way::Wider => "a wider type",
            Way::Cold => "a cold callee",
            Way::Inline => "an inlined callee",
        }
    }
}

/// A change of the source that was made on a copy, compiled as the source is, and audited again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The change, in a sentence of words.
    pub text: String,
    /// For `patch -p1` or `git apply`.
    pub patch: String,
    /// What the model says of before and after.
    pub gain: String,
    /// What has to be true, which neither the source nor a trial shows.
    pub promise: Option<String>,
    /// What executing both said.
    pub behaviour: String,
}
