//! AEAD and hashes over a permutation or compression function in a package: the C that chooses a
//! target, the module of the Rust crate, the class in Python.

use std::fmt::Write;

use super::targets::{MADE_FOR, includes, is_here, of_targets, processors};
use super::{Part, fill};
use crate::emit_c::{Digest, MESSAGE, Sponge};
use crate::library::{self, Vector};

const AEAD_MANY: &str = "const char *target, const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t ad_size, \
                         const uint8_t *in, uint8_t *out, size_t size";

/// Signatures of all functions, each with its comment.
pub fn prototypes(part: &Part, sponge: &Sponge) -> Vec<(String, String)> {
    let name = &part.name;
    let mut all = of_targets(part);
    all[2].0 =
        "Messages that a target processes at a time; 0 if this processor does not run it.".into();
    let mut add = |comment: &str, signature: String| all.push((comment.into(), signature));
    match sponge {
        Sponge::Aead => {
            let given = "const char *target, const uint8_t *key, size_t key_size, const uint8_t *nonce, size_t nonce_size, \
                         const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size";
            add(
                "Encrypts in_size bytes, in place if out is in, and makes the tag of 16 bytes. Never use a nonce twice with one key. Key and\n   nonce have 16 bytes; a NULL target is the one for single messages.",
                format!("int {name}_encrypt({given}, uint8_t *tag, size_t tag_size)"),
            );
            add(
                "Decrypts them; FORGED if the tag is wrong, and then out is zeros. Do not read out before the call returns.",
                format!("int {name}_decrypt({given}, const uint8_t *tag, size_t tag_size)"),
            );
            add(
                "The same for messages of one length, one after another, as are keys, nonces, associated data and tags.",
                format!("int {name}_encrypt_many({AEAD_MANY}, uint8_t *tags, size_t n_messages)"),
            );
            add(
                "is_right, unless NULL, is set to 1 for each authentic message and to 0 for each other one.",
                format!(
                    "int {name}_decrypt_many({AEAD_MANY}, const uint8_t *tags, uint8_t *is_right, size_t n_messages)"
                ),
            );
            add(
                "The same for messages of any lengths. Those of one batch take as long as the longest of them.",
                format!(
                    "int {name}_encrypt_each(const char *target, const {name}_message *messages, size_t n_messages)"
                ),
            );
            add(
                "FORGED if one of them is forged; is_right is 1 in the others.",
                format!(
                    "int {name}_decrypt_each(const char *target, {name}_message *messages, size_t n_messages)"
                ),
            );
            add(
                "Starts a message that is encrypted in pieces. There is no decryption in pieces: it would release text before its tag is verified.",
                format!(
                    "int {name}_init({name}_state *state, const char *target, const uint8_t *key, size_t key_size, const uint8_t *nonce, size_t nonce_size)"
                ),
            );
            add(
                "Adds associated data, in pieces of any size, before the first text.",
                format!("int {name}_aad({name}_state *state, const uint8_t *ad, size_t ad_size)"),
            );
            add(
                "Encrypts the next bytes of text, in pieces of any size, in place if out is in.",
                format!(
                    "int {name}_update({name}_state *state, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)"
                ),
            );
            add(
                "Makes the tag, and ends the message.",
                format!("int {name}_final({name}_state *state, uint8_t *tag, size_t tag_size)"),
            );
            add(
                "Overwrites a message that is no longer needed.",
                format!("void {name}_wipe({name}_state *state)"),
            );
        }
        Sponge::Digest(digest) => {
            let what = digest.output.map_or("out_size bytes of output".to_owned(), |n| {
                format!("The digest of {n} bytes")
            });
            add(
                &format!("{what} of a message; a NULL target is the one for single messages."),
                format!(
                    "int {name}_digest(const char *target, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)"
                ),
            );
            add(
                "Those of messages of one length, one after another. The messages of a batch are read before its outputs are written: no output may\n   lie in a message of a later one.",
                format!(
                    "int {name}_many(const char *target, const uint8_t *in, size_t size, uint8_t *out, size_t out_size, size_t n_messages)"
                ),
            );
            add(
                "Those of messages of any lengths; outputs are one after another. Messages of one batch take as long as the longest of them.",
                format!(
                    "int {name}_each(const char *target, const uint8_t *const *in, const size_t *in_sizes, uint8_t *out, size_t out_size, size_t n_messages)"
                ),
            );
            add(
                "Starts a message in pieces.",
                format!("int {name}_init({name}_state *state, const char *target)"),
            );
            add(
                "Adds the next bytes of the message, in pieces of any size.",
                format!(
                    "int {name}_update({name}_state *state, const uint8_t *in, size_t in_size)"
                ),
            );
            let (end, said, said_of_many) = match digest.output {
                Some(_) => ("final", "The digest of the message.", "The digests of the messages."),
                None => (
                    "squeeze",
                    "Writes the next bytes of output, in pieces of any size. The first call ends the message.",
                    "Writes the next out_size bytes of each output, in pieces of any size. The first call ends the messages.",
                ),
            };
            add(
                said,
                format!("int {name}_{end}({name}_state *state, uint8_t *out, size_t out_size)"),
            );
            if digest.has_parameters {
                add_parameters(&mut add, name, digest);
            }
            add(
                "Overwrites a message that is no longer needed.",
                format!("void {name}_wipe({name}_state *state)"),
            );
            add(
                "Starts several messages of one length side by side, at most as many as the target's width; a NULL target is the\n   narrowest one that has room for them. The functions below are for as many messages.",
                format!(
                    "int {name}_init_many({name}_state *state, const char *target, size_t n_messages)"
                ),
            );
            add(
                "Adds the next in_size bytes of each.",
                format!(
                    "int {name}_update_many({name}_state *state, const uint8_t *const *in, size_t in_size)"
                ),
            );
            add(
                said_of_many,
                format!(
                    "int {name}_{end}_many({name}_state *state, uint8_t *const *out, size_t out_size)"
                ),
            );
        }
    }
    all
}

