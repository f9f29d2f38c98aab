//! A user's Usuba file with a layout: bytes, keys, streams and vectors as with a bundled primitive,
//! and what is refused.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const LEA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/lea/");

fn meanwhile(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder)
        .args(line.split(' '))
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// A folder with the files of LEA.
fn lea() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for name in ["lea.ua", "lea.layout.toml", "lea.json"] {
        std::fs::copy(format!("{LEA}{name}"), folder.path().join(name))
            .expect("the example is there");
    }
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn the_published_vector_of_lea_goes_through_interpreter_and_c() {
    let (_keep, folder) = lea();
    let tested = meanwhile(&folder, "cipher test lea.ua --slicing v --arch x86-64 --cc gcc --json");
    assert_eq!(
        (json(&tested)["failed"].clone(), json(&tested)["passed"].clone()),
        (0.into(), 2.into()),
        "{}",
        text(&tested.stdout)
    );
    // A vector that is wrong is found.
    let vectors = std::fs::read_to_string(folder.join("lea.json")).expect("read");
    std::fs::write(folder.join("lea.json"), vectors.replace("9fc84e35", "9fc84e36"))
        .expect("written");
    let tested = meanwhile(&folder, "cipher test lea.ua --slicing v --arch x86-64 --cc gcc --json");
    assert_eq!((tested.status.code(), json(&tested)["failed"].clone()), (Some(1), 2.into()));
    std::fs::remove_file(folder.join("lea.json")).expect("removed");
    let tested = meanwhile(&folder, "cipher test lea.ua");
    assert!(
        tested.status.code() == Some(1)
            && text(&tested.stderr).contains("cannot read the vectors lea.json"),
        "{tested:?}"
    );
}

#[test]
fn a_stream_and_the_key_schedule_are_in_the_header() {
    let (_keep, folder) = lea();
    let made = meanwhile(
        &folder,
        "cipher compile lea.ua --mode ctr --slicing v --arch avx2 --header lea.h",
    );
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let header = std::fs::read_to_string(folder.join("lea.h")).expect("the header");
    for line in [
        "void lea128_expand(lea128_roundkeys *keys, const uint8_t key[16]);",
        "void lea128_blocks(const lea128_roundkeys *keys, const uint8_t *in, uint8_t *out, size_t n);",
        "int lea128_ctr_xor(lea128_ctr *ctr, const lea128_roundkeys *keys, const uint8_t *in, uint8_t *out, size_t n);",
    ] {
        assert!(header.contains(line), "{header}");
    }
}

#[test]
fn constant_time_is_checked_through_bytes_and_schedule() {
    let (_keep, folder) = lea();
    let checked = meanwhile(
        &folder,
        "cipher check lea.ua --constant-time --slicing v --arch x86-64 --cc gcc --opt -O1 --json",
    );
    assert_eq!(
        (checked.status.code(), &json(&checked)["subject"]),
        (Some(0), &Value::from("lea-128")),
        "{checked:?}"
    );
}

