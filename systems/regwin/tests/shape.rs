//! What the paper says in words about its figures, as far as it holds here;
//! `docs/explain/regwin.md` has the rest.

use machine::in_order::Core;
use regwin::code::Code;
use regwin::image::{Program, Recipe};
use regwin::scenario::Scenario;
use regwin::sim::Costs;
use regwin::sim::trace::{self, Trace};
use regwin::{Allocate, Behaviour, Counts, Schedule, Scheme, sim, spell, sweep, work};

const HIGH: [Behaviour; 3] = [Behaviour::HighFine, Behaviour::HighMedium, Behaviour::HighCoarse];
const LOW: [Behaviour; 3] = [Behaviour::LowFine, Behaviour::LowMedium, Behaviour::LowCoarse];

struct World {
    cores: [Core; 2],
    images: Vec<(Recipe, Code, Vec<u8>)>,
    traces: Vec<(Behaviour, Trace)>,
}

impl World {
    fn new(recipes: &[(Scheme, Schedule)]) -> World {
        let cores = work::cores();
        let image = |(scheme, schedule): &(Scheme, Schedule)| {
            let recipe = Recipe::new(Program::Spell, *scheme, *schedule);
            let (path, code) = work::image(&recipe).expect("the image is built");
            (recipe, code, std::fs::read(path).expect("the image is there"))
        };
        let images: Vec<(Recipe, Code, Vec<u8>)> = recipes.iter().map(image).collect();
        let threads = spell::THREADS.map(str::to_owned);
        let (_, code, elf) = &images[0];
        let record = |it| {
            (
                it,
                trace::record(code, elf, &spell::blobs(it), &threads, [&cores[0], &cores[1]])
                    .expect("it ends"),
            )
        };
        let traces = Behaviour::ALL.map(record).into();
        World { cores, images, traces }
    }

    fn image(&self, scheme: Scheme, schedule: Schedule) -> &(Recipe, Code, Vec<u8>) {
        self.images
            .iter()
            .find(|image| (image.0.scheme, image.0.schedule) == (scheme, schedule))
            .expect("the image was built")
    }

    fn costs(&self, scheme: Scheme) -> Box<dyn Costs> {
        let (recipe, code, _) = self.image(scheme, Schedule::Fifo);
        sim::costs(recipe, code, [&self.cores[0], &self.cores[1]])
    }

    fn fifo(&self, scheme: Scheme, behaviour: Behaviour, windows: u32) -> Counts {
        let trace = &self
            .traces
            .iter()
            .find(|trace| trace.0 == behaviour)
            .expect("every behaviour was recorded")
            .1;
        trace.replay(&*self.costs(scheme), windows)
    }

    fn working_set(&self, scheme: Scheme, behaviour: Behaviour, windows: u32) -> Counts {
        let (recipe, code, elf) = self.image(scheme, Schedule::WorkingSet);
        let threads = spell::THREADS.map(str::to_owned);
        let machines = [&self.cores[0], &self.cores[1]];
        sim::simulate(recipe, code, elf, windows, &spell::blobs(behaviour), &threads, machines)
            .expect("it ends")
            .counts
    }
}

fn erc32(counts: &Counts) -> f64 {
    counts.cycles[0].total() as f64
}

