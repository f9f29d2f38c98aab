//! Door: looks for the fastest way to compile a program for this machine. All ways are passed by
//! the model, which keeps few; both C compilers and our assembly make programs of those; successive
//! halving measures them, more carefully the fewer are left; the best is measured in turn with what
//! `compile` makes without options, and a tie keeps that.
//!
//! **Source** of the halving: Jamieson, Talwalkar, "Non-stochastic best arm identification and
//! hyperparameter optimization", 2016.

mod best;
mod experience;
mod why;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use measure::pairs::Summary;
use measure::stats;
use measure::tool::ToolError;
use report::Diagnostic;

use crate::asm::BUFFERED_BYTES;
use crate::emit_c::Arch;
use crate::native::{self, Cc};
use crate::options::{Emit, Interleave, Recipe, Schedule, Slicing, Unroll};
use crate::passes::estimate;
use crate::passes::inline::Inline;
use crate::passes::interleave::MOST;
use crate::speed::{Sampling, calls_for, launches_in_turn};
use crate::unit::Subject;

pub use best::{Best, best};
pub use experience::{MEDIANS, PROMISE_KEPT, expected};
pub use why::why;

/// Which orders of equations are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    All,
    /// The text's and those of the paper's schedulers, of one batch: all that C had before there
    /// was a back end.
    Paper,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Ask {
    pub arch: Arch,
    /// Bits of the size variable.
    pub word: Option<u32>,
    pub slicing: Option<Slicing>,
    pub orders: Orders,
    /// Only C, only assembly, or both.
    pub emits: Vec<Emit>,
    /// How long it may take, more or less.
    pub budget: Duration,
}

/// A way, and what is known of it.
#[derive(Debug, Clone)]
pub struct Tried {
    pub way: Recipe,
    /// The model's cycles a byte.
    pub model: f64,
    /// These, and what experience says of the model.
    pub expected: f64,
    /// Equations of the text.
    pub equations: usize,
    /// Time-stamp cycles a byte, the median of the launches.
    pub cycles_per_byte: f64,
    /// Launches that measured it.
    pub launches: usize,
}

#[derive(Debug, Clone)]
pub struct Tuned {
    /// All that were measured, the fastest first, except that a tie with the
    /// default puts that first.
    pub tried: Vec<Tried>,
    /// What `compile` makes without options.
    pub default: Recipe,
    /// The default by the best, measured in turn; `None` if the default is best.
    pub against_default: Option<Summary>,
    /// The best C by the best assembly, measured in turn, if assembly was the fastest; what is no
    /// faster beyond doubt leaves the C.
    pub against_c: Option<Summary>,
    /// Texts that the model judged.
    pub n_judged: usize,
    /// True if there was no time for all that should have been tried.
    pub is_cut: bool,
}

/// Launches of programs by name, kept so that a run that was ended goes on: the name comes from
/// text, compiler and flags.
pub type Journal = BTreeMap<String, Vec<f64>>;

/// Equations above which the C compilers would need minutes.
const EQUATIONS_MAX: usize = 12_000;
/// Texts that are compiled, if there is time.
const TEXTS: usize = 16;
/// The same of assembly, whose order is searched for.
const ASSEMBLIES: usize = 5;
/// A text is kept up to so many times the least that is expected.
const HOPELESS: f64 = 2.5;
/// Within this of the least that is expected the model knows no difference: DES, Present
/// and Rectangle with all loops written out, which it liked up to 8 % better, took 1.3 to
/// 1.6 of the time (experiments/cipher-tune/best.json).
const TIE: f64 = 1.1;
/// Programs that the last round of halving has.
const LAST: usize = 3;

/// What is compiled: a text, and what the model says of it.
#[derive(Clone)]
struct Text {
    way: Recipe,
    source: String,
    assembly: String,
    bytes: f64,
    model: f64,
    expected: f64,
    equations: usize,
}

/// A program that can be measured.
#[derive(Clone)]
struct Candidate {
    text: usize,
    way: Recipe,
    program: PathBuf,
    calls: u32,
}

/// What `compile` makes of the subject without options; of the paper's orders alone, the
/// scheduler of that slicing.
pub fn default_way(subject: &Subject, ask: &Ask) -> Recipe {
    let slicing = ask.slicing.or_else(|| subject.slicing(ask.word)).unwrap_or(Slicing::Bit);
    let schedule = if ask.orders == Orders::All { Schedule::Auto } else { of_paper(slicing) };
    let way = Recipe::new(slicing, ask.arch, Cc::Gcc, Unroll::Auto, "-O3");
    Recipe { word: ask.word, schedule, ..way }
}

fn of_paper(slicing: Slicing) -> Schedule {
    if slicing == Slicing::Bit { Schedule::Bitslice } else { Schedule::Mslice }
}

