//! `meanwhile audit --verify`: an edit is printed only where it was made, compiled, audited again and
//! executed, as a patch that applies.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::audited;
use audited::{ok, refused, text};

const SOURCE: &str = "\
#include <stdint.h>
#include <stddef.h>
struct queue { unsigned state, n, *at; };
struct device { volatile unsigned ready, data; };
void slow(struct queue *, int, int);
unsigned put(struct queue *q, unsigned it)
{
    if (q->state == 3)
        return 1;
    if (q->n > 63)
        return 2;
    q->at[q->n] = it;
    q->n++;
    return 0;
}
unsigned sum(const unsigned char *p, unsigned char n)
{
    unsigned char x = n + 1;
    unsigned char y = x * 3;
    if (y > 200)
        y -= 7;
    return p[y] + y;
}
int asked(struct queue *p, struct queue *q)
{
    if (p == 0 || q == 0)
        return 1;
    if (p->state == 3)
        return 2;
    return q->at[q->n] + p->n;
}
void scale(int *d, int *s, int *n)
{
    d[0] = s[0] * n[0];
    d[1] = s[1] * n[0];
    d[2] = s[2] * n[1];
    d[3] = s[3] * n[1];
}
void fill(struct queue *q, unsigned *p)
{
    for (unsigned i = 0; i < q->n; i++)
        p[i] = q->state;
}
unsigned poll(struct device *d)
{
    while (d->ready == 0)
        ;
    return d->data + d->data;
}
void down(unsigned *p, unsigned *n)
{
    for (unsigned i = *n; i-- > 0;)
        p[i] = *n;
}
struct ring { unsigned char *buf; unsigned head, mask; };
void put_all(struct ring *r, const unsigned char *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        r->buf[(r->head + i) & r->mask] = p[i];
    r->head += n;
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("edits.c"), SOURCE).expect("a scratch file");
    folder
}

fn audit(folder: &Path, function: &str, more: &[&str]) -> Value {
    let args = ["edits.c", "--function", function, "--cpu", "cortex-a53", "--json"];
    serde_json::from_str(&ok(folder, &[&args[..], more].concat())).expect("the answer is JSON")
}

fn findings(answer: &Value) -> &Vec<Value> {
    answer["findings"].as_array().expect("a list")
}

/// The edits of `function`, of which none may be a form that nobody takes.
fn edits(folder: &Path, function: &str) -> Vec<Value> {
    let answer = audit(folder, function, &["--verify"]);
    let edits = findings(&answer).iter().map(|finding| finding["edit"].clone());
    let edits: Vec<Value> = edits.filter(|edit| !edit.is_null()).collect();
    for edit in &edits {
        let patch = edit["patch"].as_str().expect("an edit has a patch");
        let added = patch.lines().filter(|line| line.starts_with('+'));
        assert!(
            added.clone().all(|line| !line.contains("volatile") && !line.contains("typeof")),
            "{patch}"
        );
        assert_eq!(edit["verified"], true);
        assert!(edit["gain"].as_str().is_some_and(|gain| gain.contains("[model cortex-a53]")));
    }
    edits
}

