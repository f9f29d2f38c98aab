//! From the syntax tree to the program that the back ends print: one function, a sentence a step.

use std::rc::Rc;

use report::Diagnostic;

use crate::circuit::Found;
use crate::elaborate::elaborate;
use crate::ir::{self, Body, Node, Program};
use crate::options::{Options, Recipe, Schedule, Slicing, Unroll};
use crate::passes::{
    arrays, carry, complements, dead_code, estimate, inline, masked_shuffles, perms, turns,
};
use crate::run::{Run, all_bits, each, slice_pass, too_large};
use crate::syntax::ast;

/// The result of the passes.
#[derive(Debug)]
pub struct Compiled {
    /// Straight or rolled code over registers.
    pub program: Program,
    /// The slicing used: a program of single bits is always bitsliced.
    pub slicing: Slicing,
    /// Bits of a word in a register: 1 bitsliced, the lane's width
    /// vertically, the word's horizontally.
    pub lane_bits: u32,
    /// Remarks for the author, each with its place.
    pub warnings: Vec<Diagnostic>,
    /// The steps for moves of bits before and after they were put off, if they were.
    pub fixslice_reason: Option<String>,
    pub schedule: Schedule,
    /// Why `auto` chose it: model cycles of each candidate.
    pub schedule_reason: Option<String>,
    /// Batches of blocks that the first entry processes; if several, the last entry processes one.
    pub interleave: u32,
    /// Why `auto` chose this number: model cycles of a batch with each number.
    pub interleave_reason: Option<String>,
    /// The circuits used for tables, by node.
    pub circuits: Vec<(Rc<str>, Rc<Found>)>,
    /// The text of the program after the pass `dump_after`.
    pub dump: Option<String>,
}

impl Compiled {
    /// Equations of all nodes: the size of the C text.
    pub fn n_equations(&self) -> usize {
        let own = |node: &Node| {
            if let Body::Stmts(stmts) = &node.body { ir::visit::n_equations(stmts) } else { 0 }
        };
        self.program.nodes.iter().map(own).sum()
    }
}

/// The names for `dump_after`, in the order in which the passes first run. Of a pass that runs
/// several times, the text after the last run is kept.
pub const PASSES: [&str; 24] = [
    "elaborate",
    "loops",
    "perms",
    "tables",
    "bitslice",
    "vslice",
    "hslice",
    "carry",
    "arrays",
    "copy_propagation",
    "fold_constants",
    "cse",
    "dead_code",
    "inline",
    "masked_shuffles",
    "fixslice",
    "turns",
    "complements",
    "schedule_bitslice",
    "inline_small",
    "ternary",
    "schedule_depth",
    "schedule_mslice",
    "interleave",
];

/// Compiles the nodes named `entries`.
pub fn compile(
    ast: &ast::Program,
    entries: &[&str],
    options: &Options,
) -> Result<Compiled, Vec<Diagnostic>> {
    let Recipe { inline, thresholds, mut slicing, .. } = options.recipe;
    // Types and sizes are settled and every node has a size; lookups, loops and directions stand as
    // written.
    let elaborated = elaborate(ast, entries, slicing.dir(), options.recipe.word())?;
    let mut program = elaborated.program;
    let mut run = Run { options, warnings: elaborated.warnings, circuits: Vec::new(), dump: None };
    if all_bits(&program) {
        slicing = Slicing::Bit;
    }
    run.check_directions(&program, slicing)?;
    run.dump("elaborate", &program);

    // Loops that should not or cannot be kept are written out. From here on the iterations of a loop
    // do the same operations, at indices that grow by a constant step.
    run.loops(&mut program, slicing);
    run.after("loops", &program);
    // A permutation becomes copies, which vanish when it is inlined.
    each(&mut program, perms::perms);
    run.after("perms", &program);
    // Lookups whose inputs are words of the program become circuits.
    run.tables(&mut program);
    run.after("tables", &program);
    // From here on a variable is a register: no operation looks inside a word but those the
    // slicing has.
    let lane_bits = run.slice(&mut program, slicing)?;
    // The other lookups read bits of a word, which are variables only now. From here on there is no
    // lookup: no address depends on data.
    run.tables(&mut program);
    run.no_lookups(&program)?;
    run.after(slice_pass(slicing), &program);
    // What an iteration passes to the next becomes a variable, so that its array can be split.
    each(&mut program, carry::carry);
    run.after("carry", &program);
    // From here on an array is indexed by a loop or is a parameter or result.
    each(&mut program, arrays::arrays);
    run.after("arrays", &program);
    // What simplifies now is not copied into every call below.
    run.simplify(&mut program);
    inline::inline(&mut program, inline, thresholds)
        .map_err(|inline::TooLarge| too_large("inlining"))?;
    run.after("inline", &program);
    // A loop that was inlined meets the arrays of its caller: the same once more.
    each(&mut program, carry::carry);
    run.after("carry", &program);
    run.simplify(&mut program);
    // Of a shuffle that only few bits are taken of, few have to be moved.
    if slicing == Slicing::Horizontal {
        each(&mut program, masked_shuffles::masked_shuffles);
        each(&mut program, dead_code::dead_code);
        run.after("masked_shuffles", &program);
    }
    // Permutations within words are put off as long as that pays. The whole entry has to be in one
    // place for that, and what they become is copies and common expressions.
    let fixslice_reason = run.fixslice(&mut program, slicing);
    run.after("fixslice", &program);
    if fixslice_reason.is_some() {
        run.simplify(&mut program);
    }
    // From here on shuffles of horizontal words are single instructions.
    if slicing == Slicing::Horizontal && estimate::has_turns(&options.target, lane_bits) {
        program.nodes.iter_mut().for_each(turns::turns);
        run.after("turns", &program);
        run.simplify(&mut program);
    }
    // Where an and-not is two instructions, words are held complemented so that few are left.
    if options.complements {
        complements::complements(&mut program, &options.keys);
        run.after("complements", &program);
        run.simplify(&mut program);
    }
    // Of an array that was split now, some words may be nothing's.
    each(&mut program, dead_code::dead_code);
    run.after("dead_code", &program);
    // Only the order changes from here on: equations within a batch, then batches among another.
    let (program, schedule, schedule_reason) = run.schedule(program, slicing);
    let (program, interleave, interleave_reason) = run.interleave(program, slicing);
    let Run { warnings, circuits, dump, .. } = run;
    Ok(Compiled {
        program,
        slicing,
        lane_bits,
        warnings,
        fixslice_reason,
        schedule,
        schedule_reason,
        interleave,
        interleave_reason,
        circuits,
        dump,
    })
}

