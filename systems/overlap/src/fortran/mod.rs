//! The modules `mpi` and `mpi_f08` as texts, from a library's own headers.
//!
//! ```text
//! module mpi                mpif.h, and an interface of each procedure: `mpi_send_` of the library
//! module mpi_f08            the same with types of handles: `overlap_mpi_send_(.., ierror or null)`
//! overlap_mpi_send_         C: calls `mpi_send_`, with an ierror of its own if there is none
//! ```
//!
//! What compiles with the plugin calls `mpi_send_` in both cases (`plugin/Fortran08.cpp`): a handle
//! is a struct of one integer and a status has the library's own layout, so all that is left of
//! `mpi_f08` is that `ierror` is optional. The library's own functions for `mpi_f08` are never
//! called: they may take the descriptors of another compiler. Buffers are addresses, of copies for
//! sections with strides, as `MPI_SUBARRAYS_SUPPORTED` says.

mod mpif;
mod procedures;

use std::collections::BTreeSet;
use std::fmt::Write;

use self::mpif::Mpif;
use self::procedures::{Argument, HANDLES, Procedure, Shape, WITHOUT_INTERFACE};
use crate::calls;
use crate::llvm::Llvm;

/// The texts that decide what is made.
pub(crate) const MADE_BY: &str = concat!(
    include_str!("mod.rs"),
    include_str!("mpif.rs"),
    include_str!("procedures.rs"),
    include_str!("callbacks.f90")
);

/// What the modules are made from.
pub(crate) struct Library<'a> {
    /// `mpi.h` as a compiler sees it, without directives.
    pub header: &'a str,
    /// `mpif.h` with the text of what it includes.
    pub mpif: &'a str,
    /// The functions of its shared libraries; none if it has no shared ones.
    pub symbols: &'a BTreeSet<String>,
    /// Of the flang that the modules are for.
    pub llvm: Llvm,
}

impl Library<'_> {
    fn has(&self, symbol: &str) -> bool {
        self.symbols.is_empty() || self.symbols.contains(symbol)
    }
}

/// The texts to compile, of modules and of C.
pub(crate) struct Sources {
    /// The modules `mpi`, `mpi_f08` and those that the latter needs.
    pub modules: String,
    /// C files, so that a program has nothing of a kind of function that it does not call: one
    /// for what calls nothing, one for calls that are harmless, and one for each kind of the others.
    pub calls: Vec<String>,
}

/// Names of symbols that stand in front of those of the library.
const OURS: &str = "overlap_";

/// The types that `MPI_Sizeof` takes, and their bytes.
const SIZES: [(&str, &str, u32); 13] = [
    ("character", "character(*)", 1),
    ("logical1", "logical(1)", 1),
    ("logical2", "logical(2)", 2),
    ("logical4", "logical(4)", 4),
    ("logical8", "logical(8)", 8),
    ("integer1", "integer(1)", 1),
    ("integer2", "integer(2)", 2),
    ("integer4", "integer(4)", 4),
    ("integer8", "integer(8)", 8),
    ("real4", "real(4)", 4),
    ("real8", "real(8)", 8),
    ("complex4", "complex(4)", 8),
    ("complex8", "complex(8)", 16),
];

/// The texts for one library; none if its `mpif.h` has no status.
pub(crate) fn sources(library: &Library) -> Option<Sources> {
    let mpif = Mpif(library.mpif);
    let procedures: Vec<Procedure> = procedures::procedures(library.header)
        .into_iter()
        .filter(|procedure| library.has(&procedure.symbol()))
        .filter(|procedure| !mpif.has(&procedure.name))
        .collect();
    let modules = [
        mpi(library, &mpif, &procedures),
        "module overlap_mpif\n  implicit none\n  include 'mpif.h'\nend module\n".to_owned(),
        types(&mpif)?,
        interfaces(&procedures, library.llvm),
        mpi_f08(&procedures),
    ];
    Some(Sources { modules: modules.concat(), calls: calls(&mpif, &procedures) })
}

