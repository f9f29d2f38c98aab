//! Modes made of a cipher's own functions, such as GCM: C over the package of any cipher that fits.
//!
//! A mode is a row of [`MODES`]: what it is over, and the texts of its C. Its shape says which
//! functions it has, and with them the traits in Rust and the class in Python.

use std::fmt::Write;

use report::Diagnostic;

use super::{Crypt, Param, Part, TargetFile, camel, fill, modes};
use crate::library::{self, Vector};

/// A mode over a cipher.
#[derive(Debug)]
pub struct OverMode {
    /// As on the command line.
    pub name: &'static str,
    title: &'static str,
    base: ModeBase,
    shape: ModeShape,
    /// Bytes of a nonce in Rust; what the header says of nonces, and of the longest text.
    nonce: (usize, &'static str),
    text_max: &'static str,
    /// The types in its header.
    types: &'static str,
    /// Bytes of its keys and of a message in pieces, beside the objects of the cipher.
    own_bytes: (usize, usize),
    source: &'static [&'static str],
}

/// What a mode is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModeBase {
    /// A block cipher with blocks of 128 bits, and its stream.
    Stream128,
    /// The same with a key of 128 or 256 bits, as the mode makes keys for it.
    Keyed128,
    /// A block cipher with blocks of 128 bits.
    Block128,
    /// A block cipher with blocks of 128 bits, and its inverse.
    Inverse128,
    /// ChaCha20 with a counter of 32 bits.
    ChaCha20,
}

/// The functions of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModeShape {
    /// Authenticated encryption.
    Sealed,
    /// The same, and encryption in pieces.
    InPieces,
    /// Sectors with a tweak, of the same length.
    Tweaked,
    /// Decryption of blocks with an initial one.
    Chained,
    /// Tags of texts.
    Mac,
}

pub static MODES: &[OverMode] = &[
    OverMode {
        name: "gcm",
        title: "GCM of NIST SP 800-38D",
        base: ModeBase::Stream128,
        shape: ModeShape::InPieces,
        nonce: (
            12,
            "A nonce has 12 bytes, or any other number but 0. Never use one twice with one key: \
             that\n   reveals both texts, and how to forge tags.",
        ),
        text_max: "2^36 - 32",
        types: include_str!("templates/over/gcm.h"),
        own_bytes: (64 + 2 * 8192, 104),
        source: &[
            include_str!("templates/over/ghash.c"),
            include_str!("templates/over/ghash_wide.c"),
            include_str!("templates/over/state.c"),
            include_str!("templates/over/gcm.c"),
            include_str!("templates/over/then_mac.c"),
        ],
    },
    OverMode {
        name: "gcm-siv",
        title: "GCM-SIV of RFC 8452",
        base: ModeBase::Keyed128,
        shape: ModeShape::Sealed,
        nonce: (
            12,
            "A nonce has 12 bytes. One that is used twice only reveals whether both messages are \
             the same.",
        ),
        text_max: "2^36",
        types: include_str!("templates/over/gcm_siv.h"),
        own_bytes: (16, 0),
        source: &[
            include_str!("templates/over/ghash.c"),
            include_str!("templates/over/ghash_wide.c"),
            include_str!("templates/over/gcm_siv.c"),
        ],
    },
    OverMode {
        name: "poly1305",
        title: "ChaCha20-Poly1305 of RFC 8439",
        base: ModeBase::ChaCha20,
        shape: ModeShape::InPieces,
        nonce: (
            12,
            "A nonce has 12 bytes. Never use one twice with one key: that reveals both texts, and \
             how\n   to forge tags.",
        ),
        text_max: "2^38 - 64",
        types: include_str!("templates/over/poly1305.h"),
        own_bytes: (64, 144),
        source: &[
            include_str!("templates/over/poly1305_hash.c"),
            include_str!("templates/over/poly1305_wide.c"),
            include_str!("templates/over/state.c"),
            include_str!("templates/over/chacha_nonce.c"),
            include_str!("templates/over/poly1305.c"),
            include_str!("templates/over/then_mac.c"),
        ],
    },
    OverMode {
        name: "xpoly1305",
        title: "XChaCha20-Poly1305",
        base: ModeBase::ChaCha20,
        shape: ModeShape::InPieces,
        nonce: (
            24,
            "A nonce has 24 bytes, enough to draw it at random. Never use one twice with one key, \
             nor\n   a key with ChaCha20-Poly1305 too: its streams can contain keys of this mode.",
        ),
        text_max: "2^38 - 64",
        types: include_str!("templates/over/poly1305.h"),
        own_bytes: (64, 144),
        source: &[
            include_str!("templates/over/poly1305_hash.c"),
            include_str!("templates/over/poly1305_wide.c"),
            include_str!("templates/over/state.c"),
            include_str!("templates/over/xchacha_nonce.c"),
            include_str!("templates/over/poly1305.c"),
            include_str!("templates/over/then_mac.c"),
        ],
    },
    OverMode {
        name: "xts",
        title: "XTS of NIST SP 800-38E",
        base: ModeBase::Inverse128,
        shape: ModeShape::Tweaked,
        nonce: (16, ""),
        text_max: "2^24",
        types: include_str!("templates/over/xts.h"),
        own_bytes: (0, 0),
        source: &[include_str!("templates/over/xts.c")],
    },
    OverMode {
        name: "cbc",
        title: "CBC of NIST SP 800-38A",
        base: ModeBase::Inverse128,
        shape: ModeShape::Chained,
        nonce: (16, ""),
        text_max: "",
        types: include_str!("templates/over/cbc.h"),
        own_bytes: (0, 0),
        source: &[include_str!("templates/over/cbc.c")],
    },
    OverMode {
        name: "cmac",
        title: "CMAC of NIST SP 800-38B",
        base: ModeBase::Block128,
        shape: ModeShape::Mac,
        nonce: (0, ""),
        text_max: "",
        types: include_str!("templates/over/cmac.h"),
        own_bytes: (32, 0),
        source: &[include_str!("templates/over/cmac.c")],
    },
];

