//! Door: runs a program under the tracing library, and reads what each rank measured.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use measure::tool::{self, ToolError};
use object::{Object, ObjectSection, ObjectSymbol};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls;
use crate::mpi::Mpi;
use crate::places::Places;
use crate::plugin;

/// One call site on one rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    pub call: String,
    /// Source file; empty if it is not known.
    pub file: String,
    /// Line; 0 if it is not known.
    pub line: u64,
    /// The function, for a call that was not converted; empty if it is not known.
    #[serde(default)]
    pub function: String,
    pub rank: u32,
    /// How often it was executed.
    pub count: u64,
    /// Payload, all executions together; 0 where it may differ between ranks.
    pub bytes: u64,
    /// Executions that started nonblocking, whether or not there is work behind them.
    #[serde(default)]
    pub nonblocking: u64,
    /// Mean time from start to wait in microseconds; none for a call that was not converted.
    pub window_us: Option<f64>,
    /// Time inside MPI in microseconds, all executions together.
    pub mpi_us: f64,
}

/// What a run measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub mpi: Mpi,
    pub ranks: u32,
    /// Converted sites in the program; executed or not.
    pub transformed: usize,
    /// All sites of all ranks.
    pub rows: Vec<TraceRow>,
    /// Whether the ranks agree on their collectives; none if the program asks them nothing.
    pub agreement: Option<Agreement>,
    /// From the end of MPI_Init to MPI_Finalize in microseconds, of each rank.
    pub wall_us: Vec<f64>,
    /// What happened when; empty unless asked for.
    pub events: Vec<Event>,
    /// Events that were not kept, because there were too many.
    pub left_out: u64,
}

/// What came of the question how the ranks of a program start their collectives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// True if they start large ones nonblocking.
    pub agreed: bool,
    /// The same as a sentence, with the reason if they do not.
    pub said: String,
}

/// Collectives that a run came to, over all ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Collectives {
    pub sites: usize,
    /// Sites with an execution that started nonblocking.
    pub nonblocking_sites: usize,
    pub executions: u64,
    pub nonblocking: u64,
}

/// A call on one rank, or a window from its start to its wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    pub rank: u32,
    pub row: usize,
    /// True for a window.
    pub is_window: bool,
    /// Since MPI_Init, in microseconds.
    pub begin_us: f64,
    /// How long, in microseconds.
    pub us: f64,
}

/// What of a run is kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted {
    /// What the program prints is not shown.
    pub quiet: bool,
    /// When each call began and ended.
    pub events: bool,
}

/// One call site, over all ranks: what it may cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    pub call: String,
    /// Source file; empty if it is not known.
    pub file: String,
    /// Line; 0 if it is not known.
    pub line: u64,
    /// The function, if only that is known.
    pub function: String,
    /// Executions on the rank that came there most often.
    pub count: u64,
    /// Payload of one execution.
    pub bytes: u64,
    /// Time inside MPI, mean over all ranks, in seconds.
    pub seconds: f64,
    /// The same as a part of the whole run.
    pub share: f64,
}

/// What could be gained if no rank waited inside MPI while it has work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bound {
    /// From MPI_Init to MPI_Finalize, on the slowest rank, in seconds.
    pub wall_s: f64,
    /// Inside MPI, mean over ranks, in seconds.
    pub mpi_s: f64,
    /// Outside of MPI, on the rank that computes longest, in seconds.
    pub compute_s: f64,
    /// How many times as fast the run could be at most.
    pub speedup: f64,
}

/// One site, over all ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    pub call: String,
    pub file: String,
    pub line: u64,
    /// Mean window in microseconds, over ranks.
    pub window_us: f64,
}

const LOAD_LIMIT: Duration = Duration::from_secs(20);

/// A mean window below this hides nothing worth mentioning, in microseconds.
pub const SIGNIFICANT_US: f64 = 5.0;

