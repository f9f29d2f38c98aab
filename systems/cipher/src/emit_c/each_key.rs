//! Blocks that have a key each: every slice of a batch holds a key of its own, and the schedule makes
//! their round keys side by side.

use std::fmt::Write;

use super::interface::{Batches, call, result_args};
use super::{Source, Unit};

impl Unit {
    /// Fields that the schedule takes.
    fn scheduled(&self) -> Vec<usize> {
        let mut all = Vec::new();
        for source in self.schedule.iter().flat_map(|stage| &stage.params) {
            if let Source::Field(idx) = source
                && !all.contains(idx)
            {
                all.push(*idx);
            }
        }
        all
    }

    /// C text for each kind of key, from its name and its bytes.
    fn of_keys(&self, text: impl Fn(&str, usize) -> String) -> String {
        self.key_fields().iter().map(|field| text(&field.name, field.layout.n_bytes)).collect()
    }

    /// C text that makes the round keys of a batch.
    fn round_keys(&self, names: &[String], one: &Batches) -> String {
        let mut out = String::new();
        for idx in self.scheduled() {
            let name = &self.fields[idx].name;
            let _ = writeln!(out, "        load_{name}({name}_, from_{name});");
        }
        if let Some(schedule) = &self.schedule {
            let results = result_args(schedule, "keys->r");
            let operands =
                schedule.operands(|idx| format!("{}_", self.fields[idx].name), "", results);
            let _ = writeln!(out, "        {}", call(&names[schedule.node.idx()], &[operands]));
        }
        for (idx, at) in self.key_registers(one.shape).0 {
            let name = &self.fields[idx].name;
            let _ = writeln!(out, "        load_{name}(keys->r + {at}, from_{name});");
        }
        out
    }

    /// The function; `one` is a batch.
    pub(super) fn each_key(&self, name: &str, names: &[String], one: &Batches) -> String {
        let n_blocks = one.shape.blocks();
        let input = self.fields.iter().find(|field| field.name == "input");
        let (n_in, n_out) = (input.expect("there is an input").layout.n_bytes, self.output_bytes());
        let scheduled = self.scheduled().into_iter().map(|idx| &self.fields[idx]);
        let (mut registers, mut wipes) = (String::new(), String::new());
        for field in scheduled {
            let _ = write!(registers, ", {}_[{}]", field.name, field.n_registers(one.shape));
            let _ = writeln!(wipes, "    wipe({0}_, sizeof {0}_);", field.name);
        }
        wipes += &self.of_keys(|key, _| format!("    wipe(last_{key}, sizeof last_{key});\n"));
        format!(
            "
void {name}_blocks_each_key({params}const uint8_t *in, uint8_t *out, size_t n)
{{
    {name}_roundkeys made, *keys = &made;
    reg in_[{n_input}], out_[{n_output}]{registers};
    uint8_t last[{n_blocks} * {n_most}] __attribute__((aligned(64)));
{buffers}    while (n > 0) {{
        size_t now = n < {n_blocks} ? n : {n_blocks};
        const uint8_t *from = in{froms};
        uint8_t *to = out;
        if (now < {n_blocks}) {{
            memset(last, 0, sizeof last);
            memcpy(last, in, now * {n_in});
            from = to = last;
{fills}        }}
{round_keys}{load}        {entry}
{store}        if (now < {n_blocks})
            memcpy(out, last, now * {n_out});
        in += now * {n_in};
        out += now * {n_out};
{steps}        n -= now;
    }}
    wipe(last, sizeof last);
    wipe(in_, sizeof in_);
    wipe(out_, sizeof out_);
{wipes}    wipe(keys, sizeof *keys);
}}
",
            params = self.each_key_params(),
            n_input = one.input,
            n_output = one.output,
            n_most = n_in.max(n_out),
            buffers = self.of_keys(|key, n| format!("    uint8_t last_{key}[{n_blocks} * {n}];\n")),
            froms = self.of_keys(|key, _| format!(", *from_{key} = {key}")),
            fills = self.of_keys(|key, n| format!(
                "            memset(last_{key}, 0, sizeof last_{key});
            memcpy(last_{key}, {key}, now * {n});
            from_{key} = last_{key};
"
            )),
            round_keys = self.round_keys(names, one),
            load = one.load("from", n_in, 8),
            entry = one.entry,
            store = one.store("to", n_out, 8),
            steps = self.of_keys(|key, n| format!("        {key} += now * {n};\n")),
        )
    }

    /// The keys of all blocks, as parameters in C.
    fn each_key_params(&self) -> String {
        self.of_keys(|key, _| format!("const uint8_t *{key}, "))
    }

    /// The prototype of this function.
    pub(super) fn each_key_prototype(&self, name: &str) -> String {
        format!(
            "\n/* The same of blocks with a key each, one after another: a batch takes the time of one. */\nvoid {name}_blocks_each_key({}const uint8_t *in, uint8_t *out, size_t n);\n",
            self.each_key_params()
        )
    }
}
