//! `meanwhile cipher`: Usuba ciphers listed, checked, compiled, run and tested.

use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _out: &mut Output) -> Result<(), Failure> {
    Ok(())
}
