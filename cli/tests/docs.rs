//! The console blocks of README and the guide, run: what they print is what a reader gets.

use crate::support::compilers;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use compilers::{compiles_as_the_pages, skipped};
use regwin::library::GCC as SPARC_GCC;

/// Commands whose output is that of one machine or one day, by their beginnings.
const OTHERS: &[(&str, &str)] = &[
    ("meanwhile cipher speed", "measured"),
    ("meanwhile cipher tune", "measured"),
    ("meanwhile doctor", "what one machine has"),
    ("meanwhile-lab", "the tests of the laboratory run it"),
    (
        "meanwhile overlap install",
        "the reader's own program; the wrappers have a test of their own",
    ),
];

/// Files that a page takes from the first block of another page.
const TAKEN: &[(&str, &str, &str)] = &[("docs/guide/cipher.md", "mix.ua", "docs/format/usuba.md")];

/// A command of a page, the line it is on, and what it prints according to the page.
struct Step {
    line: usize,
    command: String,
    printed: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace")
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// The blocks of a page: the line each begins on, and its lines.
fn blocks(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut found: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut is_inside = false;
    for (idx, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_inside = !is_inside;
            if is_inside {
                found.push((idx + 2, Vec::new()));
            }
        } else if is_inside {
            found.last_mut().expect("a block was opened").1.push(line);
        }
    }
    assert!(!is_inside, "a block is never closed");
    found
}

/// The commands of the blocks that begin with one.
fn steps(text: &str) -> Vec<Vec<Step>> {
    let consoles = blocks(text)
        .into_iter()
        .filter(|(_, lines)| lines.first().is_some_and(|line| line.starts_with("$ ")));
    consoles
        .map(|(first, lines)| {
            let mut steps: Vec<Step> = Vec::new();
            for (idx, line) in lines.into_iter().enumerate() {
                match line.strip_prefix("$ ") {
                    Some(command) => steps.push(Step {
                        line: first + idx,
                        command: command.to_owned(),
                        printed: Vec::new(),
                    }),
                    None => steps
                        .last_mut()
                        .expect("a command comes first")
                        .printed
                        .push(line.trim_end().to_owned()),
                }
            }
            steps
        })
        .collect()
}

/// True if `got` is `said`, in which a line `...` stands for any lines.
fn agree(said: &[String], got: &[String]) -> bool {
    match said.split_first() {
        None => got.is_empty(),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=got.len()).any(|idx| agree(rest, &got[idx..]))
        }
        Some((first, rest)) => {
            got.split_first().is_some_and(|(line, more)| line == first && agree(rest, more))
        }
    }
}

/// What a command prints to both streams, in this order.
fn print(command: &str, folder: &Path) -> Vec<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_meanwhile"));
    // `make test` keeps what compilers made, but for those with a plugin.
    let is_kept =
        std::env::var_os("CCACHE_DIR").is_some() && !command.contains("meanwhile overlap");
    let compilers = if is_kept { "/usr/lib/ccache:" } else { "" };
    // The system's Python comes first: it has the Debian packages that setup installs.
    let (own, all) =
        (binary.parent().expect("a folder").display(), std::env::var("PATH").expect("a PATH"));
    let path = format!("{own}:{compilers}/usr/bin:{all}");
    let command = command.replace("target/release/meanwhile", "meanwhile");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec 2>&1; {command}")])
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .current_dir(folder);
    // What a reader's cargo and pip fetch is here already.
    shell
        .env("CARGO_NET_OFFLINE", "true")
        .env("PIP_NO_INDEX", "1")
        .env("PIP_NO_BUILD_ISOLATION", "false");
    let ran = shell.output().expect("sh runs");
    let text = String::from_utf8(ran.stdout).expect("text");
    text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Runs a page from its first command to its last, and gives back how many were compared.
