//! `meanwhile regwin scenario`: a user's own threads on QEMU, on the simulator, or on both.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use regwin::image::{Program, Recipe};
use regwin::scenario::Scenario;
use regwin::work::{self, Done, MACHINES};
use regwin::{Allocate, Schedule, Scheme, Variant, sim};
use report::Diagnostic;
use serde_json::json;

use super::counts::{On, counts_object, counts_table};
use super::{failure, options};
use crate::choice::one_of;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin scenario`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The scenario: streams, and what each thread does.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where it runs; the results of both are compared.
    #[arg(long, value_name = "WORLD", default_value = "both", value_parser = world())]
    on: World,
    /// How threads use the windows.
    #[arg(long, value_name = "NAME", default_value = "sp", value_parser = options::scheme())]
    scheme: Scheme,
    /// Register windows, 4 to 32.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(options::WINDOWS))]
    windows: u32,
    /// Which ready thread runs next.
    #[arg(long, value_name = "NAME", default_value = "fifo", value_parser = options::schedule())]
    schedule: Schedule,
    /// Where snp and sp put a thread without windows.
    #[arg(long, value_name = "NAME", default_value = "simple", value_parser = options::allocate())]
    allocate: Allocate,
    /// Which machine is charged.
    #[arg(long, value_name = "NAME", default_value = "erc32", value_parser = options::machine())]
    machine: usize,
}

/// One world, or both.
type World = Option<On>;

fn world() -> impl TypedValueParser<Value = World> {
    use super::counts::On;
    one_of([Some(On::Qemu), Some(On::Sim), None], |it| it.map_or("both", On::name))
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let name = args.file.display().to_string();
    let text = std::fs::read_to_string(&args.file)
        .map_err(|error| Failure::user(format!("cannot read `{name}`: {error}"), None))?;
    let scenario = Scenario::parse(&name, &text).map_err(|fault| Failure::User(vec![fault]))?;
    options::fits(args.allocate, args.scheme)?;
    let variant = match (scenario.has_floats(), scenario.has_clock()) {
        (false, false) => Variant::Plain,
        (true, false) => Variant::Fpu,
        (false, true) => Variant::Preempt,
        (true, true) => Variant::Float,
    };
    if variant != Variant::Plain && args.scheme == Scheme::Flat {
        let message = "the scheme flat has neither floating point nor a clock: no `float`, `tick`, `wait`, `try`";
        return Err(Failure::user(message.to_owned(), Some("the schemes with windows have both")));
    }
    let recipe = Recipe {
        allocate: args.allocate,
        variant,
        ..Recipe::new(Program::Scenario, args.scheme, args.schedule)
    };
    let worlds = args.on.map_or(vec![On::Qemu, On::Sim], |on| vec![on]);
    let mut results: Vec<(On, Done)> = Vec::new();
    for world in worlds {
        let run = if world == On::Qemu { work::run } else { sim::run };
        results.push((
            world,
            run(&recipe, args.windows, &scenario.blobs(), &scenario.names()).map_err(failure)?,
        ));
    }
    if let [(_, real), (_, sim)] = results.as_slice() {
        if real.counts != sim.counts || real.output != sim.output {
            let message = format!(
                "QEMU and the simulator differ: {:?} against {:?}",
                real.counts, sim.counts
            );
            return Err(Failure::User(vec![Diagnostic::new(message)]));
        }
        out.line("QEMU and the simulator count the same.");
    }
    let (_, done) = &results[0];
    let title = format!(
        "{name}: {}, {} windows, {}, {}",
        args.scheme.name(),
        args.windows,
        args.schedule.name(),
        MACHINES[args.machine]
    );
    out.text(&counts_table(title, args.machine, &done.counts).terminal(None));
    let mut object = json!({
        "ok": true,
        "scheme": args.scheme.name(),
        "windows": args.windows,
        "scenario": name,
        "schedule": args.schedule.name(),
        "allocate": args.allocate.name(),
        "machine": MACHINES[args.machine],
        "on": results.iter().map(|result| result.0.name()).collect::<Vec<_>>(),
    });
    counts_object(&mut object, &done.counts, args.machine);
    out.object(&object);
    Ok(())
}
