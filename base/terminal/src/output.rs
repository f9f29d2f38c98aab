//! Door: the only place that prints: text or one JSON object to standard output, the rest to
//! standard error; and the exit codes.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyModifiers};
use crossterm::terminal::{self, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, queue, style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::ToolError;
use report::Diagnostic;
use serde_json::{Value, json};

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The user's mistake; exit 1.
    User(Vec<Diagnostic>),
    /// The command did its work, printed it, and what it found is bad news; exit 1.
    Reported,
    /// There is nothing to say but this exit code: that of a program that was waited for.
    Exit(u8),
    /// This signal ended the command once it had cleaned up; the process dies by it, too.
    Signal(i32),
    /// A missing tool or a failed call; exit 2.
    Environment {
        /// What was run, as a command line or a sentence such as `read x.ua`.
        ran: String,
        said: String,
        /// What to do, only if we are sure.
        help: Option<String>,
    },
}

impl Failure {
    /// A user's mistake that has no place in a file.
    pub fn user(message: impl Into<String>, help: Option<&str>) -> Failure {
        let mut diagnostic = Diagnostic::new(message);
        diagnostic.help = help.map(str::to_owned);
        Failure::User(vec![diagnostic])
    }

    /// A failed call: what was run and what it said.
    pub fn environment(ran: impl Into<String>, said: impl ToString) -> Failure {
        Failure::Environment { ran: ran.into(), said: said.to_string(), help: None }
    }

    /// A tool that failed; [`Output::finish`] says what installs it if it is missing.
    pub fn tool(error: ToolError) -> Failure {
        Failure::environment(error.ran, error.said)
    }

    fn exit_code(&self) -> u8 {
        match self {
            Failure::User(_) | Failure::Reported => 1,
            Failure::Exit(code) => *code,
            Failure::Signal(number) => measure::interrupt::die_by(*number),
            Failure::Environment { .. } => 2,
        }
    }
}

/// Where a command's results go.
#[derive(Debug)]
pub struct Output {
    json: bool,
    colour: bool,
    colour_of_errors: bool,
    /// `ok` of the object that the command printed, or would have printed under `--json`.
    said_ok: Option<bool>,
    /// True for a tool that `meanwhile doctor` lists.
    lists: fn(&str) -> bool,
}

