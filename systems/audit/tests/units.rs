//! Debug information that is read unit by unit is what it is when all of it is read.

use std::path::Path;
use std::process::Command;

use audit::decode::code::Flow;
use audit::program::Program;
use audit::program::content::Content;
use audit::program::function::SourceFrame;

/// Two units: one calls what the other has, and inlines if the linker lets it.
const UNITS: [(&str, &str); 3] = [
    (
        "f.c",
        "int twice(int);\nvoid stop(int);\nint f(int x)\n{\n    if (x < 0)\n        stop(x);\n    return twice(x) + 1;\n}\n",
    ),
    (
        "g.c",
        "int twice(int x)\n{\n    return x * x;\n}\n__attribute__((noreturn)) void stop(int x)\n{\n    for (;;)\n        *(volatile int *)0 = x;\n}\n",
    ),
    ("h.s", ".text\n.global h\n.type h, %function\nh: bl stop\nret\n.size h, . - h\n"),
];

/// The units linked by a command with these flags, in a folder.
fn linked(folder: &Path, command: &str, flags: &[&str]) -> std::path::PathBuf {
    for (name, text) in UNITS {
        std::fs::write(folder.join(name), text).expect("a scratch file");
    }
    let mut command = Command::new(command);
    command.current_dir(folder).args(["-g", "-O2", "-nostdlib", "-static", "-Wl,-e,f"]).args(flags);
    let output = command.args(["-o", "all"]).args(UNITS.map(|(name, _)| name)).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.join("all")
}

fn frames(program: &Program, name: &str) -> Vec<Vec<SourceFrame>> {
    let symbol = program.symbol(name).unwrap_or_else(|error| panic!("{error}"));
    let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
    decoded.function.frames
}

fn of(content: &Content) -> Program {
    let (mut programs, _) =
        Program::parse_all("all", content).unwrap_or_else(|error| panic!("{error}"));
    programs.pop().expect("it is one")
}

const CLANG: [&str; 2] = ["--target=aarch64-linux-gnu", "-fuse-ld=lld-19"];

#[test]
fn a_unit_alone_has_the_lines_that_it_has_among_all() {
    // Clang writes no `.debug_aranges`; after `-flto` entries lead into other units.
    let builds: [(&str, &[&str]); 3] = [
        ("aarch64-linux-gnu-gcc", &[]),
        ("clang-19", &CLANG),
        ("aarch64-linux-gnu-gcc", &["-flto"]),
    ];
    for (command, flags) in builds {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = linked(folder.path(), command, flags);
        let whole = Content::from(std::fs::read(&path).expect("what was linked"));
        let content = Content::read(&path).expect("what was linked");
        // The debug information is in the file alone.
        assert_ne!(content.bytes, whole.bytes, "{command}");
        let (whole, pieces) = (of(&whole), of(&content));
        let all = frames(&pieces, "f");
        assert_eq!(all, frames(&whole, "f"), "{command} {flags:?}");
        let lines = |line: u32| all.iter().any(|it| it.iter().any(|frame| frame.line == line));
        assert!(lines(5) && lines(7), "{command} {flags:?}: {all:?}");
        let inlined = all.iter().flatten().any(|frame| frame.function == "twice");
        assert_eq!(inlined, flags.contains(&"-flto"), "{command} {flags:?}: {all:?}");
    }
}

#[test]
fn a_function_that_never_returns_is_known_by_its_own_unit_if_by_no_other() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = linked(folder.path(), "aarch64-linux-gnu-gcc", &[]);
    let program = of(&Content::read(&path).expect("what was linked"));
    let calls = |name: &str| {
        let symbol = program.symbol(name).unwrap_or_else(|error| panic!("{error}"));
        let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
        let flows = decoded.function.instructions.into_iter().map(|it| it.flow);
        flows.filter(|flow| matches!(flow, Flow::Call { .. } | Flow::LastCall)).collect::<Vec<_>>()
    };
    // Assembly declares nothing; `f.c` declares that it returns.
    assert_eq!(calls("h"), [Flow::LastCall]);
    assert!(calls("f").iter().all(|flow| matches!(flow, Flow::Call { .. })), "{:?}", calls("f"));
    assert!(
        program
            .lines
            .never_return(program.symbol("stop").expect("it is there").address)
            .contains("stop")
    );
}
