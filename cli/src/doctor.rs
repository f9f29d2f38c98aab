//! `meanwhile doctor`: which external tools each system needs, and which are there.

use crate::output::{Failure, Output};

/// Arguments of `meanwhile doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _out: &mut Output) -> Result<(), Failure> {
    Ok(())
}
