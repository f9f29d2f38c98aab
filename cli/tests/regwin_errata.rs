//! `meanwhile regwin errata`: planted sequences are named, code without them is not, and what is no
//! image is refused.

use std::path::Path;
use std::process::{Command, Output};

use testkit::json;

fn errata(file: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    command.args(["regwin", "errata"]).arg(file).args(more).output().expect("the binary runs")
}

/// An object file of this assembly.
fn assembled(folder: &Path, text: &str) -> std::path::PathBuf {
    let (source, object) = (folder.join("a.s"), folder.join("a.o"));
    std::fs::write(&source, text).expect("a scratch folder");
    let mut command = Command::new("sparc64-linux-gnu-as");
    let ran = command.args(["-32", "-Av8", "-o"]).arg(&object).arg(&source).output();
    let ran = ran.expect("the assembler starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    object
}

fn function(body: &str) -> String {
    format!(
        ".text\n.global planted\n.type planted, #function\nplanted:\n{body}\n retl\n nop\n.size planted, .-planted\n"
    )
}

#[test]
fn a_planted_sequence_is_named_with_its_code() {
    if !testkit::has("errata of LEON3FT", &["sparc64-linux-gnu-as"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let object = assembled(folder.path(), &function(" std %o0, [%o2]\n st %o4, [%o2 + 8]"));
    let found = errata(&object, &[]);
    let text = String::from_utf8_lossy(&found.stdout);
    assert_eq!(found.status.code(), Some(1), "{text}");
    for part in ["planted (TN-0009, sequence B)", "std", "st ", "1 sequence", "are not looked for"]
    {
        assert!(text.contains(part), "lacks `{part}`: {text}");
    }
    let answer = json(&errata(&object, &["--json"]));
    assert_eq!((&answer["ok"], &answer["pairs"][0]["sequence"]), (&false.into(), &"B".into()));
}

#[test]
fn code_with_the_nops_of_the_compilers_is_clean() {
    if !testkit::has("errata of LEON3FT", &["sparc64-linux-gnu-as"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let body = " std %o0, [%o2]\n nop\n st %o4, [%o2 + 8]\n st %o4, [%o2 + 12]\n ld [%o2], %o0";
    let found = errata(&assembled(folder.path(), &function(body)), &[]);
    let text = String::from_utf8_lossy(&found.stdout);
    assert!(found.status.success(), "{text}");
    assert!(text.contains("no sequence of GRLIB-TN-0009 in 7 instructions"), "{text}");
}

/// What gcc's own workaround leaves is clean, and what it changes was not: two readings of the note.
#[test]
fn what_gcc_avoids_is_what_is_found() {
    if !testkit::has("errata beside gcc's workaround", &["sparc64-linux-gnu-gcc"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = "struct s { long long a, b, c, d; int e[6]; };\n\
        void copy(struct s *to, struct s *from, int n) { while (n--) *to++ = *from++; }\n\
        void fill(char *p, int *q, long long v, int n) {\n\
            for (; n > 0; n--) { *p++ = (char)n; *q++ = n + 1; *(long long *)(q + 4) = v; }\n}\n";
    std::fs::write(folder.path().join("a.c"), source).expect("a scratch folder");
    for level in ["-O2", "-O3"] {
        for (more, is_clean) in [(None, false), (Some("-mfix-gr712rc"), true)] {
            let object = folder.path().join("a.o");
            let mut command = Command::new("sparc64-linux-gnu-gcc");
            command.args(["-m32", "-mcpu=leon3", "-ffreestanding", "-w", level]).args(more);
            let ran = command.arg("-c").arg("a.c").arg("-o").arg(&object);
            let ran = ran.current_dir(folder.path()).output().expect("gcc starts");
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            let found = errata(&object, &[]);
            let text = String::from_utf8_lossy(&found.stdout);
            assert_eq!(found.status.success(), is_clean, "{level} {more:?}: {text}");
        }
    }
}

#[test]
fn the_library_as_it_is_built_has_some_and_says_where() {
    if !testkit::has("errata of the library", &["sparc64-linux-gnu-gcc"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let built = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["regwin", "build", "--scheme", "sp", "-o"])
        .arg(folder.path())
        .output()
        .expect("the binary runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let made = Command::new("make").arg("-s").current_dir(folder.path()).output().expect("make");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let found = errata(&folder.path().join("example.elf"), &[]);
    let text = String::from_utf8_lossy(&found.stdout);
    assert_eq!(found.status.code(), Some(1), "{text}");
    assert!(text.contains("std %l0"), "a window is stored by several `std`: {text}");
}

#[test]
fn what_is_no_image_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "no ELF").expect("a scratch folder");
    for (file, part) in [
        (text.as_path(), "text: "),
        (Path::new(env!("CARGO_BIN_EXE_meanwhile")), "not for SPARC"),
        (Path::new("/nowhere.elf"), "No such file"),
    ] {
        let refused = errata(file, &[]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains(part), "lacks `{part}`: {said}");
    }
}
