//! Where the window traps of an image come from, and what each scheme would cost it with each number
//! of windows.

use std::collections::BTreeMap;

use machine::in_order::Core;
use rustc_hash::FxHashMap;

use crate::board::image::{Image, Switch};
use crate::board::{Board, Ended, FLUSH, OVERFLOW, Onlooker, Part, UNDERFLOW};
use crate::counts::Counts;
use crate::names::Scheme;
use crate::sim::Costs;
use crate::sim::cost::{self, Adds};
use crate::sim::event::{Event, Thread};
use crate::sim::trace::Trace;
use crate::timeline::{Happening, MOMENTS_MAX, Moment};

/// Frames of a stack that are told apart; what is called deeper counts for the last of them.
const FRAMES_MAX: u32 = 128;
/// Different stacks that are told apart.
const CALLS_MAX: usize = 1 << 20;
/// Threads at a time that a trace has numbers for, the idle thread among them.
const THREADS: Thread = 64;

/// A function that was called, by this way.
#[derive(Debug, Clone, Copy)]
struct CallNode {
    caller: usize,
    /// The `save` that opened its window.
    place: u32,
    depth: u32,
    overflows: u64,
    underflows: u64,
}

/// A thread, as far as it has come.
#[derive(Debug, Clone)]
struct Strand {
    name: String,
    /// Its number in the trace, while it has one.
    number: Thread,
    node: usize,
    /// Calls beyond those that are told apart.
    deeper: u64,
    n_switches: u64,
}

/// How far a run had come.
#[derive(Debug, Clone, Default)]
struct Milestone {
    n_events: usize,
    cycles: [[u64; 2]; 3],
    n_window_traps: u64,
    n_other_traps: u64,
    n_finished: u64,
}

/// Records while an image runs.
#[derive(Debug)]
struct Recorder {
    idle_thread: Option<u32>,
    name_at: Option<u32>,
    events: Vec<u8>,
    calls: Vec<CallNode>,
    callees: FxHashMap<(usize, u32), usize>,
    strands: Vec<Strand>,
    /// The strand of each record.
    by_record: FxHashMap<u32, usize>,
    running: Option<usize>,
    free: Vec<Thread>,
    begin: Milestone,
    now: Milestone,
    /// Where no thread was ready any more.
    idle: Option<Milestone>,
    /// Cycles that a trap takes on each machine before its handler runs.
    taking: [u64; 2],
    /// None where nobody wants a timeline.
    moments: Option<Vec<Moment>>,
}

impl Recorder {
    fn new(image: &Image, machines: [&Core; 2], has_timeline: bool) -> Recorder {
        let library = image.library.as_ref();
        let mut recorder = Recorder {
            idle_thread: library.map(|library| library.idle_thread),
            name_at: library.and_then(|library| library.name_at),
            events: Vec::new(),
            calls: Vec::new(),
            callees: FxHashMap::default(),
            strands: Vec::new(),
            by_record: FxHashMap::default(),
            running: None,
            free: (1..THREADS).rev().collect(),
            begin: Milestone::default(),
            now: Milestone::default(),
            idle: None,
            taking: machines.map(|core| u64::from(core.trap_cycles.unwrap_or(0))),
            moments: has_timeline.then(Vec::new),
        };
        if library.is_none() {
            let only = recorder.strand("the program".to_owned(), Some(1));
            recorder.running = Some(only);
            let runs = Moment { cycles: [0; 2], what: Happening::Runs(only) };
            recorder.moments.iter_mut().for_each(|moments| moments.push(runs));
            recorder.events.push(Event::Leave(1).byte());
        }
        recorder
    }

    fn strand(&mut self, name: String, number: Option<Thread>) -> usize {
        let idx = self.strands.len();
        let node = self.calls.len();
        let root = CallNode { caller: node, place: 0, depth: 0, overflows: 0, underflows: 0 };
        self.calls.push(root);
        // More threads at a time than a trace has numbers for share the last of them.
        let number = number.or_else(|| self.free.pop()).unwrap_or(THREADS - 1);
        self.strands.push(Strand { name, number, node, deeper: 0, n_switches: 0 });
        idx
    }