/// Functions of a hash whose first state holds BLAKE2's parameters.
fn add_parameters(add: &mut impl FnMut(&str, String), name: &str, digest: &Digest) {
    let (most, n_salt) = (digest.output.unwrap_or(0), digest.salt_bytes());
    let given = "size_t digest_size, const uint8_t *key, size_t key_size, const uint8_t *salt, size_t salt_size, const uint8_t *personal, size_t personal_size";
    let key = "const char *target, const uint8_t *key, size_t key_size, const uint8_t *in, size_t in_size";
    add(
        &format!(
            "Starts a message in pieces with BLAKE2's parameters: a digest of 1 to {most} bytes, a key of at most {most}, a salt and a\n   personalisation of at most {n_salt}, which zeros fill up."
        ),
        format!("int {name}_init_with({name}_state *state, const char *target, {given})"),
    );
    add(
        "The same of several messages side by side, as _init_many starts them.",
        format!(
            "int {name}_init_many_with({name}_state *state, const char *target, size_t n_messages, {given})"
        ),
    );
    add(
        &format!(
            "The tag of a message under a key of 1 to {most} bytes: 1 to {most} bytes, those of hash and key alone, as RFC 7693 has it."
        ),
        format!("int {name}_mac({key}, uint8_t *out, size_t out_size)"),
    );
    add(
        "OK if it is the tag of the message, FORGED if not; it takes as long wherever they differ.",
        format!("int {name}_verify({key}, const uint8_t *tag, size_t tag_size)"),
    );
}

/// Types with members for callers.
pub fn types(part: &Part, sponge: &Sponge) -> String {
    if *sponge == Sponge::Aead { MESSAGE.replace("NAME", &part.name) } else { String::new() }
}

/// What the last error of a mode's header means.
pub const ENDED: &str = "      /* the message has ended */";

