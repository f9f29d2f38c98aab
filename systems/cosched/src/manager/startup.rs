//! Door: a manager made ready: what earlier ones left is freed, groups and supervisors are there,
//! the links are measured.

use std::cell::{RefCell, RefMut};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use measure::tool::ToolError;

use super::across::WallClock;
use super::canary::Canary;
use super::freezer::Kind;
use super::group::Hierarchy;
use super::hands::{self, Apart};
use super::host::{Host, Waiting};
use super::idle;
use super::journal::Left;
use super::keepers::{Keepers, Supervise};
use super::run::{self, Planned, Report};
use super::{
    journal, memory, private, process, rights, source, supervisor, team, topology, up_again, users,
};
use crate::policies::{Name, Settings};

#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// How programs wait for their turns.
    pub waiting: Waiting,
    /// How long one may wait in the idle class.
    pub longest_wait: Duration,
    /// How far the clocks of nodes are from the true time at most, if the operator knows.
    pub clock_error: Option<Duration>,
    /// MB/s that a link carries, if it is not to be measured.
    pub link_mbps: Option<f64>,
    /// MB/s that the programs together may move where there is nothing to choose.
    pub at_most_mbps: Option<f64>,
    /// How programs are stopped; the first that works if none is said.
    pub freezer: Option<Kind>,
    /// Where their bandwidth is known from; the first that works if none is said.
    pub source: Option<source::Kind>,
    /// How supervisors are started.
    pub supervise: Supervise,
    /// A folder that other users may enter, for what their programs share with us; this user's own
    /// if none is said.
    pub shared: Option<PathBuf>,
    /// It starts no programs.
    pub is_attach_only: bool,
    /// It gives its rights away when all is ready: to whom, and what it becomes.
    pub apart: Option<Apart>,
}

/// All that runs of real programs need, with the supervisors that outlive it.
pub struct Manager {
    host: RefCell<Host>,
    keepers: Keepers,
    /// How bandwidth is known, and why so.
    pub choice: source::Choice,
}

fn failed(what: &str) -> impl Fn(io::Error) -> ToolError + use<> {
    let ran = what.to_owned();
    move |error| ToolError { ran: ran.clone(), said: error.to_string() }
}

fn refused(what: &str) -> impl Fn(String) -> ToolError + use<> {
    let ran = what.to_owned();
    move |said| ToolError { ran: ran.clone(), said }
}

impl Manager {
    /// Makes the groups, starts the supervisors, and measures what the processors share. What users
    /// should know but need not act on goes to `warn`.
    ///
    /// Errors: what was tried, and what it said.
    pub fn start(wanted: &Wanted, warn: &mut dyn FnMut(&str)) -> Result<Manager, ToolError> {
        let cpus = process::cpus_of(0);
        if let Some(said) = memory::is_short() {
            warn(&said);
        }
        let mut choice = source::choose(wanted.source)
            .map_err(refused(&format!("read {}", wanted.source.map_or("", source::Kind::text))))?;
        if wanted.apart.is_some() {
            // What an earlier daemon wrote down is given back.
            rights::distrust();
        }
        let pages = folders(&cpus, wanted.shared.as_deref(), warn)?;
        let own = format!("{}{}", rights::GROUPS, std::process::id());
        let (hierarchy, said) = Hierarchy::create(&own, wanted.freezer)
            .map_err(refused("make a folder for groups of programs"))?;
        journal::claim(&pages, &hierarchy).map_err(failed(&format!("use {}", pages.display())))?;
        if let Some(drawback) = hierarchy.freezer.drawback() {
            let why = if said.is_empty() { String::new() } else { format!(" ({said})") };
            let when = match wanted.waiting {
                Waiting::Soft => " while they are taken in",
                Waiting::Frozen => "",
            };
            warn(&format!(
                "programs are stopped{when} by {}{why}: {drawback}",
                hierarchy.freezer.name()
            ));
        }
        if wanted.apart.is_some() && hierarchy.freezer.text() == "signals" {
            let said = "a user without rights sends no signals to processes of others".to_owned();
            return Err(refused("manage programs with control groups")(said));
        }
        let keepers = Keepers::start(&hierarchy, &pages, &wanted.supervise)
            .map_err(failed("start the supervisor"))?;
        let idle = idle::choose(&hierarchy);
        if let (Waiting::Soft, Err(why)) = (wanted.waiting, &idle) {
            warn(&format!(
                "no turns are cut: no program can be put into the idle class ({why}); --turns frozen freezes instead"
            ));
        }
        if let Err(error) = up_again::by_a_thread() {
            warn(&format!(
                "if this process is stopped and its supervisors are killed, programs stay frozen: no timer wakes it ({error})"
            ));
        }
        if !process::be_real_time() {
            warn("this process may not be SCHED_FIFO: quanta can end late on a loaded machine");
        }
        let preload =
            if wanted.is_attach_only { None } else { library(wanted.shared.as_deref(), warn) };
        let mut canary = Canary::new();
        let found =
            topology::look(&cpus, &mut canary, None).map_err(failed("measure the links"))?;
        let calibration = found.seeing();
        choice.note_blindness(calibration);
        let source = source::open(choice.kind, calibration)
            .map_err(refused(&format!("read {}", choice.kind.text())))?;
        let settings = Settings::default();
        let host = Host {
            hierarchy,
            cpus,
            topology: found,
            waiting: wanted.waiting,
            idle,
            longest_wait: wanted.longest_wait,
            wall_clock: WallClock { said: wanted.clock_error },
            said_mbps: wanted.link_mbps,
            at_most_mbps: wanted.at_most_mbps,
            source,
            preload,
            pages,
            canary,
            n_programs: 0,
            settings,
            is_asked: false,
            history: None,
            files_before: process::open_many_files(),
            lines: Arc::clone(&keepers.lines),
        };
        if let Some(apart) = &wanted.apart {
            // Who has no rights looks at what is in its groups.
            std::fs::set_permissions(&host.hierarchy.path, Permissions::from_mode(0o755))
                .map_err(failed(&format!("open {}", host.hierarchy.path.display())))?;
            let pid = hands::take(apart, &host.pages, &keepers.starts)
                .map_err(failed("give root's rights away"))?;
            // It is nobody's to stop either.
            keepers.pids.lock().expect("nobody panics with it").insert(supervisor::COUNT, pid);
        }
        Ok(Manager { host: RefCell::new(host), keepers, choice })
    }