/// A statement whose list goes on in further lines.
fn statement(indent: &str, begin: &str, list: &[String], end: &str) -> String {
    let mut text = format!("{indent}{begin}");
    let mut width = text.len();
    for (idx, word) in list.iter().enumerate() {
        let comma = if idx + 1 < list.len() { ", " } else { "" };
        if width + word.len() > 90 {
            let _ = write!(text, "&\n{indent}    ");
            width = indent.len() + 4;
        }
        let _ = write!(text, "{word}{comma}");
        width += word.len() + comma.len();
    }
    text + end + "\n"
}

/// The interface of a procedure whose symbol has this name; `f08` for one of `mpi_f08`.
fn interface(name: &str, procedure: &Procedure, f08: bool, llvm: Llvm) -> String {
    let has_ierror = procedure.has_ierror();
    let mut names: Vec<String> =
        procedure.arguments.iter().map(|argument| argument.name.clone()).collect();
    names.extend(has_ierror.then(|| "ierror".to_owned()));
    let mut text = statement("    ", &format!("subroutine {name}("), &names, ")");
    text += "      import\n";
    for argument in &procedure.arguments {
        text += &declaration(argument, f08, llvm);
    }
    if has_ierror {
        let optional = if f08 { ", optional" } else { "" };
        let _ = writeln!(text, "      integer, intent(out){optional} :: ierror");
    }
    text + "    end subroutine\n"
}

fn declaration(argument: &Argument, f08: bool, llvm: Llvm) -> String {
    let name = &argument.name;
    let of = match &argument.shape {
        Shape::Choice => "type(*)".to_owned(),
        Shape::Integer => "integer".to_owned(),
        Shape::Logical => "logical".to_owned(),
        Shape::Kind(kind) => format!("integer({kind})"),
        Shape::Handle(handle) if f08 => format!("type(MPI_{handle})"),
        Shape::Status if f08 => "type(MPI_Status)".to_owned(),
        Shape::Handle(_) | Shape::Status => "integer".to_owned(),
        Shape::Text => "character(*)".to_owned(),
        Shape::Function => return format!("      external :: {name}\n"),
    };
    let is_choice = argument.shape == Shape::Choice;
    let is_array = argument.is_array || is_choice || (argument.shape == Shape::Status && !f08);
    let input = if argument.is_input { ", intent(in)" } else { "" };
    if !is_array {
        return format!("      {of}{input} :: {name}\n");
    }
    // Sentinels are scalars or arrays as it pleases the library, and arrays of one element scalars
    // in many programs. Elements of arrays with strides are taken as what they begin, and arrays
    // with strides copied: of each flang the only declaration that makes it do both.
    let ignored = if is_choice { "tkrdm" } else { "r" };
    let (array, strides) = match llvm {
        Llvm::V19 => ("(*)", "c"),
        Llvm::V22 => ("", ""),
    };
    format!(
        "      {of}{input} :: {name}{array}\n      !dir$ ignore_tkr({ignored}{strides}) {name}\n"
    )
}

/// The text of `module mpi`, with `mpif.h` in it.
fn mpi(library: &Library, mpif: &Mpif, procedures: &[Procedure]) -> String {
    let mut text = "module mpi\n  implicit none\n  include 'mpif.h'\n".to_owned();
    for name in WITHOUT_INTERFACE {
        if library.has(&procedures::symbol(name)) && !mpif.has(name) {
            let _ = writeln!(text, "  external :: MPI_{name}");
        }
    }
    text += "  interface\n";
    for procedure in procedures {
        text += &interface(&format!("MPI_{}", procedure.name), procedure, false, library.llvm);
    }
    text += "  end interface\n";
    text + "end module\n"
}

/// The names of `mpif.h` that are of another type in `mpi_f08`, without `MPI_`.
fn retyped(mpif: &Mpif) -> Vec<(String, &'static str)> {
    mpif.constants()
        .into_iter()
        .filter_map(|(name, _)| mpif::handle_of(&name).map(|handle| (name, handle)))
        .collect()
}