impl Trace {
    /// All sites that took time, those that took most first.
    pub fn lost(&self) -> Vec<Lost> {
        let mut found: Vec<Lost> = Vec::new();
        let wall: f64 = self.wall_us.iter().sum();
        for row in &self.rows {
            let known = found.iter_mut().find(|it| {
                (&it.call, &it.file, it.line, &it.function)
                    == (&row.call, &row.file, row.line, &row.function)
            });
            let site = match known {
                Some(site) => site,
                None => {
                    let TraceRow { call, file, function, .. } = row.clone();
                    found.push(Lost {
                        call,
                        file,
                        line: row.line,
                        function,
                        count: 0,
                        bytes: 0,
                        seconds: 0.0,
                        share: 0.0,
                    });
                    found.last_mut().expect("it was just added")
                }
            };
            site.count = site.count.max(row.count);
            site.bytes = site.bytes.max(row.bytes.checked_div(row.count).unwrap_or(0));
            site.seconds += row.mpi_us / 1e6 / f64::from(self.ranks.max(1));
            site.share += if wall > 0.0 { row.mpi_us / wall } else { 0.0 };
        }
        found.sort_by(|a, b| {
            b.seconds.total_cmp(&a.seconds).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line)))
        });
        found
    }

    /// How its blocking collectives started; those that no rule makes nonblocking count, too.
    pub fn collectives(&self) -> Collectives {
        let mut found = Collectives::default();
        let (mut all, mut started) = (BTreeSet::new(), BTreeSet::new());
        let known = calls::collectives();
        for row in self.rows.iter().filter(|row| row.count > 0 && known.contains(&row.call)) {
            let site = (&row.call, &row.file, row.line, &row.function);
            all.insert(site);
            if row.nonblocking > 0 {
                started.insert(site);
            }
            found.executions += row.count;
            found.nonblocking += row.nonblocking;
        }
        Collectives { sites: all.len(), nonblocking_sites: started.len(), ..found }
    }

    /// How fast the run could be: the rank that computes longest has to compute, and the rank that
    /// spends least time inside MPI waits for no other, so that its messages take that long.
    pub fn bound(&self) -> Option<Bound> {
        let mut inside = vec![0.0; self.wall_us.len()];
        for row in &self.rows {
            *inside.get_mut(row.rank as usize)? += row.mpi_us;
        }
        let wall = self.wall_us.iter().copied().reduce(f64::max)?;
        let compute =
            self.wall_us.iter().zip(&inside).map(|(wall, mpi)| wall - mpi).reduce(f64::max)?;
        let messages = inside.iter().copied().reduce(f64::min)?;
        let least = compute.max(messages);
        (least > 0.0).then(|| Bound {
            wall_s: wall / 1e6,
            mpi_s: inside.iter().sum::<f64>() / inside.len() as f64 / 1e6,
            compute_s: compute / 1e6,
            speedup: (wall / least).max(1.0),
        })
    }

    /// Adds what the next rank wrote. Calls of one line, as an unrolled loop has
    /// several, are one row.
    fn add_rank(&mut self, value: &Value, places: &mut Places) -> Result<(), serde_json::Error> {
        let first = self.rows.len();
        let mut row_of = Vec::new();
        for row in value["rows"].as_array().into_iter().flatten() {
            let mut new: TraceRow = serde_json::from_value(row.clone())?;
            if let (Some(file), Some(address)) = (row["object"].as_str(), row["address"].as_u64()) {
                let place = places.of(file, address);
                (new.file, new.line, new.function) = (place.file, place.line, place.function);
            }
            let is_same = |row: &TraceRow| {
                (&row.call, &row.file, row.line, &row.function)
                    == (&new.call, &new.file, new.line, &new.function)
            };
            let known = self.rows[first..]
                .iter()
                .position(|row| row.window_us.is_none() && new.window_us.is_none() && is_same(row));
            row_of.push(known.map_or(self.rows.len(), |number| first + number));
            match known.map(|known| &mut self.rows[first + known]) {
                Some(row) => {
                    (row.count, row.bytes, row.mpi_us) =
                        (row.count + new.count, row.bytes + new.bytes, row.mpi_us + new.mpi_us);
                    row.nonblocking += new.nonblocking;
                }
                None => self.rows.push(new),
            }
        }
        let events: Vec<(usize, u8, f64, f64)> = serde_json::from_value(value["events"].clone())?;
        let events = events
            .into_iter()
            .map(|(site, kind, begin_us, us)| (row_of[site], kind == 1, begin_us, us));
        self.events.extend(events.map(|(row, is_window, begin_us, us)| Event {
            rank: self.ranks,
            row,
            is_window,
            begin_us,
            us,
        }));
        if self.agreement.is_none() {
            self.agreement = serde_json::from_value(value["agreement"].clone())?;
        }
        self.wall_us.push(value["wall_us"].as_f64().unwrap_or(0.0));
        self.left_out += value["left_out"].as_u64().unwrap_or(0);
        self.ranks += 1;
        Ok(())
    }

    /// Converted sites that were executed, each with its mean window over the
    /// ranks that came there.
    pub fn sites(&self) -> Vec<Site> {
        sites(&self.rows)
    }
}

