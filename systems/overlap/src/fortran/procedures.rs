//! MPI's procedures as Fortran has them, from the prototypes of a library's `mpi.h`.
//!
//! ```text
//! int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
//!   --->  Send: buf Choice, count Integer, datatype Handle, dest Integer, tag Integer, comm Handle
//! ```

use std::collections::BTreeMap;

/// What an argument is in Fortran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// Anything, of any rank.
    Choice,
    Integer,
    Logical,
    /// An integer of the kind with this name.
    Kind(&'static str),
    /// A handle of this type, one of [`HANDLES`].
    Handle(&'static str),
    Status,
    Text,
    Function,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    pub name: String,
    pub shape: Shape,
    pub is_array: bool,
    /// It is not written.
    pub is_input: bool,
}

/// A procedure without `MPI_`; its last argument, `ierror`, which all but one have, is not in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Procedure {
    pub name: String,
    pub arguments: Vec<Argument>,
}

impl Procedure {
    /// Its symbol in the libraries, as gfortran and flang form it.
    pub fn symbol(&self) -> String {
        symbol(&self.name)
    }

    pub fn has_ierror(&self) -> bool {
        self.name != "Pcontrol"
    }
}

pub(super) fn symbol(name: &str) -> String {
    format!("mpi_{}_", name.to_ascii_lowercase())
}

/// Types of handles, without `MPI_`.
pub(super) const HANDLES: [&str; 11] = [
    "Comm",
    "Datatype",
    "Errhandler",
    "File",
    "Group",
    "Info",
    "Message",
    "Op",
    "Request",
    "Session",
    "Win",
];

/// Integers of C that are logical in Fortran.
const LOGICAL: [&str; 7] =
    ["flag", "commute", "periods", "reorder", "remain_dims", "high", "weighted"];

/// Pointers that are attributes, which Fortran has as integers.
const ATTRIBUTES: [&str; 3] = ["attribute_val", "attr_val", "extra_state"];

/// Procedures of MPI-1 with integers where C has addresses; without an interface they take all.
pub(super) const WITHOUT_INTERFACE: [&str; 15] = [
    "Address",
    "Attr_delete",
    "Attr_get",
    "Attr_put",
    "Errhandler_create",
    "Errhandler_get",
    "Errhandler_set",
    "Keyval_create",
    "Keyval_free",
    "Type_extent",
    "Type_hindexed",
    "Type_hvector",
    "Type_lb",
    "Type_struct",
    "Type_ub",
];

