//! The bundled primitives: their Usuba files, the meaning of their bytes, their published vectors.
//!
//! `ciphers/index.toml` lists them; everything is part of the binary.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::emit_c::{Digest, Sponge};
use crate::layout::Layout;

/// One primitive of `ciphers/index.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Primitive {
    /// As in `meanwhile cipher list`.
    pub name: String,
    /// Block cipher, permutation, ...
    pub kind: String,
    pub source: String,
    pub file: String,
    /// The node that works on one block.
    pub entry: String,
    /// The node that makes round keys; its results are the parameters of `entry` that
    /// `params` does not name.
    pub schedule: Option<String>,
    /// How fields become parameters of `schedule`, by parameter.
    #[serde(default)]
    pub schedule_params: BTreeMap<String, FieldLayout>,
    /// How fields become parameters of `entry`, by parameter.
    pub params: BTreeMap<String, FieldLayout>,
    /// Layout of the output string.
    pub output: String,
    /// A field that may be composed of others:
    /// `input = ["hex:6578..", "key", "counter:le32", "nonce"]`.
    #[serde(default)]
    pub compose: BTreeMap<String, Vec<String>>,
    /// The same permutation with fewer rounds, if its modes use both: Ascon's.
    pub short: Option<String>,
    /// Hashes over a permutation, by mode.
    #[serde(default)]
    pub(crate) sponge: BTreeMap<String, DigestRow>,
    /// Hashes over a compression function, by mode.
    #[serde(default)]
    pub(crate) compression: BTreeMap<String, DigestRow>,
    /// The parts of a block in counter modes, by mode; block ciphers have `ctr`
    /// without an entry here.
    #[serde(default, rename = "modes")]
    pub(crate) own_modes: BTreeMap<String, Vec<String>>,
}

/// A field of a case and the layout of its bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldLayout {
    /// `key`, `tweak`, `nonce`, `counter`, `sigma` or `input`.
    pub field: String,
    pub layout: String,
}

/// A hash or a function with output of any length: over a permutation a row of `sponge`, over a
/// compression function one of `compression`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigestRow {
    /// The standard's name in lower case.
    pub name: String,
    /// The standard's name, and the standard.
    pub title: String,
    /// The words of a message: `le64` or `be32`.
    pub word: String,
    /// Bytes that a sponge takes at a time.
    pub rate: Option<usize>,
    /// The first byte behind a message, and what its last block ends with: `1f..80`, `80..be64`.
    pub padding: Option<String>,
    /// Instead of a padding, what is beside a block: `["counter:le64", "last:4"]`.
    #[serde(default)]
    pub beside: Vec<String>,
    /// The first state holds a block of parameters as BLAKE2's does: sizes of digest and key, salt
    /// and personalisation. A key is a block before the message.
    #[serde(default)]
    pub has_parameters: bool,
    /// The first state in hex, its words in bytes as those of a message; else zeros.
    #[serde(default)]
    pub initial: String,
    /// Bytes of output, if it has one length.
    pub output: Option<usize>,
}

impl FieldLayout {
    /// The layout; those of bundled files are valid.
    pub fn layout(&self) -> Layout {
        Layout::parse(&self.layout).expect("a test parses every bundled layout")
    }
}

/// One published or checked vector.
#[derive(Debug, Clone)]
pub struct Vector {
    /// Fields in hex (the counter in decimal).
    pub fields: BTreeMap<String, String>,
    /// The output in hex.
    pub output: String,
}

impl Vector {
    /// A field in hex; a field that is not there is empty.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

#[derive(Deserialize)]
struct LibraryIndex {
    primitive: Vec<Primitive>,
}

/// The vectors of a file such as `ciphers/aes-128.json`; `Err` says what is wrong with it.
pub fn parse_vectors(text: &str) -> Result<Vec<Vector>, String> {
    const FIELDS: [&str; 8] = ["key", "iv", "tweak", "nonce", "counter", "sigma", "ad", "input"];
    let json: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let string = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), str::to_string);
    let vector = |v: &serde_json::Value| Vector {
        fields: FIELDS
            .iter()
            .filter_map(|f| v.get(f).map(|x| (f.to_string(), string(x))))
            .collect(),
        output: string(&v["output"]),
    };
    let all = json["vectors"].as_array().ok_or("it has no list `vectors`")?;
    if all.is_empty() {
        return Err("its list `vectors` is empty".into());
    }
    Ok(all.iter().map(vector).collect())
}

/// All primitives in the order of the index.
pub fn primitives() -> &'static [Primitive] {
    static ALL: OnceLock<Vec<Primitive>> = OnceLock::new();
    ALL.get_or_init(|| {
        let index: LibraryIndex = toml::from_str(file("index.toml").expect("bundled"))
            .expect("a test parses the bundled index");
        index.primitive
    })
}

/// The primitive of this name.
pub fn primitive(name: &str) -> Option<&'static Primitive> {
    primitives().iter().find(|p| p.name == name)
}

/// A file of `ciphers/`.
pub fn file(name: &str) -> Option<&'static str> {
    FILES.iter().find(|f| f.0 == name).map(|f| f.1)
}