    /// The processors of each link, as last measured.
    pub fn known_links(&self) -> Vec<Vec<usize>> {
        self.host.borrow().topology.links.clone()
    }

    /// The processors of each link, measured now.
    ///
    /// Errors: what it said.
    pub fn links(&self) -> Result<Vec<Vec<usize>>, ToolError> {
        let mut host = self.host.borrow_mut();
        let Host { cpus, topology, canary, .. } = &mut *host;
        *topology =
            topology::look(cpus, canary, Some(topology)).map_err(failed("measure the links"))?;
        Ok(topology.links.clone())
    }

    /// How programs are stopped.
    pub fn freezer(&self) -> Kind {
        self.host.borrow().hierarchy.freezer
    }

    /// The supervisors, as they are now.
    pub fn supervisors(&self) -> supervisor::Pids {
        Arc::clone(&self.keepers.pids)
    }

    /// Runs programs to their ends.
    ///
    /// Errors: what it said.
    pub fn run(&self, plan: &[Planned], policy: Name) -> Result<Report, ToolError> {
        run::run(plan, &mut self.host.borrow_mut(), policy).map_err(failed("run the programs"))
    }

    /// The same under a policy with these settings.
    ///
    /// Errors: what it said.
    pub fn run_with(
        &self,
        plan: &[Planned],
        policy: Name,
        settings: Settings,
    ) -> Result<Report, ToolError> {
        self.host.borrow_mut().settings = settings;
        self.run(plan, policy)
    }

    pub fn host(&self) -> RefMut<'_, Host> {
        self.host.borrow_mut()
    }

    /// Ends the supervisors, which take the groups away.
    pub fn end(self) {
        let _ = self.host.borrow().hierarchy.remove();
    }
}

/// The library that lets OpenMP programs follow; without it they keep the threads
/// that they start with.
fn library(shared: Option<&Path>, warn: &mut dyn FnMut(&str)) -> Option<PathBuf> {
    let folder = shared.map_or_else(team::library_folder, Path::to_owned);
    let refused = match team::library(&folder) {
        Ok(made) => return Some(made),
        Err(error) => {
            format!("write the library of OpenMP programs to {}: {error}", folder.display())
        }
    };
    match team::library(&private::runtime()) {
        Ok(made) => {
            warn(&format!(
                "{refused}; children of programs that become other users say that they cannot read {}",
                made.display()
            ));
            Some(made)
        }
        Err(error) => {
            warn(&format!(
                "OpenMP programs do not follow their processors: {refused}; {}: {error}",
                private::runtime().display()
            ));
            None
        }
    }
}

/// The folder of this manager's pages.
fn folders(
    cpus: &[usize],
    shared: Option<&Path>,
    warn: &mut dyn FnMut(&str),
) -> Result<PathBuf, ToolError> {
    let (runtime, passed_over) =
        shared.map_or_else(private::choose, |shared| (shared.to_owned(), Vec::new()));
    let made = if shared.is_some() { users::folder(&runtime) } else { private::folder(&runtime) };
    made.map_err(failed(&format!("use {}", runtime.display())))?;
    for why in passed_over {
        warn(&format!(
            "files are in {}, as another place is not for this user: {why}",
            runtime.display()
        ));
    }
    for (pid, left) in journal::free_leftovers(&runtime, cpus, false) {
        match left {
            Left::Free => warn(&format!(
                "manager {pid} had died with its supervisors: what it left is free again"
            )),
            Left::Remains => warn(&format!(
                "manager {pid} had died with its supervisors: its programs run, and a group of it remains"
            )),
            Left::Alive => {}
        }
    }
    let pages = runtime.join(format!("{}{}", journal::PAGES, std::process::id()));
    private::folder(&pages).map_err(failed(&format!("use {}", pages.display())))?;
    if shared.is_some() {
        // Others open what they are told of.
        let is_open = std::fs::set_permissions(&pages, Permissions::from_mode(0o711));
        is_open.map_err(failed(&format!("open {}", pages.display())))?;
    }
    Ok(pages)
}
