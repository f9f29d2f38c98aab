//! The house rules that a machine can check: who imports whom, first lines, doors, sizes, words.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders that hold what was built, measured or cached, by name anywhere or by path.
const NOT_SOURCE: &[&str] =
    &["target", ".git", ".cache", "report", "fuzz/corpus", "fuzz/artifacts", "fuzz/target"];

/// Files are split at so many lines, tests aside.
const LINES_MAX: usize = 800;
/// Files that are longer, which is too long, mostly since lines have 100 columns. As for the
/// functions below the list only becomes shorter.
const LONG_FILES: &[(&str, usize)] = &[
    ("systems/audit/src/decode/a64/vector.rs", 984),
    ("systems/audit/src/decode/riscv/mod.rs", 805),
    ("systems/cipher/src/syntax/parser.rs", 843),
];

/// The same for C and C++, and for their functions.
const C_LINES_MAX: usize = 650;
const C_FUNCTION_MAX: usize = 80;
/// Functions that are longer, which is too long. A row that permits more than is there, or that
/// nothing needs, is a fault: the list only becomes shorter.
const LONG_C_FUNCTIONS: &[(&str, &str, usize)] = &[];

/// What only a door may do; tests and examples aside.
const DOOR_WORK: &[&str] = &[
    "unsafe {",
    "unsafe fn",
    "allow(unsafe_code)",
    "Command::new",
    "process::exit",
    "Instant::now",
    "SystemTime::now",
    "_rdtsc",
    "fs::write",
    "fs::create_dir",
    "fs::remove_",
    "fs::rename",
    "fs::copy",
    "File::create",
    "OpenOptions",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("cli lies in the root folder").to_owned()
}