    /// The function whose `save` this is, called from where the running thread is; `None` if it is
    /// not told apart.
    fn callee(&mut self, node: usize, place: u32) -> Option<usize> {
        if let Some(found) = self.callees.get(&(node, place)) {
            return Some(*found);
        }
        let depth = self.calls[node].depth + 1;
        if depth > FRAMES_MAX || self.calls.len() >= CALLS_MAX {
            return None;
        }
        let idx = self.calls.len();
        self.calls.push(CallNode { caller: node, place, depth, overflows: 0, underflows: 0 });
        self.callees.insert((node, place), idx);
        Some(idx)
    }

    fn note(&self, board: &Board) -> Milestone {
        let parts = [Part::Program, Part::WindowTraps, Part::Switches];
        Milestone {
            n_events: self.events.len(),
            cycles: parts.map(|part| board.cycles(part)),
            ..self.now.clone()
        }
    }

    /// Cycles of a run until then, with those that traps take.
    fn cycles(&self, at: &Milestone) -> [u64; 2] {
        let n_traps = at.n_window_traps + at.n_other_traps;
        let all = |idx: usize| at.cycles.iter().map(|part| part[idx]).sum::<u64>();
        [0, 1].map(|idx| all(idx) + n_traps * self.taking[idx])
    }

    fn happened(&mut self, what: Happening, board: &Board) {
        if self.moments.as_ref().is_some_and(|moments| moments.len() < MOMENTS_MAX) {
            let cycles = self.cycles(&self.note(board));
            self.moments.iter_mut().for_each(|moments| moments.push(Moment { cycles, what }));
        }
    }

    fn of_record(&mut self, record: u32, board: &Board) -> usize {
        if let Some(found) = self.by_record.get(&record) {
            return *found;
        }
        let named = self.name_at.and_then(|at| board.text(board.peek(record.wrapping_add(at))?));
        let is_idle = self.idle_thread == Some(record);
        let name = match named {
            _ if is_idle => "the idle thread".to_owned(),
            Some(name) => name,
            None => format!("{record:#x}"),
        };
        let idx = self.strand(name, is_idle.then_some(0));
        self.by_record.insert(record, idx);
        idx
    }
}

impl Onlooker for Recorder {
    fn saved(&mut self, pc: u32) {
        let Some(running) = self.running else { return };
        self.events.push(Event::Save.byte());
        let node = self.strands[running].node;
        match if self.strands[running].deeper == 0 { self.callee(node, pc) } else { None } {
            Some(callee) => self.strands[running].node = callee,
            None => self.strands[running].deeper += 1,
        }
    }

    fn restored(&mut self, _pc: u32, adds: Adds, by_handler: bool) {
        let Some(running) = self.running else { return };
        self.events.push(Event::Restore(adds).byte());
        self.now.n_finished += u64::from(by_handler);
        let strand = &mut self.strands[running];
        if strand.deeper > 0 {
            strand.deeper -= 1;
        } else {
            strand.node = self.calls[strand.node].caller;
        }
    }

    fn trapped(&mut self, trap: u8, pc: u32, board: &Board) {
        let Some(running) = self.running else { return };
        let kind = match trap {
            OVERFLOW => "overflow",
            UNDERFLOW => "underflow",
            FLUSH => "flush",
            _ => "other trap",
        };
        self.happened(Happening::Trap { kind, pc }, board);
        let (node, deeper) = (self.strands[running].node, self.strands[running].deeper);
        match trap {
            OVERFLOW => {
                let callee = if deeper == 0 { self.callee(node, pc) } else { None };
                self.calls[callee.unwrap_or(node)].overflows += 1;
            }
            UNDERFLOW => self.calls[node].underflows += 1,
            FLUSH => self.events.push(Event::Flush.byte()),
            _ => self.now.n_other_traps += 1,
        }
        self.now.n_window_traps += u64::from(matches!(trap, OVERFLOW | UNDERFLOW | FLUSH));
    }

    fn leaving(&mut self, board: &Board) {
        if self.running.is_none() {
            self.begin = self.note(board);
        }
    }

    fn switched(&mut self, how: Switch, record: u32, board: &Board) {
        let next = self.of_record(record, board);
        if let (Switch::End, Some(ended)) = (how, self.running) {
            let number = self.strands[ended].number;
            self.by_record.retain(|_, idx| *idx != ended);
            if number != 0 {
                self.free.push(number);
            }
        }
        let strand = &mut self.strands[next];
        strand.n_switches += 1;
        let event = match how {
            Switch::Leave => Event::Block(strand.number),
            Switch::Flush => Event::BlockFlush(strand.number),
            Switch::End => Event::Leave(strand.number),
        };
        self.events.push(event.byte());
        (self.running, self.idle) = (Some(next), None);
        self.happened(Happening::Runs(next), board);
    }

