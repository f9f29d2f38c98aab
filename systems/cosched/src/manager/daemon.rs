//! Door: the daemon's socket: which users may ask, for what, and what is refused.
//!
//! A request is one line of JSON, so is the answer. The socket lies in a folder that only its owner
//! may enter, has mode 600, and whoever is connected must be the same user by what the kernel says
//! of the other end; a daemon for many users is open to those of [`Users`].

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::socket::{Shutdown, shutdown};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::endpoint::write_within;
use super::foreign::Foreign;
use super::handover;
use super::private;
use super::program::{Expected, Place, Task};
use super::refusal::{PROGRAMS_MAX, Refusal, THREADS_MAX};
use super::rights::{self, Deed};
use super::signals;
use super::slurm::Step;
use super::spared::Spared;
use super::turns::{Event, GRACE, Turns};
use super::users::{self, Entry, User, Users};

/// Longest request: an environment may be large.
const REQUEST_BYTES: usize = 4 << 20;
/// How long the other end may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long answers may take that are on their way when we end.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Connections at a time.
const CONNECTIONS: usize = 32;
/// Characters of a program's name that are kept.
const NAME: usize = 64;
/// Descriptors that must be left before a program is taken: it needs five, its start some more,
/// and each connection one.
const DESCRIPTORS_LEFT: usize = 48;
/// How often it is seen whether the socket is still there.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// After a connection that failed, as without descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// What may be asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    Submit {
        /// The program and its arguments.
        command: Vec<String>,
        /// Its threads; those that are seen to run if not said.
        #[serde(default)]
        threads: Option<usize>,
        #[serde(default)]
        expected: Expected,
        folder: PathBuf,
        environment: Vec<(String, String)>,
        /// Where its output goes; the daemon's standard error if nowhere.
        output: Option<PathBuf>,
        /// It is ended when its client closes the connection.
        #[serde(default)]
        tied: bool,
    },
    /// Take in a process that runs.
    Attach {
        pid: i32,
        /// Its threads; those that are seen to run if not said.
        #[serde(default)]
        threads: Option<usize>,
        #[serde(default)]
        expected: Expected,
    },
    /// Take in a control group of another's where it is, with whoever is in it now and later.
    Cgroup {
        /// Its folder, or its path as `/proc/PID/cgroup` shows it.
        path: PathBuf,
        #[serde(default)]
        threads: Option<usize>,
        #[serde(default)]
        expected: Expected,
    },
    /// Take in all tasks of a step of Slurm, as one program.
    Step(Step),
    /// A step of Slurm has ended.
    StepEnd {
        job: u32,
        step: u32,
    },
    Status {},
    /// Thaw all, let all run on, and end; or so one program, and a user of many all of his, and
    /// the daemon goes on.
    Stop {
        /// The program; all if none is said.
        #[serde(default)]
        program: Option<u64>,
    },
}

/// Where the socket is unless said otherwise.
pub fn socket() -> PathBuf {
    private::runtime().join("cosched.sock")
}

/// Where a daemon is asked unless said otherwise: this user's own if it has a socket, else the
/// one for all users.
pub fn socket_to_ask() -> PathBuf {
    let (own, all) = (socket(), PathBuf::from(users::SOCKET));
    if !own.exists() && all.exists() { all } else { own }
}

/// Makes the socket. A daemon that answers there already is an error; one that was killed is
/// not in the way.
///
/// `users` are those whom it is open to, beside its owner.
pub fn listen(path: &Path, users: Option<&Users>) -> io::Result<UnixListener> {
    let folder = folder_of(path);
    let made = if users.is_some() { users::folder(folder) } else { private::folder(folder) };
    made.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?;
    if path.exists() {
        if UnixStream::connect(path).is_ok() {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "a daemon runs already"));
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(
        path,
        std::fs::Permissions::from_mode(users.map_or(0o600, |user| user.mode)),
    )?;
    Ok(listener)
}

/// Makes the socket anew if it is gone.
pub(super) fn listen_again(path: &Path, users: Option<&Users>) -> io::Result<Option<UnixListener>> {
    if let Some(asked) = rights::ask(|| Deed::Listen {}) {
        return asked.map(|given| given.1.map(UnixListener::from));
    }
    if path.exists() { Ok(None) } else { listen(path, users).map(Some) }
}