/// All text files of the project as (path from the root, text).
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root(), "", &mut found);
    found.sort();
    assert!(
        found.iter().any(|(path, _)| path == "cli/tests/tidy.rs"),
        "the walk misses this very file"
    );
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of the project is readable") {
        let entry = entry.expect("a folder of the project is readable");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("a file has a type");
        if kind.is_dir() {
            // `report` is the output folder at the root, and a crate in `base`.
            let skipped =
                NOT_SOURCE.contains(&path.as_str()) || ["target", ".git"].contains(&name.as_str());
            if !skipped {
                collect(&entry.path(), &format!("{path}/"), found);
            }
        } else if kind.is_file() && name != ".git" {
            // In a second work tree `.git` is a file. What is not UTF-8 is a test input or an
            // image, not a text of ours.
            if let Ok(text) = fs::read_to_string(entry.path()) {
                found.push((path, text));
            }
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn rust_sources() -> Vec<(String, String)> {
    sources().into_iter().filter(|(path, _)| path.ends_with(".rs")).collect()
}

/// The part of a Rust file that ships: all before its tests.
fn shipped(text: &str) -> &str {
    let ends = [
        "#[cfg(test)]\nmod tests",
        "#[cfg(test)]\npub mod tests",
        "#[cfg(all(test, unix))]\nmod tests",
    ];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    &text[..end.unwrap_or(text.len())]
}

fn is_test_or_example(path: &str) -> bool {
    path.split('/').any(|part| ["tests", "examples", "benches"].contains(&part))
        || path.ends_with("/tests.rs")
}

fn assert_none(what: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{what}:\n  {}", faults.join("\n  "));
}

/// The table in ARCHITECTURE.md, as importer to imported.
fn import_table() -> BTreeMap<String, BTreeSet<String>> {
    let text = read("ARCHITECTURE.md");
    let rows: Vec<Vec<String>> = text
        .lines()
        .skip_while(|line| !line.starts_with("| crate"))
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect();
    assert!(rows.len() > 2, "ARCHITECTURE.md has no import table");
    let importers = rows.iter().skip(2);
    importers
        .map(|row| {
            let marked = row.iter().zip(&rows[0]).skip(1).filter(|(mark, _)| *mark == "x");
            (row[0].clone(), marked.map(|(_, name)| name.clone()).collect())
        })
        .collect()
}

#[test]
fn crates_import_what_the_table_says() {
    let workspace: toml::Table = read("Cargo.toml").parse().expect("Cargo.toml is TOML");
    let members =
        workspace["workspace"]["members"].as_array().expect("the workspace has members").clone();
    let manifests: Vec<toml::Table> = members
        .iter()
        .map(|member| {
            let path = format!("{}/Cargo.toml", member.as_str().expect("a member is a path"));
            read(&path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
        })
        .collect();
    // The table has the names that sources write: the packages of crates.io have longer ones.
    let name_of = |manifest: &toml::Table| {
        let library = manifest.get("lib").and_then(|library| library.get("name"));
        let name = library.unwrap_or(&manifest["package"]["name"]);
        name.as_str().expect("a package has a name").to_owned()
    };
    let ours: BTreeSet<String> = manifests.iter().map(name_of).collect();
    let imports: BTreeMap<String, BTreeSet<String>> = manifests
        .iter()
        .map(|manifest| {
            let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
            let names = dependencies.into_iter().flat_map(|dependency| dependency.keys());
            (name_of(manifest), names.filter(|name| ours.contains(*name)).cloned().collect())
        })
        .collect();
    assert_eq!(
        imports,
        import_table(),
        "left: the Cargo files; right: the table in ARCHITECTURE.md"
    );
}

#[test]
fn every_dependency_is_used() {
    let workspace: toml::Table = read("Cargo.toml").parse().expect("Cargo.toml is TOML");
    let members =
        workspace["workspace"]["members"].as_array().expect("the workspace has members").clone();
    let sources = rust_sources();
    let mut faults = Vec::new();
    for member in members.iter().map(|member| member.as_str().expect("a member is a path")) {
        let manifest: toml::Table =
            read(&format!("{member}/Cargo.toml")).parse().expect("a manifest is TOML");
        // What only tests use is a dependency of the tests.
        for (section, folders) in [
            ("dependencies", &["src/", "build.rs"][..]),
            ("dev-dependencies", &["src/", "tests/", "benches/"]),
        ] {
            let Some(names) = manifest.get(section).and_then(toml::Value::as_table) else {
                continue;
            };
            for name in names.keys() {
                let word = name.replace('-', "_") + "::";
                let is_used = sources.iter().any(|(path, text)| {
                    let of_crate =
                        path.strip_prefix(member).and_then(|rest| rest.strip_prefix('/'));
                    of_crate
                        .is_some_and(|text| folders.iter().any(|folder| text.starts_with(folder)))
                        && contains_word(text, &word)
                });
                if !is_used {
                    faults.push(format!("{member}: {name}"));
                }
            }
        }
    }
    assert_none("a dependency that nothing uses", &faults);
}

#[test]
fn every_dependency_has_its_reason() {
    let text = read("Cargo.toml");
    let theirs = text.lines().skip_while(|line| !line.starts_with("# Other people's")).skip(1);
    let faults: Vec<String> = theirs
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| !line.contains(" # "))
        .map(str::to_owned)
        .collect();
    assert_none("no reason beside the dependency", &faults);
}

#[test]
fn every_file_of_tests_is_in_the_program_of_its_crate() {
    let sources = rust_sources();
    let mut n_files = 0;
    let mut faults = Vec::new();
    for (root, program) in sources.iter().filter(|(path, _)| path.ends_with("/tests/main.rs")) {
        let folder = root.trim_end_matches("main.rs");
        let files = sources.iter().filter_map(|(path, _)| path.strip_prefix(folder));
        let modules = files.filter_map(|name| {
            let name = name.strip_suffix("/mod.rs").or_else(|| name.strip_suffix(".rs"))?;
            (name != "main" && !name.contains('/')).then_some(name)
        });
        for name in modules {
            n_files += 1;
            if !program.contains(&format!("\nmod {name};")) {
                faults.push(format!("{folder}{name}"));
            }
        }
    }
    assert!(n_files > 150, "the walk misses files of tests: {n_files}");
    assert_none("no `mod` in the main.rs beside it names it: it never runs", &faults);
}

#[test]
fn every_file_says_what_it_is_for() {
    let faults: Vec<String> = rust_sources()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(path, _)| path)
        .collect();
    assert_none("does not start with a `//!` sentence", &faults);
}