/// All options of the passes, those nearest to the default first.
fn ways(subject: &Subject, ask: &Ask) -> Vec<Recipe> {
    let default = default_way(subject, ask);
    let slicings = ask.slicing.map_or_else(|| subject.slicings(ask.word), |idx| vec![idx]);
    let mut all = Vec::new();
    for slicing in slicings {
        // `auto` takes the depth order for vectors alone; whether a C compiler does better without
        // it elsewhere is to be measured.
        let schedules: &[Schedule] = match (ask.orders, slicing) {
            (Orders::All, Slicing::Bit) => &[Schedule::Auto, Schedule::None, Schedule::Depth],
            (Orders::All, Slicing::Vertical | Slicing::Horizontal) => {
                &[Schedule::Auto, Schedule::None]
            }
            (Orders::Paper, _) => &[of_paper(slicing), Schedule::None],
        };
        let batches = if slicing == Slicing::Bit || ask.orders == Orders::Paper { 1 } else { MOST };
        for unroll in [Unroll::Auto, Unroll::Yes, Unroll::No] {
            for inline in [Inline::Auto, Inline::All, Inline::None] {
                for &schedule in schedules {
                    for interleave in 1..=batches {
                        all.push(Recipe {
                            slicing,
                            unroll,
                            inline,
                            schedule,
                            interleave: Interleave::Times(interleave),
                            ..default.clone()
                        });
                    }
                }
            }
        }
    }
    // Slicings and batches decide more than the rest.
    all.sort_by_key(|it| {
        let far = |is: bool| u32::from(!is);
        far(it.unroll == Unroll::Auto)
            + far(it.inline == Inline::Auto)
            + far(matches!(it.schedule, Schedule::Auto | Schedule::Bitslice | Schedule::Mslice))
    });
    let first = all.iter().position(|it| *it == default);
    if let Some(at) = first {
        all[..=at].rotate_right(1);
    }
    all
}

/// Runs the passes and the model; `None` if the way does not fit the program.
fn text(subject: &Subject, way: &Recipe) -> Option<Text> {
    let made = way.make(subject).ok()?;
    let equations = made.n_equations();
    if made.refused.is_some() {
        return None;
    }
    let bytes = made.bytes_per_call(way.arch) as f64;
    let model = estimate::entry(&made.compiled.program, &way.target(), way.slicing).cycles / bytes;
    let source = way.source(&made, true, false);
    let expected = expected(way, model);
    Some(Text {
        way: way.clone(),
        source,
        assembly: made.assembly,
        bytes,
        model,
        expected,
        equations,
    })
}

/// The different texts that these ways give, as far as there is time.
fn texts(
    subject: &Subject,
    ask: &Ask,
    ways: Vec<Recipe>,
    until: Instant,
    is_cut: &mut bool,
    tick: &dyn Fn(&str),
) -> Vec<Text> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    let default = default_way(subject, ask);
    for (k, way) in ways.iter().enumerate() {
        if Instant::now() > until && !all.is_empty() {
            *is_cut = true;
            break;
        }
        tick(&format!("judging {} of {} ways", k + 1, ways.len()));
        // Texts that are too long for the C compilers are left out.
        if let Some(it) = text(subject, way)
            && (way.emit == Emit::Asm || it.equations <= EQUATIONS_MAX || *way == default)
            && seen.insert((it.source.clone(), it.assembly.clone()))
        {
            all.push(it);
        }
    }
    all
}

/// The texts worth compiling, in the order in which they are, as far as there is time: the default,
/// the best of each slicing, for across slicings the model errs most, that of each kind of loops,
/// in the depth order and out of it, for what a C compiler makes of an order the model knows least,
/// and the best of all.
fn select(mut all: Vec<Text>) -> Vec<Text> {
    if all.is_empty() {
        return all;
    }
    let default = all.remove(0);
    all.sort_by(|a, b| a.expected.total_cmp(&b.expected));
    let least = all.first().map_or(default.expected, |found| found.expected.min(default.expected));
    let mut slicings = HashSet::new();
    let (of_slicings, rest): (Vec<Text>, Vec<Text>) =
        all.into_iter().partition(|it| slicings.insert(it.way.slicing));
    let kind =
        |text: &Text| (text.way.slicing, text.way.unroll, text.way.schedule == Schedule::Depth);
    let mut kinds: HashSet<(Slicing, Unroll, bool)> = of_slicings.iter().map(kind).collect();
    let (of_kinds, rest): (Vec<Text>, Vec<Text>) =
        rest.into_iter().partition(|it| kinds.insert(kind(it)));
    let mut kept = vec![default];
    kept.extend(of_slicings);
    kept.extend(of_kinds);
    kept.extend(rest.into_iter().filter(|found| found.expected <= HOPELESS * least));
    kept.truncate(TEXTS + 1);
    kept
}

