//! The C back end: one self-contained file, its header, and the small program that tests run.

mod arch;
mod beside;
mod bytes;
mod code;
mod ctr;
mod digest;
mod digest_text;
mod each_key;
mod expr;
mod field;
mod harness;
mod interface;
mod masked;
mod message_word;
mod moves_check;
mod network;
mod peers;
mod shares;
mod sponge;
mod sponge_harness;
mod sponge_pieces;
mod sponge_single;
mod stream_harness;

use std::fmt::Write;

use crate::ir::NodeId;
use crate::options::Slicing;
use crate::pipeline::Compiled;

pub use crate::target::Arch;
pub use arch::Shape;
pub use code::identifier;
pub use ctr::{Counter, CounterPiece};
pub use digest::Digest;
pub use field::Field;
pub use masked::{header as masked_header, source as masked_source};
pub use moves_check::moves_check;
pub use sponge::Sponge;
pub use sponge_pieces::MESSAGE;

use interface::{Operands, call};

/// A node that the C file makes callable.
#[derive(Debug, Clone)]
pub struct Stage {
    pub node: NodeId,
    /// Its name in the source.
    pub name: String,
    /// Where each parameter comes from, in order.
    pub params: Vec<Source>,
    /// Dimensions of each parameter, then of each result, in words, with the bits of a
    /// word last when bitsliced.
    pub dims: Vec<Vec<u32>>,
}

impl Stage {
    /// The function of the sliced interface that calls the node.
    pub fn function(&self) -> String {
        format!("{}__", code::identifier(&self.name))
    }
}

/// Where a parameter comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// Bytes that the user gives; an index into [`Unit::fields`].
    Field(usize),
    /// Results of the schedule from this register on.
    Schedule(usize),
}

/// Everything the C file offers.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The prefix of every name in C.
    pub prefix: String,
    /// The prefix of the byte interface, such as `aes128`; `None` for a user's file.
    pub name: Option<String>,
    /// What the file is, for its first comment.
    pub title: String,
    /// The node that makes round keys.
    pub schedule: Option<Stage>,
    /// The node that processes blocks: a batch, or several interleaved ones.
    pub entry: Stage,
    /// The same for one batch.
    pub one: NodeId,
    /// Byte strings that go in; the one named `input` differs from block to block.
    pub fields: Vec<Field>,
    /// Byte strings that come out, one for each result or one for all.
    pub outputs: Vec<Field>,
    /// Registers of the schedule's results.
    pub n_schedule: usize,
    /// The stream that the file offers besides blocks.
    pub counter: Option<Counter>,
    /// Another mode that it offers.
    pub mode: Option<Mode>,
    /// Also a function for blocks with a key each.
    pub has_each_key: bool,
    /// Nodes whose functions are in an assembly file, with their symbols.
    pub assembled: Vec<(NodeId, String)>,
    /// Those of them that the sliced interface does not call, as functions of it, for validation.
    pub others: Vec<Stage>,
}

/// A mode over the permutation or compression function of a file.
#[derive(Debug, Clone)]
pub struct Mode {
    pub sponge: Sponge,
    /// The prefix of its functions, such as `ascon_aead128`.
    pub name: String,
    /// The permutation of fewer rounds if the mode needs it, else any.
    pub short: NodeId,
}

impl Unit {
    /// Bytes of one case: all fields in order.
    pub fn case_bytes(&self) -> usize {
        self.fields.iter().map(|f| f.layout.n_bytes).sum()
    }

    /// Bytes of the results of one case.
    pub fn output_bytes(&self) -> usize {
        self.outputs.iter().map(|f| f.layout.n_bytes).sum()
    }

    /// Fields that the expansion takes, in the order of its parameters: the schedule's,
    /// then the entry's own.
    pub fn key_fields(&self) -> Vec<&Field> {
        let mut fields: Vec<usize> = Vec::new();
        for source in self.schedule.iter().flat_map(|s| &s.params).chain(&self.entry.params) {
            if let Source::Field(f) = source
                && self.fields[*f].name != "input"
                && !fields.contains(f)
            {
                fields.push(*f);
            }
        }
        fields.into_iter().map(|f| &self.fields[f]).collect()
    }

