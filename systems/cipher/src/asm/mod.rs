//! The assembly back end for x86-64: nodes without calls as functions, with their own order and
//! register allocation.
//!
//! ```text
//! node -> lower -> steps -> order <-> allocate -> text
//! ```

mod allocate;
mod forward;
mod lower;
mod model;
mod ops;
mod order;
mod parts;
mod search;
mod sink;
mod steps;
mod text;
mod turns;

use machine::Machine;

use crate::emit_c::{Arch, Shape};
use crate::ir::Node;

pub use lower::AssemblyRefused;
pub use search::Effort;
pub use sink::Count;

use allocate::{Header, Registers};
use model::Model;
use search::Planner;
use steps::{Block, BodyItem, StepFunction};

/// The targets that have assembly.
pub fn archs() -> impl Iterator<Item = Arch> {
    Arch::ALL.into_iter().filter(|arch| arch.has_assembly())
}

/// What the back end knows of a target.
#[derive(Debug, Clone, Copy)]
pub struct AssemblyTarget {
    /// Its registers, and which operations are one instruction.
    pub registers: Registers,
}

/// A block with its order and what it carries in registers.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    pub block: &'a Block,
    /// Its steps in order.
    pub order: Vec<u32>,
    /// The registers of its carried values.
    pub header: Header,
    /// The address of the buffer that its loop reads; the next address is that of the written one.
    pub buffer: Option<u32>,
    /// Loads, stores and moves added to its steps.
    pub count: Count,
    /// Model: cycles for one run of the block, in the order of the text and in the best
    /// of the starting orders.
    pub cycles: [u32; 2],
}

/// A function as text.
#[derive(Debug, Clone)]
pub struct Assembly {
    pub text: String,
    /// For each block its steps, and the loads, stores and moves added to them.
    pub blocks: Vec<(usize, Count)>,
    /// Model: cycles for one call, in the order of the text, from which C compilers start, and in
    /// the best of the starting orders, before the search.
    pub cycles: [u64; 2],
    /// The two buffers of the loop that hands on most, bytes.
    pub buffer_bytes: usize,
}

/// Assembly is chosen if the model predicts at least this speedup over the order of the text, and
/// the next two hold. Of the programs measured, the vertical ones, where C compilers are as fast,
/// reach 1.10; the bitsliced ones, where they are slower, 1.16 and more.
pub const PROMISED: f64 = 1.12;
/// At least this many loads and stores of spilled values for each equation of the text. With fewer,
/// only a better order can help, and C compilers and the schedulers find that too. Vertical and
/// horizontal programs have up to 0.22, bitsliced ones 0.64.
pub const SPILLING: f64 = 0.4;
/// At least this many steps. C compilers handle rounds of a few hundred as well: Rectangle's,
/// Present's and, on AVX-512, DES's, of 432 to 592 steps, were measured equal on vectors; DES's of
/// 669 and 770, Skinny's of 994, and longer ones were not.
pub const LONG: usize = 650;
/// Of buffers that take more the model promises no more than [`PROMISED`]: it knows no cache. The
/// first-level cache of the Zen 4 that was measured has 32 KB. On AVX-512 the buffers of Ascon,
/// Gimli and Xoodoo bitsliced are 40 and 48 KB, and gcc's C takes 0.97, 1.26 and 1.19 times as
/// long, of which the model promises 1.7 to 2.3; those of Photon and Subterranean are 32 KB, and C
/// takes 1.99 and 1.57 times as long (`experiments/cipher-tune/best.json`).
pub const BUFFERED_BYTES: usize = 36 << 10;

impl AssemblyTarget {
    /// The target of an architecture, if that has an assembly back end.
    pub fn new(shape: Shape) -> Option<AssemblyTarget> {
        let n = shape.arch.row().assembly_registers?;
        let word_bits = shape.register_bits();
        Some(AssemblyTarget {
            registers: Registers {
                n,
                is_vector: shape.is_vector(),
                folds_shifts: shape.arch.has_ternary(),
                folds_words: word_bits >= 32,
                word_bits,
            },
        })
    }
}

/// The function `name` of a node, its order chosen for this machine.
pub fn assemble(
    node: &Node,
    shape: Shape,
    name: &str,
    machine: &Machine,
    effort: Effort,
) -> Result<Assembly, AssemblyRefused> {
    let target = AssemblyTarget::new(shape)
        .ok_or_else(|| AssemblyRefused::Operation("assembly back end".into()))?;
    let function = lower::lower(node, shape, name)?;
    let model = Model::new(machine, shape.arch.row().kind);
    let planner = Planner {
        constants: &function.constants,
        registers: target.registers,
        model,
        n_batches: shape.interleave,
        effort,
    };
    let mut plans = Vec::new();
    let mut cycles = [0; 2];
    plan(&function, &function.items, (None, 1), &planner, (&mut plans, &mut cycles));
    let blocks = plans.iter().map(|plan| (plan.block.steps.len(), plan.count)).collect();
    let buffer_bytes = function
        .pairs
        .iter()
        .map(|[read, written]| 2 * (written - read) as usize)
        .max()
        .unwrap_or(0);
    Ok(Assembly { text: text::text(&function, &plans, &target), blocks, cycles, buffer_bytes })
}

/// Plans the blocks of these items, which run `times` times in a call.
fn plan<'a>(
    function: &StepFunction,
    items: &'a [BodyItem],
    (pair, times): (Option<u32>, u64),
    planner: &Planner,
    (plans, cycles): (&mut Vec<Plan<'a>>, &mut [u64; 2]),
) {
    for item in items {
        match item {
            BodyItem::Block(block) => {
                let buffer = pair.filter(|_| !block.carried.is_empty()).map(|pair| {
                    let is_it =
                        |address: &steps::Address| address.base == steps::Base::Buffer(pair, false);
                    function.addresses.iter().position(is_it).expect("buffers have addresses")
                        as u32
                });
                let plan = order::plan(block, planner, buffer);
                (0..2).for_each(|k| cycles[k] += times * u64::from(plan.cycles[k]));
                plans.push(plan);
            }
            BodyItem::Loop(it) => plan(
                function,
                &it.body,
                (it.pair, times * u64::from(it.n)),
                planner,
                (plans, cycles),
            ),
        }
    }
}