/// The way that the model likes best, and its cycles a byte; nothing is compiled.
///
/// Errors: if the program compiles in no way: what is wrong with it.
pub fn by_model(
    subject: &Subject,
    ask: &Ask,
    tick: &dyn Fn(&str),
) -> Result<(Recipe, f64), Vec<Diagnostic>> {
    let mut is_cut = false;
    let all =
        texts(subject, ask, ways(subject, ask), Instant::now() + ask.budget, &mut is_cut, tick);
    let by_expected = |a: &(Recipe, f64), b: &(Recipe, f64)| a.1.total_cmp(&b.1);
    let mut best: Vec<(Recipe, f64)> = best_of_slicings(&believed(&all));
    // In each slicing assembly where the model promises more than it errs, and C where it does not.
    for (way, expected) in best.iter_mut().filter(|_| ask.emits.contains(&Emit::Asm)) {
        tick("judging the assembly");
        let of_asm = in_assembly(way);
        if let Some(promise) = of_asm.promise(subject)?.0 {
            // What is promised is over the C of the same text, which may be in another order than
            // the best C.
            let of_c = Recipe { emit: Emit::C, ..of_asm.clone() };
            let of_text =
                all.iter().find(|it| it.way == of_c).map_or(*expected, |found| found.expected);
            (*way, *expected) = (of_asm, of_text / experience::gain(promise));
        }
    }
    if !ask.emits.contains(&Emit::C) {
        best.retain(|best| best.0.emit == Emit::Asm);
    }
    match best.into_iter().min_by(by_expected) {
        Some((way, expected)) => Ok((Recipe { cc: preferred(&way), ..way }, expected)),
        None if !all.is_empty() => {
            let message = "the model promises nothing of assembly here";
            Err(vec![Diagnostic::new(message).with_help("leave out --emit asm, or --model")])
        }
        None => Err(default_way(subject, ask).make(subject).err().unwrap_or_default()),
    }
}

/// Whether the model alone may choose this for a compiler. Of the depth order on general registers
/// clang makes slower code than of the text's, gcc mostly faster code (docs/explain/cipher.md), and
/// the model knows neither.
fn is_believed(way: &Recipe, cc: Cc) -> bool {
    way.schedule != Schedule::Depth
        || way.arch.row().kind != machine::Kind::General
        || cc == Cc::Gcc
}

/// Of each slicing the text that the model chooses: of loops, inlining and order the ways nearest
/// to the default come first, since it errs more than what it promises of another; how many batches
/// is what it knows best.
fn best_of_slicings(believed: &[&Text]) -> Vec<(Recipe, f64)> {
    let mut best: BTreeMap<&str, (Recipe, f64)> = BTreeMap::new();
    for it in believed {
        let of_slicing = believed.iter().filter(|other| other.way.slicing == it.way.slicing);
        let least = of_slicing.map(|other| other.expected).fold(f64::MAX, f64::min);
        if it.expected > TIE * least {
            continue;
        }
        let (way, expected) =
            best.entry(it.way.slicing.letter()).or_insert_with(|| (it.way.clone(), it.expected));
        let has_its_options = it.way == Recipe { interleave: it.way.interleave, ..way.clone() };
        if has_its_options && it.expected < *expected {
            (*way, *expected) = (it.way.clone(), it.expected);
        }
    }
    best.into_values().collect()
}

/// The texts of which the model alone may choose one.
fn believed(all: &[Text]) -> Vec<&Text> {
    let mut believed: Vec<&Text> =
        all.iter().filter(|found| is_believed(&found.way, preferred(&found.way))).collect();
    if believed.iter().any(|it| is_cached(it.bytes)) {
        believed.retain(|believed| is_cached(believed.bytes));
    }
    believed
}

/// Whether what a call reads and what it writes, so many bytes each, are in the first-level
/// cache together; else the model, which knows no cache, expects too little. On AVX-512
/// bitsliced C of Ascon, Gimli and Xoodoo by gcc takes 1.8 to 2.2 times what is expected, their
/// vertical C 1.0 to 1.1.
fn is_cached(bytes: f64) -> bool {
    2.0 * bytes <= BUFFERED_BYTES as f64
}

/// The same in assembly, which has all inlined, and begins with the depth order anyway.
fn in_assembly(way: &Recipe) -> Recipe {
    let schedule = if way.schedule == Schedule::Depth { Schedule::Auto } else { way.schedule };
    Recipe { emit: Emit::Asm, inline: Inline::Auto, schedule, ..way.clone() }
}