    /// Registers in the round-key structure: the schedule's, then fields other than `input` that
    /// the entry takes itself, with where each starts.
    pub(crate) fn key_registers(&self, shape: Shape) -> (Vec<(usize, usize)>, usize) {
        let mut at = self.n_schedule;
        let mut starts = Vec::new();
        for source in &self.entry.params {
            if let Source::Field(idx) = source
                && self.fields[*idx].name != "input"
            {
                starts.push((*idx, at));
                at += self.fields[*idx].n_registers(shape);
            }
        }
        (starts, at)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct EmitOptions {
    pub arch: Arch,
    pub with_lines: bool,
    /// The `main` that runs cases and measures.
    pub with_harness: bool,
    /// The functions on registers, whose names do not say the target.
    pub with_sliced: bool,
    /// The C file also has the functions that are in the assembly file, for builds without it:
    /// unless [`ASSEMBLY`] is defined.
    pub with_both: bool,
    pub is_masked: bool,
}

/// The macro that says that the assembly file is there.
pub const ASSEMBLY: &str = "MEANWHILE_ASSEMBLY";

/// The registers of this program on this target.
pub fn shape(compiled: &Compiled, arch: Arch) -> Shape {
    Shape {
        arch,
        slicing: compiled.slicing,
        word_bits: compiled.lane_bits,
        interleave: compiled.interleave,
    }
}

pub fn source(compiled: &Compiled, unit: &Unit, options: EmitOptions) -> String {
    let shape = shape(compiled, options.arch);
    let mut out = format!("/* {}\n   Made by meanwhile; {} */\n", unit.title, compile_line(shape));
    out += &shape.prelude();
    let (functions, names) =
        code::Code::new(&compiled.program, shape, options, &unit.assembled).functions();
    out += &functions;
    if options.with_sliced {
        out += "\n/* Sliced interface: every array element is a register; arrays must not overlap. */\n";
        for stage in unit.schedule.iter().chain([&unit.entry]).chain(&unit.others) {
            let n_results = compiled.program.nodes[stage.node.idx()].results.len();
            let n_batches = n_results / (stage.dims.len() - stage.params.len());
            out += &wrapper(stage, compiled, &names, "reg", n_batches as u32);
        }
    }
    let (moves, blocks) = moves(unit, shape, options);
    if unit.name.is_some() {
        out += shape.byte_order();
        out += &wipe(shape);
    }
    out += &moves;
    if let Some(name) = &unit.name {
        out += &interface::functions(name, unit, shape, &names, &blocks);
    }
    if options.with_harness {
        out += &harness::main(unit, shape, &names);
    }
    out
}

/// The functions that move bytes, and which networks are among them: networks for the blocks
/// of a primitive where one fits, loops for the rest and for tests, and functions that put
/// one key into all slices.
fn moves(unit: &Unit, shape: Shape, options: EmitOptions) -> (String, bytes::Blocks) {
    let input = unit.fields.iter().find(|f| f.name == "input");
    let mut helpers = network::Helpers::default();
    let blocks = match (&unit.name, input) {
        (Some(_), Some(input)) => {
            let mut blocks = bytes::blocks(
                input,
                &unit.outputs,
                shape,
                unit.counter.is_some(),
                None,
                &mut helpers,
            );
            if unit.has_each_key {
                blocks.add_loads(&unit.key_fields(), shape, &mut helpers);
            }
            blocks
        }
        _ => bytes::Blocks::default(),
    };
    let words = unit.mode.as_ref().map(|mode| sponge::moves(&mode.sponge, shape, &mut helpers));
    let is_needed = |name: &str| {
        options.with_harness || (unit.name.is_some() && (name == "input" || unit.has_each_key))
    };
    let mut loops = String::new();
    for field in
        unit.fields.iter().filter(|f| is_needed(&f.name) && !blocks.loads.contains(&f.name))
    {
        loops += &bytes::load(field, shape);
    }
    if options.with_harness || unit.name.is_some() {
        unit.outputs
            .iter()
            .filter(|f| !blocks.stores.contains(&f.name))
            .for_each(|f| loops += &bytes::store(f, shape));
    }
    let mut out = String::new();
    if !blocks.text.is_empty() || !loops.is_empty() {
        out += "\n/* Bytes to registers and back: a whole batch of blocks each time. */\n";
    }
    if !loops.is_empty() {
        out += &bytes::block_of_slice(shape, blocks.order.as_deref());
        out += bytes::common(shape);
    }
    out += &loops;
    out += &helpers.text();
    out += &blocks.text;
    out += &words.unwrap_or_default();
    if unit.name.is_some() {
        unit.key_fields().into_iter().for_each(|f| out += &bytes::spread(f, shape));
    }
    (out, blocks)
}

fn compile_line(shape: Shape) -> String {
    let flags = shape.arch.flags().join(" ");
    if flags.is_empty() {
        format!("for {}.", shape.arch.name())
    } else {
        format!("for {}: compile with {flags}", shape.arch.name())
    }
}

/// The function with the original's interface: arrays of registers in, arrays of registers out. If
/// batches are interleaved, the first index is the batch. `reg` is the type of its parameters.
fn wrapper(
    stage: &Stage,
    compiled: &Compiled,
    names: &[String],
    reg: &str,
    n_batches: u32,
) -> String {
    let node = &compiled.program.nodes[stage.node.idx()];
    let n_params = stage.params.len();
    let vars = node.params.iter().take(n_params).chain(&node.results);
    let mut params = Vec::new();
    let mut args: Vec<Operands> = vec![Operands::default(); n_batches as usize];
    for (k, (var, dims)) in vars.zip(&stage.dims).enumerate() {
        let (name, is_result) =
            (format!("{}__", code::identifier(&node.vars[var.idx()].name)), k >= n_params);
        let brackets: String = dims.iter().map(|d| format!("[{d}]")).collect();
        let batches = if n_batches > 1 { format!("[{n_batches}]") } else { String::new() };
        let star = if is_result && brackets.is_empty() && batches.is_empty() { "*" } else { "" };
        params.push(format!("{reg} {star}{name}{batches}{brackets}"));
        for (batch, args) in args.iter_mut().enumerate() {
            let own = if n_batches > 1 { format!("{name}[{batch}]") } else { name.clone() };
            let cast = if is_result { "(reg *)" } else { "(const reg *)" };
            let arg = match (brackets.is_empty(), is_result) {
                (true, true) if n_batches == 1 => own,
                (true, _) => format!("&{own}"),
                (false, _) => format!("{cast}{own}"),
            };
            if is_result { &mut args.results } else { &mut args.params }.push(arg);
        }
    }
    let (name, call) = (stage.function(), call(&names[stage.node.idx()], &args));
    format!("void {name}({})\n{{\n    {call}\n}}\n", params.join(", "))
}

/// The function that overwrites what was secret, by vectors where there are.
fn wipe(shape: Shape) -> String {
    let (piece, zeros) = if shape.is_vector() {
        ("sizeof(reg)", "memcpy(bytes + i, &(reg){0}, sizeof(reg))")
    } else {
        ("64", "memset(bytes + i, 0, 64)")
    };
    WIPE.replace("PIECE", piece).replace("ZEROS", zeros)
}

const WIPE: &str = "
/* Writes zeros that the compiler may not leave out, as the asm may read them. */
static inline void wipe(void *p, size_t n)
{
    uint8_t *bytes = p;
    size_t whole = n - n % PIECE;
    /* Pieces of one size: memset of all takes as long to start as many of them take. */
    for (size_t i = 0; i < whole; i += PIECE) {
        ZEROS;
        __asm__ volatile(\"\" :: \"r\"(bytes) : \"memory\");
    }
    if (n % PIECE != 0)
        memset(bytes + whole, 0, n % PIECE);
    __asm__ volatile(\"\" :: \"r\"(p) : \"memory\");
}
";

/// The header with the prototypes of the byte interface, or of the sliced one for a user's file.
pub fn header(compiled: &Compiled, unit: &Unit, arch: Arch) -> String {
    let shape = shape(compiled, arch);
    let mode =
        unit.counter.as_ref().map_or_else(String::new, |counter| format!("_{}", counter.mode));
    let guard = format!(
        "{}{mode}_H",
        unit.name.clone().unwrap_or_else(|| code::identifier(&unit.entry.name))
    )
    .to_uppercase();
    let mut out = format!(
        "/* {}\n   Made by meanwhile; {} */\n#ifndef {guard}\n#define {guard}\n\n",
        unit.title,
        compile_line(shape)
    );
    out += "#include <stdint.h>\n#include <stddef.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    match &unit.name {
        Some(name) => out += &interface::prototypes(name, unit, compiled, shape),
        None => {
            let (lane, reg) = (shape.lane_bits(), format!("{}reg", unit.prefix));
            let vector = if shape.is_vector() {
                format!(" __attribute__((vector_size({}), may_alias))", shape.register_bits() / 8)
            } else {
                String::new()
            };
            let which = match shape.slicing {
                Slicing::Bit => {
                    "bit b of a register, counted from the least significant, belongs to block b.\n   The last index is the bit of a word, 0 the most significant"
                }
                Slicing::Vertical => "element b of a register is the word of block b",
                Slicing::Horizontal => {
                    "the bits of a word lie in as many elements, from the most significant; see the first lines of the C file"
                }
            };
            let batches = match shape.interleave {
                1 => String::new(),
                n => format!(", in {n} batches: the first index is the batch, and in each"),
            };
            let _ = writeln!(
                out,
                "/* {} at a time{batches}: {which}. Arrays must not overlap. */\ntypedef uint{lane}_t {reg}{vector};\n",
                shape.blocks_text()
            );
            let text = wrapper(
                &unit.entry,
                compiled,
                &vec![String::new(); compiled.program.nodes.len()],
                &reg,
                shape.interleave,
            );
            let _ = writeln!(out, "{};", text.lines().next().unwrap_or_default());
        }
    }
    out += "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    out
}
