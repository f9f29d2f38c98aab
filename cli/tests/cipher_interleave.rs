//! `-X interleave`: the C of several batches in a user's program, with and without bytes, and what
//! is refused.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn meanwhile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn has_gcc() -> bool {
    testkit::has("cipher interleaved batches", &["gcc"])
}

/// The output of a program that is compiled with the C file of these arguments.
fn printed(folder: &Path, compile: &[&str], main: &str, flag: &str) -> String {
    let at = |name: &str| folder.join(name).to_str().expect("a plain path").to_string();
    std::fs::write(at("main.c"), main).expect("written");
    let made = meanwhile(&[compile, &["-o", &at("own.c"), "--header", &at("own.h")]].concat());
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let flags =
        ["-O1", "-Wall", "-Wextra", "-Werror", flag, "-o", &at("own"), &at("main.c"), &at("own.c")];
    let built = Command::new("gcc").args(flags).output().expect("gcc runs");
    assert!(built.status.success(), "{compile:?}: {}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(at("own")).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(0), "{compile:?}");
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn blocks_of_any_number_go_through_all_batches_and_through_one() {
    if !has_gcc() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let main = "#include \"own.h\"\n#include <stdio.h>\n#include <string.h>\n\
        int main(void) {\n  static const uint8_t key[16]; static uint8_t in[77 * 16], out[78 * 16];\n  aes128_roundkeys keys;\n\
        aes128_expand(&keys, key);\n  memset(out, 0xa5, sizeof out);\n  aes128_blocks(&keys, in, out, 77);\n\
        for (int b = 0; b < 77; b++) if (memcmp(out, out + 16 * b, 16)) return 1;\n\
        for (int i = 0; i < 16; i++) if (out[77 * 16 + i] != 0xa5) return 2;\n\
        for (int i = 0; i < 16; i++) printf(\"%02x\", out[i]);\n  return 0;\n}\n";
    for (n, slicing, arch, flag) in [("2", "h", "sse", "-mssse3"), ("3", "v", "x86-64", "-m64")] {
        let compile = [
            "cipher",
            "compile",
            "aes-128",
            "--slicing",
            slicing,
            "--arch",
            arch,
            "-X",
            &format!("interleave={n}"),
        ];
        assert_eq!(
            printed(folder.path(), &compile, main, flag),
            "66e94bd4ef8a2c3b884cfa59ca342b2e",
            "{n} {arch}"
        );
    }
}

#[test]
fn the_first_index_of_the_sliced_interface_is_the_batch() {
    if !has_gcc() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let program = folder.path().join("own.ua");
    let text = "node own (a:u16[2], k:u16) returns (b:u16[2], c:u16) let b[0] = a[1] ^ k; b[1] = a[0] <<< 4; c = k & a[0] tel";
    std::fs::write(&program, text).expect("written");
    let main = "#include \"own.h\"\n#include <stdio.h>\nint main(void) {\n  reg a[2][2] = {{0x1234, 0x5678}, {0xabcd, 0x00ff}}, k[2] = {0xff00, 0x0ff0}, b[2][2], c[2];\n\
        own__(a, k, b, c);\n  for (int i = 0; i < 2; i++) printf(\"%x %x %x \", b[i][0], b[i][1], c[i]);\n  return 0;\n}\n";
    let program = program.to_str().expect("a plain path");
    let compile =
        ["cipher", "compile", program, "--slicing", "v", "--arch", "x86-64", "-X", "interleave=2"];
    assert_eq!(printed(folder.path(), &compile, main, "-m64"), "a978 2341 1200 f0f bcda bc0 ");
    let header = std::fs::read_to_string(folder.path().join("own.h")).expect("it is there");
    assert!(
        header.contains(
            "2 blocks at a time, in 2 batches: the first index is the batch, and in each: element b"
        ),
        "{header}"
    );
}

#[test]
fn json_says_how_many_batches_and_why() {
    let args =
        ["cipher", "compile", "serpent-128", "--slicing", "v", "--arch", "avx2", "--json", "-X"];
    let auto = json(&meanwhile(&[&args[..], &["interleave=auto"]].concat()));
    assert_eq!((&auto["interleave"], &auto["blocks"]), (&3.into(), &24.into()));
    assert!(
        auto["interleave_reason"]
            .as_str()
            .is_some_and(|text| text.starts_with("model x86-64-generic: cycles of a batch, of 1 ")),
        "{auto}"
    );
    let two = json(&meanwhile(&[&args[..], &["interleave=2"]].concat()));
    assert_eq!(
        (&two["interleave"], &two["interleave_reason"]),
        (&2.into(), &serde_json::Value::Null)
    );
}

#[test]
fn other_numbers_of_batches_are_refused() {
    for n in ["0", "5", "two"] {
        let refused =
            meanwhile(&["cipher", "compile", "serpent-128", "-X", &format!("interleave={n}")]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains("`interleave` takes 1 to 4, auto"),
            "{n}"
        );
    }
}
