//! Masked code: values are shares, products call a gadget, and the byte interface takes and gives
//! one string for each share.

use std::fmt::Write;

use super::interface::{call, result_args, sum};
use super::{EmitOptions, Shape, Unit, code, moves, shape, wipe};

use crate::masked::gadgets::Gadget;
use crate::pipeline::Compiled;
use crate::target::Arch;

const TYPES: &str = "
/* A compiler may neither join steps nor change their order across this. */
#define KEEP(x) __extension__ ({ reg kept_ = (x); __asm__(\"\" : \"+r\"(kept_)); kept_; })

/* The shares of a register; their sum is its value. Each has a machine word of its own, so that no
   copy has two shares in one register. */
typedef struct {
    struct { reg v; } __attribute__((aligned(__SIZEOF_POINTER__))) of[SHARES];
} shared;

/* Random registers, taken from the caller's function some at a time. */
struct pool {
    NAME_random *random;
    void *context;
    int has_failed;
    size_t n;
    reg words[64];
};

static __attribute__((unused)) reg random_(struct pool *pool)
{
    if (pool->n == 0) {
        if (!pool->has_failed)
            pool->has_failed = pool->random(pool->context, (uint8_t *)pool->words, sizeof pool->words) != 0;
        pool->n = sizeof pool->words / sizeof pool->words[0];
    }
    return pool->words[--pool->n];
}

static inline __attribute__((unused)) shared not_(shared a)
{
    a.of[0].v = KEEP((reg)~a.of[0].v);
    return a;
}

static inline __attribute__((unused)) shared xor_(shared a, shared b)
{
    for (int i = 0; i < SHARES; i++)
        a.of[i].v = KEEP(a.of[i].v ^ b.of[i].v);
    return a;
}

static inline __attribute__((unused)) shared keep_(shared a, reg mask)
{
    for (int i = 0; i < SHARES; i++)
        a.of[i].v = KEEP(a.of[i].v & mask);
    return a;
}

/* A linear function of each share. */
#define EACH(a, f) __extension__ ({ shared each_ = (a); for (int i_ = 0; i_ < SHARES; i_++) { reg x_ = each_.of[i_].v; each_.of[i_].v = KEEP(f); } each_; })
";

/// A self-contained C file: the gadgets, the nodes, and the byte interface.
pub fn source(compiled: &Compiled, unit: &Unit, options: EmitOptions, n_shares: u32) -> String {
    let shape = shape(compiled, options.arch);
    let name = name(unit);
    let mut out = first_comment(unit, n_shares);
    out += &shape.prelude();
    let _ = write!(out, "#define SHARES {n_shares}\n\n{}", random_type(&name));
    out += &TYPES.replace("NAME", &name);
    out += shape.byte_order();
    out += &wipe(shape);
    let n = n_shares as usize;
    for (what, params, gadget) in [
        ("and_", "shared a, shared b", Gadget::product(n)),
        ("refresh_", "shared a", Gadget::refresh(n)),
    ] {
        let body = gadget.c("random_(pool)");
        let _ = writeln!(
            out,
            "\nstatic inline __attribute__((unused)) shared {what}(struct pool *pool, {params})\n{{\n{body}}}"
        );
    }
    let (functions, names) = code::Code::new(&compiled.program, shape, options, &[]).functions();
    out += &functions;
    out += &moves(unit, shape, options).0;
    out += &interface(unit, shape, &names, &name);
    out
}

/// The prefix of the functions.
fn name(unit: &Unit) -> String {
    format!("{}_masked", unit.name.as_ref().expect("masked code has a byte interface"))
}

fn first_comment(unit: &Unit, n_shares: u32) -> String {
    format!(
        "/* {}\n   Made by meanwhile: masked, {n_shares} shares, against {} in the register probing\n   \
         model, in C for any processor. On x86-64, AArch64 and Arm compile with\n   \
         -mgeneral-regs-only. */\n",
        unit.title,
        if n_shares == 2 { "a probe".to_owned() } else { format!("{} probes", n_shares - 1) },
    )
}

fn random_type(name: &str) -> String {
    format!(
        "/* Fills n bytes with random ones; 0 if it did. */
typedef int {name}_random(void *context, uint8_t *bytes, size_t n);
"
    )
}

