//! Hashes and functions with output of any length in C over a sliced permutation or compression
//! function, one message a slice.
//!
//! A sponge adds a block to the first words of its state and permutes it; a compression function
//! takes the state and a block behind it. All else is the same: where messages end, how they are
//! filled up, and the state, which stays in slices from the first block to the output.
//!
//! **Source** NIST FIPS 202, 2015; FIPS 180-4, 2015; SP 800-232, 2025; RFC 7693, 2015.

use crate::library::DigestRow;

use super::arch::Shape;
use super::beside::Beside;
use super::digest_text as text;
use super::message_word::MessageWord;

/// A hash, or a function with output of any length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// As on the command line.
    pub mode: String,
    /// The standard's name in lower case, that of the file of vectors.
    pub name: String,
    pub title: String,
    pub word: MessageWord,
    /// The words of the state, and of the input of the node.
    n_state: usize,
    n_input: usize,
    /// Bytes of a message that are taken at a time.
    pub rate: usize,
    end: End,
    /// The state before the first block, as bytes of its words; empty if it is zeros.
    initial: Vec<u8>,
    /// The first state holds BLAKE2's block of parameters.
    pub has_parameters: bool,
    /// Bytes of output; `None` if it has any length.
    pub output: Option<usize>,
}

/// How the last bytes of a message become whole blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Padding(Padding),
    /// Zeros fill the last block up, which may be full already and is there even if the message is
    /// empty: what is taken beside it tells messages apart.
    Zeros(Beside),
}

/// `first`, then zeros, and at the end of the block what `last` says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Padding {
    first: u8,
    last: Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Bits of the last byte, which may be the first of the padding too.
    Bits(u8),
    /// The number of bits of the message, in so many bytes.
    Length { n_bytes: usize, is_big_endian: bool },
}

impl Padding {
    /// Reads `01`, `1f..80` or `80..be64`.
    fn parse(text: &str) -> Option<Padding> {
        let byte = |text: &str| {
            let is_byte = text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
            is_byte.then(|| u8::from_str_radix(text, 16).ok()).flatten()
        };
        let (first, last) = text.split_once("..").unwrap_or((text, "00"));
        let length = |n_bytes, is_big_endian| Last::Length { n_bytes, is_big_endian };
        let last = match last {
            "be64" => length(8, true),
            "be128" => length(16, true),
            "le64" => length(8, false),
            bits => Last::Bits(byte(bits)?),
        };
        Some(Padding { first: byte(first).filter(|first| *first != 0)?, last })
    }

    /// Reads what tells messages apart.
    ///
    /// Errors: what is wrong with it.
    fn read(text: &str) -> Result<Padding, String> {
        let padding = Padding::parse(text).ok_or_else(|| {
            format!("`{text}` is no padding, which is such as 01, 1f..80 or 80..be64")
        })?;
        match padding.last {
            Last::Bits(bits) if bits | padding.first == bits => Err(format!(
                "with the padding `{text}` two messages end alike, with and without the byte {:02x}",
                padding.first
            )),
            Last::Bits(_) | Last::Length { .. } => Ok(padding),
        }
    }

    /// Blocks that the last bytes of a message may become.
    fn n_blocks_max(&self) -> usize {
        match self.last {
            Last::Bits(_) => 1,
            Last::Length { .. } => 2,
        }
    }

    /// C that fills up the block or two at `last`.
    fn text(&self, rate: usize) -> String {
        let first = format!("    last[n] = {:#04x};\n", self.first);
        match self.last {
            Last::Bits(0) => format!("    (void)total;\n{first}    return 1;\n"),
            Last::Bits(bits) => {
                format!(
                    "    (void)total;\n{first}    last[RATE - 1] |= {bits:#04x};\n    return 1;\n"
                )
            }
            Last::Length { n_bytes, is_big_endian } => {
                let place = if is_big_endian {
                    "end[-1 - i]".into()
                } else {
                    format!("end[i - {n_bytes}]")
                };
                let high = if n_bytes > 8 { "    end[-9] = (uint8_t)(total >> 61);\n" } else { "" };
                format!(
                    "    size_t n_blocks = n < {room} ? 1 : 2;
    uint8_t *end = last + RATE * n_blocks;
{first}    for (int i = 0; i < 8; i++)
        {place} = (uint8_t)(total << 3 >> 8 * i);
{high}    return n_blocks;
",
                    room = rate - n_bytes
                )
            }
        }
    }
}