#[test]
fn fifo_figures_have_the_papers_shape() {
    let world = World::new(&[
        (Scheme::Ns, Schedule::Fifo),
        (Scheme::Snp, Schedule::Fifo),
        (Scheme::Sp, Schedule::Fifo),
    ]);
    let sp = |behaviour, windows| erc32(&world.fifo(Scheme::Sp, behaviour, windows));
    let ns = |behaviour, windows| erc32(&world.fifo(Scheme::Ns, behaviour, windows));
    for concurrency in [HIGH, LOW] {
        let gains = concurrency.map(|concurrency| 1.0 - sp(concurrency, 32) / ns(concurrency, 32));
        assert!(
            gains[0] > gains[1] && gains[1] > gains[2] && gains[2] > 0.03,
            "the gain grows as the grain gets finer: {gains:?}"
        );
        let saturated = concurrency.map(|concurrency| {
            (4..=32)
                .find(|n| sp(concurrency, *n) < 1.01 * sp(concurrency, 32))
                .expect("32 windows are as good as 32")
        });
        assert!(
            saturated.is_sorted() && saturated[2] <= 20,
            "finer grain saturates with fewer windows: {saturated:?}"
        );
    }
    for behaviour in Behaviour::ALL {
        let name = behaviour.name();
        assert!(
            sp(behaviour, 4) > ns(behaviour, 4),
            "{name}: with few windows the conventional scheme is ahead"
        );
        for scheme in [Scheme::Snp, Scheme::Sp] {
            let counts = world.fifo(scheme, behaviour, 32);
            let moves_nothing =
                counts.spans.iter().filter(|span| span.spilled + span.restored == 0);
            let best = f64::from(
                moves_nothing
                    .max_by_key(|moves_nothing| moves_nothing.times)
                    .expect("most switches move nothing")
                    .cycles[0],
            );
            let mean = counts.mean_switch_cycles(0);
            assert!(
                mean >= best && mean < 1.02 * best,
                "{name}, {scheme:?}: the mean switch, {mean}, nears the best case, {best}"
            );
            let windows_moved = counts.spilled + counts.restored;
            assert!(
                windows_moved * 1000 < counts.saves,
                "{name}, {scheme:?}: nothing goes to memory with 32 windows: {windows_moved}"
            );
        }
        let saves = [Scheme::Ns, Scheme::Snp, Scheme::Sp]
            .map(|found| world.fifo(found, behaviour, 9).saves);
        assert_eq!(
            saves,
            [world.fifo(Scheme::Ns, Behaviour::LowCoarse, 32).saves; 3],
            "{name}: always as many calls"
        );
    }
}

#[test]
fn the_working_set_helps_from_eight_windows_and_keeps_the_grain() {
    let world = World::new(&[
        (Scheme::Ns, Schedule::Fifo),
        (Scheme::Sp, Schedule::Fifo),
        (Scheme::Sp, Schedule::WorkingSet),
    ]);
    for behaviour in HIGH {
        let name = behaviour.name();
        let (eight, four) = (
            world.working_set(Scheme::Sp, behaviour, 8),
            world.working_set(Scheme::Sp, behaviour, 4),
        );
        let ns = erc32(&world.fifo(Scheme::Ns, behaviour, 8));
        assert!(erc32(&eight) < ns && erc32(&four) > ns, "{name}: good at 8 windows, not at 4");
        assert!(
            erc32(&eight) < erc32(&world.fifo(Scheme::Sp, behaviour, 8)),
            "{name}: better than fifo"
        );
        let share =
            eight.n_switches() as f64 / world.fifo(Scheme::Sp, behaviour, 8).n_switches() as f64;
        assert!((0.9..1.1).contains(&share), "{name}: {share} of the switches");
    }
}

/// Section 4.2 of the paper, as the report counts it and as `regwin scenario` runs it: B's one
/// window lies where A's reserved window is wanted, so `snp` stores one in each second switch,
/// unless it looks for a free place.
#[test]
fn the_ping_pong_of_the_paper_is_counted_alike_everywhere() {
    let scenario = Scenario::parse("ping-pong.txt", include_str!("../scenarios/ping-pong.txt"))
        .expect("the file is right");
    let trace = sweep::scenario_trace(&scenario).unwrap_or_else(|fault| panic!("{fault:?}"));
    for scheme in [Scheme::Snp, Scheme::Sp] {
        for allocate in Allocate::ALL {
            let recipe =
                Recipe { allocate, ..Recipe::new(Program::Scenario, scheme, Schedule::Fifo) };
            let run = work::run(&recipe, 8, &scenario.blobs(), &scenario.names())
                .unwrap_or_else(|fault| panic!("{fault:?}"));
            let run_stored = run.counts.spilled;
            let of_trace = trace.fragments(scheme, allocate, 8).stored;
            // The run also stores what its threads leave when they begin and end.
            assert!(
                run_stored.abs_diff(of_trace) <= 4,
                "{scheme:?}, {allocate:?}: {run_stored} on QEMU, {of_trace} in the report"
            );
        }
    }
}
