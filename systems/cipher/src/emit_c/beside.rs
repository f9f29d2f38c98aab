//! What a compression function takes beside a block: how many bytes of its message are taken, and
//! whether it is the last one. The last block is filled up with zeros then, as the counter says
//! where the message ends.
//!
//! **Source** RFC 7693, 2015.

use super::message_word::MessageWord;

/// The parts in order: `counter:le64`, `last:4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Beside {
    parts: Vec<BesideWords>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BesideWords {
    /// The bytes of the message up to the end of the block; the least significant word is the first
    /// or the last one.
    Counter { n_bytes: usize, is_least_last: bool },
    /// All ones with the last block, else zeros.
    Last { n_bytes: usize },
}

impl BesideWords {
    fn parse(text: &str) -> Result<BesideWords, String> {
        let counter = |n_bytes, is_least_last| {
            Ok::<BesideWords, String>(BesideWords::Counter { n_bytes, is_least_last })
        };
        match text.split_once(':') {
            Some(("counter", "le64")) => counter(8, false),
            Some(("counter", "be64")) => counter(8, true),
            Some(("counter", "le128")) => counter(16, false),
            Some(("counter", "be128")) => counter(16, true),
            Some(("counter", other)) => {
                Err(format!("`{other}` is no counter of a hash, which is le or be, then 64 or 128"))
            }
            Some(("last", n)) => match n.parse() {
                Ok(n_bytes) if n_bytes > 0 => Ok(BesideWords::Last { n_bytes }),
                _ => Err(format!("`{text}` has no number of bytes")),
            },
            _ => Err(format!("`{text}` is not beside a block: counter:le64 and last:4 are")),
        }
    }

    fn n_bytes(self) -> usize {
        match self {
            BesideWords::Counter { n_bytes, .. } | BesideWords::Last { n_bytes } => n_bytes,
        }
    }
}

impl Beside {
    /// Reads the parts, which are words.
    ///
    /// Errors: what is wrong with them.
    pub(super) fn read(parts: &[String], word: MessageWord) -> Result<Beside, String> {
        let parts =
            parts.iter().map(|text| BesideWords::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let n_counters =
            parts.iter().filter(|part| matches!(part, BesideWords::Counter { .. })).count();
        if n_counters != 1 || parts.len() != 2 {
            return Err("beside a block are one `counter` and one `last`, or nothing".into());
        }
        match parts.iter().find(|part| part.n_bytes() % word.n_bytes() != 0) {
            Some(part) => Err(format!(
                "{} bytes beside a block are no words of {} bits",
                part.n_bytes(),
                word.bits
            )),
            None => Ok(Beside { parts }),
        }
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.parts.iter().map(|part| part.n_bytes()).sum()
    }

    /// C that gives word w of them.
    pub(super) fn text(&self, word: MessageWord) -> String {
        let values = self.values(word).into_iter().enumerate();
        let cases = values.map(|(w, value)| format!("    case {w}: return {value};\n"));
        format!("    switch (w) {{\n{}    default: return 0;\n    }}\n", cases.collect::<String>())
    }

    /// C of each word.
    fn values(&self, word: MessageWord) -> Vec<String> {
        let ones = u64::MAX >> (64 - word.bits);
        let counter = |k: usize| match k as u32 * word.bits {
            0 => "total".into(),
            low @ 1..64 => format!("total >> {low}"),
            _ => "0".into(),
        };
        let words = self.parts.iter().flat_map(|part| {
            let n = part.n_bytes() / word.n_bytes();
            (0..n).map(move |k| match *part {
                BesideWords::Counter { is_least_last: true, .. } => counter(n - 1 - k),
                BesideWords::Counter { is_least_last: false, .. } => counter(k),
                BesideWords::Last { .. } => format!("is_last ? UINT64_C({ones:#x}) : 0"),
            })
        });
        words.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parts: &[&str], bits: u32) -> Result<Beside, String> {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        Beside::read(&parts, MessageWord { bits, is_big_endian: false })
    }

    #[test]
    fn words_of_a_counter_are_those_of_its_order() {
        let word = |bits| MessageWord { bits, is_big_endian: false };
        let small = read(&["counter:le64", "last:4"], 32).expect("BLAKE2s has it");
        assert_eq!(small.n_bytes(), 12);
        let ones = "is_last ? UINT64_C(0xffffffff) : 0";
        assert_eq!(small.values(word(32)), ["total", "total >> 32", ones]);
        let large = read(&["last:8", "counter:be128"], 64).expect("it has both");
        let ones = "is_last ? UINT64_C(0xffffffffffffffff) : 0";
        assert_eq!(large.values(word(64)), [ones, "0", "total"]);
    }

    #[test]
    fn parts_that_say_too_little_are_refused() {
        for (parts, bits, why) in [
            (&["counter:le64"][..], 32, "one `counter` and one `last`"),
            (&["last:4", "last:4"], 32, "one `counter` and one `last`"),
            (&["counter:le64", "last:4", "last:4"], 32, "one `counter` and one `last`"),
            (&["counter:le32", "last:4"], 32, "`le32` is no counter of a hash"),
            (&["counter:le64", "last:0"], 32, "`last:0` has no number of bytes"),
            (&["counter:le64", "last:4"], 64, "4 bytes beside a block are no words of 64 bits"),
            (&["counter:le64", "key:4"], 32, "`key:4` is not beside a block"),
        ] {
            let said = read(parts, bits).expect_err(why);
            assert!(said.contains(why), "{said}");
        }
    }
}
