//! Door: what the plugin costs a compilation.

use std::io;
use std::process::Command;
use std::time::Duration;

use measure::machine;
use measure::pairs::{self, Plan};
use measure::tool::{self, ToolError};

use super::made::program;
use overlap::compile::{self, Request};
use overlap::mpi::{Language, Mpi};
use overlap::remarks::{self, Summary};
use overlap::settings::Settings;

const COMPILE_LIMIT: Duration = Duration::from_secs(600);
/// Under valgrind a compilation takes 25 to 50 times as long.
const COUNT_LIMIT: Duration = Duration::from_secs(6 * 3600);

/// Processor time of one compilation, without and with the plugin, in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Calls of MPI, and what became of them.
    pub calls: Summary,
    /// Median without the plugin, in seconds.
    pub plain_s: f64,
    /// Median with the plugin, in seconds.
    pub plugin_s: f64,
    /// Median of with over without, of each pair.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    pub pairs: usize,
    /// Load of the machine before, if it is known.
    pub load: Option<f64>,
    /// Instructions of one compilation without and of one with the plugin, of all its processes,
    /// where they were counted.
    pub instructions: Option<(u64, u64)>,
}

/// With which settings, and how often, is compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// What the plugin is to do.
    pub settings: Settings,
    /// Compilations without and with the plugin, in turn.
    pub pairs: usize,
    /// One more of each under valgrind, which counts instructions.
    pub count: bool,
}

impl Extent {
    /// How often `measure` calls its `step`.
    pub fn steps(&self) -> usize {
        self.pairs + usize::from(self.count)
    }
}

/// Compiles with `arguments`, without and with the plugin. What they would write goes
/// to a scratch folder.
///
/// Errors: if a compiler, the plugin or, to count, valgrind is missing, or the compilation fails.
pub fn measure(
    language: Language,
    mpi: Mpi,
    arguments: &[String],
    extent: &Extent,
    step: &mut dyn FnMut(),
) -> Result<Cost, ToolError> {
    let folder = measure::scratch::folder().map_err(no_scratch)?;
    let output = folder.path().join("out.o").display().to_string();
    let arguments = [arguments, &["-o".to_owned(), output]].concat();
    let request = Request {
        language,
        mpi,
        settings: &extent.settings,
        compiler: None,
        plugin: None,
        arguments: &arguments,
        folder: None,
    };
    let load = machine::load();
    let (mut plain, mut with) = (compile::plain(&request)?, compile::prepare(&request)?.0);
    let sample = |command: &mut Command| {
        let before = machine::children_seconds();
        tool::run(command, b"", COMPILE_LIMIT)?.ok()?;
        Ok(machine::children_seconds() - before)
    };
    // The first compilation reads the compiler and the plugin from disk.
    sample(&mut with)?;
    let plan = Plan { n_warmups: 0, n_pairs: extent.pairs, n_repeats: 1 };
    let paired =
        pairs::run_pairs(plan, || sample(&mut with).inspect(|_| step()), || sample(&mut plain))?;
    let summary = paired.summary();
    let mut counts = None;
    if extent.count {
        let (of_plain, of_with) = std::thread::scope(|scope| {
            let of_plain = scope.spawn(|| instructions(&plain));
            let of_with = instructions(&with);
            (of_plain.join().expect("a count ends with a result"), of_with)
        });
        counts = Some((of_plain?, of_with?));
        step();
    }
    let mut rows = Vec::new();
    for path in remarks::files(folder.path()).map_err(no_scratch)? {
        let text = std::fs::read_to_string(&path).map_err(no_scratch)?;
        rows.extend(
            remarks::parse(&text)
                .map_err(|said| ToolError { ran: format!("read {}", path.display()), said })?,
        );
    }
    Ok(Cost {
        calls: remarks::summary(&rows),
        plain_s: summary.b_median,
        plugin_s: summary.a_median,
        ratio: summary.ratio,
        interval: (summary.ratio_low, summary.ratio_high),
        pairs: extent.pairs,
        load,
        instructions: counts,
    })
}

fn no_scratch(error: io::Error) -> ToolError {
    ToolError { ran: "use a scratch folder".to_owned(), said: error.to_string() }
}

/// Instructions of `command` and of all processes that it starts.
fn instructions(command: &Command) -> Result<u64, ToolError> {
    let logs = measure::scratch::folder().map_err(no_scratch)?;
    let mut counted = Command::new("valgrind");
    counted.args([
        "--tool=cachegrind",
        "--cache-sim=no",
        "--trace-children=yes",
        "--cachegrind-out-file=/dev/null",
    ]);
    counted
        .arg(format!("--log-file={}/%p", logs.path().display()))
        .arg(command.get_program())
        .args(command.get_args());
    counted.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = tool::run(&mut counted, b"", COUNT_LIMIT)?.ok()?;
    let mut total = 0;
    for log in std::fs::read_dir(logs.path()).map_err(no_scratch)? {
        let text = std::fs::read_to_string(log.map_err(no_scratch)?.path()).map_err(no_scratch)?;
        total += count_in(&text)
            .ok_or_else(|| ToolError { ran: ran.command.clone(), said: text.trim().to_owned() })?;
    }
    Ok(total)
}

/// The count in a log of cachegrind, such as `==7== I   refs:  1,234`.
fn count_in(log: &str) -> Option<u64> {
    let (_, count) = log.lines().find_map(|line| line.split_once("refs:"))?;
    count.trim().replace(',', "").parse().ok()
}

/// Measures a made [`program`], and says how many lines it has.
///
/// Errors: as [`measure`].
pub fn measure_made(
    mpi: Mpi,
    n_lines: usize,
    lines_a_call: usize,
    extent: &Extent,
    step: &mut dyn FnMut(),
) -> Result<(usize, Cost), ToolError> {
    let folder = measure::scratch::folder().map_err(no_scratch)?;
    let path = folder.path().join("made.c");
    let text = program(n_lines, lines_a_call);
    std::fs::write(&path, &text).map_err(no_scratch)?;
    let arguments = ["-O2".to_owned(), "-c".to_owned(), path.display().to_string()];
    Ok((text.lines().count(), measure(Language::C, mpi, &arguments, extent, step)?))
}
