//! Scenario files: threads that call, return, wait and yield, as the user writes them.
//!
//! ```text
//! stream NAME BYTES     a stream and what fits into it
//! thread NAME           what follows is done by this thread
//! put STREAM N          N bytes in one call; waits for room
//! get STREAM N          N bytes in one call; waits for them
//! yield                 the other ready threads run first
//! sleep                 the same, and no window stays behind
//! flush                 all windows but the current one go to memory
//! mutex NAME            a mutex; `lock NAME`, `unlock NAME`
//! semaphore NAME N      a semaphore that N threads may take; `take NAME`, `give NAME`
//! tick                  a tick of the clock
//! wait N                until the clock has ticked N times; only with the variant that has a clock
//! try NAME N            takes a semaphore and gives it back, if it can within N ticks
//! float N               the thread computes with floating point; N is what it adds; only with the variant that has it
//! priority N            the thread's from now on, 0 (most urgent) to 31; kept by the schedule `priorities` only
//! call ... return       one frame deeper
//! repeat N ... end      N times
//! ```
//! A `#` begins a comment. A thread closes the streams that it wrote when it ends.

use std::ops::RangeInclusive;
use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span, did_you_mean};

use crate::qemu::Blob;

/// Most threads of a scenario: the table of the image.
pub const THREADS_MAX: usize = 24;
/// Most streams of a scenario.
pub const STREAMS_MAX: usize = 32;
/// Most bytes of a stream.
pub const CAPACITY_MAX: u32 = 1024;
/// Most bytes of one put or get.
pub const BYTES_MAX: u32 = 64;
/// Most calls of a thread inside each other: what its stack holds.
pub const CALLS_MAX: usize = 60;
/// Most mutexes, and most semaphores.
pub const LOCKS_MAX: usize = 8;
const PRIORITY_MAX: u32 = 31;
const NEST_MAX: usize = 8;
pub const TIMES_MAX: u32 = 60_000;
const NAME_MAX: usize = 15;
const STEPS_MAX: usize = 20_000;

/// One thing that a thread does; streams by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Call,
    Return,
    Put(usize, u32),
    Get(usize, u32),
    Yield,
    /// Lets others run; its windows are stored at once.
    Sleep,
    /// All windows but the current one go to memory.
    Flush,
    /// Has a mutex from then on.
    Lock(usize),
    Unlock(usize),
    /// Takes from a semaphore; waits while it is 0.
    Take(usize),
    Give(usize),
    Priority(u32),
    /// A tick of the clock.
    Tick,
    /// Until it has ticked so often.
    Wait(u32),
    /// Takes from a semaphore, for so many ticks at most, and gives it back.
    Try(usize, u32),
    /// Adds to what a register of floating point has.
    Float(u32),
    /// What follows, up to [`Step::End`], so many times.
    Repeat(u32),
    /// The end of the innermost repetition.
    End,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scenario {
    /// Streams: name and bytes.
    pub streams: Vec<(String, u32)>,
    pub mutexes: Vec<String>,
    /// Semaphores and how many may take them at first.
    pub semaphores: Vec<(String, u32)>,
    /// Threads: name and what it does.
    pub threads: Vec<(String, Vec<Step>)>,
}

/// The words of a line with their places.
fn words(line: &str, start: usize) -> Vec<(&str, usize)> {
    let line = line.split('#').next().unwrap_or("");
    line.split_whitespace()
        .map(|word| (word, start + (word.as_ptr() as usize - line.as_ptr() as usize)))
        .collect()
}

struct Parser {
    file: Arc<SourceFile>,
    scenario: Scenario,
    /// What is open in the current thread: `call` or `repeat`, and where.
    open: Vec<(bool, usize)>,
}

impl Parser {
    fn fault(&self, at: usize, n: usize, message: String, label: &str) -> Diagnostic {
        Diagnostic::new(message).at(Span::new(&self.file, at..at + n), label)
    }

