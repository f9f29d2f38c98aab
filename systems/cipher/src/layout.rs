//! How the bytes of a block become the words of a node: a small notation, one line a parameter.
//!
//! ```text
//! byte:16 bit:8 -> bit | byte      16 bytes; word i holds bit i of every byte (bit planes)
//! word:4 byte:4 bit:8 -> word | -byte bit      four little-endian 32-bit words
//! lsb bit:257 -> bit |             257 one-bit words, bit 0 the least significant of byte 0
//! pad10 lsb bit:33 -> bit |        up to 4 bytes, then a 1 and zeros up to 33 bits
//! ```
//!
//! On the left the bits of the string are numbered row by row; the last axis runs through a
//! byte from its most significant bit (`lsb`: from its least). On the right stand the axes of
//! the words, then after `|` those of the bits of a word from the most significant; `-` reverses an
//! axis.

/// Where each bit of a parameter lies in a byte string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// For each bit of the words in order, most significant first: `8 * byte + bit`, where bit 0 is
    /// the most significant of the byte.
    pub position: Vec<u32>,
    /// Bytes of the string.
    pub n_bytes: usize,
    /// Shorter strings are allowed; a 1 bit and zeros follow them.
    pub pad10: bool,
    /// Bits are numbered from the least significant of each byte.
    lsb: bool,
}

impl Layout {
    /// Reads the notation; `Err` says what is wrong.
    pub fn parse(text: &str) -> Result<Layout, String> {
        let (left, right) =
            text.split_once("->").ok_or("a layout has `->` between string and words")?;
        let (mut lsb, mut pad10) = (false, false);
        let mut axes: Vec<(&str, u32)> = Vec::new();
        for word in left.split_whitespace() {
            match word {
                "lsb" => lsb = true,
                "pad10" => pad10 = true,
                _ => {
                    let (name, size) =
                        word.split_once(':').ok_or_else(|| format!("axis `{word}` has no size"))?;
                    let size: u32 = size
                        .parse()
                        .ok()
                        .filter(|n| *n > 0)
                        .ok_or_else(|| format!("`{size}` is not a size"))?;
                    axes.push((name, size));
                }
            }
        }
        let order: Vec<(&str, bool)> = right
            .split_whitespace()
            .filter(|w| *w != "|")
            .map(|w| w.strip_prefix('-').map_or((w, false), |name| (name, true)))
            .collect();
        let mut used: Vec<&str> = order.iter().map(|o| o.0).collect();
        used.sort_unstable();
        let mut known: Vec<&str> = axes.iter().map(|a| a.0).collect();
        known.sort_unstable();
        if used != known {
            return Err(format!(
                "the axes left ({}) and right ({}) differ",
                known.join(" "),
                used.join(" ")
            ));
        }
        let n_bits: u32 = axes.iter().map(|a| a.1).product();
        let mut strings = vec![0u32];
        for (name, reversed) in order {
            let at =
                axes.iter().position(|a| a.0 == name).expect("the axes are the same on both sides");
            let (size, stride) = (axes[at].1, axes[at + 1..].iter().map(|a| a.1).product::<u32>());
            strings = strings
                .iter()
                .flat_map(|s| {
                    (0..size).map(move |i| s + stride * if reversed { size - 1 - i } else { i })
                })
                .collect();
        }
        let position =
            strings.into_iter().map(|s| if lsb { s / 8 * 8 + 7 - s % 8 } else { s }).collect();
        Ok(Layout { position, n_bytes: n_bits.div_ceil(8) as usize, pad10, lsb })
    }

    /// Words in order, each from its most significant bit, the last byte filled with zeros.
    pub fn plain(n_bits: usize) -> Layout {
        Layout {
            position: (0..n_bits as u32).collect(),
            n_bytes: n_bits.div_ceil(8),
            pad10: false,
            lsb: false,
        }
    }

    /// The string at its full length; `None` when it has too many or too few bytes.
    pub fn pad(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut full = bytes.to_vec();
        if self.pad10 && bytes.len() < self.n_bytes {
            full.push(if self.lsb { 1 } else { 0x80 });
            full.resize(self.n_bytes, 0);
        }
        (full.len() == self.n_bytes).then_some(full)
    }

    /// The words of `m` bits that a string of `n_bytes` holds.
    pub fn words(&self, bytes: &[u8], m: u32) -> Vec<u64> {
        assert_eq!(bytes.len(), self.n_bytes, "strings are padded before");
        let bit = |at: &u32| u64::from(bytes[*at as usize / 8] >> (7 - at % 8) & 1);
        self.position
            .chunks(m as usize)
            .map(|word| word.iter().fold(0, |w, at| w << 1 | bit(at)))
            .collect()
    }

    /// The string that holds these words.
    pub fn bytes(&self, words: &[u64], m: u32) -> Vec<u8> {
        let mut bytes = vec![0u8; self.n_bytes];
        for (word, places) in words.iter().zip(self.position.chunks(m as usize)) {
            for (i, at) in places.iter().enumerate() {
                bytes[*at as usize / 8] |=
                    ((word >> (m as usize - 1 - i) & 1) as u8) << (7 - at % 8);
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_and_big_endian_words() {
        let bytes: Vec<u8> = (1..=8).collect();
        let le = Layout::parse("word:2 byte:4 bit:8 -> word | -byte bit").unwrap();
        assert_eq!(le.words(&bytes, 32), [0x0403_0201, 0x0807_0605]);
        let be = Layout::parse("word:2 byte:4 bit:8 -> word | byte bit").unwrap();
        assert_eq!(be.words(&bytes, 32), [0x0102_0304, 0x0506_0708]);
        assert_eq!(be.bytes(&[0x0102_0304, 0x0506_0708], 32), bytes);
    }

    #[test]
    fn bit_planes() {
        let planes = Layout::parse("byte:2 bit:8 -> bit | byte").unwrap();
        assert_eq!(planes.words(&[0x80, 0xff], 2), [3, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn bits_from_the_least_significant_and_padding() {
        let layout = Layout::parse("pad10 lsb bit:33 -> bit |").unwrap();
        let words = layout.words(&layout.pad(&[0x01]).unwrap(), 1);
        assert_eq!(&words[..10], [1, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(layout.pad(&[0; 6]), None);
    }

    #[test]
    fn bad_layouts_are_refused() {
        assert!(Layout::parse("byte:16 bit -> byte | bit").is_err());
        assert!(Layout::parse("byte:16 bit:8 -> byte |").is_err());
        assert!(Layout::parse("byte:16 bit:8").is_err());
    }
}