/// The slicings in which the entries compile, in the order b, v, h; single bits have only b.
pub fn slicings(ast: &ast::Program, entries: &[&str], word: Option<u32>) -> Vec<Slicing> {
    // A size chosen for open words rules out the single bits that bitslicing makes of them.
    let is_chosen =
        word.is_some_and(|m| m != 1) && elaborate(ast, entries, ir::Dir::Any, None).is_err();
    let works = |slicing: &Slicing| {
        if is_chosen && *slicing == Slicing::Bit {
            return false;
        }
        let word = if *slicing == Slicing::Bit { Some(1) } else { word.or(Some(16)) };
        let Ok(elaborated) = elaborate(ast, entries, slicing.dir(), word) else { return false };
        let mut program = elaborated.program;
        if all_bits(&program) && *slicing != Slicing::Bit {
            return false;
        }
        let recipe = Recipe { unroll: Unroll::No, ..Recipe::unordered(*slicing) };
        let options = Options::generic(recipe);
        let mut run = Run { options: &options, warnings: vec![], circuits: vec![], dump: None };
        if run.check_directions(&program, *slicing).is_err() {
            return false;
        }
        run.loops(&mut program, *slicing);
        each(&mut program, perms::perms);
        // Lookups over the bits of a word have a circuit only when bitsliced.
        let has_lookup = program.nodes.iter().any(|n| matches!(&n.body, Body::Table(t) if n.words(&n.params).len() != t.n_inputs as usize));
        (*slicing == Slicing::Bit || !has_lookup) && run.slice(&mut program, *slicing).is_ok()
    };
    [Slicing::Bit, Slicing::Vertical, Slicing::Horizontal].into_iter().filter(works).collect()
}

/// Why this slicing is refused if the calls of the program are too many to be written out; `None`
/// for other refusals, and for what compiles. Programs of which a count of the equations shows that
/// they are not are not compiled.
pub fn too_many_calls(
    ast: &ast::Program,
    entries: &[&str],
    slicing: Slicing,
) -> Option<Vec<Diagnostic>> {
    let word = if slicing == Slicing::Bit { 1 } else { 16 };
    let recipe = Recipe { word: Some(word), unroll: Unroll::No, ..Recipe::unordered(slicing) };
    let (inline, thresholds) = (recipe.inline, recipe.thresholds);
    let options = Options::generic(recipe);
    let mut program = elaborate(ast, entries, slicing.dir(), Some(word)).ok()?.program;
    Run { options: &options, warnings: vec![], circuits: vec![], dump: None }
        .loops(&mut program, slicing);
    let counted = inline::count(&program, inline, thresholds);
    // Passes before `inline` make a program smaller.
    counted.err().and_then(|inline::TooLarge| compile(ast, entries, &options).err())
}

/// A slicing is a default only up to this many equations: C compilers take some 20 s
/// for them at -O3.
pub const UNASKED_MAX: usize = 10_000;
