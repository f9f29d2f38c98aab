//! Commands and options that are elsewhere now, so that a refusal can say where.

use std::ffi::OsString;

/// Words of an old command line, all of which it has, and what does it now.
const MOVED: &[(&[&str], &str)] = &[
    (&["report"], "meanwhile-lab report"),
    (&["man", "--out"], "meanwhile man DIR"),
    (&["audit", "--cold"], "--avoid SYMBOL"),
    (&["audit", "--path-base"], "--path FILE@ADDRESS"),
    (&["audit", "bench"], "meanwhile-lab run audit-speed"),
    (&["cipher", "bench"], "meanwhile-lab run cipher-schedulers"),
    (&["cipher", "backends"], "meanwhile-lab run cipher-back-ends"),
    (&["cipher", "compilers"], "meanwhile-lab run cipher-compilers"),
    (&["cipher", "sboxes"], "meanwhile-lab run cipher-sboxes"),
    (&["cipher", "speed", "--against"], "meanwhile-lab run cipher-streams"),
    (&["cipher", "speed", "--mode"], "meanwhile-lab run cipher-streams"),
    (&["cipher", "speed", "--out"], "meanwhile-lab run cipher-speed"),
    (&["cipher", "speed", "--build-only"], "meanwhile-lab run cipher-speed"),
    (&["cipher", "test", "--unroll"], "meanwhile cipher test --matrix"),
    (&["cipher", "test", "--all"], "meanwhile cipher test"),
    (&["cipher", "lsp"], "meanwhile lsp"),
    (&["cipher", "--inline"], "-X inline=VALUE"),
    (&["cipher", "--inline-io-bits"], "-X inline-io-bits=VALUE"),
    (&["cipher", "--inline-copies"], "-X inline-copies=VALUE"),
    (&["cipher", "--inline-equations"], "-X inline-equations=VALUE"),
    (&["cipher", "--unroll"], "-X unroll=VALUE"),
    (&["cipher", "--look-behind"], "-X look-behind=VALUE"),
    (&["cipher", "--interleave"], "-X interleave=VALUE"),
    (&["cipher", "--specialise"], "-X specialise=VALUE"),
    (&["cipher", "--budget"], "-X budget=VALUE"),
    (&["cosched", "top", "--once"], "meanwhile cosched status"),
    (&["cosched", "bench"], "meanwhile-lab run cosched-real"),
    (&["cosched", "scale"], "meanwhile-lab run cosched-scale"),
    (&["cosched", "sensitivity"], "meanwhile-lab run cosched-sensitivity"),
    (&["cosched", "sweep"], "meanwhile-lab run cosched-sweep"),
    (&["cosched", "sim", "--cluster"], "meanwhile-lab run cosched-cluster"),
    (&["cosched", "sim", "--like-paper"], "meanwhile-lab run cosched-paper"),
    (&["overlap", "--strength"], "-X strength=VALUE"),
    (&["overlap", "--progress"], "-X progress=VALUE"),
    (&["overlap", "--poll-us"], "-X poll-us=VALUE"),
    (&["overlap", "--collectives"], "-X collectives=VALUE"),
    (&["overlap", "--handlers"], "-X handlers=VALUE"),
    (&["overlap", "--wildcards"], "-X wildcards=VALUE"),
    (&["cosched", "--round-robin"], "-X round-robin=VALUE"),
    (&["cosched", "--finish-first"], "-X finish-first=yes"),
    (&["cosched", "--conventional-share"], "-X share=VALUE, or share=bandwidth:VALUE"),
    (&["cosched", "--share"], "-X share=VALUE"),
    (&["cosched", "--epoch"], "-X epoch=VALUE"),
    (&["cosched", "--window"], "-X window=VALUE"),
    (&["overlap", "--quiet"], "MEANWHILE_OVERLAP_QUIET=1 in the environment"),
    (&["overlap", "bench"], "meanwhile-lab run overlap"),
    (&["overlap", "compile-time"], "meanwhile-lab run overlap-compile-time"),
    (&["regwin", "profile", "--svg"], "meanwhile regwin profile IMAGE -o FILE.svg"),
    (&["regwin", "profile", "--folded"], "meanwhile regwin profile IMAGE -o FILE.folded"),
    (&["regwin", "profile", "--perfetto"], "meanwhile regwin profile IMAGE -o FILE.json"),
    (&["regwin", "bench"], "meanwhile-lab run regwin-adaptive"),
    (&["regwin", "run", "--behaviour"], "meanwhile-lab run regwin-spell"),
    (&["regwin", "run", "--scheme"], "meanwhile-lab run regwin-spell"),
    (&["regwin", "sweep"], "meanwhile-lab run regwin-sweep"),
    (&["regwin", "variants"], "meanwhile-lab run regwin-variants"),
    (&["regwin", "speed"], "meanwhile-lab run regwin-speed"),
    (&["regwin", "rtos"], "meanwhile-lab run regwin-rtos"),
    (&["regwin", "behaviour"], "meanwhile-lab run regwin-behaviour"),
    (&["regwin", "record"], "meanwhile-lab run regwin-record"),
    (&["regwin", "replay"], "meanwhile-lab run regwin-replay"),
];

/// What does now what these arguments, which were refused, once did.
pub fn now(arguments: impl Iterator<Item = OsString>) -> Option<&'static str> {
    let given: Vec<String> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .take_while(|word| word != "--")
        .collect();
    // The names of commands stand first, but for `--json`; options anywhere, perhaps with their
    // value.
    let mut names = given.iter().filter(|word| !word.starts_with('-'));
    let commands = [names.next(), names.next()];
    let has = |idx: usize, word: &str| match word.strip_prefix("--") {
        Some(_) => {
            given.iter().any(|other| other == word || other.starts_with(&format!("{word}=")))
        }
        None => commands[idx].is_some_and(|name| name == word),
    };
    let found =
        MOVED.iter().find(|(words, _)| words.iter().enumerate().all(|(idx, word)| has(idx, word)));
    found.map(|(_, now)| *now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<&'static str> {
        now(line.split(' ').map(OsString::from))
    }

    #[test]
    fn old_command_lines_lead_to_new_ones() {
        assert_eq!(of("regwin bench --quick"), Some("meanwhile-lab run regwin-adaptive"));
        assert_eq!(of("--json report --only audit"), Some("meanwhile-lab report"));
        assert_eq!(of("cosched sim --cluster=nodes=4"), Some("meanwhile-lab run cosched-cluster"));
        assert_eq!(
            of("cipher speed aes-128 --mode ctr --against openssl"),
            Some("meanwhile-lab run cipher-streams")
        );
        for (old, new) in [
            ("regwin profile a.elf --svg=a.svg", "meanwhile regwin profile IMAGE -o FILE.svg"),
            ("regwin profile a.elf --folded a", "meanwhile regwin profile IMAGE -o FILE.folded"),
            ("regwin profile a.elf --perfetto a", "meanwhile regwin profile IMAGE -o FILE.json"),
            ("cosched top --once", "meanwhile cosched status"),
            ("overlap cc --quiet -- -c a.c", "MEANWHILE_OVERLAP_QUIET=1 in the environment"),
            ("man --out man1", "meanwhile man DIR"),
        ] {
            assert_eq!(of(old), Some(new), "{old}");
        }
        for other in [
            "overlap cc -- --quiet",
            "cipher speed",
            "audit report.c --function bench",
            "cosched run -- ./x bench",
            "cosched sim b2 --clusters",
            "regwin",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
