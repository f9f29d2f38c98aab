//! Ascon's modes of SP 800-232 in emitted C: the same bytes as another implementation for random
//! messages of all lengths around a block. The program itself tries pieces, places, many messages
//! at a time and forgeries, and reports which one fails.

use std::path::PathBuf;

use ascon_aead::AsconAead128;
use ascon_aead::aead::{Aead, KeyInit, Payload};
use ascon_hash::{AsconHash256, AsconXof128, Digest, ExtendableOutput, Update, XofReader};
use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Interleave, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::run_text::{from_hex, to_hex};
use cipher::unit::Subject;
use fastrand::Rng;
use measure::tool;

fn skipped(what: &str) {
    testkit::skipped(&format!("cipher ascon: {what}"));
}

/// A built program with a mode; `None` if this machine cannot run it.
fn built(mode: &str, slicing: Slicing, arch: Arch, cc: Cc, batches: u32) -> Option<PathBuf> {
    if native::missing_feature(arch).is_some()
        || (arch == Arch::Neon && tool::find("qemu-aarch64").is_none())
    {
        skipped(&format!("{} cannot run here", arch.name()));
        return None;
    }
    let subject = Subject::bundled("ascon-p12").expect("it is bundled").expect("it is right");
    let mut recipe = Recipe::new(slicing, arch, cc, Unroll::No, "-O1");
    recipe.mode = Some(mode.into());
    recipe.interleave = Interleave::Times(batches);
    let made = recipe.make(&subject).expect("bundled programs compile");
    Some(recipe.build(&made).expect("the C compiler takes the text"))
}

const MODES: [&str; 3] = ["aead", "hash", "xof"];

/// Slicing, target, compiler and number of interleaved batches.
const WAYS: [(Slicing, Arch, Cc, u32); 9] = [
    (Slicing::Vertical, Arch::X86_64, Cc::Gcc, 1),
    (Slicing::Vertical, Arch::Sse, Cc::Clang, 3),
    (Slicing::Vertical, Arch::Avx2, Cc::Clang, 2),
    (Slicing::Vertical, Arch::Avx512, Cc::Gcc, 1),
    (Slicing::Vertical, Arch::Neon, Cc::Gcc, 2),
    (Slicing::Horizontal, Arch::X86_64, Cc::Clang, 1),
    (Slicing::Horizontal, Arch::Sse, Cc::Gcc, 2),
    (Slicing::Bit, Arch::X86_64, Cc::Gcc, 1),
    (Slicing::Bit, Arch::Avx2, Cc::Clang, 1),
];

/// Lengths of messages: all around a block, but fewer if the program processes many messages at a
/// time, as it tries each length with all of them.
fn lengths(slicing: Slicing, block: usize) -> Vec<usize> {
    if slicing == Slicing::Bit {
        vec![0, block - 1, 2 * block + 3]
    } else {
        (0..=2 * block + 2).chain([300]).collect()
    }
}

fn run(program: &std::path::Path, arch: Arch, parts: &[&[u8]], what: &str) -> Vec<u8> {
    native::run_mode(program, arch, &parts.concat())
        .unwrap_or_else(|error| panic!("{what}: {error:?}"))
}

#[test]
fn aead_gives_the_bytes_of_another_implementation() {
    let seed = 20_261_124;
    let mut rng = Rng::with_seed(seed);
    for (slicing, arch, cc, batches) in WAYS {
        let Some(program) = built("aead", slicing, arch, cc, batches) else { continue };
        for n in lengths(slicing, 16) {
            let n_ad = if n % 3 == 0 { n } else { rng.usize(0..40) };
            let mut bytes = |n: usize| -> Vec<u8> { (0..n).map(|_| rng.u8(..)).collect() };
            let (key, nonce, ad, text) = (bytes(16), bytes(16), bytes(n_ad), bytes(n));
            let what =
                format!("{slicing:?} {} {} bytes, {n_ad} associated, seed {seed}", arch.name(), n);
            let lengths = [(n_ad as u64).to_le_bytes(), (n as u64).to_le_bytes()].concat();
            let ours = run(&program, arch, &[&lengths, &key, &nonce, &ad, &text], &what);
            let other = AsconAead128::new_from_slice(&key).expect("a key has 16 bytes");
            let nonce = nonce.as_slice().try_into().expect("a nonce has 16 bytes");
            let theirs =
                other.encrypt(nonce, Payload { msg: &text, aad: &ad }).expect("it encrypts");
            assert_eq!(to_hex(&ours), to_hex(&theirs), "{what}");
        }
    }
}

