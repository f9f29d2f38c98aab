//! The C back end: one self-contained file, its header, and the small program that tests run.

mod arch;
mod bytes;
mod code;
mod ctr;
mod expr;
mod harness;
mod moves_check;
mod network;
mod peers;
mod sponge;
mod sponge_harness;
mod stream_harness;

use std::fmt::Write;

use crate::ir::NodeId;
use crate::pipeline::{Compiled, Slicing};

pub use arch::{Arch, Shape};
pub use bytes::Field;
pub use code::identifier;
pub use ctr::{Counter, Piece};
pub use moves_check::moves_check;
pub use sponge::Sponge;

/// A node that the C file makes callable.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The node.
    pub node: NodeId,
    /// Its name in the source.
    pub name: String,
    /// Where each parameter comes from, in order.
    pub params: Vec<Source>,
    /// Dimensions of each parameter, then of each result, in words, with the bits of a word last when
    /// bitsliced.
    pub dims: Vec<Vec<u32>>,
}

/// Where a parameter comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// Bytes of the user, an index into [`Unit::fields`].
    Field(usize),
    /// Results of the schedule from this register on.
    Schedule(usize),
}

/// Everything the C file offers.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The prefix of the byte interface, such as `aes128`; `None` for a user's file.
    pub name: Option<String>,
    /// What the file is, for its first comment.
    pub title: String,
    /// The node that makes round keys.
    pub schedule: Option<Stage>,
    /// The node that works on a block.
    pub entry: Stage,
    /// Byte strings that go in; the one named `input` differs from block to block.
    pub fields: Vec<Field>,
    /// Byte strings that come out, one for each result or one for all.
    pub outputs: Vec<Field>,
    /// Registers that the schedule gives.
    pub n_schedule: usize,
    /// The stream that the file offers beside blocks.
    pub counter: Option<Counter>,
    /// Another mode that it offers, and the last entry: the permutation of fewer rounds if the mode needs it.
    pub sponge: Option<(Sponge, NodeId)>,
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

    /// Fields that the expansion takes, in the order of its parameters: the schedule's, then the entry's own.
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

    /// Registers in the round-key structure: the schedule's, then fields other than `input` that the
    /// entry takes itself, with where each starts.
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

/// What to print.
#[derive(Debug, Clone, Copy)]
pub struct EmitOptions {
    /// The target.
    pub arch: Arch,
    /// `#line` directives.
    pub with_lines: bool,
    /// The `main` that runs cases and measures.
    pub with_harness: bool,
    /// The functions on registers, whose names do not say the target.
    pub with_sliced: bool,
}

/// How registers look in this program on this target.
pub fn shape(compiled: &Compiled, arch: Arch) -> Shape {
    Shape { arch, slicing: compiled.slicing, word_bits: compiled.lane_bits }
}

/// The C file.
pub fn source(compiled: &Compiled, unit: &Unit, options: EmitOptions) -> String {
    let shape = shape(compiled, options.arch);
    let mut out = format!("/* {}\n   Made by meanwhile; {} */\n", unit.title, compile_line(shape));
    out += &shape.prelude();
    let (functions, names) = code::Code::new(&compiled.program, shape, options.with_lines).functions();
    out += &functions;
    if options.with_sliced {
        out += "\n/* Sliced interface: every array element is a register. */\n";
        for stage in unit.schedule.iter().chain([&unit.entry]) {
            out += &wrapper(stage, compiled, &names);
        }
    }
    let (moves, blocks) = moves(unit, shape, options);
    if unit.name.is_some() {
        out += WIPE;
    }
    out += &moves;
    if let Some(name) = &unit.name {
        out += &byte_interface(name, unit, compiled, shape, &names, &blocks);
    }
    if options.with_harness {
        out += &harness::main(unit, shape, &names);
    }
    out
}

