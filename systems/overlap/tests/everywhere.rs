//! `--convert none`: messages of the program's own move while it computes, whoever holds their
//! requests; nobody asks for them where that is not allowed; and programs print what they print
//! without the plugin.

use crate::support;

use std::path::{Path, PathBuf};

use measure::tool;
use object::{Object as _, ObjectSymbol as _};
use overlap::mpi::Language;
use overlap::{Mpi, Settings};

fn settings() -> Settings {
    Settings { convert: "none".to_owned(), ..Settings::default() }
}

/// A program of `tests/everywhere`, which may be two files in one, divided by SECOND_FILE.
fn build(mpi: Mpi, name: &str, flags: &[&str], polls: bool, folder: &Path) -> PathBuf {
    build_with(mpi, name, flags, polls.then(settings).as_ref(), folder)
}

/// The same with these settings, or by the plain wrapper.
fn build_with(
    mpi: Mpi,
    name: &str,
    flags: &[&str],
    settings: Option<&Settings>,
    folder: &Path,
) -> PathBuf {
    let language = match name.rsplit('.').next() {
        Some("cpp") => Language::Cxx,
        Some("f90") => Language::Fortran,
        _ => Language::C,
    };
    let source = support::root().join("systems/overlap/tests/everywhere").join(name);
    let two_files = std::fs::read_to_string(&source).expect("text").contains("SECOND_FILE");
    let source = source.to_str().expect("text");
    let place = |what: &str| {
        folder.join(format!("{}{what}", settings.is_some())).to_str().expect("text").to_owned()
    };
    let compile = |words: &[&str]| {
        let words = [flags, words].concat();
        match settings {
            Some(settings) => support::compile_with(mpi, language, settings, &words),
            None => support::compile_plain(mpi, language, &words),
        }
    };
    let (program, second) = (place(""), place("-second.o"));
    let mut words = vec!["-O2", source, "-o", &program];
    if two_files {
        compile(&["-O2", "-DSECOND_FILE", "-c", source, "-o", &second]);
        words.push(&second);
    }
    if language == Language::C {
        words.push("-pthread");
    }
    compile(&words);
    program.into()
}

/// What two processes print that talk in a way in which a large message moves only while its sender
/// is inside MPI. For MPICH that is not TCP: MPI_Finalize of its 4.0 over UCX may never return
/// there if one process calls MPI, by hand too, after another has come to its end.
fn printed(mpi: Mpi, program: &Path, folder: &Path) -> Vec<String> {
    let arrived = folder.join("arrived");
    // From the run before, if there was one.
    let _ = std::fs::remove_file(&arrived);
    let mut command = mpi.launcher(2).expect("the launcher is here");
    match mpi {
        Mpi::OpenMpi => command.envs([
            ("OMPI_MCA_btl", "self,tcp"),
            ("OMPI_MCA_btl_tcp_if_include", "lo"),
            ("OMPI_MCA_pml", "ob1"),
        ]),
        Mpi::Mpich => command.env("UCX_TLS", "posix,self"),
    };
    command.arg(program).arg(&arrived);
    let ran = tool::run(&mut command, b"", support::LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut lines: Vec<String> = ran.text().lines().map(|line| line.trim().to_owned()).collect();
    lines.sort();
    lines.dedup();
    lines
}

fn is_mpich_4_0() -> bool {
    measure::machine::version("mpirun.mpich", &["--version"])
        .is_ok_and(|version| version.contains(" 4.0."))
}

#[test]
fn messages_move_while_the_program_computes() {
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    for (n, mpi) in support::libraries("polls everywhere").into_iter().enumerate() {
        // Other ways to compile it with one library each; under MEANWHILE_LONG with both.
        let others: [(&str, &[&str]); 2] =
            [("behind-wrappers.c", &["-flto"]), ("behind-wrappers.c", &["-fPIC"])];
        let others = if is_long { &others[..] } else { &others[n % 2..][..1] };
        for (at, &(name, flags)) in [
            &[("behind-wrappers.c", &[][..]), ("in-a-vector.cpp", &[]), ("in-an-array.f90", &[])],
            others,
        ]
        .concat()
        .iter()
        .enumerate()
        {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let polling = build(mpi, name, flags, true, folder.path());
            assert_eq!(
                printed(mpi, &polling, folder.path()),
                ["moved"],
                "{name} {flags:?} with {}",
                mpi.name()
            );
            // That nothing moves without polls is the library's doing: tried with one each.
            if flags.is_empty() && (is_long || at % 2 == n) {
                let plain = build(mpi, name, flags, false, folder.path());
                let said = printed(mpi, &plain, folder.path());
                // Seen of MPICH 4.2 with UCX 1.18. With the libraries of Debian 12 nothing moves
                // without polls.
                if mpi == Mpi::Mpich && !is_mpich_4_0() && said == ["moved"] {
                    support::skip(&format!(
                        "overlap polls everywhere: {name} moves with {} alone",
                        mpi.name()
                    ));
                } else {
                    assert_eq!(said, ["stood still"], "{name} alone with {}", mpi.name());
                }
            }
        }
    }
}

/// With the default settings, too, where one module shows both ends of the messages: a file, or
/// the program with `-flto`.
#[test]
fn messages_move_by_default_where_a_module_shows_their_ends() {
    for mpi in support::libraries("polls in own windows") {
        for (name, flags) in [("behind-wrappers.c", &["-flto"][..]), ("in-a-vector.cpp", &[])] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let polling = build_with(mpi, name, flags, Some(&Settings::default()), folder.path());
            assert_eq!(
                printed(mpi, &polling, folder.path()),
                ["moved"],
                "{name} with {}",
                mpi.name()
            );
        }
    }
}

