//! Proves that compiled code computes what the dataflow program says, word by word, and that no
//! secret shows.
//!
//! ```text
//! object file -> terms of its outputs   ---> compare, word by word
//! dataflow program -> terms of results  --/
//! ```
//!
//! The function is walked from its first instruction to its return with terms in place of unknown
//! numbers. Addresses and loop counters are numbers, so loops just run. Whatever is no number is a
//! secret, or unknown, and must not reach an address, a branch or a division.

mod compare;
mod element;
mod general;
mod machine;
mod masks;
mod memory;
mod moves;
mod object;
mod operation;
mod prove;
mod reference;
mod scattered;
mod shuffles;
mod terms;
mod vector;
mod walk;

use crate::emit_c::{Arch, Shape, Stage};
use crate::ir::Program;
use crate::recipe::Made;

pub use compare::{Difference, Report, Verdict, Words};
pub use machine::{Place, Stop};

use object::Image;
use terms::{Graph, Term, Value};
use walk::Walk;

/// What a function must compute: the terms of its inputs and results.
#[derive(Debug, Clone)]
pub struct Expected {
    function: String,
    shape: Shape,
    graph: Graph,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
}

/// A parameter of the C function.
#[derive(Debug, Clone)]
struct Array {
    /// As the source names it.
    name: String,
    /// Registers, batch after batch.
    words: Vec<Value>,
    /// Passed as a register, and not by a pointer to registers.
    by_value: bool,
}

/// The functions of the sliced interface of a C file, in order: round keys if there are
/// any, then the blocks.
pub fn functions(made: &Made, arch: Arch, seed: u64) -> Vec<Expected> {
    stages(made, arch, seed, &[], &mut Graph::input)
}

/// These, and those in assembly that they do not call: all of [`crate::recipe::Recipe::object`].
pub fn all(made: &Made, arch: Arch, seed: u64) -> Vec<Expected> {
    stages(made, arch, seed, &made.others(), &mut Graph::input)
}

/// The same for one random input: all terms are then numbers, and nothing is left to prove.
pub fn examples(made: &Made, arch: Arch, seed: u64) -> Vec<Expected> {
    let mut random = fastrand::Rng::with_seed(seed);
    stages(made, arch, seed, &[], &mut |graph| graph.constant(random.u64(..)))
}

fn stages(
    made: &Made,
    arch: Arch,
    seed: u64,
    others: &[Stage],
    input: &mut impl FnMut(&mut Graph) -> Term,
) -> Vec<Expected> {
    let shape = crate::emit_c::shape(&made.compiled, arch);
    let stages = made.unit.schedule.iter().chain([&made.unit.entry]).chain(others);
    stages.map(|stage| Expected::new(&made.compiled.program, stage, shape, seed, input)).collect()
}

impl Expected {
    /// The function of the sliced interface that calls this node.
    fn new(
        program: &Program,
        stage: &Stage,
        shape: Shape,
        seed: u64,
        input: &mut impl FnMut(&mut Graph) -> Term,
    ) -> Expected {
        let mut graph = Graph::new(reference::granule(shape), seed);
        let node = &program.nodes[stage.node.idx()];
        let n_granules = graph.n_granules(shape.register_bits());
        let args: Vec<Value> = node
            .words(&node.params)
            .iter()
            .map(|_| (0..n_granules).map(|_| input(&mut graph)).collect())
            .collect();
        let results = reference::results(&mut graph, program, shape, stage.node, &args);
        let n_params = stage.params.len();
        let n_batches = node.results.len() / (stage.dims.len() - n_params);
        let arrays =
            |vars: &[crate::ir::VarId], values: Vec<Value>, dims: &[Vec<u32>], is_result: bool| {
                let n = vars.len() / n_batches;
                let mut values = values.into_iter();
                let mut all: Vec<Array> = Vec::new();
                for (k, var) in vars.iter().enumerate() {
                    let words = values.by_ref().take(node.vars[var.idx()].len as usize);
                    if k < n {
                        let by_value = !is_result && dims[k].is_empty() && n_batches == 1;
                        all.push(Array {
                            name: node.vars[var.idx()].name.to_string(),
                            words: words.collect(),
                            by_value,
                        });
                    } else {
                        all[k % n].words.extend(words);
                    }
                }
                all
            };
        let inputs = arrays(&node.params, args, &stage.dims[..n_params], false);
        let outputs = arrays(&node.results, results, &stage.dims[n_params..], true);
        Expected { function: stage.function(), shape, graph, inputs, outputs }
    }

    /// The function in C.
    pub fn function(&self) -> &str {
        &self.function
    }

    /// Compares the function in an object file; `Err` says what is wrong with the file.
    pub fn check(&self, object: &[u8]) -> Result<Report, String> {
        let image = Image::read(object)?;
        let Some(&(address, _)) = image.functions.get(&self.function) else {
            return Err(format!("it has no function `{}`", self.function));
        };
        let mut walk = Walk::new(self, &image);
        let stopped = walk.run(address).err();
        Ok(compare::report(self, walk, stopped))
    }
}
