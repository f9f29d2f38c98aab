//! What a program is compiled with: every choice that a user has is a field of [`Recipe`]. The
//! command line sets them, `-X` among them, and a recipe file holds them under the same names.

use machine::Machine;

use crate::ir;
use crate::native::Cc;
use crate::passes::inline::{Inline, Thresholds};
use crate::passes::interleave::MOST;
use crate::passes::schedule_mslice::LOOK_BEHIND;
use crate::target::{Arch, Target};

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fixslice {
    /// If that saves a notable share of the steps.
    #[default]
    Auto,
    /// If it saves any.
    Yes,
    No,
}

/// How many independent batches of blocks are interleaved, statement by statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interleave {
    Times(u32),
    /// As many as are fastest by the model of the machine.
    Auto,
    /// The same, but at most this many.
    AtMost(u32),
}

impl serde::Serialize for Interleave {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Interleave::Times(n) => to.serialize_u32(*n),
            Interleave::Auto => to.serialize_str("auto"),
            Interleave::AtMost(_) => unreachable!("only `Recipe::make` chooses it"),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Interleave {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Interleave, D::Error> {
        struct Number;
        impl serde::de::Visitor<'_> for Number {
            type Value = Interleave;

            fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(out, "`interleave` as 1 to {MOST} or \"auto\"")
            }

            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Interleave, E> {
                u32::try_from(n)
                    .ok()
                    .filter(|n| (1..=MOST).contains(n))
                    .map(Interleave::Times)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(n), &self))
            }

            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Interleave, E> {
                self.visit_i64(i64::try_from(n).unwrap_or(i64::MAX))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Interleave, E> {
                match text {
                    "auto" => Ok(Interleave::Auto),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        from.deserialize_any(Number)
    }
}

/// The back end of the functions that work on blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Emit {
    #[default]
    C,
    /// Ours.
    Asm,
    /// Ours where the model says that it is faster beyond its error, else the C compiler.
    Auto,
}

/// One of [`OPTS`]. Under its own name, since serde would borrow a `&str` from the file.
pub type Flag = &'static str;

/// Optimisation flags of C compilers that a recipe may name.
pub const OPTS: [&str; 4] = ["-O3", "-O2", "-O1", "-Os"];

/// One way to make C of a program. A recipe file leaves out what is as by default, from `thresholds`
/// on, and what is of one C file alone.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    pub arch: Arch,
    /// How words lie in registers.
    pub slicing: Slicing,
    /// Bits of the size variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<u32>,
    /// Which loops are written out.
    pub unroll: Unroll,
    /// Which nodes are inlined; in assembly all of them are, whatever is said here.
    pub inline: Inline,
    /// Which scheduler orders the equations.
    pub schedule: Schedule,
    /// How many batches of blocks the entry processes.
    pub interleave: Interleave,
    pub emit: Emit,
    /// Millions of steps that the search of the assembly back end may take for each block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// The C compiler; with assembly, for the functions that remain in C.
    pub cc: Cc,
    /// Its optimisation flag, such as `-O3`.
    #[serde(deserialize_with = "opt")]
    pub opt: Flag,
    /// Bounds of the inlining heuristic.
    #[serde(default, skip_serializing_if = "is_default")]
    pub thresholds: Thresholds,
    /// The window of the mslice scheduler, in equations.
    #[serde(default = "look_behind", skip_serializing_if = "is_look_behind")]
    pub look_behind: usize,
    /// Whether nodes that work on each bit by itself are called once for each bit.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub specialise: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub fixslice: Fixslice,
    /// The machine file for the schedulers instead of the default.
    #[serde(skip)]
    pub machine: Option<Machine>,
    /// The mode that the file offers beside blocks, such as `ctr`.
    #[serde(skip)]
    pub mode: Option<String>,
    /// In front of every name in C.
    #[serde(skip)]
    pub prefix: String,
    /// What the names of functions in assembly begin with; else the name of the file's functions.
    #[serde(skip)]
    pub stem: Option<String>,
    /// The pass after which the text of the program is kept.
    #[serde(skip)]
    pub dump_after: Option<String>,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe::new(Slicing::Bit, Arch::X86_64, Cc::Gcc, Unroll::Auto, "-O3")
    }
}

impl Recipe {
    /// A slicing on a target, everything else as `compile` has it without options: what gets its C
    /// another way measures, tests and ships the same C.
    pub fn new(slicing: Slicing, arch: Arch, cc: Cc, unroll: Unroll, opt: &'static str) -> Recipe {
        Recipe {
            arch,
            slicing,
            word: None,
            unroll,
            inline: Inline::Auto,
            schedule: Schedule::Auto,
            interleave: Interleave::Times(1),
            emit: Emit::C,
            budget: None,
            cc,
            opt,
            thresholds: Thresholds::default(),
            look_behind: LOOK_BEHIND,
            specialise: true,
            fixslice: Fixslice::Auto,
            machine: None,
            mode: None,
            prefix: String::new(),
            stem: None,
            dump_after: None,
        }
    }

    /// A slicing of which only the equations matter: nothing is ordered for a processor.
    pub fn unordered(slicing: Slicing) -> Recipe {
        Recipe { schedule: Schedule::None, fixslice: Fixslice::No, slicing, ..Recipe::default() }
    }

    /// Bits of the size variable: in bitslicing 1, whatever was asked.
    pub fn word(&self) -> Option<u32> {
        if self.slicing == Slicing::Bit { Some(1) } else { self.word }
    }

    /// What cannot be had together, as a message.
    pub fn wrong(&self) -> Option<String> {
        if self.emit == Emit::C && self.budget.is_some() {
            Some("`budget` is for assembly, and the C compiler orders the code".into())
        } else if self.emit == Emit::Asm && !self.arch.has_assembly() {
            Some(format!("there is no assembly for {}", self.arch.name()))
        } else {
            None
        }
    }
}

fn opt<'de, D: serde::Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    let text = <String as serde::Deserialize>::deserialize(from)?;
    OPTS.into_iter().find(|opt| *opt == text).ok_or_else(|| {
        let message = format!("`opt` is `{text}`, and it can be {}", OPTS.join(", "));
        serde::de::Error::custom(message)
    })
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn look_behind() -> usize {
    LOOK_BEHIND
}

fn is_look_behind(n: &usize) -> bool {
    *n == LOOK_BEHIND
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

/// A recipe as the passes see it: with what follows from its target and from the program.
#[derive(Debug, Clone)]
pub struct Options {
    pub recipe: Recipe,
    /// The parameters of the first entry that the second one makes, by their places.
    pub keys: Vec<usize>,
    /// The processor that the schedulers optimise for.
    pub target: Target,
    /// Whether the target computes any function of three words at once.
    pub ternary: bool,
    /// Whether words are held complemented, for targets without and-not.
    pub complements: bool,
}

impl Options {
    /// For a processor of which nothing is known.
    pub fn generic(recipe: Recipe) -> Options {
        Options {
            recipe,
            keys: Vec::new(),
            target: Target::generic(),
            ternary: false,
            complements: false,
        }
    }
}