/// Eight sums of Poly1305 side by side, in registers of AVX2 or AVX-512.
fn poly_lanes(is_avx512: bool) -> String {
    let values = if is_avx512 {
        ["avx512", "avx512f", "8", "_mm512_", "__m512i", "0, 4, 1, 5, 2, 6, 3, 7"]
    } else {
        ["avx2", "avx2", "4", "_mm256_", "__m256i", "0, 2, 1, 3"]
    };
    let names = ["S", "TARGET", "LANES", "V", "T", "ORDER"];
    let pairs: Vec<(&str, &str)> = names.into_iter().zip(values).collect();
    fill(include_str!("templates/over/poly1305_lanes.c"), &pairs)
}

impl OverMode {
    /// The mode of this name.
    pub fn named(name: &str) -> Option<&'static OverMode> {
        MODES.iter().find(|mode| mode.name == name)
    }

    /// The inverse of a bundled cipher, if the mode needs it.
    pub fn inverse_of(&self, cipher: &str) -> Option<String> {
        let inverse = format!("{cipher}-decrypt");
        let is_there = library::primitive(&inverse).is_some();
        (self.base == ModeBase::Inverse128 && is_there).then_some(inverse)
    }

    /// Adds the mode to the ciphers that can have it.
    ///
    /// Errors: none of them can.
    pub fn add_to(&'static self, parts: &mut [Part]) -> Result<(), Vec<Diagnostic>> {
        let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
        let mut is_added = false;
        for part in parts.iter_mut().filter(|part| self.fits(part, &names)) {
            if part.over.iter().any(|other| other.name == self.name) {
                let message = format!("the mode `{}` is named twice", self.name);
                return Err(vec![Diagnostic::new(message).with_help("leave one out")]);
            }
            part.over.push(self);
            is_added = true;
        }
        if is_added {
            return Ok(());
        }
        let streams = parts.iter().filter_map(|part| part.stream.as_ref());
        if let Some(other) = streams.map(|stream| stream.mode.as_str()).find(|mode| *mode != "ctr")
            && self.base == ModeBase::ChaCha20
        {
            let message = format!("the mode `{}` stands on `ctr`, not on `{other}`", self.name);
            let help = format!("leave `{other}` out, or make it a package of its own");
            return Err(vec![Diagnostic::new(message).with_help(help)]);
        }
        let (needs, help) = match self.base {
            ModeBase::Stream128 => (
                "a block cipher with one key and blocks of 16 bytes, and its `ctr`",
                "such as aes-128, aes-256 or serpent-128, or a file whose layout says \
                 `kind = \"block cipher\"`",
            ),
            ModeBase::Keyed128 => (
                "a block cipher with blocks of 16 bytes and a key of 16 or 32",
                "such as aes-128 and aes-256; `gcm` takes any key",
            ),
            ModeBase::Block128 => (
                "a block cipher with one key and blocks of 16 bytes",
                "such as aes-128, aes-256 or serpent-128",
            ),
            ModeBase::Inverse128 => (
                "a block cipher with one key and blocks of 16 bytes, and its inverse",
                "that of a file `mine` is a file in the same package whose layout says \
                 `name = \"mine-decrypt\"` and `kind = \"block decryption\"`",
            ),
            ModeBase::ChaCha20 => {
                ("chacha20 with its `ctr`", "block ciphers with blocks of 16 bytes have `gcm`")
            }
        };
        let names: Vec<String> = parts.iter().map(|part| format!("`{}`", part.primitive)).collect();
        let has_none = match &names[..] {
            [name] => format!("{name} has no mode"),
            names => format!("none of {} has the mode", names.join(", ")),
        };
        let message = format!("{has_none} `{}`, which needs {needs}", self.name);
        Err(vec![Diagnostic::new(message).with_help(help)])
    }

    fn fits(&self, part: &Part, names: &[String]) -> bool {
        let stream = part.stream.as_ref().filter(|stream| stream.mode == "ctr");
        let is_block =
            part.cipher == Some(Crypt::Encrypt) && part.n_in == 16 && part.keys.len() == 1;
        match self.base {
            ModeBase::Stream128 => is_block && stream.is_some_and(|stream| stream.bits == 128),
            ModeBase::Keyed128 => is_block && [16, 32].contains(&part.keys[0].1),
            ModeBase::Block128 => is_block,
            ModeBase::Inverse128 => is_block && names.contains(&format!("{}_decrypt", part.name)),
            ModeBase::ChaCha20 => {
                let size = |param: &Param| match param {
                    Param::Bytes(_, n) => *n,
                    Param::Counter => 4,
                };
                let is_usual = |sizes: Vec<usize>| sizes == [32, 4, 12];
                let sizes = |params: &[Param]| params.iter().map(size).collect();
                part.keys.is_empty()
                    && part.n_out == 64
                    && stream.is_some_and(|it| it.bits == 32 && is_usual(sizes(&it.params)))
            }
        }
    }

    /// Its prefix in C over a cipher.
    pub fn prefix(&self, part: &Part) -> String {
        format!("{}_{}", part.name, self.name.replace('-', "_"))
    }

    /// Its module in Rust.
    pub fn module_name(&self, part: &Part) -> String {
        format!("{}_{}", part.module, self.name.replace('-', "_"))
    }

    /// Its type in Rust and Python.
    fn type_name(&self, part: &Part) -> String {
        camel(&self.module_name(part))
    }

    /// Its line in the first page of a crate or a Python package.
    pub fn line(&self, part: &Part) -> String {
        self.fill(part, "- `@TYPE@`: @TITLE@\n")
    }

    /// Bytes of its keys and of a message in pieces.
    fn bytes(&self, part: &Part) -> (usize, usize) {
        let largest = |bytes: fn(&TargetFile) -> usize| {
            64 + part.targets.iter().map(bytes).max().unwrap_or(0)
        };
        let keys = largest(|target| target.keys_bytes);
        let keys = match self.base {
            ModeBase::Stream128 | ModeBase::Keyed128 | ModeBase::Block128 => keys,
            // Round keys of the inverse are the same.
            ModeBase::Inverse128 if self.shape == ModeShape::Tweaked => 3 * keys,
            ModeBase::Inverse128 => keys,
            ModeBase::ChaCha20 => 0,
        };
        let stream = largest(|target| target.stream_bytes);
        let whole = |bytes: usize| bytes.next_multiple_of(64);
        (whole(keys + self.own_bytes.0), whole(stream + self.own_bytes.1))
    }

    /// A template with what it says of the mode and its cipher.
    fn fill(&self, part: &Part, template: &str) -> String {
        let n_cipher_key = part.keys.first().map_or(32, |key| key.1);
        let n_key = if self.shape == ModeShape::Tweaked { 2 * n_cipher_key } else { n_cipher_key };
        let (n_keys, n_state) = self.bytes(part);
        let prefix = self.prefix(part);
        let width = part.targets.iter().map(|target| target.width).max().unwrap_or(1);
        fill(
            template,
            &[
                ("MODE", &prefix),
                ("UP", &prefix.to_uppercase()),
                ("NAME", &part.name),
                ("TYPE", &self.type_name(part)),
                ("MODULE", &self.module_name(part)),
                ("TITLE", &format!("{} over {}", self.title, part.primitive)),
                ("WIDTH", &width.to_string()),
                ("N_KEY", &n_key.to_string()),
                ("N_NONCE", &self.nonce.0.to_string()),
                ("NONCES", self.nonce.1),
                ("TEXT_MAX", self.text_max),
                ("N_KEYS", &n_keys.to_string()),
                ("N_STATE", &n_state.to_string()),
                ("KEY_WORDS", &(n_keys / 8).to_string()),
                ("STATE_WORDS", &(n_state / 8).to_string()),
            ],
        )
    }

    /// The prototypes of its functions.
    fn functions(&self) -> String {
        match self.shape {
            ModeShape::Sealed => include_str!("templates/over/aead.h").to_owned(),
            ModeShape::InPieces => concat!(
                include_str!("templates/over/aead.h"),
                include_str!("templates/over/pieces.h")
            )
            .to_owned(),
            ModeShape::Tweaked => include_str!("templates/over/tweaked.h").to_owned(),
            ModeShape::Chained => include_str!("templates/over/chained.h").to_owned(),
            ModeShape::Mac => include_str!("templates/over/mac.h").to_owned(),
        }
    }

    pub fn header(&self, part: &Part) -> String {
        let includes = if self.base == ModeBase::Inverse128 {
            "#include \"@NAME@.h\"\n#include \"@NAME@_decrypt.h\"\n"
        } else {
            "#include \"@NAME@.h\"\n"
        };
        let ended = if self.shape == ModeShape::Tweaked { KEY } else { modes::ENDED };
        let text = fill(
            include_str!("templates/mode.h"),
            &[
                ("INCLUDES", includes),
                ("ENDED", ended),
                ("TYPES", self.types),
                ("PROTOTYPES", &self.functions()),
            ],
        );
        self.fill(part, &text)
    }

    pub fn source(&self, part: &Part) -> String {
        let (before, after) = match self.shape {
            ModeShape::Sealed | ModeShape::InPieces => {
                (include_str!("templates/over/tag.c"), include_str!("templates/over/aead.c"))
            }
            ModeShape::Tweaked | ModeShape::Chained | ModeShape::Mac => ("", ""),
        };
        let own = fill(
            &self.source.concat(),
            &[("POLY_AVX2", &poly_lanes(false)), ("POLY_AVX512", &poly_lanes(true))],
        );
        let texts = [include_str!("templates/over/common.c"), before, &own, after];
        self.fill(part, &texts.concat())
    }

    /// Declarations for cffi.
    pub fn declarations(&self, part: &Part) -> String {
        let keys = "typedef struct { ...; } @MODE@_keys;";
        let state = match self.shape {
            ModeShape::InPieces => "\ntypedef struct { ...; } @MODE@_state;",
            ModeShape::Sealed | ModeShape::Tweaked | ModeShape::Chained | ModeShape::Mac => "",
        };
        self.fill(part, &[keys, state, &self.functions()].concat())
    }

    /// The crate of its traits, if it has any.
    pub fn dependency(&self) -> Option<&'static str> {
        self.is_sealed().then_some(modes::AEAD)
    }

    /// It is authenticated encryption.
    fn is_sealed(&self) -> bool {
        matches!(self.shape, ModeShape::Sealed | ModeShape::InPieces)
    }

    /// The module of the Rust crate.
    pub fn rust(&self, part: &Part) -> String {
        let traits = fill(
            include_str!("templates/aead_traits.rs.txt"),
            &[
                ("FUNCTION", "@MODE@"),
                ("FIRST", "&self.keys"),
                ("N_KEY_TYPE", "U@N_KEY@"),
                ("N_NONCE_TYPE", "U@N_NONCE@"),
                ("INIT", "@TYPE@ { keys: Keys::expanded(key) }"),
            ],
        );
        let sealed = include_str!("templates/over/aead.rs.txt").to_owned();
        let text = match self.shape {
            ModeShape::Sealed => sealed + &traits,
            ModeShape::InPieces => sealed + include_str!("templates/over/pieces.rs.txt") + &traits,
            ModeShape::Tweaked => include_str!("templates/over/tweaked.rs.txt").to_owned(),
            ModeShape::Chained => include_str!("templates/over/chained.rs.txt").to_owned(),
            ModeShape::Mac => include_str!("templates/over/mac.rs.txt").to_owned(),
        };
        self.fill(part, &fill(&text, &[("KEYS", include_str!("templates/over/keys.rs.txt"))]))
    }

    /// The types of its module, as a `use` names them.
    pub fn rust_types(&self, part: &Part) -> String {
        let name = self.type_name(part);
        match self.shape {
            ModeShape::InPieces => format!("{{{name}, {name}Encryptor}}"),
            ModeShape::Sealed | ModeShape::Tweaked | ModeShape::Chained | ModeShape::Mac => name,
        }
    }

    /// Its published vectors, if there are any.
    fn vectors(&self, part: &Part) -> Vec<Vector> {
        let name = format!("{}-{}", part.primitive, self.name);
        let is_there = part.is_bundled && library::file(&format!("{name}.json")).is_some();
        if is_there { library::vectors(&name) } else { Vec::new() }
    }

    /// The vectors through the crate; nothing if there are none.
    pub fn rust_test(&self, part: &Part, crate_name: &str) -> String {
        let ty = format!("{crate_name}::{}", self.type_name(part));
        let (module, vectors) = (self.module_name(part), self.vectors(part));
        if vectors.is_empty() {
            return String::new();
        }
        let (call, fields, text): (_, &[&str], _) = match self.shape {
            ModeShape::Sealed | ModeShape::InPieces => {
                let is_in_pieces = self.shape == ModeShape::InPieces;
                return modes::sealed_test(&ty, &module, &vectors, is_in_pieces);
            }
            ModeShape::Tweaked => (
                "sealed",
                &["key", "tweak", "input"],
                include_str!("templates/over/tweaked_test.rs.txt"),
            ),
            ModeShape::Chained => (
                "opened",
                &["key", "iv", "input"],
                include_str!("templates/over/chained_test.rs.txt"),
            ),
            ModeShape::Mac => {
                ("tagged", &["key", "input"], include_str!("templates/over/mac_test.rs.txt"))
            }
        };
        let mut calls = String::new();
        for vector in &vectors {
            let given = fields.iter().map(|field| format!("\"{}\"", vector.field(field)));
            let given: Vec<String> = given.collect();
            let _ = writeln!(calls, "    {call}({}, \"{}\");", given.join(", "), vector.output);
        }
        fill(text, &[("TYPE", &ty), ("MODULE", &module), ("CALLS", &calls)])
    }

    /// The classes in Python.
    pub fn class(&self, part: &Part, names: &mut Vec<String>) -> String {
        let name = self.type_name(part);
        names.push(name.clone());
        let sealed = |encryptor: &str| {
            fill(include_str!("templates/over/aead.py"), &[("ENCRYPTOR", encryptor)])
        };
        let text = match self.shape {
            ModeShape::Sealed => sealed(""),
            ModeShape::InPieces => {
                names.push(format!("{name}Encryptor"));
                let encryptor = include_str!("templates/over/encryptor.py");
                sealed(encryptor) + include_str!("templates/over/pieces.py")
            }
            ModeShape::Tweaked => include_str!("templates/over/tweaked.py").to_owned(),
            ModeShape::Chained => include_str!("templates/over/chained.py").to_owned(),
            ModeShape::Mac => include_str!("templates/over/mac.py").to_owned(),
        };
        self.fill(part, &fill(&text, &[("KEYS", include_str!("templates/over/keys.py"))]))
    }
}

/// The last errors of a mode whose key is two.
const KEY: &str = ",     /* the message has ended */\n    \
                   @UP@_KEY = 8        /* both halves of the key are the same */";

/// `encrypt` and `decrypt` in Python, if there is one mode that they can mean.
pub fn functions(parts: &[Part], names: &mut Vec<String>) -> String {
    let mut all: Vec<(&Part, &OverMode)> = Vec::new();
    for part in parts {
        let sealed = part.over.iter().filter(|mode| mode.is_sealed());
        all.extend(sealed.map(|mode| (part, *mode)));
    }
    let [(part, mode)] = all[..] else { return String::new() };
    names.extend(["encrypt".into(), "decrypt".into()]);
    mode.fill(part, include_str!("templates/over/functions.py"))
}
