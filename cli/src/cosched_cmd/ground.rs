//! What every command that manages programs can be told.

use std::path::PathBuf;

use cosched::manager::freezer;
use cosched::manager::group::Hierarchy;
use cosched::manager::startup::{Manager, Wanted};
use cosched::manager::{source, supervisor};

use crate::output::{Failure, Output};

/// What every command that manages programs can be told.
#[derive(Debug, Clone, clap::Args)]
pub struct GroundArgs {
    /// How programs are stopped: v2, v1 (control groups) or signals; the first that works unless said.
    #[arg(long, value_name = "HOW", value_parser = freezer_name)]
    freezer: Option<freezer::Kind>,
    /// Where their bandwidth is known from: resctrl, perf or estimate; the first that works unless said.
    #[arg(long, value_name = "SOURCE", value_parser = source_name)]
    source: Option<source::Kind>,
}

fn freezer_name(text: &str) -> Result<freezer::Kind, String> {
    freezer::from_text(text).ok_or_else(|| "v2, v1 or signals".to_owned())
}

fn source_name(text: &str) -> Result<source::Kind, String> {
    source::Kind::from_text(text).ok_or_else(|| "resctrl, perf or estimate".to_owned())
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
    let freezer = freezer::from_text(&args.freezer).ok_or_else(|| Failure::user("the manager starts this by itself", None))?;
    let hierarchy = Hierarchy { freezer, path: args.path.clone() };
    supervisor::watch(&hierarchy, &args.pages, std::io::stdin()).map_err(|error| Failure::environment("watch the manager", error))
}

/// A sentence for a call that failed.
pub fn failed(what: &str) -> impl Fn(std::io::Error) -> Failure + use<> {
    let what = what.to_owned();
    move |error| Failure::environment(what.clone(), error)
}

impl GroundArgs {
    /// A manager with these; what users should know is said.
    pub fn start(&self, out: &mut Output) -> Result<Manager, Failure> {
        let supervise = ["cosched", "supervise"].map(str::to_owned).into();
        let wanted = Wanted { freezer: self.freezer, source: self.source, supervise };
        Manager::start(&wanted, &mut |it| out.warning(it)).map_err(Failure::tool)
    }
}
