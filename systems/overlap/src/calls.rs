//! MPI's functions, from the one table that the plugin has, too: `plugin/MpiCalls.def`.

use std::collections::BTreeSet;

const TABLE: &str = include_str!("../plugin/MpiCalls.def");

/// One row: a function, what the conversion makes of it, and the roles of its
/// arguments, a letter each.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CallRow {
    name: &'static str,
    kind: &'static str,
    roles: Vec<char>,
}

/// The arguments of each line of the table that `macro_name` begins.
fn lines(macro_name: &str) -> impl Iterator<Item = [&'static str; 3]> {
    TABLE.lines().filter_map(move |line| {
        let inside = line.strip_prefix(macro_name)?.strip_prefix('(')?.strip_suffix(')')?;
        let mut fields = inside.splitn(3, ',').map(|part| part.trim().trim_matches('"'));
        Some([fields.next()?, fields.next()?, fields.next()?])
    })
}

/// Functions of which no more is known than that they are harmless.
fn known() -> impl Iterator<Item = &'static str> {
    TABLE
        .lines()
        .filter_map(|line| line.strip_prefix("KNOWN(\"")?.strip_suffix("\")"))
        .flat_map(str::split_ascii_whitespace)
}

fn rows() -> impl Iterator<Item = CallRow> {
    let roles = |text: &'static str| {
        text.split_ascii_whitespace().filter_map(|argument| argument.chars().next()).collect()
    };
    lines("MPI").map(move |[name, kind, arguments]| CallRow { name, kind, roles: roles(arguments) })
}

/// The procedure that a symbol calls, in lower case and without `mpi_`, the same for all of its
/// names, as the plugin has it.
pub(crate) fn procedure(symbol: &str) -> Option<String> {
    let lower = symbol.to_ascii_lowercase();
    let name =
        lower.strip_prefix('p').unwrap_or(&lower).strip_prefix("mpi_")?.trim_end_matches('_');
    let name = name.strip_suffix("_large").unwrap_or(name);
    let name = ["_f08", "_f08ts", "_f"]
        .into_iter()
        .find_map(|word| name.strip_suffix(word))
        .unwrap_or(name);
    let name = name.strip_suffix("_cptr").or_else(|| name.strip_suffix("_c")).unwrap_or(name);
    // One for each type and shape of Fortran.
    Some(if name.starts_with("sizeof_") { "sizeof" } else { name }.to_owned())
}

/// True for a name that is formed as MPI's are: `MPI_Xyz` in C, `mpi_xyz_` in Fortran, with `P` or
/// `p` before them too; and for those of extensions.
fn is_symbol(symbol: &str) -> bool {
    let of_c = symbol.strip_prefix('P').unwrap_or(symbol);
    let of_fortran = symbol.strip_prefix('p').unwrap_or(symbol);
    let is_function = |name: &str| {
        name.starts_with(|letter: char| letter.is_ascii_uppercase())
            && name[1..] == name[1..].to_ascii_lowercase()
    };
    of_c.starts_with("MPIX_")
        || of_c.strip_prefix("MPI_").is_some_and(is_function)
        || (symbol.ends_with('_')
            && (of_fortran.starts_with("mpi_") || of_fortran.starts_with("mpix_")))
}

/// True if the table says something of a procedure.
fn is_known(procedure: &str) -> bool {
    let is_it = |name: &str| name.eq_ignore_ascii_case(procedure);
    let is_twin = |row: &CallRow| {
        ["Send", "Recv", "Sendrecv", "Collective"].contains(&row.kind)
            && is_it(&format!("I{}", row.name))
    };
    rows().any(|row| is_it(row.name) || is_twin(&row)) || known().any(is_it)
}

/// The blocking collectives that the conversion knows, such as `MPI_Bcast`.
pub(crate) fn collectives() -> BTreeSet<String> {
    rows().filter(|row| row.kind == "Collective").map(|row| format!("MPI_{}", row.name)).collect()
}

/// What makes moving a message unsafe wherever in a program that uses `symbol`; none if that is no
/// function of MPI or a harmless one.
pub fn hazard(symbol: &str) -> Option<&'static str> {
    let procedure = procedure(symbol).unwrap_or_default();
    let named = lines("HAZARD")
        .find(|[beginning, ..]| procedure.starts_with(beginning))
        .map(|[_, _, words]| words);
    named.or_else(|| {
        (is_symbol(symbol) && !is_known(&procedure))
            .then_some("a function of MPI that is not known")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let all: Vec<CallRow> = rows().collect();
        assert_eq!(all.len(), TABLE.lines().filter(|line| line.starts_with("MPI(")).count());
        let send = all.iter().find(|it| it.name == "Send").expect("there is one");
        assert_eq!(
            (send.kind, send.roles.as_slice()),
            ("Send", &['s', 'N', 'T', 'p', 'g', 'c'][..])
        );
        let letters = "srntNTaAoRpgkwvcCuqQmfidSbP";
        for row in &all {
            assert!(row.roles.iter().all(|role| letters.contains(*role)), "{row:?}");
            assert_eq!(all.iter().filter(|it| it.name == row.name).count(), 1, "{row:?}");
            assert!(!known().any(|it| it == row.name), "{row:?}");
            // The table says what each letter is.
            assert!(
                row.roles.iter().all(|role| TABLE
                    .lines()
                    .any(|line| line.starts_with("//") && line.contains(&format!(" {role}  ")))),
                "{row:?}"
            );
        }
    }

    #[test]
    fn a_procedure_has_many_names() {
        for symbol in [
            "MPI_Allreduce",
            "PMPI_Allreduce_c",
            "mpi_allreduce_",
            "mpi_allreduce__",
            "pmpi_allreduce_f08ts_large_",
        ] {
            assert_eq!(procedure(symbol).as_deref(), Some("allreduce"), "{symbol}");
        }
        assert_eq!(procedure("MPI_Comm_f2c").as_deref(), Some("comm_f2c"));
        assert_eq!(procedure("printf"), None);
    }

    #[test]
    fn hazards_by_any_name() {
        for symbol in [
            "MPI_Win_create",
            "MPI_Win_allocate_c",
            "PMPI_Win_fence",
            "mpi_win_create_",
            "mpi_win_create_f08ts_",
        ] {
            assert_eq!(hazard(symbol), Some("one-sided windows"), "{symbol}");
        }
        for symbol in [
            "MPI_Session_init",
            "mpi_session_init_f08_",
            "MPI_Comm_create_from_group",
            "MPI_Intercomm_create_from_groups",
        ] {
            assert_eq!(hazard(symbol), Some("sessions"), "{symbol}");
        }
        for symbol in [
            "MPI_Ineighbor_nothing",
            "PMPI_Nothing",
            "mpi_nothing_",
            "MPIX_Comm_revoke",
            "pmpix_comm_revoke_",
        ] {
            assert_eq!(hazard(symbol), Some("a function of MPI that is not known"), "{symbol}");
        }
        // Data, the program's own names, and what is known by another name.
        for symbol in [
            "MPI_F_STATUS_IGNORE",
            "mpi_fortran_bottom_",
            "mpi_take",
            "MPIR_Dup_fn",
            "MPI_Isend_c",
            "mpi_wtime_f08_",
            "mpi",
        ] {
            assert_eq!(hazard(symbol), None, "{symbol}");
        }
    }
}