pub fn header(part: &Part, sponge: &Sponge) -> String {
    let (name, up) = (&part.name, part.name.to_uppercase());
    let types = types(part, sponge)
        + &format!(
            "\n/* A message in pieces, aligned to 64 bytes. Only the functions below use its members. */\ntypedef struct {{\n    uint64_t target[8];\n    uint64_t words[{}];\n}} __attribute__((aligned(64))) {name}_state;\n",
            state_bytes(part) / 8
        );
    let prototypes: String = prototypes(part, sponge)
        .iter()
        .map(|(comment, it)| format!("\n/* {comment} */\n{it};\n"))
        .collect();
    let values = [
        ("UP", up.as_str()),
        ("INCLUDES", ""),
        ("ENDED", ENDED),
        ("TITLE", &part.title),
        ("TYPES", &types),
        ("PROTOTYPES", &prototypes),
    ];
    fill(include_str!("templates/mode.h"), &values)
}

/// Bytes of the largest state.
pub fn state_bytes(part: &Part) -> usize {
    part.targets.iter().map(|target| target.state_bytes).max().unwrap_or(0)
}

/// The file that chooses a target and checks arguments.
pub fn dispatcher(part: &Part, sponge: &Sponge) -> String {
    let (name, up) = (&part.name, part.name.to_uppercase());
    let (members, glue_text, columns, text) = match sponge {
        Sponge::Aead => (
            include_str!("templates/aead_target.h"),
            include_str!("templates/aead_glue.c"),
            "@@_encrypt_many, @@_decrypt_many, @encrypt_each, @decrypt_each, @init, @aad, @update, @final",
            include_str!("templates/aead.c"),
        ),
        Sponge::Digest(_) => (
            include_str!("templates/digest_target.h"),
            include_str!("templates/digest_glue.c"),
            "@many, @each, @init, @update, @finish",
            include_str!("templates/digest.c"),
        ),
    };
    let has_with = sponge.has_parameters();
    let with = |text: &'static str| if has_with { text } else { "" };
    let members = members.to_owned() + with(include_str!("templates/digest_target_with.h"));
    let glue_text = glue_text.to_owned() + with(include_str!("templates/digest_glue_with.c"));
    let columns = columns.to_owned() + with(", @init_with");
    let mut out = includes(part);
    let _ = write!(
        out,
        "struct target {{\n    const char *name;\n    int (*is_here)(void);\n    size_t width;\n{members}}};\n"
    );
    for processor in processors() {
        let _ = writeln!(out, "\n#{}", processor.question);
        let own = processor.targets(part);
        for (_, target) in &own {
            let s = target.suffix();
            out += &is_here(target);
            out +=
                &fill(&glue_text, &[("S", &s), ("FULL", &format!("{name}_{s}")), ("NAME", name)]);
        }
        out += "\n/* The best one last. */\nstatic const struct target targets[] = {\n";
        for (target_name, target) in own {
            let s = target.suffix();
            let columns =
                columns.replace("@@", &format!("{name}_{s}")).replace('@', &format!("{s}_"));
            let _ = writeln!(
                out,
                "    {{\"{target_name}\", {s}_is_here, {}, {columns}}},",
                target.width
            );
        }
        out += "};\n";
    }
    out += "#endif\n";
    out += &fill(include_str!("templates/dispatch.c"), &[("NAME", name), ("MADE_FOR", MADE_FOR)]);
    out += include_str!("templates/pieces.c");
    out += text;
    out += with(include_str!("templates/digest_with.c"));
    out = digest_filled(sponge, &out);
    for (key, value) in [("NAME", name.as_str()), ("UP", &up)] {
        out = out.replace(&format!("@{key}@"), value);
    }
    out
}

