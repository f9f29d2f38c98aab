//! What a compiler command line is made into: the user's arguments as they are, and ours around
//! them.
//!
//! ```text
//! cc -O2 -c a.c   --->   -fpass-plugin=PLUGIN -foptimization-record-file=.overlap/a.o.opt.yaml -O2 -c a.c
//! cc a.o -o a     --->   the same; flags that a step does not use are not complained about
//! cc -flto a.o    --->   and -fuse-ld=lld -Wl,--load-pass-plugin=PLUGIN
//! ```

use std::path::Path;

use crate::mpi::Language;

/// Options of gfortran that wrappers pass and flang does not know.
const GFORTRAN_ONLY: &[&str] = &[
    "-ffile-prefix-map",
    "-fdebug-prefix-map",
    "-fallow-",
    "-fstack-protector",
    "-Wdate-time",
    "-Wformat",
    "-Werror=format",
    "-fstack-clash",
    "-fcf-protection",
    "-mbranch-protection",
    "-mno-omit-leaf-frame-pointer",
    "-ffat-lto-objects",
];

/// Options whose next argument is theirs.
const TAKES_ARGUMENT: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-L",
    "-D",
    "-U",
    "-include",
    "-isystem",
    "-MF",
    "-MT",
    "-MQ",
    "-Xclang",
    "-Xlinker",
    "-mllvm",
    "-J",
    "-module-dir",
];

/// How options start that a wrapper of MPI answers itself: `-showme:compile`, `-compile_info`.
const ASKS: &[&str] =
    &["-show", "--showme", "-compile-info", "-compile_info", "-link-info", "-link_info"];

/// How options start that ask for line numbers in the program or in remarks, or name
/// a file that may.
const WANTS_LINES: &[&str] = &[
    "-g",
    "-R",
    "-fsave-opt",
    "-foptimization-record",
    "-fdebug",
    "-debug",
    "-fprofile",
    "--config",
];

/// How files end that the linker reads; `.so` may have a version.
const LINKED: &[&str] = &["o", "lo", "a", "so", "obj", "bc"];

/// What the sources of a build system's questions to the compiler are called, and where they lie:
/// those of configure, CMake, Meson.
const PROBES: &[&str] = &[
    "conftest",
    "CMakeCCompilerId",
    "CMakeCXXCompilerId",
    "CMakeFortranCompilerId",
    "testCCompiler",
    "testCXXCompiler",
];
const PROBE_FOLDERS: &[&str] = &[
    "CMakeTmp",
    "CMakeScratch",
    "CompilerIdC",
    "CompilerIdCXX",
    "CompilerIdFortran",
    "meson-private",
];

/// What a command line does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// It ends with a program or a shared object.
    pub links: bool,
    /// What it links is no program but an object or a library.
    pub is_part: bool,
    /// It asks for link-time optimisation of the whole program.
    pub whole_program: bool,
    /// The linker that it names.
    pub linker: Option<String>,
    /// It asks for debug information, or for remarks of its own, which need line numbers.
    pub wants_lines: bool,
    /// Where the result goes, if it is named.
    pub output: Option<String>,
    /// One of the files is standard input.
    pub reads_stdin: bool,
    /// It asks the wrapper what it would run.
    pub asks: bool,
    /// It makes nothing: it preprocesses, checks or tells a version.
    pub only_looks: bool,
    /// Files that are read, and how many of them are compiled.
    pub inputs: Vec<String>,
    pub sources: usize,
}

impl Step {
    /// The linker that it names, if it links a whole program by one that cannot load a plugin of
    /// this LLVM: not lld, or lld of another.
    pub fn other_linker(&self, llvm: u32) -> Option<&str> {
        let linker = self.linker.as_deref().filter(|_| self.links && self.whole_program)?;
        let file = linker.rsplit('/').next().unwrap_or(linker);
        let version = file.strip_prefix("ld.").unwrap_or(file).strip_prefix("lld");
        let is_ours =
            version.is_some_and(|version| version.is_empty() || version == format!("-{llvm}"));
        (!is_ours).then_some(linker)
    }

