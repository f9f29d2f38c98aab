//! What a choice gains: the same program with it and without it, measured in turn. The choices are
//! a scheduler, the specialisation of nodes of bitwise operations, the size of the window, and
//! batches worked on in turn.

use measure::pairs::{Plan, run_pairs};
use measure::tool::ToolError;
use measure::{clock, noise, quiet};
use serde::{Deserialize, Serialize};

use super::original;
use cipher::counts;
use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Interleave, Schedule, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::speed::{N_LAUNCHES, Sampling, calls_for};
use cipher::unit::Subject;

/// One cell of the paper's two tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Name of the primitive.
    pub primitive: String,
    /// How it is sliced.
    pub slicing: Slicing,
    /// The scheduler that is on.
    pub scheduler: Schedule,
    pub cc: Cc,
    pub opt: &'static str,
    pub arch: Arch,
    pub seed_ratio: Option<f64>,
}

/// What was measured; off is the order that all other passes leave.
#[derive(Debug, Clone, Serialize)]
pub struct Gain {
    /// Median of the runs without the scheduler: time-stamp cycles a byte of output.
    pub cycles_per_byte_off: f64,
    pub cycles_per_byte_on: f64,
    /// Median of the ratios off / on of the pairs.
    pub ratio: f64,
    /// Distribution-free 95 % interval of that median.
    pub interval: [f64; 2],
    /// Wilcoxon rank-sum test of the two samples.
    pub p: f64,
    pub pairs: usize,
    /// Instructions executed by one call.
    pub instructions_off: Option<u64>,
    /// Instructions executed by one call.
    pub instructions_on: Option<u64>,
    /// Memory operands on the stack in the machine code.
    pub stack_off: Option<u64>,
    /// Memory operands on the stack in the machine code.
    pub stack_on: Option<u64>,
    /// Instructions a core cycle, estimated: from the instructions of a call, its time-stamp cycles
    /// and the measured ratio of the two clocks.
    pub ipc_off: Option<f64>,
    /// The same with it.
    pub ipc_on: Option<f64>,
    /// Which loops were written out: all, unless that makes the program too large.
    pub unroll: Unroll,
    /// What `--schedule auto` chooses for this program.
    pub auto: Schedule,
    /// What happened to the samples, if anything.
    pub warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Figures {
    paper: Paper,
}

#[derive(Deserialize)]
struct Paper {
    bitslice: Vec<(String, f64, f64, f64, f64, f64, f64)>,
    mslice: Vec<(String, String, f64, f64)>,
}

/// The cells of the paper's tables for these names, compilers and targets; empty lists are all.
pub fn cells(names: &[String], ccs: &[Cc], archs: &[Arch]) -> Vec<Cell> {
    let figures: Figures =
        toml::from_str(include_str!("../../../experiments/original/figures.toml"))
            .expect("a test parses the figures");
    let mut all = Vec::new();
    for row in figures.paper.bitslice {
        let columns = [(Cc::Gcc, "-Os"), (Cc::Gcc, "-O3"), (Cc::Clang, "-O3")];
        let ratios = [[row.1, row.2], [row.3, row.4], [row.5, row.6]];
        for ((cc, opt), ratios) in columns.into_iter().zip(ratios) {
            for (arch, ratio) in [Arch::X86_64, Arch::Avx2].into_iter().zip(ratios) {
                let (slicing, scheduler) = (Slicing::Bit, Schedule::Bitslice);
                all.push(Cell {
                    primitive: row.0.clone(),
                    slicing,
                    scheduler,
                    cc,
                    opt,
                    arch,
                    seed_ratio: Some(ratio),
                });
            }
        }
    }
    for row in figures.paper.mslice {
        let slicing = if row.1 == "h" { Slicing::Horizontal } else { Slicing::Vertical };
        for (arch, ratio) in [(Arch::X86_64, row.2), (Arch::Avx2, row.3)] {
            if ratio > 0.0 {
                let (cc, scheduler) = (Cc::Clang, Schedule::Mslice);
                all.push(Cell {
                    primitive: row.0.clone(),
                    slicing,
                    scheduler,
                    cc,
                    opt: "-O3",
                    arch,
                    seed_ratio: Some(ratio),
                });
            }
        }
        // The paper has no such column, the original was measured in it.
        let (cc, arch, scheduler) = (Cc::Clang, Arch::Avx512, Schedule::Mslice);
        if original::cycles_per_byte(&row.0, slicing, cc, "-O3", arch).is_some() {
            all.push(Cell {
                primitive: row.0,
                slicing,
                scheduler,
                cc,
                opt: "-O3",
                arch,
                seed_ratio: None,
            });
        }
    }
    all.retain(|cell| {
        (names.is_empty() || names.contains(&cell.primitive))
            && (ccs.is_empty() || ccs.contains(&cell.cc))
            && (archs.is_empty() || archs.contains(&cell.arch))
    });
    all
}

/// Equations above which loops are kept instead of written out.
const UNROLLED_MAX: usize = 16_000;

pub fn measure(cell: &Cell, unroll: Unroll, sampling: Sampling) -> Result<Gain, ToolError> {
    let recipe = |schedule: Schedule| {
        let mut recipe = Recipe::new(cell.slicing, cell.arch, cell.cc, unroll, cell.opt);
        recipe.options.schedule = schedule;
        recipe
    };
    compare(&cell.primitive, recipe(Schedule::None), recipe(cell.scheduler), sampling)
}

/// A row of the table about `--specialise`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Specialise {
    /// Name of the primitive, bitsliced.
    pub primitive: &'static str,
    pub cc: Cc,
    pub opt: &'static str,
    pub arch: Arch,
    pub seed_ratio: f64,
}

