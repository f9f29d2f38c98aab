//! The assembly back end for x86-64: nodes without calls as functions, with an order and registers of our own.
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
mod steps;
mod text;

use machine::Machine;

use crate::emit_c::{Arch, Shape};
use crate::ir::Node;

pub use allocate::Count;
pub use lower::Refused;
pub use order::Effort;

use allocate::{Header, Registers};
use model::Model;
use order::Planner;
use steps::{Block, Function, Item};

/// The targets that have assembly.
pub fn archs() -> impl Iterator<Item = Arch> {
    Arch::ALL.into_iter().filter(|it| it.has_assembly())
}

/// A target as the back end sees it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Registers, and what is one instruction.
    pub registers: Registers,
}

/// A block with its order and what it carries in registers.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The block.
    pub block: &'a Block,
    /// Its steps in order.
    pub order: Vec<u32>,
    /// The registers of carried values.
    pub header: Header,
    /// The address of the read buffer of its loop; that of the written one follows.
    pub buffer: Option<u32>,
    /// What it costs beside its steps.
    pub count: Count,
    /// Cycles of the model once through the block: in the order of the text, and in the best of the first orders.
    pub cycles: [u32; 2],
}

/// A function as text.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The text.
    pub text: String,
    /// Steps and instructions beside them, by block.
    pub blocks: Vec<(usize, Count)>,
    /// Cycles of the model for one call: in the order of the text, which is what C compilers start from, and in the best of the
    /// first orders, whatever the search finds after that.
    pub cycles: [u64; 2],
}

/// Assembly is taken if the model promises so many times the speed of the order of the text. Of the programs that were measured
/// the vertical ones, where C compilers are as fast, have up to 1.10; the bitsliced ones, where they are not, 1.16 and more.
pub const PROMISED: f64 = 1.12;
/// And if the text has so many loads and stores of spilled values for each equation. Where fewer are, order alone would make it
/// faster, which C compilers and the schedulers do as well. Vertical and horizontal programs have up to 0.22, bitsliced ones 0.64.
pub const SPILLING: f64 = 0.4;
/// And if it has so many steps. Rounds of some hundred C compilers order and allocate as well: Rectangle's and Present's of 500 to
/// 544 were measured to tie, Skinny's of 994 and more not.
pub const LONG: usize = 800;

impl Target {
    /// Of an architecture, if it is one of those that have it.
    pub fn new(shape: Shape) -> Option<Target> {
        let n = shape.arch.row().assembly_registers?;
        let word_bits = shape.register_bits();
        Some(Target {
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
pub fn assemble(node: &Node, shape: Shape, name: &str, machine: &Machine, effort: Effort) -> Result<Assembly, Refused> {
    let target = Target::new(shape).ok_or_else(|| Refused::Operation("assembly back end".into()))?;
    let function = lower::lower(node, shape, name)?;
    let planner =
        Planner { constants: &function.constants, registers: target.registers, model: Model::new(machine, shape.arch.row().kind), effort };
    let mut plans = Vec::new();
    let mut cycles = [0; 2];
    plan(&function, &function.items, (None, 1), &planner, (&mut plans, &mut cycles));
    let blocks = plans.iter().map(|it| (it.block.steps.len(), it.count)).collect();
    Ok(Assembly { text: text::text(&function, &plans, &target), blocks, cycles })
}

/// Plans the blocks of these items, which run so many times in a call.
fn plan<'a>(
    function: &Function,
    items: &'a [Item],
    (pair, times): (Option<u32>, u64),
    planner: &Planner,
    (plans, cycles): (&mut Vec<Plan<'a>>, &mut [u64; 2]),
) {
    for item in items {
        match item {
            Item::Block(block) => {
                let buffer = pair.filter(|_| !block.carried.is_empty()).map(|pair| {
                    let is_it = |it: &steps::Address| it.base == steps::Base::Buffer(pair, false);
                    function.addresses.iter().position(is_it).expect("buffers have addresses") as u32
                });
                let plan = order::plan(block, planner, buffer);
                (0..2).for_each(|k| cycles[k] += times * u64::from(plan.cycles[k]));
                plans.push(plan);
            }
            Item::Loop(it) => plan(function, &it.body, (it.pair, times * u64::from(it.n)), planner, (plans, cycles)),
        }
    }
}
