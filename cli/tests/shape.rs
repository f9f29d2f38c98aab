//! The shape of the code that a machine can count: no circle of files within a crate, lines of 100
//! columns, parameters and types that say what they are. Each bound may only become lower.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Circles that are left, by crate and the number of files in them. A row that nothing
/// needs is a fault.
const CIRCLES: &[(&str, usize)] = &[];

/// Lines of more than 100 columns, in a thousand: strings of C that stay in one piece.
const WIDE_PER_MILLE_MAX: usize = 8;
/// Closures whose parameter is `it`.
const IT_MAX: usize = 300;
/// Doc comments of three words or fewer.
const SHORT_DOCS_MAX: usize = 60;
/// Type names that stand for several types of a crate.
const SHARED_NAMES_MAX: usize = 10;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("cli lies in the root folder").to_owned()
}

/// The files that ship, with these endings: path from the root and text without unit tests.
fn shipped(endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["base", "systems", "cli", "lab", "playground"]
        .iter()
        .map(|name| root().join(name))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the project is readable") {
            let path = entry.expect("a folder of the project is readable").path();
            let name =
                path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
            if path.is_dir() {
                if !["tests", "target", "examples"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let text = String::from_utf8_lossy(&fs::read(&path).expect("it was listed")).into();
                let shown = path.strip_prefix(root()).expect("it is inside").to_string_lossy();
                found.push((shown.into_owned(), without_tests(text)));
            }
        }
    }
    found.sort();
    found
}

fn without_tests(text: String) -> String {
    let starts = ["#[cfg(test)]\nmod ", "#[cfg(test)]\npub mod "];
    let end = starts.iter().filter_map(|start| text.find(start)).min();
    text[..end.unwrap_or(text.len())].to_owned()
}

/// The module that a file is, in its crate.
fn module(path: &str) -> Option<(String, Vec<String>)> {
    let (krate, inside) = path.split_once("/src/")?;
    let mut parts: Vec<String> =
        inside.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if ["mod", "lib", "main"].contains(&parts.last()?.as_str()) {
        parts.pop();
    }
    Some((krate.to_owned(), parts))
}

/// All paths that begin with `crate`, `super` or `self`, braces written out.
fn paths(text: &str) -> BTreeSet<Vec<String>> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = BTreeSet::new();
    for start in ["crate::", "super::", "self::"] {
        let mut rest = code.as_str();
        while let Some(at) = rest.find(start) {
            let is_start = !rest[..at]
                .ends_with(|letter: char| letter.is_alphanumeric() || "_:".contains(letter));
            if is_start {
                written_out(&mut Vec::new(), &rest[at..], &mut found);
            }
            rest = &rest[at + start.len()..];
        }
    }
    found
}

/// Adds the paths that `text` begins with; returns what follows.
fn written_out<'a>(
    before: &mut Vec<String>,
    text: &'a str,
    found: &mut BTreeSet<Vec<String>>,
) -> &'a str {
    let n_before = before.len();
    let mut rest = text.trim_start();
    loop {
        if let Some(inner) = rest.strip_prefix('{') {
            rest = inner.trim_start();
            while !rest.starts_with('}') && !rest.is_empty() {
                let after = written_out(before, rest, found).trim_start();
                rest = after.strip_prefix(',').unwrap_or(after).trim_start();
                if std::ptr::eq(after, rest) && !rest.starts_with('}') {
                    break;
                }
            }
            rest = rest.strip_prefix('}').unwrap_or(rest);
            break;
        }
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let word = &rest[..end.unwrap_or(rest.len())];
        if word.is_empty() {
            break;
        }
        before.push(word.to_owned());
        rest = &rest[word.len()..];
        let Some(after) = rest.strip_prefix("::") else {
            found.insert(before.clone());
            break;
        };
        rest = after;
    }
    before.truncate(n_before);
    rest
}

/// The arrows between the modules of each crate.
fn arrows() -> BTreeMap<String, BTreeMap<Vec<String>, BTreeSet<Vec<String>>>> {
    let files = shipped(&[".rs"]);
    let mut crates: BTreeMap<String, BTreeMap<Vec<String>, String>> = BTreeMap::new();
    for (path, text) in files {
        if let Some((krate, module)) = module(&path) {
            crates.entry(krate).or_default().insert(module, text);
        }
    }
    let mut all = BTreeMap::new();
    for (krate, modules) in crates {
        let mut of_crate: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
        for (own, text) in &modules {
            for path in paths(text) {
                let mut at: Vec<String> = match path[0].as_str() {
                    "crate" => path[1..].to_vec(),
                    "self" => own.iter().chain(&path[1..]).cloned().collect(),
                    _ => {
                        let ups = path.iter().take_while(|part| *part == "super").count();
                        let base = &own[..own.len().saturating_sub(ups)];
                        base.iter().chain(&path[ups..]).cloned().collect()
                    }
                };
                while !at.is_empty() && !modules.contains_key(&at) {
                    at.pop();
                }
                if !at.is_empty() && at != *own {
                    of_crate.entry(own.clone()).or_default().insert(at);
                }
            }
        }
        all.insert(krate, of_crate);
    }
    all
}

