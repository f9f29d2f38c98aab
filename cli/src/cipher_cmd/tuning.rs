//! What only affects speed, the keys of `cipher ... -X KEY=VALUE`.

use cipher::options::{Fixslice, Interleave, Unroll};
use cipher::passes::inline::{Inline, Thresholds};
use cipher::passes::interleave::MOST;
use cipher::passes::schedule_mslice::LOOK_BEHIND;
use cipher::recipe_file::Way;

use crate::knobs::{self, Key, Knob};

/// The values of all keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// Which nodes are inlined; `None`: `auto` in C, all in assembly.
    pub inline: Option<Inline>,
    pub thresholds: Thresholds,
    pub unroll: Unroll,
    pub look_behind: usize,
    pub interleave: Interleave,
    pub specialise: bool,
    pub fixslice: Fixslice,
    /// Millions of steps that the search of the assembly back end walks for each block.
    pub budget: Option<u32>,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            inline: None,
            thresholds: Thresholds::default(),
            unroll: Unroll::Auto,
            look_behind: LOOK_BEHIND,
            interleave: Interleave::Times(1),
            specialise: true,
            fixslice: Fixslice::Auto,
            budget: None,
        }
    }
}

/// The keys, in the order of the guide.
pub const KEYS: [Key<Tuning>; 10] = [
    Key {
        name: "inline",
        values: "auto, all, none",
        default: "auto",
        help: "which nodes are inlined; all of them in assembly",
        set: |tuning, text| {
            tuning.inline = Some(match text {
                "auto" => Inline::Auto,
                "all" => Inline::All,
                "none" => Inline::None,
                _ => return None,
            });
            Some(())
        },
    },
    Key {
        name: "inline-io-bits",
        values: "bits",
        default: "31",
        help: "`auto` inlines nodes with more inputs and outputs than this,",
        set: |tuning, text| {
            tuning.thresholds.io_bits = text.parse().ok()?;
            Some(())
        },
    },
    Key {
        name: "inline-copies",
        values: "percent",
        default: "65",
        help: "with a larger share of plain copies than this,",
        set: |tuning, text| {
            tuning.thresholds.copies_pct = text.parse().ok()?;
            Some(())
        },
    },
    Key {
        name: "inline-equations",
        values: "number",
        default: "10",
        help: "or with fewer equations than this, unless made from a table",
        set: |tuning, text| {
            tuning.thresholds.equations = text.parse().ok()?;
            Some(())
        },
    },
    Key {
        name: "unroll",
        values: "auto, yes, no",
        default: "auto",
        help: "which loops are written out; `auto`: those that stay small enough",
        set: |tuning, text| {
            tuning.unroll = match text {
                "auto" => Unroll::Auto,
                "yes" => Unroll::Yes,
                "no" => Unroll::No,
                _ => return None,
            };
            Some(())
        },
    },
    Key {
        name: "look-behind",
        values: "number",
        default: "10",
        help: "window of the mslice scheduler, in equations",
        set: |tuning, text| {
            tuning.look_behind = text.parse().ok()?;
            Some(())
        },
    },
    Key {
        name: "interleave",
        values: "1 to 4, auto",
        default: "1",
        help: "how many batches of blocks are interleaved; `auto`: as the model prefers",
        set: |tuning, text| {
            tuning.interleave = match text {
                "auto" => Interleave::Auto,
                _ => Interleave::Times(text.parse().ok().filter(|n| (1..=MOST).contains(n))?),
            };
            Some(())
        },
    },
    Key {
        name: "specialise",
        values: "yes, no",
        default: "yes",
        help: "call nodes of bitwise operations once for each bit instead of widening them",
        set: |tuning, text| {
            tuning.specialise = match text {
                "yes" => true,
                "no" => false,
                _ => return None,
            };
            Some(())
        },
    },
    Key {
        name: "fixslice",
        values: "auto, yes, no",
        default: "auto",
        help: "put permutations inside words off; `auto`: if that saves 3 % of the steps, `yes`: any",
        set: |tuning, text| {
            tuning.fixslice = match text {
                "auto" => Fixslice::Auto,
                "yes" => Fixslice::Yes,
                "no" => Fixslice::No,
                _ => return None,
            };
            Some(())
        },
    },
    Key {
        name: "budget",
        values: "0 to 100000",
        default: "10",
        help: "millions of steps that assembly searches for an order, for each block",
        set: |tuning, text| {
            tuning.budget = Some(text.parse().ok().filter(|millions| *millions <= 100_000)?);
            Some(())
        },
    },
];

impl Tuning {
    /// The defaults, but for what the knobs set.
    pub fn of(knobs: &[Knob]) -> Tuning {
        let mut tuning = Tuning::default();
        knobs::apply(&KEYS, knobs, &mut tuning);
        tuning
    }

    /// That of a recipe file.
    pub fn of_way(way: &Way) -> Tuning {
        let is_assembly = way.emit == cipher::recipe_file::Emit::Asm;
        Tuning {
            inline: (way.inline != Inline::Auto && !is_assembly).then_some(way.inline),
            unroll: way.unroll,
            interleave: Interleave::Times(way.interleave),
            budget: way.budget,
            ..Tuning::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_guide_and_defaults_agree() {
        let guide = include_str!("../../../docs/guide/cipher.md");
        knobs::check_table(&KEYS, &["inline", "budget"], guide);
    }

    #[test]
    fn wrong_keys_and_values_are_refused_with_the_right_ones() {
        for (text, part) in [
            ("unroll", "write KEY=VALUE"),
            ("unrol=yes", "did you mean `unroll`"),
            ("unroll=maybe", "`unroll` takes auto, yes, no"),
            ("interleave=5", "1 to 4"),
            ("look-behind=-1", "number"),
            ("budget=100001", "0 to 100000"),
        ] {
            let error = knobs::parse(&KEYS, text).expect_err("it is refused");
            assert!(error.contains(part), "{text}: {error}");
        }
        let last = ["unroll=yes", "unroll=no"];
        let last = Tuning::of(&last.map(|text| knobs::parse(&KEYS, text).expect("fine")));
        assert_eq!(last.unroll, Unroll::No);
    }
}
