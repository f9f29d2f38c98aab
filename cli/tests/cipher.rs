//! `meanwhile cipher` as users call it: text, JSON, exit codes, and the C it writes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use testkit::json;

fn meanwhile(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads its input");
    child.wait_with_output().expect("it ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn has(program: &str) -> bool {
    testkit::has("cipher command line", &[program])
}

#[test]
fn list_names_all_primitives_with_their_slicings() {
    let output = meanwhile(&["cipher", "list", "--json"], "");
    let rows = json(&output)["rows"].as_array().expect("rows").clone();
    assert_eq!(rows.len(), 32);
    let chacha = rows.iter().find(|r| r["name"] == "chacha20").expect("it is bundled");
    assert_eq!(
        chacha["slicings"],
        serde_json::json!(["b", "v"]),
        "additions have no horizontal form"
    );
    let modes = |name: &str| {
        rows.iter().find(|r| r["name"] == name).expect("it is bundled")["modes"].clone()
    };
    assert_eq!(modes("ascon-p12"), serde_json::json!(["aead", "hash", "xof"]));
    assert_eq!(
        modes("keccak-f1600"),
        serde_json::json!(["sha3-256", "sha3-512", "shake128", "shake256"])
    );
    assert_eq!(
        (modes("aes-192"), modes("aes-192-decrypt")),
        (serde_json::json!(["ctr"]), serde_json::json!([]))
    );
    assert!(rows.iter().all(|r| r["kind"].is_string() && r["source"].is_string()));
}

/// A program whose last node calls the one above `n` times, which does the same, and so on.
fn calls_in_calls(word: &str, n: usize, depth: usize) -> String {
    let mut text = format!("node n0 (x:{word}) returns (y:{word}) let y = (x <<< 1) ^ x tel\n");
    for k in 1..depth {
        let calls: String =
            (0..n).map(|i| format!("t[{}] = n{}(t[{i}]); ", i + 1, k - 1)).collect();
        text += &format!(
            "node n{k} (x:{word}) returns (y:{word}) vars t:{word}[{}] let t[0] = x; {calls}y = t[{n}] tel\n",
            n + 1
        );
    }
    text
}

#[test]
fn check_refuses_what_compile_refuses_for_its_calls() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("calls.ua").display().to_string();
    let c = folder.path().join("calls.c").display().to_string();
    for (word, n, depth, is_right) in [
        ("u32", 2, 29, false),
        ("b64", 3, 20, false),
        ("u<V>16", 2, 26, false),
        ("u32", 2, 9, true),
    ] {
        std::fs::write(&file, calls_in_calls(word, n, depth)).expect("written");
        let checked = meanwhile(&["cipher", "check", &file], "");
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert_eq!(checked.status.success(), is_right, "{word} {n} {depth}: {said}");
        let compiled = meanwhile(&["cipher", "compile", &file, "-o", &c], "");
        assert_eq!(compiled.status.success(), is_right, "{word} {n} {depth}");
        if !is_right {
            assert!(said.contains("more than 3000000 equations after inlining"), "{said}");
            assert_eq!(said, String::from_utf8_lossy(&compiled.stderr), "{word}");
        }
    }
    // Bits of a word may have few enough calls where the words do not.
    std::fs::write(&file, calls_in_calls("u32", 2, 29).replace("(x <<< 1) ^ x", "~x"))
        .expect("written");
    let checked = meanwhile(&["cipher", "check", &file, "--json"], "");
    assert_eq!(json(&checked)["slicings"], serde_json::json!(["b"]));
    // What `compile` is told to keep as calls it compiles.
    std::fs::write(&file, calls_in_calls("u32", 2, 29)).expect("written");
    let kept = meanwhile(
        &["cipher", "compile", &file, "--slicing", "v", "-X", "inline=none", "-o", &c],
        "",
    );
    assert!(kept.status.success(), "{}", String::from_utf8_lossy(&kept.stderr));
}