/// The work, and with it the polls, lie in a shared library whose functions are found when they are
/// first called; the messages are the program's. Both count the same requests, and no poll is
/// looked up by the dynamic linker, which would not keep the registers that a poll keeps.
#[test]
fn loops_of_a_shared_library_move_messages_of_the_program() {
    for mpi in support::libraries("polls everywhere") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let place = |what: &str| folder.path().join(what).to_str().expect("text").to_owned();
        let source = support::root().join("systems/overlap/tests/everywhere/behind-wrappers.c");
        let source = source.to_str().expect("text");
        let (library, program) = (place("libwork.so"), place("program"));
        let compile = |words: &[&str]| {
            support::compile_with(
                mpi,
                Language::C,
                &settings(),
                &[&["-O2", "-DMAIN_ELSEWHERE", source], words].concat(),
            )
        };
        compile(&["-shared", "-fPIC", "-Wl,-z,lazy", "-o", &library]);
        compile(&["-DSECOND_FILE", &library, "-Wl,-z,lazy", "-o", &program]);
        assert_eq!(printed(mpi, Path::new(&program), folder.path()), ["moved"], "{}", mpi.name());

        let read = std::fs::read(&library).expect("the library was made");
        let read = object::File::parse(&*read).expect("it is an object");
        let names: Vec<&str> = read
            .dynamic_symbols()
            .filter_map(|dynamic_symbol| dynamic_symbol.name().ok())
            .filter(|text| text.starts_with("__overlap"))
            .collect();
        assert!(names.contains(&"__overlap_pending"), "{names:?}");
        assert!(!names.iter().any(|text| text.starts_with("__overlap_poll")), "{names:?}");
    }
}

#[test]
fn nobody_asks_where_that_is_not_allowed() {
    for mpi in support::libraries("polls everywhere") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let polling = build(mpi, "stays-out.c", &[], true, folder.path());
        assert_eq!(printed(mpi, &polling, folder.path()), ["asked in work"], "{}", mpi.name());
    }
}

/// An end counts, however the function that ends is declared.
#[test]
fn no_question_comes_behind_an_end_without_a_prototype() {
    for mpi in support::libraries("polls everywhere") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let polling = build(
            mpi,
            "ended-without-prototype.c",
            &["-Wno-deprecated-non-prototype"],
            true,
            folder.path(),
        );
        assert_eq!(
            printed(mpi, &polling, folder.path()),
            ["quiet behind the end"],
            "{}",
            mpi.name()
        );
    }
}

/// With more ranks than processors OpenMPI yields in every question that finds nothing.
#[test]
fn questions_that_give_the_processor_away_become_rare() {
    for mpi in support::libraries("polls everywhere") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let own = build(mpi, "gives-way.c", &[], true, folder.path());
        assert_eq!(printed(mpi, &own, folder.path()), ["gives away little"], "{}", mpi.name());
        let converted = build_with(
            mpi,
            "gives-way.c",
            &["-DCONVERTED"],
            Some(&Settings::default()),
            folder.path(),
        );
        assert_eq!(
            printed(mpi, &converted, folder.path()),
            ["gives away little"],
            "{}",
            mpi.name()
        );
    }
}

/// A message that has arrived, or whose sender is late, is not asked for every 100 us until
/// it is waited for.
#[test]
fn questions_that_move_nothing_become_rare() {
    for mpi in support::libraries("polls everywhere") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let own = build(mpi, "stands-still.c", &[], true, folder.path());
        assert_eq!(printed(mpi, &own, folder.path()), ["rare, and anew"], "{}", mpi.name());
        let widened = build_with(
            mpi,
            "stands-still.c",
            &["-flto"],
            Some(&Settings::default()),
            folder.path(),
        );
        assert_eq!(
            printed(mpi, &widened, folder.path()),
            ["rare, and anew"],
            "{} by default",
            mpi.name()
        );
        let converted = build_with(
            mpi,
            "stands-still.c",
            &["-DCONVERTED"],
            Some(&Settings::default()),
            folder.path(),
        );
        assert_eq!(
            printed(mpi, &converted, folder.path()),
            ["rare, and anew"],
            "{} converted",
            mpi.name()
        );
    }
}
