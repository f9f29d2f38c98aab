//! packaging/ci: what a build server and pre-commit run. A change that makes a function slower is
//! found, and one that does not is not reported.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const NEEDED: [&str; 3] = ["git", "jq", "aarch64-linux-gnu-gcc"];

const BUDGET: &str = "[[function]]\nname = \"digest\"\nfile = \"digest.c\"\ncpu = \"cortex-a53\"\n\
                      cycles = 60\n";

const CODE: &str = "\
#include <stdint.h>

struct record {
\tuint32_t kind, length;
\tuint32_t words[8];
};

uint32_t digest(const struct record *r, uint32_t seed)
{
\tuint32_t a = seed;
\tuint32_t b = r->kind;
\tif (r->length < 8)
\t\treturn 0;
\ta += r->words[0] ^ b;
\ta = (a << 5) | (a >> 27);
\tb += r->words[1] ^ a;
\tb = (b << 9) | (b >> 23);
\ta += r->words[2] ^ b;
\ta = (a << 13) | (a >> 19);
\tb += r->words[3] ^ a;
\tb = (b << 18) | (b >> 14);
\treturn a ^ b;
}
";

/// Changes of the text that leave the machine's work as it is.
const HARMLESS: [(&str, &str); 20] = [
    ("#include", "/* Digests of records. */\n#include"),
    ("uint32_t a = seed;\n\tuint32_t b = r->kind;", "uint32_t a = seed, b = r->kind;"),
    ("if (r->length < 8)\n\t\treturn 0;", "if (r->length < 8) {\n\t\treturn 0;\n\t}"),
    ("r->length < 8", "!(r->length >= 8)"),
    ("\treturn a ^ b;", "\treturn b ^ a;"),
    ("r->words[0] ^ b", "b ^ r->words[0]"),
    ("a += b ^ r->words[0]", "a = a + (b ^ r->words[0])"),
    ("(a << 5) | (a >> 27)", "(a >> 27) | (a << 5)"),
    ("seed)\n{", "seed)\n{\n\t/* Two lanes. */"),
    ("r->words[1]", "*(r->words + 1)"),
    ("struct record {", "enum { WORDS = 8 };\n\nstruct record {"),
    ("words[8]", "words[WORDS]"),
    ("uint32_t kind, length;", "uint32_t kind;\n\tuint32_t length;"),
    ("#include <stdint.h>", "#include <stddef.h>\n#include <stdint.h>"),
    (
        "uint32_t digest(",
        "uint32_t digest(const struct record *r, uint32_t seed);\n\nuint32_t digest(",
    ),
    ("r->words[2] ^ b", "(r->words[2] ^ b)"),
    (
        "\treturn b ^ a;\n}",
        "\treturn b ^ a;\n}\n\nuint32_t twice(uint32_t x)\n{\n\treturn 2 * x;\n}",
    ),
    ("(b << 9)", "(uint32_t)(b << 9)"),
    ("r->words[3]", "r->words[WORDS - 5]"),
    ("/* Two lanes. */", "// Two lanes."),
];

fn git(folder: &Path, arguments: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git runs");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A script of packaging/ci in a repository.
fn script(name: &str, folder: &Path, arguments: &[&str]) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/ci").join(name);
    Command::new(path)
        .args(arguments)
        .current_dir(folder)
        .env("MEANWHILE", env!("CARGO_BIN_EXE_meanwhile"))
        .output()
        .expect("the script runs")
}

fn said(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

/// A repository with one commit: a function and its budget, in a folder below the top.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    git(folder.path(), &["init", "--quiet"]);
    fs::create_dir(folder.path().join("src")).expect("a scratch folder");
    fs::write(folder.path().join("src/budget.toml"), BUDGET).expect("a scratch file");
    commit(folder.path(), CODE);
    folder
}

fn commit(folder: &Path, code: &str) {
    fs::write(folder.join("src/digest.c"), code).expect("a scratch file");
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "change"]);
}

#[test]
fn a_slower_function_is_found_and_harmless_changes_are_not_reported() {
    if !testkit::has("packaging/ci/check.sh", &NEEDED) {
        return;
    }
    let folder = repository();
    let folder = folder.path();
    let mut code = CODE.to_owned();
    for (from, to) in HARMLESS {
        assert!(code.contains(from), "{from}");
        code = code.replacen(from, to, 1);
        commit(folder, &code);
        let ran = script("check.sh", folder, &["src/budget.toml"]);
        assert_eq!(ran.status.code(), Some(0), "{to}: {}", said(&ran));
        assert!(said(&ran).contains("| `digest` | cortex-a53 |"), "{}", said(&ran));
    }
    // A rotation more, which is one instruction in thirty on the chain from load to result.
    commit(folder, &code.replacen("return b ^ a;", "return b ^ (a + (b >> 3));", 1));
    let ran = script("check.sh", folder, &["-j", "reports", "src/budget.toml"]);
    assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
    assert!(said(&ran).contains("| slower |"), "{}", said(&ran));
    for report in ["junit-1.xml", "check-1.sarif"] {
        assert!(folder.join("reports").join(report).is_file(), "{report}");
    }
    // With more room the same change passes; against the commit before the last it is the same.
    let ran = script("check.sh", folder, &["-s", "50", "src/budget.toml"]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    let ran = script("check.sh", folder, &["-b", "HEAD~2", "src/budget.toml"]);
    assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
    // However the budget is named, and from whatever folder.
    let path = folder.join("src/budget.toml").display().to_string();
    for (from, budget) in [(folder.to_owned(), path.as_str()), (folder.join("src"), "budget.toml")]
    {
        let ran = script("check.sh", &from, &[budget]);
        assert_eq!(ran.status.code(), Some(1), "{budget}: {}", said(&ran));
    }
}

/// A branch is not blamed for what the other one gained since they parted.
#[test]
fn a_branch_is_compared_with_where_it_began() {
    if !testkit::has("packaging/ci/check.sh", &NEEDED) {
        return;
    }
    let folder = repository();
    let folder = folder.path();
    git(folder, &["branch", "trunk"]);
    git(folder, &["checkout", "--quiet", "-b", "topic"]);
    fs::write(folder.join("README"), "words\n").expect("a scratch file");
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "words"]);
    git(folder, &["checkout", "--quiet", "trunk"]);
    let faster = CODE.replacen("\ta += r->words[2] ^ b;\n\ta = (a << 13) | (a >> 19);\n", "", 1);
    commit(folder, &faster);
    git(folder, &["checkout", "--quiet", "topic"]);
    let ran = script("check.sh", folder, &["-b", "trunk", "src/budget.toml"]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    assert!(said(&ran).contains("| 0 % |"), "{}", said(&ran));
}