/// A text with what a hash differs in from a function with output of any length.
fn digest_filled(sponge: &Sponge, text: &str) -> String {
    let Sponge::Digest(digest) = sponge else { return text.to_owned() };
    let is_hash = digest.output.is_some();
    let either = |hash: &str, other: &str| if is_hash { hash } else { other }.to_owned();
    let n_out = digest.output.unwrap_or(0).to_string();
    let values = [
        (
            "WRONG_END_SIZE",
            match digest.has_parameters {
                true => "out_size != state->target[2]".to_owned(),
                false => "@WRONG_SIZE@".to_owned(),
            },
        ),
        (
            "KEEP_SIZE",
            match digest.has_parameters {
                true => format!("    state->target[2] = {n_out};\n"),
                false => String::new(),
            },
        ),
        ("WRONG_SIZE", either(&format!("out_size != {n_out}"), "0")),
        (
            "WITH_USE",
            if digest.has_parameters { "use crate::{Error, checked};\n" } else { "" }.into(),
        ),
        ("N_SALT", digest.salt_bytes().to_string()),
        ("MORE", either("update", "absorb")),
        ("END", either("final", "squeeze")),
        ("GIVEN_OUT", either("", ", n_out")),
        ("UNUSED_OUT", either("    (void)n_out;\n", "")),
        ("GIVEN", either("", ", n")),
        ("UNUSED", either("    (void)n;\n", "")),
        (
            "SAID",
            either(
                "The digests of the messages, which ends them.",
                "The next bytes of each output; the first call ends the messages.",
            ),
        ),
        ("ONCE", either(" than a digest", "")),
        ("RUST_END", either("finalize", "squeeze")),
        ("PYTHON_END", either("digests", "squeeze")),
        ("PYTHON_LENGTH", either("", ", length: int")),
        ("PYTHON_N", either(&n_out, "length")),
        ("N_OUT", n_out),
        ("RATE", digest.rate.to_string()),
    ];
    values
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

/// The module of the Rust crate.
pub fn module(part: &Part, sponge: &Sponge) -> String {
    let template = match sponge {
        Sponge::Aead => include_str!("templates/aead.rs.txt"),
        Sponge::Digest(digest) if digest.output.is_some() => {
            include_str!("templates/hash.rs.txt")
        }
        Sponge::Digest(_) => include_str!("templates/xof.rs.txt"),
    };
    let wiped = fill(
        include_str!("templates/wiped.rs.txt"),
        &[("OBJECT", "State"), ("WIPE", &format!("{}_wipe", part.name))],
    );
    let words = (8 + state_bytes(part) / 8).to_string();
    let values = [
        ("NAME", part.name.as_str()),
        ("TYPE", &part.type_name),
        ("TITLE", &part.title),
        ("WORDS", &words),
        ("WIPED", &wiped),
    ];
    let traits = if *sponge == Sponge::Aead {
        fill(
            include_str!("templates/aead_traits.rs.txt"),
            &[
                ("FUNCTION", &part.name),
                ("TYPE", &part.type_name),
                ("FIRST", "core::ptr::null(), self.key.as_ptr(), 16"),
                ("N_KEY_TYPE", "U16"),
                ("N_NONCE_TYPE", "U16"),
                ("INIT", &format!("{} {{ key: (*key).into() }}", part.type_name)),
            ],
        )
    } else {
        String::new()
    };
    let many = match sponge {
        Sponge::Aead => "",
        Sponge::Digest(_) => include_str!("templates/many.rs.txt"),
    };
    let with =
        if sponge.has_parameters() { include_str!("templates/hash_with.rs.txt") } else { "" };
    digest_filled(sponge, &(fill(template, &values) + &fill(with, &values) + &fill(many, &values)))
        + &traits
        + &fill(include_str!("templates/width.rs.txt"), &[("NAME", &part.name)])
            .replace("Blocks", "Messages")
}

/// The crate of the traits of authenticated encryption, as a line of `Cargo.toml`.
pub const AEAD: &str = "aead = { version = \"0.6.1\", default-features = false }\n";

/// The crate that the mode's traits are in.
pub fn dependency(sponge: &Sponge) -> &'static str {
    match sponge {
        Sponge::Aead => AEAD,
        Sponge::Digest(_) => "digest = { version = \"0.11.3\", default-features = false }\n",
    }
}

