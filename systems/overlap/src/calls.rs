//! MPI's functions, from the one table that the plugin has, too: `plugin/MpiCalls.def`.

use std::fmt::Write;

const TABLE: &str = include_str!("../plugin/MpiCalls.def");

/// One row: a function, what the conversion makes of it, and the roles of its arguments, a letter each.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: &'static str,
    kind: &'static str,
    roles: Vec<char>,
}

/// The arguments of each line of the table that `macro_name` begins.
fn lines(macro_name: &str) -> impl Iterator<Item = [&'static str; 3]> {
    TABLE.lines().filter_map(move |line| {
        let inside = line.strip_prefix(macro_name)?.strip_prefix('(')?.strip_suffix(')')?;
        let mut fields = inside.splitn(3, ',').map(|it| it.trim().trim_matches('"'));
        Some([fields.next()?, fields.next()?, fields.next()?])
    })
}

fn rows() -> impl Iterator<Item = Row> {
    let roles = |text: &'static str| text.split_ascii_whitespace().filter_map(|it| it.chars().next()).collect();
    lines("MPI").map(move |[name, kind, arguments]| Row { name, kind, roles: roles(arguments) })
}

/// How names of functions begin that make moving a message unsafe wherever in the program they are, in C and in Fortran and
/// in lower case, and what they are.
pub fn hazards() -> impl Iterator<Item = (String, &'static str)> {
    lines("HAZARD").map(|[beginning, _, words]| (format!("mpi_{beginning}"), words))
}

/// The uniform shim in C: every blocking collective that was not converted becomes a start and a wait, so that it matches the
/// converted ones. It is linked into programs compiled with `--collectives uniform`; a converted start looks for
/// `__overlap_uniform` and calls the blocking twin without it.
pub fn uniform_shim() -> String {
    let mut text = "#include <mpi.h>\nconst char __overlap_uniform = 1;\n".to_owned();
    for row in rows().filter(|it| it.kind == "Collective") {
        let parameter = |(at, role): (usize, &char)| match role {
            's' => format!("const void *a{at}"),
            'r' => format!("void *a{at}"),
            'n' | 'N' | 'R' => format!("int a{at}"),
            't' | 'T' => format!("MPI_Datatype a{at}"),
            'a' => format!("const int a{at}[]"),
            'A' => format!("const MPI_Datatype a{at}[]"),
            'o' => format!("MPI_Op a{at}"),
            'c' => format!("MPI_Comm a{at}"),
            role => panic!("no argument of a collective has the role `{role}`"),
        };
        let parameters: Vec<String> = row.roles.iter().enumerate().map(parameter).collect();
        let arguments: String = (0..row.roles.len()).map(|at| format!("a{at}, ")).collect();
        let _ = write!(
            text,
            "int MPI_{}({}) {{\n  MPI_Request request;\n  int code = PMPI_I{}({arguments}&request);\n  \
             return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code;\n}}\n",
            row.name,
            parameters.join(", "),
            row.name.to_lowercase(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let all: Vec<Row> = rows().collect();
        assert_eq!(all.len(), TABLE.lines().filter(|it| it.starts_with("MPI(")).count());
        let send = all.iter().find(|it| it.name == "Send").expect("there is one");
        assert_eq!((send.kind, send.roles.as_slice()), ("Send", &['s', 'N', 'T', 'p', 'g', 'c'][..]));
        let known = "srntNTaAoRpgkwvcCuqQmfidSbP";
        for row in &all {
            assert!(row.roles.iter().all(|it| known.contains(*it)), "{row:?}");
            assert_eq!(all.iter().filter(|it| it.name == row.name).count(), 1, "{row:?}");
            // The table says what each letter is.
            assert!(
                row.roles.iter().all(|it| TABLE.lines().any(|line| line.starts_with("//") && line.contains(&format!(" {it}  ")))),
                "{row:?}"
            );
        }
    }

    #[test]
    fn hazards_are_names_in_lower_case() {
        let all: Vec<(String, &str)> = hazards().collect();
        assert!(all.contains(&("mpi_win_".to_owned(), "one-sided windows")));
        assert!(all.iter().all(|it| it.0 == it.0.to_lowercase()));
    }

    #[test]
    fn the_shim_has_every_collective_that_is_converted() {
        let text = uniform_shim();
        assert!(text.contains("int MPI_Bcast(void *a0, int a1, MPI_Datatype a2, int a3, MPI_Comm a4) {"), "{text}");
        assert!(text.contains("PMPI_Ialltoallw(a0, a1, a2, a3, a4, a5, a6, a7, a8, &request)"), "{text}");
        assert_eq!(text.matches("PMPI_Wait").count(), rows().filter(|it| it.kind == "Collective").count());
    }
}