#[test]
fn wycheproof_messages_are_accepted_or_refused_as_they_should() {
    let text = include_str!("wycheproof/ascon_aead128.json");
    let file: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
    let tests = file["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), 252);
    let hex = |test: &serde_json::Value, name: &str| {
        from_hex(test[name].as_str().expect("a string")).expect("hex digits")
    };
    let mut messages = Vec::new();
    for test in tests {
        for name in ["aad", "ct"] {
            messages.extend((hex(test, name).len() as u64).to_le_bytes());
        }
        ["key", "iv", "aad", "ct", "tag"].iter().for_each(|name| messages.extend(hex(test, name)));
    }
    for (slicing, arch, cc, batches) in WAYS {
        let Some(program) = built("aead", slicing, arch, cc, batches) else { continue };
        let opened = native::run_open(&program, arch, &messages).expect("the program runs");
        let mut rest = &opened[..];
        for test in tests {
            let (one, after) = rest.split_at(1 + hex(test, "ct").len());
            rest = after;
            let is_valid = test["result"] == "valid";
            let text = if is_valid { hex(test, "msg") } else { vec![0; one.len() - 1] };
            assert_eq!(
                (one[0], &one[1..]),
                (u8::from(is_valid), &text[..]),
                "test {} {slicing:?} {}",
                test["tcId"],
                arch.name()
            );
        }
        assert!(rest.is_empty());
    }
}

#[test]
fn hashes_and_outputs_are_those_of_another_implementation() {
    let seed = 20_261_125;
    let mut rng = Rng::with_seed(seed);
    for mode in ["hash", "xof"] {
        for (slicing, arch, cc, batches) in WAYS {
            let Some(program) = built(mode, slicing, arch, cc, batches) else { continue };
            for n in lengths(slicing, 8) {
                let n_out = if mode == "hash" { 32 } else { rng.usize(0..80) };
                let text: Vec<u8> = (0..n).map(|_| rng.u8(..)).collect();
                let what =
                    format!("{mode} {slicing:?} {} {n} bytes to {n_out}, seed {seed}", arch.name());
                let lengths = [(n as u64).to_le_bytes(), (n_out as u64).to_le_bytes()].concat();
                let ours = run(&program, arch, &[&lengths, &text], &what);
                let mut theirs = vec![0; n_out];
                if mode == "hash" {
                    theirs.copy_from_slice(&AsconHash256::digest(&text));
                } else {
                    let mut other = AsconXof128::default();
                    other.update(&text);
                    other.finalize_xof().read(&mut theirs);
                }
                assert_eq!(to_hex(&ours), to_hex(&theirs), "{what}");
            }
        }
    }
}

#[test]
fn one_program_may_have_all_modes_and_null_is_allowed_with_length_0() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name);
    let subject = Subject::bundled("ascon-p12").expect("it is bundled").expect("it is right");
    let mut words = Vec::new();
    for mode in MODES {
        let mut recipe = Recipe::new(Slicing::Vertical, Arch::X86_64, Cc::Clang, Unroll::No, "-O1");
        recipe.mode = Some(mode.into());
        let made = recipe.make(&subject).expect("bundled programs compile");
        let (source, header) = (at(&format!("{mode}.c")), at(&format!("{mode}.h")));
        std::fs::write(&source, recipe.source(&made, false, false)).expect("written");
        std::fs::write(header, cipher::emit_c::header(&made.compiled, &made.unit, Arch::X86_64))
            .expect("written");
        words.push(source);
    }
    let main = "#include \"aead.h\"\n#include \"hash.h\"\n#include \"xof.h\"\n#include <string.h>\n\
        int main(void)\n{\n    uint8_t key[16] = {0}, nonce[16] = {0}, tag[16], digest[32], out[32];\n    ascon_hash256(NULL, 0, digest);\n\
            ascon_xof128(NULL, 0, out, 32);\n    if (!memcmp(digest, out, 32)) return 1;\n\
            if (ascon_aead128_encrypt(key, nonce, NULL, 0, NULL, NULL, 0, tag)) return 2;\n\
            if (ascon_aead128_decrypt(key, nonce, NULL, 0, NULL, NULL, 0, tag)) return 3;\n\
            uint8_t other[16]; ascon_aead128_message empty = {key, nonce, NULL, 0, NULL, NULL, 0, other, 0};\n\
            if (ascon_aead128_encrypt_each(&empty, 1) || memcmp(other, tag, 16)) return 4;\n\
            if (ascon_aead128_decrypt_each(&empty, 1) || !empty.is_right) return 5;\n\
            if (empty.ad || empty.in || empty.out || empty.key != key || empty.tag != other) return 6;\n\
            uint8_t two[64]; ascon_hash256_many(NULL, 0, two, 2);\n    if (memcmp(two + 32, digest, 32)) return 7;\n\
            ascon_xof128_many(NULL, 0, two, 32, 2);\n    return memcmp(two + 32, out, 32) ? 8 : 0;\n}\n";
    std::fs::write(at("main.c"), main).expect("written");
    words.push(at("main.c"));
    let mut build = std::process::Command::new("clang-19");
    build
        .args([
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsanitize=undefined",
            "-fsanitize-trap=undefined",
            "-o",
        ])
        .arg(at("all"))
        .args(&words);
    let said = build.output().expect("clang runs");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let ran = std::process::Command::new(at("all")).status().expect("it runs");
    assert_eq!(ran.code(), Some(0), "{ran}");
}

#[test]
fn return_values_also_get_the_prefix() {
    let subject = Subject::bundled("ascon-p12").expect("it is bundled").expect("it is right");
    for mode in MODES {
        let mut recipe = Recipe::new(Slicing::Vertical, Arch::X86_64, Cc::Gcc, Unroll::No, "-O1");
        recipe.mode = Some(mode.into());
        recipe.prefix = "batch_name_up_state_".into();
        let made = recipe.make(&subject).expect("bundled programs compile");
        let up = format!(
            "BATCH_NAME_UP_STATE_{}",
            subject.sponge(mode).expect("it is there").prefix().to_uppercase()
        );
        for text in [
            recipe.source(&made, false, true),
            cipher::emit_c::header(&made.compiled, &made.unit, Arch::X86_64),
        ] {
            assert!(
                text.contains(&format!("    {up}_OK = 0,"))
                    && text.contains(&format!("    {up}_NULL = 3")),
                "{mode}"
            );
        }
    }
}