/// The module of types, constants and operators.
fn types(mpif: &Mpif) -> Option<String> {
    let handles = retyped(mpif);
    let old = |name: &str| format!("mpif_{}", name.to_ascii_lowercase());
    let mut hidden: Vec<String> = handles.iter().map(|pair| pair.0.clone()).collect();
    hidden.extend(["STATUS_IGNORE", "STATUSES_IGNORE", "SIZEOF"].map(str::to_owned));
    let renamed: Vec<String> =
        hidden.iter().map(|name| format!("{} => MPI_{name}", old(name))).collect();
    let mut text = "module mpi_f08_types\n".to_owned();
    text += &statement("  ", "use overlap_mpif, ", &renamed, "");
    text += "  implicit none\n";
    text += &statement(
        "  ",
        "private :: ",
        &hidden.iter().map(|name| old(name)).collect::<Vec<_>>(),
        "",
    );
    for handle in HANDLES {
        let _ =
            writeln!(text, "  type, bind(C) :: MPI_{handle}\n    integer :: MPI_VAL\n  end type");
    }
    text += &status(mpif)?;
    for (name, handle) in &handles {
        let _ = writeln!(
            text,
            "  type(MPI_{handle}), parameter :: MPI_{name} = MPI_{handle}({})",
            old(name)
        );
    }
    for (operator, word) in [("==", "equal"), ("/=", "differ")] {
        let _ = writeln!(text, "  interface operator({operator})");
        for handle in HANDLES {
            let name = format!("{OURS}mpi_{}_{word}", handle.to_ascii_lowercase());
            let _ = writeln!(
                text,
                "    pure logical function {name}(a, b)\n      import\n      type(MPI_{handle}), intent(in) :: a, b\n    end function"
            );
        }
        text += "  end interface\n";
    }
    text += include_str!("callbacks.f90");
    Some(text + "end module\n")
}

/// The type of a status, with its fields where the library has them, and the two that nobody reads.
fn status(mpif: &Mpif) -> Option<String> {
    let mut text = "  type, bind(C) :: MPI_Status\n".to_owned();
    for at in 1..=mpif.number("STATUS_SIZE")? {
        let field =
            ["SOURCE", "TAG", "ERROR"].into_iter().find(|field| mpif.number(field) == Some(at));
        match field {
            Some(field) => writeln!(text, "    integer :: MPI_{field}"),
            None => writeln!(text, "    integer, private :: field_{at}"),
        }
        .expect("a string takes all");
    }
    text += "  end type\n";
    for (name, array) in [("MPI_STATUS_IGNORE", ""), ("MPI_STATUSES_IGNORE", "(1)")] {
        let (common, members) = mpif.common_of(name)?;
        let mut list = Vec::new();
        let mut others = Vec::new();
        for member in members {
            if member == name {
                list.push(member);
            } else {
                // The others are integers.
                others.push(format!("beside_{}", member.to_ascii_lowercase()));
                list.push(others[others.len() - 1].clone());
            }
        }
        if !others.is_empty() {
            text += &statement("  ", "integer, private :: ", &others, "");
        }
        let _ = writeln!(text, "  type(MPI_Status) :: {name}{array}");
        text += &statement("  ", &format!("common /{common}/ "), &list, "");
    }
    Some(text)
}

/// The module of the interfaces under our names; as flang has them, no argument is a descriptor.
fn interfaces(procedures: &[Procedure], llvm: Llvm) -> String {
    let mut text =
        "module overlap_mpi_f08\n  use mpi_f08_types\n  implicit none\n  interface\n".to_owned();
    for procedure in procedures {
        text += &interface(&format!("{OURS}mpi_{}", procedure.name), procedure, true, llvm);
    }
    for (name, from, to) in [
        ("status_f2f08", "integer, intent(in) :: f_status(*)", "type(MPI_Status) :: f08_status"),
        ("status_f082f", "type(MPI_Status), intent(in) :: f08_status", "integer :: f_status(*)"),
    ] {
        let (first, second) = if name.ends_with("08") {
            ("f_status", "f08_status")
        } else {
            ("f08_status", "f_status")
        };
        let _ = writeln!(
            text,
            "    subroutine {OURS}mpi_{name}({first}, {second}, ierror)\n      import\n      {from}\n      {to}\n      integer, intent(out), optional :: ierror\n    end subroutine"
        );
    }
    text + "  end interface\nend module\n"
}

