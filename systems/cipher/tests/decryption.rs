//! AES of all three key sizes and Serpent, both directions, in emitted C: the bytes of OpenSSL and
//! libgcrypt, and the text again after both.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::run_text::to_hex;
use cipher::unit::Subject;
use fastrand::Rng;
use measure::tool;

const SEED: u64 = 20_261_124;
/// More than a batch of the bitsliced ones, and not a whole number of batches of the others.
const N_BLOCKS: usize = 131;

fn skipped(what: &str) {
    testkit::skipped(&format!("cipher decryption: {what}"));
}

const WAYS: [(Slicing, Arch, Cc); 3] = [
    (Slicing::Horizontal, Arch::Avx2, Cc::Clang),
    (Slicing::Vertical, Arch::Sse, Cc::Gcc),
    (Slicing::Bit, Arch::X86_64, Cc::Clang),
];

/// A built program; `None` if this machine cannot run it.
fn built(name: &str, (slicing, arch, cc): (Slicing, Arch, Cc)) -> Option<PathBuf> {
    if native::missing_feature(arch).is_some() {
        skipped(&format!("{} cannot run here", arch.name()));
        return None;
    }
    let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
    let opt = if slicing == Slicing::Bit { "-O0" } else { "-O1" };
    let recipe = Recipe::new(slicing, arch, cc, Unroll::No, opt);
    let made = recipe.make(&subject).expect("bundled programs compile");
    Some(recipe.build(&made).expect("the C compiler takes the text"))
}

fn bytes(rng: &mut Rng, n: usize) -> Vec<u8> {
    (0..n).map(|_| rng.u8(..)).collect()
}

fn openssl(name: &str, key: &[u8], decrypts: bool, text: &[u8]) -> Vec<u8> {
    let mut command = Command::new("openssl");
    command
        .args(["enc", &format!("-{name}-ecb"), "-nopad", "-K", &to_hex(key)])
        .args(decrypts.then_some("-d"));
    tool::run(&mut command, text, Duration::from_secs(60))
        .and_then(tool::Ran::ok)
        .expect("openssl runs")
        .stdout
}

/// Serpent of libgcrypt on blocks of standard input: a byte that says whether to decrypt,
/// the key, the blocks.
const GCRYPT: &str = "
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    void *library = dlopen(\"libgcrypt.so.20\", RTLD_NOW);
    if (!library)
        return 77;
    const char *(*check)(const char *) = (const char *(*)(const char *))dlsym(library, \"gcry_check_version\");
    unsigned (*open)(void **, int, int, unsigned) = (unsigned (*)(void **, int, int, unsigned))dlsym(library, \"gcry_cipher_open\");
    unsigned (*setkey)(void *, const void *, size_t) = (unsigned (*)(void *, const void *, size_t))dlsym(library, \"gcry_cipher_setkey\");
    typedef unsigned (*crypt_blocks)(void *, void *, size_t, const void *, size_t);
    crypt_blocks encrypt = (crypt_blocks)dlsym(library, \"gcry_cipher_encrypt\"), decrypt = (crypt_blocks)dlsym(library, \"gcry_cipher_decrypt\");
    static uint8_t head[17], text[1 << 16];
    void *handle;
    if (!check(NULL) || fread(head, 1, 17, stdin) != 17)
        return 1;
    size_t n = fread(text, 1, sizeof text, stdin);
    /* GCRY_CIPHER_SERPENT128, GCRY_CIPHER_MODE_ECB */
    if (open(&handle, 304, 1, 0) || setkey(handle, head + 1, 16))
        return 2;
    if ((head[0] ? decrypt : encrypt)(handle, text, n, NULL, 0))
        return 3;
    return fwrite(text, 1, n, stdout) != n;
}
";

fn libgcrypt(key: &[u8], decrypts: bool, text: &[u8]) -> Option<Vec<u8>> {
    let program = native::build(GCRYPT, Arch::X86_64, Cc::Gcc, "-O1").expect("gcc takes it");
    let input = [&[u8::from(decrypts)], key, text].concat();
    let ran =
        tool::run(&mut Command::new(program), &input, Duration::from_secs(60)).expect("it starts");
    if ran.status.code() == Some(77) {
        skipped("libgcrypt.so.20 is missing");
        return None;
    }
    Some(ran.ok().expect("it runs").stdout)
}

/// The bytes of another implementation; `None` if it is missing.
fn other(name: &str, key: &[u8], decrypts: bool, text: &[u8]) -> Option<Vec<u8>> {
    if name == "serpent-128" {
        return libgcrypt(key, decrypts, text);
    }
    if tool::find("openssl").is_none() {
        skipped("openssl is missing");
        return None;
    }
    Some(openssl(name, key, decrypts, text))
}

const CIPHERS: [(&str, usize); 4] =
    [("aes-128", 16), ("aes-192", 24), ("aes-256", 32), ("serpent-128", 16)];

#[test]
fn both_directions_are_those_of_openssl_and_libgcrypt() {
    let mut rng = Rng::with_seed(SEED);
    for (name, n_key) in CIPHERS {
        for way in WAYS {
            let (key, text) = (bytes(&mut rng, n_key), bytes(&mut rng, 16 * N_BLOCKS));
            for (direction, decrypts) in [("", false), ("-decrypt", true)] {
                let Some(program) = built(&format!("{name}{direction}"), way) else { continue };
                let Some(expected) = other(name, &key, decrypts, &text) else { continue };
                let got =
                    native::run_blocks(&program, way.1, N_BLOCKS, &key, &text).expect("it runs");
                assert!(got == expected, "{name}{direction} {way:?} seed {SEED}: other bytes");
            }
        }
    }
}

#[test]
fn decryption_restores_the_text() {
    let mut rng = Rng::with_seed(SEED + 1);
    for (name, n_key) in CIPHERS {
        // Each direction in another slicing: the two share nothing but the program.
        for (there, back) in [(WAYS[0], WAYS[1]), (WAYS[1], WAYS[2]), (WAYS[2], WAYS[0])] {
            let (Some(encrypt), Some(decrypt)) =
                (built(name, there), built(&format!("{name}-decrypt"), back))
            else {
                continue;
            };
            for _ in 0..8 {
                let (key, text) = (bytes(&mut rng, n_key), bytes(&mut rng, 16 * N_BLOCKS));
                let secret =
                    native::run_blocks(&encrypt, there.1, N_BLOCKS, &key, &text).expect("it runs");
                let again =
                    native::run_blocks(&decrypt, back.1, N_BLOCKS, &key, &secret).expect("it runs");
                assert!(
                    again == text && secret != text,
                    "{name} {there:?} {back:?} seed {}",
                    SEED + 1
                );
            }
        }
    }
}

#[test]
fn a_decryption_has_no_counter_mode() {
    let subject = Subject::bundled("aes-192-decrypt").expect("it is bundled").expect("it is right");
    let error = subject.counter("ctr").expect_err("it has no such mode").remove(0);
    assert_eq!(error.message, "`aes-192-decrypt` has no mode `ctr`");
}