/// A row that stands twice, with other flags, is compared with itself; what was not judged before
/// has its reason, and is no pass.
#[test]
fn rows_are_compared_with_themselves_and_unknown_is_said() {
    if !testkit::has("packaging/ci/check.sh", &NEEDED) {
        return;
    }
    let folder = repository();
    let folder = folder.path();
    let other = BUDGET.replace("cycles = 60", "cycles = 600\ncflags = \"-O0\"");
    fs::write(folder.join("src/budget.toml"), [BUDGET, &other].concat()).expect("a scratch file");
    commit(folder, CODE);
    let ran = script("check.sh", folder, &["src/budget.toml"]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    assert_eq!(said(&ran).matches("| 0 % |").count(), 2, "{}", said(&ran));
    // A header that is not in git.
    fs::write(folder.join(".gitignore"), "made.h\n").expect("a scratch file");
    fs::write(folder.join("src/made.h"), "#define SEED 3\n").expect("a scratch file");
    let code = CODE.replace("<stdint.h>", "<stdint.h>\n#include \"made.h\"");
    commit(folder, &code);
    commit(folder, &code.replace("a = seed", "a = seed + SEED"));
    let ran = script("check.sh", folder, &["src/budget.toml"]);
    assert_eq!(ran.status.code(), Some(3), "{}", said(&ran));
    assert!(said(&ran).contains("| not judged before |"), "{}", said(&ran));
    assert!(said(&ran).contains("made.h"), "{}", said(&ran));
    // A function that is new is no fault.
    let new = BUDGET.replace("digest", "other");
    fs::write(folder.join("src/budget.toml"), [BUDGET, &new].concat()).expect("a scratch file");
    fs::write(folder.join("src/other.c"), CODE.replace("digest", "other")).expect("a scratch file");
    commit(folder, CODE);
    let ran = script("check.sh", folder, &["-b", "HEAD~3", "src/budget.toml"]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    assert!(said(&ran).contains("| new |"), "{}", said(&ran));
    // A budget of another place is none of this repository.
    let outside = tempfile::tempdir().expect("a scratch folder");
    let path = outside.path().join("b.toml");
    fs::write(&path, BUDGET).expect("a scratch file");
    let ran = script("check.sh", folder, &[&path.display().to_string()]);
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
    assert!(said(&ran).contains("outside of the repository"), "{}", said(&ran));
}

#[test]
fn what_cannot_be_judged_is_said_and_has_a_code_of_its_own() {
    if !testkit::has("packaging/ci/check.sh", &NEEDED) {
        return;
    }
    let folder = repository();
    let folder = folder.path();
    commit(folder, &CODE.replace("digest", "summary"));
    let ran = script("check.sh", folder, &["src/budget.toml"]);
    assert_eq!(ran.status.code(), Some(3), "{}", said(&ran));
    assert!(said(&ran).contains("| not judged |"), "{}", said(&ran));
    for (arguments, words) in [
        (&[][..], "name a budget"),
        (&["none.toml"], "there is no file none.toml"),
        (&["-s", "many", "src/budget.toml"], "'many' is none"),
        (&["-b", "no-such-commit", "src/budget.toml"], "there is no commit 'no-such-commit'"),
    ] {
        let ran = script("check.sh", folder, arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}: {}", said(&ran));
        assert!(said(&ran).contains(words), "{arguments:?}: {}", said(&ran));
    }
    fs::write(folder.join("wrong.toml"), "[[function]\n").expect("a scratch file");
    let ran = script("check.sh", folder, &["wrong.toml"]);
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
    assert!(said(&ran).contains("wrong.toml: "), "{}", said(&ran));
    // Outside of a repository.
    let other = tempfile::tempdir().expect("a scratch folder");
    let ran = script("check.sh", other.path(), &["budget.toml"]);
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
}

#[test]
fn a_program_with_secret_branches_stops_a_commit() {
    if !testkit::has("packaging/ci/constant-time.sh", &["valgrind", "gcc"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let right = "node f (x : u32) returns (y : u32)\nlet\n    y = x ^ (x <<< 3)\ntel\n";
    fs::write(folder.path().join("right.ua"), right).expect("a scratch file");
    fs::write(folder.path().join("wrong.ua"), "node f (x : u32").expect("a scratch file");
    let ran = script("constant-time.sh", folder.path(), &["right.ua"]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    let ran = script("constant-time.sh", folder.path(), &["wrong.ua", "right.ua"]);
    assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
    assert!(said(&ran).contains("wrong.ua:1"), "{}", said(&ran));
}