fn added(edits: &[Value]) -> String {
    let patches = edits.iter().filter_map(|edit| edit["patch"].as_str());
    let is_added = |line: &&str| line.starts_with('+') && !line.starts_with("+++");
    let lines = patches.flat_map(str::lines).filter(is_added);
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn nothing_is_advised_that_was_not_tried() {
    let folder = folder();
    let answer = audit(folder.path(), "put", &[]);
    assert!(findings(&answer).iter().all(|found| found["edit"].is_null() && found["tried"] == 0));
    let said = ok(folder.path(), &["edits.c", "--function", "put", "--cpu", "cortex-a53"]);
    assert!(said.contains("`--verify` with the C file tries a local copy"), "{said}");
    assert!(!said.contains("edit:"), "{said}");
}

/// The patch is one for both programs that apply patches, and the patched file is as fast as said.
#[test]
fn a_patch_applies_and_gains_what_it_says() {
    let folder = folder();
    let edits = edits(folder.path(), "put");
    let edit = &edits[0];
    let patch = edit["patch"].as_str().expect("a patch");
    assert_eq!(fs::read_to_string(folder.path().join("edits.c")).expect("it is there"), SOURCE);
    fs::write(folder.path().join("edit.patch"), patch).expect("a scratch file");
    let before = audit(folder.path(), "put", &[])["total_cycles"].as_u64().expect("cycles");
    for program in [&["git", "apply", "edit.patch"][..], &["patch", "-p1", "-i", "edit.patch"]] {
        fs::write(folder.path().join("edits.c"), SOURCE).expect("a scratch file");
        let applied = Command::new(program[0])
            .args(&program[1..])
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        assert!(applied.status.success(), "{}{patch}", text(&applied));
        let after = audit(folder.path(), "put", &[])["total_cycles"].as_u64().expect("cycles");
        let said = format!("{before} to {after} cycles");
        assert!(edit["gain"].as_str().is_some_and(|gain| gain.contains(&said)), "{edit} {said}");
    }
}

/// With the type that the compiler names, and a name that the function does not have.
#[test]
fn what_is_loaded_twice_gets_a_variable_of_its_type() {
    let folder = folder();
    let edits = edits(folder.path(), "put");
    let added = added(&edits);
    assert!(added.contains("+    const unsigned int n = q->n;\n+    if (n > 63)\n"), "{added}");
    assert!(added.contains("+    q->n = n + 1;\n"), "{added}");
    let promise = edits[0]["if"].as_str().expect("a store is between");
    assert_eq!(promise, "nothing that is stored or called there changes `q->n`");
}

#[test]
fn what_a_loop_loads_in_each_iteration_is_read_before_it() {
    let folder = folder();
    let edits = edits(folder.path(), "fill");
    let all = added(&edits);
    assert!(all.contains("+    const unsigned int state = q->state;\n"), "{all}");
    assert!(all.contains("+        p[i] = state;\n"), "{all}");
    let restrict = "+void fill(struct queue *restrict q, unsigned *restrict p)\n";
    assert!(all.contains(restrict), "{all}");
    assert!(
        edits.iter().all(|edit| edit["gain"]
            .as_str()
            .is_some_and(|gain| gain.contains("a loop from 8 to")))
    );
}

/// Bytes that are stored may be any member: each copy gains, and all of them together most.
#[test]
fn all_that_a_loop_loads_again_is_read_at_once() {
    let folder = folder();
    let edits = edits(folder.path(), "put_all");
    let all = added(&edits);
    for line in [
        "+    unsigned char *const buf = r->buf;\n",
        "+    const unsigned int head = r->head;\n",
        "+    const unsigned int mask = r->mask;\n",
        "+        buf[(head + i) & mask] = p[i];\n",
    ] {
        assert!(all.contains(line), "{all}");
    }
    let promises: Vec<&str> = edits.iter().filter_map(|edit| edit["if"].as_str()).collect();
    assert!(
        promises.iter().any(|promise| promise.starts_with(
            "nothing that is stored or called there changes `r->buf`, `r->head` or `r->mask`, and \
             the addresses of `r->buf`, `r->head` and `r->mask` are good"
        )),
        "{promises:?}"
    );
}

#[test]
fn restrict_asks_for_its_promise() {
    let folder = folder();
    let edits = edits(folder.path(), "scale");
    let restrict = edits
        .iter()
        .find(|edit| edit["text"].as_str().is_some_and(|text| text.contains("restrict")))
        .expect("it is faster");
    assert!(restrict["if"].as_str().is_some_and(|it| it.contains("no caller passes pointers")));
}

/// A pointer is not followed before it is asked for null; after that test it may be.
#[test]
fn no_load_goes_above_the_test_of_its_pointer() {
    let folder = folder();
    let edits = edits(folder.path(), "asked");
    let texts: Vec<&str> = edits.iter().filter_map(|edit| edit["text"].as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("before line 28")), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("before line 26")), "{texts:?}");
}