/// The vectors through the crate.
pub fn rust_test(part: &Part, sponge: &Sponge, crate_name: &str) -> String {
    let ty = format!("{crate_name}::{}", part.type_name);
    if *sponge == Sponge::Aead {
        let each = fill(
            include_str!("templates/aead_each_test.rs.txt"),
            &[("TYPE", &ty), ("CRATE", crate_name), ("MODULE", &part.module)],
        );
        return sealed_test(&ty, &part.module, &part.vectors, true) + &each;
    }
    let mut calls = String::new();
    for vector in &part.vectors {
        let (input, output) = (vector.field("input"), &vector.output);
        let is_xof = matches!(sponge, Sponge::Digest(digest) if digest.output.is_none());
        let _ = if is_xof {
            writeln!(
                calls,
                "    let mut out = vec![0; bytes(\"{output}\").len()];\n    <{ty} as digest::ExtendableOutput>::digest_xof(bytes(\"{input}\"), &mut out);\n    assert_eq!(out, bytes(\"{output}\"));\n    {module}_many(&bytes(\"{input}\"), &bytes(\"{output}\"));",
                module = part.module
            )
        } else {
            writeln!(
                calls,
                "    assert_eq!({ty}::digest(&bytes(\"{input}\"))[..], bytes(\"{output}\"));\n    assert_eq!(<{ty} as digest::Digest>::digest(bytes(\"{input}\"))[..], bytes(\"{output}\"));\n    {module}_many(&bytes(\"{input}\"), &bytes(\"{output}\"));",
                module = part.module
            )
        };
    }
    let module = &part.module;
    let values = [("TYPE", &*ty), ("CRATE", crate_name), ("MODULE", module)];
    let mut many = fill(include_str!("templates/many_test.rs.txt"), &values);
    if sponge.has_parameters() {
        for vector in library::vectors(&format!("{}-keyed", sponge.name())) {
            let given = [vector.field("key"), vector.field("input"), &vector.output];
            let given = given.map(|field| format!("&bytes(\"{field}\")")).join(", ");
            let _ = writeln!(calls, "    {module}_keyed({given});");
        }
        many += &fill(include_str!("templates/keyed_test.rs.txt"), &values);
    }
    let many = digest_filled(sponge, &many);
    format!("{many}\n#[test]\nfn {module}() {{\n{calls}}}\n")
}

/// Vectors of authenticated encryption through the crate; nothing if there are none.
pub fn sealed_test(ty: &str, module: &str, vectors: &[Vector], has_pieces: bool) -> String {
    if vectors.is_empty() {
        return String::new();
    }
    let mut calls = String::new();
    for vector in vectors {
        let given: Vec<String> = ["key", "nonce", "ad", "input"]
            .iter()
            .map(|field| format!("&bytes(\"{}\")", vector.field(field)))
            .collect();
        let output = &vector.output;
        let _ = writeln!(calls, "    {module}_sealed({}, &bytes(\"{output}\"));", given.join(", "));
    }
    let pieces = if has_pieces { include_str!("templates/pieces_test.rs.txt") } else { "" };
    let sealed = fill(
        include_str!("templates/aead_test.rs.txt"),
        &[("TYPE", ty), ("MODULE", module), ("PIECES", pieces)],
    );
    format!("{sealed}\n#[test]\nfn {module}() {{\n{calls}}}\n")
}

/// The class in Python.
pub fn class(part: &Part, sponge: &Sponge, names: &mut Vec<String>) -> String {
    let template = match sponge {
        Sponge::Aead => include_str!("templates/aead.py"),
        Sponge::Digest(digest) if digest.output.is_some() => include_str!("templates/hash.py"),
        Sponge::Digest(_) => include_str!("templates/xof.py"),
    };
    names.push(part.type_name.clone());
    let (other, many) = match sponge {
        Sponge::Aead => ("Encryptor", ""),
        Sponge::Digest(_) => ("Many", include_str!("templates/many.py")),
    };
    names.push(format!("{}{other}", part.type_name));
    let (init, copy) = if sponge.has_parameters() {
        (
            include_str!("templates/hash_init_with.py"),
            "        other.digest_size = self.digest_size\n",
        )
    } else {
        (include_str!("templates/hash_init.py"), "")
    };
    let template = template.replace("@PYTHON_INIT@\n", init).replace("@PYTHON_COPY@", copy);
    let values = [("NAME", &*part.name), ("TYPE", &part.type_name), ("TITLE", &part.title)];
    digest_filled(sponge, &(fill(&template, &values) + &fill(many, &values)))
}