#[test]
fn doors_are_named() {
    let mut faults = Vec::new();
    for (path, text) in rust_sources() {
        if is_test_or_example(&path) || text.starts_with("//! Door:") {
            continue;
        }
        let code: String = shipped(&text)
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
        let found: Vec<&str> =
            DOOR_WORK.iter().copied().filter(|work| code.contains(work)).collect();
        if !found.is_empty() {
            faults.push(format!("{path}: {}", found.join(", ")));
        }
    }
    assert_none("touches the outside, but its first line does not begin with `//! Door:`", &faults);
}

#[test]
fn files_are_not_too_long() {
    let long: Vec<(String, usize)> = rust_sources()
        .into_iter()
        .filter(|(path, _)| !is_test_or_example(path))
        .map(|(path, text)| (path, shipped(&text).lines().count()))
        .filter(|(_, n_lines)| *n_lines > LINES_MAX)
        .collect();
    let found: Vec<(&str, usize)> =
        long.iter().map(|(path, n_lines)| (path.as_str(), *n_lines)).collect();
    // One that grows is split, and one that has become shorter makes its row so.
    assert_eq!(found, LONG_FILES, "left: what is there; right: what the list permits");
}

/// The plugin and the C around it.
fn c_sources() -> Vec<(String, String)> {
    let is_c = |path: &str| [".cpp", ".c", ".h"].iter().any(|end| path.ends_with(end));
    let found: Vec<_> = sources()
        .into_iter()
        .filter(|(path, _)| {
            ["systems/overlap/p", "systems/cosched/slurm/"]
                .iter()
                .any(|word| path.starts_with(word))
                && is_c(path)
        })
        .collect();
    assert!(found.len() > 60, "the walk misses the plugin");
    found
}

#[test]
fn c_files_and_functions_are_not_too_long() {
    let mut faults = Vec::new();
    let mut functions = Vec::new();
    for (path, text) in c_sources() {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > C_LINES_MAX {
            faults.push(format!("{path}: {} lines", lines.len()));
        }
        functions.extend(
            c_functions(&lines)
                .into_iter()
                .map(|(first, n_lines)| (path.clone(), lines[first].to_owned(), n_lines)),
        );
    }
    faults.extend(too_long(&functions, LONG_C_FUNCTIONS));
    assert_none("split it, or shorten the list", &faults);
}

/// Functions, as (file, first line, lines), that are longer than allowed, and rows of `permitted`
/// that allow more than is needed.
fn too_long(
    functions: &[(String, String, usize)],
    permitted: &[(&str, &str, usize)],
) -> Vec<String> {
    let is_of = |row: &(&str, &str, usize), path: &str, head: &str| {
        path.ends_with(row.0) && head.contains(row.1)
    };
    let mut faults = Vec::new();
    for (path, head, n_lines) in functions {
        let limit =
            permitted.iter().find(|row| is_of(row, path, head)).map_or(C_FUNCTION_MAX, |row| row.2);
        if *n_lines > limit {
            faults.push(format!("{path}: {head} {n_lines} lines"));
        }
    }
    for row in permitted {
        let longest = functions
            .iter()
            .filter(|(path, head, _)| is_of(row, path, head))
            .map(|function| function.2)
            .max()
            .unwrap_or(0);
        if longest < row.2 || longest <= C_FUNCTION_MAX {
            faults.push(format!(
                "the list permits {} lines for {} of {}, which has {longest}",
                row.2, row.1, row.0
            ));
        }
    }
    faults
}

#[test]
fn a_row_of_the_list_that_nothing_needs_is_a_fault() {
    let function =
        |n_lines| [("a/Border.cpp".to_owned(), "void Splitter::split(".to_owned(), n_lines)];
    let row = [("Border.cpp", "::split(", 100)];
    assert_eq!(too_long(&function(100), &row), Vec::<String>::new());
    for (n_lines, permitted, fault) in [
        (101, &row[..], "101 lines"),
        (99, &row, "which has 99"),
        (27, &row, "which has 27"),
        (81, &[], "81 lines"),
    ] {
        let found = too_long(&function(n_lines), permitted);
        assert!(found.len() == 1 && found[0].contains(fault), "{n_lines}: {found:?}");
    }
    let shorter = [("Border.cpp", "::split(", 70)];
    assert!(
        too_long(&function(70), &shorter)[0].contains("which has 70"),
        "no row below what every function may have"
    );
    assert!(too_long(&[], &row)[0].contains("which has 0"), "a function that is gone");
}