/// The same of some rows.
pub fn sites(rows: &[TraceRow]) -> Vec<Site> {
    let mut found: Vec<(Site, usize)> = Vec::new();
    for row in rows {
        let Some(window_us) = row.window_us.filter(|_| row.count > 0) else { continue };
        match found
            .iter_mut()
            .find(|(it, _)| (&it.call, &it.file, it.line) == (&row.call, &row.file, row.line))
        {
            Some((site, ranks)) => {
                site.window_us += window_us;
                *ranks += 1;
            }
            None => found.push((
                Site { call: row.call.clone(), file: row.file.clone(), line: row.line, window_us },
                1,
            )),
        }
    }
    let mut sites: Vec<Site> = found
        .into_iter()
        .map(|(site, ranks)| Site { window_us: site.window_us / ranks as f64, ..site })
        .collect();
    sites.sort_by(|a, b| (&a.file, a.line, &a.call).cmp(&(&b.file, b.line, &b.call)));
    sites
}

/// Runs `words`, such as `mpirun -n 2 ./a`, under the library; its output goes where ours goes.
///
/// Errors: if the program is none of MPI's, cannot be run, fails, or ends before MPI_Finalize.
pub fn run(words: &[String], wanted: Wanted) -> Result<Trace, ToolError> {
    let (program, mpi) = program(words)?;
    let library = plugin::trace_library(mpi)?;
    let folder = measure::scratch::folder().map_err(|error| ToolError {
        ran: "make a scratch folder".to_owned(),
        said: error.to_string(),
    })?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("LD_PRELOAD", &library).env("MEANWHILE_TRACE_DIR", folder.path());
    let ran = tool::command_line(&command);
    let failed = |said: String| ToolError { ran: ran.clone(), said };
    if wanted.events {
        command.env("MEANWHILE_TRACE_EVENTS", "1");
    }
    if wanted.quiet {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    let status = command.status().map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    let mut trace = Trace {
        mpi,
        ranks: 0,
        transformed: transformed(&program),
        rows: Vec::new(),
        agreement: None,
        wall_us: Vec::new(),
        events: Vec::new(),
        left_out: 0,
    };
    let mut places = Places::default();
    while let Ok(text) =
        std::fs::read_to_string(folder.path().join(format!("rank-{}.json", trace.ranks)))
    {
        let value: Value =
            serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        trace.add_rank(&value, &mut places).map_err(|error| failed(error.to_string()))?;
    }
    if trace.ranks == 0 {
        return Err(failed("no rank wrote a trace: did the program call MPI_Finalize?".to_owned()));
    }
    Ok(trace)
}

/// The program that a launcher's command line starts, and whose MPI it is linked with.
fn program(words: &[String]) -> Result<(PathBuf, Mpi), ToolError> {
    let failed = |said: &str| ToolError { ran: words.join(" "), said: said.to_owned() };
    let place = |word: &str| {
        let found = if word.contains('/') { None } else { tool::find(word) };
        found.unwrap_or_else(|| PathBuf::from(word))
    };
    let paths: Vec<PathBuf> =
        words.iter().skip(1).chain(words.first()).map(|word| place(word)).collect();
    let named = |path: PathBuf| linked_with(&path).map(|mpi| (path, mpi));
    // A script is looked into behind the programs: that of the launcher may be one, too.
    if let Some(found) = paths.iter().cloned().find_map(named) {
        return Ok(found);
    }
    paths.iter().flat_map(|path| words_of_script(path)).map(|word| place(&word)).find_map(named).ok_or_else(
        || failed(
        "none of these words is a program linked with OpenMPI or MPICH as a shared library that ends MPI, itself or by a library of its \
         own, nor a script with the name of one in it; name the program in the place of the script",
    ))
}

/// The words of a script that may be the program it starts; none if the file is no script.
fn words_of_script(path: &Path) -> Vec<String> {
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let Ok(text) = String::from_utf8(bytes) else { return Vec::new() };
    if !text.starts_with("#!") {
        return Vec::new();
    }
    // How scripts name the folder that they lie in.
    let folder = path.parent().unwrap_or(Path::new("")).display().to_string();
    let text = text.replace(['"', '\''], "");
    let here = ["$(dirname $0)", "`dirname $0`", "${0%/*}"];
    let text = here.iter().fold(text, |text, here| text.replace(here, &folder));
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines
        .flat_map(|line| line.split([' ', '\t', ';', '|', '&', '(', ')']))
        .filter(|word| word.contains('/') && !word.contains('$'))
        .map(str::to_owned)
        .collect()
}

/// The MPI that a program loads and ends, itself or by a library of its own. Launchers load parts
/// of the libraries only. Which files that takes, the dynamic linker knows best: it goes by paths
/// in the program and in the environment.
fn linked_with(path: &Path) -> Option<Mpi> {
    let bytes = std::fs::read(path).ok()?;
    object::File::parse(&*bytes).ok()?;
    let loaded = tool::run(Command::new("ldd").arg(path), b"", LOAD_LIMIT)
        .and_then(tool::Ran::ok)
        .ok()?
        .text();
    let (of_mpi, others): (Vec<&str>, Vec<&str>) =
        loaded.lines().map(str::trim).partition(|line| line.starts_with("libmpi"));
    let loads = |start: &str| of_mpi.iter().any(|line| line.starts_with(start));
    let mpi = if loads("libmpich.so") || loads("libmpichfort.so") {
        Mpi::Mpich
    } else if loads("libmpi.so") || loads("libmpi_mpifh.so") {
        Mpi::OpenMpi
    } else {
        return None;
    };
    // `libc.so.6 => /lib/libc.so.6 (0x7f...)`, or only the path.
    let libraries = others
        .iter()
        .filter_map(|line| line.split_once(" => ").map_or(*line, |pair| pair.1).split(" (").next())
        .map(Path::new);
    std::iter::once(path).chain(libraries).any(ends).then_some(mpi)
}

/// True if a file calls what MPI ends with, in any language. What it begins with, a program may have
/// itself in front of the library's, as those do whose ranks agree on their collectives.
fn ends(path: &Path) -> bool {
    let Ok(bytes) = std::fs::read(path) else { return false };
    let Ok(file) = object::File::parse(&*bytes) else { return false };
    file.dynamic_symbols()
        .filter(|dynamic_symbol| dynamic_symbol.is_undefined())
        .filter_map(|dynamic_symbol| dynamic_symbol.name().ok())
        .any(|name| {
            let procedure = calls::procedure(name);
            matches!(procedure.as_deref(), Some("finalize" | "session_finalize"))
        })
}

/// Number of different sites in the section that the plugin fills.
fn transformed(program: &Path) -> usize {
    let Ok(bytes) = std::fs::read(program) else { return 0 };
    let Ok(file) = object::File::parse(&*bytes) else { return 0 };
    let Some(section) = file.section_by_name("overlap_sites") else { return 0 };
    let mut names: Vec<&[u8]> = section
        .data()
        .unwrap_or_default()
        .split(|letter| *letter == 0)
        .filter(|part| !part.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rank: u32, line: u64, window_us: Option<f64>) -> TraceRow {
        let (call, file, function) = ("MPI_Send".to_owned(), "a.c".to_owned(), String::new());
        let (count, bytes, nonblocking, mpi_us) = (3, 0, 0, 1.0);
        TraceRow { call, file, line, function, rank, count, bytes, nonblocking, window_us, mpi_us }
    }

    fn empty() -> Trace {
        Trace {
            mpi: Mpi::OpenMpi,
            ranks: 2,
            transformed: 0,
            rows: Vec::new(),
            agreement: None,
            wall_us: Vec::new(),
            events: Vec::new(),
            left_out: 0,
        }
    }

    #[test]
    fn what_could_be_gained() {
        let of = |line, rank, mpi_us| TraceRow { mpi_us, bytes: 300, ..row(rank, line, None) };
        let rows = vec![of(9, 0, 2e6), of(9, 1, 4e6), of(4, 0, 7e6), of(4, 1, 1e6)];
        let trace = Trace { rows, wall_us: vec![12e6, 10e6], ..empty() };
        let lost: Vec<(u64, u64, f64)> =
            trace.lost().iter().map(|it| (it.line, it.bytes, it.seconds)).collect();
        assert_eq!(lost, [(4, 100, 4.0), (9, 100, 3.0)]);
        assert!((trace.lost()[0].share - 8.0 / 22.0).abs() < 1e-12);
        // One rank computes 3 s, the other 5 s; neither has its messages in less than 5 s.
        let bound = trace.bound().expect("there was time");
        assert_eq!(
            (bound.wall_s, bound.mpi_s, bound.compute_s, bound.speedup),
            (12.0, 7.0, 5.0, 2.4)
        );
        // Nothing to be hidden, and nothing known.
        let idle =
            Trace { rows: vec![of(9, 0, 0.0)], wall_us: vec![5e6], ranks: 1, ..trace.clone() };
        assert_eq!(idle.bound().expect("there was time").speedup, 1.0);
        assert_eq!(empty().bound(), None);
    }

    #[test]
    fn windows_are_means_over_ranks() {
        let rows = vec![
            row(0, 9, Some(10.0)),
            row(1, 9, Some(30.0)),
            row(1, 4, Some(7.0)),
            row(0, 2, None),
        ];
        let trace = Trace { rows, wall_us: vec![1.0, 1.0], ..empty() };
        let sites: Vec<(u64, f64)> =
            trace.sites().into_iter().map(|site| (site.line, site.window_us)).collect();
        assert_eq!(sites, [(4, 7.0), (9, 20.0)]);
    }
}
