//! What only affects speed, the keys of `cipher ... -X KEY=VALUE`.

use cipher::options::{Fixslice, Interleave, Recipe, Unroll};
use cipher::passes::inline::Inline;
use cipher::passes::interleave::MOST;

use crate::knobs::Key;

/// The keys, in the order of the guide.
pub const KEYS: [Key<Recipe>; 10] = [
    Key {
        name: "inline",
        values: "auto, all, none",
        default: "auto",
        help: "which nodes are inlined; all of them in assembly",
        set: |recipe, text| {
            recipe.inline = match text {
                "auto" => Inline::Auto,
                "all" => Inline::All,
                "none" => Inline::None,
                _ => return None,
            };
            Some(())
        },
    },
    Key {
        name: "inline-io-bits",
        values: "bits",
        default: "31",
        help: "`auto` inlines nodes with more inputs and outputs than this,",
        set: |recipe, text| {
            recipe.thresholds.io_bits = text.parse().ok()?;
            Some(())
        },
    },
    Key {
        name: "inline-copies",
        values: "percent",
        default: "65",
        help: "with a larger share of plain copies than this,",
        set: |recipe, text| {
            recipe.thresholds.copies_pct = text.parse().ok()?;
            Some(())
        },
    },
    Key {
        name: "inline-equations",
        values: "number",
        default: "10",
        help: "or with fewer equations than this, unless made from a table",
        set: |recipe, text| {
            recipe.thresholds.equations = text.parse().ok()?;
            Some(())
        },
    },
    Key {
        name: "unroll",
        values: "auto, yes, no",
        default: "auto",
        help: "which loops are written out; `auto`: those that stay small enough",
        set: |recipe, text| {
            recipe.unroll = match text {
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
        set: |recipe, text| {
            recipe.look_behind = text.parse().ok()?;
            Some(())
        },
    },
    Key {
        name: "interleave",
        values: "1 to 4, auto",
        default: "1",
        help: "how many batches of blocks are interleaved; `auto`: as the model prefers",
        set: |recipe, text| {
            recipe.interleave = match text {
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
        set: |recipe, text| {
            recipe.specialise = match text {
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
        set: |recipe, text| {
            recipe.fixslice = match text {
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
        set: |recipe, text| {
            recipe.budget = Some(text.parse().ok().filter(|millions| *millions <= 100_000)?);
            Some(())
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs;

    #[test]
    fn help_guide_and_defaults_agree() {
        let guide = include_str!("../../../docs/guide/cipher.md");
        knobs::check_table(&KEYS, &["budget"], guide);
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
        let last = last.map(|text| knobs::parse(&KEYS, text).expect("fine"));
        let mut recipe = Recipe::default();
        knobs::apply(&KEYS, &last, &mut recipe);
        assert_eq!(recipe.unroll, Unroll::No);
    }
}