    fn number(
        &self,
        word: Option<&(&str, usize)>,
        after: (&str, usize),
        range: RangeInclusive<u32>,
    ) -> Result<u32, Diagnostic> {
        let Some((text, at)) = word else {
            return Err(self.fault(
                after.1,
                after.0.len(),
                format!("`{}` needs a number", after.0),
                "here",
            ));
        };
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => {
                let message =
                    format!("`{text}` is no number from {} to {}", range.start(), range.end());
                Err(self.fault(*at, text.len(), message, "here"))
            }
        }
    }

    fn name(
        &self,
        word: Option<&(&str, usize)>,
        after: (&str, usize),
    ) -> Result<String, Diagnostic> {
        let Some((text, at)) = word else {
            return Err(self.fault(
                after.1,
                after.0.len(),
                format!("`{}` needs a name", after.0),
                "here",
            ));
        };
        if text.len() > NAME_MAX
            || !text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        {
            return Err(self.fault(
                *at,
                text.len(),
                format!("`{text}` is no name"),
                "up to 15 letters, digits, `-`, `_`",
            ));
        }
        let it = &self.scenario;
        let mut names = it
            .streams
            .iter()
            .chain(&it.semaphores)
            .map(|stream| &stream.0)
            .chain(it.threads.iter().map(|thread| &thread.0))
            .chain(&it.mutexes);
        let taken = names.any(|name| name == text);
        if taken {
            return Err(self.fault(
                *at,
                text.len(),
                format!("`{text}` is there already"),
                "again here",
            ));
        }
        Ok((*text).to_owned())
    }

    /// The number of what a step names, a `kind` among `known`; `declared` is how
    /// it would be declared.
    fn named(
        &self,
        kind: &str,
        declared: &str,
        known: &[&str],
        word: Option<&(&str, usize)>,
        after: (&str, usize),
    ) -> Result<usize, Diagnostic> {
        let Some((text, at)) = word else {
            return Err(self.fault(
                after.1,
                after.0.len(),
                format!("`{}` needs a {kind}", after.0),
                "here",
            ));
        };
        known.iter().position(|it| it == text).ok_or_else(|| {
            let fault = self.fault(
                *at,
                text.len(),
                format!("there is no {kind} `{text}`"),
                "not above this line",
            );
            match did_you_mean(text, known.iter().copied()) {
                Some(meant) => fault.with_help(meant),
                None => fault.with_help(format!("write `{kind} {text}{declared}` above")),
            }
        })
    }

    fn stream(
        &self,
        word: Option<&(&str, usize)>,
        after: (&str, usize),
    ) -> Result<usize, Diagnostic> {
        let known: Vec<&str> =
            self.scenario.streams.iter().map(|stream| stream.0.as_str()).collect();
        self.named("stream", " BYTES", &known, word, after)
    }

    fn mutex(
        &self,
        word: Option<&(&str, usize)>,
        after: (&str, usize),
    ) -> Result<usize, Diagnostic> {
        let known: Vec<&str> = self.scenario.mutexes.iter().map(String::as_str).collect();
        self.named("mutex", "", &known, word, after)
    }

    fn semaphore(
        &self,
        word: Option<&(&str, usize)>,
        after: (&str, usize),
    ) -> Result<usize, Diagnostic> {
        let known: Vec<&str> =
            self.scenario.semaphores.iter().map(|semaphore| semaphore.0.as_str()).collect();
        self.named("semaphore", " N", &known, word, after)
    }

    fn line(&mut self, words: &[(&str, usize)]) -> Result<(), Diagnostic> {
        let Some(&first) = words.first() else { return Ok(()) };
        let (word, at) = first;
        let file = Arc::clone(&self.file);
        let here = |message: String, label: &str| {
            Diagnostic::new(message).at(Span::new(&file, at..at + word.len()), label)
        };
        let known = [
            "stream",
            "mutex",
            "semaphore",
            "thread",
            "put",
            "get",
            "lock",
            "unlock",
            "take",
            "give",
            "priority",
            "float",
            "tick",
            "wait",
            "try",
            "yield",
            "sleep",
            "flush",
            "call",
            "return",
            "repeat",
            "end",
        ];
        let n_words = match word {
            "stream" | "semaphore" | "put" | "get" | "try" => 3,
            "mutex" | "thread" | "repeat" | "lock" | "unlock" | "take" | "give" | "priority"
            | "float" | "wait" => 2,
            _ => 1,
        };
        if !known.contains(&word) {
            let fault = here(format!("`{word}` is no step of a scenario"), "here");
            return Err(match did_you_mean(word, known) {
                Some(meant) => fault.with_help(meant),
                None => fault.with_help(format!("there are {}", known.join(", "))),
            });
        }
        if let Some((text, at)) = words.get(n_words) {
            return Err(self.fault(
                *at,
                text.len(),
                format!("`{word}` takes nothing more"),
                "here",
            ));
        }
        if word == "stream" {
            if self.scenario.streams.len() == STREAMS_MAX {
                return Err(here(format!("there are more than {STREAMS_MAX} streams"), "here"));
            }
            let name = self.name(words.get(1), first)?;
            let bytes = self.number(words.get(2), first, 1..=CAPACITY_MAX)?;
            self.scenario.streams.push((name, bytes));
            return Ok(());
        }
        if word == "mutex" || word == "semaphore" {
            let is_mutex = word == "mutex";
            if if is_mutex { self.scenario.mutexes.len() } else { self.scenario.semaphores.len() }
                == LOCKS_MAX
            {
                return Err(here(format!("there are more than {LOCKS_MAX} of this kind"), "here"));
            }
            let name = self.name(words.get(1), first)?;
            if is_mutex {
                self.scenario.mutexes.push(name);
            } else {
                let count = self.number(words.get(2), first, 1..=TIMES_MAX)?;
                self.scenario.semaphores.push((name, count));
            }
            return Ok(());
        }
        if word == "thread" {
            self.closed()?;
            if self.scenario.threads.len() == THREADS_MAX {
                return Err(here(format!("there are more than {THREADS_MAX} threads"), "here"));
            }
            let name = self.name(words.get(1), first)?;
            self.scenario.threads.push((name, Vec::new()));
            return Ok(());
        }
        if self.scenario.threads.is_empty() {
            return Err(here(format!("`{word}` belongs to no thread"), "here")
                .with_help("write `thread NAME` above"));
        }
        let open = self.open.clone();
        let depth = |calls: bool| open.iter().filter(|pair| pair.0 == calls).count();
        let step = match word {
            "put" | "get" => {
                let stream = self.stream(words.get(1), first)?;
                let n = self.number(words.get(2), first, 1..=BYTES_MAX)?;
                if word == "put" { Step::Put(stream, n) } else { Step::Get(stream, n) }
            }
            "lock" => Step::Lock(self.mutex(words.get(1), first)?),
            "unlock" => Step::Unlock(self.mutex(words.get(1), first)?),
            "take" => Step::Take(self.semaphore(words.get(1), first)?),
            "give" => Step::Give(self.semaphore(words.get(1), first)?),
            "priority" => Step::Priority(self.number(words.get(1), first, 0..=PRIORITY_MAX)?),
            "tick" => Step::Tick,
            "wait" => Step::Wait(self.number(words.get(1), first, 1..=TIMES_MAX)?),
            "try" => {
                let semaphore = self.semaphore(words.get(1), first)?;
                Step::Try(semaphore, self.number(words.get(2), first, 1..=TIMES_MAX)?)
            }
            "float" => Step::Float(self.number(words.get(1), first, 1..=TIMES_MAX)?),
            "yield" => Step::Yield,
            "sleep" => Step::Sleep,
            "flush" => Step::Flush,
            "call" if depth(true) >= CALLS_MAX => {
                let why = format!("more than {CALLS_MAX} calls inside each other");
                return Err(here(why, "one too deep"));
            }
            "call" => Step::Call,
            "repeat" if depth(false) == NEST_MAX => {
                return Err(here(
                    format!("more than {NEST_MAX} repetitions inside each other"),
                    "here",
                ));
            }
            "repeat" => Step::Repeat(self.number(words.get(1), first, 1..=TIMES_MAX)?),
            _ => {
                let calls = word == "return";
                let opens = if calls { "call" } else { "repeat" };
                match self.open.pop() {
                    Some((it, _)) if it == calls => {}
                    _ => {
                        return Err(here(
                            format!("`{word}` without `{opens}`"),
                            "nothing to end here",
                        ));
                    }
                }
                if calls { Step::Return } else { Step::End }
            }
        };
        match step {
            Step::Call => self.open.push((true, at)),
            Step::Repeat(_) => self.open.push((false, at)),
            _ => {}
        }
        let (name, steps) = self.scenario.threads.last_mut().expect("there is a thread");
        if steps.len() == STEPS_MAX {
            let message = format!("thread `{name}` has more than {STEPS_MAX} steps");
            return Err(self.fault(at, word.len(), message, "here"));
        }
        steps.push(step);
        Ok(())
    }

    fn closed(&mut self) -> Result<(), Diagnostic> {
        match self.open.pop() {
            None => Ok(()),
            Some((true, at)) => {
                Err(self.fault(at, 4, "`call` without `return`".to_owned(), "opened here"))
            }
            Some((false, at)) => {
                Err(self.fault(at, 6, "`repeat` without `end`".to_owned(), "opened here"))
            }
        }
    }
}

