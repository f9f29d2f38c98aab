//! Door: PostgreSQL and redis as their users run them, requests at a rate that does not wait for
//! the answers, and how late those come.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use measure::tool;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use terminal::output::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Transactions of TPC-B, as pgbench sends them.
    Postgresql,
    /// A SET, then a GET, and so on.
    Redis,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Postgresql, Kind::Redis];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Postgresql => "postgresql",
            Kind::Redis => "redis",
        }
    }
}

const CONNECTIONS: usize = 4;
/// PostgreSQL refuses to run as root.
const USER: &str = "nobody";
const FILES: &str = "/usr/lib/postgresql";
/// Rows of pgbench's accounts, in 100,000.
const SCALE: &str = "10";
const START: Duration = Duration::from_secs(20);

/// A service with its files in a folder of the study.
#[derive(Debug)]
pub struct Service {
    kind: Kind,
    folder: PathBuf,
    /// Of PostgreSQL's programs.
    programs: PathBuf,
}

impl Service {
    /// Makes its files below `parent`. `None` where its programs are missing.
    ///
    /// Errors: one of its programs failed.
    pub fn prepare(kind: Kind, parent: &Path) -> Result<Option<Service>, Failure> {
        let folder = parent.join(kind.name());
        let it = Service { kind, folder, programs: newest(Path::new(FILES)).join("bin") };
        let is_there = match kind {
            Kind::Postgresql => it.programs.join("initdb").exists(),
            Kind::Redis => tool::find("redis-server").is_some(),
        };
        if !is_there {
            return Ok(None);
        }
        let made = fs::create_dir(&it.folder)
            .and_then(|()| fs::set_permissions(parent, fs::Permissions::from_mode(0o755)));
        made.map_err(failed("make a folder"))?;
        if kind == Kind::Postgresql {
            it.make_database()?;
        }
        Ok(Some(it))
    }

    fn make_database(&self) -> Result<(), Failure> {
        if is_root() {
            run(Command::new("chown").arg(USER).arg(&self.folder))?;
        }
        let words = self.as_user("initdb", &["--auth=trust", "-U", USER, "-D"]);
        run(Command::new(&words[0]).args(&words[1..]).arg(self.data()))?;
        // What a disk takes is nothing that a manager of processors changes.
        let options = "\nsynchronous_commit = off\nautovacuum = off\n";
        let path = self.data().join("postgresql.conf");
        let text = fs::read_to_string(&path).map_err(failed("read postgresql.conf"))?;
        fs::write(&path, text + options).map_err(failed("write postgresql.conf"))?;
        let words = self.words();
        let started = Command::new(&words[0])
            .args(&words[1..])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn();
        let mut server = started.map_err(failed("start postgres"))?;
        let filled = self
            .wait_until_up()
            .and_then(|()| run(self.pgbench().args(["--initialize", "--quiet", "--scale", SCALE])));
        self.stop();
        server.wait().map_err(failed("wait for postgres"))?;
        filled.map(|_| ())
    }

    /// What starts it in the foreground.
    pub fn words(&self) -> Vec<String> {
        match self.kind {
            Kind::Postgresql => {
                let (data, folder) = (text(&self.data()), text(&self.folder));
                self.as_user("postgres", &["-D", &data, "-k", &folder, "-c", "listen_addresses="])
            }
            Kind::Redis => {
                let (socket, folder) = (text(&self.socket()), text(&self.folder));
                let pid = text(&self.pid_file());
                let words = ["redis-server", "--port", "0", "--unixsocket", &socket];
                let rest = ["--dir", &folder, "--pidfile", &pid, "--save", ""];
                [&words[..], &rest].concat().into_iter().map(str::to_owned).collect()
            }
        }
    }

