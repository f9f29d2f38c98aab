//! The recipes of CONTRIBUTING, followed in a copy of the tree: the compiler names the places that a
//! recipe names, and no other. It compiles crates anew, so it runs in `make test-long` alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace")
}

/// The files that git knows, as they are now.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let listed = listed.expect("git runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    for name in String::from_utf8_lossy(&listed.stdout).split_terminator('\0') {
        let (from, to) = (root().join(name), folder.path().join(name));
        fs::create_dir_all(to.parent().expect("a folder")).expect("a scratch folder");
        // One that was deleted and not committed yet is not there.
        if from.is_file() {
            fs::copy(from, to).expect("a scratch file");
        }
    }
    folder
}

/// Puts one text in the place of another in a file of the copy.
fn edit(tree: &Path, file: &str, changes: &[(&str, &str)]) {
    let path = tree.join(file);
    let mut text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    for (from, to) in changes {
        assert!(text.contains(from), "{file} has no `{from}`: bring this test up to date");
        text = text.replacen(from, to, 1);
    }
    fs::write(path, text).expect("a scratch file");
}

/// The files in which the compiler finds errors.
fn faulty(tree: &Path, package: &str) -> BTreeSet<String> {
    let ran = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--message-format", "json", "--package", package])
        .arg("--target-dir")
        .arg(root().join("target/recipes"))
        .current_dir(tree)
        .output()
        .expect("cargo runs");
    let mut files = BTreeSet::new();
    for line in String::from_utf8_lossy(&ran.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let message = &message["message"];
        let spans = message["spans"].as_array().into_iter().flatten();
        let primary = spans.filter(|span| span["is_primary"] == true);
        if message["level"] == "error" {
            files.extend(primary.filter_map(|span| span["file_name"].as_str()).map(str::to_owned));
        }
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() || !files.is_empty(), "cargo check failed and names none: {said}");
    files
}

/// The files of `files` that a section of CONTRIBUTING does not name.
fn unnamed(section: &str, files: &BTreeSet<String>) -> Vec<String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("it is there");
    let (_, text) = text.split_once(&format!("## {section}\n")).expect("the section");
    let text = text.split("\n## ").next().unwrap_or_default();
    let named: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    let is_named = |file: &&String| named.iter().any(|name| file.ends_with(name));
    files.iter().filter(|file| !is_named(file)).cloned().collect()
}

fn is_wanted() -> bool {
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    is_long && testkit::has("the recipes of CONTRIBUTING", &["git"])
}

#[test]
fn a_target_of_cipher_is_a_row_and_what_the_compiler_names() {
    if !is_wanted() {
        return;
    }
    let tree = copy();
    let file = "systems/cipher/src/target.rs";
    let text = fs::read_to_string(tree.path().join(file)).expect("it is there");
    let (_, row) = text.split_once("    Row {\n        arch: Arch::Neon,").expect("its row");
    let row = row.split("\n    },\n").next().expect("its end");
    let row = format!("    Row {{\n        arch: Arch::Sve,{row}\n    }},\n");
    let row = row.replace("\"neon\"", "\"sve\"");
    edit(
        tree.path(),
        file,
        &[
            ("    Neon,\n}", "    Neon,\n    #[serde(rename = \"sve\")]\n    Sve,\n}"),
            ("const ROWS: [Row; 5]", "const ROWS: [Row; 6]"),
            ("];\n\nimpl Arch {", &format!("{row}];\n\nimpl Arch {{")),
        ],
    );
    let files = faulty(tree.path(), "meanwhile-cipher");
    assert!(files.len() > 2, "{files:?}");
    assert_eq!(unnamed("Add a target to cipher", &files), [""; 0]);
}

#[test]
fn a_scheme_of_regwin_is_a_variant_and_what_the_compiler_names() {
    if !is_wanted() {
        return;
    }
    let tree = copy();
    let file = "systems/regwin/src/names.rs";
    edit(tree.path(), file, &[("    Flat,\n}", "    Flat,\n    Other,\n}")]);
    let files = faulty(tree.path(), "meanwhile-regwin");
    assert!(!files.is_empty());
    assert_eq!(unnamed("Add a scheme to regwin", &files), [""; 0]);
}

#[test]
fn a_policy_of_cosched_is_a_file_and_two_lines() {
    if !is_wanted() {
        return;
    }
    let tree = copy();
    let policies = tree.path().join("systems/cosched/src/policies");
    let rr = fs::read_to_string(policies.join("rr.rs")).expect("it is there");
    fs::write(policies.join("turns.rs"), rr.replace("Rr", "InTurn")).expect("a scratch file");
    let list = fs::read_to_string(policies.join("mod.rs")).expect("it is there");
    let row =
        list.lines().find(|line| line.contains("Rr") && line.contains("rr::")).expect("a row");
    let other = row
        .replace("rr::Rr", "turns::InTurn")
        .replace("Rr", "InTurn")
        .replace("\"rr\"", "\"in-turn\"");
    edit(
        tree.path(),
        "systems/cosched/src/policies/mod.rs",
        &[("mod rr;\n", "mod rr;\nmod turns;\n"), (row, &format!("{row}\n{other}"))],
    );
    assert_eq!(faulty(tree.path(), "meanwhile-cosched"), BTreeSet::new());
    assert_eq!(faulty(tree.path(), "meanwhile"), BTreeSet::new());
}

#[test]
fn a_machine_is_a_file_and_a_line() {
    if !is_wanted() {
        return;
    }
    let tree = copy();
    let zen4 = fs::read_to_string(tree.path().join("machines/zen4.toml")).expect("it is there");
    fs::write(tree.path().join("machines/zen9.toml"), zen4.replace("zen4", "zen9"))
        .expect("a scratch file");
    let row = "    (\"zen4\", include_str!(\"../machines/zen4.toml\")),\n";
    let other = row.replace("zen4", "zen9");
    edit(tree.path(), "base/machine/src/lib.rs", &[(row, &format!("{row}{other}"))]);
    assert_eq!(faulty(tree.path(), "meanwhile-machine"), BTreeSet::new());
}