#[test]
fn run_gives_the_published_output_and_takes_parts_of_a_composed_field() {
    let zero = "0".repeat(32);
    let output = meanwhile(&["cipher", "run", "aes-128"], &format!("key={zero} input={zero}\n"));
    assert_eq!(stdout(&output), "66e94bd4ef8a2c3b884cfa59ca342b2e\n");
    let (key, nonce) = ("0".repeat(64), "0".repeat(24));
    let parts =
        meanwhile(&["cipher", "run", "chacha20"], &format!("key={key} counter=0 nonce={nonce}\n"));
    let whole = format!("657870616e642033322d62797465206b{}", "0".repeat(96));
    let same = meanwhile(&["cipher", "run", "chacha20"], &format!("input={whole}\n"));
    assert_eq!(stdout(&parts), stdout(&same));
    assert!(stdout(&parts).starts_with("76b8e0ada0f13d90"));
}

#[test]
fn run_names_the_line_of_a_bad_case_and_writes_nothing() {
    let zero = "0".repeat(32);
    for (line, why) in [
        (format!("key={zero} input=00"), "has 1 bytes, 16 are needed"),
        (format!("kye={zero} input={zero}"), "did you mean `key`?"),
        (format!("key={zero}"), "field `input` is missing"),
        (format!("key={zero} key={zero} input={zero}"), "is given twice"),
        (String::new(), "the line has no fields"),
        (format!("key={zero} input=zz{}", "0".repeat(30)), "hex digits"),
    ] {
        let output =
            meanwhile(&["cipher", "run", "aes-128"], &format!("key={zero} input={zero}\n{line}\n"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(said.contains("line 2: ") && said.contains(why), "{line}: {said}");
        assert_eq!(stdout(&output), "", "{line}");
    }
}

#[test]
fn run_takes_the_parameters_of_a_file() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("f.ua");
    std::fs::write(&file, "node f (a : u8x2, b : b4) returns (s : u8, t : b4)\nlet s = a[0] ^ (a[1] <<< 1); t = ~b tel\n")
        .expect("written");
    let path = file.to_str().expect("a plain path");
    let input = "a=f0,81 b=0101\na=01,00 b=1111\n";
    let interpreted = meanwhile(&["cipher", "run", path], input);
    assert_eq!(stdout(&interpreted), "s=f3 t=1010\ns=01 t=0000\n");
    if has("gcc") {
        for slicing in ["b", "v"] {
            let compiled =
                meanwhile(&["cipher", "run", path, "--compiled", "--slicing", slicing], input);
            assert_eq!(stdout(&compiled), stdout(&interpreted), "slicing {slicing}");
        }
    }
}

#[test]
fn check_reports_every_error_of_a_file_as_json() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("bad.ua");
    std::fs::write(
        &file,
        "node f (plain : u8) returns (b, c : u8)\nlet\n  b = plian;\n  c = g(plain)\ntel\n",
    )
    .expect("written");
    let output =
        meanwhile(&["cipher", "check", file.to_str().expect("a plain path"), "--json"], "");
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    assert_eq!(report["ok"], false);
    let errors = report["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 2, "{report}");
    assert_eq!((&errors[0]["line"], &errors[0]["column"]), (&3.into(), &7.into()));
    assert!(errors[0]["help"].as_str().expect("help").contains("did you mean `plain`?"));
    let fine = meanwhile(&["cipher", "check", "serpent-128", "--json"], "");
    assert_eq!(
        (json(&fine)["ok"].clone(), json(&fine)["errors"].clone()),
        (true.into(), serde_json::json!([]))
    );
}

#[test]
fn a_folder_is_a_table_of_verdicts() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    std::fs::create_dir(folder.path().join("more")).expect("made");
    write("good.ua", "node f (x:u8) returns (y:u8) let y = x <<< 1 tel\n");
    write(
        "more/also.ua",
        "include \"../good.ua\"\nnode g (x:u8) returns (y:u8) let y = f(x) tel\n",
    );
    write("readme.txt", "not Usuba\n");
    let place = folder.path().to_str().expect("a plain path");
    let right = meanwhile(&["cipher", "check", place], "");
    let text = String::from_utf8_lossy(&right.stdout).into_owned();
    assert_eq!(right.status.code(), Some(0), "{text}");
    assert!(
        text.contains("more/also.ua")
            && text.contains("2 of 2 are right")
            && !text.contains("readme"),
        "{text}"
    );
    write("bad.ua", "node f (x:u8) returns (y:u8) let y = z tel\n");
    write("empty.ua", "");
    let wrong = meanwhile(&["cipher", "check", place], "");
    let text = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert_eq!(wrong.status.code(), Some(1), "{text}");
    assert!(
        text.contains("1:38: unknown variable `z`") && text.contains("2 of 4 are right"),
        "{text}"
    );
    let report = json(&meanwhile(&["cipher", "check", place, "--json"], ""));
    let files = report["files"].as_array().expect("files");
    let verdicts: Vec<(&str, bool)> = files
        .iter()
        .map(|file| (file["file"].as_str().expect("a file"), file["ok"] == true))
        .collect();
    assert_eq!(
        verdicts,
        [("bad.ua", false), ("empty.ua", false), ("good.ua", true), ("more/also.ua", true)]
    );
    assert_eq!(
        (&report["ok"], &files[2]["entry"], &files[0]["errors"][0]["line"]),
        (&false.into(), &"f".into(), &1.into())
    );
    // Options for one file, and a folder without programs.
    assert_eq!(meanwhile(&["cipher", "check", place, "--entry", "f"], "").status.code(), Some(1));
    let none = tempfile::tempdir().expect("a scratch folder");
    let refused = meanwhile(&["cipher", "check", none.path().to_str().expect("a plain path")], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has no Usuba file"));
}

#[test]
fn a_part_of_a_name_is_taken_for_all_that_begin_with_it() {
    for (name, help) in [
        ("aes", "did you mean `aes-128`, `aes-192`, `aes-256`"),
        ("AES-128", "did you mean `aes-128`?"),
        ("shake128", "it is a mode: `keccak-f1600 --mode shake128`"),
        ("Ascon-Hash256", "it is a mode: `ascon-p12 --mode hash`"),
        ("ascon", "did you mean `ascon-p12`?"),
        ("gift", "did you mean `gift-128`?"),
        ("present", "did you mean `present-80`?"),
        ("serpent-192", "of that family there"),
        ("camellia", "`meanwhile cipher list`"),
    ] {
        let output = meanwhile(&["cipher", "compile", name], "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && said.contains(help), "{name}: {said}");
    }
}

#[test]
fn unknown_names_and_options_exit_with_1_and_a_guess() {
    let output = meanwhile(&["cipher", "run", "aes-12"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("did you mean `aes-128` or `aes-128-decrypt`?")
    );
    assert_eq!(
        meanwhile(&["cipher", "compile", "aes-128", "--slicing", "x"], "").status.code(),
        Some(1)
    );
    let refused = meanwhile(&["cipher", "compile", "chacha20", "--slicing", "h"], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no arithmetic"));
}

/// Blocks that grow have no room in the strings that they come from, and a `refresh` of the program's
/// own draws no randomness: both are said.
#[test]
fn masked_code_says_where_it_may_not_work_in_place_and_that_it_places_refreshes() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name);
    let layout = |n_out: usize| {
        format!(
            "kind = \"permutation\"\nsource = \"a test\"\n\
             params = {{ x = {{ field = \"input\", layout = \"word:2 bit:8 -> word | bit\" }} }}\n\
             output = \"word:{n_out} bit:8 -> word | bit\"\n"
        )
    };
    let results =
        [(2, "x", "may be\n   the same strings"), (3, "(x, x[0])", "may not\n   overlap")];
    for (n_out, result, in_place) in results {
        let program = format!(
            "node f (x : u8x2) returns (y : u8x{n_out}) vars t : u8x{n_out} \
             let t = {result}; y[0] = t[0] & refresh(t[1]); y[1..{0}] = t[1..{0}] tel\n",
            n_out - 1
        );
        std::fs::write(at("f.ua"), program).expect("it can be written");
        std::fs::write(at("f.layout.toml"), layout(n_out)).expect("it can be written");
        let (file, header) = (at("f.ua"), at("f.h"));
        let [file, header] = [&file, &header].map(|path| path.to_str().expect("UTF-8"));
        let args = ["cipher", "compile", file, "--slicing", "v", "--masked", "1"];
        let source = at("f.c");
        let source = source.to_str().expect("UTF-8");
        let output = meanwhile(&[&args[..], &["-o", source, "--header", header]].concat(), "");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("`refresh` gives its argument as it is"), "{said}");
        let text = std::fs::read_to_string(header).expect("the header was written");
        assert!(text.contains(&format!("in and out {in_place}.")), "{text}");
        // clang warns of that, and a byte has no order.
        let text = std::fs::read_to_string(source).expect("the C was written");
        assert!(!text.contains("a = a;"), "{text}");
    }
}

#[test]
fn masked_code_says_what_is_proved_and_what_it_is_not_for() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (source, header) = (at("p.c"), at("p.h"));
    let compile = |args: &[&str]| {
        let files = ["-o", &source, "--header", &header];
        meanwhile(&[&["cipher", "compile"], args, &files].concat(), "")
    };
    let made = compile(&["present-80", "--slicing", "b", "--masked", "3", "--prefix", "acme_"]);
    assert!(made.status.success(), "{made:?}");
    let said = stdout(&made);
    assert!(said.contains("4 shares: 1984 products and 0 refreshes for 64 blocks"), "{said}");
    assert!(said.contains("proved in the register probing model"), "{said}");
    assert!(said.contains("not covered: transitions, glitches"), "{said}");
    let text = std::fs::read_to_string(&header).expect("the header");
    assert!(text.contains("#define ACME_PRESENT80_MASKED_SHARES 4"), "{text}");
    assert!(text.contains("int acme_present80_masked_expand("), "{text}");
    // Your own file. Its two products together give a share of a for a share of each: b and a + b.
    let own = at("own.ua");
    std::fs::write(
        &own,
        "node own (a : u8x2) returns (x : u8x2)\nlet\n    x[0] = a[0] & a[1];\n    x[1] = a[0] & (a[0] ^ a[1])\ntel\n",
    )
    .expect("it can be written");
    let object = json(&meanwhile(
        &["cipher", "compile", &own, "--slicing", "v", "--masked", "1", "--json"],
        "",
    ));
    assert_eq!(object["entry"], serde_json::json!({"products": 2, "refreshes": 1}), "{object}");
    assert_eq!(object["random_words"], 3);
    let place = object["refreshes"][0].as_str().expect("a place").to_owned();
    assert!(place.ends_with("own.ua:4"), "{place}");
    let several = at("several.ua");
    std::fs::write(
        &several,
        "node several (a : u8, b : u8) returns (x : u8)\nlet\n    x = a & b\ntel\n",
    )
    .expect("it can be written");
    for (args, why) in [
        (
            &["aes-128", "--masked", "1", "--arch", "avx2"][..],
            "for general registers, not for avx2",
        ),
        (&["aes-128", "--masked", "0"], "invalid value '0'"),
        (&["aes-128", "--masked", "8"], "invalid value '8'"),
        (&["aes-128", "--masked", "1", "--mode", "ctr"], "cannot be used with"),
        (&["aes-128", "--masked", "1", "--emit", "asm"], "cannot be used with"),
        (&["chacha20", "--slicing", "v", "--masked", "1"], "`+` of words in one register"),
        (&[&several, "--slicing", "v", "--masked", "1"], "has no byte interface, which masked"),
    ] {
        let refused = compile(args);
        assert_eq!(refused.status.code(), Some(1), "{args:?}: {refused:?}");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains(why), "{args:?}: {said}");
    }
}