    /// Waits until it answers.
    ///
    /// Errors: it does not.
    pub fn wait_until_up(&self) -> Result<(), Failure> {
        let until = Instant::now() + START;
        while !self.answers() {
            if Instant::now() > until {
                let said = format!("no answer in {} s", START.as_secs());
                return Err(Failure::environment(self.words().join(" "), said));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn answers(&self) -> bool {
        match self.kind {
            Kind::Postgresql => {
                let mut ready = Command::new(self.programs.join("pg_isready"));
                ready.arg("-q").arg("-h").arg(&self.folder);
                ready.status().is_ok_and(|status| status.success())
            }
            Kind::Redis => Connection::new(&self.socket()).is_ok(),
        }
    }

    /// Requests a second if each connection waits for its answers.
    ///
    /// Errors: it ended, or its client failed.
    pub fn full_speed(&self, seconds: f64) -> Result<f64, Failure> {
        let ms = self.ask(None, seconds)?;
        Ok(ms.len() as f64 / seconds)
    }

    /// Milliseconds from when each of `rate` requests a second is due to its answer; they are due
    /// at random times, whether or not those before have been answered.
    ///
    /// Errors: it ended, or its client failed.
    pub fn late_ms(&self, rate: f64, seconds: f64) -> Result<Vec<f64>, Failure> {
        self.ask(Some(rate), seconds)
    }

    /// Milliseconds of at least one answer: where few requests are due, so long may pass without
    /// any.
    fn ask(&self, rate: Option<f64>, seconds: f64) -> Result<Vec<f64>, Failure> {
        const TRIES: usize = 5;
        for _ in 0..TRIES {
            let all = self.ask_once(rate, seconds)?;
            if !all.is_empty() {
                return Ok(all);
            }
        }
        let said = format!("no answer in {TRIES} times {seconds} s");
        Err(Failure::environment(format!("ask {}", self.kind.name()), said))
    }

    fn ask_once(&self, rate: Option<f64>, seconds: f64) -> Result<Vec<f64>, Failure> {
        match self.kind {
            Kind::Postgresql => self.ask_pgbench(rate, seconds),
            Kind::Redis => {
                let each = rate.map(|rate| rate / CONNECTIONS as f64);
                let one = |_| {
                    thread::spawn({
                        let socket = self.socket();
                        move || Connection::new(&socket)?.ask(each, seconds)
                    })
                };
                let clients: Vec<_> = (0..CONNECTIONS).map(one).collect();
                let mut all = Vec::new();
                for client in clients {
                    let ms = client.join().expect("a client does not panic");
                    all.extend(ms.map_err(failed("ask redis"))?);
                }
                Ok(all)
            }
        }
    }

    fn ask_pgbench(&self, rate: Option<f64>, seconds: f64) -> Result<Vec<f64>, Failure> {
        let log = tempfile::tempdir_in(&self.folder).map_err(failed("make a folder"))?;
        let mut pgbench = self.pgbench();
        let prefix = log.path().join("log");
        pgbench.args(["--no-vacuum", "--log", "--log-prefix"]).arg(prefix);
        pgbench.args(["--client", &CONNECTIONS.to_string(), "--jobs", "2"]);
        pgbench.args(["--time", &format!("{:.0}", seconds.max(1.0))]);
        if let Some(rate) = rate {
            pgbench.args(["--rate", &format!("{rate:.3}")]);
        }
        run(&mut pgbench)?;
        let mut all = Vec::new();
        for entry in fs::read_dir(log.path()).map_err(failed("read pgbench's logs"))? {
            let path = entry.map_err(failed("read pgbench's logs"))?.path();
            let text = fs::read_to_string(path).map_err(failed("read pgbench's log"))?;
            all.extend(text.lines().filter_map(late_ms_of));
        }
        Ok(all)
    }

    fn pgbench(&self) -> Command {
        let mut pgbench = Command::new(self.programs.join("pgbench"));
        pgbench.arg("-h").arg(&self.folder).args(["-U", USER]).arg("postgres");
        pgbench
    }

    /// Asks it to end; nothing happens where it is not there.
    pub fn stop(&self) {
        let text = fs::read_to_string(self.pid_file()).unwrap_or_default();
        let first = text.lines().next().and_then(|line| line.trim().parse().ok());
        if let Some(pid) = first {
            let _ = kill(Pid::from_raw(pid), Signal::SIGINT);
        }
    }

    fn as_user(&self, program: &str, args: &[&str]) -> Vec<String> {
        let user = format!("--reuid={USER}");
        let change = ["setpriv", &user, "--clear-groups"].map(str::to_owned);
        let program = text(&self.programs.join(program));
        let words = args.iter().map(|word| (*word).to_owned());
        change.into_iter().filter(|_| is_root()).chain([program]).chain(words).collect()
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    fn pid_file(&self) -> PathBuf {
        match self.kind {
            Kind::Postgresql => self.data().join("postmaster.pid"),
            Kind::Redis => self.folder.join("pid"),
        }
    }
}

/// A connection to redis.
struct Connection {
    answers: BufReader<UnixStream>,
    requests: UnixStream,
}

impl Connection {
    fn new(socket: &Path) -> io::Result<Connection> {
        let requests = UnixStream::connect(socket)?;
        Ok(Connection { answers: BufReader::new(requests.try_clone()?), requests })
    }

    /// Milliseconds of each answer; at most as long again is waited for those that are late.
    fn ask(&mut self, rate: Option<f64>, seconds: f64) -> io::Result<Vec<f64>> {
        let mut random = fastrand::Rng::new();
        let begin = Instant::now();
        let (mut due, mut all) = (begin, Vec::new());
        let length = Duration::from_secs_f64(seconds);
        loop {
            match rate {
                Some(rate) => {
                    due += Duration::from_secs_f64(-(1.0 - random.f64()).ln() / rate);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                }
                None => due = Instant::now(),
            }
            if due - begin > length || begin.elapsed() > 2 * length {
                return Ok(all);
            }
            self.one(all.len() % 2 == 0)?;
            all.push(due.elapsed().as_secs_f64() * 1e3);
        }
    }

    fn one(&mut self, is_set: bool) -> io::Result<()> {
        self.requests.write_all(if is_set { b"SET key value\r\n" } else { b"GET key\r\n" })?;
        // "+OK", or the length of what is on the next line.
        for _ in 0..if is_set { 1 } else { 2 } {
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }
}

/// Of a line of pgbench's log: client, transaction, microseconds, and so on.
fn late_ms_of(line: &str) -> Option<f64> {
    line.split_ascii_whitespace().nth(2)?.parse().ok().map(|us: f64| us / 1e3)
}

/// The folder with the largest number for its name.
fn newest(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse().ok());
    entries.max_by_key(|path| number(path).unwrap_or(0_u32)).unwrap_or_else(|| folder.to_owned())
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn run(command: &mut Command) -> Result<tool::Ran, Failure> {
    tool::run(command, b"", Duration::from_secs(600)).and_then(tool::Ran::ok).map_err(Failure::tool)
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::environment(what, error)
}
