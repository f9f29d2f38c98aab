//! The byte interface: round keys, and blocks in batches through the entry; and the operands of the
//! calls of nodes.

use std::fmt::Write;

use crate::options::Slicing;
use crate::pipeline::Compiled;

use super::arch::Shape;
use super::{Source, Stage, Unit, bytes};

/// The parameters and the results of one batch, as C text.
#[derive(Debug, Clone, Default)]
pub struct Operands {
    /// One for each parameter.
    pub params: Vec<String>,
    /// One for each result.
    pub results: Vec<String>,
}

impl Stage {
    /// The operands of a stage, given the places of its fields, of the schedule's results and
    /// of its own results.
    pub fn operands(
        &self,
        field: impl Fn(usize) -> String,
        schedule: &str,
        results: Vec<String>,
    ) -> Operands {
        let param = |source: &Source| match source {
            Source::Field(idx) => field(*idx),
            Source::Schedule(at) => sum(schedule, *at),
        };
        Operands { params: self.params.iter().map(param).collect(), results }
    }
}

/// C text of a call of a node.
pub fn call(name: &str, batches: &[Operands]) -> String {
    let params = batches.iter().flat_map(|batch| &batch.params);
    let args: Vec<&str> =
        params.chain(batches.iter().flat_map(|batch| &batch.results)).map(String::as_str).collect();
    format!("{name}({});", args.join(", "))
}

/// C text of the place `n` registers after another.
pub fn sum(base: &str, n: usize) -> String {
    format!("{base} + {n}")
}

/// C text of each result of a node, from `base` on.
pub fn result_args(stage: &Stage, base: &str) -> Vec<String> {
    let mut at = 0;
    let result = |dims: &Vec<u32>| {
        let text = sum(base, at);
        at += dims.iter().product::<u32>() as usize;
        text
    };
    stage.dims[stage.params.len()..].iter().map(result).collect()
}

/// Batches of registers that one call of the entry processes, from `in_` to `out_`.
pub struct Batches {
    /// The shape, with the number of batches.
    pub shape: Shape,
    /// Registers of the input of a batch.
    pub input: usize,
    /// Registers of its results.
    pub output: usize,
    /// C text of the call.
    pub entry: String,
}

impl Batches {
    /// C text that loads strings of `n_bytes` bytes into the registers.
    pub fn load(&self, bytes: &str, n_bytes: usize, indent: usize) -> String {
        let step = self.shape.slices() as usize * n_bytes;
        move_batches("load_input", self.shape, &[("in_", self.input), (bytes, step)], indent)
    }

    /// C text that stores the registers as such strings.
    pub fn store(&self, bytes: &str, n_bytes: usize, indent: usize) -> String {
        let step = self.shape.slices() as usize * n_bytes;
        move_batches("store_output", self.shape, &[("out_", self.output), (bytes, step)], indent)
    }

    /// Bytes of all blocks.
    pub fn n_bytes(&self, n_bytes: usize) -> usize {
        self.shape.blocks() as usize * n_bytes
    }
}

/// C text that moves the strings of all blocks into the registers of their batches or out of them;
/// each place comes with its step from batch to batch.
pub fn move_batches(
    function: &str,
    shape: Shape,
    places: &[(&str, usize)],
    indent: usize,
) -> String {
    let place = |k: usize, (base, step): &(&str, usize)| {
        if k == 0 { base.to_string() } else { sum(base, k * step) }
    };
    let line = |k: usize| {
        let args: Vec<String> = places.iter().map(|of_batch| place(k, of_batch)).collect();
        format!("{:indent$}{function}({});\n", "", args.join(", "))
    };
    (0..shape.interleave as usize).map(line).collect()
}