fn follow(page: &str) -> usize {
    // The plugin says that it is being built, once.
    static BUILT: std::sync::Once = std::sync::Once::new();
    if read(page).contains("meanwhile overlap cc") {
        BUILT.call_once(|| {
            drop(Command::new(env!("CARGO_BIN_EXE_meanwhile")).args(["overlap", "plugin"]).output())
        });
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (_, name, source) in TAKEN.iter().filter(|pair| pair.0 == page) {
        let text = read(source);
        let (_, lines) = blocks(&text).swap_remove(0);
        std::fs::write(folder.path().join(name), lines.join("\n")).expect("a scratch file");
    }
    // README's commands are those of a reader in the checkout.
    std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples"))
        .expect("a scratch folder");
    let mut n_compared = 0;
    let mut wrong = String::new();
    for block in steps(&read(page)) {
        // What follows an example of another machine in its block is part of that example.
        let own = block
            .iter()
            .take_while(|step| !OTHERS.iter().any(|pair| step.command.starts_with(pair.0)));
        for step in own {
            if let Some(name) = step.command.strip_prefix("cat ") {
                std::fs::write(folder.path().join(name), step.printed.join("\n") + "\n")
                    .expect("a scratch file");
                continue;
            }
            let runs_it = ["cipher test", "./use"].iter().any(|word| step.command.contains(word));
            if step.command.contains("avx2") && runs_it && !has_avx2() {
                skipped(&format!("docs: {page}:{}: no AVX2", step.line));
                continue;
            }
            n_compared += 1;
            if step.command.contains("regwin scenario")
                && !compiles_as_the_pages(SPARC_GCC, &format!("docs: {page}:{}", step.line))
            {
                continue;
            }
            let got = print(&step.command, folder.path());
            if !agree(&step.printed, &got) {
                let _ = writeln!(
                    wrong,
                    "{page}:{}: `{}` prints\n{}\n",
                    step.line,
                    step.command,
                    got.join("\n")
                );
            }
        }
    }
    assert!(wrong.is_empty(), "not what the page says\n{wrong}");
    n_compared
}

fn has_avx2() -> bool {
    std::fs::read_to_string("/proc/cpuinfo")
        .is_ok_and(|text| text.split_whitespace().any(|word| word == "avx2"))
}

#[test]
fn readme_prints_what_it_says() {
    assert_eq!(follow("README.md"), 6);
}

/// Those of the other systems need more than this test has, and show no output that could be wrong.
#[test]
fn the_pages_of_the_systems_print_what_they_say() {
    assert_eq!(follow("systems/audit/README.md"), 1);
    assert_eq!(follow("systems/cipher/README.md"), 2);
    for system in ["regwin", "overlap", "cosched"] {
        let blocks = steps(&read(&format!("systems/{system}/README.md")));
        assert!(
            !blocks.is_empty() && blocks.iter().flatten().all(|step| step.printed.is_empty()),
            "{system}"
        );
    }
}

#[test]
fn the_guide_to_cipher_prints_what_it_says() {
    assert!(follow("docs/guide/cipher.md") >= 8);
}

#[test]
fn a_stranger_packages_a_cipher_in_one_page() {
    assert_eq!(follow("docs/tutorial/cipher.md"), 6);
}

#[test]
fn the_guide_to_masked_code_prints_what_it_says() {
    assert_eq!(follow("docs/guide/masked.md"), 3);
}

#[test]
fn the_tutorials_print_what_they_say() {
    assert_eq!(follow("docs/tutorial/audit.md"), 5);
    assert_eq!(follow("docs/tutorial/regwin.md"), 5);
    assert_eq!(follow("docs/tutorial/overlap.md"), 4);
}

#[test]
fn the_guide_to_regwin_prints_what_it_says() {
    assert_eq!(follow("docs/guide/regwin.md"), 2);
}

/// All pages but the changelog and those of the systems' folders.
fn all_pages() -> Vec<String> {
    let mut pages = ["README.md", "CONTRIBUTING.md", "docs/README.md", "docs/evidence.md"]
        .map(str::to_owned)
        .to_vec();
    for folder in ["docs/guide", "docs/tutorial", "docs/explain", "docs/format", "docs/reference"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of pages");
        pages.extend(entries.map(|entry| {
            format!("{folder}/{}", entry.expect("an entry").file_name().to_string_lossy())
        }));
    }
    pages
}

#[test]
fn no_other_page_has_commands_that_nobody_runs() {
    let followed = [
        "README.md",
        "docs/guide/cipher.md",
        "docs/guide/masked.md",
        "docs/tutorial/cipher.md",
        "docs/guide/regwin.md",
        "docs/tutorial/audit.md",
        "docs/tutorial/overlap.md",
        "docs/tutorial/regwin.md",
    ];
    for page in all_pages().iter().filter(|page| !followed.contains(&page.as_str())) {
        for block in steps(&read(page)) {
            let first = &block[0];
            let is_other = OTHERS.iter().any(|other| first.command.starts_with(other.0));
            assert!(is_other, "{page}:{}: `{}` is run by no test here", first.line, first.command);
        }
    }
}

#[test]
fn the_bundled_primitives_are_as_many_as_readme_says() {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cipher", "list", "--json"])
        .output()
        .expect("the binary runs");
    let list: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an object");
    let n_bundled = list["rows"].as_array().expect("rows").len();
    let text = read("README.md").replace('\n', " ");
    let (_, after) = text.split_once("ciphers and permutations, ").expect("README counts them");
    let said: usize = after.split(' ').next().and_then(|part| part.parse().ok()).expect("a number");
    assert_eq!(said, n_bundled);
}

/// The page of evidence names each file of results with its kind, machine, day and commands as they
/// stand in the file.
#[test]
fn every_evidence_file_is_on_its_page() {
    let page = read("docs/evidence.md");
    let mut n_files = 0;
    for folder in std::fs::read_dir(root().join("experiments")).expect("a folder").flatten() {
        for file in std::fs::read_dir(folder.path())
            .expect("a folder")
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json"))
        {
            let name = format!(
                "{}/{}",
                folder.file_name().to_string_lossy(),
                file.file_name().to_string_lossy()
            );
            let value: serde_json::Value =
                serde_json::from_slice(&std::fs::read(file.path()).expect("a file")).expect("JSON");
            let text = |at: &str| {
                value
                    .pointer(at)
                    .and_then(serde_json::Value::as_str)
                    .unwrap_or_else(|| panic!("{name} has no {at}"))
            };
            let line =
                page.lines().find(|line| line.contains(&format!("](../experiments/{name})")));
            let line = line.unwrap_or_else(|| panic!("docs/evidence.md does not name {name}"));
            // A command of before the laboratory was a program of its own: what does it now.
            let today = |command: &str| {
                let words = command.split(' ').skip(1).map(std::ffi::OsString::from);
                let moved =
                    meanwhile::moved::now(words).filter(|now| now.starts_with("meanwhile-lab"));
                moved.map_or_else(|| format!("`{command}`"), |now| format!("`{now} "))
            };
            let commands = text("/command").split(';').map(|part| today(part.trim()));
            for says in [text("/kind"), text("/machine/cpu"), text("/date")]
                .map(str::to_owned)
                .into_iter()
                .chain(commands)
            {
                assert!(line.contains(&says), "{name}: no `{says}` in {line}");
            }
            n_files += 1;
        }
    }
    assert_eq!(
        page.matches("](../experiments/").count(),
        n_files,
        "a file that is named and not there"
    );
}

/// The commands that a page names between back quotes: the system, what follows it, and where.
fn named(page: &str) -> Vec<(String, Vec<String>)> {
    const SYSTEMS: [&str; 5] = ["cipher", "audit", "regwin", "overlap", "cosched"];
    let text = read(page);
    let prose: String = text.split("```").step_by(2).collect();
    let spans = prose.split('`').skip(1).step_by(2);
    spans
        .filter_map(|span| {
            let words: Vec<&str> = span.split_whitespace().collect();
            let words = words.strip_prefix(&["meanwhile"]).unwrap_or(&words);
            let (system, rest) = words.split_first()?;
            let is_word = |word: &&str| {
                word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
            };
            let is_command = SYSTEMS.contains(system)
                && rest.first().is_some_and(|first| !first.starts_with('-') && is_word(first));
            is_command
                .then(|| (span.to_owned(), words.iter().map(|word| (*word).to_owned()).collect()))
        })
        .collect()
}

/// What `--help` of these words prints; none if there is no such command.
fn help(words: &[String]) -> Option<String> {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile")).args(words).arg("--help").output();
    let ran = ran.expect("the binary runs");
    ran.status.success().then(|| String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn pages_name_commands_and_options_that_there_are() {
    let mut wrong = Vec::new();
    let mut pages = all_pages();
    pages.push("CHANGELOG.md".to_owned());
    pages.extend(
        ["audit", "cipher", "cosched", "overlap", "regwin"]
            .map(|it| format!("systems/{it}/README.md")),
    );
    let mut texts = std::collections::BTreeMap::new();
    for page in &pages {
        for (span, words) in named(page) {
            let command = words[..2].to_vec();
            let text = texts.entry(command.clone()).or_insert_with(|| help(&command));
            let Some(text) = text else {
                wrong.push(format!("{page}: there is no `{span}`"));
                continue;
            };
            let own = words[2..].iter().take_while(|word| *word != "--");
            let options =
                own.filter_map(|word| word.split('=').next().filter(|name| name.starts_with("--")));
            wrong.extend(
                options
                    .map(|option| {
                        option.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric())
                    })
                    .filter(|option| !text.contains(*option))
                    .map(|option| format!("{page}: `{span}` has no {option}")),
            );
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_wrong_number_in_a_page_would_be_found() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    assert!(agree(&lines("a 1\n...\nc"), &lines("a 1\nb\nb\nc")));
    assert!(agree(&lines("..."), &[]));
    assert!(!agree(&lines("a 1\n...\nc"), &lines("a 2\nb\nc")));
    assert!(!agree(&lines("a 1\n..."), &lines("b\na 1")));
    assert!(!agree(&lines("a"), &lines("a\nb")));
}