/// The paper's three ciphers whose S-box alone was specialised.
pub fn specialise_cells() -> Vec<Specialise> {
    let cell = |(primitive, seed_ratio)| Specialise {
        primitive,
        cc: Cc::Clang,
        opt: "-O3",
        arch: Arch::Avx2,
        seed_ratio,
    };
    [("ascon-p12", 1.34), ("gift-128", 1.12), ("clyde-128", 1.06)].map(cell).into()
}

/// Measures `--specialise yes` against `no`, without a scheduler.
pub fn measure_specialise(cell: &Specialise, sampling: Sampling) -> Result<Gain, ToolError> {
    let recipe = |specialise: bool| {
        let mut recipe = Recipe::new(Slicing::Bit, cell.arch, cell.cc, Unroll::Yes, cell.opt);
        recipe.options.schedule = Schedule::None;
        recipe.options.specialise = specialise;
        recipe
    };
    compare(cell.primitive, recipe(false), recipe(true), sampling)
}

/// A point of the sweep over the look-behind window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Window {
    /// Name of the primitive.
    pub primitive: &'static str,
    /// How it is sliced.
    pub slicing: Slicing,
    pub cc: Cc,
    pub arch: Arch,
    /// Equations that the scheduler looks back.
    pub look_behind: usize,
}

/// Windows of 1 to 20 equations for the primitives that gain most in the paper's table.
pub fn window_cells() -> Vec<Window> {
    let subjects = [
        ("ace", Slicing::Vertical, Arch::Avx2),
        ("chacha20", Slicing::Vertical, Arch::X86_64),
        ("aes-128", Slicing::Horizontal, Arch::Avx2),
        ("clyde-128", Slicing::Vertical, Arch::Avx2),
    ];
    let windows = |(primitive, slicing, arch)| {
        (1..=20).map(move |n| Window { primitive, slicing, cc: Cc::Clang, arch, look_behind: n })
    };
    subjects.into_iter().flat_map(windows).collect()
}

/// Measures one window against the order that all other passes leave.
pub fn measure_window(cell: &Window, sampling: Sampling) -> Result<Gain, ToolError> {
    let recipe = |schedule: Schedule| {
        let mut recipe = Recipe::new(cell.slicing, cell.arch, cell.cc, Unroll::Yes, "-O3");
        recipe.options.schedule = schedule;
        recipe.options.look_behind = cell.look_behind;
        recipe
    };
    compare(cell.primitive, recipe(Schedule::None), recipe(Schedule::Mslice), sampling)
}

/// A row of the table about `--interleave`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interleaved {
    /// Name of the primitive.
    pub primitive: &'static str,
    /// How it is sliced.
    pub slicing: Slicing,
    pub cc: Cc,
    pub arch: Arch,
    /// Batches that are worked on in turn; as many as `auto` says.
    pub batches: u32,
}

/// Primitives of few registers and long paths, and three that fill the registers,
/// on AVX2 and AVX-512.
pub fn interleave_cells() -> Vec<Interleaved> {
    let (h, v) = (Slicing::Horizontal, Slicing::Vertical);
    let subjects = [
        ("serpent-128", v),
        ("rectangle-80", v),
        ("gift-128", v),
        ("clyde-128", v),
        ("pyjamask-128", v),
        ("ascon-p12", v),
        ("chacha20", v),
        ("xoodoo-12", v),
        ("aes-128", h),
    ];
    let mut cells = Vec::new();
    for (primitive, slicing) in subjects {
        for arch in [Arch::Avx2, Arch::Avx512] {
            let subject = Subject::bundled(primitive)
                .expect("it is bundled")
                .expect("bundled programs are right");
            let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, Unroll::Yes, "-O3");
            recipe.options.schedule = Schedule::None;
            recipe.options.interleave = Interleave::Auto;
            let batches = recipe
                .make(&subject)
                .expect("bundled programs compile in their slicings")
                .compiled
                .interleave;
            cells.extend(Cc::ALL.map(|cc| Interleaved { primitive, slicing, cc, arch, batches }));
        }
    }
    cells
}

