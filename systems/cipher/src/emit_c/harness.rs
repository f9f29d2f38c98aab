//! The `main` of the programs that tests and benchmarks run.

use std::fmt::Write;

use super::arch::Shape;
use super::interface::{call, move_batches, result_args, sum};
use super::{Sponge, Stage, Unit};

/// `main`: without arguments it reads cases from standard input, a 64-bit count and then all
/// fields of each case, and writes the outputs; `secret` works on uninitialised memory, which
/// valgrind follows, and writes nothing; `bench ROUNDS CALLS` prints the least cycles of a
/// call of the entry, without the moves between bytes and registers. With a byte interface,
/// `blocks` reads a count, the key fields and that many blocks, and writes the results of the
/// interface; `bench ROUNDS CALLS BATCHES` prints cycles of a batch, the entry alone and through
/// the interface, in turn.
pub fn main(unit: &Unit, shape: Shape, names: &[String]) -> String {
    let (case, output) = (unit.case_bytes(), unit.output_bytes());
    let mut out = String::from("\n/* Test program. */\n#include <stdio.h>\n#include <stdlib.h>\n");
    let n_batches = shape.interleave as usize;
    for (kind, field) in
        unit.fields.iter().map(|f| ("in", f)).chain(unit.outputs.iter().map(|f| ("out", f)))
    {
        let _ = writeln!(
            out,
            "static reg {kind}_{}_words[{}];",
            field.name,
            n_batches * field.n_registers(shape)
        );
    }
    if unit.n_schedule > 0 {
        let _ = writeln!(out, "static reg keys_words[{}];", n_batches * unit.n_schedule);
    }
    let behind = |base: String, at: usize| if at == 0 { base } else { sum(&base, at) };
    let keys = |k: usize| behind("keys_words".into(), k * unit.n_schedule);
    let operands = |stage: &Stage, k: usize, results: Vec<String>| {
        let field = |f: usize| {
            behind(
                format!("in_{}_words", unit.fields[f].name),
                k * unit.fields[f].n_registers(shape),
            )
        };
        stage.operands(field, &keys(k), results)
    };
    out += "\nstatic __attribute__((noinline)) void prepare(void)\n{\n";
    for (stage, k) in unit.schedule.iter().flat_map(|stage| (0..n_batches).map(move |k| (stage, k)))
    {
        let call =
            call(&names[stage.node.idx()], &[operands(stage, k, result_args(stage, &keys(k)))]);
        let _ = writeln!(out, "    {call}");
    }
    let batch = |k: usize| {
        let results = unit
            .outputs
            .iter()
            .map(|f| behind(format!("out_{}_words", f.name), k * f.n_registers(shape)));
        operands(&unit.entry, k, results.collect())
    };
    let entry = call(&names[unit.entry.node.idx()], &(0..n_batches).map(batch).collect::<Vec<_>>());
    let _ =
        write!(out, "}}\n\nstatic __attribute__((noinline)) void run(void)\n{{\n    {entry}\n}}\n");
    let (mut loads, mut stores, mut at) = (String::new(), String::new(), 0);
    let slices = shape.slices() as usize;
    for f in &unit.fields {
        let (name, n) = (&f.name, f.layout.n_bytes);
        let _ = writeln!(
            loads,
            "        for (size_t b = 0; b < now; b++)\n            memcpy(strings + {n} * b, cases + (done + b) * {case} + {at}, {n});"
        );
        let registers = (format!("in_{name}_words"), f.n_registers(shape));
        loads += &move_batches(
            &format!("load_{name}"),
            shape,
            &[(&registers.0, registers.1), ("strings", slices * n)],
            8,
        );
        at += n;
    }
    let mut at = 0;
    for f in &unit.outputs {
        let (name, n) = (&f.name, f.layout.n_bytes);
        let registers = (format!("out_{name}_words"), f.n_registers(shape));
        stores += &move_batches(
            &format!("store_{name}"),
            shape,
            &[(&registers.0, registers.1), ("strings", slices * n)],
            8,
        );
        let _ = writeln!(
            stores,
            "        for (size_t b = 0; b < now; b++)\n            memcpy(results + (done + b) * {output} + {at}, strings + {n} * b, {n});"
        );
        at += n;
    }
    let longest =
        unit.fields.iter().chain(&unit.outputs).map(|f| f.layout.n_bytes).max().unwrap_or(1);
    let _ = write!(
        out,
        "
static int run_cases(int is_secret)
{{
    uint64_t n = BLOCKS + 1;
    static uint8_t strings[BLOCKS * {longest}];
    if (!is_secret && fread(&n, 8, 1, stdin) != 1)
        return 1;
    uint8_t *cases = malloc(n * {case} + 1), *results = calloc(n + 1, {output} + 1);
    /* The compiler must not know that this memory is uninitialised. */
    __asm__ volatile(\"\" : \"+r\"(cases) :: \"memory\");
    if (!cases || !results || (!is_secret && fread(cases, {case}, n, stdin) != n))
        return 1;
    for (size_t done = 0; done < n; done += BLOCKS) {{
        size_t now = n - done < BLOCKS ? n - done : BLOCKS;
{loads}        prepare();
        run();
{stores}    }}
    __asm__ volatile(\"\" :: \"r\"(results) : \"memory\");
    if (is_secret)
        return 0;
    return fwrite(results, {output}, n, stdout) != n;
}}
"
    );
    if let Some(name) = &unit.name {
        out += &through_interface(name, unit, shape);
        if let Some(counter) = &unit.counter {
            out += &counter.check(name, unit, shape);
        }
        if let Some(mode) = &unit.mode {
            out += &mode.check(shape);
        }
    }
    let against = match (&unit.name, &unit.counter) {
        (Some(name), Some(counter)) => counter.against(name, unit, shape),
        _ => String::new(),
    };
    out += &bench(shape, unit, &against);
    out
}

/// `run_blocks`: the byte interface on blocks of standard input, then on fewer, unaligned and in
/// place, with equal results and nothing written past the end. `secret_blocks`: the same on
/// uninitialised memory. `call_blocks`: one call for measurements.
fn through_interface(name: &str, unit: &Unit, shape: Shape) -> String {
    let keys = unit.key_fields();
    let input =
        unit.fields.iter().find(|f| f.name == "input").expect("every primitive has an input");
    let (n_in, n_out) = (input.layout.n_bytes, unit.output_bytes());
    let (mut reads, mut args, mut secrets) = (String::new(), String::new(), String::new());
    for key in &keys {
        let _ = writeln!(
            secrets,
            "    uint8_t {0}[{1}];\n    __asm__ volatile(\"\" :: \"r\"({0}) : \"memory\");",
            key.name, key.layout.n_bytes
        );
        let _ = writeln!(
            reads,
            "    uint8_t {0}[{1}];\n    if (fread({0}, 1, {1}, stdin) != {1})\n        return 1;",
            key.name, key.layout.n_bytes
        );
        let _ = write!(args, ", {}", key.name);
    }
    let (expand, structure, pass) = if unit.key_registers(shape).1 > 0 {
        (
            format!("    {name}_expand(&keys{args});\n"),
            format!("static {name}_roundkeys keys;\n"),
            "&keys, ",
        )
    } else {
        (String::new(), String::new(), "")
    };
    format!(
        "
{structure}
static int run_blocks(void)
{{
    uint64_t n;
    if (fread(&n, 8, 1, stdin) != 1)
        return 1;
{reads}    uint8_t *in = malloc(n * {n_in} + 1), *out = malloc(n * {n_out} + 1), *other = malloc(n * {n_most} + 32);
    if (!in || !out || !other || fread(in, {n_in}, n, stdin) != n)
        return 1;
{expand}    {name}_blocks({pass}in, out, n);
    const size_t counts[] = {{0, 1, 2, BLOCKS - 1, BLOCKS, BLOCKS + 1, 2 * BLOCKS, 3 * BLOCKS - 1, 3 * BLOCKS + 1}};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {{
        if (counts[k] > n)
            continue;
        for (size_t shift = 0; shift < 8; shift += 1 + 2 * shift) {{
            uint8_t *place = other + shift;
            memcpy(place, in, counts[k] * {n_in});
            memset(place + counts[k] * {n_most}, 0xa5, 16);
            {name}_blocks({pass}place, place, counts[k]);
            for (int i = 0; i < 16; i++)
                if (place[counts[k] * {n_most} + i] != 0xa5)
                    return 2;
            if (memcmp(place, out, counts[k] * {n_out}))
                return 3;
        }}
    }}
    return fwrite(out, {n_out}, n, stdout) != n;
}}

static int secret_blocks(void)
{{
    const size_t n = 2 * BLOCKS + 1;
{secrets}    uint8_t *in = malloc(n * {n_in} + 1), *out = malloc(n * {n_out} + 1);
    __asm__ volatile(\"\" : \"+r\"(in) :: \"memory\");
    if (!in || !out)
        return 1;
{expand}    {name}_blocks({pass}in, out, n);
    __asm__ volatile(\"\" :: \"r\"(out) : \"memory\");
    return 0;
}}

static __attribute__((noinline)) void call_blocks(const uint8_t *in, uint8_t *out, size_t n)
{{
    {name}_blocks({pass}in, out, n);
}}
",
        n_most = n_in.max(n_out),
    )
}

fn bench(shape: Shape, unit: &Unit, against: &str) -> String {
    let (has_interface, has_stream, has_mode) =
        (unit.name.is_some(), unit.counter.is_some(), unit.mode.is_some());
    let command = |name: &str, is_there: bool| {
        if is_there {
            format!(
                "    if (argc == 2 && !strcmp(argv[1], \"{name}\"))\n        return run_{name}();\n"
            )
        } else {
            String::new()
        }
    };
    let has_open = unit.mode.as_ref().is_some_and(|mode| mode.sponge == Sponge::Aead);
    let blocks =
        [("blocks", has_interface), ("stream", has_stream), ("mode", has_mode), ("open", has_open)];
    let blocks: String =
        blocks.into_iter().map(|(name, is_there)| command(name, is_there)).collect();
    if shape.arch.row().emulator.is_some() {
        let args = if has_interface { "int argc, char **argv" } else { "void" };
        return format!("\nint main({args})\n{{\n{blocks}    return run_cases(0);\n}}\n");
    }
    let in_turn = if has_interface { IN_TURN } else { "" };
    let bench_in_turn = if has_interface {
        "    if (argc == 5 && !strcmp(argv[1], \"bench\"))\n        return in_turn(atoi(argv[2]), atoi(argv[3]), (size_t)atoi(argv[4]));\n"
    } else {
        ""
    };
    let secret = match (has_interface, has_stream, has_mode) {
        (false, ..) => "",
        (true, false, false) => " || secret_blocks()",
        (true, true, _) => " || secret_blocks() || secret_stream()",
        (true, false, true) => " || secret_blocks() || secret_mode()",
    };
    let bench_against = if has_stream {
        "    if (argc == 8 && !strcmp(argv[1], \"against\"))\n        return against(argv[2], argv[3], argv[4], atoi(argv[5]), atoi(argv[6]), (size_t)atol(argv[7]));\n"
    } else {
        ""
    };
    format!(
        "
static uint64_t cycles(void)
{{
    uint32_t low, high;
    __asm__ volatile(\"rdtsc\" : \"=a\"(low), \"=d\"(high) :: \"memory\");
    return (uint64_t)high << 32 | low;
}}

/* Cycles of these calls with the stack moved down by these bytes. Its position relative to the arrays,
 * modulo a page, is chance, and can change the time by half. */
static __attribute__((noinline)) uint64_t moved(int calls, unsigned bytes)
{{
    char hole[bytes];
    __asm__ volatile(\"\" :: \"r\"(hole) : \"memory\");
    uint64_t start = cycles();
    for (int c = 0; c < calls; c++) {{
        run();
        __asm__ volatile(\"\" ::: \"memory\");
    }}
    return cycles() - start;
}}
{in_turn}{against}
int main(int argc, char **argv)
{{
{blocks}{bench_in_turn}{bench_against}    if (argc == 2 && !strcmp(argv[1], \"secret\"))
        return run_cases(1){secret};
    if (argc != 4 || strcmp(argv[1], \"bench\"))
        return run_cases(0);
    int rounds = atoi(argv[2]), calls = atoi(argv[3]);
    uint64_t best = UINT64_MAX;
    prepare();
    for (int r = 0; r < rounds; r++) {{
        uint64_t ticks = moved(calls, 16 + 64 * (unsigned)(r % 64));
        best = ticks < best ? ticks : best;
    }}
    printf(\"%.3f\\n\", (double)best / calls);
    return 0;
}}
"
    )
}

/// The entry alone and the byte interface, one batch of each in turn.
const IN_TURN: &str = "
static __attribute__((noinline)) uint64_t moved_blocks(int calls, unsigned bytes, const uint8_t *in, uint8_t *out, size_t n)
{
    char hole[bytes];
    __asm__ volatile(\"\" :: \"r\"(hole) : \"memory\");
    uint64_t start = cycles();
    for (int c = 0; c < calls; c++) {
        call_blocks(in, out, n);
        __asm__ volatile(\"\" ::: \"memory\");
    }
    return cycles() - start;
}

static int in_turn(int rounds, int calls, size_t batches)
{
    size_t n = batches * BLOCKS;
    uint8_t *in = aligned_alloc(64, n * 64), *out = aligned_alloc(64, n * 64);
    uint64_t alone = UINT64_MAX, through = UINT64_MAX;
    if (!in || !out)
        return 1;
    memset(in, 1, n * 64);
    memset(out, 1, n * 64);
    prepare();
    for (int r = 0; r < rounds; r++) {
        unsigned hole = 16 + 64 * (unsigned)(r % 64);
        uint64_t ticks = moved(calls * (int)batches, hole);
        alone = ticks < alone ? ticks : alone;
        ticks = moved_blocks(calls, hole, in, out, n);
        through = ticks < through ? ticks : through;
    }
    printf(\"%.3f %.3f\\n\", (double)alone / calls / batches, (double)through / calls / batches);
    return 0;
}
";
