//! Examples and exit codes, for `--help` and the manual pages: one table.

use clap::Command;

/// A command line and what it does.
type Example = (&'static str, &'static str);

/// For each command, by its words, command lines of a user.
const EXAMPLES: &[(&str, &[Example])] = &[
    ("", &[("meanwhile demo audit", "try a system on an input that the program holds")]),
    (
        "audit",
        &[
            ("meanwhile audit fast.c --function recv --cpu cortex-a53", "explain a function"),
            ("meanwhile audit vmlinux --function 'el0_*' --all-functions", "an overview of many"),
            (
                "meanwhile audit fast.c --function recv --verify",
                "try edits, print those that are proved",
            ),
        ],
    ),
    (
        "audit diff",
        &[(
            "meanwhile audit diff old.o new.o --function isr --cpu cortex-m4",
            "what went, what came",
        )],
    ),
    (
        "audit check",
        &[("meanwhile audit check --budget fast.budget.toml", "in a build, beside the tests")],
    ),
    (
        "audit calibrate",
        &[
            (
                "meanwhile audit calibrate --cpu cortex-a55 > chains.c",
                "to be timed on a core of yours",
            ),
            (
                "meanwhile audit calibrate results.txt --cpu cortex-a55 > my-core.toml",
                "what it printed there: the machine file",
            ),
        ],
    ),
    ("audit cpus", &[("meanwhile audit cpus --compare", "where LLVM or gcc gives other cycles")]),
    ("cipher list", &[("meanwhile cipher list", "names, slicings and sizes")]),
    (
        "cipher check",
        &[("meanwhile cipher check my.ua", "all errors of a program, and its slicings")],
    ),
    (
        "cipher compile",
        &[
            ("meanwhile cipher compile aes-128 --mode ctr --arch avx2 -o aes.c", "a stream cipher"),
            (
                "meanwhile cipher compile my.ua --slicing v --arch avx2 --emit asm -o my.c",
                "with assembly",
            ),
            (
                "meanwhile cipher compile my.ua -X unroll=no -X interleave=2 -o my.c",
                "tuned by hand",
            ),
        ],
    ),
    (
        "cipher package",
        &[
            ("meanwhile cipher package aes-256 --mode gcm -o sealed", "AES-GCM in C, Rust, Python"),
            ("meanwhile cipher package aes-128 chacha20 -o crypt", "streams of two ciphers"),
        ],
    ),
    (
        "cipher run",
        &[(
            "echo key=000102030405060708090a0b0c0d0e0f input=00112233445566778899aabbccddeeff | meanwhile cipher run aes-128",
            "key and block, as hex",
        )],
    ),
    (
        "cipher test",
        &[("meanwhile cipher test aes-128 --arch avx2", "published vectors, emitted C")],
    ),
    (
        "cipher validate",
        &[("meanwhile cipher validate my.ua --arch avx2", "prove the object file")],
    ),
    (
        "cipher speed",
        &[("meanwhile cipher speed aes-128 --quick", "cycles a byte on this machine")],
    ),
    (
        "cipher tune",
        &[(
            "meanwhile cipher tune my.ua --arch avx2 --budget 2m",
            "then: compile my.ua --recipe FILE",
        )],
    ),
    ("overlap cc", &[("meanwhile overlap cc -- -O3 -c halo.c -o halo.o", "in place of mpicc")]),
    ("overlap c++", &[("meanwhile overlap c++ -- -O3 -c md.cpp -o md.o", "in place of mpicxx")]),
    ("overlap fc", &[("meanwhile overlap fc -- -O3 -c heat.f90 -o heat.o", "in place of mpifort")]),
    (
        "overlap explain",
        &[("meanwhile overlap explain build", "of the files that a build left there")],
    ),
    (
        "overlap trace",
        &[("meanwhile overlap trace -- mpirun -n 4 ./halo 1000", "where messages are waited for")],
    ),
    (
        "overlap plugin",
        &[(
            "clang-19 -O3 -fpass-plugin=$(meanwhile overlap plugin) -c halo.c",
            "without a wrapper",
        )],
    ),
    (
        "overlap install",
        &[("meanwhile overlap install ~/opt/overlap", "then: ~/opt/overlap/bin/meanwhile-mpicc")],
    ),
    (
        "regwin build",
        &[("meanwhile regwin build --scheme adaptive --out lib", "a library to link")],
    ),
    (
        "regwin run",
        &[("meanwhile regwin run flight.elf --windows 8", "on QEMU and on the simulator")],
    ),
    (
        "regwin profile",
        &[("meanwhile regwin profile flight.elf -o traps.svg", "window traps, and what to take")],
    ),
    (
        "regwin errata",
        &[("meanwhile regwin errata flight.elf", "exit code 1 if a sequence is there")],
    ),
    ("regwin wcet", &[("meanwhile regwin wcet flight.elf --machine leon3", "of a linked image")]),
    (
        "regwin scenario",
        &[(
            "meanwhile regwin scenario pipe.txt --on sim --scheme sp",
            "threads that a file describes",
        )],
    ),
    ("cosched probe", &[("meanwhile cosched probe", "would it gain here?")]),
    (
        "cosched run",
        &[("meanwhile cosched run -- ./stream ::: ./solver 8", "two programs until both end")],
    ),
    ("cosched daemon", &[("meanwhile cosched daemon", "then: cosched submit, status, top, stop")]),
    (
        "cosched submit",
        &[("meanwhile cosched submit -- ./solver 8", "a program for the daemon to start")],
    ),
    ("cosched status", &[("meanwhile cosched status --json", "for scripts")]),
    ("cosched stop", &[("meanwhile cosched stop", "the programs run on")]),
    (
        "cosched restore",
        &[("meanwhile cosched restore", "after a manager was killed with its keepers")],
    ),
    ("cosched top", &[("meanwhile cosched top", "q leaves")]),
    (
        "cosched slurm",
        &[("meanwhile cosched slurm --output /etc/slurm/cosched", "then add the lines it prints")],
    ),
    (
        "cosched sim",
        &[(
            "meanwhile cosched sim b2 --policy pairing,linux",
            "a workload of the paper, two policies",
        )],
    ),
    (
        "page",
        &[(
            "meanwhile page functions.json speed.json -o results.html",
            "of results of `audit FILE --all-functions --json` and `cipher speed --json`",
        )],
    ),
    (
        "lsp",
        &[
            ("meanwhile lsp --cpu cortex-m4", "an editor starts it; docs/guide/editors.md"),
            ("meanwhile lsp --cpu cortex-a53 --compile-commands build", "as CMake compiles it"),
        ],
    ),
    ("doctor", &[("meanwhile doctor --system overlap", "what it needs and what is there")]),
    ("demo", &[("meanwhile demo cipher", "in a folder that goes away")]),
    ("man", &[("meanwhile man ~/.local/share/man/man1", "then: man meanwhile-audit")]),
    (
        "completions",
        &[("meanwhile completions bash > /etc/bash_completion.d/meanwhile", "for all users")],
    ),
];

