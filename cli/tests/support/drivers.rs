//! Drivers of packages in C, built with all files of the packages.

use std::path::{Path, PathBuf};

use crate::support::tools::{SUPPORT, run};

/// Flags of clang with which a wrong access ends the program. Unoptimised: of straight-line code of
/// thousands of lines gcc makes the same in ten times the time, at any level.
pub const SANITIZED: [&str; 3] =
    ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// True if clang can link such a program; else the list of skipped tests says so.
pub fn sanitizes(folder: &Path) -> bool {
    std::fs::write(folder.join("none.c"), "int main(void) { return 0; }\n").expect("written");
    let clang = std::process::Command::new("clang-19")
        .args(SANITIZED)
        .args(["none.c", "-o", "none"])
        .current_dir(folder)
        .output();
    let has = clang.is_ok_and(|clang| clang.status.success());
    if !has {
        testkit::skipped("packages under sanitizers: clang-19 or libclang-rt-19-dev is missing");
    }
    has
}

/// Builds a driver with the files of packages; files of other targets are empty on another
/// processor, and take no flags there.
pub fn driver(
    folder: &Path,
    (driver, packages): &(&str, &[&str]),
    compiler: &str,
    flags: &[&str],
    is_here: bool,
) -> PathBuf {
    let mut sources = vec![PathBuf::from(format!("{SUPPORT}/{driver}"))];
    for package in *packages {
        let files = std::fs::read_dir(folder.join(package).join("src")).expect("it is there");
        let paths = files.map(|entry| entry.expect("readable").path());
        sources.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "c")));
    }
    let own = |path: &Path| -> &[&str] {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name of ours");
        let of = [
            ("_sse", &["-mssse3"][..]),
            ("_avx2", &["-mavx2", "-mno-avx512f"]),
            ("_avx512vl", &["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"]),
            ("_avx512", &["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"]),
        ];
        of.into_iter().find(|(end, _)| is_here && stem.ends_with(end)).map_or(&[], |it| it.1)
    };
    let objects: Vec<String> = (0..sources.len()).map(|k| format!("{compiler}.{k}.o")).collect();
    let folders: Vec<String> = packages.iter().map(|name| format!("-I{name}/include")).collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    for (source, object) in sources.iter().zip(&objects) {
        let source_name = source.display().to_string();
        let words = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-c", &source_name];
        let last = ["-o", object];
        run(compiler, &[&words[..], own(source), flags, &folders, &last].concat(), folder);
    }
    let program = folder.join(format!("{compiler}.run"));
    let mut words: Vec<&str> = flags.to_vec();
    words.extend(objects.iter().map(String::as_str));
    let place = program.display().to_string();
    words.extend(["-o", &place]);
    run(compiler, &words, folder);
    program
}