/// The functions that users call, except `_share` and `_unshare`, without their bodies.
fn declarations(unit: &Unit, n_keys: usize, name: &str) -> (String, String) {
    let keys = if n_keys > 0 { format!("const {name}_roundkeys *keys, ") } else { String::new() };
    let fields = unit.key_fields();
    let fields = fields.iter().map(|field| format!("const uint8_t *const {}[SHARES]", field.name));
    let fields: Vec<String> = fields.collect();
    (
        format!(
            "int {name}_expand({name}_roundkeys *keys, {}, {name}_random *random, void *context)",
            fields.join(", ")
        ),
        format!(
            "int {name}_blocks({keys}const uint8_t *const in[SHARES], uint8_t *const out[SHARES], size_t n, {name}_random *random, void *context)"
        ),
    )
}

fn interface(unit: &Unit, shape: Shape, names: &[String], name: &str) -> String {
    let (_, n_keys) = unit.key_registers(shape);
    let (expand, blocks) = declarations(unit, n_keys, name);
    let mut out = String::from("\n/* Byte interface: a string for each share. */\n");
    out += INTERFACE_HELPERS;
    if n_keys > 0 {
        out += &expand_function(unit, shape, names, name, &expand);
    }
    out + &blocks_function(unit, shape, names, &blocks)
}

/// The function that makes round keys, its type, and the one that overwrites them.
fn expand_function(
    unit: &Unit,
    shape: Shape,
    names: &[String],
    name: &str,
    declaration: &str,
) -> String {
    let (starts, n_keys) = unit.key_registers(shape);
    let mut out = format!("typedef struct {{ shared r[{n_keys}]; }} {name}_roundkeys;\n\n");
    let _ = writeln!(
        out,
        "{declaration}\n{{\n    struct pool pool = {{ .random = random, .context = context }};"
    );
    let spread = |field: usize, to: &str| {
        let field = &unit.fields[field];
        let n = field.n_registers(shape);
        format!(
            "    for (int i = 0; i < SHARES; i++) {{\n        reg part[{n}];\n        spread_{0}(part, {0}[i]);\n        put_share({to}, part, {n}, i);\n        wipe(part, sizeof part);\n    }}\n",
            field.name
        )
    };
    if let Some(schedule) = &unit.schedule {
        let fields: Vec<usize> = schedule
            .params
            .iter()
            .filter_map(|source| match source {
                super::Source::Field(field) => Some(*field),
                super::Source::Schedule(_) => None,
            })
            .collect();
        for field in &fields {
            let (own, n) = (&unit.fields[*field].name, unit.fields[*field].n_registers(shape));
            let _ = writeln!(out, "    shared {own}_[{n}];");
            out += &spread(*field, &format!("{own}_"));
        }
        let operands = schedule.operands(
            |field| format!("{}_", unit.fields[field].name),
            "",
            result_args(schedule, "keys->r"),
        );
        let _ = writeln!(out, "    {}", with_pool(&call(&names[schedule.node.idx()], &[operands])));
        for field in &fields {
            let _ = writeln!(out, "    wipe({0}_, sizeof {0}_);", unit.fields[*field].name);
        }
    }
    for (field, at) in &starts {
        out += &spread(*field, &sum("keys->r", *at));
    }
    let _ = writeln!(
        out,
        "    int has_failed = pool.has_failed;\n    wipe(&pool, sizeof pool);\n    if (has_failed)\n        wipe(keys, sizeof *keys);\n    return has_failed ? -1 : 0;\n}}\n\nvoid {name}_wipe({name}_roundkeys *keys)\n{{\n    wipe(keys, sizeof *keys);\n}}\n"
    );
    out
}

