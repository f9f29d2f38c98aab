//! With every compiler, no branch and no address of the emitted code depends on a secret; one that
//! does is found. Under MEANWHILE_LONG every primitive and slicing is checked on every target, with
//! each installed compiler.

use cipher::constant_time::{self, ConstantTimeVerdict, OPTS};
use cipher::emit_c::Arch;
use cipher::library::primitives;
use cipher::native::{self, Cc};
use cipher::options::{Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::unit::Subject;

/// The C of a bundled primitive, with its test program.
fn source(name: &str, slicing: Slicing, arch: Arch) -> String {
    let subject =
        Subject::bundled(name).expect("it is bundled").expect("bundled programs are right");
    let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, Unroll::Auto, "-O2");
    recipe.word = (slicing == Slicing::Bit).then_some(1);
    let made = recipe.make(&subject).expect("bundled programs compile");
    recipe.source(&made, true, false)
}

fn verdict(source: &str, arch: Arch, cc: &str, opt: &str) -> ConstantTimeVerdict {
    constant_time::check(source, arch, cc, &[opt.to_owned()])
        .unwrap_or_else(|error| panic!("{error}"))
}

fn runs(arch: Arch) -> bool {
    native::missing_feature(arch).is_none()
}

#[test]
fn emitted_code_is_constant_time() {
    let compilers = constant_time::compilers_here();
    assert!(compilers.len() >= 2, "{compilers:?}");
    if std::env::var_os("MEANWHILE_LONG").is_some() {
        return every_combination(&compilers);
    }
    // One compiler and flag for each program and mode, in turn.
    let cells = constant_time::cells(&[], &compilers, &OPTS[..2]);
    let n_ways = compilers.len() * 2;
    let mut watched = std::collections::BTreeSet::new();
    for (n, ways) in cells.chunks(n_ways).enumerate() {
        let cell = &ways[n % n_ways];
        // One of several key sizes is enough here.
        let primitive =
            cipher::library::primitive(cell.primitive).expect("cells name bundled primitives");
        if !watched.insert((&primitive.file, &primitive.kind, &cell.mode)) {
            continue;
        }
        // Bitsliced code is large, and the same operations everywhere.
        if cell.slicing != Slicing::Bit && runs(cell.arch) {
            let verdict = constant_time::watch_cell(cell).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(verdict, ConstantTimeVerdict::Clean, "{cell:?}");
        }
    }
}

fn every_combination(compilers: &[&str]) {
    for primitive in primitives() {
        let subject = Subject::bundled(&primitive.name)
            .expect("it is bundled")
            .expect("bundled programs are right");
        for slicing in subject.slicings(None) {
            for arch in constant_time::targets().into_iter().filter(|&target| runs(target)) {
                let source = source(&primitive.name, slicing, arch);
                for cc in compilers {
                    for opt in OPTS {
                        assert_eq!(
                            verdict(&source, arch, cc, opt),
                            ConstantTimeVerdict::Clean,
                            "{} {slicing:?} {arch:?} {cc} {opt}",
                            primitive.name
                        );
                    }
                }
            }
        }
    }
    for cell in constant_time::cells(&[], compilers, &OPTS)
        .into_iter()
        .filter(|cell| cell.mode.is_some() && runs(cell.arch))
    {
        let verdict = constant_time::watch_cell(&cell).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(verdict, ConstantTimeVerdict::Clean, "{cell:?}");
    }
}

#[test]
fn a_key_goes_into_horizontal_slices_without_a_branch() {
    // Clang 19 made a branch for each key bit that fills an element.
    let Some(clang) =
        constant_time::compilers_here().into_iter().find(|compiler| compiler.starts_with("clang"))
    else {
        return;
    };
    let source = source("aes-128", Slicing::Horizontal, Arch::Sse);
    if runs(Arch::Sse) {
        assert_eq!(verdict(&source, Arch::Sse, clang, "-O1"), ConstantTimeVerdict::Clean);
    }
}

/// The verdict with `line` added to the test program of a cipher, where keys and
/// data are in memory.
fn spoilt(line: &str) -> ConstantTimeVerdict {
    let good = source("rectangle-80", Slicing::Vertical, Arch::X86_64);
    let bad = good.replacen("prepare();\n", &format!("prepare();\n        {line}\n"), 1);
    assert_ne!(good, bad, "the test program calls `prepare`");
    assert_eq!(verdict(&good, Arch::X86_64, "gcc", "-O2"), ConstantTimeVerdict::Clean);
    verdict(&bad, Arch::X86_64, "gcc", "-O2")
}

/// That `line` is found by a report which begins with `what`, and is in the file that it names.
fn found(line: &str, what: &str) {
    let verdict = spoilt(line);
    let ConstantTimeVerdict::Depends { places, first, text } = &verdict else {
        panic!("{line} is not found")
    };
    assert!(
        *places > 0 && first.starts_with(what) && first.contains("in run_cases (cipher.c:"),
        "{verdict:?}"
    );
    let number: usize = first
        .rsplit(':')
        .next()
        .and_then(|found| found.trim_end_matches(')').parse().ok())
        .expect("a line's number");
    let text = std::fs::read_to_string(text).expect("the C is there still");
    assert_eq!(text.lines().nth(number - 1).map(str::trim), Some(line), "{verdict:?}");
}

#[test]
fn a_look_up_in_a_table_is_found() {
    found(
        "results[0] ^= (uint8_t)\"0123456789abcdef\"[cases[done] & 15];",
        "Use of uninitialised value",
    );
}

#[test]
fn a_branch_on_a_secret_is_found() {
    found("if (cases[done] > 100) puts(\"large\");", "Conditional jump");
}

#[test]
fn what_was_done_to_the_c_of_a_finding_does_not_count() {
    let line = "if (cases[done] > 101) puts(\"larger\");";
    let before = spoilt(line);
    let ConstantTimeVerdict::Depends { text, .. } = &before else { panic!("{line} is not found") };
    std::fs::write(text, "int main(void)\n{\n    return 0;\n}\n").expect("it may be edited");
    assert_eq!(spoilt(line), before);
    std::fs::remove_file(text).expect("and removed");
    assert_eq!(spoilt(line), before);
}