/// What exit codes mean, in all commands.
const EXIT: [(&str, &str); 3] = [
    ("0", "done, and as asked"),
    ("1", "the input is wrong, or what was checked failed; the message says where and what to do"),
    ("2", "a tool is missing or a call failed; the message says what was run and what it said"),
];

/// Commands with further codes.
const MORE_EXITS: [(&str, &str, &str); 2] = [
    ("audit check", "3", "a function could not be judged"),
    ("cosched run", "N", "with one program: its own exit code, or the signal that ended it"),
];

fn of(words: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|row| row.0 == words).map_or(&[], |row| row.1)
}

fn exits(words: &str) -> Vec<(&'static str, &'static str)> {
    let more = MORE_EXITS.iter().filter(|row| row.0 == words).map(|row| (row.1, row.2));
    EXIT.into_iter().chain(more).collect()
}

/// The command and those below it with their examples after a long help.
pub fn shown(command: Command) -> Command {
    below(command, "")
}

fn below(mut command: Command, words: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    for name in names {
        let inner = if words.is_empty() { name.clone() } else { format!("{words} {name}") };
        command = command.mut_subcommand(name, |command| below(command, &inner));
    }
    if of(words).is_empty() {
        return command;
    }
    let mut text = "Examples:\n".to_owned();
    for (line, what) in of(words) {
        text += &format!("  {line}\n      {what}\n");
    }
    text += "\nExit status:\n";
    for (code, meaning) in exits(words) {
        text += &format!("  {code}  {meaning}\n");
    }
    command.after_long_help(text)
}

/// The same as sections of a manual page, by the command's words.
pub fn manual(words: &str) -> String {
    let plain = |text: &str| text.replace('\\', "\\\\").replace('-', "\\-").replace('\'', "\\(aq");
    let mut text = String::new();
    if !of(words).is_empty() {
        text += ".SH EXAMPLES\n";
        for (line, what) in of(words) {
            text += &format!(".TP\n\\fB{}\\fR\n{}\n", plain(line), plain(what));
        }
    }
    text += ".SH \"EXIT STATUS\"\n";
    for (code, meaning) in exits(words) {
        text += &format!(".TP\n\\fB{code}\\fR\n{}\n", plain(meaning));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The commands that do something, by their words.
    fn leaves(command: &Command, words: &str, found: &mut Vec<String>) {
        let mut has_below = false;
        let is_shown = |below: &&Command| below.get_name() != "help" && !below.is_hide_set();
        for below in command.get_subcommands().filter(is_shown) {
            has_below = true;
            let name = below.get_name();
            let inner = if words.is_empty() { name.to_owned() } else { format!("{words} {name}") };
            leaves(below, &inner, found);
        }
        if !has_below {
            found.push(words.to_owned());
        }
    }

    #[test]
    fn every_command_has_an_example_that_it_takes() {
        let mut found = Vec::new();
        leaves(&crate::Cli::command(), "", &mut found);
        for words in &found {
            assert!(!of(words).is_empty(), "`{words}` has no example");
        }
        for (words, examples) in EXAMPLES {
            assert!(
                words.is_empty() || *words == "audit" || found.iter().any(|name| name == words),
                "there is no command `{words}`"
            );
            for (line, _) in *examples {
                let start = line.find("meanwhile").expect("it runs this program");
                let end = line[start..].find([')', '>']).map_or(line.len(), |at| start + at);
                let arguments =
                    line[start..end].split_whitespace().map(|word| word.trim_matches('\''));
                let taken = crate::Cli::command().try_get_matches_from(arguments);
                assert!(taken.is_ok(), "{line}: {}", taken.unwrap_err());
            }
        }
    }
}
