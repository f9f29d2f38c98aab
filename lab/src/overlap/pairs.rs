//! Door: blocking against overlapped programs over a slow network of our own.
//!
//! The processes run in a network namespace whose loopback is limited to 2 Gbit/s, and talk TCP, so
//! that there is something to hide. The work in a window is as long as the blocking transfer, so
//! about 2 is the most that can be won. Blocking, overlapped and overlapped by hand run in turn.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::stats::{median, median_interval};
use measure::tool::{self, ToolError};

use overlap::compile::{self, Request};
use overlap::llvm::Llvm;
use overlap::mpi::{Language, Mpi};
use overlap::settings::Settings;

const SAMPLE_LIMIT: Duration = Duration::from_secs(30);

/// Makes a network namespace with a loopback of 2 Gbit/s and runs the rest of the words in it.
const NETWORK: &str = "ip link set lo up && tc qdisc add dev lo root tbf rate 2gbit burst 256kb latency 100ms && exec \"$@\"";

/// A program of `examples/mpi` that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Listing 1.1 of the paper.
    Listing,
    /// The two-dimensional stencil, with the interior before the border in the source.
    Halo,
    /// The same as it is usually written: one loop over all rows.
    Jacobi,
}

impl Program {
    pub const ALL: [Program; 3] = [Program::Listing, Program::Halo, Program::Jacobi];

    /// Its file's name without ending.
    pub fn name(self) -> &'static str {
        match self {
            Program::Listing => "listing",
            Program::Halo => "halo",
            Program::Jacobi => "jacobi",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Program::Listing => include_str!("../../../examples/mpi/listing.c"),
            Program::Halo => include_str!("../../../examples/mpi/halo.c"),
            Program::Jacobi => include_str!("../../../examples/mpi/jacobi.c"),
        }
    }
}

/// What is measured once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    pub program: Program,
    pub mpi: Mpi,
    pub ranks: u32,
    /// Payload of a message.
    pub bytes: u64,
}

/// What it came to; times are of one round.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRow {
    pub case: Case,
    /// Median with blocking calls.
    pub blocking_ms: f64,
    /// Median as compiled by the plugin.
    pub overlapped_ms: f64,
    /// Median as overlapped by hand.
    pub by_hand_ms: f64,
    /// Median of blocking over overlapped, of each pair.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Median of blocking over by hand.
    pub by_hand_ratio: f64,
    /// Median of by hand over overlapped: 1 where the plugin does as well.
    pub of_hand: f64,
    /// Its 95 % interval.
    pub of_hand_interval: (f64, f64),
    /// Time of the work in the window over that of the blocking transfer.
    pub work: f64,
    pub pairs: usize,
    /// Load of the machine before the row, if it is known.
    pub load: Option<f64>,
    /// How long the row took to measure.
    pub seconds: f64,
}

/// Payloads from here on are to gain, in bytes.
pub const LARGE_BYTES: u64 = 1 << 20;

/// What an interval says about a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval is on the right side.
    Met,
    /// The interval holds the bound: more pairs would tell.
    Open,
    /// The whole interval is on the wrong side.
    Missed,
}

impl Verdict {
    /// As in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Open => "open",
            Verdict::Missed => "missed",
        }
    }

    fn at_least(bound: f64, (low, high): (f64, f64)) -> Verdict {
        if low >= bound {
            Verdict::Met
        } else if high >= bound {
            Verdict::Open
        } else {
            Verdict::Missed
        }
    }
}

/// What is asked of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Large payloads: at least 0.95 of the speed of the program overlapped by hand.
    ByHand,
    /// Large payloads, where the program overlapped by hand reaches 1.6: at least 1.5 times the
    /// speed of the blocking one.
    Gain,
    /// Every payload: the interval does not exclude 0.98 of the speed of the blocking program.
    Floor,
}

impl Rule {
    pub const ALL: [Rule; 3] = [Rule::ByHand, Rule::Gain, Rule::Floor];