    fn idle(&mut self, board: &Board) {
        // Its first instruction may trap, and is reached twice then.
        if self.idle.is_none() {
            self.idle = self.running.map(|_| self.note(board));
        }
    }
}

/// Window traps of a stack of functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The outermost first; the thread, where there are several.
    pub names: Vec<String>,
    pub overflows: u64,
    pub underflows: u64,
}

/// What a run of an image showed.
#[derive(Debug)]
pub struct Profile {
    pub ended: Ended,
    pub console: String,
    /// Instructions of the whole run.
    pub n_instructions: u64,
    /// Names of the threads that ran, and how often each was switched to.
    pub threads: Vec<(String, u64)>,
    pub stacks: Vec<Stack>,
    /// Empty if nothing ran that could be replayed.
    pub trace: Trace,
    /// Cycles of what the trace covers, as the image's own handlers and switches made them.
    pub cycles: [u64; 2],
    /// Of these, in window traps.
    pub trap_cycles: [u64; 2],
    /// What happened, in its order, to the end of the run or the first [`MOMENTS_MAX`]; nothing
    /// without a timeline.
    pub moments: Vec<Moment>,
    /// The threads of the moments.
    pub names: Vec<String>,
}

/// Runs an image on the board, and records; when what happened only if there is to be a timeline.
pub fn record(
    image: &Image,
    n_windows: u32,
    limit: u64,
    machines: [&Core; 2],
    has_timeline: bool,
) -> Profile {
    let mut board = Board::new(image, n_windows, machines);
    let mut recorder = Recorder::new(image, machines, has_timeline);
    let ended = board.run(limit, &mut recorder);
    let end = recorder.idle.take().unwrap_or_else(|| recorder.note(&board));
    recorder.events.truncate(end.n_events);
    let cycles = recorder.cycles(&end);
    let mut moments = recorder.moments.take().unwrap_or_default();
    moments.retain(|moment| moment.cycles <= cycles);
    moments.push(Moment { cycles, what: Happening::End });
    let begin = recorder.begin.clone();
    let of = |part: usize, machine: usize| end.cycles[part][machine] - begin.cycles[part][machine];
    let save_cost = cost::of_save(machines);
    let taking = recorder.taking;
    let n_window_traps = end.n_window_traps - begin.n_window_traps;
    let n_other_traps = end.n_other_traps - begin.n_other_traps;
    let n_finished = end.n_finished - begin.n_finished;
    let trap_cycles = [0, 1].map(|idx| of(1, idx) + n_window_traps * taking[idx]);
    let program = [0, 1].map(|idx| of(0, idx) + n_other_traps * taking[idx]);
    let mut counts = Counts::default();
    for event in recorder.events.iter().map(|byte| Event::of(*byte)) {
        counts.saves += u64::from(event == Event::Save);
        counts.restores += u64::from(matches!(event, Event::Restore(_)));
    }
    let threads: Vec<(String, u64)> = recorder
        .strands
        .iter()
        .filter(|strand| strand.number != 0)
        .map(|strand| (strand.name.clone(), strand.n_switches))
        .collect();
    counts.switches = threads.clone();
    for (idx, cycles) in counts.cycles.iter_mut().enumerate() {
        // In a trace every restore is the program's.
        cycles.application = program[idx] + n_finished * save_cost[idx];
    }
    let stacks = stacks(&recorder, image);
    let names = recorder.strands.iter().map(|strand| strand.name.clone()).collect();
    let events = std::mem::take(&mut recorder.events);
    Profile {
        ended,
        console: board.console(),
        n_instructions: board.words().iter().map(|word| word.1).sum(),
        threads,
        stacks,
        trace: Trace { events, ready: Vec::new(), counts, save_cost },
        cycles: [0, 1].map(|idx| program[idx] + trap_cycles[idx] + of(2, idx)),
        trap_cycles,
        moments,
        names,
    }
}

/// Where a thread is: the functions that it is in, the outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub thread: String,
    pub calls: Vec<String>,
    /// Calls below the last of these.
    pub deeper: u64,
}

