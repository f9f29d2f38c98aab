//! The example programs print the same with and without the plugin, on both libraries.

mod support;

use overlap::Settings;
use overlap::mpi::Language;

const C_PROGRAMS: [(&str, &[&str]); 3] = [("listing", &["20000", "50", "4"]), ("halo", &["20000", "8", "6"]), ("ring", &["20000", "6"])];

#[test]
fn examples_print_the_same() {
    for mpi in support::libraries("examples") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for (name, arguments) in C_PROGRAMS {
            let source = support::root().join(format!("examples/mpi/{name}.c"));
            let source = source.to_str().expect("the path is text");
            let place = |what: &str| folder.path().join(format!("{name}-{what}"));
            let plain = place("plain");
            support::compile_plain(mpi, Language::C, &["-O2", source, "-o", plain.to_str().expect("text")]);
            let expected: Vec<String> = (2..=4).map(|ranks| support::output(mpi, ranks, &plain, arguments)).collect();
            assert!(expected.iter().all(|it| it.starts_with("checksum ")), "{expected:?}");
            for level in ["-O1", "-O2", "-O3"] {
                let settings = Settings { min_bytes: Some(0), ..Settings::default() };
                let converted = place(level);
                support::compile_with(mpi, Language::C, &settings, &[level, source, "-o", converted.to_str().expect("text")]);
                for ranks in 2..=4 {
                    let printed = support::output(mpi, ranks, &converted, arguments);
                    assert_eq!(printed, expected[ranks as usize - 2], "{name} {level} on {ranks} ranks of {}", mpi.name());
                }
            }
        }
    }
}
