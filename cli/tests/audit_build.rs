//! `meanwhile audit` compiles C++, and C and C++ as the build of others does.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::audited;
use audited::{ok, refused};

const RING: &str = "\
namespace ring {
template <typename T> struct queue { unsigned n; T *at; };
template <typename T> __attribute__((noinline)) bool push(queue<T> &q, T it)
{
    if (q.n > 63)
        return false;
    q.at[q.n++] = it;
    return true;
}
template bool push<int>(queue<int> &, int);
}
extern \"C\" bool both(ring::queue<int> &q, int a) { return ring::push(q, a) && ring::push(q, a + 1); }
";

#[test]
fn cpp_is_compiled_and_its_names_are_shown() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, cpu) in [
        ("ring.cpp", "cortex-a53"),
        ("ring.cc", "arm1136jf-s"),
        ("ring.cxx", "cortex-m4"),
        ("ring.C", "sifive-u74"),
        ("ring.cpp", "leon3"),
    ] {
        fs::write(folder.path().join(name), RING).expect("a scratch file");
        let said = ok(folder.path(), &[name, "--cpu", cpu, "--function", "ring::push"]);
        assert!(
            said.contains("ring::push<int>") && said.contains("if (q.n > 63)"),
            "{cpu}: {said}"
        );
        let callers = ok(folder.path(), &[name, "--cpu", cpu, "--function", "both"]);
        assert!(
            callers.contains("ring::push<int") && !callers.contains("_ZN4ring"),
            "{cpu}: {callers}"
        );
    }
    // Edits are of C.
    assert!(
        refused(
            folder.path(),
            &["ring.cpp", "--cpu", "cortex-a53", "--function", "ring::push", "--verify"],
            1
        )
        .contains("needs a C file")
    );
    // What is wrong with the file, the compiler says.
    fs::write(folder.path().join("wrong.cpp"), "int f(class unknown it) { return it; }\n")
        .expect("a scratch file");
    assert!(
        refused(folder.path(), &["wrong.cpp", "--cpu", "cortex-a53"], 1).contains("wrong.cpp:1:21")
    );
}

#[test]
fn cpp_is_compiled_as_its_build_compiles_it() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::create_dir(folder.path().join("b")).expect("a folder");
    let source = RING.replace("63", "LIMIT");
    fs::write(folder.path().join("ring.cpp"), &source).expect("written");
    let command = "aarch64-linux-gnu-g++ -std=c++17 -O2 -DLIMIT=62 -o ring.o -c ../ring.cpp";
    let entry = serde_json::json!([{"directory": folder.path().join("b"), "file": "../ring.cpp", "command": command}]);
    fs::write(folder.path().join("b/compile_commands.json"), entry.to_string()).expect("written");
    let said =
        refused(folder.path(), &["ring.cpp", "--cpu", "cortex-a53", "--function", "ring::push"], 1);
    assert!(said.contains("ring.cpp:5:15") && said.contains("--compile-commands"), "{said}");
    let args =
        ["ring.cpp", "--cpu", "cortex-a53", "--function", "ring::push", "--compile-commands", "b"];
    let said = ok(folder.path(), &args);
    assert!(said.contains("#62") && said.contains("if (q.n > LIMIT)"), "{said}");
    // The same from Meson, where ccache is installed.
    let entry = serde_json::json!([{"directory": folder.path().join("b"), "file": "../ring.cpp", "command": format!("ccache {command}")}]);
    fs::write(folder.path().join("b/compile_commands.json"), entry.to_string()).expect("written");
    assert_eq!(ok(folder.path(), &args), said);
}

/// A build in `b` of a file in `s`, which needs a header and a name that only its command gives.
fn build_of_others(folder: &Path) {
    for name in ["b", "s", "inc"] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
    }
    std::fs::write(folder.join("inc/conf.h"), "struct queue { unsigned state, n, *at; };\n")
        .expect("written");
    std::fs::write(folder.join("s/put.h"), "#define FULL 3u\n").expect("written");
    let source = "#include <conf.h>\n#include \"put.h\"\nunsigned put(struct queue *q, unsigned it)\n{\n    if (q->state == FULL)\n                          return 1;\n    if (q->n > LIMIT)\n        return 2;\n    q->at[q->n] = it;\n    q->n++;\n    return 0;\n}\n";
    std::fs::write(folder.join("s/put.c"), source).expect("written");
    let command = "aarch64-linux-gnu-gcc -O2 -I../inc '-DLIMIT=(60 + 3)' -MD -MF put.d -flto -o put.o -c ../s/put.c";
    let entry = serde_json::json!({"directory": folder.join("b"), "file": "../s/put.c", "command": command});
    let other = serde_json::json!({"directory": folder.join("b"), "file": "../s/get.c", "arguments": ["cc", "-c", "../s/get.c"]});
    std::fs::write(
        folder.join("b/compile_commands.json"),
        serde_json::json!([other, entry]).to_string(),
    )
    .expect("written");
}

