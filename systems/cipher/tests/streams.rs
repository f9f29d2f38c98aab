//! Streams of emitted C: published vectors, the same bytes as OpenSSL's for every length up to four
//! batches, counters that end, and modes that are refused.

use std::process::Command;
use std::time::Duration;

use cipher::emit_c::{Arch, shape};
use cipher::native::{self, Cc};
use cipher::options::{Interleave, Slicing, Unroll};
use cipher::recipe::{Made, Recipe};
use cipher::run_text::{from_hex, to_hex};
use cipher::unit::Subject;
use fastrand::Rng;
use measure::tool;

fn skipped(what: &str) {
    testkit::skipped(&format!("cipher streams: {what}"));
}

/// A built program with a stream; `None` if this machine cannot run it.
fn built(
    name: &str,
    mode: &str,
    slicing: Slicing,
    arch: Arch,
    cc: Cc,
) -> Option<(Made, std::path::PathBuf)> {
    interleaved(name, mode, slicing, arch, cc, 1)
}

/// The same with `n` interleaved batches.
fn interleaved(
    name: &str,
    mode: &str,
    slicing: Slicing,
    arch: Arch,
    cc: Cc,
    n: u32,
) -> Option<(Made, std::path::PathBuf)> {
    if native::missing_feature(arch).is_some()
        || (arch == Arch::Neon && tool::find("qemu-aarch64").is_none())
    {
        skipped(&format!("{} cannot run here", arch.name()));
        return None;
    }
    let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
    let mut recipe = Recipe::new(slicing, arch, cc, Unroll::No, "-O1");
    recipe.mode = Some(mode.into());
    recipe.interleave = Interleave::Times(n);
    let made = recipe.make(&subject).expect("bundled programs compile");
    let program = recipe.build(&made).expect("the C compiler takes the text");
    Some((made, program))
}

fn hex(text: &str) -> Vec<u8> {
    from_hex(text).expect("hex digits")
}

#[test]
fn aes_ctr_gives_the_vector_of_sp_800_38a() {
    let key = "2b7e151628aed2a6abf7158809cf4f3c";
    let counter = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    let plain = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                 30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
    let cipher = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
                  5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee";
    for (slicing, arch, cc) in
        [(Slicing::Horizontal, Arch::Avx2, Cc::Clang), (Slicing::Vertical, Arch::X86_64, Cc::Gcc)]
    {
        let Some((_, program)) = built("aes-128", "ctr", slicing, arch, cc) else { continue };
        let got =
            native::run_stream(&program, arch, &[hex(key), hex(counter)].concat(), &hex(plain))
                .expect("the program runs");
        assert_eq!(to_hex(&got), cipher, "F.5.1, {}", arch.name());
    }
}

#[test]
fn chacha20_gives_the_vector_of_rfc_8439() {
    let plain = "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    let cipher = "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b3571639d624e65152ab\
                  8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab77937365af90bbf74a35be6b40b8eedf2785e42874d";
    let key: Vec<u8> = (0..32).collect();
    for (arch, cc) in [(Arch::Avx2, Cc::Gcc), (Arch::X86_64, Cc::Clang)] {
        let Some((_, program)) = built("chacha20", "ctr", Slicing::Vertical, arch, cc) else {
            continue;
        };
        let params = [&key[..], &1u32.to_le_bytes(), &hex("000000000000004a00000000")].concat();
        let got = native::run_stream(&program, arch, &params, plain.as_bytes())
            .expect("the program runs");
        assert_eq!(to_hex(&got), cipher, "2.4.2, {}", arch.name());
    }
}

/// The bytes encrypted by `openssl enc`.
fn openssl(cipher: &str, key: &[u8], iv: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut command = Command::new("openssl");
    command.args(["enc", cipher, "-K", &to_hex(key), "-iv", &to_hex(iv)]);
    tool::run(&mut command, bytes, Duration::from_secs(60))
        .and_then(tool::Ran::ok)
        .expect("openssl runs")
        .stdout
}

