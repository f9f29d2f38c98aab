//! Door: what runs of real programs stand on: control groups, the supervisor that outlives us, links, a source.

use std::cell::RefCell;
use std::io::PipeWriter;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use cosched::manager::canary::Canary;
use cosched::manager::group::{Freezer, Hierarchy};
use cosched::manager::run::{self, Planned, Report};
use cosched::manager::turns::Ground;
use cosched::manager::{journal, private, process, source, supervisor, team, topology};
use cosched::policies::{Name, Settings};

use crate::output::{Failure, Output};

/// What every command that manages programs can be told.
#[derive(Debug, Clone, clap::Args)]
pub struct GroundArgs {
    /// How programs are stopped: v2, v1 (control groups) or signals; the first that works unless said.
    #[arg(long, value_name = "HOW", value_parser = freezer)]
    freezer: Option<Freezer>,
    /// Where their bandwidth is known from: resctrl, perf or estimate; the first that works unless said.
    #[arg(long, value_name = "SOURCE", value_parser = source_name)]
    source: Option<source::Name>,
}

fn freezer(text: &str) -> Result<Freezer, String> {
    Freezer::from_text(text).ok_or_else(|| "v2, v1 or signals".to_owned())
}

fn source_name(text: &str) -> Result<source::Name, String> {
    source::Name::from_text(text).ok_or_else(|| "resctrl, perf or estimate".to_owned())
}

/// Arguments of the supervisor, which the manager starts by itself.
#[derive(Debug, clap::Args)]
pub struct SuperviseArgs {
    freezer: String,
    path: PathBuf,
    pages: PathBuf,
}

/// Waits for the manager's death.
pub fn supervise(args: &SuperviseArgs) -> Result<(), Failure> {
    let freezer = Freezer::from_text(&args.freezer).ok_or_else(|| Failure::user("the manager starts this by itself", None))?;
    let hierarchy = Hierarchy { freezer, path: args.path.clone() };
    supervisor::watch(&hierarchy, &args.pages, std::io::stdin()).map_err(|error| Failure::environment("watch the manager", error))
}

/// A sentence for a call that failed.
pub fn failed(what: &str) -> impl Fn(std::io::Error) -> Failure + use<> {
    let what = what.to_owned();
    move |error| Failure::environment(what.clone(), error)
}

/// All that runs of real programs need, with the supervisor that outlives it.
pub struct Manager {
    ground: RefCell<Ground>,
    supervisors: Supervisors,
    /// How bandwidth is known, and why so.
    pub choice: source::Choice,
}

impl Manager {
    /// Makes the control groups, starts the supervisor, and measures what the processors share.
    pub fn start(args: &GroundArgs, out: &mut Output) -> Result<Manager, Failure> {
        let cpus = process::cpus_of(0);
        let choice = source::choose(args.source)
            .map_err(|said| Failure::environment(format!("read {}", args.source.map_or("", source::Name::text)), said))?;
        // Programs find the library there after our end as well.
        let runtime = private::runtime();
        private::folder(&runtime).map_err(failed(&format!("use {}", runtime.display())))?;
        for pid in journal::free_leftovers(&runtime, &cpus) {
            out.warning(&format!("manager {pid} had died with its supervisors: what it left is free again"));
        }
        let pages = runtime.join(format!("{}{}", journal::PAGES, std::process::id()));
        private::folder(&pages).map_err(failed(&format!("use {}", pages.display())))?;
        journal::claim(&pages).map_err(failed(&format!("use {}", pages.display())))?;
        let own = format!("{}{}", journal::GROUPS, std::process::id());
        let (hierarchy, said) =
            Hierarchy::create(&own, args.freezer).map_err(|said| Failure::environment("make a folder for groups of programs", said))?;
        if hierarchy.freezer == Freezer::Signals {
            let why = if said.is_empty() { String::new() } else { format!(" ({said})") };
            out.warning(&format!("programs are stopped by SIGSTOP{why}: their parents can see it, and a change takes longer"));
        }
        let supervisors = Supervisors::start(&hierarchy, &pages)?;
        if !process::be_real_time() {
            out.warning("this process may not be SCHED_FIFO: quanta can end late on a loaded machine");
        }
        // Without it programs keep the threads that they start with.
        let library = team::library(&runtime);
        if let Err(error) = &library {
            out.warning(&format!("OpenMP programs do not follow their processors: write their library to {}: {error}", runtime.display()));
        }
        let mut canary = Canary::new();
        let found = topology::look(&cpus, &mut canary, None).map_err(failed("measure the links"))?;
        let calibration = found.shared().map(|it| it.readers);
        let source =
            source::open(choice.name, calibration).map_err(|said| Failure::environment(format!("read {}", choice.name.text()), said))?;
        let settings = Settings::default();
        let ground = Ground { hierarchy, cpus, topology: found, source, preload: library.ok(), pages, canary, n_programs: 0, settings };
        Ok(Manager { ground: RefCell::new(ground), supervisors, choice })
    }

