//! Ranks agree on their collectives when they run: `tests/agreed`. Whatever a rank is, how it comes
//! to a collective, and what stands in front of the library, all ranks meet and the results are
//! those of the plain program. MEANWHILE_OVERLAP_SEED sets the first seed of the random programs
//! (1), MEANWHILE_OVERLAP_WAYS how many (300; 100,000 with MEANWHILE_LONG); a run that fails or hangs
//! is named with its seeds.

use crate::support;

use std::path::{Path, PathBuf};

use measure::tool::{self, Ran};
use overlap::mpi::Language;
use overlap::{Mpi, Settings};
use support::number;

/// Programs of one test, in a folder of its own.
struct Made {
    mpi: Mpi,
    folder: tempfile::TempDir,
}

impl Made {
    fn new(mpi: Mpi) -> Made {
        Made { mpi, folder: tempfile::tempdir().expect("a scratch folder") }
    }

    fn place(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("the path is text").to_owned()
    }

    /// `made` from files of `tests/agreed` and what else the words name, with the plugin if there
    /// are settings.
    fn compile(&self, settings: Option<&Settings>, words: &[&str], made: &str) -> PathBuf {
        let sources = support::root().join("systems/overlap/tests/agreed");
        let words: Vec<String> = words
            .iter()
            .map(|word| match *word {
                word if word.ends_with(".c") => sources.join(word).display().to_string(),
                word if word.ends_with(".o") || word.ends_with(".so") => self.place(word),
                word => word.to_owned(),
            })
            .chain(["-o".to_owned(), self.place(made)])
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match settings {
            Some(settings) => support::compile_with(self.mpi, Language::C, settings, &words),
            None => support::compile_plain(self.mpi, Language::C, &words),
        }
        self.place(made).into()
    }