#[test]
fn c_is_compiled_as_its_build_compiles_it() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    build_of_others(folder.path());
    let said = refused(folder.path(), &["s/put.c", "--cpu", "cortex-a53"], 1);
    assert!(said.contains("conf.h") && said.contains("s/put.c:1:1"), "{said}");
    let args = ["s/put.c", "--cpu", "cortex-a53", "--compile-commands", "b"];
    let said = ok(folder.path(), &args);
    assert!(said.contains("cmp w3, #63") && said.contains("if (q->n > LIMIT)"), "{said}");
    assert!(
        std::fs::read_dir(folder.path().join("b")).expect("a folder").count() == 1,
        "nothing is left in the build's folder"
    );
    // An edit is compiled by the same command.
    let json = ok(folder.path(), &[&args[..], &["--verify", "--json"]].concat());
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let edits = json["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter_map(|value| value["edit"].as_object());
    let is_there =
        |patch: &Value| patch.as_str().is_some_and(|text| text.contains("+++ b/s/put.c"));
    assert!(edits.into_iter().any(|edit| is_there(&edit["patch"])), "{json:#}");
    // Both in a budget.
    let text = "[[function]]\nname = \"put\"\nfile = \"s/put.c\"\ncpu = \"cortex-a53\"\ncompile_commands = \"b\"\ncycles = 100\n";
    std::fs::write(folder.path().join("budget.toml"), text).expect("written");
    ok(folder.path(), &["check", "--budget", "budget.toml"]);
}

#[test]
fn builds_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    build_of_others(folder.path());
    std::fs::write(folder.path().join("alone.c"), "int f(void) { return 1; }\n").expect("written");
    let with = |file, list| {
        refused(folder.path(), &[file, "--cpu", "cortex-a53", "--compile-commands", list], 1)
    };
    assert!(
        with("alone.c", "b")
            .contains("`b/compile_commands.json` does not say how `alone.c` is compiled")
    );
    assert!(with("alone.c", "s").contains("there is no file `s/compile_commands.json`"));
    assert!(with("alone.c", "s/put.h").contains("`s/put.h` is no list of compile commands"));
    // The build is for another set of instructions than the model.
    let said =
        refused(folder.path(), &["s/put.c", "--cpu", "cortex-m4", "--compile-commands", "b"], 1);
    assert!(said.contains("holds a64 code, but `cortex-m4` runs"), "{said}");
}

/// What a compiler or an assembler refuses in a source is the user's: the line, what is said of it,
/// exit code 1. So on standard input, in C, in a file that it includes, and in assembly; a flag
/// that the compiler does not know is no line of a source.
#[test]
fn a_source_that_is_refused_is_shown_with_its_line() {
    use std::io::Write;
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    command
        .args(["audit", "-", "--cpu", "cortex-a53"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(b"\n  no such thing\n").expect("it reads");
    let ran = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(
        said.contains("-:2:3") && said.contains("no such thing") && said.contains("--cpu"),
        "{said}"
    );

    let folder = tempfile::tempdir().expect("a scratch folder");
    let put =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writes");
    put("wrong.c", "int f(int x)\n{\n    return x + ;\n}\n");
    put("wrong.h", "int g(;\n");
    put("includes.c", "#include \"wrong.h\"\nint f(void) { return 1; }\n");
    put("misses.c", "#include \"not-there.h\"\nint f(void) { return 1; }\n");
    put("wrong.s", ".globl f\nf:\n  ldr r0, [r1, r2, r3]\n  bx lr\n");
    put("right.c", "int f(int x) { return x; }\n");
    let m4 = ["--cpu", "cortex-m4"];
    for (name, place) in [
        ("wrong.c", "wrong.c:3:16"),
        ("includes.c", "wrong.h:1"),
        ("misses.c", "misses.c:1:10"),
        ("wrong.s", "wrong.s:3:3"),
    ] {
        let said = refused(folder.path(), &[&[name], &m4[..]].concat(), 1);
        assert!(said.contains(place) && said.contains("refuses it"), "{name}: {said}");
    }
    let said =
        refused(folder.path(), &["right.c", "--cpu", "cortex-m4", "--cflags", "-fno-such-flag"], 2);
    assert!(said.contains("-fno-such-flag"), "{said}");
}