impl Primitive {
    /// A title of one line.
    pub fn title(&self) -> String {
        let source =
            if self.source.is_empty() { String::new() } else { format!(" ({})", self.source) };
        format!("{}: {}{source}", self.name, self.kind)
    }

    pub fn text(&self) -> &'static str {
        file(&self.file).expect("a test looks up every bundled file")
    }

    /// Its counter modes and the parts of a block in each. In a block cipher's `ctr` the whole
    /// block, of 32, 64 or 128 bits, is a big-endian counter.
    pub fn modes(&self) -> Vec<(String, Vec<String>)> {
        let mut modes: Vec<_> = self.own_modes.clone().into_iter().collect();
        let bits =
            8 * Layout::parse(&self.output).expect("layouts are parsed when they are read").n_bytes;
        if self.kind.ends_with("block cipher")
            && [32, 64, 128].contains(&bits)
            && !self.own_modes.contains_key("ctr")
        {
            modes.push(("ctr".to_string(), vec![format!("counter:be{bits}")]));
        }
        modes
    }

    /// Its modes that are not counter modes.
    pub fn sponges(&self) -> Vec<Sponge> {
        let aead = self.short.is_some().then_some(Sponge::Aead);
        let rows = self.sponge.iter().chain(&self.compression);
        let digest = |(mode, row): (&String, &DigestRow)| {
            Sponge::Digest(self.digest(mode, row).expect("rows are read before"))
        };
        aead.into_iter().chain(rows.map(digest)).collect()
    }

    /// The names of these modes.
    pub fn sponge_modes(&self) -> impl Iterator<Item = &str> {
        let aead = self.short.is_some().then_some("aead");
        aead.into_iter()
            .chain(self.sponge.keys().chain(self.compression.keys()).map(String::as_str))
    }

    /// A row as it is over the node.
    ///
    /// Errors: what is wrong with it.
    pub(crate) fn digest(&self, mode: &str, row: &DigestRow) -> Result<Digest, String> {
        let n_bytes = |layout: &str| Layout::parse(layout).map_or(0, |layout| layout.n_bytes);
        let input = self.params.values().find(|param| param.field == "input");
        let n_in = input.map_or(0, |input| n_bytes(&input.layout));
        Digest::read(mode, row, n_in, n_bytes(&self.output))
    }

    pub fn vectors(&self) -> Vec<Vector> {
        vectors(&self.name)
    }

    /// The fields that a case must have.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields: Vec<&str> =
            self.schedule_params.values().chain(self.params.values()).map(|f| &*f.field).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }
}

/// The vectors in the file of this primitive or mode; none of a mode that is not bundled.
pub fn vectors(name: &str) -> Vec<Vector> {
    let text = file(&format!("{name}.json"));
    text.map_or_else(Vec::new, |text| {
        parse_vectors(text).expect("a test parses every bundled file")
    })
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../ciphers/", $name)))),*];
    };
}

files! {
    "index.toml",
    "ace.ua",
    "aes.ua",
    "ascon.ua",
    "blake2b.ua",
    "blake2s.ua",
    "chacha20.ua",
    "clyde.ua",
    "des.ua",
    "gift.ua",
    "gimli.ua",
    "keccak.ua",
    "photon.ua",
    "present.ua",
    "pyjamask.ua",
    "rectangle.ua",
    "serpent.ua",
    "sha256.ua",
    "skinny.ua",
    "spongent.ua",
    "subterranean.ua",
    "xoodoo.ua",
    "ace.json",
    "aes-128-decrypt.json",
    "aes-128-gcm-siv.json",
    "aes-128-gcm.json",
    "aes-128-xts.json",
    "aes-128.json",
    "aes-192-decrypt.json",
    "aes-192.json",
    "aes-256-cbc.json",
    "aes-256-cmac.json",
    "aes-256-decrypt.json",
    "aes-256-gcm-siv.json",
    "aes-256-gcm.json",
    "aes-256-xts.json",
    "aes-256.json",
    "ascon-aead128.json",
    "ascon-hash256.json",
    "ascon-p12.json",
    "ascon-xof128.json",
    "blake2b-256.json",
    "blake2b-512-keyed.json",
    "blake2b-512.json",
    "blake2b-compress.json",
    "blake2s-256-keyed.json",
    "blake2s-256.json",
    "blake2s-compress.json",
    "chacha20-poly1305.json",
    "chacha20-xpoly1305.json",
    "chacha20.json",
    "clyde-128.json",
    "des.json",
    "gift-128.json",
    "gimli.json",
    "keccak-f1600.json",
    "photon-256.json",
    "present-80.json",
    "pyjamask-128.json",
    "rectangle-128.json",
    "rectangle-80.json",
    "serpent-128-decrypt.json",
    "serpent-128.json",
    "sha-256.json",
    "sha256-compress.json",
    "sha3-256.json",
    "sha3-512.json",
    "shake128.json",
    "shake256.json",
    "skinny-128-128.json",
    "skinny-128-256.json",
    "skinny-128-384.json",
    "spongent-pi-160.json",
    "subterranean-blank8.json",
    "subterranean-duplex.json",
    "subterranean-round.json",
    "xoodoo-12.json",
}