/// All procedures that a preprocessed header declares and Fortran has, by name, but those
/// in [`WITHOUT_INTERFACE`], which take anything.
pub(super) fn procedures(header: &str) -> Vec<Procedure> {
    let mut found = BTreeMap::new();
    for (at, _) in header.match_indices("int MPI_") {
        let is_word =
            !header[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let declared = is_word.then(|| declared(&header[at + "int MPI_".len()..])).flatten();
        if let Some(procedure) = declared
            && !WITHOUT_INTERFACE.contains(&procedure.name.as_str())
        {
            found.insert(procedure.name.to_ascii_lowercase(), procedure);
        }
    }
    found.into_values().collect()
}

/// The procedure whose prototype goes on like this; none for what only C has.
fn declared(rest: &str) -> Option<Procedure> {
    let (name, rest) = rest.split_once('(')?;
    let name = name.trim();
    let only_c = ["_c2f", "_f2c", "_c2f08", "_f082c", "_f2f08", "_f082f", "_c"];
    if !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        || name.starts_with("T_")
        || only_c.iter().any(|ending| name.ends_with(ending))
    {
        return None;
    }
    let inside = rest.split_once(')')?.0;
    let words = inside.split(',').map(str::trim).filter(|word| !matches!(*word, "" | "void"));
    let mut arguments: Vec<Argument> = match name {
        "Pcontrol" => words.take(1).map(argument).collect::<Option<_>>()?,
        _ => words.map(argument).collect::<Option<_>>()?,
    };
    if name.starts_with("Init") {
        // C's arguments of the program.
        arguments.retain(|argument| !matches!(argument.name.as_str(), "argc" | "argv"));
    }
    Some(Procedure { name: name.to_owned(), arguments })
}

/// `const int displs[]`, `MPI_User_function *function`; none for a type that Fortran has not.
fn argument(text: &str) -> Option<Argument> {
    let is_const = text.starts_with("const ");
    let text = text.strip_prefix("const ").unwrap_or(text).trim();
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    let (of, rest) = text.split_at(end);
    let (declarator, brackets) =
        rest.split_once('[').map_or((rest, None), |pair| (pair.0, Some(pair.1)));
    let pointers = declarator.matches('*').count();
    let name = declarator.trim_start_matches(['*', ' ']).trim_start_matches("const ").trim();
    let function =
        of.strip_prefix("MPI_").filter(|of| of.ends_with("_function") || of.ends_with("_fn"));
    let name = match function {
        // As the standard names it.
        Some(of) if name == "function" => {
            format!("{}_fn", of.trim_end_matches("_function").to_ascii_lowercase())
        }
        _ => name.to_owned(),
    };
    let is_list = brackets.is_some() || name.starts_with("array_of_");
    let is_array = if of == "char" { pointers > usize::from(!is_list) } else { is_list };
    let shape = match of {
        "void" if ATTRIBUTES.contains(&name.as_str()) => Shape::Kind("MPI_ADDRESS_KIND"),
        "void" => Shape::Choice,
        "char" => Shape::Text,
        "int" if LOGICAL.contains(&name.as_str()) => Shape::Logical,
        "int" => Shape::Integer,
        "MPI_Aint" => Shape::Kind("MPI_ADDRESS_KIND"),
        "MPI_Offset" => Shape::Kind("MPI_OFFSET_KIND"),
        "MPI_Count" => Shape::Kind("MPI_COUNT_KIND"),
        "MPI_Status" => Shape::Status,
        _ if function.is_some() => Shape::Function,
        _ => Shape::Handle(
            HANDLES.into_iter().find(|handle| of.strip_prefix("MPI_") == Some(handle))?,
        ),
    };
    let by_value = pointers == 0 && brackets.is_none();
    let is_input = is_const || by_value || shape == Shape::Function;
    Some(Argument { name, shape, is_array, is_input })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(prototype: &str) -> String {
        procedures(prototype)
            .iter()
            .map(|procedure| {
                let arguments: Vec<String> = procedure
                    .arguments
                    .iter()
                    .map(|argument| {
                        let array = if argument.is_array { "[]" } else { "" };
                        let input = if argument.is_input { "" } else { "!" };
                        format!("{}{array}{input} {:?}", argument.name, argument.shape)
                    })
                    .collect();
                format!("{}: {}", procedure.name, arguments.join(", "))
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn prototypes_become_procedures() {
        for (prototype, expected) in [
            (
                "int MPI_Recv(void *buf, int count,\n MPI_Datatype datatype, MPI_Status *status);",
                "Recv: buf! Choice, count Integer, datatype Handle(\"Datatype\"), status! Status",
            ),
            (
                "extern int MPI_Cart_create(MPI_Comm old, const int dims[], const int periods[], int reorder, MPI_Comm *comm_cart) ;",
                "Cart_create: old Handle(\"Comm\"), dims[] Integer, periods[] Logical, reorder Logical, comm_cart! Handle(\"Comm\")",
            ),
            (
                "int MPI_Op_create(MPI_User_function *function, int commute, MPI_Op *op)",
                "Op_create: user_fn Function, commute Logical, op! Handle(\"Op\")",
            ),
            (
                "int MPI_Comm_spawn(const char *command, char *argv[], int array_of_errcodes[])",
                "Comm_spawn: command Text, argv[]! Text, array_of_errcodes[]! Integer",
            ),
            (
                "int MPI_Comm_set_attr(MPI_Comm comm, void *attribute_val)",
                "Comm_set_attr: comm Handle(\"Comm\"), attribute_val! Kind(\"MPI_ADDRESS_KIND\")",
            ),
            (
                "int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);",
                "Init_thread: required Integer, provided! Integer",
            ),
            (
                "int MPI_Testall(int count, int *flag, MPI_Status *array_of_statuses);",
                "Testall: count Integer, flag! Logical, array_of_statuses[]! Status",
            ),
            ("int MPI_Finalize(void)", "Finalize: "),
            ("int MPI_Pcontrol(const int level, ...)", "Pcontrol: level Integer"),
        ] {
            assert_eq!(of(prototype), expected);
        }
    }

    #[test]
    fn what_only_c_has_is_left_out() {
        for prototype in [
            "MPI_Fint MPI_Comm_c2f(MPI_Comm comm);",
            "int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status);",
            "int MPI_T_finalize(void);",
            "int MPI_Send_c(const void *buf, MPI_Count count);",
            "int PMPI_Finalize(void);",
            "int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent);",
            "int MPI_Frob(struct thing *thing);",
        ] {
            assert_eq!(of(prototype), "", "{prototype}");
        }
    }
}