    /// The processors of each link, measured now.
    pub fn links(&self) -> Result<Vec<Vec<usize>>, Failure> {
        let mut ground = self.ground.borrow_mut();
        let Ground { cpus, topology, canary, .. } = &mut *ground;
        *topology = topology::look(cpus, canary, Some(topology)).map_err(failed("measure the links"))?;
        Ok(topology.links.clone())
    }

    /// How programs are stopped.
    pub fn freezer(&self) -> Freezer {
        self.ground.borrow().hierarchy.freezer
    }

    /// The supervisors, as they are now.
    pub fn supervisors(&self) -> supervisor::Pids {
        Arc::clone(&self.supervisors.pids)
    }

    /// Runs programs to their ends.
    pub fn run(&self, plan: &[Planned], policy: Name) -> Result<Report, Failure> {
        run::run(plan, &mut self.ground.borrow_mut(), policy).map_err(failed("run the programs"))
    }

    /// The same under `pairing` that leaves this share of the quanta to round robin.
    pub fn run_sharing(&self, plan: &[Planned], policy: Name, round_robin: f64) -> Result<Report, Failure> {
        self.ground.borrow_mut().settings.round_robin = round_robin;
        self.run(plan, policy)
    }

    /// Something else with what is here.
    pub fn with<T>(&self, work: impl FnOnce(&mut Ground) -> T) -> T {
        work(&mut self.ground.borrow_mut())
    }

    /// Ends the supervisors, which take the groups away.
    pub fn end(self) {
        let _ = self.ground.borrow().hierarchy.remove();
    }
}

/// Two processes that free the programs when this one dies; one that ends before is started again. Dropped, they do so and
/// end, also where the manager failed to start.
struct Supervisors {
    pids: supervisor::Pids,
    is_ending: Arc<AtomicBool>,
    /// Its end is what they wait for.
    life: Option<PipeWriter>,
    keepers: Vec<JoinHandle<()>>,
}

impl Supervisors {
    fn start(hierarchy: &Hierarchy, pages: &Path) -> Result<Supervisors, Failure> {
        let (death, life) = std::io::pipe().map_err(failed("make a pipe"))?;
        let program = std::env::current_exe().map_err(failed("find this program"))?;
        let is_ending = Arc::new(AtomicBool::new(false));
        let pids = supervisor::Pids::default();
        let mut started = Supervisors { pids: Arc::clone(&pids), is_ending: Arc::clone(&is_ending), life: Some(life), keepers: Vec::new() };
        for idx in 0..supervisor::COUNT {
            let (program, path, pages, freezer) = (program.clone(), hierarchy.path.clone(), pages.to_owned(), hierarchy.freezer.text());
            let death = death.try_clone().map_err(failed("copy a pipe"))?;
            let spawn = move || -> std::io::Result<Child> {
                // It must outlive a Ctrl-C that ends us: a process group of its own.
                let mut command = Command::new(&program);
                command.args(["cosched", "supervise", freezer]).arg(&path).arg(&pages).process_group(0);
                command.stdin(death.try_clone()?).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
            };
            let mut child = spawn().map_err(failed("start the supervisor"))?;
            pids.lock().expect("nobody panics with it").insert(idx, child.id() as i32);
            let (is_ending, pids) = (Arc::clone(&is_ending), Arc::clone(&pids));
            started.keepers.push(std::thread::spawn(move || {
                loop {
                    let _ = child.wait();
                    if is_ending.load(Ordering::Acquire) {
                        return;
                    }
                    // Whatever keeps it from starting may pass: a full table of processes does.
                    child = loop {
                        match spawn() {
                            Ok(it) => break it,
                            Err(_) if is_ending.load(Ordering::Acquire) => return,
                            Err(_) => std::thread::sleep(Duration::from_millis(100)),
                        }
                    };
                    pids.lock().expect("nobody panics with it").insert(idx, child.id() as i32);
                }
            }));
        }
        Ok(started)
    }
}

impl Drop for Supervisors {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Release);
        drop(self.life.take());
        for it in self.keepers.drain(..) {
            // A keeper that panicked has nothing more to keep.
            let _ = it.join();
        }
    }
}