    pub fn name(self) -> &'static str {
        match self {
            Rule::ByHand => "by_hand_0_95",
            Rule::Gain => "gain_1_5",
            Rule::Floor => "floor_0_98",
        }
    }

    /// As in a table.
    pub fn sentence(self) -> &'static str {
        match self {
            Rule::ByHand => "1 MB and more: 0.95 of by hand",
            Rule::Gain => "where by hand reaches 1.6: 1.5 of blocking",
            Rule::Floor => "0.98 of blocking is not excluded",
        }
    }

    /// None where the rule asks nothing.
    pub fn verdict(self, row: &BenchRow) -> Option<Verdict> {
        let large = row.case.bytes >= LARGE_BYTES;
        match self {
            Rule::ByHand => large.then(|| Verdict::at_least(0.95, row.of_hand_interval)),
            Rule::Gain => {
                (large && row.by_hand_ratio >= 1.6).then(|| Verdict::at_least(1.5, row.interval))
            }
            Rule::Floor if row.interval.1 >= 0.98 => Some(Verdict::Met),
            Rule::Floor => Some(Verdict::Missed),
        }
    }
}

impl BenchRow {
    /// True if the payload is so small that the overlapped program makes the same blocking calls.
    pub fn same_calls(&self) -> bool {
        self.case.bytes < overlap::settings::MIN_BYTES
    }
}

/// The three programs of a case.
#[derive(Debug)]
pub struct Built {
    folder: measure::scratch::Folder,
}

#[derive(Debug, Clone, Copy)]
enum Variant {
    Blocking,
    Overlapped,
    ByHand,
}

/// Refuses a machine or user that cannot have the slow network, before anything is compiled for it.
///
/// Errors: what `unshare`, `ip` or `tc` said.
pub fn check_network() -> Result<(), ToolError> {
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-c", NETWORK, "sh", "true"]);
    let ran = tool::run(&mut command, b"", SAMPLE_LIMIT).and_then(tool::Ran::ok);
    ran.map(drop).map_err(|error| ToolError {
        said: format!("{}\na network of our own needs root, `ip` and `tc`", error.said),
        ..error
    })
}

/// Compiles one program for one library in three ways.
///
/// Errors: if a compiler is missing or fails.
pub fn build(program: Program, mpi: Mpi) -> Result<Built, ToolError> {
    let failed = |error: std::io::Error| ToolError {
        ran: "make a scratch folder".to_owned(),
        said: error.to_string(),
    };
    let folder = measure::scratch::folder().map_err(failed)?;
    let source = folder.path().join("program.c");
    std::fs::write(&source, program.text()).map_err(failed)?;
    let words = |variant: Variant| -> Vec<String> {
        let mut words = vec![
            "-O2".to_owned(),
            "-march=native".to_owned(),
            source.display().to_string(),
            "-o".to_owned(),
        ];
        words.push(path(folder.path(), variant).display().to_string());
        words
    };
    for (variant, define) in [(Variant::Blocking, "-DBLOCKING"), (Variant::ByHand, "-DBY_HAND")] {
        let mut command = Command::new(mpi.wrapper(Language::C)?);
        command
            .env(
                mpi.compiler_variable(Language::C),
                Llvm::present(Language::C)?.compiler(Language::C),
            )
            .arg(define)
            .args(words(variant));
        tool::run(&mut command, b"", SAMPLE_LIMIT)?.ok()?;
    }
    let settings = Settings::default();
    let arguments = words(Variant::Overlapped);
    let request = Request {
        language: Language::C,
        mpi,
        settings: &settings,
        compiler: None,
        plugin: None,
        arguments: &arguments,
        folder: Some(folder.path()),
    };
    let ended = compile::compile(&request)?;
    if ended.ok { Ok(Built { folder }) } else { Err(ended.failed()) }
}