#[test]
fn a_mode_is_written_with_its_prototypes_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = folder.path().join("chacha20.h");
    let made = meanwhile(
        &[
            "cipher",
            "compile",
            "chacha20",
            "--mode",
            "ctr64",
            "--json",
            "--header",
            &header.display().to_string(),
        ],
        "",
    );
    assert_eq!((made.status.code(), &json(&made)["mode"]), (Some(0), &Value::from("ctr64")));
    let text = std::fs::read_to_string(&header).expect("the header");
    let init = "void chacha20_ctr64_init(chacha20_ctr64 *ctr, const uint8_t key[32], uint64_t counter, const uint8_t nonce[8]);";
    assert!(text.contains(init) && text.contains("CHACHA20_CTR64_ENDS = 1"), "{text}");
    for (name, help) in [
        ("gimli", "it is a permutation"),
        ("chacha20", "it has `ctr` and `ctr64`"),
        ("ascon-p12", "it has `aead`, `hash` and `xof`"),
    ] {
        let refused = meanwhile(&["cipher", "compile", name, "--mode", "ofb", "--json"], "");
        let error = json(&refused)["errors"][0].clone();
        assert_eq!(
            (refused.status.code(), error["message"].clone()),
            (Some(1), format!("`{name}` has no mode `ofb`").into())
        );
        assert!(error["help"].as_str().expect("help").starts_with(help), "{error}");
    }
}

