//! Reads `compile_commands.json`, where CMake, Meson and Bear write how each file of a program is
//! compiled.

use std::path::{Component, Path, PathBuf};

use report::Diagnostic;
use serde::Deserialize;

use super::toolchain::Build;

/// How one file is compiled.
#[derive(Deserialize)]
struct CompileCommand {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// What may stand before a compiler and runs it, here or elsewhere; Meson takes ccache
/// where there is one.
const LAUNCHERS: [&str; 6] = ["ccache", "sccache", "distcc", "icecc", "buildcache", "env"];
/// What of a command says where the object file, lists of dependencies and the like go; with a word
/// after it, and without.
const OUTPUTS: [&str; 6] = ["-o", "-MF", "-MT", "-MQ", "-MJ", "--serialize-diagnostics"];
const OUTPUTS_ALONE: [&str; 9] = ["-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG"];
/// What makes the object file no machine code, or writes more files beside it.
const LEFT_OUT: [&str; 5] =
    ["-flto", "-ffat-lto-objects", "-save-temps", "--coverage", "-gsplit-dwarf"];

/// The build of `source` that the text of `list`, a compilation database, has; and how
/// many others it has.
///
/// Errors: what is wrong with the file, or that it does not have `source`.
pub fn build(text: &str, list: &Path, source: &Path) -> Result<(Build, usize), Diagnostic> {
    let shown = list.display();
    let entries: Vec<CompileCommand> = serde_json::from_str(text).map_err(|error| {
        let message = format!("`{shown}` is no list of compile commands: {error}");
        Diagnostic::new(message).with_help("CMake writes one with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, Meson always, Bear for makefiles")
    })?;
    let here = std::env::current_dir().unwrap_or_default();
    let beside = list.parent().unwrap_or(Path::new(""));
    // The directories are absolute; where one is not, the list is at the place that it means.
    let folder = |entry: &CompileCommand| here.join(beside).join(&entry.directory);
    let wanted = same(&here.join(source));
    let mut fitting =
        entries.iter().filter(|entry| same(&folder(entry).join(&entry.file)) == wanted);
    let Some(entry) = fitting.next() else {
        let name = source.file_name();
        let alike = entries.iter().find(|entry| entry.file.file_name() == name);
        let help = alike.map_or_else(
            || format!("it has {} other files", entries.len()),
            |it| format!("it has `{}`", it.file.display()),
        );
        return Err(Diagnostic::new(format!(
            "`{shown}` does not say how `{}` is compiled",
            source.display()
        ))
        .with_help(help));
    };
    let words = match (&entry.arguments, &entry.command) {
        (Some(arguments), _) => Some(arguments.clone()),
        (None, Some(command)) => shlex::split(command),
        (None, None) => None,
    };
    let Some((compiler, arguments)) =
        words.as_deref().map(without_launchers).and_then(<[String]>::split_first)
    else {
        return Err(Diagnostic::new(format!(
            "`{shown}` has no command for `{}` that a shell could read",
            source.display()
        )));
    };
    let is_source = |word: &str| same(&folder(entry).join(word)) == wanted;
    let build = Build {
        cc: Some(compiler.clone()),
        flags: flags(arguments, is_source),
        folder: Some(folder(entry)),
    };
    Ok((build, fitting.count()))
}

/// A command from its compiler on: what is kept or made elsewhere is made here. distcc alone, with
/// options after it, is a compiler.
fn without_launchers(mut words: &[String]) -> &[String] {
    while let [first, rest @ ..] = words {
        let is_launcher =
            LAUNCHERS.contains(&first.rsplit('/').next().unwrap_or(first)) || is_assignment(first);
        if !is_launcher || rest.first().is_none_or(|rest| rest.starts_with('-')) {
            break;
        }
        words = rest;
    }
    words
}

/// A variable of the environment that is set for a command, or an option of ccache.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

/// The arguments without what says which file becomes which.
fn flags(arguments: &[String], is_source: impl Fn(&str) -> bool) -> Vec<String> {
    let mut flags = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if OUTPUTS.contains(&word.as_str()) {
            words.next();
            continue;
        }
        let is_output = OUTPUTS_ALONE.contains(&word.as_str())
            || ["-o", "-MF", "-MT", "-MQ", "-MJ", "-Wp,-M"].iter().any(|it| word.starts_with(it));
        let is_left_out = LEFT_OUT.iter().any(|it| word.starts_with(it));
        if !is_output && !is_left_out && word != "--" && !is_source(word) {
            flags.push(word.clone());
        }
    }
    flags
}

