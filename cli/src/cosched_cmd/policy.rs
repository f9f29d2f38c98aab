//! The numbers of the policies: `-X KEY=VALUE` of `run`, `daemon` and `sim`.

use cosched::policies::{Settings, ShareOf};

use crate::knobs::{self, Key, Knob};

/// The keys, in the order of the guide.
const KEYS: [Key<Settings>; 5] = [
    Key {
        name: "round-robin",
        values: "0 to 1",
        default: "0",
        help: "share of the quanta that `pairing` leaves to round robin: less gain for programs that \
            ask for much, less loss for those beside them",
        set: |settings, text| {
            settings.round_robin = share(text).ok()?;
            Some(())
        },
    },
    Key {
        name: "finish-first",
        values: "yes, no",
        default: "no",
        help: "`pairing` lets programs end one after another even where the links are no bottleneck: \
            the mean ends sooner, the last to come waits longer",
        set: |settings, text| {
            settings.finishes_first = match text {
                "yes" => true,
                "no" => false,
                _ => return None,
            };
            Some(())
        },
    },
    Key {
        name: "share",
        values: "0 to 1, bandwidth:0 to bandwidth:1",
        default: "0.5",
        help: "how much of the processors, or of the bandwidth, B2ARR leaves to round robin",
        set: |settings, text| {
            settings.share = match text.strip_prefix("bandwidth:") {
                Some(text) => ShareOf::Bandwidth(share(text).ok()?),
                None => ShareOf::Processors(share(text).ok()?),
            };
            Some(())
        },
    },
    Key {
        name: "epoch",
        values: "1 to 1000",
        default: "2",
        help: "quanta that B2ADSS plans ahead",
        set: |settings, text| {
            settings.epoch = text.parse().ok().filter(|quanta| (1..=1000).contains(quanta))?;
            Some(())
        },
    },
    Key {
        name: "window",
        values: "1 to 16",
        default: "5",
        help: "quanta over which QWG averages",
        set: |settings, text| {
            settings.window = text.parse().ok().filter(|quanta| (1..=16).contains(quanta))?;
            Some(())
        },
    },
];

/// The numbers of the policies.
#[derive(Debug, Clone, clap::Args)]
pub struct PolicyArgs {
    /// A number of the policy; `--help` lists the keys.
    #[arg(short = 'X', value_name = "KEY=VALUE",
        value_parser = |text: &str| knobs::parse(&KEYS, text),
        long_help = knobs::help("A number of the policy, a key and its value:", &KEYS))]
    knobs: Vec<Knob>,
}

impl PolicyArgs {
    /// The settings of policies with these.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        knobs::apply(&KEYS, &self.knobs, &mut settings);
        settings
    }
}

/// A share, 0 to 1, as a value of the command line.
pub fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_guide_and_defaults_agree() {
        knobs::check_table(&KEYS, &[], include_str!("../../../docs/guide/cosched.md"));
    }

    #[test]
    fn shares_of_bandwidth_and_numbers_out_of_range() {
        let of = |text| knobs::parse(&KEYS, text);
        let args = PolicyArgs { knobs: vec![of("share=bandwidth:0.25").expect("it is one")] };
        assert_eq!(args.settings().share, ShareOf::Bandwidth(0.25));
        for text in ["share=2", "share=bandwidth:-1", "round-robin=1.5", "epoch=0", "window=17"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
