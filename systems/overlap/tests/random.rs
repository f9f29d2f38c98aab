//! Random programs print the same with and without the plugin. MEANWHILE_OVERLAP_PROGRAMS sets how
//! many (40), MEANWHILE_OVERLAP_SEED the first seed (1); MEANWHILE_OVERLAP_COMPILATIONS how many
//! are compiled only (40), MEANWHILE_OVERLAP_OPTION_LINES how many lines of options are tried (60).

use crate::support;
use crate::support::generate;

use std::path::Path;
use std::process::Command;

use fastrand::Rng;
use measure::tool;
use overlap::llvm::Llvm;
use overlap::mpi::Language;
use overlap::{Mpi, settings};
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

/// A number of the range of `--min-bytes` and `--min-weight`, mostly at one of its ends, or, one in
/// eight times, none.
fn any_number(rng: &mut Rng) -> String {
    let power = 1_u128 << rng.u32(0..66);
    match rng.u32(0..8) {
        0 => "0".to_owned(),
        1 => u64::MAX.to_string(),
        2 => rng.u64(..).to_string(),
        3 => rng.u32(0..2000).to_string(),
        4 => (power - 1).to_string(),
        5 => power.to_string(),
        6 => (power + 1).to_string(),
        _ => ["", "-1", "1e3", "0x10", "1.5", "+7", "many", "99999999999999999999999"]
            [rng.usize(0..8)]
        .to_owned(),
    }
}

/// Some settings in any order, more than once or wrong: the value of MEANWHILE_OVERLAP.
fn option_line(rng: &mut Rng) -> String {
    let named: [(&str, &[&str]); 6] = [
        ("strength", &settings::STRENGTHS),
        ("convert", &settings::CONVERSIONS),
        ("progress", &settings::PROGRESS),
        ("collectives", &settings::COLLECTIVES),
        ("handlers", &settings::HANDLERS),
        ("wildcards", &settings::WILDCARDS),
    ];
    let one = |rng: &mut Rng| match rng.usize(0..12) {
        n @ 0..6 if rng.u32(0..16) > 0 => {
            format!("{}={}", named[n].0, named[n].1[rng.usize(0..named[n].1.len())])
        }
        n @ 0..6 => format!("{}={}", named[n].0, any_number(rng)),
        6 | 7 => format!("min-bytes={}", any_number(rng)),
        8 | 9 => format!("min-weight={}", any_number(rng)),
        _ => format!("poll-us={}", any_number(rng)),
    };
    let parts: Vec<String> = (0..rng.usize(1..8)).map(|_| one(rng)).collect();
    parts.join(",")
}

/// What the plugin reads in front of it: a random program for `mpi`, without vectors.
fn module(seed: u64, llvm: Llvm, mpi: Mpi, folder: &Path) -> std::path::PathBuf {
    let source = folder.join(format!("{seed}-{}.c", mpi.name()));
    std::fs::write(&source, generate::program(seed)).expect("a scratch file");
    let mut command = Command::new(llvm.compiler(Language::C));
    command.args(["-w", "-O1", "-c", "-emit-llvm"]).arg(&source);
    command.args(mpi.flags(Language::C).expect("the wrapper says its flags"));
    command.arg("-o").arg(source.with_extension("bc"));
    tool::run(&mut command, b"", support::LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
    source.with_extension("bc")
}

#[test]
fn no_line_of_options_kills_the_compiler() {
    let libraries = support::libraries("lines of options");
    if libraries.is_empty() {
        return;
    }
    let versions = support::versions("lines of options");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let first = number("MEANWHILE_OVERLAP_SEED", 1);
    // A program for every 30 lines.
    let n_programs = number("MEANWHILE_OVERLAP_OPTION_LINES", 60).div_ceil(30);
    support::each(first..first + n_programs, |seed| {
        let mut rng = Rng::with_seed(seed);
        let llvm = versions[(seed / 2 % 2) as usize % versions.len()];
        let mpi = libraries[(seed % 2) as usize % libraries.len()];
        let module = module(seed, llvm, mpi, folder.path());
        let plugin = overlap::plugin::plugin(llvm).unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..30 {
            let line = option_line(&mut rng);
            let mut command = Command::new(format!("opt-{}", llvm.number()));
            command.arg("-load-pass-plugin").arg(&plugin).env("MEANWHILE_OVERLAP", &line);
            command.args(["-passes=overlap", "-o", "/dev/null"]).arg(&module);
            tool::run(&mut command, b"", support::LIMIT)
                .and_then(tool::Ran::ok)
                .unwrap_or_else(|error| panic!("seed {seed}, {llvm:?}, {line}: {error}"));
        }
        std::fs::remove_file(module).expect("it was made");
    });
}