#[test]
fn errors_of_a_layout_have_file_and_line() {
    let (_keep, folder) = lea();
    let right = std::fs::read_to_string(folder.join("lea.layout.toml")).expect("read");
    for (old, new, message, line) in [
        (
            "params = { plain = { field = \"input\", layout = \"word:4",
            "params = { plain = { field = \"input\", layout = \"word:3",
            "the layout of `plain` has 96 bits, but the parameter has 128 bits: 4 words of 32",
            6,
        ),
        (
            "output = \"word:4 byte:4",
            "output = \"word:4 byte:2",
            "the layout of `cipher` has 64 bits, but the result has 128 bits: 4 words of 32",
            7,
        ),
        (
            "schedule = \"lea128_keys\"\n",
            "\n",
            "the layout does not fill `k`, which has 4608 bits: 144 words of 32",
            28,
        ),
        ("{ key = {", "{ kye = {", "node `lea128_keys` has no parameter `kye`", 5),
        ("\"lea128_keys\"", "\"lea128_key\"", "the program has no node `lea128_key`", 4),
        ("field = \"key\"", "field = \"keys\"", "`keys` is not a field", 5),
        ("field = \"input\"", "field = \"nonce\"", "no parameter of `lea128` is the `input`", 6),
        (
            "-> word | -byte bit\"\n",
            "-> word | -byte\"\n",
            "the layout of `cipher` cannot be read: the axes left (bit byte word) and right (byte word) differ",
            7,
        ),
        ("kind =", "sort =", "unknown field `sort`", 2),
        ("name = \"lea-128\"", "name = \"8lea\"", "`8lea` cannot be a name in C", 1),
        (
            "output =",
            "modes.ctr = [\"counter:be32\"]\noutput =",
            "the parts have 4 bytes, the input has 16",
            7,
        ),
        ("output =", "modes.ctr = [\"nonce:16\"]\noutput =", "a mode has one `counter`", 7),
        ("schedule =", "schedule", "", 4),
    ] {
        assert!(right.contains(old), "{old}");
        std::fs::write(folder.join("lea.layout.toml"), right.replacen(old, new, 1))
            .expect("written");
        let refused = meanwhile(&folder, "cipher check lea.ua --json");
        let report = json(&refused);
        let errors = report["errors"].as_array().expect("errors").clone();
        let found = errors
            .iter()
            .find(|error| error["message"].as_str().expect("text").starts_with(message));
        let found = found.unwrap_or_else(|| panic!("{message}: {report}"));
        assert_eq!(
            (refused.status.code(), &found["line"]),
            (Some(1), &Value::from(line)),
            "{message}: {report}"
        );
        let file = if line == 28 { "lea.ua" } else { "lea.layout.toml" };
        assert_eq!(found["file"], file, "{message}");
    }
    let absent = meanwhile(&folder, "cipher check lea.ua --layout none.toml");
    assert!(
        absent.status.code() == Some(1)
            && text(&absent.stderr).contains("cannot read the layout none.toml")
    );
    let bundled = meanwhile(&folder, "cipher check aes-128 --layout lea.layout.toml");
    assert!(text(&bundled.stderr).contains("--entry, --layout and -I are for files"));
}

#[test]
fn bytes_of_unambiguous_parameters_are_in_order_and_a_note_says_so() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("pad.ua", "node f (x:u8x4, k:u8x4) returns (y:u8x4) let y = x ^ k tel\n");
    let made = meanwhile(folder.path(), "cipher compile pad.ua --header pad.h --json");
    assert!(
        text(&made.stderr)
            .contains("they are taken in order (write pad.layout.toml to say otherwise)"),
        "{made:?}"
    );
    let header = std::fs::read_to_string(folder.path().join("pad.h")).expect("the header");
    assert!(
        header.contains("void pad_expand(pad_roundkeys *keys, const uint8_t key[4]);"),
        "{header}"
    );
    // Byte order, or the role of a parameter, is ambiguous.
    for (name, node) in [
        ("words.ua", "node f (x:u16x2) returns (y:u16x2) let y = x tel\n"),
        ("two.ua", "node f (x:u8x4, z:u8x4) returns (y:u8x4) let y = x ^ z tel\n"),
    ] {
        write(name, node);
        let made =
            meanwhile(folder.path(), &format!("cipher compile {name} --slicing v --header it.h"));
        let header = std::fs::read_to_string(folder.path().join("it.h")).expect("the header");
        assert!(
            made.stderr.is_empty() && header.contains("void f__(") && !header.contains("_blocks"),
            "{name}: {header}"
        );
    }
}

#[test]
fn the_header_of_the_sliced_interface_says_which_bit_is_which() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(
        folder.path().join("f.ua"),
        "node f (x:u16x2) returns (y:u16x2) let y = x tel\n",
    )
    .expect("written");
    for (slicing, said, declared) in [
        (
            "b",
            "bit b of a register, counted from the least significant, belongs to block b",
            "void f__(reg x__[2][16], reg y__[2][16]);",
        ),
        (
            "v",
            "element b of a register is the word of block b",
            "void f__(reg x__[2], reg y__[2]);",
        ),
    ] {
        meanwhile(
            folder.path(),
            &format!("cipher compile f.ua --slicing {slicing} --arch avx2 --header f.h"),
        );
        let header = std::fs::read_to_string(folder.path().join("f.h")).expect("the header");
        assert!(header.contains(said) && header.contains(declared), "{header}");
    }
}