    /// The first file that is read; `-` is standard input.
    pub fn input(&self) -> Option<&str> {
        self.inputs.first().map(String::as_str)
    }

    /// True if it leaves one file of remarks: another one would take its place under the same name.
    pub fn has_one_record(&self) -> bool {
        let one =
            self.sources == 0 || (self.inputs.len() == 1 && !(self.links && self.whole_program));
        one && !self.inputs.is_empty() && !self.only_looks
    }

    /// True if a build system asks by it what the compiler can do. `folder` is where it runs.
    pub fn is_probe(&self, folder: &Path) -> bool {
        let input = self.input().map(Path::new);
        let named = |path: &Path| {
            path.file_stem()
                .and_then(|name| name.to_str())
                .is_some_and(|text| PROBES.contains(&text))
        };
        let lies = |path: &Path| {
            path.iter().any(|part| PROBE_FOLDERS.iter().any(|folder| part == *folder))
        };
        input.is_some_and(|input| named(input) || lies(input)) || lies(folder)
    }
}

/// True for a file that the linker reads.
pub(crate) fn is_linked(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.contains(".so.") || name.rsplit_once('.').is_some_and(|pair| LINKED.contains(&pair.1))
}

/// Reads a command line; `response` gives the text of a response file.
pub fn step(arguments: &[String], response: &mut dyn FnMut(&str) -> Option<String>) -> Step {
    let mut words = Vec::new();
    expand(arguments, response, 0, &mut words);
    let mut step = Step::default();
    let mut stops_early = false;
    let mut idx = 0;
    while idx < words.len() {
        let word = words[idx].as_str();
        step.asks |= ASKS.iter().any(|ask| word.starts_with(ask));
        step.wants_lines |=
            WANTS_LINES.iter().any(|wants_line| word.starts_with(wants_line)) && word != "-g0";
        match word {
            "-c" | "-S" => stops_early = true,
            "-E" | "-M" | "-MM" | "-fsyntax-only" | "--version" | "-###" | "-dumpversion" => {
                stops_early = true;
                step.only_looks = true;
            }
            "-flto" | "-flto=full" | "-flto=auto" | "-flto=jobserver" => step.whole_program = true,
            "-fno-lto" | "-flto=thin" => step.whole_program = false,
            "-shared" | "-Wl,-shared" | "-r" | "-Wl,-r" | "-nostdlib" => step.is_part = true,
            "-" => {
                step.sources += 1;
                step.reads_stdin = true;
                step.inputs.push("-".to_owned());
            }
            _ if word.starts_with("-fuse-ld=") || word.starts_with("--ld-path=") => {
                step.linker = word.split_once('=').map(|pair| pair.1.to_owned());
            }
            _ if word.starts_with("-o") && word.len() > 2 => {
                step.output = Some(word[2..].to_owned())
            }
            _ if word.starts_with("-print-") || word.starts_with("--print-") => stops_early = true,
            _ if !word.starts_with('-') => {
                step.sources += usize::from(!is_linked(word));
                step.inputs.push(word.to_owned());
            }
            _ => {}
        }
        if TAKES_ARGUMENT.contains(&word) {
            idx += 1;
            if word == "-o" {
                step.output = words.get(idx).cloned();
            }
        }
        idx += 1;
    }
    step.links = !stops_early && !step.inputs.is_empty();
    step
}

/// Response files may name response files; a few levels are enough, and a circle ends.
fn expand(
    arguments: &[String],
    response: &mut dyn FnMut(&str) -> Option<String>,
    depth: usize,
    words: &mut Vec<String>,
) {
    for argument in arguments {
        match argument.strip_prefix('@').filter(|_| depth < 8).and_then(&mut *response) {
            Some(text) => expand(&split_response(&text), response, depth + 1, words),
            None => words.push(argument.clone()),
        }
    }
}

