//! All configurations of the spell checker, on the simulator.

use machine::in_order::Core;
use measure::tool::ToolError;

use crate::code::Code;
use crate::counts::Counts;
use crate::image::{Program, Recipe};
use crate::names::{Behaviour, Schedule, Scheme};
use crate::scenario::Scenario;
use crate::sim::Costs;
use crate::sim::trace::{self, Trace};
use crate::work::{self, Fault};
use crate::{sim, spell};

/// One configuration and what it comes to.
#[derive(Debug, Clone)]
pub struct Cell {
    pub scheme: Scheme,
    pub schedule: Schedule,
    pub behaviour: Behaviour,
    pub windows: u32,
    pub counts: Counts,
}

/// An image in memory.
struct SweepImage {
    recipe: Recipe,
    code: Code,
    elf: Vec<u8>,
    costs: Box<dyn Costs>,
}

fn image(
    scheme: Scheme,
    schedule: Schedule,
    machines: [&Core; 2],
) -> Result<SweepImage, ToolError> {
    let recipe = Recipe::new(Program::Spell, scheme, schedule);
    let (path, code) = work::image(&recipe)?;
    let elf = std::fs::read(&path).map_err(|error| ToolError {
        ran: format!("read {}", path.display()),
        said: error.to_string(),
    })?;
    let costs = sim::costs(&recipe, &code, machines);
    Ok(SweepImage { recipe, code, elf, costs })
}

/// The events of the spell checker with the FIFO schedule.
pub fn trace(behaviour: Behaviour) -> Result<Trace, Fault> {
    let cores = work::cores();
    let machines = [&cores[0], &cores[1]];
    let image = image(Scheme::Ns, Schedule::Fifo, machines)?;
    trace::record(
        &image.code,
        &image.elf,
        &spell::blobs(behaviour),
        &spell::THREADS.map(str::to_owned),
        machines,
    )
}

/// The events of a scenario with the FIFO schedule. Recorded with `snp`, in which going to
/// sleep is a switch of its own; without sharing both switches are one place in the code, and
/// cannot be told apart.
pub fn scenario_trace(scenario: &Scenario) -> Result<Trace, Fault> {
    let cores = work::cores();
    let machines = [&cores[0], &cores[1]];
    let (path, code) = work::image(&Recipe::new(Program::Scenario, Scheme::Snp, Schedule::Fifo))?;
    let elf = std::fs::read(&path).map_err(|error| ToolError {
        ran: format!("read {}", path.display()),
        said: error.to_string(),
    })?;
    trace::record(&code, &elf, &scenario.blobs(), &scenario.names(), machines)
}

/// The longest switch of each scheme with so many windows on each machine, and of the underflows
/// that it causes later.
pub fn worst(scheme: Scheme, windows: u32) -> Result<[(u64, u64); 2], ToolError> {
    let cores = work::cores();
    let image = image(scheme, Schedule::Fifo, [&cores[0], &cores[1]])?;
    Ok([0, 1].map(|machine| image.costs.worst_switch(windows, machine)))
}

/// A recorded run under a scheme, with so many windows.
pub fn replay(trace: &Trace, scheme: Scheme, windows: u32) -> Result<Counts, Fault> {
    let cores = work::cores();
    let image = image(scheme, Schedule::Fifo, [&cores[0], &cores[1]])?;
    Ok(trace.replay(&*image.costs, windows))
}

/// The columns of a sweep: scheme and schedule.
pub fn columns() -> Vec<(Scheme, Schedule)> {
    let sets = Scheme::ALL
        .into_iter()
        .filter(|found| found.shares())
        .map(|found| (found, Schedule::WorkingSet));
    Scheme::ALL.into_iter().map(|found| (found, Schedule::Fifo)).chain(sets).collect()
}

/// Configurations of a sweep.
pub fn n_cells(n_behaviours: usize, n_windows: usize) -> u64 {
    (columns().len() * n_behaviours * n_windows) as u64
}

/// Runs `behaviours` with each of `windows`, every scheme and schedule; `done` hears of
/// each cell. Threads whose windows never stay are scheduled alike by both schedules, so
/// they have FIFO cells only.
pub fn sweep(
    behaviours: &[Behaviour],
    windows: &[u32],
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Cell>, Fault> {
    let cores = work::cores();
    let machines = [&cores[0], &cores[1]];
    let fifo = Scheme::ALL.map(|found| image(found, Schedule::Fifo, machines));
    let fifo: Vec<SweepImage> = fifo.into_iter().collect::<Result<_, _>>()?;
    let shared: Vec<Scheme> = Scheme::ALL.into_iter().filter(|found| found.shares()).collect();
    let sets: Vec<SweepImage> = shared
        .iter()
        .map(|found| image(*found, Schedule::WorkingSet, machines))
        .collect::<Result<_, _>>()?;
    let names = spell::THREADS.map(str::to_owned);
    let traces: Vec<(Behaviour, Trace, Trace)> = behaviours
        .iter()
        .map(|behaviour| {
            let blobs = spell::blobs(*behaviour);
            let of = |scheme: Scheme| {
                let image = fifo
                    .iter()
                    .find(|it| it.recipe.scheme == scheme)
                    .expect("every scheme has an image");
                trace::record(&image.code, &image.elf, &blobs, &names, machines)
            };
            Ok((*behaviour, of(Scheme::Ns)?, of(Scheme::Flat)?))
        })
        .collect::<Result<_, Fault>>()?;
    let mut jobs: Vec<(&SweepImage, Behaviour, u32)> = Vec::new();
    for image in fifo.iter().chain(&sets) {
        for behaviour in behaviours {
            jobs.extend(windows.iter().map(|n| (image, *behaviour, *n)));
        }
    }
    let run = |(image, behaviour, n): (&SweepImage, Behaviour, u32)| -> Result<Cell, Fault> {
        let Recipe { scheme, schedule, .. } = image.recipe;
        let counts = if schedule == Schedule::Fifo {
            let (_, windowed, flat) = traces
                .iter()
                .find(|trace| trace.0 == behaviour)
                .expect("every behaviour has a trace");
            if scheme == Scheme::Flat { flat } else { windowed }.replay(&*image.costs, n)
        } else {
            sim::simulate(
                &image.recipe,
                &image.code,
                &image.elf,
                n,
                &spell::blobs(behaviour),
                &names,
                machines,
            )?
            .counts
        };
        done();
        Ok(Cell { scheme, schedule, behaviour, windows: n, counts })
    };
    let n_workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut cells = Vec::new();
        loop {
            let idx = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(job) = jobs.get(idx) else { return Ok(cells) };
            cells.push((idx, run(*job)?));
        }
    };
    let results: Vec<Result<Vec<(usize, Cell)>, Fault>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    let mut cells = Vec::new();
    for result in results {
        cells.extend(result?);
    }
    cells.sort_by_key(|cell| cell.0);
    Ok(cells.into_iter().map(|cell| cell.1).collect())
}
