//! Emitted C on a processor whose bytes lie the other way round: the plain C gives the same bytes,
//! the rest is refused when compiled. Needs Debian's compiler for s390x and QEMU; without them it
//! is skipped visibly.

use std::path::Path;
use std::process::Command;

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::{Interleave, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use measure::scratch;

/// A primitive in one form, and C that fills `out` of 1024 bytes from `in`; the interface on blocks
/// if there is none.
struct Case {
    name: &'static str,
    slicing: Slicing,
    mode: Option<&'static str>,
    n_batches: u32,
    calls: &'static str,
}

const fn blocks(name: &'static str, slicing: Slicing) -> Case {
    Case { name, slicing, mode: None, n_batches: 1, calls: "" }
}

const AEAD: &str = "ascon_aead128_encrypt(in, in + 16, in + 32, 21, in + 64, out, 77, out + 900);
    uint8_t text[77];
    memcpy(text, out, 77);
    if (ascon_aead128_decrypt(in, in + 16, in + 32, 21, text, text, 77, out + 900)) return 1;
    memcpy(out + 128, text, 77);";

const CASES: [Case; 17] = [
    blocks("rectangle-80", Slicing::Vertical),
    blocks("rectangle-80", Slicing::Bit),
    blocks("aes-128", Slicing::Horizontal),
    blocks("present-80", Slicing::Bit),
    blocks("serpent-128", Slicing::Vertical),
    blocks("spongent-pi-160", Slicing::Bit),
    blocks("gimli", Slicing::Vertical),
    blocks("des", Slicing::Bit),
    blocks("skinny-128-256", Slicing::Bit),
    Case {
        name: "aes-128",
        slicing: Slicing::Horizontal,
        mode: Some("ctr"),
        n_batches: 2,
        calls:
            "aes128_roundkeys k; aes128_ctr s; aes128_expand(&k, in); aes128_ctr_init(&s, in + 16);
    if (aes128_ctr_xor(&s, &k, in, out, 333)) return 1;",
    },
    Case {
        name: "chacha20",
        slicing: Slicing::Vertical,
        mode: Some("ctr"),
        n_batches: 1,
        calls: "chacha20_ctr s; chacha20_ctr_init(&s, in, 7, in + 32); if (chacha20_ctr_xor(&s, in, out, 777)) return 1;",
    },
    Case {
        name: "ascon-p12",
        slicing: Slicing::Vertical,
        mode: Some("aead"),
        n_batches: 1,
        calls: AEAD,
    },
    Case {
        name: "ascon-p12",
        slicing: Slicing::Bit,
        mode: Some("aead"),
        n_batches: 1,
        calls: AEAD,
    },
    Case {
        name: "ascon-p12",
        slicing: Slicing::Vertical,
        mode: Some("hash"),
        n_batches: 1,
        calls: "ascon_hash256(in, 77, out); ascon_hash256(in, 80, out + 32);",
    },
    Case {
        name: "keccak-f1600",
        slicing: Slicing::Vertical,
        mode: Some("shake128"),
        n_batches: 1,
        calls: "shake128(in, 377, out, 300); shake128_many(in, 9, out + 300, 170, 4);",
    },
    Case {
        name: "blake2b-compress",
        slicing: Slicing::Vertical,
        mode: Some("hash256"),
        n_batches: 1,
        calls: "blake2b256(in, 256, out); blake2b256_many(in, 129, out + 32, 3);",
    },
    Case {
        name: "sha256-compress",
        slicing: Slicing::Vertical,
        mode: Some("hash"),
        n_batches: 1,
        calls: "sha256(in, 77, out); sha256_many(in, 56, out + 32, 3);",
    },
];

impl Case {
    fn recipe(&self, arch: Arch) -> Recipe {
        let mut recipe = Recipe::new(self.slicing, arch, Cc::Gcc, Unroll::No, "-O1");
        recipe.mode = self.mode.map(str::to_string);
        recipe.interleave = Interleave::Times(self.n_batches);
        recipe
    }

    /// The C file and a `main` that writes 1024 bytes.
    fn program(&self) -> String {
        let subject = Subject::bundled(self.name).expect("it is bundled").expect("it is right");
        let recipe = self.recipe(Arch::X86_64);
        let made = recipe.make(&subject).expect("bundled programs compile");
        let name = made.unit.name.clone().expect("a primitive has a byte interface");
        let keys: Vec<_> = made.unit.key_fields();
        let args: String = (0..keys.len()).map(|k| format!(", in + {}", 64 * k)).collect();
        let calls = match (self.calls, keys.is_empty()) {
            ("", false) => format!(
                "{name}_roundkeys k; {name}_expand(&k{args}); {name}_blocks(&k, in, out, 7);"
            ),
            ("", true) => format!("{name}_blocks(in, out, 7);"),
            (calls, _) => calls.to_string(),
        };
        format!(
            "{}\n#include <stdio.h>\nint main(void)\n{{\n    static uint8_t in[1024], out[1024];\n    for (int i = 0; i < 1024; i++) in[i] = (uint8_t)(7 * i + 1);\n    {calls}\n    return fwrite(out, 1, 1024, stdout) != 1024;\n}}\n",
            recipe.source(&made, false, false)
        )
    }
}

fn compiled(compiler: &str, text: &str, at: &Path) -> std::path::PathBuf {
    let (source, program) = (at.join("it.c"), at.join(compiler));
    std::fs::write(&source, text).expect("the folder is ours");
    let ran = Command::new(compiler)
        .args(["-O1", "-w", "-static", "-o"])
        .arg(&program)
        .arg(&source)
        .output()
        .expect("it was found");
    assert!(ran.status.success(), "{compiler}: {}", String::from_utf8_lossy(&ran.stderr));
    program
}

#[test]
fn plain_c_gives_the_same_bytes_on_a_big_endian_processor() {
    if !testkit::has("cipher byte order", &["s390x-linux-gnu-gcc", "qemu-s390x"]) {
        return;
    }
    let folder = scratch::folder().expect("a folder");
    for case in &CASES {
        let text = case.program();
        let here = Command::new(compiled("gcc", &text, folder.path())).output().expect("it runs");
        let there = Command::new("qemu-s390x")
            .arg(compiled("s390x-linux-gnu-gcc", &text, folder.path()))
            .output()
            .expect("it runs");
        let what = format!("{} {} {:?}", case.name, case.slicing.letter(), case.mode);
        assert!(here.status.success() && here.stdout.iter().any(|it| *it != 0), "{what}");
        assert!(there.status.success() && here.stdout == there.stdout, "{what}");
    }
}

#[test]
fn vector_code_is_refused_when_compiled_for_a_big_endian_processor() {
    let subject = Subject::bundled("chacha20").expect("it is bundled").expect("it is right");
    let recipe = CASES[10].recipe(Arch::Neon);
    let text = recipe.source(&recipe.make(&subject).expect("it compiles"), false, false);
    let folder = scratch::folder().expect("a folder");
    let file = folder.path().join("it.c");
    std::fs::write(&file, text).expect("the folder is ours");
    let ran = Command::new("clang-19")
        .args(["--target=aarch64_be-none-elf", "-ffreestanding", "-c"])
        .arg(&file)
        .output();
    let said = String::from_utf8_lossy(&ran.expect("clang-19 is there").stderr).into_owned();
    assert!(said.contains("this code is for little-endian AArch64"), "{said}");
}
