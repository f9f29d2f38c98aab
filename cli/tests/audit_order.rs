//! `meanwhile audit --order`: assembly in a faster order, which does what the old one did.

use crate::support::audited;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use audited::{ok, refused};
use serde_json::Value;

/// Two objects that may be one, an early exit, a device behind a macro.
const SOURCE: &str = "#include <stdint.h>
#define STATUS (*(volatile uint32_t *)(dev + 0))
#define DATA (*(volatile uint32_t *)(dev + 64))
struct node { uint32_t key, flags, value; struct node *next; };
int find(const struct node *n, uint32_t key)
{
    if (n->key != key) return -1;
    if (n->flags & 3) return -2;
    return n->value * 3 + (n->flags >> 2) * 5 + n->next->value;
}
uint32_t talk(char *dev)
{
    uint32_t s = STATUS;
    s = s * 3 + 1;
    uint32_t d = DATA;
    d = d * 5;
    return s ^ d;
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("a.c"), SOURCE).expect("a scratch file");
    folder
}

fn ordered(folder: &Path, args: &[&str]) -> Value {
    let said = ok(folder, &[args, &["--order", "out.s", "--json"]].concat());
    serde_json::from_str(&said).expect("the answer is JSON")
}

fn assembles(folder: &Path, compiler: &str, flags: &[&str]) {
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(flags).args(["-c", "out.s", "-o", "out.o"]);
    let made = command.output().expect("it runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn the_fast_path_of_the_example_gets_faster_and_does_the_same() {
    let folder = folder();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/fastpath");
    for file in ["original.c", "kernel.h"] {
        fs::copy(format!("{example}/{file}"), folder.path().join(file)).expect("it is there");
    }
    let args = [
        "original.c",
        "--function",
        "fastpath_call",
        "--cpu",
        "arm1136jf-s",
        "--avoid",
        "slowpath",
    ];
    let shown = ok(folder.path(), &[&args[..], &["--order", "out.s"]].concat());
    assert!(shown.contains("\n  path 86 to 85 cycles [model arm1136jf-s]\n"), "{shown}");
    assert!(shown.contains("\n  executed: the same in 256 random runs"), "{shown}");
    assembles(folder.path(), "arm-linux-gnueabi-gcc", &["-marm", "-mcpu=arm1136jf-s"]);
    // It was made from what is audited: the result is audited like it, and no order is faster.
    let cycles = |file: &str| {
        let said = ok(folder.path(), &[&[file], &args[1..], &["--json"]].concat());
        let answer: Value = serde_json::from_str(&said).expect("the answer is JSON");
        answer["total_cycles"].as_u64()
    };
    assert_eq!((cycles("original.c"), cycles("out.s")), (Some(86), Some(85)));
    let args = [&["out.s"], &args[1..], &["--order", "again.s"]].concat();
    let shown = ok(folder.path(), &args);
    assert!(shown.ends_with("no faster order was found; nothing is written\n"), "{shown}");
    assert!(!folder.path().join("again.s").exists());
}

#[test]
fn accesses_to_devices_stay_and_nothing_passes_them() {
    let folder = folder();
    // As the source has it: what waits for the status stands before the next access.
    let flags = "-O1 -fno-schedule-insns -fno-schedule-insns2";
    let args = ["a.c", "--function", "talk", "--cpu", "cortex-a53", "--cflags", flags];
    let moved = |source: &str| {
        fs::write(folder.path().join("a.c"), source).expect("a scratch file");
        ordered(folder.path(), &args)["moved"].as_u64()
    };
    assert_eq!(moved(SOURCE), Some(0), "behind a macro");
    let named = SOURCE
        .replace("(*(volatile uint32_t *)(dev + 0))", "dev->status")
        .replace("(*(volatile uint32_t *)(dev + 64))", "dev->data")
        .replace("char *dev", "struct device *dev")
        .replace(
            "struct node {",
            "struct device { volatile uint32_t status, data; };\nstruct node {",
        );
    assert_eq!(moved(&named), Some(0), "by the type of the members");
    // A type that a cast names, and an atomic.
    let cast = SOURCE
        .replace("struct node {", "typedef volatile struct { uint32_t a, b; } port;\nstruct node {")
        .replace("(*(volatile uint32_t *)(dev + 0))", "((port *)dev)->a")
        .replace("(*(volatile uint32_t *)(dev + 64))", "((port *)dev)->b");
    assert_eq!(moved(&cast), Some(0), "by the type of a cast");
    assert_eq!(moved(&SOURCE.replace("volatile", "_Atomic")), Some(0), "atomic accesses");
    for source in [SOURCE, &named, &cast] {
        assert_ne!(moved(&source.replace("volatile ", "")), Some(0), "plain memory");
    }
}

#[test]
fn what_cannot_be_ordered_is_refused() {
    let folder = folder();
    let at = |args: &[&str]| refused(folder.path(), args, 1);
    let find = ["--function", "find", "--order", "out.s"];
    let said = at(&[&["a.c", "--cpu", "cortex-a72"], &find[..]].concat());
    assert!(said.contains("`cortex-a72` reorders instructions itself"), "{said}");
    let made = Command::new("aarch64-linux-gnu-gcc")
        .current_dir(folder.path())
        .args(["-O2", "-c", "a.c"])
        .status();
    assert!(made.expect("it runs").success());
    let said = at(&[&["a.o", "--cpu", "cortex-a53"], &find[..]].concat());
    assert!(said.contains("--order moves lines of assembly, and `a.o` has none"), "{said}");
    let said = at(&["a.c", "--cpu", "cortex-a53", "--function", "find", "--order", "./a.c"]);
    assert!(said.contains("`./a.c` is the source itself"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("a.c")).expect("it is there"), SOURCE);
    fs::write(folder.path().join("other.c"), "int x;\n").expect("a scratch file");
    let said = at(&["a.c", "--cpu", "cortex-a53", "--function", "find", "--order", "other.c"]);
    assert!(said.contains("`other.c` is there already"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("other.c")).expect("read"), "int x;\n");
    let jump = "\t.text\n\t.global f\n\t.type f, %function\nf:\n\tadd x1, x1, x0\n\tbr x1\n\tret\n\t.size f, .-f\n";
    fs::write(folder.path().join("jump.s"), jump).expect("a scratch file");
    let said = at(&["jump.s", "--cpu", "cortex-a53", "--function", "f", "--order", "out.s"]);
    assert!(said.contains("`f` jumps to a computed address"), "{said}");
    let args = ["a.c", "--cpu", "cortex-a53", "--function", "find", "--order", "no/out.s"];
    let said = refused(folder.path(), &args, 2);
    assert!(said.contains("no/out.s"), "{said}");
}

/// A random function of two pointers: arithmetic, loads and stores that may meet, early exits, a
/// loop at times.
fn random_function(random: &mut fastrand::Rng, name: &str) -> String {
    let mut text = format!("uint32_t {name}(uint32_t *p, uint32_t *q, uint32_t k)\n{{\n");
    text += "    uint32_t a = k, b = p[0], c = q[1], d = 7;\n";
    let has_loop = random.bool();
    if has_loop {
        text += "    for (uint32_t i = 0; i < (k & 7) + 1; i++) {\n";
    }
    for _ in 0..random.u32(6..16) {
        let name = |random: &mut fastrand::Rng| ["a", "b", "c", "d"][random.usize(..4)];
        let (x, y, z) = (name(random), name(random), name(random));
        let (n, array) = (random.u32(..8), ["p", "q"][random.usize(..2)]);
        let _ = match random.u32(..9) {
            0 | 1 => writeln!(text, "    {x} = {array}[{n}] + {y};"),
            2 => writeln!(text, "    {array}[{n}] = {y} ^ {z};"),
            3 => writeln!(text, "    {x} = {y} * {z};"),
            4 => writeln!(text, "    {x} += {y} >> {};", n + 1),
            5 => writeln!(text, "    {x} ^= {y} << {};", n + 1),
            6 => writeln!(text, "    if (({x} & {}) == 5) return {y};", 8 + n),
            7 => writeln!(text, "    {x} = {y} > {z} ? {y} - {n} : {z};"),
            _ => writeln!(text, "    {x} = ({y} & 0xff) + ({array}[{n}] >> 24);"),
        };
    }
    if has_loop {
        text += "    }\n";
    }
    text + "    return a + b * 3 + (c ^ d);\n}\n"
}

#[test]
fn random_functions_do_the_same_in_their_new_order() {
    let folder = folder();
    let n = if std::env::var_os("MEANWHILE_LONG").is_some() { 60 } else { 4 };
    let seed = 271;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut n_moved = 0;
    for cpu in ["cortex-a53", "arm1136jf-s", "cortex-m7"] {
        let all: String =
            (0..n).map(|nth| random_function(&mut random, &format!("f{nth}"))).collect();
        fs::write(folder.path().join("a.c"), format!("#include <stdint.h>\n{all}"))
            .expect("a scratch file");
        for nth in 0..n {
            // What does something else would be our mistake, and panics.
            let name = format!("f{nth}");
            let answer = ordered(folder.path(), &["a.c", "--function", &name, "--cpu", cpu]);
            if answer["moved"] == 0 {
                continue;
            }
            n_moved += 1;
            let executed = answer["executed"].as_str().expect("a sentence");
            assert!(executed.starts_with("the same in "), "{cpu} {name}, seed {seed}: {executed}");
        }
    }
    assert!(n_moved >= n, "{n_moved} of {} functions have a faster order", 3 * n);
}