impl Scenario {
    /// The scenario that a file describes, or the first thing that is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Scenario, Diagnostic> {
        let file = SourceFile::new(name, text);
        let mut parser = Parser { file, scenario: Scenario::default(), open: Vec::new() };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            parser.line(&words(line, start))?;
            start += line.len();
        }
        parser.closed()?;
        if parser.scenario.threads.is_empty() {
            return Err(parser.fault(
                0,
                0,
                format!("`{name}` has no thread"),
                "a scenario has at least one",
            ));
        }
        Ok(parser.scenario)
    }

    /// The names of the threads.
    pub fn names(&self) -> Vec<String> {
        self.threads.iter().map(|thread| thread.0.clone()).collect()
    }

    /// The table that the image works through, as `scenario/main.c` reads it.
    pub fn blobs(&self) -> Vec<Blob> {
        self.preempted(0)
    }

    /// The same with an interrupt every `quantum` ticks of the timer, if the image
    /// has interrupts; 0: none.
    pub fn preempted(&self, quantum: u32) -> Vec<Blob> {
        let writes = |steps: &[Step], stream: usize| {
            steps.iter().any(|step| matches!(step, Step::Put(s, _) if *s == stream))
        };
        let mut bytes: Vec<u8> = Vec::new();
        let word = |bytes: &mut Vec<u8>, word: u32| bytes.extend(word.to_be_bytes());
        let name = |bytes: &mut Vec<u8>, name: &str| {
            bytes.extend(name.bytes().chain(std::iter::repeat(0)).take(16));
        };
        word(&mut bytes, self.threads.len() as u32);
        word(&mut bytes, self.streams.len() as u32);
        word(&mut bytes, quantum);
        for idx in 0..STREAMS_MAX {
            let (text, capacity) =
                self.streams.get(idx).map_or(("", 0), |pair| (pair.0.as_str(), pair.1));
            name(&mut bytes, text);
            word(&mut bytes, capacity);
            word(
                &mut bytes,
                self.threads.iter().filter(|thread| writes(&thread.1, idx)).count() as u32,
            );
        }
        for idx in 0..LOCKS_MAX {
            name(&mut bytes, self.mutexes.get(idx).map_or("", String::as_str));
        }
        for idx in 0..LOCKS_MAX {
            let (text, count) =
                self.semaphores.get(idx).map_or(("", 0), |pair| (pair.0.as_str(), pair.1));
            name(&mut bytes, text);
            word(&mut bytes, count);
        }
        let mut code: Vec<u32> = Vec::new();
        for idx in 0..THREADS_MAX {
            name(&mut bytes, self.threads.get(idx).map_or("", |thread| thread.0.as_str()));
            word(&mut bytes, code.len() as u32);
            let Some((_, steps)) = self.threads.get(idx) else { continue };
            let mut starts = Vec::new();
            for step in steps {
                code.push(match *step {
                    Step::Call => 1 << 24,
                    Step::Return => 2 << 24,
                    Step::Put(stream, n) => 3 << 24 | (stream as u32) << 16 | n,
                    Step::Get(stream, n) => 4 << 24 | (stream as u32) << 16 | n,
                    Step::Yield => 5 << 24,
                    Step::Flush => 9 << 24,
                    Step::Sleep => 10 << 24,
                    Step::Lock(mutex) => 11 << 24 | (mutex as u32) << 16,
                    Step::Unlock(mutex) => 12 << 24 | (mutex as u32) << 16,
                    Step::Take(semaphore) => 13 << 24 | (semaphore as u32) << 16,
                    Step::Give(semaphore) => 14 << 24 | (semaphore as u32) << 16,
                    Step::Priority(n) => 15 << 24 | n,
                    Step::Float(n) => 16 << 24 | n,
                    Step::Wait(n) => 17 << 24 | n,
                    Step::Tick => 18 << 24,
                    Step::Try(semaphore, n) => 19 << 24 | (semaphore as u32) << 16 | n,
                    Step::Repeat(n) => {
                        starts.push(code.len());
                        6 << 24 | n
                    }
                    Step::End => {
                        7 << 24
                            | (code.len() - starts.pop().expect("an end has its beginning")) as u32
                    }
                });
            }
            let closes = (0..self.streams.len()).filter(|idx| writes(steps, *idx));
            code.extend(closes.map(|close| 8 << 24 | (close as u32) << 16));
            code.push(0);
        }
        code.into_iter().for_each(|it| word(&mut bytes, it));
        vec![Blob { address: 0x4044_0000, bytes }]
    }

    /// The scenario as a file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, bytes) in &self.streams {
            text += &format!("stream {name} {bytes}\n");
        }
        for name in &self.mutexes {
            text += &format!("mutex {name}\n");
        }
        for (name, count) in &self.semaphores {
            text += &format!("semaphore {name} {count}\n");
        }
        for (name, steps) in &self.threads {
            text += &format!("\nthread {name}\n");
            let mut depth = 1;
            for step in steps {
                if matches!(step, Step::Return | Step::End) {
                    depth -= 1;
                }
                let line = match *step {
                    Step::Call => "call".to_owned(),
                    Step::Return => "return".to_owned(),
                    Step::Put(stream, n) => format!("put {} {n}", self.streams[stream].0),
                    Step::Get(stream, n) => format!("get {} {n}", self.streams[stream].0),
                    Step::Yield => "yield".to_owned(),
                    Step::Sleep => "sleep".to_owned(),
                    Step::Flush => "flush".to_owned(),
                    Step::Lock(mutex) => format!("lock {}", self.mutexes[mutex]),
                    Step::Unlock(mutex) => format!("unlock {}", self.mutexes[mutex]),
                    Step::Take(semaphore) => format!("take {}", self.semaphores[semaphore].0),
                    Step::Give(semaphore) => format!("give {}", self.semaphores[semaphore].0),
                    Step::Priority(n) => format!("priority {n}"),
                    Step::Float(n) => format!("float {n}"),
                    Step::Wait(n) => format!("wait {n}"),
                    Step::Tick => "tick".to_owned(),
                    Step::Try(semaphore, n) => format!("try {} {n}", self.semaphores[semaphore].0),
                    Step::Repeat(n) => format!("repeat {n}"),
                    Step::End => "end".to_owned(),
                };
                text += &format!("{}{line}\n", "  ".repeat(depth));
                if matches!(step, Step::Call | Step::Repeat(_)) {
                    depth += 1;
                }
            }
        }
        text
    }

    /// True if a thread computes with floating point.
    pub fn has_floats(&self) -> bool {
        self.threads.iter().any(|thread| thread.1.iter().any(|step| matches!(step, Step::Float(_))))
    }

    /// True if a thread waits for the clock, or makes it tick.
    pub fn has_clock(&self) -> bool {
        self.threads.iter().any(|thread| {
            thread.1.iter().any(|step| matches!(step, Step::Tick | Step::Wait(_) | Step::Try(..)))
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let fault = Scenario::parse("my.txt", text).expect_err("the file is wrong");
        expected.assert_eq(&fault.to_string());
    }

    #[test]
    fn a_file_and_its_text() {
        for text in
            [include_str!("../scenarios/ping-pong.txt"), include_str!("../scenarios/deep.txt")]
        {
            let scenario = Scenario::parse("it", text).expect("the file is right");
            assert_eq!(
                Scenario::parse("it", &scenario.text()).expect("its text is right"),
                scenario
            );
        }
    }

    #[test]
    fn refuses_what_is_not_a_step() {
        check("thread a\n  cal\n", expect!["my.txt:2:3: `cal` is no step of a scenario"]);
        check("thread a\n  yield 3\n", expect!["my.txt:2:9: `yield` takes nothing more"]);
        check("yield\n", expect!["my.txt:1:1: `yield` belongs to no thread"]);
        check("", expect!["my.txt:1:1: `my.txt` has no thread"]);
    }

    #[test]
    fn refuses_names_and_numbers() {
        check("stream a 0\n", expect!["my.txt:1:10: `0` is no number from 1 to 1024"]);
        check("stream a 2000\n", expect!["my.txt:1:10: `2000` is no number from 1 to 1024"]);
        check("stream a 4\nthread b\nput c 1\n", expect!["my.txt:3:5: there is no stream `c`"]);
        check("stream a 4\nthread a\n", expect!["my.txt:2:8: `a` is there already"]);
        check(
            "stream a 4\nthread b\nput a 65\n",
            expect!["my.txt:3:7: `65` is no number from 1 to 64"],
        );
        check("mutex m\nthread b\nlock n\n", expect!["my.txt:3:6: there is no mutex `n`"]);
        check("semaphore m 1\nthread b\ntake\n", expect!["my.txt:3:1: `take` needs a semaphore"]);
        check("mutex m\nsemaphore m 1\n", expect!["my.txt:2:11: `m` is there already"]);
        check("thread b\npriority 32\n", expect!["my.txt:2:10: `32` is no number from 0 to 31"]);
        check(
            "thread this-name-is-too-long\n",
            expect!["my.txt:1:8: `this-name-is-too-long` is no name"],
        );
    }

    #[test]
    fn refuses_what_is_not_closed() {
        check("thread a\ncall\n", expect!["my.txt:2:1: `call` without `return`"]);
        check("thread a\nrepeat 3\nreturn\n", expect!["my.txt:3:1: `return` without `call`"]);
        check("thread a\nend\n", expect!["my.txt:2:1: `end` without `repeat`"]);
    }

    #[test]
    fn refuses_too_much() {
        let threads: String = (0..25).map(|idx| format!("thread t{idx}\n")).collect();
        check(&threads, expect!["my.txt:25:1: there are more than 24 threads"]);
        check(
            &format!("thread a\n{}", "call\n".repeat(61)),
            expect!["my.txt:62:1: more than 60 calls inside each other"],
        );
        let deepest = format!("thread a\n{}{}", "call\n".repeat(60), "return\n".repeat(60));
        assert!(Scenario::parse("my.txt", &deepest).is_ok());
    }
}
