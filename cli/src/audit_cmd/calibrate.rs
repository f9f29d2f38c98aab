//! `meanwhile audit calibrate`: the chains for a core whose numbers nobody published, and its machine
//! file from what they took there.

use std::path::{Path, PathBuf};

use audit::calibrate::{c_file, calibrate};
use audit::decode::Isa;
use audit::program::toolchain::{self, Build};
use machine::in_order::Core;
use serde_json::json;

use super::options::Named;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile audit calibrate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the chains printed on the core; without it the chains are written, a C file.
    #[arg(value_name = "RESULTS")]
    results: Option<PathBuf>,
    /// The machine that is most like it, from which its file begins, or a machine file, NAME.toml.
    #[arg(long, value_name = "NEAREST")]
    cpu: String,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let named = Named::of(&args.cpu)?;
    let (name, sets) = &named.cpu;
    let Some(core) = named.own.or_else(|| Core::bundled(name)) else {
        let help = "`meanwhile audit cpus` lists those that issue in order";
        return Err(Failure::user(format!("`{name}` reorders instructions"), Some(help)));
    };
    let found = sets.iter().find_map(|isa| Some((*isa, c_file(*isa)?)));
    let Some((isa, source)) = found else {
        let sets: Vec<&str> = sets.iter().map(|isa| isa.name()).collect();
        let said = format!("there are no chains of {} yet", sets.join(" and "));
        return Err(Failure::user(said, Some("there are some of a64, t32, a32 and rv64")));
    };
    let Some(results) = &args.results else {
        out.text(&source);
        out.object(
            &json!({"ok": true, "kind": "audit-chains", "set": isa.name(), "source": source}),
        );
        return Ok(());
    };
    fitted(results, &core, isa, &source, out)
}

fn fitted(
    results: &Path,
    nearest: &Core,
    isa: Isa,
    source: &str,
    out: &mut Output,
) -> Result<(), Failure> {
    let shown = results.display().to_string();
    if !results.is_file() {
        return Err(Failure::user(format!("there is no file `{shown}`"), None));
    }
    let text = toolchain::read(results).map_err(Failure::tool)?;
    let cpu = nearest.nearest.as_deref().unwrap_or(&nearest.name);
    let (file, build) = (Path::new("chains.c"), Build::default());
    let object = toolchain::compile_changed(file, source, isa, cpu, &build, toolchain::LIMIT)
        .map_err(Failure::tool)?;
    let made = calibrate(&shown, &String::from_utf8_lossy(&text), &object, isa, nearest)
        .map_err(|error| Failure::User(vec![error]))?;
    let far: Vec<&str> = made
        .residuals
        .iter()
        .filter(|residual| !residual.is_near())
        .map(|residual| residual.chain.as_str())
        .collect();
    out.text(&made.text);
    if !far.is_empty() {
        out.warning(&format!(
            "{} of {} chains take another time than by this file, which marks them: {}",
            far.len(),
            made.residuals.len(),
            far.iter().take(5).copied().collect::<Vec<&str>>().join(", ")
        ));
    }
    let residuals = made.residuals.iter().map(|residual| json!({"chain": residual.chain, "measured": residual.measured, "model": residual.model}));
    out.object(&json!({"ok": true, "kind": "audit-calibration", "nearest": nearest.name, "file": made.text, "residuals": residuals.collect::<Vec<_>>()}));
    Ok(())
}