impl Digest {
    /// Reads a row of the index or of a layout file over a node that takes and gives so many bytes.
    ///
    /// Errors: what is wrong with it.
    pub fn read(mode: &str, row: &DigestRow, n_in: usize, n_out: usize) -> Result<Digest, String> {
        let word = MessageWord::parse(&row.word).ok_or_else(|| {
            format!("`{}` is no word, which is be or le and 16, 32 or 64 bits", row.word)
        })?;
        let n_bytes = word.n_bytes();
        let end = match (&row.padding, &row.beside[..]) {
            (Some(padding), []) => End::Padding(Padding::read(padding)?),
            (None, [_, ..]) if row.rate.is_none() => End::Zeros(Beside::read(&row.beside, word)?),
            (None, [_, ..]) => {
                return Err("a sponge takes nothing `beside` a block: give it a `padding`".into());
            }
            (Some(_), [_, ..]) => {
                return Err("what is `beside` a block tells where a message ends: a row with it \
                            has no `padding`"
                    .into());
            }
            (None, []) => {
                return Err("nothing tells where a message ends: give the row a `padding`, or \
                            what is `beside` a block"
                    .into());
            }
        };
        let n_beside = match &end {
            End::Padding(_) => 0,
            End::Zeros(beside) => beside.n_bytes(),
        };
        let rate = match row.rate {
            Some(rate) if n_in == n_out && rate < n_in => rate,
            Some(rate) if n_in == n_out => {
                return Err(format!("a rate of {rate} bytes leaves nothing of a state of {n_in}"));
            }
            Some(_) => {
                return Err(format!(
                    "a sponge is over a permutation, and this takes {n_in} bytes to {n_out}"
                ));
            }
            None if n_in > n_out + n_beside => n_in - n_out - n_beside,
            None if n_beside > 0 => {
                return Err(format!(
                    "{n_in} bytes have no room for a state of {n_out}, a block, and {n_beside} \
                     beside it"
                ));
            }
            None => {
                return Err(format!(
                    "a compression function takes the state and a block, and this {n_in} bytes to \
                     {n_out}"
                ));
            }
        };
        if rate == 0 || [rate, n_in, n_out].iter().any(|n| n % n_bytes != 0) {
            return Err(format!("{rate} of {n_in} bytes are no words of {} bits", word.bits));
        }
        if let End::Padding(Padding { last: Last::Length { n_bytes, .. }, .. }) = end
            && n_bytes >= rate
        {
            return Err(format!("a length of {n_bytes} bytes leaves no room in blocks of {rate}"));
        }
        let initial = crate::run_text::from_hex(&row.initial)
            .ok()
            .filter(|initial| initial.is_empty() || initial.len() == n_out)
            .ok_or_else(|| format!("`initial` is the state, {n_out} bytes in hex"))?;
        let output_max = if row.rate.is_some() { usize::MAX } else { n_out };
        match row.output {
            None if row.rate.is_none() => {
                return Err("a compression function has an `output` of so many bytes".into());
            }
            Some(n) if n == 0 || n > output_max => {
                return Err(format!("an `output` has 1 to {n_out} bytes, not {n}"));
            }
            _ => {}
        }
        let is_whole =
            row.output == Some(n_out) && n_out.is_multiple_of(8 * n_bytes) && n_out <= rate;
        if row.has_parameters && (!matches!(end, End::Zeros(_)) || !is_whole) {
            return Err("a hash with parameters has something `beside` a block, and for its \
                        `output` the state of eight words"
                .into());
        }
        Ok(Digest {
            mode: mode.to_owned(),
            name: row.name.clone(),
            title: row.title.clone(),
            n_state: n_out / n_bytes,
            n_input: n_in / n_bytes,
            word,
            rate,
            end,
            initial,
            has_parameters: row.has_parameters,
            output: row.output,
        })
    }

    /// True if a word is set that is the same in all messages.
    pub(super) fn sets_words(&self) -> bool {
        self.beside().is_some() || self.initial.iter().any(|byte| *byte != 0)
    }

    fn beside(&self) -> Option<&Beside> {
        match &self.end {
            End::Padding(_) => None,
            End::Zeros(beside) => Some(beside),
        }
    }

    /// Bytes of a salt, and of a personalisation.
    pub(crate) fn salt_bytes(&self) -> usize {
        2 * self.word.n_bytes()
    }

    /// The words of the input of its node, and of the state.
    pub(super) fn words(&self) -> (usize, usize) {
        (self.n_input, self.n_state)
    }