/// Takes the socket away, and that of metrics with it where others made both.
pub fn leave(path: &Path) {
    if rights::ask(|| Deed::Leave {}).is_none() {
        let _ = std::fs::remove_file(path);
    }
}

/// The folder of a socket.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Sends a request and waits for its answer.
pub fn ask(path: &Path, request: &Request) -> io::Result<Value> {
    hold(path, request, &[]).map(|hold| hold.0)
}

/// The same, and the connection, to which a program may be tied; `streams` are handed to it.
pub fn hold(
    path: &Path,
    request: &Request,
    streams: &[BorrowedFd<'_>],
) -> io::Result<(Value, UnixStream)> {
    let stream = UnixStream::connect(path)?;
    let uid = User::of(&stream)?.0.uid;
    if uid != 0 && uid != nix::unistd::geteuid().as_raw() {
        // What is handed over is for us and root only.
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("user {uid} listens there"),
        ));
    }
    stream.set_read_timeout(Some(2 * PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_string(request).map_err(io::Error::other)?;
    line.push('\n');
    // A daemon that refuses us does not read on; what it says is worth more than that.
    let written = handover::send(&stream, line.as_bytes(), streams);
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer)?;
    if answer.is_empty() {
        written?;
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "it closed the connection without an answer",
        ));
    }
    Ok((serde_json::from_str(&answer).map_err(io::Error::other)?, stream))
}

/// Waits until the daemon at the other end, which has said that it ends, is gone; false if it is
/// still there after some seconds.
pub fn wait_for_end(stream: &UnixStream) -> io::Result<bool> {
    let daemon = Pid::from_raw(User::of(stream)?.1);
    // Of a daemon in another namespace there is no number here.
    let Some(process) = daemon.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return Ok(true);
    };
    let patience = Timespec { tv_sec: PATIENCE.as_secs() as _, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&patience))? > 0)
}

/// The client at the other end.
#[derive(Debug, Clone)]
struct Asker {
    user: User,
    pid: i32,
}

fn asker(stream: &UnixStream) -> io::Result<Asker> {
    let (user, pid) = User::of(stream)?;
    Ok(Asker { user, pid })
}

/// What a daemon serves with.
#[derive(Debug, Clone)]
pub struct Service {
    /// Processes that are never frozen.
    pub spared: Spared,
    /// What a status says beside the programs.
    pub about: Value,
    /// The users that may ask beside the owner.
    pub users: Option<Users>,
    /// It takes what runs already, and starts nothing.
    pub is_attach_only: bool,
}

/// Serves requests until one or a signal says stop; then all programs run on without us. Where
/// somebody removes the socket it is made again.
pub fn serve(
    turns: &mut Turns<'_>,
    path: &Path,
    listener: UnixListener,
    service: &Service,
) -> io::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let users = service.users.as_ref();
    let door = Arc::new(Door {
        sender: turns.sender(),
        stop: Arc::clone(&stop),
        service: service.clone(),
        of_user: Mutex::default(),
        n_open: AtomicUsize::new(0),
    });
    let mut listening = listener.try_clone()?;
    accept(&door, listener)?;
    signals::note()?;
    let mut ended = Ok(());
    let mut looked = Instant::now();
    while ended.is_ok() && !stop.load(Ordering::Acquire) && signals::arrived().is_none() {
        ended = turns.turn(None);
        if looked.elapsed() >= LOOK_EVERY {
            looked = Instant::now();
            // Another daemon's socket in its place is left alone; what fails is tried again.
            if let Ok(Some(new)) = listen_again(path, users)
                && new.try_clone().and_then(|own| accept(&door, own)).is_ok()
            {
                // Clients that wait there hear that there are no more connections.
                let _ = shutdown(listening.as_raw_fd(), Shutdown::Both);
                listening = new;
            }
        }
    }
    // Also if we end because something failed.
    turns.release_all();
    // The client that asked us to stop gets its answer.
    let end = Instant::now() + LAST_WORDS;
    while door.n_open.load(Ordering::Acquire) > 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    ended
}