/// What is tried in assembly of the texts that are compiled as C: the first of them, and of each
/// slicing that knows batches two at once, however little the model thinks of two in C, which has
/// them statement by statement; assembly has them in turns (`asm/turns.rs`).
fn assemblies(all: &[Text]) -> Vec<Recipe> {
    let mut seen = HashSet::new();
    let mut is_new = |way: &Recipe| seen.insert((way.slicing, way.unroll, way.interleave));
    let mut ways: Vec<Recipe> = all
        .iter()
        .map(|found| in_assembly(&found.way))
        .filter(&mut is_new)
        .take(ASSEMBLIES)
        .collect();
    let of_batches = all
        .iter()
        .filter(|found| found.way.slicing != Slicing::Bit && found.way.unroll == Unroll::Auto);
    ways.extend(
        of_batches
            .map(|batch| Recipe { interleave: Interleave::Times(2), ..in_assembly(&batch.way) })
            .filter(is_new),
    );
    ways
}

/// The compiler that the model's choice is given to, if both are here. With the loops that `auto`
/// keeps, C by gcc takes 0.79 of the time of clang's in bitsliced code, whose order is `auto`'s,
/// 1.10 in horizontal and 1.06 in vertical code (AVX2, geometric means of the programs of
/// `best.json`).
pub fn preferred(way: &Recipe) -> Cc {
    let [first, second] =
        if way.slicing == Slicing::Bit { [Cc::Gcc, Cc::Clang] } else { [Cc::Clang, Cc::Gcc] };
    if first.version().is_ok() { first } else { second }
}

/// Compiles ways of texts on all processors; `None` for those that fail or for which there is no
/// time. The first is always built.
fn build(
    texts: &[Text],
    jobs: &[(usize, Recipe)],
    until: Instant,
    tick: &(dyn Fn(&str) + Sync),
) -> Vec<Result<Option<PathBuf>, ToolError>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Result<Option<PathBuf>, ToolError>>> =
        Mutex::new(jobs.iter().map(|_| Ok(None)).collect());
    let n_threads =
        std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    let Some((of, way)) = jobs.get(at) else { break };
                    if at > 0 && Instant::now() > until {
                        break;
                    }
                    tick(&format!("compiling {} of {} programs", at + 1, jobs.len()));
                    let it = &texts[*of];
                    let built =
                        native::build_with(&it.source, &it.assembly, way.arch, way.cc, way.opt);
                    done.lock().expect("no thread panics")[at] = built.map(Some);
                }
            });
        }
    });
    done.into_inner().expect("no thread panics")
}

/// The measurements: the texts, what is known already, and the file that keeps it.
struct Meter<'a> {
    texts: &'a [Text],
    journal: &'a mut Journal,
    save: &'a mut dyn FnMut(&Journal),
    until: Instant,
}

impl Meter<'_> {
    fn known<'b>(&'b self, it: &Candidate) -> &'b [f64] {
        self.journal.get(&key(&it.program)).map_or(&[], Vec::as_slice)
    }

    fn score(&self, it: &Candidate) -> f64 {
        score(self.known(it))
    }

    /// One launch more, cycles a byte.
    fn launch(&mut self, it: &Candidate) -> Result<(), ToolError> {
        let cycles = native::bench(&it.program, 64, it.calls)? / self.texts[it.text].bytes;
        self.journal.entry(key(&it.program)).or_default().push(cycles);
        Ok(())
    }

    /// Measures all in turn until each has `n` launches, then keeps the better half, which
    /// gets twice as many.
    fn halve(
        &mut self,
        mut left: Vec<Candidate>,
        mut n: usize,
        tick: &dyn Fn(&str),
    ) -> Result<Vec<Candidate>, ToolError> {
        loop {
            tick(&format!("measuring {} programs, {n} launches", left.len()));
            for turn in 0..n {
                for it in &left {
                    if self.known(it).len() <= turn && (turn == 0 || Instant::now() < self.until) {
                        self.launch(it)?;
                    }
                }
                (self.save)(self.journal);
            }
            left.sort_by(|a, b| self.score(a).total_cmp(&self.score(b)));
            if left.len() <= LAST || Instant::now() > self.until {
                return Ok(left);
            }
            left.truncate(left.len().div_ceil(2).max(LAST));
            n *= 2;
        }
    }
}

/// The median of launches: the clock of a shared machine jumps, and the least of many
/// would be the luckiest.
fn score(launches: &[f64]) -> f64 {
    if launches.is_empty() { f64::MAX } else { stats::median(launches) }
}