#[test]
fn streams_are_those_of_openssl_for_every_length_up_to_four_batches() {
    if tool::find("openssl").is_none() {
        return skipped("openssl is missing");
    }
    let seed = 20_261_126;
    let mut rng = Rng::with_seed(seed);
    let all = [
        ("aes-128", "ctr", Slicing::Horizontal, Arch::Avx2, Cc::Clang, 1),
        ("aes-128", "ctr", Slicing::Horizontal, Arch::Avx512, Cc::Gcc, 1),
        ("aes-128", "ctr", Slicing::Horizontal, Arch::Neon, Cc::Gcc, 1),
        ("aes-128", "ctr", Slicing::Vertical, Arch::X86_64, Cc::Gcc, 1),
        ("aes-192", "ctr", Slicing::Horizontal, Arch::Avx2, Cc::Clang, 1),
        ("aes-256", "ctr", Slicing::Horizontal, Arch::Avx2, Cc::Gcc, 1),
        ("chacha20", "ctr", Slicing::Vertical, Arch::Avx2, Cc::Gcc, 1),
        ("chacha20", "ctr64", Slicing::Vertical, Arch::Avx512, Cc::Clang, 1),
        ("chacha20", "ctr64", Slicing::Vertical, Arch::Sse, Cc::Gcc, 1),
        ("chacha20", "ctr", Slicing::Vertical, Arch::X86_64, Cc::Clang, 1),
        ("chacha20", "ctr", Slicing::Vertical, Arch::Avx2, Cc::Clang, 2),
        ("chacha20", "ctr64", Slicing::Vertical, Arch::Sse, Cc::Gcc, 3),
        ("aes-128", "ctr", Slicing::Horizontal, Arch::Avx2, Cc::Gcc, 2),
        ("aes-128", "ctr", Slicing::Vertical, Arch::X86_64, Cc::Clang, 4),
    ];
    for (name, mode, slicing, arch, cc, n) in all {
        let Some((made, program)) = interleaved(name, mode, slicing, arch, cc, n) else { continue };
        let length = 4 * made.bytes_per_call(arch) + 1;
        assert!(
            length <= 5000,
            "the program tries every length: {}",
            shape(&made.compiled, arch).blocks_text()
        );
        let mut bytes = |n: usize| -> Vec<u8> { (0..n).map(|_| rng.u8(..)).collect() };
        let plain = bytes(length);
        let (params, expected) = if name.starts_with("aes") {
            let (key, mut iv) = (bytes(made.unit.key_fields()[0].layout.n_bytes), bytes(16));
            // The carry runs through eight bytes.
            iv[8..].fill(0xff);
            ([&key[..], &iv].concat(), openssl(&format!("-{name}-ctr"), &key, &iv, &plain))
        } else {
            let (key, nonce) = (bytes(32), bytes(if mode == "ctr" { 12 } else { 8 }));
            // The carry of the longer counter leaves its lower word.
            let counter: u64 = if mode == "ctr" { 7 } else { 0xffff_fffe };
            let counter = counter.to_le_bytes()[..16 - nonce.len()].to_vec();
            let iv = [&counter[..], &nonce].concat();
            ([&key[..], &iv].concat(), openssl("-chacha20", &key, &iv, &plain))
        };
        let got = native::run_stream(&program, arch, &params, &plain);
        let got = got
            .unwrap_or_else(|error| panic!("{name} {mode} {} seed {seed}: {error:?}", arch.name()));
        assert!(
            got == expected,
            "{name} {mode} {} {} seed {seed}: not OpenSSL's bytes",
            arch.name(),
            cc.name()
        );
    }
}

#[test]
fn a_counter_that_would_wrap_ends_the_stream_at_the_last_block() {
    let (key, zeros) = ([7u8; 32], [0u8; 800]);
    // How many bytes are left with each counter.
    let mut ends: Vec<(&str, &str, Slicing, Vec<u8>, usize)> = Vec::new();
    // With 5 and 9 blocks left, the rest is more than one batch.
    for n in [1u8, 2, 3, 5, 9] {
        let mut counter = vec![0xff; 16];
        counter[15] = 0u8.wrapping_sub(n);
        ends.push((
            "aes-128",
            "ctr",
            Slicing::Horizontal,
            [&key[..16], &counter].concat(),
            16 * usize::from(n),
        ));
        let counter = 0u32.wrapping_sub(n.into()).to_le_bytes();
        ends.push((
            "chacha20",
            "ctr",
            Slicing::Vertical,
            [&key[..], &counter, &[0; 12]].concat(),
            64 * usize::from(n),
        ));
        let counter = 0u64.wrapping_sub(n.into()).to_le_bytes();
        ends.push((
            "chacha20",
            "ctr64",
            Slicing::Vertical,
            [&key[..], &counter, &[0; 8]].concat(),
            64 * usize::from(n),
        ));
    }
    for (name, mode, slicing, params, left) in ends {
        let arch = Arch::Sse;
        for n_batches in [1, 3] {
            let Some((_, program)) = interleaved(name, mode, slicing, arch, Cc::Gcc, n_batches)
            else {
                return;
            };
            let got =
                native::run_stream(&program, arch, &params, &zeros).expect("the program runs");
            assert_eq!(
                got.len(),
                left,
                "{name} {mode} {n_batches}: bytes before the counter wraps"
            );
        }
    }
}

#[test]
fn modes_that_a_program_does_not_have_are_refused() {
    let refused = |subject: &Subject, mode: &str| {
        let error = subject.counter(mode).expect_err("it has no such mode").remove(0);
        (error.message, error.help.unwrap_or_default())
    };
    let bundled = |name: &str| Subject::bundled(name).expect("it is bundled").expect("it is right");
    let (message, help) = refused(&bundled("gimli"), "ctr");
    assert_eq!(
        (&*message, &*help),
        (
            "`gimli` has no mode `ctr`",
            "it is a permutation; block ciphers, chacha20, ascon-p12, keccak-f1600 and \
             compression functions have modes"
        )
    );
    let (message, help) = refused(&bundled("aes-128"), "ctr64");
    assert_eq!((&*message, &*help), ("`aes-128` has no mode `ctr64`", "it has `ctr`"));
    let file =
        Subject::text("own.ua", "node f (x : u16) returns (y : u16) let y = x <<< 1 tel", None)
            .expect("it is right");
    assert_eq!(refused(&file, "ctr").0, "`f` has no byte interface, so it has no mode `ctr`");
}

#[test]
fn every_mode_of_the_index_is_read() {
    for primitive in cipher::library::primitives() {
        let subject =
            Subject::bundled(&primitive.name).expect("it is bundled").expect("it is right");
        for (mode, _) in primitive.modes() {
            let counter = subject.counter(&mode).expect("it has the mode");
            assert!(matches!(counter.bits, 32 | 64 | 128), "{} {mode}", primitive.name);
        }
    }
}