/// The words of a response file: quotes hold blanks, a backslash holds the next character.
fn split_response(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', _) => word.get_or_insert_default().extend(letters.next()),
            (_, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, None) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Our arguments, to stand before the user's, for a compiler of this LLVM. `record` is where
/// remarks go; none for where the compiler puts them.
pub fn arguments(
    step: &Step,
    language: Language,
    llvm: u32,
    plugin: &Path,
    record: Option<&Path>,
) -> Vec<String> {
    let plugin = plugin.display();
    let mut ours = Vec::new();
    let quiet = language != Language::Fortran;
    if quiet {
        ours.push("--start-no-unused-arguments".to_owned());
    }
    ours.push(format!("-fpass-plugin={plugin}"));
    ours.push("-fsave-optimization-record".to_owned());
    ours.extend(record.map(|record| format!("-foptimization-record-file={}", record.display())));
    if quiet {
        ours.push("-foptimization-record-passes=overlap".to_owned());
    }
    if step.links && step.whole_program && step.other_linker(llvm).is_none() {
        ours.push("-fuse-ld=lld".to_owned());
        ours.push(format!("-Wl,--load-pass-plugin={plugin}"));
    }
    if quiet {
        ours.push("--end-no-unused-arguments".to_owned());
    }
    ours
}

/// False for options that only gfortran knows.
pub fn flang_knows(option: &str) -> bool {
    !GFORTRAN_ONLY.iter().any(|word| option.starts_with(word))
}

/// What a Fortran wrapper adds, without what only gfortran knows, and without libraries and their
/// folders where nothing is linked.
pub fn fortran_flags(flags: &[String], links: bool) -> Vec<String> {
    let known = |flag: &&String| flang_knows(flag) && !flag.starts_with("-O");
    let wanted = |flag: &&String| {
        links || !(flag.starts_with("-l") || flag.starts_with("-L") || flag.starts_with("-Wl,"))
    };
    flags.iter().filter(known).filter(wanted).cloned().collect()
}

/// How a complaint about a module ends before its name; LLVM 19 cannot read it, 22 not parse it.
const UNREADABLE: &str = " module file for module '";

/// What flang said, with one sentence in place of its complaints about each byte of a module file
/// that another compiler made, as Debian's modules are gfortran's; `not_made` says why there are no
/// others of `mpi` and `mpi_f08`.
pub fn about_modules(said: &str, not_made: Option<&str>) -> String {
    let mut text = String::new();
    let mut told: Vec<&str> = Vec::new();
    let mut skips = false;
    for line in said.split_inclusive('\n') {
        let module =
            line.split_once(UNREADABLE).and_then(|pair| pair.1.split_once('\'')).map(|pair| pair.0);
        match module
            .filter(|module| said.contains(&format!("{UNREADABLE}{module}': bad character")))
        {
            Some(module) if told.contains(&module) => skips = true,
            Some(module) => {
                told.push(module);
                skips = false;
                let place = line.split_once("Cannot ").map_or("", |pair| pair.0);
                let instead = not_made.filter(|_| module.starts_with("mpi")).map_or_else(
                    || "compile its source with flang, too".to_owned(),
                    |why| format!("one for flang could not be made: {why}"),
                );
                text += &format!(
                    "{place}the file of module `{module}` was not made by flang, which cannot read it; {instead}\n",
                );
            }
            None if line.contains("error: ") || line.contains("warning: ") => {
                skips = false;
                text += line;
            }
            // The line of the source, and the mark below it.
            None if !skips => text += line,
            None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Step {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        step(&words, &mut |name| {
            (name == "args.rsp").then(|| "-O2 -c \"my file.c\" -o x\\ y.o".to_owned())
        })
    }

    #[test]
    fn what_links() {
        for line in ["a.c -o a", "a.o b.o -o a", "-shared -fPIC a.c -oa.so", "-x c - -o a"] {
            assert!(of(line).links, "{line}");
        }
        for line in [
            "-c a.c",
            "-E a.c",
            "-M a.c",
            "-MM a.c",
            "-S a.c -o a.s",
            "--version",
            "-fsyntax-only a.c",
            "-O2",
            "@args.rsp",
        ] {
            assert!(!of(line).links, "{line}");
        }
    }

    #[test]
    fn a_dependency_file_does_not_stop_the_link() {
        assert!(of("-MD -MF a.d a.c -o a").links);
        assert!(of("-MMD a.c -o a").links);
    }

    #[test]
    fn standard_input_is_seen_behind_other_files() {
        assert!(of("-c -x c -").reads_stdin && of("a.o -x c - -o a").reads_stdin);
        assert!(!of("a.o -o -").reads_stdin && !of("-c a.c").reads_stdin);
    }

    #[test]
    fn questions_to_the_wrapper() {
        for line in
            ["-show", "-showme:incdirs", "--showme", "-compile_info", "-link-info", "-O2 a.c -show"]
        {
            assert!(of(line).asks, "{line}");
        }
        assert!(!of("-c show.c -o -c").asks && !of("-shared a.c").asks);
    }

    #[test]
    fn response_files_are_read() {
        assert_eq!(of("@args.rsp").output.as_deref(), Some("x y.o"));
        assert!(of("@missing.rsp -o a").links, "clang says what is wrong with it");
    }

    #[test]
    fn whole_programs_load_the_plugin_in_lld() {
        let has = |line: &str, what: &str| {
            arguments(&of(line), Language::C, 19, Path::new("p.so"), None)
                .iter()
                .any(|argument| argument == what)
        };
        assert!(has("-flto a.o -o a", "-Wl,--load-pass-plugin=p.so"));
        assert!(!has("-flto -c a.c", "-Wl,--load-pass-plugin=p.so"));
        assert!(
            has("-flto=auto a.o -o a", "-Wl,--load-pass-plugin=p.so"),
            "clang knows GCC's names"
        );
        assert!(!has("-flto=thin a.o", "-Wl,--load-pass-plugin=p.so"));
        assert!(!has("-flto -fuse-ld=gold a.o", "-fuse-ld=lld"));
        assert!(!has("-flto --ld-path=/opt/bin/mold a.o", "-fuse-ld=lld"));
        for lld in [
            "-fuse-ld=lld",
            "-fuse-ld=lld-19",
            "-fuse-ld=/usr/bin/ld.lld-19",
            "--ld-path=/opt/bin/ld.lld",
            "--ld-path=ld.lld-19",
        ] {
            assert!(has(&format!("-flto {lld} a.o"), "-Wl,--load-pass-plugin=p.so"), "{lld}");
            assert_eq!(of(&format!("-flto {lld} a.o")).other_linker(19), None, "{lld}");
        }
        for (other, name) in [
            ("-fuse-ld=lld-22", "lld-22"),
            ("-fuse-ld=mold", "mold"),
            ("--ld-path=/usr/bin/ld.bfd", "/usr/bin/ld.bfd"),
        ] {
            assert!(!has(&format!("-flto {other} a.o"), "-Wl,--load-pass-plugin=p.so"), "{other}");
            assert_eq!(of(&format!("-flto {other} a.o")).other_linker(19), Some(name), "{other}");
        }
        // Nothing is lost where no whole program is linked, and the last name counts.
        assert_eq!(of("-fuse-ld=gold a.o").other_linker(19), None);
        assert_eq!(of("-flto -fuse-ld=gold -c a.c").other_linker(19), None);
        assert_eq!(of("-flto -fuse-ld=gold -fuse-ld=lld a.o").other_linker(19), None);
        assert!(has("-c a.c", "-fpass-plugin=p.so"));
    }

    #[test]
    fn one_file_of_remarks() {
        for line in [
            "-c a.c",
            "-c a.c -o b.o",
            "a.c -o a",
            "a.o b.o -o a -flto",
            "a.o libx.so.1.2 -o a",
            "-shared a.lo -o a.so",
            "-x c - -o a",
        ] {
            assert!(of(line).has_one_record(), "{line}");
        }
        for line in ["-c a.c b.c", "a.c b.o -o a", "-flto a.c -o a", "-E a.c", "--version", "-v"] {
            assert!(!of(line).has_one_record(), "{line}");
        }
    }

    #[test]
    fn questions_of_build_systems() {
        let here = Path::new("/src/app");
        for line in [
            "-c conftest.c",
            "-o conftest -O2 conftest.cpp",
            "-c /b/CMakeFiles/CMakeScratch/TryCompile-x/src.c",
            "CMakeCCompilerId.c",
        ] {
            assert!(of(line).is_probe(here), "{line}");
        }
        assert!(of("-c testfile.c").is_probe(Path::new("/b/meson-private/tmp1")));
        for line in ["-c my-conftest.c", "-c a.c -o conftest.o", "-c CMakeTmp.c"] {
            assert!(!of(line).is_probe(here), "{line}");
        }
    }

    #[test]
    fn lines_are_kept_for_who_asks() {
        for line in [
            "-g -c a.c",
            "-ggdb3 a.c",
            "-c a.c -gline-tables-only",
            "-Rpass=loop-vectorize a.c",
            "-fsave-optimization-record a.c",
        ] {
            assert!(of(line).wants_lines, "{line}");
        }
        for line in ["-O2 -c a.c", "-g0 -c a.c", "@args.rsp", "a.o -o a-g"] {
            assert!(!of(line).wants_lines, "{line}");
        }
    }

    #[test]
    fn modules_of_another_compiler_are_told_of_once() {
        let bytes = |module: &str, place: &str| {
            let one = |what: &str| {
                format!(
                    "./a.f90:{place}: error: Cannot read module file for module '{module}': {what}\n   use {module}\n       ^^^\n"
                )
            };
            one("bad character (0x1f) in Fortran token")
                + &one("#\n\u{fffd}: unknown or unimplemented directive")
                + &one("Unmatched '('")
        };
        let said = format!(
            "error: Semantic errors in a.f90\n{}{}./a.f90:9:3: error: No explicit type\n",
            bytes("mpi", "2:6"),
            bytes("grid", "3:6")
        );
        let told = about_modules(&said, Some("no mpif.h"));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 8, "{told}");
        assert_eq!(
            (lines[0], lines[7]),
            ("error: Semantic errors in a.f90", "./a.f90:9:3: error: No explicit type")
        );
        assert!(
            lines[1]
                .starts_with("./a.f90:2:6: error: the file of module `mpi` was not made by flang")
                && lines[1].ends_with("one for flang could not be made: no mpif.h"),
            "{told}"
        );
        assert_eq!(lines[2..4], ["   use mpi", "       ^^^"]);
        assert!(lines[4].ends_with("compile its source with flang, too"), "{told}");
        // A module that is not there, and all else, stays as flang says it.
        let missing = "./a.f90:2:6: error: Cannot read module file for module 'mpi': Source file 'mpi.mod' was not found\n   use mpi\n";
        assert_eq!(about_modules(missing, None), missing);
    }

    #[test]
    fn flang_gets_what_it_knows() {
        let flags: Vec<String> = "-O2 -ffile-prefix-map=a=b -fstack-clash-protection -fcf-protection -mbranch-protection=standard \
             -mno-omit-leaf-frame-pointer -ffat-lto-objects -fallow-invalid-boz -Wl,-z,relro -I/x -L/y -lmpich"
            .split(' ')
            .map(str::to_owned)
            .collect();
        assert_eq!(fortran_flags(&flags, false), ["-I/x"]);
        assert_eq!(fortran_flags(&flags, true), ["-Wl,-z,relro", "-I/x", "-L/y", "-lmpich"]);
    }
}