#[test]
fn the_plugin_is_formatted() {
    let files: Vec<String> = c_sources()
        .into_iter()
        .map(|c_source| c_source.0)
        .filter(|text| text.starts_with("systems/overlap/plugin/") && !text.contains("/runtime/"))
        .collect();
    let ran = Command::new("clang-format-19")
        .current_dir(root())
        .args(["--dry-run", "-Werror"])
        .args(&files)
        .output();
    match ran {
        Ok(ran) => assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr)),
        // Named at the end of `make test`.
        Err(_) => testkit::skipped("tidy: clang-format-19 is missing"),
    }
}

/// The functions of a file as (index of the first line, lines): what begins and ends
/// in the first column.
fn c_functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = None;
    for (idx, line) in lines.iter().enumerate() {
        let begins = |word: &&str| line.starts_with(word);
        let is_other =
            ["namespace", "struct", "class", "enum", "union", "#", "//"].iter().any(begins);
        let at_left = line.starts_with(|letter: char| letter.is_ascii_alphabetic());
        if at_left && line.ends_with('{') && !is_other {
            open = Some(idx);
        } else if *line == "{" {
            open = idx.checked_sub(1);
        } else if *line == "}" {
            found.extend(open.take().map(|first| (first, idx - first + 1)));
        }
    }
    found
}

#[test]
fn words_we_do_not_leave_behind() {
    // Written in two parts, so that this file does not contain them.
    let banned = [
        ["TO", "DO"],
        ["FIX", "ME"],
        ["XX", "X"],
        ["dbg", "!("],
        ["todo", "!("],
        ["unimplemented", "!("],
        ["/ho", "me/"],
        ["/wo", "rk/"],
        ["/ro", "ot/"],
        ["/Us", "ers/"],
    ]
    .map(|it| it.concat());
    let mut faults = Vec::new();
    for (path, text) in sources() {
        if path == "Cargo.lock" {
            continue;
        }
        for (idx, line) in text.lines().enumerate() {
            for word in banned.iter().filter(|word| contains_word(line, word)) {
                faults.push(format!("{path}:{}: {word}", idx + 1));
            }
        }
    }
    assert_none("does not belong in the tree", &faults);
}

/// A test writes into a folder that it made: a fixed one is missing on the next machine.
#[test]
fn tests_name_no_fixed_folder() {
    let fixed = ["\"/t", "mp/"].concat();
    let faults: Vec<String> = sources()
        .iter()
        .filter(|(path, _)| path.contains("/tests/") && path.ends_with(".rs"))
        .flat_map(|(path, text)| {
            let lines = text.lines().enumerate().filter(|(_, line)| line.contains(&fixed));
            lines.map(move |(idx, _)| format!("{path}:{}", idx + 1))
        })
        .collect();
    assert_none("names a fixed folder", &faults);
}

/// True if `line` contains `word` that is not part of a longer word.
fn contains_word(line: &str, word: &str) -> bool {
    let is_letter = |option: Option<char>| {
        option.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let starts_as_word = is_letter(word.chars().next());
    let ends_as_word = is_letter(word.chars().next_back());
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !(starts_as_word && is_letter(before) || ends_as_word && is_letter(after))
    })
}

#[test]
fn the_style_page_fits_in_a_head() {
    let n_lines = read("STYLE.md").lines().count();
    assert!(n_lines <= 150, "STYLE.md has {n_lines} lines");
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut faults = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| path.ends_with(".md")) {
        let folder = root().join(&path).parent().expect("a file has a folder").to_owned();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', '#']).next().unwrap_or("");
            let is_file = !target.is_empty() && !target.contains("://");
            if is_file && !folder.join(target).exists() {
                faults.push(format!("{path}: {target}"));
            }
        }
    }
    assert_none("a link to nothing", &faults);
}