/// What can be reached from a module.
fn reached(
    arrows: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
    from: &[String],
) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_vec()];
    while let Some(module) = open.pop() {
        for next in arrows.get(&module).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

#[test]
fn no_circle_of_files_within_a_crate() {
    let mut circles = Vec::new();
    for (krate, arrows) in arrows() {
        let mut left: BTreeSet<Vec<String>> = arrows.keys().cloned().collect();
        while let Some(module) = left.pop_first() {
            let there = reached(&arrows, &module);
            if !there.contains(&module) {
                continue;
            }
            let circle: Vec<Vec<String>> = there
                .into_iter()
                .filter(|other| *other == module || reached(&arrows, other).contains(&module))
                .collect();
            circle.iter().for_each(|member| _ = left.remove(member));
            circles.push((krate.clone(), circle));
        }
    }
    let found: Vec<(&str, usize)> =
        circles.iter().map(|(krate, circle)| (krate.as_str(), circle.len())).collect();
    assert_eq!(found, CIRCLES, "cut an arrow of each circle: {circles:#?}");
}

#[test]
fn paths_are_found_in_braces_and_code() {
    let text = "use crate::a::{b::{C, self}, d}; fn f() { super::g::h(); } // crate::no";
    let found: Vec<String> = paths(text).iter().map(|path| path.join("::")).collect();
    let expected =
        ["crate::a::b::C", "crate::a::b::self", "crate::a::d", "super::g::h"].map(str::to_owned);
    assert_eq!(found, expected);
}

/// Fails if there are more than permitted, with the first of them.
fn at_most(what: &str, max: usize, found: &[String]) {
    let first: Vec<&String> = found.iter().take(10).collect();
    assert!(found.len() <= max, "{what}: {} of at most {max}, such as {first:#?}", found.len());
}

fn product(endings: &[&str]) -> Vec<(String, String)> {
    shipped(endings).into_iter().filter(|(path, _)| !path.starts_with("lab/")).collect()
}

#[test]
fn lines_have_a_hundred_columns() {
    let files = product(&[".rs", ".cpp", ".h", ".c"]);
    let n_lines: usize = files.iter().map(|(_, text)| text.lines().count()).sum();
    let wide: Vec<String> = files
        .iter()
        .flat_map(|(path, text)| {
            text.lines().enumerate().map(move |(idx, line)| (path, idx + 1, line))
        })
        .filter(|(_, _, line)| line.chars().count() > 100)
        .map(|(path, number, _)| format!("{path}:{number}"))
        .collect();
    at_most("lines of more than 100 columns", n_lines * WIDE_PER_MILLE_MAX / 1000, &wide);
}

#[test]
fn parameters_of_closures_say_what_they_are() {
    let vague = ["|it|", "|&it|", "|mut it|", "|it,", "|&it,", "|it:"];
    let found: Vec<String> = product(&[".rs"])
        .iter()
        .flat_map(|(path, text)| {
            let n: usize = vague.iter().map(|word| text.matches(word).count()).sum();
            vec![path.clone(); n]
        })
        .collect();
    at_most("closures of `it`", IT_MAX, &found);
}

#[test]
fn doc_comments_say_something() {
    let is_short = |line: &str| {
        let words = line.trim_start().strip_prefix("/// ").map(|text| text.split(' ').count());
        words.is_some_and(|n| n <= 3)
    };
    let found: Vec<String> = product(&[".rs"])
        .iter()
        .flat_map(|(path, text)| {
            text.lines().filter(|line| is_short(line)).map(move |line| format!("{path}: {line}"))
        })
        .collect();
    at_most("doc comments of three words or fewer", SHORT_DOCS_MAX, &found);
}

#[test]
fn a_type_has_a_name_of_its_own_within_its_crate() {
    let mut names: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (path, text) in product(&[".rs"]) {
        let Some((krate, _)) = module(&path) else { continue };
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|word| ["struct", "enum", "trait"].contains(word));
            let Some(at) = at.filter(|at| *at == 0 || *at == 1 && words[0].starts_with("pub"))
            else {
                continue;
            };
            let name: String = words.get(at + 1).map_or(String::new(), |word| {
                word.chars().take_while(|letter| letter.is_alphanumeric()).collect()
            });
            if !name.is_empty() && !["Args", "Command"].contains(&name.as_str()) {
                names.entry((krate.clone(), name)).or_default().insert(path.clone());
            }
        }
    }
    let shared: Vec<String> = names
        .iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|((krate, name), files)| format!("{krate}: {name} in {files:?}"))
        .collect();
    at_most("type names of several types", SHARED_NAMES_MAX, &shared);
}