impl Output {
    /// Output for this process; `json` is the user's `--json`.
    pub fn new(json: bool) -> Output {
        let colour_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|value| value != "dumb");
        Output {
            json,
            colour: colour_wanted && io::stdout().is_terminal(),
            colour_of_errors: colour_wanted && io::stderr().is_terminal(),
            said_ok: None,
            lists: |_| false,
        }
    }

    /// Of a missing tool that `lists` knows, a failure says what installs it.
    #[must_use]
    pub fn with_tools(mut self, lists: fn(&str) -> bool) -> Output {
        self.lists = lists;
        self
    }

    /// From here on as under `--json`.
    pub fn only_object(&mut self) {
        self.json = true;
    }

    /// Prints `text` and a line end to standard output; nothing under `--json`.
    pub fn line(&mut self, text: &str) {
        if !self.json {
            to_stdout(&[text.as_bytes(), b"\n"]);
        }
    }

    /// Prints `text` as it is to standard output; nothing under `--json`.
    pub fn text(&mut self, text: &str) {
        if !self.json {
            to_stdout(&[text.as_bytes()]);
        }
    }

    /// Prints the command's one JSON object; nothing without `--json`.
    pub fn object(&mut self, value: &Value) {
        self.said_ok = value["ok"].as_bool();
        assert!(
            self.said_ok.is_some(),
            "every object says in `ok` whether the command did what was asked"
        );
        if self.json {
            to_stdout(&[value.to_string().as_bytes(), b"\n"]);
        }
    }

    /// Prints a warning to standard error, in both modes.
    pub fn warning(&mut self, text: &str) {
        let word = paint("warning", "1;33", self.colour_of_errors);
        to_stderr(&format!("{word}: {text}\n"));
    }

    /// Passes on what a tool wrote to its standard error, in both modes.
    pub fn errors(&mut self, said: &[u8]) {
        // A closed standard error is left closed.
        let _ = io::stderr().lock().write_all(said);
    }

    pub fn is_json(&self) -> bool {
        self.json
    }

    /// True if changing pictures are seen: a terminal, and no `--json`.
    pub fn is_live(&self) -> bool {
        !self.json && io::stdout().is_terminal() && io::stdin().is_terminal()
    }

    /// A progress bar on standard error; hidden under `--json` and outside a terminal.
    pub fn progress(&self, n_steps: u64) -> ProgressBar {
        if self.json || !io::stderr().is_terminal() {
            return ProgressBar::with_draw_target(Some(n_steps), ProgressDrawTarget::hidden());
        }
        let shape = if self.colour_of_errors {
            "{bar:30.cyan} {pos}/{len} {elapsed} {wide_msg}"
        } else {
            "{bar:30} {pos}/{len} {elapsed} {wide_msg}"
        };
        let style = ProgressStyle::with_template(shape).expect("the template is a constant");
        let bar = ProgressBar::new(n_steps).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(250));
        bar
    }

    /// Says why the command failed, if it did, and turns that into the exit code.
    pub fn finish(&mut self, ended: Result<(), Failure>) -> ExitCode {
        // What an interrupt broke on its way is no failure of the command.
        measure::interrupt::hold();
        debug_assert!(
            self.said_ok.is_none_or(|said| said == ended.is_ok()),
            "`ok` is true if the exit code is 0, and only then"
        );
        let Err(mut failure) = ended else {
            return ExitCode::SUCCESS;
        };
        if let Failure::Environment { ran, help: help @ None, .. } = &mut failure {
            let program = ran.split(' ').next().unwrap_or_default();
            let is_missing = (self.lists)(program) && measure::tool::find(program).is_none();
            *help = is_missing
                .then(|| "`meanwhile doctor` lists the tools and what installs them".to_owned());
        }
        if self.json {
            if let Some(object) = failure_object(&failure) {
                self.object(&object);
            }
        } else {
            to_stderr(&failure_text(&failure, self.colour_of_errors));
        }
        ExitCode::from(failure.exit_code())
    }
}

/// Writes a file that the user named, see [`measure::file::write`].
pub fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    measure::file::write(path, bytes.as_ref())
        .map_err(|error| Failure::environment(format!("write {}", path.display()), error))
}

/// Refuses a file that [`write_file`] could not write, before the work is done.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    measure::file::check_writable(path)
        .map_err(|error| Failure::environment(format!("write {}", path.display()), error))
}

/// What a key pressed before a [`Screen`] means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// `q`, Escape or Ctrl-C.
    Quit,
    /// Another key, another size, or nothing in time.
    Other,
}

/// The whole terminal, until it is dropped.
#[derive(Debug)]
pub struct Screen;

impl Screen {
    /// Keys come one by one, and what was on the terminal is kept for later.
    pub fn open() -> io::Result<Screen> {
        terminal::enable_raw_mode()?;
        let screen = Screen;
        execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }

    /// Draws `text` instead of what is there; what does not fit is cut off.
    pub fn draw(&mut self, text: &str) -> io::Result<()> {
        let (width, height) = terminal::size()?;
        let mut stdout = io::stdout().lock();
        queue!(stdout, cursor::MoveTo(0, 0))?;
        for line in text.lines().take(usize::from(height)) {
            let line: String = line.chars().take(usize::from(width)).collect();
            queue!(
                stdout,
                style::Print(line),
                terminal::Clear(ClearType::UntilNewLine),
                cursor::MoveToNextLine(1)
            )?;
        }
        queue!(stdout, terminal::Clear(ClearType::FromCursorDown))?;
        stdout.flush()
    }

