//! Random programs print the same with and without the plugin. MEANWHILE_OVERLAP_PROGRAMS sets how
//! many (100), MEANWHILE_OVERLAP_SEED the first seed (1).

mod support;

use overlap::mpi::Language;
use overlap::{Settings, generate};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_print_the_same() {
    let libraries = support::libraries("random programs");
    if libraries.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let first = number("MEANWHILE_OVERLAP_SEED", 1);
    for seed in first..first + number("MEANWHILE_OVERLAP_PROGRAMS", 100) {
        let place = |what: &str| folder.path().join(format!("{seed}{what}"));
        let text = generate::program(seed);
        std::fs::write(place(".c"), &text).expect("a scratch file");
        let mpi = libraries[(seed % 2) as usize % libraries.len()];
        let level = ["-O1", "-O2", "-O3"][(seed / 2 % 3) as usize];
        let ranks = 2 + (seed % 3) as u32;
        let settings = Settings {
            strength: ["frontier", "extended", "frontier", "basic"][(seed / 3 % 4) as usize].to_owned(),
            progress: ["on", "off"][(seed / 5 % 2) as usize].to_owned(),
            min_bytes: Some([0, 1000][(seed / 7 % 2) as usize]),
            min_weight: Some(1),
            poll_us: Some(1),
            ..Settings::default()
        };
        let source = place(".c");
        let source = source.to_str().expect("the path is text");
        let (plain, converted) = (place("-plain"), place("-converted"));
        support::compile_plain(mpi, Language::C, &["-w", level, source, "-o", plain.to_str().expect("text")]);
        // At link time the plugin sees loops that are vectorised and unrolled.
        let whole = ["-fno-lto", "-flto"][(seed / 11 % 2) as usize];
        // And calls, where nothing is inlined.
        let inline = ["-finline-functions", "-fno-inline"][(seed / 4 % 2) as usize];
        support::compile_with(mpi, Language::C, &settings, &["-w", level, whole, inline, source, "-o", converted.to_str().expect("text")]);
        let expected = support::output(mpi, ranks, &plain, &[]);
        let printed = support::output(mpi, ranks, &converted, &[]);
        assert_eq!(printed, expected, "seed {seed}, {level} {whole} {inline}, {ranks} ranks of {}, {settings:?}\n{text}", mpi.name());
    }
}