    /// Bytes of output between two calls of the node: a rate, or the state if there is one call.
    fn out_bytes(&self) -> usize {
        if self.n_input == self.n_state { self.rate } else { self.n_state * self.word.n_bytes() }
    }

    /// Bytes of a message in pieces beside the state.
    pub(super) fn rest_bytes(&self, shape: Shape) -> usize {
        self.rate.max(self.out_bytes()) * shape.blocks() as usize
    }

    /// Return values, state and prototypes.
    pub(super) fn types(&self, shape: Shape) -> String {
        let end = if self.output.is_some() { text::HASH_TYPES } else { text::XOF_TYPES };
        let with = if self.has_parameters { text::WITH_TYPES } else { "" };
        self.filled(&(text::TYPES.replace("@END_TYPES@", end) + with), shape)
    }

    /// The functions behind the permutation.
    pub(super) fn functions(&self, shape: Shape) -> String {
        let end = if self.output.is_some() { text::HASH_END } else { text::XOF_END };
        let with = if self.has_parameters { text::WITH } else { "" };
        let parts = [text::ABSORB, text::BATCH, text::EACH, text::PIECES, end, text::CALLS, with];
        self.filled(&parts.concat(), shape)
    }

    /// A text with what it says of this one. A hash has one length of output. Lines behind
    /// `@BESIDE@` are of those that take something beside a block, behind `@WITH@` of those whose
    /// first state holds parameters.
    pub(super) fn filled(&self, text: &str, shape: Shape) -> String {
        let is_hash = self.output.is_some();
        let n_out = self.output.map_or("n_out".into(), |n| n.to_string());
        let either = |hash: &str, other: &str| if is_hash { hash } else { other }.to_owned();
        let (is_sponge, n_word) = (self.n_input == self.n_state, self.word.n_bytes());
        let is_held = self.beside().is_some();
        let held = |text: &str, other: &str| if is_held { text } else { other }.to_owned();
        let n_blocks_max = match &self.end {
            End::Padding(padding) => padding.n_blocks_max(),
            End::Zeros(_) => 1,
        };
        let marks = [("@BESIDE@", is_held), ("@WITH@", self.has_parameters)];
        let line = |line: &str| {
            let marked = marks
                .iter()
                .find_map(|(mark, is_kept)| line.strip_prefix(mark).map(|rest| (rest, *is_kept)));
            match marked {
                Some((_, false)) => String::new(),
                Some((rest, true)) => format!("{rest}\n"),
                None => format!("{line}\n"),
            }
        };
        let lines: String = text.lines().map(line).collect();
        let values = [
            ("BESIDE_TEXT", held(text::BESIDE, "")),
            ("BESIDE_VALUES", self.beside().map_or_else(String::new, |all| all.text(self.word))),
            ("N_BESIDE", self.beside().map_or(0, |all| all.n_bytes() / n_word).to_string()),
            ("PLACE", if self.word.is_big_endian { "BYTES - 1 - i" } else { "i" }.to_owned()),
            ("BEFORE_LAST", held("(n - (n > 0)) / RATE * RATE", "n - n % RATE")),
            ("SIZE_OF_LAST", held("at most a block", "less than a block")),
            ("GOES_ON", held(" && at + RATE < n", "")),
            ("HAS_MORE", held(" && at < n", "")),
            ("ABSORB", if is_sponge { text::ADD_BLOCK } else { text::TAKE_BLOCK }.to_owned()),
            ("INITIAL", self.initial_state()),
            ("ENDING", self.ending()),
            ("ONE_OUT", either(&format!("uint8_t out[{n_out}]"), "uint8_t *out, size_t n_out")),
            ("OUTS", either("uint8_t *out", "uint8_t *out, size_t n_out")),
            ("SIZE", either("", ", size_t n")),
            ("GIVEN", either("", ", n_out")),
            ("GIVEN_SIZE", either("", ", n")),
            ("WHAT", either("The digest", "n_out bytes of output")),
            ("MORE", either("update", "absorb")),
            ("END", either("final", "squeeze")),
            ("OUT_AT", either("out + @N_OUT@ * m", "n_out > 0 ? out + n_out * m : out")),
            ("FINAL_OUT", if self.has_parameters { "*out" } else { "out[@N_OUT@]" }.to_owned()),
            ("TAKEN", if self.has_parameters { "h->n_out" } else { "@N_OUT@" }.to_owned()),
            ("N_SALT", self.salt_bytes().to_string()),
            ("N_OUT", n_out),
            ("TITLE", self.title.clone()),
            ("STATE_WORDS", self.n_state.to_string()),
            ("RATE", self.rate.to_string()),
            ("LAST", (self.rate * n_blocks_max).to_string()),
            ("OUT", self.out_bytes().to_string()),
            ("REST", self.rest_bytes(shape).to_string()),
        ];
        values.iter().fold(lines, |text, (name, value)| text.replace(&format!("@{name}@"), value))
    }