/// The function that works on blocks.
fn blocks_function(unit: &Unit, shape: Shape, names: &[String], declaration: &str) -> String {
    let (starts, _) = unit.key_registers(shape);
    let input = unit.fields.iter().position(|field| field.name == "input");
    let input = input.expect("every primitive has an input");
    let start = |field: usize| {
        let at = starts.iter().find(|(of, _)| *of == field);
        sum("keys->r", at.expect("fields that are no keys are input").1)
    };
    let (n_in, n_out) = (unit.fields[input].layout.n_bytes, unit.output_bytes());
    let n_input = unit.fields[input].n_registers(shape);
    let n_output: usize = unit.outputs.iter().map(|field| field.n_registers(shape)).sum();
    let operands = unit.entry.operands(
        |field| if field == input { "in_".to_owned() } else { start(field) },
        "keys->r",
        result_args(&unit.entry, "out_"),
    );
    let entry = with_pool(&call(&names[unit.entry.node.idx()], &[operands]));
    format!(
        "{declaration}
{{
    struct pool pool = {{ .random = random, .context = context }};
    shared in_[{n_input}], out_[{n_output}];
    reg part[{n_part}];
    uint8_t last[BLOCKS * {n_last}] __attribute__((aligned(64)));
    for (size_t at = 0; at < n && !pool.has_failed; at += BLOCKS) {{
        size_t now = n - at < BLOCKS ? n - at : BLOCKS;
        for (int i = 0; i < SHARES; i++) {{
            const uint8_t *from = in[i] + at * {n_in};
            if (now < BLOCKS) {{
                memset(last, 0, sizeof last);
                memcpy(last, from, now * {n_in});
                from = last;
            }}
            load_input(part, from);
            put_share(in_, part, {n_input}, i);
        }}
        {entry}
        for (int i = 0; i < SHARES && !pool.has_failed; i++) {{
            uint8_t *to = now < BLOCKS ? last : out[i] + at * {n_out};
            get_share(part, out_, {n_output}, i);
            store_output(part, to);
            if (now < BLOCKS)
                memcpy(out[i] + at * {n_out}, last, now * {n_out});
        }}
    }}
    int has_failed = pool.has_failed;
    wipe(&pool, sizeof pool);
    wipe(in_, sizeof in_);
    wipe(out_, sizeof out_);
    wipe(part, sizeof part);
    wipe(last, sizeof last);
    for (int i = 0; i < SHARES && has_failed; i++)
        wipe(out[i], n * {n_out});
    return has_failed ? -1 : 0;
}}
",
        n_part = n_input.max(n_output),
        n_last = n_in.max(n_out),
    )
}

/// Registers of one share into and out of shared values.
const INTERFACE_HELPERS: &str =
    "static void put_share(shared *to, const reg *from, size_t n, int i)
{
    for (size_t k = 0; k < n; k++)
        to[k].of[i].v = from[k];
}

static void get_share(reg *to, const shared *from, size_t n, int i)
{
    for (size_t k = 0; k < n; k++)
        to[k] = from[k].of[i].v;
}

";

/// A call of a node that also hands on the pool.
fn with_pool(call: &str) -> String {
    call.replacen('(', "(&pool, ", 1)
}

/// The prototypes of the byte interface.
pub fn header(compiled: &Compiled, unit: &Unit, n_shares: u32) -> String {
    let shape = shape(compiled, Arch::X86_64);
    let name = name(unit);
    let guard = format!("{name}_H").to_uppercase();
    let (_, n_keys) = unit.key_registers(shape);
    let (expand, blocks) = declarations(unit, n_keys, &name);
    let shares = format!("{name}_SHARES").to_uppercase();
    let with_number = |text: &str| text.replace("SHARES", &shares);
    let mut out = first_comment(unit, n_shares);
    let _ = write!(
        out,
        "#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n#include <stddef.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n#define {shares} {n_shares}\n\n/* Every string comes as its shares: the string is their XOR, and all but one of them are random. */\n\n{}\n",
        random_type(&name)
    );
    if n_keys > 0 {
        let lane = shape.register_bits();
        let _ = write!(
            out,
            "/* Shares of the round keys. */
typedef struct {{
    struct {{
        struct {{ uint{lane}_t v; }} __attribute__((aligned(__SIZEOF_POINTER__))) of[{shares}];
    }} r[{n_keys}];
}} {name}_roundkeys;

/* Makes the round keys. -1, and keys that are zero, if the random function failed. */
{};

/* Overwrites them when they are no longer needed. */
void {name}_wipe({name}_roundkeys *keys);

",
            with_number(&expand)
        );
    }
    let input = unit.fields.iter().find(|field| field.name == "input");
    let input = input.expect("every primitive has an input");
    let (n_in, n_out) = (input.layout.n_bytes, unit.output_bytes());
    // Blocks that grow would overwrite those that come after them.
    let may = if n_in == n_out { "may be\n   the same strings" } else { "may not\n   overlap" };
    let _ = write!(
        out,
        "/* Processes n blocks of {n_in} bytes into {n_out} bytes each; {} at a time is fastest. \
         in and out {may}. -1, and out all zero, if the random function failed. */
{};

#ifdef __cplusplus
}}
#endif
#endif
",
        shape.blocks_text(),
        with_number(&blocks)
    );
    out
}
