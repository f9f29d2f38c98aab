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

use machine::{Kind, Machine};

use crate::emit_c::{Arch, Shape};
use crate::ir::Node;

pub use allocate::Count;
pub use lower::Refused;
pub use order::Effort;

use allocate::{Header, Registers};
use model::Model;
use order::Planner;
use steps::{Block, Function, Item};

/// The targets.
pub const ARCHS: [Arch; 3] = [Arch::X86_64, Arch::Avx2, Arch::Avx512];

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
    /// What the search made small.
    pub cost: u32,
}

/// A function as text.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The text.
    pub text: String,
    /// Steps and instructions beside them, by block.
    pub blocks: Vec<(usize, Count)>,
}

impl Target {
    /// Of an architecture, if it is one of those that have it.
    pub fn new(shape: Shape) -> Option<Target> {
        let n = match shape.arch {
            Arch::X86_64 => 15,
            Arch::Avx2 => 16,
            Arch::Avx512 => 32,
            Arch::Sse | Arch::Neon => return None,
        };
        let word_bits = shape.register_bits();
        Some(Target {
            registers: Registers {
                n,
                is_vector: shape.is_vector(),
                folds_shifts: shape.arch == Arch::Avx512,
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
    let kind = match shape.arch {
        Arch::Avx512 => Kind::Vector512,
        _ if shape.is_vector() => Kind::Vector,
        _ => Kind::General,
    };
    let planner = Planner { constants: &function.constants, registers: target.registers, model: Model::new(machine, kind), effort };
    let mut plans = Vec::new();
    plan(&function, &function.items, None, &planner, &mut plans);
    let blocks = plans.iter().map(|it| (it.block.steps.len(), it.count)).collect();
    Ok(Assembly { text: text::text(&function, &plans, &target), blocks })
}

fn plan<'a>(function: &Function, items: &'a [Item], pair: Option<u32>, planner: &Planner, plans: &mut Vec<Plan<'a>>) {
    for item in items {
        match item {
            Item::Block(block) => {
                let buffer = pair.filter(|_| !block.carried.is_empty()).map(|pair| {
                    let is_it = |it: &steps::Address| it.base == steps::Base::Buffer(pair, false);
                    function.addresses.iter().position(is_it).expect("buffers have addresses") as u32
                });
                plans.push(order::plan(block, planner, buffer));
            }
            Item::Loop(it) => plan(function, &it.body, it.pair, planner, plans),
        }
    }
}
