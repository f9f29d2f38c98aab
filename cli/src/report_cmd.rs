//! `meanwhile report`: every system on its bundled input, as tables and as one HTML page.

use std::path::PathBuf;

use crate::output::{Failure, Output};

/// Arguments of `meanwhile report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Measure for seconds instead of minutes.
    #[arg(long)]
    pub quick: bool,
    /// Folder that receives index.html.
    #[arg(long, value_name = "DIR", default_value = "report")]
    pub out: PathBuf,
}

/// Runs the command.
pub fn run(_args: Args, _out: &mut Output) -> Result<(), Failure> {
    Ok(())
}