/// `module mpi_f08`: everything by its name.
fn mpi_f08(procedures: &[Procedure]) -> String {
    let mut text = "module mpi_f08\n  use mpi_f08_types\n".to_owned();
    let names = procedures.iter().map(|procedure| procedure.name.as_str());
    for name in names.chain(["Status_f2f08", "Status_f082f"]) {
        let _ = writeln!(text, "  use overlap_mpi_f08, only: MPI_{name} => {OURS}mpi_{name}");
    }
    text += "  implicit none\n";
    text += &sizeof(true);
    text + "end module\n"
}

/// The generic procedure of the bytes of a variable, in a form that is both fixed and free.
fn sizeof(f08: bool) -> String {
    let (module, optional) = if f08 { ("mpi", ", optional") } else { ("mpif", "") };
    let mut text = "      interface MPI_Sizeof\n".to_owned();
    for (name, of, _) in SIZES {
        let _ = writeln!(
            text,
            "      subroutine {OURS}{module}_sizeof_{name}(x, size, ierror)\n      {of} :: x(*)\n!dir$ ignore_tkr(r) x\n      integer, intent(out) :: size\n      integer, intent(out){optional} :: ierror\n      end subroutine"
        );
    }
    text + "      end interface\n"
}

/// `mpif.h` for flang, from a text without a procedure of the bytes of a variable.
pub(crate) fn header(mpif: &str) -> String {
    format!("{mpif}{}", sizeof(false))
}

/// What of `mpi_f08` is code, in C.
fn calls(mpif: &Mpif, procedures: &[Procedure]) -> Vec<String> {
    let of = |procedure: &Procedure| calls::hazard(&procedure.symbol());
    let kinds: BTreeSet<Option<&str>> = procedures.iter().map(of).collect();
    let of_kind = |kind: Option<&str>| {
        let texts: Vec<String> =
            procedures.iter().filter(|procedure| of(procedure) == kind).map(call).collect();
        format!("#include <stddef.h>\n{}", texts.concat())
    };
    std::iter::once(others(mpif)).chain(kinds.into_iter().map(of_kind)).collect()
}

/// The function that has an `ierror` where the caller has none. The lengths of texts come last.
fn call(procedure: &Procedure) -> String {
    let symbol = procedure.symbol();
    let numbered =
        |word: &str, count: usize| (0..count).map(|at| format!("{word}{at}")).collect::<Vec<_>>();
    let texts = procedure.arguments.iter().filter(|argument| argument.shape == Shape::Text).count();
    let (arguments, lengths) = (numbered("a", procedure.arguments.len()), numbered("n", texts));
    let list = |void: &str, error: &str, size: &str| {
        let mut all: Vec<String> =
            arguments.iter().map(|argument| format!("{void}{argument}")).collect();
        all.extend(procedure.has_ierror().then(|| error.to_owned()));
        all.extend(lengths.iter().map(|length| format!("{size}{length}")));
        all.join(", ")
    };
    let taken = list("void *", "int *error", "size_t ");
    let given = list("", "error ? error : &own", "");
    format!(
        "void {symbol}({taken});\nvoid {OURS}{symbol}({taken}) {{ int own = 0; (void)own; {symbol}({given}); }}\n"
    )
}

/// Comparisons of handles, sizes, and copies of statuses.
fn others(mpif: &Mpif) -> String {
    let mut text = "#include <string.h>\n".to_owned();
    for handle in HANDLES {
        for (word, operator) in [("equal", "=="), ("differ", "!=")] {
            let _ = writeln!(
                text,
                "int {OURS}mpi_{}_{word}_(const int *a, const int *b) {{ return *a {operator} *b; }}",
                handle.to_ascii_lowercase()
            );
        }
    }
    for (name, _, bytes) in SIZES {
        for module in ["mpi", "mpif"] {
            let _ = writeln!(
                text,
                "void {OURS}{module}_sizeof_{name}_(void *x, int *size, int *error) {{ (void)x; *size = {bytes}; if (error) *error = 0; }}"
            );
        }
    }
    let size = mpif.number("STATUS_SIZE").unwrap_or(0);
    for name in ["status_f2f08", "status_f082f"] {
        let _ = writeln!(
            text,
            "void {OURS}mpi_{name}_(const int *from, int *to, int *error) {{ memcpy(to, from, {size} * sizeof *to); if (error) *error = 0; }}"
        );
    }
    text
}
