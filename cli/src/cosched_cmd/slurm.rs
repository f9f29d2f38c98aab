//! Door: `meanwhile cosched slurm`: the plugin for Slurm, compiled here, with what its
//! configuration needs.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cosched::manager::canary::Canary;
use cosched::manager::slurm::{EPILOG, JOB_SUBMIT, MARK, PLUGIN, UNIT_MBPS};
use cosched::manager::{capacity, process, topology};
use measure::tool;
use serde_json::json;

use super::host::failed;
use crate::output::{Failure, Output};

/// The compiler gets this long.
const LIMIT: Duration = Duration::from_secs(60);

/// Arguments of `meanwhile cosched slurm`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder for what is written.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Socket of a node's daemon; %n is the node's name.
    #[arg(long, value_name = "PATH", default_value = "/run/meanwhile/cosched.sock")]
    socket: String,
    /// Folder in which the daemons note what steps moved, seen by all nodes.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/meanwhile/membw")]
    history: String,
    /// MB/s that the links of a node carry together [default: as measured here].
    #[arg(long, value_name = "MB/s", value_parser = clap::value_parser!(u64).range(100..=100_000_000))]
    membw: Option<u64>,
}

/// Writes all of it.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let plain = |text: &str| !text.contains(['\'', '"', '\\', '\n', ' ']);
    if !plain(&args.history) || !plain(&args.socket) {
        return Err(Failure::user(
            "a path with blanks or quotes does not fit into Slurm's files",
            Some("choose another one"),
        ));
    }
    let own = std::env::current_exe().map_err(failed("find this program"))?;
    if !plain(&own.to_string_lossy()) {
        return Err(Failure::user(
            format!("`{}` does not fit into an Epilog", own.display()),
            Some("install this program where the path has no blanks or quotes"),
        ));
    }
    let folder = std::path::absolute(&args.output).map_err(failed("find the folder"))?;
    if !plain(&folder.to_string_lossy()) {
        return Err(Failure::user(
            format!("`{}` does not fit into plugstack.conf", folder.display()),
            Some("choose a path without blanks"),
        ));
    }
    let names = [
        "cosched.c",
        "cosched.so",
        "plugstack.conf",
        "job_submit.lua",
        "epilog.sh",
        "gres.conf",
        "slurm.conf.lines",
    ];
    let is_ours = |path: &Path| {
        std::fs::read(path)
            .is_ok_and(|bytes| bytes.windows(MARK.len()).any(|part| part == MARK.as_bytes()))
    };
    let source = folder.join(names[0]);
    for name in names {
        let path = folder.join(name);
        // A compiled plugin lies beside its source.
        let says = if name.ends_with(".so") { &source } else { &path };
        if path.symlink_metadata().is_ok() && !is_ours(says) {
            return Err(Failure::user(
                format!("`{}` is not ours", path.display()),
                Some("choose another folder with -o"),
            ));
        }
    }
    let mbps = args.membw.map_or_else(measured, Ok)?;
    let total = (mbps / UNIT_MBPS).max(1);
    std::fs::create_dir_all(&folder).map_err(failed(&format!("make {}", folder.display())))?;
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        measure::file::write(&path, text.as_bytes())
            .map_err(failed(&format!("write {}", path.display())))
    };
    write(names[0], PLUGIN.to_owned())?;
    compile(&folder)?;
    write(
        names[2],
        format!("# {MARK}\noptional {} socket={}\n", folder.join(names[1]).display(), args.socket),
    )?;
    write(
        names[3],
        JOB_SUBMIT.replace("@HISTORY@", &args.history).replace("@TOTAL@", &total.to_string()),
    )?;
    write(
        names[4],
        EPILOG.replace("@MEANWHILE@", &own.display().to_string()).replace("@SOCKET@", &args.socket),
    )?;
    let epilog = folder.join(names[4]);
    std::fs::set_permissions(&epilog, std::fs::Permissions::from_mode(0o755))
        .map_err(failed(&format!("make {} a program", epilog.display())))?;
    write(
        names[5],
        format!("# {MARK}\n# {mbps} MB/s; one is {UNIT_MBPS} MB/s.\nName=membw Count={total}\n"),
    )?;
    let lines = format!(
        "# {MARK}\nGresTypes=membw\nJobSubmitPlugins=lua\nPreemptMode=OFF\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nEpilog={}\n\
         # NodeName=... Gres=membw:{total}\n# PartitionName=... OverSubscribe=FORCE:2\n",
        epilog.display()
    );
    write(names[6], lines)?;
    for name in names {
        out.line(&folder.join(name).display().to_string());
    }
    out.object(
        &json!({"ok": true, "folder": folder, "files": names, "membw_mbps": mbps, "membw": total, "measured": args.membw.is_none()}),
    );
    Ok(())
}

/// What two processors that share a link read together, times the links; what one of a link reads
/// where no two do.
fn measured() -> Result<u64, Failure> {
    let failed =
        |error: std::io::Error| Failure::environment("measure what the links carry", error);
    let cpus = process::cpus_of(0);
    let found = topology::look(&cpus, &mut Canary::new(), None).map_err(failed)?;
    let one = match found.pairs.iter().find(|pair| pair.is_shared) {
        Some(it) => capacity::measure(it.a, it.b).map_err(failed)?.read_mbps,
        None => capacity::alone(cpus[0]).map_err(failed)?,
    };
    Ok((one * found.links.len().max(1) as f64) as u64)
}

fn compile(folder: &Path) -> Result<(), Failure> {
    let mut command = Command::new("cc");
    command
        .args([
            "-std=gnu11",
            "-O2",
            "-fPIC",
            "-shared",
            "-Wall",
            "-Wextra",
            "-o",
            "cosched.so",
            "cosched.c",
        ])
        .current_dir(folder);
    let ran = tool::run(&mut command, b"", LIMIT).and_then(measure::tool::Ran::ok);
    ran.map(drop).map_err(|error| {
        let is_header = error.said.contains("slurm/") && error.said.contains("No such file");
        if is_header {
            return Failure::environment(error.ran, "the headers of Slurm are missing: install libslurm-dev of the Slurm that runs here");
        }
        Failure::tool(error)
    })
}