/// The functions that move bytes: networks for the blocks of a primitive where they fit, loops for the rest, which only
/// tests use where the network is there, and one key for all slices; and which networks there are.
fn moves(unit: &Unit, shape: Shape, options: EmitOptions) -> (String, bytes::Blocks) {
    let input = unit.fields.iter().find(|f| f.name == "input");
    let mut helpers = network::Helpers::default();
    let blocks = match (&unit.name, input) {
        (Some(_), Some(input)) => bytes::blocks(input, &unit.outputs, shape, unit.counter.is_some(), &mut helpers),
        _ => bytes::Blocks::default(),
    };
    let words = unit.sponge.map(|_| sponge::moves(shape, &mut helpers)).unwrap_or_default();
    let is_needed = |name: &str| options.with_harness || (unit.name.is_some() && name == "input");
    let mut loops = String::new();
    for field in unit.fields.iter().filter(|f| is_needed(&f.name) && !blocks.loads.contains(&f.name)) {
        loops += &bytes::load(field, shape);
    }
    if options.with_harness || unit.name.is_some() {
        unit.outputs.iter().filter(|f| !blocks.stores.contains(&f.name)).for_each(|f| loops += &bytes::store(f, shape));
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
    out += &words;
    if unit.name.is_some() {
        unit.key_fields().into_iter().for_each(|f| out += &bytes::spread(f, shape));
    }
    (out, blocks)
}

fn compile_line(shape: Shape) -> String {
    let flags = shape.arch.flags().join(" ");
    if flags.is_empty() { format!("for {}.", shape.arch.name()) } else { format!("for {}: compile with {flags}", shape.arch.name()) }
}

/// The function with the original's interface: arrays of registers in, arrays of registers out.
fn wrapper(stage: &Stage, compiled: &Compiled, names: &[String]) -> String {
    let node = &compiled.program.nodes[stage.node.idx()];
    let mut params = Vec::new();
    let mut args = Vec::new();
    for ((var, dims), is_result) in node.params.iter().chain(&node.results).zip(&stage.dims).zip((0..).map(|i| i >= node.params.len())) {
        let name = format!("{}__", code::identifier(&node.vars[var.idx()].name));
        let brackets: String = dims.iter().map(|d| format!("[{d}]")).collect();
        match (brackets.is_empty(), is_result) {
            (true, false) => {
                params.push(format!("reg {name}"));
                args.push(format!("&{name}"));
            }
            (true, true) => {
                params.push(format!("reg *{name}"));
                args.push(name);
            }
            (false, is_result) => {
                params.push(format!("reg {name}{brackets}"));
                args.push(format!("({}reg *){name}", if is_result { "" } else { "const " }));
            }
        }
    }
    format!(
        "void {}__({})\n{{\n    {}({});\n}}\n",
        code::identifier(&stage.name),
        params.join(", "),
        names[stage.node.idx()],
        args.join(", ")
    )
}

/// C text of a call of a stage, given where its fields and the schedule's results lie.
fn call(stage: &Stage, names: &[String], field: impl Fn(usize) -> String, schedule: &str, results: &[String]) -> String {
    let mut args: Vec<String> = stage
        .params
        .iter()
        .map(|source| match source {
            Source::Field(idx) => field(*idx),
            Source::Schedule(at) => format!("{schedule} + {at}"),
        })
        .collect();
    args.extend(results.iter().cloned());
    format!("{}({});", names[stage.node.idx()], args.join(", "))
}

fn result_args(stage: &Stage, compiled: &Compiled, base: &str) -> Vec<String> {
    let node = &compiled.program.nodes[stage.node.idx()];
    let mut at = 0;
    node.results
        .iter()
        .map(|var| {
            let text = format!("{base} + {at}");
            at += node.vars[var.idx()].len;
            text
        })
        .collect()
}

/// For what is not to stay in memory.
const WIPE: &str = "
/* Zeros that no compiler leaves out: behind them it must think that memory is read. */
static inline void wipe(void *p, size_t n)
{
    memset(p, 0, n);
    __asm__ volatile(\"\" :: \"r\"(p) : \"memory\");
}
";

fn byte_interface(name: &str, unit: &Unit, compiled: &Compiled, shape: Shape, names: &[String], blocks: &bytes::Blocks) -> String {
    let (starts, n_keys) = unit.key_registers(shape);
    let input = unit.fields.iter().position(|f| f.name == "input").expect("every primitive has an input");
    let (n_in, n_out) = (unit.fields[input].layout.n_bytes, unit.output_bytes());
    let n_most = n_in.max(n_out);
    let n_input = unit.fields[input].n_registers(shape);
    let n_output: usize = unit.outputs.iter().map(|f| f.n_registers(shape)).sum();
    let mut out = String::from("\n/* Byte interface. */\n");
    if n_keys > 0 {
        let _ = writeln!(out, "typedef struct {{ reg r[{n_keys}]; }} __attribute__((aligned(64))) {name}_roundkeys;\n");
        let params: Vec<String> = unit.key_fields().iter().map(|f| format!("const uint8_t {}[{}]", f.name, f.layout.n_bytes)).collect();
        let _ = writeln!(out, "void {name}_expand({name}_roundkeys *keys, {})\n{{", params.join(", "));
        if let Some(schedule) = &unit.schedule {
            for source in &schedule.params {
                if let Source::Field(f) = source {
                    let field = &unit.fields[*f];
                    let _ = writeln!(out, "    reg {0}_[{1}];\n    spread_{0}({0}_, {0});", field.name, field.n_registers(shape));
                }
            }
            let results = result_args(schedule, compiled, "keys->r");
            let _ = writeln!(out, "    {}", call(schedule, names, |f| format!("{}_", unit.fields[f].name), "", &results));
        }
        for (f, at) in &starts {
            let _ = writeln!(out, "    spread_{0}(keys->r + {at}, {0});", unit.fields[*f].name);
        }
        for source in unit.schedule.iter().flat_map(|s| &s.params) {
            if let Source::Field(f) = source {
                let _ = writeln!(out, "    wipe({0}_, sizeof {0}_);", unit.fields[*f].name);
            }
        }
        let _ = writeln!(out, "}}\n\nvoid {name}_wipe({name}_roundkeys *keys)\n{{\n    wipe(keys, sizeof *keys);\n}}\n");
    }
    let keys = if n_keys > 0 { format!("const {name}_roundkeys *keys, ") } else { String::new() };
    let start = |f: usize| starts.iter().find(|s| s.0 == f).map_or("in_".to_string(), |s| format!("keys->r + {}", s.1));
    let results = result_args(&unit.entry, compiled, "out_");
    let entry = call(&unit.entry, names, |f| if f == input { "in_".into() } else { start(f) }, "keys->r", &results);
    let _ = write!(
        out,
        "void {name}_blocks({keys}const uint8_t *in, uint8_t *out, size_t n)
{{
    reg in_[{n_input}], out_[{n_output}];
    uint8_t last[BLOCKS * {n_most}] __attribute__((aligned(64)));
    while (n > 0) {{
        size_t now = n < BLOCKS ? n : BLOCKS;
        const uint8_t *from = in;
        uint8_t *to = out;
        if (now < BLOCKS) {{
            memset(last, 0, sizeof last);
            memcpy(last, in, now * {n_in});
            from = to = last;
        }}
        load_input(in_, from);
        {entry}
        store_output(out_, to);
        if (now < BLOCKS) {{
            memcpy(out, last, now * {n_out});
            wipe(last, sizeof last);
        }}
        in += now * {n_in};
        out += now * {n_out};
        n -= now;
    }}
    wipe(in_, sizeof in_);
    wipe(out_, sizeof out_);
}}
"
    );
    if let Some(counter) = &unit.counter {
        out += &counter.functions(name, unit, shape, (n_input, n_output), &entry, blocks);
    }
    if let Some((sponge, short)) = unit.sponge {
        out += &sponge.functions(shape, &names[unit.entry.node.idx()], &names[short.idx()]);
    }
    out
}

/// The header with the prototypes of the byte interface, or of the sliced one for a user's file.
pub fn header(compiled: &Compiled, unit: &Unit, arch: Arch) -> String {
    let shape = shape(compiled, arch);
    let mode = unit.counter.as_ref().map_or_else(String::new, |it| format!("_{}", it.mode));
    let guard = format!("{}{mode}_H", unit.name.clone().unwrap_or_else(|| code::identifier(&unit.entry.name))).to_uppercase();
    let mut out = format!("/* {}\n   Made by meanwhile; {} */\n#ifndef {guard}\n#define {guard}\n\n", unit.title, compile_line(shape));
    out += "#include <stdint.h>\n#include <stddef.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    match &unit.name {
        Some(name) => out += &byte_prototypes(name, unit, compiled, shape),
        None => {
            let lane = shape.lane_bits();
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
            let _ = writeln!(out, "/* {} at a time: {which}. */\ntypedef uint{lane}_t reg{vector};\n", shape.blocks_text());
            let text = wrapper(&unit.entry, compiled, &vec![String::new(); compiled.program.nodes.len()]);
            let _ = writeln!(out, "{};", text.lines().next().unwrap_or_default());
        }
    }
    out += "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    out
}

fn byte_prototypes(name: &str, unit: &Unit, compiled: &Compiled, shape: Shape) -> String {
    let (starts, n_keys) = unit.key_registers(shape);
    let bytes = shape.register_bits() as usize / 8;
    let mut out = String::new();
    if n_keys > 0 {
        let _ = writeln!(out, "/* Round keys: {n_keys} registers of {bytes} bytes, every block's copy of the same key.");
        if let Some(schedule) = &unit.schedule {
            let node = &compiled.program.nodes[schedule.node.idx()];
            let mut at = 0;
            for (var, dims) in node.results.iter().zip(&schedule.dims[node.params.len()..]) {
                let brackets: String = dims.iter().map(|d| format!("[{d}]")).collect();
                let n = node.vars[var.idx()].len;
                let _ = writeln!(
                    out,
                    "   Registers {at} to {}: {}{brackets} of node {}, last index fastest.",
                    at + n - 1,
                    node.vars[var.idx()].name,
                    schedule.name
                );
                at += n;
            }
        }
        for (f, at) in &starts {
            let n = unit.fields[*f].n_registers(shape);
            let _ = writeln!(out, "   Registers {at} to {}: the field {}.", at + n - 1, unit.fields[*f].name);
        }
        if shape.slicing == Slicing::Bit {
            let _ =
                writeln!(out, "   The last index is the bit of a word, 0 the most significant; bit b of a register belongs to block b.");
        }
        out += "*/\n";
        let size = (n_keys * bytes).next_multiple_of(64);
        let _ = writeln!(out, "typedef struct {{ uint64_t words[{}]; }} __attribute__((aligned(64))) {name}_roundkeys;\n", size / 8);
        let params: Vec<String> = unit.key_fields().iter().map(|f| format!("const uint8_t {}[{}]", f.name, f.layout.n_bytes)).collect();
        let _ = writeln!(out, "/* Makes the round keys. */\nvoid {name}_expand({name}_roundkeys *keys, {});\n", params.join(", "));
        let _ = writeln!(out, "/* Overwrites them when they are no longer needed. */\nvoid {name}_wipe({name}_roundkeys *keys);\n");
    }
    let keys = if n_keys > 0 { format!("const {name}_roundkeys *keys, ") } else { String::new() };
    let input = unit.fields.iter().find(|f| f.name == "input").expect("every primitive has an input");
    let _ = writeln!(
        out,
        "/* Works on n blocks of {} bytes, giving {} bytes each; {} at a time is fastest. */",
        input.layout.n_bytes,
        unit.output_bytes(),
        shape.blocks_text()
    );
    let _ = writeln!(out, "void {name}_blocks({keys}const uint8_t *in, uint8_t *out, size_t n);");
    if let Some(counter) = &unit.counter {
        let _ = write!(out, "\n{}", counter.declarations(name, unit, shape));
    }
    if let Some((sponge, _)) = unit.sponge {
        let _ = write!(out, "\n{}", sponge.declarations(shape, true));
    }
    out
}
