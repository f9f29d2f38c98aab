//! Debug information that is read unit by unit is what it is when all of it is read.

use std::path::{Path, PathBuf};
use std::process::Command;

use audit::audit::{Audit, Options};
use audit::code_file::{CodeFile, sources};
use audit::decode::Isa;
use audit::decode::code::Flow;
use audit::finding::Kind;
use audit::program::Program;
use audit::program::boot::BootWords;
use audit::program::content::Content;
use audit::program::function::SourceFrame;
use audit::timing::licence::Effort;
use audit::views::text::View;
use machine::in_order::Core;

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
fn linked(folder: &Path, command: &str, flags: &[&str]) -> PathBuf {
    linked_of(&UNITS, folder, command, flags)
}

fn linked_of(units: &[(&str, &str)], folder: &Path, command: &str, flags: &[&str]) -> PathBuf {
    for (name, text) in units {
        std::fs::write(folder.join(name), text).expect("a scratch file");
    }
    let mut command = Command::new(command);
    command.current_dir(folder).args(["-g", "-O2", "-nostdlib", "-static", "-Wl,-e,f"]).args(flags);
    let output = command.args(["-o", "all"]).args(units.iter().map(|(name, _)| name)).output();
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

/// Two functions of one name, and an object that is read twice on purpose.
const SAME_NAMES: [(&str, &str); 2] = [
    (
        "f.c",
        "extern volatile int level;\n__attribute__((noreturn)) void end(int);\nint g(void);\n\
         static inline int sq(int x) { return x * x; }\n\
         static __attribute__((noinline)) int both(void) { int a = level; return a * level; }\n\
         int f(int x) { if (x < 0) end(x); return sq(x) + both() + g(); }\n",
    ),
    (
        "g.c",
        "volatile int level;\n\
         static __attribute__((noinline)) int both(void) { int a = level; return a + level; }\n\
         __attribute__((noinline)) int g(void) { return both(); }\n\
         __attribute__((noreturn, noinline)) void end(int x) { for (;;) level = x; }\n",
    ),
];

#[test]
fn names_are_found_in_the_unit_that_has_them() {
    for flags in [&[] as &[&str], &["-flto"]] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = linked_of(&SAME_NAMES, folder.path(), "aarch64-linux-gnu-gcc", flags);
        let content = Content::read(&path).expect("what was linked");
        let file = CodeFile::read("all", &content, None, &BootWords::default());
        let mut file = file.unwrap_or_else(|error| panic!("{error}"));
        let places: Vec<(String, u64)> = file.programs[0]
            .symbols
            .iter()
            .filter(|symbol| symbol.name.starts_with("both"))
            .map(|symbol| (symbol.name.clone(), symbol.address))
            .collect();
        assert_eq!(places.len(), 2, "{flags:?}");
        for (name, address) in places {
            let options = Options {
                avoid: Vec::new(),
                through: Vec::new(),
                effort: Effort::Search,
                recorded: None,
            };
            let name = format!("{name}@{address:#x}");
            let core = Core::bundled("cortex-a53");
            let mut audit = file
                .audit(Some(&name), core.as_ref(), &options, &View::default())
                .unwrap_or_else(|error| panic!("{error}"));
            let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
            let sources = sources(&audit, |path| read(path.rsplit('/').next()?));
            let twice = |audit: &Audit| {
                audit.findings.iter().filter(|finding| finding.kind == Kind::ComputedTwice).count()
            };
            assert_eq!(twice(&audit), 1, "{name} {flags:?}");
            file.count_volatile(&mut audit, &sources);
            assert_eq!(twice(&audit), 0, "{name} {flags:?}: the object is volatile");
        }
        let program = &file.programs[0];
        let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
        let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
        let ends = decoded.function.instructions.iter().filter(|it| it.flow == Flow::LastCall);
        assert_eq!(ends.count(), 1, "{flags:?}");
        // A name so short stands in its entry.
        let error = program.symbol("sq").expect_err("it is inlined");
        assert!(error.message.contains("it is inlined into `f`"), "{flags:?}: {error}");
        let error = program.symbol("qs").expect_err("there is none");
        assert!(error.message.contains("has no function `qs`"), "{flags:?}: {error}");
        if flags.is_empty() {
            let error = file.join("both").expect_err("there are two");
            assert!(error.message.contains("has 2 functions `both`"), "{error}");
        }
    }
}

#[test]
fn debug_information_behind_the_end_of_the_file_leaves_the_rest_as_it_is() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = linked(folder.path(), "aarch64-linux-gnu-gcc", &[]);
    let mut bytes = std::fs::read(&path).expect("what was linked");
    let number =
        |bytes: &[u8], at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("8 bytes"));
    let headers = number(&bytes, 0x28) as usize;
    // `.debug_str` comes first of the sections of texts that are not loaded but `.comment`.
    let is_texts = |at: &usize| number(&bytes, at + 8) == 0x30 && number(&bytes, at + 32) > 100;
    let header = (headers..bytes.len() - 64).step_by(64).find(is_texts).expect("it has texts");
    bytes[header + 24..header + 32].copy_from_slice(&(1u64 << 40).to_le_bytes());
    std::fs::write(&path, &bytes).expect("a scratch file");
    assert_eq!(Content::read(&path).expect("what was written").bytes, bytes);
}

