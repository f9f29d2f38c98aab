//! Random programs print the same with and without the plugin. MEANWHILE_OVERLAP_PROGRAMS sets how
//! many (40), MEANWHILE_OVERLAP_SEED the first seed (1); MEANWHILE_OVERLAP_COMPILATIONS how many
//! are compiled only (40).

#[path = "support/generate.rs"]
mod generate;
mod support;

use overlap::mpi::Language;
use support::{Case, number};

#[test]
fn random_programs_print_the_same() {
    let libraries = support::libraries("random programs");
    if libraries.is_empty() {
        return;
    }
    let versions = support::versions("random programs");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let first = number("MEANWHILE_OVERLAP_SEED", 1);
    support::each(first..first + number("MEANWHILE_OVERLAP_PROGRAMS", 40), |seed| {
        let place = |what: &str| folder.path().join(format!("{seed}{what}"));
        let text = generate::program(seed);
        std::fs::write(place(".c"), &text).expect("a scratch file");
        let Case { llvm, mpi, level, ranks, settings, whole, inline } =
            Case::of(seed, &versions, &libraries);
        let source = place(".c");
        let source = source.to_str().expect("the path is text");
        let (plain, converted) = (place("-plain"), place("-converted"));
        support::compile_plain(
            mpi,
            Language::C,
            &["-w", level, source, "-o", plain.to_str().expect("text")],
        );
        let words = ["-w", level, whole, inline, source, "-o", converted.to_str().expect("text")];
        support::compile_by(llvm, mpi, Language::C, &settings, &words);
        let expected = support::output(mpi, ranks, &plain, &[]);
        let printed = support::output(mpi, ranks, &converted, &[]);
        assert_eq!(
            printed,
            expected,
            "seed {seed}, {llvm:?}, {level} {whole} {inline}, {ranks} ranks of {}, {settings:?}\n{text}",
            mpi.name()
        );
    });
}

#[test]
fn the_compiler_does_not_fail_with_the_plugin() {
    let libraries = support::libraries("random compilations");
    if libraries.is_empty() {
        return;
    }
    let versions = support::versions("random compilations");
    let folder = tempfile::tempdir().expect("a scratch folder");
    // Other programs than those that run.
    let first = number("MEANWHILE_OVERLAP_SEED", 1) + 1_000_000_000;
    support::each(first..first + number("MEANWHILE_OVERLAP_COMPILATIONS", 40), |seed| {
        let source = folder.path().join(format!("{seed}.c"));
        std::fs::write(&source, generate::program(seed)).expect("a scratch file");
        let made = source.with_extension("o");
        let Case { llvm, mpi, level, settings, whole, inline, .. } =
            Case::of(seed, &versions, &libraries);
        let paths = [&source, &made].map(|it| it.to_str().expect("text").to_owned());
        let mut words = vec!["-w", level, whole, inline, &paths[0], "-o", &paths[1]];
        // At link time the plugin runs a second time.
        if whole != "-flto" {
            words.push("-c");
        }
        support::compile_by(llvm, mpi, Language::C, &settings, &words);
        for path in [source, made] {
            std::fs::remove_file(path).expect("it was made");
        }
    });
}
