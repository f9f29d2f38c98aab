//! The example programs print the same with and without the plugin, at every level of optimisation,
//! file by file and as whole programs, with one library each in turn; MEANWHILE_LONG=1 tries every
//! combination of level, ranks and link-time optimisation with both.

use crate::support;

use std::path::Path;

use overlap::mpi::Language;
use overlap::{Mpi, Settings};

const PROGRAMS: [(&str, Language, &[&str]); 10] = [
    ("listing.c", Language::C, &["20000", "50", "4"]),
    ("halo.c", Language::C, &["20000", "8", "6"]),
    ("jacobi.c", Language::C, &["20000", "8", "6"]),
    ("ring.c", Language::C, &["20000", "6"]),
    ("panels.c", Language::C, &["20000", "5", "6"]),
    ("md.c", Language::C, &["5000", "4"]),
    ("cg.cpp", Language::Cxx, &["20000", "10"]),
    ("transpose.f90", Language::Fortran, &[]),
    ("heat.f90", Language::Fortran, &[]),
    ("exchange.f90", Language::Fortran, &[]),
];

/// Level of optimisation, whole program, ranks; half of them with every second pair of programs, of
/// which each has its library.
fn combinations(name: &str, long: bool) -> Vec<(&'static str, bool, u32)> {
    if !long {
        let halves =
            [[("-O1", false, 2), ("-O2", true, 2)], [("-O2", false, 3), ("-O3", false, 4)]];
        let idx = PROGRAMS.iter().position(|program| program.0 == name).expect("it is one of them");
        return halves[idx / 2 % 2].to_vec();
    }
    let levels = ["-O1", "-O2", "-O3"].into_iter();
    levels
        .flat_map(|level| {
            [false, true]
                .into_iter()
                .flat_map(move |whole| (2..=4).map(move |ranks| (level, whole, ranks)))
        })
        .collect()
}

fn same_output(mpi: Mpi, name: &str, language: Language, arguments: &[&str]) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = support::root().join("examples/mpi").join(name);
    let source = source.to_str().expect("the path is text");
    let place = |what: &str| folder.path().join(what);
    let plain = place("plain");
    support::compile_plain(mpi, language, &["-O2", source, "-o", plain.to_str().expect("text")]);
    let long = std::env::var_os("MEANWHILE_LONG").is_some();
    for (level, whole, ranks) in combinations(name, long) {
        let expected = support::output(mpi, ranks, &plain, arguments);
        assert!(expected.starts_with("checksum "), "{expected:?}");
        let settings = Settings { min_bytes: Some(0), ..Settings::default() };
        let converted = place("converted");
        let mut words = vec![level, source, "-o", converted.to_str().expect("text")];
        if whole {
            words.push("-flto");
        }
        support::compile_with(mpi, language, &settings, &words);
        let printed = support::output(mpi, ranks, &converted, arguments);
        assert_eq!(
            printed,
            expected,
            "{name} {level}, whole program {whole}, {ranks} ranks of {}",
            mpi.name()
        );
    }
}

#[test]
fn examples_print_the_same() {
    support::each(support::in_turn("examples", PROGRAMS), |(mpi, (name, language, arguments))| {
        same_output(mpi, name, language, arguments)
    });
}

/// The window of the one exchange of Listing 1.1, in weighted instructions.
fn window(mpi: Mpi, strength: &str, level: &str, define: &str) -> u64 {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let settings = Settings {
        strength: strength.to_owned(),
        progress: "off".to_owned(),
        ..Settings::default()
    };
    let object = folder.path().join("listing.o");
    let source = support::root().join("examples/mpi/listing.c");
    let words =
        [level, define, "-c", source.to_str().expect("text"), "-o", object.to_str().expect("text")];
    support::compile_with(mpi, Language::C, &settings, &words);
    let text = std::fs::read_to_string(folder.path().join(".overlap/listing.o.opt.yaml"))
        .expect("a remark file");
    let rows = overlap::remarks::parse(&text).expect("these are remarks");
    let row =
        rows.iter().find(|row| row.call == "MPI_Alltoall").expect("the exchange has its remark");
    assert!(row.converted, "{strength} {level} {define}: {}", row.sentence);
    row.window_weight
}

#[test]
fn the_listing_has_twice_the_window() {
    let ways = ["-DTOUCH_INLINED", "-DTOUCH_APART"]
        .into_iter()
        .flat_map(|define| ["-O1", "-O2", "-O3"].map(|level| (level, define)));
    for (mpi, (level, define)) in support::in_turn("the listing's windows", ways) {
        let basic = window(mpi, "basic", level, define);
        for wide in ["extended", "frontier"] {
            let ratio = window(mpi, wide, level, define) as f64 / basic as f64;
            assert!(
                (1.9..=2.1).contains(&ratio),
                "{} {wide} {level} {define}: {ratio}",
                mpi.name()
            );
        }
    }
}

#[test]
fn the_broadcast_of_the_next_panel_starts_ahead() {
    for mpi in support::libraries("the next panel's broadcast") {
        let program = overlap::examples::PROGRAMS
            .into_iter()
            .find(|program| program.0 == "panels.c")
            .expect("it is an example");
        let rows = overlap::examples::remarks_of(mpi, program, "frontier")
            .unwrap_or_else(|error| panic!("{error}"));
        let row =
            rows.iter().find(|row| row.call == "MPI_Bcast").expect("the broadcast has its remark");
        assert!(
            row.converted && row.sentence.contains("one pass of the loop ahead"),
            "{}: {}",
            mpi.name(),
            row.sentence
        );
    }
}

