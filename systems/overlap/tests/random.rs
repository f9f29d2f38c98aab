//! Random programs print the same with and without the plugin. MEANWHILE_OVERLAP_PROGRAMS sets how
//! many (100), MEANWHILE_OVERLAP_SEED the first seed (1).

mod support;

use overlap::generate;
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
    support::each(first..first + number("MEANWHILE_OVERLAP_PROGRAMS", 100), |seed| {
        let place = |what: &str| folder.path().join(format!("{seed}{what}"));
        let text = generate::program(seed);
        std::fs::write(place(".c"), &text).expect("a scratch file");
        let Case { llvm, mpi, level, ranks, settings, whole, inline } = Case::of(seed, &versions, &libraries);
        let source = place(".c");
        let source = source.to_str().expect("the path is text");
        let (plain, converted) = (place("-plain"), place("-converted"));
        support::compile_plain(mpi, Language::C, &["-w", level, source, "-o", plain.to_str().expect("text")]);
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