/// Wider variables take an instruction less and do not wrap: executed, they are found out.
#[test]
fn what_gains_and_does_something_else_is_left_out() {
    let folder = folder();
    let args = ["edits.c", "--function", "sum", "--cpu", "cortex-a53", "--verify"];
    let ran = audited::audit(folder.path(), &args);
    let (said, warned) = (text(&ran), String::from_utf8_lossy(&ran.stderr).into_owned());
    assert!(warned.contains("and do something else"), "{warned}");
    assert!(!said.contains("edit:"), "{said}");
}

#[test]
fn behaviour_is_compared_where_it_can_be() {
    let folder = folder();
    let said = |cpu: &str, function: &str| -> String {
        let args = ["edits.c", "--function", function, "--cpu", cpu, "--verify", "--json"];
        let answer: Value = serde_json::from_str(&ok(folder.path(), &args)).expect("JSON");
        let edits = findings(&answer).iter().map(|found| &found["edit"]["behaviour"]);
        edits.filter_map(Value::as_str).map(|said| format!("{said}\n")).collect()
    };
    for (cpu, function, by) in [
        ("cortex-a53", "fill", "qemu-aarch64, seed"),
        ("cortex-m4", "fill", "qemu-arm, seed"),
        ("x86-64", "down", "executed here, seed"),
    ] {
        let said = said(cpu, function);
        assert!(said.contains("the same in") && said.contains(by), "{cpu}: {said}");
    }
    let sparc = said("leon3", "fill");
    assert!(sparc.contains("not run, because sparc code needs a C library"), "{sparc}");
}

#[test]
fn accesses_of_devices_are_counted() {
    let folder = folder();
    let answer = audit(folder.path(), "poll", &[]);
    assert!(answer["not_listed"]["volatile"].as_u64() > Some(0), "{answer}");
    let said = ok(folder.path(), &["edits.c", "--function", "poll", "--cpu", "cortex-a53"]);
    assert!(said.contains("not listed: ") && said.contains("that are `volatile`"), "{said}");
}

/// The callee becomes part of its caller, and other files still find it.
#[test]
fn an_inlined_callee_stays_a_function() {
    let folder = folder();
    let source = "int step(int x);\nint twice(int x)\n{\n    return 2 * x + 1;\n}\n\
                  int outer(int x)\n{\n    int a = twice(x);\n    return a ^ step(a);\n}\n";
    fs::write(folder.path().join("edits.c"), source).expect("a scratch file");
    let answer = audit(folder.path(), "outer", &["--cflags", "-O1 -fno-inline", "--verify"]);
    let call = findings(&answer).iter().find(|it| it["kind"] == "call").expect("it is found");
    let patch = call["edit"]["patch"].as_str().unwrap_or_else(|| panic!("{call}"));
    assert!(
        patch.contains(
            "+extern int twice(int x);\n+inline __attribute__((always_inline)) int twice(int x)\n"
        ),
        "{patch}"
    );
}

#[test]
fn only_c_is_edited() {
    let folder = folder();
    let code = ".global loop\nloop: ldr r1, [r0]\n add r0, r1, r1\n bx lr\n";
    fs::write(folder.path().join("loop.s"), code).expect("a scratch file");
    let said = refused(folder.path(), &["loop.s", "--cpu", "arm1136jf-s", "--verify"], 1);
    assert!(said.contains("--verify needs a C file"), "{said}");
}

/// Only what seldom runs is called cold: on a way that returns an error, not on one of two.
#[test]
fn what_returns_errors_is_kept_out_of_line() {
    let folder = folder();
    let source = |wrong: &str| {
        format!(
            "struct s {{ int n, lost, why[4]; }};\nint note(struct s *s, int a, int b);\nstatic int fail(struct s *s, int a)\n{{\n    \
             s->lost += note(s, a, s->n);\n    s->why[s->lost & 3] = note(s, s->lost, a);\n    return 0;\n}}\n\
             int take(struct s *s, int a, int b)\n{{\n    if (s->n < a) {{\n        fail(s, b);\n        return {wrong};\n    }}\n    s->n -= a;\n    return s->n;\n}}\n"
        )
    };
    let edits = |wrong: &str| {
        fs::write(folder.path().join("edits.c"), source(wrong)).expect("a scratch file");
        added(&edits(folder.path(), "take"))
    };
    let attribute = "+__attribute__((cold, noinline)) static int fail(struct s *s, int a)\n";
    assert_eq!(edits("-22"), attribute);
    assert_eq!(edits("s->why[0]"), "");
}