    /// Runs programs side by side in one world, each on so many ranks.
    fn run(&self, programs: &[(u32, &Path)], arguments: &[&str]) -> Ran {
        let mut command = self.mpi.launcher(programs[0].0).expect("the launcher is here");
        command.arg(programs[0].1).args(arguments);
        for (ranks, program) in &programs[1..] {
            command.args([":", "-n", &ranks.to_string()]).arg(program).args(arguments);
        }
        command.env("MEANWHILE_OVERLAP_VERBOSE", "1");
        tool::run(&mut command, b"", support::LIMIT).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The lines of a run in order, and what it said of the agreement.
fn lines(ran: Ran) -> (Vec<String>, Vec<String>) {
    let ran = ran.ok().unwrap_or_else(|error| panic!("{error}"));
    let mut printed: Vec<String> = ran.text().lines().map(str::to_owned).collect();
    printed.sort();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let told = said.lines().filter_map(|line| line.strip_prefix("meanwhile: ")).map(str::to_owned);
    (printed, told.collect())
}

fn with_bytes(bytes: u64) -> Settings {
    Settings { min_bytes: Some(bytes), min_weight: Some(1), ..Settings::default() }
}

const AGREED: &str = "large collectives start nonblocking on all ranks";
const MEETS: [&str; 3] = ["meets.c", "-O2", "-DCOME=PMPI_Bcast"];

/// So many random programs in one run.
const RUN: usize = 1000;

/// Runs the random programs of `n` seeds.
fn all_right(made: &Made, program: &Path, ranks: u32, first: u64, n: u64) {
    let seeds = [first, n].map(|number| number.to_string());
    let (printed, told) =
        lines(made.run(&[(ranks, program)], &seeds.each_ref().map(String::as_str)));
    assert_eq!(told, [AGREED], "{}", made.mpi.name());
    assert_eq!(printed.len(), ranks as usize, "{printed:?}");
    let of_rank = |line: &String| line.split_once(": ").map(|pair| pair.1.to_owned());
    for line in &printed {
        assert_eq!(of_rank(line), of_rank(&printed[0]), "all ranks start as many");
        assert!(line.contains(&format!(": {n} right, ")), "{line}");
        assert!(line.ends_with(", as expected"), "{line}");
        assert!(n < 100 || !line.contains(" 0 started"), "{line}");
    }
}

#[test]
fn ranks_that_come_by_different_ways_meet() {
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    let first = number("MEANWHILE_OVERLAP_SEED", 1);
    let n = number("MEANWHILE_OVERLAP_WAYS", if is_long { 100_000 } else { 300 });
    for mpi in support::libraries("ways to a collective") {
        for llvm in support::versions("ways to a collective") {
            let made = Made::new(mpi);
            let source = support::root().join("systems/overlap/tests/agreed/ways.c");
            let words = ["-O2", "-c", source.to_str().expect("text"), "-o", &made.place("ways.o")];
            support::compile_by(llvm, mpi, Language::C, &with_bytes(4000), &words);
            made.compile(None, &["-O1", "-c", "others.c"], "others.o");
            let fortran = if mpi == Mpi::Mpich { "-lmpichfort" } else { "-lmpi_mpifh" };
            made.compile(None, &["-O1", "-c", "counted.c"], "counted.o");
            let words = ["ways.o", "others.o", "counted.o", fortran];
            let ours = made.compile(Some(&with_bytes(4000)), &words, "ours");
            for first in (first..first + n).step_by(RUN) {
                // More ranks than there are processors wait for each other by whole slices of time.
                for (ranks, n) in [(2, n.min(RUN as u64)), (3, n.min(RUN as u64) / 50)] {
                    all_right(&made, &ours, ranks, first, n);
                }
            }
        }
    }
}

#[test]
fn one_plain_rank_among_ours_keeps_all_blocking() {
    for mpi in support::libraries("a plain rank") {
        let made = Made::new(mpi);
        let ours = made.compile(Some(&with_bytes(1000)), &MEETS, "ours");
        let plain = made.compile(None, &MEETS, "plain");
        let (expected, _) = lines(made.run(&[(3, &plain)], &[]));
        assert_eq!(
            lines(made.run(&[(3, &ours)], &[])),
            (expected.clone(), vec![AGREED.to_owned()])
        );
        for (programs, rank) in [
            ([(1, &*ours), (1, &*plain), (1, &*ours)], 1),
            ([(1, &*plain), (1, &*ours), (1, &*ours)], 0),
            ([(1, &*ours), (1, &*ours), (1, &*plain)], 2),
        ] {
            let (printed, told) = lines(made.run(&programs, &[]));
            assert_eq!(printed, expected, "{} with plain rank {rank}", mpi.name());
            let because = format!(
                "all collectives stay blocking: rank {rank} was linked without overlap, or stays blocking itself"
            );
            assert_eq!(told, [because], "{}", mpi.name());
        }
        // Compiled with the plugin and linked without it, every start makes the blocking call.
        let words = [MEETS.as_slice(), &["-c"]].concat();
        made.compile(Some(&with_bytes(1000)), &words, "meets.o");
        let without = made.compile(None, &["meets.o"], "without");
        assert_eq!(lines(made.run(&[(3, &without)], &[])).0, expected, "{}", mpi.name());
        assert_eq!(
            lines(made.run(&[(1, &without), (2, &ours)], &[])).0,
            expected,
            "{}",
            mpi.name()
        );
    }
}

#[test]
fn ranks_with_other_settings_keep_all_blocking() {
    for mpi in support::libraries("other settings") {
        let made = Made::new(mpi);
        let one = made.compile(Some(&with_bytes(1000)), &MEETS, "one");
        let other = made.compile(Some(&with_bytes(2000)), &MEETS, "other");
        let off = Settings { collectives: "off".to_owned(), ..with_bytes(1000) };
        let off = made.compile(Some(&off), &MEETS, "off");
        let (expected, _) = lines(made.run(&[(3, &off)], &[]));
        let (printed, told) = lines(made.run(&[(1, &one), (2, &other)], &[]));
        assert_eq!(printed, expected, "{}", mpi.name());
        // The first of those who find another one says so: each takes itself for right.
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("other settings"), "{told:?}");
        assert_eq!(lines(made.run(&[(1, &one), (2, &off)], &[])).0, expected, "{}", mpi.name());
    }
}

const RULE: [(&str, u32); 10] = [
    ("long enough", 1),
    ("too short", 0),
    ("parts of a whole", 1),
    ("parts of any length", 0),
    ("packed by the root", 1),
    ("a part of the world", 1),
    ("two groups", 0),
    ("made of both", 1),
    ("with a handle that was another's", 1),
    ("an error handler of one rank", 1),
];

#[test]
fn the_rule_asks_what_all_ranks_have_alike() {
    for mpi in support::libraries("the rule of the agreement") {
        let made = Made::new(mpi);
        made.compile(None, &["-O1", "-c", "counted.c"], "counted.o");
        let words = ["rule.c", "-O2", "counted.o"];
        let rule = made.compile(Some(&with_bytes(100_000)), &words, "rule");
        let (printed, told) = lines(made.run(&[(4, &rule)], &[]));
        let mut expected: Vec<String> = (0..4)
            .flat_map(|rank| RULE.map(|(case, n)| format!("{rank} {case}: {n}")))
            .chain(["2 no such root: an error".to_owned()])
            .collect();
        expected.sort();
        assert_eq!((printed, told), (expected, vec![AGREED.to_owned()]), "{}", mpi.name());
    }
}

#[test]
fn a_rank_that_dies_ends_the_run() {
    for mpi in support::libraries("a rank that dies") {
        let made = Made::new(mpi);
        let words = [MEETS.as_slice(), &["-DDIES"]].concat();
        let ours = made.compile(Some(&with_bytes(1000)), &words, "ours");
        // `run` would say that the limit was reached.
        assert!(!made.run(&[(3, &ours)], &[]).status.success(), "{}", mpi.name());
    }
}

#[test]
fn a_collective_of_the_program_or_of_a_tool_keeps_all_blocking() {
    for mpi in support::libraries("tools in front of the library") {
        let made = Made::new(mpi);
        let main = ["meets.c", "-O2", "-DCOME=MPI_Bcast"];
        let plain = made.compile(None, &main, "plain");
        let (expected, _) = lines(made.run(&[(3, &plain)], &[]));
        made.compile(None, &["-DTOOL", "-shared", "-fPIC", "meets.c"], "tool.so");
        let own = [main.as_slice(), &["-DOWN"]].concat();
        let front = [main.as_slice(), &["tool.so"]].concat();
        for (words, who) in [
            (own, "the program, or a tool in it, has an MPI_Bcast of its own"),
            (front, "a tool in front of the library has an MPI_Bcast of its own"),
        ] {
            let ours = made.compile(Some(&with_bytes(1000)), &words, "ours");
            let (printed, told) = lines(made.run(&[(3, &ours)], &[]));
            assert_eq!(printed, expected, "{} where {who}", mpi.name());
            assert_eq!(told, [format!("all collectives stay blocking: {who}")], "{}", mpi.name());
        }
    }
}

#[test]
fn a_program_with_the_library_in_it_is_linked_without() {
    if !support::libraries("a static library").contains(&Mpi::Mpich) {
        return;
    }
    let made = Made::new(Mpi::Mpich);
    let plain = made.compile(None, &MEETS, "plain");
    let (expected, _) = lines(made.run(&[(3, &plain)], &[]));
    let of_library =
        ["-Wl,-Bstatic", "-lmpich", "-Wl,-Bdynamic", "-lucp", "-lucs", "-lhwloc", "-lm"];
    let words = [MEETS.as_slice(), &of_library].concat();
    let ours = made.compile(Some(&with_bytes(1000)), &words, "ours");
    assert_eq!(lines(made.run(&[(3, &ours)], &[])), (expected, Vec::new()));
}
