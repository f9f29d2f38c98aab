//! `meanwhile cipher tune` and its recipes: their results, the commands that take them, refusals,
//! and a run that was ended.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

const LEA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/lea/");
/// The published vector of LEA through the byte interface.
const MAIN: &str = r#"
#include <string.h>
#include "lea.h"

int main(void)
{
    static const uint8_t key[16] = {0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0};
    static const uint8_t cipher[16] = {0x9f, 0xc8, 0x4e, 0x35, 0x28, 0xc6, 0xc6, 0x18, 0x55, 0x32, 0xc7, 0xa7, 0x04, 0x64, 0x8b, 0xfd};
    static lea128_roundkeys keys;
    uint8_t block[16];
    for (int i = 0; i < 16; i++)
        block[i] = (uint8_t)(0x10 + i);
    lea128_expand(&keys, key);
    lea128_blocks(&keys, block, block, 1);
    return memcmp(block, cipher, 16) != 0;
}
"#;

/// A folder with the files of LEA and a cache of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for name in ["lea.ua", "lea.layout.toml", "lea.json"] {
            std::fs::copy(format!("{LEA}{name}"), folder.path().join(name))
                .expect("the example is there");
        }
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        command
            .current_dir(self.folder.path())
            .env("MEANWHILE_CACHE", self.path("cache"))
            .args(line.split(' '));
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().expect("it runs")
    }

    /// The message of a command that is refused, with exit code 1.
    fn refused(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.status.code(), Some(1), "{line}: {ran:?}");
        text(&ran.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("one JSON object: {output:?}"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it is there")
}

#[test]
fn a_recipe_is_measured_and_every_command_takes_it() {
    let place = Place::new();
    let tuned = place.run("cipher tune lea.ua --arch x86-64 --budget 8s --json");
    let tuned = json(&tuned);
    assert!(
        tuned["ok"] == true
            && tuned["kind"] == "measured"
            && tuned["recipe"] == "lea-128-x86-64.recipe.toml",
        "{tuned}"
    );
    // The way in the file is the first of those tried, and none measured as often is faster, unless
    // a tie kept the default.
    let tried = tuned["tried"].as_array().expect("a list");
    assert!(tried.first().is_some_and(|tried| tried["way"] == tuned["way"]), "{tuned}");
    let cycles = |value: &Value| value["cycles_per_byte"].as_f64().expect("a number");
    let is_tie = tuned["measured"].is_null();
    assert!(
        is_tie
            || tried.iter().all(|value| value["launches"] != tried[0]["launches"]
                || cycles(value) >= cycles(&tried[0])),
        "{tuned}"
    );
    let file: toml::Table = read(&place.path("lea-128-x86-64.recipe.toml")).parse().expect("TOML");
    assert_eq!(file["way"]["slicing"].as_str(), tuned["way"]["slicing"].as_str());
    assert_eq!(file["way"]["interleave"].as_integer(), tuned["way"]["interleave"].as_i64());
    // The finished search left no state to continue.
    let again = place.run("cipher tune lea.ua --arch x86-64 --budget 1s");
    assert!(!text(&again.stdout).contains("an earlier run"), "{again:?}");
    // With the recipe the compiled program computes the same.
    let recipe = "--recipe lea-128-x86-64.recipe.toml";
    let compiled =
        json(&place.run(&format!("cipher compile lea.ua {recipe} -o lea.c --header lea.h --json")));
    assert_eq!(compiled["arch"], "x86-64");
    std::fs::write(place.path("main.c"), MAIN).expect("written");
    for line in ["gcc -O1 main.c lea.c -o lea", "./lea"] {
        let mut words = line.split(' ');
        let ran = Command::new(words.next().expect("a program"))
            .args(words)
            .current_dir(place.folder.path())
            .output()
            .expect("it runs");
        assert!(ran.status.success(), "{line}: {ran:?}");
    }
    let proved = json(&place.run(&format!("cipher validate lea.ua {recipe} --json")));
    assert_eq!((&proved["ok"], &proved["arch"]), (&true.into(), &"x86-64".into()), "{proved}");
    let speed = json(&place.run(&format!("cipher speed lea.ua {recipe} --quick --json")));
    assert!(speed["rows"][0]["ratio"].as_f64().is_some_and(|number| number > 0.0), "{speed}");
}

/// Programs of others seldom have a layout beside them: words of 32 bits, results of a few bits,
/// words of an open size.
#[test]
fn programs_without_a_layout_are_tuned_and_measured_too() {
    const WORDS: &str = "node mix (x : u32x4, k : u32) returns (y : u32x2, z : u16)\nlet\n    y[0] = (x[0] <<< 3) ^ (x[1] & k);\n    \
        y[1] = (x[2] <<< 5) ^ (x[3] | k);\n    z = 7\ntel\n";
    const BITS: &str = "table sbox (a : b3) returns (b : b3) { 5, 2, 7, 0, 1, 3, 6, 4 }\nnode odd (x : b6, k : b3) returns (y : b3, z : b3)\n\
        let\n    y = sbox(x[0 .. 2]) ^ k;\n    z = sbox(x[3 .. 5]) & k\ntel\n";
    const OPEN: &str = "node open (x : u'mx2) returns (y : u'mx2)\nlet\n    y[0] = x[0] ^ x[1];\n    y[1] = x[0] & x[1]\ntel\n";
    let place = Place::new();
    for (name, program, word, slicings) in
        [("words", WORDS, "", "bv"), ("bits", BITS, "", "b"), ("open", OPEN, " --word 16", "vh")]
    {
        std::fs::write(place.path(&format!("{name}.ua")), program).expect("written");
        let ran = place
            .run(&format!("cipher tune {name}.ua{word} --arch avx2 --model -o model.toml --json"));
        let chosen = json(&ran);
        assert!(
            chosen["kind"] == "model"
                && chosen["cycles_per_byte"].as_f64().is_some_and(|number| number > 0.0),
            "{chosen}"
        );
        assert!(text(&ran.stderr).contains("each result counts as whole bytes"), "{ran:?}");
        let slicing = chosen["way"]["slicing"].as_str().expect("a letter");
        assert!(slicings.contains(slicing), "{chosen}");
        let compiled = json(
            &place.run(&format!("cipher compile {name}.ua --recipe model.toml -o {name}.c --json")),
        );
        assert_eq!(
            (&compiled["ok"], compiled["slicing"].as_str()),
            (&true.into(), Some(slicing)),
            "{compiled}"
        );
        let tuned = json(&place.run(&format!(
            "cipher tune {name}.ua{word} --arch x86-64 --budget 2s -o measured.toml --json"
        )));
        assert!(
            tuned["kind"] == "measured"
                && tuned["cycles_per_byte"].as_f64().is_some_and(|number| number > 0.0),
            "{tuned}"
        );
        let proved =
            json(&place.run(&format!("cipher validate {name}.ua --recipe measured.toml --json")));
        assert_eq!(proved["ok"], true, "{proved}");
        let speed = json(
            &place.run(&format!("cipher speed {name}.ua --recipe measured.toml --quick --json")),
        );
        assert!(speed["rows"][0]["ratio"].as_f64().is_some_and(|number| number > 0.0), "{speed}");
    }
    // Bitslicing would make single bits of words whose size was chosen.
    let compiled = json(&place.run("cipher compile open.ua --word 16 -o open.c --json"));
    assert_eq!(compiled["slicing"], "v", "{compiled}");
    let compiled = json(&place.run("cipher compile words.ua --word 16 -o words.c --json"));
    assert_eq!(compiled["slicing"], "b", "its words have a size: {compiled}");
    // A lookup over the bits of a word can only be bitsliced.
    const LOOKUP: &str = "table sbox (a : u4) returns (b : u4) { 5, 2, 7, 0, 1, 3, 6, 4, 15, 14, 13, 12, 11, 10, 9, 8 }\n\
        node only (x : u'mx2, n : u4) returns (y : u'mx2, m : u4)\nlet\n    y[0] = x[0] ^ x[1];\n    y[1] = x[0] & x[1];\n    m = sbox(n)\ntel\n";
    std::fs::write(place.path("only.ua"), LOOKUP).expect("written");
    assert_eq!(place.run("cipher compile only.ua -o only.c").status.code(), Some(0));
    for command in [
        "compile only.ua --word 16",
        "tune only.ua --word 16 --model",
        "check only.ua --constant-time --word 16",
    ] {
        let said = place.refused(&format!("cipher {command}"));
        assert!(
            said.contains("`only` can only be bitsliced") && said.contains("leave out --word"),
            "{said}"
        );
    }
    // Without a recipe `speed` asks for the layout, as before.
    assert!(place.refused("cipher speed words.ua --quick").contains("no layout"));
    assert!(place.refused("cipher speed none.ua --recipe model.toml").contains("no file"));
}

#[test]
fn packages_take_recipes_of_c_each_for_its_target() {
    let place = Place::new();
    let c = json(&place.run(
        "cipher tune lea.ua --arch x86-64 --emit c --slicing v --budget 3s -o own.toml --json",
    ));
    assert_eq!(c["way"]["emit"], "c", "{c}");
    let way = "interleave = ";
    let recipe = read(&place.path("own.toml"));
    let at = recipe.find(way).expect("a number of batches") + way.len();
    std::fs::write(place.path("own.toml"), format!("{}3{}", &recipe[..at], &recipe[at + 1..]))
        .expect("written");
    let made = place.run("cipher package lea.ua --recipe own.toml -o made");
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let of = |arch: &str| read(&place.path(&format!("made/src/lea128_{arch}.c")));
    assert!(of("x86_64").contains("/* 3 blocks at a time"), "{}", of("x86_64"));
    let usual = place.run("cipher package lea.ua -o usual");
    assert_eq!(usual.status.code(), Some(0));
    assert_eq!(
        of("avx2"),
        read(&place.path("usual/src/lea128_avx2.c")),
        "other targets stay as they are"
    );
    let twice = place.refused("cipher package lea.ua --recipe own.toml --recipe own.toml -o other");
    assert!(twice.contains("second recipe of `lea-128` for x86-64"), "{twice}");
    let other = place.refused("cipher package aes-128 --recipe own.toml -o other");
    assert!(other.contains("no such program is packaged"), "{other}");
}

#[test]
fn recipes_of_other_programs_broken_ones_and_files_of_others_are_refused() {
    let place = Place::new();
    let made = place.run("cipher tune lea.ua --arch avx2 --slicing v --model -o own.toml");
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let program = read(&place.path("lea.ua"));
    // A comment changes nothing; a constant makes another program.
    std::fs::write(place.path("lea.ua"), format!("# Mine.\n{program}")).expect("written");
    assert_eq!(
        place.run("cipher compile lea.ua --recipe own.toml -o lea.c").status.code(),
        Some(0)
    );
    std::fs::write(place.path("lea.ua"), program.replacen(">>> 5", ">>> 6", 1)).expect("written");
    assert_ne!(read(&place.path("lea.ua")), program, "the example rotates by 5");
    for command in ["compile", "validate", "run"] {
        let said = place.refused(&format!("cipher {command} lea.ua --recipe own.toml"));
        assert!(
            said.contains("`lea-128` is another program") && said.contains("cipher tune"),
            "{said}"
        );
    }
    let said = place.refused("cipher compile aes-128 --recipe own.toml -o a.c");
    assert!(said.contains("`aes-128` is another program") && !place.path("a.c").exists(), "{said}");
    std::fs::write(place.path("lea.ua"), &program).expect("written");
    let recipe = read(&place.path("own.toml"));
    for (from, to, word) in [
        ("slicing = \"v\"", "slicing = \"w\"", "own.toml:"),
        ("interleave", "interweave", "own.toml:"),
        ("format = 1", "format = 2", "format 2"),
    ] {
        assert!(recipe.contains(from), "{recipe}");
        std::fs::write(place.path("own.toml"), recipe.replacen(from, to, 1)).expect("written");
        let said = place.refused("cipher compile lea.ua --recipe own.toml -o b.c");
        assert!(
            said.contains(word) && said.contains("makes it anew") && !place.path("b.c").exists(),
            "{said}"
        );
    }
    let both = place.run("cipher compile lea.ua --recipe own.toml --slicing v");
    assert!(!both.status.success() && text(&both.stderr).contains("--slicing"), "{both:?}");
    std::fs::write(place.path("letter.toml"), "to = \"Bob\"\n").expect("written");
    let said = place.refused("cipher tune lea.ua --arch avx2 --model -o letter.toml");
    assert!(
        said.contains("is no recipe") && read(&place.path("letter.toml")) == "to = \"Bob\"\n",
        "{said}"
    );
    let said = place.refused("cipher tune lea.ua --budget 5d");
    assert!(said.contains("90s, 5m or 1h"), "{said}");
}

#[test]
fn a_run_that_was_ended_goes_on_and_a_broken_one_begins_again() {
    let place = Place::new();
    let mut child = place
        .command("cipher tune lea.ua --arch x86-64 --slicing v --emit c --budget 60s")
        .spawn()
        .expect("it starts");
    let kept = || {
        std::fs::read_dir(place.path("cache/cipher"))
            .into_iter()
            .flatten()
            .flatten()
            .find(|entry| entry.file_name().to_string_lossy().starts_with("tune-"))
    };
    let begin = Instant::now();
    let journal = loop {
        assert!(begin.elapsed() < Duration::from_secs(120), "nothing is kept of what was measured");
        assert!(
            child.try_wait().expect("it is ours").is_none(),
            "it ended before it could be ended"
        );
        match kept() {
            Some(it) => break it.path(),
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    assert!(!place.path("lea-128-x86-64.recipe.toml").exists(), "a recipe of half a search");
    let measured: Value = serde_json::from_str(&read(&journal)).expect("whole");
    let n = measured["launches"].as_object().expect("by program").len();
    let ran = place.run("cipher tune lea.ua --arch x86-64 --slicing v --emit c --budget 5s");
    assert!(
        ran.status.success()
            && text(&ran.stdout).contains(&format!("its {n} programs are not measured again")),
        "{ran:?}"
    );
    assert!(!journal.exists());
    std::fs::write(&journal, "{\"cpu\": \"").expect("written");
    let ran = place.run("cipher tune lea.ua --arch x86-64 --slicing v --emit c --budget 2s");
    assert!(
        ran.status.success() && text(&ran.stderr).contains("is broken and made anew"),
        "{ran:?}"
    );
}

#[test]
fn the_model_alone_compiles_nothing_and_neon_is_never_measured() {
    let place = Place::new();
    let chosen = json(&place.run("cipher tune lea.ua --arch avx2 --model --json"));
    assert_eq!(
        (&chosen["kind"], chosen["recipe"].as_str()),
        (&"model".into(), Some("lea-128-avx2.recipe.toml")),
        "{chosen}"
    );
    assert!(
        std::fs::read_dir(place.path("cache")).map_or(0, Iterator::count) == 0,
        "something was compiled"
    );
    let neon = place.run("cipher tune lea.ua --arch neon --slicing v --budget 5s");
    assert!(
        neon.status.success()
            && text(&neon.stderr).contains("the model chooses, and nothing is measured"),
        "{neon:?}"
    );
    assert!(!read(&place.path("lea-128-neon.recipe.toml")).contains("[measured]"));
}