/// A call of the system is not made to see what a change does.
#[test]
fn code_that_asks_the_system_is_not_executed() {
    let folder = folder();
    let made = folder.path().join("made");
    let text = format!(
        "struct s {{ int n, m; }};\n\
         int asks(struct s *p, int *q)\n{{\n\
         \x20   register long x8 __asm__(\"x8\") = 56, x0 __asm__(\"x0\") = -100;\n\
         \x20   register const char *x1 __asm__(\"x1\") = \"{}\";\n\
         \x20   register long x2 __asm__(\"x2\") = 0101, x3 __asm__(\"x3\") = 0644;\n\
         \x20   __asm__ volatile(\"svc #0\" : \"+r\"(x0) : \"r\"(x8), \"r\"(x1), \"r\"(x2), \"r\"(x3));\n\
         \x20   int a = p->n;\n\
         \x20   *q = 3;\n\
         \x20   a += p->n * 5;\n\
         \x20   return a + (int)x0;\n}}\n",
        made.display()
    );
    std::fs::write(folder.path().join("asks.c"), text).expect("a scratch file");
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder.path())
        .args(["audit", "asks.c", "--cpu", "cortex-a53", "--verify", "--json"])
        .output()
        .expect("the binary runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(!said.contains("random runs"), "{said}");
    assert!(!made.exists(), "it was executed");
}

/// As `git apply` and `patch` want names with spaces, and lines that end as the file's do.
#[test]
fn patches_of_odd_files_apply() {
    let endings = [("my file.c", "\n", true), ("crlf.c", "\r\n", true), ("open.c", "\n", false)];
    for (name, ends, is_closed) in endings {
        let folder = folder();
        let text = "struct s { int n, m; };\nint twice(struct s *p, int *q)\n{\n    int a = p->n;\n    *q = 3;\n    a += p->n * 5;\n    return a;\n}\n";
        let text = text.replace('\n', ends);
        let text = if is_closed { &text } else { text.trim_end() };
        std::fs::write(folder.path().join(name), text).expect("a scratch file");
        let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .current_dir(folder.path())
            .args(["audit", name, "--cpu", "cortex-a53", "--verify", "--json"])
            .output()
            .expect("the binary runs");
        let answer: Value = serde_json::from_slice(&ran.stdout).expect("an object");
        let patches: Vec<&str> =
            findings(&answer).iter().filter_map(|found| found["edit"]["patch"].as_str()).collect();
        assert!(!patches.is_empty(), "{name}: {answer}");
        assert!(!patches[0].contains("-}"), "{name}: {}", patches[0]);
        std::fs::write(folder.path().join("edit.patch"), patches[0]).expect("a scratch file");
        let mut command = Command::new("patch");
        command.current_dir(folder.path()).args(["--binary", "-p1", "-i", "edit.patch"]);
        let ran = command.output().expect("patch runs");
        assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stdout));
        let changed = std::fs::read_to_string(folder.path().join(name)).expect("it is there");
        assert_ne!(changed, text);
        let crs = |text: &str| text.matches('\r').count();
        assert_eq!(crs(&changed) == 0, ends == "\n", "{changed:?}");
        assert!(ends == "\n" || changed.lines().count() == crs(&changed), "{changed:?}");
    }
}

#[test]
fn a_source_in_another_encoding_is_refused() {
    let folder = folder();
    std::fs::write(folder.path().join("latin.c"), b"int f(int n) { return n; } /* \xe4 */\n")
        .expect("a scratch file");
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder.path())
        .args(["audit", "latin.c", "--cpu", "cortex-a53", "--verify"])
        .output()
        .expect("the binary runs");
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("is not in UTF-8"));
}
