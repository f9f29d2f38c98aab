//! Door: external tools: run with a time limit, ended with all their children at the limit.

use std::ffi::OsStr;
use std::fmt;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::{interrupt, scratch, system};

/// How long the output may take after the tool's end, even at the limit.
const GRACE: Duration = Duration::from_secs(1);

/// A tool that could not be run, or that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    pub ran: String,
    /// What it said, or what the operating system said.
    pub said: String,
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` failed: {}", self.ran, self.said)
    }
}

impl std::error::Error for ToolError {}

/// A tool that ran to its end, well or badly.
#[derive(Debug)]
pub struct Ran {
    pub command: String,
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// How long it took.
    pub elapsed: Duration,
}

impl Ran {
    /// Standard output as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// This run if it ended with 0, otherwise what it said.
    pub fn ok(self) -> Result<Ran, ToolError> {
        if self.status.success() {
            return Ok(self);
        }
        let mut said = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        if said.is_empty() {
            said = String::from_utf8_lossy(&self.stdout).trim().to_owned();
        }
        let ended = self.status.to_string();
        let said = if said.is_empty() { ended } else { format!("{said}\n({ended})") };
        Err(ToolError { ran: self.command, said })
    }
}

/// Runs `command` with `input` on its standard input and waits for its end, at most `limit`. At the
/// limit the tool and its children, a process group of their own, are killed. What it leaves in
/// `TMPDIR` is removed when it has ended: a killed compiler leaves its intermediate files.
///
/// An exit status other than 0 is not an error here; see [`Ran::ok`].
pub fn run(command: &mut Command, input: &[u8], limit: Duration) -> Result<Ran, ToolError> {
    let ran = command_line(command);
    let failed = |said: String| ToolError { ran: ran.clone(), said };
    system::in_own_group(command);
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Where none can be made, the tool will say so itself if it needs one.
    let scratch = scratch::folder().ok();
    if let Some(folder) = &scratch {
        command.env("TMPDIR", folder.path());
    }

    let start = Instant::now();
    let mut child = interrupt::spawn(command).map_err(|error| not_started(command, &error))?;
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_vec();
        // A tool may end without reading everything, so a closed pipe is no error.
        std::thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let ended = wait_until(&mut child, start + limit).map_err(|error| failed(error.to_string()))?;
    let elapsed = start.elapsed();
    // Its end may be our own doing, and is not to be reported.
    interrupt::hold();
    let Some(status) = ended else {
        system::kill_group(&child);
        // Killed processes end at once; this takes the child's id out of the process table.
        let _ = child.wait();
        return Err(failed(format!(
            "it was still running after {} s and was ended",
            limit.as_secs_f64()
        )));
    };
    // A child that the tool left behind may hold the pipes, so even this waits only to the limit.
    let rest = |pipe: &Receiver<Vec<u8>>| {
        pipe.recv_timeout((start + limit).saturating_duration_since(Instant::now()).max(GRACE))
    };
    let (Ok(stdout), Ok(stderr)) = (rest(&stdout), rest(&stderr)) else {
        return Err(failed("it ended, but a process it started still holds its output".to_owned()));
    };
    Ok(Ran { command: ran, status, stdout, stderr, elapsed })
}

/// The program `name` on the search path; a name with a slash is taken as it is.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|found| system::is_program(found));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|join| system::is_program(join))
}

/// Why a command did not start. The system's words for a missing program name no program.
pub fn not_started(command: &Command, error: &std::io::Error) -> ToolError {
    let program = command.get_program().to_string_lossy();
    let is_missing = error.kind() == std::io::ErrorKind::NotFound && find(&program).is_none();
    let said = match (is_missing, program.contains('/')) {
        (false, _) => error.to_string(),
        (true, true) => format!("there is no program `{program}`"),
        (true, false) => format!("there is no program `{program}` in the folders of PATH"),
    };
    ToolError { ran: command_line(command), said }
}

/// A command as one would type it.
pub fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(quoted).collect::<Vec<String>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |letter: char| letter.is_alphanumeric() || "_-+=./,:@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Reads `pipe` to its end in a thread and sends what was read.
fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        // Nothing listens after the limit.
        let _ = sender.send(bytes);
    });
    receiver
}

/// The exit status, or `None` at `deadline`. Looks often at first, then every 20 ms.
fn wait_until(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(None);
        }
        std::thread::sleep(pause.min(deadline - now));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const LIMIT: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn input_output_and_status() {
        let ran = run(&mut shell("cat; echo bad >&2; exit 3"), b"fed", LIMIT).expect("sh runs");
        assert_eq!(ran.text(), "fed");
        assert_eq!(ran.status.code(), Some(3));
        let error = ran.ok().expect_err("3 is not 0");
        assert_eq!(error.ran, "sh -c 'cat; echo bad >&2; exit 3'");
        assert_eq!(error.said, "bad\n(exit status: 3)");
    }

    #[test]
    fn what_a_tool_leaves_in_tmpdir_goes_with_it() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let name = folder.path().join("name");
        for (then, limit) in [("exit 0", LIMIT), ("exec sleep 1000", Duration::from_secs(1))] {
            let ran = run(&mut shell(&format!("mktemp > {}; {then}", name.display())), b"", limit);
            assert_eq!(ran.is_ok(), then == "exit 0");
            let made = std::fs::read_to_string(&name).expect("mktemp says where");
            assert!(!made.trim().is_empty() && !Path::new(made.trim()).exists(), "{made}");
            assert!(!Path::new(made.trim()).parent().expect("a folder").exists());
        }
    }

    #[test]
    fn more_than_a_pipe_holds_in_both_directions() {
        let input = vec![b'x'; 1 << 20];
        let ran = run(&mut shell("cat; cat /dev/null"), &input, LIMIT).expect("sh runs");
        assert_eq!(ran.stdout, input);
    }

    #[test]
    fn a_tool_that_reads_nothing() {
        let input = vec![b'x'; 1 << 20];
        let ran = run(&mut shell("true"), &input, LIMIT).expect("sh runs");
        assert!(ran.status.success());
    }

    #[test]
    fn children_end_with_the_tool() {
        // The grandchild keeps a named pipe open for writing; its reader sees the end of the
        // pipe when the grandchild is gone, and not before.
        let path = std::env::temp_dir().join(format!("measure-tool-{}", std::process::id()));
        run(Command::new("mkfifo").arg(&path), b"", LIMIT).and_then(Ran::ok).expect("mkfifo runs");
        let reading = {
            let path = path.clone();
            let (sender, receiver) = channel();
            std::thread::spawn(move || {
                sender.send(std::fs::read(path).map(|bytes| bytes.len()).ok())
            });
            receiver
        };
        let script = "exec 3>\"$1\"; sleep 1000 & echo started >&3; wait";
        let mut command = shell(script);
        command.arg("sh").arg(&path);
        let error = run(&mut command, b"", Duration::from_secs(2)).expect_err("it takes too long");
        let n_bytes = reading.recv_timeout(LIMIT);
        std::fs::remove_file(&path).expect("the pipe is ours");
        assert_eq!(error.said, "it was still running after 2 s and was ended");
        assert_eq!(n_bytes, Ok(Some("started\n".len())));
    }

    #[test]
    fn a_missing_tool_is_named() {
        let error =
            run(&mut Command::new("no-such-tool-anywhere"), b"", LIMIT).expect_err("it is missing");
        assert_eq!(error.ran, "no-such-tool-anywhere");
        assert!(find("no-such-tool-anywhere").is_none());
        assert!(find("sh").is_some());
    }
}