#[test]
fn compile_does_not_overwrite_files_of_the_same_command() {
    let (_keep, folder) = lea();
    let before = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it is there");
    let (program, layout) = (before("lea.ua"), before("lea.layout.toml"));
    std::os::unix::fs::symlink("lea.ua", folder.join("link.c")).expect("linked");
    for line in [
        "-o lea.ua",
        "-o lea.layout.toml",
        "-o a.c --header lea.ua",
        "-o a.c --header a.c",
        "-o link.c",
    ] {
        let ran = meanwhile(&folder, &format!("cipher compile lea.ua {line}"));
        assert_eq!(ran.status.code(), Some(1), "{line}: {}", text(&ran.stdout));
        assert!(
            text(&ran.stderr).contains("would be overwritten"),
            "{line}: {}",
            text(&ran.stderr)
        );
        assert_eq!(
            (before("lea.ua"), before("lea.layout.toml")),
            (program.clone(), layout.clone()),
            "{line}"
        );
    }
    assert!(
        meanwhile(&folder, "cipher compile lea.ua -o /dev/null --header /dev/null")
            .status
            .success()
    );
}

/// Rounds that rotate words by other distances: put off, they are shuffles of horizontal words.
const ROTATED: &str = "
node keys (key : u16x4) returns (rk : u16x4[5])
let
    rk[0] = key;
    forall i in [0, 3] {
        rk[i+1] = (rk[i][2] <<< 3, rk[i][3], rk[i][0] ^ rk[i][1], rk[i][1])
    }
tel
node enc (plain : u16x4, rk : u16x4[5]) returns (cipher : u16x4)
vars s : u16x4[6], t : u16x4[5]
let
    s[0] = plain;
    forall i in [0, 4] {
        t[i] = s[i] ^ rk[i];
        s[i+1] = ((t[i][0] ^ (t[i][1] & t[i][3])) <<< 2, (t[i][1] ^ (t[i][2] | t[i][0])) <<< 5,
                  (t[i][2] ^ t[i][3]) <<< 11, (t[i][3] ^ (t[i][0] & t[i][2])) <<< 14)
    }
    cipher = s[5]
tel
";

#[test]
fn rotations_that_are_put_off_are_the_same_in_c() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let bytes = "word:4 byte:2 bit:8 -> word | -byte bit";
    let layout = format!(
        "name = \"own\"\nkind = \"block cipher\"\nschedule = \"keys\"\nschedule_params = {{ key = {{ field = \"key\", layout = \"{bytes}\" }} }}\nparams = {{ plain = {{ field = \"input\", layout = \"{bytes}\" }} }}\noutput = \"{bytes}\"\n"
    );
    std::fs::write(folder.path().join("own.ua"), ROTATED).expect("a scratch file");
    std::fs::write(folder.path().join("own.layout.toml"), layout).expect("a scratch file");
    let given = "key=0123456789abcdef input=fedcba9876543210\n";
    let run = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        command.current_dir(folder.path()).args(line.split(' '));
        let mut child = command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut stdin, given.as_bytes()).expect("it reads");
        drop(stdin);
        let ran = child.wait_with_output().expect("it ends");
        assert!(ran.status.success(), "{line}: {}", text(&ran.stderr));
        text(&ran.stdout)
    };
    let expected = run("cipher run own.ua");
    for slicing in ["h", "v"] {
        for fixslice in ["auto", "yes", "no"] {
            for arch in ["x86-64", "sse"] {
                let line = format!(
                    "cipher run own.ua --compiled --slicing {slicing} --arch {arch} -X fixslice={fixslice}"
                );
                assert_eq!(run(&line), expected, "{line}");
            }
        }
    }
}