/// The functions of the C file.
pub fn functions(
    name: &str,
    unit: &Unit,
    shape: Shape,
    names: &[String],
    blocks: &bytes::Blocks,
) -> String {
    let (starts, n_keys) = unit.key_registers(shape);
    let input =
        unit.fields.iter().position(|f| f.name == "input").expect("every primitive has an input");
    let (n_in, n_out) = (unit.fields[input].layout.n_bytes, unit.output_bytes());
    let n_input = unit.fields[input].n_registers(shape);
    let n_output: usize = unit.outputs.iter().map(|f| f.n_registers(shape)).sum();
    let mut out = String::from("\n/* Byte interface. */\n");
    if n_keys > 0 {
        let _ = writeln!(
            out,
            "typedef struct {{ reg r[{n_keys}]; }} __attribute__((aligned(64))) {name}_roundkeys;\n"
        );
        let params: Vec<String> = unit
            .key_fields()
            .iter()
            .map(|f| format!("const uint8_t {}[{}]", f.name, f.layout.n_bytes))
            .collect();
        let _ =
            writeln!(out, "void {name}_expand({name}_roundkeys *keys, {})\n{{", params.join(", "));
        if let Some(schedule) = &unit.schedule {
            for source in &schedule.params {
                if let Source::Field(f) = source {
                    let field = &unit.fields[*f];
                    let _ = writeln!(
                        out,
                        "    reg {0}_[{1}];\n    spread_{0}({0}_, {0});",
                        field.name,
                        field.n_registers(shape)
                    );
                }
            }
            let operands = schedule.operands(
                |f| format!("{}_", unit.fields[f].name),
                "",
                result_args(schedule, "keys->r"),
            );
            let _ = writeln!(out, "    {}", call(&names[schedule.node.idx()], &[operands]));
        }
        for (f, at) in &starts {
            let _ = writeln!(out, "    spread_{0}(keys->r + {at}, {0});", unit.fields[*f].name);
        }
        for source in unit.schedule.iter().flat_map(|s| &s.params) {
            if let Source::Field(f) = source {
                let _ = writeln!(out, "    wipe({0}_, sizeof {0}_);", unit.fields[*f].name);
            }
        }
        let _ = writeln!(
            out,
            "}}\n\nvoid {name}_wipe({name}_roundkeys *keys)\n{{\n    wipe(keys, sizeof *keys);\n}}\n"
        );
    }
    let keys = if n_keys > 0 { format!("const {name}_roundkeys *keys, ") } else { String::new() };
    let start = |f: usize| {
        starts
            .iter()
            .find(|s| s.0 == f)
            .map(|s| sum("keys->r", s.1))
            .expect("fields that are no keys are input")
    };
    let blocks_of = |shape: Shape| Batches {
        shape,
        input: n_input,
        output: n_output,
        entry: {
            let batch = |k: usize| {
                let place =
                    |base: &str, n: usize| if k == 0 { base.to_string() } else { sum(base, k * n) };
                let results = result_args(&unit.entry, &place("out_", n_output));
                unit.entry.operands(
                    |f| if f == input { place("in_", n_input) } else { start(f) },
                    "keys->r",
                    results,
                )
            };
            let node = if shape.interleave > 1 { unit.entry.node } else { unit.one };
            call(&names[node.idx()], &(0..shape.interleave as usize).map(batch).collect::<Vec<_>>())
        },
    };
    let one = blocks_of(Shape { interleave: 1, ..shape });
    let all = (shape.interleave > 1).then(|| blocks_of(shape));
    let _ =
        writeln!(out, "void {name}_blocks({keys}const uint8_t *in, uint8_t *out, size_t n)\n{{");
    for batches in all.iter().chain([&one]) {
        let least = if batches.shape.interleave > 1 { one.shape.blocks() } else { 0 };
        out += &section(batches, least, (n_in, n_out));
    }
    out += "}\n";
    if unit.has_each_key {
        out += &unit.each_key(name, names, &one);
    }
    if let Some(counter) = &unit.counter {
        out += &counter.functions(name, unit, shape, (&one, all.as_ref()), blocks);
    }
    if let Some(mode) = &unit.mode {
        out += &mode.functions(shape, &names[unit.entry.node.idx()], &names[mode.short.idx()]);
    }
    out
}