#[test]
fn the_c_file_and_its_header_serve_a_program_with_any_number_of_blocks() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_string();
    let main = "#include \"aes.h\"\n#include <stdio.h>\n#include <string.h>\n\
        int main(void) {\n  static const uint8_t key[16]; static uint8_t in[77 * 16], out[78 * 16];\n  aes128_roundkeys keys;\n\
        aes128_expand(&keys, key);\n  memset(out, 0xa5, sizeof out);\n  aes128_blocks(&keys, in, out, 77);\n\
        for (int b = 0; b < 77; b++) if (memcmp(out, out + 16 * b, 16)) return 1;\n\
        for (int i = 0; i < 16; i++) if (out[77 * 16 + i] != 0xa5) return 2;\n\
        for (int i = 0; i < 16; i++) printf(\"%02x\", out[i]);\n  return 0;\n}\n";
    std::fs::write(at("main.c"), main).expect("written");
    for (slicing, arch) in [("b", "x86-64"), ("h", "sse"), ("v", "x86-64")] {
        let made = meanwhile(
            &[
                "cipher",
                "compile",
                "aes-128",
                "--slicing",
                slicing,
                "--arch",
                arch,
                "-o",
                &at("aes.c"),
                "--header",
                &at("aes.h"),
            ],
            "",
        );
        assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
        let exe = at("aes");
        let flags: &[&str] = if arch == "sse" { &["-mssse3"] } else { &[] };
        let built = Command::new("gcc")
            .args(["-O1", "-Wall", "-Werror", "-o", &exe, &at("main.c"), &at("aes.c")])
            .args(flags)
            .output();
        let built = built.expect("gcc runs");
        assert!(
            built.status.success(),
            "{slicing} {arch}: {}",
            String::from_utf8_lossy(&built.stderr)
        );
        let ran = Command::new(Path::new(&exe)).output().expect("it runs");
        assert_eq!(ran.status.code(), Some(0), "{slicing} {arch}");
        assert_eq!(stdout(&ran), "66e94bd4ef8a2c3b884cfa59ca342b2e", "{slicing} {arch}");
    }
}