/// A thread that takes connections, and one for each.
fn accept(door: &Arc<Door>, listener: UnixListener) -> io::Result<()> {
    let door = Arc::clone(door);
    let take = move || {
        loop {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                // It was shut down.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
                Err(_) => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
            };
            // Root, and with it Slurm, is heard however many others ask.
            let is_root = || asker(&stream).is_ok_and(|asker| asker.user.uid == 0);
            if door.n_open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS && !is_root() {
                door.n_open.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let inside = Arc::clone(&door);
            let copy = stream.try_clone();
            let answer = move || {
                // A client that hangs up gets no answer.
                let tied = inside.answer(&stream).unwrap_or(None);
                // A client that waits for a program keeps no other out.
                inside.n_open.fetch_sub(1, Ordering::AcqRel);
                if let Some(id) = tied {
                    inside.end_with(stream, id);
                }
            };
            if let Err(error) = std::thread::Builder::new().spawn(answer) {
                door.n_open.fetch_sub(1, Ordering::AcqRel);
                if let Ok(mut stream) = copy {
                    let said =
                        Refusal::Failed(format!("start a thread for this connection: {error}"))
                            .to_string();
                    let _ = stream.write_all(
                        format!("{}\n", json!({"ok": false, "message": said})).as_bytes(),
                    );
                }
            }
        }
    };
    std::thread::Builder::new().name("door".to_owned()).spawn(take).map(drop)
}

/// What every connection needs.
struct Door {
    sender: Sender<Event>,
    stop: Arc<AtomicBool>,
    service: Service,
    /// Connections of each user.
    of_user: Mutex<BTreeMap<u32, usize>>,
    n_open: AtomicUsize,
}