fn path(folder: &Path, variant: Variant) -> PathBuf {
    folder.join(match variant {
        Variant::Blocking => "blocking",
        Variant::Overlapped => "overlapped",
        Variant::ByHand => "by-hand",
    })
}

/// Measures `case` in `pairs` rounds of the three programs.
///
/// Errors: if the network cannot be made (it needs root, `ip` and `tc`) or a program fails.
pub fn measure(
    built: &Built,
    case: Case,
    pairs: usize,
    step: &mut dyn FnMut(),
) -> Result<BenchRow, ToolError> {
    let began = std::time::Instant::now();
    let load = measure::machine::load();
    let (arguments, work) = arguments(built, case)?;
    let (mut blocking, mut overlapped, mut by_hand) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        let mut order = [Variant::Blocking, Variant::Overlapped, Variant::ByHand];
        if pair % 2 == 1 {
            order.reverse();
        }
        for variant in order {
            let sample = sample(built, case, variant, &arguments)?;
            match variant {
                Variant::Blocking => blocking.push(sample),
                Variant::Overlapped => overlapped.push(sample),
                Variant::ByHand => by_hand.push(sample),
            }
        }
        step();
    }
    let over = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a / b).collect() };
    let ratio = median_interval(&over(&blocking, &overlapped), 0.95);
    let of_hand = median_interval(&over(&by_hand, &overlapped), 0.95);
    Ok(BenchRow {
        case,
        blocking_ms: median(&blocking),
        overlapped_ms: median(&overlapped),
        by_hand_ms: median(&by_hand),
        ratio: ratio.value,
        interval: (ratio.low, ratio.high),
        by_hand_ratio: median(&over(&blocking, &by_hand)),
        of_hand: of_hand.value,
        of_hand_interval: (of_hand.low, of_hand.high),
        work,
        pairs,
        load,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// Arguments with which the work in the window takes as long as the blocking transfer, and the
/// quotient of the two as it came out.
fn arguments(built: &Built, case: Case) -> Result<(Vec<String>, f64), ToolError> {
    let rounds_max = match case.bytes {
        // A run of so small messages is over too soon to be told from its first rounds.
        0..=1024 => 10_000,
        1025..=65536 => 300,
        65537..=2_000_000 => 10,
        _ => 4,
    };
    let of = |words: [u64; 3]| -> Vec<String> { words.map(|word| word.to_string()).to_vec() };
    // Some payloads wait for a late acknowledgement each time; a run need not take more than half a
    // second.
    let count = if case.program == Program::Listing { case.bytes } else { (case.bytes / 8).max(4) };
    let first_ms = sample(built, case, Variant::Blocking, &of([count, 4, rounds_max.min(20)]))?;
    let rounds = ((500.0 / first_ms) as u64).clamp(rounds_max.min(20), rounds_max);
    let best = |arguments: &[String]| -> Result<f64, ToolError> {
        let samples: Result<Vec<f64>, ToolError> =
            (0..3).map(|_| sample(built, case, Variant::Blocking, arguments)).collect();
        Ok(median(&samples?))
    };
    match case.program {
        Program::Listing => {
            let transfer_ms = best(&of([case.bytes, 1, rounds]))?;
            let mut product_us = (transfer_ms * 500.0).max(1.0);
            // Ranks that share a core compute at half the speed that each found alone.
            let first =
                (best(&of([case.bytes, product_us as u64, rounds]))? - transfer_ms) / transfer_ms;
            if first > 1.1 {
                product_us = (product_us / first).max(1.0);
            }
            let arguments = of([case.bytes, product_us as u64, rounds]);
            let all_ms = best(&arguments)?;
            Ok((arguments, (all_ms - transfer_ms) / transfer_ms))
        }
        Program::Halo | Program::Jacobi => {
            let columns = count;
            let (few, many) = (4, 68);
            let (few_ms, many_ms) =
                (best(&of([columns, few, rounds]))?, best(&of([columns, many, rounds]))?);
            let row_ms = ((many_ms - few_ms) / (many - few) as f64).max(1e-6);
            let transfer_ms = (few_ms - row_ms * few as f64).max(row_ms);
            let rows = (transfer_ms / row_ms).clamp(4.0, 4096.0) as u64;
            Ok((of([columns, rows, rounds]), row_ms * rows as f64 / transfer_ms))
        }
    }
}

/// Milliseconds of a round in one run.
fn sample(
    built: &Built,
    case: Case,
    variant: Variant,
    arguments: &[String],
) -> Result<f64, ToolError> {
    let launcher = case.mpi.launcher(case.ranks)?;
    let mut command = Command::new("unshare");
    command
        .args(["-n", "sh", "-c", NETWORK, "sh"])
        .arg(launcher.get_program())
        .args(launcher.get_args());
    match case.mpi {
        Mpi::OpenMpi => {
            command.args(["--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"]);
            // A rank that ends without MPI_Finalize has the others killed; that need not take a
            // second.
            command.args(["--mca", "odls_base_sigkill_timeout", "0"]);
        }
        Mpi::Mpich => {
            command.env("UCX_TLS", "tcp,self").env("UCX_NET_DEVICES", "lo");
        }
    }
    command.env("OVERLAP_BENCH", "1").arg(path(built.folder.path(), variant)).args(arguments);
    // Ranks end without MPI_Finalize, which launchers call a failure, so only the time counts.
    let mut said = String::new();
    for _ in 0..3 {
        let ran = tool::run(&mut command, b"", SAMPLE_LIMIT)?;
        said = String::from_utf8_lossy(&ran.stderr).into_owned();
        let time = said
            .lines()
            .find_map(|line| line.strip_prefix("time_ms "))
            .and_then(|line| line.parse().ok());
        if let Some(time) = time {
            return Ok(time);
        }
    }
    Err(ToolError {
        ran: tool::command_line(&command),
        said: format!("no time was printed in three runs\n{said}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        bytes: u64,
        interval: (f64, f64),
        by_hand_ratio: f64,
        of_hand_interval: (f64, f64),
    ) -> BenchRow {
        let middle = |(low, high): (f64, f64)| f64::midpoint(low, high);
        BenchRow {
            case: Case { program: Program::Jacobi, mpi: Mpi::Mpich, ranks: 2, bytes },
            blocking_ms: 2.0,
            overlapped_ms: 1.0,
            by_hand_ms: 1.0,
            ratio: middle(interval),
            interval,
            by_hand_ratio,
            of_hand: middle(of_hand_interval),
            of_hand_interval,
            work: 1.0,
            pairs: 15,
            load: None,
            seconds: 1.0,
        }
    }

    #[test]
    fn intervals_decide() {
        let verdicts = |row: &BenchRow| Rule::ALL.map(|it| it.verdict(row));
        let good = row(1 << 20, (1.6, 1.9), 1.8, (0.96, 1.1));
        assert_eq!(verdicts(&good), [Some(Verdict::Met); 3]);
        let bad = row(1 << 20, (0.7, 0.97), 1.8, (0.5, 0.94));
        assert_eq!(verdicts(&bad), [Some(Verdict::Missed); 3]);
        let wide = row(4 << 20, (0.9, 1.6), 1.8, (0.8, 1.2));
        assert_eq!(verdicts(&wide), [Some(Verdict::Open), Some(Verdict::Open), Some(Verdict::Met)]);
        let small = row(8, (0.99, 1.01), 1.0, (0.5, 0.6));
        assert_eq!(verdicts(&small), [None, None, Some(Verdict::Met)]);
        assert!(small.same_calls() && !good.same_calls());
        assert_eq!(Rule::Gain.verdict(&row(1 << 20, (1.1, 1.2), 1.3, (0.9, 1.0))), None);
    }
}