/// What a page calls a file or a folder is one: from the root, or the end of a path; in a system's
/// page, of a path of that system.
#[test]
fn paths_in_pages_are_there() {
    let all: Vec<String> = sources().into_iter().map(|source| source.0).collect();
    let is_there = |base: &str, span: &str| {
        let span = span.trim_end_matches('/');
        let ends = |path: &str| path == span || path.ends_with(&format!("/{span}"));
        // Folders are the beginnings of the files in them.
        all.iter().any(|path| {
            let places =
                path.match_indices('/').map(|match_indice| match_indice.0).chain([path.len()]);
            places
                .into_iter()
                .any(|end| path.starts_with(base) && ends(&path[..end]) || &path[..end] == span)
        })
    };
    let mut n_paths = 0;
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let is_of_system = path.starts_with("systems/") && path.ends_with("/README.md");
        if !is_of_system
            && !["ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md"].contains(&path.as_str())
        {
            continue;
        }
        let base = if is_of_system { path.trim_end_matches("README.md") } else { "" };
        for span in text.split('`').skip(1).step_by(2).filter(|span| looks_like_a_path(span)) {
            n_paths += 1;
            if !is_there(base, span) {
                faults.push(format!("{path}: `{span}`"));
            }
        }
    }
    assert!(n_paths > 150, "{n_paths} paths in the pages");
    assert_none("a path to nothing", &faults);
}

/// True for what can only be the name of a file or folder: `a/b`, `a.rs`, `a/`; not for commands
/// and placeholders such as `NAME.rs`.
fn looks_like_a_path(span: &str) -> bool {
    const ENDINGS: [&str; 10] =
        [".rs", ".toml", ".md", ".c", ".h", ".cpp", ".def", ".sh", ".lua", ".S"];
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    let is_placeholder = span
        .split(['/', '.'])
        .any(|part| part.len() > 1 && part.chars().all(|letter| letter.is_ascii_uppercase()));
    let is_source =
        ENDINGS.iter().any(|ending| span.ends_with(ending) && span.len() > ending.len());
    span.chars().all(is_name)
        && (span.contains('/') || is_source)
        && !span.starts_with(['/', '.'])
        && (!is_placeholder || span.ends_with(".md"))
}

/// A page that the site's contents leave out is not made, and cannot be searched for.
#[test]
fn every_page_is_in_the_contents_of_the_site() {
    let contents = read("docs/SUMMARY.md");
    let is_listed = |page: &str| contents.contains(&format!("]({page})"));
    let pages = sources().into_iter().filter_map(|(path, _)| {
        path.strip_prefix("docs/").filter(|rest| rest.ends_with(".md")).map(str::to_owned)
    });
    let faults: Vec<String> =
        pages.filter(|page| page != "SUMMARY.md" && !is_listed(page)).collect();
    assert_none("not in docs/SUMMARY.md", &faults);
}

#[test]
fn doctor_and_setup_know_the_same_packages() {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["doctor", "--json"])
        .output()
        .expect("the binary runs");
    let answer: serde_json::Value =
        serde_json::from_slice(&ran.stdout).expect("doctor answers in JSON");
    let rows = answer["rows"].as_array().expect("doctor lists the tools");
    let setup = read("scripts/setup.sh");
    let list = |name: String| {
        let line = setup.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix("=\""));
        line.unwrap_or_default().trim_end_matches('"').split(' ')
    };
    let mut n_packages = 0;
    let mut faults = Vec::new();
    for row in rows {
        let (system, install) =
            (row["system"].as_str().expect("a name"), row["install"].as_str().expect("a command"));
        let Some(packages) = install.strip_prefix("sudo apt-get install ") else { continue };
        let lists = [
            format!("packages_{system}"),
            format!("optional_{system}"),
            "packages_shared".to_owned(),
        ];
        let known: Vec<&str> = lists.into_iter().flat_map(list).collect();
        n_packages += 1;
        faults.extend(
            packages
                .split(' ')
                .filter(|part| !known.contains(part))
                .map(|part| format!("{system}: {part}")),
        );
    }
    assert!(n_packages > 20, "doctor lists the packages");
    assert_none("doctor names a package that scripts/setup.sh does not install", &faults);
}
