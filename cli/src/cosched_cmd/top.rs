//! `meanwhile cosched top`: the daemon's programs, drawn again and again.

use std::time::Duration;

use cosched::manager::daemon::Request;

use super::daemon::{AskArgs, picture};
use crate::output::{Failure, Key, Output, Screen};

/// Arguments of `meanwhile cosched top`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Milliseconds between two pictures.
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(50..=60_000))]
    every: u64,
    #[command(flatten)]
    ask: AskArgs,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    // What is wrong is said before the screen changes; without a terminal there is one picture.
    let first = args.ask.ask(&Request::Status {})?;
    if !out.is_live() {
        out.text(&picture(&first));
        out.object(&first);
        return Ok(());
    }
    let mut screen =
        Screen::open().map_err(|error| Failure::environment("draw on the terminal", error))?;
    let failed = |error| Failure::environment("draw on the terminal", error);
    let mut value = first;
    loop {
        screen
            .draw(&format!("{}\nq ends this; the daemon and its programs run on", picture(&value)))
            .map_err(failed)?;
        if screen.key(Duration::from_millis(args.every)).map_err(failed)? == Key::Quit {
            return Ok(());
        }
        value = args.ask.ask(&Request::Status {})?;
    }
}
