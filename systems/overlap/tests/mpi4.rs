//! What MPI 4 added: names with large counts, sessions. Programs print what they print without the
//! plugin, and no function of a library that is installed here is one of which nothing is known and
//! nobody has thought.

use crate::support;

use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSymbol as _, SymbolKind};
use overlap::mpi::Language;
use overlap::{Mpi, Settings};

/// The lines that two processes of `name` print, in any order, compiled with these settings or
/// by the plain wrapper.
fn printed(mpi: Mpi, name: &str, settings: Option<&Settings>, folder: &Path) -> Vec<String> {
    let program = support::build(mpi, &format!("mpi4/{name}"), &["-O2"], settings, folder);
    let mut lines: Vec<String> =
        support::output(mpi, 2, &program, &[]).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines.len(), 2, "{name} prints a line a rank: {lines:?}");
    lines
}

#[test]
fn programs_print_the_same() {
    for mpi in support::libraries("MPI 4") {
        for name in ["large-counts.c", "large-counts-of-all.c", "session.c"] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let expected = printed(mpi, name, None, folder.path());
            assert_eq!(
                printed(mpi, name, Some(&Settings::default()), folder.path()),
                expected,
                "{name} with {}",
                mpi.name()
            );
        }
    }
}

/// The shared libraries of MPI that the wrappers link with.
fn libraries_of(mpi: Mpi) -> Vec<PathBuf> {
    let flags = [Language::C, Language::Fortran]
        .map(|language| mpi.flags(language).expect("the wrapper says its flags"))
        .concat();
    let folders: Vec<&str> = flags.iter().filter_map(|flag| flag.strip_prefix("-L")).collect();
    let find = |name: &str| {
        folders
            .iter()
            .map(|folder| Path::new(folder).join(format!("lib{name}.so")))
            .find(|path| path.is_file())
    };
    let mut found: Vec<PathBuf> = flags
        .iter()
        .filter_map(|flag| flag.strip_prefix("-l"))
        .filter(|rest| rest.starts_with("mpi"))
        .filter_map(find)
        .collect();
    found.dedup();
    found
}

/// Extensions of one library, and events, which tell a program something in the middle of anything.
fn is_meant(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let lower = lower.strip_prefix('p').unwrap_or(&lower);
    ["mpix_", "mpi_t_event_", "mpi_t_source_"].iter().any(|word| lower.starts_with(word))
        || ["mpi_t_category_get_events", "mpi_t_category_get_num_events"].contains(&lower)
}

#[test]
fn no_function_of_a_library_is_unknown_by_mistake() {
    for mpi in Mpi::ALL.into_iter().filter(|it| it.present()) {
        let found = libraries_of(mpi);
        assert!(
            found.len() > 1,
            "{} has a library for C and one for Fortran: {found:?}",
            mpi.name()
        );
        for library in found {
            let bytes = std::fs::read(&library).expect("a library can be read");
            let file = object::File::parse(&*bytes).expect("it is a library");
            let functions = file.dynamic_symbols().filter(|dynamic_symbol| {
                dynamic_symbol.is_definition() && dynamic_symbol.kind() == SymbolKind::Text
            });
            let names: Vec<&str> = functions.filter_map(|function| function.name().ok()).collect();
            assert!(
                names.iter().any(|name| name.to_ascii_lowercase().contains("mpi_")),
                "{}",
                library.display()
            );
            for name in names.into_iter().filter(|name| !is_meant(name)) {
                assert_ne!(
                    overlap::calls::hazard(name),
                    Some("a function of MPI that is not known"),
                    "{name} of {}",
                    library.display()
                );
            }
        }
    }
}

/// No library that is installed here has these of MPI 5.0; Intel's header of 2026 declares them.
#[test]
fn what_mpi_5_added_is_known() {
    for handle in ["Comm", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request"] {
        for name in [format!("MPI_{handle}_toint"), format!("MPI_{handle}_fromint")] {
            assert_eq!(overlap::calls::hazard(&name), None, "{name}");
        }
    }
    for name in ["MPI_Abi_get_version", "MPI_Abi_set_fortran_booleans", "mpi_abi_get_version_"] {
        assert_eq!(overlap::calls::hazard(name), None, "{name}");
    }
    for name in ["MPI_Win_toint", "MPI_Session_fromint", "MPIX_Put_notify"] {
        assert!(overlap::calls::hazard(name).is_some(), "{name}");
    }
}

