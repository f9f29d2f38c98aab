//! Door: `meanwhile cosched daemon`, `submit`, `status` and `stop`: programs that come and go, over
//! a socket.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cosched::manager::class::Class;
use cosched::manager::container::Named;
use cosched::manager::daemon::{self, Request, Service};
use cosched::manager::endpoint::{Address, Endpoint};
use cosched::manager::hands::Apart;
use cosched::manager::host::Waiting;
use cosched::manager::metrics;
use cosched::manager::program::Expected;
use cosched::manager::signals;
use cosched::manager::slurm::History;
use cosched::manager::spared::Spared;
use cosched::manager::turns::Turns;
use cosched::manager::users::{self, User, Users};
use cosched::policies::Name;
use measure::tool;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use super::host::{HostArgs, Role, failed};
use super::policy::PolicyArgs;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched daemon`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The policy; linux leaves everything to the kernel.
    #[arg(long, value_name = "NAME", default_value = "pairing", value_parser = super::sim::policy())]
    policy: Name,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    numbers: PolicyArgs,
    /// File in which it is noted what steps of Slurm moved, for job_submit.lua; one for each node,
    /// in a folder of all.
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Do not start the daemon again if it is killed; its programs run on in either case.
    #[arg(long)]
    no_restart: bool,
    /// Take processes that run already, such as steps of Slurm, and start none.
    #[arg(long, conflicts_with = "config")]
    attach_only: bool,
    /// Become this user as soon as all is ready: what needs root's rights is done by a small process
    /// apart; only root can.
    #[arg(long, value_name = "NAME", requires = "attach_only")]
    user: Option<String>,
    /// MB/s that all programs together may move while no more compute than there are processors: the
    /// loudest are limited to a share of theirs, where the rates of all are known.
    #[arg(long, value_name = "MB/s", value_parser = super::host::mbps)]
    at_most: Option<f64>,
    /// Milliseconds that this node's clock and the true time differ by at most: steps on several
    /// nodes have their turns at the same time on all of them [default: as the kernel knows].
    #[arg(long, value_name = "MS", value_parser = super::host::milliseconds)]
    clock_error: Option<f64>,
    /// Take programs of every user, with the limits of this file; only root can.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Answer for metrics at localhost:PORT, or at the path of a Unix socket.
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<Address>,
    #[command(flatten)]
    ask: AskArgs,
}

/// Where the daemon is.
#[derive(Debug, clap::Args)]
pub struct AskArgs {
    /// The daemon's socket; its folder must be its owner's alone, or root's where
    /// many users may ask.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

impl AskArgs {
    /// Where it is asked.
    pub fn path(&self) -> PathBuf {
        self.socket.clone().unwrap_or_else(daemon::socket_to_ask)
    }

    /// Asks; what the daemon refuses is the user's mistake.
    pub fn ask(&self, request: &Request) -> Result<Value, Failure> {
        self.hold(request, &[]).map(|hold| hold.0)
    }

    /// The same, and the connection.
    fn hold(
        &self,
        request: &Request,
        streams: &[BorrowedFd<'_>],
    ) -> Result<(Value, UnixStream), Failure> {
        let path = self.path();
        let (value, stream) =
            daemon::hold(&path, request, streams).map_err(|error| no_daemon(&path, &error))?;
        if value["ok"] == true {
            return Ok((value, stream));
        }
        Err(Failure::user(value["message"].as_str().unwrap_or("the daemon refused"), None))
    }
}

fn no_daemon(path: &Path, error: &std::io::Error) -> Failure {
    let is_absent = matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused
    );
    if is_absent {
        return Failure::user(
            format!("no daemon listens on {}", path.display()),
            Some("start one: `meanwhile cosched daemon`"),
        );
    }
    Failure::environment(format!("ask the daemon on {}", path.display()), error)
}

/// Runs the daemon until it is told to stop.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let is_managing = args.host.turns == Waiting::Soft && args.policy != Name::Linux;
    if args.at_most.is_some() && !is_managing {
        return Err(Failure::user(
            "--at-most limits programs whose turns are soft",
            Some("leave --turns frozen and --policy linux out"),
        ));
    }
    let user = args.user.as_deref().map(unprivileged).transpose()?;
    if user.is_some() {
        // Before there is another thread: nothing that it runs gets rights again.
        users::renounce_new_rights().map_err(failed("renounce new rights"))?;
    }
    // From here on they end it as `stop` does.
    signals::note().map_err(failed("catch signals"))?;
    let users = args.config.as_deref().map(load).transpose()?;
    let own = || users.as_ref().map_or_else(daemon::socket, |user| user.socket.clone());
    let path = args.ask.socket.clone().unwrap_or_else(own);
    if let (Some(_), Some(Address::Port(_))) = (&users, &args.metrics) {
        let help = "name a path: a Unix socket is its owner's";
        return Err(Failure::user(
            "with --config a port would show every user's programs to every user".to_owned(),
            Some(help),
        ));
    }
    let endpoint = args
        .metrics
        .as_ref()
        .map(|metric| Endpoint::listen(metric).map_err(failed("listen for readers of metrics")))
        .transpose()?;
    let listener = daemon::listen(&path, users.as_ref())
        .map_err(failed(&format!("listen on {}", path.display())))?;
    let again = if args.no_restart { Vec::new() } else { std::env::args_os().skip(1).collect() };
    let shared = users.as_ref().map(|_| daemon::folder_of(&path).to_owned());
    let apart = user.map(|user| Apart {
        user,
        command: ["cosched", "hands"].map(str::to_owned).into(),
        socket: path.clone(),
        metrics: args.metrics.as_ref().and_then(Address::path),
        history: args.history.clone(),
    });
    let is_apart = apart.is_some();
    let role = Role {
        again,
        apart,
        shared,
        is_attach_only: args.attach_only,
        at_most_mbps: args.at_most,
        clock_error: args.clock_error.map(|ms| Duration::from_secs_f64(ms / 1000.0)),
    };
    // One that cannot begin leaves no socket at which nobody answers.
    let manager = args.host.start(role, out).inspect_err(|_| drop(std::fs::remove_file(&path)))?;
    manager.host().settings = args.numbers.settings();
    let history = args
        .history
        .clone()
        .map(|file| if is_apart { Ok(History::of_the_hands()) } else { History::new(file) })
        .transpose()
        .map_err(failed("start a thread that writes the history"))?;
    {
        let mut host = manager.host();
        (host.history, host.is_asked) = (history, true);
    }
    let mut spared = Spared::new(manager.supervisors());
    spared.is_for_many = users.is_some();
    let about = json!({
        "pid": std::process::id(),
        "freezer": manager.freezer().name(),
        "source": manager.choice.kind.text(),
        "reason": manager.choice.reason,
        "metrics": endpoint.as_ref().map(Endpoint::text),
        "many_users": users.is_some(),
        "attach_only": args.attach_only,
        "quantum_ms": cosched::policies::QUANTUM_MS,
        "capacity_mbps": manager.host().capacity_mbps(),
    });
    out.line(&format!("policy {}, {}", args.policy.text(), super::host::turns(&manager)));
    out.line(&format!(
        "bandwidth of programs: {} ({})",
        manager.choice.kind.text(),
        manager.choice.reason
    ));
    out.line(&format!("listening on {}", path.display()));
    if let Some(it) = &endpoint {
        out.line(&format!("metrics at {}", it.text()));
    }
    let serve = || {
        let mut host = manager.host();
        let mut turns = Turns::new(&mut host, args.policy);
        if let Some(endpoint) = &endpoint {
            let (sender, about) = (turns.sender(), about.clone());
            endpoint.serve(move || daemon::metrics(&sender, &about))?;
        }
        daemon::serve(
            &mut turns,
            &path,
            listener,
            &Service { spared, about, users, is_attach_only: args.attach_only },
        )
    };
    let served = serve();
    daemon::leave(&path);
    manager.end();
    served.map_err(failed("manage the programs"))?;
    out.object(&json!({"ok": true, "kind": "measured"}));
    Ok(())
}

/// The user that a daemon becomes.
fn unprivileged(name: &str) -> Result<User, Failure> {
    if !users::may_be_others() {
        return Err(Failure::user(
            "only root has rights to give away",
            Some("leave --user out: a daemon of your own has none that you have not"),
        ));
    }
    match User::named(name) {
        Some(user) if user.uid != 0 => Ok(user),
        Some(_) => Err(Failure::user("that user is root", Some("name one without rights"))),
        None => Err(Failure::user(
            format!("there is no user `{name}`"),
            Some("make one, as by `useradd --system`, or name another"),
        )),
    }
}

/// The settings of a daemon for many users.
fn load(path: &Path) -> Result<Users, Failure> {
    let users = Users::load(path).map_err(|said| Failure::user(said, None))?;
    if !users::may_be_others() {
        return Err(Failure::user(
            "only root can run programs of other users",
            Some("leave --config out for a daemon of your own"),
        ));
    }
    Ok(users)
}

/// Arguments of what becomes a user's program, which the daemon starts by itself.
#[derive(Debug, clap::Args)]
pub struct EnterArgs {
    file: PathBuf,
}

/// Becomes the program that `args.file` describes, as its user.
pub fn enter(args: &EnterArgs) -> Result<(), Failure> {
    let (what, error) = users::enter(&args.file);
    Err(Failure::environment(what, error))
}

/// Arguments of `meanwhile cosched submit`.
#[derive(Debug, clap::Args)]
pub struct SubmitArgs {
    /// Threads of the program [default: those that are seen to run].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// What the program is: latency, which never waits for a turn; batch, which may though it
    /// sleeps now and then; or auto, which does while it computes all the time.
    #[arg(long, value_name = "CLASS", default_value = "auto", value_parser = super::host::class_name())]
    class: Class,
    /// MB/s that each of its threads moves, as far as you know, until something is seen.
    #[arg(long, value_name = "MB/s", value_parser = super::host::mbps)]
    mbps: Option<f64>,
    /// A process that runs already, with all below it, instead of a command.
    #[arg(long, value_name = "PID", conflicts_with_all = ["command", "output", "wait"])]
    pid: Option<i32>,
    /// A control group of another's, such as that of a container, a pod or a service, where it is:
    /// its folder, or its path in /proc/PID/cgroup.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["command", "output", "wait", "pid"])]
    cgroup: Option<PathBuf>,
    /// File to which its output is appended; the daemon's standard error unless said, or this
    /// command's with a daemon of many users.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Wait for its end, and end as it does, with its exit status or 128 and the signal; it is
    /// ended with this command.
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    ask: AskArgs,
    /// The program with its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD ARGS")]
    command: Vec<String>,
}

/// Gives a program to the daemon.
pub fn submit(args: &SubmitArgs, out: &mut Output) -> Result<(), Failure> {
    let folder = std::env::current_dir().map_err(failed("find this folder"))?;
    let expected = Expected { class: args.class, mbps: args.mbps };
    let request = match (args.pid, &args.cgroup, args.command.first()) {
        (Some(pid), ..) => Request::Attach { pid, threads: args.threads, expected },
        (None, Some(path), _) => {
            Request::Cgroup { path: path.clone(), threads: args.threads, expected }
        }
        (None, None, None) => {
            return Err(Failure::user(
                "there is nothing to submit",
                Some("give a command, --pid of a process that runs, or --cgroup"),
            ));
        }
        (None, None, Some(program)) => {
            let Some(found) = tool::find(program) else {
                return Err(Failure::user(
                    format!("there is no program `{program}`"),
                    Some("give its path, or install it"),
                ));
            };
            let mut command = args.command.clone();
            command[0] = std::path::absolute(&found)
                .map_err(failed("find the program"))?
                .display()
                .to_string();
            Request::Submit {
                command,
                threads: args.threads,
                expected,
                output: args.output.as_ref().map(|output| folder.join(output)),
                tied: args.wait,
                folder,
                // What is not UTF-8 stays behind.
                environment: std::env::vars_os()
                    .filter_map(|(name, value)| {
                        Some((name.into_string().ok()?, value.into_string().ok()?))
                    })
                    .collect(),
            }
        }
    };
    let streams = streams(args)?;
    let handed: Vec<BorrowedFd<'_>> = streams.iter().map(AsFd::as_fd).collect();
    // While we wait, the program lives as long as this connection: ending us ends it.
    let starts = matches!(request, Request::Submit { .. });
    let (answer, _connection) = args.ask.hold(&request, if starts { &handed } else { &[] })?;
    let id = answer["id"].as_u64().unwrap_or(0);
    if !args.wait {
        out.line(&format!("program {id}"));
        out.object(&answer);
        return Ok(());
    }
    loop {
        let now = args.ask.ask(&Request::Status {})?;
        if let Some(it) =
            now["ended"].as_array().and_then(|all| all.iter().find(|value| value["id"] == id))
        {
            out.line(&format!(
                "program {id} ended after {:.2} s",
                it["turnaround_s"].as_f64().unwrap_or(0.0)
            ));
            out.object(&json!({"ok": it["status"] == 0, "id": id, "ended": it}));
            let signal = || it["signal"].as_i64().map(|number| 128 + number);
            return match it["status"].as_i64().or_else(signal) {
                Some(0) => Ok(()),
                Some(code) => Err(Failure::Exit(code as u8)),
                None => Err(Failure::Reported),
            };
        }
        if !now["programs"].as_array().is_some_and(|all| all.iter().any(|value| value["id"] == id))
        {
            return Err(Failure::environment(
                format!("wait for program {id}"),
                "the daemon does not know it any more",
            ));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Standard input, output and error of the program: ours, its file, and nothing to read where no
/// client waits for it.
fn streams(args: &SubmitArgs) -> Result<[OwnedFd; 3], Failure> {
    let own = || {
        let stdin = if args.wait {
            std::io::stdin().as_fd().try_clone_to_owned()?
        } else {
            std::fs::File::open("/dev/null")?.into()
        };
        Ok([
            stdin,
            std::io::stdout().as_fd().try_clone_to_owned()?,
            std::io::stderr().as_fd().try_clone_to_owned()?,
        ])
    };
    let [stdin, stdout, stderr] = own().map_err(failed("hand over standard input and output"))?;
    let Some(path) = &args.output else { return Ok([stdin, stdout, stderr]) };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let both = file.and_then(|file| Ok([OwnedFd::from(file.try_clone()?), file.into()]));
    let [stdout, stderr] =
        both.map_err(|error| Failure::user(format!("open {}: {error}", path.display()), None))?;
    Ok([stdin, stdout, stderr])
}

/// Arguments of `meanwhile cosched status`.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// As metrics, in the text format that Prometheus reads.
    #[arg(long)]
    prometheus: bool,
    /// MB/s that a job of Slurm was seen to move here, those of its busiest step that has ended;
    /// nothing if that is not known.
    #[arg(long, value_name = "JOB", conflicts_with = "prometheus")]
    job: Option<u32>,
    #[command(flatten)]
    ask: AskArgs,
}

/// Shows what the daemon manages.
pub fn status(args: &StatusArgs, out: &mut Output) -> Result<(), Failure> {
    let value = args.ask.ask(&Request::Status {})?;
    if args.prometheus {
        out.text(&metrics::text(&value));
        out.object(&value);
        return Ok(());
    }
    if let Some(job) = args.job {
        let mbps = moved(&value, job);
        mbps.iter().for_each(|mbps| out.line(&format!("{mbps:.0} MB/s")));
        out.object(&json!({"ok": true, "kind": "measured", "job": job, "mbps": mbps}));
        return Ok(());
    }
    out.text(&picture(&value));
    out.object(&value);
    Ok(())
}

/// What the busiest step of a job moved, of those that have ended.
fn moved(status: &Value, job: u32) -> Option<f64> {
    let ended = status["ended"].as_array().into_iter().flatten();
    let steps = ended.filter(|step| step["job"] == job).filter_map(|step| step["mbps"].as_f64());
    steps.max_by(f64::total_cmp)
}

/// Arguments of `meanwhile cosched stop`.
#[derive(Debug, clap::Args)]
pub struct StopArgs {
    /// Let only this program run on without the daemon, which goes on.
    #[arg(long, value_name = "ID")]
    program: Option<u64>,
    #[command(flatten)]
    ask: AskArgs,
}

/// Ends the daemon, or lets go what the user may.
pub fn stop(args: &StopArgs, out: &mut Output) -> Result<(), Failure> {
    let (value, daemon) = args.ask.hold(&Request::Stop { program: args.program }, &[])?;
    if value["daemon_ends"] == true
        && !daemon::wait_for_end(&daemon).map_err(failed("wait for the daemon"))?
    {
        return Err(Failure::environment(
            "wait for the daemon",
            "it said that it ends, and is still there",
        ));
    }
    let n = value["left_running"].as_u64().unwrap_or(0) as usize;
    let what = if value["daemon_ends"] == true { "stopped" } else { "let go; the daemon goes on" };
    out.line(&format!(
        "{what}; {} on",
        if n == 1 { "1 program runs".to_owned() } else { format!("{n} programs run") }
    ));
    out.object(&value);
    Ok(())
}

/// True if programs wait for turns now.
fn is_cutting(status: &Value) -> bool {
    status["is_cutting"] != false
}

/// Bars of the links, then the programs.
pub fn picture(value: &Value) -> String {
    let programs: Vec<&Value> = value["programs"].as_array().into_iter().flatten().collect();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let turns = match value["turns"].as_str() {
        Some("soft") => "soft turns".to_owned(),
        _ => text(value, "freezer"),
    };
    let mut all = format!(
        "policy {}, quantum {} ms, {turns}, bandwidth by {}; {} decisions, a change takes {} us (95th percentile)\n",
        text(value, "policy"),
        value["quantum_ms"],
        text(value, "source"),
        value["n_decisions"],
        value["switch_us_p95"].as_f64().map_or("-".into(), |it| format!("{it:.0}")),
    );
    if let Some(why) = value["why"].as_str() {
        let who = if is_cutting(value) { "turns are cut" } else { "the kernel schedules alone" };
        all += &format!("{who}: {why}\n");
    }
    if let (Some(most), Some(why)) = (value["at_most_mbps"].as_f64(), value["why_limited"].as_str())
    {
        all += &format!("at most {most:.0} MB/s: {why}\n");
    }
    let capacity = value["capacity_mbps"].as_f64();
    for (idx, link) in value["links"].as_array().into_iter().flatten().enumerate() {
        let cpus: Vec<u64> =
            link.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let on = |value: &&&Value| {
            value["cpus"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_u64)
                .filter(|word| cpus.contains(word))
                .count()
        };
        let here = programs.iter().filter(|program| on(program) > 0);
        // One that is not known makes the sum unknown. The sum of no programs is a negative
        // nothing.
        let sum = here
            .map(|program| Some(on(&program) as f64 * program["mbps"].as_f64()?))
            .sum::<Option<f64>>()
            .map(|sum| 0.0 + sum)
            .filter(|_| is_cutting(value) || programs.is_empty());
        let names: Vec<String> = cpus.iter().map(u64::to_string).collect();
        let bar = sum.zip(capacity).map_or(String::new(), |(sum, capacity)| {
            let full = (20.0 * sum / capacity).clamp(0.0, 20.0).ceil() as usize;
            format!(" [{}{}]", "#".repeat(full), ".".repeat(20 - full))
        });
        let sum = sum.map_or("-".to_owned(), |sum| format!("{sum:.0}"));
        let of = capacity.map_or(String::new(), |capacity| format!(" of {capacity:.0}"));
        all += &format!("link {idx} (processors {}){bar} {sum}{of} MB/s\n", names.join(" "));
    }
    let columns = [
        "id",
        "program",
        "pid",
        "threads",
        "processors",
        "MB/s each",
        "slowdown",
        "quanta",
        "longest wait",
        "s",
    ];
    let note = "MB/s as last seen; -: not known; slowdown: by those beside it, for programs that count their progress";
    let mut table = Table::new("Programs", &columns).kind(Kind::Measured).note(note);
    for it in &programs {
        let cpus: Vec<String> =
            it["cpus"].as_array().into_iter().flatten().map(Value::to_string).collect();
        let number = |key: &str, digits: usize| {
            it[key].as_f64().map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        table.push(vec![
            Cell::number(&it["id"]),
            Cell::words(name(it)),
            Cell::number(&it["pid"]),
            Cell::number(&it["n_threads"]),
            Cell::words(match () {
                () if it["is_suspended"] == true => "suspended".to_owned(),
                () if it["limited_to"].is_number() => {
                    format!("{:.0} %", 100.0 * it["limited_to"].as_f64().unwrap_or(1.0))
                }
                () if !is_cutting(value) => "any".to_owned(),
                () if it["is_resting"] == true && value["turns"] == "soft" => "any".to_owned(),
                () if it["is_resting"] == true => "rests".to_owned(),
                () if it["is_running"] == true => cpus.join(" "),
                () if it["is_demoted"] == true => "idle class".to_owned(),
                () => "frozen".to_owned(),
            }),
            Cell::number(number("mbps", 0)),
            Cell::number(number("slowdown", 2)),
            Cell::number(&it["n_turns"]),
            Cell::number(&it["longest_wait_quanta"]),
            Cell::number(number("age_s", 1)),
        ]);
    }
    all += &table.terminal(None);
    for it in programs {
        if let Some(why) = it["cannot_wait"].as_str() {
            all += &format!("program {} waits for no turn: {why}\n", it["id"]);
        }
        for beside in it["antagonists"].as_array().into_iter().flatten() {
            all += &format!(
                "program {} is slowed by program {}, {}: without it {:.2} times as much in its processor time; {:.1} % sure, {} times with it and {} without\n",
                it["id"],
                beside["id"],
                beside["name"].as_str().unwrap_or_default(),
                beside["slowdown"].as_f64().unwrap_or(1.0),
                100.0 * beside["confidence"].as_f64().unwrap_or(0.0),
                beside["n_with"],
                beside["n_without"],
            );
        }
    }
    all
}

/// What a program is called, and in which container it is.
fn name(program: &Value) -> String {
    let text = |key: &str| program[key].as_str();
    let named = Named {
        pod_uid: text("pod_uid").map(str::to_owned),
        container_id: text("container_id").map(str::to_owned),
        unit: None,
    };
    let own = text("name").unwrap_or_default();
    let own = match named.text().filter(|place| place != own) {
        Some(place) => format!("{own} ({place})"),
        None => own.to_owned(),
    };
    // Whatever a program is called, it moves no cursor.
    own.replace(|letter: char| letter.is_control(), "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_number() {
        let program = |id: u32, mbps: Value| json!({"id": id, "name": "stream", "cpus": [id - 1], "is_running": true, "mbps": mbps});
        let status = |programs: Value, capacity: Value| json!({"links": [[0, 1]], "capacity_mbps": capacity, "programs": programs});
        let link = |status: &Value| {
            picture(status).lines().find(|line| line.starts_with("link")).map(str::to_owned)
        };
        let both = json!([program(1, json!(6000.0)), program(2, Value::Null)]);
        assert_eq!(
            link(&status(both.clone(), json!(24000.0))).as_deref(),
            Some("link 0 (processors 0 1) - of 24000 MB/s")
        );
        assert_eq!(
            link(&status(both.clone(), Value::Null)).as_deref(),
            Some("link 0 (processors 0 1) - MB/s")
        );
        let rows: Vec<String> = picture(&status(both, Value::Null))
            .lines()
            .filter(|line| line.contains("stream"))
            .map(str::to_owned)
            .collect();
        assert!(rows[0].contains("6000") && !rows[1].contains("0.0"), "{rows:?}");
        let one = json!([program(1, json!(6000.0))]);
        assert_eq!(
            link(&status(one, json!(24000.0))).as_deref(),
            Some("link 0 (processors 0 1) [#####...............] 6000 of 24000 MB/s")
        );
    }
}