impl Door {
    /// Answers one request; the program that is tied to this connection, if one is.
    fn answer(&self, stream: &UnixStream) -> io::Result<Option<u64>> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let asker = asker(stream)?;
        let may = match &self.service.users {
            Some(users) => users.check(&asker.user).and_then(|()| self.count(asker.user.uid)),
            None if asker.user.uid == rights::owner() => Ok(()),
            None => Err(Refusal::Stranger(asker.user.uid)),
        };
        let is_counted = self.service.users.is_some() && may.is_ok();
        let answer = may.and_then(|()| self.hear(stream, &asker));
        let answer =
            answer.unwrap_or_else(|refusal| json!({"ok": false, "message": refusal.to_string()}));
        let tied =
            answer["tied"].as_bool().unwrap_or(false).then(|| answer["id"].as_u64()).flatten();
        let written = write_within(
            &mut &*stream,
            |it, left| it.set_write_timeout(Some(left)),
            format!("{answer}\n").as_bytes(),
            Instant::now() + PATIENCE,
        );
        // A client that reads slowly still counts as asking.
        if is_counted {
            self.of_user
                .lock()
                .expect("nobody panics with it")
                .entry(asker.user.uid)
                .and_modify(|entry| *entry -= 1);
        }
        // A client that went before the answer has left its program as well.
        if tied.is_some() { Ok(tied) } else { written.map(|()| None) }
    }

    /// Ends the program when the other end of the connection goes.
    fn end_with(&self, mut stream: UnixStream, id: u64) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let is_active = move |turns: &mut Turns<'_>| Ok(json!(turns.is_active(id)));
        let goes_on = |answer: Result<Value, Refusal>| answer.is_ok_and(|answer| answer == true);
        let mut nothing = [0; 64];
        // A connection that outlives its program keeps no thread.
        loop {
            let is_open = match stream.read(&mut nothing) {
                Ok(n) => n > 0,
                Err(error) => matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                ),
            };
            if !goes_on(self.inside(is_active)) {
                return;
            }
            if !is_open {
                break;
            }
        }
        let failed = |error: io::Error| Refusal::Failed(error.to_string());
        let _ =
            self.inside(move |turns| turns.tell_to_end(id).map(|()| json!(true)).map_err(failed));
        let told = Instant::now();
        while goes_on(self.inside(is_active)) {
            if told.elapsed() > GRACE {
                let _ =
                    self.inside(move |turns| turns.kill(id).map(|()| json!(true)).map_err(failed));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// One more connection of this user.
    fn count(&self, uid: u32) -> Result<(), Refusal> {
        let mut all = self.of_user.lock().expect("nobody panics with it");
        let n = all.entry(uid).or_default();
        if uid != 0 && *n >= users::CONNECTIONS {
            return Err(Refusal::Failed(format!(
                "{n} requests of yours are being answered already"
            )));
        }
        *n += 1;
        Ok(())
    }

    fn hear(&self, stream: &UnixStream, asker: &Asker) -> Result<Value, Refusal> {
        let (line, streams) = handover::receive(stream, REQUEST_BYTES, Instant::now() + PATIENCE)
            .map_err(|error| Refusal::NoRequest(error.to_string()))?;
        let request: Request =
            serde_json::from_slice(&line).map_err(|error| Refusal::NoRequest(error.to_string()))?;
        let (uid, asker_pid) = (asker.user.uid, asker.pid);
        // Where there are many users, one who is not root sees and stops only their own programs.
        let only = self.service.users.as_ref().map(|_| uid).filter(|uid| *uid != 0);
        let about = self.service.about.clone();
        match request {
            Request::Status {} => self.inside(move |turns| {
                let mut value = status(turns, &about);
                only.iter().for_each(|it| users::leave_own(&mut value, *it));
                Ok(value)
            }),
            Request::Stop { program: Some(id) } => self.inside(move |turns| {
                if !turns.ids(only).contains(&id) {
                    return Err(Refusal::NoProgram(id));
                }
                turns.release(id);
                Ok(json!({"ok": true, "left_running": 1, "daemon_ends": false}))
            }),
            Request::Stop { program: None } if only.is_some() => self.inside(move |turns| {
                let own = turns.ids(only);
                own.iter().for_each(|it| turns.release(*it));
                Ok(json!({"ok": true, "left_running": own.len(), "daemon_ends": false}))
            }),
            Request::Stop { program: None } => {
                let stop = Arc::clone(&self.stop);
                self.inside(move |turns| {
                    stop.store(true, Ordering::Release);
                    turns.hurry();
                    Ok(json!({"ok": true, "left_running": turns.n_active(), "daemon_ends": true}))
                })
            }
            Request::Submit { .. } if self.service.is_attach_only => Err(Refusal::AttachOnly),
            Request::Submit { command, threads, expected, folder, environment, output, tied } => {
                check_threads(threads)?;
                let program =
                    command.first().filter(|command| !command.is_empty()).ok_or(Refusal::Empty)?;
                let name = Path::new(program)
                    .file_name()
                    .map_or(program.clone(), |it| it.to_string_lossy().into_owned());
                // It is kept, and told to whoever asks.
                let name: String = name.chars().take(NAME).collect();
                let given = command
                    .iter()
                    .chain(environment.iter().flat_map(|(name, value)| [name, value]));
                let size: usize = given.map(String::len).sum();
                if only.is_some() && size > users::START_BYTES {
                    return Err(Refusal::Failed(format!(
                        "a command and environment of {size} bytes; {} at most",
                        users::START_BYTES
                    )));
                }
                let (user, users) = (asker.user.clone(), self.service.users.clone());
                let threads = users.as_ref().map_or(threads, |it| it.threads(&user, threads));
                let entry = match &users {
                    Some(_) => {
                        let streams =
                            <[OwnedFd; 3]>::try_from(streams).map_err(|_| Refusal::NoStreams)?;
                        Some(Entry { user: user.clone(), streams: Arc::new(streams) })
                    }
                    None => None,
                };
                let place = Place { folder, environment, entry, home: None };
                let place = Some(place);
                let mut task = Task { name, command, n_threads: threads, expected, place, output };
                self.inside(move |turns| {
                    users.map_or(Ok(()), |users| {
                        users.check_quota(&user, threads, turns.of(user.uid))
                    })?;
                    check_room(turns)?;
                    let home = turns.host().hierarchy.home(asker_pid);
                    task.place.iter_mut().for_each(|it| it.home.clone_from(&home));
                    let id = turns.start(&task).map_err(|error| {
                        Refusal::Failed(format!("start `{}`: {error}", task.name))
                    })?;
                    Ok(json!({"ok": true, "id": id, "tied": tied}))
                })
            }
            Request::Cgroup { path, threads, expected } => {
                check_threads(threads)?;
                let spared = self.service.spared.clone();
                let (user, users) = (asker.user.clone(), self.service.users.clone());
                let threads = users.as_ref().map_or(threads, |users| users.threads(&user, threads));
                self.inside(move |turns| {
                    users.map_or(Ok(()), |users| {
                        users.check_quota(&user, threads, turns.of(user.uid))
                    })?;
                    check_room(turns)?;
                    let found = Foreign::find(&path)?;
                    let root = spared.check_group(&found, asker_pid, uid)?;
                    let id = turns.attach_group((found, root), uid, threads, expected)?;
                    Ok(json!({"ok": true, "id": id}))
                })
            }
            Request::Step(step) => {
                check_threads(step.threads)?;
                let spared = self.service.spared.clone();
                self.inside(move |turns| {
                    check_room(turns)?;
                    let tasks = step.check(&spared, asker_pid, uid)?;
                    if let Some(pid) = step.pids.iter().find(|pid| turns.has(**pid)) {
                        return Err(Refusal::Managed(*pid));
                    }
                    let name = step.text();
                    let id = turns
                        .attach_step(tasks, step)
                        .map_err(|error| Refusal::Failed(format!("take step {name}: {error}")))?;
                    Ok(json!({"ok": true, "id": id}))
                })
            }
            Request::StepEnd { .. } if uid != 0 => Err(Refusal::NoSlurm(uid)),
            Request::StepEnd { job, step } => self.inside(move |turns| {
                Ok(json!({"ok": true, "was_known": turns.end_step(job, step)}))
            }),
            Request::Attach { pid, threads, expected } => {
                check_threads(threads)?;
                let spared = self.service.spared.clone();
                let (user, users) = (asker.user.clone(), self.service.users.clone());
                let threads = users.as_ref().map_or(threads, |it| it.threads(&user, threads));
                self.inside(move |turns| {
                    users.map_or(Ok(()), |users| {
                        users.check_quota(&user, threads, turns.of(user.uid))
                    })?;
                    check_room(turns)?;
                    let found = spared.check(pid, asker_pid, uid)?;
                    if turns.has(pid) {
                        return Err(Refusal::Managed(pid));
                    }
                    let id = turns.attach(found, threads, expected).map_err(|error| {
                        Refusal::Failed(format!("attach process {pid}: {error}"))
                    })?;
                    Ok(json!({"ok": true, "id": id}))
                })
            }
        }
    }

    /// Does it where the programs are, between two steps, and waits for what came of it.
    fn inside(
        &self,
        work: impl FnOnce(&mut Turns<'_>) -> Result<Value, Refusal> + Send + 'static,
    ) -> Result<Value, Refusal> {
        inside(&self.sender, work)
    }
}

/// The same for whoever has a sender.
fn inside(
    sender: &Sender<Event>,
    work: impl FnOnce(&mut Turns<'_>) -> Result<Value, Refusal> + Send + 'static,
) -> Result<Value, Refusal> {
    let (reply, answer) = mpsc::channel();
    let wish = Arc::new(Wish::default());
    let own = Arc::clone(&wish);
    let event = Event::Do(Box::new(move |turns| {
        if own.begin() {
            // The client may have gone.
            let _ = reply.send(work(turns));
        }
    }));
    let gone = || Refusal::Failed("the manager has ended".to_owned());
    sender.send(event).map_err(|_| gone())?;
    match answer.recv_timeout(PATIENCE) {
        Ok(it) => it,
        Err(mpsc::RecvTimeoutError::Timeout) if wish.give_up() => Err(Refusal::Failed(format!(
            "the manager has not come to it for {} s: nothing was done",
            PATIENCE.as_secs()
        ))),
        // It is being done: what becomes of it is worth waiting for.
        Err(mpsc::RecvTimeoutError::Timeout) => answer.recv().map_err(|_| gone())?,
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(gone()),
    }
}

/// What a client waits for: it is begun or given up, whichever comes first, and never both.
#[derive(Debug, Default)]
struct Wish(AtomicBool);

impl Wish {
    /// True if it has not been given up.
    fn begin(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// True if it has not begun, and never will.
    fn give_up(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }
}

fn check_threads(n: Option<usize>) -> Result<(), Refusal> {
    match n {
        Some(n) if !(1..=THREADS_MAX).contains(&n) => Err(Refusal::Threads(n)),
        _ => Ok(()),
    }
}

fn check_room(turns: &Turns<'_>) -> Result<(), Refusal> {
    if turns.n_active() >= PROGRAMS_MAX {
        return Err(Refusal::Full);
    }
    // Asked by doing. They are free again at once; what is left is for those that run.
    let own = std::fs::File::open("/dev/null");
    let some = own.and_then(|own| {
        (0..DESCRIPTORS_LEFT).map(|_| own.try_clone()).collect::<io::Result<Vec<_>>>()
    });
    some.map(drop).map_err(|error| Refusal::Descriptors(error.to_string()))
}

/// What the endpoint of metrics says now; nothing, if the manager that hears `sender` has ended.
pub fn metrics(sender: &Sender<Event>, about: &Value) -> Option<String> {
    let about = about.clone();
    let said = inside(sender, move |turns| Ok(super::metrics::text(&status(turns, &about)).into()));
    said.ok().and_then(|said| said.as_str().map(str::to_owned))
}

/// All that there is to know, with the keys of `about` before it.
pub fn status(turns: &Turns<'_>, about: &Value) -> Value {
    let mut value = json!({"ok": true, "kind": "measured"});
    let (n_switches, switch_us_total, n_freezes, n_demotions) = turns.changes();
    let judgement = turns.judgement();
    let (at_most_mbps, why_limited) = turns.limits();
    let (n_started, n_ended) = turns.came_and_ended();
    let own = json!({
        "policy": turns.policy().text(),
        "turns": turns.host().waiting.text(),
        "is_cutting": judgement.is_none_or(|(is_cutting, _)| is_cutting),
        "why": judgement.map(|(_, why)| why),
        "at_most_mbps": at_most_mbps,
        "why_limited": why_limited,
        "round_robin": turns.host().settings.round_robin,
        "finish_first": turns.host().settings.finishes_first,
        "links": turns.host().topology.links,
        "link_changes": turns.n_moves(),
        "n_decisions": turns.n_decisions,
        "switch_us_p95": turns.switch_us_p95(),
        "n_switches": n_switches,
        "switch_us_total": switch_us_total,
        "n_freezes": n_freezes,
        "n_demotions": n_demotions,
        "n_started": n_started,
        "n_ended": n_ended,
        "programs": turns.status(),
        "ended": turns.ended(),
    });
    let object = value.as_object_mut().expect("it is an object");
    for part in [about, &own] {
        object.extend(
            part.as_object().into_iter().flatten().map(|(key, it)| (key.clone(), it.clone())),
        );
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_up_is_not_done() {
        let late = Wish::default();
        assert!(late.give_up() && !late.begin());
        let begun = Wish::default();
        assert!(begun.begin() && !begun.give_up());
        for _ in 0..1000 {
            let wish = Arc::new(Wish::default());
            let other = Arc::clone(&wish);
            let does = std::thread::spawn(move || other.begin());
            let gives_up = wish.give_up();
            assert_ne!(does.join().expect("no panic"), gives_up);
        }
    }

    #[test]
    fn one_daemon_has_the_socket() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("own").join("sock");
        let first = listen(&path, None).expect("nobody is there");
        assert_eq!(
            std::fs::metadata(&path).expect("it was made").permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(
            listen(&path, None).expect_err("the first listens").to_string(),
            "a daemon runs already"
        );
        // A program that another test is starting holds a copy of the socket until it runs `exec`.
        shutdown(first.as_raw_fd(), Shutdown::Both).expect("it is a socket");
        drop(first);
        listen(&path, None).expect("what a killed daemon left is not in the way");
        std::fs::set_permissions(folder.path().join("own"), std::fs::Permissions::from_mode(0o755))
            .expect("it is ours");
        assert!(
            listen(&path, None)
                .expect_err("others may enter")
                .to_string()
                .contains("others may enter it")
        );
    }
}