/// Sends in one file, receives in another, the work in a third, and none is inlined: only at link
/// time is there a window.
const APART: [(&str, &str); 4] = [
    (
        "main.c",
        "#include <mpi.h>
#include <stdio.h>
void to_next(const double *x, int n, int next);
void from_last(double *x, int n, int last);
void work(double *x, int n, double f);
static double a[60000], b[60000], x[5000];
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 60000; i++)
    a[i] = rank * 7 + i % 9;
  for (int r = 0; r < 5; r++) {
    if (rank % 2 == 0 && rank + 1 < size) {
      to_next(a, 60000, rank + 1);
      work(x, 5000, .5);
      a[r] += x[9];
    } else if (rank % 2 == 1) {
      from_last(b, 60000, rank - 1);
      work(x, 5000, .25);
      a[r] += b[r] + x[9];
    }
  }
  double sum = 0, all = 0;
  for (int i = 0; i < 60000; i++)
    sum += (a[i] + b[i]) * (i % 3);
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf(\"%.17g\\n\", all);
  MPI_Finalize();
}
",
    ),
    (
        "send.c",
        "#include <mpi.h>\n__attribute__((noinline)) void to_next(const double *x, int n, int next) { MPI_Send(x, n, MPI_DOUBLE, next, 3, MPI_COMM_WORLD); }\n",
    ),
    (
        "receive.c",
        "#include <mpi.h>\n__attribute__((noinline)) void from_last(double *x, int n, int last) { MPI_Recv(x, n, MPI_DOUBLE, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n",
    ),
    (
        "work.c",
        "__attribute__((noinline)) void work(double *x, int n, double f) { for (int i = 1; i < n; i++) x[i] = x[i - 1] * f + i; }\n",
    ),
];

#[test]
fn wrappers_in_other_files_are_widened_at_link_time() {
    for mpi in support::libraries("wrappers in other files") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let place =
            |what: &str| folder.path().join(what).to_str().expect("the path is text").to_owned();
        for (name, text) in APART {
            std::fs::write(place(name), text).expect("a scratch file");
        }
        let sources = APART.map(|(name, _)| place(name));
        let objects = APART.map(|(name, _)| place(&name.replace(".c", ".o")));
        let plain = place("plain");
        let words = ["-O2", "-o", &plain].into_iter().chain(sources.iter().map(String::as_str));
        support::compile_plain(mpi, Language::C, &words.collect::<Vec<&str>>());
        let settings = Settings { min_bytes: Some(0), ..Settings::default() };
        let converted = |folder: &Path| -> Vec<String> {
            let mut calls: Vec<String> = overlap::remarks::files(folder)
                .expect("the scratch folder")
                .into_iter()
                .flat_map(|file| {
                    overlap::remarks::parse(&std::fs::read_to_string(file).expect("text"))
                        .expect("these are remarks")
                })
                .filter(|row| row.converted)
                .map(|row| row.call)
                .collect();
            calls.sort();
            calls
        };
        // File by file, a wrapper ends with its wait.
        for (source, object) in sources.iter().zip(&objects) {
            support::compile_with(
                mpi,
                Language::C,
                &settings,
                &["-O2", "-c", source, "-o", object],
            );
        }
        assert!(
            converted(folder.path()).is_empty(),
            "{}: {:?}",
            mpi.name(),
            converted(folder.path())
        );
        std::fs::remove_dir_all(place(".overlap")).expect("the remarks");
        for (source, object) in sources.iter().zip(&objects) {
            support::compile_with(
                mpi,
                Language::C,
                &settings,
                &["-O2", "-flto", "-c", source, "-o", object],
            );
        }
        let linked = place("linked");
        let words =
            ["-O2", "-flto", "-o", &linked].into_iter().chain(objects.iter().map(String::as_str));
        support::compile_with(mpi, Language::C, &settings, &words.collect::<Vec<&str>>());
        assert_eq!(converted(folder.path()), ["MPI_Recv", "MPI_Send"], "{}", mpi.name());
        for ranks in [2, 3] {
            let expected = support::output(mpi, ranks, &folder.path().join("plain"), &[]);
            assert_eq!(
                support::output(mpi, ranks, &folder.path().join("linked"), &[]),
                expected,
                "{}",
                mpi.name()
            );
        }
    }
}

#[test]
fn the_report_finds_sites_and_windows() {
    for mpi in support::libraries("the report's examples") {
        for program in overlap::examples::PROGRAMS {
            let rows = overlap::examples::remarks_of(mpi, program, "frontier")
                .unwrap_or_else(|error| panic!("{error}"));
            assert!(
                rows.iter().any(|row| row.converted),
                "{} of {}: {rows:?}",
                program.0,
                mpi.name()
            );
        }
        let listing = overlap::examples::Listing::build(mpi, "frontier")
            .unwrap_or_else(|error| panic!("{error}"));
        let sites = listing.windows(2).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            sites.iter().map(|site| site.call.as_str()).collect::<Vec<_>>(),
            ["MPI_Alltoall"],
            "{}",
            mpi.name()
        );
    }
}