#[test]
fn the_header_of_a_hash_has_its_state_in_pieces() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_string();
    // An array of states: a state larger than in the header would overwrite its neighbours.
    let main = "#include \"hash.h\"\n#include <stdio.h>\n#include <string.h>\n\
        int main(void) {\n  static ascon_hash256_state h[3]; uint8_t out[32];\n  memset(h, 0xa5, sizeof h);\n\
        ascon_hash256_init(&h[1]);\n  if (ascon_hash256_final(&h[1], out) != ASCON_HASH256_OK) return 1;\n\
        for (size_t i = 0; i < sizeof *h; i++) if (((uint8_t *)h)[i] != 0xa5 || ((uint8_t *)&h[2])[i] != 0xa5) return 2;\n\
        for (int i = 0; i < 8; i++) printf(\"%02x\", out[i]);\n  return 0;\n}\n";
    std::fs::write(at("main.c"), main).expect("written");
    for (slicing, arch, flag) in [
        ("v", "x86-64", "-m64"),
        ("v", "sse", "-mssse3"),
        ("b", "x86-64", "-m64"),
        ("h", "sse", "-mssse3"),
    ] {
        let (c, header) = (at("hash.c"), at("hash.h"));
        let args = [
            "cipher",
            "compile",
            "ascon-p12",
            "--mode",
            "hash",
            "--slicing",
            slicing,
            "--arch",
            arch,
            "-o",
            &c,
            "--header",
            &header,
        ];
        let made = meanwhile(&args, "");
        assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
        let exe = at("hash");
        let built = Command::new("gcc")
            .args(["-O1", "-Wall", "-Werror", flag, "-o", &exe, &at("main.c"), &c])
            .output()
            .expect("gcc runs");
        assert!(
            built.status.success(),
            "{slicing} {arch}: {}",
            String::from_utf8_lossy(&built.stderr)
        );
        let ran = Command::new(Path::new(&exe)).output().expect("it runs");
        assert_eq!(
            (ran.status.code(), &*stdout(&ran)),
            (Some(0), "0b3be5850f2f6b98"),
            "{slicing} {arch}"
        );
    }
}

