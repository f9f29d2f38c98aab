//! What every command that manages programs can be told.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use cosched::manager::class::Class;
use cosched::manager::freezer;
use cosched::manager::group::Hierarchy;
use cosched::manager::host::Waiting;
use cosched::manager::keepers::Supervise;
use cosched::manager::startup::{Manager, Wanted};
use cosched::manager::{hands, source, supervisor};

use crate::choice::one_of;
use crate::output::{Failure, Output};

/// What every command that manages programs can be told.
#[derive(Debug, Clone, clap::Args)]
pub struct HostArgs {
    /// How programs wait for their turns: soft, in the kernel's idle class, and only where turns
    /// pay; or frozen, always.
    #[arg(long, value_name = "HOW", default_value = "soft", value_parser = waiting_name())]
    pub turns: Waiting,
    /// Milliseconds that a program waits at most with soft turns; where more compute than fit into
    /// it, the kernel schedules alone.
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(100..=60_000))]
    longest_wait: u32,
    /// MB/s that each link to the memory carries [default: as measured].
    #[arg(long, value_name = "MB/s", value_parser = mbps)]
    capacity: Option<f64>,
    /// How programs are stopped: by control groups of a version, or by signals; the first
    /// that works unless given.
    #[arg(long, value_name = "HOW", value_parser = freezer_name())]
    freezer: Option<freezer::Kind>,
    /// Where their bandwidth is known from; the first that works unless given.
    #[arg(long, value_name = "SOURCE", value_parser = source_name())]
    source: Option<source::Kind>,
}

fn waiting_name() -> impl TypedValueParser<Value = Waiting> {
    one_of(Waiting::ALL, |waiting| waiting.text())
}

pub fn class_name() -> impl TypedValueParser<Value = Class> {
    one_of(Class::ALL, |class| class.text())
}

/// A rate that somebody knows.
pub fn mbps(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number| (0.0..=1e8).contains(number))
        .ok_or_else(|| "0 to 100000000".to_owned())
}

/// A short time.
pub fn milliseconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number| (0.0..=1e6).contains(number))
        .ok_or_else(|| "0 to 1000000".to_owned())
}

fn freezer_name() -> impl TypedValueParser<Value = freezer::Kind> {
    one_of(freezer::ALL.iter().copied(), |it| it.text())
}

fn source_name() -> impl TypedValueParser<Value = source::Kind> {
    one_of(source::Kind::ALL, |it| it.text())
}

/// Arguments of the supervisor, which the manager starts by itself.
#[derive(Debug, clap::Args)]
pub struct SuperviseArgs {
    /// Outside the manager's control group, where it may be.
    #[arg(long)]
    outside: bool,
    freezer: String,
    path: PathBuf,
    pages: PathBuf,
    manager: i32,
    /// What starts the manager again.
    #[arg(last = true)]
    again: Vec<OsString>,
}

/// Waits for the manager's death, and becomes the next one if it should be started again.
pub fn supervise(args: &SuperviseArgs, out: &mut Output) -> Result<(), Failure> {
    let freezer = freezer::from_text(&args.freezer)
        .ok_or_else(|| Failure::user("the manager starts this by itself", None))?;
    let hierarchy = Hierarchy::at(freezer, args.path.clone());
    let failed = failed("watch the manager");
    let line = std::io::stdin().as_fd().try_clone_to_owned().map_err(&failed)?;
    let watched = supervisor::Watched {
        hierarchy,
        pages: &args.pages,
        pid: args.manager,
        is_outside: args.outside,
    };
    let is_to_start = supervisor::watch(&watched, line).map_err(&failed)?;
    if is_to_start && !args.again.is_empty() {
        out.warning(&format!(
            "manager {} died: its programs run on, and it is started again",
            args.manager
        ));
        return Err(Failure::environment(
            "start the manager again",
            supervisor::become_manager(&args.again),
        ));
    }
    Ok(())
}

/// Does what a daemon without rights asks for, until that ends.
pub fn hands() -> Result<(), Failure> {
    let failed = failed("act for the daemon");
    let line = std::io::stdin().as_fd().try_clone_to_owned().map_err(&failed)?;
    hands::serve(line).map_err(&failed)
}

/// A sentence for a call that failed.
pub fn failed(what: &str) -> impl Fn(std::io::Error) -> Failure + use<> {
    let what = what.to_owned();
    move |error| Failure::environment(what.clone(), error)
}

/// How programs of this manager wait for their turns.
pub fn turns(manager: &Manager) -> String {
    let host = manager.host();
    match (host.waiting, &host.idle) {
        (Waiting::Soft, Ok(kind)) => format!("soft turns by {}", kind.name()),
        (Waiting::Soft, Err(_)) => "soft turns, and no way to cut any".to_owned(),
        (Waiting::Frozen, _) => host.hierarchy.freezer.name().to_owned(),
    }
}

impl HostArgs {
    /// A manager with these; what users should know is said.
    pub fn start(&self, role: Role, out: &mut Output) -> Result<Manager, Failure> {
        let supervise = Supervise {
            command: ["cosched", "supervise"].map(str::to_owned).into(),
            again: role.again,
        };
        let (freezer, source, shared) = (self.freezer, self.source, role.shared);
        let wanted = Wanted {
            waiting: self.turns,
            longest_wait: Duration::from_millis(self.longest_wait.into()),
            link_mbps: self.capacity,
            at_most_mbps: role.at_most_mbps,
            clock_error: role.clock_error,
            freezer,
            source,
            supervise,
            shared,
            is_attach_only: role.is_attach_only,
            apart: role.apart,
        };
        Manager::start(&wanted, &mut |it| out.warning(it)).map_err(Failure::tool)
    }
}

/// What a manager is: by default one that runs programs in the foreground.
#[derive(Debug, Clone, Default)]
pub struct Role {
    /// The arguments that start it again if it dies; none if nobody should.
    pub again: Vec<OsString>,
    /// A folder that other users may enter, where they have programs here.
    pub shared: Option<PathBuf>,
    /// It takes what runs already.
    pub is_attach_only: bool,
    /// MB/s that its programs together may move where there is nothing to choose.
    pub at_most_mbps: Option<f64>,
    /// To whom it gives root's rights when all is ready.
    pub apart: Option<hands::Apart>,
    /// How far this node's clock may be from the true time, if the operator knows.
    pub clock_error: Option<Duration>,
}