#[test]
fn types_in_units_of_their_own_are_read() {
    let source = "struct port { volatile int ready; int data; };\nstruct list { int *first; };\n\
                  int f(struct port *p, struct list *l)\n{\n    while (!p->ready)\n        ;\n    return p->data + *l->first;\n}\n";
    for (command, version) in
        [("aarch64-linux-gnu-gcc", "-gdwarf-5"), ("aarch64-linux-gnu-gcc", "-gdwarf-4")]
    {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("f.c"), source).expect("a scratch file");
        for link in [&["-c"][..], &["-nostdlib", "-static", "-Wl,-e,f"]] {
            let mut compiler = Command::new(command);
            compiler.current_dir(folder.path()).args(["-O2", version, "-fdebug-types-section"]);
            let made = compiler.args(link).args(["f.c", "-o", "all"]).status().expect("it runs");
            assert!(made.success(), "{command} {version} {link:?}");
            let program =
                of(&Content::read(&folder.path().join("all")).expect("what was compiled"));
            assert_eq!(program.lines.missing, None, "{version} {link:?}");
            let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
            let lines = frames(&program, "f").into_iter().flatten().map(|frame| frame.line);
            assert!(lines.clone().any(|line| line == 7), "{version} {link:?}");
            let names = program.lines.volatile_names(symbol.address);
            assert!(names.contains("ready") && !names.contains("data"), "{version}: {names:?}");
        }
    }
}

#[test]
fn types_say_whether_a_second_register_is_returned() {
    let source = "struct pair { long a, b; };\n\
                  struct pair both(long a)\n{\n    return (struct pair){a, 2};\n}\n\
                  long long one(long a)\n{\n    return a + 1;\n}\n\
                  void *none(void *a)\n{\n    return a;\n}\n";
    for (command, isa, wide) in
        [("aarch64-linux-gnu-gcc", Isa::A64, true), ("arm-linux-gnueabi-gcc", Isa::A32, false)]
    {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("f.c"), source).expect("a scratch file");
        let mut compiler = Command::new(command);
        compiler.current_dir(folder.path()).args(["-O2", "-g", "-c", "f.c", "-o", "all"]);
        assert!(compiler.status().expect("it runs").success(), "{command}");
        let program = of(&Content::read(&folder.path().join("all")).expect("what was compiled"));
        let has_one = |name: &str| {
            let symbol = program.symbol(name).unwrap_or_else(|error| panic!("{error}"));
            program.lines.has_one_result(symbol.address, name, isa)
        };
        assert_eq!((has_one("both"), has_one("none")), (Some(false), Some(true)));
        // Two registers of 32 bits, or one of 64.
        assert_eq!(has_one("one"), Some(wide));
        let symbol = program.symbol("one").unwrap_or_else(|error| panic!("{error}"));
        let clone = program.lines.has_one_result(symbol.address, "one.isra.0", isa);
        assert_eq!(
            (clone, program.lines.has_one_result(symbol.address, "nobody", isa)),
            (Some(wide), None)
        );
    }
}

/// Whatever an assembler writes for a type; a function's address is one register.
#[test]
fn assembly_says_nothing_of_results() {
    let one_of = |file: &str, text: &str, debug: &str| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join(file), text).expect("a scratch file");
        let mut compiler = Command::new("aarch64-linux-gnu-gcc");
        compiler.current_dir(folder.path()).args(["-O2", debug, "-c", file, "-o", "all"]);
        assert!(compiler.status().expect("it runs").success());
        let program = of(&Content::read(&folder.path().join("all")).expect("what was compiled"));
        let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
        program.lines.has_one_result(symbol.address, "f", Isa::A64)
    };
    let assembly = ".globl f\n.type f, %function\nf:\nret\n.size f, .-f\n";
    for debug in ["-gdwarf-2", "-gdwarf-4", "-gdwarf-5"] {
        assert_eq!(one_of("f.s", assembly, debug), None, "{debug}");
        let address = "typedef void way(void);\nway *f(way *one)\n{\n    return one;\n}\n";
        assert_eq!(one_of("f.c", address, debug), Some(true), "{debug}");
    }
}

/// Of a function that the linker may take from elsewhere nothing is known.
#[test]
fn a_weak_callee_is_not_said_to_be_short() {
    let source = |attribute: &str| {
        format!(
            "__attribute__((noinline)) {attribute} int hook(int a)\n{{\n    return a + 3;\n}}\n\
             int f(int *a)\n{{\n    return hook(a[0]) + a[1];\n}}\n"
        )
    };
    let kinds = |attribute: &str| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("f.c"), source(attribute)).expect("a scratch file");
        let mut compiler = Command::new("aarch64-linux-gnu-gcc");
        compiler.current_dir(folder.path()).args(["-O2", "-g", "-c", "f.c", "-o", "all"]);
        assert!(compiler.status().expect("it runs").success(), "{attribute}");
        let program = of(&Content::read(&folder.path().join("all")).expect("what was compiled"));
        let options = Options {
            avoid: Vec::new(),
            through: Vec::new(),
            effort: Effort::Bounds,
            recorded: None,
        };
        let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
        let core = Core::bundled("cortex-a53");
        let said = audit::audit::audit(&program, symbol, "cortex-a53", core.as_ref(), &options);
        let findings = said.unwrap_or_else(|error| panic!("{error}")).findings;
        findings.into_iter().filter(|found| found.kind == Kind::Call).count()
    };
    assert_eq!((kinds(""), kinds("__attribute__((weak))")), (1, 0));
}