/// Where the threads are that have not ended, after a run as [`record`] makes it.
pub fn standing(image: &Image, n_windows: u32, limit: u64, machines: [&Core; 2]) -> Vec<Standing> {
    let mut recorder = Recorder::new(image, machines, false);
    Board::new(image, n_windows, machines).run(limit, &mut recorder);
    let lives = |idx: &usize| {
        image.library.is_none() || recorder.by_record.values().any(|living| living == idx)
    };
    let of = |strand: &Strand| {
        let (calls, _) = names_to(&recorder.calls, strand.node, image);
        Standing { thread: strand.name.clone(), calls, deeper: strand.deeper }
    };
    (0..recorder.strands.len()).filter(lives).map(|idx| of(&recorder.strands[idx])).collect()
}

/// The functions on the way to a node, the outermost first, and the root.
fn names_to(calls: &[CallNode], node: usize, image: &Image) -> (Vec<String>, usize) {
    let (mut names, mut at) = (Vec::new(), node);
    while calls[at].caller != at {
        names.push(image.function(calls[at].place));
        at = calls[at].caller;
    }
    names.reverse();
    (names, at)
}

/// The stacks with traps, those of the same names as one.
fn stacks(recorder: &Recorder, image: &Image) -> Vec<Stack> {
    let n_threads = recorder.strands.iter().filter(|strand| strand.number != 0).count();
    let roots: FxHashMap<usize, &str> = recorder
        .strands
        .iter()
        .map(|strand| (names_to(&recorder.calls, strand.node, image).1, strand.name.as_str()))
        .collect();
    let mut by_names: BTreeMap<Vec<String>, (u64, u64)> = BTreeMap::new();
    for (idx, call) in recorder.calls.iter().enumerate() {
        if call.overflows + call.underflows == 0 {
            continue;
        }
        let (mut names, root) = names_to(&recorder.calls, idx, image);
        if n_threads > 1 || names.is_empty() {
            names.insert(0, roots.get(&root).map_or("?", |name| *name).to_owned());
        }
        let sums = by_names.entry(names).or_default();
        *sums = (sums.0 + call.overflows, sums.1 + call.underflows);
    }
    let stack = |(names, (overflows, underflows))| Stack { names, overflows, underflows };
    by_names.into_iter().map(stack).collect()
}

/// The trace under a scheme, with so many windows.
#[derive(Debug, Clone)]
pub struct Replay {
    pub scheme: Scheme,
    pub windows: u32,
    pub counts: Counts,
}

/// A scheme, and what its traps and switches cost.
pub type PricedScheme = (Scheme, Box<dyn Costs>);

/// Replays a trace under each scheme, with each number of windows; `done` hears of each.
pub fn replays(
    trace: &Trace,
    schemes: &[PricedScheme],
    windows: &[u32],
    done: &(dyn Fn() + Sync),
) -> Vec<Replay> {
    let jobs: Vec<(usize, u32)> =
        (0..schemes.len()).flat_map(|idx| windows.iter().map(move |n| (idx, *n))).collect();
    let n_workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut replays = Vec::new();
        loop {
            let job = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some((idx, windows)) = jobs.get(job).copied() else { return replays };
            let (scheme, costs) = &schemes[idx];
            let counts = trace.replay(&**costs, windows);
            replays.push((job, Replay { scheme: *scheme, windows, counts }));
            done();
        }
    };
    let mut replays: Vec<(usize, Replay)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a worker does not panic"))
            .collect()
    });
    replays.sort_by_key(|replay| replay.0);
    replays.into_iter().map(|replay| replay.1).collect()
}

/// What is within this of the best is as good: a hundredth.
const AS_GOOD: f64 = 1.01;

/// Which of the replays to take.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// The fewest cycles of all.
    pub best: &'a Replay,
    /// Within a hundredth of it with the fewest windows.
    pub smallest: &'a Replay,
    /// The fewest cycles with the windows that there are.
    pub here: &'a Replay,
}

/// The best of the replays on one of the two machines; `windows` are there.
pub fn choose(replays: &[Replay], windows: u32, machine: usize) -> Choice<'_> {
    let cycles = |replay: &&Replay| replay.counts.cycles[machine].total();
    let best = replays.iter().min_by_key(cycles).expect("there are replays");
    let limit = (cycles(&best) as f64 * AS_GOOD) as u64;
    let as_good = replays.iter().filter(|replay| cycles(replay) <= limit);
    let smallest = as_good.min_by_key(|replay| (replay.windows, cycles(replay)));
    let here = replays.iter().filter(|replay| replay.windows == windows).min_by_key(cycles);
    Choice {
        best,
        smallest: smallest.expect("the best is one of them"),
        here: here.expect("there are replays with each number of windows"),
    }
}