/// What `_blocks` does with more than `least` blocks: whole batches, and the rest in one that is
/// filled up with zeros.
fn section(batches: &Batches, least: u32, (n_in, n_out): (usize, usize)) -> String {
    let (n_blocks, n_batches) = (batches.shape.blocks(), batches.shape.interleave as usize);
    format!(
        "    if (n > {least}) {{
        reg in_[{}], out_[{}];
        uint8_t last[{n_blocks} * {}] __attribute__((aligned(64)));
        while (n > {least}) {{
            size_t now = n < {n_blocks} ? n : {n_blocks};
            const uint8_t *from = in;
            uint8_t *to = out;
            if (now < {n_blocks}) {{
                memset(last, 0, sizeof last);
                memcpy(last, in, now * {n_in});
                from = to = last;
            }}
{}            {}
{}            if (now < {n_blocks}) {{
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
",
        n_batches * batches.input,
        n_batches * batches.output,
        n_in.max(n_out),
        batches.load("from", n_in, 12),
        batches.entry,
        batches.store("to", n_out, 12),
    )
}

/// The prototypes of the header.
pub fn prototypes(name: &str, unit: &Unit, compiled: &Compiled, shape: Shape) -> String {
    let (starts, n_keys) = unit.key_registers(shape);
    let bytes = shape.register_bits() as usize / 8;
    let mut out = String::new();
    if n_keys > 0 {
        let _ = writeln!(
            out,
            "/* Round keys: {n_keys} registers of {bytes} bytes, every block's copy of the same key,\n   perhaps permuted or complemented, as suits this code: those of another target or of other options do not fit."
        );
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
                    node.name
                );
                at += n;
            }
        }
        for (f, at) in &starts {
            let n = unit.fields[*f].n_registers(shape);
            let _ = writeln!(
                out,
                "   Registers {at} to {}: the field {}.",
                at + n - 1,
                unit.fields[*f].name
            );
        }
        if shape.slicing == Slicing::Bit {
            let _ = writeln!(
                out,
                "   The last index is the bit of a word, 0 the most significant; bit b of a register belongs to block b."
            );
        }
        out += "*/\n";
        let size = (n_keys * bytes).next_multiple_of(64);
        let _ = writeln!(
            out,
            "typedef struct {{ uint64_t words[{}]; }} __attribute__((aligned(64))) {name}_roundkeys;\n",
            size / 8
        );
        let params: Vec<String> = unit
            .key_fields()
            .iter()
            .map(|f| format!("const uint8_t {}[{}]", f.name, f.layout.n_bytes))
            .collect();
        let _ = writeln!(
            out,
            "/* Makes the round keys. */\nvoid {name}_expand({name}_roundkeys *keys, {});\n",
            params.join(", ")
        );
        let _ = writeln!(
            out,
            "/* Overwrites them when they are no longer needed. */\nvoid {name}_wipe({name}_roundkeys *keys);\n"
        );
    }
    let keys = if n_keys > 0 { format!("const {name}_roundkeys *keys, ") } else { String::new() };
    let input =
        unit.fields.iter().find(|f| f.name == "input").expect("every primitive has an input");
    let _ = writeln!(
        out,
        "/* Processes n blocks of {} bytes into {} bytes each; {} at a time is fastest. */",
        input.layout.n_bytes,
        unit.output_bytes(),
        shape.blocks_text()
    );
    let _ = writeln!(out, "void {name}_blocks({keys}const uint8_t *in, uint8_t *out, size_t n);");
    if unit.has_each_key {
        out += &unit.each_key_prototype(name);
    }
    if let Some(counter) = &unit.counter {
        let _ = write!(out, "\n{}", counter.declarations(name, unit, shape));
    }
    if let Some(mode) = &unit.mode {
        let _ = write!(out, "\n{}", mode.declarations(shape, true));
    }
    out
}