/// What `plugin/runtime/handles.h` says of each library's constants, in C and in Fortran; an empty
/// name for one that is not there.
const HANDLES: [(&str, &str, &str); 5] = [
    ("MPI_REQUEST_NULL", "MPICH_REQUEST_NULL", "OPENMPI_REQUEST_NULL"),
    ("MPI_COMM_WORLD", "MPICH_COMM_WORLD", "OPENMPI_COMM_WORLD"),
    ("MPI_ERRORS_ARE_FATAL", "MPICH_ERRORS_ARE_FATAL", "OPENMPI_ERRORS_ARE_FATAL"),
    ("MPI_ANY_SOURCE", "MPICH_ANY_SOURCE", "OPENMPI_ANY_SOURCE"),
    ("MPI_COMM_SELF", "MPICH_COMM_SELF", "OPENMPI_COMM_SELF"),
];

#[test]
fn handles_are_those_of_the_libraries() {
    let header = support::root().join("systems/overlap/plugin/runtime/handles.h");
    let numbers = std::fs::read_to_string(&header).expect("it is there");
    let number = |name: &str| {
        let text = numbers
            .lines()
            .find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' '))
            .expect("it is there");
        let text = text.trim_matches(['(', ')']);
        text.strip_prefix("0x")
            .map_or_else(|| text.parse(), |it| i64::from_str_radix(it, 16))
            .expect("a number")
    };
    for mpi in support::libraries("handles") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let program = folder.path().join("p");
        let mut text = "program p\n  include 'mpif.h'\n".to_owned();
        let mut expected = Vec::new();
        for (name, mpich, openmpi) in HANDLES {
            let ours = if mpi == Mpi::Mpich { mpich } else { openmpi };
            if !ours.is_empty() {
                text += &format!("  print *, {name}\n");
                expected.push(number(ours));
            }
        }
        text += "  print *, MPI_THREAD_SERIALIZED\n  print *, MPI_THREAD_MULTIPLE\nend program\n";
        expected.extend(["LEVEL_SERIALIZED", "LEVEL_MULTIPLE"].map(number));
        std::fs::write(folder.path().join("p.f90"), text).expect("a scratch file");
        let source = folder.path().join("p.f90");
        support::compile_plain(
            mpi,
            Language::Fortran,
            &[source.to_str().expect("text"), "-o", program.to_str().expect("text")],
        );
        // It calls nothing of MPI, so no launcher is needed.
        let ran =
            measure::tool::run(&mut std::process::Command::new(&program), b"", support::LIMIT)
                .expect("it runs");
        let found: Vec<i64> =
            ran.text().split_whitespace().map(|word| word.parse().expect("a number")).collect();
        assert_eq!(found, expected, "{}", mpi.name());

        let mut text = format!("#include \"{}\"\n#include <mpi.h>\n", header.display());
        text += "_Static_assert(MPI_THREAD_SERIALIZED == LEVEL_SERIALIZED && MPI_THREAD_MULTIPLE == LEVEL_MULTIPLE, \"\");\n";
        if mpi == Mpi::Mpich {
            text += "_Static_assert(MPI_COMBINER_NAMED == MPICH_COMBINER_NAMED, \"\");\n";
            let all = HANDLES.iter().filter(|handle| !handle.1.is_empty());
            text += &all
                .map(|pair| format!("_Static_assert((int){} == (int){}, \"\");\n", pair.0, pair.1))
                .collect::<String>();
        } else {
            text += "_Static_assert(MPI_ANY_SOURCE == OPENMPI_ANY_SOURCE && MPI_COMBINER_NAMED == OPENMPI_COMBINER_NAMED, \"\");\n";
        }
        let source = folder.path().join("p.c");
        std::fs::write(&source, text).expect("a scratch file");
        support::compile_plain(
            mpi,
            Language::C,
            &["-c", source.to_str().expect("text"), "-o", program.to_str().expect("text")],
        );
    }
}