    /// C that fills up the last blocks.
    fn ending(&self) -> String {
        match &self.end {
            End::Padding(padding) => padding.text(self.rate),
            End::Zeros(_) => "    (void)total;\n    return 1;\n".into(),
        }
    }

    /// C that sets the words of the first state that are not zeros.
    fn initial_state(&self) -> String {
        let layout = self.word.layout();
        let words = self.initial.chunks(self.word.n_bytes());
        let values = words.map(|word| layout.words(word, self.word.bits)[0]).enumerate();
        values
            .filter(|(_, value)| *value != 0)
            .map(|(w, value)| format!("    set_word(x->s + {w} * WORD, UINT64_C({value:#x}));\n"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paddings_are_read_or_refused() {
        let last = |text: &str| Padding::parse(text).map(|padding| (padding.first, padding.last));
        assert_eq!(last("01"), Some((1, Last::Bits(0))));
        assert_eq!(last("1f..80"), Some((0x1f, Last::Bits(0x80))));
        let length = Last::Length { n_bytes: 16, is_big_endian: true };
        assert_eq!(last("80..be128"), Some((0x80, length)));
        for wrong in ["", "00..80", "1", "+1", "80..be32", "80..", "80..1", "8080"] {
            assert_eq!(last(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_row_that_does_not_fit_its_node_says_why() {
        let row = |rate, padding: &str, output| DigestRow {
            name: "mine".into(),
            title: "Mine".into(),
            word: "be32".into(),
            rate,
            padding: Some(padding.into()),
            beside: Vec::new(),
            has_parameters: false,
            initial: String::new(),
            output,
        };
        let read = |row: DigestRow, n_in, n_out| {
            Digest::read("hash", &row, n_in, n_out).map(|digest| digest.rate)
        };
        assert_eq!(read(row(Some(16), "01", None), 48, 48), Ok(16));
        assert_eq!(read(row(None, "80..be64", Some(32)), 96, 32), Ok(64));
        for (row, n_in, n_out, why) in [
            (row(Some(48), "01", None), 48, 48, "leaves nothing of a state of 48"),
            (row(Some(18), "01", None), 48, 48, "no words of 32 bits"),
            (row(Some(16), "01", None), 96, 32, "is over a permutation"),
            (row(None, "01", Some(32)), 48, 48, "takes the state and a block"),
            (row(None, "80..be64", None), 96, 32, "has an `output`"),
            (row(None, "80..be64", Some(33)), 96, 32, "1 to 32 bytes, not 33"),
            (row(None, "80..be128", Some(16)), 32, 16, "leaves no room in blocks of 16"),
            (row(Some(16), "x", None), 48, 48, "`x` is no padding"),
            (row(Some(16), "01..81", None), 48, 48, "two messages end alike"),
        ] {
            let said = read(row, n_in, n_out).expect_err(why);
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn what_is_beside_a_block_stands_for_a_padding() {
        let row = |padding: Option<&str>, beside: &[&str], rate| DigestRow {
            name: "mine".into(),
            title: "Mine".into(),
            word: "le32".into(),
            rate,
            padding: padding.map(str::to_owned),
            beside: beside.iter().map(|part| (*part).to_owned()).collect(),
            has_parameters: false,
            initial: String::new(),
            output: Some(32),
        };
        let both = &["counter:le64", "last:4"][..];
        let read = |row: DigestRow, n_in| Digest::read("hash", &row, n_in, 32);
        assert_eq!(read(row(None, both, None), 108).map(|digest| digest.rate), Ok(64));
        for (row, n_in, why) in [
            (row(Some("80..le64"), both, None), 108, "a row with it has no `padding`"),
            (row(None, &[], None), 96, "nothing tells where a message ends"),
            (row(None, both, Some(16)), 32, "a sponge takes nothing `beside` a block"),
            (row(None, both, None), 44, "44 bytes have no room for a state of 32, a block, and 12"),
            (row(None, &both[..1], None), 108, "are one `counter` and one `last`, or nothing"),
        ] {
            let said = read(row, n_in).expect_err(why);
            assert!(said.contains(why), "{said}");
        }
    }
}