fn key(program: &std::path::Path) -> String {
    program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Looks for the best way. `journal` has what an earlier run measured, and `save` is called
/// with what is added.
///
/// Errors: if the default cannot be compiled or a program does not run.
pub fn tune(
    subject: &Subject,
    ask: &Ask,
    journal: &mut Journal,
    save: &mut dyn FnMut(&Journal),
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Option<Tuned>, ToolError> {
    let begin = Instant::now();
    let at = |share: f64| begin + ask.budget.mul_f64(share);
    let mut is_cut = false;
    let default = default_way(subject, ask);
    let wanted = |emit: Emit| ask.emits.contains(&emit);
    // STEP 1: the model judges.
    let judged = texts(subject, ask, ways(subject, ask), at(0.2), &mut is_cut, tick);
    let n_judged = judged.len();
    let mut all = select(judged);
    if all.is_empty() {
        return Ok(None);
    }
    if wanted(Emit::Asm) && ask.arch.has_assembly() {
        let of_asm = assemblies(&all);
        all.extend(texts(subject, ask, of_asm, at(0.4), &mut is_cut, tick));
    }
    // STEP 2: programs of all.
    let mut jobs = vec![(0, default.clone())];
    // Assembly costs no time of a C compiler, so it comes after the best C of each slicing.
    let (of_asm, mut of_c): (Vec<_>, Vec<_>) =
        all.iter().enumerate().partition(|pair| pair.1.way.emit == Emit::Asm);
    let slicings: HashSet<Slicing> = of_c.iter().map(|pair| pair.1.way.slicing).collect();
    let rest = of_c.split_off((1 + slicings.len()).min(of_c.len()));
    for (k, it) in of_c.into_iter().chain(of_asm).chain(rest).filter(|pair| wanted(pair.1.way.emit))
    {
        let ccs = if it.way.emit == Emit::C { &Cc::ALL[..] } else { &Cc::ALL[..1] };
        jobs.extend(
            ccs.iter()
                .filter(|cc| cc.version().is_ok())
                .map(|cc| (k, Recipe { cc: *cc, ..it.way.clone() })),
        );
    }
    let mut meter = Meter { texts: &all, journal, save, until: at(0.9) };
    let mut left = candidates(&meter, jobs, at(0.7), &mut is_cut, tick)?;
    let base = left.remove(0);
    let mut of_c: Vec<Candidate> =
        left.iter().chain([&base]).filter(|found| found.way.emit == Emit::C).cloned().collect();
    let mut measured: Vec<(usize, Recipe, String)> = left
        .iter()
        .chain([&base])
        .map(|found| (found.text, found.way.clone(), key(&found.program)))
        .collect();
    // STEP 3: halving, then the same with other flags of the best.
    left = meter.halve(left, 1, tick)?;
    if wanted(Emit::C) && Instant::now() < at(0.8) {
        let best = left
            .iter()
            .find(|it| it.way.emit == Emit::C)
            .map(|found| (found.text, found.way.clone()));
        let flags = best.into_iter().flat_map(|(text, way)| {
            ["-O2", "-Os"].map(|opt| (text, Recipe { opt, ..way.clone() }))
        });
        let more = candidates(&meter, flags.collect(), at(0.85), &mut is_cut, tick)?;
        measured
            .extend(more.iter().map(|found| (found.text, found.way.clone(), key(&found.program))));
        of_c.extend(more.iter().cloned());
        left.extend(more);
        // They are as well known as those that are left already.
        let n = left.iter().map(|found| meter.known(found).len()).max().unwrap_or(1);
        left = meter.halve(left, n, tick)?;
    }
    // STEP 4: in turn, assembly with the best C, then the best with the default.
    meter.launch(&base)?;
    let in_turn = |a: &Candidate, b: &Candidate| {
        let one = |candidate: &Candidate| {
            Ok(native::bench(&candidate.program, 64, candidate.calls)? / all[candidate.text].bytes)
        };
        launches_in_turn(Sampling { patience: Duration::ZERO, ..Sampling::FULL }, 1.0, || {
            Ok((one(a)?, one(b)?))
        })
    };
    let is_asm = left.first().is_some_and(|left| left.way.emit == Emit::Asm);
    let best_c = of_c
        .iter()
        .min_by(|a, b| meter.score(a).total_cmp(&meter.score(b)))
        .filter(|_| is_asm && wanted(Emit::C));
    let mut against_c = None;
    if let Some(c) = best_c {
        tick("measuring the best assembly and the best C in turn");
        let it = in_turn(c, &left[0])?;
        if it.ratio_low <= 1.0 {
            left.insert(0, c.clone());
        }
        against_c = Some(it);
    }
    let against_default = match left.first() {
        Some(best) if best.program != base.program => {
            tick("measuring the best and the default in turn");
            Some(in_turn(&base, best)?)
        }
        _ => None,
    };
    let mut tried: Vec<Tried> = measured
        .into_iter()
        .filter_map(|(text, way, key)| {
            let launches = journal.get(&key)?;
            let Text { model, expected, equations, .. } = all[text];
            Some(Tried {
                way,
                model,
                expected,
                equations,
                cycles_per_byte: score(launches),
                launches: launches.len(),
            })
        })
        .collect();
    tried.sort_by(|a, b| a.cycles_per_byte.total_cmp(&b.cycles_per_byte));
    tried.dedup_by(|a, b| a.way == b.way);
    let is_tie =
        against_default.as_ref().is_none_or(|against_default| against_default.ratio_low <= 1.0);
    let first = if is_tie { &default } else { &left[0].way };
    if let Some(at) = tried.iter().position(|it| it.way == *first) {
        let it = tried.remove(at);
        tried.insert(0, it);
    }
    let against_default = against_default.filter(|_| !is_tie);
    Ok(Some(Tuned { tried, default, against_default, against_c, n_judged, is_cut }))
}

/// The time of one way by that of another, measured in turn; `None` if one of
/// them makes no program.
///
/// Errors: a compiler that fails, or a program that does.
pub fn in_turn(
    subject: &Subject,
    ways: [&Recipe; 2],
    sampling: Sampling,
) -> Result<Option<Summary>, ToolError> {
    let mut both = Vec::new();
    for it in ways {
        let Some((program, bytes)) = program(subject, it)? else { return Ok(None) };
        let calls = calls_for(&program)?;
        both.push((program, calls, bytes));
    }
    let one = |k: usize| Ok(native::bench(&both[k].0, 64, both[k].1)? / both[k].2);
    launches_in_turn(sampling, 1.0, || Ok((one(0)?, one(1)?))).map(Some)
}

/// The program of a way, and the bytes of output of one call.
fn program(subject: &Subject, way: &Recipe) -> Result<Option<(PathBuf, f64)>, ToolError> {
    let Some(text) = text(subject, way) else { return Ok(None) };
    let program = native::build_with(&text.source, &text.assembly, way.arch, way.cc, way.opt)?;
    Ok(Some((program, text.bytes)))
}

/// The programs of the jobs that could be built; the error of the first job,
/// which no other replaces.
fn candidates(
    meter: &Meter,
    jobs: Vec<(usize, Recipe)>,
    until: Instant,
    is_cut: &mut bool,
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Candidate>, ToolError> {
    let built = build(meter.texts, &jobs, until, tick);
    let mut all = Vec::new();
    for (k, (built, (text, way))) in built.into_iter().zip(jobs).enumerate() {
        match built {
            Ok(Some(program)) => {
                let calls = calls_for(&program)?;
                all.push(Candidate { text, way, program, calls });
            }
            Ok(None) => *is_cut = true,
            Err(error) if k == 0 => return Err(error),
            // A compiler that takes too long is no way.
            Err(_) => *is_cut = true,
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(slicing: Slicing, unroll: Unroll, expected: f64) -> Text {
        let way = Recipe::new(slicing, Arch::Avx2, Cc::Gcc, unroll, "-O3");
        Text {
            way,
            source: String::new(),
            assembly: String::new(),
            bytes: 1.0,
            model: expected,
            expected,
            equations: 1,
        }
    }

    #[test]
    fn each_slicing_is_compiled_early_and_the_hopeless_not_at_all() {
        let mut all = vec![text(Slicing::Bit, Unroll::Auto, 9.0)];
        all.extend((0..20).map(|k| text(Slicing::Bit, Unroll::Yes, 1.0 + f64::from(k) / 100.0)));
        all.extend([
            text(Slicing::Vertical, Unroll::Auto, 50.0),
            text(Slicing::Vertical, Unroll::Auto, 40.0),
        ]);
        all.push(text(Slicing::Horizontal, Unroll::No, 2.0));
        let kept = select(all);
        let seen: Vec<(Slicing, f64)> =
            kept.iter().map(|found| (found.way.slicing, found.expected)).collect();
        let first = [
            (Slicing::Bit, 9.0),
            (Slicing::Bit, 1.0),
            (Slicing::Horizontal, 2.0),
            (Slicing::Vertical, 40.0),
        ];
        assert_eq!(seen[..4], first, "the default, then the best of each slicing");
        assert!(seen[4..].iter().all(|pair| pair.1 < 2.5), "{seen:?}");
        assert_eq!(seen.len(), TEXTS + 1);
    }

    #[test]
    fn the_default_comes_first_and_every_option_is_there() {
        let subject = Subject::bundled("rectangle-80").expect("bundled").expect("right");
        let ask = Ask {
            arch: Arch::Avx2,
            word: None,
            slicing: None,
            orders: Orders::All,
            emits: vec![Emit::C],
            budget: Duration::from_secs(1),
        };
        let all = ways(&subject, &ask);
        assert_eq!(all[0], default_way(&subject, &ask));
        let n = all.iter().map(|way| format!("{way:?}")).collect::<HashSet<_>>().len();
        // Loops, inlining, schedules; three schedules and one batch of b, two and up to four of v
        // and h.
        assert_eq!((all.len(), n), (3 * 3 * (3 + 2 * 8), all.len()));
    }

    #[test]
    fn among_the_papers_orders_there_is_one_batch_and_no_order_that_came_later() {
        for (name, slicings) in [("rectangle-80", 3), ("chacha20", 2)] {
            let subject = Subject::bundled(name).expect("bundled").expect("right");
            let budget = Duration::from_secs(1);
            let ask = Ask {
                arch: Arch::Avx2,
                word: None,
                slicing: None,
                orders: Orders::Paper,
                emits: vec![Emit::C],
                budget,
            };
            let all = ways(&subject, &ask);
            assert_eq!(all[0], default_way(&subject, &ask));
            assert_eq!(all.len(), 3 * 3 * 2 * slicings, "{name}");
            for it in all {
                let scheduler =
                    if it.slicing == Slicing::Bit { Schedule::Bitslice } else { Schedule::Mslice };
                assert!(
                    it.interleave == Interleave::Times(1)
                        && it.emit == Emit::C
                        && [scheduler, Schedule::None].contains(&it.schedule),
                    "{it:?}"
                );
            }
        }
    }

    #[test]
    fn the_depth_order_of_bitsliced_code_is_tried_on_every_target() {
        let subject = Subject::bundled("rectangle-80").expect("bundled").expect("right");
        for arch in Arch::ALL {
            let ask = Ask {
                arch,
                word: None,
                slicing: None,
                orders: Orders::All,
                emits: vec![Emit::C],
                budget: Duration::from_secs(1),
            };
            let depth: Vec<Recipe> = ways(&subject, &ask)
                .into_iter()
                .filter(|way| way.schedule == Schedule::Depth)
                .collect();
            let loops: HashSet<Unroll> = depth.iter().map(|found| found.unroll).collect();
            assert_eq!(loops.len(), 3, "{}", arch.name());
            assert!(depth.iter().all(|it| it.slicing == Slicing::Bit), "{}", arch.name());
        }
        // And of a program that has other slicings, if only those are asked for, it is not.
        let slicing = Some(Slicing::Vertical);
        let budget = Duration::from_secs(1);
        let ask = Ask {
            arch: Arch::X86_64,
            word: None,
            slicing,
            orders: Orders::All,
            emits: vec![Emit::C],
            budget,
        };
        assert!(ways(&subject, &ask).iter().all(|way| way.schedule != Schedule::Depth));
    }

    #[test]
    fn the_depth_order_is_compiled_however_little_the_model_thinks_of_it() {
        let depth = |expected: f64| {
            let it = text(Slicing::Bit, Unroll::No, expected);
            Text {
                way: Recipe { arch: Arch::X86_64, schedule: Schedule::Depth, ..it.way.clone() },
                ..it
            }
        };
        let mut all = vec![text(Slicing::Bit, Unroll::Auto, 9.0)];
        all.extend((0..20).map(|k| text(Slicing::Bit, Unroll::No, 1.0 + f64::from(k) / 100.0)));
        all.extend([depth(90.0), depth(80.0)]);
        let kept = select(all);
        let of_depth: Vec<f64> = kept
            .iter()
            .filter(|found| found.way.schedule == Schedule::Depth)
            .map(|found| found.expected)
            .collect();
        assert_eq!(of_depth, [80.0], "the better one, although it is hopeless");
    }

    #[test]
    fn the_model_alone_gives_clang_no_depth_order_on_general_registers() {
        let believed = |arch, schedule, cc| {
            is_believed(&Recipe { arch, schedule, ..text(Slicing::Bit, Unroll::No, 1.0).way }, cc)
        };
        assert!(!believed(Arch::X86_64, Schedule::Depth, Cc::Clang));
        assert!(
            believed(Arch::X86_64, Schedule::Depth, Cc::Gcc)
                && believed(Arch::X86_64, Schedule::None, Cc::Clang)
        );
        assert!(
            believed(Arch::Avx2, Schedule::Depth, Cc::Clang)
                && believed(Arch::Neon, Schedule::Depth, Cc::Clang)
        );
    }

    #[test]
    fn of_ties_the_model_takes_the_default_but_for_the_batches() {
        let of = |unroll, interleave, expected| {
            let it = text(Slicing::Vertical, unroll, expected);
            let interleave = Interleave::Times(interleave);
            Text { way: Recipe { interleave, ..it.way.clone() }, ..it }
        };
        let all = [
            of(Unroll::Auto, 1, 1.05),
            of(Unroll::Auto, 2, 1.02),
            of(Unroll::Auto, 3, 1.03),
            of(Unroll::Yes, 4, 1.0),
        ];
        let chosen = |all: &[&Text]| {
            best_of_slicings(all)
                .iter()
                .map(|pair| (pair.0.unroll, pair.0.interleave))
                .collect::<Vec<_>>()
        };
        assert_eq!(chosen(&all.each_ref()), [(Unroll::Auto, Interleave::Times(2))]);
        let far = of(Unroll::Auto, 1, 1.2);
        assert_eq!(chosen(&[&far, &all[3]]), [(Unroll::Yes, Interleave::Times(4))], "no tie");
    }

    #[test]
    fn the_model_alone_prefers_what_the_cache_holds() {
        let of = |slicing, bytes: f64| Text { bytes, ..text(slicing, Unroll::Auto, 1.0) };
        let chosen =
            |all: &[Text]| believed(all).iter().map(|found| found.way.slicing).collect::<Vec<_>>();
        // 512 blocks of 40 bytes on AVX-512, as Ascon's, and of 33, as Subterranean's.
        let (long, short) = (of(Slicing::Bit, 512.0 * 40.0), of(Slicing::Bit, 512.0 * 33.0));
        let vertical = of(Slicing::Vertical, 8.0 * 40.0);
        assert_eq!(chosen(&[long.clone(), vertical.clone()]), [Slicing::Vertical]);
        assert_eq!(chosen(&[short, vertical]), [Slicing::Bit, Slicing::Vertical]);
        assert_eq!(chosen(&[long]), [Slicing::Bit], "where nothing else is asked for");
    }

    #[test]
    fn the_model_alone_does_not_leave_the_default_for_a_few_per_cent() {
        for name in ["present-80", "rectangle-80"] {
            let subject = Subject::bundled(name).expect("bundled").expect("right");
            let (slicing, budget) = (Some(Slicing::Bit), Duration::from_secs(60));
            let ask = Ask {
                arch: Arch::Avx2,
                word: None,
                slicing,
                orders: Orders::All,
                emits: vec![Emit::C],
                budget,
            };
            let (way, _) = by_model(&subject, &ask, &|_| ()).expect("it compiles");
            let of_default = |way: &Recipe| (way.unroll, way.inline, way.schedule, way.interleave);
            assert_eq!(of_default(&way), of_default(&default_way(&subject, &ask)), "{name}");
        }
    }

    #[test]
    fn assembly_is_judged_by_the_c_of_its_own_order() {
        let subject = Subject::bundled("des").expect("bundled").expect("right");
        let (slicing, budget, emits) =
            (Some(Slicing::Bit), Duration::from_secs(60), vec![Emit::C, Emit::Asm]);
        let ask =
            Ask { arch: Arch::X86_64, word: None, slicing, orders: Orders::All, emits, budget };
        let (way, expected) = by_model(&subject, &ask, &|_| ()).expect("it compiles");
        assert_eq!((way.emit, way.schedule), (Emit::Asm, Schedule::Auto));
        let of_c = |schedule| {
            super::text(&subject, &Recipe { emit: Emit::C, schedule, ..way.clone() })
                .expect("it fits")
                .expected
        };
        let (auto, depth) = (of_c(Schedule::Auto), of_c(Schedule::Depth));
        assert!(depth < 0.95 * auto, "the depth order is the better one for C: {depth} {auto}");
        let promise = way.promise(&subject).expect("it compiles").0.expect("assembly was chosen");
        assert!(
            (expected * experience::gain(promise) / auto - 1.0).abs() < 1e-9,
            "{expected} {promise} {auto}"
        );
    }

    #[test]
    fn two_batches_are_tried_in_assembly_where_c_has_one() {
        let all = [
            text(Slicing::Bit, Unroll::Auto, 1.0),
            text(Slicing::Vertical, Unroll::No, 1.5),
            text(Slicing::Vertical, Unroll::Auto, 2.0),
        ];
        let tried = |all: &[Text]| {
            assemblies(all)
                .iter()
                .map(|assembly| (assembly.slicing, assembly.unroll, assembly.interleave))
                .collect::<Vec<_>>()
        };
        let (one, two) = (Interleave::Times(1), Interleave::Times(2));
        let bit = (Slicing::Bit, Unroll::Auto, one);
        let rolled = (Slicing::Vertical, Unroll::No, one);
        assert_eq!(
            tried(&all),
            [
                bit,
                rolled,
                (Slicing::Vertical, Unroll::Auto, one),
                (Slicing::Vertical, Unroll::Auto, two)
            ]
        );
        assert_eq!(
            tried(&all[..2]),
            [bit, rolled],
            "bitsliced code has one, and loops that are kept are not the default's"
        );
        // C that has two already brings them, once.
        let of_two =
            Text { way: Recipe { interleave: two, ..all[2].way.clone() }, ..all[2].clone() };
        assert_eq!(tried(&[of_two]), [(Slicing::Vertical, Unroll::Auto, two)]);
    }

    #[test]
    fn assembly_begins_with_the_order_of_the_text() {
        let way = |schedule| Recipe { schedule, ..text(Slicing::Bit, Unroll::No, 1.0).way };
        assert_eq!(in_assembly(&way(Schedule::Depth)), in_assembly(&way(Schedule::Auto)));
        assert_eq!(in_assembly(&way(Schedule::None)).schedule, Schedule::None);
    }
}
