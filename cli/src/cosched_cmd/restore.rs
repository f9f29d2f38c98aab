//! `meanwhile cosched restore`: what managers left that are dead, stopped or frozen is given back,
//! without a daemon.

use std::path::{Path, PathBuf};

use cosched::manager::journal::{self, Left};
use cosched::manager::{daemon, private, process, rights, users};
use serde_json::json;

use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched restore`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The socket of a daemon with --config that listened
    /// elsewhere than at /run/meanwhile/cosched.sock.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let mut folders =
        vec![private::runtime(), daemon::folder_of(Path::new(users::SOCKET)).to_owned()];
    folders.extend(args.socket.iter().map(|socket| daemon::folder_of(socket).to_owned()));
    // What a daemon wrote down that may have been taken over.
    rights::distrust();
    folders.sort();
    folders.dedup();
    let cpus = process::cpus_of(0);
    let found: Vec<(i32, Left)> =
        folders.iter().flat_map(|folder| journal::free_leftovers(folder, &cpus, true)).collect();
    for (pid, left) in &found {
        out.line(&match left {
            Left::Free => format!("manager {pid} is dead: its programs run, on their own processors and in their own groups"),
            Left::Remains => format!("manager {pid} is dead: its programs run; a control group of it remains, as something is in it"),
            Left::Alive => format!("manager {pid} is there: its programs run until it has them wait again"),
        });
    }
    if found.is_empty() {
        out.line("nothing was left by a manager of this user");
    }
    let of = |which: Left| {
        found.iter().filter(|(_, left)| *left == which).map(|(pid, _)| *pid).collect::<Vec<i32>>()
    };
    let is_done = of(Left::Remains).is_empty();
    out.object(&json!({"ok": is_done, "freed": of(Left::Free), "remains": of(Left::Remains), "alive": of(Left::Alive)}));
    if is_done { Ok(()) } else { Err(Failure::Reported) }
}
