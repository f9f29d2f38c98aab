//! What a choice of the compiler gains: the same program with it and without it, measured in turn.
//! A study of one is its cells, the two recipes of each, and what is shown.

use measure::pairs::{Plan, run_pairs};
use measure::tool::ToolError;
use measure::{clock, noise, quiet};
use report::page::Block;
use serde::Serialize;
use serde_json::Value;
use terminal::output::Failure;

use cipher::counts;
use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Schedule, Unroll};
use cipher::recipe::Recipe;
use cipher::speed::{N_LAUNCHES, Sampling, calls_for};
use cipher::unit::Subject;

use crate::study::Study;

/// A cell of such a study: a primitive with a choice to be made.
pub trait Choice: Serialize + Clone {
    fn all() -> Vec<Self>;

    /// The primitive, by whom it is compiled and for what.
    fn subject(&self) -> (&str, Cc, Arch);

    /// Without the choice and with it; `unroll` as the user asks, where they may.
    fn recipes(&self, unroll: Unroll) -> [Recipe; 2];

    /// What is shown of the rows.
    fn blocks(rows: &[Value]) -> Vec<Block>;
}

/// Which cells of a study are asked for; empty lists are all.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub names: Vec<String>,
    pub cc: Vec<Cc>,
    pub arch: Vec<Arch>,
}

impl Asked {
    pub fn takes(&self, (primitive, cc, arch): (&str, Cc, Arch)) -> bool {
        (self.names.is_empty() || self.names.iter().any(|name| name == primitive))
            && (self.cc.is_empty() || self.cc.contains(&cc))
            && (self.arch.is_empty() || self.arch.contains(&arch))
    }
}

/// The study of a choice.
pub struct Gains<C> {
    pub cells: Vec<C>,
    pub unroll: Unroll,
    pub sampling: Sampling,
}

impl<C: Choice> Gains<C> {
    pub fn new(asked: &Asked, unroll: Unroll, sampling: Sampling) -> Gains<C> {
        let cells = C::all().into_iter().filter(|cell| asked.takes(cell.subject())).collect();
        Gains { cells, unroll, sampling }
    }
}

impl<C: Choice> Study for Gains<C> {
    type Cell = C;

    fn cells(&self) -> Vec<C> {
        self.cells.clone()
    }

    fn name(&self, cell: &C) -> String {
        let (primitive, cc, arch) = cell.subject();
        format!("{primitive} {} {}", cc.name(), arch.name())
    }

    fn runs_here(&self, cell: &C) -> bool {
        native::missing_feature(cell.subject().2).is_none()
    }

    fn measure(&self, cell: &C, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let [off, on] = cell.recipes(self.unroll);
        let gain = compare(cell.subject().0, off, on, self.sampling).map_err(Failure::tool)?;
        Ok(serde_json::to_value(gain).expect("plain data"))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        C::blocks(rows)
    }
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

/// Equations above which loops are kept instead of written out.
const UNROLLED_MAX: usize = 16_000;

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
        (off.unroll, on.unroll) = (Unroll::No, Unroll::No);
        made_off = make(&off);
    }
    let made_on = make(&on);
    let auto = {
        let mut recipe = on.clone();
        recipe.schedule = Schedule::Auto;
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
        unroll: off.unroll,
        auto,
        warnings: summary
            .warnings
            .iter()
            .chain(&noise::disturbed(n_disturbed.get()))
            .map(ToString::to_string)
            .collect(),
    })
}
