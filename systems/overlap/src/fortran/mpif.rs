//! What a library's `mpif.h` declares: its constants by type, and where its sentinels lie.

/// The text of `mpif.h`, with what it includes.
pub(super) struct Mpif<'a>(pub &'a str);

/// Data types beside those that [`is_datatype`] knows by how they begin.
const DATATYPES: [&str; 12] = [
    "AINT",
    "BYTE",
    "COUNT",
    "LB",
    "OFFSET",
    "PACKED",
    "UB",
    "WCHAR",
    "CHAR",
    "CHARACTER",
    "INT",
    "FLOAT",
];

const OPERATIONS: [&str; 15] = [
    "BAND", "BOR", "BXOR", "LAND", "LOR", "LXOR", "MAX", "MAXLOC", "MIN", "MINLOC", "NO_OP",
    "OP_NULL", "PROD", "REPLACE", "SUM",
];

impl Mpif<'_> {
    /// The lines without comments, in upper case.
    fn lines(&self) -> impl Iterator<Item = String> {
        self.0
            .lines()
            .map(|line| line.split('!').next().unwrap_or_default().trim().to_ascii_uppercase())
            .filter(|line| !line.is_empty())
    }

    /// The named constants, in upper case and without `MPI_`, with their values.
    pub fn constants(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for line in self.lines() {
            let Some(inside) = line
                .strip_prefix("PARAMETER")
                .and_then(|rest| rest.trim().strip_prefix('(')?.strip_suffix(')'))
            else {
                continue;
            };
            found.extend(inside.split(',').filter_map(|pair| {
                let (name, value) = pair.split_once('=')?;
                Some((name.trim().strip_prefix("MPI_")?.to_owned(), value.trim().to_owned()))
            }));
        }
        found
    }

    /// The value of a constant that is a number.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.constants().into_iter().find(|pair| pair.0 == name)?.1.parse().ok()
    }

    /// True if it declares the name of a procedure.
    pub fn has(&self, procedure: &str) -> bool {
        let name = format!("MPI_{procedure}").to_ascii_uppercase();
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        self.lines().any(|line| line.split(|letter| !is_part(letter)).any(|word| word == name))
    }

    /// The common block that a variable lies in, and all its variables, in upper case.
    pub fn common_of(&self, variable: &str) -> Option<(String, Vec<String>)> {
        self.lines().find_map(|line| {
            let (name, members) =
                line.strip_prefix("COMMON")?.trim().strip_prefix('/')?.split_once('/')?;
            let members: Vec<String> =
                members.split(',').map(|member| member.trim().to_owned()).collect();
            members
                .iter()
                .any(|member| member == variable)
                .then(|| (name.trim().to_owned(), members))
        })
    }
}

/// The type of handle that a constant is in `mpi_f08`, both without `MPI_`; none for a number.
pub(super) fn handle_of(constant: &str) -> Option<&'static str> {
    Some(match constant {
        "COMM_WORLD" | "COMM_SELF" | "COMM_NULL" => "Comm",
        "GROUP_NULL" | "GROUP_EMPTY" => "Group",
        "REQUEST_NULL" => "Request",
        "MESSAGE_NULL" | "MESSAGE_NO_PROC" => "Message",
        "INFO_NULL" | "INFO_ENV" => "Info",
        "WIN_NULL" => "Win",
        "FILE_NULL" => "File",
        "SESSION_NULL" => "Session",
        "ERRHANDLER_NULL" | "ERRORS_ARE_FATAL" | "ERRORS_RETURN" | "ERRORS_ABORT" => "Errhandler",
        _ if OPERATIONS.contains(&constant) => "Op",
        _ if is_datatype(constant) => "Datatype",
        _ => return None,
    })
}

fn is_datatype(constant: &str) -> bool {
    const BEGINNINGS: [&str; 20] = [
        "2COMPLEX",
        "2DOUBLE",
        "2INT",
        "2REAL",
        "COMPLEX",
        "CXX_",
        "C_",
        "DATATYPE_NULL",
        "DOUBLE",
        "FLOAT_INT",
        "INT16_T",
        "INT32_T",
        "INT64_T",
        "INT8_T",
        "LOGICAL",
        "LONG",
        "REAL",
        "SHORT",
        "SIGNED_CHAR",
        "UNSIGNED",
    ];
    let is_integer = |beginning: &str| {
        constant
            .strip_prefix(beginning)
            .is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit()))
    };
    DATATYPES.contains(&constant)
        || BEGINNINGS.iter().any(|beginning| constant.starts_with(beginning))
        || is_integer("INTEGER")
        || (constant.starts_with("UINT") && constant.ends_with("_T"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
! a comment with MPI_WAIT
       INTEGER MPI_SOURCE, MPI_TAG
       PARAMETER (MPI_SOURCE=3,MPI_TAG=4)
        parameter (MPI_SUM=3)
       EXTERNAL MPI_WTIME, MPI_DUP_FN
       COMMON /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
      common/mpi_fortran_argv_null/MPI_ARGV_NULL
";

    #[test]
    fn names_of_a_header() {
        let mpif = Mpif(TEXT);
        assert_eq!(mpif.number("TAG"), Some(4));
        assert_eq!(mpif.constants().len(), 3);
        assert!(mpif.has("Wtime") && mpif.has("Dup_fn") && !mpif.has("Wait") && !mpif.has("Dup"));
        let (name, members) = mpif.common_of("MPI_STATUS_IGNORE").expect("there is one");
        assert_eq!((name.as_str(), members.len()), ("MPIPRIV1", 3));
        assert_eq!(
            mpif.common_of("MPI_ARGV_NULL").expect("there is one").0,
            "MPI_FORTRAN_ARGV_NULL"
        );
    }

    #[test]
    fn constants_have_a_type() {
        for (constant, of) in [
            ("SUM", Some("Op")),
            ("MAX_ERROR_STRING", None),
            ("INTEGER8", Some("Datatype")),
            ("INTEGER_KIND", None),
            ("C_BOOL", Some("Datatype")),
            ("COMM_TYPE_SHARED", None),
            ("UINT8_T", Some("Datatype")),
            ("2INTEGER", Some("Datatype")),
            ("LOCK_SHARED", None),
        ] {
            assert_eq!(handle_of(constant), of, "{constant}");
        }
    }
}