    /// Waits for a key.
    pub fn key(&mut self, time: Duration) -> io::Result<Key> {
        if !event::poll(time)? {
            return Ok(Key::Other);
        }
        let Event::Key(key) = event::read()? else { return Ok(Key::Other) };
        let is_break =
            key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        Ok(if is_break || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) {
            Key::Quit
        } else {
            Key::Other
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is nowhere left to say that the terminal is gone.
        let _ = execute!(io::stdout(), cursor::Show, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

/// Gives the terminal back when the process is interrupted: what a progress bar drew is left behind
/// by a new line.
pub fn restore_terminal() {
    if io::stderr().is_terminal() {
        to_stderr("\n");
    }
}

/// Prints help or version, or says what is wrong with the arguments; 0 or 1. `now` is the command
/// line that does what these once did, if they are old ones.
pub fn usage(refused: &clap::Error, now: Option<&str>) -> ExitCode {
    // The arguments could not be parsed, so `--json` is looked for by hand.
    let json = std::env::args_os().take_while(|arg| arg != "--").any(|arg| arg == "--json");
    let mut out = Output::new(json);
    if !refused.use_stderr() {
        if json {
            out.object(&json!({"ok": true, "text": refused.render().to_string()}));
        } else {
            let text = if out.colour {
                refused.render().ansi().to_string()
            } else {
                refused.render().to_string()
            };
            to_stdout(&[text.as_bytes()]);
        }
        return ExitCode::SUCCESS;
    }
    let plain = refused.render().to_string();
    let message = plain
        .strip_prefix("error: ")
        .unwrap_or(&plain)
        .split("\n\n")
        .next()
        .unwrap_or(&plain)
        .trim()
        .to_owned();
    if let Some(now) = now {
        let program = if now.starts_with("meanwhile-lab") {
            ", a program of the repository; `make report` builds it"
        } else {
            ""
        };
        return out
            .finish(Err(Failure::user(message, Some(&format!("this is `{now}` now{program}")))));
    }
    if json {
        return out.finish(Err(Failure::user(message, None)));
    }
    to_stderr(&if out.colour_of_errors { refused.render().ansi().to_string() } else { plain });
    ExitCode::from(1)
}

fn failure_text(failure: &Failure, colour: bool) -> String {
    match failure {
        Failure::Reported | Failure::Exit(_) | Failure::Signal(_) => String::new(),
        Failure::User(diagnostics) => diagnostics
            .iter()
            .map(|diagnostic| diagnostic.render(colour))
            .collect::<Vec<String>>()
            .join("\n"),
        Failure::Environment { ran, said, help } => {
            let word = paint("error", "1;31", colour);
            let mut text = format!("{word}: `{ran}` failed\n");
            for line in said.trim().lines() {
                text += &format!("  | {line}\n");
            }
            if let Some(help) = help {
                text += &format!("  = help: {help}\n");
            }
            text
        }
    }
}

fn failure_object(failure: &Failure) -> Option<Value> {
    let errors = match failure {
        Failure::Reported | Failure::Exit(_) | Failure::Signal(_) => return None,
        Failure::User(diagnostics) => diagnostics.iter().map(Diagnostic::to_json).collect(),
        Failure::Environment { ran, said, help } => vec![json!({
            "file": null,
            "line": null,
            "column": null,
            "message": format!("`{ran}` failed: {}", said.trim()),
            "help": help,
        })],
    };
    Some(json!({"ok": false, "errors": errors}))
}

fn paint(word: &str, sgr: &str, colour: bool) -> String {
    if colour { format!("\u{1b}[{sgr}m{word}\u{1b}[0m") } else { word.to_owned() }
}

/// A reader that closes the pipe has seen enough: we end quietly. Any other error is said.
fn to_stdout(parts: &[&[u8]]) {
    let mut stdout = io::stdout().lock();
    let written =
        parts.iter().try_for_each(|part| stdout.write_all(part)).and_then(|()| stdout.flush());
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            to_stderr(&format!("error: `write standard output` failed\n  | {error}\n"));
            std::process::exit(2);
        }
    }
}

/// With standard error closed there is nowhere left to say it, so its errors are dropped.
fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