#[test]
fn a_mode_is_checked_with_its_primitive() {
    if !has("gcc") || !has("valgrind") {
        return;
    }
    let args = [
        "cipher",
        "check",
        "chacha20",
        "--constant-time",
        "--mode",
        "ctr",
        "--mode",
        "ctr64",
        "--slicing",
        "v",
        "--arch",
        "x86-64",
    ];
    let ran = meanwhile(&[&args[..], &["--cc", "gcc", "--opt", "-O1", "--json"]].concat(), "");
    let rows = json(&ran)["rows"].as_array().expect("rows").clone();
    let modes: Vec<(&str, &str)> = rows
        .iter()
        .filter_map(|row| Some((row["mode"].as_str()?, row["verdict"].as_str()?)))
        .collect();
    assert_eq!((ran.status.code(), modes), (Some(0), vec![("ctr", "clean"), ("ctr64", "clean")]));
    let refused = meanwhile(&["cipher", "check", "gimli", "--constant-time", "--mode", "aead"], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("`gimli` has no mode `aead`"));
}

/// All names in the folder of ccache, distcc or icecc lead to one program.
#[test]
fn compilers_whose_names_lead_to_one_program_are_several() {
    if !has("gcc") || !has("clang-19") || !has("valgrind") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mask = folder.path().join("mask");
    std::fs::write(&mask, "#!/bin/sh\nexec \"/usr/bin/${0##*/}\" \"$@\"\n")
        .expect("a scratch file");
    std::fs::set_permissions(&mask, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    for name in ["gcc", "gcc-12", "gcc-14", "clang-19", "clang-22"]
        .into_iter()
        .filter(|word| Path::new("/usr/bin").join(word).exists())
    {
        std::os::unix::fs::symlink(&mask, folder.path().join(name)).expect("a scratch link");
    }
    let plain = std::env::var("PATH").expect("there is one");
    let masked = format!("{}:{plain}", folder.path().display());
    let found = |path: &str| {
        let line =
            "cipher check rectangle-80 --constant-time --slicing v --arch x86-64 --opt -O1 --json";
        let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .args(line.split(' '))
            .env("PATH", path)
            .output()
            .expect("it runs");
        let rows = json(&ran)["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| row["cc"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let all = found(&plain);
    assert!(all.contains(&"gcc".to_owned()) && all.contains(&"clang-19".to_owned()), "{all:?}");
    assert_eq!(found(&masked), all);
}

#[test]
fn dump_after_shows_the_program_between_two_passes() {
    let output = meanwhile(
        &["cipher", "compile", "rectangle-80", "--slicing", "v", "--dump-after", "loops"],
        "",
    );
    assert!(stdout(&output).contains("entry node rectangle("));
    assert_eq!(
        meanwhile(&["cipher", "compile", "rectangle-80", "--dump-after", "nothing"], "")
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn compiled_code_is_proved_or_comes_with_an_input() {
    let proved = json(&meanwhile(
        &["cipher", "validate", "chacha20", "--slicing", "v", "--arch", "avx512", "--json"],
        "",
    ));
    let function = &proved["functions"][0];
    assert_eq!(
        (&proved["ok"], &function["verdict"], &function["words"]["proved"]),
        (&true.into(), &"proved".into(), &16.into())
    );
    // The object of another program.
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("f.ua"), "node f (x:u32, k:u32) returns (y:u32) let y = (x ^ k) <<< 7 tel")
        .expect("written");
    let other = "#include <stdint.h>\nvoid f__(uint32_t x, uint32_t k, uint32_t *y) { *y = (x ^ k) << 7; }\n";
    std::fs::write(path("f.c"), other).expect("written");
    let compiled = Command::new("gcc")
        .args(["-O1", "-c", &path("f.c"), "-o", &path("f.o")])
        .status()
        .expect("gcc runs");
    assert!(compiled.success());
    let args = ["cipher", "validate", &path("f.ua"), "--slicing", "v", "--object", &path("f.o")];
    let refused = meanwhile(&args, "");
    assert_eq!(refused.status.code(), Some(2), "{}", stdout(&refused));
    assert!(stdout(&refused).contains("f__: y of slice 0 is 0x"), "{}", stdout(&refused));
    let neon =
        meanwhile(&["cipher", "validate", "chacha20", "--slicing", "v", "--arch", "neon"], "");
    assert_eq!(neon.status.code(), Some(1));
}