/// Measures one batch against as many in turn as the cell says, two where that is
/// one, without a scheduler.
pub fn measure_interleave(cell: &Interleaved, sampling: Sampling) -> Result<Gain, ToolError> {
    let recipe = |n: u32| {
        let mut recipe = Recipe::new(cell.slicing, cell.arch, cell.cc, Unroll::Yes, "-O3");
        recipe.options.schedule = Schedule::None;
        recipe.options.interleave = Interleave::Times(n);
        recipe
    };
    compare(cell.primitive, recipe(1), recipe(cell.batches.max(2)), sampling)
}

/// Compiles a bundled primitive both ways and measures the programs in turn. Loops are written out,
/// or kept in both if that makes the program too large.
fn compare(
    primitive: &str,
    mut off: Recipe,
    mut on: Recipe,
    sampling: Sampling,
) -> Result<Gain, ToolError> {
    let subject = Subject::bundled(primitive)
        .expect("the tables name bundled primitives")
        .expect("bundled programs are right");
    let make = |recipe: &Recipe| {
        recipe.make(&subject).expect("bundled programs compile in their slicings")
    };
    let mut made_off = make(&off);
    if made_off.n_equations() > UNROLLED_MAX {
        (off.options.unroll, on.options.unroll) = (Unroll::No, Unroll::No);
        made_off = make(&off);
    }
    let made_on = make(&on);
    let auto = {
        let mut recipe = on.clone();
        recipe.options.schedule = Schedule::Auto;
        make(&recipe).compiled.schedule
    };
    let (off_program, on_program) = (off.build(&made_off)?, on.build(&made_on)?);
    let bytes = [&made_off, &made_on].map(|made| made.bytes_per_call(off.arch) as f64);
    let calls = calls_for(&off_program)?;
    let n_disturbed = std::cell::Cell::new(0);
    let sample = |program: &std::path::Path, bytes: f64| {
        n_disturbed.set(n_disturbed.get() + u32::from(!quiet::wait(sampling.patience)));
        let launches = (0..N_LAUNCHES).map(|_| native::bench(program, 64, calls));
        let least = launches.reduce(|a, b| Ok(a?.min(b?))).expect("there is a launch");
        least.map(|cycles| cycles / bytes)
    };
    let plan = Plan { n_warmups: 1, n_pairs: sampling.n_pairs, n_repeats: 1 };
    let summary =
        run_pairs(plan, || sample(&off_program, bytes[0]), || sample(&on_program, bytes[1]))?
            .summary();
    let executed = |program: &std::path::Path, recipe: &Recipe| {
        counts::instructions(program, recipe.arch).ok()
    };
    let stack =
        |program: &std::path::Path| counts::stack_operands(program).ok().map(|c| c.stack_operands);
    let (instructions_off, instructions_on) =
        (executed(&off_program, &off), executed(&on_program, &on));
    let ratio = clock::core_cycles_per_tick();
    let ipc =
        |instructions: Option<u64>, cycles: f64| instructions.map(|n| n as f64 / (cycles * ratio));
    Ok(Gain {
        cycles_per_byte_off: summary.a_median,
        cycles_per_byte_on: summary.b_median,
        ratio: summary.ratio,
        interval: [summary.ratio_low, summary.ratio_high],
        p: summary.p,
        pairs: summary.n,
        instructions_off,
        instructions_on,
        stack_off: stack(&off_program),
        stack_on: stack(&on_program),
        ipc_off: ipc(instructions_off, summary.a_median * bytes[0]),
        ipc_on: ipc(instructions_on, summary.b_median * bytes[1]),
        unroll: off.options.unroll,
        auto,
        warnings: summary
            .warnings
            .iter()
            .chain(&noise::disturbed(n_disturbed.get()))
            .map(ToString::to_string)
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_the_papers_cells() {
        let all = cells(&[], &[], &[]);
        let count = |scheduler| all.iter().filter(|c| c.scheduler == scheduler).count();
        assert_eq!((count(Schedule::Bitslice), count(Schedule::Mslice)), (16 * 6, 9 + 11 + 10));
        assert_eq!(
            all.iter().filter(|c| c.seed_ratio.is_none()).count(),
            10,
            "AVX-512: the original's column"
        );
        for cell in &all {
            assert!(cipher::library::primitive(&cell.primitive).is_some(), "{}", cell.primitive);
        }
    }
}
