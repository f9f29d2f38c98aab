//! One halo exchange and one stencil in many spellings, `tests/spellings`. All print what they print
//! without the plugin; which of them compute while messages are under way is a table of
//! docs/explain/overlap.md, which `UPDATE_EXPECT=1 cargo test` writes.

use crate::support;

use std::path::Path;
use std::sync::Mutex;

use overlap::Settings;
use overlap::remarks::{self, Row};

/// How the table names it, what is compiled, and how besides `-O2`.
type Spelling = (&'static str, &'static [&'static str], &'static [&'static str]);

const WHOLE: &[&str] = &["-flto", "-fuse-ld=lld"];

const SPELLINGS: [Spelling; 33] = [
    ("requests in the scope of the loop", &["scope.c"], &[]),
    ("requests of the whole function", &["outside.c"], &[]),
    ("requests in a block", &["block.c"], &[]),
    ("requests and statuses in a block", &["statuses.c"], &[]),
    ("functions that the compiler inlines", &["inline.c"], &[]),
    ("functions of their own", &["function.c"], &[]),
    ("the exchange a function", &["exchange-function.c"], &[]),
    ("the stencil a function", &["stencil-function.c"], &[]),
    ("functions in a header", &["header.c"], &[]),
    ("two files", &["two-files.c", "two-files-exchange.c"], &[]),
    ("two files, `-flto`", &["two-files.c", "two-files-exchange.c"], WHOLE),
    ("struct", &["struct.c"], &[]),
    ("array of structs", &["array-of-structs.c"], &[]),
    ("wrappers of MPI's functions", &["wrappers.c"], &[]),
    ("start and end in two functions", &["begin-and-end.c"], &[]),
    ("requests in a global variable", &["global.c"], &[]),
    ("requests in a global variable, `-flto`", &["global.c"], WHOLE),
    ("requests in a struct on the heap", &["struct-pointer.c"], &[]),
    ("requests that a variable counts", &["counted.c"], &[]),
    ("MPI_Wait for each", &["wait-each.c"], &[]),
    ("MPI_Wait in a loop", &["wait-loop.c"], &[]),
    ("MPI_Waitany with unpacking", &["waitany.c"], &[]),
    ("MPI_Sendrecv", &["sendrecv.c"], &[]),
    ("MPI_Sendrecv in a function", &["sendrecv-function.c"], &[]),
    ("MPI_Send and MPI_Recv", &["send-and-recv.c"], &[]),
    ("MPI_Irecv and MPI_Send", &["irecv-and-send.c"], &[]),
    ("C++ class", &["class.cpp"], &[]),
    ("C++ object on the heap", &["heap-class.cpp"], &[]),
    ("std::vector", &["vector.cpp"], &[]),
    ("std::vector of an object", &["vector-member.cpp"], &[]),
    ("Fortran subroutine", &["subroutine.f90"], &[]),
    ("Fortran module", &["module.f90"], &[]),
    ("requests of a Fortran module", &["module-requests.f90"], &[]),
];

/// The stencil has some millions of weighted instructions, and nothing else has thousands.
const STENCIL: u64 = 1_000_000;

/// What became of the exchange: the stencil is in its window, or why not. Of two files only the
/// program knows.
fn outcome(rows: &[Row], program: &Path) -> String {
    let symbols = support::symbols(program);
    let has = |part: &str| symbols.iter().any(|symbol| symbol.contains(part));
    let is_across = has("__overlap_leaves_1.exchange") && has("__overlap_takes_1.stencil");
    if is_across || rows.iter().any(|row| row.converted && row.window_weight >= STENCIL) {
        return "yes".to_owned();
    }
    let why = rows.iter().filter(|row| row.call != "MPI_Reduce").find_map(|row| row.reason.clone());
    format!("no: `{}`", why.expect("a call that is not converted has a reason"))
}

/// All remarks below `folder`.
fn rows(folder: &Path) -> Vec<Row> {
    let files = remarks::files(folder).expect("remarks were written");
    let texts = files.iter().map(|file| std::fs::read_to_string(file).expect("readable"));
    texts.flat_map(|text| remarks::parse(&text).expect("remarks")).collect()
}

/// The row of the table; the program has printed what it prints without the plugin.
fn row(mpi: overlap::Mpi, (title, files, flags): Spelling) -> String {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (path, plain) = (folder.path().join("with"), folder.path().join("alone"));
    let sources = support::root().join("systems/overlap/tests/spellings");
    let sources: Vec<String> =
        files.iter().map(|file| sources.join(file).display().to_string()).collect();
    let language = support::language(files[0]);
    let words = |output: &Path| -> Vec<String> {
        let fixed = ["-O2", "-o", output.to_str().expect("text")].map(str::to_owned);
        fixed.into_iter().chain(sources.clone()).collect()
    };
    let (ours, theirs) = (words(&path), words(&plain));
    let ours: Vec<&str> = ours.iter().map(String::as_str).chain(flags.iter().copied()).collect();
    support::compile_with(mpi, language, &Settings::default(), &ours);
    let theirs: Vec<&str> = theirs.iter().map(String::as_str).collect();
    support::compile_plain(mpi, language, &theirs);
    let printed = support::output(mpi, 2, &plain, &[]);
    assert!(!printed.is_empty(), "{title} prints something");
    assert_eq!(support::output(mpi, 2, &path, &[]), printed, "{title}, {}", mpi.name());
    format!("| {title} | `{}` | {} |", files[0], outcome(&rows(folder.path()), &path))
}

#[test]
fn spellings_print_the_same_and_the_table_says_which_overlap() {
    let found = Mutex::new(Vec::new());
    support::each(support::in_turn("spellings", SPELLINGS.iter().enumerate()), |case| {
        let (mpi, (n, spelling)) = case;
        let row = row(mpi, *spelling);
        found.lock().expect("no test of a spelling failed").push((n, row));
    });
    let mut found = found.into_inner().expect("no test of a spelling failed");
    found.sort();
    found.dedup();
    if found.is_empty() {
        return;
    }
    let lines: Vec<&str> = found.iter().map(|(_, line)| line.as_str()).collect();
    let table = lines.join("\n");
    let page = support::root().join("docs/explain/overlap.md");
    let text = std::fs::read_to_string(&page).expect("the page is there");
    let head = "| spelling | file of `systems/overlap/tests/spellings` | the stencil overlaps |\n\
                |---|---|---|\n";
    let from = text.find(head).expect("the page has the table") + head.len();
    let to = text[from..].find("\n\n").expect("the table ends") + from;
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let new = [&text[..from], &table, &text[to..]].concat();
        std::fs::write(&page, new).expect("the page can be written");
    } else {
        assert_eq!(&text[from..to], table, "UPDATE_EXPECT=1 writes the table");
    }
}

#[test]
fn every_spelling_of_the_folder_is_in_the_table() {
    let folder = support::root().join("systems/overlap/tests/spellings");
    for entry in folder.read_dir().expect("the folder is there") {
        let name = entry.expect("readable").file_name().into_string().expect("text");
        let named = SPELLINGS.iter().any(|spelling| spelling.1.contains(&name.as_str()));
        assert!(named || name.ends_with(".h"), "{name} is in no row");
    }
}