/// A path by which the same file is the same: links resolved, or, where it is not there,
/// `..` taken as written.
fn same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        path.components().fold(PathBuf::new(), |mut all, part| {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    all.pop();
                }
                part => all.push(part),
            }
            all
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str) -> Vec<String> {
        let text = serde_json::json!([{"directory": "/b", "file": "../s/a.c", "command": command}])
            .to_string();
        let (build, others) =
            build(&text, Path::new("/b/compile_commands.json"), Path::new("/s/a.c"))
                .expect("it is there");
        assert_eq!(
            (build.cc.as_deref(), build.folder.as_deref(), others),
            (Some("cc"), Some(Path::new("/b")), 0)
        );
        build.flags
    }

    #[test]
    fn flags_stay_and_outputs_go() {
        assert_eq!(found("cc -O2 -Iinclude -c ../s/a.c -o a.o"), ["-O2", "-Iinclude"]);
        assert_eq!(
            found("cc -DNAME='\"a b\"' -MD -MT a.o -MF a.d -oa.o -c -flto=auto /s/a.c"),
            ["-DNAME=\"a b\""]
        );
        // As Linux does, and a fragment of such a list.
        assert_eq!(
            found(
                "cc -Wp,-MMD,drivers/.a.o.d -Wp,-D_FORTIFY_SOURCE=2 -MJ a.json -c -o a.o ../s/a.c"
            ),
            ["-Wp,-D_FORTIFY_SOURCE=2"]
        );
        assert_eq!(
            found("cc -include ../s/conf.h -std=c11 -- ../s/a.c"),
            ["-include", "../s/conf.h", "-std=c11"]
        );
    }

    #[test]
    fn what_runs_the_compiler_is_left_out() {
        for before in [
            "ccache",
            "/usr/bin/ccache",
            "CCACHE_DIR=/c ccache",
            "env A=b sccache",
            "ccache base_dir=/b",
            "ccache distcc",
        ] {
            assert_eq!(
                found(&format!("{before} cc -DA=b -O2 -c ../s/a.c -o a.o")),
                ["-DA=b", "-O2"],
                "{before}"
            );
        }
        let text = r#"[{"directory": "/b", "file": "/s/a.c", "arguments": ["distcc", "-O2", "-c", "/s/a.c"]}]"#;
        let (build, _) =
            build(text, Path::new("/b/list.json"), Path::new("/s/a.c")).expect("it is there");
        assert_eq!((build.cc.as_deref(), build.flags), (Some("distcc"), vec!["-O2".to_owned()]));
    }

    #[test]
    fn a_file_that_the_list_does_not_have() {
        let text =
            r#"[{"directory": "/b", "file": "/other/a.c", "arguments": ["cc", "/other/a.c"]}]"#;
        let error =
            build(text, Path::new("/b/list.json"), Path::new("/s/a.c")).expect_err("it is another");
        assert_eq!(error.message, "`/b/list.json` does not say how `/s/a.c` is compiled");
        assert_eq!(error.help.as_deref(), Some("it has `/other/a.c`"));
        let error =
            build("{", Path::new("list.json"), Path::new("/s/a.c")).expect_err("it is no list");
        assert!(
            error.message.starts_with("`list.json` is no list of compile commands: "),
            "{}",
            error.message
        );
    }
}
